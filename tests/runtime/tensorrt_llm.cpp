// The cases of TensorRT-LLM at run time. tests/static/tensorrt_llm.cpp compiles the same lines.
#include "support/tensorrt_llm.hpp"
#include "support/catch.hpp"

namespace trtllm {
#define CASE(...) CHECK((__VA_ARGS__))

TEST_CASE("TensorRT-LLM as logged and measured") {
#include "cases/tensorrt_llm.inc"
}

}  // namespace trtllm
