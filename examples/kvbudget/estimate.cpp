#include <fmt/format.h>

#include <memory>
#include <string>

#include "command_error.hpp"
#include "commands.hpp"
#include "kvbudget/io/estimate_json.hpp"
#include "kvbudget/report/allocation.hpp"
#include "kvbudget/report/csv.hpp"
#include "kvbudget/report/format.hpp"
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
  }
  return view;
}

/// The same for readers who have the options at hand.
report::gpu_view with_hints(report::gpu_view view) {
  view.activations_hint = activations_hint;
  view.framework_hint = framework_hint;
  return view;
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
  if (r.gpu) {
    fmt::print("The rule \"leave 20 % free\" (margin not counted): {}.\n",
               with_engine(r, [&](const auto& on) { return fits_with_20_percent_headroom(r.d, *r.gpu, on); })
                   ? "kept"
                   : "broken");
  }
  if (r.used_by_others != bytes{}) {
    fmt::print("In use by others and taken off the usable memory: {}.\n", r.used_by_others);
  }
  print_remarks(r.notes, r.warnings);
}

int run_estimate(const request_options& options, const output_options& output) {
  const output_kind kind = output.kind();
  request r;
  options.read_into(r);
  check_host_memory(r);
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
    case output_kind::json: {
      nlohmann::ordered_json result = with_engine(
          r, [&](const auto& on) { return estimate_json(r.d, on, r.machine(), r.asked, r.warnings); });
      result["kv_cache_format"] = r.cache_text;  // a pair by both of its names
      if (r.d.kv_exceptions.any()) result["kv_cache_exceptions"]["format"] = r.cache_exceptions_text;
      result["notes"] = r.notes;
      if (r.gpu) result["gpu"]["used_bytes"] = r.used_by_others.value;
      print_json(result);
      break;
    }
    case output_kind::markdown: {
      report::markdown_options how;
      how.title = title;
      how.engine = engine;
      how.unit = output.unit();
      if (r.gpu) how.gpu = with_hints(gpu_view_of(r));
      fmt::print("{}\n", cluster.kind_count > 1 ? report::markdown(cluster, how)
                                                : report::markdown(cluster.worst(), how));
      break;
    }
    case output_kind::csv: fmt::print("{}\n", report::csv(cluster)); break;
    case output_kind::text: print_text(r, cluster, output); break;
  }
  const bool fits =
      !r.gpu || with_engine(r, [&](const auto& on) { return check_fit(r.d, *r.gpu, on, r.asked).fits; });
  return r.require_fit && (!fits || r.host_memory_is_short) ? exit_does_not_fit : exit_fits;
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
