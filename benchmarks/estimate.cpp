// How long one estimate of a dense model takes at run time, beside hand-written code that fills the same
// items.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "kvbudget/kvbudget.hpp"

namespace {

using namespace kvbudget;
using namespace kvbudget::literals;

using llama_70b =
    decoder<hidden<8192>, vocabulary<128256>, repeat<80, block<gqa<64, 8, 128>, gated_mlp<28672>>>>;

deployment serving() {
  return {.model = llama_70b::architecture,
          .weights = formats::fp8_e4m3,
          .kv_cache = formats::fp8_e4m3,
          .workload = {.sequences = 8, .context = 32768_tokens}};
}

/// What hand-written code would be told.
struct dense_shape {
  std::uint64_t layers = 80, hidden_size = 8192, heads = 64, kv_heads = 8, head_dim = 128;
  std::uint64_t intermediate = 28672, vocab = 128256;
};

/// The same eight lines, spelled out for dense models; nothing is checked.
memory_budget by_hand(const dense_shape& m, std::uint64_t sequences, std::uint64_t context,
                      std::uint64_t bytes_per_element) {
  const std::uint64_t table = m.vocab * m.hidden_size * bytes_per_element;
  const std::uint64_t attention =
      m.layers * 2 * (m.heads + m.kv_heads) * m.head_dim * m.hidden_size * bytes_per_element;
  const std::uint64_t mlp = m.layers * 3 * m.hidden_size * m.intermediate * bytes_per_element;
  const std::uint64_t norms = (m.layers * 2 + 1) * m.hidden_size * bytes_per_element;
  const std::uint64_t cache =
      m.layers * 2 * m.kv_heads * m.head_dim * context * sequences * bytes_per_element;
  memory_budget budget;
  budget.add({"weights", bytes{2 * table + attention + mlp + norms}, "by hand"});
  budget.add({"weights.embedding", bytes{table}, "by hand"});
  budget.add({"weights.attention", bytes{attention}, "by hand"});
  budget.add({"weights.mlp", bytes{mlp}, "by hand"});
  budget.add({"weights.norms", bytes{norms}, "by hand"});
  budget.add({"weights.lm_head", bytes{table}, "by hand"});
  budget.add({"kv_cache", bytes{cache}, "by hand"});
  budget.add({"kv_cache.payload", bytes{cache}, "by hand"});
  return budget;
}

void estimate_dense_model(benchmark::State& state) {
  deployment d = serving();
  for (auto _ : state) {
    benchmark::DoNotOptimize(d);
    memory_budget budget = estimate(d);
    benchmark::DoNotOptimize(budget);
  }
}
BENCHMARK(estimate_dense_model);

void hand_written(benchmark::State& state) {
  dense_shape shape;
  std::uint64_t sequences = 8, context = 32768, bytes_per_element = 1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(shape);
    benchmark::DoNotOptimize(sequences);
    benchmark::DoNotOptimize(context);
    benchmark::DoNotOptimize(bytes_per_element);
    memory_budget budget = by_hand(shape, sequences, context, bytes_per_element);
    benchmark::DoNotOptimize(budget);
  }
}
BENCHMARK(hand_written);

void estimate_over_two_tensor_ranks(benchmark::State& state) {
  deployment d = serving();
  d.parallel.tensor = 2;
  for (auto _ : state) {
    benchmark::DoNotOptimize(d);
    memory_budget budget = estimate(d);
    benchmark::DoNotOptimize(budget);
  }
}
BENCHMARK(estimate_over_two_tensor_ranks);

void longest_context(benchmark::State& state) {
  deployment d = serving();
  d.parallel.tensor = 2;
  for (auto _ : state) {
    benchmark::DoNotOptimize(d);
    benchmark::DoNotOptimize(max_context(d, gpus::nvidia_h100_sxm_80gb));
  }
}
BENCHMARK(longest_context);

}  // namespace

BENCHMARK_MAIN();
