#pragma once

// Generated from data/engines/sglang.json by `cmake -P cmake/generate_constants.cmake`. Do not edit.

#include "kvbudget/units/measured_constant.hpp"

// clang-format off
namespace kvbudget::inline v0 {

/// What SGLang keeps on each GPU beside weights, pools and activations.
namespace constants {

/// Work buffers that the attention backend takes after the pools: none (Triton, FlashAttention 3), 384 MiB
/// (FlashInfer's default buffer); 0.63 GiB between the lines 'Memory pool end' and 'Capture cuda graph
/// begin' on a 16 GB card.
inline constexpr measured_constant sglang_attention_workspace{0, 402653184, 676457349, basis::assumed, "sgl-project/sglang srt/environ.py (SGLANG_FLASHINFER_WORKSPACE_SIZE); a start-up log of Qwen3-0.6B in a public repository, 2025-08"};

/// Memory that setting up tensor ranks joined by NVLink takes before loading: 1.25 GiB (8 H100, 2025-09),
/// 2.01 GiB (8 H200, 2025-10), 2.50 GiB (8 B200, 2025-05).
inline constexpr measured_constant sglang_communication_linked{1342177280, 2158221066, 2684354560, basis::calibrated, "the lines 'Init torch distributed ends' of sgl-project/sglang pull requests 11716 (2.01 GB) and 5390 (2.50 GB), and of a start-up log in a public repository (1.25 GB)"};

/// Memory that setting up ranks takes before loading, ranks joined by PCIe or by pipeline stages only: 0.16
/// GiB (4 pipeline stages), 0.39 GiB (4 RTX PRO 6000). High: as the lowest with NVLink.
inline constexpr measured_constant sglang_communication_unlinked{171798692, 418759311, 1342177280, basis::calibrated, "the lines 'Init torch distributed ends' of sgl-project/sglang pull request 12362 (0.16 GB) and issue 40558 (0.39 GB)"};

/// Captured decode graphs of one SGLang rank: 0.11 GiB (Qwen3-0.6B, 4 sizes up to 8), 0.73 GiB (Nemotron
/// hybrid on 4 ranks, 8 sizes up to 32), 1.40 GiB (Llama 4 Maverick), 2.66 GiB (Gemma 4 26B), 6.22 GiB
/// (DeepSeek-V3 on H200, sizes up to 256).
inline constexpr measured_constant sglang_cuda_graphs{118111601, 783831531, 6678674145, basis::calibrated, "SGLang start-up logs in public repositories (2025-08, 2026-09; the lines 'Capture cuda graph end'); sgl-project/sglang issue 8538 (1.40 GiB); sgl-project/sglang pull request 5893 (6.22 GiB)"};

}  // namespace constants
}  // namespace kvbudget::inline v0
// clang-format on
