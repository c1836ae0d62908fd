// Built with -fno-exceptions: a broken rule prints its line on stderr and aborts.
#if defined(__cpp_exceptions)
#error "this program is about a build without exceptions"
#endif

#include <csignal>
#include <cstdint>
#include <cstdlib>

#if __has_include("kvbudget/kvbudget.hpp")
#include "kvbudget/kvbudget.hpp"
#endif
#include "kvbudget/units/quantity.hpp"

extern "C" void aborted(int) { std::_Exit(0); }

int main(int argc, char**) {
  std::signal(SIGABRT, aborted);
  const kvbudget::bytes most{UINT64_MAX};
  const kvbudget::bytes sum = most + kvbudget::bytes{argc};
  return sum.value == 0 ? 1 : 2;  // never reached
}
