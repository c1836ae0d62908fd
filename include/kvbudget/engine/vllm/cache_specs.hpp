#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/pointer.hpp"
#include "kvbudget/engine/vllm/rules.hpp"
#include "kvbudget/memory/kv_cache.hpp"

namespace kvbudget::inline v0::vllm_cache {

/// Which blocks a request keeps: what decides whether layers can share a block table.
enum class spec_kind : std::uint8_t { full, window, chunk, state, encoder };

/// What a layer registers with the cache manager: the tokens of its block, the bytes of its page, and how
/// many layers of the model, and of one pipeline stage, look like that.
struct layer_spec {
  spec_kind kind;
  std::uint64_t block_tokens;
  std::uint64_t page_bytes;
  std::uint64_t window;  ///< window, chunk; encoder: tokens
  std::uint32_t layers;
  std::uint32_t here;

  [[nodiscard]] constexpr bool same_page(const layer_spec& other) const {
    return kind == other.kind && block_tokens == other.block_tokens && page_bytes == other.page_bytes &&
           window == other.window;
  }
  /// Layers of one type share a block table even where their pages differ.
  [[nodiscard]] constexpr bool same_type(const layer_spec& other) const {
    return kind == other.kind && block_tokens == other.block_tokens && window == other.window;
  }
};

inline constexpr std::size_t max_layer_specs = 64;
/// Tokens of DeepSeek-V4's blocks of entries.
inline constexpr std::uint64_t compressed_block_tokens = 256;

namespace detail {
using namespace kvbudget::detail;
[[noreturn]] inline void a_model_registers_too_many_kinds_of_cache_pages() {
  raise("a model registers more than # kinds of cache pages", max_layer_specs);
}
}  // namespace detail

struct layer_specs {
  layer_spec list[max_layer_specs];  ///< of which `count` are there
  std::uint32_t count = 0;
  bool compressed = false;  ///< some layers are DeepSeek-V4's, with blocks of several sizes

  /// Adds layers; those with equal pages are kept once.
  constexpr void add(const layer_spec& spec) {
    if (spec.layers == 0) return;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!list[i].same_page(spec)) continue;
      list[i].layers += spec.layers;
      list[i].here += spec.here;
      return;
    }
    if (count == max_layer_specs) detail::a_model_registers_too_many_kinds_of_cache_pages();
    list[count++] = spec;
  }
  [[nodiscard]] constexpr const layer_spec* begin() const { return list; }
  [[nodiscard]] constexpr const layer_spec* end() const { return list + count; }
  [[nodiscard]] constexpr bool has(spec_kind kind) const {
    for (const layer_spec& spec : *this) {
      if (spec.kind == kind) return true;
    }
    return false;
  }
  [[nodiscard]] constexpr std::uint64_t largest_page() const {
    std::uint64_t largest = 0;
    for (const layer_spec& spec : *this) largest = detail::larger(largest, spec.page_bytes);
    return largest;
  }
};

/// How many recurrent states a request keeps: one and the rolled-back ones; a second one where prefixes are
/// cached at block boundaries; one per block.
enum class mamba_mode : std::uint8_t { none, align, all };

/// Everything that pages depend on beside the model.
struct page_settings {
  std::uint64_t block_size = 0;              ///< tokens, as asked for; 0 = automatic
  std::uint64_t kernel_block_multiple = 16;  ///< what the attention kernel needs
  std::uint64_t latent_block_size = 64;      ///< tokens of a block of latents, unless asked otherwise
  std::uint64_t latent_multiple = 64;        ///< what kernels of latents need where states decide the block
  std::uint64_t speculative_tokens = 0;
  std::uint64_t max_model_len = 0;
  mamba_mode mode = mamba_mode::none;
  const number_format* convolution = nullptr;
  const number_format* recurrent = nullptr;
  bool fp4_index_keys = false;
  bool cross_attention_keeps_tokens = false;  ///< V0: charged like self-attention
};

/// Index keys: 128 bytes of fp8 and one fp32 scale per 128 elements, whatever the cache's own format; MXFP4
/// ones have a scale byte per 32. Source: vllm-project/vllm, DeepSeek-V3.2 and V4 indexer cache specs.
[[nodiscard]] constexpr std::uint64_t index_key_bytes(std::uint64_t dim, bool fp4 = false) {
  if (dim == 0) return 0;
  if (fp4) return dim / 2 + detail::ceil_div(dim, 32);
  return dim + 4 * detail::ceil_div(dim, 128);
}

/// The cache format that a layer really gets. Latents with an indexer (DeepSeek-V3.2): automatic and every
/// fp8 become fp8_ds_mla (656 bytes), compressed ones (DeepSeek-V4) their 584-byte entry; a 16-bit format
/// that is asked for by name stays. Source: vllm-project/vllm model_executor/models/config.py.
[[nodiscard]] constexpr const kv_format& stored_format(const kv_format& asked, const store& s,
                                                       const kv_format& dtype) {
  const bool automatic = asked.is_automatic();
  const bool eight_bits = !automatic && !asked.has_latents && asked.key.format.block_elements == 1 &&
                          asked.key.format.block_bytes == 1;
  if (s.kind == store_kind::compressed && (automatic || eight_bits || asked.has_latents))
    return kv_formats::fp8_ds_mla_v4;
  if (s.kind == store_kind::latent && s.indexer_dim != 0 && (automatic || eight_bits)) {
    return kv_formats::fp8_ds_mla;
  }
  return automatic ? dtype : asked;
}

/// Bytes of one token in an attention layer of one tensor rank, its index key apart.
[[nodiscard]] constexpr std::uint64_t token_bytes(const store& s, const kv_format& format,
                                                  std::uint32_t tensor) {
  if (s.kind == store_kind::latent) return format.latent_token(s.latent_rank, s.rope_dim).total();
  if (s.kind == store_kind::compressed) {
    return format.latent_token(s.key_dim - s.rope_dim, s.rope_dim).total();
  }
  return format.token(local_kv_heads(s.kv_heads, tensor), s.key_dim, s.value_dim).total();
}

/// Bytes of a recurrent state of one request in one layer: the convolution keeps the drafted tokens besides.
[[nodiscard]] constexpr std::uint64_t state_bytes(const store& s, std::uint32_t tensor,
                                                  const page_settings& how) {
  state_elements state = state_of(s, tensor);
  const std::uint64_t taps = s.conv_kernel > 1 ? s.conv_kernel - 1u : 0u;
  const bool rolls_back = s.state == state_kind::mamba2 || s.state == state_kind::gated_delta_net ||
                          s.state == state_kind::kimi_delta;
  if (rolls_back && taps != 0) state.convolution = state.convolution / taps * (taps + how.speculative_tokens);
  const number_format& recurrent = state.recurrent_in_fp32 ? formats::fp32 : *how.recurrent;
  return detail::checked_add(how.convolution->size_of(state.convolution).value,
                             recurrent.size_of(state.recurrent).value);
}

namespace detail {
/// Whether a store's tokens decide the size of a hybrid model's block.
[[nodiscard]] constexpr bool is_attention(const store& s) {
  return s.kind == store_kind::full || s.kind == store_kind::sliding_window ||
         s.kind == store_kind::chunked || s.kind == store_kind::latent;
}

/// Calls `use(store, cache format, layers of the model, layers of the stage)` for every store of the model
/// and of what drafts for it.
template <class Use>
constexpr void each_store(const deployment& d, const rank_share& whole, const rank_share& here, Use&& use) {
  const model_architecture& model = *d.model;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    for (std::size_t i = 0; i < layer.store_count; ++i) {
      if (whole.layers[kind] != 0) use(layer.stores[i], d.kv_cache, whole.layers[kind], here.layers[kind]);
      if (whole.exceptions[kind] != 0) {
        use(layer.stores[i], d.kv_exceptions.format, whole.exceptions[kind], here.exceptions[kind]);
      }
    }
  }
  if (d.speculation.kind == speculation_kind::mtp) {
    const std::uint32_t layers =
        d.speculation.draft_layers != 0 ? d.speculation.draft_layers : model.draft_layers;
    for (std::size_t i = 0; i < model.draft_store_count; ++i) {
      use(model.draft_stores[i], d.kv_cache, layers, here.last_stage ? layers : 0u);
    }
  } else if (d.speculation.has_draft_model() && !detail::is_null(d.speculation.draft)) {
    const model_architecture& draft = *d.speculation.draft;
    for (std::size_t kind = 0; kind < draft.kind_count; ++kind) {
      const std::uint32_t layers = draft.layers_of[kind];
      for (std::size_t i = 0; i < draft.kinds[kind].store_count; ++i) {
        use(draft.kinds[kind].stores[i], d.kv_cache, layers, here.last_stage ? layers : 0u);
      }
    }
  }
}

/// A DeepSeek-V4 layer: a window in blocks of 64, and where it compresses, entries and index keys of a block
/// of 256 tokens and the compressor's own states as windows. Pages are multiples of 576 bytes, which the
/// kernel asks for; a block of states is as large as 32 KiB of keys and gates. Source: vllm-project/vllm,
/// DeepSeek-V4 cache specs (SlidingWindowMLASpec, CompressorStateCache).
constexpr void add_compressed(layer_specs& specs, const store& s, std::uint64_t entry, std::uint32_t layers,
                              std::uint32_t here, const page_settings& how, bool eight_bits) {
  constexpr std::uint64_t block = compressed_block_tokens;
  specs.compressed = true;
  const std::uint64_t multiple = eight_bits ? 576 : 512;
  const auto page = [&](std::uint64_t size) { return round_up(size, multiple); };
  specs.add({spec_kind::window, 64, page(64 * entry), s.window, layers, here});
  if (s.compress_ratio == 0) return;
  const std::uint64_t entries = block / s.compress_ratio;
  specs.add({spec_kind::full, block, page(entries * entry), 0, layers, here});
  const std::uint64_t wide = s.overlapping ? 2 : 1;
  const std::uint64_t state_tokens = 8 / wide;
  const std::uint64_t state_window = wide * s.compress_ratio;
  const auto state = [&](std::uint64_t dim) { return page(state_tokens * 2 * wide * dim * 4); };
  specs.add({spec_kind::window, state_tokens, state(s.key_dim), state_window, layers, here});
  if (s.indexer_dim == 0) return;
  const std::uint64_t key =
      eight_bits ? index_key_bytes(s.indexer_dim, how.fp4_index_keys) : 2u * s.indexer_dim;
  specs.add({spec_kind::full, block, page(entries * key), 0, layers, here});
  specs.add({spec_kind::window, state_tokens, state(s.indexer_dim), state_window, layers, here});
}
}  // namespace detail

/// The tokens of an attention block: as asked for, else 16 (64 for latents and index keys, 256 for
/// DeepSeek-V4). Where layers keep recurrent states, enough tokens that a page holds a state: kernel multiple
/// × ⌈state / (kernel multiple × bytes of a token)⌉. Source: vllm-project/vllm,
/// HybridAttentionMambaModelConfig.
[[nodiscard]] constexpr std::uint64_t attention_block_tokens(const deployment& d, const rank_share& whole,
                                                             const page_settings& how, const kv_format& dtype,
                                                             std::uint64_t& token) {
  std::uint64_t state = 0;
  bool latents = false;
  token = 0;
  detail::each_store(d, whole, whole,
                     [&](const store& s, const kv_format& asked, std::uint32_t, std::uint32_t) {
                       if (s.kind == store_kind::recurrent) {
                         state = detail::larger(state, state_bytes(s, d.parallel.attention_tensor(), how));
                       } else if (detail::is_attention(s)) {
                         latents = latents || s.kind == store_kind::latent;
                         const std::uint64_t each =
                             token_bytes(s, stored_format(asked, s, dtype), d.parallel.attention_tensor());
                         token = detail::larger(token, each);
                       }
                     });
  const std::uint64_t usual = how.block_size != 0 ? how.block_size : latents ? how.latent_block_size : 16;
  if (state == 0 || token == 0) return usual;
  const std::uint64_t multiple = latents ? how.latent_multiple : how.kernel_block_multiple;
  const std::uint64_t aligned =
      detail::checked_mul(multiple, detail::ceil_div(state, detail::checked_mul(multiple, token)));
  return detail::larger(how.block_size, aligned);
}

/// What every layer of the model registers, with the layers of one stage counted beside.
constexpr void register_layers(layer_specs& specs, const deployment& d, const rank_share& whole,
                               const rank_share& here, const page_settings& how) {
  const kv_format dtype{dtype_of(d)};
  const std::uint32_t tensor = d.parallel.attention_tensor();
  std::uint64_t largest_token = 0;
  const std::uint64_t block = attention_block_tokens(d, whole, how, dtype, largest_token);
  detail::each_store(
      d, whole, here, [&](const store& s, const kv_format& asked, std::uint32_t layers, std::uint32_t mine) {
        const kv_format& format = stored_format(asked, s, dtype);
        const auto page = [&] { return detail::checked_mul(block, token_bytes(s, format, tensor)); };
        const auto indexed = [&](std::uint64_t tokens) {
          if (s.indexer_dim == 0) return;
          specs.add({spec_kind::full, tokens, detail::checked_mul(tokens, index_key_bytes(s.indexer_dim)), 0,
                     layers, mine});
        };
        switch (s.kind) {
          case store_kind::none:
          case store_kind::shared: return;
          case store_kind::full:
          case store_kind::latent:
            specs.add({spec_kind::full, block, page(), 0, layers, mine});
            return indexed(block);
          case store_kind::sliding_window:
            return specs.add({spec_kind::window, block, page(), s.window, layers, mine});
          case store_kind::chunked:
            return specs.add({spec_kind::chunk, block, page(), s.window, layers, mine});
          case store_kind::cross_attention:
            if (how.cross_attention_keeps_tokens) {
              return specs.add({spec_kind::full, block, page(), 0, layers, mine});
            }
            return specs.add({spec_kind::encoder, block, page(), s.encoder_tokens, layers, mine});
          case store_kind::compressed:
            return detail::add_compressed(specs, s, token_bytes(s, format, tensor), layers, mine, how,
                                          format.has_latents);
          case store_kind::recurrent: {
            const std::uint64_t state = state_bytes(s, tensor, how);
            const std::uint64_t padded =
                largest_token == 0 ? state : detail::larger(state, detail::checked_mul(block, largest_token));
            const std::uint64_t tokens = how.mode == mamba_mode::none ? how.max_model_len : block;
            return specs.add({spec_kind::state, tokens, padded, 0, layers, mine});
          }
        }
      });
}

}  // namespace kvbudget::inline v0::vllm_cache
