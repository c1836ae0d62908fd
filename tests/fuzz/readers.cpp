// Coverage-guided fuzzing of the library's own JSON schemas and of names that people type: a reader gives a
// value or throws `kvbudget::error`; it never crashes, hangs, or throws anything else. The first byte picks
// the reader.
//
//   cmake --preset clang-14 -DKVBUDGET_BUILD_FUZZERS=ON && cmake --build --preset clang-14 --target
//   kvbudget_fuzz_readers build/clang-14/tests/kvbudget_fuzz_readers -max_total_time=60 CORPUS-FOLDER
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kvbudget/hardware/gpus.hpp"
#include "kvbudget/io/calibration.hpp"
#include "kvbudget/io/format_names.hpp"
#include "kvbudget/io/gpu_json.hpp"
#include "kvbudget/io/lookup_text.hpp"
#include "kvbudget/io/model_json.hpp"
#include "kvbudget/models.hpp"
#include "use_model.hpp"

namespace {

using namespace kvbudget;

/// What was read is written the same, and every term that counts can be pinned.
void use_calibration_of(const calibration& read) {
  const nlohmann::json written = nlohmann::json::parse(calibration_json(read).dump());
  fuzz::require(parse_calibration(written, "written.json") == read);
  deployment d{.model = models::llama_3_1_8b};
  engines::vllm on;
  on.version = {0, 22};
  const calibration_use use = use_calibration(read, d, on, &gpus::nvidia_h100_sxm_80gb);
  fuzz::require(use.used.size() + use.not_used.size() <= 5);
  (void)allocate(d, on, gpus::nvidia_h100_sxm_80gb);
}

void read(std::uint8_t which, std::string_view text) {
  switch (which % 5) {
    case 0: {
      const json_document document = parse_json(text, "gpu.json");
      (void)usable(parse_gpu_profile(document.root, document.source));
      break;
    }
    case 1: {
      const json_document document = parse_json(text, "model.json");
      fuzz::use(parse_model(document.root, document.source));
      break;
    }
    case 2: (void)gpu_named_or_explain(std::string(text)); break;
    case 3: (void)kv_format_named(std::string(text)); break;
    default: {
      const json_document document = parse_json(text, "calibration.json");
      use_calibration_of(parse_calibration(document.root, document.source));
      break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  fuzz::attempt([&] { read(data[0], std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1)); });
  return 0;
}
