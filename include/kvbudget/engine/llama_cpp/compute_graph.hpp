#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/text.hpp"
#include "kvbudget/engine/llama_cpp/cache.hpp"
#include "kvbudget/engine/llama_cpp/compute_arena.hpp"
#include "kvbudget/format/formats.hpp"
#include "kvbudget/model/model_architecture.hpp"

namespace kvbudget::inline v0 {

/// What the size of llama.cpp's compute buffers depends on beside the model: effective values, after all
/// rounding (see `engines::llama_cpp`).
struct graph_settings {
  std::uint64_t tokens = 512;      ///< of one physical batch (n_ubatch), a multiple of the streams
  std::uint64_t outputs = 512;     ///< rows of logits: min(tokens, n_outputs_max)
  std::uint64_t cells = 0;         ///< of the full-attention cache, per stream
  std::uint64_t window_cells = 0;  ///< of the windowed cache, per stream
  std::uint64_t streams = 1;       ///< sequences with a cache of their own; 1 = unified
  std::uint64_t sequences = 1;     ///< n_seq_max: rows of recurrent state
  std::uint64_t snapshots = 0;     ///< n_rs_seq: further copies of every recurrent state, to go back to
  bool flash_attention = true;
  bool latent_as_heads = false;  ///< MLA from a file without key_length_mla: keys and values per head
  number_format type_k = formats::fp16;
  number_format type_v = formats::fp16;
  std::uint64_t copies = 1;       ///< of every input: 4 under pipeline parallelism
  std::uint32_t host_layers = 0;  ///< of the first layers, weights and cache are in host memory
  bool host_experts = false;      ///< all experts are
  bool host_head = false;         ///< the head is
  bool offload_kqv = true;        ///< the cache is on the device of its layer
  bool op_offload = true;         ///< what has its weights in host memory runs on the first GPU all the same
  number_format host_format = formats::fp16;  ///< how such matrices are stored
  number_format head_format = formats::fp16;
  bool on_gpu = true;  ///< CUDA's rules; otherwise the CPU's
};

/// A run of layers of one model on one device.
struct layer_span {
  std::uint32_t first = 0;
  std::uint32_t last = 0;    ///< one past the end
  bool inputs_here = false;  ///< the token embeddings are read on this device itself (CPU only)
  bool output_here = true;   ///< the head is on this device
};

namespace detail {

using llama_cpp_cache::is_quantized;
using llama_cpp_cache::detail::attends;
using llama_cpp_cache::detail::cuda_computes;

/// Graph inputs that exist at most once per device; made when first used.
struct graph_inputs {
  tensor_index positions = 0;
  tensor_index output_ids = 0;
  tensor_index key_rows[2] = {};  ///< where the keys of the batch go: full cache, windowed cache
  tensor_index value_rows[2] = {};
  tensor_index masks[2] = {};
  tensor_index key_rotation[2] = {};
  tensor_index value_rotation[2] = {};
  tensor_index index_rows = 0;  ///< sparse indexer: where its keys go, its mask, its rotation
  tensor_index index_mask = 0;
  tensor_index index_rotation = 0;
  tensor_index states = 0;  ///< which recurrent states to read
  tensor_index batch_states = 0;
  tensor_index more_states = 0;
};

/// Widths of the small matrices of a layer that its kind does not name.
[[nodiscard]] constexpr std::uint64_t rows_of(const layer_kind& layer, module_role role,
                                              std::uint64_t columns, std::uint64_t not_rows) {
  for (std::size_t i = 0; i < layer.weight_count; ++i) {
    const weight_group& group = layer.weights[i];
    if (group.role == role && group.kind == tensor_kind::linear && group.columns == columns &&
        group.rows != not_rows) {
      return group.rows;
    }
  }
  return 0;
}

/// Rank of MLA's queries: of the two matrices from the hidden size through the rank to `width`; 0 = one
/// matrix. Indexers read the hidden size too, so the second matrix is what tells it.
[[nodiscard]] constexpr std::uint64_t query_rank_of(const layer_kind& layer, std::uint64_t hidden,
                                                    std::uint64_t width) {
  const auto is_matrix = [&](const weight_group& group, std::uint64_t columns) {
    return group.role == module_role::attention && group.kind == tensor_kind::linear &&
           group.columns == columns;
  };
  for (std::size_t i = 0; i < layer.weight_count; ++i) {
    const std::uint64_t rank = layer.weights[i].rows;
    if (!is_matrix(layer.weights[i], hidden) || rank >= hidden) continue;
    for (std::size_t j = 0; j < layer.weight_count; ++j) {
      if (is_matrix(layer.weights[j], rank) && layer.weights[j].rows == width) return rank;
    }
  }
  return 0;
}

[[nodiscard]] constexpr bool is_windowed(const store& s) {
  return s.kind == store_kind::sliding_window || s.kind == store_kind::chunked;
}

/// Models whose graphs differ from the usual decoder's beyond what their layers say.
enum class graph_family : std::uint8_t { usual, gpt_oss, deepseek, gemma3n };

[[nodiscard]] constexpr graph_family family_of(const model_architecture& model) {
  const char* const type = model.model_type;
  if (same_text(type, "gpt-oss") || same_text(type, "gpt_oss")) return graph_family::gpt_oss;
  if (same_text(type, "gemma3n") || same_text(type, "gemma3n_text")) return graph_family::gemma3n;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    for (std::size_t i = 0; i < model.kinds[kind].store_count; ++i) {
      if (model.kinds[kind].stores[i].kind == store_kind::latent) return graph_family::deepseek;
    }
  }
  return graph_family::usual;
}

/// What all layers of a model have in common, as far as a graph depends on it.
struct graph_traits {
  graph_family family = graph_family::usual;
  bool windows = false;  ///< two caches: full and windowed
  bool latent = false;
  bool convolutions = false;   ///< short convolutions (LFM2)
  bool gated_queries = false;  ///< queries carry a gate of their width (Qwen3-Next, Qwen 3.5)
  /// Hidden states of all tokens are an output, for the model's MTP head; rows with logits are chosen behind.
  bool hidden_states_out = false;
  std::uint64_t widest_value = 0;  ///< elements of the values of one token in one layer
  std::uint32_t head_dim = 0;      ///< of keys, where all layers agree
  std::uint32_t value_dim = 0;
};

[[nodiscard]] constexpr graph_traits traits_of(const model_architecture& model, const graph_settings& s) {
  graph_traits found;
  found.family = family_of(model);
  found.hidden_states_out = found.family == graph_family::gpt_oss;
  bool first = true;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    for (std::size_t i = 0; i < layer.store_count; ++i) {
      const store& kept = layer.stores[i];
      found.convolutions = found.convolutions || kept.state == state_kind::short_convolution;
      found.gated_queries = found.gated_queries || kept.state == state_kind::gated_delta_net;
      found.hidden_states_out = found.hidden_states_out || found.gated_queries;
      found.windows = found.windows || is_windowed(kept);
      std::uint64_t key_dim = kept.key_dim, value_dim = kept.value_dim, heads = kept.kv_heads;
      if (kept.kind == store_kind::latent) {
        found.latent = !s.latent_as_heads;
        key_dim = layer.query_dim, value_dim = layer.value_dim, heads = layer.num_attention_heads;
      } else if (!attends(kept)) {
        continue;
      }
      found.widest_value = larger(found.widest_value, heads * value_dim);
      const bool agree = first || (found.head_dim == key_dim && found.value_dim == value_dim);
      found.head_dim = agree ? static_cast<std::uint32_t>(key_dim) : 0;
      found.value_dim = agree ? static_cast<std::uint32_t>(value_dim) : 0;
      first = false;
    }
  }
  return found;
}

/// Layers of a span that are not written down.
struct layer_gap {
  std::uint32_t after = 0;   ///< layers of the span in front
  std::uint32_t count = 0;   ///< 0 = none
  std::uint32_t period = 0;  ///< 0 = they are no repetition
  std::uint32_t from = 0;    ///< of the layers written, these show whether the layout repeats itself
  std::uint32_t to = 0;
};
/// Which layers of a span to write down. The layout mostly repeats itself, so of a long run of equal periods
/// an even number of whole ones is left out of the middle: of those with weights in host memory and of the
/// others. Whether the layout does repeat itself is seen when the graph is planned; if not, and there is
/// room, all layers are written.
struct layer_choice {
  layer_gap gaps[2] = {};
  [[nodiscard]] constexpr std::uint32_t left_out() const { return gaps[0].count + gaps[1].count; }
};
/// The gap among the layers from `first` to `last`, of which those in front of `first` are `before` written
/// ones.
[[nodiscard]] constexpr layer_gap gap_among(const model_architecture& model, const layer_span& span,
                                            std::uint32_t first, std::uint32_t last, std::uint32_t before) {
  constexpr std::uint32_t front = 8, longest = 8;
  for (std::uint32_t period = 1; period <= longest; ++period) {
    std::uint32_t start = last;  // first layer from which on everything repeats
    while (start > first &&
           (last - start < period || model.order[start - 1] == model.order[start - 1 + period])) {
      --start;
    }
    const std::uint32_t kept = larger(start - first, front) + period + 1;
    if (last - first < kept + 2 * period) continue;
    const std::uint32_t count = (last - first - kept) / (2 * period) * (2 * period);
    return {first - span.first + kept - period - 1, count, period, before + (start - first),
            before + (last - first - count)};
  }
  return {};
}
/// More tensors than layers have, and how many layers can be written in any case.
inline constexpr std::uint32_t tensors_of_a_layer = 110;
inline constexpr std::uint32_t most_layers = max_graph_tensors / tensors_of_a_layer - 1;
[[nodiscard]] constexpr layer_choice layers_to_write(const model_architecture& model, const graph_settings& s,
                                                     const layer_span& span) {
  const std::uint32_t on_host = s.on_gpu ? s.host_layers : 0;
  const std::uint32_t split = smaller(larger(on_host, span.first), span.last);
  layer_choice found;
  found.gaps[0] = gap_among(model, span, span.first, split, 0);
  found.gaps[1] = gap_among(model, span, split, span.last, split - span.first - found.gaps[0].count);
  const std::uint32_t all = span.last - span.first;
  if (all - found.left_out() <= most_layers) return found;
  return {{{most_layers / 2, all - most_layers}}};
}

[[nodiscard]] constexpr bool has_state(const layer_kind& layer, state_kind state) {
  for (std::size_t i = 0; i < layer.store_count; ++i) {
    if (layer.stores[i].state == state) return true;
  }
  return false;
}

[[noreturn]] inline void a_device_needs_layers_of_the_model(std::uint64_t first, std::uint64_t last) {
  raise("llama.cpp: the model has no layers from # to #", first, last);
}
[[noreturn]] inline void tokens_do_not_divide_over_sequences(std::uint64_t tokens, std::uint64_t sequences) {
  raise("llama.cpp: a batch of # tokens cannot be split over # sequences", tokens, sequences);
}
constexpr void check_span(const model_architecture& model, const graph_settings& s, const layer_span& span) {
  if (span.first >= span.last || span.last > model.num_hidden_layers) {
    a_device_needs_layers_of_the_model(span.first, span.last);
  }
  if (s.tokens == 0 || s.sequences == 0 || s.streams == 0 || s.tokens % s.sequences != 0) {
    tokens_do_not_divide_over_sequences(s.tokens, s.sequences);
  }
}

/// Inner width of RWKV-7's low-rank matrices: factor × √hidden, to the nearest 32. Source:
/// BlinkDL/RWKV-LM RWKV-v7/train_temp/src/model.py.
[[nodiscard]] constexpr std::uint64_t low_rank_width(std::uint64_t hidden, double factor) {
  std::uint64_t width = 32;
  const double limit = factor * factor * static_cast<double>(hidden);
  while ((static_cast<double>(width) + 16) * (static_cast<double>(width) + 16) <= limit) width += 32;
  return width;
}
/// The same of its gate: 0.6 × hidden^0.8.
[[nodiscard]] constexpr std::uint64_t gate_rank_width(std::uint64_t hidden) {
  std::uint64_t width = 32;
  const double d = static_cast<double>(hidden);
  const auto reached = [d](std::uint64_t found) {
    const double root = static_cast<double>(found) / 0.6;
    return root * root * root * root * root <= d * d * d * d;
  };
  while (reached(width + 16)) width += 32;
  return width;
}

/// By name, because bf16 and fp16 are of one size.
[[nodiscard]] constexpr bool is_format(const number_format& format, const number_format& other) {
  return same_text(format.name, other.name);
}

/// Widths of one layer's attention.
struct attention_widths {
  bool windowed = false;
  std::uint64_t heads = 0;
  std::uint64_t key_dim = 0;
  std::uint64_t value_dim = 0;
  std::uint64_t key_width = 0;     ///< elements of the keys of one token
  std::uint64_t value_width = 0;   ///< the same of the values; 0 = a part of the keys
  std::uint64_t unpacked_dim = 0;  ///< MLA: values per head after unpacking
  tensor_index chosen = 0;         ///< sparse attention: the tokens that the indexer has chosen
};

/// Whether CUDA builds without GGML_CUDA_FA_ALL_QUANTS have a flash-attention kernel for these widths and
/// types; without one the operation runs on the CPU. Source: ggml-org/llama.cpp ggml/src/ggml-cuda/fattn.cu.
[[nodiscard]] constexpr bool runs_on_cuda(const attention_widths& w, const number_format& key,
                                          const number_format& value) {
  constexpr const number_format* stored[] = {&formats::fp16, &formats::fp32, &formats::bf16, &formats::q8_0,
                                             &formats::q4_0};
  bool known = false;
  for (const number_format* each : stored) known = known || is_format(key, *each);
  if (!known || !is_format(key, value)) return false;
  const std::uint64_t shared = w.key_width == 0 ? 1 : checked_mul(w.heads, w.key_dim) / w.key_width;
  return cuda_computes(w.key_dim, w.value_dim, shared);
}

/// Edge of the rotation applied to keys before they are quantized: the largest power of two dividing the
/// head, at least 64; 0 = none. Source: ggml-org/llama.cpp src/llama-kv-cache.cpp (build_input_k_rot).
[[nodiscard]] constexpr std::uint64_t key_rotation_edge(std::uint32_t head_dim, const number_format& format) {
  if (!is_quantized(format) || head_dim == 0 || head_dim % 64 != 0) return 0;
  std::uint64_t edge = 64;
  while (head_dim % (edge * 2) == 0) edge *= 2;
  return edge;
}
/// The same for values: always 64.
[[nodiscard]] constexpr std::uint64_t value_rotation_edge(std::uint32_t head_dim,
                                                          const number_format& format) {
  return is_quantized(format) && head_dim != 0 && head_dim % 64 == 0 ? 64 : 0;
}

/// Writes the graph of one device down, operation by operation, in the order in which llama.cpp builds it.
/// Sources: ggml-org/llama.cpp src/llama-graph.cpp and src/models/*.cpp.
struct graph_writer {
  compute_graph& graph;
  const model_architecture& model;
  const graph_settings& settings;
  graph_traits traits;
  graph_inputs inputs{};
  tensor_index first_value = 0;     ///< rwkv: the values of the first layer
  std::uint64_t through_host = 0;   ///< bytes of the largest attention that runs on the host
  bool experts_here = true;         ///< experts in host memory run on this device
  tensor_index zeros_of_layer = 0;  ///< sparse attention: what the open places of its mask are written from
  bool cache_on_host = false;       ///< of the layer that is written now
  bool attends_on_cpu = false;      ///< it does
  bool layer_is_biased = false;     ///< experts are chosen by biased scores (DeepSeek-V3)

  constexpr graph_writer(compute_graph& where, const model_architecture& of, const graph_settings& with)
      : graph(where), model(of), settings(with), traits(traits_of(of, with)) {}

  [[nodiscard]] constexpr std::uint64_t tokens() const { return settings.tokens; }
  [[nodiscard]] constexpr std::uint64_t hidden() const { return model.hidden_size; }
  [[nodiscard]] constexpr std::uint64_t cells(bool windowed) const {
    return windowed ? settings.window_cells : settings.cells;
  }
  [[nodiscard]] constexpr std::uint64_t sequences() const { return settings.sequences; }

  /// Something of another device in fp32, which comes here with the first operation that reads it.
  constexpr tensor_index copied(std::uint64_t columns, std::uint64_t rows) {
    const tensor_index copy = graph.input(checked_product(4, columns, rows), columns, rows);
    graph.tensors[copy].staged = true;
    return copy;
  }
  constexpr tensor_index once(tensor_index& slot, std::uint64_t bytes) {
    if (slot == 0) slot = graph.input(bytes);
    return slot;
  }
  constexpr tensor_index positions() { return once(inputs.positions, 4 * tokens()); }
  constexpr tensor_index output_ids() { return once(inputs.output_ids, 4 * settings.outputs); }
  constexpr tensor_index key_rows(bool windowed) { return once(inputs.key_rows[windowed], 8 * tokens()); }
  constexpr tensor_index value_rows(bool windowed) {
    const std::uint64_t each = settings.flash_attention ? 1 : traits.widest_value;
    return once(inputs.value_rows[windowed], checked_product(8, tokens(), each));
  }
  constexpr tensor_index mask(bool windowed) {
    return once(inputs.masks[windowed],
                checked_product(settings.flash_attention ? 2 : 4, cells(windowed), tokens()));
  }
  /// Which states to read, of the batch and of other sequences: two views, which on a GPU are copies.
  constexpr tensor_index states() {
    if (inputs.batch_states == 0) {
      inputs.states = graph.input(4 * sequences());
      inputs.batch_states = settings.on_gpu ? inputs.states : graph.view(inputs.states, sequences(), 1);
    }
    return inputs.batch_states;
  }
  constexpr tensor_index more_states() {
    if (inputs.more_states == 0) {
      inputs.more_states = settings.on_gpu ? graph.input(0) : graph.view(inputs.states, 0, 1);
    }
    return inputs.more_states;
  }

  /// x, rotated by a square matrix of `edge`; nothing without one.
  constexpr tensor_index rotated(tensor_index x, tensor_index& slot, std::uint64_t edge) {
    if (edge == 0 || x == 0) return x;
    const graph_tensor& like = graph.tensors[x];
    const std::uint64_t shape[3] = {like.shape[0], like.shape[1], like.shape[2]};
    const tensor_index matrix = once(slot, checked_product(4, edge, edge));
    const std::uint64_t rows = checked_product(shape[0], shape[1], shape[2]) / edge;
    const tensor_index flat = like.dense ? graph.view(x, edge, rows) : graph.fp32(edge, rows, 1, x);
    const tensor_index turned = graph.fp32(edge, rows, 1, matrix, flat);
    return graph.view(turned, shape[0], shape[1], shape[2]);
  }
  constexpr tensor_index norm(tensor_index x) { return scaled(graph.in_place(x)); }
  constexpr tensor_index rows_with_output(tensor_index x) {
    return graph.fp32(hidden(), settings.outputs, 1, x, output_ids());
  }
  constexpr tensor_index handed_out(tensor_index x) {
    graph.tensors[x].kept = true;
    return rows_with_output(x);
  }
  /// Times a weight per channel.
  constexpr tensor_index scaled(tensor_index x) {
    const tensor_index made = graph.in_place(x);
    if (graph.from_host) graph.stage(made, 4 * graph.tensors[made].shape[0]);
    return made;
  }

  /// What small weights of a layer in host memory do: each is copied for its operation, which works in place.
  /// Where weights are on the device they take nothing, so they are left out.
  [[nodiscard]] static constexpr std::uint64_t vectors_of(const layer_kind& layer, module_role role,
                                                          std::uint64_t length) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < layer.weight_count; ++i) {
      const weight_group& group = layer.weights[i];
      if (group.role == role && group.kind == tensor_kind::vector && group.rows == length) {
        count += group.copies;
      }
    }
    return count;
  }
  constexpr tensor_index biased(tensor_index x, const layer_kind& layer) {
    if (!graph.from_host) return x;
    const std::uint64_t length = graph.tensors[x].shape[0];
    return vectors_of(layer, module_role::attention, length) == 0 ? x : scaled(x);
  }
  /// The norm of every head's query or key, where a layer has it.
  constexpr tensor_index head_norm(tensor_index x, const layer_kind& layer) {
    if (!graph.from_host) return x;
    const std::uint64_t length = graph.tensors[x].shape[0];
    return vectors_of(layer, module_role::norm, length) == 0 ? x : norm(x);
  }
  /// The norm behind attention or MLP, where a layer has four norms of the hidden size.
  constexpr tensor_index norm_behind(tensor_index x, const layer_kind& layer) {
    if (!graph.from_host || vectors_of(layer, module_role::norm, hidden()) < 4) return x;
    return norm(x);
  }

  /// Bytes of the result of flash attention and, behind it, of keys and values as fp16 where they are stored
  /// otherwise. Source: ggml-org/llama.cpp ggml/src/ggml-cuda/fattn.cu.
  [[nodiscard]] constexpr std::uint64_t flash_bytes(std::uint64_t result, const attention_widths& w) const {
    if (!settings.on_gpu) return result;
    const std::uint64_t copies = checked_mul(2 * settings.streams, cells(w.windowed));
    const number_format* const formats[2] = {&settings.type_k, &settings.type_v};
    const std::uint64_t widths[2] = {w.key_width, w.value_width};
    for (int i = 0; i < 2; ++i) {
      if (is_format(*formats[i], formats::fp16) || is_format(*formats[i], formats::fp32)) continue;
      result = checked_add(round_up(result, 128), checked_mul(copies, widths[i]));
    }
    return result;
  }
  /// A cache in fp32, converted as a whole.
  constexpr tensor_index as_half(std::uint64_t width, const attention_widths& w,
                                 const number_format& format) {
    if (width == 0 || !is_format(format, formats::fp32)) return 0;
    return graph.result(checked_product(2 * settings.streams, cells(w.windowed), width), 0);
  }
  /// Attention without a kernel on the GPU: query, cache and result are in host memory for a while. Values
  /// that are a part of the keys are copied with the rows that they lie in.
  constexpr void pass_through_host(const attention_widths& w, std::uint64_t result) {
    (void)mask(w.windowed);
    const std::uint64_t rows = checked_mul(settings.streams, cells(w.windowed));
    const auto stored = [&](std::uint64_t width, const number_format& format) {
      const number_format& there = is_format(format, formats::fp32) ? formats::fp16 : format;
      return checked_mul(rows, there.size_of(width).value);
    };
    const std::uint64_t keys = stored(w.key_width, settings.type_k);
    const std::uint64_t values = w.value_width != 0 ? stored(w.value_width, settings.type_v)
                                                    : keys - settings.type_k.size_of(w.key_width).value +
                                                          settings.type_k.size_of(w.value_dim).value;
    std::uint64_t all = round_up(checked_product(4, tokens(), checked_mul(w.heads, w.key_dim)), 32);
    all = checked_add(all, checked_add(round_up(keys, 32), round_up(values, 32)));
    through_host = larger(through_host, checked_add(all, round_up(result, 32)));
  }
  constexpr void stage_cache(tensor_index operation, const attention_widths& w) {
    const std::uint64_t rows = checked_mul(settings.streams, cells(w.windowed));
    const std::uint64_t key_row = settings.type_k.size_of(w.key_width).value;
    const std::uint64_t keys = checked_mul(rows, key_row);
    // Values that are a part of the keys are copied with the rows that they lie in, to the end of the last.
    graph.stage(operation, w.value_width != 0
                               ? checked_mul(rows, settings.type_v.size_of(w.value_width).value)
                               : keys - key_row + settings.type_k.size_of(w.value_dim).value);
    graph.stage(operation, keys);
  }
  /// All inputs as they lie in host memory.
  [[nodiscard]] constexpr std::uint64_t host_inputs() const {
    const tensor_index all[] = {inputs.positions,       inputs.output_ids,        inputs.key_rows[0],
                                inputs.key_rows[1],     inputs.value_rows[0],     inputs.value_rows[1],
                                inputs.masks[0],        inputs.masks[1],          inputs.key_rotation[0],
                                inputs.key_rotation[1], inputs.value_rotation[0], inputs.value_rotation[1],
                                inputs.index_rows,      inputs.index_mask,        inputs.index_rotation};
    const bool own_inputs = traits.family == graph_family::gemma3n;  // reads the token ids twice
    std::uint64_t sum = checked_mul(own_inputs ? 2 : 1, round_up(4 * settings.tokens, 32));
    for (const tensor_index at : all) sum = checked_add(sum, round_up(graph.tensors[at].bytes, 32));
    // Of which state to read there is only one copy: operations read views of it.
    return checked_add(checked_mul(sum, settings.copies), round_up(graph.tensors[inputs.states].bytes, 32));
  }
  /// Scores, softmax and the sum over values; heads × value_dim (MLA: × unpacked_dim) per token comes out.
  constexpr tensor_index scores(tensor_index query, const attention_widths& w) {
    const std::uint64_t keys = cells(w.windowed), heads = w.heads;
    tensor_index q = graph.view(query, w.key_dim, heads, tokens());
    q = graph.view(q, w.key_dim, tokens(), heads, false);
    const std::uint64_t bytes = checked_product(4, tokens(), checked_mul(heads, w.value_dim));
    const std::uint64_t last = w.unpacked_dim != 0 ? w.unpacked_dim : w.value_dim;
    tensor_index out = 0;
    if (attends_on_cpu && w.unpacked_dim == 0) {
      (void)mask(w.windowed);
      const std::uint64_t rows = checked_add(w.key_width, w.value_width);
      const std::uint64_t queries = checked_mul(heads, w.key_dim);
      const std::uint64_t products = settings.flash_attention ? 0 : checked_mul(heads, keys);
      const std::uint64_t all =
          checked_product(4, tokens(), checked_add(checked_add(rows, queries), products));
      through_host = larger(through_host, checked_add(all, bytes));
      graph.list(q);
      graph.write_elsewhere(q);
      return copied(checked_mul(heads, w.value_dim), tokens());  // from where it was computed
    } else if (settings.flash_attention) {
      const tensor_index key = as_half(w.key_width, w, settings.type_k);
      const tensor_index value = as_half(w.value_width, w, settings.type_v);
      if (settings.on_gpu && !runs_on_cuda(w, settings.type_k, settings.type_v)) {
        pass_through_host(w, bytes);
        graph.list(q);  // goes to the host, and the result comes back
        graph.list(key);
        graph.list(value);
        graph.write(q);
        if (key != 0) graph.write(key);
        if (value != 0) graph.write(value);
        out = graph.result(bytes, 0);
        graph.tensors[out].resumes = true;
        graph.list(out);
      } else {
        const tensor_index allowed = w.chosen != 0 ? sparse_mask(w.chosen) : mask(w.windowed);
        out = graph.result(flash_bytes(bytes, w), q, key, value, allowed);
        if (cache_on_host) stage_cache(out, w);
      }
      if (w.unpacked_dim != 0) {
        out = graph.view(out, w.value_dim, tokens(), heads, false);
        out = graph.fp32(last, tokens(), heads, out);
        if (graph.from_host) graph.stage_matrix(out, w.value_dim, checked_mul(last, heads));
        out = graph.view(out, last, heads, tokens(), false);
        out = graph.fp32(last, heads, tokens(), out);
      }
    } else {
      tensor_index kq = graph.fp32(keys, tokens(), heads, q);
      if (cache_on_host) stage_cache(kq, w);
      kq = graph.in_place(kq, w.chosen != 0 ? sparse_mask(w.chosen) : mask(w.windowed));
      const tensor_index turned =
          w.unpacked_dim == 0
              ? tensor_index{0}
              : graph.result(
                    settings.type_k.size_of(checked_product(settings.streams, keys, w.value_dim)).value, 0);
      out = graph.fp32(w.value_dim, tokens(), heads, turned, kq);
      if (w.unpacked_dim != 0) out = graph.fp32(last, tokens(), heads, out);
      out = graph.view(out, last, heads, tokens(), false);
      out = graph.fp32(checked_mul(heads, last), tokens(), 1, out);
    }
    out = graph.view(out, checked_mul(heads, last), tokens());
    graph.list(out);
    return out;
  }

  /// Writes rows into the cache. One in host memory is written there, so that where to is not needed here.
  constexpr void store_rows(tensor_index rows, tensor_index where) {
    cache_on_host ? graph.write_elsewhere(rows) : graph.write(rows, where);
  }
  /// Stores keys and values, then attends. `key` and `value` may be absent where another layer's are read.
  constexpr tensor_index attend(tensor_index query, tensor_index key, tensor_index value, const store& kept,
                                std::uint64_t heads, std::uint64_t key_dim, std::uint64_t value_dim,
                                std::uint64_t kv_heads) {
    const bool windowed = is_windowed(kept);
    const std::uint64_t key_edge = key_rotation_edge(traits.head_dim, settings.type_k);
    const std::uint64_t value_edge = value_rotation_edge(traits.value_dim, settings.type_v);
    query = rotated(query, inputs.key_rotation[windowed], key_edge);
    key = rotated(key, inputs.key_rotation[windowed], key_edge);
    value = rotated(value, inputs.value_rotation[windowed], value_edge);
    graph.list(query);
    graph.list(traits.windows ? key : value);
    graph.list(traits.windows ? value : key);
    const std::uint64_t key_width = checked_mul(kv_heads, key_dim);
    const std::uint64_t value_width = checked_mul(kv_heads, value_dim);
    if (key != 0) store_rows(graph.view(key, key_width, tokens()), key_rows(windowed));
    if (value != 0) {
      tensor_index row = graph.view(value, value_width, tokens());
      if (!settings.flash_attention) {
        if (value_width < traits.widest_value) row = graph.fp32(traits.widest_value, tokens(), 1, row);
        row = graph.view(row, 1, checked_mul(larger(value_width, traits.widest_value), tokens()));
      }
      store_rows(row, value_rows(windowed));
    }
    const tensor_index out = scores(query, {.windowed = windowed,
                                            .heads = heads,
                                            .key_dim = key_dim,
                                            .value_dim = value_dim,
                                            .key_width = key_width,
                                            .value_width = value_width});
    return rotated(out, inputs.value_rotation[windowed], value_edge);
  }

  constexpr tensor_index attention(tensor_index x, const layer_kind& layer, const store& kept) {
    const std::uint64_t heads = layer.num_attention_heads;
    const std::uint64_t key_dim = kept.key_dim, value_dim = kept.value_dim, kv_heads = kept.kv_heads;
    const std::uint64_t query_parts = traits.gated_queries ? 2 : 1;
    const tensor_index flat_query = biased(graph.multiply(query_parts * heads * key_dim, x), layer);
    const tensor_index flat_key = biased(graph.multiply(kv_heads * key_dim, x), layer);
    const tensor_index flat_value = biased(graph.multiply(kv_heads * value_dim, x), layer);
    tensor_index query = graph.view(flat_query, key_dim, heads, tokens(), query_parts == 1);
    tensor_index key = graph.view(flat_key, key_dim, kv_heads, tokens());
    const tensor_index value = graph.view(flat_value, value_dim, kv_heads, tokens());
    query = graph.in_place(head_norm(query, layer), positions());
    key = graph.in_place(head_norm(key, layer), positions());
    tensor_index out = attend(query, key, value, kept, heads, key_dim, value_dim, kv_heads);
    if (traits.gated_queries) {
      const tensor_index gate = graph.view(flat_query, key_dim, heads, tokens(), false);
      out = graph.in_place(out, graph.in_place(graph.fp32(heads * key_dim, tokens(), 1, gate)));
    }
    // Biases of queries, keys and values that are as long as the output's are not its own.
    const std::uint64_t others = (heads * key_dim == hidden() ? 1u : 0u) +
                                 (kv_heads * key_dim == hidden() ? 1u : 0u) +
                                 (kv_heads * value_dim == hidden() ? 1u : 0u);
    out = graph.multiply(hidden(), out);
    return vectors_of(layer, module_role::attention, hidden()) > others ? biased(out, layer) : out;
  }

  /// Tokens chosen by DeepSeek-V3.2's indexer: its scores are cells × tokens in fp32, with a mask in fp16.
  constexpr tensor_index choose_tokens(tensor_index x, tensor_index squeezed, const layer_kind& layer,
                                       const store& kept, std::uint64_t query_width) {
    const std::uint64_t dim = kept.indexer_dim, rope = smaller(dim, std::uint64_t{kept.rope_dim});
    const std::uint64_t rank = graph.tensors[squeezed].shape[0];
    const std::uint64_t heads =
        larger<std::uint64_t>(rows_of(layer, module_role::attention, rank, query_width) / dim, 1);
    const auto turned = [&](tensor_index flat, std::uint64_t count) {
      const tensor_index rotary = graph.in_place(graph.view(flat, rope, count, tokens(), false), positions());
      const tensor_index plain = graph.view(flat, dim - rope, count, tokens(), false);
      const tensor_index whole = graph.fp32(dim, count, tokens(), rotary, plain);
      return graph.fp32(dim, count, tokens(), once(inputs.index_rotation, 4 * dim * dim), whole);
    };
    const tensor_index query = turned(graph.multiply(heads * dim, squeezed), heads);
    const tensor_index key = turned(layer_norm(graph.multiply(dim, x)), 1);
    graph.write(graph.view(key, dim, tokens()), once(inputs.index_rows, 8 * tokens()));
    const tensor_index weights = graph.multiply(heads, x);
    tensor_index score = graph.fp32(settings.cells, tokens(), 1, query, weights);
    score = graph.in_place(score, once(inputs.index_mask, checked_product(2, settings.cells, tokens())));
    const std::uint64_t chosen = smaller<std::uint64_t>(settings.cells, tokens_chosen);
    return graph.fp32(chosen, tokens(), 1, graph.fp32(chosen, tokens(), 1, score));
  }
  [[nodiscard]] static constexpr bool is_sparse(const layer_kind& layer) {
    return layer.stores[0].kind == store_kind::latent && layer.stores[0].indexer_dim != 0;
  }
  /// The zeros of every layer with sparse attention: none has a source, so all of them exist from the start.
  /// Gives the first.
  constexpr tensor_index zeros_of_sparse_layers(const layer_span& span) {
    tensor_index first = 0;
    const std::uint64_t chosen = smaller<std::uint64_t>(settings.cells, tokens_chosen);
    for (std::uint32_t i = span.first; i < span.last; ++i) {
      if (!is_sparse(model.kinds[model.order[i]])) continue;
      const tensor_index zeros = graph.input(checked_product(4, chosen, tokens()), chosen, tokens());
      graph.tensors[zeros].early = true;
      if (first == 0) first = zeros;
    }
    return first;
  }
  /// A mask that is open at the chosen tokens only.
  constexpr tensor_index sparse_mask(tensor_index chosen) {
    const std::uint64_t bytes = checked_product(settings.flash_attention ? 2 : 4, settings.cells, tokens());
    const tensor_index zeros = graph.in_place(zeros_of_layer);
    const tensor_index closed = graph.result(bytes, mask(false));
    const tensor_index opened = graph.view(closed, settings.cells, tokens());
    graph.tensors[opened].sources[0] = zeros;
    graph.tensors[opened].sources[1] = chosen;
    graph.tensors[opened].sources[2] = closed;
    return graph.result(bytes, opened, mask(false));
  }
  static constexpr std::uint64_t tokens_chosen = 2048;  // indexer.top_k of DeepSeek-V3.2

  constexpr tensor_index latent_attention(tensor_index x, const layer_kind& layer, const store& kept) {
    const std::uint64_t heads = layer.num_attention_heads, query_dim = layer.query_dim;
    const std::uint64_t rank = kept.latent_rank, rope = kept.rope_dim, plain = query_dim - rope;
    const std::uint64_t full = checked_mul(heads, query_dim);
    const std::uint64_t query_rank = query_rank_of(layer, hidden(), full);
    layer_is_biased = query_rank != 0;
    const tensor_index squeezed = query_rank != 0 ? norm(graph.multiply(query_rank, x)) : x;
    tensor_index chosen = 0;
    if (kept.indexer_dim != 0) chosen = choose_tokens(x, squeezed, layer, kept, full);
    const tensor_index q = graph.multiply(full, squeezed);
    tensor_index q_plain = graph.view(q, plain, heads, tokens(), false);
    tensor_index q_rope = graph.view(q, rope, heads, tokens(), false);
    const tensor_index both = graph.multiply(rank + rope, x);
    tensor_index packed = graph.view(both, rank, tokens(), 1, false);
    tensor_index k_rope = graph.view(both, rope, 1, tokens(), false);
    q_rope = graph.in_place(q_rope, positions());
    k_rope = graph.in_place(k_rope, positions());
    packed = norm(packed);
    if (!settings.latent_as_heads) {
      q_plain = graph.view(q_plain, plain, tokens(), heads, false);
      tensor_index absorbed = graph.fp32(rank, tokens(), heads, q_plain);
      if (graph.from_host) graph.stage_matrix(absorbed, plain, checked_mul(rank, heads));
      absorbed = graph.view(absorbed, rank, heads, tokens(), false);
      const tensor_index query = graph.fp32(rank + rope, heads, tokens(), absorbed, q_rope);
      packed = graph.view(packed, rank, 1, tokens());
      const tensor_index key = graph.fp32(rank + rope, 1, tokens(), packed, k_rope);
      graph.list(query);
      graph.list(packed);
      graph.list(key);
      store_rows(graph.view(key, rank + rope, tokens()), key_rows(false));
      return graph.multiply(hidden(), scores(query, {.heads = heads,
                                                     .key_dim = rank + rope,
                                                     .value_dim = rank,
                                                     .key_width = rank + rope,
                                                     .unpacked_dim = layer.value_dim,
                                                     .chosen = chosen}));
    }
    const tensor_index kv = graph.multiply(heads * (plain + layer.value_dim), packed);
    const tensor_index k_plain = graph.view(kv, plain, heads, tokens(), false);
    tensor_index value = graph.view(kv, layer.value_dim, heads, tokens(), false);
    value = graph.fp32(layer.value_dim, heads, tokens(), value);
    const tensor_index query = graph.fp32(query_dim, heads, tokens(), q_plain, q_rope);
    const tensor_index repeated = graph.fp32(rope, heads, tokens(), k_rope);
    const tensor_index key = graph.fp32(query_dim, heads, tokens(), k_plain, repeated);
    return graph.multiply(hidden(),
                          attend(query, key, value, kept, heads, query_dim, layer.value_dim, heads));
  }

  /// The states of sequences outside the batch: none while buffers are sized, but the empty tensors count.
  constexpr void other_states() { graph.write(graph.result(0, more_states())); }
  constexpr void store_states(tensor_index states) {
    cache_on_host ? graph.write_elsewhere(states) : graph.write(states);
  }
  /// The states of the sequences of the batch.
  constexpr tensor_index read_states(std::uint64_t elements) {
    if (cache_on_host) {
      (void)states();  // read there
      return copied(elements, sequences());
    }
    const tensor_index found = graph.fp32(elements, sequences(), 1, states());
    graph.list(found);
    other_states();
    return found;
  }
  [[nodiscard]] constexpr std::uint64_t steps_of_sequence() const { return tokens() / sequences(); }

  /// The last inputs of a causal convolution before those of the batch; what is last of both is stored.
  constexpr tensor_index convolution_input(tensor_index kept, tensor_index x, std::uint64_t channels,
                                           std::uint64_t kernel) {
    const std::uint64_t taps = larger<std::uint64_t>(kernel, 1) - 1;
    const tensor_index before =
        graph.tensors[kept].staged ? kept : graph.view(kept, taps, channels, sequences());
    const tensor_index turned = graph.view(x, steps_of_sequence(), channels, sequences(), false);
    const tensor_index all = graph.fp32(taps + steps_of_sequence(), channels, sequences(), before, turned);
    for (std::uint64_t i = 0; i <= settings.snapshots; ++i) {
      store_states(graph.view(all, taps, channels, sequences(), false));
    }
    return all;
  }

  constexpr tensor_index short_convolution(tensor_index x, const store& kept) {
    const std::uint64_t d = kept.inner_size, taps = kept.conv_kernel - 1u;
    const std::uint64_t steps = steps_of_sequence(), rows = sequences();
    const tensor_index all = graph.multiply(3 * d, graph.view(x, hidden(), steps, rows));
    const tensor_index b = graph.view(all, d, steps, rows, false);
    const tensor_index c = graph.view(all, d, steps, rows, false);
    const tensor_index input = graph.view(all, d, steps, rows, false);
    const tensor_index product = graph.in_place(b, input);
    const tensor_index states_before = read_states(taps * d);
    const tensor_index joined = convolution_input(states_before, product, d, kept.conv_kernel);
    const tensor_index mixed = graph.fp32(d, steps, rows, joined);
    if (graph.from_host) graph.stage(mixed, checked_product(4, kept.conv_kernel, d));
    const tensor_index out = graph.in_place(c, mixed);
    return graph.view(graph.multiply(hidden(), out), hidden(), tokens());
  }

  constexpr tensor_index mamba1(tensor_index x, const layer_kind& layer, const store& kept) {
    const std::uint64_t inner = kept.inner_size, state = kept.state_size;
    const std::uint64_t steps = steps_of_sequence(), rows = sequences();
    const std::uint64_t projected =
        larger(rows_of(layer, module_role::mixer, inner, hidden()), 2 * state + 1);
    const tensor_index before = read_states((kept.conv_kernel - 1u) * inner);
    const tensor_index both = graph.multiply(2 * inner, graph.view(x, hidden(), steps, rows));
    const tensor_index input = graph.view(both, inner, steps, rows, false);
    const tensor_index gate = graph.view(both, inner, steps, rows, false);
    const tensor_index joined = convolution_input(before, input, inner, kept.conv_kernel);
    const tensor_index mixed = graph.in_place(graph.in_place(graph.fp32(inner, steps, rows, joined)));
    const tensor_index parts = graph.multiply(projected, mixed);
    const tensor_index rank = graph.view(parts, projected - 2 * state, steps, rows, false);
    const tensor_index b = graph.view(parts, state, steps, rows, false);
    const tensor_index c = graph.view(parts, state, steps, rows, false);
    const tensor_index step_sizes = graph.in_place(graph.multiply(inner, rank));
    const tensor_index heads = graph.view(mixed, 1, inner, tokens());
    return scanned(mixed, heads, step_sizes, b, c, gate, inner, checked_mul(state, inner));
  }
  /// The scan over the states, the skip connection and the gate.
  constexpr tensor_index scanned(tensor_index mixed, tensor_index heads, tensor_index step_sizes,
                                 tensor_index b, tensor_index c, tensor_index gate, std::uint64_t inner,
                                 std::uint64_t state_elements) {
    const std::uint64_t steps = steps_of_sequence(), rows = sequences();
    const tensor_index scan =
        graph.fp32(1, checked_add(checked_mul(inner, tokens()), checked_mul(state_elements, rows)), 1, heads,
                   step_sizes, b, c);
    graph.tensors[scan].sources[4] = states();
    graph.list(scan);
    other_states();
    store_states(graph.view(scan, state_elements, rows));
    const graph_tensor& like = graph.tensors[mixed];
    const tensor_index y = graph.view(scan, like.shape[0], like.shape[1], like.shape[2]);
    const tensor_index skip = graph.in_place(mixed);
    tensor_index out = graph.in_place(y, skip);
    const tensor_index opened = graph.fp32(inner, steps, rows, gate);
    out = graph.fp32(inner, steps, rows, opened, out);
    return graph.view(graph.multiply(hidden(), out), hidden(), tokens());
  }

  constexpr tensor_index mamba2(tensor_index x, const store& kept) {
    const std::uint64_t inner = kept.inner_size, state = kept.state_size, heads = kept.state_heads;
    const std::uint64_t groups = kept.state_groups, channels = inner + 2 * groups * state;
    const std::uint64_t steps = steps_of_sequence(), rows = sequences();
    const tensor_index before = read_states((kept.conv_kernel - 1u) * channels);
    const tensor_index all = graph.multiply(inner + channels + heads, graph.view(x, hidden(), steps, rows));
    const tensor_index gate = graph.view(all, inner, steps, rows, false);
    const tensor_index input = graph.view(all, channels, steps, rows, false);
    const tensor_index raw_steps = graph.view(all, heads, steps, rows, false);
    const tensor_index joined = convolution_input(before, input, channels, kept.conv_kernel);
    const tensor_index mixed = graph.in_place(graph.in_place(graph.fp32(channels, steps, rows, joined)));
    const tensor_index values = graph.view(mixed, kept.state_head_dim, heads, tokens(), false);
    const tensor_index b = graph.view(mixed, state, groups, tokens(), false);
    const tensor_index c = graph.view(mixed, state, groups, tokens(), false);
    const tensor_index step_sizes = graph.in_place(graph.fp32(heads, steps, rows, raw_steps));
    return scanned(values, values, step_sizes, b, c, gate, inner, checked_mul(state, inner));
  }

  /// Queries, keys and values by a convolution, then the gated delta rule as one operation.
  constexpr tensor_index delta_net(tensor_index x, const store& kept) {
    const std::uint64_t value_heads = kept.state_heads, value_dim = kept.state_head_dim;
    const std::uint64_t key_heads = kept.state_key_heads, key_dim = kept.state_key_dim;
    const std::uint64_t keys = key_heads * key_dim, values = value_heads * value_dim;
    const std::uint64_t channels = 2 * keys + values, steps = steps_of_sequence(), rows = sequences();
    const std::uint64_t state_elements = checked_mul(values, key_dim);
    const tensor_index mixed = graph.view(graph.multiply(channels, x), channels, steps, rows);
    const tensor_index z = graph.multiply(values, x);
    const tensor_index both = graph.multiply(2 * value_heads, x);
    const tensor_index raw_beta = graph.view(both, value_heads, tokens(), 1, false);
    const tensor_index raw_alpha = graph.view(both, value_heads, tokens(), 1, false);
    tensor_index beta = graph.in_place(graph.fp32(value_heads, tokens(), 1, raw_beta));
    tensor_index decay = graph.fp32(value_heads, tokens(), 1, raw_alpha);
    decay = graph.in_place(graph.in_place(graph.in_place(decay)));
    beta = graph.view(beta, 1, value_heads, tokens());
    decay = graph.view(decay, 1, value_heads, tokens());
    const tensor_index before = read_states((kept.conv_kernel - 1u) * channels);
    const tensor_index joined = convolution_input(before, mixed, channels, kept.conv_kernel);
    const tensor_index state =
        graph.view(read_states(state_elements), value_dim, key_dim, value_heads * rows);
    const tensor_index convolved = graph.in_place(graph.fp32(channels, steps, rows, joined));
    tensor_index q =
        graph.fp32(key_dim, key_heads, tokens(), graph.view(convolved, key_dim, key_heads, tokens(), false));
    tensor_index k =
        graph.fp32(key_dim, key_heads, tokens(), graph.view(convolved, key_dim, key_heads, tokens(), false));
    const tensor_index v = graph.view(convolved, value_dim, value_heads, tokens(), false);
    if (key_heads != value_heads) {
      q = graph.fp32(key_dim, value_heads, tokens(), q);
      k = graph.fp32(key_dim, value_heads, tokens(), k);
    }
    const std::uint64_t kept_states = checked_mul(settings.snapshots + 1, checked_mul(state_elements, rows));
    const tensor_index scan =
        graph.fp32(1, checked_add(checked_mul(values, tokens()), kept_states), 1, q, k, v, decay);
    graph.tensors[scan].sources[4] = beta;
    graph.tensors[scan].sources[5] = state;
    const tensor_index output = graph.view(scan, value_dim, value_heads, tokens());
    store_states(graph.view(scan, state_elements, rows));
    const tensor_index normed = norm(output);
    const tensor_index opened = graph.in_place(graph.view(z, value_dim, value_heads, tokens()));
    const tensor_index out = graph.view(graph.in_place(normed, opened), values, tokens());
    return graph.view(graph.multiply(hidden(), out), hidden(), tokens());
  }

  constexpr tensor_index layer_norm(tensor_index x) {  // not done in place
    const graph_tensor& like = graph.tensors[x];
    return graph.in_place(graph.in_place(graph.fp32(like.shape[0], like.shape[1], like.shape[2], x)));
  }

  constexpr tensor_index rwkv7(tensor_index x, const layer_kind& kind, const store& kept, bool last) {
    const std::uint64_t d = hidden(), heads = kept.state_heads, size = kept.state_head_dim;
    const std::uint64_t steps = steps_of_sequence(), rows = sequences(), all = tokens();
    const tensor_index input = graph.view(x, d, steps, rows);
    const tensor_index shift = graph.view(read_states(2 * d), d, 2, rows);
    const tensor_index attention_shift = graph.view(shift, d, 1, rows, false);
    const tensor_index mlp_shift = graph.view(shift, d, 1, rows, false);
    const tensor_index normed = layer_norm(input);
    tensor_index previous =
        graph.fp32(d, steps, rows, attention_shift, graph.view(normed, d, steps - 1, rows, false));
    // Six mixtures of every token with the one before it.
    tensor_index difference = graph.in_place(previous, normed);
    tensor_index mixtures = graph.fp32(d, all, 6, difference);
    mixtures = graph.in_place(graph.in_place(mixtures), normed);
    const auto mixture = [&] { return graph.view(mixtures, d, all); };
    const std::uint64_t decay_rank = low_rank_width(d, 1.8), value_rank = low_rank_width(d, 1.3);
    const tensor_index xr = mixture(), xw = mixture(), xk = mixture(), xv = mixture(), xa = mixture(),
                       xg = mixture();
    tensor_index r = graph.multiply(d, xr);
    const tensor_index w = graph.in_place(graph.multiply(d, graph.in_place(graph.multiply(decay_rank, xw))));
    tensor_index k = graph.multiply(d, xk);
    tensor_index v = graph.multiply(d, xv);
    if (first_value == 0) {
      first_value = v;
    } else {
      const tensor_index missing = graph.in_place(first_value, v);
      const tensor_index share =
          graph.in_place(graph.in_place(graph.multiply(d, graph.multiply(value_rank, xv))));
      v = graph.in_place(v, graph.in_place(missing, share));
    }
    const tensor_index gate = graph.multiply(d, graph.in_place(graph.multiply(gate_rank_width(d), xg)));
    tensor_index a = graph.in_place(graph.in_place(graph.multiply(d, graph.multiply(decay_rank, xa))));
    tensor_index kk = graph.view(graph.in_place(k), size, heads, all);
    kk = graph.fp32(size, heads, all, kk);
    const tensor_index ka = graph.in_place(k);
    k = graph.in_place(k, graph.in_place(graph.in_place(a, ka), ka));
    r = graph.view(r, size, heads, all);
    k = graph.view(k, size, heads, all);
    a = graph.view(a, size, heads, all);
    const std::uint64_t state_elements = checked_mul(d, size);
    const tensor_index state = read_states(state_elements);
    const tensor_index negative = graph.in_place(kk);
    const tensor_index product = graph.in_place(kk, a);
    const tensor_index scan =
        graph.fp32(1, checked_add(checked_mul(d, all), checked_mul(state_elements, rows)), 1, r, w, k, v);
    graph.tensors[scan].sources[4] = negative;
    graph.tensors[scan].sources[5] = product;
    graph.tensors[scan].sources[6] = state;
    tensor_index out = graph.view(scan, d, all);
    store_states(graph.view(scan, state_elements, rows));
    out = graph.fp32(size, heads, all, graph.view(out, size, heads, all));
    out = graph.in_place(graph.in_place(graph.view(out, d, all)));
    const tensor_index sum = graph.fp32(1, heads, all, graph.in_place(graph.in_place(k, r)));
    const tensor_index weighted = graph.in_place(graph.view(v, size, heads, all), sum);
    out = graph.in_place(out, graph.view(weighted, d, all));
    out = graph.multiply(d, graph.in_place(out, gate));
    const tensor_index middle = graph.in_place(graph.view(out, d, steps, rows), input);
    const tensor_index second = layer_norm(middle);
    previous = graph.fp32(d, steps, rows, mlp_shift, graph.view(second, d, steps - 1, rows, false));
    store_states(graph.view(
        graph.fp32(d, 2, rows, graph.view(normed, d, 1, rows, false), graph.view(second, d, 1, rows, false)),
        2 * d, rows));
    tensor_index residual = graph.view(middle, d, all), mlp = graph.view(second, d, all);
    previous = graph.view(previous, d, all);
    if (last) {
      residual = rows_with_output(residual);
      mlp = rows_with_output(mlp);
      previous = rows_with_output(previous);
    }
    mlp = graph.in_place(graph.in_place(graph.in_place(previous, mlp)), mlp);
    mlp = graph.in_place(graph.in_place(graph.multiply(kind.intermediate_size, mlp)));
    return graph.in_place(graph.multiply(d, mlp), residual);
  }

  constexpr tensor_index gated(tensor_index x, std::uint64_t width, bool gate) {
    const tensor_index up = graph.multiply(width, x);
    if (!gate) return graph.multiply(hidden(), graph.in_place(up));
    const tensor_index opened = graph.multiply(width, x);
    const std::uint64_t rows = graph.tensors[x].shape[1];
    return graph.multiply(hidden(), graph.fp32(width, rows, 1, opened, up));
  }

  constexpr tensor_index experts(tensor_index x, tensor_index residual, const layer_kind& layer) {
    const std::uint64_t all = layer.num_experts, used = layer.num_experts_per_tok, d = hidden();
    const std::uint64_t rows = graph.tensors[x].shape[1];
    const bool late_softmax = traits.family == graph_family::gpt_oss;
    const bool biased = traits.family == graph_family::deepseek && layer_is_biased;
    const bool normed = !late_softmax && (traits.family != graph_family::deepseek || biased);
    tensor_index probabilities = graph.fp32(all, rows, 1, x);  // routers are kept in fp32
    if (graph.from_host) graph.stage(probabilities, checked_product(4, all, d));
    if (late_softmax && graph.from_host) probabilities = scaled(probabilities);
    if (!late_softmax) probabilities = graph.in_place(probabilities);
    const tensor_index choice = biased ? scaled(probabilities) : probabilities;
    const tensor_index sorted = graph.fp32(all, rows, 1, choice);
    const tensor_index selected = graph.view(sorted, used, rows, 1, false);
    const tensor_index each = graph.view(probabilities, 1, all, rows);
    tensor_index weights = graph.fp32(1, used, rows, each, selected);
    if (late_softmax) weights = graph.view(graph.in_place(graph.view(weights, used, rows)), 1, used, rows);
    if (normed) {
      weights = graph.view(weights, used, rows);
      const tensor_index sum = graph.in_place(graph.fp32(1, rows, 1, weights));
      weights = graph.in_place(weights, sum);
      weights = graph.view(weights, 1, used, rows);
    }
    if (biased) weights = graph.in_place(weights);
    graph.list(weights);
    const tensor_index input = graph.view(x, d, 1, rows);
    tensor_index total = 0;
    if (experts_on_first_gpu(layer)) {
      graph.write(input);
      graph.write(selected);
      graph.write(weights);
      if (layer.intermediate_size == 0) graph.write(residual);
      total = graph.fp32(d, rows, 1, 0);
      graph.tensors[total].resumes = true;
    } else {
      total = sum_of_experts(input, selected, weights, layer);
    }
    graph.list(total);
    if (layer.intermediate_size == 0) return total;
    tensor_index shared = gated(x, layer.intermediate_size, layer.gated_mlp);
    if (traits.gated_queries) shared = graph.in_place(shared, graph.in_place(graph.multiply(1, x)));
    return graph.in_place(total, shared);
  }
  /// What has its weights in host memory runs on the first GPU; without op offload, on the CPU.
  [[nodiscard]] constexpr bool experts_on_first_gpu(const layer_kind& layer) const {
    const bool elsewhere = settings.on_gpu && settings.host_experts && !experts_here;
    return elsewhere && settings.op_offload && layer.num_experts != 0;
  }
  [[nodiscard]] constexpr bool comes_with_residual(const layer_kind& layer) const {
    return experts_on_first_gpu(layer) && layer.intermediate_size == 0;
  }
  /// The matrices of the chosen experts, their weights and the sum over a token's experts.
  constexpr tensor_index sum_of_experts(tensor_index input, tensor_index selected, tensor_index weights,
                                        const layer_kind& layer) {
    const std::uint64_t all = layer.num_experts, used = layer.num_experts_per_tok, d = hidden();
    const std::uint64_t rows = graph.tensors[selected].shape[1], width = layer.moe_intermediate_size;
    const bool on_host = graph.from_host || (settings.on_gpu && settings.host_experts);
    const auto stage = [&](tensor_index operation, std::uint64_t from, std::uint64_t to) {
      if (on_host) graph.stage_matrix(operation, from, checked_mul(to, all));
    };
    tensor_index out = 0;
    if (on_host && !experts_here) {  // run on the CPU, and their results come back
      graph.write(input);
      graph.write(selected);
      out = graph.fp32(d, used, rows, 0);
      graph.tensors[out].resumes = true;
    } else {
      const bool added = on_host && traits.family == graph_family::gpt_oss;
      const auto biased = [&](tensor_index of, std::uint64_t length) {  // chosen like the matrices
        if (!added) return of;
        const tensor_index sum = graph.in_place(of, selected);
        graph.stage(sum, checked_product(4, all, length));
        return sum;
      };
      tensor_index up = graph.fp32(width, used, rows, input, selected);
      stage(up, d, width);
      up = biased(up, width);
      tensor_index gate = graph.fp32(width, used, rows, input, selected);
      stage(gate, d, width);
      gate = biased(gate, width);
      const tensor_index product = graph.fp32(width, used, rows, gate, up);
      out = graph.fp32(d, used, rows, product, selected);
      stage(out, width, d);
      out = biased(out, d);
    }
    out = graph.in_place(out, weights);
    graph.list(out);
    const tensor_index first = graph.view(out, d, rows, 1, used == 1);
    graph.list(first);
    return graph.fp32(d, rows, 1, first);  // the first sum, which takes in all the others
  }
  /// Experts of another GPU's layer. Tokens, choice and weights come here; what goes back is the sum, with
  /// the residual where no shared experts come between them.
  constexpr void guest_experts(const layer_kind& layer, std::uint64_t rows) {
    if (layer.num_experts == 0) return;
    const std::uint64_t used = layer.num_experts_per_tok, d = hidden();
    const tensor_index input = copied(d, rows), selected = copied(used, rows), weights = copied(used, rows);
    // Of the sorted experts the chosen ones are copied with the rows that they lie in.
    graph.tensors[selected].bytes =
        checked_mul(4, checked_add(checked_mul(rows - 1, layer.num_experts), used));
    tensor_index total = sum_of_experts(input, selected, weights, layer);
    if (layer.intermediate_size == 0) total = graph.in_place(total, copied(d, rows));
    graph.write(total);
  }

  constexpr tensor_index feed_forward(tensor_index x, tensor_index residual, const layer_kind& layer) {
    return layer.num_experts != 0 ? experts(x, residual, layer)
                                  : gated(x, layer.intermediate_size, layer.gated_mlp);
  }

  /// One layer; of the last one, only the rows that have an output go on after attention.
  constexpr tensor_index layer(tensor_index x, tensor_index twin, const layer_kind& kind, bool last) {
    for (std::size_t i = 0; i < kind.store_count; ++i) {
      if (kind.stores[i].state == state_kind::rwkv) return rwkv7(x, kind, kind.stores[i], last);
    }
    tensor_index residual = x;
    tensor_index out = scaled(twin != 0 ? twin : graph.in_place(x));
    if (traits.gated_queries) graph.list(out);
    const bool reversed = traits.convolutions;
    const tensor_index normed = out;
    for (std::size_t i = 0; i < kind.store_count; ++i) {
      const store& kept = kind.stores[i];
      tensor_index mixed = 0;
      if (attends(kept)) mixed = attention(normed, kind, kept);
      if (kept.kind == store_kind::latent) mixed = latent_attention(normed, kind, kept);
      if (kept.state == state_kind::mamba1) mixed = mamba1(normed, kind, kept);
      if (kept.state == state_kind::mamba2) mixed = mamba2(normed, kept);
      if (kept.state == state_kind::short_convolution) mixed = short_convolution(normed, kept);
      if (kept.state == state_kind::gated_delta_net || kept.state == state_kind::kimi_delta)
        mixed = delta_net(normed, kept);
      if (mixed == 0) continue;
      out = out == normed ? mixed : graph.in_place(out, mixed);
    }
    if (last && !traits.hidden_states_out) {
      out = rows_with_output(out);
      residual = rows_with_output(residual);
    }
    if (out == normed && kind.num_attention_heads == 0) {  // no mixer: the norm is the one before the MLP
      out = feed_forward(out, residual, kind);
      return comes_with_residual(kind) ? out : graph.in_place(out, residual);
    }
    out = norm_behind(out, kind);
    const tensor_index middle = reversed ? graph.in_place(residual, out) : graph.in_place(out, residual);
    if (kind.intermediate_size == 0 && kind.num_experts == 0) return middle;
    out = norm_behind(feed_forward(norm(middle), middle, kind), kind);
    if (comes_with_residual(kind)) return out;
    return reversed ? graph.in_place(middle, out) : graph.in_place(out, middle);
  }

  // Gemma 3n: four streams, of which one goes through the layers, and an input of its own for every layer.
  static constexpr std::uint64_t streams_of_gemma3n = 4;
  static constexpr std::uint64_t laurel_rank = 64;
  static constexpr std::uint64_t layer_input_dim = 256;
  static constexpr std::uint32_t sparse_layers = 10;
  tensor_index layer_inputs = 0;

  constexpr tensor_index magnitude(tensor_index x) {
    const graph_tensor& like = graph.tensors[x];
    const std::uint64_t rows = like.shape[1], planes = like.shape[2];
    return graph.in_place(graph.fp32(1, rows, planes, graph.in_place(x)));
  }
  /// Other streams, made as long as the first.
  constexpr tensor_index lengthened(tensor_index others, tensor_index target) {
    const tensor_index scaled_others = graph.in_place(others, target);
    return graph.in_place(scaled_others, magnitude(others));
  }
  constexpr tensor_index router_of_streams(tensor_index x, std::uint64_t columns) {
    const tensor_index chosen = graph.in_place(graph.multiply(streams_of_gemma3n, graph.in_place(norm(x))));
    return graph.multiply(columns, chosen);
  }
  /// The streams, from the embeddings; `looked_up` are the inputs of all layers as rows.
  constexpr tensor_index open_gemma3n(tensor_index embeddings, tensor_index looked_up) {
    const std::uint64_t d = hidden(), width = layer_input_dim * model.num_hidden_layers;
    const tensor_index x = graph.in_place(embeddings);
    const tensor_index given = graph.in_place(looked_up);
    graph.list(given);
    tensor_index projected = graph.in_place(graph.multiply(width, x));
    projected = norm(graph.view(projected, layer_input_dim, model.num_hidden_layers, tokens()));
    projected = graph.in_place(
        graph.in_place(projected, graph.view(given, layer_input_dim, model.num_hidden_layers, tokens())));
    projected = graph.view(projected, layer_input_dim, tokens(), model.num_hidden_layers, false);
    layer_inputs = graph.fp32(layer_input_dim, tokens(), model.num_hidden_layers, projected);
    const std::uint64_t others = streams_of_gemma3n - 1;
    const tensor_index target = magnitude(x);
    const tensor_index more = graph.fp32(d, tokens(), others, graph.fp32(d, tokens(), others, x));
    return graph.fp32(d, tokens(), streams_of_gemma3n, x, lengthened(more, target));
  }
  constexpr tensor_index gemma3n_layer(tensor_index x, const layer_kind& kind, std::uint32_t index) {
    constexpr std::uint64_t all = streams_of_gemma3n;
    const std::uint64_t d = hidden(), rows = tokens();
    const tensor_index coefficients = router_of_streams(graph.view(x, d, rows), all * all);
    const tensor_index turned = graph.fp32(all, d, rows, graph.view(x, all, d, rows, false));
    tensor_index predicted = graph.fp32(all, d, rows, turned, graph.view(coefficients, all, all, rows));
    predicted = graph.fp32(d, rows, all, graph.view(predicted, d, rows, all, false));
    predicted = graph.in_place(predicted, x);
    const tensor_index active = graph.view(predicted, d, rows);
    const tensor_index normed = norm(active);
    const tensor_index low = graph.multiply(d, graph.multiply(laurel_rank, normed));
    const tensor_index laurel = graph.in_place(norm(low), normed);
    store kept = kind.stores[0];
    tensor_index mixed = 0;
    if (kept.kind == store_kind::shared) {
      if (index % 5 != 4) kept.kind = store_kind::sliding_window;
      const std::uint64_t heads = kind.num_attention_heads, dim = kind.query_dim;
      tensor_index query = norm(graph.view(graph.multiply(heads * dim, normed), dim, heads, rows));
      query = graph.in_place(query, positions());
      mixed = attend(query, 0, 0, kept, heads, dim, dim, larger<std::uint32_t>(kind.key_value_heads, 1));
      mixed = graph.multiply(d, mixed);
    } else {
      mixed = attention(normed, kind, kept);
    }
    mixed = graph.in_place(norm(mixed), active);
    const tensor_index middle = graph.in_place(graph.in_place(mixed, laurel));
    const tensor_index input = norm(middle);
    const tensor_index up = graph.multiply(kind.intermediate_size, input);
    tensor_index gate = graph.multiply(kind.intermediate_size, input);
    if (index < sparse_layers) {
      const tensor_index mean = graph.fp32(1, rows, 1, gate);
      const tensor_index squares = graph.in_place(graph.in_place(gate, mean));
      const tensor_index deviation = graph.in_place(graph.in_place(graph.fp32(1, rows, 1, squares)));
      gate = graph.in_place(graph.in_place(gate, graph.in_place(mean, graph.in_place(deviation))));
    }
    gate = graph.in_place(gate);
    const tensor_index down = graph.multiply(d, graph.in_place(up, gate));
    const tensor_index activated = graph.in_place(norm(down), middle);
    const tensor_index innovation = graph.in_place(activated, graph.view(predicted, d, rows));
    const tensor_index repeated = graph.fp32(d, rows, all, innovation);
    tensor_index corrections = graph.in_place(router_of_streams(activated, all));
    corrections = graph.fp32(1, rows, all, graph.view(corrections, rows, all, 1, false));
    const tensor_index corrected = graph.in_place(graph.in_place(repeated, corrections), predicted);
    tensor_index first = graph.in_place(graph.view(corrected, d, rows));
    first = graph.in_place(graph.multiply(layer_input_dim, first));
    first = graph.in_place(first, graph.view(layer_inputs, layer_input_dim, rows));
    first = norm(graph.multiply(d, first));
    const tensor_index rest = graph.in_place(graph.view(corrected, d, rows, all - 1), first);
    return graph.fp32(d, rows, all, graph.view(corrected, d, rows), rest);
  }
  constexpr tensor_index close_gemma3n(tensor_index x) {
    const std::uint64_t d = hidden(), rows = tokens(), others = streams_of_gemma3n - 1;
    const tensor_index target = magnitude(graph.view(x, d, rows));
    const tensor_index unembedded = graph.fp32(d, rows, others, graph.view(x, d, rows, others));
    const tensor_index long_enough = lengthened(unembedded, target);
    tensor_index sum = graph.view(x, d, rows);
    for (std::uint64_t i = 0; i < others; ++i) sum = graph.in_place(sum, graph.view(long_enough, d, rows));
    return rows_with_output(graph.in_place(sum));
  }
};

}  // namespace detail

}  // namespace kvbudget::inline v0
