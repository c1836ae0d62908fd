#pragma once

#include <cstdint>

#include "kvbudget/engine/vllm/cache_specs.hpp"

namespace kvbudget::inline v0::vllm_cache {

/// What comes of building block tables from what layers register, besides the tables.
struct grouping {
  std::uint64_t block_bytes = 0;            ///< what a block weighs on one stage
  std::uint64_t admission_block_bytes = 0;  ///< what the start check takes a block for
  std::uint64_t smallest_block_tokens = 0;  ///< of all groups, which the printed token count uses
  std::uint64_t padding_layers = 0;         ///< empty places in the groups
  bool pages_do_not_divide = false;         ///< some page does not divide the largest one
};

/// What a group's rule depends on beside its layers.
struct group_settings {
  std::uint32_t context_ranks = 1;     ///< ranks that share the tokens of full attention
  std::uint64_t tokens_in_flight = 0;  ///< F: tokens computed but not settled
  std::uint64_t blocks_per_state = 1;  ///< modes none and align
  bool one_state_per_block = false;    ///< mode all
  bool promote_windows = false;        ///< windows and chunks beside full attention keep every token
  bool promote_chunks = false;         ///< chunks alone do
  bool pack = false;                   ///< DeepSeek-V4: overlapping layouts
};

namespace detail {
/// The block table that layers of this kind get.
[[nodiscard]] constexpr block_group group_of(const layer_spec& spec, std::uint32_t tables,
                                             const group_settings& how) {
  block_group group{block_rule::every_token, spec.block_tokens};
  group.copies = tables;
  switch (spec.kind) {
    case spec_kind::full: group.ranks = how.context_ranks; break;
    case spec_kind::window:
    case spec_kind::chunk:
      group.rule = spec.kind == spec_kind::window ? block_rule::window : block_rule::chunk;
      group.window = spec.window;
      group.in_flight = how.tokens_in_flight;
      break;
    case spec_kind::encoder:
      group.rule = block_rule::fixed;
      group.fixed_blocks = ceil_div(spec.window, spec.block_tokens);
      break;
    case spec_kind::state:
      if (how.one_state_per_block) break;
      group.rule = block_rule::fixed;
      group.fixed_blocks = how.blocks_per_state;
      break;
  }
  return group;
}

/// One table for all layers: a block holds the pages of each of them.
constexpr void group_together(grouping& result, block_pool& pool, const layer_specs& specs,
                              const group_settings& how) {
  pool.add(group_of(specs.list[0], 1, how));
  result.smallest_block_tokens = specs.list[0].block_tokens;
  for (const layer_spec& spec : specs) {
    result.block_bytes = add_product(result.block_bytes, spec.here, spec.page_bytes);
  }
  result.admission_block_bytes = result.block_bytes;
}

/// The number of layer tuples per group that wastes the fewest places, from `least` on; of equals the
/// largest.
[[nodiscard]] constexpr std::uint64_t tuples_with_least_padding(const std::uint64_t* counts, std::size_t n,
                                                                std::uint64_t least) {
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < n; ++i) most = larger(most, counts[i]);
  std::uint64_t best = larger<std::uint64_t>(least, 1);
  std::uint64_t best_padding = UINT64_MAX;
  for (std::uint64_t each = best; each <= most; ++each) {
    std::uint64_t padding = 0;
    for (std::size_t i = 0; i < n; ++i) padding += round_up(counts[i], each) - counts[i];
    if (padding <= best_padding) {
      best_padding = padding;
      best = each;
    }
  }
  return best;
}

/// DeepSeek-V4: entries and index keys are one group of layer tuples, windows of one block size and length
/// are split into groups of about as many tuples. Packed, a block is as large as the largest group; before
/// that, and in the start check, it is one page of every size in the first group, times the tuples.
constexpr void group_compressed(grouping& result, block_pool& pool, const layer_specs& specs,
                                const group_settings& how) {
  std::uint64_t counts[max_layer_specs] = {};
  std::size_t kinds = 1;  // counts[0]: the first group
  std::uint64_t tuple_bytes = 0;
  std::uint64_t here_bytes = 0;
  for (const layer_spec& spec : specs) {
    if (spec.kind != spec_kind::full) continue;
    counts[0] = larger<std::uint64_t>(counts[0], spec.layers);
    tuple_bytes = checked_add(tuple_bytes, spec.page_bytes);
    here_bytes = add_product(here_bytes, spec.here, spec.page_bytes);
    if (pool.group_count == 0) pool.add(group_of(spec, 1, how));
  }
  result.smallest_block_tokens = compressed_block_tokens;
  const auto first_of_its_window = [&](std::uint32_t at) {
    for (std::uint32_t i = 0; i < at; ++i) {
      if (specs.list[i].same_type(specs.list[at])) return false;
    }
    return true;
  };
  for (std::uint32_t i = 0; i < specs.count; ++i) {
    if (specs.list[i].kind != spec_kind::full && first_of_its_window(i))
      counts[kinds++] = specs.list[i].layers;
  }
  const std::uint64_t tuples = tuples_with_least_padding(counts, kinds, counts[0]);
  std::uint64_t most_tuples = counts[0];
  std::uint64_t stride = here_bytes;
  for (std::uint32_t i = 0; i < specs.count; ++i) {
    const layer_spec& spec = specs.list[i];
    if (spec.kind == spec_kind::full || !first_of_its_window(i)) continue;
    const auto tables = static_cast<std::uint32_t>(ceil_div(spec.layers, tuples));
    pool.add(group_of(spec, tables, how));
    result.smallest_block_tokens = smaller(result.smallest_block_tokens, spec.block_tokens);
    most_tuples = larger(most_tuples, ceil_div(spec.layers, tables));
    std::uint64_t group_bytes = 0;
    for (const layer_spec& other : specs) {
      if (other.same_type(spec)) {
        group_bytes = add_product(group_bytes, ceil_div(other.here, tables), other.page_bytes);
      }
    }
    stride = larger(stride, group_bytes);
  }
  result.admission_block_bytes = checked_mul(tuple_bytes, most_tuples);
  result.block_bytes = how.pack ? stride : result.admission_block_bytes;
}

/// Layers of several types: pages are made equal by longer blocks (a state's page is padded), then every type
/// is cut into groups of as many layers as the rarest type has, or as the commonest has when that is less
/// than half as many again. Stages get every group's share of their own layers.
constexpr void group_by_type(grouping& result, block_pool& pool, const layer_specs& specs,
                             const group_settings& how) {
  const std::uint64_t page = specs.largest_page();
  layer_specs equal;
  for (layer_spec spec : specs) {
    if (spec.kind != spec_kind::state) {
      if (page % spec.page_bytes == 0) {
        spec.block_tokens = checked_mul(spec.block_tokens, page / spec.page_bytes);
      } else {
        result.pages_do_not_divide = true;
      }
    }
    spec.page_bytes = page;
    equal.add(spec);
  }
  std::uint64_t fewest = UINT64_MAX;
  std::uint64_t most = 0;
  for (const layer_spec& spec : equal) {
    fewest = smaller<std::uint64_t>(fewest, spec.layers);
    most = larger<std::uint64_t>(most, spec.layers);
  }
  const std::uint64_t size = 2 * most < 3 * fewest ? most : fewest;
  std::uint64_t size_here = 0;
  result.smallest_block_tokens = UINT64_MAX;
  for (const layer_spec& spec : equal) {
    const auto tables = static_cast<std::uint32_t>(ceil_div(spec.layers, size));
    pool.add(group_of(spec, tables, how));
    result.padding_layers += tables * size - spec.layers;
    result.smallest_block_tokens = smaller(result.smallest_block_tokens, spec.block_tokens);
    size_here = larger(size_here, ceil_div(spec.here, tables));
  }
  result.block_bytes = checked_mul(page, size_here);
  result.admission_block_bytes = result.block_bytes;
}
/// Windows and chunks beside full attention, as if they kept every token.
constexpr void promote(layer_specs& specs, bool windows) {
  const std::uint32_t count = specs.count;
  specs.count = 0;  // they are added again, behind the one that is read
  for (std::uint32_t i = 0; i < count; ++i) {
    layer_spec spec = specs.list[i];
    if (spec.kind == spec_kind::chunk || (windows && spec.kind == spec_kind::window)) {
      spec.kind = spec_kind::full;
      spec.window = 0;
      if (specs.compressed && spec.block_tokens < compressed_block_tokens) {
        spec.page_bytes = checked_mul(spec.page_bytes, compressed_block_tokens / spec.block_tokens);
        spec.block_tokens = compressed_block_tokens;
      }
    }
    specs.add(spec);
  }
  specs.compressed = false;  // what still differs is grouped by type
}
}  // namespace detail

/// Writes the block tables of a model to `pool`, and says what a block weighs on the stage whose layers are
/// counted as `here`. Source: vllm-project/vllm, vllm/v1/core/kv_cache_utils.py (get_kv_cache_groups and what
/// it calls).
[[nodiscard]] constexpr grouping groups_of(layer_specs& specs, const group_settings& how, block_pool& pool) {
  grouping result;
  if (specs.count == 0) return result;
  const bool promotes = how.promote_windows || (how.promote_chunks && specs.has(spec_kind::chunk));
  if (promotes && specs.has(spec_kind::full)) detail::promote(specs, how.promote_windows);
  bool one_type = true;
  for (const layer_spec& spec : specs) one_type = one_type && spec.same_type(specs.list[0]);
  if (one_type) {
    detail::group_together(result, pool, specs, how);
  } else if (specs.compressed) {
    detail::group_compressed(result, pool, specs, how);
  } else {
    detail::group_by_type(result, pool, specs, how);
  }
  return result;
}

}  // namespace kvbudget::inline v0::vllm_cache
