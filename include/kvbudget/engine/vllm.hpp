#pragma once

#include <cstdint>

#include "kvbudget/engine/loaded_weights.hpp"
#include "kvbudget/engine/state_dtype.hpp"
#include "kvbudget/engine/vllm/cache_groups.hpp"
#include "kvbudget/engine/vllm/profile_run.hpp"
#include "kvbudget/memory/framework.hpp"
#include "kvbudget/memory/weights.hpp"

namespace kvbudget::inline v0::engines {

/// Who drives vLLM: defaults depend on it.
enum class vllm_usage : std::uint8_t { openai_server, llm_class };

/// When recurrent states are kept for later requests; automatic = `align` with prefix caching, else `none`.
enum class mamba_cache_mode : std::uint8_t { automatic, none, align, all };

/// vLLM as `vllm serve` starts it. Options have the names of its command line; 0 or automatic is the default
/// of that version on that GPU.
struct vllm {
  engine_version version{0, 27};
  vllm_usage usage = vllm_usage::openai_server;
  double gpu_memory_utilization = 0;         ///< share of the GPU's total; 0 = by version (0.90, 0.92)
  std::uint64_t max_model_len = 0;           ///< 0 = the model's
  bool fit_max_model_len = false;            ///< max_model_len = -1: the longest that the pool holds
  std::uint64_t max_num_seqs = 0;            ///< 0 = by GPU and usage
  std::uint64_t max_num_batched_tokens = 0;  ///< 0 = by GPU and usage
  std::uint64_t block_size = 0;              ///< tokens; 0 = by model and kernel
  bytes kv_cache_memory_bytes{};             ///< replaces the budget rule
  std::uint64_t num_gpu_blocks_override = 0;
  bool enforce_eager = false;          ///< no CUDA graphs
  bool enable_prefix_caching = false;  ///< only states depend on it
  bool enable_chunked_prefill = true;
  bool disable_hybrid_kv_cache_manager = false;
  bool async_scheduling = true;  ///< from 0.21, as a server: two batches may be in flight
  mamba_cache_mode mamba_mode = mamba_cache_mode::automatic;
  state_dtype mamba_ssm_cache_dtype = state_dtype::automatic;
  state_dtype mamba_cache_dtype = state_dtype::automatic;
  bool language_model_only = false;  ///< no images: limits of 0, or skip_mm_profiling
  bool fp4_indexer_cache = false;    ///< DeepSeek-V4: index keys in MXFP4
  std::uint32_t prefill_context_parallel_size = 1;
  double cpu_offload_gb = 0;      ///< GiB of weights per GPU kept in host memory
  double kv_offloading_size = 0;  ///< GiB of host memory over all tensor ranks
  bytes used_by_others{};         ///< memory of other processes on the GPU

  [[nodiscard]] constexpr engine_name name() const { return detail::versioned_name("vllm", version); }
  /// The share of the GPU's total that this instance allows itself.
  [[nodiscard]] constexpr usable_memory usable(const gpu_profile& gpu) const {
    const usable_memory total = kvbudget::usable(gpu);
    return {requested(total.low), requested(total.expected), requested(total.high), total.known};
  }
  /// ⌈total × utilization⌉.
  [[nodiscard]] constexpr bytes requested(bytes total) const {
    return bytes{detail::ceil_of_double_product(total.value, utilization())};
  }
  [[nodiscard]] constexpr memory_budget ledger(const deployment& d, const rank& where,
                                               const gpu_profile* gpu) const {
    return detail::pool_ledger(*this, d, where, gpu);
  }
  [[nodiscard]] constexpr std::uint64_t longest_request(const deployment& d) const {
    return max_model_len != 0 ? max_model_len : d.model->max_position_embeddings;
  }

  [[nodiscard]] constexpr refusal refuses(const deployment& d, const gpu_profile& gpu) const;
  constexpr void reserve(const deployment& d, const rank& where, const gpu_profile& gpu,
                         rank_reservation& into) const;
  [[nodiscard]] constexpr block_pools pools(const deployment& d, const rank& where, const gpu_profile& gpu,
                                            std::uint64_t available) const;
  [[nodiscard]] constexpr bytes needed_to_start(const deployment& d, const gpu_profile& gpu,
                                                const block_pools& pools, std::uint64_t length) const;
  [[nodiscard]] constexpr std::uint64_t printed_tokens(const deployment& d, const gpu_profile& gpu,
                                                       const block_pools& pools, std::uint64_t length) const;
  [[nodiscard]] constexpr refusal refuses_pools(const deployment& d, const gpu_profile& gpu,
                                                const rank_reservation& found) const;
  /// Host memory of one rank: offloaded weights, its share of the offloaded cache, swap space (V0).
  [[nodiscard]] constexpr bytes host_bytes(const deployment& d, const gpu_profile& gpu) const {
    return offloaded_weights(d, gpu) +
           bytes{detail::ceil_div(gibibytes_of(kv_offloading_size).value, d.parallel.tensor)} +
           bytes{rules().swap_space_bytes};
  }

  /// From 0.21 graphs are inside the budget: a share acts like this smaller one did before, share − graphs /
  /// total. The engine prints it.
  [[nodiscard]] static constexpr double equivalent_utilization(double share, bytes graphs, bytes total) {
    return share - static_cast<double>(graphs.value) / static_cast<double>(total.value);
  }

  /// The rules of this version, and the options with every default filled in.
  [[nodiscard]] constexpr const vllm_rules& rules() const { return vllm_rules_of(version); }
  [[nodiscard]] constexpr double utilization() const {
    if (gpu_memory_utilization != 0) return gpu_memory_utilization;
    return vllm_profile::rules_of(version).utilization_percent / 100.0;
  }
  [[nodiscard]] constexpr vllm_profile::options resolved(const deployment& d, const gpu_profile& gpu) const;
  /// The deployment with its weights as this version holds them on that GPU.
  [[nodiscard]] constexpr deployment loaded(const deployment& d, const gpu_profile& gpu) const {
    const compute_capability capability = capability_of(gpu);
    loading_options options;
    options.fp4_experts = mxfp4_kernel_of_vllm(capability.major, !version.before({0, 12}));
    options.fp8_hardware = multiplies_fp8(capability);
    options.language_model_only = language_model_only;
    return as_loaded_by_vllm(d, options);
  }

 private:
  /// What `cpu_offload_gb` moves of the heaviest rank's weights: never more than there are.
  [[nodiscard]] constexpr bytes offloaded_weights(const deployment& d, const gpu_profile& gpu) const {
    if (!(cpu_offload_gb > 0)) return bytes{};
    const deployment held = loaded(d, gpu);
    bytes most{};
    for (std::uint32_t stage = 0; stage < d.parallel.pipeline; ++stage) {
      memory_budget weights;
      add_weights(weights, held, share_of(d, rank{stage, 0}));
      most = detail::larger(most, weights.lines[0].expected);
    }
    return detail::smaller(most, gibibytes_of(cpu_offload_gb));
  }
  [[nodiscard]] static constexpr bytes gibibytes_of(double amount) {
    return bytes{static_cast<std::uint64_t>(amount * 1073741824.0)};
  }
  [[nodiscard]] constexpr vllm_cache::page_settings pages(const deployment& d, const gpu_profile& gpu,
                                                          const vllm_profile::options& options) const;
  /// Block tables of the whole model, written to `pool`, and what a block weighs on one stage.
  [[nodiscard]] constexpr vllm_cache::grouping groups(const deployment& d, const rank_share& here,
                                                      const gpu_profile& gpu,
                                                      const vllm_profile::options& options,
                                                      block_pool& pool) const;
  [[nodiscard]] constexpr block_counts blocks_in(const block_pool& pool, std::uint64_t available) const;
};

namespace vllm_detail {
using namespace kvbudget::detail;

/// Draft layers that look ahead: tokens per step that are checked besides the one that is new.
[[nodiscard]] constexpr std::uint64_t drafted_tokens(const deployment& d) {
  return d.speculation.kind == speculation_kind::none ? 0 : d.speculation.num_speculative_tokens;
}
[[nodiscard]] constexpr bool contains(const char* text, const char* part) {
  for (; *text != '\0'; ++text) {
    std::size_t at = 0;
    while (part[at] != '\0' && text[at] == part[at]) ++at;
    if (part[at] == '\0') return true;
  }
  return false;
}
/// Whether some layer keeps only recent tokens.
[[nodiscard]] constexpr bool has_windows(const model_architecture& model) {
  return has_store(model, store_kind::sliding_window) || has_store(model, store_kind::chunked);
}
[[nodiscard]] constexpr bool has_index_keys(const model_architecture& model) {
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    for (std::size_t i = 0; i < model.kinds[kind].store_count; ++i) {
      if (model.kinds[kind].stores[i].indexer_dim != 0) return true;
    }
  }
  return false;
}
[[nodiscard]] constexpr std::uint32_t widest_head(const model_architecture& model) {
  std::uint32_t widest = 0;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    for (std::size_t i = 0; i < model.kinds[kind].store_count; ++i) {
      widest = larger(widest, model.kinds[kind].stores[i].key_dim);
    }
  }
  return widest;
}
constexpr void add_line(memory_budget& budget, const char* name, const byte_range& range, basis known,
                        const char* source, bool is_part) {
  if (range.high == 0) return;
  budget.add({name, bytes{range.low}, bytes{range.expected}, bytes{range.high}, known, source, is_part});
}
constexpr void add_part(memory_budget& budget, const char* name, const byte_range& range, basis known,
                        const char* source) {
  add_line(budget, name, range, known, source, true);
}
}  // namespace vllm_detail

namespace vllm_detail {
/// TurboQuant leaves the first and last two layers of a dense model in its dtype, none where layers keep
/// states. Source: vllm-project/vllm, v1/attention/ops/turboquant.
inline constexpr std::uint32_t turboquant_skips = 2;
[[nodiscard]] constexpr bool skips_layers(const deployment& d) {
  constexpr const char* name = "turboquant";
  for (std::size_t i = 0; name[i] != '\0'; ++i) {
    if (d.kv_cache.name[i] != name[i]) return false;
  }
  if (d.kv_exceptions.any()) return false;
  return !has_store(*d.model, store_kind::recurrent);
}
}  // namespace vllm_detail

/// Every default filled in: by version, GPU, usage and model.
constexpr vllm_profile::options vllm::resolved(const deployment& d, const gpu_profile& gpu) const {
  const vllm_profile::rules& rule = vllm_profile::rules_of(version);
  vllm_profile::options options;
  options.release = version;
  options.max_model_len = longest_request(d);
  const bool chunked =
      enable_chunked_prefill && vllm_profile::is_prefill_chunked(rule, options.max_model_len);
  // Where the GPU shares memory with the CPU the driver tells no total, and vLLM takes it for a small one.
  const bool total_is_told = !gpu.unified_memory || gpu.driver_total_bytes != 0;
  const vllm_profile::batch_defaults defaults = vllm_profile::defaults_of(
      rule, usage == vllm_usage::llm_class ? vllm_profile::usage::library : vllm_profile::usage::server,
      total_is_told ? kvbudget::usable(gpu).expected.value : 0,
      rule.large_gpu_defaults && vllm_detail::contains(gpu.name, "A100"), options.max_model_len, chunked);
  options.max_num_seqs = max_num_seqs != 0 ? max_num_seqs : defaults.max_num_seqs;
  options.max_num_batched_tokens =
      max_num_batched_tokens != 0 ? max_num_batched_tokens
                                  : detail::larger(defaults.max_num_batched_tokens, options.max_num_seqs);
  options.speculative_tokens = vllm_detail::drafted_tokens(d);
  options.enforce_eager = enforce_eager;
  options.chunked_prefill = chunked;
  options.multimodal = !language_model_only;
  options.compute_capability_major = capability_of(gpu).major;
  options.block_size = block_size != 0 ? block_size : 16;
  return options;
}

/// Blocks of latents: 64 tokens for FlashMLA (compute capability 9) and for index keys, 128 for CUTLASS-MLA
/// (10), 16 where Triton computes. Recurrent states align attention blocks to multiples of 16, of 32 for
/// heads of 256 on capability 10, of 64 (128) beside latents. Source: vllm-project/vllm platforms/cuda.py,
/// HybridAttentionMambaModelConfig.
constexpr vllm_cache::page_settings vllm::pages(const deployment& d, const gpu_profile& gpu,
                                                const vllm_profile::options& options) const {
  const std::uint32_t capability = capability_of(gpu).major;
  const bool blackwell = capability == 10;
  vllm_cache::page_settings how;
  how.block_size = block_size;
  how.kernel_block_multiple = blackwell && vllm_detail::widest_head(*d.model) == 256 ? 32 : 16;
  how.latent_multiple = blackwell ? 128 : 64;
  how.latent_block_size = vllm_detail::has_index_keys(*d.model) || capability == 9 ? 64
                          : blackwell                                              ? 128
                                                                                   : 16;
  how.speculative_tokens = options.speculative_tokens;
  how.max_model_len = options.max_model_len;
  how.mode = vllm_cache::mamba_mode::none;
  if (mamba_mode == mamba_cache_mode::align ||
      (mamba_mode == mamba_cache_mode::automatic && enable_prefix_caching)) {
    how.mode = vllm_cache::mamba_mode::align;
  }
  if (mamba_mode == mamba_cache_mode::all) how.mode = vllm_cache::mamba_mode::all;
  how.convolution = &format_of(mamba_cache_dtype, convolution_format(d));
  const number_format& states = d.states.recurrent.is_automatic() && !d.model->recurrent_dtype.is_automatic()
                                    ? d.model->recurrent_dtype
                                    : recurrent_format(d);
  how.recurrent = &format_of(mamba_ssm_cache_dtype, states);
  how.fp4_index_keys = fp4_indexer_cache;
  how.cross_attention_keeps_tokens = !rules().prints_tokens;
  return how;
}

constexpr vllm_cache::grouping vllm::groups(const deployment& d, const rank_share& here,
                                            const gpu_profile& gpu, const vllm_profile::options& options,
                                            block_pool& pool) const {
  if (vllm_detail::skips_layers(d)) {
    deployment skipping = d;
    skipping.kv_exceptions.first_layers = vllm_detail::turboquant_skips;
    skipping.kv_exceptions.last_layers = vllm_detail::turboquant_skips;
    return groups(skipping, detail::share_of_layers(skipping, here.range), gpu, options, pool);
  }
  const vllm_rules& rule = rules();
  const vllm_cache::page_settings how = pages(d, gpu, options);
  vllm_cache::group_settings groups;
  groups.context_ranks = d.parallel.decode_context;
  if (!rule.needs_by_stage) groups.context_ranks *= prefill_context_parallel_size;
  const std::uint32_t stages = d.parallel.pipeline;
  std::uint64_t batches = 1;
  if (async_scheduling && usage == vllm_usage::openai_server && rule.concurrent_batches > 1)
    batches = stages == 1 ? 2u : rule.newest_scheduler ? stages + 1u : stages;
  groups.tokens_in_flight = detail::checked_mul(options.max_num_batched_tokens, batches);
  groups.blocks_per_state =
      1 + options.speculative_tokens + (how.mode == vllm_cache::mamba_mode::align ? 1u : 0u);
  groups.one_state_per_block = how.mode == vllm_cache::mamba_mode::all;
  groups.promote_windows = disable_hybrid_kv_cache_manager || !rule.hybrid_kv_cache_manager;
  groups.promote_chunks = !rule.chunks_in_groups;
  groups.pack = rule.packs_blocks;
  pool.kept_back = rule.prints_tokens ? 1 : 0;
  vllm_cache::layer_specs specs;
  vllm_cache::register_layers(specs, d, share_of_all_stages(d), here, how);
  return vllm_cache::groups_of(specs, groups, pool);
}

/// What `vllm serve` would refuse before or while it loads, in its words.
constexpr refusal vllm::refuses(const deployment& d, const gpu_profile& gpu) const {
  const std::uint64_t trained = d.model->max_position_embeddings;
  const std::uint64_t length = longest_request(d);
  if (length == 0) return {"max_model_len is not given, and the model's config names no maximum"};
  if (trained != 0 && length > trained) {
    return {
        "User-specified max_model_len (#) is greater than the derived max_model_len "
        "(max_position_embeddings=#)",
        length, trained};
  }
  if (!(utilization() > 0) || utilization() > 1)
    return {"GPU memory utilization must be greater than 0 and at most 1.0"};
  const vllm_profile::options options = resolved(d, gpu);
  if (options.max_num_batched_tokens < options.max_num_seqs) {
    return {"max_num_batched_tokens (#) must be greater than or equal to max_num_seqs (#)",
            options.max_num_batched_tokens, options.max_num_seqs};
  }
  const bool chunked = enable_chunked_prefill &&
                       vllm_profile::is_prefill_chunked(vllm_profile::rules_of(options.release), length);
  if (!chunked && options.max_num_batched_tokens < length) {
    return {"max_num_batched_tokens (#) is smaller than max_model_len (#), and prefill is not chunked",
            options.max_num_batched_tokens, length};
  }
  if (d.parallel.decode_context > 1 && vllm_detail::has_windows(*d.model)) {
    return {"decode context parallel does not support sliding windows (DCP degree #)",
            d.parallel.decode_context};
  }
  const std::uint64_t total = kvbudget::usable(gpu).expected.value;
  const std::uint64_t wanted = requested(bytes{total}).value;
  if (!rules().neighbours_in_budget && kv_cache_memory_bytes == bytes{} &&
      total < detail::checked_add(wanted, used_by_others.value)) {
    return {
        "Free memory on device (# bytes) on startup is less than desired GPU memory utilization (# bytes)",
        total > used_by_others.value ? total - used_by_others.value : 0, wanted};
  }
  if (!rules().newest_scheduler) {
    block_pool pool;
    if (groups(d, share_of_all_stages(d), gpu, options, pool).pages_do_not_divide) {
      return {
          "The page size of some layer is not divisible by the maximum page size: this version cannot unify "
          "them"};
    }
  }
  return {};
}

/// Recurrent states need a block for every request that may run; a cache whose size is given may be more than
/// the GPU holds.
constexpr refusal vllm::refuses_pools(const deployment& d, const gpu_profile& gpu,
                                      const rank_reservation& found) const {
  const block_pool& pool = found.pools.pools[0];
  const std::uint64_t total = kvbudget::usable(gpu).expected.value;
  const std::uint64_t held = detail::checked_add(found.budget.lines[0].expected.value, pool.size().value);
  if (held > total) return {"CUDA out of memory: weights and cache take # bytes, the GPU has #", held, total};
  if (!has_store(*d.model, store_kind::recurrent)) return {};
  for (std::uint32_t i = 0; i < pool.group_count; ++i) {
    if (pool.groups[i].rule != block_rule::fixed) continue;
    const std::uint64_t requests = found.running_requests;
    if (requests > pool.blocks && rules().hybrid_kv_cache_manager) {
      return {"max_num_seqs (#) exceeds available Mamba cache blocks (#)", requests, pool.blocks};
    }
  }
  return {};
}

/// requested = ⌈total × utilization⌉; cache = requested − weights − peak of the profile run − memory outside
/// PyTorch − graphs (from 0.21) − neighbours (0.8); `kv_cache_memory_bytes` replaces it. Sources:
/// vllm-project/vllm v1/worker/gpu_worker.py and worker/worker.py, pull requests 10511, 12126 and 30515.
constexpr void vllm::reserve(const deployment& d, const rank& where, const gpu_profile& gpu,
                             rank_reservation& into) const {
  using vllm_detail::add_part;
  const rank_share share = share_of(d, where);
  const vllm_profile::options options = resolved(d, gpu);
  const vllm_profile::memory taken = vllm_profile::memory_of(d, share, options);
  into.running_requests = options.max_num_seqs;
  memory_budget& budget = into.budget;
  add_weights(budget, loaded(d, gpu), share);
  line_item& weights = budget.lines[0];
  if (cpu_offload_gb > 0) {
    const bytes offloaded = gibibytes_of(cpu_offload_gb);
    const auto kept = [offloaded](bytes of) { return of > offloaded ? of - offloaded : bytes{}; };
    weights.low = kept(weights.low);
    weights.expected = kept(weights.expected);
    weights.high = kept(weights.high);
    weights.source =
        "elements of every tensor x bytes of its format, less what cpu_offload_gb keeps in host memory";
    budget.count = 1;  // which tensors move depends on the order of the modules
  }
  byte_range others{};  // of the budget, beside the weights
  if (d.pinned.activations.given) {
    detail::add_pinned(budget, "activations", d.pinned.activations);
    others = {d.pinned.activations.low.value, d.pinned.activations.expected.value,
              d.pinned.activations.high.value};
  } else {
    vllm_detail::add_line(budget, "activations", taken.activations, taken.known,
                          "peak of the profile run: the larger of forward pass and sampler", false);
    add_part(budget, taken.peak_name, taken.peak, taken.known, taken.peak_source);
    add_part(budget, "activations.experts", taken.kept_experts, taken.known,
             "buffers of the fused experts that stay allocated");
    add_part(budget, "activations.multimodal", taken.multimodal, basis::assumed,
             "embeddings and pixels of the largest batch of images");
    add_part(budget, "activations.blas_workspace", taken.blas_workspace, basis::exact,
             "one cuBLAS workspace");
    others = taken.activations;
  }
  if (d.pinned.framework.given) {
    detail::add_pinned(budget, "framework", d.pinned.framework);
    others = others.plus(
        {d.pinned.framework.low.value, d.pinned.framework.expected.value, d.pinned.framework.high.value});
  } else {
    const measured_constant& context = constants::cuda_context;
    const byte_range outside{context.low, context.expected, context.high};
    const byte_range all = outside.plus(taken.non_torch).plus(taken.cuda_graphs).plus(taken.workspaces);
    vllm_detail::add_line(budget, "framework", all, basis::calibrated, "sum of the measured parts, per GPU",
                          false);
    add_part(budget, "framework.context", outside, context.known, context.source);
    add_part(budget, "framework.non_torch", taken.non_torch, basis::measured,
             "what the profile run adds outside PyTorch: communication, kernels, handles");
    add_part(budget, "framework.graphs", taken.cuda_graphs, basis::calibrated,
             "captured CUDA graphs, by their number and the layers");
    add_part(budget, "framework.workspaces", taken.workspaces, basis::calibrated,
             "attention workspaces, allocated after the profile run");
    others = others.plus(taken.non_torch);
    if (taken.graphs_in_budget) others = others.plus(taken.cuda_graphs);
  }
  add_margin(budget, d);
  if (rules().neighbours_in_budget)
    others = others.plus({used_by_others.value, used_by_others.value, used_by_others.value});
  const bytes margin = budget.margin();
  const usable_memory total = usable(gpu);
  const auto left = [](bytes from, bytes weight, std::uint64_t other, bytes kept) {
    return signed_difference(from, weight + bytes{other} + kept);
  };
  into.available_kv = {left(total.low, weights.high, others.high, margin),
                       left(total.expected, weights.expected, others.expected, margin),
                       left(total.high, weights.low, others.low, margin)};
  if (kv_cache_memory_bytes != bytes{}) {
    const auto given = static_cast<std::int64_t>(kv_cache_memory_bytes.value);
    into.available_kv = {given, given, given};
  }
  block_pool& pool = into.pools.add("kv_cache");
  pool.block_bytes = groups(d, share, gpu, options, pool).block_bytes;
  if (num_gpu_blocks_override != 0 && rules().newest_scheduler) {
    const auto given =
        static_cast<std::int64_t>(detail::checked_mul(num_gpu_blocks_override, pool.block_bytes));
    into.available_kv = {given, given, given};
  }
  detail::fill_pools(into, [&](std::uint64_t available) { return blocks_in(pool, available); });
}

/// blocks = ⌊available / bytes of a block⌋, of which V1 keeps one back as the null block.
constexpr block_counts vllm::blocks_in(const block_pool& pool, std::uint64_t available) const {
  block_counts counts;
  counts.blocks[0] = num_gpu_blocks_override != 0 ? num_gpu_blocks_override
                     : pool.block_bytes == 0      ? pool.kept_back
                                                  : available / pool.block_bytes;
  return counts;
}
constexpr block_pools vllm::pools(const deployment& d, const rank& where, const gpu_profile& gpu,
                                  std::uint64_t available) const {
  block_pools result;
  block_pool& pool = result.add("kv_cache");
  pool.block_bytes = groups(d, share_of(d, where), gpu, resolved(d, gpu), pool).block_bytes;
  detail::set_blocks(result, blocks_in(pool, available));
  return result;
}

/// The blocks of one request of the longest length. Versions before 0.21 price the layers of all pipeline
/// stages and compare with one; DeepSeek-V4's blocks are priced without packing.
constexpr bytes vllm::needed_to_start(const deployment& d, const gpu_profile& gpu, const block_pools& pools,
                                      std::uint64_t length) const {
  const block_pool& pool = pools.pools[0];
  std::uint64_t price = pool.block_bytes;
  bool compressed = false;
  for (std::size_t kind = 0; kind < d.model->kind_count; ++kind) {
    compressed = compressed || d.model->kinds[kind].stores[0].kind == store_kind::compressed;
  }
  if (compressed || (d.parallel.pipeline > 1 && !rules().needs_by_stage)) {
    block_pool whole;
    price = groups(d, share_of_all_stages(d), gpu, resolved(d, gpu), whole).admission_block_bytes;
  }
  return bytes{detail::checked_mul(pool.blocks_of(length), price)};
}

/// From 0.21 int(concurrency × max_model_len), before ⌊blocks / tables⌋ × the smallest block × the ranks that
/// share tokens; V0 prints none.
constexpr std::uint64_t vllm::printed_tokens(const deployment& d, const gpu_profile&,
                                             const block_pools& pools, std::uint64_t length) const {
  const block_pool& pool = pools.pools[0];
  if (!rules().prints_tokens || pool.group_count == 0) return 0;
  if (rules().tokens_are_concurrency) {
    const std::uint64_t each = pool.blocks_of(length);
    if (each == 0) return 0;
    const double concurrency = static_cast<double>(pool.blocks) / static_cast<double>(each);
    return detail::floor_of_double_product(length, concurrency);
  }
  std::uint64_t smallest = pool.groups[0].block_tokens;
  for (std::uint32_t i = 1; i < pool.group_count; ++i)
    smallest = detail::smaller(smallest, pool.groups[i].block_tokens);
  const std::uint64_t ranks = detail::checked_mul(d.parallel.decode_context, prefill_context_parallel_size);
  return detail::checked_mul(detail::checked_mul(pool.blocks / pool.tables(), smallest), ranks);
}
static_assert(pool_engine<vllm>);

}  // namespace kvbudget::inline v0::engines
