#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/engine/transformers/options.hpp"
#include "kvbudget/memory/activations.hpp"
#include "kvbudget/memory/kv_cache.hpp"

namespace kvbudget::inline v0 {

/// Tensors of a cache in bytes, by what they hold.
struct cache_tensors {
  std::uint64_t payload = 0;          ///< keys and values, in the dtype or quantized
  std::uint64_t scales = 0;           ///< scale and zero point of every group of a quantized cache
  std::uint64_t scales_high = 0;      ///< the same, if they are kept in fp32
  std::uint64_t indexer = 0;          ///< index keys of sparse attention
  std::uint64_t state = 0;            ///< recurrent states
  std::uint64_t cross_attention = 0;  ///< keys and values of encoder tokens
  std::uint64_t rounding = 0;         ///< what PyTorch's allocator adds: each tensor up to 512 bytes
  std::uint64_t granules =
      0;  ///< what the driver adds if each tensor of 1 MiB or more has 2 MiB granules of its own

  /// Everything but the allocator's rounding.
  [[nodiscard]] constexpr std::uint64_t kept() const {
    using detail::checked_add;
    return checked_add(checked_add(checked_add(payload, scales), indexer),
                       checked_add(state, cross_attention));
  }
  [[nodiscard]] constexpr std::uint64_t total() const { return detail::checked_add(kept(), rounding); }
  /// Adds `times` times the other tensors.
  constexpr void add(const cache_tensors& other, std::uint64_t times = 1) {
    using detail::add_product;
    payload = add_product(payload, other.payload, times);
    scales = add_product(scales, other.scales, times);
    scales_high = add_product(scales_high, other.scales_high, times);
    indexer = add_product(indexer, other.indexer, times);
    state = add_product(state, other.state, times);
    cross_attention = add_product(cross_attention, other.cross_attention, times);
    rounding = add_product(rounding, other.rounding, times);
    granules = add_product(granules, other.granules, times);
  }
  /// Takes keys and values of another out again; nothing else of a cache moves.
  constexpr void remove(const cache_tensors& other) {
    payload = detail::checked_sub(payload, other.payload);
    rounding = detail::checked_sub(rounding, other.rounding);
    granules = detail::checked_sub(granules, other.granules);
  }
};

/// What is alive beside the cache in one of the two phases, at most.
struct cache_transients {
  byte_range prefill{};
  byte_range decode{};

  /// Adds `times` times the others.
  constexpr void add(const cache_transients& other, std::uint64_t times = 1) {
    const auto add_to = [times](byte_range& sum, const byte_range& each) {
      using detail::add_product;
      sum = {add_product(sum.low, each.low, times), add_product(sum.expected, each.expected, times),
             add_product(sum.high, each.high, times)};
    };
    add_to(prefill, other.prefill);
    add_to(decode, other.decode);
  }
};

/// What one layer keeps, and what it needs beside that.
struct layer_cache {
  cache_tensors fixed{};     ///< always on the GPU
  cache_tensors movable{};   ///< goes to host memory when the cache is offloaded
  cache_transients views{};  ///< stays alive while the other layers run: windows are views of longer tensors
  cache_transients step{};   ///< alive while this layer runs
};

namespace detail {
/// Counts one tensor of `size` bytes in `sum`, with what the allocator adds.
/// Source: pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp (kMinBlockSize, kSmallSize, kRoundLarge).
constexpr void add_tensor(cache_tensors& tensors, std::uint64_t& sum, std::uint64_t size) {
  constexpr std::uint64_t block = 512;
  constexpr std::uint64_t small = 1024 * 1024;
  const std::uint64_t granule = constants::pytorch_allocation_granule.expected;
  const std::uint64_t rounded = round_up(size, block);
  sum = checked_add(sum, size);
  tensors.rounding = checked_add(tensors.rounding, rounded - size);
  if (rounded > small) tensors.granules = checked_add(tensors.granules, round_up(rounded, granule) - rounded);
}

/// The heads and widths of a layer's keys and values as Transformers keeps them.
struct cached_heads {
  std::uint64_t heads = 0;
  std::uint64_t key_dim = 0;
  std::uint64_t value_dim = 0;
};

[[noreturn]] inline void the_heads_of_a_latent_layer_are_not_known() {
  raise("Transformers keeps MLA keys and values per head, but this layer's heads are not known");
}

/// MLA is not kept as latents: each head's keys and values are projected first and cached like any others.
/// Source: huggingface/transformers src/transformers/models/deepseek_v3/modeling_deepseek_v3.py.
[[nodiscard]] constexpr cached_heads cached_heads_of(const layer_kind& layer, const store& s,
                                                     std::uint32_t tensor) {
  if (s.kind != store_kind::latent) return {local_kv_heads(s.kv_heads, tensor), s.key_dim, s.value_dim};
  if (layer.key_value_heads == 0 || layer.query_dim == 0 || layer.value_dim == 0) {
    the_heads_of_a_latent_layer_are_not_known();
  }
  return {local_kv_heads(layer.key_value_heads, tensor), layer.query_dim, layer.value_dim};
}

/// Rows × tokens of one side of one layer, in elements.
[[nodiscard]] constexpr std::uint64_t side_elements(std::uint64_t rows, std::uint64_t heads,
                                                    std::uint64_t width, std::uint64_t length) {
  return checked_mul(checked_product(rows, heads, width), length);
}

/// Bytes of `elements` that a backend packed: whole bytes, but HQQ's 3 bits go ten to a 32-bit word.
/// Sources: huggingface/optimum-quanto (packed tensors), mobiusml/hqq core/bitpack.py.
[[nodiscard]] constexpr std::uint64_t packed_bytes(std::uint64_t elements, std::uint32_t bits) {
  if (bits == 3) return checked_mul(ceil_div(elements, 10), 4);
  return ceil_mul_div(elements, bits, 8);
}

/// One side (keys or values) of one quantized layer.
struct quantized_side {
  std::uint64_t payload = 0;
  std::uint64_t scales = 0;
  std::uint64_t scales_high = 0;
  std::uint64_t residual = 0;
  [[nodiscard]] constexpr std::uint64_t total() const { return payload + scales + residual; }
};
[[nodiscard]] constexpr quantized_side quantized_side_of(const engines::transformers& asked,
                                                         const number_format& dtype,
                                                         std::uint64_t elements_each, std::uint64_t old,
                                                         std::uint64_t latest) {
  const std::uint64_t elements = checked_mul(elements_each, old);
  const std::uint64_t groups = ceil_div(elements, asked.q_group_size);
  return {packed_bytes(elements, asked.nbits), checked_mul(2, dtype.size_of(groups).value),
          checked_mul(groups, 8), dtype.size_of(checked_mul(elements_each, latest)).value};
}

/// The most that one side takes on its way to `context` tokens: the prefill quantizes the whole prompt; from
/// then on tokens stay as they are until `residual_length` of them are quantized together, so that the cache
/// shrinks at that step.
[[nodiscard]] constexpr quantized_side widest_quantized_side(const engines::transformers& asked,
                                                             const number_format& dtype,
                                                             std::uint64_t elements_each,
                                                             const padded_batch& batch) {
  const std::uint64_t written = batch.context - batch.prompt;
  const std::uint64_t latest = written % asked.residual_length;
  const quantized_side now = quantized_side_of(asked, dtype, elements_each, batch.context - latest, latest);
  if (written < asked.residual_length) return now;
  const std::uint64_t before = batch.context - latest - asked.residual_length;
  const quantized_side fullest =
      quantized_side_of(asked, dtype, elements_each, before, asked.residual_length - 1);
  return now.total() < fullest.total() ? fullest : now;
}

/// The quantized form of one layer. Every step dequantizes the layer and joins the latest tokens to it: two
/// copies of its keys and values in the dtype, and one side in fp32 where the backend converts it.
constexpr void add_quantized_layer(layer_cache& sum, const cached_heads& shape,
                                   const engines::transformers& asked, const number_format& dtype,
                                   const padded_batch& batch) {
  const std::uint64_t widths[] = {shape.key_dim, shape.value_dim};
  std::uint64_t whole = 0;
  std::uint64_t wider = 0;
  std::uint64_t prompt = 0;
  for (const std::uint64_t width : widths) {
    const std::uint64_t each = checked_product(batch.rows, shape.heads, width);
    const quantized_side side = widest_quantized_side(asked, dtype, each, batch);
    add_tensor(sum.fixed, sum.fixed.payload, side.payload);
    add_tensor(sum.fixed, sum.fixed.payload, side.residual);
    add_tensor(sum.fixed, sum.fixed.scales, side.scales);
    sum.fixed.scales_high = checked_add(sum.fixed.scales_high, side.scales_high);
    const std::uint64_t elements = checked_mul(each, batch.context);
    whole = checked_add(whole, dtype.size_of(elements).value);
    wider = larger(wider, checked_mul(elements, 4));
    prompt = larger(prompt, checked_mul(checked_mul(each, batch.prompt), 4));
  }
  sum.step.prefill = sum.step.prefill.plus({0, 0, prompt});
  if (batch.context > batch.prompt) {
    const std::uint64_t copies = checked_mul(2, whole);
    sum.step.decode = sum.step.decode.plus({whole, copies, checked_add(copies, wider)});
  }
}

/// Tokens of which a static cache has room in one layer.
[[nodiscard]] constexpr std::uint64_t static_tokens(const padded_batch& batch, std::uint64_t window) {
  return window == 0 ? batch.cache_len : smaller(window, batch.cache_len);
}

/// Keys and values of one attention store in the dtype. `window` 0 = all tokens.
///
/// Dynamic: concatenation copies one side of the layer at every step. Windows keep W − 1 tokens, as views of
/// the tensor that came out of the concatenation: W tokens while decoding, and the whole prompt until the
/// first token is decoded. Static: the room for `max_cache_len` or the window; a full window is rolled, which
/// copies both sides. Beam search copies one side when it reorders rows.
constexpr void add_attention(layer_cache& sum, const cached_heads& shape, std::uint64_t window,
                             const engines::transformers& asked, const number_format& dtype,
                             const padded_batch& batch) {
  const bool fixed = asked.is_static();
  const bool windowed = window != 0;
  const std::uint64_t visible = windowed ? window - 1 : batch.context;
  const std::uint64_t length = fixed ? static_tokens(batch, window) : smaller(batch.context, visible);
  const bool stays = windowed && asked.keeps_windows_on_gpu();
  cache_tensors& tensors = asked.is_offloaded() && !stays ? sum.movable : sum.fixed;
  const auto side = [&](std::uint64_t width, std::uint64_t count) {
    return dtype.size_of(side_elements(batch.rows, shape.heads, width, count)).value;
  };
  add_tensor(tensors, tensors.payload, side(shape.key_dim, length));
  add_tensor(tensors, tensors.payload, side(shape.value_dim, length));

  const std::uint64_t wider = larger(shape.key_dim, shape.value_dim);
  const std::uint64_t both = shape.key_dim + shape.value_dim;
  if (fixed) {
    const std::uint64_t reordered = asked.num_beams > 1 ? side(wider, length) : 0;
    const bool rolls = windowed && batch.context > length && batch.context > batch.prompt;
    const std::uint64_t copies = rolls ? side(both, length) : reordered;
    sum.step.decode = sum.step.decode.plus({0, copies, copies});
    return;
  }
  // The last concatenation of each phase: the old side is part of the cache, the new one comes beside it.
  const std::uint64_t prompt = smaller(batch.prompt, windowed ? visible + batch.chunk : batch.prompt);
  const std::uint64_t joined = side(wider, prompt);
  sum.step.prefill = sum.step.prefill.plus({0, joined, joined});
  const std::uint64_t extended = windowed ? smaller(batch.context, window) : batch.context;
  if (batch.context > batch.prompt) {
    const std::uint64_t copy = side(wider, extended);
    sum.step.decode = sum.step.decode.plus({0, copy, copy});
  }
  if (!windowed) return;
  const std::uint64_t held = prompt > length ? side(both, prompt - length) : 0;
  sum.views.prefill = sum.views.prefill.plus(same(held));
  if (batch.context > batch.prompt) {
    sum.views.decode = sum.views.decode.plus(same(side(both, extended - length)));
  }
}

/// Elements of a recurrent state per row. Transformers keeps as many inputs of the convolution as its kernel
/// has taps, one more than the next step reads; delta rules hand their state back in fp32.
/// Sources: huggingface/transformers src/transformers/cache_utils.py,
/// models/mamba2/modeling_mamba2.py, models/lfm2/modeling_lfm2.py, models/qwen3_next/modeling_qwen3_next.py.
[[nodiscard]] constexpr std::uint64_t state_bytes_per_row(const store& s, const deployment& d) {
  const state_elements state = state_of(s, d.parallel.attention_tensor());
  std::uint64_t convolution = state.convolution;
  if (s.conv_kernel > 1) convolution = checked_mul(convolution / (s.conv_kernel - 1u), s.conv_kernel);
  const bool delta = s.state == state_kind::gated_delta_net || state.recurrent_in_fp32;
  const bool in_fp32 = delta && d.states.recurrent.is_automatic();
  const number_format& recurrent = in_fp32 ? formats::fp32 : recurrent_format(d);
  return checked_add(convolution_format(d).size_of(convolution).value,
                     recurrent.size_of(state.recurrent).value);
}

constexpr void add_store(layer_cache& sum, const layer_kind& layer, const store& s,
                         const engines::transformers& asked, const deployment& d, const padded_batch& batch) {
  const number_format& dtype = dtype_of(d);
  const auto keep = [&](std::uint64_t& member, std::uint64_t elements) {
    if (elements != 0) add_tensor(sum.fixed, member, dtype.size_of(elements).value);
  };
  switch (s.kind) {
    case store_kind::none:
    case store_kind::shared: return;
    case store_kind::full:
    case store_kind::sliding_window:
    case store_kind::chunked:
    case store_kind::latent: {
      const cached_heads shape = cached_heads_of(layer, s, d.parallel.attention_tensor());
      const bool windowed = s.kind == store_kind::sliding_window || s.kind == store_kind::chunked;
      if (asked.cache_implementation == transformers_cache::quantized) {
        add_quantized_layer(sum, shape, asked, dtype, batch);
      } else {
        const std::uint64_t window = windowed && asked.keeps_windows() ? s.window : 0;
        add_attention(sum, shape, window, asked, dtype, batch);
      }
      keep(sum.fixed.indexer, side_elements(batch.rows, 1, s.indexer_dim, batch.context));
      return;
    }
    case store_kind::compressed: {
      const std::uint64_t entries = s.compress_ratio == 0 ? 0 : batch.context / s.compress_ratio;
      const std::uint64_t recent = smaller(batch.context, s.window);
      keep(sum.fixed.payload, side_elements(batch.rows, 1, s.key_dim, checked_add(entries, recent)));
      keep(sum.fixed.indexer, side_elements(batch.rows, 1, s.indexer_dim, entries));
      keep(sum.fixed.state, checked_mul(batch.rows, compressor_state_elements(s)));
      return;
    }
    case store_kind::recurrent:
      add_tensor(sum.fixed, sum.fixed.state, checked_mul(batch.rows, state_bytes_per_row(s, d)));
      return;
    case store_kind::cross_attention: {
      const cached_heads shape = cached_heads_of(layer, s, d.parallel.attention_tensor());
      keep(sum.fixed.cross_attention,
           side_elements(batch.rows, shape.heads, shape.key_dim, s.encoder_tokens));
      keep(sum.fixed.cross_attention,
           side_elements(batch.rows, shape.heads, shape.value_dim, s.encoder_tokens));
      return;
    }
  }
}
}  // namespace detail

/// What one layer of a kind keeps for a batch.
[[nodiscard]] constexpr layer_cache cache_of_layer(const layer_kind& layer,
                                                   const engines::transformers& asked, const deployment& d,
                                                   const padded_batch& batch) {
  layer_cache sum;
  if (batch.rows == 0) return sum;
  for (std::size_t i = 0; i < layer.store_count; ++i) {
    detail::add_store(sum, layer, layer.stores[i], asked, d, batch);
  }
  return sum;
}

/// The cache of one rank: what is on the GPU, what is in host memory, and what is alive beside it.
struct transformers_cache_bytes {
  cache_tensors on_gpu{};
  cache_tensors on_host{};
  cache_transients transients{};
  bool assumed = false;  ///< some of it follows no source: metadata of a quantized cache, compressed entries
};

namespace detail {
/// The two layers of an offloaded cache that are on the GPU at once, the current and the next one: counted as
/// the two largest.
struct layers_on_gpu {
  layer_cache largest{};
  layer_cache second{};

  /// Considers `count` layers of a kind.
  constexpr void consider(const layer_cache& layer, std::uint32_t count) {
    const std::uint64_t size = layer.movable.total();
    if (count > 1 && second.movable.total() < size) second = layer;
    if (largest.movable.total() < size) {
      if (count == 1) second = largest;
      largest = layer;
    } else if (second.movable.total() < size) {
      second = layer;
    }
  }
};

constexpr void widen(cache_transients& widest, const cache_transients& other) {
  widest.prefill = wider(widest.prefill, other.prefill);
  widest.decode = wider(widest.decode, other.decode);
}
}  // namespace detail

/// The cache that one rank keeps: Σ over its layers; of the transients, the windows' views in every layer and
/// the widest step of one.
[[nodiscard]] constexpr transformers_cache_bytes cache_of(const engines::transformers& asked,
                                                          const deployment& d, const rank_share& share,
                                                          const padded_batch& batch) {
  transformers_cache_bytes result;
  result.assumed = asked.cache_implementation == transformers_cache::quantized;
  detail::layers_on_gpu resident;
  cache_transients step;
  for (std::size_t kind = 0; kind < d.model->kind_count; ++kind) {
    const std::uint32_t layers = share.layers_of(kind);
    if (layers == 0) continue;
    const layer_kind& layer = d.model->kinds[kind];
    const layer_cache here = cache_of_layer(layer, asked, d, batch);
    result.on_gpu.add(here.fixed, layers);
    detail::widen(step, here.step);
    const bool moves = asked.is_offloaded() && here.movable.total() != 0;
    if (moves) {
      result.on_host.add(here.movable, layers);
      resident.consider(here, layers);
    } else {
      result.transients.add(here.views, layers);
    }
    for (std::size_t i = 0; i < layer.store_count; ++i) {
      if (layer.stores[i].kind == store_kind::compressed) result.assumed = true;
    }
  }
  if (asked.is_offloaded()) {
    const layer_cache* const loaded[] = {&resident.largest, &resident.second};
    for (const layer_cache* here : loaded) {
      result.on_gpu.add(here->movable);
      result.on_host.remove(here->movable);
      result.transients.add(here->views);
    }
  }
  result.transients.add(step);
  return result;
}

}  // namespace kvbudget::inline v0
