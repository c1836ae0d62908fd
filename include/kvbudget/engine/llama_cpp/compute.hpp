#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/engine/llama_cpp/compute_graph.hpp"
#include "kvbudget/memory/activations.hpp"

namespace kvbudget::inline v0 {

/// What a compute buffer takes, and how well that is known: `exact` where the allocator was followed
/// operation by operation through a graph that agrees with measured buffers.
struct compute_bytes {
  byte_range range{};
  basis known = basis::exact;
};

namespace detail {

/// Writes the graph of one device; gives its output, or what goes to the next device.
constexpr void write_graph(graph_writer& writer, const layer_span& span, const layer_choice& chosen) {
  compute_graph& graph = writer.graph;
  const model_architecture& model = writer.model;
  const graph_settings& s = writer.settings;
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
    if (span.first != 0 && (s.op_offload || span.first != s.host_layers))
      twin = graph.input(row, width, s.tokens);
  }
  if (span.first == 0 && has_state(model.kinds[model.order[0]], state_kind::rwkv)) x = writer.layer_norm(x);
  const bool gemma3n = writer.traits.family == graph_family::gemma3n;
  if (gemma3n && span.first == 0) {
    const std::uint64_t columns = graph_writer::layer_input_dim * model.num_hidden_layers;
    tensor_index looked_up = 0;
    if (span.inputs_here) {
      looked_up = graph.fp32(columns, s.tokens, 1, graph.input(4 * s.tokens));
      graph.list(looked_up);
    } else {
      looked_up = graph.input(checked_product(4, columns, s.tokens), columns, s.tokens);
    }
    x = writer.open_gemma3n(x, looked_up);
  }
  graph.host_format = s.host_format;
  writer.experts_here = s.op_offload && span.first == 0;
  const auto cache_on_host = [&](std::uint32_t layer) {
    return s.on_gpu && (layer < s.host_layers || !s.offload_kqv);
  };
  tensor_index zeros = writer.zeros_of_sparse_layers(span);
  for (std::uint32_t i = span.first; i < span.last; ++i) {
    for (const layer_gap& gap : chosen.gaps) {
      if (gap.count == 0 || i - span.first != gap.after) continue;
      for (const std::uint32_t end = i + gap.count; i < end; ++i) {
        if (writer.is_sparse(model.kinds[model.order[i]])) ++zeros;
      }
    }
    const bool last = span.output_here && i + 1 == span.last;
    graph.from_host = s.on_gpu && i < s.host_layers;
    writer.cache_on_host = cache_on_host(i);
    // Between rows written to the cache and states read for the next layer, all on the CPU, attention is too.
    writer.attends_on_cpu = cache_on_host(i) && cache_on_host(i + 1) && i + 1 < model.num_hidden_layers &&
                            has_store(model.kinds[model.order[i + 1]], store_kind::recurrent);
    const layer_kind& kind = model.kinds[model.order[i]];
    if (writer.is_sparse(kind)) writer.zeros_of_layer = zeros++;
    x = gemma3n ? writer.gemma3n_layer(x, kind, i) : writer.layer(x, twin, kind, last);
    twin = 0;
    graph.end_layer();
  }
  if (!span.output_here) {
    graph.write(x);
    if (!s.host_experts || !writer.experts_here) return;
    for (std::uint32_t i = span.last; i < model.num_hidden_layers; ++i) {
      if (graph.capacity - graph.count < 2 * tensors_of_a_layer) return;  // more of the same
      const bool rows_with_output = i + 1 == model.num_hidden_layers && !writer.traits.hidden_states_out;
      writer.guest_experts(model.kinds[model.order[i]], rows_with_output ? s.outputs : s.tokens);
    }
    return;
  }
  const bool gpt_oss = writer.traits.family == graph_family::gpt_oss;
  if (gpt_oss && writer.comes_with_residual(model.kinds[model.order[span.last - 1]])) {
    graph.tensors[x].bytes = checked_product(4, s.outputs, width);  // rows are chosen where they come from
    graph.tensors[x].shape[1] = s.outputs;
  } else if (gpt_oss) {
    x = writer.handed_out(x);
  }
  graph.from_host = s.on_gpu && s.host_head;
  graph.host_format = s.head_format;
  if (gemma3n) x = writer.close_gemma3n(x);
  tensor_index normed =
      has_state(model.kinds[model.order[0]], state_kind::rwkv) ? writer.layer_norm(x) : writer.norm(x);
  if (writer.traits.hidden_states_out && !gpt_oss) normed = writer.handed_out(normed);
  graph.tensors[normed].kept = true;
  const tensor_index logits = graph.multiply(model.vocab_size, normed);
  graph.tensors[logits].kept = true;
  graph.list(logits);
}

struct planned_graph {
  std::uint64_t bytes = 0;
  bool followed = true;  ///< through all layers, or through enough of them to see the layout repeat itself
};
[[nodiscard]] constexpr std::uint64_t planned_in(compute_graph& graph, const model_architecture& model,
                                                 const graph_settings& s, const layer_span& span,
                                                 const layer_choice& chosen, std::uint64_t alignment) {
  graph_writer writer(graph, model, s);
  write_graph(writer, span, chosen);
  return graph.plan(alignment, span.inputs_here, s.copies);
}
/// All layers, on the heap: stacks of threads may be small.
struct whole_graph {
  graph_room<max_whole_graph_tensors>* room = new graph_room<max_whole_graph_tensors>;
  constexpr whole_graph() = default;
  whole_graph(const whole_graph&) = delete;
  whole_graph& operator=(const whole_graph&) = delete;
  constexpr ~whole_graph() { delete room; }
};
/// Whether the first layers leave something that later ones read or use up, so that the layout hardly repeats
/// itself: the values of RWKV-7's first layer, the zeros of sparse attention; or layers differ by their index
/// (Gemma 3n).
[[nodiscard]] constexpr bool layers_hang_together(const model_architecture& model) {
  if (family_of(model) == graph_family::gemma3n) return true;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    if (has_state(layer, state_kind::rwkv) || graph_writer::is_sparse(layer)) return true;
  }
  return false;
}
[[nodiscard]] constexpr planned_graph planned(const model_architecture& model, const graph_settings& s,
                                              const layer_span& span, std::uint64_t alignment) {
  const layer_choice chosen = layers_to_write(model, s, span);
  const auto fits_whole = [&](std::size_t tensors_each) {
    return (span.last - span.first + 2) * tensors_each <= max_whole_graph_tensors;
  };
  if (chosen.left_out() == 0 || !layers_hang_together(model) || !fits_whole(tensors_of_a_layer)) {
    planned_graph part;
    graph_room<max_graph_tensors> room;
    compute_graph graph(room);
    part.bytes = planned_in(graph, model, s, span, chosen, alignment);
    for (const layer_gap& gap : chosen.gaps) {
      if (gap.count != 0 && !graph.repeats(gap.period, gap.count, gap.from, gap.to)) part.followed = false;
    }
    if (part.followed) return part;
    if (!fits_whole(graph.widest_layer())) return part;
  }
  const whole_graph all;
  compute_graph graph(*all.room);
  return {planned_in(graph, model, s, span, {}, alignment)};
}
[[nodiscard]] constexpr std::uint64_t planned_bytes(const model_architecture& model, const graph_settings& s,
                                                    const layer_span& span, std::uint64_t alignment) {
  return planned(model, s, span, alignment).bytes;
}

/// How well the graphs of a model's layers are known.
enum class graph_knowledge : std::uint8_t { followed, nearly, guessed };

[[nodiscard]] constexpr bool every_layer_is_sparse(const model_architecture& model) {
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    if (!graph_writer::is_sparse(model.kinds[kind])) return false;
  }
  return true;
}

/// Families whose buffers were compared with measured ones, by `general.architecture` and `model_type`; a
/// model described by hand is the plain decoder. Others are made of the same parts, but nobody has looked.
inline constexpr const char* compared_families[] = {
    "",          "llama",      "mistral",     "mixtral",     "qwen2",        "qwen3moe", "qwen3_moe",
    "gemma2",    "gemma3",     "gemma3n",     "gemma3_text", "gemma3n_text", "gpt-oss",  "gpt_oss",
    "deepseek2", "deepseek32", "deepseek_v2", "deepseek_v3", "deepseek_v32", "mamba",    "mamba2",
    "lfm2",      "rwkv7",      "qwen3next",   "qwen3_next",
};

[[nodiscard]] constexpr graph_knowledge knowledge_of(const model_architecture& model) {
  graph_knowledge found = llama_cpp_cache::detail::is_one_of(model, compared_families)
                              ? graph_knowledge::followed
                              : graph_knowledge::nearly;
  if (family_of(model) == graph_family::gemma3n) return found;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    for (std::size_t i = 0; i < model.kinds[kind].store_count; ++i) {
      const store& kept = model.kinds[kind].stores[i];
      // Indexers in some layers only (GLM), and beside ordinary keys (MiniMax), were never compared.
      const bool unknown_indexer =
          kept.indexer_dim != 0 && (kept.kind != store_kind::latent || !every_layer_is_sparse(model));
      if (kept.kind == store_kind::compressed || kept.kind == store_kind::cross_attention ||
          kept.kind == store_kind::shared || unknown_indexer || kept.state == state_kind::kimi_delta ||
          kept.state == state_kind::linear_attention) {
        return graph_knowledge::guessed;
      }
    }
  }
  return found;
}

[[nodiscard]] constexpr byte_range around(std::uint64_t expected, std::uint64_t percent_below,
                                          std::uint64_t percent_above) {
  return {floor_mul_div(expected, 100 - percent_below, 100), expected,
          ceil_mul_div(expected, 100 + percent_above, 100)};
}

/// Keys and values of a batch in fp32, on their way into a cache in host memory.
[[nodiscard]] constexpr std::uint64_t rows_of_cache(const model_architecture& model,
                                                    const graph_settings& s) {
  std::uint64_t most = 0;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const store& kept = model.kinds[kind].stores[0];
    if (!attends(kept)) continue;
    const std::uint64_t keys = checked_product(4, s.tokens, checked_mul(kept.kv_heads, kept.key_dim));
    const std::uint64_t values = checked_product(4, s.tokens, checked_mul(kept.kv_heads, kept.value_dim));
    most = larger(most, checked_add(round_up(keys, 32), round_up(values, 32)));
  }
  return most;
}

/// Keys or values of the layer that keeps most, as they are copied to run attention elsewhere.
[[nodiscard]] constexpr std::uint64_t half_of_a_staged_cache(const model_architecture& model,
                                                             const graph_settings& s) {
  std::uint64_t most = 0;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const store& kept = model.kinds[kind].stores[0];
    const std::uint64_t cells = checked_mul(s.streams, is_windowed(kept) ? s.window_cells : s.cells);
    std::uint64_t width = 0;
    if (attends(kept)) {
      width = std::uint64_t{kept.kv_heads} * larger(kept.key_dim, kept.value_dim);
    } else if (kept.kind == store_kind::latent) {
      width = std::uint64_t{kept.latent_rank} + kept.rope_dim;
    }
    most = larger(most,
                  checked_mul(cells, larger(s.type_k.size_of(width).value, s.type_v.size_of(width).value)));
  }
  return most;
}

/// Whether a model is of the kind whose graphs were also compared with parts of it in host memory: dense
/// layers with full attention and nothing else.
[[nodiscard]] constexpr bool is_plain(const model_architecture& model) {
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    if (layer.num_experts != 0 || layer.store_count != 1 || layer.stores[0].kind != store_kind::full)
      return false;
  }
  return true;
}

/// Without op offload, what has its weights in host memory runs on the CPU, in the same buffer.
[[nodiscard]] constexpr compute_bytes host_layers_bytes(const model_architecture& model, graph_settings s) {
  s.on_gpu = false;
  const layer_span work{
      .last = smaller(s.host_layers, model.num_hidden_layers), .inputs_here = true, .output_here = false};
  const std::uint64_t planned = checked_add(planned_bytes(model, s, work, 32), round_up(4 * s.outputs, 32));
  return {around(planned, 5, 5), basis::calibrated};
}
/// Gate, up and their product of all experts of a token: what the CPU needs to run them, beside `rest`.
[[nodiscard]] constexpr std::uint64_t experts_bytes(const model_architecture& model,
                                                    const graph_settings& s) {
  std::uint64_t most = 0;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    most = larger(most, checked_product(12, s.tokens,
                                        checked_mul(layer.num_experts_per_tok, layer.moe_intermediate_size)));
  }
  return most;
}
}  // namespace detail

/// The compute buffer of the device that runs the layers of `span`, as its backend allocates it (alignment
/// 128 on CUDA, 32 on the CPU).
///
/// ggml reserves one arena per device: it walks the graph of one full batch once, gives every tensor the best
/// fitting hole, lets elementwise operations overwrite a source that nobody else reads, and frees a tensor
/// after its last reader. This does the same for the graph that llama.cpp builds from the layers, so the peak
/// is the engine's, whichever of MLP, attention or logits sets it. Sources: ggml-org/llama.cpp
/// ggml/src/ggml-alloc.c, ggml/src/ggml-backend.cpp, src/llama-graph.cpp, src/models/*.cpp. Layers outside
/// the model stop.
[[nodiscard]] constexpr compute_bytes compute_buffer(const model_architecture& model, const graph_settings& s,
                                                     const layer_span& span) {
  detail::check_span(model, s, span);
  const std::uint64_t alignment = s.on_gpu ? 128 : 32;
  layer_span here = span;
  if (s.on_gpu && !s.op_offload) here.first = detail::larger(span.first, s.host_layers);
  if (here.first >= here.last) here.first = here.last - 1;
  const detail::planned_graph graph = detail::planned(model, s, here, alignment);
  const std::uint64_t planned = graph.bytes;
  if (!s.on_gpu && detail::traits_of(model, s).gated_queries) {  // never compared on the CPU
    return {detail::around(planned, 1, 5), basis::calibrated};
  }
  if (s.on_gpu && !s.offload_kqv) return {detail::around(planned, 1, 10), basis::calibrated};
  if (s.on_gpu && (s.host_layers != 0 || s.host_experts || s.host_head)) {
    byte_range range = detail::around(planned, 1, detail::is_plain(model) ? 1 : 7);
    if (s.host_layers != 0) {  // the copies of a layer's keys and values may find a hole together, or not
      range.high = detail::checked_add(range.high, detail::half_of_a_staged_cache(model, s));
    }
    return {range, basis::calibrated};
  }
  switch (detail::knowledge_of(model)) {
    case detail::graph_knowledge::followed:
      if (graph.followed) break;
      [[fallthrough]];
    case detail::graph_knowledge::nearly: return {detail::around(planned, 1, 5), basis::calibrated};
    case detail::graph_knowledge::guessed: return {detail::around(planned, 25, 100), basis::assumed};
  }
  return {detail::same(planned), basis::exact};
}

/// The whole model on one device.
[[nodiscard]] constexpr compute_bytes compute_buffer(const model_architecture& model,
                                                     const graph_settings& s) {
  return compute_buffer(model, s, {.last = model.num_hidden_layers, .inputs_here = !s.on_gpu});
}

/// The compute buffer in pinned host memory beside GPUs: token ids, embeddings both as looked up and as
/// given, and every other input of the graph, of which there are `copies`. Where CUDA has no flash-attention
/// kernel for a layer, its queries, keys, values and result pass through here as well.
[[nodiscard]] constexpr compute_bytes host_compute_buffer(const model_architecture& model,
                                                          const graph_settings& s) {
  using detail::checked_add;
  if (!s.op_offload && s.host_layers != 0) return detail::host_layers_bytes(model, s);
  const layer_span whole{.last = model.num_hidden_layers};
  detail::check_span(model, s, whole);
  detail::graph_room<detail::max_graph_tensors> room;
  detail::compute_graph graph(room);
  detail::graph_writer writer(graph, model, s);
  detail::write_graph(writer, whole, detail::layers_to_write(model, s, whole));
  const std::uint64_t row = detail::round_up(detail::checked_product(4, s.tokens, model.hidden_size), 32);
  const bool gemma3n = writer.traits.family == detail::graph_family::gemma3n;
  const std::uint64_t layer_inputs = gemma3n
                                         ? detail::checked_product(4 * detail::graph_writer::layer_input_dim,
                                                                   s.tokens, model.num_hidden_layers)
                                         : 0;
  std::uint64_t through = writer.through_host;
  if (s.host_layers != 0 || !s.offload_kqv)
    through = detail::larger(through, detail::rows_of_cache(model, s));
  const std::uint64_t passing = checked_add(detail::larger(row, through), layer_inputs);
  const std::uint64_t all = checked_add(checked_add(row, passing), writer.host_inputs());
  switch (detail::knowledge_of(model)) {
    case detail::graph_knowledge::followed:
    case detail::graph_knowledge::nearly: break;
    case detail::graph_knowledge::guessed: return {detail::around(all, 50, 100), basis::assumed};
  }
  if (!s.op_offload && s.host_experts) {
    // The tokens find room where the embeddings were looked up, or do not, as for gpt-oss; this was measured.
    const std::uint64_t experts = detail::experts_bytes(model, s);
    const std::uint64_t least = checked_add(all - row, experts), more = checked_add(all, experts);
    const bool gpt_oss = writer.traits.family == detail::graph_family::gpt_oss;
    return {{least, gpt_oss ? more : least, checked_add(more, row)}, basis::calibrated};
  }
  if (s.host_layers != 0 || !s.offload_kqv) {
    return {{all, all, checked_add(all, detail::checked_mul(4, row))}, basis::calibrated};
  }
  return {detail::same(all), basis::exact};
}

/// Logits and embeddings as handed out, in pinned host memory: 4 × vocabulary bytes per output, at first one
/// output per sequence; it grows to the most outputs of any call. In no report of the engine.
[[nodiscard]] constexpr bytes output_buffer(const model_architecture& model, std::uint64_t outputs,
                                            bool embeddings = false) {
  const std::uint64_t each = detail::checked_add(model.vocab_size, embeddings ? model.hidden_size : 0u);
  return bytes{detail::checked_mul(detail::checked_mul(4, each), outputs)};
}

}  // namespace kvbudget::inline v0
