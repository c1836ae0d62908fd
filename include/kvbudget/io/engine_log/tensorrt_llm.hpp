#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/io/engine_log/recorder.hpp"

namespace kvbudget::inline v0::detail {

/// Lines of TensorRT-LLM, both runtimes. Wordings: NVIDIA/TensorRT-LLM,
/// `tensorrt_llm/_torch/pyexecutor/_util.py`, with `resource_manager.py` and `kv_cache_manager_v2.py` beside
/// it, `cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp`, logs in its issue 1400 and in
/// triton-inference-server/tensorrtllm_backend.
///
/// The PyTorch runtime allocates a small cache first, profiles with it, and then the real one with the same
/// words: the line that ends profiling drops the figures of the first.
struct tensorrt_llm_dialect {
  using f = rank_figures;

  static constexpr figure_rule rules[] = {
      {"Peak memory during memory usage profiling", "", &f::peak_memory},
      {"Peak memory during memory usage profiling", "(torch + non-torch)", &f::peak_memory},
      {"Peak memory during memory usage profiling", "when calculating max tokens", &f::available_kv},
      {"Peak memory during memory usage profiling", "available KV cache memory", &f::available_kv},
      {"Peak memory during memory usage profiling", "fraction is set", &f::memory_fraction},
      {"Peak memory during memory usage profiling", "kv size is", &f::kv_bytes_per_token},
      {"Peak memory during memory usage profiling", "device total memory", &f::total_gpu_memory},
      {"Peak memory during memory usage profiling", "tmp kv_mem", &f::temporary_kv},
      {"Peak memory during memory usage profiling", "temporary kv cache memory during profiling",
       &f::temporary_kv},
      {"kv size per token is", "", &f::kv_bytes_per_token},
      {"KV cache manager v2 device quota set to", "", &f::allocated_kv},
      {"host cache quota set to", "", &f::host_kv},
      {"Memory used for model weights (inside torch)", "profiling", &f::weights},
      {"Memory used after loading model weights (inside torch)", "profiling", &f::weights},
      {"Memory used after loading model weights (outside torch)", "profiling", &f::outside_torch_after_load},
      {"Memory dynamically allocated during inference (inside torch)", "profiling", &f::activation_peak},
      {"Memory used outside torch (e.g., NCCL and CUDA graphs)", "profiling", &f::non_torch},
      {"Estimated max memory in KV cache", "", &f::estimated_kv},
      {" for max tokens in paged KV cache", "", &f::allocated_kv, keep::last, side::before},
      {" for max tokens in paged KV cache", " for max tokens in paged KV cache", &f::kv_tokens},
      {" for execution context memory", "", &f::execution_context, keep::last, side::before},
      {" GPU memory for runtime buffers", "", &f::runtime_buffers, keep::last, side::before},
      {" GPU memory for decoder", "", &f::decoder_buffers, keep::last, side::before},
      {"when calculating max tokens in paged kv cache", "total", &f::total_gpu_memory},
      {"when calculating max tokens in paged kv cache", "available", &f::free_before_kv},
      {" for k/v cache", "", &f::allocated_kv, keep::last, side::before},
      {" tokens in paged KV cache", "", &f::kv_tokens, keep::last, side::before},
      {"blocks in KV cache primary pool", "", &f::num_gpu_blocks},
      {"blocks in KV cache secondary pool", "", &f::num_cpu_blocks},
      {"Max KV cache pages per sequence", "", &f::blocks_per_sequence},
      {"Number of tokens per block", "", &f::block_size},
      {"Loaded engine size", "", &f::weights},
  };

  static constexpr std::string_view special_contexts[] = {"TensorRT-LLM version:",
                                                          "TensorRT LLM version:",
                                                          "max_num_requests=",
                                                          "LlmArgs(",
                                                          "engine args: {",
                                                          "Peak memory during memory usage profiling",
                                                          "Max KV cache blocks per sequence"};

  void read(std::string_view context, const log_message& message, std::size_t at, log_recorder& recorder) {
    const std::string_view text = message.whole;
    const std::size_t behind = at + context.size();
    if (context == "TensorRT-LLM version:" || context == "TensorRT LLM version:") {
      recorder.start(message.number, "", false);
      recorder.log().version = word_at(text, behind);
    } else if (context == "max_num_requests=") {
      const std::size_t length = text.rfind("max_seq_len=", at);
      recorder.settings(text.substr(length != std::string_view::npos && length + 40 > at ? length : at));
    } else if (context == "LlmArgs(") {
      recorder.settings(text.substr(behind));
    } else if (context == "engine args: {") {
      recorder.settings(text.substr(behind - 1));
    } else if (context == "Peak memory during memory usage profiling") {
      for (rank_figures& rank : recorder.log().ranks) forget_first_cache(rank);
    } else {
      read_pool(message, at, behind, recorder);
    }
  }

 private:
  static void forget_first_cache(rank_figures& rank) {
    rank.pools.clear();
    rank.allocated_kv.reset();
    rank.kv_tokens.reset();
    rank.num_gpu_blocks.reset();
    rank.num_cpu_blocks.reset();
    rank.blocks_per_sequence.reset();
  }

  static void read_pool(const log_message& message, std::size_t at, std::size_t behind,
                        log_recorder& recorder) {
    const std::string_view text = message.whole;
    const auto count = [&](std::string_view label) {
      const std::size_t found = text.find(label, behind);
      const std::size_t number = found == std::string_view::npos ? text.size() : found + label.size();
      return recorder.count_at(text, skip_to_number(text, number), message.number);
    };
    printed_pool pool;
    pool.line = message.number;
    pool.blocks_per_sequence = recorder.count_at(text, skip_to_number(text, behind), message.number);
    pool.window = count("[window size=");
    pool.tokens_per_block = count("tokens per block=");
    pool.primary_blocks = count("primary blocks=");
    pool.secondary_blocks = count("secondary blocks=");
    pool.max_sequence_length = count("max sequence length=");
    if (!pool.blocks_per_sequence && !pool.primary_blocks) return;
    const log_writer writer = message.writer_at(at);
    for (printed_pool& known : recorder.rank_of(writer).pools) {
      if (known.window.has_value() != pool.window.has_value()) continue;
      if (pool.window && known.window->value != pool.window->value) continue;
      known = pool;
      return;
    }
    recorder.record_pool(writer, std::move(pool));
  }
};

}  // namespace kvbudget::inline v0::detail
