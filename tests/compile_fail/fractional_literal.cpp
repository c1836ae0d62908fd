// A fractional literal does not compile: 1.5_GiB would hide its rounding.
// expect-gcc: unable to find numeric literal operator
// expect-clang: no matching literal operator
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
constexpr bytes size = 1.5_GiB;
#else
constexpr bytes size = 1536_MiB;
#endif
