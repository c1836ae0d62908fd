#pragma once

#include <cstdint>
#include <string>

#include "kvbudget/io/huggingface/vision/encoders.hpp"
#include "kvbudget/io/huggingface/vision/qwen_vl.hpp"
#include "kvbudget/io/huggingface/vision/tower.hpp"

/// MoonViT of Kimi-VL and Kimi-K2.5.
namespace kvbudget::inline v0::detail {

/// Learned positions of height × width; a merger of m² patches: a norm of h, (m²·h)² and m²·h × H, all with
/// biases. Elements of the tower of Kimi-VL: 416,866,032. Source: moonshotai/Kimi-VL-A3B-Instruct
/// modeling_kimi_vl.py (MoonVitPretrainedModel, KimiVLMultiModalProjector); Kimi-K2.5: modeling_kimi_k25.py
/// of its repository.
inline void add_moonvit(const config_view& config, const encoder_shape& shape, std::uint32_t text_hidden,
                        model_builder& builder, const encoder_modules& modules, const char* first,
                        const char* second) {
  const tower vision(config, builder, module_role::vision);
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t patch = side_in(config, {{"patch_size"}}, 14);
  const std::uint32_t height = config.size_or({{"init_pos_emb_height"}}, 64);
  const std::uint32_t width = config.size_or({{"init_pos_emb_width"}}, 64);
  const std::uint32_t merge = side_in(config, {{"merge_kernel_size"}}, 2);
  const std::uint32_t merged = size_product(config, "merge_kernel_size^2 x hidden size",
                                            squared(config, "merge_kernel_size", merge), hidden);
  vision.convolution(hidden, patch_elements(config, 3, patch), true);
  vision.table(size_product(config, "init_pos_emb", height, width), hidden);
  vision.encoder(shape, modules);
  vision.vectors(hidden, 2 + 2);  // the last norm, and the projector's
  vision.wide(merged, merged, true, first);
  vision.narrow(text_hidden, merged, true, second);
}

inline constexpr encoder_modules moonvit_modules{
    "vision_tower.encoder.blocks.0.wqkv", "vision_tower.encoder.blocks.0.wo",
    "vision_tower.encoder.blocks.0.mlp.fc0", "vision_tower.encoder.blocks.0.mlp.fc1"};

inline void add_kimi_vl_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described, "moonvit");
  const encoder_shape shape =
      plain_encoder_in(config, {.hidden_size = 1152, .intermediate_size = 4304, .layers = 27, .heads = 16});
  add_moonvit(config, shape, text.hidden_size, builder, moonvit_modules, "multi_modal_projector.linear_1",
              "multi_modal_projector.linear_2");
}

/// Kimi-K2.5: the same under other keys; the positions in time have no weights. Another form of it (Kimi-K3:
/// without biases, with another projector) is noted and not counted.
inline void add_kimi_k25_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const auto projector = config.find({{"mm_projector_type"}});
  if (projector && projector->text() != "patchmerger") {
    return note_uncounted_tower(config, builder,
                                "vision tower with projector \"" + printable(projector->text(), 40) + "\"");
  }
  const encoder_shape shape{.hidden_size = config.size_or({{"vt_hidden_size"}}, 1152),
                            .intermediate_size = config.size_or({{"vt_intermediate_size"}}, 4304),
                            .layers = tower_layers_in(config, {{"vt_num_hidden_layers"}}, 27),
                            .heads = config.size_or({{"vt_num_attention_heads"}}, 16)};
  add_moonvit(config, shape, text.hidden_size, builder, moonvit_modules, "mm_projector.proj.0",
              "mm_projector.proj.2");
}

/// By size: see `tokens_by_pixels`.
[[nodiscard]] inline image_tokens moonvit_image_tokens(const config_view& root) {
  const auto described = root.find({{"vision_config"}});
  if (!described) return {};
  const config_view config = root.nested(*described);
  return tokens_by_pixels(config, side_in(config, {{"patch_size"}}, 14),
                          side_in(config, {{"merge_kernel_size"}}, 2));
}

}  // namespace kvbudget::inline v0::detail
