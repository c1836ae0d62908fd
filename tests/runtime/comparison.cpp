#include "kvbudget/io/comparison.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>

#include "kvbudget/hardware/gpus.hpp"
#include "kvbudget/io/calibration.hpp"
#include "kvbudget/io/engine_log.hpp"
#include "kvbudget/models.hpp"
#include "support/catch.hpp"

using namespace kvbudget;

namespace {

const std::string logs = std::string(KVBUDGET_SEEDS_DIR) + "/../../cli/logs/";
constexpr double gib = 1073741824.0;

gpu_profile gpu_of(double total_gib) {
  gpu_profile gpu = gpus::nvidia_h100_sxm_80gb;
  gpu.runtime_total_bytes = static_cast<std::uint64_t>(std::llround(total_gib * gib));
  gpu.runtime_total_rounding_bytes = 5'368'710;
  return gpu;
}

/// The run of tests/cli/logs/vllm-terms.log.
struct itemized_run {
  engine_log log = read_engine_log_file(logs + "vllm-terms.log");
  model_architecture model = models::llama_3_1_8b;
  deployment d{.model = model};
  engines::vllm on{};
  gpu_profile gpu = gpu_of(79.18);
  itemized_run() {
    on.version = {0, 11};
    on.gpu_memory_utilization = 0.9;
    on.max_model_len = 16000;
    on.max_num_batched_tokens = 8192;
    on.block_size = 128;
  }
  itemized_run(const itemized_run&) = delete;
  itemized_run& operator=(const itemized_run&) = delete;
  [[nodiscard]] comparison compare() const { return compare_with_log(log, d, on, gpu); }
};

/// A log of vLLM whose terms are those of an allocation, some bytes moved from the pool to one of them.
struct written_log {
  double weights = 0, activations = 0, non_torch = 0, graphs = 0;
  [[nodiscard]] engine_log of(const engines::vllm& on, const deployment& d, const gpu_profile& gpu) const {
    const rank_reservation mine = on.reserve(d, rank{}, gpu);
    const auto size = [](double bytes_there) {
      return std::optional(printed_amount{std::llround(bytes_there), 53'688, 1});
    };
    const auto line = [&](const char* name) { return static_cast<double>(mine.budget[name].value); };
    engine_log log;
    log.engine = "vllm";
    rank_figures rank;
    rank.total_gpu_memory = printed_amount{static_cast<std::int64_t>(usable(gpu).expected.value), 1, 1};
    rank.weights = size(line("weights") + weights);
    rank.activation_peak = size(line("activations") + activations);
    rank.non_torch = size(line("framework.non_torch") + non_torch);
    const bool pays = detail::pays_for_graphs(on, d);
    if (pays) rank.cuda_graphs_estimated = size(line("framework.graphs") + graphs);
    rank.available_kv = size(static_cast<double>(mine.available_kv.expected) - weights - activations -
                             non_torch - (pays ? graphs : 0));
    log.ranks.push_back(rank);
    return log;
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a log's figures stand beside ours, with the printed digits") {
  const itemized_run run;
  const comparison found = run.compare();
  const compared_figure* total = found.find("total_gpu_memory");
  REQUIRE(total != nullptr);
  CHECK(total->verdict() == agreement::as_printed);
  CHECK(total->line == 5);
  const compared_figure* weights = found.find("weights");
  REQUIRE(weights != nullptr);
  CHECK(weights->printed == std::round(14.9889 * gib));
  CHECK(weights->rounding == 53'688);
  CHECK(weights->rank.empty());
  const compared_figure* each = found.find("bytes_per_token");
  REQUIRE(each != nullptr);
  CHECK(each->verdict() == agreement::as_printed);
  CHECK(found.find("max_concurrency_of_pool")->verdict() == agreement::as_printed);
  CHECK(found.find("budget") == nullptr);
  REQUIRE(found.find("memory_budget") != nullptr);
  CHECK(found.find("memory_budget")->verdict() == agreement::as_printed);
  REQUIRE(found.pool_missing.has_value());
  CHECK(std::abs(*found.pool_missing) < 0.2 * gib);
  CHECK(found.not_printed.empty());
}

TEST_CASE("what a log does not print is not compared") {
  engine_log log;
  log.engine = "vllm";
  log.ranks.emplace_back().kv_tokens = printed_count{421'632, 3};
  itemized_run run;
  run.log = log;
  const comparison found = run.compare();
  CHECK(found.figures.size() == 1);
  CHECK(found.find("kv_tokens") != nullptr);
  CHECK_FALSE(found.pool_missing.has_value());
  CHECK(found.terms.empty());
  run.log.ranks.clear();
  CHECK(run.compare().figures.empty());
  CHECK(run.compare().conclusion == "nothing that this log prints can be predicted");
}

TEST_CASE("ranks that differ are told apart, the fullest first") {
  const engine_log log = read_engine_log_file(logs + "vllm-two-ranks.log");
  const model_architecture& model = models::qwen3_32b;
  deployment d{.model = model};
  d.parallel.tensor = 2;
  engines::vllm on;
  on.version = {0, 11};
  on.max_model_len = 16000;
  on.block_size = 128;
  const gpu_profile gpu = gpus::nvidia_h100_sxm_80gb;
  const comparison found = compare_with_log(log, d, on, gpu);
  std::vector<std::string> ranks;
  for (const compared_figure& each : found.figures) {
    if (std::string(each.name) == "available_kv") ranks.push_back(each.rank);
    if (std::string(each.name) == "weights") CHECK(each.rank.empty());
  }
  CHECK(ranks == std::vector<std::string>{"TP0", "TP1"});
  // the total comes from elsewhere: the log leaves it and two terms open
  CHECK(found.not_printed.size() == 3);
}

TEST_CASE("each pipeline stage is compared with its own prediction") {
  deployment d{.model = models::llama_3_1_8b};
  d.parallel.pipeline = 2;
  engines::vllm on;
  on.version = {0, 11};
  const gpu_profile gpu = gpu_of(79.18);
  engine_log log;
  log.engine = "vllm";
  for (std::uint32_t stage = 0; stage < 2; ++stage) {
    const rank_reservation mine = on.reserve(d, rank{stage, 0}, gpu);
    rank_figures rank;
    rank.name = "PP" + std::to_string(stage);
    rank.pipeline = stage;
    rank.weights = printed_amount{static_cast<std::int64_t>(mine.budget.weights().value), 1, 1};
    rank.available_kv = printed_amount{mine.available_kv.expected, 1, 2};
    log.ranks.push_back(rank);
  }
  REQUIRE(log.ranks[0].available_kv->bytes != log.ranks[1].available_kv->bytes);
  const comparison found = compare_with_log(log, d, on, gpu);
  std::size_t compared = 0;
  for (const compared_figure& each : found.figures) {
    if (std::string(each.name) != "available_kv" && std::string(each.name) != "weights") continue;
    ++compared;
    CHECK(each.verdict() == agreement::as_printed);
    CHECK_FALSE(each.rank.empty());
  }
  CHECK(compared == 4);
  CHECK(found.conclusion == "the pool is as predicted, within the printed digits: nothing is off");
}

TEST_CASE("the term that makes the difference is named") {
  const model_architecture& dense = models::llama_3_1_8b;
  const model_architecture& experts = models::gpt_oss_20b;
  const gpu_profile gpu = gpu_of(79.18);
  struct move {
    const char* what;
    double written_log::*member;
  };
  const move moves[] = {{"weights", &written_log::weights},
                        {"activations", &written_log::activations},
                        {"memory outside PyTorch", &written_log::non_torch},
                        {"estimated CUDA graphs", &written_log::graphs}};
  std::size_t graphs_counted = 0;
  for (const model_architecture* model : {&dense, &experts}) {
    for (const engine_version version :
         {engine_version{0, 11}, engine_version{0, 22}, engine_version{0, 29}}) {
      deployment d{.model = *model};
      engines::vllm on;
      on.version = version;
      on.max_model_len = 8192;
      const bool pays = detail::pays_for_graphs(on, d);
      graphs_counted += pays ? 1 : 0;
      const comparison same = compare_with_log(written_log{}.of(on, d, gpu), d, on, gpu);
      CHECK(same.conclusion == "the pool is as predicted, within the printed digits: nothing is off");
      for (const move& each : moves) {
        if (each.member == &written_log::graphs && !pays) continue;
        for (const double gibibytes : {0.25, 1.71, 5.0}) {
          written_log moved;
          moved.*(each.member) = gibibytes * gib;
          const comparison found = compare_with_log(moved.of(on, d, gpu), d, on, gpu);
          CAPTURE(each.what, gibibytes, found.conclusion);
          REQUIRE(found.pool_missing.has_value());
          CHECK(std::abs(*found.pool_missing - gibibytes * gib) < 3);
          REQUIRE_FALSE(found.terms.empty());
          CHECK(std::string(found.terms.front().what) == each.what);
          CHECK(
              contains(found.conclusion, " smaller than predicted: " + std::string(each.what) + " account"));
        }
      }
    }
  }
  CHECK(graphs_counted >= 2);
}

TEST_CASE("terms that cancel are told although the pool agrees") {
  const gpu_profile gpu = gpu_of(79.18);
  deployment d{.model = models::llama_3_1_8b};
  engines::vllm on;
  on.version = {0, 11};
  written_log moved;
  moved.weights = 2 * gib;
  moved.activations = -2 * gib;
  const comparison found = compare_with_log(moved.of(on, d, gpu), d, on, gpu);
  CHECK(contains(found.conclusion, "the pool is as predicted"));
  CHECK(contains(found.conclusion, "weights (2.00 GiB more) and activations (2.00 GiB less) are not"));
}

TEST_CASE("what a log does not print apart is named as such") {
  const gpu_profile gpu = gpu_of(79.18);
  deployment d{.model = models::llama_3_1_8b};
  engines::vllm on;
  on.version = {0, 11};
  written_log moved;
  moved.activations = 3 * gib;
  moved.weights = -0.5 * gib;
  engine_log log = moved.of(on, d, gpu);
  log.ranks[0].activation_peak.reset();
  log.ranks[0].non_torch.reset();
  const comparison found = compare_with_log(log, d, on, gpu);
  CHECK(found.not_printed.size() == 2);
  CHECK(contains(found.conclusion,
                 "the pool is 2.50 GiB smaller than predicted: what this log does not print apart "
                 "(activations and memory outside PyTorch) accounts for 3.00 GiB of it"));
  CHECK(contains(found.conclusion, "against it: weights (0.50 GiB)"));
}

TEST_CASE("a refusal is compared by its three numbers") {
  const engine_log log = read_engine_log_file(logs + "vllm-refusal.log");
  deployment d{.model = models::llama_3_1_70b};
  d.weights = schemes::fp8_linear;
  engines::vllm on;
  on.version = {0, 11};
  on.gpu_memory_utilization = 0.95;
  const comparison found = compare_with_log(log, d, on, gpus::nvidia_h100_sxm_80gb);
  REQUIRE(found.find("needed_kv") != nullptr);
  CHECK(found.find("needed_kv")->verdict() == agreement::as_printed);
  CHECK(found.find("refused_available_kv") != nullptr);
  REQUIRE(found.find("estimated_max_length_of_pool") != nullptr);
  CHECK(found.find("estimated_max_length_of_pool")->verdict() == agreement::as_printed);
  CHECK(found.find("kv_tokens") == nullptr);
}

TEST_CASE("TensorRT-LLM and SGLang are compared by their own terms") {
  {
    const engine_log log = read_engine_log_file(logs + "tensorrt-llm.log");
    deployment d{.model = models::llama_3_1_8b};
    engines::tensorrt_llm on;
    on.version = {1, 2};
    on.max_seq_len = 16384;
    on.max_batch_size = 256;
    const comparison found = compare_with_log(log, d, on, gpu_of(79.18));
    for (const char* name :
         {"weights", "activation_peak", "non_torch", "peak_memory", "available_kv", "allocated_kv",
          "kv_tokens", "kv_bytes_per_token", "primary_blocks", "block_size"}) {
      CAPTURE(name);
      CHECK(found.find(name) != nullptr);
    }
    CHECK(found.find("kv_bytes_per_token")->verdict() == agreement::as_printed);
    CHECK(found.find("non_torch")->printed == std::round(3.27 * gib) - gib);  // less the profiled cache
  }
  {
    const engine_log log = read_engine_log_file(logs + "sglang.log");
    deployment d{.model = models::qwen3_32b};
    d.parallel.tensor = 2;
    engines::sglang on;
    on.mem_fraction_static = 0.85;
    on.context_length = 32768;
    const comparison found = compare_with_log(log, d, on, gpus::nvidia_h100_sxm_80gb);
    for (const char* name : {"free_at_start", "free_after_weights", "free_after_pools", "weights",
                             "cuda_graphs", "pools", "kv_tokens", "bytes_per_token"}) {
      CAPTURE(name);
      CHECK(found.find(name) != nullptr);
    }
    CHECK(found.find("free_at_start")->rank == "TP1");
    CHECK(found.find("bytes_per_token")->verdict() == agreement::as_printed);
  }
}

TEST_CASE("figures that no GPU has are left out") {
  itemized_run run;
  for (rank_figures& rank : run.log.ranks) {
    rank.weights = printed_amount{INT64_MAX, UINT64_MAX, 1};
    rank.available_kv = printed_amount{INT64_MIN, 0, 2};
    rank.kv_tokens = printed_count{UINT64_MAX, 3};
    rank.concurrency_length = printed_count{UINT64_MAX, 3};
  }
  const comparison found = run.compare();
  CHECK(found.find("weights") == nullptr);
  CHECK(found.find("kv_tokens") == nullptr);
  CHECK(found.not_predicted.size() >= 4);
  const calibration measured = calibration_of(run.log, run.d, run.on, run.gpu, "x");
  CHECK_FALSE(measured.weights.has_value());
}

TEST_CASE("every seed of the log readers can be compared") {
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(KVBUDGET_SEEDS_DIR) + "/engine_log")) {
    const engine_log log = read_engine_log_file(entry.path());
    deployment d{.model = models::llama_3_1_8b};
    CAPTURE(entry.path().string());
    const auto check = [&](const auto& on) {
      const comparison found = compare_with_log(log, d, on, gpus::nvidia_h100_sxm_80gb);
      CHECK_FALSE(found.conclusion.empty());
      for (const compared_figure& each : found.figures) CHECK(each.low <= each.high);
      const calibration measured = calibration_of(log, d, on, gpus::nvidia_h100_sxm_80gb, "seed");
      CHECK(parse_calibration(nlohmann::json::parse(calibration_json(measured).dump()), "seed") == measured);
    };
    check(engines::vllm{});
    check(engines::sglang{});
    check(engines::tensorrt_llm{});
  }
}
