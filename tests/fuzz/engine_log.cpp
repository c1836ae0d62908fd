// Coverage-guided fuzzing of the log readers: each gives figures or throws `kvbudget::error`; none crashes,
// hangs, or throws anything else, and what one gives is within its own bounds.
//
//   cmake --preset clang-14 -DKVBUDGET_BUILD_FUZZERS=ON && cmake --build --preset clang-14 --target
//   kvbudget_fuzz_engine_log build/clang-14/tests/kvbudget_fuzz_engine_log -max_total_time=60 CORPUS
//   tests/fuzz/seeds/engine_log
//
// KVBUDGET_FUZZED_LOG_READER=vllm, sglang, tensorrt_llm or any in the environment restricts it to one reader.
#include "kvbudget/io/engine_log.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "attempt.hpp"
#include "kvbudget/hardware/gpus.hpp"
#include "kvbudget/io/comparison.hpp"
#include "kvbudget/model/builders.hpp"

namespace {

using namespace kvbudget;

/// Every figure names a line of the text; texts are bounded and fit for one line.
void use(const engine_log& log, std::string_view text) {
  const auto lines = static_cast<std::uint32_t>(1 + std::count(text.begin(), text.end(), '\n'));
  fuzz::require(log.ranks.size() <= max_log_ranks && log.starts >= 1 && log.first_line <= lines);
  fuzz::require(log.settings.size() <= 1024 && log.notes.size() <= 103);
  for (const auto& [key, value] : log.settings) fuzz::require(key.size() <= 100 && value.size() <= 4099);
  const rank_figures first = first_printed(log);
  for (const rank_figures& rank : log.ranks) {
    fuzz::require(rank.name.size() <= 160 && rank.pools.size() <= 64);
    for (const named_figure& figure : log_figures) {
      const auto check = [&](auto member) {
        if (member == nullptr || !(rank.*member)) return;
        fuzz::require((rank.*member)->line >= log.first_line && (rank.*member)->line <= lines);
        fuzz::require((first.*member).has_value());
      };
      check(figure.member.amount);
      check(figure.member.count);
      check(figure.member.decimal);
    }
  }
}

/// Whatever figures a log has, they can be put beside ours.
void compare(const engine_log& log) {
  using attention = gqa<32, 8, 128>;
  using dense = decoder<hidden<4096>, vocabulary<128256>, repeat<32, block<attention, gated_mlp<14336>>>>;
  static const model_architecture model = [] {
    model_architecture named = dense::architecture;
    named.max_position_embeddings = 131072;
    named.dtype = formats::bf16;
    return named;
  }();
  deployment d{.model = model};
  d.parallel.pipeline = 2;
  const auto check = [&](const auto& on) {
    const comparison found = compare_with_log(log, d, on, gpus::nvidia_h100_sxm_80gb);
    fuzz::require(!found.conclusion.empty() && found.conclusion.find('\n') == std::string::npos);
    for (const compared_figure& each : found.figures) {
      fuzz::require(each.low <= each.high && each.rounding >= 0 && each.line != 0);
    }
  };
  if (log.engine == "vllm") check(engines::vllm{});
  if (log.engine == "sglang") check(engines::sglang{});
  if (log.engine == "tensorrt_llm") check(engines::tensorrt_llm{});
}
void use_and_compare(const engine_log& log, std::string_view text) {
  use(log, text);
  compare(log);
}

bool reads(std::string_view reader) {
  static const char* const only = std::getenv("KVBUDGET_FUZZED_LOG_READER");
  return only == nullptr || reader == only;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (reads("vllm")) fuzz::attempt([&] { use_and_compare(read_vllm_log(text), text); });
  if (reads("sglang")) fuzz::attempt([&] { use_and_compare(read_sglang_log(text), text); });
  if (reads("tensorrt_llm")) fuzz::attempt([&] { use_and_compare(read_tensorrt_llm_log(text), text); });
  if (reads("any")) fuzz::attempt([&] { use_and_compare(read_engine_log(text), text); });
  return 0;
}
