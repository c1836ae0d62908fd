#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command_error.hpp"
#include "commands.hpp"
#include "compare_options.hpp"
#include "comparison_output.hpp"
#include "kvbudget/io/calibration.hpp"
#include "kvbudget/io/comparison.hpp"
#include "kvbudget/io/engine_log.hpp"
#include "kvbudget/report/format.hpp"
#include "kvbudget/report/text.hpp"
#include "log_settings.hpp"
#include "output.hpp"
#include "request.hpp"

namespace cli {

using namespace kvbudget;

namespace {

/// The engine's entry here, or an error that says that there is none.
const engine_entry& entry_of(const engine_log& log, const std::string& file) {
  for (const engine_entry& each : engine_list()) {
    if (detail::matches(detail::key_of(log.engine.c_str()), each.name)) return each;
  }
  refuse("{}: a log of {}, which is not in this version; see `kvbudget engines`", detail::printable(file),
         log.engine);
}

/// The total of the fullest GPU as it was printed, or what budget and share make of it.
std::optional<usable_memory> total_in(const engine_log& log) {
  std::optional<printed_amount> least;
  for (const rank_figures& rank : log.ranks) {
    if (rank.total_gpu_memory && (!least || rank.total_gpu_memory->bytes < least->bytes)) {
      least = rank.total_gpu_memory;
    }
  }
  const rank_figures first = first_printed(log);
  if (!least && log.engine == "vllm" && first.memory_budget && first.gpu_memory_utilization &&
      first.gpu_memory_utilization->digits > 0) {
    const double share = static_cast<double>(first.gpu_memory_utilization->digits) /
                         static_cast<double>(first.gpu_memory_utilization->scale);
    const double total = static_cast<double>(first.memory_budget->bytes) / share;
    const double half = static_cast<double>(first.memory_budget->rounding_bytes) / share;
    if (total > 0 && total < 1e15) {
      least = printed_amount{static_cast<std::int64_t>(total), static_cast<std::uint64_t>(half),
                             first.memory_budget->line};
    }
  }
  if (!least || least->bytes <= 0 || least->bytes > std::int64_t{1} << 50) return std::nullopt;
  const auto total = static_cast<std::uint64_t>(least->bytes);
  const std::uint64_t half = std::min(least->rounding_bytes, total / 2);
  return usable_memory{bytes{total - half}, bytes{total}, bytes{total + half}, basis::measured};
}

/// GPUs of the catalogue on which a program sees that total.
std::string gpus_with(const usable_memory& total) {
  std::vector<std::string> names;
  for (const gpu_profile* each : gpus::all) {
    if (each->runtime_total_bytes == 0 || each->vendor == gpu_vendor::apple) continue;
    const usable_memory seen = detail::usable_as_seen(*each);
    if (seen.low <= total.high && total.low <= seen.high) names.emplace_back(each->id);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// -- text
// -----------------------------------------------------------------------------------------------------------

void print_text(const request& r, const comparison& found, const std::string& file) {
  fmt::print("{}: {} on {} x {}, {}\n", detail::printable(file), r.model.name, r.d.parallel.ranks(),
             r.gpu->name, engine_text(r));
  print_figures(found, "rank", size_scale::gibibytes);
  std::string sentence = found.conclusion;
  if (!sentence.empty()) sentence[0] = static_cast<char>(sentence[0] >= 'a' ? sentence[0] - 32 : sentence[0]);
  fmt::print("{}.\n", sentence);
}

// -- JSON
// -----------------------------------------------------------------------------------------------------------

nlohmann::ordered_json comparison_json(const request& r, const comparison& found, const std::string& file) {
  using nlohmann::ordered_json;
  ordered_json terms = ordered_json::array();
  for (const pool_term& each : found.terms) {
    terms.push_back({{"what", each.what},
                     {"taken_bytes", static_cast<std::int64_t>(std::llround(each.taken))},
                     {"rounding_bytes", static_cast<std::int64_t>(std::llround(each.rounding))}});
  }
  ordered_json not_printed = ordered_json::array();
  for (const char* each : found.not_printed) not_printed.push_back(each);
  return {{"schema", 1},
          {"log", file},
          {"engine", engine_text(r)},
          {"model", r.model.name},
          {"gpu", *r.gpu->id == '\0' ? ordered_json(nullptr) : ordered_json(r.gpu->id)},
          {"gpu_total_bytes", usable(*r.gpu).expected.value},
          {"ranks", r.d.parallel.ranks()},
          {"figures", figures_json(found, "rank")},
          {"pool_missing_bytes",
           found.pool_missing ? ordered_json(static_cast<std::int64_t>(std::llround(*found.pool_missing)))
                              : ordered_json(nullptr)},
          {"terms", std::move(terms)},
          {"terms_not_printed", std::move(not_printed)},
          {"conclusion", found.conclusion},
          {"notes", r.notes},
          {"warnings", r.warnings}};
}

// -- the command
// ----------------------------------------------------------------------------------------------------

int run_compare(CLI::App& command, compare_options& options) {
  const output_kind kind = options.output.kind();
  const engine_log log = read_engine_log_file(options.log);
  const std::string file = detail::printable(options.log);
  if (!log.front_end.empty()) return run_local_compare(command, options, log);
  const engine_entry& entry = entry_of(log, file);
  if (const CLI::Option* asked = command.get_option("--engine"); asked->count() != 0) {
    const char* name = engine_list()[engine_named(asked->as<std::string>()).index()].name;
    if (!detail::same_text(name, entry.name))
      refuse("{}: a log of {}, which --engine {} does not speak for", file, entry.name, name);
  }

  std::vector<std::string> warnings;
  told_options told(command);
  for (const told_option& each : options_told_by(log, warnings)) told.take(each);
  told.take_silently("--sequences", "1");
  if (!told.is_given("--model")) {
    if (log.model.empty())
      refuse("{}: the log names no model: give --model NAME or --config config.json", file);
    refuse("{}: model {} of the log: {}", file, detail::quoted(log.model),
           unknown_model(detail::printable(log.model)));
  }
  const std::optional<usable_memory> total = total_in(log);
  const bool named = told.is_given("--gpu") || told.is_given("--gpu-profile");
  if (total) {
    options.request.see_total(*total);
  } else if (!named) {
    refuse("{}: the log does not print the memory of a GPU: give --gpu ID", file);
  }

  request r;
  r.notes = told.notes();
  if (total && !named) {
    const std::string candidates = gpus_with(*total);
    r.notes.push_back(
        fmt::format("no --gpu is given, which decides kernels and some defaults: a GPU of {} as printed{}",
                    total->expected, candidates.empty() ? "" : ", as a program sees on " + candidates));
  }
  std::vector<std::string> notes = std::move(r.notes);
  options.request.read_into(r);
  r.notes.insert(r.notes.begin(), notes.begin(), notes.end());
  r.warnings.insert(r.warnings.end(), told.doubts().begin(), told.doubts().end());
  r.warnings.insert(r.warnings.end(), warnings.begin(), warnings.end());
  for (const std::string& each : log.notes) r.notes.push_back(detail::printable(each));

  struct answer {
    comparison found;
    calibration measured;
  };
  const answer result = checked(r, [&] {
    return with_engine(r, [&](const auto& on) -> answer {
      if constexpr (pool_engine<std::remove_cvref_t<decltype(on)>>) {
        const std::string name = std::filesystem::path(options.log).filename().string();
        return {compare_with_log(log, r.d, on, *r.gpu),
                calibration_of(log, r.d, on, *r.gpu, detail::printable(name, 100))};
      } else {
        refuse("--engine {}: it reserves no pools that a log could be compared with", r.engine_name);
      }
    });
  });
  for (const std::string& each : result.found.not_predicted) {
    r.notes.push_back(fmt::format("printed, not predicted: {}", each));
  }
  if (options.calibrate) {
    for_option("--calibrate", [&] {
      write_file(*options.calibrate,
                 calibration_json(result.measured)
                         .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                     "\n");
    });
    r.notes.push_back(fmt::format("measured terms are in {}", detail::printable(*options.calibrate)));
  }
  if (kind == output_kind::json) {
    print_json(comparison_json(r, result.found, file));
  } else {
    print_text(r, result.found, file);
    print_remarks(r.notes, r.warnings);
  }
  return exit_fits;
}

}  // namespace

action add_compare(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "compare", "an engine's log beside what is predicted of it: which figures and which term are off");
  const auto options = std::make_shared<compare_options>();
  command
      ->add_option("LOG", options->log,
                   "what vLLM, SGLang, TensorRT-LLM, llama.cpp, Ollama or LM Studio printed when it started")
      ->required();
  options->request.add_to(*command);
  command
      ->add_option("--calibrate", options->calibrate,
                   "write the measured terms for --calibration of later runs")
      ->type_name("FILE");
  options->output.add_json(*command);
  return [command, options] { return run_compare(*command, *options); };
}

}  // namespace cli
