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

enum class varied : std::uint8_t { context, sequences, active_tokens };

/// The workload with one of its sizes set to `n`.
[[nodiscard]] constexpr workload resized(const workload& work, varied what, std::uint64_t n) {
  workload result = work;
  switch (what) {
    case varied::context:
      result.context = tokens{n};
      result.shared_prefix = smaller(work.shared_prefix, result.context);
      break;
    case varied::sequences: result.sequences = n; break;
    case varied::active_tokens:
      result = active_tokens(tokens{n}, work.sequences);
      result.batched_tokens = work.batched_tokens;
      break;
  }
  return result;
}

/// The largest n >= 1 that fits, for a need that never shrinks with n: doubling, then bisection.
template <class Fits>
[[nodiscard]] constexpr limit largest_that(const deployment& asked_for, varied what, const Fits& still_fits) {
  if (what != varied::sequences && asked_for.workload.sequences == 0)
    this_limit_needs_a_number_of_sequences();
  deployment d = asked_for;
  std::uint64_t good = 0;
  std::uint64_t bad = 0;  // 0: none known yet
  while (bad == 0 || bad - good > 1) {
    const std::uint64_t middle = bad == 0 ? larger<std::uint64_t>(2 * good, 1) : good + (bad - good) / 2;
    d.workload = resized(asked_for.workload, what, middle);
    if (!still_fits(d)) {
      bad = middle;
    } else {
      good = middle;
      if (good >= beyond_any_gpu) return {.fits = true, .unbounded = true};
    }
  }
  return {.fits = good != 0, .unbounded = false, .value = good};
}
/// A pool does not depend on the requests, so it is reserved once.
template <engine Engine>
[[nodiscard]] constexpr limit largest(const deployment& d, varied what, const Engine& on,
                                      const gpu_profile& gpu, const headroom& asked) {
  if constexpr (pool_engine<Engine>) {
    const allocation found = allocate(d, on, gpu);
    return largest_that(d, what,
                        [&](const deployment& each) { return check_fit(found, each, gpu, on, asked).fits; });
  } else {
    return largest_that(d, what, [&](const deployment& each) { return fits(each, gpu, on, asked); });
  }
}
}  // namespace detail

/// The longest context that each of the workload's `sequences` may have: it fits, and one token more does
/// not. Other request groups stay as they are; a shared prefix longer than the context is cut to it.
template <engine Engine = engines::geometry>
[[nodiscard]] constexpr limit max_context(const deployment& d, const Engine& on, const gpu_profile& gpu,
                                          const headroom& asked = {}) {
  return detail::largest(d, detail::varied::context, on, gpu, asked);
}
/// The most sequences of the workload's `context` that fit at the same time, over all data-parallel replicas.
template <engine Engine = engines::geometry>
[[nodiscard]] constexpr limit max_sequences(const deployment& d, const Engine& on, const gpu_profile& gpu,
                                            const headroom& asked = {}) {
  return detail::largest(d, detail::varied::sequences, on, gpu, asked);
}
/// The most tokens that the workload's `sequences` may hold together, spread evenly over them.
template <engine Engine = engines::geometry>
[[nodiscard]] constexpr limit max_active_tokens(const deployment& d, const Engine& on, const gpu_profile& gpu,
                                                const headroom& asked = {}) {
  return detail::largest(d, detail::varied::active_tokens, on, gpu, asked);
}

/// The same three on the geometry engine.
template <engine Engine = engines::geometry>
[[nodiscard]] constexpr limit max_context(const deployment& d, const gpu_profile& gpu,
                                          const headroom& asked = {}) {
  return max_context(d, Engine{}, gpu, asked);
}
template <engine Engine = engines::geometry>
[[nodiscard]] constexpr limit max_sequences(const deployment& d, const gpu_profile& gpu,
                                            const headroom& asked = {}) {
  return max_sequences(d, Engine{}, gpu, asked);
}
template <engine Engine = engines::geometry>
[[nodiscard]] constexpr limit max_active_tokens(const deployment& d, const gpu_profile& gpu,
                                                const headroom& asked = {}) {
  return max_active_tokens(d, Engine{}, gpu, asked);
}

}  // namespace kvbudget::inline v0
