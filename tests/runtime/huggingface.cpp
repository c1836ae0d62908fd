// Hugging Face configs: one published model per family with its exact count and cache, the traps, bad input.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface.hpp"
#include "kvbudget/memory/kv_cache.hpp"
#include "kvbudget/memory/weights.hpp"
#include "support/catch.hpp"
#include "support/configs.hpp"
#include "support/input.hpp"
#include "support/mutations.hpp"

namespace {

using namespace kvbudget;
using tests::beyond_every_window;
using tests::cache_of;
using tests::contains;
using tests::elements;
using tests::has_note;
using tests::message_of;
using tests::read;
using tests::refusal;
using tests::scratch;
using tests::slope;
using tests::state_elements;
using tests::stores_of;

/// The window of each layer, `.` where it keeps everything.
std::string pattern_of(const model_architecture& model) {
  std::string pattern;
  for (std::uint32_t layer = 0; layer < model.num_hidden_layers; ++layer) {
    pattern += model.kinds[model.order[layer]].stores[0].kind == store_kind::full ? '.' : 'w';
  }
  return pattern;
}

// ---- one model per family ---------------------------------------------------------------------------------

struct published_model {
  const char* name;
  std::uint64_t parameters;  ///< element count of the published checkpoint, without what it stores twice
  std::uint64_t near_bytes;  ///< bf16 bytes per token at the start …
  std::uint64_t far_bytes;   ///< … and beyond every window
  const char* config;
};

// Sizes: the models' own config.json files; counts: their safetensors element counts.
const published_model published_models[] = {
    {"Llama-3.1-70B", 70'553'706'496, 327'680, 327'680, R"({"model_type": "llama", "hidden_size": 8192,
      "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8,
      "vocab_size": 128256, "max_position_embeddings": 131072, "tie_word_embeddings": false})"},
    {"Llama-3.2-3B", 3'212'749'824, 114'688, 114'688, R"({"model_type": "llama", "hidden_size": 3072,
      "intermediate_size": 8192, "num_hidden_layers": 28, "num_attention_heads": 24, "num_key_value_heads": 8,
      "vocab_size": 128256, "head_dim": 128, "tie_word_embeddings": true})"},
    {"Mistral-7B-v0.1", 7'241'732'096, 131'072, 0, R"({"model_type": "mistral", "hidden_size": 4096,
      "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
      "vocab_size": 32000, "sliding_window": 4096})"},
    {"Qwen2.5-0.5B", 494'032'768, 12'288, 12'288, R"({"model_type": "qwen2", "hidden_size": 896,
      "intermediate_size": 4864, "num_hidden_layers": 24, "num_attention_heads": 14, "num_key_value_heads": 2,
      "vocab_size": 151936, "tie_word_embeddings": true, "sliding_window": 32768, "use_sliding_window": false})"},
    {"Qwen3-8B", 8'190'735'360, 147'456, 147'456,
     R"({"model_type": "qwen3", "hidden_size": 4096, "head_dim": 128,
      "intermediate_size": 12288, "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8,
      "vocab_size": 151936, "tie_word_embeddings": false, "attention_bias": false})"},
    {"Phi-3-mini-4k", 3'821'079'552, 393'216, 0, R"({"model_type": "phi3", "hidden_size": 3072,
      "intermediate_size": 8192, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
      "vocab_size": 32064, "sliding_window": 2047})"},
    {"gemma-2b", 2'506'172'416, 18'432, 18'432,
     R"({"model_type": "gemma", "hidden_size": 2048, "head_dim": 256,
      "intermediate_size": 16384, "num_hidden_layers": 18, "num_attention_heads": 8, "num_key_value_heads": 1,
      "vocab_size": 256000})"},
    {"gemma-2-2b", 2'614'341'888, 106'496, 53'248, R"({"model_type": "gemma2", "hidden_size": 2304,
      "intermediate_size": 9216, "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4})"},
    // As published: everything else is Gemma3TextConfig's default.
    {"gemma-3-4b-it", 4'300'079'472, 139'264, 20'480, R"({"model_type": "gemma3",
      "text_config": {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240,
        "num_hidden_layers": 34, "sliding_window": 1024},
      "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152, "image_size": 896,
        "intermediate_size": 4304, "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14,
        "vision_use_head": false}})"},
    {"gemma-3-1b-it", 999'885'952, 26'624, 4'096, R"({"model_type": "gemma3_text", "hidden_size": 1152,
      "intermediate_size": 6912, "num_hidden_layers": 26, "num_attention_heads": 4, "num_key_value_heads": 1,
      "head_dim": 256, "vocab_size": 262144, "sliding_window": 512, "sliding_window_pattern": 6})"},
    {"OLMo-2-0325-32B", 32'234'279'936, 262'144, 262'144, R"({"model_type": "olmo2", "hidden_size": 5120,
      "intermediate_size": 27648, "num_hidden_layers": 64, "num_attention_heads": 40, "num_key_value_heads": 8,
      "vocab_size": 100352, "tie_word_embeddings": false})"},
    {"internlm2-20b", 19'861'149'696, 196'608, 196'608, R"({"model_type": "internlm2", "hidden_size": 6144,
      "intermediate_size": 16384, "num_hidden_layers": 48, "num_attention_heads": 48, "num_key_value_heads": 8,
      "vocab_size": 92544, "bias": false, "tie_word_embeddings": false})"},
    {"EXAONE-4.0-32B", 32'003'216'384, 262'144, 65'536, R"({"model_type": "exaone4", "hidden_size": 5120,
      "intermediate_size": 27392, "num_hidden_layers": 64, "num_attention_heads": 40, "num_key_value_heads": 8,
      "vocab_size": 102400, "head_dim": 128, "sliding_window": 4096, "sliding_window_pattern": "LLLG"})"},
    {"stablelm-3b-4e1t", 2'795'443'200, 327'680, 327'680, R"({"model_type": "stablelm", "hidden_size": 2560,
      "intermediate_size": 6912, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
      "vocab_size": 50304, "use_qkv_bias": false})"},
    {"stablelm-2-1_6b", 1'644'515'328, 196'608, 196'608, R"({"model_type": "stablelm", "hidden_size": 2048,
      "intermediate_size": 5632, "num_hidden_layers": 24, "num_attention_heads": 32, "num_key_value_heads": 32,
      "vocab_size": 100352, "use_qkv_bias": true})"},
    {"gpt2", 124'439'808, 36'864, 36'864,
     R"({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12,
      "n_positions": 1024, "vocab_size": 50257})"},
    {"gpt-neox-20b", 20'554'567'680, 1'081'344, 1'081'344, R"({"model_type": "gpt_neox", "hidden_size": 6144,
      "intermediate_size": 24576, "num_hidden_layers": 44, "num_attention_heads": 64, "vocab_size": 50432,
      "max_position_embeddings": 2048})"},
    {"opt-125m", 125'239'296, 36'864, 36'864, R"({"model_type": "opt", "hidden_size": 768, "ffn_dim": 3072,
      "num_hidden_layers": 12, "num_attention_heads": 12, "vocab_size": 50272, "max_position_embeddings": 2048,
      "word_embed_proj_dim": 768, "do_layer_norm_before": true})"},
    {"opt-350m", 331'196'416, 98'304, 98'304, R"({"model_type": "opt", "hidden_size": 1024, "ffn_dim": 4096,
      "num_hidden_layers": 24, "num_attention_heads": 16, "vocab_size": 50272, "max_position_embeddings": 2048,
      "word_embed_proj_dim": 512, "do_layer_norm_before": false})"},
    // The 7B checkpoint stores its tied head a second time: 7,217,189,760 elements.
    {"falcon-7b", 6'921'720'704, 8'192, 8'192, R"({"model_type": "falcon", "hidden_size": 4544,
      "num_hidden_layers": 32, "num_attention_heads": 71, "num_kv_heads": 71, "vocab_size": 65024, "bias": false,
      "multi_query": true, "new_decoder_architecture": false, "parallel_attn": true})"},
    {"falcon-40b", 41'303'293'952, 122'880, 122'880, R"({"model_type": "falcon", "hidden_size": 8192,
      "num_hidden_layers": 60, "num_attention_heads": 128, "num_kv_heads": 8, "vocab_size": 65024, "bias": false,
      "multi_query": true, "new_decoder_architecture": true, "parallel_attn": true})"},
    {"falcon-rw-1b", 1'311'625'216, 196'608, 196'608, R"({"model_type": "falcon", "hidden_size": 2048,
      "num_hidden_layers": 24, "num_attention_heads": 32, "vocab_size": 50304, "bias": true, "alibi": true,
      "multi_query": false, "new_decoder_architecture": false, "parallel_attn": false})"},
    {"starcoder2-3b", 3'030'371'328, 30'720, 0, R"({"model_type": "starcoder2", "hidden_size": 3072,
      "intermediate_size": 12288, "num_hidden_layers": 30, "num_attention_heads": 24, "num_key_value_heads": 2,
      "vocab_size": 49152, "sliding_window": 4096, "use_bias": true})"},
};

TEST_CASE("a published model of every family has its published count and cache") {
  std::map<std::string, int> covered;
  for (const published_model& published : published_models) {
    INFO(published.name);
    const huggingface_model found = read(published.config);
    const model_architecture& model = found.architecture;
    CHECK(parameter_count(model).value == published.parameters);
    CHECK(slope(model, 1) == published.near_bytes);
    CHECK(slope(model, beyond_every_window) == published.far_bytes);
    CHECK(elements(model, 1, 1) * 2 == published.near_bytes);
    CHECK(elements(model, 500, 3) * 2 == published.near_bytes * 1500);  // inside every window
    CHECK_FALSE(found.quantization_method);
    ++covered[model.model_type];
  }
  for (const detail::model_family& family : detail::dense_families) {
    INFO(family.model_type);
    CHECK(covered[family.model_type] > 0);
  }
}

TEST_CASE("the parts of a config end up where they belong") {
  const huggingface_model found = read(R"({"_name_or_path": "/models/acme/Tiny-1B/", "model_type": "llama",
    "hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "vocab_size": 1000, "max_position_embeddings": 4096, "tie_word_embeddings": false,
    "torch_dtype": "bfloat16", "attention_bias": true, "mlp_bias": true})");
  const model_architecture& model = found.architecture;
  CHECK(std::string(model.name) == "Tiny-1B");
  CHECK(std::string(model.model_type) == "llama");
  CHECK(model.dtype == formats::bf16);
  CHECK(model.hidden_size == 64);
  CHECK(model.vocab_size == 1000);
  CHECK(model.max_position_embeddings == 4096);
  CHECK(model.num_hidden_layers == 2);
  CHECK(model.kind_count == 1);
  CHECK_FALSE(model.tie_word_embeddings);
  CHECK_FALSE(model.parameters_assumed);
  CHECK(found.notes.empty());
  const layer_kind& layer = model.kinds[0];
  CHECK(layer.num_attention_heads == 4);
  CHECK(layer.key_value_heads == 2);
  CHECK(layer.query_dim == 16);
  CHECK(layer.value_dim == 16);
  CHECK(layer.intermediate_size == 256);
  CHECK(layer.gated_mlp);
  CHECK(layer.stores[0] == stores::full(2, 16));
  // q, o 64×64; k, v 32×64; biases 64 + 2×32 + 64; MLP 3×256×64 with biases 2×256 + 64; two norms.
  CHECK(layer.parameters() == 2 * 4096 + 2 * 2048 + 192 + 3 * 16384 + 576 + 128);
  CHECK(parameter_count(model, module_role::embedding).value == 64'000);
  CHECK(parameter_count(model, module_role::lm_head).value == 64'000);
  CHECK(parameter_count(model, module_role::norm).value == 2 * 128 + 64);

  // Two tensor ranks hold halves of everything but norms and the biases of row-parallel layers.
  const deployment d{.model = model, .parallel = {.tensor = 2}};
  const weight_bytes halves = weights_of(d, share_of(d, rank{}));
  std::uint64_t rank_bytes = 0;
  for (const std::uint64_t module : halves.modules) rank_bytes += module;
  const std::uint64_t whole_elements = 2 * (2 * 64 + 128) + 64;
  CHECK(rank_bytes == parameter_count(model).value + whole_elements);  // (N − w)/2 + w elements of two bytes
}

// ---- traps ------------------------------------------------------------------------------------------------

/// A small config of `family` with further keys.
std::string small(const std::string& family, const std::string& more = "", int layers = 4) {
  return R"({"model_type": ")" + family +
         R"(", "hidden_size": 64, "intermediate_size": 128, "vocab_size": 100,
    "num_attention_heads": 8, "num_key_value_heads": 2, "num_hidden_layers": )" +
         std::to_string(layers) + (more.empty() ? "" : ", " + more) + "}";
}

TEST_CASE("an absent window is the class default, a null one is none") {
  const huggingface_model absent = read(small("mistral"));
  CHECK(stores_of(absent.architecture) == std::map<std::string, int>{{"sliding(4096)", 4}});
  CHECK(has_note(absent, "sliding_window is absent: assumed to be 4096"));

  const huggingface_model null = read(small("mistral", R"("sliding_window": null)"));
  CHECK(stores_of(null.architecture) == std::map<std::string, int>{{"full", 4}});
  CHECK_FALSE(has_note(null, "sliding_window"));

  CHECK(stores_of(read(small("gemma2")).architecture) ==
        std::map<std::string, int>{{"full", 2}, {"sliding(4096)", 2}});
  CHECK(pattern_of(read(small("gemma2", "", 5)).architecture) == "w.w.w");
  CHECK(pattern_of(read(small("gemma2", R"("sliding_window": null)")).architecture) == "....");

  // phi3 and starcoder2 have no default, and window every layer when they have a window.
  CHECK(pattern_of(read(small("phi3")).architecture) == "....");
  CHECK(pattern_of(read(small("phi3", R"("sliding_window": 16)")).architecture) == "wwww");
  CHECK(pattern_of(read(small("starcoder2")).architecture) == "....");
  CHECK(pattern_of(read(small("starcoder2", R"("sliding_window": 16)")).architecture) == "wwww");
}

TEST_CASE("use_sliding_window decides, and the first max_window_layers layers keep everything") {
  const std::string window = R"("sliding_window": 32, "max_window_layers": 3)";
  for (const char* family : {"qwen2", "qwen3"}) {
    INFO(family);
    CHECK(pattern_of(read(small(family, window)).architecture) == "....");
    CHECK(pattern_of(read(small(family, window + R"(, "use_sliding_window": false)")).architecture) ==
          "....");
    CHECK(pattern_of(read(small(family, window + R"(, "use_sliding_window": true)")).architecture) == "...w");
    const huggingface_model assumed =
        read(small(family, R"("sliding_window": 32, "use_sliding_window": true)", 30));
    CHECK(pattern_of(assumed.architecture) == std::string(28, '.') + "ww");
    CHECK(has_note(assumed, "max_window_layers is absent: assumed to be 28"));
    // layer_types cannot switch on a window that is off.
    CHECK(pattern_of(read(small(family, R"("sliding_window": 32, "use_sliding_window": false,
      "layer_types": ["sliding_attention", "full_attention", "full_attention", "full_attention"])"))
                         .architecture) == "....");
  }
}

TEST_CASE("patterns: every n-th layer is global, letters repeat, layer_types beat both") {
  const huggingface_model six = read(small("gemma3_text", R"("sliding_window": 8)", 13));
  CHECK(pattern_of(six.architecture) == "wwwww.wwwww.w");
  CHECK(has_note(six, "sliding_window_pattern is absent: assumed to be 6"));
  const std::string three = R"("sliding_window": 8, "_sliding_window_pattern": 3)";
  CHECK(pattern_of(read(small("gemma3_text", three, 7)).architecture) == "ww.ww.w");
  CHECK(pattern_of(read(small("gemma3_text", R"("sliding_window": 8, "sliding_window_pattern": 1)", 7))
                       .architecture) == ".......");

  // Exaone-4: letters, an int, none; the last layer of a text pattern is global.
  const auto exaone = [](const std::string& keys, int layers) {
    return pattern_of(read(small("exaone4", keys, layers)).architecture);
  };
  CHECK(exaone(R"("sliding_window": 8, "sliding_window_pattern": "LLG")", 6) == "ww.ww.");
  CHECK(exaone(R"("sliding_window": 8, "sliding_window_pattern": "LLG")", 5) == "ww.w.");
  CHECK(exaone(R"("sliding_window": 8, "sliding_window_pattern": 2)", 5) == "w.w.w");
  CHECK(exaone(R"("sliding_window": 8)", 8) == "www.www.");
  CHECK(exaone(R"("sliding_window": 8, "sliding_window_pattern": null)", 5) == ".....");
  CHECK(exaone(R"("sliding_window": null, "sliding_window_pattern": "LLG")", 5) == ".....");

  const std::string types = R"("layer_types": ["full_attention", "sliding_attention", "full_attention",
    "sliding_attention"], "sliding_window_pattern": 2)";
  for (const char* family : {"gemma3_text", "exaone4", "gemma2", "llama", "mistral"}) {
    INFO(family);
    CHECK(pattern_of(read(small(family, R"("sliding_window": 8, )" + types)).architecture) == ".w.w");
  }
  const huggingface_model longer =
      read(small("gemma3_text", R"("sliding_window": 8, "layer_types": ["sliding_attention", "full_attention",
        "sliding_attention", "full_attention", "full_attention", "draft"])"));
  CHECK(pattern_of(longer.architecture) == "w.w.");
  CHECK(has_note(longer, "layer_types has 6 entries"));

  CHECK(contains(refusal(small("gemma3_text", R"("layer_types": ["full_attention"])")),
                 "test.json: layer_types: has 1 entries, expected one for each of the 4 layers"));
  CHECK(contains(
      refusal(small("llama", R"("layer_types": ["full_attention", "linear_attention", "", ""])")),
      "test.json: layer_types[1]: layer type \"linear_attention\" is unknown, expected full_attention or "
      "sliding_attention"));
  CHECK(contains(refusal(small("llama", types)),
                 "layer_types[1]: layer type \"sliding_attention\" needs key "
                 "\"sliding_window\", which is missing"));
  CHECK(contains(refusal(small("exaone4", R"("sliding_window_pattern": "LLX")")),
                 "sliding_window_pattern: must be made of the letters L and G, not \"LLX\""));
  CHECK(contains(refusal(small("exaone4", R"("sliding_window_pattern": "")")), "letters L and G"));
  CHECK(
      contains(refusal(small("gemma3_text", R"("sliding_window_pattern": 0)")), "must be at least 1, not 0"));
  CHECK(contains(refusal(small("mistral", R"("sliding_window": 0)")),
                 "test.json: sliding_window: must be at least 1, not 0"));
  CHECK(contains(refusal(small("llama", R"("layer_types": 3)")),
                 "layer_types: must be an array, not a number"));
}

TEST_CASE("head counts and head dim follow the config class") {
  const auto kind = [](const std::string& config) { return read(config).architecture.kinds[0]; };
  // head_dim beats hidden / heads.
  CHECK(kind(small("llama", R"("head_dim": 128)")).query_dim == 128);
  CHECK(kind(small("llama")).query_dim == 8);
  CHECK(kind(small("llama", R"("head_dim": null)")).query_dim == 8);
  CHECK(kind(small("qwen3")).query_dim == 128);
  CHECK(kind(small("qwen3", R"("head_dim": null)")).query_dim == 8);
  for (const char* family : {"gemma", "gemma2", "gemma3_text"}) CHECK(kind(small(family)).query_dim == 256);
  CHECK(
      has_note(read(small("gemma")), "head_dim is absent: assumed to be 256, the default of gemma configs"));

  const auto without_kv = [](const std::string& family, const std::string& more = "") {
    return read(R"({"model_type": ")" + family + R"(", "hidden_size": 64, "intermediate_size": 128,
      "vocab_size": 100, "num_attention_heads": 64, "num_hidden_layers": 1)" +
                more + "}");
  };
  CHECK(without_kv("llama").architecture.kinds[0].key_value_heads == 64);
  CHECK(has_note(without_kv("llama"),
                 "num_key_value_heads is absent: assumed to be 64 (as many as query heads)"));
  CHECK(without_kv("phi3").architecture.kinds[0].key_value_heads == 64);
  CHECK(without_kv("mistral").architecture.kinds[0].key_value_heads == 8);
  CHECK(without_kv("mistral", R"(, "num_key_value_heads": null)").architecture.kinds[0].key_value_heads ==
        64);
  CHECK(without_kv("gemma2").architecture.kinds[0].key_value_heads == 4);
  CHECK(has_note(without_kv("gemma2"), "num_key_value_heads is absent: assumed to be 4"));
  CHECK(contains(refusal(R"({"model_type": "qwen2", "hidden_size": 896, "intermediate_size": 128,
    "vocab_size": 100, "num_attention_heads": 14, "num_hidden_layers": 1})"),
                 "num_attention_heads 14 is not a multiple of num_key_value_heads 32, the class default"));
  CHECK(without_kv("gpt_neox", R"(, "num_key_value_heads": 2)").architecture.kinds[0].key_value_heads == 64);
}

TEST_CASE("ties, dtypes and quantization are read, assumed with a note, or refused") {
  const auto tied = [](const std::string& config) { return read(config).architecture.tie_word_embeddings; };
  CHECK_FALSE(tied(small("llama")));
  CHECK(tied(small("llama", R"("tie_word_embeddings": true)")));
  CHECK(tied(small("gemma2")));
  CHECK_FALSE(tied(small("gemma2", R"("tie_word_embeddings": false)")));
  CHECK(tied(small("starcoder2")));
  CHECK(has_note(read(small("llama")), "tie_word_embeddings is absent: assumed to be false"));

  const auto dtype = [](const std::string& keys) { return read(small("llama", keys)).architecture.dtype; };
  CHECK(dtype(R"("torch_dtype": "bfloat16")") == formats::bf16);
  CHECK(dtype(R"("dtype": "float16")") == formats::fp16);
  CHECK(dtype(R"("torch_dtype": "torch.float32")") == formats::fp32);
  CHECK(dtype(R"("torch_dtype": "auto")").is_automatic());
  CHECK(dtype(R"("torch_dtype": null)").is_automatic());
  CHECK(read(small("llama")).architecture.dtype.is_automatic());
  CHECK(has_note(read(small("llama")), "torch_dtype is absent"));
  CHECK(contains(refusal(small("llama", R"("torch_dtype": "int7")")),
                 "test.json: torch_dtype: dtype \"int7\" is unknown, expected bfloat16"));
  CHECK(contains(refusal(small("llama", R"("torch_dtype": 16)")), "torch_dtype: must be text, not a number"));
}

TEST_CASE("Gemma 3: text and vision") {
  const std::string text = R"("text_config": {"hidden_size": 5376, "intermediate_size": 21504,
    "num_hidden_layers": 62, "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128,
    "sliding_window": 1024})";
  const std::string vision = R"("vision_config": {"hidden_size": 1152, "image_size": 896,
    "intermediate_size": 4304, "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14,
    "vision_use_head": false})";
  const auto config = [](const std::string& keys) { return R"({"model_type": "gemma3", )" + keys + "}"; };

  const huggingface_model both = read(config(text + ", " + vision));
  CHECK(parameter_count(both.architecture).value == 27'432'406'640);
  CHECK(parameter_count(both.architecture, module_role::vision).value == 416'866'032 + 1152 * 5376 + 1152);
  CHECK(std::string(both.architecture.model_type) == "gemma3");
  CHECK(both.architecture.vocab_size == 262'208);
  CHECK(has_note(both, "vocab_size is absent: assumed to be 262208, the default of gemma3_text configs"));
  CHECK(stores_of(both.architecture) == std::map<std::string, int>{{"full", 10}, {"sliding(1024)", 52}});

  const huggingface_model only_text = read(config(text));
  CHECK(parameter_count(only_text.architecture).value == 27'009'346'304);
  CHECK(has_note(only_text, "vision_config is absent"));

  // The tower splits like the text model, norms and output biases stay whole.
  const deployment d{.model = both.architecture, .parallel = {.tensor = 2}, .dtype = formats::bf16};
  const std::uint64_t vision_bytes =
      weights_of(d, share_of(d, rank{})).modules[static_cast<std::size_t>(module_role::vision)];
  CHECK(vision_bytes > parameter_count(both.architecture, module_role::vision).value);
  CHECK(vision_bytes < parameter_count(both.architecture, module_role::vision).value * 105 / 100);

  CHECK(contains(refusal(R"({"model_type": "gemma3"})"), "test.json: key \"hidden_size\" is missing"));
  CHECK(contains(refusal(R"({"model_type": "gemma3", "text_config": 1})"), "text_config: must be an object"));
  CHECK(contains(refusal(R"({"model_type": "gemma3", "text_config": {"model_type": "lama"}})"),
                 "text_config.model_type: \"lama\" is not supported (did you mean llama"));
  CHECK(contains(refusal(config(text + R"(, "vision_config": {"vision_use_head": false})")),
                 "vision_config: key \"hidden_size\" is missing"));
  CHECK(contains(refusal(small("gemma3_text", R"("use_bidirectional_attention": true)")),
                 "use_bidirectional_attention: encoders keep no cache"));
}

TEST_CASE("family switches change the count by what they add") {
  const auto count = [](const std::string& family, const std::string& keys = "") {
    return parameter_count(read(small(family, keys)).architecture).value;
  };
  const std::uint64_t layers = 4;
  const std::uint64_t hidden = 64;
  const std::uint64_t qkv = 64 + 2 * 16;
  CHECK(count("llama", R"("attention_bias": true)") == count("llama") + layers * (qkv + hidden));
  CHECK(count("llama", R"("mlp_bias": true)") == count("llama") + layers * (2 * 128 + hidden));
  CHECK(count("qwen2", R"("attention_bias": true)") == count("qwen2"));  // its bias is not an option
  CHECK(count("qwen2") == count("llama") + layers * qkv);
  CHECK(count("internlm2") == count("llama") + layers * (qkv + hidden));
  CHECK(count("internlm2", R"("bias": false)") == count("llama"));
  CHECK(count("olmo2") == count("llama") + layers * (64 + 16));
  CHECK(count("exaone4") == count("llama") + layers * 2 * 8);
  CHECK(count("stablelm") == count("llama") + (2 * layers + 1) * hidden);
  CHECK(count("stablelm", R"("use_qkv_bias": true)") == count("stablelm") + layers * qkv);
  CHECK(count("stablelm", R"("qk_layernorm": true)") == count("stablelm") + layers * (64 + 16));
  CHECK(count("stablelm", R"("use_parallel_residual": true)") == count("stablelm") - layers * 2 * hidden);
  CHECK(count("starcoder2", R"("use_bias": false)") ==
        count("starcoder2") - layers * (qkv + hidden + 128 + hidden));
  CHECK(count("gpt_neox", R"("attention_bias": false)") == count("gpt_neox") - layers * 4 * hidden);
  CHECK(count("llama", R"("attention_bias": null)") == count("llama"));

  const auto falcon =
      [](const std::string& keys) {
        return parameter_count(read(R"({"model_type": "falcon", "n_embed": 64, "n_layer": 4, "n_head": 8,
      "vocab_size": 100, )" + keys + "}")
                                   .architecture)
            .value;
      };
  const std::uint64_t one_norm = falcon(R"("multi_query": true)");
  CHECK(falcon(R"("multi_query": true, "num_kv_heads": 4)") == one_norm);
  CHECK(falcon(R"("multi_query": true, "parallel_attn": false)") == one_norm + layers * 2 * hidden);
  const std::uint64_t grouped = falcon(R"("new_decoder_architecture": true, "n_head_kv": 1)");
  CHECK(grouped == one_norm + layers * 2 * hidden);
  CHECK(falcon(R"("new_decoder_architecture": true, "num_kv_heads": 1, "num_ln_in_parallel_attn": 1)") ==
        one_norm);
  CHECK(falcon(R"("multi_query": true, "ffn_hidden_size": 128)") == one_norm - layers * 2 * 128 * hidden);

  const auto opt = [](const std::string& keys) {
    return parameter_count(read(R"({"model_type": "opt", "hidden_size": 64, "ffn_dim": 256, "vocab_size": 100,
      "num_hidden_layers": 4, "num_attention_heads": 8, "max_position_embeddings": 30)" +
                                keys + "}")
                               .architecture)
        .value;
  };
  CHECK(opt(R"(, "do_layer_norm_before": false)") == opt("") - 2 * hidden);
  CHECK(opt(R"(, "_remove_final_layer_norm": true)") == opt("") - 2 * hidden);
  CHECK(opt(R"(, "layer_norm_elementwise_affine": false)") == opt("") - (2 * layers + 1) * 2 * hidden);
  CHECK(opt(R"(, "enable_bias": false)") == opt("") - layers * (4 * hidden + 256 + hidden));
  CHECK(opt(R"(, "max_position_embeddings_": 1)") == opt(""));
}

TEST_CASE("a model type that is not supported is read like a relative only where asked to") {
  const std::string text = R"({"model_type": "transformerino", "hidden_size": 64, "intermediate_size": 256,
    "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 1000,
    "max_position_embeddings": 4096, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})";
  const huggingface_model like = read_huggingface_config_text(text, "test.json", {.assume_like = "llama"});
  CHECK(like.architecture.parameters_assumed);
  CHECK(has_note(like, "\"transformerino\" is not supported: read like llama because asked to"));
  REQUIRE(like.doubts.size() == 1);
  CHECK(contains(like.doubts[0], "read like llama"));
  std::string supported = text;
  supported.replace(supported.find("transformerino"), 14, "llama");
  const huggingface_model llama =
      read_huggingface_config_text(supported, "test.json", {.assume_like = "gpt2"});
  CHECK_FALSE(llama.architecture.parameters_assumed);
  CHECK(llama.doubts.empty());
  CHECK(parameter_count(like.architecture).value == parameter_count(llama.architecture).value);
  CHECK(contains(
      message_of([&] { (void)read_huggingface_config_text(text, "test.json", {.assume_like = "lama"}); }),
      "assume_like: \"lama\" is not supported (did you mean llama"));
}

// ---- bad input --------------------------------------------------------------------------------------------

TEST_CASE("what cannot be read is refused in one line that names file and key") {
  const std::string unknown = refusal(R"({"model_type": "transformerino"})");
  CHECK(contains(unknown,
                 "test.json: model_type: \"transformerino\" is not supported: describe the model by hand"));
  CHECK(contains(unknown, "docs/model-schema.md"));
  CHECK(contains(refusal(R"({"model_type": "lama"})"), "\"lama\" is not supported (did you mean llama"));
  CHECK(contains(refusal("{}"), "test.json: key \"model_type\" is missing"));
  CHECK(contains(refusal(R"({"model_type": null})"), "test.json: model_type: must be text, not null"));
  CHECK(contains(refusal("[]"), "test.json: must be an object, not an array"));
  CHECK(contains(refusal("null"), "must be an object"));
  CHECK(contains(refusal(R"({"model_type": "llama")"), "test.json: is not valid JSON"));
  CHECK(contains(refusal(""), "test.json"));
  CHECK(contains(refusal(std::string(100'000, '[')), "nests deeper than 64 levels"));
  CHECK(contains(refusal(R"({"model_type": "llama", "model_type": "llama"})"), "occurs twice"));

  for (const char* key :
       {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"}) {
    INFO(key);
    nlohmann::json config = nlohmann::json::parse(small("llama"));
    const auto message = [&] {
      return message_of([&] { (void)read_huggingface_config(config, "test.json"); });
    };
    const std::string name = key;
    config.erase(name);
    CHECK(contains(message(), "test.json: key \"" + name + "\" is missing"));
    config[name] = nullptr;
    CHECK(contains(message(), "test.json: key \"" + name + "\" is null"));
    config[name] = 0;
    CHECK(contains(message(), "test.json: " + name + ": must be at least 1, not 0"));
    config[name] = -1;
    CHECK(contains(message(), "test.json: " + name + ": must not be negative"));
    config[name] = 64.5;
    CHECK(contains(message(), "test.json: " + name + ": must be a whole number, not a fractional one"));
    config[name] = "64";
    CHECK(contains(message(), "test.json: " + name + ": must be a whole number, not text"));
    config[name] = true;
    CHECK(contains(message(), "test.json: " + name + ": must be a whole number, not true or false"));
    config[name] = nlohmann::json::array();
    CHECK(contains(message(), "test.json: " + name + ": must be a whole number, not an array"));
    config[name] = std::uint64_t{1} << 32;
    CHECK(contains(message(), "test.json: " + name + ": must be below 2^32, not 4294967296"));
    config[name] = UINT64_MAX;
    CHECK(contains(message(), "test.json: " + name + ": must be below 2^63"));
    config[name] = 1e300;
    CHECK(contains(message(), "test.json: " + name + ": must be a whole number below 2^63"));
    config[name] = "Infinity";
    CHECK(contains(message(), "test.json: " + name + ": must be a whole number"));
  }
  CHECK(contains(refusal(small("llama", "", 513)),
                 "test.json: num_hidden_layers: must be at most 512, not 513"));
  CHECK(contains(refusal(small("llama", R"("tie_word_embeddings": 1)")),
                 "tie_word_embeddings: must be true or false, not a number"));
  CHECK(contains(refusal(small("llama", R"("head_dim": 1e400)")), "is not valid JSON"));

  // Python's literals are only in the way of who needs the value.
  CHECK(
      contains(refusal(small("llama", R"("head_dim": NaN)")), "head_dim: must be a whole number, not text"));
  CHECK(read(small("llama", R"("rope_theta": Infinity, "x": [-Infinity, NaN, "NaN \" Infinity"])"))
            .architecture == read(small("llama")).architecture);

  CHECK(contains(refusal(small("llama", R"("head_dim": 4294967295)")),
                 "test.json: num_attention_heads 8 x head_dim 4294967295 must be below 2^32"));
  const auto heads = [](const std::string& keys) {
    return refusal(R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "vocab_size": 100,
      "num_hidden_layers": 1, )" +
                   keys + "}");
  };
  CHECK(contains(
      heads(R"("num_attention_heads": 7)"),
      "test.json: hidden_size 64 is not a multiple of num_attention_heads 7, and there is no head_dim"));
  CHECK(contains(heads(R"("num_attention_heads": 8, "num_key_value_heads": 3)"),
                 "test.json: num_attention_heads 8 is not a multiple of num_key_value_heads 3"));
  CHECK(contains(refusal(R"({"model_type": "gpt2", "n_layer": 1, "n_head": 1, "vocab_size": 1})"),
                 "key \"n_embd\" is missing (also read from \"hidden_size\"): gpt2 needs it"));
  CHECK(contains(refusal(R"({"model_type": "gpt2", "n_embd": 4294967295, "n_layer": 1, "n_head": 1,
                          "vocab_size": 1})"),
                 "n_embd must be below 2^32 / 4"));
  CHECK(contains(heads(R"("num_attention_heads": 1, "max_position_embeddings": 0)"),
                 "max_position_embeddings: must be at least 1, not 0"));
  // More parameters than can be counted.
  CHECK(
      contains(refusal(R"({"model_type": "llama", "hidden_size": 4294967295, "intermediate_size": 4294967295,
                          "vocab_size": 4294967295, "num_hidden_layers": 512, "num_attention_heads": 1})"),
               " overflows 64 bits"));
}

TEST_CASE("files: missing, empty, a directory, too large") {
  const scratch directory;
  const auto message = [](const std::filesystem::path& path) {
    return message_of([&] { (void)load_huggingface_config(path); });
  };
  const std::string config = small("llama");
  const std::filesystem::path good = directory.write("config.json", config);
  CHECK(load_huggingface_config(good) == read(config).architecture);
  CHECK(parse_huggingface_config(nlohmann::json::parse(config), "x") == read(config).architecture);
  CHECK(parse_huggingface_config_text(config, "x") == read(config).architecture);

  CHECK(contains(message(directory.path()), "is a directory"));
  CHECK(contains(message(directory.path() / "none.json"), "none.json"));
  CHECK(contains(message(directory.write("empty.json", "")), "empty.json: is empty"));
  CHECK(contains(message(directory.write("large.json", config + std::string(17 << 20, ' '))),
                 "large.json: is larger than the 16777216 bytes"));
  CHECK(contains(message(directory.write("binary.json", std::string("\0\xff\xfe", 3))), "is not valid JSON"));
  CHECK(
      contains(message(directory.write("bom.json", "\xef\xbb\xbf{\"model_type\": \"x\"}")), "not supported"));
}

// ---- mutations --------------------------------------------------------------------------------------------

TEST_CASE("mutated configs give a model or an error, nothing else") {
  tests::numbers random(20'240'701);
  tests::damaged_configs damaged;
  for (const published_model& published : published_models) {
    INFO(published.name);
    const std::string text = published.config;
    const nlohmann::json tree = nlohmann::json::parse(text);
    for (int i = 0; i < 120; ++i) damaged.attempt(tests::mutated_bytes(text, random));
    for (int i = 0; i < 150; ++i) damaged.attempt(tests::mutated_values(tree, random).dump());
  }
  CHECK(damaged.models > 500);
  CHECK(damaged.refused > 2000);
}

// ---- reference material beside the source -----------------------------------------------------------------

TEST_CASE("reference configs agree with their published counts and an independent geometry") {
#ifndef KVBUDGET_SHARED_DIR
  WARN("skipped: no reference material beside the source");
#else
  const std::filesystem::path models = std::filesystem::path(KVBUDGET_SHARED_DIR) / "models";
  std::ifstream counts(models / "params.jsonl");
  std::ifstream geometry(models / "expected-geometry.jsonl");
  if (!counts || !geometry) {
    WARN("skipped: no reference material beside the source");
    return;
  }
  std::map<std::string, nlohmann::json> published;
  for (std::string line; std::getline(counts, line);) {
    const nlohmann::json entry = nlohmann::json::parse(line);
    published[entry.at("model").get<std::string>()] = entry;
  }
  int compared = 0;
  int geometries = 0;
  for (std::string line; std::getline(geometry, line);) {
    const nlohmann::json expected = nlohmann::json::parse(line);
    const std::string stem = expected.at("config").get<std::string>();
    INFO(stem);
    const json_document document = load_json(models / "configs" / (stem + ".json"), huggingface_limits);
    const std::string model_type = document.root.at("model_type").get<std::string>();
    if (detail::find_family(model_type) == nullptr) continue;
    if (model_type == "zamba2" && expected.contains("unsupported")) {
      CHECK_THROWS_AS(parse_huggingface_config(document.root, stem), input_error);
      continue;
    }
    const model_architecture model = parse_huggingface_config(document.root, stem);
    ++compared;

    std::string name = stem;
    name.replace(name.find("--"), 2, "/");
    const nlohmann::json& count = published.at(name);
    const std::uint64_t beside_text = parameter_count(model, module_role::vision).value +
                                      parameter_count(model, module_role::audio).value +
                                      parameter_count(model, module_role::draft).value;
    // The recomputed total of GLM-5.2 has an indexer on each layer; the published one, 753,329,940,480 with
    // its draft layer, has none on shared layers.
    const bool recomputed =
        count.contains("computed_text_total") && !contains(stem, "GLM-5.2") && model_type != "kimi_k3";
    if (recomputed) {
      CHECK(parameter_count(model).value - beside_text ==
            count.at("computed_text_total").get<std::uint64_t>());
    }
    const std::string verdict = count.at("verification").get<std::string>();
    if (verdict == "exact" && count.contains("published_total")) {
      CHECK(parameter_count(model).value == count.at("published_total").get<std::uint64_t>());
    }
    if (model_type == "gemma3" && count.contains("published_total")) {
      CHECK(parameter_count(model).value == count.at("published_total").get<std::uint64_t>());
    }

    if (expected.contains("unsupported")) continue;
    ++geometries;
    CHECK(stores_of(model) == expected.at("stores").get<std::map<std::string, int>>());
    CHECK(elements(model, 1, 1) == expected.at("elements_1x1").get<std::uint64_t>());
    CHECK(elements(model, 5000, 3) == expected.at("elements_5000x3").get<std::uint64_t>());
    CHECK(elements(model, 131072, 1) == expected.at("elements_131072x1").get<std::uint64_t>());
    const kv_cache_bytes cache = cache_of(model, 131072, 1);
    CHECK(cache.indexer / 2 == expected.at("indexer_elements_131072x1").get<std::uint64_t>());
    CHECK(state_elements(model) == expected.at("state_elements_per_sequence").get<std::uint64_t>());
    if (cache.indexer != 0) continue;  // the slopes below are without index keys
    CHECK(slope(model, 1) == expected.at("near_bytes_per_token_bf16").get<std::uint64_t>());
    CHECK(slope(model, beyond_every_window) == expected.at("far_bytes_per_token_bf16").get<std::uint64_t>());
  }
  CHECK(compared >= 163);
  CHECK(geometries >= 163);
#endif
}

}  // namespace
