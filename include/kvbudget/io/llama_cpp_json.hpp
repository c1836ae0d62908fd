#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "kvbudget/engine/llama_cpp.hpp"

/// The devices of llama.cpp as JSON, beside what `estimate_json` says of every engine.
namespace kvbudget::inline v0 {

namespace detail {
[[nodiscard]] inline nlohmann::ordered_json device_json(const std::string& name,
                                                        const llama_cpp_buffers& held) {
  return {{"name", name},
          {"model", held.model_total().value},
          {"context", held.context_total().value},
          {"compute", held.compute_total().value},
          {"compute_low", held.compute.range.low},
          {"compute_high", held.compute.range.high}};
}
}  // namespace detail

/// Adds the members `devices` (`GPU0` … and `host`, each with the buffers that llama.cpp reports: `model`,
/// `context`, `compute` and its bounds), `output_bytes` (logits in host memory, in no report), and the sizes
/// that it settles on: `n_ctx`, `n_ctx_seq`, `n_seq_max`, `n_batch`, `n_ubatch`, `flash_attn`. All are null
/// where nothing is loaded: `memory` is null then.
inline void add_llama_cpp_json(nlohmann::ordered_json& result, const llama_cpp_memory* memory) {
  for (const char* key :
       {"devices", "output_bytes", "n_ctx", "n_ctx_seq", "n_seq_max", "n_batch", "n_ubatch", "flash_attn"}) {
    result[key] = nullptr;
  }
  if (memory == nullptr) return;
  nlohmann::ordered_json devices = nlohmann::ordered_json::array();
  for (std::uint32_t i = 0; i < memory->gpu_count; ++i) {
    devices.push_back(detail::device_json("GPU" + std::to_string(i), memory->gpus[i]));
  }
  devices.push_back(detail::device_json("host", memory->host));
  result["devices"] = std::move(devices);
  result["output_bytes"] = memory->output.value;
  result["n_ctx"] = memory->sizes.n_ctx;
  result["n_ctx_seq"] = memory->sizes.n_ctx_seq;
  result["n_seq_max"] = memory->sizes.n_seq_max;
  result["n_batch"] = memory->sizes.n_batch;
  result["n_ubatch"] = memory->sizes.n_ubatch;
  result["flash_attn"] = memory->sizes.flash_attn;
}

/// The same of what these options allocate.
inline void add_llama_cpp_json(nlohmann::ordered_json& result, const engines::llama_cpp& on,
                               const deployment& d) {
  if (on.refuses_to_load(d, nullptr)) return add_llama_cpp_json(result, nullptr);
  const llama_cpp_memory memory = llama_cpp_memory_of(on, d);
  add_llama_cpp_json(result, &memory);
}

}  // namespace kvbudget::inline v0
