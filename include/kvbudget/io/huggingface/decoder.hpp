#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface/family.hpp"
#include "kvbudget/io/huggingface/windows.hpp"
#include "kvbudget/model/layer_parts.hpp"
#include "kvbudget/model/model_architecture.hpp"

namespace kvbudget::inline v0::detail {

[[nodiscard]] inline std::uint32_t layers_in(const config_view& config, const key_names& key) {
  const std::uint32_t layers = config.size(key);
  if (layers > max_layers) {
    config.find(key)->refuse("must be at most " + std::to_string(max_layers) + ", not " +
                             std::to_string(layers));
  }
  return layers;
}

/// `head_dim`, else the class default; null and no default mean hidden / heads, which must divide.
[[nodiscard]] inline std::uint32_t head_dim_in(const config_view& config, const model_family& family,
                                               const decoder_shape& shape) {
  const key_names& key = family.keys.head_dim;
  if (const std::optional<json_field> given = config.find(key)) return config_view::size_in(*given);
  if (family.defaults.head_dim != 0 && !config.is_null(key))
    return config.size_or(key, family.defaults.head_dim);
  if (shape.hidden_size % shape.num_attention_heads != 0) {
    config.refuse(std::string(family.keys.hidden_size.usual()) + " " + std::to_string(shape.hidden_size) +
                  " is not a multiple of " + family.keys.num_attention_heads.usual() + " " +
                  std::to_string(shape.num_attention_heads) + ", and there is no head_dim");
  }
  return shape.hidden_size / shape.num_attention_heads;
}

/// `num_key_value_heads`, else the class default; null and no default mean as many as query heads.
[[nodiscard]] inline std::uint32_t kv_heads_in(const config_view& config, const model_family& family,
                                               std::uint32_t query_heads) {
  const key_names& key = family.keys.num_key_value_heads;
  if (key.usual() == nullptr) return query_heads;
  if (const std::optional<json_field> given = config.find(key)) return config_view::size_in(*given);
  if (config.is_null(key)) return query_heads;
  if (family.defaults.num_key_value_heads != 0)
    return config.size_or(key, family.defaults.num_key_value_heads);
  config.note_default(key.usual(), std::to_string(query_heads) + " (as many as query heads)");
  return query_heads;
}

[[nodiscard]] inline std::uint32_t intermediate_size_in(const config_view& config, const model_family& family,
                                                        std::uint32_t hidden_size) {
  const key_names& key = family.keys.intermediate_size;
  const std::uint32_t factor = family.defaults.intermediate_per_hidden;
  if (factor == 0 || config.find(key)) return config.size(key);
  if (hidden_size > UINT32_MAX / factor) {
    config.refuse(std::string(family.keys.hidden_size.usual()) + " must be below 2^32 / " +
                  std::to_string(factor));
  }
  return factor * hidden_size;
}

/// The shape that a config describes, by the rules of its family.
[[nodiscard]] inline decoder_shape shape_of(const config_view& config, const model_family& family) {
  decoder_shape shape;
  shape.hidden_size = config.size(family.keys.hidden_size);
  shape.num_hidden_layers = layers_in(config, family.keys.num_hidden_layers);
  shape.num_attention_heads =
      config.size_or(family.keys.num_attention_heads, family.defaults.num_attention_heads);
  shape.num_key_value_heads = kv_heads_in(config, family, shape.num_attention_heads);
  shape.head_dim = head_dim_in(config, family, shape);
  shape.intermediate_size = intermediate_size_in(config, family, shape.hidden_size);
  shape.vocab_size = config.size_or(family.keys.vocab_size, family.defaults.vocab_size);
  shape.embedding_width = shape.hidden_size;
  const key_names& positions = family.keys.max_position_embeddings;
  if (const std::optional<std::uint64_t> most = config.tokens_in(positions)) {
    shape.max_position_embeddings = *most;
  } else if (family.defaults.max_position_embeddings != 0) {
    shape.max_position_embeddings = family.defaults.max_position_embeddings;
    config.note_default(positions.usual(), std::to_string(shape.max_position_embeddings));
  } else {
    config.note(std::string(positions.usual()) + " is absent: the trained context is unknown");
  }
  if (family.learned_positions) shape.position_rows = shape.max_position_embeddings;
  shape.qkv_biases = config.flag(family.qkv_biases);
  shape.output_bias = config.flag(family.output_bias);
  if (config.flag(family.has_qk_norm)) shape.qk_norm = family.qk_norm;
  shape.gated_mlp = family.gated_mlp;
  shape.mlp_biases = config.flag(family.mlp_biases);
  shape.norms_per_layer = family.norms_per_layer;
  shape.vectors_per_norm = config.flag(family.norm_biases) ? 2 : 1;
  if (family.adjust != nullptr) family.adjust(config, shape);

  if (shape.num_attention_heads % shape.num_key_value_heads != 0) {
    const key_names& kv_key = family.keys.num_key_value_heads;
    const bool assumed = kv_key.usual() != nullptr && !config.find(kv_key);
    config.refuse(std::string(family.keys.num_attention_heads.usual()) + " " +
                  std::to_string(shape.num_attention_heads) + " is not a multiple of " +
                  (kv_key.usual() == nullptr ? "num_kv_heads" : kv_key.usual()) + " " +
                  std::to_string(shape.num_key_value_heads) +
                  (assumed ? ", the class default where the key is absent" : ""));
  }
  if (std::uint64_t{shape.num_attention_heads} * shape.head_dim > UINT32_MAX) {
    config.refuse(std::string(family.keys.num_attention_heads.usual()) + " " +
                  std::to_string(shape.num_attention_heads) + " x head_dim " +
                  std::to_string(shape.head_dim) + " must be below 2^32");
  }
  return shape;
}

/// One layer of the shape, which keeps the last `window` tokens, or all of them if 0.
[[nodiscard]] inline layer_kind layer_of(const decoder_shape& shape, std::uint64_t window) {
  using namespace weight_groups;
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t heads = shape.num_attention_heads;
  const std::uint32_t kv_heads = shape.num_key_value_heads;
  const std::uint32_t dim = shape.head_dim;
  layer_kind layer;
  const store everything = stores::full(kv_heads, dim);
  layer.add(window == 0 ? everything : stores::sliding_window(everything, window));
  add_attention_weights(layer, hidden, heads, kv_heads, dim);
  if (shape.qkv_biases) add_qkv_biases(layer);
  if (shape.output_bias) layer.add(vectors(module_role::attention, hidden));
  switch (shape.qk_norm) {
    case query_key_norm::none: break;
    case query_key_norm::head_dim: layer.add(vectors(module_role::norm, dim, 2)); break;
    case query_key_norm::full_width:
      layer.add(vectors(module_role::norm, std::uint64_t{heads} * dim));
      layer.add(vectors(module_role::norm, std::uint64_t{kv_heads} * dim));
      break;
    case query_key_norm::each_head:
      layer.add(split_bias(module_role::norm, std::uint64_t{heads} * dim, heads));
      layer.add(split_bias(module_role::norm, std::uint64_t{kv_heads} * dim, kv_heads, shard_rule::kv_heads));
      break;
  }
  add_mlp_weights(layer, hidden, shape.intermediate_size, shape.gated_mlp);
  if (shape.mlp_biases) add_mlp_biases(layer, hidden);
  const std::uint32_t norms = shape.norms_per_layer * shape.vectors_per_norm;
  if (norms != 0) layer.add(vectors(module_role::norm, hidden, norms));
  return layer;
}

/// The weights around the layers: embedding, positions, final norm, and a head unless it is the embedding.
inline void add_outer_weights(model_architecture& model, const decoder_shape& shape) {
  using namespace weight_groups;
  model.add(vocabulary_table(module_role::embedding, shape.vocab_size, shape.embedding_width));
  if (shape.position_rows != 0) {
    model.add({.rows = shape.position_rows,
               .columns = shape.hidden_size,
               .role = module_role::embedding,
               .kind = tensor_kind::table});
  }
  const bool projected = shape.embedding_width != shape.hidden_size;
  if (projected) model.add(whole(module_role::embedding, shape.hidden_size, shape.embedding_width));
  if (shape.final_norm && shape.vectors_per_norm != 0) {
    model.add(vectors(module_role::norm, shape.hidden_size, shape.vectors_per_norm));
  }
  if (projected) model.add(whole(module_role::lm_head, shape.embedding_width, shape.hidden_size));
  if (!shape.tie_word_embeddings) {
    model.add(vocabulary_table(module_role::lm_head, shape.vocab_size, shape.embedding_width));
  }
}

/// Fills everything but name, type and dtype.
inline void build_decoder(model_architecture& model, const config_view& config, const model_family& family,
                          const decoder_shape& shape) {
  model.hidden_size = shape.hidden_size;
  model.vocab_size = shape.vocab_size;
  model.max_position_embeddings = shape.max_position_embeddings;
  model.tie_word_embeddings = shape.tie_word_embeddings;
  add_outer_weights(model, shape);
  const std::vector<std::uint64_t> windows =
      windows_of_layers(config, family.windows, shape.num_hidden_layers);
  for (const std::uint64_t window : windows) model.add_layers(layer_of(shape, window));
}

}  // namespace kvbudget::inline v0::detail
