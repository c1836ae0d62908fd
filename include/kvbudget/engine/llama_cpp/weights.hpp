#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/pointer.hpp"
#include "kvbudget/engine/llama_cpp/cache.hpp"
#include "kvbudget/memory/weights.hpp"

/// The model buffers of llama.cpp: every tensor as it lies in memory, layer by layer.
/// Sources: ggml-org/llama.cpp, src/llama-model-loader.cpp, src/llama-model.cpp (load_tensors),
/// src/llama-quant.cpp (what cannot be quantized), ggml/src/ggml-cuda/ggml-cuda.cu (row padding).
namespace kvbudget::inline v0::llama_cpp_weights {

/// Bytes by module, and what alignment and padded rows add to them.
struct model_bytes {
  std::uint64_t modules[module_role_count] = {};
  std::uint64_t padding = 0;
  bool assumed = false;  ///< some of it is known only as a total

  [[nodiscard]] constexpr std::uint64_t total() const {
    std::uint64_t sum = padding;
    for (const std::uint64_t module : modules) sum = detail::checked_add(sum, module);
    return sum;
  }
  constexpr void add(const model_bytes& one, std::uint64_t times = 1) {
    for (std::size_t role = 0; role < module_role_count; ++role) {
      modules[role] = detail::add_product(modules[role], one.modules[role], times);
    }
    padding = detail::add_product(padding, one.padding, times);
    assumed = assumed || one.assumed;
  }
};

/// Where a tensor is: in host memory, or on the GPU of its layer.
enum class place : std::uint8_t { host, gpu };

/// What stands in for a block format whose blocks do not divide a row. Source: src/llama-quant.cpp.
[[nodiscard]] constexpr number_format stored_in_rows_of(const number_format& format, std::uint64_t columns) {
  const auto is = [&](const number_format& other) { return detail::same_text(format.name, other.name); };
  if (format.block_elements <= 1 || columns % format.block_elements == 0) return format;
  if (columns % 32 != 0) return formats::fp16;
  if (is(formats::q4_k)) return formats::q5_0;
  if (is(formats::q5_k)) return formats::q5_1;
  if (is(formats::q6_k)) return formats::q8_0;
  if (is(formats::tq1_0) || is(formats::tq2_0)) return formats::q4_0;
  return formats::iq4_nl;
}

/// How llama.cpp stores the tensors of a group: as the file does; where the model is not from such a file, as
/// a conversion would: vectors, convolutions and routers in fp32, matrices in the format of the deployment.
[[nodiscard]] constexpr weight_scheme scheme_of(const deployment& d, const weight_group& group) {
  if (d.weights.is_automatic() && group.precision != 0) return d.model->precisions[group.precision - 1];
  const bool small = group.kind == tensor_kind::vector || group.kind == tensor_kind::convolution ||
                     group.role == module_role::router;
  if (small) return weight_scheme{formats::fp32};
  const bool covered = !d.weights.is_automatic() && is_quantized(d.weights, group, d.unquantized);
  if (!covered) return weight_scheme{dtype_of(d)};
  weight_scheme scheme = d.weights;
  if (scheme.sidecar.scales == weight_scales::none && group.rule != shard_rule::spread) {
    scheme.payload = stored_in_rows_of(scheme.payload, group.columns);
  }
  return scheme;
}

/// One kind of tensor of a group: `count` tensors of the same bytes.
struct group_tensors {
  std::uint64_t count = 0;
  std::uint64_t each = 0;    ///< bytes of the elements
  std::uint64_t stored = 0;  ///< bytes in the buffer
};

/// The tensors of a group in a buffer: the matrices of all experts are one tensor.
[[nodiscard]] constexpr group_tensors tensors_of(const deployment& d, const layer_kind* layer,
                                                 const weight_group& group,
                                                 llama_cpp_cache::buffer_layout layout) {
  const weight_scheme scheme = scheme_of(d, group);
  std::uint64_t together = 1;
  if (!detail::is_null(layer) && group.role == module_role::expert && layer->num_experts != 0 &&
      group.copies % layer->num_experts == 0) {
    together = layer->num_experts;
  }
  group_tensors found;
  found.count = group.copies / together;
  const weight_shard one{group.rows, group.columns, together};
  const stored_weights plain = stored(group, one, scheme, d.model->hidden_size);
  found.each = detail::checked_add(plain.payload, plain.scales);
  const bool rows = scheme.sidecar.scales == weight_scales::none && group.rule != shard_rule::spread;
  found.stored = detail::round_up(found.each, layout.alignment);
  if (rows && group.kind != tensor_kind::vector) {
    found.each = detail::checked_mul(scheme.payload.size_of(group.columns).value,
                                     detail::checked_mul(group.rows, together));
    found.stored = llama_cpp_cache::allocated(scheme.payload, group.columns,
                                              detail::checked_mul(group.rows, together), layout);
  }
  return found;
}

constexpr void add_tensors(model_bytes& sum, const weight_group& group, module_role role,
                           const group_tensors& tensors, std::uint64_t count) {
  std::uint64_t& module = sum.modules[static_cast<std::size_t>(role)];
  module = detail::add_product(module, tensors.each, count);
  sum.padding = detail::add_product(sum.padding, tensors.stored - tensors.each, count);
  sum.assumed = sum.assumed || group.rule == shard_rule::spread;
}

/// The parts of a layer that the tensors of a group are, for `--override-tensor`, in equal numbers.
struct group_parts {
  llama_cpp_tensor parts[3] = {};
  std::uint32_t count = 0;
};

/// Tells the groups of one layer apart, in their order: of equal tensors the first is the gate.
class layer_parts {
 public:
  constexpr explicit layer_parts(const layer_kind& layer) : layer_(&layer) {}

  /// `tensors`: how many the group is.
  [[nodiscard]] constexpr group_parts of(const weight_group& group, std::uint64_t tensors) {
    using enum llama_cpp_tensor;
    switch (group.role) {
      case module_role::mixer: return {{mixer}, 1};
      case module_role::norm: return {{norm}, 1};
      case module_role::router: return {{router}, 1};
      case module_role::shared_expert: return {{shared_expert}, 1};
      case module_role::mlp: return projections(group, tensors, mlp_gate, mlp_up, mlp_down, mlp_gate_seen_);
      case module_role::expert: {
        const bool fused = group.rows == std::uint64_t{2} * layer_->moe_intermediate_size;
        if (fused && group.axis == shard_axis::rows && tensors == 1) return {{expert_up}, 1};
        return projections(group, tensors, expert_gate, expert_up, expert_down, expert_gate_seen_);
      }
      default: return {{attention}, 1};
    }
  }

 private:
  /// Biases of all three are one group where they are equally long.
  [[nodiscard]] constexpr group_parts projections(const weight_group& group, std::uint64_t tensors,
                                                  llama_cpp_tensor gate, llama_cpp_tensor up,
                                                  llama_cpp_tensor down, bool& gate_seen) const {
    if (group.axis != shard_axis::rows) return {{down}, 1};
    if (!layer_->gated_mlp) return {{up, down}, tensors % 2 == 0 ? 2u : 1u};
    if (tensors % 3 == 0) return {{gate, up, down}, 3};
    if (tensors % 2 == 0) return {{gate, up}, 2};
    if (group.kind == tensor_kind::vector) return {{down}, 1};
    const bool first = !gate_seen;
    gate_seen = true;
    return {{first ? gate : up}, 1};
  }

  const layer_kind* layer_;
  bool mlp_gate_seen_ = false;
  bool expert_gate_seen_ = false;
};

/// One layer, with all of its tensors in one buffer.
[[nodiscard]] constexpr model_bytes bytes_of_layer(const deployment& d, const layer_kind& layer,
                                                   llama_cpp_cache::buffer_layout layout) {
  model_bytes sum;
  for (std::size_t i = 0; i < layer.weight_count; ++i) {
    const group_tensors tensors = tensors_of(d, &layer, layer.weights[i], layout);
    add_tensors(sum, layer.weights[i], layer.weights[i].role, tensors, tensors.count);
  }
  return sum;
}

/// One layer of which some tensors stay on the host: what is in the buffer at `where`.
[[nodiscard]] constexpr model_bytes bytes_of_layer(const deployment& d, const layer_kind& layer,
                                                   llama_cpp_cache::buffer_layout layout,
                                                   const llama_cpp_host_tensors& on_host, std::uint32_t index,
                                                   place where) {
  model_bytes sum;
  layer_parts parts(layer);
  for (std::size_t i = 0; i < layer.weight_count; ++i) {
    const weight_group& group = layer.weights[i];
    const group_tensors tensors = tensors_of(d, &layer, group, layout);
    const group_parts found = parts.of(group, tensors.count);
    std::uint64_t count = 0;
    for (std::uint32_t part = 0; part < found.count; ++part) {
      if (on_host.has(found.parts[part], index) == (where == place::host)) {
        count += tensors.count / found.count;
      }
    }
    add_tensors(sum, group, group.role, tensors, count);
  }
  return sum;
}

/// Where a weight outside the layers goes.
enum class outer_place : std::uint8_t {
  input,   ///< always on the host: tables that rows are looked up in
  first,   ///< with the first layer: a projection of what was looked up (Gemma 3n)
  output,  ///< with the head
  layers,  ///< beside the layers of every device (rotary factors)
  spread,  ///< a total without shapes: over the layers
  draft,   ///< with the head, if draft layers are loaded
  tower    ///< a projector: on the main GPU
};
[[nodiscard]] constexpr outer_place place_of(const weight_group& group) {
  switch (group.role) {
    case module_role::embedding:
      return group.kind == tensor_kind::linear ? outer_place::first : outer_place::input;
    case module_role::draft: return outer_place::draft;
    case module_role::vision:
    case module_role::audio: return outer_place::tower;
    case module_role::attention: return outer_place::layers;
    default: return group.rule == shard_rule::spread ? outer_place::spread : outer_place::output;
  }
}

/// Whether a group is the table that a tied head reads.
[[nodiscard]] constexpr bool is_tied_table(const model_architecture& model, const weight_group& group) {
  return model.tie_word_embeddings && group.role == module_role::embedding &&
         group.rows >= model.vocab_size && group.columns == model.hidden_size;
}

}  // namespace kvbudget::inline v0::llama_cpp_weights
