#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "kvbudget/detail/raise.hpp"

#if !defined(__cpp_exceptions)
#include <cstdio>
#include <cstdlib>
#endif

namespace kvbudget::inline v0 {

/// What every reader of files throws: one line that names the file, the field or place in it, and what was
/// expected there.
class input_error : public error {
 public:
  explicit input_error(std::string line) : error("refused input"), line_(std::move(line)) {}
  [[nodiscard]] const char* what() const noexcept override { return line_.c_str(); }

 private:
  std::string line_;
};

namespace detail {

/// Text from outside, fit for one line of an error message: control characters become `?`, what is longer
/// than `most` bytes is cut and ends in `...`.
[[nodiscard]] inline std::string printable(std::string_view text, std::size_t most = 200) {
  std::string line;
  const bool cut = text.size() > most;
  if (cut) {
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;  // whole characters
    text = text.substr(0, most);
  }
  line.reserve(text.size() + 3);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    line.push_back(byte < 0x20 || byte == 0x7F ? '?' : c);
  }
  if (cut) line += "...";
  return line;
}

/// Throws `input_error{line}`; without exceptions prints the line and aborts.
[[noreturn]] inline void refuse_input(std::string line) {
#if defined(__cpp_exceptions)
  throw input_error(std::move(line));
#else
  std::fprintf(stderr, "kvbudget: %s\n", line.c_str());
  std::abort();
#endif
}

/// Calls `build()`; a rule of the library that it breaks (an `error` without a place) is reported at `place`.
template <class Build> auto naming_the_file(const std::string& place, Build&& build) {
#if defined(__cpp_exceptions)
  try {
    return build();
  } catch (const input_error&) {
    throw;
  } catch (const error& rule) {
    refuse_input(place + ": " + rule.what());
  }
#else
  return build();
#endif
}

}  // namespace detail
}  // namespace kvbudget::inline v0
