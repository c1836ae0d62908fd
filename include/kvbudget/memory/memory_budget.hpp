#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/text.hpp"
#include "kvbudget/detail/unset.hpp"
#include "kvbudget/units/basis.hpp"
#include "kvbudget/units/quantity.hpp"

namespace kvbudget::inline v0 {

/// One line of a ledger. A name with a dot (`weights.experts`) is a part of the line before the dot; totals
/// sum the lines without one. Lows and highs are worst-case bounds that add up, not confidence limits.
struct line_item {
  const char* name;  ///< must outlive the budget: a literal
  bytes low;
  bytes expected;
  bytes high;
  basis known;
  bool is_part;
  const char* source;  ///< where the figure comes from; a literal

  line_item() = default;
  constexpr line_item(const char* item, bytes lowest, bytes likely, bytes highest, basis how,
                      const char* from, bool part)
      : name(item), low(lowest), expected(likely), high(highest), known(how), is_part(part), source(from) {}
  constexpr line_item(const char* item, bytes lowest, bytes likely, bytes highest, basis how,
                      const char* from)
      : line_item(item, lowest, likely, highest, how, from, has_dot(item)) {}
  constexpr line_item(const char* item, bytes exactly, const char* from)
      : line_item(item, exactly, exactly, exactly, basis::exact, from) {}

  /// A part that is known exactly.
  static constexpr line_item part(const char* item, bytes exactly, const char* from) {
    return {item, exactly, exactly, exactly, basis::exact, from, true};
  }

 private:
  static constexpr bool has_dot(const char* text) {
    while (*text != '\0' && *text != '.') ++text;
    return *text == '.';
  }
};

/// Lines that a budget has room for.
inline constexpr std::size_t max_line_items = 40;

namespace detail {
[[noreturn]] inline void a_budget_holds_too_many_line_items() {
  raise("a budget holds at most # line items", max_line_items);
}
[[noreturn]] inline void low_expected_and_high_must_be_in_order() {
  raise("a line item needs low <= expected <= high");
}
}  // namespace detail

/// The ledger of one rank: weights, KV cache, activations, framework, margin, and whatever the user adds,
/// each with its parts. What is not known is not in the list.
struct memory_budget {
  line_item lines[max_line_items];  ///< of which `count` are there
  std::uint32_t count = 0;

  constexpr memory_budget() { detail::clear_in_constant_evaluation(lines); }

  /// Appends a line; a name without a dot counts towards the total.
  [[gnu::always_inline]] constexpr void add(const line_item& line) {
    if (count == max_line_items) detail::a_budget_holds_too_many_line_items();
    if (line.expected < line.low || line.high < line.expected)
      detail::low_expected_and_high_must_be_in_order();
    lines[count++] = line;
  }
  [[nodiscard]] constexpr const line_item* begin() const { return lines; }
  [[nodiscard]] constexpr const line_item* end() const { return lines + count; }

  /// The line of that name, or null.
  [[nodiscard]] constexpr const line_item* find(const char* name) const {
    for (const line_item& line : *this) {
      if (detail::same_text(line.name, name)) return &line;
    }
    return nullptr;
  }
  /// Expected bytes of the line of that name; 0 where there is no such line.
  [[nodiscard]] constexpr bytes operator[](const char* name) const {
    for (const line_item& line : *this) {
      if (detail::same_text(line.name, name)) return line.expected;
    }
    return bytes{};
  }
  /// Expected bytes of the top-level lines; 0 where there is none.
  [[nodiscard]] constexpr bytes weights() const { return (*this)["weights"]; }
  [[nodiscard]] constexpr bytes kv_cache() const { return (*this)["kv_cache"]; }
  [[nodiscard]] constexpr bytes activations() const { return (*this)["activations"]; }
  [[nodiscard]] constexpr bytes framework() const { return (*this)["framework"]; }
  [[nodiscard]] constexpr bytes margin() const { return (*this)["margin"]; }

  /// Sums of the top-level lines: expected, lowest, highest.
  [[nodiscard]] constexpr bytes total() const { return sum(&line_item::expected); }
  [[nodiscard]] constexpr bytes total_low() const { return sum(&line_item::low); }
  [[nodiscard]] constexpr bytes total_high() const { return sum(&line_item::high); }

 private:
  constexpr bytes sum(bytes line_item::*figure) const {
    std::uint64_t result = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!lines[i].is_part) result = detail::checked_add(result, (lines[i].*figure).value);
    }
    return bytes{result};
  }
};

}  // namespace kvbudget::inline v0
