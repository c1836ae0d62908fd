#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/engine/pool_engine.hpp"

namespace kvbudget::inline v0::engines {

/// What changed between SGLang's releases, as data.
namespace sglang_rules {

/// How mem_fraction_static follows where nobody gives it.
enum class fraction_rule : std::uint8_t {
  by_ranks,   ///< a table by tensor ranks
  by_memory,  ///< memory left free by size of the GPU and number of ranks
  by_reserve  ///< memory left free for activations and graphs, from their own sizes
};

/// Defaults by the size of a GPU, smallest class first; the last one has no bound.
struct size_class {
  std::uint32_t below_mib;             ///< 0 = any
  std::uint32_t chunked_prefill_size;  ///< tokens
  std::uint32_t cuda_graph_max_bs;     ///< requests, with fewer than four tensor ranks
  std::uint32_t cuda_graph_max_bs_4;   ///< requests, with four or more
  double free_gib = 0;                 ///< by_memory: left free ...
  double ranks_per_gib = 0;            ///< ... and 1 GiB more for so many tensor x pipeline ranks; 0 = none
};
inline constexpr size_class classes_by_ranks[] = {{25'000, 2048, 8, 80}, {0, 8192, 160, 160}};
inline constexpr size_class classes_by_memory[] = {{20 * 1024, 2048, 8, 80, 2.8, 10},
                                                   {35 * 1024, 2048, 8, 80, 2.8, 10},
                                                   {90 * 1024, 8192, 160, 160, 9.5, 2},
                                                   {160 * 1024, 8192, 256, 256, 12, 2},
                                                   {0, 16384, 512, 512, 32, 0}};
inline constexpr size_class classes_by_reserve[] = {{20 * 1024, 2048, 8, 8},
                                                    {35 * 1024, 2048, 24, 80},
                                                    {60 * 1024, 4096, 32, 160},
                                                    {160 * 1024, 8192, 256, 512},
                                                    {0, 16384, 512, 512}};
inline constexpr size_class classes_of_2026[] = {{20 * 1024, 2048, 8, 8},
                                                 {35 * 1024, 4096, 48, 160},
                                                 {60 * 1024, 4096, 32, 160},
                                                 {160 * 1024, 8192, 256, 512},
                                                 {0, 16384, 512, 512}};

/// One set of rules and the release that brought it.
struct release {
  engine_version since;
  fraction_rule fraction;
  bool reserves_for_speculation;  ///< mem_fraction_static leaves room for a draft model and its graphs
  bool counts_draft_weights;      ///< the draft is loaded before free memory is measured
  bool counts_sparse_latents;     ///< a token's cost includes scales and index keys of sparse latents
  bool counts_draft_cache;        ///< a token's cost includes the draft's layers
  bool prices_windows_apart;      ///< hybrid SWA: by bytes of either kind of layer, not by an average layer
  bool keeps_half_the_tokens;     ///< max_running_requests is at most tokens / 2
  bool spare_request_row;         ///< req_to_token has a row beside those of the requests
  bool mamba_extra_buffer;        ///< hybrid states: extra slots per request by default
  bool captures_prefill;          ///< prefill is captured in graphs by default, except with states
  bool host_pool_rounds_up;       ///< HiCache: a page more instead of less
  const size_class* classes;
};

/// Sources: sgl-project/sglang pull requests 7054 (2025-06), 10975 (2025-09) and 29615 (2026-06) for the
/// defaults by memory size; srt/server_args.py, srt/arg_groups, srt/model_executor/pool_configurator.py and
/// srt/mem_cache (kv_cache_configurator.py, memory_pool.py, pool_host) of 2025 and 2026 for the rest. Which
/// patch release first carried a change of 2026 is inferred from its date.
// clang-format off
inline constexpr release releases[] = {
    // since     mem_fraction_static         reserve  weights  sparse   draft    windows  half     row      buffer   prefill  host     sizes
    {{0, 4, 0},  fraction_rule::by_ranks,    false,   false,   false,   false,   false,   false,   false,   false,   false,   false,   classes_by_ranks},
    {{0, 4, 7},  fraction_rule::by_memory,   true,    false,   false,   false,   false,   false,   false,   false,   false,   false,   classes_by_memory},
    {{0, 5, 3},  fraction_rule::by_reserve,  true,    false,   false,   false,   false,   false,   false,   false,   false,   false,   classes_by_reserve},
    {{0, 5, 9},  fraction_rule::by_reserve,  true,    false,   true,    true,    true,    true,    false,   false,   false,   true,    classes_by_reserve},
    {{0, 5, 14}, fraction_rule::by_reserve,  false,   true,    true,    true,    true,    true,    true,    true,    true,    true,    classes_of_2026},
};
// clang-format on

/// The rules of a release; older ones get those of 0.4.0.
[[nodiscard]] constexpr const release& release_of(engine_version version) {
  const release* found = releases + sizeof(releases) / sizeof(release) - 1;
  while (found != releases && version.before(found->since)) --found;
  return *found;
}
[[nodiscard]] constexpr const size_class& size_class_of(const release& rules, std::uint64_t gpu_mib) {
  const size_class* found = rules.classes;
  while (found->below_mib != 0 && gpu_mib >= found->below_mib) ++found;
  return *found;
}

/// Models whose sliding or chunked layers get a pool of their own; all others keep every token of every
/// layer. Source: sgl-project/sglang srt/configs/model_config.py (is_hybrid_swa_model).
inline constexpr const char* windowed_models[] = {"llama4",  "llama4_text", "gpt_oss", "mimo_v2_flash",
                                                  "mimo_v2", "step3p5",     "gemma4",  "gemma4_text"};

}  // namespace sglang_rules
}  // namespace kvbudget::inline v0::engines
