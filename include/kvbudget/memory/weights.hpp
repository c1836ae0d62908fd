#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/memory/memory_budget.hpp"
#include "kvbudget/memory/rank_share.hpp"

namespace kvbudget::inline v0 {

/// Bytes of some weights: the elements themselves, and the scale factors and zero points beside them.
struct stored_weights {
  std::uint64_t payload = 0;
  std::uint64_t scales_low = 0;
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
      return checked_mul(ceil_div(rows, scheme.sidecar.group), ceil_div(columns, scheme.sidecar.group));
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
    const std::uint64_t groups = ceil_div(columns, scheme.sidecar.group);
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
      const std::uint64_t each = scheme.sidecar.scales == weight_scales::block ? side * side : side;
      const std::uint64_t groups = ceil_div(elements, each);
      const std::uint64_t zeros = ceil_div(checked_mul(groups, scheme.sidecar.zero_bits), 8);
      result.scales = checked_add(checked_mul(groups, scheme.sidecar.scale_bytes), zeros);
      if (scheme.sidecar.scales_per_super != 0) {
        result.scales = checked_add(result.scales, 4 * ceil_div(groups, scheme.sidecar.scales_per_super));
      }
      result.scales_low = result.scales;
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
  if (unquantized.has(group.role)) return false;
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

/// Bytes of one rank's shard of a weight group, by the rule of `weight_scheme`.
[[nodiscard]] constexpr stored_weights stored(const weight_group& group, const weight_shard& shard,
                                              const weight_scheme& scheme, bool quantized,
                                              const number_format& dtype, std::uint64_t hidden) {
  stored_weights result;
  if (!quantized) {
    result.payload = dtype.size_of(shard.elements()).value;
    return result;
  }
  if (scheme.every_element) {
    result.payload = scheme.payload.size_of(shard.elements()).value;
    return result;
  }
  if (group.rule == shard_rule::spread) return detail::stored_total(scheme, shard.elements(), hidden);
  const std::uint64_t count = detail::scales_per_matrix(scheme, shard.rows, shard.columns);
  const std::uint64_t fixed = detail::fixed_sidecar_bytes(scheme, shard.rows, shard.columns, count);
  const auto all_copies = [&](std::uint64_t scale_bytes) {
    return detail::checked_mul(detail::checked_add(detail::checked_mul(count, scale_bytes), fixed),
                               shard.copies);
  };
  result.payload =
      detail::checked_mul(detail::payload_bytes(scheme, shard.rows, shard.columns), shard.copies);
  result.scales_low = all_copies(scheme.sidecar.scale_bytes);
  result.scales = all_copies(scheme.sidecar.scale_bytes);
  result.scales_high = all_copies(detail::high_scale_bytes(scheme));
  return result;
}

/// One rank's weights by module, in expected bytes, with the scales of weights and of the cache's fixed
/// scales apart.
struct weight_bytes {
  std::uint64_t modules[module_role_count] = {};
  std::uint64_t scales_low = 0;
  std::uint64_t scales = 0;
  std::uint64_t scales_high = 0;
  bool assumed = false;

  constexpr void add(module_role role, const stored_weights& part, std::uint64_t times) {
    using detail::checked_add;
    using detail::checked_mul;
    std::uint64_t& module = modules[static_cast<std::size_t>(role)];
    module = checked_add(module, checked_mul(part.payload, times));
    if (part.scales_high != 0) {
      scales_low = checked_add(scales_low, checked_mul(part.scales_low, times));
      scales = checked_add(scales, checked_mul(part.scales, times));
      scales_high = checked_add(scales_high, checked_mul(part.scales_high, times));
    }
  }
};

namespace detail {
/// The stage that holds a weight outside the layers: head and final norm sit on the last one, the rest on the
/// first.
[[nodiscard]] constexpr bool is_on_stage(module_role role, const rank_share& share) {
  switch (role) {
    case module_role::lm_head:
    case module_role::norm:
    case module_role::draft: return share.last_stage;
    case module_role::unattributed: return true;
    default: return share.first_stage;
  }
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
      sum += static_scale_bytes(format.latent, 1, std::uint64_t{s.latent_rank} + s.rope_dim);
    }
  }
  return sum;
}
}  // namespace detail

/// The weights that one rank holds: Σ over weight groups of layers × bytes of its shard. Draft layers only if
/// they are loaded; a tied head on another pipeline stage than its embedding is a second copy of the table.
[[nodiscard]] constexpr weight_bytes weights_of(const deployment& d, const rank_share& share) {
  const model_architecture& model = *d.model;
  weight_bytes result;
  const bool automatic = d.weights.is_automatic();
  const bool needs_dtype = automatic || !d.weights.every_element || d.unquantized.bits != 0;
  const number_format& dtype = needs_dtype ? dtype_of(d) : d.weights.payload;
  const weight_scheme plain = automatic ? weight_scheme{dtype} : weight_scheme{};
  const weight_scheme& scheme = automatic ? plain : d.weights;

  const auto add = [&](const weight_group& group, std::uint64_t times) {
    if (group.role == module_role::draft && !d.load_draft_layers) return;
    const bool quantized = is_quantized(scheme, group, d.unquantized);
    result.add(group.role,
               stored(group, shard_of(group, d.parallel), scheme, quantized, dtype, model.hidden_size),
               times);
  };
  for (std::size_t i = 0; i < model.weight_count; ++i) {
    const weight_group& group = model.weights[i];
    if (!detail::is_on_stage(group.role, share)) continue;
    if (group.rule == shard_rule::spread) {
      result.assumed = true;
      if (d.parallel.pipeline != 1) {
        weight_group part = group;
        part.rows = detail::ceil_mul_div(group.rows, share.range.size(), model.num_hidden_layers);
        add(part, 1);
        continue;
      }
    }
    add(group, 1);
  }
  if (model.tie_word_embeddings && share.last_stage && !share.first_stage) {
    for (std::size_t i = 0; i < model.weight_count; ++i) {
      if (model.weights[i].role != module_role::embedding || model.weights[i].rows < model.vocab_size)
        continue;
      weight_group head = model.weights[i];
      head.role = module_role::lm_head;
      add(head, 1);
    }
  }
  const bool fixed_scales = d.kv_cache.key.scales != scale_granularity::none || d.kv_exceptions.any();
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const std::uint32_t layers = share.layers_of(kind);
    if (layers == 0) continue;
    const layer_kind& layer = model.kinds[kind];
    for (std::size_t i = 0; i < layer.weight_count; ++i) add(layer.weights[i], layers);
    if (fixed_scales) {
      const std::uint64_t usual = detail::static_cache_scales(layer, d.kv_cache, d.parallel.tensor);
      const std::uint64_t other =
          detail::static_cache_scales(layer, d.kv_exceptions.format, d.parallel.tensor);
      const std::uint64_t sum = usual * share.layers[kind] + other * share.exceptions[kind];
      result.scales_low = detail::checked_add(result.scales_low, sum);
      result.scales = detail::checked_add(result.scales, sum);
      result.scales_high = detail::checked_add(result.scales_high, sum);
    }
  }
  return result;
}

/// Writes the lines `weights`, one part per module, and `weights.scales`; a pinned figure replaces them all.
constexpr void add_weights(memory_budget& budget, const deployment& d, const rank_share& share) {
  if (d.pinned.weights.given) {
    const amount& pin = d.pinned.weights;
    budget.add({"weights", pin.low, pin.expected, pin.high, pin.known, pin.source});
    return;
  }
  const weight_bytes found = weights_of(d, share);
  std::uint64_t sum = 0;
  for (const std::uint64_t module : found.modules) sum = detail::checked_add(sum, module);
  const bytes low{detail::checked_add(sum, found.scales_low)};
  const bytes expected{detail::checked_add(sum, found.scales)};
  const bytes high{detail::checked_add(sum, found.scales_high)};
  const bool scales_vary = found.scales_low != found.scales_high;
  const basis known = found.assumed || scales_vary ? basis::assumed : basis::exact;
  constexpr const char* source = "elements of every tensor x bytes of its format";
  budget.add({"weights", low, expected, high, known, source});
  for (std::size_t role = 0; role < module_role_count; ++role) {
    if (found.modules[role] == 0) continue;
    const bytes module{found.modules[role]};
    const bool total_only = role == static_cast<std::size_t>(module_role::unattributed);
    budget.add({name_of(static_cast<module_role>(role)), module, module, module,
                total_only ? basis::assumed : basis::exact,
                total_only ? "a total without shapes, spread evenly" : source});
  }
  if (found.scales_high != 0) {
    budget.add({"weights.scales", bytes{found.scales_low}, bytes{found.scales}, bytes{found.scales_high},
                scales_vary || found.assumed ? basis::assumed : basis::exact,
                "scale factors and zero points of the weight scheme, fixed scales of the cache"});
  }
}

}  // namespace kvbudget::inline v0
