// llama.cpp's cases as static_asserts. tests/runtime/llama_cpp.cpp runs the same lines.
#include "support/llama_cpp.hpp"

namespace llama_cpp_cases {
namespace {
#define CASE(...) static_assert(__VA_ARGS__)
#include "cases/llama_cpp.inc"

template <engines::llama_cpp> inline constexpr bool usable_as_argument = true;
static_assert(usable_as_argument<engines::llama_cpp{.n_ctx = 4096, .tensor_split = {3, 1}}>);
}  // namespace
}  // namespace llama_cpp_cases
