#pragma once

#include <cstdint>
#include <string>

#include "kvbudget/io/huggingface/vision/encoders.hpp"
#include "kvbudget/io/huggingface/vision/tower.hpp"

/// The towers of Qwen2-VL, Qwen2.5-VL, Qwen3-VL and Qwen3.5. The text model gets one token for `merge²`
/// patches; M = merge²·h is the width of a merged patch.
namespace kvbudget::inline v0::detail {

/// What the three generations have in common.
struct qwen_vision_sizes {
  std::uint32_t hidden = 0;
  std::uint32_t merged = 0;  ///< M
  std::uint32_t out = 0;     ///< hidden size of the text model
  std::uint32_t patch = 0;   ///< elements of a patch over all channels and frames
};

[[nodiscard]] inline qwen_vision_sizes qwen_sizes_in(const config_view& config, std::uint32_t hidden,
                                                     std::uint32_t out, std::uint32_t usual_patch) {
  const std::uint32_t channels = config.size_or({{"in_channels", "in_chans"}}, 3);
  const std::uint32_t frames = config.size_or({{"temporal_patch_size"}}, 2);
  const std::uint32_t patch = side_in(config, {{"patch_size"}}, usual_patch);
  const std::uint32_t merge = config.size_or({{"spatial_merge_size"}}, 2);
  return {.hidden = hidden,
          .merged = size_product(config, "spatial_merge_size^2 x hidden size",
                                 squared(config, "spatial_merge_size", merge), hidden),
          .out = out,
          .patch = patch_elements(config, channels, patch,
                                  size_product(config, "temporal_patch_size", frames, 1))};
}

/// The layers of merging: M × M and M × out with biases, `copies` times.
inline void add_merger_layers(const tower& vision, const qwen_vision_sizes& sizes, std::uint32_t copies,
                              const char* first, const char* second) {
  vision.wide(sizes.merged, sizes.merged, true, first, copies);
  vision.narrow(sizes.out, sizes.merged, true, second, copies);
}

/// Qwen2-VL. Elements: patches 2·3·p²·h, each layer 4·(h² + h) + 2·h·I + I + h + 4·h with I = mlp_ratio·h;
/// merger 2·h + M² + M + M·out + out. Source: huggingface/transformers
/// models/qwen2_vl/modeling_qwen2_vl.py, Qwen2VisionTransformerPretrainedModel.
inline void add_qwen2_vision_tower(const config_view& root, const decoder_shape&, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower vision(config, builder, module_role::vision);
  tower_shape shape;
  shape.hidden_size = config.size_or({{"embed_dim"}}, 1280);
  shape.layers = tower_layers_in(config, {{"depth"}}, 32);
  shape.heads = config.size_or({{"num_heads"}}, 16);
  shape.intermediate_size =
      size_product(config, "mlp_ratio", shape.hidden_size, config.size_or({{"mlp_ratio"}}, 4));
  const qwen_vision_sizes sizes =
      qwen_sizes_in(config, shape.hidden_size, config.size({{"hidden_size"}}), 14);
  vision.convolution(sizes.hidden, sizes.patch, false);
  vision.encoder(shape, {"visual.blocks.0.attn.qkv", "visual.blocks.0.attn.proj", "visual.blocks.0.mlp.fc1",
                         "visual.blocks.0.mlp.fc2"});
  vision.vectors(sizes.hidden, 2);
  add_merger_layers(vision, sizes, 1, "visual.merger.mlp.0", "visual.merger.mlp.2");
}

/// Qwen2.5-VL: gated MLPs, norms without biases; EXAONE 4.5's has fewer KV heads. 676,550,144 elements for
/// 7B. Sources: huggingface/transformers models/qwen2_5_vl/modeling_qwen2_5_vl.py,
/// models/exaone4_5/modeling_exaone4_5.py.
inline void add_qwen2_5_vision(const config_view& root, model_builder& builder, const tower_shape& usual) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower vision(config, builder, module_role::vision);
  tower_shape shape{.gated_mlp = true, .vectors_per_norm = 1};
  shape.hidden_size = config.size_or({{"hidden_size"}}, usual.hidden_size);
  shape.layers = tower_layers_in(config, {{"depth"}}, 32);
  shape.heads = config.size_or({{"num_heads"}}, 16);
  if (usual.kv_heads != 0) shape.kv_heads = config.size_or({{"num_key_value_heads"}}, usual.kv_heads);
  shape.intermediate_size = config.size_or({{"intermediate_size"}}, 3420);
  const qwen_vision_sizes sizes =
      qwen_sizes_in(config, shape.hidden_size, config.size_or({{"out_hidden_size"}}, 3584), 14);
  vision.convolution(sizes.hidden, sizes.patch, false);
  vision.encoder(
      shape, {"visual.blocks.0.attn.qkv", "visual.blocks.0.attn.proj",
              "visual.blocks.0.mlp.gate_proj|visual.blocks.0.mlp.up_proj", "visual.blocks.0.mlp.down_proj"});
  vision.vectors(sizes.hidden);
  add_merger_layers(vision, sizes, 1, "visual.merger.mlp.0", "visual.merger.mlp.2");
}
inline void add_qwen2_5_vision_tower(const config_view& root, const decoder_shape&, model_builder& builder) {
  add_qwen2_5_vision(root, builder, {.hidden_size = 1280});
}
inline void add_exaone4_5_vision_tower(const config_view& root, const decoder_shape&,
                                       model_builder& builder) {
  add_qwen2_5_vision(root, builder, {.hidden_size = 3584, .kv_heads = 8});
}

/// Qwen3-VL and Qwen3.5: learned positions; one more merger, with a norm of M, for each layer of
/// `deepstack_visual_indexes`. Elements: patches 2·3·p²·h + h, positions, layers, merger 2·h + M² + M + M·out
/// + out, each further one 2·M in place of 2·h. 576,388,336 for 8B; 460,730,096 for Qwen3.5-27B. Source:
/// huggingface/transformers models/qwen3_vl/modeling_qwen3_vl.py, Qwen3VLVisionModel.
inline void add_qwen3_vision_tower(const config_view& root, const decoder_shape&, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower vision(config, builder, module_role::vision);
  tower_shape shape;
  shape.hidden_size = config.size_or({{"hidden_size"}}, 1152);
  shape.layers = tower_layers_in(config, {{"depth"}}, 27);
  shape.heads = config.size_or({{"num_heads"}}, 16);
  shape.intermediate_size = config.size_or({{"intermediate_size"}}, 4304);
  const qwen_vision_sizes sizes =
      qwen_sizes_in(config, shape.hidden_size, config.size_or({{"out_hidden_size"}}, 3584), 16);
  std::uint32_t further = 0;
  if (const auto layers = config.find({{"deepstack_visual_indexes"}})) {
    if (layers->size() > shape.layers) layers->refuse("has more entries than the tower has layers");
    further = static_cast<std::uint32_t>(layers->size());
  } else if (!config.is_null({{"deepstack_visual_indexes"}})) {
    config.note_default("deepstack_visual_indexes", "three layers");
    further = 3;
  }
  vision.convolution(sizes.hidden, sizes.patch, true);
  vision.table(config.size_or({{"num_position_embeddings"}}, 2304), sizes.hidden);
  vision.encoder(shape, {"model.visual.blocks.0.attn.qkv", "model.visual.blocks.0.attn.proj",
                         "model.visual.blocks.0.mlp.linear_fc1", "model.visual.blocks.0.mlp.linear_fc2"});
  vision.vectors(sizes.hidden, 2);
  vision.vectors(sizes.merged, 2 * further);
  add_merger_layers(vision, sizes, 1 + further, "model.visual.merger.linear_fc1",
                    "model.visual.merger.linear_fc2");
}

/// An image of n pixels takes n / (patch · merge)² tokens; the bounds `min_pixels` and `max_pixels` are
/// usually those of the image processor's own file.
[[nodiscard]] inline image_tokens tokens_by_pixels(const config_view& config, std::uint32_t patch,
                                                   std::uint32_t merge) {
  const std::uint64_t side = std::uint64_t{patch} * merge;
  config.note("tokens of an image: pixels / (" + std::to_string(side) + " x " + std::to_string(side) + ")");
  const std::uint64_t pixels = checked_mul(side, side);
  image_tokens tokens;
  const auto least = config.tokens_in({{"min_pixels"}});
  const auto most = config.tokens_in({{"max_pixels"}});
  if (least) tokens.least = *least / pixels;
  if (most) tokens.most = *most / pixels;
  return tokens;
}

[[nodiscard]] inline image_tokens qwen_image_tokens(const config_view& root, std::uint32_t usual_patch) {
  const auto described = root.find({{"vision_config"}});
  if (!described) return {};
  const config_view config = root.nested(*described);
  return tokens_by_pixels(config, side_in(config, {{"patch_size"}}, usual_patch),
                          config.size_or({{"spatial_merge_size"}}, 2));
}
[[nodiscard]] inline image_tokens qwen2_image_tokens(const config_view& root) {
  return qwen_image_tokens(root, 14);
}
[[nodiscard]] inline image_tokens qwen3_image_tokens(const config_view& root) {
  return qwen_image_tokens(root, 16);
}

}  // namespace kvbudget::inline v0::detail
