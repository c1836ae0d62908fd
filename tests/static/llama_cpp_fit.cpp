// What fits into llama.cpp's GPUs, as static_asserts. tests/runtime/llama_cpp_fit.cpp runs the same lines.
#include "support/llama_cpp_fit.hpp"

namespace llama_cpp_fit_cases {
namespace {
#define CASE(...) static_assert(__VA_ARGS__)
#include "cases/llama_cpp_fit.inc"
}  // namespace
}  // namespace llama_cpp_fit_cases
