#pragma once

#include <string>
#include <variant>
#include <vector>

#include "kvbudget/engine/geometry.hpp"
#include "kvbudget/engine/llama_cpp.hpp"
#include "kvbudget/engine/sglang.hpp"
#include "kvbudget/engine/tensorrt_llm.hpp"
#include "kvbudget/engine/transformers.hpp"
#include "kvbudget/engine/vllm.hpp"

namespace cli {

/// The engines that this program can speak for.
using any_engine =
    std::variant<kvbudget::engines::geometry, kvbudget::engines::vllm, kvbudget::engines::sglang,
                 kvbudget::engines::tensorrt_llm, kvbudget::engines::transformers,
                 kvbudget::engines::llama_cpp, kvbudget::engines::ollama, kvbudget::engines::lm_studio,
                 kvbudget::engines::ik_llama_cpp>;

/// Whether an engine is llama.cpp, starts it, or is a fork of it: memory by device, whole layers on GPUs.
template <class Engine>
inline constexpr bool runs_llama_cpp = requires(const Engine& on, const kvbudget::deployment& d) {
  on.host_ledger(d, nullptr);
};

/// An engine as people name it, and what its estimates are.
struct engine_entry {
  const char* name;
  const char* what;
  any_engine engine;     ///< its newest version with every default
  const char* versions;  ///< whose rules differ; empty: it has none
  kvbudget::engine_version newest_rules{};
};
[[nodiscard]] const std::vector<engine_entry>& engine_list();

/// The name in `engine_list` that a spelling of it means ("llama_cpp", "LMStudio"); any other as it is.
[[nodiscard]] std::string plain_engine_name(const std::string& typed);

/// The engine of that name (`vllm`, `vllm@0.19`); another one is an error that says what there is.
[[nodiscard]] any_engine engine_named(const std::string& name);

/// What an engine is started for and the user has not set: it follows the requests.
struct open_sizes {
  bool context = false;
  bool sequences = false;
};

/// Ollama's context is that of one sequence.
inline void size_for_requests(kvbudget::engines::ollama& on, const kvbudget::deployment& d,
                              const open_sizes& open) {
  if (open.sequences) on.num_parallel = d.workload.total_sequences();
  if (open.context) on.num_ctx = d.workload.longest_context().value;
}
/// LM Studio's context holds all predictions: as many as there are requests in one cache, else all that may
/// run, as each has its share then.
inline void size_for_requests(kvbudget::engines::lm_studio& on, const kvbudget::deployment& d,
                              const open_sizes& open) {
  const std::uint64_t sequences = d.workload.total_sequences();
  if (open.sequences) on.max_parallel_predictions = sequences;
  if (!open.context) return;
  const std::uint64_t cells = on.use_unified_kv_cache ? sequences : on.max_parallel_predictions;
  on.context_length = kvbudget::detail::checked_mul(cells, d.workload.longest_context().value);
}
inline void size_for_requests(kvbudget::engines::ik_llama_cpp& on, const kvbudget::deployment& d,
                              const open_sizes& open) {
  const std::uint64_t sequences = d.workload.total_sequences();
  if (open.sequences) on.n_parallel = sequences;
  if (open.context) {
    on.n_ctx = kvbudget::detail::checked_mul(sequences, d.workload.longest_context().value);
  }
}

/// An engine on GPUs whose usable memory is known better than their profile says: measured totals, memory
/// that others use, a marketed size taken on trust. For engines that reserve no pools.
template <kvbudget::engine Engine> struct with_usable {
  Engine engine;
  kvbudget::usable_memory available;
  open_sizes open{};

  /// The engine as it is started for these requests.
  [[nodiscard]] decltype(auto) set_up(const kvbudget::deployment& d) const {
    if constexpr (requires(Engine & on) { size_for_requests(on, d, open); }) {
      Engine on = engine;
      size_for_requests(on, d, open);
      return on;
    } else {
      return (engine);
    }
  }

  [[nodiscard]] kvbudget::engine_name name() const { return engine.name(); }
  [[nodiscard]] kvbudget::memory_budget ledger(const kvbudget::deployment& d, const kvbudget::rank& where,
                                               const kvbudget::gpu_profile* gpu) const {
    return set_up(d).ledger(d, where, gpu);
  }
  [[nodiscard]] kvbudget::usable_memory usable(const kvbudget::gpu_profile&) const { return available; }

  // What only some engines have.
  [[nodiscard]] kvbudget::kv_growth cache_growth(const kvbudget::deployment& d,
                                                 const kvbudget::rank& where) const requires
      requires(const Engine& on) {
    on.cache_growth(d, where);
  }
  { return set_up(d).cache_growth(d, where); }
  [[nodiscard]] kvbudget::bytes host_bytes(const kvbudget::deployment& d,
                                           const kvbudget::gpu_profile& gpu) const requires
      requires(const Engine& on) {
    on.host_bytes(d, gpu);
  }
  { return set_up(d).host_bytes(d, gpu); }
  [[nodiscard]] kvbudget::refusal refuses_to_load(const kvbudget::deployment& d,
                                                  const kvbudget::gpu_profile* gpu) const requires
      requires(const Engine& on) {
    on.refuses_to_load(d, gpu);
  }
  { return set_up(d).refuses_to_load(d, gpu); }
  [[nodiscard]] kvbudget::refusal refuses(const kvbudget::deployment& d,
                                          const kvbudget::gpu_profile& gpu) const requires
      requires(const Engine& on) {
    on.refuses(d, gpu);
  }
  { return set_up(d).refuses(d, gpu); }
  [[nodiscard]] kvbudget::memory_budget host_ledger(
      const kvbudget::deployment& d, const kvbudget::gpu_profile* gpu) const requires runs_llama_cpp<Engine> {
    return set_up(d).host_ledger(d, gpu);
  }
  /// The buffers of every device.
  [[nodiscard]] kvbudget::llama_cpp_memory devices(
      const kvbudget::deployment& d, const kvbudget::gpu_profile* gpu) const requires runs_llama_cpp<Engine> {
    const auto& on = set_up(d);
    if constexpr (requires { on.memory(d, gpu); }) {
      return on.memory(d, gpu);
    } else if constexpr (requires { on.started(d, gpu); }) {
      return kvbudget::llama_cpp_memory_of(on.started(d, gpu), d);
    } else {
      return kvbudget::llama_cpp_memory_of(on, d);
    }
  }
};

}  // namespace cli
