// The golden cases of the catalogue as static_asserts. tests/runtime/golden.cpp runs the same lines.
#include "support/golden.hpp"

namespace golden {
namespace {
#define CASE(...) static_assert(__VA_ARGS__)
#include "cases/golden.inc"
}  // namespace
}  // namespace golden
