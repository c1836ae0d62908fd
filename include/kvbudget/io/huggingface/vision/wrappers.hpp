#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kvbudget/io/huggingface/vision/built_in.hpp"
#include "kvbudget/io/huggingface/vision/encoders.hpp"
#include "kvbudget/io/huggingface/vision/qwen_vl.hpp"
#include "kvbudget/io/huggingface/vision/tower.hpp"

/// Vision encoders in front of a text model: LLaVA, Mistral 3, Idefics 3, InternVL, GLM-4V. A projector turns
/// h into the text model's hidden size H.
namespace kvbudget::inline v0::detail {

// ---- LLaVA ------------------------------------------------------------------------------------------------

/// LLaVA's own form: the text model's keys stand at the top, and `mm_vision_tower` names the encoder. The
/// one that is counted is OpenAI's ViT-L/14 at 336 pixels. Source: haotian-liu/LLaVA
/// llava/model/llava_arch.py, llava/model/multimodal_projector/builder.py.
inline void add_original_llava_towers(const config_view& root, const decoder_shape& text,
                                      model_builder& builder) {
  const auto named = root.find({{"mm_vision_tower"}});
  if (!named) return root.doubt("mm_vision_tower is absent: only the rest of the model is counted");
  const auto projector = root.find({{"mm_projector_type"}});
  const std::string type = projector ? projector->text() : "linear";
  if (named->text().find("clip-vit-large-patch14-336") == std::string::npos ||
      (type != "linear" && type != "mlp2x_gelu")) {
    return note_uncounted_tower(root, builder,
                                "vision tower \"" + printable(named->text(), 60) + "\" with projector \"" +
                                    printable(type, 40) + "\"");
  }
  const config_view config =
      root.nested(json_field(clip_vit_large(), root.field().source(), "mm_vision_tower"));
  const encoded_image encoded =
      add_clip(config, builder,
               {"model.vision_tower.vision_tower.vision_model.encoder.layers.0.self_attn.q_proj|"
                "model.vision_tower.vision_tower.vision_model.encoder.layers.0.self_attn.k_proj|"
                "model.vision_tower.vision_tower.vision_model.encoder.layers.0.self_attn.v_proj",
                "model.vision_tower.vision_tower.vision_model.encoder.layers.0.self_attn.out_proj",
                "model.vision_tower.vision_tower.vision_model.encoder.layers.0.mlp.fc1",
                "model.vision_tower.vision_tower.vision_model.encoder.layers.0.mlp.fc2"});
  const tower vision(config, builder, module_role::vision);
  if (type == "linear") {
    vision.whole(text.hidden_size, encoded.hidden_size, true, "model.mm_projector");
  } else {
    add_two_layer_projector(vision, encoded.hidden_size, text.hidden_size, true, "model.mm_projector.0",
                            "model.mm_projector.2");
  }
  const auto merge = root.find({{"mm_patch_merge_type"}});
  if (merge && merge->text().find("unpad") != std::string::npos) vision.vectors(text.hidden_size);
}

/// An encoder and two linear layers, h × H and H × H; `vision_feature_layer` may be a list, whose layers'
/// features lie side by side; LLaVA-NeXT and OneVision have a vector of H for line ends. Source:
/// huggingface/transformers models/llava/modeling_llava.py (LlavaMultiModalProjector),
/// models/llava_next/modeling_llava_next.py.
inline void add_llava(const config_view& root, const decoder_shape& text, model_builder& builder,
                      const char* usual_encoder, bool line_ends) {
  if (!root.find({{"vision_config"}}) && root.find({{"mm_vision_tower"}})) {
    return add_original_llava_towers(root, text, builder);
  }
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const auto encoded = add_vision_encoder(config, builder, usual_encoder);
  if (!encoded) return;
  std::uint32_t features = 1;
  if (const auto layer = root.find({{"vision_feature_layer"}}); layer && layer->value().is_array()) {
    if (layer->size() == 0 || layer->size() > max_layers) layer->refuse("must have at least one entry");
    features = static_cast<std::uint32_t>(layer->size());
  }
  const tower projector(config, builder, module_role::vision);
  add_two_layer_projector(projector,
                          size_product(root, "vision_feature_layer", features, encoded->hidden_size),
                          text.hidden_size, root.flag({"multimodal_projector_bias", true}),
                          "multi_modal_projector.linear_1", "multi_modal_projector.linear_2");
  if (line_ends) projector.vectors(text.hidden_size);
}
inline void add_llava_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  add_llava(root, text, builder, "clip_vision_model", false);
}
inline void add_llava_next_towers(const config_view& root, const decoder_shape& text,
                                  model_builder& builder) {
  add_llava(root, text, builder, "clip_vision_model", true);
}
inline void add_llava_onevision_towers(const config_view& root, const decoder_shape& text,
                                       model_builder& builder) {
  add_llava(root, text, builder, "siglip_vision_model", true);
}

/// Pixtral by size: `size / (patch · merge)` tokens a side, and one after each row; up to `image_size`.
/// Source: huggingface/transformers models/pixtral/processing_pixtral.py.
[[nodiscard]] inline image_tokens pixtral_image_tokens(const config_view& config, std::uint32_t merge) {
  const std::uint64_t patch = std::uint64_t{side_in(config, {{"patch_size"}}, 16)} * merge;
  const std::uint64_t image = side_in(config, {{"image_size"}}, 1024);
  const std::uint64_t side = image / patch + (image % patch == 0 ? 0 : 1);
  return {2, checked_mul(side, side + 1)};
}

/// (image / p)² of CLIP or SigLIP; CLIP's class token counts with `vision_feature_select_strategy` "full".
[[nodiscard]] inline image_tokens llava_image_tokens(const config_view& root) {
  const auto described = root.find({{"vision_config"}});
  if (!described) return {};
  const config_view config = root.nested(*described);
  const auto type = config.find({{"model_type"}});
  if (type && type->text() == "pixtral") return pixtral_image_tokens(config, 1);
  const bool siglip = type && type->text() == "siglip_vision_model";
  if (type && !siglip && type->text() != "clip_vision_model") return {};
  const std::uint32_t side = patches_per_side(config, side_in(config, {{"image_size"}}, 224),
                                              side_in(config, {{"patch_size"}}, siglip ? 16 : 32));
  const auto strategy = root.find({{"vision_feature_select_strategy"}});
  const bool full = strategy && strategy->text() == "full";
  const std::uint64_t tokens = std::uint64_t{squared(config, "patches", side)} + (full && !siglip ? 1 : 0);
  return {tokens, tokens};
}

/// LLaVA-NeXT: the whole image in small, and the image in the largest of `image_grid_pinpoints`, a token more
/// after each row of patches. OneVision shrinks that to `anyres_max_N`: at most N times as many patches as
/// the small one has. Source: huggingface/transformers models/llava_next/processing_llava_next.py,
/// models/llava_onevision/processing_llava_onevision.py.
[[nodiscard]] inline image_tokens llava_next_image_tokens(const config_view& root) {
  const image_tokens small = llava_image_tokens(root);
  const auto points = root.find({{"image_grid_pinpoints"}});
  if (small.most == 0 || !points || !points->value().is_array()) return {small.least, 0};
  const config_view config = root.nested(*root.find({{"vision_config"}}));
  const std::uint64_t patch = side_in(config, {{"patch_size"}}, 14);
  std::uint64_t most_patches = 0;  // 0 = no bound
  if (const auto ratio = root.find({{"vision_aspect_ratio"}})) {
    const std::string& text = ratio->text();
    const std::string_view known = "anyres_max_";
    if (text.starts_with(known) && text.size() == known.size() + 1 && text.back() >= '1') {
      most_patches = static_cast<std::uint64_t>(text.back() - '0') * small.least;
    }
  }
  std::uint64_t most = 0;
  const std::size_t count = std::min<std::size_t>(points->size(), 1024);
  for (std::size_t i = 0; i < count; ++i) {
    const json_field point = points->at(i);
    if (point.size() != 2) point.refuse("must have two entries");
    std::uint64_t rows = config_view::size_in(point.at(std::size_t{0})) / patch;
    std::uint64_t columns = config_view::size_in(point.at(std::size_t{1})) / patch;
    if (rows == 0 || columns == 0) continue;
    if (most_patches != 0) {
      const double shrink = std::sqrt(static_cast<double>(rows) * static_cast<double>(columns) /
                                      static_cast<double>(most_patches));
      if (shrink > 1.1) {
        rows = static_cast<std::uint64_t>(static_cast<double>(rows) / shrink);
        columns = static_cast<std::uint64_t>(static_cast<double>(columns) / shrink);
      }
    }
    most = std::max(most, checked_mul(rows, columns + 1));
  }
  return {small.least, checked_add(small.most, most)};
}

// ---- Mistral 3 --------------------------------------------------------------------------------------------

/// Pixtral, and a projector: a norm of h, a merger of m²·h × h, h × H and H × H. 438,958,080 elements for
/// Mistral-Small-3.1-24B. Source: huggingface/transformers models/mistral3/modeling_mistral3.py.
inline void add_mistral3_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  if (!root.find({{"vision_config"}}) && !root.find({{"text_config"}})) return;  // a text model by itself
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const auto encoded = add_vision_encoder(config, builder, "pixtral");
  if (!encoded) return;
  const std::uint32_t hidden = encoded->hidden_size;
  const std::uint32_t merge = root.size_or({{"spatial_merge_size"}}, 2);
  const tower projector(config, builder, module_role::vision);
  projector.vectors(hidden);
  projector.whole(hidden,
                  size_product(root, "spatial_merge_size^2 x hidden size",
                               squared(root, "spatial_merge_size", merge), hidden),
                  false, "multi_modal_projector.patch_merger.merging_layer");
  add_two_layer_projector(projector, hidden, text.hidden_size,
                          root.flag({"multimodal_projector_bias", false}), "multi_modal_projector.linear_1",
                          "multi_modal_projector.linear_2");
}

[[nodiscard]] inline image_tokens mistral3_image_tokens(const config_view& root) {
  const auto described = root.find({{"vision_config"}});
  if (!described) return {};
  return pixtral_image_tokens(root.nested(*described), root.size_or({{"spatial_merge_size"}}, 2));
}

// ---- Idefics 3, SmolVLM -----------------------------------------------------------------------------------

/// A SigLIP without pooling, and one linear layer of s²·h × H behind a pixel shuffle by s = `scale_factor`.
/// Source: huggingface/transformers models/idefics3/modeling_idefics3.py, models/smolvlm/modeling_smolvlm.py.
inline void add_idefics3_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const encoded_image encoded = add_siglip(
      config, builder, {.hidden_size = 1152, .intermediate_size = 3072, .layers = 12, .heads = 16}, 224, 32,
      false,
      {"model.vision_model.encoder.layers.0.self_attn.q_proj|"
       "model.vision_model.encoder.layers.0.self_attn.k_proj|"
       "model.vision_model.encoder.layers.0.self_attn.v_proj",
       "model.vision_model.encoder.layers.0.self_attn.out_proj",
       "model.vision_model.encoder.layers.0.mlp.fc1", "model.vision_model.encoder.layers.0.mlp.fc2"});
  const std::uint32_t scale = root.size_or({{"scale_factor"}}, 2);
  const tower projector(config, builder, module_role::vision);
  projector.whole(text.hidden_size,
                  size_product(root, "scale_factor^2 x hidden size", squared(root, "scale_factor", scale),
                               encoded.hidden_size),
                  false, "model.connector.modality_projection.proj");
}

/// Tokens of one tile; into how many an image is cut is up to the image processor.
[[nodiscard]] inline image_tokens tokens_of_tile(const config_view& config, std::uint64_t tokens) {
  config.note("tokens of an image: " + std::to_string(tokens) + " for each tile");
  return {tokens, 0};
}

[[nodiscard]] inline image_tokens idefics3_image_tokens(const config_view& root) {
  const auto described = root.find({{"vision_config"}});
  if (!described) return {};
  const config_view config = root.nested(*described);
  const std::uint32_t side =
      patches_per_side(config, side_in(config, {{"image_size"}}, 224), side_in(config, {{"patch_size"}}, 32));
  const std::uint32_t scale = root.size_or({{"scale_factor"}}, 2);
  return tokens_of_tile(
      config, std::uint64_t{squared(config, "patches", side)} / squared(root, "scale_factor", scale));
}

// ---- InternVL ---------------------------------------------------------------------------------------------

/// 1 / `downsample_ratio`, a whole number (two patches a side are merged, as published).
[[nodiscard]] inline std::uint32_t intern_merge(const config_view& root) {
  const auto ratio = root.find({{"downsample_ratio"}});
  if (!ratio) return 2;
  const double value = ratio->value().is_number() ? ratio->value().get<double>() : 0.0;
  for (const std::uint32_t merge : {1u, 2u, 4u, 8u}) {
    if (value * merge == 1.0) return merge;
  }
  ratio->refuse("must be 1, 0.5, 0.25 or 0.125");
}

/// InternViT, and a norm of m²·h, m²·h × H and H × H, all with biases. Source: OpenGVLab/InternVL
/// internvl_chat/internvl/model/internvl_chat/modeling_internvl_chat.py (mlp1);
/// huggingface/transformers models/internvl/modeling_internvl.py (InternVLMultiModalProjector).
inline void add_internvl(const config_view& root, const decoder_shape& text, model_builder& builder,
                         bool original) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const encoded_image encoded = add_intern_vit(config, builder, original);
  const std::uint32_t merge = intern_merge(root);
  const std::uint32_t merged =
      size_product(root, "merged patches x hidden size", merge * merge, encoded.hidden_size);
  const tower projector(config, builder, module_role::vision);
  projector.vectors(merged, 2);
  add_two_layer_projector(projector, merged, text.hidden_size, true,
                          original ? "mlp1.1" : "multi_modal_projector.linear_1",
                          original ? "mlp1.3" : "multi_modal_projector.linear_2");
}
inline void add_internvl_chat_towers(const config_view& root, const decoder_shape& text,
                                     model_builder& builder) {
  add_internvl(root, text, builder, true);
}
inline void add_internvl_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  add_internvl(root, text, builder, false);
}

/// (image / p / m)² tokens for each tile; the original's `max_dynamic_patch` bounds the tiles, a thumbnail
/// comes on top with `use_thumbnail`.
[[nodiscard]] inline image_tokens internvl_image_tokens(const config_view& root) {
  const auto described = root.find({{"vision_config"}});
  if (!described) return {};
  const config_view config = root.nested(*described);
  const std::uint32_t image = root.find({{"force_image_size"}}) ? root.size({{"force_image_size"}})
                                                                : side_in(config, {{"image_size"}}, 448);
  const std::uint32_t side = patches_per_side(config, image, side_in(config, {{"patch_size"}}, 14));
  const std::uint32_t merge = intern_merge(root);
  const std::uint64_t tile = std::uint64_t{squared(config, "patches", side)} / (merge * merge);
  if (!root.find({{"max_dynamic_patch"}})) return tokens_of_tile(config, tile);
  std::uint64_t tiles = root.size({{"max_dynamic_patch"}});
  if (tiles > 1 && root.flag({"use_thumbnail", false})) ++tiles;
  return {tile, checked_mul(tile, tiles)};
}

// ---- GLM-4V -----------------------------------------------------------------------------------------------

/// GLM-4.1V and 4.5V: patches in two frames, positions (image / p)²·h, norms without biases, MLPs as wide as
/// the text model; a merging convolution 4·h × out, a merger of out × out, a norm of out and a gated MLP.
/// Elements: patches 2·3·p²·h + h, two norms of h, each layer 4·h² + 2·h + 3·h·out; 4·h·out + out; out² +
/// 2·out + 3·out·I. Source: huggingface/transformers models/glm4v/modeling_glm4v.py, Glm4vVisionModel.
inline void add_glm4v_towers(const config_view& root, const decoder_shape&, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower vision(config, builder, module_role::vision);
  const bool biases = config.flag({"attention_bias", false});
  const std::uint32_t out = config.size_or({{"out_hidden_size"}}, 4096);
  const tower_shape shape{.hidden_size = config.size_or({{"hidden_size"}}, 1536),
                          .intermediate_size = out,
                          .layers = tower_layers_in(config, {{"depth"}}, 24),
                          .heads = config.size_or({{"num_heads"}}, 12),
                          .qkv_biases = biases,
                          .output_bias = false,
                          .gated_mlp = true,
                          .mlp_biases = false,
                          .vectors_per_norm = 1};
  const std::uint32_t hidden = shape.hidden_size;
  const qwen_vision_sizes sizes = qwen_sizes_in(config, hidden, out, 14);
  const std::uint32_t side =
      patches_per_side(config, side_in(config, {{"image_size"}}, 336), side_in(config, {{"patch_size"}}, 14));
  vision.convolution(hidden, sizes.patch, true);
  vision.table(squared(config, "patches", side), hidden);
  vision.encoder(shape, {"model.visual.blocks.0.attn.qkv", "model.visual.blocks.0.attn.proj",
                         "model.visual.blocks.0.mlp.gate_proj|model.visual.blocks.0.mlp.up_proj",
                         "model.visual.blocks.0.mlp.down_proj"});
  vision.vectors(hidden, 2);
  vision.convolution(out, sizes.merged, true);
  vision.whole(out, out, false, "model.visual.merger.proj");
  vision.vectors(out, 2);
  const std::uint32_t inner = config.size_or({{"intermediate_size"}}, 13696);
  vision.wide(inner, out, false, "model.visual.merger.gate_proj|model.visual.merger.up_proj", 2);
  vision.narrow(out, inner, false, "model.visual.merger.down_proj");
}

// ---- MiniMax-M3 -------------------------------------------------------------------------------------------

/// CLIP's layers over patches of two frames, with a norm before them, none after, and no positions; h × W and
/// W × W on each patch, then m²·W × H and H × H on merged ones. Elements: patches 3·t·p²·h, 2·h, layers;
/// h·W + W + W² + W; m²·W·H + H + H² + H. Source: huggingface/transformers
/// models/minimax_m3_vl/modeling_minimax_m3_vl.py, MiniMaxM3VLVisionModel, MiniMaxM3VLMultiModalProjector.
inline void add_minimax_m3_towers(const config_view& root, const decoder_shape& text,
                                  model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower vision(config, builder, module_role::vision);
  const tower_shape shape = plain_encoder_in(config, {});
  const std::uint32_t hidden = shape.hidden_size;
  config_view merging = config;
  if (const auto nested = config.find({{"img_token_compression_config"}})) merging = config.nested(*nested);
  const std::uint32_t frames = merging.size_or({{"temporal_patch_size"}}, 2);
  const std::uint32_t merge = merging.size_or({{"spatial_merge_size"}}, 2);
  const std::uint32_t patch = side_in(config, {{"patch_size"}}, 14);
  const std::uint32_t width =
      root.find({{"projector_hidden_size"}}) ? root.size({{"projector_hidden_size"}}) : text.hidden_size;
  const bool biases = root.flag({"multimodal_projector_bias", true});
  vision.convolution(hidden, patch_elements(config, config.size_or({{"num_channels"}}, 3), patch, frames),
                     false);
  vision.vectors(hidden, 2);
  vision.encoder(shape, vision_tower_modules);
  add_two_layer_projector(vision, hidden, width, biases, "multi_modal_projector.linear_1",
                          "multi_modal_projector.linear_2");
  const std::uint32_t merged = size_product(config, "spatial_merge_size^2 x projector_hidden_size",
                                            squared(config, "spatial_merge_size", merge), width);
  add_two_layer_projector(vision, merged, text.hidden_size, biases, "patch_merge_mlp.linear_1",
                          "patch_merge_mlp.linear_2");
}

// ---- LFM2-VL ----------------------------------------------------------------------------------------------

/// SigLIP 2 over patches of any image (as many positions as `num_patches`), and s²·h × P and P × H behind a
/// norm of s²·h (`projector_use_layernorm`). Source: huggingface/transformers
/// models/lfm2_vl/modeling_lfm2_vl.py, models/siglip2/modeling_siglip2.py.
inline void add_lfm2_vl_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower vision(config, builder, module_role::vision);
  const tower_shape shape =
      plain_encoder_in(config, {.hidden_size = 768, .intermediate_size = 3072, .layers = 12, .heads = 12});
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t patch = side_in(config, {{"patch_size"}}, 16);
  vision.convolution(hidden, patch_elements(config, config.size_or({{"num_channels"}}, 3), patch), true);
  vision.table(config.size_or({{"num_patches"}}, 256), hidden);
  vision.encoder(shape, vision_tower_modules);
  vision.vectors(hidden, 2);
  const std::uint32_t scale = root.size_or({{"downsample_factor"}}, 2);
  const std::uint32_t merged = size_product(root, "downsample_factor^2 x hidden size",
                                            squared(root, "downsample_factor", scale), hidden);
  const std::uint32_t width = root.size_or({{"projector_hidden_size"}}, 2560);
  const bool biases = root.flag({"projector_bias", true});
  if (root.flag({"projector_use_layernorm", true})) vision.vectors(merged, 2);
  vision.wide(width, merged, biases, "multi_modal_projector.linear_1");
  vision.narrow(text.hidden_size, width, biases, "multi_modal_projector.linear_2");
}

// ---- dots.ocr ---------------------------------------------------------------------------------------------

/// Patches with a norm, gated MLPs, norms without biases; a merger like Qwen2-VL's. Elements: patches
/// 3·t·p²·h
/// + h, two norms of h, each layer 4·h² + 3·h·I + 2·h; 2·h + M² + M + M·H + H. 1,262,091,264 as published.
/// Source: rednote-hilab/dots.ocr modeling_dots_vision.py.
inline void add_dots_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower vision(config, builder, module_role::vision);
  const bool biases = config.flag({"use_bias", false});
  tower_shape shape = plain_encoder_in(config, {.hidden_size = 1536,
                                                .intermediate_size = 4224,
                                                .layers = 42,
                                                .heads = 12,
                                                .gated_mlp = true,
                                                .vectors_per_norm = 1});
  shape.qkv_biases = shape.output_bias = shape.mlp_biases = biases;
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t patch = side_in(config, {{"patch_size"}}, 14);
  const std::uint32_t merge = config.size_or({{"spatial_merge_size"}}, 2);
  const std::uint32_t frames = config.size_or({{"temporal_patch_size"}}, 1);
  const std::uint32_t merged = size_product(config, "spatial_merge_size^2 x hidden size",
                                            squared(config, "spatial_merge_size", merge), hidden);
  vision.convolution(hidden, patch_elements(config, config.size_or({{"num_channels"}}, 3), patch, frames),
                     true);
  vision.vectors(hidden, config.flag({"post_norm", true}) ? 2 : 1);
  vision.encoder(shape, {"vision_tower.blocks.0.attn.qkv", "vision_tower.blocks.0.attn.proj",
                         "vision_tower.blocks.0.mlp.fc1|vision_tower.blocks.0.mlp.fc3",
                         "vision_tower.blocks.0.mlp.fc2"});
  vision.vectors(hidden, 2);
  vision.wide(merged, merged, true, "vision_tower.merger.mlp.0");
  vision.narrow(text.hidden_size, merged, true, "vision_tower.merger.mlp.2");
}

// ---- MiniCPM-V --------------------------------------------------------------------------------------------

/// MiniCPM-V's text model: Llama's in 2.5 and 4.0, Qwen2's in 2.6, Qwen3's in 4.5.
[[nodiscard]] inline const char* minicpmv_text_model(const config_view& root) {
  const auto version = root.find({{"version"}});
  if (!version) root.refuse_missing({{"version"}});
  double number = 0;
  if (version->value().is_number()) {
    number = version->value().get<double>();
  } else if (version->text().size() == 3 && version->text()[1] == '.') {
    number = (version->text()[0] - '0') + (version->text()[2] - '0') / 10.0;
  }
  if (number == 2.5 || number == 4.0) return "llama";
  if (number == 2.6) return "qwen2";
  if (number == 4.5) return "qwen3";
  version->refuse("must be 2.5, 2.6, 4.0 or 4.5: the text model of others is not known");
}

/// A SigLIP without pooling, and a resampler into `query_num` tokens: queries q·H, keys and values h × H, an
/// attention of 4·(H² + H), three norms of 2·H, H × H. Source: openbmb/MiniCPM-V-2_6 resampler.py,
/// modeling_minicpmv.py.
inline void add_minicpmv_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower vision(config, builder, module_role::vision);
  tower_shape usual{.hidden_size = 1152, .intermediate_size = 4304, .layers = 27, .heads = 16};
  tower_shape shape = plain_encoder_in(config, usual);
  if (root.flag({"drop_vision_last_layer", false})) {
    if (shape.layers == 1) config.refuse("num_hidden_layers must be at least 2 where the last is dropped");
    --shape.layers;
  }
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t side =
      patches_per_side(config, side_in(config, {{"image_size"}}, 980), side_in(config, {{"patch_size"}}, 14));
  vision.convolution(
      hidden,
      patch_elements(config, config.size_or({{"num_channels"}}, 3), side_in(config, {{"patch_size"}}, 14)),
      true);
  vision.table(squared(config, "patches", side), hidden, shard_rule::vocabulary);
  vision.encoder(shape, {"vpm.encoder.layers.0.self_attn.q_proj|vpm.encoder.layers.0.self_attn.k_proj|"
                         "vpm.encoder.layers.0.self_attn.v_proj",
                         "vpm.encoder.layers.0.self_attn.out_proj", "vpm.encoder.layers.0.mlp.fc1",
                         "vpm.encoder.layers.0.mlp.fc2"});
  vision.vectors(hidden, 2);
  const std::uint32_t width = text.hidden_size;
  vision.table(root.size_or({{"query_num"}}, 64), width);
  vision.whole(width, hidden, false, "resampler.kv_proj");
  vision.whole(width, width, true, "resampler.attn.in_proj", 3);
  vision.whole(width, width, true, "resampler.attn.out_proj");
  vision.whole(width, width, false, "");
  vision.vectors(width, 3 * 2);
}

[[nodiscard]] inline image_tokens minicpmv_image_tokens(const config_view& root) {
  if (!root.find({{"vision_config"}})) return {};
  return tokens_of_tile(root, root.size_or({{"query_num"}}, 64));
}

}  // namespace kvbudget::inline v0::detail
