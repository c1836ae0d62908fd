#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "kvbudget/io/huggingface/vision/encoders.hpp"
#include "kvbudget/io/huggingface/vision/tower.hpp"

/// The towers of PaliGemma, Gemma 3, 3n and 4.
namespace kvbudget::inline v0::detail {

/// Exactly the tokens that a key of the whole config gives, else the class default; 0 = unknown.
[[nodiscard]] inline image_tokens fixed_image_tokens(const config_view& root, const key_names& key,
                                                     std::uint32_t class_default) {
  if (class_default == 0 && !root.find(key)) return {};
  const std::uint32_t tokens = root.size_or(key, class_default);
  return {tokens, tokens};
}

/// A vision encoder and Gemma-3's projector: h × H and a norm of h. Source: huggingface/transformers
/// models/gemma3/modeling_gemma3.py, Gemma3MultiModalProjector.
inline void add_gemma3_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view vision = root.nested(*described);
  const auto encoded = add_vision_encoder(vision, builder, "siglip_vision_model");
  if (!encoded) return;
  const tower projector(vision, builder, module_role::vision);
  projector.whole(text.hidden_size, encoded->hidden_size, false, "");  // a parameter, not a linear layer
  projector.vectors(encoded->hidden_size);
}

[[nodiscard]] inline image_tokens gemma3_image_tokens(const config_view& root) {
  if (!root.find({{"vision_config"}})) return {};
  return fixed_image_tokens(root, {{"mm_tokens_per_image"}}, 256);
}

/// A vision encoder and one linear layer with bias. Source: huggingface/transformers
/// models/paligemma/modeling_paligemma.py, PaliGemmaMultiModalProjector.
inline void add_paligemma_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view vision = root.nested(*described);
  const auto encoded = add_vision_encoder(vision, builder, "siglip_vision_model");
  if (!encoded) return;
  const tower projector(vision, builder, module_role::vision);
  projector.whole(text.hidden_size, encoded->hidden_size, true, "multi_modal_projector.linear");
}

/// (image / patch)² tokens.
[[nodiscard]] inline image_tokens paligemma_image_tokens(const config_view& root) {
  const auto described = root.find({{"vision_config"}});
  if (!described) return {};
  const config_view vision = root.nested(*described);
  const std::uint32_t side =
      patches_per_side(vision, side_in(vision, {{"image_size"}}, 224), side_in(vision, {{"patch_size"}}, 16));
  const std::uint32_t tokens = squared(vision, "patches", side);
  return {tokens, tokens};
}

/// The sizes of Google's conformer: each layer two feed-forward parts, an attention with relative positions
/// and a short convolution between; two 3 × 3 convolutions with stride 2 before the first.
struct conformer_shape {
  std::uint32_t hidden_size = 0;
  std::uint32_t layers = 0;
  std::uint32_t heads = 0;
  std::uint32_t kernel = 0;
  std::uint32_t channels[2] = {};
  std::uint32_t bands = 0;  ///< of frequencies, behind the convolutions
};

/// Elements with hidden size h, kernel k, channels c0 and c1 and b bands: 9·c0 + 9·c0·c1 + c0 + c1 + b·c1·h;
/// each layer 2·(8·h² + 2·h) + 5·h² + h / heads + 2·h + 3·h² + k·h + 2·h + h. Source:
/// huggingface/transformers models/gemma3n/modeling_gemma3n.py (Gemma3nAudioEncoder) and
/// models/gemma4/modeling_gemma4.py (Gemma4AudioModel).
inline void add_conformer(const tower& audio, const conformer_shape& shape, const char* const (&names)[6]) {
  const config_view& config = audio.config();
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t layers = shape.layers;
  if (hidden % shape.heads != 0) {
    config.refuse("hidden_size " + std::to_string(hidden) + " is not a multiple of " +
                  std::to_string(shape.heads) + " heads");
  }
  const std::uint32_t inner = size_product(config, "hidden_size", hidden, 4);
  const std::uint32_t spectrum =
      size_product(config, "channels of the convolutions", shape.channels[1], shape.bands);
  (void)size_product(config, "layers", layers, 16);
  audio.convolution(shape.channels[0], 9, false);
  audio.convolution(shape.channels[1], size_product(config, "channels", shape.channels[0], 9), false);
  audio.vectors(std::uint64_t{shape.channels[0]} + shape.channels[1]);
  audio.whole(hidden, spectrum, false, names[0]);
  audio.wide(inner, hidden, false, names[1], 2 * layers);
  audio.narrow(hidden, inner, false, names[2], 2 * layers);
  audio.wide(hidden, hidden, false, names[3], 4 * layers, shape.heads);  // queries, keys, values, positions
  audio.narrow(hidden, hidden, false, names[4], 2 * layers);  // of the attention, of the convolution
  audio.wide(2 * hidden, hidden, false, names[5], layers);
  audio.convolution(hidden, shape.kernel, false, layers);
  audio.vectors(hidden / shape.heads, layers);
  audio.vectors(hidden, 9 * layers);
}

inline constexpr const char* gemma4_audio_modules[6] = {
    "model.audio_tower.subsample_conv_projection.input_proj_linear",
    "model.audio_tower.layers.0.feed_forward1.ffw_layer_1.linear",
    "model.audio_tower.layers.0.feed_forward1.ffw_layer_2.linear",
    "model.audio_tower.layers.0.self_attn.q_proj.linear",
    "model.audio_tower.layers.0.self_attn.post.linear",
    "model.audio_tower.layers.0.lconv1d.linear_start.linear"};
inline constexpr const char* gemma3n_audio_modules[6] = {
    "model.audio_tower.subsample_conv_projection.input_proj_linear",
    "model.audio_tower.conformer.0.ffw_layer_start.ffw_layer_1",
    "model.audio_tower.conformer.0.ffw_layer_start.ffw_layer_2",
    "model.audio_tower.conformer.0.attention.attn.q_proj",
    "model.audio_tower.conformer.0.attention.post",
    "model.audio_tower.conformer.0.lconv1d.linear_start"};

/// The channels of the two convolutions before the conformer, a list of two.
inline void read_channels(const config_view& config, const char* key, std::uint32_t (&channels)[2]) {
  const auto given = config.find({{key}});
  if (!given) {
    config.note_default(key, "128 and 32");
    channels[0] = 128;
    channels[1] = 32;
    return;
  }
  if (given->size() != 2) given->refuse("must have two entries, not " + std::to_string(given->size()));
  for (std::size_t i = 0; i < 2; ++i) channels[i] = config_view::size_in(given->at(i));
}

/// Gemma 4's vision encoder: patches without bias, a position table for each of two directions, gated MLPs,
/// norms of queries and keys, four norms per layer; a projection h × H. Bounds of clipped layers (four
/// numbers each) and the vectors of `standardize` are not counted, like the published totals do. Elements
/// for the 31B: 569,548,080 + 1152·H. Source: huggingface/transformers models/gemma4/modeling_gemma4.py,
/// Gemma4VisionModel, Gemma4MultimodalEmbedder.
inline void add_gemma4_vision(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "vision_config");
  if (!described) return;
  const config_view config = root.nested(*described, "gemma4_vision");
  const tower vision(config, builder, module_role::vision);
  tower_shape shape = plain_encoder_in(config, {.hidden_size = 768,
                                                .intermediate_size = 3072,
                                                .layers = 16,
                                                .heads = 12,
                                                .qkv_biases = false,
                                                .output_bias = false,
                                                .gated_mlp = true,
                                                .mlp_biases = false,
                                                .vectors_per_norm = 1,
                                                .norms_per_layer = 4});
  shape.kv_heads = config.size_or({{"num_key_value_heads"}}, 12);
  shape.head_dim = config.size_or({{"head_dim"}}, 64);
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t patch = side_in(config, {{"patch_size"}}, 16);
  const std::uint32_t positions = config.size_or({{"position_embedding_size"}}, 10240);
  vision.convolution(hidden, patch_elements(config, 3, patch), false);
  vision.table(2 * std::uint64_t{positions}, hidden);
  vision.encoder(shape, {"model.vision_tower.encoder.layers.0.self_attn.q_proj.linear|"
                         "model.vision_tower.encoder.layers.0.self_attn.k_proj.linear|"
                         "model.vision_tower.encoder.layers.0.self_attn.v_proj.linear",
                         "model.vision_tower.encoder.layers.0.self_attn.o_proj.linear",
                         "model.vision_tower.encoder.layers.0.mlp.gate_proj.linear|"
                         "model.vision_tower.encoder.layers.0.mlp.up_proj.linear",
                         "model.vision_tower.encoder.layers.0.mlp.down_proj.linear"});
  vision.vectors(shape.head_dim, 2 * shape.layers);
  vision.whole(text.hidden_size, hidden, false, "model.embed_vision.embedding_projection");
}

/// Gemma 4: an audio encoder and a projection out × H beside the vision encoder.
inline void add_gemma4_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  add_gemma4_vision(root, text, builder);
  const auto described = tower_described(root, "audio_config");
  if (!described) return;
  const config_view config = root.nested(*described, "gemma4_audio");
  const tower audio(config, builder, module_role::audio);
  conformer_shape shape{.hidden_size = config.size_or({{"hidden_size"}}, 1024),
                        .layers = tower_layers_in(config, {{"num_hidden_layers"}}, 12),
                        .heads = config.size_or({{"num_attention_heads"}}, 8),
                        .kernel = config.size_or({{"conv_kernel_size"}}, 5)};
  read_channels(config, "subsampling_conv_channels", shape.channels);
  shape.bands = shape.channels[0] / 4;  // as the class has it
  add_conformer(audio, shape, gemma4_audio_modules);
  const std::uint32_t out = config.size_or({{"output_proj_dims"}}, 1536);
  audio.whole(out, shape.hidden_size, true, "model.audio_tower.output_proj");
  audio.whole(text.hidden_size, out, false, "model.embed_audio.embedding_projection");
}

/// As many as the image processor yields; the key stands at the top or in `vision_config`.
[[nodiscard]] inline image_tokens gemma4_image_tokens(const config_view& root) {
  const auto described = root.find({{"vision_config"}});
  if (!described) return {};
  const image_tokens given = fixed_image_tokens(root, {{"vision_soft_tokens_per_image"}}, 0);
  if (given.most != 0) return given;
  return fixed_image_tokens(root.nested(*described), {{"default_output_length", "image_seq_length"}}, 0);
}

/// Gemma 4 without encoders (12B): a patch of pixels is one linear layer with norms and positions, a stretch
/// of sound is projected as it is. Elements with c = 3·(p·k)² per patch and width m: c·m + m, norms of c, m
/// and m with biases, positions 2·P·m, m × H; sound e × H. Source: huggingface/transformers
/// models/gemma4_unified/modeling_gemma4_unified.py, Gemma4UnifiedVisionEmbedder.
inline void add_gemma4_unified_towers(const config_view& root, const decoder_shape& text,
                                      model_builder& builder) {
  if (const auto described = tower_described(root, "vision_config")) {
    const config_view config = root.nested(*described, "gemma4_unified_vision");
    const tower vision(config, builder, module_role::vision);
    const std::uint32_t side =
        size_product(config, "patch_size x pooling_kernel_size", side_in(config, {{"patch_size"}}, 16),
                     config.size_or({{"pooling_kernel_size"}}, 3));
    const std::uint32_t pixels = patch_elements(config, 3, side);
    const std::uint32_t width = config.size_or({{"mm_embed_dim"}}, 3840);
    vision.wide(width, pixels, true, "model.vision_embedder.patch_dense");
    vision.vectors(pixels, 2);
    vision.vectors(width, 2 * 2);
    vision.table(2 * std::uint64_t{config.size_or({{"mm_posemb_size"}}, 1120)}, width);
    vision.whole(text.hidden_size, config.size_or({{"output_proj_dims"}}, 3840), false,
                 "model.embed_vision.embedding_projection");
  }
  if (const auto described = tower_described(root, "audio_config")) {
    const config_view config = root.nested(*described, "gemma4_unified_audio");
    const tower audio(config, builder, module_role::audio);
    audio.whole(text.hidden_size, config.size_or({{"audio_embed_dim"}}, 640), false,
                "model.embed_audio.embedding_projection");
  }
}

/// Gemma 3n's embedding of a tower's tokens: a table of V × h, two norms of h, h × H. Source:
/// huggingface/transformers models/gemma3n/modeling_gemma3n.py, Gemma3nMultimodalEmbedder.
inline void add_gemma3n_embedder(const tower& side, const config_view& config, std::uint32_t hidden,
                                 const decoder_shape& text, const char* module) {
  side.table(config.size_or({{"vocab_size"}}, 128), hidden);
  side.vectors(hidden, 2);
  side.whole(text.hidden_size, hidden, false, module);
}

/// Gemma 3n: MobileNetV5 and a conformer, each with its embedder; a tower that the config does not describe
/// is that of the class. The 294,126,912 elements of `mobilenetv5_300m_enc` (timm) are what remains of the
/// element counts of the published E2B and E4B checkpoints, of both the same.
inline void add_gemma3n_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto tower_of = [&](const char* key, const char* model_type) {
    const auto described = root.find({{key}});
    if (!described) root.doubt(std::string(key) + " is absent: assumed to be that of " + model_type);
    return described;
  };
  static const nlohmann::json nothing = nlohmann::json::object();
  const auto seen = tower_of("vision_config", "Gemma3nVisionConfig");
  const config_view eyes =
      root.nested(seen ? *seen : json_field(nothing, root.field().source()), "gemma3n_vision");
  const tower vision(eyes, builder, module_role::vision);
  const auto architecture = eyes.find({{"architecture"}});
  if (architecture && architecture->text() != "mobilenetv5_300m_enc") {
    note_uncounted_tower(eyes, builder,
                         "vision tower \"" + printable(architecture->text(), 40) + "\" is not known");
  } else {
    vision.assumed(294'126'912);
    eyes.doubt("vision tower mobilenetv5_300m_enc: counted with its published total");
  }
  add_gemma3n_embedder(vision, eyes, eyes.size_or({{"hidden_size"}}, 2048), text,
                       "model.embed_vision.embedding_projection");

  const auto heard = tower_of("audio_config", "Gemma3nAudioConfig");
  const config_view ears =
      root.nested(heard ? *heard : json_field(nothing, root.field().source()), "gemma3n_audio");
  const tower audio(ears, builder, module_role::audio);
  conformer_shape shape{.hidden_size = ears.size_or({{"hidden_size"}}, 1536),
                        .layers = tower_layers_in(ears, {{"conf_num_hidden_layers"}}, 12),
                        .heads = ears.size_or({{"conf_num_attention_heads"}}, 8),
                        .kernel = ears.size_or({{"conf_conv_kernel_size"}}, 5)};
  read_channels(ears, "sscp_conv_channel_size", shape.channels);
  const std::uint32_t frequencies = ears.size_or({{"input_feat_size"}}, 128);
  shape.bands = frequencies / 4 + (frequencies % 4 == 0 ? 0 : 1);
  add_conformer(audio, shape, gemma3n_audio_modules);
  add_gemma3n_embedder(audio, ears, shape.hidden_size, text, "model.embed_audio.embedding_projection");
}

[[nodiscard]] inline image_tokens gemma3n_image_tokens(const config_view& root) {
  return fixed_image_tokens(root, {{"vision_soft_tokens_per_image"}}, 256);
}

}  // namespace kvbudget::inline v0::detail
