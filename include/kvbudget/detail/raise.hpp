#pragma once

#include <cstdint>
#include <new>  // the cheapest standard header that declares std::exception

#if !defined(__cpp_exceptions)
#include <cstdio>
#include <cstdlib>
#endif

namespace kvbudget::inline v0 {

/// What every refused input throws: one line that names the rule that was broken and the numbers that broke
/// it.
///
/// In constant evaluation nothing is thrown: the compile stops at the call of the non-constexpr function that
/// carries the rule in its name. With `-fno-exceptions` the line is printed on stderr and the program aborts.
class error : public std::exception {
 public:
  explicit error(const char* rule, std::uint64_t first = 0, std::uint64_t second = 0) noexcept {
    char* out = text_;
    const std::uint64_t numbers[2] = {first, second};
    int next = 0;
    for (const char* in = rule; *in != '\0' && out < text_ + sizeof(text_) - 24; ++in) {
      if (*in == '#' && next < 2) {
        out = append(out, numbers[next++]);
      } else {
        *out++ = *in;
      }
    }
    *out = '\0';
  }
  [[nodiscard]] const char* what() const noexcept override { return text_; }

 private:
  static char* append(char* out, std::uint64_t number) noexcept {
    char digits[20];
    int count = 0;
    do {
      digits[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (count > 0) *out++ = digits[--count];
    return out;
  }
  char text_[256];
};

namespace detail {

/// Throws `error{rule}`; each `#` in `rule` is replaced by the next of the two numbers. Not constexpr on
/// purpose.
[[noreturn]] inline void raise(const char* rule, std::uint64_t first = 0, std::uint64_t second = 0) {
#if defined(__cpp_exceptions)
  throw error(rule, first, second);
#else
  std::fprintf(stderr, "kvbudget: %s\n", error(rule, first, second).what());
  std::abort();
#endif
}

}  // namespace detail
}  // namespace kvbudget::inline v0
