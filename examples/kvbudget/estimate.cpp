#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "command_error.hpp"
#include "commands.hpp"
#include "engine_table.hpp"
#include "kvbudget/io/estimate_json.hpp"
#include "kvbudget/io/llama_cpp_json.hpp"
#include "kvbudget/report/allocation.hpp"
#include "kvbudget/report/csv.hpp"
#include "kvbudget/report/format.hpp"
#include "kvbudget/report/llama_cpp.hpp"
#include "kvbudget/report/markdown.hpp"
#include "kvbudget/report/svg.hpp"
#include "kvbudget/report/table.hpp"
#include "output.hpp"
#include "request.hpp"

namespace cli {

using namespace kvbudget;

namespace {

/// "llama-3.1-70b · weights fp8_e4m3 · cache fp8_e4m3, 40 of 80 layers fp16 · 1 x 32,768 tokens".
std::string title_of(const request& r) {
  const workload& work = r.d.workload;
  std::string load = fmt::format("{} x {}", work.total_sequences(), work.longest_context());
  if (work.total_sequences() != 0 &&
      work.active_tokens() != work.longest_context() * work.total_sequences()) {
    load = fmt::format("{} in {} sequences", work.active_tokens(), work.total_sequences());
  }
  std::string cache = r.cache_text;
  if (r.d.kv_exceptions.any() && r.cache_exceptions_text != cache) {
    const std::uint32_t layers = r.model.num_hidden_layers;
    cache +=
        fmt::format(", {} of {} layers {}", r.d.kv_exceptions.count(layers), layers, r.cache_exceptions_text);
  }
  return fmt::format("{} · weights {} · cache {} · {}", r.model.name, r.weights_text, cache, load);
}

report::gpu_view gpu_view_of(const request& r) {
  const bool pools = reserves_pools(r);
  report::gpu_view view(*r.gpu, pools ? usable(*r.gpu) : r.available, pools ? headroom{} : r.asked);
  view.name = fmt::format("{} x {}", r.gpu_count, r.gpu->name);
  if (pools) {
    with_engine(r, [&](const auto& on) {
      if constexpr (pool_engine<std::remove_cvref_t<decltype(on)>>) {
        const allocation found = allocate(r.d, on, *r.gpu);
        const verdict answer = check_fit(found, r.d, *r.gpu, on, r.asked);
        view.engine_answer = report::answer_of(found, answer, r.d, longest_start(found, r.d, on, *r.gpu));
        view.engine_fits = answer.fits;
      }
    });
  } else if (const std::string why = refusal_of(r); !why.empty()) {
    view.engine_answer = "refused: " + why + '.';
  }
  return view;
}

/// The same for readers who have the options at hand.
report::gpu_view with_hints(report::gpu_view view) {
  view.activations_hint = activations_hint;
  view.framework_hint = framework_hint;
  return view;
}

/// Memory by device where llama.cpp runs; nothing for other engines and where nothing is loaded.
std::optional<llama_cpp_memory> devices_of(const request& r) {
  return with_engine(r, [&](const auto& on) -> std::optional<llama_cpp_memory> {
    const gpu_profile* gpu = r.gpu ? &*r.gpu : nullptr;
    if constexpr (requires { on.devices(r.d, gpu); }) {
      if (detail::loads(r.d, on, gpu)) return on.devices(r.d, gpu);
    }
    return std::nullopt;
  });
}

/// Rows of the host where llama.cpp runs.
std::string host_rows_of(const request& r) {
  return with_engine(r, [&](const auto& on) -> std::string {
    const gpu_profile* gpu = r.gpu ? &*r.gpu : nullptr;
    if constexpr (requires { on.host_ledger(r.d, gpu); }) {
      return report::host_csv_rows(on.host_ledger(r.d, gpu));
    }
    return "";
  });
}

/// What an engine that loads nothing leaves to say; the figures of `--csv` are none.
void print_refusal(const request& r, output_kind kind) {
  const std::string why = refusal_of(r);
  if (kind == output_kind::markdown) {
    fmt::print("### {} ({})\n\n**refused: {}**\n", detail::markdown_text(title_of(r)),
               detail::markdown_text(engine_text(r)), detail::markdown_text(why));
  } else if (kind == output_kind::csv) {
    fmt::print("{}\n", report::csv(cluster_budget{}));
  } else {
    fmt::print("{}, {}\nrefused: {}.\n", title_of(r), engine_text(r), why);
    print_remarks(r.notes, r.warnings);
  }
}

void print_growth(const request& r, const cluster_budget& cluster) {
  const tokens longest = r.d.workload.longest_context();
  const kv_growth growth = with_engine(r, [&](const auto& on) {
                             return detail::cache_figures_of(r.d, on, r.machine(), cluster.kinds[0].where);
                           }).growth;
  fmt::print("Cache of one sequence on the worst rank at {}: {} bytes for each further token", longest,
             growth.bytes_per_token);
  if (growth.fixed_bytes_per_sequence != bytes{}) {
    fmt::print(", {} that grow no more", growth.fixed_bytes_per_sequence);
  }
  fmt::print(".\n");
  if (cluster.ranks() > 1) {
    fmt::print("All {} ranks together: weights {}, cache {}, in all {}.\n", cluster.ranks(),
               cluster.weights(), cluster.kv_cache(), cluster.total());
  }
}

void print_text(const request& r, const cluster_budget& cluster, const output_options& output) {
  report::table_options options;
  options.title = title_of(r);
  options.engine = engine_text(r);
  options.unit = output.unit();
  options.color = wants_color();
  if (r.gpu) options.gpu = with_hints(gpu_view_of(r));
  fmt::print("{}\n", report::table(cluster.worst(), options));
  if (cluster.kind_count > 1) {
    fmt::print("That is the worst of {} kinds of ranks (--markdown, --csv and --json list all of them):\n",
               cluster.kind_count);
    for (std::uint32_t kind = 0; kind < cluster.kind_count; ++kind) {
      const rank_ledger& ranks = cluster.kinds[kind];
      fmt::print("  {}: weights {}, cache {}, in all {}\n", detail::ranks_text(ranks), ranks.budget.weights(),
                 ranks.budget.kv_cache(), ranks.budget.total());
    }
  }
  print_growth(r, cluster);
  if (const std::optional<llama_cpp_memory> memory = devices_of(r)) {
    fmt::print("{}\n", report::devices_table(*memory, output.unit()));
  }
  if (!r.gpu) {
    if (const std::string why = refusal_of(r); !why.empty()) fmt::print("refused: {}.\n", why);
  }
  if (r.gpu) {
    fmt::print("The rule \"leave 20 % free\" ({}): {}.\n",
               reserves_pools(r) ? "of the reserved cache" : "margin not counted",
               with_engine(r, [&](const auto& on) { return fits_with_20_percent_headroom(r.d, *r.gpu, on); })
                   ? "kept"
                   : "broken");
  }
  if (r.used_by_others != bytes{}) {
    fmt::print("In use by others{}: {}.\n",
               reserves_pools(r) ? ", beside all of this" : " and taken off the usable memory",
               r.used_by_others);
  }
  print_remarks(r.notes, r.warnings);
}

/// What `--fit` did or would do: each step, where it ended, and why it gave up.
nlohmann::ordered_json fit_json(const request& r) {
  using enum llama_cpp_fit_change;
  const auto change_of = [](llama_cpp_fit_change change) {
    return change == context       ? "context"
           : change == layers      ? "layers"
           : change == full_layers ? "full_layers"
                                   : "part_of_layer";
  };
  const auto part_of = [](llama_cpp_layer_part part) {
    using enum llama_cpp_layer_part;
    return part == whole          ? "whole"
           : part == attention    ? "attention"
           : part == attention_up ? "attention_up"
                                  : "attention_up_gate";
  };
  const llama_cpp_fit_result& found = *r.fit;
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (std::uint32_t i = 0; i < found.step_count; ++i) {
    const llama_cpp_fit_step& step = found.steps[i];
    nlohmann::ordered_json one = {{"change", change_of(step.change)}};
    if (step.change != context) one["gpu"] = step.gpu;
    if (step.change == part_of_layer) one["part"] = part_of(step.part);
    one["before"] = step.before;
    one["after"] = step.after;
    steps.push_back(std::move(one));
  }
  nlohmann::ordered_json gpus = nlohmann::ordered_json::array();
  for (std::uint32_t i = 0; i < found.gpu_count; ++i) {
    const llama_cpp_fitted_gpu& gpu = found.gpus[i];
    gpus.push_back({{"free", gpu.free.value},
                    {"target", gpu.target.value},
                    {"at_first", gpu.at_first.value},
                    {"used", gpu.used.value},
                    {"layers", gpu.n_layer},
                    {"whole_layers", gpu.n_layer - gpu.n_part}});
  }
  nlohmann::ordered_json gave_up = nullptr;
  if (found.gave_up) gave_up = report::refusal_text(found.gave_up);
  return {{"applied", r.fit_applied},
          {"steps", std::move(steps)},
          {"gave_up", std::move(gave_up)},
          {"gpus", std::move(gpus)}};
}

/// The answer in JSON, with what only this program or this engine has to say.
nlohmann::ordered_json json_of(const request& r) {
  nlohmann::ordered_json result = with_engine(
      r, [&](const auto& on) { return estimate_json(r.d, on, r.machine(), r.asked, r.warnings); });
  result["kv_cache_format"] = r.cache_text;  // a pair by both of its names
  if (r.d.kv_exceptions.any()) result["kv_cache_exceptions"]["format"] = r.cache_exceptions_text;
  if (is_llama_cpp(r)) {
    const std::optional<llama_cpp_memory> memory = devices_of(r);
    add_llama_cpp_json(result, memory ? &*memory : nullptr);
    if (r.fit) result["fit"] = fit_json(r);
  }
  result["notes"] = r.notes;
  if (r.gpu) result["gpu"]["used_bytes"] = r.used_by_others.value;
  return result;
}

bool fits_its_gpu(const request& r) {
  return !r.gpu || with_engine(r, [&](const auto& on) { return check_fit(r.d, *r.gpu, on, r.asked).fits; });
}

int exit_status(const request& r) {
  return r.require_fit && (!fits_its_gpu(r) || r.host_memory_is_short) ? exit_does_not_fit : exit_fits;
}

/// Several engines: one table, a column for each. With `--require-fit` all of them must fit.
int run_engines_side_by_side(const request_options& options, const output_options& output) {
  const output_kind kind = output.kind();
  if (output.svg_file()) refuse("--svg: draws one engine, --engine lists several");
  if (kind == output_kind::csv) refuse("--csv: is for one engine, --engine lists several");
  engine_table table(output.unit());
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  int status = exit_fits;
  for (const std::string& name : options.engines()) {
    request r;
    r.engine_asked = name;
    options.read_into(r);
    check_host_memory(r);
    checked(r, [&] {
      const std::optional<limit> longest = longest_context(r);
      if (kind == output_kind::json) {
        nlohmann::ordered_json one = json_of(r);
        one["max_context"] = longest ? detail::limit_json(*longest) : nlohmann::ordered_json(nullptr);
        all.push_back(std::move(one));
      } else {
        table.add(r, title_of(r), longest);
      }
    });
    status = std::max(status, exit_status(r));
  }
  if (kind == output_kind::json) {
    print_json({{"schema", 1}, {"engines", std::move(all)}});
  } else {
    table.print(kind == output_kind::markdown);
  }
  return status;
}

int run_estimate(const request_options& options, const output_options& output) {
  const output_kind kind = output.kind();
  if (options.engines().size() > 1) return run_engines_side_by_side(options, output);
  request r;
  options.read_into(r);
  check_host_memory(r);
  if (!loads(r)) {
    if (output.svg_file()) refuse("--svg: nothing to draw, {} refuses: {}", engine_text(r), refusal_of(r));
    if (kind == output_kind::json) {
      print_json(json_of(r));
    } else {
      print_refusal(r, kind);
    }
    return exit_status(r);
  }
  const gpu_profile* gpu = r.gpu ? &*r.gpu : nullptr;
  const cluster_budget cluster = checked(
      r, [&] { return with_engine(r, [&](const auto& on) { return estimate_cluster(r.d, on, gpu); }); });

  const std::string title = title_of(r);
  const std::string engine = engine_text(r);
  if (output.svg_file()) {
    report::svg_options how;
    how.title = title;
    how.engine = engine;
    how.unit = output.unit();
    if (r.gpu) how.gpu = gpu_view_of(r);
    const std::string drawing =
        cluster.kind_count > 1 ? report::svg(cluster, how) : report::svg(cluster.worst(), how);
    for_option("--svg", [&] { write_file(*output.svg_file(), drawing + "\n"); });
  }
  switch (kind) {
    case output_kind::json: print_json(checked(r, [&] { return json_of(r); })); break;
    case output_kind::markdown: {
      report::markdown_options how;
      how.title = title;
      how.engine = engine;
      how.unit = output.unit();
      if (r.gpu) how.gpu = with_hints(gpu_view_of(r));
      fmt::print("{}\n", cluster.kind_count > 1 ? report::markdown(cluster, how)
                                                : report::markdown(cluster.worst(), how));
      if (const std::optional<llama_cpp_memory> memory = devices_of(r))
        fmt::print("\n{}\n", report::devices_markdown(*memory, output.unit()));
      break;
    }
    case output_kind::csv: fmt::print("{}{}\n", report::csv(cluster), host_rows_of(r)); break;
    case output_kind::text: print_text(r, cluster, output); break;
  }
  return exit_status(r);
}

}  // namespace

action add_estimate(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("estimate", "bytes per GPU of a model at work, item by item, and whether they fit");
  struct given {
    request_options request;
    output_options output;
  };
  const auto options = std::make_shared<given>();
  options->request.add_to(*command);
  options->output.add_all(*command);
  return [options] { return run_estimate(options->request, options->output); };
}

}  // namespace cli
