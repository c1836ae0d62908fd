#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kvbudget/io/engine_log/numbers.hpp"

/// Lines of a log, and who wrote them.
namespace kvbudget::inline v0::detail {

inline constexpr std::size_t most_log_line_bytes = std::size_t{64} * 1024;

/// A line without colours (escape sequences), cut after 64 KiB. `room` holds the copy that a coloured line
/// needs.
[[nodiscard]] inline std::string_view without_colours(std::string_view line, std::string& room) {
  if (line.find('\x1b') == std::string_view::npos) return line;
  room.clear();
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      room.push_back(line[i]);
      continue;
    }
    if (i + 1 >= line.size()) break;
    ++i;
    if (line[i] == '[') {  // up to the final byte
      for (++i; i < line.size() && (line[i] < '@' || line[i] > '~'); ++i) {
      }
    } else if (line[i] == ']') {  // a title or link, up to BEL or the next escape
      for (++i; i < line.size() && line[i] != '\a' && line[i] != '\x1b'; ++i) {
      }
    }
  }
  return room;
}

/// Goes through the lines of a log. A carriage return alone (progress bars) ends a piece of a line, not the
/// line that is counted.
class log_lines {
 public:
  explicit log_lines(std::string_view text) : rest_(text) {}

  /// The next piece, or false at the end.
  [[nodiscard]] bool next() {
    if (rest_.empty()) return false;
    if (ended_) ++number_;
    const std::size_t end = rest_.find_first_of("\r\n");
    std::string_view piece = rest_.substr(0, end);
    ended_ = end != std::string_view::npos && rest_[end] == '\n';
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (!ended_ && !rest_.empty() && rest_.front() == '\n') {  // \r\n
      ended_ = true;
      rest_.remove_prefix(1);
    }
    cut_ = piece.size() > most_log_line_bytes;
    piece_ = without_colours(piece.substr(0, most_log_line_bytes), room_);
    return true;
  }

  [[nodiscard]] std::string_view text() const { return piece_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] bool cut() const { return cut_; }
  /// The same place again, to look ahead from.
  [[nodiscard]] log_lines ahead() const {
    log_lines copy(rest_);
    copy.ended_ = false;
    return copy;
  }

 private:
  std::string_view rest_;
  std::string_view piece_{};
  std::string room_{};
  std::uint32_t number_ = 1;
  bool ended_ = false;
  bool cut_ = false;
};

[[nodiscard]] constexpr std::string_view without_leading_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

/// Whether a line begins a message of its own: level, time stamp or process in front. Others continue the
/// message before, which was wrapped.
[[nodiscard]] inline bool begins_a_message(std::string_view line) {
  line = without_leading_blanks(line);
  const std::string_view head = line.substr(0, 120);
  for (const std::string_view mark :
       {"pid=", " | ", "INFO", "WARNING", "ERROR", "DEBUG", "[TRT-LLM", "[TensorRT-LLM", "[RANK", "[rank",
        "Traceback", "<stdout>", "<stderr>"}) {
    if (head.find(mark) != std::string_view::npos) return true;
  }
  if (line.size() > 1 && line.front() == '[') {
    const char c = line[1];
    if (is_log_digit(c) || line.substr(1, 2) == "TP" || line.substr(1, 2) == "DP" ||
        line.substr(1, 2) == "PP")
      return true;
  }
  std::size_t digits = 0;  // 2026-…, 05:19:38, 12/20/2025
  while (digits < line.size() && digits < 4 && is_log_digit(line[digits])) ++digits;
  return digits > 0 && digits < line.size() &&
         (line[digits] == '-' || line[digits] == ':' || line[digits] == '/');
}

/// Who wrote a line, from its prefixes.
struct log_writer {
  std::optional<std::uint32_t> data_parallel{};
  std::optional<std::uint32_t> pipeline{};
  std::optional<std::uint32_t> tensor{};
  std::optional<std::uint32_t> expert{};
  std::optional<std::uint32_t> context{};
  std::optional<std::uint32_t> rank{};
  std::optional<std::uint32_t> pid{};  ///< only of a worker that says nothing else
  bool engine = false;

  [[nodiscard]] std::string name() const {
    std::string result = engine ? "engine" : "";
    const auto add = [&](const char* word, const std::optional<std::uint32_t>& number) {
      if (!number) return;
      if (!result.empty()) result += ' ';
      result += word + std::to_string(*number);
    };
    add("DP", data_parallel);
    add("PP", pipeline);
    add("TP", tensor);
    add("CP", context);
    add("EP", expert);
    add("rank ", rank);
    add("pid ", pid);
    return result;
  }
};

/// The number that `text` is, in at most 9 digits.
[[nodiscard]] constexpr std::optional<std::uint32_t> small_number(std::string_view text) {
  if (text.empty() || text.size() > 9) return std::nullopt;
  std::uint32_t number = 0;
  for (const char c : text) {
    if (!is_log_digit(c)) return std::nullopt;
    number = number * 10 + static_cast<std::uint32_t>(c - '0');
  }
  return number;
}

/// Reads one word of a prefix: `TP0`, `rank=3`, `EngineCore`, …
inline void read_writer_word(std::string_view word, std::string_view before, log_writer& writer) {
  const auto numbered = [&](std::string_view start, std::optional<std::uint32_t>& to) {
    if (word.substr(0, start.size()) != start) return false;
    const auto number = small_number(word.substr(start.size()));
    if (number) to = number;
    return number.has_value();
  };
  if (numbered("TP", writer.tensor) || numbered("PP", writer.pipeline) ||
      numbered("DP", writer.data_parallel) || numbered("EP", writer.expert) ||
      numbered("DCP", writer.context) || numbered("CP", writer.context) || numbered("rank=", writer.rank) ||
      numbered("RANK", writer.rank) || numbered("rank", writer.rank) || numbered("gpu=", writer.rank) ||
      numbered("gpu_id=", writer.rank)) {
    return;
  }
  if (before == "RANK" || before == "rank" || before == "Rank") {
    if (const auto number = small_number(word)) writer.rank = number;
  }
  if (word == "EngineCore" || word == "APIServer" || word == "ApiServer" || word == "LLMEngine")
    writer.engine = true;
  if (before == "EngineCore") {  // EngineCore_0, before the letters were added
    if (const auto number = small_number(word)) writer.data_parallel = number;
  }
}

/// Who wrote what comes behind `prefix`: vLLM's `(Worker_TP0 pid=1)`, SGLang's `[… DP1 TP3]` and `[gpu=3]`,
/// TensorRT-LLM's
/// `[RANK 0]`, torchrun's `[rank0]:`, mpirun's `[1,3]<stdout>:`. Later prefixes win.
[[nodiscard]] inline log_writer writer_of(std::string_view prefix) {
  log_writer writer;
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    const char open = prefix[i];
    if (open != '(' && open != '[') continue;
    const std::size_t close = prefix.find(open == '(' ? ')' : ']', i);
    if (close == std::string_view::npos) continue;
    std::string_view inside = prefix.substr(i + 1, close - i - 1);
    if (inside.size() > 160 || inside.find_first_of("([") != std::string_view::npos) continue;
    const std::size_t pid = inside.find("pid=");
    if (open == '(' && pid == std::string_view::npos) continue;
    if (open == '(') writer = log_writer{};
    if (open == '[' && prefix.substr(close + 1, 4) == "<std") {
      const std::size_t comma = inside.find(',');
      if (comma != std::string_view::npos) writer.rank = small_number(inside.substr(comma + 1));
      continue;
    }
    std::string_view before;
    for (std::string_view words = inside; !words.empty();) {
      const std::size_t end = words.find_first_of(" _,");
      const std::string_view word = words.substr(0, end);
      if (word.substr(0, 4) == "pid=") {
        writer.pid = small_number(word.substr(4));
      } else {
        read_writer_word(word, before, writer);
      }
      before = word;
      words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
    }
    i = close;
  }
  const std::size_t bracket = prefix.rfind(']');  // `[TRT-LLM] [I] rank0 …`
  if (bracket != std::string_view::npos) {
    const std::string_view word = without_leading_blanks(prefix.substr(bracket + 1));
    if (word.substr(0, 4) == "rank" || word.substr(0, 4) == "Rank") {
      const std::string_view number = without_leading_blanks(word.substr(4));
      std::size_t digits = 0;
      while (digits < number.size() && is_log_digit(number[digits])) ++digits;
      if (const auto rank = small_number(number.substr(0, digits))) writer.rank = rank;
    }
  }
  if (writer.engine || writer.tensor || writer.pipeline || writer.data_parallel || writer.expert ||
      writer.rank) {
    writer.pid.reset();
  }
  return writer;
}

}  // namespace kvbudget::inline v0::detail
