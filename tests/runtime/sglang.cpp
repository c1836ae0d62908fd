// SGLang's cases at run time. tests/static/sglang.cpp compiles the same lines.
#include "support/sglang.hpp"
#include "support/catch.hpp"

namespace sglang_cases {
#define CASE(...) CHECK((__VA_ARGS__))

TEST_CASE("what SGLang computes and prints") {
#include "cases/sglang.inc"
}

}  // namespace sglang_cases
