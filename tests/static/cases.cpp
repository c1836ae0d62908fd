// The shared cases as static_asserts: that this compiles is the test. tests/runtime/cases.cpp runs the same
// lines.
#include "support/cases.hpp"

namespace samples {
namespace {
#define CASE(...) static_assert(__VA_ARGS__)
#include "cases/article.inc"
#include "cases/formats.inc"
#include "cases/memory.inc"
#include "cases/parallel.inc"
#include "cases/plan.inc"
#include "cases/units.inc"
#include "cases/weights.inc"
}  // namespace
}  // namespace samples
