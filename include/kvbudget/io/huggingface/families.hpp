#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kvbudget/io/huggingface/families/dense.hpp"
#include "kvbudget/io/huggingface/families/dialects.hpp"
#include "kvbudget/io/huggingface/families/encoder.hpp"
#include "kvbudget/io/huggingface/families/encoder_decoder.hpp"
#include "kvbudget/io/huggingface/families/gemma.hpp"
#include "kvbudget/io/huggingface/families/llama_like.hpp"
#include "kvbudget/io/huggingface/families/per_layer.hpp"

namespace kvbudget::inline v0::detail {

/// The families that one header describes.
struct family_table {
  const model_family* first;
  std::size_t count;
  template <std::size_t Size>
  constexpr family_table(const model_family (&families)[Size])  // NOLINT: a table is its families
      : first(families), count(Size) {}
  [[nodiscard]] constexpr const model_family* begin() const { return first; }
  [[nodiscard]] constexpr const model_family* end() const { return first + count; }
};

/// Every family that is known, in the order in which errors list them.
inline constexpr family_table family_tables[] = {
    dense_families,
    llama_like_families,
    dialect_families,
    per_layer_families,
    encoder_families,
    encoder_decoder_families,
    gemma_families,
};

[[nodiscard]] inline const model_family* find_family(std::string_view model_type) {
  for (const family_table& table : family_tables) {
    for (const model_family& family : table) {
      if (model_type == family.model_type) return &family;
    }
  }
  return nullptr;
}

/// The supported values of `model_type`, for messages.
[[nodiscard]] inline std::string list_of_families() {
  std::string list;
  for (const family_table& table : family_tables) {
    for (const model_family& family : table) {
      if (!list.empty()) list += ", ";
      list += family.model_type;
    }
  }
  return list;
}

}  // namespace kvbudget::inline v0::detail
