#pragma once

// Generated from data/engines/pytorch-cuda.json by `cmake -P cmake/generate_constants.cmake`. Do not edit.

#include "kvbudget/units/measured_constant.hpp"

// clang-format off
namespace kvbudget::inline v0 {

/// What PyTorch, CUDA, cuBLAS and NCCL take besides the tensors of a model, per GPU.
namespace constants {

/// cuBLAS workspace of one handle and stream (:4096:2:16:8), taken from PyTorch's allocator; every compute
/// capability but 9.0.
inline constexpr measured_constant cublas_workspace{8519680, 8519680, 8519680, basis::exact, "pytorch/pytorch aten/src/ATen/cuda/CublasHandlePool.cpp; PyTorch forum thread 178671 (8519680 bytes printed)"};

/// cuBLAS workspace of one handle and stream on compute capability 9.0 (Hopper).
inline constexpr measured_constant cublas_workspace_sm_90{33554432, 33554432, 33554432, basis::exact, "pytorch/pytorch aten/src/ATen/cuda/CublasHandlePool.cpp"};

/// One process's CUDA context before the first tensor: 426 MiB with torch 2.10 and CUDA 13.0 on an RTX 6000
/// Ada. The lower bound is lazy loading since CUDA 11.7, the upper one torch 1.4 and 1.5.
inline constexpr measured_constant cuda_context{300000000, 446693376, 800000000, basis::measured, "unslothai/unsloth-zoo pull request 1053 (426 MiB); pytorch/pytorch issue 107667 (about 300 MB); PyTorch forum threads 73021 and 81330 (700 to 800 MB)"};

/// Captured CUDA graphs of one vLLM rank: 0.13 GiB (small model, H100), 0.36 GiB (24 GB card), 0.65 GiB (8x
/// RTX 3090), 1.40 GiB (Llama 4 Maverick). vLLM before 0.6 needed up to 2.4 GiB.
inline constexpr measured_constant cuda_graphs{139586437, 386547057, 1503238554, basis::calibrated, "generative-computing/mellea pull request 416 (0.13 GiB); gpustack/runner pull request 251 (0.36 GiB); vLLM start-up logs quoted in public issues (0.65 GiB); sgl-project/sglang issue 8538 (1.40 GiB); vllm-project/vllm issue 7553 (2464 MiB with 0.5.4)"};

/// The part of the sampler's bytes per logit that is its fp32 copy of the logits.
inline constexpr measured_constant fp32_logits_copy_bytes_per_logit{4, 4, 4, basis::exact, "size of float32; vllm-project/vllm pull request 38220 (400 x 131072 logits: 209 MB)"};

/// The part of the sampler's bytes per logit that is the 16-bit logits.
inline constexpr measured_constant logits_bytes_per_logit{2, 2, 2, basis::exact, "size of bfloat16 and float16"};

/// Communication buffers of one rank when there is nobody to talk to.
inline constexpr measured_constant nccl_buffers_1_gpu{0, 0, 0, basis::exact, "ai-dynamo/aiconfigurator aic-core/src/aiconfigurator_core/systems/*.yaml, misc.nccl_mem"};

/// Communication buffers per GPU of two (342 MiB). Low: 0.20 GiB of non-torch memory on 24 GB cards with
/// vLLM; high: 0.41 GiB that a second H100 adds there.
inline constexpr measured_constant nccl_buffers_2_gpus{214748364, 358612992, 440234147, basis::calibrated, "ai-dynamo/aiconfigurator aic-core/src/aiconfigurator_core/systems/*.yaml, misc.nccl_mem; vllm-project/vllm pull request 14447; llm-d planner, empirical vLLM memory results"};

/// Communication buffers per GPU of four (392 MiB). Bounds as for eight GPUs: no report for four was found.
inline constexpr measured_constant nccl_buffers_4_gpus{214748364, 411041792, 1060000000, basis::calibrated, "ai-dynamo/aiconfigurator aic-core/src/aiconfigurator_core/systems/*.yaml, misc.nccl_mem; vllm-project/vllm pull request 14447; NVIDIA/nccl issue 1685"};

/// Communication buffers per GPU of eight (392 MiB). Low: 0.20 GiB of non-torch memory on 24 GB cards;
/// high: 1.06 GB in use on an H100 before the first all-to-all, which alone adds 3.3 GB more.
inline constexpr measured_constant nccl_buffers_8_gpus{214748364, 411041792, 1060000000, basis::calibrated, "ai-dynamo/aiconfigurator aic-core/src/aiconfigurator_core/systems/*.yaml, misc.nccl_mem; vllm-project/vllm pull request 14447; NVIDIA/nccl issue 1685"};

/// PyTorch's caching allocator asks the driver for multiples of 2 MiB: segments for requests up to 1 MiB
/// are 2 MiB, requests from 10 MiB on are rounded up to 2 MiB.
inline constexpr measured_constant pytorch_allocation_granule{2097152, 2097152, 2097152, basis::exact, "pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp (kSmallBuffer, kRoundLarge)"};

/// Unused rest of PyTorch's open segments: none; one small and one large segment; five of each (several
/// streams). Fragmentation of a long-running server can exceed it.
inline constexpr measured_constant pytorch_allocator_slack{0, 23068672, 115343360, basis::assumed, "segment sizes of pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp; the number of open segments is assumed"};

/// Segment from which PyTorch's caching allocator serves requests between 1 and 10 MiB.
inline constexpr measured_constant pytorch_large_segment{20971520, 20971520, 20971520, basis::exact, "pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp (kLargeBuffer)"};

/// Peak of vLLM's profile run over max_num_seqs x vocabulary, for a thousand logits (38.4 to 39.6 bytes
/// each), the logits themselves and their fp32 copy included. PyTorch sampler with a sort (vLLM up to about
/// 0.19); samplers without a sort need less.
inline constexpr measured_constant vllm_sampler_bytes_per_1000_logits_with_logits{38400, 38900, 39600, basis::calibrated, "llm-d planner, empirical vLLM memory results (0.11, H100: 4.76 GiB at 1024 x 128256, 5.56 GiB at 1024 x 151936, 4.84 GiB at 1024 x 128256); vllm-project/vllm pull request 10511"};

}  // namespace constants
}  // namespace kvbudget::inline v0
// clang-format on
