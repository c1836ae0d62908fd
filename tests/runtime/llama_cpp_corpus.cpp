// llama.cpp, device by device, against what llama.cpp itself reported, run by run. The models are read from
// files without data.
#include <filesystem>
#include <string>

#include "support/catch.hpp"
#include "support/llama_cpp_runs.hpp"

namespace {

using namespace tests::llama_cpp;

bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// What every set of runs must show.
void check(const comparison& found) {
  for (const std::string& problem : found.problems) UNSCOPED_INFO(problem);
  CHECK(found.problems.empty());
  for (const auto& [figure, each] : found.figures) {
    INFO(figure << ": " << each.text());
    CHECK(each.held == each.runs);
    if (!holds(figure, "partly")) CHECK(each.exact == each.runs);
    CHECK(each.lowest >= -0.01);
    CHECK(each.highest <= 0.0001);
  }
}

}  // namespace

TEST_CASE("llama.cpp's buffers are predicted device by device, and its refusals", "[llama_cpp][corpus]") {
  comparison found;
  const std::filesystem::path corpus = std::filesystem::path(KVBUDGET_DATA_DIR) / ".." / "tests" / "corpus";
  for (const measured_run& run : committed_runs(corpus / "llama-cpp.json")) found.add(run);
  CHECK(found.accepted >= 300);
  CHECK(found.refused >= 15);
  check(found);
}

TEST_CASE("so is every run of the reference material", "[llama_cpp][corpus]") {
#ifdef KVBUDGET_SHARED_DIR
  const std::filesystem::path file =
      std::filesystem::path(KVBUDGET_SHARED_DIR) / "corpus" / "llamacpp-measured.jsonl";
  if (std::filesystem::exists(file)) {
    comparison found;
    for (const measured_run& run : recorded_runs(file)) found.add(run);
    CHECK(found.accepted >= 2000);
    CHECK(found.refused > 0);
    check(found);
    return;
  }
#endif
  WARN("skipped: no reference material beside the source");
}
