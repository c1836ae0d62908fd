#pragma once

#include <cstdint>

#include "kvbudget/detail/pointer.hpp"
#include "kvbudget/engine/block_pool.hpp"
#include "kvbudget/memory/kv_cache.hpp"

namespace kvbudget::inline v0 {

/// Sizes that `max_attention_window` has room for.
inline constexpr std::size_t max_attention_windows = 128;

/// `max_attention_window`: tokens that a layer keeps, repeated over the layers; none = every token in every
/// layer, whatever window the model has (which is what the engine does unless told otherwise).
struct attention_window_list {
  std::uint32_t sizes[max_attention_windows] = {};
  std::uint32_t count = 0;

  constexpr attention_window_list& add(std::uint32_t size) {
    if (count == max_attention_windows) too_many();
    sizes[count++] = size;
    return *this;
  }

 private:
  [[noreturn]] static void too_many() {
    detail::raise("max_attention_window has more than # sizes", max_attention_windows);
  }
};

namespace detail {
/// Bytes of a token in one layer of one rank, as its blocks hold them; `counted` as the engine's own
/// estimate counts them: heads are divided without rounding up, so that a head held by several ranks counts
/// once.
struct layer_token_bytes {
  std::uint64_t held = 0;
  std::uint64_t counted = 0;
  std::uint64_t cross = 0;  ///< of an encoder's token

  constexpr void add(const layer_token_bytes& other, std::uint64_t times = 1) {
    held = add_product(held, other.held, times);
    counted = add_product(counted, other.counted, times);
    cross = add_product(cross, other.cross, times);
  }
};

[[nodiscard]] constexpr layer_token_bytes token_of_store(const store& s, std::uint32_t tensor,
                                                         const kv_format& cache) {
  const auto indexer = [&] {
    return s.indexer_dim == 0 ? std::uint64_t{0}
                              : side_bytes(kv_formats::fp8_index_keys, 1, s.indexer_dim).total();
  };
  layer_token_bytes result;
  switch (s.kind) {
    case store_kind::full:
    case store_kind::sliding_window:
    case store_kind::chunked: {
      result.held =
          cache.token(local_kv_heads(s.kv_heads, tensor), s.key_dim, s.value_dim).total() + indexer();
      result.counted = s.kv_heads % tensor == 0
                           ? result.held
                           : floor_div(cache.token(s.kv_heads, s.key_dim, s.value_dim).total(), tensor);
      break;
    }
    case store_kind::latent:
      result.held = result.counted = cache.latent_token(s.latent_rank, s.rope_dim).total() + indexer();
      break;
    case store_kind::cross_attention:
      result.cross = cache.token(local_kv_heads(s.kv_heads, tensor), s.key_dim, s.value_dim).total();
      break;
    case store_kind::none:
    case store_kind::shared:
    case store_kind::recurrent:
    case store_kind::compressed: break;
  }
  return result;
}
[[nodiscard]] constexpr layer_token_bytes token_of_layer(const layer_kind& layer, std::uint32_t tensor,
                                                         const kv_format& cache) {
  layer_token_bytes sum;
  for (std::size_t i = 0; i < layer.store_count; ++i) sum.add(token_of_store(layer.stores[i], tensor, cache));
  return sum;
}
[[nodiscard]] constexpr kv_format cache_format(const kv_format& asked, const number_format& dtype) {
  return asked.is_automatic() ? kv_format{dtype} : asked;
}

/// What drafting adds to a token on one stage: MTP and EAGLE layers only on the last, a draft model's layers
/// spread like the model's.
[[nodiscard]] constexpr layer_token_bytes token_of_drafts(const deployment& d, std::uint32_t stage) {
  const speculation& drafting = d.speculation;
  layer_token_bytes sum;
  const bool last = stage + 1 == d.parallel.pipeline;
  const kv_format cache = cache_format(d.kv_cache, dtype_of(d));
  if (drafting.kind == speculation_kind::mtp && last) {
    if (d.model->draft_store_count == 0) what_a_draft_layer_keeps_is_not_known();
    const std::uint32_t layers = drafting.draft_layers == 0 ? d.model->draft_layers : drafting.draft_layers;
    for (std::size_t i = 0; i < d.model->draft_store_count; ++i) {
      sum.add(token_of_store(d.model->draft_stores[i], d.parallel.attention_tensor(), cache), layers);
    }
  }
  if (!drafting.has_draft_model()) return sum;
  if (is_null(drafting.draft)) this_speculation_needs_a_draft_model();
  const model_architecture& draft = *drafting.draft;
  const std::uint32_t tensor =
      drafting.draft_tensor == 0 ? d.parallel.attention_tensor() : drafting.draft_tensor;
  parallel_layout spread;
  const bool split =
      drafting.kind == speculation_kind::draft_model && draft.num_hidden_layers >= d.parallel.pipeline;
  if (!split && !last) return sum;
  if (split) spread.pipeline = d.parallel.pipeline;
  const layer_range range = layers_of_stage(spread, draft.num_hidden_layers, split ? stage : 0);
  for (std::uint32_t layer = range.first; layer < range.last; ++layer) {
    sum.add(token_of_layer(draft.kinds[draft.order[layer]], tensor, cache));
  }
  return sum;
}

/// Recurrent states of one sequence in the layers of one rank.
[[nodiscard]] constexpr std::uint64_t state_bytes(const deployment& d, const rank_share& share) {
  std::uint64_t sum = 0;
  for (std::size_t kind = 0; kind < d.model->kind_count; ++kind) {
    const layer_kind& layer = d.model->kinds[kind];
    for (std::size_t i = 0; i < layer.store_count; ++i) {
      if (layer.stores[i].kind != store_kind::recurrent) continue;
      kv_cache_bytes one;
      add_store(one, layer.stores[i], request_group{.count = 1}, share.layers_of(kind), d,
                cache_format(d.kv_cache, dtype_of(d)));
      sum = checked_add(sum, one.total().value);
    }
  }
  return sum;
}

/// Layers by the window that the engine gives them, the widest first. Every rank has the same windows, if
/// need be without layers.
struct window_groups {
  std::uint64_t window[max_block_pools] = {};
  layer_token_bytes bytes[max_block_pools] = {};
  std::uint32_t count = 0;
  std::uint32_t room = max_block_pools;  ///< pools that are left for windows
  bool too_many = false;                 ///< more windows than that; the rest is counted with the narrowest

  constexpr std::uint32_t place_of(std::uint64_t size) {
    std::uint32_t at = 0;
    while (at < count && window[at] > size) ++at;
    if (at < count && window[at] == size) return at;
    if (count == room) {
      too_many = true;
      return count - 1;
    }
    for (std::uint32_t i = count++; i > at; --i) {
      window[i] = window[i - 1];
      bytes[i] = bytes[i - 1];
    }
    window[at] = size;
    bytes[at] = {};
    return at;
  }
};
[[nodiscard]] constexpr window_groups window_groups_of(const deployment& d, const rank_share& share,
                                                       const attention_window_list& windows,
                                                       std::uint64_t max_seq_len, std::uint32_t room) {
  window_groups result;
  result.room = room;
  const model_architecture& model = *d.model;
  const std::uint32_t tensor = d.parallel.attention_tensor();
  const kv_format usual = cache_format(d.kv_cache, dtype_of(d));
  if (windows.count == 0 && !share.has_exceptions) {  // one window: the counts of the kinds are enough
    layer_token_bytes sum;
    bool any = false;
    for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
      const layer_token_bytes each = token_of_layer(model.kinds[kind], tensor, usual);
      any = any || each.held != 0;
      sum.add(each, share.layers[kind]);
    }
    if (any || sum.cross != 0) result.bytes[result.place_of(max_seq_len)] = sum;
    return result;
  }
  const kv_format other = cache_format(d.kv_exceptions.format, dtype_of(d));
  for (std::uint32_t layer = 0; layer < model.num_hidden_layers; ++layer) {
    const bool exception = share.has_exceptions && d.kv_exceptions.contains(layer, model.num_hidden_layers);
    const layer_token_bytes each =
        token_of_layer(model.kinds[model.order[layer]], tensor, exception ? other : usual);
    if (each.held == 0 && each.cross == 0) continue;
    const std::uint64_t size =
        windows.count == 0 ? max_seq_len
                           : smaller<std::uint64_t>(windows.sizes[layer % windows.count], max_seq_len);
    layer_token_bytes& group = result.bytes[result.place_of(size)];
    if (layer >= share.range.first && layer < share.range.last) group.add(each);
  }
  return result;
}
}  // namespace detail

}  // namespace kvbudget::inline v0
