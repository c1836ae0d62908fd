// A window holds at least one token.
// expect: a window must be at least one token
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
using attention = sliding_window<gqa<32, 8, 128>, 0>;
static_assert(attention::kept().window == 0);
#else
using attention = sliding_window<gqa<32, 8, 128>, 4096>;
static_assert(attention::kept().window == 4096);
#endif
