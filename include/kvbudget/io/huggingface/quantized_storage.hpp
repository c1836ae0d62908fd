#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "kvbudget/format/formats.hpp"
#include "kvbudget/format/weight_scheme.hpp"
#include "kvbudget/io/json_reader.hpp"

/// What the readers of all quantization methods share: optional keys of a JSON object, and the ways in which
/// a matrix is stored.
namespace kvbudget::inline v0::detail {

// -- small readers ----------------------------------------------------------------------------------------

/// A member that is there and not null; the first such of several.
[[nodiscard]] inline std::optional<json_field> given(const json_field& object, const char* key) {
  std::optional<json_field> member = object.find(key);
  if (member && member->value().is_null()) return std::nullopt;
  return member;
}
[[nodiscard]] inline std::optional<json_field> given(const json_field& object,
                                                     std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    std::optional<json_field> member = given(object, key);
    if (member) return member;
  }
  return std::nullopt;
}
[[nodiscard]] inline std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}
[[nodiscard]] inline std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}
/// The value of a key, or what counts where it is absent or null.
[[nodiscard]] inline std::string text_in(const json_field& object, const char* key) {
  const std::optional<json_field> member = given(object, key);
  return member ? member->text() : std::string();
}
[[nodiscard]] inline bool flag_in(const json_field& object, const char* key, bool fallback = false) {
  const std::optional<json_field> member = given(object, key);
  return member ? member->flag() : fallback;
}
[[nodiscard]] inline std::uint64_t integer_in(const json_field& object,
                                              std::initializer_list<const char*> keys,
                                              std::uint64_t fallback) {
  const std::optional<json_field> member = given(object, keys);
  return member ? member->integer() : fallback;
}
/// A number of elements, from 1 to 2^20.
[[nodiscard]] inline std::uint32_t size_of(const json_field& member) {
  const std::uint64_t number = member.positive_integer();
  constexpr std::uint64_t most = 1U << 20U;
  if (number > most)
    member.refuse("must be at most " + std::to_string(most) + ", not " + std::to_string(number));
  return static_cast<std::uint32_t>(number);
}
/// Elements per group; 0 stands for "as many as there are" (-1 or null in the file).
[[nodiscard]] inline std::uint32_t group_in(const std::optional<json_field>& member, std::uint32_t fallback) {
  if (!member) return fallback;
  if (member->value().is_number_integer() && !member->value().is_number_unsigned() &&
      member->value().get<std::int64_t>() == -1) {
    return 0;
  }
  return size_of(*member);
}
/// The value of `key`, else `fallback`; what is not in the list stops.
inline std::string one_of(const json_field& object, const char* key, const char* fallback,
                          std::initializer_list<const char*> known) {
  const std::optional<json_field> member = given(object, key);
  const std::string value = member ? lower(member->text()) : fallback;
  for (const char* name : known) {
    if (value == name) return value;
  }
  std::string line = member ? "\"" + printable(value, 40) + "\" is not supported"
                            : "key \"" + std::string(key) + "\" is missing";
  line += ", expected one of";
  for (const char* name : known) line.append(" ").append(name);
  (member ? *member : object).refuse(line);
}
[[noreturn]] inline void refuse_bits(const json_field& place, std::uint64_t bits, const char* known) {
  place.refuse(std::to_string(bits) + " bits are not supported here, expected " + known);
}

// -- ways to store a matrix -------------------------------------------------------------------------------

/// Whole numbers of 1 to 8 bits without gaps between them.
[[nodiscard]] inline number_format packed_integer(std::uint64_t bits) {
  constexpr number_format int1{"int1", 8, 1};
  constexpr number_format int5{"int5", 8, 5};
  constexpr number_format int6{"int6", 4, 3};
  constexpr number_format int7{"int7", 8, 7};
  const number_format by_bits[] = {int1, formats::int2, formats::int3, formats::int4,
                                   int5, int6,          int7,          formats::int8};
  return by_bits[bits - 1];
}
/// Integers in 32-bit words with 16-bit scales per `group` columns (0 = per row), and zero points of as
/// many bits if `zeros`.
[[nodiscard]] inline weight_scheme words_of_integers(const char* name, std::uint64_t bits,
                                                     std::uint32_t group, bool zeros) {
  weight_scheme scheme(name, packed_integer(bits), weight_sidecar{});
  scheme.sidecar.scales = group == 0 ? weight_scales::channel : weight_scales::group;
  scheme.sidecar.group = group;
  scheme.sidecar.scale_bytes = 2;
  scheme.sidecar.zero_bits = zeros ? static_cast<std::uint8_t>(bits) : std::uint8_t{0};
  scheme.sidecar.packed_rows = true;
  return scheme;
}
/// One scale per row, or per group of columns (`group` above 0).
[[nodiscard]] inline weight_scheme scaled(const char* name, const number_format& payload, std::uint32_t group,
                                          std::uint8_t scale_bytes, std::uint8_t scale_bytes_high = 0) {
  weight_sidecar beside;
  beside.scales = group == 0 ? weight_scales::channel : weight_scales::group;
  beside.group = group;
  beside.scale_bytes = scale_bytes;
  beside.scale_bytes_high = scale_bytes_high;
  return {name, payload, beside};
}
/// The scheme with so many bytes beside each matrix.
[[nodiscard]] inline weight_scheme with_matrix_bytes(weight_scheme scheme, std::uint8_t matrix_bytes) {
  scheme.sidecar.matrix_bytes = matrix_bytes;
  return scheme;
}
/// FP8 in blocks of rows × columns.
[[nodiscard]] inline weight_scheme fp8_blocks(const json_field& shape, std::uint8_t scale_bytes) {
  if (shape.size() != 2) shape.refuse("must be [rows, columns]");
  weight_scheme scheme = schemes::fp8_block;
  const std::uint32_t rows = size_of(shape.at(std::size_t{0}));
  scheme.sidecar.group = size_of(shape.at(std::size_t{1}));
  scheme.sidecar.group_rows = rows == scheme.sidecar.group ? 0 : rows;
  scheme.sidecar.scale_bytes = scale_bytes;
  return scheme;
}

}  // namespace kvbudget::inline v0::detail
