#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/family.hpp"
#include "kvbudget/io/huggingface/layer_lists.hpp"
#include "kvbudget/io/huggingface/mixers.hpp"

/// Mamba 1 and 2, alone and beside attention.
///
/// Keys, class defaults, names and shapes: huggingface/transformers
/// models/<model_type>/configuration_<model_type>.py and modeling_<model_type>.py. Published counts leave out
/// what routers store in fp32 (`e_score_correction_bias`): Nemotron-3-Nano 2,944, Nemotron-3-Super 20,992.
namespace kvbudget::inline v0::detail {

/// `attention` and `mamba` are older names of what transformers 5 calls `full_attention` and
/// `linear_attention`.
inline constexpr layer_word mamba_words[] = {{"mamba", layer_part::recurrent},
                                             {"attention", layer_part::attention},
                                             {"linear_attention", layer_part::recurrent},
                                             {"full_attention", layer_part::attention}};

// -- Mamba alone --------------------------------------------------------------------------------------------

/// A stored `intermediate_size` beats `expand`, which FalconMamba-7B gives as 16 beside 8192 channels of a
/// hidden size of 4096. Source: huggingface/transformers models/falcon_mamba/configuration_falcon_mamba.py
/// (keys of the file are set after the product), modeling_falcon_mamba.py.
inline constexpr mamba_keys pure_mamba1{.state_size = {{"state_size"}},
                                        .conv_kernel = {{"conv_kernel"}},
                                        .expand = {{"expand"}},
                                        .time_step_rank = {{"time_step_rank"}},
                                        .inner_size = {{"intermediate_size"}},
                                        .conv_bias = {"use_conv_bias", true},
                                        .input_bias = {"use_bias", false},
                                        .output_bias = {"use_bias", false}};

inline constexpr mamba_keys pure_mamba2{.state_size = {{"state_size"}},
                                        .conv_kernel = {{"conv_kernel"}},
                                        .expand = {{"expand"}},
                                        .heads = {{"num_heads"}},
                                        .head_dim = {{"head_dim"}},
                                        .groups = {{"n_groups"}},
                                        .conv_bias = {"use_conv_bias", true},
                                        .input_bias = {"use_bias", false},
                                        .output_bias = {"use_bias", false},
                                        .state_size_default = 128,
                                        .head_dim_default = 64,
                                        .groups_default = 8};

inline void adjust_mamba(const config_view& config, decoder_shape& shape) {
  shape.layer.recurrent = mamba1_in(config, shape.hidden_size, pure_mamba1);
}
inline void adjust_mamba2(const config_view& config, decoder_shape& shape) {
  shape.layer.recurrent = mamba2_in(config, shape.hidden_size, pure_mamba2);
}

// -- Jamba --------------------------------------------------------------------------------------------------

inline constexpr expert_traits jamba_experts{.num_experts = {{"num_experts"}},
                                             .intermediate_size = {{"intermediate_size"}},
                                             .num_experts_default = 16,
                                             .num_experts_per_tok_default = 2};

/// Attention and experts each occur once in a period; one "expert" is a plain MLP. The time step, B and C of
/// the Mamba mixer have norms. Source: modeling_jamba.py, JambaMambaMixer, JambaAttentionDecoderLayer.
inline void plan_jamba(const config_view& config, const decoder_shape& shape,
                       std::vector<layer_plan>& layers) {
  const layer_period attention = period_in(config, "attn_layer_period", "attn_layer_offset", {8, 4});
  const layer_period expert = period_in(config, "expert_layer_period", "expert_layer_offset", {2, 1});
  const bool mixture = config.size_or(jamba_experts.num_experts, 16) > 1;
  const expert_shape experts = mixture ? experts_in(config, jamba_experts, true) : expert_shape{};
  const mixer_shape mixer = mamba1_in(config, shape.hidden_size, mamba_keys{});
  std::vector<bool> attends;
  for (std::uint32_t i = 0; i < layers.size(); ++i) {
    attends.push_back(attention.has(i));
    if (!mixture || !expert.has(i)) continue;
    layers[i].mlp = mlp_shape{};
    layers[i].experts = experts;
  }
  place_mixers(mixer, attention_where(attends), layers);
}

inline void finish_jamba(const decoder_shape&, const layer_plan& plan, layer_draft& layer) {
  if (plan.recurrent.kept.kind == store_kind::none) return;
  const std::uint64_t normed =
      plan.recurrent.options.time_step_rank + 2 * std::uint64_t{plan.recurrent.kept.state_size};
  put(layer, weight_groups::vectors(module_role::norm, normed), nullptr);
}

// -- Bamba, Granite 4, Falcon-H1 ----------------------------------------------------------------------------

inline constexpr mamba_keys bamba_mixer{.state_size_default = 256};

inline void plan_bamba(const config_view& config, const decoder_shape& shape,
                       std::vector<layer_plan>& layers) {
  std::vector<bool> attends(layers.size(), false);
  if (const auto list = config.find({{"attn_layer_indices"}})) {
    attends = layers_listed(*list, shape.num_hidden_layers);
  } else if (!config.is_null({{"attn_layer_indices"}})) {
    config.note_default("attn_layer_indices", "empty: no layer has attention");
  }
  place_mixers(mamba2_in(config, shape.hidden_size, bamba_mixer), attention_where(attends), layers);
}

inline constexpr expert_traits granite_experts{.num_experts = {{"num_local_experts"}},
                                               .intermediate_size = {{"intermediate_size"}},
                                               .num_experts_default = 8,
                                               .num_experts_per_tok_default = 2};

/// Granite 4: an MLP of `shared_intermediate_size` in each layer, and experts beside it where there are some.
/// Source: modeling_granitemoehybrid.py, GraniteMoeHybridDecoderLayer.
inline void plan_granite(const config_view& config, const decoder_shape& shape,
                         std::vector<layer_plan>& layers) {
  const std::uint32_t width = config.size_or({{"shared_intermediate_size"}}, 1024);
  const auto count = config.find(granite_experts.num_experts);
  expert_shape experts;
  if (!count || count->integer() != 0) {
    experts = experts_in(config, granite_experts, true);
    experts.sizes.shared_intermediate = width;
  }
  for (layer_plan& layer : layers) {
    layer.experts = experts;
    layer.mlp.intermediate_size = experts.sizes.num_experts == 0 ? width : 0;
  }
  std::vector<layer_part> parts(layers.size(), layer_part::recurrent);
  if (const auto list = config.find({{"layer_types", "layers_block_type"}})) {
    parts = parts_by_word(config, *list, shape.num_hidden_layers, mamba_words);
  } else {
    config.note_default("layer_types", "mamba in every layer");
  }
  // A model without a Mamba layer need not describe one.
  const bool recurs = std::count(parts.begin(), parts.end(), layer_part::recurrent) != 0;
  place_mixers(recurs ? mamba2_in(config, shape.hidden_size, bamba_mixer) : mixer_shape{}, parts, layers);
}

inline constexpr mamba_keys falcon_h1_mixer{.inner_size = {{"mamba_d_ssm"}},
                                            .output_bias = {"projectors_bias", false},
                                            .gated_norm = {"mamba_rms_norm", false},
                                            .state_size_default = 256};

/// Falcon-H1: both mixers in each layer. Source: modeling_falcon_h1.py, FalconH1DecoderLayer, FalconH1Mixer.
inline void plan_falcon_h1(const config_view& config, const decoder_shape& shape,
                           std::vector<layer_plan>& layers) {
  const std::vector<layer_part> parts(layers.size(), layer_part::attention_and_recurrent);
  place_mixers(mamba2_in(config, shape.hidden_size, falcon_h1_mixer), parts, layers);
}

// -- Nemotron-H ---------------------------------------------------------------------------------------------

inline constexpr mamba_keys nemotron_mixer{.state_size = {{"ssm_state_size"}},
                                           .conv_kernel = {{"conv_kernel", "mamba_d_conv"}},
                                           .expand = {{"expand", "mamba_expand"}},
                                           .heads = {{"mamba_num_heads"}},
                                           .head_dim = {{"mamba_head_dim"}},
                                           .groups = {{"n_groups", "mamba_n_groups"}},
                                           .conv_bias = {"use_conv_bias", true},
                                           .input_bias = {"use_bias", false},
                                           .output_bias = {"use_bias", false},
                                           .state_size_default = 128,
                                           .head_dim_default = 64,
                                           .groups_default = 8};

inline constexpr layer_word nemotron_letters[] = {{"M", layer_part::recurrent},
                                                  {"*", layer_part::attention},
                                                  {"E", layer_part::experts},
                                                  {"-", layer_part::mlp}};
inline constexpr layer_word nemotron_words[] = {{"mamba", layer_part::recurrent},
                                                {"attention", layer_part::attention},
                                                {"moe", layer_part::experts},
                                                {"mlp", layer_part::mlp},
                                                {"linear_attention", layer_part::recurrent},
                                                {"full_attention", layer_part::attention}};

inline constexpr expert_traits nemotron_experts{
    .num_experts = {{"n_routed_experts", "num_local_experts"}},
    .shared_intermediate = {{"moe_shared_expert_intermediate_size"}},
    .correction_bias = always};

/// Experts work on `moe_latent_size` where that is given; all shared experts together are
/// `n_shared_experts` × `moe_shared_expert_intermediate_size` wide. Source: vllm-project/vllm
/// model_executor/models/nemotron_h.py, NemotronHMoE.
[[nodiscard]] inline expert_shape nemotron_experts_in(const config_view& config) {
  if (config.flag({"mlp_bias", false})) config.refuse("mlp_bias true is not supported for experts");
  expert_shape experts = experts_in(config, nemotron_experts, false);
  const auto shared = config.find({{"n_shared_experts"}});
  experts.sizes.shared_intermediate = size_product(config, "n_shared_experts", shared ? shared->integer() : 1,
                                                   experts.sizes.shared_intermediate);
  if (config.find({{"moe_latent_size"}})) experts.sizes.latent_size = config.size({{"moe_latent_size"}});
  return experts;
}

/// One part of a Nemotron-H stack: a mixer, an MLP or experts alone, with one norm.
/// Source: modeling_nemotron_h.py, NemotronHBlock.
class nemotron_parts {
 public:
  nemotron_parts(const config_view& config, const decoder_shape& shape) : config_(config), shape_(shape) {}

  [[nodiscard]] layer_plan operator()(layer_part part) {
    layer_plan plan;
    plan.norms = 1;
    switch (part) {
      case layer_part::attention: plan.attention = shape_.layer.attention; break;
      case layer_part::attention_and_recurrent: break;
      case layer_part::recurrent:
        if (!mixer_) mixer_ = mamba2_in(config_, shape_.hidden_size, nemotron_mixer);
        plan.recurrent = *mixer_;
        break;
      case layer_part::mlp:
        plan.mlp = {config_.size({{"intermediate_size"}}), false, config_.flag({"mlp_bias", false})};
        break;
      case layer_part::experts:
        if (!experts_) experts_ = nemotron_experts_in(config_);
        plan.experts = *experts_;
        break;
    }
    return plan;
  }

 private:
  const config_view& config_;
  const decoder_shape& shape_;
  std::optional<mixer_shape> mixer_;
  std::optional<expert_shape> experts_;
};

inline void plan_nemotron(const config_view& config, const decoder_shape& shape,
                          std::vector<layer_plan>& layers) {
  std::vector<layer_part> parts;
  if (const auto words = config.find({{"layers_block_type", "layer_types"}})) {
    parts = parts_by_word(config, *words, shape.num_hidden_layers, nemotron_words);
  } else if (const auto letters = config.find({{"hybrid_override_pattern"}})) {
    parts = parts_by_letter(*letters, shape.num_hidden_layers, nemotron_letters);
  } else {
    config.refuse_missing({{"hybrid_override_pattern", "layers_block_type", "layer_types"}});
  }
  nemotron_parts plan_of(config, shape);
  for (std::size_t i = 0; i < layers.size(); ++i) layers[i] = plan_of(parts[i]);
}

/// MTP: `num_nextn_predict_layers` times the draft pattern; the first part of each has two norms and a
/// projection of 2H × H before it, the last a norm behind it. Source: vllm-project/vllm
/// model_executor/models/nemotron_h_mtp.py, NemotronHMultiTokenPredictor.
inline void finish_nemotron(const config_view& config, const decoder_shape& shape,
                            const std::vector<layer_plan>&, model_builder& builder) {
  using namespace weight_groups;
  const auto given = config.find({{"num_nextn_predict_layers"}});
  const std::uint64_t steps = given ? given->integer() : 0;
  if (steps == 0) return;
  std::vector<layer_part> parts{layer_part::attention, layer_part::experts};
  if (const auto words = config.find({{"mtp_layers_block_type"}})) {
    if (words->size() == 0 || words->size() > max_layers) words->refuse("must have 1 to 512 entries");
    parts = parts_by_word(config, *words, static_cast<std::uint32_t>(words->size()), nemotron_words);
  } else if (const auto letters = config.find({{"mtp_hybrid_override_pattern"}})) {
    const std::size_t length = letters->text().size();
    if (length == 0 || length > max_layers) letters->refuse("must have 1 to 512 letters");
    parts = parts_by_letter(*letters, static_cast<std::uint32_t>(length), nemotron_letters);
  } else {
    config.note_default("mtp_layers_block_type", "attention, moe");
  }
  if (steps > max_layers / parts.size()) {
    given->refuse("must be at most " + std::to_string(max_layers / parts.size()));
  }
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t fused = size_product(config, "hidden_size", hidden, 2);
  nemotron_parts plan_of(config, shape);
  const model_family plain{};
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      layer_draft layer = layer_of(shape, plan_of(parts[i]), plain);
      if (step == 0) builder.keep_in_draft_layers(steps, layer);
      if (i == 0) {
        put(layer, whole(module_role::draft, hidden, fused), "eh_proj");
        put(layer, vectors(module_role::draft, hidden, 2), nullptr);
      }
      if (i + 1 == parts.size()) put(layer, vectors(module_role::draft, hidden), nullptr);
      builder.add_draft_layer(layer, "mtp.layers." + std::to_string(step * parts.size() + i) + ".");
    }
  }
  config.note(given->path() +
              ": the draft layers are counted apart; engines load them only for speculative decoding");
}

// -- Zamba --------------------------------------------------------------------------------------------------

/// How Zamba's shared transformer blocks are attached to hybrid layers.
enum zamba_variant : std::uint32_t { zamba_plain = 0, zamba_hybrid = 1, zamba_hybrid_adapted = 2 };

/// The attention of Zamba's shared blocks works on the hidden state beside the embedding: twice as wide.
inline void adjust_zamba(const config_view& config, decoder_shape& shape) {
  attention_shape& attention = shape.layer.attention;
  const std::uint32_t wide = size_product(config, "hidden_size", shape.hidden_size, 2);
  if (wide % attention.heads != 0) {
    config.refuse("2 x hidden_size " + std::to_string(shape.hidden_size) +
                  " is not a multiple of num_attention_heads " + std::to_string(attention.heads));
  }
  attention.key_dim = wide / attention.heads;
  attention.value_dim = attention.key_dim;
}

/// Each layer has its Mamba mixer; hybrid layers also run a shared block, whose cache is the layer's own.
inline void plan_zamba_layers(const mixer_shape& mixer, const std::vector<bool>& hybrid,
                              std::uint32_t variant, std::vector<layer_plan>& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i] = layer_plan{};
    layers[i].norms = 1;
    layers[i].recurrent = mixer;
    layers[i].variant = hybrid[i] ? variant : zamba_plain;
    if (!hybrid[i]) layers[i].recurrent.ranks[0] = 0;
  }
}

/// Source: configuration_zamba.py (`_layers_block_type`); the Mamba-1 mixer has several heads, which changes
/// the shapes of its tensors but not their sizes.
inline void plan_zamba(const config_view& config, const decoder_shape& shape,
                       std::vector<layer_plan>& layers) {
  const layer_period period = period_in(config, "attn_layer_period", "attn_layer_offset", {6, 4});
  std::vector<bool> hybrid;
  for (std::uint32_t i = 0; i < layers.size(); ++i) hybrid.push_back(i == 2 || (i > 2 && period.has(i - 3)));
  plan_zamba_layers(mamba1_in(config, shape.hidden_size, mamba_keys{}), hybrid, zamba_hybrid, layers);
}

inline constexpr mamba_keys zamba2_mixer{.heads = {{"n_mamba_heads"}},
                                         .head_dim = {{"mamba_headdim"}},
                                         .groups = {{"mamba_ngroups"}},
                                         .conv_bias = {"use_conv_bias", true},
                                         .input_bias = {"add_bias_linear", false},
                                         .output_bias = {"add_bias_linear", false},
                                         .state_size_default = 64,
                                         .heads_default = 8};

inline constexpr layer_word zamba2_words[] = {{"mamba", layer_part::recurrent},
                                              {"hybrid", layer_part::attention_and_recurrent}};

inline void plan_zamba2(const config_view& config, const decoder_shape& shape,
                        std::vector<layer_plan>& layers) {
  std::vector<bool> hybrid;
  if (const auto words = config.find({{"layers_block_type"}})) {
    for (const layer_part part : parts_by_word(config, *words, shape.num_hidden_layers, zamba2_words)) {
      hybrid.push_back(part == layer_part::attention_and_recurrent);
    }
  } else if (const auto numbers = config.find({{"hybrid_layer_ids"}})) {
    hybrid = layers_listed(*numbers, shape.num_hidden_layers);
  } else {
    config.refuse_missing({{"layers_block_type", "hybrid_layer_ids"}});
  }
  if (config.flag({"add_bias_linear", false})) config.refuse("add_bias_linear true is not supported");
  mixer_shape mixer = mamba2_in(config, shape.hidden_size, zamba2_mixer);
  mixer.ranks[0] = config.size_or({{"adapter_rank"}}, 128);
  const bool adapted = config.flag({"use_shared_attention_adapter", false});
  plan_zamba_layers(mixer, hybrid, adapted ? zamba_hybrid_adapted : zamba_hybrid, layers);
}

/// What a hybrid layer has of its own: the cache, a projection of H × H, and adapters of the shared MLP, and
/// of queries, keys and values, through `adapter_rank`. Source: modeling_zamba2.py, Zamba2HybridLayer,
/// Zamba2MLP, Zamba2Attention.
inline void finish_zamba_layer(const decoder_shape& shape, const layer_plan& plan, layer_draft& layer) {
  using namespace weight_groups;
  if (plan.variant == zamba_plain) return;
  const attention_shape& attention = shape.layer.attention;
  const std::uint32_t intermediate = shape.layer.mlp.intermediate_size;
  layer.add(stores::full(attention.kv_heads, attention.key_dim));
  layer.num_attention_heads = attention.heads;
  layer.key_value_heads = attention.kv_heads;
  layer.query_dim = attention.key_dim;
  layer.value_dim = attention.key_dim;
  layer.intermediate_size = intermediate;
  layer.gated_mlp = true;
  put(layer, whole(module_role::attention, shape.hidden_size, shape.hidden_size), "linear");
  const std::uint32_t rank = plan.recurrent.ranks[0];
  if (rank == 0) return;
  put(layer, whole(module_role::mlp, rank, shape.hidden_size),
      "shared_transformer.feed_forward.gate_up_proj_adapter_list.0.0");
  put(layer, by_rows(module_role::mlp, intermediate, rank, intermediate, 2),
      "shared_transformer.feed_forward.gate_up_proj_adapter_list.0.1");
  if (plan.variant != zamba_hybrid_adapted) return;
  const std::uint32_t wide = 2 * shape.hidden_size;
  put(layer, whole(module_role::attention, rank, wide, 3),
      "shared_transformer.self_attn.linear_q_adapter_list.0.0");
  put(layer, by_rows(module_role::attention, wide, rank, attention.heads, 3),
      "shared_transformer.self_attn.linear_q_adapter_list.0.1");
}

/// The shared blocks, `num_mem_blocks` of them, which are stored once however many layers run them: attention
/// from 2H, an MLP, norms of 2H and H. Source: modeling_zamba2.py, Zamba2AttentionDecoderLayer.
inline void finish_zamba(const config_view& config, const decoder_shape& shape,
                         const std::vector<layer_plan>& layers, model_builder& builder) {
  using namespace weight_groups;
  std::uint64_t hybrids = 0;
  std::size_t first = layers.size();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].variant == zamba_plain) continue;
    if (hybrids++ == 0) first = i;
  }
  if (hybrids == 0) return;
  const bool second = layers[first].recurrent.ranks[0] != 0;
  const std::uint64_t blocks = second ? config.size_or({{"num_mem_blocks"}}, 1) : 1;
  const auto copies = static_cast<std::uint32_t>(smaller(blocks, hybrids));
  constexpr module_role role = module_role::attention;
  const attention_shape& attention = shape.layer.attention;
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t wide = 2 * hidden;
  const std::uint32_t width = attention.heads * attention.key_dim;
  const std::uint32_t intermediate = shape.layer.mlp.intermediate_size;
  const std::string block =
      "model.layers." + std::to_string(first) + (second ? ".shared_transformer." : ".shared_transf.");
  const auto add = [&](const weight_group& group, const char* module) {
    builder.add(group, (block + module).c_str());
  };
  add(by_rows(role, width, wide, attention.heads, copies), "self_attn.q_proj");
  add(kv_projection(attention.kv_heads, attention.key_dim, wide, 2 * copies), "self_attn.k_proj");
  add(by_columns(role, hidden, width, attention.heads, copies), "self_attn.o_proj");
  add(by_rows(module_role::mlp, intermediate, hidden, intermediate, 2 * copies),
      second ? "feed_forward.gate_up_proj" : "feed_forward.gate_proj");
  add(by_columns(module_role::mlp, hidden, intermediate, intermediate, copies), "feed_forward.down_proj");
  builder.add(vectors(module_role::norm, 3 * std::uint64_t{hidden}, copies));
  config.note("the weights of " + std::to_string(copies) +
              " shared transformer block(s) are stored once for " + std::to_string(hybrids) + " layers");
}

// -- The table ----------------------------------------------------------------------------------------------

inline constexpr family_keys attention_free{
    .num_attention_heads = {}, .num_key_value_heads = {}, .head_dim = {}, .intermediate_size = {}};

/// Mamba alone: a mixer and a norm in each layer.
[[nodiscard]] constexpr model_family mamba_family(const char* model_type, const family_defaults& defaults,
                                                  void (*adjust)(const config_view&, decoder_shape&)) {
  return {.model_type = model_type,
          .keys = attention_free,
          .defaults = defaults,
          .norms_per_layer = 1,
          .layer_prefix = "backbone.layers.",
          .renames = {{"mamba.", "mixer."}, {"model.embed_tokens", "backbone.embeddings"}},
          .adjust = adjust};
}

inline constexpr model_family state_space_families[] = {
    mamba_family("mamba", {.vocab_size = 50280, .tie_word_embeddings = true}, adjust_mamba),
    mamba_family("falcon_mamba", {.vocab_size = 50280, .tie_word_embeddings = true}, adjust_mamba),
    mamba_family("mamba2", {.vocab_size = 32768}, adjust_mamba2),
    {.model_type = "jamba",
     .defaults = {.vocab_size = 65536, .num_key_value_heads = 8, .max_position_embeddings = 262144},
     .windows = {.rule = window_rule::every_layer, .layer_types = false},
     .renames = {{"mlp.gate_proj", "feed_forward.gate_proj"},
                 {"mlp.gate", "feed_forward.router"},
                 {"mlp.", "feed_forward."}},
     .plan = plan_jamba,
     .finish_layer = finish_jamba},
    {.model_type = "bamba",
     .defaults = {.vocab_size = 128000, .num_key_value_heads = 8, .max_position_embeddings = 262144},
     .windows = {.layer_types = false},
     .renames = {{"mlp.", "feed_forward."}},
     .plan = plan_bamba},
    {.model_type = "granitemoehybrid",
     .keys = {.intermediate_size = {}},
     .defaults = {.vocab_size = 32000, .max_position_embeddings = 2048},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .windows = {.layer_types = false},
     .renames = {{"mlp.gate_proj", "shared_mlp.input_linear"},
                 {"mlp.up_proj", "shared_mlp.input_linear"},
                 {"mlp.down_proj", "shared_mlp.output_linear"},
                 {"mlp.shared_experts.down_proj", "shared_mlp.output_linear"},
                 {"mlp.shared_experts.gate_proj", "shared_mlp.input_linear"},
                 {"mlp.shared_experts.up_proj", "shared_mlp.input_linear"},
                 {"mlp.experts.0.down_proj", "block_sparse_moe.output_linear"},
                 {"mlp.experts.0.gate_proj", "block_sparse_moe.input_linear"},
                 {"mlp.experts.0.up_proj", "block_sparse_moe.input_linear"},
                 {"mlp.gate", "block_sparse_moe.router.layer"}},
     .plan = plan_granite},
    {.model_type = "falcon_h1",
     .defaults = {.vocab_size = 128000, .num_key_value_heads = 8, .max_position_embeddings = 8192},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .mlp_biases = {"mlp_bias", false},
     .windows = {.layer_types = false},
     .renames = {{"mlp.", "feed_forward."}},
     .plan = plan_falcon_h1},
    {.model_type = "nemotron_h",
     .keys = {.head_dim = {{"head_dim", "attention_head_dim"}},
              .intermediate_size = {},
              .layer_list = {{"layers_block_type", "layer_types", "hybrid_override_pattern"}}},
     .defaults =
         {.vocab_size = 131072, .num_key_value_heads = 8, .head_dim = 128, .max_position_embeddings = 4096},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .gated_mlp = false,
     .windows = {.layer_types = false},
     .layer_prefix = "backbone.layers.",
     .renames = {{"self_attn.", "mixer."},
                 {"mlp.", "mixer."},
                 {"mamba.", "mixer."},
                 {"model.embed_tokens", "backbone.embeddings"}},
     .plan = plan_nemotron,
     .finish_model = finish_nemotron},
    {.model_type = "zamba",
     .keys = {.head_dim = {}},
     .defaults = {.vocab_size = 32000, .max_position_embeddings = 4096, .tie_word_embeddings = true},
     .renames = {{"mamba.", "mamba_decoder.mamba."}},
     .adjust = adjust_zamba,
     .plan = plan_zamba,
     .finish_layer = finish_zamba_layer,
     .finish_model = finish_zamba},
    {.model_type = "zamba2",
     .keys = {.head_dim = {}},
     .defaults = {.vocab_size = 32000,
                  .intermediate_per_hidden = 4,
                  .max_position_embeddings = 4096,
                  .tie_word_embeddings = true},
     .renames = {{"mamba.", "mamba_decoder.mamba."}},
     .adjust = adjust_zamba,
     .plan = plan_zamba2,
     .finish_layer = finish_zamba_layer,
     .finish_model = finish_zamba},
};

}  // namespace kvbudget::inline v0::detail
