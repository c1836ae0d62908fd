#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kvbudget/io/engine_log/recorder.hpp"

namespace kvbudget::inline v0::detail {

/// Lines of vLLM, V0 and V1. Wordings: vllm-project/vllm, `vllm/worker/worker.py`,
/// `vllm/v1/worker/gpu_worker.py`, `vllm/v1/worker/gpu_model_runner.py`, `vllm/v1/core/kv_cache_utils.py`,
/// and logs in issues 10517, 11550, 16118, 28228, 34076 and pull requests 10511, 12126, 12569, 14447, 17122.
struct vllm_dialect {
  using f = rank_figures;

  static constexpr figure_rule rules[] = {
      // the newest, one line that sums a start up
      {"Actual usage is", " for weight", &f::weights, keep::first, side::before},
      {"Actual usage is", " for consumed memory", &f::consumed, keep::last, side::before},
      {"Actual usage is", " for peak activation", &f::activation_peak, keep::last, side::before},
      {"Actual usage is", " for non-torch memory", &f::non_torch, keep::last, side::before},
      {"Actual usage is", " for CUDAGraph memory", &f::cuda_graphs, keep::first, side::before},
      {"Current kv cache memory in use", "", &f::available_kv, keep::first},
      // V1
      {"Available KV cache memory", "", &f::available_kv},
      {"Initial free memory", "", &f::free_at_start},
      {"Initial free memory", ", reserved", &f::available_kv},
      {"Requested memory:", "", &f::gpu_memory_utilization},
      {"Requested memory:", "(util),", &f::memory_budget},
      {"worker requested memory", "", &f::memory_budget},
      {"worker init memory snapshot", "free_memory=", &f::free_at_start},
      {"worker init memory snapshot", "total_memory=", &f::total_gpu_memory},
      {"Free memory after profiling", "", &f::free_after_profile},
      {"Total non KV cache memory", "", &f::non_kv},
      {"Total non KV cache memory", "torch peak memory increase", &f::activation_peak},
      {"Total non KV cache memory", "non-torch forward increase memory", &f::non_torch},
      {"Total non KV cache memory", "total consumed (from mem_get_info)", &f::consumed},
      {"Total non KV cache memory", "weights memory", &f::weights, keep::first},
      {"Estimated CUDA graph memory", "", &f::cuda_graphs_estimated},
      {"CUDA graph pool memory", " (actual)", &f::cuda_graph_pool, keep::last, side::before},
      {"CUDA graph pool memory", " (estimated)", &f::cuda_graphs_estimated, keep::last, side::before},
      {"Graph capturing finished", ", took", &f::cuda_graphs},
      {"The current --gpu-memory-utilization", "", &f::gpu_memory_utilization},
      {"The current --gpu-memory-utilization", "is equivalent to --gpu-memory-utilization",
       &f::equivalent_utilization},
      {"GPU KV cache size", "", &f::kv_tokens, keep::least},  // some versions print one line per rank
      {"Maximum concurrency for", "", &f::concurrency_length},
      {"Maximum concurrency for", "per request", &f::max_concurrency, keep::least},
      {"num_gpu_blocks is", "", &f::num_gpu_blocks},
      {"Setting attention block size to", "", &f::attention_block_size},
      {"Padding mamba page size by", "", &f::mamba_page_padding_percent},
      {" padding layers, may waste", "", &f::padding_layers, keep::last, side::before},
      {" padding layers, may waste", "at most", &f::padding_waste_percent},
      {"Auto-fit max_model_len: reduced from", " to", &f::fitted_max_model_len},
      {"Auto-fit max_model_len: full model context length", "", &f::fitted_max_model_len},
      // refusals
      {"max seq len (", "", &f::refused_length},
      {" KV cache is needed", "", &f::needed_kv, keep::last, side::before},
      {" KV cache is needed", "available KV cache memory", &f::refused_available_kv},
      {" KV cache is needed", "maximum model length", &f::estimated_max_length},
      {"that can be stored in KV cache", "", &f::kv_tokens},
      // V0
      {"the current vLLM instance can use", "", &f::memory_budget},
      {"the current vLLM instance can use", "gpu_memory_utilization (", &f::gpu_memory_utilization},
      {"the current vLLM instance can use", ") =", &f::memory_budget},
      {"total_gpu_memory", "", &f::total_gpu_memory},
      {"initial_memory_usage=", "", &f::initial_usage},
      {"peak_torch_memory=", "", &f::peak_torch},
      {"memory_usage_post_profile=", "", &f::usage_after_profile},
      {"model weights take", "", &f::weights, keep::first},
      {"non_torch_memory", "", &f::non_torch, keep::last, side::behind, "snapshot"},
      {"PyTorch activation peak memory", "", &f::activation_peak},
      {"the rest of the memory reserved for KV Cache", "", &f::available_kv},
      {"available_kv_cache_memory", "", &f::available_kv},
      {"kv_cache_size=", "", &f::available_kv},
      {"# GPU blocks", "", &f::num_gpu_blocks, keep::least},
      {"# gpu blocks", "", &f::num_gpu_blocks, keep::least},
      {"# CUDA blocks", "", &f::num_gpu_blocks, keep::least},
      {"# cuda blocks", "", &f::num_gpu_blocks, keep::least},
      {"# rocm blocks", "", &f::num_gpu_blocks, keep::least},
      {"# CPU blocks", "", &f::num_cpu_blocks, keep::least},
  };

  static constexpr std::string_view special_contexts[] = {
      "vLLM API server version",
      "non-default args:",
      "LLM engine ",
      "args: Namespace(",
      "vLLM Version",
      "Using max model len",
      "Chunked prefill is enabled with max_num_batched_tokens",
      "Model loading took",
      "Loading model weights took",
      "Free memory on device",
      "esired GPU memory utilization"};

  void read(std::string_view context, const log_message& message, std::size_t at, log_recorder& recorder) {
    const std::string_view text = message.whole;
    const std::size_t behind = at + context.size();
    const std::uint32_t line = message.number;
    engine_log& log = recorder.log();
    if (context == "vLLM API server version") {
      recorder.start(line, "", false);
      log.version = word_at(text, behind);
    } else if (context == "non-default args:") {
      recorder.start(line, "", false);
      recorder.settings(text.substr(behind));
    } else if (context == "LLM engine ") {
      read_engine_line(message, at, recorder);
    } else if (context == "args: Namespace(") {
      recorder.settings(text.substr(behind));
    } else if (context == "vLLM Version") {  // of an environment report
      const std::size_t colon = text.find_first_not_of(' ', behind);
      if (log.version.empty() && colon != std::string_view::npos && text[colon] == ':') {
        log.version = word_at(text, colon);
      }
    } else if (context == "Using max model len") {
      recorder.setting("max_model_len", word_at(text, behind));
    } else if (context == "Chunked prefill is enabled with max_num_batched_tokens") {
      std::string value = word_at(text, behind + (text.substr(behind, 1) == "=" ? 1 : 0));
      while (!value.empty() && value.back() == '.') value.pop_back();
      recorder.setting("max_num_batched_tokens", value);
    } else if (context == "Free memory on device") {  // ` (31.23/31.86 GiB)`, ` cuda:0 (3.25/23.43 GiB)`
      const std::size_t open = text.find('(', behind);
      if (open == std::string_view::npos || open > behind + 20) return;
      const number_text free = read_number(text, open + 1);
      if (!free.found || free.end >= text.size() || text[free.end] != '/') return;
      const log_writer writer = message.writer_at(at);
      const auto total = recorder.amount_at(text, free.end + 1, line);
      recorder.record(writer, &f::total_gpu_memory, total);
      if (total) recorder.record(writer, &f::free_at_start, amount_of(free, 30, 2, line));
    } else if (context == "esired GPU memory utilization") {  // ` is (0.97, 30.9 GiB)`
      const std::size_t share = skip_to_number(text, behind);
      const number_text number = read_number(text, share);
      if (!number.found || text.substr(number.end, 2) != ", ") return;
      const log_writer writer = message.writer_at(at);
      recorder.record(writer, &f::gpu_memory_utilization, recorder.decimal_at(text, share, line));
      recorder.record(writer, &f::memory_budget, recorder.amount_at(text, number.end + 2, line));
    } else {
      recorder.record_weights(message.writer_at(at),
                              recorder.amount_at(text, skip_to_number(text, behind), line));
    }
  }

 private:
  /// `Initializing a V1 LLM engine (v0.11.0) with config: model='…', …`
  static void read_engine_line(const log_message& message, std::size_t at, log_recorder& recorder) {
    const std::string_view text = message.whole;
    const std::size_t begin = text.rfind("Initializing a", at);
    if (begin == std::string_view::npos || begin + 20 < at) return;
    const std::size_t config = text.find("with config:", at);
    if (config == std::string_view::npos || config > at + 120) return;
    recorder.start(message.number, message.writer_at(begin).name(), true);
    const std::size_t version = text.find("(v", at);
    if (version < config) recorder.log().version = word_at(text, version + 2);
    recorder.settings(text.substr(config + std::string_view("with config:").size()));
  }
};

}  // namespace kvbudget::inline v0::detail
