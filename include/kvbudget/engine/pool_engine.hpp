#pragma once

#include <cstdint>

#include "kvbudget/detail/pointer.hpp"
#include "kvbudget/engine/block_pool.hpp"
#include "kvbudget/engine/engine.hpp"

namespace kvbudget::inline v0 {

/// A release of an engine. Most engines change their rules with the minor number only.
struct engine_version {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  std::uint16_t patch = 0;
  friend constexpr bool operator==(engine_version, engine_version) = default;
  [[nodiscard]] constexpr bool before(engine_version other) const { return order() < other.order(); }

 private:
  [[nodiscard]] constexpr std::uint64_t order() const {
    return std::uint64_t{major} << 32 | std::uint64_t{minor} << 16 | patch;
  }
};

namespace detail {
/// `name@major.minor`, with the patch number where the engine's rules depend on it.
[[nodiscard]] constexpr engine_name versioned_name(const char* name, engine_version version,
                                                   bool with_patch = false) {
  engine_name_writer writer;
  writer.add(name).add("@").add(version.major).add(".").add(version.minor);
  if (with_patch) writer.add(".").add(version.patch);
  return writer.name;
}

/// ⌈amount × share⌉ as Python computes it: the product in double precision, then the next whole number.
[[nodiscard]] constexpr std::uint64_t ceil_of_double_product(std::uint64_t amount, double share) {
  const double product = static_cast<double>(amount) * share;
  const auto whole = static_cast<std::uint64_t>(product);
  return static_cast<double>(whole) < product ? whole + 1 : whole;
}
/// int(amount × share) of Python: the product in double precision, cut off.
[[nodiscard]] constexpr std::uint64_t floor_of_double_product(std::uint64_t amount, double share) {
  return static_cast<std::uint64_t>(static_cast<double>(amount) * share);
}
}  // namespace detail

/// Why an engine does not start with a configuration, in its own words; each `#` of the text stands for one
/// of the numbers. No text = nothing is refused.
struct refusal {
  const char* text = nullptr;
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  [[nodiscard]] constexpr explicit operator bool() const { return text != nullptr; }
};

/// Bytes that may be negative: what is left for a cache once everything else is counted.
struct signed_range {
  std::int64_t low = 0;
  std::int64_t expected = 0;
  std::int64_t high = 0;
};

namespace detail {
/// budget − need, exact.
[[nodiscard]] constexpr std::int64_t difference(std::uint64_t budget, std::uint64_t need) {
  return signed_difference(bytes{budget}, bytes{need});
}
[[nodiscard]] constexpr std::uint64_t at_least_zero(std::int64_t amount) {
  return amount < 0 ? 0 : static_cast<std::uint64_t>(amount);
}
}  // namespace detail

/// Blocks of each pool, and those beside them that are never counted.
struct block_counts {
  std::uint64_t blocks[max_block_pools] = {};
  std::uint64_t beside[max_block_pools] = {};
};

/// What one rank sets aside before the first request: everything but the cache, what that leaves for it, and
/// the pools that this gives.
struct rank_reservation {
  memory_budget budget;                ///< all lines but `kv_cache`
  signed_range available_kv{};         ///< by the engine's rule; negative where the rest exceeds its budget
  block_pools pools;                   ///< with the blocks of what is expected to be available
  block_counts low;                    ///< of each pool, if everything takes its highest bytes
  block_counts high;                   ///< if everything takes its lowest bytes
  std::uint64_t running_requests = 0;  ///< requests that the scheduler runs at once; 0 = as many as fit
};

/// An engine that reserves its cache as pools of blocks when it starts. Beside the members of `engine`:
/// `refuses(d, gpu)`: why it would not load this at all; `longest_request(d)`: tokens of its longest request
/// (max_model_len); `reserve(d, where, gpu, into)`: what one rank sets aside, its pools and how many requests
/// run at once; `pools(d, where, gpu, available)`: the pools that so many bytes would give on that rank;
/// `needed_to_start(d, gpu, pools, length)`: cache without which it does not start when its longest request
/// has `length` tokens; `printed_tokens(d, gpu, pools, length)`: the token count of its log, 0 = it prints
/// none. Optional: `refuses_pools(d, gpu, found)`: why it would not start with pools that are large enough
/// for its longest request; `fit_max_model_len`: whether it shortens its longest request to what the pools
/// hold; `host_bytes(d, gpu)`: host memory per rank. `d` has been validated.
template <class E>
concept pool_engine = engine<E> &&
    requires(const E& e, const deployment& d, const rank& where, const gpu_profile& gpu,
             const block_pools& pools, rank_reservation& into) {
  { e.refuses(d, gpu) } -> detail::is_exactly<refusal>;
  { e.longest_request(d) } -> detail::is_exactly<std::uint64_t>;
  { e.reserve(d, where, gpu, into) } -> detail::is_exactly<void>;
  { e.pools(d, where, gpu, std::uint64_t{}) } -> detail::is_exactly<block_pools>;
  { e.needed_to_start(d, gpu, pools, std::uint64_t{}) } -> detail::is_exactly<bytes>;
  { e.printed_tokens(d, gpu, pools, std::uint64_t{}) } -> detail::is_exactly<std::uint64_t>;
};

/// What one rank sets aside.
template <pool_engine Engine>
[[nodiscard]] constexpr rank_reservation reservation_of(const Engine& on, const deployment& d,
                                                        const rank& where, const gpu_profile& gpu) {
  rank_reservation result;
  on.reserve(d, where, gpu, result);
  return result;
}

namespace detail {
constexpr void set_blocks(block_pools& pools, const block_counts& counts) {
  for (std::uint32_t i = 0; i < pools.count; ++i) {
    pools.pools[i].blocks = counts.blocks[i];
    pools.pools[i].beside = counts.beside[i];
  }
}
/// Fills in how many blocks the pools have for what is left at worst, as expected, and at best; `counts` says
/// what so many bytes give.
template <class Counts> constexpr void fill_pools(rank_reservation& into, const Counts& counts) {
  into.low = counts(at_least_zero(into.available_kv.expected));
  set_blocks(into.pools, into.low);
  if (into.available_kv.low == into.available_kv.high) {
    into.high = into.low;
    return;
  }
  into.low = counts(at_least_zero(into.available_kv.low));
  into.high = counts(at_least_zero(into.available_kv.high));
}

[[noreturn]] inline void this_engine_needs_a_gpu() {
  raise("this engine reserves a share of the GPU: its ledger needs a GPU");
}

/// Every rank gets as many blocks as the rank that has the fewest.
constexpr void take_fewest(block_pools& mine, const block_pools& other) {
  for (std::uint32_t i = 0; i < mine.count && i < other.count; ++i) {
    mine.pools[i].blocks = smaller(mine.pools[i].blocks, other.pools[i].blocks);
  }
}
constexpr void take_fewest(rank_reservation& mine, const rank_reservation& other) {
  take_fewest(mine.pools, other.pools);
  for (std::uint32_t i = 0; i < mine.pools.count && i < other.pools.count; ++i) {
    mine.low.blocks[i] = smaller(mine.low.blocks[i], other.low.blocks[i]);
    mine.high.blocks[i] = smaller(mine.high.blocks[i], other.high.blocks[i]);
  }
}

/// Writes the line `kv_cache`: the reserved pools of one rank.
constexpr void add_pools(rank_reservation& mine) {
  basis known = basis::exact;
  for (const line_item& line : mine.budget) known = line.is_part ? known : weaker(known, line.known);
  bytes low{}, expected{}, high{};
  const auto sizes_of = [&](std::uint32_t i) {
    const block_pool& pool = mine.pools.pools[i];
    const bytes size = pool.size();  // rounding may give another pool a little less of more memory
    const bytes least = pool.size_of(mine.low.blocks[i], mine.low.beside[i]);
    const bytes most = pool.size_of(mine.high.blocks[i], mine.high.beside[i]);
    return line_item{pool.name, smaller(least, size),        size, larger(most, size),
                     known,     "blocks x bytes of a block", true};
  };
  for (std::uint32_t i = 0; i < mine.pools.count; ++i) {
    const line_item part = sizes_of(i);
    low += part.low;
    expected += part.expected;
    high += part.high;
  }
  mine.budget.add({"kv_cache", low, expected, high, known,
                   "blocks that the engine reserves in what its budget leaves", false});
  for (std::uint32_t i = 0; mine.pools.count > 1 && i < mine.pools.count; ++i) {
    const line_item part = sizes_of(i);
    if (part.expected != bytes{}) mine.budget.add(part);
  }
}

/// The ledger of one rank of a pooling engine: what it sets aside, and its pools with the fewest blocks that
/// any stage has.
template <class Engine>
[[nodiscard]] constexpr memory_budget pool_ledger(const Engine& on, const deployment& d, const rank& where,
                                                  const gpu_profile* gpu) {
  if (is_null(gpu)) this_engine_needs_a_gpu();
  rank_reservation mine = reservation_of(on, d, where, *gpu);
  for (std::uint32_t stage = 0; stage < d.parallel.pipeline; ++stage) {
    if (stage == where.stage) continue;
    take_fewest(mine, reservation_of(on, d, rank{stage, where.data_replica}, *gpu));
  }
  add_pools(mine);
  return mine.budget;
}
}  // namespace detail

}  // namespace kvbudget::inline v0
