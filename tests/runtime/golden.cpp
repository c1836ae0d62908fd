// The golden cases of the catalogue at run time. tests/static/golden.cpp compiles the same lines.
#include "support/golden.hpp"
#include "support/catch.hpp"

namespace golden {
#define CASE(...) CHECK((__VA_ARGS__))

TEST_CASE("what calculators printed wrongly") {
#include "cases/golden.inc"
}

}  // namespace golden
