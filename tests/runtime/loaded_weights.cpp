// Weights as ranks hold them, a second time, the slow and obvious way: every rank of a layout gets its
// experts, rows and columns one by one. Then what is refused, and what engines printed.
#include "kvbudget/engine/loaded_weights.hpp"

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kvbudget/models.hpp"
#include "support/catch.hpp"
#include "support/samples.hpp"

namespace samples {
namespace {

std::uint32_t pick(std::mt19937_64& random, std::uint32_t low, std::uint32_t high) {
  return std::uniform_int_distribution<std::uint32_t>{low, high}(random);
}

/// A mixture small enough to hand out piece by piece.
struct mixture {
  std::uint32_t hidden_size = 0, heads = 0, kv_heads = 0, head_dim = 0, experts = 0, inner = 0, layers = 0;

  [[nodiscard]] model_architecture model() const {
    using namespace weight_groups;
    model_architecture result;
    result.dtype = f::bf16;
    result.hidden_size = hidden_size;
    layer_kind layer;
    detail::add_attention_weights(layer, hidden_size, {heads, kv_heads, head_dim, head_dim});
    layer.add(stores::full(kv_heads, head_dim));
    detail::add_mixture_weights(layer, hidden_size, {experts, 1, inner});
    result.add_layers(layer, layers);
    return result;
  }
};

/// Elements of experts and attention on every rank of one stage, rank by rank.
struct holdings {
  std::vector<std::uint64_t> experts{}, attention{}, adapters{};
};

/// Ranks are numbered tensor rank by tensor rank within data replica by data replica.
holdings by_hand(const mixture& m, const parallel_layout& layout, const lora_adapters& lora) {
  const std::uint32_t ranks = layout.tensor * layout.data;
  holdings result{std::vector<std::uint64_t>(ranks), std::vector<std::uint64_t>(ranks),
                  std::vector<std::uint64_t>(ranks)};
  const std::uint64_t slot = lora.max_lora_rank;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t attention_ranks = layout.tensor / layout.attention_data;
    const std::uint64_t query_rows = std::uint64_t{m.heads} / attention_ranks * m.head_dim;
    std::uint64_t kv_rows = 0;  // heads are dealt out; ranks beyond them repeat one
    const std::uint32_t position = rank % attention_ranks;
    for (std::uint32_t head = 0; head < m.kv_heads; ++head) {
      const bool mine = m.kv_heads >= attention_ranks ? head / (m.kv_heads / attention_ranks) == position
                                                      : position / (attention_ranks / m.kv_heads) == head;
      if (mine) kv_rows += m.head_dim;
    }
    const std::uint64_t hidden = m.hidden_size;
    std::uint64_t attention = 0, adapters = 0;
    const auto matrix = [&](std::uint64_t rows, std::uint64_t columns) {
      attention += rows * columns;
      adapters += slot * columns + rows * slot;
    };
    matrix(query_rows, hidden);
    matrix(kv_rows, hidden);
    matrix(kv_rows, hidden);
    matrix(hidden, query_rows);
    result.attention[rank] = attention * m.layers;
    std::uint64_t held = 0;
    const std::uint32_t sharing = layout.expert_tensor();
    const std::uint32_t expert_rank = rank / sharing % layout.expert;
    const std::uint64_t wide = m.inner / sharing;
    for (std::uint32_t expert = 0; expert < m.experts; ++expert) {
      // The first ranks' blocks are one longer.
      const std::uint32_t each = m.experts / layout.expert, rest = m.experts % layout.expert;
      const std::uint32_t longer = rest * (each + 1);
      const std::uint32_t owner = expert < longer ? expert / (each + 1) : rest + (expert - longer) / each;
      if (owner != expert_rank) continue;
      held += 3 * wide * hidden;
      adapters += 2 * (slot * hidden + wide * slot) + slot * wide + hidden * slot;
    }
    result.experts[rank] = held * m.layers;
    result.adapters[rank] = adapters * m.layers * lora.max_loras;
  }
  return result;
}

TEST_CASE("Every rank holds the experts, heads and adapters that a layout hands it piece by piece") {
  std::mt19937_64 random{20};
  int tried = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    parallel_layout layout;
    layout.tensor = 1U << pick(random, 0, 3);
    layout.data = pick(random, 0, 1) == 0 ? 1U << pick(random, 0, 2) : 1;
    layout.attention_data = 1U << pick(random, 0, 3);
    if (layout.tensor % layout.attention_data != 0) layout.attention_data = 1;
    layout.experts_span_data = pick(random, 0, 1) != 0;
    layout.uneven_experts = true;
    const std::uint32_t ranks = layout.tensor * layout.data;
    layout.expert = 1U << pick(random, 0, 5);
    if (layout.expert > ranks) layout.expert = ranks;
    const mixture m{.hidden_size = 64,
                    .heads = 16,
                    .kv_heads = 1U << pick(random, 0, 4),
                    .head_dim = 8,
                    .experts = pick(random, 32, 70),
                    .inner = 64,
                    .layers = pick(random, 1, 3)};
    const model_architecture model = m.model();
    deployment d{.model = model};
    d.parallel = layout;
    d.workload.sequences = pick(random, 0, 40);
    d.workload.context = tokens{pick(random, 1, 100)};
    d.lora = {.max_loras = pick(random, 1, 3), .max_lora_rank = 4};
    const holdings hand = by_hand(m, layout, d.lora);
    std::uint64_t experts = 0, attention = 0, adapters = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      experts += 2 * hand.experts[rank];
      attention += 2 * hand.attention[rank];
      adapters += 2 * hand.adapters[rank];
    }
    const cluster_budget found = estimate_cluster(d);
    INFO("tensor " << layout.tensor << " data " << layout.data << " attention " << layout.attention_data
                   << " expert " << layout.expert << " span " << layout.experts_span_data << " experts "
                   << m.experts << " kv " << m.kv_heads);
    REQUIRE(found.ranks() == ranks);
    REQUIRE(found.sum_of("weights.experts").value == experts);
    REQUIRE(found.sum_of("weights.attention").value == attention);
    REQUIRE(found.sum_of("weights.lora").value == adapters);
    // Every request is cached once per rank that holds some of its heads.
    const std::uint32_t attention_ranks = layout.attention_tensor();
    const std::uint64_t repeated = attention_ranks > m.kv_heads ? attention_ranks / m.kv_heads : 1;
    REQUIRE(found.kv_cache().value == d.workload.sequences * d.workload.context.value * 2 * 2 * m.kv_heads *
                                          m.head_dim * m.layers * repeated);
    ++tried;
  }
  CHECK(tried == 4000);
}

template <class Action> std::string rule_of(Action action) {
  try {
    action();
  } catch (const error& broken) {
    return broken.what();
  }
  return "not refused";
}

TEST_CASE("Speculation and adapters that cannot be are refused by name") {
  deployment d = uniform(llama_70b::architecture, f::bf16, 1, 100);
  const auto refusal = [&d] { return rule_of([&d] { validate(d); }); };
  d.speculation.kind = speculation_kind::draft_model;
  CHECK(refusal() == "speculation: eagle and draft_model need a draft model");
  d.speculation.kind = speculation_kind::eagle;
  CHECK(refusal() == "speculation: eagle and draft_model need a draft model");
  d.speculation.kind = speculation_kind::mtp;
  CHECK(refusal() == "speculation: the model has no draft layers (MTP)");
  d.speculation.kind = speculation_kind::ngram;
  CHECK(refusal() == "not refused");
  d.speculation.draft = &deepseek_v3::architecture;
  CHECK(refusal() == "speculation: only eagle and draft_model take a draft model");
  d.speculation.kind = speculation_kind::draft_model;
  CHECK(refusal() == "not refused");
  d.parallel.tensor = 8;
  d.speculation.draft_tensor = 3;
  CHECK(refusal() == "tensor parallel: 128 query heads cannot be split evenly over 3 ranks");

  deployment deep{.model = models::deepseek_v3};
  deep.speculation = {.kind = speculation_kind::mtp, .draft_layers = 2};
  CHECK(rule_of([&] { validate(deep); }) == "speculation: 2 draft layers are asked for, the model has 1");
  model_architecture unknown = models::deepseek_v3;
  unknown.draft_stores[0] = store{};
  unknown.draft_store_count = 0;
  deployment of_unknown{.model = unknown};
  of_unknown.speculation.kind = speculation_kind::mtp;
  CHECK(rule_of([&] { validate(of_unknown); }) ==
        "speculation: what a draft layer of this model keeps in the cache is not known");

  deployment adapted = uniform(llama_70b::architecture, f::bf16, 1, 100);
  adapted.lora.max_loras = 1;
  CHECK(rule_of([&] { validate(adapted); }) ==
        "LoRA: max_loras without max_lora_rank, or the other way round");
  adapted.lora = {.max_loras = 1, .max_lora_rank = 6, .fully_sharded = true};
  adapted.parallel.tensor = 4;
  CHECK(rule_of([&] { (void)estimate(adapted); }) ==
        "LoRA, fully sharded: 6 cannot be split evenly over 4 ranks");
  deployment shapeless = uniform(article_70b, f::fp8_e4m3, 1, 100);
  shapeless.lora = {.max_loras = 1, .max_lora_rank = 8};
  CHECK(rule_of([&] { (void)estimate(shapeless); }) ==
        "LoRA: no matrix of known shape belongs to the targeted modules");

  deployment uneven = uniform(mixtral_8x7b::architecture, f::bf16, 1, 100);
  uneven.parallel = {.tensor = 4, .attention_data = 3};
  CHECK(rule_of([&] { validate(uneven); }) ==
        "attention data parallel: 3 replicas do not divide the tensor degree 4");
  uneven.parallel = {.vocabulary_multiple = 0};
  CHECK(rule_of([&] { validate(uneven); }) == "vocabulary_multiple must be at least one");
  CHECK(rule_of([&] { (void)as_loaded_by_vllm(uniform(llama_70b::architecture, f::bf16, 0, 0), {}); }) ==
        "not refused");
  deployment stored{.model = models::deepseek_v3};
  CHECK(rule_of([&] { (void)as_loaded_by_vllm(stored, {.online_fp8 = true}); }) ==
        "online quantization: the checkpoint's weights are quantized already");
}

/// GiB that vLLM printed for loading a model ("Model loading took"), which include a rotary table.
struct printed {
  const model_architecture* model;
  weight_scheme weights;
  std::uint32_t tensor;
  fp4_expert_kernel kernel;
  std::uint64_t rotary_bytes;
  double gib;
  double tolerance;  ///< of the print and of the allocator, relative
};

TEST_CASE("What vLLM printed for loading weights") {
  constexpr fp4_expert_kernel none = fp4_expert_kernel::none;
  const printed all[] = {
      // vllm-project/vllm pull request 10511 and issues 10517, 33155 and 23278.
      {&models::llama_3_8b, {}, 1, none, 8192 * 128 * 2, 14.96, 0.0005},
      {&models::llama_3_1_8b, {}, 1, none, 131072 * 128 * 2, 14.9888, 0.0001},
      {&models::gpt_oss_120b, {}, 1, fp4_expert_kernel::triton, 131072 * 64 * 4, 64.38, 0.001},
      {&models::gpt_oss_120b, {}, 1, fp4_expert_kernel::marlin, 131072 * 64 * 4, 65.9651, 0.001},
  };
  for (const printed& row : all) {
    INFO(row.model->name << " " << row.gib);
    deployment d{.model = *row.model, .weights = row.weights};
    d.parallel.tensor = row.tensor;
    const bytes found = estimate(as_loaded_by_vllm(d, {.fp4_experts = row.kernel})).weights();
    const double ours = static_cast<double>(found.value + row.rotary_bytes) / 1073741824.0;
    CHECK(std::abs(ours / row.gib - 1) < row.tolerance);
  }
}

}  // namespace
}  // namespace samples
