#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/format/formats.hpp"

namespace kvbudget::inline v0 {

/// Where the scale factors of a quantized matrix (R rows = outputs, C columns = inputs) sit.
enum class weight_scales : std::uint8_t {
  none,     ///< nothing beside the payload
  tensor,   ///< one per matrix
  channel,  ///< one per row
  group,    ///< ⌈C / group⌉ per row
  block,    ///< ⌈R / group⌉ × ⌈C / group⌉
  flat      ///< ⌈R × C / group⌉: groups run over the flattened matrix
};

/// How weights are stored: a plain number format for every element, or a quantization scheme that covers the
/// linear layers only and leaves embeddings, head, norms, biases and routers in the model's dtype.
///
/// Bytes of one covered matrix = payload + scales × `scale_bytes` + packed zero points + C × `column_bytes` +
/// `matrix_bytes`. A number format converts to its plain scheme; a default scheme means "the dtype that the
/// model's config names".
struct weight_scheme {
  char name[24] = "auto";
  number_format payload{};    ///< of the covered matrices
  bool every_element = true;  ///< plain: norms, biases and embeddings too
  bool packed_rows = false;   ///< every row is packed into whole 32-bit words
  weight_scales scales = weight_scales::none;
  std::uint32_t group = 0;  ///< elements per group, or side of a block
  std::uint8_t scale_bytes =
      0;  ///< expected bytes of one scale (with a zero point of its own, if it has one)
  std::uint8_t scale_bytes_low = 0;    ///< where checkpoints differ
  std::uint8_t scale_bytes_high = 0;   ///< where checkpoints differ
  std::uint8_t zero_bits = 0;          ///< bits of one zero point, packed along the rows into 32-bit words
  std::uint8_t column_bytes = 0;       ///< per input column (GPTQ's g_idx)
  std::uint8_t matrix_bytes = 0;       ///< per matrix (global scales, shape tensors)
  std::uint16_t scales_per_super = 0;  ///< double quantization: so many scales share one fp32

  weight_scheme() = default;
  constexpr weight_scheme(const number_format& plain)
      : payload(plain) {  // NOLINT: a format is a plain scheme
    for (int i = 0; i < 16; ++i) name[i] = plain.name[i];
  }
  template <std::size_t N>
  constexpr weight_scheme(const char (&scheme)[N], const number_format& stored, weight_scales where,
                          std::uint32_t group_size, std::uint8_t bytes_per_scale)
      : payload(stored),
        every_element(false),
        scales(where),
        group(group_size),
        scale_bytes(bytes_per_scale),
        scale_bytes_low(bytes_per_scale),
        scale_bytes_high(bytes_per_scale) {
    static_assert(N <= sizeof(name));
    for (std::size_t i = 0; i < sizeof(name); ++i) name[i] = i < N ? scheme[i] : '\0';
  }

  [[nodiscard]] constexpr bool is_automatic() const { return payload.is_automatic(); }
  [[nodiscard]] constexpr weight_scheme with_zeros(std::uint8_t bits) const {
    weight_scheme copy = *this;
    copy.zero_bits = bits;
    return copy;
  }
  [[nodiscard]] constexpr weight_scheme with_packed_rows() const {
    weight_scheme copy = *this;
    copy.packed_rows = true;
    return copy;
  }
  [[nodiscard]] constexpr weight_scheme with_column_bytes(std::uint8_t count) const {
    weight_scheme copy = *this;
    copy.column_bytes = count;
    return copy;
  }
  [[nodiscard]] constexpr weight_scheme with_matrix_bytes(std::uint8_t count) const {
    weight_scheme copy = *this;
    copy.matrix_bytes = count;
    return copy;
  }
  [[nodiscard]] constexpr weight_scheme with_super_scales(std::uint16_t scales_each) const {
    weight_scheme copy = *this;
    copy.scales_per_super = scales_each;
    return copy;
  }
  [[nodiscard]] constexpr weight_scheme with_scale_range(std::uint8_t low, std::uint8_t high) const {
    weight_scheme copy = *this;
    copy.scale_bytes_low = low;
    copy.scale_bytes_high = high;
    return copy;
  }
  friend constexpr bool operator==(const weight_scheme&, const weight_scheme&) = default;
};

/// The quantization schemes by the names that checkpoints and engines use.
///
/// Sources: vllm-project/compressed-tensors presets (FP8, FP8_DYNAMIC, FP8_BLOCK, W8A8, W4A16, NVFP4, MXFP4);
/// ModelCloud/GPTQModel qlinear and Marlin packing; casper-hansen/AutoAWQ gemm; bitsandbytes functional.py;
/// mobiusml/hqq quantize.py.
namespace schemes {
/// FP8 with one fp32 scale per matrix.
inline constexpr weight_scheme fp8_linear{"fp8_linear", formats::fp8_e4m3, weight_scales::tensor, 0, 4};
/// FP8 with one scale per output row, in the checkpoint's 16-bit dtype or in fp32.
inline constexpr weight_scheme fp8_channel =
    weight_scheme{"fp8_channel", formats::fp8_e4m3, weight_scales::channel, 0, 2}.with_scale_range(2, 4);
/// FP8 with one fp32 scale per 128 × 128 block (DeepSeek-V3 style).
inline constexpr weight_scheme fp8_block{"fp8_block", formats::fp8_e4m3, weight_scales::block, 128, 4};
/// INT8 W8A8 with one scale per output row.
inline constexpr weight_scheme int8_channel =
    weight_scheme{"int8_channel", formats::int8, weight_scales::channel, 0, 2}.with_scale_range(2, 4);
/// bitsandbytes LLM.int8(): one fp32 statistic per output row.
inline constexpr weight_scheme llm_int8{"llm_int8", formats::int8, weight_scales::channel, 0, 4};
/// compressed-tensors W4A16, group 128, symmetric; an int64 shape pair per matrix.
inline constexpr weight_scheme w4a16 =
    weight_scheme{"w4a16", formats::int4, weight_scales::group, 128, 2}.with_packed_rows().with_matrix_bytes(
        16);
/// The same with a packed 4-bit zero point per group.
inline constexpr weight_scheme w4a16_asymmetric =
    weight_scheme{"w4a16_asym", formats::int4, weight_scales::group, 128, 2}
        .with_packed_rows()
        .with_zeros(4)
        .with_matrix_bytes(16);
/// GPTQ checkpoint, 4 bits, group 128: qweight, fp16 scales, packed zeros and g_idx.
inline constexpr weight_scheme gptq = weight_scheme{"gptq", formats::int4, weight_scales::group, 128, 2}
                                          .with_packed_rows()
                                          .with_zeros(4)
                                          .with_column_bytes(4);
/// The same once an engine has repacked it for Marlin: no zeros, no g_idx.
inline constexpr weight_scheme gptq_marlin =
    weight_scheme{"gptq_marlin", formats::int4, weight_scales::group, 128, 2}.with_packed_rows();
/// AWQ gemm, 4 bits, group 128: fp16 scales and packed zeros.
inline constexpr weight_scheme awq =
    weight_scheme{"awq", formats::int4, weight_scales::group, 128, 2}.with_packed_rows().with_zeros(4);
/// bitsandbytes NF4: fp32 absmax per 64 elements.
inline constexpr weight_scheme nf4{"nf4", formats::int4, weight_scales::flat, 64, 4};
/// NF4 with double quantization: int8 absmax per 64, an fp32 per 256 of them, one fp32 offset.
inline constexpr weight_scheme nf4_double_quant =
    weight_scheme{"nf4_dq", formats::int4, weight_scales::flat, 64, 1}
        .with_super_scales(256)
        .with_matrix_bytes(4);
/// OCP microscaling: one E8M0 byte per 32 columns.
inline constexpr weight_scheme mxfp8{"mxfp8", formats::fp8_e4m3, weight_scales::group, 32, 1};
inline constexpr weight_scheme mxfp4{"mxfp4", formats::fp4_e2m1, weight_scales::group, 32, 1};
/// NVFP4: one E4M3 byte per 16 columns, an fp32 global scale and an fp32 input scale per matrix.
inline constexpr weight_scheme nvfp4 =
    weight_scheme{"nvfp4", formats::fp4_e2m1, weight_scales::group, 16, 1}.with_matrix_bytes(8);
/// HQQ 4 bits, group 64: scale and zero in fp16.
inline constexpr weight_scheme hqq{"hqq", formats::int4, weight_scales::flat, 64, 4};

inline constexpr const weight_scheme* all[] = {
    &fp8_linear, &fp8_channel, &fp8_block, &int8_channel, &llm_int8,         &w4a16, &w4a16_asymmetric,
    &gptq,       &gptq_marlin, &awq,       &nf4,          &nf4_double_quant, &mxfp8, &mxfp4,
    &nvfp4,      &hqq};
}  // namespace schemes

}  // namespace kvbudget::inline v0
