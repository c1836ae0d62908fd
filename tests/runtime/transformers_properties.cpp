// Properties of Transformers' ledgers, inverses and device maps, tried on thousands of random runs of the
// catalogue's models (fixed seeds).
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/transformers.hpp"

namespace generation {
namespace {

const model_architecture& random_model(random_engine& random) { return *one_of(random, models::all); }

engines::transformers random_engine_options(random_engine& random) {
  static constexpr engine_version versions[] = {{4, 40}, {4, 45}, {4, 50}, {4, 53}, {4, 56}, {5, 0}};
  engines::transformers on;
  on.version = one_of(random, versions);
  on.cache_implementation = static_cast<transformers_cache>(pick(random, 0, 6));
  on.attn_implementation = static_cast<transformers_attention>(pick(random, 0, 2));
  on.num_beams = pick(random, 0, 3) == 0 ? pick32(random, 2, 5) : 1;
  if (pick(random, 0, 1) == 0) on.max_new_tokens = pick(random, 1, 3000);
  if (pick(random, 0, 2) == 0) on.max_cache_len = pick(random, 1, 20000);
  if (pick(random, 0, 2) == 0) on.prefill_chunk_size = pick(random, 1, 4096);
  on.logits = static_cast<transformers_logits>(pick(random, 0, 2));
  static constexpr std::uint32_t quanto_bits[] = {2, 4};
  static constexpr std::uint32_t hqq_bits[] = {1, 2, 3, 4, 8};
  const bool quanto = pick(random, 0, 1) == 0;
  on.backend = quanto ? transformers_quantizer::quanto : transformers_quantizer::hqq;
  on.nbits = quanto ? one_of(random, quanto_bits) : one_of(random, hqq_bits);
  on.residual_length = pick32(random, 1, 300);
  on.offload_only_non_sliding = static_cast<option_choice>(pick(random, 0, 2));
  if (pick(random, 0, 4) == 0) on.used_by_others = bytes{pick(random, 0, 4'000'000'000)};
  return on;
}

deployment random_run(const model_architecture& model, random_engine& random) {
  deployment d{.model = model};
  if (model.dtype.is_automatic()) d.dtype = f::bf16;
  if (pick(random, 0, 1) == 0) d.weights = pick(random, 0, 1) == 0 ? schemes::nf4 : weight_scheme{f::bf16};
  d.workload.sequences = pick(random, 1, 40);
  d.workload.context = tokens{pick(random, 1, 30000)};
  for (std::uint64_t more = pick(random, 0, 2); more > 0; --more) {
    d.workload.add({pick(random, 1, 8), tokens{pick(random, 1, 3000)}, tokens{pick(random, 0, 900)}, {}});
  }
  d.parallel.data = pick32(random, 1, 3);
  d.parallel.pipeline = pick32(random, 1, std::min<std::uint32_t>(4, model.num_hidden_layers));
  d.parallel.tensor = pick(random, 0, 3) == 0 ? 2 : 1;
  if (pick(random, 0, 5) == 0) d.pinned.activations = 1_GB;
  try {
    (void)estimate(d);
  } catch (const error&) {
    d.parallel.tensor = 1;  // heads, states or matrices that two ranks cannot share
  }
  return d;
}

/// One step after the other, as QuantizedLayer.update does it: the most that quantized tokens and the latest
/// ones take together, in bytes of one side.
std::uint64_t widest_by_steps(const engines::transformers& on, std::uint64_t each, std::uint64_t prompt,
                              std::uint64_t context) {
  std::uint64_t old = prompt, latest = 0, widest = 0;
  for (std::uint64_t length = prompt;; ++length) {
    const std::uint64_t elements = each * old;
    const std::uint64_t packed = on.nbits == 3 ? (elements + 9) / 10 * 4 : (elements * on.nbits + 7) / 8;
    const std::uint64_t groups = (elements + on.q_group_size - 1) / on.q_group_size;
    widest = std::max(widest, packed + groups * 4 + each * latest * 2);
    if (length == context) return widest;
    if (++latest == on.residual_length) {
      old += latest;
      latest = 0;
    }
  }
}

/// accelerate's algorithm as it is written: a tree of modules, of which the next one is tried whole and split
/// where it does not fit.
struct module_node {
  std::uint64_t size = 0;
  bool whole = true;  ///< a block or a module without children
  std::vector<module_node> children{};
  int number = 0;  ///< of the block; -1 embedding, -2 norm, -3 head
};
std::uint64_t largest_layer(const std::vector<module_node>& modules) {
  std::uint64_t largest = 0;
  for (const module_node& node : modules) {
    largest = std::max(largest, node.whole ? node.size : largest_layer(node.children));
  }
  return largest;
}
/// Device of each block, then of embedding, norm and head; GPUs first, CPU, disk.
std::vector<std::uint32_t> infer_device_map(const detail::movable_modules& modules,
                                            const model_architecture& model, const device_placement& limits) {
  const bool tied = model.tie_word_embeddings;
  module_node layers{0, false, {}, 0};
  for (std::uint32_t i = 0; i < model.num_hidden_layers; ++i) {
    layers.children.push_back({modules.block[model.order[i]], true, {}, static_cast<int>(i)});
    layers.size += layers.children.back().size;
  }
  module_node inner{0, false, {{modules.embedding, true, {}, -1}, layers, {modules.norm, true, {}, -2}}, 0};
  for (const module_node& child : inner.children) inner.size += child.size;
  std::vector<module_node> treat{inner};
  if (!tied) treat.push_back({modules.lm_head, true, {}, -3});
  std::vector<std::uint32_t> found(model.num_hidden_layers + 3);
  const std::uint32_t cpu = limits.gpu_count, disk = cpu + 1;
  std::vector<std::uint64_t> used(disk + 1);
  std::uint32_t device = 0;
  const auto limit = [&](std::uint32_t which) {
    return static_cast<std::int64_t>((which == cpu ? limits.cpu : limits.gpus[which]).limit.value);
  };
  const auto assign = [&](const auto& self, const module_node& node) -> void {
    if (node.whole) {
      const std::uint32_t slot = node.number >= 0
                                     ? static_cast<std::uint32_t>(node.number)
                                     : model.num_hidden_layers + static_cast<std::uint32_t>(-node.number) - 1;
      found[slot] = device;
    }
    for (const module_node& child : node.children) self(self, child);
  };
  while (!treat.empty()) {
    const module_node node = treat.front();
    treat.erase(treat.begin());
    const std::uint64_t reserved = largest_layer(treat);
    const bool main = device == 0 || device == cpu;
    const std::int64_t room =
        device == disk ? INT64_MAX : limit(device) - static_cast<std::int64_t>(main ? reserved : 0);
    if (static_cast<std::int64_t>(used[device] + node.size) <= room) {
      used[device] += node.size;
      assign(assign, node);
    } else if (!node.whole) {
      treat.insert(treat.begin(), node.children.begin(), node.children.end());
    } else {
      ++device;
      treat.insert(treat.begin(), node);
    }
  }
  if (tied) found[model.num_hidden_layers + 2] = found[model.num_hidden_layers];
  return found;
}

constexpr int runs = 3000;
const gpu_profile* const cards[] = {&gpus::nvidia_h100_sxm_80gb, &gpus::nvidia_t4_16gb,
                                    &gpus::nvidia_rtx_3090_24gb, &gpus::nvidia_b200_sxm_180gb};

}  // namespace

TEST_CASE("Transformers: limits are exact, or never, or unbounded") {
  random_engine random{20261001};
  int exact = 0, never = 0, unbounded = 0;
  for (int i = 0; i < runs; ++i) {
    const deployment d = random_run(random_model(random), random);
    const engines::transformers on = random_engine_options(random);
    const gpu_profile& gpu = *one_of(random, cards);
    CAPTURE(i, d.model->name, on.name().text, static_cast<int>(on.cache_implementation));
    for (int which = 0; which < 3; ++which) {
      const auto fits_with = [&](std::uint64_t n) {
        deployment changed = d;
        if (which == 0) changed.workload.context = tokens{n};
        if (which == 1) changed.workload.sequences = n;
        if (which == 2) changed.workload = active_tokens(tokens{n}, d.workload.sequences);
        return fits(changed, gpu, on);
      };
      const limit found = which == 0   ? max_context(d, on, gpu)
                          : which == 1 ? max_sequences(d, on, gpu)
                                       : max_active_tokens(d, on, gpu);
      if (found.unbounded) {
        ++unbounded;
        REQUIRE(fits_with(std::uint64_t{1} << 40));
      } else if (!found.fits) {
        ++never;
        REQUIRE(!fits_with(1));
      } else {
        ++exact;
        REQUIRE(fits_with(found.value));
        REQUIRE(!fits_with(found.value + 1));
        // Monotone: what is smaller fits, what is larger does not.
        REQUIRE(fits_with(pick(random, 1, found.value)));
        REQUIRE(!fits_with(found.value + pick(random, 1, found.value)));
      }
    }
  }
  CAPTURE(exact, never, unbounded);
  CHECK(exact > 1000);
  CHECK(never > 1000);
  CHECK(unbounded > 20);
}

TEST_CASE("Transformers: ledgers grow with tokens, requests, beams and room") {
  random_engine random{20261002};
  for (int i = 0; i < runs; ++i) {
    const deployment d = random_run(random_model(random), random);
    const engines::transformers on = random_engine_options(random);
    CAPTURE(i, d.model->name, on.name().text, static_cast<int>(on.cache_implementation));
    const memory_budget before = estimate(d, on);
    REQUIRE(before.total_low() <= before.total());
    REQUIRE(before.total() <= before.total_high());

    deployment longer = d;
    longer.workload.context += tokens{pick(random, 1, 300)};
    REQUIRE(before.total() <= estimate(longer, on).total());
    deployment more = d;
    more.workload.sequences += pick(random, 1, 9);
    REQUIRE(before.total() <= estimate(more, on).total());
    engines::transformers wider = on;
    ++wider.num_beams;
    REQUIRE(before.total() <= estimate(d, wider).total());
    wider = on;
    wider.max_cache_len += 5000;
    REQUIRE(before.total() <= estimate(d, wider).total());

    // Parts make up their line, from the lowest to the highest; an offloaded cache is on one side or the
    // other.
    std::uint64_t parts = 0;
    for (const line_item& line : before) {
      const std::string_view name = line.name;
      if (name.substr(0, 9) == "kv_cache.") parts += line.expected.value;
    }
    REQUIRE(parts == before.kv_cache().value);
  }
}

TEST_CASE("Transformers: the stages of a pipeline keep what one GPU keeps") {
  random_engine random{20261003};
  for (int i = 0; i < runs; ++i) {
    deployment d = random_run(random_model(random), random);
    d.parallel.data = 1;
    d.parallel.tensor = 1;
    engines::transformers on = random_engine_options(random);
    CAPTURE(i, d.model->name, on.name().text, static_cast<int>(on.cache_implementation));
    static constexpr const char* kept[] = {"kv_cache.payload", "kv_cache.scales", "kv_cache.state",
                                           "kv_cache.indexer", "kv_cache.cross_attention"};
    bytes staged{}, whole{};
    for (std::uint32_t stage = 0; stage < d.parallel.pipeline; ++stage) {
      const memory_budget ledger = on.ledger(d, {stage, 0});
      for (const char* line : kept) staged += ledger[line];
      staged += on.host_ledger(d, {stage, 0}).kv_cache();
    }
    d.parallel.pipeline = 1;
    const memory_budget ledger = on.ledger(d, {});
    for (const char* line : kept) whole += ledger[line];
    whole += on.host_ledger(d, {}).kv_cache();
    REQUIRE(staged == whole);

    // Offloading moves tensors, it adds and loses none.
    if (!on.is_offloaded()) continue;
    const memory_budget away = on.host_ledger(d, {});
    on.cache_implementation = on.is_static() ? transformers_cache::static_cache : transformers_cache::dynamic;
    const memory_budget resident = on.ledger(d, {});
    REQUIRE(ledger["kv_cache.payload"] + away.kv_cache() == resident["kv_cache.payload"]);
  }
}

TEST_CASE("Transformers: a quantized cache is as large as its fullest step") {
  random_engine random{20261005};
  for (int i = 0; i < runs; ++i) {
    engines::transformers on = random_engine_options(random);
    on.q_group_size = 1U << pick32(random, 3, 8);
    const std::uint64_t each = pick(random, 1, 20) * 64, prompt = pick(random, 0, 700);
    const padded_batch batch{1, prompt, prompt + pick(random, 0, 900), prompt, 0, false};
    CAPTURE(i, on.nbits, on.residual_length, prompt, batch.context);
    REQUIRE(detail::widest_quantized_side(on, f::bf16, each, batch).total() ==
            widest_by_steps(on, each, prompt, batch.context));
  }
}

TEST_CASE("accelerate: every module is placed once, in order, within the limits") {
  random_engine random{20261004};
  int offloaded_runs = 0, on_disk = 0, simulated = 0;
  for (int i = 0; i < runs; ++i) {
    deployment d = random_run(random_model(random), random);
    d.parallel = {};
    const engines::transformers on = random_engine_options(random);
    const gpu_profile& gpu = *one_of(random, cards);
    device_map_options asked{.device_map = static_cast<device_map_kind>(pick(random, 0, 3)),
                             .gpus = pick32(random, 1, 8)};
    if (pick(random, 0, 2) == 0) asked.max_memory = bytes{pick(random, 1, 40'000'000'000)};
    if (pick(random, 0, 1) == 0) asked.cpu_available = bytes{pick(random, 1, 200'000'000'000)};
    CAPTURE(i, d.model->name, asked.gpus, static_cast<int>(asked.device_map));
    const device_placement plan = place_on_devices(on, d, asked, gpu);
    const weight_bytes all = weights_of(d, share_of(d, rank{}));
    REQUIRE(everywhere(plan).value >= detail::sum_of(all));  // assumed totals are rounded up block by block
    REQUIRE(everywhere(plan).value <= detail::sum_of(all) + 4096);

    std::uint32_t next = 0;
    int embeddings = 0, heads = 0, norms = 0;
    const auto visit = [&](const placed_modules& device) {
      if (device.layers.size() != 0) {
        REQUIRE(device.layers.first == next);
        next = device.layers.last;
      }
      embeddings += device.embedding;
      heads += device.lm_head;
      norms += device.norm;
    };
    for (std::uint32_t n = 0; n < plan.gpu_count; ++n) {
      visit(plan.gpus[n]);
      REQUIRE(plan.gpus[n].weights <= plan.gpus[n].limit);
    }
    visit(plan.cpu);
    visit(plan.disk);
    REQUIRE(next == d.model->num_hidden_layers);
    REQUIRE((embeddings == 1 && heads == 1 && norms == 1));
    if (!(asked.cpu_available == bytes{})) REQUIRE(plan.cpu.weights <= plan.cpu.limit);
    offloaded_runs += plan.offloads();
    on_disk += !(plan.disk.weights == bytes{});

    // accelerate's own algorithm gives out the same; it may split towers, so only models without.
    const detail::movable_modules modules = detail::movable_modules_of(d);
    const bool extra_head = d.model->tie_word_embeddings && modules.lm_head != 0;
    if (modules.towers == 0 && !extra_head && !(asked.cpu_available == bytes{})) {
      const std::vector<std::uint32_t> devices = infer_device_map(modules, *d.model, plan);
      const auto device_of = [&](const auto& has) {
        for (std::uint32_t n = 0; n < plan.gpu_count; ++n) {
          if (has(plan.gpus[n])) return n;
        }
        return plan.gpu_count + (has(plan.cpu) ? 0U : 1U);
      };
      const std::uint32_t layers = d.model->num_hidden_layers;
      for (std::uint32_t layer = 0; layer < layers; ++layer) {
        REQUIRE(devices[layer] == device_of([&](const placed_modules& device) {
                  return device.layers.first <= layer && layer < device.layers.last;
                }));
      }
      REQUIRE(devices[layers] == device_of([](const placed_modules& device) { return device.embedding; }));
      REQUIRE(devices[layers + 1] == device_of([](const placed_modules& device) { return device.norm; }));
      REQUIRE(devices[layers + 2] == device_of([](const placed_modules& device) { return device.lm_head; }));
      ++simulated;
    }

    // The GPUs together keep the cache of all layers.
    bytes kept{}, whole{};
    if (on.is_offloaded()) continue;
    for (std::uint32_t n = 0; n < plan.gpu_count; ++n) {
      kept += ledger_on(on, d, plan, n, &gpu)["kv_cache.payload"];
    }
    whole = on.ledger(d, {})["kv_cache.payload"];
    REQUIRE(kept == whole);
  }
  CHECK(offloaded_runs > 300);
  CHECK(on_disk > 50);
  CHECK(simulated > 500);
}

}  // namespace generation
