#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/memory/memory_budget.hpp"
#include "kvbudget/memory/rank_share.hpp"
#include "kvbudget/units/ratio.hpp"

namespace kvbudget::inline v0 {

/// Tokens of one store that a group of requests keeps: those of the shared prefix once, the rest per request.
struct cached_tokens {
  std::uint64_t shared = 0;
  std::uint64_t own = 0;  ///< per request, beyond what is shared

  /// shared + requests × own.
  [[nodiscard]] constexpr std::uint64_t total(std::uint64_t requests) const {
    return detail::add_product(shared, own, requests);
  }
};

namespace detail {
/// Of `length` tokens split over `ranks` decode-context ranks, what the fullest holds.
[[nodiscard]] constexpr std::uint64_t tokens_per_rank(std::uint64_t length, std::uint64_t ranks) {
  return ranks == 1 ? length : ceil_div(length, ranks);
}

/// A store that keeps at most `window` tokens shares only what of the prefix is still inside the window.
[[nodiscard]] constexpr cached_tokens windowed_tokens(std::uint64_t window, std::uint64_t length,
                                                      std::uint64_t prefix) {
  const std::uint64_t kept = smaller(length, window);
  const std::uint64_t dropped = length - kept;
  const std::uint64_t shared = prefix > dropped ? prefix - dropped : 0;
  return {shared, kept - shared};
}
}  // namespace detail

/// Tokens (entries, for compressed stores) that `s` keeps for a request of `length` tokens whose first
/// `prefix` are shared. Full attention and latents: all, split over decode-context ranks. Windows and chunks:
/// min(length, window), of which max(0, prefix − (length − window)) are shared. Compressed stores: ⌊length /
/// ratio⌋ entries; their window is counted by `window_tokens`. Cross attention: the encoder's tokens. States
/// keep no tokens.
[[nodiscard]] constexpr cached_tokens tokens_kept(const store& s, std::uint64_t length, std::uint64_t prefix,
                                                  std::uint32_t decode_context = 1) {
  switch (s.kind) {
    case store_kind::none:
    case store_kind::shared:
    case store_kind::recurrent: return {};
    case store_kind::full:
    case store_kind::latent: {
      const std::uint64_t all = detail::tokens_per_rank(length, decode_context);
      const std::uint64_t shared = detail::tokens_per_rank(prefix, decode_context);
      return {shared, all - shared};
    }
    case store_kind::sliding_window:
    case store_kind::chunked: return detail::windowed_tokens(s.window, length, prefix);
    case store_kind::compressed: {
      if (s.compress_ratio == 0) return {};
      return {prefix / s.compress_ratio, length / s.compress_ratio - prefix / s.compress_ratio};
    }
    case store_kind::cross_attention: return {0, s.encoder_tokens};
  }
  return {};
}

/// The uncompressed window of a compressed store.
[[nodiscard]] constexpr cached_tokens window_tokens(const store& s, std::uint64_t length,
                                                    std::uint64_t prefix) {
  return detail::windowed_tokens(s.window, length, prefix);
}

/// One rank's cache in bytes, by what it holds.
struct kv_cache_bytes {
  std::uint64_t payload = 0;          ///< keys, values and latents
  std::uint64_t scales = 0;           ///< per-token scale factors
  std::uint64_t indexer = 0;          ///< sparse index keys, with their scales
  std::uint64_t state = 0;            ///< recurrent states
  std::uint64_t cross_attention = 0;  ///< keys and values of encoder tokens, with their scales

  constexpr void add(const kv_cache_bytes& more) {
    payload = detail::checked_add(payload, more.payload);
    scales = detail::checked_add(scales, more.scales);
    indexer = detail::checked_add(indexer, more.indexer);
    state = detail::checked_add(state, more.state);
    cross_attention = detail::checked_add(cross_attention, more.cross_attention);
  }
  [[nodiscard]] constexpr bytes total() const {
    using detail::checked_add;
    return bytes{
        checked_add(checked_add(payload, scales), checked_add(checked_add(indexer, state), cross_attention))};
  }
};

namespace detail {
constexpr void accumulate(std::uint64_t& sum, std::uint64_t each, std::uint64_t times) {
  sum = add_product(sum, times, each);
}

/// Adds `times` tokens of `cost`.
constexpr void accumulate(kv_cache_bytes& sum, const token_bytes& cost, std::uint64_t times) {
  accumulate(sum.payload, cost.payload, times);
  if (cost.scales != 0) accumulate(sum.scales, cost.scales, times);
}

/// Tokens of a request that a residual rule has quantized: keys, then values.
[[nodiscard]] constexpr std::uint64_t quantized_tokens(const kv_format& format, std::uint64_t length,
                                                       bool keys) {
  const std::uint64_t kept = format.residual_tokens;
  if (format.residual == residual_rule::none || kept == 0) return length;
  if (keys || format.residual == residual_rule::whole) return length / kept * kept;
  return length > kept ? length - kept : 0;
}

/// Formats with unquantized recent tokens: each request pays the quantized rate for its old tokens and the
/// dtype's for the rest; nothing is shared below the residual.
constexpr void accumulate_with_residual(kv_cache_bytes& sum, const kv_format& format, const store& s,
                                        std::uint32_t heads, const cached_tokens& kept,
                                        std::uint64_t requests, std::uint64_t layers,
                                        const number_format& dtype) {
  const std::uint64_t length = checked_add(kept.shared, kept.own);
  const std::uint64_t old_keys = quantized_tokens(format, length, true);
  const std::uint64_t old_values = quantized_tokens(format, length, false);
  const std::uint64_t shared_keys = smaller(kept.shared, old_keys);
  const std::uint64_t shared_values = smaller(kept.shared, old_values);
  const token_bytes key = side_bytes(format.key, heads, s.key_dim);
  const token_bytes value = side_bytes(format.value, heads, s.value_dim);
  const cached_tokens keys{shared_keys, old_keys - shared_keys};
  const cached_tokens values{shared_values, old_values - shared_values};
  accumulate(sum, key, checked_mul(keys.total(requests), layers));
  accumulate(sum, value, checked_mul(values.total(requests), layers));
  const std::uint64_t times = checked_mul(requests, layers);
  accumulate(sum.payload, side_bytes(dtype, heads, s.key_dim).payload, checked_mul(times, length - old_keys));
  accumulate(sum.payload, side_bytes(dtype, heads, s.value_dim).payload,
             checked_mul(times, length - old_values));
}
}  // namespace detail

/// Adds `layers` layers that keep `s` in `cache`, for one group of requests on one tensor rank.
constexpr void add_store(kv_cache_bytes& sum, const store& s, const request_group& group,
                         std::uint64_t layers, const deployment& d, const kv_format& cache) {
  using namespace detail;
  const std::uint64_t length = group.context().value;
  const std::uint64_t prefix = group.shared_prefix.value;
  const cached_tokens kept = tokens_kept(s, length, prefix, d.parallel.decode_context);
  switch (s.kind) {
    case store_kind::none:
    case store_kind::shared: return;
    case store_kind::full:
    case store_kind::sliding_window:
    case store_kind::chunked: {
      const std::uint32_t heads = local_kv_heads(s.kv_heads, d.parallel.attention_tensor());
      if (cache.residual != residual_rule::none) {
        accumulate_with_residual(sum, cache, s, heads, kept, group.count, layers, dtype_of(d));
      } else {
        accumulate(sum, cache.token(heads, s.key_dim, s.value_dim),
                   checked_mul(kept.total(group.count), layers));
      }
      if (s.indexer_dim == 0) return;
      accumulate(sum.indexer, cache.index_key_bytes(s.indexer_dim),
                 checked_mul(kept.total(group.count), layers));
      return;
    }
    case store_kind::latent: {
      const std::uint64_t cached = checked_mul(kept.total(group.count), layers);
      accumulate(sum, cache.latent_token(s.latent_rank, s.rope_dim), cached);
      accumulate(sum.indexer, cache.index_key_bytes(s.indexer_dim), cached);
      return;
    }
    case store_kind::compressed: {
      const token_bytes entry = cache.latent_token(s.key_dim - s.rope_dim, s.rope_dim);
      const std::uint64_t entries = kept.total(group.count);
      const std::uint64_t recent = window_tokens(s, length, prefix).total(group.count);
      accumulate(sum, entry, checked_mul(checked_add(entries, recent), layers));
      accumulate(sum.indexer, cache.index_key_bytes(s.indexer_dim), checked_mul(entries, layers));
      const std::uint64_t state = compressor_state_elements(s);
      if (state != 0) {
        accumulate(sum.state, recurrent_format(d).size_of(state).value, checked_mul(group.count, layers));
      }
      return;
    }
    case store_kind::recurrent: {
      const state_elements state = state_of(s, d.parallel.attention_tensor());
      const number_format& recurrent = state.recurrent_in_fp32 ? formats::fp32 : recurrent_format(d);
      const std::uint64_t each = checked_add(convolution_format(d).size_of(state.convolution).value,
                                             recurrent.size_of(state.recurrent).value);
      accumulate(sum.state, each, checked_mul(group.count, layers));
      return;
    }
    case store_kind::cross_attention: {
      const std::uint32_t heads = local_kv_heads(s.kv_heads, d.parallel.attention_tensor());
      accumulate(sum.cross_attention, cache.token(heads, s.key_dim, s.value_dim).total(),
                 checked_mul(kept.total(group.count), layers));
      return;
    }
  }
}

namespace detail {
/// Adds the layers of one share whose cache is in `asked`: the usual ones or the exceptions.
constexpr void add_layers(kv_cache_bytes& sum, const deployment& d,
                          const std::uint16_t (&layers)[max_layer_kinds], std::uint32_t data_replica,
                          const kv_format& asked) {
  if (asked.is_automatic()) return add_layers(sum, d, layers, data_replica, kv_format{dtype_of(d)});
  const model_architecture& model = *d.model;
  const std::uint32_t groups = d.workload.group_count();
  for (std::uint32_t number = 0; number < groups; ++number) {
    const request_group group = group_of_replica(d, number, data_replica);
    if (group.count == 0) continue;
    for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
      if (layers[kind] == 0) continue;
      const layer_kind& layer = model.kinds[kind];
      for (std::size_t i = 0; i < layer.store_count; ++i) {
        add_store(sum, layer.stores[i], group, layers[kind], d, asked);
      }
    }
  }
}
}  // namespace detail

namespace detail {
/// Draft layers whose cache a rank keeps: those that speculation by `mtp` loads, on the last stage.
[[nodiscard]] constexpr std::uint32_t draft_layers_on(const deployment& d, const rank_share& share) {
  return share.last_stage ? draft_layers_of(d) : 0;
}

constexpr void add_draft_layers(kv_cache_bytes& sum, const deployment& d, std::uint32_t layers,
                                std::uint32_t data_replica, const kv_format& asked) {
  if (asked.is_automatic()) return add_draft_layers(sum, d, layers, data_replica, kv_format{dtype_of(d)});
  for (std::uint32_t number = 0; number < d.workload.group_count(); ++number) {
    const request_group group = group_of_replica(d, number, data_replica);
    for (std::size_t i = 0; group.count != 0 && i < d.model->draft_store_count; ++i) {
      add_store(sum, d.model->draft_stores[i], group, layers, d, asked);
    }
  }
}
}  // namespace detail

/// The cache that one rank keeps: Σ over its layers, their stores and its replica's requests; with
/// speculation the last stage also keeps that of the draft layers or the draft model, in the usual format.
[[nodiscard]] constexpr kv_cache_bytes kv_cache_of(const deployment& d, const rank_share& share,
                                                   std::uint32_t data_replica = 0) {
  kv_cache_bytes sum;
  detail::add_layers(sum, d, share.layers, data_replica, d.kv_cache);
  if (share.has_exceptions)
    detail::add_layers(sum, d, share.exceptions, data_replica, d.kv_exceptions.format);
  if (const std::uint32_t drafts = detail::draft_layers_on(d, share); drafts != 0)
    detail::add_draft_layers(sum, d, drafts, data_replica, d.kv_cache);
  if (d.speculation.has_draft_model() && share.last_stage) {
    const deployment draft = draft_of(d);
    sum.add(kv_cache_of(draft, share_of(draft, rank{.data_replica = data_replica}), data_replica));
  }
  return sum;
}

/// How a rank's cache grows: bytes per further token of one request at some context, and what a request keeps
/// there that grows no more (states, full windows, encoder tokens).
struct kv_growth {
  ratio bytes_per_token{};
  bytes fixed_bytes_per_sequence{};
};

namespace detail {
/// A store's growth: bytes per `tokens_each` tokens while it grows, and what it keeps that grows no more.
struct store_growth {
  std::uint64_t bytes = 0;
  std::uint64_t tokens_each = 1;
  std::uint64_t fixed = 0;
  std::uint64_t window_bytes = 0;  ///< per token, only inside the window
};

[[nodiscard]] constexpr store_growth growth_of(const store& s, const deployment& d, const kv_format& cache) {
  switch (s.kind) {
    case store_kind::none:
    case store_kind::shared: break;
    case store_kind::full:
    case store_kind::sliding_window:
    case store_kind::chunked: {
      const std::uint32_t heads = local_kv_heads(s.kv_heads, d.parallel.attention_tensor());
      const std::uint64_t each =
          cache.token(heads, s.key_dim, s.value_dim).total() + cache.index_key_bytes(s.indexer_dim);
      if (s.kind == store_kind::full) return {each, d.parallel.decode_context};
      return {.window_bytes = each};
    }
    case store_kind::latent: {
      return {cache.latent_token(s.latent_rank, s.rope_dim).total() + cache.index_key_bytes(s.indexer_dim),
              d.parallel.decode_context};
    }
    case store_kind::compressed: {
      const std::uint64_t entry = cache.latent_token(s.key_dim - s.rope_dim, s.rope_dim).total();
      if (s.compress_ratio == 0) return {.window_bytes = entry};
      return {entry + cache.index_key_bytes(s.indexer_dim), s.compress_ratio,
              recurrent_format(d).size_of(compressor_state_elements(s)).value, entry};
    }
    case store_kind::recurrent:
    case store_kind::cross_attention: {
      kv_cache_bytes sum;
      add_store(sum, s, request_group{.count = 1}, 1, d, cache);
      return {.fixed = sum.total().value};
    }
  }
  return {};
}

constexpr void add_growth(kv_growth& growth, const store& s, std::uint64_t context, std::uint64_t layers,
                          const deployment& d, const kv_format& cache) {
  const store_growth each = growth_of(s, d, cache);
  std::uint64_t fixed = each.fixed;
  growth.bytes_per_token = growth.bytes_per_token + ratio{checked_mul(each.bytes, layers), each.tokens_each};
  if (context < s.window) {
    growth.bytes_per_token = growth.bytes_per_token + ratio{checked_mul(each.window_bytes, layers), 1};
  } else {
    fixed = checked_add(fixed, checked_mul(each.window_bytes, s.window));
  }
  growth.fixed_bytes_per_sequence += bytes{checked_mul(fixed, layers)};
}

constexpr void add_growth(kv_growth& growth, const deployment& d,
                          const std::uint16_t (&layers)[max_layer_kinds], std::uint64_t context,
                          const kv_format& asked) {
  if (asked.is_automatic()) return add_growth(growth, d, layers, context, kv_format{dtype_of(d)});
  for (std::size_t kind = 0; kind < d.model->kind_count; ++kind) {
    const layer_kind& layer = d.model->kinds[kind];
    for (std::size_t i = 0; layers[kind] != 0 && i < layer.store_count; ++i) {
      add_growth(growth, layer.stores[i], context, layers[kind], d, asked);
    }
  }
}

constexpr void add_draft_growth(kv_growth& growth, const deployment& d, std::uint32_t layers,
                                std::uint64_t context, const kv_format& asked) {
  if (asked.is_automatic()) return add_draft_growth(growth, d, layers, context, kv_format{dtype_of(d)});
  for (std::size_t i = 0; i < d.model->draft_store_count; ++i)
    add_growth(growth, d.model->draft_stores[i], context, layers, d, asked);
}
}  // namespace detail

/// The growth of one rank's cache at `context` tokens: Σ over the stores that still grow there of their bytes
/// per token (divided by the compression ratio or the decode-context degree), never a rounded difference.
[[nodiscard]] constexpr kv_growth kv_growth_of(const deployment& d, const rank_share& share, tokens context) {
  kv_growth growth;
  detail::add_growth(growth, d, share.layers, context.value, d.kv_cache);
  if (share.has_exceptions)
    detail::add_growth(growth, d, share.exceptions, context.value, d.kv_exceptions.format);
  if (const std::uint32_t drafts = detail::draft_layers_on(d, share); drafts != 0)
    detail::add_draft_growth(growth, d, drafts, context.value, d.kv_cache);
  if (d.speculation.has_draft_model() && share.last_stage) {
    const deployment draft = draft_of(d);
    const kv_growth more = kv_growth_of(draft, share_of(draft, rank{}), context);
    growth.bytes_per_token = growth.bytes_per_token + more.bytes_per_token;
    growth.fixed_bytes_per_sequence += more.fixed_bytes_per_sequence;
  }
  return growth;
}

namespace detail {
constexpr void add_part(memory_budget& budget, const char* name, std::uint64_t size, const char* source) {
  if (size != 0) budget.add(line_item::part(name, bytes{size}, source));
}
}  // namespace detail

/// Writes the line `kv_cache` and its parts; parts that are empty are left out.
constexpr void add_kv_cache(memory_budget& budget, const deployment& d, const rank_share& share,
                            std::uint32_t data_replica) {
  const kv_cache_bytes found = kv_cache_of(d, share, data_replica);
  const bytes total = found.total();
  budget.add({"kv_cache", total, total, total, basis::exact,
              "stores of every layer x tokens of every live request", false});
  detail::add_part(budget, "kv_cache.payload", found.payload,
                   "keys, values and latents of the cached tokens");
  detail::add_part(budget, "kv_cache.scales", found.scales, "scale factors that come with every token");
  detail::add_part(budget, "kv_cache.indexer", found.indexer, "index keys of sparse attention");
  detail::add_part(budget, "kv_cache.state", found.state, "recurrent states, one per live request");
  detail::add_part(budget, "kv_cache.cross_attention", found.cross_attention,
                   "keys and values of encoder tokens");
}

}  // namespace kvbudget::inline v0
