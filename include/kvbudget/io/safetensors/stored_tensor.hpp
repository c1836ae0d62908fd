#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/io/safetensors/dtype.hpp"
#include "kvbudget/model/weight_group.hpp"

namespace kvbudget::inline v0 {

/// What a stored tensor is for.
enum class tensor_use : std::uint8_t {
  weight,     ///< parameters, one element each
  packed,     ///< parameters, several in each element
  scale,      ///< scales, zero points and whatever else belongs to quantized weights
  buffer,     ///< what engines compute themselves: rotary frequencies, causal masks, position numbers
  duplicate,  ///< a second copy of the embedding or the head
};

/// One tensor as a checkpoint stores it.
struct stored_tensor {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::uint64_t elements = 0;     ///< product of the shape; for packed weights not the parameters
  std::uint64_t bytes = 0;        ///< elements × bits of the dtype / 8
  std::uint64_t data_offset = 0;  ///< behind the header of its file
  std::uint32_t file = 0;         ///< which of the checkpoint's files
  safetensors_dtype dtype = safetensors_dtype::f32;
  module_role role = module_role::unattributed;
  tensor_use use = tensor_use::weight;
  /// The parameters that it stands for; nothing where the packing cannot be told from names and shapes.
  std::optional<std::uint64_t> parameters;
};

namespace detail {
inline void sort_by_name(std::vector<stored_tensor>& tensors) {
  std::sort(tensors.begin(), tensors.end(),
            [](const stored_tensor& a, const stored_tensor& b) { return a.name < b.name; });
}

/// The tensor of that name among tensors sorted by name; null if there is none.
[[nodiscard]] inline const stored_tensor* find_tensor(const std::vector<stored_tensor>& sorted,
                                                      std::string_view name) {
  const auto found =
      std::lower_bound(sorted.begin(), sorted.end(), name,
                       [](const stored_tensor& tensor, std::string_view to) { return tensor.name < to; });
  return found != sorted.end() && found->name == name ? &*found : nullptr;
}
}  // namespace detail

}  // namespace kvbudget::inline v0
