#pragma once

// Generated from data/engines/vllm.json by `cmake -P cmake/generate_constants.cmake`. Do not edit.

#include "kvbudget/units/measured_constant.hpp"

// clang-format off
namespace kvbudget::inline v0 {

/// What vLLM takes beside weights and KV cache, per GPU, where no formula gives it.
namespace constants {

/// Residual streams that DeepSeek-V4 keeps side by side (hyper-connections), instead of one.
inline constexpr measured_constant hyper_connection_streams{4, 4, 4, basis::exact, "config.json of deepseek-ai/DeepSeek-V4-Flash (hc_mult)"};

/// FlashInfer attention workspace (394 MiB), allocated after the profile run.
inline constexpr measured_constant vllm_flashinfer_workspace{413138944, 413138944, 413138944, basis::exact, "vllm-project/vllm vllm/envs.py (VLLM_FLASHINFER_WORKSPACE_BUFFER_SIZE)"};

/// Tensors of tokens x hidden size that are alive beside the widest part of a compiled layer, times 100.
inline constexpr measured_constant vllm_forward_streams_per_100_compiled{300, 375, 420, basis::calibrated, "llm-d-incubation/llm-d-planner accuracy report of vLLM 0.19.0 (jgchn/llm-d-planner accuracy/results/v0.19.0/results_raw.csv): CodeLlama-7b (0.77 GiB), Granite-3.1-8b (0.85 GiB), Llama-3.1-8B on 4 stages (1.05 GiB)"};

/// Tensors of tokens x hidden size that are alive beside the widest part of a layer where nothing is
/// compiled (V0, enforce_eager), times 100: 3.0 for Llama-3.1-8B (0.6), 4.0 for Qwen2.5-1.5B (0.7).
inline constexpr measured_constant vllm_forward_streams_per_100_eager{300, 350, 400, basis::calibrated, "vllm-project/vllm issue 10517 (3.0); public start-up log of Qwen2.5-1.5B on a T4, 2.02 GiB at 32768 tokens (4.0)"};

/// CUDA graphs: bytes per captured graph and layer, layers with experts.
inline constexpr measured_constant vllm_graph_bytes_per_expert_layer{130000, 260000, 400000, basis::calibrated, "llm-d-incubation/llm-d-planner accuracy report of vLLM 0.19.0 (jgchn/llm-d-planner accuracy/results/v0.19.0/results_raw.csv): Qwen3-30B-A3B 1.24 GiB (48 layers, 102 graphs), gpt-oss-20b 1.30 GiB (24 layers, 166 graphs)"};

/// CUDA graphs: bytes per captured graph and layer, layers with latent attention, with or without experts.
inline constexpr measured_constant vllm_graph_bytes_per_latent_layer{130000, 430000, 560000, basis::calibrated, "llm-d-incubation/llm-d-planner accuracy report of vLLM 0.19.0 (jgchn/llm-d-planner accuracy/results/v0.19.0/results_raw.csv): DeepSeek-V2-Lite 1.39 GiB, Kimi-VL-A3B 1.19 GiB (27 layers, 102 graphs)"};

/// CUDA graphs: bytes per captured graph and layer, dense models.
inline constexpr measured_constant vllm_graph_bytes_per_layer{130000, 204000, 330000, basis::calibrated, "llm-d-incubation/llm-d-planner accuracy report of vLLM 0.19.0 (jgchn/llm-d-planner accuracy/results/v0.19.0/results_raw.csv); public start-up logs of 0.22 (0.37 GiB: 54 graphs, 28 layers; 0.64: 86, 32; 0.79: 86, 42)"};

/// CUDA graphs: what does not depend on the number of layers and graphs.
inline constexpr measured_constant vllm_graph_pool{53687091, 128849019, 322122547, basis::calibrated, "llm-d-incubation/llm-d-planner accuracy report of vLLM 0.19.0 (jgchn/llm-d-planner accuracy/results/v0.19.0/results_raw.csv), estimated and actual graph memory of 50 runs"};

/// Most rows of context that a chunk of MLA prefill expands at once.
inline constexpr measured_constant vllm_latent_workspace_rows{65536, 65536, 65536, basis::exact, "vllm-project/vllm vllm/v1/attention/backends/mla/common.py (chunked_prefill_workspace_size)"};

/// Pixel inputs that the profile run keeps per image token: Pixtral 4.6 kB, Qwen2.5-VL 9.4, Qwen3.5 12.3,
/// Gemma 3 19.
inline constexpr measured_constant vllm_multimodal_input_bytes_per_token{4600, 12000, 19000, basis::calibrated, "llm-d-incubation/llm-d-planner accuracy report of vLLM 0.19.0 (jgchn/llm-d-planner accuracy/results/v0.19.0/results_raw.csv): what multimodal models take beyond the text rule; pixels per token of their image processors"};

/// Patches of the vision tower per image token: 1 (Pixtral before merging), 4 (2 x 2 merging), 16 (Gemma 3,
/// 4 x 4 pooling).
inline constexpr measured_constant vllm_multimodal_patches_per_token{1, 4, 16, basis::assumed, "image processors of Pixtral, Qwen-VL and Gemma 3 in huggingface/transformers"};

/// Streaming multiprocessors of a GPU whose number nobody gave: 48 (GB10), 108 (A100), 132 (H100), 188 (RTX
/// PRO 6000).
inline constexpr measured_constant vllm_multiprocessors_assumed{48, 108, 188, basis::assumed, "NVIDIA data sheets"};

/// What a worker allocates outside PyTorch between its first snapshot and the end of the profile run, vLLM
/// 0.7 to 0.17, one GPU: 0.13 to 0.14 GiB on an H100, 0.01 to 0.11 on other cards.
inline constexpr measured_constant vllm_non_torch_1_gpu{10737418, 96636764, 171798692, basis::measured, "llm-d/llm-d-benchmark config_explorer/empirical-vllm-memory-results.md (0.11, H100); vllm-project/vllm pull request 12126; public start-up logs of 24 GB cards"};

/// What a worker allocates outside PyTorch, vLLM 0.7 to 0.17, one Hopper GPU.
inline constexpr measured_constant vllm_non_torch_1_gpu_sm_90{128849019, 139586437, 171798692, basis::measured, "llm-d/llm-d-benchmark config_explorer/empirical-vllm-memory-results.md (0.11, H100); vllm-project/vllm pull request 12126 (0.16)"};

/// What a worker allocates outside PyTorch, vLLM 0.7 to 0.17, two GPUs: communicators of NCCL and of vLLM's
/// own all-reduce.
inline constexpr measured_constant vllm_non_torch_2_gpus{354334802, 590558003, 794568950, basis::measured, "llm-d/llm-d-benchmark config_explorer/empirical-vllm-memory-results.md (0.11, H100) (0.54, 0.55); vllm-project/vllm issue 14452 (0.33); a public log of 0.8 on two H20 (0.74)"};

/// Non-torch memory as vLLM before 0.7 counted it, CUDA context included: one GPU before Hopper.
inline constexpr measured_constant vllm_non_torch_absolute_1_gpu{322122547, 375809638, 805306368, basis::measured, "vllm-project/vllm issue 10517 (0.35, RTX 3090, three runs)"};

/// Non-torch memory as vLLM before 0.7 counted it, CUDA context included: one Hopper GPU.
inline constexpr measured_constant vllm_non_torch_absolute_1_gpu_sm_90{751619277, 805306368, 1921997865, basis::measured, "a public log of 0.6.4 (0.73, H200); vllm-project/vllm pull request 10511 (1.79, H100)"};

/// Non-torch memory as vLLM before 0.7 counted it, CUDA context included: two GPUs and more.
inline constexpr measured_constant vllm_non_torch_absolute_more_gpus{751619277, 2147483648, 3843995730, basis::measured, "vllm-project/vllm pull request 10511 (3.58, two H100); low: two times what one GPU has"};

/// What a worker allocates outside PyTorch, vLLM 0.7 to 0.17, four and more GPUs.
inline constexpr measured_constant vllm_non_torch_more_gpus{214748365, 644245094, 1481763717, basis::measured, "vllm-project/vllm pull request 14447 (0.20); a public log of 0.11 on H200 (1.38 with two)"};

/// vLLM from 0.18 on, pipeline stages without tensor parallelism: NCCL started before the first snapshot.
inline constexpr measured_constant vllm_non_torch_pipeline_sm_90{75161928, 75161928, 268435456, basis::measured, "llm-d-incubation/llm-d-planner accuracy report of vLLM 0.19.0 (jgchn/llm-d-planner accuracy/results/v0.19.0/results_raw.csv)"};

/// vLLM from 0.18 on, one Hopper GPU.
inline constexpr measured_constant vllm_non_torch_profiled_1_gpu_sm_90{257698038, 268435456, 493921239, basis::measured, "llm-d-incubation/llm-d-planner accuracy report of vLLM 0.19.0 (jgchn/llm-d-planner accuracy/results/v0.19.0/results_raw.csv)"};

/// vLLM from 0.18 on, two GPUs without NVLink.
inline constexpr measured_constant vllm_non_torch_profiled_2_gpus{354334802, 858993459, 2222645576, basis::measured, "public start-up log of Qwen3.6-35B-A3B on two 24 GB cards (0.74)"};

/// vLLM from 0.18 on, two data-center GPUs with NVLink: symmetric memory and all-reduce buffers.
inline constexpr measured_constant vllm_non_torch_profiled_2_gpus_sm_90{1481763717, 2222645576, 2265595249, basis::measured, "llm-d-incubation/llm-d-planner accuracy report of vLLM 0.19.0 (jgchn/llm-d-planner accuracy/results/v0.19.0/results_raw.csv)"};

/// vLLM from 0.18 on, one GPU that is no Hopper, without CUDA graphs.
inline constexpr measured_constant vllm_non_torch_profiled_eager_1_gpu{53687091, 268435456, 483183821, basis::calibrated, "public start-up logs: RTX A5000 eager (0.4), 24 GB card with 0.25 (0.30), a 6 GB card (0.1)"};

/// vLLM from 0.18 on, one GPU that is no Hopper: the trial capture of CUDA graphs within the profile loads
/// attention kernels that stay.
inline constexpr measured_constant vllm_non_torch_profiled_graphs_1_gpu{107374182, 536870912, 966367642, basis::calibrated, "public start-up logs: RTX 4090 with 0.19 (0.6), L40S with 0.22 (0.6 to 0.8), a 24 GB card with Triton attention (0.13)"};

/// vLLM from 0.18 on, four and more GPUs without NVLink.
inline constexpr measured_constant vllm_non_torch_profiled_more_gpus{354334802, 966367642, 2609192632, basis::measured, "public start-up logs of four RTX PRO 6000 (2.43) and two 24 GB cards (0.74)"};

/// vLLM from 0.18 on, four and more data-center GPUs with NVLink.
inline constexpr measured_constant vllm_non_torch_profiled_more_gpus_sm_90{1750199173, 2308544922, 2372969431, basis::measured, "llm-d-incubation/llm-d-planner accuracy report of vLLM 0.19.0 (jgchn/llm-d-planner accuracy/results/v0.19.0/results_raw.csv); public start-up logs of eight H200 (1.74) and B300 (1.63)"};

/// Profiled sampler of model runner V2, per row and vocabulary entry: 16-bit logits 2 and fp32 logits 4;
/// top-k and top-p are skipped there, and about one byte more was seen.
inline constexpr measured_constant vllm_sampler_gumbel_bytes_per_logit{6, 7, 8, basis::calibrated, "vllm-project/vllm vllm/v1/worker/gpu/model_runner.py (_dummy_sampler_run); public start-up logs of 0.25 to 0.27: 0.31 GiB at 256 x 151936 (24 GB card), 0.26 GiB (GB10)"};

/// Scratch of the Triton top-k/top-p kernel (0.17 to 0.20), kept once made: one fp32 row of the vocabulary
/// per program, and one program per multiprocessor.
inline constexpr measured_constant vllm_sampler_scratch_bytes_per_vocabulary_entry_and_multiprocessor{4, 4, 4, basis::exact, "vllm-project/vllm vllm/v1/sample/ops/topk_topp_triton.py (_TRITON_BUFFER_CACHE)"};

/// Profiled sampler of model runner V1 from vLLM 0.17 on, where Triton (0.17) and FlashInfer (0.21) select
/// without a sort: 16-bit logits 2, fp32 logits 4, probabilities 4, noise 4.
inline constexpr measured_constant vllm_sampler_selecting_bytes_per_logit{14, 14, 15, basis::calibrated, "llm-d-incubation/llm-d-planner accuracy report of vLLM 0.19.0 (jgchn/llm-d-planner accuracy/results/v0.19.0/results_raw.csv): thirty runs within 0.02 GiB; vllm-project/vllm pull request 40376"};

/// Profiled sampler up to vLLM 0.16, per row and vocabulary entry: 16-bit logits 2, fp32 logits 4, sorted
/// values 4, 64-bit indices 8, and 20 of segmented-sort scratch. Low: images that had FlashInfer's sampler
/// switched on, which sorts nothing.
inline constexpr measured_constant vllm_sampler_sorting_bytes_per_logit{14, 38, 39, basis::calibrated, "llm-d/llm-d-benchmark config_explorer/empirical-vllm-memory-results.md (0.11, H100): eight models within 0.02 GiB at 1024 rows; low: vllm-project/vllm pull request 26859, flashinfer-ai/flashinfer issue 1180"};

}  // namespace constants
}  // namespace kvbudget::inline v0
// clang-format on
