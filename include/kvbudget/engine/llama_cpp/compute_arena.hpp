#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/checked.hpp"
#include "kvbudget/engine/llama_cpp/cache.hpp"
#include "kvbudget/format/formats.hpp"

/// How ggml lays the tensors of one graph out in one buffer. The rules (best fit, reuse in place, the order
/// of freeing) are read from ggml-org/llama.cpp ggml/src/ggml-alloc.c and ggml-backend.cpp.
namespace kvbudget::inline v0::detail {

[[noreturn]] inline void a_compute_graph_has_too_many_tensors(std::uint64_t limit) {
  raise("llama.cpp: a compute graph of more than # tensors", limit);
}
[[noreturn]] inline void a_compute_buffer_is_too_fragmented(std::uint64_t limit) {
  raise("llama.cpp: a compute buffer with more than # holes", limit);
}

inline constexpr std::size_t max_graph_tensors = 4096;  ///< while equal layers are left out
inline constexpr std::size_t max_whole_graph_tensors = 8192;
inline constexpr std::size_t max_layer_ends = 64;
inline constexpr std::size_t max_free_blocks = 256;
inline constexpr std::size_t max_graph_inputs = 32;

/// Index of a tensor in its graph; 0 = weights and caches, which live elsewhere.
using tensor_index = std::uint16_t;

/// What a tensor is to the allocator.
enum class tensor_role : std::uint8_t {
  result,    ///< a new tensor
  in_place,  ///< may take over the memory of a source of the same layout that nobody else reads
  view,      ///< shares the memory of `root`
  write,     ///< writes into a cache: no memory of its own
  input      ///< comes from outside this buffer, before the first operation
};

struct graph_tensor {
  std::uint64_t bytes;
  std::uint64_t offset;
  std::uint64_t shape[3];   ///< fastest dimension first
  tensor_index sources[7];  ///< up to the first 0
  tensor_index root;        ///< views: the tensor that owns the memory
  tensor_index readers;
  tensor_index views;
  tensor_role role;
  bool dense;    ///< elements follow each other without gaps
  bool kept;     ///< an output: never freed, never overwritten
  bool listed;   ///< is in the order of execution
  bool held;     ///< has memory now
  bool resumes;  ///< first operation here after one on another device, or after a weight was dropped; a write
                 ///< to another device, behind which the next operation is the first
  bool staged;   ///< a weight or cache from host memory, here for one operation
  bool early;    ///< has memory before the first operation: what a graph makes without a source
};
/// A tensor of one element that nobody reads. Room for thousands is not worth clearing before it is used.
[[nodiscard]] constexpr graph_tensor blank_tensor() {
  graph_tensor made{};
  for (std::uint64_t& side : made.shape) side = 1;
  made.dense = true;
  return made;
}

/// Free space of a buffer without end: best fit among the holes, else its end.
struct compute_arena {
  struct block {
    std::uint64_t offset;
    std::uint64_t size;
  };
  block free[max_free_blocks];  ///< of which `count` are there
  std::size_t count = 1;
  std::uint64_t alignment = 128;
  std::uint64_t peak = 0;

  constexpr compute_arena() { free[0] = {0, UINT64_MAX / 2}; }  // NOLINT: the others are not read
  [[nodiscard]] constexpr std::uint64_t padded(std::uint64_t size) const { return round_up(size, alignment); }
  constexpr void remove(std::size_t at) {
    for (; at + 1 < count; ++at) free[at] = free[at + 1];
    --count;
  }
  constexpr std::uint64_t take(std::uint64_t size) {
    size = padded(size);
    std::size_t best = count - 1;
    std::uint64_t smallest = UINT64_MAX;
    for (std::size_t i = 0; i + 1 < count; ++i) {
      if (free[i].size >= size && free[i].size <= smallest) {
        best = i;
        smallest = free[i].size;
      }
    }
    const std::uint64_t offset = free[best].offset;
    free[best].offset += size;
    free[best].size -= size;
    if (free[best].size == 0) remove(best);
    peak = larger(peak, offset + size);
    return offset;
  }
  /// The first block that touches the freed space takes it in, and merges with one neighbour at most: empty
  /// tensors leave seams.
  constexpr void give(std::uint64_t offset, std::uint64_t size) {
    size = padded(size);
    for (std::size_t i = 0; i < count; ++i) {
      if (free[i].offset + free[i].size == offset) {
        free[i].size += size;
        return merge(i);
      }
      if (offset + size == free[i].offset) {
        free[i].offset = offset;
        free[i].size += size;
        return i > 0 ? merge(i - 1) : void();
      }
    }
    if (count == max_free_blocks) a_compute_buffer_is_too_fragmented(max_free_blocks);
    std::size_t at = count;
    for (; at > 0 && free[at - 1].offset >= offset; --at) free[at] = free[at - 1];
    free[at] = {offset, size};
    ++count;
  }
  constexpr void merge(std::size_t at) {
    if (at + 1 >= count || free[at].offset + free[at].size != free[at + 1].offset) return;
    free[at].size += free[at + 1].size;
    remove(at + 1);
  }
};

/// Room for the tensors of a graph, not cleared before use.
template <std::size_t Tensors> struct graph_room {
  graph_tensor tensors[Tensors];
  tensor_index order[Tensors];
  constexpr graph_room() {}  // NOLINT: what was not written is not read
};

/// How far the graph was written when a layer ended, and how its buffer was laid out then.
struct layer_end {
  std::size_t steps;
  std::size_t count;
  std::uint64_t layout;
};

/// The part of a graph that runs in one buffer.
struct compute_graph {
  graph_tensor* tensors;  ///< of which `count` are there
  tensor_index* order;
  std::size_t capacity;
  tensor_index inputs[max_graph_inputs];  ///< in the order in which the graph meets them
  layer_end ends[max_layer_ends];
  std::size_t count = 1;
  std::size_t steps = 0;
  std::size_t input_count = 0;
  std::size_t end_count = 0;
  bool from_host = false;                     ///< the matrices of what is written now are in host memory
  number_format host_format = formats::fp16;  ///< and stored like this

  template <std::size_t Tensors>
  constexpr explicit compute_graph(graph_room<Tensors>& room)  // NOLINT: the others are not read
      : tensors(room.tensors), order(room.order), capacity(Tensors) {
    tensors[0] = blank_tensor();
  }
  constexpr tensor_index add(const graph_tensor& tensor) {
    if (count == capacity) a_compute_graph_has_too_many_tensors(capacity);
    tensors[count] = tensor;
    return static_cast<tensor_index>(count++);
  }
  constexpr tensor_index input(std::uint64_t bytes, std::uint64_t columns = 1, std::uint64_t rows = 1) {
    graph_tensor made = blank_tensor();
    made.bytes = bytes;
    made.shape[0] = columns;
    made.shape[1] = rows;
    made.role = tensor_role::input;
    return add(made);
  }
  /// A new tensor of `bytes`; its shape matters only where something may be done in its place.
  constexpr tensor_index result(std::uint64_t bytes, tensor_index first, tensor_index second = 0,
                                tensor_index third = 0, tensor_index fourth = 0) {
    graph_tensor made = blank_tensor();
    made.bytes = bytes;
    made.shape[0] = bytes;
    tensor_index* next = made.sources;
    if (first != 0) *next++ = first;
    if (second != 0) *next++ = second;
    if (third != 0) *next++ = third;
    if (fourth != 0) *next++ = fourth;
    return add(made);
  }
  /// A new fp32 tensor of columns × rows × planes.
  constexpr tensor_index fp32(std::uint64_t columns, std::uint64_t rows, std::uint64_t planes,
                              tensor_index first, tensor_index second = 0, tensor_index third = 0,
                              tensor_index fourth = 0) {
    const tensor_index made =
        result(checked_mul(4, checked_product(columns, rows, planes)), first, second, third, fourth);
    tensors[made].shape[0] = columns;
    tensors[made].shape[1] = rows;
    tensors[made].shape[2] = planes;
    return made;
  }
  /// A matrix of `columns` outputs applied to every row of `source`.
  constexpr tensor_index multiply(std::uint64_t columns, tensor_index source) {
    const graph_tensor& from = tensors[source];
    const tensor_index made = fp32(columns, from.shape[1], from.shape[2], source);
    if (from_host) stage_matrix(made, tensors[source].shape[0], columns);
    return made;
  }
  /// Copies a matrix as it is allocated on a GPU, with room behind its last row.
  constexpr void stage_matrix(tensor_index operation, std::uint64_t width, std::uint64_t rows) {
    using namespace llama_cpp_cache;
    stage(operation, allocated(host_format, width, rows, layout_of(backend::cuda)));
  }
  /// Copies what an operation reads from host memory here, for this operation alone.
  constexpr void stage(tensor_index operation, std::uint64_t bytes) {
    const tensor_index copy = input(bytes);
    tensors[copy].staged = true;
    tensor_index* const sources = tensors[operation].sources;
    for (std::size_t i = 6; i > 0; --i) sources[i] = sources[i - 1];
    sources[0] = copy;
    tensors[operation].resumes = true;
  }
  /// An operation that may take over the memory of its first source, or else of its second.
  constexpr tensor_index in_place(tensor_index first, tensor_index second = 0) {
    const graph_tensor& like = tensors[first];
    const tensor_index made = fp32(like.shape[0], like.shape[1], like.shape[2], first, second);
    tensors[made].role = tensor_role::in_place;
    return made;
  }
  /// The same memory in another shape.
  constexpr tensor_index view(tensor_index source, std::uint64_t columns, std::uint64_t rows,
                              std::uint64_t planes = 1, bool dense = true) {
    graph_tensor made = blank_tensor();
    made.shape[0] = columns;
    made.shape[1] = rows;
    made.shape[2] = planes;
    made.sources[0] = source;
    made.dense = dense;
    made.role = tensor_role::view;
    made.root = tensors[source].role == tensor_role::view ? tensors[source].root : source;
    return add(made);
  }
  /// Writes `source` into a cache, at rows that `where` names.
  constexpr void write(tensor_index source, tensor_index where = 0) {
    graph_tensor made = blank_tensor();
    made.sources[0] = source;
    made.sources[1] = where;
    made.role = tensor_role::write;
    list(add(made));
  }
  /// Hands `source` to another device, so that this one is left for a while.
  constexpr void write_elsewhere(tensor_index source) {
    write(source);
    tensors[count - 1].resumes = true;
  }
  /// Appends what a tensor needs, then the tensor itself, to the order of execution.
  constexpr void list(tensor_index at) {
    graph_tensor& tensor = tensors[at];
    if (at == 0 || tensor.listed) return;
    tensor.listed = true;
    for (const tensor_index source : tensor.sources) {
      if (source == 0) break;
      if (!tensors[source].listed) list(source);
    }
    if (tensor.role == tensor_role::input) {
      if (tensor.staged || tensor.early) return;
      if (input_count == max_graph_inputs) a_compute_graph_has_too_many_tensors(max_graph_inputs);
      inputs[input_count++] = at;
    } else {
      order[steps++] = at;
    }
  }

  /// Marks where the writing of a layer ended, in graphs that may leave layers out.
  constexpr void end_layer() {
    if (capacity == max_graph_tensors && end_count < max_layer_ends) ends[end_count++] = {steps, count, 0};
  }
  /// Of one device's free space and the places of the last two layers' tensors. Layers that end alike and are
  /// followed by equal ones are laid out alike from there on.
  [[nodiscard]] constexpr std::uint64_t layout_at(std::size_t end, const compute_arena& arena) const {
    std::uint64_t print = arena.count;
    const auto mix = [&print](std::uint64_t value) {
      print = (print ^ value) * 0x9e37'79b9'7f4a'7c15;
      print ^= print >> 29;
    };
    for (std::size_t i = 0; i < arena.count; ++i) {
      mix(arena.free[i].offset);
      mix(arena.free[i].size);
    }
    const std::size_t first = end < 2 ? 1 : ends[end - 2].count;
    for (std::size_t i = first; i < ends[end].count; ++i) {
      if (!tensors[i].held) continue;
      mix(i - first);
      mix(tensors[i].offset);
    }
    return print;
  }
  /// Whether layers left out would have ended where they began: of those written from `from` to `to`, all of
  /// one period, one ended as another did whole periods before it.
  [[nodiscard]] constexpr bool repeats(std::size_t period, std::size_t left_out, std::size_t from,
                                       std::size_t to) const {
    if (end_count == max_layer_ends || period == 0) return false;
    to = smaller(to, end_count);
    for (std::size_t first = larger<std::size_t>(from, 2); first + period < to; ++first) {
      for (std::size_t next = first + period; next < to; next += period) {
        if (left_out % (next - first) == 0 && ends[first].layout == ends[next].layout) return true;
      }
    }
    return false;
  }
  /// The most tensors between the ends of two layers.
  [[nodiscard]] constexpr std::size_t widest_layer() const {
    std::size_t widest = count;
    for (std::size_t i = 1; i < end_count; ++i) {
      const std::size_t here = ends[i].count - ends[i - 1].count;
      widest = i == 1 || here > widest ? here : widest;
    }
    return widest;
  }

  [[nodiscard]] constexpr bool same_layout(const graph_tensor& a, const graph_tensor& b) const {
    return a.dense && b.dense && a.shape[0] == b.shape[0] && a.shape[1] == b.shape[1] &&
           a.shape[2] == b.shape[2];
  }
  /// Takes over the memory of a source, if one may be overwritten.
  constexpr bool reuse(graph_tensor& tensor, compute_arena& arena) {
    for (const tensor_index at : tensor.sources) {
      if (at == 0) break;
      graph_tensor& source = tensors[at];
      if (source.readers != 1 || source.views != 0 || !same_layout(tensor, source)) continue;
      if (source.role == tensor_role::view || source.kept || !source.held) continue;
      tensor.offset = source.offset;
      source.held = false;
      const std::uint64_t had = arena.padded(source.bytes), needs = arena.padded(tensor.bytes);
      if (had > needs) arena.give(source.offset + needs, had - needs);
      return true;
    }
    return false;
  }
  constexpr void hold(graph_tensor& tensor, compute_arena& arena) {
    if (tensor.held || tensor.role == tensor_role::view || tensor.role == tensor_role::write) return;
    if (tensor.role != tensor_role::in_place || !reuse(tensor, arena))
      tensor.offset = arena.take(tensor.bytes);
    tensor.held = true;
  }
  constexpr void release(graph_tensor& tensor, compute_arena& arena) {
    if (!tensor.held || tensor.kept) return;
    arena.give(tensor.offset, tensor.bytes);
    tensor.held = false;
  }
  constexpr void read_by_one_less(tensor_index at, compute_arena& arena) {
    graph_tensor& source = tensors[at];
    --source.readers;
    if (source.readers != 0 || source.views != 0) return;
    if (source.role != tensor_role::view) return release(source, arena);
    graph_tensor& owner = tensors[source.root];
    --owner.views;
    if (owner.views == 0 && owner.readers == 0) release(owner, arena);
  }
  constexpr void hold_input(tensor_index at, compute_arena& arena, std::uint64_t copies) {
    graph_tensor& tensor = tensors[at];
    if (tensor.role != tensor_role::input || tensor.held) return;
    tensor.kept = tensor.kept || copies > 1;
    for (std::uint64_t copy = 0; copy < copies; ++copy) tensor.offset = arena.take(tensor.bytes);
    tensor.held = true;
  }
  /// Whether the device takes up its work with this operation.
  [[nodiscard]] constexpr bool begins_here(std::size_t step) const {
    if (step == 0) return true;
    const graph_tensor &now = tensors[order[step]], &before = tensors[order[step - 1]];
    if (now.role == tensor_role::write) return false;
    return now.resumes || (before.role == tensor_role::write && before.resumes);
  }
  /// Inputs that operations read from here to where the device is left the next time.
  constexpr void hold_inputs_from(std::size_t step, compute_arena& arena) {
    for (std::size_t i = step; i < steps && (i == step || !begins_here(i)); ++i) {
      for (const tensor_index at : tensors[order[i]].sources) {
        if (at == 0) break;
        hold_input(at, arena, 1);
      }
    }
  }
  /// Bytes of the buffer. `inputs_first`: its inputs exist before the graph runs; otherwise they are copied
  /// to it when an operation follows that reads them, and freed after the last one. Of several `copies` of
  /// every input none is ever freed.
  constexpr std::uint64_t plan(std::uint64_t alignment, bool inputs_first, std::uint64_t copies) {
    compute_arena arena;
    arena.alignment = alignment;
    for (std::size_t i = 1; i < count; ++i) {
      if (tensors[i].early) hold_input(static_cast<tensor_index>(i), arena, 1);
    }
    for (std::size_t i = 0; i < input_count && (inputs_first || copies > 1); ++i) {
      hold_input(inputs[i], arena, copies);
    }
    for (std::size_t step = 0; step < steps; ++step) {
      const graph_tensor& tensor = tensors[order[step]];
      if (tensor.role == tensor_role::view && tensor.root != 0) ++tensors[tensor.root].views;
      for (const tensor_index at : tensor.sources) {
        if (at == 0) break;
        ++tensors[at].readers;
      }
    }
    std::size_t end = 0;
    for (std::size_t step = 0; step < steps; ++step) {
      for (; end < end_count && ends[end].steps == step; ++end) ends[end].layout = layout_at(end, arena);
      graph_tensor& tensor = tensors[order[step]];
      if (tensor.resumes && tensor.sources[0] == 0) hold(tensor, arena);  // comes back from another device
      if (begins_here(step)) hold_inputs_from(step, arena);
      hold(tensor, arena);
      for (const tensor_index at : tensor.sources) {
        if (at == 0) break;
        read_by_one_less(at, arena);
      }
    }
    return arena.peak;
  }
};

}  // namespace kvbudget::inline v0::detail
