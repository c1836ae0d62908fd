// How long the header of a large GGUF file takes to read, beside only reading its bytes: 2,001 tensors and a
// tokenizer of 250,000 texts, scores, types and merges.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

#include "kvbudget/io/gguf.hpp"
#include "support/gguf_shapes.hpp"

namespace {

/// The file, written once and removed at the end.
class large_file {
 public:
  large_file() : path_(std::filesystem::temp_directory_path() / "kvbudget-benchmark.gguf") {
    tests::gguf_writer file = tests::gguf_of({.architecture = "llama",
                                              .layers = 222,
                                              .hidden = 4096,
                                              .heads = 32,
                                              .kv_heads = 8,
                                              .head_dim = 128,
                                              .ff = 14336,
                                              .vocabulary = 250'000});
    file.texts("tokenizer.ggml.tokens", 250'000).f32s("tokenizer.ggml.scores", 250'000);
    file.f32s("tokenizer.ggml.token_type", 250'000).texts("tokenizer.ggml.merges", 250'000);
    header_bytes_ = file.header().size();
    std::ofstream(path_, std::ios::binary) << file.header();
  }
  large_file(const large_file&) = delete;
  large_file& operator=(const large_file&) = delete;
  ~large_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t header_bytes() const { return header_bytes_; }

 private:
  std::filesystem::path path_;
  std::size_t header_bytes_ = 0;
};

const large_file& file() {
  static const large_file written;
  return written;
}

void report(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(file().header_bytes()));
}

void read_gguf_bytes(benchmark::State& state) {
  (void)file();
  std::vector<char> block(std::size_t{64} << 10);
  for (auto _ : state) {
    kvbudget::file_source source(file().path());
    std::size_t sum = 0;
    for (std::size_t got = 1; got != 0;) {
      got = source.read(block.data(), block.size());
      sum += got;
      benchmark::DoNotOptimize(block.data());
    }
    benchmark::DoNotOptimize(sum);
  }
  report(state);
}
BENCHMARK(read_gguf_bytes)->UseRealTime();

void read_gguf_header(benchmark::State& state) {
  (void)file();
  for (auto _ : state) benchmark::DoNotOptimize(kvbudget::read_gguf(file().path()));
  report(state);
}
BENCHMARK(read_gguf_header)->UseRealTime();

void read_gguf_model(benchmark::State& state) {
  (void)file();
  for (auto _ : state) benchmark::DoNotOptimize(kvbudget::read_gguf_model(file().path()));
  report(state);
}
BENCHMARK(read_gguf_model)->UseRealTime();

}  // namespace
