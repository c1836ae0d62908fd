#pragma once

// What the cases in tests/cases/tensorrt_llm.inc ask of the engine.

#include "kvbudget/kvbudget.hpp"
#include "kvbudget/models.hpp"

namespace trtllm {

using namespace kvbudget;
using namespace kvbudget::literals;
using engine = engines::tensorrt_llm;
namespace f = kvbudget::formats;

inline constexpr const gpu_profile& h100 = gpus::nvidia_h100_sxm_80gb;
inline constexpr const gpu_profile& gb300 = gpus::nvidia_gb300_288gb;
inline constexpr const gpu_profile& any_gpu = h100;  // where the GPU plays no part

constexpr deployment serving(const model_architecture& model, const kv_format& cache = {},
                             std::uint32_t tensor = 1) {
  deployment d{.model = model, .kv_cache = cache};
  d.dtype = f::bf16;
  d.parallel.tensor = tensor;
  d.workload.sequences = 1;
  d.workload.context = 1_tokens;
  return d;
}
constexpr engine release(std::uint16_t major, std::uint16_t minor, std::uint32_t tokens_per_block = 0) {
  engine on;
  on.version = {major, minor};
  on.tokens_per_block = tokens_per_block;
  return on;
}
/// Bytes in hundredths of a GiB, as the log prints them.
constexpr std::uint64_t printed_gib(bytes amount) {
  return detail::floor_mul_div(detail::checked_add(amount.value, 5368709), 100, std::uint64_t{1} << 30);
}

/// The pools that so many tokens' worth of bytes give on the first rank.
constexpr block_pools pools_of_tokens(const engine& on, const deployment& d, std::uint64_t tokens) {
  return on.pools(d, rank{}, any_gpu, detail::checked_mul(tokens, on.kv_size_per_token(d)));
}
/// Whether so many tokens give so many blocks and print as such a pool.
constexpr bool is_logged(const engine& on, const deployment& d, std::uint64_t tokens, std::uint64_t blocks,
                         std::uint64_t hundredths_of_gib) {
  const block_pools pools = pools_of_tokens(on, d, tokens);
  return pools.pools[0].blocks == blocks && printed_gib(pools.size()) == hundredths_of_gib &&
         on.printed_tokens(d, any_gpu, pools, 0) == blocks * on.block_size();
}

/// A configuration of the capacity test: max_seq_len and every request isl + osl + 1,000 tokens, a step 2 x
/// isl.
constexpr engine measured_engine(std::uint64_t isl, std::uint64_t osl, double fraction) {
  engine on;
  on.free_gpu_memory_fraction = fraction;
  on.max_num_tokens = 2 * isl;
  on.max_seq_len = isl + osl + 1000;
  return on;
}
constexpr deployment measured_deployment(const model_architecture& model, std::uint32_t tensor,
                                         std::uint64_t isl, std::uint64_t osl) {
  deployment d = serving(model, {}, tensor);
  d.workload.context = tokens{isl + osl + 1000};
  return d;
}
/// Whether exactly `found` requests fit, which is `measured` within 2 % or one request.
constexpr bool holds(const gpu_profile& gpu, const model_architecture& model, std::uint32_t tensor,
                     std::uint64_t isl, std::uint64_t osl, double fraction, std::uint64_t measured,
                     std::uint64_t found) {
  const limit most =
      max_sequences(measured_deployment(model, tensor, isl, osl), measured_engine(isl, osl, fraction), gpu);
  const std::uint64_t apart = found < measured ? measured - found : found - measured;
  return most == limit{true, false, found} && (apart <= 1 || 50 * apart <= measured);
}

inline constexpr const model_architecture& deepseek_with_mtp = models::deepseek_v3;

constexpr deployment with_requests(deployment d, std::uint64_t sequences) {
  d.workload.sequences = sequences;
  return d;
}
constexpr deployment in_stages(deployment d, std::uint32_t stages) {
  d.parallel.pipeline = stages;
  return d;
}
constexpr deployment drafting(deployment d, speculation_kind kind,
                              const model_architecture* draft = nullptr) {
  d.speculation.kind = kind;
  d.speculation.draft = draft;
  d.speculation.num_speculative_tokens = 3;
  return d;
}
constexpr engine with_windows(std::uint32_t first, std::uint32_t second) {
  engine on;
  on.max_attention_window.add(first).add(second);
  return on;
}
constexpr engine with_shares(double narrow, double wide) {
  engine on = with_windows(128, 131072);
  on.window_size_shares[0] = narrow;
  on.window_size_shares[1] = wide;
  return on;
}
constexpr engine with_fraction(double fraction) {
  engine on;
  on.free_gpu_memory_fraction = fraction;
  return on;
}
constexpr engine with_max_tokens(engine on, std::uint64_t tokens) {
  on.max_tokens = tokens;
  return on;
}
constexpr engine with_host_cache(bytes size) {
  engine on;
  on.host_cache_size = size;
  return on;
}
constexpr engine with_max_seq_len(std::uint64_t length) {
  engine on;
  on.max_seq_len = length;
  return on;
}
constexpr engine with_batch(engine on, std::uint64_t requests) {
  on.max_batch_size = requests;
  return on;
}
/// A token as the engine's estimate counts it, one share of the heads for each rank.
constexpr detail::layer_token_bytes token_in_layers(const deployment& d) {
  const detail::window_groups groups =
      detail::window_groups_of(d, share_of(d, rank{}), attention_window_list{}, 40960, 4);
  return groups.bytes[0];
}
constexpr bool starts_with(const char* text, const char* start) {
  while (*start != '\0' && *text == *start) ++text, ++start;
  return *start == '\0';
}
constexpr bool refuses(const engine& on, const deployment& d, const char* words) {
  const refusal found = on.refuses(d, any_gpu);
  return found && starts_with(found.text, words);
}
/// Whether a measured number of tokens lies between what the engine's lows and highs give.
constexpr bool expects(const engine& on, const deployment& d, const gpu_profile& gpu,
                       std::uint64_t measured) {
  const allocation found = allocate(d, on, gpu);
  return found.low.blocks[0] * on.block_size() <= measured &&
         measured <= found.high.blocks[0] * on.block_size();
}
constexpr deployment in_fp8(deployment d) {
  d.weights = schemes::fp8_channel;
  return d;
}
constexpr engine with_share(engine on, double fraction) {
  on.free_gpu_memory_fraction = fraction;
  return on;
}
/// An answer with everything but the cache pinned: `taken` of the GPU's memory.
constexpr deployment with_taken(deployment d, bytes taken) {
  d.pinned.weights = taken;
  d.pinned.activations = bytes{};
  d.pinned.framework = bytes{};
  return d;
}
constexpr std::uint64_t available(const engine& on, const deployment& d, const gpu_profile& gpu) {
  return detail::at_least_zero(reservation_of(on, d, rank{}, gpu).available_kv.expected);
}

}  // namespace trtllm
