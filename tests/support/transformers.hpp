#pragma once

// What the cases in tests/cases/transformers.inc refer to.

#include "kvbudget/engine/transformers/device_map.hpp"
#include "kvbudget/models.hpp"

#include "support/samples.hpp"

namespace generation {

using namespace samples;

using enum transformers_cache;
using enum transformers_attention;

constexpr deployment generate(const model_architecture& model, std::uint64_t sequences,
                              std::uint64_t context) {
  deployment d{.model = model, .weights = f::bf16, .dtype = f::bf16};
  d.workload.sequences = sequences;
  d.workload.context = tokens{context};
  return d;
}
/// Llama 3.1 8B, one request of 8,192 tokens.
constexpr deployment llama(std::uint64_t sequences = 1, std::uint64_t context = 8192) {
  return generate(models::llama_3_1_8b, sequences, context);
}
constexpr deployment in_nf4() {
  deployment d = llama();
  d.weights = schemes::nf4_double_quant;
  return d;
}
constexpr engines::transformers with(transformers_cache cache, engine_version version = {5, 0},
                                     std::uint64_t max_new_tokens = 0) {
  return {.version = version, .cache_implementation = cache, .max_new_tokens = max_new_tokens};
}
constexpr engines::transformers with(transformers_attention attention, engine_version version = {5, 0}) {
  return {.version = version, .attn_implementation = attention};
}
constexpr engines::transformers quantized_to(std::uint32_t nbits, std::uint64_t max_new_tokens,
                                             transformers_quantizer by = transformers_quantizer::quanto) {
  engines::transformers on = with(quantized, {5, 0}, max_new_tokens);
  on.backend = by;
  on.nbits = nbits;
  return on;
}
/// 10 prompts of 100 tokens, five of which get 900 tokens of output; one prompt of 1,000 with 100 of output.
constexpr deployment unequal() {
  deployment d = llama(0, 0);
  d.workload.add({.count = 5, .prompt = tokens{100}, .output = tokens{900}});
  d.workload.add({.count = 5, .prompt = tokens{100}, .output = tokens{10}});
  d.workload.add({.count = 1, .prompt = tokens{1000}, .output = tokens{100}});
  return d;
}

/// ChatGLM-6B's shape: 28 blocks with biases, a head that is tied to the embedding.
constexpr model_architecture make_chatglm_6b() {
  model_architecture model;
  model.dtype = f::fp16;
  model.hidden_size = 4096;
  model.vocab_size = 130528;
  model.tie_word_embeddings = true;
  layer_kind layer;
  layer.add(stores::full(32, 128));
  layer.num_attention_heads = layer.key_value_heads = 32;
  layer.query_dim = layer.value_dim = 128;
  layer.intermediate_size = 16384;
  layer.add(weight_groups::by_rows(module_role::attention, 3 * 4096, 4096, 32));
  layer.add(weight_groups::by_columns(module_role::attention, 4096, 4096, 32));
  layer.add(weight_groups::by_rows(module_role::mlp, 16384, 4096, 16384));
  layer.add(weight_groups::by_columns(module_role::mlp, 4096, 16384, 16384));
  layer.add(weight_groups::vectors(module_role::attention, 4 * 4096));
  layer.add(weight_groups::vectors(module_role::mlp, 16384 + 4096));
  layer.add(weight_groups::vectors(module_role::norm, 4096, 4));
  model.add_layers(layer, 28);
  model.add(weight_groups::vocabulary_table(module_role::embedding, 130528, 4096));
  model.add(weight_groups::vectors(module_role::norm, 4096, 2));
  return model;
}
inline constexpr model_architecture chatglm_6b = make_chatglm_6b();

constexpr device_placement placed(const deployment& d, const device_map_options& asked,
                                  const gpu_profile& gpu = gpus::nvidia_rtx_3090_24gb,
                                  engine_version version = {5, 0}) {
  return place_on_devices(engines::transformers{.version = version}, d, asked, gpu);
}
constexpr bool has_layers(const placed_modules& device, std::uint32_t first, std::uint32_t last) {
  return device.layers.first == first && device.layers.last == last;
}
/// Everything that a placement gave out.
constexpr bytes everywhere(const device_placement& plan) {
  bytes sum = plan.cpu.weights + plan.disk.weights;
  for (std::uint32_t i = 0; i < plan.gpu_count; ++i) sum += plan.gpus[i].weights;
  return sum;
}
inline constexpr device_placement chatglm_on_four =
    placed(generate(chatglm_6b, 1, 1), {.gpus = 4}, gpus::nvidia_rtx_3090_24gb, {4, 30});
inline constexpr device_placement llama_on_two = placed(llama(), {.gpus = 2});
inline constexpr device_placement llama_on_t4_and_cpu =
    placed(llama(), {.cpu_available = 64_GiB}, gpus::nvidia_t4_16gb);

}  // namespace generation
