#pragma once

#include <cstdint>

#include "kvbudget/engine/tensorrt_llm/cache.hpp"
#include "kvbudget/engine/tensorrt_llm/constants.hpp"
#include "kvbudget/engine/tensorrt_llm/rules.hpp"
#include "kvbudget/memory/activations.hpp"
#include "kvbudget/memory/framework.hpp"
#include "kvbudget/memory/weights.hpp"

namespace kvbudget::inline v0::engines {

/// TensorRT-LLM as `trtllm-serve` runs it: the cache gets a share of what is free once weights, one profiled
/// step, the software and other processes have theirs; pools of blocks, as many on every rank as the fullest
/// has room for; requests longer than the pool are not served. Members have the engine's names; 0 = its
/// default.
///
/// The cache of the profiling run is given back before the share is taken, so it does not count. Not
/// modelled: the merging of windows when not even one request fits, pools of KVCacheManagerV2, the extra
/// tokens that a drafting request holds, the peak of a vision encoder.
struct tensorrt_llm {
  engine_version version{1, 3};
  double free_gpu_memory_fraction = 0;    ///< 0.9; 0.85 before 0.10
  std::uint64_t max_tokens = 0;           ///< tokens that the cache has at most; ignored with several windows
  bytes max_gpu_total_bytes{};            ///< bytes that the cache has at most
  std::uint32_t tokens_per_block = 0;     ///< 32; 64 before 0.18 and in AutoDeploy
  std::uint64_t max_batch_size = 0;       ///< 2,048 requests at once, per pipeline stage
  std::uint64_t max_num_tokens = 0;       ///< 8,192 tokens per step
  std::uint64_t max_seq_len = 0;          ///< the model's maximum
  bool allow_long_max_model_len = false;  ///< TLLM_ALLOW_LONG_MAX_MODEL_LEN: more than the model's maximum
  attention_window_list max_attention_window{};
  double window_size_shares[max_block_pools] = {};  ///< narrowest window first; equal shares if none is given
  bytes host_cache_size{};                          ///< pinned memory for secondary blocks, per rank
  bytes encoder_cache_max_bytes{};                  ///< kept for the embeddings of images and sounds
  bool use_cuda_graph = true;
  std::uint32_t cuda_graph_max_batch_size = 0;  ///< 128; none before 1.0
  std::uint64_t mamba_state_cache_interval =
      0;                   ///< a snapshot of recurrent states per so many tokens; 0 = none
  bytes used_by_others{};  ///< memory of other processes on the GPU

  [[nodiscard]] constexpr const tensorrt_llm_rules& rules() const { return tensorrt_llm_rules_of(version); }
  [[nodiscard]] constexpr double fraction() const {
    return free_gpu_memory_fraction == 0 ? rules().free_gpu_memory_fraction : free_gpu_memory_fraction;
  }
  [[nodiscard]] constexpr std::uint64_t block_size() const {
    return tokens_per_block == 0 ? rules().tokens_per_block : tokens_per_block;
  }
  [[nodiscard]] constexpr std::uint64_t batch_size() const {
    return max_batch_size == 0 ? 2048 : max_batch_size;
  }
  [[nodiscard]] constexpr std::uint64_t step_tokens() const {
    return max_num_tokens == 0 ? 8192 : max_num_tokens;
  }
  /// Batch sizes for which a CUDA graph is captured: 1, 2, 4, then every eighth, up to the largest.
  [[nodiscard]] constexpr std::uint64_t graphs() const {
    if (!use_cuda_graph) return 0;
    const std::uint64_t largest = graph_batch();
    if (largest < 8) return largest == 0 ? 0 : largest < 2 ? 1 : largest < 4 ? 2 : 3;
    return 3 + largest / 8;
  }

  /// Attention data parallelism: each of the tensor ranks keeps whole heads and requests of its own, and the
  /// experts are spread over all of them. In this library that is a layout.
  [[nodiscard]] static constexpr parallel_layout with_attention_dp(parallel_layout layout, bool has_experts) {
    layout.data = layout.data * layout.tensor;
    layout.expert = has_experts ? layout.data : 1;
    layout.tensor = 1;
    return layout;
  }

  [[nodiscard]] constexpr engine_name name() const { return detail::versioned_name("tensorrt-llm", version); }
  [[nodiscard]] constexpr usable_memory usable(const gpu_profile& gpu) const { return kvbudget::usable(gpu); }
  [[nodiscard]] constexpr memory_budget ledger(const deployment& d, const rank& where,
                                               const gpu_profile* gpu) const {
    return detail::pool_ledger(*this, d, where, gpu);
  }

  /// max_seq_len, which the engine lowers to the model's maximum.
  [[nodiscard]] constexpr std::uint64_t longest_request(const deployment& d) const {
    const std::uint64_t supported = d.model->max_position_embeddings;
    if (max_seq_len == 0) return supported;
    if (supported == 0 || allow_long_max_model_len) return max_seq_len;
    return detail::smaller(max_seq_len, supported);
  }
  [[nodiscard]] constexpr std::uint64_t running_requests(const deployment& d, const gpu_profile&) const {
    return detail::checked_mul(batch_size(), d.parallel.pipeline);
  }
  [[nodiscard]] constexpr refusal refuses(const deployment& d, const gpu_profile&) const {
    if (!(fraction() > 0) || fraction() > 1) return {"free_gpu_memory_fraction must be between 0 and 1"};
    if (rules().pytorch && !(fraction() < 1)) return {"Invalid freeMemFraction, must be smaller than 1.0"};
    if (longest_request(d) == 0) return {"max_seq_len is not specified, and the model names no maximum"};
    if (d.parallel.decode_context != 1) {
      return {"KV cache size estimation not supported with context parallelism."};
    }
    if (has_store(*d.model, store_kind::compressed)) {
      return {"how this engine keeps compressed (DeepSeek-V4) caches is not known here"};
    }
    for (std::uint32_t i = 0; i < max_attention_window.count; ++i) {
      if (max_attention_window.sizes[i] == 0) return {"Attention window size must be positive"};
    }
    std::uint32_t shares = 0;
    double sum = 0;
    for (const double share : window_size_shares) {
      shares += share != 0 ? 1 : 0;
      sum += share;
    }
    if (shares == 0 && max_attention_window.count == 0) return {};
    const detail::window_groups groups = groups_of(d, share_of(d, rank{}));
    if (groups.too_many)
      return {"more than # window sizes in max_attention_window are not modelled here", groups.room};
    if (shares != 0 && shares != groups.count) {
      return {"Number of shares in TRTLLM_WINDOW_SIZE_SHARES must match number of window sizes: # for #",
              shares, groups.count};
    }
    if (shares != 0 && !(sum == 1)) return {"Sum of shares in TRTLLM_WINDOW_SIZE_SHARES must be 1.0"};
    return {};
  }

  /// (total − weights − a profiled step − software − other processes) × fraction. Where ranks share a KV
  /// head, the engine's estimate counts it once, and the pool grows into the share of what is free without
  /// the step.
  constexpr void reserve(const deployment& d, const rank& where, const gpu_profile& gpu,
                         rank_reservation& into) const {
    const rank_share share = share_of(d, where);
    const detail::window_groups groups = groups_of(d, share);
    const cache_plan plan = plan_of(d, where, share, groups);
    memory_budget& budget = into.budget;
    add_weights(budget, d, share);
    add_activations(budget, profiled(d), share, 0);
    add_software(budget, d, share, gpu);
    if (encoder_cache_max_bytes.value != 0) {
      budget.add(
          {"encoder_cache", encoder_cache_max_bytes, "encoder_cache_max_bytes, taken off the free memory"});
    }
    if (used_by_others.value != 0) budget.add({"other_processes", used_by_others, "given by the user"});
    const usable_memory total = usable(gpu);
    const line_item* step = budget.find("activations");
    const claims mine = claims_of(d, groups, plan);
    const bytes none{};
    into.available_kv = {
        available(mine, total.low, budget.total_high(), step == nullptr ? none : step->high),
        available(mine, total.expected, budget.total(), step == nullptr ? none : step->expected),
        available(mine, total.high, budget.total_low(), step == nullptr ? none : step->low)};
    add_margin(budget, d);
    into.running_requests = running_requests(d, gpu);
    lay_out(plan, groups, d, into.pools);
    detail::fill_pools(into, [&](std::uint64_t given) { return counts_of(plan, groups, d, given); });
  }

  /// One pool per window with its share of the bytes; recurrent states of max_batch_size requests and an
  /// encoder's keys and values have pools of their own.
  [[nodiscard]] constexpr block_pools pools(const deployment& d, const rank& where, const gpu_profile&,
                                            std::uint64_t available_bytes) const {
    const rank_share share = share_of(d, where);
    const detail::window_groups groups = groups_of(d, share);
    const cache_plan plan = plan_of(d, where, share, groups);
    block_pools result;
    lay_out(plan, groups, d, result);
    detail::set_blocks(result, counts_of(plan, groups, d, available_bytes));
    return result;
  }

  /// A cache of fewer tokens than a block has serves nothing.
  [[nodiscard]] constexpr refusal refuses_pools(const deployment&, const gpu_profile&,
                                                const rank_reservation& found) const {
    for (const block_pool& pool : found.pools) {
      if (pool.groups[0].rule == block_rule::fixed || pool.blocks != 0 || max_tokens == 0) continue;
      return {"max_tokens (#) hold no block of # tokens", max_tokens, pool.groups[0].block_tokens};
    }
    return {};
  }
  /// A block of every pool, and all states: max_seq_len is lowered to what the pool holds, but "Impossible to
  /// fit in any sequence in kvCache" stops it.
  [[nodiscard]] constexpr bytes needed_to_start(const deployment& d, const gpu_profile&,
                                                const block_pools& pools, std::uint64_t length) const {
    bytes sum{};
    if (length == 0) return sum;
    for (const block_pool& pool : pools) {
      const bool states = pool.groups[0].rule == block_rule::fixed && pool.groups[0].block_tokens == 1;
      sum += bytes{detail::checked_mul(pool.block_bytes, states ? slots(d) : 1)};
    }
    return sum;
  }

  /// `Allocated X GiB for max tokens in paged KV cache (N)`: whole blocks of all windows. Up to 0.7 `Using N
  /// tokens in paged KV cache`, before rounding up.
  [[nodiscard]] constexpr std::uint64_t printed_tokens(const deployment& d, const gpu_profile& gpu,
                                                       const block_pools& pools, std::uint64_t) const {
    std::uint64_t sum = 0;
    for (const block_pool& pool : pools) {
      if (pool.groups[0].rule == block_rule::fixed) continue;
      sum = detail::add_product(sum, pool.blocks, pool.groups[0].block_tokens);
    }
    if (rules().prints_whole_blocks) return sum;
    for (std::uint32_t stage = 0; stage < d.parallel.pipeline; ++stage) {
      const rank where{stage, 0};
      const rank_share share = share_of(d, where);
      const std::int64_t given = reservation_of(*this, d, where, gpu).available_kv.expected;
      const detail::window_groups groups = groups_of(d, share);
      const cache_plan plan = plan_of(d, where, share, groups);
      if (plan.held[0] != 0)
        sum = detail::smaller(sum, tokens_of(plan, groups, d, detail::at_least_zero(given), 0));
    }
    return sum;
  }

  /// max_seq_len once the engine has lowered it to what the widest pool holds ("Attention window size #
  /// exceeds upper bound # for available blocks").
  [[nodiscard]] constexpr std::uint64_t served_length(const deployment& d, const block_pools& pools) const {
    const std::uint64_t asked = longest_request(d);
    if (pools.count == 0 || pools.pools[0].groups[0].rule == block_rule::fixed) return asked;
    const std::uint64_t widest = groups_of(d, share_of(d, rank{})).window[0];
    if (pools.pools[0].blocks >= widest) return asked;
    const std::uint64_t held = detail::checked_mul(pools.pools[0].blocks, block_size());
    return held < widest ? held : asked;
  }
  /// The same in the engine's words; nothing where it lowers nothing.
  [[nodiscard]] constexpr refusal warns(const deployment& d, const block_pools& pools) const {
    const std::uint64_t supported = d.model->max_position_embeddings;
    if (supported != 0 && max_seq_len > supported && !allow_long_max_model_len) {
      return {"Specified max_seq_len # is larger than what the model can support (#)", max_seq_len,
              supported};
    }
    const std::uint64_t served = served_length(d, pools);
    if (served == longest_request(d)) return {};
    return {"Attention window size # exceeds upper bound # for available blocks", longest_request(d), served};
  }

  /// Bytes of one token in the cache of a rank, draft layers included: what the log calls kv size per token.
  [[nodiscard]] constexpr std::uint64_t kv_size_per_token(const deployment& d, const rank& where = {}) const {
    const detail::window_groups groups = groups_of(d, share_of(d, where));
    std::uint64_t sum = detail::token_of_drafts(d, where.stage).held;
    for (std::uint32_t i = 0; i < groups.count; ++i) sum += groups.bytes[i].held + groups.bytes[i].cross;
    return sum;
  }
  /// Blocks in host memory: host_cache_size // bytes per token // tokens per block, of the widest window's
  /// share.
  [[nodiscard]] constexpr std::uint64_t secondary_blocks(const deployment& d, const rank& where = {}) const {
    const rank_share share = share_of(d, where);
    const detail::window_groups groups = groups_of(d, share);
    return host_blocks(plan_of(d, where, share, groups), groups, 0);
  }
  /// The same of the first stage, as other engines are asked.
  [[nodiscard]] constexpr bytes host_bytes(const deployment& d, const gpu_profile&) const {
    return host_bytes(d, rank{});
  }
  /// Pinned host memory of one rank: Σ secondary blocks × bytes of a block.
  [[nodiscard]] constexpr bytes host_bytes(const deployment& d, const rank& where = {}) const {
    const rank_share share = share_of(d, where);
    const detail::window_groups groups = groups_of(d, share);
    const cache_plan plan = plan_of(d, where, share, groups);
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < groups.count; ++i) {
      const std::uint64_t block = detail::checked_mul(plan.held[i], block_size());
      sum = detail::add_product(sum, block, host_blocks(plan, groups, i));
    }
    return bytes{sum};
  }

 private:
  static constexpr std::uint64_t unlimited = std::uint64_t{1}
                                             << 40;  ///< blocks of a pool without layers here
  static constexpr const char* pool_names[max_block_pools] = {"kv_cache.blocks", "kv_cache.window",
                                                              "kv_cache.window_2", "kv_cache.window_3"};

  /// What a rank keeps, window by window.
  struct cache_plan {
    std::uint64_t held[max_block_pools] = {};  ///< bytes per token, draft layers included
    std::uint32_t used = 0;                    ///< windows with layers here
    std::uint64_t state = 0;                   ///< bytes per sequence
    bool encodes = false;                      ///< an encoder's keys and values are kept
    bool recurrent = false;                    ///< states are, somewhere in the model
  };

  [[nodiscard]] static constexpr std::uint64_t encoder_tokens(const deployment& d) {
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < d.model->kind_count; ++i) {
      for (std::size_t j = 0; j < d.model->kinds[i].store_count; ++j) {
        most = detail::larger(most, d.model->kinds[i].stores[j].encoder_tokens);
      }
    }
    return most;
  }
  [[nodiscard]] constexpr std::uint64_t slots(const deployment& d) const {
    return detail::checked_mul(batch_size(), d.parallel.pipeline);
  }
  [[nodiscard]] constexpr std::uint64_t graph_batch() const {
    const std::uint64_t largest =
        cuda_graph_max_batch_size == 0 ? rules().cuda_graph_max_batch_size : cuda_graph_max_batch_size;
    return use_cuda_graph ? detail::smaller(largest, batch_size()) : 0;
  }
  [[nodiscard]] static constexpr std::uint32_t room_for_windows(const deployment& d) {
    const std::uint32_t others = (has_store(*d.model, store_kind::cross_attention) ? 1u : 0u) +
                                 (has_store(*d.model, store_kind::recurrent) ? 1u : 0u);
    return static_cast<std::uint32_t>(max_block_pools) - others;
  }
  [[nodiscard]] constexpr detail::window_groups groups_of(const deployment& d,
                                                          const rank_share& share) const {
    return detail::window_groups_of(d, share, max_attention_window, longest_request(d), room_for_windows(d));
  }

  /// How a request fills the blocks of a window: beside the window a chunk of its prompt, and one block more.
  [[nodiscard]] constexpr block_group blocks_of_window(std::uint64_t window, std::uint64_t longest) const {
    block_group group{block_rule::every_token, block_size()};
    if (window >= longest) return group;
    const std::uint64_t chunk =
        longest - 1 > window ? detail::smaller(step_tokens(), longest - 1 - window) : 0;
    group.rule = block_rule::ring;
    group.window = detail::round_up(window + chunk, block_size()) + block_size();
    return group;
  }

  /// The share of window `i` of `groups`, the narrowest first in the engine's order; equal over those with
  /// layers here unless the user gives shares.
  [[nodiscard]] constexpr std::uint64_t part_of(std::uint64_t total, const detail::window_groups& groups,
                                                std::uint32_t i, std::uint32_t used) const {
    const double share = window_size_shares[groups.count - 1 - i];
    if (share != 0) return detail::floor_of_double_product(total, share);
    return used <= 1 ? total : detail::floor_of_double_product(total, 1.0 / used);
  }
  [[nodiscard]] constexpr cache_plan plan_of(const deployment& d, const rank& where, const rank_share& share,
                                             const detail::window_groups& groups) const {
    cache_plan plan;
    plan.encodes = has_store(*d.model, store_kind::cross_attention);
    plan.recurrent = has_store(*d.model, store_kind::recurrent);
    if (plan.recurrent) plan.state = detail::state_bytes(d, share);
    for (std::uint32_t i = 0; i < groups.count; ++i) {
      plan.held[i] = groups.bytes[i].held;
      if (i == 0) plan.held[0] += detail::token_of_drafts(d, where.stage).held;
      plan.used += plan.held[i] != 0 ? 1 : 0;
    }
    return plan;
  }
  /// Tokens of window `i` that so many bytes hold.
  [[nodiscard]] constexpr std::uint64_t tokens_of(const cache_plan& plan, const detail::window_groups& groups,
                                                  const deployment& d, std::uint64_t given,
                                                  std::uint32_t i) const {
    if (plan.held[i] == 0) return 0;
    if (max_gpu_total_bytes.value != 0) given = detail::smaller(given, max_gpu_total_bytes.value);
    const std::uint64_t states = detail::checked_mul(plan.state, slots(d));
    std::uint64_t each = plan.held[i] + groups.bytes[i].cross;
    if (mamba_state_cache_interval != 0) each += plan.state / mamba_state_cache_interval;
    const std::uint64_t tokens = part_of(given > states ? given - states : 0, groups, i, plan.used) / each;
    return max_tokens != 0 && groups.count == 1 ? detail::smaller(tokens, max_tokens) : tokens;
  }
  [[nodiscard]] constexpr std::uint64_t host_blocks(const cache_plan& plan,
                                                    const detail::window_groups& groups,
                                                    std::uint32_t i) const {
    if (plan.held[i] == 0) return 0;
    const std::uint64_t each = plan.held[i] + groups.bytes[i].cross;
    return part_of(host_cache_size.value, groups, i, plan.used) / each / block_size();
  }
  constexpr void lay_out(const cache_plan& plan, const detail::window_groups& groups, const deployment& d,
                         block_pools& pools) const {
    const std::uint64_t block = block_size();
    for (std::uint32_t i = 0; i < groups.count; ++i) {
      block_pool& pool = pools.add(pool_names[i]);
      pool.add(blocks_of_window(groups.window[i], longest_request(d)));
      pool.block_bytes = detail::checked_mul(plan.held[i], block);
    }
    if (plan.encodes && groups.count != 0) {
      block_pool& pool = pools.add("kv_cache.cross_attention");
      pool.add(block_group::of_blocks(detail::ceil_div(encoder_tokens(d), block), block));
      pool.block_bytes = detail::checked_mul(groups.bytes[0].cross, block);
    }
    if (plan.recurrent) {
      block_pool& pool = pools.add("kv_cache.states");
      pool.add(block_group::of_blocks(1));
      pool.block_bytes = plan.state;
    }
  }
  /// Blocks of those pools, in their order, that so many bytes give.
  [[nodiscard]] constexpr block_counts counts_of(const cache_plan& plan, const detail::window_groups& groups,
                                                 const deployment& d, std::uint64_t given) const {
    block_counts counts;
    const std::uint64_t block = block_size();
    std::uint32_t pools = groups.count;
    std::uint64_t widest = 0;
    for (std::uint32_t i = 0; i < groups.count; ++i) {
      const std::uint64_t tokens = tokens_of(plan, groups, d, given, i);
      if (i == 0) widest = tokens;
      const bool up = groups.count == 1 && rules().rounds_up;
      counts.blocks[i] = plan.held[i] == 0 ? unlimited
                         : up              ? detail::ceil_div(tokens, block)
                                           : tokens / block;
    }
    if (plan.encodes && groups.count != 0) counts.blocks[pools++] = counts.blocks[0];
    if (plan.recurrent) {
      counts.blocks[pools] = plan.state == 0 ? unlimited : detail::smaller(slots(d), given / plan.state);
      if (rules().states_within_fraction)
        counts.beside[pools] = 1 + std::uint64_t{d.speculation.num_speculative_tokens};
      if (mamba_state_cache_interval != 0) counts.beside[pools] += widest / mamba_state_cache_interval;
    }
    return counts;
  }

  /// What of a rank's cache decides how many bytes it gets.
  struct claims {
    std::uint64_t states = 0;  ///< bytes that come before the share is taken
    std::uint64_t held =
        1;  ///< bytes of a token, as the pool holds it and as the engine's estimate counts it
    std::uint64_t counted = 1;
  };
  [[nodiscard]] constexpr claims claims_of(const deployment& d, const detail::window_groups& groups,
                                           const cache_plan& plan) const {
    claims result;
    if (!rules().states_within_fraction) result.states = detail::checked_mul(plan.state, slots(d));
    if (!rules().pytorch || d.parallel.tensor == 1) return result;
    if (groups.count != 1 || groups.bytes[0].counted == 0) return result;
    result.held = groups.bytes[0].held;
    result.counted = groups.bytes[0].counted;
    return result;
  }
  /// One rank's `available_kv` for one total, what is taken, and how much of that the profiled step is.
  [[nodiscard]] constexpr std::int64_t available(const claims& mine, bytes total, bytes taken,
                                                 bytes step) const {
    const std::int64_t left = signed_difference(total, taken + bytes{mine.states});
    if (left <= 0) return signed_difference(total, taken);
    const auto free = static_cast<std::uint64_t>(left);
    std::uint64_t result = detail::floor_of_double_product(free, fraction());
    if (mine.counted < mine.held) {
      const std::uint64_t without_step = detail::checked_add(free, step.value);
      result = detail::smaller(detail::checked_mul(result / mine.counted, mine.held),
                               detail::floor_of_double_product(without_step, fraction()));
    }
    return static_cast<std::int64_t>(detail::checked_add(result, mine.states));
  }

  /// The deployment as the profiling run sees it: max_num_tokens of prompts, a row of logits for each.
  [[nodiscard]] constexpr deployment profiled(const deployment& d) const {
    deployment result = d;
    const std::uint64_t longest = longest_request(d);
    const std::uint64_t prompts = detail::ceil_div(step_tokens(), longest < 2 ? 1 : longest - 1);
    result.workload = workload{};
    result.workload.sequences = detail::larger(prompts, graph_batch()) * d.parallel.data;
    result.workload.context = tokens{longest};
    result.workload.batched_tokens = tokens{step_tokens()};
    result.activations.sampler = sampler_kind::greedy;
    return result;
  }

  /// Writes the line `framework`: the CUDA context and what the engine keeps beside it.
  constexpr void add_software(memory_budget& budget, const deployment& d, const rank_share& share,
                              const gpu_profile& gpu) const {
    if (d.pinned.framework.given) return detail::add_pinned(budget, "framework", d.pinned.framework);
    const bool blackwell = capability_of(gpu).major >= 10;
    const std::uint64_t graph_layers = detail::checked_mul(graphs(), share.range.size());
    measured_constant captured = constants::tensorrt_llm_graph_per_layer;
    captured.low = detail::checked_mul(captured.low, graph_layers);
    captured.expected = detail::checked_mul(captured.expected, graph_layers);
    captured.high = detail::checked_mul(captured.high, graph_layers);
    const measured_constant alone{0, 0, 0, basis::exact, "one rank talks to nobody"};
    const std::uint64_t ranks = std::uint64_t{d.parallel.tensor} * d.parallel.pipeline *
                                (d.parallel.expert > d.parallel.tensor ? d.parallel.data : 1);
    const measured_constant& talking = ranks <= 1   ? alone
                                       : ranks <= 2 ? constants::tensorrt_llm_communication_2_gpus
                                       : ranks <= 4 ? constants::tensorrt_llm_communication_4_gpus
                                                    : constants::tensorrt_llm_communication_8_gpus;
    const detail::framework_part parts[] = {
        {"framework.context", kvbudget::constants::cuda_context},
        {"framework.non_torch",
         blackwell ? constants::tensorrt_llm_runtime_sm_100 : constants::tensorrt_llm_runtime},
        {"framework.communication", talking},
        {"framework.graphs", captured}};
    detail::add_framework_parts(budget, parts, "sum of the parts, per GPU");
  }
};
static_assert(pool_engine<tensorrt_llm>);

}  // namespace kvbudget::inline v0::engines
