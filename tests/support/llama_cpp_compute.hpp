#pragma once

// The models of the worked cases of llama.cpp's compute buffers.

#include "kvbudget/engine/llama_cpp/compute.hpp"
#include "kvbudget/kvbudget.hpp"

// Run-time tests define this as nothing, or compilers spend minutes on evaluating the same graphs beforehand.
#ifndef SAMPLES_CONSTEXPR
#define SAMPLES_CONSTEXPR constexpr
#endif

namespace samples::llama_cpp_graphs {

using namespace kvbudget;
namespace f = kvbudget::formats;

constexpr layer_kind attention_layer(std::uint32_t heads, const store& kept) {
  layer_kind layer;
  layer.gated_mlp = true;
  layer.num_attention_heads = heads;
  layer.key_value_heads = kept.kv_heads;
  layer.query_dim = kept.key_dim;
  layer.value_dim = kept.value_dim;
  layer.add(kept);
  return layer;
}
constexpr layer_kind dense(layer_kind layer, std::uint64_t intermediate) {
  layer.gated_mlp = true;
  layer.intermediate_size = intermediate;
  return layer;
}
constexpr layer_kind mixture(layer_kind layer, std::uint32_t experts, std::uint32_t used,
                             std::uint32_t intermediate, std::uint64_t shared = 0) {
  layer.gated_mlp = true;
  layer.num_experts = experts;
  layer.num_experts_per_tok = used;
  layer.moe_intermediate_size = intermediate;
  layer.intermediate_size = shared;
  return layer;
}
constexpr model_architecture empty_model(std::uint32_t hidden, std::uint32_t vocabulary) {
  model_architecture model;
  model.hidden_size = hidden;
  model.vocab_size = vocabulary;
  return model;
}

constexpr model_architecture make_llama(std::uint32_t layers, std::uint32_t hidden, std::uint32_t heads,
                                        std::uint32_t intermediate) {
  model_architecture model = empty_model(hidden, 128256);
  model.add_layers(dense(attention_layer(heads, stores::full(8, 128)), intermediate), layers);
  return model;
}
inline constexpr model_architecture llama_8b = make_llama(32, 4096, 32, 14336);
inline constexpr model_architecture llama_70b = make_llama(80, 8192, 64, 28672);

/// `period` layers, of which the last is not windowed (or, if `full_first`, none but the odd ones are).
constexpr model_architecture windowed(model_architecture model, const layer_kind& full, std::uint64_t window,
                                      std::uint32_t layers, std::uint32_t period) {
  layer_kind local = full;
  local.stores[0] = stores::sliding_window(full.stores[0], window);
  for (std::uint32_t i = 0; i < layers; ++i) model.add_layers(i % period == period - 1 ? full : local);
  return model;
}
inline constexpr model_architecture gemma3_12b =
    windowed(empty_model(3840, 262144), dense(attention_layer(16, stores::full(8, 256)), 15360), 1024, 48, 6);
inline constexpr model_architecture gemma2_9b =
    windowed(empty_model(3584, 256000), dense(attention_layer(16, stores::full(8, 256)), 14336), 4096, 42, 2);
constexpr model_architecture make_gpt_oss() {
  model_architecture model = empty_model(2880, 201088);
  const char name[] = "gpt-oss";
  for (std::size_t i = 0; i < sizeof name; ++i) model.model_type[i] = name[i];
  return windowed(model, mixture(attention_layer(64, stores::full(8, 64)), 32, 4, 2880), 128, 24, 2);
}
inline constexpr model_architecture gpt_oss_20b = make_gpt_oss();

constexpr layer_kind latent_layer(std::uint32_t heads) {
  layer_kind layer = attention_layer(heads, stores::latent(512, 64));
  layer.query_dim = 192;
  layer.value_dim = 128;
  layer.key_value_heads = heads;
  return layer;
}
constexpr model_architecture make_deepseek_v3() {
  model_architecture model = empty_model(7168, 129280);
  layer_kind layer = latent_layer(128);
  layer.add(weight_groups::whole(module_role::attention, 1536, 7168));
  layer.add(weight_groups::whole(module_role::attention, 128 * 192, 1536));
  model.add_layers(dense(layer, 18432), 3);
  model.add_layers(mixture(layer, 256, 8, 2048, 2048), 58);
  return model;
}
inline constexpr model_architecture deepseek_v3 = make_deepseek_v3();
constexpr model_architecture make_deepseek_v3_2() {
  model_architecture model = empty_model(7168, 129280);
  layer_kind layer = latent_layer(128);
  layer.stores[0].indexer_dim = 128;
  layer.add(weight_groups::whole(module_role::attention, 1536, 7168));
  layer.add(weight_groups::whole(module_role::attention, 128 * 192, 1536));
  layer.add(weight_groups::whole(module_role::attention, 64 * 128, 1536));
  model.add_layers(dense(layer, 18432), 3);
  model.add_layers(mixture(layer, 256, 8, 2048, 2048), 58);
  return model;
}
inline constexpr model_architecture deepseek_v3_2 = make_deepseek_v3_2();
constexpr model_architecture make_deepseek_v2_lite() {
  model_architecture model = empty_model(2048, 102400);
  model.add_layers(dense(latent_layer(16), 10944), 1);
  model.add_layers(mixture(latent_layer(16), 64, 6, 1408, 2816), 26);
  return model;
}
inline constexpr model_architecture deepseek_v2_lite = make_deepseek_v2_lite();
constexpr model_architecture make_qwen3_30b() {
  model_architecture model = empty_model(2048, 151936);
  model.add_layers(mixture(attention_layer(32, stores::full(4, 128)), 128, 8, 768), 48);
  return model;
}
inline constexpr model_architecture qwen3_30b = make_qwen3_30b();
constexpr model_architecture make_qwen3_next() {
  model_architecture model = empty_model(2048, 151936);
  layer_kind linear;
  linear.add(stores::gated_delta_net(32, 128, 16, 128, 4));
  for (int i = 0; i < 48; ++i) {
    model.add_layers(
        mixture(i % 4 == 3 ? attention_layer(16, stores::full(2, 256)) : linear, 512, 10, 512, 512));
  }
  return model;
}
inline constexpr model_architecture qwen3_next = make_qwen3_next();
constexpr model_architecture only(std::uint32_t hidden, std::uint32_t vocabulary, const layer_kind& layer,
                                  std::uint32_t layers) {
  model_architecture model = empty_model(hidden, vocabulary);
  model.add_layers(layer, layers);
  return model;
}
constexpr model_architecture make_mamba() {
  layer_kind layer;
  layer.add(stores::mamba1(5120, 16, 4));
  layer.add(weight_groups::by_columns(module_role::mixer, 160 + 2 * 16, 5120, 5120));
  return only(2560, 50280, layer, 64);
}
inline constexpr model_architecture mamba_2_8b = make_mamba();
constexpr model_architecture make_mamba2() {
  layer_kind layer;
  layer.add(stores::mamba2(80, 64, 128, 1, 4));
  return only(2560, 50288, layer, 64);
}
inline constexpr model_architecture mamba2_2_7b = make_mamba2();
constexpr model_architecture make_rwkv() {
  layer_kind layer;
  layer.add(stores::rwkv(2560, 64));
  layer.intermediate_size = 10240;
  return only(2560, 65536, layer, 32);
}
inline constexpr model_architecture rwkv7_2_9b = make_rwkv();

constexpr model_architecture make_gemma3n() {
  model_architecture model = empty_model(2048, 262144);
  const char name[] = "gemma3n";
  for (std::size_t i = 0; i < sizeof name; ++i) model.model_type[i] = name[i];
  for (int i = 0; i < 35; ++i) {
    layer_kind layer = dense(attention_layer(8, stores::full(2, 256)), 16384);
    if (i % 5 != 4) layer.stores[0] = stores::sliding_window(layer.stores[0], 512);
    if (i >= 20) layer.stores[0] = stores::shared();
    model.add_layers(layer);
  }
  return model;
}
inline constexpr model_architecture gemma3n_e4b = make_gemma3n();

/// One sequence of `cells` tokens in batches of `tokens`; windows as their cache is rounded.
constexpr graph_settings one_sequence(std::uint64_t cells, std::uint64_t tokens = 512,
                                      std::uint64_t outputs = 512, std::uint64_t window = 0) {
  const std::uint64_t seen = detail::smaller(cells, detail::round_up(window + tokens, 256));
  return {.tokens = tokens, .outputs = outputs, .cells = cells, .window_cells = window == 0 ? 0 : seen};
}
constexpr graph_settings without_flash(graph_settings s) {
  s.flash_attention = false;
  return s;
}
constexpr graph_settings with_cache_types(graph_settings s, const number_format& key,
                                          const number_format& value) {
  s.type_k = key;
  s.type_v = value;
  return s;
}
constexpr graph_settings with_streams(graph_settings s, std::uint64_t streams) {
  s.streams = s.sequences = streams;
  s.tokens = detail::round_up(s.tokens, streams);
  return s;
}
constexpr graph_settings with_whole_windows(graph_settings s) {
  s.window_cells = s.cells;
  return s;
}
constexpr graph_settings pipelined(graph_settings s) {
  s.copies = 4;
  return s;
}
SAMPLES_CONSTEXPR inline std::uint64_t gpu(const model_architecture& model, const graph_settings& s) {
  const compute_bytes found = compute_buffer(model, s);
  return found.known == basis::exact ? found.range.expected : 0;
}
SAMPLES_CONSTEXPR inline std::uint64_t gpu_from(const model_architecture& model, const graph_settings& s,
                                                std::uint32_t first, std::uint32_t last) {
  return compute_buffer(model, s,
                        {.first = first, .last = last, .output_here = last == model.num_hidden_layers})
      .range.expected;
}
SAMPLES_CONSTEXPR inline std::uint64_t host(const model_architecture& model, const graph_settings& s) {
  return host_compute_buffer(model, s).range.expected;
}
}  // namespace samples::llama_cpp_graphs
