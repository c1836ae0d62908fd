#include "pasted_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "engine_options.hpp"
#include "kvbudget/io/format_names.hpp"
#include "named_checkpoint.hpp"
#include "pasted_command.hpp"

namespace cli {

namespace {

/// Options that the user's own ones replace under other names, too.
struct replaceable {
  std::vector<const char*> pasted;
  std::vector<const char*> own;
};
const replaceable replaceable_options[] = {
    {{"--model", "--config", "--safetensors", "--gguf"},
     {"--model", "--config", "--safetensors", "--gguf", "--layers", "--hidden", "--heads", "--kv-heads",
      "--head-dim", "--parameters"}},
    {{"--context"},
     {"--context", "--active-tokens", "--prompt", "--output", "--max-model-len", "--context-length",
      "--max-seq-len"}},
    {{"--kv-cache-type"}, {"--kv-cache-type", "--kv-cache-dtype"}},
};

std::string name_in(const std::string& word) { return word.substr(0, word.find('=')); }

/// The user's own options, and those taken from the pasted command.
class own_options {
 public:
  own_options(const CLI::App& command, const std::vector<std::string>& words) : command_(command) {
    for (const std::string& word : words) {
      if (const CLI::Option* option = find(name_in(word))) given_.push_back(option);
    }
  }

  [[nodiscard]] const CLI::Option* find(const std::string& name) const {
    return name.starts_with("--") ? command_.get_option_no_throw(name) : nullptr;
  }
  /// Whether the user gave this option, or another one in its place.
  [[nodiscard]] bool replaces(const std::string& name) const {
    if (has(name)) return true;
    for (const auto& [pasted, own] : replaceable_options) {
      const auto is_name = [&](const char* each) { return name == each; };
      if (std::none_of(pasted.begin(), pasted.end(), is_name)) continue;
      return std::any_of(own.begin(), own.end(), [&](const char* each) { return has(each); });
    }
    return false;
  }

 private:
  [[nodiscard]] bool has(const std::string& name) const {
    const CLI::Option* option = find(name);
    return option != nullptr && std::find(given_.begin(), given_.end(), option) != given_.end();
  }

  const CLI::App& command_;
  std::vector<const CLI::Option*> given_;
};

/// The engines that the numbers are for: the user's, else the pasted one; without their versions.
std::vector<std::string> engines_of(const std::vector<std::string>& own_words, const std::string& pasted) {
  std::string chosen = pasted;
  for (std::size_t i = 0; i < own_words.size(); ++i) {
    if (own_words[i] == "--engine" && i + 1 < own_words.size()) chosen = own_words[i + 1];
    if (own_words[i].starts_with("--engine=")) chosen = own_words[i].substr(9);
  }
  std::vector<std::string> engines;
  std::string_view rest = chosen;
  for (bool more = true; more;) {
    const std::string_view part = kvbudget::detail::next_in_list(rest, more);
    engines.push_back(plain_engine_name(std::string(part.substr(0, part.find('@')))));
  }
  return engines;
}

/// Whether an option is some engine's, but none of these.
bool belongs_to_another(const std::string& option, const std::vector<std::string>& engines) {
  bool someones = false;
  for (const engine_entry& each : engine_list()) {
    for (const engine_option& theirs : options_of(each.name)) {
      if (option != theirs.name) continue;
      if (std::find(engines.begin(), engines.end(), each.name) != engines.end()) return false;
      someones = true;
    }
  }
  return someones;
}

/// Ollama's name of a model as the name of a checkpoint: `llama3.1:8b-instruct-q8_0`, `qwen3:8b`,
/// `hf.co/NAME/MODEL-GGUF:Q4_K_M`. A tag that names no quantization is taken for what GGUF repositories are
/// taken for; what is returned says so.
std::string name_as_checkpoint(std::string& name) {
  for (const char* host : {"hf.co/", "huggingface.co/"}) {
    if (!name.starts_with(host)) continue;
    name.erase(0, std::string_view(host).size());
    return "";
  }
  for (const char* place : {"registry.ollama.ai/", "library/"}) {
    if (name.starts_with(place)) name.erase(0, std::string_view(place).size());
  }
  const std::size_t colon = name.rfind(':');
  if (colon != std::string::npos) {
    if (name.substr(colon + 1) == "latest") {
      name.resize(colon);
    } else {
      name[colon] = '-';
    }
  }
  if (name.ends_with("-fp16")) name.replace(name.size() - 4, 4, "F16");
  if (name.empty() || checkpoint_named(name) || !checkpoint_named(name + "-GGUF")) return "";
  std::string assumed = fmt::format(
      "{} names no quantization: taken as Q4_K_M, or as the format that the model comes in; --weights says "
      "otherwise",
      kvbudget::detail::quoted(name));
  name += "-GGUF";
  return assumed;
}

void note(std::vector<std::string>& notes, const char* what, const std::vector<std::string>& list,
          const char* separator) {
  if (!list.empty()) notes.push_back(fmt::format("{}: {}", what, fmt::join(list, separator)));
}

}  // namespace

arguments with_pasted_command(const CLI::App& app, const std::vector<std::string>& words) {
  const auto separator = std::find(words.begin(), words.end(), "--");
  if (separator == words.end() || (words.front() != "estimate" && words.front() != "capacity")) {
    return {words, {}};
  }
  const CLI::App& command = *app.get_subcommand(words.front());
  pasted_command pasted = read_pasted_command({separator + 1, words.end()});
  const std::string assumed = pasted.engine == "ollama" ? name_as_checkpoint(pasted.model) : "";

  arguments result{{words.begin(), separator}, {}};
  const own_options own(command, result.words);
  const std::vector<std::string> engines = engines_of(result.words, pasted.engine);
  std::vector<std::string> replaced;
  std::vector<std::string> unused;
  for (const std::string& word : words_of(pasted)) {
    const std::string name = name_in(word);
    const bool said = word != fit_is_said && word != "--fit=off";  // not what the user pasted
    if (own.find(name) == nullptr || belongs_to_another(name, engines)) {
      if (said) unused.push_back(word);
    } else if (own.replaces(name)) {
      if (said) replaced.push_back(word);
    } else {
      result.words.push_back(word);
    }
  }
  if (!assumed.empty() && !own.replaces("--model")) result.notes.push_back(assumed);
  note(result.notes, "your own options count instead of", replaced, ", ");
  note(result.notes, "ignored, does not change memory", pasted.ignored, ", ");
  note(result.notes, "ignored, not modelled here", unused, ", ");
  note(result.notes, "ignored, unknown", pasted.unknown, "; ");
  return result;
}

}  // namespace cli
