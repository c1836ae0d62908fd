// Coverage-guided fuzzing of what reads a checkpoint's quantization: an answer or a `kvbudget::error`; it
// never crashes, hangs, or throws anything else. The first line is the name of a module, the rest a
// config.json.
//
//   cmake --preset clang-14 -DKVBUDGET_BUILD_FUZZERS=ON && cmake --build --preset clang-14 --target
//   kvbudget_fuzz_quantization build/clang-14/tests/kvbudget_fuzz_quantization -max_total_time=60
//   CORPUS-FOLDER tests/fuzz/seeds/quantization
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "attempt.hpp"
#include "kvbudget/io/huggingface/quantization.hpp"
#include "kvbudget/memory/weights.hpp"

namespace {

using namespace kvbudget;

/// Whatever is accepted also has bytes, at least one for eight weights.
void use(const checkpoint_quantization& found, std::string_view module, tensor_kind kind) {
  const std::optional<weight_scheme> scheme = found.scheme_for(module, kind);
  if (!scheme) return;
  const weight_group group = weight_groups::whole(module_role::mlp, 96, 160);
  const stored_weights sum = stored(group, shard_of(group, {}), *scheme, 96);
  fuzz::require(sum.payload >= 96 * 160 / 8 && sum.scales_high >= sum.scales);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(input.find('\n'), size);
  fuzz::attempt([&] {
    const json_document document = parse_json(input.substr(std::min(line + 1, size)), "config.json");
    const std::optional<checkpoint_quantization> found =
        checkpoint_quantization::of_config(json_field(document));
    if (!found) return;
    for (const std::string_view module :
         {input.substr(0, line), std::string_view("model.layers.3.mlp.experts.0.up_proj"),
          std::string_view("model.layers.3.self_attn.q_proj")}) {
      use(*found, module, tensor_kind::linear);
    }
    use(*found, "model.embed_tokens", tensor_kind::table);
  });
  return 0;
}
