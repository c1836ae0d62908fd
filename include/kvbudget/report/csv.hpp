#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kvbudget/memory/memory_budget.hpp"
#include "kvbudget/plan/estimate.hpp"
#include "kvbudget/report/ledger.hpp"

namespace kvbudget::inline v0 {

namespace detail {

/// A field as RFC 4180 wants it: in quotes, inner quotes doubled, where a comma, a quote or a line end is in
/// it or a blank is at its ends.
[[nodiscard]] inline std::string csv_field(std::string_view text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos && !text.starts_with(' ') &&
                     !text.ends_with(' ');
  if (plain) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted += '"';
}

/// One row per line of the ledger, parts below their parent, each after `start`.
inline void add_csv_rows(std::string& out, const memory_budget& budget, std::string_view start) {
  for (const ledger_row& row : rows_of(ledger_of(budget))) {
    out.append("\n").append(start).append(csv_field(row.item.name)).append(",");
    out.append(csv_field(row.parent)).append(",").append(std::to_string(row.item.expected.value)).append(",");
    out.append(std::to_string(row.item.low.value)).append(",");
    out.append(std::to_string(row.item.high.value)).append(",");
    out.append(name_of(row.item.known)).append(",").append(csv_field(row.item.source));
  }
}

}  // namespace detail

namespace report {

/// The ledger as CSV: `item,part_of,bytes,low,high,basis,source`, one row per line, whole bytes. Rows whose
/// `item` has no dot add up to the total; the others are parts of the row that `part_of` names. There is no
/// row for the total and no newline at the end.
[[nodiscard]] inline std::string csv(const memory_budget& budget) {
  std::string out = "item,part_of,bytes,low,high,basis,source";
  detail::add_csv_rows(out, budget, "");
  return out;
}

/// The same for every kind of rank, worst first, with `rank_kind,ranks,stage,data_replica` in front: a number
/// from 0, how many ranks are of this kind, and where the first of them is. The bytes are those of one rank.
[[nodiscard]] inline std::string csv(const cluster_budget& cluster) {
  std::string out = "rank_kind,ranks,stage,data_replica,item,part_of,bytes,low,high,basis,source";
  for (std::uint32_t i = 0; i < cluster.kind_count; ++i) {
    const rank_ledger& kind = cluster.kinds[i];
    std::string start = std::to_string(i) + ',' + std::to_string(kind.count) + ',';
    start += std::to_string(kind.where.stage) + ',' + std::to_string(kind.where.data_replica) + ',';
    detail::add_csv_rows(out, kind.budget, start);
  }
  return out;
}

}  // namespace report

}  // namespace kvbudget::inline v0
