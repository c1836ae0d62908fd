#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/engine/transformers/cache.hpp"
#include "kvbudget/memory/activations.hpp"

namespace kvbudget::inline v0 {

/// What one step of Transformers needs beside weights and cache. Of attention, MLP and logits the largest
/// sets the peak; `mask` and the residual stream live throughout.
struct transformers_step {
  activation_bytes usual{};  ///< hidden, qkv, workspace, mlp, experts and logits, as every engine needs them
  byte_range mask{};         ///< rows × 1 × queries × keys, once per kind of mask
  byte_range scores{};       ///< eager: rows × heads × queries × keys, in the dtype
  byte_range softmax{};      ///< eager: the same in fp32
  byte_range probabilities{};  ///< eager: the same again, cast back while both others are alive
  byte_range expanded{};       ///< keys and values repeated for all query heads

  [[nodiscard]] constexpr byte_range attention() const {
    return usual.attention().plus(expanded).plus(scores).plus(softmax).plus(probabilities);
  }
};

/// A step at its widest point.
struct transformers_peak_step {
  transformers_step step{};
  int widest = 0;     ///< which part sets the peak: attention (0), MLP (1) or logits (2)
  byte_range all{};   ///< bytes; the highest is as if no part reused another's memory
  byte_range idle{};  ///< of which: the parts that do not set the peak
};

/// Finds the widest point of a step.
[[nodiscard]] constexpr transformers_peak_step peak_of(const transformers_step& step) {
  transformers_peak_step peak;
  peak.step = step;
  const byte_range parts[3] = {step.attention(), step.usual.feed_forward(), step.usual.head()};
  for (int i = 1; i < 3; ++i) peak.widest = parts[peak.widest].expected < parts[i].expected ? i : peak.widest;
  for (int i = 0; i < 3; ++i) {
    if (i != peak.widest) peak.idle.high = detail::checked_add(peak.idle.high, parts[i].high);
  }
  peak.all = step.usual.hidden.plus(step.mask).plus(parts[peak.widest]).plus(peak.idle);
  return peak;
}

namespace detail {
/// The deployment as one padded rectangle that computes `queries` tokens of each row.
[[nodiscard]] constexpr deployment as_rectangle(const deployment& d, const padded_batch& batch,
                                                std::uint64_t queries) {
  deployment one = d;
  one.workload = workload{.sequences = batch.rows,
                          .context = tokens{batch.context},
                          .batched_tokens = tokens{checked_mul(batch.rows, queries)}};
  one.parallel.data = 1;
  one.activations.attention = attention_kernel::flash;
  one.activations.sampler = sampler_kind::greedy;
  return one;
}

/// Keys that a layer's attention reads in a step: static caches hand out their whole buffer.
[[nodiscard]] constexpr std::uint64_t keys_read(const engines::transformers& asked, const padded_batch& batch,
                                                phase step, std::uint64_t window) {
  const bool prefill = step == phase::prefill;
  const std::uint64_t length = prefill ? batch.prompt : batch.context;
  if (window == 0 || !asked.keeps_windows()) return asked.is_static() ? static_tokens(batch, 0) : length;
  const std::uint64_t seen = smaller(length, prefill ? checked_add(window - 1, batch.chunk) : window);
  return asked.is_static() ? larger(seen, static_tokens(batch, window)) : seen;
}

/// The window of the layer's first attention store; 0 = none.
[[nodiscard]] constexpr std::uint64_t window_of(const layer_kind& layer) {
  for (std::size_t i = 0; i < layer.store_count; ++i) {
    const store& s = layer.stores[i];
    if (s.kind == store_kind::sliding_window || s.kind == store_kind::chunked) return s.window;
  }
  return 0;
}

/// Adds one kind's masks and attention tensors; of the latter the widest layer counts.
constexpr void add_attention_of_layer(transformers_step& sum, const layer_kind& layer,
                                      const engines::transformers& asked, const deployment& d,
                                      const padded_batch& batch, phase step, byte_range (&masks)[2]) {
  if (layer.num_attention_heads == 0) return;
  const number_format& dtype = dtype_of(d);
  const std::uint64_t window = window_of(layer);
  const std::uint64_t queries = step == phase::prefill ? batch.chunk : 1;
  const std::uint64_t keys = keys_read(asked, batch, step, window);
  const std::uint64_t heads = layer.num_attention_heads / d.parallel.attention_tensor();
  const bool grouped = layer.key_value_heads != 0 && layer.key_value_heads != layer.num_attention_heads;
  const std::uint64_t pairs = checked_product(batch.rows, queries, keys);
  const bool eager = asked.attn_implementation == transformers_attention::eager;
  const bool flash = asked.attn_implementation == transformers_attention::flash_attention_2;
  const bool beyond_window = window != 0 && (step == phase::prefill ? batch.prompt : batch.context) > window;

  // SDPA goes without a mask where "causal" says it all: no padding, no window, no static buffer.
  const bool masked = eager || (!flash && (batch.padded || beyond_window || asked.is_static()));
  if (masked) {
    const bool boolean = !eager && asked.rules().boolean_masks;
    const std::uint64_t stored = boolean ? pairs : dtype.size_of(pairs).value;
    const std::uint64_t converted = boolean ? checked_add(stored, dtype.size_of(pairs).value) : stored;
    const byte_range mask{eager || asked.is_static() ? stored : 0, stored, converted};
    byte_range& slot = masks[window != 0];
    slot = wider(slot, mask);
  }
  const bool expands = grouped && !flash && (masked || !asked.rules().sdpa_reads_groups);
  if (grouped && !flash) {
    const std::uint64_t width = checked_mul(heads, std::uint64_t{layer.query_dim} + layer.value_dim);
    const std::uint64_t size = dtype.size_of(checked_product(batch.rows, width, keys)).value;
    const byte_range expanded{eager ? size : 0, expands ? size : 0, size};
    if (sum.expanded.high <= expanded.high) sum.expanded = expanded;
  }
  if (!eager) return;
  const std::uint64_t scores = checked_mul(pairs, heads);
  const std::uint64_t size = dtype.size_of(scores).value;
  if (sum.scores.expected > size) return;
  sum.scores = same(size);
  sum.softmax = same(checked_mul(scores, 4));
  sum.probabilities = {0, size, size};
}
}  // namespace detail

/// The widest point of one phase's steps on one rank. The prefill computes all tokens of the padded prompts
/// at once (or `prefill_chunk_size` of each), and the logits of the last one, or of all of them.
///
/// Eager attention, per row and head: scores in the dtype, softmax in fp32, and the cast back while the old
/// scores are still bound; keys and values repeated for every query head; a mask of queries × keys in the
/// dtype. SDPA stores no scores; its mask is boolean since 4.53. Sources: huggingface/transformers
/// src/transformers/integrations/{sdpa_attention,eager_paged}.py, masking_utils.py and
/// models/llama/modeling_llama.py (eager_attention_forward).
[[nodiscard]] constexpr transformers_step step_of_transformers(const engines::transformers& asked,
                                                               const deployment& d, const rank_share& share,
                                                               const padded_batch& batch, phase step) {
  using detail::checked_mul;
  transformers_step result;
  if (batch.rows == 0 || batch.context == 0) return result;
  const std::uint64_t queries = step == phase::prefill ? batch.chunk : 1;
  result.usual = activations_of(detail::as_rectangle(d, batch, queries), share, 0, phase::prefill);
  if (asked.attn_implementation == transformers_attention::eager) result.usual.attention_workspace = {};
  if (share.last_stage && step == phase::prefill) {
    const bool automatic = asked.logits == transformers_logits::automatic;
    const bool all =
        automatic ? !asked.rules().last_logits : asked.logits == transformers_logits::every_token;
    if (all) {
      const std::uint64_t logits = detail::checked_product(batch.rows, batch.chunk, d.model->vocab_size);
      const std::uint64_t last = checked_mul(batch.rows, d.model->vocab_size);
      const std::uint64_t copied = asked.rules().fp32_logits ? logits : last;
      result.usual.logits =
          detail::same(detail::checked_add(dtype_of(d).size_of(logits).value, checked_mul(copied, 4)));
    }
  }
  byte_range masks[2] = {};
  for (std::size_t kind = 0; kind < d.model->kind_count; ++kind) {
    if (share.layers_of(kind) == 0) continue;
    detail::add_attention_of_layer(result, d.model->kinds[kind], asked, d, batch, step, masks);
  }
  result.mask = masks[0].plus(masks[1]);
  return result;
}

/// Writes the line `activations` with the parts that are alive at the peak; a pinned figure replaces them.
constexpr void add_transformers_step(memory_budget& budget, const transformers_peak_step& peak,
                                     std::uint64_t high) {
  const transformers_step& step = peak.step;
  const byte_range& all = peak.all;
  budget.add({"activations", bytes{all.low}, bytes{all.expected}, bytes{detail::larger(high, all.high)},
              basis::assumed, "widest point of the prefill or of a decode step"});
  const auto part = [&budget](const char* name, const byte_range& range, basis known, const char* source) {
    if (range.high != 0) {
      budget.add({name, bytes{range.low}, bytes{range.expected}, bytes{range.high}, known, source});
    }
  };
  part("activations.hidden", step.usual.hidden, basis::assumed, "2 to 3 x tokens x hidden size");
  part("activations.attention_mask", step.mask, basis::assumed,
       "rows x queries x keys, in the dtype (eager) or one byte each (SDPA since 4.53)");
  if (peak.widest == 0) {
    part("activations.qkv", step.usual.qkv, basis::exact, "tokens x (query + KV heads) x head dims");
    part("activations.attention_workspace", step.usual.attention_workspace, basis::exact,
         "one fp32 log-sum-exp per token and query head");
    part("activations.repeated_kv", step.expanded, basis::assumed,
         "keys and values repeated for every query head");
    part("activations.attention_scores", step.scores, basis::exact,
         "rows x heads x queries x keys in the dtype");
    part("activations.attention_softmax", step.softmax, basis::exact, "the softmax of the scores in fp32");
    part("activations.attention_probabilities", step.probabilities, basis::assumed,
         "the softmax cast back while the scores are still referenced");
  } else if (peak.widest == 1) {
    part("activations.mlp", step.usual.mlp, basis::assumed,
         "tokens x intermediate size x (gate, up and product)");
    part("activations.experts", step.usual.experts, basis::assumed,
         "tokens x experts per token x (projections and product)");
  } else {
    part("activations.logits", step.usual.logits, basis::exact,
         "rows x vocabulary in the dtype, and an fp32 copy of what is sampled");
  }
  part("activations.other_phases", peak.idle, basis::assumed,
       "buffers of the narrower phases, if none is reused");
}

}  // namespace kvbudget::inline v0
