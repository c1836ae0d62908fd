#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/text.hpp"
#include "kvbudget/format/number_format.hpp"
#include "kvbudget/format/weight_scheme.hpp"
#include "kvbudget/model/store.hpp"
#include "kvbudget/model/weight_group.hpp"

namespace kvbudget::inline v0 {

/// What a model has room for; more of anything stops.
inline constexpr std::size_t max_layers = 512;
inline constexpr std::size_t max_layer_kinds = 40;
inline constexpr std::size_t max_stores_per_layer = 4;
inline constexpr std::size_t max_weight_groups_per_layer = 24;
inline constexpr std::size_t max_model_weight_groups = 48;
inline constexpr std::size_t max_precisions = 12;

namespace detail {
[[noreturn]] inline void a_model_needs_at_least_one_layer() { raise("a model needs at least one layer"); }
[[noreturn]] inline void a_model_has_too_many_layers(std::uint64_t layers) {
  raise("a model of # layers is larger than the # that are supported", layers, max_layers);
}
[[noreturn]] inline void a_model_has_too_many_distinct_layer_kinds() {
  raise("a model has more than # distinct layer kinds", max_layer_kinds);
}
[[noreturn]] inline void a_layer_has_too_many_stores() {
  raise("a layer has more than # stores", max_stores_per_layer);
}
[[noreturn]] inline void too_many_weight_groups(std::uint64_t limit) {
  raise("more than # weight groups", limit);
}
[[noreturn]] inline void a_model_has_too_many_precisions() {
  raise("more than # precisions", max_precisions);
}
[[noreturn]] inline void query_heads_must_be_a_multiple_of_kv_heads(std::uint64_t query, std::uint64_t kv) {
  raise("# query heads cannot share # KV heads evenly", query, kv);
}
[[noreturn]] inline void head_counts_and_head_dim_must_be_positive() {
  raise("attention: head counts and head dim must be positive");
}
[[noreturn]] inline void a_window_must_be_at_least_one_token() {
  raise("a window must be at least one token");
}
[[noreturn]] inline void a_latent_rank_must_be_positive() { raise("MLA: kv_lora_rank must be positive"); }
[[noreturn]] inline void a_recurrent_store_needs_a_state_kind() {
  raise("a recurrent store needs a state kind");
}
[[noreturn]] inline void more_experts_per_token_than_experts(std::uint64_t active, std::uint64_t all) {
  raise("# experts per token, but only # experts", active, all);
}
}  // namespace detail

/// One distinct kind of layer: what it keeps (stores), what it weighs (groups), and the widths that its
/// activations have.
struct layer_kind {
  store stores[max_stores_per_layer] = {};
  weight_group weights[max_weight_groups_per_layer] = {};
  std::uint8_t store_count = 0;
  std::uint8_t weight_count = 0;
  bool gated_mlp = false;                 ///< gate and up projections are both alive at once
  std::uint32_t num_attention_heads = 0;  ///< query heads; 0 = no attention here
  std::uint32_t query_dim = 0;            ///< elements of a query per head
  std::uint32_t value_dim = 0;            ///< elements of an attention output per head
  std::uint32_t key_value_heads = 0;      ///< KV heads as computed (for MLA: after up-projection)
  std::uint64_t intermediate_size = 0;    ///< dense MLP (shared experts included); 0 = none
  std::uint32_t num_experts = 0;
  std::uint32_t num_experts_per_tok = 0;
  std::uint32_t moe_intermediate_size = 0;

  constexpr void add(const store& kept) {
    if (store_count == max_stores_per_layer) detail::a_layer_has_too_many_stores();
    stores[store_count++] = kept;
  }
  constexpr void add(const weight_group& group) {
    if (weight_count == max_weight_groups_per_layer)
      detail::too_many_weight_groups(max_weight_groups_per_layer);
    weights[weight_count++] = group;
  }
  /// Elements of all weight groups of one such layer.
  [[nodiscard]] constexpr std::uint64_t parameters() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < weight_count; ++i) sum = detail::checked_add(sum, weights[i].elements());
    return sum;
  }
  friend constexpr bool operator==(const layer_kind&, const layer_kind&) = default;
};

namespace detail {
constexpr void validate(const store& s) {
  switch (s.kind) {
    case store_kind::none:
    case store_kind::shared: return;
    case store_kind::sliding_window:
    case store_kind::chunked:
      if (s.window == 0) a_window_must_be_at_least_one_token();
      [[fallthrough]];
    case store_kind::full:
    case store_kind::cross_attention:
      if (s.kv_heads == 0 || s.key_dim == 0 || s.value_dim == 0) head_counts_and_head_dim_must_be_positive();
      return;
    case store_kind::latent:
      if (s.latent_rank == 0) a_latent_rank_must_be_positive();
      return;
    case store_kind::compressed:
      if (s.key_dim == 0 || s.rope_dim > s.key_dim) head_counts_and_head_dim_must_be_positive();
      if (s.window == 0) a_window_must_be_at_least_one_token();
      return;
    case store_kind::recurrent:
      if (s.state == state_kind::none) a_recurrent_store_needs_a_state_kind();
      return;
  }
}

constexpr void validate(const layer_kind& layer) {
  for (std::size_t i = 0; i < layer.store_count; ++i) {
    const store& s = layer.stores[i];
    validate(s);
    if (s.kv_heads != 0 && layer.num_attention_heads % s.kv_heads != 0) {
      query_heads_must_be_a_multiple_of_kv_heads(layer.num_attention_heads, s.kv_heads);
    }
  }
  if (layer.num_experts_per_tok > layer.num_experts) {
    more_experts_per_token_than_experts(layer.num_experts_per_tok, layer.num_experts);
  }
}
}  // namespace detail

/// A model as memory sees it: the distinct kinds of layers, the order in which they occur, and the weights
/// outside the layers. Everything is a plain public value; as a template argument a model is taken by
/// reference
/// (`model_of<…>`), since its dtype's name is a pointer. An estimate costs O(distinct kinds). It is large
/// (about 47 KB): pass it by reference, and make local constexpr models `static`.
struct model_architecture {
  char name[64] = {};
  char model_type[32] = {};         ///< Hugging Face `model_type`, where it came from there
  number_format dtype{};            ///< what the checkpoint's config names; automatic = unknown
  number_format recurrent_dtype{};  ///< in which engines keep recurrent states; automatic = no wish
  std::uint32_t hidden_size = 0;
  std::uint32_t vocab_size = 0;
  std::uint64_t max_position_embeddings = 0;  ///< trained context; 0 = unknown
  std::uint32_t num_hidden_layers = 0;
  bool tie_word_embeddings = false;  ///< the head reads the embedding table
  bool parameters_assumed = false;   ///< some weights are known only as a total
  std::uint8_t kind_count = 0;
  std::uint8_t weight_count = 0;
  std::uint8_t precision_count = 0;
  std::uint8_t draft_store_count = 0;
  std::uint32_t draft_layers = 0;                 ///< layers that draft tokens (num_nextn_predict_layers)
  std::uint16_t layers_of[max_layer_kinds] = {};  ///< how many layers are of each kind
  std::uint8_t order[max_layers] = {};            ///< kind of each layer, first to last
  weight_group weights[max_model_weight_groups] = {};
  layer_kind kinds[max_layer_kinds] = {};
  weight_scheme precisions[max_precisions] = {};  ///< how the checkpoint stores what is not in its dtype
  store draft_stores[max_stores_per_layer] = {};  ///< what one draft layer keeps; none = not known

  /// The number that a weight group gives as its `precision` to be stored like this. A scheme of the same
  /// bytes under another name (fp8, int8) is another precision.
  constexpr std::uint8_t precision_of(const weight_scheme& scheme) {
    for (std::size_t i = 0; i < precision_count; ++i) {
      const bool same = precisions[i] == scheme && detail::same_text(precisions[i].name, scheme.name);
      if (same) return static_cast<std::uint8_t>(i + 1);
    }
    if (precision_count == max_precisions) detail::a_model_has_too_many_precisions();
    precisions[precision_count++] = scheme;
    return precision_count;
  }
  /// Appends `count` layers of one kind; equal kinds are kept once. Impossible shapes stop.
  constexpr void add_layers(const layer_kind& layer, std::uint64_t count = 1) {
    if (count == 0) detail::a_model_needs_at_least_one_layer();
    if (count > max_layers - num_hidden_layers) {
      detail::a_model_has_too_many_layers(detail::checked_add(num_hidden_layers, count));
    }
    std::size_t kind = 0;
    while (kind < kind_count && !(kinds[kind] == layer)) ++kind;
    if (kind == kind_count) {
      if (kind_count == max_layer_kinds) detail::a_model_has_too_many_distinct_layer_kinds();
      detail::validate(layer);
      kinds[kind_count++] = layer;
    }
    for (std::uint64_t i = 0; i < count; ++i) order[num_hidden_layers++] = static_cast<std::uint8_t>(kind);
    layers_of[kind] = static_cast<std::uint16_t>(layers_of[kind] + count);
  }
  /// Adds weights outside the layers (embedding, head, final norm, towers).
  constexpr void add(const weight_group& group) {
    if (weight_count == max_model_weight_groups) detail::too_many_weight_groups(max_model_weight_groups);
    weights[weight_count++] = group;
  }
  /// Adds a store to what one draft layer keeps.
  constexpr void add_draft_store(const store& kept) {
    if (draft_store_count == max_stores_per_layer) detail::a_layer_has_too_many_stores();
    draft_stores[draft_store_count++] = kept;
  }
  friend constexpr bool operator==(const model_architecture&, const model_architecture&) = default;
};

namespace detail {
/// What of a group counts: everything, one module, or what takes part in one token.
enum class parameter_share : std::uint8_t { all, module, active };

[[nodiscard]] constexpr std::uint64_t counted(const weight_group& group, const layer_kind& layer,
                                              parameter_share share, module_role role) {
  if (share == parameter_share::module && group.role != role) return 0;
  if (share == parameter_share::active) {
    if (group.role == module_role::draft) return 0;
    if (group.role == module_role::expert && layer.num_experts != 0) {
      return checked_mul(group.elements() / layer.num_experts, layer.num_experts_per_tok);
    }
  }
  return group.elements();
}

[[nodiscard]] constexpr std::uint64_t sum_parameters(const model_architecture& model, parameter_share share,
                                                     module_role role = module_role::unattributed) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < model.weight_count; ++i) {
    sum = checked_add(sum, counted(model.weights[i], model.kinds[0], share, role));
  }
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    for (std::size_t i = 0; i < layer.weight_count; ++i) {
      sum =
          checked_add(sum, checked_mul(counted(layer.weights[i], layer, share, role), model.layers_of[kind]));
    }
  }
  return sum;
}
}  // namespace detail

/// Whether a layer keeps a store of this kind.
[[nodiscard]] constexpr bool has_store(const layer_kind& layer, store_kind kind) {
  for (std::size_t i = 0; i < layer.store_count; ++i) {
    if (layer.stores[i].kind == kind) return true;
  }
  return false;
}
/// Whether some layer does.
[[nodiscard]] constexpr bool has_store(const model_architecture& model, store_kind kind) {
  for (std::size_t i = 0; i < model.kind_count; ++i) {
    if (has_store(model.kinds[i], kind)) return true;
  }
  return false;
}

/// Parameters: elements of all weight groups, draft layers and towers included.
[[nodiscard]] constexpr parameters parameter_count(const model_architecture& model) {
  return parameters{detail::sum_parameters(model, detail::parameter_share::all)};
}

/// Parameters of one module.
[[nodiscard]] constexpr parameters parameter_count(const model_architecture& model, module_role role) {
  return parameters{detail::sum_parameters(model, detail::parameter_share::module, role)};
}

/// Parameters that take part in one token: of the experts, only those that a token is routed to; no draft
/// layers. For a batch of tokens see `expected_active_parameters`.
[[nodiscard]] constexpr active_parameters active_parameter_count(const model_architecture& model) {
  return active_parameters{detail::sum_parameters(model, detail::parameter_share::active)};
}

/// Stops with the name of the broken rule if the model cannot exist.
constexpr void validate(const model_architecture& model) {
  if (model.num_hidden_layers == 0) detail::a_model_needs_at_least_one_layer();
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) detail::validate(model.kinds[kind]);
  for (std::size_t i = 0; i < model.draft_store_count; ++i) detail::validate(model.draft_stores[i]);
}

}  // namespace kvbudget::inline v0
