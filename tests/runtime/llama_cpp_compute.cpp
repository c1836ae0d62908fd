// llama.cpp's compute buffers: the worked cases, and rules that hold for any.
#define SAMPLES_CONSTEXPR
#include "support/llama_cpp_compute.hpp"

#include <cstdint>

#include "support/catch.hpp"

namespace samples::llama_cpp_graphs {

#define CASE(...) CHECK((__VA_ARGS__))
TEST_CASE("worked cases of llama.cpp's compute buffers", "[llama_cpp]"){
#include "cases/llama_cpp_compute.inc"
}

TEST_CASE("settings that cannot be are refused", "[llama_cpp]") {
  CHECK_THROWS(compute_buffer(llama_8b, one_sequence(4096), {.first = 32, .last = 32}));
  CHECK_THROWS(compute_buffer(llama_8b, one_sequence(4096), {.first = 0, .last = 33}));
  CHECK_THROWS(compute_buffer(llama_8b, {.tokens = 512, .cells = 4096, .streams = 3, .sequences = 3}));
  CHECK_THROWS(compute_buffer(llama_8b, {.tokens = 0, .cells = 4096}));
  CHECK_THROWS(host_compute_buffer(model_architecture{}, one_sequence(4096)));
}

TEST_CASE("layers that repeat change nothing, others are all followed or sampled", "[llama_cpp]") {
  const graph_settings s = one_sequence(8192, 512, 1);
  for (std::uint32_t layers = 8; layers <= 128; ++layers) {
    CHECK(gpu(make_llama(layers, 4096, 32, 14336), s) == 121'645'184);
  }
  // 200 layers in no order: some are wider than others, wherever they are.
  const layer_kind layer = attention_layer(32, stores::full(8, 128));
  model_architecture model = empty_model(4096, 128256), wide = model;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const std::uint32_t intermediate = i * i % 31 < 10 ? 14336 : 8192;
    model.add_layers(dense(layer, intermediate));
    wide.add_layers(mixture(latent_layer(32), 64, 6, 1408, intermediate));
  }
  const compute_bytes found = compute_buffer(model, s);
  CHECK(found.known == basis::exact);
  CHECK(found.range.expected == 121'645'184);
  const compute_bytes sampled = compute_buffer(wide, s);  // too many tensors to follow all of them
  CHECK(sampled.known == basis::calibrated);
  CHECK(sampled.range.low >= 4ull * 512 * 3 * 14336);
  // A period of seven: what is left out is a repetition, whole or not.
  model_architecture weekly = empty_model(4096, 128256), longer = weekly;
  for (std::uint32_t i = 0; i < 42; ++i) {
    const layer_kind each = dense(layer, i % 7 == 1 ? 14336 : 8192);
    weekly.add_layers(each);
    longer.add_layers(each);
  }
  for (std::uint32_t i = 42; i < 84; ++i) longer.add_layers(weekly.kinds[weekly.order[i - 42]]);
  CHECK(gpu(weekly, s) == gpu(longer, s));
}

TEST_CASE("more tokens, cells or outputs never take less", "[llama_cpp]") {
  const model_architecture* const models[] = {&llama_8b, &gpt_oss_20b, &deepseek_v2_lite, &qwen3_next};
  for (const model_architecture* model : models) {
    std::uint64_t before = 0;
    for (std::uint64_t cells = 1024; cells <= 131072; cells *= 2) {
      const std::uint64_t now = host(*model, one_sequence(cells, 512, 1, 128));
      CHECK(now >= before);
      before = now;
    }
    CHECK(host(*model, one_sequence(8192, 1024)) > host(*model, one_sequence(8192, 512)));
    CHECK(compute_buffer(*model, one_sequence(8192, 1024, 1024)).range.expected >
          compute_buffer(*model, one_sequence(8192, 512, 1)).range.expected);
  }
}

}  // namespace samples::llama_cpp_graphs
