#pragma once

#include <cstdint>

#include "kvbudget/detail/pointer.hpp"
#include "kvbudget/engine/engine.hpp"
#include "kvbudget/engine/transformers/activations.hpp"
#include "kvbudget/engine/transformers/cache.hpp"
#include "kvbudget/engine/transformers/options.hpp"
#include "kvbudget/memory/framework.hpp"
#include "kvbudget/memory/weights.hpp"

namespace kvbudget::inline v0 {

namespace detail {
/// Beside the cache and the activations of the wider phase: what the ledger counts.
struct transformers_peak {
  transformers_peak_step step{};
  byte_range transient{};
  std::uint64_t activations_high = 0;
};

/// Of prefill and decode, the phase whose activations and cache transients take more together.
[[nodiscard]] constexpr transformers_peak peak_of_transformers(const engines::transformers& asked,
                                                               const deployment& d, const rank_share& share,
                                                               const padded_batch& batch,
                                                               const cache_transients& transients) {
  const bool pinned = d.pinned.activations.given;
  transformers_peak_step prefill;
  transformers_peak_step decode;
  if (!pinned) {
    prefill = peak_of(step_of_transformers(asked, d, share, batch, phase::prefill));
    decode = peak_of(step_of_transformers(asked, d, share, batch, phase::decode));
  }
  const std::uint64_t first = checked_add(prefill.all.expected, transients.prefill.expected);
  const std::uint64_t later = checked_add(decode.all.expected, transients.decode.expected);
  const bool decoding = first < later;
  transformers_peak peak{decoding ? decode : prefill, decoding ? transients.decode : transients.prefill,
                         larger(prefill.all.high, decode.all.high)};
  peak.transient.high = larger(transients.prefill.high, transients.decode.high);
  return peak;
}

constexpr void add_transformers_cache(memory_budget& budget, const transformers_cache_bytes& cache,
                                      const byte_range& transient) {
  const cache_tensors& kept = cache.on_gpu;
  const bytes sure{kept.total()};
  const std::uint64_t scales_high = larger(kept.scales, kept.scales_high);
  const bytes high{checked_add(checked_add(kept.total(), kept.granules), scales_high - kept.scales)};
  const basis known =
      cache.assumed || transient.high != 0 || kept.granules != 0 ? basis::assumed : basis::exact;
  budget.add({"kv_cache", sure + bytes{transient.low}, sure + bytes{transient.expected},
              high + bytes{transient.high}, known,
              "tensors of every layer for the whole padded batch, and copies that live beside them", false});
  add_part(budget, "kv_cache.payload", kept.payload, "keys and values of every row of the padded batch");
  if (scales_high != 0) {
    budget.add({"kv_cache.scales", bytes{kept.scales}, bytes{kept.scales}, bytes{scales_high}, basis::assumed,
                "scale and zero point of every group, in the dtype or in fp32"});
  }
  add_part(budget, "kv_cache.indexer", kept.indexer, "index keys of sparse attention");
  add_part(budget, "kv_cache.state", kept.state, "recurrent states, one per row");
  add_part(budget, "kv_cache.cross_attention", kept.cross_attention, "keys and values of encoder tokens");
  const std::uint64_t widest = checked_add(kept.rounding, kept.granules);
  if (widest != 0) {
    budget.add({"kv_cache.rounding", bytes{kept.rounding}, bytes{kept.rounding}, bytes{widest},
                kept.granules == 0 ? basis::exact : basis::assumed,
                "PyTorch's allocator: each tensor up to 512 bytes; segments of 2 MiB at most"});
  }
  if (transient.high != 0) {
    budget.add({"kv_cache.transient", bytes{transient.low}, bytes{transient.expected}, bytes{transient.high},
                basis::assumed,
                "copies of a layer while it is extended, rolled or dequantized; windows in longer tensors"});
  }
}

/// The fixed memory of a PyTorch process: context, workspace, and communication buffers between tensor ranks
/// only, since other ranks belong to one process or do not talk.
constexpr void add_pytorch(memory_budget& budget, const deployment& d, const gpu_profile* gpu) {
  deployment process = d;
  process.parallel.pipeline = 1;
  process.parallel.data = 1;
  if (process.framework.kind == framework_kind::none) {
    process.framework.kind = framework_kind::pytorch_cuda;
    process.framework.cuda_graphs = false;
  }
  if (!is_null(gpu) && process.framework.compute_capability_major == 0) {
    process.framework.compute_capability_major = capability_of(*gpu).major;
  }
  add_framework(budget, process);
}

/// The ledger of one GPU that holds a share of the layers.
[[nodiscard]] constexpr memory_budget transformers_ledger(const engines::transformers& asked,
                                                          const deployment& d, const rank_share& share,
                                                          std::uint32_t data_replica,
                                                          const gpu_profile* gpu) {
  validate(asked, d);
  memory_budget budget;
  const padded_batch batch = padded_batch_of(asked, d, data_replica);
  const transformers_cache_bytes cache = cache_of(asked, d, share, batch);
  const transformers_peak peak = peak_of_transformers(asked, d, share, batch, cache.transients);
  add_weights(budget, d, share);
  add_transformers_cache(budget, cache, peak.transient);
  if (d.pinned.activations.given) {
    add_pinned(budget, "activations", d.pinned.activations);
  } else if (peak.activations_high != 0) {
    add_transformers_step(budget, peak.step, peak.activations_high);
  }
  add_pytorch(budget, d, gpu);
  add_margin(budget, d);
  return budget;
}
}  // namespace detail

constexpr engine_name engines::transformers::name() const {
  return detail::versioned_name("transformers", version);
}

constexpr usable_memory engines::transformers::usable(const gpu_profile& gpu) const {
  return detail::without(kvbudget::usable(gpu), used_by_others);
}

constexpr memory_budget engines::transformers::ledger(const deployment& d, const rank& where,
                                                      const gpu_profile* gpu) const {
  return detail::transformers_ledger(*this, d, share_of(d, where), where.data_replica, gpu);
}

constexpr memory_budget engines::transformers::host_ledger(const deployment& d, const rank& where) const {
  validate(*this, d);
  memory_budget budget;
  if (!is_offloaded()) return budget;
  const padded_batch batch = padded_batch_of(*this, d, where.data_replica);
  const transformers_cache_bytes cache = cache_of(*this, d, share_of(d, where), batch);
  const bytes away{cache.on_host.kept()};
  budget.add({"kv_cache", away, away, away + bytes{cache.on_gpu.kept()}, basis::assumed,
              "layers of an offloaded cache that are not on the GPU"});
  return budget;
}

constexpr bytes engines::transformers::host_bytes(const deployment& d, const gpu_profile&) const {
  bytes most{};
  for (std::uint32_t stage = 0; is_offloaded() && stage < d.parallel.pipeline; ++stage) {
    most = detail::larger(most, host_ledger(d, rank{stage, 0}).total_high());
  }
  return most;
}
static_assert(engine<engines::transformers>);

}  // namespace kvbudget::inline v0
