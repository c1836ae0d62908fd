#pragma once

#include <cstdint>

#include "kvbudget/engine/block_pool.hpp"
#include "kvbudget/engine/engine.hpp"

namespace kvbudget::inline v0 {

/// A release of an engine. Most engines change their rules with the minor number only.
struct engine_version {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
  std::uint16_t patch = 0;
  friend constexpr bool operator==(engine_version, engine_version) = default;
  [[nodiscard]] constexpr bool before(engine_version other) const {
    if (major != other.major) return major < other.major;
    return minor != other.minor ? minor < other.minor : patch < other.patch;
  }
};

namespace detail {
/// `name@major.minor`, with the patch number where the engine's rules depend on it.
[[nodiscard]] constexpr engine_name versioned_name(const char* name, engine_version version,
                                                   bool with_patch = false) {
  engine_name result;
  std::size_t at = 0;
  const auto number = [&](std::uint16_t n) {
    char digits[5] = {};
    int count = 0;
    do {
      digits[count++] = static_cast<char>('0' + n % 10);
      n = static_cast<std::uint16_t>(n / 10);
    } while (n != 0);
    while (count > 0) result.text[at++] = digits[--count];
  };
  while (name[at] != '\0' && at < 16) {
    result.text[at] = name[at];
    ++at;
  }
  result.text[at++] = '@';
  number(version.major);
  result.text[at++] = '.';
  number(version.minor);
  if (with_patch) {
    result.text[at++] = '.';
    number(version.patch);
  }
  return result;
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

/// What one rank sets aside before the first request: everything but the cache, and what that leaves for it.
struct rank_reservation {
  memory_budget budget{};       ///< all lines but `kv_cache`
  signed_range available_kv{};  ///< by the engine's rule; negative where the rest alone exceeds its budget
};

/// An engine that reserves its cache as pools of blocks when it starts. Beside the members of `engine`:
/// `refuses(d, gpu)`: why it would not load this at all; `longest_request(d)`: tokens of its longest request
/// (max_model_len); `running_requests(d, gpu)`: requests that its scheduler runs at once, 0 = as many as fit;
/// `reserve(d, where, gpu)`: what one rank sets aside; `pools(d, where, gpu, available)`: the pools that so
/// many bytes give on that rank; `needed_to_start(d, gpu, pools, length)`: cache without which it does not
/// start when its longest request has `length` tokens; `printed_tokens(d, gpu, pools, length)`: the token
/// count of its log, 0 = it prints none. Optional: `refuses_pools(d, gpu, pools)`: why it would not start
/// with these pools; `fit_max_model_len`: whether it shortens its longest request to what the pools hold;
/// `host_bytes(d, gpu)`: host memory per rank. `d` has been validated.
template <class E>
concept pool_engine = engine<E> && requires(const E& e, const deployment& d, const rank& where,
                                            const gpu_profile& gpu, const block_pools& pools) {
  { e.refuses(d, gpu) } -> detail::is_exactly<refusal>;
  { e.longest_request(d) } -> detail::is_exactly<std::uint64_t>;
  { e.running_requests(d, gpu) } -> detail::is_exactly<std::uint64_t>;
  { e.reserve(d, where, gpu) } -> detail::is_exactly<rank_reservation>;
  { e.pools(d, where, gpu, std::uint64_t{}) } -> detail::is_exactly<block_pools>;
  { e.needed_to_start(d, gpu, pools, std::uint64_t{}) } -> detail::is_exactly<bytes>;
  { e.printed_tokens(d, gpu, pools, std::uint64_t{}) } -> detail::is_exactly<std::uint64_t>;
};

namespace detail {
[[noreturn]] inline void this_engine_needs_a_gpu() {
  raise("this engine reserves a share of the GPU: its ledger needs a GPU");
}

/// Every rank gets as many blocks as the rank that has the fewest.
constexpr void take_fewest(block_pools& pools, const block_pools& other) {
  for (std::uint32_t i = 0; i < pools.count && i < other.count; ++i) {
    pools.pools[i].blocks = smaller(pools.pools[i].blocks, other.pools[i].blocks);
  }
}

/// Pools of one rank for what is left at worst, as expected, and at best.
struct rank_pools {
  block_pools low;
  block_pools expected;
  block_pools high;

  constexpr void take_fewest(const rank_pools& other) {
    detail::take_fewest(low, other.low);
    detail::take_fewest(expected, other.expected);
    detail::take_fewest(high, other.high);
  }
};
template <class Engine>
[[nodiscard]] constexpr rank_pools pools_of_rank(const Engine& on, const deployment& d, const rank& where,
                                                 const gpu_profile& gpu, const signed_range& available) {
  rank_pools result;
  result.expected = on.pools(d, where, gpu, at_least_zero(available.expected));
  const bool exact = available.low == available.high;
  result.low = exact ? result.expected : on.pools(d, where, gpu, at_least_zero(available.low));
  result.high = exact ? result.expected : on.pools(d, where, gpu, at_least_zero(available.high));
  return result;
}

/// Writes the line `kv_cache`: the reserved pools of one rank.
constexpr void add_pools(memory_budget& budget, const rank_pools& pools) {
  basis known = basis::exact;
  for (const line_item& line : budget) known = line.is_part ? known : weaker(known, line.known);
  budget.add({"kv_cache", pools.low.size(), pools.expected.size(), pools.high.size(), known,
              "blocks that the engine reserves in what its budget leaves", false});
  if (pools.expected.count == 1) return;
  for (std::uint32_t i = 0; i < pools.expected.count; ++i) {
    const block_pool& pool = pools.expected.pools[i];
    if (pool.size() == bytes{}) continue;
    budget.add({pool.name, pools.low.pools[i].size(), pool.size(), pools.high.pools[i].size(), known,
                "blocks x bytes of a block", true});
  }
}

/// The ledger of one rank of a pooling engine: what it sets aside, and its pools with the fewest blocks that
/// any stage has.
template <class Engine>
[[nodiscard]] constexpr memory_budget pool_ledger(const Engine& on, const deployment& d, const rank& where,
                                                  const gpu_profile* gpu) {
  if (gpu == nullptr) this_engine_needs_a_gpu();
  rank_reservation mine = on.reserve(d, where, *gpu);
  rank_pools pools = pools_of_rank(on, d, where, *gpu, mine.available_kv);
  for (std::uint32_t stage = 0; stage < d.parallel.pipeline; ++stage) {
    if (stage == where.stage) continue;
    const rank there{stage, where.data_replica};
    pools.take_fewest(pools_of_rank(on, d, there, *gpu, on.reserve(d, there, *gpu).available_kv));
  }
  add_pools(mine.budget, pools);
  return mine.budget;
}
}  // namespace detail

}  // namespace kvbudget::inline v0
