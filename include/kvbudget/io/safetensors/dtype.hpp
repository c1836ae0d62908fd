#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace kvbudget::inline v0 {

/// How the elements of a tensor are stored in a `.safetensors` file, under the names that its header uses in
/// capitals (huggingface/safetensors, safetensors/src/tensor.rs, `Dtype`).
enum class safetensors_dtype : std::uint8_t {
  boolean,
  f4,
  f6_e2m3,
  f6_e3m2,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  f8_e8m0,
  f8_e4m3fnuz,
  f8_e5m2fnuz,
  i16,
  u16,
  f16,
  bf16,
  i32,
  u32,
  f32,
  c64,
  f64,
  i64,
  u64
};

namespace detail {
struct safetensors_dtype_entry {
  const char* name;
  std::uint32_t bits;
};
inline constexpr safetensors_dtype_entry safetensors_dtypes[] = {
    {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6},     {"U8", 8},          {"I8", 8},
    {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
    {"U16", 16},    {"F16", 16},    {"BF16", 16},   {"I32", 32},        {"U32", 32},        {"F32", 32},
    {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}};
}  // namespace detail

inline constexpr std::size_t safetensors_dtype_count = std::size(detail::safetensors_dtypes);
static_assert(safetensors_dtype_count == static_cast<std::size_t>(safetensors_dtype::u64) + 1);

/// The name in a header: `F8_E4M3`.
[[nodiscard]] constexpr const char* name_of(safetensors_dtype dtype) {
  return detail::safetensors_dtypes[static_cast<std::size_t>(dtype)].name;
}

/// Bits of one element; F4 and F6 fill less than a byte.
[[nodiscard]] constexpr std::uint32_t bits_of(safetensors_dtype dtype) {
  return detail::safetensors_dtypes[static_cast<std::size_t>(dtype)].bits;
}

/// The dtype of that name; nothing if the format has no such dtype.
[[nodiscard]] constexpr std::optional<safetensors_dtype> safetensors_dtype_named(std::string_view name) {
  for (std::size_t i = 0; i < safetensors_dtype_count; ++i) {
    if (name == detail::safetensors_dtypes[i].name) return static_cast<safetensors_dtype>(i);
  }
  return std::nullopt;
}

}  // namespace kvbudget::inline v0
