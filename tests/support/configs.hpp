#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "kvbudget/io/huggingface.hpp"
#include "kvbudget/memory/kv_cache.hpp"
#include "kvbudget/memory/weights.hpp"
#include "support/catch.hpp"
#include "support/input.hpp"

/// What the tests of Hugging Face configs share.
namespace tests {

inline kvbudget::huggingface_model read(const std::string& config) {
  return kvbudget::read_huggingface_config_text(config, "test.json");
}
inline std::string refusal(const std::string& config) {
  return message_of([&] { (void)read(config); });
}

/// The cache in bf16: two bytes for each element.
inline kvbudget::kv_cache_bytes cache_of(const kvbudget::model_architecture& model, std::uint64_t context,
                                         std::uint64_t sequences) {
  using namespace kvbudget;
  const deployment d{.model = model,
                     .kv_cache = formats::bf16,
                     .workload = {.sequences = sequences, .context = tokens{context}},
                     .dtype = formats::bf16};
  return kv_cache_of(d, share_of(d, rank{}));
}

/// Cached elements, those of the encoder's tokens included, without index keys and states.
inline std::uint64_t elements(const kvbudget::model_architecture& model, std::uint64_t context,
                              std::uint64_t sequences) {
  const kvbudget::kv_cache_bytes cache = cache_of(model, context, sequences);
  return (cache.payload + cache.cross_attention) / 2;
}

/// Elements that one sequence keeps whatever its length: recurrent states, and what compressors collect.
inline std::uint64_t state_elements(const kvbudget::model_architecture& model) {
  std::uint64_t sum = 0;
  for (std::uint32_t layer = 0; layer < model.num_hidden_layers; ++layer) {
    const kvbudget::layer_kind& kind = model.kinds[model.order[layer]];
    for (std::size_t i = 0; i < kind.store_count; ++i) {
      const kvbudget::store& s = kind.stores[i];
      const kvbudget::state_elements state = kvbudget::state_of(s);
      sum += state.convolution + state.recurrent;
      if (s.kind == kvbudget::store_kind::compressed) sum += kvbudget::compressor_state_elements(s);
    }
  }
  return sum;
}

/// Bytes in bf16 that one more token costs at `context` tokens.
inline std::uint64_t slope(const kvbudget::model_architecture& model, std::uint64_t context) {
  using namespace kvbudget;
  const deployment d{.model = model, .kv_cache = formats::bf16, .dtype = formats::bf16};
  const ratio bytes_per_token = kv_growth_of(d, share_of(d, rank{}), tokens{context}).bytes_per_token;
  REQUIRE(bytes_per_token.denominator == 1);
  return bytes_per_token.numerator;
}
inline constexpr std::uint64_t beyond_every_window = 1'000'000'000;

/// "full", "sliding(4096)", "cross", … and "none" for layers that keep nothing → number of stores.
inline std::map<std::string, int> stores_of(const kvbudget::model_architecture& model) {
  using kvbudget::store_kind;
  std::map<std::string, int> counts;
  for (std::uint32_t layer = 0; layer < model.num_hidden_layers; ++layer) {
    const kvbudget::layer_kind& kind = model.kinds[model.order[layer]];
    if (kind.store_count == 0) ++counts["none"];
    for (std::size_t i = 0; i < kind.store_count; ++i) {
      const kvbudget::store& s = kind.stores[i];
      std::string name;
      switch (s.kind) {
        case store_kind::none: name = "none"; break;
        case store_kind::full: name = "full"; break;
        case store_kind::sliding_window: name = "sliding(" + std::to_string(s.window) + ")"; break;
        case store_kind::chunked: name = "chunked(" + std::to_string(s.window) + ")"; break;
        case store_kind::latent: name = "mla"; break;
        case store_kind::compressed: name = "compressed"; break;
        case store_kind::recurrent: name = "state"; break;
        case store_kind::cross_attention: name = "cross"; break;
        case store_kind::shared: name = "shared"; break;
      }
      ++counts[name];
    }
  }
  return counts;
}

inline bool has_note(const kvbudget::huggingface_model& model, const std::string& part) {
  for (const std::string& note : model.notes) {
    if (contains(note, part)) return true;
  }
  return false;
}

/// Bytes in bf16 of the weights on the first of so many tensor ranks, without scales.
inline std::uint64_t weights_on_first_rank(const kvbudget::model_architecture& model, std::uint32_t ranks) {
  using namespace kvbudget;
  const deployment d{.model = model, .parallel = {.tensor = ranks}, .dtype = formats::bf16};
  std::uint64_t sum = 0;
  for (const std::uint64_t module : weights_of(d, share_of(d, rank{})).modules) sum += module;
  return sum;
}

/// What became of damaged configs: a model, or one line that names the file; everything else fails the test.
struct damaged_configs {
  int models = 0;
  int refused = 0;

  void attempt(const std::string& config) {
    INFO(config);
    try {
      const kvbudget::huggingface_model found =
          kvbudget::read_huggingface_config_text(config, "damaged.json");
      REQUIRE(found.architecture.num_hidden_layers > 0);
      REQUIRE(found.architecture.num_hidden_layers <= kvbudget::max_layers);
      ++models;
    } catch (const kvbudget::error& reason) {
      const std::string line = reason.what();
      REQUIRE(line.find('\n') == std::string::npos);
      REQUIRE(line.rfind("damaged.json", 0) == 0);
      ++refused;
    }
  }
};

}  // namespace tests
