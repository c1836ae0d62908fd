// The cases of TensorRT-LLM as static_asserts. tests/runtime/tensorrt_llm.cpp runs the same lines.
#include "support/tensorrt_llm.hpp"

namespace trtllm {
namespace {
template <engine> struct as_argument {};
static_assert(sizeof(as_argument<engine{}>) != 0);  // options can be a template argument

#define CASE(...) static_assert(__VA_ARGS__)
#include "cases/tensorrt_llm.inc"
}  // namespace
}  // namespace trtllm
