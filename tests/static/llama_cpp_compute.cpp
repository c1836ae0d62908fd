// The worked cases of llama.cpp's compute buffers as static_asserts. tests/runtime/llama_cpp_compute.cpp runs
// the same lines.
#include "support/llama_cpp_compute.hpp"

namespace samples::llama_cpp_graphs {
namespace {
#define CASE(...) static_assert(__VA_ARGS__)
#include "cases/llama_cpp_compute.inc"
}  // namespace
}  // namespace samples::llama_cpp_graphs
