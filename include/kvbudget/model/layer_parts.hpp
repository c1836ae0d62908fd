#pragma once

#include <cstdint>

#include "kvbudget/model/model_architecture.hpp"

/// The weights of the usual parts of a decoder layer, for the templated builders and for the readers of
/// config files alike. Nothing here checks its arguments; `add_layers` does.
namespace kvbudget::inline v0::detail {

/// Grouped-query attention: query, key, value and output projections, (2 x heads + 2 x KV heads) x head_dim x
/// hidden elements in all.
constexpr void add_attention_weights(layer_kind& layer, std::uint32_t hidden, std::uint32_t query_heads,
                                     std::uint32_t kv_heads, std::uint32_t head_dim) {
  layer.num_attention_heads = query_heads;
  layer.query_dim = head_dim;
  layer.value_dim = head_dim;
  layer.key_value_heads = kv_heads;
  layer.add(weight_groups::by_rows(module_role::attention, std::uint64_t{query_heads} * head_dim, hidden,
                                   query_heads));
  layer.add(weight_groups::kv_projection(kv_heads, head_dim, hidden));
  layer.add(weight_groups::by_columns(module_role::attention, hidden, query_heads * head_dim, query_heads));
}

/// The biases of query, key and value projections of the attention that the layer already has.
constexpr void add_qkv_biases(layer_kind& layer) {
  const std::uint64_t query_width = std::uint64_t{layer.num_attention_heads} * layer.query_dim;
  const std::uint64_t kv_width = std::uint64_t{layer.key_value_heads} * layer.query_dim;
  layer.add(weight_groups::split_bias(module_role::attention, query_width, layer.num_attention_heads));
  layer.add(weight_groups::split_bias(module_role::attention, kv_width, layer.key_value_heads,
                                      shard_rule::kv_heads, 2));
}

/// An MLP: up and down projections, and a gate projection where it is gated.
constexpr void add_mlp_weights(layer_kind& layer, std::uint32_t hidden, std::uint32_t intermediate,
                               bool gated) {
  layer.intermediate_size = intermediate;
  layer.gated_mlp = gated;
  layer.add(weight_groups::by_rows(module_role::mlp, intermediate, hidden, intermediate, gated ? 2 : 1));
  layer.add(weight_groups::by_columns(module_role::mlp, hidden, intermediate, intermediate));
}

/// The biases of every projection of the MLP that the layer already has.
constexpr void add_mlp_biases(layer_kind& layer, std::uint32_t hidden) {
  const auto intermediate = static_cast<std::uint32_t>(layer.intermediate_size);
  layer.add(weight_groups::split_bias(module_role::mlp, intermediate, intermediate, shard_rule::tensor,
                                      layer.gated_mlp ? 2 : 1));
  layer.add(weight_groups::vectors(module_role::mlp, hidden));
}

}  // namespace kvbudget::inline v0::detail
