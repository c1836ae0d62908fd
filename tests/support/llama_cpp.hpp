#pragma once

// What the cases in tests/cases/llama_cpp.inc ask of llama.cpp's cache.

#include "kvbudget/models.hpp"

#include "kvbudget/engine/llama_cpp/cache.hpp"

namespace llama_cpp_cases {

using namespace kvbudget;
using engines::llama_cpp;
using llama_cpp_cache::backend;
using llama_cpp_cache::cache_bytes;
using llama_cpp_cache::cache_of;
using llama_cpp_cache::layout_of;
using llama_cpp_cache::refused;
using llama_cpp_cache::sizes_of;
using type = llama_cpp_cache_type;

inline constexpr std::uint64_t mib = 1024 * 1024;
inline constexpr auto flash_on = llama_cpp_flash_attn::on;
inline constexpr auto flash_off = llama_cpp_flash_attn::off;

/// One sequence with flash attention.
constexpr llama_cpp context(std::uint64_t n_ctx) {
  llama_cpp asked;
  asked.program = llama_cpp_program::library;
  asked.n_ctx = n_ctx;
  asked.flash_attn = flash_on;
  return asked;
}
constexpr llama_cpp typed(std::uint64_t n_ctx, type k, type v) {
  llama_cpp asked = context(n_ctx);
  asked.type_k = k;
  asked.type_v = v;
  return asked;
}
constexpr llama_cpp unfused(llama_cpp asked) {
  asked.flash_attn = flash_off;
  return asked;
}
constexpr llama_cpp automatic(llama_cpp asked) {
  asked.flash_attn = llama_cpp_flash_attn::automatic;
  return asked;
}
constexpr llama_cpp sequences(std::uint64_t n_ctx, std::uint64_t n_seq_max, option_choice unified) {
  llama_cpp asked = context(n_ctx);
  asked.n_parallel = n_seq_max;
  asked.kv_unified = unified;
  return asked;
}
constexpr llama_cpp batched(llama_cpp asked, std::uint64_t n_ubatch) {
  asked.n_batch = kvbudget::detail::larger(asked.n_batch, n_ubatch);
  asked.n_ubatch = n_ubatch;
  return asked;
}
constexpr llama_cpp batched(std::uint64_t n_ctx, std::uint64_t n_ubatch) {
  return batched(context(n_ctx), n_ubatch);
}
constexpr llama_cpp full_windows(std::uint64_t n_ctx) {
  llama_cpp asked = context(n_ctx);
  asked.swa_full = true;
  return asked;
}
constexpr llama_cpp rollback(std::uint64_t copies) {
  llama_cpp asked = context(4096);
  asked.n_rs_seq = copies;
  return asked;
}
constexpr llama_cpp of_build(std::uint32_t build, llama_cpp asked) {
  asked.build = build;
  return asked;
}

constexpr std::uint64_t total(const llama_cpp& asked, const model_architecture& model,
                              backend in = backend::cuda) {
  return cache_of(asked, model, in).total().value;
}
constexpr std::uint64_t draft_total(const llama_cpp& asked, const model_architecture& model) {
  return llama_cpp_cache::draft_cache_of(asked, model, sizes_of(asked, model), backend::cuda).total().value;
}
constexpr cache_bytes first_layers(const llama_cpp& asked, const model_architecture& model,
                                   std::uint32_t end) {
  return cache_of(asked, model, sizes_of(asked, model), backend::cuda, 0, end);
}
/// Of the layers from `first` up to `end`.
constexpr std::uint64_t part(const llama_cpp& asked, const model_architecture& model, std::uint32_t first,
                             std::uint32_t end, backend in = backend::cuda) {
  return cache_of(asked, model, sizes_of(asked, model), in, first, end).total().value;
}
constexpr bool refuses(const llama_cpp& asked, const model_architecture& model, const char* why) {
  const refusal found = refused(asked, model);
  return found.text != nullptr && kvbudget::detail::same_text(found.text, why);
}
constexpr bool starts(const llama_cpp& asked, const model_architecture& model) {
  return !refused(asked, model);
}

/// A model whose layers have so many KV heads of 128 elements, shared by 32 queries; 0 = no attention.
template <std::size_t Layers> constexpr model_architecture of_heads(const std::uint32_t (&kv_heads)[Layers]) {
  model_architecture model;
  for (const std::uint32_t heads : kv_heads) {
    layer_kind layer;
    layer.num_attention_heads = 32;
    if (heads != 0) layer.add(stores::full(heads, 128));
    model.add_layers(layer);
  }
  return model;
}
/// One kind of layer, so many times.
constexpr model_architecture of_stores(const store& kept, std::uint64_t layers, std::uint32_t query_heads = 0,
                                       const char* model_type = "") {
  model_architecture model;
  kvbudget::detail::assign_text(model.model_type, model_type);
  layer_kind layer;
  layer.num_attention_heads = query_heads;
  layer.add(kept);
  model.add_layers(layer, layers);
  return model;
}

/// Eight layers of unlike widths, two of them without attention (as Nemotron's searched models are).
inline constexpr model_architecture unlike = of_heads({8, 8, 4, 4, 2, 1, 0, 0});
inline constexpr model_architecture rwkv_7_3b = of_stores(stores::rwkv(2560, 64), 32);
/// Heads of 40 elements: not a multiple of any quantized block.
inline constexpr model_architecture narrow = of_stores(stores::full(1, 40), 2, 8);
/// Heads of 40 elements that make whole blocks together.
inline constexpr model_architecture narrow_together = of_stores(stores::full(4, 40), 2, 8);
inline constexpr model_architecture small_heads = of_stores(stores::full(2, 32), 2, 8);
inline constexpr model_architecture capped = of_stores(stores::full(8, 128), 64, 48, "grok");
inline constexpr model_architecture phi =
    of_stores(stores::sliding_window(stores::full(8, 128), 2047), 32, 32, "phi3");
inline constexpr model_architecture rolled_back =
    of_stores(stores::gated_delta_net(32, 128, 16, 128, 4), 1, 0, "qwen35");
inline constexpr model_architecture not_rolled_back =
    of_stores(stores::gated_delta_net(32, 128, 16, 128, 4), 1, 0, "qwen3next");

}  // namespace llama_cpp_cases
