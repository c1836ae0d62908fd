#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "kvbudget/io/engine_log/lines.hpp"
#include "kvbudget/io/input_error.hpp"

/// Settings as Python prints them: `{'port': 8000, 'model': 'x'}`, `model='x', dtype=torch.float16`,
/// `ServerArgs(tp_size=8, …)`.
namespace kvbudget::inline v0::detail {

inline constexpr std::size_t most_log_settings = 1024;
inline constexpr std::size_t most_setting_bytes = 4096;

[[nodiscard]] constexpr bool is_key_character(char c) {
  return is_log_letter(c) || is_log_digit(c) || c == '_' || c == '-' || c == '.';
}

inline void keep_setting(std::map<std::string, std::string>& settings, std::string_view key,
                         std::string_view value) {
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  value = without_leading_blanks(value);
  if (value.size() >= 2 && (value.front() == '\'' || value.front() == '"') && value.back() == value.front()) {
    value = value.substr(1, value.size() - 2);
  }
  if (key.empty() || key.size() > 100) return;
  const auto known = settings.find(std::string(key));
  if (known == settings.end() && settings.size() >= most_log_settings) return;
  settings[std::string(key)] = printable(value, most_setting_bytes);
}

/// Where the value that begins at `at` ends: at a comma or a closing bracket outside of all brackets and
/// quotes, or before a blank and `name=`.
[[nodiscard]] inline std::size_t end_of_value(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  char quote = '\0';
  char before = '=';
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != '\0') {
      if (c == '\\') {
        ++at;
      } else if (c == quote) {
        quote = '\0';
      }
    } else if ((c == '\'' || c == '"') &&
               std::string_view(" \t{[(,:=").find(before) != std::string_view::npos) {
      quote = c;
    } else if (c == '{' || c == '[' || c == '(') {
      ++depth;
    } else if (c == '}' || c == ']' || c == ')') {
      if (depth == 0) return at;
      --depth;
    } else if (depth == 0 && c == ',') {
      return at;
    } else if (depth == 0 && c == ' ') {
      std::size_t name = at + 1;
      while (name < text.size() && name < at + 100 && is_key_character(text[name])) ++name;
      if (name > at + 1 && name < text.size() && text[name] == '=') return at;
    }
    before = c;
  }
  return text.size();
}

/// Reads settings from the start of `text` on, up to the bracket that closes them or the end.
inline void read_settings(std::string_view text, std::map<std::string, std::string>& settings) {
  std::size_t at = 0;
  while (at < text.size() && (text[at] == ' ' || text[at] == '{' || text[at] == '(')) ++at;
  while (at < text.size()) {
    while (at < text.size() && (text[at] == ' ' || text[at] == ',' || text[at] == '\t')) ++at;
    const bool quoted = at < text.size() && (text[at] == '\'' || text[at] == '"');
    if (quoted) ++at;
    const std::size_t begin = at;
    while (at < text.size() && is_key_character(text[at])) ++at;
    const std::string_view key = text.substr(begin, at - begin);
    if (quoted && at < text.size()) ++at;
    while (at < text.size() && text[at] == ' ') ++at;
    if (key.empty() || at >= text.size() || (text[at] != '=' && text[at] != ':')) return;
    const std::size_t end = end_of_value(text, at + 1);
    keep_setting(settings, key, text.substr(at + 1, end - at - 1));
    at = end;
    if (at < text.size() && text[at] != ',' && text[at] != ' ') return;  // closed
  }
}

}  // namespace kvbudget::inline v0::detail
