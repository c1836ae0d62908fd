#pragma once

#include <cstdint>

#include "kvbudget/units/quantity.hpp"

namespace kvbudget::inline v0 {

/// How numbers are stored: `block_elements` elements take `block_bytes` bytes. Exact, so no "bits per
/// weight".
///
/// Scales that live inside the block (ggml types, MXFP4, NVFP4, NF4) are part of `block_bytes`. A format with
/// `block_elements == 0` is the automatic one: "the dtype that the model's config names".
struct number_format {
  const char* name = "auto";
  std::uint32_t block_elements = 0;
  std::uint32_t block_bytes = 0;
  /// True where a block is stored whole or not at all (ggml types): a row must be a multiple of the block.
  bool whole_blocks = false;

  /// Whether it stands for the dtype that the model's config names.
  [[nodiscard]] constexpr bool is_automatic() const { return block_elements == 0; }
  /// ⌈elements × block_bytes / block_elements⌉.
  [[nodiscard]] constexpr bytes size_of(std::uint64_t elements) const {
    if (block_elements == 1) return bytes{detail::checked_mul(elements, block_bytes)};
    return bytes{detail::ceil_mul_div(elements, block_bytes, block_elements)};
  }
  /// Formats are the same when they store the same way, whatever they are called.
  friend constexpr bool operator==(const number_format& a, const number_format& b) {
    return a.block_elements == b.block_elements && a.block_bytes == b.block_bytes &&
           a.whole_blocks == b.whole_blocks;
  }
};

}  // namespace kvbudget::inline v0
