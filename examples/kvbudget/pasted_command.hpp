#pragma once

#include <string>
#include <vector>

namespace cli {

/// One option of an engine, whatever alias it was typed under.
struct pasted_option {
  std::string name;   ///< the engine's own long name without dashes, words joined by '-'; a variable as it is
  std::string value;  ///< empty for a flag; JSON on one line, a list joined by ',', 32k as 32000
  bool negated = false;  ///< --no-NAME, or NAME=False

  friend bool operator==(const pasted_option&, const pasted_option&) = default;
};

/// What a server's command line says.
struct pasted_command {
  std::string engine;                  ///< "vllm", "sglang", "tensorrt-llm", "llama.cpp", "ollama"
  std::string program;                 ///< what starts it: "llama-cli"
  std::string model;                   ///< a name or a path, as typed; empty: `ollama serve` names none
  std::vector<pasted_option> options;  ///< those that change memory, each once: the last one typed
  std::vector<std::string>
      ignored;  ///< real flags that do not change memory, as typed, without their secrets
  std::vector<std::string> unknown;  ///< flags that are not known, and what is near; files that are not read

  /// The option of that name, or null.
  [[nodiscard]] const pasted_option* find(const std::string& name) const;
};

/// Reads a command line as the user's shell would have passed it: `vllm serve`, `python -m
/// vllm.entrypoints.openai.api_server`, `python -m sglang.launch_server`, `sglang serve`, `trtllm-serve`,
/// `llama-server`, `llama-cli`, `ollama serve` or `ollama run`, behind variables, `sudo`, `docker run IMAGE`
/// and the like; a single word is split first.
///
/// Throws `command_error` with one line for everything else.
[[nodiscard]] pasted_command read_pasted_command(const std::vector<std::string>& words);

/// What stands for `--fit`, which llama.cpp has on unless it is told otherwise: the numbers stay those of the
/// options as pasted, and what it would make of them is said.
inline constexpr const char* fit_is_said = "--fit=say";

/// The same request in this program's own options, each as one `--name=value` or `--flag`; what has no
/// counterpart keeps its engine's name.
[[nodiscard]] std::vector<std::string> words_of(const pasted_command& command);

}  // namespace cli
