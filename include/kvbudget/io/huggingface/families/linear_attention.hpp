#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/family.hpp"
#include "kvbudget/io/huggingface/layer_lists.hpp"
#include "kvbudget/io/huggingface/mixers.hpp"

/// Attention beside linear attention, delta nets, convolutions and gated linear recurrences.
///
/// Keys, class defaults, names and shapes, where nothing else is said: huggingface/transformers
/// models/<model_type>/configuration_<model_type>.py and modeling_<model_type>.py.
namespace kvbudget::inline v0::detail {

inline constexpr layer_word linear_words[] = {{"linear_attention", layer_part::recurrent},
                                              {"full_attention", layer_part::attention}};

// -- Qwen3-Next, Qwen3.5 ------------------------------------------------------------------------------------

inline constexpr expert_traits qwen_next_experts{.where = expert_layers::every_step,
                                                 .num_experts = {{"num_experts"}},
                                                 .shared_intermediate = {{"shared_expert_intermediate_size"}},
                                                 .shared_gate = true};

/// Every layer has experts in Qwen3.5: `decoder_sparse_step` is not a key of its class.
inline constexpr expert_traits qwen35_experts{.where = expert_layers::all,
                                              .num_experts = {{"num_experts"}},
                                              .shared_intermediate = {{"shared_expert_intermediate_size"}},
                                              .shared_gate = true,
                                              .num_experts_default = 256,
                                              .num_experts_per_tok_default = 8};

inline void adjust_gated_attention(const config_view& config, decoder_shape& shape) {
  shape.layer.attention.gated_output = config.flag({"attn_output_gate", true});
}

/// `layer_types`, else attention in every `full_attention_interval`-th layer; gated delta nets elsewhere.
/// Source: modeling_qwen3_next.py, Qwen3NextGatedDeltaNet.
inline void plan_gated_delta_net(const config_view& config, const decoder_shape& shape,
                                 std::vector<layer_plan>& layers) {
  std::vector<layer_part> parts;
  if (const auto words = config.find({{"layer_types"}})) {
    parts = parts_by_word(config, *words, shape.num_hidden_layers, linear_words);
  } else {
    const std::uint32_t interval = config.size_or({{"full_attention_interval"}}, 4);
    std::vector<bool> attends;
    for (std::uint32_t i = 0; i < layers.size(); ++i) attends.push_back((i + 1) % interval == 0);
    parts = attention_where(attends);
  }
  const std::uint32_t value_heads = config.size_or({{"linear_num_value_heads"}}, 32);
  const std::uint32_t value_dim = config.size_or({{"linear_value_head_dim"}}, 128);
  const std::uint32_t key_heads = config.size_or({{"linear_num_key_heads"}}, 16);
  const std::uint32_t key_dim = config.size_or({{"linear_key_head_dim"}}, 128);
  if (value_heads % key_heads != 0) {
    config.refuse("linear_num_value_heads " + std::to_string(value_heads) +
                  " is not a multiple of linear_num_key_heads " + std::to_string(key_heads));
  }
  const std::uint64_t keys = size_product(config, "linear attention keys", key_heads, key_dim);
  check_channels(config, 2 * keys + size_product(config, "linear attention values", value_heads, value_dim));
  mixer_shape mixer;
  mixer.kept = stores::gated_delta_net(value_heads, value_dim, key_heads, key_dim,
                                       kernel_in(config, {{"linear_conv_kernel_dim"}}, 4));
  note_state_dtype(config);
  place_mixers(mixer, parts, layers);
}

/// MTP: a layer with attention and the last layer's MLP or experts, a projection of 2H × H, three norms.
/// Source: vllm-project/vllm model_executor/models/qwen3_5_mtp.py, Qwen3_5MultiTokenPredictor.
inline void finish_qwen_draft(const config_view& config, const decoder_shape& shape,
                              const std::vector<layer_plan>& layers, model_builder& builder) {
  using namespace weight_groups;
  constexpr module_role role = module_role::draft;
  const auto given = config.find({{"mtp_num_hidden_layers", "num_nextn_predict_layers"}});
  const std::uint64_t count = given ? given->integer() : 0;
  if (count == 0) {
    if (!given)
      config.note("mtp_num_hidden_layers is absent: draft layers (MTP), if there are any, are not counted");
    return;
  }
  if (count > max_layers) given->refuse("must be at most " + std::to_string(max_layers));
  layer_plan plan = layers.back();
  plan.attention = shape.layer.attention;
  plan.recurrent = mixer_shape{};
  const layer_draft layer = layer_of(shape, plan, model_family{});
  builder.keep_in_draft_layers(count, layer);
  for (std::uint64_t i = 0; i < count; ++i) {
    builder.add_draft_layer(layer, "mtp.layers." + std::to_string(i) + ".");
  }
  const std::uint32_t hidden = shape.hidden_size;
  builder.add(whole(role, hidden, size_product(config, "hidden_size", hidden, 2)), "mtp.fc");
  builder.add(vectors(role, hidden, 3));
  if (config.flag({"mtp_use_dedicated_embeddings", false})) {
    builder.add(vocabulary_table(role, shape.vocab_size, hidden), "mtp.embed_tokens");
  }
  config.note(given->path() +
              ": the draft layers are counted apart; engines load them only for speculative decoding");
}

// -- Kimi ---------------------------------------------------------------------------------------------------

inline constexpr expert_traits kimi_experts{
    .where = expert_layers::behind_first_layers,
    .num_experts = {{"num_experts"}},
    .num_experts_per_tok = {{"num_experts_per_token", "num_experts_per_tok"}},
    .shared_experts = {{"num_shared_experts"}},
    .correction_bias = always};

/// What a layer of Kimi has beyond the plan.
enum kimi_variant : std::uint32_t {
  kimi_full_rank_gate = 1,
  kimi_output_gate = 2,
  kimi_latent_norm = 4,
  kimi_residual_attention = 8
};

/// `linear_attn_config` lists the layers of both kinds, counted from 1; experts may work on
/// `routed_expert_hidden_size`. Sources: moonshotai/Kimi-Linear-48B-A3B-Instruct configuration_kimi.py and
/// modeling_kimi.py; vllm-project/vllm models/kimi_k3/nvidia (kda.py, mla.py, model.py).
inline void plan_kimi(const config_view& config, const decoder_shape& shape,
                      std::vector<layer_plan>& layers) {
  const auto described = config.find({{"linear_attn_config"}});
  if (!described) config.refuse_missing({{"linear_attn_config"}});
  const config_view linear = config.nested(*described);
  const std::uint32_t count = shape.num_hidden_layers;
  const std::vector<bool> attends = layers_listed(described->at("full_attn_layers"), count, 1);
  const std::vector<bool> recurs = layers_listed(described->at("kda_layers"), count, 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (attends[i] != recurs[i]) continue;
    described->refuse("layer " + std::to_string(i + 1) + " is in " + (attends[i] ? "both" : "neither") +
                      " of full_attn_layers and kda_layers");
  }
  const std::uint32_t heads = linear.size({{"num_heads"}});
  const std::uint32_t head_dim = linear.size({{"head_dim"}});
  const std::uint64_t width = size_product(linear, "num_heads x head_dim", heads, head_dim);
  check_channels(linear, 3 * width);
  mixer_shape mixer;
  mixer.own_weights = true;
  mixer.kept = stores::kimi_delta(heads, head_dim, kernel_in(linear, {{"short_conv_kernel_size"}}, 4));
  place_mixers(mixer, attention_where(attends), layers);
  std::uint32_t latent = 0;
  if (config.find({{"routed_expert_hidden_size"}})) latent = config.size({{"routed_expert_hidden_size"}});
  const bool residual = config.find({{"attn_res_block_size"}}).has_value();
  for (std::uint32_t i = 0; i < count; ++i) {
    layer_plan& layer = layers[i];
    if (recurs[i] && linear.flag({"use_full_rank_gate", false})) layer.variant |= kimi_full_rank_gate;
    if (attends[i] && config.flag({"mla_use_output_gate", false})) layer.variant |= kimi_output_gate;
    if (residual) layer.variant |= kimi_residual_attention;
    if (layer.experts.sizes.num_experts == 0) continue;
    layer.experts.sizes.latent_size = latent;
    if (latent != 0 && config.flag({"latent_moe_use_norm", false})) layer.variant |= kimi_latent_norm;
  }
}

/// Kimi delta attention (K = heads × d): H·3K, 3K·conv, decay through d and a full-width or low-rank gate,
/// step sizes H·h, h + K + d, K·H. Source: vllm-project/vllm model_executor/layers/kda.py.
inline void add_kimi_delta(layer_draft& layer, std::uint32_t hidden, const store& kept, bool full_rank_gate) {
  using namespace weight_groups;
  constexpr module_role role = module_role::mixer;
  const std::uint32_t heads = kept.state_heads;
  const std::uint32_t dim = kept.state_head_dim;
  const std::uint32_t width = heads * dim;
  put(layer, by_rows(role, width, hidden, heads, 3), "self_attn.q_proj|self_attn.k_proj|self_attn.v_proj");
  put(layer,
      weight_group{width, kept.conv_kernel, 3, heads, role, tensor_kind::convolution, shard_rule::tensor},
      nullptr);
  put(layer, whole(role, dim, hidden), "self_attn.f_a_proj");
  put(layer, by_rows(role, width, dim, heads), "self_attn.f_b_proj");
  put(layer, by_rows(role, heads, hidden, heads), "self_attn.b_proj");
  put(layer, split_bias(role, std::uint64_t{heads} + width, heads), nullptr);
  put(layer, vectors(role, dim), nullptr);
  if (full_rank_gate) {
    put(layer, by_rows(role, width, hidden, heads), "self_attn.g_proj");
  } else {
    put(layer, whole(role, dim, hidden), "self_attn.g_a_proj");
    put(layer, by_rows(role, width, dim, heads), "self_attn.g_b_proj");
  }
  put(layer, by_columns(role, hidden, width, heads), "self_attn.o_proj");
}

inline void finish_kimi_layer(const decoder_shape& shape, const layer_plan& plan, layer_draft& layer) {
  using namespace weight_groups;
  const std::uint32_t hidden = shape.hidden_size;
  if (plan.recurrent.kept.kind != store_kind::none) {
    add_kimi_delta(layer, hidden, plan.recurrent.kept, (plan.variant & kimi_full_rank_gate) != 0);
  }
  if ((plan.variant & kimi_output_gate) != 0) {
    const latent_attention_sizes& sizes = plan.latent.sizes;
    const std::uint64_t width = std::uint64_t{sizes.heads} * sizes.v_head_dim;
    put(layer, by_rows(module_role::attention, width, hidden, sizes.heads), "self_attn.g_proj");
  }
  if ((plan.variant & kimi_latent_norm) != 0) {
    put(layer, vectors(module_role::norm, plan.experts.sizes.latent_size), nullptr);
  }
  // Attention over the residuals of earlier blocks: a norm and a query of H before attention and before MLP.
  if ((plan.variant & kimi_residual_attention) != 0) {
    put(layer, vectors(module_role::norm, hidden, 4), nullptr);
  }
}

inline void finish_kimi(const config_view& config, const decoder_shape& shape, const std::vector<layer_plan>&,
                        model_builder& builder) {
  if (config.find({{"attn_res_block_size"}})) {
    builder.add(weight_groups::vectors(module_role::norm, shape.hidden_size, 2));
  }
}

// -- MiniMax-01, MiniMax-M1 ---------------------------------------------------------------------------------

inline constexpr expert_traits minimax_experts{.where = expert_layers::all,
                                               .num_experts = {{"num_local_experts", "num_experts"}},
                                               .intermediate_size = {{"intermediate_size"}},
                                               .num_experts_default = 8,
                                               .num_experts_per_tok_default = 2};

inline constexpr layer_word minimax_types[] = {{"0", layer_part::recurrent}, {"1", layer_part::attention}};

/// `attn_type_list`: 1 = attention, 0 = lightning attention with as many heads; `layer_types` says the same
/// in words. Source: MiniMaxAI/MiniMax-M1-80k modeling_minimax_m1.py, MiniMaxM1LightningAttention.
inline void plan_minimax(const config_view& config, const decoder_shape& shape,
                         std::vector<layer_plan>& layers) {
  const std::uint32_t count = shape.num_hidden_layers;
  std::vector<layer_part> parts;
  const auto numbers = config.find({{"attn_type_list"}});
  const auto words = config.find({{"layer_types"}});
  if (numbers) {
    expect_entry_per_layer(config, *numbers, count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const json_field entry = numbers->at(std::size_t{i});
      parts.push_back(part_called(entry, std::to_string(entry.integer()), minimax_types));
    }
  } else if (words) {
    parts = parts_by_word(config, *words, count, linear_words);
  } else if (std::string_view(config.model_type()) == "minimax") {
    config.note_default("layer_types", "full_attention and linear_attention in turn");
    for (std::uint32_t i = 0; i < count; ++i) {
      parts.push_back(i % 2 == 0 ? layer_part::attention : layer_part::recurrent);
    }
  } else {
    config.refuse_missing({{"attn_type_list", "layer_types"}});
  }
  if (const auto shared = config.find({{"shared_intermediate_size"}}); shared && shared->integer() != 0) {
    shared->refuse("a shared expert is not supported for " + std::string(config.model_type()) +
                   ", expected 0");
  }
  const attention_shape& attention = shape.layer.attention;
  (void)size_product(config, "num_attention_heads x head_dim", attention.heads, attention.key_dim);
  mixer_shape mixer;
  mixer.kept = stores::linear_attention(attention.heads, attention.key_dim);
  place_mixers(mixer, parts, layers);
}

// -- Ring-linear, Ling-linear -------------------------------------------------------------------------------

inline constexpr expert_traits bailing_linear_experts{
    .where = expert_layers::behind_first_layers,
    .num_experts = {{"num_experts"}},
    .shared_experts = {{"num_shared_experts"}},
    .correction_bias = {"moe_router_enable_expert_bias", false}};

/// Attention in the last layer of each group of `layer_group_size`, and in what is left behind the last whole
/// group; linear attention elsewhere, with as many KV heads as query heads. Source: ml-explore/mlx-lm
/// mlx_lm/models/bailing_moe_linear.py, BailingMoeLinearDecoderLayer.
inline void plan_bailing_moe_linear(const config_view& config, const decoder_shape& shape,
                                    std::vector<layer_plan>& layers) {
  const std::uint32_t group = config.size({{"layer_group_size"}});
  if (config.find({{"kv_lora_rank"}})) config.refuse("kv_lora_rank: latent attention is not supported");
  if (config.flag({"use_bias", false})) config.refuse("use_bias true is not supported");
  const auto count = static_cast<std::uint32_t>(layers.size());
  std::vector<bool> attends;
  for (std::uint32_t i = 0; i < count; ++i) {
    attends.push_back((i + 1) % group == 0 || i >= count / group * group);
  }
  const attention_shape& attention = shape.layer.attention;
  (void)size_product(config, "num_attention_heads x head_dim", attention.heads, attention.key_dim);
  mixer_shape mixer;
  mixer.kept = stores::linear_attention(attention.heads, attention.key_dim);
  mixer.input_bias = attention.qkv_biases;
  if (mixer.input_bias) config.refuse("use_qkv_bias true is not supported");
  place_mixers(mixer, attention_where(attends), layers);
  const auto wide = config.find({{"moe_shared_expert_intermediate_size"}});
  if (!wide) return;
  const auto shared = config.find(bailing_linear_experts.shared_experts);
  const std::uint64_t experts = shared ? shared->integer() : 0;
  const std::uint32_t width =
      size_product(config, "num_shared_experts", experts, config_view::size_in(*wide));
  for (layer_plan& layer : layers) {
    if (layer.experts.sizes.num_experts != 0) layer.experts.sizes.shared_intermediate = width;
  }
}

/// Linear attention norms its queries and keys like attention does.
inline void finish_bailing_layer(const decoder_shape& shape, const layer_plan& plan, layer_draft& layer) {
  if (plan.recurrent.kept.kind == store_kind::none) return;
  if (shape.layer.attention.qk_norm == query_key_norm::none) return;
  put(layer, weight_groups::vectors(module_role::norm, shape.layer.attention.key_dim, 2), nullptr);
}

// -- LFM2 ---------------------------------------------------------------------------------------------------

inline constexpr family_keys lfm2_keys{.head_dim = {},
                                       .intermediate_size = {{"block_ff_dim", "intermediate_size"}},
                                       .tie_word_embeddings = {{"tie_embedding", "tie_word_embeddings"}}};
inline constexpr family_defaults lfm2_defaults{.vocab_size = 65536,
                                               .num_key_value_heads = 8,
                                               .max_position_embeddings = 128000,
                                               .tie_word_embeddings = true};

inline constexpr layer_word lfm2_words[] = {{"conv", layer_part::recurrent},
                                            {"full_attention", layer_part::attention}};

/// `layer_types`, else `full_attn_idxs`; short convolutions of H channels elsewhere.
inline void plan_lfm2(const config_view& config, const decoder_shape& shape,
                      std::vector<layer_plan>& layers) {
  std::vector<layer_part> parts(layers.size(), layer_part::attention);
  if (const auto words = config.find({{"layer_types"}})) {
    parts = parts_by_word(config, *words, shape.num_hidden_layers, lfm2_words);
  } else if (const auto numbers = config.find({{"full_attn_idxs"}})) {
    parts = attention_where(layers_listed(*numbers, shape.num_hidden_layers));
  } else {
    config.note_default("layer_types", "full_attention in every layer");
  }
  check_channels(config, 3 * std::uint64_t{shape.hidden_size});
  mixer_shape mixer;
  mixer.kept = stores::short_convolution(shape.hidden_size, kernel_in(config, {{"conv_L_cache"}}, 3));
  mixer.options.convolution_bias = config.flag({"conv_bias", false});
  mixer.input_bias = mixer.options.convolution_bias;
  mixer.output_bias = mixer.options.convolution_bias;
  place_mixers(mixer, parts, layers);
}

/// The MLP is two thirds as wide as the config says, times a factor, rounded up to a multiple, unless
/// `block_auto_adjust_ff_dim` is false. Source: modeling_lfm2.py, Lfm2MLP.
inline void adjust_lfm2(const config_view& config, decoder_shape& shape) {
  if (!config.flag({"block_auto_adjust_ff_dim", true})) return;
  std::uint64_t width = 2 * std::uint64_t{shape.layer.mlp.intermediate_size} / 3;
  if (const auto factor = config.find({{"block_ffn_dim_multiplier"}})) {
    const double scaled = std::floor(factor->number() * static_cast<double>(width));
    if (!(scaled >= 1 && scaled <= UINT32_MAX)) factor->refuse("must give an MLP 1 to 2^32 - 1 wide");
    width = static_cast<std::uint64_t>(scaled);
  }
  const std::uint64_t multiple = config.size_or({{"block_multiple_of"}}, 256);
  width = round_up(width, multiple);
  if (width == 0 || width > UINT32_MAX) config.refuse("the MLP must be 1 to 2^32 - 1 wide");
  shape.layer.mlp.intermediate_size = static_cast<std::uint32_t>(width);
}

inline constexpr expert_traits lfm2_experts{.num_experts = {{"num_experts"}},
                                            .correction_bias = {"use_expert_bias", true},
                                            .num_experts_default = 32,
                                            .num_experts_per_tok_default = 4};

/// Experts from layer `num_dense_layers` on. The published count of LFM2-8B-A1B leaves out the routers'
/// biases, which it stores in fp32 (704); that of LFM2-24B-A2B has them.
inline void plan_lfm2_moe(const config_view& config, const decoder_shape& shape,
                          std::vector<layer_plan>& layers) {
  std::uint64_t dense = 2;
  if (const auto given = config.find({{"num_dense_layers"}})) {
    dense = given->integer();
  } else {
    config.note_default("num_dense_layers", "2");
  }
  const expert_shape experts = experts_in(config, lfm2_experts, true);
  for (std::uint64_t i = dense; i < layers.size(); ++i) {
    layers[i].mlp = mlp_shape{};
    layers[i].experts = experts;
  }
  plan_lfm2(config, shape, layers);
}

// -- RecurrentGemma -----------------------------------------------------------------------------------------

inline constexpr layer_word griffin_words[] = {{"recurrent", layer_part::recurrent},
                                               {"attention", layer_part::attention}};

/// `block_types` repeats over the layers; attention keeps `attention_window_size` tokens. The state of an
/// RG-LRU is one element per channel: that of a Mamba-1 mixer with one state per channel.
/// Source: modeling_recurrent_gemma.py, RecurrentGemmaRecurrentBlock, RecurrentGemmaRglru.
inline void plan_griffin(const config_view& config, const decoder_shape& shape,
                         std::vector<layer_plan>& layers) {
  std::vector<layer_part> cycle{layer_part::recurrent, layer_part::recurrent, layer_part::attention};
  if (const auto words = config.find({{"block_types"}})) {
    if (words->size() == 0 || words->size() > max_layers) words->refuse("must have 1 to 512 entries");
    cycle = parts_by_word(config, *words, static_cast<std::uint32_t>(words->size()), griffin_words);
  } else {
    config.note_default("block_types", "recurrent, recurrent, attention");
  }
  const std::uint32_t width = config.find({{"lru_width"}}) ? config.size({{"lru_width"}}) : shape.hidden_size;
  const std::uint32_t heads = shape.layer.attention.heads;
  if (width % heads != 0) {
    config.refuse("lru_width " + std::to_string(width) + " is not a multiple of num_attention_heads " +
                  std::to_string(heads));
  }
  mixer_shape mixer;
  mixer.own_weights = true;
  mixer.kept = stores::mamba1(width, 1, kernel_in(config, {{"conv1d_width"}}, 4));
  const std::uint32_t window = config.size_or({{"attention_window_size"}}, 2048);
  std::vector<layer_part> parts;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    parts.push_back(cycle[i % cycle.size()]);
    layers[i].attention.window = window;
  }
  place_mixers(mixer, parts, layers);
}

inline void adjust_griffin(const config_view& config, decoder_shape& shape) {
  mlp_shape& mlp = shape.layer.mlp;
  mlp.intermediate_size /= 2;
  if (mlp.intermediate_size == 0) config.refuse("intermediate_size must be at least 2");
}

/// W = the width of the RG-LRU, b = W / heads: 3·H·W + 2W + H, W·(K + 1), two gates of heads × b² + W, W.
inline void finish_griffin_layer(const decoder_shape& shape, const layer_plan& plan, layer_draft& layer) {
  using namespace weight_groups;
  constexpr module_role role = module_role::mixer;
  const store& kept = plan.recurrent.kept;
  if (kept.kind == store_kind::none) return;
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t width = kept.inner_size;
  const std::uint32_t heads = shape.layer.attention.heads;
  put(layer, by_rows(role, width, hidden, heads, 2), "temporal_block.linear_x|temporal_block.linear_y");
  put(layer, by_columns(role, hidden, width, heads), "temporal_block.linear_out");
  put(layer,
      weight_group{width, kept.conv_kernel + 1, 1, heads, role, tensor_kind::convolution, shard_rule::tensor},
      nullptr);
  put(layer, weight_group{width, width / heads, 2, heads, role, tensor_kind::convolution, shard_rule::tensor},
      nullptr);
  put(layer, split_bias(role, 5 * std::uint64_t{width}, heads), nullptr);
  put(layer, vectors(role, hidden), nullptr);
}

// -- The table ----------------------------------------------------------------------------------------------

[[nodiscard]] constexpr model_family minimax_family(const char* model_type,
                                                    const family_defaults& defaults = {}) {
  return {.model_type = model_type,
          .keys = {.intermediate_size = {}},  // the experts' width is no MLP's
          .defaults = defaults,
          .experts = minimax_experts,
          .windows = {.layer_types = false},
          .renames = {{"mlp.gate", "block_sparse_moe.gate"},
                      {"mlp.experts.0.gate_proj", "block_sparse_moe.experts.0.w1"},
                      {"mlp.experts.0.down_proj", "block_sparse_moe.experts.0.w2"},
                      {"mlp.experts.0.up_proj", "block_sparse_moe.experts.0.w3"}},
          .plan = plan_minimax};
}

inline constexpr model_family linear_attention_families[] = {
    {.model_type = "qwen3_next",
     .keys = {.intermediate_size = {{"intermediate_size"}}},
     .defaults = {.vocab_size = 151936,
                  .num_attention_heads = 16,
                  .num_key_value_heads = 2,
                  .head_dim = 256,
                  .max_position_embeddings = 32768},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::head_dim,
     .experts = qwen_next_experts,
     .windows = {.layer_types = false},
     .renames = {{"mlp.shared_experts", "mlp.shared_expert"},
                 {"linear_attn.in_proj_qkv", "linear_attn.in_proj_qkvz"},
                 {"linear_attn.in_proj_z", "linear_attn.in_proj_qkvz"},
                 {"linear_attn.in_proj_a", "linear_attn.in_proj_ba"},
                 {"linear_attn.in_proj_b", "linear_attn.in_proj_ba"}},
     .adjust = adjust_gated_attention,
     .plan = plan_gated_delta_net,
     .finish_model = finish_qwen_draft},
    {.model_type = "qwen3_5_text",
     .defaults = {.vocab_size = 248320,
                  .num_attention_heads = 16,
                  .num_key_value_heads = 4,
                  .head_dim = 256,
                  .max_position_embeddings = 32768},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::head_dim,
     .windows = {.layer_types = false},
     .renames = {{"model.embed_tokens", "model.language_model.embed_tokens"}},
     .adjust = adjust_gated_attention,
     .plan = plan_gated_delta_net,
     .finish_model = finish_qwen_draft},
    {.model_type = "qwen3_5_moe_text",
     .keys = {.intermediate_size = {}},
     .defaults = {.vocab_size = 248320,
                  .num_attention_heads = 16,
                  .num_key_value_heads = 2,
                  .head_dim = 256,
                  .max_position_embeddings = 32768},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::head_dim,
     .experts = qwen35_experts,
     .windows = {.layer_types = false},
     .renames = {{"mlp.shared_experts", "mlp.shared_expert"},
                 {"model.embed_tokens", "model.language_model.embed_tokens"}},
     .adjust = adjust_gated_attention,
     .plan = plan_gated_delta_net,
     .finish_model = finish_qwen_draft},
    {.model_type = "kimi_linear",
     .keys = {.max_position_embeddings = {{"max_position_embeddings", "model_max_length"}}},
     .defaults = {.vocab_size = 163840},
     .latent_attention = true,
     .experts = kimi_experts,
     .windows = {.layer_types = false},
     .renames = {{"mlp.gate_proj", "mlp.gate_proj"},
                 {"mlp.gate", "block_sparse_moe.gate"},
                 {"mlp.shared_experts", "block_sparse_moe.shared_experts"},
                 {"mlp.experts.0.gate_proj", "block_sparse_moe.experts.0.w1"},
                 {"mlp.experts.0.down_proj", "block_sparse_moe.experts.0.w2"},
                 {"mlp.experts.0.up_proj", "block_sparse_moe.experts.0.w3"},
                 {"mlp.fc1_latent_proj", "block_sparse_moe.routed_expert_down_proj"},
                 {"mlp.fc2_latent_proj", "block_sparse_moe.routed_expert_up_proj"}},
     .next_token_layers = true,
     .plan = plan_kimi,
     .finish_layer = finish_kimi_layer,
     .finish_model = finish_kimi},
    minimax_family("minimax",
                   {.vocab_size = 32000, .num_key_value_heads = 8, .max_position_embeddings = 131072}),
    minimax_family("minimax_text_01"),
    minimax_family("minimax_m1"),
    {.model_type = "bailing_moe_linear",
     .qkv_biases = {"use_qkv_bias", false},
     .qk_norm = query_key_norm::head_dim,
     .has_qk_norm = {"use_qk_norm", false},
     .experts = bailing_linear_experts,
     .windows = {.layer_types = false},
     .renames = {{"self_attn.qkv_proj", "attention.query_key_value"},
                 {"self_attn.q_proj", "attention.query_key_value"},
                 {"self_attn.k_proj", "attention.query_key_value"},
                 {"self_attn.v_proj", "attention.query_key_value"},
                 {"self_attn.output_gate", "attention.g_proj"},
                 {"self_attn.out_proj", "attention.dense"},
                 {"self_attn.o_proj", "attention.dense"},
                 {"model.embed_tokens", "model.word_embeddings"}},
     .next_token_layers = true,
     .plan = plan_bailing_moe_linear,
     .finish_layer = finish_bailing_layer},
    {.model_type = "lfm2",
     .keys = lfm2_keys,
     .defaults = lfm2_defaults,
     .qk_norm = query_key_norm::head_dim,
     .windows = {.layer_types = false},
     .renames = {{"mlp.gate_proj", "feed_forward.w1"},
                 {"mlp.down_proj", "feed_forward.w2"},
                 {"mlp.up_proj", "feed_forward.w3"},
                 {"self_attn.o_proj", "self_attn.out_proj"}},
     .adjust = adjust_lfm2,
     .plan = plan_lfm2},
    {.model_type = "lfm2_moe",
     .keys = lfm2_keys,
     .defaults = lfm2_defaults,
     .qk_norm = query_key_norm::head_dim,
     .windows = {.layer_types = false},
     .renames = {{"mlp.gate_proj", "feed_forward.w1"},
                 {"mlp.down_proj", "feed_forward.w2"},
                 {"mlp.up_proj", "feed_forward.w3"},
                 {"self_attn.o_proj", "self_attn.out_proj"},
                 {"mlp.experts.0.gate_proj", "feed_forward.experts.0.w1"},
                 {"mlp.experts.0.down_proj", "feed_forward.experts.0.w2"},
                 {"mlp.experts.0.up_proj", "feed_forward.experts.0.w3"},
                 {"mlp.gate", "feed_forward.gate"}},
     .plan = plan_lfm2_moe},
    {.model_type = "recurrent_gemma",
     .keys = {.head_dim = {}},
     .defaults = {.vocab_size = 256000, .tie_word_embeddings = true},
     .qkv_biases = attention_bias,
     .output_bias = always,
     .mlp_biases = always,
     .windows = {.layer_types = false},
     .renames = {{"self_attn.", "temporal_block."}, {"mlp.", "mlp_block."}},
     .adjust = adjust_griffin,
     .plan = plan_griffin,
     .finish_layer = finish_griffin_layer},
};

}  // namespace kvbudget::inline v0::detail
