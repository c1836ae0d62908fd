// Hybrid and attention-free models: a published model per family with its exact count, cache and state; the
// ways in which configs order their layers; shared blocks, draft layers, bad input.
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "kvbudget/io/huggingface.hpp"
#include "kvbudget/memory/kv_cache.hpp"
#include "kvbudget/memory/weights.hpp"
#include "support/catch.hpp"
#include "support/configs.hpp"
#include "support/input.hpp"
#include "support/mutations.hpp"

namespace {

using namespace kvbudget;
using tests::contains;
using tests::has_note;
using tests::read;
using tests::refusal;

/// The config with its first `from` replaced.
std::string with(std::string config, const std::string& from, const std::string& to) {
  const std::size_t at = config.find(from);
  REQUIRE(at != std::string::npos);
  return config.replace(at, from.size(), to);
}
/// The entries, `times` times in turn, as a JSON list.
std::string in_turn(const std::string& entries, int times) {
  std::string all = "[";
  for (int i = 0; i < times; ++i) all += (i == 0 ? "" : ", ") + entries;
  return all + "]";
}

std::uint64_t elements_of(const model_architecture& model, module_role role) {
  return parameter_count(model, role).value;
}
/// Without draft layers, which are not loaded.
std::uint64_t resident(const model_architecture& model) {
  return parameter_count(model).value - elements_of(model, module_role::draft);
}
/// Elements of all recurrent states of a sequence.
std::uint64_t state_of_sequence(const model_architecture& model) {
  std::uint64_t sum = 0;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    for (std::size_t i = 0; i < model.kinds[kind].store_count; ++i) {
      const store& s = model.kinds[kind].stores[i];
      if (s.kind != store_kind::recurrent) continue;
      const state_elements state = state_of(s);
      sum += (state.convolution + state.recurrent) * model.layers_of[kind];
    }
  }
  return sum;
}
/// Bytes in bf16 that one more token costs.
std::uint64_t slope(const model_architecture& model, std::uint64_t context = 1) {
  const deployment d{.model = model, .kv_cache = formats::bf16, .dtype = formats::bf16};
  const ratio per_token = kv_growth_of(d, share_of(d, rank{}), tokens{context}).bytes_per_token;
  REQUIRE(per_token.denominator == 1);
  return per_token.numerator;
}
/// What each layer keeps: `.` cache, `s` state, `B` both, `-` nothing.
std::string pattern_of(const model_architecture& model) {
  std::string pattern;
  for (std::uint32_t layer = 0; layer < model.num_hidden_layers; ++layer) {
    const layer_kind& kind = model.kinds[model.order[layer]];
    const bool state =
        kind.store_count != 0 && kind.stores[kind.store_count - 1].kind == store_kind::recurrent;
    pattern += kind.store_count == 2 ? 'B' : kind.store_count == 0 ? '-' : state ? 's' : '.';
  }
  return pattern;
}

// ---- one model per family ---------------------------------------------------------------------------------

struct published_model {
  const char* name;
  std::uint64_t parameters;  ///< of the published checkpoint, without draft layers
  std::uint64_t per_token;   ///< bf16 bytes of the first tokens
  std::uint64_t state;       ///< elements per sequence
  const char* config;
};

// Sizes: the models' own config.json files. Counts: their safetensors element counts; of Finch, Eagle and
// Goose the formulas of their papers; of Kimi-K3, Zamba and MiniMax-M1 sums over the shapes of their modeling
// code.
const published_model published_models[] = {
    {"mamba-130m-hf", 129'135'360, 0, 700'416, R"({"model_type": "mamba", "hidden_size": 768,
      "num_hidden_layers": 24, "vocab_size": 50280, "state_size": 16, "conv_kernel": 4, "expand": 2,
      "time_step_rank": 48, "use_bias": false, "use_conv_bias": true})"},
    {"falcon-mamba-7b", 7'272'665'088, 0, 9'961'472, R"({"model_type": "falcon_mamba", "hidden_size": 4096,
      "num_hidden_layers": 64, "vocab_size": 65024, "tie_word_embeddings": false, "expand": 2.0,
      "time_step_rank": "auto"})"},
    {"Mamba-Codestral-7B", 7'285'403'648, 0, 69'074'944, R"({"model_type": "mamba2", "hidden_size": 4096,
      "num_hidden_layers": 64, "vocab_size": 32768, "num_heads": 128, "head_dim": 64, "n_groups": 8,
      "state_size": 128, "tie_word_embeddings": false})"},
    {"Jamba-1.5-Mini", 51'570'323'328, 16'384, 4'358'144, R"({"model_type": "jamba", "hidden_size": 4096,
      "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
      "num_experts": 16, "num_experts_per_tok": 2, "mamba_dt_rank": 256, "attn_layer_period": 8,
      "attn_layer_offset": 4, "expert_layer_period": 2, "expert_layer_offset": 1, "vocab_size": 65536,
      "tie_word_embeddings": false})"},
    {"granite-4.0-350m", 352'379'904, 28'672, 0, R"({"model_type": "granitemoehybrid", "hidden_size": 1024,
      "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 4, "vocab_size": 100352,
      "num_local_experts": 0, "shared_intermediate_size": 2048, "tie_word_embeddings": true,
      "layer_types": LAYERS})"},
    {"granite-4.0-h-micro", 3'191'396'096, 8'192, 19'344'384, R"({"model_type": "granitemoehybrid",
      "hidden_size": 2048, "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8,
      "vocab_size": 100352, "num_local_experts": 0, "shared_intermediate_size": 8192, "mamba_n_heads": 64,
      "mamba_d_head": 64, "mamba_d_state": 128, "tie_word_embeddings": true, "layer_types": LAYERS})"},
    {"Falcon-H1-0.5B", 521'411'104, 18'432, 7'271'424, R"({"model_type": "falcon_h1", "hidden_size": 1024,
      "intermediate_size": 2048, "num_hidden_layers": 36, "num_attention_heads": 8, "num_key_value_heads": 2,
      "head_dim": 64, "vocab_size": 32784, "mamba_n_heads": 24, "mamba_d_head": 64, "mamba_d_state": 128,
      "mamba_n_groups": 1, "tie_word_embeddings": false})"},
    // The count leaves out 2,944 correction biases that the checkpoint stores in fp32.
    {"Nemotron-3-Nano-30B-A3B", 31'577'937'344 + 2'944, 6'144, 12'482'560, R"({"model_type": "nemotron_h",
      "hidden_size": 2688, "num_hidden_layers": 52, "num_attention_heads": 32, "num_key_value_heads": 2,
      "head_dim": 128, "vocab_size": 131072, "mamba_num_heads": 64, "mamba_head_dim": 64,
      "ssm_state_size": 128, "n_groups": 8, "n_routed_experts": 128, "n_shared_experts": 1,
      "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712, "num_experts_per_tok": 6,
      "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"})"},
    {"Nemotron-Nano-9B-v2", 8'888'227'328, 16'384, 36'384'768, R"({"model_type": "nemotron_h",
      "hidden_size": 4480, "num_hidden_layers": 56, "num_attention_heads": 40, "num_key_value_heads": 8,
      "head_dim": 128, "vocab_size": 131072, "intermediate_size": 15680, "mamba_num_heads": 128,
      "mamba_head_dim": 80, "ssm_state_size": 128, "n_groups": 8,
      "hybrid_override_pattern": "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-"})"},
    {"Zamba2-1.2B", 1'215'064'704, 98'304, 20'419'072, R"({"model_type": "zamba2", "hidden_size": 2048,
      "num_hidden_layers": 38, "num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 32000,
      "num_mem_blocks": 1, "use_shared_attention_adapter": true, "adapter_rank": 128, "mamba_d_state": 128,
      "n_mamba_heads": 64, "hybrid_layer_ids": [5, 11, 17, 23, 29, 35]})"},
    {"Zamba-7B-v1", 7'232'490'496, 386'048, 10'720'256, R"({"model_type": "zamba", "hidden_size": 3712,
      "intermediate_size": 14848, "num_hidden_layers": 76, "num_attention_heads": 16})"},
    {"Qwen3-Next-80B-A3B", 79'674'391'296, 24'576, 19'759'104, R"({"model_type": "qwen3_next",
      "hidden_size": 2048, "intermediate_size": 5120, "num_hidden_layers": 48, "num_attention_heads": 16,
      "num_key_value_heads": 2, "head_dim": 256, "moe_intermediate_size": 512, "num_experts": 512,
      "num_experts_per_tok": 10, "shared_expert_intermediate_size": 512, "full_attention_interval": 4,
      "linear_num_value_heads": 32, "linear_num_key_heads": 16, "vocab_size": 151936})"},
    {"Qwen3.6-27B", 26'895'998'464, 65'536, 39'223'296, R"({"model_type": "qwen3_5", "text_config": {
      "model_type": "qwen3_5_text", "hidden_size": 5120, "intermediate_size": 17408, "num_hidden_layers": 64,
      "num_attention_heads": 24, "num_key_value_heads": 4, "head_dim": 256, "linear_num_value_heads": 48,
      "linear_num_key_heads": 16, "vocab_size": 248320, "mtp_num_hidden_layers": 1,
      "mamba_ssm_dtype": "float32"}, "tie_word_embeddings": false})"},
    {"Qwen3.6-35B-A3B", 34'660'610'688, 20'480, 16'465'920, R"({"model_type": "qwen3_5_moe", "text_config": {
      "model_type": "qwen3_5_moe_text", "hidden_size": 2048, "num_hidden_layers": 40,
      "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "moe_intermediate_size": 512,
      "num_experts": 256, "num_experts_per_tok": 8, "shared_expert_intermediate_size": 512,
      "vocab_size": 248320, "mtp_num_hidden_layers": 1}})"},
    {"Kimi-Linear-48B-A3B", 49'122'681'728, 8'064, 11'223'040, R"({"model_type": "kimi_linear",
      "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 27, "num_attention_heads": 32,
      "head_dim": 72, "vocab_size": 163840, "num_experts": 256, "num_experts_per_token": 8,
      "num_shared_experts": 1, "moe_intermediate_size": 1024, "q_lora_rank": null, "kv_lora_rank": 512,
      "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "first_k_dense_replace": 1,
      "linear_attn_config": {"full_attn_layers": [4, 8, 12, 16, 20, 24, 27], "num_heads": 32, "head_dim": 128,
        "kda_layers": [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26],
        "short_conv_kernel_size": 4}})"},
    {"MiniMax-M1-80k", 456'089'655'296, 40'960, 73'400'320, R"({"model_type": "minimax_m1",
      "hidden_size": 6144, "intermediate_size": 9216, "num_hidden_layers": 80, "num_attention_heads": 64,
      "num_key_value_heads": 8, "head_dim": 128, "num_local_experts": 32, "num_experts_per_tok": 2,
      "vocab_size": 200064, "attn_type_list": LAYERS})"},
    {"LFM2-350M", 354'483'968, 12'288, 20'480, R"({"model_type": "lfm2", "hidden_size": 1024,
      "num_hidden_layers": 16, "num_attention_heads": 16, "num_key_value_heads": 8, "vocab_size": 65536,
      "block_ff_dim": 6656, "full_attn_idxs": [2, 5, 8, 10, 12, 14], "conv_L_cache": 3})"},
    {"LFM2-2.6B", 2'569'272'320, 16'384, 90'112, R"({"model_type": "lfm2", "hidden_size": 2048,
      "num_hidden_layers": 30, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 65536,
      "block_ff_dim": 10752, "block_auto_adjust_ff_dim": false,
      "full_attn_idxs": [2, 5, 9, 13, 17, 21, 24, 27]})"},
    {"LFM2-24B-A2B", 23'843'661'440, 20'480, 122'880, R"({"model_type": "lfm2_moe", "hidden_size": 2048,
      "intermediate_size": 11776, "moe_intermediate_size": 1536, "num_hidden_layers": 40,
      "num_attention_heads": 32, "num_key_value_heads": 8, "num_experts": 64, "num_experts_per_tok": 4,
      "num_dense_layers": 2, "vocab_size": 65536, "layer_types": LAYERS})"},
    {"recurrentgemma-2b", 2'682'862'080, 8'192, 184'320, R"({"model_type": "recurrent_gemma",
      "hidden_size": 2560, "intermediate_size": 15360, "num_hidden_layers": 26, "num_attention_heads": 10,
      "num_key_value_heads": 1, "lru_width": 2560})"},
    {"Ring-mini-linear-2.0", 16'423'448'320, 8'192, 4'194'304, R"({"model_type": "bailing_moe_linear",
      "hidden_size": 2048, "intermediate_size": 5120, "num_hidden_layers": 20, "num_attention_heads": 16,
      "num_key_value_heads": 4, "head_dim": 128, "moe_intermediate_size": 512, "num_experts": 256,
      "num_experts_per_tok": 8, "num_shared_experts": 1, "first_k_dense_replace": 1, "layer_group_size": 5,
      "use_qk_norm": true, "moe_router_enable_expert_bias": true, "vocab_size": 157184})"},
    {"rwkv-4-169m", 169'342'464, 0, 46'080, R"({"model_type": "rwkv", "hidden_size": 768,
      "num_hidden_layers": 12, "vocab_size": 50277, "attention_hidden_size": 768, "context_length": 1024})"},
    {"rwkv-5-world-3b", 3'062'999'040, 0, 5'406'720, R"({"model_type": "rwkv5", "hidden_size": 2560,
      "num_hidden_layers": 32, "attention_hidden_size": 2560, "head_size": 64, "intermediate_size": null,
      "model_version": "5_2", "vocab_size": 65536, "tie_word_embeddings": false})"},
    {"v6-Finch-7B", 7'635'746'816, 0, 8'650'752, R"({"model_type": "rwkv6", "hidden_size": 4096,
      "num_hidden_layers": 32, "head_size": 64, "vocab_size": 65536})"},
    {"rwkv7-191M-world", 191'034'624, 0, 608'256, R"({"model_type": "rwkv7", "hidden_size": 768,
      "head_dim": 64, "num_hidden_layers": 12, "vocab_size": 65536, "decay_low_rank_dim": 64,
      "a_low_rank_dim": 64, "v_low_rank_dim": 32, "gate_low_rank_dim": 128})"},
};

/// The config of a published model; the long lists of layers are written out here.
std::string config_of(const published_model& published) {
  static const std::map<std::string, std::string> layers = {
      {"granite-4.0-350m", in_turn("\"attention\"", 28)},
      {"MiniMax-M1-80k", in_turn("0, 0, 0, 0, 0, 0, 0, 1", 10)},
      {"LFM2-24B-A2B", in_turn(R"("conv", "conv", "full_attention", "conv")", 10)}};
  const std::string config = published.config;
  if (!contains(config, "LAYERS")) return config;
  if (const auto found = layers.find(published.name); found != layers.end()) {
    return with(config, "LAYERS", found->second);
  }
  nlohmann::json types = nlohmann::json::array();  // granite-4.0-h-micro
  for (int i = 0; i < 40; ++i) types.push_back(i % 10 == 5 ? "attention" : "mamba");
  return with(config, "LAYERS", types.dump());
}
const published_model& named(const std::string& name) {
  for (const published_model& published : published_models) {
    if (name == published.name) return published;
  }
  throw std::runtime_error("no model is called " + name);
}

TEST_CASE("a published hybrid model of every family has its published count, cache and state") {
  for (const published_model& published : published_models) {
    INFO(published.name);
    const model_architecture model = read(config_of(published)).architecture;
    CHECK(resident(model) == published.parameters);
    CHECK(slope(model) == published.per_token);
    CHECK(state_of_sequence(model) == published.state);
    CHECK_FALSE(model.parameters_assumed);

    // Two tensor ranks hold halves of the matrices, and little else twice.
    const deployment d{.model = model,
                       .workload = {.sequences = 1, .context = tokens{1}},
                       .parallel = {.tensor = 2},
                       .dtype = formats::bf16};
    std::uint64_t half = 0;
    for (const std::uint64_t module : weights_of(d, share_of(d, rank{})).modules) half += module;
    CHECK(half >= resident(model));
    CHECK(half <= resident(model) * 21 / 20);
    const std::uint64_t state = kv_cache_of(d, share_of(d, rank{})).state;
    CHECK((state > 0) == (published.state > 0));
    CHECK(state <= published.state * 2);
  }
}

TEST_CASE("the state of Qwen3.6-27B is 149.625 MiB in fp32, whatever else is asked for") {
  const huggingface_model read_model = read(config_of(named("Qwen3.6-27B")));
  CHECK(state_of_sequence(read_model.architecture) * 4 == 156'893'184);
  CHECK(has_note(read_model,
                 "text_config.mamba_ssm_dtype: the recurrent state is meant to be kept in float32"));
}

TEST_CASE("tokens work with a few experts of a hybrid model") {
  const auto active = [](const char* name) -> std::uint64_t {
    return active_parameter_count(read(config_of(named(name))).architecture).value;
  };
  CHECK(active("Jamba-1.5-Mini") == 12'110'311'296);
  CHECK(active("Qwen3-Next-80B-A3B") == 3'874'929'408);
  CHECK(active("Qwen3.6-35B-A3B") == 3'454'988'928);
  CHECK(active("Kimi-Linear-48B-A3B") == 3'484'459'904);
  CHECK(active("Nemotron-3-Nano-30B-A3B") == 3'580'076'352);
  CHECK(active("MiniMax-M1-80k") == 48'403'306'496);
}

// ---- which layer is which ---------------------------------------------------------------------------------

TEST_CASE("Kimi numbers its layers from 1, and names each of them once") {
  const std::string config = config_of(named("Kimi-Linear-48B-A3B"));
  const std::string pattern = pattern_of(read(config).architecture);
  CHECK(pattern == "sss.sss.sss.sss.sss.sss.ss.");
  CHECK(contains(refusal(with(config, "[4, 8,", "[0, 8,")),
                 "linear_attn_config.full_attn_layers[0]: is 0, but layers are numbered 1 to 27"));
  CHECK(contains(refusal(with(config, "24, 27]", "24, 28]")), "is 28, but layers are numbered 1 to 27"));
  CHECK(contains(refusal(with(config, "[4, 8,", "[8, 8,")), "names layer 8 a second time"));
  CHECK(contains(refusal(with(config, "[4, 8,", "[3, 8,")), "layer 3 is in both of full_attn_layers"));
  CHECK(contains(refusal(with(config, "[4, 8,", "[8,")), "layer 4 is in neither of full_attn_layers"));
  CHECK(contains(refusal(with(config, "linear_attn_config", "other")),
                 "key \"linear_attn_config\" is missing: kimi_linear needs it"));
}

TEST_CASE("Kimi-K3 adds latent experts, gates and attention over residuals") {
  nlohmann::json linear = {{"num_heads", 96},
                           {"head_dim", 128},
                           {"short_conv_kernel_size", 4},
                           {"use_full_rank_gate", true},
                           {"full_attn_layers", nlohmann::json::array()},
                           {"kda_layers", nlohmann::json::array()}};
  for (int layer = 1; layer <= 93; ++layer) {
    linear[layer % 4 == 0 || layer == 93 ? "full_attn_layers" : "kda_layers"].push_back(layer);
  }
  const nlohmann::json text = {{"model_type", "kimi_linear"},
                               {"hidden_size", 7168},
                               {"intermediate_size", 33792},
                               {"num_hidden_layers", 93},
                               {"num_attention_heads", 96},
                               {"vocab_size", 163840},
                               {"num_experts", 896},
                               {"num_experts_per_token", 16},
                               {"num_shared_experts", 2},
                               {"moe_intermediate_size", 3072},
                               {"routed_expert_hidden_size", 3584},
                               {"latent_moe_use_norm", true},
                               {"q_lora_rank", 1536},
                               {"kv_lora_rank", 512},
                               {"qk_nope_head_dim", 128},
                               {"qk_rope_head_dim", 64},
                               {"v_head_dim", 128},
                               {"first_k_dense_replace", 1},
                               {"mla_use_output_gate", true},
                               {"attn_res_block_size", 12},
                               {"linear_attn_config", linear}};
  const nlohmann::json config = {{"model_type", "kimi_k3"}, {"text_config", text}};
  const model_architecture model = read(config.dump()).architecture;
  CHECK(slope(model) == 27'648);
  CHECK(state_of_sequence(model) == 116'158'464);
  const std::uint64_t hidden = 7168;
  const std::uint64_t width = 96 * 128;
  // An expert works on the latent: 92 layers × 896 experts × 3 matrices.
  CHECK(elements_of(model, module_role::expert) == 92ull * 896 * 3 * 3584 * 3072);
  const std::uint64_t delta = 3 * hidden * width + 3 * width * 4 + hidden * 128 + 128 * width + hidden * 96 +
                              96 + width + 128 + hidden * width + width * hidden;
  CHECK(elements_of(model, module_role::mixer) == 69 * delta);
  CHECK(resident(model) == 2'779'484'476'000);

  // What each switch adds.
  const auto without = [&](const char* key) {
    nlohmann::json less = config;
    less["text_config"].erase(key);
    return resident(model) - resident(read(less.dump()).architecture);
  };
  CHECK(without("mla_use_output_gate") == 24 * hidden * width);
  CHECK(without("latent_moe_use_norm") == 92 * 3584);
  CHECK(without("attn_res_block_size") == 93 * 4 * hidden + 2 * hidden);
}

TEST_CASE("Nemotron-H: letters or words, an inner size of heads, draft layers apart") {
  const std::string config = config_of(named("Nemotron-3-Nano-30B-A3B"));
  const model_architecture model = read(config).architecture;
  CHECK(pattern_of(model).substr(0, 13) == "s-s-s.-s-s-s.");
  nlohmann::json words = nlohmann::json::parse(config);
  nlohmann::json list = nlohmann::json::array();
  for (const char letter : words["hybrid_override_pattern"].get<std::string>()) {
    list.push_back(letter == 'M' ? "mamba" : letter == 'E' ? "moe" : "attention");
  }
  words.erase("hybrid_override_pattern");
  words.erase("num_hidden_layers");  // the list says how many there are
  words["layers_block_type"] = list;
  CHECK(read(words.dump()).architecture == model);
  words["expand"] = 7;  // is not the inner size
  CHECK(read(words.dump()).architecture == model);

  CHECK(contains(refusal(with(config, "MEMEM*", "MEXEM*")),
                 "hybrid_override_pattern: layer type \"X\" is unknown, expected M, *, E or -"));
  CHECK(
      contains(refusal(with(config, "MEMEM*", "EMEM*")), "has 51 letters, expected one for each of the 52"));
  CHECK(contains(refusal(with(config, "hybrid_override_pattern", "other")),
                 "key \"hybrid_override_pattern\" is missing (also read from \"layers_block_type\""));
  CHECK(contains(refusal(with(config, "\"mamba_head_dim\"", "\"mlp_bias\": true, \"mamba_head_dim\"")),
                 "mlp_bias true is not supported for experts"));

  // Nemotron-3-Super's experts work on a latent; its draft layers are counted, but not loaded.
  const std::string super = R"({"model_type": "nemotron_h", "hidden_size": 4096, "num_attention_heads": 32,
    "num_key_value_heads": 2, "head_dim": 128, "vocab_size": 131072, "mamba_num_heads": 128,
    "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8, "n_routed_experts": 512,
    "n_shared_experts": 1, "moe_intermediate_size": 2688, "moe_shared_expert_intermediate_size": 5376,
    "moe_latent_size": 1024, "num_experts_per_tok": 22, "num_nextn_predict_layers": 1,
    "mtp_hybrid_override_pattern": "*E", "mamba_ssm_cache_dtype": "float32", "hybrid_override_pattern":
    "MEMEMEM*EMEMEMEM*EMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEMEM*EMEMEMEM*EMEMEMEME"})";
  const huggingface_model drafted = read(super);
  CHECK(resident(drafted.architecture) == 120'668'707'840);
  // The published count leaves out 41 × 512 correction biases.
  CHECK(parameter_count(drafted.architecture).value == 123'611'012'096 + 41 * 512);
  CHECK(active_parameter_count(drafted.architecture).value == 12'770'237'440);
  CHECK(has_note(drafted, "num_nextn_predict_layers: the draft layers are counted apart"));
  CHECK(has_note(drafted, "mamba_ssm_cache_dtype: the recurrent state is meant to be kept in float32"));
  CHECK(contains(refusal(with(super, "\"*E\"", "\"*Q\"")), "mtp_hybrid_override_pattern: layer type \"Q\""));
  CHECK(contains(refusal(with(super, "layers\": 1", "layers\": 900")), "must be at most 256"));
}

TEST_CASE("layers are placed by types, intervals, periods and lists") {
  const std::string next = config_of(named("Qwen3-Next-80B-A3B"));
  CHECK(pattern_of(read(next).architecture).substr(0, 8) == "sss.sss.");
  CHECK(read(with(next, "\"full_attention_interval\": 4,", "")).architecture == read(next).architecture);
  CHECK(
      has_note(read(with(next, "\"full_attention_interval\": 4,", "")), "full_attention_interval is absent"));
  CHECK(has_note(read(next), "draft layers (MTP), if there are any, are not counted"));
  CHECK(contains(refusal(with(next, "\"full_attention_interval\": 4",
                              "\"layer_types\": " + in_turn("\"sliding_attention\"", 48))),
                 "layer_types[0]: layer type \"sliding_attention\" is unknown, expected linear_attention or "
                 "full_attention"));
  CHECK(contains(refusal(with(next, "\"linear_num_key_heads\": 16", "\"linear_num_key_heads\": 5")),
                 "linear_num_value_heads 32 is not a multiple of linear_num_key_heads 5"));

  const std::string jamba = config_of(named("Jamba-1.5-Mini"));
  CHECK(pattern_of(read(jamba).architecture).substr(0, 8) == "ssss.sss");
  CHECK(contains(refusal(with(jamba, "\"attn_layer_offset\": 4", "\"attn_layer_offset\": 8")),
                 "attn_layer_offset: must be below attn_layer_period 8"));
  // One expert is a plain MLP.
  const model_architecture dense = read(with(with(jamba, "\"num_experts\": 16", "\"num_experts\": 1"),
                                             "\"num_experts_per_tok\": 2", "\"num_experts_per_tok\": 1"))
                                       .architecture;
  CHECK(elements_of(dense, module_role::expert) == 0);
  CHECK(elements_of(dense, module_role::mlp) == 32ull * 3 * 4096 * 14336);

  const std::string bamba = R"({"model_type": "bamba", "hidden_size": 4096, "intermediate_size": 14336,
    "num_hidden_layers": 4, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
    "mamba_n_heads": 128, "mamba_d_head": "auto", "mamba_d_state": 128, "attn_layer_indices": [1, 3]})";
  CHECK(pattern_of(read(bamba).architecture) == "s.s.");
  CHECK(pattern_of(read(with(bamba, "[1, 3]", "null")).architecture) == "ssss");
  CHECK(contains(refusal(with(bamba, "[1, 3]", "[4]")),
                 "attn_layer_indices[0]: is 4, but layers are numbered 0 to 3"));

  CHECK(pattern_of(read(config_of(named("Falcon-H1-0.5B"))).architecture) == std::string(36, 'B'));
  CHECK(contains(refusal(with(config_of(named("Falcon-H1-0.5B")), "\"mamba_d_state\"",
                              "\"mamba_d_ssm\": 2048, \"mamba_d_state\"")),
                 "mamba_d_ssm 2048 is not mamba_n_heads 24 x mamba_d_head 64"));

  const std::string granite = config_of(named("granite-4.0-350m"));
  CHECK(contains(refusal(with(granite, "[\"attention\"", "[\"mlp\"")), "layer_types[0]: layer type \"mlp\""));
  CHECK(contains(refusal(with(granite, "\"num_hidden_layers\": 28", "\"num_hidden_layers\": 29")),
                 "layer_types: has 28 entries, expected one for each of the 29 layers"));

  const std::string minimax = config_of(named("MiniMax-M1-80k"));
  CHECK(pattern_of(read(minimax).architecture).substr(0, 9) == "sssssss.s");
  CHECK(contains(refusal(with(minimax, "[0, 0", "[0, 2")),
                 "attn_type_list[1]: layer type \"2\" is unknown, expected 0 or 1"));
  CHECK(contains(refusal(with(minimax, "attn_type_list", "other")), "key \"attn_type_list\" is missing"));
  // Only the class of the Hugging Face port has a default.
  const std::string port = with(with(minimax, "minimax_m1", "minimax"), "attn_type_list", "other");
  CHECK(pattern_of(read(port).architecture).substr(0, 4) == ".s.s");

  CHECK(pattern_of(read(config_of(named("Ring-mini-linear-2.0"))).architecture) == "ssss.ssss.ssss.ssss.");
  const std::string ring =
      with(config_of(named("Ring-mini-linear-2.0")), "\"num_hidden_layers\": 20", "\"num_hidden_layers\": 7");
  CHECK(pattern_of(read(ring).architecture) == "ssss...");  // no whole group is left behind layer 5

  const model_architecture griffin = read(config_of(named("recurrentgemma-2b"))).architecture;
  CHECK(pattern_of(griffin) == "ss.ss.ss.ss.ss.ss.ss.ss.ss");
  CHECK(slope(griffin, 1'000'000) == 0);  // attention keeps 2048 tokens
}

TEST_CASE("LFM2: the MLP is narrower than the config says") {
  const std::string config = config_of(named("LFM2-350M"));
  const model_architecture model = read(config).architecture;
  CHECK(model.kinds[0].intermediate_size == 4608);  // 6656 × 2 / 3 rounded up to 256
  CHECK(model.tie_word_embeddings);
  CHECK_FALSE(read(with(config, "\"conv_L_cache\"", "\"tie_embedding\": false, \"conv_L_cache\""))
                  .architecture.tie_word_embeddings);
  CHECK(read(with(config, "\"conv_L_cache\"", "\"block_ffn_dim_multiplier\": 0.5, \"conv_L_cache\""))
            .architecture.kinds[0]
            .intermediate_size == 2304);
  // Convolutions with biases: one per channel, and those of the two projections.
  const model_architecture biased =
      read(with(config, "\"conv_L_cache\"", "\"conv_bias\": true, \"conv_L_cache\"")).architecture;
  CHECK(resident(biased) == resident(model) + 10ull * (1 + 3 + 1) * 1024);
  CHECK(contains(refusal(with(config, "[2, 5", "[2, 2")), "full_attn_idxs[1]: names layer 2 a second time"));
}

// ---- weights that layers share ----------------------------------------------------------------------------

TEST_CASE("Zamba stores a shared block once, and a cache for each layer that runs it") {
  const std::string config = config_of(named("Zamba2-1.2B"));
  const huggingface_model zamba = read(config);
  CHECK(has_note(zamba, "1 shared transformer block(s) are stored once for 6 layers"));
  const model_architecture& model = zamba.architecture;
  CHECK(pattern_of(model).substr(0, 12) == "sssssBsssssB");
  // q, k, v from 2H, o to H; six projections of H²; adapters of q, k, v.
  const std::uint64_t hidden = 2048;
  CHECK(elements_of(model, module_role::attention) ==
        3 * 4 * hidden * hidden + 2 * hidden * hidden + 6 * (hidden * hidden + 3 * 2 * 2 * hidden * 128));
  const std::uint64_t block = 14 * hidden * hidden + 3 * hidden * 8192 + 3 * hidden;
  const model_architecture two =
      read(with(config, "\"num_mem_blocks\": 1", "\"num_mem_blocks\": 2")).architecture;
  CHECK(resident(two) == resident(model) + block);
  const model_architecture many =
      read(with(config, "\"num_mem_blocks\": 1", "\"num_mem_blocks\": 9")).architecture;
  CHECK(resident(many) == resident(model) + 5 * block);  // no more blocks than layers that run them

  nlohmann::json words = nlohmann::json::parse(config);
  words.erase("hybrid_layer_ids");
  CHECK(contains(
      refusal(words.dump()),
      "key \"layers_block_type\" is missing (also read from \"hybrid_layer_ids\"): zamba2 needs it"));
  for (int i = 0; i < 38; ++i) words["layers_block_type"].push_back(i % 6 == 5 ? "hybrid" : "mamba");
  CHECK(read(words.dump()).architecture == model);
  words["layers_block_type"][3] = "attention";
  CHECK(contains(refusal(words.dump()),
                 "layers_block_type[3]: layer type \"attention\" is unknown, expected mamba or hybrid"));
}

// ---- defaults and bad input -------------------------------------------------------------------------------

TEST_CASE("Mamba's defaults are those of its class, and are written down") {
  const std::string config = R"({"model_type": "falcon_mamba", "hidden_size": 4096, "num_hidden_layers": 64,
    "vocab_size": 65024})";
  const huggingface_model model = read(config);
  CHECK(has_note(model, "expand is absent: assumed to be 2, the default of falcon_mamba configs"));
  CHECK(has_note(model, "time_step_rank is absent: assumed to be \"auto\""));
  CHECK(model.architecture.tie_word_embeddings);
  CHECK(state_of_sequence(model.architecture) == 9'961'472);
  CHECK(contains(refusal(with(config, "65024", "65024, \"conv_kernel\": 70000")),
                 "conv_kernel: must be below 65536"));
  CHECK(contains(refusal(with(config, "65024", "65024, \"expand\": 0.0001")), "expand: must give 1 to"));
  CHECK(contains(refusal(with(config, "65024", "65024, \"expand\": 2000000")),
                 "expand: 2000000 x 4096 must be below 2^32"));
  const std::string second = config_of(named("Mamba-Codestral-7B"));
  CHECK(contains(refusal(with(second, "\"n_groups\": 8", "\"n_groups\": 7")),
                 "num_heads 128 is not a multiple of n_groups 7"));
  CHECK(
      contains(refusal(with(second, "\"head_dim\": 64", "\"head_dim\": 4000000000")), "must be below 2^32"));
  // Groups are split with the heads, and repeated where there are more ranks than groups.
  const model_architecture mamba = read(second).architecture;
  const deployment d{.model = mamba, .parallel = {.tensor = 16}, .dtype = formats::bf16};
  const std::uint64_t mixers =
      weights_of(d, share_of(d, rank{})).modules[static_cast<std::size_t>(module_role::mixer)];
  const std::uint64_t groups = 64ull * 2 * 128 * (4096 + 5);  // of one group, B and C
  CHECK(mixers / 2 == (elements_of(mamba, module_role::mixer) - 8 * groups) / 16 + groups);
}

TEST_CASE("switches of Mamba mixers change the count by what they add") {
  const std::string first = config_of(named("mamba-130m-hf"));
  const auto added = [](const std::string& config, const std::string& more) {
    const std::string changed = with(config, "\"vocab_size\"", more + ", \"vocab_size\"");
    return resident(read(changed).architecture) - resident(read(config).architecture);
  };
  const std::string biased = with(first, "\"use_bias\": false", "\"use_bias\": true");
  CHECK(resident(read(biased).architecture) == 129'135'360 + 24ull * (2 * 1536 + 768));
  const std::string plain = with(first, "\"use_conv_bias\": true", "\"use_conv_bias\": false");
  CHECK(resident(read(plain).architecture) == 129'135'360 - 24ull * 1536);
  const std::string both = config_of(named("Falcon-H1-0.5B"));
  CHECK(added(both, "\"mamba_proj_bias\": true") == 36ull * (2 * 1536 + 24 + 2 * 128));
  CHECK(added(both, "\"projectors_bias\": true") == 36ull * 1024);
  CHECK(added(both, "\"mamba_rms_norm\": true") == 36ull * 1536);
  CHECK(added(both, "\"attention_bias\": true") == 36ull * (8 * 64 + 2 * 2 * 64 + 1024));
  CHECK(added(both, "\"mlp_bias\": true") == 36ull * (2 * 2048 + 1024));
}

TEST_CASE("RWKV: versions, and bottlenecks that a config may leave open") {
  const std::string seventh = config_of(named("rwkv7-191M-world"));
  const huggingface_model open = read(with(seventh, ", \"gate_low_rank_dim\": 128", ""));
  CHECK(open.architecture.parameters_assumed);
  CHECK(has_note(open, "gate_low_rank_dim is absent and its class default has changed"));
  CHECK(resident(open.architecture) == 191'034'624 - 12ull * 2 * 768 * 128);
  const std::string renamed =
      with(with(seventh, "\"rwkv7\"", R"("rwkv", "architecture_version": "rwkv7")"), "head_dim", "head_size");
  CHECK(resident(read(renamed).architecture) == 191'034'624);
  CHECK(contains(refusal(with(seventh, "\"head_dim\": 64", "\"head_dim\": 100")),
                 "hidden_size 768 is not a multiple of head_dim 100"));
  CHECK(contains(refusal(with(seventh, "\"head_dim\"", "\"attn\": {\"layers\": [1]}, \"head_dim\"")),
                 "attn: attention layers are not supported, expected null"));
  CHECK(contains(refusal(with(config_of(named("rwkv-5-world-3b")), "5_2", "5_1")),
                 "model_version: \"5_1\" is not supported, expected 5_2"));
}

TEST_CASE("draft layers of Qwen3.5 are counted apart") {
  const model_architecture dense = read(config_of(named("Qwen3.6-27B"))).architecture;
  CHECK(elements_of(dense, module_role::draft) == 424'699'392);
  const model_architecture mixture = read(config_of(named("Qwen3.6-35B-A3B"))).architecture;
  CHECK(elements_of(mixture, module_role::draft) == 844'640'768);
  // Their draft layers attend, whatever the last layer does.
  CHECK(dense.draft_layers == 1);
  CHECK(dense.draft_store_count == 1);
  CHECK(dense.draft_stores[0] == stores::full(4, 256));
  CHECK(mixture.draft_stores[0] == stores::full(2, 256));
  CHECK(contains(refusal(with(config_of(named("Qwen3.6-27B")), "mtp_num_hidden_layers\": 1",
                              "mtp_num_hidden_layers\": 600")),
                 "text_config.mtp_num_hidden_layers: must be at most 512"));
}

TEST_CASE("damaged configs of hybrid models are read or refused in one line") {
  tests::numbers random(20260);
  tests::damaged_configs damaged;
  for (const published_model& published : published_models) {
    INFO(published.name);
    const std::string text = config_of(published);
    const nlohmann::json tree = nlohmann::json::parse(text);
    for (int i = 0; i < 60; ++i) damaged.attempt(tests::mutated_bytes(text, random));
    for (int i = 0; i < 100; ++i) damaged.attempt(tests::mutated_values(tree, random).dump());
  }
  CHECK(damaged.models > 300);
  CHECK(damaged.refused > 1000);
}

}  // namespace
