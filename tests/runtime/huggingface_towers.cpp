// Gemma 3n and 4, vision and audio towers, and the tokens that an image takes.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface.hpp"
#include "kvbudget/memory/kv_cache.hpp"
#include "kvbudget/memory/weights.hpp"
#include "kvbudget/plan/estimate.hpp"
#include "support/catch.hpp"
#include "support/input.hpp"
#include "support/mutations.hpp"

namespace {

using namespace kvbudget;
using tests::contains;
using tests::message_of;

huggingface_model read(const std::string& config) {
  return read_huggingface_config_text(config, "test.json");
}
std::string refusal(const std::string& config) {
  return message_of([&] { (void)read(config); });
}
bool has_note(const huggingface_model& model, const std::string& part) {
  for (const std::string& note : model.notes) {
    if (contains(note, part)) return true;
  }
  return false;
}

/// Cached elements of self attention.
std::uint64_t elements(const model_architecture& model, std::uint64_t context, std::uint64_t sequences) {
  const deployment d{.model = model,
                     .kv_cache = formats::bf16,
                     .workload = {.sequences = sequences, .context = tokens{context}}};
  return kv_cache_of(d, share_of(d, rank{})).payload / 2;
}

/// What the layers keep, by kind.
std::map<std::string, int> stores_of(const model_architecture& model) {
  std::map<std::string, int> counts;
  for (std::uint32_t layer = 0; layer < model.num_hidden_layers; ++layer) {
    const layer_kind& kind = model.kinds[model.order[layer]];
    REQUIRE(kind.store_count == 1);
    switch (kind.stores[0].kind) {
      case store_kind::full: ++counts["full"]; break;
      case store_kind::sliding_window: ++counts["sliding"]; break;
      case store_kind::cross_attention: ++counts["cross"]; break;
      case store_kind::shared: ++counts["shared"]; break;
      default: ++counts["other"];
    }
  }
  return counts;
}

// ---- published models -------------------------------------------------------------------------------------

struct published_model {
  const char* name;
  std::uint64_t parameters;  ///< element count of the published checkpoint, without what it stores twice
  std::uint64_t towers;      ///< of these, in the towers and their projectors
  image_tokens image;
  std::string config;
};

const std::string clip_336 = R"("vision_config": {"model_type": "clip_vision_model", "hidden_size": 1024,
  "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16, "image_size": 336,
  "patch_size": 14})";

std::string siglip(const std::string& layers, const std::string& image) {
  return R"("vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152,
    "intermediate_size": 4304, "num_attention_heads": 16, "patch_size": 14, "vision_use_head": false,
    "num_hidden_layers": )" +
         layers + R"(, "image_size": )" + image + "}";
}

/// A text model of `hidden`, `intermediate`, `layers`, `heads`, `KV heads`, `vocabulary`.
std::string text(const std::string& type, const std::vector<std::uint64_t>& sizes,
                 const std::string& further = "") {
  const char* keys[] = {"hidden_size",         "intermediate_size",   "num_hidden_layers",
                        "num_attention_heads", "num_key_value_heads", "vocab_size"};
  std::string config = R"({"model_type": ")" + type + '"';
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    config += std::string(", \"") + keys[i] + "\": " + std::to_string(sizes[i]);
  }
  return config + further + "}";
}

const std::string intern_vit_300m = R"("vision_config": {"hidden_size": 1024, "intermediate_size": 4096,
  "num_hidden_layers": 24, "num_attention_heads": 16, "image_size": 448, "patch_size": 14, "qkv_bias": true,
  "qk_normalization": false, "norm_type": "layer_norm"})";
const std::string intern_vit_300m_hf = R"("vision_config": {"model_type": "internvl_vision",
  "attention_bias": true, "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24,
  "num_attention_heads": 16, "image_size": [448, 448], "patch_size": [14, 14], "norm_type": "layer_norm"})";

std::string qwen3_vision(std::uint64_t hidden, std::uint64_t depth, std::uint64_t intermediate,
                         std::uint64_t out) {
  return R"("vision_config": {"deepstack_visual_indexes": [5, 11, 17], "num_heads": 16, "hidden_size": )" +
         std::to_string(hidden) + R"(, "depth": )" + std::to_string(depth) + R"(, "intermediate_size": )" +
         std::to_string(intermediate) + R"(, "out_hidden_size": )" + std::to_string(out) + "}";
}

/// `layer_types` of `layers` layers, every `period`-th full.
std::string types(std::uint32_t layers, std::uint32_t period) {
  std::string list;
  for (std::uint32_t i = 1; i <= layers; ++i) {
    list += i == 1 ? "" : ", ";
    list += i % period == 0 ? "\"full_attention\"" : "\"sliding_attention\"";
  }
  return R"(, "layer_types": [)" + list + "]";
}

const std::string tied = R"(, "tie_word_embeddings": true)";
const std::string untied = R"(, "tie_word_embeddings": false)";

std::string mllama_vision(const std::string& image) {
  return R"("vision_config": {"attention_heads": 16, "hidden_size": 1280, "image_size": )" + image + R"(,
  "intermediate_size": 5120, "max_num_tiles": 4, "num_global_layers": 8,
  "num_hidden_layers": 32, "patch_size": 14, "vision_output_dim": 7680, "supported_aspect_ratios":
  [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], [4, 1]]})";
}

const std::string gemma4_small_vision = R"("vision_config": {"hidden_size": 768, "intermediate_size": 3072,
  "num_hidden_layers": 16, "num_attention_heads": 12, "num_key_value_heads": 12, "head_dim": 64,
  "use_clipped_linears": true}, "audio_config": {"hidden_size": 1024, "num_hidden_layers": 12,
  "num_attention_heads": 8, "conv_kernel_size": 5, "subsampling_conv_channels": [128, 32],
  "output_proj_dims": 1536}, "vision_soft_tokens_per_image": 280)";

// Sizes: the models' own config.json files; counts: their safetensors element counts.
std::vector<published_model> published_models() {
  return {
      // 5,123,178,051 and 7,996,156,490 published.
      {"gemma-4-E2B-it",
       5'123'178'051,
       475'728'160,
       {280, 280},
       R"({"model_type": "gemma4", "text_config": )" +
           text("gemma4_text", {1536, 6144, 35, 8, 1, 262144},
                R"(, "sliding_window": 512, "num_kv_shared_layers": 20, "use_double_wide_mlp": true,
                "hidden_size_per_layer_input": 256)" +
                    types(35, 5)) +
           ", " + gemma4_small_vision + "}"},
      {"gemma-4-E4B-it",
       7'996'156'490,
       478'087'456,
       {280, 280},
       R"({"model_type": "gemma4", "text_config": )" +
           text(
               "gemma4_text", {2560, 10240, 42, 8, 2, 262144},
               R"(, "sliding_window": 512, "num_kv_shared_layers": 18, "hidden_size_per_layer_input": 256)") +
           ", " + gemma4_small_vision + "}"},
      // Published with the head stored twice and without the scalars of the 60 layers.
      {"gemma-4-31B",
       32'682'372'656 - 262144ULL * 5376 + 60,
       569'548'080 + 1152 * 5376,
       {280, 280},
       R"({"model_type": "gemma4", "text_config": )" +
           text("gemma4_text", {5376, 21504, 60, 32, 16, 262144},
                R"(, "sliding_window": 1024, "attention_k_eq_v": true, "num_global_key_value_heads": 4,
                "hidden_size_per_layer_input": 0)") +
           R"(, "vision_config": {"hidden_size": 1152, "intermediate_size": 4304, "num_hidden_layers": 27,
             "num_attention_heads": 16, "num_key_value_heads": 16, "head_dim": 72, "standardize": true,
             "default_output_length": 280}})"},
      {"gemma-3n-E2B-it",
       5'439'438'272,
       983'281'504,
       {256, 256},
       R"({"model_type": "gemma3n", "text_config": )" +
           text("gemma3n_text", {2048, 8192, 30, 8, 2, 262400}, R"(, "num_kv_shared_layers": 10)") + "}"},
      {"gemma-3n-E4B-it", 7'849'978'192, 983'281'504, {256, 256}, R"({"model_type": "gemma3n",
        "text_config": {"model_type": "gemma3n_text"}, "vision_config": {"architecture":
        "mobilenetv5_300m_enc"}, "audio_config": {"hidden_size": 1536}})"},
      {"paligemma-3b-mix-224",
       2'923'466'480,
       414'803'696,
       {256, 256},
       R"({"model_type": "paligemma", "text_config": )" + text("gemma", {2048, 16384, 18, 8, 1, 257216}) +
           ", " + siglip("27", "224") + "}"},
      {"paligemma2-3b-mix-224",
       3'032'242'416,
       415'098'864,
       {256, 256},
       R"({"model_type": "paligemma", "text_config": )" + text("gemma2", {2304, 9216, 26, 8, 4, 257216}) +
           ", " + siglip("27", "224") + "}"},
      // LlamaConfig's defaults, but the vocabulary.
      {"llava-1.5-7b-hf",
       7'063'427'072,
       324'487'168,
       {576, 576},
       R"({"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064},
         "vision_feature_select_strategy": "default", )" +
           clip_336 + "}"},
      {"llava-1.5-13b-hf",
       13'351'494'656,
       334'974'976,
       {576, 576},
       R"({"model_type": "llava", "text_config": )" + text("llama", {5120, 13824, 40, 40, 40, 32064}) + ", " +
           clip_336 + "}"},
      {"llava-v1.6-34b-hf",
       34'752'083'968,
       362'249'216,
       {576, 2928},
       R"({"model_type": "llava_next", "image_grid_pinpoints": [[336, 672], [672, 336], [672, 672],
         [1008, 336], [336, 1008]], "text_config": )" +
           text("llama", {7168, 20480, 60, 56, 8, 64064}) + ", " + clip_336 + "}"},
      {"llava-onevision-qwen2-0.5b-ov-hf",
       893'675'552,
       399'585'440,
       {729, 7371},
       R"({"model_type": "llava_onevision", "vision_aspect_ratio": "anyres_max_9",
         "image_grid_pinpoints": [[384, 384], [768, 1536], [2304, 2304]], "text_config": )" +
           text("qwen2", {896, 4864, 24, 14, 2, 152000}, tied) + ", " + siglip("26", "384") + "}"},
      {"SmolVLM-256M-Instruct",
       256'484'928,
       93'510'912,
       {64, 0},
       R"({"model_type": "idefics3", "scale_factor": 4, "tie_word_embeddings": false, "text_config": )" +
           text("llama", {576, 1536, 30, 9, 3, 49280}) +
           R"(, "vision_config": {"model_type": "idefics3", "hidden_size": 768, "num_attention_heads": 12,
             "image_size": 512, "patch_size": 16}})"},
      {"InternVL2_5-1B",
       938'193'024,
       308'495'104,
       {256, 3328},
       R"({"model_type": "internvl_chat", "downsample_ratio": 0.5, "force_image_size": 448,
         "max_dynamic_patch": 12, "use_thumbnail": true, "llm_config": )" +
           text("qwen2", {896, 4864, 24, 14, 2, 151674}, untied) + ", " + intern_vit_300m + "}"},
      {"InternVL2-2B",
       2'205'754'368,
       316'607'488,
       {256, 0},
       R"({"model_type": "internvl_chat", "downsample_ratio": 0.5, "llm_config": )" +
           text("internlm2", {2048, 8192, 24, 16, 8, 92553}, R"(, "bias": false)") + ", " + intern_vit_300m +
           "}"},
      {"InternVL3-38B",
       38'388'164'992,
       5'628'282'240,
       {256, 0},
       R"({"model_type": "internvl_chat", "llm_config": )" + text("qwen2", {5120, 27648, 64, 40, 8, 151674}) +
           R"(, "vision_config": {"hidden_size": 3200, "intermediate_size": 12800, "num_hidden_layers": 45,
             "num_attention_heads": 25, "image_size": 448, "patch_size": 14, "qkv_bias": false,
             "qk_normalization": true, "norm_type": "rms_norm"}})"},
      {"InternVL3-14B-hf",
       15'117'256'704,
       351'216'640,
       {256, 0},
       R"({"model_type": "internvl", "text_config": )" + text("qwen2", {5120, 13824, 48, 40, 8, 151674}) +
           ", " + intern_vit_300m_hf + "}"},
      {"InternVL3_5-8B-HF",
       8'528'318'464,
       337'583'104,
       {256, 0},
       R"({"model_type": "internvl", "text_config": )" +
           text("qwen3", {4096, 12288, 36, 32, 8, 151936}, R"(, "head_dim": 128)") + ", " +
           intern_vit_300m_hf + "}"},
      {"Qwen2-VL-7B",
       8'291'375'616,
       675'759'104,
       {0, 0},
       R"({"model_type": "qwen2_vl", "hidden_size": 3584, "intermediate_size": 18944,
         "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064,
         "tie_word_embeddings": false, "use_sliding_window": false, "sliding_window": 32768,
         "vision_config": {"depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "num_heads": 16, "in_chans": 3,
           "hidden_size": 3584, "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2}})"},
      {"Qwen2.5-VL-7B-Instruct",
       8'292'166'656,
       676'550'144,
       {0, 0},
       R"({"model_type": "qwen2_5_vl", "hidden_size": 3584, "intermediate_size": 18944,
         "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 152064,
         "tie_word_embeddings": false, "vision_config": {"depth": 32, "hidden_size": 1280, "num_heads": 16,
           "intermediate_size": 3420, "out_hidden_size": 3584, "in_chans": 3}})"},
      {"Qwen2.5-VL-72B-Instruct",
       73'410'777'344,
       704'573'696,
       {4, 16384},
       R"({"model_type": "qwen2_5_vl", "text_config": {"model_type": "qwen2_5_vl_text"}, "vision_config":
         {"intermediate_size": 3456, "out_hidden_size": 8192, "min_pixels": 3136, "max_pixels": 12845056}})"},
      {"Qwen3-VL-8B-Instruct",
       8'767'123'696,
       576'388'336,
       {0, 0},
       R"({"model_type": "qwen3_vl", "tie_word_embeddings": false, "text_config": )" +
           text("qwen3_vl_text", {4096, 12288, 36, 32, 8, 151936}) + ", " +
           qwen3_vision(1152, 27, 4304, 4096) + "}"},
      {"Qwen3-VL-4B-Instruct",
       4'437'815'808,
       415'347'712,
       {0, 0},
       R"({"model_type": "qwen3_vl", "tie_word_embeddings": true, "text_config": )" +
           text("qwen3_vl_text", {2560, 9728, 36, 32, 8, 151936}) + ", " +
           qwen3_vision(1024, 24, 4096, 2560) + "}"},
      {"Qwen3-VL-30B-A3B-Instruct",
       31'070'754'032,
       538'631'408,
       {0, 0},
       R"({"model_type": "qwen3_vl_moe", "tie_word_embeddings": false, "text_config": )" +
           text("qwen3_vl_moe_text", {2048, 6144, 48, 32, 4, 151936},
                R"(, "head_dim": 128, "num_experts": 128, "num_experts_per_tok": 8,
                "moe_intermediate_size": 768, "mlp_only_layers": [])") +
           ", " + qwen3_vision(1152, 27, 4304, 2048) + "}"},
      {"Mistral-Small-3.1-24B",
       24'011'361'280,
       438'958'080,
       {2, 3080},
       R"({"model_type": "mistral3", "spatial_merge_size": 2, "multimodal_projector_bias": false,
         "text_config": )" +
           text("mistral", {5120, 32768, 40, 32, 8, 131072}, R"(, "head_dim": 128, "sliding_window": null)") +
           R"(, "vision_config": {"model_type": "pixtral", "hidden_size": 1024, "intermediate_size": 4096,
             "num_hidden_layers": 24, "num_attention_heads": 16, "head_dim": 64, "image_size": 1540,
             "patch_size": 14}})"},
      {"GLM-4.1V-9B-Thinking",
       10'292'777'472,
       892'498'432,
       {0, 0},
       R"({"model_type": "glm4v", "text_config": )" + text("glm4v_text", {4096, 13696, 40, 32, 2, 151552}) +
           R"(, "vision_config": {"hidden_size": 1536, "depth": 24, "num_heads": 12,
             "intermediate_size": 13696, "image_size": 336, "patch_size": 14, "out_hidden_size": 4096}})"},
      {"dots.ocr",
       3'039'179'264,
       1'262'091'264,
       {0, 0},
       R"({"model_type": "dots_ocr", "hidden_size": 1536, "intermediate_size": 8960, "num_hidden_layers": 28,
         "num_attention_heads": 12, "num_key_value_heads": 2, "vocab_size": 151936,
         "tie_word_embeddings": false, "vision_config": {"embed_dim": 1536, "hidden_size": 1536,
           "intermediate_size": 4224, "num_hidden_layers": 42, "num_attention_heads": 12, "patch_size": 14,
           "post_norm": true, "spatial_merge_size": 2, "temporal_patch_size": 1, "use_bias": false}})"},
      {"llava-med-v1.5-mistral-7b",
       7'566'219'264,
       324'487'168,
       {0, 0},
       R"({"model_type": "llava_mistral", "hidden_size": 4096, "intermediate_size": 14336,
         "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000,
         "sliding_window": null, "mm_projector_type": "mlp2x_gelu",
         "mm_vision_tower": "openai/clip-vit-large-patch14-336"})"},
      {"MiniCPM-V-2_6",
       8'099'175'152,
       486'411'504,
       {64, 0},
       R"({"model_type": "minicpmv", "version": 2.6, "hidden_size": 3584, "intermediate_size": 18944,
         "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4, "vocab_size": 151666,
         "query_num": 64, "drop_vision_last_layer": false, "vision_config": {"hidden_size": 1152,
           "intermediate_size": 4304, "num_hidden_layers": 27, "num_attention_heads": 16, "image_size": 980,
           "patch_size": 14}})"},
      {"MiniCPM-V-4_5",
       8'695'895'280,
       506'700'016,
       {64, 0},
       R"({"model_type": "minicpmv", "version": 4.5, "hidden_size": 4096, "intermediate_size": 12288,
         "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
         "vocab_size": 151748, "vision_config": {}})"},
      {"MiniCPM-V-4",
       4'059'533'040,
       453'698'800,
       {64, 0},
       R"({"model_type": "minicpmv", "version": "4.0", "hidden_size": 2560, "intermediate_size": 10240,
         "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128,
         "vocab_size": 73448, "vision_config": {}})"},
      {"Qwen2-Audio-7B-Instruct",
       8'397'094'912,
       642'215'936,
       {0, 0},
       R"({"model_type": "qwen2_audio", "text_config": {"model_type": "qwen2", "intermediate_size": 11008,
         "vocab_size": 156032}, "audio_config": {"model_type": "qwen2_audio_encoder", "d_model": 1280,
         "encoder_attention_heads": 20, "encoder_ffn_dim": 5120, "encoder_layers": 32,
         "num_mel_bins": 128}})"},
      {"Llama-3.2-11B-Vision",
       10'642'941'475,
       867'749'395,
       {1025, 4100},
       R"({"model_type": "mllama", "text_config": {"model_type": "mllama_text_model"}, )" +
           mllama_vision("448") + "}"},
      {"Llama-3.2-90B-Vision",
       88'593'355'323,
       926'490'131,
       {1601, 6404},
       R"({"model_type": "mllama", "text_config": )" +
           text("mllama_text_model", {8192, 28672, 100, 64, 8, 128256},
                R"(, "cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38, 43, 48, 53, 58, 63, 68, 73, 78,
                83, 88, 93, 98])") +
           ", " + mllama_vision("560") + "}"},
  };
}

TEST_CASE("towers and the text models before them have the published counts") {
  for (const published_model& published : published_models()) {
    INFO(published.name);
    const huggingface_model found = read(published.config);
    const model_architecture& model = found.architecture;
    CHECK(parameter_count(model).value == published.parameters);
    CHECK(parameter_count(model, module_role::vision).value +
              parameter_count(model, module_role::audio).value ==
          published.towers);
    CHECK(found.image.least == published.image.least);
    CHECK(found.image.most == published.image.most);
    CHECK(model.parameters_assumed == contains(published.name, "gemma-3n"));
    if (model.kinds[0].num_attention_heads % 2 != 0) continue;
    for (const parallel_layout& layout : {parallel_layout{.tensor = 2}, parallel_layout{.pipeline = 2}}) {
      deployment split{.model = model,
                       .kv_cache = formats::bf16,
                       .workload = {.sequences = 1, .context = tokens{4096}},
                       .parallel = layout,
                       .dtype = formats::bf16};
      CHECK(estimate(split).total().value > parameter_count(model).value * 7 / 10);
    }
    deployment d{.model = model, .kv_cache = formats::bf16, .dtype = formats::bf16};
    d.parallel.tensor = 2;
    const weight_bytes half = weights_of(d, share_of(d, rank{}));
    std::uint64_t sum = 0;
    for (const std::uint64_t bytes_of_module : half.modules) sum += bytes_of_module;
    CHECK(sum >= parameter_count(model).value);
    CHECK(sum < parameter_count(model).value * 13 / 10);
  }
}

/// The elements of a tower into a text model of `hidden`, for wrappers whose text model is described
/// elsewhere.
template <class Towers>
std::uint64_t tower_of(Towers add_towers, const std::string& config, std::uint32_t hidden,
                       std::vector<std::string>* said = nullptr) {
  const json_document document = parse_json(config, "test.json", huggingface_limits);
  detail::config_remarks remarks;
  const detail::config_view root(json_field(document), "wrapper", remarks);
  huggingface_model found;
  const detail::model_family family;
  detail::model_builder builder(found.architecture, family, {});
  detail::decoder_shape shape;
  shape.hidden_size = hidden;
  add_towers(root, shape, builder);
  if (said != nullptr) *said = remarks.notes;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < found.architecture.weight_count; ++i) {
    CHECK(found.architecture.weights[i].role == module_role::vision);
    sum += found.architecture.weights[i].elements();
  }
  return sum;
}

TEST_CASE("towers before other text models") {
  // Kimi-VL-A3B: 16,407,657,776 published, 15,960,111,936 of them in the text model.
  CHECK(tower_of(detail::add_kimi_vl_towers, R"({"vision_config": {"model_type": "moonvit",
    "hidden_size": 1152, "intermediate_size": 4304, "num_attention_heads": 16, "num_hidden_layers": 27,
    "init_pos_emb_height": 64, "init_pos_emb_width": 64, "merge_kernel_size": [2, 2], "patch_size": 14}})",
                 2048) == 447'545'840);
  const std::string kimi = R"({"vision_config": {"vt_hidden_size": 1152, "vt_intermediate_size": 4304,
    "vt_num_attention_heads": 16, "vt_num_hidden_layers": 27, "mm_projector_type": ")";
  CHECK(tower_of(detail::add_kimi_k25_towers, kimi + "patchmerger\"}}", 7168) == 471'143'920);
  CHECK(tower_of(detail::add_kimi_k25_towers, R"({"vision_config": {"mm_projector_type": "patchmergerv2",
    "qkv_hidden_size": 1536, "vt_hidden_size": 1024, "vt_intermediate_size": 4096,
    "vt_num_attention_heads": 12, "vt_num_hidden_layers": 27}})",
                 7168) == 3ULL * 14 * 14 * 1024 + 64ULL * 64 * 1024 +
                              27ULL * (4 * 1024 * 1536 + 2 * 1024 * 4096 + 2 * 1024) + 1024 + 4096ULL * 4096 +
                              4096ULL * 7168 + 7168);
  std::vector<std::string> notes;
  CHECK(tower_of(detail::add_kimi_k25_towers, kimi + "other\"}}", 7168, &notes) == 0);
  REQUIRE(notes.size() == 1);
  CHECK(contains(notes[0], "vision tower with projector \"other\": its weights are not counted"));
  // Scout and Maverick: what the published counts have over the text model.
  CHECK(tower_of(detail::add_llama4_towers, R"({"vision_config": {"hidden_size": 1408, "image_size": 336,
    "intermediate_size": 5632, "num_attention_heads": 16, "num_hidden_layers": 34, "patch_size": 14,
    "projector_input_dim": 4096, "projector_output_dim": 4096, "vision_output_dim": 4096}})",
                 5120) == 871'932'416);
  // LFM2-VL-1.6B: 1,584,804,000 published, 1,170,340,608 of them in the text model.
  CHECK(tower_of(detail::add_lfm2_vl_towers, R"({"vision_config": {"hidden_size": 1152,
    "intermediate_size": 4304, "num_attention_heads": 16, "num_hidden_layers": 26, "num_patches": 256,
    "patch_size": 16}, "downsample_factor": 2, "projector_hidden_size": 2560})",
                 2048) == 414'463'392);
  // GLM-4.5V: 107,710,933,120 published, 106,852,251,264 of them in the text model.
  CHECK(tower_of(detail::add_glm4v_towers, R"({"vision_config": {"hidden_size": 1536, "depth": 24,
    "num_heads": 12, "intermediate_size": 10944, "image_size": 336, "patch_size": 14,
    "out_hidden_size": 4096}})",
                 4096) == 858'681'856);
  // Intern-S1: 240,709,856,128 published; the text model is Qwen3-235B-A22B with 153,216 tokens.
  CHECK(tower_of(detail::add_internvl_towers, R"({"vision_config": {"hidden_size": 3200,
    "intermediate_size": 12800, "num_attention_heads": 25, "num_hidden_layers": 45, "use_qk_norm": true,
    "norm_type": "rms_norm", "image_size": [448, 448], "patch_size": [14, 14]}})",
                 4096) == 240'709'856'128 - 235'093'634'560 - 2ULL * 1280 * 4096);
  CHECK(tower_of(detail::add_minimax_m3_towers, R"({"projector_hidden_size": 6144, "vision_config":
    {"hidden_size": 1280, "intermediate_size": 5120, "num_attention_heads": 16, "num_hidden_layers": 32,
     "patch_size": 14, "img_token_compression_config": {"spatial_merge_size": 2, "temporal_patch_size": 2}}})",
                 6144) == 2ULL * 3 * 14 * 14 * 1280 + 2 * 1280 +
                              32ULL * (4 * (1280 * 1280 + 1280) + 2 * 1280 * 5120 + 5120 + 1280 + 4 * 1280) +
                              1280ULL * 6144 + 6144 + 6144ULL * 6144 + 6144 + 24576ULL * 6144 + 6144 +
                              6144ULL * 6144 + 6144);
  for (const std::uint64_t merger : {446'571'248ULL, 456'010'480ULL, 460'730'096ULL}) {
    // Qwen3.5 into 2048, 4096 and 5120, without further mergers.
    const std::uint64_t out = (merger - 446'571'248) / 4609 + 2048;
    CHECK(tower_of(detail::add_qwen3_vision_tower,
                   R"({"vision_config": {"deepstack_visual_indexes": [], "depth": 27, "hidden_size": 1152,
                     "num_heads": 16, "out_hidden_size": )" +
                       std::to_string(out) + "}}",
                   0) == merger);
  }
}

TEST_CASE("Voxtral: Whisper's encoder, four positions a token") {
  const std::string llama = text("llama", {64, 128, 4, 8, 2, 100});
  const huggingface_model found = read(R"({"model_type": "voxtral", "text_config": )" + llama +
                                       R"(, "audio_config": {"hidden_size": 1280, "intermediate_size": 5120,
                                         "num_hidden_layers": 32, "num_attention_heads": 20}})");
  // The encoder of Whisper large-v3 has 636,968,960 parameters.
  CHECK(parameter_count(found.architecture, module_role::audio).value == 636'968'960 + 5120 * 64 + 64 * 64);
  CHECK(has_note(found, "tokens of 30 seconds of sound: 375"));
  CHECK(found.image.most == 0);
}

TEST_CASE("towers that other configs only name") {
  const auto llava = [](const std::string& keys) {
    return read(text("llava_llama", {64, 128, 4, 8, 2, 100}, keys));
  };
  const std::uint64_t alone = parameter_count(llava("").architecture).value;
  CHECK(has_note(llava(""), "mm_vision_tower is absent"));
  const std::string clip = R"(, "mm_vision_tower": "openai/clip-vit-large-patch14-336")";
  CHECK(parameter_count(llava(clip).architecture).value == alone + 303'507'456 + 1024 * 64 + 64);
  CHECK(parameter_count(llava(clip + R"(, "mm_projector_type": "mlp2x_gelu", "mm_patch_merge_type":
    "spatial_unpad")")
                            .architecture)
            .value == alone + 303'507'456 + 1024 * 64 + 64 + 64 * 64 + 64 + 64);
  const huggingface_model other = llava(R"(, "mm_vision_tower": "somewhere/else")");
  CHECK(parameter_count(other.architecture).value == alone);
  CHECK(other.architecture.parameters_assumed);
  CHECK(has_note(other, "vision tower \"somewhere/else\" with projector \"linear\""));
  // The same under the name of transformers' LLaVA.
  CHECK(parameter_count(read(text("llava", {64, 128, 4, 8, 2, 100}, clip)).architecture).value ==
        alone + 303'507'456 + 1024 * 64 + 64);
  CHECK(contains(refusal(text("minicpmv", {64, 128, 4, 8, 2, 100})), "key \"version\" is missing"));
  CHECK(contains(refusal(text("minicpmv", {64, 128, 4, 8, 2, 100}, R"(, "version": 9)")),
                 "version: must be 2.5, 2.6, 4.0 or 4.5"));
  CHECK(contains(refusal(text("minicpmv", {64, 128, 4, 8, 2, 100}, R"(, "version": "x")")),
                 "version: must be"));
}

TEST_CASE("Gemma 4 without encoders: 11.95 billion parameters") {
  const huggingface_model found =
      read(R"({"model_type": "gemma4_unified", "text_config": )" +
           text("gemma4_unified_text", {3840, 15360, 48, 16, 8, 262144},
                R"(, "attention_k_eq_v": true, "num_global_key_value_heads": 1)") +
           R"(, "vision_config": {}, "audio_config": {}})");
  CHECK(parameter_count(found.architecture, module_role::vision).value ==
        6912ULL * 3840 + 3840 + 2 * 6912 + 4 * 3840 + 2 * 1120 * 3840 + 3840ULL * 3840);
  CHECK(parameter_count(found.architecture, module_role::audio).value == 640 * 3840);
  CHECK(parameter_count(found.architecture).value / 10'000'000 == 1195);
  CHECK(stores_of(found.architecture) == std::map<std::string, int>{{"sliding", 40}, {"full", 8}});
}

// ---- Gemma 3n and 4 ---------------------------------------------------------------------------------------

std::string gemma4_text(const std::string& keys) {
  return text("gemma4_text", {64, 128, 6, 8, 4, 100},
              R"(, "head_dim": 8, "sliding_window": 512, "hidden_size_per_layer_input": 0)" + keys);
}

TEST_CASE("Gemma 4: full layers have their own heads, and the last layers read earlier caches") {
  const auto count = [](const std::string& keys) {
    return parameter_count(read(gemma4_text(keys)).architecture).value;
  };
  const std::string heads = R"(, "global_head_dim": 16, "num_global_key_value_heads": 2)";
  const model_architecture separate = read(gemma4_text(heads)).architecture;
  CHECK(stores_of(separate) == std::map<std::string, int>{{"sliding", 5}, {"full", 1}});
  // Without attention_k_eq_v the full layers have as many KV heads as the others.
  CHECK(elements(separate, 1, 1) == 5 * 2 * 4 * 8 + 2 * 4 * 16);
  const std::string equal = heads + R"(, "attention_k_eq_v": true)";
  const model_architecture one = read(gemma4_text(equal)).architecture;
  CHECK(elements(one, 1, 1) == 5 * 2 * 4 * 8 + 2 * 2 * 16);  // both are cached all the same
  CHECK(parameter_count(separate).value - parameter_count(one).value == (2 * 4 - 2) * 16 * 64);
  CHECK(elements(read(gemma4_text(R"(, "global_head_dim": 0)")).architecture, 1, 1) == 6 * 2 * 4 * 8);
  CHECK(elements(read(gemma4_text("")).architecture, 1, 1) == 5 * 2 * 4 * 8 + 2 * 4 * 512);

  const std::string three = R"(, "layer_types": ["sliding_attention", "full_attention", "sliding_attention",
    "full_attention", "sliding_attention", "full_attention"])";
  const model_architecture shared = read(gemma4_text(three + R"(, "num_kv_shared_layers": 3)")).architecture;
  CHECK(stores_of(shared) == std::map<std::string, int>{{"sliding", 2}, {"full", 1}, {"shared", 3}});
  // The last layer is full whatever the list says.
  const std::string all_sliding = R"(, "layer_types": ["sliding_attention", "sliding_attention",
    "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention"])";
  CHECK(stores_of(read(gemma4_text(all_sliding)).architecture) ==
        std::map<std::string, int>{{"sliding", 5}, {"full", 1}});
  CHECK(contains(refusal(gemma4_text(all_sliding + R"(, "num_kv_shared_layers": 1)")),
                 "layer 5 shares a cache, but no layer of its type keeps one"));
  CHECK(contains(refusal(gemma4_text(R"(, "num_kv_shared_layers": 6)")),
                 "num_kv_shared_layers 6 must be below the 6 layers"));

  // Layers that share are twice as wide; so are their parameters.
  CHECK(count(three + R"(, "num_kv_shared_layers": 3, "use_double_wide_mlp": true)") ==
        count(three) + 3 * 3 * 64 * 128);
  CHECK(count(R"(, "use_double_wide_mlp": true)") == count(""));

  // Experts stand beside the MLP of each layer.
  const std::string experts = R"(, "enable_moe_block": true, "num_experts": 16, "top_k_experts": 2,
    "moe_intermediate_size": 32)";
  const model_architecture mixed = read(gemma4_text(experts)).architecture;
  CHECK(parameter_count(mixed).value == count("") + 6 * (16 * 3 * 64 * 32 + 16 * 64 + 64 + 16 + 3 * 64));
  CHECK(parameter_count(mixed, module_role::expert).value == 6 * 16 * 3 * 64 * 32);
  CHECK(active_parameter_count(mixed).value == parameter_count(mixed).value - 6 * 14 * 3 * 64 * 32);
  CHECK(count(R"(, "enable_moe_block": false, "num_experts": 16)") == count(""));
  CHECK(contains(refusal(gemma4_text(R"(, "enable_moe_block": true, "num_experts": 16)")),
                 "key \"top_k_experts\" is missing"));

  CHECK(
      contains(refusal(gemma4_text(R"(, "use_bidirectional_attention": "all")")), "encoders keep no cache"));
  CHECK(read(gemma4_text(R"(, "use_bidirectional_attention": "vision")")).architecture ==
        read(gemma4_text("")).architecture);
  CHECK(contains(refusal(text("gemma4_text", {64, 128, 6, 8, 4, 100}, R"(, "sliding_window": null)")),
                 "sliding_window must be a number"));
  CHECK(contains(refusal(gemma4_text(R"(, "global_head_dim": 4294967295)")), "must be below 2^32"));
}

TEST_CASE("Gemma 3n: one MLP width, or one for each layer") {
  const auto gemma3n = [](const std::string& width, const std::string& keys = "") {
    return R"({"model_type": "gemma3n_text", "hidden_size": 64, "num_hidden_layers": 5, "head_dim": 8,
      "num_kv_shared_layers": 0, "vocab_size": 100, "intermediate_size": )" +
           width + keys + "}";
  };
  const std::uint64_t same = parameter_count(read(gemma3n("128")).architecture).value;
  CHECK(parameter_count(read(gemma3n("[128, 128, 128, 128, 128]")).architecture).value == same);
  CHECK(parameter_count(read(gemma3n("[128, 128, 128, 128, 129]")).architecture).value == same + 3 * 64);
  CHECK(contains(refusal(gemma3n("[128]")),
                 "intermediate_size: has 1 entries, expected one for each of the 5"));
  CHECK(contains(refusal(gemma3n("[128, 128, 0, 128, 128]")), "intermediate_size[2]: must be at least 1"));
  CHECK(contains(refusal(gemma3n("\"x\"")), "intermediate_size: must be a whole number"));
  CHECK(contains(refusal(gemma3n("128", R"(, "altup_num_inputs": 4000000000)")), "altup_num_inputs"));
  CHECK(parameter_count(read(gemma3n("128", R"(, "altup_num_inputs": 1)")).architecture).value ==
        same - 6 * 64 * 64 - 5 * (16 + 64 - 2 + 3 * 64));
  // The fifth layer is full; with fifteen shared layers by default five are too few.
  CHECK(stores_of(read(gemma3n("128")).architecture) ==
        std::map<std::string, int>{{"sliding", 4}, {"full", 1}});
  CHECK(contains(refusal(R"({"model_type": "gemma3n_text", "hidden_size": 64, "num_hidden_layers": 5})"),
                 "num_kv_shared_layers 15 must be below the 5 layers"));
}

TEST_CASE("modules are asked for by the names that checkpoints have") {
  const std::string config = gemma4_text(R"(, "enable_moe_block": true, "num_experts": 4, "top_k_experts": 2,
    "moe_intermediate_size": 32)");
  const json_document document = parse_json(config, "test.json", huggingface_limits);
  detail::config_remarks remarks;
  const detail::config_view view(json_field(document), "gemma4_text", remarks);
  const detail::model_family family =
      detail::as_nested(*detail::find_family("gemma4_text"), *detail::find_family("gemma4"));
  std::map<std::string, int> asked;
  model_architecture model;
  detail::model_builder builder(model, family,
                                {[&](std::string_view module, tensor_kind) -> std::optional<weight_scheme> {
                                  ++asked[std::string(module)];
                                  return std::nullopt;
                                }});
  detail::build_decoder(builder, view, family, detail::shape_of(view, family));
  for (const char* module : {"self_attn.q_proj", "self_attn.v_proj", "mlp.gate_proj", "mlp.down_proj",
                             "router.proj", "experts.0.gate_proj", "experts.0.down_proj"}) {
    INFO(module);
    CHECK(asked["model.language_model.layers.5." + std::string(module)] == 1);
  }
}

// ---- wrappers ---------------------------------------------------------------------------------------------

TEST_CASE("a text model is read where its tower is unknown or absent") {
  const std::string llama = text("llama", {64, 128, 4, 8, 2, 100});
  const auto with = [&](const std::string& tower) {
    return read(R"({"model_type": "llava", "text_config": )" + llama + tower + "}");
  };
  const huggingface_model unknown = with(R"(, "vision_config": {"model_type": "eye_of_newt"})");
  CHECK(unknown.architecture.parameters_assumed);
  CHECK(has_note(unknown, "vision tower \"eye_of_newt\" is not known: its weights are not counted"));
  CHECK(parameter_count(unknown.architecture).value == parameter_count(read(llama).architecture).value);
  CHECK(unknown.image.most == 0);
  for (const char* tower : {"", R"(, "vision_config": null)"}) {
    const huggingface_model none = with(tower);
    CHECK_FALSE(none.architecture.parameters_assumed);
    CHECK(has_note(none, "vision_config is "));
    CHECK(none.image.most == 0);
  }
  CHECK(contains(refusal(R"({"model_type": "llava", "text_config": )" + llama + R"(, "vision_config": 3})"),
                 "vision_config: must be an object"));
}

TEST_CASE("ministral3 is the name of a text model and of what wraps it") {
  const std::string alone = text("ministral3", {64, 128, 4, 8, 2, 100}, R"(, "head_dim": 8)");
  const huggingface_model plain = read(alone);
  CHECK_FALSE(has_note(plain, "vision_config"));
  const std::string vision = R"("vision_config": {"model_type": "pixtral", "hidden_size": 16,
    "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "head_dim": 8,
    "image_size": 56, "patch_size": 14})";
  for (const char* wrapper : {"ministral3", "mistral3"}) {
    const huggingface_model both = read(std::string(R"({"model_type": ")") + wrapper +
                                        R"(", "text_config": )" + alone + ", " + vision + "}");
    CHECK(parameter_count(both.architecture, module_role::vision).value ==
          3 * 14 * 14 * 16 + 16 + 2 * (4 * 16 * 16 + 3 * 16 * 32 + 2 * 16) + 16 + 4 * 16 * 16 + 16 * 64 +
              64 * 64);
    CHECK(parameter_count(both.architecture).value -
              parameter_count(both.architecture, module_role::vision).value ==
          parameter_count(plain.architecture).value);
    CHECK(both.image.most == 2 * 3);
  }
}

TEST_CASE("Llama 3.2 Vision: cross-attention layers keep nothing without an image") {
  const auto mllama = [](const std::string& keys) {
    return text("mllama_text_model", {64, 128, 6, 8, 2, 100}, keys);
  };
  const huggingface_model found = read(mllama(R"(, "cross_attention_layers": [1, 4])"));
  CHECK(stores_of(found.architecture) == std::map<std::string, int>{{"full", 4}, {"cross", 2}});
  CHECK(elements(found.architecture, 1, 1) == 4 * 2 * 2 * 8);
  CHECK(has_note(found, "each token of an image adds 64 elements"));
  const model_architecture none = read(mllama(R"(, "cross_attention_layers": [])")).architecture;
  CHECK(parameter_count(found.architecture).value == parameter_count(none).value + 2 * (2 * 8 + 2));
  CHECK(stores_of(read(mllama("")).architecture)["cross"] == 1);  // by default the fourth, the ninth, …
  CHECK(contains(refusal(text("mllama_text_model", {64, 128, 1, 8, 2, 100},
                              R"(, "head_dim": 4294967295, "cross_attention_layers": [0])")),
                 "must be below 2^32"));
  CHECK(contains(refusal(mllama(R"(, "cross_attention_layers": [6])")), "must be below the 6 layers, not 6"));
  CHECK(contains(refusal(mllama(R"(, "cross_attention_layers": [1, 1])")), "[1]: occurs twice"));
  CHECK(contains(refusal(mllama(R"(, "cross_attention_layers": [-1])")), "must not be negative"));
  CHECK(contains(refusal(mllama(R"(, "cross_attention_layers": 3)")), "must be an array"));
}

TEST_CASE("SigLIP with and without a pooling head") {
  const auto vision = [](const std::string& head) {
    return parameter_count(
               read(R"({"model_type": "gemma3", "text_config": )" +
                    text("gemma3_text", {64, 128, 6, 8, 4, 100}) +
                    R"(, "vision_config": {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1,
               "num_attention_heads": 4, "image_size": 32, "patch_size": 16)" +
                    head + "}}")
                   .architecture,
               module_role::vision)
        .value;
  };
  const std::uint64_t with = 4 * (32 * 32 + 32) + 2 * 32 * 48 + 48 + 32 + 3 * 32;
  CHECK(vision("") == vision(R"(, "vision_use_head": false)") + with);
}

TEST_CASE("towers of bad sizes are refused in one line") {
  const auto llava = [](const std::string& vision) {
    return refusal(R"({"model_type": "llava", "text_config": )" + text("llama", {64, 128, 4, 8, 2, 100}) +
                   R"(, "vision_config": {"model_type": "clip_vision_model", )" + vision + "}}");
  };
  const std::string sizes = R"("hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2)";
  CHECK(contains(llava(R"("hidden_size": 64)"), "vision_config: key \"intermediate_size\" is missing"));
  CHECK(contains(llava(sizes + R"(, "num_attention_heads": 3)"),
                 "vision_config: hidden_size 64 is not a multiple of 3 heads"));
  CHECK(contains(llava(sizes + R"(, "num_attention_heads": 8, "image_size": 16)"),
                 "vision_config: patch_size 32 does not fit image_size 16"));
  CHECK(contains(llava(sizes + R"(, "num_attention_heads": 8, "image_size": [224, 448])"), "is not square"));
  CHECK(contains(llava(sizes + R"(, "num_attention_heads": 8, "image_size": 4294967295, "patch_size": 1)"),
                 "must be below 2^32"));
  CHECK(contains(llava(R"("hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 513,
                       "num_attention_heads": 8)"),
                 "vision_config.num_hidden_layers: must be at most 512, not 513"));
}

TEST_CASE("mutated configs with towers give a model or an error, nothing else") {
  tests::numbers random(20'250'107);
  int models = 0;
  int refused = 0;
  const auto attempt = [&](const std::string& config) {
    try {
      const huggingface_model found = read_huggingface_config_text(config, "mutated");
      REQUIRE(found.architecture.num_hidden_layers > 0);
      ++models;
    } catch (const error& reason) {
      REQUIRE(std::string(reason.what()).find('\n') == std::string::npos);
      REQUIRE(contains(reason.what(), "mutated"));
      ++refused;
    }
  };
  for (const published_model& published : published_models()) {
    INFO(published.name);
    const nlohmann::json tree = nlohmann::json::parse(published.config);
    for (int i = 0; i < 60; ++i) attempt(tests::mutated_bytes(published.config, random));
    for (int i = 0; i < 150; ++i) attempt(tests::mutated_values(tree, random).dump());
  }
  CHECK(models > 500);
  CHECK(refused > 1000);
}

}  // namespace
