#pragma once

#include <cstdint>

#include "kvbudget/engine/loaded_weights.hpp"
#include "kvbudget/engine/pool_engine.hpp"
#include "kvbudget/engine/sglang/constants.hpp"
#include "kvbudget/engine/sglang/costs.hpp"
#include "kvbudget/engine/sglang/fraction.hpp"
#include "kvbudget/engine/sglang/pool_sizes.hpp"
#include "kvbudget/engine/sglang/releases.hpp"
#include "kvbudget/engine/state_dtype.hpp"
#include "kvbudget/memory/activations.hpp"
#include "kvbudget/memory/framework.hpp"
#include "kvbudget/memory/weights.hpp"

namespace kvbudget::inline v0::engines {

/// Attention backends that decide how many tokens a page holds, or how sparse latents are stored.
enum class sglang_backend : std::uint8_t {
  automatic,  ///< pages of one token; of 64 with sparse latents (DSA)
  flashmla,
  cutlass_mla,
  trtllm_mla,
  trtllm_mha,
  fa4,
  dsa_trtllm  ///< sparse latents without scales
};

/// An option that the engine decides itself unless told.
enum class sglang_switch : std::uint8_t { automatic, on, off };

/// SGLang as `python -m sglang.launch_server` starts it: options by its names, 0 and `automatic` = its
/// default for the release, the GPU and the model.
///
/// It measures the memory that is free before loading (minimum of its ranks) and lets weights and pools take
/// `mem_fraction_static` of it; activations, graphs and the request table live in the rest.
///
/// Layouts: `--tp T` is tensor T. `--dp D` without attention data parallelism is data D, each replica with T
/// ranks. `--tp T --dp D --enable-dp-attention` is tensor T, attention_data D: attention and cache are split
/// over T / D ranks, each replica has pools of its own, all else is split over T but the embedding, which is
/// split like attention.
struct sglang {
  engine_version version{0, 5, 9};  ///< its rules change with the patch number
  double mem_fraction_static = 0;
  std::int64_t chunked_prefill_size = 0;  ///< negative = off
  std::uint64_t max_prefill_tokens = 16384;
  std::uint64_t cuda_graph_max_bs = 0;
  bool disable_cuda_graph = false;
  sglang_switch enable_piecewise_cuda_graph = sglang_switch::automatic;  ///< graphs of prefill
  std::uint64_t piecewise_cuda_graph_max_tokens = 0;
  std::uint64_t max_total_tokens = 0;
  std::uint64_t max_running_requests = 0;
  std::uint64_t context_length = 0;
  bool allow_overwrite_longer_context_len = false;
  std::uint64_t page_size = 0;
  sglang_backend attention_backend = sglang_backend::automatic;
  double swa_full_tokens_ratio = 0.8;
  bool disable_hybrid_swa_memory = false;
  double mamba_full_memory_ratio = 0.9;
  std::uint64_t max_mamba_cache_size = 0;
  state_dtype mamba_ssm_dtype = state_dtype::automatic;
  bool mamba_extra_buffer = false;  ///< as of 0.5.14 it is on anyway
  bool disable_radix_cache = false;
  bool disable_overlap_schedule = false;
  bool enable_dp_lm_head = false;  ///< with attention data parallelism: the head is not split either
  bool enable_deepep_moe = false;
  bool language_only = false;
  std::uint64_t vision_num_hidden_layers = 24;  ///< of the model's vision_config; the engine's own fallback
  std::uint64_t vision_hidden_size = 1024;
  std::uint64_t speculative_num_draft_tokens = 0;  ///< default: drafted per step + 1
  bool enable_hierarchical_cache = false;
  double hicache_ratio = 2.0;
  std::uint64_t hicache_size = 0;  ///< GB (10^9) per rank; 0 = by ratio
  bytes used_by_others{};          ///< memory of other processes on each GPU
  bytes mm_runtime_reservation{};  ///< kept for multimodal caches, as of 2026-08; not known, so 0 by default

  [[nodiscard]] constexpr engine_name name() const { return detail::versioned_name("sglang", version, true); }
  /// The whole GPU: its share is one of what is free before loading.
  [[nodiscard]] constexpr usable_memory usable(const gpu_profile& gpu) const { return kvbudget::usable(gpu); }
  [[nodiscard]] constexpr memory_budget ledger(const deployment& d, const rank& where,
                                               const gpu_profile* gpu) const {
    return detail::pool_ledger(*this, d, where, gpu);
  }

  /// The deployment with its weights as the engine holds them on that GPU; FP4 experts as they are stored.
  [[nodiscard]] constexpr deployment loaded(const deployment& d, const gpu_profile& gpu) const {
    return as_loaded_by_sglang(d, {.fp8_hardware = multiplies_fp8(capability_of(gpu))}, enable_dp_lm_head);
  }
  /// Memory of the GPU in MiB as nvidia-smi reports it, else as the runtime does.
  [[nodiscard]] static constexpr std::uint64_t gpu_mib(const gpu_profile& gpu) {
    const std::uint64_t total =
        gpu.driver_total_bytes != 0 ? gpu.driver_total_bytes : kvbudget::usable(gpu).expected.value;
    return total >> 20;
  }
  /// Tokens of one prefill chunk before attention data parallelism divides them; negative = unbounded.
  [[nodiscard]] constexpr std::int64_t chunked_prefill_tokens(const gpu_profile& gpu) const {
    return chunked_prefill_size != 0 ? chunked_prefill_size
                                     : std::int64_t{class_of(gpu).chunked_prefill_size};
  }
  /// Requests of the largest captured decode graph.
  [[nodiscard]] constexpr std::uint64_t largest_graph(const deployment& d, const gpu_profile& gpu) const {
    if (cuda_graph_max_bs != 0) return cuda_graph_max_bs;
    const sglang_rules::size_class& size = class_of(gpu);
    return d.parallel.tensor < 4 ? size.cuda_graph_max_bs : size.cuda_graph_max_bs_4;
  }
  /// What the default of mem_fraction_static rests on.
  [[nodiscard]] constexpr sglang_rules::fraction_inputs fraction_inputs(const deployment& d,
                                                                        const gpu_profile& gpu) const {
    const std::int64_t chunk = chunked_prefill_tokens(gpu);
    const std::uint64_t prefill = chunk > 0 ? static_cast<std::uint64_t>(chunk) : max_prefill_tokens;
    const sglang_rules::cache_traits traits = sglang_rules::traits_of(*d.model, false);
    const bool latent = traits.latent;
    const bool prefill_graphs = enable_piecewise_cuda_graph == sglang_switch::automatic
                                    ? rules().captures_prefill && !traits.stateful && !disable_cuda_graph
                                    : enable_piecewise_cuda_graph == sglang_switch::on;
    const std::uint64_t captured = piecewise_cuda_graph_max_tokens != 0 ? piecewise_cuda_graph_max_tokens
                                   : latent                             ? 2048
                                                                        : prefill;
    return {.gpu_mib = gpu_mib(gpu),
            .tp_size = d.parallel.tensor,
            .pp_size = d.parallel.pipeline,
            .dp_size = d.parallel.attention_data,
            .prefill_tokens = prefill,
            .cuda_graph_max_bs = largest_graph(d, gpu),
            .decode_graphs = !disable_cuda_graph,
            .prefill_graphs = prefill_graphs,
            .prefill_graph_tokens = captured,
            .latent_attention = latent,
            .deepep = enable_deepep_moe,
            .speculation = d.speculation.kind};
  }
  /// mem_fraction_static, given or by default.
  [[nodiscard]] constexpr double fraction(const deployment& d, const gpu_profile& gpu) const {
    if (mem_fraction_static > 0) return mem_fraction_static;
    const double share = sglang_rules::default_fraction(rules(), fraction_inputs(d, gpu));
    if (language_only || !has_vision(*d.model)) return share;
    return sglang_rules::fraction_beside_vision(share, vision_num_hidden_layers, vision_hidden_size);
  }

  /// Configurations that it refuses before it looks at memory; how it fails for want of memory says
  /// `out_of_memory`.
  [[nodiscard]] constexpr refusal refuses(const deployment& d, const gpu_profile& gpu) const {
    validate_options();
    if (d.parallel.decode_context != 1) sglang_rules::decode_context_parallelism_is_not_known_here();
    const std::uint64_t derived = d.model->max_position_embeddings;
    if (derived != 0 && context_length > derived && !allow_overwrite_longer_context_len) {
      return {"User-specified context_length (#) is greater than the derived context_length (#).",
              context_length, derived};
    }
    if (drafts(d) && d.parallel.pipeline > 1) {
      return {
          "Pipeline parallelism is not compatible with overlap schedule, speculative decoding, mixed chunked "
          "prefill."};
    }
    if (max_running_requests != 0 && max_running_requests < d.parallel.attention_data) {
      return {"max_running_request is zero"};
    }
    if (rules().keeps_half_the_tokens && max_total_tokens == 1) {
      return {"max_total_tokens (#) leave half a token for requests", max_total_tokens};
    }
    const sglang_rules::cache_traits traits = sglang_rules::traits_of(*d.model, false);
    if (traits.sparse_latent) {
      const number_format& element = resolved_format(d, gpu, traits).key.format;
      const bool known =
          element.block_elements == 1 && (element.block_bytes == 1 || element.block_bytes == 2);
      if (!known) return {"DeepSeek DSA only supports bf16/bfloat16 or fp8_e4m3 kv_cache_dtype"};
    }
    return {};
  }
  /// context_length: tokens of a prompt and its output together. Stops where neither options nor model say
  /// it.
  [[nodiscard]] constexpr std::uint64_t longest_request(const deployment& d) const {
    const std::uint64_t length = context_length != 0 ? context_length : d.model->max_position_embeddings;
    if (length == 0) the_model_gives_no_context_length();
    return length;
  }
  /// max_running_requests of one data-parallel rank: what was asked for, else ⌊tokens / context × 512⌋ within
  /// 2,048 and 4,096; never more than the state slots serve.
  [[nodiscard]] constexpr std::uint64_t running_requests(const deployment& d, const gpu_profile& gpu) const {
    const sglang_rules::pool_plan plan = plan_of(d, gpu, 0);
    sglang_rules::pool_sizes sizes = sizes_of_stage(plan, d, gpu, 0);
    for (std::uint32_t stage = 1; stage < d.parallel.pipeline; ++stage) {
      const sglang_rules::pool_sizes here = sizes_of_stage(plan_of(d, gpu, stage), d, gpu, stage);
      sizes.tokens = detail::smaller(sizes.tokens, here.tokens);
      sizes.state_slots = detail::smaller(sizes.state_slots, here.state_slots);
    }
    return running_beside(d, plan, sizes);
  }

  /// What one rank sets aside, and what `mem_fraction_static` leaves for its pools.
  constexpr void reserve(const deployment& d, const rank& where, const gpu_profile& gpu,
                         rank_reservation& into) const {
    const sglang_rules::pool_plan plan = plan_of(d, gpu, where.stage);
    const rank_share share = share_of(d, where);
    load(into, d, share, gpu);
    lay_out(plan, into.pools);
    detail::fill_pools(into, [&](std::uint64_t available) {
      return counts_of(plan, sglang_rules::sizes_of(plan, available));
    });
    const std::uint64_t running =
        d.parallel.pipeline != 1
            ? running_requests(d, gpu)
            : running_beside(d, plan,
                             sglang_rules::sizes_of(plan, detail::at_least_zero(into.available_kv.expected)));
    into.running_requests = running;
    add_step_activations(into.budget, d, share, gpu, where.data_replica, running);
    const bytes table = request_table(d, running);
    into.budget.add({"request_table", table, table, table, basis::exact,
                     "req_to_token: requests x (context length + 4 + drafted tokens) x 4 bytes", false});
    add_margin(into.budget, d);
  }
  /// req_to_token: rows of one 32-bit index per token, for so many requests.
  [[nodiscard]] constexpr bytes request_table(const deployment& d, std::uint64_t running) const {
    const std::uint64_t rows = running + (rules().spare_request_row ? 1 : 0);
    const std::uint64_t columns = detail::checked_add(longest_request(d), 4 + draft_tokens(d));
    return bytes{detail::checked_mul(detail::checked_mul(rows, columns), 4)};
  }

  /// The pools: all tokens in pages, with a dummy page beside; windows; states, with a dummy slot beside.
  [[nodiscard]] constexpr block_pools pools(const deployment& d, const rank& where, const gpu_profile& gpu,
                                            std::uint64_t available) const {
    const sglang_rules::pool_plan plan = plan_of(d, gpu, where.stage);
    block_pools result;
    lay_out(plan, result);
    detail::set_blocks(result, counts_of(plan, sglang_rules::sizes_of(plan, available)));
    return result;
  }
  /// The least bytes that give pools which serve a request at all: a page of tokens (two tokens where half of
  /// them bound the requests), a window with its page, the slots of one request. The length plays no part:
  /// the engine starts with any context_length.
  [[nodiscard]] constexpr bytes needed_to_start(const deployment& d, const gpu_profile& gpu,
                                                const block_pools&, std::uint64_t) const {
    std::uint64_t need = 0;
    for (std::uint32_t stage = 0; stage < d.parallel.pipeline; ++stage) {
      need = detail::larger(need, least_bytes(plan_of(d, gpu, stage)));
    }
    return bytes{need};
  }
  /// max_total_num_tokens of its log.
  [[nodiscard]] constexpr std::uint64_t printed_tokens(const deployment& d, const gpu_profile&,
                                                       const block_pools& pools, std::uint64_t) const {
    if (pools.count != 0 && pools.pools[0].groups[0].rule != block_rule::fixed) {  // a pool of tokens
      return detail::checked_mul(pools.pools[0].blocks, pools.pools[0].groups[0].block_tokens);
    }
    return max_total_tokens != 0 ? max_total_tokens : longest_request(d);
  }

  /// What it prints when its pools come out too small; no text = they do not.
  [[nodiscard]] constexpr refusal out_of_memory(const deployment& d, const gpu_profile& gpu) const {
    for (std::uint32_t stage = 0; stage < d.parallel.pipeline; ++stage) {
      const sglang_rules::pool_plan plan = plan_of(d, gpu, stage);
      const std::int64_t available = available_on(d, gpu, stage);
      const sglang_rules::pool_sizes sizes = sglang_rules::sizes_of(plan, detail::at_least_zero(available));
      if (available <= 0 || sizes.states_exceed || (plan.keeps_tokens() && sizes.tokens == 0)) {
        return {"Not enough memory. Please try to increase --mem-fraction-static."};
      }
      if (misses_a_window(plan, sizes)) {
        return {
            "SWA pool (# tokens) cannot hold even one request: the prefill admission floor is "
            "sliding_window_size + page_size (#). Increase --swa-full-tokens-ratio or the total KV budget.",
            sizes.window_tokens, detail::checked_add(plan.traits.window, plan.page)};
      }
      if (plan.traits.stateful && sizes.state_slots < plan.slots_per_request) {
        return {
            "Hybrid (mamba/linear-attention) state cache is too small to serve any requests. "
            "max_mamba_cache_size=#, mamba_ratio=#",
            sizes.state_slots, plan.slots_per_request};
      }
    }
    return {};
  }

  /// Host memory of the rank with the largest HiCache pool (`--enable-hierarchical-cache`): `hicache_ratio` ×
  /// the device pool's tokens, or `hicache_size` × 10^9 bytes, in whole pages; 0 without it.
  [[nodiscard]] constexpr bytes host_bytes(const deployment& d, const gpu_profile& gpu) const {
    if (!enable_hierarchical_cache) return bytes{};
    std::uint64_t tokens = UINT64_MAX;
    for (std::uint32_t stage = 0; stage < d.parallel.pipeline; ++stage) {
      tokens = detail::smaller(tokens, sizes_of_stage(plan_of(d, gpu, stage), d, gpu, stage).tokens);
    }
    std::uint64_t largest = 0;
    for (std::uint32_t stage = 0; stage < d.parallel.pipeline; ++stage) {
      const sglang_rules::pool_plan plan = plan_of(d, gpu, stage);
      const std::uint64_t each = plan.costs.full;
      if (each == 0) continue;
      const std::uint64_t wanted = hicache_size != 0 ? detail::checked_mul(hicache_size, 1'000'000'000) / each
                                                     : detail::floor_of_double_product(tokens, hicache_ratio);
      const std::uint64_t pages = wanted / plan.page + (rules().host_pool_rounds_up ? 1 : 0);
      largest = detail::larger(largest, detail::checked_mul(pages * plan.page, each));
    }
    return bytes{largest};
  }

 private:
  [[noreturn]] static void a_share_must_be_between_zero_and_one() {
    detail::raise("sglang: mem_fraction_static must be between 0 and 1");
  }
  [[noreturn]] static void a_ratio_must_be_positive_and_at_most_a_thousand() {
    detail::raise(
        "sglang: swa_full_tokens_ratio, mamba_full_memory_ratio and hicache_ratio must be above 0 and "
        "at most 1000");
  }
  [[noreturn]] static void an_option_is_too_large(std::uint64_t limit) {
    detail::raise("sglang: page_size, draft tokens and the sizes of a vision tower are at most #", limit);
  }
  constexpr void validate_options() const {
    if (!(mem_fraction_static >= 0 && mem_fraction_static < 1)) a_share_must_be_between_zero_and_one();
    const double ratios[] = {swa_full_tokens_ratio, mamba_full_memory_ratio, hicache_ratio};
    for (const double ratio : ratios) {
      if (!(ratio > 0 && ratio <= 1000)) a_ratio_must_be_positive_and_at_most_a_thousand();
    }
    constexpr std::uint64_t largest = 1'000'000;
    if (page_size > largest || speculative_num_draft_tokens > largest || vision_num_hidden_layers > largest ||
        vision_hidden_size > largest) {
      an_option_is_too_large(largest);
    }
  }
  [[noreturn]] static void the_model_gives_no_context_length() {
    detail::raise("sglang: the model gives no context length: say context_length");
  }
  [[nodiscard]] constexpr const sglang_rules::release& rules() const {
    return sglang_rules::release_of(version);
  }
  [[nodiscard]] constexpr const sglang_rules::size_class& class_of(const gpu_profile& gpu) const {
    return sglang_rules::size_class_of(rules(), gpu_mib(gpu));
  }
  [[nodiscard]] static constexpr bool has_vision(const model_architecture& model) {
    for (std::size_t i = 0; i < model.weight_count; ++i) {
      if (model.weights[i].role == module_role::vision) return true;
    }
    return false;
  }
  [[nodiscard]] static constexpr bool drafts(const deployment& d) {
    return d.speculation.kind != speculation_kind::none && d.speculation.kind != speculation_kind::ngram;
  }
  /// Tokens that one step checks: those drafted, and one more.
  [[nodiscard]] constexpr std::uint64_t draft_tokens(const deployment& d) const {
    if (d.speculation.kind == speculation_kind::none) return 0;
    if (speculative_num_draft_tokens != 0) return speculative_num_draft_tokens;
    return std::uint64_t{d.speculation.num_speculative_tokens} + 1;
  }
  /// max_running_requests before any pool bounds it, per data rank; drafting makes it 48. 0 = automatic.
  [[nodiscard]] constexpr std::uint64_t requested_running(const deployment& d) const {
    const std::uint64_t asked = max_running_requests != 0 ? max_running_requests : drafts(d) ? 48 : 0;
    return asked / d.parallel.attention_data;
  }
  [[nodiscard]] constexpr sglang_rules::cache_traits traits_of(const deployment& d) const {
    const bool apart = !disable_hybrid_swa_memory && sglang_rules::has_window_pool(*d.model);
    return sglang_rules::traits_of(*d.model, apart);
  }
  /// The cache format where the deployment leaves it open: the dtype; scaled FP8 for sparse latents on
  /// Blackwell.
  [[nodiscard]] static constexpr kv_format resolved_format(const deployment& d, const gpu_profile& gpu,
                                                           const sglang_rules::cache_traits& traits) {
    if (!d.kv_cache.is_automatic()) return d.kv_cache;
    if (traits.sparse_latent && capability_of(gpu).major >= 10) return kv_formats::fp8_ds_mla;
    return kv_format{dtype_of(d)};
  }
  [[nodiscard]] constexpr std::uint64_t page_of(const sglang_rules::cache_traits& traits) const {
    std::uint64_t page = page_size != 0 ? page_size : 1;
    switch (attention_backend) {
      case sglang_backend::automatic:
      case sglang_backend::dsa_trtllm: break;
      case sglang_backend::flashmla: page = 64; break;
      case sglang_backend::cutlass_mla:
      case sglang_backend::fa4: page = 128; break;
      case sglang_backend::trtllm_mla: page = page == 32 ? 32 : 64; break;
      case sglang_backend::trtllm_mha: page = page == 16 || page == 32 ? page : 64; break;
    }
    return traits.sparse_latent ? 64 : page;
  }
  /// Tokens that the pool of windows is sized to where `max_running_requests` is given and nothing is shared.
  [[nodiscard]] constexpr std::uint64_t window_cap(const deployment& d, const gpu_profile& gpu,
                                                   const sglang_rules::cache_traits& traits,
                                                   std::uint64_t page) const {
    const bool capped = rules().prices_windows_apart && max_running_requests != 0 && disable_radix_cache &&
                        traits.windowed && traits.full && chunked_prefill_size >= 0;
    if (!capped) return 0;
    const std::uint64_t drafted = draft_tokens(d);
    const std::uint64_t decode = drafted == 0 ? page : detail::round_up(2 * drafted, page);
    const std::uint64_t each = detail::checked_add(kept_of_window(d, traits.window, page), decode);
    const std::uint64_t chunks =
        (disable_overlap_schedule ? 1u : 2u) *
        (static_cast<std::uint64_t>(chunked_prefill_tokens(gpu)) / d.parallel.attention_data);
    const std::uint64_t all = detail::add_product(chunks + page, each, requested_running(d));
    return detail::round_up(all, page);
  }
  /// Tokens of a window that a request still holds when it is next trimmed, every 128 steps.
  [[nodiscard]] constexpr std::uint64_t kept_of_window(const deployment& d, std::uint64_t window,
                                                       std::uint64_t page) const {
    const std::uint64_t drafted = draft_tokens(d);
    return detail::checked_add(window, 128 * (drafted == 0 ? 1 : drafted) + page);
  }

  [[nodiscard]] constexpr sglang_rules::pool_plan plan_of(const deployment& d, const gpu_profile& gpu,
                                                          std::uint32_t stage) const {
    validate_options();
    const sglang_rules::release& rule = rules();
    sglang_rules::pool_plan plan;
    plan.traits = traits_of(d);
    const kv_format format = resolved_format(d, gpu, plan.traits);
    const kv_format exceptions =
        d.kv_exceptions.format.is_automatic() ? kv_format{dtype_of(d)} : d.kv_exceptions.format;
    const sglang_rules::cache_storage storage{&format, &exceptions, rule.counts_sparse_latents,
                                              attention_backend == sglang_backend::dsa_trtllm};
    const number_format convolution =
        d.states.convolution.is_automatic() ? formats::bf16 : d.states.convolution;
    plan.costs = sglang_rules::costs_of(d, share_of(d, rank{stage, 0}), storage, plan.traits.windowed,
                                        convolution, state_format(d));
    if (drafts(d)) plan.draft = sglang_rules::draft_costs_of(d, storage);
    plan.page = page_of(plan.traits);
    plan.max_total_tokens = max_total_tokens;
    plan.window_cap = window_cap(d, gpu, plan.traits, plan.page);
    plan.window_ratio = swa_full_tokens_ratio;
    plan.state_ratio = mamba_full_memory_ratio;
    plan.prices_windows_apart = rule.prices_windows_apart;
    plan.counts_draft_cache = rule.counts_draft_cache;
    plan.draft_tokens = drafts(d) ? draft_tokens(d) : 0;
    plan.running = requested_running(d);
    plan.state_slots = max_mamba_cache_size != 0 ? max_mamba_cache_size / d.parallel.attention_data
                       : disable_radix_cache     ? plan.running
                                                 : 0;
    if (!disable_radix_cache) {
      const bool buffered = mamba_extra_buffer || rule.mamba_extra_buffer;
      plan.slots_per_request = 3 + (buffered ? (disable_overlap_schedule ? 1u : 2u) : 0u);
    }
    return plan;
  }
  [[nodiscard]] constexpr number_format state_format(const deployment& d) const {
    return format_of(mamba_ssm_dtype, d.states.recurrent.is_automatic() ? formats::fp32 : d.states.recurrent);
  }

  /// Weights and what is on the GPU before them, with the memory that the pools may take.
  constexpr void load(rank_reservation& into, const deployment& d, const rank_share& share,
                      const gpu_profile& gpu) const {
    validate_options();
    add_weights(into.budget, loaded(d, gpu), share);
    const line_item weights = into.budget.lines[0];
    std::uint64_t draft = 0;
    if (drafts(d) && !rules().counts_draft_weights) {
      for (const line_item& line : into.budget) {
        if (is_draft(line.name)) draft = detail::checked_add(draft, line.expected.value);
      }
    }
    const line_item before = add_framework_lines(into.budget, d, gpu);
    const usable_memory total = kvbudget::usable(gpu);
    const double fraction_static = fraction(d, gpu);
    const auto left = [&](bytes all, bytes taken, bytes loaded_weights) {
      const std::int64_t pre =
          detail::difference(all.value, detail::checked_add(taken.value, used_by_others.value));
      const std::uint64_t counted = loaded_weights.value > draft ? loaded_weights.value - draft : 0;
      return sglang_rules::rest_bytes(pre, pre - static_cast<std::int64_t>(counted), fraction_static) -
             static_cast<std::int64_t>(mm_runtime_reservation.value);
    };
    into.available_kv = {left(total.low, before.high, weights.high),
                         left(total.expected, before.expected, weights.expected),
                         left(total.high, before.low, weights.low)};
  }
  [[nodiscard]] static constexpr bool is_draft(const char* name) {
    for (const char* prefix = "weights.draft"; *prefix != '\0'; ++prefix, ++name) {
      if (*name != *prefix) return false;
    }
    return true;
  }
  /// Writes the line `framework` with its parts; returns what of it is there before the weights: context and
  /// communication buffers, or all of a figure that the user brings.
  [[nodiscard]] constexpr line_item add_framework_lines(memory_budget& budget, const deployment& d,
                                                        const gpu_profile& gpu) const {
    if (d.pinned.framework.given) {
      detail::add_pinned(budget, "framework", d.pinned.framework);
      return budget.lines[budget.count - 1];
    }
    const measured_constant& communication = d.parallel.ranks() == 1 ? constants::nccl_buffers_1_gpu
                                             : d.parallel.tensor > 1 && gpu.link_bytes_per_second != 0
                                                 ? constants::sglang_communication_linked
                                                 : constants::sglang_communication_unlinked;
    const bool hopper = capability_of(gpu).major == 9;
    const measured_constant& blas = hopper ? constants::cublas_workspace_sm_90 : constants::cublas_workspace;
    const detail::framework_part parts[] = {
        {"framework.context", constants::cuda_context},
        {"framework.communication", communication},
        {"framework.blas_workspace", blas},
        {"framework.attention_workspace", constants::sglang_attention_workspace},
        {"framework.graphs", constants::sglang_cuda_graphs, !disable_cuda_graph}};
    constexpr const char* source = "sum of the measured parts, per GPU";
    detail::add_framework_parts(budget, parts, source);
    return detail::sum_of_framework(parts, parts + 2, source);
  }
  /// Activations of the engine's own step: one prefill chunk, or as many requests as its largest graph.
  constexpr void add_step_activations(memory_budget& budget, const deployment& d, const rank_share& share,
                                      const gpu_profile& gpu, std::uint32_t data_replica,
                                      std::uint64_t running) const {
    if (d.pinned.activations.given) return add_activations(budget, d, share, data_replica);
    deployment step = d;
    if (step.workload.batched_tokens.value == 0) {
      const std::int64_t chunk = chunked_prefill_tokens(gpu);
      step.workload.batched_tokens = tokens{
          chunk > 0 ? static_cast<std::uint64_t>(chunk) / d.parallel.attention_data : max_prefill_tokens};
    }
    const std::uint64_t decoding = detail::smaller(running, largest_graph(d, gpu));
    step.workload.sequences = detail::checked_mul(decoding, d.parallel.replicas());
    step.workload.context = tokens{longest_request(d)};
    step.workload.shared_prefix = tokens{};
    for (request_group& group : step.workload.groups) group = request_group{};
    step.activations.sampler = sampler_kind::greedy;
    add_activations(budget, step, share, data_replica);
  }

  [[nodiscard]] constexpr std::int64_t available_on(const deployment& d, const gpu_profile& gpu,
                                                    std::uint32_t stage) const {
    rank_reservation all;
    load(all, d, share_of(d, rank{stage, 0}), gpu);
    return all.available_kv.expected;
  }
  [[nodiscard]] constexpr sglang_rules::pool_sizes sizes_of_stage(const sglang_rules::pool_plan& plan,
                                                                  const deployment& d, const gpu_profile& gpu,
                                                                  std::uint32_t stage) const {
    return sglang_rules::sizes_of(plan, detail::at_least_zero(available_on(d, gpu, stage)));
  }
  /// The requests that run beside pools of these sizes, the fewest of all stages.
  [[nodiscard]] constexpr std::uint64_t running_beside(const deployment& d,
                                                       const sglang_rules::pool_plan& plan,
                                                       const sglang_rules::pool_sizes& sizes) const {
    std::uint64_t running = plan.running;
    if (running == 0) {
      const double estimate =
          static_cast<double>(sizes.tokens) / static_cast<double>(longest_request(d)) * 512;
      running = estimate >= 4096 ? 4096 : estimate <= 2048 ? 2048 : static_cast<std::uint64_t>(estimate);
    }
    if (rules().keeps_half_the_tokens && plan.keeps_tokens())
      running = detail::smaller(running, sizes.tokens / 2);
    if (plan.traits.stateful) running = detail::smaller(running, sizes.state_slots / plan.slots_per_request);
    return running == 0 ? 1 : running;
  }
  [[nodiscard]] static constexpr bool misses_a_window(const sglang_rules::pool_plan& plan,
                                                      const sglang_rules::pool_sizes& sizes) {
    const bool checked = plan.prices_windows_apart && plan.traits.full && plan.window_cap == 0;
    return plan.traits.windowed && checked &&
           detail::checked_add(plan.traits.window, plan.page) >= sizes.window_tokens;
  }
  [[nodiscard]] constexpr bool serves(const sglang_rules::pool_plan& plan,
                                      const sglang_rules::pool_sizes& sizes) const {
    if (sizes.states_exceed) return false;
    if (plan.traits.stateful && sizes.state_slots < plan.slots_per_request) return false;
    if (!plan.keeps_tokens()) return true;
    return sizes.tokens >= (rules().keeps_half_the_tokens ? 2u : 1u) && !misses_a_window(plan, sizes);
  }
  static constexpr std::uint64_t no_memory_is_enough = std::uint64_t{1} << 48;
  /// About the fewest bytes whose pools serve a request: where tokens just fill its windows, and states have
  /// its slots.
  [[nodiscard]] constexpr double about_least_bytes(const sglang_rules::pool_plan& plan) const {
    std::uint64_t tokens = rules().keeps_half_the_tokens ? 2 : 1;
    if (plan.traits.windowed && plan.traits.full) {
      const std::uint64_t kept = detail::round_up(plan.traits.window + plan.page + 1, plan.page);
      const double each = static_cast<double>(kept) / plan.window_ratio;
      tokens = detail::larger(tokens, static_cast<std::uint64_t>(each) + 1);
    }
    const double of_tokens =
        static_cast<double>(detail::round_up(tokens, plan.page)) * sglang_rules::counted_cost(plan);
    if (!plan.traits.stateful) return of_tokens;
    const double slots = static_cast<double>(plan.slots_per_request + plan.draft_tokens);
    const double of_states = slots * static_cast<double>(plan.costs.state) / plan.state_ratio;
    return (of_tokens < of_states ? of_states : of_tokens) * (1 + plan.state_ratio);
  }
  /// The fewest bytes whose pools serve a request: from about there in growing steps, then bisection.
  [[nodiscard]] constexpr std::uint64_t least_bytes(const sglang_rules::pool_plan& plan) const {
    if (!plan.traits.windowed && !plan.traits.stateful) {
      const std::uint64_t tokens = detail::round_up(rules().keeps_half_the_tokens ? 2 : 1, plan.page);
      if (plan.max_total_tokens != 0 && plan.paged(plan.max_total_tokens) < tokens)
        return no_memory_is_enough;
      return detail::checked_mul(tokens, static_cast<std::uint64_t>(sglang_rules::counted_cost(plan)));
    }
    const auto enough = [&](std::uint64_t bytes) {
      return serves(plan, sglang_rules::sizes_of(plan, bytes));
    };
    const double guess = about_least_bytes(plan);
    std::uint64_t good = guess < 1 ? 1
                         : guess < static_cast<double>(no_memory_is_enough)
                             ? static_cast<std::uint64_t>(guess)
                             : no_memory_is_enough;
    std::uint64_t bad = 0;
    std::uint64_t step = 1;
    if (enough(good)) {
      while (good > step && enough(good - step)) {
        good -= step;
        step *= 4;
      }
      bad = good > step ? good - step : 0;
    } else {
      do {
        bad = good;
        good += step;
        step *= 4;
        if (good >= no_memory_is_enough) return no_memory_is_enough;
      } while (!enough(good));
    }
    while (good - bad > 1) {
      const std::uint64_t middle = bad + (good - bad) / 2;
      (enough(middle) ? good : bad) = middle;
    }
    return good;
  }

  constexpr void lay_out(const sglang_rules::pool_plan& plan, block_pools& pools) const {
    const std::uint64_t page = plan.page;
    if (plan.traits.full) {
      block_pool& pool = pools.add("kv_cache.tokens");
      pool.add({block_rule::every_token, page});
      if (plan.traits.encoder_tokens != 0) {
        pool.add(block_group::of_blocks(detail::ceil_div(plan.traits.encoder_tokens, page), page));
      }
      pool.block_bytes = detail::checked_mul(plan.token_bytes(), page);
    }
    if (plan.traits.windowed) {
      block_pool& pool = pools.add("kv_cache.windows");
      block_group windows{block_rule::window, page};
      windows.window = plan.traits.window;
      windows.in_flight = 128 * detail::larger<std::uint64_t>(plan.draft_tokens, 1) + page + 1;
      pool.add(windows);
      const std::uint64_t draft = plan.traits.full ? 0 : plan.draft.token;
      pool.block_bytes = detail::checked_mul(plan.costs.window + draft, page);
    }
    if (plan.traits.stateful) {
      block_pool& pool = pools.add("kv_cache.states");
      pool.add(block_group::of_blocks(1));
      pool.block_bytes = plan.costs.state;
      if (plan.draft_tokens != 0) {
        block_pool& drafted = pools.add("kv_cache.drafted_states");
        drafted.add(block_group::of_blocks(1));
        drafted.block_bytes = detail::checked_mul(plan.costs.state, plan.draft_tokens);
      }
    }
  }
  /// Blocks of those pools, in their order; each has one beside.
  [[nodiscard]] constexpr block_counts counts_of(const sglang_rules::pool_plan& plan,
                                                 const sglang_rules::pool_sizes& sizes) const {
    block_counts counts;
    std::uint32_t pools = 0;
    const auto next = [&](std::uint64_t blocks) {
      counts.blocks[pools] = blocks;
      counts.beside[pools++] = 1;
    };
    if (plan.traits.full) next(sizes.tokens / plan.page);
    if (plan.traits.windowed) next(sizes.window_tokens / plan.page);
    if (plan.traits.stateful) next(sizes.state_slots);
    if (plan.traits.stateful && plan.draft_tokens != 0) next(sizes.drafting);
    return counts;
  }
};
static_assert(pool_engine<sglang>);

}  // namespace kvbudget::inline v0::engines
