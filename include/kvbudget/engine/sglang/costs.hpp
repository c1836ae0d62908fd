#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/pointer.hpp"
#include "kvbudget/engine/sglang/releases.hpp"
#include "kvbudget/memory/kv_cache.hpp"

namespace kvbudget::inline v0::engines::sglang_rules {

[[noreturn]] inline void the_pools_of_compressed_attention_are_not_known_here() {
  detail::raise("sglang: the pools of compressed attention (DeepSeek-V4) are not modelled");
}
[[noreturn]] inline void decode_context_parallelism_is_not_known_here() {
  detail::raise("sglang: decode-context parallelism is not modelled");
}

/// What a model keeps, as far as the choice of pools depends on it.
struct cache_traits {
  bool full = false;           ///< some layer keeps every token in the pool of all tokens
  bool windowed = false;       ///< some layer has a window, and the model is one of those with a pool for it
  bool stateful = false;       ///< some layer keeps a recurrent state
  bool latent = false;         ///< MLA
  bool sparse_latent = false;  ///< MLA with an indexer (DSA)
  std::uint64_t window = 0;    ///< the widest
  std::uint64_t encoder_tokens = 0;
};

/// How the engine stores keys and values, beyond what the deployment says.
struct cache_storage {
  const kv_format* format = nullptr;      ///< resolved, of the usual layers
  const kv_format* exceptions = nullptr;  ///< resolved, of the exceptions
  bool counts_sparse_latents = true;      ///< see `release`
  bool plain_sparse_latents = false;      ///< the trtllm backend of DSA keeps 8-bit latents without scales
};

/// What a rank keeps: bytes of one token by kind of pool, and of one state slot, all its layers together.
struct rank_costs {
  std::uint64_t full = 0;     ///< as allocated
  std::uint64_t counted = 0;  ///< as the engine's division counts it
  std::uint64_t window = 0;
  std::uint64_t state = 0;
  std::uint32_t full_layers = 0;    ///< layers that the cost of a token counts
  std::uint32_t window_layers = 0;  ///< layers in the pool of windows
};

/// Whether a model's windows get a pool: it is on the engine's list, or built by hand without a model_type.
[[nodiscard]] constexpr bool has_window_pool(const model_architecture& model) {
  if (model.model_type[0] == '\0') return true;
  for (const char* listed : windowed_models) {
    if (detail::same_text(model.model_type, listed)) return true;
  }
  return false;
}

[[nodiscard]] constexpr cache_traits traits_of(const model_architecture& model, bool windows_apart) {
  cache_traits traits;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    for (std::size_t i = 0; i < layer.store_count; ++i) {
      const store& s = layer.stores[i];
      switch (s.kind) {
        case store_kind::none:
        case store_kind::shared: break;
        case store_kind::full: traits.full = true; break;
        case store_kind::sliding_window:
        case store_kind::chunked:
          (windows_apart ? traits.windowed : traits.full) = true;
          if (windows_apart) traits.window = detail::larger(traits.window, s.window);
          break;
        case store_kind::latent:
          traits.full = traits.latent = true;
          traits.sparse_latent = traits.sparse_latent || s.indexer_dim != 0;
          break;
        case store_kind::compressed: the_pools_of_compressed_attention_are_not_known_here();
        case store_kind::recurrent: traits.stateful = true; break;
        case store_kind::cross_attention:
          traits.full = true;
          traits.encoder_tokens = detail::larger(traits.encoder_tokens, s.encoder_tokens);
          break;
      }
    }
  }
  return traits;
}

/// Bytes of one token in one layer. Sparse latents in 8 bits: rank + 4 × rank / 128 + 2 × rope (656 for 512 +
/// 64), the trtllm backend rank + rope; their index keys always dim + 4 × dim / 128 (132 for 128). Index keys
/// of ordinary attention stay in the dtype. Source: sgl-project/sglang srt/mem_cache/kv_cache_configurator.py
/// (calculate_mla_kv_cache_dim), srt/model_executor/pool_configurator.py (_compute_cell_size).
[[nodiscard]] constexpr std::uint64_t token_cost(const store& s, const kv_format& format, const deployment& d,
                                                 bool plain_sparse_latents) {
  if (s.kind == store_kind::latent) {
    const std::uint64_t rank = s.latent_rank;
    if (s.indexer_dim == 0) return format.latent_token(rank, s.rope_dim).total();
    const std::uint64_t indexer = s.indexer_dim + std::uint64_t{s.indexer_dim} / 128 * 4;
    const number_format& element = format.key.format;
    const bool one_byte = element.block_elements == 1 && element.block_bytes == 1;
    if (plain_sparse_latents && one_byte) return rank + s.rope_dim + indexer;
    if (one_byte && !format.has_latents)
      return rank + rank / 128 * 4 + 2 * std::uint64_t{s.rope_dim} + indexer;
    return format.latent_token(rank, s.rope_dim).total() + indexer;
  }
  const std::uint32_t heads = local_kv_heads(s.kv_heads, d.parallel.attention_tensor());
  const std::uint64_t plain = format.token(heads, s.key_dim, s.value_dim).total();
  return s.indexer_dim == 0 ? plain : plain + dtype_of(d).size_of(s.indexer_dim).value;
}

/// Bytes of one token in one layer as the engine's division counts it: releases that did not know sparse
/// latents yet took (rank + rope) elements.
[[nodiscard]] constexpr std::uint64_t counted_token_cost(const store& s, const kv_format& format,
                                                         std::uint64_t allocated,
                                                         const cache_storage& storage) {
  const bool known = storage.counts_sparse_latents || s.kind != store_kind::latent || s.indexer_dim == 0;
  return known ? allocated : format.key.format.size_of(std::uint64_t{s.latent_rank} + s.rope_dim).value;
}

/// Bytes of one request's state in one layer: the convolution in `convolution`, the state in `recurrent`.
[[nodiscard]] constexpr std::uint64_t state_cost(const store& s, std::uint32_t tensor,
                                                 const number_format& convolution,
                                                 const number_format& recurrent) {
  const state_elements state = state_of(s, tensor);
  return convolution.size_of(state.convolution).value +
         (state.recurrent_in_fp32 ? formats::fp32 : recurrent).size_of(state.recurrent).value;
}

/// Adds `layers` layers that keep `s` in `format`.
constexpr void add_store(rank_costs& costs, const store& s, std::uint32_t layers, const kv_format& format,
                         const deployment& d, const cache_storage& storage, bool windows_apart,
                         const number_format& convolution, const number_format& recurrent) {
  std::uint64_t each = 0;
  switch (s.kind) {
    case store_kind::none:
    case store_kind::shared:
    case store_kind::compressed: return;
    case store_kind::recurrent:
      costs.state = detail::add_product(costs.state, layers,
                                        state_cost(s, d.parallel.attention_tensor(), convolution, recurrent));
      return;
    case store_kind::sliding_window:
    case store_kind::chunked:
      if (windows_apart) {
        costs.window = detail::add_product(costs.window, layers, token_cost(s, format, d, false));
        costs.window_layers += layers;
        return;
      }
      [[fallthrough]];
    case store_kind::full:
    case store_kind::latent:
    case store_kind::cross_attention:
      each = token_cost(s, format, d, storage.plain_sparse_latents);
      costs.full = detail::add_product(costs.full, layers, each);
      costs.counted =
          detail::add_product(costs.counted, layers, counted_token_cost(s, format, each, storage));
      costs.full_layers += layers;
      return;
  }
}

[[nodiscard]] constexpr rank_costs costs_of(const deployment& d, const rank_share& share,
                                            const cache_storage& storage, bool windows_apart,
                                            const number_format& convolution,
                                            const number_format& recurrent) {
  rank_costs costs;
  for (std::size_t kind = 0; kind < d.model->kind_count; ++kind) {
    const layer_kind& layer = d.model->kinds[kind];
    for (std::size_t i = 0; i < layer.store_count; ++i) {
      const store& s = layer.stores[i];
      if (share.layers[kind] != 0) {
        add_store(costs, s, share.layers[kind], *storage.format, d, storage, windows_apart, convolution,
                  recurrent);
      }
      if (share.exceptions[kind] != 0) {
        add_store(costs, s, share.exceptions[kind], *storage.exceptions, d, storage, windows_apart,
                  convolution, recurrent);
      }
    }
  }
  return costs;
}

/// The cache of a draft, which keeps as many tokens as the model: bytes of one token, and its layers.
struct draft_costs {
  std::uint64_t token = 0;
  std::uint32_t layers = 0;
};

[[nodiscard]] constexpr draft_costs draft_costs_of(const deployment& d, const cache_storage& storage) {
  const speculation& spec = d.speculation;
  draft_costs costs;
  const auto add = [&](const store& s, std::uint32_t layers) {
    const bool keeps = s.kind != store_kind::none && s.kind != store_kind::shared &&
                       s.kind != store_kind::recurrent && s.kind != store_kind::compressed;
    if (!keeps) return;
    const std::uint64_t each = token_cost(s, *storage.format, d, storage.plain_sparse_latents);
    costs.token = detail::add_product(costs.token, layers, each);
  };
  if (spec.kind == speculation_kind::mtp) {
    if (d.model->draft_layers == 0) detail::the_model_has_no_draft_layers();
    if (d.model->draft_store_count == 0) detail::what_a_draft_layer_keeps_is_not_known();
    if (spec.draft_layers > d.model->draft_layers) {
      detail::more_draft_layers_than_the_model_has(spec.draft_layers, d.model->draft_layers);
    }
    costs.layers = spec.draft_layers != 0 ? spec.draft_layers : d.model->draft_layers;
    for (std::size_t i = 0; i < d.model->draft_store_count; ++i) add(d.model->draft_stores[i], costs.layers);
  } else if (spec.has_draft_model()) {
    if (detail::is_null(spec.draft)) detail::this_speculation_needs_a_draft_model();
    costs.layers = spec.draft->num_hidden_layers;
    for (std::size_t kind = 0; kind < spec.draft->kind_count; ++kind) {
      const layer_kind& layer = spec.draft->kinds[kind];
      for (std::size_t i = 0; i < layer.store_count; ++i) add(layer.stores[i], spec.draft->layers_of[kind]);
    }
  }
  return costs;
}

}  // namespace kvbudget::inline v0::engines::sglang_rules
