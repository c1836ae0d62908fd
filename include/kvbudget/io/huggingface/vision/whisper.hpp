#pragma once

#include <cstdint>
#include <string>

#include "kvbudget/io/huggingface/vision/tower.hpp"

/// Whisper's encoder before a text model: Qwen2-Audio and Voxtral.
namespace kvbudget::inline v0::detail {

/// Sizes of the encoder under either of the names that are in use.
struct whisper_sizes {
  tower_shape shape{};
  std::uint32_t mel_bins = 0;
  std::uint32_t positions = 0;
};

[[nodiscard]] inline whisper_sizes whisper_in(const config_view& config) {
  return {.shape = {.hidden_size = config.size_or({{"d_model", "hidden_size"}}, 1280),
                    .intermediate_size = config.size_or({{"encoder_ffn_dim", "intermediate_size"}}, 5120),
                    .layers = tower_layers_in(config, {{"encoder_layers", "num_hidden_layers"}}, 32),
                    .heads = config.size_or({{"encoder_attention_heads", "num_attention_heads"}}, 20),
                    .key_bias = false},
          .mel_bins = config.size_or({{"num_mel_bins"}}, 128),
          .positions = config.size_or({{"max_source_positions"}}, 1500)};
}

/// Elements with width d and m mel bins: 3·m·d + d, 3·d² + d, positions·d, layers without a bias of the keys,
/// a norm of 2·d. Source: huggingface/transformers models/whisper/modeling_whisper.py, WhisperEncoder.
inline void add_whisper(const tower& audio, const whisper_sizes& sizes, bool stores_positions = true) {
  const std::uint32_t width = sizes.shape.hidden_size;
  audio.convolution(width, size_product(audio.config(), "num_mel_bins", sizes.mel_bins, 3), true);
  audio.convolution(width, size_product(audio.config(), "hidden size", width, 3), true);
  if (stores_positions) audio.table(sizes.positions, width);
  audio.encoder(sizes.shape, {"audio_tower.layers.0.self_attn.q_proj|audio_tower.layers.0.self_attn.k_proj|"
                              "audio_tower.layers.0.self_attn.v_proj",
                              "audio_tower.layers.0.self_attn.out_proj", "audio_tower.layers.0.fc1",
                              "audio_tower.layers.0.fc2"});
  audio.vectors(width, 2);
}

inline void note_tokens_of_sound(const config_view& config, std::uint32_t tokens) {
  config.note("tokens of 30 seconds of sound: " + std::to_string(tokens));
}

/// Every second position goes through one linear layer with bias. Source: huggingface/transformers
/// models/qwen2_audio/modeling_qwen2_audio.py.
inline void add_qwen2_audio_towers(const config_view& root, const decoder_shape& text,
                                   model_builder& builder) {
  const auto described = tower_described(root, "audio_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower audio(config, builder, module_role::audio);
  const whisper_sizes sizes = whisper_in(config);
  add_whisper(audio, sizes);
  audio.whole(text.hidden_size, sizes.shape.hidden_size, true, "multi_modal_projector.linear");
  note_tokens_of_sound(config, sizes.positions / 2);
}

/// Qwen2.5-Omni: positions are computed; d × out with bias, and two vectors of `out` around a sound. Source:
/// huggingface/transformers models/qwen2_5_omni/modeling_qwen2_5_omni.py, Qwen2_5OmniAudioEncoder.
inline void add_qwen2_5_omni_audio(const config_view& root, model_builder& builder) {
  const auto described = tower_described(root, "audio_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower audio(config, builder, module_role::audio);
  const whisper_sizes sizes = whisper_in(config);
  add_whisper(audio, sizes, false);
  const std::uint32_t out = config.size_or({{"output_dim"}}, 3584);
  audio.whole(out, sizes.shape.hidden_size, true, "thinker.audio_tower.proj");
  audio.vectors(out, 2);
}

/// Qwen3-Omni: three convolutions of 3 × 3 with c filters, whose ⌈mel bins / 8⌉ rows go through c·rows × d
/// without bias; layers with all biases; d × d and d × out with biases. Source: huggingface/transformers
/// models/qwen3_omni_moe/modeling_qwen3_omni_moe.py, Qwen3OmniMoeAudioEncoder.
inline void add_qwen3_omni_audio(const config_view& root, model_builder& builder) {
  const auto described = tower_described(root, "audio_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower audio(config, builder, module_role::audio);
  whisper_sizes sizes = whisper_in(config);
  sizes.shape.key_bias = true;
  const std::uint32_t width = sizes.shape.hidden_size;
  const std::uint32_t filters = config.size_or({{"downsample_hidden_size"}}, 480);
  const std::uint32_t window = size_product(config, "downsample_hidden_size", filters, 9);
  const std::uint32_t rows = sizes.mel_bins / 8 + (sizes.mel_bins % 8 == 0 ? 0 : 1);
  audio.convolution(filters, 9, true);
  audio.convolution(filters, window, true, 2);
  audio.whole(width, size_product(config, "downsample_hidden_size", filters, rows), false,
              "thinker.audio_tower.conv_out");
  audio.encoder(
      sizes.shape,
      {"thinker.audio_tower.layers.0.self_attn.q_proj|thinker.audio_tower.layers.0.self_attn.k_proj|"
       "thinker.audio_tower.layers.0.self_attn.v_proj",
       "thinker.audio_tower.layers.0.self_attn.out_proj", "thinker.audio_tower.layers.0.fc1",
       "thinker.audio_tower.layers.0.fc2"});
  audio.vectors(width, 2);
  audio.whole(width, width, true, "thinker.audio_tower.proj1");
  audio.whole(config.size_or({{"output_dim"}}, 3584), width, true, "thinker.audio_tower.proj2");
}

/// Four positions side by side go through I × H and H × H without biases. Source: huggingface/transformers
/// models/voxtral/modeling_voxtral.py.
inline void add_voxtral_towers(const config_view& root, const decoder_shape& text, model_builder& builder) {
  const auto described = tower_described(root, "audio_config");
  if (!described) return;
  const config_view config = root.nested(*described);
  const tower audio(config, builder, module_role::audio);
  const whisper_sizes sizes = whisper_in(config);
  add_whisper(audio, sizes);
  audio.wide(text.hidden_size, sizes.shape.intermediate_size, false, "multi_modal_projector.linear_1");
  audio.narrow(text.hidden_size, text.hidden_size, false, "multi_modal_projector.linear_2");
  note_tokens_of_sound(config, sizes.positions / 4);
}

}  // namespace kvbudget::inline v0::detail
