#pragma once

// Generated from data/engines/cuda-driver.json by `cmake -P cmake/generate_constants.cmake`. Do not edit.

#include "kvbudget/units/measured_constant.hpp"

// clang-format off
namespace kvbudget::inline v0 {

/// What the GPU driver keeps for itself.
namespace constants {

/// Total of the driver (nvidia-smi) less the total that a program sees (cudaMemGetInfo): 0.3 to 0.9 GiB. It
/// depends on the driver branch and is about zero on Windows; 0.27 GiB (V100 32 GB), 0.44 (T4), 0.46
/// (H100), 0.60 (H200), 0.71 (B200), 0.86 (A100 80 GB), 0.90 (B300) follow from the pairs in data/gpus.
inline constexpr measured_constant driver_reserve{322122547, 644245094, 966367641, basis::assumed, "differences of the nvidia-smi and PyTorch totals in data/gpus, each with its own source there"};

}  // namespace constants
}  // namespace kvbudget::inline v0
// clang-format on
