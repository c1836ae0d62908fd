// What holds of SGLang's pools for any deployment, tried on thousands of random ones (fixed seeds).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/sglang.hpp"

namespace sglang_cases {
namespace {

/// A layer that splits over up to four tensor ranks.
layer_kind random_layer(random_engine& random, std::uint32_t hidden_size) {
  layer_kind layer;
  const std::uint32_t kv_heads = 1U << pick32(random, 0, 4);
  const std::uint32_t heads = kv_heads * (1U << pick32(random, 2, 3));
  const std::uint32_t dim = 16 * pick32(random, 2, 16);
  const store full = stores::full(kv_heads, dim);
  layer.num_attention_heads = layer.key_value_heads = heads;
  layer.query_dim = layer.value_dim = dim;
  switch (pick(random, 0, 9)) {
    case 0:
    case 1: layer.add(full); break;
    case 2:
    case 3: layer.add(stores::sliding_window(full, pick(random, 1, 5000))); break;
    case 4: layer.add(stores::chunked(full, pick(random, 1, 9000))); break;
    case 5: layer.add(stores::latent(128 * pick32(random, 1, 4), 64, coin(random) ? 0 : 128)); break;
    case 6: layer.add(stores::gated_delta_net(32, 128, 16, 128, 4)); break;
    case 7:
      layer.add(full);
      layer.add(stores::mamba2(64, 64, 128, 4, 4));
      break;
    case 8:
      layer.add(full);
      layer.add(stores::cross_attention(kv_heads, dim, pick(random, 1, 3000)));
      break;
    default: layer.add(stores::shared()); break;
  }
  layer.add(weight_groups::by_rows(module_role::attention, std::uint64_t{heads} * dim, hidden_size, heads));
  layer.intermediate_size = 256 * pick(random, 1, 64);
  layer.gated_mlp = true;
  layer.add(weight_groups::by_rows(module_role::mlp, layer.intermediate_size, hidden_size,
                                   static_cast<std::uint32_t>(layer.intermediate_size), 2));
  return layer;
}

bool keeps_nothing(const model_architecture& model) {
  const rules::cache_traits traits = rules::traits_of(model, true);
  return !traits.full && !traits.windowed && !traits.stateful;
}

void fill(model_architecture& model, random_engine& random) {
  static constexpr model_architecture empty{};
  model = empty;
  model.dtype = f::bf16;
  model.hidden_size = 64 * pick32(random, 1, 128);
  model.vocab_size = pick32(random, 1000, 260000);
  model.max_position_embeddings = pick(random, 1, 300'000);
  model.add(weight_groups::vocabulary_table(module_role::embedding, model.vocab_size, model.hidden_size));
  if (pick(random, 0, 9) == 0) {
    model.add(weight_groups::whole(module_role::vision, 1000, 1000));
    detail::assign_text(model.model_type, coin(random) ? "gemma4" : "gemma3");
  }
  for (std::uint64_t run = pick(random, 1, 5); run > 0; --run) {
    model.add_layers(random_layer(random, model.hidden_size), pick(random, 1, 16));
  }
  while (keeps_nothing(model)) model.add_layers(random_layer(random, model.hidden_size));
}

/// Options of any release, mostly left to the engine.
sglang random_options(random_engine& random) {
  static constexpr engine_version versions[] = {{0, 4, 2}, {0, 4, 9}, {0, 5, 4}, {0, 5, 9}, {0, 5, 21}};
  static constexpr engines::sglang_backend backends[] = {
      engines::sglang_backend::automatic, engines::sglang_backend::flashmla,
      engines::sglang_backend::cutlass_mla, engines::sglang_backend::trtllm_mha,
      engines::sglang_backend::dsa_trtllm};
  sglang on{.version = versions[pick(random, 0, 4)]};
  const auto sometimes = [&] { return pick(random, 0, 3) == 0; };
  if (sometimes()) on.mem_fraction_static = static_cast<double>(pick(random, 300, 990)) / 1000;
  if (sometimes()) on.page_size = std::uint64_t{1} << pick(random, 0, 8);
  if (sometimes()) on.attention_backend = backends[pick(random, 0, 4)];
  if (sometimes()) on.max_total_tokens = pick(random, 1, 1'000'000);
  if (sometimes()) on.max_running_requests = pick(random, 1, 5000);
  if (sometimes()) on.context_length = pick(random, 1, 200'000);
  if (sometimes()) on.swa_full_tokens_ratio = static_cast<double>(pick(random, 1, 100)) / 100;
  if (sometimes()) on.mamba_full_memory_ratio = static_cast<double>(pick(random, 1, 300)) / 100;
  if (sometimes()) on.max_mamba_cache_size = pick(random, 1, 3000);
  if (sometimes()) on.chunked_prefill_size = static_cast<std::int64_t>(1024 * pick(random, 1, 16));
  on.enable_piecewise_cuda_graph =
      sometimes() ? engines::sglang_switch::on : engines::sglang_switch::automatic;
  on.allow_overwrite_longer_context_len = coin(random);
  on.disable_hybrid_swa_memory = sometimes();
  on.disable_radix_cache = sometimes();
  if (sometimes()) on.used_by_others = bytes{pick(random, 0, 8 * gib)};
  return on;
}

deployment random_deployment(const model_architecture& model, random_engine& random) {
  deployment d{.model = model};
  d.kv_cache = coin(random) ? kv_format{} : kv_format{f::fp8_e4m3};
  d.workload.sequences = pick(random, 1, 300);
  d.workload.context = tokens{pick(random, 1, 40'000)};
  if (coin(random)) d.workload.shared_prefix = tokens{pick(random, 0, d.workload.context.value)};
  if (pick(random, 0, 3) == 0) {
    const std::uint64_t prompt = pick(random, 1, 9000);
    d.workload.add(
        {pick(random, 1, 40), tokens{prompt}, tokens{pick(random, 0, 900)}, tokens{pick(random, 0, prompt)}});
  }
  d.parallel.tensor = 1U << pick32(random, 0, 2);
  if (coin(random))
    d.parallel.attention_data = d.parallel.tensor >> pick32(random, 0, d.parallel.tensor == 1 ? 0 : 1);
  d.parallel.data = pick32(random, 1, 3);
  if (pick(random, 0, 2) == 0) d.parallel.pipeline = pick32(random, 1, std::min(3u, model.num_hidden_layers));
  return d;
}
gpu_profile random_gpu(random_engine& random) {
  return coin(random) ? gpu_of_mib(pick(random, 6'000, 290'000)) : *gpus::all[pick(random, 5, 60)];
}
bool has_memory(const gpu_profile& gpu) {
  return gpu.driver_total_bytes != 0 || gpu.runtime_total_bytes != 0;
}

struct outcomes {
  int never = 0;
  int unbounded = 0;
  int bounded_by_pools = 0;
  int bounded_by_the_engine = 0;
};

/// The value fits, one more does not; whether the pools or a limit of the engine stopped it.
void check_limit(const limit& found, detail::varied what, const deployment& d, const sglang& on,
                 const gpu_profile& gpu, outcomes& seen) {
  const allocation pools = allocate(d, on, gpu);
  const auto fits_at = [&](std::uint64_t n) {
    deployment resized = d;
    resized.workload = detail::resized(d.workload, what, n);
    return check_fit(pools, resized, gpu, on).fits;
  };
  if (found.unbounded) {
    CHECK(fits_at(detail::beyond_any_gpu));
    ++seen.unbounded;
    return;
  }
  if (!found.fits) {
    CHECK_FALSE(fits_at(1));
    ++seen.never;
    return;
  }
  CHECK(fits_at(found.value));
  CHECK_FALSE(fits_at(found.value + 1));
  deployment more = d;
  more.workload = detail::resized(d.workload, what, found.value + 1);
  ++(detail::admits(pools, more) ? seen.bounded_by_pools : seen.bounded_by_the_engine);
}

}  // namespace

TEST_CASE("SGLang's limits are exact") {
  random_engine random{20261101};
  static model_architecture model;
  outcomes contexts, sequences, actives;
  for (int i = 0; i < 3'500; ++i) {
    if (i % 4 == 0) fill(model, random);
    const deployment d = random_deployment(model, random);
    const sglang on = random_options(random);
    const gpu_profile gpu = random_gpu(random);
    if (!has_memory(gpu)) continue;
    CAPTURE(i);
    check_limit(max_context(d, on, gpu), detail::varied::context, d, on, gpu, contexts);
    check_limit(max_sequences(d, on, gpu), detail::varied::sequences, d, on, gpu, sequences);
    check_limit(max_active_tokens(d, on, gpu), detail::varied::active_tokens, d, on, gpu, actives);
  }
  CHECK(contexts.never > 100);
  CHECK(contexts.bounded_by_pools > 100);
  CHECK(contexts.bounded_by_the_engine > 100);
  CHECK(contexts.unbounded == 0);  // context_length always bounds it
  CHECK(sequences.never > 100);
  CHECK(sequences.bounded_by_pools > 100);
  CHECK(sequences.bounded_by_the_engine > 100);
  CHECK(sequences.unbounded == 0);  // max_running_requests always bounds it
  CHECK(actives.bounded_by_pools > 100);
  CHECK(actives.bounded_by_the_engine > 100);
}

TEST_CASE("SGLang's pools fit what is left and fill it") {
  random_engine random{20261102};
  static model_architecture model;
  int filled = 0, windows = 0, states = 0;
  for (int i = 0; i < 4'000; ++i) {
    if (i % 4 == 0) fill(model, random);
    deployment d = random_deployment(model, random);
    const sglang on = random_options(random);
    const std::uint64_t available = pick(random, 0, 100 * gib);
    CAPTURE(i, available);
    const rank where{pick32(random, 0, d.parallel.pipeline - 1), 0};
    const block_pools pools = on.pools(d, where, h100, available);
    const bool counts_all =
        !on.version.before({0, 5, 9});  // older releases take sparse latents for plain ones
    const bool by_ratio = on.max_mamba_cache_size == 0 && !on.disable_radix_cache;
    std::uint64_t sum = 0;
    for (const block_pool& pool : pools) {
      if (pool.blocks != 0) sum += pool.blocks * pool.block_bytes;
      windows += detail::same_text(pool.name, "kv_cache.windows");
      states += detail::same_text(pool.name, "kv_cache.states");
      CHECK(pool.size().value == (pool.blocks + 1) * pool.block_bytes);
    }
    const bool unpriced = !counts_all && d.parallel.pipeline > 0;
    const bool capped = on.max_running_requests != 0 && on.disable_radix_cache;
    if (by_ratio && !unpriced && !capped) CHECK(sum <= available);
    // One page more does not fit, where nothing else stops it.
    if (pools.count == 1 && detail::same_text(pools.pools[0].name, "kv_cache.tokens") && counts_all &&
        on.max_total_tokens == 0 && pools.pools[0].block_bytes != 0) {
      CHECK(sum + pools.pools[0].block_bytes > available);
      ++filled;
    }
    // Without states more memory never gives fewer tokens.
    bool stateful = false;
    for (const block_pool& pool : pools)
      stateful = stateful || detail::same_text(pool.name, "kv_cache.states");
    if (!stateful) {
      const block_pools more = on.pools(d, where, h100, available + pick(random, 0, gib));
      for (std::uint32_t p = 0; p < pools.count; ++p) CHECK(pools.pools[p].blocks <= more.pools[p].blocks);
    }
  }
  CHECK(filled > 300);
  CHECK(windows > 300);
  CHECK(states > 300);
}

TEST_CASE("SGLang starts with the least bytes and with no fewer") {
  random_engine random{20261103};
  static model_architecture model;
  int plain = 0, hybrid = 0;
  for (int i = 0; i < 3'000; ++i) {
    if (i % 4 == 0) fill(model, random);
    deployment d = random_deployment(model, random);
    d.parallel.pipeline = 1;
    const sglang on = random_options(random);
    CAPTURE(i);
    const std::uint64_t need = on.needed_to_start(d, h100, block_pools{}, 1).value;
    if (need >= std::uint64_t{1} << 48) continue;  // a ratio or a cap that never leaves room for a request
    const block_pools at = on.pools(d, rank{}, h100, need);
    CHECK(at.pools[0].blocks > 0);
    if (need == 0) continue;
    const block_pools below = on.pools(d, rank{}, h100, need - 1);
    bool fewer = false;
    for (std::uint32_t p = 0; p < at.count; ++p) fewer = fewer || below.pools[p].blocks < at.pools[p].blocks;
    const bool slots_given = on.max_mamba_cache_size != 0 || on.disable_radix_cache;
    CHECK((fewer || slots_given));  // so many slots must fit, whatever the memory
    ++(at.count == 1 ? plain : hybrid);
  }
  CHECK(plain > 300);
  CHECK(hybrid > 300);
}

TEST_CASE("SGLang's ledgers add up") {
  random_engine random{20261104};
  static model_architecture model;
  int started = 0;
  for (int i = 0; i < 1'500; ++i) {
    if (i % 4 == 0) fill(model, random);
    const deployment d = random_deployment(model, random);
    const sglang on = random_options(random);
    const gpu_profile gpu = random_gpu(random);
    if (!has_memory(gpu)) continue;
    CAPTURE(i);
    const allocation found = allocate(d, on, gpu);
    CHECK(found.budget.kv_cache() == found.pools.size());
    CHECK(found.running_requests == on.running_requests(d, gpu));
    CHECK(found.budget["request_table"] == on.request_table(d, found.running_requests));
    CHECK(found.available_kv.low <= found.available_kv.expected);
    CHECK(found.available_kv.expected <= found.available_kv.high);
    CHECK(longest_start(found, d, on, gpu) ==
          (found.needed_to_start.value <= detail::at_least_zero(found.available_kv.expected)
               ? found.longest_request
               : 0));
    for (std::uint32_t p = 0; p < found.pools.count; ++p) {
      if (found.pools.count == 1) CHECK(found.low.blocks[p] <= found.pools.pools[p].blocks);
    }
    // Every rank keeps as many blocks; the cluster holds all of them.
    const cluster_budget cluster = estimate_cluster(d, on, &gpu);
    CHECK(cluster.ranks() == d.parallel.ranks());
    if (d.parallel.pipeline == 1) {
      CHECK(cluster.kv_cache() == found.pools.size() * d.parallel.ranks());
      CHECK(cluster.worst().total() == found.budget.total());
    }
    // More of the GPU never means fewer tokens.
    const bool stateful = found.pools.pools[found.pools.count - 1].name == std::string{"kv_cache.states"};
    sglang more = on;
    more.mem_fraction_static = on.fraction(d, gpu) + 0.005;
    if (!stateful) CHECK(allocate(d, more, gpu).blocks() >= found.blocks());
    // What it says of a shortage agrees with whether it starts.
    if (d.parallel.pipeline == 1 && !found.refused) {
      started += found.starts();
      if (on.out_of_memory(d, gpu)) CHECK_FALSE(found.starts());
    }
    const capacity all = capacity_of(d, gpu, on);
    CHECK(all.blocks == found.blocks());
    CHECK(all.starts == found.starts());
  }
  CHECK(started > 100);
}

TEST_CASE("shares are rounded to the nearest thousandth") {
  random_engine random{20261105};
  for (int i = 0; i < 20'000; ++i) {
    const double share = static_cast<double>(pick(random, 0, 999'999)) / 1'000'000;
    const double rounded = rules::rounded_to_thousandths(share);
    CAPTURE(share);
    CHECK(std::abs(rounded - share) <= 0.0005 + 1e-12);
    CHECK(std::abs(rounded * 1000 - std::round(rounded * 1000)) < 1e-9);
  }
}

}  // namespace sglang_cases
