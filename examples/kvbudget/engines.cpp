#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>

#include "command_error.hpp"
#include "commands.hpp"
#include "engine_options.hpp"
#include "kvbudget/io/format_names.hpp"
#include "kvbudget/report/engine_constants.hpp"
#include "output.hpp"

namespace cli {

using namespace kvbudget;

namespace {

/// The file of data/engines whose constants an engine reads beside its own.
constexpr const char* everybodys_constants = "pytorch-cuda";

bool concerns(const report::named_constant& constant, const engine_entry& engine) {
  const std::string from = constant.engine;
  const bool is_llama_cpp = std::visit(
      [](const auto& on) { return runs_llama_cpp<std::remove_cvref_t<decltype(on)>>; }, engine.engine);
  if (from == engine.name || (is_llama_cpp && from == "llama-cpp")) return true;
  return from == everybodys_constants && !is_llama_cpp && engine.name != std::string("geometry");
}

nlohmann::ordered_json json_of(const engine_entry& engine) {
  nlohmann::ordered_json options = nlohmann::ordered_json::array();
  for (const engine_option& each : options_of(engine.name)) {
    options.push_back({{"name", each.name}, {"value", each.value}, {"what", each.what}});
  }
  nlohmann::ordered_json constants = nlohmann::ordered_json::array();
  for (const report::named_constant& each : report::engine_constants) {
    if (!concerns(each, engine)) continue;
    constants.push_back({{"name", each.name},
                         {"basis", name_of(each.figure->known)},
                         {"low", each.figure->low},
                         {"expected", each.figure->expected},
                         {"high", each.figure->high},
                         {"about", each.about},
                         {"source", each.figure->source}});
  }
  return {{"name", engine.name},
          {"what", engine.what},
          {"versions", engine.versions},
          {"newest", std::visit([](const auto& on) { return std::string(on.name().text); }, engine.engine)},
          {"options", std::move(options)},
          {"constants", std::move(constants)}};
}

void print_details(const engine_entry& engine) {
  fmt::print("{}: {}\n", engine.name, engine.what);
  if (*engine.versions != '\0') {
    fmt::print("Rules by version: {}. Default: {}.\n", engine.versions,
               std::visit([](const auto& on) { return std::string(on.name().text); }, engine.engine));
  }
  if (!options_of(engine.name).empty()) fmt::print("\nOptions\n");
  for (const engine_option& each : options_of(engine.name)) {
    fmt::print("  {:<44} {}\n", fmt::format("{} {}", each.name, each.value), each.what);
  }
  bool any = false;
  for (const report::named_constant& each : report::engine_constants) {
    if (!concerns(each, engine)) continue;
    if (!any)
      fmt::print(
          "\nConstants that no formula gives (low, expected, high; in bytes unless the name says "
          "otherwise)\n");
    any = true;
    fmt::print("  {:<60} {:<10} {}", each.name, name_of(each.figure->known), each.figure->expected);
    if (each.figure->low != each.figure->high) fmt::print(" ({} to {})", each.figure->low, each.figure->high);
    fmt::print("\n");
  }
  if (any) fmt::print("What each is about and where it is from: --json.\n");
}

int run_engines(const std::optional<std::string>& name, bool as_json) {
  const engine_entry* chosen = nullptr;
  if (name) chosen = &engine_list()[engine_named(*name).index()];
  if (as_json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const engine_entry& each : engine_list()) {
      if (chosen == nullptr || chosen == &each) all.push_back(json_of(each));
    }
    print_json(chosen != nullptr ? all[0] : all);
  } else if (chosen != nullptr) {
    print_details(*chosen);
  } else {
    for (const engine_entry& each : engine_list()) fmt::print("{:<12} {}\n", each.name, each.what);
    fmt::print("`kvbudget engines NAME` lists an engine's versions, options and constants.\n");
  }
  return exit_fits;
}

}  // namespace

action add_engines(CLI::App& app) {
  CLI::App* command = app.add_subcommand("engines", "the engines that estimates can speak for");
  struct given {
    std::optional<std::string> name;
    output_options output;
  };
  const auto options = std::make_shared<given>();
  command->add_option("NAME", options->name, "an engine: its versions, options and constants");
  options->output.add_json(*command);
  return [options] { return run_engines(options->name, options->output.kind() == output_kind::json); };
}

}  // namespace cli
