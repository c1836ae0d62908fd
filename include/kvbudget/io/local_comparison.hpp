#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/engine/llama_cpp.hpp"
#include "kvbudget/io/comparison.hpp"
#include "kvbudget/io/engine_log/figures.hpp"
#include "kvbudget/lookup/gpu_lookup.hpp"

/// What llama.cpp, or a program that runs it, printed of its buffers beside what the engine's rules predict
/// of each, device by device. Needs the standard library only.
namespace kvbudget::inline v0 {

namespace detail {

// ---- devices of a log ------------------------------------------------------------------------------------

/// `CUDA0_Mapped` → `CUDA0`: what a buffer type's memory belongs to.
[[nodiscard]] inline std::string_view owner_of(std::string_view name) {
  for (const std::string_view kind : {"_Mapped", "_Private", "_Split"}) {
    if (name.ends_with(kind)) return name.substr(0, name.size() - kind.size());
  }
  return name;
}
/// Whether a buffer type lies in host memory: `CPU`, `CPU_REPACK`, `CUDA_Host`, … Source: ggml-org/llama.cpp,
/// ggml/src (names of buffer types).
[[nodiscard]] inline bool is_host_buffer(std::string_view name) {
  const std::string_view owner = owner_of(name);
  return owner == "CPU" || owner.starts_with("CPU_") || owner.ends_with("Host") || owner == "AMX" ||
         owner == "BLAS" || owner == "KleidiAI";
}
/// Whether it shows a range of a file, which holds more than the tensors that are used.
[[nodiscard]] inline bool is_mapping(std::string_view name) { return name.ends_with("_Mapped"); }
/// Whether it holds rows of the matrices of all GPUs.
[[nodiscard]] inline bool is_split_buffer(std::string_view name) { return name.ends_with("_Split"); }

/// Figures that no computer has are left out: more than 2^50 bytes.
[[nodiscard]] inline bool is_believable(const printed_amount& of) {
  constexpr std::int64_t most = std::int64_t{1} << 50;
  return of.bytes >= -most && of.bytes <= most && of.rounding_bytes <= static_cast<std::uint64_t>(most);
}

}  // namespace detail

/// The GPUs of a local engine's log in their order, each by the first of its buffer types.
[[nodiscard]] inline std::vector<const printed_device*> gpus_in(const engine_log& log) {
  std::vector<const printed_device*> found;
  for (const printed_device& each : log.devices) {
    if (detail::is_host_buffer(each.name) || detail::is_split_buffer(each.name)) continue;
    const bool known = std::any_of(found.begin(), found.end(), [&](const printed_device* other) {
      return detail::owner_of(other->name) == detail::owner_of(each.name);
    });
    if (!known) found.push_back(&each);
  }
  const bool in_order = std::any_of(found.begin(), found.end(),
                                    [](const printed_device* each) { return each->free.has_value(); });
  // Lines about buffers come in any order: by the number in the name.
  const auto number = [](const printed_device* each) {
    const std::string_view name = detail::owner_of(each->name);
    std::uint64_t value = 0;
    const std::size_t at = name.find_last_not_of("0123456789");
    for (std::size_t i = at == std::string_view::npos ? 0 : at + 1; i < name.size() && i < at + 8; ++i) {
      value = 10 * value + static_cast<std::uint64_t>(name[i] - '0');
    }
    return value;
  };
  if (!in_order) {
    std::sort(found.begin(), found.end(), [&](const printed_device* a, const printed_device* b) {
      return number(a) != number(b) ? number(a) < number(b) : a < b;  // as they were printed
    });
  }
  return found;
}

/// What the hyper-parameters that a local engine printed say against a model, `n_layer 28, here 36` each;
/// what was not printed, or is a list, is not compared.
[[nodiscard]] inline std::vector<std::string> hyperparameters_against(const engine_log& log,
                                                                      const model_architecture& model) {
  std::vector<std::string> found;
  const auto check = [&](const char* key, std::initializer_list<std::uint64_t> good) {
    const auto setting = log.settings.find(key);
    if (setting == log.settings.end()) return;
    const std::string& text = setting->second;
    if (text.empty() || text.size() > 12 || text.find_first_not_of("0123456789") != std::string::npos) return;
    const std::uint64_t printed = std::strtoull(text.c_str(), nullptr, 10);
    if (std::find(good.begin(), good.end(), printed) != good.end()) return;
    found.push_back(std::string(key) + " " + text + ", here " + std::to_string(*good.begin()));
  };
  std::uint64_t heads = 0, kv_heads = 0, key_dim = 0, other_key_dim = 0, value_dim = 0, other_value_dim = 0;
  std::uint64_t window = 0, rank = 0, experts = 0, experts_used = 0;
  for (std::size_t i = 0; i < model.kind_count; ++i) {
    const layer_kind& layer = model.kinds[i];
    experts = detail::larger(experts, std::uint64_t{layer.num_experts});
    experts_used = detail::larger(experts_used, std::uint64_t{layer.num_experts_per_tok});
    for (std::size_t j = 0; j < layer.store_count; ++j) {
      const store& kept = layer.stores[j];
      window = detail::larger(window, kept.window);
      rank = detail::larger(rank, std::uint64_t{kept.latent_rank});
      if (!llama_cpp_cache::detail::attends(kept)) continue;
      heads = detail::larger(heads, std::uint64_t{layer.num_attention_heads});
      kv_heads = detail::larger(kv_heads, std::uint64_t{kept.kv_heads});
      other_key_dim = key_dim == 0 ? kept.key_dim : key_dim;
      other_value_dim = value_dim == 0 ? kept.value_dim : value_dim;
      key_dim = kept.key_dim;
      value_dim = kept.value_dim;
    }
  }
  const std::uint64_t layers = model.num_hidden_layers;
  check("n_layer", {layers, layers + model.draft_layers});
  check("n_embd", {model.hidden_size});
  if (heads != 0 && rank == 0) {
    check("n_head", {heads});
    check("n_head_kv", {kv_heads});
    check("n_embd_head_k", {key_dim, other_key_dim});
    check("n_embd_head_v", {value_dim, other_value_dim});
  }
  if (window != 0) check("n_swa", {window, 0});
  if (rank != 0) check("n_lora_kv", {rank});
  check("n_expert", {experts});
  check("n_expert_used", {experts_used});
  check("n_vocab", {model.vocab_size});
  return found;
}

namespace detail {

// ---- what is predicted -----------------------------------------------------------------------------------

/// A cache as its `size = …` line has it: without alignment and room behind rows.
struct predicted_cache {
  const char* name = "";
  std::uint64_t size = 0;
  std::uint64_t keys = 0;  ///< or convolution states
  std::uint64_t values = 0;
  std::uint64_t cells = 0;
  std::uint64_t layers = 0;
};

/// All that is put beside a log.
struct local_prediction {
  llama_cpp_memory memory{};
  std::vector<predicted_cache> caches{};  ///< those that the model has
  predicted_cache attention{};            ///< all but recurrent states, where one cache has them
};

/// Layers that keep something of a kind. Those that keep nothing count with the full ones, unless there are
/// recurrent layers.
template <class Is> [[nodiscard]] std::uint64_t layers_with(const model_architecture& model, Is is) {
  std::uint64_t count = 0;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const layer_kind& layer = model.kinds[kind];
    bool has = layer.store_count == 0 && is(store{});
    for (std::size_t i = 0; i < layer.store_count; ++i) {
      has = has || is(llama_cpp_cache::detail::as_kept(model, layer, layer.stores[i]));
    }
    if (has) count += model.layers_of[kind];
  }
  return count;
}
[[nodiscard]] inline bool keeps_a_window(const store& kept) {
  return kept.kind == store_kind::sliding_window || kept.kind == store_kind::chunked ||
         kept.kind == store_kind::compressed;
}
[[nodiscard]] inline std::uint64_t window_cells_of(const model_architecture& model,
                                                   const llama_cpp_cache::sizes& sizes) {
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    for (std::size_t i = 0; i < model.kinds[kind].store_count; ++i) {
      const store kept =
          llama_cpp_cache::detail::as_kept(model, model.kinds[kind], model.kinds[kind].stores[i]);
      if (keeps_a_window(kept)) return sizes.window_cells(kept.window);
    }
  }
  return 0;
}
/// Bytes of the convolution states of one sequence in all layers.
[[nodiscard]] inline std::uint64_t convolution_bytes(const model_architecture& model) {
  std::uint64_t sum = 0;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    for (std::size_t i = 0; i < model.kinds[kind].store_count; ++i) {
      const store& kept = model.kinds[kind].stores[i];
      if (kept.kind != store_kind::recurrent) continue;
      sum = add_product(sum, formats::fp32.size_of(state_of(kept).convolution).value, model.layers_of[kind]);
    }
  }
  return sum;
}

inline void add_cache(local_prediction& to, const predicted_cache& cache) {
  if (cache.size != 0) to.caches.push_back(cache);
}

[[nodiscard]] inline local_prediction prediction_of(const engines::llama_cpp& on, const deployment& d,
                                                    std::uint64_t gpus, const std::uint64_t* free) {
  using llama_cpp_cache::backend;
  using llama_cpp_cache::cache_bytes;
  const model_architecture& model = *d.model;
  local_prediction found;
  found.memory = llama_cpp_memory_of(on, d, gpus, free);
  const llama_cpp_cache::sizes& sizes = found.memory.sizes;
  const engines::llama_cpp asked = llama_cpp_devices::resolved(on, d);
  const auto kept = [&](llama_cpp_cache_type values) {
    engines::llama_cpp with = asked;
    with.type_v = values;
    return llama_cpp_cache::cache_of(with, model, sizes, backend::cpu);
  };
  const cache_bytes all = kept(asked.type_v);
  // Values alone: what fp32 takes more than fp16 is their size in fp16.
  const cache_bytes single = kept(llama_cpp_cache_type::f32);
  const cache_bytes half = kept(llama_cpp_cache_type::f16);
  const auto part = [&](const char* name, std::uint64_t size, std::uint64_t in_single, std::uint64_t in_half,
                        std::uint64_t cells, std::uint64_t layers) {
    const std::uint64_t values = format_of(asked.type_v).size_of((in_single - in_half) / 2).value;
    return predicted_cache{name, size, size - smaller(size, values), values, cells, layers};
  };
  const bool hybrid = has_store(model, store_kind::recurrent);
  const auto is_full = [&](const store& one) {
    return one.kind == store_kind::full || one.kind == store_kind::latent ||
           (one.kind == store_kind::none && !hybrid);
  };
  add_cache(found,
            part("full", all.full, single.full, half.full, sizes.n_ctx_seq, layers_with(model, is_full)));
  add_cache(found, part("windowed", all.windowed, single.windowed, half.windowed,
                        window_cells_of(model, sizes), layers_with(model, keeps_a_window)));
  add_cache(found, part("index", all.index, single.index, half.index, sizes.n_ctx_seq,
                        layers_with(model, [](const store& one) { return one.indexer_dim != 0; })));
  const std::uint64_t convolution = checked_mul(convolution_bytes(model), sizes.state_rows());
  add_cache(found,
            {"recurrent", all.recurrent, smaller(convolution, all.recurrent),
             all.recurrent - smaller(convolution, all.recurrent), sizes.n_seq_max, model.num_hidden_layers});
  found.attention =
      part("attention", all.attention(), single.attention(), half.attention(), sizes.n_ctx_seq,
           layers_with(model, [&](const store& one) { return is_full(one) || keeps_a_window(one); }));
  return found;
}

[[nodiscard]] inline local_prediction prediction_of(const engines::ik_llama_cpp& on, const deployment& d,
                                                    std::uint64_t, const std::uint64_t*) {
  const model_architecture& model = *d.model;
  local_prediction found;
  found.memory = on.memory(d, nullptr);
  const ik_llama_cpp_cache::cache_bytes all = ik_llama_cpp_cache::printed_of(on, model);
  const std::uint64_t cells = ik_llama_cpp_cache::sizes_of(on, model).n_ctx;
  found.attention = {"attention", all.total().value, all.keys, all.values, cells, model.num_hidden_layers};
  add_cache(found, found.attention);
  return found;
}

// ---- side by side ----------------------------------------------------------------------------------------

/// Puts together what one log says and what is predicted of it.
class local_comparer {
 public:
  local_comparer(const engine_log& log, const deployment& d, local_prediction predicted)
      : log_(log), d_(d), predicted_(std::move(predicted)), gpus_(gpus_in(log)) {}

  [[nodiscard]] comparison result() {
    devices();
    totals();
    caches();
    table();
    fit();
    drafts();
    mention();
    doubts();
    conclude();
    return std::move(to_);
  }

 private:
  struct prediction {
    double low = 0, expected = 0, high = 0;
  };
  /// Printed amounts of one device, added up.
  struct printed_sum {
    double bytes = 0, rounding = 0;
    std::uint32_t line = 0;
    std::string names{};
    void add(const printed_amount& one, std::string_view name) {
      bytes += static_cast<double>(one.bytes);
      rounding += static_cast<double>(one.rounding_bytes);
      if (line == 0) line = one.line;
      if (names.empty() || names.size() < 60) names += (names.empty() ? "" : " + ") + std::string(name);
    }
    void add(const printed_sum& other) {
      bytes += other.bytes;
      rounding += other.rounding;
      if (line == 0) line = other.line;
    }
  };
  using member = std::optional<printed_amount> printed_device::*;
  static constexpr std::size_t host = static_cast<std::size_t>(-1);

  [[nodiscard]] static double number(bytes value) { return static_cast<double>(value.value); }
  [[nodiscard]] static double number(std::uint64_t value) { return static_cast<double>(value); }
  template <class Value> [[nodiscard]] static prediction exactly(Value value) {
    return {number(value), number(value), number(value)};
  }
  [[nodiscard]] static prediction range_of(const byte_range& range) {
    return {number(range.low), number(range.expected), number(range.high)};
  }
  static void add(prediction& to, const prediction& other) {
    to.low += other.low;
    to.expected += other.expected;
    to.high += other.high;
  }
  void add(const char* name, const char* what, figure_unit unit, std::string where, std::uint32_t line,
           double printed, double rounding, const prediction& ours) {
    to_.figures.push_back(
        {name, what, unit, std::move(where), line, printed, rounding, ours.expected, ours.low, ours.high});
  }
  void add_size(const char* name, const char* what, std::string where, const printed_amount& printed,
                const prediction& ours) {
    if (!is_believable(printed)) return left_out(what, printed.line);
    add(name, what, figure_unit::size, std::move(where), printed.line, static_cast<double>(printed.bytes),
        static_cast<double>(printed.rounding_bytes), ours);
  }
  void add_count(const char* name, const char* what, figure_unit unit, std::string where,
                 const std::optional<printed_count>& printed, std::uint64_t ours) {
    if (!printed) return;
    if (printed->value > std::uint64_t{1} << 40) return left_out(what, printed->line);
    add(name, what, unit, std::move(where), printed->line, static_cast<double>(printed->value), 0,
        exactly(ours));
  }
  void left_out(const char* what, std::uint32_t line) {
    to_.not_predicted.push_back(std::string(what) + " in line " + std::to_string(line) +
                                ": beyond any computer, left out");
  }

  /// The GPU that a buffer type belongs to; `host`, or nothing beyond the GPUs that are predicted.
  [[nodiscard]] std::optional<std::size_t> place_of(const std::string& name) const {
    if (is_host_buffer(name)) return host;
    if (is_split_buffer(name)) return 0;
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      if (owner_of(gpus_[i]->name) == owner_of(name)) {
        return i < predicted_.memory.gpu_count ? std::optional(i) : std::nullopt;
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] const llama_cpp_buffers& held(std::size_t at) const {
    return at == host ? predicted_.memory.host : predicted_.memory.gpus[at];
  }
  [[nodiscard]] std::string name_of_gpu(std::size_t at) const {
    if (at == host) return "host";
    return at < gpus_.size() ? std::string(owner_of(gpus_[at]->name)) : "GPU" + std::to_string(at);
  }

  /// What the buffer types of one device print of a kind, together; nothing where none does.
  [[nodiscard]] std::optional<printed_sum> printed_on(const std::vector<printed_device>& devices,
                                                      std::size_t at, member kind) {
    std::optional<printed_sum> sum;
    for (const printed_device& each : devices) {
      if (!(each.*kind) || place_of(each.name) != at || !is_believable(*(each.*kind))) continue;
      if (!sum) sum.emplace();
      sum->add(*(each.*kind), each.name);
    }
    return sum;
  }
  [[nodiscard]] bool prints(member kind) const {
    return std::any_of(log_.devices.begin(), log_.devices.end(),
                       [&](const printed_device& each) { return (each.*kind).has_value(); });
  }
  [[nodiscard]] bool prints_recurrent() const {
    return prints(&printed_device::recurrent) ||
           std::any_of(log_.caches.begin(), log_.caches.end(),
                       [](const printed_cache& each) { return each.recurrent; });
  }

  /// Ollama's own engine computes another graph.
  [[nodiscard]] bool is_own_engine() const { return log_.total_memory.has_value(); }

  [[nodiscard]] prediction model_of(std::size_t at, bool mapped) const {
    prediction ours = exactly(held(at).model_total());
    if (mapped) {  // the span of the file, and what was taken out of it to be stored otherwise
      ours.high = number(predicted_.memory.host.model_total());
      for (std::uint32_t i = 0; i < predicted_.memory.gpu_count; ++i) {
        ours.high += number(predicted_.memory.gpus[i].model_total());
      }
      ours.high = std::max(ours.high, number(predicted_.memory.mapped_high));
      if (at == host) ours.high += number(held(at).model_total());
    }
    return ours;
  }
  [[nodiscard]] prediction context_of(std::size_t at) const {
    return prints_recurrent() ? exactly(held(at).context.attention()) : exactly(held(at).context.total());
  }

  template <class Predict> void buffers(const char* name, const char* what, member kind, Predict predict) {
    if (!prints(kind)) return;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < predicted_.memory.gpu_count; ++i) places.push_back(i);
    places.push_back(host);
    for (const std::size_t at : places) {
      const std::optional<printed_sum> printed = printed_on(log_.devices, at, kind);
      const prediction ours = predict(at);
      if (printed) {
        add(name, what, figure_unit::size, printed->names, printed->line, printed->bytes, printed->rounding,
            ours);
      } else if (ours.low > 0) {
        to_.predicted_only.push_back(std::string(what) + " of " + name_of_gpu(at) + ": " +
                                     mebibytes_text(ours.expected));
      }
    }
  }

  void devices() {
    const bool split = std::any_of(log_.devices.begin(), log_.devices.end(), [](const printed_device& each) {
      return is_split_buffer(each.name) && each.model;
    });
    if (split) {
      split_model();
    } else {
      buffers("model", "weights", &printed_device::model, [&](std::size_t at) {
        const bool mapped =
            std::any_of(log_.devices.begin(), log_.devices.end(), [&](const printed_device& each) {
              return each.model && is_mapping(each.name) && place_of(each.name) == at;
            });
        return model_of(at, mapped);
      });
    }
    buffers("context", "context", &printed_device::context, [&](std::size_t at) { return context_of(at); });
    buffers("recurrent", "recurrent states", &printed_device::recurrent,
            [&](std::size_t at) { return exactly(held(at).context.recurrent); });
    if (!is_own_engine()) {
      buffers("compute", "compute", &printed_device::compute,
              [&](std::size_t at) { return range_of(held(at).compute.range); });
    }
    std::optional<printed_sum> output;
    for (const printed_device& each : log_.devices) {
      if (!each.output || !is_believable(*each.output)) continue;
      if (!output) output.emplace();
      output->add(*each.output, each.name);
    }
    if (output) {
      add("output", "output", figure_unit::size, output->names, output->line, output->bytes, output->rounding,
          exactly(predicted_.memory.output));
    }
  }
  /// Rows of matrices are in a buffer of all GPUs together.
  void split_model() {
    printed_sum all;
    prediction ours;
    for (const printed_device& each : log_.devices) {
      if (each.model && is_believable(*each.model) && place_of(each.name).value_or(host) != host) {
        all.add(*each.model, each.name);
      }
    }
    for (std::uint32_t i = 0; i < predicted_.memory.gpu_count; ++i) add(ours, model_of(i, false));
    if (all.line != 0) {
      add("model", "weights", figure_unit::size, all.names, all.line, all.bytes, all.rounding, ours);
    }
  }

  /// All buffers of each GPU that prints every kind.
  void totals() {
    for (std::size_t i = 0; i < predicted_.memory.gpu_count; ++i) {
      const auto model = printed_on(log_.devices, i, &printed_device::model);
      const auto context = printed_on(log_.devices, i, &printed_device::context);
      const auto recurrent = printed_on(log_.devices, i, &printed_device::recurrent);
      const auto compute = printed_on(log_.devices, i, &printed_device::compute);
      if (!model || (!context && !recurrent) || !compute || is_own_engine()) continue;
      printed_sum all = *model;
      if (context) all.add(*context);
      if (recurrent) all.add(*recurrent);
      all.add(*compute);
      add("total", "all buffers", figure_unit::size, name_of_gpu(i), all.line, all.bytes, all.rounding,
          self_of(i));
    }
  }
  [[nodiscard]] prediction self_of(std::size_t at) const {
    prediction sum = exactly(held(at).model_total());
    add(sum, exactly(held(at).context.total()));
    add(sum, range_of(held(at).compute.range));
    return sum;
  }

  /// Which of the predicted caches a printed one is; null: none.
  [[nodiscard]] const predicted_cache* cache_for(const printed_cache& printed) const {
    const auto named = [&](const char* name) -> const predicted_cache* {
      for (const predicted_cache& each : predicted_.caches) {
        if (same_text(each.name, name)) return &each;
      }
      return nullptr;
    };
    const std::string& label = printed.label;
    const auto says = [&](const char* word) { return label.find(word) != std::string::npos; };
    if (printed.recurrent) return named("recurrent");
    if (says("index")) return named("index");
    if (says("SWA") && !says("non-SWA")) return named("windowed");
    if (!label.empty()) return named("full");
    std::size_t unlabelled = 0, earlier = 0;
    for (const printed_cache& each : log_.caches) {
      if (each.recurrent || !each.label.empty()) continue;
      if (&each == &printed) earlier = unlabelled;
      ++unlabelled;
    }
    if (unlabelled == 1) return predicted_.attention.size == 0 ? nullptr : &predicted_.attention;
    std::vector<const predicted_cache*> ours;
    for (const predicted_cache& each : predicted_.caches) {
      if (!same_text(each.name, "recurrent")) ours.push_back(&each);
    }
    return earlier < ours.size() ? ours[earlier] : nullptr;
  }
  void caches() {
    std::vector<const predicted_cache*> seen;
    for (const printed_cache& each : log_.caches) {
      const predicted_cache* ours = cache_for(each);
      if (ours != nullptr && std::find(seen.begin(), seen.end(), ours) != seen.end()) ours = nullptr;
      if (ours == nullptr) {
        to_.not_predicted.push_back("the cache in line " + std::to_string(each.line));
        continue;
      }
      seen.push_back(ours);
      const std::string label = !each.label.empty()       ? each.label
                                : each.recurrent          ? "recurrent"
                                : log_.caches.size() == 1 ? ""
                                                          : ours->name;
      const auto size = [&](const char* name, const char* what, const std::optional<printed_amount>& printed,
                            std::uint64_t expected) {
        if (printed) add_size(name, what, label, *printed, exactly(expected));
      };
      size("cache_size", "cache", each.total, ours->size);
      size("cache_keys", each.recurrent ? "its convolution states" : "its keys", each.keys, ours->keys);
      size("cache_values", each.recurrent ? "its other states" : "its values", each.values, ours->values);
      add_count("cache_cells", "its cells",
                each.recurrent ? figure_unit::sequence_count : figure_unit::token_count, label, each.cells,
                ours->cells);
      add_count("cache_layers", "its layers", figure_unit::layer_count, label, each.layers, ours->layers);
    }
    for (const predicted_cache& each : predicted_.caches) {
      const bool compared = std::find(seen.begin(), seen.end(), &each) != seen.end();
      const bool with_others = std::find(seen.begin(), seen.end(), &predicted_.attention) != seen.end() &&
                               !same_text(each.name, "recurrent");
      if (log_.caches.empty() || compared || with_others || !prints_recurrent()) continue;
      to_.predicted_only.push_back(std::string("the ") + each.name +
                                   " cache: " + mebibytes_text(number(each.size)));
    }
  }

  /// Rows of the memory breakdown: in whole MiB, so only what no other line says.
  void table() {
    if (log_.breakdown_projected && !log_.projected) return;
    for (const printed_breakdown& row : log_.breakdown) {
      const std::optional<std::size_t> at = place_of(row.name);
      if (!at) {
        to_.not_predicted.push_back("the memory breakdown of " + row.name);
        continue;
      }
      const bool mapped =
          *at == host && std::any_of(log_.devices.begin(), log_.devices.end(),
                                     [](const printed_device& each) { return is_mapping(each.name); });
      prediction self = self_of(*at);
      self.high += model_of(*at, mapped).high - number(held(*at).model_total());
      if (row.model && !prints(&printed_device::model)) {
        add_size("breakdown_model", "weights, in the table", row.name, *row.model,
                 model_of(*at, *at == host));
      }
      if (row.context && !prints(&printed_device::context)) {
        add_size("breakdown_context", "context, in the table", row.name, *row.context,
                 exactly(held(*at).context.total()));
      }
      if (row.compute && !prints(&printed_device::compute)) {
        add_size("breakdown_compute", "compute, in the table", row.name, *row.compute,
                 range_of(held(*at).compute.range));
      }
      if (row.self) add_size("breakdown_self", "all buffers, in the table", row.name, *row.self, self);
      if (row.unaccounted && *at != host) unaccounted(row, *at);
    }
  }
  /// What the device holds beside the buffers of the context: our measured item, and what the log says of a
  /// draft model and a projector.
  void unaccounted(const printed_breakdown& row, std::size_t at) {
    prediction ours;
    if (d_.pinned.framework.given) {
      const amount& given = d_.pinned.framework;
      ours = {number(given.low), number(given.expected), number(given.high)};
    } else if (row.name.starts_with("CUDA") || row.name.starts_with("ROCm")) {
      const measured_constant& context = constants::llama_cpp_cuda_context;
      ours = {number(context.low), number(context.expected), number(context.high)};
    } else {
      to_.not_predicted.push_back("unaccounted memory of " + row.name + ": " +
                                  mebibytes_text(static_cast<double>(row.unaccounted->bytes)));
      return;
    }
    double others = 0;
    for (const auto* devices : {&log_.draft_devices, &log_.projector_devices}) {
      for (const member kind : {&printed_device::model, &printed_device::context, &printed_device::recurrent,
                                &printed_device::compute, &printed_device::other}) {
        if (const auto sum = printed_on(*devices, at, kind)) others += sum->bytes;
      }
    }
    add(ours, {others, others, others});
    add_size("unaccounted", "outside all buffers", row.name, *row.unaccounted, ours);
  }

  /// What `--fit` expected where it had nothing to lower.
  void fit() {
    if (!log_.fit || !log_.fit->projected) return;
    const printed_fit& fit = *log_.fit;
    if (fit.missing || fit.context_after || !fit.devices.empty() || !fit.succeeded.value_or(true)) return;
    prediction ours;
    for (std::uint32_t i = 0; i < predicted_.memory.gpu_count; ++i) add(ours, self_of(i));
    add_size("fit_projected", "projected by --fit, all GPUs", "", *fit.projected, ours);
  }

  /// Draft layers of the model itself have a context of their own.
  void drafts() {
    bool predicted = predicted_.memory.host.draft_context.total().value != 0;
    for (std::uint32_t i = 0; i < predicted_.memory.gpu_count; ++i) {
      predicted = predicted || predicted_.memory.gpus[i].draft_context.total().value != 0;
    }
    std::vector<std::size_t> places{host};
    for (std::size_t i = 0; i < predicted_.memory.gpu_count; ++i) places.push_back(i);
    for (const std::size_t at : places) {
      const auto context = printed_on(log_.draft_devices, at, &printed_device::context);
      if (predicted && context) {
        add("draft_context", "context of the draft layers", figure_unit::size, context->names, context->line,
            context->bytes, context->rounding, exactly(held(at).draft_context.total()));
      } else if (context) {
        not_predicted("context of the draft", *context);
      }
      mention(log_.draft_devices, at, &printed_device::model, "weights of the draft");
      mention(log_.draft_devices, at, &printed_device::recurrent, "recurrent states of the draft");
      mention(log_.draft_devices, at, &printed_device::compute, "compute of the draft");
    }
  }
  void not_predicted(const char* what, const printed_sum& sum) {
    to_.not_predicted.push_back(std::string(what) + " of " + sum.names + ": " + mebibytes_text(sum.bytes));
  }
  void mention(const std::vector<printed_device>& devices, std::size_t at, member kind, const char* what) {
    if (const auto sum = printed_on(devices, at, kind)) not_predicted(what, *sum);
  }
  void mention() {
    std::vector<std::size_t> places{host};
    for (std::size_t i = 0; i < predicted_.memory.gpu_count; ++i) places.push_back(i);
    for (const std::size_t at : places) {
      mention(log_.devices, at, &printed_device::other, "input buffers or adapters");
      if (is_own_engine())
        mention(log_.devices, at, &printed_device::compute, "compute of Ollama's own engine");
      mention(log_.projector_devices, at, &printed_device::model, "weights of the projector");
      mention(log_.projector_devices, at, &printed_device::compute, "compute of the projector");
    }
    for (const printed_device& each : log_.devices) {
      if (place_of(each.name)) continue;
      if (each.model || each.context || each.recurrent || each.compute) {
        to_.not_predicted.push_back("buffers of " + each.name + ", which is none of the " +
                                    std::to_string(predicted_.memory.gpu_count) + " GPUs here");
      }
    }
    const auto amount = [&](const std::optional<printed_amount>& printed, const char* what) {
      if (!printed || !is_believable(*printed)) return;
      to_.not_predicted.push_back(std::string(what) + ": " +
                                  mebibytes_text(static_cast<double>(printed->bytes)));
    };
    amount(log_.memory_required, "memory required");
    amount(log_.vram_used, "VRAM used");
    amount(log_.compute_total, "compute buffers together");
    amount(log_.total_memory, "Ollama's total");
    for (const printed_failure& each : log_.failures) {
      to_.doubts.push_back("line " + std::to_string(each.line) + (each.recovered ? ", overcome: " : ": ") +
                           each.text);
    }
  }

  void doubts() {
    std::string against;
    for (const std::string& each : hyperparameters_against(log_, *d_.model)) {
      against += (against.empty() ? "" : "; ") + each;
    }
    if (!against.empty()) to_.doubts.push_back("the log's model is another one: " + against);
    for (const printed_device* each : gpus_) {
      if (!each->total || each->description.empty()) continue;
      const gpu_lookup known = find_gpu(each->description.c_str());
      if (!known || known.gpu->runtime_total_bytes == 0 || known.gpu->unified_memory) continue;
      const double total = number(usable(*known.gpu).expected);
      const double printed = static_cast<double>(each->total->bytes);
      if (std::abs(total - printed) <= 0.02 * total) continue;
      to_.doubts.push_back(each->name + " has " + mebibytes_text(printed) + ", the " + known.gpu->name +
                           " of the catalogue " + mebibytes_text(total));
    }
    const auto setting = [&](const char* key) {
      const auto found = log_.settings.find(key);
      return found == log_.settings.end() ? std::string() : found->second;
    };
    const bool alone = setting("n_copies") == "1" || setting("pipeline_parallelism") == "disabled";
    const bool pipelined = !alone && setting("pipeline_parallelism") == "enabled";
    if (alone && predicted_.memory.pipelined) {
      to_.doubts.emplace_back(
          "the log runs without pipeline parallelism; predicted are four copies of every input");
    }
    if (pipelined && !predicted_.memory.pipelined) {
      to_.doubts.emplace_back("the log runs with pipeline parallelism, which is not predicted");
    }
    if (log_.offloaded_layers && log_.offloadable_layers && predicted_.memory.gpu_count != 0 &&
        log_.offloadable_layers->value != std::uint64_t{d_.model->num_hidden_layers} + 1 &&
        log_.offloadable_layers->value !=
            std::uint64_t{d_.model->num_hidden_layers} + d_.model->draft_layers + 1) {
      to_.doubts.push_back("the log counts " + std::to_string(log_.offloadable_layers->value) +
                           " layers with the output, the model here has " +
                           std::to_string(d_.model->num_hidden_layers + 1));
    }
  }

  [[nodiscard]] static std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
      text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
    }
    return text;
  }
  /// `12.50 MiB`, with its sign if it is below zero.
  [[nodiscard]] static std::string mebibytes_text(double size) {
    const auto hundredths = std::llround(std::min(std::abs(size) / 1048576.0 * 100, 1e15));
    const std::string digits = std::to_string(hundredths % 100);
    return (size < 0 ? "-" : "") + std::to_string(hundredths / 100) + (digits.size() == 1 ? ".0" : ".") +
           digits + " MiB";
  }
  [[nodiscard]] static std::string named(const compared_figure& of) {
    return of.rank.empty() ? std::string(of.what) : std::string(of.what) + " of " + of.rank;
  }
  [[nodiscard]] static std::string distance(const compared_figure& of) {
    const double more = of.difference();
    const std::string size = of.unit == figure_unit::size
                                 ? mebibytes_text(std::abs(more))
                                 : std::to_string(std::llround(std::min(std::abs(more), 1e15)));
    return size + (more > 0 ? " more" : " less") + " predicted";
  }
  void conclude() {
    if (to_.figures.empty()) {
      to_.conclusion = "nothing that this log prints can be predicted";
      return;
    }
    std::vector<std::string> off, within;
    std::size_t exact = 0, off_count = 0;
    for (const compared_figure& each : to_.figures) {
      switch (each.verdict()) {
        case agreement::as_printed: ++exact; break;
        case agreement::within_range: within.push_back(named(each)); break;
        case agreement::off:
          if (++off_count <= 4) off.push_back(named(each) + " (" + distance(each) + ")");
          break;
      }
    }
    const bool one = to_.figures.size() == 1;
    const std::string all = std::to_string(to_.figures.size());
    const std::string printed = std::to_string(exact);
    if (off_count != 0) {
      if (off_count > off.size()) off.push_back(std::to_string(off_count - off.size()) + " more");
      to_.conclusion =
          "off beyond the printed digits and beyond what was predicted as possible: " + listed(off) + "; " +
          printed + " of " + all + (one ? " figure" : " figures") + " as predicted" +
          (within.empty() ? "" : ", " + std::to_string(within.size()) + " within the range");
    } else if (within.empty()) {
      to_.conclusion = "nothing is off: " + (one ? "the one figure is" : "all " + all + " figures are") +
                       " as predicted, within the printed digits";
    } else {
      to_.conclusion = "nothing is off: " + printed + " of " + all + (one ? " figure" : " figures") +
                       " as predicted, within the printed digits; within what was predicted as possible: " +
                       listed(within);
    }
  }

  const engine_log& log_;
  const deployment& d_;
  local_prediction predicted_;
  std::vector<const printed_device*> gpus_;
  comparison to_{};
};

/// Free memory of the GPUs of a log before loading, in bytes; empty where one did not print it.
[[nodiscard]] inline std::vector<std::uint64_t> free_memory_in(const engine_log& log) {
  std::vector<std::uint64_t> found;
  for (const printed_device* each : gpus_in(log)) {
    if (!each->free || each->free->bytes <= 0 || !is_believable(*each->free)) return {};
    found.push_back(static_cast<std::uint64_t>(each->free->bytes));
  }
  return found;
}

template <class Engine>
[[nodiscard]] comparison compare_local(const engine_log& log, const deployment& d, const Engine& on) {
  const std::uint64_t gpus = llama_cpp_gpus(d);
  const std::vector<std::uint64_t> free = free_memory_in(log);
  const bool known = !free.empty() && free.size() == gpus;
  return local_comparer(log, d, prediction_of(on, d, gpus, known ? free.data() : nullptr)).result();
}

}  // namespace detail

/// What llama.cpp (or Ollama and LM Studio, which start it) printed beside what it is predicted to allocate:
/// weights, context, recurrent states, compute and output of every device, every cache, the memory breakdown.
/// Layers are dealt out by the free memory that the log prints, where `tensor_split` says nothing. Stops if
/// the options are refused (see `llama_cpp_refusal`).
[[nodiscard]] inline comparison compare_with_log(const engine_log& log, const deployment& d,
                                                 const engines::llama_cpp& on) {
  return detail::compare_local(log, d, on);
}
/// The same of ik_llama.cpp.
[[nodiscard]] inline comparison compare_with_log(const engine_log& log, const deployment& d,
                                                 const engines::ik_llama_cpp& on) {
  return detail::compare_local(log, d, on);
}

/// How far compute and output buffers are from a log: what decides between two settings that no line tells.
[[nodiscard]] inline double compute_distance(const comparison& found) {
  double sum = 0;
  for (const compared_figure& each : found.figures) {
    if (!detail::same_text(each.name, "compute") && !detail::same_text(each.name, "breakdown_compute"))
      continue;
    const double beyond = std::max({0.0, each.low - each.printed, each.printed - each.high});
    sum += std::max(0.0, beyond - each.rounding);
  }
  return sum;
}

}  // namespace kvbudget::inline v0
