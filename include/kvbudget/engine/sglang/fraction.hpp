#pragma once

#include <cstdint>

#include "kvbudget/deployment/speculation.hpp"
#include "kvbudget/engine/sglang/releases.hpp"

namespace kvbudget::inline v0::engines::sglang_rules {

/// What the default of mem_fraction_static depends on; sizes are resolved, in tokens and requests.
struct fraction_inputs {
  std::uint64_t gpu_mib = 0;  ///< as nvidia-smi reports it
  std::uint32_t tp_size = 1;
  std::uint32_t pp_size = 1;
  std::uint32_t dp_size = 1;  ///< of attention data parallelism; 1 = none
  std::uint64_t prefill_tokens = 0;
  std::uint64_t cuda_graph_max_bs = 0;
  bool decode_graphs = true;
  bool prefill_graphs = false;
  std::uint64_t prefill_graph_tokens = 0;  ///< largest captured size
  bool latent_attention = false;
  bool deepep = false;
  speculation_kind speculation = speculation_kind::none;
};

/// A run of captured sizes: first, first + step, ..., last.
struct capture_run {
  std::uint32_t first;
  std::uint32_t last;
  std::uint32_t step;
};
inline constexpr capture_run prefill_captures[] = {
    {4, 32, 4}, {48, 256, 16}, {288, 512, 32}, {576, 1024, 64}, {1280, 4096, 256}, {4608, UINT32_MAX, 512}};

/// Sizes at which prefill is captured, up to `largest` tokens: 50 up to 4,096, then one per 512. Source:
/// sgl-project/sglang srt/server_args.py (_generate_piecewise_cuda_graph_tokens).
[[nodiscard]] constexpr std::uint64_t prefill_capture_count(std::uint64_t largest) {
  std::uint64_t count = 0;
  for (const capture_run& run : prefill_captures) {
    if (largest < run.first) break;
    count += (detail::smaller<std::uint64_t>(largest, run.last) - run.first) / run.step + 1;
  }
  return count;
}

/// MiB that the default of mem_fraction_static leaves free. `by_reserve`: 512 + 1.5 × prefill tokens (2,048
/// at least) + 2 × graph batch + 128 × ranks + attention data parallelism + prefill graphs, 10,240 at least
/// above 60 GiB, then what speculation needs. Source: sgl-project/sglang srt/server_args.py.
[[nodiscard]] constexpr double reserved_mib(const release& rules, const fraction_inputs& in) {
  const bool drafts = in.speculation != speculation_kind::none && in.speculation != speculation_kind::ngram;
  const double draft = !drafts || !rules.reserves_for_speculation        ? 0
                       : in.speculation == speculation_kind::draft_model ? 6 * 1024
                                                                         : 2 * 1024;
  const double ranks = static_cast<double>(std::uint64_t{in.tp_size} * in.pp_size);
  if (rules.fraction == fraction_rule::by_memory) {
    const size_class& size = size_class_of(rules, in.gpu_mib);
    const double per_rank = size.ranks_per_gib == 0 ? 0 : ranks / size.ranks_per_gib;
    return (size.free_gib + per_rank) * 1024 + draft + (in.dp_size > 1 ? 4 * 1024 : 0);
  }
  const double batch = static_cast<double>(in.cuda_graph_max_bs);
  double reserved = 512 + 1.5 * static_cast<double>(detail::larger<std::uint64_t>(in.prefill_tokens, 2048));
  if (in.decode_graphs || rules.reserves_for_speculation) reserved += batch * 2;
  reserved += ranks / 8 * 1024;
  if (in.dp_size > 1) reserved += batch * in.dp_size * (in.cuda_graph_max_bs > 300 ? 4.5 : 3);
  if (in.prefill_graphs) {
    const bool fixed = in.latent_attention && !rules.reserves_for_speculation;
    reserved += fixed ? 1.5 * 1024 : static_cast<double>(prefill_capture_count(in.prefill_graph_tokens)) * 8;
  }
  if (in.gpu_mib > 60 * 1024 && reserved < 10 * 1024) reserved = 10 * 1024;
  if (in.deepep && !rules.reserves_for_speculation) reserved += 2 * 1024;
  return reserved + draft;
}

/// round(share, 3) of Python for 0 <= share < 1: the nearest thousandth, ties to the even one.
[[nodiscard]] constexpr double rounded_to_thousandths(double share) {
  constexpr std::uint64_t one = std::uint64_t{1} << 53;
  const auto scaled = static_cast<std::uint64_t>(share * static_cast<double>(one));  // exact: 53 bits
  std::uint64_t thousandths = scaled / (one / 1000 + 1);                             // at most one too low
  while ((thousandths + 1) * one <= scaled * 1000) ++thousandths;
  const std::uint64_t twice = scaled * 2000;  // < 2^64: 2000 × 2^53
  const std::uint64_t tie = (2 * thousandths + 1) * one;
  if (twice > tie || (twice == tie && thousandths % 2 == 1)) ++thousandths;
  return static_cast<double>(thousandths) / 1000;
}

/// The default of mem_fraction_static before any vision tower is considered; 0 where the GPU is smaller than
/// what would be left free.
[[nodiscard]] constexpr double default_fraction(const release& rules, const fraction_inputs& in) {
  if (rules.fraction == fraction_rule::by_ranks) {
    if (in.tp_size >= 16) return 0.79;
    if (in.tp_size >= 8) return 0.81;
    if (in.tp_size >= 4) return 0.85;
    return in.tp_size >= 2 ? 0.87 : 0.88;
  }
  const double total = static_cast<double>(in.gpu_mib);
  const double reserved = reserved_mib(rules, in);
  return reserved >= total ? 0 : rounded_to_thousandths((total - reserved) / total);
}

/// What a vision tower of so many layers of such a width does to the fraction: × 0.95 × (1.1 − 0.1 ×
/// parameters / those of ViT-L/14), the bracket kept within 0.8 and 1.05. Source: sgl-project/sglang
/// srt/server_args.py (adjust_mem_fraction_for_vlm).
[[nodiscard]] constexpr double fraction_beside_vision(double fraction, std::uint64_t layers,
                                                      std::uint64_t hidden_size) {
  const double size = static_cast<double>(layers * hidden_size * hidden_size);
  double factor = 1.0 - 0.1 * (size / (24.0 * 1024 * 1024) - 1.0);
  factor = factor < 0.8 ? 0.8 : factor > 1.05 ? 1.05 : factor;
  return fraction * (0.95 * factor);
}

/// Bytes of the GiB that the engine reckons in, and prints as "GB".
inline constexpr double gib = 1024.0 * 1024 * 1024;

/// int((post − pre × (1 − fraction)) × 2^30) with both in GiB, as Python computes it: what weights and pools
/// may take of the memory that was free before loading, less the weights. Negative = the weights alone exceed
/// it. Source: sgl-project/sglang srt/mem_cache/kv_cache_configurator.py (_profile_available_bytes).
[[nodiscard]] constexpr std::int64_t rest_bytes(std::int64_t pre, std::int64_t post, double fraction) {
  const double rest = static_cast<double>(post) / gib - static_cast<double>(pre) / gib * (1 - fraction);
  return static_cast<std::int64_t>(rest * gib);
}

}  // namespace kvbudget::inline v0::engines::sglang_rules
