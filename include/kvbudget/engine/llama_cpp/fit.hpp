#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/engine/llama_cpp/constants.hpp"
#include "kvbudget/engine/llama_cpp/devices.hpp"

/// What `--fit` of llama.cpp (on by default) makes of options that do not fit: what it lowers, in its order,
/// by its measure, with its margins and its faults. Beside the umbrella and beside engine/llama_cpp.hpp: who
/// asks includes this file. Sources: ggml-org/llama.cpp, common/fit.cpp, common/common.h; older builds:
/// src/llama.cpp (llama_params_fit_impl). Which faults are known: docs/llama-cpp-fit.md.
namespace kvbudget::inline v0 {

/// Memory of one GPU as llama.cpp finds it when it starts.
struct llama_cpp_gpu_memory {
  bytes free{};
  bytes total{};
};

/// What `--fit-target` and `--fit-ctx` say, and what the host has.
struct llama_cpp_fit_settings {
  /// `--fit-target`: bytes that stay free on each GPU; a projector or a draft model is measured by itself and
  /// added here.
  bytes targets[llama_cpp_max_devices] = {};
  std::uint64_t n_ctx_min = 4096;  ///< `--fit-ctx`: the context of a sequence is not lowered below it
  bool keeps_context = false;      ///< `-c 0` on the command line: the trained context, whatever it takes
  bytes host_total{};              ///< memory of the host, which counts where there is no GPU

  /// One margin for every GPU.
  constexpr explicit llama_cpp_fit_settings(bytes target = bytes{constants::llama_cpp_fit_margin.expected}) {
    for (bytes& each : targets) each = target;
  }
};

/// How much of a layer is on its GPU.
enum class llama_cpp_layer_part : std::uint8_t {
  whole,
  attention,         ///< attention and norms; the MLP and all experts elsewhere
  attention_up,      ///< and the up projections
  attention_up_gate  ///< and the gates: only the down projections elsewhere
};

/// What one step of `--fit` changed.
enum class llama_cpp_fit_change : std::uint8_t {
  context,       ///< n_ctx, from `before` to `after`
  layers,        ///< layers of `gpu` from none to `after` (of an MoE model without experts but for the first)
  full_layers,   ///< layers of `gpu` that are whole, from `before` to `after`
  part_of_layer  ///< `gpu` took one layer more, of which only `part` is there; `after` = that layer
};
struct llama_cpp_fit_step {
  llama_cpp_fit_change change{};
  std::uint32_t gpu = 0;
  llama_cpp_layer_part part{};
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  friend constexpr bool operator==(const llama_cpp_fit_step&, const llama_cpp_fit_step&) = default;
};

/// One GPU before and after.
struct llama_cpp_fitted_gpu {
  bytes free{};
  bytes target{};             ///< what was to stay free
  bytes at_first{};           ///< projected use with the options as they were
  bytes used{};               ///< projected use with the options at the end
  std::uint32_t n_layer = 0;  ///< layers it was given, the head counted as one; 0 where nothing was dealt out
  std::uint32_t n_part = 0;   ///< of these, layers with tensors elsewhere
  llama_cpp_layer_part first_part{};  ///< how much of the first of these is here; `whole` = all but experts
  /// The tensors that layer lacks are on the next GPU, not on the host. No option of this library says that:
  /// `options` have the layer whole.
  bool overflows_to_next = false;

  /// Whether `target` stays free.
  [[nodiscard]] constexpr bool meets_target() const {
    return used.value <= free.value && free.value - used.value >= target.value;
  }
};

/// What `--fit` ended with.
struct llama_cpp_fit_result {
  engines::llama_cpp options{};
  llama_cpp_fit_step steps[4 * llama_cpp_max_devices + 1] = {};
  std::uint32_t step_count = 0;
  llama_cpp_fitted_gpu gpus[llama_cpp_max_devices] = {};
  std::uint32_t gpu_count = 0;
  /// Why it gave up, in its own words; loading goes on all the same with `options` as they are then.
  refusal gave_up{};
  std::uint32_t probes = 0;  ///< how often the whole model was measured
  bytes host{};              ///< what the host has of it at the end: model, context and compute buffers
  /// What `--fit` does not count: logits on the host, and on every GPU the CUDA context, kernels and pool
  /// (`constants::llama_cpp_cuda_context`), which its margin has to hold.
  bytes uncounted_output{};
  measured_constant uncounted_per_gpu = constants::llama_cpp_cuda_context;

  [[nodiscard]] constexpr bool changed() const { return step_count != 0; }
  /// Whether the margin is kept on every GPU. May be false without `gave_up`: the context is interpolated and
  /// not measured again, and what is given to one GPU changes the buffers of those before.
  [[nodiscard]] constexpr bool meets_targets() const {
    for (std::uint32_t i = 0; i < gpu_count; ++i) {
      if (!gpus[i].meets_target()) return false;
    }
    return true;
  }
};

namespace llama_cpp_fitting {

/// Layers of one GPU while they are dealt out: first those that are whole, then those in part.
struct dealt_layers {
  std::uint32_t n_layer = 0;
  std::uint32_t n_part = 0;
  llama_cpp_layer_part first_part = llama_cpp_layer_part::whole;  ///< whole = only experts are elsewhere
  bool to_next = false;
  [[nodiscard]] constexpr std::uint32_t n_full() const { return n_layer - n_part; }
};

/// What a layer of which only a part is on its GPU has elsewhere. llama.cpp's patterns name everything that
/// begins with ffn_gate, so the router goes with the gates. Shared experts are one tensor here and go as soon
/// as any of theirs does.
constexpr void add_missing(llama_cpp_host_tensors& to, llama_cpp_layer_part part, std::uint32_t layer) {
  using enum llama_cpp_tensor;
  if (part == llama_cpp_layer_part::whole) {
    to.add_experts(layer);
    return;
  }
  to.add(mlp_down, layer).add(expert_down, layer).add(shared_expert, layer);
  if (part == llama_cpp_layer_part::attention_up_gate) return;
  to.add(mlp_gate, layer).add(expert_gate, layer).add(router, layer);
  if (part == llama_cpp_layer_part::attention_up) return;
  to.add(mlp_up, layer).add(expert_up, layer);
}

/// One measurement: bytes of every GPU, and of the host.
struct measured {
  std::int64_t used[llama_cpp_max_devices] = {};
  std::int64_t model = 0;  ///< weights on all GPUs
  std::int64_t host = 0;
  bytes output{};
};

/// Bytes as the engine counts them here; more than any machine has is cut off, so that sums stay in range.
[[nodiscard]] constexpr std::int64_t as_signed(std::uint64_t value) {
  return static_cast<std::int64_t>(detail::smaller(value, std::uint64_t{1} << 58));
}
/// The shares by which layers are dealt out: free memory, or equal ones where no GPU has any.
[[nodiscard]] constexpr const std::uint64_t* shares_of(const std::uint64_t* free, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (free[i] != 0) return free;
  }
  return nullptr;
}

[[nodiscard]] constexpr bool has_experts(const model_architecture& model) {
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    if (model.kinds[kind].num_experts != 0) return true;
  }
  return false;
}

/// a × part / whole, rounded down, for part < whole; the product may be longer than 64 bits.
[[nodiscard]] constexpr std::uint64_t share_of(std::uint64_t a, std::uint64_t part, std::uint64_t whole) {
  std::uint64_t quotient = 0, rest = 0;
  for (int bit = 63; bit >= 0; --bit) {
    quotient *= 2;
    rest *= 2;
    if (((a >> bit) & 1u) != 0) rest += part;
    while (rest >= whole) {
      rest -= whole;
      ++quotient;
    }
  }
  return quotient;
}

/// The search itself. All of it follows the engine: every figure is signed, divisions round towards zero.
class fitter {
 public:
  constexpr fitter(const engines::llama_cpp& options, const deployment& d, const llama_cpp_gpu_memory* gpus,
                   std::uint32_t count, const llama_cpp_fit_settings& settings)
      : d_(&d), settings_(&settings), asked_(llama_cpp_devices::resolved(options, d)) {
    if (count > llama_cpp_max_devices) detail::llama_cpp_uses_at_most_so_many_gpus(count);
    found_.options = asked_;
    if (!asked_.no_devices) {
      const bool only_one = asked_.split_mode == llama_cpp_split_mode::none;
      if (count != 0 && asked_.main_gpu >= count) {
        detail::llama_cpp_has_no_such_main_gpu(asked_.main_gpu, count);
      }
      nd_ = only_one ? detail::smaller(count, 1u) : count;
      for (std::uint32_t id = 0; id < nd_; ++id) {
        const std::uint32_t gpu = only_one ? asked_.main_gpu : id;
        free_[id] = gpus[gpu].free.value;
        margins_[id] = as_signed(settings.targets[gpu].value);
        found_.gpus[id].free = gpus[gpu].free;
        found_.gpus[id].target = settings.targets[gpu];
      }
      found_.gpu_count = nd_;
      if (only_one) asked_.main_gpu = 0;
    }
    experts_ = has_experts(*d.model);
    places_ = d.model->num_hidden_layers + 1;
  }

  [[nodiscard]] constexpr llama_cpp_fit_result run() {
    found_.gave_up = cannot_load();
    if (found_.gave_up) return found_;
    found_.gave_up = lower();
    finish();
    return found_;
  }

 private:
  /// All steps in their order; says why it gave up.
  constexpr refusal lower() {
    if (asked_.split_mode == llama_cpp_split_mode::tensor) {
      return {"llama_params_fit is not implemented for SPLIT_MODE_TENSOR, abort"};
    }
    const auto sizes = llama_cpp_cache::sizes_of(asked_, *d_->model, backend());
    streams_ = sizes.n_stream;
    const bool automatic = asked_.n_ctx == 0;
    const std::uint64_t most =
        at_most_32_bits(detail::checked_mul(d_->model->max_position_embeddings, streams_));
    const std::uint64_t least = settings_->keeps_context
                                    ? ~std::uint32_t{0}
                                    : at_most_32_bits(detail::checked_mul(settings_->n_ctx_min, streams_));
    if (automatic) asked_.n_ctx = most;
    const measured full = measure(asked_);
    for (std::uint32_t id = 0; id < nd_; ++id) {
      found_.gpus[id].at_first = bytes{static_cast<std::uint64_t>(full.used[id])};
    }
    if (is_enough(full)) return {};

    if (surplus(full) < 0 && automatic && most > least && lower_context(full, most, least) && nd_ <= 1) {
      return {};
    }
    if (nd_ == 0) return {"was unable to fit model into system memory by reducing context, abort"};
    if (asked_.n_gpu_layers != -1) {
      const std::int64_t set = asked_.n_gpu_layers;
      if (set < 0) return {"n_gpu_layers already set by user to -#, abort", static_cast<std::uint64_t>(-set)};
      return {"n_gpu_layers already set by user to #, abort", static_cast<std::uint64_t>(set)};
    }
    if (nd_ > 1) {
      for (std::uint32_t id = 0; id < nd_; ++id) {
        if (asked_.tensor_split[id] != 0) return {"model_params::tensor_split already set by user, abort"};
      }
      if (asked_.split_mode == llama_cpp_split_mode::row) {
        return {"changing weight allocation for LLAMA_SPLIT_MODE_ROW not implemented, abort"};
      }
    }
    if (asked_.host_tensors.any()) {
      return {"model_params::tensor_buft_overrides already set by user, abort"};
    }
    deal_out();
    return {};
  }

  [[nodiscard]] constexpr llama_cpp_cache::backend backend() const {
    return nd_ == 0 ? llama_cpp_cache::backend::cpu : llama_cpp_cache::backend::cuda;
  }
  [[nodiscard]] constexpr refusal cannot_load() const {
    return llama_cpp_cache::refused(asked_, *d_->model, backend());
  }
  [[nodiscard]] static constexpr std::uint64_t at_most_32_bits(std::uint64_t value) {
    return detail::smaller(value, std::uint64_t{~std::uint32_t{0}});
  }

  constexpr measured measure(const engines::llama_cpp& options) {
    ++found_.probes;
    const llama_cpp_memory memory = llama_cpp_memory_of(options, *d_, nd_, shares_of(free_, nd_));
    measured result;
    for (std::uint32_t id = 0; id < nd_; ++id) {
      result.used[id] = as_signed(memory.gpus[id].total().value);
      result.model += as_signed(memory.gpus[id].model_total().value);
    }
    result.host = as_signed(memory.host.total().value);
    result.output = memory.output;
    return result;
  }
  [[nodiscard]] constexpr std::int64_t used_by_all(const measured& use) const {
    if (nd_ == 0) return use.host;
    std::int64_t sum = 0;
    for (std::uint32_t id = 0; id < nd_; ++id) sum += use.used[id];
    return sum;
  }
  [[nodiscard]] constexpr std::int64_t target_of(std::uint32_t id) const {
    return as_signed(free_[id]) - margins_[id];
  }
  /// What all GPUs together may use.
  [[nodiscard]] constexpr std::int64_t target_of_all() const {
    if (nd_ == 0) return as_signed(settings_->host_total.value) - as_signed(settings_->targets[0].value);
    std::int64_t sum = 0;
    for (std::uint32_t id = 0; id < nd_; ++id) sum += target_of(id);
    return sum;
  }
  [[nodiscard]] constexpr std::int64_t surplus(const measured& use) const {
    return target_of_all() - used_by_all(use);
  }
  [[nodiscard]] constexpr bool is_enough(const measured& use) const {
    if (nd_ == 0) return surplus(use) >= 0;
    for (std::uint32_t id = 0; id < nd_; ++id) {
      if (use.used[id] > target_of(id)) return false;
    }
    return true;
  }

  constexpr void note(const llama_cpp_fit_step& step) { found_.steps[found_.step_count++] = step; }

  /// Step 1: n_ctx by linear interpolation between the least and the trained context. Half a layer (a sixth
  /// of an MoE model's) per GPU and half of one more is set aside on several GPUs. False = even the least
  /// context is too much; it is kept then.
  constexpr bool lower_context(const measured& full, std::uint64_t most, std::uint64_t least) {
    std::int64_t target = target_of_all();
    if (nd_ > 1) {
      const std::uint32_t offloaded =
          asked_.n_gpu_layers < 0
              ? places_ - 1
              : detail::smaller(static_cast<std::uint32_t>(asked_.n_gpu_layers), places_ - 1);
      // The engine divides by zero at `-ngl 0`.
      const std::int64_t per_layer = full.model / detail::larger(offloaded, 1u);
      target -= (std::int64_t{nd_} + 1) * per_layer / (experts_ ? 6 : 2);
    }
    asked_.n_ctx = least;
    const std::int64_t at_least = used_by_all(measure(asked_));
    const std::int64_t at_most = used_by_all(full);
    const bool enough = target > at_least && at_most > at_least;
    if (enough) {
      asked_.n_ctx += share_of(most - least, static_cast<std::uint64_t>(target - at_least),
                               static_cast<std::uint64_t>(at_most - at_least));
      asked_.n_ctx -= asked_.n_ctx % detail::checked_mul(256, streams_);
      asked_.n_ctx = detail::larger(asked_.n_ctx, least);
    }
    note({.change = llama_cpp_fit_change::context, .before = most, .after = asked_.n_ctx});
    return enough;
  }

  /// The options for layers that are dealt out so, and what every GPU then uses.
  constexpr measured measure(const dealt_layers* dealt, engines::llama_cpp& options) {
    options = asked_;
    options.host_tensors = {};
    llama_cpp_host_tensors elsewhere[llama_cpp_max_devices];
    std::uint32_t offloaded = 0;
    for (std::uint32_t id = 0; id < nd_; ++id) {
      offloaded += dealt[id].n_layer;
      if (nd_ > 1) options.tensor_split[id] = dealt[id].n_layer;
    }
    options.n_gpu_layers = static_cast<std::int32_t>(offloaded);
    std::uint32_t layer = places_ - offloaded;
    for (std::uint32_t id = 0; id < nd_; ++id) {
      layer += dealt[id].n_full();
      for (std::uint32_t part = 0; part < dealt[id].n_part; ++part, ++layer) {
        if (layer + 1 >= places_) continue;  // the head has no such tensors
        const bool first = part == 0;
        const llama_cpp_layer_part kept = first ? dealt[id].first_part : llama_cpp_layer_part::whole;
        add_missing(options.host_tensors, kept, layer);
        if (first && dealt[id].to_next) add_missing(elsewhere[id], kept, layer);
      }
    }
    measured use = measure(options);
    for (std::uint32_t id = 0; id + 1 < nd_; ++id) {
      if (!dealt[id].to_next || !elsewhere[id].any()) continue;
      for (std::uint32_t i = 0; i + 1 < places_; ++i) {
        if (!elsewhere[id].touches(i)) continue;
        const layer_kind& kind = d_->model->kinds[d_->model->order[i]];
        const auto moved = [&](llama_cpp_cache::backend to) {
          return as_signed(llama_cpp_weights::bytes_of_layer(*d_, kind, llama_cpp_cache::layout_of(to),
                                                             elsewhere[id], i, llama_cpp_weights::place::host)
                               .total());
        };
        use.used[id + 1] += moved(llama_cpp_cache::backend::cuda);
        use.host -= moved(llama_cpp_cache::backend::cpu);
      }
    }
    return use;
  }
  constexpr measured measure(const dealt_layers* dealt) {
    engines::llama_cpp options;
    return measure(dealt, options);
  }

  /// The method of false position: how many of `delta` layers to try next. Where the target is exceeded
  /// already by a layer's share or more, the number wraps around in the engine, and the most is tried.
  [[nodiscard]] static constexpr std::uint32_t step_of(std::uint32_t delta, std::int64_t target,
                                                       std::int64_t low, std::int64_t high) {
    const std::int64_t room = high - low;
    const std::int64_t part = target < low ? low - target : target - low;
    if (room <= 0 || part >= room) return delta - 1;
    const std::uint64_t step =
        share_of(delta, static_cast<std::uint64_t>(part), static_cast<std::uint64_t>(room));
    if (target < low && step != 0) return delta - 1;
    return detail::smaller(detail::larger(static_cast<std::uint32_t>(step), 1u), delta - 1);
  }

  /// Steps 2 and 3: which layers go where.
  constexpr void deal_out() {
    std::int64_t dense_surplus = 0;
    if (experts_) {
      engines::llama_cpp dense = asked_;
      for (std::uint32_t layer = 0; layer + 1 < places_; ++layer) dense.host_tensors.add_experts(layer);
      dense_surplus = surplus(measure(dense));
    }
    use_ = measure(dealt_);
    for (std::uint32_t id = nd_; id-- > 0;) fill(id);
    if (experts_ && dense_surplus > 0) promote();
    settle();
  }

  /// Gives a GPU as many layers as it holds, back to front; of an MoE model without experts.
  constexpr void fill(std::uint32_t id) {
    std::uint32_t left = places_;
    for (std::uint32_t later = id + 1; later < nd_; ++later) left -= dealt_[later].n_layer;
    if (left == 0) return;
    deal high;
    high.copy(dealt_, nd_);
    high.layers[id].n_layer = left;
    if (experts_) high.layers[id].n_part = id + 1 < nd_ ? left : left - 1;
    measured high_use = measure(high.layers);
    if (high_use.used[id] <= target_of(id)) {
      take(high, high_use);
    } else {
      std::uint32_t delta = left - dealt_[id].n_layer;
      while (delta > 1) {
        const std::uint32_t step = step_of(delta, target_of(id), use_.used[id], high_use.used[id]);
        deal test;
        test.copy(dealt_, nd_);
        test.layers[id].n_layer += step;
        if (experts_) {
          const bool with_head = id + 1 == nd_ && test.layers[id].n_part == 0;
          test.layers[id].n_part += with_head ? step - 1 : step;
        }
        const measured test_use = measure(test.layers);
        if (test_use.used[id] <= target_of(id)) {
          take(test, test_use);
        } else {
          high = test;
          high_use = test_use;
        }
        delta = high.layers[id].n_layer - dealt_[id].n_layer;
      }
    }
    note({.change = llama_cpp_fit_change::layers, .gpu = id, .after = dealt_[id].n_layer});
  }

  /// Makes layers whole, front to back, that had their experts in host memory; then takes part of one more.
  constexpr void promote() {
    std::uint32_t start = nd_;
    for (std::uint32_t id = nd_; id-- > 0 && dealt_[id].n_layer > 0;) start = id;
    if (start == nd_) return;
    for (std::uint32_t id = 0; id <= start && start < nd_; ++id) {
      const std::uint32_t before = dealt_[id].n_full();
      deal high;
      high.copy(dealt_, nd_);
      for (std::uint32_t from = start; from < nd_; ++from) {
        const std::uint32_t moved =
            from + 1 < nd_ ? high.layers[from].n_layer : high.layers[from].n_layer - 1;
        high.layers[id].n_layer += moved;
        high.layers[from].n_layer -= moved;
        high.layers[from].n_part = 0;
      }
      std::uint32_t high_start = nd_ - 1;
      measured high_use = measure(high.layers);
      if (high_use.used[id] <= target_of(id)) {
        take(high, high_use);
        start = high_start;
      } else {
        std::uint32_t delta = high.layers[id].n_full() - dealt_[id].n_full();
        while (delta > 1) {
          const std::uint32_t step = step_of(delta, target_of(id), use_.used[id], high_use.used[id]);
          deal test;
          test.copy(dealt_, nd_);
          std::uint32_t test_start = start;
          for (std::uint32_t converted = 0; test_start < nd_; ++test_start) {
            dealt_layers& from = test.layers[test_start];
            const std::uint32_t moved = detail::smaller(step - converted, from.n_part);
            from.n_layer -= moved;
            from.n_part -= moved;
            test.layers[id].n_layer += moved;
            converted += moved;
            if (from.n_part > 0) break;
          }
          const measured test_use = measure(test.layers);
          if (test_use.used[id] <= target_of(id)) {
            take(test, test_use);
            start = test_start;
          } else {
            high = test;
            high_use = test_use;
          }
          const std::uint32_t next = high.layers[id].n_full() - dealt_[id].n_full();
          if (next >= delta) break;  // no layer could be moved: the engine never ends (issue 18337)
          delta = next;
        }
      }
      note({.change = llama_cpp_fit_change::full_layers,
            .gpu = id,
            .before = before,
            .after = dealt_[id].n_full()});
      if (start < nd_) take_part_of_one_more(id, start);
    }
  }

  constexpr void take_part_of_one_more(std::uint32_t id, std::uint32_t& start) {
    using enum llama_cpp_layer_part;
    if (dealt_[start].n_layer <= (id + 1 < nd_ ? 0u : 1u) || dealt_[start].n_part == 0) return;
    deal test;
    test.copy(dealt_, nd_);
    std::uint32_t test_start = start;
    --test.layers[start].n_layer;
    --test.layers[start].n_part;
    ++test.layers[id].n_layer;
    ++test.layers[id].n_part;
    if (test.layers[start].n_part == 0) ++test_start;
    test.layers[id].to_next = id + 1 < nd_;
    const auto holds = [&](llama_cpp_layer_part part) {
      test.layers[id].first_part = part;
      const measured use = measure(test.layers);
      if (use.used[id] >= target_of(id)) return false;
      if (id + 1 < nd_ && use.used[id + 1] >= target_of(id + 1)) return false;
      take(test, use);
      return true;
    };
    bool taken = holds(attention_up);
    if (taken) {
      holds(attention_up_gate);
    } else {
      taken = holds(attention);
    }
    if (!taken) return;
    start = test_start;
    std::uint32_t layer = places_;
    for (std::uint32_t i = 0; i < nd_; ++i) layer -= dealt_[i].n_layer;
    for (std::uint32_t i = 0; i < id; ++i) layer += dealt_[i].n_layer;
    note({.change = llama_cpp_fit_change::part_of_layer,
          .gpu = id,
          .part = dealt_[id].first_part,
          .before = 0,
          .after = layer + dealt_[id].n_full()});
  }

  /// Layers of all GPUs, as a value.
  struct deal {
    dealt_layers layers[llama_cpp_max_devices] = {};
    constexpr void copy(const dealt_layers* from, std::uint32_t count) {
      for (std::uint32_t i = 0; i < count; ++i) layers[i] = from[i];
    }
  };
  constexpr void take(const deal& chosen, const measured& use) {
    for (std::uint32_t id = 0; id < nd_; ++id) dealt_[id] = chosen.layers[id];
    use_ = use;
  }

  /// Writes what was dealt out into the options.
  constexpr void settle() {
    dealt_out_ = true;
    engines::llama_cpp options;
    use_ = measure(dealt_, options);
    asked_ = options;
    for (std::uint32_t id = 0; id < nd_; ++id) {
      found_.gpus[id].n_layer = dealt_[id].n_layer;
      found_.gpus[id].n_part = dealt_[id].n_part;
      found_.gpus[id].first_part = dealt_[id].first_part;
      found_.gpus[id].overflows_to_next = dealt_[id].n_part != 0 && dealt_[id].to_next;
    }
  }

  /// What the options at the end take.
  constexpr void finish() {
    const measured use = dealt_out_ ? use_ : measure(asked_);
    for (std::uint32_t id = 0; id < nd_; ++id) {
      found_.gpus[id].used = bytes{static_cast<std::uint64_t>(use.used[id])};
    }
    found_.host = bytes{static_cast<std::uint64_t>(use.host)};
    found_.uncounted_output = use.output;
    const std::uint32_t main_gpu = found_.options.main_gpu;  // the only GPU there is while it is measured
    found_.options = asked_;
    found_.options.main_gpu = main_gpu;
    if (!dealt_out_) return;
    // A layer that lies partly on the next GPU cannot be said in options: it is whole there.
    std::uint32_t layer = places_;
    for (std::uint32_t id = 0; id < nd_; ++id) layer -= dealt_[id].n_layer;
    for (std::uint32_t id = 0; id < nd_; ++id) {
      const std::uint32_t first = layer + dealt_[id].n_full();
      if (found_.gpus[id].overflows_to_next && first + 1 < places_) {
        for (auto& part : found_.options.host_tensors.layers) {
          part[first / 64] &= ~(std::uint64_t{1} << (first % 64));
        }
      }
      layer += dealt_[id].n_layer;
    }
  }

  const deployment* d_;
  const llama_cpp_fit_settings* settings_;
  engines::llama_cpp asked_;
  llama_cpp_fit_result found_{};
  std::uint64_t free_[llama_cpp_max_devices] = {};
  std::int64_t margins_[llama_cpp_max_devices] = {};
  dealt_layers dealt_[llama_cpp_max_devices] = {};
  measured use_{};
  std::uint64_t streams_ = 1;
  std::uint32_t nd_ = 0;
  std::uint32_t places_ = 0;
  bool experts_ = false;
  bool dealt_out_ = false;
};

}  // namespace llama_cpp_fitting

/// What llama.cpp's `--fit` makes of the options on `count` GPUs with so much memory: the options it loads
/// with, every step, and why it gave up where it did. It lowers only what the user left to it: n_ctx where it
/// is 0, layers and tensors where none of `-ngl`, `-ts`, `-ot` (and `--cpu-moe`) is given. Options that the
/// engine refuses are returned with its reason; more GPUs than it can use stop. Not followed: draft layers of
/// the model's own as layers to deal out, and builds before the newest that is known.
/// Cost: one graph per device and probe; about 2 + 2·log2(layers) probes per GPU.
[[nodiscard]] constexpr llama_cpp_fit_result llama_cpp_fit(
    const engines::llama_cpp& options, const deployment& d, const llama_cpp_gpu_memory* gpus,
    std::uint32_t count, const llama_cpp_fit_settings& settings = llama_cpp_fit_settings{}) {
  return llama_cpp_fitting::fitter(options, d, gpus, count, settings).run();
}

}  // namespace kvbudget::inline v0
