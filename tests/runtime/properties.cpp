// Properties that hold for any deployment, tried on thousands of random ones (fixed seeds).
#include <algorithm>
#include <cstdint>
#include <string>

#include "support/catch.hpp"
#include "support/random_models.hpp"

namespace samples {
namespace {

constexpr int deployments = 3000;

}  // namespace

TEST_CASE("geometry grows with tokens, sequences, layers and bytes per element") {
  random_engine random{20260901};
  static model_architecture model;
  for (int i = 0; i < deployments; ++i) {
    fill(model, random);
    const deployment d = random_deployment(model, random);
    const bytes before = estimate(d).total();
    CAPTURE(i);

    deployment more_tokens = d;
    more_tokens.workload.context += tokens{pick(random, 1, 300)};
    REQUIRE(before <= estimate(more_tokens).total());

    deployment more_sequences = d;
    more_sequences.workload.sequences += pick(random, 1, 9);
    REQUIRE(before <= estimate(more_sequences).total());

    deployment wider = d;
    wider.kv_cache = f::fp32;
    wider.weights = f::fp32;
    wider.dtype = f::fp32;
    REQUIRE(before <= estimate(wider).total());

    deployment one_stage = d;
    one_stage.parallel.pipeline = 1;
    const bytes on_one_stage = estimate(one_stage).total();
    model.add_layers(model.kinds[pick(random, 0, model.kind_count - 1U)], pick(random, 1, 4));
    REQUIRE(on_one_stage <= estimate(one_stage).total());
  }
}

TEST_CASE("rank kinds times their counts sum to the cluster, and the worst rank is first") {
  random_engine random{42};
  static model_architecture model;
  for (int i = 0; i < deployments; ++i) {
    fill(model, random);
    const deployment d = random_deployment(model, random);
    CAPTURE(i);
    const cluster_budget cluster = estimate_cluster(d);
    REQUIRE(cluster.ranks() == d.parallel.ranks());
    REQUIRE(cluster.worst().total() == estimate(d).total());

    // One by one: every rank of every stage and replica.
    bytes total{}, cache{};
    for (std::uint32_t replica = 0; replica < d.parallel.data; ++replica) {
      for (std::uint32_t stage = 0; stage < d.parallel.pipeline; ++stage) {
        const memory_budget ledger = engines::geometry{}.ledger(d, rank{stage, replica});
        REQUIRE(ledger.total() <= cluster.worst().total());
        total += ledger.total() * d.parallel.tensor;
        cache += ledger.kv_cache() * d.parallel.tensor;
      }
    }
    REQUIRE(total == cluster.total());
    REQUIRE(cache == cluster.kv_cache());
    for (std::uint32_t kind = 1; kind < cluster.kind_count; ++kind) {
      REQUIRE(cluster.kinds[kind].budget.total() <= cluster.kinds[kind - 1].budget.total());
    }
  }
}

TEST_CASE("limits are exact, or never, or unbounded") {
  random_engine random{7};
  static model_architecture model;
  int exact = 0, never = 0, unbounded = 0;
  for (int i = 0; i < deployments; ++i) {
    fill(model, random);
    deployment d = random_deployment(model, random);
    d.workload.shared_prefix = tokens{};
    const gpu_profile& gpu = pick(random, 0, 1) == 0 ? gpus::nvidia_h100_sxm_80gb : gpus::nvidia_t4_16gb;
    CAPTURE(i);
    for (int which = 0; which < 3; ++which) {
      const auto fits_with = [&](std::uint64_t n) {
        deployment changed = d;
        if (which == 0) changed.workload.context = tokens{n};
        if (which == 1) changed.workload.sequences = n;
        if (which == 2) {
          changed.workload = active_tokens(tokens{n}, d.workload.sequences);
          changed.workload.batched_tokens = d.workload.batched_tokens;
        }
        return fits(changed, gpu);
      };
      const limit found = which == 0   ? max_context(d, gpu)
                          : which == 1 ? max_sequences(d, gpu)
                                       : max_active_tokens(d, gpu);
      if (found.unbounded) {
        ++unbounded;
        REQUIRE(found.fits);
        REQUIRE(fits_with(std::uint64_t{1} << 40));
      } else if (!found.fits) {
        ++never;
        REQUIRE(!fits_with(1));
      } else {
        ++exact;
        REQUIRE(fits_with(found.value));
        REQUIRE(!fits_with(found.value + 1));
      }
    }
  }
  CHECK(exact > 1000);
  CHECK(never > 100);
  CHECK(unbounded > 100);
}

TEST_CASE("a second formula agrees: dense models by hand") {
  random_engine random{99};
  for (int i = 0; i < deployments; ++i) {
    const std::uint32_t kv_heads = pick32(random, 1, 16), heads = kv_heads * pick32(random, 1, 8);
    const std::uint32_t dim = pick32(random, 1, 256), hidden_size = pick32(random, 1, 9000);
    const std::uint32_t intermediate = pick32(random, 1, 30000), vocab = pick32(random, 1, 200000);
    const std::uint64_t layers = pick(random, 1, 120), window = pick(random, 1, 8000);
    const bool windowed = pick(random, 0, 1) == 0;
    static model_architecture model;
    static constexpr model_architecture empty{};
    model = empty;
    model.hidden_size = hidden_size;
    layer_kind layer;
    const store full = stores::full(kv_heads, dim);
    layer.add(windowed ? stores::sliding_window(full, window) : full);
    layer.num_attention_heads = heads;
    layer.add(weight_groups::by_rows(module_role::attention, std::uint64_t{heads} * dim, hidden_size, heads));
    layer.add(weight_groups::kv_projection(kv_heads, dim, hidden_size));
    layer.add(weight_groups::by_columns(module_role::attention, hidden_size, heads * dim, heads));
    layer.add(weight_groups::by_rows(module_role::mlp, intermediate, hidden_size, intermediate, 2));
    layer.add(weight_groups::by_columns(module_role::mlp, hidden_size, intermediate, intermediate));
    model.add_layers(layer, layers);
    model.add(weight_groups::vocabulary_table(module_role::embedding, vocab, hidden_size));
    const std::uint64_t sequences = pick(random, 0, 50), context = pick(random, 0, 100000);
    const memory_budget budget = estimate(uniform(model, f::bf16, sequences, context));
    const std::uint64_t kept = windowed ? std::min(window, context) : context;
    const std::uint64_t h = hidden_size;
    REQUIRE(budget.weights().value ==
            2 * (vocab * h + layers * (2 * h * heads * dim + 2 * h * kv_heads * dim + 3 * h * intermediate)));
    REQUIRE(budget.kv_cache().value == 2 * layers * sequences * kept * 2 * kv_heads * dim);
  }
}

TEST_CASE("absurd sizes stop instead of wrapping around") {
  deployment d = uniform(llama_70b::architecture, f::bf16, UINT64_MAX, 32768);
  CHECK_THROWS_AS(estimate(d), error);
  d = uniform(llama_70b::architecture, f::bf16, 1, UINT64_MAX);
  CHECK_THROWS_AS(estimate(d), error);
  CHECK_THROWS_AS(bytes{UINT64_MAX} + 1_B, error);
  CHECK_THROWS_AS(1_B - 2_B, error);
  CHECK_THROWS_AS(bytes{-1}, error);
  CHECK_THROWS_AS(bytes{1} * -1, error);
  CHECK_THROWS_AS(gibibytes(UINT64_MAX), error);
  CHECK_THROWS_AS(bytes{1} / 0, error);
}

TEST_CASE("impossible deployments say what is wrong with them") {
  const deployment d = uniform(llama_70b::architecture, f::bf16, 1, 100);
  const auto message = [](const deployment& asked) {
    try {
      (void)estimate(asked);
    } catch (const error& refused) {
      return std::string{refused.what()};
    }
    return std::string{"no error"};
  };
  CHECK(message(on_ranks(d, {.tensor = 3})) ==
        "tensor parallel: 64 query heads cannot be split evenly over 3 ranks");
  CHECK(message(on_ranks(d, {.pipeline = 81})) == "pipeline parallel: 81 stages for only 80 layers");
  CHECK(message(on_ranks(d, {.tensor = 0})) == "parallel degrees must be at least one");
  CHECK(message(on_ranks(d, {.expert = 2})) == "expert parallel: the model has no experts");
  CHECK(message(on_ranks(d, {.tensor = 16, .decode_context = 4})) ==
        "decode-context parallel: degree 4 is larger than the 2 tensor ranks that hold the same KV head");
  CHECK(message(on_ranks(uniform(mixtral_8x7b::architecture, f::bf16, 1, 1), {.tensor = 16, .expert = 16})) ==
        "expert parallel: 8 experts cannot be split evenly over 16 ranks");
  deployment prefixed = d;
  prefixed.workload.shared_prefix = 101_tokens;
  CHECK(message(prefixed) == "a shared prefix of 101 tokens is longer than the prompt of 100 tokens");
  deployment without_dtype{.model = llama_70b::architecture};
  CHECK(message(without_dtype) ==
        "the model names no dtype: say which number format weights and cache are kept in");
  static const model_architecture odd = [] {
    model_architecture model;
    layer_kind layer;
    layer.add(stores::full(3, 16));
    layer.num_attention_heads = 3;
    model.add_layers(layer);
    return model;
  }();
  deployment blocks = uniform(odd, f::bf16, 1, 1);
  blocks.kv_cache = f::q8_0;
  CHECK(message(blocks) ==
        "a cache row of 48 elements is not a whole number of blocks of 32; choose another cache format");
  CHECK_THROWS_AS(active_tokens(5_tokens, 0), error);
  CHECK_THROWS_AS(max_context(uniform(odd, f::bf16, 0, 1), gpus::nvidia_t4_16gb), error);
}

}  // namespace samples
