// The measured cases of tests/corpus: that every one can be read and resolved, and that the reader refuses
// what does not fit the schema.
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/corpus.hpp"
#include "support/input.hpp"

namespace {

using tests::contains;
using tests::message_of;
using tests::scratch;
using tests::corpus::independence;
using tests::corpus::measured_case;
namespace fs = std::filesystem;

const fs::path corpus_directory = fs::path(KVBUDGET_DATA_DIR).parent_path() / "tests" / "corpus";

const std::string good = R"([{
  "id": "one", "engine": "vllm", "version": {"printed": "0.11.0", "major": 0, "minor": 11}, "source": "somebody/something#1",
  "model": "llama-3.1-8b", "published_as": "meta-llama/Llama-3.1-8B", "modality": "text", "weights": "fp8_block",
  "gpu": "h200", "layout": {"tensor": 2, "pipeline": 2, "stage_layers": [16, 16], "expert_parallel": true},
  "settings": {"gpu_memory_utilization": 0.9, "max_model_len": 8192, "kv_cache_dtype": "fp8",
               "speculative": {"method": "mtp", "num_speculative_tokens": 2}},
  "inferred": ["dtype"], "outcome": "refused",
  "figures": {"kv_available": "-1.44 GiB", "weights": "14.9888 GB", "gpu_total": "25250627584 B", "kv_needed": "~50 GB",
              "kv_tokens": 130960, "gpu_blocks": "~55000", "max_concurrency": "4.84x", "padding_percent": "6.25 %"},
  "independence": "independent", "notes": ["a remark"]
}])";

std::vector<measured_case> read(const std::string& text) {
  const scratch directory;
  return tests::corpus::load(directory.write("one.json", text));
}

/// The message for the good text with one part replaced, without the directory.
std::string refusal(const std::string& part, const std::string& by) {
  std::string text = good;
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  text.replace(at, part.size(), by);
  const std::string message = message_of([&] { (void)read(text); });
  const std::size_t name = message.find("one.json");
  return name == message.npos ? message : message.substr(name);
}

}  // namespace

TEST_CASE("every measured case can be read, and its model and GPU are known", "[corpus]") {
  const std::vector<measured_case> cases = tests::corpus::load_all(corpus_directory);
  CHECK(cases.size() >= 90);
  std::set<std::string> ids;
  std::size_t independent = 0, circular = 0, end_to_end = 0;
  for (const measured_case& each : cases) {
    INFO(each.id);
    CHECK(ids.insert(each.id).second);
    CHECK_FALSE(each.source.empty());
    REQUIRE(each.model != nullptr);
    CHECK(each.model->num_hidden_layers > 0);
    CHECK((each.sizes.size() + each.counts.size()) > 0);
    CHECK_NOTHROW(kvbudget::validate(each.layout, *each.model));
    for (const std::string& input : each.inferred) CHECK_FALSE(input.empty());
    if (each.kind == independence::independent) ++independent;
    if (each.kind == independence::circular) ++circular;
    if (each.runs_end_to_end()) ++end_to_end;
    if (const auto* total = each.size("gpu_total"); total != nullptr && each.gpu != nullptr) {
      // The same GPU by name and by what the engine printed: within a percent of each other.
      const double printed = static_cast<double>(total->bytes);
      const double known = static_cast<double>(each.gpu->runtime_total_bytes);
      if (known > 0) CHECK(std::abs(printed / known - 1) < 0.01);
    }
  }
  CHECK(independent >= 45);
  CHECK(circular >= 20);
  CHECK(end_to_end >= 40);
}

TEST_CASE("every model file of the corpus belongs to a case", "[corpus]") {
  std::set<std::string> used;
  for (const measured_case& each : tests::corpus::load_all(corpus_directory)) used.insert(each.model->name);
  for (const auto& entry : fs::directory_iterator(corpus_directory / "models")) {
    INFO(entry.path().string());
    const kvbudget::model_file file = kvbudget::load_model_file(entry.path());
    CHECK(file.architecture.name == entry.path().stem().string());
    CHECK_FALSE(file.sources.empty());
    CHECK(used.count(file.architecture.name) == 1);
  }
}

TEST_CASE("a measured case is read as it was printed", "[corpus]") {
  const std::vector<measured_case> cases = read(good);
  REQUIRE(cases.size() == 1);
  const measured_case& one = cases.front();
  CHECK(one.version.minor == 11);
  CHECK(one.gpu->runtime_total_bytes > 0);
  CHECK(one.layout.tensor == 2);
  CHECK(one.layout.expert == 2);
  CHECK(one.layout.stage_layers[1] == 16);
  CHECK(one.given.memory_fraction == 0.9);
  CHECK(one.given.num_speculative_tokens == 2u);
  CHECK_FALSE(one.given.enforce_eager.has_value());
  CHECK(one.refused);
  CHECK(one.size("kv_available")->bytes == -1546188227);  // 1.44 x 2^30, rounded
  CHECK(one.size("kv_available")->rounding_bytes == 5368709);
  CHECK(one.size("weights")->rounding_bytes == 53687);
  CHECK(one.size("gpu_total")->bytes == 25250627584);
  CHECK(one.size("gpu_total")->rounding_bytes == 0);
  CHECK(one.size("kv_needed")->approximate);
  CHECK(one.count("kv_tokens")->value == 130960);
  CHECK(one.count("gpu_blocks")->approximate);
  CHECK(one.number("max_concurrency")->value == 4.84);
  CHECK(one.number("max_concurrency")->rounding == 0.005);
  CHECK(one.number("padding_percent")->value == 6.25);
  CHECK(one.size("cuda_graphs") == nullptr);
  CHECK(one.gpu_total_bytes() == 25250627584);
  CHECK(one.runs_end_to_end());
  CHECK(one.deployment().parallel.tensor == 2);
}

TEST_CASE("what does not fit the schema of measured cases is refused with its place", "[corpus]") {
  CHECK(refusal("\"engine\"", "\"motor\"").substr(0, 36) == "one.json: [0]: unknown key \"motor\", ");
  CHECK(contains(refusal("llama-3.1-8b", "llama-3.1-9b"),
                 "[0].model: model \"llama-3.1-9b\" is unknown, did you mean"));
  CHECK(contains(refusal("h200", "h2000"), "[0].gpu: GPU \"h2000\" is unknown"));
  CHECK(contains(refusal("fp8_block", "fp8_blocks"), "fp8_blocks"));
  CHECK(refusal("-1.44 GiB", "-1.44 GIB") ==
        "one.json: [0].figures.kv_available: must end in B, MiB, GiB or GB");
  CHECK(contains(refusal("-1.44 GiB", "1.4.4 GiB"), "[0].figures.kv_available: must be a number and a unit"));
  CHECK(contains(refusal("-1.44 GiB", "- GiB"), "[0].figures.kv_available: must be a number and a unit"));
  CHECK(contains(refusal("4.84x", "4.84"), "[0].figures.max_concurrency: must end in x or %"));
  CHECK(contains(refusal("130960", "-3"), "[0].figures.kv_tokens: must not be negative"));
  CHECK(contains(refusal("\"kv_tokens\"", "\"tokens\""), "[0].figures.tokens: "));
  CHECK(contains(refusal("\"printed\": \"0.11.0\", ", ""),
                 "[0].version: needs printed or inferred_from, one of them"));
  CHECK(contains(refusal("[16, 16]", "[16]"),
                 "[0].layout.stage_layers: must list one number of layers per stage"));
  CHECK(contains(refusal("0.9,", "90,"), "must be above 0, at most 1"));
  CHECK(contains(refusal("\"independent\"", "\"certain\""),
                 "[0].independence: must be independent, circular or input_only"));
  CHECK(
      contains(refusal("\"model\": \"llama-3.1-8b\", ", ""), "[0]: needs model or model_file, one of them"));
}
