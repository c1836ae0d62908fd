#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/family.hpp"

/// Decoders with multi-head latent attention (MLA), most of them with experts.
///
/// Class defaults and shapes: huggingface/transformers models/<model_type>/configuration_<model_type>.py and
/// modeling_<model_type>.py, unless a family names another source.
namespace kvbudget::inline v0::detail {

/// Biases of latent projections are not counted, and a latent cache has no window: the config must not ask
/// for them.
inline void check_latent_layers(const config_view& config, const decoder_shape& shape) {
  if (shape.layer.latent.sizes.heads == 0) return;
  if (config.flag({"attention_bias", false})) {
    config.field()
        .at("attention_bias")
        .refuse("biases of latent attention are not supported, expected false");
  }
  const auto types = config.find({{"layer_types"}});
  if (!types) return;
  expect_entry_per_layer(config, *types, shape.num_hidden_layers);
  for (std::size_t i = 0; i < shape.num_hidden_layers; ++i) {
    const json_field type = types->at(i);
    if (type.text() == "full_attention" || type.text() == "deepseek_sparse_attention") continue;
    type.refuse("layer type \"" + printable(type.text(), 40) +
                "\" is unknown, expected full_attention or deepseek_sparse_attention");
  }
}

/// DeepSeek: the router has a bias per expert where `topk_method` is noaux_tc, else as its class says.
/// Source: deepseek-ai/DeepSeek-V3 modeling_deepseek.py, MoEGate.
inline void plan_deepseek(const config_view& config, const decoder_shape& shape,
                          std::vector<layer_plan>& layers) {
  check_latent_layers(config, shape);
  const auto method = config.find({{"topk_method"}});
  if (!method) return;
  const bool bias = method->text() == "noaux_tc";
  for (layer_plan& layer : layers) {
    if (layer.experts.sizes.num_experts != 0) layer.experts.correction_bias = bias;
  }
}

/// GLM-5: a "shared" layer takes the choice of tokens of the last "full" one, and has no indexer. By
/// `indexer_types`, else a pattern of F and S, else every `index_topk_freq`-th layer is full behind the first
/// `index_skip_topk_offset`. Source: huggingface/transformers models/glm_moe_dsa/modular_glm_moe_dsa.py; the
/// published count of GLM-5.2, 753,329,940,480, is without indexers on shared layers.
[[nodiscard]] inline std::vector<bool> layers_with_indexer(const config_view& config, std::uint32_t layers) {
  std::vector<bool> full(layers, true);
  if (const auto types = config.find({{"indexer_types", "index_topk_pattern"}})) {
    if (types->value().is_string()) {
      const std::string& letters = types->text();
      if (letters.size() < layers || letters.find_first_not_of("FS") != std::string::npos) {
        types->refuse("must be a letter F or S for each of the " + std::to_string(layers) +
                      " layers, not \"" + printable(letters, 40) + "\"");
      }
      for (std::uint32_t i = 0; i < layers; ++i) full[i] = letters[i] == 'F';
      return full;
    }
    expect_entry_per_layer(config, *types, layers);
    for (std::uint32_t i = 0; i < layers; ++i) {
      const json_field type = types->at(std::size_t{i});
      full[i] = type.text() == "full";
      if (!full[i] && type.text() != "shared") {
        type.refuse("indexer type \"" + printable(type.text(), 40) +
                    "\" is unknown, expected full or shared");
      }
    }
    return full;
  }
  const std::uint64_t every = larger<std::uint64_t>(count_or(config, {{"index_topk_freq"}}, 1), 1);
  if (every == 1) return full;
  const std::uint64_t offset = count_or(config, {{"index_skip_topk_offset"}}, 2);
  for (std::uint64_t i = 0; i < layers; ++i) full[i] = i + 1 < offset || (i + 1 - offset) % every == 0;
  return full;
}

inline void plan_glm_moe_dsa(const config_view& config, const decoder_shape& shape,
                             std::vector<layer_plan>& layers) {
  plan_deepseek(config, shape, layers);
  const std::vector<bool> full = layers_with_indexer(config, shape.num_hidden_layers);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (full[i]) continue;
    latent_shape& latent = layers[i].latent;
    latent.indexer_dim = latent.indexer_heads = latent.indexer_rank = 0;
  }
}
/// The draft layer has an indexer of its own.
[[nodiscard]] inline layer_plan draft_with_indexer(const config_view&, const decoder_shape& shape,
                                                   const std::vector<layer_plan>& layers, std::uint32_t) {
  layer_plan plan = layers.back();
  plan.latent = shape.layer.latent;
  return plan;
}

/// LongCat-Flash: a layer is two latent attentions and two MLPs, with one mixture beside them; some choices
/// of its router ("zero experts") compute nothing, so that fewer than `moe_topk` experts work on a token.
/// Sources: huggingface/transformers models/longcat_flash/modular_longcat_flash.py; draft layer, which is
/// dense and has its own embedding: vllm-project/vllm model_executor/models/longcat_flash_mtp.py. Together
/// they are the published count, 561,862,880,256.
inline constexpr std::uint32_t two_in_one = 1;  ///< a variant of layers

inline void adjust_longcat_flash(const config_view&, decoder_shape& shape) {
  shape.layer.variant = two_in_one;
  shape.layer.norms = 4;
}
inline void plan_longcat_flash(const config_view& config, const decoder_shape& shape,
                               std::vector<layer_plan>& layers) {
  check_latent_layers(config, shape);
  const std::uint64_t zero = count_or(config, {{"zero_expert_num"}}, 256);
  const bool router_bias = config.flag({"router_bias", false});
  for (layer_plan& layer : layers) {
    layer.experts.sizes.zero_experts = size_product(config, "zero_expert_num", zero, 1);
    layer.experts.router_bias = router_bias;
    layer.mlp = shape.layer.mlp;
  }
  if (zero != 0) {
    config.note("zero_expert_num: active parameters are those of a token that no zero expert is chosen for");
  }
}
inline void finish_longcat_flash(const decoder_shape&, const layer_plan& plan, layer_draft& layer) {
  if (plan.variant != two_in_one) return;
  constexpr struct {
    std::string_view one;
    const char* two;
  } names[] = {
      {"self_attn.q_proj", "self_attn.0.q_proj|self_attn.1.q_proj"},
      {"self_attn.q_a_proj", "self_attn.0.q_a_proj|self_attn.1.q_a_proj"},
      {"self_attn.q_b_proj", "self_attn.0.q_b_proj|self_attn.1.q_b_proj"},
      {"self_attn.kv_a_proj_with_mqa", "self_attn.0.kv_a_proj_with_mqa|self_attn.1.kv_a_proj_with_mqa"},
      {"self_attn.kv_b_proj", "self_attn.0.kv_b_proj|self_attn.1.kv_b_proj"},
      {"self_attn.o_proj", "self_attn.0.o_proj|self_attn.1.o_proj"},
      {"mlp.gate_proj|mlp.up_proj", "mlps.0.gate_proj|mlps.0.up_proj|mlps.1.gate_proj|mlps.1.up_proj"},
      {"mlp.down_proj", "mlps.0.down_proj|mlps.1.down_proj"}};
  layer.add(layer.stores[0]);
  for (std::size_t i = 0; i < layer.weight_count; ++i) {
    if (layer.weights[i].role == module_role::router) break;  // the mixture is there once
    layer.weights[i].copies *= 2;
    for (const auto& name : names) {
      if (layer.modules[i] != nullptr && name.one == layer.modules[i]) {
        layer.modules[i] = name.two;
        break;
      }
    }
  }
}
[[nodiscard]] inline layer_plan single_dense_draft(const config_view&, const decoder_shape& shape,
                                                   const std::vector<layer_plan>&, std::uint32_t) {
  layer_plan plan = shape.layer;
  plan.variant = 0;
  plan.norms = 2;
  return plan;
}
inline void join_longcat_draft(const decoder_shape& shape, layer_draft& layer) {
  using namespace weight_groups;
  const std::uint32_t hidden = shape.hidden_size;
  put(layer, whole(module_role::draft, hidden, 2 * hidden), "eh_proj");
  put(layer, vectors(module_role::draft, hidden, 3), nullptr);
  put(layer, vocabulary_table(module_role::embedding, shape.vocab_size, hidden), "embed_tokens");
}

/// openPangu: with `sandwich_norm`, outputs are normed as well.
/// Source: vllm-project/vllm model_executor/models/openpangu.py.
inline void adjust_pangu_ultra_moe(const config_view& config, decoder_shape& shape) {
  if (config.flag({"sandwich_norm", false})) shape.layer.norms = 4;
}

inline constexpr latent_defaults deepseek_latent{.q_lora_rank = 1536,
                                                 .kv_lora_rank = 512,
                                                 .qk_rope_head_dim = 64,
                                                 .qk_nope_head_dim = 128,
                                                 .v_head_dim = 128};

inline constexpr expert_traits deepseek_v3_experts{.where = expert_layers::behind_first_layers,
                                                   .num_experts = {{"n_routed_experts", "num_experts"}},
                                                   .shared_experts = {{"n_shared_experts"}},
                                                   .correction_bias = always,
                                                   .num_experts_default = 256,
                                                   .num_experts_per_tok_default = 8,
                                                   .intermediate_size_default = 2048,
                                                   .shared_experts_default = 1,
                                                   .first_dense_default = 3};

inline constexpr model_family latent_families[] = {
    {.model_type = "deepseek_v2",
     .defaults = {.max_position_embeddings = 2048},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .latent_attention = true,
     .latent = deepseek_latent,
     .experts = {.where = expert_layers::behind_first_layers,
                 .num_experts = {{"n_routed_experts"}},
                 .shared_experts = {{"n_shared_experts"}},
                 .num_experts_default = 64,
                 .intermediate_size_default = 1407,
                 .shared_experts_default = 2},
     .windows = {.layer_types = false},
     .plan = plan_deepseek},
    {.model_type = "deepseek_v3",
     .defaults = {.vocab_size = 129280,
                  .num_attention_heads = 128,
                  .intermediate_size = 18432,
                  .max_position_embeddings = 4096},
     .latent_attention = true,
     .latent = deepseek_latent,
     .experts = deepseek_v3_experts,
     .windows = {.layer_types = false},
     .next_token_layers = true,
     .next_token_tables = 2,
     .plan = plan_deepseek},
    {.model_type = "deepseek_v32",
     .defaults = {.vocab_size = 129280,
                  .num_attention_heads = 128,
                  .intermediate_size = 18432,
                  .max_position_embeddings = 163840},
     .latent_attention = true,
     .latent = {.q_lora_rank = 1536,
                .kv_lora_rank = 512,
                .qk_rope_head_dim = 64,
                .qk_nope_head_dim = 128,
                .v_head_dim = 128,
                .indexer_heads = 64,
                .indexer_dim = 128},
     .experts = deepseek_v3_experts,
     .windows = {.layer_types = false},
     .next_token_layers = true,
     .next_token_tables = 2,
     .plan = plan_deepseek},
    // configuration_deepseek.py of moonshotai/Kimi-K2-Instruct.
    {.model_type = "kimi_k2",
     .defaults = {.vocab_size = 129280,
                  .num_attention_heads = 128,
                  .intermediate_size = 18432,
                  .max_position_embeddings = 4096},
     .latent_attention = true,
     .latent = deepseek_latent,
     .experts = deepseek_v3_experts,
     .windows = {.layer_types = false},
     .next_token_layers = true,
     .next_token_tables = 2,
     .plan = plan_deepseek},
    {.model_type = "glm_moe_dsa",
     .defaults = {.vocab_size = 154880,
                  .num_attention_heads = 64,
                  .intermediate_size = 12288,
                  .max_position_embeddings = 202752},
     .latent_attention = true,
     .latent = {.q_lora_rank = 2048,
                .kv_lora_rank = 512,
                .qk_rope_head_dim = 64,
                .qk_nope_head_dim = 192,
                .v_head_dim = 256,
                .indexer_heads = 32,
                .indexer_dim = 128},
     .experts = deepseek_v3_experts,
     .windows = {.layer_types = false},
     .next_token_layers = true,
     .plan = plan_glm_moe_dsa,
     .plan_draft = draft_with_indexer},
    {.model_type = "glm4_moe_lite",
     .defaults = {.vocab_size = 154880,
                  .num_attention_heads = 20,
                  .intermediate_size = 10240,
                  .max_position_embeddings = 202752},
     .latent_attention = true,
     .latent = {.q_lora_rank = 768,
                .kv_lora_rank = 512,
                .qk_rope_head_dim = 64,
                .qk_nope_head_dim = 192,
                .v_head_dim = 256},
     .experts = {.where = expert_layers::behind_first_layers,
                 .num_experts = {{"n_routed_experts"}},
                 .shared_experts = {{"n_shared_experts"}},
                 .correction_bias = always,
                 .num_experts_default = 64,
                 .num_experts_per_tok_default = 4,
                 .intermediate_size_default = 1536,
                 .shared_experts_default = 1,
                 .first_dense_default = 1},
     .windows = {.layer_types = false},
     .next_token_layers = true,
     .next_token_tables = 2,
     .plan = plan_deepseek},
    {.model_type = "longcat_flash",
     .keys = {.num_hidden_layers = {{"num_layers"}},
              .intermediate_size = {{"ffn_hidden_size", "intermediate_size"}}},
     .defaults = {.vocab_size = 131072,
                  .num_attention_heads = 64,
                  .intermediate_size = 12288,
                  .max_position_embeddings = 131072},
     .latent_attention = true,
     .latent = deepseek_latent,
     .experts = {.where = expert_layers::all,
                 .num_experts = {{"n_routed_experts"}},
                 .num_experts_per_tok = {{"moe_topk", "num_experts_per_tok"}},
                 .intermediate_size = {{"expert_ffn_hidden_size"}},
                 .correction_bias = always,
                 .num_experts_default = 512,
                 .num_experts_per_tok_default = 12,
                 .intermediate_size_default = 2048},
     .windows = {.layer_types = false},
     .renames = {{"mlp.gate", "mlp.router.classifier"}},
     .next_token_layers = true,
     .next_token_layers_default = 1,
     .draft_prefix = "model.mtp.layers.",
     .adjust = adjust_longcat_flash,
     .plan = plan_longcat_flash,
     .finish_layer = finish_longcat_flash,
     .plan_draft = single_dense_draft,
     .join_draft = join_longcat_draft},
    // The router of Mistral 4 has no bias per expert.
    {.model_type = "mistral4",
     .defaults = {.vocab_size = 131072,
                  .num_attention_heads = 32,
                  .intermediate_size = 12288,
                  .max_position_embeddings = 1048576},
     .nested = {.hidden_size = 4096, .num_hidden_layers = 36},
     .latent_attention = true,
     .latent = {.q_lora_rank = 1024,
                .kv_lora_rank = 256,
                .qk_rope_head_dim = 64,
                .qk_nope_head_dim = 64,
                .v_head_dim = 128},
     .experts = {.where = expert_layers::behind_first_layers,
                 .num_experts = {{"n_routed_experts", "num_local_experts"}},
                 .shared_experts = {{"n_shared_experts"}},
                 .num_experts_default = 128,
                 .num_experts_per_tok_default = 4,
                 .intermediate_size_default = 2048,
                 .shared_experts_default = 1},
     .windows = {.layer_types = false},
     .plan = plan_deepseek},
    {.model_type = "youtu",
     .defaults = {.vocab_size = 128256,
                  .num_attention_heads = 16,
                  .intermediate_size = 6144,
                  .max_position_embeddings = 131072,
                  .tie_word_embeddings = true},
     .latent_attention = true,
     .latent = deepseek_latent,
     .windows = {.layer_types = false},
     .plan = plan_deepseek},
    // configuration_openpangu_moe.py of openPangu-Ultra-MoE-718B.
    {.model_type = "pangu_ultra_moe",
     .latent_attention = true,
     .experts = {.where = expert_layers::behind_first_layers,
                 .num_experts = {{"num_routed_experts", "n_routed_experts"}},
                 .shared_experts = {{"num_shared_experts", "n_shared_experts"}},
                 .first_dense = {{"num_dense_layers", "first_k_dense_replace"}},
                 .correction_bias = {"router_enable_expert_bias", false}},
     .windows = {.layer_types = false},
     .next_token_layers = true,
     .next_token_tables = 2,
     .adjust = adjust_pangu_ultra_moe,
     .plan = plan_deepseek},
};

}  // namespace kvbudget::inline v0::detail
