#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/raise.hpp"

namespace kvbudget::inline v0 {

namespace detail {
[[noreturn]] inline void text_is_longer_than_its_fixed_string(std::uint64_t length, std::uint64_t capacity) {
  raise("text of # characters does not fit a fixed string of #", length, capacity);
}
}  // namespace detail

/// A text of at most `Capacity` characters, held inside the object so that values with a name stay usable as
/// template arguments and can be filled from a file as well as from a literal. Longer text stops.
template <std::size_t Capacity>
struct fixed_string {
  char text[Capacity + 1] = {};

  fixed_string() = default;
  constexpr fixed_string(const char* source) {  // NOLINT: a literal is a name
    std::size_t length = 0;
    while (source[length] != '\0') ++length;
    assign(source, length);
  }
  constexpr void assign(const char* source, std::size_t length) {
    if (length > Capacity) detail::text_is_longer_than_its_fixed_string(length, Capacity);
    for (std::size_t i = 0; i <= Capacity; ++i) text[i] = i < length ? source[i] : '\0';
  }
  [[nodiscard]] constexpr const char* c_str() const { return text; }
  [[nodiscard]] constexpr bool empty() const { return text[0] == '\0'; }
  friend constexpr bool operator==(const fixed_string&, const fixed_string&) = default;
};

namespace detail {
/// Whether two zero-terminated texts are the same.
[[nodiscard]] constexpr bool same_text(const char* a, const char* b) {
  for (; *a != '\0' && *a == *b; ++a, ++b) {
  }
  return *a == *b;
}
}  // namespace detail
}  // namespace kvbudget::inline v0
