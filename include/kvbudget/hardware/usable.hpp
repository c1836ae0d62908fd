#pragma once

#include <cstdint>

#include "kvbudget/hardware/driver_constants.hpp"
#include "kvbudget/hardware/gpu_profile.hpp"
#include "kvbudget/units/basis.hpp"
#include "kvbudget/units/quantity.hpp"

namespace kvbudget::inline v0 {

namespace detail {
[[noreturn]] inline void nominal_size_alone_is_refused_measure_it_or_pass_nominal_is_enough(
    std::uint64_t nominal) {
  raise("the marketed size alone (# bytes) is refused: measure the GPU or pass nominal_is_enough", nominal);
}
[[noreturn]] inline void the_profile_gives_no_memory_size() { raise("the GPU profile gives no memory size"); }
}  // namespace detail

/// Memory that a program can get from one GPU, before any CUDA context: bounds, the value to plan with, and
/// what it rests on.
struct usable_memory {
  bytes low{};
  bytes expected{};
  bytes high{};
  basis known = basis::assumed;

  friend constexpr bool operator==(const usable_memory&, const usable_memory&) = default;
};

/// Option of `usable`: accept a profile that gives nothing but the marketed size. The answer is then
/// `assumed`.
struct nominal_is_enough_t {
  explicit nominal_is_enough_t() = default;
};
inline constexpr nominal_is_enough_t nominal_is_enough{};

namespace detail {

/// What follows from the totals that somebody saw; `known == assumed` with `high == 0` when there is none.
[[nodiscard]] constexpr usable_memory usable_as_seen(const gpu_profile& gpu) {
  if (gpu.runtime_total_bytes != 0) {
    const std::uint64_t total = gpu.runtime_total_bytes;
    const std::uint64_t rounding = gpu.runtime_total_rounding_bytes;
    return {.low = bytes{checked_sub(total, rounding)},
            .expected = bytes{total},
            .high = bytes{checked_add(total, rounding)},
            .known = gpu.working_set_assumed ? basis::assumed : basis::measured};
  }
  if (gpu.driver_total_bytes != 0) {
    const bytes total{gpu.driver_total_bytes};
    return {.low = total - bytes{constants::driver_reserve.high},
            .expected = total - bytes{constants::driver_reserve.expected},
            .high = total - bytes{constants::driver_reserve.low},
            .known = constants::driver_reserve.known};
  }
  return {};
}

/// What is left of a GPU beside other processes.
[[nodiscard]] constexpr usable_memory without(usable_memory all, bytes used_by_others) {
  all.low -= smaller(all.low, used_by_others);
  all.expected -= smaller(all.expected, used_by_others);
  all.high -= smaller(all.high, used_by_others);
  return all;
}

}  // namespace detail

/// Memory that a program can get from one GPU: the total that the runtime shows, plus and minus its
/// rounding; else the driver's total less `constants::driver_reserve` (0.3 to 0.9 GiB, assumed).
///
/// The CUDA context is not subtracted: it is an item of the budget. A profile that gives only the marketed
/// size, or nothing, stops.
[[nodiscard]] constexpr usable_memory usable(const gpu_profile& gpu) {
  const usable_memory seen = detail::usable_as_seen(gpu);
  if (seen.high == bytes{}) {
    if (gpu.nominal_bytes == 0) detail::the_profile_gives_no_memory_size();
    detail::nominal_size_alone_is_refused_measure_it_or_pass_nominal_is_enough(gpu.nominal_bytes);
  }
  return seen;
}

/// The same, but content with the marketed size where nobody saw a total. "80 GB" may mean 80 × 10^9 bytes
/// (expected) or 80 × 2^30 (high), and ECC may take a sixteenth of it (low); memory shared with a CPU gives
/// its GPU as little as two thirds (low). From each the driver's reserve is subtracted.
[[nodiscard]] constexpr usable_memory usable(const gpu_profile& gpu, nominal_is_enough_t) {
  const usable_memory seen = detail::usable_as_seen(gpu);
  if (seen.high != bytes{}) return seen;
  if (gpu.nominal_bytes == 0) detail::the_profile_gives_no_memory_size();
  const std::uint64_t nominal = gpu.nominal_bytes;
  const std::uint64_t least =
      gpu.unified_memory ? detail::floor_mul_div(nominal, 2, 3) : detail::floor_mul_div(nominal, 15, 16);
  const std::uint64_t binary = detail::floor_mul_div(nominal, 1024 * 1024 * 1024, 1000 * 1000 * 1000);
  return {.low = bytes{least} - bytes{constants::driver_reserve.high},
          .expected = bytes{nominal} - bytes{constants::driver_reserve.expected},
          .high = bytes{binary} - bytes{constants::driver_reserve.low},
          .known = basis::assumed};
}

}  // namespace kvbudget::inline v0
