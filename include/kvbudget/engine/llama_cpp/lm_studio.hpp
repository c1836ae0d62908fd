#pragma once

#include <cstdint>

#include "kvbudget/engine/llama_cpp/options.hpp"
#include "kvbudget/model/model_architecture.hpp"
#include "kvbudget/units/basis.hpp"

namespace kvbudget::inline v0 {

namespace engines {

/// LM Studio's GGUF runtime: llama.cpp with four slots on one cache. Options are named as in its load
/// settings
/// (`LLMLoadModelConfig` of its SDK in snake_case). The program is not public: which of llama.cpp's settings
/// an option becomes is taken from its documentation and from logs, and so are defaults; those marked
/// "assumed" are in neither. Sources: lmstudio-ai/lmstudio-js,
/// packages/lms-shared-types/src/llm/LLMLoadModelConfig.ts and packages/lms-kv-config/src/schema.ts;
/// lmstudio.ai/docs/app/advanced/parallel-requests (four at once); lmstudio-ai/lmstudio-bug-tracker issue
/// 1862 (a log with four sequences on one cache), issue 2024.
struct lm_studio {
  std::uint64_t context_length = 4096;  ///< cells of the cache; assumed (the SDK's schema says 2,048)
  std::uint64_t max_parallel_predictions = 4;
  bool use_unified_kv_cache = true;       ///< assumed default; false = each prediction has cells of its own
  std::uint64_t eval_batch_size = 512;    ///< tokens that a call takes
  std::uint64_t physical_batch_size = 0;  ///< tokens that are computed at once; 0 = 512 (assumed)
  llama_cpp_flash_attn flash_attention = llama_cpp_flash_attn::automatic;  ///< assumed default
  /// `llama_k_cache_quantization_type` and the same of values; f16 without.
  llama_cpp_cache_type k_cache_quantization_type{};
  llama_cpp_cache_type v_cache_quantization_type{};
  double gpu_offload = 1;                   ///< `gpu.ratio`: share of the layers; 1 = all ("max"), 0 = "off"
  std::uint32_t num_cpu_expert_layers = 0;  ///< first layers whose experts stay in host memory
  bool offload_kv_cache_to_gpu = true;
  bool try_mmap = true;
  bool keep_model_in_memory = true;  ///< locked, so that it is not swapped out
  bytes used_by_others = bytes{0};

  /// The engine's name.
  [[nodiscard]] constexpr engine_name name() const;
  /// The llama.cpp that a load amounts to.
  [[nodiscard]] constexpr llama_cpp started(const deployment& d, const gpu_profile* gpu) const;
  /// As those of `engines::llama_cpp`, of what is started.
  [[nodiscard]] constexpr usable_memory usable(const gpu_profile& gpu) const;
  [[nodiscard]] constexpr memory_budget ledger(const deployment& d, const rank& where,
                                               const gpu_profile* gpu) const;
  [[nodiscard]] constexpr memory_budget host_ledger(const deployment& d, const gpu_profile* gpu) const;
  [[nodiscard]] constexpr kv_growth cache_growth(const deployment& d, const rank& where) const;
  [[nodiscard]] constexpr bytes host_bytes(const deployment& d, const gpu_profile& gpu) const;
  /// Why it loads none of this: there is no ledger then.
  [[nodiscard]] constexpr refusal refuses_to_load(const deployment& d, const gpu_profile* gpu) const;
  [[nodiscard]] constexpr refusal refuses(const deployment& d, const gpu_profile& gpu) const;
};

}  // namespace engines

namespace lm_studio_rules {

/// The llama.cpp that a load amounts to. Logits are assumed to be computed for the sampled tokens only, as in
/// llama-server; a share of the layers is assumed to be rounded down.
[[nodiscard]] constexpr engines::llama_cpp settings_of(const engines::lm_studio& asked,
                                                       const model_architecture& model) {
  engines::llama_cpp starts;
  starts.program = llama_cpp_program::llama_server;
  starts.n_ctx = asked.context_length;
  starts.n_parallel = asked.max_parallel_predictions == 0 ? 1 : asked.max_parallel_predictions;
  starts.kv_unified = asked.use_unified_kv_cache ? option_choice::yes : option_choice::no;
  starts.n_batch = asked.eval_batch_size;
  starts.n_ubatch = asked.physical_batch_size == 0 ? 512 : asked.physical_batch_size;
  starts.flash_attn = asked.flash_attention;
  starts.type_k = asked.k_cache_quantization_type;
  starts.type_v = asked.v_cache_quantization_type;
  if (asked.gpu_offload < 1) {
    const double layers = asked.gpu_offload > 0 ? asked.gpu_offload * model.num_hidden_layers : 0;
    starts.n_gpu_layers = static_cast<std::int32_t>(layers);
  }
  starts.n_cpu_moe = asked.num_cpu_expert_layers;
  starts.offload_kqv = asked.offload_kv_cache_to_gpu;
  starts.load_mode = !asked.try_mmap              ? llama_cpp_load_mode::none
                     : asked.keep_model_in_memory ? llama_cpp_load_mode::mlock
                                                  : llama_cpp_load_mode::mmap;
  starts.used_by_others = asked.used_by_others;
  return starts;
}

/// Never better than assumed: what LM Studio passes on is not public.
[[nodiscard]] constexpr basis known_for(const engines::lm_studio&) { return basis::assumed; }

}  // namespace lm_studio_rules
}  // namespace kvbudget::inline v0
