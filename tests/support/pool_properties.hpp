#pragma once

// What holds for every engine that reserves pools, tried on random models, layouts, options and GPUs.
#include <cstdint>

#include "support/catch.hpp"
#include "support/random_models.hpp"

namespace samples {

/// How often each kind of answer came up: a property that never met one of them proves nothing about it.
struct answers_met {
  int exact = 0;
  int never = 0;
  int capped = 0;  ///< by the engine's own limit of length or requests
  int unbounded = 0;
};

/// That `found` fits, one more does not, or that it is never or always so.
template <class Engine>
void require_exact(const deployment& d, detail::varied what, const limit& found, const Engine& on,
                   const gpu_profile& gpu, const headroom& asked, std::uint64_t cap, answers_met& met) {
  const auto fits_with = [&](std::uint64_t n) {
    deployment each = d;
    each.workload = detail::resized(d.workload, what, n);
    return check_fit(each, gpu, on, asked).fits;
  };
  if (!found.fits) {
    REQUIRE_FALSE(fits_with(1));
    ++met.never;
  } else if (found.unbounded) {
    REQUIRE(fits_with(std::uint64_t{1} << 40));
    ++met.unbounded;
  } else {
    REQUIRE(fits_with(found.value));
    REQUIRE_FALSE(fits_with(found.value + 1));
    ++(found.value == cap ? met.capped : met.exact);
  }
}

/// Inverses are exact, pools stay within what is left for them, a larger need never fits where a smaller does
/// not, and the ledgers of all ranks hold the same number of blocks.
template <class Engine>
answers_met prove_pools(const deployment& d, const Engine& on, const gpu_profile& gpu, const headroom& asked,
                        bool sized_by_memory = true) {
  answers_met met;
  const allocation found = allocate(d, on, gpu);
  for (const block_pool& pool : found.pools) REQUIRE(pool.free_blocks() <= pool.blocks);
  if (sized_by_memory && found.available_kv.expected >= 0 && found.pools.pools[0].beside == 0) {
    REQUIRE(found.pools.size().value <= static_cast<std::uint64_t>(found.available_kv.expected));
  }
  REQUIRE(found.budget.total_low() <= found.budget.total());
  REQUIRE(found.budget.total() <= found.budget.total_high());
  REQUIRE(found.budget["kv_cache"] == found.pools.size());

  const verdict answer = check_fit(found, d, gpu, on, asked);
  REQUIRE(!(answer.surely && !answer.fits));
  REQUIRE(!(answer.never && answer.fits));
  deployment more = d;
  more.workload.sequences += 1;
  if (check_fit(more, gpu, on, asked).fits) REQUIRE(answer.fits);

  const auto largest = [&](detail::varied what) { return detail::largest(d, what, on, gpu, asked); };
  require_exact(d, detail::varied::context, largest(detail::varied::context), on, gpu, asked,
                found.longest_request, met);
  require_exact(d, detail::varied::sequences, largest(detail::varied::sequences), on, gpu, asked,
                found.running_requests, met);
  require_exact(d, detail::varied::active_tokens, largest(detail::varied::active_tokens), on, gpu, asked,
                found.longest_request * d.workload.sequences, met);

  const cluster_budget cluster = estimate_cluster(d, on, &gpu);
  REQUIRE(cluster.ranks() == d.parallel.ranks());
  for (std::uint32_t kind = 0; kind < cluster.kind_count; ++kind) {
    const block_pools pools = on.pools(d, cluster.kinds[kind].where, gpu, 0);
    std::uint64_t size = 0;
    for (std::uint32_t i = 0; i < pools.count; ++i) {
      size += (found.pools.pools[i].blocks + pools.pools[i].beside) * pools.pools[i].block_bytes;
    }
    REQUIRE(cluster.kinds[kind].budget["kv_cache"].value == size);
  }
  return met;
}

}  // namespace samples
