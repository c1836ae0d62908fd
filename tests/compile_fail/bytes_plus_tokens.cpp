// Bytes and tokens do not mix.
// expect-gcc: no match for 'operator.'
// expect-clang: invalid operands to binary expression
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
constexpr auto sum = 4_GiB + 4_tokens;
#else
constexpr auto sum = 4_GiB + 4_MiB;
#endif
