#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/engine/llama_cpp/compute_graph.hpp"

namespace kvbudget::inline v0 {

namespace detail {
[[nodiscard]] constexpr std::uint64_t planned_bytes(const model_architecture& model, const graph_settings& s,
                                                    const layer_span& span, std::uint64_t alignment) {
  compute_graph graph;
  graph_writer writer(graph, model, s);
  const std::uint64_t width = model.hidden_size;
  const std::uint64_t row = checked_product(4, s.tokens, width);
  tensor_index x = 0, twin = 0;
  if (span.inputs_here) {
    const tensor_index ids = graph.input(4 * s.tokens);
    x = graph.fp32(width, s.tokens, 1, ids);
    graph.list(x);
    const tensor_index embeddings = graph.input(row, width, s.tokens);
    graph.tensors[embeddings].kept = true;
    graph.list(embeddings);
  } else {
    x = graph.input(row, width, s.tokens);
    if (span.first != 0) twin = graph.input(row, width, s.tokens);
  }
  if (span.first == 0 && model.kinds[model.order[0]].stores[0].state == state_kind::rwkv) x = writer.layer_norm(x);
  const layer_choice chosen = layers_to_write(model, span);
  for (std::uint32_t i = span.first; i < span.last; ++i) {
    if (i - span.first == chosen.keep_first) i += chosen.leave_out;
    const bool last = span.output_here && i + 1 == span.last;
    x = writer.layer(x, twin, model.kinds[model.order[i]], last);
    twin = 0;
  }
  if (span.output_here) {
    if (writer.traits.family == graph_family::gpt_oss) {
      graph.tensors[x].kept = true;
      x = graph.fp32(width, s.outputs, 1, x, writer.output_ids());
    }
    const tensor_index normed = writer.norm(x);
    graph.tensors[normed].kept = true;
    const tensor_index logits = graph.multiply(model.vocab_size, normed);
    graph.tensors[logits].kept = true;
    graph.list(logits);
  } else {
    graph.list(graph.in_place(x));
  }
  return graph.plan(alignment, span.inputs_here, s.copies);
}
}  // namespace detail

}  // namespace kvbudget::inline v0
