#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/units/literals.hpp"
#include "kvbudget/units/quantity.hpp"

namespace kvbudget::inline v0 {

/// The unit that a number of bytes is printed in: K, M, G, T are powers of 1000, Ki, Mi, Gi, Ti of 1024.
/// `automatic` takes B, KB, MB or GB, whichever fits the size.
enum class byte_unit : std::uint8_t { automatic, B, KB, MB, GB, TB, KiB, MiB, GiB, TiB };

/// "GB", "GiB", …; nothing for `automatic`.
[[nodiscard]] constexpr const char* name_of(byte_unit unit) {
  switch (unit) {
    case byte_unit::automatic: return "";
    case byte_unit::B: return "B";
    case byte_unit::KB: return "KB";
    case byte_unit::MB: return "MB";
    case byte_unit::GB: return "GB";
    case byte_unit::TB: return "TB";
    case byte_unit::KiB: return "KiB";
    case byte_unit::MiB: return "MiB";
    case byte_unit::GiB: return "GiB";
    case byte_unit::TiB: return "TiB";
  }
  return "";
}

/// Bytes in one unit; 1 for `automatic`.
[[nodiscard]] constexpr std::uint64_t bytes_per(byte_unit unit) {
  switch (unit) {
    case byte_unit::automatic: return 1;
    case byte_unit::B: return 1;
    case byte_unit::KB: return detail::kb;
    case byte_unit::MB: return detail::mb;
    case byte_unit::GB: return detail::gb;
    case byte_unit::TB: return detail::tb;
    case byte_unit::KiB: return detail::kib;
    case byte_unit::MiB: return detail::mib;
    case byte_unit::GiB: return detail::gib;
    case byte_unit::TiB: return detail::tib;
  }
  return 1;
}

namespace detail {

/// Numbers as digits. Everything is integer arithmetic: no locale, no floating point, the same text
/// everywhere.

inline void group_digits(std::string& digits) {
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
}

/// 1,234,567.
[[nodiscard]] inline std::string grouped(std::uint64_t n) {
  std::string digits = std::to_string(n);
  group_digits(digits);
  return digits;
}

/// Adds one to a number written in decimal digits.
inline void increment(std::string& digits) {
  for (std::size_t i = digits.size(); i-- > 0;) {
    if (digits[i] != '9') {
      ++digits[i];
      return;
    }
    digits[i] = '0';
  }
  digits.insert(0, 1, '1');
}

/// The first `count` decimals of n / d behind the point, and what is left over d; n < d, any d.
struct decimals {
  std::string digits;
  std::uint64_t rest = 0;
};
[[nodiscard]] inline decimals decimals_of(std::uint64_t n, std::uint64_t d, int count) {
  decimals result{{}, n};
  for (int i = 0; i < count; ++i) {
    std::uint64_t tenfold = 0;  // n × 10 modulo d, one n at a time: 64 bits always suffice
    char digit = '0';
    for (int k = 0; k < 10; ++k) {
      if (tenfold >= d - result.rest) {
        tenfold -= d - result.rest;
        ++digit;
      } else {
        tenfold += result.rest;
      }
    }
    result.digits += digit;
    result.rest = tenfold;
  }
  return result;
}

/// n / d × 10^shift with `precision` decimals, halves rounded away from zero, whole parts of five and more
/// digits in groups of three.
[[nodiscard]] inline std::string decimal(std::uint64_t n, std::uint64_t d, int precision, int shift = 0) {
  const decimals fraction = decimals_of(n % d, d, precision + shift);
  std::string digits = std::to_string(n / d) + fraction.digits;
  if (fraction.rest != 0 && fraction.rest >= d - fraction.rest) increment(digits);
  const std::size_t behind = static_cast<std::size_t>(precision);
  std::string whole = digits.substr(0, digits.size() - behind);
  const std::size_t zeros = whole.find_first_not_of('0');
  whole.erase(0, zeros == std::string::npos ? whole.size() - 1 : zeros);
  if (whole.size() > 4) group_digits(whole);
  if (precision == 0) return whole;
  return whole + '.' + digits.substr(digits.size() - behind);
}

[[nodiscard]] inline bool is_all_zero(std::string_view number) {
  return number.find_first_of("123456789") == std::string_view::npos;
}

/// A size in a unit, without the unit's name; whole bytes have no decimals.
[[nodiscard]] inline std::string number_in(bytes size, byte_unit unit, int precision) {
  if (bytes_per(unit) == 1) return grouped(size.value);
  return decimal(size.value, bytes_per(unit), precision);
}

/// The same, but what is not zero never reads as zero: "<0.01".
[[nodiscard]] inline std::string visible_number_in(bytes size, byte_unit unit, int precision) {
  std::string text = number_in(size, unit, precision);
  if (size.value == 0 || !is_all_zero(text)) return text;
  text.back() = '1';
  return '<' + text;
}

/// The unit of B, KB, MB and GB in which the rounded size has at most three digits before the point; GB
/// beyond. So 999,999,999 B are 1.00 GB, not 1000.00 MB.
[[nodiscard]] inline byte_unit natural_unit(bytes size, int precision) {
  if (size.value < kb) return byte_unit::B;
  for (const byte_unit unit : {byte_unit::KB, byte_unit::MB}) {
    const std::string text = number_in(size, unit, precision);
    if (text.substr(0, text.find('.')).size() <= 3) return unit;
  }
  return byte_unit::GB;
}

/// KB → KiB and so on; B stays.
[[nodiscard]] constexpr byte_unit binary_sibling(byte_unit unit) {
  switch (unit) {
    case byte_unit::KB: return byte_unit::KiB;
    case byte_unit::MB: return byte_unit::MiB;
    case byte_unit::GB: return byte_unit::GiB;
    case byte_unit::TB: return byte_unit::TiB;
    default: return unit;
  }
}

/// share ÷ whole in percent with one decimal: "29.8 %", "<0.1 %"; nothing of nothing is 0.
[[nodiscard]] inline std::string percent_of(bytes share, bytes whole) {
  if (whole.value == 0) return "0.0 %";
  std::string text = decimal(share.value, whole.value, 1, 2);
  if (share.value != 0 && is_all_zero(text)) text = "<0.1";
  return text + " %";
}

/// ⌊n × scale / d⌋ for drawing: exact while n × scale fits 64 bits, else both are shifted first.
[[nodiscard]] constexpr std::uint64_t proportion(std::uint64_t n, std::uint64_t d, std::uint64_t scale) {
  while (n > UINT64_MAX / scale) {
    n >>= 1;
    d >>= 1;
  }
  return d == 0 ? 0 : n * scale / d;
}

/// One character of UTF-8 text; anything malformed, and every control character, reads as one `?`.
struct character {
  std::uint32_t code = '?';
  std::size_t length = 1;  ///< bytes
  bool valid = false;
};
[[nodiscard]] constexpr character first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return lead < 0x20 || lead == 0x7F ? character{} : character{lead, 1, true};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  std::uint32_t code = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0u) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  const bool control = code >= 0x80 && code < 0xA0;
  const bool reorders = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  const bool never_text = code == 0xFFFE || code == 0xFFFF;
  if (code < least[length] || code > 0x10FFFF || surrogate) return {};
  if (control || reorders || never_text) return {'?', length, false};
  return {code, length, true};
}

/// Terminal columns of a character: 0 for combining marks, 2 for East Asian wide characters and emoji.
[[nodiscard]] constexpr std::size_t columns_of(std::uint32_t code) {
  struct range {
    std::uint32_t first, last;
  };
  constexpr range none[] = {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};
  constexpr range wide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},  {0x3400, 0x4DBF},
                            {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xAC00, 0xD7A3},  {0xF900, 0xFAFF},
                            {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
                            {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
  for (const range& r : none) {
    if (code >= r.first && code <= r.last) return 0;
  }
  for (const range& r : wide) {
    if (code >= r.first && code <= r.last) return 2;
  }
  return 1;
}

/// Terminal columns that a text takes.
[[nodiscard]] constexpr std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const character c = first_character(text);
    width += columns_of(c.code);
    text.remove_prefix(c.length);
  }
  return width;
}

/// The text in one line of printable UTF-8: escape sequences and line ends cannot get through.
[[nodiscard]] inline std::string one_line(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const character c = first_character(text);
    if (c.valid) {
      result += text.substr(0, c.length);
    } else {
      result += text[0] == '\n' || text[0] == '\t' || text[0] == '\r' ? ' ' : '?';
    }
    text.remove_prefix(c.length);
  }
  return result;
}

/// The text in at most `columns` columns; a longer one ends in `ellipsis`.
[[nodiscard]] inline std::string shortened(std::string_view text, std::size_t columns,
                                           std::string_view ellipsis) {
  if (display_width(text) <= columns) return std::string(text);
  const std::size_t dots = display_width(ellipsis);
  if (columns < dots) return std::string(columns, '.');
  std::string result;
  std::size_t width = 0;
  while (!text.empty()) {
    const character c = first_character(text);
    width += columns_of(c.code);
    if (width + dots > columns) break;
    result += text.substr(0, c.length);
    text.remove_prefix(c.length);
  }
  return result += ellipsis;
}

[[nodiscard]] inline std::string padded_right(std::string text, std::size_t columns) {
  const std::size_t width = display_width(text);
  if (width < columns) text.append(columns - width, ' ');
  return text;
}
[[nodiscard]] inline std::string padded_left(std::string text, std::size_t columns) {
  const std::size_t width = display_width(text);
  if (width < columns) text.insert(0, columns - width, ' ');
  return text;
}

/// The text in lines of at most `columns` columns, broken between words, or inside a word that is too long.
[[nodiscard]] inline std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines(1);
  if (columns < 2) columns = 2;
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    std::string_view word = text.substr(0, blank);
    text.remove_prefix(blank == std::string_view::npos ? text.size() : blank + 1);
    if (word.empty()) continue;
    const std::size_t used = display_width(lines.back());
    if (used != 0 && used + 1 + display_width(word) > columns) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    while (!word.empty()) {
      const character c = first_character(word);
      if (!lines.back().empty() && display_width(lines.back()) + columns_of(c.code) > columns) {
        lines.emplace_back();
      }
      lines.back() += word.substr(0, c.length);
      word.remove_prefix(c.length);
    }
  }
  return lines;
}

}  // namespace detail

}  // namespace kvbudget::inline v0
