#pragma once

// "Why does a 70B model need 144 GB?" retold with the library: the article's figures, every reading of its
// verdict, its slips, and what a real 70B takes. Nothing here is a result that was typed in; the figures that
// the article prints are checked at compile time.

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "kvbudget/kvbudget.hpp"
#include "kvbudget/models.hpp"
#include "kvbudget/report/format.hpp"
#include "kvbudget/report/table.hpp"

namespace article {

using namespace kvbudget;
using namespace kvbudget::formats;
using namespace kvbudget::literals;

// --- what the article assumes -----------------------------------------------------------------------------

/// 80 layers, hidden size 8192, full multi-head attention: 64 query and 64 KV heads of 128, 70e9 parameters.
inline constexpr const model_architecture& mha_70b = models::article_70b_mha;
/// The same with 8 KV heads, for what grouped-query attention changes.
using gqa_70b =
    decoder<hidden<8192>, vocabulary<128256>, repeat<80, block<gqa<64, 8, 128>, gated_mlp<28672>>>>;
using mqa_70b = decoder<hidden<8192>, vocabulary<128256>, repeat<80, block<mqa<64, 128>, gated_mlp<28672>>>>;
/// A Llama-2-70B whose 64 query heads had 64 KV heads.
using real_mha_70b =
    decoder<hidden<8192>, vocabulary<32000>, repeat<80, block<mha<64, 128>, gated_mlp<28672>>>>;
inline constexpr const model_architecture& real_70b = models::llama_3_1_70b;

inline constexpr tokens context = 32768_tokens;
inline constexpr const char* rounded = "the article: about so much per node";
inline constexpr bytes activations = 15_GB;
inline constexpr bytes framework = 10_GB;
inline constexpr bytes margin = 6_GB;

/// A model at work, without anything besides weights and cache.
[[nodiscard]] constexpr deployment at_work(const model_architecture& model, const weight_scheme& weights,
                                           const kv_format& cache, tokens each = context,
                                           std::uint64_t sequences = 1) {
  deployment d{.model = model};
  d.weights = weights;
  d.kv_cache = cache;
  d.workload.sequences = sequences;
  d.workload.context = each;
  return d;
}

/// The article's extras are totals of a node. On `gpus` GPUs either each takes its share, or each takes them
/// whole.
enum class extras { shared_by_all, repeated_on_each };
[[nodiscard]] constexpr deployment with_extras(deployment d, std::uint32_t gpus, extras how) {
  const std::uint32_t share = how == extras::shared_by_all ? gpus : 1;
  d.parallel.tensor = gpus;
  d.pinned.activations = amount{ceil_div(activations, share), rounded};
  d.pinned.framework = amount{ceil_div(framework, share), rounded};
  d.pinned.margin = amount{ceil_div(margin, share), rounded};
  return d;
}

[[nodiscard]] constexpr bytes cache_of(const deployment& d) { return estimate(d).kv_cache(); }
[[nodiscard]] constexpr bytes weights_of_format(const number_format& format) {
  return estimate(at_work(mha_70b, format, fp16)).weights();
}

inline constexpr deployment fp8_fp8 = at_work(mha_70b, fp8_e4m3, fp8_e4m3);
inline constexpr deployment fp8_fp16 = at_work(mha_70b, fp8_e4m3, fp16);
inline constexpr memory_budget node_ledger = estimate(with_extras(fp8_fp8, 1, extras::shared_by_all));
inline constexpr memory_budget fp16_cache_ledger = estimate(with_extras(fp8_fp16, 1, extras::shared_by_all));
inline constexpr memory_budget half_on_each = estimate(with_extras(fp8_fp8, 2, extras::shared_by_all));
inline constexpr memory_budget whole_on_each = estimate(with_extras(fp8_fp8, 2, extras::repeated_on_each));

inline constexpr const gpu_profile& h100 = gpus::nvidia_h100_sxm_80gb;
inline constexpr const gpu_profile& h200 = gpus::nvidia_h200_sxm_141gb;
inline constexpr const gpu_profile& a6000 = gpus::nvidia_rtx_a6000_48gb;

// --- the figures that the article prints
// --------------------------------------------------------------------

/// Bytes in tenths of a GB, rounded as the article rounds: 42,949,672,960 B are 429.
[[nodiscard]] constexpr std::uint64_t tenths_of_gb(bytes size) {
  return (size.value + 50'000'000) / 100'000'000;
}
[[nodiscard]] constexpr std::uint64_t fp16_cache_tenths(tokens each, std::uint64_t batch) {
  return tenths_of_gb(cache_of(at_work(mha_70b, fp16, fp16, each, batch)));
}

// Weights.
static_assert(weights_of_format(fp32) == 280_GB && weights_of_format(fp16) == 140_GB);
static_assert(weights_of_format(bf16) == 140_GB && weights_of_format(fp8_e4m3) == 70_GB);
static_assert(weights_of_format(int8) == 70_GB && weights_of_format(int4) == 35_GB);
// The cache: 85.9 GB in FP16, 42.9 in FP8, and the table of contexts and batches.
static_assert(cache_of(fp8_fp16) == 85'899'345'920_B && cache_of(fp8_fp8) == 42'949'672'960_B);
static_assert(fp16_cache_tenths(4096_tokens, 1) == 107 && fp16_cache_tenths(4096_tokens, 4) == 429);
static_assert(fp16_cache_tenths(4096_tokens, 8) == 859 && fp16_cache_tenths(4096_tokens, 16) == 1718);
static_assert(fp16_cache_tenths(8192_tokens, 1) == 215 && fp16_cache_tenths(8192_tokens, 4) == 859);
static_assert(fp16_cache_tenths(8192_tokens, 8) == 1718 && fp16_cache_tenths(8192_tokens, 16) == 3436);
static_assert(fp16_cache_tenths(16384_tokens, 1) == 429 && fp16_cache_tenths(16384_tokens, 4) == 1718);
static_assert(fp16_cache_tenths(16384_tokens, 8) == 3436 && fp16_cache_tenths(16384_tokens, 16) == 6872);
static_assert(fp16_cache_tenths(32768_tokens, 1) == 859 && fp16_cache_tenths(32768_tokens, 4) == 3436);
static_assert(fp16_cache_tenths(32768_tokens, 8) == 6872 && fp16_cache_tenths(32768_tokens, 16) == 13744);
// The ledger: 70 + 42.9 + 15 + 10 + 6 = 143.9; 112.9 and 155.9 without the extras, 186.9 with an FP16 cache.
static_assert(node_ledger.total() == 143'949'672'960_B);
static_assert(estimate(fp8_fp8).total() == 112'949'672'960_B &&
              estimate(fp8_fp16).total() == 155'899'345'920_B);
static_assert(fp16_cache_ledger.total() == 186'899'345'920_B);
// Its readings, per GPU.
static_assert(half_on_each.total() == 71'974'836'480_B && fits(half_on_each, h100));
static_assert(whole_on_each.total() == 87'474'836'480_B && !fits(whole_on_each, h100));
static_assert(fits(node_ledger, h200) && !fits_with_20_percent_headroom(node_ledger, usable(h200)));
static_assert(floor_share(bytes{h200.driver_total_bytes}, percent(92)) < node_ledger.total());
// Attention scores without FlashAttention.
static_assert(attention_score_bytes(1, context, context, fp16) == 2_GiB);
static_assert(attention_score_bytes(80, context, context, fp16) == 160_GiB);

// --- ways to shrink, and what the article got wrong
// -----------------------------------------------------------

/// The first half of the layers keeps FP16, the second is quantized.
[[nodiscard]] constexpr deployment second_half_quantized() {
  deployment d = fp8_fp8;
  d.kv_exceptions.format = fp16;
  d.kv_exceptions.first_layers = 40;
  return d;
}
static_assert(tenths_of_gb(cache_of(second_half_quantized())) == 644);
inline constexpr bytes gqa_fp16_cache = cache_of(at_work(gqa_70b::architecture, fp16, fp16));
inline constexpr bytes mqa_fp16_cache = cache_of(at_work(mqa_70b::architecture, fp16, fp16));
static_assert(tenths_of_gb(gqa_fp16_cache) == 107);

/// Weights and cache with the article's 15 GB beside them.
[[nodiscard]] constexpr bytes with_15_gb(const number_format& weights, const number_format& cache) {
  deployment d = at_work(mha_70b, weights, cache);
  d.pinned.activations = amount{activations, rounded};
  return estimate(d).total();
}
static_assert(tenths_of_gb(with_15_gb(int4, int8)) == 929 && tenths_of_gb(with_15_gb(int8, int8)) == 1279);
static_assert(with_15_gb(int4, int8) > bytes{h100.driver_total_bytes});

/// The recipe for 24 GB: one INT4 layer at a time, an 8-bit GQA cache, 5 GB for the rest.
inline constexpr bytes int8_gqa_cache = cache_of(at_work(gqa_70b::architecture, int4, int8));
inline constexpr bytes int4_gqa_cache = cache_of(at_work(gqa_70b::architecture, int4, int4));
inline constexpr bytes one_int4_layer = weights_of_format(int4) / mha_70b.num_hidden_layers;
inline constexpr bytes article_layer = 500_MB;
inline constexpr bytes recipe = article_layer + int8_gqa_cache + 5_GB;
inline constexpr bytes resident_recipe = weights_of_format(int4) + int8_gqa_cache + 5_GB;
static_assert(one_int4_layer == 437'500'000_B && tenths_of_gb(int8_gqa_cache) == 54);
static_assert(tenths_of_gb(recipe) == 109 && tenths_of_gb(24_GB - recipe) == 131);
static_assert(tenths_of_gb(resident_recipe) == 454);
static_assert(tenths_of_gb(bytes{parameter_count(real_mha_70b::architecture).value}) == 784);

/// A real 70B with the same extras.
inline constexpr deployment real_fp8_fp8 = at_work(real_70b, fp8_e4m3, fp8_e4m3);
inline constexpr memory_budget real_ledger = estimate(with_extras(real_fp8_fp8, 1, extras::shared_by_all));
static_assert(tenths_of_gb(real_ledger.kv_cache()) == 54);

// --- the story
// ------------------------------------------------------------------------------------------------

inline void heading(const char* text) { fmt::print("\n{}\n{:-<{}}\n", text, "", std::string(text).size()); }

inline void print_reading(const char* what, const memory_budget& need, const gpu_profile& gpu) {
  const verdict found = check_fit(need, gpu);
  fmt::print("  {:<58} {:>14} B of {:.1GB}: {:.1GB}\n", what, detail::grouped(need.total().value),
             found.available.expected, found);
}

inline void print_weights() {
  heading("Weights: 70e9 parameters");
  for (const number_format* format : {&fp32, &fp16, &fp8_e4m3, &int8, &int4}) {
    fmt::print("  {:<10} {:>9.1GB}\n", format->name, weights_of_format(*format));
  }
}

inline void print_cache() {
  heading("KV cache: 2 x layers x KV heads x head dim x tokens x batch elements, here in FP16");
  fmt::print("  {:>13}", "tokens");
  for (const std::uint64_t batch : {1u, 4u, 8u, 16u}) fmt::print(" {:>12}", fmt::format("batch {}", batch));
  fmt::print("\n");
  for (const tokens each : {4096_tokens, 8192_tokens, 16384_tokens, 32768_tokens}) {
    fmt::print("  {:>13}", each);
    for (const std::uint64_t batch : {1u, 4u, 8u, 16u}) {
      fmt::print(" {:>12.1GB}", cache_of(at_work(mha_70b, fp16, fp16, each, batch)));
    }
    fmt::print("\n");
  }
  fmt::print("FP8 or INT8 halves every cell: {:.1GB} at {}, batch 1.\n", cache_of(fp8_fp8), context);
}

inline void print_ledger() {
  heading("The ledger: FP8 weights, FP8 cache, 32,768 tokens, batch 1");
  report::table_options options;
  options.title = "the article's 70B, all GPUs together";
  options.engine = engines::geometry{}.name().text;
  options.parts = false;
  options.sources = false;
  options.precision = 1;
  fmt::print("{}\n", report::table(node_ledger, options));
  fmt::print("Weights and cache alone: {:.1GB}; with an FP16 cache {:.1GB}, and the whole ledger {:.1GB}.\n",
             estimate(fp8_fp8).total(), estimate(fp8_fp16).total(), fp16_cache_ledger.total());
}

inline void print_readings() {
  heading("Does it fit? It depends on how the 15 + 10 + 6 GB are read");
  fmt::print("Two 80 GB cards (each reports {:B}), tensor parallel:\n", bytes{h100.driver_total_bytes});
  print_reading("extras are totals, spread evenly", half_on_each, h100);
  print_reading("extras repeat on every GPU, as contexts and buffers do", whole_on_each, h100);
  print_reading("FP16 cache, extras spread evenly", estimate(with_extras(fp8_fp16, 2, extras::shared_by_all)),
                h100);

  const bytes reported{h200.driver_total_bytes};
  const bytes visible = usable(h200).expected;
  const bytes need = node_ledger.total();
  const bytes without_margin = need - node_ledger.margin();
  const auto verdict_of = [](bool fits) { return fits ? "fits" : "does not fit"; };
  fmt::print("One 141 GB card (reports {:B}):\n", reported);
  print_reading("as it stands", node_ledger, h200);
  for (const auto& [what, total] : {std::pair{"inside 92 % of what the driver reports", reported},
                                    {"inside 92 % of what a program sees", visible}}) {
    const bytes allowed = floor_share(total, percent(92));
    fmt::print("  {:<58} {:>14} B of {:.1GB}: {}\n", what, detail::grouped(need.value), allowed,
               verdict_of(need <= allowed));
  }
  fmt::print("  {:<58} {:>14} B of {:.1GB}: {}\n", "without its margin, leaving 20 % free",
             detail::grouped(without_margin.value), visible - ceil_share(visible, percent(20)),
             verdict_of(fits_with_20_percent_headroom(node_ledger, usable(h200))));

  fmt::print("Two 48 GB cards (RTX A6000, each reports {:B}):\n", bytes{a6000.driver_total_bytes});
  const auto only_weights = [](const number_format& format) {
    deployment d = at_work(mha_70b, format, fp8_e4m3, 0_tokens);
    d.parallel.tensor = 2;
    return estimate(d);
  };
  print_reading("FP16 weights, at load", only_weights(fp16), a6000);
  print_reading("FP8 weights, at load", only_weights(fp8_e4m3), a6000);
  print_reading("the ledger, extras spread evenly", half_on_each, a6000);
}

inline void print_scores() {
  heading("Attention scores, if they were stored");
  fmt::print("  one head:  {} x {} in FP16 = {}\n", context.value, context.value,
             attention_score_bytes(1, context, context, fp16));
  fmt::print("  80 heads:  {}\n", attention_score_bytes(80, context, context, fp16));
  fmt::print("  64 heads:  {}, what this model has; FlashAttention stores none of it\n",
             attention_score_bytes(64, context, context, fp16));
}

inline void print_ways_to_shrink() {
  heading("Ways to shrink, at 32,768 tokens");
  const auto line = [](const char* what, bytes size) { fmt::print("  {:<66} {:>9.1GB}\n", what, size); };
  line("cache in FP16", cache_of(fp8_fp16));
  line("cache in FP8", cache_of(fp8_fp8));
  line("cache with the first 40 layers in FP16, the other 40 in FP8", cache_of(second_half_quantized()));
  line("cache in FP16 with 8 KV heads instead of 64 (GQA)", gqa_fp16_cache);
  line("cache in FP16 with 1 KV head (MQA)", mqa_fp16_cache);
  line("weights in INT4", weights_of_format(int4));
  line("weights in INT4, one layer at a time", one_int4_layer);
}

inline void print_tokens() {
  heading("What one token costs, and how many are live");
  const deployment one = at_work(real_70b, fp16, fp16, 1_tokens);
  const auto cache_at = [](tokens each, std::uint64_t sequences) {
    return cache_of(at_work(real_70b, fp16, fp16, each, sequences));
  };
  fmt::print("  {} in FP16: {:B} per token (layers x 2 x KV heads x head dim x 2), not \"128 bytes\".\n",
             real_70b.name, cache_of(one));
  fmt::print("  A context that grows from {} to {}: {:.2GB} to {:.2GB}.\n", 2000_tokens, 20000_tokens,
             cache_at(2000_tokens, 1), cache_at(20000_tokens, 1));
  fmt::print("  32 requests of {}: {:.1GB}; 32 of {}: {:.1GB}. Count live tokens, not the batch.\n",
             500_tokens, cache_at(500_tokens, 32), 10000_tokens, cache_at(10000_tokens, 32));
}
static_assert(cache_of(at_work(real_70b, fp16, fp16, 1_tokens)) == 327'680_B);

inline void print_slips() {
  heading("What the article got wrong");
  const auto gb = [](bytes size) { return fmt::format("{:.1GB}", size); };
  const layer_kind& layer = real_70b.kinds[0];
  fmt::print(
      " 1. \"80 heads\" x 128 is {}, not the hidden size {}. {} has {} query heads ({} x 128 = {}) and {} KV "
      "heads.\n",
      80 * 128, mha_70b.hidden_size, real_70b.name, layer.num_attention_heads, layer.num_attention_heads,
      layer.num_attention_heads * 128, layer.key_value_heads);
  fmt::print(
      " 2. An 8-bit cache at 32K is {}; {} is a 4-bit one. INT4 weights + 8-bit cache + 15 GB: {}, which "
      "one\n"
      "    80 GB card ({} reported) no longer holds; with 8-bit weights {}.\n",
      gb(cache_of(at_work(mha_70b, int4, int8))), gb(cache_of(at_work(mha_70b, int4, int4))),
      gb(with_15_gb(int4, int8)), gb(bytes{h100.driver_total_bytes}), gb(with_15_gb(int8, int8)));
  fmt::print(
      " 3. The 24 GB recipe: an 8-bit cache with 8 KV heads is {}, not {} (4-bit). In all {}, {} left; with "
      "the\n"
      "    INT4 weights resident {}. (A layer of INT4 weights is {:.4GB}, rounded to 0.5 there.)\n",
      gb(int8_gqa_cache), gb(int4_gqa_cache), gb(recipe), gb(24_GB - recipe), gb(resident_recipe),
      one_int4_layer);
  fmt::print(" 4. GB (10^9) and GiB (2^30) are mixed. An \"80 GB\" H100 reports {}, a \"141 GB\" H200 {}.\n",
             bytes{h100.driver_total_bytes}, bytes{h200.driver_total_bytes});
  fmt::print("    One head's scores are {}, 80 heads' {}.\n",
             attention_score_bytes(1, context, context, fp16),
             attention_score_bytes(80, context, context, fp16));
  fmt::print(
      " 5. Real 70B models share KV heads: the same FP8 cache is {} instead of {}, and the ledger {} instead "
      "of\n"
      "    {}. (A real decoder of that shape with full attention has {:.1f}e9 parameters.)\n",
      gb(real_ledger.kv_cache()), gb(node_ledger.kv_cache()), gb(real_ledger.total()),
      gb(node_ledger.total()), static_cast<double>(parameter_count(real_mha_70b::architecture).value) / 1e9);
  fmt::print(
      " 6. \"32K with batch 8: tens of GB to over a hundred\" is {} in FP16 by the article's own table, {} "
      "with GQA.\n",
      gb(cache_of(at_work(mha_70b, fp16, fp16, context, 8))),
      gb(cache_of(at_work(gqa_70b::architecture, fp16, fp16, context, 8))));
  fmt::print(
      " 7. GQA shrinks the cache to KV heads / query heads = {}/{} = {:%}; \"1 / groups\" is right only by "
      "chance.\n",
      layer.key_value_heads, layer.num_attention_heads,
      ratio{gqa_fp16_cache.value, cache_of(fp8_fp16).value});
  fmt::print(
      " 8. The cache saves recomputing K and V; attention over it still sums to N x N / 2 = {} pairs of\n"
      "    a query and a key at 32K.\n",
      detail::grouped(context.value * context.value / 2));
  const deployment scaled = at_work(real_70b, fp8_e4m3, kv_formats::int8_per_token_head);
  const memory_budget scaled_ledger = estimate(scaled);
  fmt::print(" 9. vLLM has no plain int8 cache: int8_per_token_head adds {} of scales to {} ({}).\n",
             scaled_ledger["kv_cache.scales"], scaled_ledger["kv_cache.payload"], real_70b.name);
  fmt::print("10. {} has {} positions, {} only {}: for which an engine refuses 32,768 tokens.\n",
             real_70b.name, detail::grouped(real_70b.max_position_embeddings), models::llama_3_70b.name,
             detail::grouped(models::llama_3_70b.max_position_embeddings));
  const bytes per_gpu = ceil_div(real_ledger.weights() + real_ledger.kv_cache(), 2);
  fmt::print(
      "11. Attention does not pick from the cache at random, it reads all of it: every step of {} on two "
      "H100\n"
      "    reads {} of weights and cache per GPU, at {:.2f} TB/s at least {:.1f} ms.\n",
      real_70b.name, per_gpu, static_cast<double>(h100.bandwidth_bytes_per_second) / 1e12,
      1e3 * static_cast<double>(per_gpu.value) / static_cast<double>(h100.bandwidth_bytes_per_second));
}

inline void print_real_70b() {
  heading("What a real 70B takes: llama-3.1-70b, FP8, 32,768 tokens, batch 1");
  report::table_options options;
  options.title = std::string(real_70b.name) + ", weights and cache";
  options.engine = engines::geometry{}.name().text;
  options.sources = false;
  options.precision = 1;
  fmt::print("{}\n", report::table(estimate(real_fp8_fp8), options));
  fmt::print(
      "With what PyTorch on CUDA was measured to take on each GPU, and the activations of a step of 8,192 "
      "tokens:\n");
  const auto on = [](const gpu_profile& gpu, std::uint32_t count) {
    deployment d = real_fp8_fp8;
    d.parallel.tensor = count;
    d.workload.batched_tokens = 8192_tokens;
    d.framework.kind = framework_kind::pytorch_cuda;
    print_reading(fmt::format("{} x {}", count, gpu.name).c_str(), estimate(d), gpu);
  };
  on(h100, 1);
  on(h100, 2);
  on(h200, 1);
  on(a6000, 2);
}

/// Prints all of it.
inline void tell() {
  fmt::print(
      "Why does a 70B model need 144 GB?\n"
      "The article's model has {} layers, hidden size {}, {} query and {} KV heads of {}, {} parameters.\n"
      "GB are 10^9 bytes, GiB 2^30. Pure geometry: what the mathematics needs, no engine.\n",
      mha_70b.num_hidden_layers, mha_70b.hidden_size, mha_70b.kinds[0].num_attention_heads,
      mha_70b.kinds[0].key_value_heads, mha_70b.kinds[0].query_dim,
      detail::grouped(parameter_count(mha_70b).value));
  print_weights();
  print_cache();
  print_ledger();
  print_readings();
  print_scores();
  print_ways_to_shrink();
  print_tokens();
  print_slips();
  print_real_70b();
}

}  // namespace article
