#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "kvbudget/io/huggingface/vision/encoders.hpp"
#include "kvbudget/io/huggingface/vision/tower.hpp"
#include "kvbudget/io/huggingface/vision/whisper.hpp"

/// Encoders that a model's code builds in, so that its config says little or nothing about them:
/// Phi-3-Vision, Molmo, DeepSeek-OCR; and those of Qwen-VL and Qwen-Audio, under keys of their own.
namespace kvbudget::inline v0::detail {

/// OpenAI's ViT-L/14 for images of 336 pixels, as `vision_config` would describe it.
[[nodiscard]] inline const nlohmann::json& clip_vit_large() {
  static const nlohmann::json described = {{"hidden_size", 1024},     {"intermediate_size", 4096},
                                           {"num_hidden_layers", 24}, {"num_attention_heads", 16},
                                           {"image_size", 336},       {"patch_size", 14},
                                           {"num_channels", 3}};
  return described;
}

/// Phi-3-Vision: CLIP, 4·c·H + H of four patches side by side, H² + H, and vectors of 4·c for line ends.
/// 325,541,888 elements. Source: microsoft/Phi-3.5-vision-instruct modeling_phi3_v.py, Phi3ImageEmbedding.
inline void add_phi3_vision_towers(const config_view& root, const decoder_shape& text,
                                   model_builder& builder) {
  const auto processor = root.find({{"img_processor"}});
  const std::string name = processor ? root.nested(*processor).field().at("name").text() : "";
  if (name != "clip_vision_model") {
    return note_uncounted_tower(root, builder, "img_processor \"" + printable(name, 40) + "\" is not known");
  }
  const config_view config = root.nested(json_field(clip_vit_large(), root.field().source()));
  const encoded_image encoded =
      add_clip(config, builder,
               {"model.vision_embed_tokens.img_processor.vision_model.encoder.layers.0.self_attn.q_proj|"
                "model.vision_embed_tokens.img_processor.vision_model.encoder.layers.0.self_attn.k_proj|"
                "model.vision_embed_tokens.img_processor.vision_model.encoder.layers.0.self_attn.v_proj",
                "model.vision_embed_tokens.img_processor.vision_model.encoder.layers.0.self_attn.out_proj",
                "model.vision_embed_tokens.img_processor.vision_model.encoder.layers.0.mlp.fc1",
                "model.vision_embed_tokens.img_processor.vision_model.encoder.layers.0.mlp.fc2"});
  const std::uint32_t merged = 4 * encoded.hidden_size;
  const tower projector(config, builder, module_role::vision);
  add_two_layer_projector(projector, merged, text.hidden_size, true,
                          "model.vision_embed_tokens.img_projection.0",
                          "model.vision_embed_tokens.img_projection.2");
  projector.vectors(merged, 2);
}

/// Phi-4-multimodal: towers and adapters of images and sound are part of the checkpoint.
inline void note_phi4_towers(const config_view& root, const decoder_shape&, model_builder& builder) {
  note_uncounted_tower(root, builder, "towers and adapters for images and sound");
}

/// Molmo: the first 23 layers of CLIP without a final norm; features of two layers, of 2·c, are pooled by
/// an attention of c, a pad vector each; a gated MLP of c × I × H as wide as the text model's. 404,950,016
/// elements for 7B-D. Source: allenai/Molmo-7B-D-0924 modeling_molmo.py, OLMoPretrainedVisionBackbone.
inline void add_molmo_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const config_view config = root.nested(json_field(clip_vit_large(), root.field().source()));
  const tower vision(config, builder, module_role::vision);
  constexpr std::uint32_t width = 1024;
  vision.convolution(width, 3 * 14 * 14, false);
  vision.table(24 * 24 + 1, width);
  vision.vectors(width, 1 + 2);
  vision.encoder({.hidden_size = width, .intermediate_size = 4096, .layers = 23, .heads = 16},
                 {"model.vision_backbone.image_vit.transformer.resblocks.0.attention.wq|"
                  "model.vision_backbone.image_vit.transformer.resblocks.0.attention.wk|"
                  "model.vision_backbone.image_vit.transformer.resblocks.0.attention.wv",
                  "model.vision_backbone.image_vit.transformer.resblocks.0.attention.wo",
                  "model.vision_backbone.image_vit.transformer.resblocks.0.feed_forward.w1",
                  "model.vision_backbone.image_vit.transformer.resblocks.0.feed_forward.w2"});
  vision.wide(width, 2 * width, true,
              "model.vision_backbone.image_pooling_2d.wq|model.vision_backbone.image_pooling_2d.wk|"
              "model.vision_backbone.image_pooling_2d.wv",
              3);
  vision.narrow(width, width, true, "model.vision_backbone.image_pooling_2d.wo");
  vision.vectors(std::uint64_t{2} * width, 2);
  const std::uint32_t inner = text.layer.mlp.intermediate_size;
  vision.wide(inner, width, false,
              "model.vision_backbone.image_projector.w1|model.vision_backbone.image_projector.w3", 2);
  vision.narrow(text.hidden_size, inner, false, "model.vision_backbone.image_projector.w2");
}

/// DeepSeek-OCR: SAM's ViT-B at 1024 pixels with relative positions, whose neck shrinks it to 1024 channels;
/// CLIP's ViT-L at 224 pixels behind it; 2048 × H with bias, and vectors of H for line and view ends.
/// Source: deepseek-ai/DeepSeek-OCR deepencoder.py.
inline void add_deepseek_vl2_towers(const config_view& root, const decoder_shape& text,
                                    model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view given = root.nested(*described);
  const auto name = given.find({{"model_name"}});
  if (!name || name->text() != "deeplip_b_l") {
    return note_uncounted_tower(
        given, builder,
        "vision tower \"" + (name ? printable(name->text(), 40) : std::string()) + "\" is not known");
  }
  const tower vision(given, builder, module_role::vision);
  constexpr std::uint32_t sam = 768;
  vision.convolution(sam, 3 * 16 * 16, true);
  vision.table(64 * 64, sam);
  vision.encoder({.hidden_size = sam, .intermediate_size = 4 * sam, .layers = 12, .heads = 12},
                 {"model.sam_model.blocks.0.attn.qkv", "model.sam_model.blocks.0.attn.proj",
                  "model.sam_model.blocks.0.mlp.lin1", "model.sam_model.blocks.0.mlp.lin2"});
  constexpr std::uint32_t head_dim = 64;
  vision.table(std::uint64_t{2} * (2 * 64 - 1) * 4, head_dim);  // 4 layers see all of 64 x 64 patches,
  vision.table(std::uint64_t{2} * (2 * 14 - 1) * 8, head_dim);  // 8 a window of 14 x 14
  vision.convolution(256, sam, false);
  vision.convolution(256, 256 * 9, false);
  vision.vectors(256, 2 * 2);
  vision.convolution(512, 256 * 9, false);
  vision.convolution(1024, 512 * 9, false);
  nlohmann::json clip = clip_vit_large();
  clip["image_size"] = 224;
  const config_view clip_config = root.nested(json_field(clip, root.field().source()));
  const tower behind(clip_config, builder, module_role::vision);
  constexpr std::uint32_t width = 1024;
  behind.convolution(width, 3 * 14 * 14, false);
  behind.table(16 * 16 + 1, width);
  behind.vectors(width, 1 + 2);
  behind.encoder(
      {.hidden_size = width, .intermediate_size = 4096, .layers = 24, .heads = 16},
      {"model.vision_model.transformer.layers.0.self_attn.qkv_proj",
       "model.vision_model.transformer.layers.0.self_attn.out_proj",
       "model.vision_model.transformer.layers.0.mlp.fc1", "model.vision_model.transformer.layers.0.mlp.fc2"});
  behind.wide(text.hidden_size, 2 * width, true, "model.projector.layers");
  behind.vectors(text.hidden_size, 2);
}

/// Qwen-VL (`visual`): patches 3·p²·w, positions of a grid of 16 × 16, a norm, layers; a resampler into
/// `n_queries` tokens: queries and positions q·H, w × H, an attention of 4·(H² + H), three norms of 2·H,
/// H × H. 1,935,610,624 elements. Source: Qwen/Qwen-VL-Chat visual.py.
inline void add_qwen_visual(const config_view& config, model_builder& builder) {
  const tower vision(config, builder, module_role::vision);
  tower_shape shape;
  shape.hidden_size = config.size({{"width"}});
  shape.layers = tower_layers_in(config, {{"layers"}});
  shape.heads = config.size({{"heads"}});
  const std::uint32_t hidden = shape.hidden_size;
  const double inner = config.field().at("mlp_ratio").number() * hidden;
  if (!(inner >= 1 && inner <= UINT32_MAX)) config.refuse("mlp_ratio must give 1 to 2^32 - 1 channels");
  shape.intermediate_size = static_cast<std::uint32_t>(inner);
  const std::uint32_t patch = config.size({{"patch_size"}});
  const std::uint32_t out = config.size({{"output_dim"}});
  const std::uint32_t queries = config.size_or({{"n_queries"}}, 256);
  vision.convolution(hidden, patch_elements(config, 3, patch), false);
  vision.table(16 * 16, hidden);
  vision.vectors(hidden, 2);
  vision.encoder(shape, {"transformer.visual.transformer.resblocks.0.attn.in_proj",
                         "transformer.visual.transformer.resblocks.0.attn.out_proj",
                         "transformer.visual.transformer.resblocks.0.mlp.c_fc",
                         "transformer.visual.transformer.resblocks.0.mlp.c_proj"});
  vision.table(queries, out);
  vision.table(queries, out);
  vision.whole(out, hidden, false, "transformer.visual.attn_pool.kv_proj");
  vision.whole(out, out, true, "transformer.visual.attn_pool.attn.in_proj", 3);
  vision.whole(out, out, true, "transformer.visual.attn_pool.attn.out_proj");
  vision.vectors(out, 3 * 2);
  vision.whole(out, out, false, "");
}

/// Qwen-Audio (`audio`): Whisper's encoder, d × H with bias, and two vectors of H around a sound.
/// 642,039,808 elements. Source: Qwen/Qwen-Audio-Chat audio.py.
inline void add_qwen_audio(const config_view& config, model_builder& builder) {
  const tower audio(config, builder, module_role::audio);
  whisper_sizes sizes;
  sizes.shape.hidden_size = config.size({{"n_state"}});
  sizes.shape.intermediate_size = size_product(config, "n_state", sizes.shape.hidden_size, 4);
  sizes.shape.layers = tower_layers_in(config, {{"n_layer"}});
  sizes.shape.heads = config.size({{"n_head"}});
  sizes.shape.key_bias = false;
  sizes.mel_bins = config.size({{"n_mels"}});
  sizes.positions = config.size({{"n_ctx"}});
  add_whisper(audio, sizes);
  const std::uint32_t out = config.size({{"output_dim"}});
  audio.whole(out, sizes.shape.hidden_size, true, "transformer.audio.proj");
  if (config.flag({"add_audio_bos_eos_token", false})) audio.vectors(out, 2);
}

inline void add_qwen_towers(const config_view& root, const decoder_shape&, model_builder& builder) {
  if (const auto visual = root.find({{"visual"}})) add_qwen_visual(root.nested(*visual), builder);
  if (const auto audio = root.find({{"audio"}})) add_qwen_audio(root.nested(*audio), builder);
}

}  // namespace kvbudget::inline v0::detail
