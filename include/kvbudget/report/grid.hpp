#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/report/markdown.hpp"
#include "kvbudget/report/text.hpp"

namespace kvbudget::inline v0::report {

/// A small table: the first row is the header, the first column names the rows, the others are figures.
struct grid {
  std::vector<std::vector<std::string>> rows;
};

/// The grid in columns, names to the left and figures to the right; no newline at the end.
[[nodiscard]] inline std::string aligned(const grid& of) {
  std::vector<std::size_t> widths;
  for (const auto& row : of.rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], detail::display_width(row[i]));
  }
  std::string out;
  for (const auto& row : of.rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line +=
          i == 0 ? detail::padded_right(row[i], widths[i]) : "  " + detail::padded_left(row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out.append(out.empty() ? "" : "\n").append(line);
  }
  return out;
}

/// The grid as a Markdown table; no newline at the end.
[[nodiscard]] inline std::string markdown(const grid& of) {
  std::string out;
  for (const auto& row : of.rows) {
    if (!out.empty()) out += '\n';
    out += '|';
    for (const std::string& cell : row) out.append(" ").append(detail::markdown_text(cell)).append(" |");
    if (&row != &of.rows.front()) continue;
    out += "\n|:--|";
    for (std::size_t i = 1; i < row.size(); ++i) out += "--:|";
  }
  return out;
}

}  // namespace kvbudget::inline v0::report
