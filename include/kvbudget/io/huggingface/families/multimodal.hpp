#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/family.hpp"
#include "kvbudget/io/huggingface/vision/built_in.hpp"
#include "kvbudget/io/huggingface/vision/llama.hpp"
#include "kvbudget/io/huggingface/vision/moonvit.hpp"
#include "kvbudget/io/huggingface/vision/qwen_vl.hpp"
#include "kvbudget/io/huggingface/vision/resamplers.hpp"
#include "kvbudget/io/huggingface/vision/whisper.hpp"
#include "kvbudget/io/huggingface/vision/wrappers.hpp"

/// Text models behind a vision or audio encoder. Class defaults: huggingface/transformers
/// models/<model_type>/configuration_<model_type>.py.
namespace kvbudget::inline v0::detail {

/// Llama 3.2 Vision: the layers of `cross_attention_layers` attend to an image instead of to the text. A
/// text-only request has no such tokens, so they keep nothing unless images come; each image adds
/// `image_tokens` tokens. The embedding has 8 rows more than the head. Source: huggingface/transformers
/// models/mllama/modeling_mllama.py, MllamaCrossAttentionDecoderLayer.
inline void adjust_mllama(const config_view&, decoder_shape& shape) { shape.further_embedding_rows = 8; }

inline constexpr std::uint32_t mllama_cross_layer = 1;  // variant of a layer

inline void plan_mllama(const config_view& config, const decoder_shape& shape,
                        std::vector<layer_plan>& layers) {
  check_attention(config, model_family{}, shape.layer.attention);
  const auto cross = [&](std::uint64_t layer) {
    layer_plan& plan = layers[layer];
    plan.attention = attention_shape{};
    plan.variant = mllama_cross_layer;
  };
  if (const auto listed = config.find({{"cross_attention_layers"}})) {
    for (std::size_t i = 0; i < listed->size(); ++i) {
      const json_field entry = listed->at(i);
      const std::uint64_t layer = entry.integer();
      if (layer >= layers.size()) {
        entry.refuse("must be below the " + std::to_string(layers.size()) + " layers, not " +
                     std::to_string(layer));
      }
      if (layers[layer].variant == mllama_cross_layer) entry.refuse("occurs twice");
      cross(layer);
    }
  } else {
    config.note_default("cross_attention_layers", "3, 8, … 38");
    for (std::uint64_t layer = 3; layer < 40 && layer < layers.size(); layer += 5) cross(layer);
  }
  std::uint64_t kept = 0;
  for (const layer_plan& plan : layers) kept += plan.variant == mllama_cross_layer ? 1u : 0u;
  const attention_shape& usual = shape.layer.attention;
  kept = checked_product(kept, 2, std::uint64_t{usual.kv_heads} * usual.key_dim);
  config.note("cross_attention_layers: counted without images; each token of an image adds " +
              std::to_string(kept) + " elements to the cache");
}

/// Matrices as in self attention, norms of queries and keys, and two gates.
inline void finish_mllama_layer(const decoder_shape& shape, const layer_plan& plan, layer_draft& layer) {
  using namespace weight_groups;
  if (plan.variant != mllama_cross_layer) return;
  constexpr module_role role = module_role::attention;
  const attention_shape& usual = shape.layer.attention;
  const std::uint32_t width = usual.heads * usual.key_dim;
  layer.add(stores::cross_attention(usual.kv_heads, usual.key_dim, 0));
  layer.num_attention_heads = usual.heads;
  layer.query_dim = usual.key_dim;
  layer.value_dim = usual.key_dim;
  layer.key_value_heads = usual.kv_heads;
  put(layer, by_rows(role, width, shape.hidden_size, usual.heads), "cross_attn.q_proj");
  put(layer, kv_projection(usual.kv_heads, usual.key_dim, shape.hidden_size),
      "cross_attn.k_proj|cross_attn.v_proj");
  put(layer, by_columns(role, shape.hidden_size, width, usual.heads), "cross_attn.o_proj");
  put(layer, vectors(module_role::norm, usual.key_dim, 2), nullptr);
  put(layer, vectors(role, 1, 2), nullptr);
}

inline void add_qwen2_5_omni_towers(const config_view& root, const decoder_shape& text,
                                    model_builder& builder) {
  add_qwen2_5_vision_tower(root, text, builder);
  add_qwen2_5_omni_audio(root, builder);
}
inline void add_qwen3_omni_towers(const config_view& root, const decoder_shape& text,
                                  model_builder& builder) {
  add_qwen3_vision_tower(root, text, builder);
  add_qwen3_omni_audio(root, builder);
}

/// The cache is that of the text model; what a tower weighs is not known.
inline void note_unknown_towers(const config_view& root, const decoder_shape&, model_builder& builder) {
  note_uncounted_tower(root, builder, std::string("towers of ") + root.model_type());
}
inline void add_minicpmo_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  add_minicpmv_towers(root, text, builder);
  note_uncounted_tower(root, builder, "the encoder and decoder of sound");
}

/// Chameleon: norms of queries and keys have a weight and a bias per head.
/// Source: huggingface/transformers models/chameleon/modeling_chameleon.py, ChameleonAttention.
inline void finish_chameleon(const decoder_shape&, const layer_plan& plan, layer_draft& layer) {
  using namespace weight_groups;
  const attention_shape& attention = plan.attention;
  const auto biases = [&](std::uint32_t heads, shard_rule rule) {
    put(layer, split_bias(module_role::norm, std::uint64_t{heads} * attention.key_dim, heads, rule), nullptr);
  };
  biases(attention.heads, shard_rule::tensor);
  biases(attention.kv_heads, shard_rule::kv_heads);
}

/// Molmo: `intermediate_size` is that of gate and up projection together; `additional_vocab_size` rows of the
/// embedding belong to images. Source: allenai/Molmo-7B-D-0924 modeling_molmo.py.
inline void adjust_molmo(const config_view& config, decoder_shape& shape) {
  std::uint32_t& inner = shape.layer.mlp.intermediate_size;
  if (inner % 2 != 0) config.field().at("intermediate_size").refuse("must be even: two projections share it");
  inner /= 2;
  shape.further_embedding_rows = config.size_or({{"additional_vocab_size"}}, 128);
}

inline constexpr model_family multimodal_families[] = {
    {.model_type = "qwen2_vl",
     .text_model_type = "qwen2_vl_text",
     .add_towers = add_qwen2_vision_tower,
     .tokens_of_image = qwen2_image_tokens},
    {.model_type = "qwen2_vl_text",
     .defaults = {.num_key_value_heads = 8, .max_position_embeddings = 32768},
     .nested = {.hidden_size = 8192,
                .num_hidden_layers = 80,
                .intermediate_size = 29568,
                .vocab_size = 152064,
                .num_attention_heads = 64},
     .qkv_biases = always,
     .windows = {.rule = window_rule::behind_first_layers, .window = 4096, .first_layers = 80}},
    {.model_type = "qwen2_5_vl",
     .text_model_type = "qwen2_5_vl_text",
     .add_towers = add_qwen2_5_vision_tower,
     .tokens_of_image = qwen2_image_tokens},
    {.model_type = "qwen2_5_vl_text",
     .defaults = {.num_key_value_heads = 8, .max_position_embeddings = 32768},
     .nested = {.hidden_size = 8192,
                .num_hidden_layers = 80,
                .intermediate_size = 29568,
                .vocab_size = 152064,
                .num_attention_heads = 64},
     .qkv_biases = always,
     .windows = {.rule = window_rule::behind_first_layers, .window = 4096, .first_layers = 80}},
    {.model_type = "qwen3_vl",
     .text_prefix = "model.language_model.layers.",
     .text_model_type = "qwen3_vl_text",
     .add_towers = add_qwen3_vision_tower,
     .tokens_of_image = qwen3_image_tokens},
    {.model_type = "qwen3_vl_text",
     .defaults = {.num_key_value_heads = 32, .head_dim = 128, .max_position_embeddings = 128000},
     .nested = {.hidden_size = 4096,
                .num_hidden_layers = 32,
                .intermediate_size = 22016,
                .vocab_size = 151936,
                .num_attention_heads = 32},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::head_dim},
    {.model_type = "qwen3_vl_moe",
     .text_prefix = "model.language_model.layers.",
     .text_model_type = "qwen3_vl_moe_text",
     .add_towers = add_qwen3_vision_tower,
     .tokens_of_image = qwen3_image_tokens},
    {.model_type = "mistral3",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "mistral",
     .add_towers = add_mistral3_towers,
     .tokens_of_image = mistral3_image_tokens},
    // The name of the wrapper and of its text model.
    {.model_type = "ministral3",
     .defaults = {.num_key_value_heads = 8, .head_dim = 128, .max_position_embeddings = 262144},
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "ministral3",
     .add_towers = add_mistral3_towers,
     .tokens_of_image = mistral3_image_tokens},
    {.model_type = "llava",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "llama",
     .add_towers = add_llava_towers,
     .tokens_of_image = llava_image_tokens},
    {.model_type = "llava_llama", .text_model_type = "llama", .add_towers = add_original_llava_towers},
    {.model_type = "llava_mistral", .text_model_type = "mistral", .add_towers = add_original_llava_towers},
    {.model_type = "llava_qwen", .text_model_type = "qwen2", .add_towers = add_original_llava_towers},
    {.model_type = "llava_next",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "llama",
     .add_towers = add_llava_next_towers,
     .tokens_of_image = llava_next_image_tokens},
    {.model_type = "llava_onevision",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "qwen2",
     .add_towers = add_llava_onevision_towers,
     .tokens_of_image = llava_next_image_tokens},
    {.model_type = "idefics3",
     .text_prefix = "model.text_model.layers.",
     .text_model_type = "llama",
     .add_towers = add_idefics3_towers,
     .tokens_of_image = idefics3_image_tokens},
    {.model_type = "smolvlm",
     .text_prefix = "model.text_model.layers.",
     .text_model_type = "llama",
     .add_towers = add_idefics3_towers,
     .tokens_of_image = idefics3_image_tokens},
    {.model_type = "internvl_chat",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "qwen2",
     .add_towers = add_internvl_chat_towers,
     .tokens_of_image = internvl_image_tokens},
    {.model_type = "internvl",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "qwen2",
     .add_towers = add_internvl_towers,
     .tokens_of_image = internvl_image_tokens},
    {.model_type = "glm4v",
     .text_prefix = "model.language_model.layers.",
     .text_model_type = "glm4v_text",
     .add_towers = add_glm4v_towers,
     .tokens_of_image = qwen2_image_tokens},
    {.model_type = "glm4v_text",
     .defaults = {.num_key_value_heads = 2, .max_position_embeddings = 32768},
     .nested = {.hidden_size = 4096,
                .num_hidden_layers = 40,
                .intermediate_size = 13696,
                .vocab_size = 151552,
                .num_attention_heads = 32},
     .qkv_biases = {"attention_bias", true},
     .norms_per_layer = 4},
    {.model_type = "mllama",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "mllama_text_model",
     .add_towers = add_mllama_towers,
     .tokens_of_image = mllama_image_tokens},
    {.model_type = "mllama_text_model",
     .defaults = {.num_key_value_heads = 8, .max_position_embeddings = 131072},
     .nested = {.hidden_size = 4096,
                .num_hidden_layers = 40,
                .intermediate_size = 14336,
                .vocab_size = 128256,
                .num_attention_heads = 32},
     .adjust = adjust_mllama,
     .plan = plan_mllama,
     .finish_layer = finish_mllama_layer},
    {.model_type = "qwen2_audio",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "qwen2",
     .add_towers = add_qwen2_audio_towers},
    {.model_type = "voxtral",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "llama",
     .add_towers = add_voxtral_towers},
    {.model_type = "dots_ocr",
     .text_model_type = "qwen2",
     .add_towers = add_dots_towers,
     .tokens_of_image = qwen2_image_tokens},
    {.model_type = "minicpmv",
     .text_prefix = "llm.model.layers.",
     .text_model_type = "qwen2",
     .text_model_of = minicpmv_text_model,
     .add_towers = add_minicpmv_towers,
     .tokens_of_image = minicpmv_image_tokens},
    {.model_type = "qwen3_5",
     .text_prefix = "model.language_model.layers.",
     .text_model_type = "qwen3_5_text",
     .add_towers = add_qwen3_vision_tower,
     .tokens_of_image = qwen3_image_tokens},
    {.model_type = "qwen3_5_moe",
     .text_prefix = "model.language_model.layers.",
     .text_model_type = "qwen3_5_moe_text",
     .add_towers = add_qwen3_vision_tower,
     .tokens_of_image = qwen3_image_tokens},
    {.model_type = "llama4",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "llama4_text",
     .add_towers = add_llama4_towers,
     .tokens_of_image = llama4_image_tokens},
    {.model_type = "kimi_k25",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "kimi_k2",
     .add_towers = add_kimi_k25_towers,
     .tokens_of_image = moonvit_image_tokens},
    {.model_type = "kimi_k3",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "kimi_linear",
     .add_towers = add_kimi_k25_towers,
     .tokens_of_image = moonvit_image_tokens},
    {.model_type = "kimi_vl",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "deepseek_v3",
     .add_towers = add_kimi_vl_towers,
     .tokens_of_image = moonvit_image_tokens},
    {.model_type = "minimax_m3_vl",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "minimax_m3",
     .own_text_model = true,
     .add_towers = add_minimax_m3_towers},
    {.model_type = "glm4v_moe",
     .text_prefix = "model.language_model.layers.",
     .text_model_type = "glm4v_moe_text",
     .add_towers = add_glm4v_towers,
     .tokens_of_image = qwen2_image_tokens},
    {.model_type = "interns1",
     .text_prefix = "model.language_model.layers.",
     .text_model_type = "qwen3_moe",
     .add_towers = add_internvl_towers,
     .tokens_of_image = internvl_image_tokens},
    {.model_type = "exaone4_5",
     .text_prefix = "model.language_model.layers.",
     .text_model_type = "exaone4",
     .add_towers = add_exaone4_5_vision_tower,
     .tokens_of_image = qwen2_image_tokens},
    {.model_type = "ernie4_5_vl_moe",
     .text_model_type = "ernie4_5_vl_moe_text",
     .add_towers = add_ernie_vl_towers},
    {.model_type = "ernie4_5_moe_vl",  // the name in Baidu's own files
     .text_model_type = "ernie4_5_vl_moe_text",
     .own_text_model = true,
     .add_towers = add_ernie_vl_towers},
    {.model_type = "hunyuan_vl", .text_model_type = "hunyuan_vl_text", .add_towers = add_hunyuan_vl_towers},
    {.model_type = "step_robotics", .text_model_type = "qwen3", .add_towers = add_step_vl_towers},
    {.model_type = "glm_ocr",
     .text_prefix = "model.language_model.layers.",
     .text_model_type = "glm_ocr_text",
     .add_towers = add_glm_ocr_towers,
     .tokens_of_image = qwen2_image_tokens},
    {.model_type = "glm_ocr_text",
     .defaults = {.num_key_value_heads = 8, .max_position_embeddings = 131072},
     .nested = {.hidden_size = 1024,
                .num_hidden_layers = 16,
                .intermediate_size = 4096,
                .vocab_size = 59392,
                .num_attention_heads = 16},
     .norms_per_layer = 4},
    {.model_type = "cohere2_vision",
     .text_prefix = "model.language_model.layers.",
     .text_model_type = "cohere2",
     .add_towers = add_cohere2_vision_towers},
    {.model_type = "aya_vision",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "cohere2",
     .add_towers = add_aya_vision_towers},
    {.model_type = "lighton_ocr",
     .text_prefix = "language_model.layers.",
     .text_model_type = "qwen3",
     .add_towers = add_mistral3_towers,
     .tokens_of_image = mistral3_image_tokens},
    {.model_type = "llava_next_video",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "llama",
     .add_towers = add_llava_next_towers},
    {.model_type = "phi3_v", .text_model_type = "phi3", .add_towers = add_phi3_vision_towers},
    {.model_type = "phi4mm", .text_model_type = "phi3", .add_towers = note_phi4_towers},
    {.model_type = "deepseek_vl_v2", .text_model_type = "deepseek_v2", .add_towers = add_deepseek_vl2_towers},
    {.model_type = "qwen2_5_omni",
     .served_part = "thinker_config",
     .text_prefix = "thinker.model.layers.",
     .text_model_type = "qwen2_5_omni_text",
     .add_towers = add_qwen2_5_omni_towers},
    {.model_type = "qwen2_5_omni_text",
     .defaults = {.num_key_value_heads = 4, .max_position_embeddings = 32768},
     .nested = {.hidden_size = 3584,
                .num_hidden_layers = 28,
                .intermediate_size = 18944,
                .vocab_size = 152064,
                .num_attention_heads = 28},
     .qkv_biases = always,
     .windows = {.rule = window_rule::behind_first_layers, .window = 32768, .first_layers = 28}},
    {.model_type = "qwen3_omni_moe",
     .served_part = "thinker_config",
     .text_prefix = "thinker.model.layers.",
     .text_model_type = "qwen3_omni_moe_text",
     .add_towers = add_qwen3_omni_towers},
    {.model_type = "qwen3_omni_moe_text",
     .defaults = {.num_key_value_heads = 4, .max_position_embeddings = 32768},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::head_dim,
     .experts = {.where = expert_layers::every_step,
                 .num_experts_default = 128,
                 .num_experts_per_tok_default = 8,
                 .intermediate_size_default = 768}},
    {.model_type = "minicpmo",
     .text_prefix = "llm.model.layers.",
     .text_model_type = "qwen2",
     .text_model_of = minicpmv_text_model,
     .add_towers = add_minicpmo_towers,
     .tokens_of_image = minicpmv_image_tokens},
    {.model_type = "chameleon",
     .defaults = {.vocab_size = 65536, .max_position_embeddings = 4096},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::each_head,
     .mlp_biases = {"mlp_bias", false},
     .finish_layer = finish_chameleon,
     .add_towers = note_unknown_towers},
    // Text models whose towers are not described publicly, or not by the config.
    {.model_type = "NemotronH_Nano_VL_V2",
     .text_prefix = "language_model.backbone.layers.",
     .text_model_type = "nemotron_h",
     .add_towers = note_unknown_towers},
    {.model_type = "Llama_Nemotron_Nano_VL",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "llama",
     .add_towers = note_unknown_towers},
    {.model_type = "multi_modality",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "llama",
     .add_towers = note_unknown_towers},
    {.model_type = "perception_lm",
     .text_prefix = "model.language_model.layers.",
     .text_model_type = "llama",
     .add_towers = note_unknown_towers},
    {.model_type = "granite_speech",
     .text_prefix = "language_model.model.layers.",
     .text_model_type = "granite",
     .add_towers = note_unknown_towers},
    {.model_type = "ovis2_5",
     .text_prefix = "llm.model.layers.",
     .text_model_type = "qwen3",
     .add_towers = note_unknown_towers},
    {.model_type = "molmo",
     .keys = {.vocab_size = {{"embedding_size", "vocab_size"}},
              .tie_word_embeddings = {{"weight_tying", "tie_word_embeddings"}}},
     .defaults = {.max_position_embeddings = 4096},
     .qkv_biases = {"qkv_bias", false},
     .qk_norm = query_key_norm::full_width,
     .has_qk_norm = {"attention_layer_norm", false},
     .layer_prefix = "model.transformer.blocks.",
     .renames = {{"self_attn.o_proj", "attn_out"},
                 {"self_attn.q_proj", "att_proj"},
                 {"self_attn.k_proj", "att_proj"},
                 {"self_attn.v_proj", "att_proj"},
                 {"mlp.gate_proj", "ff_proj"},
                 {"mlp.up_proj", "ff_proj"},
                 {"mlp.down_proj", "ff_out"},
                 {"model.embed_tokens", "model.transformer.wte"},
                 {"lm_head", "model.transformer.ff_out"}},
     .adjust = adjust_molmo,
     .add_towers = add_molmo_towers},
    {.model_type = "lfm2_vl",
     .text_prefix = "model.language_model.layers.",
     .text_model_type = "lfm2",
     .add_towers = add_lfm2_vl_towers},
};

}  // namespace kvbudget::inline v0::detail
