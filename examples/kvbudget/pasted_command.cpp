#include "pasted_command.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "command_error.hpp"
#include "kvbudget/io/format_names.hpp"
#include "kvbudget/io/json_reader.hpp"
#include "pasted_options.hpp"
#include "shell_words.hpp"

namespace cli {

using kvbudget::detail::printable;
using namespace pasted;

namespace {

/// What a command line may hold: beyond what operating systems pass on, and small enough to be read quickly.
constexpr std::size_t most_bytes = std::size_t{1} << 18;
constexpr std::size_t longest_word = std::size_t{1} << 17;
constexpr std::size_t most_words = 4096;
constexpr std::size_t most_suggestions =
    20;                                  ///< of unknown options, how many are compared with the known ones
constexpr std::size_t deepest_key = 16;  ///< --a.b.c...
constexpr int most_shells = 4;           ///< sh -c 'sh -c ...'

constexpr const char* what_is_read =
    "vllm serve, python -m vllm.entrypoints.openai.api_server, python -m sglang.launch_server, sglang serve, "
    "trtllm-serve, llama-server, llama-cli, ollama serve or ollama run";

std::string shown(std::string_view text) { return kvbudget::detail::quoted(text); }

// -- lists in text ------------------------------------------------------------------------------------------

/// Calls `use(part)` for each part until it returns true; whether one did.
template <class Use> bool any_part(std::string_view list, char separator, Use&& use) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(separator), list.size());
    if (end != 0 && use(list.substr(0, end))) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}
bool lists(std::string_view list, std::string_view word) {
  return any_part(list, ' ', [&](std::string_view part) { return part == word; });
}
template <std::size_t Count> bool lists(const char* const (&list)[Count], std::string_view word) {
  return std::any_of(list, list + Count, [&](const char* each) { return each == word; });
}

// -- words --------------------------------------------------------------------------------------------------

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

/// -1, -0.5, -.5: argparse takes them for values.
bool is_negative_number(std::string_view word) {
  if (!word.starts_with('-')) return false;
  word.remove_prefix(1);
  bool digits = false;
  bool points = false;
  for (const char c : word) {
    if (c == '.' && !points) {
      points = true;
    } else if (is_digit(c)) {
      digits = true;
    } else {
      return false;
    }
  }
  return digits;
}
bool is_option(std::string_view word) {
  return word.size() > 1 && word.starts_with('-') && !is_negative_number(word);
}
bool is_blank(std::string_view word) {
  return !word.empty() && word.find_first_not_of(" \t\r\n\\") == std::string_view::npos;
}

/// The length of the name in NAME=VALUE, or 0.
std::size_t assigned_name(std::string_view word) {
  std::size_t at = 0;
  while (at < word.size() && (is_letter(word[at]) || (at != 0 && is_digit(word[at])))) ++at;
  return at < word.size() && word[at] == '=' ? at : 0;
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);  // npos + 1 = 0
}

/// The number of version in front, "v0.21.0-cu130" -> "0.21.0"; empty if it has not at least two parts.
std::string version_in(std::string_view tag) {
  if (tag.starts_with('v')) tag.remove_prefix(1);
  std::size_t end = 0;
  std::size_t points = 0;
  while (end < tag.size() && (is_digit(tag[end]) || (tag[end] == '.' && end + 1 < tag.size() &&
                                                     is_digit(tag[end + 1]) && end != 0))) {
    points += tag[end++] == '.' ? 1u : 0u;
  }
  return points == 0 || end > 20 ? std::string() : std::string(tag.substr(0, end));
}

/// python, python3, python3.12
bool is_python(std::string_view name) {
  return name.starts_with("python") && name.find_first_not_of("0123456789.", 6) == std::string_view::npos;
}

// -- the command in front of the options --------------------------------------------------------------------

struct variable {
  std::string name;
  std::string value;
};

/// Where an engine's own words begin.
struct located_command {
  const entry_point* entry = nullptr;
  shell_words arguments;
  std::string version;
};

class locator {
 public:
  /// The engine among simple commands, or none; `variables` grows by those set on the way.
  std::optional<located_command> among(const std::vector<shell_words>& commands) {
    std::optional<located_command> without_model;  // `ollama serve`, perhaps with an `ollama run` behind it
    for (const shell_words& command : commands) {
      std::optional<located_command> found = in(command);
      if (!found) continue;
      if (found->entry->serve != serve_word::or_run || !found->arguments.empty()) return found;
      if (!without_model) without_model = std::move(found);
    }
    return without_model;
  }

  std::vector<variable> variables;
  std::string tried;  ///< the first program that is no engine's

 private:
  void set(std::string_view assignment, std::size_t name) {
    variables.push_back({std::string(assignment.substr(0, name)), std::string(assignment.substr(name + 1))});
  }

  std::optional<located_command> in(const shell_words& command) {
    words_ = &command;
    at_ = 0;
    while (at_ < command.size()) {
      const std::string& word = command[at_];
      if (const std::size_t name = assigned_name(word)) {
        set(word, name);
        ++at_;
      } else if (is_blank(word)) {
        ++at_;
      } else if (word == "export" || word == "--") {
        ++at_;
      } else if (!unwrap(base_name(word))) {
        break;
      }
    }
    if (at_ == command.size()) return std::nullopt;
    return program();
  }

  /// Steps over a program that runs another one.
  bool unwrap(std::string_view name) {
    const shell_words& words = *words_;
    for (const wrapper& each : wrappers) {
      if (name != each.program) continue;
      const bool has_subcommand = each.subcommand[0] != '\0';
      if (has_subcommand && (at_ + 1 == words.size() || words[at_ + 1] != each.subcommand)) return false;
      at_ += has_subcommand ? 2 : 1;
      skip_options(each.with_value);
      at_ = std::min(at_ + static_cast<std::size_t>(each.words), words.size());
      return true;
    }
    return false;
  }
  void skip_options(std::string_view with_value) {
    const shell_words& words = *words_;
    while (at_ < words.size() && words[at_].size() > 1 && words[at_][0] == '-') {
      const std::string& option = words[at_++];
      if (option == "--") return;
      if (lists(with_value, option) && at_ < words.size()) ++at_;
    }
  }

  [[nodiscard]] shell_words rest(std::size_t from) const {
    const auto first = words_->begin() + static_cast<std::ptrdiff_t>(std::min(from, words_->size()));
    return {first, words_->end()};
  }

  std::optional<located_command> program() {
    const shell_words& words = *words_;
    const std::string_view name = base_name(words[at_]);
    if (lists(shells, name)) return shell();
    if (lists(container_programs, name)) return container();
    if (is_python(name)) return python();
    const bool windows_name = name.size() > 4 && name.ends_with(".exe");
    for (const entry_point& each : programs) {
      if ((windows_name ? name.substr(0, name.size() - 4) : name) != each.name) continue;
      const std::string next = at_ + 1 < words.size() ? words[at_ + 1] : "";
      if (each.serve != serve_word::or_run || next == "serve" || next == "run") return server(each, at_ + 1);
      if (tried.empty()) tried = next.empty() ? each.name : std::string(each.name) + ' ' + next;
      return std::nullopt;
    }
    if (tried.empty()) tried = words[at_];
    return std::nullopt;
  }

  /// The words behind a program or module, without `serve`.
  [[nodiscard]] located_command server(const entry_point& entry, std::size_t from) const {
    const shell_words& words = *words_;
    const std::string next = from < words.size() ? words[from] : "";
    if (entry.serve == serve_word::required) {
      if (next != "serve") {
        refuse("the pasted command is {}{}{}, which starts no server: paste {} serve MODEL ...", entry.name,
               next.empty() ? "" : " ", printable(next, 40), entry.engine);
      }
      ++from;
    } else if (entry.serve == serve_word::optional) {
      if (lists(other_servers, next)) {
        refuse("the pasted command is trtllm-serve {}: only trtllm-serve [serve] MODEL ... is understood",
               next);
      }
      if (next == "serve") ++from;
    } else if (entry.serve == serve_word::or_run) {
      ++from;
    }
    return {&entry, rest(from), ""};
  }

  std::optional<located_command> python() {
    const shell_words& words = *words_;
    const std::string interpreter = words[at_++];
    while (at_ < words.size() && words[at_].size() > 1 && words[at_][0] == '-') {
      const std::string& option = words[at_++];
      if (option == "-m") return module();
      if (option == "-c") refuse("the pasted command runs Python code, expected {}", what_is_read);
      if ((option == "-X" || option == "-W") && at_ < words.size()) ++at_;
    }
    if (at_ < words.size()) {
      const std::string& script = words[at_];
      for (const entry_point& each : programs) {
        if (base_name(script) == each.name) return server(each, at_ + 1);
      }
      if (script.ends_with(".py")) {
        std::string path = script.substr(0, script.size() - 3);
        std::replace(path.begin(), path.end(), '/', '.');
        for (const entry_point& each : modules) {
          if (path == each.name || path.ends_with("." + std::string(each.name))) return server(each, at_ + 1);
        }
      }
    }
    if (tried.empty()) tried = at_ < words.size() ? interpreter + ' ' + words[at_] : interpreter;
    return std::nullopt;
  }
  std::optional<located_command> module() {
    const shell_words& words = *words_;
    const std::string name = at_ < words.size() ? words[at_] : "";
    for (const entry_point& each : modules) {
      if (name == each.name) return server(each, at_ + 1);
    }
    if (tried.empty()) tried = "python -m " + name;
    return std::nullopt;
  }

  /// `sh -c 'command'`, also -lc, -ec.
  std::optional<located_command> shell() {
    const shell_words& words = *words_;
    for (std::size_t i = at_ + 1; i + 1 < words.size(); ++i) {
      const std::string& option = words[i];
      if (!option.starts_with('-') || option.starts_with("--") || option.find('c') == std::string::npos)
        continue;
      if (++shells_ > most_shells)
        refuse("the pasted command has shells inside each other, expected at most {}", most_shells);
      const std::string script = words[i + 1];
      return among(split_shell(script));  // `words_` is another one from here on
    }
    if (tried.empty()) tried = words[at_];
    return std::nullopt;
  }

  /// `docker run OPTIONS IMAGE WORDS`.
  std::optional<located_command> container() {
    const shell_words& words = *words_;
    const std::string program = words[at_];
    std::size_t at = at_ + 1;
    if (at < words.size() && words[at] == "container") ++at;
    if (at == words.size() || words[at] != "run") {
      refuse("the pasted command is {}{}{}, expected {} run ... IMAGE ...", printable(program, 40),
             at < words.size() ? " " : "", at < words.size() ? printable(words[at], 40) : "",
             printable(program, 40));
    }
    std::string entry_word;
    for (++at; at < words.size() && words[at].size() > 1 && words[at][0] == '-'; ++at) {
      std::string option = words[at];
      std::string value;
      bool has_value = false;
      if (option.starts_with("--")) {
        const std::size_t equals = option.find('=');
        has_value = equals != std::string::npos;
        if (has_value) value = option.substr(equals + 1);
        option = option.substr(0, equals);
      } else {
        // Flags may stand together, and a value be glued to the last letter: -it, -itp8000:8000.
        std::size_t letter = 1;
        while (letter + 1 < option.size() && lists(container_flags, std::string("-") + option[letter]))
          ++letter;
        has_value = letter + 1 < option.size();
        if (has_value) value = option.substr(letter + 1);
        option = std::string("-") + option[letter];
      }
      if (is_blank(option)) continue;
      if (!has_value && !lists(container_flags, option) && at + 1 < words.size()) value = words[++at];
      if (option == "--entrypoint") entry_word = value;
      if (option == "-e" || option == "--env") {
        if (const std::size_t name = assigned_name(value)) set(value, name);
      }
    }
    if (at >= words.size()) refuse("the pasted command is {} run without an image", printable(program, 40));
    const std::string image = words[at];
    shell_words inside = rest(at + 1);
    if (!entry_word.empty()) inside.insert(inside.begin(), entry_word);
    return in_image(image, inside);
  }

  std::optional<located_command> in_image(std::string_view image, const shell_words& inside) {
    const image_entry* known = nullptr;
    for (const image_entry& each : images) {
      if (known == nullptr && image.find(each.word) != std::string_view::npos) known = &each;
    }
    if (++shells_ > most_shells) refuse("the pasted command has containers inside each other");
    std::optional<located_command> found = in(inside);
    const bool has_words = !inside.empty() && !lists(shells, inside.front());
    if (!found && known != nullptr && known->starts_server &&
        (has_words || (inside.empty() && known->without_words))) {
      for (const entry_point& each : programs) {
        if (found || each.engine != std::string_view(known->engine)) continue;
        found = located_command{&each, inside, ""};
        const std::string first = inside.empty() ? "" : inside.front();
        if (first == "serve" || (first == "run" && each.serve == serve_word::or_run)) {
          found->arguments.erase(found->arguments.begin());
        }
      }
    }
    if (!found) {
      refuse("the pasted command starts no server in the image {}, expected {} behind it",
             shown(std::string(image)), what_is_read);
    }
    if (known != nullptr && known->tag_is_version) {
      const std::string_view last = image.substr(image.find_last_of('/') + 1);
      const std::size_t colon = last.find(':');
      if (colon != std::string_view::npos) found->version = version_in(last.substr(colon + 1));
    }
    return found;
  }

  const shell_words* words_ = nullptr;
  std::size_t at_ = 0;
  int shells_ = 0;
};

// -- the options --------------------------------------------------------------------------------------------

/// One option of an engine's table.
struct known_option {
  std::string name;                   ///< its own, without dashes
  std::vector<std::string> spelling;  ///< all of them, with their dashes
  takes value = takes::one;
  effect changes = effect::none;
};

std::vector<known_option> options_of(const engine_entry& engine) {
  std::vector<known_option> all;
  for (const option_group* group = engine.first; group != engine.last; ++group) {
    any_part(group->names, ' ', [&](std::string_view names) {
      known_option option;
      option.value = group->value;
      option.changes = group->changes;
      any_part(names, '|', [&](std::string_view name) {
        if (option.name.empty()) option.name = name;
        option.spelling.push_back(name.starts_with('-') ? std::string(name) : "--" + std::string(name));
        return false;
      });
      all.push_back(std::move(option));
      return false;
    });
  }
  return all;
}

struct engine_table {
  const engine_entry* engine;
  std::vector<known_option> options;

  /// The option that this spelling means: exactly, or as the beginning of one.
  [[nodiscard]] const known_option* find(std::string_view typed) const {
    const known_option* begins = nullptr;
    bool ambiguous = false;
    for (const known_option& each : options) {
      for (const std::string& spelling : each.spelling) {
        if (spelling == typed) return &each;
        if (!engine->abbreviations || typed.size() < 4 || !typed.starts_with("--") ||
            !spelling.starts_with(typed))
          continue;
        ambiguous = ambiguous || (begins != nullptr && begins != &each);
        begins = &each;
      }
    }
    return ambiguous ? nullptr : begins;
  }
};

const engine_table& table_of(std::string_view name) {
  static const std::vector<engine_table> tables = [] {
    std::vector<engine_table> all;
    for (const engine_entry& each : engines) all.push_back({&each, options_of(each)});
    return all;
  }();
  for (const engine_table& each : tables) {
    if (each.engine->name == name) return each;
  }
  return tables.front();
}

/// What one word says before its value is looked for.
struct typed_option {
  std::string name;                  ///< with its dashes, '_' as '-'
  std::vector<std::string> keys;     ///< of --name.key.key
  bool appends = false;              ///< --name.key+
  std::optional<std::string> value;  ///< behind '='
};

typed_option split_option(const std::string& word) {
  typed_option typed;
  const std::size_t equals = word.find('=');
  if (equals != std::string::npos) typed.value = word.substr(equals + 1);
  std::string_view left = std::string_view(word).substr(0, equals);
  const std::size_t point = left.find('.');
  typed.name = left.substr(0, point);
  std::replace(typed.name.begin(), typed.name.end(), '_', '-');
  if (point == std::string_view::npos) return typed;
  if (left.ends_with('+')) {
    typed.appends = true;
    left.remove_suffix(1);
  }
  any_part(left.substr(point + 1), '.', [&](std::string_view key) {
    typed.keys.emplace_back(key);
    return false;
  });
  if (typed.keys.size() > deepest_key) {
    refuse("{}: has more than {} keys inside each other", printable(word, 60), deepest_key);
  }
  return typed;
}

std::string one_line(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Text that is not a whole number in any of the spellings throws.
std::optional<std::uint64_t> human_count(std::string_view text) {
  constexpr std::string_view suffixes = "kmgtKMGT";
  std::size_t suffix = std::string_view::npos;
  if (!text.empty() && !is_digit(text.back())) {
    suffix = suffixes.find(text.back());
    if (suffix == std::string_view::npos) return std::nullopt;
    text.remove_suffix(1);
  }
  const bool decimal = suffix != std::string_view::npos && suffix < 4;
  std::uint64_t factor = 1;
  if (suffix != std::string_view::npos) {
    for (std::size_t i = 0; i <= suffix % 4; ++i) factor *= decimal ? 1000 : 1024;
  }
  const std::size_t point = std::min(text.find('.'), text.size());
  if (point != text.size() && !decimal) return std::nullopt;  // fractions only of thousands
  std::uint64_t number = 0;
  std::uint64_t fraction = 0;
  constexpr std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == point) continue;
    if (!is_digit(text[i])) return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(text[i] - '0');
    if (i < point) {
      if (number > (most - digit) / 10) return std::nullopt;
      number = number * 10 + digit;
    }
  }
  std::uint64_t scale = factor;
  for (std::size_t i = point + 1; i < text.size() && scale >= 10; ++i) {
    scale /= 10;
    fraction += scale * static_cast<std::uint64_t>(text[i] - '0');
  }
  if (point == 0 || point + 1 == text.size()) return std::nullopt;
  if (number > (most - fraction) / factor) return std::nullopt;
  return number * factor + fraction;
}

std::string count_in(const std::string& name, const std::string& text) {
  if (text == "-1" || lower(text) == "auto") return "-1";
  if (text.find('$') != std::string::npos) return text;  // a variable: who reads it says what is wrong
  const std::optional<std::uint64_t> count = human_count(text);
  if (!count) {
    refuse("{}: {} is not a whole number such as 32768, 32k (32000) or 32K (32768)", name, shown(text));
  }
  return std::to_string(*count);
}

/// JSON, or `image=2,video=1`.
nlohmann::json json_in(const std::string& name, const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const char start = first == std::string::npos ? '\0' : text[first];
  if (is_letter(start) && text.find('=') != std::string::npos) {
    nlohmann::json pairs = nlohmann::json::object();
    any_part(text, ',', [&](std::string_view pair) {
      const std::size_t equals = pair.find('=');
      if (equals == 0 || equals == std::string_view::npos) {
        refuse("{}: {} is not KEY=VALUE", name, shown(std::string(pair)));
      }
      const std::string value(pair.substr(equals + 1));
      const std::optional<std::uint64_t> count = human_count(value);
      pairs[std::string(pair.substr(0, equals))] = count ? nlohmann::json(*count) : nlohmann::json(value);
      return false;
    });
    return pairs;
  }
  try {
    return kvbudget::parse_json(text, name).root;
  } catch (const kvbudget::error& problem) {
    throw command_error(problem.what());
  }
}

/// The value of a dotted option: JSON, a number with a suffix, or text.
nlohmann::json dotted_value(const std::string& text) {
  try {
    return kvbudget::parse_json(text, "value").root;
  } catch (const kvbudget::error&) {
    const std::optional<std::uint64_t> count = human_count(text);
    return count ? nlohmann::json(*count) : nlohmann::json(text);
  }
}

/// `into` with the members of `from`, lists joined, as vLLM's parser does it.
void merge(nlohmann::json& into, const nlohmann::json& from) {
  for (const auto& [key, value] : from.items()) {
    nlohmann::json& place = into[key];
    if (value.is_object() && place.is_object()) {
      merge(place, value);
    } else if (value.is_array() && place.is_array()) {
      place.insert(place.end(), value.begin(), value.end());
    } else {
      place = value;
    }
  }
}

class option_reader {
 public:
  option_reader(const located_command& located, pasted_command& result)
      : entry_(*located.entry),
        table_(table_of(located.entry->engine)),
        words_(located.arguments),
        result_(result) {}

  void run() {
    for (at_ = 0; at_ < words_.size();) {
      const std::string& word = words_[at_];
      if (word == "--") {
        for (++at_; at_ < words_.size(); ++at_) positional(words_[at_]);
      } else if (is_option(word)) {
        option();
      } else {
        if (!is_blank(word) && word != "-") positional(word);
        ++at_;
      }
    }
    for (const auto& [name, value] : dotted_) keep({name, one_line(value), false});
    choose_model();
  }

 private:
  /// A model where one may stand by itself.
  void positional(const std::string& word) {
    if (takes_model() && !positional_) {
      positional_ = word;
    } else if (entry_.serve == serve_word::or_run) {
      result_.ignored.push_back(word);  // the prompt
    } else {
      result_.unknown.push_back(word);
    }
  }
  [[nodiscard]] bool takes_model() const { return entry_.serve != serve_word::none; }
  [[nodiscard]] const pasted_option* named_model() const {
    const pasted_option* named = result_.find(table_.engine->model);
    return named != nullptr ? named : result_.find(table_.engine->repository);
  }

  void choose_model() {
    const pasted_option* named = named_model();
    if (positional_ && named != nullptr && named->value != *positional_) {
      refuse("the pasted command names two models, {} and {}", shown(*positional_), shown(named->value));
    }
    result_.model = positional_ ? *positional_ : named != nullptr ? named->value : "";
    std::erase_if(result_.options, [&](const pasted_option& each) {
      return each.name == table_.engine->model || each.name == table_.engine->repository;
    });
    if (!result_.model.empty() || entry_.serve == serve_word::or_run) return;
    refuse("the pasted command names no model, expected {}{}",
           takes_model() ? "MODEL" : "--" + std::string(table_.engine->model) + " MODEL",
           file_ ? " (the file that it names is not read)" : "");
  }

  [[nodiscard]] bool value_follows() const { return at_ < words_.size() && !is_option(words_[at_]); }

  /// Takes an option and its words.
  void option() {
    typed_words_ = words_[at_];
    const typed_option typed = split_option(words_[at_++]);
    if (optimization_level(typed)) return;
    bool negated = false;
    const known_option* known = table_.find(typed.name);
    if (known == nullptr && typed.name.starts_with("--no-")) {
      known = table_.find("--" + typed.name.substr(5));
      negated = known != nullptr && known->value == takes::nothing;
      if (!negated) known = nullptr;
    }
    typed_option glued = typed;
    if (known == nullptr) known = find_glued(glued);
    if (known == nullptr) return unknown(typed);
    if (known->changes != effect::memory) return without_effect(*known, glued);
    if (!glued.keys.empty()) return dotted(*known, glued);
    take(*known, glued, negated);
  }

  /// -qfp8: a value behind a single letter.
  const known_option* find_glued(typed_option& typed) const {
    if (!table_.engine->glued || typed.name.size() < 3 || typed.name[1] == '-') return nullptr;
    const known_option* known = table_.find(typed.name.substr(0, 2));
    if (known == nullptr || known->value == takes::nothing) return nullptr;
    typed.value = typed_words_.substr(2);
    typed.name = typed.name.substr(0, 2);
    typed.keys.clear();
    return known;
  }

  /// vLLM's -O3, -O=3, -O 3; -O with JSON is older and means the compilation config.
  bool optimization_level(const typed_option& typed) {
    if (table_.engine->name != std::string_view("vllm") || !typed.name.starts_with("-O")) return false;
    if (!typed.keys.empty()) {
      dotted(*table_.find("--compilation-config"), typed);
      return true;
    }
    std::string level = typed_words_.substr(2);
    if (level.starts_with('=')) level.erase(0, 1);
    if (level.empty() && value_follows()) level = words_[at_++];
    if (level.empty()) refuse("-O: needs a value");
    if (level.starts_with('{')) {
      keep({"compilation-config", one_line(json_in("-O", level)), false});
    } else {
      keep({"optimization-level", level, false});
    }
    return true;
  }

  void take(const known_option& known, const typed_option& typed, bool negated) {
    const std::string name = "--" + known.name;
    if (known.value == takes::nothing) {
      std::string text = typed.value.value_or("");
      if (!typed.value && at_ < words_.size()) {
        const std::string next = lower(words_[at_]);
        if (next == "true" || next == "false") text = words_[at_++];
      }
      text = lower(text);
      if (!text.empty() && text != "true" && text != "false" && text != "1" && text != "0") {
        refuse("{}: {} is not True or False", name, shown(text));
      }
      return keep({known.name, "", negated != (text == "false" || text == "0")});
    }
    std::string value;
    if (typed.value) {
      value = *typed.value;
    } else if (value_follows()) {
      value = words_[at_++];
    } else if (known.value != takes::maybe) {
      refuse("{}: needs a value", name);
    }
    switch (known.value) {
      case takes::count: value = count_in(name, value); break;
      case takes::json:
        value = value.find('$') == std::string::npos ? one_line(json_in(name, value)) : value;
        break;
      case takes::many:
        while (!typed.value && value_follows()) value += ',' + words_[at_++];
        break;
      default: break;
    }
    keep({known.name, std::move(value), false});
  }

  void dotted(const known_option& known, const typed_option& typed) {
    if (known.value != takes::json) return unknown(typed);
    std::string text;
    if (typed.value) {
      text = *typed.value;
    } else if (at_ < words_.size()) {
      text = words_[at_++];
    } else {
      refuse("{}: needs a value", printable(typed_words_, 60));
    }
    nlohmann::json value;
    if (typed.appends) {
      value = nlohmann::json::array();
      any_part(text, ',', [&](std::string_view part) {
        value.push_back(std::string(part));
        return false;
      });
    } else {
      value = dotted_value(text);
    }
    for (std::size_t i = typed.keys.size(); i-- != 0;) {
      nlohmann::json outer = nlohmann::json::object();
      outer[typed.keys[i]] = std::move(value);
      value = std::move(outer);
    }
    for (auto& [name, all] : dotted_) {
      if (name == known.name) return merge(all, value);
    }
    dotted_.emplace_back(known.name, std::move(value));
  }

  void without_effect(const known_option& known, const typed_option& typed) {
    std::string text = typed_words_;
    const bool flag = known.value == takes::nothing;
    const bool boolean =
        flag && at_ < words_.size() && (lower(words_[at_]) == "true" || lower(words_[at_]) == "false");
    if (!typed.value && (flag ? boolean : value_follows())) {
      do {
        text += ' ' + words_[at_++];
      } while (known.value == takes::many && value_follows());
    }
    if (known.changes == effect::secret) text = typed.name;
    if (known.changes == effect::file) {
      file_ = true;
      result_.unknown.push_back(text + " (the file is not read: give its options here)");
    } else {
      result_.ignored.push_back(std::move(text));
    }
  }

  /// Whether a word behind an unknown option is its value is a guess: it is not where a model is still
  /// missing and this may be one.
  void unknown(const typed_option& typed) {
    std::string text = typed_words_;
    if (!typed.value && value_follows() && !is_blank(words_[at_])) {
      const bool another = at_ + 1 < words_.size() && !is_option(words_[at_ + 1]);
      if (has_model() || another || !may_be_model(words_[at_])) text += ' ' + words_[at_++];
    }
    if (unknown_options_++ < most_suggestions) text += suggestion(typed.name);
    result_.unknown.push_back(std::move(text));
  }
  [[nodiscard]] bool has_model() const { return positional_ || named_model() != nullptr || !takes_model(); }
  [[nodiscard]] static bool may_be_model(const std::string& word) {
    const std::string text = lower(word);
    const char first = text.empty() ? '\0' : text[0];
    const bool starts_a_path = first == '/' || first == '.' || first == '~' || first == '$';
    return (starts_a_path || is_letter(first)) && text != "true" && text != "false";
  }
  [[nodiscard]] std::string suggestion(const std::string& name) const {
    const kvbudget::detail::name_key key = kvbudget::detail::key_of(name.c_str());
    kvbudget::detail::suggestions near(key);
    for (const known_option& each : table_.options) {
      for (const std::string& spelling : each.spelling) {
        if (spelling.starts_with("--")) near.offer(spelling.c_str(), spelling.c_str());
      }
    }
    const std::string line = near.text_or("");
    return line.starts_with(", did") ? line : "";
  }

  /// The last one wins, but for patterns, which are collected.
  void keep(pasted_option option) {
    for (pasted_option& each : result_.options) {
      if (each.name != option.name) continue;
      if (option.name == "override-tensor") option.value = each.value + ',' + option.value;
      each = std::move(option);
      return;
    }
    result_.options.push_back(std::move(option));
  }

  const entry_point& entry_;
  const engine_table& table_;
  const shell_words& words_;
  pasted_command& result_;
  std::size_t at_ = 0;
  std::string typed_words_;  ///< the option as typed
  std::vector<std::pair<std::string, nlohmann::json>> dotted_;
  std::optional<std::string> positional_;
  std::size_t unknown_options_ = 0;
  bool file_ = false;
};

void check_size(const shell_words& words) {
  std::size_t bytes = 0;
  if (words.size() > most_words) {
    refuse("the pasted command has {} words, expected at most {}", words.size(), most_words);
  }
  for (const std::string& word : words) {
    if (word.find('\0') != std::string::npos)
      refuse("the pasted command has a zero byte in {}", shown(word.substr(0, 40)));
    if (word.size() > longest_word) {
      refuse("the pasted command has a word of {} bytes, expected at most {}", word.size(), longest_word);
    }
    bytes += word.size();
  }
  if (bytes > most_bytes) {
    refuse("the pasted command has {} bytes, expected at most {}", bytes, most_bytes);
  }
}

/// The names of variables that hold what nobody else should see.
bool is_secret(std::string_view name) {
  for (const std::string_view part : {"TOKEN", "KEY", "SECRET", "PASSWORD", "CREDENTIAL"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

/// An engine's variables as the options that they stand for, which come first: those of the command line win.
/// What is taken is removed from `variables`.
template <std::size_t Count>
shell_words words_of_variables(const option_variable (&known_variables)[Count],
                               std::vector<variable>& variables) {
  shell_words words;
  std::erase_if(variables, [&](const variable& each) {
    for (const option_variable& known : known_variables) {
      if (each.name != known.name) continue;
      const std::string value = lower(each.value);
      const bool set = value == "1" || value == "true" || value == "on" || value == "enabled";
      if (!known.flag) {
        words.insert(words.end(), {known.option, each.value});
      } else if (set) {
        words.emplace_back(known.option);
      } else if (known.negative[0] != '\0') {
        words.emplace_back(known.negative);
      }
      return true;
    }
    return false;
  });
  return words;
}

}  // namespace

const pasted_option* pasted_command::find(const std::string& name) const {
  for (const pasted_option& each : options) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

pasted_command read_pasted_command(const std::vector<std::string>& words) {
  check_size(words);
  const std::vector<shell_words> commands =
      words.size() == 1 ? split_shell(words.front()) : split_commands(words);
  std::size_t count = 0;
  for (const shell_words& command : commands) count += command.size();
  if (count > most_words) refuse("the pasted command has {} words, expected at most {}", count, most_words);
  if (count == 0) refuse("the pasted command is empty, expected {}", what_is_read);

  locator where;
  std::optional<located_command> located = where.among(commands);
  if (!located) {
    refuse("the pasted command{} starts no server that is understood, expected {}",
           where.tried.empty() ? std::string() : ' ' + shown(where.tried), what_is_read);
  }
  pasted_command result;
  result.engine = located->entry->engine;
  result.program = located->entry->name;
  if (result.engine == "llama.cpp") {
    const shell_words first = words_of_variables(llama_cpp_variables, where.variables);
    located->arguments.insert(located->arguments.begin(), first.begin(), first.end());
  } else if (result.engine == "ollama") {
    const shell_words first = words_of_variables(ollama_variables, where.variables);
    located->arguments.insert(located->arguments.begin(), first.begin(), first.end());
  }
  if (!located->version.empty()) result.options.push_back({"version", located->version, false});
  for (const variable& each : where.variables) {
    if (lists(variables, each.name)) {
      std::erase_if(result.options, [&](const pasted_option& old) { return old.name == each.name; });
      result.options.push_back({each.name, each.value, false});
    } else {
      result.ignored.push_back(is_secret(each.name) ? each.name : each.name + '=' + each.value);
    }
  }
  option_reader(*located, result).run();
  return result;
}

}  // namespace cli
