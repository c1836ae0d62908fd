#pragma once

#include <cstdint>

#include "kvbudget/units/basis.hpp"

namespace kvbudget::inline v0 {

/// A constant of the world that no formula gives: bounds, the value to plan with, and where it was found.
///
/// In bytes unless its name says otherwise; `low <= expected <= high`, all equal when `exact`. Only
/// `cmake/generate_constants.cmake` writes them, from `data/engines/*.json`.
struct measured_constant {
  std::uint64_t low = 0;
  std::uint64_t expected = 0;
  std::uint64_t high = 0;
  basis known = basis::assumed;
  const char* source = "";  ///< public source, as text
};

}  // namespace kvbudget::inline v0
