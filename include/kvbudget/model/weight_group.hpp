#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/checked.hpp"

namespace kvbudget::inline v0 {

/// Which part of the model a weight belongs to: the items under `weights` in a ledger.
enum class module_role : std::uint8_t {
  embedding,
  attention,
  mixer,  ///< recurrent and convolutional token mixers
  mlp,
  expert,
  shared_expert,
  router,
  norm,
  lm_head,
  vision,
  audio,
  draft,        ///< multi-token-prediction and other draft layers
  unattributed  ///< known only as a total
};
inline constexpr std::size_t module_role_count = 13;

namespace detail {
inline constexpr const char* module_names[module_role_count] = {
    "weights.embedding",   "weights.attention",      "weights.mixer",  "weights.mlp",
    "weights.experts",     "weights.shared_experts", "weights.router", "weights.norms",
    "weights.lm_head",     "weights.vision",         "weights.audio",  "weights.draft",
    "weights.unattributed"};
}  // namespace detail

/// The name of a module's line in a ledger.
[[nodiscard]] constexpr const char* name_of(module_role role) {
  return detail::module_names[static_cast<std::size_t>(role)];
}

/// A set of modules, for "leave these unquantized".
struct module_set {
  std::uint32_t bits = 0;
  [[nodiscard]] constexpr bool has(module_role role) const {
    return ((bits >> static_cast<unsigned>(role)) & 1u) != 0;
  }
  [[nodiscard]] constexpr module_set with(module_role role) const {
    return {bits | (1u << static_cast<unsigned>(role))};
  }
  friend constexpr bool operator==(module_set, module_set) = default;
};

/// What a tensor is to a quantizer: only linear matrices are quantized by a scheme.
enum class tensor_kind : std::uint8_t { linear, table, vector, convolution };

/// How tensor and expert parallelism divide a group.
enum class shard_rule : std::uint8_t {
  replicated,  ///< every rank holds all of it
  tensor,      ///< split along `axis` in whole `units`; uneven splits are refused
  kv_heads,    ///< split in whole KV heads; when there are more ranks than heads, heads are repeated
  experts,     ///< whole experts per expert-parallel rank, each split like `tensor` over what is left
  vocabulary,  ///< rows are padded up to a multiple of the ranks
  spread       ///< an assumed total, divided evenly and rounded up
};

/// Which side of a matrix is divided over ranks: outputs (rows), inputs (columns), or neither (biases of
/// outputs that ranks add up).
enum class shard_axis : std::uint8_t { rows, columns, neither };

/// A set of equal tensors of rows × columns (outputs × inputs), `copies` of them, and the way they are
/// divided.
struct weight_group {
  std::uint64_t rows = 0;
  std::uint32_t columns = 1;
  std::uint32_t copies = 1;  ///< experts: all of them (for `experts`, a multiple of the number of experts)
  std::uint32_t units = 1;   ///< indivisible pieces along the axis: heads, or elements
  module_role role = module_role::unattributed;
  tensor_kind kind = tensor_kind::linear;
  shard_rule rule = shard_rule::replicated;
  shard_axis axis = shard_axis::rows;
  std::uint8_t precision = 0;  ///< 0 = the dtype; n = the n-th of the model's `precisions`

  /// rows × columns × copies.
  [[nodiscard]] constexpr std::uint64_t elements() const {
    return detail::checked_product(rows, columns, copies);
  }
  /// The same weights, stored in the n-th of the model's `precisions` (from 1; 0 = the dtype).
  [[nodiscard]] constexpr weight_group in(std::uint8_t nth) const {
    weight_group result = *this;
    result.precision = nth;
    return result;
  }
  friend constexpr bool operator==(const weight_group&, const weight_group&) = default;
};

/// The usual groups by name.
namespace weight_groups {
/// A linear layer split by output rows (column-parallel in Megatron's words) in whole `units`.
[[nodiscard]] constexpr weight_group by_rows(module_role role, std::uint64_t rows, std::uint32_t columns,
                                             std::uint32_t units, std::uint32_t copies = 1) {
  return {rows, columns, copies, units, role, tensor_kind::linear, shard_rule::tensor, shard_axis::rows};
}
/// A linear layer split by input columns (row-parallel).
[[nodiscard]] constexpr weight_group by_columns(module_role role, std::uint64_t rows, std::uint32_t columns,
                                                std::uint32_t units, std::uint32_t copies = 1) {
  return {rows, columns, copies, units, role, tensor_kind::linear, shard_rule::tensor, shard_axis::columns};
}
/// Key or value projections: `copies` matrices of kv_heads × head_dim rows.
[[nodiscard]] constexpr weight_group kv_projection(std::uint32_t kv_heads, std::uint32_t head_dim,
                                                   std::uint32_t columns, std::uint32_t copies = 2) {
  return {std::uint64_t{kv_heads} * head_dim,
          columns,
          copies,
          kv_heads,
          module_role::attention,
          tensor_kind::linear,
          shard_rule::kv_heads,
          shard_axis::rows};
}
/// Expert matrices: `copies` = experts × matrices per expert, split over tensor ranks along `axis`.
[[nodiscard]] constexpr weight_group expert_matrices(std::uint64_t rows, std::uint32_t columns,
                                                     std::uint32_t copies, std::uint32_t units,
                                                     shard_axis axis) {
  return {rows, columns, copies, units, module_role::expert, tensor_kind::linear, shard_rule::experts, axis};
}
/// A linear layer that every rank holds (routers, latent down-projections).
[[nodiscard]] constexpr weight_group whole(module_role role, std::uint64_t rows, std::uint32_t columns,
                                           std::uint32_t copies = 1) {
  return {rows, columns, copies, 1, role, tensor_kind::linear, shard_rule::replicated, shard_axis::rows};
}
/// Norm weights, and any vector that every rank holds.
[[nodiscard]] constexpr weight_group vectors(module_role role, std::uint64_t length,
                                             std::uint32_t copies = 1) {
  return {length, 1, copies, 1, role, tensor_kind::vector, shard_rule::replicated, shard_axis::rows};
}
/// The bias of a linear layer split by rows.
[[nodiscard]] constexpr weight_group split_bias(module_role role, std::uint64_t length, std::uint32_t units,
                                                shard_rule rule = shard_rule::tensor,
                                                std::uint32_t copies = 1) {
  return {length, 1, copies, units, role, tensor_kind::vector, rule, shard_axis::rows};
}
/// An embedding table or a head: one row of `columns` per vocabulary entry.
[[nodiscard]] constexpr weight_group vocabulary_table(module_role role, std::uint64_t rows,
                                                      std::uint32_t columns) {
  return {rows,
          columns,
          1,
          1,
          role,
          role == module_role::lm_head ? tensor_kind::linear : tensor_kind::table,
          shard_rule::vocabulary,
          shard_axis::rows};
}
}  // namespace weight_groups

}  // namespace kvbudget::inline v0
