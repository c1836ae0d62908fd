#pragma once

#include <cstdint>

namespace kvbudget::inline v0 {

/// A yes or no that the engine has a default for.
enum class option_choice : std::uint8_t { automatic, no, yes };

}  // namespace kvbudget::inline v0
