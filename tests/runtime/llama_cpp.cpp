// llama.cpp's cases at run time, and what holds for any model and options. tests/static/llama_cpp.cpp
// compiles the same cases.
#include "support/llama_cpp.hpp"

#include <cstdint>
#include <string>

#include "support/catch.hpp"
#include "support/random_models.hpp"

namespace llama_cpp_cases {
#define CASE(...) CHECK((__VA_ARGS__))

TEST_CASE("what llama.cpp allocates for its cache") {
#include "cases/llama_cpp.inc"
}

namespace {
template <class Enum> Enum any(random_engine& random, std::uint64_t last) {
  return static_cast<Enum>(pick(random, 0, last));
}

llama_cpp random_options(random_engine& random) {
  llama_cpp asked;
  asked.build = pick(random, 0, 4) == 0 ? pick32(random, 4000, 11000) : 0;
  asked.program = any<llama_cpp_program>(random, 2);
  asked.n_ctx = pick(random, 0, 5) == 0 ? 0 : pick(random, 1, 300'000);
  asked.n_batch = pick(random, 0, 1) == 0 ? 2048 : pick(random, 0, 8192);
  asked.n_ubatch = pick(random, 0, 1) == 0 ? 512 : pick(random, 0, 8192);
  asked.n_parallel = pick(random, 0, 1) == 0 ? pick(random, 0, 8) : pick(random, 0, 260);
  asked.kv_unified = any<option_choice>(random, 2);
  asked.n_rs_seq = pick(random, 0, 4);
  asked.type_k = any<type>(random, 8);
  asked.type_v = pick(random, 0, 2) == 0 ? any<type>(random, 8) : asked.type_k;
  asked.flash_attn = any<llama_cpp_flash_attn>(random, 2);
  asked.swa_full = pick(random, 0, 3) == 0;
  return asked;
}
}  // namespace

TEST_CASE("llama.cpp's cache is the sum of its layers and grows with the context") {
  random_engine random{20'260'818};
  int started = 0, stopped = 0, grew = 0, partial = 0;
  for (int i = 0; i < 4000; ++i) {
    const model_architecture& model =
        *models::all[pick(random, 0, sizeof(models::all) / sizeof(models::all[0]) - 1)];
    const llama_cpp asked = random_options(random);
    const backend in = any<backend>(random, 1);
    INFO(i << ": " << model.name);
    if (const refusal why = refused(asked, model, in)) {
      CHECK(std::string(why.text).size() > 10);
      ++stopped;
      continue;
    }
    ++started;
    const auto sizes = sizes_of(asked, model, in);
    CHECK(sizes.n_ctx == sizes.n_ctx_seq * sizes.n_stream);
    CHECK(sizes.n_ctx_seq >= 1);
    CHECK(sizes.n_ubatch <= sizes.n_batch);
    const std::uint64_t all = cache_of(asked, model, sizes, in).total().value;

    const std::uint32_t layers = model.num_hidden_layers;
    const std::uint32_t cut = pick32(random, 0, layers);
    cache_bytes parts = cache_of(asked, model, sizes, in, 0, cut);
    parts.add(cache_of(asked, model, sizes, in, cut, layers));
    CHECK(parts == cache_of(asked, model, sizes, in));
    CHECK(parts.total().value == all);
    if (cut != 0 && cut != layers) ++partial;

    llama_cpp more = asked;
    more.n_ctx = sizes.n_ctx + 256 * sizes.n_seq_max;
    CHECK(total(more, model, in) >= all);
    if (total(more, model, in) > all) ++grew;
    more = asked;
    more.swa_full = true;
    CHECK(total(more, model, in) >= all);
    more = asked;
    more.type_k = more.type_v = type::f32;
    more.flash_attn = sizes.flash_attn ? flash_on : flash_off;
    CHECK(total(more, model, in) >= all);
    more = asked;
    more.n_rs_seq += 1;
    CHECK(total(more, model, in) >= all);
    CHECK(cache_of(more, model, in).attention() == cache_of(asked, model, in).attention());
    // Host memory has the smaller steps.
    CHECK(cache_of(asked, model, sizes, backend::cpu).total() <=
          cache_of(asked, model, sizes, backend::cuda).total());
  }
  CHECK(started > 2000);
  CHECK(stopped > 300);
  CHECK(grew > 1500);
  CHECK(partial > 1500);
}

}  // namespace llama_cpp_cases
