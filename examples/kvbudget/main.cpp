// The command line of kvbudget: how many bytes of GPU memory a model takes, item by item, and what fits.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "command_error.hpp"
#include "commands.hpp"
#include "kvbudget/io/format_names.hpp"
#include "kvbudget/version.hpp"
#include "pasted_arguments.hpp"

namespace {

/// One line on stderr, whatever the message held.
int fail(const std::string& command, std::string line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\n')) line.pop_back();
  fmt::print(stderr, "kvbudget{}: {}\n", command.empty() ? "" : ' ' + command,
             kvbudget::detail::printable(line, 2000));
  return cli::exit_bad_input;
}

/// ", did you mean --context?" for words that look like a mistyped option or subcommand.
std::string suggestion_for(const std::string& word, const CLI::App& app) {
  using namespace kvbudget;
  const detail::name_key key = detail::key_of(word.substr(0, word.find('=')).c_str());
  detail::suggestions near(key);
  std::vector<std::string> names;  // outlives `near`
  if (word.starts_with("-")) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  }
  for (const std::string& name : names) near.offer(name.c_str(), name.c_str());
  return near.text_or("what --help lists");
}

int explain_parse_error(const CLI::App& app, const CLI::ParseError& problem) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string name = chosen.empty() ? "" : command.get_name();
  const std::vector<std::string> extras = app.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&problem) != nullptr && !extras.empty()) {
    const std::string& word = extras.front();
    return fail(
        name, fmt::format("{} is unknown{}", kvbudget::detail::quoted(word), suggestion_for(word, command)));
  }
  std::string line = problem.what();
  if (dynamic_cast<const CLI::ConversionError*>(&problem) != nullptr) {
    constexpr std::string_view before = "Could not convert: ";
    if (line.starts_with(before)) line.erase(0, before.size());
    return fail(name, line.substr(0, line.find(' ')) + ": takes no value");
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&problem) != nullptr) {
    const std::string option = line.substr(0, line.find(": "));
    const bool missing = line.find("missing") != std::string::npos;
    line = option + (missing ? ": needs a value" : ": is given more than once");
  }
  return fail(name, line);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"kvbudget: GPU memory of large language models, to the byte", "kvbudget"};
  app.set_version_flag("--version", fmt::format("kvbudget {}.{}.{}", KVBUDGET_VERSION_MAJOR,
                                                KVBUDGET_VERSION_MINOR, KVBUDGET_VERSION_PATCH));
  app.require_subcommand(0, 1);
  std::vector<std::pair<const CLI::App*, cli::action>> actions;
  const auto add = [&](cli::action (*declare)(CLI::App&)) {
    cli::action run = declare(app);
    actions.emplace_back(app.get_subcommands({}).back(), std::move(run));
  };
  for (const auto declare : {cli::add_explain, cli::add_estimate, cli::add_capacity, cli::add_inspect,
                             cli::add_compare, cli::add_gpus, cli::add_models, cli::add_engines}) {
    add(declare);
  }

  for (const char* command : {"estimate", "capacity"}) {
    app.get_subcommand(command)->footer(fmt::format(
        "Behind --: the command line of a vLLM, SGLang, TensorRT-LLM, llama.cpp or Ollama server, whose "
        "options "
        "count as\n"
        "this program's own where they are not given here:\n"
        "  kvbudget {} --gpu h100-sxm-80gbx2 -- vllm serve llama-3.1-70b -tp 2 --max-model-len 32k",
        command));
  }
  cli::arguments arguments{{argv + (argc > 0 ? 1 : 0), argv + argc}, {}};
  try {
    arguments = cli::with_pasted_command(app, arguments.words);
  } catch (const std::exception& problem) {
    return fail(arguments.words.front(), problem.what());
  }
  for (const std::string& word : arguments.words) {
    // The parser would take the next word for the value.
    if (word.size() > 3 && word.starts_with("--") && word.find('=') == word.size() - 1)
      return fail(arguments.words.front(), word.substr(0, word.size() - 1) + ": needs a value");
  }
  try {
    app.parse(std::vector<std::string>(arguments.words.rbegin(), arguments.words.rend()));
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app.exit(problem);  // --help, --version
    return explain_parse_error(app, problem);
  }
  for (const auto& [command, run] : actions) {
    if (!command->parsed()) continue;
    try {
      const int status = run();
      for (const std::string& note : arguments.notes) {
        fmt::print(stderr, "kvbudget {}: pasted command: {}\n", command->get_name(),
                   kvbudget::detail::printable(note, 2000));
      }
      return status;
    } catch (const std::exception& problem) {
      return fail(command->get_name(), problem.what());
    }
  }
  return fail("",
              "no command: explain, estimate, capacity, inspect, compare, gpus, models, engines; kvbudget "
              "--help says more");
}
