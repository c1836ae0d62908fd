// The cases of vLLM's profile run at run time. tests/static/vllm_profile.cpp
// compiles the same lines.
#include "support/vllm_profile.hpp"
#include "support/catch.hpp"

namespace profiled {
#define CASE(...) CHECK((__VA_ARGS__))

TEST_CASE("what vLLM takes beside weights and cache"){
#include "cases/vllm_profile.inc"
}

TEST_CASE("a utilization that is no share stops") {
  CHECK_THROWS(vp::requested_bytes(1000, 0.0));
  CHECK_THROWS(vp::requested_bytes(1000, -0.5));
  CHECK_THROWS(vp::requested_bytes(1000, 1.01));
}

}  // namespace profiled
