// What an estimate of llama.cpp costs beside one of the geometry: it follows an allocator through two graphs.
#include <benchmark/benchmark.h>

#include "kvbudget/engine/llama_cpp.hpp"
#include "kvbudget/kvbudget.hpp"
#include "kvbudget/models.hpp"

namespace {

using namespace kvbudget;
using namespace kvbudget::literals;

deployment deployed(const model_architecture& model) {
  deployment d{.model = model, .weights = formats::q4_k};
  d.workload = {.sequences = 1, .context = 8192_tokens};
  return d;
}

void geometry(benchmark::State& state, const model_architecture& model) {
  deployment d = deployed(model);
  for (auto step : state) {
    d.workload.context = d.workload.context + 256_tokens;
    benchmark::DoNotOptimize(estimate(d));
  }
}
void llama_cpp(benchmark::State& state, const model_architecture& model) {
  const deployment d = deployed(model);
  engines::llama_cpp on{.n_ctx = 8192, .n_parallel = 1};
  for (auto step : state) {
    on.n_ctx = on.n_ctx % 1'000'000 + 256;
    benchmark::DoNotOptimize(estimate(d, on, gpus::nvidia_rtx_4090_24gb));
  }
}

BENCHMARK_CAPTURE(geometry, llama_8b, models::llama_3_1_8b);
BENCHMARK_CAPTURE(llama_cpp, llama_8b, models::llama_3_1_8b);
BENCHMARK_CAPTURE(llama_cpp, gemma_3_12b, models::gemma_3_12b);
BENCHMARK_CAPTURE(llama_cpp, qwen3_30b_a3b, models::qwen3_30b_a3b);
BENCHMARK_CAPTURE(llama_cpp, deepseek_v3, models::deepseek_v3);
BENCHMARK_CAPTURE(llama_cpp, qwen3_next_80b_a3b, models::qwen3_next_80b_a3b);

}  // namespace
