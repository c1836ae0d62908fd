#pragma once

#include <cstdint>

#include "kvbudget/engine/pool_engine.hpp"
#include "kvbudget/engine/sglang/costs.hpp"
#include "kvbudget/engine/sglang/fraction.hpp"

namespace kvbudget::inline v0::engines::sglang_rules {

/// How the engine's pools divide what is left, resolved for one rank.
struct pool_plan {
  cache_traits traits{};
  rank_costs costs{};
  draft_costs draft{};
  std::uint64_t page = 1;
  std::uint64_t max_total_tokens = 0;  ///< cap on the tokens; 0 = none
  std::uint64_t window_cap = 0;        ///< tokens that the window pool is sized to beforehand; 0 = by ratio
  std::uint64_t state_slots = 0;       ///< given beforehand; 0 = by ratio
  std::uint64_t running = 0;           ///< requests asked for on this rank; 0 = none
  std::uint64_t draft_tokens = 0;      ///< checked per step; 0 = no drafting
  std::uint64_t slots_per_request = 1;
  double window_ratio = 0.8;
  double state_ratio = 0.9;
  bool prices_windows_apart = true;
  bool counts_draft_cache = true;

  /// Whether the model keeps any tokens at all.
  [[nodiscard]] constexpr bool keeps_tokens() const { return traits.full || traits.windowed; }
  /// Bytes of a token in the pool of all tokens as they are allocated: of the model and of its draft.
  [[nodiscard]] constexpr std::uint64_t token_bytes() const { return costs.full + draft.token; }
  [[nodiscard]] constexpr std::uint64_t paged(std::uint64_t tokens) const { return tokens / page * page; }
};

/// Tokens and slots of the pools of one rank.
struct pool_sizes {
  std::uint64_t tokens = 0;         ///< max_total_num_tokens
  std::uint64_t window_tokens = 0;  ///< swa_max_total_num_tokens
  std::uint64_t state_slots = 0;    ///< max_mamba_cache_size
  bool states_exceed = false;       ///< slots that were asked for take all there is
  std::uint64_t drafting = 0;       ///< requests with room for the states between drafted tokens
};

/// More tokens than any GPU holds: of a rank none of whose layers keeps tokens.
inline constexpr std::uint64_t unbounded_tokens = std::uint64_t{1} << 48;

/// amount // cost of Python: the whole part of the exact quotient of two doubles.
[[nodiscard]] constexpr std::uint64_t floor_quotient(double amount, double cost) {
  auto quotient = static_cast<std::uint64_t>(amount / cost);
  while (quotient != 0 && static_cast<double>(quotient) * cost > amount) --quotient;
  return quotient;
}

/// What states take of `available` bytes; the rest is returned. By ratio r a share r / (1 + r) is theirs,
/// with the states of drafted tokens in it.
[[nodiscard]] constexpr std::uint64_t take_states(const pool_plan& plan, std::uint64_t available,
                                                  pool_sizes& sizes) {
  const std::uint64_t each = plan.costs.state;
  const double rest = static_cast<double>(available) / gib;
  const bool by_ratio = plan.state_slots == 0;
  sizes.state_slots = plan.state_slots;
  if (by_ratio) {
    const double budget = rest * plan.state_ratio / (1 + plan.state_ratio) * gib;
    const double drafted =
        static_cast<double>(plan.draft_tokens) / static_cast<double>(plan.slots_per_request);
    sizes.state_slots =
        each == 0 ? unbounded_tokens : floor_quotient(budget, static_cast<double>(each) * (1 + drafted));
  }
  if (plan.draft_tokens != 0) {
    sizes.drafting = detail::smaller(plan.running, sizes.state_slots / plan.slots_per_request);
  }
  if (each == 0) return available;
  const double drafting = static_cast<double>(each) * static_cast<double>(sizes.drafting) *
                          static_cast<double>(plan.draft_tokens) / gib;
  const double slots = static_cast<double>(sizes.state_slots) * static_cast<double>(each) / gib;
  const double left = (rest - drafting - slots) * gib;
  sizes.states_exceed = left <= 0;
  return sizes.states_exceed ? 0 : static_cast<std::uint64_t>(left);
}

/// Bytes of a token of the pool of all tokens as the engine's division counts them: a draft's layers are
/// taken to cost what the model's do. Source: sgl-project/sglang srt/model_executor/pool_configurator.py.
[[nodiscard]] constexpr double counted_cost(const pool_plan& plan) {
  const rank_costs& costs = plan.costs;
  const bool draft = plan.counts_draft_cache && plan.draft.layers != 0;
  if (!plan.traits.windowed) {
    if (!draft || costs.full_layers == 0) return static_cast<double>(costs.counted);
    const double share = static_cast<double>(plan.draft.layers) / static_cast<double>(costs.full_layers);
    return static_cast<double>(detail::floor_of_double_product(costs.counted, 1 + share));
  }
  const std::uint64_t each = costs.full_layers == 0 ? plan.draft.token / (draft ? plan.draft.layers : 1)
                                                    : costs.counted / costs.full_layers;
  const double full = static_cast<double>(costs.counted + (draft ? each * plan.draft.layers : 0));
  if (!plan.traits.full) return full + static_cast<double>(costs.window);
  if (plan.window_cap != 0) return full;
  return full + plan.window_ratio * static_cast<double>(costs.window);
}

/// Before windows were priced apart: tokens of an average layer, then shared out by layers.
constexpr void divide_by_layers(const pool_plan& plan, std::uint64_t available, pool_sizes& sizes) {
  const std::uint64_t all = plan.costs.counted + plan.costs.window;
  std::uint64_t tokens = all == 0 ? unbounded_tokens : available / all;
  if (plan.max_total_tokens != 0) tokens = detail::smaller(tokens, plan.max_total_tokens);
  const std::uint64_t layers = std::uint64_t{plan.costs.full_layers} + plan.costs.window_layers;
  const double total = static_cast<double>(detail::checked_mul(plan.paged(tokens), layers));
  const double parts = plan.window_ratio * plan.costs.window_layers + plan.costs.full_layers;
  const auto full = layers == 0 ? unbounded_tokens : static_cast<std::uint64_t>(total / parts);
  sizes.tokens = plan.paged(full);
  sizes.window_tokens = plan.paged(detail::floor_of_double_product(full, plan.window_ratio));
}
/// The pools that `available` bytes give on one rank. Source: sgl-project/sglang
/// srt/model_executor/pool_configurator.py and srt/mem_cache/kv_cache_configurator.py.
[[nodiscard]] constexpr pool_sizes sizes_of(const pool_plan& plan, std::uint64_t available) {
  pool_sizes sizes;
  if (plan.traits.stateful) available = take_states(plan, available, sizes);
  if (!plan.keeps_tokens()) return sizes;
  if (plan.traits.windowed && plan.traits.full && !plan.prices_windows_apart) {
    divide_by_layers(plan, available, sizes);
    return sizes;
  }
  std::uint64_t for_tokens = available;
  if (plan.window_cap != 0) {
    const std::uint64_t fixed = detail::checked_mul(plan.window_cap, plan.costs.window);
    for_tokens = available > fixed ? available - fixed : 0;
  }
  const double cost = counted_cost(plan);
  std::uint64_t tokens = cost > 0 ? floor_quotient(static_cast<double>(for_tokens), cost) : unbounded_tokens;
  if (plan.max_total_tokens != 0) tokens = detail::smaller(tokens, plan.max_total_tokens);
  sizes.tokens = plan.paged(tokens);
  if (!plan.traits.windowed) return sizes;
  if (!plan.traits.full) {
    sizes.window_tokens = sizes.tokens;
  } else if (plan.window_cap != 0) {
    sizes.window_tokens = plan.max_total_tokens != 0
                              ? plan.paged(detail::smaller(plan.window_cap, plan.max_total_tokens))
                              : plan.window_cap;
  } else {
    sizes.window_tokens = plan.paged(detail::floor_of_double_product(sizes.tokens, plan.window_ratio));
  }
  return sizes;
}

}  // namespace kvbudget::inline v0::engines::sglang_rules
