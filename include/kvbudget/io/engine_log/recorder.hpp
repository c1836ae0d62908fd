#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "kvbudget/io/engine_log/figures.hpp"
#include "kvbudget/io/engine_log/lines.hpp"
#include "kvbudget/io/engine_log/numbers.hpp"
#include "kvbudget/io/engine_log/settings.hpp"
#include "kvbudget/io/input_error.hpp"

/// What the readers of the engines share: rules that say which text stands beside which figure, and where the
/// figures go.
namespace kvbudget::inline v0 {

inline constexpr std::size_t max_log_ranks = 4096;
inline constexpr std::uint64_t max_log_bytes = std::uint64_t{256} * 1024 * 1024;

namespace detail {

inline constexpr std::size_t most_log_notes = 100;
inline constexpr std::size_t most_log_pools = 64;
inline constexpr std::size_t most_log_starts = 4096;  // processes told apart within one start

/// Which of several figures of one rank is kept.
enum class keep : unsigned char { last, first, least, sum };

enum class side : unsigned char { behind, before };

/// One figure of a line.
struct figure_rule {
  std::string_view context;  ///< what the line must hold; rules with the same context stand together
  std::string_view label;    ///< text beside the number, at or behind the context; empty: the context
  figure_member member;
  keep kept = keep::last;
  side number = side::behind;
  std::string_view unless{};  ///< text that makes the line another one
};

/// Blanks, brackets and words between a label and its number.
[[nodiscard]] constexpr std::size_t skip_to_number(std::string_view text, std::size_t at) {
  const auto skip_marks = [&] {
    while (at < text.size() && std::string_view(" \t:=(~'\"`").find(text[at]) != std::string_view::npos) ++at;
  };
  skip_marks();
  for (const std::string_view word : {"takes ", "takes\t", "take ", "take\t", "is ", "of "}) {
    if (text.substr(at, word.size()) == word) {
      at += word.size();
      skip_marks();
      break;
    }
  }
  return at;
}

/// Where the number before `end`, with its unit if it has one, begins.
[[nodiscard]] constexpr std::size_t number_before(std::string_view text, std::size_t end) {
  const auto back_over_blanks = [&] {
    while (end > 0 && text[end - 1] == ' ') --end;
  };
  back_over_blanks();
  while (end > 0 && is_log_letter(text[end - 1])) --end;
  back_over_blanks();
  while (end > 0 && (is_log_digit(text[end - 1]) || text[end - 1] == '.' || text[end - 1] == ',')) --end;
  while (end < text.size() && (text[end] == '.' || text[end] == ',')) ++end;
  if (end > 0 && text[end - 1] == '-') --end;
  return end;
}

class log_recorder {
 public:
  log_recorder(engine_log& log, unsigned least_decimals) : log_(log), least_decimals_(least_decimals) {}

  [[nodiscard]] bool knows_something() const { return known_; }
  [[nodiscard]] std::size_t figures() const { return figures_; }
  void found_something() { known_ = true; }

  void note(std::uint32_t line, const std::string& text) {
    if (log_.notes.size() < most_log_notes)
      log_.notes.push_back("line " + std::to_string(line) + ": " + text);
  }

  /// A sign that the engine starts. It begins a new start of its own if figures were printed before, or, for
  /// a sign that each process gives once, if this process gave it before.
  void start(std::uint32_t line, std::string_view process, bool once_per_process) {
    known_ = true;
    const std::string key(process);
    const bool again = once_per_process ? started_.count(key) != 0 : !log_.ranks.empty();
    if (again) {
      ++log_.starts;
      log_.first_line = line;
      log_.ranks.clear();
      index_.clear();
      log_.version.clear();
      log_.notes.clear();
    }
    if (again || !once_per_process) {
      log_.settings.clear();
      started_.clear();
    }
    if (once_per_process && started_.size() < most_log_starts) started_.insert(key);
  }

  void setting(std::string_view key, std::string_view value) {
    known_ = true;
    keep_setting(log_.settings, key, value);
  }
  void settings(std::string_view text) {
    known_ = true;
    read_settings(text, log_.settings);
  }

  [[nodiscard]] rank_figures& rank_of(const log_writer& writer) {
    std::string name = writer.name();
    const auto known = index_.find(name);
    if (known != index_.end()) return log_.ranks[known->second];
    if (log_.ranks.size() >= max_log_ranks) {
      refuse_input("more than " + std::to_string(max_log_ranks) +
                   " ranks, expected the log of one deployment");
    }
    rank_figures rank;
    rank.name = name;
    rank.data_parallel = writer.data_parallel;
    rank.pipeline = writer.pipeline;
    rank.tensor = writer.tensor;
    rank.expert = writer.expert;
    rank.rank = writer.rank;
    log_.ranks.push_back(std::move(rank));
    index_.emplace(std::move(name), log_.ranks.size() - 1);
    return log_.ranks.back();
  }

  /// The size at `at`, or nothing where there is none. One that does not fit is noted.
  [[nodiscard]] std::optional<printed_amount> amount_at(std::string_view text, std::size_t at,
                                                        std::uint32_t line) {
    const number_text number = read_number(text, at);
    if (!number.found) return std::nullopt;
    std::size_t unit = number.end;
    while (unit < text.size() && unit < number.end + 3 && text[unit] == ' ') ++unit;
    std::size_t end = unit;
    while (end < text.size() && end < unit + 6 && is_log_letter(text[end])) ++end;
    const auto shift = unit_shift(text.substr(unit, end - unit));
    if (!shift) return skipped(text, at, line, "a size with its unit");
    const auto amount = amount_of(number, *shift, least_decimals_, line);
    if (!amount) return skipped(text, at, line, "a size that fits in 62 bits");
    return amount;
  }
  [[nodiscard]] std::optional<printed_count> count_at(std::string_view text, std::size_t at,
                                                      std::uint32_t line) {
    const number_text number = read_number(text, at);
    if (!number.found) return std::nullopt;
    if (number.end < text.size() && (is_log_letter(text[number.end]) || text[number.end] == '_') &&
        number.readable) {
      return std::nullopt;  // part of a word
    }
    const auto count = count_of(number, line);
    if (!count) return skipped(text, at, line, "a whole number below 2^63");
    return count;
  }
  [[nodiscard]] std::optional<printed_decimal> decimal_at(std::string_view text, std::size_t at,
                                                          std::uint32_t line) {
    const number_text number = read_number(text, at);
    if (!number.found) return std::nullopt;
    const auto decimal = decimal_of(number, line);
    if (!decimal) return skipped(text, at, line, "a decimal number");
    return decimal;
  }

  /// Puts a figure where it belongs, beside what was there.
  void record(const log_writer& writer, std::optional<printed_amount> rank_figures::*member,
              const std::optional<printed_amount>& figure, keep kept = keep::last) {
    if (!figure) return;
    auto& place = counted(writer).*member;
    if (place && kept == keep::sum) {
      const std::int64_t room = place->bytes < 0 ? INT64_MIN - place->bytes : INT64_MAX - place->bytes;
      const bool fits = place->bytes < 0 ? figure->bytes >= room : figure->bytes <= room;
      if (!fits || place->rounding_bytes > UINT64_MAX - figure->rounding_bytes) return;
      place->bytes += figure->bytes;
      place->rounding_bytes += figure->rounding_bytes;
      return;
    }
    if (place && (kept == keep::first || (kept == keep::least && place->bytes <= figure->bytes))) return;
    place = figure;
  }
  void record(const log_writer& writer, std::optional<printed_count> rank_figures::*member,
              const std::optional<printed_count>& figure, keep kept = keep::last) {
    if (!figure) return;
    auto& place = counted(writer).*member;
    if (place && (kept == keep::first || (kept == keep::least && place->value <= figure->value))) return;
    place = figure;
  }
  void record(const log_writer& writer, std::optional<printed_decimal> rank_figures::*member,
              const std::optional<printed_decimal>& figure, keep kept = keep::last) {
    if (!figure) return;
    auto& place = counted(writer).*member;
    if (place && kept == keep::first) return;
    // `least` is for two decimals of the same line shape: one scale.
    if (place && kept == keep::least && place->scale == figure->scale && place->digits <= figure->digits)
      return;
    place = figure;
  }

  /// A figure of weights: the second one of a rank is another model's, which drafts.
  void record_weights(const log_writer& writer, const std::optional<printed_amount>& figure) {
    if (!figure) return;
    const bool second = counted(writer).weights.has_value();
    if (second) note(figure->line, "a second figure of weights is taken for a draft model's");
    record(writer, second ? &rank_figures::draft_weights : &rank_figures::weights, figure);
  }

  void record_pool(const log_writer& writer, printed_pool pool) {
    std::vector<printed_pool>& pools = counted(writer).pools;
    if (pools.size() < most_log_pools) pools.push_back(std::move(pool));
  }

  /// Applies one rule to a text that holds its context at `context`.
  void apply(const figure_rule& rule, std::string_view text, std::size_t context, const log_writer& writer,
             std::uint32_t line) {
    if (!rule.unless.empty() && text.find(rule.unless) != std::string_view::npos) return;
    std::size_t at = rule.label.empty() ? context : text.find(rule.label, context);
    if (at == std::string_view::npos) return;
    if (rule.number == side::before) {
      at = number_before(text, at);
    } else {
      at = skip_to_number(text, at + (rule.label.empty() ? rule.context.size() : rule.label.size()));
    }
    const figure_member& member = rule.member;
    if (member.amount != nullptr) record(writer, member.amount, amount_at(text, at, line), rule.kept);
    if (member.count != nullptr) record(writer, member.count, count_at(text, at, line), rule.kept);
    if (member.decimal != nullptr) record(writer, member.decimal, decimal_at(text, at, line), rule.kept);
  }

  /// Ranks in the order of their numbers, then of their names; those that say nothing come first.
  void sort_ranks() {
    const auto key = [](const rank_figures& rank) {
      return std::tie(rank.data_parallel, rank.pipeline, rank.tensor, rank.expert, rank.rank, rank.name);
    };
    std::sort(log_.ranks.begin(), log_.ranks.end(),
              [&](const rank_figures& a, const rank_figures& b) { return key(a) < key(b); });
  }

  [[nodiscard]] engine_log& log() { return log_; }

 private:
  rank_figures& counted(const log_writer& writer) {
    known_ = true;
    ++figures_;
    return rank_of(writer);
  }
  std::nullopt_t skipped(std::string_view text, std::size_t at, std::uint32_t line, const char* expected) {
    note(line, "\"" + printable(text.substr(at), 40) + "\" is skipped, expected " + expected);
    return std::nullopt;
  }

  engine_log& log_;
  unsigned least_decimals_;
  std::map<std::string, std::size_t> index_{};
  std::set<std::string> started_{};
  std::size_t figures_ = 0;
  bool known_ = false;
};

/// A line, and the lines that continue it, joined by blanks.
struct log_message {
  std::string_view line;
  std::string_view whole;
  std::uint32_t number = 0;

  /// Who wrote what stands at `at`: the prefixes at the head of the line, or, behind a progress bar, those
  /// right before it.
  [[nodiscard]] log_writer writer_at(std::size_t at) const {
    log_writer writer = writer_of(whole.substr(0, std::min<std::size_t>(at, 400)));
    if (at > 400 && writer.name().empty()) writer = writer_of(whole.substr(at - 400, 400));
    return writer;
  }
};

inline void note_cut_lines(engine_log& log, std::uint32_t first, std::uint32_t count) {
  if (count == 0) return;
  log.notes.push_back("line " + std::to_string(first) + ": is longer than " +
                      std::to_string(most_log_line_bytes) + " bytes and was cut" +
                      (count > 1 ? ", as were " + std::to_string(count - 1) + " others" : ""));
}
inline void note_earlier_starts(engine_log& log) {
  if (log.starts <= 1) return;
  log.notes.insert(log.notes.begin(), std::to_string(log.starts) +
                                          " starts in this log: figures are those of the last, from line " +
                                          std::to_string(log.first_line) + " on");
}

/// Goes through a log with the dialect of one engine: `rules` is its table; `read` does what a table cannot
/// say, for lines that hold one of the `special_contexts`.
template <class Dialect>
void read_log_lines(std::string_view text, Dialect& dialect, log_recorder& recorder) {
  const auto first_context = [&](std::string_view line) {
    for (const std::string_view context : Dialect::special_contexts) {
      if (line.find(context) != std::string_view::npos) return true;
    }
    std::string_view previous;
    for (const figure_rule& rule : Dialect::rules) {
      if (rule.context == previous) continue;
      previous = rule.context;
      if (line.find(rule.context) != std::string_view::npos) return true;
    }
    return false;
  };
  log_lines lines(text);
  std::string joined;
  std::uint32_t cut_lines = 0;
  std::uint32_t first_cut = 0;
  while (lines.next()) {
    if (lines.cut() && cut_lines++ == 0) first_cut = lines.number();
    const std::string_view line = lines.text();
    if (line.size() < 8 || !first_context(line)) continue;
    log_message message{line, line, lines.number()};
    log_lines ahead = lines.ahead();
    for (int joins = 0; joins < 8 && ahead.next(); ++joins) {
      const std::string_view more = without_leading_blanks(ahead.text());
      if (more.empty() || begins_a_message(more) || first_context(more)) break;
      if (joins == 0) joined.assign(line);
      if (joined.size() + more.size() > 2 * most_log_line_bytes) break;
      joined += ' ';
      joined += more;
      message.whole = joined;
    }
    message.line = message.whole.substr(0, line.size());
    std::string_view previous;
    std::size_t at = std::string_view::npos;
    for (const std::string_view context : Dialect::special_contexts) {
      at = message.line.find(context);
      if (at != std::string_view::npos) dialect.read(context, message, at, recorder);
    }
    log_writer writer;
    for (const figure_rule& rule : Dialect::rules) {
      if (rule.context != previous) {
        previous = rule.context;
        at = message.line.find(rule.context);
        if (at != std::string_view::npos) writer = message.writer_at(at);
      }
      if (at != std::string_view::npos) recorder.apply(rule, message.whole, at, writer, message.number);
    }
  }
  engine_log& log = recorder.log();
  note_cut_lines(log, first_cut, cut_lines);
  note_earlier_starts(log);
  if (log.ranks.empty() && recorder.knows_something()) {
    log.notes.push_back("no figure was printed by the start that begins at line " +
                        std::to_string(log.first_line));
  }
  recorder.sort_ranks();
}

/// The word at `at`: up to a blank, comma, quote or bracket.
[[nodiscard]] inline std::string word_at(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == ':')) ++at;
  const std::size_t end = text.find_first_of(" \t,)('\"\\`", at);
  return printable(at < text.size() ? text.substr(at, end - at) : std::string_view(), 100);
}

/// Takes the model's name from the first of `keys` that is set.
template <std::size_t Count> void name_model(engine_log& log, const std::string_view (&keys)[Count]) {
  for (const std::string_view key : keys) {
    const auto known = log.settings.find(std::string(key));
    if (log.model.empty() && known != log.settings.end() && known->second != "None")
      log.model = known->second;
  }
}

}  // namespace detail
}  // namespace kvbudget::inline v0
