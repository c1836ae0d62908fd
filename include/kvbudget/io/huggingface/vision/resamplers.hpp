#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kvbudget/io/huggingface/vision/encoders.hpp"
#include "kvbudget/io/huggingface/vision/qwen_vl.hpp"
#include "kvbudget/io/huggingface/vision/tower.hpp"

/// Encoders whose patches are merged by convolutions or by more than one linear layer: ERNIE 4.5 VL,
/// HunyuanOCR, Step3-VL-10B, GLM-OCR, Aya Vision and Command A Vision. H is the text model's hidden size.
namespace kvbudget::inline v0::detail {

// ---- ERNIE 4.5 VL -----------------------------------------------------------------------------------------

/// Patches 3·p²·h, layers, a norm of 2·h; with S = s²·h: two of S² + S and a norm of 2·S, then over t frames
/// t·S² + S, S² + S and a norm of 2·S, then S·H + H and a norm of H. 774,658,560 elements for 28B-A3B.
/// Source: huggingface/transformers models/ernie4_5_vl_moe/modeling_ernie4_5_vl_moe.py,
/// Ernie4_5_VLMoeVisionTransformerPretrainedModel, Ernie4_5_VLMoeVariableResolutionResamplerModel.
inline void add_ernie_vl_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower vision(config, builder, module_role::vision);
  tower_shape shape;
  shape.hidden_size = config.size_or({{"hidden_size", "embed_dim"}}, 1280);
  shape.layers = tower_layers_in(config, {{"depth"}}, 32);
  shape.heads = config.size_or({{"num_heads"}}, 16);
  shape.intermediate_size =
      config.find({{"intermediate_size"}})
          ? config.size({{"intermediate_size"}})
          : size_product(config, "mlp_ratio", shape.hidden_size, config.size_or({{"mlp_ratio"}}, 4));
  const std::uint32_t hidden = shape.hidden_size;
  const auto factor = [&](const char* own, const char* above) {
    return config.find({{own}}) || !root.find({{above}}) ? config.size_or({{own}}, 2) : root.size({{above}});
  };
  const std::uint32_t patch = side_in(config, {{"patch_size"}}, 14);
  const std::uint32_t merge = factor("spatial_merge_size", "spatial_conv_size");
  const std::uint32_t merged = size_product(config, "spatial_merge_size^2 x hidden size",
                                            squared(config, "spatial_merge_size", merge), hidden);
  const std::uint32_t frames = size_product(config, "temporal_merge_size x merged size", merged,
                                            factor("temporal_merge_size", "temporal_conv_size"));
  vision.convolution(hidden, patch_elements(config, config.size_or({{"in_channels", "in_chans"}}, 3), patch),
                     false);
  vision.encoder(shape, {"vision_model.blocks.0.attn.qkv", "vision_model.blocks.0.attn.proj",
                         "vision_model.blocks.0.mlp.fc1", "vision_model.blocks.0.mlp.fc2"});
  vision.vectors(hidden, 2);
  vision.wide(merged, merged, true, "model.resampler_model.spatial_linear.0");
  vision.wide(merged, merged, true, "model.resampler_model.spatial_linear.2");
  vision.wide(merged, frames, true, "model.resampler_model.temporal_linear.0");
  vision.wide(merged, merged, true, "model.resampler_model.temporal_linear.2");
  vision.vectors(merged, 2 * 2);
  vision.wide(text.hidden_size, merged, true, "model.resampler_model.mlp");
  vision.vectors(text.hidden_size);
}

// ---- HunyuanOCR -------------------------------------------------------------------------------------------

/// Patches 3·p²·h + h, positions (image / p)²·h and one more, layers; convolutions m²·h × 2·h and 2·h × 4·h
/// with biases, 4·h·H + H, norms of h and H, and vectors of 4·h and three of H around an image. 457,198,064
/// elements. Source: vllm-project/vllm vllm/model_executor/models/hunyuan_vision.py.
inline void add_hunyuan_vl_towers(const config_view& root, const decoder_shape& text,
                                  model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower vision(config, builder, module_role::vision);
  const tower_shape shape =
      plain_encoder_in(config, {.hidden_size = 1152, .intermediate_size = 4304, .layers = 27, .heads = 16});
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t patch = side_in(config, {{"patch_size"}}, 16);
  const std::uint32_t side = patches_per_side(config, side_in(config, {{"max_image_size"}}, 2048), patch);
  const std::uint32_t merge = config.size_or({{"spatial_merge_size"}}, 2);
  const std::uint32_t merged = size_product(config, "spatial_merge_size^2 x hidden size",
                                            squared(config, "spatial_merge_size", merge), hidden);
  const std::uint32_t twice = size_product(config, "hidden_size", hidden, 2);
  const std::uint32_t fourfold = size_product(config, "hidden_size", hidden, 4);
  vision.convolution(hidden, patch_elements(config, config.size_or({{"num_channels"}}, 3), patch), true);
  vision.table(std::uint64_t{squared(config, "patches", side)} + 1, hidden);
  vision.encoder(shape, {"vit.layers.0.self_attn.q_proj|vit.layers.0.self_attn.k_proj|"
                         "vit.layers.0.self_attn.v_proj",
                         "vit.layers.0.self_attn.o_proj", "vit.layers.0.mlp.dense_h_to_4h",
                         "vit.layers.0.mlp.dense_4h_to_h"});
  vision.convolution(twice, merged, true);
  vision.convolution(fourfold, twice, true);
  vision.whole(text.hidden_size, fourfold, true, "vit.perceive.mlp");
  vision.vectors(hidden);
  vision.vectors(fourfold);
  vision.vectors(text.hidden_size, 1 + 3);
}

// ---- Step3-VL-10B -----------------------------------------------------------------------------------------

/// A perception encoder: patches 3·p²·w, positions (image / p)²·w, a norm before the layers, scales in them;
/// two convolutions of 3 × 3 with biases double the width each, then 4·w × H. 1,981,014,784 elements. Source:
/// vllm-project/vllm vllm/model_executor/models/step_vl.py, PerceptionEncoder.
inline void add_step_vl_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower vision(config, builder, module_role::vision);
  tower_shape shape;
  shape.hidden_size = config.size({{"width"}});
  shape.layers = tower_layers_in(config, {{"layers"}});
  shape.heads = config.size({{"heads"}});
  const std::uint32_t hidden = shape.hidden_size;
  const auto ratio = config.find({{"mlp_ratio"}});
  const double inner = (ratio ? ratio->number() : 4.0) * hidden;
  if (!(inner >= 1 && inner <= UINT32_MAX)) ratio->refuse("must give an MLP of 1 to 2^32 - 1 channels");
  shape.intermediate_size = static_cast<std::uint32_t>(inner);
  if (config.find({{"ls_init_value"}})) shape.scales_per_layer = 2;
  const std::uint32_t patch = config.size({{"patch_size"}});
  const std::uint32_t side = patches_per_side(config, config.size({{"image_size"}}), patch);
  const bool class_token = config.flag({"use_cls_token", false});
  vision.convolution(hidden, patch_elements(config, 3, patch), false);
  if (class_token) vision.vectors(hidden);
  if (config.flag({"use_abs_posemb", true})) {
    vision.table(std::uint64_t{squared(config, "patches", side)} + (class_token ? 1 : 0), hidden);
  }
  const std::uint32_t norms =
      (config.flag({"use_ln_pre", true}) ? 1u : 0u) + (config.flag({"use_ln_post", false}) ? 1u : 0u);
  vision.vectors(hidden, 2 * norms);
  vision.encoder(shape, {"vision_model.transformer.resblocks.0.attn.in_proj",
                         "vision_model.transformer.resblocks.0.attn.out_proj",
                         "vision_model.transformer.resblocks.0.mlp.c_fc",
                         "vision_model.transformer.resblocks.0.mlp.c_proj"});
  const std::uint32_t twice = size_product(config, "width", hidden, 2);
  const std::uint32_t fourfold = size_product(config, "width", hidden, 4);
  vision.convolution(twice, size_product(config, "width", hidden, 9), true);
  vision.convolution(fourfold, size_product(config, "width", twice, 9), true);
  vision.wide(text.hidden_size, fourfold, root.flag({"projector_bias", false}), "vit_large_projector");
}

// ---- GLM-OCR ----------------------------------------------------------------------------------------------

/// GLM-4V's encoder without positions, with biases, norms of queries and keys, and MLPs of their own width;
/// the merger's MLP is as wide as all channels of an output. Source: huggingface/transformers
/// models/glm_ocr/modular_glm_ocr.py, GlmOcrVisionModel.
inline void add_glm_ocr_towers(const config_view& root, const decoder_shape&, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower vision(config, builder, module_role::vision);
  const bool biases = config.flag({"attention_bias", true});
  const tower_shape shape{.hidden_size = config.size_or({{"hidden_size"}}, 1024),
                          .intermediate_size = config.size_or({{"intermediate_size"}}, 4096),
                          .layers = tower_layers_in(config, {{"depth"}}, 24),
                          .heads = config.size_or({{"num_heads"}}, 16),
                          .qkv_biases = biases,
                          .output_bias = biases,
                          .gated_mlp = true,
                          .mlp_biases = false,
                          .vectors_per_norm = 1};
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t out = config.size_or({{"out_hidden_size"}}, 1536);
  const qwen_vision_sizes sizes = qwen_sizes_in(config, hidden, out, 14);
  vision.convolution(hidden, sizes.patch, true);
  vision.encoder(shape, {"model.visual.blocks.0.attn.qkv", "model.visual.blocks.0.attn.proj",
                         "model.visual.blocks.0.mlp.gate_proj|model.visual.blocks.0.mlp.up_proj",
                         "model.visual.blocks.0.mlp.down_proj"});
  if (biases) {
    vision.split_bias(shape.intermediate_size, 2 * shape.layers, shape.intermediate_size);
    vision.vectors(hidden, shape.layers);
  }
  vision.vectors(hidden / shape.heads, 2 * shape.layers);
  vision.vectors(hidden);
  vision.convolution(out, sizes.merged, true);
  vision.whole(out, out, false, "model.visual.merger.proj");
  vision.vectors(out, 2);
  const std::uint32_t inner =
      size_product(config, "out_hidden_size", out, config.size_or({{"in_channels"}}, 3));
  vision.wide(inner, out, false, "model.visual.merger.gate_proj|model.visual.merger.up_proj", 2);
  vision.narrow(out, inner, false, "model.visual.merger.down_proj");
}

// ---- Cohere -----------------------------------------------------------------------------------------------

/// An encoder, and A halves gating each other: s²·h·A + A and A/2·H + H; Aya Vision norms s²·h before them.
/// Source: huggingface/transformers models/cohere2_vision/modular_cohere2_vision.py,
/// models/aya_vision/modeling_aya_vision.py (AyaVisionMultiModalProjector).
inline void add_cohere_vision(const config_view& root, const decoder_shape& text, model_builder& builder,
                              bool aya) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const auto encoded = add_vision_encoder(config, builder, "siglip_vision_model");
  if (!encoded) return;
  const std::uint32_t factor = root.size_or({{"downsample_factor"}}, 2);
  const std::uint32_t merged = size_product(root, "downsample_factor^2 x hidden size",
                                            squared(root, "downsample_factor", factor), encoded->hidden_size);
  const std::uint32_t width = root.size_or({{"alignment_intermediate_size"}}, aya ? text.hidden_size : 36864);
  if (width < 2) root.refuse("alignment_intermediate_size must be at least 2");
  const tower projector(config, builder, module_role::vision);
  if (aya) projector.vectors(merged, 2);
  projector.wide(width, merged, true, "multi_modal_projector.linear_1");
  projector.narrow(text.hidden_size, width / 2, true, "multi_modal_projector.linear_2");
}
inline void add_cohere2_vision_towers(const config_view& root, const decoder_shape& text,
                                      model_builder& builder) {
  add_cohere_vision(root, text, builder, false);
}
inline void add_aya_vision_towers(const config_view& root, const decoder_shape& text,
                                  model_builder& builder) {
  add_cohere_vision(root, text, builder, true);
}

}  // namespace kvbudget::inline v0::detail
