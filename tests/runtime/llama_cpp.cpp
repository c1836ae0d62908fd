// llama.cpp's cases at run time. tests/static/llama_cpp.cpp compiles the same lines.
#include "support/llama_cpp.hpp"

#include "support/catch.hpp"

namespace llama_cpp_cases {
#define CASE(...) CHECK((__VA_ARGS__))

TEST_CASE("what llama.cpp allocates for its cache") {
#include "cases/llama_cpp.inc"
}

}  // namespace llama_cpp_cases
