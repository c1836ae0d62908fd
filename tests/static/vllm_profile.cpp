// The cases of vLLM's profile run as static_asserts. tests/runtime/vllm_profile.cpp runs the same lines.
#include "support/vllm_profile.hpp"

namespace profiled {
namespace {
#define CASE(...) static_assert(__VA_ARGS__)
#include "cases/vllm_profile.inc"
}  // namespace
}  // namespace profiled
