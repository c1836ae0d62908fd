#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/engine/transformers.hpp"

namespace kvbudget::inline v0 {

/// `device_map` of `from_pretrained`, as accelerate reads it.
enum class device_map_kind : std::uint8_t {
  automatic,       ///< "auto": the same as balanced
  balanced,        ///< every GPU gets about as much
  balanced_low_0,  ///< the first GPU gets only what the others have no room for
  sequential       ///< one GPU is filled after the other
};

/// What a device map is made for.
struct device_map_options {
  device_map_kind device_map = device_map_kind::automatic;
  std::uint32_t gpus = 1;
  bytes max_memory = bytes{0};      ///< limit of each GPU; 0 = what is free once it has a CUDA context
  bytes cpu_max_memory = bytes{0};  ///< limit of the CPU; 0 = what follows from `cpu_available`
  bytes cpu_available = bytes{0};   ///< free RAM; 0 = not known: whatever finds no GPU is counted on the CPU
};

/// What one device is given.
struct placed_modules {
  layer_range layers{};    ///< whole blocks, in model order
  bool embedding = false;  ///< token embedding (and, if it is tied, the head)
  bool towers = false;     ///< vision and audio towers, placed as one module
  bool norm = false;       ///< final norm
  bool lm_head = false;
  bytes limit =
      bytes{0};  ///< what it may take; for the first GPU and the CPU with the room kept for one layer
  bytes weights = bytes{0};  ///< what it takes
};

/// Where accelerate puts the modules of a model. It looks at weights only: neither cache nor activations are
/// counted, so that a placement which fills a GPU leaves nothing for them. Ask `ledger_on` what really runs
/// there.
struct device_placement {
  static constexpr const char* not_counted = "KV cache and activations";
  placed_modules gpus[max_pipeline_stages] = {};
  std::uint32_t gpu_count = 0;
  placed_modules cpu{};
  placed_modules disk{};
  bytes largest_offloaded = bytes{0};  ///< largest module on CPU or disk: the first GPU runs it in a buffer

  /// Whether some modules found no GPU.
  [[nodiscard]] constexpr bool offloads() const { return !(cpu.weights + disk.weights == bytes{0}); }
};

namespace detail {
[[noreturn]] inline void a_device_map_needs_1_to_64_gpus(std::uint64_t gpus) {
  raise("a device map needs 1 to # GPUs, not #", max_pipeline_stages, gpus);
}
[[noreturn]] inline void a_device_map_places_one_whole_model() {
  raise("a device map places one whole model: tensor, pipeline and expert degrees must be 1");
}

/// The modules of a model that accelerate moves as a whole, in its order: towers, embedding, blocks, norm,
/// head.
struct movable_modules {
  std::uint64_t towers = 0;
  std::uint64_t embedding = 0;
  std::uint64_t block[max_layer_kinds] = {};  ///< one block of each kind
  std::uint64_t norm = 0;
  std::uint64_t lm_head = 0;    ///< 0 if it is tied: it goes where the embedding goes
  std::uint64_t tied_head = 0;  ///< what the head would take if it were not tied
  std::uint64_t total = 0;
  std::uint64_t leaves = 0;  ///< modules without children
  bool assumed = false;
};

[[nodiscard]] constexpr std::uint64_t sum_of(const weight_bytes& found) {
  std::uint64_t sum = found.scales;
  for (const std::uint64_t module : found.modules) sum = checked_add(sum, module);
  return sum;
}
/// Modules of a group, without biases, which belong to another module.
[[nodiscard]] constexpr std::uint64_t leaves_of(const weight_group& group) {
  const bool bias = group.kind == tensor_kind::vector && group.role != module_role::norm;
  return bias ? 0 : group.copies;
}

[[nodiscard]] constexpr movable_modules movable_modules_of(const deployment& d) {
  const auto module = [](const weight_bytes& found, module_role role) {
    return found.modules[static_cast<std::size_t>(role)];
  };
  const model_architecture& model = *d.model;
  movable_modules result;
  rank_share share;
  const weight_bytes ends = weights_of(d, share);  // what first and last stage hold beside the layers
  share.first_stage = false;
  const weight_bytes last = weights_of(d, share);
  share.last_stage = false;
  share.range = {0, 1};
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    share.layers[kind] = 1;
    const weight_bytes one = weights_of(d, share);
    result.block[kind] = sum_of(one);
    result.assumed = result.assumed || one.assumed != 0;
    result.total = add_product(result.total, result.block[kind], model.layers_of[kind]);
    share.layers[kind] = 0;
    for (std::size_t i = 0; i < model.kinds[kind].weight_count; ++i) {
      result.leaves =
          add_product(result.leaves, leaves_of(model.kinds[kind].weights[i]), model.layers_of[kind]);
    }
  }
  const std::uint64_t own_head = module(ends, module_role::lm_head);
  const bool tied = model.tie_word_embeddings;
  result.towers = checked_add(module(ends, module_role::vision), module(ends, module_role::audio));
  result.norm = module(ends, module_role::norm);
  result.tied_head = tied ? module(last, module_role::lm_head) - own_head : 0;
  result.lm_head =
      checked_add(checked_add(own_head, module(ends, module_role::draft)), tied ? 0 : last.scales);
  const std::uint64_t others = checked_add(checked_add(result.towers, result.norm), result.lm_head);
  result.embedding = sum_of(ends) - others;
  for (std::size_t i = 0; i < model.weight_count; ++i) {
    result.leaves = checked_add(result.leaves, leaves_of(model.weights[i]));
  }
  result.total = checked_add(result.total, sum_of(ends));
  result.assumed = result.assumed || model.parameters_assumed;
  return result;
}

/// Whether bitsandbytes quantizes the weights while they are loaded; it asks for a tenth of every limit.
/// Source: huggingface/transformers src/transformers/quantizers/quantizer_bnb_4bit.py (adjust_max_memory).
[[nodiscard]] constexpr bool is_bitsandbytes(const deployment& d) {
  const auto is = [](const weight_scheme& scheme) {
    return scheme == schemes::nf4 || scheme == schemes::nf4_double_quant || scheme == schemes::llm_int8;
  };
  if (!d.weights.is_automatic()) return is(d.weights);
  for (std::size_t i = 0; i < d.model->precision_count; ++i) {
    if (is(d.model->precisions[i])) return true;
  }
  return false;
}

/// The limits of all GPUs before the room for an offloaded layer is taken off. One GPU: 90 % of what is free,
/// unless the user gave a limit. Several: ⌊model / n⌋ + ⌊1.25 × max(first block, mean leaf)⌋, at most what is
/// free; the last keeps all of it. `balanced_low_0`: divided by n − 1, and the first GPU gets the rest.
/// Before 5.0 a tied head counts as a module of its own in the size of the model.
constexpr void set_limits(device_placement& plan, const movable_modules& modules,
                          const engines::transformers& on, const deployment& d,
                          const device_map_options& asked, bytes free) {
  const std::uint32_t n = asked.gpus;
  const bool given = !(asked.max_memory == bytes{0});
  const std::uint64_t each = given ? asked.max_memory.value : free.value;
  for (std::uint32_t i = 0; i < n; ++i) plan.gpus[i].limit = bytes{each};
  plan.cpu.limit = asked.cpu_max_memory;
  if (plan.cpu.limit == bytes{0}) {
    plan.cpu.limit = given ? bytes{floor_mul_div(asked.cpu_available.value, 4, 5)} : asked.cpu_available;
  }
  if (asked.device_map != device_map_kind::sequential) {
    if (n == 1 && !given) plan.gpus[0].limit = bytes{floor_mul_div(each, 9, 10)};
    const bool low_zero = asked.device_map == device_map_kind::balanced_low_0 && n > 1;
    const std::uint64_t block = modules.block[d.model->order[0]];
    const bool once = on.rules().tied_head_counts_once;
    const std::uint64_t total = once ? modules.total : checked_add(modules.total, modules.tied_head);
    const std::uint64_t leaf = modules.leaves == 0 ? 0 : total / modules.leaves;
    const std::uint64_t per_gpu =
        checked_add(total / (low_zero ? n - 1 : n), floor_mul_div(larger(block, leaf), 5, 4));
    std::uint64_t others = n > 1 ? each : 0;
    for (std::uint32_t i = 0; i + 1 < n; ++i) {
      if (low_zero && i == 0) continue;
      plan.gpus[i].limit = bytes{smaller(per_gpu, each)};
      if (i != 0) others = checked_add(others, plan.gpus[i].limit.value);
    }
    if (low_zero) {
      const std::uint64_t rest = total > others ? total - others : 0;
      plan.gpus[0].limit = bytes{smaller(rest, each)};
    }
  }
  if (!is_bitsandbytes(d)) return;
  for (std::uint32_t i = 0; i < n; ++i)
    plan.gpus[i].limit = bytes{floor_mul_div(plan.gpus[i].limit.value, 9, 10)};
  plan.cpu.limit = bytes{floor_mul_div(plan.cpu.limit.value, 9, 10)};
}

/// Gives out modules one after the other; a device that had no room is not tried again.
struct module_placer {
  device_placement& plan;
  bool cpu_is_unlimited = false;
  std::uint32_t device = 0;  ///< GPUs, then CPU, then disk

  [[nodiscard]] constexpr placed_modules& current() const {
    if (device < plan.gpu_count) return plan.gpus[device];
    return device == plan.gpu_count ? plan.cpu : plan.disk;
  }
  /// Whether a module finds room; the first GPU and the CPU keep room for the largest module still to come.
  [[nodiscard]] constexpr bool has_room(std::uint64_t size, std::uint64_t largest_to_come) const {
    if (device > plan.gpu_count || (device == plan.gpu_count && cpu_is_unlimited)) return true;
    const bool main = device == 0 || device == plan.gpu_count;
    const std::uint64_t need = checked_add(current().weights.value, size);
    return checked_add(need, main ? largest_to_come : 0) <= current().limit.value;
  }
  constexpr placed_modules& place(std::uint64_t size, std::uint64_t largest_to_come) {
    while (!has_room(size, largest_to_come)) ++device;
    placed_modules& found = current();
    found.weights += bytes{size};
    if (device >= plan.gpu_count) plan.largest_offloaded = larger(plan.largest_offloaded, bytes{size});
    return found;
  }
};
}  // namespace detail

/// Where accelerate puts the modules of a model on `asked.gpus` such GPUs, CPU and disk: in model order,
/// whole blocks only, each on the first device with room. The first GPU and the CPU keep room for the largest
/// module that is still to come, in case it is offloaded. A tied head goes with the embedding.
///
/// Simpler than accelerate in three things: a tower is one module, the scales of a scheme count as weights,
/// and a module tried on a device is never split below the block. Sources: huggingface/accelerate
/// src/accelerate/utils/modeling.py (get_max_memory, get_balanced_memory, infer_auto_device_map) and
/// huggingface/transformers src/transformers/integrations/accelerate.py.
[[nodiscard]] constexpr device_placement place_on_devices(const engines::transformers& on,
                                                          const deployment& d,
                                                          const device_map_options& asked,
                                                          const gpu_profile& gpu) {
  validate(d);
  if (asked.gpus == 0 || asked.gpus > max_pipeline_stages)
    detail::a_device_map_needs_1_to_64_gpus(asked.gpus);
  if (d.parallel.tensor != 1 || d.parallel.pipeline != 1 || d.parallel.expert != 1) {
    detail::a_device_map_places_one_whole_model();
  }
  const model_architecture& model = *d.model;
  const detail::movable_modules modules = detail::movable_modules_of(d);
  device_placement plan;
  plan.gpu_count = asked.gpus;
  const bytes usable_bytes = on.usable(gpu).expected;
  const bytes context{constants::cuda_context.expected};
  detail::set_limits(plan, modules, on, d, asked, usable_bytes - detail::smaller(usable_bytes, context));
  detail::module_placer placer{plan, asked.cpu_max_memory == bytes{0} && asked.cpu_available == bytes{0}};

  // The largest module after each block, from the end.
  std::uint64_t to_come[max_layers + 1] = {};
  to_come[model.num_hidden_layers] = detail::larger(modules.norm, modules.lm_head);
  for (std::uint32_t i = model.num_hidden_layers; i > 0; --i) {
    to_come[i - 1] = detail::larger(to_come[i], modules.block[model.order[i - 1]]);
  }
  if (modules.towers != 0) {
    placer.place(modules.towers, detail::larger(modules.embedding, to_come[0])).towers = true;
  }
  placed_modules& first = placer.place(modules.embedding, to_come[0]);
  first.embedding = true;
  if (model.tie_word_embeddings) first.lm_head = true;
  for (std::uint32_t i = 0; i < model.num_hidden_layers; ++i) {
    placed_modules& here = placer.place(modules.block[model.order[i]], to_come[i + 1]);
    if (here.layers.size() == 0) here.layers.first = i;
    here.layers.last = i + 1;
  }
  placer.place(modules.norm, modules.lm_head).norm = true;
  if (!model.tie_word_embeddings || modules.lm_head != 0) {
    placed_modules& last = placer.place(modules.lm_head, 0);
    if (!model.tie_word_embeddings) last.lm_head = true;
  }
  return plan;
}

/// The ledger of one GPU of a placement: its weights, and the cache and activations that accelerate left out.
/// The first GPU also runs what lies on CPU and disk: it keeps the cache of those layers and a buffer for the
/// largest of their modules.
[[nodiscard]] constexpr memory_budget ledger_on(const engines::transformers& on, const deployment& d,
                                                const device_placement& plan, std::uint32_t gpu_number,
                                                const gpu_profile* gpu = nullptr,
                                                std::uint32_t data_replica = 0) {
  if (gpu_number >= plan.gpu_count) detail::a_device_map_needs_1_to_64_gpus(gpu_number);
  const placed_modules& mine = plan.gpus[gpu_number];
  rank_share share;
  share.first_stage = mine.embedding;
  share.last_stage = mine.lm_head;
  share.range = mine.layers;
  const auto add = [&](const layer_range& range) {
    for (std::uint32_t i = range.first; i < range.last; ++i) ++share.layers[d.model->order[i]];
  };
  add(mine.layers);
  bytes buffer{0};
  if (gpu_number == 0) {
    add(plan.cpu.layers);
    add(plan.disk.layers);
    share.last_stage = share.last_stage || plan.cpu.lm_head || plan.disk.lm_head;
    buffer = plan.largest_offloaded;
  }
  deployment here = d;
  if (!d.pinned.weights.given) {
    const bytes most = mine.weights + buffer;
    here.pinned.weights = {
        mine.weights, most, most, d.model->parameters_assumed ? basis::assumed : basis::exact,
        "modules that the device map puts here, and a buffer for those that lie elsewhere"};
  }
  return detail::transformers_ledger(on, here, share, data_replica, gpu);
}

/// The ledger of the GPU of a placement that needs the most.
[[nodiscard]] constexpr memory_budget worst_ledger_on(const engines::transformers& on, const deployment& d,
                                                      const device_placement& plan,
                                                      const gpu_profile* gpu = nullptr) {
  memory_budget worst;
  for (std::uint32_t i = 0; i < plan.gpu_count; ++i) {
    const memory_budget here = ledger_on(on, d, plan, i, gpu);
    if (worst.count == 0 || worst.total() < here.total()) worst = here;
  }
  return worst;
}

}  // namespace kvbudget::inline v0
