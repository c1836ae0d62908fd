#pragma once

#include <cstdint>

#include "kvbudget/engine/llama_cpp/cache.hpp"
#include "kvbudget/engine/llama_cpp/devices.hpp"
#include "kvbudget/engine/llama_cpp/options.hpp"
#include "kvbudget/model/model_architecture.hpp"
#include "kvbudget/units/basis.hpp"

namespace kvbudget::inline v0 {

/// Types that ik_llama.cpp keeps keys and values in, by the names of `-ctk` and `-ctv`; `automatic` is f16.
enum class ik_llama_cpp_cache_type : std::uint8_t {
  automatic,
  f16,
  f32,
  bf16,
  q8_0,
  q4_0,
  q4_1,
  iq4_nl,
  q5_0,
  q5_1,
  q6_0,
  q8_kv  ///< q8_KV: a byte per element and 8 bytes per row
};

/// How a cache type is stored: blocks, and what stands before those of each row.
struct ik_row_format {
  number_format blocks{};
  std::uint32_t header_bytes = 0;
};

/// How a cache type is stored. Source: ikawrakow/ik_llama.cpp ggml/src/ggml.c (type traits).
[[nodiscard]] constexpr ik_row_format format_of(ik_llama_cpp_cache_type type) {
  switch (type) {
    case ik_llama_cpp_cache_type::automatic:
    case ik_llama_cpp_cache_type::f16: break;
    case ik_llama_cpp_cache_type::f32: return {formats::fp32};
    case ik_llama_cpp_cache_type::bf16: return {formats::bf16};
    case ik_llama_cpp_cache_type::q8_0: return {formats::q8_0};
    case ik_llama_cpp_cache_type::q4_0: return {formats::q4_0};
    case ik_llama_cpp_cache_type::q4_1: return {formats::q4_1};
    case ik_llama_cpp_cache_type::iq4_nl: return {formats::iq4_nl};
    case ik_llama_cpp_cache_type::q5_0: return {formats::q5_0};
    case ik_llama_cpp_cache_type::q5_1: return {formats::q5_1};
    case ik_llama_cpp_cache_type::q6_0: return {{"q6_0", 32, 26, true}};
    case ik_llama_cpp_cache_type::q8_kv: return {{"q8_KV", 32, 32, true}, 8};
  }
  return {formats::fp16};
}

namespace engines {

/// ik_llama.cpp, a fork of llama.cpp from before caches of single sequences: one cache for all of them,
/// windows as long as the context, MLA in four ways. Options by the names of its command line. Source:
/// ikawrakow/ik_llama.cpp, common/common.h, src/llama.cpp.
struct ik_llama_cpp {
  std::uint64_t n_ctx = 0;       ///< `-c`: cells of the cache; 0 = the trained context
  std::uint64_t n_batch = 2048;  ///< `-b`
  std::uint64_t n_ubatch = 512;  ///< `-ub`
  std::uint64_t n_parallel = 1;  ///< `-np`: sequences, all in the one cache
  ik_llama_cpp_cache_type type_k = ik_llama_cpp_cache_type::automatic;  ///< `-ctk`
  ik_llama_cpp_cache_type type_v = ik_llama_cpp_cache_type::automatic;  ///< `-ctv`
  bool flash_attn = true;     ///< `-fa`; older builds: off unless asked for
  std::uint32_t mla = 3;      ///< `-mla`: 0 = keys and values per head, 1 to 3 = latents; older builds: 0
  std::uint64_t amb = 0;      ///< `-amb`: MiB that attention may take for its scores or its keys; 0 = any
  bool rtr = false;           ///< `-rtr`: weights are repacked as they are loaded, in as many bytes
  bool fmoe = true;           ///< `-fmoe`: gate and up of experts in one operation
  bool swa_compress = false;  ///< `--swa-compress` (2026-09 and later): windows keep what they see
  bool offload_kqv = true;    ///< false = `-nkvo`
  std::int32_t n_gpu_layers = -1;  ///< `-ngl`
  bool cpu_moe = false;            ///< `-cmoe`, or `-ot exps=CPU`
  std::uint32_t n_cpu_moe = 0;     ///< `-ncmoe`
  bytes used_by_others = bytes{0};

  /// The engine's name.
  [[nodiscard]] constexpr engine_name name() const;
  /// What it allocates on every GPU of the deployment and on the host.
  [[nodiscard]] constexpr llama_cpp_memory memory(const deployment& d, const gpu_profile* gpu) const;
  /// As those of `engines::llama_cpp`, of what is started.
  [[nodiscard]] constexpr usable_memory usable(const gpu_profile& gpu) const;
  [[nodiscard]] constexpr memory_budget ledger(const deployment& d, const rank& where,
                                               const gpu_profile* gpu) const;
  [[nodiscard]] constexpr memory_budget host_ledger(const deployment& d, const gpu_profile* gpu) const;
  [[nodiscard]] constexpr kv_growth cache_growth(const deployment& d, const rank& where) const;
  [[nodiscard]] constexpr bytes host_bytes(const deployment& d, const gpu_profile& gpu) const;
  /// Why it loads none of this: there is no ledger then.
  [[nodiscard]] constexpr refusal refuses_to_load(const deployment& d, const gpu_profile* gpu) const;
  [[nodiscard]] constexpr refusal refuses(const deployment& d, const gpu_profile& gpu) const;
};

}  // namespace engines

/// What ik_llama.cpp allocates for keys, values and states.
/// Sources: ikawrakow/ik_llama.cpp src/llama.cpp (llama_kv_cache_init, llama_new_context_with_model); pull
/// requests 2171 and 2462 (--swa-compress).
namespace ik_llama_cpp_cache {

using llama_cpp_cache::backend;
using llama_cpp_cache::buffer_layout;
using llama_cpp_cache::layout_of;

namespace detail {
using namespace kvbudget::detail;
using llama_cpp_cache::detail::expanded;

[[nodiscard]] constexpr bool is_latent(const store& kept) { return kept.kind == store_kind::latent; }

[[noreturn]] inline void no_rule_for_compressed_attention_is_known() {
  raise("ik_llama.cpp: how it keeps compressed entries (DeepSeek-V4) is not known");
}
[[noreturn]] inline void no_such_mla_mode(std::uint64_t mode) {
  raise("ik_llama.cpp: -mla takes 0 to 3, not #", mode);
}
}  // namespace detail

/// The options that both have, as those of the llama.cpp that it was forked from.
[[nodiscard]] constexpr engines::llama_cpp shared_options(const engines::ik_llama_cpp& asked) {
  engines::llama_cpp shared;
  shared.build = 1;  // one cache, in steps of 256 cells, or 32 without flash attention
  shared.program = llama_cpp_program::library;
  shared.n_ctx = asked.n_ctx;
  shared.n_batch = asked.n_batch;
  shared.n_ubatch = asked.n_ubatch;
  shared.n_parallel = asked.n_parallel;
  shared.type_k = shared.type_v = llama_cpp_cache_type::f16;  // its own types are not all known there
  shared.flash_attn = asked.flash_attn ? llama_cpp_flash_attn::on : llama_cpp_flash_attn::off;
  shared.swa_full = !asked.swa_compress;
  shared.offload_kqv = asked.offload_kqv;
  shared.n_gpu_layers = asked.n_gpu_layers;
  shared.cpu_moe = asked.cpu_moe;
  shared.n_cpu_moe = asked.n_cpu_moe;
  shared.used_by_others = asked.used_by_others;
  return shared;
}

/// The effective sizes of a model with these options.
[[nodiscard]] constexpr llama_cpp_cache::sizes sizes_of(const engines::ik_llama_cpp& asked,
                                                        const model_architecture& model) {
  return llama_cpp_cache::sizes_of(shared_options(asked), model);
}

/// Whether a model's latents are kept as such.
[[nodiscard]] constexpr bool keeps_latents(const engines::ik_llama_cpp& asked,
                                           const model_architecture& model) {
  if (asked.mla > 3) detail::no_such_mla_mode(asked.mla);
  return asked.mla != 0 && has_store(model, store_kind::latent);
}

/// Why ik_llama.cpp makes no context of a model with these options.
[[nodiscard]] constexpr refusal refused(const engines::ik_llama_cpp& asked, const model_architecture& model) {
  if (const refusal common = llama_cpp_cache::refused(shared_options(asked), model)) return common;
  if (asked.mla > 3) return {"mla must be 0, 1, 2 or 3, not #", asked.mla};
  const bool quantized = llama_cpp_cache::is_quantized(format_of(asked.type_v).blocks);
  if (quantized && !asked.flash_attn) return {"V cache quantization requires flash_attn"};
  const std::uint32_t key_block = format_of(asked.type_k).blocks.block_elements;
  const std::uint32_t value_block = format_of(asked.type_v).blocks.block_elements;
  for (std::size_t i = 0; i < model.kind_count; ++i) {
    for (std::size_t j = 0; j < model.kinds[i].store_count; ++j) {
      const store& kept = model.kinds[i].stores[j];
      const bool latent = detail::is_latent(kept) && asked.mla != 0;
      if (!latent && !detail::is_latent(kept) && !llama_cpp_cache::detail::attends(kept)) continue;
      const store as = latent || !detail::is_latent(kept) ? kept : detail::expanded(model.kinds[i]);
      const std::uint64_t row = latent ? llama_cpp_cache::detail::key_width(as) : as.key_dim;
      if (row % key_block != 0) {
        return {"the K cache type's block size # does not divide n_embd_head_k=#", key_block, row};
      }
      if (!latent && as.value_dim % value_block != 0) {
        return {"the V cache type's block size # does not divide n_embd_head_v=#", value_block, as.value_dim};
      }
    }
  }
  return {};
}

/// Bytes of the cache of some layers, by what is kept and by what of it is printed apart.
struct cache_bytes {
  llama_cpp_cache::cache_bytes kept{};  ///< full, windowed, index and recurrent
  std::uint64_t keys = 0;               ///< or latents
  std::uint64_t values = 0;             ///< or transposed latents

  [[nodiscard]] constexpr bytes total() const { return kept.total(); }
  /// Adds the cache of `layers` layers.
  constexpr void add(const cache_bytes& one, std::uint64_t layers = 1) {
    kept.add(one.kept, layers);
    keys = detail::add_product(keys, one.keys, layers);
    values = detail::add_product(values, one.values, layers);
  }
  friend constexpr bool operator==(const cache_bytes&, const cache_bytes&) = default;
};

/// The cache of single layers of one model in one kind of buffer.
class layer_caches {
 public:
  constexpr layer_caches(const engines::ik_llama_cpp& asked, const model_architecture& model,
                         const llama_cpp_cache::sizes& found, buffer_layout layout)
      : key_(format_of(asked.type_k)),
        value_(format_of(asked.type_v)),
        found_(found),
        layout_(layout),
        flash_attn_(asked.flash_attn),
        latents_(keeps_latents(asked, model)),
        transposed_(asked.mla == 1) {}

  /// What one layer takes.
  [[nodiscard]] constexpr cache_bytes of(const layer_kind& layer) const {
    cache_bytes result;
    for (std::size_t i = 0; i < layer.store_count; ++i) {
      const store& kept = layer.stores[i];
      result.add(of(detail::is_latent(kept) && !latents_ ? detail::expanded(layer) : kept));
    }
    return result;
  }

  /// What one store takes. K is a row per head and cell, V one row for all; a latent is one row per cell, in
  /// K's type with flash attention or `-mla 1`, else in V's; without flash attention `-mla 1` keeps it a
  /// second time, transposed. A state is one fp32 tensor of a row per sequence.
  [[nodiscard]] constexpr cache_bytes of(const store& kept) const {
    cache_bytes result;
    switch (kept.kind) {
      case store_kind::none:
      case store_kind::shared:
      case store_kind::cross_attention: break;
      case store_kind::compressed: detail::no_rule_for_compressed_attention_is_known();
      case store_kind::full: result.kept.full = keys_and_values(kept, found_.n_ctx, result); break;
      case store_kind::sliding_window:
      case store_kind::chunked:
        result.kept.windowed = keys_and_values(kept, found_.window_cells(kept.window), result);
        break;
      case store_kind::latent: {
        const ik_row_format& stored = flash_attn_ || transposed_ ? key_ : value_;
        result.keys = tensor(stored, llama_cpp_cache::detail::key_width(kept), found_.n_ctx);
        if (transposed_ && !flash_attn_) result.values = one_row(value_, kept.latent_rank, found_.n_ctx);
        result.kept.full = detail::checked_add(result.keys, result.values);
        if (kept.indexer_dim != 0) result.kept.index = tensor(key_, kept.indexer_dim, found_.n_ctx);
        break;
      }
      case store_kind::recurrent: {
        const state_elements state = state_of(kept);
        const std::uint64_t sequences = detail::larger(std::uint64_t{1}, found_.n_seq_max);
        result.kept.recurrent =
            tensor({formats::fp32}, detail::checked_add(state.convolution, state.recurrent),
                   detail::smaller(sequences, found_.n_ctx));
        break;
      }
    }
    return result;
  }

 private:
  [[nodiscard]] constexpr std::uint64_t tensor(const ik_row_format& stored, std::uint64_t width,
                                               std::uint64_t rows) const {
    // A header is part of the row, and of the room behind the last one.
    buffer_layout layout = layout_;
    layout.alignment = 1;
    const bool room = llama_cpp_cache::is_quantized(stored.blocks) && width % layout.quantized_row != 0;
    const std::uint64_t headers = detail::checked_mul(stored.header_bytes, detail::checked_add(rows, room));
    const std::uint64_t blocks = llama_cpp_cache::allocated(stored.blocks, width, rows, layout);
    return detail::round_up(detail::checked_add(blocks, headers), layout_.alignment);
  }
  /// All cells in one row.
  [[nodiscard]] constexpr std::uint64_t one_row(const ik_row_format& stored, std::uint64_t width,
                                                std::uint64_t cells) const {
    return tensor(stored, detail::checked_mul(width, cells), 1);
  }
  constexpr std::uint64_t keys_and_values(const store& kept, std::uint64_t cells, cache_bytes& into) const {
    into.keys = tensor(key_, kept.key_dim, detail::checked_mul(kept.kv_heads, cells));
    into.values = one_row(value_, llama_cpp_cache::detail::value_width(kept), cells);
    return detail::checked_add(into.keys, into.values);
  }

  ik_row_format key_;
  ik_row_format value_;
  llama_cpp_cache::sizes found_;
  buffer_layout layout_;
  bool flash_attn_;
  bool latents_;
  bool transposed_;
};

/// The cache of the layers from `first` up to `end` (not included), all in one kind of buffer.
[[nodiscard]] constexpr cache_bytes cache_of(const engines::ik_llama_cpp& asked,
                                             const model_architecture& model, buffer_layout layout,
                                             std::uint32_t first, std::uint32_t end) {
  return llama_cpp_cache::sum_of_layers(layer_caches(asked, model, sizes_of(asked, model), layout), model,
                                        first, end);
}
/// The cache of all layers in one kind of buffer.
[[nodiscard]] constexpr cache_bytes cache_of(const engines::ik_llama_cpp& asked,
                                             const model_architecture& model, backend in = backend::cuda) {
  return cache_of(asked, model, layout_of(in), 0, model.num_hidden_layers);
}
/// As the log's "KV self size" says: without alignment and room behind rows.
[[nodiscard]] constexpr cache_bytes printed_of(const engines::ik_llama_cpp& asked,
                                               const model_architecture& model) {
  return cache_of(asked, model, buffer_layout{}, 0, model.num_hidden_layers);
}

/// How well the cache of a model is known: measured against printed sizes for attention and latents; states,
/// compressed windows and index keys were only read.
[[nodiscard]] constexpr basis known_for(const engines::ik_llama_cpp& asked, const model_architecture& model) {
  for (std::size_t i = 0; i < model.kind_count; ++i) {
    for (std::size_t j = 0; j < model.kinds[i].store_count; ++j) {
      const store& kept = model.kinds[i].stores[j];
      const bool windowed = kept.kind == store_kind::sliding_window || kept.kind == store_kind::chunked;
      const bool only_read = kept.kind == store_kind::recurrent || kept.kind == store_kind::shared ||
                             kept.kind == store_kind::cross_attention || kept.indexer_dim != 0;
      if (only_read || (windowed && asked.swa_compress)) return basis::assumed;
    }
  }
  return basis::exact;
}

// ---- compute buffers -------------------------------------------------------------------------------------

namespace detail {
/// `-amb` in bytes; below 128 MiB it counts as 128.
[[nodiscard]] constexpr std::uint64_t most_at_once(std::uint64_t amb) {
  return checked_mul(larger(amb, std::uint64_t{128}), 1 << 20);
}
/// What attention takes that expands latents for a whole batch (`-mla 2` and `3` with flash attention): keys
/// and values of every head and cell in fp16, what they are computed from in fp32 for as many heads as `-amb`
/// allows, and for each token of the batch its mask, residual, query, attention output and compressed query.
[[nodiscard]] constexpr std::uint64_t expanding_bytes(const engines::ik_llama_cpp& asked,
                                                      const layer_kind& layer, const store& kept,
                                                      const graph_settings& s, std::uint64_t hidden) {
  const std::uint64_t heads = layer.num_attention_heads;
  const std::uint64_t unrotated = layer.query_dim > kept.rope_dim ? layer.query_dim - kept.rope_dim : 0;
  const std::uint64_t expanded_head = checked_mul(s.cells, unrotated + layer.value_dim);
  std::uint64_t at_once = heads;
  while (asked.amb != 0 && at_once % 2 == 0 &&
         checked_mul(4, checked_mul(expanded_head, at_once)) > most_at_once(asked.amb)) {
    at_once /= 2;
  }
  const std::uint64_t every_head = checked_mul(
      2, checked_mul(checked_mul(s.cells, heads), std::uint64_t{layer.query_dim} + layer.value_dim));
  const std::uint64_t compressed_query =
      rows_of(layer, module_role::attention, hidden, heads * layer.query_dim);
  const std::uint64_t token =
      checked_add(checked_mul(2, s.cells),
                  checked_mul(4, checked_add(hidden + compressed_query,
                                             heads * (std::uint64_t{layer.query_dim} + layer.value_dim))));
  return checked_add(checked_add(every_head, checked_mul(4, checked_mul(expanded_head, at_once))),
                     checked_mul(token, s.tokens));
}
}  // namespace detail

/// The compute buffer of a device that runs the whole model, assumed: the graph of llama.cpp with logits of
/// the whole batch, scores capped by `-amb`, latents expanded as read off printed buffers; with a range that
/// holds most of those. `host_experts` is how experts in host memory are stored: in large batches they may be
/// copied here, two matrices of a layer at once, which only `high` counts. Cells and tokens as in `sizes_of`.
[[nodiscard]] constexpr compute_bytes compute_of(const engines::ik_llama_cpp& asked,
                                                 const model_architecture& model, backend on,
                                                 const number_format& host_experts = formats::fp16) {
  const llama_cpp_cache::sizes found = sizes_of(asked, model);
  const bool latents = keeps_latents(asked, model);
  const bool expands = latents && asked.flash_attn && asked.mla >= 2;
  graph_settings s;
  s.tokens = s.outputs = found.n_ubatch;
  s.cells = found.n_ctx;
  s.window_cells = found.n_ctx;
  s.latent_as_heads = !latents || expands;
  s.on_gpu = on == backend::cuda;
  std::uint64_t expected = compute_buffer(model, s).range.expected;
  if (!asked.flash_attn) {
    s.flash_attention = false;
    const std::uint64_t scored = compute_buffer(model, s).range.expected;
    expected = asked.amb == 0
                   ? scored
                   : detail::smaller(scored, detail::checked_add(expected, detail::most_at_once(asked.amb)));
  }
  std::uint64_t staged = 0;
  for (std::size_t i = 0; i < model.kind_count; ++i) {
    const layer_kind& layer = model.kinds[i];
    for (std::size_t j = 0; expands && j < layer.store_count; ++j) {
      const store& kept = layer.stores[j];
      if (!detail::is_latent(kept)) continue;
      expected = detail::larger(expected, detail::expanding_bytes(asked, layer, kept, s, model.hidden_size));
    }
    const std::uint64_t matrix = detail::checked_mul(
        std::uint64_t{layer.num_experts} * layer.moe_intermediate_size, model.hidden_size);
    staged = detail::larger(staged, detail::checked_mul(2, host_experts.size_of(matrix).value));
  }
  byte_range range = detail::around(expected, 30, 10);
  if (expands && asked.mla == 2) range = detail::around(expected, 30, 100);
  if (latents && !asked.flash_attn) range = detail::around(expected, 45, 150);
  if (s.on_gpu && (asked.cpu_moe || asked.n_cpu_moe != 0))
    range.high = detail::checked_add(range.high, staged);
  return {range, basis::assumed};
}

}  // namespace ik_llama_cpp_cache
}  // namespace kvbudget::inline v0
