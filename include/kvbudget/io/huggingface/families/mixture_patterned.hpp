#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/families/mixture.hpp"
#include "kvbudget/io/huggingface/family.hpp"

/// Mixtures of experts whose layers differ in their attention too: windows, chunks, shared caches, index
/// keys.
///
/// Class defaults and shapes: huggingface/transformers models/<model_type>/configuration_<model_type>.py and
/// modeling_<model_type>.py, unless a family names another source.
namespace kvbudget::inline v0::detail {

/// gpt-oss: one attention sink per query head.
inline void adjust_gpt_oss(const config_view&, decoder_shape& shape) { shape.layer.attention.sinks = true; }

/// Llama 4: a layer with rotary positions keeps one chunk of `attention_chunk_size` tokens, the others keep
/// everything; `layer_types` decides, else `no_rope_layers` (1 = rotary), of which an empty list is as none.
/// Dense layers have an MLP of their own width.
/// Source: huggingface/transformers models/llama4/configuration_llama4.py, modeling_llama4.py.
[[nodiscard]] inline std::vector<bool> chunked_layers(const config_view& config, std::uint32_t layers) {
  std::vector<bool> chunked(layers, false);
  if (const auto types = config.find({{"layer_types"}})) {
    expect_entry_per_layer(config, *types, layers);
    for (std::uint32_t i = 0; i < layers; ++i) {
      const json_field type = types->at(std::size_t{i});
      chunked[i] = type.text() == "chunked_attention";
      if (!chunked[i] && type.text() != "full_attention") {
        type.refuse("layer type \"" + printable(type.text(), 40) +
                    "\" is unknown, expected chunked_attention or full_attention");
      }
    }
    return chunked;
  }
  const auto rotary = config.find({{"no_rope_layers"}});
  if (rotary && rotary->size() != 0) {
    expect_entry_per_layer(config, *rotary, layers);
    for (std::uint32_t i = 0; i < layers; ++i) chunked[i] = rotary->at(std::size_t{i}).integer() != 0;
    return chunked;
  }
  const std::uint32_t interval = config.size_or({{"no_rope_layer_interval"}}, 4);
  for (std::uint32_t i = 0; i < layers; ++i) chunked[i] = (i + 1) % interval != 0;
  return chunked;
}

inline constexpr expert_traits llama4_experts{.num_experts = {{"num_local_experts", "num_experts"}},
                                              .intermediate_size = {{"intermediate_size"}},
                                              .num_experts_default = 16,
                                              .num_experts_per_tok_default = 1,
                                              .intermediate_size_default = 8192};

inline void plan_llama4(const config_view& config, const decoder_shape& shape,
                        std::vector<layer_plan>& layers) {
  const std::vector<bool> chunked = chunked_layers(config, shape.num_hidden_layers);
  constexpr key_names chunk_key{{"attention_chunk_size"}};
  const std::uint64_t chunk = config.is_null(chunk_key) ? 0 : config.size_or(chunk_key, 8192);
  std::vector<bool> sparse(layers.size(), false);
  if (const auto listed = config.find({{"moe_layers"}})) {
    sparse = layers_marked(*listed, shape.num_hidden_layers);
  } else {
    const std::uint32_t step = config.size_or({{"interleave_moe_layer_step"}}, 1);
    for (std::uint32_t i = 0; i < layers.size(); ++i) sparse[i] = (i + 1) % step == 0;
  }
  expert_shape experts = experts_in(config, llama4_experts, true);
  experts.sizes.shared_intermediate = experts.sizes.intermediate;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].attention.window = chunked[i] ? chunk : 0;
    layers[i].attention.chunked = chunked[i] && chunk != 0;
    if (!sparse[i]) continue;
    layers[i].mlp = mlp_shape{};
    layers[i].experts = experts;
  }
}

/// AFMoE: the output of attention is gated by a projection as wide as the queries.
inline void adjust_afmoe(const config_view&, decoder_shape& shape) {
  shape.layer.attention.gated_output = true;
}

/// MiniMax-M3: dense layers have a width of their own; layers with sparse attention keep one index key per
/// token. Source: huggingface/transformers models/minimax_m3_vl/modular_minimax_m3_vl.py,
/// MiniMaxM3VLIndexer; the switches of older configs: `sparse_attention_config`.
inline void plan_minimax_m3(const config_view& config, const decoder_shape& shape,
                            std::vector<layer_plan>& layers) {
  const auto given = config.find({{"sparse_attention_config"}});
  const config_view sparse = given ? config.nested(*given) : config;
  if (given && !sparse.flag({"use_sparse_attention", true})) return;
  std::vector<bool> indexed(layers.size(), false);
  if (const auto types = config.find({{"layer_types"}})) {
    expect_entry_per_layer(config, *types, shape.num_hidden_layers);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const json_field type = types->at(i);
      indexed[i] = type.text() == "minimax_m3_sparse";
      if (!indexed[i] && type.text() != "full_attention") {
        type.refuse("layer type \"" + printable(type.text(), 40) +
                    "\" is unknown, expected minimax_m3_sparse or full_attention");
      }
    }
  } else if (const auto switches = sparse.find({{"sparse_attention_freq"}})) {
    expect_entry_per_layer(config, *switches, shape.num_hidden_layers);
    for (std::size_t i = 0; i < layers.size(); ++i) indexed[i] = switches->at(i).integer() != 0;
  } else if (given) {
    given->refuse("key \"sparse_attention_freq\" is missing: which layers are sparse is not known");
  }
  if (std::find(indexed.begin(), indexed.end(), true) == indexed.end()) return;
  const std::uint32_t heads = sparse.size({{"sparse_num_index_heads", "index_n_heads"}});
  const std::uint32_t dim = sparse.size({{"sparse_index_dim", "index_head_dim"}});
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!indexed[i]) continue;
    layers[i].attention.indexer_heads = heads;
    layers[i].attention.indexer_dim = dim;
  }
}

/// MiMo-V2: sliding layers have heads of their own, and values are narrower than keys.
/// `hybrid_layer_pattern` (1 = sliding) or `layer_types` decides, else the first and every sixth layer keep
/// everything. Attention sinks where `add_swa_attention_sink_bias` and `add_full_attention_sink_bias` say so.
/// Sources: vllm-project/vllm model_executor/models/mimo_v2_flash.py; defaults: huggingface/transformers
/// models/mimo_v2_flash/modular_mimo_v2_flash.py.
inline void adjust_mimo_v2(const config_view& config, decoder_shape& shape) {
  attention_shape& attention = shape.layer.attention;
  attention.value_dim = config.size_or({{"v_head_dim"}}, 128);
  attention.sinks = config.flag({"add_full_attention_sink_bias", false});
}

[[nodiscard]] inline std::vector<bool> sliding_layers_of_mimo(const config_view& config,
                                                              std::uint32_t layers) {
  std::vector<bool> sliding(layers, false);
  if (const auto pattern = config.find({{"hybrid_layer_pattern"}})) {
    expect_entry_per_layer(config, *pattern, layers);
    for (std::uint32_t i = 0; i < layers; ++i) sliding[i] = pattern->at(std::size_t{i}).integer() == 1;
  } else if (const auto types = config.find({{"layer_types"}})) {
    const std::vector<std::uint64_t> windows = windows_by_type(config, *types, {.window = 1}, layers);
    for (std::uint32_t i = 0; i < layers; ++i) sliding[i] = windows[i] != 0;
  } else {
    config.note_default("hybrid_layer_pattern", "full attention in the first and every sixth layer");
    for (std::uint32_t i = 0; i < layers; ++i) sliding[i] = i != 0 && (i + 1) % 6 != 0;
  }
  return sliding;
}

/// The attention of a sliding layer; what is not given is as in the others, with twice the KV heads.
[[nodiscard]] inline attention_shape sliding_attention_of_mimo(const config_view& config,
                                                               const attention_shape& usual) {
  const auto own = [&](const char* key, std::uint32_t otherwise) {
    return config.size_or({{key}}, otherwise);
  };
  attention_shape sliding = usual;
  sliding.heads = own("swa_num_attention_heads", usual.heads);
  sliding.kv_heads =
      own("swa_num_key_value_heads", size_product(config, "num_key_value_heads", usual.kv_heads, 2));
  sliding.key_dim = own("swa_head_dim", usual.key_dim);
  sliding.value_dim = own("swa_v_head_dim", usual.value_dim);
  sliding.window = config.size_or({{"sliding_window", "sliding_window_size"}}, 128);
  sliding.sinks = config.flag({"add_swa_attention_sink_bias", true});
  return sliding;
}

inline void plan_mimo_v2(const config_view& config, const decoder_shape& shape,
                         std::vector<layer_plan>& layers) {
  const std::vector<bool> sliding = sliding_layers_of_mimo(config, shape.num_hidden_layers);
  if (std::find(sliding.begin(), sliding.end(), true) == sliding.end()) return;
  const attention_shape attention = sliding_attention_of_mimo(config, shape.layer.attention);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (sliding[i]) layers[i].attention = attention;
  }
}

/// Draft layers of MiMo-V2 slide and are dense.
/// Source: vllm-project/vllm model_executor/models/mimo_v2_mtp.py.
[[nodiscard]] inline layer_plan sliding_dense_draft(const config_view& config, const decoder_shape& shape,
                                                    const std::vector<layer_plan>& layers,
                                                    std::uint32_t number) {
  layer_plan plan = dense_draft(config, shape, layers, number);
  const auto sliding = std::find_if(layers.begin(), layers.end(),
                                    [](const layer_plan& layer) { return layer.attention.window != 0; });
  if (sliding != layers.end()) plan.attention = sliding->attention;
  return plan;
}

/// Step-3.5 and 3.7: `attention_other_setting` gives sliding layers heads of their own; a gate per head;
/// `moe_layers_enum` ("3,4,5") lists the layers with experts.
/// Sources: vllm-project/vllm model_executor/models/step3p5.py; defaults: huggingface/transformers
/// models/step3p7/configuration_step3p7.py, Step3p7TextConfig.
inline constexpr std::uint32_t gate_per_head = 1;  ///< a variant of layers

inline constexpr expert_traits step3p5_experts{
    .where = expert_layers::behind_first_layers,
    .num_experts = {{"moe_num_experts", "n_routed_experts", "num_experts"}},
    .num_experts_per_tok = {{"moe_top_k", "num_experts_per_tok"}},
    .shared_intermediate = {{"share_expert_dim", "share_expert_dims"}},
    .correction_bias = {"use_moe_router_bias", true},
    .num_experts_default = 288,
    .num_experts_per_tok_default = 8,
    .intermediate_size_default = 1280,
    .shared_intermediate_default = 1280,
    .first_dense_default = 3};

inline void adjust_step3p5(const config_view& config, decoder_shape& shape) {
  if (config.flag({"use_head_wise_attn_gate", true})) shape.layer.variant = gate_per_head;
}

[[nodiscard]] inline std::vector<bool> layers_enumerated(const json_field& field, std::uint32_t layers) {
  if (!field.value().is_string()) return layers_marked(field, layers);
  std::vector<bool> listed(layers, false);
  std::uint64_t number = 0;
  bool digits = false;
  for (const char c : field.text() + ",") {
    if (c >= '0' && c <= '9') {
      number = smaller<std::uint64_t>(number * 10 + static_cast<std::uint64_t>(c - '0'), max_layers);
      digits = true;
    } else if (c == ',') {
      if (digits && number < layers) listed[number] = true;
      number = 0;
      digits = false;
    } else if (c != ' ') {
      field.refuse("must be layer numbers with commas between them");
    }
  }
  return listed;
}

inline void plan_step3p5(const config_view& config, const decoder_shape& shape,
                         std::vector<layer_plan>& layers) {
  attention_shape sliding = shape.layer.attention;
  if (const auto given = config.find({{"attention_other_setting"}})) {
    const config_view other = config.nested(*given);
    if (const auto type = other.find({{"attention_type"}}); type && type->text() != "sliding_attention") {
      type->refuse("must be sliding_attention, not \"" + printable(type->text(), 40) + "\"");
    }
    sliding.heads = other.size_or({{"num_attention_heads"}}, sliding.heads);
    sliding.kv_heads = other.size_or({{"num_attention_groups", "num_key_value_heads"}}, sliding.kv_heads);
    sliding.key_dim = other.size_or({{"head_dim"}}, sliding.key_dim);
    sliding.value_dim = sliding.key_dim;
  } else {
    sliding.heads = config.size_or({{"num_sliding_attention_heads"}}, sliding.heads);
  }
  for (layer_plan& layer : layers) {
    const std::uint64_t window = layer.attention.window;
    if (window == 0) continue;
    layer.attention = sliding;
    layer.attention.window = window;
  }
  if (config.find({{"mlp_layer_types"}})) return;
  const auto listed = config.find({{"moe_layers_enum"}});
  if (!listed) return;
  const std::vector<bool> sparse = layers_enumerated(*listed, shape.num_hidden_layers);
  const expert_shape experts = experts_in(config, step3p5_experts, true);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].mlp = sparse[i] ? mlp_shape{} : shape.layer.mlp;
    layers[i].experts = sparse[i] ? experts : expert_shape{};
  }
}

inline void finish_step3p5(const decoder_shape& shape, const layer_plan& plan, layer_draft& layer) {
  if (plan.variant != gate_per_head) return;
  const std::uint32_t heads = plan.attention.heads;
  put(layer, weight_groups::by_rows(module_role::attention, heads, shape.hidden_size, heads),
      "self_attn.g_proj");
}

/// Hunyuan: with `use_cla`, of each `cla_share_factor` layers only the first has keys and values, which the
/// others read; the sizes of experts are numbers, or lists with one for each layer.
/// Source: vllm-project/vllm model_executor/models/hunyuan_v1.py.
inline void adjust_hunyuan(const config_view& config, decoder_shape& shape) {
  attention_shape& attention = shape.layer.attention;
  attention.qkv_biases = attention.output_bias =
      config.flag({"attention_bias", false}) || config.flag({"bias", false});
}

/// A size that is a number, or a list with one for each layer.
class size_per_layer {
 public:
  size_per_layer(const config_view& config, const key_names& key, std::uint32_t otherwise,
                 std::uint32_t layers)
      : given_(config.find(key)), otherwise_(otherwise) {
    if (!given_ && otherwise == 0) config.refuse_missing(key);
    if (given_ && given_->value().is_array()) expect_entry_per_layer(config, *given_, layers);
  }
  [[nodiscard]] bool is_given() const { return given_.has_value(); }
  [[nodiscard]] std::uint32_t at(std::size_t layer) const {
    if (!given_) return otherwise_;
    return config_view::size_in(given_->value().is_array() ? given_->at(layer) : *given_);
  }

 private:
  std::optional<json_field> given_;
  std::uint32_t otherwise_;
};

inline void plan_hunyuan(const config_view& config, const decoder_shape& shape,
                         std::vector<layer_plan>& layers) {
  const std::uint32_t count = shape.num_hidden_layers;
  const std::uint32_t share = config.flag({"use_cla", false}) ? config.size_or({{"cla_share_factor"}}, 1) : 1;
  const size_per_layer experts(config, {{"num_experts"}}, 1, count);
  const size_per_layer chosen(config, {{"moe_topk"}}, 1, count);
  const std::uint32_t dense = shape.layer.mlp.intermediate_size;
  const size_per_layer width(config, {{"moe_intermediate_size"}}, dense, count);
  const size_per_layer shared(config, {{"num_shared_expert"}}, 1, count);
  const bool mixed = config.flag({"use_mixed_mlp_moe", shared.is_given()});
  for (std::uint32_t i = 0; i < count; ++i) {
    layer_plan& layer = layers[i];
    if (i % share != 0) {
      layer.attention.shared_cache = true;
      layer.attention.owns_kv_weights = false;
    }
    const std::uint32_t all = experts.at(i);
    if (all == 1) continue;
    mixture_sizes& sizes = layer.experts.sizes;
    sizes.num_experts = all;
    (void)size_product(config, "num_experts", all, 2);
    sizes.num_experts_per_tok = chosen.at(i);
    if (sizes.num_experts_per_tok > all) {
      config.refuse("moe_topk " + std::to_string(sizes.num_experts_per_tok) + " is more than num_experts " +
                    std::to_string(all));
    }
    sizes.intermediate = width.at(i);
    if (mixed) sizes.shared_intermediate = size_product(config, "num_shared_expert", shared.at(i), dense);
    layer.mlp = mlp_shape{};
  }
}

/// A layer that reads an earlier one's keys norms them again.
inline void finish_hunyuan(const decoder_shape&, const layer_plan& plan, layer_draft& layer) {
  const attention_shape& attention = plan.attention;
  if (attention.owns_kv_weights || attention.qk_norm == query_key_norm::none) return;
  put(layer, weight_groups::vectors(module_role::norm, attention.key_dim), nullptr);
}

/// Some public copies of the config of Hunyuan-Large, the one model of this type, lack keys that only weights
/// depend on: they count as in the complete one.
inline void finish_hunyuan_large(const config_view& config, const decoder_shape&,
                                 const std::vector<layer_plan>&, model_builder& builder) {
  for (const char* key : {"vocab_size", "tie_word_embeddings", "use_qk_norm"}) {
    if (config.find({{key}})) continue;
    builder.model().parameters_assumed = true;
    config.doubt(std::string(key) + " is absent: weights are counted as in Hunyuan-Large as published");
  }
}

inline constexpr model_family mixture_patterned_families[] = {
    {.model_type = "gpt_oss",
     .keys = {.intermediate_size = {}},
     .defaults = {.vocab_size = 201088,
                  .num_key_value_heads = 8,
                  .head_dim = 64,
                  .max_position_embeddings = 131072,
                  .dtype = &formats::bf16},
     .qkv_biases = {"attention_bias", true},
     .output_bias = {"attention_bias", true},
     .experts = {.where = expert_layers::all,
                 .num_experts = {{"num_local_experts", "num_experts"}},
                 .num_experts_per_tok = {{"num_experts_per_tok", "experts_per_token"}},
                 .intermediate_size = expert_width_is_mlp_width,
                 .router_bias = true,
                 .expert_biases = true,
                 .num_experts_default = 128,
                 .num_experts_per_tok_default = 4},
     .windows = {.rule = window_rule::alternating, .window = 128},
     .renames = {{"mlp.gate", "mlp.router"},
                 {"mlp.experts.0.gate_proj", "mlp.experts.gate_up_proj"},
                 {"mlp.experts.0.up_proj", "mlp.experts.gate_up_proj"},
                 {"mlp.experts.0.down_proj", "mlp.experts.down_proj"}},
     .adjust = adjust_gpt_oss},
    {.model_type = "llama4_text",
     .keys = {.intermediate_size = {{"intermediate_size_mlp"}}},
     .defaults = {.vocab_size = 202048,
                  .num_attention_heads = 40,
                  .num_key_value_heads = 8,
                  .head_dim = 128,
                  .intermediate_size = 16384,
                  .max_position_embeddings = 131072},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .windows = {.layer_types = false},
     .renames = {{"mlp.gate", "feed_forward.router"},
                 {"mlp.shared_experts", "feed_forward.shared_expert"},
                 {"mlp", "feed_forward"}},
     .plan = plan_llama4},
    {.model_type = "afmoe",
     .defaults = {.vocab_size = 200192, .head_dim = 128, .max_position_embeddings = 16384},
     .qk_norm = query_key_norm::head_dim,
     .experts = {.where = expert_layers::behind_first_layers,
                 .shared_experts = {{"num_shared_experts"}},
                 .first_dense = {{"num_dense_layers"}},
                 .correction_bias = always,
                 .num_experts_default = 64,
                 .num_experts_per_tok_default = 6,
                 .intermediate_size_default = 1408,
                 .shared_experts_default = 2,
                 .first_dense_default = 1},
     .norms_per_layer = 4,
     .windows = {.rule = window_rule::pattern,
                 .window = 1024,
                 .pattern = 4,
                 .pattern_keys = {{"global_attn_every_n_layers"}}},
     .renames = {{"mlp.gate", "mlp.router.gate"}},
     .adjust = adjust_afmoe},
    {.model_type = "exaone_moe",
     .defaults = {.vocab_size = 102400, .num_key_value_heads = 32, .max_position_embeddings = 2048},
     .qk_norm = query_key_norm::head_dim,
     .experts = {.where = expert_layers::behind_first_layers,
                 .shared_experts = {{"num_shared_experts"}},
                 .correction_bias = always,
                 .num_experts_default = 64,
                 .num_experts_per_tok_default = 8,
                 .intermediate_size_default = 1024,
                 .shared_experts_default = 1,
                 .first_dense_default = 1},
     .windows = {.rule = window_rule::pattern, .window = 4096, .pattern = 4},
     .next_token_layers = true,
     .draft_prefix = "mtp.layers.",
     .plan_draft = dense_draft},
    {.model_type = "minimax_m3",
     .keys = {.intermediate_size = {{"dense_intermediate_size"}}},
     .defaults = {.num_key_value_heads = 4,
                  .head_dim = 128,
                  .intermediate_size = 12288,
                  .max_position_embeddings = 524288},
     .qk_norm = query_key_norm::head_dim,
     .has_qk_norm = {"use_qk_norm", true},
     .experts = {.where = expert_layers::behind_first_layers,
                 .num_experts = {{"num_local_experts", "num_experts"}},
                 .intermediate_size = expert_width_is_mlp_width,
                 .shared_intermediate = {{"shared_intermediate_size"}},
                 .correction_bias = {"use_routing_bias", true},
                 .num_experts_default = 128,
                 .num_experts_per_tok_default = 4,
                 .shared_intermediate_default = 3072},
     .windows = {.layer_types = false},
     .renames = {{"mlp.gate", "block_sparse_moe.gate"},
                 {"mlp.experts.0.gate_proj", "block_sparse_moe.experts.0.w1"},
                 {"mlp.experts.0.up_proj", "block_sparse_moe.experts.0.w3"},
                 {"mlp.experts.0.down_proj", "block_sparse_moe.experts.0.w2"},
                 {"mlp.shared_experts", "block_sparse_moe.shared_experts"}},
     .plan = plan_minimax_m3,
     .finish_model = note_drafts_of_minimax},
    // What stands inside names other families' model types.
    {.model_type = "mimo_v2_flash",
     .defaults =
         {.vocab_size = 152576, .num_key_value_heads = 4, .head_dim = 192, .max_position_embeddings = 131072},
     .qkv_biases = attention_bias,
     .experts = {.where = expert_layers::behind_first_layers,
                 .num_experts = {{"n_routed_experts"}},
                 .shared_experts = {{"n_shared_experts"}},
                 .correction_bias = always,
                 .num_experts_default = 256,
                 .num_experts_per_tok_default = 8,
                 .intermediate_size_default = 2048,
                 .first_dense_default = 1},
     .windows = {.layer_types = false},
     .next_token_layers = true,
     .next_token_layers_default = 3,
     .draft_prefix = "model.mtp.layers.",
     .adjust = adjust_mimo_v2,
     .plan = plan_mimo_v2,
     .plan_draft = sliding_dense_draft},
    {.model_type = "mimo_v2",
     .defaults =
         {.vocab_size = 152576, .num_key_value_heads = 4, .head_dim = 192, .max_position_embeddings = 131072},
     .qkv_biases = attention_bias,
     .experts = {.where = expert_layers::behind_first_layers,
                 .num_experts = {{"n_routed_experts"}},
                 .shared_experts = {{"n_shared_experts"}},
                 .correction_bias = always,
                 .num_experts_default = 256,
                 .num_experts_per_tok_default = 8,
                 .intermediate_size_default = 2048,
                 .first_dense_default = 1},
     .windows = {.layer_types = false},
     .next_token_layers = true,
     .draft_prefix = "model.mtp.layers.",
     .adjust = adjust_mimo_v2,
     .plan = plan_mimo_v2,
     .plan_draft = sliding_dense_draft},
    {.model_type = "step3p5",
     .keys = {.num_key_value_heads = {{"num_attention_groups", "num_key_value_heads"}}},
     .defaults = {.vocab_size = 128815,
                  .num_attention_heads = 64,
                  .num_key_value_heads = 8,
                  .head_dim = 128,
                  .intermediate_size = 11264,
                  .max_position_embeddings = 128000},
     .qkv_biases = attention_bias,
     .qk_norm = query_key_norm::head_dim,
     .experts = step3p5_experts,
     .renames = {{"mlp.gate", "moe.gate"}, {"mlp.experts.0", "moe"}, {"mlp.shared_experts", "share_expert"}},
     .next_token_layers = true,
     .next_token_tables = 1,
     .adjust = adjust_step3p5,
     .plan = plan_step3p5,
     .finish_layer = finish_step3p5,
     .plan_draft = sliding_dense_draft},
    {.model_type = "step3p7", .text_model_type = "step3p5"},
    // configuration_hunyuan.py of tencent/Tencent-Hunyuan-Large.
    {.model_type = "hunyuan",
     .keys = {.head_dim = {{"head_dim", "attention_head_dim"}}},
     .defaults = {.vocab_size = 129024, .max_position_embeddings = 2048, .tie_word_embeddings = true},
     .qk_norm = query_key_norm::head_dim,
     .has_qk_norm = {"use_qk_norm", true},
     .renames = {{"mlp.gate", "mlp.gate.wg"}, {"mlp.shared_experts", "mlp.shared_mlp"}},
     .adjust = adjust_hunyuan,
     .plan = plan_hunyuan,
     .finish_layer = finish_hunyuan,
     .finish_model = finish_hunyuan_large},
    {.model_type = "hunyuan_v1_moe",
     .keys = {.head_dim = {{"head_dim", "attention_head_dim"}}},
     .defaults = {.max_position_embeddings = 2048},
     .qk_norm = query_key_norm::head_dim,
     .has_qk_norm = {"use_qk_norm", true},
     .renames = {{"mlp.gate", "mlp.gate.wg"}, {"mlp.shared_experts", "mlp.shared_mlp"}},
     .adjust = adjust_hunyuan,
     .plan = plan_hunyuan,
     .finish_layer = finish_hunyuan},
};

}  // namespace kvbudget::inline v0::detail
