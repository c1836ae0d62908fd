#pragma once

#include <cstdint>

#include "kvbudget/engine/option_choice.hpp"
#include "kvbudget/format/formats.hpp"
#include "kvbudget/units/quantity.hpp"

namespace kvbudget::inline v0 {

/// Types that llama.cpp keeps keys and values in, by the names of `--cache-type-k` and `--cache-type-v`.
enum class llama_cpp_cache_type : std::uint8_t { f16, f32, bf16, q8_0, q4_0, q4_1, iq4_nl, q5_0, q5_1 };

/// How a cache type is stored.
[[nodiscard]] constexpr const number_format& format_of(llama_cpp_cache_type type) {
  switch (type) {
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

/// GPUs that `--tensor-split` names at most. Source: ggml-org/llama.cpp, src/llama.cpp, llama_max_devices.
inline constexpr std::uint32_t llama_cpp_max_devices = 16;

namespace engines {

/// llama.cpp: one cache for the whole context, allocated and zeroed at the start. Options have the names of
/// `llama_context_params`, `llama_model_params` and the command line, and its defaults; what the engine
/// refuses, `llama_cpp_cache::refused` says.
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

  llama_cpp_cache_type type_k = llama_cpp_cache_type::f16;            ///< `-ctk`
  llama_cpp_cache_type type_v = llama_cpp_cache_type::f16;            ///< `-ctv`
  llama_cpp_flash_attn flash_attn = llama_cpp_flash_attn::automatic;  ///< `-fa`
  bool swa_full = false;    ///< `--swa-full`: windows keep the whole context
  bool offload_kqv = true;  ///< false = `--no-kv-offload`: the cache stays in host memory
  bool op_offload = true;   ///< large batches run on the GPU even where weights are in host memory

  std::int32_t n_gpu_layers = -1;  ///< `-ngl`: layers on GPUs, counted from the last; below 0 = all
  llama_cpp_split_mode split_mode = llama_cpp_split_mode::layer;  ///< `-sm`
  double tensor_split[llama_cpp_max_devices] = {};  ///< `-ts`: shares of the GPUs; all 0 = by free memory
  std::uint32_t main_gpu = 0;                       ///< `-mg`
  bool cpu_moe = false;                             ///< `--cpu-moe`: all experts in host memory
  std::uint32_t n_cpu_moe = 0;                      ///< `--n-cpu-moe`: experts of so many first layers
  bool no_host = false;                             ///< `--no-host`: no pinned host buffers
  llama_cpp_load_mode load_mode = llama_cpp_load_mode::automatic;

  bytes used_by_others = bytes{0};  ///< memory of other processes on each GPU
};

}  // namespace engines
}  // namespace kvbudget::inline v0
