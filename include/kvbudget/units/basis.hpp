#pragma once

#include <cstdint>

namespace kvbudget::inline v0 {

/// How a number is known: by arithmetic alone, read off a real run, fitted to real runs, or taken on trust.
enum class basis : std::uint8_t { exact, measured, calibrated, assumed };

/// The weaker of two: a sum is only as well known as its worst part.
[[nodiscard]] constexpr basis weaker(basis a, basis b) { return a < b ? b : a; }

/// As printed.
[[nodiscard]] constexpr const char* name_of(basis known) {
  switch (known) {
    case basis::exact: return "exact";
    case basis::measured: return "measured";
    case basis::calibrated: return "calibrated";
    case basis::assumed: return "assumed";
  }
  return "unknown";
}

}  // namespace kvbudget::inline v0
