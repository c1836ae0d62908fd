#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "command_error.hpp"
#include "commands.hpp"
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

struct compare_options {
  request_options request;
  output_options output;
  std::string log;
  std::optional<std::string> calibrate;
};

/// What the user typed counts; the rest is what the log tells.
class told_options {
 public:
  explicit told_options(CLI::App& command) : command_(command) {}

  void take(const told_option& told) {
    CLI::Option* option = command_.get_option_no_throw(told.name);
    const std::string shown =
        told.value.empty() ? told.name : told.name + " " + detail::printable(told.value, 80);
    if (option == nullptr) {
      not_modelled_.push_back(shown);
    } else if (!is_given(told.name)) {
      option->add_result(told.value.empty() ? "true" : told.value);
      option->run_callback();
      taken_.push_back(shown);
      if (!told.doubt.empty()) doubts_.push_back(told.doubt);
    }
  }
  /// The same without a word about it.
  void take_silently(const char* name, const char* value) {
    if (is_given(name)) return;
    CLI::Option* option = command_.get_option(name);
    option->add_result(value);
    option->run_callback();
  }
  /// Whether the user typed the option, or another one that stands for it.
  [[nodiscard]] bool is_given(const std::string& name) const {
    for (const std::initializer_list<const char*> alike :
         {std::initializer_list<const char*>{"--model", "--config", "--safetensors", "--gguf", "--layers"},
          std::initializer_list<const char*>{"--sequences", "--active-tokens"}}) {
      const bool among =
          std::any_of(alike.begin(), alike.end(), [&](const char* each) { return name == each; });
      if (among) return std::any_of(alike.begin(), alike.end(), [&](const char* each) { return has(each); });
    }
    return has(name);
  }
  [[nodiscard]] const std::vector<std::string>& doubts() const { return doubts_; }
  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> lines;
    if (!taken_.empty()) lines.push_back(fmt::format("from the log: {}", fmt::join(taken_, ", ")));
    if (!not_modelled_.empty()) {
      lines.push_back(fmt::format("in the log, not modelled here: {}", fmt::join(not_modelled_, ", ")));
    }
    return lines;
  }

 private:
  [[nodiscard]] bool has(const char* name) const {
    const CLI::Option* option = command_.get_option_no_throw(name);
    return option != nullptr && option->count() != 0;
  }
  [[nodiscard]] bool has(const std::string& name) const { return has(name.c_str()); }

  CLI::App& command_;
  std::vector<std::string> taken_;
  std::vector<std::string> doubts_;
  std::vector<std::string> not_modelled_;
};

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

/// As many decimals as the log has; sizes in GiB.
std::string figure_text(const compared_figure& of, double value, bool with_sign = false) {
  double unit = 1;
  int decimals = 0;
  const char* name = "";
  switch (of.unit) {
    case figure_unit::size:
      unit = 1073741824.0;
      decimals = 2;
      if (of.rounding > 0) {
        decimals = std::clamp(static_cast<int>(std::lround(std::log10(0.5 * unit / of.rounding))), 2, 6);
      }
      name = " GiB";
      break;
    case figure_unit::size_per_token:
      decimals = value == std::floor(value) && !with_sign ? 0 : 1;
      name = " B";
      break;
    case figure_unit::request_count:
      decimals = 2;
      name = "x";
      break;
    case figure_unit::token_count:
    case figure_unit::block_count: break;
  }
  std::string digits = fmt::format("{:.{}f}", std::abs(value) / unit, decimals);
  for (std::size_t point = std::min(digits.find('.'), digits.size()); point > 3;) {
    point -= 3;
    digits.insert(point, ",");
  }
  const bool zero = digits.find_first_of("123456789") == std::string::npos;
  const char* sign = zero ? "" : value < 0 ? "-" : with_sign ? "+" : "";
  return sign + digits + name;
}
std::string share_text(const compared_figure& of) {
  const std::optional<double> share = of.share();
  if (!share) return "";
  const std::string digits = fmt::format("{:.1f}", std::abs(*share) * 100);
  if (digits == "0.0") return "0.0 %";
  if (digits.size() > 7) return "";
  return (*share < 0 ? "-" : "+") + digits + " %";
}

void print_figures(const comparison& found) {
  std::vector<std::vector<std::string>> rows = {{"", "rank", "printed", "predicted", "difference", "", ""}};
  for (std::size_t i = 0; i < found.figures.size(); ++i) {
    const compared_figure& each = found.figures[i];
    const bool again = i != 0 && detail::same_text(found.figures[i - 1].name, each.name);
    rows.push_back({again ? "" : each.what, detail::one_line(each.rank), figure_text(each, each.printed),
                    figure_text(each, each.predicted), figure_text(each, each.difference(), true),
                    share_text(each), name_of(each.verdict())});
  }
  const bool ranks = std::any_of(found.figures.begin(), found.figures.end(),
                                 [](const compared_figure& each) { return !each.rank.empty(); });
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], detail::display_width(row[i]));
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == 1 && !ranks) continue;
      const bool left = i < 2 || i + 1 == row.size();
      line += "  ";
      line += left ? detail::padded_right(row[i], widths[i]) : detail::padded_left(row[i], widths[i]);
    }
    while (line.back() == ' ') line.pop_back();
    fmt::print("{}\n", line);
  }
}

void print_text(const request& r, const comparison& found, const std::string& file) {
  fmt::print("{}: {} on {} x {}, {}\n", detail::printable(file), r.model.name, r.d.parallel.ranks(),
             r.gpu->name, engine_text(r));
  print_figures(found);
  std::string sentence = found.conclusion;
  if (!sentence.empty()) sentence[0] = static_cast<char>(sentence[0] >= 'a' ? sentence[0] - 32 : sentence[0]);
  fmt::print("{}.\n", sentence);
}

// -- JSON
// -----------------------------------------------------------------------------------------------------------

/// Whole where the figure is a count or a size.
nlohmann::ordered_json number_json(const compared_figure& of, double value) {
  const bool whole = of.unit == figure_unit::size || of.unit == figure_unit::token_count ||
                     of.unit == figure_unit::block_count;
  if (whole && std::abs(value) < 9e15) return static_cast<std::int64_t>(std::llround(value));
  return value;
}

nlohmann::ordered_json comparison_json(const request& r, const comparison& found, const std::string& file) {
  using nlohmann::ordered_json;
  ordered_json figures = ordered_json::array();
  for (const compared_figure& each : found.figures) {
    const std::optional<double> share = each.share();
    figures.push_back({{"name", each.name},
                       {"unit", name_of(each.unit)},
                       {"rank", each.rank.empty() ? ordered_json(nullptr) : ordered_json(each.rank)},
                       {"line", each.line},
                       {"printed", number_json(each, each.printed)},
                       {"rounding", number_json(each, each.rounding)},
                       {"predicted", number_json(each, each.predicted)},
                       {"low", number_json(each, each.low)},
                       {"high", number_json(each, each.high)},
                       {"difference", number_json(each, each.difference())},
                       {"difference_percent", share ? ordered_json(*share * 100) : ordered_json(nullptr)},
                       {"verdict", name_of(each.verdict())}});
  }
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
          {"figures", std::move(figures)},
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
  if (!log.front_end.empty()) {
    refuse("{}: a log of {}: its figures can be read, but are not put beside a prediction in this version",
           file, log.front_end);
  }
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
  command->add_option("LOG", options->log, "what vLLM, SGLang or TensorRT-LLM printed when it started")
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
