#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/family.hpp"
#include "kvbudget/io/huggingface/vision/gemma.hpp"

/// Gemma 3n and Gemma 4: layers that read earlier layers' caches, per-layer embeddings, and (Gemma 4) heads
/// that differ between sliding and full layers. Class defaults and shapes: huggingface/transformers
/// models/gemma3n/ and models/gemma4/, configuration_*.py and modeling_*.py.
namespace kvbudget::inline v0::detail {

/// The last `num_kv_shared_layers` layers read the cache of the last layer before them that has the same
/// window: they keep nothing. Checkpoints store their key and value projections all the same.
/// Returns how many layers keep a cache.
inline std::uint32_t share_last_caches(const config_view& config, std::uint32_t class_default,
                                       std::vector<layer_plan>& layers) {
  const key_names key{{"num_kv_shared_layers"}};
  const auto given = config.find(key);
  std::uint64_t shared = class_default;
  if (given) {
    shared = given->integer();
  } else if (shared != 0) {
    config.note_default(key.usual(), std::to_string(shared));
  }
  const auto count = static_cast<std::uint32_t>(layers.size());
  if (shared >= count) {
    config.refuse("num_kv_shared_layers " + std::to_string(shared) + " must be below the " +
                  std::to_string(count) + " layers");
  }
  const std::uint32_t owners = count - static_cast<std::uint32_t>(shared);
  for (std::uint32_t i = owners; i < count; ++i) {
    bool found = false;
    for (std::uint32_t j = 0; j < owners; ++j) {
      found = found || (layers[j].attention.window == 0) == (layers[i].attention.window == 0);
    }
    if (!found) {
      config.refuse("num_kv_shared_layers: layer " + std::to_string(i) +
                    " shares a cache, but no layer of its type keeps one");
    }
    layers[i].attention.shared_cache = true;
  }
  return owners;
}

/// Per-layer embeddings: a gate, a projection and a norm in each layer. Elements: 2·P·H + H.
inline void add_per_layer_input(const decoder_shape& shape, layer_draft& layer) {
  using namespace weight_groups;
  if (shape.per_layer_input == 0) return;
  put(layer, whole(module_role::mlp, shape.per_layer_input, shape.hidden_size), "per_layer_input_gate");
  put(layer, whole(module_role::mlp, shape.hidden_size, shape.per_layer_input), "per_layer_projection");
  put(layer, vectors(module_role::norm, shape.hidden_size), nullptr);
}

/// And for all layers together a table of V_P × (L·P), a projection of L·P × H and a norm of P.
inline void add_per_layer_table(const config_view& config, const decoder_shape& shape,
                                model_builder& builder) {
  using namespace weight_groups;
  if (shape.per_layer_input == 0) return;
  const std::uint32_t rows = config.size_or({{"vocab_size_per_layer_input"}}, 262144);
  const std::uint32_t width = size_product(config, "num_hidden_layers x hidden_size_per_layer_input",
                                           shape.num_hidden_layers, shape.per_layer_input);
  builder.add(vocabulary_table(module_role::embedding, rows, width));
  builder.add(whole(module_role::embedding, width, shape.hidden_size), "model.per_layer_model_projection");
  builder.add(vectors(module_role::norm, shape.per_layer_input));
}

/// `hidden_size_per_layer_input`: 0 = no per-layer embeddings.
inline void read_per_layer_input(const config_view& config, decoder_shape& shape) {
  constexpr key_names key{{"hidden_size_per_layer_input"}};
  if (const auto given = config.find(key); given && given->integer() == 0) return;
  if (!config.is_null(key)) shape.per_layer_input = config.size_or(key, 256);
}

inline void adjust_gemma3n(const config_view& config, decoder_shape& shape) {
  read_per_layer_input(config, shape);
  if (shape.per_layer_input == 0) config.refuse("hidden_size_per_layer_input must be at least 1");
  shape.laurel_rank = config.size_or({{"laurel_rank"}}, 64);
  shape.residual_streams = config.size_or({{"altup_num_inputs"}}, 4);
  if (shape.residual_streams > 64) config.refuse("altup_num_inputs must be at most 64");
}

/// `intermediate_size` is one number, or one for each layer.
inline void plan_gemma3n(const config_view& config, const decoder_shape&, std::vector<layer_plan>& layers) {
  constexpr key_names key{{"intermediate_size"}};
  const auto given = config.find(key);
  const bool listed = given && given->value().is_array();
  if (listed && given->size() != layers.size()) {
    given->refuse("has " + std::to_string(given->size()) + " entries, expected one for each of the " +
                  std::to_string(layers.size()) + " layers");
  }
  const std::uint32_t usual = listed ? 0 : config.size_or(key, 16384);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].mlp.intermediate_size = listed ? config_view::size_in(given->at(i)) : usual;
  }
  share_last_caches(config, 15, layers);
}

/// AltUp with S streams: S² + S³ coefficients, a router of S × H, a norm and a scale of H. LAuReL of rank r:
/// 2·r·H and a norm of H. Source: models/gemma3n/modeling_gemma3n.py, Gemma3nTextAltUp,
/// Gemma3nTextLaurelBlock.
inline void finish_gemma3n_layer(const decoder_shape& shape, const layer_plan&, layer_draft& layer) {
  using namespace weight_groups;
  constexpr module_role role = module_role::mlp;
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t streams = shape.residual_streams;
  put(layer, vectors(role, std::uint64_t{streams} * streams * (1 + streams)), nullptr);
  put(layer, whole(role, streams, hidden), "altup.modality_router");
  put(layer, by_rows(role, shape.laurel_rank, hidden, shape.laurel_rank), "laurel.linear_left");
  put(layer, by_columns(role, hidden, shape.laurel_rank, shape.laurel_rank), "laurel.linear_right");
  put(layer, vectors(module_role::norm, hidden, 3), nullptr);
  add_per_layer_input(shape, layer);
}

/// Streams other than the first are made by a projection of H × H each, and joined again by another.
inline void finish_gemma3n(const config_view& config, const decoder_shape& shape,
                           const std::vector<layer_plan>&, model_builder& builder) {
  using namespace weight_groups;
  add_per_layer_table(config, shape, builder);
  if (shape.residual_streams < 2) return;
  const std::uint32_t further = shape.residual_streams - 1;
  builder.add(whole(module_role::mlp, shape.hidden_size, shape.hidden_size, 2 * further),
              "model.altup_projections.0|model.altup_unembed_projections.0");
}

inline void refuse_all_bidirectional(const config_view& config, decoder_shape&) {
  const auto bidirectional = config.find({{"use_bidirectional_attention"}});
  if (!bidirectional) return;
  const bool all =
      bidirectional->value().is_string() ? bidirectional->text() == "all" : bidirectional->flag();
  if (all) bidirectional->refuse("encoders keep no cache, expected \"vision\" or null");
}

inline void adjust_gemma4(const config_view& config, decoder_shape& shape) {
  read_per_layer_input(config, shape);
  refuse_all_bidirectional(config, shape);
}

/// Full layers have `global_head_dim`, and with `attention_k_eq_v` `num_global_key_value_heads` and no value
/// projection; the last layer is full whatever `layer_types` says. With `use_double_wide_mlp` the MLPs of
/// layers that share a cache are twice as wide. With `enable_moe_block` each layer has experts beside its
/// MLP. Source: models/gemma4/modeling_gemma4.py, Gemma4TextAttention, Gemma4TextMLP,
/// Gemma4TextDecoderLayer.
inline void plan_gemma4(const config_view& config, const decoder_shape& shape,
                        std::vector<layer_plan>& layers) {
  if (config.is_null({{"sliding_window"}})) config.refuse("sliding_window must be a number, not null");
  layers.back().attention.window = 0;
  const bool one_projection = config.flag({"attention_k_eq_v", false});
  attention_shape full = shape.layer.attention;
  if (const auto dim = config.find({{"global_head_dim"}})) {
    if (dim->integer() != 0) full.key_dim = config_view::size_in(*dim);
  } else if (!config.is_null({{"global_head_dim"}})) {
    full.key_dim = config.size_or({{"global_head_dim"}}, 512);
  }
  full.value_dim = full.key_dim;
  full.values_are_keys = one_projection;
  if (one_projection && config.find({{"num_global_key_value_heads"}})) {
    full.kv_heads = config.size({{"num_global_key_value_heads"}});
  }
  expert_shape experts;
  if (config.flag({"enable_moe_block", false})) {
    experts = experts_in(config,
                         {.num_experts = {{"num_experts"}},
                          .num_experts_per_tok = {{"top_k_experts", "num_experts_per_tok"}},
                          .intermediate_size = {{"moe_intermediate_size", "expert_intermediate_size"}}},
                         true);
  }
  for (layer_plan& layer : layers) {
    if (layer.attention.window == 0) layer.attention = full;
    if (experts.sizes.num_experts == 0) continue;
    layer.experts = experts;
    layer.norms = 7;
  }
  const std::uint32_t owners = share_last_caches(config, 0, layers);
  if (!config.flag({"use_double_wide_mlp", false})) return;
  for (std::size_t i = owners; i < layers.size(); ++i) {
    layers[i].mlp.intermediate_size =
        size_product(config, "intermediate_size", layers[i].mlp.intermediate_size, 2);
  }
}

/// A scalar per layer; with experts, a scale of H before the router and one value per expert behind it.
inline void finish_gemma4_layer(const decoder_shape& shape, const layer_plan& plan, layer_draft& layer) {
  using namespace weight_groups;
  put(layer, vectors(module_role::norm, 1), nullptr);
  if (plan.experts.sizes.num_experts != 0) {
    put(layer, vectors(module_role::router, shape.hidden_size), nullptr);
    put(layer, vectors(module_role::router, plan.experts.sizes.num_experts), nullptr);
  }
  add_per_layer_input(shape, layer);
}

inline void finish_gemma4(const config_view& config, const decoder_shape& shape,
                          const std::vector<layer_plan>&, model_builder& builder) {
  add_per_layer_table(config, shape, builder);
}

inline constexpr model_family gemma4_families[] = {
    {.model_type = "gemma3n",
     .text_prefix = "model.language_model.layers.",
     .text_model_type = "gemma3n_text",
     .add_towers = add_gemma3n_towers,
     .tokens_of_image = gemma3n_image_tokens},
    {.model_type = "gemma3n_text",
     .keys = {.intermediate_size = {}},
     .defaults = {.vocab_size = 262400,
                  .num_attention_heads = 8,
                  .num_key_value_heads = 2,
                  .head_dim = 256,
                  .max_position_embeddings = 32768,
                  .tie_word_embeddings = true},
     .nested = {.hidden_size = 2048, .num_hidden_layers = 35},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::head_dim,
     .norms_per_layer = 4,
     .windows = {.rule = window_rule::pattern, .window = 512, .pattern = 5},
     .adjust = adjust_gemma3n,
     .plan = plan_gemma3n,
     .finish_layer = finish_gemma3n_layer,
     .finish_model = finish_gemma3n},
    {.model_type = "gemma4",
     .text_prefix = "model.language_model.layers.",
     .text_model_type = "gemma4_text",
     .add_towers = add_gemma4_towers,
     .tokens_of_image = gemma4_image_tokens},
    {.model_type = "gemma4_text",
     .defaults = {.vocab_size = 262144,
                  .num_attention_heads = 8,
                  .num_key_value_heads = 4,
                  .head_dim = 256,
                  .max_position_embeddings = 131072,
                  .tie_word_embeddings = true},
     .nested = {.hidden_size = 2304, .num_hidden_layers = 30, .intermediate_size = 9216},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::head_dim,
     .norms_per_layer = 4,
     .windows = {.rule = window_rule::pattern, .window = 512, .pattern = 6},
     .renames = {{"mlp.gate", "router.proj"}, {"mlp.experts", "experts"}},
     .adjust = adjust_gemma4,
     .plan = plan_gemma4,
     .finish_layer = finish_gemma4_layer,
     .finish_model = finish_gemma4},
    {.model_type = "gemma4_unified",
     .text_prefix = "model.language_model.layers.",
     .text_model_type = "gemma4_unified_text",
     .add_towers = add_gemma4_unified_towers,
     .tokens_of_image = gemma4_image_tokens},
    // Gemma 4 without per-layer embeddings.
    {.model_type = "gemma4_unified_text",
     .defaults = {.vocab_size = 262144,
                  .num_attention_heads = 8,
                  .num_key_value_heads = 4,
                  .head_dim = 256,
                  .max_position_embeddings = 262144,
                  .tie_word_embeddings = true},
     .nested = {.hidden_size = 2304, .num_hidden_layers = 30, .intermediate_size = 9216},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::head_dim,
     .norms_per_layer = 4,
     .windows = {.rule = window_rule::pattern, .window = 1024, .pattern = 6},
     .adjust = refuse_all_bidirectional,
     .plan = plan_gemma4,
     .finish_layer = finish_gemma4_layer},
};

}  // namespace kvbudget::inline v0::detail
