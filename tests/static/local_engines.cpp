// Cases of llama.cpp's front ends and fork as static_asserts. tests/runtime/local_engines.cpp runs the same
// lines.
#include "support/local_engine_cases.hpp"

namespace local_engine_cases {
namespace {
#define CASE(...) static_assert(__VA_ARGS__)
#include "cases/local_engines.inc"

template <auto> inline constexpr bool usable_as_argument = true;
static_assert(usable_as_argument<engines::ollama{.num_ctx = 4096}>);
static_assert(usable_as_argument<engines::lm_studio{.context_length = 4096}>);
static_assert(usable_as_argument<engines::ik_llama_cpp{.n_ctx = 4096, .mla = 2}>);
}  // namespace
}  // namespace local_engine_cases
