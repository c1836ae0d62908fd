#pragma once

// Generated from data/engines/llama-cpp.json by `cmake -P cmake/generate_constants.cmake`. Do not edit.

#include "kvbudget/units/measured_constant.hpp"

// clang-format off
namespace kvbudget::inline v0 {

/// What llama.cpp keeps on each GPU outside every buffer that it reports.
namespace constants {

/// CUDA context, kernels, cuBLAS and its pool on one GPU: 451 and 456 MiB are unaccounted for on three RTX
/// 4090 after a run; 264 MiB (RTX 3090) and 180 MiB (RTX 2000 Ada) are gone before anything is loaded.
/// High: the 1024 MiB that llama.cpp itself leaves free for it.
inline constexpr measured_constant llama_cpp_cuda_context{188743680, 478150656, 1073741824, basis::calibrated, "ggml-org/llama.cpp pull request 15860 (451 and 456 MiB), pull request 22673 (180 MiB), common/common.h (1024 MiB); ollama/ollama issue 17482 (264 MiB)"};

/// Memory that --fit leaves free on every GPU (--fit-target).
inline constexpr measured_constant llama_cpp_fit_margin{1073741824, 1073741824, 1073741824, basis::exact, "ggml-org/llama.cpp common/common.h, common/fit.cpp"};

}  // namespace constants
}  // namespace kvbudget::inline v0
// clang-format on
