#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/memory/memory_budget.hpp"
#include "kvbudget/plan/estimate.hpp"
#include "kvbudget/report/ledger.hpp"
#include "kvbudget/report/text.hpp"

namespace kvbudget::inline v0 {

namespace report {

/// What a table shows and how.
struct table_options {
  std::string title{};                    ///< in the upper border, left: whose ledger this is
  std::string engine{};                   ///< in the upper border, right: `engine.name().text`
  byte_unit unit = byte_unit::automatic;  ///< one for the whole table; automatic: by the largest size
  int precision = 2;                      ///< decimals of sizes
  std::optional<report::gpu_view> gpu{};  ///< adds what this GPU offers, what is left, and the verdict
  bool parts = true;                      ///< also the parts below each line
  bool sources = true;                    ///< numbered notes that say where each figure comes from
  bool ascii = false;                     ///< nothing outside ASCII
  bool color = false;                     ///< ANSI colours, for a terminal
  std::size_t bar_width = 20;             ///< columns of the bars; 0 = none
  std::size_t name_width = 40;            ///< longer names end in an ellipsis
};

}  // namespace report

namespace detail {

/// Builds frames of rows, then writes them all with the same column widths.
class table_writer {
 public:
  explicit table_writer(const report::table_options& asked) : options_(asked) {}

  void open_frame(std::string_view title, std::string_view engine) {
    frames_.push_back({clean(title), clean(engine), {}});
  }

  /// Header, lines and total of a ledger.
  void add_ledger(const ledger& of, byte_unit unit) {
    unit_ = unit;
    row header;
    header.cells = {"item", name_of(unit), "share", "", "", "basis", options_.sources ? "note" : ""};
    header.is_header = true;
    header.style = "2";
    push(header);
    push_rule();
    const std::vector<ledger_row> rows = rows_of(of);
    if (rows.empty()) push_text("", "Nothing is in this ledger.", "");
    for (const ledger_row& line : rows) {
      if (line.depth() == 0 || options_.parts) push(line_row(line, of.expected));
    }
    push_rule();
    row total = figures("total", {"", of.low, of.expected, of.high, of.known, ""}, of.expected);
    total.style = "1";
    push(total);
  }

  /// What the GPU offers, what is left of it, and the verdict.
  void add_gpu(const ledger& need, const verdict& answer, const report::gpu_view& gpu) {
    push_rule(clean(gpu.name) + (options_.ascii ? ": " : " · ") + "shares of the usable memory");
    const bytes usable = gpu.available.expected;
    const bytes wanted = answer.needed + answer.reserved;
    const bytes widest = larger(usable, wanted);
    if (gpu.reported != bytes{}) {
      row reported = figures("reported by the driver",
                             {"", gpu.reported, gpu.reported, gpu.reported, basis::measured, ""}, bytes{});
      push(reported);
    }
    row offered = figures(
        "usable", {"", gpu.available.low, usable, gpu.available.high, gpu.available.known, ""}, usable);
    offered.cells[bar] = span(bytes{}, usable, widest, fill::light);
    push(offered);
    row needed = figures("needed", {"", need.low, need.expected, need.high, need.known, ""}, usable);
    needed.cells[bar] = span(bytes{}, answer.needed, widest, fill::full);
    push(needed);
    if (answer.reserved != bytes{}) {
      row asked = figures("headroom asked for",
                          {"", answer.reserved, answer.reserved, answer.reserved, basis::exact, ""}, usable);
      asked.cells[basis_column].clear();
      asked.cells[bar] = span(answer.needed, wanted, widest, fill::medium);
      push(asked);
    }
    const bytes rest = signed_bytes{answer.headroom_bytes}.magnitude();
    const bool is_left = answer.headroom_bytes >= 0;
    row left = figures(is_left ? "left" : "missing", {"", rest, rest, rest, basis::exact, ""}, usable);
    left.cells[basis_column].clear();
    left.cells[bar] =
        is_left ? span(wanted, usable, widest, fill::light) : span(usable, wanted, widest, fill::dark);
    left.style = is_left ? "1;32" : "1;31";
    push(left);
    push_rule();
    size_spec both;
    both.layout.precision = options_.precision;
    const std::string_view mark = options_.ascii ? "" : answer.fits ? "✓ " : "✗ ";
    push_text(mark, verdict_sentence(need, gpu, answer, both), answer.fits ? "1;32" : "1;31");
    add_not_counted(need, gpu);
  }

  /// Below a verdict: what it says nothing about.
  void add_not_counted(const ledger& need, const report::gpu_view& gpu) {
    const std::string text = not_counted_sentence(need, gpu);
    if (!text.empty()) push_text(options_.ascii ? "" : "  ", text, "33");
  }

  void push_text(std::string_view lead, std::string_view text, std::string_view style) {
    row line;
    line.what = row_kind::text;
    line.title = lead;
    line.cells[0] = clean(text);
    line.style = style;
    push(line);
  }

  /// The notes that the lines so far refer to.
  void add_sources() {
    if (sources_.empty()) return;
    push_rule("where the figures come from");
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      push_text(padded_left(note_mark(i), note_mark(sources_.size() - 1).size()) + ' ', sources_[i], "2");
    }
  }

  [[nodiscard]] std::string write() {
    lay_out();
    std::string out;
    for (const frame& f : frames_) {
      if (!out.empty()) out += '\n';
      write_border(out, f.title, f.engine, 0);
      for (const row& line : f.rows) {
        switch (line.what) {
          case row_kind::rule: write_border(out, line.title, "", 1); break;
          case row_kind::text: write_text(out, line); break;
          case row_kind::cells: write_cells(out, line); break;
        }
      }
      write_border(out, "", "", 2);
      out.pop_back();
      if (&f != &frames_.back()) out += '\n';
    }
    return out;
  }

 private:
  enum column : std::size_t { name, size, share, bar, range, basis_column, note, column_count };
  enum class fill : std::uint8_t { full, dark, medium, light };
  enum class row_kind : std::uint8_t { cells, text, rule };
  struct row {
    row_kind what = row_kind::cells;
    std::array<std::string, column_count> cells{};
    std::string low{};
    std::string high{};
    std::string title{};
    std::string style{};  ///< ANSI attributes of the whole row
    std::string bar_style{};
    bool is_header = false;
  };
  struct frame {
    std::string title;
    std::string engine;
    std::vector<row> rows;
  };

  [[nodiscard]] std::string clean(std::string_view text) const {
    std::string result = one_line(text);
    if (!options_.ascii) return result;
    std::string plain;
    for (const char c : result) {
      const auto byte = static_cast<unsigned char>(c);
      if ((byte & 0xC0u) != 0x80) plain += byte < 0x80 ? c : '?';
    }
    return plain;
  }
  [[nodiscard]] std::string_view ellipsis() const { return options_.ascii ? ".." : "…"; }
  [[nodiscard]] std::string_view dash() const { return options_.ascii ? " - " : " – "; }
  [[nodiscard]] static std::string note_mark(std::size_t index) {
    return '[' + std::to_string(index + 1) + ']';
  }

  void push(row line) { frames_.back().rows.push_back(std::move(line)); }
  void push_rule(std::string title = {}) {
    row rule;
    rule.what = row_kind::rule;
    rule.title = std::move(title);
    push(std::move(rule));
  }

  [[nodiscard]] std::string note_of(std::string_view source) {
    if (!options_.sources || source.empty()) return {};
    const std::string text = clean(source);
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (sources_[i] == text) return note_mark(i);
    }
    sources_.push_back(text);
    return note_mark(sources_.size() - 1);
  }

  /// Everything of a line but its bar; no share of nothing.
  [[nodiscard]] row figures(std::string label, const line_item& line, bytes whole) {
    row result;
    result.cells[name] = std::move(label);
    result.cells[size] = visible_number_in(line.expected, unit_, options_.precision);
    if (whole != bytes{}) result.cells[share] = percent_of(line.expected, whole);
    if (line.low != line.high) {
      result.low = visible_number_in(line.low, unit_, options_.precision);
      result.high = visible_number_in(line.high, unit_, options_.precision);
    }
    result.cells[basis_column] = name_of(line.known);
    result.cells[note] = note_of(line.source);
    return result;
  }

  [[nodiscard]] row line_row(const ledger_row& line, bytes total) {
    constexpr const char* colours[] = {"38;5;33",  "38;5;214", "38;5;36",  "38;5;175",
                                       "38;5;245", "38;5;80",  "38;5;166", "38;5;185"};
    std::string tree;
    for (std::size_t level = 0; level < line.depth(); ++level) {
      const bool last = line.last[level];
      const bool own = level + 1 == line.depth();
      if (options_.ascii) {
        tree += own ? (last ? "`- " : "|- ") : (last ? "   " : "|  ");
      } else {
        tree += own ? (last ? "└ " : "├ ") : (last ? "  " : "│ ");
      }
    }
    const std::string_view outside = is_orphan(line) ? " (not in the total)" : "";
    const std::size_t room = larger(options_.name_width, display_width(tree) + 8);
    std::string label = tree;
    label += shortened(clean(line.label), room - display_width(tree), ellipsis());
    row result = figures(label.append(outside), line.item, is_orphan(line) ? bytes{} : total);
    if (!is_orphan(line)) {
      result.cells[bar] =
          line.depth() == 0 ? block_bar(line.item.expected, total) : thin_bar(line.item.expected, total);
    }
    const std::string_view family =
        std::string_view(line.item.name).substr(0, std::string_view(line.item.name).find('.'));
    result.bar_style = colours[colour_of(family, line.family)];
    if (line.depth() != 0) result.style = "2";
    return result;
  }

  /// A bar of eighths of a column; something is never nothing.
  [[nodiscard]] std::string block_bar(bytes amount, bytes whole) const {
    constexpr const char* eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    if (options_.bar_width == 0) return {};
    if (options_.ascii) return repeated("#", whole_columns(amount, whole));
    std::uint64_t parts = proportion(amount.value, whole.value, options_.bar_width * 8);
    if (amount != bytes{}) parts = larger<std::uint64_t>(parts, 1);
    parts = smaller<std::uint64_t>(parts, options_.bar_width * 8);
    return repeated("█", parts / 8) + eighths[parts % 8];
  }
  /// A thinner bar in halves of a column, for parts.
  [[nodiscard]] std::string thin_bar(bytes amount, bytes whole) const {
    if (options_.bar_width == 0) return {};
    if (options_.ascii) return repeated("-", whole_columns(amount, whole));
    std::uint64_t halves = proportion(amount.value, whole.value, options_.bar_width * 2);
    if (amount != bytes{}) halves = larger<std::uint64_t>(halves, 1);
    halves = smaller<std::uint64_t>(halves, options_.bar_width * 2);
    return repeated("━", halves / 2) + (halves % 2 != 0 ? "╸" : "");
  }
  /// A bar from one amount to another on a scale that is `widest` long; something is at least one column.
  [[nodiscard]] std::string span(bytes from, bytes to, bytes widest, fill with) const {
    constexpr const char* unicode[] = {"█", "▓", "▒", "░"};
    constexpr const char* plain[] = {"#", "!", "=", "."};
    const std::uint64_t columns = options_.bar_width;
    if (!(from < to) || columns == 0) return {};
    const auto position = [&](bytes amount) {
      return (proportion(amount.value, widest.value, columns * 2) + 1) / 2;
    };
    const std::uint64_t first = smaller<std::uint64_t>(position(from), columns - 1);
    const std::uint64_t end = larger<std::uint64_t>(smaller<std::uint64_t>(position(to), columns), first + 1);
    std::string text(first, ' ');
    const auto kind = static_cast<std::size_t>(with);
    return text += repeated(options_.ascii ? plain[kind] : unicode[kind], end - first);
  }
  [[nodiscard]] std::uint64_t whole_columns(bytes amount, bytes whole) const {
    const std::uint64_t halves = proportion(amount.value, whole.value, options_.bar_width * 2);
    const std::uint64_t least = amount == bytes{} ? 0 : 1;
    return smaller<std::uint64_t>(larger<std::uint64_t>((halves + 1) / 2, least), options_.bar_width);
  }
  [[nodiscard]] static std::string repeated(std::string_view what, std::uint64_t times) {
    std::string text;
    for (std::uint64_t i = 0; i < times; ++i) text += what;
    return text;
  }

  /// Column widths over all frames; empty columns vanish.
  void lay_out() {
    std::size_t low_width = 0;
    std::size_t high_width = 0;
    for (const frame& f : frames_) {
      for (const row& line : f.rows) {
        low_width = larger(low_width, display_width(line.low));
        high_width = larger(high_width, display_width(line.high));
      }
    }
    widths_ = {};
    for (frame& f : frames_) {
      for (row& line : f.rows) {
        if (line.what != row_kind::cells) continue;
        if (line.is_header && high_width != 0) line.cells[range] = std::string("low").append(dash()) + "high";
        if (!line.high.empty()) {
          line.cells[range] = padded_left(line.low, low_width).append(dash());
          line.cells[range] += padded_left(line.high, high_width);
        }
        for (std::size_t i = 0; i < column_count; ++i) {
          widths_[i] = larger(widths_[i], display_width(line.cells[i]));
        }
      }
    }
    widths_[bar] = larger(widths_[bar], options_.bar_width);
    inner_ = 0;
    for (const std::size_t width : widths_) inner_ += width == 0 ? 0 : width + 2;
    inner_ -= inner_ == 0 ? 0 : 2;
    std::size_t wanted = 0;
    for (const frame& f : frames_) {
      const std::size_t engine = f.engine.empty() ? 0 : display_width(f.engine) + 4;
      wanted = larger(wanted, display_width(f.title) + engine + 4);
      for (const row& line : f.rows) {
        if (line.what == row_kind::rule) wanted = larger(wanted, display_width(line.title) + 4);
      }
    }
    wanted = smaller<std::size_t>(wanted, 110);
    if (inner_ < wanted) {
      widths_[options_.bar_width == 0 ? name : bar] += wanted - inner_;
      inner_ = wanted;
    }
  }

  [[nodiscard]] std::string painted(const std::string& text, std::string_view style) const {
    if (!options_.color || style.empty() || text.empty()) return text;
    return std::string("\x1b[").append(style).append("m").append(text).append("\x1b[0m");
  }
  [[nodiscard]] std::string_view side() const { return options_.ascii ? "|" : "│"; }

  /// Upper (0), middle (1) or lower (2) border, with text in it.
  void write_border(std::string& out, std::string_view title, std::string_view engine,
                    std::size_t where) const {
    constexpr const char* left[] = {"╭", "├", "╰"};
    constexpr const char* right[] = {"╮", "┤", "╯"};
    const std::string_view line = options_.ascii ? "-" : "─";
    const std::size_t width = inner_ + 2;
    const std::size_t engine_room = engine.empty() ? 0 : smaller(display_width(engine), width / 2) + 4;
    std::string text;
    std::size_t used = 0;
    out += painted(options_.ascii ? "+" : left[where], "2");
    if (!title.empty()) {
      text = shortened(title, width - engine_room - 4, ellipsis());
      out += painted(std::string(line), "2") + ' ' + painted(text, where == 0 ? "1" : "") + ' ';
      used = display_width(text) + 3;
    }
    std::string tail;
    if (!engine.empty()) tail = shortened(engine, engine_room - 4, ellipsis());
    const std::size_t tail_width = tail.empty() ? 0 : display_width(tail) + 3;
    out += painted(repeated(line, width - used - tail_width), "2");
    if (!tail.empty()) out += ' ' + tail + ' ' + painted(std::string(line), "2");
    out += painted(options_.ascii ? "+" : right[where], "2");
    out += '\n';
  }
  void write_text(std::string& out, const row& line) const {
    const std::size_t lead = display_width(line.title);
    bool first = true;
    for (const std::string& text : wrapped(line.cells[0], inner_ - lead)) {
      out += painted(std::string(side()), "2") + ' ';
      out += painted(padded_right((first ? line.title : std::string(lead, ' ')) + text, inner_), line.style);
      out += ' ' + painted(std::string(side()), "2") + '\n';
      first = false;
    }
  }
  void write_cells(std::string& out, const row& line) const {
    out += painted(std::string(side()), "2") + ' ';
    bool first = true;
    for (std::size_t i = 0; i < column_count; ++i) {
      if (widths_[i] == 0) continue;
      if (!first) out += "  ";
      first = false;
      const bool to_the_left = i == name || i == bar || i == basis_column;
      const std::string cell =
          to_the_left ? padded_right(line.cells[i], widths_[i]) : padded_left(line.cells[i], widths_[i]);
      out += painted(cell, i == bar && !line.bar_style.empty() ? line.bar_style : line.style);
    }
    out += ' ' + painted(std::string(side()), "2") + '\n';
  }

  const report::table_options& options_;
  byte_unit unit_ = byte_unit::GB;
  std::vector<frame> frames_{};
  std::vector<std::string> sources_{};
  std::array<std::size_t, column_count> widths_{};
  std::size_t inner_ = 0;
};

}  // namespace detail

namespace report {

/// The ledger of one GPU as a framed table for a terminal: one line per item with its parts below it, size,
/// share of the total, a bar, low and high where they differ, basis, and the note that names its source. With
/// `options.gpu` also what that GPU offers, what is left or missing, and the verdict in words. Every line has
/// the same width; the text does not end in a newline.
[[nodiscard]] inline std::string table(const memory_budget& budget, const table_options& options = {}) {
  detail::table_writer writer(options);
  const detail::ledger need = detail::ledger_of(budget);
  bytes largest = need.expected;
  if (options.gpu) largest = detail::larger(largest, options.gpu->available.expected);
  writer.open_frame(options.title.empty() ? "memory of one GPU" : options.title, options.engine);
  writer.add_ledger(need, detail::unit_for(options.unit, largest, options.precision));
  if (options.gpu) writer.add_gpu(need, detail::verdict_of(budget, *options.gpu), *options.gpu);
  writer.add_sources();
  return writer.write();
}

/// One table per kind of rank, worst first, and the sums over all ranks in a table of their own at the end.
[[nodiscard]] inline std::string table(const cluster_budget& cluster, const table_options& options = {}) {
  detail::table_writer writer(options);
  const detail::ledger sums = detail::ledger_of_all_ranks(cluster);
  const byte_unit unit = detail::unit_for(options.unit, sums.expected, options.precision);
  const std::string_view separator = options.ascii ? ": " : " · ";
  const auto titled = [&](std::string_view what) {
    std::string title = options.title;
    if (!title.empty()) title += separator;
    return title += what;
  };
  std::uint64_t fitting = 0;
  for (std::uint32_t i = 0; i < cluster.kind_count; ++i) {
    const rank_ledger& kind = cluster.kinds[i];
    const detail::ledger need = detail::ledger_of(kind.budget);
    std::string what = detail::ranks_text(kind);
    if (i == 0 && cluster.kind_count > 1) what += " (the worst)";
    writer.open_frame(titled(what), options.engine);
    writer.add_ledger(need, unit);
    if (!options.gpu) continue;
    const verdict answer = detail::verdict_of(kind.budget, *options.gpu);
    writer.add_gpu(need, answer, *options.gpu);
    if (answer.fits) fitting += kind.count;
  }
  const std::uint64_t ranks = cluster.ranks();
  writer.open_frame(titled("all " + detail::grouped(ranks) + (ranks == 1 ? " rank" : " ranks") + " together"),
                    options.engine);
  writer.add_ledger(sums, unit);
  if (options.gpu && ranks != 0) {
    const std::string text = fitting == ranks ? "Every rank fits its GPU."
                                              : detail::grouped(ranks - fitting) + " of " +
                                                    detail::grouped(ranks) + " ranks do not fit their GPU.";
    writer.push_text(options.ascii      ? ""
                     : fitting == ranks ? "✓ "
                                        : "✗ ",
                     text, fitting == ranks ? "1;32" : "1;31");
    writer.add_not_counted(sums, *options.gpu);
  }
  writer.add_sources();
  return writer.write();
}

}  // namespace report

}  // namespace kvbudget::inline v0
