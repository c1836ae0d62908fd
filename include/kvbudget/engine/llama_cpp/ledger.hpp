#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/pointer.hpp"
#include "kvbudget/engine/llama_cpp/constants.hpp"
#include "kvbudget/engine/llama_cpp/devices.hpp"
#include "kvbudget/memory/framework.hpp"
#include "kvbudget/memory/kv_cache.hpp"

namespace kvbudget::inline v0 {

namespace detail {

/// GPUs that a deployment names for llama.cpp: its ranks, replicas not included.
[[nodiscard]] constexpr std::uint64_t llama_cpp_gpus(const deployment& d) {
  return checked_mul(d.parallel.tensor, d.parallel.pipeline);
}

/// Buffers as lines of a ledger. Weights are listed by module, the cache by what it keeps.
constexpr void add_llama_cpp_buffers(memory_budget& budget, const llama_cpp_buffers& held,
                                     const deployment& d, basis cache_known, bool assumed_split) {
  constexpr const char* tensors = "every tensor as it lies in its buffer";
  if (d.pinned.weights.given) {
    add_pinned(budget, "weights", d.pinned.weights);
  } else {
    const basis known =
        held.model.assumed || d.model->parameters_assumed || assumed_split ? basis::assumed : basis::exact;
    const bytes all = held.model_total();
    budget.add({"weights", all, all, all, known, tensors, false});
    for (std::size_t role = 0; role < module_role_count; ++role) {
      add_part(budget, name_of(static_cast<module_role>(role)), held.model.modules[role], tensors);
    }
    add_part(budget, "weights.padding", held.model.padding, "tensors up to the alignment, rows up to 512");
  }
  const bytes context = held.context_total();
  budget.add({"kv_cache", context, context, context, assumed_split ? basis::assumed : cache_known,
              "every cell of the context, allocated at the start", false});
  add_part(budget, "kv_cache.full", held.context.full, "keys and values of the whole context");
  add_part(budget, "kv_cache.windowed", held.context.windowed, "layers with a window: window + n_ubatch");
  add_part(budget, "kv_cache.indexer", held.context.index, "index keys of sparse attention");
  add_part(budget, "kv_cache.compressed", held.context.compressed, "compressed entries, index keys");
  add_part(budget, "kv_cache.state", held.context.recurrent, "recurrent states in fp32, per sequence");
  add_part(budget, "kv_cache.draft", held.draft_context.total().value, "the cache of the draft layers");
  if (d.pinned.activations.given) {
    add_pinned(budget, "activations", d.pinned.activations);
  } else {
    const byte_range& range = held.compute.range;
    budget.add({"activations", bytes{range.low}, bytes{range.expected}, bytes{range.high},
                assumed_split ? basis::assumed : held.compute.known,
                "compute buffer: ggml's allocator followed through the graph of one batch", false});
  }
}

/// Where CUDA is not what runs the model, layouts and kernels were not compared with a run.
[[nodiscard]] constexpr bool has_cuda_buffers(const gpu_profile* gpu) {
  return is_null(gpu) || gpu->vendor == gpu_vendor::nvidia || gpu->vendor == gpu_vendor::amd;
}

/// The buffers of the host and the logits.
[[nodiscard]] constexpr memory_budget llama_cpp_host_ledger(const llama_cpp_memory& memory,
                                                            const deployment& d, const gpu_profile* gpu,
                                                            basis cache_known) {
  memory_budget budget;
  add_llama_cpp_buffers(budget, memory.host, d, cache_known, memory.assumed || !has_cuda_buffers(gpu));
  for (std::uint32_t i = 0; i < budget.count; ++i) {  // a mapping is shown as the span of the file
    if (!same_text(budget.lines[i].name, "weights") || d.pinned.weights.given) continue;
    if (budget.lines[i].high < memory.mapped_high) {
      budget.lines[i].high = memory.mapped_high;
      budget.lines[i].known = basis::assumed;
    }
  }
  const std::uint64_t rows =
      larger(memory.sizes.n_seq_max, smaller(memory.sizes.n_outputs_max, memory.sizes.n_batch));
  budget.add({"logits", memory.output, memory.output, output_buffer(*d.model, rows), basis::exact,
              "4 bytes per vocabulary entry and output: one per sequence at first, later as many as a call "
              "has asked for",
              false});
  return budget;
}

/// What one GPU holds, and what no report of the engine has. With pipeline stages it is the stage's GPU,
/// otherwise the one that holds most.
[[nodiscard]] constexpr memory_budget llama_cpp_gpu_ledger(const llama_cpp_memory& memory,
                                                           const deployment& d, const rank& where,
                                                           const gpu_profile* gpu, basis cache_known) {
  memory_budget budget;
  const bool cuda = has_cuda_buffers(gpu);
  const bool staged = d.parallel.pipeline == memory.gpu_count;
  const llama_cpp_buffers& held = memory.gpus[staged ? where.stage : memory.fullest()];
  add_llama_cpp_buffers(budget, held, d, cache_known, memory.assumed || !cuda);
  if (d.pinned.framework.given) {
    add_pinned(budget, "framework", d.pinned.framework);
  } else if (memory.gpu_count != 0 && cuda) {
    const framework_part parts[] = {{"framework.context", constants::llama_cpp_cuda_context}};
    add_framework_parts(budget, parts, "in no report of the engine: CUDA context, kernels and pool");
  }
  if (!is_null(gpu) && gpu->unified_memory) {
    const memory_budget host = llama_cpp_host_ledger(memory, d, gpu, cache_known);
    budget.add({"host", host.total_low(), host.total(), host.total(), basis::assumed,
                "buffers of the host, which are in the same memory", false});
  }
  add_margin(budget, d);
  return budget;
}
}  // namespace detail

/// The buffers of a deployment, by its own number of GPUs.
[[nodiscard]] constexpr llama_cpp_memory llama_cpp_memory_of(const engines::llama_cpp& options,
                                                             const deployment& d) {
  return llama_cpp_memory_of(options, d, detail::llama_cpp_gpus(d));
}

constexpr engine_name engines::llama_cpp::name() const {
  detail::engine_name_writer writer;
  writer.add("llama.cpp");
  if (build != 0) writer.add("@b").add(build);
  return writer.name;
}

constexpr usable_memory engines::llama_cpp::usable(const gpu_profile& gpu) const {
  return detail::without(kvbudget::usable(gpu), used_by_others);
}

constexpr memory_budget engines::llama_cpp::host_ledger(const deployment& d, const gpu_profile* gpu) const {
  return detail::llama_cpp_host_ledger(llama_cpp_memory_of(*this, d), d, gpu,
                                       llama_cpp_cache::known_for(*this, *d.model));
}

constexpr memory_budget engines::llama_cpp::ledger(const deployment& d, const rank& where,
                                                   const gpu_profile* gpu) const {
  return detail::llama_cpp_gpu_ledger(llama_cpp_memory_of(*this, d), d, where, gpu,
                                      llama_cpp_cache::known_for(*this, *d.model));
}

constexpr kv_growth engines::llama_cpp::cache_growth(const deployment& d, const rank& where) const {
  const engines::llama_cpp asked = llama_cpp_devices::resolved(*this, d);
  const llama_cpp_memory memory = llama_cpp_memory_of(*this, d);
  deployment kept = d;
  kept.kv_cache = kv_format(format_of(asked.type_k), format_of(asked.type_v));
  kept.states = {formats::fp32, formats::fp32};
  kept.parallel = parallel_layout{};
  const bool staged = d.parallel.pipeline == memory.gpu_count;
  const llama_cpp_buffers& held = memory.gpus[staged ? where.stage : memory.fullest()];
  const rank_share share = detail::share_of_layers(kept, {held.first_layer, held.end_layer});
  return kv_growth_of(kept, share, d.workload.longest_context());
}

constexpr bytes engines::llama_cpp::host_bytes(const deployment& d, const gpu_profile& gpu) const {
  return host_ledger(d, &gpu).total();
}

/// Why llama.cpp would not load a deployment with these options, in its own words where it has any.
[[nodiscard]] constexpr refusal llama_cpp_refusal(const engines::llama_cpp& options, const deployment& d) {
  const engines::llama_cpp asked = llama_cpp_devices::resolved(options, d);
  using enum llama_cpp_cache_type;
  if (asked.type_k == automatic || asked.type_v == automatic) {
    return {"llama.cpp keeps its cache in f32, f16, bf16, q8_0, q4_0, q4_1, iq4_nl, q5_0 or q5_1"};
  }
  const std::uint64_t gpus = detail::llama_cpp_gpus(d);
  if (gpus > llama_cpp_max_devices) return {"# GPUs: at most # are used", gpus, llama_cpp_max_devices};
  if (asked.main_gpu >= gpus && !asked.no_devices) {
    return {"invalid value for main_gpu: # (available devices: #)", asked.main_gpu, gpus};
  }
  const bool on_cpu = asked.no_devices;
  return llama_cpp_cache::refused(asked, *d.model,
                                  on_cpu ? llama_cpp_cache::backend::cpu : llama_cpp_cache::backend::cuda);
}

constexpr refusal engines::llama_cpp::refuses_to_load(const deployment& d, const gpu_profile*) const {
  return llama_cpp_refusal(*this, d);
}

namespace detail {
/// Why a sequence of so many cells does not hold the longest request.
[[nodiscard]] constexpr refusal longest_request_in(const deployment& d, std::uint64_t cells) {
  const std::uint64_t longest = d.workload.longest_context().value;
  if (longest <= cells) return {};
  return {"request (# tokens) exceeds the available context size (# tokens)", longest, cells};
}
}  // namespace detail

constexpr refusal engines::llama_cpp::refuses(const deployment& d, const gpu_profile&) const {
  const refusal why = llama_cpp_refusal(*this, d);
  if (why) return why;
  const engines::llama_cpp asked = llama_cpp_devices::resolved(*this, d);
  const auto on = asked.no_devices ? llama_cpp_cache::backend::cpu : llama_cpp_cache::backend::cuda;
  const llama_cpp_cache::sizes sizes =
      llama_cpp_cache::sizes_of(asked, *d.model, on, d.speculation.num_speculative_tokens);
  if (const refusal longest = detail::longest_request_in(d, sizes.n_ctx_seq)) return longest;
  if (sizes.n_stream == 1 && d.workload.active_tokens().value > sizes.n_ctx) {
    return {"# tokens of all requests, the cache of all sequences together has # cells",
            d.workload.active_tokens().value, sizes.n_ctx};
  }
  const std::uint64_t requests = d.workload.total_sequences();
  if (requests > sizes.n_seq_max) {
    return {"# requests at once, # run (n_parallel): the others wait", requests, sizes.n_seq_max};
  }
  return {};
}
static_assert(engine<engines::llama_cpp>);

}  // namespace kvbudget::inline v0
