#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/deployment/deployment.hpp"
#include "kvbudget/hardware/gpu_profile.hpp"

/// What engines keep of a checkpoint's weights: `as_loaded` turns a deployment that says how weights are
/// stored into one that says how they are held, by the rules of the kernel that computes with them.
namespace kvbudget::inline v0 {

/// The kernel that multiplies FP4 experts: each pads and lays them out in its own way.
enum class fp4_expert_kernel : std::uint8_t {
  none,                ///< as stored
  marlin,              ///< weight-only, any GPU since Ampere
  triton,              ///< OpenAI's triton_kernels, laid out for Hopper; stored scales stay beside
  triton_blackwell,    ///< the same, laid out for Blackwell
  flashinfer_cutlass,  ///< CUTLASS through FlashInfer
  flashinfer_trtllm,   ///< TensorRT-LLM's kernels through FlashInfer
  ck                   ///< Composable Kernel (ROCm)
};

/// Whether the GPU multiplies FP8 itself: compute capability 8.9 and later; assumed where it is not known.
[[nodiscard]] constexpr bool multiplies_fp8(const compute_capability& capability) {
  return capability.major == 0 || capability.major > 8 || (capability.major == 8 && capability.minor == 9);
}

/// What decides how an engine holds a checkpoint's weights.
struct loading_options {
  fp4_expert_kernel fp4_experts = fp4_expert_kernel::none;
  bool marlin = true;                ///< GPTQ and AWQ are repacked for Marlin (Ampere and later)
  bool fp8_hardware = true;          ///< the GPU multiplies FP8; otherwise FP8 goes through Marlin
  bool act_order = false;            ///< the GPTQ checkpoint was made with desc_act
  bool online_fp8 = false;           ///< `--quantization fp8` for a checkpoint in 16 bits
  bool language_model_only = false;  ///< towers of a multimodal model are left out
};

namespace detail {
[[noreturn]] inline void only_unquantized_weights_can_be_quantized_online() {
  raise("online quantization: the checkpoint's weights are quantized already");
}

/// Padding and layout of FP4 experts. MXFP4 in vLLM: hidden and intermediate size up to 256 and 128 for
/// Marlin, 256 and 256 for TensorRT-LLM's kernels and on ROCm, 128 and 128 for CUTLASS, and the intermediate
/// size to 64 for Triton; biases in fp32 except for Marlin and CUTLASS. Source: vllm-project/vllm
/// model_executor/layers/fused_moe/oracle/mxfp4.py. Triton's layouts pad scales: to 256 rows and 2 groups on
/// Hopper, to 128 rows and 8 groups on Blackwell; vLLM deletes the stored weights but not the stored scales.
/// Sources: triton-lang/triton python/triton_kernels/triton_kernels/tensor_details/layout_details
/// (hopper_scale.py, blackwell_scale.py); vllm-project/vllm model_executor/layers/quantization/mxfp4.py.
constexpr void lay_out_fp4_experts(weight_loading& loading, fp4_expert_kernel kernel) {
  switch (kernel) {
    case fp4_expert_kernel::none: return;
    case fp4_expert_kernel::marlin:
      loading.expert_hidden_multiple = 256;
      loading.expert_inner_multiple = 128;
      return;
    case fp4_expert_kernel::triton:
      loading.expert_inner_multiple = 64;
      loading.expert_biases_in_fp32 = true;
      loading.fp4_scale_rows_multiple = 256;
      loading.fp4_scale_groups_multiple = 2;
      loading.expert_scales_kept = true;
      return;
    case fp4_expert_kernel::triton_blackwell:
      loading.expert_inner_multiple = 64;
      loading.expert_biases_in_fp32 = true;
      loading.fp4_scale_rows_multiple = 128;
      loading.fp4_scale_groups_multiple = 8;
      loading.expert_scales_kept = true;
      return;
    case fp4_expert_kernel::flashinfer_cutlass:
      loading.expert_hidden_multiple = 128;
      loading.expert_inner_multiple = 128;
      return;
    case fp4_expert_kernel::flashinfer_trtllm:
    case fp4_expert_kernel::ck:
      loading.expert_hidden_multiple = 256;
      loading.expert_inner_multiple = 256;
      loading.expert_biases_in_fp32 = true;
      return;
  }
}

[[nodiscard]] constexpr bool is_mxfp4(const weight_scheme& scheme) {
  return scheme.payload == formats::fp4_e2m1 && scheme.sidecar.scales == weight_scales::group &&
         scheme.sidecar.group == 32;
}

/// Whether the deployment's experts are in MXFP4: by its own scheme, or as the checkpoint stores them.
[[nodiscard]] constexpr bool has_mxfp4_experts(const deployment& d) {
  if (!d.weights.is_automatic()) return is_mxfp4(d.weights);
  const model_architecture& model = *d.model;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    for (std::size_t i = 0; i < model.kinds[kind].weight_count; ++i) {
      const weight_group& group = model.kinds[kind].weights[i];
      if (group.rule != shard_rule::experts || group.precision == 0) continue;
      if (is_mxfp4(model.precisions[group.precision - 1])) return true;
    }
  }
  return false;
}
}  // namespace detail

/// The kernel that vLLM takes for MXFP4 experts by itself: TensorRT-LLM's on compute capability 10.x,
/// Triton's on 9.x where its package is there, Marlin on other GPUs of NVIDIA. Source: vllm-project/vllm
/// model_executor/layers/fused_moe/oracle/mxfp4.py, select_mxfp4_moe_backend; before 0.12 images came without
/// the package and took Marlin on 9.x (issue 23278).
[[nodiscard]] constexpr fp4_expert_kernel mxfp4_kernel_of_vllm(std::uint32_t compute_capability_major,
                                                               bool has_triton_kernels = true) {
  if (compute_capability_major == 10) return fp4_expert_kernel::flashinfer_trtllm;
  if (compute_capability_major == 9 && has_triton_kernels) return fp4_expert_kernel::triton;
  return fp4_expert_kernel::marlin;
}

/// The deployment as vLLM holds its weights (V1). Vocabularies are padded to 64 rows before they are split;
/// experts that do not divide leave the first ranks with one more, and without expert parallelism they are
/// split over tensor x data ranks; GPTQ in Marlin loses zero points and g_idx, AWQ keeps its zero points;
/// NVFP4 scales are padded to 128 rows and 4 groups; MLA makes a 16-bit copy of a quantized
/// up-projection; draft layers read the model's embedding and head. Sources: vllm-project/vllm
/// model_executor/layers/vocab_parallel_embedding.py, fused_moe/layer.py and config.py,
/// quantization/gptq_marlin.py, quantization/utils/quant_utils.py (swizzle_blockscale), attention/
/// mla_attention.py, v1/spec_decode/llm_base_proposer.py.
[[nodiscard]] constexpr deployment as_loaded_by_vllm(const deployment& stored,
                                                     const loading_options& options = {}) {
  deployment d = stored;
  if (options.online_fp8) {
    const bool quantized =
        d.weights.is_automatic() ? d.model->precision_count != 0 : !d.weights.every_element;
    if (quantized) detail::only_unquantized_weights_can_be_quantized_online();
    d.weights = schemes::fp8_linear;
  }
  d.parallel.vocabulary_multiple = 64;
  d.parallel.uneven_experts = true;
  d.parallel.experts_span_data = true;
  d.loading.gptq_repacked = options.marlin;
  d.loading.act_order = options.act_order;
  d.loading.fp8_in_marlin = !options.fp8_hardware;
  d.loading.latent = latent_copies::of_quantized;
  d.loading.draft_tables_shared = true;
  d.loading.towers = !options.language_model_only;
  if (detail::has_mxfp4_experts(d)) {
    detail::lay_out_fp4_experts(d.loading, options.fp4_experts);
  } else if (options.fp4_experts != fp4_expert_kernel::marlin) {
    d.loading.fp4_scale_rows_multiple = 128;
    d.loading.fp4_scale_groups_multiple = 4;
  }
  return d;
}

/// The deployment as SGLang holds its weights. As vLLM, but MLA always keeps the up-projection once more, as
/// one matrix per head; with data-parallel attention (`attention_data`) the embedding is split like
/// attention, and so is the head with `--enable-dp-lm-head`. Experts must divide. Sources: sgl-project/sglang
/// srt/layers/vocab_parallel_embedding.py, srt/layers/dp_attention.py, srt/models/deepseek_v2.py
/// (post_load_weights).
[[nodiscard]] constexpr deployment as_loaded_by_sglang(const deployment& stored,
                                                       const loading_options& options = {},
                                                       bool enable_dp_lm_head = false) {
  deployment d = as_loaded_by_vllm(stored, options);
  d.parallel.uneven_experts = false;
  d.parallel.experts_span_data = false;
  d.parallel.embedding_like_attention = d.parallel.attention_data != 1;
  d.parallel.head_like_attention = enable_dp_lm_head && d.parallel.attention_data != 1;
  d.loading.latent = latent_copies::always;
  return d;
}

/// The table of cosines and sines that engines keep on every rank for rotary embeddings, once per kind of
/// rotation: positions x rotary elements of a head, in the dtype (gpt-oss: fp32). Positions that are scaled
/// linearly count with the factor: Gemma 3 has 8 x 131,072. Not part of `weights`, but counted by engines
/// that print what loading took. Sources: vllm-project/vllm model_executor/layers/rotary_embedding/base.py
/// (_compute_cos_sin_cache) and linear_scaling_rope.py.
[[nodiscard]] constexpr bytes rotary_table_bytes(std::uint64_t positions, std::uint64_t rotary_dim,
                                                 const number_format& format) {
  return format.size_of(detail::checked_mul(positions, rotary_dim));
}

}  // namespace kvbudget::inline v0
