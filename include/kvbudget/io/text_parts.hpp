#pragma once

#include <string_view>

namespace kvbudget::inline v0::detail {

/// Whether a text has another one in it.
[[nodiscard]] constexpr bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace kvbudget::inline v0::detail
