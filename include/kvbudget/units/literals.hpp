#pragma once

#include <cstdint>

#include "kvbudget/units/quantity.hpp"
#include "kvbudget/units/ratio.hpp"

namespace kvbudget::inline v0 {

namespace detail {
inline constexpr std::uint64_t kib = 1024;
inline constexpr std::uint64_t mib = 1024 * kib;
inline constexpr std::uint64_t gib = 1024 * mib;
inline constexpr std::uint64_t tib = 1024 * gib;
inline constexpr std::uint64_t kb = 1000;
inline constexpr std::uint64_t mb = 1000 * kb;
inline constexpr std::uint64_t gb = 1000 * mb;
inline constexpr std::uint64_t tb = 1000 * gb;
}  // namespace detail

/// Checked makers: `gibibytes(80)` is 80 × 2^30 bytes, `gigabytes(80)` is 80 × 10^9; negative counts and
/// overflow stop, fractions do not compile.
[[nodiscard]] constexpr bytes kibibytes(detail::integer auto n) { return bytes{n} * detail::kib; }
[[nodiscard]] constexpr bytes mebibytes(detail::integer auto n) { return bytes{n} * detail::mib; }
[[nodiscard]] constexpr bytes gibibytes(detail::integer auto n) { return bytes{n} * detail::gib; }
[[nodiscard]] constexpr bytes tebibytes(detail::integer auto n) { return bytes{n} * detail::tib; }
[[nodiscard]] constexpr bytes kilobytes(detail::integer auto n) { return bytes{n} * detail::kb; }
[[nodiscard]] constexpr bytes megabytes(detail::integer auto n) { return bytes{n} * detail::mb; }
[[nodiscard]] constexpr bytes gigabytes(detail::integer auto n) { return bytes{n} * detail::gb; }
[[nodiscard]] constexpr bytes terabytes(detail::integer auto n) { return bytes{n} * detail::tb; }

/// `80_GiB`, `144_GB`, `32768_tokens`, `20_percent`. Whole numbers only: a fractional literal does not
/// compile.
namespace literals {
consteval bytes operator""_B(unsigned long long n) { return bytes{n}; }
consteval bytes operator""_KiB(unsigned long long n) { return kibibytes(n); }
consteval bytes operator""_MiB(unsigned long long n) { return mebibytes(n); }
consteval bytes operator""_GiB(unsigned long long n) { return gibibytes(n); }
consteval bytes operator""_TiB(unsigned long long n) { return tebibytes(n); }
consteval bytes operator""_KB(unsigned long long n) { return kilobytes(n); }
consteval bytes operator""_MB(unsigned long long n) { return megabytes(n); }
consteval bytes operator""_GB(unsigned long long n) { return gigabytes(n); }
consteval bytes operator""_TB(unsigned long long n) { return terabytes(n); }
consteval tokens operator""_tokens(unsigned long long n) { return tokens{n}; }
consteval ratio operator""_percent(unsigned long long n) { return percent(n); }
}  // namespace literals

}  // namespace kvbudget::inline v0
