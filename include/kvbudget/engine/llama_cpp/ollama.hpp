#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/engine/llama_cpp/cache.hpp"
#include "kvbudget/engine/llama_cpp/ollama_constants.hpp"
#include "kvbudget/engine/llama_cpp/options.hpp"
#include "kvbudget/model/model_architecture.hpp"

namespace kvbudget::inline v0 {

namespace engines {

/// Ollama, by the names of its model parameters and environment variables. It allocates nothing itself: it
/// settles on a context and a batch and starts llama-server with them, which `ollama_rules::launch_of` gives.
/// Source: ollama/ollama v0.33, api/types.go, envconfig/config.go.
struct ollama {
  std::uint64_t num_ctx = 0;       ///< tokens of one sequence; 0 = by the memory of all GPUs
  std::uint64_t num_parallel = 0;  ///< OLLAMA_NUM_PARALLEL: sequences; 0 = 1
  std::uint64_t num_batch = 0;     ///< 0 = by context and memory
  std::int32_t num_gpu = -1;       ///< layers on GPUs; below 0 = left to llama-server
  std::int32_t main_gpu = -1;      ///< the only GPU to use, by its place in the list; below 0 = by memory
  llama_cpp_cache_type kv_cache_type{};  ///< OLLAMA_KV_CACHE_TYPE, of keys and values
  llama_cpp_flash_attn flash_attention = llama_cpp_flash_attn::automatic;  ///< OLLAMA_FLASH_ATTENTION
  option_choice use_mmap = option_choice::automatic;
  bool sched_spread = false;      ///< OLLAMA_SCHED_SPREAD: never choose a single GPU
  bytes gpu_overhead = bytes{0};  ///< OLLAMA_GPU_OVERHEAD: left alone on each GPU
  bytes used_by_others = bytes{0};

  /// The engine's name.
  [[nodiscard]] constexpr engine_name name() const;
  /// How llama-server is started, on as many such GPUs as the deployment has ranks; none without one.
  [[nodiscard]] constexpr llama_cpp started(const deployment& d, const gpu_profile* gpu) const;
  /// As those of `engines::llama_cpp`, of what is started.
  [[nodiscard]] constexpr usable_memory usable(const gpu_profile& gpu) const;
  [[nodiscard]] constexpr memory_budget ledger(const deployment& d, const rank& where,
                                               const gpu_profile* gpu) const;
  [[nodiscard]] constexpr memory_budget host_ledger(const deployment& d, const gpu_profile* gpu) const;
  [[nodiscard]] constexpr kv_growth cache_growth(const deployment& d, const rank& where) const;
  [[nodiscard]] constexpr bytes host_bytes(const deployment& d, const gpu_profile& gpu) const;
  /// Why it loads none of this: there is no ledger then.
  [[nodiscard]] constexpr refusal refuses_to_load(const deployment& d, const gpu_profile* gpu) const;
  [[nodiscard]] constexpr refusal refuses(const deployment& d, const gpu_profile& gpu) const;
};

}  // namespace engines

/// What Ollama does before it starts llama-server. Read in its source, never compared with a run.
/// Sources: ollama/ollama v0.33, server/sched.go, server/routes.go, llm/llama_server.go, ml/device.go.
namespace ollama_rules {

// ---- what it finds ---------------------------------------------------------------------------------------

/// What a GPU is driven by.
enum class library : std::uint8_t { cuda, rocm, metal, vulkan };

/// A GPU as Ollama sees it.
struct gpu {
  std::uint64_t total = 0;  ///< bytes
  std::uint64_t free = 0;   ///< bytes; 0 = all but `used_by_others`
  library runs_on = library::cuda;
  bool flash_attention = true;  ///< whether its generation computes it (CUDA 7.0 and up, except 7.2)
  bool integrated = false;      ///< shares the memory of the host
};

/// The GPUs of a machine, in Ollama's order.
struct gpu_list {
  const gpu* first = nullptr;
  std::size_t count = 0;
  constexpr gpu_list() = default;
  constexpr gpu_list(const gpu* begin, std::size_t size) : first(begin), count(size) {}
  template <std::size_t Count> constexpr gpu_list(const gpu (&all)[Count]) : first(all), count(Count) {}
  [[nodiscard]] constexpr const gpu* begin() const { return first; }
  [[nodiscard]] constexpr const gpu* end() const { return first + count; }
};

namespace detail {
using namespace kvbudget::detail;

[[nodiscard]] constexpr std::uint64_t less(std::uint64_t from, std::uint64_t what) {
  return from > what ? from - what : 0;
}
[[nodiscard]] constexpr bool is_named(const model_architecture& model, const char* name) {
  return same_text(model.model_type, name);
}
using llama_cpp_cache::detail::is_one_of;
/// What small cards are told by: free memory, or all of it where that is not known or less.
[[nodiscard]] constexpr std::uint64_t limit_of(const gpu& on) {
  return on.free != 0 ? smaller(on.free, on.total) : on.total;
}

/// Families that Ollama runs one sequence of, whatever is asked; by `general.architecture` and `model_type`.
/// Source: ollama/ollama server/sched.go (load), issue 4165.
inline constexpr const char* of_one_sequence[] = {
    "mllama",       "qwen3vl", "qwen3vlmoe",  "qwen35",         "qwen35moe",       "qwen3next",
    "lfm2",         "lfm2moe", "nemotron_h",  "nemotron_h_moe", "nemotron_h_omni", "qwen3_vl",
    "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe", "qwen3_next",     "lfm2_moe",
};

/// Head counts as a GGUF file gives them.
struct head_counts {
  std::uint64_t queries = 0;    ///< the most of any layer
  std::uint64_t fewest_kv = 0;  ///< 0 where a layer has none and the file lists them by layer
  std::uint64_t most_kv = 0;
};

/// Layers with a latent count `latent_heads` KV heads: one since files carry `key_length_mla`, before that
/// all of them (0). Layers of a gated delta net have the head counts of the others, other layers without
/// attention none.
[[nodiscard]] constexpr head_counts heads_of(const model_architecture& model, std::uint64_t latent_heads) {
  head_counts found{.fewest_kv = UINT64_MAX};
  for (std::size_t i = 0; i < model.kind_count; ++i) {
    const layer_kind& layer = model.kinds[i];
    std::uint64_t kv = layer.key_value_heads;
    for (std::size_t j = 0; j < layer.store_count; ++j) {
      const store& kept = layer.stores[j];
      if (kept.kv_heads != 0) kv = kept.kv_heads;
      if (kept.kind == store_kind::latent && latent_heads != 0) kv = latent_heads;
    }
    const bool as_the_others =
        layer.store_count != 0 && layer.stores[0].state == state_kind::gated_delta_net && kv == 0;
    if (as_the_others) continue;
    found.queries = larger(found.queries, std::uint64_t{layer.num_attention_heads});
    found.fewest_kv = smaller(found.fewest_kv, kv);
    found.most_kv = larger(found.most_kv, kv);
  }
  if (found.fewest_kv == UINT64_MAX) found.fewest_kv = 0;
  return found;
}
}  // namespace detail

// ---- what it settles on ----------------------------------------------------------------------------------

inline constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

/// Tokens of one sequence if the user gives none: 262,144 with 47 GiB and more on all GPUs together, without
/// the overhead of each; 32,768 with 23 GiB; else 4,096.
[[nodiscard]] constexpr std::uint64_t default_context(gpu_list gpus, std::uint64_t gpu_overhead) {
  std::uint64_t total = 0;
  for (const gpu& each : gpus) total = detail::checked_add(total, detail::less(each.total, gpu_overhead));
  return total >= 47 * gibibyte ? 262'144 : total >= 23 * gibibyte ? 32'768 : 4'096;
}

/// Sequences that Ollama runs of a model.
[[nodiscard]] constexpr std::uint64_t sequences_of(const engines::ollama& asked,
                                                   const model_architecture& model) {
  if (asked.num_parallel == 0 || detail::is_one_of(model, detail::of_one_sequence)) return 1;
  return asked.num_parallel;
}

/// What Ollama takes a model for when it places it: file size + 2 × layers × fewest KV heads × (hidden /
/// query heads) × tokens × 2 bytes. No compute buffer, no cache type, no window, no latent's width, and heads
/// of hidden / query heads whatever the model says: llama-server allocates something else.
[[nodiscard]] constexpr std::uint64_t predicted_bytes(const model_architecture& model,
                                                      std::uint64_t file_bytes, std::uint64_t all_tokens) {
  using detail::checked_mul;
  const detail::head_counts heads = detail::heads_of(model, 1);
  const std::uint64_t head = heads.queries == 0 ? 0 : model.hidden_size / heads.queries;
  const std::uint64_t layers = detail::checked_add(model.num_hidden_layers, model.draft_layers);
  const std::uint64_t token = checked_mul(
      checked_mul(4, layers), checked_mul(detail::larger(heads.fewest_kv, std::uint64_t{1}), head));
  return detail::checked_add(file_bytes, checked_mul(token, all_tokens));
}

/// Memory of a GPU that Ollama plans with: what is free, less 457 MiB (Metal: 512 MiB) and the overhead.
[[nodiscard]] constexpr std::uint64_t available_on(const gpu& on, const engines::ollama& asked) {
  const std::uint64_t free = on.free != 0 ? on.free : detail::less(on.total, asked.used_by_others.value);
  const std::uint64_t minimum = on.runs_on == library::metal ? constants::ollama_minimum_memory_metal.expected
                                                             : constants::ollama_minimum_memory.expected;
  return detail::less(free, detail::checked_add(minimum, asked.gpu_overhead.value));
}

/// Whether a prediction is at most so many percent of the memory that is there.
[[nodiscard]] constexpr bool is_within(std::uint64_t predicted, std::uint64_t percent,
                                       std::uint64_t available) {
  return predicted <= detail::floor_mul_div(available, percent, 100);
}

/// What a batch adds to the prediction.
[[nodiscard]] constexpr std::uint64_t surcharge_of(std::uint64_t num_batch) {
  if (num_batch >= 2048) return constants::ollama_large_batch_surcharge.expected;
  return num_batch >= 1024 ? constants::ollama_medium_batch_surcharge.expected : 0;
}

/// The batch if the user gives none: 2,048 above 32,768 tokens of all sequences, 1,024 above 4,096, else 512.
/// 2,048 needs a prediction of at most 60 % of the memory, 1,024 one of 75 %, and both, with the surcharge,
/// one of 80 %; otherwise the next lower. Without a prediction or memory nothing is checked.
[[nodiscard]] constexpr std::uint64_t automatic_batch(std::uint64_t all_tokens, std::uint64_t predicted,
                                                      std::uint64_t available) {
  const auto fits = [&](std::uint64_t batch) {
    if (predicted == 0 || available == 0) return true;
    const bool alone = is_within(predicted, batch == 2048 ? 60 : 75, available);
    return alone && is_within(detail::checked_add(predicted, surcharge_of(batch)), 80, available);
  };
  if (all_tokens > 32'768 && fits(2048)) return 2048;
  if (all_tokens > 4'096 && fits(1024)) return 1024;
  return 512;
}

/// How Ollama starts llama-server, and what it believed when it decided so.
struct launch {
  engines::llama_cpp starts{};  ///< the command line: -c num_ctx × num_parallel, caches apart, -b = -ub
  std::uint64_t num_ctx = 0;    ///< tokens of one sequence
  std::uint64_t num_parallel = 1;
  std::uint64_t num_batch = 0;
  std::uint64_t predicted = 0;  ///< bytes, without the surcharge
  std::uint64_t available = 0;  ///< bytes, of the GPUs that the model goes to
  std::int32_t only_gpu = -1;   ///< the single GPU that it goes to, by its place in the list; -1 = all
};

/// How Ollama starts a model from a file of so many bytes, on GPUs of one library. A single GPU is chosen if
/// the prediction is at most 80 % of what is available there: the emptiest, and one with memory of its own
/// before an integrated one. How the layers are placed llama-server finds itself (`--fit`).
[[nodiscard]] constexpr launch launch_of(const engines::ollama& asked, const model_architecture& model,
                                         bytes file, gpu_list gpus) {
  launch found;
  found.num_parallel = sequences_of(asked, model);
  found.num_ctx = asked.num_ctx != 0 ? asked.num_ctx : default_context(gpus, asked.gpu_overhead.value);
  const std::uint64_t trained = model.max_position_embeddings;
  if (trained != 0) found.num_ctx = detail::smaller(found.num_ctx, trained);
  const std::uint64_t all_tokens = detail::checked_mul(found.num_ctx, found.num_parallel);
  found.predicted = predicted_bytes(model, file.value, all_tokens);

  const bool on_gpus = asked.num_gpu != 0 && gpus.count != 0;
  if (on_gpus && asked.main_gpu >= 0) {
    if (static_cast<std::size_t>(asked.main_gpu) < gpus.count) found.only_gpu = asked.main_gpu;
  } else if (on_gpus && gpus.count > 1 && !asked.sched_spread) {
    std::uint64_t most = 0;
    bool integrated = true;
    for (std::size_t i = 0; i < gpus.count; ++i) {
      const gpu& each = gpus.first[i];
      const std::uint64_t there = available_on(each, asked);
      const bool better = each.integrated == integrated ? there > most : integrated;
      if (!is_within(found.predicted, 80, there) || !better) continue;
      most = there;
      integrated = each.integrated;
      found.only_gpu = static_cast<std::int32_t>(i);
    }
  }
  if (found.only_gpu >= 0) gpus = {gpus.first + found.only_gpu, 1};

  bool has_cuda = false, unsupported = false, small = false, integrated = false;
  for (const gpu& each : gpus) {
    found.available = detail::checked_add(found.available, available_on(each, asked));
    const bool cuda = each.runs_on == library::cuda;
    const std::uint64_t free = detail::limit_of(each);
    has_cuda = has_cuda || cuda;
    unsupported = unsupported || !each.flash_attention;
    small = small || (cuda && free <= 8 * gibibyte);
    integrated = integrated || (each.integrated && (cuda || each.runs_on == library::rocm));
  }
  engines::llama_cpp& starts = found.starts;
  starts.program = llama_cpp_program::llama_server;
  starts.flash_attn = asked.flash_attention;
  if (asked.flash_attention == llama_cpp_flash_attn::automatic && unsupported) {
    starts.flash_attn = llama_cpp_flash_attn::off;
  }
  if (asked.num_batch != 0) {
    found.num_batch = asked.num_batch;
  } else if (starts.flash_attn == llama_cpp_flash_attn::off && has_cuda) {
    found.num_batch = small && all_tokens > 4'096 ? 256 : 512;
  } else {
    found.num_batch = automatic_batch(all_tokens, found.predicted, found.available);
  }

  starts.n_ctx = all_tokens;
  starts.n_parallel = found.num_parallel;
  starts.kv_unified = option_choice::no;  // what an explicit -np means
  starts.n_batch = starts.n_ubatch = found.num_batch;
  starts.type_k = starts.type_v = asked.kv_cache_type;
  starts.n_gpu_layers = asked.num_gpu < 0 ? -1 : asked.num_gpu;
  if (found.only_gpu >= 0) starts.split_mode = llama_cpp_split_mode::none;  // llama-server sees no other
  if (integrated) {
    starts.load_mode = llama_cpp_load_mode::dio;  // on Linux
  } else if (asked.use_mmap == option_choice::no) {
    starts.load_mode = llama_cpp_load_mode::none;
  }
  starts.used_by_others = asked.used_by_others;
  return found;
}

/// The llama-server that Ollama starts.
[[nodiscard]] constexpr engines::llama_cpp settings_of(const engines::ollama& asked,
                                                       const model_architecture& model, bytes file,
                                                       gpu_list gpus) {
  return launch_of(asked, model, file, gpus).starts;
}

/// What `--fit` leaves free on a GPU for a projector of so many bytes: them and 1 GiB; 0 where the projector
/// stays in host memory, because some GPU has less than that free, or not all layers are on GPUs.
[[nodiscard]] constexpr bytes projector_reserve(const engines::ollama& asked, const model_architecture& model,
                                                bytes projector, gpu_list gpus) {
  const std::uint64_t wanted =
      detail::checked_add(projector.value, constants::ollama_projector_headroom.expected);
  if (projector.value == 0 || asked.num_gpu == 0) return bytes{0};
  const std::uint64_t places = detail::checked_add(model.num_hidden_layers, model.draft_layers) + 1;
  if (asked.num_gpu > 0 && static_cast<std::uint64_t>(asked.num_gpu) < places) return bytes{0};
  for (const gpu& each : gpus) {
    const std::uint64_t free = detail::limit_of(each);
    if (free != 0 && free < wanted) return bytes{0};
  }
  return bytes{wanted};
}

// ---- history ---------------------------------------------------------------------------------------------

/// What Ollama's own estimator printed (`memory.required.kv`, `memory.graph.full`, `memory.graph.partial` of
/// its log), in bytes; `ollama ps` showed sums of it.
struct historic_estimate {
  refusal unknown{};  ///< why there is none; then the rest is 0
  std::uint64_t kv = 0;
  std::uint64_t graph_full = 0;
  std::uint64_t graph_partial = 0;

  /// "required full" on one GPU: a minimum (457 MiB, 0 without a GPU), room for one layer more, weights,
  /// cache and graph.
  [[nodiscard]] constexpr std::uint64_t required_full(std::uint64_t weights, std::uint64_t one_layer,
                                                      std::uint64_t layers, std::uint64_t minimum) const {
    using detail::checked_add;
    const std::uint64_t buffer = checked_add(one_layer, layers == 0 ? 0 : kv / layers);
    return checked_add(checked_add(minimum, buffer), checked_add(weights, checked_add(kv, graph_full)));
  }
};

namespace detail {
/// Which formulas the estimator had for a model; `other` = the general one.
enum class estimator : std::uint8_t { llama, qwen2, gemma, phi2, command_r, deepseek2, gpt_oss, other };

[[nodiscard]] constexpr estimator estimator_of(const model_architecture& model) {
  constexpr const char* llamas[] = {"llama", "llama4", "llama4_text", "mistral", "mixtral"};
  constexpr const char* gemmas[] = {"gemma", "gemma2", "gemma3", "gemma3n", "gemma3_text", "gemma3n_text"};
  constexpr const char* deepseeks[] = {"deepseek2", "deepseek_v2", "deepseek_v3", "kimi_k2"};
  constexpr const char* gpt_osses[] = {"gptoss", "gpt-oss", "gpt_oss"};
  constexpr const char* phis[] = {"phi2", "phi"};
  constexpr const char* commands[] = {"command-r", "cohere"};
  if (is_one_of(model, llamas)) return estimator::llama;
  if (is_named(model, "qwen2")) return estimator::qwen2;
  if (is_one_of(model, gemmas)) return estimator::gemma;
  if (is_one_of(model, phis)) return estimator::phi2;
  if (is_one_of(model, commands)) return estimator::command_r;
  if (is_one_of(model, deepseeks)) return estimator::deepseek2;
  return is_one_of(model, gpt_osses) ? estimator::gpt_oss : estimator::other;
}

/// Elements of keys and values of one token in one layer; latents expanded, as its engine kept them.
[[nodiscard]] constexpr std::uint64_t cached_width(const layer_kind& layer) {
  for (std::size_t i = 0; i < layer.store_count; ++i) {
    const store& kept = layer.stores[i];
    if (kept.kind == store_kind::latent) {
      return std::uint64_t{layer.key_value_heads} * (layer.query_dim + layer.value_dim);
    }
    if (kept.kv_heads != 0) return std::uint64_t{kept.kv_heads} * (kept.key_dim + kept.value_dim);
  }
  return std::uint64_t{layer.key_value_heads} * (layer.query_dim + layer.value_dim);
}
[[nodiscard]] constexpr std::uint64_t key_dim_of(const model_architecture& model) {
  for (std::size_t i = 0; i < model.kind_count; ++i) {
    const layer_kind& layer = model.kinds[i];
    for (std::size_t j = 0; j < layer.store_count; ++j) {
      if (layer.stores[j].kind == store_kind::latent) return layer.query_dim;
      if (layer.stores[j].kv_heads != 0) return layer.stores[j].key_dim;
    }
  }
  return 0;
}
}  // namespace detail

/// What Ollama printed until November 2025, when its estimator was removed; what it says is not what was
/// allocated: q8_0 counts 1 byte per element and q4_0 half of one, block scales are left out. With num_ctx
/// tokens of each of num_parallel sequences and batches of min(num_ctx, num_batch or 512). Refuses what it
/// has no rule for here: mixtures with llama's formulas and models with vision layers, whose weights it
/// looked at; families that are younger. Source: ollama/ollama v0.12, fs/ggml/ggml.go (GraphSize),
/// llm/memory.go.
[[nodiscard]] constexpr historic_estimate old_estimate(const engines::ollama& asked,
                                                       const model_architecture& model) {
  using detail::estimator;
  using detail::larger;
  historic_estimate found;
  const auto refuse = [&found](const char* text, std::uint64_t first = 0, std::uint64_t second = 0) {
    found = historic_estimate{};
    found.unknown = {text, first, second};
    return found;
  };
  if (asked.num_ctx == 0) return refuse("Ollama's default num_ctx changed over time: it must be given");
  const std::uint64_t np = asked.num_parallel == 0 ? 1 : asked.num_parallel;
  const std::uint64_t c = detail::checked_mul(asked.num_ctx, np);
  const std::uint64_t b = detail::smaller(asked.num_ctx, asked.num_batch == 0 ? 512 : asked.num_batch);
  const detail::head_counts heads = detail::heads_of(model, 0);
  const std::uint64_t h = heads.queries, hkv = heads.most_kv, e = model.hidden_size, v = model.vocab_size;
  const std::uint64_t k = detail::key_dim_of(model);
  // Below these no product that follows passes 64 bits.
  constexpr std::uint64_t tokens_at_most = 1 << 26, batch_at_most = 1 << 20, heads_at_most = 1 << 12;
  constexpr std::uint64_t widest = 1 << 20;
  if (c > tokens_at_most) return refuse("Ollama's old estimator: more than # tokens", tokens_at_most);
  if (b > batch_at_most)
    return refuse("Ollama's old estimator: batches of more than # tokens", batch_at_most);
  if (h > heads_at_most || hkv > heads_at_most || k > heads_at_most || e > widest || v > widest) {
    return refuse("Ollama's old estimator: a model of this size has no estimate");
  }
  if (h == 0 || hkv == 0) return refuse("Ollama's old estimator: a model without attention heads");
  constexpr const char* with_towers[] = {"mllama", "chatglm", "stablelm"};
  if (detail::is_one_of(model, with_towers)) {
    return refuse("Ollama's old estimator: its rule for this family reads the file's tensors");
  }
  const estimator rule = detail::estimator_of(model);

  // Halves of bytes per element: q4_0 has half a byte.
  const std::uint64_t halves = asked.kv_cache_type == llama_cpp_cache_type::q8_0   ? 2
                               : asked.kv_cache_type == llama_cpp_cache_type::q4_0 ? 1
                               : asked.kv_cache_type == llama_cpp_cache_type::f32  ? 8
                                                                                   : 4;
  const auto elements = [&](std::uint64_t cells, const layer_kind& layer) {
    return cells * detail::cached_width(layer) * halves / 2;
  };
  std::uint64_t all_full = 0;  // every layer with the whole context
  for (std::uint32_t i = 0; i < model.num_hidden_layers; ++i) {
    const layer_kind& layer = model.kinds[model.order[i]];
    const store& kept = layer.stores[0];
    if (layer.num_experts != 0 && rule == estimator::llama) {
      return refuse("Ollama's old estimator: its rule for mixtures reads the file's tensors");
    }
    if (detail::cached_width(layer) > widest) {
      return refuse("Ollama's old estimator: a model of this size has no estimate");
    }
    if (kept.kind == store_kind::recurrent || kept.kind == store_kind::compressed) {
      if (kept.state != state_kind::mamba1 && kept.state != state_kind::mamba2) {
        return refuse("Ollama's old estimator: a family that is younger than it");
      }
      const state_elements state = state_of(kept);
      const std::uint64_t once = 4 * detail::checked_add(state.convolution, state.recurrent);
      all_full = detail::checked_add(all_full, once);
      found.kv = detail::checked_add(found.kv, once);
      continue;
    }
    std::uint64_t cells = c;
    if (rule == estimator::gpt_oss && i % 2 == 0) cells = 4096 * np + b;
    const bool gemma3 = detail::is_named(model, "gemma3") || detail::is_named(model, "gemma3_text");
    if (gemma3 && (i + 1) % 6 != 0) {
      if (kept.window > tokens_at_most)
        return refuse("Ollama's old estimator: a window of # tokens", kept.window);
      cells = np * kept.window + b;
    }
    all_full = detail::checked_add(all_full, elements(c, layer));
    found.kv = detail::checked_add(found.kv, elements(cells, layer));
  }

  const std::uint64_t logits = 4 * b * (e + v);
  const std::uint64_t dequantized = e * v * 105 / 128;  // of the head
  const std::uint64_t scores = c * (1 + h);
  const std::uint64_t head = e / h;
  switch (rule) {
    case estimator::llama: {
      found.graph_full = larger(4 * b * (1 + 4 * e + scores), logits);
      const std::uint64_t layer =
          4 * b * (1 + e + larger(c, e)) + e * e * 9 / 16 + 4 * c * (b * h + head * hkv);
      found.graph_partial = 4 * b * e + larger(layer, logits + dequantized);
      break;
    }
    case estimator::qwen2:
      found.graph_full = larger(logits, 4 * b * (1 + 2 * e + scores));
      found.graph_partial = larger(logits + dequantized, 4 * (b * (1 + 2 * e + scores) + e * (1 + c)));
      break;
    case estimator::gemma:
      found.graph_full = larger(logits, 4 * b * (2 + scores + 2 * e + 2 * k * h));
      found.graph_partial = larger(
          logits + dequantized, 4 * b * (2 * e + 1 + 2 * k * h + scores) + 32 * k * c + e * k * h * 9 / 16);
      if (detail::is_named(model, "gemma3n") || detail::is_named(model, "gemma3n_text")) {
        found.graph_full *= 4;
        found.graph_partial *= 4;
      }
      break;
    case estimator::phi2:
      found.graph_full = larger(logits, 4 * b * (1 + 4 * e + scores));
      found.graph_partial = larger(4 * b * (2 * e + v) + dequantized, 4 * b * (2 + 3 * e + scores));
      break;
    case estimator::command_r:
      found.graph_full = larger(logits, 4 * b * (2 + 4 * e + scores));
      found.graph_partial =
          larger(logits + dequantized, 4 * b * (1 + 2 * e + scores) + 4 * e * c + e * e * 9 / 16);
      break;
    case estimator::deepseek2: {
      const std::uint64_t kept = c * (1 + hkv);
      found.graph_full = larger(4 * b * (3 * e + v), 4 * b * (3 * e + 2 + kept + 2 * k * hkv));
      found.graph_partial =
          larger(4 * b * (3 * e + v) + dequantized,
                 4 * b * (2 * e + 1 + 2 * k * hkv + kept) + 4 * k * c * hkv + e * k * hkv * 9 / 16);
      break;
    }
    case estimator::gpt_oss:
      found.graph_partial =
          asked.flash_attention == llama_cpp_flash_attn::on
              ? (4 * np + c / 1024 + 110) << 20
              : detail::checked_mul(2 * h / larger(heads.fewest_kv, std::uint64_t{1}), all_full) / 6;
      break;
    case estimator::other: break;
  }
  if (found.graph_partial == 0) {
    const std::uint64_t shared = h / larger(heads.fewest_kv, std::uint64_t{1});
    found.graph_partial = detail::checked_mul(shared, all_full) / 6;
  }
  if (found.graph_full == 0) found.graph_full = found.graph_partial;
  return found;
}

}  // namespace ollama_rules
}  // namespace kvbudget::inline v0
