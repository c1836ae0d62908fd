#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kvbudget/io/gguf/file.hpp"
#include "kvbudget/io/gguf/tensor_names.hpp"
#include "kvbudget/model/model_architecture.hpp"

/// From tensors to weight groups, each in the format that the file stores it in: their bytes add up to the
/// file's tensor bytes exactly.
namespace kvbudget::inline v0::detail {

using weight_group_list = std::vector<weight_group>;

/// The heads that the tensors of a layer are divided by; 0 = not at all.
struct layer_heads {
  std::uint64_t query = 0;
  std::uint64_t kv = 0;
  std::uint64_t query_rows = 0;  ///< query heads × key length
  std::uint64_t kv_rows = 0;     ///< KV heads × (key length + value length)
};

[[noreturn]] inline void refuse_tensor(const gguf_file& file, const gguf_tensor& tensor,
                                       const std::string& reason) {
  refuse_input(file.parts[tensor.part].source + ": tensor " + printable(tensor.name) + ": " + reason);
}

[[nodiscard]] inline std::uint32_t as_side(const gguf_file& file, const gguf_tensor& tensor,
                                           std::uint64_t elements) {
  if (elements > UINT32_MAX) {
    refuse_tensor(file, tensor,
                  "a side of " + std::to_string(elements) + " elements is more than is supported");
  }
  return static_cast<std::uint32_t>(elements);
}

/// A tensor as one group that every rank holds whole.
[[nodiscard]] inline weight_group whole_group(const gguf_file& file, const gguf_tensor& tensor,
                                              module_role role, std::uint8_t precision) {
  weight_group group;
  group.role = role;
  group.precision = precision;
  const bool vector = tensor.dimensions <= 1 && tensor.type.row_bytes == 0;
  group.rows = vector ? tensor.columns() : tensor.rows();
  group.columns = vector ? 1 : as_side(file, tensor, tensor.columns());
  group.kind = tensor.dimensions <= 1 ? tensor_kind::vector : tensor_kind::linear;
  if (holds(tensor.name, "conv")) group.kind = tensor_kind::convolution;
  return group;
}

/// Divides a group by output rows or input columns in `units`, where they divide it.
inline void divide(weight_group& group, shard_rule rule, shard_axis axis, std::uint64_t units) {
  const std::uint64_t side = axis == shard_axis::rows ? group.rows : group.columns;
  if (units == 0 || units > UINT32_MAX || side % units != 0) return;
  group.rule = rule;
  group.axis = axis;
  group.units = static_cast<std::uint32_t>(units);
}

/// The matrices of all experts: the third side counts them, the second one for biases.
[[nodiscard]] inline weight_group expert_group(const gguf_file& file, const gguf_tensor& tensor,
                                               weight_group group, shard_axis axis) {
  const bool bias = tensor.dimensions == 2 && ends_with(tensor.name, ".bias");
  if (bias) {
    group.rows = tensor.dims[0];
    group.columns = 1;
    group.copies = as_side(file, tensor, tensor.dims[1]);
    group.kind = tensor_kind::vector;
    axis = shard_axis::rows;
  } else if (tensor.dimensions >= 2) {
    group.rows = tensor.dims[1];
    group.copies = as_side(file, tensor, checked_mul(tensor.dims[2], tensor.dims[3]));
  } else {
    return group;
  }
  divide(group, shard_rule::experts, axis, axis == shard_axis::rows ? group.rows : group.columns);
  return group;
}

/// The groups of one tensor of a layer.
inline void add_layer_tensor(weight_group_list& list, const gguf_file& file, const gguf_tensor& tensor,
                             const tensor_name& name, const gguf_stem& stem, const layer_heads& heads,
                             std::uint8_t precision) {
  weight_group group = whole_group(file, tensor, stem.role, precision);
  const bool matrix = name.ending == "weight";
  const bool vector = name.ending == "bias" || tensor.dimensions <= 1;
  switch (stem.split) {
    case gguf_split::whole: break;
    case gguf_split::query_rows: divide(group, shard_rule::tensor, shard_axis::rows, heads.query); break;
    case gguf_split::query_columns:
      if (matrix) divide(group, shard_rule::tensor, shard_axis::columns, heads.query);
      break;
    case gguf_split::kv_rows: divide(group, shard_rule::kv_heads, shard_axis::rows, heads.kv); break;
    case gguf_split::fused_rows:
      if (heads.kv == 0 || group.rows != heads.query_rows + heads.kv_rows) break;
      group.rows = heads.kv_rows;
      divide(group, shard_rule::kv_heads, shard_axis::rows, heads.kv);
      list.push_back(group);
      group.rule = shard_rule::replicated;
      group.rows = heads.query_rows;
      divide(group, shard_rule::tensor, shard_axis::rows, heads.query);
      break;
    case gguf_split::rows:
      if (matrix || vector) divide(group, shard_rule::tensor, shard_axis::rows, group.rows);
      break;
    case gguf_split::columns:
      if (matrix) divide(group, shard_rule::tensor, shard_axis::columns, group.columns);
      break;
    case gguf_split::expert_rows: group = expert_group(file, tensor, group, shard_axis::rows); break;
    case gguf_split::expert_columns: group = expert_group(file, tensor, group, shard_axis::columns); break;
  }
  list.push_back(group);
}

/// The group of a tensor outside the layers.
[[nodiscard]] inline weight_group outer_group(const gguf_file& file, const gguf_tensor& tensor,
                                              gguf_place place, std::uint8_t precision) {
  const gguf_stem stem = stem_of(parts_of(tensor.name));
  module_role role = stem.role;
  switch (place) {
    case gguf_place::vision: role = module_role::vision; break;
    case gguf_place::audio: role = module_role::audio; break;
    case gguf_place::draft: role = module_role::draft; break;
    case gguf_place::input:
    case gguf_place::per_layer_embedding:
      if (role != module_role::norm) role = module_role::embedding;
      break;
    case gguf_place::output:
      if (role != module_role::norm) role = module_role::lm_head;
      break;
    case gguf_place::layer:
    case gguf_place::encoder: break;
    case gguf_place::other:
      if (starts_with(tensor.name, "rope_")) role = module_role::attention;
      break;
  }
  weight_group group = whole_group(file, tensor, role, precision);
  const bool vocabulary = tensor.name == "token_embd.weight" || tensor.name == "per_layer_token_embd.weight";
  if (vocabulary || tensor.name == "output.weight") group.rule = shard_rule::vocabulary;
  const bool looked_up = place == gguf_place::input && tensor.dimensions >= 2;  // positions and types too
  if (vocabulary || looked_up) group.kind = tensor_kind::table;
  return group;
}

/// The same groups but for the number of copies.
[[nodiscard]] inline bool same_tensors(weight_group a, const weight_group& b) {
  a.copies = b.copies;
  return a == b;
}

/// Equal tensors become copies of one group.
[[nodiscard]] inline weight_group_list merged(const weight_group_list& list) {
  weight_group_list result;
  for (const weight_group& group : list) {
    if (group.rows == 0 || group.columns == 0 || group.copies == 0) continue;
    bool found = false;
    for (weight_group& known : result) {
      if (!same_tensors(known, group) || known.copies > UINT32_MAX - group.copies) continue;
      known.copies += group.copies;
      found = true;
      break;
    }
    if (!found) result.push_back(group);
  }
  return result;
}

/// Adds a group to the total of its role and precision; what leads the rows keeps their number.
inline void add_to_totals(weight_group_list& totals, const weight_group& group, bool leads_rows,
                          shard_rule rule) {
  for (weight_group& known : totals) {
    if (known.role != group.role || known.precision != group.precision) continue;
    if (leads_rows && known.columns != group.columns) continue;
    known.rows =
        checked_add(known.rows, leads_rows ? checked_mul(group.rows, group.copies) : group.elements());
    return;
  }
  weight_group total;
  total.role = group.role;
  total.precision = group.precision;
  total.kind = tensor_kind::linear;
  total.rule = leads_rows ? shard_rule::replicated : rule;
  total.rows = leads_rows ? checked_mul(group.rows, group.copies) : group.elements();
  total.columns = leads_rows ? group.columns : 1;
  totals.push_back(total);
}

/// Brings a list within `most` groups: first what every rank holds anyway becomes one total per role and
/// format, then everything does.
[[nodiscard]] inline weight_group_list folded(weight_group_list list, std::size_t most,
                                              const model_architecture& model) {
  list = merged(list);
  for (const bool everything : {false, true}) {
    if (list.size() <= most) return list;
    weight_group_list kept;
    weight_group_list totals;
    for (const weight_group& group : list) {
      const bool leads_rows = group.precision != 0 && !model.precisions[group.precision - 1].every_element;
      if (everything || group.rule == shard_rule::replicated) {
        add_to_totals(totals, group, leads_rows, shard_rule::replicated);
      } else {
        kept.push_back(group);
      }
    }
    kept.insert(kept.end(), totals.begin(), totals.end());
    list = std::move(kept);
  }
  return list;
}

}  // namespace kvbudget::inline v0::detail
