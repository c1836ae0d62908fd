#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/pointer.hpp"
#include "kvbudget/memory/lora.hpp"
#include "kvbudget/memory/memory_budget.hpp"
#include "kvbudget/memory/rank_share.hpp"

namespace kvbudget::inline v0 {

/// Bytes of some weights: the elements themselves, and the scale factors and zero points beside them. The
/// expected size of a scale is also the lowest.
struct stored_weights {
  std::uint64_t payload = 0;
  std::uint64_t scales = 0;
  std::uint64_t scales_high = 0;
};

namespace detail {
[[nodiscard]] constexpr std::uint64_t high_scale_bytes(const weight_scheme& scheme) {
  return larger(scheme.sidecar.scale_bytes, scheme.sidecar.scale_bytes_high);
}

/// Scale factors of one matrix under a scheme.
[[nodiscard]] constexpr std::uint64_t scales_per_matrix(const weight_scheme& scheme, std::uint64_t rows,
                                                        std::uint64_t columns) {
  switch (scheme.sidecar.scales) {
    case weight_scales::none: return 0;
    case weight_scales::tensor: return 1;
    case weight_scales::channel: return rows;
    case weight_scales::group: return checked_mul(rows, ceil_div(columns, scheme.sidecar.group));
    case weight_scales::block:
      return checked_mul(ceil_div(rows, scheme.sidecar.rows()), ceil_div(columns, scheme.sidecar.group));
    case weight_scales::flat: return ceil_div(checked_mul(rows, columns), scheme.sidecar.group);
  }
  return 0;
}

/// Zero points, g_idx, second-level scales and per-matrix constants.
[[nodiscard]] constexpr std::uint64_t fixed_sidecar_bytes(const weight_scheme& scheme, std::uint64_t rows,
                                                          std::uint64_t columns, std::uint64_t scales) {
  std::uint64_t sum =
      checked_add(scheme.sidecar.matrix_bytes, checked_mul(columns, scheme.sidecar.column_bytes));
  if (scheme.sidecar.zero_bits != 0) {
    const bool per_row = scheme.sidecar.scales == weight_scales::channel;
    const std::uint64_t groups = per_row ? 1 : ceil_div(columns, scheme.sidecar.group);
    sum =
        checked_add(sum, checked_mul(groups, 4 * ceil_div(checked_mul(rows, scheme.sidecar.zero_bits), 32)));
  }
  if (scheme.sidecar.scales_per_super != 0)
    sum = checked_add(sum, 4 * ceil_div(scales, scheme.sidecar.scales_per_super));
  return sum;
}

[[nodiscard]] constexpr std::uint64_t payload_bytes(const weight_scheme& scheme, std::uint64_t rows,
                                                    std::uint64_t columns) {
  if (!scheme.sidecar.packed_rows) return scheme.payload.size_of(checked_mul(rows, columns)).value;
  const std::uint64_t row = scheme.payload.size_of(columns).value;
  return checked_mul(rows, round_up(row, 4));
}

/// An assumed total has no shapes: it is stored as one long row in scales of whole groups; per-channel scales
/// get the range from none to one per `hidden` elements.
[[nodiscard]] constexpr stored_weights stored_total(const weight_scheme& scheme, std::uint64_t elements,
                                                    std::uint64_t hidden) {
  stored_weights result;
  result.payload = scheme.payload.size_of(elements).value;
  switch (scheme.sidecar.scales) {
    case weight_scales::none: break;
    case weight_scales::tensor: break;
    case weight_scales::channel:
      result.scales_high =
          checked_mul(ceil_div(elements, larger<std::uint64_t>(hidden, 1)), detail::high_scale_bytes(scheme));
      break;
    case weight_scales::group:
    case weight_scales::flat:
    case weight_scales::block: {
      const std::uint64_t side = scheme.sidecar.group;
      const std::uint64_t each =
          scheme.sidecar.scales == weight_scales::block ? checked_mul(side, scheme.sidecar.rows()) : side;
      const std::uint64_t groups = ceil_div(elements, each);
      const std::uint64_t zeros = ceil_div(checked_mul(groups, scheme.sidecar.zero_bits), 8);
      result.scales = checked_add(checked_mul(groups, scheme.sidecar.scale_bytes), zeros);
      if (scheme.sidecar.scales_per_super != 0) {
        result.scales = checked_add(result.scales, 4 * ceil_div(groups, scheme.sidecar.scales_per_super));
      }
      result.scales_high = result.scales;
      break;
    }
  }
  return result;
}
}  // namespace detail

/// Whether `scheme` quantizes `group`: plain formats cover every element; schemes cover the linear layers of
/// attention, mixers, MLPs and experts. Modules listed as `unquantized` stay in the dtype either way.
[[nodiscard]] constexpr bool is_quantized(const weight_scheme& scheme, const weight_group& group,
                                          module_set unquantized) {
  if (unquantized.bits != 0 && unquantized.has(group.role)) return false;
  if (scheme.every_element) return true;
  if (group.kind != tensor_kind::linear) return false;
  switch (group.role) {
    case module_role::attention:
    case module_role::mixer:
    case module_role::mlp:
    case module_role::expert:
    case module_role::shared_expert:
    case module_role::unattributed: return true;
    case module_role::embedding:
    case module_role::router:
    case module_role::norm:
    case module_role::lm_head:
    case module_role::vision:
    case module_role::audio:
    case module_role::draft: return false;
  }
  return false;
}

/// Bytes of one rank's shard of a weight group under a scheme, by the rule of `weight_scheme`.
[[nodiscard]] constexpr stored_weights stored(const weight_group& group, const weight_shard& shard,
                                              const weight_scheme& scheme, std::uint64_t hidden) {
  using detail::checked_add;
  using detail::checked_mul;
  if (group.rule == shard_rule::spread) return detail::stored_total(scheme, shard.elements(), hidden);
  const std::uint64_t count = detail::scales_per_matrix(scheme, shard.rows, shard.columns);
  const std::uint64_t fixed = detail::fixed_sidecar_bytes(scheme, shard.rows, shard.columns, count);
  const std::uint64_t scales = checked_add(checked_mul(count, scheme.sidecar.scale_bytes), fixed);
  const std::uint64_t high = checked_add(checked_mul(count, detail::high_scale_bytes(scheme)), fixed);
  return {checked_mul(detail::payload_bytes(scheme, shard.rows, shard.columns), shard.copies),
          checked_mul(scales, shard.copies), checked_mul(high, shard.copies)};
}

/// One rank's weights by module, with the scales of weights and the cache's fixed scales apart.
struct weight_bytes {
  std::uint64_t modules[module_role_count] = {};
  std::uint64_t scales = 0;
  std::uint64_t scales_high = 0;
  std::uint32_t assumed = 0;  ///< bit by bit: modules of which some is known only as a total
};

namespace detail {
/// The stage that holds a weight outside the layers: head and final norm sit on the last one, the rest on the
/// first.
[[nodiscard]] constexpr bool is_on_stage(module_role role, const rank_share& share) {
  if (role == module_role::lm_head || role == module_role::norm) return share.last_stage;
  return share.first_stage || role == module_role::unattributed;
}

/// Fixed scales of a layer's cache (per tensor, channel or head), which are stored with the weights.
[[nodiscard]] constexpr std::uint64_t static_cache_scales(const layer_kind& layer, const kv_format& format,
                                                          std::uint32_t tensor) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < layer.store_count; ++i) {
    const store& s = layer.stores[i];
    if (s.kv_heads != 0) {
      const std::uint32_t heads = local_kv_heads(s.kv_heads, tensor);
      sum += static_scale_bytes(format.key, heads, s.key_dim) +
             static_scale_bytes(format.value, heads, s.value_dim);
    } else if (s.kind == store_kind::latent) {
      sum += static_scale_bytes(format.latent(), 1, std::uint64_t{s.latent_rank} + s.rope_dim);
    }
  }
  return sum;
}

/// The two formats that weights may be in, resolved: the scheme, and the dtype of what it leaves alone. Where
/// every element takes the same whole number of bytes, elements are summed first and multiplied once.
struct weight_formats {
  const weight_scheme& scheme;
  const weight_scheme& dtype;
  bool uniform = false;
  bool split = false;                 ///< some ranks hold only a part of a group
  bool own = false;                   ///< as the checkpoint stores them: each group in its own precision
  bool loaded = false;                ///< some group is not kept as it is stored
  const layer_kind* layer = nullptr;  ///< that a group belongs to; of draft layers, one that is like them
  std::uint32_t expert_rank = 0;
};

/// What a rank holds of a group.
[[nodiscard]] constexpr weight_shard shard_on(const weight_group& group, const deployment& d,
                                              const weight_formats& formats) {
  if (!d.parallel.uneven_experts || is_null(formats.layer)) return shard_of(group, d.parallel);
  return shard_of(group, d.parallel, formats.layer->num_experts, formats.expert_rank);
}

/// What a group is stored in.
[[nodiscard]] constexpr const weight_scheme& scheme_of(const weight_group& group, const deployment& d,
                                                       const weight_formats& formats) {
  if (!formats.own)
    return is_quantized(formats.scheme, group, d.unquantized) ? formats.scheme : formats.dtype;
  if (group.precision == 0 || d.unquantized.has(group.role)) return formats.dtype;
  return d.model->precisions[group.precision - 1];
}

/// Adds `times` copies of a group whose matrices a scheme quantizes.
constexpr void add_quantized_group(weight_bytes& sum, const weight_group& group, const weight_shard& shard,
                                   module_role role, std::uint64_t times, const deployment& d,
                                   const weight_scheme& scheme) {
  const stored_weights part = stored(group, shard, scheme, d.model->hidden_size);
  std::uint64_t& module = sum.modules[static_cast<std::size_t>(role)];
  module = add_product(module, part.payload, times);
  sum.scales = add_product(sum.scales, part.scales, times);
  sum.scales_high = add_product(sum.scales_high, part.scales_high, times);
}

/// Adds `times` copies of a group in two formats.
constexpr void add_mixed_group(weight_bytes& sum, const weight_group& group, module_role role,
                               std::uint64_t times, const deployment& d, const weight_formats& formats) {
  const weight_scheme& scheme = scheme_of(group, d, formats);
  const weight_shard shard = shard_on(group, d, formats);
  if (!scheme.every_element) return add_quantized_group(sum, group, shard, role, times, d, scheme);
  const std::uint64_t each = scheme.payload.size_of(shard.elements()).value;
  std::uint64_t& module = sum.modules[static_cast<std::size_t>(role)];
  module = add_product(module, each, times);
}

/// An expert's shard, padded as it is loaded.
[[nodiscard]] constexpr weight_shard padded_experts(const weight_group& group, weight_shard shard,
                                                    const weight_loading& loading) {
  const bool inner_rows = group.axis == shard_axis::rows;
  shard.rows =
      round_up(shard.rows, inner_rows ? loading.expert_inner_multiple : loading.expert_hidden_multiple);
  if (group.kind == tensor_kind::linear) {
    shard.columns =
        round_up(shard.columns, inner_rows ? loading.expert_hidden_multiple : loading.expert_inner_multiple);
  }
  return shard;
}

/// Scales of FP4 matrices as they are laid out for the hardware: rows and groups per row padded. Gate and up
/// projections of experts are one matrix there.
[[nodiscard]] constexpr std::uint64_t laid_out_scales(const weight_group& group, const weight_shard& shard,
                                                      const weight_scheme& scheme,
                                                      const weight_loading& loading, bool gated_experts) {
  const std::uint64_t fused = gated_experts && group.axis == shard_axis::rows ? 2 : 1;
  const std::uint64_t rows =
      ceil_div(round_up(checked_mul(shard.rows, fused), loading.fp4_scale_rows_multiple), fused);
  const std::uint64_t groups =
      round_up(ceil_div(shard.columns, scheme.sidecar.group), loading.fp4_scale_groups_multiple);
  return checked_product(rows, groups, shard.copies);
}

/// Whether a group is the up-projection that makes keys and values of a latent.
[[nodiscard]] constexpr bool expands_a_latent(const weight_group& group, const layer_kind* layer) {
  if (is_null(layer) || layer->store_count == 0 || group.kind != tensor_kind::linear) return false;
  const store& s = layer->stores[0];
  if (s.kind != store_kind::latent || layer->query_dim < s.rope_dim) return false;
  const std::uint64_t widths = std::uint64_t{layer->query_dim} - s.rope_dim + layer->value_dim;
  return group.columns == s.latent_rank && group.rows == layer->num_attention_heads * widths;
}

/// Adds `times` copies of a group as `weight_loading` keeps it.
constexpr void add_loaded_group(weight_bytes& sum, const weight_group& group, module_role role,
                                std::uint64_t times, const deployment& d, const weight_formats& formats) {
  const weight_loading& loading = d.loading;
  if (!loading.towers && (role == module_role::vision || role == module_role::audio)) return;
  if (loading.draft_tables_shared && group.role == module_role::draft &&
      group.rule == shard_rule::vocabulary) {
    return;
  }
  const bool experts = group.rule == shard_rule::experts;
  weight_shard shard = shard_on(group, d, formats);
  if (experts) shard = padded_experts(group, shard, loading);
  std::uint64_t& module = sum.modules[static_cast<std::size_t>(role)];
  if (experts && group.kind == tensor_kind::vector && loading.expert_biases_in_fp32) {
    module = add_product(module, formats::fp32.size_of(shard.elements()).value, times);
    return;
  }
  const weight_scheme& as_stored = scheme_of(group, d, formats);
  if (loading.latent != latent_copies::none && expands_a_latent(group, formats.layer)) {
    if (loading.latent == latent_copies::always || !as_stored.every_element)
      module = add_product(module, dtype_of(d).size_of(shard.elements()).value, times);
  }
  if (as_stored.every_element) {  // which loading leaves alone
    module = add_product(module, as_stored.payload.size_of(shard.elements()).value, times);
    return;
  }
  const weight_scheme scheme = loaded_scheme(as_stored, loading);
  stored_weights part = stored(group, shard, scheme, d.model->hidden_size);
  const bool fp4 = scheme.payload == formats::fp4_e2m1 && scheme.sidecar.scales == weight_scales::group;
  if (fp4 && group.rule != shard_rule::spread) {
    const bool gated = experts && !is_null(formats.layer) && formats.layer->gated_mlp;
    const std::uint64_t each = scheme.sidecar.scale_bytes;
    const std::uint64_t laid_out = checked_mul(laid_out_scales(group, shard, scheme, loading, gated), each);
    const std::uint64_t unpadded =
        checked_mul(checked_mul(scales_per_matrix(scheme, shard.rows, shard.columns), shard.copies), each);
    const bool both = experts && loading.expert_scales_kept;
    const std::uint64_t more = both ? laid_out : laid_out - unpadded;
    part.scales = checked_add(part.scales, more);
    part.scales_high = checked_add(part.scales_high, more);
  }
  module = add_product(module, part.payload, times);
  sum.scales = add_product(sum.scales, part.scales, times);
  sum.scales_high = add_product(sum.scales_high, part.scales_high, times);
}

/// Of a draft group, the copies that belong to the draft layers that are loaded.
[[nodiscard]] constexpr weight_group loaded_drafts(weight_group group, const deployment& d) {
  const std::uint32_t all = d.model->draft_layers;
  const std::uint32_t used = draft_layers_of(d);
  if (used != 0 && used < all && group.copies % all == 0) group.copies = group.copies / all * used;
  return group;
}

/// Whether `weight_loading` can change any group of this model: quantized ones, padded experts, latents that
/// are copied, towers and draft layers are what it is about.
[[nodiscard]] constexpr bool loading_matters(const deployment& d, bool quantized) {
  const weight_loading& loading = d.loading;
  if (!loading.changes()) return false;
  if (quantized || !loading.towers || loads_draft_layers(d)) return true;
  const bool experts = loading.expert_hidden_multiple != 1 || loading.expert_inner_multiple != 1 ||
                       loading.expert_biases_in_fp32;
  if (!experts && loading.latent != latent_copies::always) return false;
  for (std::size_t kind = 0; kind < d.model->kind_count; ++kind) {
    const layer_kind& layer = d.model->kinds[kind];
    if ((experts && layer.num_experts != 0) || layer.stores[0].kind == store_kind::latent) return true;
  }
  return false;
}

/// Whether two kinds of layer differ only in what they cache: windows and full attention by turns.
[[nodiscard]] constexpr bool weigh_the_same(const layer_kind& a, const layer_kind& b) {
  if (a.weight_count != b.weight_count || a.num_experts != b.num_experts || a.gated_mlp != b.gated_mlp ||
      a.stores[0].kind == store_kind::latent || b.stores[0].kind == store_kind::latent) {
    return false;
  }
  for (std::size_t i = 0; i < a.weight_count; ++i) {
    if (!(a.weights[i] == b.weights[i])) return false;
  }
  return true;
}

/// Adds `times` copies of a group to a rank's sum: bytes, or elements where formats are uniform.
constexpr void add_group(weight_bytes& sum, const weight_group& group, module_role role, std::uint64_t times,
                         const deployment& d, const weight_formats& formats) {
  if (formats.loaded) return add_loaded_group(sum, group, role, times, d, formats);
  if (!formats.uniform) return add_mixed_group(sum, group, role, times, d, formats);
  std::uint64_t& module = sum.modules[static_cast<std::size_t>(role)];
  if (formats.split) {
    module = add_product(module, shard_on(group, d, formats).elements(), times);
    return;
  }
  module = add_product(module, group.elements(), times);
}

/// Adds a weight outside the layers. An assumed total is spread over the stages by their layers; a tied table
/// that the head reads on another stage than the embedding's is a second copy.
constexpr void add_model_group(weight_bytes& sum, const weight_group& group, const deployment& d,
                               const rank_share& share, const weight_formats& formats) {
  if (group.role == module_role::draft) {
    if (!share.last_stage || !loads_draft_layers(d)) return;
    if (group.rule == shard_rule::spread) sum.assumed |= 1u << static_cast<unsigned>(group.role);
    return add_group(sum, loaded_drafts(group, d), group.role, 1, d, formats);
  }
  if (group.rule == shard_rule::spread) {
    weight_group part = group;
    part.rows = ceil_mul_div(group.rows, share.range.size(), d.model->num_hidden_layers);
    sum.assumed |= 1u << static_cast<unsigned>(group.role);
    add_group(sum, part, group.role, 1, d, formats);
    return;
  }
  const bool one_stage = share.first_stage && share.last_stage;
  if (one_stage || is_on_stage(group.role, share)) add_group(sum, group, group.role, 1, d, formats);
  if (one_stage || !share.last_stage) return;
  if (group.role == module_role::embedding && d.model->tie_word_embeddings &&
      group.rows >= d.model->vocab_size) {
    add_group(sum, group, module_role::lm_head, 1, d, formats);
  }
}
}  // namespace detail

/// The weights that one rank holds: Σ over weight groups of layers × bytes of its shard. Where the deployment
/// names no format, each group is stored as the checkpoint stores it. Draft layers only if they are loaded.
[[nodiscard]] constexpr weight_bytes weights_of(const deployment& d, const rank_share& share) {
  const model_architecture& model = *d.model;
  weight_bytes sum;
  const bool automatic = d.weights.is_automatic();
  const bool needs_dtype = automatic || !d.weights.every_element || d.unquantized.bits != 0;
  const weight_scheme dtype = needs_dtype ? weight_scheme{dtype_of(d)} : weight_scheme{};
  const weight_scheme& scheme = automatic ? dtype : d.weights;
  const bool own = automatic && model.precision_count != 0;
  const bool loaded = detail::loading_matters(d, own || !scheme.every_element);
  const bool uniform = scheme.every_element && !own && d.unquantized.bits == 0 &&
                       scheme.payload.block_elements == 1 && !loaded;
  const bool split = d.parallel.reshapes();
  detail::weight_formats formats{scheme, dtype, uniform, split, own, loaded};
  const bool needs_layer = loaded || d.parallel.uneven_experts;
  formats.expert_rank = share.expert_rank;
  formats.layer = model.kind_count == 0 ? nullptr : &model.kinds[model.kind_count - 1];
  const weight_group* const last = model.weights + model.weight_count;
  for (const weight_group* group = model.weights; group != last; ++group) {
    detail::add_model_group(sum, *group, d, share, formats);
  }
  const bool fixed_scales = d.kv_cache.has_fixed_scales() || share.has_exceptions;
  std::uint32_t layers = 0;  // of kinds that weigh the same
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    layers += share.layers_of(kind);
    if (layers != 0 &&
        (kind + 1 == model.kind_count || !detail::weigh_the_same(layer, model.kinds[kind + 1]))) {
      if (needs_layer) formats.layer = &layer;
      const weight_group* const end = layer.weights + layer.weight_count;
      for (const weight_group* group = layer.weights; group != end; ++group) {
        detail::add_group(sum, *group, group->role, layers, d, formats);
      }
      layers = 0;
    }
    if (fixed_scales && share.layers_of(kind) != 0) {
      const std::uint64_t scales =
          detail::static_cache_scales(layer, d.kv_cache, d.parallel.attention_tensor()) * share.layers[kind] +
          detail::static_cache_scales(layer, d.kv_exceptions.format, d.parallel.attention_tensor()) *
              share.exceptions[kind];
      sum.scales = detail::checked_add(sum.scales, scales);
      sum.scales_high = detail::checked_add(sum.scales_high, scales);
    }
  }
  if (uniform && scheme.payload.block_bytes != 1) {
    for (std::uint64_t& module : sum.modules) {
      if (module != 0) module = detail::checked_mul(module, scheme.payload.block_bytes);
    }
  }
  return sum;
}

/// The weights of the draft model on one rank, scales included: nothing where there is none, and only beside
/// the last stage. By default it is split over as many tensor ranks as the model. Source: vllm-project/vllm
/// config/speculative.py, draft_tensor_parallel_size.
[[nodiscard]] constexpr stored_weights draft_weights_of(const deployment& d, const rank_share& share) {
  if (!d.speculation.has_draft_model() || !share.last_stage) return {};
  const deployment draft = draft_of(d);
  const weight_bytes found = weights_of(draft, share_of(draft, rank{.expert_rank = share.expert_rank}));
  stored_weights sum{0, found.scales, found.scales_high};
  for (const std::uint64_t module : found.modules) sum.payload = detail::checked_add(sum.payload, module);
  return sum;
}

/// Writes the lines `weights`, one part per module, `weights.scales`, and what speculation and adapters add:
/// `weights.draft_model`, `weights.lora`. A pinned figure replaces them all.
constexpr void add_weights(memory_budget& budget, const deployment& d, const rank_share& share) {
  if (d.pinned.weights.given) {
    return detail::add_pinned(budget, "weights", d.pinned.weights);
  }
  const weight_bytes found = weights_of(d, share);
  const bool range = found.scales != found.scales_high;
  const basis known =
      found.assumed != 0 || range || d.model->parameters_assumed ? basis::assumed : basis::exact;
  constexpr const char* source = "elements of every tensor x bytes of its format";
  line_item& parent = budget.lines[budget.count];
  budget.add({"weights", bytes{}, bytes{}, bytes{}, known, source, false});
  std::uint64_t sum = found.scales;
  for (std::size_t role = 0; role < module_role_count; ++role) {
    const std::uint64_t module = found.modules[role];
    if (module == 0) continue;
    sum = detail::checked_add(sum, module);
    line_item line = line_item::part(name_of(static_cast<module_role>(role)), bytes{module}, source);
    if ((found.assumed >> role & 1u) != 0) {  // no arithmetic, however exact its digits look
      line.known = basis::assumed;
      line.source = "a total without shapes, spread evenly";
    }
    budget.add(line);
  }
  if (found.scales_high != 0) {
    budget.add({"weights.scales", bytes{found.scales}, bytes{found.scales}, bytes{found.scales_high},
                range ? basis::assumed : basis::exact,
                "scale factors and zero points of the weight scheme, fixed scales of the cache", true});
  }
  std::uint64_t range_of_scales = found.scales_high - found.scales;
  if (d.speculation.has_draft_model() && share.last_stage) {
    const stored_weights draft = draft_weights_of(d, share);
    const bytes low{detail::checked_add(draft.payload, draft.scales)};
    const bytes high{detail::checked_add(draft.payload, draft.scales_high)};
    const bool assumed = !(low == high) || d.speculation.draft->parameters_assumed;
    budget.add({"weights.draft_model", low, low, high, assumed ? basis::assumed : basis::exact,
                "weights of the model that drafts tokens, with their scales", true});
    sum = detail::checked_add(sum, low.value);
    range_of_scales = detail::checked_add(range_of_scales, (high - low).value);
    if (assumed) parent.known = basis::assumed;
  }
  if (d.lora.any()) {
    const bytes adapters = lora_bytes_of(d, share);
    budget.add(line_item::part("weights.lora", adapters,
                               "max_loras x rank x (inputs + outputs) of every targeted matrix"));
    sum = detail::checked_add(sum, adapters.value);
  }
  parent.low = parent.expected = bytes{sum};
  parent.high = bytes{detail::checked_add(sum, range_of_scales)};
}

}  // namespace kvbudget::inline v0
