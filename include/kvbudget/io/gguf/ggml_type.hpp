#pragma once

#include <cstdint>

#include "kvbudget/detail/checked.hpp"
#include "kvbudget/format/formats.hpp"
#include "kvbudget/format/weight_scheme.hpp"

namespace kvbudget::inline v0 {

/// How ggml stores a tensor of one type: rows of whole blocks, each row led by `row_bytes` of its own (only
/// types of ik_llama.cpp have them).
struct ggml_type {
  std::uint32_t id = 0;  ///< as tensor infos give it
  number_format format{};
  std::uint32_t row_bytes = 0;

  /// Bytes of a row of `elements`, which must be whole blocks: row_bytes + elements / block_elements ×
  /// block_bytes. Sizes that need more than 64 bits stop.
  [[nodiscard]] constexpr std::uint64_t row_size(std::uint64_t elements) const {
    return detail::checked_add(row_bytes, format.size_of(elements).value);
  }
  /// The same as a weight scheme; what leads the rows is one scale per row there.
  [[nodiscard]] constexpr weight_scheme scheme() const {
    if (row_bytes == 0) return weight_scheme{format};
    weight_sidecar leads;
    leads.scales = weight_scales::channel;
    leads.scale_bytes = static_cast<std::uint8_t>(row_bytes);
    return weight_scheme{format.name, format, leads};
  }
};

namespace detail {

// clang-format off
/// The types that files hold. Sources: enum ggml_type and the type traits of ggml-org/llama.cpp, ggml/include/ggml.h and
/// ggml/src/ggml.c; from 133 on ikawrakow/ik_llama.cpp, ggml/include/ggml.h and ggml/src/ggml-common.h. Numbers that are
/// missing were never given out, or belong to formats that were removed.
inline constexpr ggml_type ggml_types[] = {
    {0, formats::fp32}, {1, formats::fp16}, {2, formats::q4_0}, {3, formats::q4_1}, {6, formats::q5_0}, {7, formats::q5_1},
    {8, formats::q8_0}, {9, formats::q8_1}, {10, formats::q2_k}, {11, formats::q3_k}, {12, formats::q4_k},
    {13, formats::q5_k}, {14, formats::q6_k}, {15, formats::q8_k}, {16, formats::iq2_xxs}, {17, formats::iq2_xs},
    {18, formats::iq3_xxs}, {19, formats::iq1_s}, {20, formats::iq4_nl}, {21, formats::iq3_s}, {22, formats::iq2_s},
    {23, formats::iq4_xs}, {24, formats::int8}, {25, formats::int16}, {26, formats::int32}, {27, formats::int64},
    {28, formats::fp64}, {29, formats::iq1_m}, {30, formats::bf16}, {34, formats::tq1_0}, {35, formats::tq2_0},
    {39, formats::ggml_mxfp4}, {40, formats::ggml_nvfp4}, {41, formats::q1_0}, {42, formats::q2_0},
    {133, {"q6_0", 32, 26, true}},
    {134, {"iq1_bn", 64, 13, true}, 2},
    {135, {"iq2_bn", 64, 16, true}, 4},
    {136, {"q8_K64", 64, 68, true}},
    {137, {"iq2_k", 256, 76, true}},
    {138, {"iq3_k", 256, 110, true}},
    {139, {"iq4_k", 256, 144, true}},
    {140, {"iq5_k", 256, 176, true}},
    {141, {"iq6_k", 256, 212, true}},
    {144, {"iq4_ks", 256, 136, true}, 4},
    {145, {"iq2_ks", 256, 70, true}, 2},
    {146, {"iq4_kss", 256, 128, true}, 4},
    {151, {"q8_KV", 32, 32, true}, 8},
    {152, {"iq5_ks", 256, 168, true}, 4},
    {153, {"iq2_kt", 256, 68, true}, 4},
    {154, {"iq3_kt", 256, 100, true}, 4},
    {155, {"iq4_kt", 256, 128, true}, 4},
    {156, {"iq3_ks", 256, 102, true}, 2},
    {157, {"iq2_kl", 256, 86, true}, 2},
    {158, {"iq1_kt", 256, 56, true}, 4},
    {219, {"iq1_s_r4", 32, 6, true}, 2},
    {229, {"iq1_m_r4", 32, 7, true}, 2},
    {397, {"q8_K_r16", 256, 258, true}},
    {398, {"q8_KV_r8", 32, 32, true}, 4},
    {399, {"q8_K_r8", 256, 258, true}},
};
/// Types of which ik_llama.cpp has a form with interleaved rows: id + 200, same bytes.
inline constexpr std::uint32_t interleaved_ggml_types[] = {2,  6,  8,  10, 11, 12, 13,  14,  16,  17,  18,  20,  21,
                                                           22, 23, 30, 133, 135, 137, 138, 139, 140, 144, 152};
// clang-format on

[[nodiscard]] constexpr const ggml_type* listed_ggml_type(std::uint32_t id) {
  for (const ggml_type& type : ggml_types) {
    if (type.id == id) return &type;
  }
  return nullptr;
}

}  // namespace detail

/// The type with this number; null for removed and unknown ones.
[[nodiscard]] constexpr const ggml_type* find_ggml_type(std::uint32_t id) {
  if (const ggml_type* type = detail::listed_ggml_type(id)) return type;
  for (const std::uint32_t base : detail::interleaved_ggml_types) {
    if (id == base + 200) return detail::listed_ggml_type(base);
  }
  return nullptr;
}

}  // namespace kvbudget::inline v0
