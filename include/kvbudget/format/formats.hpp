#pragma once

#include "kvbudget/format/number_format.hpp"

/// The number formats that weights and caches are stored in.
///
/// Sources: IEEE 754 and OCP MX v1.0 for the element formats; ggml/src/ggml.c (type traits) of
/// ggml-org/llama.cpp for the ggml types; docs of bitsandbytes, GPTQModel, AutoAWQ, HQQ and
/// compressed-tensors for the grouped integers.
namespace kvbudget::inline v0::formats {

// clang-format off
/// "The dtype that the model's config names" (`torch_dtype`); resolved where a deployment is evaluated.
inline constexpr number_format automatic{"auto", 0, 0};

inline constexpr number_format fp32    {"fp32",     1, 4};
inline constexpr number_format bf16    {"bf16",     1, 2};
inline constexpr number_format fp16    {"fp16",     1, 2};
inline constexpr number_format fp8_e4m3{"fp8_e4m3", 1, 1};
inline constexpr number_format fp8_e5m2{"fp8_e5m2", 1, 1};
inline constexpr number_format int8    {"int8",     1, 1};
inline constexpr number_format int4    {"int4",     2, 1};  ///< plain: no scales
inline constexpr number_format int3    {"int3",     8, 3};
inline constexpr number_format int2    {"int2",     4, 1};
inline constexpr number_format fp4_e2m1{"fp4_e2m1", 2, 1};  ///< plain: no scales

// One E8M0 byte per 32 elements (OCP Microscaling v1.0).
inline constexpr number_format mxfp8{"mxfp8", 32, 33};
inline constexpr number_format mxfp6{"mxfp6", 32, 25};
inline constexpr number_format mxfp4{"mxfp4", 32, 17};
// One E4M3 byte per 16 elements; the tensor's global scale is counted by the weight scheme.
inline constexpr number_format nvfp4{"nvfp4", 16, 9};
// bitsandbytes: an fp32 absmax per 64; double quantization: int8 absmax per 64, fp32 per 256 absmax.
inline constexpr number_format nf4             {"nf4",     64,    36};
inline constexpr number_format nf4_double_quant{"nf4_dq",  16384, 8452};
// Grouped 4-bit integers: fp16 scale (and packed 4-bit zero point) per group.
inline constexpr number_format int4_group128{"int4_g128", 128, 66};   ///< symmetric: 4.125 bits
inline constexpr number_format gptq_group128{"gptq_g128", 256, 133};  ///< 4.15625 bits, g_idx apart
inline constexpr number_format awq_group128 {"awq_g128",  256, 133};  ///< 4.15625 bits
inline constexpr number_format int4_group32 {"int4_g32",  32,  20};   ///< bf16 scale and zero: 5 bits
// HQQ with group 64: scale and zero in fp16; 3-bit packs ten to a 32-bit word.
inline constexpr number_format hqq8{"hqq8_g64", 64,  68};
inline constexpr number_format hqq4{"hqq4_g64", 64,  36};
inline constexpr number_format hqq3{"hqq3_g64", 320, 148};
inline constexpr number_format hqq2{"hqq2_g64", 64,  20};

// The complete ggml type table (fp32, fp16, bf16 and mxfp4 are shared with the above).
inline constexpr number_format q4_0   {"q4_0",    32,  18,  true};
inline constexpr number_format q4_1   {"q4_1",    32,  20,  true};
inline constexpr number_format q5_0   {"q5_0",    32,  22,  true};
inline constexpr number_format q5_1   {"q5_1",    32,  24,  true};
inline constexpr number_format q8_0   {"q8_0",    32,  34,  true};
inline constexpr number_format q8_1   {"q8_1",    32,  36,  true};
inline constexpr number_format q2_k   {"q2_K",    256, 84,  true};
inline constexpr number_format q3_k   {"q3_K",    256, 110, true};
inline constexpr number_format q4_k   {"q4_K",    256, 144, true};
inline constexpr number_format q5_k   {"q5_K",    256, 176, true};
inline constexpr number_format q6_k   {"q6_K",    256, 210, true};
inline constexpr number_format q8_k   {"q8_K",    256, 292, true};
inline constexpr number_format iq2_xxs{"iq2_xxs", 256, 66,  true};
inline constexpr number_format iq2_xs {"iq2_xs",  256, 74,  true};
inline constexpr number_format iq2_s  {"iq2_s",   256, 82,  true};
inline constexpr number_format iq3_xxs{"iq3_xxs", 256, 98,  true};
inline constexpr number_format iq3_s  {"iq3_s",   256, 110, true};
inline constexpr number_format iq1_s  {"iq1_s",   256, 50,  true};
inline constexpr number_format iq1_m  {"iq1_m",   256, 56,  true};
inline constexpr number_format iq4_nl {"iq4_nl",  32,  18,  true};
inline constexpr number_format iq4_xs {"iq4_xs",  256, 136, true};
inline constexpr number_format tq1_0  {"tq1_0",   256, 54,  true};
inline constexpr number_format tq2_0  {"tq2_0",   256, 66,  true};
inline constexpr number_format q1_0   {"q1_0",    128, 18,  true};
inline constexpr number_format q2_0   {"q2_0",    64,  18,  true};
inline constexpr number_format ggml_mxfp4{"ggml_mxfp4", 32, 17, true};
inline constexpr number_format ggml_nvfp4{"ggml_nvfp4", 64, 36, true};
inline constexpr number_format fp64 {"fp64",  1, 8};
inline constexpr number_format int16{"int16", 1, 2};
inline constexpr number_format int32{"int32", 1, 4};
inline constexpr number_format int64{"int64", 1, 8};

/// Every format above, for lookup by name.
inline constexpr const number_format* all[] = {
    &fp32, &bf16, &fp16, &fp8_e4m3, &fp8_e5m2, &int8, &int4, &int3, &int2, &fp4_e2m1, &mxfp8, &mxfp6, &mxfp4, &nvfp4,
    &nf4, &nf4_double_quant, &int4_group128, &gptq_group128, &awq_group128, &int4_group32, &hqq8, &hqq4, &hqq3, &hqq2,
    &q4_0, &q4_1, &q5_0, &q5_1, &q8_0, &q8_1, &q2_k, &q3_k, &q4_k, &q5_k, &q6_k, &q8_k, &iq2_xxs, &iq2_xs, &iq2_s,
    &iq3_xxs, &iq3_s, &iq1_s, &iq1_m, &iq4_nl, &iq4_xs, &tq1_0, &tq2_0, &q1_0, &q2_0, &ggml_mxfp4, &ggml_nvfp4,
    &fp64, &int16, &int32, &int64, &automatic};
// clang-format on

}  // namespace kvbudget::inline v0::formats
