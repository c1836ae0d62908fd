#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/engine/pool_engine.hpp"
#include "kvbudget/hardware/node.hpp"
#include "kvbudget/plan/estimate.hpp"
#include "kvbudget/units/ratio.hpp"

namespace kvbudget::inline v0 {

/// What a pooling engine reserves on its GPUs when it starts, before any request: the answer of `allocate`.
/// Pools and ledger are those of the rank that has room for the fewest blocks; the other ranks keep as many.
/// In its `budget`, `kv_cache` is the reserved pool.
struct allocation : rank_reservation {
  engine_name engine{};
  refusal refused{};                  ///< why the engine would not load this; then nothing else counts
  rank where{};                       ///< the place of that rank in the layout
  bytes gpu_total{};                  ///< of one GPU, as a program sees it
  std::uint64_t longest_request = 0;  ///< max_model_len: tokens that one request may have
  bytes needed_to_start{};            ///< cache that the engine must have to start at all
  std::uint64_t printed_kv_cache_tokens = 0;  ///< as that version's log prints it; 0 = it prints none

  /// Whether the engine comes up: nothing refused, and its cache holds what it insists on.
  [[nodiscard]] constexpr bool starts() const {
    return !refused && available_kv.expected >= 0 &&
           needed_to_start.value <= static_cast<std::uint64_t>(available_kv.expected);
  }
  /// The pool that grows with every token.
  [[nodiscard]] constexpr const block_pool& main_pool() const { return pools.pools[0]; }
  [[nodiscard]] constexpr std::uint64_t blocks() const { return main_pool().blocks; }
  /// Tokens of a block of attention; without attention, of whatever the pool holds.
  [[nodiscard]] constexpr std::uint64_t block_tokens() const {
    const block_pool& pool = main_pool();
    for (std::uint32_t i = 0; i < pool.group_count; ++i) {
      if (pool.groups[i].rule == block_rule::every_token) return pool.groups[i].block_tokens;
    }
    return pool.groups[0].block_tokens;
  }
  /// Bytes of the blocks that one request of the longest length holds.
  [[nodiscard]] constexpr bytes bytes_per_longest_request() const { return pools.bytes_of(longest_request); }
  /// Requests of `length` tokens that the pools hold at once: the least of blocks / blocks of one request.
  /// False and no number where a request needs no block at all.
  [[nodiscard]] constexpr bool concurrency(std::uint64_t length, ratio& found) const {
    bool bounded = false;
    for (const block_pool& pool : pools) {
      const std::uint64_t each = pool.blocks_of(length);
      if (each == 0) continue;
      const ratio here{pool.blocks, each};
      if (!bounded || here < found) found = here;
      bounded = true;
    }
    return bounded;
  }
  /// GPU memory that nothing in the ledger claims; negative = the engine takes more than there is.
  [[nodiscard]] constexpr std::int64_t left() const { return signed_difference(gpu_total, budget.total()); }
};

namespace detail {
[[noreturn]] inline void the_layout_needs_as_many_gpus_as_it_has_ranks(std::uint64_t ranks,
                                                                       std::uint64_t gpus) {
  raise("the layout has # ranks, but the node has # GPUs", ranks, gpus);
}

/// Whether one rank has room for fewer blocks in some pool, the first that differs.
[[nodiscard]] constexpr bool has_fewer_blocks(const block_pools& a, const block_pools& b) {
  for (std::uint32_t i = 0; i < a.count; ++i) {
    if (a.pools[i].blocks != b.pools[i].blocks) return a.pools[i].blocks < b.pools[i].blocks;
  }
  return false;
}
}  // namespace detail

/// The longest max_model_len with which the engine starts, up to the one it was asked for.
template <pool_engine Engine>
[[nodiscard]] constexpr std::uint64_t longest_start(const allocation& found, const deployment& d,
                                                    const Engine& on, const gpu_profile& gpu) {
  const std::uint64_t available = detail::at_least_zero(found.available_kv.expected);
  const auto starts = [&](std::uint64_t length) {
    return on.needed_to_start(d, gpu, found.pools, length).value <= available;
  };
  std::uint64_t good = 0;
  std::uint64_t bad = found.longest_request + 1;
  if (starts(found.longest_request)) return found.longest_request;
  while (bad - good > 1) {
    const std::uint64_t middle = good + (bad - good) / 2;
    (starts(middle) ? good : bad) = middle;
  }
  return good;
}

/// What the engine reserves for a deployment on such GPUs, by its own rules: ledger, pools, blocks, tokens,
/// concurrency. Requests play no part but their formats: an engine sizes its pools for its own limits. Stops
/// if the deployment cannot exist; what the engine would not load is told in `refused`.
template <pool_engine Engine>
[[nodiscard]] constexpr allocation allocate(const deployment& d, const Engine& on, const gpu_profile& gpu) {
  validate(d);
  allocation result;
  result.engine = on.name();
  result.refused = on.refuses(d, gpu);
  result.gpu_total = usable(gpu).expected;
  result.longest_request = on.longest_request(d);
  on.reserve(d, rank{}, gpu, result);
  for (std::uint32_t stage = 1; stage < d.parallel.pipeline; ++stage) {
    const rank where{stage, 0};
    rank_reservation here = reservation_of(on, d, where, gpu);
    const bool binds = detail::has_fewer_blocks(here.pools, result.pools);
    if (binds) {
      detail::take_fewest(here, result);
      static_cast<rank_reservation&>(result) = here;
      result.where = where;
    } else {
      detail::take_fewest(result, here);
    }
  }
  detail::add_pools(result);
  if constexpr (requires { on.fit_max_model_len; }) {
    if (on.fit_max_model_len) result.longest_request = longest_start(result, d, on, gpu);
  }
  result.needed_to_start = on.needed_to_start(d, gpu, result.pools, result.longest_request);
  result.printed_kv_cache_tokens = on.printed_tokens(d, gpu, result.pools, result.longest_request);
  if constexpr (requires { on.refuses_pools(d, gpu, result); }) {
    if (result.starts()) result.refused = on.refuses_pools(d, gpu, result);
  }
  return result;
}
/// The same on a machine that has exactly the GPUs that the layout needs.
template <pool_engine Engine>
[[nodiscard]] constexpr allocation allocate(const deployment& d, const Engine& on, const node& machine) {
  if (d.parallel.ranks() != machine.count) {
    detail::the_layout_needs_as_many_gpus_as_it_has_ranks(d.parallel.ranks(), machine.count);
  }
  return allocate(d, on, gpu_of(machine));
}

namespace detail {
/// Whether a layer of blocks holds what the requests of one replica need, and by how many bytes.
struct pool_room {
  std::int64_t spare = INT64_MAX;  ///< least over the pools, in bytes; negative = missing
  bytes need{};                    ///< Σ over the pools
};
[[nodiscard]] constexpr pool_room room_for(const block_pools& pools, const std::uint64_t* blocks,
                                           const deployment& d, std::uint32_t replica) {
  pool_room room;
  for (std::uint32_t i = 0; i < pools.count; ++i) {
    const block_pool& pool = pools.pools[i];
    std::uint64_t need = 0;
    for (std::uint32_t number = 0; number < d.workload.group_count(); ++number) {
      need = checked_add(need, pool.blocks_of(group_of_replica(d, number, replica)));
    }
    if (need == 0) continue;
    const std::uint64_t free = blocks[i] > pool.kept_back ? blocks[i] - pool.kept_back : 0;
    const bytes needed{checked_mul(need, pool.block_bytes)};
    const std::int64_t spare = signed_difference(bytes{checked_mul(free, pool.block_bytes)}, needed);
    room.spare = smaller(room.spare, spare);
    room.need += needed;
  }
  return room;
}

/// What the workload's requests need of the pools on the replica that has the least to spare.
[[nodiscard]] constexpr pool_room tightest_room(const allocation& found, const std::uint64_t* blocks,
                                                const deployment& d) {
  if (d.parallel.replicas() == 1) return room_for(found.pools, blocks, d, 0);
  pool_room worst;
  const replica_kinds replicas = replica_kinds_of(d);
  for (std::size_t kind = 0; kind < replicas.kinds; ++kind) {
    const pool_room here = room_for(found.pools, blocks, d, replicas.first[kind]);
    if (kind == 0 || here.spare < worst.spare) worst = here;
  }
  return worst;
}
/// Whether the engine lets the workload's requests in at all: none too long, no more at once than it runs.
[[nodiscard]] constexpr bool admits(const allocation& found, const deployment& d) {
  if (d.workload.longest_context().value > found.longest_request) return false;
  if (found.running_requests == 0) return true;
  return ceil_div(d.workload.total_sequences(), d.parallel.replicas()) <= found.running_requests;
}
}  // namespace detail

/// Cache bytes that the workload's live requests hold on one rank, in whole blocks.
[[nodiscard]] constexpr bytes needed_of_pools(const allocation& found, const deployment& d) {
  return detail::tightest_room(found, found.high.blocks, d).need;
}

/// How a request's blocks grow at `context` tokens: Σ over the tables that still grow there of bytes of a
/// block per token of a block, and what the others hold by then. Never a rounded difference.
[[nodiscard]] constexpr kv_growth growth_of(const block_pools& pools, tokens context) {
  kv_growth growth;
  for (const block_pool& pool : pools) {
    for (std::uint32_t i = 0; i < pool.group_count; ++i) {
      const block_group& group = pool.groups[i];
      const std::uint64_t kept = detail::checked_add(group.window, group.in_flight);
      const bool grows =
          group.rule == block_rule::every_token || (group.rule != block_rule::fixed && context.value < kept);
      if (grows) {
        const std::uint64_t share = detail::checked_mul(group.block_tokens, group.ranks);
        growth.bytes_per_token =
            growth.bytes_per_token + ratio{detail::checked_mul(pool.block_bytes, group.copies), share};
      } else {
        const std::uint64_t blocks = detail::checked_mul(
            group.blocks_of(detail::larger<std::uint64_t>(context.value, 1)), group.copies);
        growth.fixed_bytes_per_sequence += bytes{detail::checked_mul(blocks, pool.block_bytes)};
      }
    }
  }
  return growth;
}

}  // namespace kvbudget::inline v0
