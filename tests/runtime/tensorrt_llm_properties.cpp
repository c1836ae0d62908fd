// Properties of TensorRT-LLM's pools and limits, tried on thousands of random models, options, layouts and
// GPUs.
#include <algorithm>
#include <cstdint>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/tensorrt_llm.hpp"

namespace trtllm {
namespace {

/// A layer whose heads, states and matrices split over up to four tensor ranks.
layer_kind random_layer(random_engine& random, std::uint32_t hidden_size) {
  layer_kind layer;
  const std::uint32_t kv_heads = 1U << pick32(random, 0, 4);
  const std::uint32_t heads = kv_heads * (1U << pick32(random, 2, 3));
  const std::uint32_t dim = 16 * pick32(random, 2, 16);
  const store full = stores::full(kv_heads, dim);
  layer.num_attention_heads = heads;
  layer.key_value_heads = kv_heads;
  layer.query_dim = layer.value_dim = dim;
  switch (pick(random, 0, 8)) {
    case 0: layer.add(stores::sliding_window(full, pick(random, 1, 5000))); break;
    case 1:
      layer.add(stores::latent(64 * pick32(random, 1, 8), 64, pick(random, 0, 1) == 0 ? 0 : 128));
      break;
    case 2: layer.add(stores::gated_delta_net(32, 128, 16, 128, 4)); break;
    case 3:
      layer.add(full);
      layer.add(stores::mamba2(64, 64, 128, 4, 4));
      break;
    case 4:
      layer.add(full);
      layer.add(stores::cross_attention(kv_heads, dim, 1500));
      break;
    case 5: layer.add(stores::shared()); break;
    default: layer.add(full); break;
  }
  layer.add(weight_groups::by_rows(module_role::attention, std::uint64_t{heads} * dim, hidden_size, heads));
  layer.intermediate_size = 256 * pick(random, 1, 64);
  layer.gated_mlp = true;
  layer.add(weight_groups::by_rows(module_role::mlp, layer.intermediate_size, hidden_size,
                                   static_cast<std::uint32_t>(layer.intermediate_size), 2));
  return layer;
}
void fill(model_architecture& model, random_engine& random) {
  static constexpr model_architecture empty{};
  model = empty;
  model.dtype = f::bf16;
  model.hidden_size = 64 * pick32(random, 1, 128);
  model.vocab_size = pick32(random, 1000, 260000);
  model.max_position_embeddings = pick(random, 0, 9) == 0 ? 0 : pick(random, 1, 200'000);
  model.add(weight_groups::vocabulary_table(module_role::embedding, model.vocab_size, model.hidden_size));
  for (std::uint64_t run = pick(random, 1, 5); run > 0; --run) {
    model.add_layers(random_layer(random, model.hidden_size), pick(random, 1, 16));
  }
  if (pick(random, 0, 2) == 0) {
    model.draft_layers = pick32(random, 1, 2);
    model.add_draft_store(stores::full(1U << pick32(random, 0, 4), 64));
  }
}

const kv_format caches[] = {{}, f::fp8_e4m3, f::int8, kv_formats::nvfp4};
const gpu_profile* const cards[] = {&gpus::nvidia_h100_sxm_80gb,  &gpus::nvidia_gb300_288gb,
                                    &gpus::nvidia_a10_24gb,       &gpus::nvidia_l40s_48gb,
                                    &gpus::nvidia_h200_sxm_141gb, &gpus::nvidia_gb10_128gb};
const engine_version versions[] = {{0, 5}, {0, 8}, {0, 12}, {0, 19}, {1, 0}, {1, 1}, {1, 2}, {1, 3}};

deployment random_deployment(const model_architecture& model, random_engine& random) {
  deployment d = serving(model, one_of(random, caches), 1U << pick32(random, 0, 2));
  d.weights = pick(random, 0, 1) == 0 ? weight_scheme{f::fp8_e4m3} : weight_scheme{};
  d.workload.sequences = pick(random, 1, 200);
  d.workload.context = tokens{pick(random, 1, 30000)};
  if (pick(random, 0, 3) == 0) d.workload.shared_prefix = tokens{pick(random, 0, d.workload.context.value)};
  if (pick(random, 0, 3) == 0)
    d.workload.add({pick(random, 1, 9), tokens{pick(random, 1, 9000)}, 10_tokens, 0_tokens});
  d.parallel.data = pick32(random, 1, 3);
  d.parallel.pipeline = pick32(random, 1, std::min<std::uint32_t>(4, model.num_hidden_layers));
  if (model.draft_layers != 0 && pick(random, 0, 1) == 0) d = drafting(d, speculation_kind::mtp);
  if (pick(random, 0, 9) == 0) d = drafting(d, speculation_kind::draft_model, &models::llama_3_2_1b);
  return d;
}
engine random_options(random_engine& random) {
  engine on;
  on.version = one_of(random, versions);
  const auto one_in = [&](std::uint64_t n) { return pick(random, 1, n) == 1; };
  if (one_in(2)) on.free_gpu_memory_fraction = static_cast<double>(pick(random, 1, 99)) / 100;
  if (one_in(6)) on.max_tokens = pick(random, 1, 2'000'000);
  if (one_in(8)) on.max_gpu_total_bytes = bytes{pick(random, 1, 40'000'000'000)};
  if (one_in(3)) on.tokens_per_block = 1U << pick32(random, 3, 7);
  if (one_in(2)) on.max_batch_size = pick(random, 1, 600);
  if (one_in(2)) on.max_num_tokens = pick(random, 1, 16384);
  if (one_in(2)) on.max_seq_len = pick(random, 1, 60000);
  if (one_in(3)) {
    for (std::uint64_t sizes = pick(random, 1, 4); sizes > 0; --sizes) {
      on.max_attention_window.add(pick32(random, 1, 2) == 1 ? 131072 : pick32(random, 16, 9000));
    }
  }
  if (one_in(4)) on.host_cache_size = bytes{pick(random, 0, 90'000'000'000)};
  if (one_in(6)) on.used_by_others = bytes{pick(random, 0, 9'000'000'000)};
  if (one_in(8)) on.encoder_cache_max_bytes = bytes{pick(random, 0, 2'000'000'000)};
  if (one_in(6)) on.mamba_state_cache_interval = 64 * pick(random, 1, 8);
  on.use_cuda_graph = !one_in(4);
  return on;
}

enum outcome { never, bounded_by_memory, bounded_by_engine, outcomes };
/// Checks that `found` is the largest size that fits; says what bounds it.
template <class Resize, class Bound>
outcome proven(const limit& found, const allocation& pools, deployment d, const engine& on,
               const gpu_profile& gpu, const Resize& resize, const Bound& at_engine_limit) {
  const auto fits_with = [&](std::uint64_t n) {
    resize(d.workload, n);
    return check_fit(pools, d, gpu, on).fits;
  };
  REQUIRE(!found.unbounded);
  if (!found.fits) {
    REQUIRE(!fits_with(1));
    return never;
  }
  REQUIRE(fits_with(found.value));
  REQUIRE(!fits_with(found.value + 1));
  return at_engine_limit(found.value) ? bounded_by_engine : bounded_by_memory;
}

constexpr int combinations = 4000;

}  // namespace

TEST_CASE("TensorRT-LLM: every limit is exact") {
  random_engine random{652};
  static model_architecture model;
  int seen[3][outcomes] = {};
  for (int i = 0; i < combinations; ++i) {
    CAPTURE(i);
    fill(model, random);
    const deployment d = random_deployment(model, random);
    const engine on = random_options(random);
    const gpu_profile& gpu = *one_of(random, cards);
    const allocation found = allocate(d, on, gpu);
    const auto replica_limit = found.running_requests * d.parallel.data;

    ++seen[0][proven(
        max_context(d, on, gpu), found, d, on, gpu,
        [&](workload& w, std::uint64_t n) {
          w.context = tokens{n};
          w.shared_prefix = std::min(d.workload.shared_prefix, w.context);
        },
        [&](std::uint64_t n) { return n == found.longest_request; })];
    ++seen[1][proven(
        max_sequences(d, on, gpu), found, d, on, gpu, [](workload& w, std::uint64_t n) { w.sequences = n; },
        [&](std::uint64_t n) { return n + d.workload.groups[0].count == replica_limit; })];
    ++seen[2][proven(
        max_active_tokens(d, on, gpu), found, d, on, gpu,
        [&](workload& w, std::uint64_t n) { w = active_tokens(tokens{n}, d.workload.sequences); },
        [&](std::uint64_t n) { return n == found.longest_request * d.workload.sequences; })];
  }
  for (const auto& kind : seen) {
    for (const int times : kind) CHECK(times > 50);
  }
}

TEST_CASE("TensorRT-LLM: pools take no more than their share, and every rank as many blocks as the fullest") {
  random_engine random{16545};
  static model_architecture model;
  int started = 0;
  for (int i = 0; i < combinations; ++i) {
    CAPTURE(i);
    fill(model, random);
    const deployment d = random_deployment(model, random);
    const engine on = random_options(random);
    const gpu_profile& gpu = *one_of(random, cards);
    const allocation found = allocate(d, on, gpu);
    if (found.refused) continue;
    started += found.starts() ? 1 : 0;
    for (std::uint32_t stage = 0; stage < d.parallel.pipeline; ++stage) {
      const rank where{stage, 0};
      const std::int64_t available = reservation_of(on, d, where, gpu).available_kv.expected;
      const std::uint64_t given = detail::at_least_zero(available);
      const block_pools pools = on.pools(d, where, gpu, given);
      REQUIRE(pools.count == found.pools.count);
      bytes beside{};
      bytes size{};
      for (std::uint32_t n = 0; n < pools.count; ++n) {
        const block_pool& pool = pools.pools[n];
        REQUIRE(found.pools.pools[n].blocks <= pool.blocks);
        size += pool.size();
        beside += bytes{pool.block_bytes} * pool.beside;
        if (on.rules().rounds_up) beside += bytes{pool.block_bytes};
      }
      REQUIRE(size <= bytes{given} + beside);
    }
    REQUIRE(found.low.blocks[0] <= found.blocks());
    REQUIRE(found.blocks() <= found.high.blocks[0]);
    REQUIRE(on.served_length(d, found.pools) <= found.longest_request);

    engine crowded = on;
    crowded.used_by_others += 1_GiB;
    REQUIRE(allocate(d, crowded, gpu).blocks() <= found.blocks());
    engine generous = on;
    generous.free_gpu_memory_fraction = std::min(0.999, on.fraction() + 0.05);
    REQUIRE(found.blocks() <= allocate(d, generous, gpu).blocks());
    engine busier = on;
    busier.max_num_tokens = 2 * on.step_tokens();
    if (on.max_attention_window.count == 0) REQUIRE(allocate(d, busier, gpu).blocks() <= found.blocks());
    REQUIRE(on.host_bytes(d) <= on.host_cache_size);
  }
  CHECK(started > combinations / 2);
}

}  // namespace trtllm
