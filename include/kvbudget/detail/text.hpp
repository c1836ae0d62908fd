#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/raise.hpp"

/// Names are plain `char[N]` members: such values stay usable as template arguments, compile faster in
/// generated tables than any wrapper class, and can be filled from a file.
namespace kvbudget::inline v0::detail {

[[noreturn]] inline void a_name_is_too_long(std::uint64_t length, std::uint64_t capacity) {
  raise("a name of # characters is too long: at most # are kept", length, capacity);
}

[[nodiscard]] constexpr std::size_t text_length(const char* text) {
  std::size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

[[nodiscard]] constexpr bool same_text(const char* a, const char* b) {
  for (; *a != '\0' && *a == *b; ++a, ++b) {
  }
  return *a == *b;
}

/// Copies `length` characters and a closing zero into a name; longer text than fits stops.
template <std::size_t Size>
constexpr void assign_text(char (&name)[Size], const char* source, std::size_t length) {
  if (length >= Size) a_name_is_too_long(length, Size - 1);
  for (std::size_t i = 0; i < Size; ++i) name[i] = i < length ? source[i] : '\0';
}

template <std::size_t Size> constexpr void assign_text(char (&name)[Size], const char* source) {
  assign_text(name, source, text_length(source));
}

}  // namespace kvbudget::inline v0::detail
