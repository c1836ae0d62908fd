#pragma once

#include <cstdint>

#include "kvbudget/units/quantity.hpp"

namespace kvbudget::inline v0 {

/// An exact non-negative fraction in lowest terms: shares (20 percent) and slopes (bytes per token), which
/// need not be whole: a cache that keeps one entry per four tokens, or a token split over three ranks.
struct ratio {
  std::uint64_t numerator = 0;
  std::uint64_t denominator = 1;

  ratio() = default;
  /// numerator / denominator, reduced; a zero denominator stops.
  constexpr ratio(std::uint64_t top, std::uint64_t bottom) {
    if (bottom == 0) detail::division_by_zero();
    const std::uint64_t shared = detail::greatest_common_divisor(top, bottom);
    numerator = top / shared;
    denominator = bottom / shared;
  }
  explicit constexpr ratio(std::uint64_t whole) : numerator(whole), denominator(1) {}

  friend constexpr bool operator==(const ratio&, const ratio&) = default;
  friend constexpr ratio operator+(const ratio& a, const ratio& b) {
    if (a.denominator == b.denominator) {
      return ratio{detail::checked_add(a.numerator, b.numerator), a.denominator};
    }
    const std::uint64_t shared = detail::greatest_common_divisor(a.denominator, b.denominator);
    const std::uint64_t left = detail::checked_mul(a.numerator, b.denominator / shared);
    const std::uint64_t right = detail::checked_mul(b.numerator, a.denominator / shared);
    return ratio{detail::checked_add(left, right),
                 detail::checked_mul(a.denominator / shared, b.denominator)};
  }
  friend constexpr ratio operator*(const ratio& a, std::uint64_t factor) {
    const std::uint64_t shared = detail::greatest_common_divisor(factor, a.denominator);
    return ratio{detail::checked_mul(a.numerator, factor / shared), a.denominator / shared};
  }
  friend constexpr bool operator<(const ratio& a, const ratio& b) {
    return detail::is_smaller_fraction(a.numerator, a.denominator, b.numerator, b.denominator);
  }
  [[nodiscard]] constexpr bool is_whole() const { return denominator == 1; }
  /// The nearest double, for printing only.
  [[nodiscard]] constexpr double approximate() const {
    return static_cast<double>(numerator) / static_cast<double>(denominator);
  }
};

/// ⌈share × amount⌉ and ⌊share × amount⌋.
[[nodiscard]] constexpr bytes ceil_share(bytes amount, const ratio& share) {
  return bytes{detail::ceil_mul_div(amount.value, share.numerator, share.denominator)};
}
[[nodiscard]] constexpr bytes floor_share(bytes amount, const ratio& share) {
  return bytes{detail::floor_mul_div(amount.value, share.numerator, share.denominator)};
}

/// n / 100, exact.
[[nodiscard]] constexpr ratio percent(std::uint64_t n) { return ratio{n, 100}; }

}  // namespace kvbudget::inline v0
