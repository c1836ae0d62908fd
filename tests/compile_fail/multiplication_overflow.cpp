// Multiplication beyond 64 bits stops at a function that says so.
// expect: multiplication_overflows_64_bits
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
constexpr bytes product = bytes{1ULL << 63} * 4;
#else
constexpr bytes product = bytes{1ULL << 61} * 4;
#endif
