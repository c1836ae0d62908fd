#pragma once

// Generated from data/engines/*.json by `cmake -DTABLE=ON -P cmake/generate_constants.cmake`. Do not edit.

#include "kvbudget/engine/llama_cpp/constants.hpp"
#include "kvbudget/engine/llama_cpp/ollama_constants.hpp"
#include "kvbudget/engine/sglang/constants.hpp"
#include "kvbudget/engine/tensorrt_llm/constants.hpp"
#include "kvbudget/engine/vllm/constants.hpp"
#include "kvbudget/hardware/driver_constants.hpp"
#include "kvbudget/memory/framework_constants.hpp"

// clang-format off
namespace kvbudget::inline v0::report {

/// A constant of the world by name: what file of data/engines it is from, and what it is about.
struct named_constant {
  const char* engine;
  const char* name;
  const measured_constant* figure;
  const char* about;
};

/// All of them, by file.
inline constexpr named_constant engine_constants[] = {
    {"cuda-driver", "driver_reserve", &constants::driver_reserve, "Total of the driver (nvidia-smi) less the total that a program sees (cudaMemGetInfo): 0.3 to 0.9 GiB. It depends on the driver branch and is about zero on Windows; 0.27 GiB (V100 32 GB), 0.44 (T4), 0.46 (H100), 0.60 (H200), 0.71 (B200), 0.86 (A100 80 GB), 0.90 (B300) follow from the pairs in data/gpus."},
    {"llama-cpp", "llama_cpp_cuda_context", &constants::llama_cpp_cuda_context, "CUDA context, kernels, cuBLAS and its pool on one GPU: 451 and 456 MiB are unaccounted for on three RTX 4090 after a run; 264 MiB (RTX 3090) and 180 MiB (RTX 2000 Ada) are gone before anything is loaded. High: the 1024 MiB that llama.cpp itself leaves free for it."},
    {"llama-cpp", "llama_cpp_fit_margin", &constants::llama_cpp_fit_margin, "Memory that --fit leaves free on every GPU (--fit-target)."},
    {"ollama", "ollama_large_batch_surcharge", &constants::ollama_large_batch_surcharge, "What Ollama adds to its prediction for batches of 2,048 tokens: 2 GiB."},
    {"ollama", "ollama_medium_batch_surcharge", &constants::ollama_medium_batch_surcharge, "The same for batches of 1,024 tokens: 768 MiB."},
    {"ollama", "ollama_minimum_memory", &constants::ollama_minimum_memory, "Memory of each CUDA or ROCm GPU that Ollama plans nothing into: 457 MiB."},
    {"ollama", "ollama_minimum_memory_metal", &constants::ollama_minimum_memory_metal, "The same of a Metal GPU: 512 MiB."},
    {"ollama", "ollama_projector_headroom", &constants::ollama_projector_headroom, "What Ollama wants beside the weights of a projector on the GPU that it goes to: 1 GiB."},
    {"pytorch-cuda", "cublas_workspace", &constants::cublas_workspace, "cuBLAS workspace of one handle and stream (:4096:2:16:8), taken from PyTorch's allocator; every compute capability but 9.0."},
    {"pytorch-cuda", "cublas_workspace_sm_90", &constants::cublas_workspace_sm_90, "cuBLAS workspace of one handle and stream on compute capability 9.0 (Hopper)."},
    {"pytorch-cuda", "cuda_context", &constants::cuda_context, "One process's CUDA context before the first tensor: 426 MiB with torch 2.10 and CUDA 13.0 on an RTX 6000 Ada. The lower bound is lazy loading since CUDA 11.7, the upper one torch 1.4 and 1.5."},
    {"pytorch-cuda", "cuda_graphs", &constants::cuda_graphs, "Captured CUDA graphs of one vLLM rank: 0.13 GiB (small model, H100), 0.36 GiB (24 GB card), 0.65 GiB (8x RTX 3090), 1.40 GiB (Llama 4 Maverick). vLLM before 0.6 needed up to 2.4 GiB."},
    {"pytorch-cuda", "fp32_logits_copy_bytes_per_logit", &constants::fp32_logits_copy_bytes_per_logit, "The part of the sampler's bytes per logit that is its fp32 copy of the logits."},
    {"pytorch-cuda", "logits_bytes_per_logit", &constants::logits_bytes_per_logit, "The part of the sampler's bytes per logit that is the 16-bit logits."},
    {"pytorch-cuda", "nccl_buffers_1_gpu", &constants::nccl_buffers_1_gpu, "Communication buffers of one rank when there is nobody to talk to."},
    {"pytorch-cuda", "nccl_buffers_2_gpus", &constants::nccl_buffers_2_gpus, "Communication buffers per GPU of two (342 MiB). Low: 0.20 GiB of non-torch memory on 24 GB cards with vLLM; high: 0.41 GiB that a second H100 adds there."},
    {"pytorch-cuda", "nccl_buffers_4_gpus", &constants::nccl_buffers_4_gpus, "Communication buffers per GPU of four (392 MiB). Bounds as for eight GPUs: no report for four was found."},
    {"pytorch-cuda", "nccl_buffers_8_gpus", &constants::nccl_buffers_8_gpus, "Communication buffers per GPU of eight (392 MiB). Low: 0.20 GiB of non-torch memory on 24 GB cards; high: 1.06 GB in use on an H100 before the first all-to-all, which alone adds 3.3 GB more."},
    {"pytorch-cuda", "pytorch_allocation_granule", &constants::pytorch_allocation_granule, "PyTorch's caching allocator asks the driver for multiples of 2 MiB: segments for requests up to 1 MiB are 2 MiB, requests from 10 MiB on are rounded up to 2 MiB."},
    {"pytorch-cuda", "pytorch_allocator_slack", &constants::pytorch_allocator_slack, "Unused rest of PyTorch's open segments: none; one small and one large segment; five of each (several streams). Fragmentation of a long-running server can exceed it."},
    {"pytorch-cuda", "pytorch_large_segment", &constants::pytorch_large_segment, "Segment from which PyTorch's caching allocator serves requests between 1 and 10 MiB."},
    {"pytorch-cuda", "vllm_sampler_bytes_per_1000_logits_with_logits", &constants::vllm_sampler_bytes_per_1000_logits_with_logits, "Peak of vLLM's profile run over max_num_seqs x vocabulary, for a thousand logits (38.4 to 39.6 bytes each), the logits themselves and their fp32 copy included. PyTorch sampler with a sort (vLLM up to about 0.19); samplers without a sort need less."},
    {"sglang", "sglang_attention_workspace", &constants::sglang_attention_workspace, "Work buffers that the attention backend takes after the pools: none (Triton, FlashAttention 3), 384 MiB (FlashInfer's default buffer); 0.63 GiB between the lines 'Memory pool end' and 'Capture cuda graph begin' on a 16 GB card."},
    {"sglang", "sglang_communication_linked", &constants::sglang_communication_linked, "Memory that setting up tensor ranks joined by NVLink takes before loading: 1.25 GiB (8 H100, 2025-09), 2.01 GiB (8 H200, 2025-10), 2.50 GiB (8 B200, 2025-05)."},
    {"sglang", "sglang_communication_unlinked", &constants::sglang_communication_unlinked, "Memory that setting up ranks takes before loading, ranks joined by PCIe or by pipeline stages only: 0.16 GiB (4 pipeline stages), 0.39 GiB (4 RTX PRO 6000). High: as the lowest with NVLink."},
    {"sglang", "sglang_cuda_graphs", &constants::sglang_cuda_graphs, "Captured decode graphs of one SGLang rank: 0.11 GiB (Qwen3-0.6B, 4 sizes up to 8), 0.73 GiB (Nemotron hybrid on 4 ranks, 8 sizes up to 32), 1.40 GiB (Llama 4 Maverick), 2.66 GiB (Gemma 4 26B), 6.22 GiB (DeepSeek-V3 on H200, sizes up to 256)."},
    {"tensorrt-llm", "tensorrt_llm_communication_2_gpus", &constants::tensorrt_llm_communication_2_gpus, "What a second rank adds on each GPU: NCCL buffers and all-reduce workspaces."},
    {"tensorrt-llm", "tensorrt_llm_communication_4_gpus", &constants::tensorrt_llm_communication_4_gpus, "What ranks of a group of four add on each GPU: NCCL buffers and all-reduce workspaces."},
    {"tensorrt-llm", "tensorrt_llm_communication_8_gpus", &constants::tensorrt_llm_communication_8_gpus, "What ranks of a group of eight and more add on each GPU: no figure was found, so somewhat more than for four."},
    {"tensorrt-llm", "tensorrt_llm_graph_per_layer", &constants::tensorrt_llm_graph_per_layer, "One captured CUDA graph, per layer (19 graphs of 32 layers: 0.43 GiB). High: 60 MB per graph of a 32-layer model."},
    {"tensorrt-llm", "tensorrt_llm_runtime", &constants::tensorrt_llm_runtime, "Kernels, library handles and workspaces, sampler and attention buffers of one rank on compute capability 9.0, without the CUDA context: fitted, with the other constants here, to the requests that 24 H100 configurations held."},
    {"tensorrt-llm", "tensorrt_llm_runtime_sm_100", &constants::tensorrt_llm_runtime_sm_100, "Kernels, library handles, workspaces and buffers of one rank on compute capability 10.0 and later, without the CUDA context: fitted to the requests that 48 GB300 configurations held, with the driver's usual reserve."},
    {"vllm", "hyper_connection_streams", &constants::hyper_connection_streams, "Residual streams that DeepSeek-V4 keeps side by side (hyper-connections), instead of one."},
    {"vllm", "vllm_flashinfer_workspace", &constants::vllm_flashinfer_workspace, "FlashInfer attention workspace (394 MiB), allocated after the profile run."},
    {"vllm", "vllm_forward_streams_per_100_compiled", &constants::vllm_forward_streams_per_100_compiled, "Tensors of tokens x hidden size that are alive beside the widest part of a compiled layer, times 100."},
    {"vllm", "vllm_forward_streams_per_100_eager", &constants::vllm_forward_streams_per_100_eager, "Tensors of tokens x hidden size that are alive beside the widest part of a layer where nothing is compiled (V0, enforce_eager), times 100: 3.0 for Llama-3.1-8B (0.6), 4.0 for Qwen2.5-1.5B (0.7)."},
    {"vllm", "vllm_graph_bytes_per_expert_layer", &constants::vllm_graph_bytes_per_expert_layer, "CUDA graphs: bytes per captured graph and layer, layers with experts."},
    {"vllm", "vllm_graph_bytes_per_latent_layer", &constants::vllm_graph_bytes_per_latent_layer, "CUDA graphs: bytes per captured graph and layer, layers with latent attention, with or without experts."},
    {"vllm", "vllm_graph_bytes_per_layer", &constants::vllm_graph_bytes_per_layer, "CUDA graphs: bytes per captured graph and layer, dense models."},
    {"vllm", "vllm_graph_pool", &constants::vllm_graph_pool, "CUDA graphs: what does not depend on the number of layers and graphs."},
    {"vllm", "vllm_latent_workspace_rows", &constants::vllm_latent_workspace_rows, "Most rows of context that a chunk of MLA prefill expands at once."},
    {"vllm", "vllm_multimodal_input_bytes_per_token", &constants::vllm_multimodal_input_bytes_per_token, "Pixel inputs that the profile run keeps per image token: Pixtral 4.6 kB, Qwen2.5-VL 9.4, Qwen3.5 12.3, Gemma 3 19."},
    {"vllm", "vllm_multimodal_patches_per_token", &constants::vllm_multimodal_patches_per_token, "Patches of the vision tower per image token: 1 (Pixtral before merging), 4 (2 x 2 merging), 16 (Gemma 3, 4 x 4 pooling)."},
    {"vllm", "vllm_multiprocessors_assumed", &constants::vllm_multiprocessors_assumed, "Streaming multiprocessors of a GPU whose number nobody gave: 48 (GB10), 108 (A100), 132 (H100), 188 (RTX PRO 6000)."},
    {"vllm", "vllm_non_torch_1_gpu", &constants::vllm_non_torch_1_gpu, "What a worker allocates outside PyTorch between its first snapshot and the end of the profile run, vLLM 0.7 to 0.17, one GPU: 0.13 to 0.14 GiB on an H100, 0.01 to 0.11 on other cards."},
    {"vllm", "vllm_non_torch_1_gpu_sm_90", &constants::vllm_non_torch_1_gpu_sm_90, "What a worker allocates outside PyTorch, vLLM 0.7 to 0.17, one Hopper GPU."},
    {"vllm", "vllm_non_torch_2_gpus", &constants::vllm_non_torch_2_gpus, "What a worker allocates outside PyTorch, vLLM 0.7 to 0.17, two GPUs: communicators of NCCL and of vLLM's own all-reduce."},
    {"vllm", "vllm_non_torch_absolute_1_gpu", &constants::vllm_non_torch_absolute_1_gpu, "Non-torch memory as vLLM before 0.7 counted it, CUDA context included: one GPU before Hopper."},
    {"vllm", "vllm_non_torch_absolute_1_gpu_sm_90", &constants::vllm_non_torch_absolute_1_gpu_sm_90, "Non-torch memory as vLLM before 0.7 counted it, CUDA context included: one Hopper GPU."},
    {"vllm", "vllm_non_torch_absolute_more_gpus", &constants::vllm_non_torch_absolute_more_gpus, "Non-torch memory as vLLM before 0.7 counted it, CUDA context included: two GPUs and more."},
    {"vllm", "vllm_non_torch_more_gpus", &constants::vllm_non_torch_more_gpus, "What a worker allocates outside PyTorch, vLLM 0.7 to 0.17, four and more GPUs."},
    {"vllm", "vllm_non_torch_pipeline_sm_90", &constants::vllm_non_torch_pipeline_sm_90, "vLLM from 0.18 on, pipeline stages without tensor parallelism: NCCL started before the first snapshot."},
    {"vllm", "vllm_non_torch_profiled_1_gpu_sm_90", &constants::vllm_non_torch_profiled_1_gpu_sm_90, "vLLM from 0.18 on, one Hopper GPU."},
    {"vllm", "vllm_non_torch_profiled_2_gpus", &constants::vllm_non_torch_profiled_2_gpus, "vLLM from 0.18 on, two GPUs without NVLink."},
    {"vllm", "vllm_non_torch_profiled_2_gpus_sm_90", &constants::vllm_non_torch_profiled_2_gpus_sm_90, "vLLM from 0.18 on, two data-center GPUs with NVLink: symmetric memory and all-reduce buffers."},
    {"vllm", "vllm_non_torch_profiled_eager_1_gpu", &constants::vllm_non_torch_profiled_eager_1_gpu, "vLLM from 0.18 on, one GPU that is no Hopper, without CUDA graphs."},
    {"vllm", "vllm_non_torch_profiled_graphs_1_gpu", &constants::vllm_non_torch_profiled_graphs_1_gpu, "vLLM from 0.18 on, one GPU that is no Hopper: the trial capture of CUDA graphs within the profile loads attention kernels that stay."},
    {"vllm", "vllm_non_torch_profiled_more_gpus", &constants::vllm_non_torch_profiled_more_gpus, "vLLM from 0.18 on, four and more GPUs without NVLink."},
    {"vllm", "vllm_non_torch_profiled_more_gpus_sm_90", &constants::vllm_non_torch_profiled_more_gpus_sm_90, "vLLM from 0.18 on, four and more data-center GPUs with NVLink."},
    {"vllm", "vllm_sampler_gumbel_bytes_per_logit", &constants::vllm_sampler_gumbel_bytes_per_logit, "Profiled sampler of model runner V2, per row and vocabulary entry: 16-bit logits 2 and fp32 logits 4; top-k and top-p are skipped there, and about one byte more was seen."},
    {"vllm", "vllm_sampler_scratch_bytes_per_vocabulary_entry_and_multiprocessor", &constants::vllm_sampler_scratch_bytes_per_vocabulary_entry_and_multiprocessor, "Scratch of the Triton top-k/top-p kernel (0.17 to 0.20), kept once made: one fp32 row of the vocabulary per program, and one program per multiprocessor."},
    {"vllm", "vllm_sampler_selecting_bytes_per_logit", &constants::vllm_sampler_selecting_bytes_per_logit, "Profiled sampler of model runner V1 from vLLM 0.17 on, where Triton (0.17) and FlashInfer (0.21) select without a sort: 16-bit logits 2, fp32 logits 4, probabilities 4, noise 4."},
    {"vllm", "vllm_sampler_sorting_bytes_per_logit", &constants::vllm_sampler_sorting_bytes_per_logit, "Profiled sampler up to vLLM 0.16, per row and vocabulary entry: 16-bit logits 2, fp32 logits 4, sorted values 4, 64-bit indices 8, and 20 of segmented-sort scratch. Low: images that had FlashInfer's sampler switched on, which sorts nothing."},
};

}  // namespace kvbudget::inline v0::report
// clang-format on
