// SGLang's cases at run time. tests/static/sglang.cpp compiles the same lines.
#include "support/sglang.hpp"

#include <cstdint>
#include <limits>

#include "support/catch.hpp"

namespace sglang_cases {
#define CASE(...) CHECK((__VA_ARGS__))

TEST_CASE("what SGLang computes and prints"){
#include "cases/sglang.inc"
}

TEST_CASE("SGLang's options are checked") {
  const deployment d = of(llama);
  const auto stops = [&](const sglang& on) { CHECK_THROWS_AS(allocate(d, on, h100), error); };
  stops({.mem_fraction_static = -0.1});
  stops({.mem_fraction_static = 1});
  stops({.mem_fraction_static = std::numeric_limits<double>::quiet_NaN()});
  stops({.page_size = 1'000'001});
  stops({.swa_full_tokens_ratio = 0});
  stops({.swa_full_tokens_ratio = 1e300});
  stops({.mamba_full_memory_ratio = -1});
  stops({.vision_hidden_size = UINT64_MAX});
  stops({.speculative_num_draft_tokens = UINT64_MAX});
  stops({.hicache_ratio = std::numeric_limits<double>::infinity()});
  stops({.version = {0, 5, 3}, .max_running_requests = UINT64_MAX, .context_length = 1});
}

TEST_CASE("what SGLang's pools are not known for stops") {
  static const model_architecture compressed = [] {
    model_architecture model;
    layer_kind layer;
    layer.num_attention_heads = 64;
    layer.add(stores::compressed(512, 64, 128, 4, 128, true));
    model.add_layers(layer);
    return model;
  }();
  CHECK_THROWS_AS(allocate(of(compressed), sglang{.context_length = 4096}, h100), error);
  CHECK_THROWS_AS(allocate(of(models::deepseek_v3, {.tensor = 8, .decode_context = 8}), sglang{}, h100),
                  error);
  CHECK_THROWS_AS(allocate(of(grok_2), sglang{}, h100), error);  // no context length
  CHECK_THROWS_AS(estimate(of(llama), sglang{}), error);         // no GPU
  CHECK_THROWS_AS(allocate(drafted(of(llama), speculation_kind::mtp), sglang{}, h100), error);
}

}  // namespace sglang_cases
