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

bool reads(std::string_view reader) {
  static const char* const only = std::getenv("KVBUDGET_FUZZED_LOG_READER");
  return only == nullptr || reader == only;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (reads("vllm")) fuzz::attempt([&] { use(read_vllm_log(text), text); });
  if (reads("sglang")) fuzz::attempt([&] { use(read_sglang_log(text), text); });
  if (reads("tensorrt_llm")) fuzz::attempt([&] { use(read_tensorrt_llm_log(text), text); });
  if (reads("any")) fuzz::attempt([&] { use(read_engine_log(text), text); });
  return 0;
}
