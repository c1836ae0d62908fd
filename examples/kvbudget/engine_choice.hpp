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
using any_engine = std::variant<kvbudget::engines::geometry, kvbudget::engines::vllm,
                                kvbudget::engines::sglang, kvbudget::engines::tensorrt_llm,
                                kvbudget::engines::transformers, kvbudget::engines::llama_cpp>;

/// An engine as people name it, and what its estimates are.
struct engine_entry {
  const char* name;
  const char* what;
  any_engine engine;     ///< its newest version with every default
  const char* versions;  ///< whose rules differ; empty: it has none
  kvbudget::engine_version newest_rules{};
};
[[nodiscard]] const std::vector<engine_entry>& engine_list();

/// The engine of that name (`vllm`, `vllm@0.19`); another one is an error that says what there is.
[[nodiscard]] any_engine engine_named(const std::string& name);

/// An engine on GPUs whose usable memory is known better than their profile says: measured totals, memory
/// that others use, a marketed size taken on trust. For engines that reserve no pools.
template <kvbudget::engine Engine> struct with_usable {
  Engine engine;
  kvbudget::usable_memory available;

  [[nodiscard]] kvbudget::engine_name name() const { return engine.name(); }
  [[nodiscard]] kvbudget::memory_budget ledger(const kvbudget::deployment& d, const kvbudget::rank& where,
                                               const kvbudget::gpu_profile* gpu) const {
    return engine.ledger(d, where, gpu);
  }
  [[nodiscard]] kvbudget::usable_memory usable(const kvbudget::gpu_profile&) const { return available; }

  // What only some engines have.
  [[nodiscard]] kvbudget::kv_growth cache_growth(const kvbudget::deployment& d,
                                                 const kvbudget::rank& where) const requires
      requires(const Engine& on) {
    on.cache_growth(d, where);
  }
  { return engine.cache_growth(d, where); }
  [[nodiscard]] kvbudget::bytes host_bytes(const kvbudget::deployment& d,
                                           const kvbudget::gpu_profile& gpu) const requires
      requires(const Engine& on) {
    on.host_bytes(d, gpu);
  }
  { return engine.host_bytes(d, gpu); }
  [[nodiscard]] kvbudget::refusal refuses_to_load(const kvbudget::deployment& d,
                                                  const kvbudget::gpu_profile* gpu) const requires
      requires(const Engine& on) {
    on.refuses_to_load(d, gpu);
  }
  { return engine.refuses_to_load(d, gpu); }
  [[nodiscard]] kvbudget::refusal refuses(const kvbudget::deployment& d,
                                          const kvbudget::gpu_profile& gpu) const requires
      requires(const Engine& on) {
    on.refuses(d, gpu);
  }
  { return engine.refuses(d, gpu); }
};

}  // namespace cli
