#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/checked.hpp"
#include "kvbudget/engine/engine.hpp"
#include "kvbudget/engine/option_choice.hpp"
#include "kvbudget/engine/pool_engine.hpp"
#include "kvbudget/format/formats.hpp"
#include "kvbudget/memory/kv_cache.hpp"
#include "kvbudget/units/quantity.hpp"

namespace kvbudget::inline v0 {

/// Types that llama.cpp keeps keys and values in, by the names of `--cache-type-k` and `--cache-type-v`;
/// `automatic`: the format that the deployment names for its cache, else f16.
enum class llama_cpp_cache_type : std::uint8_t {
  automatic,
  f16,
  f32,
  bf16,
  q8_0,
  q4_0,
  q4_1,
  iq4_nl,
  q5_0,
  q5_1
};
inline constexpr std::size_t llama_cpp_cache_type_count = 10;

/// How a cache type is stored; `automatic` as f16.
[[nodiscard]] constexpr const number_format& format_of(llama_cpp_cache_type type) {
  switch (type) {
    case llama_cpp_cache_type::automatic: break;
    case llama_cpp_cache_type::f16: return formats::fp16;
    case llama_cpp_cache_type::f32: return formats::fp32;
    case llama_cpp_cache_type::bf16: return formats::bf16;
    case llama_cpp_cache_type::q8_0: return formats::q8_0;
    case llama_cpp_cache_type::q4_0: return formats::q4_0;
    case llama_cpp_cache_type::q4_1: return formats::q4_1;
    case llama_cpp_cache_type::iq4_nl: return formats::iq4_nl;
    case llama_cpp_cache_type::q5_0: return formats::q5_0;
    case llama_cpp_cache_type::q5_1: return formats::q5_1;
  }
  return formats::fp16;
}

/// `--flash-attn`: auto, off, on.
enum class llama_cpp_flash_attn : std::uint8_t { automatic, off, on };

/// `--split-mode`: how several GPUs share a model.
enum class llama_cpp_split_mode : std::uint8_t { layer, none, row, tensor };

/// `--load-mode`: how weights come from the file.
enum class llama_cpp_load_mode : std::uint8_t { automatic, none, mmap, mlock, dio };

/// Which program runs the library: it decides what stands for the options that are left to it.
enum class llama_cpp_program : std::uint8_t {
  llama_server,  ///< four slots on one cache; logits of the tokens that are sampled
  llama_cli,     ///< one sequence; logits of the token that is sampled
  library        ///< one sequence; logits of every token of a batch (llama-bench, llama-perplexity, bindings)
};

/// `n_outputs_max` of a caller that does not limit it: every token of a batch.
inline constexpr std::uint64_t llama_cpp_every_output = UINT32_MAX;

/// GPUs that `--tensor-split` names at most. Source: ggml-org/llama.cpp, src/llama.cpp, llama_max_devices.
inline constexpr std::uint32_t llama_cpp_max_devices = 16;

/// What `--override-tensor` can tell apart in a layer.
enum class llama_cpp_tensor : std::uint8_t {
  attention,
  mixer,
  norm,
  router,
  mlp_gate,
  mlp_up,
  mlp_down,
  shared_expert,
  expert_gate,
  expert_up,
  expert_down
};
inline constexpr std::size_t llama_cpp_tensor_count = 11;

/// Tensors that stay in host memory wherever their layer runs: what `-ot …=CPU` says, one bit per layer.
struct llama_cpp_host_tensors {
  std::uint64_t layers[llama_cpp_tensor_count][max_layers / 64] = {};
  bool head = false;  ///< `output.weight`

  constexpr llama_cpp_host_tensors& add(llama_cpp_tensor part, std::uint32_t layer) {
    if (layer >= max_layers) detail::a_listed_layer_is_beyond_any_model(layer);
    layers[static_cast<std::size_t>(part)][layer / 64] |= std::uint64_t{1} << (layer % 64);
    return *this;
  }
  /// Gate, up and down of all experts of a layer, as `--cpu-moe` names them.
  constexpr llama_cpp_host_tensors& add_experts(std::uint32_t layer) {
    add(llama_cpp_tensor::expert_gate, layer);
    add(llama_cpp_tensor::expert_up, layer);
    return add(llama_cpp_tensor::expert_down, layer);
  }
  [[nodiscard]] constexpr bool has(llama_cpp_tensor part, std::uint32_t layer) const {
    return ((layers[static_cast<std::size_t>(part)][layer / 64] >> (layer % 64)) & 1u) != 0;
  }
  /// Whether a layer has any tensor that stays on the host.
  [[nodiscard]] constexpr bool touches(std::uint32_t layer) const {
    std::uint64_t all = 0;
    for (const auto& part : layers) all |= part[layer / 64];
    return ((all >> (layer % 64)) & 1u) != 0;
  }
  [[nodiscard]] constexpr bool any() const {
    std::uint64_t all = head ? 1 : 0;
    for (const auto& part : layers) {
      for (const std::uint64_t word : part) all |= word;
    }
    return all != 0;
  }
  friend constexpr bool operator==(const llama_cpp_host_tensors&, const llama_cpp_host_tensors&) = default;
};

namespace engines {

/// llama.cpp: one cache for the whole context, allocated and zeroed at the start. Options have the names of
/// `llama_context_params`, `llama_model_params` and the command line, and its defaults. GPUs are the
/// deployment's: as many as it has ranks, pipeline stages for `layer`, tensor ranks for `row` and `tensor`.
/// Source: ggml-org/llama.cpp, common/common.h, common/arg.cpp, src/llama-context.cpp.
struct llama_cpp {
  std::uint32_t build = 0;  ///< its number (`b10107`); 0 = the newest that is known
  llama_cpp_program program = llama_cpp_program::llama_server;

  std::uint64_t n_ctx = 0;       ///< `-c`: cells of the cache; 0 = the trained context
  std::uint64_t n_batch = 2048;  ///< `-b`: tokens that a call takes
  std::uint64_t n_ubatch = 512;  ///< `-ub`: tokens that are computed at once; 0 = n_batch
  std::uint64_t n_parallel = 0;  ///< `-np`, n_seq_max: sequences; 0 = by program
  option_choice kv_unified = option_choice::automatic;  ///< `-kvu`: one cache for all sequences
  std::uint64_t n_outputs_max = 0;  ///< tokens of a batch that logits are computed for; 0 = by program
  std::uint64_t n_rs_seq = 0;       ///< copies of a recurrent state for taking back drafted tokens
  /// Where `n_parallel` and `n_ctx` are 0, they are as many sequences as the deployment has, and as many
  /// cells as that many of its longest context need: what a planner would write.
  bool sized_for_requests = false;

  llama_cpp_cache_type type_k = llama_cpp_cache_type::automatic;      ///< `-ctk`
  llama_cpp_cache_type type_v = llama_cpp_cache_type::automatic;      ///< `-ctv`
  llama_cpp_flash_attn flash_attn = llama_cpp_flash_attn::automatic;  ///< `-fa`
  bool swa_full = false;    ///< `--swa-full`: windows keep the whole context
  bool offload_kqv = true;  ///< false = `--no-kv-offload`: the cache stays in host memory
  bool op_offload = true;   ///< large batches run on the GPU even where weights are in host memory

  std::int32_t n_gpu_layers = -1;  ///< `-ngl`: layers on GPUs, counted from the last; below 0 = all
  llama_cpp_split_mode split_mode = llama_cpp_split_mode::layer;  ///< `-sm`
  /// `-ts`: shares of the GPUs in any unit; all 0 = by free memory.
  std::uint64_t tensor_split[llama_cpp_max_devices] = {};
  std::uint32_t main_gpu = 0;             ///< `-mg`: the only GPU of split mode `none`
  bool no_devices = false;                ///< `--device none`: everything on the CPU
  bool cpu_moe = false;                   ///< `--cpu-moe`: all experts in host memory
  std::uint32_t n_cpu_moe = 0;            ///< `--n-cpu-moe`: experts of so many first layers
  llama_cpp_host_tensors host_tensors{};  ///< `-ot …=CPU`
  bool no_host = false;                   ///< `--no-host`: no pinned host buffers
  llama_cpp_load_mode load_mode = llama_cpp_load_mode::automatic;

  bytes used_by_others = bytes{0};  ///< memory of other processes on each GPU

  /// `llama.cpp`, with the build where one is named: `llama.cpp@b10107`.
  [[nodiscard]] constexpr engine_name name() const;
  /// Total memory of the GPU, less what others use; the CUDA context is a line of the ledger.
  [[nodiscard]] constexpr usable_memory usable(const gpu_profile& gpu) const;
  /// What one GPU holds: `weights`, `kv_cache` and `activations` are the buffers that llama.cpp reports as
  /// model, context and compute; `framework` is what no report has. With pipeline stages the GPU is the
  /// stage's; otherwise the one that holds most.
  [[nodiscard]] constexpr memory_budget ledger(const deployment& d, const rank& where,
                                               const gpu_profile* gpu) const;
  /// The same of the host: buffers that are pinned, mapped or plain, and the logits.
  [[nodiscard]] constexpr memory_budget host_ledger(const deployment& d, const gpu_profile* gpu) const;
  /// How the cache of one GPU grows with the tokens of a sequence, in the engine's cache types.
  [[nodiscard]] constexpr kv_growth cache_growth(const deployment& d, const rank& where) const;
  /// Host memory of the whole process.
  [[nodiscard]] constexpr bytes host_bytes(const deployment& d, const gpu_profile& gpu) const;
  /// Why llama.cpp loads none of this: there is no ledger then.
  [[nodiscard]] constexpr refusal refuses_to_load(const deployment& d, const gpu_profile* gpu) const;
  /// Why llama.cpp does not start, or cannot hold the requests; in its own words where it has any.
  [[nodiscard]] constexpr refusal refuses(const deployment& d, const gpu_profile& gpu) const;
};

}  // namespace engines
}  // namespace kvbudget::inline v0
