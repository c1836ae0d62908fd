#pragma once

// What the cases in tests/cases/local_engines.inc ask of Ollama, LM Studio and ik_llama.cpp.

#include "kvbudget/models.hpp"

#include "kvbudget/engine/llama_cpp/ik_llama_cpp.hpp"
#include "kvbudget/engine/llama_cpp/lm_studio.hpp"
#include "kvbudget/engine/llama_cpp/ollama.hpp"

namespace local_engine_cases {

using namespace kvbudget;
using engines::ik_llama_cpp;
using engines::lm_studio;
using engines::ollama;
using ik_llama_cpp_cache::printed_of;
using llama_cpp_cache::backend;
using ollama_rules::gpu;
using ollama_rules::launch;
using ollama_rules::launch_of;
using ollama_rules::library;
using ollama_rules::old_estimate;
using type = llama_cpp_cache_type;
using ik_type = ik_llama_cpp_cache_type;

inline constexpr std::uint64_t mib = 1024 * 1024;
inline constexpr std::uint64_t gib = 1024 * mib;
inline constexpr auto flash_on = llama_cpp_flash_attn::on;
inline constexpr auto flash_off = llama_cpp_flash_attn::off;

inline constexpr gpu none[] = {{}};
inline constexpr gpu of_6[] = {{.total = 6 * gib}};
inline constexpr gpu of_24[] = {{.total = 24 * gib}};
inline constexpr gpu of_24_old[] = {{.total = 24 * gib, .flash_attention = false}};
inline constexpr gpu two_of_24[] = {{.total = 24 * gib, .free = 20 * gib},
                                    {.total = 24 * gib, .free = 23 * gib}};
inline constexpr gpu integrated_and_of_24[] = {{.total = 64 * gib, .integrated = true}, {.total = 24 * gib}};
inline constexpr gpu of_80[] = {{.total = 80 * gib}};
inline constexpr gpu metal_of_64[] = {{.total = 48 * gib, .runs_on = library::metal, .integrated = true}};
inline constexpr gpu integrated_of_96[] = {{.total = 96 * gib, .runs_on = library::rocm, .integrated = true}};

/// Llama-3.1-8B in a file of 4.9 GB.
template <std::size_t Count> constexpr launch llama(const ollama& asked, const gpu (&gpus)[Count]) {
  return launch_of(asked, models::llama_3_1_8b, bytes{4'900'000'000}, gpus);
}
template <std::size_t Count> constexpr launch large(const ollama& asked, const gpu (&gpus)[Count]) {
  return launch_of(asked, models::llama_3_3_70b, bytes{42'500'000'000}, gpus);
}
constexpr ollama context(std::uint64_t num_ctx, std::uint64_t num_parallel = 1) {
  ollama asked;
  asked.num_ctx = num_ctx;
  asked.num_parallel = num_parallel;
  asked.kv_cache_type = type::f16;
  return asked;
}
constexpr ollama with_flash(ollama asked, llama_cpp_flash_attn choice) {
  asked.flash_attention = choice;
  return asked;
}
constexpr ollama typed(ollama asked, type kept) {
  asked.kv_cache_type = kept;
  return asked;
}
constexpr ollama batched(ollama asked, std::uint64_t num_batch) {
  asked.num_batch = num_batch;
  return asked;
}
constexpr ollama with_overhead(ollama asked, std::uint64_t overhead) {
  asked.gpu_overhead = bytes{overhead};
  return asked;
}
constexpr ollama layers(ollama asked, std::int32_t num_gpu) {
  asked.num_gpu = num_gpu;
  return asked;
}
constexpr ollama spread(ollama asked) {
  asked.sched_spread = true;
  return asked;
}

/// The cache that llama-server allocates then.
constexpr llama_cpp_cache::cache_bytes cache_of(const engines::llama_cpp& starts,
                                                const model_architecture& model) {
  return llama_cpp_cache::cache_of(starts, model);
}
constexpr llama_cpp_cache::cache_bytes started(const ollama& asked, const model_architecture& model) {
  return cache_of(ollama_rules::settings_of(asked, model, bytes{0}, {}), model);
}
constexpr engines::llama_cpp loaded(const lm_studio& asked, const model_architecture& model) {
  return lm_studio_rules::settings_of(asked, model);
}
constexpr lm_studio f16_load(std::uint64_t context_length) {
  lm_studio asked;
  asked.context_length = context_length;
  asked.k_cache_quantization_type = asked.v_cache_quantization_type = type::f16;
  return asked;
}
constexpr lm_studio offloading(double share) {
  lm_studio asked;
  asked.gpu_offload = share;
  return asked;
}

constexpr bool no_estimate(const ollama& asked, const model_architecture& model) {
  const auto found = old_estimate(asked, model);
  return found.unknown && found.kv == 0 && found.graph_full == 0 && found.graph_partial == 0;
}

constexpr ik_llama_cpp latents(std::uint64_t n_ctx, std::uint32_t mla, bool flash_attn = true) {
  return {.n_ctx = n_ctx, .flash_attn = flash_attn, .mla = mla};
}
constexpr ik_llama_cpp typed(ik_llama_cpp asked, ik_type k, ik_type v = ik_type::f16) {
  asked.type_k = k;
  asked.type_v = v;
  return asked;
}
constexpr ik_llama_cpp compressed(std::uint64_t n_ctx, std::uint64_t n_ubatch) {
  return {.n_ctx = n_ctx, .n_ubatch = n_ubatch, .swa_compress = true};
}
constexpr std::uint64_t on_cuda(const ik_llama_cpp& asked, const model_architecture& model,
                                std::uint32_t first = 0, std::uint32_t end = max_layers) {
  return ik_llama_cpp_cache::cache_of(asked, model, llama_cpp_cache::layout_of(backend::cuda), first, end)
      .total()
      .value;
}
constexpr bool refuses(const ik_llama_cpp& asked, const model_architecture& model, const char* why) {
  const refusal found = ik_llama_cpp_cache::refused(asked, model);
  return found.text != nullptr && kvbudget::detail::same_text(found.text, why);
}

/// Two layers with a recurrent state, as Qwen3-Next's.
constexpr model_architecture make_states() {
  model_architecture model;
  layer_kind layer;
  layer.add(stores::gated_delta_net(32, 128, 16, 128, 4));
  model.add_layers(layer, 2);
  return model;
}
inline constexpr model_architecture states = make_states();
inline constexpr std::uint64_t state_row = 4 * (3 * (2 * 128 * 16 + 128 * 32) + 32 * 128 * 128);

}  // namespace local_engine_cases
