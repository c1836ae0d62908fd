// The cases of vLLM's profile run at run time. tests/static/vllm_profile.cpp
// compiles the same lines.
#include "support/vllm_profile.hpp"
#include "support/catch.hpp"

namespace profiled {
#define CASE(...) CHECK((__VA_ARGS__))

TEST_CASE("what vLLM takes beside weights and cache") {
#include "cases/vllm_profile.inc"
}

}  // namespace profiled
