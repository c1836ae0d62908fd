#pragma once

// Models, GPUs and questions for the tests of what fits into llama.cpp's GPUs.

#include "kvbudget/models.hpp"

#include "kvbudget/engine/llama_cpp/best_fit.hpp"
#include "kvbudget/model/builders.hpp"

namespace llama_cpp_fit_cases {

using namespace kvbudget;
using engines::llama_cpp;
using change = llama_cpp_fit_change;
using part = llama_cpp_layer_part;
using type = llama_cpp_cache_type;

inline constexpr std::uint64_t mib = 1024 * 1024;

constexpr llama_cpp_gpu_memory gpu_with(std::uint64_t free_mib) {
  return {bytes{free_mib * mib}, bytes{free_mib * mib}};
}
/// As many GPUs as there are numbers, with so many MiB free on each.
template <std::size_t Count> struct gpu_set {
  llama_cpp_gpu_memory gpus[Count] = {};
  constexpr gpu_set(const std::uint64_t (&free_mib)[Count]) {
    for (std::size_t i = 0; i < Count; ++i) gpus[i] = gpu_with(free_mib[i]);
  }
  [[nodiscard]] constexpr llama_cpp_fit_result fit(
      const llama_cpp& asked, const deployment& d,
      const llama_cpp_fit_settings& settings = llama_cpp_fit_settings{}) const {
    return llama_cpp_fit(asked, d, gpus, Count, settings);
  }
  [[nodiscard]] constexpr llama_cpp_room room() const { return {.gpus = gpus, .count = Count}; }
};

/// A model as a ggml file has it: every matrix in one format, the head in another.
constexpr model_architecture stored_in(const model_architecture& base, const number_format& matrices,
                                       const number_format& head) {
  model_architecture model = base;
  const std::uint8_t plain = model.precision_of(matrices);
  const std::uint8_t wide = model.precision_of(head);
  const auto is_matrix = [](const weight_group& group) {
    return group.kind != tensor_kind::vector && group.role != module_role::router;
  };
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    layer_kind& layer = model.kinds[kind];
    for (std::size_t i = 0; i < layer.weight_count; ++i) {
      if (is_matrix(layer.weights[i])) layer.weights[i].precision = plain;
    }
  }
  for (std::size_t i = 0; i < model.weight_count; ++i) {
    weight_group& group = model.weights[i];
    if (!is_matrix(group)) continue;
    const bool wider = group.role == module_role::lm_head || model.tie_word_embeddings;
    group.precision = wider ? wide : plain;
  }
  return model;
}

/// The mixture Q4_K_M of a dense model with one kind of layer: Q6_K for the head, and for values and down
/// projections in the layers that get more bits; Q4_K for the rest. Source: ggml-org/llama.cpp,
/// src/llama-quant.cpp.
constexpr model_architecture in_q4_k_m(const model_architecture& base) {
  model_architecture model = stored_in(base, formats::q4_k, formats::q6_k);
  const layer_kind plain = model.kinds[0];
  layer_kind wide = plain;
  const std::uint8_t six_bits = model.precision_of(formats::q6_k);
  for (std::size_t i = 0; i < plain.weight_count; ++i) {
    weight_group& group = wide.weights[i];
    if (group.kind == tensor_kind::vector) continue;
    if (group.role == module_role::mlp && group.axis == shard_axis::columns) group.precision = six_bits;
    if (group.rule == shard_rule::kv_heads && group.copies == 2) {  // keys and values
      group.copies = 1;
      weight_group values = group;
      values.precision = six_bits;
      wide.add(values);
    }
  }
  const std::uint32_t layers = model.num_hidden_layers;
  model.num_hidden_layers = 0;
  model.kind_count = 0;
  for (std::size_t kind = 0; kind < max_layer_kinds; ++kind) model.layers_of[kind] = 0;
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    const bool more = layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
    model.add_layers(more ? wide : plain);
  }
  return model;
}

constexpr deployment deployed(const model_architecture& model) { return deployment{.model = model}; }
constexpr deployment deployed(const model_architecture& model, const number_format& matrices) {
  deployment d{.model = model};
  d.weights = weight_scheme{matrices};
  return d;
}

/// llama-server with one slot, as Ollama starts it.
constexpr llama_cpp one_slot(std::uint64_t n_ctx) {
  llama_cpp asked;
  asked.n_ctx = n_ctx;
  asked.n_parallel = 1;
  return asked;
}
constexpr llama_cpp on_layers(llama_cpp asked, std::int32_t n_gpu_layers) {
  asked.n_gpu_layers = n_gpu_layers;
  return asked;
}
constexpr llama_cpp with_cache(llama_cpp asked, type both) {
  asked.type_k = asked.type_v = both;
  return asked;
}

/// Small enough to be fitted while compiling: 4 layers, trained with 8,192 tokens.
constexpr model_architecture trained_with(model_architecture model, std::uint32_t context) {
  model.max_position_embeddings = context;
  model.dtype = formats::bf16;
  return model;
}
using small_decoder =
    decoder<hidden<1024>, vocabulary<32000>, repeat<4, block<gqa<16, 8, 64>, gated_mlp<4096>>>>;
using small_experts = decoder<hidden<1024>, vocabulary<32000>,
                              repeat<4, block<gqa<16, 8, 64>, mixture_of_experts<8, 2, 2048>>>>;
inline constexpr model_architecture small_dense = trained_with(small_decoder::build(), 8192);
inline constexpr model_architecture small_moe = trained_with(small_experts::build(), 8192);

constexpr bool says(const refusal& why, const char* text) {
  return why.text != nullptr && kvbudget::detail::same_text(why.text, text);
}
/// A room without anything that is in no buffer.
template <std::size_t Count> constexpr llama_cpp_room bare(const gpu_set<Count>& set) {
  llama_cpp_room room = set.room();
  room.context = {0, 0, 0, basis::exact, "none"};
  return room;
}

constexpr llama_cpp_fit_result fit_of_small(const llama_cpp& asked, std::uint64_t free_mib) {
  return gpu_set<1>({free_mib}).fit(asked, deployed(small_dense), llama_cpp_fit_settings{bytes{32 * mib}});
}
template <std::uint64_t FreeMib>
inline constexpr llama_cpp_fit_result fitted_dense = fit_of_small(one_slot(0), FreeMib);

constexpr bool fits_small(const llama_cpp& asked, std::uint64_t free_mib) {
  const gpu_set<1> gpus({free_mib});
  return llama_cpp_need_of(asked, deployed(small_dense), bare(gpus)).fits();
}
constexpr llama_cpp_answer largest_context_of_small(std::uint64_t free_mib) {
  const gpu_set<1> gpus({free_mib});
  return llama_cpp_largest_context(one_slot(0), deployed(small_dense), bare(gpus));
}
template <std::uint64_t FreeMib>
inline constexpr llama_cpp_answer largest_small_context = largest_context_of_small(FreeMib);
constexpr llama_cpp_answer most_layers_of_small(std::uint64_t free_mib) {
  const gpu_set<1> gpus({free_mib});
  return llama_cpp_largest_gpu_layers(one_slot(4096), deployed(small_dense), bare(gpus));
}
template <std::uint64_t FreeMib>
inline constexpr llama_cpp_answer most_small_layers = most_layers_of_small(FreeMib);

}  // namespace llama_cpp_fit_cases
