// Coverage-guided fuzzing of the Hugging Face reader: a model or a `kvbudget::error` of one line; it never
// crashes, hangs, or throws anything else. The input is a config.json; what stands behind a zero byte is a
// hf_quant_config.json beside it.
//
//   cmake --preset clang-14 -DKVBUDGET_BUILD_FUZZERS=ON
//   cmake --build --preset clang-14 --target kvbudget_fuzz_config
//   build/clang-14/tests/kvbudget_fuzz_config -dict=tests/fuzz/config.dict -max_total_time=60 CORPUS-FOLDER
//   tests/fuzz/seeds/config
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kvbudget/io/huggingface.hpp"
#include "use_model.hpp"

namespace {

using namespace kvbudget;

huggingface_model read(std::string_view config, std::optional<std::string_view> beside,
                       const huggingface_options& asked) {
  const json_document document = parse_json(config, "config.json", huggingface_limits);
  if (!beside) return detail::read_huggingface_naming_file(json_field(document), asked);
  const json_document quantization = parse_json(*beside, "hf_quant_config.json", huggingface_limits);
  return detail::read_huggingface_naming_file(json_field(document), asked, &quantization);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\0');
  std::optional<std::string_view> beside;
  if (end != std::string_view::npos) beside = input.substr(end + 1);
  fuzz::attempt([&] {
    const huggingface_model found = read(input.substr(0, end), beside, {.assume_like = "llama"});
    for (const std::string& note : found.notes) fuzz::require(note.find('\n') == std::string::npos);
    fuzz::use(found.architecture);
  });
  return 0;
}
