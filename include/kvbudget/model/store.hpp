#pragma once

#include <cstdint>

#include "kvbudget/detail/checked.hpp"

namespace kvbudget::inline v0 {

/// What one layer keeps for a sequence between two steps. A closed set; one layer may keep up to four of
/// them.
enum class store_kind : std::uint8_t {
  none,
  full,            ///< keys and values of every token
  sliding_window,  ///< keys and values of the last `window` tokens
  chunked,         ///< keys and values of at most one chunk of `window` tokens
  latent,      ///< MLA: one compressed latent and one rotary key per token, optionally with sparse index keys
  compressed,  ///< DeepSeek-V4: a window, plus one entry per `compress_ratio` tokens
  recurrent,   ///< a state of fixed size (see `state_kind`)
  cross_attention,  ///< keys and values of the encoder's tokens
  shared            ///< reads the cache of an earlier layer: keeps nothing
};

/// The recurrent mixers whose state sizes differ.
enum class state_kind : std::uint8_t {
  none,
  mamba1,             ///< conv (I)(K−1), state I × N
  mamba2,             ///< conv (I + 2·G·N)(K−1), state heads × P × N
  gated_delta_net,    ///< conv (2·d_k·h_k + d_v·h_v)(K−1), state h_v × d_v × d_k
  kimi_delta,         ///< as gated delta net, state always in fp32
  linear_attention,   ///< state heads × d × d
  short_convolution,  ///< conv I(K−1)
  rwkv                ///< token shift 2·I, state heads × d × d
};

/// One store of one layer. Only the members that its kind names are used; the rest stay 0.
struct store {
  store_kind kind = store_kind::none;
  state_kind state = state_kind::none;
  bool overlapping = false;          ///< compressed: entries are built from two overlapping chunks
  std::uint32_t kv_heads = 0;        ///< full, windows, chunks, cross attention
  std::uint32_t key_dim = 0;         ///< elements of a key per head; compressed: width of an entry
  std::uint32_t value_dim = 0;       ///< elements of a value per head
  std::uint32_t latent_rank = 0;     ///< MLA: kv_lora_rank
  std::uint32_t rope_dim = 0;        ///< MLA: qk_rope_head_dim; compressed: rotary elements within an entry
  std::uint32_t indexer_dim = 0;     ///< elements of a sparse index key; 0 = none
  std::uint32_t compress_ratio = 0;  ///< tokens per compressed entry; 0 = none
  std::uint64_t window = 0;          ///< tokens of the window or chunk
  std::uint64_t encoder_tokens = 0;  ///< cross attention: tokens that the encoder yields per sequence

  std::uint32_t inner_size =
      0;  ///< I: channels of the convolution (mamba1, mamba2, short conv), hidden (rwkv)
  std::uint32_t conv_kernel = 0;      ///< K
  std::uint32_t state_heads = 0;      ///< heads, or value heads h_v
  std::uint32_t state_head_dim = 0;   ///< P, d or d_v
  std::uint32_t state_size = 0;       ///< N
  std::uint32_t state_groups = 0;     ///< G
  std::uint32_t state_key_heads = 0;  ///< h_k
  std::uint32_t state_key_dim = 0;    ///< d_k

  friend constexpr bool operator==(const store&, const store&) = default;
};

/// Elements of a recurrent state per sequence: the convolution's window and the state proper may be stored in
/// different formats.
struct state_elements {
  std::uint64_t convolution = 0;
  std::uint64_t recurrent = 0;
  bool recurrent_in_fp32 = false;  ///< whatever the deployment asks for
};

namespace detail {
[[noreturn]] inline void recurrent_state_cannot_be_split_over_the_ranks(std::uint64_t parts,
                                                                        std::uint64_t ranks) {
  raise("tensor parallel: a recurrent state of # heads or channels cannot be split over # ranks", parts,
        ranks);
}
[[nodiscard]] constexpr std::uint64_t split_state(std::uint64_t parts, std::uint64_t ranks) {
  if (parts % ranks != 0) recurrent_state_cannot_be_split_over_the_ranks(parts, ranks);
  return parts / ranks;
}
}  // namespace detail

/// State of one sequence in one layer on one of `tensor` ranks, by the formulas of `state_kind` (K =
/// conv_kernel). Mamba-2 groups are first rounded up to a multiple of the ranks. A state that cannot be split
/// evenly stops. Source: vllm-project/vllm, model_executor/layers/mamba/mamba_utils.py.
[[nodiscard]] constexpr state_elements state_of(const store& s, std::uint64_t tensor = 1) {
  using detail::split_state;
  const std::uint64_t taps = s.conv_kernel > 0 ? s.conv_kernel - 1u : 0u;
  const std::uint64_t head_square = std::uint64_t{s.state_head_dim} * s.state_head_dim;
  const std::uint64_t delta_channels = 2 * std::uint64_t{s.state_key_dim} * s.state_key_heads +
                                       std::uint64_t{s.state_head_dim} * s.state_heads;
  switch (s.state) {
    case state_kind::none: return {};
    case state_kind::mamba1: {
      const std::uint64_t channels = split_state(s.inner_size, tensor);
      return {channels * taps, channels * s.state_size};
    }
    case state_kind::mamba2: {
      const std::uint64_t groups = detail::round_up(s.state_groups, tensor);
      const std::uint64_t channels = s.inner_size + 2 * groups * s.state_size;
      return {split_state(channels, tensor) * taps,
              split_state(s.state_heads, tensor) * s.state_head_dim * s.state_size};
    }
    case state_kind::gated_delta_net:
      return {split_state(delta_channels, tensor) * taps,
              split_state(s.state_heads, tensor) * s.state_head_dim * s.state_key_dim};
    case state_kind::kimi_delta:
      return {split_state(delta_channels, tensor) * taps,
              split_state(s.state_heads, tensor) * s.state_head_dim * s.state_key_dim, true};
    case state_kind::linear_attention: return {0, split_state(s.state_heads, tensor) * head_square};
    case state_kind::short_convolution: return {split_state(s.inner_size, tensor) * taps, 0};
    case state_kind::rwkv:
      return {2 * std::uint64_t{s.inner_size}, split_state(s.state_heads, tensor) * head_square};
  }
  return {};
}

/// Elements that a compressing layer keeps per sequence to build its next entry: keys and gates of the tokens
/// of one chunk, twice as many tokens and twice as wide where chunks overlap; the same for its index keys.
[[nodiscard]] constexpr std::uint64_t compressor_state_elements(const store& s) {
  if (s.compress_ratio == 0) return 0;
  const std::uint64_t overlap = s.overlapping ? 4 : 1;
  return 2 * overlap * s.compress_ratio * (std::uint64_t{s.key_dim} + (s.overlapping ? s.indexer_dim : 0u));
}

/// The stores by name. Each is a plain value; impossible sizes stop in `validate` when a model takes them.
namespace stores {
/// Keys and values of every token, of different widths.
[[nodiscard]] constexpr store full(std::uint32_t kv_heads, std::uint32_t key_dim, std::uint32_t value_dim) {
  return {.kind = store_kind::full, .kv_heads = kv_heads, .key_dim = key_dim, .value_dim = value_dim};
}
/// Keys and values of every token, both `head_dim` wide.
[[nodiscard]] constexpr store full(std::uint32_t kv_heads, std::uint32_t head_dim) {
  return full(kv_heads, head_dim, head_dim);
}
/// The same attention with one sparse index key of `indexer_dim` elements per token (MiniMax-M3).
[[nodiscard]] constexpr store indexed(store attention, std::uint32_t indexer_dim) {
  attention.indexer_dim = indexer_dim;
  return attention;
}
/// The same attention, keeping only the last `window` tokens.
[[nodiscard]] constexpr store sliding_window(store attention, std::uint64_t window) {
  attention.kind = store_kind::sliding_window;
  attention.window = window;
  return attention;
}
/// The same attention, keeping at most one chunk.
[[nodiscard]] constexpr store chunked(store attention, std::uint64_t chunk) {
  attention.kind = store_kind::chunked;
  attention.window = chunk;
  return attention;
}
/// MLA: a latent and a rotary key per token; with `indexer_dim` also a sparse index key.
[[nodiscard]] constexpr store latent(std::uint32_t kv_lora_rank, std::uint32_t qk_rope_head_dim,
                                     std::uint32_t indexer_dim = 0) {
  return {.kind = store_kind::latent,
          .latent_rank = kv_lora_rank,
          .rope_dim = qk_rope_head_dim,
          .indexer_dim = indexer_dim};
}
/// DeepSeek-V4: the last `window` tokens, and an entry of `head_dim` per `compress_ratio` tokens.
[[nodiscard]] constexpr store compressed(std::uint32_t head_dim, std::uint32_t rope_dim, std::uint64_t window,
                                         std::uint32_t compress_ratio, std::uint32_t indexer_dim,
                                         bool overlapping) {
  return {.kind = store_kind::compressed,
          .overlapping = overlapping,
          .key_dim = head_dim,
          .rope_dim = rope_dim,
          .indexer_dim = indexer_dim,
          .compress_ratio = compress_ratio,
          .window = window};
}
/// Keys and values of the tokens that the encoder yields; they do not grow with the output.
[[nodiscard]] constexpr store cross_attention(std::uint32_t kv_heads, std::uint32_t head_dim,
                                              std::uint64_t encoder_tokens) {
  return {.kind = store_kind::cross_attention,
          .kv_heads = kv_heads,
          .key_dim = head_dim,
          .value_dim = head_dim,
          .encoder_tokens = encoder_tokens};
}
/// Nothing of its own: an earlier layer's cache is read.
[[nodiscard]] constexpr store shared() { return {.kind = store_kind::shared}; }

/// Mamba: a convolution window and a state of inner_size × state_size.
[[nodiscard]] constexpr store mamba1(std::uint32_t inner_size, std::uint32_t state_size,
                                     std::uint32_t conv_kernel) {
  return {.kind = store_kind::recurrent,
          .state = state_kind::mamba1,
          .inner_size = inner_size,
          .conv_kernel = conv_kernel,
          .state_size = state_size};
}
/// Mamba-2: a state of head_dim × state_size per head; `groups` share their projections.
[[nodiscard]] constexpr store mamba2(std::uint32_t heads, std::uint32_t head_dim, std::uint32_t state_size,
                                     std::uint32_t groups, std::uint32_t conv_kernel) {
  return {.kind = store_kind::recurrent,
          .state = state_kind::mamba2,
          .inner_size = heads * head_dim,
          .conv_kernel = conv_kernel,
          .state_heads = heads,
          .state_head_dim = head_dim,
          .state_size = state_size,
          .state_groups = groups};
}
/// Gated delta net (Qwen3-Next): a state of value_dim × key_dim per value head.
[[nodiscard]] constexpr store gated_delta_net(std::uint32_t value_heads, std::uint32_t value_dim,
                                              std::uint32_t key_heads, std::uint32_t key_dim,
                                              std::uint32_t conv_kernel) {
  return {.kind = store_kind::recurrent,
          .state = state_kind::gated_delta_net,
          .conv_kernel = conv_kernel,
          .state_heads = value_heads,
          .state_head_dim = value_dim,
          .state_key_heads = key_heads,
          .state_key_dim = key_dim};
}
/// Kimi delta attention: a square state per head, always in fp32.
[[nodiscard]] constexpr store kimi_delta(std::uint32_t heads, std::uint32_t head_dim,
                                         std::uint32_t conv_kernel) {
  store result = gated_delta_net(heads, head_dim, heads, head_dim, conv_kernel);
  result.state = state_kind::kimi_delta;
  return result;
}
/// Linear attention: a square state per head, no convolution.
[[nodiscard]] constexpr store linear_attention(std::uint32_t heads, std::uint32_t head_dim) {
  return {.kind = store_kind::recurrent,
          .state = state_kind::linear_attention,
          .state_heads = heads,
          .state_head_dim = head_dim};
}
/// A short convolution: its last conv_kernel − 1 inputs.
[[nodiscard]] constexpr store short_convolution(std::uint32_t channels, std::uint32_t conv_kernel) {
  return {.kind = store_kind::recurrent,
          .state = state_kind::short_convolution,
          .inner_size = channels,
          .conv_kernel = conv_kernel};
}
/// RWKV: two shifted tokens and a square state per head.
[[nodiscard]] constexpr store rwkv(std::uint32_t hidden_size, std::uint32_t head_size) {
  return {.kind = store_kind::recurrent,
          .state = state_kind::rwkv,
          .inner_size = hidden_size,
          .state_heads = hidden_size / head_size,
          .state_head_dim = head_size};
}
}  // namespace stores

}  // namespace kvbudget::inline v0
