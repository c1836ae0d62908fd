#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kvbudget/io/engine_log/figures.hpp"

/// Numbers in the text of a log, in integer arithmetic.
namespace kvbudget::inline v0::detail {

[[nodiscard]] constexpr bool is_log_digit(char c) { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_log_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

[[nodiscard]] constexpr std::uint64_t power_of_ten(unsigned exponent) {
  std::uint64_t power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

/// `-1,234.56` in its pieces.
struct number_text {
  bool found = false;
  bool readable = true;  ///< false: too large, or with an exponent
  bool negative = false;
  std::uint64_t whole = 0;
  std::uint64_t fraction = 0;  ///< at most 17 digits; further ones are dropped
  unsigned decimals = 0;       ///< how many digits `fraction` has
  std::size_t end = 0;
};

/// The number that begins at `at`: sign, digits with commas between groups of three, decimals.
[[nodiscard]] constexpr number_text read_number(std::string_view text, std::size_t at) {
  number_text number;
  const auto digit_at = [&](std::size_t i) { return i < text.size() && is_log_digit(text[i]); };
  if (at < text.size() && text[at] == '-') {
    number.negative = true;
    ++at;
  }
  if (!digit_at(at)) return number;
  number.found = true;
  std::size_t group = 0;  // digits since the start or the last comma
  bool grouped = false;
  while (at < text.size()) {
    const char c = text[at];
    if (is_log_digit(c)) {
      const auto digit = static_cast<std::uint64_t>(c - '0');
      if (number.whole > (UINT64_MAX - digit) / 10) number.readable = false;
      if (number.readable) number.whole = number.whole * 10 + digit;
      ++group;
    } else if (c == ',' && (grouped ? group == 3 : group <= 3) && digit_at(at + 1) && digit_at(at + 2) &&
               digit_at(at + 3) && !digit_at(at + 4)) {
      grouped = true;
      group = 0;
    } else {
      break;
    }
    ++at;
  }
  if (at < text.size() && text[at] == '.' && digit_at(at + 1)) {
    for (++at; digit_at(at); ++at) {
      if (number.decimals == 17) continue;
      number.fraction = number.fraction * 10 + static_cast<std::uint64_t>(text[at] - '0');
      ++number.decimals;
    }
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::size_t sign = at + 1 < text.size() && (text[at + 1] == '-' || text[at + 1] == '+') ? 1 : 0;
    if (digit_at(at + 1 + sign)) number.readable = false;
  }
  number.end = at;
  return number;
}

/// The exponent of 2 of a unit, or nothing. GB and MB are the engines' words for 2^30 and 2^20.
[[nodiscard]] constexpr std::optional<unsigned> unit_shift(std::string_view unit) {
  if (unit == "B" || unit == "bytes" || unit == "Bytes" || unit == "byte") return 0U;
  const bool named = (unit.size() == 2 && unit[1] == 'B') ||
                     (unit.size() == 3 && unit[1] == 'i' && (unit[2] == 'B' || unit[2] == 'b'));
  if (!named) return std::nullopt;
  switch (unit[0]) {
    case 'K':
    case 'k': return 10U;
    case 'M': return 20U;
    case 'G': return 30U;
    case 'T': return 40U;
    default: return std::nullopt;
  }
}

/// The size, or nothing where it does not fit. `least_decimals`: how many decimals the engine rounds to even
/// when it prints fewer, because trailing zeros are dropped; it counts only where a decimal was printed.
[[nodiscard]] constexpr std::optional<printed_amount> amount_of(number_text number, unsigned shift,
                                                                unsigned least_decimals, std::uint32_t line) {
  const unsigned most = shift > 30 ? 6U : 9U;  // fraction << shift stays below 2^60
  unsigned precision =
      number.decimals > 0 && number.decimals < least_decimals ? least_decimals : number.decimals;
  if (precision > most) precision = most;
  for (; number.decimals > most; --number.decimals) number.fraction /= 10;
  if (!number.readable || number.whole >= (std::uint64_t{1} << 62) >> shift) return std::nullopt;
  const std::uint64_t scale = power_of_ten(number.decimals);
  const std::uint64_t size = (number.whole << shift) + ((number.fraction << shift) + scale / 2) / scale;
  printed_amount amount;
  amount.bytes = number.negative ? -static_cast<std::int64_t>(size) : static_cast<std::int64_t>(size);
  if (shift > 0 || precision > 0) {  // half a digit, and half a byte of our own rounding
    const std::uint64_t digit = power_of_ten(precision);
    amount.rounding_bytes = ((std::uint64_t{1} << shift) + digit + 2 * digit - 1) / (2 * digit);
  }
  amount.line = line;
  return amount;
}

/// The decimal, or nothing where it does not fit; decimals that do not fit are dropped.
[[nodiscard]] constexpr std::optional<printed_decimal> decimal_of(number_text number, std::uint32_t line) {
  if (!number.readable || number.whole > static_cast<std::uint64_t>(INT64_MAX) / 10) return std::nullopt;
  std::uint64_t scale = power_of_ten(number.decimals);
  while (number.whole > (static_cast<std::uint64_t>(INT64_MAX) - (scale - 1)) / scale) {
    number.fraction /= 10;
    scale /= 10;
  }
  const auto digits = static_cast<std::int64_t>(number.whole * scale + number.fraction);
  return printed_decimal{number.negative ? -digits : digits, scale, line};
}

/// The count, or nothing for a fraction, a number below zero or one that does not fit in 63 bits.
[[nodiscard]] constexpr std::optional<printed_count> count_of(const number_text& number, std::uint32_t line) {
  if (!number.readable || number.negative || number.fraction != 0) return std::nullopt;
  if (number.whole > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  return printed_count{number.whole, line};
}

}  // namespace kvbudget::inline v0::detail
