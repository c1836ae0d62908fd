#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/raise.hpp"

/// Checked integer arithmetic: every operation either gives the exact result or stops.
///
/// The functions that stop are not constexpr, so in a constant expression their *name* is the compiler's
/// message.
namespace kvbudget::inline v0::detail {

[[noreturn]] inline void addition_overflows_64_bits(std::uint64_t a, std::uint64_t b) {
  raise("addition overflows 64 bits: # + #", a, b);
}
[[noreturn]] inline void subtraction_goes_below_zero(std::uint64_t a, std::uint64_t b) {
  raise("subtraction goes below zero: # - #", a, b);
}
[[noreturn]] inline void multiplication_overflows_64_bits(std::uint64_t a, std::uint64_t b) {
  raise("multiplication overflows 64 bits: # x #", a, b);
}
[[noreturn]] inline void division_by_zero() { raise("division by zero"); }
[[noreturn]] inline void a_count_cannot_be_negative() { raise("a count cannot be negative"); }
[[noreturn]] inline void difference_overflows_63_bits(std::uint64_t a, std::uint64_t b) {
  raise("difference overflows 63 bits: # - #", a, b);
}

template <class T> inline constexpr bool is_integer = false;
template <> inline constexpr bool is_integer<short> = true;
template <> inline constexpr bool is_integer<unsigned short> = true;
template <> inline constexpr bool is_integer<int> = true;
template <> inline constexpr bool is_integer<unsigned> = true;
template <> inline constexpr bool is_integer<long> = true;
template <> inline constexpr bool is_integer<unsigned long> = true;
template <> inline constexpr bool is_integer<long long> = true;
template <> inline constexpr bool is_integer<unsigned long long> = true;

/// The integer types that count something; not bool, characters or floating point (`<concepts>` costs more
/// than the core).
template <class T>
concept integer = is_integer<T>;

/// The count as an unsigned 64-bit number; a negative one stops.
template <integer T> [[nodiscard]] constexpr std::uint64_t checked_count(T count) {
  if constexpr (T(-1) < T(0)) {
    if (count < T(0)) a_count_cannot_be_negative();
  }
  return static_cast<std::uint64_t>(count);
}

[[nodiscard]] constexpr std::uint64_t checked_add(std::uint64_t a, std::uint64_t b) {
  if (a > UINT64_MAX - b) addition_overflows_64_bits(a, b);
  return a + b;
}

[[nodiscard]] constexpr std::uint64_t checked_sub(std::uint64_t a, std::uint64_t b) {
  if (a < b) subtraction_goes_below_zero(a, b);
  return a - b;
}

/// a × b. Division-free while both factors fit in 32 bits, which is nearly always.
[[nodiscard]] constexpr std::uint64_t checked_mul(std::uint64_t a, std::uint64_t b) {
  if (((a | b) >> 32) != 0 && a != 0 && b > UINT64_MAX / a) multiplication_overflows_64_bits(a, b);
  return a * b;
}

/// sum + a × b: one step where all three are small, which is nearly always.
[[nodiscard]] constexpr std::uint64_t add_product(std::uint64_t sum, std::uint64_t a, std::uint64_t b) {
  if (((sum >> 62) | (a >> 40) | (b >> 20)) == 0) return sum + a * b;
  return checked_add(sum, checked_mul(a, b));
}

/// a × b × c, in one step where all three are small.
[[nodiscard]] constexpr std::uint64_t checked_product(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  if (((a >> 20) | (b >> 22) | (c >> 22)) == 0) return a * b * c;
  return checked_mul(checked_mul(a, b), c);
}

/// ⌈a / b⌉ without overflow.
[[nodiscard]] constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) {
  if (b == 0) division_by_zero();
  return a / b + static_cast<std::uint64_t>(a % b != 0);
}

[[nodiscard]] constexpr std::uint64_t floor_div(std::uint64_t a, std::uint64_t b) {
  if (b == 0) division_by_zero();
  return a / b;
}

/// ⌈a × b / c⌉, exact even where a × b needs more than 64 bits; stops if the result does.
[[nodiscard]] constexpr std::uint64_t ceil_mul_div(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  if (c == 0) division_by_zero();
  if (c == 1) return checked_mul(a, b);
  const std::uint64_t whole = checked_mul(a / c, b);
  const std::uint64_t rest = a % c;  // < c, so rest × b / c <= b
  if (rest == 0) return whole;
  const std::uint64_t high = checked_mul(rest, b / c);
  return checked_add(checked_add(whole, high), ceil_div(checked_mul(rest, b % c), c));
}

/// ⌊a × b / c⌋, with the same care.
[[nodiscard]] constexpr std::uint64_t floor_mul_div(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  if (c == 0) division_by_zero();
  if (c == 1) return checked_mul(a, b);
  const std::uint64_t whole = checked_mul(a / c, b);
  const std::uint64_t rest = a % c;
  if (rest == 0) return whole;
  const std::uint64_t high = checked_mul(rest, b / c);
  return checked_add(checked_add(whole, high), checked_mul(rest, b % c) / c);
}

/// Whether a / b < c / d, exact and without a product: whole parts first, then the reciprocals of what is
/// left, as in Euclid's algorithm.
[[nodiscard]] constexpr bool is_smaller_fraction(std::uint64_t a, std::uint64_t b, std::uint64_t c,
                                                 std::uint64_t d) {
  for (;;) {
    const std::uint64_t left = floor_div(a, b);
    const std::uint64_t right = floor_div(c, d);
    if (left != right) return left < right;
    const std::uint64_t left_rest = a % b;
    const std::uint64_t right_rest = c % d;
    if (right_rest == 0) return false;
    if (left_rest == 0) return true;
    a = d;  // left_rest / b < right_rest / d where d / right_rest < b / left_rest
    c = b;
    b = right_rest;
    d = left_rest;
  }
}

/// a rounded up to a multiple of `step`.
[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t a, std::uint64_t step) {
  return checked_mul(ceil_div(a, step), step);
}

/// a − b as a signed number.
[[nodiscard]] constexpr std::int64_t signed_difference(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t limit = INT64_MAX;
  if (a >= b) {
    if (a - b > limit) difference_overflows_63_bits(a, b);
    return static_cast<std::int64_t>(a - b);
  }
  if (b - a > limit) difference_overflows_63_bits(a, b);
  return -static_cast<std::int64_t>(b - a);
}

[[nodiscard]] constexpr std::uint64_t greatest_common_divisor(std::uint64_t a, std::uint64_t b) {
  while (b != 0) {
    const std::uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

template <class T> [[nodiscard]] constexpr const T& larger(const T& a, const T& b) { return a < b ? b : a; }
template <class T> [[nodiscard]] constexpr const T& smaller(const T& a, const T& b) { return b < a ? b : a; }

}  // namespace kvbudget::inline v0::detail
