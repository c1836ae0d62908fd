// Cases of llama.cpp's front ends and fork at run time, and what holds for any model and options.
// tests/static/local_engines.cpp compiles the same cases.
#include "support/local_engine_cases.hpp"

#include <cstdint>
#include <string>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace local_engine_cases {
#define CASE(...) CHECK((__VA_ARGS__))

TEST_CASE("what Ollama, LM Studio and ik_llama.cpp do") {
#include "cases/local_engines.inc"
}

namespace {
const model_architecture& any_model(random_engine& random) { return *one_of(random, models::all); }
}  // namespace

TEST_CASE("Ollama starts every model with a batch and a context that it has rules for") {
  random_engine random{20'260'901};
  for (int i = 0; i < 4000; ++i) {
    const model_architecture& model = any_model(random);
    INFO(i << ": " << model.name);
    ollama asked = context(pick(random, 0, 2) == 0 ? 0 : pick(random, 1, 300'000), pick(random, 0, 8));
    asked.num_gpu = static_cast<std::int32_t>(pick(random, 0, 5)) - 2;
    asked.gpu_overhead = bytes{pick(random, 0, 3) == 0 ? pick(random, 0, 64 * gib) : 0};
    asked.flash_attention = static_cast<llama_cpp_flash_attn>(pick(random, 0, 2));
    gpu gpus[3];
    for (gpu& each : gpus) {
      each.total = pick(random, 0, 96 * gib);
      each.free = pick(random, 0, each.total);
      each.runs_on = static_cast<library>(pick(random, 0, 3));
    }
    const std::size_t count = pick(random, 0, 3);
    const launch found = launch_of(asked, model, bytes{pick(random, 0, 90 * gib)}, {gpus, count});
    CHECK((found.num_batch == 256 || found.num_batch == 512 || found.num_batch == 1024 ||
           found.num_batch == 2048));
    CHECK(found.num_ctx >= 1);
    CHECK((model.max_position_embeddings == 0 || found.num_ctx <= model.max_position_embeddings));
    CHECK(found.starts.n_ctx == found.num_ctx * found.num_parallel);
    CHECK(found.only_gpu < static_cast<std::int32_t>(count));
    std::uint64_t total = 0;
    for (std::size_t j = 0; j < count; ++j) total += gpus[j].free != 0 ? gpus[j].free : gpus[j].total;
    CHECK(found.available <= total);
    // More memory never makes the batch smaller.
    if (found.only_gpu < 0 && count != 0 && asked.flash_attention != flash_off) {
      CHECK(ollama_rules::automatic_batch(found.starts.n_ctx, found.predicted, found.available + gib) >=
            ollama_rules::automatic_batch(found.starts.n_ctx, found.predicted,
                                          found.available == 0 ? 1 : found.available));
    }
  }
}

TEST_CASE("Ollama's old estimator has an estimate or says why not") {
  random_engine random{20'251'111};
  int estimated = 0, unknown = 0;
  for (int i = 0; i < 3000; ++i) {
    const model_architecture& model = any_model(random);
    INFO(i << ": " << model.name);
    ollama asked = context(pick(random, 0, 9) == 0 ? 0 : pick(random, 1, 1 << 24), pick(random, 0, 4));
    asked.num_batch = pick(random, 0, 2) == 0 ? 0 : pick(random, 1, 1 << 21);
    const auto found = old_estimate(asked, model);
    if (found.unknown) {
      ++unknown;
      CHECK(std::string(found.unknown.text).size() > 10);
      CHECK(found.kv + found.graph_full + found.graph_partial == 0);
      continue;
    }
    ++estimated;
    CHECK(found.kv != 0);
    CHECK(found.graph_full != 0);
    CHECK(found.graph_partial != 0);
    ollama more = asked;
    more.num_ctx += 1;
    const auto grown = old_estimate(more, model);
    if (!grown.unknown) CHECK(grown.kv >= found.kv);
  }
  CHECK(estimated > 500);
  CHECK(unknown > 300);
}

TEST_CASE("ik_llama.cpp's cache is the sum of its layers and grows with the context") {
  random_engine random{20'260'815};
  int started = 0, stopped = 0, unknown = 0;
  for (int i = 0; i < 3000; ++i) {
    const model_architecture& model = any_model(random);
    INFO(i << ": " << model.name);
    ik_llama_cpp asked;
    asked.n_ctx = pick(random, 0, 5) == 0 ? 0 : pick(random, 1, 300'000);
    asked.n_ubatch = pick(random, 1, 4096);
    asked.n_parallel = pick(random, 0, 8);
    asked.type_k = static_cast<ik_type>(pick(random, 0, 11));
    asked.type_v = pick(random, 0, 1) == 0 ? asked.type_k : static_cast<ik_type>(pick(random, 0, 11));
    asked.flash_attn = pick(random, 0, 2) != 0;
    asked.mla = static_cast<std::uint32_t>(pick(random, 0, 3));
    asked.swa_compress = pick(random, 0, 2) == 0;
    if (const refusal why = ik_llama_cpp_cache::refused(asked, model)) {
      ++stopped;
      CHECK(std::string(why.text).size() > 10);
      continue;
    }
    if (has_store(model, store_kind::compressed)) {
      ++unknown;
      CHECK_THROWS_AS(printed_of(asked, model), kvbudget::error);
      continue;
    }
    ++started;
    const std::uint64_t all = on_cuda(asked, model);
    const std::uint32_t cut = pick32(random, 0, model.num_hidden_layers);
    CHECK(on_cuda(asked, model, 0, cut) + on_cuda(asked, model, cut) == all);
    const auto printed = printed_of(asked, model);
    CHECK(printed.total().value <= all);
    CHECK(printed.keys + printed.values + printed.kept.recurrent + printed.kept.index ==
          printed.total().value);
    ik_llama_cpp more = asked;
    more.n_ctx = ik_llama_cpp_cache::sizes_of(asked, model).n_ctx + 256;
    CHECK(on_cuda(more, model) >= all);
    more = asked;
    more.swa_compress = false;
    CHECK(on_cuda(more, model) >= all);
    if (i % 20 != 0) continue;
    const compute_bytes compute = ik_llama_cpp_cache::compute_of(asked, model, backend::cuda);
    CHECK(compute.known == basis::assumed);
    CHECK(compute.range.low <= compute.range.expected);
    CHECK(compute.range.expected <= compute.range.high);
  }
  CHECK(started > 1500);
  CHECK(stopped > 100);
  CHECK(unknown > 5);
}

TEST_CASE("ik_llama.cpp caps scores and expanded keys by -amb") {
  ik_llama_cpp asked = latents(65536, 3);
  const std::uint64_t any =
      ik_llama_cpp_cache::compute_of(asked, models::deepseek_v3, backend::cuda).range.expected;
  asked.amb = 512;
  const std::uint64_t capped =
      ik_llama_cpp_cache::compute_of(asked, models::deepseek_v3, backend::cuda).range.expected;
  CHECK(any - capped == 8 * gib - 512 * mib);
  asked.amb = 1;  // counts as 128
  CHECK(any - ik_llama_cpp_cache::compute_of(asked, models::deepseek_v3, backend::cuda).range.expected ==
        8 * gib - 128 * mib);
  // ikawrakow/ik_llama.cpp#258: 4104.02 MiB, of batches of 4,096 tokens.
  asked = latents(32768, 3);
  asked.amb = 512;
  asked.n_batch = asked.n_ubatch = 4096;
  CHECK(ik_llama_cpp_cache::compute_of(asked, models::deepseek_v3, backend::cuda).range.expected ==
        4'104 * mib);
  asked.mla = 7;
  CHECK_THROWS_AS(ik_llama_cpp_cache::compute_of(asked, models::deepseek_v3, backend::cuda), kvbudget::error);
}

TEST_CASE("llama.cpp's buffer for four slots of Gemma 4 12B") {
  // unslothai/unsloth#11043: 821 MiB reserved where 4,757 were estimated, for 255,232 cells; the cache types
  // are not quoted, q8_0 is what comes nearest. Another program's sum of what llama-server logged, so within
  // 1 % only.
  llama_cpp_cache::sizes found;
  found.n_ctx_seq = 255'232;
  found.n_seq_max = 4;
  found.n_ubatch = 512;
  const graph_settings s{.tokens = 512,
                         .outputs = 4,
                         .cells = 255'232,
                         .window_cells = found.window_cells(1024),
                         .sequences = 4,
                         .type_k = formats::q8_0,
                         .type_v = formats::q8_0};
  const std::uint64_t expected = compute_buffer(models::gemma_4_12b, s).range.expected;
  CHECK(expected * 100 > 821 * mib * 99);
  CHECK(expected * 100 < 821 * mib * 101);
}

}  // namespace local_engine_cases
