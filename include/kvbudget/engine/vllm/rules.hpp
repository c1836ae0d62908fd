#pragma once

#include <cstdint>

#include "kvbudget/engine/pool_engine.hpp"

namespace kvbudget::inline v0 {

/// What differs between releases of vLLM in its cache, one row per era (the profile run has a table of its
/// own). A release follows the last row that does not come
/// after it.
///
/// Sources: vllm-project/vllm vllm/v1/core/kv_cache_utils.py, kv_cache_interface.py, config/cache.py and
/// config/vllm.py of several releases; pull requests 10511, 12126, 30515 and 38284; issues 17549 and 45178.
struct vllm_rules {
  engine_version since;
  bool neighbours_in_budget;         ///< memory of other processes is charged to this one
  bool hybrid_kv_cache_manager;      ///< windows and states keep block tables of their own
  bool chunks_in_groups;             ///< chunks too; before, they kept every token unless asked otherwise
  std::uint32_t concurrent_batches;  ///< batches whose tokens a window keeps besides (one pipeline stage)
  bool prints_tokens;                ///< V0 printed blocks only, and kept no null block
  bool tokens_are_concurrency;       ///< "GPU KV cache size" = concurrency × max_model_len
  bool needs_by_stage;               ///< the start check prices one stage, not the whole model
  bool packs_blocks;      ///< DeepSeek-V4: a block is as large as its largest group, not all of them
  bool newest_scheduler;  ///< unequal pages are padded, an override counts as memory, stages + 1 batches
  std::uint64_t swap_space_bytes;  ///< host memory per GPU set aside for swapped blocks
};

// clang-format off
/// When chunks joined the groups (VLLM_ALLOW_CHUNKED_LOCAL_ATTN_WITH_HYBRID_KV_CACHE), and a second batch in flight
/// was counted, is known only between two releases (0.12 and 0.21).
inline constexpr vllm_rules vllm_eras[] = {
    // since   others hybrid chunks batches tokens conc   stage  packs  newest swap
    {{0, 0},  false, false, false, 1,      false, false, false, false, false, 4ull << 30},
    {{0, 8},  true,  false, false, 1,      true,  false, false, false, false, 0},
    {{0, 9},  false, true,  false, 1,      true,  false, false, false, false, 0},
    {{0, 21}, false, true,  true,  2,      true,  true,  true,  false, false, 0},
    {{0, 26}, false, true,  true,  2,      true,  true,  true,  true,  false, 0},
    {{0, 27}, false, true,  true,  2,      true,  true,  true,  true,  true,  0},
};
// clang-format on

/// The rules of a release.
[[nodiscard]] constexpr const vllm_rules& vllm_rules_of(engine_version version) {
  const vllm_rules* era = vllm_eras + sizeof(vllm_eras) / sizeof(vllm_rules) - 1;
  while (era != vllm_eras && version.before(era->since)) --era;
  return *era;
}

}  // namespace kvbudget::inline v0
