// A negative count stops.
// expect: a_count_cannot_be_negative
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
constexpr bytes size{-80};
#else
constexpr bytes size{80};
#endif
