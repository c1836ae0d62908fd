#pragma once

// What the cases in tests/cases/golden.inc ask of a model of the catalogue.

#include "kvbudget/models.hpp"

#include "kvbudget/memory/kv_cache.hpp"

namespace golden {

using namespace kvbudget;
namespace f = kvbudget::formats;

/// A cache and states in 16 bits.
constexpr deployment serving(const model_architecture& model, std::uint64_t sequences, std::uint64_t context,
                             const kv_format& format = f::bf16) {
  return {.model = model,
          .kv_cache = format,
          .workload = {.sequences = sequences, .context = tokens{context}},
          .dtype = f::bf16};
}
constexpr kv_cache_bytes parts(const deployment& d) { return kv_cache_of(d, share_of(d, rank{})); }

/// The cache of `sequences` requests of `context` tokens, in bytes.
constexpr std::uint64_t cache(const model_architecture& model, std::uint64_t sequences, std::uint64_t context,
                              const kv_format& format = f::bf16) {
  return parts(serving(model, sequences, context, format)).total().value;
}
/// Keys, values and latents alone.
constexpr std::uint64_t attention(const model_architecture& model, std::uint64_t sequences,
                                  std::uint64_t context, const kv_format& format = f::bf16) {
  const kv_cache_bytes found = parts(serving(model, sequences, context, format));
  return found.payload + found.scales;
}
/// Recurrent states in fp32; the values of the convolution in a format of their own.
constexpr std::uint64_t state(const model_architecture& model, std::uint64_t sequences,
                              const number_format& convolution) {
  deployment d = serving(model, sequences, 1);
  d.states = {.convolution = convolution, .recurrent = f::fp32};
  return parts(d).state;
}

/// Bytes that one more token costs at a context; 0 if that is no whole number, which no case is.
constexpr std::uint64_t slope(const model_architecture& model, std::uint64_t context,
                              const kv_format& format = f::bf16) {
  const deployment d = serving(model, 1, context, format);
  const ratio rate = kv_growth_of(d, share_of(d, rank{}), tokens{context}).bytes_per_token;
  return rate.denominator == 1 ? rate.numerator : 0;
}
/// While every window still fills, and beyond all of them.
constexpr std::uint64_t near(const model_architecture& model, const kv_format& format = f::bf16) {
  return slope(model, 1, format);
}
constexpr std::uint64_t far(const model_architecture& model, const kv_format& format = f::bf16) {
  return slope(model, 1'000'000, format);
}

inline constexpr std::uint64_t mib = 1024 * 1024;
inline constexpr std::uint64_t gib = 1024 * mib;

/// Latents in bf16; index keys in FP8 with one fp32 scale for each 128 elements.
inline constexpr latent_parts bf16_and_fp8_index_keys{f::bf16, f::bf16,
                                                      kv_part{f::fp8_e4m3, scale_granularity::block, 4, 128}};
inline constexpr kv_format bf16_latents{"bf16, fp8 index keys", f::bf16, bf16_and_fp8_index_keys};

}  // namespace golden
