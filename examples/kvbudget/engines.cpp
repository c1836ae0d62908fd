#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "engine_choice.hpp"
#include "output.hpp"

namespace cli {

action add_engines(CLI::App& app) {
  CLI::App* command = app.add_subcommand("engines", "the engines that estimates can speak for");
  const auto output = std::make_shared<output_options>();
  output->add_json(*command);
  return [output] {
    if (output->kind() == output_kind::json) {
      nlohmann::ordered_json all = nlohmann::ordered_json::array();
      for (const engine_entry& each : engine_list())
        all.push_back({{"name", each.name}, {"what", each.what}});
      print_json(all);
    } else {
      for (const engine_entry& each : engine_list()) fmt::print("{:<12} {}\n", each.name, each.what);
    }
    return 0;
  };
}

}  // namespace cli
