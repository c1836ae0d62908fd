// A size never goes below zero.
// expect: subtraction_goes_below_zero
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
constexpr bytes rest = 1_GB - 1_GiB;
#else
constexpr bytes rest = 1_GiB - 1_GB;
#endif
