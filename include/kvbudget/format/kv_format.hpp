#pragma once

#include <cstdint>

#include "kvbudget/format/formats.hpp"

namespace kvbudget::inline v0 {

/// How finely the scale factors of a quantized cache are kept, coarsest first.
///
/// Tensor, channel and head scales are fixed per layer and belong to the weights (`weights.scales`); token,
/// token-head and block scales come with every token and belong to the cache (`kv_cache.scales`).
enum class scale_granularity : std::uint8_t { none, tensor, channel, head, token, token_head, block };

/// How one side of the cache (keys, values, a latent, …) is stored.
struct kv_part {
  number_format format{};
  scale_granularity scales = scale_granularity::none;
  std::uint8_t scale_bytes = 0;   ///< bytes of one scale, with its zero point if it has one
  std::uint16_t scale_block = 0;  ///< elements of a head that share a scale (granularity `block`)

  kv_part() = default;
  constexpr kv_part(const number_format& plain)
      : format(plain) {}  // NOLINT: a format is a side without scales
  constexpr kv_part(const number_format& payload, scale_granularity where, std::uint8_t bytes_per_scale,
                    std::uint16_t block = 0)
      : format(payload), scales(where), scale_bytes(bytes_per_scale), scale_block(block) {}
};

/// Which recent tokens of a sequence stay unquantized.
enum class residual_rule : std::uint8_t {
  none,
  kivi,  ///< keys are quantized in whole multiples of R tokens, values keep exactly the last R (KIVI)
  whole  ///< keys and values are quantized in whole multiples of R tokens (Transformers' QuantizedCache)
};

namespace detail {
[[noreturn]] inline void a_cache_row_must_be_a_whole_number_of_blocks(std::uint64_t elements,
                                                                      std::uint64_t block) {
  raise("a cache row of # elements is not a whole number of blocks of #; choose another cache format",
        elements, block);
}

[[nodiscard]] constexpr bool is_fixed(scale_granularity scales) {
  return scales != scale_granularity::none && scales < scale_granularity::token;
}

/// Bytes of one token, payload and scales apart.
struct token_bytes {
  std::uint64_t payload = 0;
  std::uint64_t scales = 0;
  [[nodiscard]] constexpr std::uint64_t total() const { return checked_add(payload, scales); }
};

/// One side of a token: `heads` heads of `width` elements. Sides with their own scale per head are packed
/// head by head, the others as one row.
[[nodiscard]] constexpr token_bytes side_bytes(const kv_part& part, std::uint64_t heads,
                                               std::uint64_t width) {
  const std::uint64_t row = heads * width;
  const number_format& format = part.format;
  token_bytes result;
  if (part.scales >= scale_granularity::token_head) {
    result.payload = heads * format.size_of(width).value;
    const std::uint64_t scales_per_head =
        part.scales == scale_granularity::block ? ceil_div(width, part.scale_block) : 1;
    result.scales = heads * scales_per_head * part.scale_bytes;
    return result;
  }
  if (format.block_elements == 1) {
    result.payload = row * format.block_bytes;
  } else {
    if (format.whole_blocks && row % format.block_elements != 0) {
      a_cache_row_must_be_a_whole_number_of_blocks(row, format.block_elements);
    }
    result.payload = format.size_of(row).value;
  }
  if (part.scales == scale_granularity::token) result.scales = part.scale_bytes;
  return result;
}

/// Scale bytes of one side that a layer keeps once, whatever the number of tokens.
[[nodiscard]] constexpr std::uint64_t static_scale_bytes(const kv_part& part, std::uint64_t heads,
                                                         std::uint64_t width) {
  switch (part.scales) {
    case scale_granularity::tensor: return part.scale_bytes;
    case scale_granularity::channel: return heads * width * part.scale_bytes;
    case scale_granularity::head: return heads * part.scale_bytes;
    case scale_granularity::none:
    case scale_granularity::token:
    case scale_granularity::token_head:
    case scale_granularity::block: return 0;
  }
  return 0;
}
}  // namespace detail

/// What an MLA layer keeps per token, where it is not stored like ordinary keys.
struct latent_parts {
  kv_part latent{};   ///< the compressed part
  kv_part rope{};     ///< the rotary part beside it
  kv_part indexer{};  ///< the index keys of sparse attention
};

/// How the KV cache is stored: keys and values each in their own format, with their own scales.
///
/// One rule: bytes of a token in one layer = `bytes_per_token(kv_heads, key_dim, value_dim)`. A single number
/// format converts to "both sides in it"; a default one means "the dtype that the model's config names".
/// Built by constructor only, never from braces of members, so that one format can never end up on the key
/// side alone.
struct kv_format {
  const char* name = "auto";
  kv_part key{};
  kv_part value{};
  /// K + V of a head (or the parts of a latent) are rounded up to this many bytes together.
  std::uint8_t slot_multiple = 1;
  residual_rule residual = residual_rule::none;
  std::uint16_t residual_tokens = 0;
  bool has_latents = false;               ///< otherwise latents are stored like keys
  const latent_parts* latents = nullptr;  ///< must outlive the format

  kv_format() = default;
  constexpr kv_format(const number_format& both)  // NOLINT: a format is "both sides in it"
      : name(both.name), key(both), value(both) {}
  constexpr kv_format(const number_format& keys, const number_format& values)
      : name("custom"), key(keys), value(values) {}
  constexpr kv_format(const char* called, const kv_part& keys, const kv_part& values, std::uint8_t slot = 1)
      : name(called), key(keys), value(values), slot_multiple(slot) {}
  /// Recent tokens of every request stay in the dtype.
  constexpr kv_format(const char* called, const kv_part& both, residual_rule rule, std::uint16_t kept)
      : name(called), key(both), value(both), residual(rule), residual_tokens(kept) {}
  /// An MLA format: latents have parts of their own; ordinary attention takes `plain`.
  constexpr kv_format(const char* called, const kv_part& plain, const latent_parts& parts,
                      std::uint8_t slot = 1)
      : name(called), key(plain), value(plain), slot_multiple(slot), has_latents(true), latents(&parts) {}
  kv_format(const char*, const kv_part&, latent_parts&&,
            std::uint8_t = 1) = delete;  // the parts would be gone

  [[nodiscard]] constexpr bool is_automatic() const { return key.format.is_automatic(); }
  [[nodiscard]] constexpr const kv_part& latent() const { return has_latents ? latents->latent : key; }
  [[nodiscard]] constexpr const kv_part& rope() const { return has_latents ? latents->rope : key; }
  [[nodiscard]] constexpr const kv_part& indexer() const { return has_latents ? latents->indexer : key; }
  /// Whether some scales are kept per layer instead of per token.
  [[nodiscard]] constexpr bool has_fixed_scales() const {
    return detail::is_fixed(key.scales) || detail::is_fixed(value.scales) ||
           detail::is_fixed(latent().scales);
  }

  /// Payload and scales of one token in one attention layer.
  [[nodiscard]] constexpr detail::token_bytes token(std::uint64_t kv_heads, std::uint64_t key_dim,
                                                    std::uint64_t value_dim) const {
    const detail::token_bytes k = detail::side_bytes(key, kv_heads, key_dim);
    const detail::token_bytes v = detail::side_bytes(value, kv_heads, value_dim);
    detail::token_bytes both{k.payload + v.payload, k.scales + v.scales};
    if (slot_multiple > 1 && kv_heads != 0) {
      const std::uint64_t slot = detail::ceil_div(both.payload + both.scales, kv_heads);
      both.payload = kv_heads * detail::round_up(slot, slot_multiple) - both.scales;
    }
    return both;
  }
  /// Payload and scales of one token in one MLA layer: a latent of `rank` and a rotary part of `rope_dim`
  /// elements.
  [[nodiscard]] constexpr detail::token_bytes latent_token(std::uint64_t rank, std::uint64_t rope_dim) const {
    const detail::token_bytes c = detail::side_bytes(latent(), 1, rank);
    const detail::token_bytes r = detail::side_bytes(rope(), 1, rope_dim);
    detail::token_bytes both{c.payload + r.payload, c.scales + r.scales};
    if (slot_multiple > 1) {
      both.payload = detail::round_up(both.payload + both.scales, slot_multiple) - both.scales;
    }
    return both;
  }

  /// Bytes that one token takes in one attention layer: kv_heads × (key_dim + value_dim) elements with their
  /// per-token scales.
  [[nodiscard]] constexpr bytes bytes_per_token(std::uint64_t kv_heads, std::uint64_t key_dim,
                                                std::uint64_t value_dim) const {
    return bytes{token(kv_heads, key_dim, value_dim).total()};
  }
  [[nodiscard]] constexpr bytes latent_bytes_per_token(std::uint64_t rank, std::uint64_t rope_dim) const {
    return bytes{latent_token(rank, rope_dim).total()};
  }
  /// Bytes of one index key of `dim` elements with its scales; 0 where there is no indexer.
  [[nodiscard]] constexpr std::uint64_t index_key_bytes(std::uint64_t dim) const {
    return dim == 0 ? 0 : detail::side_bytes(indexer(), 1, dim).total();
  }
};

/// Cache formats by the names that engines give them.
///
/// Sources: vLLM v1/kv_cache_interface.py and the TurboQuant and MLA attention specs (vllm-project/vllm);
/// SGLang docs, quantized_kv_cache.md; InternLM/lmdeploy cache_engine.py; jy-yuan/KIVI llama_kivi.py;
/// huggingface/transformers cache_utils.py.
namespace kv_formats {
using enum scale_granularity;
inline constexpr kv_part fp4_block16{formats::fp4_e2m1, block, 1, 16};
inline constexpr kv_part fp8_index_keys{formats::fp8_e4m3, block, 4, 128};

// clang-format off
/// 8-bit with fixed scales: one fp32 per side and layer, one per channel, or one per KV head.
inline constexpr kv_format fp8_per_tensor  {"fp8_per_tensor", {formats::fp8_e4m3, tensor, 4}, {formats::fp8_e4m3, tensor, 4}};
inline constexpr kv_format fp8_per_head    {"fp8_per_head", {formats::fp8_e4m3, head, 4}, {formats::fp8_e4m3, head, 4}};
inline constexpr kv_format int8_per_tensor {"int8_per_tensor", {formats::int8, tensor, 4}, {formats::int8, tensor, 4}};
inline constexpr kv_format int8_per_channel{"int8_per_channel", {formats::int8, channel, 4}, {formats::int8, channel, 4}};
inline constexpr kv_format int8_per_head   {"int8_per_head", {formats::int8, head, 4}, {formats::int8, head, 4}};
/// One fp32 scale per side, layer and token.
inline constexpr kv_format int8_per_token{"int8_per_token", {formats::int8, token, 4}, {formats::int8, token, 4}};
inline constexpr kv_format fp8_per_token {"fp8_per_token", {formats::fp8_e4m3, token, 4}, {formats::fp8_e4m3, token, 4}};
/// vLLM: one fp32 scale per side, token and head.
inline constexpr kv_format int8_per_token_head{"int8_per_token_head", {formats::int8, token_head, 4}, {formats::int8, token_head, 4}};
inline constexpr kv_format fp8_per_token_head {"fp8_per_token_head", {formats::fp8_e4m3, token_head, 4}, {formats::fp8_e4m3, token_head, 4}};
inline constexpr kv_format int4_per_token_head{"int4_per_token_head", {formats::int4, token_head, 4}, {formats::int4, token_head, 4}};
/// 4-bit floats with an 8-bit scale per 16 elements (vLLM nvfp4, SGLang fp4_e2m1).
inline constexpr kv_format nvfp4   {"nvfp4", fp4_block16, fp4_block16};
inline constexpr kv_format fp4_e2m1{"fp4_e2m1", fp4_block16, fp4_block16};
/// Asymmetric integers: a 16-bit scale and a 16-bit zero per side, token and head.
inline constexpr kv_format sglang_int8  {"sglang_int8", {formats::int8, token_head, 4}, {formats::int8, token_head, 4}};
inline constexpr kv_format lmdeploy_int8{"lmdeploy_int8", {formats::int8, token_head, 4}, {formats::int8, token_head, 4}};
inline constexpr kv_format lmdeploy_int4{"lmdeploy_int4", {formats::int4, token_head, 4}, {formats::int4, token_head, 4}};
/// LMDeploy quant_policy 42: 4-bit keys with two norms, 2-bit values with one.
inline constexpr kv_format lmdeploy_turboquant{"lmdeploy_turboquant", {formats::int4, token_head, 4}, {formats::int2, token_head, 2}};
/// vLLM TurboQuant: K + V of a head share a slot of an even number of bytes.
inline constexpr kv_format turboquant_k8v4   {"turboquant_k8v4", {formats::fp8_e4m3}, {formats::int4, token_head, 4}, 2};
inline constexpr kv_format turboquant_4bit_nc{"turboquant_4bit_nc", {formats::int4, token_head, 2}, {formats::int4, token_head, 4}, 2};
inline constexpr kv_format turboquant_k3v4_nc{"turboquant_k3v4_nc", {formats::int3, token_head, 2}, {formats::int4, token_head, 4}, 2};
inline constexpr kv_format turboquant_3bit_nc{"turboquant_3bit_nc", {formats::int3, token_head, 2}, {formats::int3, token_head, 4}, 2};
/// KIVI 2-bit, fp16 scale and minimum per 32 elements; the last 128 tokens stay 16-bit.
inline constexpr kv_format kivi2{"kivi2", {formats::int2, block, 4, 32}, residual_rule::kivi, 128};
/// Transformers' QuantizedCache: 4 bits, scale and zero in 16 bits per 64 elements, the last 128 tokens 16-bit.
inline constexpr kv_format quantized_cache_int4{"quantized_cache_int4", {formats::int4, block, 4, 64}, residual_rule::whole, 128};
/// MLA caches with an 8-bit latent: DeepSeek-V3.2 (656 B a token for 512 + 64; fp32 scale per 128, bf16 rotary part),
/// its NVFP4 form (352 B), and DeepSeek-V4's entry (584 B for 448 + 64, slots of 8 B).
inline constexpr latent_parts fp8_ds_mla_parts   {{formats::fp8_e4m3, block, 4, 128}, formats::bf16, fp8_index_keys};
inline constexpr latent_parts fp8_ds_mla_v4_parts{{formats::fp8_e4m3, block, 1, 64}, formats::bf16, fp8_index_keys};
inline constexpr latent_parts nvfp4_ds_mla_parts {fp4_block16, formats::fp8_e4m3, fp8_index_keys};
inline constexpr kv_format fp8_ds_mla   {"fp8_ds_mla", formats::fp8_e4m3, fp8_ds_mla_parts};
inline constexpr kv_format fp8_ds_mla_v4{"fp8_ds_mla_v4", formats::fp8_e4m3, fp8_ds_mla_v4_parts, 8};
inline constexpr kv_format nvfp4_ds_mla {"nvfp4_ds_mla", formats::fp8_e4m3, nvfp4_ds_mla_parts};

inline constexpr const kv_format* all[] = {
    &fp8_per_tensor, &fp8_per_head, &int8_per_tensor, &int8_per_channel, &int8_per_head, &int8_per_token, &fp8_per_token,
    &int8_per_token_head, &fp8_per_token_head, &int4_per_token_head, &nvfp4, &fp4_e2m1, &sglang_int8, &lmdeploy_int8,
    &lmdeploy_int4, &lmdeploy_turboquant, &turboquant_k8v4, &turboquant_4bit_nc, &turboquant_k3v4_nc,
    &turboquant_3bit_nc, &kivi2, &quantized_cache_int4, &fp8_ds_mla, &fp8_ds_mla_v4, &nvfp4_ds_mla};
// clang-format on
}  // namespace kv_formats

}  // namespace kvbudget::inline v0
