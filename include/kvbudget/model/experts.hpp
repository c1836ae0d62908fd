#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/model/model_architecture.hpp"

namespace kvbudget::inline v0 {

/// How many of a layer's E experts at least one of T tokens is expected to be routed to, when every token
/// draws its k experts uniformly and independently of the others: E · (1 − (1 − k/E)^T). An assumption: real
/// routers favour some experts, and tokens of one topic concentrate on fewer. Exact for no token (0), for one
/// (k), and for k = E. No experts, or k above E, stop.
[[nodiscard]] constexpr double expected_distinct_experts(std::uint64_t num_experts,
                                                         std::uint64_t num_experts_per_tok, tokens batch) {
  if (num_experts == 0 || num_experts_per_tok > num_experts)
    detail::more_experts_per_token_than_experts(num_experts_per_tok, num_experts);
  const auto all = static_cast<double>(num_experts);
  double hit = 0;  // after as many tokens as the bits read so far say: twice as many, then perhaps one more
  for (unsigned bit = 64; bit-- > 0;) {
    hit *= 2 - hit / all;
    if (((batch.value >> bit) & 1u) != 0) hit += static_cast<double>(num_experts_per_tok) * (1 - hit / all);
  }
  return detail::smaller(hit, all);
}

/// The same in one layer; 0 in a layer without experts.
[[nodiscard]] constexpr double expected_distinct_experts(const layer_kind& layer, tokens batch) {
  if (layer.num_experts == 0) return 0;
  return expected_distinct_experts(layer.num_experts, layer.num_experts_per_tok, batch);
}

/// Weights that one step over a batch is expected to read, to the nearest whole one: all outside the experts
/// (no draft layers), and Σ over layers of `expected_distinct_experts` × the size of one, with the assumption
/// made there. For one token it is `active_parameter_count`.
[[nodiscard]] constexpr active_parameters expected_active_parameters(const model_architecture& model,
                                                                     tokens batch) {
  auto sum = static_cast<double>(active_parameter_count(model).value);
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    const double more = expected_distinct_experts(layer, batch) - layer.num_experts_per_tok;
    for (std::size_t i = 0; i < layer.weight_count && layer.num_experts != 0; ++i) {
      if (layer.weights[i].role != module_role::expert) continue;
      sum +=
          static_cast<double>(layer.weights[i].elements() / layer.num_experts) * more * model.layers_of[kind];
    }
  }
  return active_parameters{static_cast<std::uint64_t>(sum + 0.5)};
}

}  // namespace kvbudget::inline v0
