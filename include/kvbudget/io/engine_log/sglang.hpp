#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "kvbudget/io/engine_log/recorder.hpp"

namespace kvbudget::inline v0::detail {

/// Lines of SGLang, whose GB is 2^30 bytes. Wordings: sgl-project/sglang,
/// `python/sglang/srt/model_executor/model_runner.py`, `srt/mem_cache/memory_pool.py`, and logs in pull
/// requests 11716, 18263 and 29853.
struct sglang_dialect {
  using f = rank_figures;

  static constexpr figure_rule rules[] = {
      {"Load weight begin", "avail mem", &f::free_at_start, keep::first},
      {"Load weight end", "avail mem", &f::free_after_weights, keep::first},
      {"Memory pool end", "avail mem", &f::free_after_pools},
      {"cuda graph end", "mem usage", &f::cuda_graphs, keep::sum},
      {"cuda graph end", "avail mem", &f::free_after_graphs},
      {"CUDA graph end", "mem usage", &f::cuda_graphs, keep::sum},
      {"CUDA graph end", "avail mem", &f::free_after_graphs},
      {"Mamba Cache is allocated", "max_mamba_cache_size", &f::mamba_slots},
      {"Mamba Cache is allocated", "conv_state size", &f::mamba_conv},
      {"Mamba Cache is allocated", "ssm_state size", &f::mamba_ssm},
      {"Mamba Cache is allocated", "intermediate_ssm_state_cache size", &f::mamba_intermediate_ssm},
      {"Mamba Cache is allocated", "intermediate_conv_window_cache size", &f::mamba_intermediate_conv},
      {"liding window memory pool", "full_layer_tokens", &f::full_tokens},
      {"liding window memory pool", "swa_layer_tokens", &f::swa_tokens},
      {"SWAKVPool mem usage", "", &f::swa_pools},
      {"SWAKVPool mem usage", "swa size", &f::swa_tokens},
      {"SWAKVPool mem usage", "full size", &f::full_tokens},
      {"max_total_num_tokens=", "", &f::kv_tokens},
      {"max_total_num_tokens=", "chunked_prefill_size=", &f::chunked_prefill_size},
      {"max_total_num_tokens=", "max_prefill_tokens=", &f::max_prefill_tokens},
      {"max_total_num_tokens=", "max_running_requests=", &f::max_running_requests},
      {"max_total_num_tokens=", "context_len=", &f::context_length},
      {"max_total_num_tokens=", "available_gpu_mem=", &f::free_at_end},
  };

  static constexpr std::string_view special_contexts[] = {"server_args=ServerArgs(", "KV Cache is allocated",
                                                          "Load weight end"};

  void read(std::string_view context, const log_message& message, std::size_t at, log_recorder& recorder) {
    const std::string_view text = message.whole;
    const std::size_t behind = at + context.size();
    const auto number_of = [&](std::string_view label) {
      const std::size_t found = text.find(label, behind);
      return found == std::string_view::npos ? text.size() : skip_to_number(text, found + label.size());
    };
    const auto amount = [&](std::string_view label) {
      return recorder.amount_at(text, number_of(label), message.number);
    };
    if (context == "server_args=ServerArgs(") {
      recorder.start(message.number, "", false);
      recorder.settings(text.substr(behind));
    } else if (context == "Load weight end") {
      recorder.record_weights(message.writer_at(at), amount("mem usage"));
    } else {
      printed_pool pool;
      pool.line = message.number;
      pool.tokens = recorder.count_at(text, number_of("#tokens"), message.number);
      pool.keys = amount(" K size");
      pool.values = amount(" V size");
      pool.total = amount("KV size");
      if (!pool.tokens && !pool.keys && !pool.total) return;
      const std::size_t dtype = text.find("dtype:", behind);
      if (dtype != std::string_view::npos) pool.dtype = word_at(text, dtype + 6);
      recorder.record_pool(message.writer_at(at), std::move(pool));
    }
  }
};

}  // namespace kvbudget::inline v0::detail
