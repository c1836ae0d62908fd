#pragma once

#include <cstdint>

#include "kvbudget/deployment/deployment.hpp"
#include "kvbudget/engine/option_choice.hpp"
#include "kvbudget/engine/pool_engine.hpp"
#include "kvbudget/memory/rank_share.hpp"
#include "kvbudget/units/quantity.hpp"

namespace kvbudget::inline v0 {

/// `cache_implementation` of Transformers' generation config.
enum class transformers_cache : std::uint8_t {
  dynamic,           ///< grows by concatenation at every step: the default
  static_cache,      ///< "static": `max_cache_len` tokens, allocated at the first step
  sliding_window,    ///< static; windows keep min(window, max_cache_len)
  hybrid,            ///< the same for models that mix windows and full attention
  quantized,         ///< old tokens in `nbits`, the latest in the dtype
  offloaded,         ///< dynamic, in host memory but for two layers
  offloaded_static,  ///< static, in host memory but for two layers
};

/// Who quantizes a quantized cache: `cache_config["backend"]`.
enum class transformers_quantizer : std::uint8_t {
  quanto,  ///< 2 or 4 bits
  hqq      ///< 1, 2, 3, 4 or 8 bits
};

/// `attn_implementation` of a model.
enum class transformers_attention : std::uint8_t {
  sdpa,              ///< the default
  eager,             ///< stores every query × key product
  flash_attention_2  ///< needs no mask of queries × keys
};

/// Of how many prompt tokens the prefill computes logits.
enum class transformers_logits : std::uint8_t {
  automatic,    ///< as the version does for models that take `logits_to_keep`
  every_token,  ///< models without that argument
  last_token
};

/// What memory depends on in a version of Transformers.
struct transformers_rules {
  engine_version from{};           ///< the first version with these rules
  bool last_logits = false;        ///< the prefill computes the logits of the last token only
  bool fp32_logits = false;        ///< all logits are copied to fp32, not only those of the last token
  bool boolean_masks = false;      ///< masks for SDPA are stored as one byte per pair
  bool sliding_layers = false;     ///< caches are lists of layers: windows slide in dynamic and static caches
  bool sdpa_reads_groups = false;  ///< SDPA without a mask reads grouped KV heads as they are
  bool tied_head_counts_once = false;  ///< a balanced device map is made after weights are tied, not before
  bool offloads_whole_layers = false;  ///< offloading is an option of every cache, layer by layer
};

/// The rules by version, oldest first; anything older counts as the first.
///
/// Sources: huggingface/transformers pull requests 31292 (logits of the last token, 4.45) and 33902 (no fp32
/// copy of all logits, 4.46); src/transformers/masking_utils.py (boolean masks, 4.53);
/// src/transformers/cache_utils.py (layered caches, 4.56);
/// src/transformers/integrations/accelerate.py (tied weights, 5.0).
inline constexpr transformers_rules transformers_versions[] = {
    {.from = {4, 36}, .fp32_logits = true},
    {.from = {4, 45}, .last_logits = true, .fp32_logits = true},
    {.from = {4, 46}, .last_logits = true},
    {.from = {4, 53}, .last_logits = true, .boolean_masks = true},
    {.from = {4, 56},
     .last_logits = true,
     .boolean_masks = true,
     .sliding_layers = true,
     .sdpa_reads_groups = true,
     .offloads_whole_layers = true},
    {.from = {5, 0},
     .last_logits = true,
     .boolean_masks = true,
     .sliding_layers = true,
     .sdpa_reads_groups = true,
     .tied_head_counts_once = true,
     .offloads_whole_layers = true},
};

/// The rules of a version.
[[nodiscard]] constexpr const transformers_rules& rules_of_transformers(engine_version version) {
  const transformers_rules* found = transformers_versions;
  for (const transformers_rules& rules : transformers_versions) {
    if (!version.before(rules.from)) found = &rules;
  }
  return *found;
}

namespace engines {

/// Transformers' `generate`: no pool, no pages. Every replica's requests are one rectangle, padded to its
/// longest prompt and grown to its longest output; the cache is what `cache_implementation` keeps of it, with
/// the copies that extending, rolling or dequantizing it needs; the prefill is one step. Shared prefixes are
/// kept for every row, MLA per head. Pipeline stages are the GPUs of a device map (see
/// `transformers/device_map.hpp`), tensor ranks those of a `tp_plan`. The workload's `batched_tokens` play no
/// part. Where outputs are long, the peak of the prefill is counted beside the cache of the end: never less
/// than needed. Options have the names of the generation config, `from_pretrained` and `cache_config`; what
/// the engine cannot do stops. Members are defined in `engine/transformers.hpp`.
struct transformers {
  engine_version version{5, 0};
  transformers_cache cache_implementation = transformers_cache::dynamic;
  transformers_attention attn_implementation = transformers_attention::sdpa;
  /// Tokens that a static cache has room for; 0 = as many as the requests have. Longer requests get a larger
  /// cache, as `generate` makes a new one.
  std::uint64_t max_cache_len = 0;
  std::uint32_t num_beams = 1;  ///< every request is repeated so many times before the prefill
  /// How many of a request's tokens are generated, where the workload does not say (its short form, and
  /// groups without output): the rest is the prompt. 0 = all are prompt.
  std::uint64_t max_new_tokens = 0;
  std::uint64_t prefill_chunk_size = 0;  ///< prompt tokens of each request computed at once; 0 = all
  transformers_logits logits = transformers_logits::automatic;
  transformers_quantizer backend = transformers_quantizer::quanto;
  std::uint32_t nbits = 4;
  std::uint32_t q_group_size = 64;
  std::uint32_t residual_length = 128;
  /// Whether windows stay on the GPU when the rest is offloaded; default: in static caches only.
  option_choice offload_only_non_sliding = option_choice::automatic;
  bytes used_by_others = bytes{0};  ///< memory of other processes on the GPU

  [[nodiscard]] constexpr const transformers_rules& rules() const { return rules_of_transformers(version); }
  [[nodiscard]] constexpr bool is_static() const {
    return cache_implementation == transformers_cache::static_cache ||
           cache_implementation == transformers_cache::sliding_window ||
           cache_implementation == transformers_cache::hybrid ||
           cache_implementation == transformers_cache::offloaded_static;
  }
  [[nodiscard]] constexpr bool is_offloaded() const {
    return cache_implementation == transformers_cache::offloaded ||
           cache_implementation == transformers_cache::offloaded_static;
  }
  /// Whether layers with a window keep less than the whole context. A quantized cache never does.
  [[nodiscard]] constexpr bool keeps_windows() const {
    if (cache_implementation == transformers_cache::quantized) return false;
    if (cache_implementation == transformers_cache::sliding_window ||
        cache_implementation == transformers_cache::hybrid) {
      return true;
    }
    return rules().sliding_layers;
  }
  /// Whether windows stay on the GPU while other layers are offloaded.
  [[nodiscard]] constexpr bool keeps_windows_on_gpu() const {
    if (!rules().offloads_whole_layers) return false;
    if (offload_only_non_sliding != option_choice::automatic) {
      return offload_only_non_sliding == option_choice::yes;
    }
    return is_static();
  }

  [[nodiscard]] constexpr engine_name name() const;
  /// What the runtime offers, less what other processes hold.
  [[nodiscard]] constexpr usable_memory usable(const gpu_profile& gpu) const;
  [[nodiscard]] constexpr memory_budget ledger(const deployment& d, const rank& where,
                                               const gpu_profile* gpu = nullptr) const;
  /// What an offloaded cache keeps in host memory for one rank: the line `kv_cache`, between all layers but
  /// the two on the GPU and, while copies are under way, all of them. No line where nothing is offloaded.
  [[nodiscard]] constexpr memory_budget host_ledger(const deployment& d, const rank& where) const;
  /// Host memory of the rank whose offloaded cache is largest, copies under way included.
  [[nodiscard]] constexpr bytes host_bytes(const deployment& d, const gpu_profile& gpu) const;
};

}  // namespace engines

namespace detail {
[[noreturn]] inline void num_beams_must_be_at_least_one() { raise("num_beams must be at least one"); }
[[noreturn]] inline void quanto_quantizes_to_2_or_4_bits(std::uint64_t bits) {
  raise("nbits: quanto quantizes a cache to 2 or 4 bits, not to #", bits);
}
[[noreturn]] inline void hqq_quantizes_to_1_2_3_4_or_8_bits(std::uint64_t bits) {
  raise("nbits: HQQ quantizes a cache to 1, 2, 3, 4 or 8 bits, not to #", bits);
}
[[noreturn]] inline void q_group_size_and_residual_length_must_be_positive() {
  raise("q_group_size and residual_length must be positive");
}
[[noreturn]] inline void transformers_keeps_its_cache_in_the_dtype() {
  raise("Transformers keeps its cache in the dtype, or quantized by cache_implementation and nbits");
}
[[noreturn]] inline void transformers_does_not_split_a_cache_by_tokens() {
  raise("Transformers does not split a cache by tokens (decode-context parallel)");
}
}  // namespace detail

/// Stops, with the reason, if Transformers has no such options, or a deployment asks for what it cannot do.
constexpr void validate(const engines::transformers& asked, const deployment& d) {
  if (asked.num_beams == 0) detail::num_beams_must_be_at_least_one();
  if (asked.cache_implementation == transformers_cache::quantized) {
    if (asked.q_group_size == 0 || asked.residual_length == 0) {
      detail::q_group_size_and_residual_length_must_be_positive();
    }
    const std::uint32_t bits = asked.nbits;
    if (asked.backend == transformers_quantizer::quanto) {
      if (bits != 2 && bits != 4) detail::quanto_quantizes_to_2_or_4_bits(bits);
    } else if (bits == 0 || bits > 8 || (bits > 4 && bits < 8)) {
      detail::hqq_quantizes_to_1_2_3_4_or_8_bits(bits);
    }
  }
  const kv_part sides[] = {d.kv_cache.key, d.kv_cache.value};
  for (const kv_part& side : sides) {
    if (d.kv_cache.is_automatic()) break;
    if (!(side.format == dtype_of(d)) || side.scales != scale_granularity::none) {
      detail::transformers_keeps_its_cache_in_the_dtype();
    }
  }
  if (d.kv_exceptions.any()) detail::transformers_keeps_its_cache_in_the_dtype();
  if (d.parallel.decode_context != 1) detail::transformers_does_not_split_a_cache_by_tokens();
}

/// The requests of one replica as Transformers runs them: one rectangle, padded on the left to the longest
/// prompt, which grows until the longest output is written.
struct padded_batch {
  std::uint64_t rows = 0;       ///< requests × beams
  std::uint64_t prompt = 0;     ///< tokens of the longest prompt
  std::uint64_t context = 0;    ///< longest prompt + longest output
  std::uint64_t chunk = 0;      ///< prompt tokens that one step of the prefill computes, per row
  std::uint64_t cache_len = 0;  ///< tokens that a static cache has room for
  /// Whether some rows are padded, as far as one can tell: there are several requests, whose prompts hardly
  /// ever have the same length.
  bool padded = false;
};

/// The rectangle of a replica's requests.
[[nodiscard]] constexpr padded_batch padded_batch_of(const engines::transformers& asked, const deployment& d,
                                                     std::uint32_t data_replica) {
  using detail::larger;
  using detail::smaller;
  padded_batch batch;
  std::uint64_t output = 0;
  for (std::uint32_t i = 0; i < d.workload.group_count(); ++i) {
    const request_group group = group_of_replica(d, i, data_replica);
    if (group.count == 0) continue;
    std::uint64_t prompt = group.prompt.value;
    std::uint64_t written = group.output.value;
    if (written == 0) {
      written = smaller(asked.max_new_tokens, prompt);
      prompt -= written;
    }
    batch.rows = detail::checked_add(batch.rows, group.count);
    batch.prompt = larger(batch.prompt, prompt);
    output = larger(output, written);
  }
  batch.padded = batch.rows > 1;
  batch.rows = detail::checked_mul(batch.rows, asked.num_beams);
  batch.context = detail::checked_add(batch.prompt, output);
  batch.chunk =
      asked.prefill_chunk_size == 0 ? batch.prompt : smaller(asked.prefill_chunk_size, batch.prompt);
  batch.cache_len = larger(asked.max_cache_len, batch.context);
  return batch;
}

}  // namespace kvbudget::inline v0
