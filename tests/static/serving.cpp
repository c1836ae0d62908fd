// The serving engines' cases as static_asserts. tests/runtime/serving.cpp runs the same lines.
#include "support/serving.hpp"

namespace serving {
namespace {
#define CASE(...) static_assert(__VA_ARGS__)
#include "cases/vllm.inc"
}  // namespace
}  // namespace serving
