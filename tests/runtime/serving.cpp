// The serving engines' cases at run time. tests/static/serving.cpp compiles the same lines.
#include "support/serving.hpp"
#include "support/catch.hpp"

namespace serving {
#define CASE(...) CHECK((__VA_ARGS__))

TEST_CASE("what vLLM reserves") {
#include "cases/vllm.inc"
}

}  // namespace serving
