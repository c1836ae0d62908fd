#pragma once

#include <cstdint>

#include "kvbudget/engine/pool_engine.hpp"

namespace kvbudget::inline v0 {

/// What differs between releases of TensorRT-LLM. Sources: NVIDIA/TensorRT-LLM,
/// tensorrt_llm/_torch/pyexecutor/_util.py and resource_manager.py of several releases; its
/// docs/source/reference/ memory.md for the TensorRT runtime.
struct tensorrt_llm_rules {
  engine_version since{};
  double free_gpu_memory_fraction = 0.9;
  std::uint16_t tokens_per_block = 32;
  std::uint16_t cuda_graph_max_batch_size = 128;  ///< 0 = captures none unless asked to
  bool pytorch = true;     ///< trtllm-serve runs the PyTorch backend, which measures what a step needs
  bool rounds_up = false;  ///< the last block may hold tokens that were not paid for
  bool prints_whole_blocks = true;     ///< false: the log's tokens are those before rounding up to a block
  bool states_within_fraction = true;  ///< recurrent states come out of the cache's share; false: before it
};

/// Releases by their first version, oldest first. Where a tag is not known, the release in which a rule was
/// first seen.
inline constexpr tensorrt_llm_rules tensorrt_llm_releases[] = {
    {.since = {0, 0},
     .free_gpu_memory_fraction = 0.85,
     .tokens_per_block = 64,
     .cuda_graph_max_batch_size = 0,
     .pytorch = false,
     .rounds_up = true,
     .prints_whole_blocks = false,
     .states_within_fraction = false},
    {.since = {0, 8},
     .free_gpu_memory_fraction = 0.85,
     .tokens_per_block = 64,
     .cuda_graph_max_batch_size = 0,
     .pytorch = false,
     .rounds_up = true,
     .states_within_fraction = false},
    {.since = {0, 10},
     .tokens_per_block = 64,
     .cuda_graph_max_batch_size = 0,
     .pytorch = false,
     .rounds_up = true,
     .states_within_fraction = false},
    {.since = {0, 18},
     .cuda_graph_max_batch_size = 0,
     .pytorch = false,
     .rounds_up = true,
     .states_within_fraction = false},
    {.since = {1, 0}, .rounds_up = true, .states_within_fraction = false},
    {.since = {1, 2}},
};

/// The rules of a release.
[[nodiscard]] constexpr const tensorrt_llm_rules& tensorrt_llm_rules_of(engine_version version) {
  const tensorrt_llm_rules* found =
      tensorrt_llm_releases + sizeof(tensorrt_llm_releases) / sizeof(tensorrt_llm_rules) - 1;
  while (found != tensorrt_llm_releases && version.before(found->since)) --found;
  return *found;
}

}  // namespace kvbudget::inline v0
