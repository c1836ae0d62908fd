#pragma once

#include <cstdint>
#include <string>

#include "kvbudget/io/gguf/ggml_type.hpp"

namespace kvbudget::inline v0 {

/// One tensor of a file: what its info says, and what follows from it.
struct gguf_tensor {
  std::string name{};
  ggml_type type{};
  std::uint32_t dimensions = 0;          ///< how many of `dims` the file gives
  std::uint64_t dims[4] = {1, 1, 1, 1};  ///< fastest first: a row has dims[0] elements
  std::uint64_t offset = 0;              ///< within the data section of its part
  std::uint64_t bytes = 0;               ///< without padding
  std::uint32_t part = 0;                ///< which file of a split model, from 0

  [[nodiscard]] constexpr std::uint64_t columns() const { return dims[0]; }
  /// dims[1] × dims[2] × dims[3].
  [[nodiscard]] constexpr std::uint64_t rows() const {
    return detail::checked_mul(detail::checked_mul(dims[1], dims[2]), dims[3]);
  }
};

}  // namespace kvbudget::inline v0
