// How long `allocate` takes at run time for every engine with pools, on a dense model and on hybrid ones,
// beside hand-written code that fills the same items with the same numbers. The hand-written code knows its
// model, its engine's defaults on this GPU and nothing else; it checks nothing.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "kvbudget/kvbudget.hpp"
#include "kvbudget/models.hpp"

namespace {

using namespace kvbudget;
using namespace kvbudget::literals;
using number = std::uint64_t;

constexpr const gpu_profile& gpu = gpus::nvidia_h100_sxm_80gb;

deployment serving(const model_architecture& model) {
  return {.model = model, .workload = {.sequences = 8, .context = 8192_tokens}};
}

/// What hand-written code is told.
struct told {
  number total_low, total, total_high;  ///< of the GPU
  number layers, hidden, heads, kv_heads, head_dim, intermediate, vocab, longest;
  number tokens = 8192;  ///< of a step
  number requests = 0;   ///< that run at once, or that graphs are captured for
  double share = 0;      ///< of the GPU, or of what is free
  const char* name = "";
};
told llama_8b(number requests, double share, const char* name) {
  const usable_memory total = usable(gpu);
  return {total.low.value,
          total.expected.value,
          total.high.value,
          32,
          4096,
          32,
          8,
          128,
          14336,
          128256,
          131072,
          8192,
          requests,
          share,
          name};
}

struct range {
  number low, expected, high;
  friend range operator+(const range& a, const range& b) {
    return {a.low + b.low, a.expected + b.expected, a.high + b.high};
  }
  friend range operator*(const range& a, number n) { return {a.low * n, a.expected * n, a.high * n}; }
};
range of(const measured_constant& figure) { return {figure.low, figure.expected, figure.high}; }
range same(number n) { return {n, n, n}; }
range wider(const range& a, const range& b) {
  return {a.low < b.low ? b.low : a.low, a.expected < b.expected ? b.expected : a.expected,
          a.high < b.high ? b.high : a.high};
}
void line(allocation& to, const char* name, const range& size, basis known, bool part) {
  to.budget.lines[to.budget.count++] = {
      name, bytes{size.low}, bytes{size.expected}, bytes{size.high}, known, "by hand", part};
}
void part(allocation& to, const char* name, const range& size, basis known) {
  line(to, name, size, known, true);
}
void name(allocation& to, const told& m) { std::memcpy(to.engine.text, m.name, std::strlen(m.name)); }
number ceil_of(double value) {
  const auto whole = static_cast<number>(value);
  return static_cast<double>(whole) < value ? whole + 1 : whole;
}

number dense_weights(allocation& to, const told& m) {
  const number table = m.vocab * m.hidden * 2;
  const number attention = m.layers * 2 * (m.heads + m.kv_heads) * m.head_dim * m.hidden * 2;
  const number mlp = m.layers * 3 * m.hidden * m.intermediate * 2;
  const number norms = (m.layers * 2 + 1) * m.hidden * 2;
  const number all = 2 * table + attention + mlp + norms;
  line(to, "weights", same(all), basis::exact, false);
  part(to, "weights.embedding", same(table), basis::exact);
  part(to, "weights.attention", same(attention), basis::exact);
  part(to, "weights.mlp", same(mlp), basis::exact);
  part(to, "weights.norms", same(norms), basis::exact);
  part(to, "weights.lm_head", same(table), basis::exact);
  return all;
}
void one_pool(allocation& to, number available_low, number available, number available_high,
              number block_bytes, basis known) {
  const number low = available_low / block_bytes;
  const number blocks = available / block_bytes;
  const number high = available_high / block_bytes;
  block_pool& pool = to.pools.pools[0];
  pool.block_bytes = block_bytes;
  pool.blocks = blocks;
  to.pools.count = 1;
  to.low.blocks[0] = low;
  to.high.blocks[0] = high;
  const number beside = pool.beside;
  line(to, "kv_cache",
       {(low + beside) * block_bytes, (blocks + beside) * block_bytes, (high + beside) * block_bytes}, known,
       false);
}
void available(allocation& to, number low, number expected, number high) {
  to.available_kv = {static_cast<std::int64_t>(low), static_cast<std::int64_t>(expected),
                     static_cast<std::int64_t>(high)};
}

/// Activations, framework and pool of vLLM 0.27 on one H100.
void rest_of_vllm(allocation& to, const told& m, number weights, const range& forward, const range& sampler,
                  const range& per_layer, number largest_capture, bool graphs_in_budget, number block_bytes) {
  const range peak = wider(forward, sampler);
  const range blas = same(constants::cublas_workspace_sm_90.expected);
  const range activations = peak + blas;
  line(to, "activations", activations, basis::calibrated, false);
  part(to, peak.expected == sampler.expected ? "activations.sampler" : "activations.forward", peak,
       basis::calibrated);
  part(to, "activations.blas_workspace", blas, basis::exact);
  const number sizes = 3 + 32 + (largest_capture - 256) / 16;
  const range graphs = of(constants::vllm_graph_pool) + per_layer * (m.layers * 2 * sizes);
  const range non_torch = of(constants::vllm_non_torch_profiled_1_gpu_sm_90);
  const range context = of(constants::cuda_context);
  line(to, "framework", context + non_torch + graphs, basis::calibrated, false);
  part(to, "framework.context", context, constants::cuda_context.known);
  part(to, "framework.non_torch", non_torch, basis::measured);
  part(to, "framework.graphs", graphs, basis::calibrated);
  range others = activations + non_torch;
  if (graphs_in_budget) others = others + graphs;
  const auto left = [&](number total, number other) {
    return ceil_of(static_cast<double>(total) * m.share) - weights - other;
  };
  const number low = left(m.total_low, others.high);
  const number expected = left(m.total, others.expected);
  const number high = left(m.total_high, others.low);
  available(to, low, expected, high);
  to.pools.pools[0].kept_back = 1;
  one_pool(to, low, expected, high, block_bytes, basis::calibrated);
  to.longest_request = m.longest;
  to.running_requests = m.requests;
  to.gpu_total = bytes{m.total};
  name(to, m);
}

allocation vllm_dense_by_hand(const told& m) {
  allocation to;
  const number weights = dense_weights(to, m);
  const number stream = m.tokens * m.hidden * 2;
  const number attention = (m.heads + m.kv_heads) * 2 * m.head_dim * m.tokens * 2;
  const number mlp = 3 * m.intermediate * m.tokens * 2;
  const range streams = of(constants::vllm_forward_streams_per_100_compiled) * stream;
  const range forward = range{streams.low / 100, streams.expected / 100, streams.high / 100} +
                        same(attention < mlp ? mlp : attention);
  const range sampler = of(constants::vllm_sampler_gumbel_bytes_per_logit) * (m.requests * m.vocab) +
                        same((m.tokens + 2 * m.requests) * m.hidden * 2);
  block_pool& pool = to.pools.pools[0];
  pool.groups[0] = {block_rule::every_token, 16};
  pool.group_count = 1;
  const number block_bytes = 16 * 2 * m.kv_heads * m.head_dim * 2 * m.layers;
  rest_of_vllm(to, m, weights, forward, sampler, of(constants::vllm_graph_bytes_per_layer), 512, false,
               block_bytes);
  const number each = (m.longest + 15) / 16;
  to.needed_to_start = bytes{each * block_bytes};
  to.printed_kv_cache_tokens = static_cast<number>(
      static_cast<double>(m.longest) * (static_cast<double>(pool.blocks) / static_cast<double>(each)));
  return to;
}

/// gpt-oss: windows and full attention by turns, experts in MXFP4 as Triton's kernels lay them out.
told gpt_oss(number requests, double share, const char* name) {
  told m = llama_8b(requests, share, name);
  m.layers = 24;
  m.hidden = m.intermediate = 2880;
  m.heads = 64;
  m.head_dim = 64;
  m.vocab = 201088;
  return m;
}
allocation vllm_gpt_oss_by_hand(const told& m) {
  constexpr number experts = 32, chosen = 4, window = 128;
  allocation to;
  const number table = m.vocab * m.hidden * 2;
  const number query = m.heads * m.head_dim, kv = m.kv_heads * m.head_dim;
  const number attention =
      (2 * query * m.hidden + 2 * kv * m.hidden + query + 2 * kv + m.hidden + m.heads) * 2 * m.layers;
  const number expert_payload =
      (3 * m.hidden * m.intermediate * experts / 2 + (2 * m.intermediate + m.hidden) * experts * 4) *
      m.layers;
  const number router = (experts * m.hidden + experts) * 2 * m.layers;
  const number norms = (2 * m.layers + 1) * m.hidden * 2;
  const number groups = m.hidden / 32;
  const number stored = 3 * m.intermediate * groups * experts;
  const number laid_out =
      ((2 * m.intermediate + 255) / 256 * 256 + (m.hidden + 255) / 256 * 256) * groups * experts;
  const number scales = (stored + laid_out) * m.layers;
  const number weights = 2 * table + attention + expert_payload + router + norms + scales;
  line(to, "weights", same(weights), basis::exact, false);
  part(to, "weights.embedding", same(table), basis::exact);
  part(to, "weights.attention", same(attention), basis::exact);
  part(to, "weights.experts", same(expert_payload), basis::exact);
  part(to, "weights.router", same(router), basis::exact);
  part(to, "weights.norms", same(norms), basis::exact);
  part(to, "weights.lm_head", same(table), basis::exact);
  part(to, "weights.scales", same(scales), basis::exact);
  const range streams = of(constants::vllm_forward_streams_per_100_compiled) * (m.tokens * m.hidden * 2);
  const range forward = range{streams.low / 100, streams.expected / 100, streams.high / 100} +
                        same(m.tokens * chosen * 3 * m.intermediate * 2);
  const range sampler = of(constants::vllm_sampler_selecting_bytes_per_logit) * (m.requests * m.vocab) +
                        same((m.tokens + 2 * m.requests) * m.hidden * 2);
  block_pool& pool = to.pools.pools[0];
  pool.groups[0] = {block_rule::window, 16};
  pool.groups[0].window = window;
  pool.groups[0].in_flight = 2 * m.tokens;
  pool.groups[1] = {block_rule::every_token, 16};
  pool.group_count = 2;
  const number block_bytes = 16 * 2 * kv * 2 * m.layers / 2;
  rest_of_vllm(to, m, weights, forward, sampler, of(constants::vllm_graph_bytes_per_expert_layer), 1024, true,
               block_bytes);
  const number each = (window - 1 + 2 * m.tokens + 15) / 16 + 1 + (m.longest + 15) / 16;
  to.needed_to_start = bytes{each * block_bytes};
  to.printed_kv_cache_tokens = static_cast<number>(
      static_cast<double>(m.longest) * (static_cast<double>(pool.blocks) / static_cast<double>(each)));
  return to;
}

/// The step's activations of SGLang and TensorRT-LLM, with so many rows of logits.
range step_by_hand(allocation& to, const told& m, number rows) {
  const number stream = m.tokens * m.hidden * 2;
  const number mlp = m.tokens * m.intermediate * 2;
  const number attention = m.tokens * (m.heads + m.kv_heads) * 2 * m.head_dim * 2 + m.tokens * m.heads * 4;
  const range hidden{2 * stream, 3 * stream, 3 * stream};
  const range inner{2 * mlp, 3 * mlp, 3 * mlp};
  const range idle{0, 0, attention + rows * m.vocab * 6};
  const range all = hidden + inner + idle;
  line(to, "activations", all, basis::assumed, false);
  part(to, "activations.hidden", hidden, basis::assumed);
  part(to, "activations.mlp", inner, basis::assumed);
  part(to, "activations.other_phases", idle, basis::assumed);
  return all;
}

allocation sglang_dense_by_hand(const told& m) {
  allocation to;
  const number weights = dense_weights(to, m);
  const range context = of(constants::cuda_context);
  const range blas = of(constants::cublas_workspace_sm_90);
  const range workspace = of(constants::sglang_attention_workspace);
  const range graphs = of(constants::sglang_cuda_graphs);
  line(to, "framework", context + blas + workspace + graphs, basis::assumed, false);
  part(to, "framework.context", context, constants::cuda_context.known);
  part(to, "framework.blas_workspace", blas, constants::cublas_workspace_sm_90.known);
  part(to, "framework.attention_workspace", workspace, constants::sglang_attention_workspace.known);
  part(to, "framework.graphs", graphs, constants::sglang_cuda_graphs.known);
  const auto left = [&](number total, number taken) {
    constexpr double gib = 1024.0 * 1024 * 1024;
    const number before = total - taken;
    const double rest =
        static_cast<double>(before - weights) / gib - static_cast<double>(before) / gib * (1 - m.share);
    return static_cast<number>(rest * gib);
  };
  const number low = left(m.total_low, context.high);
  const number expected = left(m.total, context.expected);
  const number high = left(m.total_high, context.low);
  available(to, low, expected, high);
  const number token = 2 * m.kv_heads * m.head_dim * 2 * m.layers;
  const number tokens = expected / token;
  const double estimate = static_cast<double>(tokens) / static_cast<double>(m.longest) * 512;
  number running = estimate >= 4096 ? 4096 : estimate <= 2048 ? 2048 : static_cast<number>(estimate);
  running = running < tokens / 2 ? running : tokens / 2;
  step_by_hand(to, m, running < m.requests ? running : m.requests);
  line(to, "request_table", same(running * (m.longest + 4) * 4), basis::exact, false);
  block_pool& pool = to.pools.pools[0];
  pool.name = "kv_cache.tokens";
  pool.groups[0] = {block_rule::every_token, 1};
  pool.group_count = 1;
  pool.beside = to.low.beside[0] = to.high.beside[0] = 1;
  one_pool(to, low, expected, high, token, basis::assumed);
  to.longest_request = m.longest;
  to.running_requests = running;
  to.needed_to_start = bytes{2 * token};
  to.printed_kv_cache_tokens = tokens;
  to.gpu_total = bytes{m.total};
  name(to, m);
  return to;
}

allocation tensorrt_llm_dense_by_hand(const told& m) {
  allocation to;
  const number weights = dense_weights(to, m);
  const range step = step_by_hand(to, m, 128);
  const range context = of(constants::cuda_context);
  const range runtime = of(constants::tensorrt_llm_runtime);
  const range graphs = of(constants::tensorrt_llm_graph_per_layer) * (m.layers * (3 + 128 / 8));
  const range software = context + runtime + graphs;
  line(to, "framework", software, basis::calibrated, false);
  part(to, "framework.context", context, constants::cuda_context.known);
  part(to, "framework.non_torch", runtime, constants::tensorrt_llm_runtime.known);
  part(to, "framework.graphs", graphs, constants::tensorrt_llm_graph_per_layer.known);
  const range taken = same(weights) + step + software;
  const auto left = [&](number total, number by) {
    return static_cast<number>(static_cast<double>(total - by) * m.share);
  };
  const number low = left(m.total_low, taken.high);
  const number expected = left(m.total, taken.expected);
  const number high = left(m.total_high, taken.low);
  available(to, low, expected, high);
  block_pool& pool = to.pools.pools[0];
  pool.name = "kv_cache.blocks";
  pool.groups[0] = {block_rule::every_token, 32};
  pool.group_count = 1;
  const number block = 32 * 2 * m.kv_heads * m.head_dim * 2 * m.layers;
  one_pool(to, low, expected, high, block, basis::assumed);
  to.longest_request = m.longest;
  to.running_requests = m.requests;
  to.needed_to_start = bytes{block};
  to.printed_kv_cache_tokens = pool.blocks * 32;
  to.gpu_total = bytes{m.total};
  name(to, m);
  return to;
}

/// Stops where the two differ in anything but the texts of sources.
void require_same(const allocation& found, const allocation& by_hand) {
  const auto differ = [](const char* what) {
    std::fprintf(stderr, "the hand-written allocation differs in %s\n", what);
    std::exit(1);
  };
  if (!detail::same_ledger(found.budget, by_hand.budget)) differ("its lines");
  for (std::uint32_t i = 0; i < found.budget.count; ++i) {
    const line_item &a = found.budget.lines[i], &b = by_hand.budget.lines[i];
    if (a.known != b.known || a.is_part != b.is_part) differ(a.name);
  }
  if (found.pools.count != by_hand.pools.count) differ("its pools");
  for (std::uint32_t i = 0; i < found.pools.count; ++i) {
    const block_pool &a = found.pools.pools[i], &b = by_hand.pools.pools[i];
    const bool same_pool = detail::same_text(a.name, b.name) && a.block_bytes == b.block_bytes &&
                           a.blocks == b.blocks && a.kept_back == b.kept_back && a.beside == b.beside &&
                           a.group_count == b.group_count && found.low.blocks[i] == by_hand.low.blocks[i] &&
                           found.high.blocks[i] == by_hand.high.blocks[i];
    if (!same_pool) differ("a pool");
    for (number length : {number{1}, number{1000}, found.longest_request}) {
      if (a.blocks_of(length) != b.blocks_of(length)) differ("the blocks of a request");
    }
  }
  if (found.available_kv.expected != by_hand.available_kv.expected) differ("what is available");
  if (found.running_requests != by_hand.running_requests) differ("its requests");
  if (!(found.needed_to_start == by_hand.needed_to_start)) differ("what it needs to start");
  if (found.printed_kv_cache_tokens != by_hand.printed_kv_cache_tokens) differ("the printed tokens");
  if (found.longest_request != by_hand.longest_request) differ("its longest request");
  if (!detail::same_text(found.engine.text, by_hand.engine.text)) differ("its name");
  if (found.refused) differ("that the engine refuses");
}

template <class Engine> void measure(benchmark::State& state, const model_architecture& model, Engine on) {
  deployment d = serving(model);
  for (auto _ : state) {
    benchmark::DoNotOptimize(d);
    benchmark::DoNotOptimize(on);
    allocation found = allocate(d, on, gpu);
    benchmark::DoNotOptimize(found);
  }
}
template <class Engine, class ByHand>
void measure_by_hand(benchmark::State& state, const model_architecture& model, const Engine& on, told shape,
                     const ByHand& by_hand) {
  require_same(allocate(serving(model), on, gpu), by_hand(shape));
  for (auto _ : state) {
    benchmark::DoNotOptimize(shape);
    allocation found = by_hand(shape);
    benchmark::DoNotOptimize(found);
  }
}

constexpr engines::vllm vllm;
constexpr engines::sglang sglang;
constexpr engines::tensorrt_llm tensorrt_llm;

void allocate_vllm_by_hand(benchmark::State& state) {
  measure_by_hand(state, models::llama_3_1_8b, vllm, llama_8b(1024, 0.92, "vllm@0.27"), vllm_dense_by_hand);
}
void allocate_vllm_gpt_oss_by_hand(benchmark::State& state) {
  measure_by_hand(state, models::gpt_oss_20b, vllm, gpt_oss(1024, 0.92, "vllm@0.27"), vllm_gpt_oss_by_hand);
}
void allocate_sglang_by_hand(benchmark::State& state) {
  const double share = sglang.fraction(serving(models::llama_3_1_8b), gpu);
  measure_by_hand(state, models::llama_3_1_8b, sglang, llama_8b(256, share, "sglang@0.5.9"),
                  sglang_dense_by_hand);
}
void allocate_tensorrt_llm_by_hand(benchmark::State& state) {
  measure_by_hand(state, models::llama_3_1_8b, tensorrt_llm, llama_8b(2048, 0.9, "tensorrt-llm@1.3"),
                  tensorrt_llm_dense_by_hand);
}
BENCHMARK_CAPTURE(measure, allocate_vllm_llama, models::llama_3_1_8b, vllm);
BENCHMARK(allocate_vllm_by_hand);
BENCHMARK_CAPTURE(measure, allocate_sglang_llama, models::llama_3_1_8b, sglang);
BENCHMARK(allocate_sglang_by_hand);
BENCHMARK_CAPTURE(measure, allocate_tensorrt_llm_llama, models::llama_3_1_8b, tensorrt_llm);
BENCHMARK(allocate_tensorrt_llm_by_hand);
BENCHMARK_CAPTURE(measure, allocate_vllm_gpt_oss, models::gpt_oss_20b, vllm);
BENCHMARK(allocate_vllm_gpt_oss_by_hand);
BENCHMARK_CAPTURE(measure, allocate_sglang_gpt_oss, models::gpt_oss_20b, sglang);
BENCHMARK_CAPTURE(measure, allocate_tensorrt_llm_gpt_oss, models::gpt_oss_20b, tensorrt_llm);
BENCHMARK_CAPTURE(measure, allocate_vllm_qwen3_next, models::qwen3_next_80b_a3b, vllm);
BENCHMARK_CAPTURE(measure, allocate_sglang_qwen3_next, models::qwen3_next_80b_a3b, sglang);
BENCHMARK_CAPTURE(measure, allocate_tensorrt_llm_qwen3_next, models::qwen3_next_80b_a3b, tensorrt_llm);

}  // namespace
