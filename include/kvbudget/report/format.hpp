#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "kvbudget/memory/memory_budget.hpp"
#include "kvbudget/plan/fits.hpp"
#include "kvbudget/report/text.hpp"
#include "kvbudget/units/basis.hpp"
#include "kvbudget/units/quantity.hpp"
#include "kvbudget/units/ratio.hpp"

/// fmt formatters of the quantities. The text of a size always names its unit, and GB (10^9) and GiB (2^30)
/// never stand for each other.
///
/// | value | spec | example |
/// |---|---|---|
/// | `bytes` | `{}` | `85.52 GB (79.65 GiB)`, `512 B` |
/// | | `{:GB}` `{:GiB}` `{:.1MB}` … | `85.52 GB`, `79.65 GiB`, `85,520.8 MB`; 2 decimals unless given |
/// | | `{:B}`, `{:d}` | `85,520,809,984 B`, `85520809984` |
/// | `signed_bytes` | as `bytes` | `+13.05 GB (+12.15 GiB)`, `-2.45 GB (-2.28 GiB)` |
/// | `tokens` | `{}`, `{:d}` | `32,768 tokens`, `32768` |
/// | `ratio` | `{}`, `{:.2}`, `{:%}` | `327,680`, `27,306.667`, `27,306.67`, `20%` |
/// | `basis` | `{}` | `assumed` |
/// | `line_item` | `{}`, a unit as for `bytes` | `activations: 15.00 GB (13.97 GiB), 12.00 to 18.00 GB,
/// assumed` | | `verdict` | `{}`, a unit as for `bytes` | `fits: 13.05 GB (12.15 GiB) left` |
///
/// Each takes `[[fill]align][width]` in front, right-aligned for numbers unless told otherwise. Anything
/// else does not compile; `fmt::runtime` formats throw `fmt::format_error`.
namespace kvbudget::inline v0 {

/// A difference of bytes, printed with its sign: headroom left (+) or missing (-).
struct signed_bytes {
  std::int64_t value = 0;

  /// The amount without the sign; the lowest number has one, too.
  [[nodiscard]] constexpr bytes magnitude() const {
    const auto raw = static_cast<std::uint64_t>(value);
    return bytes{value < 0 ? 0 - raw : raw};
  }
  friend constexpr bool operator==(const signed_bytes&, const signed_bytes&) = default;
};

namespace detail {

[[noreturn]] inline void refuse_format(const char* why) { FMT_THROW(fmt::format_error(why)); }
[[noreturn]] inline void a_size_format_is_align_width_precision_and_a_unit_such_as_GB_or_GiB() {
  refuse_format("a size is formatted as [[fill]align][width][.precision][B|KB|MB|GB|TB|KiB|MiB|GiB|TiB|d]");
}
[[noreturn]] inline void whole_bytes_have_no_decimals() { refuse_format("whole bytes have no decimals"); }
[[noreturn]] inline void a_token_format_is_align_width_and_d() {
  refuse_format("tokens are formatted as [[fill]align][width][d]");
}
[[noreturn]] inline void a_ratio_format_is_align_width_precision_and_percent() {
  refuse_format("a ratio is formatted as [[fill]align][width][.precision][%]");
}
[[noreturn]] inline void at_most_18_decimals_are_printed() {
  refuse_format("at most 18 decimals are printed");
}
[[noreturn]] inline void a_width_has_at_most_4_digits() { refuse_format("a width has at most 4 digits"); }

/// `[[fill]align][width][.precision]`, which all formatters share.
struct layout_spec {
  char fill = ' ';
  char align = '\0';
  std::uint32_t width = 0;
  int precision = -1;

  static constexpr bool is_align(char c) { return c == '<' || c == '>' || c == '^'; }
  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

  /// Reads what is there and returns where it ends.
  constexpr const char* parse(const char* at, const char* end) {
    if (end - at >= 2 && is_align(at[1]) && at[0] != '{' && at[0] != '}') {
      fill = at[0];
      align = at[1];
      at += 2;
    } else if (at != end && is_align(*at)) {
      align = *at++;
    }
    for (; at != end && is_digit(*at); ++at) {
      width = width * 10 + static_cast<std::uint32_t>(*at - '0');
      if (width > 9999) a_width_has_at_most_4_digits();
    }
    if (at != end && *at == '.' && end - at >= 2 && is_digit(at[1])) {
      precision = 0;
      for (++at; at != end && is_digit(*at); ++at) {
        precision = precision * 10 + (*at - '0');
        if (precision > 18) at_most_18_decimals_are_printed();
      }
    }
    return at;
  }

  /// Writes the text, filled up to the width.
  template <class Out> Out write(Out out, std::string_view text, char usual_align) const {
    const std::size_t used = display_width(text);
    const std::size_t fill_count = used < width ? width - used : 0;
    const char where = align == '\0' ? usual_align : align;
    const std::size_t before = where == '>' ? fill_count : where == '^' ? fill_count / 2 : 0;
    for (std::size_t i = 0; i < before; ++i) *out++ = fill;
    for (const char c : text) *out++ = c;
    for (std::size_t i = before; i < fill_count; ++i) *out++ = fill;
    return out;
  }
};

[[nodiscard]] constexpr bool at_end(const char* at, const char* end) { return at == end || *at == '}'; }

/// How sizes are printed: layout and unit.
struct size_spec {
  layout_spec layout{};
  byte_unit unit = byte_unit::automatic;
  bool digits_only = false;

  constexpr const char* parse(const char* at, const char* end) {
    at = layout.parse(at, end);
    const char* word = at;
    while (!at_end(at, end)) ++at;
    if (at == word) return at;
    const auto length = static_cast<std::size_t>(at - word);
    if (length == 1 && *word == 'd') {
      digits_only = true;
      if (layout.precision >= 0) whole_bytes_have_no_decimals();
      return at;
    }
    for (const byte_unit each : {byte_unit::B, byte_unit::KB, byte_unit::MB, byte_unit::GB, byte_unit::TB,
                                 byte_unit::KiB, byte_unit::MiB, byte_unit::GiB, byte_unit::TiB}) {
      if (std::string_view(word, length) == name_of(each)) unit = each;
    }
    if (unit == byte_unit::automatic) a_size_format_is_align_width_precision_and_a_unit_such_as_GB_or_GiB();
    if (unit == byte_unit::B && layout.precision >= 0) whole_bytes_have_no_decimals();
    return at;
  }

  [[nodiscard]] int decimals() const { return layout.precision < 0 ? 2 : layout.precision; }

  /// The size with `sign` before each number; in both kinds of units where none is given.
  [[nodiscard]] std::string text(bytes size, std::string_view sign = {}) const {
    std::string result(sign);
    if (digits_only) return result += std::to_string(size.value);
    if (unit != byte_unit::automatic) {
      return result.append(number_in(size, unit, decimals())).append(1, ' ').append(name_of(unit));
    }
    const byte_unit natural = natural_unit(size, decimals());
    result.append(number_in(size, natural, decimals())).append(1, ' ').append(name_of(natural));
    if (natural == byte_unit::B) return result;
    const byte_unit binary = binary_sibling(natural);
    result.append(" (").append(sign).append(number_in(size, binary, decimals()));
    return result.append(1, ' ').append(name_of(binary)).append(1, ')');
  }

  /// "12.00 to 18.00 GB", in one unit.
  [[nodiscard]] std::string range(bytes low, bytes high) const {
    if (digits_only) return std::to_string(low.value) + " to " + std::to_string(high.value);
    const byte_unit one = unit == byte_unit::automatic ? natural_unit(high, decimals()) : unit;
    return number_in(low, one, decimals()) + " to " + number_in(high, one, decimals()) + ' ' + name_of(one);
  }
};

/// A ratio in decimal digits. Without a precision: exact where six decimals can say it, else three decimals;
/// what three decimals cannot show stays a fraction.
[[nodiscard]] inline std::string ratio_text(const ratio& r, int precision, bool percent) {
  const int shift = percent ? 2 : 0;
  const std::string_view unit = percent ? "%" : "";
  if (precision >= 0) return decimal(r.numerator, r.denominator, precision, shift).append(unit);
  const bool exact = decimals_of(r.numerator % r.denominator, r.denominator, 6 + shift).rest == 0;
  std::string text = decimal(r.numerator, r.denominator, exact ? 6 : 3, shift);
  if (r.numerator != 0 && is_all_zero(text)) {
    return std::to_string(r.numerator) + '/' + std::to_string(r.denominator);
  }
  if (exact) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text.append(unit);
}

/// A verdict in words, sizes by `spec`.
[[nodiscard]] inline std::string verdict_text(const verdict& v, const size_spec& spec) {
  const signed_bytes difference{v.headroom_bytes};
  const std::string size = spec.text(difference.magnitude());
  const std::string_view beside = v.reserved == bytes{} ? "" : " beside the headroom asked for";
  if (v.fits) {
    const std::string_view how = v.surely ? "surely fits" : "fits";
    return std::string(how).append(": ").append(size).append(" left").append(beside);
  }
  const std::string_view how = v.never ? "never fits" : "does not fit";
  return std::string(how)
      .append(": ")
      .append(size)
      .append(" missing")
      .append(v.reserved == bytes{} ? "" : " with the headroom asked for");
}

/// What the formatters of sizes have in common.
struct size_formatter {
  size_spec spec{};
  constexpr auto parse(fmt::format_parse_context& context) -> decltype(context.begin()) {
    const char* const begin = context.begin();
    return context.begin() + (spec.parse(begin, begin + (context.end() - context.begin())) - begin);
  }
};

}  // namespace detail

}  // namespace kvbudget::inline v0

/// `85.52 GB (79.65 GiB)`; see the table at the top.
template <> struct fmt::formatter<kvbudget::bytes> : kvbudget::detail::size_formatter {
  template <class Context> auto format(const kvbudget::bytes& size, Context& context) const {
    return spec.layout.write(context.out(), spec.text(size), '>');
  }
};

/// `+13.05 GB (+12.15 GiB)`; zero has no sign.
template <> struct fmt::formatter<kvbudget::signed_bytes> : kvbudget::detail::size_formatter {
  template <class Context> auto format(const kvbudget::signed_bytes& size, Context& context) const {
    const std::string_view sign = size.value < 0 ? "-" : size.value > 0 ? "+" : "";
    return spec.layout.write(context.out(), spec.text(size.magnitude(), sign), '>');
  }
};

/// `32,768 tokens`.
template <> struct fmt::formatter<kvbudget::tokens> {
  kvbudget::detail::layout_spec layout{};
  bool digits_only = false;
  constexpr auto parse(fmt::format_parse_context& context) -> decltype(context.begin()) {
    const char* const begin = context.begin();
    const char* const end = begin + (context.end() - context.begin());
    const char* at = layout.parse(begin, end);
    if (at != end && *at == 'd') {
      digits_only = true;
      ++at;
    }
    if (layout.precision >= 0 || !kvbudget::detail::at_end(at, end)) {
      kvbudget::detail::a_token_format_is_align_width_and_d();
    }
    return context.begin() + (at - begin);
  }
  template <class Context> auto format(const kvbudget::tokens& count, Context& context) const {
    std::string text = digits_only ? std::to_string(count.value) : kvbudget::detail::grouped(count.value);
    if (!digits_only) text += count.value == 1 ? " token" : " tokens";
    return layout.write(context.out(), text, '>');
  }
};

/// `327,680`, `27,306.667`; `{:%}` as a percentage.
template <> struct fmt::formatter<kvbudget::ratio> {
  kvbudget::detail::layout_spec layout{};
  bool percent = false;
  constexpr auto parse(fmt::format_parse_context& context) -> decltype(context.begin()) {
    const char* const begin = context.begin();
    const char* const end = begin + (context.end() - context.begin());
    const char* at = layout.parse(begin, end);
    if (at != end && *at == '%') {
      percent = true;
      ++at;
    }
    if (!kvbudget::detail::at_end(at, end)) {
      kvbudget::detail::a_ratio_format_is_align_width_precision_and_percent();
    }
    return context.begin() + (at - begin);
  }
  template <class Context> auto format(const kvbudget::ratio& value, Context& context) const {
    return layout.write(context.out(), kvbudget::detail::ratio_text(value, layout.precision, percent), '>');
  }
};

/// `exact`, `measured`, `calibrated`, `assumed`, laid out like any string.
template <> struct fmt::formatter<kvbudget::basis> : fmt::formatter<fmt::string_view> {
  template <class Context> auto format(kvbudget::basis known, Context& context) const {
    return fmt::formatter<fmt::string_view>::format(kvbudget::name_of(known), context);
  }
};

/// `weights: 70.55 GB (65.71 GiB), exact`; with bounds where they differ.
template <> struct fmt::formatter<kvbudget::line_item> : kvbudget::detail::size_formatter {
  template <class Context> auto format(const kvbudget::line_item& line, Context& context) const {
    std::string text(line.name);
    text.append(": ").append(spec.text(line.expected));
    if (line.low != line.high) text.append(", ").append(spec.range(line.low, line.high));
    text.append(", ").append(kvbudget::name_of(line.known));
    return spec.layout.write(context.out(), text, '<');
  }
};

/// `surely fits: 13.05 GB (12.15 GiB) left`, `does not fit: 2.45 GB (2.28 GiB) missing`.
template <> struct fmt::formatter<kvbudget::verdict> : kvbudget::detail::size_formatter {
  template <class Context> auto format(const kvbudget::verdict& answer, Context& context) const {
    return spec.layout.write(context.out(), kvbudget::detail::verdict_text(answer, spec), '<');
  }
};
