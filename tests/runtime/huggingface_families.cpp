// Every family of the tables: its seed of the fuzzer is read, split, described and written back; damaged, it
// is read or refused in one line.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface.hpp"
#include "kvbudget/io/model_json.hpp"
#include "kvbudget/io/read_file.hpp"
#include "kvbudget/plan/estimate.hpp"
#include "kvbudget/report/model.hpp"
#include "support/catch.hpp"
#include "support/configs.hpp"
#include "support/mutations.hpp"

namespace {

using namespace kvbudget;

/// Small configs that the tests and the fuzzer share: one for each family, `<model_type>.json`, and quantized
/// ones.
const std::filesystem::path seeds = std::filesystem::path(KVBUDGET_SEEDS_DIR) / "config";

std::vector<std::string> all_families() {
  std::vector<std::string> names;
  for (const detail::family_table& table : detail::family_tables) {
    for (const detail::model_family& family : table) names.emplace_back(family.model_type);
  }
  return names;
}

std::string seed_of(const std::string& name) { return detail::read_file(seeds / (name + ".json"), 1 << 16); }

}  // namespace

TEST_CASE("every family has a seed that is read as that family, and written back") {
  for (const std::string& name : all_families()) {
    INFO(name);
    const model_architecture model = tests::read(seed_of(name)).architecture;
    CHECK(model.model_type == name);
    CHECK(parse_model(to_json(model), name) == model);
    CHECK_FALSE(report::layer_order(model).empty());
    CHECK(estimate({.model = model, .dtype = formats::bf16}).total().value > 0);
  }
}

TEST_CASE("quantized seeds are stored as their quantization says") {
  int quantized = 0;
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(seeds)) {
    const std::string name = entry.path().stem().string();
    if (name.rfind("quantized-", 0) != 0) continue;
    INFO(name);
    const huggingface_model found = tests::read(seed_of(name));
    CHECK(found.quantization_method.has_value());
    CHECK(found.architecture.precision_count > 0);
    CHECK(parse_model(to_json(found.architecture), name) == found.architecture);
    ++quantized;
  }
  CHECK(quantized >= 9);
}

TEST_CASE("a damaged config of any family is read or refused in one line") {
  tests::numbers random(20'260'801);
  tests::damaged_configs damaged;
  for (const std::string& name : all_families()) {
    INFO(name);
    const std::string text = seed_of(name);
    const nlohmann::json tree = nlohmann::json::parse(text);
    for (int i = 0; i < 4; ++i) damaged.attempt(tests::mutated_bytes(text, random));
    for (int i = 0; i < 24; ++i) damaged.attempt(tests::mutated_values(tree, random).dump());
  }
  CHECK(damaged.models > 300);
  CHECK(damaged.refused > 2000);
}
