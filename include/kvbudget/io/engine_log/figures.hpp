#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvbudget::inline v0 {

/// A size as a log printed it. What serving engines call GB is 2^30 bytes as well: they divide by 2^30.
struct printed_amount {
  std::int64_t bytes = 0;  ///< nearest byte; below zero where the engine printed a minus
  std::uint64_t rounding_bytes =
      0;                   ///< half of the last printed digit, rounded up: the true size is within it
  std::uint32_t line = 0;  ///< line of the log, from 1
};

/// A whole number as a log printed it, thousands separators read through.
struct printed_count {
  std::uint64_t value = 0;
  std::uint32_t line = 0;
};

/// A decimal number as a log printed it: digits / scale, exact up to 17 decimals.
struct printed_decimal {
  std::int64_t digits = 0;
  std::uint64_t scale = 1;  ///< a power of ten
  std::uint32_t line = 0;
};

/// One allocated cache: SGLang prints one per pool (target, draft; sliding and full layers), TensorRT-LLM one
/// per attention window.
struct printed_pool {
  std::uint32_t line = 0;
  std::string dtype{};
  std::optional<printed_count> tokens{};
  std::optional<printed_amount> keys{};
  std::optional<printed_amount> values{};
  std::optional<printed_amount> total{};  ///< where keys and values are not told apart (MLA)
  std::optional<printed_count> window{};
  std::optional<printed_count> tokens_per_block{};
  std::optional<printed_count> blocks_per_sequence{};
  std::optional<printed_count> primary_blocks{};    ///< on the GPU
  std::optional<printed_count> secondary_blocks{};  ///< in host memory
  std::optional<printed_count> max_sequence_length{};
};

/// What one process printed about its GPU; what it did not print is absent, never zero.
struct rank_figures {
  /// `TP0`, `DP1 TP3 EP3`, `rank 2`, `pid 521`; `engine` or `engine DP0` for vLLM's engine core, which prints
  /// the pool for all its workers (and everything where there is one GPU); empty without any prefix.
  std::string name{};
  std::optional<std::uint32_t> data_parallel{};
  std::optional<std::uint32_t> pipeline{};
  std::optional<std::uint32_t> tensor{};
  std::optional<std::uint32_t> expert{};
  std::optional<std::uint32_t> rank{};

  // the device and the budget
  std::optional<printed_amount> total_gpu_memory{};
  std::optional<printed_amount> free_at_start{};
  std::optional<printed_amount> memory_budget{};  ///< what the engine allows itself: utilisation × total
  std::optional<printed_decimal> gpu_memory_utilization{};
  std::optional<printed_decimal> equivalent_utilization{};  ///< the same without the estimate of CUDA graphs
  std::optional<printed_decimal> memory_fraction{};         ///< TensorRT-LLM: share of what is free

  // what is not KV cache
  std::optional<printed_amount> weights{};
  std::optional<printed_amount> draft_weights{};  ///< of a second model on the same rank
  std::optional<printed_amount> activation_peak{};
  std::optional<printed_amount> non_torch{};
  std::optional<printed_amount> consumed{};  ///< weights and non-torch in one figure
  std::optional<printed_amount> non_kv{};    ///< everything but the KV cache in one figure
  std::optional<printed_amount> initial_usage{};
  std::optional<printed_amount> peak_torch{};
  std::optional<printed_amount> usage_after_profile{};
  std::optional<printed_amount> peak_memory{};  ///< TensorRT-LLM: torch and non-torch, while profiling
  std::optional<printed_amount> outside_torch_after_load{};
  std::optional<printed_amount> temporary_kv{};  ///< TensorRT-LLM: the cache that profiling itself used
  std::optional<printed_amount> execution_context{};
  std::optional<printed_amount> runtime_buffers{};
  std::optional<printed_amount> decoder_buffers{};
  std::optional<printed_amount> cuda_graphs_estimated{};
  std::optional<printed_amount> cuda_graphs{};  ///< all captures; can be below zero
  std::optional<printed_amount> cuda_graph_pool{};

  // what is free on the way
  std::optional<printed_amount> free_after_weights{};
  std::optional<printed_amount> free_after_profile{};
  std::optional<printed_amount> free_before_kv{};
  std::optional<printed_amount> free_after_pools{};
  std::optional<printed_amount> free_after_graphs{};
  std::optional<printed_amount> free_at_end{};

  // the KV cache
  std::optional<printed_amount> available_kv{};
  std::optional<printed_amount> estimated_kv{};
  std::optional<printed_amount> allocated_kv{};
  std::optional<printed_amount> host_kv{};  ///< in host memory
  std::optional<printed_decimal> kv_bytes_per_token{};
  std::optional<printed_count> kv_tokens{};
  std::optional<printed_count> num_gpu_blocks{};
  std::optional<printed_count> num_cpu_blocks{};
  std::optional<printed_count> block_size{};
  std::optional<printed_count> blocks_per_sequence{};
  std::optional<printed_decimal> max_concurrency{};
  std::optional<printed_count> concurrency_length{};  ///< tokens per request that it is for
  std::optional<printed_count> attention_block_size{};
  std::optional<printed_decimal> mamba_page_padding_percent{};
  std::optional<printed_count> padding_layers{};
  std::optional<printed_decimal> padding_waste_percent{};
  std::optional<printed_count> full_tokens{};  ///< SGLang: pool of the layers without a window
  std::optional<printed_count> swa_tokens{};   ///< SGLang: pool of the sliding layers
  std::optional<printed_amount> swa_pools{};   ///< both pools together
  std::optional<printed_count> mamba_slots{};
  std::optional<printed_amount> mamba_conv{};
  std::optional<printed_amount> mamba_ssm{};
  std::optional<printed_amount> mamba_intermediate_ssm{};
  std::optional<printed_amount> mamba_intermediate_conv{};

  // a refusal to start
  std::optional<printed_amount> needed_kv{};
  std::optional<printed_amount> refused_available_kv{};
  std::optional<printed_count> refused_length{};
  std::optional<printed_count> estimated_max_length{};

  // limits it then runs with
  std::optional<printed_count> fitted_max_model_len{};
  std::optional<printed_count> max_running_requests{};
  std::optional<printed_count> context_length{};
  std::optional<printed_count> chunked_prefill_size{};
  std::optional<printed_count> max_prefill_tokens{};

  std::vector<printed_pool> pools{};
};

/// One figure of `rank_figures`, of whichever type.
struct figure_member {
  std::optional<printed_amount> rank_figures::*amount = nullptr;
  std::optional<printed_count> rank_figures::*count = nullptr;
  std::optional<printed_decimal> rank_figures::*decimal = nullptr;
  constexpr figure_member(std::optional<printed_amount> rank_figures::*member) : amount(member) {}
  constexpr figure_member(std::optional<printed_count> rank_figures::*member) : count(member) {}
  constexpr figure_member(std::optional<printed_decimal> rank_figures::*member) : decimal(member) {}
};

struct named_figure {
  const char* name;
  figure_member member;
};

/// Every figure of `rank_figures` by its own name, in its order.
inline constexpr named_figure log_figures[] = {
    {"total_gpu_memory", &rank_figures::total_gpu_memory},
    {"free_at_start", &rank_figures::free_at_start},
    {"memory_budget", &rank_figures::memory_budget},
    {"gpu_memory_utilization", &rank_figures::gpu_memory_utilization},
    {"equivalent_utilization", &rank_figures::equivalent_utilization},
    {"memory_fraction", &rank_figures::memory_fraction},
    {"weights", &rank_figures::weights},
    {"draft_weights", &rank_figures::draft_weights},
    {"activation_peak", &rank_figures::activation_peak},
    {"non_torch", &rank_figures::non_torch},
    {"consumed", &rank_figures::consumed},
    {"non_kv", &rank_figures::non_kv},
    {"initial_usage", &rank_figures::initial_usage},
    {"peak_torch", &rank_figures::peak_torch},
    {"usage_after_profile", &rank_figures::usage_after_profile},
    {"peak_memory", &rank_figures::peak_memory},
    {"outside_torch_after_load", &rank_figures::outside_torch_after_load},
    {"temporary_kv", &rank_figures::temporary_kv},
    {"execution_context", &rank_figures::execution_context},
    {"runtime_buffers", &rank_figures::runtime_buffers},
    {"decoder_buffers", &rank_figures::decoder_buffers},
    {"cuda_graphs_estimated", &rank_figures::cuda_graphs_estimated},
    {"cuda_graphs", &rank_figures::cuda_graphs},
    {"cuda_graph_pool", &rank_figures::cuda_graph_pool},
    {"free_after_weights", &rank_figures::free_after_weights},
    {"free_after_profile", &rank_figures::free_after_profile},
    {"free_before_kv", &rank_figures::free_before_kv},
    {"free_after_pools", &rank_figures::free_after_pools},
    {"free_after_graphs", &rank_figures::free_after_graphs},
    {"free_at_end", &rank_figures::free_at_end},
    {"available_kv", &rank_figures::available_kv},
    {"estimated_kv", &rank_figures::estimated_kv},
    {"allocated_kv", &rank_figures::allocated_kv},
    {"host_kv", &rank_figures::host_kv},
    {"kv_bytes_per_token", &rank_figures::kv_bytes_per_token},
    {"kv_tokens", &rank_figures::kv_tokens},
    {"num_gpu_blocks", &rank_figures::num_gpu_blocks},
    {"num_cpu_blocks", &rank_figures::num_cpu_blocks},
    {"block_size", &rank_figures::block_size},
    {"blocks_per_sequence", &rank_figures::blocks_per_sequence},
    {"max_concurrency", &rank_figures::max_concurrency},
    {"concurrency_length", &rank_figures::concurrency_length},
    {"attention_block_size", &rank_figures::attention_block_size},
    {"mamba_page_padding_percent", &rank_figures::mamba_page_padding_percent},
    {"padding_layers", &rank_figures::padding_layers},
    {"padding_waste_percent", &rank_figures::padding_waste_percent},
    {"full_tokens", &rank_figures::full_tokens},
    {"swa_tokens", &rank_figures::swa_tokens},
    {"swa_pools", &rank_figures::swa_pools},
    {"mamba_slots", &rank_figures::mamba_slots},
    {"mamba_conv", &rank_figures::mamba_conv},
    {"mamba_ssm", &rank_figures::mamba_ssm},
    {"mamba_intermediate_ssm", &rank_figures::mamba_intermediate_ssm},
    {"mamba_intermediate_conv", &rank_figures::mamba_intermediate_conv},
    {"needed_kv", &rank_figures::needed_kv},
    {"refused_available_kv", &rank_figures::refused_available_kv},
    {"refused_length", &rank_figures::refused_length},
    {"estimated_max_length", &rank_figures::estimated_max_length},
    {"fitted_max_model_len", &rank_figures::fitted_max_model_len},
    {"max_running_requests", &rank_figures::max_running_requests},
    {"context_length", &rank_figures::context_length},
    {"chunked_prefill_size", &rank_figures::chunked_prefill_size},
    {"max_prefill_tokens", &rank_figures::max_prefill_tokens},
};

/// What one buffer type of a local engine holds, by the name that ggml prints: `CUDA0`, `ROCm1`, `Vulkan0`,
/// `Metal`, `CPU`, `CPU_Mapped`, `CPU_REPACK`, `CUDA_Host`, `CUDA0_Split`, `RPC[host:port]`, …
struct printed_device {
  std::string name{};
  std::string description{};                  ///< `NVIDIA GeForce RTX 4090`; empty where none was printed
  std::optional<printed_amount> total{};      ///< memory of the device; whole MiB that the engine cut
  std::optional<printed_amount> free{};       ///< what was free before loading; whole MiB that the engine cut
  std::optional<printed_amount> model{};      ///< weights: the sum of the lines of this name
  std::optional<printed_amount> context{};    ///< KV caches and other state that is not recurrent, summed
  std::optional<printed_amount> recurrent{};  ///< recurrent states (`RS`), summed
  std::optional<printed_amount> compute{};    ///< graph; of several reservations the last one
  std::optional<printed_amount> output{};     ///< logits and embeddings that callers read
  std::optional<printed_amount> other{};      ///< LoRA adapters and the `input` buffers of 2024, summed
};

/// One cache of a local engine: KV (one for windowed layers, one for the others), recurrent state.
struct printed_cache {
  std::uint32_t line = 0;
  std::string label{};     ///< what the engine calls it: `non-SWA`, `SWA`, …; empty where there is only one
  bool recurrent = false;  ///< `keys` are then the R (convolution) states, `values` the S states
  bool latent = false;     ///< ik_llama.cpp: `keys` are c^KV, `values` the transposed copy
  std::optional<printed_amount> total{};
  std::optional<printed_amount> keys{};
  std::optional<printed_amount> values{};
  std::string key_type{};  ///< `f16`, `q8_0`, …
  std::string value_type{};
  std::optional<printed_count> cells{};
  std::optional<printed_count> layers{};
  std::optional<printed_count> sequences{};
  std::optional<printed_count> streams{};  ///< 1 where sequences share the cells
};

/// One row of llama.cpp's memory breakdown: `total = free + (self = model + context + compute) +
/// unaccounted`, in whole MiB that the engine cut. `total`, `free` and `unaccounted` are printed for devices
/// only.
struct printed_breakdown {
  std::uint32_t line = 0;
  std::string name{};  ///< of a device, `Host`, or of a buffer type
  std::string description{};
  std::optional<printed_amount> total{};
  std::optional<printed_amount> free{};
  std::optional<printed_amount> self{};
  std::optional<printed_amount> model{};
  std::optional<printed_amount> context{};
  std::optional<printed_amount> compute{};
  std::optional<printed_amount> unaccounted{};  ///< can be below zero
};

/// What llama.cpp's `--fit` put on one device.
struct printed_fit_device {
  std::uint32_t line = 0;
  std::string name{};
  std::optional<printed_count> layers{};
  std::optional<printed_count> overflowing{};  ///< of them, with experts or parts elsewhere
  std::optional<printed_amount> used{};
  std::optional<printed_amount> free{};
};

/// What llama.cpp's `--fit` found and lowered before loading; whole MiB that the engine cut.
struct printed_fit {
  std::uint32_t line = 0;                     ///< of its first line
  std::optional<printed_amount> projected{};  ///< need with the parameters as given, all devices
  std::optional<printed_amount> free{};     ///< beside it: what is free, or the total in the versions of 2025
  std::optional<printed_amount> target{};   ///< what is to stay free
  std::optional<printed_amount> missing{};  ///< how much has to go
  std::optional<printed_count> context_before{};
  std::optional<printed_count> context_after{};
  std::vector<printed_fit_device> devices{};  ///< where layers were moved
  std::optional<bool> succeeded{};            ///< absent where the log does not say
  std::string failure{};                      ///< why it did not, in the engine's words
};

/// A refusal or a failed allocation, in the engine's words.
struct printed_failure {
  std::uint32_t line = 0;
  std::string text{};                    ///< the message without its prefixes, cut after 300 bytes
  std::string device{};                  ///< `CUDA0`; empty where none was named
  std::optional<printed_amount> size{};  ///< what could not be allocated
  bool recovered = false;                ///< the engine went on: other graph, memory that is not pinned
};

/// What one start of an engine printed; figures as it printed them.
struct engine_log {
  std::string engine{};          ///< `vllm`, `sglang`, `tensorrt_llm` or `llama_cpp`
  std::string version{};         ///< empty where none was printed
  std::string model{};           ///< name or folder; empty where none was printed
  std::uint32_t first_line = 1;  ///< where the start that is reported begins
  std::uint32_t starts = 1;      ///< starts in the file; the last one is reported
  std::vector<rank_figures> ranks{};
  /// Settings from the start-up lines, by the engine's own names: `tensor_parallel_size`, `kv_cache_dtype`,
  /// …; texts are cut after 4,096 bytes.
  std::map<std::string, std::string> settings{};
  std::vector<std::string> notes{};  ///< one line for each oddity: skipped numbers, cut lines, earlier starts

  // local engines, which have buffers of devices in place of ranks
  std::string front_end{};  ///< `llama.cpp`, `ik_llama.cpp`, `ollama` or `lm_studio`; empty for others
  std::vector<printed_device> devices{};            ///< at most 64, in the order in which they were printed
  std::vector<printed_cache> caches{};              ///< at most 64
  std::vector<printed_device> draft_devices{};      ///< of a draft model, or of a second context
  std::vector<printed_cache> draft_caches{};        ///< the same
  std::vector<printed_device> projector_devices{};  ///< of an image or audio encoder (mmproj)
  std::optional<printed_amount> projector_estimate{};  ///< what llama-server expects of one, before loading
  std::optional<printed_amount> draft_estimate{};
  std::optional<printed_count> offloaded_layers{};    ///< on GPUs, the output layer counted as one
  std::optional<printed_count> offloadable_layers{};  ///< layers that there are, counted alike
  std::vector<std::string> host_tensors{};  ///< moved to host memory by overrides, at most 8,192 names
  std::optional<printed_amount> memory_required{};  ///< 2023: `mem required`
  std::optional<printed_amount> vram_used{};        ///< 2023: `VRAM used`
  std::optional<printed_amount> compute_total{};    ///< 2023: `compute buffer total size`
  std::optional<printed_amount> total_memory{};     ///< Ollama: all devices and kinds in one figure
  std::vector<printed_breakdown> breakdown{};       ///< the last table, at most 64 rows
  bool breakdown_projected = false;  ///< the table was printed before loading: a projection of `--fit`
  bool projected = false;            ///< the figures are those of a run of `--fit` that allocated nothing
  std::optional<printed_fit> fit{};
  std::vector<printed_failure> failures{};  ///< at most 64
};

/// Each figure of the first of the ranks that printed it: vLLM's engine core prints the pool, its workers the
/// weights. Pools are those of the first rank that has any.
[[nodiscard]] inline rank_figures first_printed(const engine_log& log) {
  rank_figures result;
  for (const rank_figures& rank : log.ranks) {
    for (const named_figure& figure : log_figures) {
      const auto take = [&](auto member) {
        if (member != nullptr && !(result.*member)) result.*member = rank.*member;
      };
      take(figure.member.amount);
      take(figure.member.count);
      take(figure.member.decimal);
    }
    if (result.pools.empty()) result.pools = rank.pools;
  }
  return result;
}

}  // namespace kvbudget::inline v0
