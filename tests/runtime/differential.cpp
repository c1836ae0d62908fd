// The cache of every model a second time, the slow and obvious way: layer by layer, token by token, with
// nothing of the library but the plain numbers of a store.
#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "kvbudget/io/huggingface.hpp"
#include "kvbudget/memory/kv_cache.hpp"
#include "kvbudget/models.hpp"
#include "support/catch.hpp"

namespace {

using namespace kvbudget;

/// What one sequence keeps in one store once `length` tokens have gone through it, in elements.
struct kept_elements {
  std::uint64_t cached = 0;
  std::uint64_t state = 0;
};

/// A window as an engine would keep it: the newest token in, the oldest out.
std::uint64_t in_window(std::uint64_t length, std::uint64_t window) {
  std::deque<std::uint64_t> ring;
  for (std::uint64_t token = 0; token < length; ++token) {
    ring.push_back(token);
    if (ring.size() > window) ring.pop_front();
  }
  return ring.size();
}

/// The state sizes as the papers and reference implementations write them.
std::uint64_t state_by_hand(const store& s) {
  const std::uint64_t taps = s.conv_kernel == 0 ? 0 : s.conv_kernel - 1u;
  const std::uint64_t heads = s.state_heads;
  const std::uint64_t dim = s.state_head_dim;
  std::uint64_t sum = 0;
  switch (s.state) {
    case state_kind::none: return 0;
    case state_kind::mamba1:
      for (std::uint64_t channel = 0; channel < s.inner_size; ++channel) sum += taps + s.state_size;
      return sum;
    case state_kind::mamba2:
      for (std::uint64_t head = 0; head < heads; ++head) sum += dim * s.state_size + dim * taps;
      for (std::uint64_t group = 0; group < s.state_groups; ++group) sum += 2 * taps * s.state_size;
      return sum;
    case state_kind::gated_delta_net:
    case state_kind::kimi_delta:
      for (std::uint64_t head = 0; head < heads; ++head) sum += dim * s.state_key_dim + dim * taps;
      for (std::uint64_t head = 0; head < s.state_key_heads; ++head) sum += 2 * s.state_key_dim * taps;
      return sum;
    case state_kind::linear_attention:
      for (std::uint64_t head = 0; head < heads; ++head) sum += dim * dim;
      return sum;
    case state_kind::short_convolution: return s.inner_size * taps;
    case state_kind::rwkv:
      for (std::uint64_t head = 0; head < heads; ++head) sum += dim * dim;
      return sum + s.inner_size + s.inner_size;
  }
  return sum;
}

kept_elements keep(const store& s, std::uint64_t length) {
  kept_elements kept;
  const std::uint64_t pair = std::uint64_t{s.kv_heads} * s.key_dim + std::uint64_t{s.kv_heads} * s.value_dim;
  switch (s.kind) {
    case store_kind::none:
    case store_kind::shared: break;
    case store_kind::full:
      for (std::uint64_t token = 0; token < length; ++token) kept.cached += pair + s.indexer_dim;
      break;
    case store_kind::sliding_window:
    case store_kind::chunked: kept.cached = in_window(length, s.window) * (pair + s.indexer_dim); break;
    case store_kind::latent:
      for (std::uint64_t token = 0; token < length; ++token) {
        kept.cached += std::uint64_t{s.latent_rank} + s.rope_dim + s.indexer_dim;
      }
      break;
    case store_kind::compressed: {
      kept.cached = in_window(length, s.window) * s.key_dim;
      if (s.compress_ratio == 0) break;
      std::uint64_t waiting = 0;
      for (std::uint64_t token = 0; token < length; ++token) {
        if (++waiting < s.compress_ratio) continue;
        kept.cached += std::uint64_t{s.key_dim} + s.indexer_dim;  // a chunk is full: one more entry
        waiting = 0;
      }
      // Keys and gates of the tokens that the next entry is made of; two chunks of double width that overlap.
      const std::uint64_t tokens = (s.overlapping ? 2u : 1u) * std::uint64_t{s.compress_ratio};
      const std::uint64_t width = s.overlapping ? 2 * (std::uint64_t{s.key_dim} + s.indexer_dim) : s.key_dim;
      for (std::uint64_t token = 0; token < tokens; ++token) kept.state += width + width;
      break;
    }
    case store_kind::recurrent: kept.state = state_by_hand(s); break;
    case store_kind::cross_attention:
      for (std::uint64_t token = 0; token < s.encoder_tokens; ++token) kept.cached += pair;
      break;
  }
  return kept;
}

/// Bytes of the whole cache in bf16 (Kimi's delta states always in fp32, convolutions in the dtype).
std::uint64_t by_hand(const model_architecture& model, std::uint64_t length, std::uint64_t sequences) {
  std::vector<std::uint64_t> of_kind(model.kind_count, 0);
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    for (std::size_t i = 0; i < model.kinds[kind].store_count; ++i) {
      const store& s = model.kinds[kind].stores[i];
      const kept_elements kept = keep(s, length);
      of_kind[kind] += 2 * (kept.cached + kept.state);
      if (s.state == state_kind::kimi_delta) {
        of_kind[kind] += 2 * std::uint64_t{s.state_heads} * s.state_head_dim * s.state_key_dim;
      }
    }
  }
  std::uint64_t sum = 0;
  for (std::uint64_t sequence = 0; sequence < sequences; ++sequence) {
    for (std::uint32_t layer = 0; layer < model.num_hidden_layers; ++layer)
      sum += of_kind[model.order[layer]];
  }
  return sum;
}

std::uint64_t by_library(const model_architecture& model, std::uint64_t length, std::uint64_t sequences) {
  const deployment d{.model = model,
                     .kv_cache = formats::bf16,
                     .workload = {.sequences = sequences, .context = tokens{length}},
                     .dtype = formats::bf16};
  return kv_cache_of(d, share_of(d, rank{})).total().value;
}

void compare(const model_architecture& model) {
  INFO(model.name);
  for (const std::uint64_t length : {1u, 127u, 128u, 1023u, 1024u, 4096u, 131072u}) {
    INFO(length);
    CHECK(by_library(model, length, 1) == by_hand(model, length, 1));
  }
  for (const std::uint64_t sequences : {2u, 3u, 8u, 33u}) {
    INFO(sequences);
    CHECK(by_library(model, 1023, sequences) == by_hand(model, 1023, sequences));
  }
}

}  // namespace

TEST_CASE("the cache of every bundled model equals a count by hand") {
  for (const model_architecture* model : models::all) compare(*model);
}

#ifdef KVBUDGET_SHARED_DIR
TEST_CASE("the cache of every reference config equals a count by hand") {
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(KVBUDGET_SHARED_DIR "/models/configs")) {
    INFO(entry.path().string());
    try {
      compare(read_huggingface_config(entry.path()).architecture);
      ++compared;
    } catch (const input_error&) {  // which configs are refused is another test's business
    }
  }
  CHECK(compared >= 60);
}
#endif
