#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kvbudget/io/input_error.hpp"
#include "kvbudget/plan/fits.hpp"
#include "kvbudget/units/literals.hpp"
#include "kvbudget/units/quantity.hpp"
#include "kvbudget/units/ratio.hpp"

/// Counts and sizes as people type them, read to the byte or refused.
namespace kvbudget::inline v0 {

namespace detail {

[[nodiscard]] inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

[[noreturn]] inline void refuse_quantity(std::string_view text, std::string_view expected) {
  refuse_input("\"" + printable(text, 40) + "\" is not " + std::string(expected));
}

/// `12.5 GiB` in its pieces: digits without the point, how many of them stand behind it, and the unit.
struct decimal_text {
  std::uint64_t digits = 0;
  std::uint64_t scale = 1;  ///< 10^(digits behind the point)
  std::string_view unit;
  bool good = false;
};

/// Reads a plain decimal number of at most 19 digits; no sign, no exponent.
[[nodiscard]] inline decimal_text read_decimal(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  decimal_text result;
  std::size_t at = 0;
  std::size_t count = 0;
  std::size_t point = std::string_view::npos;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && point == std::string_view::npos));
       ++at) {
    if (text[at] == '.') {
      point = at;
      continue;
    }
    if (result.digits != 0 || text[at] != '0') ++count;
    if (count > 19) return result;
    result.digits = result.digits * 10 + static_cast<std::uint64_t>(text[at] - '0');
    if (point != std::string_view::npos) {
      if (result.scale > UINT64_MAX / 100) return result;
      result.scale *= 10;
    }
  }
  if (at == 0 || !is_digit(text[0]) || !is_digit(text[at - 1])) return result;
  while (at < text.size() && text[at] == ' ') ++at;
  result.unit = text.substr(at);
  result.good = true;
  return result;
}

/// A number in units of `size`, which must come out whole and below 2^63; `what` it counts is for the error.
[[nodiscard]] inline std::uint64_t whole_amount(std::string_view text, const decimal_text& number,
                                                std::uint64_t size, const char* what) {
  const std::uint64_t shared = greatest_common_divisor(size, number.scale);
  const std::uint64_t scale = number.scale / shared;
  if (number.digits % scale != 0) refuse_quantity(text, "a whole number of " + std::string(what));
  const std::uint64_t factor = size / shared;
  if (number.digits / scale > static_cast<std::uint64_t>(INT64_MAX) / factor) {
    refuse_quantity(text, "a number of " + std::string(what) + " below 2^63");
  }
  return number.digits / scale * factor;
}

}  // namespace detail

/// A whole number from `least` to `most`, in plain digits; anything else throws `input_error` that says what
/// was expected ("a whole number of `what` …"; `what` may be empty).
[[nodiscard]] inline std::uint64_t parse_count(std::string_view text, std::string_view what,
                                               std::uint64_t least, std::uint64_t most) {
  const detail::decimal_text number = detail::read_decimal(text);
  const bool whole = number.good && number.unit.empty() && number.scale == 1;
  if (!whole || number.digits < least || number.digits > most) {
    const std::string of_what = what.empty() ? "" : " of " + std::string(what);
    detail::refuse_quantity(
        text, "a whole number" + of_what + " from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return number.digits;
}

/// A number of bytes: plain digits, or a number with a unit of exact meaning. `15GB` is 15 × 10^9, `1.5 GiB`
/// is 1.5 × 2^30. A fraction that is not a whole number of bytes, and units that could mean either (`G`,
/// `Gb`), throw `input_error`.
[[nodiscard]] inline bytes parse_bytes(std::string_view text) {
  struct unit {
    const char* name;
    const char* lower;
    std::uint64_t size;
  };
  constexpr unit units[] = {{"B", "b", 1},
                            {"KB", "kb", detail::kb},
                            {"kB", "kb", detail::kb},
                            {"MB", "mb", detail::mb},
                            {"GB", "gb", detail::gb},
                            {"TB", "tb", detail::tb},
                            {"KiB", "kib", detail::kib},
                            {"MiB", "mib", detail::mib},
                            {"GiB", "gib", detail::gib},
                            {"TiB", "tib", detail::tib}};
  constexpr const char* expected =
      "a number of bytes: write 16106127360, 15GB (10^9 each) or 15GiB (2^30 each)";
  const detail::decimal_text number = detail::read_decimal(text);
  if (!number.good) detail::refuse_quantity(text, expected);
  std::uint64_t size = number.unit.empty() ? 1 : 0;
  for (const unit& each : units) {
    if (number.unit == each.name || number.unit == each.lower) size = each.size;
  }
  if (size == 0) detail::refuse_quantity(text, expected);
  return bytes{detail::whole_amount(text, number, size, "bytes")};
}

/// A number of parameters as models are named by it: plain digits, `135M` (10^6 each), `8B` (10^9) or `1.5T`
/// (10^12). Anything else, and fractions of a parameter, throw `input_error`.
[[nodiscard]] inline parameters parse_parameters(std::string_view text) {
  constexpr const char* expected = "a number of parameters: write 8030261248, 135M, 8B (10^9 each) or 1.5T";
  const detail::decimal_text number = detail::read_decimal(text);
  std::uint64_t size = number.unit.empty() ? 1 : 0;
  if (number.unit == "M" || number.unit == "m") size = detail::mb;
  if (number.unit == "B" || number.unit == "b") size = detail::gb;
  if (number.unit == "T" || number.unit == "t") size = detail::tb;
  if (!number.good || size == 0) detail::refuse_quantity(text, expected);
  return parameters{detail::whole_amount(text, number, size, "parameters")};
}

/// Headroom: a share below 100 % of what is usable (`20%`, `12.5%`), or bytes (`2GiB`).
[[nodiscard]] inline headroom parse_headroom(std::string_view text) {
  if (text.find('%') == std::string_view::npos) return headroom{parse_bytes(text)};
  const detail::decimal_text number = detail::read_decimal(text);
  if (!number.good || number.unit != "%" || number.scale > 1'000'000'000 ||
      number.digits >= 100 * number.scale) {
    detail::refuse_quantity(text, "a share from 0% to below 100%, or a number of bytes (2GiB)");
  }
  return headroom{ratio{number.digits, 100 * number.scale}};
}

}  // namespace kvbudget::inline v0
