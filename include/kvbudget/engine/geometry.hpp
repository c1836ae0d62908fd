#pragma once

#include "kvbudget/engine/engine.hpp"
#include "kvbudget/memory/activations.hpp"
#include "kvbudget/memory/framework.hpp"
#include "kvbudget/memory/kv_cache.hpp"
#include "kvbudget/memory/weights.hpp"

namespace kvbudget::inline v0::engines {

/// The engine that adds nothing: weights and cache as the mathematics needs them, activations when the
/// workload says how many tokens a step computes, framework memory when the deployment names one. No blocks,
/// no padding, no pool; what is not known is left out.
struct geometry {
  [[nodiscard]] constexpr engine_name name() const { return {"geometry"}; }
  [[nodiscard]] constexpr usable_memory usable(const gpu_profile& gpu) const { return kvbudget::usable(gpu); }
  [[nodiscard]] constexpr memory_budget ledger(const deployment& d, const rank& where,
                                               const gpu_profile* = nullptr) const {
    memory_budget budget;
    const rank_share share = share_of(d, where);
    add_weights(budget, d, share);
    add_kv_cache(budget, d, share, where.data_replica);
    add_activations(budget, d, share, where.data_replica);
    add_framework(budget, d);
    add_margin(budget, d);
    return budget;
  }
};
static_assert(engine<geometry>);

}  // namespace kvbudget::inline v0::engines
