// The cases of Transformers as static_asserts. tests/runtime/transformers.cpp runs the same lines.
#include "support/transformers.hpp"
#include "support/cases.hpp"

namespace generation {
namespace {
#define CASE(...) static_assert(__VA_ARGS__)
#include "cases/transformers.inc"

template <engines::transformers> inline constexpr bool usable_as_argument = true;
static_assert(usable_as_argument<engines::transformers{.num_beams = 2}>);
}  // namespace
}  // namespace generation
