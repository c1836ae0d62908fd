#include "kvbudget/io/calibration.hpp"

#include <cmath>
#include <cstdint>
#include <string>

#include "kvbudget/hardware/gpus.hpp"
#include "kvbudget/io/engine_log.hpp"
#include "kvbudget/models.hpp"
#include "support/catch.hpp"

using namespace kvbudget;

namespace {

const std::string logs = std::string(KVBUDGET_SEEDS_DIR) + "/../../cli/logs/";

/// Takes the terms of a log through the file's schema into the same deployment.
template <class Engine>
allocation with_measured_terms(const engine_log& log, const deployment& d, const Engine& on,
                               const gpu_profile& gpu) {
  const calibration measured = calibration_of(log, d, on, gpu, "x.log");
  const calibration read =
      parse_calibration(nlohmann::json::parse(calibration_json(measured).dump()), "x.json");
  CHECK(read == measured);
  deployment pinned = d;
  const calibration_use use = use_calibration(read, pinned, on, &gpu);
  CHECK_FALSE(use.used.empty());
  CHECK(pinned.pinned.weights.given);
  CHECK(pinned.pinned.weights.known == basis::measured);
  return allocate(pinned, on, gpu);
}

calibration a_calibration() {
  calibration c;
  c.engine = "vllm";
  c.version = "0.11";
  c.gpu = "nvidia-h100-sxm-80gb";
  c.gpu_total_bytes = usable(gpus::nvidia_h100_sxm_80gb).expected.value;
  const model_architecture& model = models::llama_3_1_8b;
  c.model = model.name;
  c.parameters = parameter_count(model).value;
  c.num_hidden_layers = model.num_hidden_layers;
  c.hidden_size = model.hidden_size;
  c.weights_format = "bf16";
  c.max_num_seqs = 1024;
  c.max_num_batched_tokens = 8192;
  const auto term = [](std::uint64_t mib, const char* source) {
    return calibrated_term{bytes{(mib - 1) << 20}, bytes{mib << 20}, bytes{(mib + 1) << 20}, basis::measured,
                           source};
  };
  c.weights = term(15348, "a.log:1");
  c.activations = term(4874, "a.log:2");
  c.non_torch = term(133, "a.log:3");
  return c;
}

struct target {
  deployment d{.model = models::llama_3_1_8b};
  engines::vllm on{};
  gpu_profile gpu = gpus::nvidia_h100_sxm_80gb;
  target() {
    on.version = {0, 11};
    on.max_model_len = 16000;
  }
  calibration_use use(const calibration& c) { return use_calibration(c, d, on, &gpu); }
};

bool any_contains(const std::vector<std::string>& lines, const std::string& part) {
  for (const std::string& line : lines) {
    if (line.find(part) != std::string::npos) return true;
  }
  return false;
}

std::string refusal_of(const std::string& text) {
  try {
    const json_document document = parse_json(text, "c.json");
    (void)parse_calibration(document.root, document.source);
  } catch (const input_error& problem) {
    return problem.what();
  }
  return "";
}
/// The JSON of a good calibration with one place of it changed.
std::string changed(const std::string& pointer, const nlohmann::json& value) {
  nlohmann::json json = nlohmann::json::parse(calibration_json(a_calibration()).dump());
  json[nlohmann::json::json_pointer(pointer)] = value;
  return json.dump();
}
std::string without(const std::string& object, const std::string& key) {
  nlohmann::json json = nlohmann::json::parse(calibration_json(a_calibration()).dump());
  json[nlohmann::json::json_pointer(object)].erase(key);
  return json.dump();
}

}  // namespace

TEST_CASE("measured terms give the measured pool back, within the printed digits") {
  {
    const engine_log log = read_engine_log_file(logs + "vllm-terms.log");
    deployment d{.model = models::llama_3_1_8b};
    engines::vllm on;
    on.version = {0, 11};
    on.gpu_memory_utilization = 0.9;
    on.max_model_len = 16000;
    on.block_size = 128;
    gpu_profile gpu = gpus::nvidia_h100_sxm_80gb;
    const rank_figures first = first_printed(log);
    gpu.runtime_total_bytes = static_cast<std::uint64_t>(first.total_gpu_memory->bytes);
    gpu.runtime_total_rounding_bytes = first.total_gpu_memory->rounding_bytes;
    const allocation found = with_measured_terms(log, d, on, gpu);
    CHECK(std::abs(found.available_kv.expected - first.available_kv->bytes) <= 4 * 5'368'710);
    CHECK(found.available_kv.low <= first.available_kv->bytes);
    CHECK(first.available_kv->bytes <= found.available_kv.high);
  }
  {
    const engine_log log = read_engine_log_file(logs + "vllm-two-ranks.log");
    deployment d{.model = models::qwen3_32b};
    d.parallel.tensor = 2;
    engines::vllm on;
    on.version = {0, 11};
    on.max_model_len = 16000;
    on.block_size = 128;
    const allocation found = with_measured_terms(log, d, on, gpus::nvidia_h100_sxm_80gb);
    CHECK(std::abs(found.available_kv.expected - 37'033'355'510) <= 1);  // 34.49 GiB
    CHECK(found.printed_kv_cache_tokens == 282'496);
  }
  {
    const engine_log log = read_engine_log_file(logs + "tensorrt-llm.log");
    deployment d{.model = models::llama_3_1_8b};
    engines::tensorrt_llm on;
    on.version = {1, 2};
    on.max_seq_len = 16384;
    on.max_batch_size = 256;
    gpu_profile gpu = gpus::nvidia_h100_sxm_80gb;
    gpu.runtime_total_bytes = static_cast<std::uint64_t>(first_printed(log).total_gpu_memory->bytes);
    gpu.runtime_total_rounding_bytes = 5'368'710;
    const allocation found = with_measured_terms(log, d, on, gpu);
    const std::int64_t printed = first_printed(log).available_kv->bytes;
    CHECK(std::abs(found.available_kv.expected - printed) <= 5 * 5'368'710);
    CHECK(found.available_kv.low <= printed);
    CHECK(printed <= found.available_kv.high);
  }
  {
    const engine_log log = read_engine_log_file(logs + "sglang.log");
    deployment d{.model = models::qwen3_32b};
    d.parallel.tensor = 2;
    engines::sglang on;
    on.mem_fraction_static = 0.85;
    on.context_length = 32768;
    const allocation found = with_measured_terms(log, d, on, gpus::nvidia_h100_sxm_80gb);
    const comparison again = [&] {
      deployment pinned = d;
      const calibration measured = calibration_of(log, d, on, gpus::nvidia_h100_sxm_80gb, "x");
      (void)use_calibration(measured, pinned, on, &gpus::nvidia_h100_sxm_80gb);
      return compare_with_log(log, pinned, on, gpus::nvidia_h100_sxm_80gb);
    }();
    CHECK(std::abs(static_cast<double>(found.pools.size().value) - again.find("pools")->printed) <=
          3 * again.find("pools")->rounding);
  }
}

TEST_CASE("graphs in the budget are measured apart and give the pool back") {
  for (const model_architecture* model : {&models::llama_3_1_8b, &models::gpt_oss_20b}) {
    deployment d{.model = *model};
    engines::vllm on;
    on.version = {0, 22};
    on.max_model_len = 8192;
    const gpu_profile gpu = gpus::nvidia_h100_sxm_80gb;
    for (const bool apart : {true, false}) {
      for (const bool with_graphs : {true, false}) {
        const std::int64_t pool = allocate(d, on, gpu).available_kv.expected - (std::int64_t{3} << 29);
        engine_log log;
        log.engine = "vllm";
        rank_figures& rank = log.ranks.emplace_back();
        const auto budget = static_cast<std::int64_t>(on.usable(gpu).expected.value);
        rank.weights = printed_amount{std::int64_t{16} << 30, 100, 1};
        rank.available_kv = printed_amount{pool, 100, 2};
        std::int64_t rest = budget - pool - rank.weights->bytes;
        if (with_graphs && detail::pays_for_graphs(on, d)) {
          rank.cuda_graphs_estimated = printed_amount{std::int64_t{1} << 29, 100, 3};
          rest -= std::int64_t{1} << 29;
        }
        if (apart && rank.cuda_graphs_estimated) {
          rank.activation_peak = printed_amount{rest / 2, 100, 4};
          rank.non_torch = printed_amount{rest - rest / 2, 100, 4};
        }
        const allocation found = with_measured_terms(log, d, on, gpu);
        CHECK(std::abs(found.available_kv.expected - pool) <= 1);
      }
    }
  }
}

TEST_CASE("measured terms count only where they hold") {
  const calibration c = a_calibration();
  const auto pinned_of = [&](target& to) {
    const calibration_use use = to.use(c);
    CHECK(use.used.size() + use.not_used.size() == 3);
    return std::string(to.d.pinned.weights.given ? "w" : "-") + (to.d.pinned.activations.given ? "a" : "-") +
           (to.d.pinned.framework.given ? "f" : "-");
  };
  {
    target same;
    CHECK(pinned_of(same) == "waf");
    CHECK(same.d.pinned.activations.expected == bytes{std::uint64_t{4874} << 20});
    CHECK(std::string(same.d.pinned.activations.source) == "a.log:2");
    CHECK(same.d.pinned.framework.known == basis::measured);
  }
  target version;
  version.on.version = {0, 12};
  CHECK(pinned_of(version) == "w--");
  target gpu;
  gpu.gpu = gpus::nvidia_h200_sxm_141gb;
  CHECK(pinned_of(gpu) == "w--");
  target unnamed;  // a GPU as a log prints it: the same total
  unnamed.gpu.id[0] = '\0';
  CHECK(pinned_of(unnamed) == "waf");
  target smaller;
  smaller.gpu.id[0] = '\0';
  smaller.gpu.runtime_total_bytes -= std::uint64_t{1} << 30;
  CHECK(pinned_of(smaller) == "w--");
  target ranks;
  ranks.d.parallel.tensor = 2;
  CHECK(pinned_of(ranks) == "---");
  target replicas;
  replicas.d.parallel.data = 2;
  CHECK(pinned_of(replicas) == "w--");
  target sequences;
  sequences.on.max_num_seqs = 64;
  CHECK(pinned_of(sequences) == "w-f");
  target step;
  step.on.max_num_batched_tokens = 16384;
  CHECK(pinned_of(step) == "w-f");
  target format;
  format.d.weights = schemes::fp8_linear;
  CHECK(pinned_of(format) == "-af");
  target drafting;
  drafting.d.speculation.kind = speculation_kind::ngram;
  drafting.d.speculation.num_speculative_tokens = 3;
  CHECK(pinned_of(drafting) == "w-f");
  target other;
  deployment of_other{.model = models::qwen3_8b};
  const calibration_use use = use_calibration(c, of_other, other.on, &other.gpu);
  CHECK(use.used.size() == 1);
  CHECK(any_contains(use.not_used, "weights: measured with llama-3.1-8b"));
  deployment geometry{.model = models::llama_3_1_8b};
  CHECK(use_calibration(c, geometry, engines::geometry{}, nullptr).used.size() == 1);
  CHECK(geometry.pinned.weights.given);
  target asked;
  asked.d.pinned.weights = bytes{std::uint64_t{15} << 30};
  CHECK(any_contains(asked.use(c).not_used, "weights: given by the user"));
  CHECK(asked.d.pinned.weights.expected == bytes{std::uint64_t{15} << 30});
}

TEST_CASE("a calibration file is hostile input") {
  CHECK(refusal_of(calibration_json(a_calibration()).dump()).empty());
  CHECK(refusal_of("[]") == "c.json: must be an object, not an array");
  CHECK(refusal_of(changed("/schema", 2)) == "c.json: schema: must be 1");
  CHECK(refusal_of(changed("/terms/weights/low", -1)) == "c.json: terms.weights.low: must not be negative");
  CHECK(refusal_of(changed("/terms/weights/low", 1.5)) ==
        "c.json: terms.weights.low: must be a whole number, not a fractional one");
  CHECK(refusal_of(changed("/terms/weights/high", std::uint64_t{1} << 60)) ==
        "c.json: terms.weights.high: must be at most 2^50 bytes");
  CHECK(refusal_of(changed("/terms/weights/expected", 1)) ==
        "c.json: terms.weights: needs low <= expected <= high");
  CHECK(refusal_of(changed("/terms/weights/basis", "guessed")).find("terms.weights.basis: must be exact") !=
        std::string::npos);
  CHECK(refusal_of(changed("/terms/weight", 1)).find("terms: unknown key \"weight\"") != std::string::npos);
  CHECK(refusal_of(changed("/layout/tensor", 0)).find("layout.tensor: must be above zero") !=
        std::string::npos);
  CHECK(refusal_of(changed("/layout/tensor", 100'000)) == "c.json: layout.tensor: must be at most 65536");
  CHECK(refusal_of(changed("/gpu/total_rounding_bytes", std::uint64_t{1} << 50)) ==
        "c.json: gpu.total_rounding_bytes: is larger than the total");
  CHECK(refusal_of(changed("/engine", std::string(500, 'x'))).find("engine: has 500 characters") !=
        std::string::npos);
  CHECK(refusal_of(changed("/engine", "vl\nlm")) == "c.json: engine: must not hold control characters");
  const nlohmann::json both = {
      {"low", 1}, {"expected", 1}, {"high", 1}, {"basis", "measured"}, {"source", "x"}};
  CHECK(refusal_of(changed("/terms/activations_and_non_torch", both)) ==
        "c.json: terms.activations_and_non_torch: stands in place of activations and non_torch");
  for (const char* key :
       {"schema", "engine", "version", "gpu", "model", "weights_format", "layout", "settings", "terms"}) {
    CAPTURE(key);
    CHECK(refusal_of(without("", key)) == "c.json: key \"" + std::string(key) + "\" is missing");
  }
  CHECK(refusal_of(without("/settings", "cuda_graphs")) ==
        "c.json: settings: key \"cuda_graphs\" is missing");
}
