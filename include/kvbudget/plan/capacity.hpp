#pragma once

#include <cstdint>

#include "kvbudget/plan/limits.hpp"

namespace kvbudget::inline v0 {

/// What a deployment's GPUs have room for: the inverse questions of one workload, together.
struct capacity {
  /// What is left for the cache on the rank that runs out of it first: usable memory less the headroom asked
  /// for and every line but `kv_cache`; 0 where those alone do not fit.
  bytes available_kv{};
  /// The cache of one request of the workload's longest context, alone, on that rank; with a pool, of the
  /// longest request that the engine allows.
  bytes bytes_per_request{};
  limit max_tokens{};     ///< all sequences together, spread evenly (`max_active_tokens`)
  limit max_context{};    ///< of each of the workload's sequences
  limit max_sequences{};  ///< of the workload's context
  bool fits = false;      ///< the workload as it stands
  /// Engines with a pool: its blocks, their tokens, and what the engine prints; 0 otherwise.
  std::uint64_t blocks = 0;
  std::uint64_t block_tokens = 0;
  std::uint64_t printed_kv_cache_tokens = 0;
  std::uint64_t longest_start = 0;  ///< the longest max_model_len with which the engine starts
  bool starts = true;               ///< whether the engine comes up at all
  refusal refused{};                ///< why it would not load this, or not serve it
  ratio in_blocks{};                ///< requests of the engine's longest length that its pools hold

  /// A request may keep nothing at all: then any number of them fits.
  [[nodiscard]] constexpr bool concurrency_is_unbounded() const { return bytes_per_request == bytes{}; }
  /// Requests that the available cache holds at once, per data-parallel replica: available / one request.
  [[nodiscard]] constexpr ratio concurrency() const {
    if (blocks != 0) return in_blocks;
    return {available_kv.value, bytes_per_request.value};
  }
};

namespace detail {
/// Whether one rank's cache holds fewer requests than another's; a rank whose requests keep nothing never
/// runs out.
[[nodiscard]] constexpr bool runs_out_sooner(const capacity& a, const capacity& b) {
  if (a.concurrency_is_unbounded()) return false;
  return b.concurrency_is_unbounded() || a.concurrency() < b.concurrency();
}
/// The same from what a pooling engine reserves.
template <pool_engine Engine>
[[nodiscard]] constexpr capacity capacity_of_pools(const deployment& d, const gpu_profile& gpu,
                                                   const Engine& on, const headroom& asked) {
  const allocation found = allocate(d, on, gpu);
  const auto largest = [&](varied what) {
    return largest_that(d, what,
                        [&](const deployment& each) { return check_fit(found, each, gpu, on, asked).fits; });
  };
  capacity result;
  result.fits = check_fit(found, d, gpu, on, asked).fits;
  result.available_kv = bytes{at_least_zero(found.available_kv.expected)};
  result.bytes_per_request = found.bytes_per_longest_request();
  result.max_tokens = largest(varied::active_tokens);
  result.max_context = largest(varied::context);
  result.max_sequences = largest(varied::sequences);
  result.blocks = found.blocks();
  result.block_tokens = found.block_tokens();
  result.printed_kv_cache_tokens = found.printed_kv_cache_tokens;
  result.longest_start = longest_start(found, d, on, gpu);
  result.starts = found.starts();
  result.refused = found.refused;
  if (!found.concurrency(found.longest_request, result.in_blocks)) result.bytes_per_request = bytes{};
  return result;
}
}  // namespace detail

/// Answers the inverse questions for a workload in its short form (`sequences` × `context`).
template <engine Engine = engines::geometry>
[[nodiscard]] constexpr capacity capacity_of(const deployment& d, const gpu_profile& gpu,
                                             const Engine& on = {}, const headroom& asked = {}) {
  capacity result;
  if constexpr (pool_engine<Engine>) return detail::capacity_of_pools(d, gpu, on, asked);
  result.refused = detail::refusal_of(d, gpu, on);
  result.starts = detail::loads(d, on, &gpu);
  result.fits = fits(d, gpu, on, asked);
  result.max_tokens = max_active_tokens(d, on, gpu, asked);
  result.max_context = max_context(d, on, gpu, asked);
  result.max_sequences = max_sequences(d, on, gpu, asked);
  if (!result.starts) return result;

  const bytes usable_bytes = on.usable(gpu).expected;
  const bytes reserved = asked.of(usable_bytes);
  deployment one = d;
  one.workload = workload{.sequences = 1, .context = d.workload.longest_context()};
  const cluster_budget cluster = estimate_cluster(d, on, &gpu);
  for (std::uint32_t kind = 0; kind < cluster.kind_count; ++kind) {
    const memory_budget& budget = cluster.kinds[kind].budget;
    const bytes other = budget.total() - budget.kv_cache() + reserved;
    const bytes available = other < usable_bytes ? usable_bytes - other : bytes{};
    const rank where{cluster.kinds[kind].where.stage, 0};
    const bytes need = on.ledger(one, where, &gpu).kv_cache();
    const capacity here{.available_kv = available, .bytes_per_request = need};
    if (kind != 0 && !detail::runs_out_sooner(here, result)) continue;
    result.available_kv = available;
    result.bytes_per_request = need;
  }
  return result;
}

}  // namespace kvbudget::inline v0
