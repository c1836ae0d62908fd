#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/checked.hpp"
#include "kvbudget/detail/unset.hpp"
#include "kvbudget/workload/workload.hpp"

namespace kvbudget::inline v0 {

/// How a request fills the blocks of one group of layers.
enum class block_rule : std::uint8_t {
  every_token,  ///< ⌈⌈length / ranks⌉ / block⌉: full attention and latents
  window,  ///< ⌈min(window − 1 + in flight, length) / block⌉ + 1: the window may begin within a block
  ring,    ///< ⌈min(window, length) / block⌉: a window that is overwritten in place
  chunk,   ///< ⌈min(chunk + in flight, length) / block⌉
  fixed    ///< so many blocks whatever the length: recurrent states, encoder tokens
};

/// Layers that share a block table: a block of theirs holds the same tokens of all of them.
struct block_group {
  block_rule rule;
  std::uint32_t copies;        ///< tables of this kind, each with blocks of its own
  std::uint32_t ranks;         ///< decode-context ranks that share the tokens (every_token)
  std::uint64_t block_tokens;  ///< tokens that a block holds
  std::uint64_t window;        ///< tokens of the window, ring or chunk
  std::uint64_t in_flight;     ///< tokens computed but not yet settled, which a window keeps besides
  std::uint64_t fixed_blocks;  ///< fixed: blocks of one request

  block_group() = default;
  constexpr block_group(block_rule how, std::uint64_t tokens_of_block)
      : rule(how),
        copies(1),
        ranks(1),
        block_tokens(tokens_of_block),
        window(0),
        in_flight(0),
        fixed_blocks(0) {}
  /// So many blocks per request, whatever its length.
  [[nodiscard]] static constexpr block_group of_blocks(std::uint64_t blocks,
                                                       std::uint64_t tokens_of_block = 1) {
    block_group result{block_rule::fixed, tokens_of_block};
    result.fixed_blocks = blocks;
    return result;
  }

  /// Blocks of one table that a request of `length` tokens holds.
  [[nodiscard]] constexpr std::uint64_t blocks_of(std::uint64_t length) const {
    using detail::ceil_div;
    using detail::checked_add;
    using detail::smaller;
    if (length == 0) return 0;
    switch (rule) {
      case block_rule::every_token:
        return ceil_div(ranks == 1 ? length : ceil_div(length, ranks), block_tokens);
      case block_rule::window:
        return ceil_div(smaller(checked_add(window - 1, in_flight), length), block_tokens) + 1;
      case block_rule::ring: return ceil_div(smaller(window, length), block_tokens);
      case block_rule::chunk: return ceil_div(smaller(checked_add(window, in_flight), length), block_tokens);
      case block_rule::fixed: return fixed_blocks;
    }
    return 0;
  }
  /// Of those, the whole blocks that a common prefix of `prefix` tokens fills once for all requests: a window
  /// has dropped what lies before it, rings, chunks and states share nothing.
  [[nodiscard]] constexpr std::uint64_t shared_blocks(std::uint64_t length, std::uint64_t prefix) const {
    if (rule == block_rule::every_token) return prefix / ranks / block_tokens;
    if (rule != block_rule::window) return 0;
    const std::uint64_t dropped = length > window ? length - window : 0;
    const std::uint64_t kept = prefix > dropped ? (prefix - dropped) / block_tokens : 0;
    return detail::smaller(kept, blocks_of(length));
  }
};

/// Kinds of block table that a pool has room for, and pools that an engine may keep.
inline constexpr std::size_t max_block_groups = 16;
inline constexpr std::size_t max_block_pools = 4;

namespace detail {
[[noreturn]] inline void a_pool_has_too_many_kinds_of_block_tables() {
  raise("a pool has more than # kinds of block tables", max_block_groups);
}
[[noreturn]] inline void an_engine_has_too_many_pools() {
  raise("an engine keeps more than # pools", max_block_pools);
}
/// Requests reuse whole blocks of a prefix, but always compute at least one token of their own.
[[nodiscard]] constexpr std::uint64_t reusable_prefix(const request_group& group) {
  const std::uint64_t prompt = group.output.value == 0 ? group.context().value : group.prompt.value;
  return prompt == 0 ? 0 : smaller(group.shared_prefix.value, prompt - 1);
}
}  // namespace detail

/// Blocks of one size that requests draw from. What a block weighs is one rank's share; how many blocks
/// there are and how requests fill them is the same on every rank.
struct block_pool {
  const char* name = "kv_cache";
  block_group groups[max_block_groups];  ///< of which `group_count` are there; the first always has values
  std::uint32_t group_count = 0;
  std::uint64_t block_bytes = 0;  ///< of one block, all layers of the rank that share it
  std::uint64_t blocks = 0;       ///< that the engine counts
  std::uint64_t kept_back = 0;    ///< of those, never given to a request (vLLM's null block)
  std::uint64_t beside = 0;       ///< allocated besides, never counted (SGLang's dummy page)

  constexpr block_pool() {
    detail::clear_in_constant_evaluation(groups);
    groups[0] = {block_rule::every_token, 1};
  }
  constexpr void add(const block_group& group) {
    if (group_count == max_block_groups) detail::a_pool_has_too_many_kinds_of_block_tables();
    groups[group_count++] = group;
  }
  /// Bytes of so many blocks and those beside them.
  [[nodiscard]] constexpr bytes size_of(std::uint64_t counted, std::uint64_t besides) const {
    return bytes{detail::checked_mul(detail::checked_add(counted, besides), block_bytes)};
  }
  /// Bytes that the pool takes: (blocks + beside) × bytes of a block.
  [[nodiscard]] constexpr bytes size() const { return size_of(blocks, beside); }
  [[nodiscard]] constexpr std::uint64_t free_blocks() const {
    return blocks > kept_back ? blocks - kept_back : 0;
  }
  /// Block tables: Σ copies.
  [[nodiscard]] constexpr std::uint64_t tables() const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < group_count; ++i) sum += groups[i].copies;
    return sum;
  }
  /// Blocks that one request of `length` tokens holds: Σ copies × blocks of a table.
  [[nodiscard]] constexpr std::uint64_t blocks_of(std::uint64_t length) const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < group_count; ++i) {
      sum = detail::add_product(sum, groups[i].blocks_of(length), groups[i].copies);
    }
    return sum;
  }
  /// Blocks that `count` requests of a group hold together, those of their common prefix once.
  [[nodiscard]] constexpr std::uint64_t blocks_of(const request_group& group) const {
    if (group.count == 0) return 0;
    const std::uint64_t length = group.context().value;
    const std::uint64_t prefix = detail::reusable_prefix(group);
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < group_count; ++i) {
      const std::uint64_t shared = groups[i].shared_blocks(length, prefix);
      const std::uint64_t own = groups[i].blocks_of(length) - shared;
      const std::uint64_t all = detail::add_product(shared, own, group.count);
      sum = detail::add_product(sum, all, groups[i].copies);
    }
    return sum;
  }
};

/// All pools of one rank. Most engines keep one; windows or states may have pools of their own.
struct block_pools {
  block_pool pools[max_block_pools];
  std::uint32_t count = 0;

  constexpr block_pool& add(const char* name) {
    if (count == max_block_pools) detail::an_engine_has_too_many_pools();
    pools[count].name = name;
    return pools[count++];
  }
  [[nodiscard]] constexpr const block_pool* begin() const { return pools; }
  [[nodiscard]] constexpr const block_pool* end() const { return pools + count; }
  /// Σ bytes of the pools.
  [[nodiscard]] constexpr bytes size() const {
    bytes sum{};
    for (const block_pool& pool : *this) sum += pool.size();
    return sum;
  }
  /// Bytes of the blocks that one request of `length` tokens holds.
  [[nodiscard]] constexpr bytes bytes_of(std::uint64_t length) const {
    bytes sum{};
    for (const block_pool& pool : *this) {
      sum += bytes{detail::checked_mul(pool.blocks_of(length), pool.block_bytes)};
    }
    return sum;
  }
};

}  // namespace kvbudget::inline v0
