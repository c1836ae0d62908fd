#pragma once

#include <cstdint>

#include "kvbudget/plan/fits.hpp"

namespace kvbudget::inline v0 {

/// The answer of an inverse question. "Never fits" and "unbounded" are answers: with `fits` false even the
/// smallest does not fit; with `unbounded` true no size stops fitting, and `value` means nothing.
struct limit {
  bool fits = false;
  bool unbounded = false;
  std::uint64_t value = 0;
  friend constexpr bool operator==(const limit&, const limit&) = default;
};

namespace detail {
[[noreturn]] inline void this_limit_needs_a_number_of_sequences() {
  raise("this limit needs a number of sequences in the workload's short form");
}

/// No GPU holds 2^48 tokens or sequences that cost anything: an eighth of a byte each would be 32 TB.
inline constexpr std::uint64_t beyond_any_gpu = std::uint64_t{1} << 48;

/// The largest n >= 1 with `holds(n)`, for a predicate that is true up to there: doubling, then bisection.
template <class Predicate> [[nodiscard]] constexpr limit largest(Predicate&& holds) {
  if (!holds(1)) return {};
  std::uint64_t good = 1;
  std::uint64_t bad = 2;
  while (holds(bad)) {
    good = bad;
    if (good >= beyond_any_gpu) return {.fits = true, .unbounded = true};
    bad *= 2;
  }
  while (bad - good > 1) {
    const std::uint64_t middle = good + (bad - good) / 2;
    (holds(middle) ? good : bad) = middle;
  }
  return {.fits = true, .unbounded = false, .value = good};
}
}  // namespace detail

/// The longest context that each of the workload's `sequences` may have: it fits, and one token more does
/// not. Other request groups stay as they are; a shared prefix longer than the context is cut to it.
template <engine Engine>
[[nodiscard]] constexpr limit max_context(deployment d, const Engine& on, const gpu_profile& gpu,
                                          const headroom& asked = {}) {
  if (d.workload.sequences == 0) detail::this_limit_needs_a_number_of_sequences();
  const tokens prefix = d.workload.shared_prefix;
  return detail::largest([&](std::uint64_t context) {
    d.workload.context = tokens{context};
    d.workload.shared_prefix = detail::smaller(prefix, d.workload.context);
    return fits(d, gpu, on, asked);
  });
}

/// The most sequences of the workload's `context` that fit at the same time, over all data-parallel replicas.
template <engine Engine>
[[nodiscard]] constexpr limit max_sequences(deployment d, const Engine& on, const gpu_profile& gpu,
                                            const headroom& asked = {}) {
  return detail::largest([&](std::uint64_t sequences) {
    d.workload.sequences = sequences;
    return fits(d, gpu, on, asked);
  });
}

/// The most tokens that the workload's `sequences` may hold together, spread evenly over them.
template <engine Engine>
[[nodiscard]] constexpr limit max_active_tokens(deployment d, const Engine& on, const gpu_profile& gpu,
                                                const headroom& asked = {}) {
  const std::uint64_t sequences = d.workload.sequences;
  if (sequences == 0) detail::this_limit_needs_a_number_of_sequences();
  const tokens batched = d.workload.batched_tokens;
  return detail::largest([&](std::uint64_t total) {
    d.workload = active_tokens(tokens{total}, sequences);
    d.workload.batched_tokens = batched;
    return fits(d, gpu, on, asked);
  });
}

/// The same on the geometry engine.
[[nodiscard]] constexpr limit max_context(const deployment& d, const gpu_profile& gpu,
                                          const headroom& asked = {}) {
  return max_context(d, engines::geometry{}, gpu, asked);
}
[[nodiscard]] constexpr limit max_sequences(const deployment& d, const gpu_profile& gpu,
                                            const headroom& asked = {}) {
  return max_sequences(d, engines::geometry{}, gpu, asked);
}
[[nodiscard]] constexpr limit max_active_tokens(const deployment& d, const gpu_profile& gpu,
                                                const headroom& asked = {}) {
  return max_active_tokens(d, engines::geometry{}, gpu, asked);
}

}  // namespace kvbudget::inline v0
