#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface/family.hpp"
#include "kvbudget/io/huggingface/model_builder.hpp"
#include "kvbudget/io/huggingface/windows.hpp"
#include "kvbudget/model/layer_parts.hpp"
#include "kvbudget/model/model_architecture.hpp"

namespace kvbudget::inline v0::detail {

/// A number of layers, else the class default.
[[nodiscard]] inline std::uint32_t layers_in(const config_view& config, const key_names& key,
                                             std::uint32_t class_default = 0) {
  const std::uint32_t layers = config.size_or(key, class_default);
  if (layers > max_layers) {
    config.find(key)->refuse("must be at most " + std::to_string(max_layers) + ", not " +
                             std::to_string(layers));
  }
  return layers;
}

/// `num_hidden_layers`; where it is absent, the entries of the family's list of layers, if it has one.
[[nodiscard]] inline std::uint32_t layers_in(const config_view& config, const model_family& family) {
  const key_names& key = family.keys.num_hidden_layers;
  if (const auto list = config.find(family.keys.layer_list); list && !config.find(key)) {
    const std::size_t entries = list->value().is_string() ? list->text().size() : list->size();
    if (entries == 0 || entries > max_layers) {
      list->refuse("has " + std::to_string(entries) + " entries, expected 1 to " +
                   std::to_string(max_layers));
    }
    return static_cast<std::uint32_t>(entries);
  }
  return layers_in(config, key, family.defaults.num_hidden_layers);
}

/// `head_dim`, else the class default; null (or 0) and no default mean hidden / heads, which must divide.
[[nodiscard]] inline std::uint32_t head_dim_in(const config_view& config, const model_family& family,
                                               std::uint32_t hidden_size, std::uint32_t heads) {
  const key_names& key = family.keys.head_dim;
  if (const std::optional<json_field> given = config.find(key); given && given->integer() != 0) {
    return config_view::size_in(*given);
  }
  if (family.defaults.head_dim != 0 && !config.is_null(key))
    return config.size_or(key, family.defaults.head_dim);
  if (hidden_size % heads != 0) {
    config.refuse(std::string(family.keys.hidden_size.usual()) + " " + std::to_string(hidden_size) +
                  " is not a multiple of " + family.keys.num_attention_heads.usual() + " " +
                  std::to_string(heads) + ", and there is no head_dim");
  }
  return hidden_size / heads;
}

/// `num_key_value_heads`, else the class default; null and no default mean as many as query heads.
[[nodiscard]] inline std::uint32_t kv_heads_in(const config_view& config, const model_family& family,
                                               std::uint32_t query_heads) {
  const key_names& key = family.keys.num_key_value_heads;
  if (key.usual() == nullptr) return query_heads;
  if (const std::optional<json_field> given = config.find(key)) return config_view::size_in(*given);
  if (config.is_null(key)) return query_heads;
  if (family.defaults.num_key_value_heads != 0)
    return config.size_or(key, family.defaults.num_key_value_heads);
  config.note_default(key.usual(), std::to_string(query_heads) + " (as many as query heads)");
  return query_heads;
}

[[nodiscard]] inline std::uint32_t intermediate_size_in(const config_view& config, const model_family& family,
                                                        std::uint32_t hidden_size) {
  const key_names& key = family.keys.intermediate_size;
  const std::uint32_t factor = family.defaults.intermediate_per_hidden;
  if (factor == 0 || config.find(key)) return config.size_or(key, family.defaults.intermediate_size);
  if (hidden_size > UINT32_MAX / factor) {
    config.refuse(std::string(family.keys.hidden_size.usual()) + " must be below 2^32 / " +
                  std::to_string(factor));
  }
  return factor * hidden_size;
}

/// A product of two sizes of the config that must itself be a size.
[[nodiscard]] inline std::uint32_t size_product(const config_view& config, const char* what, std::uint64_t a,
                                                std::uint64_t b) {
  if (a != 0 && b > UINT32_MAX / a) {
    config.refuse(std::string(what) + ": " + std::to_string(a) + " x " + std::to_string(b) +
                  " must be below 2^32");
  }
  return static_cast<std::uint32_t>(a * b);
}

/// MLA by its ranks; `q_lora_rank` null = none. Source: huggingface/transformers
/// models/deepseek_v3/modeling_deepseek_v3.py, DeepseekV3Attention; indexer:
/// deepseek-ai/DeepSeek-V3.2-Exp inference/model.py, Indexer.
[[nodiscard]] inline latent_shape latent_in(const config_view& config, std::uint32_t heads,
                                            const latent_defaults& defaults = {}) {
  // The second names are openPangu's.
  constexpr key_names query_rank{{"q_lora_rank", "attention_q_lora_dim"}};
  const auto size = [&](const char* name, const char* other, std::uint32_t class_default) {
    return config.size_or({{name, other}}, class_default);
  };
  latent_shape latent;
  latent.sizes = {
      .heads = heads,
      .kv_lora_rank = size("kv_lora_rank", "attention_kv_lora_dim", defaults.kv_lora_rank),
      .qk_rope_head_dim = size("qk_rope_head_dim", "attention_qk_rope_dim", defaults.qk_rope_head_dim),
      .qk_nope_head_dim = size("qk_nope_head_dim", "attention_qk_dim", defaults.qk_nope_head_dim),
      .v_head_dim = size("v_head_dim", "attention_v_dim", defaults.v_head_dim)};
  if (config.find(query_rank) || (defaults.q_lora_rank != 0 && !config.is_null(query_rank))) {
    latent.sizes.q_lora_rank = config.size_or(query_rank, defaults.q_lora_rank);
  }
  const std::uint64_t query_dim =
      std::uint64_t{latent.sizes.qk_nope_head_dim} + latent.sizes.qk_rope_head_dim;
  (void)size_product(config, "num_attention_heads x (qk_nope_head_dim + qk_rope_head_dim)", heads, query_dim);
  (void)size_product(config, "num_attention_heads x v_head_dim", heads, latent.sizes.v_head_dim);
  if (config.find({{"index_head_dim"}}) || defaults.indexer_dim != 0) {
    latent.indexer_dim = config.size_or({{"index_head_dim"}}, defaults.indexer_dim);
    latent.indexer_heads = config.size_or({{"index_n_heads"}}, defaults.indexer_heads);
    latent.indexer_rank = latent.sizes.q_lora_rank;
    if (latent.indexer_rank == 0) config.refuse("an indexer (index_head_dim) needs q_lora_rank");
  }
  return latent;
}

/// A number that may be 0; null = 0, absent = the class default.
[[nodiscard]] inline std::uint64_t count_or(const config_view& config, const key_names& key,
                                            std::uint32_t class_default) {
  if (const std::optional<json_field> given = config.find(key)) return given->integer();
  if (config.is_null(key)) return 0;
  if (class_default != 0) config.note_default(key.usual(), std::to_string(class_default));
  return class_default;
}

/// The experts of a layer that has some.
[[nodiscard]] inline expert_shape experts_in(const config_view& config, const expert_traits& traits,
                                             bool gated) {
  expert_shape experts;
  mixture_sizes& sizes = experts.sizes;
  sizes.gated = gated;
  sizes.num_experts = config.size_or(traits.num_experts, traits.num_experts_default);
  sizes.num_experts_per_tok = config.size_or(traits.num_experts_per_tok, traits.num_experts_per_tok_default);
  sizes.intermediate = config.size_or(traits.intermediate_size, traits.intermediate_size_default);
  if (sizes.num_experts_per_tok > sizes.num_experts) {
    config.refuse(std::string(traits.num_experts_per_tok.usual()) + " " +
                  std::to_string(sizes.num_experts_per_tok) + " is more than " + traits.num_experts.usual() +
                  " " + std::to_string(sizes.num_experts));
  }
  (void)size_product(config, "experts", sizes.num_experts, 2);
  if (traits.shared_experts.usual() != nullptr) {
    const std::uint64_t shared = count_or(config, traits.shared_experts, traits.shared_experts_default);
    sizes.shared_intermediate =
        size_product(config, traits.shared_experts.usual(), shared, sizes.intermediate);
  }
  if (traits.shared_intermediate.usual() != nullptr) {
    const std::uint64_t width =
        count_or(config, traits.shared_intermediate, traits.shared_intermediate_default);
    sizes.shared_intermediate = size_product(config, traits.shared_intermediate.usual(), width, 1);
  }
  experts.shared_gate = traits.shared_gate && sizes.shared_intermediate != 0;
  experts.correction_bias = config.flag(traits.correction_bias);
  experts.router_bias = traits.router_bias;
  experts.expert_biases = traits.expert_biases;
  return experts;
}

/// The shape that a config describes, by the rules of its family.
[[nodiscard]] inline decoder_shape shape_of(const config_view& config, const model_family& family) {
  decoder_shape shape;
  layer_plan& layer = shape.layer;
  shape.hidden_size = config.size_or(family.keys.hidden_size, family.defaults.hidden_size);
  shape.num_hidden_layers = layers_in(config, family);
  shape.vocab_size = config.size_or(family.keys.vocab_size, family.defaults.vocab_size);
  shape.embedding_width = shape.hidden_size;
  const key_names& positions = family.keys.max_position_embeddings;
  if (const std::optional<std::uint64_t> most = config.tokens_in(positions)) {
    shape.max_position_embeddings = *most;
  } else if (family.defaults.max_position_embeddings != 0) {
    shape.max_position_embeddings = family.defaults.max_position_embeddings;
    config.note_default(positions.usual(), std::to_string(shape.max_position_embeddings));
  } else {
    config.note(std::string(positions.usual()) + " is absent: the trained context is unknown");
  }
  if (family.learned_positions) shape.position_rows = shape.max_position_embeddings;

  if (family.keys.num_attention_heads.usual() != nullptr) {
    const std::uint32_t heads =
        config.size_or(family.keys.num_attention_heads, family.defaults.num_attention_heads);
    if (family.latent_attention && config.flag({"use_mla", true})) {
      layer.latent = latent_in(config, heads, family.latent);
    } else {
      attention_shape& attention = layer.attention;
      attention.heads = heads;
      attention.kv_heads = kv_heads_in(config, family, heads);
      attention.key_dim = head_dim_in(config, family, shape.hidden_size, heads);
      attention.value_dim = attention.key_dim;
      attention.qkv_biases = config.flag(family.qkv_biases);
      attention.output_bias = config.flag(family.output_bias);
      if (config.flag(family.has_qk_norm)) attention.qk_norm = family.qk_norm;
    }
  }
  if (family.keys.intermediate_size.usual() != nullptr) {
    layer.mlp.intermediate_size = intermediate_size_in(config, family, shape.hidden_size);
  }
  layer.mlp.gated = family.gated_mlp;
  layer.mlp.biases = config.flag(family.mlp_biases);
  layer.norms = family.norms_per_layer;
  shape.vectors_per_norm = config.flag(family.norm_biases) ? 2 : 1;
  shape.head_bias = config.flag(family.head_bias);
  if (family.adjust != nullptr) family.adjust(config, shape);
  return shape;
}

/// Stops where heads cannot be shared evenly or a width is beyond 32 bits, in the config's words.
inline void check_attention(const config_view& config, const model_family& family,
                            const attention_shape& attention) {
  if (attention.heads == 0) return;
  const char* own_key = family.keys.num_attention_heads.usual();
  const char* heads_key = own_key != nullptr ? own_key : "num_attention_heads";
  if (attention.kv_heads == 0 || attention.heads % attention.kv_heads != 0) {
    const key_names& kv_key = family.keys.num_key_value_heads;
    const bool assumed = kv_key.usual() != nullptr && !config.find(kv_key);
    config.refuse(std::string(heads_key) + " " + std::to_string(attention.heads) + " is not a multiple of " +
                  (kv_key.usual() == nullptr ? "num_kv_heads" : kv_key.usual()) + " " +
                  std::to_string(attention.kv_heads) +
                  (assumed ? ", the class default where the key is absent" : ""));
  }
  for (const std::uint32_t dim : {attention.key_dim, attention.value_dim}) {
    if (std::uint64_t{attention.heads} * dim * (attention.gated_output ? 2 : 1) > UINT32_MAX) {
      config.refuse(std::string(heads_key) + " " + std::to_string(attention.heads) + " x head_dim " +
                    std::to_string(dim) + " must be below 2^32");
    }
  }
}

/// Marks the layers whose numbers a list names; numbers behind the last layer say nothing (see
/// `layers_listed` for lists that must not hold any).
[[nodiscard]] inline std::vector<bool> layers_marked(const json_field& list, std::uint32_t layers) {
  if (list.size() > max_layers) list.refuse("must have at most " + std::to_string(max_layers) + " entries");
  std::vector<bool> listed(layers, false);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (const std::uint64_t layer = list.at(i).integer(); layer < layers) listed[layer] = true;
  }
  return listed;
}

/// Which layers have experts instead of an MLP.
[[nodiscard]] inline std::vector<bool> expert_layers_of(const config_view& config,
                                                        const expert_traits& traits, std::uint32_t layers) {
  std::vector<bool> result(layers, traits.where == expert_layers::all);
  if (config.is_null(traits.num_experts)) return std::vector<bool>(layers, false);
  if (traits.where == expert_layers::every_step) {
    const std::uint32_t step =
        config.find({{"decoder_sparse_step"}}) ? config.size({{"decoder_sparse_step"}}) : 1;
    const auto list = config.find({{"mlp_only_layers"}});
    const std::vector<bool> dense = list ? layers_marked(*list, layers) : std::vector<bool>(layers, false);
    for (std::uint32_t i = 0; i < layers; ++i) result[i] = (i + 1) % step == 0 && !dense[i];
  }
  if (traits.where != expert_layers::behind_first_layers) return result;
  if (const auto types = config.find({{"mlp_layer_types"}})) {
    expect_entry_per_layer(config, *types, layers);
    for (std::uint32_t i = 0; i < layers; ++i) {
      const json_field type = types->at(std::size_t{i});
      result[i] = type.text() == "sparse";
      if (!result[i] && type.text() != "dense") {
        type.refuse("MLP type \"" + printable(type.text(), 40) + "\" is unknown, expected dense or sparse");
      }
    }
    return result;
  }
  std::uint32_t step = 1;
  if (const auto given = config.find({{"moe_layer_freq"}})) {
    if (given->value().is_array()) {
      expect_entry_per_layer(config, *given, layers);
      for (std::uint32_t i = 0; i < layers; ++i) result[i] = given->at(std::size_t{i}).integer() != 0;
      return result;
    }
    step = config_view::size_in(*given);
  }
  const std::uint64_t first = count_or(config, traits.first_dense, traits.first_dense_default);
  for (std::uint64_t i = first; i < layers; ++i) result[i] = i % step == 0;
  return result;
}

/// The layers in order: the usual layer with its window, and experts where they replace the MLP. One plan
/// stands for all layers where all are alike.
[[nodiscard]] inline std::vector<layer_plan> plan_layers(const config_view& config,
                                                         const model_family& family,
                                                         const decoder_shape& shape) {
  const std::vector<std::uint64_t> windows =
      windows_of_layers(config, family.windows, shape.num_hidden_layers);
  const std::vector<bool> with_experts = expert_layers_of(config, family.experts, shape.num_hidden_layers);
  expert_shape experts;
  if (std::find(with_experts.begin(), with_experts.end(), true) != with_experts.end()) {
    experts = experts_in(config, family.experts, shape.layer.mlp.gated);
  }
  const auto same = [](const auto& list) {
    return std::adjacent_find(list.begin(), list.end(), std::not_equal_to<>()) == list.end();
  };
  const bool is_uniform = family.plan == nullptr && family.plan_draft == nullptr &&
                          family.finish_model == nullptr && same(windows) && same(with_experts);
  std::vector<layer_plan> layers(is_uniform ? 1 : shape.num_hidden_layers, shape.layer);
  for (std::uint32_t i = 0; i < layers.size(); ++i) {
    layers[i].attention.window = windows[i];
    if (!with_experts[i]) continue;
    layers[i].mlp = mlp_shape{};
    layers[i].experts = experts;
  }
  if (family.plan != nullptr) family.plan(config, shape, layers);
  return layers;
}

/// Whether two layers of one model are equal. Where the family has no plan of its own they can only differ in
/// the two things that were laid over the usual layer.
[[nodiscard]] inline bool are_equal(const model_family& family, const layer_plan& a, const layer_plan& b) {
  if (family.plan != nullptr) return a == b;
  return a.attention.window == b.attention.window &&
         a.experts.sizes.num_experts == b.experts.sizes.num_experts;
}

/// The biases of query, key and value projections of the attention that the layer already has.
inline void add_qkv_biases(layer_draft& layer) {
  const std::uint64_t query_width = std::uint64_t{layer.num_attention_heads} * layer.query_dim;
  const auto kv_bias = [&](std::uint64_t dim, std::uint32_t copies) {
    put(layer,
        weight_groups::split_bias(module_role::attention, layer.key_value_heads * dim, layer.key_value_heads,
                                  shard_rule::kv_heads, copies),
        nullptr);
  };
  put(layer, weight_groups::split_bias(module_role::attention, query_width, layer.num_attention_heads),
      nullptr);
  if (layer.query_dim == layer.value_dim) {
    kv_bias(layer.query_dim, 2);
  } else {
    kv_bias(layer.query_dim, 1);
    kv_bias(layer.value_dim, 1);
  }
}

inline void add_attention(layer_draft& layer, std::uint32_t hidden, const attention_shape& shape) {
  using namespace weight_groups;
  const std::uint32_t heads = shape.heads;
  const std::uint32_t kv_heads = shape.kv_heads;
  if (shape.shared_cache) {
    layer.add(stores::shared());
  } else if (!shape.encoder) {
    store kept = stores::full(kv_heads, shape.key_dim, shape.value_dim);
    kept.indexer_dim = shape.indexer_dim;
    if (shape.window != 0) {
      kept = shape.chunked ? stores::chunked(kept, shape.window) : stores::sliding_window(kept, shape.window);
    }
    layer.add(kept);
  }
  add_attention_weights(layer, hidden,
                        {.query_heads = heads,
                         .kv_heads = kv_heads,
                         .key_dim = shape.key_dim,
                         .value_dim = shape.value_dim,
                         .gated_output = shape.gated_output,
                         .keys = shape.owns_kv_weights,
                         .values = shape.owns_kv_weights && !shape.values_are_keys});
  if (shape.qkv_biases) add_qkv_biases(layer);
  if (shape.output_bias) put(layer, vectors(module_role::attention, hidden), nullptr);
  if (shape.sinks) put(layer, split_bias(module_role::attention, heads, heads), nullptr);
  if (shape.indexer_heads != 0) {
    put(layer, kv_projection(shape.indexer_heads, shape.indexer_dim, hidden, 1), "self_attn.index_q_proj");
    put(layer, whole(module_role::attention, shape.indexer_dim, hidden), "self_attn.index_k_proj");
    put(layer, vectors(module_role::norm, shape.indexer_dim, 2), nullptr);
  }
  const std::uint64_t query_width = std::uint64_t{heads} * shape.key_dim;
  const std::uint64_t key_width = std::uint64_t{kv_heads} * shape.key_dim;
  switch (shape.qk_norm) {
    case query_key_norm::none: break;
    case query_key_norm::head_dim:
      put(layer, vectors(module_role::norm, shape.key_dim, shape.owns_kv_weights ? 2 : 1), nullptr);
      break;
    case query_key_norm::full_width:
      put(layer, vectors(module_role::norm, query_width), nullptr);
      put(layer, vectors(module_role::norm, key_width), nullptr);
      break;
    case query_key_norm::each_head:
      put(layer, split_bias(module_role::norm, query_width, heads), nullptr);
      put(layer, split_bias(module_role::norm, key_width, kv_heads, shard_rule::kv_heads), nullptr);
      break;
  }
}

inline void add_latent_attention(layer_draft& layer, std::uint32_t hidden, const latent_shape& shape) {
  using namespace weight_groups;
  constexpr module_role role = module_role::attention;
  layer.add(stores::latent(shape.sizes.kv_lora_rank, shape.sizes.qk_rope_head_dim, shape.indexer_dim));
  add_latent_attention_weights(layer, hidden, shape.sizes);
  if (shape.indexer_dim == 0) return;
  const std::uint64_t width = std::uint64_t{shape.indexer_heads} * shape.indexer_dim;
  put(layer, whole(role, width, shape.indexer_rank), "self_attn.indexer.wq_b");
  put(layer, whole(role, shape.indexer_dim, hidden), "self_attn.indexer.wk");
  put(layer, vectors(module_role::norm, shape.indexer_dim, 2), nullptr);
  put(layer, whole(role, shape.indexer_heads, hidden), "self_attn.indexer.weights_proj");
}

inline void add_experts(layer_draft& layer, std::uint32_t hidden, const expert_shape& shape) {
  using namespace weight_groups;
  const mixture_sizes& sizes = shape.sizes;
  add_mixture_weights(layer, hidden, sizes);
  const std::uint32_t router_vectors = (shape.correction_bias ? 1u : 0u) + (shape.router_bias ? 1u : 0u);
  if (router_vectors != 0) {
    put(layer,
        vectors(module_role::router, std::uint64_t{sizes.num_experts} + sizes.zero_experts, router_vectors),
        nullptr);
  }
  if (shape.expert_biases) {
    const std::uint32_t inner = sizes.gated ? 2 : 1;
    weight_group bias = expert_matrices(sizes.intermediate, 1, inner * sizes.num_experts, sizes.intermediate,
                                        shard_axis::rows);
    bias.kind = tensor_kind::vector;
    put(layer, bias, nullptr);
    bias = expert_matrices(sizes.latent_size != 0 ? sizes.latent_size : hidden, 1, sizes.num_experts, 1,
                           shard_axis::neither);
    bias.kind = tensor_kind::vector;
    put(layer, bias, nullptr);
  }
  if (shape.shared_gate) put(layer, whole(module_role::router, 1, hidden), "mlp.shared_expert_gate");
  if (sizes.latent_size != 0) {
    put(layer, whole(module_role::mlp, sizes.latent_size, hidden), "mlp.fc1_latent_proj");
    put(layer, whole(module_role::mlp, hidden, sizes.latent_size), "mlp.fc2_latent_proj");
  }
}

/// The mixer with its biases; what kinds of a single family weigh is added by the family.
inline void add_recurrent(layer_draft& layer, std::uint32_t hidden, const mixer_shape& shape) {
  using namespace weight_groups;
  constexpr module_role role = module_role::mixer;
  const store& kept = shape.kept;
  if (shape.own_weights) return layer.add(kept);
  add_mixer(layer, hidden, kept, shape.options);
  const std::uint64_t inner = kept.inner_size;
  if (shape.input_bias && kept.state == state_kind::mamba1) {
    put(layer, split_bias(role, inner, kept.inner_size, shard_rule::tensor, 2), nullptr);
  } else if (shape.input_bias && kept.state == state_kind::mamba2) {
    const std::uint64_t states = 2 * std::uint64_t{kept.state_groups} * kept.state_size;
    put(layer, split_bias(role, 2 * inner + kept.state_heads, kept.state_heads), nullptr);
    put(layer, split_bias(role, states, kept.state_groups, shard_rule::kv_heads), nullptr);
  } else if (shape.input_bias) {
    put(layer, split_bias(role, 3 * inner, kept.inner_size), nullptr);
  }
  if (shape.output_bias) put(layer, vectors(role, hidden), nullptr);
}

/// The layer of a plan.
[[nodiscard]] inline layer_draft layer_of(const decoder_shape& shape, const layer_plan& plan,
                                          const model_family& family) {
  const std::uint32_t hidden = shape.hidden_size;
  layer_draft layer;
  if (plan.attention.heads != 0) add_attention(layer, hidden, plan.attention);
  if (plan.latent.sizes.heads != 0) add_latent_attention(layer, hidden, plan.latent);
  if (plan.recurrent.kept.kind != store_kind::none) add_recurrent(layer, hidden, plan.recurrent);
  if (plan.mlp.intermediate_size != 0) {
    add_mlp_weights(layer, hidden, plan.mlp.intermediate_size, plan.mlp.gated);
    if (plan.mlp.biases) add_mlp_biases(layer, hidden);
  }
  if (plan.experts.sizes.num_experts != 0) add_experts(layer, hidden, plan.experts);
  const std::uint32_t norms = plan.norms * shape.vectors_per_norm;
  if (norms != 0) put(layer, weight_groups::vectors(module_role::norm, hidden, norms), nullptr);
  if (family.finish_layer != nullptr) family.finish_layer(shape, plan, layer);
  return layer;
}

/// The weights around the layers: embedding, positions, final norm, and a head unless it is the embedding.
inline void add_outer_weights(model_builder& builder, const decoder_shape& shape) {
  using namespace weight_groups;
  if (shape.has_embedding) {
    const std::uint64_t rows = std::uint64_t{shape.vocab_size} + shape.further_embedding_rows;
    builder.add(vocabulary_table(module_role::embedding, rows, shape.embedding_width), "model.embed_tokens");
  }
  if (shape.position_rows != 0) {
    builder.add({.rows = shape.position_rows,
                 .columns = shape.hidden_size,
                 .role = module_role::embedding,
                 .kind = tensor_kind::table});
  }
  if (shape.embedding_norm)
    builder.add(vectors(module_role::norm, shape.hidden_size, shape.vectors_per_norm));
  const bool projected = shape.embedding_width != shape.hidden_size;
  if (projected) builder.add(whole(module_role::embedding, shape.hidden_size, shape.embedding_width));
  if (shape.final_norm && shape.vectors_per_norm != 0) {
    builder.add(vectors(module_role::norm, shape.hidden_size, shape.vectors_per_norm));
  }
  if (projected) builder.add(whole(module_role::lm_head, shape.embedding_width, shape.hidden_size));
  if (shape.has_head && !shape.tie_word_embeddings) {
    builder.add(vocabulary_table(module_role::lm_head, shape.vocab_size, shape.embedding_width), "lm_head");
  }
  if (shape.head_bias) {
    weight_group bias = vocabulary_table(module_role::lm_head, shape.vocab_size, 1);
    bias.kind = tensor_kind::vector;
    builder.add(bias);
  }
}

/// Whether a draft layer keeps what the model's draft layers are known to keep.
[[nodiscard]] inline bool keep_the_same(const layer_kind& layer, const model_architecture& model) {
  return layer.store_count == model.draft_store_count &&
         std::equal(layer.stores, layer.stores + layer.store_count, model.draft_stores);
}

/// MTP: each of `num_nextn_predict_layers` draft layers is a decoder layer of the last one's kind, a
/// projection of 2H × H and three norms, and copies of embedding and head where checkpoints store them once
/// more. Source: deepseek-ai/DeepSeek-V3 README_WEIGHTS.md.
inline void add_next_token_layers(model_builder& builder, const config_view& config,
                                  const decoder_shape& shape, const std::vector<layer_plan>& layers,
                                  const model_family& family) {
  using namespace weight_groups;
  constexpr key_names key{{"num_nextn_predict_layers", "num_mtp_modules", "num_mtp_layers"}};
  const std::uint64_t count = count_or(config, key, family.next_token_layers_default);
  if (count == 0) return;
  if (count > max_layers) config.find(key)->refuse("must be at most " + std::to_string(max_layers));
  layer_draft joint;
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t both = size_product(config, "hidden_size", hidden, 2);
  if (family.join_draft != nullptr) {
    family.join_draft(shape, joint);
  } else {
    put(joint, whole(module_role::draft, hidden, both), "eh_proj");
    put(joint, vectors(module_role::draft, hidden, 3), nullptr);
  }
  if (family.next_token_tables > 1) {
    put(joint, vocabulary_table(module_role::embedding, shape.vocab_size, hidden), "embed_tokens");
  }
  if (family.next_token_tables > 0) {
    put(joint, vocabulary_table(module_role::lm_head, shape.vocab_size, hidden), "shared_head.head");
  }
  bool alike = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    const layer_plan plan =
        family.plan_draft != nullptr ? family.plan_draft(config, shape, layers, i) : layers.back();
    const std::string prefix = family.draft_prefix != nullptr
                                   ? family.draft_prefix + std::to_string(i) + "."
                                   : family.layer_prefix + std::to_string(shape.num_hidden_layers + i) + ".";
    const layer_draft layer = layer_of(shape, plan, family);
    if (i == 0) builder.keep_in_draft_layers(count, layer);
    alike = alike && (i == 0 || keep_the_same(layer, builder.model()));
    builder.add_draft_layer(layer, prefix);
    builder.add_draft_layer(joint, prefix);
  }
  if (!alike) {
    builder.forget_draft_stores(count);
    config.note("the draft layers keep caches of different kinds, which are not counted");
  }
  config.note(std::to_string(count) + (count == 1 ? " draft layer is" : " draft layers are") +
              " counted apart; engines load them only for speculative decoding");
}

/// Fills everything but name, type and dtype.
inline void build_decoder(model_builder& builder, const config_view& config, const model_family& family,
                          const decoder_shape& shape) {
  model_architecture& model = builder.model();
  model.hidden_size = shape.hidden_size;
  model.vocab_size = shape.vocab_size;
  model.max_position_embeddings = shape.max_position_embeddings;
  model.tie_word_embeddings = shape.tie_word_embeddings;
  add_outer_weights(builder, shape);
  const std::vector<layer_plan> layers = plan_layers(config, family, shape);
  struct built_layer {
    const layer_plan* plan;
    std::uint64_t signature;
    std::uint8_t kind;
  };
  std::vector<built_layer> known;
  for (std::uint32_t i = 0; i < shape.num_hidden_layers; ++i) {
    const layer_plan& plan = layers.size() == 1 ? layers.front() : layers[i];
    const std::uint64_t signature = builder.signature_of_next_layer();
    const auto same = std::find_if(known.rbegin(), known.rend(), [&](const built_layer& built) {
      return built.signature == signature && (built.plan == &plan || are_equal(family, *built.plan, plan));
    });
    if (same != known.rend()) {
      builder.repeat_layer(same->kind);
    } else {
      check_attention(config, family, plan.attention);
      known.push_back({&plan, signature, builder.add_layer(layer_of(shape, plan, family))});
    }
  }
  if (family.next_token_layers && !layers.empty()) {
    add_next_token_layers(builder, config, shape, layers, family);
  }
  if (const auto given = config.find(state_dtype_keys)) builder.model().recurrent_dtype = dtype_in(*given);
  if (family.finish_model != nullptr) family.finish_model(config, shape, layers, builder);
}

}  // namespace kvbudget::inline v0::detail
