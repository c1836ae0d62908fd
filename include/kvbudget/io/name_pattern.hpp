#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/io/json_reader.hpp"

namespace kvbudget::inline v0::detail {

/// A pattern that names modules or tensors: a regular expression in the subset that such lists use, or a
/// shell wildcard.
///
/// Known: literals, `.`, `[…]`, `\d \w \s` and their opposites, `(…)`, `(?:…)`, `|`, `* + ? {m,n}` (lazy ones
/// too: only whether there is a match counts), `^`, `$`, `(?=…)`, `(?!…)`. Anything else stops with its name.
/// All alternatives are followed at once, so time is bounded by steps × text and nothing recurses on the
/// text; a pattern has at most `most_steps` steps and a comparison visits at most `most_visits` of them.
class name_pattern {
 public:
  static constexpr std::size_t most_steps = 2048;
  static constexpr std::size_t most_visits = std::size_t{1} << 22;

  /// A regular expression; matches from the start of a name, like Python's `re.match`.
  [[nodiscard]] static name_pattern regex(std::string_view text, const json_field& place) {
    name_pattern result(text, place);
    result.steps_ = parser{text, place, 0, 0, false}.whole();
    result.steps_.push_back({op::accept, 0, 0, {}});
    result.find_start();
    result.look_into(text);
    return result;
  }

  /// What shortened lists write where the entries that they stand for differ in a number.
  static constexpr std::string_view any_number = "{n}";

  /// A wildcard like Python's `fnmatch`: `*`, `?`, `[…]`, also `{n}`; matches whole names.
  [[nodiscard]] static name_pattern wildcard(std::string_view text, const json_field& place) {
    name_pattern result(text, place);
    std::string expression;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::size_t close = text[i] == '[' ? text.find(']', std::min(i + 2, text.size())) : text.npos;
      if (close != text.npos) {
        const bool negative = text[i + 1] == '!';
        expression += negative ? "[^" : "[";
        for (i += negative ? 2 : 1; i < close; ++i) {
          if (text[i] == '\\' || text[i] == '^') expression += '\\';
          expression += text[i];
        }
        expression += ']';
      } else if (text[i] == '*') {
        if (i == 0 || text[i - 1] != '*') expression += ".*";
      } else if (text[i] == '?') {
        expression += '.';
      } else if (text.substr(i, any_number.size()) == any_number) {
        expression += "[0-9]+";
        i += any_number.size() - 1;
      } else {
        add_literally(expression, text[i]);
      }
    }
    result.steps_ = parser{expression, place, 0, 0, false}.whole();
    result.steps_.push_back({op::at_end, 1, 0, {}});
    result.steps_.push_back({op::accept, 0, 0, {}});
    result.find_start();
    result.look_into(expression);
    return result;
  }

  /// Appends a character as a regular expression that matches just it.
  static void add_literally(std::string& expression, char c) {
    if (std::string_view("\\.^$|()[]{}*+?").find(c) != std::string_view::npos) expression += '\\';
    expression += c;
  }

  [[nodiscard]] std::size_t size() const { return steps_.size(); }
  /// Whether what stands before "layers" in a name makes no difference: it begins with `.*` and does not
  /// speak of it.
  [[nodiscard]] bool ignores_beginnings() const { return ignores_beginnings_; }

  /// Whether some beginning of `name` matches. A comparison that takes too many steps stops.
  [[nodiscard]] bool matches(std::string_view name) const {
    if (name.substr(0, start_.size()) != start_ || name.find(needle_) == name.npos) return false;
    std::size_t visits = 0;
    return run(0, name, 0, visits);
  }

 private:
  enum class op : std::uint8_t { one_of, split, jump, at_start, at_end, look_ahead, look_ahead_not, accept };
  /// One step; `next` and `other` are offsets from it. In `one_of`, `other` is a lone character + 1.
  struct step {
    op kind = op::accept;
    std::int32_t next = 1;
    std::int32_t other = 0;
    std::bitset<256> set{};
  };
  using steps = std::vector<step>;

  name_pattern(std::string_view text, const json_field& place)
      : text_(printable(text, 60)), source_(place.source()), path_(place.path()) {}

  /// Recursive descent over the expression; groups nest at most `most_depth` deep.
  struct parser {
    static constexpr int most_depth = 16;
    std::string_view text;
    const json_field& place;
    std::size_t at;
    int depth;
    bool looking;

    [[noreturn]] void refuse(const std::string& what) const {
      place.refuse("regular expression \"" + printable(text, 60) + "\" " + what);
    }
    [[noreturn]] void refuse_unknown(std::string_view what) const {
      refuse("uses \"" + std::string(what) + "\", which is not supported in patterns of names");
    }
    [[nodiscard]] bool more() const { return at < text.size(); }
    [[nodiscard]] bool take(char c) {
      if (!more() || text[at] != c) return false;
      ++at;
      return true;
    }

    [[nodiscard]] steps whole() {
      steps result = alternatives();
      if (more()) refuse("closes a group that is not open");
      return result;
    }

    [[nodiscard]] steps alternatives() {
      std::vector<steps> all;
      std::size_t size = 0;
      do {
        all.push_back(sequence());
        size += all.back().size() + 2;
        if (size > most_steps + 2) refuse_long();
      } while (take('|'));
      if (all.size() == 1) return std::move(all.front());
      steps result;
      for (const steps& each : all) {
        if (&each != &all.back()) result.push_back({op::split, 1, offset(each.size() + 2), {}});
        append(result, each);
        if (&each != &all.back()) result.push_back({op::jump, offset(size - 2 - result.size()), 0, {}});
      }
      return result;
    }

    [[nodiscard]] steps sequence() {
      steps result;
      while (more() && text[at] != '|' && text[at] != ')') append(result, repeated(atom()));
      return result;
    }

    [[nodiscard]] steps atom() {
      const char c = text[at++];
      switch (c) {
        case '(': return group();
        case '[': return one_of(bracket());
        case '\\': return escaped();
        case '^': return {{op::at_start, 1, 0, {}}};
        case '$': return {{op::at_end, 1, 0, {}}};
        case '.': return one_of(~std::bitset<256>{}.set('\n'));
        case '*':
        case '+':
        case '?': refuse("repeats nothing");
        default: return lone(c);
      }
    }

    [[nodiscard]] steps group() {
      if (++depth > most_depth) refuse("nests deeper than " + std::to_string(most_depth) + " groups");
      bool look = false;
      bool negative = false;
      if (take('?')) {
        if (!more()) refuse("ends in an open group");
        const char c = text[at++];
        if (c != ':' && c != '=' && c != '!') refuse_unknown(std::string("(?") + printable_one(c));
        look = c != ':';
        negative = c == '!';
      }
      if (look && looking) refuse_unknown("(?= inside (?=");
      const bool outer = looking;
      looking = looking || look;
      steps inner = alternatives();
      looking = outer;
      if (!take(')')) refuse("ends in an open group");
      --depth;
      if (!look) return inner;
      steps result;
      result.push_back({negative ? op::look_ahead_not : op::look_ahead, offset(inner.size() + 2), 1, {}});
      append(result, inner);
      result.push_back({op::accept, 0, 0, {}});
      return result;
    }

    [[nodiscard]] steps repeated(steps once) {
      while (more()) {
        std::uint32_t least = 0;
        std::uint32_t most = 0;  // 0 = without end
        if (take('*')) {
        } else if (take('+')) {
          least = 1;
        } else if (take('?')) {
          most = 1;
        } else if (is_count()) {
          counts(least, most);
        } else {
          break;
        }
        if (take('+')) refuse_unknown("possessive repetition");
        (void)take('?');  // lazy: the same names match
        once = copies(once, least, most);
      }
      return once;
    }

    /// `{3}`, `{3,}`, `{,3}`, `{3,5}`; other braces are literal.
    [[nodiscard]] bool is_count() const {
      if (text[at] != '{') return false;
      const std::size_t close = text.find('}', at);
      if (close == text.npos || close == at + 1) return false;
      const std::string_view inside = text.substr(at + 1, close - at - 1);
      return inside != "," && inside.find_first_not_of("0123456789,") == inside.npos &&
             std::count(inside.begin(), inside.end(), ',') <= 1;
    }
    void counts(std::uint32_t& least, std::uint32_t& most) {
      ++at;
      const bool has_least = text[at] != ',';
      least = has_least ? number() : 0;
      if (!take(',')) {
        most = least;
        if (least == 0) refuse("repeats something zero times");
      } else if (text[at] != '}') {
        most = number();
        if (most == 0 || most < least) refuse("repeats something zero times");
      }
      ++at;  // the closing brace
    }
    [[nodiscard]] std::uint32_t number() {
      std::uint32_t value = 0;
      while (more() && text[at] >= '0' && text[at] <= '9') {
        value = value * 10 + static_cast<std::uint32_t>(text[at++] - '0');
        if (value > 255) refuse("repeats something more than 255 times");
      }
      return value;
    }

    [[nodiscard]] steps copies(const steps& once, std::uint32_t least, std::uint32_t most) const {
      steps result;
      for (std::uint32_t i = 0; i < least; ++i) append(result, once);
      if (most == 0) {
        result.push_back({op::split, 1, offset(once.size() + 2), {}});
        append(result, once);
        result.push_back({op::jump, -offset(once.size() + 1), 0, {}});
      }
      for (std::uint32_t i = least; i < most; ++i) {
        result.push_back({op::split, 1, offset(once.size() + 1), {}});
        append(result, once);
      }
      if (result.size() > most_steps) refuse_long();
      return result;
    }

    [[nodiscard]] std::bitset<256> escape() {
      if (!more()) refuse("ends in a backslash");
      const char c = text[at++];
      std::bitset<256> set;
      switch (c) {
        case 'd':
        case 'D': add_range(set, '0', '9'); break;
        case 'w':
        case 'W':
          add_range(set, '0', '9');
          add_range(set, 'a', 'z');
          add_range(set, 'A', 'Z');
          set.set('_');
          break;
        case 's':
        case 'S':
          for (const char space : {' ', '\t', '\n', '\r', '\f', '\v'}) set |= just(space);
          break;
        default:
          if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
            refuse_unknown(std::string("\\") + c);
          return just(c);
      }
      return c >= 'a' ? set : ~set;
    }

    /// What is inside `[…]`, after the opening bracket.
    [[nodiscard]] std::bitset<256> bracket() {
      std::bitset<256> set;
      const bool negative = take('^');
      for (bool first = true; first || !more() || text[at] != ']'; first = false) {
        if (!more()) refuse("ends in an open [");
        const char low = text[at++];
        if (low == '\\') {
          set |= escape();
        } else if (at + 1 < text.size() && text[at] == '-' && text[at + 1] != ']') {
          const char high = text[at + 1];
          at += 2;
          if (high == '\\' || static_cast<unsigned char>(high) < static_cast<unsigned char>(low))
            refuse("has a range that ends before it starts");
          add_range(set, low, high);
        } else {
          set |= just(low);
        }
      }
      ++at;
      return negative ? ~set : set;
    }

    [[nodiscard]] steps escaped() {
      const char c = more() ? text[at] : '\0';
      const std::bitset<256> set = escape();
      return set == just(c) ? lone(c) : one_of(set);
    }
    [[nodiscard]] static steps lone(char c) {
      return {{op::one_of, 1, static_cast<unsigned char>(c) + 1, just(c)}};
    }
    static std::bitset<256> just(char c) { return std::bitset<256>{}.set(static_cast<unsigned char>(c)); }
    static void add_range(std::bitset<256>& set, char low, char high) {
      for (unsigned c = static_cast<unsigned char>(low); c <= static_cast<unsigned char>(high); ++c)
        set.set(c);
    }
    [[nodiscard]] static steps one_of(const std::bitset<256>& set) { return {{op::one_of, 1, 0, set}}; }
    [[nodiscard]] static std::string printable_one(char c) { return printable(std::string_view(&c, 1)); }
    [[nodiscard]] static std::int32_t offset(std::size_t distance) {
      return static_cast<std::int32_t>(distance);
    }
    [[noreturn]] void refuse_long() const {
      refuse("takes more than " + std::to_string(most_steps) + " steps");
    }
    void append(steps& to, const steps& from) const {
      if (to.size() + from.size() > most_steps) refuse_long();
      to.insert(to.end(), from.begin(), from.end());
    }
  };

  /// The characters that every match starts with: most names are told apart by them.
  void find_start() {
    for (std::size_t at = steps_[0].kind == op::at_start ? 1 : 0; steps_[at].kind == op::one_of; ++at) {
      if (steps_[at].other == 0) return;
      start_ += static_cast<char>(steps_[at].other - 1);
    }
  }

  /// What can be told from the whole expression (`text_` is cut for messages).
  void look_into(std::string_view expression) {
    ignores_beginnings_ = expression.starts_with(".*") && expression.find("model") == expression.npos;
    find_needle(expression);
  }

  /// The longest text that every match holds: whatever stands literally outside of groups, sets and
  /// repetitions, unless there are alternatives to it.
  void find_needle(std::string_view expression) {
    std::string run;
    const auto end_run = [&] {
      if (run.size() > needle_.size()) needle_ = run;
      run.clear();
    };
    int depth = 0;
    for (std::size_t at = 0; at < expression.size(); ++at) {
      char c = expression[at];
      if (c == '[') {
        end_run();
        at = std::min(expression.find(']', std::min(at + 2, expression.size())), expression.size());
        continue;
      }
      if (c == '{') {  // a count, or literal braces: neither is looked into
        end_run();
        at = std::min(expression.find('}', at), expression.size());
        continue;
      }
      if (c == '(' || c == ')') {
        end_run();
        depth += c == '(' ? 1 : -1;
        continue;
      }
      if (c == '|' && depth == 0) {
        needle_.clear();
        return;
      }
      bool literal = depth == 0 && std::string_view(".*+?^$|{}").find(c) == std::string_view::npos;
      if (c == '\\' && at + 1 < expression.size()) {
        c = expression[++at];
        literal = depth == 0 && !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z');
      }
      const char next = at + 1 < expression.size() ? expression[at + 1] : '\0';
      if (!literal || next == '*' || next == '?' || next == '{') {
        end_run();
        continue;
      }
      run += c;
      if (next == '+') end_run();
    }
    end_run();
  }

  [[noreturn]] void refuse_slow() const {
    refuse_input(source_ + (path_.empty() ? "" : ": " + path_) + ": pattern \"" + text_ +
                 "\" takes more than " + std::to_string(most_visits) + " steps to compare with one name");
  }

  /// Whether the steps from `first` accept some beginning of what follows `from`.
  [[nodiscard]] bool run(std::size_t first, std::string_view name, std::size_t from,
                         std::size_t& visits) const {
    std::vector<std::size_t> now;
    std::vector<std::size_t> open{first};
    std::vector<std::size_t> seen(steps_.size(), std::numeric_limits<std::size_t>::max());
    for (std::size_t at = from;; ++at) {
      now.clear();
      while (!open.empty()) {
        const std::size_t here = open.back();
        open.pop_back();
        if (seen[here] == at) continue;
        seen[here] = at;
        if (++visits > most_visits) refuse_slow();
        const step& s = steps_[here];
        switch (s.kind) {
          case op::accept: return true;
          case op::one_of: now.push_back(here); break;
          case op::jump: open.push_back(moved(here, s.next)); break;
          case op::split:
            open.push_back(moved(here, s.other));
            open.push_back(moved(here, s.next));
            break;
          case op::at_start:
            if (at == 0) open.push_back(moved(here, s.next));
            break;
          case op::at_end:
            if (at == name.size()) open.push_back(moved(here, s.next));
            break;
          case op::look_ahead:
          case op::look_ahead_not:
            if (run(moved(here, s.other), name, at, visits) == (s.kind == op::look_ahead))
              open.push_back(moved(here, s.next));
            break;
        }
      }
      if (at >= name.size() || now.empty()) return false;
      for (const std::size_t here : now) {
        if (steps_[here].set.test(static_cast<unsigned char>(name[at]))) open.push_back(here + 1);
      }
    }
  }
  [[nodiscard]] static std::size_t moved(std::size_t here, std::int32_t by) {
    return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(here) + by);
  }

  std::string text_;  ///< for messages, as are the next two
  std::string source_;
  std::string path_;
  std::string start_;   ///< every match begins so
  std::string needle_;  ///< every match holds this
  bool ignores_beginnings_ = false;
  steps steps_;
};

}  // namespace kvbudget::inline v0::detail
