#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace cli {

/// What a command does once its options are parsed; the result is the program's exit status.
using action = std::function<int()>;

/// Each declares one subcommand and returns what runs it.
action add_explain(CLI::App& app);
action add_estimate(CLI::App& app);
action add_capacity(CLI::App& app);
action add_inspect(CLI::App& app);
action add_compare(CLI::App& app);
action add_gpus(CLI::App& app);
action add_models(CLI::App& app);
action add_engines(CLI::App& app);

}  // namespace cli
