#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace cli {

/// The program's arguments without its name, and what to say about them on stderr.
struct arguments {
  std::vector<std::string> words;
  std::vector<std::string> notes;
};

/// Takes a server's command line behind `--` (only of `estimate` and `capacity`) into the program's own
/// options. What the user gave as well counts as the user gave it; what the command does not know is left out
/// and noted. Throws `command_error` if there is no such command line.
[[nodiscard]] arguments with_pasted_command(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace cli
