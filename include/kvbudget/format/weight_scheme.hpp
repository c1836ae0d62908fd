#pragma once

#include <cstdint>

#include "kvbudget/format/formats.hpp"

namespace kvbudget::inline v0 {

/// Where the scale factors of a quantized matrix (R rows = outputs, C columns = inputs) sit.
enum class weight_scales : std::uint8_t {
  none,     ///< nothing beside the payload
  tensor,   ///< one per matrix
  channel,  ///< one per row; so are zero points
  group,    ///< ⌈C / group⌉ per row
  block,    ///< ⌈R / group_rows⌉ × ⌈C / group⌉
  flat      ///< ⌈R × C / group⌉: groups run over the flattened matrix
};

/// What a quantized matrix stores beside its payload.
struct weight_sidecar {
  weight_scales scales = weight_scales::none;
  std::uint32_t group = 0;       ///< elements per group, or columns of a block
  std::uint32_t group_rows = 0;  ///< rows of a block; 0 = as many as columns
  std::uint8_t scale_bytes =
      0;  ///< expected bytes of one scale (with a zero point of its own, if it has one)
  std::uint8_t scale_bytes_high = 0;   ///< where checkpoints differ; the expected size is the lowest
  std::uint8_t zero_bits = 0;          ///< bits of one zero point, packed along the rows into 32-bit words
  std::uint8_t column_bytes = 0;       ///< per input column (GPTQ's g_idx)
  std::uint8_t matrix_bytes = 0;       ///< per matrix (global and input scales, shape tensors)
  std::uint16_t scales_per_super = 0;  ///< double quantization: so many scales share one fp32
  bool packed_rows = false;            ///< every row is packed into whole 32-bit words
  /// Rows that a block has.
  [[nodiscard]] constexpr std::uint32_t rows() const { return group_rows == 0 ? group : group_rows; }
  friend constexpr bool operator==(const weight_sidecar&, const weight_sidecar&) = default;
};

/// How weights are stored: a plain number format for every element, or a quantization scheme that covers the
/// linear layers only and leaves embeddings, head, norms, biases and routers in the model's dtype.
///
/// Bytes of one covered matrix = payload + scales × `scale_bytes` + packed zero points + C × `column_bytes` +
/// `matrix_bytes`. A number format converts to its plain scheme; a default scheme means "the dtype that the
/// model's config names".
struct weight_scheme {
  const char* name = "auto";
  number_format payload{};    ///< of the covered matrices
  bool every_element = true;  ///< plain: norms, biases and embeddings too
  weight_sidecar sidecar{};

  weight_scheme() = default;
  constexpr weight_scheme(const number_format& plain)  // NOLINT: a format is a plain scheme
      : name(plain.name), payload(plain) {}
  constexpr weight_scheme(const char* scheme, const number_format& stored, const weight_sidecar& beside)
      : name(scheme), payload(stored), every_element(false), sidecar(beside) {}

  [[nodiscard]] constexpr bool is_automatic() const { return payload.is_automatic(); }
  /// Schemes are the same when they store the same way, whatever they are called.
  friend constexpr bool operator==(const weight_scheme& a, const weight_scheme& b) {
    return a.payload == b.payload && a.every_element == b.every_element && a.sidecar == b.sidecar;
  }
};

// clang-format off
/// The quantization schemes by the names that checkpoints and engines use.
///
/// Sources: vllm-project/compressed-tensors presets (FP8, FP8_DYNAMIC, FP8_BLOCK, W8A8, W4A16, NVFP4, MXFP4);
/// ModelCloud/GPTQModel qlinear and Marlin packing; casper-hansen/AutoAWQ gemm; bitsandbytes functional.py;
/// mobiusml/hqq quantize.py.
namespace schemes {
/// FP8 with one fp32 scale per matrix.
inline constexpr weight_scheme fp8_linear{"fp8_linear", formats::fp8_e4m3, {.scales = weight_scales::tensor, .scale_bytes = 4}};
/// FP8 or INT8 with one scale per output row, in the checkpoint's 16-bit dtype or in fp32.
inline constexpr weight_scheme fp8_channel{"fp8_channel", formats::fp8_e4m3, {.scales = weight_scales::channel, .scale_bytes = 2, .scale_bytes_high = 4}};
inline constexpr weight_scheme int8_channel{"int8_channel", formats::int8, {.scales = weight_scales::channel, .scale_bytes = 2, .scale_bytes_high = 4}};
/// FP8 with one fp32 scale per 128 × 128 block (DeepSeek-V3 style).
inline constexpr weight_scheme fp8_block{"fp8_block", formats::fp8_e4m3, {.scales = weight_scales::block, .group = 128, .scale_bytes = 4}};
/// bitsandbytes LLM.int8(): one fp32 statistic per output row.
inline constexpr weight_scheme llm_int8{"llm_int8", formats::int8, {.scales = weight_scales::channel, .scale_bytes = 4}};
/// compressed-tensors W4A16, group 128: 16-bit scales and an int64 shape pair; asymmetric with packed 4-bit zeros.
inline constexpr weight_scheme w4a16{"w4a16", formats::int4, {.scales = weight_scales::group, .group = 128, .scale_bytes = 2, .matrix_bytes = 16, .packed_rows = true}};
inline constexpr weight_scheme w4a16_asymmetric{"w4a16_asym", formats::int4, {.scales = weight_scales::group, .group = 128, .scale_bytes = 2, .zero_bits = 4, .matrix_bytes = 16, .packed_rows = true}};
/// GPTQ checkpoint, 4 bits, group 128: qweight, fp16 scales, packed zeros and g_idx.
inline constexpr weight_scheme gptq{"gptq", formats::int4, {.scales = weight_scales::group, .group = 128, .scale_bytes = 2, .zero_bits = 4, .column_bytes = 4, .packed_rows = true}};
/// The same once an engine has repacked it for Marlin: no zeros, no g_idx.
inline constexpr weight_scheme gptq_marlin{"gptq_marlin", formats::int4, {.scales = weight_scales::group, .group = 128, .scale_bytes = 2, .packed_rows = true}};
/// AWQ gemm, 4 bits, group 128: fp16 scales and packed zeros.
inline constexpr weight_scheme awq{"awq", formats::int4, {.scales = weight_scales::group, .group = 128, .scale_bytes = 2, .zero_bits = 4, .packed_rows = true}};
/// bitsandbytes NF4: fp32 absmax per 64 elements; with double quantization an int8 absmax per 64, an fp32 per 256 of
/// them and one fp32 offset.
inline constexpr weight_scheme nf4{"nf4", formats::int4, {.scales = weight_scales::flat, .group = 64, .scale_bytes = 4}};
inline constexpr weight_scheme nf4_double_quant{"nf4_dq", formats::int4, {.scales = weight_scales::flat, .group = 64, .scale_bytes = 1, .matrix_bytes = 4, .scales_per_super = 256}};
/// OCP microscaling: one E8M0 byte per 32 columns.
inline constexpr weight_scheme mxfp8{"mxfp8", formats::fp8_e4m3, {.scales = weight_scales::group, .group = 32, .scale_bytes = 1}};
inline constexpr weight_scheme mxfp4{"mxfp4", formats::fp4_e2m1, {.scales = weight_scales::group, .group = 32, .scale_bytes = 1}};
/// NVFP4: one E4M3 byte per 16 columns, an fp32 global scale and an fp32 input scale per matrix.
inline constexpr weight_scheme nvfp4{"nvfp4", formats::fp4_e2m1, {.scales = weight_scales::group, .group = 16, .scale_bytes = 1, .matrix_bytes = 8}};
/// HQQ 4 bits, group 64: scale and zero in fp16.
inline constexpr weight_scheme hqq{"hqq", formats::int4, {.scales = weight_scales::flat, .group = 64, .scale_bytes = 4}};

inline constexpr const weight_scheme* all[] = {
    &fp8_linear, &fp8_channel, &int8_channel, &fp8_block, &llm_int8, &w4a16, &w4a16_asymmetric, &gptq, &gptq_marlin,
    &awq, &nf4, &nf4_double_quant, &mxfp8, &mxfp4, &nvfp4, &hqq};
}  // namespace schemes
// clang-format on

}  // namespace kvbudget::inline v0
