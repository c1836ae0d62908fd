#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/hardware/gpu_profile.hpp"
#include "kvbudget/hardware/usable.hpp"
#include "kvbudget/memory/memory_budget.hpp"
#include "kvbudget/plan/estimate.hpp"
#include "kvbudget/plan/fits.hpp"
#include "kvbudget/report/format.hpp"
#include "kvbudget/report/text.hpp"

namespace kvbudget::inline v0 {

namespace report {

/// The GPU that a report compares a ledger with: its name, what it reports, what a program may use, and the
/// headroom that was asked for.
struct gpu_view {
  std::string name;
  bytes reported{};           ///< total that the driver reports; 0 = not known
  usable_memory available{};  ///< of one GPU, for one rank
  headroom asked{};
  /// How the reader brings in lines that are not counted, said behind their names; empty: nothing is said.
  std::string activations_hint{};
  std::string framework_hint{};
  /// The answer of an engine that reserves pools, in one sentence, and whether it is yes; empty: the ledger
  /// is compared with what is available.
  std::string engine_answer{};
  bool engine_fits = false;

  gpu_view() = default;
  /// The GPU with all of its usable memory. A profile that gives only the marketed size stops: pass
  /// `usable(gpu, nominal_is_enough)` as the second argument where that is good enough.
  explicit gpu_view(const gpu_profile& gpu, const headroom& asked_for = {})
      : gpu_view(gpu, usable(gpu), asked_for) {}
  /// The GPU with the memory that an engine allows itself, as `engine.usable(gpu)` says.
  gpu_view(const gpu_profile& gpu, const usable_memory& allowed, const headroom& asked_for = {})
      : name(gpu.name), reported(gpu.driver_total_bytes), available(allowed), asked(asked_for) {}
};

}  // namespace report

namespace detail {

/// One line of a report's ledger, where it stands in the tree of items and parts.
struct ledger_row {
  line_item item{};
  std::string label{};       ///< the name without its parent's
  std::string parent{};      ///< full name of the line it is a part of; empty at the top
  std::vector<bool> last{};  ///< for each level below the top: is it the last part of its parent?
  std::size_t family = 0;    ///< which top-level line it belongs to
  [[nodiscard]] std::size_t depth() const { return last.size(); }
};

/// Lines of one ledger with their sums, ready to print.
struct ledger {
  std::vector<line_item> lines{};
  bytes low{};
  bytes expected{};
  bytes high{};
  basis known = basis::exact;  ///< of the total: the weakest of its terms

  void add(const line_item& line) {
    lines.push_back(line);
    if (line.is_part) return;
    low += line.low;
    expected += line.expected;
    high += line.high;
    known = weaker(known, line.known);
  }
  [[nodiscard]] bool has_line(std::string_view name) const {
    for (const line_item& line : lines) {
      if (!line.is_part && line.name == name) return true;
    }
    return false;
  }
  [[nodiscard]] bool has_ranges() const {
    for (const line_item& line : lines) {
      if (line.low != line.high) return true;
    }
    return false;
  }
};

[[nodiscard]] inline ledger ledger_of(const memory_budget& budget) {
  ledger result;
  for (const line_item& line : budget) result.add(line);
  return result;
}

/// Top-level lines of all ranks together, in the order in which they first occur.
[[nodiscard]] inline ledger ledger_of_all_ranks(const cluster_budget& cluster) {
  std::vector<line_item> sums;
  for (std::uint32_t kind = 0; kind < cluster.kind_count; ++kind) {
    const std::uint64_t count = cluster.kinds[kind].count;
    for (const line_item& line : cluster.kinds[kind].budget) {
      if (line.is_part) continue;
      line_item* sum = nullptr;
      for (line_item& known : sums) {
        if (same_text(known.name, line.name)) sum = &known;
      }
      if (sum == nullptr) sum = &sums.emplace_back(line.name, bytes{}, line.source);
      sum->low += line.low * count;
      sum->expected += line.expected * count;
      sum->high += line.high * count;
      sum->known = weaker(sum->known, line.known);
    }
  }
  ledger result;
  for (const line_item& sum : sums) result.add(sum);
  return result;
}

/// The lines as a tree: every part below the line whose name is the longest beginning of its own, wherever it
/// was added. A part without such a line stands at the end under its full name.
[[nodiscard]] inline std::vector<ledger_row> rows_of(const ledger& from) {
  const std::vector<line_item>& lines = from.lines;
  constexpr std::size_t nobody = SIZE_MAX;
  std::vector<std::size_t> parents(lines.size(), nobody);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view name = lines[i].name;
    for (std::size_t dot = name.rfind('.'); dot != std::string_view::npos && parents[i] == nobody;
         dot = dot == 0 ? std::string_view::npos : name.rfind('.', dot - 1)) {
      for (std::size_t j = 0; j < lines.size() && parents[i] == nobody; ++j) {
        if (name.substr(0, dot) == lines[j].name) parents[i] = j;
      }
    }
  }
  std::vector<ledger_row> rows;
  std::size_t family_count = 0;
  const auto add = [&](const auto& self, std::size_t at, const std::vector<bool>& last) -> void {
    const std::size_t parent = parents[at];
    const std::string_view name = lines[at].name;
    ledger_row row{lines[at], std::string(name), {}, last, family_count};
    if (parent != nobody) {
      row.parent = lines[parent].name;
      row.label = name.substr(row.parent.size() + 1);
    }
    rows.push_back(std::move(row));
    std::vector<std::size_t> parts;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (parents[i] == at) parts.push_back(i);
    }
    for (const std::size_t part : parts) {
      std::vector<bool> deeper = last;
      deeper.push_back(part == parts.back());
      self(self, part, deeper);
    }
  };
  for (const bool orphans : {false, true}) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (parents[i] != nobody || lines[i].is_part != orphans) continue;
      add(add, i, {});
      ++family_count;
    }
  }
  return rows;
}

/// A part whose parent is not in the ledger: no line of the total holds it.
[[nodiscard]] inline bool is_orphan(const ledger_row& row) { return row.item.is_part && row.depth() == 0; }

/// The unit that a whole report uses: `asked`, else the natural one of the largest size.
[[nodiscard]] inline byte_unit unit_for(byte_unit asked, bytes largest, int precision) {
  return asked == byte_unit::automatic ? natural_unit(largest, precision) : asked;
}

/// "3 ranks like stage 0, replica 0", "1 rank: stage 1, replica 0".
[[nodiscard]] inline std::string ranks_text(const rank_ledger& kind) {
  std::string text = grouped(kind.count);
  text += kind.count == 1 ? " rank: stage " : " ranks like stage ";
  text += std::to_string(kind.where.stage) + ", replica " + std::to_string(kind.where.data_replica);
  return text;
}

/// Whether a ledger fits, in one sentence that also says what the bounds mean for it.
[[nodiscard]] inline std::string verdict_sentence(const ledger& need, const report::gpu_view& gpu,
                                                  const verdict& v, const size_spec& spec) {
  if (!gpu.engine_answer.empty()) return gpu.engine_answer;
  std::string text = verdict_text(v, spec);
  const auto beyond = [&spec](bytes wanted, bytes offered) { return spec.text(wanted - offered); };
  if (v.fits && !v.surely) {
    const bytes wanted = need.high + gpu.asked.of(gpu.available.low);
    text += ". Not surely: with the highest need and the lowest usable memory ";
    text += beyond(wanted, gpu.available.low) + " would be missing";
  } else if (v.never && need.low < need.expected) {
    const bytes wanted = need.low + gpu.asked.of(gpu.available.high);
    text += ", and even with the lowest need " + beyond(wanted, gpu.available.high);
  } else if (!v.fits && !v.never) {
    text += ". With the lowest need and the highest usable memory it would fit";
  }
  return text += '.';
}

/// "not counted: activations, framework.", for the lines that a verdict says nothing about; empty where it is
/// about all of them.
[[nodiscard]] inline std::string not_counted_sentence(const ledger& need, const report::gpu_view& gpu) {
  std::string text;
  for (const char* const name : lines_counted_on_request) {
    if (need.has_line(name)) continue;
    text.append(text.empty() ? "not counted: " : ", ").append(name);
    const std::string& hint = same_text(name, "activations") ? gpu.activations_hint : gpu.framework_hint;
    if (!hint.empty()) text.append(" (").append(hint).append(")");
  }
  return text.empty() ? text : text + '.';
}

[[nodiscard]] inline verdict verdict_of(const memory_budget& budget, const report::gpu_view& gpu) {
  verdict result = check_fit(budget, gpu.available, gpu.asked);
  if (!gpu.engine_answer.empty()) {
    result.fits = gpu.engine_fits;
    result.surely = gpu.engine_fits;
    result.never = !gpu.engine_fits;
  }
  return result;
}

/// One of eight colours for a line: the five usual items have their own, others share the remaining three.
[[nodiscard]] inline std::size_t colour_of(std::string_view top_level_name, std::size_t position) {
  constexpr std::string_view usual[] = {"weights", "kv_cache", "activations", "framework", "margin"};
  for (std::size_t i = 0; i < 5; ++i) {
    if (top_level_name == usual[i]) return i;
  }
  return 5 + position % 3;
}

}  // namespace detail

}  // namespace kvbudget::inline v0
