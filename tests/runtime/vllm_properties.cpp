// vLLM's pools on random models, layouts, options and GPUs: inverses, sums of ranks, and a second way of
// building its block tables, layer by layer as the engine does.
#include <map>
#include <tuple>
#include <vector>

#include "kvbudget/engine/vllm.hpp"
#include "support/pool_properties.hpp"

namespace samples {
namespace {

using engines::vllm;

vllm random_vllm(random_engine& random) {
  constexpr engine_version versions[] = {{0, 6}, {0, 8}, {0, 11}, {0, 19}, {0, 22}, {0, 27}, {0, 31}};
  vllm on{.version = versions[pick(random, 0, 6)]};
  if (pick(random, 0, 1) == 0)
    on.gpu_memory_utilization = 0.3 + 0.01 * static_cast<double>(pick(random, 0, 69));
  on.max_model_len = pick(random, 1, 60'000);
  if (pick(random, 0, 1) == 0) on.max_num_seqs = pick(random, 1, 600);
  if (pick(random, 0, 1) == 0) on.max_num_batched_tokens = pick(random, 600, 16'384);
  if (pick(random, 0, 4) == 0) on.block_size = 16 * pick(random, 1, 8);
  on.enforce_eager = pick(random, 0, 1) == 0;
  on.enable_prefix_caching = pick(random, 0, 2) == 0;
  on.disable_hybrid_kv_cache_manager = pick(random, 0, 4) == 0;
  if (pick(random, 0, 4) == 0) on.kv_cache_memory_bytes = bytes{pick(random, 0, std::uint64_t{40} << 30)};
  if (pick(random, 0, 9) == 0) on.num_gpu_blocks_override = pick(random, 1, 5'000);
  on.fit_max_model_len = pick(random, 0, 6) == 0;
  if (pick(random, 0, 5) == 0) on.cpu_offload_gb = 0.5 * static_cast<double>(pick(random, 1, 40));
  return on;
}

/// A small model, so that it often fits, on a random layout.
deployment random_serving(model_architecture& model, random_engine& random) {
  fill(model, random);
  deployment d =
      uniform(model, *plain_formats[pick(random, 0, 3)], pick(random, 1, 200), pick(random, 1, 40'000));
  d.kv_cache = *plain_formats[pick(random, 1, 3)];
  d.workload.shared_prefix = tokens{pick(random, 0, 1) == 0 ? 0 : pick(random, 0, d.workload.context.value)};
  d.parallel.tensor = 1U << pick32(random, 0, 2);
  d.parallel.data = 1U << pick32(random, 0, 2);
  d.parallel.pipeline = pick32(random, 1, std::min<std::uint32_t>(3, model.num_hidden_layers));
  if (pick(random, 0, 6) == 0) {
    d.kv_exceptions.format = f::bf16;
    d.kv_exceptions.last_layers = 1;
  }
  return d;
}

/// The block tables as the engine builds them: a list of layers, each with its page; types cut into strides.
struct naive_pool {
  std::uint64_t blocks = 0;
  std::uint64_t per_request = 0;
};
struct naive_layer {
  int kind = 0;  ///< 0 full, 1 window, 2 chunk, 3 state, 4 encoder
  std::uint64_t block = 0, page = 0, window = 0;
  std::uint32_t number = 0;  ///< of the layer that registers it
};
std::uint64_t naive_blocks(const naive_layer& layer, std::uint64_t length, std::uint64_t in_flight,
                           std::uint64_t state_blocks) {
  const auto up = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
  switch (layer.kind) {
    case 0: return up(length, layer.block);
    case 1: return up(std::min(layer.window - 1 + in_flight, length), layer.block) + 1;
    case 2: return up(std::min(layer.window + in_flight, length), layer.block);
    case 3: return state_blocks;
    default: return up(layer.window, layer.block);
  }
}

naive_pool build_naively(const deployment& d, const vllm& on, const gpu_profile& gpu, std::uint32_t stage,
                         std::uint64_t available, std::uint64_t length) {
  const auto options = on.resolved(d, gpu);
  const model_architecture& model = *d.model;
  const std::uint64_t element = d.kv_cache.key.format.block_bytes;
  std::uint64_t state = 0, token = 0;
  bool latents = false, indexed = false;
  const auto token_of = [&](const store& s, bool exception) -> std::uint64_t {
    const std::uint64_t each = exception ? 2 : element;
    if (s.kind == store_kind::latent) {
      if (s.indexer_dim != 0 && each == 1)
        return s.latent_rank + 4 * ((s.latent_rank + 127u) / 128) + 2u * s.rope_dim;
      return (s.latent_rank + s.rope_dim) * each;
    }
    const std::uint64_t heads = std::max(1u, s.kv_heads / d.parallel.tensor);
    return heads * (s.key_dim + s.value_dim) * each;
  };
  const auto is_exception = [&](std::uint32_t layer) {
    return d.kv_exceptions.contains(layer, model.num_hidden_layers);
  };
  const auto state_of_one = [&](const store& s) {
    const state_elements elements = state_of(s, d.parallel.tensor);
    return 2 * elements.convolution + (elements.recurrent_in_fp32 ? 4 : 2) * elements.recurrent;
  };
  for (std::uint32_t layer = 0; layer < model.num_hidden_layers; ++layer) {
    const layer_kind& kind = model.kinds[model.order[layer]];
    for (std::uint32_t i = 0; i < kind.store_count; ++i) {
      const store& s = kind.stores[i];
      indexed = indexed || s.indexer_dim != 0;
      if (s.kind == store_kind::recurrent) state = std::max(state, state_of_one(s));
      if (s.kind == store_kind::full || s.kind == store_kind::sliding_window ||
          s.kind == store_kind::chunked || s.kind == store_kind::latent) {
        latents = latents || s.kind == store_kind::latent;
        token = std::max(token, token_of(s, is_exception(layer)));
      }
    }
  }
  const bool hopper = capability_of(gpu).major == 9;
  std::uint64_t block = on.block_size != 0 ? on.block_size : latents ? (indexed || hopper ? 64 : 16) : 16;
  if (state != 0 && token != 0) {
    const std::uint64_t multiple = latents ? 64 : 16;
    block = std::max(on.block_size, multiple * ((state + multiple * token - 1) / (multiple * token)));
  }
  const bool promote = on.disable_hybrid_kv_cache_manager || !on.rules().hybrid_kv_cache_manager;
  const bool align = on.enable_prefix_caching;
  std::vector<naive_layer> layers;
  for (std::uint32_t number = 0; number < model.num_hidden_layers; ++number) {
    const layer_kind& kind = model.kinds[model.order[number]];
    for (std::uint32_t i = 0; i < kind.store_count; ++i) {
      const store& s = kind.stores[i];
      const std::uint64_t page = block * (s.kind == store_kind::recurrent || s.kind == store_kind::shared
                                              ? 0
                                              : token_of(s, is_exception(number)));
      if (s.kind == store_kind::full || s.kind == store_kind::latent) {
        layers.push_back({0, block, page, 0, number});
        if (s.indexer_dim != 0)
          layers.push_back(
              {0, block, block * (s.indexer_dim + 4 * ((s.indexer_dim + 127u) / 128)), 0, number});
      }
      if (s.kind == store_kind::sliding_window) layers.push_back({1, block, page, s.window, number});
      if (s.kind == store_kind::chunked) layers.push_back({2, block, page, s.window, number});
      if (s.kind == store_kind::cross_attention) {
        const bool like_self = on.version.before({0, 8});
        layers.push_back({like_self ? 0 : 4, block, page, like_self ? 0 : s.encoder_tokens, number});
      }
      if (s.kind == store_kind::recurrent) {
        const std::uint64_t padded = token == 0 ? state_of_one(s) : std::max(state_of_one(s), block * token);
        layers.push_back({3, align ? block : options.max_model_len, padded, 0, number});
      }
    }
  }
  if (layers.empty()) return {1, 0};
  bool has_full = false;
  for (const naive_layer& each : layers) has_full = has_full || each.kind == 0;
  for (naive_layer& each : layers) {
    if (has_full &&
        ((promote && each.kind == 1) || ((promote || on.version.before({0, 21})) && each.kind == 2))) {
      each.kind = 0;
      each.window = 0;
    }
  }
  const layer_range range = layers_of_stage(d.parallel, model.num_hidden_layers, stage);
  const auto is_here = [&](const naive_layer& each) {
    return each.number >= range.first && each.number < range.last;
  };
  const std::uint64_t state_blocks = align ? 2 : 1;
  const std::uint32_t stages = d.parallel.pipeline;
  std::uint64_t in_flight = options.max_num_batched_tokens;
  if (!(on.version.before({0, 21})))
    in_flight *= stages == 1 ? 2 : on.version.before({0, 27}) ? stages : stages + 1;

  bool one_type = true;
  for (const naive_layer& each : layers) {
    one_type = one_type && each.kind == layers[0].kind && each.block == layers[0].block &&
               each.window == layers[0].window;
  }
  naive_pool result;
  if (one_type) {
    std::uint64_t bytes_here = 0;
    for (const naive_layer& each : layers) bytes_here += is_here(each) ? each.page : 0;
    result.blocks = bytes_here == 0 ? UINT64_MAX : available / bytes_here;
    result.per_request = naive_blocks(layers[0], length, in_flight, state_blocks);
    return result;
  }
  std::uint64_t page = 0;
  for (const naive_layer& each : layers) page = std::max(page, each.page);
  for (naive_layer& each : layers) {
    if (each.kind != 3 && page % each.page == 0) each.block *= page / each.page;
    each.page = page;
  }
  std::map<std::tuple<int, std::uint64_t, std::uint64_t>, std::vector<naive_layer>> types;
  for (const naive_layer& each : layers) types[{each.kind, each.block, each.window}].push_back(each);
  std::size_t fewest = SIZE_MAX, most = 0;
  for (const auto& [key, list] : types) {
    fewest = std::min(fewest, list.size());
    most = std::max(most, list.size());
  }
  const std::size_t size = static_cast<double>(most) < 1.5 * static_cast<double>(fewest) ? most : fewest;
  std::size_t size_here = 0;
  for (const auto& [key, list] : types) {
    const std::size_t tables = (list.size() + size - 1) / size;
    for (std::size_t table = 0; table < tables; ++table) {
      std::size_t here = 0;
      for (std::size_t i = table; i < list.size(); i += tables) here += is_here(list[i]) ? 1U : 0U;
      size_here = std::max(size_here, here);
      result.per_request += naive_blocks(list[0], length, in_flight, state_blocks);
    }
  }
  result.blocks = size_here == 0 ? UINT64_MAX : available / (page * size_here);
  return result;
}

bool has_compressed(const model_architecture& model) {
  for (std::uint32_t kind = 0; kind < model.kind_count; ++kind) {
    if (model.kinds[kind].stores[0].kind == store_kind::compressed) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("vLLM's limits are exact, and its ranks agree, on random deployments") {
  random_engine random{2026};
  static model_architecture model;
  answers_met met;
  for (int i = 0; i < 3000; ++i) {
    const deployment d = random_serving(model, random);
    const vllm on = random_vllm(random);
    const gpu_profile& gpu = random_gpu(random);
    const headroom asked = pick(random, 0, 3) == 0 ? headroom{percent(pick(random, 1, 60))} : headroom{};
    CAPTURE(i);
    const answers_met here = prove_pools(d, on, gpu, asked, on.num_gpu_blocks_override == 0);
    met.exact += here.exact;
    met.never += here.never;
    met.capped += here.capped;
    met.unbounded += here.unbounded;
  }
  CHECK(met.exact > 100);
  CHECK(met.never > 100);
  CHECK(met.capped > 100);
}

TEST_CASE("vLLM's block tables are those that lists of layers give") {
  random_engine random{7};
  static model_architecture model;
  int compared = 0;
  for (int i = 0; i < 3000; ++i) {
    const deployment d = random_serving(model, random);
    if (has_compressed(model)) continue;
    vllm on = random_vllm(random);
    on.num_gpu_blocks_override = 0;
    const gpu_profile& gpu = random_gpu(random);
    const std::uint64_t available = pick(random, 0, std::uint64_t{60} << 30);
    const std::uint64_t length = pick(random, 1, on.max_model_len);
    CAPTURE(i);
    std::uint64_t fewest = UINT64_MAX, ours = UINT64_MAX;
    for (std::uint32_t stage = 0; stage < d.parallel.pipeline; ++stage) {
      const naive_pool naive = build_naively(d, on, gpu, stage, available, length);
      const block_pool pool = on.pools(d, rank{stage, 0}, gpu, available).pools[0];
      REQUIRE(pool.blocks_of(length) == naive.per_request);
      fewest = std::min(fewest, naive.blocks);
      if (pool.block_bytes != 0) ours = std::min(ours, pool.blocks);
    }
    if (fewest != UINT64_MAX && ours != UINT64_MAX) REQUIRE(ours == fewest);
    ++compared;
  }
  CHECK(compared > 1500);
}

}  // namespace samples
