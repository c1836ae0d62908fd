// Addition beyond 64 bits stops at a function that says so.
// expect: addition_overflows_64_bits
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
constexpr bytes sum = bytes{UINT64_MAX} + 1_B;
#else
constexpr bytes sum = bytes{UINT64_MAX - 1} + 1_B;
#endif
