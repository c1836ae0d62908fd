// Hugging Face configs of dense decoders: published models with their exact counts and caches, and the traps
// of families with own key names, biases, windows and layers of different shapes.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface.hpp"
#include "kvbudget/memory/weights.hpp"
#include "kvbudget/plan/estimate.hpp"
#include "support/catch.hpp"
#include "support/configs.hpp"
#include "support/input.hpp"
#include "support/mutations.hpp"

namespace {

using namespace kvbudget;
using tests::beyond_every_window;
using tests::contains;
using tests::elements;
using tests::has_note;
using tests::read;
using tests::refusal;
using tests::slope;
using tests::stores_of;
using tests::weights_on_first_rank;
using counts = std::map<std::string, int>;

/// The full names of the modules that the family asks the quantizer about.
std::set<std::string> modules_of(const std::string& config) {
  const json_document document = parse_json(config, "test.json", huggingface_limits);
  const json_field field(document);
  const detail::model_family* family = detail::find_family(field.at("model_type").text());
  REQUIRE(family != nullptr);
  detail::config_remarks remarks;
  const detail::config_view view(field, family->model_type, remarks);
  std::set<std::string> names;
  model_architecture model;
  detail::model_builder builder(model, *family, {[&](std::string_view module, tensor_kind) {
                                  names.emplace(module);
                                  return std::optional<weight_scheme>();
                                }});
  detail::build_decoder(builder, view, *family, detail::shape_of(view, *family));
  return names;
}

// ---- one model per family ---------------------------------------------------------------------------------

struct published_model {
  const char* name;
  std::uint64_t parameters;  ///< element count of the published checkpoint, without what it stores twice
  std::uint64_t near_bytes;  ///< bf16 bytes per token at the start …
  std::uint64_t far_bytes;   ///< … and beyond every window
  const char* config;
};

// Sizes: the models' own config.json files; counts: their safetensors element counts, or the count that the
// model's class gives for them.
const published_model published_models[] = {
    {"c4ai-command-r7b", 8'028'033'024, 131'072, 32'768, R"({"model_type": "cohere2", "hidden_size": 4096,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
      "intermediate_size": 14336, "vocab_size": 256000})"},
    {"tiny-aya-global", 3'349'227'520, 73'728, 18'432, R"({"model_type": "cohere2", "hidden_size": 2048,
      "num_hidden_layers": 36, "num_attention_heads": 16, "num_key_value_heads": 4,
      "intermediate_size": 11008, "vocab_size": 262144, "sliding_window_pattern": 4})"},
    {"aya-23-8B", 8'028'033'024, 131'072, 131'072, R"({"model_type": "cohere", "hidden_size": 4096,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
      "intermediate_size": 14336, "vocab_size": 256000, "use_qk_norm": false})"},
    {"Seed-OSS-36B", 36'151'104'512, 262'144, 262'144, R"({"model_type": "seed_oss", "hidden_size": 5120,
      "num_hidden_layers": 64, "num_attention_heads": 80, "num_key_value_heads": 8,
      "intermediate_size": 27648})"},
    {"glm-4-9b-chat-hf", 9'399'951'360, 40'960, 40'960, R"({"model_type": "glm", "hidden_size": 4096,
      "num_hidden_layers": 40, "num_attention_heads": 32, "intermediate_size": 13696})"},
    {"GLM-4-9B-0414", 9'400'279'040, 40'960, 40'960, R"({"model_type": "glm4", "hidden_size": 4096,
      "num_hidden_layers": 40, "num_attention_heads": 32, "intermediate_size": 13696})"},
    {"Orion-14B", 14'498'703'360, 819'200, 819'200, R"({"model_type": "orion", "hidden_size": 5120,
      "num_hidden_layers": 40, "num_attention_heads": 40, "num_key_value_heads": 40,
      "intermediate_size": 15360, "vocab_size": 84608})"},
    {"OLMo-1B", 1'176'764'416, 131'072, 131'072, R"({"model_type": "olmo", "hidden_size": 2048,
      "num_hidden_layers": 16, "num_attention_heads": 16, "num_key_value_heads": 16,
      "intermediate_size": 8192, "vocab_size": 50304, "tie_word_embeddings": true})"},
    {"Olmo-3-7B", 7'298'011'136, 524'288, 131'072, R"({"model_type": "olmo3", "hidden_size": 4096,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
      "intermediate_size": 11008, "vocab_size": 100278})"},
    {"internlm-chat-7b", 7'321'948'160, 524'288, 524'288, R"({"model_type": "internlm", "hidden_size": 4096,
      "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 103168})"},
    {"internlm3-8b", 8'804'241'408, 49'152, 49'152, R"({"model_type": "internlm3", "hidden_size": 4096,
      "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128,
      "intermediate_size": 10240, "vocab_size": 128512})"},
    // A draft layer of 210,790,400 elements included.
    {"MiMo-7B-Base", 7'833'409'536, 147'456, 147'456, R"({"model_type": "mimo", "hidden_size": 4096,
      "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
      "intermediate_size": 11008, "vocab_size": 151680, "num_nextn_predict_layers": 1})"},
    {"MiniCPM-2B", 2'724'880'896, 368'640, 368'640, R"({"model_type": "minicpm", "hidden_size": 2304,
      "num_hidden_layers": 40, "num_attention_heads": 36, "num_key_value_heads": 36,
      "intermediate_size": 5760, "vocab_size": 122753})"},
    {"MiniCPM4.1-8B", 8'185'253'888, 32'768, 32'768, R"({"model_type": "minicpm", "hidden_size": 4096,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 2,
      "intermediate_size": 16384, "vocab_size": 73448, "tie_word_embeddings": false})"},
    {"MiniCPM3-4B", 4'073'875'968, 35'712, 35'712, R"({"model_type": "minicpm3", "hidden_size": 2560,
      "num_hidden_layers": 62, "num_attention_heads": 40, "intermediate_size": 6400})"},
    {"Minitron-4B", 4'190'509'056, 131'072, 131'072, R"({"model_type": "nemotron", "hidden_size": 3072,
      "num_hidden_layers": 32, "num_attention_heads": 24, "num_key_value_heads": 8, "head_dim": 128,
      "intermediate_size": 9216})"},
    {"Ministral-8B", 8'019'808'256, 147'456, 36'864, R"({"model_type": "ministral", "hidden_size": 4096,
      "num_hidden_layers": 36, "num_attention_heads": 32, "intermediate_size": 12288, "vocab_size": 131072,
      "head_dim": 128, "sliding_window": 32768, "layer_types": [
      "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
      "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
      "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
      "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
      "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
      "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
      "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
      "full_attention", "sliding_attention", "sliding_attention", "sliding_attention",
      "full_attention", "sliding_attention", "sliding_attention", "sliding_attention"]})"},
    {"SmolLM3-3B", 3'075'098'624, 73'728, 73'728, R"({"model_type": "smollm3", "hidden_size": 2048,
      "num_hidden_layers": 36, "num_attention_heads": 16, "intermediate_size": 11008})"},
    {"granite-3.1-2b", 2'533'531'648, 81'920, 81'920, R"({"model_type": "granite", "hidden_size": 2048,
      "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8,
      "intermediate_size": 8192, "vocab_size": 49155, "tie_word_embeddings": true})"},
    {"EXAONE-3.5-32B", 32'003'200'000, 262'144, 262'144, R"({"model_type": "exaone", "hidden_size": 5120,
      "num_layers": 64, "num_attention_heads": 40, "num_key_value_heads": 8, "intermediate_size": 27392,
      "vocab_size": 102400})"},
    {"Apertus-8B", 8'053'338'176, 131'072, 131'072, R"({"model_type": "apertus", "hidden_size": 4096,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
      "intermediate_size": 21504})"},
    {"ERNIE-4.5-0.3B", 360'748'032, 18'432, 18'432, R"({"model_type": "ernie4_5", "hidden_size": 1024,
      "num_hidden_layers": 18, "num_attention_heads": 16, "intermediate_size": 3072})"},
    {"Baichuan2-7B", 7'505'973'248, 524'288, 524'288, R"({"model_type": "baichuan", "hidden_size": 4096,
      "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 11008, "vocab_size": 125696})"},
    {"XVERSE-13B", 13'715'031'040, 819'200, 819'200, R"({"model_type": "xverse", "hidden_size": 5120,
      "num_hidden_layers": 40, "num_attention_heads": 40, "intermediate_size": 13824, "vocab_size": 100278})"},
    {"persimmon-8b", 9'397'175'296, 589'824, 589'824, R"({"model_type": "persimmon", "hidden_size": 4096,
      "num_hidden_layers": 36, "num_attention_heads": 64, "intermediate_size": 16384})"},
    {"helium-1-preview-2b", 2'172'643'840, 245'760, 245'760, R"({"model_type": "helium", "hidden_size": 2560,
      "num_hidden_layers": 24, "num_attention_heads": 20, "intermediate_size": 7040, "vocab_size": 48000})"},
    {"Yi-6B", 6'061'035'520, 65'536, 65'536, R"({"model_type": "Yi", "hidden_size": 4096,
      "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 4,
      "intermediate_size": 11008, "vocab_size": 64000})"},
    {"gpt-j-6b", 6'050'882'784, 458'752, 458'752, R"({"model_type": "gptj", "n_embd": 4096, "n_layer": 28,
      "n_head": 16, "n_inner": null, "vocab_size": 50400})"},
    {"codegen-350M", 356'712'448, 81'920, 81'920, R"({"model_type": "codegen", "n_embd": 1024, "n_layer": 20,
      "n_head": 16, "n_inner": null, "vocab_size": 51200})"},
    // The checkpoint of 1.3B also stores masks: 1,365,907,456 elements.
    {"gpt-neo-1.3B", 1'315'575'808, 196'608, 98'304, R"({"model_type": "gpt_neo", "hidden_size": 2048,
      "num_layers": 24, "num_heads": 16, "attention_types": [[["global", "local"], 12]]})"},
    {"gpt-neox-japanese-2.7b", 2'598'837'760, 327'680, 327'680, R"({"model_type": "gpt_neox_japanese",
      "hidden_size": 2560, "num_hidden_layers": 32, "num_attention_heads": 32})"},
    {"bloom", 176'247'271'424, 4'014'080, 4'014'080, R"({"model_type": "bloom", "n_embed": 14336,
      "n_layer": 70, "num_attention_heads": 112, "vocab_size": 250880})"},
    {"bloom-560m", 559'214'592, 98'304, 98'304, R"({"model_type": "bloom", "hidden_size": 1024,
      "n_layer": 24, "n_head": 16, "vocab_size": 250880})"},
    {"mpt-7b", 6'649'286'656, 524'288, 524'288, R"({"model_type": "mpt", "d_model": 4096, "n_layers": 32,
      "n_heads": 32, "vocab_size": 50432, "attn_config": {"alibi": true}})"},
    {"gpt_bigcode-santacoder", 1'124'886'528, 12'288, 12'288, R"({"model_type": "gpt_bigcode",
      "n_embd": 2048, "n_layer": 24, "n_head": 16, "n_inner": 8192, "n_positions": 2048,
      "vocab_size": 49280})"},
    {"starcoder", 15'517'456'384, 20'480, 20'480, R"({"model_type": "gpt_bigcode", "n_embd": 6144,
      "n_layer": 40, "n_head": 48, "n_inner": 24576, "n_positions": 8192, "vocab_size": 49152})"},
    {"Qwen-1_8B", 1'836'828'672, 196'608, 196'608, R"({"model_type": "qwen", "hidden_size": 2048,
      "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 11008, "kv_channels": 128})"},
    {"Qwen-7B", 7'721'324'544, 524'288, 524'288, R"({"model_type": "qwen", "hidden_size": 4096,
      "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 22016, "kv_channels": 128})"},
    {"chatglm3-6b", 6'243'584'000, 28'672, 28'672, R"({"model_type": "chatglm", "hidden_size": 4096,
      "num_layers": 28, "num_attention_heads": 32, "ffn_hidden_size": 13696, "kv_channels": 128,
      "multi_query_attention": true, "multi_query_group_num": 2, "padded_vocab_size": 65024,
      "add_bias_linear": false, "add_qkv_bias": true, "seq_length": 8192})"},
    {"phi-2", 2'779'683'840, 327'680, 327'680, R"({"model_type": "phi", "hidden_size": 2560,
      "num_hidden_layers": 32, "num_attention_heads": 32, "intermediate_size": 10240})"},
    {"phi-1_5", 1'418'270'720, 196'608, 196'608, R"({"model_type": "phi-msft", "n_embd": 2048,
      "n_layer": 24, "n_head": 32, "n_head_kv": null, "n_inner": null, "vocab_size": 51200})"},
    {"OpenELM-270M", 271'527'168, 16'128, 16'128, R"({"model_type": "openelm", "model_dim": 1280,
      "num_transformer_layers": 16, "head_dim": 64,
      "num_kv_heads": [3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5],
      "num_query_heads": [12, 12, 12, 12, 12, 16, 16, 16, 16, 16, 16, 16, 20, 20, 20, 20],
      "ffn_multipliers": [0.5, 0.73, 0.97, 1.2, 1.43, 1.67, 1.9, 2.13, 2.37, 2.6, 2.83, 3.07, 3.3, 3.53, 3.77,
        4.0]})"},
};

TEST_CASE("published dense models of every dialect have their published count and cache") {
  std::map<std::string, int> covered;
  for (const published_model& published : published_models) {
    INFO(published.name);
    const huggingface_model found = read(published.config);
    const model_architecture& model = found.architecture;
    CHECK(parameter_count(model).value == published.parameters);
    CHECK(slope(model, 1) == published.near_bytes);
    CHECK(slope(model, beyond_every_window) == published.far_bytes);
    CHECK(elements(model, 1, 1) * 2 == published.near_bytes);
    CHECK_FALSE(model.parameters_assumed);
    ++covered[model.model_type];
  }
  const std::set<std::string> elsewhere = {"hunyuan_v1_dense", "hunyuan_vl_text", "arcee",
                                           "aquila",           "exaone4_5_text",  "bitnet"};
  for (const detail::family_table table :
       {detail::family_table(detail::llama_like_families), detail::family_table(detail::dialect_families)}) {
    for (const detail::model_family& family : table) {
      INFO(family.model_type);
      CHECK((covered[family.model_type] > 0 || elsewhere.contains(family.model_type)));
    }
  }
}

TEST_CASE("a draft layer is counted apart, under its own names") {
  const std::string config = R"({"model_type": "mimo", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100,
    "num_nextn_predict_layers": 1})";
  const huggingface_model found = read(config);
  // q, o 64×64; k, v 32×64; biases 64 + 2·32; MLP 3·128·64; projection 128×64; five norms.
  CHECK(parameter_count(found.architecture, module_role::draft).value ==
        2 * 4096 + 2 * 2048 + 128 + 3 * 8192 + 8192 + 5 * 64);
  CHECK(has_note(found, "1 draft layer is counted apart"));
  CHECK(found.architecture.draft_layers == 1);
  CHECK(found.architecture.draft_store_count == 1);
  CHECK(found.architecture.draft_stores[0] == stores::full(2, 16));
  const std::set<std::string> names = modules_of(config);
  CHECK(names.contains("model.mtp_layers.0.input_proj"));
  CHECK(names.contains("model.mtp_layers.0.self_attn.q_proj"));
  CHECK(names.contains("model.layers.1.mlp.down_proj"));

  const huggingface_model unread = read(R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100, "architectures": ["X"]})");
  CHECK_FALSE(has_note(unread, "draft"));
}

// ---- names ------------------------------------------------------------------------------------------------

TEST_CASE("modules have the names that their checkpoints give them") {
  const auto has = [](const std::string& config, const std::vector<std::string>& expected) {
    const std::set<std::string> names = modules_of(config);
    for (const std::string& name : expected) {
      INFO(config << " " << name);
      CHECK(names.contains(name));
    }
  };
  const std::string gpt = R"("n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 100})";
  const std::string usual = R"("hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 128, "vocab_size": 100})";
  has(R"({"model_type": "gptj", )" + gpt,
      {"transformer.wte", "transformer.h.0.attn.q_proj", "transformer.h.1.attn.out_proj",
       "transformer.h.1.mlp.fc_in", "transformer.h.1.mlp.fc_out", "lm_head"});
  has(R"({"model_type": "codegen", )" + gpt, {"transformer.h.0.attn.qkv_proj"});
  has(R"({"model_type": "gpt_bigcode", )" + gpt,
      {"transformer.h.0.attn.c_attn", "transformer.h.0.attn.c_proj", "transformer.h.0.mlp.c_fc"});
  has(R"({"model_type": "gpt2", )" + gpt, {"transformer.h.0.attn.c_attn", "transformer.wte"});
  has(R"({"model_type": "phi-msft", )" + gpt, {"transformer.h.0.mixer.Wqkv", "lm_head.linear"});
  has(R"({"model_type": "qwen", )" + usual, {"transformer.h.0.attn.c_attn", "transformer.h.0.mlp.w1",
                                             "transformer.h.0.mlp.w2", "transformer.h.0.mlp.c_proj"});
  has(R"({"model_type": "baichuan", )" + usual, {"model.layers.0.self_attn.W_pack", "model.embed_tokens"});
  has(R"({"model_type": "internlm2", )" + usual,
      {"model.layers.0.attention.wqkv", "model.layers.0.feed_forward.w3", "output"});
  has(R"({"model_type": "phi3", )" + usual,
      {"model.layers.0.self_attn.qkv_proj", "model.layers.0.mlp.gate_up_proj"});
  has(R"({"model_type": "gpt_neox", )" + usual, {"gpt_neox.layers.0.attention.query_key_value", "embed_out"});
  has(R"({"model_type": "falcon", )" + usual, {"transformer.h.0.self_attention.dense"});
  has(R"({"model_type": "persimmon", )" + usual, {"model.layers.0.self_attn.query_key_value"});
  has(R"({"model_type": "phi", )" + usual, {"model.layers.0.self_attn.dense", "model.layers.0.mlp.fc2"});
  has(R"({"model_type": "exaone", )" + usual,
      {"transformer.h.0.attn.attention.q_proj", "transformer.h.0.attn.attention.out_proj",
       "transformer.h.0.mlp.c_fc_1"});
  has(R"({"model_type": "mpt", "d_model": 64, "n_layers": 2, "n_heads": 4})",
      {"transformer.blocks.0.attn.Wqkv", "transformer.blocks.0.ffn.up_proj"});
  has(R"({"model_type": "chatglm", "hidden_size": 64, "num_layers": 2, "num_attention_heads": 4,
          "ffn_hidden_size": 128})",
      {"transformer.encoder.layers.0.self_attention.query_key_value",
       "transformer.encoder.layers.0.mlp.dense_h_to_4h", "transformer.output_layer"});
}

// ---- traps ------------------------------------------------------------------------------------------------

/// A small config of `family` with further keys.
std::string small(const std::string& family, const std::string& more = "", int layers = 4) {
  return R"({"model_type": ")" + family +
         R"(", "hidden_size": 64, "intermediate_size": 128, "vocab_size": 100,
    "num_attention_heads": 8, "num_key_value_heads": 2, "num_hidden_layers": )" +
         std::to_string(layers) + (more.empty() ? "" : ", " + more) + "}";
}

TEST_CASE("Cohere: norms of each head, one norm per layer, a window on three of four layers") {
  const auto layer = [](const std::string& config) { return read(config).architecture.kinds[0]; };
  const std::uint64_t plain = layer(small("cohere")).parameters();
  CHECK(plain == 2 * 4096 + 2 * 1024 + 3 * 8192 + 64);
  CHECK(layer(small("cohere", R"("use_qk_norm": true)")).parameters() == plain + 64 + 16);
  CHECK(layer(small("cohere2", R"("use_qk_norm": true)")).parameters() == plain);
  CHECK(stores_of(read(small("cohere2", "", 8)).architecture) == counts{{"full", 2}, {"sliding(4096)", 6}});
  CHECK(read(small("cohere")).architecture.tie_word_embeddings);
}

TEST_CASE("EXAONE 4.5: the text model is EXAONE 4 under either name, its tower that of a Qwen2.5-VL") {
  const model_architecture plain = read(small("exaone4")).architecture;
  for (const char* inner : {"exaone4", "exaone4_5_text"}) {
    const huggingface_model found = read(R"({"model_type": "exaone4_5", "vision_config": {"depth": 2},
      "text_config": )" + small(inner) + "}");
    // Each layer: queries and output 3584 x 3584, keys and values of 8 of 16 heads, MLP of 3420, biases,
    // norms.
    const std::uint64_t layer = 2ULL * 3584 * 3584 + 2 * 1792 * 3584 + 3 * 3420 * 3584 + 3584 + 2 * 1792 +
                                3584 + 2 * 3420 + 3584 + 2 * 3584;
    const std::uint64_t merged = 4 * 3584;
    const std::uint64_t tower =
        3ULL * 2 * 14 * 14 * 3584 + 2 * layer + 3584 + merged * merged + merged + merged * 3584 + 3584;
    CHECK(parameter_count(found.architecture, module_role::vision).value == tower);
    CHECK(parameter_count(found.architecture).value == parameter_count(plain).value + tower);
    CHECK(stores_of(found.architecture) == stores_of(plain));
  }
}

TEST_CASE("further relatives of Llama differ only where their class does") {
  const std::uint64_t llama = read(small("llama")).architecture.kinds[0].parameters();
  const auto layer = [](const char* family) {
    return read(small(family)).architecture.kinds[0].parameters();
  };
  CHECK(layer("aquila") == llama);
  CHECK(layer("arcee") == llama - 64 * 128);  // no gate
  CHECK(layer("hunyuan_v1_dense") == llama + 2 * 8);
  CHECK(layer("orion") == llama + 2 * 64);
}

TEST_CASE("OLMo: norms without weights, OLMo 3: every fourth layer keeps everything") {
  CHECK(parameter_count(read(small("olmo")).architecture, module_role::norm).value == 0);
  CHECK(stores_of(read(small("olmo3", "", 8)).architecture) == counts{{"full", 2}, {"sliding(4096)", 6}});
  CHECK(stores_of(read(small("olmo3", R"("sliding_window": null)", 8)).architecture) == counts{{"full", 8}});
}

TEST_CASE("SmolLM3: only layers without rotary positions have a window, and only when it is on") {
  const std::string window = R"("sliding_window": 16, "use_sliding_window": )";
  CHECK(stores_of(read(small("smollm3", window + "false")).architecture) == counts{{"full", 4}});
  CHECK(stores_of(read(small("smollm3", window + "true", 8)).architecture) ==
        counts{{"full", 6}, {"sliding(16)", 2}});
  CHECK(stores_of(read(small("smollm3", window + R"(true, "no_rope_layers": [0, 0, 1, 0])")).architecture) ==
        counts{{"full", 1}, {"sliding(16)", 3}});
  CHECK(stores_of(read(small("smollm3", window + R"(true, "layer_types": ["full_attention",
    "full_attention", "sliding_attention", "full_attention"])"))
                      .architecture) == counts{{"full", 3}, {"sliding(16)", 1}});
  CHECK(contains(refusal(small("smollm3", window + R"(true, "no_rope_layers": [0])")),
                 "test.json: no_rope_layers: has 1 entries, expected one for each layer"));
}

TEST_CASE("Hunyuan: layers that share keys and values keep nothing and have no projections of their own") {
  const model_architecture own = read(small("hunyuan_v1_dense")).architecture;
  CHECK(stores_of(own) == counts{{"full", 4}});
  // The factor counts only with use_cla.
  CHECK(stores_of(read(small("hunyuan_v1_dense", R"("cla_share_factor": 2)")).architecture) ==
        counts{{"full", 4}});
  const model_architecture shared =
      read(small("hunyuan_v1_dense", R"("use_cla": true, "cla_share_factor": 2)")).architecture;
  CHECK(stores_of(shared) == counts{{"full", 2}, {"shared", 2}});
  CHECK(elements(shared, 10, 1) * 2 == elements(own, 10, 1));
  // Two layers less of k and v (16×64 each) and of a key norm.
  CHECK(parameter_count(own).value - parameter_count(shared).value == 2 * (2 * 1024 + 8));
  CHECK(contains(refusal(small("hunyuan_v1_dense", R"("use_cla": true)")), "key \"cla_share_factor\""));
}

TEST_CASE("MiniCPM: a mixture where the config has experts, MiniCPM3: the latent is what is kept") {
  const model_architecture mixture =
      read(small("minicpm", R"("num_experts": 8, "num_experts_per_tok": 2)")).architecture;
  CHECK(parameter_count(mixture, module_role::expert).value == 4 * 8 * 3 * 64 * 128);
  CHECK(modules_of(small("minicpm", R"("num_experts": 8, "num_experts_per_tok": 2)"))
            .contains("model.layers.0.mlp.experts.0.w2"));
  const huggingface_model latent = read(small("minicpm3"));
  CHECK(stores_of(latent.architecture) == counts{{"mla", 4}});
  CHECK(elements(latent.architecture, 1, 1) == 4 * (256 + 32));
  CHECK(has_note(latent, "engines that expand it"));
  CHECK(contains(refusal(small("minicpm3", R"("kv_lora_rank": 0)")), "must be at least 1, not 0"));
  CHECK(contains(refusal(small("minicpm3", R"("qk_nope_head_dim": 4294967295)")), "must be below 2^32"));
}

TEST_CASE("GPT-Neo: attention_types decides, layer by layer") {
  const auto neo = [](const std::string& more, int layers) {
    return R"({"model_type": "gpt_neo", "hidden_size": 64, "num_heads": 4, "num_layers": )" +
           std::to_string(layers) + more + "}";
  };
  CHECK(stores_of(read(neo("", 4)).architecture) == counts{{"full", 2}, {"sliding(256)", 2}});
  CHECK(stores_of(read(neo(R"(, "attention_types": [[["local"], 3], [["global"], 1]], "window_size": 8)", 4))
                      .architecture) == counts{{"full", 1}, {"sliding(8)", 3}});
  CHECK(contains(refusal(neo(R"(, "attention_types": [[["global"], 3]])", 4)),
                 "attention_types: must describe 4 layers, not 3"));
  CHECK(contains(refusal(neo(R"(, "attention_types": [[["global"], 9000000000000000000]])", 4)),
                 "attention_types: must describe 4 layers, not more"));
  CHECK(contains(refusal(neo(R"(, "attention_types": [[["sparse"], 4]])", 4)),
                 "attention type \"sparse\" is unknown"));
  CHECK(contains(refusal(neo(R"(, "attention_types": [[[], 4]])", 4)), "must name at least one layer"));
  CHECK(contains(refusal(neo(R"(, "attention_types": [[["global"]]])", 4)), "a pattern and how often"));
}

TEST_CASE("MPT: heads, norms and positions come from attn_config") {
  const auto mpt = [](const std::string& more) {
    return R"({"model_type": "mpt", "d_model": 64, "n_layers": 2, "n_heads": 8, "vocab_size": 100,
      "max_seq_len": 32)" +
           more + "}";
  };
  const auto kv_heads = [&](const std::string& more) {
    return read(mpt(more)).architecture.kinds[0].stores[0].kv_heads;
  };
  CHECK(kv_heads("") == 8);
  CHECK(kv_heads(R"(, "attn_config": {"attn_type": "multiquery_attention"})") == 1);
  CHECK(kv_heads(R"(, "attn_config": {"attn_type": "grouped_query_attention", "kv_n_heads": 2})") == 2);
  const auto total = [&](const std::string& more) {
    return parameter_count(read(mpt(more)).architecture).value;
  };
  CHECK(total(R"(, "attn_config": {"alibi": false})") == total("") + 32 * 64);
  CHECK(total(R"(, "attn_config": {"alibi": false, "rope": true})") == total(""));
  CHECK(total(R"(, "attn_config": {"qk_ln": true})") == total("") + 2 * 2 * 64);
  // Biases: 4·64 of the attention, 256 + 64 of the MLP, 5 norms.
  CHECK(total(R"(, "no_bias": false)") == total("") + 2 * (256 + 320 + 128) + 64);
  CHECK(contains(refusal(mpt(R"(, "attn_config": {"attn_type": "flash"})")),
                 "test.json: attn_config.attn_type: attention \"flash\" is unknown"));
  CHECK(contains(refusal(mpt(R"(, "expansion_ratio": 4294967295)")), "must be below 2^32"));
}

TEST_CASE("dialects: one KV head, halved widths, groups of queries") {
  const auto bigcode = [](const char* more) {
    return read(std::string(R"({"model_type": "gpt_bigcode", "n_embd": 64, "n_layer": 2, "n_head": 8)") +
                more + "}")
        .architecture.kinds[0]
        .stores[0]
        .kv_heads;
  };
  CHECK(bigcode("") == 1);
  CHECK(bigcode(R"(, "multi_query": false)") == 8);
  CHECK(contains(refusal(R"({"model_type": "qwen", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "intermediate_size": 129, "kv_channels": 16})"),
                 "test.json: intermediate_size: must be even"));
  const std::string glm = R"({"model_type": "chatglm", "hidden_size": 64, "num_layers": 2,
    "num_attention_heads": 8, "ffn_hidden_size": 128, "kv_channels": 8, "multi_query_group_num": 2)";
  CHECK(read(glm + "}").architecture.kinds[0].stores[0].kv_heads == 8);
  CHECK(read(glm + R"(, "multi_query_attention": true})").architecture.kinds[0].stores[0].kv_heads == 2);
  CHECK(contains(refusal(glm + R"(, "inner_hidden_size": 256})"), "the first ChatGLM-6B is not supported"));
  const huggingface_model seeing = read(glm + R"(, "vision_config": {}})");
  CHECK(seeing.architecture.parameters_assumed);
  CHECK(has_note(seeing, "vision_config: the weights of this tower are not counted"));
}

// ---- layers of different shapes ---------------------------------------------------------------------------

TEST_CASE("OpenELM: lists of heads and MLP widths must fit the layers") {
  const auto openelm = [](const std::string& lists) {
    return R"({"model_type": "openelm", "model_dim": 64, "num_transformer_layers": 2, "head_dim": 16, )" +
           lists + "}";
  };
  const std::string heads = R"("num_query_heads": [4, 8], "num_kv_heads": [1, 2])";
  const huggingface_model found =
      read(openelm(heads + R"(, "ffn_multipliers": [0.5, 5], "ffn_dim_divisor": 16)"));
  const model_architecture& model = found.architecture;
  CHECK(model.kinds[0].intermediate_size == 32);
  CHECK(model.kinds[1].intermediate_size == 320);
  CHECK(elements(model, 1, 1) == 2 * 16 * (1 + 2));
  CHECK(model.tie_word_embeddings);
  CHECK_FALSE(read(openelm(heads + R"(, "ffn_multipliers": [0.5, 5], "share_input_output_layers": false)"))
                  .architecture.tie_word_embeddings);
  CHECK(contains(refusal(openelm(heads)), "key \"ffn_multipliers\" is missing"));
  CHECK(contains(refusal(openelm(heads + R"(, "ffn_multipliers": [1])")),
                 "test.json: ffn_multipliers: has 1 entries, expected one for each of the 2 layers"));
  CHECK(contains(refusal(openelm(heads + R"(, "ffn_multipliers": [1, -1])")),
                 "test.json: ffn_multipliers[1]: gives a width outside 1 to 2^32"));
  CHECK(contains(refusal(openelm(heads + R"(, "ffn_multipliers": [1, 1e300])")), "outside 1 to 2^32"));
  CHECK(contains(refusal(openelm(R"("num_query_heads": [4, 8], "num_kv_heads": [1, 3],
    "ffn_multipliers": [1, 1])")),
                 "num_attention_heads 8 is not a multiple of num_key_value_heads 3"));
}

TEST_CASE("a model may have as many different layers as OpenELM-3B") {
  std::string heads;
  std::string kv_heads;
  std::string factors;
  for (int i = 0; i < 36; ++i) {
    const std::string comma = i == 0 ? "" : ", ";
    heads += comma + std::to_string(4 * (1 + i / 9));
    kv_heads += comma + std::to_string(1 + i / 9);
    factors += comma + std::to_string(1 + i);
  }
  const model_architecture model =
      read(R"({"model_type": "openelm", "model_dim": 256, "num_transformer_layers": 36, "head_dim": 16,
        "num_query_heads": [)" +
           heads + R"(], "num_kv_heads": [)" + kv_heads + R"(], "ffn_multipliers": [)" + factors + "]}")
          .architecture;
  CHECK(model.kind_count == 36);
  CHECK(elements(model, 1, 1) == 2 * 16 * 9 * (1 + 2 + 3 + 4));
}

TEST_CASE("blocks from architecture search: missing parts, groups, factors, single matrices") {
  const auto nas = [](const std::string& attention, const std::string& ffn) {
    return R"({"model_type": "nemotron-nas", "hidden_size": 384, "num_hidden_layers": 1,
      "num_attention_heads": 8, "vocab_size": 100, "num_key_value_heads": null, "intermediate_size": null,
      "block_configs": [{"attention": )" +
           attention + R"(, "ffn": )" + ffn + "}]}";
  };
  const auto model = [&](const std::string& attention, const std::string& ffn) {
    return read(nas(attention, ffn)).architecture;
  };
  const std::string groups = R"({"no_op": false, "n_heads_in_group": 4})";
  const std::string wide = R"({"ffn_mult": 2.625})";  // 2 · 2.625 · 384 / 3 = 672 → 768
  CHECK(model(groups, wide).kinds[0].stores[0].kv_heads == 2);
  CHECK(model(groups, wide).kinds[0].intermediate_size == 768);
  CHECK(model(groups, R"({"intermediate_size": 100})").kinds[0].intermediate_size == 100);
  CHECK(stores_of(model(R"({"no_op": true})", wide)) == counts{{"none", 1}});
  CHECK(model(R"({"no_op": true})", wide).kinds[0].parameters() == 3 * 768 * 384 + 384);
  CHECK(model(groups, R"({"no_op": true})").kinds[0].parameters() == 2 * 384 * 384 + 2 * 96 * 384 + 384);
  CHECK(model(R"({"no_op": true})", R"({"no_op": true})").kinds[0].parameters() == 0);
  CHECK(model(R"({"replace_with_linear": true})", R"({"replace_with_linear": true})").kinds[0].parameters() ==
        2 * 384 * 384 + 2 * 384);
  CHECK(stores_of(model(R"({"n_heads_in_group": 4, "window_length": 32})", wide)) ==
        counts{{"sliding(32)", 1}});
  CHECK(contains(refusal(nas(R"({"n_heads_in_group": 3})", wide)), "n_heads_in_group 3 does not divide 8"));
  CHECK(contains(refusal(nas(R"({"n_heads_in_group": null})", wide)), "key \"n_heads_in_group\" is null"));
  CHECK(contains(refusal(nas(groups, "{}")), "block_configs[0].ffn: key \"ffn_mult\" is missing"));
  CHECK(contains(refusal(nas(groups, R"({"ffn_mult": -1})")), "gives a width outside 1 to 2^32"));
  CHECK(contains(refusal(nas(R"({"n_heads_in_group": 4, "num_sink_tokens": 4})", wide)), "sink tokens"));
}

TEST_CASE("DeciLM: KV heads of each layer") {
  const model_architecture model =
      read(small("deci", R"("num_key_value_heads_per_layer": [4, 2, 1, 4])")).architecture;
  CHECK(elements(model, 1, 1) == 2 * 8 * (4 + 2 + 1 + 4));
  CHECK(contains(refusal(small("deci")), "key \"num_key_value_heads_per_layer\" is missing"));
  CHECK(contains(refusal(small("deci", R"("num_key_value_heads_per_layer": [4, 3, 1, 4])")),
                 "num_attention_heads 8 is not a multiple of num_kv_heads 3"));
}

// ---- drafts -----------------------------------------------------------------------------------------------

TEST_CASE("EAGLE drafts read the embedding of their target") {
  const std::string shape = R"("model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 1,
    "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
    "tie_word_embeddings": false)";
  // fc 4096×12288, projections of 8192 columns, a head of 32000 rows, four norms.
  const huggingface_model third =
      read(R"({"architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 32000, )" + shape + "}");
  CHECK(parameter_count(third.architecture).value == 424'689'664);
  CHECK(third.architecture.vocab_size == 32'000);
  CHECK(slope(third.architecture, 1) == 4096);
  CHECK(has_note(third, "reads the embedding of its target"));
  // fc 4096×8192 with a bias, one norm.
  const huggingface_model first = read(R"({"architectures": ["LlamaForCausalLMEagle"], )" + shape + "}");
  CHECK(parameter_count(first.architecture).value == 41'943'040 + 3 * 58'720'256 + 33'554'432 + 2 * 4096);
  CHECK(parameter_count(read("{" + shape + "}").architecture).value > 1'000'000'000);
}

// ---- damage -----------------------------------------------------------------------------------------------

TEST_CASE("tensor parallelism works where heads divide, and damaged configs give one line") {
  tests::numbers random(20'260'729);
  tests::damaged_configs damaged;
  for (const published_model& published : published_models) {
    INFO(published.name);
    const nlohmann::json tree = nlohmann::json::parse(published.config);
    for (int i = 0; i < 100; ++i) damaged.attempt(tests::mutated_values(tree, random).dump());
    if (std::string(published.name) == "OpenELM-270M") continue;  // three KV heads
    const model_architecture model = read(published.config).architecture;
    const std::uint64_t whole = weights_on_first_rank(model, 1);
    CHECK(weights_on_first_rank(model, 2) >= whole / 2);
    CHECK(weights_on_first_rank(model, 2) < whole * 11 / 20);
  }
  CHECK(damaged.models > 100);
  CHECK(damaged.refused > 1000);
}

}  // namespace
