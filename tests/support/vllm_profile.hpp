#pragma once

// What tests/cases/vllm_profile.inc refers to.

#include "kvbudget/engine/vllm/profile_run.hpp"
#include "kvbudget/kvbudget.hpp"
#include "kvbudget/models.hpp"

namespace profiled {
using namespace kvbudget;
namespace vp = kvbudget::vllm_profile;

/// A server of the first `tensor` × `pipeline` ranks on Hopper, in bf16.
constexpr deployment on(const model_architecture& model, std::uint32_t tensor = 1,
                        std::uint32_t pipeline = 1) {
  deployment d{.model = model};
  d.dtype = formats::bf16;
  d.parallel.tensor = tensor;
  d.parallel.pipeline = pipeline;
  return d;
}
constexpr vp::options run(std::uint16_t minor, std::uint64_t tokens, std::uint64_t sequences,
                          std::uint32_t capability = 9, std::uint32_t multiprocessors = 132) {
  vp::options given;
  given.release = {0, minor};
  given.max_num_batched_tokens = tokens;
  given.max_num_seqs = sequences;
  given.max_model_len = 8192;
  given.compute_capability_major = capability;
  given.multiprocessors = multiprocessors;
  return given;
}
constexpr vp::options eager(vp::options given) {
  given.enforce_eager = true;
  return given;
}
constexpr vp::options with_images_off(vp::options given) {
  given.multimodal = false;
  return given;
}
constexpr vp::memory memory_of(const deployment& d, const vp::options& given, rank where = {}) {
  return vp::memory_of(d, share_of(d, where), given);
}
constexpr vp::forward_bytes forward_of(const deployment& d, const vp::options& given) {
  return vp::forward_of(d, share_of(d, rank{}), given);
}
/// The expected peak in hundredths of a GiB, rounded to nearest: as logs print it.
constexpr std::uint64_t hundredths(const byte_range& range) {
  return (range.expected * 100 + (std::uint64_t{1} << 29)) >> 30;
}
constexpr bool is_near(std::uint64_t ours, std::uint64_t printed, std::uint64_t within) {
  return ours <= printed + within && printed <= ours + within;
}
/// Whether a printed figure of hundredths of a GiB lies within the bounds, give or take its rounding.
constexpr bool holds(const byte_range& range, std::uint64_t printed) {
  constexpr std::uint64_t half = (std::uint64_t{1} << 30) / 200;
  const std::uint64_t value = detail::ceil_mul_div(std::uint64_t{1} << 30, printed, 100);
  return range.low <= value + half && value <= range.high + half;
}
constexpr vp::capture_sizes captured(std::uint16_t minor, std::uint64_t sequences,
                                     std::uint64_t tokens = 8192, std::uint64_t speculative = 0,
                                     std::uint64_t limit = 512) {
  return vp::cudagraph_capture_sizes(vp::rules_of({0, minor}), sequences, tokens, speculative, limit);
}
/// Counting capture sizes and listing them agree, for every version and batch.
constexpr bool counts_agree() {
  for (const vp::rules& rule : vp::table) {
    for (std::uint64_t sequences = 1; sequences <= 1100; sequences += 97) {
      constexpr std::uint64_t batches[] = {3, 100, 8192};
      for (const std::uint64_t tokens : batches) {
        for (std::uint64_t limit = 512; limit <= 1024; limit += 512) {
          const vp::capture_sizes listed = vp::cudagraph_capture_sizes(rule, sequences, tokens, 0, limit);
          std::uint64_t graphs = listed.count;
          for (std::uint32_t i = 0; rule.full_graphs && i < listed.count; ++i) {
            if (listed.sizes[i] <= sequences) ++graphs;
          }
          if (vp::captured_graphs(rule, sequences, tokens, 0, limit) != graphs) return false;
        }
      }
    }
  }
  return true;
}
constexpr vp::batch_defaults defaults(std::uint16_t minor, vp::usage how, std::uint64_t gibibytes,
                                      bool a100 = false, std::uint64_t max_model_len = 131072) {
  const vp::rules& rule = vp::rules_of({0, minor});
  return vp::defaults_of(rule, how, gibibytes << 30, a100, max_model_len,
                         vp::is_prefill_chunked(rule, max_model_len));
}

}  // namespace profiled
