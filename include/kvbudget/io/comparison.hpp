#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvbudget/engine/sglang.hpp"
#include "kvbudget/engine/tensorrt_llm.hpp"
#include "kvbudget/engine/vllm.hpp"
#include "kvbudget/io/engine_log/figures.hpp"
#include "kvbudget/plan/allocate.hpp"

/// What an engine printed when it started beside what is predicted of it, line by line. Needs the standard
/// library only.
namespace kvbudget::inline v0 {

/// In what a compared figure is counted.
enum class figure_unit : std::uint8_t {
  size,
  size_per_token,
  token_count,
  block_count,
  request_count,
  layer_count,
  sequence_count
};
[[nodiscard]] constexpr const char* name_of(figure_unit unit) {
  switch (unit) {
    case figure_unit::size: return "bytes";
    case figure_unit::size_per_token: return "bytes_per_token";
    case figure_unit::token_count: return "tokens";
    case figure_unit::block_count: return "blocks";
    case figure_unit::request_count: return "requests";
    case figure_unit::layer_count: return "layers";
    case figure_unit::sequence_count: return "sequences";
  }
  return "";
}

/// How a printed figure and ours agree: within the printed digits; within what was predicted as possible;
/// neither.
enum class agreement : std::uint8_t { as_printed, within_range, off };
[[nodiscard]] constexpr const char* name_of(agreement found) {
  switch (found) {
    case agreement::as_printed: return "as printed";
    case agreement::within_range: return "within range";
    case agreement::off: return "off";
  }
  return "";
}

/// One figure of a log and ours. Sizes are whole bytes; doubles hold them exactly below 2^53.
struct compared_figure {
  const char* name = "";  ///< "activation_peak", as in `rank_figures`
  const char* what = "";  ///< the same in words
  figure_unit unit = figure_unit::size;
  std::string rank{};  ///< the process that printed it; empty where all agree or there is but one. Of a local
                       ///< engine the device or devices, or the cache
  std::uint32_t line = 0;  ///< of the log, from 1
  double printed = 0;
  double rounding = 0;  ///< half of the last printed digit of all that went in
  double predicted = 0;
  double low = 0;  ///< what was predicted as possible
  double high = 0;

  /// predicted − printed.
  [[nodiscard]] double difference() const { return predicted - printed; }
  /// The same as a share of what is printed; nothing where 0 was printed.
  [[nodiscard]] std::optional<double> share() const {
    if (printed == 0) return std::nullopt;
    return difference() / std::abs(printed);
  }
  [[nodiscard]] agreement verdict() const {
    if (std::abs(difference()) <= rounding) return agreement::as_printed;
    const bool possible = low - rounding <= printed && printed <= high + rounding;
    return possible ? agreement::within_range : agreement::off;
  }
};

/// What one term of the budget takes from the pool beyond what was predicted: negative = it left more.
struct pool_term {
  const char* what = "";
  double taken = 0;     ///< bytes by which the pool is smaller than predicted because of it
  double rounding = 0;  ///< of the printed term
  [[nodiscard]] bool is_off() const { return std::abs(taken) > rounding; }
};

/// The answer of `compare_with_log`.
struct comparison {
  std::vector<compared_figure> figures{};  ///< in the order of a start; ranks that differ, the fullest first
  std::vector<pool_term> terms{};          ///< of the fullest rank, the largest first
  std::vector<const char*> not_printed{};  ///< terms of the pool that this log leaves open
  std::optional<double> pool_missing{};    ///< predicted − printed pool; nothing where no pool was printed
  double pool_rounding = 0;
  std::vector<std::string> not_predicted{};  ///< printed sizes that the engine's rules here say nothing about
  std::vector<std::string> predicted_only{};  ///< sizes of a local engine that the log should print as well
  std::vector<std::string> doubts{};  ///< what the log says of the run that is not what is compared with
  std::string conclusion{};           ///< one sentence: which term is off, or that none is

  /// The first figure of that name; null where the log prints none.
  [[nodiscard]] const compared_figure* find(const char* name) const {
    for (const compared_figure& each : figures) {
      if (detail::same_text(each.name, name)) return &each;
    }
    return nullptr;
  }
};

namespace detail {

/// A printed term of a start and the lines of the ledger that predict it.
struct term_rule {
  const char* name;
  const char* what;
  std::optional<printed_amount> rank_figures::*printed;
  const char* lines[3];
  bool takes_from_pool;
};
inline constexpr term_rule vllm_terms[] = {
    {"weights", "weights", &rank_figures::weights, {"weights"}, true},
    {"activation_peak", "activations", &rank_figures::activation_peak, {"activations"}, true},
    {"non_torch", "memory outside PyTorch", &rank_figures::non_torch, {"framework.non_torch"}, true},
    {"consumed",
     "weights and memory outside PyTorch",
     &rank_figures::consumed,
     {"weights", "framework.non_torch"},
     false},
    {"peak_torch", "peak of PyTorch", &rank_figures::peak_torch, {"weights", "activations"}, false},
    {"non_kv",
     "all but the cache",
     &rank_figures::non_kv,
     {"weights", "activations", "framework.non_torch"},
     false},
    {"cuda_graphs_estimated",
     "estimated CUDA graphs",
     &rank_figures::cuda_graphs_estimated,
     {"framework.graphs"},
     true},
    {"cuda_graphs", "captured CUDA graphs", &rank_figures::cuda_graphs, {"framework.graphs"}, false},
};
inline constexpr term_rule sglang_terms[] = {
    {"weights", "weights", &rank_figures::weights, {"weights"}, true},
    {"cuda_graphs", "captured CUDA graphs", &rank_figures::cuda_graphs, {"framework.graphs"}, false},
};
inline constexpr term_rule tensorrt_llm_terms[] = {
    {"weights", "weights", &rank_figures::weights, {"weights"}, true},
    {"activation_peak", "activations", &rank_figures::activation_peak, {"activations"}, true},
    {"non_torch", "memory outside PyTorch", &rank_figures::non_torch, {"framework"}, true},
    {"peak_memory",
     "peak while profiling",
     &rank_figures::peak_memory,
     {"weights", "activations", "framework"},
     false},
};
struct term_list {
  const term_rule* first = nullptr;
  const term_rule* last = nullptr;
  [[nodiscard]] const term_rule* begin() const { return first; }
  [[nodiscard]] const term_rule* end() const { return last; }
};
template <std::size_t Count> [[nodiscard]] constexpr term_list list_of(const term_rule (&terms)[Count]) {
  return {terms, terms + Count};
}
/// The terms that the log of that engine (`engine_log::engine`) prints.
[[nodiscard]] inline term_list terms_of(const std::string& engine) {
  if (engine == "vllm") return list_of(vllm_terms);
  if (engine == "sglang") return list_of(sglang_terms);
  if (engine == "tensorrt_llm") return list_of(tensorrt_llm_terms);
  return {};
}

/// Whether a pool of that engine is smaller for its CUDA graphs.
template <class Engine> [[nodiscard]] bool pays_for_graphs(const Engine&, const deployment&) { return true; }
[[nodiscard]] inline bool pays_for_graphs(const engines::vllm& on, const deployment& d) {
  const vllm_profile::rules& rule = vllm_profile::rules_of(on.version);
  return vllm_profile::parts::is_dense(*d.model) ? rule.dense_graphs_in_budget : rule.graphs_in_budget;
}
/// How much smaller a pool is for one more byte beside it.
template <class Engine> [[nodiscard]] double share_of_pool(const Engine&) { return 1; }
[[nodiscard]] inline double share_of_pool(const engines::tensorrt_llm& on) { return on.fraction(); }

/// How much smaller a pool is for one byte less that is free before loading.
template <class Engine>
[[nodiscard]] double share_of_free(const Engine&, const deployment&, const gpu_profile&) {
  return 1;
}
[[nodiscard]] inline double share_of_free(const engines::sglang& on, const deployment& d,
                                          const gpu_profile& gpu) {
  return on.fraction(d, gpu);
}

/// `1.71 GiB`, without its sign.
[[nodiscard]] inline std::string gibibytes_text(double size) {
  const auto hundredths = std::llround(std::min(std::abs(size) / 1073741824.0 * 100, 1e15));
  const std::string digits = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + (digits.size() == 1 ? ".0" : ".") + digits + " GiB";
}

/// A log without figures that no GPU has: more than 2^50 bytes, 2^40 tokens or blocks. They are told in
/// `left_out`.
[[nodiscard]] inline engine_log without_absurd_figures(engine_log log, std::vector<std::string>& left_out) {
  constexpr std::int64_t most_bytes = std::int64_t{1} << 50;
  constexpr std::uint64_t most_counted = std::uint64_t{1} << 40;
  const auto too_large = [](const printed_amount& of) {
    return of.bytes > most_bytes || of.bytes < -most_bytes ||
           of.rounding_bytes > static_cast<std::uint64_t>(most_bytes);
  };
  const auto check = [&](auto& figure, const char* name, bool absurd) {
    if (!absurd) return;
    left_out.push_back(std::string(name) + " in line " + std::to_string(figure->line) +
                       ": beyond any GPU, left out");
    figure.reset();
  };
  const auto check_amount = [&](std::optional<printed_amount>& figure, const char* name) {
    check(figure, name, figure && too_large(*figure));
  };
  const auto check_count = [&](std::optional<printed_count>& figure, const char* name) {
    check(figure, name, figure && figure->value > most_counted);
  };
  for (rank_figures& rank : log.ranks) {
    for (const named_figure& figure : log_figures) {
      if (figure.member.amount != nullptr) check_amount(rank.*(figure.member.amount), figure.name);
      if (figure.member.count != nullptr) check_count(rank.*(figure.member.count), figure.name);
    }
    for (printed_pool& pool : rank.pools) {
      check_amount(pool.keys, "a pool");
      check_amount(pool.values, "a pool");
      check_amount(pool.total, "a pool");
      check_count(pool.tokens, "a pool");
      check_count(pool.primary_blocks, "a pool");
    }
  }
  return log;
}

/// The ranks of a log, the fullest first: the one with the least cache, then the least free memory, then the
/// most weights.
[[nodiscard]] inline std::vector<const rank_figures*> fullest_first(const engine_log& log) {
  std::vector<const rank_figures*> order;
  for (const rank_figures& rank : log.ranks) order.push_back(&rank);
  const auto pool = [](const rank_figures& of) {
    const auto& printed = of.available_kv ? of.available_kv : of.allocated_kv;
    return printed ? printed->bytes : INT64_MAX;
  };
  const auto free = [](const rank_figures& of) {
    const auto& printed = of.free_after_weights ? of.free_after_weights : of.free_at_start;
    return printed ? printed->bytes : INT64_MAX;
  };
  const auto weights = [](const rank_figures& of) { return of.weights ? of.weights->bytes : INT64_MIN; };
  std::sort(order.begin(), order.end(), [&](const rank_figures* a, const rank_figures* b) {
    if (pool(*a) != pool(*b)) return pool(*a) < pool(*b);
    if (free(*a) != free(*b)) return free(*a) < free(*b);
    if (weights(*a) != weights(*b)) return weights(*a) > weights(*b);
    return a < b;  // as they were printed
  });
  return order;
}

/// What a rank printed of memory outside PyTorch: itself, or what it consumed less its weights; TensorRT-LLM
/// counts the cache of the profiling run in, which it then gives back.
[[nodiscard]] inline std::optional<printed_amount> printed_outside_torch(const rank_figures& rank) {
  std::optional<printed_amount> found = rank.non_torch;
  if (!found && rank.consumed && rank.weights) {
    found = printed_amount{rank.consumed->bytes - rank.weights->bytes,
                           rank.consumed->rounding_bytes + rank.weights->rounding_bytes, rank.consumed->line};
  }
  if (found && rank.temporary_kv && rank.temporary_kv->bytes <= found->bytes) {
    found->bytes -= rank.temporary_kv->bytes;
    found->rounding_bytes += rank.temporary_kv->rounding_bytes;
  }
  return found;
}
/// The pool of one rank as it was printed.
[[nodiscard]] inline std::optional<printed_amount> printed_pool_of(const rank_figures& rank) {
  if (rank.available_kv) return rank.available_kv;
  if (rank.refused_available_kv) return rank.refused_available_kv;
  if (rank.allocated_kv) return rank.allocated_kv;
  std::optional<printed_amount> sum;
  const auto add = [&](const std::optional<printed_amount>& part) {
    if (!part) return;
    if (!sum) sum = printed_amount{0, 0, part->line};
    sum->bytes += part->bytes;
    sum->rounding_bytes += part->rounding_bytes;
  };
  for (const printed_pool& pool : rank.pools) {
    add(pool.keys);
    add(pool.values);
    add(pool.total);
  }
  if (sum) {
    add(rank.mamba_conv);
    add(rank.mamba_ssm);
    add(rank.mamba_intermediate_conv);
    add(rank.mamba_intermediate_ssm);
  }
  return sum;
}

/// Puts together what one log says and one engine predicts.
template <pool_engine Engine> class log_comparer {
 public:
  log_comparer(const engine_log& log, const deployment& d, const Engine& on, const gpu_profile& gpu)
      : log_(without_absurd_figures(log, to_.not_predicted)),
        d_(d),
        on_(on),
        gpu_(gpu),
        ranks_(fullest_first(log_)),
        first_(first_printed(log_)),
        found_(allocate(d, on, gpu)) {
    for (std::uint32_t stage = 0; stage < d.parallel.pipeline; ++stage) {
      stages_.push_back(reservation_of(on, d, rank{stage, 0}, gpu));
    }
  }

  [[nodiscard]] comparison result() {
    totals();
    terms();
    pools();
    cache();
    refusal();
    attribute();
    conclude();
    for (const named_figure& figure : log_figures) mention(figure);
    return std::move(to_);
  }

 private:
  struct prediction {
    double low = 0, expected = 0, high = 0;
  };
  using printed_member = std::optional<printed_amount> rank_figures::*;

  [[nodiscard]] std::uint32_t stage_of(const rank_figures& rank) const {
    if (rank.pipeline && *rank.pipeline < d_.parallel.pipeline) return *rank.pipeline;
    return found_.where.stage;
  }
  /// The sum of some lines of a rank's ledger; nothing where what they belong to is not there, or pinned.
  [[nodiscard]] std::optional<prediction> lines_of(const rank_figures& rank, const term_rule& term) const {
    const memory_budget& budget = stages_[stage_of(rank)].budget;
    prediction sum;
    for (const char* name : term.lines) {
      if (name == nullptr) continue;
      const line_item* line = budget.find(name);
      const bool of_framework = vllm_profile::parts::starts_with(name, "framework.");
      if (line == nullptr && of_framework && !d_.pinned.framework.given &&
          budget.find("framework") != nullptr) {
        continue;  // the framework's lines leave out what it does not have
      }
      if (line == nullptr) return std::nullopt;
      sum.low += static_cast<double>(line->low.value);
      sum.expected += static_cast<double>(line->expected.value);
      sum.high += static_cast<double>(line->high.value);
    }
    return sum;
  }
  [[nodiscard]] static prediction exactly(double value) { return {value, value, value}; }
  [[nodiscard]] static prediction exactly(bytes value) { return exactly(static_cast<double>(value.value)); }
  [[nodiscard]] static prediction range_of(const usable_memory& of) {
    return {static_cast<double>(of.low.value), static_cast<double>(of.expected.value),
            static_cast<double>(of.high.value)};
  }

  void add(const char* name, const char* what, figure_unit unit, std::string rank, std::uint32_t line,
           double printed, double rounding, const prediction& ours) {
    to_.figures.push_back(
        {name, what, unit, std::move(rank), line, printed, rounding, ours.expected, ours.low, ours.high});
  }
  /// A size of every rank that prints one: ranks that agree to the last digit make one line.
  template <class Read, class Predict>
  void add_sizes(const char* name, const char* what, Read read, Predict predict) {
    const rank_figures* one = nullptr;
    bool differ = false;
    for (const rank_figures* rank : ranks_) {
      const std::optional<printed_amount> printed = read(*rank);
      if (!printed || !predict(*rank)) continue;
      if (one == nullptr) one = rank;
      const std::optional<printed_amount> reference = read(*one);
      differ =
          differ || reference->bytes != printed->bytes || predict(*rank)->expected != predict(*one)->expected;
    }
    for (const rank_figures* rank : ranks_) {
      const std::optional<printed_amount> printed = read(*rank);
      if (!printed || (!differ && rank != one)) continue;
      const std::optional<prediction> ours = predict(*rank);
      if (!ours) continue;
      add(name, what, figure_unit::size, differ ? rank->name : std::string(), printed->line,
          static_cast<double>(printed->bytes), static_cast<double>(printed->rounding_bytes), *ours);
    }
  }

  void totals() {
    const auto read = [](printed_member member) {
      return [member](const rank_figures& rank) { return rank.*member; };
    };
    const auto always = [](const prediction& ours) {
      return [ours](const rank_figures&) { return std::optional(ours); };
    };
    add_sizes("total_gpu_memory", "total memory of a GPU", read(&rank_figures::total_gpu_memory),
              always(range_of(usable(gpu_))));
    if (log_.engine == "vllm") {
      add_sizes("memory_budget", "budget", read(&rank_figures::memory_budget),
                always(range_of(on_.usable(gpu_))));
    }
    if (log_.engine == "sglang") free_memory();
  }

  /// What SGLang's processes hold before they load: context and communication, or what was pinned.
  [[nodiscard]] std::optional<prediction> before_loading(const memory_budget& budget) const {
    std::optional<prediction> sum;
    const auto add = [&](const char* name) {
      const line_item* line = budget.find(name);
      if (line == nullptr) return;
      if (!sum) sum.emplace();
      sum->low += static_cast<double>(line->low.value);
      sum->expected += static_cast<double>(line->expected.value);
      sum->high += static_cast<double>(line->high.value);
    };
    if (d_.pinned.framework.given) {
      add("framework");
    } else {
      add("framework.context");
      add("framework.communication");
    }
    return sum;
  }
  /// SGLang prints what is free on the way: before loading, after it, after the pools.
  void free_memory() {
    const auto ours = [&](bool loaded, bool filled) {
      return [=, this](const rank_figures& rank) -> std::optional<prediction> {
        const memory_budget& budget = stages_[stage_of(rank)].budget;
        const line_item* weights = budget.find("weights");
        const std::optional<prediction> before = before_loading(budget);
        if (!before || weights == nullptr) return std::nullopt;
        const usable_memory total = usable(gpu_);
        const auto less = [&](bytes from, double software, bytes weight, bytes pool) {
          double left = static_cast<double>(from.value) - software;
          if constexpr (requires { on_.used_by_others; })
            left -= static_cast<double>(on_.used_by_others.value);
          if (loaded) left -= static_cast<double>(weight.value);
          if (filled) left -= static_cast<double>(pool.value);
          return left;
        };
        const line_item* cache = found_.budget.find("kv_cache");
        return prediction{less(total.low, before->high, weights->high, cache->high),
                          less(total.expected, before->expected, weights->expected, cache->expected),
                          less(total.high, before->low, weights->low, cache->low)};
      };
    };
    add_sizes(
        "free_at_start", "free before loading", [](const rank_figures& r) { return r.free_at_start; },
        ours(false, false));
    add_sizes(
        "free_after_weights", "free after loading",
        [](const rank_figures& r) { return r.free_after_weights; }, ours(true, false));
    add_sizes(
        "free_after_pools", "free after the pools", [](const rank_figures& r) { return r.free_after_pools; },
        ours(true, true));
  }

  /// What a rank printed of a term, as the term is meant.
  [[nodiscard]] std::optional<printed_amount> printed_term(const rank_figures& rank,
                                                           const term_rule& term) const {
    if (same_text(term.name, "non_torch")) return printed_outside_torch(rank);
    std::optional<printed_amount> found = rank.*(term.printed);
    if (found && same_text(term.name, "peak_memory") && rank.temporary_kv &&
        rank.temporary_kv->bytes <= found->bytes) {
      found->bytes -= rank.temporary_kv->bytes;
      found->rounding_bytes += rank.temporary_kv->rounding_bytes;
    }
    return found;
  }
  void terms() {
    for (const term_rule& term : terms_of(log_.engine)) {
      add_sizes(
          term.name, term.what, [&](const rank_figures& rank) { return printed_term(rank, term); },
          [&](const rank_figures& rank) { return lines_of(rank, term); });
    }
  }

  void pools() {
    const auto available = [&](const rank_figures& rank) -> std::optional<prediction> {
      const signed_range& ours = stages_[stage_of(rank)].available_kv;
      return prediction{static_cast<double>(ours.low), static_cast<double>(ours.expected),
                        static_cast<double>(ours.high)};
    };
    const auto reserved = [&](const rank_figures&) -> std::optional<prediction> {
      const line_item* line = found_.budget.find("kv_cache");
      if (line == nullptr) return std::nullopt;
      return prediction{static_cast<double>(line->low.value), static_cast<double>(line->expected.value),
                        static_cast<double>(line->high.value)};
    };
    add_sizes(
        "available_kv", "left for the cache", [](const rank_figures& r) { return r.available_kv; },
        available);
    add_sizes(
        "allocated_kv", "allocated cache", [](const rank_figures& r) { return r.allocated_kv; }, reserved);
    if (log_.engine == "sglang") {
      add_sizes(
          "pools", "pools of the cache", [](const rank_figures& r) { return printed_pool_of(r); }, reserved);
    }
  }

  void add_count(const char* name, const char* what, figure_unit unit, const printed_count& printed,
                 const prediction& ours, double rounding = 0) {
    add(name, what, unit, "", printed.line, static_cast<double>(printed.value), rounding, ours);
  }
  /// The pools that the printed bytes of the fullest rank give: what follows from the cache's rules alone.
  [[nodiscard]] std::optional<block_pools> pools_of_printed() const {
    const std::optional<printed_amount> pool = smallest_pool();
    if (!pool || pool->bytes <= 0) return std::nullopt;
    const auto size = static_cast<std::uint64_t>(pool->bytes);
    block_pools least = on_.pools(d_, rank{}, gpu_, size);
    for (std::uint32_t stage = 1; stage < d_.parallel.pipeline; ++stage) {
      detail::take_fewest(least, on_.pools(d_, rank{stage, 0}, gpu_, size));
    }
    return least;
  }
  [[nodiscard]] std::optional<printed_amount> smallest_pool() const {
    for (const rank_figures* rank : ranks_) {
      if (const auto pool = printed_pool_of(*rank)) return pool;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::uint64_t length() const {
    if (first_.refused_length && first_.refused_length->value != 0) return first_.refused_length->value;
    if (first_.concurrency_length && first_.concurrency_length->value != 0) {
      return first_.concurrency_length->value;
    }
    return found_.longest_request;
  }
  [[nodiscard]] static double requests_in(const block_pools& pools, std::uint64_t length) {
    double least = -1;
    for (const block_pool& pool : pools) {
      const std::uint64_t each = pool.blocks_of(length);
      if (each == 0) continue;
      const double here = static_cast<double>(pool.blocks) / static_cast<double>(each);
      if (least < 0 || here < least) least = here;
    }
    return least;
  }

  void cache() {
    const std::optional<printed_amount> pool = smallest_pool();
    const std::optional<block_pools> given = pools_of_printed();
    const double pool_share =
        pool && pool->bytes > 0 ? static_cast<double>(pool->rounding_bytes) / static_cast<double>(pool->bytes)
                                : 0;
    const std::uint64_t block = found_.block_tokens();
    block_pools low = found_.pools;
    block_pools high = found_.pools;
    for (std::uint32_t i = 0; i < found_.pools.count; ++i) {
      low.pools[i].blocks = found_.low.blocks[i];
      high.pools[i].blocks = found_.high.blocks[i];
    }
    const auto tokens_in = [&](const block_pools& pools) {
      return static_cast<double>(on_.printed_tokens(d_, gpu_, pools, found_.longest_request));
    };
    const std::optional<printed_count>& tokens = first_.kv_tokens;
    if (tokens && found_.printed_kv_cache_tokens != 0) {
      if (given && tokens_in(*given) > 0 && tokens->value != 0) {
        const double size = static_cast<double>(pool->bytes);
        const double printed = size / static_cast<double>(tokens->value);
        const double step = static_cast<double>(block) / static_cast<double>(tokens->value);
        add("bytes_per_token", "bytes of a token", figure_unit::size_per_token, "", tokens->line, printed,
            printed * (pool_share + step), exactly(size / tokens_in(*given)));
      }
      add_count(
          "kv_tokens", "tokens of the cache", figure_unit::token_count, *tokens,
          {tokens_in(low), static_cast<double>(found_.printed_kv_cache_tokens), tokens_in(high)},
          pool_roundings(static_cast<double>(tokens->value), pool_share) + static_cast<double>(block - 1));
    }
    if constexpr (requires { on_.kv_size_per_token(d_); }) {
      if (const auto& each = first_.kv_bytes_per_token) {
        add("kv_bytes_per_token", "bytes of a token, as printed", figure_unit::size_per_token, "", each->line,
            static_cast<double>(each->digits) / static_cast<double>(each->scale),
            0.5 / static_cast<double>(each->scale), exactly(static_cast<double>(on_.kv_size_per_token(d_))));
      }
    }
    if (const auto& blocks = first_.num_gpu_blocks; blocks && found_.pools.count != 0) {
      add_count("num_gpu_blocks", "blocks of the cache", figure_unit::block_count, *blocks,
                {static_cast<double>(found_.low.blocks[0]), static_cast<double>(found_.blocks()),
                 static_cast<double>(found_.high.blocks[0])},
                pool_roundings(static_cast<double>(blocks->value), pool_share));
      if (given && !tokens && blocks->value != 0 && given->pools[0].block_bytes != 0) {
        const double printed = static_cast<double>(pool->bytes) / static_cast<double>(blocks->value) /
                               static_cast<double>(block);
        add("bytes_per_token", "bytes of a token", figure_unit::size_per_token, "", blocks->line, printed,
            printed * (pool_share + 1.0 / static_cast<double>(blocks->value)),
            exactly(static_cast<double>(given->pools[0].block_bytes) / static_cast<double>(block)));
      }
    }
    std::optional<printed_count> block_size =
        first_.attention_block_size ? first_.attention_block_size : first_.block_size;
    if (!block_size && !first_.pools.empty()) block_size = first_.pools.front().tokens_per_block;
    if (block_size) {
      add_count("block_size", "tokens of a block", figure_unit::token_count, *block_size,
                exactly(static_cast<double>(block)));
    }
    windows(pool_share);
    if (const auto& printed = first_.max_concurrency) {
      const double value = static_cast<double>(printed->digits) / static_cast<double>(printed->scale);
      const double half = 0.5 / static_cast<double>(printed->scale);
      if (requests_in(found_.pools, length()) >= 0) {
        add("max_concurrency", "longest requests at once", figure_unit::request_count, "", printed->line,
            value, half + pool_roundings(value, pool_share),
            {requests_in(low, length()), requests_in(found_.pools, length()), requests_in(high, length())});
      }
      if (given && requests_in(*given, length()) >= 0) {
        add("max_concurrency_of_pool", "the same from the printed pool", figure_unit::request_count, "",
            printed->line, value, half + value * pool_share, exactly(requests_in(*given, length())));
      }
    }
    if (first_.fitted_max_model_len) {
      add_count("fitted_max_model_len", "longest length that it fitted", figure_unit::token_count,
                *first_.fitted_max_model_len, exactly(static_cast<double>(found_.longest_request)));
    }
  }
  /// What an uncertainty of the printed pool is in a figure that follows from it.
  [[nodiscard]] static double pool_roundings(double value, double share) { return value * share; }

  /// TensorRT-LLM prints one pool per window; SGLang tokens of full and of sliding layers, and slots.
  void windows(double pool_share) {
    std::vector<const printed_pool*> printed;
    for (const printed_pool& pool : first_.pools) {
      if (pool.primary_blocks) printed.push_back(&pool);
    }
    std::sort(printed.begin(), printed.end(), [](const printed_pool* a, const printed_pool* b) {
      const std::uint64_t one = a->window ? a->window->value : 0;
      const std::uint64_t other = b->window ? b->window->value : 0;
      return one != other ? one > other : a < b;
    });
    std::vector<std::uint32_t> ours;
    for (std::uint32_t i = 0; i < found_.pools.count; ++i) {
      if (found_.pools.pools[i].groups[0].rule != block_rule::fixed) ours.push_back(i);
    }
    if (printed.size() == ours.size()) {
      for (std::size_t i = 0; i < ours.size(); ++i) {
        add_count("primary_blocks", "blocks of a window's pool", figure_unit::block_count,
                  *printed[i]->primary_blocks,
                  {static_cast<double>(found_.low.blocks[ours[i]]),
                   static_cast<double>(found_.pools.pools[ours[i]].blocks),
                   static_cast<double>(found_.high.blocks[ours[i]])},
                  pool_roundings(static_cast<double>(printed[i]->primary_blocks->value), pool_share) + 1);
      }
    }
    const auto tokens_of = [&](std::uint32_t i, std::uint64_t blocks) {
      return static_cast<double>(blocks) * static_cast<double>(found_.pools.pools[i].groups[0].block_tokens);
    };
    for (std::uint32_t i = 0; i < found_.pools.count; ++i) {
      const prediction tokens{tokens_of(i, found_.low.blocks[i]), tokens_of(i, found_.pools.pools[i].blocks),
                              tokens_of(i, found_.high.blocks[i])};
      const char* name = found_.pools.pools[i].name;
      if (first_.full_tokens && same_text(name, "kv_cache.tokens")) {
        add_count("full_tokens", "tokens of layers without a window", figure_unit::token_count,
                  *first_.full_tokens, tokens);
      }
      if (first_.swa_tokens && same_text(name, "kv_cache.windows")) {
        add_count("swa_tokens", "tokens of sliding layers", figure_unit::token_count, *first_.swa_tokens,
                  tokens);
      }
      if (first_.mamba_slots && same_text(name, "kv_cache.states")) {
        add_count(
            "mamba_slots", "slots of recurrent states", figure_unit::block_count, *first_.mamba_slots,
            {static_cast<double>(found_.low.blocks[i]), static_cast<double>(found_.pools.pools[i].blocks),
             static_cast<double>(found_.high.blocks[i])});
      }
    }
  }

  /// The longest length that starts with so many bytes.
  [[nodiscard]] std::uint64_t longest_with(const block_pools& pools, std::int64_t available) const {
    std::uint64_t good = 0;
    std::uint64_t bad = detail::larger(length(), found_.longest_request) + 1;
    while (bad - good > 1) {
      const std::uint64_t middle = good + (bad - good) / 2;
      const bool starts = on_.needed_to_start(d_, gpu_, pools, middle).value <= at_least_zero(available);
      (starts ? good : bad) = middle;
    }
    return good;
  }

  /// The three numbers of a refusal.
  void refusal() {
    if (const auto& needed = first_.needed_kv) {
      add("needed_kv", "cache that the longest request needs", figure_unit::size, "", needed->line,
          static_cast<double>(needed->bytes), static_cast<double>(needed->rounding_bytes),
          exactly(on_.needed_to_start(d_, gpu_, found_.pools, length())));
    }
    if (const auto& had = first_.refused_available_kv; had && to_.find("available_kv") == nullptr) {
      add("refused_available_kv", "left for the cache", figure_unit::size, "", had->line,
          static_cast<double>(had->bytes), static_cast<double>(had->rounding_bytes),
          {static_cast<double>(found_.available_kv.low), static_cast<double>(found_.available_kv.expected),
           static_cast<double>(found_.available_kv.high)});
    }
    if (const auto& longest = first_.estimated_max_length) {
      const double block = static_cast<double>(found_.block_tokens());
      add_count("estimated_max_length", "longest length that starts", figure_unit::token_count, *longest,
                {static_cast<double>(longest_with(found_.pools, found_.available_kv.low)),
                 static_cast<double>(longest_with(found_.pools, found_.available_kv.expected)),
                 static_cast<double>(longest_with(found_.pools, found_.available_kv.high))},
                block);
      if (const auto pool = smallest_pool(); pool && pool->bytes > 0) {
        const auto at = [&](std::int64_t size) {
          return static_cast<double>(longest_with(found_.pools, size));
        };
        const auto half = static_cast<std::int64_t>(pool->rounding_bytes);
        add_count("estimated_max_length_of_pool", "the same from the printed pool", figure_unit::token_count,
                  *longest, {at(pool->bytes - half), at(pool->bytes), at(pool->bytes + half)}, block);
      }
    }
  }

  /// Of the pool's difference, what each printed term takes.
  void attribute() {
    const rank_figures* fullest = nullptr;
    for (const rank_figures* rank : ranks_) {
      if (printed_pool_of(*rank)) {
        fullest = rank;
        break;
      }
    }
    if (fullest == nullptr) return;
    const printed_amount pool = *printed_pool_of(*fullest);
    const std::int64_t ours = stages_[stage_of(*fullest)].available_kv.expected;
    to_.pool_missing = static_cast<double>(ours) - static_cast<double>(pool.bytes);
    const double share = share_of_pool(on_);
    const usable_memory allowed = on_.usable(gpu_);
    to_.pool_rounding = static_cast<double>(pool.rounding_bytes) +
                        share * static_cast<double>((allowed.high - allowed.expected).value);
    const rank_figures beside = with_first(*fullest);
    for (const term_rule& term : terms_of(log_.engine)) {
      const bool graphs = same_text(term.name, "cuda_graphs_estimated");
      if (!term.takes_from_pool || (graphs && !pays_for_graphs(on_, d_))) continue;
      const std::optional<prediction> predicted = lines_of(beside, term);
      if (graphs && predicted && predicted->high == 0) continue;
      const std::optional<printed_amount> printed = printed_term(beside, term);
      if (!printed) {
        to_.not_printed.push_back(term.what);
      } else if (predicted) {
        to_.terms.push_back({term.what, share * (static_cast<double>(printed->bytes) - predicted->expected),
                             share * static_cast<double>(printed->rounding_bytes)});
      }
    }
    const std::optional<printed_amount> total = beside.total_gpu_memory;
    if (log_.engine == "vllm" && beside.memory_budget) {
      to_.terms.push_back({"the budget",
                           static_cast<double>(on_.usable(gpu_).expected.value) -
                               static_cast<double>(beside.memory_budget->bytes),
                           static_cast<double>(beside.memory_budget->rounding_bytes)});
    } else if (total) {
      to_.terms.push_back(
          {"the total of the GPU",
           share * (static_cast<double>(usable(gpu_).expected.value) - static_cast<double>(total->bytes)),
           share * static_cast<double>(total->rounding_bytes)});
    } else if (log_.engine == "sglang" && beside.free_at_start) {
      const compared_figure* free = to_.find("free_at_start");
      if (free != nullptr)
        to_.terms.push_back({"memory in use before loading",
                             share_of_free(on_, d_, gpu_) * free->difference(),
                             share_of_free(on_, d_, gpu_) * free->rounding});
    } else {
      to_.not_printed.push_back("the total of the GPU");
    }
    std::sort(to_.terms.begin(), to_.terms.end(),
              [](const pool_term& a, const pool_term& b) { return std::abs(a.taken) > std::abs(b.taken); });
  }
  /// A rank's figures, and where it printed none those of the first that did.
  [[nodiscard]] rank_figures with_first(const rank_figures& rank) const {
    rank_figures result = rank;
    for (const named_figure& figure : log_figures) {
      const printed_member member = figure.member.amount;
      if (member != nullptr && !(result.*member)) result.*member = first_.*member;
    }
    if (!rank.non_torch && rank.consumed) result.non_torch.reset();
    return result;
  }

  [[nodiscard]] static std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
      text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
    }
    return text;
  }
  /// What of the pool no printed term speaks of.
  [[nodiscard]] std::string open_text() const {
    if (to_.not_printed.empty()) return "the rule that makes a pool of the printed terms";
    return "what this log does not print apart (" + listed({to_.not_printed.begin(), to_.not_printed.end()}) +
           ")";
  }

  void conclude() {
    if (to_.figures.empty()) {
      to_.conclusion = "nothing that this log prints can be predicted";
      return;
    }
    if (!to_.pool_missing) return conclude_without_pool();
    const double missing = *to_.pool_missing;
    double explained = 0;
    double rounding = to_.pool_rounding;
    for (const pool_term& term : to_.terms) {
      explained += term.taken;
      rounding += term.rounding;
    }
    if (std::abs(missing) <= to_.pool_rounding) return conclude_agreement();
    const bool smaller = missing > 0;
    std::string text =
        "the pool is " + gibibytes_text(missing) + (smaller ? " smaller" : " larger") + " than predicted: ";
    const double open = missing - explained;
    const bool open_counts = std::abs(open) > rounding;
    // the terms that pull the pool the way it went, until most of it is explained
    std::vector<std::string> parts;
    double sum = 0;
    if (open_counts && (open > 0) == smaller && !has_larger_than(open, smaller)) {
      parts.push_back(open_text() + " accounts for " + gibibytes_text(open) + " of it");
      sum += open;
    }
    for (const pool_term& term : to_.terms) {
      if (!term.is_off() || (term.taken > 0) != smaller) continue;
      if (!parts.empty() && std::abs(sum) >= 0.9 * std::abs(missing)) break;
      const bool plural = std::string(term.what).ends_with('s');
      parts.push_back(std::string(term.what) +
                      (parts.empty() ? (plural ? " account for " : " accounts for ") : " for ") +
                      gibibytes_text(term.taken) + (parts.empty() ? " of it" : ""));
      sum += term.taken;
    }
    if (parts.empty()) {
      text += "no term is off beyond its printed digits, together they account for it";
    } else {
      text += listed(parts);
      against(text, smaller, open, open_counts, sum);
    }
    to_.conclusion = text;
  }
  [[nodiscard]] bool has_larger_than(double open, bool smaller) const {
    for (const pool_term& term : to_.terms) {
      if ((term.taken > 0) == smaller && term.is_off() && std::abs(term.taken) > std::abs(open)) return true;
    }
    return false;
  }
  /// What pulls the other way, where it is more than a tenth of what was named.
  void against(std::string& text, bool smaller, double open, bool open_counts, double named) const {
    std::vector<std::string> other;
    for (const pool_term& term : to_.terms) {
      if (!term.is_off() || (term.taken > 0) == smaller) continue;
      if (std::abs(term.taken) < 0.1 * std::abs(named)) continue;
      other.push_back(std::string(term.what) + " (" + gibibytes_text(term.taken) + ")");
    }
    if (open_counts && (open > 0) != smaller && std::abs(open) >= 0.1 * std::abs(named)) {
      other.push_back(open_text() + " (" + gibibytes_text(open) + ")");
    }
    if (!other.empty()) text += "; against it: " + listed(other);
  }
  void conclude_agreement() {
    std::vector<std::string> off;
    for (const pool_term& term : to_.terms) {
      if (!term.is_off() || std::abs(term.taken) <= term.rounding + to_.pool_rounding) continue;
      off.push_back(std::string(term.what) + " (" + gibibytes_text(term.taken) +
                    (term.taken > 0 ? " more" : " less") + ")");
    }
    const std::string figures = off_figures(true);
    to_.conclusion = "the pool is as predicted, within the printed digits";
    if (!off.empty()) {
      to_.conclusion += ", though " + listed(off) + (off.size() == 1 ? " is not" : " are not");
    } else if (!figures.empty()) {
      to_.conclusion += ", but not " + figures;
    } else {
      to_.conclusion += ": nothing is off";
    }
  }
  void conclude_without_pool() {
    const std::string off = off_figures(false);
    const bool all_printed =
        std::all_of(to_.figures.begin(), to_.figures.end(),
                    [](const compared_figure& each) { return each.verdict() == agreement::as_printed; });
    if (!off.empty()) {
      to_.conclusion = "off beyond the printed digits and beyond what was predicted as possible: " + off;
    } else if (all_printed) {
      to_.conclusion = "nothing is off: all that the log prints is as predicted, within the printed digits";
    } else {
      to_.conclusion = "nothing is off: all that the log prints is within what was predicted as possible";
    }
  }
  /// The figures that are off; of a pool that agrees only those that follow from it.
  [[nodiscard]] std::string off_figures(bool of_the_cache) const {
    std::vector<std::string> off;
    for (const compared_figure& each : to_.figures) {
      if (each.verdict() != agreement::off) continue;
      if (of_the_cache && each.unit == figure_unit::size) continue;
      if (!off.empty() && off.back() == each.what) continue;
      off.emplace_back(each.what);
    }
    return listed(off);
  }

  /// Printed sizes beside the cache that were not compared.
  void mention(const named_figure& figure) {
    static constexpr printed_member spoken_of[] = {
        &rank_figures::execution_context, &rank_figures::runtime_buffers, &rank_figures::decoder_buffers,
        &rank_figures::draft_weights,     &rank_figures::initial_usage,   &rank_figures::cuda_graph_pool};
    const printed_member member = figure.member.amount;
    if (member == nullptr || !(first_.*member)) return;
    if (std::find(std::begin(spoken_of), std::end(spoken_of), member) == std::end(spoken_of)) return;
    to_.not_predicted.push_back(std::string(figure.name) + ": " + ((first_.*member)->bytes < 0 ? "-" : "") +
                                gibibytes_text(static_cast<double>((first_.*member)->bytes)));
  }

  comparison to_;  // before `log_`, which tells it what was left out
  engine_log log_;
  const deployment& d_;
  const Engine& on_;
  const gpu_profile& gpu_;
  std::vector<const rank_figures*> ranks_;
  rank_figures first_;
  allocation found_;
  std::vector<rank_reservation> stages_;
};

}  // namespace detail

/// What the engine printed beside what `allocate` says of the deployment on such GPUs: every figure that both
/// have, what each term takes from the pool, and which of them is off. What the log does not print is not
/// there. Stops if the deployment cannot exist.
template <pool_engine Engine>
[[nodiscard]] comparison compare_with_log(const engine_log& log, const deployment& d, const Engine& on,
                                          const gpu_profile& gpu) {
  return detail::log_comparer<Engine>(log, d, on, gpu).result();
}

}  // namespace kvbudget::inline v0
