#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kvbudget/io/huggingface/vision/tower.hpp"

/// Vision encoders that several wrappers use, by the `model_type` of their `vision_config`. Each returns its
/// hidden size.
namespace kvbudget::inline v0::detail {

/// What a vision encoder hands to the projector.
struct encoded_image {
  std::uint32_t hidden_size = 0;
  std::uint32_t patches = 0;  ///< per side of an image (or tile) of the configured size
};

[[nodiscard]] inline tower_shape plain_encoder_in(const config_view& vision, const tower_shape& defaults) {
  tower_shape shape = defaults;
  shape.hidden_size = vision.size_or({{"hidden_size"}}, defaults.hidden_size);
  shape.intermediate_size = vision.size_or({{"intermediate_size"}}, defaults.intermediate_size);
  shape.layers = tower_layers_in(vision, {{"num_hidden_layers"}}, defaults.layers);
  shape.heads = vision.size_or({{"num_attention_heads"}}, defaults.heads);
  return shape;
}

/// The pixels of a patch in all channels (and frames).
[[nodiscard]] inline std::uint32_t patch_elements(const config_view& vision, std::uint32_t channels,
                                                  std::uint32_t patch, std::uint32_t frames = 1) {
  return size_product(vision, "elements of a patch", squared(vision, "patch_size", patch),
                      std::uint64_t{channels} * frames);
}

inline constexpr encoder_modules plain_modules(const char* qkv, const char* output, const char* mlp_in,
                                               const char* mlp_out) {
  return {qkv, output, mlp_in, mlp_out};
}

/// SigLIP. Elements: patches 3·p²·h + h, positions (image / p)²·h, layers, final norm 2·h; a pooling head,
/// where it has one, 4·(h² + h) + 2·h·I + I + h + 3·h. 416,866,032 for so400m at 896 pixels. Source:
/// huggingface/transformers models/siglip/modeling_siglip.py.
inline encoded_image add_siglip(const config_view& config, model_builder& builder, const tower_shape& usual,
                                std::uint32_t usual_image, std::uint32_t usual_patch, bool may_pool,
                                const encoder_modules& modules) {
  const tower vision(config, builder, module_role::vision);
  const tower_shape shape = plain_encoder_in(config, usual);
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t channels = config.size_or({{"num_channels"}}, 3);
  const std::uint32_t image = side_in(config, {{"image_size"}}, usual_image);
  const std::uint32_t patch = side_in(config, {{"patch_size"}}, usual_patch);
  const std::uint32_t side = patches_per_side(config, image, patch);
  vision.convolution(hidden, patch_elements(config, channels, patch), true);
  vision.table(squared(config, "patches", side), hidden, shard_rule::vocabulary);
  vision.encoder(shape, modules);
  vision.vectors(hidden, 2);
  if (may_pool && config.flag({"vision_use_head", true})) {
    tower_shape head = shape;
    head.layers = 1;
    head.norms_per_layer = 1;
    head.scales_per_layer = 1;  // the probe
    vision.encoder(head, {"", "", "", ""});
  }
  return {hidden, side};
}

/// CLIP. Elements: patches 3·p²·h, a class vector, positions ((image / p)² + 1)·h, layers, two norms.
/// 303,507,456 for ViT-L/14 at 336 pixels. Source: huggingface/transformers models/clip/modeling_clip.py,
/// CLIPVisionTransformer.
inline encoded_image add_clip(const config_view& config, model_builder& builder,
                              const encoder_modules& modules) {
  const tower vision(config, builder, module_role::vision);
  const tower_shape shape = plain_encoder_in(config, {});
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t channels = config.size_or({{"num_channels"}}, 3);
  const std::uint32_t image = side_in(config, {{"image_size"}}, 224);
  const std::uint32_t patch = side_in(config, {{"patch_size"}}, 32);
  const std::uint32_t side = patches_per_side(config, image, patch);
  vision.convolution(hidden, patch_elements(config, channels, patch), false);
  vision.table(std::uint64_t{squared(config, "patches", side)} + 1, hidden);
  vision.encoder(shape, modules);
  vision.vectors(hidden, 1 + 2 * 2);
  return {hidden, side};
}

/// Pixtral: no positions, no biases. Elements: patches 3·p²·h, a norm, each layer 4·h·n·d + 3·h·I + 2·h.
/// Source: huggingface/transformers models/pixtral/modeling_pixtral.py.
inline encoded_image add_pixtral(const config_view& config, model_builder& builder,
                                 const encoder_modules& modules) {
  const tower vision(config, builder, module_role::vision);
  tower_shape shape = plain_encoder_in(config, {.hidden_size = 1024,
                                                .intermediate_size = 4096,
                                                .layers = 24,
                                                .heads = 16,
                                                .qkv_biases = false,
                                                .output_bias = false,
                                                .gated_mlp = true,
                                                .mlp_biases = false,
                                                .vectors_per_norm = 1});
  if (config.find({{"head_dim"}})) shape.head_dim = config.size({{"head_dim"}});
  const std::uint32_t image = side_in(config, {{"image_size"}}, 1024);
  const std::uint32_t patch = side_in(config, {{"patch_size"}}, 16);
  vision.convolution(shape.hidden_size, patch_elements(config, config.size_or({{"num_channels"}}, 3), patch),
                     false);
  vision.encoder(shape, modules);
  vision.vectors(shape.hidden_size);
  return {shape.hidden_size, patches_per_side(config, image, patch)};
}

/// InternViT, in the original's words and in transformers'. Elements: patches 3·p²·h + h, a class vector,
/// positions ((image / p)² + 1)·h, layers with two scales each; norms of h with a bias, or without
/// (`rms_norm`); norms of queries and keys of h each (`qk_normalization`). No final norm. Source:
/// OpenGVLab/InternVL internvl_chat/internvl/model/internvl_chat/modeling_intern_vit.py;
/// huggingface/transformers models/internvl/modeling_internvl.py.
inline encoded_image add_intern_vit(const config_view& config, model_builder& builder, bool original) {
  const tower vision(config, builder, module_role::vision);
  tower_shape shape = plain_encoder_in(config, {.hidden_size = original ? 3200u : 1024u,
                                                .intermediate_size = original ? 12800u : 4096u,
                                                .layers = original ? 48u : 24u,
                                                .heads = original ? 25u : 16u,
                                                .scales_per_layer = 2});
  const std::uint32_t hidden = shape.hidden_size;
  shape.qkv_biases = original ? config.flag({"qkv_bias", false}) : config.flag({"attention_bias", false});
  const bool query_key_norms =
      original ? config.flag({"qk_normalization", true}) : config.flag({"use_qk_norm", false});
  const auto norm = config.find({{"norm_type"}});
  const bool rms = norm ? norm->text() == "rms_norm" : original;
  shape.vectors_per_norm = rms ? 1 : 2;
  if (query_key_norms) shape.scales_per_layer += 2;  // RMS whatever norm_type says
  const std::uint32_t image = side_in(config, {{"image_size"}}, original ? 224 : 448);
  const std::uint32_t patch = side_in(config, {{"patch_size"}}, 14);
  const std::uint32_t side = patches_per_side(config, image, patch);
  const std::uint32_t channels = config.size_or({{"num_channels"}}, 3);
  vision.convolution(hidden, patch_elements(config, channels, patch), true);
  vision.table(std::uint64_t{squared(config, "patches", side)} + 1, hidden);
  vision.vectors(hidden);
  vision.encoder(
      shape,
      original
          ? plain_modules("vision_model.encoder.layers.0.attn.qkv", "vision_model.encoder.layers.0.attn.proj",
                          "vision_model.encoder.layers.0.mlp.fc1", "vision_model.encoder.layers.0.mlp.fc2")
          : plain_modules("vision_tower.encoder.layer.0.attention.q_proj|"
                          "vision_tower.encoder.layer.0.attention.k_proj|"
                          "vision_tower.encoder.layer.0.attention.v_proj",
                          "vision_tower.encoder.layer.0.attention.projection_layer",
                          "vision_tower.encoder.layer.0.mlp.fc1", "vision_tower.encoder.layer.0.mlp.fc2"));
  return {hidden, side};
}

inline constexpr encoder_modules vision_tower_modules{
    "vision_tower.vision_model.encoder.layers.0.self_attn.q_proj|"
    "vision_tower.vision_model.encoder.layers.0.self_attn.k_proj|"
    "vision_tower.vision_model.encoder.layers.0.self_attn.v_proj",
    "vision_tower.vision_model.encoder.layers.0.self_attn.out_proj",
    "vision_tower.vision_model.encoder.layers.0.mlp.fc1",
    "vision_tower.vision_model.encoder.layers.0.mlp.fc2"};

inline constexpr encoder_modules pixtral_modules{
    "vision_tower.transformer.layers.0.attention.q_proj|"
    "vision_tower.transformer.layers.0.attention.k_proj|"
    "vision_tower.transformer.layers.0.attention.v_proj",
    "vision_tower.transformer.layers.0.attention.o_proj",
    "vision_tower.transformer.layers.0.feed_forward.gate_proj|"
    "vision_tower.transformer.layers.0.feed_forward.up_proj",
    "vision_tower.transformer.layers.0.feed_forward.down_proj"};

/// The encoder that `vision_config` names, where a wrapper takes any (`usual` where it names none); nothing
/// where it is not known, which is noted.
[[nodiscard]] inline std::optional<encoded_image> add_vision_encoder(const config_view& config,
                                                                     model_builder& builder,
                                                                     const char* usual) {
  std::string type = usual;
  if (const auto given = config.find({{"model_type"}})) type = given->text();
  if (type == "siglip_vision_model") {
    return add_siglip(config, builder, {}, 224, 16, true, vision_tower_modules);
  }
  if (type == "clip_vision_model") return add_clip(config, builder, vision_tower_modules);
  if (type == "pixtral") return add_pixtral(config, builder, pixtral_modules);
  if (type == "internvl_vision") return add_intern_vit(config, builder, false);
  note_uncounted_tower(config, builder, "vision tower \"" + printable(type, 40) + "\" is not known");
  return std::nullopt;
}

}  // namespace kvbudget::inline v0::detail
