#pragma once

#include <cstdint>
#include <string>

#include "kvbudget/io/huggingface/vision/encoders.hpp"
#include "kvbudget/io/huggingface/vision/qwen_vl.hpp"
#include "kvbudget/io/huggingface/vision/tower.hpp"

/// MoonViT of Kimi-VL, Kimi-K2.5 and Kimi-K3.
namespace kvbudget::inline v0::detail {

/// Learned positions of height × width; a merger of m² patches: a norm of h, (m²·h)² and m²·h × H, all with
/// biases. Elements of the tower of Kimi-VL: 416,866,032. Source: moonshotai/Kimi-VL-A3B-Instruct
/// modeling_kimi_vl.py (MoonVitPretrainedModel, KimiVLMultiModalProjector); Kimi-K2.5: modeling_kimi_k25.py
/// of its repository.
inline void add_moonvit(const config_view& config, const tower_shape& shape, std::uint32_t text_hidden,
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

/// Kimi-K3: heads of their own width, no biases, norms without biases, and in the projector a norm of H
/// behind the two layers instead of one before. Elements: patches 3·p²·h, positions, each layer 4·h·w + 2·h·I
/// + 2·h, a norm of h; M² + M·H + H with M = m²·h. Source: vision_config and modeling files of
/// moonshotai/Kimi-K3.
inline void add_kimi_k3_tower(const config_view& config, tower_shape shape, std::uint32_t text_hidden,
                              model_builder& builder) {
  const tower vision(config, builder, module_role::vision);
  const std::uint32_t hidden = shape.hidden_size;
  if (config.find({{"qkv_hidden_size"}})) {
    const std::uint32_t width = config.size({{"qkv_hidden_size"}});
    if (width % shape.heads != 0)
      config.refuse("qkv_hidden_size is not a multiple of vt_num_attention_heads");
    shape.head_dim = width / shape.heads;
  }
  const bool attention_biases = config.flag({"attn_bias", false});
  shape.qkv_biases = attention_biases;
  shape.output_bias = attention_biases;
  shape.mlp_biases = config.flag({"linear_bias", false});
  const auto norm = config.find({{"norm_type"}});
  shape.vectors_per_norm = norm && norm->text() == "layernorm" ? 2 : 1;
  const std::uint32_t patch = side_in(config, {{"patch_size"}}, 14);
  const std::uint32_t merge = side_in(config, {{"merge_kernel_size"}}, 2);
  const std::uint32_t merged = size_product(config, "merge_kernel_size^2 x hidden size",
                                            squared(config, "merge_kernel_size", merge), hidden);
  vision.convolution(hidden, patch_elements(config, 3, patch), config.flag({"patch_embed_proj_bias", false}));
  vision.table(size_product(config, "init_pos_emb", config.size_or({{"init_pos_emb_height"}}, 64),
                            config.size_or({{"init_pos_emb_width"}}, 64)),
               hidden);
  vision.encoder(shape, moonvit_modules);
  vision.vectors(hidden, shape.vectors_per_norm);
  vision.wide(merged, merged, false, "mm_projector.proj.0");
  vision.narrow(text_hidden, merged, false, "mm_projector.proj.2");
  vision.vectors(text_hidden);
}

inline void add_kimi_vl_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described, "moonvit");
  const tower_shape shape =
      plain_encoder_in(config, {.hidden_size = 1152, .intermediate_size = 4304, .layers = 27, .heads = 16});
  add_moonvit(config, shape, text.hidden_size, builder, moonvit_modules, "multi_modal_projector.linear_1",
              "multi_modal_projector.linear_2");
}

/// Kimi-K2.5: the same under other keys; the positions in time have no weights. 471,143,920 elements into a
/// text model of 7,168. Another projector is noted and not counted, but for Kimi-K3's.
inline void add_kimi_k25_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const auto given = config.find({{"mm_projector_type"}});
  const std::string projector = given ? given->text() : "patchmerger";
  tower_shape shape{.hidden_size = config.size_or({{"vt_hidden_size"}}, 1152),
                    .intermediate_size = config.size_or({{"vt_intermediate_size"}}, 4304),
                    .layers = tower_layers_in(config, {{"vt_num_hidden_layers"}}, 27),
                    .heads = config.size_or({{"vt_num_attention_heads"}}, 16)};
  if (projector == "patchmerger") {
    add_moonvit(config, shape, text.hidden_size, builder, moonvit_modules, "mm_projector.proj.0",
                "mm_projector.proj.2");
  } else if (projector == "patchmergerv2") {
    add_kimi_k3_tower(config, shape, text.hidden_size, builder);
  } else {
    note_uncounted_tower(config, builder, "vision tower with projector \"" + printable(projector, 40) + "\"");
  }
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
