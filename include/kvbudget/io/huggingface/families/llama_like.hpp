#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/families/dense.hpp"
#include "kvbudget/io/huggingface/family.hpp"

/// Decoders with Llama's key names that differ in norms, biases, windows or defaults.
///
/// Class defaults and biases: huggingface/transformers models/<model_type>/configuration_<model_type>.py and
/// modeling_<model_type>.py, unless a family names another source.
namespace kvbudget::inline v0::detail {

/// OLMo: norms have no weights. Source: huggingface/transformers models/olmo/modeling_olmo.py, OlmoLayerNorm.
inline void adjust_olmo(const config_view&, decoder_shape& shape) { shape.vectors_per_norm = 0; }

/// SmolLM3: a window only on the layers without rotary positions, and only when `use_sliding_window` is true.
/// Source: huggingface/transformers models/smollm3/configuration_smollm3.py.
inline void plan_smollm3(const config_view& config, const decoder_shape& shape,
                         std::vector<layer_plan>& layers) {
  if (!config.flag({"use_sliding_window", false})) return;
  const std::optional<std::uint64_t> window = config.tokens_in({{"sliding_window"}});
  if (!window) return;
  const auto types = config.find({{"layer_types"}});
  if (types) {
    const std::vector<std::uint64_t> windows =
        windows_by_type(config, *types, {.rule = window_rule::every_layer}, shape.num_hidden_layers);
    for (std::uint32_t i = 0; i < shape.num_hidden_layers; ++i) layers[i].attention.window = windows[i];
    return;
  }
  const auto rotary = config.find({{"no_rope_layers"}});
  if (rotary && rotary->size() < shape.num_hidden_layers) {
    rotary->refuse("has " + std::to_string(rotary->size()) + " entries, expected one for each layer");
  }
  const std::uint32_t interval = rotary ? 1 : config.size_or({{"no_rope_layer_interval"}}, 4);
  for (std::uint32_t i = 0; i < shape.num_hidden_layers; ++i) {
    const bool has_rotary = rotary ? rotary->at(std::size_t{i}).integer() != 0 : (i + 1) % interval != 0;
    if (!has_rotary) layers[i].attention.window = *window;
  }
}

/// MiniCPM: the mixture models of the family have experts of `intermediate_size` in every layer.
/// Source: openbmb/MiniCPM-MoE-8x2B modeling_minicpm.py, MiniCPMMoE.
inline void plan_minicpm(const config_view& config, const decoder_shape&, std::vector<layer_plan>& layers) {
  const auto count = config.find({{"num_experts"}});
  if (!count || count->integer() == 0) return;
  constexpr expert_traits traits{.where = expert_layers::all,
                                 .num_experts = {{"num_experts"}},
                                 .intermediate_size = {{"intermediate_size"}}};
  const expert_shape experts = experts_in(config, traits, true);
  for (layer_plan& layer : layers) {
    layer.mlp = mlp_shape{};
    layer.experts = experts;
  }
}

/// MiniCPM3: latent attention whose values are hidden / heads wide unless `v_head_dim` says otherwise.
/// Source: huggingface/transformers models/minicpm3/configuration_minicpm3.py.
inline void adjust_minicpm3(const config_view& config, decoder_shape& shape) {
  const std::uint32_t heads = shape.layer.attention.heads;
  shape.layer.attention = attention_shape{};
  latent_attention_sizes& sizes = shape.layer.latent.sizes;
  sizes.heads = heads;
  if (!config.is_null({{"q_lora_rank"}})) sizes.q_lora_rank = config.size_or({{"q_lora_rank"}}, 768);
  sizes.kv_lora_rank = config.size_or({{"kv_lora_rank"}}, 256);
  sizes.qk_rope_head_dim = config.size_or({{"qk_rope_head_dim"}}, 32);
  sizes.qk_nope_head_dim = config.size_or({{"qk_nope_head_dim"}}, 64);
  if (config.find({{"v_head_dim"}})) {
    sizes.v_head_dim = config.size({{"v_head_dim"}});
  } else if (shape.hidden_size % heads == 0) {
    sizes.v_head_dim = shape.hidden_size / heads;
  } else {
    config.refuse("hidden_size is not a multiple of num_attention_heads, and there is no v_head_dim");
  }
  const std::uint64_t query_dim = std::uint64_t{sizes.qk_nope_head_dim} + sizes.qk_rope_head_dim;
  (void)size_product(config, "num_attention_heads x (qk_nope_head_dim + qk_rope_head_dim)", heads, query_dim);
  (void)size_product(config, "num_attention_heads x v_head_dim", heads, sizes.v_head_dim);
  config.note(
      "the latent attention caches kv_lora_rank + qk_rope_head_dim elements per token; engines that "
      "expand it cache keys and values of every head instead");
}

/// Hunyuan: with `use_cla`, only every `cla_share_factor`-th layer makes keys and values; the layers behind
/// it read them. Source: tencent/Tencent-Hunyuan-Large modeling_hunyuan.py, HunYuanAttention.
inline void plan_cross_layer_attention(const config_view& config, const decoder_shape&,
                                       std::vector<layer_plan>& layers) {
  if (!config.flag({"use_cla", false})) return;
  const std::uint32_t factor = config.size({{"cla_share_factor"}});
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (i % factor == 0) continue;
    layers[i].attention.shared_cache = true;
    layers[i].attention.owns_kv_weights = false;
  }
}

/// Apertus: the activation of each layer has two trained scalars.
/// Source: huggingface/transformers activations.py, XIELUActivation.
inline void finish_apertus(const decoder_shape&, const layer_plan&, layer_draft& layer) {
  put(layer, weight_groups::vectors(module_role::mlp, 1, 2), nullptr);
}

/// Norms of queries and keys that have a bias beside their weight (Persimmon, Phi).
/// Source: huggingface/transformers models/persimmon/modeling_persimmon.py, PersimmonAttention.
inline void finish_biased_query_key_norms(const decoder_shape&, const layer_plan& plan, layer_draft& layer) {
  if (plan.attention.qk_norm != query_key_norm::head_dim) return;
  put(layer, weight_groups::vectors(module_role::norm, plan.attention.key_dim, 2), nullptr);
}

/// BitNet: norms of what the last projections of attention and MLP read.
/// Source: huggingface/transformers models/bitnet/modular_bitnet.py.
inline void finish_bitnet(const decoder_shape& shape, const layer_plan& plan, layer_draft& layer) {
  put(layer, weight_groups::vectors(module_role::norm, shape.hidden_size), nullptr);
  put(layer, weight_groups::vectors(module_role::norm, plan.mlp.intermediate_size), nullptr);
}

/// XVERSE: the mixture models of the same type have other keys.
inline void refuse_xverse_experts(const config_view& config, decoder_shape&) {
  if (const auto experts = config.find({{"num_experts"}})) {
    experts->refuse("mixture-of-experts models of type xverse are not supported");
  }
}

inline constexpr model_family plain_llama{.model_type = "llama"};

inline constexpr model_family hunyuan_dense_family{.model_type = "hunyuan_v1_dense",
                                                   .defaults = {.max_position_embeddings = 2048},
                                                   .qkv_biases = attention_bias,
                                                   .output_bias = attention_bias,
                                                   .qk_norm = query_key_norm::head_dim,
                                                   .has_qk_norm = {"use_qk_norm", true},
                                                   .mlp_biases = {"mlp_bias", false},
                                                   .plan = plan_cross_layer_attention};

inline constexpr model_family llama_like_families[] = {
    // Attention and MLP run in parallel on one norm; norms have no bias. Query and key norms have a weight
    // per head (models/cohere/modeling_cohere.py, CohereAttention).
    {.model_type = "cohere",
     .defaults = {.vocab_size = 256000, .max_position_embeddings = 8192, .tie_word_embeddings = true},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::each_head,
     .has_qk_norm = {"use_qk_norm", false},
     .norms_per_layer = 1},
    {.model_type = "cohere2",
     .defaults = {.vocab_size = 256000, .max_position_embeddings = 8192, .tie_word_embeddings = true},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .norms_per_layer = 1,
     .windows = {.rule = window_rule::pattern, .window = 4096, .pattern = 4}},
    {.model_type = "seed_oss",
     .defaults =
         {.vocab_size = 155136, .num_key_value_heads = 8, .head_dim = 128, .max_position_embeddings = 524288},
     .qkv_biases = {"attention_bias", true},
     .output_bias = {"attention_out_bias", false},
     .mlp_biases = {"mlp_bias", false}},
    {.model_type = "glm",
     .defaults =
         {.vocab_size = 151552, .num_key_value_heads = 2, .head_dim = 128, .max_position_embeddings = 131072},
     .qkv_biases = {"attention_bias", true},
     .renames = {{"mlp.gate_proj", "mlp.gate_up_proj"}, {"mlp.up_proj", "mlp.gate_up_proj"}}},
    {.model_type = "glm4",
     .defaults =
         {.vocab_size = 151552, .num_key_value_heads = 2, .head_dim = 128, .max_position_embeddings = 131072},
     .qkv_biases = {"attention_bias", true},
     .norms_per_layer = 4,
     .renames = {{"mlp.gate_proj", "mlp.gate_up_proj"}, {"mlp.up_proj", "mlp.gate_up_proj"}}},
    // OrionStarAI/Orion-14B-Base modeling_orion.py: LayerNorm instead of RMSNorm.
    {.model_type = "orion", .norm_biases = always},
    {.model_type = "olmo",
     .defaults = {.max_position_embeddings = 2048},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .adjust = adjust_olmo},
    {.model_type = "olmo3",
     .defaults = {.max_position_embeddings = 2048},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::full_width,
     .windows = {.rule = window_rule::pattern, .window = 4096, .pattern = 4}},
    // internlm/internlm-7b configuration_internlm.py: `bias` of all four projections.
    {.model_type = "internlm", .qkv_biases = {"bias", true}, .output_bias = {"bias", true}},
    // internlm/internlm3-8b-instruct configuration_internlm3.py.
    {.model_type = "internlm3",
     .qkv_biases = {"qkv_bias", false},
     .output_bias = {"bias", false},
     .mlp_biases = {"bias", false}},
    // XiaomiMiMo/MiMo-7B-Base modeling_mimo.py: Qwen2 with draft layers (MiMoMTPLayers).
    {.model_type = "mimo",
     .defaults = {.num_key_value_heads = 32, .max_position_embeddings = 32768},
     .qkv_biases = always,
     .windows = {.rule = window_rule::behind_first_layers, .window = 4096, .first_layers = 28},
     .renames = {{"eh_proj", "input_proj"}},
     .next_token_layers = true,
     .draft_prefix = "model.mtp_layers."},
    // openbmb/MiniCPM-2B-sft-bf16 configuration_minicpm.py.
    {.model_type = "minicpm",
     .defaults = {.max_position_embeddings = 2048, .tie_word_embeddings = true},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .renames = {{"mlp.experts.0.gate_proj", "mlp.experts.0.w1"},
                 {"mlp.experts.0.up_proj", "mlp.experts.0.w3"},
                 {"mlp.experts.0.down_proj", "mlp.experts.0.w2"}},
     .plan = plan_minicpm},
    {.model_type = "minicpm3",
     .defaults = {.vocab_size = 73448,
                  .num_attention_heads = 40,
                  .max_position_embeddings = 32768,
                  .tie_word_embeddings = true},
     .adjust = adjust_minicpm3},
    hunyuan_dense_family,
    named("hunyuan_vl_text", hunyuan_dense_family),
    {.model_type = "nemotron",
     .defaults = {.vocab_size = 256000, .max_position_embeddings = 4096},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .gated_mlp = false,
     .mlp_biases = {"mlp_bias", false},
     .norm_biases = always},
    {.model_type = "ministral",
     .defaults = {.num_key_value_heads = 8, .max_position_embeddings = 131072},
     .windows = {.rule = window_rule::every_layer, .window = 4096}},
    {.model_type = "smollm3",
     .defaults = {.vocab_size = 128256,
                  .num_key_value_heads = 4,
                  .max_position_embeddings = 32768,
                  .tie_word_embeddings = true},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .mlp_biases = {"mlp_bias", false},
     .windows = {.layer_types = false},
     .plan = plan_smollm3},
    {.model_type = "granite",
     .defaults = {.max_position_embeddings = 2048},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .mlp_biases = {"mlp_bias", false}},
    // LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct modeling_exaone.py.
    {.model_type = "exaone",
     .keys = {.num_hidden_layers = {{"num_layers", "num_hidden_layers"}}},
     .defaults = {.intermediate_per_hidden = 4, .max_position_embeddings = 2048},
     .layer_prefix = "transformer.h.",
     .renames = {{"self_attn.o_proj", "attn.attention.out_proj"},
                 {"self_attn", "attn.attention"},
                 {"mlp.gate_proj", "mlp.c_fc_0"},
                 {"mlp.up_proj", "mlp.c_fc_1"},
                 {"mlp.down_proj", "mlp.c_proj"},
                 {"model.embed_tokens", "transformer.wte"}}},
    {.model_type = "apertus",
     .defaults = {.vocab_size = 131072, .max_position_embeddings = 65536},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::head_dim,
     .gated_mlp = false,
     .finish_layer = finish_apertus},
    {.model_type = "ernie4_5",
     .defaults = {.vocab_size = 103424,
                  .num_key_value_heads = 2,
                  .head_dim = 128,
                  .max_position_embeddings = 131072,
                  .tie_word_embeddings = true},
     .qkv_biases = {"use_bias", false},
     .output_bias = {"use_bias", false},
     .mlp_biases = {"use_bias", false}},
    {.model_type = "arcee",
     .defaults = {.vocab_size = 32000, .max_position_embeddings = 4096},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .gated_mlp = false,
     .mlp_biases = {"mlp_bias", false}},
    // baichuan-inc/Baichuan2-7B-Base and Baichuan2-13B-Base modeling_baichuan.py.
    {.model_type = "baichuan",
     .keys = {.num_key_value_heads = {},
              .max_position_embeddings = {{"max_position_embeddings", "model_max_length"}}},
     .renames = {{"self_attn.q_proj", "self_attn.W_pack"},
                 {"self_attn.k_proj", "self_attn.W_pack"},
                 {"self_attn.v_proj", "self_attn.W_pack"}}},
    // xverse/XVERSE-13B modeling_xverse.py.
    {.model_type = "xverse", .adjust = refuse_xverse_experts},
    {.model_type = "persimmon",
     .keys = {.num_key_value_heads = {}},
     .defaults = {.vocab_size = 262144, .max_position_embeddings = 16384},
     .qkv_biases = always,
     .output_bias = always,
     .qk_norm = query_key_norm::head_dim,
     .has_qk_norm = {"qk_layernorm", true},
     .gated_mlp = false,
     .mlp_biases = always,
     .norm_biases = always,
     .renames = {{"self_attn.q_proj", "self_attn.query_key_value"},
                 {"self_attn.k_proj", "self_attn.query_key_value"},
                 {"self_attn.v_proj", "self_attn.query_key_value"},
                 {"self_attn.o_proj", "self_attn.dense"},
                 {"mlp.up_proj", "mlp.dense_h_to_4h"},
                 {"mlp.down_proj", "mlp.dense_4h_to_h"}},
     .finish_layer = finish_biased_query_key_norms},
    {.model_type = "helium",
     .defaults = {.num_key_value_heads = 20, .head_dim = 128, .max_position_embeddings = 4096},
     .qkv_biases = attention_bias,
     .mlp_biases = {"mlp_bias", false}},
    // The text model of EXAONE 4.5 is EXAONE 4 under either name.
    named("exaone4_5_text", exaone4_family),
    {.model_type = "bitnet",
     .defaults = {.vocab_size = 128256, .num_key_value_heads = 5, .max_position_embeddings = 2048},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .finish_layer = finish_bitnet},
    // BAAI/Aquila2-7B modeling_aquila.py; 01-ai/Yi-6B modeling_yi.py (first release).
    named("aquila", plain_llama),
    named("Yi", plain_llama),
};

}  // namespace kvbudget::inline v0::detail
