#pragma once

#include <string_view>

/// What readers ask of texts.
namespace kvbudget::inline v0::detail {

[[nodiscard]] constexpr bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}
[[nodiscard]] constexpr bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}
[[nodiscard]] constexpr bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace kvbudget::inline v0::detail
