// A literal that does not fit in 64 bits stops.
// expect: multiplication_overflows_64_bits
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
constexpr bytes huge = 99999999999999_GiB;
#else
constexpr bytes huge = 9999999_GiB;
#endif
