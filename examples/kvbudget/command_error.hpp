#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace cli {

/// What ends a command early: one line for stderr, exit status 2.
class command_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws `command_error` with the formatted line.
template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> line, Arguments&&... arguments) {
  throw command_error(fmt::format(line, std::forward<Arguments>(arguments)...));
}

/// Runs `read`; whatever it throws names the option in front.
template <class Read> auto for_option(const char* option, Read&& read) {
  try {
    return read();
  } catch (const std::exception& problem) {
    throw command_error(std::string(option) + ": " + problem.what());
  }
}

inline constexpr int exit_fits = 0;
inline constexpr int exit_does_not_fit = 1;  ///< only with --require-fit
inline constexpr int exit_bad_input = 2;

}  // namespace cli
