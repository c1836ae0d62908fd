// Hugging Face configs of mixtures of experts and latent attention: one published model per family with its
// exact counts and cache, the traps, splits over ranks, names of modules, bad input.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/io/huggingface.hpp"
#include "kvbudget/memory/kv_cache.hpp"
#include "kvbudget/memory/weights.hpp"
#include "kvbudget/plan/estimate.hpp"
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

/// The config with some of its members replaced; null members are kept as null.
std::string with(const std::string& config, const std::string& changes) {
  nlohmann::json tree = nlohmann::json::parse(config);
  tree.update(nlohmann::json::parse(changes));
  return tree.dump();
}
std::string without(const std::string& config, const std::string& key) {
  nlohmann::json tree = nlohmann::json::parse(config);
  tree.erase(key);
  return tree.dump();
}

deployment in_bf16(const model_architecture& model, const parallel_layout& layout = {}) {
  return {.model = model,
          .kv_cache = formats::bf16,
          .workload = {.sequences = 8, .context = tokens{8192}},
          .parallel = layout,
          .dtype = formats::bf16};
}

/// Bytes in bf16 that one more token costs at `context` tokens, index keys included.
std::uint64_t slope(const model_architecture& model, std::uint64_t context) {
  const deployment d = in_bf16(model);
  const ratio bytes_per_token = kv_growth_of(d, share_of(d, rank{}), tokens{context}).bytes_per_token;
  REQUIRE(bytes_per_token.denominator == 1);
  return bytes_per_token.numerator;
}
constexpr std::uint64_t beyond_every_window = 1'000'000'000;

/// One letter for the first store of each layer: full, window, chunk, latent, compressed, shared.
std::string pattern_of(const model_architecture& model) {
  std::string pattern;
  for (std::uint32_t layer = 0; layer < model.num_hidden_layers; ++layer) {
    const store& s = model.kinds[model.order[layer]].stores[0];
    switch (s.kind) {
      case store_kind::full: pattern += s.indexer_dim != 0 ? 'i' : 'f'; break;
      case store_kind::sliding_window: pattern += 'w'; break;
      case store_kind::chunked: pattern += 'c'; break;
      case store_kind::latent: pattern += s.indexer_dim != 0 ? 'L' : 'l'; break;
      case store_kind::compressed:
        pattern += s.compress_ratio == 0 ? '0' : s.indexer_dim != 0 ? '4' : '8';
        break;
      case store_kind::shared: pattern += 's'; break;
      case store_kind::none:
      case store_kind::recurrent:
      case store_kind::cross_attention: pattern += '?'; break;
    }
  }
  return pattern;
}
/// `d` for a dense layer, `e` for one with experts.
std::string experts_of(const model_architecture& model) {
  std::string pattern;
  for (std::uint32_t layer = 0; layer < model.num_hidden_layers; ++layer) {
    pattern += model.kinds[model.order[layer]].num_experts != 0 ? 'e' : 'd';
  }
  return pattern;
}

std::uint64_t parameters_of(const model_architecture& model) { return parameter_count(model).value; }
std::uint64_t parameters_of(const model_architecture& model, module_role role) {
  return parameter_count(model, role).value;
}
std::uint64_t drafts_of(const model_architecture& model) { return parameters_of(model, module_role::draft); }

/// The full names of the modules that a reader of quantized checkpoints would be asked about.
std::set<std::string> modules_of(const std::string& config) {
  const json_document document = parse_json(config, "test.json");
  const json_field field(document);
  const detail::model_family* family = detail::find_family(field.at("model_type").text());
  REQUIRE(family != nullptr);
  detail::config_remarks remarks;
  const detail::config_view view(field, family->model_type, remarks);
  const detail::decoder_shape shape = detail::shape_of(view, *family);
  model_architecture model{};
  std::set<std::string> names;
  detail::model_builder builder(model, *family,
                                {[&](std::string_view name, tensor_kind) -> std::optional<weight_scheme> {
                                  names.emplace(name);
                                  return std::nullopt;
                                }});
  detail::build_decoder(builder, view, *family, shape);
  return names;
}

// ---- one model per family --------------------------------------------------------------------------------

struct published_model {
  const char* name;
  std::uint64_t parameters;  ///< without draft layers
  std::uint64_t drafts;
  std::uint64_t active;      ///< of one token, embedding included
  std::uint64_t near_bytes;  ///< bf16 bytes per token at the start, index keys included …
  std::uint64_t far_bytes;   ///< … and beyond every window
  const char* config;
};

const char* const mixtral = R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "num_local_experts": 8,
    "num_experts_per_tok": 2, "vocab_size": 32000, "sliding_window": null})";
const char* const dbrx = R"({"model_type": "dbrx", "d_model": 6144, "n_layers": 40, "n_heads": 48,
    "vocab_size": 100352, "max_seq_len": 32768, "attn_config": {"kv_n_heads": 8},
    "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4}})";
const char* const qwen2_moe = R"({"model_type": "qwen2_moe", "hidden_size": 2048, "intermediate_size": 5632,
    "num_hidden_layers": 24, "num_attention_heads": 16, "num_key_value_heads": 16, "vocab_size": 151936,
    "num_experts": 60, "num_experts_per_tok": 4, "moe_intermediate_size": 1408,
    "shared_expert_intermediate_size": 5632})";
const char* const qwen3_moe = R"({"model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144,
    "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
    "vocab_size": 151936, "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768})";
const char* const glm_air = R"({"model_type": "glm4_moe", "hidden_size": 4096, "intermediate_size": 10944,
    "num_hidden_layers": 46, "num_attention_heads": 96, "num_key_value_heads": 8, "head_dim": 128,
    "vocab_size": 151552, "attention_bias": true, "use_qk_norm": false, "first_k_dense_replace": 1,
    "n_routed_experts": 128, "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 1408,
    "num_nextn_predict_layers": 1})";
const char* const deepseek_v2_lite = R"({"model_type": "deepseek_v2", "hidden_size": 2048,
    "intermediate_size": 10944, "num_hidden_layers": 27, "num_attention_heads": 16, "vocab_size": 102400,
    "first_k_dense_replace": 1, "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6,
    "moe_intermediate_size": 1408, "q_lora_rank": null, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128, "v_head_dim": 128, "topk_method": "greedy"})";
const char* const deepseek_v3 = R"({"model_type": "deepseek_v3", "hidden_size": 7168,
    "intermediate_size": 18432, "num_hidden_layers": 61, "num_attention_heads": 128, "vocab_size": 129280,
    "first_k_dense_replace": 3, "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
    "moe_intermediate_size": 2048, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128, "v_head_dim": 128, "topk_method": "noaux_tc", "num_nextn_predict_layers": 1})";
const char* const glm_5_2 = R"({"model_type": "glm_moe_dsa", "hidden_size": 6144, "intermediate_size": 12288,
    "num_hidden_layers": 78, "num_attention_heads": 64, "vocab_size": 154880, "first_k_dense_replace": 3,
    "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
    "q_lora_rank": 2048, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 192,
    "v_head_dim": 256, "head_dim": 192, "index_n_heads": 32, "index_head_dim": 128, "index_topk_freq": 4,
    "index_skip_topk_offset": 3, "num_nextn_predict_layers": 1})";
const char* const longcat = R"({"model_type": "longcat_flash", "hidden_size": 6144, "num_layers": 28,
    "num_attention_heads": 64, "vocab_size": 131072, "n_routed_experts": 512, "kv_lora_rank": 512,
    "qk_rope_head_dim": 64})";
const char* const gpt_oss_20b = R"({"model_type": "gpt_oss", "hidden_size": 2880, "intermediate_size": 2880,
    "num_hidden_layers": 24, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
    "vocab_size": 201088, "num_local_experts": 32, "num_experts_per_tok": 4, "sliding_window": 128})";
const char* const maverick = R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
    "hidden_size": 5120, "intermediate_size": 8192, "intermediate_size_mlp": 16384, "num_hidden_layers": 48,
    "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128, "num_local_experts": 128,
    "num_experts_per_tok": 1, "interleave_moe_layer_step": 2, "attention_chunk_size": 8192,
    "vocab_size": 202048}})";
const char* const minimax_m3 = R"({"model_type": "minimax_m3", "hidden_size": 6144, "intermediate_size": 3072,
    "dense_intermediate_size": 12288, "num_hidden_layers": 5, "num_attention_heads": 64,
    "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 200064, "num_local_experts": 128,
    "num_experts_per_tok": 4, "n_shared_experts": 1, "shared_intermediate_size": 3072,
    "moe_layer_freq": [0, 0, 0, 1, 1], "sparse_attention_config": {"sparse_attention_freq": [0, 0, 0, 1, 1],
    "sparse_index_dim": 128, "sparse_num_index_heads": 4}})";
const char* const mimo = R"({"model_type": "mimo_v2_flash", "hidden_size": 4096, "intermediate_size": 16384,
    "num_hidden_layers": 48, "num_attention_heads": 64, "num_key_value_heads": 4, "head_dim": 192,
    "v_head_dim": 128, "swa_num_attention_heads": 64, "swa_num_key_value_heads": 8, "swa_head_dim": 192,
    "swa_v_head_dim": 128, "sliding_window": 128, "add_swa_attention_sink_bias": true, "vocab_size": 152576,
    "n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048})";
const char* const step_3_5 = R"({"model_type": "step3p5", "hidden_size": 4096, "intermediate_size": 11264,
    "num_hidden_layers": 45, "num_attention_heads": 64, "num_attention_groups": 8, "head_dim": 128,
    "vocab_size": 128896, "moe_num_experts": 288, "moe_top_k": 8, "moe_intermediate_size": 1280,
    "share_expert_dim": 1280, "num_nextn_predict_layers": 3, "sliding_window": 512, "moe_layers_enum":
      "3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44",
    "layer_types": ["full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
      "full_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention",
      "sliding_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
      "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
      "sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
      "full_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention",
      "sliding_attention", "sliding_attention", "sliding_attention", "full_attention", "sliding_attention",
      "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
      "sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
      "full_attention", "sliding_attention", "sliding_attention", "sliding_attention"],
    "attention_other_setting": {"attention_type": "sliding_attention", "num_attention_heads": 96,
      "num_attention_groups": 8, "head_dim": 128}})";
const char* const hunyuan_large =
    R"({"model_type": "hunyuan", "hidden_size": 6400, "intermediate_size": 18304,
    "num_hidden_layers": 64, "num_attention_heads": 80, "num_key_value_heads": 8, "num_experts": 16,
    "moe_topk": 1, "num_shared_expert": 1, "use_cla": true, "cla_share_factor": 2, "vocab_size": 129024,
    "tie_word_embeddings": true, "use_qk_norm": true})";

// Sizes: the models' own config.json files. Counts: the element counts of their safetensors files, less what
// those store beside the weights (FP8 and MXFP4 scales).
const published_model published_models[] = {
    {"Mixtral-8x7B-v0.1", 46'702'792'704, 0, 12'879'925'248, 131'072, 131'072, mixtral},
    {"dbrx-base", 131'596'523'520, 0, 36'469'708'800, 163'840, 163'840, dbrx},
    {"Qwen1.5-MoE-A2.7B", 14'315'784'192, 0, 2'689'173'504, 196'608, 196'608, qwen2_moe},
    {"Qwen3-30B-A3B", 30'532'122'624, 0, 3'353'032'704, 98'304, 98'304, qwen3_moe},
    {"OLMoE-1B-7B", 6'919'161'856, 0, 1'282'017'280, 131'072, 131'072, R"({"model_type": "olmoe",
      "hidden_size": 2048, "intermediate_size": 1024, "num_hidden_layers": 16, "num_attention_heads": 16,
      "num_key_value_heads": 16, "vocab_size": 50304, "num_experts": 64, "num_experts_per_tok": 8})"},
    {"Phi-3.5-MoE", 41'873'153'344, 0, 6'640'999'744, 131'072, 0, R"({"model_type": "phimoe",
      "hidden_size": 4096, "intermediate_size": 6400, "num_hidden_layers": 32, "num_attention_heads": 32,
      "num_key_value_heads": 8, "vocab_size": 32064, "num_local_experts": 16, "num_experts_per_tok": 2,
      "attention_bias": true, "lm_head_bias": true, "sliding_window": 131072})"},
    {"granite-3.0-1b-a400m", 1'334'628'352, 0, 428'658'688, 49'152, 49'152, R"({"model_type": "granitemoe",
      "hidden_size": 1024, "intermediate_size": 512, "num_hidden_layers": 24, "num_attention_heads": 16,
      "num_key_value_heads": 8, "vocab_size": 49155, "num_local_experts": 32, "num_experts_per_tok": 8,
      "tie_word_embeddings": true})"},
    {"deepseek-moe-16b", 16'375'728'128, 0, 2'828'650'496, 229'376, 229'376, R"({"model_type": "deepseek",
      "hidden_size": 2048, "intermediate_size": 10944, "num_hidden_layers": 28, "num_attention_heads": 16,
      "num_key_value_heads": 16, "vocab_size": 102400, "n_routed_experts": 64, "n_shared_experts": 2,
      "num_experts_per_tok": 6, "moe_intermediate_size": 1408, "first_k_dense_replace": 1})"},
    // 110,468,824,832 published: embedding and head are stored once more with the draft layer.
    {"GLM-4.5-Air", 106'852'251'264, 3'616'573'568, 13'424'129'664, 188'416, 188'416, glm_air},
    {"dots.llm1", 142'774'381'696, 0, 14'016'588'928, 1'015'808, 1'015'808, R"({"model_type": "dots1",
      "hidden_size": 4096, "intermediate_size": 10944, "num_hidden_layers": 62, "num_attention_heads": 32,
      "num_key_value_heads": 32, "vocab_size": 152064, "n_routed_experts": 128, "n_shared_experts": 2,
      "num_experts_per_tok": 6, "moe_intermediate_size": 1408, "first_k_dense_replace": 1})"},
    {"ERNIE-4.5-21B-A3B", 21'825'437'888, 123'217'920, 3'352'150'208, 57'344, 57'344,
     R"({"model_type": "ernie4_5_moe",
      "hidden_size": 2560, "intermediate_size": 12288, "num_hidden_layers": 28, "num_attention_heads": 20,
      "num_key_value_heads": 4, "vocab_size": 103424, "moe_num_experts": 64, "moe_k": 6,
      "moe_num_shared_experts": 2, "moe_intermediate_size": 1536, "moe_layer_end_index": -1,
      "num_nextn_predict_layers": 1})"},
    {"Ling-lite", 16'801'974'272, 0, 2'753'153'024, 57'344, 57'344, R"({"model_type": "bailing_moe",
      "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 28, "num_attention_heads": 16,
      "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 126464, "num_experts": 64,
      "num_shared_experts": 2, "num_experts_per_tok": 6, "moe_intermediate_size": 1408, "use_bias": false})"},
    {"Ling-mini-2.0", 16'255'643'392, 0, 1'432'973'056, 40'960, 40'960, R"({"model_type": "bailing_moe_v2",
      "hidden_size": 2048, "intermediate_size": 5120, "num_hidden_layers": 20, "num_attention_heads": 16,
      "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 157184, "num_experts": 256,
      "num_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 512,
      "first_k_dense_replace": 1})"},
    {"grok-1", 315'684'820'992, 0, 83'756'587'008, 262'144, 262'144, R"({"model_type": "grok-1",
      "hidden_size": 6144, "intermediate_size": 32768, "num_hidden_layers": 64, "num_attention_heads": 48,
      "num_key_value_heads": 8, "vocab_size": 131072, "num_experts": 8, "num_experts_per_tok": 2})"},
    // 228,703,644,928 published: 13,880,064 are FP8 block scales.
    {"MiniMax-M2", 228'689'764'864, 0, 11'030'553'088, 253'952, 253'952, R"({"model_type": "minimax_m2",
      "hidden_size": 3072, "intermediate_size": 1536, "num_hidden_layers": 62, "num_attention_heads": 48,
      "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 200064, "num_local_experts": 256,
      "num_experts_per_tok": 8, "num_mtp_modules": 3})"},
    {"DeepSeek-V2-Lite", 15'706'484'224, 0, 2'661'150'208, 31'104, 31'104, deepseek_v2_lite},
    // 684,531,386,000 published: 41,540,496 are FP8 block scales.
    {"DeepSeek-V3", 671'026'419'200, 13'463'426'304, 37'552'297'472, 70'272, 70'272, deepseek_v3},
    // 753,329,940,480 published. 89,856 bytes of latents and 21 index keys of 256.
    {"GLM-5.2", 743'377'019'904, 9'952'920'576, 41'250'530'304, 95'232, 95'232, glm_5_2},
    {"GLM-4.7-Flash", 29'943'393'920, 1'278'094'656, 3'896'766'080, 54'144, 54'144,
     R"({"model_type": "glm4_moe_lite", "hidden_size": 2048, "intermediate_size": 10240,
      "num_hidden_layers": 47, "num_attention_heads": 20, "vocab_size": 154880, "n_routed_experts": 64,
      "n_shared_experts": 1, "num_experts_per_tok": 4, "moe_intermediate_size": 1536,
      "first_k_dense_replace": 1, "q_lora_rank": 768, "kv_lora_rank": 512, "qk_rope_head_dim": 64,
      "qk_nope_head_dim": 192, "v_head_dim": 256, "num_nextn_predict_layers": 1})"},
    // 15,960,111,936 published: 1,728 elements (64 for each layer) more, unexplained.
    {"Moonlight-16B-A3B", 15'960'110'208, 0, 2'914'776'192, 31'104, 31'104, R"({"model_type": "deepseek_v3",
      "hidden_size": 2048, "intermediate_size": 11264, "num_hidden_layers": 27, "num_attention_heads": 16,
      "vocab_size": 163840, "first_k_dense_replace": 1, "n_routed_experts": 64, "n_shared_experts": 2,
      "num_experts_per_tok": 6, "moe_intermediate_size": 1408, "q_lora_rank": null, "kv_lora_rank": 512,
      "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128, "topk_method": "noaux_tc"})"},
    // 561,862,880,256 published, with the draft layer and its embedding.
    {"LongCat-Flash-Chat", 560'664'980'480, 1'197'899'776, 32'182'676'480, 64'512, 64'512, longcat},
    {"gpt-oss-20b", 20'914'757'184, 0, 4'187'440'704, 49'152, 24'576, gpt_oss_20b},
    {"Llama-4-Maverick, text", 400'711'848'960, 0, 17'184'691'200, 196'608, 49'152, maverick},
    // K is 192 wide, V 128: 9 full layers of 4 KV heads, 39 sliding ones of 8.
    {"MiMo-V2-Flash", 308'778'780'864, 987'820'224, 15'445'936'320, 222'720, 23'040, mimo},
    // 199,384,301,376 published, with three draft layers and their heads.
    {"Step-3.5-Flash", 196'956'130'368, 2'428'171'008, 11'987'323'968, 184'320, 49'152, step_3_5},
    // 237,099,669,632 published.
    {"K-EXAONE-236B-A23B", 236'571'156'352, 528'513'280, 23'668'285'312, 196'608, 49'152,
     R"({"model_type": "exaone_moe", "hidden_size": 6144, "intermediate_size": 18432, "num_hidden_layers": 48,
      "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 153600,
      "num_experts": 128, "num_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
      "first_k_dense_replace": 1, "sliding_window": 128, "sliding_window_pattern": "LLLG",
      "num_nextn_predict_layers": 1})"},
    // Sizes of our own: the count is that of the formula.
    {"an AFMoE of 26B", 26'123'974'400, 0, 3'474'732'800, 65'536, 16'384, R"({"model_type": "afmoe",
      "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 32, "num_attention_heads": 32,
      "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 200192, "num_dense_layers": 2,
      "num_experts": 128, "num_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 1024,
      "sliding_window": 2048, "global_attn_every_n_layers": 4})"},
    {"Hunyuan-Large", 388'701'405'440, 0, 51'322'077'440, 81'920, 81'920, hunyuan_large},
    {"Hunyuan-A13B", 80'393'183'232, 0, 12'747'448'320, 131'072, 131'072, R"({"model_type": "hunyuan_v1_moe",
      "hidden_size": 4096, "intermediate_size": 3072, "num_hidden_layers": 32, "num_attention_heads": 32,
      "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 128167, "num_experts": 64, "moe_topk": 8,
      "num_shared_expert": 1, "use_mixed_mlp_moe": true, "use_qk_norm": true, "use_cla": false,
      "cla_share_factor": 2, "tie_word_embeddings": true})"},
};

TEST_CASE("counts and caches of mixtures are those of the published models", "[huggingface]") {
  for (const published_model& published : published_models) {
    INFO(published.name);
    const model_architecture model = read(published.config).architecture;
    CHECK(parameters_of(model) - drafts_of(model) == published.parameters);
    CHECK(drafts_of(model) == published.drafts);
    CHECK(active_parameter_count(model).value == published.active);
    CHECK(slope(model, 1) == published.near_bytes);
    CHECK(slope(model, beyond_every_window) == published.far_bytes);
  }
}

// ---- DeepSeek-V4 -----------------------------------------------------------------------------------------

/// Flash as published: 0, 0, then 4 and 128 in turn, and one entry for the draft layer.
std::string deepseek_v4_flash() {
  nlohmann::json config = nlohmann::json::parse(R"({"model_type": "deepseek_v4", "hidden_size": 4096,
      "num_hidden_layers": 43, "num_attention_heads": 64, "num_key_value_heads": 1, "head_dim": 512,
      "vocab_size": 129280, "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 6,
      "moe_intermediate_size": 2048, "q_lora_rank": 1024, "o_lora_rank": 1024, "o_groups": 8,
      "qk_rope_head_dim": 64, "index_head_dim": 128, "index_n_heads": 64, "sliding_window": 128,
      "hc_mult": 4, "num_hash_layers": 3, "num_nextn_predict_layers": 1})");
  for (int layer = 0; layer < 44; ++layer) {
    const int ratio = layer < 2 || layer == 43 ? 0 : layer % 2 == 0 ? 4 : 128;
    config["compress_ratios"].push_back(ratio);
  }
  return config.dump();
}

TEST_CASE("DeepSeek-V4 compresses by layer", "[huggingface]") {
  const model_architecture model = read(deepseek_v4_flash()).architecture;
  CHECK(pattern_of(model) ==
        "004848484848484848484848484848484848484848"
        "4");
  const std::uint64_t experts = parameters_of(model, module_role::expert);
  CHECK(parameters_of(model) - drafts_of(model) == 284'334'567'511);
  // Published: 4-bit experts as bytes, one scale per 32 of their weights, one per 128 × 128 of the FP8 ones.
  const std::uint64_t all_experts = experts / 43 * 44;
  CHECK(parameters_of(model) - all_experts / 2 + all_experts / 32 + 367'616 == 158'069'433'298);
  const deployment d{.model = model,
                     .kv_cache = formats::bf16,
                     .workload = {.sequences = 1, .context = tokens{131072}},
                     .dtype = formats::bf16};
  const kv_cache_bytes cache = kv_cache_of(d, share_of(d, rank{}));
  CHECK(cache.payload / 2 == 365'625'344);
  CHECK(cache.indexer / 2 == 88'080'384);
  CHECK(cache.state / 2 == 3'051'520);
}

TEST_CASE("DeepSeek-V4 may name its layers by type", "[huggingface]") {
  nlohmann::json by_type = nlohmann::json::parse(deepseek_v4_flash());
  for (const auto& ratio : by_type["compress_ratios"]) {
    by_type["layer_types"].push_back(ratio == 0   ? "sliding_attention"
                                     : ratio == 4 ? "compressed_sparse_attention"
                                                  : "heavily_compressed_attention");
  }
  by_type.erase("compress_ratios");
  CHECK(read(by_type.dump()).architecture == read(deepseek_v4_flash()).architecture);
  CHECK(contains(refusal(without(deepseek_v4_flash(), "compress_ratios")), "\"compress_ratios\" is missing"));
  CHECK(contains(refusal(with(deepseek_v4_flash(), R"({"compress_ratios": [0, 4]})")),
                 "compress_ratios: has 2 entries, expected one for each of the 43 layers"));
  CHECK(contains(refusal(with(deepseek_v4_flash(), R"({"o_groups": 7})")), "o_groups 7 does not divide"));
  CHECK(contains(refusal(with(deepseek_v4_flash(), R"({"num_key_value_heads": 2})")), "must be 1"));
  CHECK(contains(refusal(with(deepseek_v4_flash(), R"({"hc_mult": 4294967295})")), "must be below 2^32"));
}

// ---- where experts are -----------------------------------------------------------------------------------

TEST_CASE("lists decide which layers have experts", "[huggingface]") {
  const std::string five = with(glm_air, R"({"num_hidden_layers": 5, "num_nextn_predict_layers": 0})");
  const auto layers = [](const std::string& config) { return experts_of(read(config).architecture); };
  CHECK(layers(five) == "deeee");
  CHECK(layers(with(five, R"({"first_k_dense_replace": 3})")) == "dddee");
  CHECK(layers(with(five, R"({"moe_layer_freq": 2})")) == "ddede");
  CHECK(layers(with(five, R"({"moe_layer_freq": [1, 0, 1, 0, 0, 1]})")) == "ededd");
  CHECK(layers(with(five, R"({"mlp_layer_types": ["sparse", "dense", "dense", "dense", "sparse"]})")) ==
        "eddde");
  CHECK(layers(with(five, R"({"first_k_dense_replace": 9223372036854775807})")) == "ddddd");
  CHECK(layers(with(five, R"({"n_routed_experts": null})")) == "ddddd");
  CHECK(contains(refusal(with(five, R"({"mlp_layer_types": ["dense"]})")), "mlp_layer_types: has 1 entries"));
  CHECK(contains(refusal(with(five, R"({"mlp_layer_types": ["dense", "odd", "dense", "dense", "dense"]})")),
                 "mlp_layer_types[1]: MLP type \"odd\" is unknown"));

  const std::string qwen = with(qwen3_moe, R"({"num_hidden_layers": 6})");
  CHECK(layers(qwen) == "eeeeee");
  CHECK(layers(with(qwen, R"({"decoder_sparse_step": 2})")) == "dedede");
  CHECK(layers(with(qwen, R"({"mlp_only_layers": [0, 5, 5, 77]})")) == "deeeed");
  nlohmann::json long_list = nlohmann::json::parse(qwen);
  long_list["mlp_only_layers"] = std::vector<int>(600, 1);
  CHECK(contains(refusal(long_list.dump()), "mlp_only_layers: must have at most 512 entries"));

  const std::string llama = R"({"model_type": "llama4_text", "hidden_size": 256, "intermediate_size": 64,
      "intermediate_size_mlp": 128, "num_hidden_layers": 8, "num_attention_heads": 4,
      "num_key_value_heads": 2, "head_dim": 64, "num_local_experts": 4, "vocab_size": 1000)";
  CHECK(layers(llama + "}") == "eeeeeeee");
  CHECK(layers(llama + R"(, "interleave_moe_layer_step": 2})") == "dededede");
  CHECK(layers(llama + R"(, "moe_layers": [1, 7]})") == "deddddde");

  const std::string step = with(step_3_5, R"({"moe_layers_enum": "44, 1,2"})");
  const std::string sparse = layers(step);
  CHECK(sparse.substr(0, 4) == "deed");
  CHECK(sparse.back() == 'e');
  CHECK(contains(refusal(with(step_3_5, R"({"moe_layers_enum": "a"})")), "must be layer numbers"));
}

TEST_CASE("more experts per token than experts, and sizes that overflow, are refused", "[huggingface]") {
  CHECK(contains(refusal(with(mixtral, R"({"num_experts_per_tok": 9})")),
                 "9 is more than num_local_experts 8"));
  CHECK(contains(refusal(with(mixtral, R"({"num_local_experts": 4294967295})")), "must be below 2^32"));
  CHECK(contains(refusal(with(deepseek_v3, R"({"n_shared_experts": 4294967295})")), "must be below 2^32"));
  CHECK(contains(refusal(with(deepseek_v3, R"({"v_head_dim": 4294967295})")), "must be below 2^32"));
  CHECK(contains(refusal(with(deepseek_v3, R"({"num_nextn_predict_layers": 513})")), "must be at most 512"));
  CHECK(contains(refusal(with(hunyuan_large, R"({"moe_topk": 17})")),
                 "moe_topk 17 is more than num_experts 16"));
  CHECK(contains(refusal(with(hunyuan_large, R"({"moe_topk": [1, 1]})")), "moe_topk: has 2 entries"));
}

// ---- attention of different layers -----------------------------------------------------------------------

TEST_CASE("Llama 4: an empty list of rotary layers is as none", "[huggingface]") {
  const auto text = [](const std::string& changes) {
    nlohmann::json config = nlohmann::json::parse(maverick)["text_config"];
    config.update(nlohmann::json::parse(R"({"num_hidden_layers": 8})"));
    config.update(nlohmann::json::parse(changes));
    return pattern_of(read(config.dump()).architecture);
  };
  CHECK(text("{}") == "cccfcccf");
  CHECK(text(R"({"no_rope_layers": []})") == "cccfcccf");
  CHECK(text(R"({"no_rope_layers": [1, 0, 1, 0, 1, 0, 1, 0]})") == "cfcfcfcf");
  CHECK(text(R"({"no_rope_layer_interval": 2})") == "cfcfcfcf");
  CHECK(text(R"({"attention_chunk_size": null})") == "ffffffff");
}

TEST_CASE("GLM-5.2: shared layers have no indexer", "[huggingface]") {
  const auto twelve = [](const std::string& changes) {
    std::string config = with(glm_5_2, R"({"num_hidden_layers": 12, "num_nextn_predict_layers": 0})");
    return pattern_of(read(with(config, changes)).architecture);
  };
  CHECK(twelve("{}") == "LLLlllLlllLl");
  CHECK(twelve(R"({"index_topk_freq": 1})") == "LLLLLLLLLLLL");
  CHECK(twelve(R"({"index_skip_topk_offset": 2})") == "LLlllLlllLll");
  CHECK(twelve(R"({"index_topk_pattern": "FSFSFSFSFSFSFF"})") == "LlLlLlLlLlLl");
  CHECK(twelve(R"({"indexer_types": ["full", "shared", "shared", "shared", "shared", "shared", "shared",
      "shared", "shared", "shared", "shared", "shared", "full"]})") == "Llllllllllll");
  CHECK(contains(refusal(with(glm_5_2, R"({"indexer_types": ["full"]})")), "indexer_types: has 1 entries"));
  CHECK(contains(refusal(with(glm_5_2, R"({"index_topk_pattern": "FX"})")), "must be a letter F or S"));
  CHECK(contains(refusal(with(glm_5_2, R"({"attention_bias": true})")), "attention_bias: biases of latent"));
}

TEST_CASE("DeepSeek-V3.2 keeps an index key beside each latent", "[huggingface]") {
  const model_architecture model =
      read(with(deepseek_v3, R"({"model_type": "deepseek_v32", "index_n_heads": 64, "index_head_dim": 128})"))
          .architecture;
  CHECK(parameters_of(model) - drafts_of(model) == 671'877'944'064);
  CHECK(drafts_of(model) == 13'477'385'728);
  CHECK(slope(model, 1) == 70'272 + 61 * 256);
  deployment d = in_bf16(model);
  d.workload = {.sequences = 1, .context = tokens{131072}};
  const kv_cache_bytes cache = kv_cache_of(d, share_of(d, rank{}));
  CHECK(cache.payload == 131'072ULL * 70'272);
  CHECK(cache.indexer / 2 == 1'023'410'176);
}

TEST_CASE("MiniMax-M3 keeps an index key on sparse layers", "[huggingface]") {
  CHECK(pattern_of(read(minimax_m3).architecture) == "fffii");
  CHECK(experts_of(read(minimax_m3).architecture) == "dddee");
  const std::string off = R"({"sparse_attention_config": {"use_sparse_attention": false}})";
  CHECK(pattern_of(read(with(minimax_m3, off)).architecture) == "fffff");
  CHECK(contains(refusal(with(minimax_m3, R"({"sparse_attention_config": {}})")), "sparse_attention_freq"));
  CHECK(contains(refusal(with(minimax_m3, R"({"moe_layer_freq": [0]})")), "moe_layer_freq: has 1 entries"));
  CHECK(has_note(read(with(minimax_m3, R"({"num_mtp_modules": 7})")), "draft modules are not counted"));
  // A wrapper's text model is its own, whatever model type stands inside.
  nlohmann::json wrapped = {{"model_type", "minimax_m3_vl"}};
  wrapped["text_config"] = nlohmann::json::parse(with(minimax_m3, R"({"model_type": "minimax_m2"})"));
  CHECK(pattern_of(read(wrapped.dump()).architecture) == "fffii");
}

TEST_CASE("MiniMax-M3 as published", "[huggingface]") {
  nlohmann::json config = nlohmann::json::parse(with(minimax_m3, R"({"num_hidden_layers": 60})"));
  nlohmann::json switches(std::vector<int>(60, 1));
  for (std::size_t i = 0; i < 3; ++i) switches[i] = 0;
  config["moe_layer_freq"] = switches;
  config["sparse_attention_config"]["sparse_attention_freq"] = switches;
  const model_architecture model = read(config.dump()).architecture;
  CHECK(parameters_of(model) == 426'174'572'928);
  CHECK(slope(model, 1) == 122'880 + 57 * 256);
}

TEST_CASE("Hunyuan shares caches only with use_cla", "[huggingface]") {
  const std::string four = with(hunyuan_large, R"({"num_hidden_layers": 4})");
  CHECK(pattern_of(read(four).architecture) == "fsfs");
  CHECK(pattern_of(read(with(four, R"({"cla_share_factor": 4})")).architecture) == "fsss");
  CHECK(pattern_of(read(with(four, R"({"use_cla": false})")).architecture) == "ffff");
  CHECK(
      read(with(four, R"({"moe_topk": [1, 1, 1, 1, 1], "num_shared_expert": [1, 1, 1, 1]})")).architecture ==
      read(four).architecture);
  // What only weights depend on may be missing.
  const huggingface_model partial = read(without(hunyuan_large, "vocab_size"));
  CHECK(partial.architecture.parameters_assumed);
  CHECK(has_note(partial, "vocab_size is absent"));
  CHECK(slope(partial.architecture, 1) == 81'920);
  CHECK_FALSE(read(hunyuan_large).architecture.parameters_assumed);
}

TEST_CASE("MiMo-V2: what is not said of sliding layers", "[huggingface]") {
  const std::string six = with(mimo, R"({"num_hidden_layers": 6})");
  CHECK(pattern_of(read(six).architecture) == "fwwwwf");
  CHECK(pattern_of(read(with(six, R"({"hybrid_layer_pattern": [1, 0, 1, 0, 1, 0, 1]})")).architecture) ==
        "wfwfwf");
  const model_architecture model = read(without(six, "swa_num_key_value_heads")).architecture;
  CHECK(model == read(six).architecture);
  CHECK(read(with(six, R"({"num_nextn_predict_layers": 0})")).architecture != read(six).architecture);
  CHECK(drafts_of(read(with(six, R"({"num_nextn_predict_layers": 0})")).architecture) == 0);
}

TEST_CASE("latent attention without it, and without a query rank", "[huggingface]") {
  const std::string ocr = with(deepseek_v2_lite, R"({"use_mla": false, "kv_lora_rank": null})");
  CHECK(pattern_of(read(ocr).architecture) == std::string(27, 'f'));
  // Null is none; absent is the class default.
  const model_architecture none = read(deepseek_v2_lite).architecture;
  const huggingface_model usual = read(without(deepseek_v2_lite, "q_lora_rank"));
  CHECK(has_note(usual, "q_lora_rank is absent: assumed to be 1536"));
  CHECK(parameters_of(usual.architecture) != parameters_of(none));
  CHECK(contains(refusal(with(deepseek_v2_lite, R"({"kv_lora_rank": 0})")),
                 "kv_lora_rank: must be at least 1"));
  // The router's bias follows the method.
  const model_architecture biased =
      read(with(deepseek_v2_lite, R"({"topk_method": "noaux_tc"})")).architecture;
  CHECK(parameters_of(biased) - parameters_of(none) == 26 * 64);
}

TEST_CASE("openPangu has names of its own for the sizes of DeepSeek", "[huggingface]") {
  const std::string usual =
      R"({"model_type": "pangu_ultra_moe", "hidden_size": 7680, "intermediate_size": 18432,
      "num_hidden_layers": 61, "num_attention_heads": 128, "vocab_size": 153600, "num_experts_per_tok": 8,
      "moe_intermediate_size": 2048, "sandwich_norm": true, )";
  const model_architecture own =
      read(usual + R"("num_routed_experts": 256, "num_shared_experts": 1, "num_dense_layers": 3,
          "attention_q_lora_dim": 1536, "attention_kv_lora_dim": 512, "attention_qk_rope_dim": 64,
          "attention_qk_dim": 128, "attention_v_dim": 128})")
          .architecture;
  CHECK(own == read(usual + R"("n_routed_experts": 256, "n_shared_experts": 1, "first_k_dense_replace": 3,
          "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128,
          "v_head_dim": 128})")
                   .architecture);
  CHECK(slope(own, 1) == 70'272);
}

TEST_CASE("Arctic: a dense MLP works beside the experts", "[huggingface]") {
  const std::string arctic = R"({"model_type": "arctic", "hidden_size": 7168, "intermediate_size": 4864,
      "num_hidden_layers": 35, "num_attention_heads": 56, "num_key_value_heads": 8, "num_local_experts": 128,
      "num_experts_per_tok": 2, "moe_layer_frequency": 1, "parallel_attn_mlp_res": true, "vocab_size": 32000})";
  const model_architecture model = read(arctic).architecture;
  CHECK(parameters_of(model, module_role::mlp) == 35ULL * 3 * 7168 * 7168);
  CHECK(parameters_of(model, module_role::expert) == 35ULL * 128 * 3 * 7168 * 4864);
  CHECK(
      experts_of(read(with(arctic, R"({"num_hidden_layers": 5, "moe_layer_frequency": 2})")).architecture) ==
      "deded");
  CHECK(modules_of(arctic).count("model.layers.0.residual_mlp.w2") == 1);
}

// ---- splits over ranks -----------------------------------------------------------------------------------

std::uint64_t weights_on_a_rank(const deployment& d) {
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : weights_of(d, share_of(d, rank{})).modules) sum += bytes;
  return sum;
}

TEST_CASE("experts and heads divide over ranks, latents do not", "[huggingface]") {
  for (const published_model& published : published_models) {
    INFO(published.name);
    const model_architecture model = read(published.config).architecture;
    const std::uint64_t whole = weights_on_a_rank(in_bf16(model));
    const bool twenty_heads = model.kinds[0].num_attention_heads == 20;
    for (const parallel_layout& layout :
         {parallel_layout{.tensor = 2}, parallel_layout{.tensor = twenty_heads ? 4u : 8u},
          parallel_layout{.tensor = 2, .data = 2, .expert = 4}, parallel_layout{.data = 4, .expert = 4}}) {
      const deployment d = in_bf16(model, layout);
      CHECK_NOTHROW(estimate(d));
      const std::uint64_t ranks = layout.ranks();
      CHECK(weights_on_a_rank(d) * ranks >= whole);
      CHECK(weights_on_a_rank(d) < whole);
    }
  }
  const model_architecture latent = read(deepseek_v3).architecture;
  const deployment one = in_bf16(latent);
  const deployment eight = in_bf16(latent, {.tensor = 8});
  CHECK(kv_cache_of(one, share_of(one, rank{})).payload ==
        kv_cache_of(eight, share_of(eight, rank{})).payload);
  const model_architecture flash = read(deepseek_v4_flash()).architecture;
  CHECK_NOTHROW(estimate(in_bf16(flash, {.tensor = 8, .expert = 8})));
  CHECK_THROWS_AS(estimate(in_bf16(flash, {.tensor = 16})), error);  // 8 groups of the output projection
}

TEST_CASE("gpt-oss: output biases of experts are whole on each tensor rank", "[huggingface]") {
  const model_architecture model = read(gpt_oss_20b).architecture;
  const layer_kind& layer = model.kinds[0];
  for (std::size_t i = 0; i < layer.weight_count; ++i) {
    const weight_group& group = layer.weights[i];
    if (group.axis != shard_axis::neither) continue;
    CHECK(shard_of(group, {.tensor = 2}).elements() == group.elements());
    CHECK(shard_of(group, {.tensor = 8, .expert = 8}).elements() == group.elements() / 8);
    return;
  }
  FAIL("no such group");
}

// ---- names of modules ------------------------------------------------------------------------------------

TEST_CASE("modules are called as in checkpoints", "[huggingface]") {
  const struct {
    std::string config;
    std::vector<const char*> there;
    std::vector<const char*> not_there;
  } cases[] = {
      {mixtral,
       {"model.layers.0.block_sparse_moe.gate", "model.layers.31.block_sparse_moe.experts.0.w2",
        "model.layers.0.self_attn.q_proj", "lm_head"},
       {"model.layers.0.mlp.gate"}},
      {dbrx,
       {"transformer.blocks.0.ffn.experts.mlp.v1", "transformer.blocks.0.norm_attn_norm.attn.out_proj"},
       {}},
      {qwen2_moe, {"model.layers.0.mlp.shared_expert.up_proj", "model.layers.0.mlp.shared_expert_gate"}, {}},
      {gpt_oss_20b, {"model.layers.0.mlp.router", "model.layers.0.mlp.experts.gate_up_proj"}, {}},
      {deepseek_v3,
       {"model.layers.0.mlp.gate_proj", "model.layers.3.mlp.gate",
        "model.layers.3.mlp.shared_experts.down_proj", "model.layers.61.eh_proj",
        "model.layers.61.mlp.experts.0.up_proj", "model.layers.61.shared_head.head"},
       {}},
      {minimax_m3,
       {"model.layers.0.mlp.gate_proj", "model.layers.3.block_sparse_moe.gate",
        "model.layers.3.self_attn.index_q_proj", "model.layers.4.block_sparse_moe.shared_experts.gate_proj"},
       {"model.layers.0.self_attn.index_q_proj"}},
      {longcat,
       {"model.layers.0.self_attn.1.kv_b_proj", "model.layers.27.mlps.0.up_proj",
        "model.layers.0.mlp.router.classifier", "model.mtp.layers.0.self_attn.o_proj"},
       {"model.layers.0.mlp.down_proj"}},
      {step_3_5,
       {"model.layers.0.mlp.gate_proj", "model.layers.3.moe.gate", "model.layers.3.moe.up_proj",
        "model.layers.3.share_expert.up_proj", "model.layers.0.self_attn.g_proj",
        "model.layers.47.mlp.up_proj"},
       {}},
      {deepseek_v4_flash(),
       {"layers.0.attn.wq_a", "layers.2.attn.indexer.compressor.wgate", "layers.3.attn.compressor.wkv",
        "layers.0.ffn.experts.0.w1", "layers.0.ffn.shared_experts.w2", "layers.5.ffn.gate", "head",
        "mtp.0.e_proj"},
       {"layers.0.attn.compressor.wkv", "layers.3.attn.indexer.wq_b", "lm_head"}},
  };
  for (const auto& test : cases) {
    const std::set<std::string> names = modules_of(test.config);
    for (const char* name : test.there) {
      INFO(name);
      CHECK(names.count(name) == 1);
    }
    for (const char* name : test.not_there) {
      INFO(name);
      CHECK(names.count(name) == 0);
    }
  }
}

// ---- bad input -------------------------------------------------------------------------------------------

TEST_CASE("damaged mixture configs are read or refused in one line", "[huggingface]") {
  tests::numbers random(20'260'131);
  std::vector<std::string> configs = {minimax_m3, deepseek_v4_flash(), step_3_5, hunyuan_large, glm_5_2,
                                      mimo};
  configs.emplace_back(R"({"model_type": "llama4_text", "hidden_size": 256, "intermediate_size": 64,
      "intermediate_size_mlp": 128, "num_hidden_layers": 4, "num_attention_heads": 4, "moe_layers": [0, 2],
      "no_rope_layers": [1, 1, 0, 1], "num_key_value_heads": 2, "num_local_experts": 4, "vocab_size": 1000})");
  tests::damaged_configs damaged;
  for (const std::string& config : configs) {
    const nlohmann::json tree = nlohmann::json::parse(config);
    for (int i = 0; i < 150; ++i) damaged.attempt(tests::mutated_values(tree, random).dump());
  }
  CHECK(damaged.refused > 300);
}

}  // namespace
