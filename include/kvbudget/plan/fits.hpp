#pragma once

#include <cstdint>

#include "kvbudget/hardware/node.hpp"
#include "kvbudget/plan/allocate.hpp"

namespace kvbudget::inline v0 {

/// Memory that a plan must leave free, asked for explicitly: a share of what is usable, or bytes. There is no
/// hidden margin.
struct headroom {
  ratio share{};
  bytes amount{};

  headroom() = default;
  constexpr headroom(const ratio& of_usable) : share(of_usable) {}  // NOLINT: headroom{20_percent}
  constexpr headroom(bytes exactly) : amount(exactly) {}            // NOLINT: headroom{2_GiB}
  /// ⌈share × usable⌉ + amount.
  [[nodiscard]] constexpr bytes of(bytes usable_bytes) const {
    return ceil_share(usable_bytes, share) + amount;
  }
};

/// Top-level lines that running a model takes, but that a ledger lacks unless somebody says how to count
/// them. A verdict on such a ledger is about its other lines only.
inline constexpr const char* lines_counted_on_request[] = {"activations", "framework"};

/// Whether a ledger fits a GPU, and by how much.
struct verdict {
  bytes needed{};                   ///< expected total of the ledger
  usable_memory available{};        ///< of one GPU, as the engine allows
  bytes reserved{};                 ///< the headroom that was asked for
  std::int64_t headroom_bytes = 0;  ///< available − needed − reserved; negative = missing
  bool fits = false;                ///< expected need + headroom <= expected availability
  bool surely = false;              ///< highest need + headroom <= lowest availability
  bool never = false;               ///< lowest need + headroom > highest availability
};

/// Compares one rank's ledger with what a GPU offers.
[[nodiscard]] constexpr verdict check_fit(const memory_budget& budget, const usable_memory& available,
                                          const headroom& asked = {}) {
  verdict result;
  result.needed = budget.total();
  result.available = available;
  result.reserved = asked.of(available.expected);
  result.headroom_bytes = signed_difference(available.expected, result.needed + result.reserved);
  result.fits = result.headroom_bytes >= 0;
  result.surely = budget.total_high() + asked.of(available.low) <= available.low;
  result.never = budget.total_low() + asked.of(available.high) > available.high;
  return result;
}
[[nodiscard]] constexpr verdict check_fit(const memory_budget& budget, const gpu_profile& gpu,
                                          const headroom& asked = {}) {
  return check_fit(budget, usable(gpu), asked);
}
/// The workload in an engine's pools: fits = every pool has the blocks that the live requests need, none of
/// them is longer than the engine allows, and the engine starts. `headroom_bytes` is what the pools have to
/// spare; headroom is asked of the pools.
template <pool_engine Engine>
[[nodiscard]] constexpr verdict check_fit(const allocation& found, const deployment& d,
                                          const gpu_profile& gpu, const Engine& on,
                                          const headroom& asked = {}) {
  verdict result;
  result.needed = found.budget.total();
  result.available = on.usable(gpu);
  result.reserved = asked.of(found.pools.size());
  std::uint64_t blocks[max_block_pools] = {};
  for (std::uint32_t i = 0; i < found.pools.count; ++i) blocks[i] = found.pools.pools[i].blocks;
  const auto reserved = static_cast<std::int64_t>(result.reserved.value);
  const auto spare = [&](const std::uint64_t* of) { return detail::tightest_room(found, of, d).spare; };
  const std::int64_t room = spare(blocks);
  result.headroom_bytes =
      room == INT64_MAX ? signed_difference(found.pools.size(), result.reserved) : room - reserved;
  if (found.available_kv.expected < 0) result.headroom_bytes += found.available_kv.expected;
  const bool admitted = !found.refused && detail::admits(found, d);
  const auto starts = [&](std::int64_t available) {
    return available >= 0 && found.needed_to_start.value <= static_cast<std::uint64_t>(available);
  };
  result.fits = admitted && starts(found.available_kv.expected) && result.headroom_bytes >= 0;
  result.surely = result.fits && starts(found.available_kv.low) && spare(found.low.blocks) >= reserved;
  result.never = !admitted || !starts(found.available_kv.high) || spare(found.high.blocks) < reserved;
  return result;
}
namespace detail {
/// Whether there is a ledger: engines without pools may have `refuses_to_load(d, gpu)`.
template <engine Engine>
[[nodiscard]] constexpr bool loads(const deployment& d, const Engine& on, const gpu_profile* gpu) {
  if constexpr (requires { on.refuses_to_load(d, gpu); }) return !on.refuses_to_load(d, gpu);
  return true;
}
/// Why an engine without pools does not serve the workload, where it has `refuses(d, gpu)`.
template <engine Engine>
[[nodiscard]] constexpr refusal refusal_of(const deployment& d, const gpu_profile& gpu, const Engine& on) {
  if constexpr (requires { on.refuses(d, gpu); }) return on.refuses(d, gpu);
  return {};
}
}  // namespace detail

/// The worst rank of a deployment on such GPUs; for engines with pools, the workload in them. What an engine
/// refuses never fits; where it loads nothing, there are no bytes either.
template <engine Engine = engines::geometry>
[[nodiscard]] constexpr verdict check_fit(const deployment& d, const gpu_profile& gpu, const Engine& on = {},
                                          const headroom& asked = {}) {
  if constexpr (pool_engine<Engine>) {
    return check_fit(allocate(d, on, gpu), d, gpu, on, asked);
  } else {
    verdict result{.available = on.usable(gpu)};
    if (detail::loads(d, on, &gpu)) result = check_fit(estimate(d, on, &gpu), on.usable(gpu), asked);
    if (!detail::refusal_of(d, gpu, on)) return result;
    result.fits = result.surely = false;
    result.never = true;
    return result;
  }
}

/// Whether the expected need fits; `check_fit` says by how much.
[[nodiscard]] constexpr bool fits(const memory_budget& budget, const gpu_profile& gpu,
                                  const headroom& asked = {}) {
  return check_fit(budget, gpu, asked).fits;
}
template <engine Engine = engines::geometry>
[[nodiscard]] constexpr bool fits(const deployment& d, const gpu_profile& gpu, const Engine& on = {},
                                  const headroom& asked = {}) {
  return check_fit(d, gpu, on, asked).fits;
}

/// The rule of thumb "leave 20 % free for temporary buffers and fragmentation": the expected need without its
/// own margin, which is such a reserve already, fits into four fifths of what is usable.
[[nodiscard]] constexpr bool fits_with_20_percent_headroom(const memory_budget& budget,
                                                           const usable_memory& available) {
  const bytes need = budget.total() - budget.margin();
  return need + headroom{percent(20)}.of(available.expected) <= available.expected;
}

/// The same rule for a deployment: engines with pools must have a fifth of them to spare.
template <engine Engine>
[[nodiscard]] constexpr bool fits_with_20_percent_headroom(const deployment& d, const gpu_profile& gpu,
                                                           const Engine& on) {
  if constexpr (pool_engine<Engine>) {
    return check_fit(d, gpu, on, headroom{percent(20)}).fits;
  } else {
    return !detail::refusal_of(d, gpu, on) &&
           fits_with_20_percent_headroom(estimate(d, on, &gpu), on.usable(gpu));
  }
}

}  // namespace kvbudget::inline v0
