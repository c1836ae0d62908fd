#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/family.hpp"

/// Encoder–decoders: a decoder whose layers also attend to what an encoder made of its input. A layer keeps
/// keys and values of the decoder's tokens, and of the encoder's. The encoder's weights stand beside the
/// layers.
///
/// Class defaults and biases: huggingface/transformers models/<model_type>/configuration_<model_type>.py and
/// modeling_<model_type>.py.
namespace kvbudget::inline v0::detail {

/// Which projections of an attention have a bias.
struct attention_biases {
  bool queries = false;
  bool keys = false;
  bool values = false;
  bool outputs = false;
};

/// The attention of decoder layers to the encoder's tokens, shaped like their own. How many tokens the
/// encoder yields is the plan's `variant`.
inline void add_cross_attention(layer_draft& layer, std::uint32_t hidden, const layer_plan& plan,
                                const attention_biases& biases) {
  using namespace weight_groups;
  constexpr module_role role = module_role::attention;
  const attention_shape& shape = plan.attention;
  const std::uint32_t width = shape.heads * shape.key_dim;
  layer.add(stores::cross_attention(shape.kv_heads, shape.key_dim, plan.variant));
  put(layer, by_rows(role, width, hidden, shape.heads), "encoder_attn.q_proj");
  put(layer, kv_projection(shape.kv_heads, shape.key_dim, hidden), "encoder_attn.k_proj|encoder_attn.v_proj");
  put(layer, by_columns(role, hidden, width, shape.heads), "encoder_attn.o_proj");
  const std::uint32_t inner =
      (biases.queries ? 1u : 0u) + (biases.keys ? 1u : 0u) + (biases.values ? 1u : 0u);
  if (inner != 0) put(layer, split_bias(role, width, shape.heads, shard_rule::tensor, inner), nullptr);
  if (biases.outputs) put(layer, vectors(role, hidden), nullptr);
}

/// An encoder in plain numbers.
struct encoder_shape {
  std::uint32_t layers = 0;
  std::uint32_t heads = 0;
  std::uint32_t head_dim = 0;
  mlp_shape mlp{};
  attention_biases biases{};
  std::uint64_t position_rows = 0;
  bool embedding_norm = false;
  bool final_norm = true;
  bool audio = false;  ///< weights belong to the audio tower
};

/// The encoder's layers: each attention, MLP and two norms.
inline void add_encoder(model_builder& builder, const decoder_shape& text, const encoder_shape& encoder) {
  using namespace weight_groups;
  const std::uint32_t hidden = text.hidden_size;
  const std::uint32_t layers = encoder.layers;
  const std::uint32_t width = encoder.heads * encoder.head_dim;
  const auto role = [&](module_role usual) { return encoder.audio ? module_role::audio : usual; };
  const module_role attention = role(module_role::attention);
  const module_role mlp = role(module_role::mlp);
  if (encoder.position_rows != 0) {
    builder.add({.rows = encoder.position_rows,
                 .columns = hidden,
                 .role = role(module_role::embedding),
                 .kind = tensor_kind::table});
  }
  builder.add(by_rows(attention, width, hidden, encoder.heads, 3 * layers),
              "encoder.layers.0.self_attn.q_proj|encoder.layers.0.self_attn.k_proj|"
              "encoder.layers.0.self_attn.v_proj");
  builder.add(by_columns(attention, hidden, width, encoder.heads, layers),
              "encoder.layers.0.self_attn.o_proj");
  const attention_biases& biases = encoder.biases;
  const std::uint32_t inner =
      (biases.queries ? 1u : 0u) + (biases.keys ? 1u : 0u) + (biases.values ? 1u : 0u);
  if (inner != 0) {
    builder.add(split_bias(attention, width, encoder.heads, shard_rule::tensor, inner * layers));
  }
  if (biases.outputs) builder.add(vectors(attention, hidden, layers));
  const std::uint32_t wide = encoder.mlp.intermediate_size;
  builder.add(by_rows(mlp, wide, hidden, wide, (encoder.mlp.gated ? 2 : 1) * layers),
              encoder.mlp.gated ? "encoder.layers.0.mlp.gate_proj|encoder.layers.0.mlp.up_proj"
                                : "encoder.layers.0.mlp.up_proj");
  builder.add(by_columns(mlp, hidden, wide, wide, layers), "encoder.layers.0.mlp.down_proj");
  if (encoder.mlp.biases) {
    builder.add(split_bias(mlp, wide, wide, shard_rule::tensor, layers));
    builder.add(vectors(mlp, hidden, layers));
  }
  const std::uint32_t norms =
      2 * layers + (encoder.embedding_norm ? 1u : 0u) + (encoder.final_norm ? 1u : 0u);
  builder.add(vectors(role(module_role::norm), hidden, norms * text.vectors_per_norm));
}

/// As many encoder layers as a model may have layers.
[[nodiscard]] inline std::uint32_t encoder_layers_in(const config_view& config, const key_names& key) {
  const std::uint32_t layers = config.size(key);
  if (layers > max_layers) {
    config.find(key)->refuse("must be at most " + std::to_string(max_layers) + ", not " +
                             std::to_string(layers));
  }
  return layers;
}

/// The encoder that BART's keys describe.
[[nodiscard]] inline encoder_shape encoder_in(const config_view& config, const decoder_shape& text) {
  encoder_shape encoder{.layers = encoder_layers_in(config, {{"encoder_layers"}}),
                        .heads = config.size({{"encoder_attention_heads"}})};
  if (text.hidden_size % encoder.heads != 0) {
    config.refuse("d_model " + std::to_string(text.hidden_size) +
                  " is not a multiple of encoder_attention_heads " + std::to_string(encoder.heads));
  }
  encoder.head_dim = text.hidden_size / encoder.heads;
  encoder.mlp = {.intermediate_size = config.size({{"encoder_ffn_dim"}}), .gated = false, .biases = true};
  encoder.biases = {true, true, true, true};
  return encoder;
}

/// Tokens of the encoder that each sequence keeps keys and values of, laid over every layer.
inline void keep_encoder_tokens(const config_view& config, decoder_shape& shape, std::uint64_t tokens) {
  shape.layer.variant = size_product(config, "encoder tokens", tokens, 1);
  shape.layer.norms = 3;
}

// ---- Whisper ----------------------------------------------------------------------------------------------

/// Whisper: 30 seconds of audio are `max_source_positions` tokens, whatever is said in them. Keys have no
/// bias. Source: huggingface/transformers models/whisper/modeling_whisper.py, WhisperAttention.
inline void adjust_whisper(const config_view& config, decoder_shape& shape) {
  keep_encoder_tokens(config, shape, config.size_or({{"max_source_positions"}}, 1500));
}
inline constexpr attention_biases whisper_biases{.queries = true, .values = true, .outputs = true};
inline void finish_whisper_layer(const decoder_shape& shape, const layer_plan& plan, layer_draft& layer) {
  const attention_shape& attention = plan.attention;
  const std::uint64_t width = std::uint64_t{attention.heads} * attention.key_dim;
  put(layer, weight_groups::split_bias(module_role::attention, width, attention.heads, shard_rule::tensor, 2),
      nullptr);
  add_cross_attention(layer, shape.hidden_size, plan, whisper_biases);
}
/// Two convolutions of three taps make the encoder's tokens from `num_mel_bins` bands.
inline void finish_whisper(const config_view& config, const decoder_shape& shape,
                           const std::vector<layer_plan>& layers, model_builder& builder) {
  const std::uint32_t hidden = shape.hidden_size;
  const auto convolution = [&](const char* what, std::uint32_t channels) {
    builder.add({.rows = hidden,
                 .columns = size_product(config, what, channels, 3),
                 .role = module_role::audio,
                 .kind = tensor_kind::convolution});
  };
  convolution("num_mel_bins", config.size_or({{"num_mel_bins"}}, 80));
  convolution("d_model", hidden);
  builder.add(weight_groups::vectors(module_role::audio, hidden, 2));
  encoder_shape encoder = encoder_in(config, shape);
  encoder.biases = whisper_biases;
  encoder.position_rows = layers.front().variant;
  encoder.audio = true;
  add_encoder(builder, shape, encoder);
}

// ---- BART and its relatives -------------------------------------------------------------------------------

/// BART: positions begin at 2 and the embedding has a norm; the encoder reads at most as many tokens as the
/// decoder. Source: huggingface/transformers models/bart/modeling_bart.py, BartLearnedPositionalEmbedding.
inline void adjust_marian(const config_view& config, decoder_shape& shape) {
  shape.final_norm = false;
  keep_encoder_tokens(config, shape, shape.max_position_embeddings);
  config.note("cross attention is counted for an input of " + std::to_string(shape.layer.variant) +
              " tokens, the most that max_position_embeddings allows");
}
inline void adjust_bart(const config_view& config, decoder_shape& shape) {
  adjust_marian(config, shape);
  shape.embedding_norm = true;
  shape.position_rows = shape.max_position_embeddings + 2;
}
/// mBART: the same with a norm behind the last layer.
/// Source: huggingface/transformers models/mbart/modeling_mbart.py.
inline void adjust_mbart(const config_view& config, decoder_shape& shape) {
  adjust_bart(config, shape);
  shape.final_norm = true;
}
/// Pegasus and M2M-100 (NLLB): positions are computed, the embedding has no norm.
/// Source: huggingface/transformers models/pegasus/modeling_pegasus.py, models/m2m_100/modeling_m2m_100.py.
inline void adjust_pegasus(const config_view& config, decoder_shape& shape) {
  adjust_marian(config, shape);
  shape.final_norm = true;
}
inline void finish_bart_layer(const decoder_shape& shape, const layer_plan& plan, layer_draft& layer) {
  add_cross_attention(layer, shape.hidden_size, plan, {true, true, true, true});
}
inline void finish_bart(const config_view& config, const decoder_shape& shape, const std::vector<layer_plan>&,
                        model_builder& builder) {
  encoder_shape encoder = encoder_in(config, shape);
  encoder.position_rows = shape.position_rows;
  encoder.embedding_norm = shape.embedding_norm;
  encoder.final_norm = shape.final_norm;
  add_encoder(builder, shape, encoder);
}

// ---- T5 ---------------------------------------------------------------------------------------------------

/// Whether the checkpoint holds T5's encoder alone.
[[nodiscard]] inline bool is_t5_encoder(const config_view& config) {
  const auto classes = config.find({{"architectures"}});
  if (!classes || classes->size() == 0) return false;
  return std::string_view(classes->at(std::size_t{0}).text()).ends_with("EncoderModel");
}

/// T5: `feed_forward_proj` beginning with "gated-" has two inner projections. Nothing bounds the encoder's
/// input: what the model was trained on is counted, `n_positions` or 512 tokens.
/// Source: huggingface/transformers models/t5/configuration_t5.py, modeling_t5.py.
inline void adjust_t5(const config_view& config, decoder_shape& shape, bool gated) {
  if (const auto feed_forward = config.find({{"feed_forward_proj"}})) {
    gated = std::string_view(feed_forward->text()).starts_with("gated-");
  } else {
    config.note_default("feed_forward_proj", gated ? "gated-gelu" : "relu");
  }
  shape.layer.mlp.gated = gated;
  if (is_t5_encoder(config)) {
    shape.num_hidden_layers = encoder_layers_in(config, {{"num_layers"}});
    shape.layer.attention.encoder = true;
    shape.has_head = false;
    return;
  }
  keep_encoder_tokens(config, shape, shape.max_position_embeddings);
  config.note("cross attention is counted for an input of " + std::to_string(shape.layer.variant) +
              " tokens, n_positions; relative positions allow any length");
}
inline void adjust_first_t5(const config_view& config, decoder_shape& shape) {
  adjust_t5(config, shape, false);
}
inline void adjust_gated_t5(const config_view& config, decoder_shape& shape) {
  adjust_t5(config, shape, true);
}
inline void finish_t5_layer(const decoder_shape& shape, const layer_plan& plan, layer_draft& layer) {
  if (!plan.attention.encoder) add_cross_attention(layer, shape.hidden_size, plan, {});
}
/// Adds the encoder, and `relative_attention_num_buckets` biases per head for each layer that has its own:
/// the first of encoder and decoder, or all.
inline void finish_t5(const config_view& config, const decoder_shape& shape,
                      const std::vector<layer_plan>& layers, model_builder& builder,
                      bool bias_in_each_layer) {
  const layer_plan& decoder = layers.front();
  std::uint32_t tables = bias_in_each_layer ? shape.num_hidden_layers : 1;
  if (!decoder.attention.encoder) {
    const encoder_shape encoder{.layers = encoder_layers_in(config, {{"num_layers"}}),
                                .heads = decoder.attention.heads,
                                .head_dim = decoder.attention.key_dim,
                                .mlp = decoder.mlp};
    tables += bias_in_each_layer ? encoder.layers : 1;
    add_encoder(builder, shape, encoder);
  }
  builder.add({.rows = decoder.attention.heads,
               .columns = config.size_or({{"relative_attention_num_buckets"}}, 32),
               .copies = tables,
               .units = decoder.attention.heads,
               .role = module_role::attention,
               .kind = tensor_kind::table,
               .rule = shard_rule::tensor});
}
inline void finish_first_t5(const config_view& config, const decoder_shape& shape,
                            const std::vector<layer_plan>& layers, model_builder& builder) {
  finish_t5(config, shape, layers, builder, false);
}
/// UMT5: every layer has relative positions of its own.
/// Source: huggingface/transformers models/umt5/modeling_umt5.py, UMT5LayerSelfAttention.
inline void finish_umt5(const config_view& config, const decoder_shape& shape,
                        const std::vector<layer_plan>& layers, model_builder& builder) {
  finish_t5(config, shape, layers, builder, true);
}

[[nodiscard]] constexpr model_family t5_like(const char* model_type, std::uint32_t vocab_size) {
  return {.model_type = model_type,
          .keys = {.hidden_size = {{"d_model"}},
                   .num_hidden_layers = {{"num_decoder_layers", "num_layers"}},
                   .num_attention_heads = {{"num_heads"}},
                   .num_key_value_heads = {},
                   .head_dim = {{"d_kv"}},
                   .intermediate_size = {{"d_ff"}},
                   .max_position_embeddings = {{"n_positions"}}},
          .defaults = {.vocab_size = vocab_size,
                       .head_dim = 64,
                       .max_position_embeddings = 512,
                       .tie_word_embeddings = true},
          .windows = {.layer_types = false},
          .layer_prefix = "decoder.block.",
          .renames = {{"self_attn.q_proj", "layer.0.SelfAttention.q"},
                      {"self_attn.k_proj", "layer.0.SelfAttention.k"},
                      {"self_attn.v_proj", "layer.0.SelfAttention.v"},
                      {"self_attn.o_proj", "layer.0.SelfAttention.o"},
                      {"encoder_attn.q_proj", "layer.1.EncDecAttention.q"},
                      {"encoder_attn.k_proj", "layer.1.EncDecAttention.k"},
                      {"encoder_attn.v_proj", "layer.1.EncDecAttention.v"},
                      {"encoder_attn.o_proj", "layer.1.EncDecAttention.o"},
                      {"mlp.gate_proj", "layer.2.DenseReluDense.wi_0"},
                      {"mlp.up_proj", "layer.2.DenseReluDense.wi_1"},
                      {"mlp.down_proj", "layer.2.DenseReluDense.wo"},
                      {"model.embed_tokens", "shared"}},
          .adjust = adjust_first_t5,
          .finish_layer = finish_t5_layer,
          .finish_model = finish_first_t5};
}
[[nodiscard]] constexpr model_family mt5_family() {
  model_family family = t5_like("mt5", 250112);
  family.defaults.tie_word_embeddings = false;
  family.adjust = adjust_gated_t5;
  return family;
}
[[nodiscard]] constexpr model_family umt5_family() {
  model_family family = t5_like("umt5", 250112);
  family.adjust = adjust_gated_t5;
  family.finish_model = finish_umt5;
  return family;
}

[[nodiscard]] constexpr model_family bart_like(const char* model_type, std::uint32_t vocab_size,
                                               std::uint64_t positions,
                                               void (*adjust)(const config_view&, decoder_shape&)) {
  return {.model_type = model_type,
          .keys = {.hidden_size = {{"d_model"}},
                   .num_hidden_layers = {{"decoder_layers"}},
                   .num_attention_heads = {{"decoder_attention_heads"}},
                   .num_key_value_heads = {},
                   .head_dim = {},
                   .intermediate_size = {{"decoder_ffn_dim"}}},
          .defaults = {.vocab_size = vocab_size,
                       .max_position_embeddings = positions,
                       .tie_word_embeddings = true},
          .qkv_biases = always,
          .output_bias = always,
          .gated_mlp = false,
          .mlp_biases = always,
          .norm_biases = always,
          .windows = {.layer_types = false},
          .layer_prefix = "model.decoder.layers.",
          .renames = {{"self_attn.o_proj", "self_attn.out_proj"},
                      {"encoder_attn.o_proj", "encoder_attn.out_proj"},
                      {"mlp.up_proj", "fc1"},
                      {"mlp.down_proj", "fc2"},
                      {"model.embed_tokens", "model.shared"},
                      {"encoder.layers.0.self_attn.o_proj", "model.encoder.layers.0.self_attn.out_proj"},
                      {"encoder.layers.0.mlp.up_proj", "model.encoder.layers.0.fc1"},
                      {"encoder.layers.0.mlp.down_proj", "model.encoder.layers.0.fc2"},
                      {"encoder.layers", "model.encoder.layers"}},
          .adjust = adjust,
          .finish_layer = finish_bart_layer,
          .finish_model = finish_bart};
}
[[nodiscard]] constexpr model_family whisper_family() {
  model_family family = bart_like("whisper", 51865, 448, adjust_whisper);
  family.keys.max_position_embeddings = {{"max_target_positions"}};
  family.qkv_biases = {};
  family.learned_positions = true;
  family.renames[4] = {"model.embed_tokens", "model.decoder.embed_tokens"};
  family.finish_layer = finish_whisper_layer;
  family.finish_model = finish_whisper;
  return family;
}

inline constexpr model_family encoder_decoder_families[] = {
    whisper_family(),
    t5_like("t5", 32128),
    mt5_family(),
    umt5_family(),
    bart_like("bart", 50265, 1024, adjust_bart),
    bart_like("mbart", 50265, 1024, adjust_mbart),
    bart_like("marian", 58101, 1024, adjust_marian),
    bart_like("pegasus", 50265, 1024, adjust_pegasus),
    bart_like("m2m_100", 128112, 1024, adjust_pegasus),
};

}  // namespace kvbudget::inline v0::detail
