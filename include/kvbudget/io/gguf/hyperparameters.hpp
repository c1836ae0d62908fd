#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/io/gguf/architectures.hpp"
#include "kvbudget/io/gguf/file.hpp"
#include "kvbudget/model/model_architecture.hpp"

namespace kvbudget::inline v0::detail {

/// The hyper-parameters of one architecture: the keys behind its name and a dot.
class hyperparameters {
 public:
  hyperparameters(const gguf_file& file, std::string architecture)
      : view_(file.metadata, file.source()), prefix_(std::move(architecture) + ".") {}

  [[nodiscard]] std::string full(const char* key) const { return prefix_ + key; }
  [[nodiscard]] const std::string& source() const { return view_.source(); }
  [[noreturn]] void refuse(const char* key, const std::string& reason) const {
    view_.refuse(full(key), reason);
  }

  [[nodiscard]] const gguf_value* find(const char* key) const { return view_.find(full(key)); }
  [[nodiscard]] std::optional<std::uint64_t> number(const char* key) const { return view_.number(full(key)); }
  [[nodiscard]] std::uint64_t required(const char* key) const { return view_.required_number(full(key)); }

  /// A number from 1 to 2^32 − 1 that must be there.
  [[nodiscard]] std::uint32_t size(const char* key) const { return as_size(key, required(key)); }
  [[nodiscard]] std::uint32_t size_or(const char* key, std::uint32_t otherwise) const {
    const std::optional<std::uint64_t> given = number(key);
    return given ? as_size(key, *given) : otherwise;
  }

  /// Heads, and the sides of heads, latents and states: from 1 to 2^20, far beyond any model, so that no
  /// product of three of them overflows.
  [[nodiscard]] std::uint32_t dimension(const char* key) const { return as_dimension(key, required(key)); }
  [[nodiscard]] std::uint32_t dimension_or(const char* key, std::uint32_t otherwise) const {
    const std::optional<std::uint64_t> given = number(key);
    return as_dimension(key, given ? *given : otherwise);
  }
  [[nodiscard]] std::uint32_t as_dimension(const char* key, std::uint64_t value) const {
    constexpr std::uint32_t most = std::uint32_t{1} << 20;
    if (value > most)
      refuse(key, "must be at most " + std::to_string(most) + ", not " + std::to_string(value));
    return as_size(key, value);
  }

  /// One number per layer: the same for all, or an array with at least one for each.
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> per_layer(const char* key,
                                                                    std::uint32_t layers) const {
    const gguf_value* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (value->type != gguf_type::array) return std::vector<std::uint64_t>(layers, *number(key));
    if (!value->kept) {
      refuse(key, std::string("must be an array of at most ") + std::to_string(longest_kept_array) +
                      " whole numbers, not of " + std::to_string(value->length) + " of " +
                      name_of(value->element));
    }
    if (value->length < layers) {
      refuse(key,
             "has " + std::to_string(value->length) + " elements for " + std::to_string(layers) + " layers");
    }
    std::vector<std::uint64_t> result(value->elements.begin(), value->elements.begin() + layers);
    for (const std::uint64_t element : result) (void)view_.whole(full(key), element);
    return result;
  }

  [[nodiscard]] std::uint32_t as_size(const char* key, std::uint64_t value) const {
    if (value == 0) refuse(key, "must be at least 1, not 0");
    if (value > UINT32_MAX) refuse(key, "must be below 2^32, not " + std::to_string(value));
    return static_cast<std::uint32_t>(value);
  }

 private:
  metadata_view view_;
  std::string prefix_;
};

/// A model in plain numbers, before its layers are built.
struct gguf_shape {
  const gguf_architecture* architecture = nullptr;
  std::uint32_t hidden_size = 0;
  std::uint32_t layers = 0;  ///< without draft blocks
  std::uint32_t blocks = 0;  ///< with them
  std::uint64_t context_length = 0;
  std::vector<std::uint64_t> heads{};
  std::vector<std::uint64_t> kv_heads{};
  std::vector<std::uint64_t> feed_forward{};
  std::vector<bool> windowed{};
  std::vector<bool> recurrent{};
  std::uint64_t window = 0;
  std::uint32_t key_length = 0;
  std::uint32_t value_length = 0;
  std::uint32_t windowed_key_length = 0;
  std::uint32_t windowed_value_length = 0;
  std::uint32_t layers_with_cache = 0;  ///< the rest reads theirs
  std::uint32_t experts = 0;
  std::uint32_t experts_used = 0;

  [[nodiscard]] bool is_compressed() const { return architecture->windows.rule == gguf_windows::compressed; }
};

/// Whether a file holds a tensor of that name.
[[nodiscard]] inline const gguf_tensor* find_tensor(const gguf_file& file, std::string_view name) {
  for (const gguf_tensor& tensor : file.tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

/// Draft blocks come last and are counted by `block_count`. Where the first of them has tensors but not the
/// projection that makes a draft block, the count does not include them.
/// Source: ggml-org/llama.cpp, src/models/deepseek4.cpp, load_arch_hparams.
inline void read_layers(gguf_shape& shape, const hyperparameters& keys, const gguf_file& file) {
  const bool decoder = shape.architecture->layers == gguf_layers::encoder_decoder;
  const char* key =
      decoder && keys.find("decoder_block_count") != nullptr ? "decoder_block_count" : "block_count";
  shape.blocks = keys.size(key);
  if (shape.blocks > max_layers) {
    keys.refuse(key,
                "must be at most " + std::to_string(max_layers) + ", not " + std::to_string(shape.blocks));
  }
  std::uint64_t drafts = keys.number("nextn_predict_layers").value_or(0);
  if (drafts >= shape.blocks) {
    keys.refuse("nextn_predict_layers",
                std::to_string(drafts) + " of only " + std::to_string(shape.blocks) + " blocks");
  }
  const std::string first = "blk." + std::to_string(shape.blocks - drafts) + ".";
  if (find_tensor(file, first + "attn_norm.weight") != nullptr &&
      find_tensor(file, first + "nextn.eh_proj.weight") == nullptr) {
    drafts = 0;
  }
  shape.layers = shape.blocks - static_cast<std::uint32_t>(drafts);
}

inline void read_heads(gguf_shape& shape, const hyperparameters& keys) {
  const bool attends = shape.architecture->layers != gguf_layers::recurrent;
  auto heads = keys.per_layer("attention.head_count", shape.layers);
  if (!heads && attends) (void)keys.required("attention.head_count");
  shape.heads = heads ? *heads : std::vector<std::uint64_t>(shape.layers, 0);
  shape.kv_heads = keys.per_layer("attention.head_count_kv", shape.layers).value_or(shape.heads);
  for (const auto* counts : {&shape.heads, &shape.kv_heads}) {
    for (const std::uint64_t count : *counts) {
      if (count != 0) (void)keys.as_dimension("attention.head_count", count);
    }
  }
  if (!attends) return;
  const bool both =
      keys.find("attention.key_length") != nullptr && keys.find("attention.value_length") != nullptr;
  std::uint32_t head_dim = 0;
  if (!both) {
    const std::uint64_t first = shape.heads.front();
    if (first == 0)
      keys.refuse("attention.key_length", "the key is missing, and layer 0 has no heads to derive it from");
    if (shape.hidden_size % first != 0) {
      keys.refuse("attention.key_length", "the key is missing, and embedding_length " +
                                              std::to_string(shape.hidden_size) +
                                              " is not a multiple of head_count " + std::to_string(first));
    }
    head_dim = static_cast<std::uint32_t>(shape.hidden_size / first);
  }
  shape.key_length = keys.dimension_or("attention.key_length", head_dim);
  shape.value_length = keys.dimension_or("attention.value_length", head_dim);
  shape.windowed_key_length = keys.dimension_or("attention.key_length_swa", shape.key_length);
  shape.windowed_value_length = keys.dimension_or("attention.value_length_swa", shape.value_length);
}

/// Which layers are windowed: by an array of flags, or all but one of each period. A period of 0 means all,
/// as in set_swa_pattern of ggml-org/llama.cpp, src/llama-hparams.cpp.
inline void read_window_pattern(gguf_shape& shape, const hyperparameters& keys) {
  constexpr const char* key = "attention.sliding_window_pattern";
  const gguf_window_traits& traits = shape.architecture->windows;
  const gguf_value* pattern = keys.find(key);
  if (pattern != nullptr && pattern->type == gguf_type::array) {
    const std::vector<std::uint64_t> flags = *keys.per_layer(key, shape.layers);
    for (std::uint32_t i = 0; i < shape.layers; ++i) shape.windowed[i] = flags[i] != 0;
    return;
  }
  if (pattern == nullptr && traits.period == 0) {
    keys.refuse(key, std::string("the key is missing, and ") + shape.architecture->name +
                         " has no pattern of its own");
  }
  const std::uint64_t period = pattern != nullptr ? *keys.number(key) : traits.period;
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    const std::uint64_t kept = traits.full_first || period == 0 ? 0 : period - 1;
    shape.windowed[i] = period == 0 || i % period != kept;
  }
}

inline void read_windows(gguf_shape& shape, const hyperparameters& keys, std::vector<std::string>& notes) {
  constexpr const char* key = "attention.sliding_window";
  const gguf_window_traits& traits = shape.architecture->windows;
  shape.windowed.assign(shape.layers, false);
  const std::optional<std::uint64_t> given = keys.number(key);
  const bool some = given && *given != 0;
  switch (traits.rule) {
    case gguf_windows::none:
      if (some && shape.architecture->layers != gguf_layers::encoder) {
        notes.push_back(keys.full(key) + ": not looked at, " + shape.architecture->name +
                        " models keep every token");
      }
      return;
    case gguf_windows::required:
      if (traits.layers_with != 0 && traits.layers_with != shape.layers) return;
      if (!given && traits.window == 0) (void)keys.required(key);
      if (given && !some) return;
      shape.window = given ? *given : traits.window;
      if (!given)
        notes.push_back(keys.full(key) + " is absent: assumed to be " + std::to_string(traits.window));
      return read_window_pattern(shape, keys);
    case gguf_windows::optional:
      if (!some) return;
      shape.window = *given;
      return read_window_pattern(shape, keys);
    case gguf_windows::chunked:
      if (given && !some) return;
      shape.window = traits.window;
      return read_window_pattern(shape, keys);
    case gguf_windows::every_layer:
      if (!some) return;
      shape.window = *given;
      shape.windowed.assign(shape.layers, true);
      notes.push_back(keys.full(key) + ": every layer keeps " + std::to_string(*given) +
                      " tokens; llama.cpp itself ignores it and keeps all");
      return;
    case gguf_windows::compressed:
      shape.window = keys.required(key);
      shape.windowed.assign(shape.layers, true);
      return;
  }
}

inline void read_recurrent_layers(gguf_shape& shape, const hyperparameters& keys) {
  shape.recurrent.assign(shape.layers, false);
  switch (shape.architecture->layers) {
    case gguf_layers::attention:
    case gguf_layers::encoder:
    case gguf_layers::encoder_decoder: return;
    case gguf_layers::recurrent:
    case gguf_layers::both: shape.recurrent.assign(shape.layers, true); return;
    case gguf_layers::no_kv_heads:
      for (std::uint32_t i = 0; i < shape.layers; ++i) shape.recurrent[i] = shape.kv_heads[i] == 0;
      return;
    case gguf_layers::no_kv_heads_no_ffn:
      for (std::uint32_t i = 0; i < shape.layers; ++i) {
        shape.recurrent[i] = shape.kv_heads[i] == 0 && shape.feed_forward[i] == 0;
      }
      return;
    case gguf_layers::interval: {
      if (const auto flags = keys.per_layer("attention.recurrent_layers", shape.layers)) {
        for (std::uint32_t i = 0; i < shape.layers; ++i) shape.recurrent[i] = (*flags)[i] != 0;
        return;
      }
      const std::uint32_t interval = keys.size_or("full_attention_interval", shape.architecture->interval);
      for (std::uint32_t i = 0; i < shape.layers; ++i) shape.recurrent[i] = (i + 1) % interval != 0;
      return;
    }
  }
}

[[nodiscard]] inline gguf_shape read_shape(const gguf_architecture& architecture, const hyperparameters& keys,
                                           const gguf_file& file, std::vector<std::string>& notes) {
  gguf_shape shape;
  shape.architecture = &architecture;
  shape.hidden_size = keys.size("embedding_length");
  shape.context_length = keys.number("context_length").value_or(0);
  read_layers(shape, keys, file);
  read_heads(shape, keys);
  shape.feed_forward = keys.per_layer("feed_forward_length", shape.layers)
                           .value_or(std::vector<std::uint64_t>(shape.layers, 0));
  read_windows(shape, keys, notes);
  read_recurrent_layers(shape, keys);
  shape.layers_with_cache = shape.layers;
  const std::uint64_t shared = keys.number("attention.shared_kv_layers").value_or(0);
  if (shared >= shape.layers) {
    keys.refuse("attention.shared_kv_layers",
                std::to_string(shared) + " of only " + std::to_string(shape.layers) + " layers");
  }
  if (architecture.layers_with_cache != 0) {
    shape.layers_with_cache = std::min(shape.layers, architecture.layers_with_cache);
  } else {
    shape.layers_with_cache = shape.layers - static_cast<std::uint32_t>(shared);
  }
  if (const auto experts = keys.number("expert_count"); experts && *experts != 0) {
    shape.experts = keys.as_size("expert_count", *experts);
    shape.experts_used = keys.size("expert_used_count");
  }
  return shape;
}

}  // namespace kvbudget::inline v0::detail
