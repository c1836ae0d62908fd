#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/memory/rank_share.hpp"

namespace kvbudget::inline v0 {

namespace detail {
[[noreturn]] inline void no_matrix_takes_adapters() {
  raise("LoRA: no matrix of known shape belongs to the targeted modules");
}
[[noreturn]] inline void a_lora_rank_cannot_be_split_over_the_ranks(std::uint64_t size, std::uint64_t ranks) {
  raise("LoRA, fully sharded: # cannot be split evenly over # ranks", size, ranks);
}

[[nodiscard]] constexpr std::uint64_t fully_sharded(std::uint64_t size, std::uint64_t parts) {
  if (size % parts != 0) a_lora_rank_cannot_be_split_over_the_ranks(size, parts);
  return size / parts;
}

/// Ranks that share a group's matrices.
[[nodiscard]] constexpr std::uint32_t ranks_of(const weight_group& group, const parallel_layout& layout) {
  if (group.rule == shard_rule::experts) return layout.expert_tensor();
  const bool attention = group.rule == shard_rule::kv_heads || splits_like_attention(group);
  return attention ? layout.attention_tensor() : layout.tensor;
}
}  // namespace detail

/// Elements that one adapter slot takes on a rank for the matrices of one group. Every matrix has factors A
/// (rank x inputs) and B (outputs x rank). Where outputs are split, A is whole on every rank and B is split;
/// where inputs are split, A is split and B whole; what is whole is split too if `fully_sharded` (A by its
/// rank, B by its outputs). Tables and heads are never split. Source: vllm-project/vllm lora/layers
/// (base_linear.py, column_parallel_linear.py, row_parallel_linear.py, fused_moe.py,
/// vocab_parallel_embedding.py, logits_processor.py).
[[nodiscard]] constexpr std::uint64_t lora_elements(const weight_group& group, const deployment& d,
                                                    std::uint32_t experts = 0,
                                                    std::uint32_t expert_rank = 0) {
  using detail::checked_add;
  using detail::checked_mul;
  const std::uint64_t rank = d.lora.max_lora_rank;
  if (group.rule == shard_rule::vocabulary)
    return checked_mul(checked_mul(rank, checked_add(group.rows, group.columns)), group.copies);
  const weight_shard shard = shard_of(group, d.parallel, experts, expert_rank);
  const std::uint32_t ranks = detail::ranks_of(group, d.parallel);
  const bool split = group.rule != shard_rule::replicated && ranks != 1 && d.lora.fully_sharded;
  std::uint64_t first = checked_mul(rank, shard.columns);
  std::uint64_t second = checked_mul(shard.rows, rank);
  if (split && group.axis == shard_axis::rows)
    first = checked_mul(detail::fully_sharded(rank, ranks), shard.columns);
  if (split && group.axis == shard_axis::columns)
    second = checked_mul(detail::fully_sharded(shard.rows, ranks), rank);
  return checked_mul(checked_add(first, second), shard.copies);
}

/// Bytes that a rank keeps for adapters: max_loras x Σ over the targeted matrices of its layers; heads and
/// tables, if they are targeted, on their stages. Stops where the model has no matrix of known shape to
/// target.
[[nodiscard]] constexpr bytes lora_bytes_of(const deployment& d, const rank_share& share) {
  if (!d.lora.any()) return bytes{};
  const model_architecture& model = *d.model;
  const auto takes = [&](const weight_group& group) {
    const bool matrix = group.kind == tensor_kind::linear || group.kind == tensor_kind::table;
    return matrix && group.rule != shard_rule::spread && d.lora.covers(group.role);
  };
  bool any = false;
  std::uint64_t sum = 0;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    for (std::size_t i = 0; i < layer.weight_count; ++i) {
      if (!takes(layer.weights[i])) continue;
      any = true;
      sum = detail::add_product(sum, lora_elements(layer.weights[i], d, layer.num_experts, share.expert_rank),
                                share.layers_of(kind));
    }
  }
  for (std::size_t i = 0; i < model.weight_count; ++i) {
    const weight_group& group = model.weights[i];
    if (!takes(group)) continue;
    any = true;
    if (group.role == module_role::lm_head ? share.last_stage : share.first_stage)
      sum = detail::checked_add(sum, lora_elements(group, d));
  }
  if (!any) detail::no_matrix_takes_adapters();
  const number_format& dtype = detail::given_or(d.lora.dtype, dtype_of(d));
  return bytes{detail::checked_mul(dtype.size_of(sum).value, d.lora.max_loras)};
}

}  // namespace kvbudget::inline v0
