// Coverage-guided fuzzing of servers' command lines as people paste them: a command, or one line that says
// why not; it never crashes, hangs, or throws anything else. The first byte tells whether the rest is one
// text, which is split as a shell does it, or words that a shell has split already, one a line.
//
//   cmake --preset clang-14 -DKVBUDGET_BUILD_FUZZERS=ON && cmake --build --preset clang-14 --target
//   kvbudget_fuzz_pasted_command build/clang-14/tests/kvbudget_fuzz_pasted_command -max_total_time=60
//   CORPUS-FOLDER tests/fuzz/seeds/pasted_command
#include "pasted_command.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attempt.hpp"
#include "command_error.hpp"

namespace {

std::vector<std::string> words_in(char kind, std::string_view text) {
  if (kind != 'w') return {std::string(text)};
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == '\n') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

/// What is accepted names an engine and a model, which `ollama serve` alone need not, and has each option
/// once.
void use(const cli::pasted_command& command) {
  fuzz::require(!command.engine.empty() && (!command.model.empty() || command.engine == "ollama"));
  for (const cli::pasted_option& option : command.options) {
    fuzz::require(!option.name.empty() && command.find(option.name) == &option);
  }
  const std::vector<std::string> words = cli::words_of(command);
  fuzz::require(words.size() >= (command.model.empty() ? 1u : 2u));
  for (const std::string& word : words) fuzz::require(word.starts_with("--"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    use(cli::read_pasted_command(words_in(static_cast<char>(data[0]), text)));
  } catch (const cli::command_error& refused) {
    const std::string_view line = refused.what();
    fuzz::require(!line.empty() && line.find('\n') == std::string_view::npos);
  }
  return 0;
}
