#pragma once

#include <cstdint>

#include "kvbudget/detail/checked.hpp"

namespace kvbudget::inline v0 {

/// A counted quantity of one dimension: a whole, non-negative number that only combines with its own kind.
///
/// `bytes{}` is zero (and `bytes b;` is not initialized, as with the standard's durations). Built explicitly
/// from any integer (`bytes{80}`); a negative integer stops, a floating-point number does not compile.
/// Addition, subtraction and multiplication by a count are checked: on overflow, or below zero, constant
/// evaluation stops at a function whose name says why, and run time throws `kvbudget::error`.
template <class Dimension> struct quantity {
  std::uint64_t value;

  quantity() = default;
  template <detail::integer T>
  explicit constexpr quantity(T count) : value(static_cast<std::uint64_t>(count)) {
    if constexpr (T(-1) < T(0)) {
      if (count < T(0)) detail::a_count_cannot_be_negative();
    }
  }
  explicit quantity(double) = delete;  // a fraction of a byte or of a token is a mistake, not a size
  explicit quantity(long double) = delete;
  explicit quantity(float) = delete;

  friend constexpr bool operator==(quantity, quantity) = default;
  friend constexpr bool operator<(quantity a, quantity b) { return a.value < b.value; }
  friend constexpr bool operator>(quantity a, quantity b) { return a.value > b.value; }
  friend constexpr bool operator<=(quantity a, quantity b) { return a.value <= b.value; }
  friend constexpr bool operator>=(quantity a, quantity b) { return a.value >= b.value; }

  friend constexpr quantity operator+(quantity a, quantity b) {
    return quantity{detail::checked_add(a.value, b.value)};
  }
  friend constexpr quantity operator-(quantity a, quantity b) {
    return quantity{detail::checked_sub(a.value, b.value)};
  }
  template <detail::integer T> friend constexpr quantity operator*(quantity a, T factor) {
    return quantity{detail::checked_mul(a.value, detail::checked_count(factor))};
  }
  template <detail::integer T> friend constexpr quantity operator*(T factor, quantity a) {
    return a * factor;
  }
  /// Whole part of the quotient; use `ceil_div` to round up.
  template <detail::integer T> friend constexpr quantity operator/(quantity a, T divisor) {
    return quantity{detail::floor_div(a.value, detail::checked_count(divisor))};
  }
  /// How many whole `b` fit into `a`.
  friend constexpr std::uint64_t operator/(quantity a, quantity b) {
    return detail::floor_div(a.value, b.value);
  }
  constexpr quantity& operator+=(quantity other) { return *this = *this + other; }
  constexpr quantity& operator-=(quantity other) { return *this = *this - other; }
};

/// ⌈a / divisor⌉.
template <class Dimension, detail::integer T>
[[nodiscard]] constexpr quantity<Dimension> ceil_div(quantity<Dimension> a, T divisor) {
  return quantity<Dimension>{detail::ceil_div(a.value, detail::checked_count(divisor))};
}

/// A number of bytes. Print it as GiB (2^30) or GB (10^9); the text always says which.
using bytes = quantity<struct byte_dimension>;
/// A number of tokens.
using tokens = quantity<struct token_dimension>;
/// A number of weights that are held in memory, every expert among them.
using parameters = quantity<struct parameter_dimension>;
/// A number of weights that take part in a computation: of the experts only those that tokens are routed to.
using active_parameters = quantity<struct active_parameter_dimension>;

/// a − b in bytes, which may be negative (headroom of a plan that does not fit).
[[nodiscard]] constexpr std::int64_t signed_difference(bytes a, bytes b) {
  return detail::signed_difference(a.value, b.value);
}

}  // namespace kvbudget::inline v0
