#pragma once

// Generated from data/engines/ollama.json by `cmake -P cmake/generate_constants.cmake`. Do not edit.

#include "kvbudget/units/measured_constant.hpp"

// clang-format off
namespace kvbudget::inline v0 {

/// What Ollama's scheduler sets aside before it starts llama-server.
namespace constants {

/// What Ollama adds to its prediction for batches of 2,048 tokens: 2 GiB.
inline constexpr measured_constant ollama_large_batch_surcharge{2147483648, 2147483648, 2147483648, basis::exact, "ollama/ollama server/sched.go (generationBatchSurcharge)"};

/// The same for batches of 1,024 tokens: 768 MiB.
inline constexpr measured_constant ollama_medium_batch_surcharge{805306368, 805306368, 805306368, basis::exact, "ollama/ollama server/sched.go (generationBatchSurcharge)"};

/// Memory of each CUDA or ROCm GPU that Ollama plans nothing into: 457 MiB.
inline constexpr measured_constant ollama_minimum_memory{479199232, 479199232, 479199232, basis::exact, "ollama/ollama ml/device.go (MinimumMemory)"};

/// The same of a Metal GPU: 512 MiB.
inline constexpr measured_constant ollama_minimum_memory_metal{536870912, 536870912, 536870912, basis::exact, "ollama/ollama ml/device.go (MinimumMemory)"};

/// What Ollama wants beside the weights of a projector on the GPU that it goes to: 1 GiB.
inline constexpr measured_constant ollama_projector_headroom{1073741824, 1073741824, 1073741824, basis::exact, "ollama/ollama llm/llama_server.go (mmprojOffloadHeadroom)"};

}  // namespace constants
}  // namespace kvbudget::inline v0
// clang-format on
