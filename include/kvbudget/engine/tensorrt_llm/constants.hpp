#pragma once

// Generated from data/engines/tensorrt-llm.json by `cmake -P cmake/generate_constants.cmake`. Do not edit.

#include "kvbudget/units/measured_constant.hpp"

// clang-format off
namespace kvbudget::inline v0 {

/// What TensorRT-LLM keeps on a GPU beside weights, cache and activations of its profiling run.
namespace constants {

/// What a second rank adds on each GPU: NCCL buffers and all-reduce workspaces.
inline constexpr measured_constant tensorrt_llm_communication_2_gpus{300000000, 1116000000, 1700000000, basis::calibrated, "ai-dynamo/aiconfigurator tests/integration/test_trtllm_kv_cache_capacity.py, pull request 652"};

/// What ranks of a group of four add on each GPU: NCCL buffers and all-reduce workspaces.
inline constexpr measured_constant tensorrt_llm_communication_4_gpus{400000000, 1982000000, 2800000000, basis::calibrated, "ai-dynamo/aiconfigurator tests/integration/test_trtllm_kv_cache_capacity.py, pull request 652"};

/// What ranks of a group of eight and more add on each GPU: no figure was found, so somewhat more than for
/// four.
inline constexpr measured_constant tensorrt_llm_communication_8_gpus{400000000, 2300000000, 5000000000, basis::assumed, "assumed from the figures for two and four ranks"};

/// One captured CUDA graph, per layer (19 graphs of 32 layers: 0.43 GiB). High: 60 MB per graph of a
/// 32-layer model.
inline constexpr measured_constant tensorrt_llm_graph_per_layer{200000, 758000, 2000000, basis::calibrated, "ai-dynamo/aiconfigurator tests/integration/test_trtllm_kv_cache_capacity.py, pull request 652; NVIDIA/TensorRT-LLM pull request 3362 (60 MB per graph)"};

/// Kernels, library handles and workspaces, sampler and attention buffers of one rank on compute capability
/// 9.0, without the CUDA context: fitted, with the other constants here, to the requests that 24 H100
/// configurations held.
inline constexpr measured_constant tensorrt_llm_runtime{800000000, 1762000000, 3000000000, basis::calibrated, "ai-dynamo/aiconfigurator tests/integration/test_trtllm_kv_cache_capacity.py, pull request 652"};

/// Kernels, library handles, workspaces and buffers of one rank on compute capability 10.0 and later,
/// without the CUDA context: fitted to the requests that 48 GB300 configurations held, with the driver's
/// usual reserve.
inline constexpr measured_constant tensorrt_llm_runtime_sm_100{1500000000, 2755000000, 4000000000, basis::calibrated, "ai-dynamo/aiconfigurator tests/integration/test_trtllm_kv_cache_capacity.py, pull request 652"};

}  // namespace constants
}  // namespace kvbudget::inline v0
// clang-format on
