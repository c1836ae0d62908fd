#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/deployment/deployment.hpp"
#include "kvbudget/memory/memory_budget.hpp"

namespace kvbudget::inline v0 {

/// What one rank is responsible for: its layers by kind, and its requests.
struct rank_share {
  std::uint16_t layers[max_layer_kinds] = {};      ///< layers of each kind whose cache has the usual format
  std::uint16_t exceptions[max_layer_kinds] = {};  ///< layers of each kind that keep the exceptional format
  bool has_exceptions = false;
  layer_range range{};
  bool first_stage = true;
  bool last_stage = true;
  std::uint32_t expert_rank = 0;  ///< as in `rank`

  [[nodiscard]] constexpr std::uint32_t layers_of(std::size_t kind) const {
    return std::uint32_t{layers[kind]} + exceptions[kind];
  }
};

namespace detail {
/// The layers of a range, by kind and by whether their cache is an exception.
[[nodiscard]] constexpr rank_share share_of_layers(const deployment& d, const layer_range& range) {
  const model_architecture& model = *d.model;
  rank_share share;
  share.range = range;
  const bool exceptions = d.kv_exceptions.any();
  share.has_exceptions = exceptions;
  if (range.size() == model.num_hidden_layers && !exceptions) {
    share.layers[0] = model.layers_of[0];  // most models have one kind
    for (std::size_t kind = 1; kind < model.kind_count; ++kind) share.layers[kind] = model.layers_of[kind];
    return share;
  }
  for (std::uint32_t layer = range.first; layer < range.last; ++layer) {
    const std::uint8_t kind = model.order[layer];
    if (exceptions && d.kv_exceptions.contains(layer, model.num_hidden_layers)) {
      ++share.exceptions[kind];
    } else {
      ++share.layers[kind];
    }
  }
  return share;
}
}  // namespace detail

/// The layers of a rank. Without pipeline stages and exceptions this reads the model's counts; otherwise it
/// walks the order of the layers once.
[[nodiscard]] constexpr rank_share share_of(const deployment& d, const rank& where) {
  rank_share share =
      detail::share_of_layers(d, layers_of_stage(d.parallel, d.model->num_hidden_layers, where.stage));
  share.first_stage = where.stage == 0;
  share.last_stage = where.stage + 1 == d.parallel.pipeline;
  share.expert_rank = where.expert_rank;
  return share;
}
/// The layers of all stages together.
[[nodiscard]] constexpr rank_share share_of_all_stages(const deployment& d) {
  return detail::share_of_layers(d, {0, d.model->num_hidden_layers});
}

/// How many of the requests of group `number` one data-parallel replica serves: all requests are dealt round
/// robin in group order, so replica 0 gets ⌈sequences / replicas⌉.
[[nodiscard]] constexpr request_group group_of_replica(const deployment& d, std::uint32_t number,
                                                       std::uint32_t replica) {
  request_group mine = d.workload.group(number);
  const std::uint64_t replicas = d.parallel.replicas();
  if (replicas == 1) return mine;
  std::uint64_t before = 0;
  for (std::uint32_t i = 0; i < number; ++i) before = detail::checked_add(before, d.workload.group(i).count);
  const std::uint64_t until = detail::checked_add(before, mine.count);
  const std::uint64_t dealt_before = before > replica ? detail::ceil_div(before - replica, replicas) : 0;
  const std::uint64_t dealt_until = until > replica ? detail::ceil_div(until - replica, replicas) : 0;
  mine.count = dealt_until - dealt_before;
  return mine;
}

namespace detail {
/// Writes the line of a figure that the user brings, in place of what would be computed.
constexpr void add_pinned(memory_budget& budget, const char* name, const amount& pin) {
  budget.add({name, pin.low, pin.expected, pin.high, pin.known, pin.source});
}
}  // namespace detail

}  // namespace kvbudget::inline v0
