#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/engine/pool_engine.hpp"
#include "kvbudget/engine/vllm/constants.hpp"
#include "kvbudget/memory/activations.hpp"
#include "kvbudget/memory/rank_share.hpp"

/// What vLLM takes of its share of a GPU beside weights and KV cache: the peak of the profile run, memory
/// outside PyTorch, captured graphs. Rules by version are rows of a table; figures that no formula gives are
/// in `data/engines/vllm.json`.
namespace kvbudget::inline v0::vllm_profile {

/// What the profiled sampler does with the logits of all rows.
enum class sampler_rule : std::uint8_t {
  sorting,           ///< top-k and top-p by a full sort
  selecting_triton,  ///< without a sort; scratch of one vocabulary row per multiprocessor
  selecting,         ///< without a sort or scratch
  gumbel             ///< model runner V2: top-k and top-p are skipped while profiling
};

/// Which CUDA graphs are captured.
enum class capture_rule : std::uint8_t {
  decode_only,       ///< V0: 1, 2, 4, and steps of 8 up to 256
  wide_steps_of_8,   ///< 1, 2, 4, and steps of 8 up to 512: 67 sizes
  steps_of_8_and_16  ///< 1, 2, 4, steps of 8 below 256, steps of 16 from there: 51 sizes up to 512
};

/// How memory outside PyTorch is counted.
enum class non_torch_rule : std::uint8_t {
  absolute,             ///< everything in use at the end, CUDA context included
  increase,             ///< what the profile run added
  increase_with_graphs  ///< the same, a trial capture of graphs included
};

/// The rules of one range of versions. The table of `vllm_rules` (rules.hpp) says how their cache differs.
struct rules {
  engine_version from{};
  sampler_rule sampler{};
  sampler_rule dense_sampler{};  ///< of dense models, which changed runners earlier
  capture_rule captures{};
  non_torch_rule non_torch{};
  bool compiled = false;                ///< torch.compile plans buffers, unless eager
  bool chunks_every_length = false;     ///< chunked prefill is the default for short contexts too
  bool samples_chunks = false;          ///< the profile samples although prefill is chunked
  bool large_gpu_defaults = false;      ///< more sequences and tokens by default on GPUs of 70 GiB and more
  bool full_graphs = false;             ///< decode graphs are captured beside the piecewise ones
  bool keeps_expert_buffers = false;    ///< fused-MoE buffers stay allocated after the forward pass
  bool graphs_in_budget = false;        ///< an estimate of the graphs is taken off the KV cache
  bool dense_graphs_in_budget = false;  ///< for dense models, whose new runner had no estimate at first
  std::uint32_t utilization_percent = 90;  ///< default gpu_memory_utilization
};

// clang-format off
/// One row per change. Sources: vllm-project/vllm v1/worker/gpu_worker.py, v1/worker/gpu_model_runner.py,
/// v1/sample/ops/ and config/ over the releases; pull requests 10511 and 11809 (increase), 26859 and 40376
/// (samplers), 30515 (graph estimate), 38284 (0.92), 44443 (model runner V2 for dense models). That expert buffers
/// are kept from 0.17, and the wider capture sizes used from 0.12, holds between two measured releases: the change
/// may be one or two releases older.
inline constexpr rules table[] = {
    // from    sampler                         dense_sampler                   captures                         non_torch
    //         compiled chunks samples large   full   keeps  graphs dense  utilization
    {{0, 0},  sampler_rule::sorting,          sampler_rule::sorting,          capture_rule::decode_only,       non_torch_rule::absolute,
              false,   false, false,  false,  false, false, false, false, 90},
    {{0, 7},  sampler_rule::sorting,          sampler_rule::sorting,          capture_rule::decode_only,       non_torch_rule::increase,
              false,   false, false,  false,  false, false, false, false, 90},
    {{0, 8},  sampler_rule::sorting,          sampler_rule::sorting,          capture_rule::wide_steps_of_8,   non_torch_rule::increase,
              true,    true,  true,   true,   false, false, false, false, 90},
    {{0, 11}, sampler_rule::sorting,          sampler_rule::sorting,          capture_rule::wide_steps_of_8,   non_torch_rule::increase,
              true,    true,  true,   true,   true,  false, false, false, 90},
    {{0, 12}, sampler_rule::sorting,          sampler_rule::sorting,          capture_rule::steps_of_8_and_16, non_torch_rule::increase,
              true,    true,  true,   true,   true,  false, false, false, 90},
    {{0, 17}, sampler_rule::selecting_triton, sampler_rule::selecting_triton, capture_rule::steps_of_8_and_16, non_torch_rule::increase,
              true,    true,  true,   true,   true,  true,  false, false, 90},
    {{0, 18}, sampler_rule::selecting_triton, sampler_rule::selecting_triton, capture_rule::steps_of_8_and_16, non_torch_rule::increase_with_graphs,
              true,    true,  true,   true,   true,  true,  false, false, 90},
    {{0, 21}, sampler_rule::selecting,        sampler_rule::selecting,        capture_rule::steps_of_8_and_16, non_torch_rule::increase_with_graphs,
              true,    true,  true,   true,   true,  true,  true,  true,  92},
    {{0, 25}, sampler_rule::selecting,        sampler_rule::gumbel,           capture_rule::steps_of_8_and_16, non_torch_rule::increase_with_graphs,
              true,    true,  true,   true,   true,  true,  true,  false, 92},
    {{0, 29}, sampler_rule::gumbel,           sampler_rule::gumbel,           capture_rule::steps_of_8_and_16, non_torch_rule::increase_with_graphs,
              true,    true,  true,   true,   true,  true,  true,  true,  92},
};
// clang-format on

/// The newest row that is not newer than `release`.
[[nodiscard]] constexpr const rules& rules_of(engine_version release) {
  const rules* row = table + sizeof(table) / sizeof(rules) - 1;
  while (row != table && release.before(row->from)) --row;
  return *row;
}

namespace parts {
[[noreturn]] inline void gpu_memory_utilization_must_be_above_0_and_at_most_1() {
  kvbudget::detail::raise("vLLM: gpu_memory_utilization must be above 0 and at most 1");
}
}  // namespace parts

/// How vLLM is started: a default depends on it.
enum class usage : std::uint8_t { server, library, engine };

/// max_num_batched_tokens and max_num_seqs where they are not given.
struct batch_defaults {
  std::uint64_t max_num_batched_tokens = 0;
  std::uint64_t max_num_seqs = 0;
  friend constexpr bool operator==(const batch_defaults&, const batch_defaults&) = default;
};

/// The defaults: server 2,048 tokens and 256 sequences, library 8,192 and 256; on GPUs of 70 GiB and more but
/// the A100 8,192 and 1,024, and 16,384 and 1,024; an engine built by hand 2,048 and 128. Tokens are raised
/// to max_model_len where prefill is not chunked (V0 below 32,768) and lowered to max_num_seqs ×
/// max_model_len. Source: vllm-project/vllm engine/arg_utils.py (get_batch_defaults).
[[nodiscard]] constexpr batch_defaults defaults_of(const rules& rule, usage how,
                                                   std::uint64_t gpu_total_bytes, bool is_a100,
                                                   std::uint64_t max_model_len, bool chunked_prefill) {
  constexpr std::uint64_t large = std::uint64_t{70} << 30;
  batch_defaults found{2048, 256};
  if (rule.large_gpu_defaults) {
    const bool is_large = gpu_total_bytes >= large && !is_a100;
    if (how == usage::library) found.max_num_batched_tokens = 8192;
    if (is_large) found = {how == usage::library ? 16384u : 8192u, 1024};
    if (how == usage::engine) found = {2048, 128};
  }
  if (!chunked_prefill) {
    found.max_num_batched_tokens = detail::larger(found.max_num_batched_tokens, max_model_len);
  }
  if (max_model_len != 0 && max_model_len < found.max_num_batched_tokens / found.max_num_seqs) {
    found.max_num_batched_tokens = found.max_num_seqs * max_model_len;
  }
  found.max_num_seqs = detail::smaller(found.max_num_seqs, found.max_num_batched_tokens);
  return found;
}

/// Whether prefill is chunked when nobody says so: always since V1, in V0 only for contexts beyond 32,768.
[[nodiscard]] constexpr bool is_prefill_chunked(const rules& rule, std::uint64_t max_model_len) {
  return rule.chunks_every_length || max_model_len > 32768;
}

/// Batch sizes that graphs are captured for, in ascending order.
struct capture_sizes {
  std::uint32_t count = 0;
  std::uint32_t sizes[140] = {};  // 1024 in the finest steps is 131
  [[nodiscard]] constexpr std::uint32_t largest() const { return count == 0 ? 0 : sizes[count - 1]; }
};

/// The largest batch that a graph is captured for: min(2 × max_num_seqs × (1 + speculative tokens), `limit`,
/// max_num_batched_tokens) since 0.12; before it `limit`, in V0 256 and no more than the sequences.
[[nodiscard]] constexpr std::uint64_t largest_capture(const rules& rule, std::uint64_t max_num_seqs,
                                                      std::uint64_t max_num_batched_tokens,
                                                      std::uint64_t speculative_tokens, std::uint64_t limit) {
  using detail::smaller;
  std::uint64_t largest = smaller<std::uint64_t>(limit, 1024);
  if (rule.captures == capture_rule::decode_only) {
    return smaller<std::uint64_t>(256, detail::round_up(max_num_seqs, 8));
  }
  if (rule.captures == capture_rule::steps_of_8_and_16) {
    largest = smaller(largest, detail::checked_product(max_num_seqs, 1 + speculative_tokens, 2));
  }
  return smaller(largest, max_num_batched_tokens);
}

/// The capture sizes of a version, up to the largest. With 256 or 1,024 sequences: 51 sizes up to 512.
/// `limit` replaces the 512 (gpt-oss: 1,024). With speculative tokens sizes are multiples of 1 + their
/// number.
[[nodiscard]] constexpr capture_sizes cudagraph_capture_sizes(const rules& rule, std::uint64_t max_num_seqs,
                                                              std::uint64_t max_num_batched_tokens,
                                                              std::uint64_t speculative_tokens = 0,
                                                              std::uint64_t limit = 512) {
  const std::uint64_t per_request = 1 + speculative_tokens;
  const std::uint64_t largest =
      largest_capture(rule, max_num_seqs, max_num_batched_tokens, speculative_tokens, limit);
  const bool widens = rule.captures == capture_rule::steps_of_8_and_16;
  capture_sizes found;
  for (std::uint64_t size = 1; size <= largest;) {
    std::uint64_t padded = size;
    if (speculative_tokens != 0 && widens) padded = detail::round_up(size, per_request);
    const bool repeated = found.count != 0 && found.sizes[found.count - 1] == padded;
    if (!repeated && padded <= largest) found.sizes[found.count++] = static_cast<std::uint32_t>(padded);
    if (size < 4) {
      size *= 2;
    } else if (size < 8) {
      size = 8;
    } else {
      size += widens && size >= 256 ? 16 : 8;
    }
  }
  return found;
}

/// How many capture sizes are no larger than `batch`, without speculative tokens.
[[nodiscard]] constexpr std::uint64_t sizes_up_to(const rules& rule, std::uint64_t batch) {
  const std::uint64_t small = batch >= 4 ? 3u : batch >= 2 ? 2u : batch;
  if (rule.captures != capture_rule::steps_of_8_and_16 || batch <= 256) return small + batch / 8;
  return small + 32 + (batch - 256) / 16;
}

/// Graphs that are captured: every size piecewise, and since 0.11 those up to the largest decode batch in
/// full.
[[nodiscard]] constexpr std::uint64_t captured_graphs(const rules& rule, std::uint64_t max_num_seqs,
                                                      std::uint64_t max_num_batched_tokens,
                                                      std::uint64_t speculative_tokens = 0,
                                                      std::uint64_t limit = 512) {
  const std::uint64_t decode = detail::checked_mul(max_num_seqs, 1 + speculative_tokens);
  if (speculative_tokens == 0) {
    const std::uint64_t largest = largest_capture(rule, max_num_seqs, max_num_batched_tokens, 0, limit);
    const std::uint64_t piecewise = sizes_up_to(rule, largest);
    return rule.full_graphs ? piecewise + sizes_up_to(rule, detail::smaller(decode, largest)) : piecewise;
  }
  const capture_sizes captured =
      cudagraph_capture_sizes(rule, max_num_seqs, max_num_batched_tokens, speculative_tokens, limit);
  std::uint64_t graphs = captured.count;
  for (std::uint32_t i = 0; rule.full_graphs && i < captured.count; ++i) {
    graphs += captured.sizes[i] <= decode ? 1u : 0u;
  }
  return graphs;
}

/// Largest batch that graphs are captured for by default: 512, and 1,024 for gpt-oss. Source:
/// vllm-project/vllm model_executor/models/config.py.
[[nodiscard]] constexpr std::uint64_t capture_limit_of(const model_architecture& model) {
  return detail::same_text(model.model_type, "gpt_oss") ? 1024 : 512;
}

/// What a profile run depends on beside the deployment.
struct options {
  engine_version release{};
  std::uint64_t max_num_batched_tokens = 0;
  std::uint64_t max_num_seqs = 0;
  std::uint64_t max_model_len = 0;
  std::uint64_t block_size = 16;
  std::uint64_t speculative_tokens = 0;
  bool enforce_eager = false;
  bool chunked_prefill = true;
  bool multimodal = true;                      ///< false: limits of 0 items, or skip_mm_profiling
  std::uint64_t max_multimodal_tokens = 0;     ///< of one batch of items; 0 = assumed from the model
  std::uint64_t capture_limit = 0;             ///< max_cudagraph_capture_size; 0 = the default
  std::uint32_t compute_capability_major = 0;  ///< 0 = unknown
  std::uint32_t multiprocessors = 0;           ///< 0 = unknown
};

/// The tensors of the profiled forward pass of T tokens on one rank, in bytes.
struct forward_bytes {
  byte_range streams{};  ///< hidden-sized tensors that live beside the widest part of a layer
  std::uint64_t attention =
      0;                      ///< queries, keys, values and the output of attention, which itself is skipped
  std::uint64_t mixer = 0;    ///< projections of a recurrent mixer
  std::uint64_t gate_up = 0;  ///< first projections of an MLP
  std::uint64_t activated = 0;             ///< their product
  std::uint64_t expert_cache_1_and_3 = 0;  ///< fused MoE: first and last product share a buffer
  std::uint64_t expert_cache_2 = 0;        ///< fused MoE: the activated product
  std::uint64_t kept_experts = 0;          ///< both, where they stay allocated
  [[nodiscard]] constexpr std::uint64_t mlp() const { return detail::checked_add(gate_up, activated); }
  [[nodiscard]] constexpr std::uint64_t experts() const {
    return detail::checked_add(expert_cache_1_and_3, expert_cache_2);
  }
};

namespace parts {
using detail::checked_add;
using detail::checked_mul;
using detail::larger;

[[nodiscard]] constexpr byte_range times(const measured_constant& each, std::uint64_t count) {
  return {checked_mul(each.low, count), checked_mul(each.expected, count), checked_mul(each.high, count)};
}
[[nodiscard]] constexpr byte_range hundredths(const measured_constant& each, std::uint64_t unit) {
  const byte_range hundredfold = times(each, unit);
  return {hundredfold.low / 100, hundredfold.expected / 100, hundredfold.high / 100};
}
[[nodiscard]] constexpr byte_range range_of(const measured_constant& figure) {
  return {figure.low, figure.expected, figure.high};
}
[[nodiscard]] constexpr byte_range wider_of(const byte_range& a, const byte_range& b) {
  return {larger(a.low, b.low), larger(a.expected, b.expected), larger(a.high, b.high)};
}

/// Outputs of a mixer's projections per token, before any split over ranks: what its linear groups with rows
/// of outputs make, plus what its last one reads.
[[nodiscard]] constexpr std::uint64_t mixer_width(const layer_kind& layer, const parallel_layout& layout) {
  std::uint64_t width = 0;
  for (std::size_t i = 0; i < layer.weight_count; ++i) {
    const weight_group& group = layer.weights[i];
    if (group.role != module_role::mixer || group.kind != tensor_kind::linear) continue;
    const weight_shard shard = shard_of(group, layout);
    width = checked_add(
        width, group.axis == shard_axis::columns ? shard.columns : checked_mul(shard.rows, shard.copies));
  }
  return width;
}

/// Whether the experts of a layer are stored in MXFP4, whose kernels keep no buffers.
[[nodiscard]] constexpr bool has_mxfp4_experts(const layer_kind& layer, const deployment& d) {
  if (!d.weights.is_automatic()) return detail::same_text(d.weights.name, "mxfp4");
  for (std::size_t i = 0; i < layer.weight_count; ++i) {
    const weight_group& group = layer.weights[i];
    if (group.role != module_role::expert || group.precision == 0) continue;
    return detail::same_text(d.model->precisions[group.precision - 1].name, "mxfp4");
  }
  return false;
}

[[nodiscard]] constexpr bool has_experts(const model_architecture& model) {
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    if (model.kinds[kind].num_experts != 0) return true;
  }
  return false;
}

constexpr void widen(forward_bytes& widest, const layer_kind& layer, const deployment& d,
                     std::uint64_t tokens, const number_format& format, bool keeps_experts) {
  const std::uint64_t tensor = d.parallel.tensor;
  const auto size = [&](std::uint64_t width) { return format.size_of(checked_mul(tokens, width)).value; };
  if (layer.num_attention_heads != 0) {
    const std::uint64_t heads = detail::ceil_div(layer.num_attention_heads, d.parallel.attention_tensor());
    const std::uint64_t kv_heads =
        layer.key_value_heads == 0 ? 0 : local_kv_heads(layer.key_value_heads, d.parallel.attention_tensor());
    const std::uint64_t widths = std::uint64_t{layer.query_dim} + layer.value_dim;
    widest.attention = larger(widest.attention, size(checked_mul(heads + kv_heads, widths)));
  }
  widest.mixer = larger(widest.mixer, size(mixer_width(layer, d.parallel)));
  if (layer.intermediate_size != 0) {
    const std::uint64_t one = size(detail::ceil_div(layer.intermediate_size, tensor));
    const std::uint64_t first = layer.gated_mlp ? checked_mul(one, 2) : one;
    if (widest.mlp() < checked_add(first, one)) {
      widest.gate_up = first;
      widest.activated = one;
    }
  }
  if (layer.num_experts == 0) return;
  const std::uint64_t width = detail::ceil_div(layer.moe_intermediate_size, d.parallel.expert_tensor());
  const std::uint64_t hidden = d.model->hidden_size;
  const std::uint64_t chosen = layer.num_experts_per_tok;
  const auto pairs = [&](std::uint64_t each) { return size(checked_mul(chosen, each)); };
  if (keeps_experts && !has_mxfp4_experts(layer, d)) {
    const std::uint64_t kept = checked_add(pairs(larger<std::uint64_t>(width, hidden)),
                                           pairs(larger<std::uint64_t>(2 * width, hidden)));
    widest.kept_experts = larger(widest.kept_experts, kept);
    return;
  }
  const std::uint64_t shared = pairs(larger<std::uint64_t>(2 * width, hidden));
  if (widest.experts() < checked_add(shared, pairs(width))) {
    widest.expert_cache_1_and_3 = shared;
    widest.expert_cache_2 = pairs(width);
  }
}

[[nodiscard]] constexpr bool starts_with(const char* text, const char* prefix) {
  for (; *prefix != '\0'; ++text, ++prefix) {
    if (*text != *prefix) return false;
  }
  return true;
}

/// The number format of activations.
[[nodiscard]] constexpr const number_format& format_of(const deployment& d) {
  return d.activations.format.is_automatic() ? dtype_of(d) : d.activations.format;
}

/// Dense models went to model runner V2 first.
[[nodiscard]] constexpr bool is_dense(const model_architecture& model) {
  return !has_experts(model) && !has_store(model, store_kind::recurrent);
}
/// Copies of the residual stream that layers hand on.
[[nodiscard]] constexpr std::uint64_t residual_streams(const model_architecture& model) {
  return starts_with(model.model_type, "deepseek_v4") ? constants::hyper_connection_streams.expected : 1;
}
}  // namespace parts

/// The forward pass of the profile run by its tensors: streams 3 to 4 × T × hidden (per residual stream);
/// gate_up T·2I and its product T·I; fused MoE T·k·max(2N, hidden) and T·k·N, or, where they are kept,
/// T·k·max(N, hidden) and T·k·max(2N, hidden); all but streams divided by the tensor degree. Llama-3.1-8B
/// with 8,192 tokens: 469,762,048 and 234,881,024. Sources: alvarobartt/hf-mem pull request 67;
/// vllm-project/vllm model_executor/layers/fused_moe/fused_moe.py (workspace_shapes).
[[nodiscard]] constexpr forward_bytes forward_of(const deployment& d, const rank_share& share,
                                                 const options& given) {
  const rules& rule = rules_of(given.release);
  const number_format& format = parts::format_of(d);
  const bool compiled = rule.compiled && !given.enforce_eager;
  forward_bytes found;
  const std::uint64_t stream =
      format
          .size_of(detail::checked_product(given.max_num_batched_tokens, d.model->hidden_size,
                                           parts::residual_streams(*d.model)))
          .value;
  found.streams = parts::hundredths(compiled ? constants::vllm_forward_streams_per_100_compiled
                                             : constants::vllm_forward_streams_per_100_eager,
                                    stream);
  if (!share.last_stage) {  // hidden states and residual of the next stage
    const std::uint64_t handed_on = detail::checked_mul(stream, 2);
    found.streams = found.streams.plus({handed_on, handed_on, handed_on});
  }
  for (std::size_t kind = 0; kind < d.model->kind_count; ++kind) {
    if (share.layers_of(kind) == 0) continue;
    parts::widen(found, d.model->kinds[kind], d, given.max_num_batched_tokens, format,
                 rule.keeps_expert_buffers);
  }
  return found;
}

/// The logits of S = min(max_num_seqs, T) rows, times one more per speculative token, and what the sampler
/// makes of them. 1,024 rows of 128,256: 262,668,288 bytes in 16 bits and 525,336,576 in 32.
struct sampler_bytes {
  std::uint64_t rows = 0;
  std::uint64_t logits = 0;     ///< rows × vocabulary in the model's dtype
  std::uint64_t fp32_copy = 0;  ///< rows × vocabulary × 4
  byte_range all{};             ///< the two and everything else of the sampler
  byte_range hidden_states{};  ///< the forward pass's output, still alive, and its rows: (T + 2 × S) × hidden
};

[[nodiscard]] constexpr sampler_bytes sampler_of(const deployment& d, const options& given) {
  using detail::checked_mul;
  const rules& rule = rules_of(given.release);
  const number_format& format = parts::format_of(d);
  const std::uint64_t requests = detail::smaller(given.max_num_seqs, given.max_num_batched_tokens);
  sampler_bytes found;
  found.rows = checked_mul(requests, 1 + given.speculative_tokens);
  const std::uint64_t logits = checked_mul(found.rows, d.model->vocab_size);
  found.logits = format.size_of(logits).value;
  found.fp32_copy = checked_mul(logits, 4);
  const measured_constant* each = &constants::vllm_sampler_sorting_bytes_per_logit;
  const sampler_rule kind = parts::is_dense(*d.model) ? rule.dense_sampler : rule.sampler;
  switch (kind) {
    case sampler_rule::sorting: break;
    case sampler_rule::selecting_triton:
    case sampler_rule::selecting: each = &constants::vllm_sampler_selecting_bytes_per_logit; break;
    case sampler_rule::gumbel: each = &constants::vllm_sampler_gumbel_bytes_per_logit; break;
  }
  found.all = parts::times(*each, logits);
  if (kind == sampler_rule::selecting_triton) {
    const measured_constant known{given.multiprocessors, given.multiprocessors, given.multiprocessors};
    const measured_constant& processors =
        given.multiprocessors != 0 ? known : constants::vllm_multiprocessors_assumed;
    const std::uint64_t row =
        checked_mul(d.model->vocab_size,
                    constants::vllm_sampler_scratch_bytes_per_vocabulary_entry_and_multiprocessor.expected);
    found.all = found.all.plus(parts::times(processors, row));
  }
  const std::uint64_t kept = detail::checked_add(given.max_num_batched_tokens, checked_mul(found.rows, 2));
  const std::uint64_t states = format.size_of(checked_mul(kept, d.model->hidden_size)).value;
  found.hidden_states = {states, states, states};
  return found;
}

/// What the profile of images takes: embeddings and pixel inputs that stay until the end, and the tower's own
/// peak.
struct multimodal_bytes {
  byte_range kept{};
  byte_range encoder{};  ///< patches × (3 × its MLP + 4 × its width); assumed
};

/// Of a model with a vision tower on the first stage; otherwise, and where images are switched off, nothing.
/// Tokens: as given; else at least T, and 16,384 for the Qwen family, whose images have no fixed size.
[[nodiscard]] constexpr multimodal_bytes multimodal_of(const deployment& d, const rank_share& share,
                                                       const options& given) {
  using detail::checked_mul;
  using detail::larger;
  if (!given.multimodal || !share.first_stage) return {};
  const model_architecture& model = *d.model;
  std::uint64_t narrow = 0;
  std::uint64_t wide = 0;
  for (std::size_t i = 0; i < model.weight_count; ++i) {
    const weight_group& group = model.weights[i];
    if (group.role != module_role::vision || group.kind != tensor_kind::linear || group.copies < 2) continue;
    const std::uint64_t low = detail::smaller<std::uint64_t>(group.rows, group.columns);
    const std::uint64_t high = larger<std::uint64_t>(group.rows, group.columns);
    if (narrow == 0 || low < narrow) narrow = low;
    wide = larger(wide, high);
  }
  if (wide == 0) return {};
  const std::uint64_t batch = given.max_num_batched_tokens;
  const bool any_size = parts::starts_with(model.model_type, "qwen");
  std::uint64_t low = batch, expected = any_size ? larger<std::uint64_t>(batch, 16384) : batch;
  std::uint64_t high = larger<std::uint64_t>(batch, 16384);
  if (given.max_multimodal_tokens != 0) low = expected = high = given.max_multimodal_tokens;
  const number_format& format = parts::format_of(d);
  const measured_constant& pixels = constants::vllm_multimodal_input_bytes_per_token;
  const auto embedding = [&](std::uint64_t tokens, std::uint64_t input) {
    return detail::checked_add(format.size_of(checked_mul(tokens, model.hidden_size)).value,
                               checked_mul(tokens, input));
  };
  const measured_constant& patches = constants::vllm_multimodal_patches_per_token;
  const std::uint64_t per_patch = checked_mul(3, wide) + checked_mul(4, narrow);
  const auto tower = [&](std::uint64_t tokens, std::uint64_t each) {
    return format.size_of(checked_mul(checked_mul(tokens, each), per_patch)).value;
  };
  multimodal_bytes found;
  found.kept = {embedding(low, pixels.low), embedding(expected, pixels.expected),
                embedding(high, pixels.high)};
  found.encoder = {0, tower(expected, patches.low), tower(high, patches.expected)};
  return found;
}

/// What one rank takes beside weights and KV cache.
struct memory {
  byte_range
      activations{};  ///< blas + kept experts + kept images + the largest of forward, sampler and encoder
  byte_range peak{};  ///< that largest one
  const char* peak_name = "activations.forward";
  const char* peak_source = "max_num_batched_tokens x the widest tensors of a layer";
  byte_range forward{};  ///< streams and the widest part of a layer
  byte_range sampler{};  ///< logits, sampler and the states they come from; last stage only
  byte_range kept_experts{};
  byte_range multimodal{};  ///< kept images
  byte_range blas_workspace{};
  byte_range non_torch{};
  byte_range cuda_graphs{};  ///< captured graphs; none where eager
  bool graphs_in_budget =
      false;                ///< their estimate is taken off the KV cache, rather than what utilization leaves
  byte_range workspaces{};  ///< allocated after profiling, so outside the budget: MLA prefill, FlashInfer
  basis known = basis::calibrated;

  /// What is taken off the KV cache beside the weights.
  [[nodiscard]] constexpr byte_range in_budget() const {
    const byte_range sum = activations.plus(non_torch);
    return graphs_in_budget ? sum.plus(cuda_graphs) : sum;
  }
};

/// Rows of context that chunked MLA prefill expands at once: max(min(max(8 × max_model_len, 4 × max_num_seqs
/// × block), 65,536), max_num_seqs × block). Source: vllm-project/vllm v1/attention/backends/mla/common.py.
[[nodiscard]] constexpr std::uint64_t latent_workspace_rows(std::uint64_t max_model_len,
                                                            std::uint64_t max_num_seqs,
                                                            std::uint64_t block_size) {
  using detail::checked_mul;
  const std::uint64_t blocks = checked_mul(max_num_seqs, block_size);
  const std::uint64_t wanted = detail::larger(checked_mul(8, max_model_len), checked_mul(4, blocks));
  return detail::larger(detail::smaller(wanted, constants::vllm_latent_workspace_rows.expected), blocks);
}

/// What attention backends allocate once the profile is done: rows × (latent + rotary width) in the model's
/// dtype for MLA (65,536 rows of 576: 75,497,472 bytes), 394 MiB for FlashInfer, the default backend of
/// compute capability 10, assumed possible on 12 and nowhere else.
[[nodiscard]] constexpr byte_range workspaces_of(const deployment& d, const rank_share& share,
                                                 const options& given) {
  std::uint64_t width = 0;
  for (std::size_t kind = 0; kind < d.model->kind_count; ++kind) {
    if (share.layers_of(kind) == 0) continue;
    const layer_kind& layer = d.model->kinds[kind];
    for (std::size_t i = 0; i < layer.store_count; ++i) {
      const store& s = layer.stores[i];
      if (s.kind == store_kind::latent) {
        width = detail::larger(width, std::uint64_t{s.latent_rank} + s.rope_dim);
      }
    }
  }
  if (width != 0) {
    const std::uint64_t rows =
        latent_workspace_rows(given.max_model_len, given.max_num_seqs, given.block_size);
    const std::uint64_t latent = parts::format_of(d).size_of(detail::checked_mul(rows, width)).value;
    return {latent, latent, latent};
  }
  const std::uint64_t flashinfer = constants::vllm_flashinfer_workspace.expected;
  const std::uint32_t major = given.compute_capability_major;
  if (major == 10) return {flashinfer, flashinfer, flashinfer};
  if (major == 12 || major == 0) return {0, 0, flashinfer};
  return {};
}

/// One cuBLAS workspace: 33,554,432 bytes on compute capability 9.0, 8,519,680 elsewhere, between them where
/// the GPU is unknown.
[[nodiscard]] constexpr byte_range blas_workspace_of(std::uint32_t compute_capability_major) {
  const std::uint64_t usual = constants::cublas_workspace.expected;
  const std::uint64_t hopper = constants::cublas_workspace_sm_90.expected;
  if (compute_capability_major == 0) return {usual, usual, hopper};
  const std::uint64_t exact = compute_capability_major == 9 ? hopper : usual;
  return {exact, exact, exact};
}

/// Memory outside PyTorch as the version counts it, by the number of GPUs that a rank talks to.
[[nodiscard]] constexpr const measured_constant& non_torch_of(const deployment& d, const options& given) {
  namespace c = constants;
  const rules& rule = rules_of(given.release);
  const std::uint64_t ranks = detail::larger<std::uint64_t>(d.parallel.tensor, d.parallel.pipeline);
  const bool hopper = given.compute_capability_major == 9;
  const bool linked = hopper || given.compute_capability_major == 10;
  switch (rule.non_torch) {
    case non_torch_rule::absolute:
      if (ranks != 1) return c::vllm_non_torch_absolute_more_gpus;
      return given.compute_capability_major >= 9 ? c::vllm_non_torch_absolute_1_gpu_sm_90
                                                 : c::vllm_non_torch_absolute_1_gpu;
    case non_torch_rule::increase:
      if (ranks == 1) return hopper ? c::vllm_non_torch_1_gpu_sm_90 : c::vllm_non_torch_1_gpu;
      return ranks == 2 ? c::vllm_non_torch_2_gpus : c::vllm_non_torch_more_gpus;
    case non_torch_rule::increase_with_graphs: break;
  }
  if (ranks == 1) {
    if (hopper) return c::vllm_non_torch_profiled_1_gpu_sm_90;
    return given.enforce_eager ? c::vllm_non_torch_profiled_eager_1_gpu
                               : c::vllm_non_torch_profiled_graphs_1_gpu;
  }
  if (linked && d.parallel.tensor == 1) return c::vllm_non_torch_pipeline_sm_90;
  if (ranks == 2) {
    return linked ? c::vllm_non_torch_profiled_2_gpus_sm_90 : c::vllm_non_torch_profiled_2_gpus;
  }
  return linked ? c::vllm_non_torch_profiled_more_gpus_sm_90 : c::vllm_non_torch_profiled_more_gpus;
}

/// Captured graphs: a pool, and bytes per graph and layer by the kind of layer. Eager: nothing.
[[nodiscard]] constexpr byte_range cuda_graphs_of(const deployment& d, const rank_share& share,
                                                  const options& given) {
  if (given.enforce_eager) return {};
  const rules& rule = rules_of(given.release);
  const std::uint64_t limit = given.capture_limit != 0 ? given.capture_limit : capture_limit_of(*d.model);
  const std::uint64_t graphs = captured_graphs(rule, given.max_num_seqs, given.max_num_batched_tokens,
                                               given.speculative_tokens, limit);
  if (graphs == 0) return {};
  byte_range sum = parts::range_of(constants::vllm_graph_pool);
  for (std::size_t kind = 0; kind < d.model->kind_count; ++kind) {
    const std::uint64_t layers = share.layers_of(kind);
    if (layers == 0) continue;
    const layer_kind& layer = d.model->kinds[kind];
    const bool latent = layer.store_count != 0 && layer.stores[0].kind == store_kind::latent;
    const measured_constant& each = latent                   ? constants::vllm_graph_bytes_per_latent_layer
                                    : layer.num_experts != 0 ? constants::vllm_graph_bytes_per_expert_layer
                                                             : constants::vllm_graph_bytes_per_layer;
    sum = sum.plus(parts::times(each, detail::checked_mul(layers, graphs)));
  }
  if (given.compute_capability_major == 10) {  // the first captured batch makes FlashInfer's workspace
    sum = sum.plus(parts::range_of(constants::vllm_flashinfer_workspace));
  }
  return sum;
}

/// The whole account of one rank.
[[nodiscard]] constexpr memory memory_of(const deployment& d, const rank_share& share, const options& given) {
  using detail::larger;
  const rules& rule = rules_of(given.release);
  const forward_bytes forward = forward_of(d, share, given);
  const multimodal_bytes images = multimodal_of(d, share, given);
  memory found;
  found.blas_workspace = blas_workspace_of(given.compute_capability_major);
  found.kept_experts = {forward.kept_experts, forward.kept_experts, forward.kept_experts};
  const std::uint64_t widest =
      larger(larger(forward.attention, forward.mixer), larger(forward.mlp(), forward.experts()));
  found.forward = forward.streams.plus({widest, widest, widest});
  if (share.last_stage && d.model->vocab_size != 0) {
    const sampler_bytes sampler = sampler_of(d, given);
    found.sampler = sampler.all.plus(sampler.hidden_states);
    if (given.chunked_prefill && !rule.samples_chunks) found.sampler.low = found.sampler.expected = 0;
  }
  const byte_range text = parts::wider_of(found.forward, found.sampler);
  const byte_range peak = parts::wider_of(text, images.encoder);
  found.peak = peak;
  if (peak.expected == found.sampler.expected) {
    found.peak_name = "activations.sampler";
    found.peak_source = "max_num_seqs x vocabulary x what the sampler keeps of each logit";
  }
  if (peak.expected == images.encoder.expected) {
    found.peak_name = "activations.encoder";
    found.peak_source = "patches of the largest batch of images x the widest tensors of the tower";
  }
  found.multimodal = images.kept;
  if (images.kept.high != 0) found.known = basis::assumed;
  found.activations = peak.plus(found.blas_workspace).plus(found.kept_experts).plus(images.kept);
  found.non_torch = parts::range_of(non_torch_of(d, given));
  found.cuda_graphs = cuda_graphs_of(d, share, given);
  found.graphs_in_budget = parts::is_dense(*d.model) ? rule.dense_graphs_in_budget : rule.graphs_in_budget;
  found.workspaces = workspaces_of(d, share, given);
  return found;
}

}  // namespace kvbudget::inline v0::vllm_profile
