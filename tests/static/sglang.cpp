// SGLang's cases as static_asserts. tests/runtime/sglang.cpp runs the same lines.
#include "support/sglang.hpp"

namespace sglang_cases {
namespace {
#define CASE(...) static_assert(__VA_ARGS__)
#include "cases/sglang.inc"
}  // namespace
}  // namespace sglang_cases
