#pragma once

// What the cases in tests/cases/*.inc refer to, beyond the samples.

#include "kvbudget/engine/loaded_weights.hpp"
#include "support/samples.hpp"

namespace samples {

constexpr deployment article_ledger() {
  return with_pins(uniform(article_70b, f::fp8_e4m3, 1, 32768), 15_GB, 10_GB, 6_GB);
}
constexpr deployment article_on_two(bytes activations, bytes framework, bytes margin) {
  return on_ranks(with_pins(article_ledger(), activations, framework, margin), {.tensor = 2});
}
constexpr deployment article_with_fp16_cache() {
  deployment d = uniform(article_70b, f::fp8_e4m3, 1, 32768);
  d.kv_cache = f::fp16;
  return d;
}
constexpr deployment article_with_fp16_first_half() {
  deployment d = uniform(article_70b, f::fp8_e4m3, 1, 32768);
  d.kv_exceptions.format = f::fp16;
  d.kv_exceptions.first_layers = 40;
  return d;
}
constexpr deployment article_int4_with_int8_cache() {
  deployment d = uniform(article_70b, f::int4, 1, 32768);
  d.kv_cache = f::int8;
  return d;
}

/// One 8192 x 28672 matrix under a scheme, payload and scales together.
constexpr bytes stored_bytes(const weight_scheme& scheme) {
  const weight_group group = weight_groups::by_rows(module_role::mlp, 8192, 28672, 8192);
  const stored_weights found = stored(group, shard_of(group, {}), scheme, 8192);
  return bytes{found.payload + found.scales};
}
constexpr deployment with_scheme(const weight_scheme& scheme) {
  deployment d = uniform(llama_70b::architecture, f::bf16, 0, 0);
  d.weights = scheme;
  d.dtype = f::bf16;
  return d;
}
constexpr deployment with_unquantized_attention() {
  deployment d = with_scheme(f::fp8_e4m3);
  d.unquantized = module_set{}.with(module_role::attention);
  return d;
}
constexpr deployment with_cache(const model_architecture& model, const kv_format& cache,
                                std::uint64_t sequences, std::uint64_t context) {
  deployment d = uniform(model, f::bf16, sequences, context);
  d.kv_cache = cache;
  d.dtype = f::bf16;
  return d;
}
constexpr kv_growth growth_at(const model_architecture& model, std::uint64_t context) {
  deployment d = uniform(model, f::bf16, 1, context);
  d.dtype = f::bf16;
  return kv_growth_of(d, share_of(d, rank{}), tokens{context});
}

constexpr model_architecture one_layer(const store& kept, std::uint32_t heads) {
  model_architecture model;
  model.dtype = f::bf16;
  layer_kind layer;
  layer.add(kept);
  layer.num_attention_heads = heads;
  model.add_layers(layer);
  return model;
}
inline constexpr model_architecture compressed_model =
    one_layer(stores::compressed(512, 64, 128, 4, 128, true), 64);
constexpr model_architecture make_encoder_decoder() {
  model_architecture model;
  layer_kind layer;
  layer.num_attention_heads = 6;
  layer.add(stores::full(6, 64));
  layer.add(stores::cross_attention(6, 64, 1500));
  model.add_layers(layer);
  layer_kind shared;
  shared.add(stores::shared());
  model.add_layers(shared);
  return model;
}
inline constexpr model_architecture encoder_decoder = make_encoder_decoder();

/// A checkpoint that mixes formats: block-scaled attention, MXFP4 in the MLP, a ggml type in the head, norms
/// in bf16.
constexpr model_architecture make_mixed_checkpoint() {
  using namespace weight_groups;
  model_architecture model;
  model.dtype = f::bf16;
  model.hidden_size = 512;
  model.vocab_size = 1000;
  const std::uint8_t blocks = model.precision_of(schemes::fp8_block);
  const std::uint8_t microscaled = model.precision_of(schemes::mxfp4);
  layer_kind layer;
  layer.num_attention_heads = 8;
  layer.add(by_rows(module_role::attention, 512, 512, 8).in(blocks));
  layer.add(by_rows(module_role::mlp, 1536, 512, 1536, 2).in(microscaled));
  layer.add(vectors(module_role::norm, 512));
  model.add_layers(layer, 2);
  model.add(vocabulary_table(module_role::lm_head, 1000, 512).in(model.precision_of(f::q8_0)));
  return model;
}
inline constexpr model_architecture mixed_checkpoint = make_mixed_checkpoint();
constexpr std::uint8_t precisions_of_equal_bytes() {
  model_architecture model;
  model.precision_of(f::int8);
  model.precision_of(f::fp8_e4m3);
  return model.precision_of(f::int8) == 1 ? model.precision_count : std::uint8_t{0};
}
constexpr deployment as_stored(std::uint32_t tensor = 1) {
  deployment d{.model = mixed_checkpoint};
  d.parallel.tensor = tensor;
  return d;
}
constexpr deployment as_stored_without(module_role role) {
  deployment d = as_stored();
  d.unquantized = module_set{}.with(role);
  return d;
}

/// The same by going through every way in which the tokens can draw: each a set of `k` of the `E` experts.
constexpr double distinct_experts_by_enumeration(unsigned num_experts, unsigned num_experts_per_tok,
                                                 unsigned batch) {
  const auto size_of = [](unsigned set) {
    unsigned size = 0;
    for (; set != 0; set &= set - 1) ++size;
    return size;
  };
  unsigned reached[256] = {1};  // how many ways lead to each set of experts that were hit
  for (unsigned token = 0; token < batch; ++token) {
    unsigned next[256] = {};
    for (unsigned hit = 0; hit < 1u << num_experts; ++hit) {
      for (unsigned drawn = 0; drawn < 1u << num_experts; ++drawn) {
        if (size_of(drawn) == num_experts_per_tok) next[hit | drawn] += reached[hit];
      }
    }
    for (unsigned hit = 0; hit < 256; ++hit) reached[hit] = next[hit];
  }
  double ways = 0;
  double sum = 0;
  for (unsigned hit = 0; hit < 256; ++hit) {
    ways += reached[hit];
    sum += double{1} * reached[hit] * size_of(hit);
  }
  return sum / ways;
}
constexpr bool distinct_experts_are_as_enumerated() {
  for (unsigned experts = 1; experts <= 5; ++experts) {
    for (unsigned each = 0; each <= experts; ++each) {
      for (unsigned batch = 0; batch <= 4; ++batch) {
        const double wanted = distinct_experts_by_enumeration(experts, each, batch);
        const double found = expected_distinct_experts(experts, each, tokens{batch});
        if (found - wanted > 1e-12 || wanted - found > 1e-12) return false;
      }
    }
  }
  return true;
}
constexpr bool distinct_experts_grow_to_all() {
  double before = 0;
  for (std::uint64_t batch = 1; batch <= 4096; batch = 2 * batch + batch % 3) {
    const double now = expected_distinct_experts(256, 8, tokens{batch});
    if (now < before || now > 256) return false;
    before = now;
  }
  return before > 255.9;
}

constexpr deployment with_prefix(std::uint64_t sequences, std::uint64_t context, std::uint64_t prefix,
                                 std::uint32_t replicas) {
  deployment d = uniform(llama_70b::architecture, f::bf16, sequences, context);
  d.workload.shared_prefix = tokens{prefix};
  d.parallel.data = replicas;
  return d;
}

using llama_8b =
    decoder<hidden<4096>, vocabulary<128256>, repeat<32, block<gqa<32, 8, 128>, gated_mlp<14336>>>>;
constexpr activation_bytes activations_for(std::uint64_t batched, std::uint64_t sequences) {
  deployment d = uniform(llama_8b::architecture, f::bf16, sequences, 100);
  d.dtype = f::bf16;
  d.workload.batched_tokens = tokens{batched};
  return activations_of(d, share_of(d, rank{}), 0, phase::prefill);
}
using small_moe = decoder<hidden<2048>, vocabulary<151936>,
                          repeat<48, block<gqa<32, 4, 128>, mixture_of_experts<128, 8, 768>>>>;
constexpr activation_bytes moe_activations() {
  deployment d = uniform(small_moe::architecture, f::bf16, 1, 8192);
  d.dtype = f::bf16;
  d.workload.batched_tokens = 8192_tokens;
  return activations_of(d, share_of(d, rank{}), 0, phase::prefill);
}
constexpr activation_bytes naive_activations() {
  deployment d = uniform(llama_8b::architecture, f::bf16, 1, 8192);
  d.dtype = f::bf16;
  d.workload.batched_tokens = 8192_tokens;
  d.activations.attention = attention_kernel::naive;
  return activations_of(d, share_of(d, rank{}), 0, phase::prefill);
}
constexpr memory_budget framework_ledger(std::uint32_t ranks, std::uint32_t capability) {
  deployment d = uniform(llama_70b::architecture, f::bf16, 1, 1);
  d.parallel.tensor = ranks;
  d.framework.kind = framework_kind::pytorch_cuda;
  d.framework.compute_capability_major = capability;
  return estimate(d);
}
constexpr deployment busy_deployment() {
  deployment d = with_scheme(schemes::fp8_channel);
  d.kv_cache = kv_formats::int8_per_token_head;
  d.workload.sequences = 32;
  d.workload.context = 4096_tokens;
  d.workload.batched_tokens = 8192_tokens;
  d.framework.kind = framework_kind::pytorch_cuda;
  d.parallel.tensor = 4;
  d.pinned.margin = 1_GiB;
  return d;
}
/// Whether the parts of every line with parts add up to it, in all three figures.
constexpr bool parts_sum_to_parents(const memory_budget& budget) {
  for (std::uint32_t i = 0; i < budget.count; ++i) {
    if (budget.lines[i].is_part) continue;
    bytes low{}, expected{}, high{};
    std::uint32_t next = i + 1;
    for (; next < budget.count && budget.lines[next].is_part; ++next) {
      low += budget.lines[next].low;
      expected += budget.lines[next].expected;
      high += budget.lines[next].high;
    }
    if (next == i + 1) continue;
    const line_item& parent = budget.lines[i];
    if (!(low == parent.low) || !(expected == parent.expected) || !(high == parent.high)) return false;
  }
  return true;
}
constexpr memory_budget with_user_item() {
  memory_budget budget = estimate(uniform(llama_70b::architecture, f::fp8_e4m3, 1, 1));
  budget.add({"lora_adapters", 3_GiB, "sixteen adapters of 192 MiB"});
  budget.add({"lora_adapters.first", 192_MiB, "one of them"});
  return budget;
}

using four_heads_model =
    decoder<hidden<4096>, vocabulary<151936>, repeat<94, block<gqa<64, 4, 128>, gated_mlp<1536>>>>;
inline constexpr const model_architecture& four_kv_heads = four_heads_model::architecture;

struct stages {
  std::uint32_t sizes[4] = {};
  constexpr stages(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) : sizes{a, b, c, d} {}
  friend constexpr bool operator==(const stages&, const stages&) = default;
};
constexpr stages stage_sizes(std::uint32_t layers, std::uint32_t count,
                             pipeline_remainder remainder = pipeline_remainder::before_last) {
  stages result{0, 0, 0, 0};
  std::uint32_t next = 0;
  for (std::uint32_t stage = 0; stage < count; ++stage) {
    const layer_range range = layers_of_stage({.pipeline = count, .remainder = remainder}, layers, stage);
    result.sizes[stage] = range.first == next ? range.size() : 9999;
    next = range.last;
  }
  return result;
}
constexpr deployment pipelined() {
  return on_ranks(uniform(llama_70b::architecture, f::bf16, 4, 100), {.tensor = 2, .pipeline = 4});
}

using serving_on_two = static_deployment<llama_70b, precision<formats::fp8_e4m3, kv<formats::fp8_e4m3>>,
                                         batch<1, 32768>, tensor_parallel<2>>;
using quantized_serving =
    static_deployment<model_of<llama_70b::architecture>,
                      precision<formats::int8, kv<kv_formats::int8_per_token_head>>, batch<4, 1000, 200>,
                      data_parallel<2>, batched_tokens<2048>, model_dtype<formats::bf16>, pytorch_cuda>;
using mixed_sides = static_deployment<llama_70b, precision<formats::bf16, kv<formats::q8_0, formats::q4_0>>,
                                      active<10'001, 3>, pipeline_parallel<2>>;
constexpr deployment uniform_on_two(std::uint64_t context) {
  return on_ranks(uniform(llama_70b::architecture, f::fp8_e4m3, 1, context), {.tensor = 2});
}
constexpr memory_budget ledger_of(bytes total) {
  memory_budget budget;
  budget.add({"everything", total, "given"});
  return budget;
}

/// The smallest engine that differs from geometry: contexts are padded to whole blocks.
struct padding_engine {
  std::uint64_t block = 16;
  [[nodiscard]] constexpr engine_name name() const { return {"padding"}; }
  [[nodiscard]] constexpr usable_memory usable(const gpu_profile& gpu) const { return kvbudget::usable(gpu); }
  [[nodiscard]] constexpr memory_budget ledger(const deployment& d, const rank& where,
                                               const gpu_profile* gpu) const {
    deployment padded = d;
    padded.workload.context = tokens{kvbudget::detail::round_up(d.workload.context.value, block)};
    return engines::geometry{}.ledger(padded, where, gpu);
  }
};

enum varied_size { varied_context, varied_sequences, varied_active_tokens };
constexpr bool fits_with(varied_size what, std::uint64_t n) {
  deployment d = serving_on_two::value;
  if (what == varied_context) d.workload.context = tokens{n};
  if (what == varied_sequences) d.workload.sequences = n;
  if (what == varied_active_tokens) d.workload = active_tokens(tokens{n}, d.workload.sequences);
  return fits(d, gpus::nvidia_h100_sxm_80gb);
}
constexpr bool is_exact(const limit& found, varied_size what) {
  return found.fits && !found.unbounded && fits_with(what, found.value) && !fits_with(what, found.value + 1);
}
using windowed_model = decoder<hidden<4096>, vocabulary<32000>,
                               repeat<32, block<sliding_window<gqa<32, 8, 128>, 4096>, gated_mlp<14336>>>>;
constexpr deployment all_windows() { return uniform(windowed_model::architecture, f::bf16, 1, 100); }

constexpr std::uint64_t vocabulary_rows(std::uint64_t rows, std::uint32_t multiple,
                                        std::uint32_t tensor = 1) {
  return shard_of(weight_groups::vocabulary_table(module_role::lm_head, rows, 768),
                  {.tensor = tensor, .vocabulary_multiple = multiple})
      .rows;
}
using odd_vocabulary =
    decoder<hidden<768>, vocabulary<50257>, repeat<2, block<mha<12, 64>, gated_mlp<3072>>>>;
constexpr deployment with_vocabulary_of_50257() {
  return uniform(odd_vocabulary::architecture, f::bf16, 0, 0);
}

using ten_expert_model = decoder<hidden<1024>, vocabulary<32000>,
                                 repeat<2, block<gqa<16, 8, 64>, mixture_of_experts<10, 2, 512>>>>;
inline constexpr std::uint64_t one_of_ten_experts = 2ULL * 2 * 3 * 1024 * 512;  // two layers, bf16
constexpr deployment ten_experts(std::uint32_t tensor, std::uint32_t data, std::uint32_t expert) {
  return on_ranks(uniform(ten_expert_model::architecture, f::bf16, 0, 0),
                  {.tensor = tensor, .data = data, .expert = expert, .uneven_experts = true});
}
constexpr deployment spanning(deployment d) {
  d.parallel.experts_span_data = true;
  return d;
}
constexpr deployment data_parallel_attention(std::uint32_t tensor, std::uint32_t replicas) {
  return on_ranks(uniform(deepseek_v3::architecture, f::bf16, 16, 1000),
                  {.tensor = tensor, .expert = tensor, .attention_data = replicas});
}

/// DeepSeek-V3's shape with two draft layers, each of one projection and a copy of the head.
constexpr model_architecture make_model_with_draft_layers() {
  model_architecture model = deepseek_v3::build();
  model.draft_layers = 2;
  model.add_draft_store(stores::latent(512, 64));
  weight_group projection = weight_groups::whole(module_role::draft, 7168, 14336, 2);
  weight_group head = weight_groups::vocabulary_table(module_role::lm_head, 129280, 7168);
  head.role = module_role::draft;
  head.copies = 2;
  model.add(projection);
  model.add(head);
  return model;
}
inline constexpr model_architecture with_draft_layers = make_model_with_draft_layers();
constexpr deployment drafting(const model_architecture& model, std::uint32_t layers, std::uint64_t context) {
  deployment d = uniform(model, f::bf16, 1, context);
  if (layers != 0) d.speculation = {.kind = speculation_kind::mtp, .draft_layers = layers};
  return d;
}
constexpr kv_growth drafting_growth(const model_architecture& model, std::uint32_t layers) {
  const deployment d = drafting(model, layers, 1);
  return kv_growth_of(d, share_of(d, rank{}), 1_tokens);
}
constexpr deployment without_draft_model() { return uniform(llama_70b::architecture, f::bf16, 1, 100); }
constexpr deployment with_draft_model(std::uint32_t tensor, std::uint32_t draft_tensor) {
  deployment d = on_ranks(without_draft_model(), {.tensor = tensor});
  d.speculation = {.kind = speculation_kind::draft_model,
                   .num_speculative_tokens = 5,
                   .draft = &llama_8b::architecture,
                   .draft_weights = f::bf16,
                   .draft_tensor = draft_tensor};
  return d;
}

constexpr deployment with_adapters(std::uint32_t max_loras, std::uint32_t tensor, bool fully_sharded) {
  deployment d = on_ranks(uniform(llama_8b::architecture, f::bf16, 0, 0), {.tensor = tensor});
  d.lora = {
      .max_loras = max_loras, .max_lora_rank = max_loras == 0 ? 0u : 16u, .fully_sharded = fully_sharded};
  return d;
}
constexpr deployment with_adapters_on(module_role role) {
  deployment d = with_adapters(1, 1, false);
  d.lora.targets = module_set{}.with(role);
  return d;
}

/// One layer of gpt-oss-120b's experts: 128 of 2880 x 2880 in MXFP4, with biases.
constexpr model_architecture make_gpt_oss_layer() {
  using namespace weight_groups;
  model_architecture model;
  model.dtype = f::bf16;
  model.hidden_size = 2880;
  const std::uint8_t microscaled = model.precision_of(schemes::mxfp4);
  layer_kind layer;
  layer.num_experts = 128;
  layer.num_experts_per_tok = 4;
  layer.gated_mlp = true;
  layer.add(expert_matrices(2880, 2880, 256, 2880, shard_axis::rows).in(microscaled));
  layer.add(expert_matrices(2880, 2880, 128, 2880, shard_axis::columns).in(microscaled));
  layer.add(split_bias(module_role::expert, 2880, 2880, shard_rule::experts, 256));
  weight_group bias = split_bias(module_role::expert, 2880, 1, shard_rule::experts, 128);
  bias.axis = shard_axis::neither;
  layer.add(bias);
  model.add_layers(layer);
  return model;
}
inline constexpr model_architecture gpt_oss_model = make_gpt_oss_layer();
constexpr deployment gpt_oss_layer(fp4_expert_kernel kernel, std::uint32_t tensor) {
  deployment d{.model = gpt_oss_model};
  d.parallel.tensor = tensor;
  return as_loaded_by_vllm(d, {.fp4_experts = kernel});
}
constexpr model_architecture make_small_nvfp4() {
  model_architecture model;
  model.dtype = f::bf16;
  model.hidden_size = 80;
  layer_kind layer;
  layer.add(weight_groups::whole(module_role::mlp, 200, 80).in(model.precision_of(schemes::nvfp4)));
  model.add_layers(layer);
  return model;
}
inline constexpr model_architecture small_nvfp4_model = make_small_nvfp4();
constexpr deployment small_nvfp4(bool loaded) {
  const deployment d{.model = small_nvfp4_model};
  return loaded ? as_loaded_by_vllm(d) : d;
}
constexpr deployment latent_in(const weight_scheme& scheme) {
  deployment d = uniform(deepseek_v3::architecture, f::bf16, 0, 0);
  d.weights = scheme;
  return d;
}
constexpr model_architecture make_model_with_tower() {
  model_architecture model = odd_vocabulary::build();
  model.add(weight_groups::whole(module_role::vision, 1024, 1024));
  return model;
}
inline constexpr model_architecture tower_model = make_model_with_tower();
constexpr deployment with_tower() { return uniform(tower_model, f::bf16, 0, 0); }

}  // namespace samples
