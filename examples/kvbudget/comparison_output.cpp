#include "comparison_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvbudget/report/text.hpp"

namespace cli {

using namespace kvbudget;

namespace {

/// As many decimals as the log has.
std::string figure_text(const compared_figure& of, double value, size_scale scale, bool with_sign = false) {
  double unit = 1;
  int decimals = 0;
  const char* name = "";
  switch (of.unit) {
    case figure_unit::size:
      unit = scale == size_scale::gibibytes ? 1073741824.0 : 1048576.0;
      decimals = 2;
      if (of.rounding > 0) {
        decimals = std::clamp(static_cast<int>(std::lround(std::log10(0.5 * unit / of.rounding))), 2, 6);
      }
      name = scale == size_scale::gibibytes ? " GiB" : " MiB";
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
    case figure_unit::block_count:
    case figure_unit::layer_count:
    case figure_unit::sequence_count: break;
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

/// Whole where the figure is a count or a size.
nlohmann::ordered_json number_json(const compared_figure& of, double value) {
  const bool whole = of.unit != figure_unit::size_per_token && of.unit != figure_unit::request_count;
  if (whole && std::abs(value) < 9e15) return static_cast<std::int64_t>(std::llround(value));
  return value;
}

}  // namespace

void print_figures(const comparison& found, const char* where, size_scale scale) {
  std::vector<std::vector<std::string>> rows = {{"", where, "printed", "predicted", "difference", "", ""}};
  for (std::size_t i = 0; i < found.figures.size(); ++i) {
    const compared_figure& each = found.figures[i];
    const bool again = i != 0 && detail::same_text(found.figures[i - 1].name, each.name);
    rows.push_back({again ? "" : each.what, detail::one_line(each.rank),
                    figure_text(each, each.printed, scale), figure_text(each, each.predicted, scale),
                    figure_text(each, each.difference(), scale, true), share_text(each),
                    name_of(each.verdict())});
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

nlohmann::ordered_json figures_json(const comparison& found, const char* where) {
  using nlohmann::ordered_json;
  ordered_json figures = ordered_json::array();
  for (const compared_figure& each : found.figures) {
    const std::optional<double> share = each.share();
    figures.push_back({{"name", each.name},
                       {"unit", name_of(each.unit)},
                       {where, each.rank.empty() ? ordered_json(nullptr) : ordered_json(each.rank)},
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
  return figures;
}

}  // namespace cli
