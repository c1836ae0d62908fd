#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kvbudget/memory/memory_budget.hpp"
#include "kvbudget/plan/estimate.hpp"
#include "kvbudget/report/ledger.hpp"
#include "kvbudget/report/text.hpp"

namespace kvbudget::inline v0 {

namespace report {

/// What a Markdown report shows.
struct markdown_options {
  std::string title{};                    ///< a heading, if given
  std::string engine{};                   ///< behind the title: `engine.name().text`
  byte_unit unit = byte_unit::automatic;  ///< one for the whole report; automatic: by the largest size
  int precision = 2;                      ///< decimals of sizes
  std::optional<report::gpu_view> gpu{};  ///< adds what this GPU offers, what is left, and the verdict
  bool parts = true;                      ///< also the parts of each line
  bool sources = true;                    ///< a column that says where each figure comes from
};

}  // namespace report

namespace detail {

/// Text that Markdown shows as it is, in a table cell too: nothing in it becomes markup, a link, HTML or a
/// new column.
[[nodiscard]] inline std::string markdown_text(std::string_view text) {
  const std::string line = one_line(text);
  const auto is_word = [&line](std::size_t i) {
    const char c = line[i];
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  std::string result;
  for (std::size_t i = 0; i < line.size(); ++i) {
    switch (line[i]) {
      case '&': result += "&amp;"; continue;
      case '<': result += "&lt;"; continue;
      case '>': result += "&gt;"; continue;
      case '_':  // inside a word, as in kv_cache, it is no markup
        if (i == 0 || i + 1 == line.size() || !is_word(i - 1) || !is_word(i + 1)) result += '\\';
        break;
      case '\\':
      case '`':
      case '|':
      case '*':
      case '[':
      case ']':
      case '~':
      case '$':
      case '#': result += '\\'; break;
      default: break;
    }
    result += line[i];
  }
  return result;
}

/// Writes the tables of a Markdown report.
class markdown_writer {
 public:
  markdown_writer(const report::markdown_options& asked, byte_unit unit) : options_(asked), unit_(unit) {}

  /// A heading; further ones are one level lower.
  void add_title(std::string_view title, std::string_view engine) {
    if (title.empty() && engine.empty()) return;
    start_block();
    out_ += headings_++ == 0 ? "### " : "#### ";
    out_ += markdown_text(title);
    if (!engine.empty()) out_.append(title.empty() ? "" : " ").append("(" + markdown_text(engine) + ")");
    out_ += '\n';
  }

  void add_ledger(const ledger& of) {
    const bool ranges = of.has_ranges();
    start_block();
    out_.append("| item | ").append(name_of(unit_)).append(" | share |");
    out_.append(ranges ? " low – high |" : "").append(" basis |").append(options_.sources ? " source |" : "");
    out_.append("\n|:--|--:|--:|").append(ranges ? "--:|" : "").append(":--|");
    out_.append(options_.sources ? ":--|" : "").append("\n");
    for (const ledger_row& row : rows_of(of)) {
      if (row.depth() != 0 && !options_.parts) continue;
      const std::string name = markdown_text(row.item.name);
      const bool top = row.depth() == 0;
      add_row(is_orphan(row) ? name + " (not in the total)"
              : top          ? "**" + name + "**"
                             : name,
              size(row.item.expected), is_orphan(row) ? "" : percent_of(row.item.expected, of.expected),
              ranges, row.item);
    }
    add_row("**total**", "**" + size(of.expected) + "**", percent_of(of.expected, of.expected), ranges,
            {"", of.low, of.expected, of.high, of.known, ""});
  }

  void add_gpu(const ledger& need, const verdict& answer, const report::gpu_view& gpu) {
    const bytes usable = gpu.available.expected;
    start_block();
    out_.append("| ").append(markdown_text(gpu.name)).append(" | ").append(name_of(unit_));
    out_.append(" | of usable | low – high | basis |\n|:--|--:|--:|--:|:--|\n");
    const auto row = [&](std::string_view label, const line_item& line, std::string_view share,
                         std::string_view basis_text) {
      out_.append("| ").append(label).append(" | ").append(size(line.expected)).append(" | ").append(share);
      out_.append(" | ").append(range(line)).append(" | ").append(basis_text).append(" |\n");
    };
    if (gpu.reported != bytes{}) {
      row("reported by the driver", {"", gpu.reported, ""}, "", name_of(basis::measured));
    }
    row("usable", {"", gpu.available.low, usable, gpu.available.high, gpu.available.known, ""}, "100.0 %",
        name_of(gpu.available.known));
    row("needed", {"", need.low, need.expected, need.high, need.known, ""}, percent_of(need.expected, usable),
        name_of(need.known));
    if (answer.reserved != bytes{}) {
      row("headroom asked for", {"", answer.reserved, ""}, percent_of(answer.reserved, usable), "");
    }
    const bytes rest = signed_bytes{answer.headroom_bytes}.magnitude();
    row(answer.headroom_bytes >= 0 ? "**left**" : "**missing**", {"", rest, ""}, percent_of(rest, usable),
        "");
    size_spec both;
    both.layout.precision = options_.precision;
    start_block();
    out_.append("**").append(verdict_sentence(need, gpu, answer, both)).append("**\n");
    const std::string missing = not_counted_sentence(need, gpu);
    if (missing.empty()) return;
    start_block();
    out_.append(markdown_text(missing)).append("\n");
  }

  /// Everything so far, without the last line end.
  [[nodiscard]] std::string write() {
    if (!out_.empty()) out_.pop_back();
    return std::move(out_);
  }

 private:
  void start_block() {
    if (!out_.empty()) out_ += '\n';
  }
  [[nodiscard]] std::string size(bytes amount) const {
    std::string text = visible_number_in(amount, unit_, options_.precision);
    if (text[0] == '<') text.replace(0, 1, "&lt;");
    return text;
  }
  [[nodiscard]] std::string range(const line_item& line) const {
    return line.low == line.high ? "" : size(line.low) + " – " + size(line.high);
  }
  void add_row(std::string_view name, std::string_view amount, std::string share, bool ranges,
               const line_item& line) {
    if (share.starts_with('<')) share.replace(0, 1, "&lt;");
    out_.append("| ").append(name).append(" | ").append(amount).append(" | ").append(share).append(" | ");
    if (ranges) out_.append(range(line)).append(" | ");
    out_.append(name_of(line.known)).append(" |");
    if (options_.sources) out_.append(" ").append(markdown_text(line.source)).append(" |");
    out_ += '\n';
  }

  const report::markdown_options& options_;
  byte_unit unit_;
  std::string out_{};
  int headings_ = 0;
};

}  // namespace detail

namespace report {

/// The ledger of one GPU as a Markdown table, with `options.gpu` also what that GPU offers and the verdict.
/// The text does not end in a newline.
[[nodiscard]] inline std::string markdown(const memory_budget& budget, const markdown_options& options = {}) {
  const detail::ledger need = detail::ledger_of(budget);
  bytes largest = need.expected;
  if (options.gpu) largest = detail::larger(largest, options.gpu->available.expected);
  detail::markdown_writer writer(options, detail::unit_for(options.unit, largest, options.precision));
  writer.add_title(options.title, options.engine);
  writer.add_ledger(need);
  if (options.gpu) writer.add_gpu(need, detail::verdict_of(budget, *options.gpu), *options.gpu);
  return writer.write();
}

/// The same for every kind of rank, worst first, and the sums over all ranks at the end.
[[nodiscard]] inline std::string markdown(const cluster_budget& cluster,
                                          const markdown_options& options = {}) {
  const detail::ledger sums = detail::ledger_of_all_ranks(cluster);
  detail::markdown_writer writer(options, detail::unit_for(options.unit, sums.expected, options.precision));
  writer.add_title(options.title.empty() ? "memory of every GPU" : options.title, options.engine);
  for (std::uint32_t i = 0; i < cluster.kind_count; ++i) {
    const rank_ledger& kind = cluster.kinds[i];
    const bool is_worst = i == 0 && cluster.kind_count > 1;
    const detail::ledger need = detail::ledger_of(kind.budget);
    writer.add_title(detail::ranks_text(kind) + (is_worst ? " (the worst)" : ""), "");
    writer.add_ledger(need);
    if (options.gpu) writer.add_gpu(need, detail::verdict_of(kind.budget, *options.gpu), *options.gpu);
  }
  const std::uint64_t ranks = cluster.ranks();
  writer.add_title("all " + detail::grouped(ranks) + (ranks == 1 ? " rank" : " ranks") + " together", "");
  writer.add_ledger(sums);
  return writer.write();
}

}  // namespace report

}  // namespace kvbudget::inline v0
