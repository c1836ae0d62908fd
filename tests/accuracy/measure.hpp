#pragma once

// Every figure of the corpus beside what the library says from the same inputs.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kvbudget/kvbudget.hpp"
#include "kvbudget/report/text.hpp"
#include "support/corpus.hpp"

namespace tests::accuracy {

using namespace kvbudget;
using corpus::measured_case;
using corpus::printed_bytes;

inline constexpr double gib = 1073741824.0;

/// What is compared, and how far off it may be before the page has to say why.
struct quantity {
  const char* key;
  const char* title;
  const char* unit;
  double bound;  ///< of the relative error, or of the absolute one where `absolute`
  bool absolute;
  const char* means;
};
inline constexpr quantity quantities[] = {
    {"bytes_per_token", "bytes of a token", "B", 0.005, false,
     "printed pool / printed tokens (or blocks), against the tokens that the same pool gives here"},
    {"kv_needed", "cache needed to start", "GiB", 0.005, true,
     "what a refusal says one request of the longest length needs"},
    {"estimated_max_model_len", "longest length that starts", "tokens", 0.005, false,
     "what a refusal says would fit, from the pool that it prints"},
    {"max_concurrency", "requests of the longest length at once", "x", 0.005, false, "from the printed pool"},
    {"pool_from_terms", "pool, given the printed terms", "GiB", 0.02, true,
     "total and share as printed, weights, activation and memory outside PyTorch as printed"},
    {"pool_end_to_end", "pool, end to end", "GiB", 0.12, false,
     "from nothing but model, GPU, release and flags"},
    {"weights", "weights after loading", "GiB", 0.03, false, "of one rank"},
    {"activation_peak", "peak of the profile run", "GiB", 0.1, false, "of one rank"},
};
inline const quantity& quantity_of(const std::string& key) {
  for (const quantity& each : quantities) {
    if (key == each.key) return each;
  }
  throw std::runtime_error("no quantity is called " + key);
}

/// One comparison.
struct comparison {
  std::string engine, quantity, id, source;
  double printed = 0;
  double rounding = 0;  ///< half of the last printed digit of the figures that went in, in the same unit
  double predicted = 0;
  bool counted = true;      ///< independent; the others are shown apart
  bool calibrated = false;  ///< constants rest on this very figure
  bool text = true;
  std::string version;

  [[nodiscard]] double error() const {
    return printed == 0 ? predicted : (predicted - printed) / std::abs(printed);
  }
  [[nodiscard]] bool is_exact() const { return std::abs(predicted - printed) <= rounding * 1.0001 + 1e-9; }
  [[nodiscard]] bool is_miss() const {
    const struct quantity& of = quantity_of(quantity);
    return !is_exact() && (of.absolute ? std::abs(predicted - printed) : std::abs(error())) > of.bound;
  }
};

/// The GPU of a case as the engine saw it.
inline gpu_profile gpu_of_case(const measured_case& from) {
  gpu_profile gpu{};
  if (from.gpu != nullptr) gpu = *from.gpu;
  if (const printed_bytes* total = from.size("gpu_total")) {
    gpu.runtime_total_bytes = static_cast<std::uint64_t>(total->bytes);
    gpu.runtime_total_rounding_bytes = total->rounding_bytes;
  }
  if (gpu.runtime_total_bytes == 0 && gpu.driver_total_bytes == 0)
    gpu.runtime_total_bytes = std::uint64_t{80} << 30;
  return gpu;
}

inline deployment deployment_of(const measured_case& from) {
  deployment d = from.deployment();
  if (from.given.kv_cache_dtype && *from.given.kv_cache_dtype != "auto") {
    d.kv_cache = kv_format_named(*from.given.kv_cache_dtype);
  }
  if (from.given.speculative_method == "mtp" && from.model->draft_layers != 0) {
    d.speculation.kind = speculation_kind::mtp;
    d.speculation.num_speculative_tokens =
        static_cast<std::uint32_t>(from.given.num_speculative_tokens.value_or(1));
  }
  return d;
}

inline engines::vllm vllm_of(const measured_case& from) {
  engines::vllm on;
  on.version = {static_cast<std::uint16_t>(from.version.major),
                static_cast<std::uint16_t>(from.version.minor)};
  const corpus::settings& given = from.given;
  on.gpu_memory_utilization = given.memory_fraction.value_or(0);
  on.max_model_len = given.max_model_len.value_or(0);
  on.max_num_seqs = given.max_num_seqs.value_or(0);
  on.max_num_batched_tokens = given.max_num_batched_tokens.value_or(0);
  on.block_size = given.block_size.value_or(0);
  on.enforce_eager = given.enforce_eager.value_or(false);
  on.enable_prefix_caching = given.enable_prefix_caching.value_or(false);
  on.enable_chunked_prefill = given.enable_chunked_prefill.value_or(true);
  on.language_model_only =
      given.language_model_only.value_or(false) || given.skip_mm_profiling.value_or(false);
  if (given.usage == "library") on.usage = engines::vllm_usage::llm_class;
  if (given.mamba_cache_mode == "align") on.mamba_mode = engines::mamba_cache_mode::align;
  if (given.mamba_cache_mode == "none") on.mamba_mode = engines::mamba_cache_mode::none;
  if (given.mamba_ssm_cache_dtype == "float16") on.mamba_ssm_cache_dtype = engines::state_dtype::float16;
  if (given.mamba_ssm_cache_dtype == "float32") on.mamba_ssm_cache_dtype = engines::state_dtype::float32;
  return on;
}

/// Without attention data parallelism data ranks are replicas; with it they lie within the tensor ranks.
inline deployment with_attention_data(deployment d, const measured_case& from) {
  if (!from.given.enable_dp_attention.value_or(false) || d.parallel.data == 1) return d;
  d.parallel.attention_data = std::exchange(d.parallel.data, 1u);
  return d;
}

inline engines::sglang sglang_of(const measured_case& from) {
  engines::sglang on;
  on.version = {static_cast<std::uint16_t>(from.version.major),
                static_cast<std::uint16_t>(from.version.minor),
                static_cast<std::uint16_t>(from.version.patch)};
  const corpus::settings& given = from.given;
  on.mem_fraction_static = given.memory_fraction.value_or(0);
  on.context_length = given.max_model_len.value_or(0);
  on.max_running_requests = given.max_num_seqs.value_or(0);
  on.page_size = given.block_size.value_or(0);
  on.max_mamba_cache_size = given.max_mamba_cache_size.value_or(0);
  return on;
}

inline engines::tensorrt_llm tensorrt_llm_of(const measured_case& from) {
  engines::tensorrt_llm on;
  on.version = {static_cast<std::uint16_t>(from.version.major),
                static_cast<std::uint16_t>(from.version.minor)};
  const corpus::settings& given = from.given;
  on.free_gpu_memory_fraction = given.memory_fraction.value_or(0);
  on.max_seq_len = given.max_model_len.value_or(0);
  on.max_batch_size = given.max_num_seqs.value_or(0);
  on.max_num_tokens = given.max_num_batched_tokens.value_or(0);
  on.tokens_per_block = static_cast<std::uint32_t>(given.block_size.value_or(0));
  return on;
}

/// The pools of the rank with the fewest blocks, if every rank has so many bytes.
template <class Engine>
block_pools pools_of(const Engine& on, const deployment& d, const gpu_profile& gpu, std::uint64_t available) {
  block_pools least = on.pools(d, rank{}, gpu, available);
  for (std::uint32_t stage = 1; stage < d.parallel.pipeline; ++stage) {
    const block_pools here = on.pools(d, rank{stage, 0}, gpu, available);
    if (here.pools[0].blocks < least.pools[0].blocks) least = here;
  }
  return least;
}

inline std::optional<printed_bytes> pool_of(const measured_case& from) {
  for (const char* name : {"kv_available", "kv_pool_with_indexer", "kv_pool"}) {
    if (const printed_bytes* pool = from.size(name))
      return pool->approximate ? std::nullopt : std::optional(*pool);
  }
  const printed_bytes* keys = from.size("key_pool");
  const printed_bytes* values = from.size("value_pool");
  if (keys == nullptr || values == nullptr) return std::nullopt;
  return printed_bytes{keys->bytes + values->bytes, keys->rounding_bytes + values->rounding_bytes, false};
}

/// Adds what can be compared of one case on an engine with pools.
template <class Engine>
void compare_case(std::vector<comparison>& to, const measured_case& from, const Engine& on) {
  const deployment d = with_attention_data(deployment_of(from), from);
  const gpu_profile gpu = gpu_of_case(from);
  const bool independent = from.kind == corpus::independence::independent;
  const auto add = [&](const char* key, double printed, double rounding, double predicted, bool counted) {
    const std::string of = key;
    const bool rests_on_it = from.calibrated && (of == "activation_peak" || of == "pool_end_to_end");
    to.push_back({from.engine, of, from.id, from.source, printed, rounding, predicted,
                  counted && !rests_on_it, rests_on_it, !from.multimodal,
                  std::to_string(from.version.major) + "." + std::to_string(from.version.minor)});
  };
  const std::uint64_t length = on.longest_request(d);
  const std::optional<printed_bytes> pool = pool_of(from);
  const auto* tokens = from.count("kv_tokens");
  const auto* blocks = from.count("gpu_blocks");
  if (pool && pool->bytes > 0) {
    const auto given = static_cast<double>(pool->bytes);
    const auto exact = static_cast<std::uint64_t>(pool->bytes);
    const block_pools pools = pools_of(on, d, gpu, exact);
    const double rounding_share = static_cast<double>(pool->rounding_bytes) / given;
    const std::uint64_t printed_tokens = on.printed_tokens(d, gpu, pools, length);
    if (tokens != nullptr && !tokens->approximate && printed_tokens != 0 && pool->bytes > 0) {
      const double measured = given / static_cast<double>(tokens->value);
      const double block_share =
          static_cast<double>(pools.pools[0].groups[0].block_tokens) / static_cast<double>(tokens->value);
      add("bytes_per_token", measured, measured * (rounding_share + block_share),
          given / static_cast<double>(printed_tokens), independent);
    } else if (blocks != nullptr && pools.pools[0].blocks != 0) {
      const double measured = given / static_cast<double>(blocks->value) /
                              static_cast<double>(pools.pools[0].groups[0].block_tokens);
      const double predicted = static_cast<double>(pools.pools[0].block_bytes) /
                               static_cast<double>(pools.pools[0].groups[0].block_tokens);
      add("bytes_per_token", measured, measured * (rounding_share + 1.0 / static_cast<double>(blocks->value)),
          predicted, independent);
    }
    const auto* concurrency = from.number("max_concurrency");
    const std::uint64_t each = pools.pools[0].blocks_of(length);
    if (concurrency != nullptr && each != 0 && from.given.max_model_len) {
      const double predicted = static_cast<double>(pools.pools[0].blocks) / static_cast<double>(each);
      add("max_concurrency", concurrency->value,
          concurrency->rounding +
              concurrency->value * (rounding_share + 1.0 / static_cast<double>(pools.pools[0].blocks)),
          predicted, independent);
    }
    if (const auto* longest = from.count("estimated_max_model_len");
        longest != nullptr && from.given.max_model_len) {
      std::uint64_t good = 0, bad = length + 1;
      while (bad - good > 1) {
        const std::uint64_t middle = good + (bad - good) / 2;
        (on.needed_to_start(d, gpu, pools, middle).value <= exact ? good : bad) = middle;
      }
      const double step = static_cast<double>(pools.pools[0].groups[0].block_tokens);
      add("estimated_max_model_len", static_cast<double>(longest->value),
          static_cast<double>(longest->value) * rounding_share + step, static_cast<double>(good),
          independent);
    }
  }
  if (const printed_bytes* needed = from.size("kv_needed"); needed != nullptr && from.given.max_model_len) {
    const block_pools pools = pools_of(on, d, gpu, 0);
    add("kv_needed", static_cast<double>(needed->bytes) / gib,
        static_cast<double>(needed->rounding_bytes) / gib,
        static_cast<double>(on.needed_to_start(d, gpu, pools, length).value) / gib, independent);
  }
  const allocation found = allocate(d, on, gpu);
  // Weights and terms are one rank's: with pipeline stages it is not said whose.
  const printed_bytes* weights = d.parallel.pipeline == 1 ? from.size("weights") : nullptr;
  if (weights != nullptr && !from.is_inferred("weights") && !from.is_inferred("model")) {
    add("weights", static_cast<double>(weights->bytes) / gib,
        static_cast<double>(weights->rounding_bytes) / gib,
        static_cast<double>(found.budget.weights().value) / gib, from.kind != corpus::independence::circular);
  }
  const printed_bytes* peak = d.parallel.pipeline == 1 ? from.size("activation_peak") : nullptr;
  const printed_bytes* outside = from.size("non_torch");
  const printed_bytes* available = from.size("kv_available");
  const bool knows_total = from.size("gpu_total") != nullptr;
  if (weights != nullptr && peak != nullptr && outside != nullptr && available != nullptr && knows_total &&
      from.given.memory_fraction && !from.is_inferred("gpu_memory_utilization")) {
    deployment pinned = d;
    const auto exactly = [](const printed_bytes& of) { return bytes{static_cast<std::uint64_t>(of.bytes)}; };
    pinned.pinned.weights = exactly(*weights);
    pinned.pinned.activations = exactly(*peak);
    std::int64_t framework = outside->bytes;
    const bool charged = vllm_profile::rules_of(on.version).graphs_in_budget;
    if (const printed_bytes* graphs = from.size("cuda_graphs_estimate"); graphs != nullptr && charged) {
      framework += graphs->bytes;
    }
    pinned.pinned.framework = bytes{static_cast<std::uint64_t>(std::max<std::int64_t>(framework, 0))};
    const double predicted = static_cast<double>(allocate(pinned, on, gpu).available_kv.expected) / gib;
    add("pool_from_terms", static_cast<double>(available->bytes) / gib,
        static_cast<double>(available->rounding_bytes) / gib, predicted, true);
  }
  if (peak != nullptr && from.kind != corpus::independence::circular) {
    add("activation_peak", static_cast<double>(peak->bytes) / gib,
        static_cast<double>(peak->rounding_bytes) / gib,
        static_cast<double>(found.budget.activations().value) / gib, true);
  }
  if (from.runs_end_to_end()) {
    double printed = 0;
    double rounding = 0;
    double predicted = static_cast<double>(found.available_kv.expected) / gib;
    if (pool) {
      printed = static_cast<double>(pool->bytes) / gib;
      rounding = static_cast<double>(pool->rounding_bytes) / gib;
      // Keys and values of tokens alone, where states and windows have pools of their own.
      if (from.size("key_pool") != nullptr)
        predicted = static_cast<double>(found.main_pool().size().value) / gib;
    } else if (blocks != nullptr) {
      printed = static_cast<double>(blocks->value) * static_cast<double>(found.main_pool().block_bytes) / gib;
      predicted = static_cast<double>(found.pools.size().value) / gib;
    } else if (tokens != nullptr && found.printed_kv_cache_tokens != 0) {
      printed = static_cast<double>(tokens->value) * static_cast<double>(found.pools.size().value) /
                static_cast<double>(found.printed_kv_cache_tokens) / gib;
      predicted = static_cast<double>(found.pools.size().value) / gib;
    }
    if (printed != 0)
      add("pool_end_to_end", printed, rounding, predicted, from.kind != corpus::independence::circular);
  }
}

inline std::vector<comparison> compare_all(const std::vector<measured_case>& cases) {
  std::vector<comparison> found;
  for (const measured_case& each : cases) {
    if (each.version.open && each.engine != "vllm") continue;
    if (each.version.open) {  // what no release changes: tokens of models with one block table
      std::vector<comparison> all;
      compare_case(all, each, vllm_of(each));
      const block_pools pools = vllm_of(each).pools(deployment_of(each), rank{}, gpu_of_case(each), 0);
      const bool one_table =
          pools.pools[0].tables() == 1 && pools.pools[0].groups[0].rule == block_rule::every_token;
      for (const comparison& of : all) {
        const bool layout = of.quantity == "bytes_per_token" || of.quantity == "kv_needed" ||
                            of.quantity == "weights" || of.quantity == "max_concurrency" ||
                            of.quantity == "estimated_max_model_len";
        if (one_table && layout) found.push_back(of);
      }
      continue;
    }
    if (each.engine == "vllm") compare_case(found, each, vllm_of(each));
    if (each.engine == "sglang") compare_case(found, each, sglang_of(each));
    if (each.engine == "tensorrt-llm") compare_case(found, each, tensorrt_llm_of(each));
  }
  return found;
}

}  // namespace tests::accuracy
