#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kvbudget/io/engine_log/lines.hpp"
#include "kvbudget/io/engine_log/numbers.hpp"
#include "kvbudget/io/text_search.hpp"

/// Shapes of the lines of local engines, as views into them.
namespace kvbudget::inline v0::detail {

inline constexpr std::size_t most_device_name_bytes = 64;

[[nodiscard]] constexpr std::string_view without_blanks_around(std::string_view text) {
  text = without_leading_blanks(text);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// The word of letters, digits and underscores that ends before `end`.
[[nodiscard]] constexpr std::string_view word_before(std::string_view text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 &&
         (is_log_letter(text[begin - 1]) || is_log_digit(text[begin - 1]) || text[begin - 1] == '_')) {
    --begin;
  }
  return text.substr(begin, end - begin);
}

/// `load_tensors:   CPU_Mapped model buffer size =  1039.50 MiB`.
struct buffer_line {
  std::string_view function;
  std::string_view device;
  std::string_view kind;   ///< `model`, `KV`, `compute`, …; empty in the lines about weights of 2024
  std::size_t number = 0;  ///< where the size begins
};

/// Finds `FUNCTION: DEVICE KIND buffer size = NUMBER`; lines of prose and of debuggers have no such shape.
[[nodiscard]] constexpr std::optional<buffer_line> find_buffer_line(std::string_view text) {
  constexpr std::string_view mark = " buffer size";
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t number = at + mark.size();
  while (number < text.size() && text[number] == ' ') ++number;
  if (number >= text.size() || text[number] != '=') return std::nullopt;
  ++number;
  while (number < text.size() && text[number] == ' ') ++number;
  const std::size_t colon = text.substr(0, at).rfind(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  buffer_line found;
  found.function = word_before(text, colon);
  if (found.function.empty()) return std::nullopt;
  const std::string_view words = without_blanks_around(text.substr(colon + 1, at - colon - 1));
  const std::size_t blank = words.find(' ');
  found.device = words.substr(0, blank);
  if (blank != std::string_view::npos) found.kind = without_blanks_around(words.substr(blank));
  if (found.device.empty() || found.device.size() > most_device_name_bytes) return std::nullopt;
  found.number = number;
  return found;
}

/// `key = value`.
struct equation {
  std::string_view key;
  std::string_view value;
};

/// The equation that begins at `at`: a key of letters, digits, `_`, `.` and blanks.
[[nodiscard]] constexpr std::optional<equation> equation_at(std::string_view text, std::size_t at) {
  const std::size_t sign = text.find('=', at);
  if (sign == std::string_view::npos || sign > at + 48) return std::nullopt;
  equation found{without_blanks_around(text.substr(at, sign - at)),
                 without_blanks_around(text.substr(sign + 1))};
  if (found.key.empty() || found.value.empty()) return std::nullopt;
  for (const char c : found.key) {
    if (!is_log_letter(c) && !is_log_digit(c) && c != '_' && c != '.' && c != ' ') return std::nullopt;
  }
  return found;
}

/// The value of `key` in a line of Go's logger: `… msg="kv cache" device=CUDA0 size="1.8 GiB"`, without
/// quotes.
[[nodiscard]] constexpr std::optional<std::string_view> logged_value(std::string_view text,
                                                                     std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::size_t sign = at + key.size();
    if ((at > 0 && text[at - 1] != ' ') || sign >= text.size() || text[sign] != '=') continue;
    const std::string_view rest = text.substr(sign + 1);
    if (rest.empty() || rest.front() != '"') return rest.substr(0, rest.find(' '));
    for (std::size_t end = 1; end < rest.size(); ++end) {
      if (rest[end] == '\\') {
        ++end;
      } else if (rest[end] == '"') {
        return rest.substr(1, end - 1);
      }
    }
    return rest.substr(1);  // a cut line
  }
  return std::nullopt;
}

/// What stands in the bracket that opens at `at`, inner brackets included.
[[nodiscard]] constexpr std::string_view in_brackets(std::string_view text, std::size_t at) {
  if (at >= text.size() || text[at] != '(') return {};
  std::size_t depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return text.substr(at + 1, i - at - 1);
  }
  return {};
}

/// What stands between quotes behind `mark`, or nothing.
[[nodiscard]] constexpr std::string_view quoted_behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + mark.size());
  if (rest.empty() || rest.front() != '\'') return {};
  return rest.substr(1, rest.find('\'', 1) - 1);
}

/// A size in MiB or MB as the engines of all locales print it: `1039.50 MiB`, `1039,50 MiB`.
[[nodiscard]] inline std::string with_decimal_point(std::string_view text, std::size_t at) {
  std::string number(text.substr(at < text.size() ? at : text.size(), 40));
  std::size_t digits = !number.empty() && number.front() == '-' ? 1 : 0;
  while (digits < number.size() && is_log_digit(number[digits])) ++digits;
  if (digits + 2 < number.size() && number[digits] == ',' && is_log_digit(number[digits + 1]) &&
      is_log_digit(number[digits + 2]) && (digits + 3 == number.size() || number[digits + 3] == ' ')) {
    number[digits] = '.';
  }
  return number;
}

}  // namespace kvbudget::inline v0::detail
