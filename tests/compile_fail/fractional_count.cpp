// A fraction of a byte does not compile.
// expect-gcc: use of deleted function
// expect-clang: deleted (function|constructor)
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
constexpr bytes size{1.5};
#else
constexpr bytes size{2};
#endif
