#pragma once

#include <cstdint>
#include <string>

#include "kvbudget/io/huggingface/vision/encoders.hpp"
#include "kvbudget/io/huggingface/vision/tower.hpp"

/// The towers of Llama 3.2 Vision and Llama 4.
namespace kvbudget::inline v0::detail {

/// Llama 4. Elements: patches 3·p²·h, a class vector, positions ((image / p)² + 1)·h, layers, two norms; an
/// adapter of I × P_in and P_in × P_out, a projector of out × H. 871,932,416 for Scout and Maverick. Source:
/// huggingface/transformers models/llama4/modeling_llama4.py, Llama4VisionModel, Llama4VisionMLP2.
inline void add_llama4_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower vision(config, builder, module_role::vision);
  const tower_shape shape =
      plain_encoder_in(config, {.hidden_size = 768, .intermediate_size = 5632, .layers = 34, .heads = 16});
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t image = side_in(config, {{"image_size"}}, 448);
  const std::uint32_t patch = side_in(config, {{"patch_size"}}, 14);
  const std::uint32_t side = patches_per_side(config, image, patch);
  const std::uint32_t in = config.size_or({{"projector_input_dim"}}, 4096);
  const std::uint32_t out = config.size_or({{"projector_output_dim"}}, 4096);
  vision.convolution(hidden, patch_elements(config, config.size_or({{"num_channels"}}, 3), patch), false);
  vision.table(std::uint64_t{squared(config, "patches", side)} + 1, hidden);
  vision.encoder(shape, {"vision_model.model.layers.0.self_attn.q_proj|"
                         "vision_model.model.layers.0.self_attn.k_proj|"
                         "vision_model.model.layers.0.self_attn.v_proj",
                         "vision_model.model.layers.0.self_attn.o_proj",
                         "vision_model.model.layers.0.mlp.fc1", "vision_model.model.layers.0.mlp.fc2"});
  vision.vectors(hidden, 1 + 2 * 2);
  vision.wide(in, shape.intermediate_size, false, "vision_model.vision_adapter.mlp.fc1");
  vision.narrow(out, in, false, "vision_model.vision_adapter.mlp.fc2");
  vision.wide(text.hidden_size, config.size_or({{"vision_output_dim"}}, 7680), false,
              "multi_modal_projector.linear_1");
}

/// A tile takes (image / patch)² · pixel_shuffle_ratio² tokens; how many tiles an image is cut into is up to
/// the image processor.
[[nodiscard]] inline image_tokens llama4_image_tokens(const config_view& root) {
  const auto described = root.find({{"vision_config"}});
  if (!described) return {};
  const config_view config = root.nested(*described);
  const std::uint32_t side =
      patches_per_side(config, side_in(config, {{"image_size"}}, 448), side_in(config, {{"patch_size"}}, 14));
  if (const auto ratio = config.find({{"pixel_shuffle_ratio"}})) {
    if (!ratio->value().is_number() || ratio->value().get<double>() != 0.5) return {};
  }
  const std::uint32_t tokens = squared(config, "patches", side) / 4;
  config.note("tokens of an image: " + std::to_string(tokens) + " for each tile");
  return {tokens, 0};
}

[[nodiscard]] inline std::uint32_t mllama_tile_tokens(const config_view& config) {
  const std::uint32_t side =
      patches_per_side(config, side_in(config, {{"image_size"}}, 448), side_in(config, {{"patch_size"}}, 14));
  return size_product(config, "tokens of a tile", squared(config, "patches", side), 1) + 1;
}

/// Llama 3.2 Vision. With T tiles, N = (image / p)² + 1 and A aspect ratios: patches 3·p²·h, a class vector,
/// positions N·h and (A + 1)·T·N·h with a gate, twice (A + 1)·T·h with a gate, two norms; local layers, and
/// global ones with two gates each; a projector of out × H + H. 863,567,379 before the projector of 11B and
/// 90B. Source: huggingface/transformers models/mllama/modeling_mllama.py, MllamaVisionModel.
inline void add_mllama_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower vision(config, builder, module_role::vision);
  tower_shape shape{.output_bias = false};
  shape.qkv_biases = false;
  shape.hidden_size = config.size_or({{"hidden_size"}}, 1280);
  shape.intermediate_size = config.size_or({{"intermediate_size"}}, 5120);
  shape.heads = config.size_or({{"attention_heads", "num_attention_heads"}}, 16);
  const std::uint32_t local = tower_layers_in(config, {{"num_hidden_layers"}}, 32);
  const std::uint32_t global = tower_layers_in(config, {{"num_global_layers"}}, 8);
  shape.layers = local + global;
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t tiles = config.size_or({{"max_num_tiles"}}, 4);
  std::uint64_t ratios = 8;
  if (const auto listed = config.find({{"supported_aspect_ratios"}})) {
    ratios = listed->size();
  } else {
    config.note_default("supported_aspect_ratios", "8 of them");
  }
  const std::uint32_t rows = size_product(config, "aspect ratios x tiles", checked_add(ratios, 1), tiles);
  const std::uint32_t tokens = mllama_tile_tokens(config);
  const std::uint32_t patch = side_in(config, {{"patch_size"}}, 14);
  vision.convolution(hidden, patch_elements(config, config.size_or({{"num_channels"}}, 3), patch), false);
  vision.table(checked_add(tokens, checked_mul(rows, tokens)), hidden);
  vision.table(2 * std::uint64_t{rows}, hidden);
  vision.vectors(1, 3 + 2 * global);
  vision.encoder(shape,
                 {"vision_model.transformer.layers.0.self_attn.q_proj|"
                  "vision_model.transformer.layers.0.self_attn.k_proj|"
                  "vision_model.transformer.layers.0.self_attn.v_proj",
                  "vision_model.transformer.layers.0.self_attn.o_proj",
                  "vision_model.transformer.layers.0.mlp.fc1", "vision_model.transformer.layers.0.mlp.fc2"});
  vision.vectors(hidden, 1 + 2 * 2);
  vision.whole(text.hidden_size, config.size_or({{"vision_output_dim"}}, 7680), true,
               "multi_modal_projector");
}

/// What the cross-attention layers keep of an image: (image / patch)² + 1 tokens of each tile. It takes one
/// token of the text.
[[nodiscard]] inline image_tokens mllama_image_tokens(const config_view& root) {
  const auto described = root.find({{"vision_config"}});
  if (!described) return {};
  const config_view config = root.nested(*described);
  const std::uint64_t tile = mllama_tile_tokens(config);
  config.note("an image takes one token of the text; its own tokens are kept by the cross-attention layers");
  return {tile, checked_mul(tile, config.size_or({{"max_num_tiles"}}, 4))};
}

}  // namespace kvbudget::inline v0::detail
