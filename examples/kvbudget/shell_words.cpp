#include "shell_words.hpp"

#include <cstddef>
#include <utility>

#include "command_error.hpp"

namespace cli {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool all_digits(std::string_view text) {
  for (const char c : text) {
    if (!is_digit(c)) return false;
  }
  return !text.empty();
}

class splitter {
 public:
  explicit splitter(std::string_view text) : text_(text) {}

  std::vector<shell_words> run() {
    while (at_ < text_.size()) step();
    end_command();
    return std::move(commands_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 1) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void add(char c) {
    word_ += c;
    in_word_ = true;
  }
  void end_word() {
    if (!in_word_) return;
    if (!std::exchange(redirected_, false)) words_.push_back(word_);
    word_.clear();
    in_word_ = quoted_ = false;
  }
  void end_command() {
    end_word();
    redirected_ = false;
    if (!words_.empty()) commands_.push_back(std::exchange(words_, {}));
  }
  [[noreturn]] static void refuse_open(char quote) {
    refuse("the pasted command has an open quote: {} is not closed", quote);
  }

  void step() {
    const char c = text_[at_];
    switch (c) {
      case '\\': return backslash();
      case '\'': return single_quotes();
      case '"': return double_quotes();
      case '`': return keep_until('`');
      case '$': return dollar();
      case '\n': return newline();
      case '&':
        if (peek() == '>') return redirection();
        [[fallthrough]];
      case ';':
      case '|':
      case '(':
      case ')': end_command(); break;
      case '<':
      case '>': return redirection();
      case '#':
        if (in_word_) {
          add(c);
        } else {
          while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n') ++at_;
        }
        break;
      default:
        if (is_blank(c)) {
          end_word();
        } else {
          add(c);
        }
    }
    ++at_;
  }

  void backslash() {
    const bool dos = peek() == '\r' && peek(2) == '\n';
    if (dos || peek() == '\n') {
      at_ += dos ? 3 : 2;
      return;
    }
    if (at_ + 1 < text_.size()) {
      quoted_ = true;
      add(peek());
    }
    at_ += 2;
  }
  void single_quotes() {
    const std::size_t end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) refuse_open('\'');
    word_.append(text_.substr(at_ + 1, end - at_ - 1));
    in_word_ = quoted_ = true;
    at_ = end + 1;
  }
  void double_quotes() {
    in_word_ = quoted_ = true;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && peek() == '\n') {
        ++at_;
        continue;
      }
      const bool escapes =
          text_[at_] == '\\' && std::string_view("$`\"\\").find(peek()) != std::string_view::npos;
      if (escapes && at_ + 1 < text_.size()) ++at_;
      word_ += text_[at_];
    }
    if (at_ >= text_.size()) refuse_open('"');
    ++at_;
  }
  void keep_until(char close) {
    std::size_t end = text_.find(close, at_ + 1);
    if (end == std::string_view::npos) refuse_open(close);
    word_.append(text_.substr(at_, end + 1 - at_));
    in_word_ = quoted_ = true;
    at_ = end + 1;
  }
  void dollar() {
    const char open = peek();
    if (open != '(' && open != '{') {
      add('$');
      ++at_;
      return;
    }
    const char close = open == '(' ? ')' : '}';
    std::size_t depth = 0;
    const std::size_t start = at_;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == open) ++depth;
      if (text_[at_] == close && --depth == 0) break;
    }
    if (at_ >= text_.size()) refuse_open(open);
    ++at_;
    word_.append(text_.substr(start, at_ - start));
    in_word_ = true;
  }
  void newline() {
    std::size_t next = at_ + 1;
    while (next < text_.size() && (is_blank(text_[next]) || text_[next] == '\n')) ++next;
    if (next < text_.size() && text_[next] == '-') {
      end_word();
    } else {
      end_command();
    }
    ++at_;
  }
  void redirection() {
    if (in_word_ && !quoted_ && all_digits(word_)) {  // a file descriptor
      word_.clear();
      in_word_ = false;
    }
    end_word();
    while (at_ < text_.size() && std::string_view("<>&|").find(text_[at_]) != std::string_view::npos) ++at_;
    redirected_ = true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string word_;
  bool in_word_ = false;
  bool quoted_ = false;      ///< of the word, some part was
  bool redirected_ = false;  ///< the next word is a file
  shell_words words_;
  std::vector<shell_words> commands_;
};

bool ends_command(std::string_view word) {
  for (const std::string_view each : {"&", "&&", "|", "||", "|&", ";"}) {
    if (word == each) return true;
  }
  return false;
}

/// How many words from here are a redirection: 0, 1 (`2>&1`, `>log`) or 2 (`> log`).
std::size_t redirection_words(std::string_view word) {
  if (word == "<" || word == "<<" || word == "<<<") return 2;
  std::size_t at = word.starts_with('&') ? 1 : 0;
  if (!word.starts_with('&')) {
    while (at < word.size() && is_digit(word[at])) ++at;
  }
  if (at >= word.size() || word[at] != '>') return 0;
  while (at < word.size() && (word[at] == '>' || word[at] == '&' || word[at] == '|')) ++at;
  return at == word.size() ? 2 : 1;
}

}  // namespace

std::vector<shell_words> split_shell(std::string_view text) { return splitter(text).run(); }

std::vector<shell_words> split_commands(const shell_words& words) {
  std::vector<shell_words> commands(1);
  for (std::size_t i = 0; i < words.size();) {
    const std::size_t skipped = redirection_words(words[i]);
    if (skipped != 0) {
      i += skipped;
    } else if (ends_command(words[i])) {
      commands.emplace_back();
      ++i;
    } else {
      commands.back().push_back(words[i++]);
    }
  }
  std::erase_if(commands, [](const shell_words& command) { return command.empty(); });
  return commands;
}

}  // namespace cli
