// The cases of Transformers at run time, and what it refuses. tests/static/transformers.cpp compiles the same
// lines.
#include "support/transformers.hpp"

#include <string>

#include "support/cases.hpp"
#include "support/catch.hpp"

namespace generation {
#define CASE(...) CHECK((__VA_ARGS__))

TEST_CASE("Transformers"){
#include "cases/transformers.inc"
}

TEST_CASE("Transformers says what it cannot do") {
  const auto message = [](const deployment& d, const engines::transformers& on) {
    try {
      (void)estimate(d, on);
    } catch (const error& refused) {
      return std::string{refused.what()};
    }
    return std::string{"no error"};
  };
  const engines::transformers plain;
  CHECK(message(llama(), {.num_beams = 0}) == "num_beams must be at least one");
  CHECK(message(llama(), quantized_to(3, 0)) == "nbits: quanto quantizes a cache to 2 or 4 bits, not to 3");
  CHECK(message(llama(), quantized_to(5, 0, transformers_quantizer::hqq)) ==
        "nbits: HQQ quantizes a cache to 1, 2, 3, 4 or 8 bits, not to 5");
  engines::transformers no_group = quantized_to(4, 0);
  no_group.q_group_size = 0;
  CHECK(message(llama(), no_group) == "q_group_size and residual_length must be positive");
  deployment d = llama();
  d.kv_cache = f::fp8_e4m3;
  CHECK(message(d, plain) ==
        "Transformers keeps its cache in the dtype, or quantized by cache_implementation and nbits");
  d.kv_cache = f::fp16;
  CHECK(message(d, plain) == "no error");
  d = llama();
  d.parallel.tensor = 16;
  d.parallel.decode_context = 2;
  CHECK(message(d, plain) == "Transformers does not split a cache by tokens (decode-context parallel)");
  CHECK_THROWS_AS(placed(llama(), {.gpus = 0}), error);
  CHECK_THROWS_AS(placed(llama(), {.gpus = 65}), error);
  d.parallel = {.tensor = 2};
  CHECK_THROWS_AS(placed(d, {.gpus = 2}), error);
  CHECK_THROWS_AS(ledger_on(plain, llama(), llama_on_two, 2), error);
}

}  // namespace generation
