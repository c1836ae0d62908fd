#pragma once

#include <cstdint>

#include "kvbudget/units/quantity.hpp"

namespace kvbudget::inline v0 {

/// Who makes the GPU.
enum class gpu_vendor : std::uint8_t { nvidia, amd, intel, apple };

/// Whether the hardware computes in a number format itself; `unknown` where no source says.
enum class native_support : std::uint8_t { unknown, emulated, native };

/// One GPU as its memory is seen from outside: what is printed on the box, what the driver reports, what a
/// program gets. A figure that no source gives is absent, which is 0 here: no such figure is ever 0.
///
/// Filled from `data/gpus/*.json` (each figure with its source there), either by the generated table or at
/// run time.
struct gpu_profile {
  char id[48] = {};    ///< lower case, words joined by `-`: `nvidia-h100-sxm-80gb`
  char name[80] = {};  ///< as the vendor writes it
  gpu_vendor vendor = gpu_vendor::nvidia;
  char architecture[24] = {};
  char compute_capability[16] = {};  ///< CUDA capability ("9.0") or LLVM target ("gfx942")

  std::uint64_t nominal_bytes = 0;       ///< marketed size, its GB read as 10^9: the "80 GB" on the box
  std::uint64_t driver_total_bytes = 0;  ///< as the driver reports it, ECC in the product's usual default
  std::uint64_t driver_total_ecc_off_bytes = 0;  ///< as the driver reports it with ECC switched off
  std::uint64_t driver_total_ecc_on_bytes = 0;   ///< as the driver reports it with ECC switched on
  std::uint64_t runtime_total_bytes =
      0;  ///< as a program sees it (cudaMemGetInfo total; Metal's working set)
  std::uint64_t runtime_total_rounding_bytes =
      0;  ///< half of the last printed digit of that figure (of a rule: half its spread); 0 = to the byte
  std::uint64_t ram_bytes = 0;  ///< unified memory: the machine's RAM, of which the GPU gets a part

  std::uint64_t bandwidth_bytes_per_second = 0;
  std::uint64_t bf16_dense_flops = 0;  ///< operations per second without sparsity (FP16 before BF16 existed)
  std::uint64_t fp8_dense_flops = 0;
  std::uint64_t int8_dense_ops = 0;
  std::uint64_t fp4_dense_flops = 0;
  native_support fp8 = native_support::unknown;
  native_support fp4 = native_support::unknown;
  std::uint64_t link_bytes_per_second = 0;  ///< GPU to GPU (NVLink and alike), both directions together
  std::uint32_t pcie_generation = 0;
  bool unified_memory = false;
  bool working_set_assumed = false;  ///< `runtime_total_bytes` comes from a rule, not from a measurement

  friend constexpr bool operator==(const gpu_profile&, const gpu_profile&) = default;
};

/// The CUDA compute capability of a GPU; 0 and 0 where it has none or nobody says.
struct compute_capability {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
};
/// "9.0" → 9 and 0.
[[nodiscard]] constexpr compute_capability capability_of(const gpu_profile& gpu) {
  compute_capability found;
  if (gpu.vendor != gpu_vendor::nvidia) return found;
  const char* c = gpu.compute_capability;
  for (; *c >= '0' && *c <= '9'; ++c) found.major = found.major * 10 + static_cast<std::uint32_t>(*c - '0');
  if (*c == '.') ++c;
  for (; *c >= '0' && *c <= '9'; ++c) found.minor = found.minor * 10 + static_cast<std::uint32_t>(*c - '0');
  return found;
}

}  // namespace kvbudget::inline v0
