#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/memory/framework_constants.hpp"
#include "kvbudget/memory/memory_budget.hpp"
#include "kvbudget/memory/rank_share.hpp"

namespace kvbudget::inline v0 {

/// A number of bytes between two bounds.
struct byte_range {
  std::uint64_t low = 0;
  std::uint64_t expected = 0;
  std::uint64_t high = 0;

  [[nodiscard]] [[gnu::always_inline]] constexpr byte_range plus(const byte_range& other) const {
    using detail::checked_add;
    return {checked_add(low, other.low), checked_add(expected, other.expected),
            checked_add(high, other.high)};
  }
};

/// Bytes of the attention scores of `heads` heads that store every query × key product: heads × queries ×
/// keys elements. One head of 32,768 × 32,768 in FP16 is 2 GiB; FlashAttention never stores them.
[[nodiscard]] constexpr bytes attention_score_bytes(std::uint64_t heads, tokens queries, tokens keys,
                                                    const number_format& format) {
  return format.size_of(detail::checked_mul(heads, detail::checked_mul(queries.value, keys.value)));
}

/// The tensors that one step needs at its widest point on one rank. `hidden` lives throughout; of the three
/// others the largest sets the peak, because a layer frees one before it fills the next.
struct activation_bytes {
  byte_range hidden{};            ///< residual stream and normed copies: 2 to 3 × tokens × hidden
  byte_range qkv{};               ///< queries, keys, values and the attention output of the tokens
  byte_range attention_scores{};  ///< naive attention only
  byte_range attention_workspace{};
  byte_range mlp{};      ///< gate and up outputs and their product
  byte_range experts{};  ///< the same for the routed experts: tokens × experts per token
  byte_range logits{};   ///< rows × vocabulary, with their fp32 copy
  byte_range sampler{};

  [[nodiscard]] constexpr byte_range attention() const {
    return qkv.plus(attention_scores).plus(attention_workspace);
  }
  [[nodiscard]] constexpr byte_range feed_forward() const { return mlp.plus(experts); }
  [[nodiscard]] constexpr byte_range head() const { return logits.plus(sampler); }
  /// Expected bytes at the widest point.
  [[nodiscard]] constexpr std::uint64_t peak() const {
    using detail::larger;
    const std::uint64_t widest =
        larger(larger(attention().expected, feed_forward().expected), head().expected);
    return detail::checked_add(hidden.expected, widest);
  }
};

namespace detail {
[[nodiscard]] constexpr byte_range same(std::uint64_t each) { return {each, each, each}; }
[[nodiscard]] constexpr byte_range wider(const byte_range& a, const byte_range& b) {
  return a.expected < b.expected ? b : a;
}

/// Replica-wide numbers that the widths are multiplied with.
struct step_size {
  std::uint64_t tokens = 0;   ///< computed in the step
  std::uint64_t rows = 0;     ///< of logits
  std::uint64_t longest = 0;  ///< keys that a query may see
};

[[nodiscard]] constexpr step_size step_of(const deployment& d, phase step, std::uint32_t data_replica) {
  std::uint64_t sequences = 0;
  for (std::uint32_t i = 0; i < d.workload.group_count(); ++i) {
    sequences = checked_add(sequences, group_of_replica(d, i, data_replica).count);
  }
  const std::uint64_t batched = d.workload.batched_tokens.value;
  const std::uint64_t rows = smaller(sequences, batched);
  return {step == phase::prefill ? batched : rows, rows, d.workload.longest_context().value};
}

constexpr void widen_by_layer(activation_bytes& widest, const layer_kind& layer, const deployment& d,
                              const number_format& format, const step_size& step) {
  const std::uint64_t tensor = d.parallel.tensor;
  const std::uint64_t gathered = checked_mul(step.tokens, d.parallel.attention_data);
  const auto size = [&](std::uint64_t elements) { return format.size_of(elements).value; };
  if (layer.num_attention_heads != 0) {
    const std::uint64_t heads = layer.num_attention_heads / d.parallel.attention_tensor();
    const std::uint64_t kv_heads =
        layer.key_value_heads == 0 ? 0 : local_kv_heads(layer.key_value_heads, d.parallel.attention_tensor());
    const std::uint64_t width = (heads + kv_heads) * (std::uint64_t{layer.query_dim} + layer.value_dim);
    activation_bytes here;
    here.qkv = same(size(checked_mul(step.tokens, width)));
    if (d.activations.attention == attention_kernel::naive) {
      const std::uint64_t scores = checked_mul(heads, checked_mul(step.tokens, step.longest));
      here.attention_scores = {size(scores), checked_add(size(scores), checked_mul(scores, 4)),
                               checked_add(size(scores), checked_mul(scores, 4))};
    } else {
      here.attention_workspace = same(checked_mul(checked_mul(step.tokens, heads), 4));
    }
    if (widest.attention().expected < here.attention().expected) {
      widest.qkv = here.qkv;
      widest.attention_scores = here.attention_scores;
      widest.attention_workspace = here.attention_workspace;
    }
  }
  byte_range mlp;
  if (layer.intermediate_size != 0) {
    const std::uint64_t one = checked_mul(gathered, ceil_div(layer.intermediate_size, tensor));
    const std::uint64_t all = checked_mul(one, layer.gated_mlp ? 3u : 2u);
    mlp = {size(checked_sub(all, one)), size(all), size(all)};
  }
  byte_range experts;
  if (layer.num_experts != 0) {
    const std::uint64_t width = ceil_div(layer.moe_intermediate_size, d.parallel.expert_tensor());
    const std::uint64_t pairs = checked_mul(gathered, layer.num_experts_per_tok);
    const std::uint64_t projections = larger<std::uint64_t>(2 * width, d.model->hidden_size);
    const std::uint64_t all = size(checked_mul(pairs, projections + width));
    experts = {ceil_div(all, d.parallel.expert), all, all};
  }
  if (widest.feed_forward().expected < mlp.plus(experts).expected) {
    widest.mlp = mlp;
    widest.experts = experts;
  }
}
}  // namespace detail

/// Activations of one step of one phase, by these shapes (T tokens, S rows of logits, b bytes per element,
/// everything but the residual stream and the logits divided by the tensor degree): hidden 3·T·hidden·b (2 at
/// least); qkv T·(query heads + KV heads)·(query dim + value dim)·b; flash workspace T·query heads·4; naive
/// scores query heads·T·longest context·(b + 4); MLP 3·T·intermediate·b (2 if not gated); experts T·experts
/// per token·(max(2·N, hidden) + N)·b; logits S·vocabulary·(b + 4) on the last stage; a sorting sampler as
/// calibrated. Prefill: T = batched tokens; decode: T = S = live requests. Sources: vllm-project/vllm profile
/// run and fused-MoE buffers; alvarobartt/hf-mem pull request 67; Transformers' eager attention for the fp32
/// scores.
[[nodiscard]] constexpr activation_bytes activations_of(const deployment& d, const rank_share& share,
                                                        std::uint32_t data_replica, phase step) {
  using detail::checked_mul;
  using detail::same;
  const model_architecture& model = *d.model;
  const number_format& format = d.activations.format.is_automatic() ? dtype_of(d) : d.activations.format;
  const detail::step_size size = detail::step_of(d, step, data_replica);
  activation_bytes result;
  const std::uint64_t stream = format.size_of(checked_mul(size.tokens, model.hidden_size)).value;
  result.hidden = {checked_mul(stream, 2), checked_mul(stream, 3), checked_mul(stream, 3)};
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    if (share.layers_of(kind) != 0) detail::widen_by_layer(result, model.kinds[kind], d, format, size);
  }
  if (share.last_stage && model.vocab_size != 0) {
    const std::uint64_t logits = checked_mul(size.rows, model.vocab_size);
    const std::uint64_t copy = constants::fp32_logits_copy_bytes_per_logit.expected;
    result.logits = same(detail::checked_add(format.size_of(logits).value, checked_mul(logits, copy)));
    if (d.activations.sampler == sampler_kind::sorting) {
      const measured_constant& whole = constants::vllm_sampler_bytes_per_1000_logits_with_logits;
      const std::uint64_t counted = 1000 * (copy + constants::logits_bytes_per_logit.expected);
      const auto beyond = [&](std::uint64_t per_1000) {
        return detail::ceil_mul_div(logits, per_1000 - counted, 1000);
      };
      result.sampler = {beyond(whole.low), beyond(whole.expected), beyond(whole.high)};
    }
  }
  return result;
}

/// Writes the line `activations` and the parts that are alive at the peak of the wider phase, when the
/// workload says how many tokens a step computes; otherwise nothing. `activations.other_phases` is what the
/// peak does not need if buffers are reused, and needs in full if none is: low and expected 0.
constexpr void add_activations(memory_budget& budget, const deployment& d, const rank_share& share,
                               std::uint32_t data_replica) {
  if (d.pinned.activations.given) {
    return detail::add_pinned(budget, "activations", d.pinned.activations);
  }
  if (d.workload.batched_tokens.value == 0) return;
  const activation_bytes prefill = activations_of(d, share, data_replica, phase::prefill);
  const activation_bytes decode = activations_of(d, share, data_replica, phase::decode);
  const activation_bytes& widest = prefill.peak() < decode.peak() ? decode : prefill;

  const byte_range phases[3] = {widest.attention(), widest.feed_forward(), widest.head()};
  int peak = 0;
  for (int i = 1; i < 3; ++i) peak = phases[peak].expected < phases[i].expected ? i : peak;
  byte_range idle;
  for (int i = 0; i < 3; ++i) {
    if (i != peak) idle.high = detail::checked_add(idle.high, phases[i].high);
  }
  const byte_range all = widest.hidden.plus(phases[peak]).plus(idle);
  budget.add({"activations", bytes{all.low}, bytes{all.expected}, bytes{all.high}, basis::assumed,
              "widest point of a step: residual stream and the largest of attention, MLP and logits", false});
  const auto part = [&budget](const char* name, const byte_range& range, basis known, const char* source) {
    if (range.high != 0) {
      budget.add({name, bytes{range.low}, bytes{range.expected}, bytes{range.high}, known, source, true});
    }
  };
  part("activations.hidden", widest.hidden, basis::assumed, "2 to 3 x tokens x hidden size");
  if (peak == 0) {
    part("activations.qkv", widest.qkv, basis::exact, "tokens x (query + KV heads) x head dims");
    part("activations.attention_scores", widest.attention_scores, basis::assumed,
         "query heads x tokens x longest context, with an fp32 softmax copy");
    part("activations.attention_workspace", widest.attention_workspace, basis::exact,
         "FlashAttention: one fp32 log-sum-exp per token and query head");
  } else if (peak == 1) {
    part("activations.mlp", widest.mlp, basis::assumed,
         "tokens x intermediate size x (gate, up and product)");
    part("activations.experts", widest.experts, basis::assumed,
         "tokens x experts per token x (projections and product)");
  } else {
    part("activations.logits", widest.logits, basis::exact, "rows x vocabulary, in 16 and 32 bits");
    part("activations.sampler", widest.sampler, basis::calibrated,
         constants::vllm_sampler_bytes_per_1000_logits_with_logits.source);
  }
  part("activations.other_phases", idle, basis::assumed, "buffers of the narrower phases, if none is reused");
}

}  // namespace kvbudget::inline v0
