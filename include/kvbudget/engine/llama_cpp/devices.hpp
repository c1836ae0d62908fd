#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/pointer.hpp"
#include "kvbudget/engine/llama_cpp/compute.hpp"
#include "kvbudget/engine/llama_cpp/weights.hpp"

/// Which device holds what of a model that llama.cpp has loaded.
/// Sources: ggml-org/llama.cpp, src/llama-model.cpp (load_tensors: devices of layers), src/llama-context.cpp
/// (pipeline parallelism, reserve), common/arg.cpp (--cpu-moe).
namespace kvbudget::inline v0 {

namespace detail {
[[noreturn]] inline void llama_cpp_uses_at_most_so_many_gpus(std::uint64_t gpus) {
  raise("llama.cpp: # GPUs, at most # are used", gpus, llama_cpp_max_devices);
}
[[noreturn]] inline void llama_cpp_has_no_such_main_gpu(std::uint64_t gpu, std::uint64_t gpus) {
  raise("llama.cpp: main_gpu is #, there are # GPUs", gpu, gpus);
}
[[noreturn]] inline void llama_cpp_does_not_load(const refusal& why) {
  raise(why.text, why.first, why.second);
}
}  // namespace detail

/// What one device holds: the buffers that llama.cpp reports as model, context and compute.
struct llama_cpp_buffers {
  llama_cpp_weights::model_bytes model;
  llama_cpp_cache::cache_bytes context;
  llama_cpp_cache::cache_bytes draft_context;  ///< of the model's own draft layers (MTP)
  compute_bytes compute;
  std::uint32_t first_layer = 0;
  std::uint32_t end_layer = 0;  ///< one past the last
  bool output = false;          ///< whether the head is here

  [[nodiscard]] constexpr bytes model_total() const { return bytes{model.total()}; }
  [[nodiscard]] constexpr bytes context_total() const { return context.total() + draft_context.total(); }
  [[nodiscard]] constexpr bytes compute_total() const { return bytes{compute.range.expected}; }
  [[nodiscard]] constexpr bytes total() const { return model_total() + context_total() + compute_total(); }
};

/// What a model takes on every device once llama.cpp has loaded it and made a context.
struct llama_cpp_memory {
  llama_cpp_cache::sizes sizes;
  llama_cpp_buffers gpus[llama_cpp_max_devices];
  std::uint32_t gpu_count = 0;
  llama_cpp_buffers host;
  bytes output{};          ///< logits, in host memory and in no report: at first one row per sequence
  bytes mapped_high{};     ///< with mmap, what the host's model buffer may be shown as: the whole file
  bool pipelined = false;  ///< several copies of every input, so that GPUs work at once
  bool assumed = false;    ///< a split that was read and never compared with a run

  [[nodiscard]] constexpr bytes total() const {
    bytes sum = host.total() + output;
    for (std::uint32_t i = 0; i < gpu_count; ++i) sum += gpus[i].total();
    return sum;
  }
  /// The GPU that holds most.
  [[nodiscard]] constexpr std::uint32_t fullest() const {
    std::uint32_t found = 0;
    for (std::uint32_t i = 1; i < gpu_count; ++i) {
      if (gpus[found].total() < gpus[i].total()) found = i;
    }
    return found;
  }
};

namespace llama_cpp_devices {

/// The first layer of every GPU: layer i of the n offloaded ones (the head is the last) goes to the first GPU
/// whose share, added to those before it, exceeds i/n.
struct layer_split {
  std::uint32_t first[llama_cpp_max_devices + 1] = {};  ///< first[i + 1] ends GPU i; the head counts as one
  std::uint32_t gpus = 0;
  std::uint32_t on_host = 0;  ///< layers that stay there
  bool head_on_host = false;
};

[[nodiscard]] constexpr layer_split split_of(const engines::llama_cpp& asked, std::uint32_t layers,
                                             std::uint32_t gpus, const std::uint64_t* shares) {
  layer_split found;
  found.gpus = gpus;
  const std::uint32_t places = layers + 1;
  const bool all = asked.n_gpu_layers < 0 || static_cast<std::uint32_t>(asked.n_gpu_layers) > places;
  const std::uint32_t offloaded = gpus == 0 ? 0
                                  : all     ? places
                                            : static_cast<std::uint32_t>(asked.n_gpu_layers);
  found.on_host = detail::smaller(places - offloaded, layers);
  found.head_on_host = offloaded == 0;
  float until[llama_cpp_max_devices] = {};
  float sum = 0;
  for (std::uint32_t i = 0; i < gpus; ++i) {
    sum += detail::is_null(shares) ? 1.0F : static_cast<float>(shares[i]);
    until[i] = sum;
  }
  std::uint32_t layer = places - offloaded;
  found.first[0] = layer;
  for (std::uint32_t i = 0; i < gpus; ++i) {
    const float share = until[i] / sum;
    while (layer < places &&
           (static_cast<float>(layer - (places - offloaded)) / static_cast<float>(offloaded) < share ||
            i + 1 == gpus)) {
      ++layer;
    }
    found.first[i + 1] = layer;
  }
  return found;
}

/// The options with everything that the deployment decides filled in: cache types, experts on the host, and
/// copies of states for drafted tokens.
[[nodiscard]] constexpr engines::llama_cpp resolved(engines::llama_cpp asked, const deployment& d) {
  using enum llama_cpp_cache_type;
  const auto named = [](const number_format& format, llama_cpp_cache_type otherwise) {
    if (format.is_automatic()) return otherwise;
    for (std::size_t i = 1; i < llama_cpp_cache_type_count; ++i) {
      const auto type = static_cast<llama_cpp_cache_type>(i);
      if (detail::same_text(format_of(type).name, format.name)) return type;
    }
    return automatic;
  };
  const bool automatic_cache = d.kv_cache.is_automatic();
  if (asked.type_k == automatic) asked.type_k = automatic_cache ? f16 : named(d.kv_cache.key.format, f16);
  if (asked.type_v == automatic) asked.type_v = automatic_cache ? f16 : named(d.kv_cache.value.format, f16);
  if (asked.sized_for_requests) {
    if (asked.n_parallel == 0) asked.n_parallel = d.workload.total_sequences();
    if (asked.n_ctx == 0) {
      asked.n_ctx = detail::checked_mul(asked.n_parallel, d.workload.longest_context().value);
    }
  }
  const std::uint32_t moe = asked.cpu_moe ? d.model->num_hidden_layers
                                          : detail::smaller(asked.n_cpu_moe, d.model->num_hidden_layers);
  for (std::uint32_t layer = 0; layer < moe; ++layer) asked.host_tensors.add_experts(layer);
  asked.cpu_moe = false;
  asked.n_cpu_moe = 0;
  if (d.speculation.kind == speculation_kind::mtp && asked.n_rs_seq == 0) {
    asked.n_rs_seq = d.speculation.num_speculative_tokens;
  }
  return asked;
}

/// How many GPUs the options use of those that there are.
[[nodiscard]] constexpr std::uint32_t gpus_used(const engines::llama_cpp& asked, std::uint64_t there) {
  if (asked.no_devices) return 0;
  if (there > llama_cpp_max_devices) detail::llama_cpp_uses_at_most_so_many_gpus(there);
  return static_cast<std::uint32_t>(there);
}

/// Whether every graph input exists four times, so that GPUs work on several batches at once.
[[nodiscard]] constexpr bool is_pipelined(const engines::llama_cpp& asked, const layer_split& split) {
  return split.gpus > 1 && split.on_host == 0 && !split.head_on_host && asked.offload_kqv &&
         asked.split_mode == llama_cpp_split_mode::layer && !asked.host_tensors.any();
}

/// Rows from which on an operation whose weights are in host memory runs on a GPU. Source:
/// ggml-org/llama.cpp, ggml/src/ggml-cuda/ggml-cuda.cu (offload_op).
inline constexpr std::uint64_t rows_worth_offloading = 32;

/// Settings of the graphs that all devices share.
[[nodiscard]] constexpr graph_settings graph_of(const engines::llama_cpp& asked, const deployment& d,
                                                const llama_cpp_cache::sizes& sizes,
                                                const layer_split& split) {
  const model_architecture& model = *d.model;
  graph_settings s;
  const std::uint64_t batch = detail::smaller(sizes.n_ctx, sizes.n_ubatch);
  s.sequences = sizes.n_seq_max;
  s.tokens = detail::round_up(batch, s.sequences);
  s.outputs = detail::smaller(batch, sizes.n_outputs_max);
  s.cells = sizes.n_ctx_seq;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const std::uint64_t window = model.kinds[kind].stores[0].window;
    if (window != 0) s.window_cells = sizes.window_cells(window);
  }
  s.streams = sizes.n_stream;
  s.snapshots = sizes.n_rs_seq;
  s.flash_attention = sizes.flash_attn;
  s.type_k = format_of(asked.type_k);
  s.type_v = format_of(asked.type_v);
  s.copies = is_pipelined(asked, split) ? 4 : 1;
  s.host_layers = split.gpus == 0 ? 0 : split.on_host;
  const bool head_on_host = split.head_on_host || asked.host_tensors.head;
  s.host_head = split.gpus != 0 && head_on_host && s.outputs >= rows_worth_offloading;
  s.offload_kqv = asked.offload_kqv;
  s.op_offload = asked.op_offload;
  s.on_gpu = split.gpus != 0;
  for (std::uint32_t layer = 0; layer < model.num_hidden_layers; ++layer) {
    s.host_experts = s.host_experts || asked.host_tensors.touches(layer);
  }
  std::uint64_t widest = 0;
  const layer_kind& last = model.kinds[model.order[model.num_hidden_layers - 1]];
  for (std::size_t i = 0; i < last.weight_count; ++i) {
    const weight_group& group = last.weights[i];
    if (group.kind != tensor_kind::linear || group.elements() < widest) continue;
    widest = group.elements();
    s.host_format = llama_cpp_weights::scheme_of(d, group).payload;
  }
  s.head_format = s.host_format;
  for (std::size_t i = 0; i < model.weight_count; ++i) {
    const weight_group& group = model.weights[i];
    if (group.role == module_role::lm_head || llama_cpp_weights::is_tied_table(model, group)) {
      s.head_format = llama_cpp_weights::scheme_of(d, group).payload;
    }
  }
  return s;
}

/// Adds the layers from `first` up to `end`, all on `gpu`, or what of them stays on the host.
constexpr void add_layers(llama_cpp_weights::model_bytes& on_gpu, llama_cpp_weights::model_bytes& on_host,
                          const engines::llama_cpp& asked, const deployment& d, std::uint32_t first,
                          std::uint32_t end, llama_cpp_cache::buffer_layout gpu,
                          llama_cpp_cache::buffer_layout host) {
  using llama_cpp_weights::bytes_of_layer;
  using llama_cpp_weights::place;
  const model_architecture& model = *d.model;
  std::uint16_t whole[max_layer_kinds] = {};
  const bool overridden = asked.host_tensors.any();
  for (std::uint32_t layer = first; layer < end; ++layer) {
    const std::uint8_t kind = model.order[layer];
    if (!overridden || !asked.host_tensors.touches(layer)) {
      ++whole[kind];
      continue;
    }
    on_gpu.add(bytes_of_layer(d, model.kinds[kind], gpu, asked.host_tensors, layer, place::gpu));
    on_host.add(bytes_of_layer(d, model.kinds[kind], host, asked.host_tensors, layer, place::host));
  }
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    if (whole[kind] != 0) on_gpu.add(bytes_of_layer(d, model.kinds[kind], gpu), whole[kind]);
  }
}

/// Adds the weights outside the layers.
constexpr void add_outer(llama_cpp_memory& memory, const engines::llama_cpp& asked, const deployment& d,
                         const layer_split& split, llama_cpp_cache::buffer_layout gpu,
                         llama_cpp_cache::buffer_layout host) {
  using llama_cpp_weights::outer_place;
  const model_architecture& model = *d.model;
  const bool head_on_host = split.gpus == 0 || split.head_on_host || asked.host_tensors.head;
  const std::uint32_t last = split.gpus == 0 ? 0 : split.gpus - 1;
  const auto put = [&](const weight_group& group, module_role role, bool on_host, std::uint32_t device) {
    llama_cpp_weights::model_bytes& sum = on_host ? memory.host.model : memory.gpus[device].model;
    const auto tensors = llama_cpp_weights::tensors_of(d, nullptr, group, on_host ? host : gpu);
    add_tensors(sum, group, role, tensors, tensors.count);
  };
  std::uint32_t output_gpu = last, first_gpu = last;
  for (std::uint32_t i = split.gpus; i-- > 0;) {
    if (memory.gpus[i].output) output_gpu = i;
    if (memory.gpus[i].first_layer < memory.gpus[i].end_layer) first_gpu = i;
  }
  for (std::size_t i = 0; i < model.weight_count; ++i) {
    const weight_group& group = model.weights[i];
    switch (llama_cpp_weights::place_of(group)) {
      case outer_place::input:
        put(group, group.role, true, 0);
        if (!head_on_host && llama_cpp_weights::is_tied_table(model, group)) {
          put(group, module_role::lm_head, false, output_gpu);
        }
        break;
      case outer_place::first:
        put(group, group.role, split.gpus == 0 || split.on_host != 0, first_gpu);
        break;
      case outer_place::output:
        put(group, group.role,
            group.role == module_role::lm_head ? head_on_host : split.gpus == 0 || split.head_on_host,
            output_gpu);
        break;
      case outer_place::layers:
        if (split.gpus == 0 || split.on_host != 0) put(group, group.role, true, 0);
        for (std::uint32_t device = 0; device < split.gpus; ++device) {
          const llama_cpp_buffers& here = memory.gpus[device];
          if (here.first_layer < here.end_layer) put(group, group.role, false, device);
        }
        break;
      case outer_place::spread:
        for (std::uint32_t device = 0; device <= split.gpus; ++device) {
          const bool rest = device == split.gpus;
          const std::uint32_t layers = rest ? (split.gpus == 0 ? model.num_hidden_layers : split.on_host)
                                            : memory.gpus[device].end_layer - memory.gpus[device].first_layer;
          weight_group part = group;
          part.rows = detail::ceil_mul_div(group.rows, layers, model.num_hidden_layers);
          if (layers != 0) put(part, group.role, rest, device);
        }
        break;
      case outer_place::draft:
        if (loads_draft_layers(d)) put(detail::loaded_drafts(group, d), group.role, head_on_host, output_gpu);
        break;
      case outer_place::tower:
        put(group, group.role, split.gpus == 0, asked.main_gpu < split.gpus ? asked.main_gpu : 0);
        break;
    }
  }
}

/// Lays a split's layers out, with what stands outside them, as model buffers of the GPUs and of the host.
constexpr void place_weights(llama_cpp_memory& memory, const engines::llama_cpp& asked, const deployment& d,
                             const layer_split& split) {
  using llama_cpp_cache::backend;
  const auto gpu_layout = llama_cpp_cache::layout_of(backend::cuda);
  const auto host_layout = llama_cpp_cache::layout_of(backend::cpu);
  const std::uint32_t layers = d.model->num_hidden_layers;
  llama_cpp_weights::model_bytes none;
  memory.host.end_layer = split.on_host;
  add_layers(memory.host.model, none, engines::llama_cpp{}, d, 0, split.on_host, host_layout, host_layout);
  for (std::uint32_t i = 0; i < split.gpus; ++i) {
    llama_cpp_buffers& here = memory.gpus[i];
    here.first_layer = detail::smaller(split.first[i], layers);
    here.end_layer = detail::smaller(split.first[i + 1], layers);
    here.output = split.first[i] <= layers && split.first[i + 1] > layers;
    add_layers(here.model, memory.host.model, asked, d, here.first_layer, here.end_layer, gpu_layout,
               host_layout);
  }
  add_outer(memory, asked, d, split, gpu_layout, host_layout);
}

/// Bytes of all tensors of a file: what a deployment's weights take without any padding.
[[nodiscard]] constexpr bytes file_bytes_of(const deployment& d) {
  llama_cpp_memory memory;
  place_weights(memory, engines::llama_cpp{}, d,
                split_of(engines::llama_cpp{}, d.model->num_hidden_layers, 0, nullptr));
  return bytes{memory.host.model.total() - memory.host.model.padding};
}

/// Divides what a split by rows or by heads gives every GPU of a whole that was laid out on the first one.
/// llama.cpp reports no figures per GPU for these, so this is an assumption: matrices (and for `tensor` the
/// cache as well) are divided evenly, rounded up; compute buffers and vectors are on every GPU.
constexpr void divide_evenly(llama_cpp_memory& memory, llama_cpp_split_mode mode, std::uint32_t gpus) {
  llama_cpp_buffers& whole = memory.gpus[0];
  llama_cpp_buffers part = whole;
  const auto divide = [gpus](std::uint64_t& amount) { amount = detail::ceil_div(amount, gpus); };
  for (std::size_t role = 0; role < module_role_count; ++role) {
    if (static_cast<module_role>(role) != module_role::norm) divide(part.model.modules[role]);
  }
  if (mode == llama_cpp_split_mode::tensor) {
    llama_cpp_cache::cache_bytes* const caches[] = {&part.context, &part.draft_context};
    for (llama_cpp_cache::cache_bytes* cache : caches) {
      divide(cache->full);
      divide(cache->windowed);
      divide(cache->recurrent);
    }
  }
  whole.model = part.model;
  if (mode == llama_cpp_split_mode::tensor) whole = part;
  for (std::uint32_t i = 1; i < gpus; ++i) {
    memory.gpus[i] = part;
    if (mode == llama_cpp_split_mode::row) {
      memory.gpus[i].context = {};
      memory.gpus[i].draft_context = {};
      memory.gpus[i].compute = {};
    }
  }
  memory.gpu_count = gpus;
  memory.assumed = true;
}

/// The latent of attention whose keys and values are cached per head all the same: a file from before
/// `key_length_mla`, which is told by the shapes of its projections, and families that are run so. Not latent
/// = neither.
[[nodiscard]] constexpr store expanded_latent(const model_architecture& model, const layer_kind& layer) {
  const store& kept = layer.stores[0];
  if (kept.kind == store_kind::latent) {
    return llama_cpp_cache::detail::is_one_of(model, llama_cpp_cache::detail::with_expanded_latents)
               ? kept
               : store{};
  }
  if (kept.kind != store_kind::full || kept.key_dim == kept.value_dim) return {};
  for (std::size_t i = 0; i < layer.weight_count; ++i) {
    const weight_group& down = layer.weights[i];
    if (down.role != module_role::attention || down.columns != model.hidden_size) continue;
    for (std::size_t j = 0; j < layer.weight_count; ++j) {
      const weight_group& up = layer.weights[j];
      if (up.role != module_role::attention || up.columns >= down.rows) continue;
      const std::uint64_t rope = down.rows - up.columns;
      if (rope >= layer.query_dim) continue;
      const std::uint64_t each = layer.query_dim - rope + layer.value_dim;
      if (up.rows == detail::checked_mul(layer.num_attention_heads, each)) {
        return stores::latent(up.columns, static_cast<std::uint32_t>(rope));
      }
    }
  }
  return {};
}

/// The compute buffers of all devices; a GPU that has nothing to do has none.
constexpr void add_compute_buffers(llama_cpp_memory& memory, const model_architecture& model,
                                   const graph_settings& s, const engines::llama_cpp& asked,
                                   const layer_split& split) {
  const std::uint32_t layers = model.num_hidden_layers;
  if (split.gpus == 0) {
    memory.host.compute = compute_buffer(model, s);
    return;
  }
  bool computes = false;
  for (std::uint32_t i = 0; i < split.gpus; ++i) {
    llama_cpp_buffers& here = memory.gpus[i];
    layer_span span{.first = here.first_layer, .last = here.end_layer, .output_here = here.output};
    const bool leads = !computes && (split.on_host != 0 || here.first_layer < here.end_layer);
    if (leads && asked.op_offload) span.first = 0;  // what the host keeps is computed here all the same
    if (leads && split.head_on_host) span = {.last = layers, .output_here = s.host_head};
    const bool head_elsewhere = asked.host_tensors.head && !s.host_head;
    if (head_elsewhere) span.output_here = false;
    if (split.head_on_host && (!leads || !asked.op_offload)) continue;
    if (span.first >= span.last) {
      if (!here.output || head_elsewhere) continue;
      span.first = layers - 1;
      span.last = layers;
    }
    computes = true;
    here.compute = compute_buffer(model, s, span);
  }
  memory.host.compute = host_compute_buffer(model, s);
}

}  // namespace llama_cpp_devices

/// What llama.cpp allocates on each of `gpus` GPUs and on the host for a deployment: weights by layer, the
/// cache beside its layer, and the compute buffers of every device. `free` = bytes that are free on each GPU
/// when the model is loaded, by which layers are dealt out where `tensor_split` says nothing; null = all the
/// same. Stops if the options are refused (see `llama_cpp_refusal`).
[[nodiscard]] constexpr llama_cpp_memory llama_cpp_memory_of(const engines::llama_cpp& options,
                                                             const deployment& d, std::uint64_t there,
                                                             const std::uint64_t* free = nullptr) {
  using namespace llama_cpp_devices;
  using llama_cpp_cache::backend;
  const model_architecture& model = *d.model;
  const engines::llama_cpp asked = resolved(options, d);
  const bool by_layer = asked.split_mode == llama_cpp_split_mode::layer;
  const std::uint32_t all_gpus = gpus_used(asked, there);
  const std::uint32_t gpus = by_layer ? all_gpus : detail::smaller(all_gpus, 1u);
  const backend on = gpus == 0 ? backend::cpu : backend::cuda;
  const refusal why = llama_cpp_cache::refused(asked, model, on);
  if (why) detail::llama_cpp_does_not_load(why);
  if (all_gpus != 0 && asked.main_gpu >= all_gpus) {
    detail::llama_cpp_has_no_such_main_gpu(asked.main_gpu, all_gpus);
  }
  std::uint64_t given = 0;
  for (const std::uint64_t share : asked.tensor_split) given |= share;
  const layer_split split =
      split_of(asked, model.num_hidden_layers, gpus, given != 0 ? asked.tensor_split : free);

  llama_cpp_memory memory;
  memory.gpu_count = gpus;
  memory.sizes = llama_cpp_cache::sizes_of(asked, model, on, d.speculation.num_speculative_tokens);
  memory.pipelined = is_pipelined(asked, split);
  place_weights(memory, asked, d, split);
  const bool drafts = loads_draft_layers(d) && model.draft_store_count != 0;
  if (!asked.offload_kqv || gpus == 0) {
    memory.host.context = llama_cpp_cache::cache_of(asked, model, memory.sizes, backend::cpu);
    if (drafts) {
      memory.host.draft_context = llama_cpp_cache::draft_cache_of(asked, model, memory.sizes, backend::cpu);
    }
  } else {
    memory.host.context =
        llama_cpp_cache::cache_of(asked, model, memory.sizes, backend::cpu, 0, split.on_host);
    for (std::uint32_t i = 0; i < gpus; ++i) {
      llama_cpp_buffers& here = memory.gpus[i];
      here.context = llama_cpp_cache::cache_of(asked, model, memory.sizes, backend::cuda, here.first_layer,
                                               here.end_layer);
      if (drafts && here.output) {
        here.draft_context = llama_cpp_cache::draft_cache_of(asked, model, memory.sizes, backend::cuda);
      }
    }
  }

  graph_settings s = graph_of(asked, d, memory.sizes, split);
  const store latent = expanded_latent(model, model.kinds[model.order[0]]);
  if (latent.kind == store_kind::latent) {
    model_architecture drawn = model;
    for (std::size_t kind = 0; kind < drawn.kind_count; ++kind) drawn.kinds[kind].stores[0] = latent;
    s.latent_as_heads = true;
    add_compute_buffers(memory, drawn, s, asked, split);
  } else {
    add_compute_buffers(memory, model, s, asked, split);
  }
  memory.output = output_buffer(model, memory.sizes.n_seq_max);
  const bool mapped =
      asked.load_mode == llama_cpp_load_mode::automatic || asked.load_mode == llama_cpp_load_mode::mmap;
  memory.mapped_high = memory.host.model_total();
  for (std::uint32_t i = 0; mapped && i < gpus; ++i) memory.mapped_high += memory.gpus[i].model_total();

  if (!by_layer && all_gpus > 1) {
    if (asked.split_mode == llama_cpp_split_mode::none) {
      const llama_cpp_buffers only = memory.gpus[0];
      memory.gpus[0] = {};
      memory.gpus[asked.main_gpu] = only;
      memory.gpu_count = all_gpus;
    } else {
      divide_evenly(memory, asked.split_mode, all_gpus);
    }
  }
  return memory;
}

}  // namespace kvbudget::inline v0
