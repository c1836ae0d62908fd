#include "engine_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "kvbudget/io/estimate_json.hpp"
#include "kvbudget/report/allocation.hpp"
#include "kvbudget/report/format.hpp"
#include "kvbudget/report/grid.hpp"
#include "output.hpp"

namespace cli {

using namespace kvbudget;

namespace {

constexpr const char* cache_line = "kv_cache";
constexpr const char* needed_line = "of it needed";
constexpr const char* total_line = "total";

std::string limit_text(const limit& found) {
  if (found.unbounded) return "unbounded";
  return found.fits ? detail::grouped(found.value) : "none";
}

}  // namespace

std::optional<limit> longest_context(const request& r) {
  if (!r.gpu) return std::nullopt;
  deployment d = r.d;
  if (d.workload.groups[0].count != 0) {
    workload even{.sequences = d.workload.total_sequences(), .context = d.workload.longest_context()};
    even.batched_tokens = d.workload.batched_tokens;
    d.workload = even;
  }
  return with_engine(r, [&](const auto& on) {
    return detail::largest_that(d, detail::varied::context, [&](const deployment& each) {
      auto sized = on;
      const std::uint64_t length = each.workload.longest_context().value;
      if (!r.length_is_typed) {
        if constexpr (requires { sized.max_model_len; }) sized.max_model_len = length;
        if constexpr (requires { sized.context_length; }) sized.context_length = length;
        if constexpr (requires { sized.max_seq_len; }) sized.max_seq_len = length;
      }
      return fits(each, *r.gpu, sized, r.asked);
    });
  });
}

void engine_table::add(const request& r, const std::string& title, const std::optional<limit>& longest) {
  model_ = r.model.name;
  if (r.gpu) model_ += fmt::format(" on {} x {}", r.gpu_count, r.gpu->name);
  column added;
  added.engine = engine_text(r);
  added.title = title;
  added.notes = r.notes;
  added.warnings = r.warnings;
  with_engine(r, [&](const auto& on) {
    using chosen = std::remove_cvref_t<decltype(on)>;
    const gpu_profile* gpu = r.gpu ? &*r.gpu : nullptr;
    if (gpu != nullptr) added.usable = pool_engine<chosen> ? usable(*gpu).expected : r.available.expected;
    if constexpr (pool_engine<chosen>) {
      added.allowed = on.usable(*gpu).expected;
      added.refused = report::refusal_text(allocate(r.d, on, *gpu).refused);
    } else {
      added.refused = refusal_of(r);
    }
    if (!detail::loads(r.d, on, gpu)) return;
    const cluster_budget cluster = estimate_cluster(r.d, on, gpu);
    const memory_budget& worst = cluster.worst();
    for (const line_item& line : worst) {
      if (!line.is_part) added.lines.emplace_back(line.name, line.expected);
      if constexpr (pool_engine<chosen>) {
        if (std::string_view(line.name) != cache_line) continue;
        const bytes need = needed_of_pools(allocate(r.d, on, *gpu), r.d);
        added.lines.emplace_back(needed_line, need);
      }
    }
    added.lines.emplace_back(total_line, worst.total());
  });
  if (!added.refused.empty()) {
    added.answer = "refused";
  } else if (r.gpu) {
    const verdict answer =
        with_engine(r, [&](const auto& on) { return check_fit(r.d, *r.gpu, on, r.asked); });
    added.answer = answer.surely ? "yes, surely" : answer.fits ? "yes" : answer.never ? "no, never" : "no";
  }
  if (longest) added.longest = limit_text(*longest);
  const std::uint64_t trained = r.model.max_position_embeddings;
  if (longest && longest->fits && trained != 0 && (longest->unbounded || longest->value > trained)) {
    added.warnings.push_back(
        fmt::format("memory would hold a longer context than the {} positions that {} was trained for",
                    trained, r.model.name));
  }
  columns_.push_back(std::move(added));
}

void engine_table::print(bool as_markdown) const {
  bytes largest{};
  for (const column& each : columns_) {
    for (const auto& line : each.lines) largest = detail::larger(largest, line.second);
    if (each.usable) largest = detail::larger(largest, *each.usable);
  }
  const byte_unit unit = detail::unit_for(unit_, largest, 2);
  report::grid grid;
  grid.rows.push_back({std::string("per GPU, in ") + name_of(unit)});
  for (const column& each : columns_) grid.rows.back().push_back(each.engine);

  // The usual lines first, then what only some ledgers have, then the total.
  std::vector<std::string> names = {"weights", cache_line};
  const auto mention = [&](const std::string& name) {
    if (name != total_line && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  };
  for (const column& each : columns_) {
    for (const auto& line : each.lines) {
      if (line.first == needed_line) mention(line.first);
    }
  }
  for (const char* usual : {"activations", "framework"}) mention(usual);
  for (const column& each : columns_) {
    for (const auto& line : each.lines) mention(line.first);
  }
  names.emplace_back(total_line);
  for (const std::string& name : names) {
    std::vector<std::string> row = {name == cache_line    ? "KV cache"
                                    : name == needed_line ? "  " + name
                                                          : name};
    for (const column& each : columns_) {
      const auto line = std::find_if(each.lines.begin(), each.lines.end(),
                                     [&](const auto& one) { return one.first == name; });
      row.push_back(line == each.lines.end() ? "-" : detail::visible_number_in(line->second, unit, 2));
    }
    grid.rows.push_back(std::move(row));
  }
  const auto add_row = [&](const char* name, auto&& text_of) {
    std::vector<std::string> row = {name};
    bool any = false;
    for (const column& each : columns_) {
      row.push_back(text_of(each));
      any = any || !row.back().empty();
    }
    if (any) grid.rows.push_back(std::move(row));
  };
  add_row("usable", [&](const column& each) {
    return each.usable ? detail::visible_number_in(*each.usable, unit, 2) : std::string();
  });
  add_row("  of it allowed", [&](const column& each) {
    return each.allowed ? detail::visible_number_in(*each.allowed, unit, 2) : std::string();
  });
  add_row("fits", [](const column& each) { return each.answer; });
  add_row("largest context", [](const column& each) { return each.longest; });

  if (as_markdown) {
    fmt::print("### {}\n\n{}\n", detail::markdown_text(model_), report::markdown(grid));
  } else {
    fmt::print("{}\n{}\n", model_, report::aligned(grid));
  }
  const char* const start = as_markdown ? "- " : "";
  if (as_markdown) fmt::print("\n");
  const auto say = [&](const std::string& line) {
    fmt::print("{}{}\n", start, as_markdown ? detail::markdown_text(line) : line);
  };
  for (const column& each : columns_) {
    say(each.engine + ": " + each.title);
    if (!each.refused.empty()) say(each.engine + ": refused: " + each.refused);
    for (const std::string& note : each.notes) say("note: " + each.engine + ": " + note);
    for (const std::string& warning : each.warnings) say("warning: " + each.engine + ": " + warning);
  }
}

}  // namespace cli
