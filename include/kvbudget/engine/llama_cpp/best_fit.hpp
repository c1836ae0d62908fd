#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/engine/llama_cpp/fit.hpp"

/// Fitting llama.cpp as it should be: everything that takes memory is counted, headroom is what is asked for,
/// and every answer was tried: it fits, and one step more does not.
namespace kvbudget::inline v0 {

/// What there is to fit into, and how sure the fit has to be.
struct llama_cpp_room {
  const llama_cpp_gpu_memory* gpus = nullptr;  ///< free: before the program starts
  std::uint32_t count = 0;
  bytes host_free{};      ///< memory of the host; 0 = as much as is needed
  bytes headroom{};       ///< what has to stay free on every GPU
  bool cautious = false;  ///< the high figures of buffers and of the CUDA context, not the expected ones
  bool unified_memory = false;  ///< what the host holds is in the memory of the first GPU
  measured_constant context = constants::llama_cpp_cuda_context;  ///< on every GPU, in no buffer
};

/// What options need of every GPU and of the host: all buffers, the CUDA context, the logits (on the host).
struct llama_cpp_need {
  bytes gpus[llama_cpp_max_devices] = {};  ///< headroom not included
  std::uint32_t gpu_count = 0;
  bytes host{};
  bytes lacking{};  ///< on the GPU that lacks most, headroom included; 0 = the GPUs hold it
  std::uint32_t lacking_gpu = 0;
  bytes host_lacking{};
  refusal refused{};  ///< why the engine would not start at all

  [[nodiscard]] constexpr bool fits_gpus() const { return !refused && lacking == bytes{}; }
  [[nodiscard]] constexpr bool fits() const { return fits_gpus() && host_lacking == bytes{}; }
};

/// The need of a deployment in a room. Stops on more GPUs than llama.cpp uses. Cost: a graph per device.
[[nodiscard]] constexpr llama_cpp_need llama_cpp_need_of(const engines::llama_cpp& options,
                                                         const deployment& d, const llama_cpp_room& room) {
  llama_cpp_need need;
  const engines::llama_cpp asked = llama_cpp_devices::resolved(options, d);
  const std::uint32_t used = llama_cpp_devices::gpus_used(asked, room.count);
  need.refused = llama_cpp_cache::refused(
      asked, *d.model, used == 0 ? llama_cpp_cache::backend::cpu : llama_cpp_cache::backend::cuda);
  if (need.refused) return need;
  std::uint64_t free[llama_cpp_max_devices] = {};
  for (std::uint32_t i = 0; i < used; ++i) free[i] = room.gpus[i].free.value;
  const llama_cpp_memory memory =
      llama_cpp_memory_of(asked, d, room.count, llama_cpp_fitting::shares_of(free, used));

  const auto of_compute = [&](const llama_cpp_buffers& held) {
    return bytes{room.cautious ? held.compute.range.high : held.compute.range.expected};
  };
  const std::uint64_t rows = detail::larger(
      memory.sizes.n_seq_max, detail::smaller(memory.sizes.n_outputs_max, memory.sizes.n_batch));
  need.host = memory.host.model_total() + memory.host.context_total() + of_compute(memory.host) +
              output_buffer(*d.model, rows);
  need.gpu_count = memory.gpu_count;
  const bytes context{room.cautious ? room.context.high : room.context.expected};
  for (std::uint32_t i = 0; i < memory.gpu_count; ++i) {
    const llama_cpp_buffers& held = memory.gpus[i];
    need.gpus[i] = held.model_total() + held.context_total() + of_compute(held) + context;
    if (room.unified_memory && i == 0) need.gpus[i] += need.host;
    const bytes wanted = need.gpus[i] + room.headroom;
    const bytes there = room.gpus[i].free;
    if (there < wanted && need.lacking < wanted - there) {
      need.lacking = wanted - there;
      need.lacking_gpu = i;
    }
  }
  const bool looks_at_host = room.host_free != bytes{} && !(room.unified_memory && memory.gpu_count != 0);
  if (looks_at_host && room.host_free < need.host) need.host_lacking = need.host - room.host_free;
  return need;
}

/// The answer to one question.
struct llama_cpp_answer {
  bool fits = false;
  bool everything = false;     ///< the most that was asked for fits
  std::uint64_t value = 0;     ///< in the unit of the question
  engines::llama_cpp options;  ///< with the answer in them; where nothing fits, with the least
  llama_cpp_need need{};       ///< of these options
  refusal why{};               ///< why it never fits
  std::uint32_t probes = 0;    ///< how often the model was measured
};

namespace llama_cpp_fitting {

/// Why a need is not met even so.
[[nodiscard]] constexpr refusal reason_of(const llama_cpp_need& need, const char* gpu_lacks,
                                          const char* host_lacks) {
  if (need.refused) return need.refused;
  if (need.lacking != bytes{}) return {gpu_lacks, need.lacking_gpu, need.lacking.value};
  if (need.host_lacking != bytes{}) return {host_lacks, need.host_lacking.value};
  return {};
}

/// Tries options one after the other.
class prober {
 public:
  constexpr prober(const deployment& d, const llama_cpp_room& room) : d_(&d), room_(&room) {}
  [[nodiscard]] constexpr llama_cpp_need need_of(const engines::llama_cpp& options) {
    ++probes_;
    return llama_cpp_need_of(options, *d_, *room_);
  }
  [[nodiscard]] constexpr bool fits(const engines::llama_cpp& options) { return need_of(options).fits(); }
  [[nodiscard]] constexpr bool fits_gpus(const engines::llama_cpp& options) {
    return need_of(options).fits_gpus();
  }
  /// Writes down what the options need, and why they do not fit.
  constexpr void conclude(llama_cpp_answer& answer, const char* gpu_lacks, const char* host_lacks) {
    answer.need = need_of(answer.options);
    answer.fits = answer.need.fits();
    answer.everything = answer.everything && answer.fits;
    answer.why = reason_of(answer.need, gpu_lacks, host_lacks);
    answer.probes += probes_;
  }

 private:
  const deployment* d_;
  const llama_cpp_room* room_;
  std::uint32_t probes_ = 0;
};

/// The last of `good`, `good` + 1, … before `bad` for which `holds` is true, if it stays false once it is;
/// in any case one that holds while the next does not. `good` holds, `bad` does not.
template <class Holds>
[[nodiscard]] constexpr std::uint64_t last_that_holds(std::uint64_t good, std::uint64_t bad,
                                                      const Holds& holds) {
  while (bad - good > 1) {
    const std::uint64_t middle = good + (bad - good) / 2;
    (holds(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace llama_cpp_fitting

/// The largest n_ctx that fits, all sequences together, up to `limit` tokens of one sequence (0 = the trained
/// context). llama.cpp rounds up twice, so that the cells of a sequence, in steps of 256, and not n_ctx are
/// what grows evenly (16,384 over 3 sequences are 3 × 5,632 cells): the search is over these steps, and n_ctx
/// + 1 is one step more. Below n_batch the batch grows with n_ctx as well, so that single tokens are tried
/// there. Cost: 3 + log2(limit / 256) probes, and 8 + log2(sequences) more for a context below n_batch.
[[nodiscard]] constexpr llama_cpp_answer llama_cpp_largest_context(const engines::llama_cpp& options,
                                                                   const deployment& d,
                                                                   const llama_cpp_room& room,
                                                                   std::uint64_t limit = 0) {
  using llama_cpp_cache::max_context;
  using llama_cpp_fitting::last_that_holds;
  llama_cpp_fitting::prober tried(d, room);
  llama_cpp_answer answer;
  answer.options = options;
  answer.options.n_ctx = 1;
  const bool on_cpu = options.no_devices || room.count == 0;
  const auto least =
      llama_cpp_cache::sizes_of(llama_cpp_devices::resolved(answer.options, d), *d.model,
                                on_cpu ? llama_cpp_cache::backend::cpu : llama_cpp_cache::backend::cuda);
  const std::uint64_t step = detail::checked_mul(least.n_ctx_seq, least.n_stream);
  if (limit == 0) limit = d.model->max_position_embeddings;
  const std::uint64_t wanted = detail::ceil_div(detail::larger(limit, std::uint64_t{1}), least.n_ctx_seq);
  const std::uint64_t most = detail::larger(detail::smaller(wanted, max_context / step), std::uint64_t{1});
  const auto with = [&](std::uint64_t n_ctx) {
    engines::llama_cpp asked = answer.options;
    asked.n_ctx = n_ctx;
    return asked;
  };
  const auto fits = [&](std::uint64_t n_ctx) { return tried.fits(with(n_ctx)); };
  answer.everything = fits(most * step);
  if (answer.everything) {
    answer.value = most * step;
  } else if (fits(1)) {
    const auto fits_steps = [&](std::uint64_t steps) { return steps == 0 || fits(steps * step); };
    const std::uint64_t steps = last_that_holds(0, most, fits_steps);
    answer.value = detail::larger(steps * step, std::uint64_t{1});
    if (answer.value < options.n_batch)
      answer.value = last_that_holds(answer.value, (steps + 1) * step, fits);
  }
  answer.options = with(detail::larger(answer.value, std::uint64_t{1}));
  tried.conclude(answer, "GPU # lacks # bytes even for the least context",
                 "the host lacks # bytes even for the least context");
  return answer;
}

/// The largest `-ngl` that fits: layers from the last on, the head counted as the first; layers + 1 =
/// everything. Everything may fit where one layer less does not (weights that stay on the host are copied
/// through the GPU), so that is tried first. On several GPUs shares move layers and the head from one to
/// another with every layer more, and no number says anything about the next: all are tried from the largest
/// on. Cost: 3 + log2(layers) probes on one GPU, up to layers + 2 on several.
[[nodiscard]] constexpr llama_cpp_answer llama_cpp_largest_gpu_layers(const engines::llama_cpp& options,
                                                                      const deployment& d,
                                                                      const llama_cpp_room& room) {
  llama_cpp_fitting::prober tried(d, room);
  llama_cpp_answer answer;
  answer.options = options;
  const std::uint64_t all = std::uint64_t{d.model->num_hidden_layers} + 1;
  const auto with = [&](std::uint64_t layers) {
    engines::llama_cpp asked = answer.options;
    asked.n_gpu_layers = static_cast<std::int32_t>(layers);
    return asked;
  };
  const auto fits = [&](std::uint64_t layers) { return tried.fits_gpus(with(layers)); };
  answer.everything = fits(all);
  if (answer.everything) {
    answer.value = all;
  } else if (room.count > 1) {
    answer.value = all - 1;
    while (answer.value != 0 && !fits(answer.value)) --answer.value;
  } else if (fits(0)) {
    answer.value = llama_cpp_fitting::last_that_holds(0, all, fits);
  }
  answer.options = with(answer.value);
  tried.conclude(answer, "GPU # lacks # bytes even with no layer on a GPU",
                 "the host lacks # bytes for the layers that no GPU holds");
  return answer;
}

/// The fewest layers, from the first on, whose experts have to be in host memory (`--n-cpu-moe`) for the rest
/// to fit; 0 = none. Cost: 3 + log2(layers) probes.
[[nodiscard]] constexpr llama_cpp_answer llama_cpp_least_cpu_moe(const engines::llama_cpp& options,
                                                                 const deployment& d,
                                                                 const llama_cpp_room& room) {
  llama_cpp_fitting::prober tried(d, room);
  llama_cpp_answer answer;
  answer.options = options;
  const std::uint32_t layers = llama_cpp_fitting::has_experts(*d.model) ? d.model->num_hidden_layers : 0;
  const auto with = [&](std::uint64_t count) {
    engines::llama_cpp asked = answer.options;
    asked.cpu_moe = false;
    asked.n_cpu_moe = static_cast<std::uint32_t>(count);
    return asked;
  };
  answer.everything = tried.fits_gpus(with(0));
  if (!answer.everything) {
    const auto lacks = [&](std::uint64_t count) { return !tried.fits_gpus(with(count)); };
    answer.value = layers;
    if (layers != 0 && !lacks(layers)) {
      answer.value = llama_cpp_fitting::last_that_holds(0, layers, lacks) + 1;
    }
  }
  answer.options = with(answer.value);
  tried.conclude(answer,
                 layers == 0 ? "GPU # lacks # bytes, and the model has no experts"
                             : "GPU # lacks # bytes even with all experts in host memory",
                 "the host lacks # bytes for the experts that no GPU holds");
  return answer;
}

/// Types of a cache from the widest to the narrowest that still serves.
inline constexpr llama_cpp_cache_type llama_cpp_usual_cache_types[] = {
    llama_cpp_cache_type::f16, llama_cpp_cache_type::q8_0, llama_cpp_cache_type::q4_0};

/// The first of `count` types that fits as the type of both keys and values; the answer is its place in the
/// list. Flash attention is switched on for quantized types, which need it; types that the engine refuses are
/// passed over. Cost: a probe per type.
[[nodiscard]] constexpr llama_cpp_answer llama_cpp_best_cache_types(const engines::llama_cpp& options,
                                                                    const deployment& d,
                                                                    const llama_cpp_room& room,
                                                                    const llama_cpp_cache_type* types,
                                                                    std::size_t count) {
  llama_cpp_fitting::prober tried(d, room);
  llama_cpp_answer answer;
  answer.options = options;
  engines::llama_cpp narrowest = answer.options;
  for (std::size_t i = 0; i < count; ++i) {
    engines::llama_cpp asked = answer.options;
    asked.type_k = asked.type_v = types[i];
    if (llama_cpp_cache::is_quantized(types[i])) asked.flash_attn = llama_cpp_flash_attn::on;
    const llama_cpp_need need = tried.need_of(asked);
    if (need.refused) continue;
    narrowest = asked;
    answer.value = i;
    if (need.fits()) {
      answer.everything = i == 0;
      break;
    }
  }
  answer.options = narrowest;
  tried.conclude(answer, "GPU # lacks # bytes with every one of these cache types",
                 "the host lacks # bytes with every one of these cache types");
  return answer;
}
/// The same of f16, q8_0 and q4_0.
[[nodiscard]] constexpr llama_cpp_answer llama_cpp_best_cache_types(const engines::llama_cpp& options,
                                                                    const deployment& d,
                                                                    const llama_cpp_room& room) {
  return llama_cpp_best_cache_types(options, d, room, llama_cpp_usual_cache_types,
                                    sizeof(llama_cpp_usual_cache_types) / sizeof(llama_cpp_cache_type));
}

/// What may be given up so that a model fits.
enum class llama_cpp_concession : std::uint8_t {
  cache_types,  ///< narrower keys and values
  context,      ///< a shorter context
  experts,      ///< experts of the first layers in host memory
  layers        ///< layers in host memory
};
inline constexpr std::size_t llama_cpp_concession_count = 4;

/// In which order things are given up, and how far.
struct llama_cpp_preferences {
  llama_cpp_concession order[llama_cpp_concession_count] = {
      llama_cpp_concession::cache_types, llama_cpp_concession::experts, llama_cpp_concession::context,
      llama_cpp_concession::layers};
  std::size_t count = llama_cpp_concession_count;               ///< how many of them may be given up at all
  llama_cpp_cache_type narrowest = llama_cpp_cache_type::q8_0;  ///< of the usual types
  std::uint64_t n_ctx_min = 4096;                               ///< tokens that a sequence keeps
};

/// What a plan came to.
struct llama_cpp_plan {
  bool fits = false;
  engines::llama_cpp options;
  llama_cpp_need need{};
  refusal why{};                                  ///< why nothing fits
  bool gave_up[llama_cpp_concession_count] = {};  ///< by llama_cpp_concession
  std::uint32_t probes = 0;
};

/// The options with the least given up: each concession in the order of preference is made as small as it may
/// be for everything to fit, and to its full where that is not enough; then, from the last to the first, what
/// has become free is given back. The wish is `options`; n_ctx 0 = the trained context. Cost: the questions
/// above, each at most twice.
[[nodiscard]] constexpr llama_cpp_plan llama_cpp_best_fit(const engines::llama_cpp& options,
                                                          const deployment& d, const llama_cpp_room& room,
                                                          const llama_cpp_preferences& preferences = {}) {
  using enum llama_cpp_concession;
  llama_cpp_plan plan;
  engines::llama_cpp wish = options;
  const engines::llama_cpp asked = llama_cpp_devices::resolved(options, d);
  const auto on =
      asked.no_devices || room.count == 0 ? llama_cpp_cache::backend::cpu : llama_cpp_cache::backend::cuda;
  plan.options = wish;
  plan.why = llama_cpp_cache::refused(asked, *d.model, on);
  if (plan.why) return plan;
  const auto wished = llama_cpp_cache::sizes_of(asked, *d.model, on);
  plan.options.n_ctx = wish.n_ctx = wished.n_ctx;

  // The types that the cache may have: as wished, then narrower ones.
  llama_cpp_cache_type types[1 + sizeof(llama_cpp_usual_cache_types) / sizeof(llama_cpp_cache_type)] = {};
  std::size_t type_count = 0;
  const auto width = [](llama_cpp_cache_type type) { return format_of(type).size_of(32).value; };
  for (const llama_cpp_cache_type type : llama_cpp_usual_cache_types) {
    const bool narrower = width(type) < width(asked.type_k) || width(type) < width(asked.type_v);
    if (narrower && width(type) >= width(preferences.narrowest)) types[type_count++] = type;
  }

  const auto take = [&](const llama_cpp_answer& answer) {
    plan.probes += answer.probes;
    plan.options = answer.options;
    plan.need = answer.need;
    plan.fits = answer.fits;
    plan.why = answer.why;
  };
  // Gives up as little of one thing as is enough, or all of it.
  const auto concede = [&](llama_cpp_concession what) {
    llama_cpp_answer answer;
    const engines::llama_cpp from = plan.options;
    switch (what) {
      case cache_types:
        if (type_count == 0) return;
        answer = llama_cpp_best_cache_types(from, d, room, types, type_count);
        break;
      case context: {
        answer = llama_cpp_largest_context(from, d, room, wished.n_ctx_seq);
        const std::uint64_t least =
            detail::smaller(wished.n_ctx, detail::checked_mul(preferences.n_ctx_min, wished.n_stream));
        if (answer.value >= least) break;
        answer.options.n_ctx = least;
        llama_cpp_fitting::prober tried(d, room);
        tried.conclude(answer, "GPU # lacks # bytes even for the context that is to be kept",
                       "the host lacks # bytes even for the context that is to be kept");
        break;
      }
      case experts:
        if (!llama_cpp_fitting::has_experts(*d.model)) return;
        answer = llama_cpp_least_cpu_moe(from, d, room);
        break;
      case layers: answer = llama_cpp_largest_gpu_layers(from, d, room); break;
    }
    take(answer);
  };
  llama_cpp_fitting::prober first(d, room);
  llama_cpp_answer whole;
  whole.options = plan.options;
  first.conclude(whole, "GPU # lacks # bytes, and nothing may be given up",
                 "the host lacks # bytes, and nothing may be given up");
  take(whole);
  std::size_t made = 0;
  const std::size_t count = detail::smaller(preferences.count, llama_cpp_concession_count);
  for (; made < count && !plan.fits; ++made) concede(preferences.order[made]);
  // Give back, the types of the wish before those of the list.
  for (std::size_t i = made < 2 || !plan.fits ? 0 : made - 1; i-- > 0;) {
    if (preferences.order[i] == cache_types) {
      llama_cpp_answer back;
      back.options = plan.options;
      back.options.type_k = wish.type_k;
      back.options.type_v = wish.type_v;
      back.options.flash_attn = wish.flash_attn;
      llama_cpp_fitting::prober tried(d, room);
      tried.conclude(back, "", "");
      plan.probes += back.probes;
      if (back.fits) {
        back.probes = 0;
        take(back);
        continue;
      }
    }
    concede(preferences.order[i]);
  }
  plan.gave_up[static_cast<std::size_t>(cache_types)] =
      plan.options.type_k != wish.type_k || plan.options.type_v != wish.type_v;
  plan.gave_up[static_cast<std::size_t>(context)] = plan.options.n_ctx < wish.n_ctx;
  plan.gave_up[static_cast<std::size_t>(experts)] = plan.options.n_cpu_moe != 0;
  plan.gave_up[static_cast<std::size_t>(layers)] = plan.options.n_gpu_layers != wish.n_gpu_layers;
  return plan;
}

}  // namespace kvbudget::inline v0
