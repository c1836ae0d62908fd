#pragma once

#include <cstdint>

#include "kvbudget/engine/llama_cpp/options.hpp"
#include "kvbudget/engine/pool_engine.hpp"
#include "kvbudget/model/model_architecture.hpp"
#include "kvbudget/units/basis.hpp"

/// What llama.cpp allocates for keys, values and states when a context is made: exact, layer by layer, before
/// any token is computed.
/// Sources: ggml-org/llama.cpp, src/llama-context.cpp (sizes, refusals), src/llama-kv-cache.cpp,
/// src/llama-kv-cache-iswa.cpp, src/llama-memory-recurrent.cpp, src/llama-hparams.cpp, src/llama-model.cpp
/// (create_memory); ggml/src/ggml-cuda/ggml-cuda.cu (alignment, row padding, flash attention).
namespace kvbudget::inline v0::llama_cpp_cache {

// ---- rules by build --------------------------------------------------------------------------------------

/// What the cache depends on in a build of llama.cpp.
struct build_rules {
  std::uint32_t from = 0;         ///< the first build with these rules
  bool streams = true;            ///< sequences have caches of their own unless kv_unified says otherwise
  std::uint32_t slots = 4;        ///< sequences of llama-server, if left to it
  bool latent_values = false;     ///< MLA keeps its latent a second time, as values
  std::uint32_t cell_step = 256;  ///< cells are allocated in steps of so many
  std::uint32_t cell_step_unfused = 256;  ///< the same without flash attention
};

/// The rules by build, oldest first. Sources: ggml-org/llama.cpp pull request 14363 and issue 14847 (streams,
/// b5913), pull requests 17046 (256 cells) and 19067 (MLA without values): the first builds with the last
/// two, and with four slots, are not known; they are younger than b5913.
inline constexpr build_rules builds[] = {
    {.from = 0, .streams = false, .slots = 1, .latent_values = true, .cell_step_unfused = 32},
    {.from = 5913},
};
/// The first build that the last of these rules were checked against.
inline constexpr std::uint32_t first_checked_build = 10107;

/// The rules of a build; 0 = the newest.
[[nodiscard]] constexpr const build_rules& rules_of(std::uint32_t build) {
  constexpr std::uint32_t newest = sizeof(builds) / sizeof(builds[0]) - 1;
  std::uint32_t found = build == 0 ? newest : 0;
  while (found < newest && build >= builds[found + 1].from) ++found;
  return builds[found];
}

// ---- buffers ---------------------------------------------------------------------------------------------

/// Who runs a layer, and so how its cache is laid out in memory.
enum class backend : std::uint8_t { cpu, cuda };

/// Layout of a buffer: tensors start at multiples of `alignment`; behind the last row of a quantized tensor
/// there is room up to a multiple of `quantized_row` elements.
struct buffer_layout {
  std::uint32_t alignment = 1;
  std::uint32_t quantized_row = 1;
};
[[nodiscard]] constexpr buffer_layout layout_of(backend on) {
  return on == backend::cuda ? buffer_layout{128, 512} : buffer_layout{32, 1};
}

[[nodiscard]] constexpr bool is_quantized(const number_format& format) { return format.block_elements > 1; }
[[nodiscard]] constexpr bool is_quantized(llama_cpp_cache_type type) { return is_quantized(format_of(type)); }

/// What a tensor of `rows` rows of `width` elements takes in a buffer.
[[nodiscard]] constexpr std::uint64_t allocated(const number_format& format, std::uint64_t width,
                                                std::uint64_t rows, buffer_layout layout) {
  std::uint64_t size = kvbudget::detail::checked_mul(format.size_of(width).value, rows);
  const std::uint64_t beyond = width % layout.quantized_row;
  if (is_quantized(format) && beyond != 0) {
    size = kvbudget::detail::checked_add(size, format.size_of(layout.quantized_row - beyond).value);
  }
  return kvbudget::detail::round_up(size, layout.alignment);
}

// ---- what the model is -----------------------------------------------------------------------------------

namespace detail {
using kvbudget::detail::checked_add;
using kvbudget::detail::checked_mul;
using kvbudget::detail::larger;
using kvbudget::detail::round_up;
using kvbudget::detail::smaller;

template <std::size_t Count>
[[nodiscard]] constexpr bool is_one_of(const model_architecture& model, const char* const (&names)[Count]) {
  for (const char* name : names) {
    if (kvbudget::detail::same_text(model.model_type, name)) return true;
  }
  return false;
}

/// Families whose windows llama.cpp does not look at: it keeps every token. By `general.architecture` and
/// `model_type`. Source: ggml-org/llama.cpp, src/models/phi3.cpp; llama.cpp has no window for the others.
inline constexpr const char* without_windows[] = {
    "phi3",       "phimoe", "mistral",   "mixtral",  "ministral",  "ministral3", "mistral3",
    "starcoder2", "qwen2",  "qwen2_moe", "qwen2_vl", "qwen2_5_vl", "qwen3",      "qwen3_moe",
};
/// Families that can keep copies of their states for taking back drafted tokens; the others keep none.
/// Source: ggml-org/llama.cpp, src/llama-context.cpp.
inline constexpr const char* with_rollback[] = {
    "qwen35",         "qwen35moe", "deepseek4",   "nemotron_h",
    "nemotron_h_moe", "qwen3_5",   "qwen3_5_moe", "deepseek_v4",
};
/// Families whose attention scores are capped in a way that flash attention does not compute.
inline constexpr const char* without_flash_attention[] = {"grok", "grok-1"};

/// Families whose latents llama.cpp expands before it caches them: the keys and values of every head.
/// Source: ggml-org/llama.cpp, src/models/minicpm3.cpp, src/models/plm.cpp.
inline constexpr const char* with_expanded_latents[] = {"minicpm3", "plm"};

/// A latent as the keys and values of every head.
[[nodiscard]] constexpr store expanded(const layer_kind& layer) {
  return stores::full(layer.key_value_heads, layer.query_dim, layer.value_dim);
}

/// What llama.cpp takes a store of a layer for.
[[nodiscard]] constexpr store as_kept(const model_architecture& model, const layer_kind& layer, store kept) {
  const bool windowed = kept.kind == store_kind::sliding_window || kept.kind == store_kind::chunked;
  if (windowed && is_one_of(model, without_windows)) kept.kind = store_kind::full;
  if (kept.kind == store_kind::latent && is_one_of(model, with_expanded_latents)) {
    return expanded(layer);
  }
  return kept;
}

[[nodiscard]] constexpr bool attends(const store& kept) {
  return kept.kind == store_kind::full || kept.kind == store_kind::sliding_window ||
         kept.kind == store_kind::chunked;
}
[[nodiscard]] constexpr std::uint64_t key_width(const store& kept) {
  if (kept.kind == store_kind::latent) return std::uint64_t{kept.latent_rank} + kept.rope_dim;
  if (kept.kind == store_kind::compressed) return kept.key_dim;
  return std::uint64_t{kept.kv_heads} * kept.key_dim;
}
[[nodiscard]] constexpr std::uint64_t value_width(const store& kept) {
  if (kept.kind == store_kind::latent) return kept.latent_rank;
  return std::uint64_t{kept.kv_heads} * kept.value_dim;
}

/// The widest values of any layer, those that read the cache of another included; 0 = no layer keeps values.
[[nodiscard]] constexpr std::uint64_t widest_value(const model_architecture& model) {
  std::uint64_t widest = 0;
  for (std::size_t i = 0; i < model.kind_count; ++i) {
    const layer_kind& layer = model.kinds[i];
    for (std::size_t j = 0; j < layer.store_count; ++j) {
      const store kept = as_kept(model, layer, layer.stores[j]);
      if (attends(kept) || kept.kind == store_kind::latent) widest = larger(widest, value_width(kept));
      if (kept.kind == store_kind::shared)
        widest = larger(widest, std::uint64_t{layer.key_value_heads} * layer.value_dim);
    }
  }
  return widest;
}

/// Whether two cache types are the same; `automatic` is f16 where nothing has been filled in.
[[nodiscard]] constexpr bool same_type(llama_cpp_cache_type a, llama_cpp_cache_type b) {
  return kvbudget::detail::same_text(format_of(a).name, format_of(b).name);
}

/// Whether CUDA's kernels compute flash attention over heads of these sides, shared by so many queries.
[[nodiscard]] constexpr bool cuda_computes(std::uint64_t key, std::uint64_t value, std::uint64_t queries) {
  constexpr std::uint64_t square[] = {40, 64, 72, 80, 96, 112, 128, 256};
  for (const std::uint64_t side : square) {
    if (key == side && value == side) return true;
  }
  if (key == 192 && value == 128) return queries % 8 == 0;
  return queries >= 2 &&
         ((key == 320 && value == 256) || (key == 512 && value == 512) || (key == 576 && value == 512));
}
}  // namespace detail

/// Whether the CUDA backend computes a model's flash attention with these types itself, as it is built by
/// default (without GGML_CUDA_FA_ALL_QUANTS): one type for K and V, of few, and heads of few sides.
[[nodiscard]] constexpr bool cuda_has_flash_attention(const engines::llama_cpp& asked,
                                                      const model_architecture& model) {
  using enum llama_cpp_cache_type;
  const llama_cpp_cache_type type = asked.type_k == automatic ? f16 : asked.type_k;
  if (!detail::same_type(asked.type_v, type)) return false;
  if (type != f16 && type != f32 && type != bf16 && type != q8_0 && type != q4_0) return false;
  for (std::size_t i = 0; i < model.kind_count; ++i) {
    const layer_kind& layer = model.kinds[i];
    for (std::size_t j = 0; j < layer.store_count; ++j) {
      const store kept = detail::as_kept(model, layer, layer.stores[j]);
      if (kept.kind == store_kind::latent) {
        const std::uint32_t key = kept.latent_rank + kept.rope_dim;
        if (!detail::cuda_computes(key, kept.latent_rank, layer.num_attention_heads)) return false;
      } else if (detail::attends(kept)) {
        const std::uint32_t queries = layer.num_attention_heads / kept.kv_heads;
        if (!detail::cuda_computes(kept.key_dim, kept.value_dim, queries)) return false;
      }
    }
  }
  return true;
}

/// Whether flash attention is on. `auto` is on where the backend computes it, and where it must be: with
/// quantized values and tensor split. Grok never has it.
[[nodiscard]] constexpr bool has_flash_attention(const engines::llama_cpp& asked,
                                                 const model_architecture& model, backend on) {
  if (detail::is_one_of(model, detail::without_flash_attention)) return false;
  if (asked.flash_attn != llama_cpp_flash_attn::automatic)
    return asked.flash_attn == llama_cpp_flash_attn::on;
  if (is_quantized(asked.type_v) || asked.split_mode == llama_cpp_split_mode::tensor) return true;
  return on == backend::cpu || cuda_has_flash_attention(asked, model);
}

// ---- sizes -----------------------------------------------------------------------------------------------

/// The sizes that llama.cpp settles on before it allocates anything.
struct sizes {
  std::uint64_t n_ctx = 0;      ///< cells of all sequences
  std::uint64_t n_ctx_seq = 0;  ///< cells that one sequence can have
  std::uint64_t n_batch = 0;
  std::uint64_t n_ubatch = 0;
  std::uint64_t n_seq_max = 1;
  std::uint64_t n_stream = 1;  ///< caches of `n_ctx_seq` cells
  std::uint64_t n_outputs_max = 0;
  std::uint64_t n_rs_seq = 0;  ///< copies of a recurrent state beside the current one
  bool flash_attn = true;
  bool swa_full = false;

  /// Cells of one stream for layers with a window: PAD(min(n_ctx_seq, window × sequences of the stream +
  /// n_ubatch), 256).
  [[nodiscard]] constexpr std::uint64_t window_cells(std::uint64_t window) const {
    if (swa_full) return n_ctx_seq;
    const std::uint64_t sequences = n_stream == 1 ? n_seq_max : 1;
    const std::uint64_t wanted = detail::checked_add(detail::checked_mul(window, sequences), n_ubatch);
    return detail::round_up(detail::smaller(n_ctx_seq, wanted), 256);
  }
  /// Rows of a recurrent state.
  [[nodiscard]] constexpr std::uint64_t state_rows() const {
    return detail::checked_mul(n_seq_max, detail::checked_add(n_rs_seq, 1));
  }
};

/// The effective sizes of a model with these options, layers run by `on`; `drafted` = tokens drafted per step
/// (llama-server computes the logits of all of them). The context is rounded up to 256 cells, and with caches
/// apart once more for each sequence.
[[nodiscard]] constexpr sizes sizes_of(const engines::llama_cpp& asked, const model_architecture& model,
                                       backend on = backend::cuda, std::uint64_t drafted = 0) {
  using detail::checked_mul;
  using detail::round_up;
  using detail::smaller;
  const build_rules& rules = rules_of(asked.build);
  sizes found;
  found.flash_attn = has_flash_attention(asked, model, on);
  found.swa_full = asked.swa_full;
  const bool slots = asked.program == llama_cpp_program::llama_server && asked.n_parallel == 0;
  found.n_seq_max = asked.n_parallel != 0 ? asked.n_parallel : slots ? rules.slots : 1;
  bool unified = slots;
  if (asked.kv_unified != option_choice::automatic) unified = asked.kv_unified == option_choice::yes;
  if (!rules.streams) unified = true;

  const std::uint64_t wanted = asked.n_ctx != 0 ? asked.n_ctx : model.max_position_embeddings;
  found.n_batch = smaller(wanted, asked.n_batch);
  found.n_ubatch = smaller(found.n_batch, asked.n_ubatch == 0 ? asked.n_batch : asked.n_ubatch);
  const std::uint32_t step = found.flash_attn ? rules.cell_step : rules.cell_step_unfused;
  found.n_ctx = round_up(wanted, step);
  found.n_ctx_seq = unified ? found.n_ctx : round_up(found.n_ctx / found.n_seq_max, step);
  found.n_stream = unified ? 1 : found.n_seq_max;
  found.n_ctx = checked_mul(found.n_ctx_seq, found.n_stream);

  found.n_outputs_max = found.n_batch;
  if (asked.n_outputs_max != 0) {
    found.n_outputs_max = asked.n_outputs_max;
  } else if (asked.program != llama_cpp_program::library) {
    found.n_outputs_max = checked_mul(found.n_seq_max, detail::checked_add(drafted, 1));
  }
  if (detail::is_one_of(model, detail::with_rollback)) found.n_rs_seq = asked.n_rs_seq;
  return found;
}

// ---- refusals --------------------------------------------------------------------------------------------

/// LLAMA_MAX_SEQ of src/llama-cparams.h.
inline constexpr std::uint64_t max_sequences = 256;
/// Contexts are counted in 32 bits; `-c` takes a signed number.
inline constexpr std::uint64_t max_context = 0x7FFF'FFFF;

/// Why llama.cpp makes no context of a model with these options, in its own words where it has any.
[[nodiscard]] constexpr refusal refused(const engines::llama_cpp& asked, const model_architecture& model,
                                        backend on = backend::cuda) {
  if (asked.n_batch == 0 && asked.n_ubatch == 0) return {"n_batch and n_ubatch cannot both be zero"};
  if (asked.n_ctx == 0 && model.max_position_embeddings == 0) {
    return {"n_ctx and model->hparams.n_ctx_train cannot both be zero"};
  }
  if (asked.n_ctx > max_context) return {"n_ctx of # cells: at most # are counted", asked.n_ctx, max_context};
  if (asked.n_parallel > max_sequences) return {"n_seq_max must be <= #", max_sequences};
  const bool flash = has_flash_attention(asked, model, on);
  if (asked.split_mode == llama_cpp_split_mode::tensor && !flash) {
    return {"SPLIT_MODE_TENSOR requires flash_attn to be enabled"};
  }
  if (is_quantized(asked.type_v) && !flash) return {"quantized V cache requires flash_attn to be enabled"};

  const std::uint32_t key_block = format_of(asked.type_k).block_elements;
  const std::uint32_t value_block = format_of(asked.type_v).block_elements;
  for (std::size_t i = 0; i < model.kind_count; ++i) {
    for (std::size_t j = 0; j < model.kinds[i].store_count; ++j) {
      const store kept = detail::as_kept(model, model.kinds[i], model.kinds[i].stores[j]);
      const bool only_keys = kept.kind == store_kind::latent || kept.kind == store_kind::compressed;
      if (!only_keys && !detail::attends(kept)) continue;
      const std::uint64_t width = detail::key_width(kept);
      const std::uint64_t key = only_keys ? width : kept.key_dim;
      const std::uint64_t value = kept.kind == store_kind::latent ? kept.latent_rank : kept.value_dim;
      if (flash && key % key_block != 0) {
        return {"the K cache type's block size # does not divide n_embd_head_k=#", key_block, key};
      }
      if (flash && value % value_block != 0) {
        return {"the V cache type's block size # does not divide n_embd_head_v=#", value_block, value};
      }
      const std::uint64_t rows[] = {width, kept.indexer_dim};
      for (const std::uint64_t row : rows) {
        if (row % key_block != 0) {
          return {"K cache rows of # elements are not whole blocks of #", row, key_block};
        }
      }
      if (only_keys && !detail::same_type(asked.type_k, asked.type_v)) {
        return {"a model that caches only K (MLA) needs the same cache type for K and V"};
      }
    }
  }
  return {};
}

// ---- the cache -------------------------------------------------------------------------------------------

/// Bytes that the cache of some layers takes in one buffer, as allocated (the `buffer size` lines of the
/// log).
struct cache_bytes {
  std::uint64_t full = 0;        ///< keys and values of the whole context
  std::uint64_t windowed = 0;    ///< keys and values of layers with a window or chunks
  std::uint64_t index = 0;       ///< keys of sparse attention
  std::uint64_t compressed = 0;  ///< compressed entries and their index keys (DeepSeek-V4)
  std::uint64_t recurrent = 0;   ///< states, those of DeepSeek-V4's compressors included

  [[nodiscard]] constexpr bytes total() const { return bytes{detail::checked_add(attention(), recurrent)}; }
  /// Everything but states.
  [[nodiscard]] constexpr std::uint64_t attention() const {
    return detail::checked_add(detail::checked_add(full, windowed), detail::checked_add(index, compressed));
  }
  /// Adds the cache of `layers` layers.
  constexpr void add(const cache_bytes& one, std::uint64_t layers = 1) {
    full = kvbudget::detail::add_product(full, one.full, layers);
    windowed = kvbudget::detail::add_product(windowed, one.windowed, layers);
    index = kvbudget::detail::add_product(index, one.index, layers);
    compressed = kvbudget::detail::add_product(compressed, one.compressed, layers);
    recurrent = kvbudget::detail::add_product(recurrent, one.recurrent, layers);
  }
  friend constexpr bool operator==(const cache_bytes&, const cache_bytes&) = default;
};

/// The cache of single layers of one model in one kind of buffer.
class layer_caches {
 public:
  constexpr layer_caches(const engines::llama_cpp& asked, const model_architecture& model, const sizes& found,
                         backend in)
      : model_(&model),
        key_(format_of(asked.type_k)),
        value_(format_of(asked.type_v)),
        found_(found),
        layout_(layout_of(in)),
        widest_value_(detail::widest_value(model)),
        hybrid_(has_store(model, store_kind::recurrent)),
        latent_values_(rules_of(asked.build).latent_values) {}

  /// What one layer takes. A layer that keeps nothing has a value tensor all the same where values are padded
  /// to the widest layer (without flash attention), unless the model also has recurrent layers.
  [[nodiscard]] constexpr cache_bytes of(const layer_kind& layer) const {
    cache_bytes result;
    if (layer.store_count == 0 && !found_.flash_attn && !hybrid_) result.full = values(0, found_.n_ctx_seq);
    for (std::size_t i = 0; i < layer.store_count; ++i) {
      result.add(of(detail::as_kept(*model_, layer, layer.stores[i])));
    }
    return result;
  }

  /// What one store takes, as llama.cpp keeps it.
  [[nodiscard]] constexpr cache_bytes of(const store& kept) const {
    cache_bytes result;
    switch (kept.kind) {
      case store_kind::none:
      case store_kind::shared:
      case store_kind::cross_attention: break;  // made from the encoder's output in every step
      case store_kind::full: result.full = keys_and_values(kept, found_.n_ctx_seq); break;
      case store_kind::sliding_window:
      case store_kind::chunked:
        result.windowed = keys_and_values(kept, found_.window_cells(kept.window));
        break;
      case store_kind::latent:
        result.full = keys(detail::key_width(kept), found_.n_ctx_seq);
        if (latent_values_) {
          result.full = detail::checked_add(result.full, values(kept.latent_rank, found_.n_ctx_seq));
        }
        result.index = keys(kept.indexer_dim, found_.n_ctx_seq);
        break;
      case store_kind::compressed:
        result.windowed = keys(kept.key_dim, found_.window_cells(kept.window));
        result.compressed = entries(kept);
        result.recurrent = compressor_states(kept);
        break;
      case store_kind::recurrent: result.recurrent = states(kept); break;
    }
    // An index beside ordinary keys and values (MiniMax-M3) is a cache of its own: one head, keys and values.
    if (detail::attends(kept) && kept.indexer_dim != 0) {
      result.index = detail::checked_add(keys(kept.indexer_dim, found_.n_ctx_seq),
                                         tensor(value_, kept.value_dim, found_.n_ctx));
    }
    return result;
  }

 private:
  [[nodiscard]] constexpr std::uint64_t tensor(const number_format& format, std::uint64_t width,
                                               std::uint64_t rows) const {
    return allocated(format, width, rows, layout_);
  }
  [[nodiscard]] constexpr std::uint64_t keys(std::uint64_t width, std::uint64_t cells) const {
    return tensor(key_, width, detail::checked_mul(cells, found_.n_stream));
  }
  /// Without flash attention values are stored transposed, and all layers' are as wide as the widest.
  [[nodiscard]] constexpr std::uint64_t values(std::uint64_t width, std::uint64_t cells) const {
    const std::uint64_t stored = found_.flash_attn ? width : widest_value_;
    return tensor(value_, stored, detail::checked_mul(cells, found_.n_stream));
  }
  [[nodiscard]] constexpr std::uint64_t keys_and_values(const store& kept, std::uint64_t cells) const {
    return detail::checked_add(keys(detail::key_width(kept), cells),
                               values(detail::value_width(kept), cells));
  }
  /// Two tensors in fp32, whatever the cache types are.
  [[nodiscard]] constexpr std::uint64_t states(const store& kept) const {
    const state_elements elements = state_of(kept);
    return detail::checked_add(tensor(formats::fp32, elements.convolution, found_.state_rows()),
                               tensor(formats::fp32, elements.recurrent, found_.state_rows()));
  }
  /// DeepSeek-V4: ⌈n_ctx_seq / ratio⌉ entries, and as many index keys. Source: src/llama-kv-cache-dsv4.cpp.
  [[nodiscard]] constexpr std::uint64_t entries(const store& kept) const {
    if (kept.compress_ratio == 0) return 0;
    const std::uint64_t cells =
        detail::larger(std::uint64_t{1}, kvbudget::detail::ceil_div(found_.n_ctx_seq, kept.compress_ratio));
    return detail::checked_add(keys(kept.key_dim, cells), keys(kept.indexer_dim, cells));
  }
  /// For entries and for index keys, in fp32: keys and gates of the tokens that the next one is made from.
  [[nodiscard]] constexpr std::uint64_t compressor_states(const store& kept) const {
    const std::uint64_t chunks = kept.overlapping ? 2 : 1;
    const std::uint64_t rows =
        detail::checked_mul(chunks * kept.compress_ratio,
                            detail::checked_mul(found_.n_stream, detail::checked_add(found_.n_rs_seq, 1)));
    const std::uint64_t both = detail::checked_add(tensor(formats::fp32, chunks * kept.key_dim, rows),
                                                   tensor(formats::fp32, chunks * kept.indexer_dim, rows));
    return detail::checked_mul(2, both);
  }

  const model_architecture* model_;
  number_format key_;
  number_format value_;
  sizes found_;
  buffer_layout layout_;
  std::uint64_t widest_value_;
  bool hybrid_;
  bool latent_values_;
};

/// The sum of `caches.of(layer)` over the layers from `first` up to `end` (not included).
template <class Caches>
[[nodiscard]] constexpr auto sum_of_layers(const Caches& caches, const model_architecture& model,
                                           std::uint32_t first, std::uint32_t end) {
  std::uint16_t layers[max_layer_kinds] = {};
  for (std::uint32_t layer = first; layer < end && layer < model.num_hidden_layers; ++layer) {
    ++layers[model.order[layer]];
  }
  decltype(caches.of(model.kinds[0])) result{};
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    if (layers[kind] != 0) result.add(caches.of(model.kinds[kind]), layers[kind]);
  }
  return result;
}

/// The cache of the layers from `first` up to `end` (not included), all in one kind of buffer.
[[nodiscard]] constexpr cache_bytes cache_of(const engines::llama_cpp& asked, const model_architecture& model,
                                             const sizes& found, backend in, std::uint32_t first,
                                             std::uint32_t end) {
  return sum_of_layers(layer_caches(asked, model, found, in), model, first, end);
}

/// The cache of all layers in one kind of buffer.
[[nodiscard]] constexpr cache_bytes cache_of(const engines::llama_cpp& asked, const model_architecture& model,
                                             const sizes& found, backend in) {
  return cache_of(asked, model, found, in, 0, model.num_hidden_layers);
}
[[nodiscard]] constexpr cache_bytes cache_of(const engines::llama_cpp& asked, const model_architecture& model,
                                             backend in = backend::cuda) {
  return cache_of(asked, model, sizes_of(asked, model, in), in);
}

/// The cache of the model's own draft layers (MTP), which llama.cpp runs in a context of its own with the
/// same sizes; no copies for taking tokens back. What a draft layer keeps must be known. Read, not measured.
[[nodiscard]] constexpr cache_bytes draft_cache_of(const engines::llama_cpp& asked,
                                                   const model_architecture& model, sizes found, backend in) {
  found.n_rs_seq = 0;
  const layer_caches caches(asked, model, found, in);
  cache_bytes result;
  for (std::size_t i = 0; i < model.draft_store_count; ++i) {
    result.add(caches.of(model.draft_stores[i]), model.draft_layers);
  }
  return result;
}

/// How well the cache of a model is known: exact, or assumed where the rule was read and never compared with
/// a run (DeepSeek-V4, index keys beside ordinary attention), or the build is older than those compared.
[[nodiscard]] constexpr basis known_for(const engines::llama_cpp& asked, const model_architecture& model) {
  if (asked.build != 0 && asked.build < first_checked_build) return basis::assumed;
  for (std::size_t i = 0; i < model.kind_count; ++i) {
    for (std::size_t j = 0; j < model.kinds[i].store_count; ++j) {
      const store& kept = model.kinds[i].stores[j];
      const bool unusual = kept.kind == store_kind::compressed || kept.kind == store_kind::cross_attention ||
                           (detail::attends(kept) && kept.indexer_dim != 0);
      if (unusual) return basis::assumed;
    }
  }
  return basis::exact;
}

}  // namespace kvbudget::inline v0::llama_cpp_cache
