#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kvbudget/io/local_comparison.hpp"

/// Logs as llama.cpp would print them of buffers that are known: what tests put beside a prediction.
namespace tests::local_logs {

using namespace kvbudget;

/// `1088.00`: MiB with two decimals, as C prints them.
[[nodiscard]] inline std::string mib(std::uint64_t size) {
  const std::uint64_t hundredths = (size * 100 + (std::uint64_t{1} << 19)) >> 20;
  const std::string rest = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + (rest.size() == 1 ? ".0" : ".") + rest;
}

/// Lines of one load; `\n` after each.
class writer {
 public:
  writer& line(const std::string& text) {
    text_ += text + "\n";
    return *this;
  }
  writer& buffer(const char* function, const std::string& device, const char* kind, std::uint64_t size) {
    if (size != 0)
      line(std::string(function) + ": " + device + " " + kind + " buffer size = " + mib(size) + " MiB");
    return *this;
  }
  writer& cache(const detail::predicted_cache& of, std::uint64_t sequences, std::uint64_t streams,
                const std::string& types = "f16") {
    const bool recurrent = detail::same_text(of.name, "recurrent");
    if (recurrent) {
      return line("llama_memory_recurrent: size = " + mib(of.size) + " MiB (" + std::to_string(of.cells) +
                  " cells, " + std::to_string(of.layers) + " layers, " + std::to_string(sequences) +
                  " seqs), R (f32): " + mib(of.keys) + " MiB, S (f32): " + mib(of.values) + " MiB");
    }
    return line("llama_kv_cache: size = " + mib(of.size) + " MiB (" + std::to_string(of.cells) + " cells, " +
                std::to_string(of.layers) + " layers, " + std::to_string(sequences) + "/" +
                std::to_string(streams) + " seqs), K (" + types + "): " + mib(of.keys) + " MiB, V (" + types +
                "): " + mib(of.values) + " MiB");
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// What a start prints whose buffers are exactly those of a prediction.
[[nodiscard]] inline std::string start_of(const detail::local_prediction& of,
                                          const std::string& gpu = "CUDA") {
  const llama_cpp_memory& memory = of.memory;
  const std::string host = memory.gpu_count == 0 ? "CPU" : gpu + "_Host";
  writer to;
  to.line("build: 10107 (0a1b2c3d4) with cc for x86_64-linux-gnu");
  to.line(
      "llama_model_loader: loaded meta data with 30 key-value pairs and 300 tensors from /models/some.gguf "
      "(version GGUF V3 (latest))");
  to.line("load_tensors: loading model tensors, this can take a while... (mmap = false)");
  const auto each = [&](const auto& use) {
    for (std::uint32_t i = 0; i < memory.gpu_count; ++i) use(gpu + std::to_string(i), memory.gpus[i]);
    use(host, memory.host);
  };
  each([&](const std::string& name, const llama_cpp_buffers& held) {
    to.buffer("load_tensors", name, "model", held.model_total().value);
  });
  to.line("llama_context: constructing llama_context");
  to.line("llama_context: n_seq_max = " + std::to_string(memory.sizes.n_seq_max));
  to.line("llama_context: n_ctx = " + std::to_string(memory.sizes.n_ctx));
  to.buffer("llama_context", host, "output", memory.output.value);
  each([&](const std::string& name, const llama_cpp_buffers& held) {
    to.buffer("llama_kv_cache", name, "KV", held.context.attention());
  });
  const char* label = "non-SWA";
  const bool windows = of.caches.size() > 1 && detail::same_text(of.caches[1].name, "windowed");
  for (const detail::predicted_cache& cache : of.caches) {
    if (detail::same_text(cache.name, "recurrent")) {
      each([&](const std::string& name, const llama_cpp_buffers& held) {
        to.buffer("llama_memory_recurrent", name, "RS", held.context.recurrent);
      });
    } else if (windows) {
      to.line(std::string("llama_kv_cache_iswa: creating ") + label + " KV cache, size = 1 cells");
      label = "SWA";
    }
    to.cache(cache, memory.sizes.n_seq_max, memory.sizes.n_stream);
  }
  each([&](const std::string& name, const llama_cpp_buffers& held) {
    to.buffer("sched_reserve", name, "compute", held.compute.range.expected);
  });
  return to.text();
}

}  // namespace tests::local_logs
