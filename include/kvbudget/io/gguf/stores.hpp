#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kvbudget/io/gguf/hyperparameters.hpp"
#include "kvbudget/model/store.hpp"

/// What each layer of a GGUF model keeps: the mathematics of its cache, not what an engine allocates for it.
namespace kvbudget::inline v0::detail {

/// Both keys present: the cache is the latent. Files from before they existed keep expanded keys and values.
/// Source: ggml-org/llama.cpp, src/llama-hparams.cpp, is_mla; src/models/deepseek2.cpp.
[[nodiscard]] inline bool is_latent(const hyperparameters& keys) {
  return keys.number("attention.key_length_mla").value_or(0) != 0 &&
         keys.number("attention.value_length_mla").value_or(0) != 0;
}

/// Rotary elements beside a latent: `attention.key_length` is the width of the cached row, latent and rotary
/// part together, where it is wider than the latent; else `rope.dimension_count`.
[[nodiscard]] inline std::uint32_t rotary_part(const gguf_shape& shape, const hyperparameters& keys,
                                               std::uint32_t rank) {
  const bool given = keys.find("attention.key_length") != nullptr;
  return given && shape.key_length > rank ? shape.key_length - rank : keys.dimension("rope.dimension_count");
}

/// The sizes of a state space.
struct state_sizes {
  std::uint32_t inner = 0;
  std::uint32_t state = 0;
  std::uint32_t kernel = 0;
};
[[nodiscard]] inline state_sizes state_sizes_of(const hyperparameters& keys) {
  state_sizes sizes;
  sizes.inner = keys.dimension("ssm.inner_size");
  sizes.state = keys.dimension("ssm.state_size");
  sizes.kernel = keys.dimension("ssm.conv_kernel");
  return sizes;
}

/// The inner size of one of `heads` heads, which must share it evenly.
[[nodiscard]] inline std::uint32_t per_head(const hyperparameters& keys, std::uint32_t inner,
                                            std::uint32_t heads) {
  if (inner % heads != 0) {
    keys.refuse("ssm.inner_size",
                std::to_string(inner) + " is not a multiple of ssm.time_step_rank " + std::to_string(heads));
  }
  return inner / heads;
}

/// RWKV shifts `token_shift_count` tokens (2 in its own layers: one for time mixing, one for channel mixing;
/// 1 where the channel mixing is an ordinary MLP). Source: ggml-org/llama.cpp, src/llama-hparams.cpp,
/// n_embd_r.
[[nodiscard]] inline store rwkv_state(const gguf_shape& shape, const hyperparameters& keys) {
  const std::uint32_t head_size = keys.dimension("wkv.head_size");
  if (shape.hidden_size % head_size != 0) {
    keys.refuse("wkv.head_size", std::to_string(head_size) + " does not divide embedding_length " +
                                     std::to_string(shape.hidden_size));
  }
  store result = stores::rwkv(shape.hidden_size, head_size);
  const std::uint32_t shifts = keys.dimension_or("token_shift_count", 2);
  if (shifts > 2 || shape.hidden_size * std::uint64_t{shifts} % 2 != 0) {
    keys.refuse("token_shift_count",
                std::to_string(shifts) + " shifted tokens are not supported, expected 1 or 2");
  }
  result.inner_size =
      shifts == 2 ? shape.hidden_size : shape.hidden_size / 2;  // the store counts two of them
  return result;
}

/// The recurrent state of a layer. Source: ggml-org/llama.cpp, src/llama-hparams.cpp (n_embd_r, n_embd_s).
[[nodiscard]] inline store state_of_layer(const gguf_shape& shape, const hyperparameters& keys,
                                          std::uint32_t layer) {
  const auto heads = static_cast<std::uint32_t>(shape.heads[layer]);
  switch (shape.architecture->state) {
    case gguf_state::none: break;
    case gguf_state::mamba1: {
      const state_sizes sizes = state_sizes_of(keys);
      return stores::mamba1(sizes.inner, sizes.state, sizes.kernel);
    }
    case gguf_state::mamba2: {
      const state_sizes sizes = state_sizes_of(keys);
      const std::uint32_t state_heads = keys.dimension("ssm.time_step_rank");
      std::uint32_t groups = 0;  // PLaMo-2 convolves no groups
      if (keys.number("ssm.group_count").value_or(0) != 0) groups = keys.dimension("ssm.group_count");
      return stores::mamba2(state_heads, per_head(keys, sizes.inner, state_heads), sizes.state, groups,
                            sizes.kernel);
    }
    case gguf_state::gated_delta_net: {
      const state_sizes sizes = state_sizes_of(keys);
      const std::uint32_t value_heads = keys.dimension("ssm.time_step_rank");
      return stores::gated_delta_net(value_heads, per_head(keys, sizes.inner, value_heads),
                                     keys.dimension("ssm.group_count"), sizes.state, sizes.kernel);
    }
    case gguf_state::kimi_delta: {
      if (heads == 0)
        keys.refuse("attention.head_count", "must be at least 1 in every layer with a delta state");
      const std::uint32_t head_dim = keys.dimension("kda.head_dim");
      return stores::kimi_delta(heads, head_dim, keys.dimension("ssm.conv_kernel"));
    }
    case gguf_state::linear_attention:
      if (heads == 0)
        keys.refuse("attention.head_count", "must be at least 1 in every layer with linear attention");
      return stores::linear_attention(heads, shape.key_length);
    case gguf_state::short_convolution:
      return stores::short_convolution(shape.hidden_size, keys.dimension("shortconv.l_cache"));
    case gguf_state::rwkv: return rwkv_state(shape, keys);
  }
  return {};
}

/// Whether a layer has an index key. GLM-5.2 and later give `attention.indexer.types`; without it, models
/// trained for less than 2^20 tokens index every layer, the others the first three and then every fourth.
/// Source: ggml-org/llama.cpp, src/models/glm-dsa.cpp, load_arch_hparams.
[[nodiscard]] inline std::vector<bool> indexed_layers(const gguf_shape& shape, const hyperparameters& keys) {
  std::vector<bool> result(shape.layers, false);
  switch (shape.architecture->indexer) {
    case gguf_indexer::none: break;
    case gguf_indexer::every_layer: result.assign(shape.layers, true); break;
    case gguf_indexer::after_leading_dense: {
      const std::uint64_t dense = keys.number("leading_dense_block_count").value_or(0);
      for (std::uint32_t i = 0; i < shape.layers; ++i) result[i] = i >= dense;
      break;
    }
    case gguf_indexer::listed: {
      const auto types = keys.per_layer("attention.indexer.types", shape.layers);
      const bool all = shape.context_length < (std::uint64_t{1} << 20);
      for (std::uint32_t i = 0; i < shape.layers; ++i) {
        result[i] = types ? (*types)[i] != 0 : all || i < 2 || (i - 2) % 4 == 0;
      }
      break;
    }
  }
  return result;
}

/// Builds the stores of the layers one by one.
class gguf_stores {
 public:
  gguf_stores(const gguf_shape& shape, const hyperparameters& keys, std::vector<std::string>& notes)
      : shape_(&shape), keys_(&keys), latent_(is_latent(keys)), indexed_(indexed_layers(shape, keys)) {
    if (latent_) {
      rank_ = keys.dimension("attention.kv_lora_rank");
      rope_ = rotary_part(shape, keys, rank_);
    } else if (keys.find("attention.kv_lora_rank") != nullptr && !shape.is_compressed()) {
      notes.push_back(
          keys.full("attention.key_length_mla") +
          " is absent: a file from before latents were cached, or a model that llama.cpp expands; every "
          "head's keys and values are kept");
    }
    if (shape.architecture->indexer != gguf_indexer::none)
      index_ = keys.dimension("attention.indexer.key_length");
    if (shape.is_compressed()) {
      rope_ = keys.dimension("rope.dimension_count");
      ratios_ =
          keys.per_layer("attention.compress_ratios", shape.layers).value_or(std::vector<std::uint64_t>{});
      if (ratios_.empty()) keys.refuse("attention.compress_ratios", "the key is missing");
    }
    if (shape.architecture->layers == gguf_layers::encoder_decoder) {
      if (shape.context_length == 0)
        keys.refuse("context_length", "must be there: it is the length of the encoder's text");
      notes.push_back("cross attention: the encoder's text is assumed to be as long as " +
                      keys.full("context_length"));
    }
  }

  void add_to(layer_kind& kind, std::uint32_t layer) const {
    const gguf_architecture& architecture = *shape_->architecture;
    if (shape_->recurrent[layer]) kind.add(state_of_layer(*shape_, *keys_, layer));
    if (shape_->recurrent[layer] && architecture.layers != gguf_layers::both) return;
    if (architecture.layers == gguf_layers::encoder || shape_->kv_heads[layer] == 0) return;
    if (layer >= shape_->layers_with_cache) return kind.add(stores::shared());
    kind.add(attention(layer));
    if (architecture.layers == gguf_layers::encoder_decoder) {
      store cross = attention(layer);
      cross.kind = store_kind::cross_attention;
      cross.encoder_tokens = shape_->context_length;
      kind.add(cross);
    }
  }

 private:
  [[nodiscard]] store attention(std::uint32_t layer) const {
    const std::uint32_t index = indexed_[layer] ? index_ : 0;
    if (latent_) return stores::latent(rank_, rope_, index);
    if (!ratios_.empty()) return compressed(layer);
    const bool windowed = shape_->windowed[layer];
    store result = stores::full(static_cast<std::uint32_t>(shape_->kv_heads[layer]),
                                windowed ? shape_->windowed_key_length : shape_->key_length,
                                windowed ? shape_->windowed_value_length : shape_->value_length);
    if (index != 0) result = stores::indexed(result, index);
    if (!windowed) return result;
    return shape_->architecture->windows.rule == gguf_windows::chunked
               ? stores::chunked(result, shape_->window)
               : stores::sliding_window(result, shape_->window);
  }

  /// DeepSeek-V4: entries per 4 tokens are built from overlapping chunks and have index keys.
  /// Source: ggml-org/llama.cpp, src/models/deepseek4.cpp.
  [[nodiscard]] store compressed(std::uint32_t layer) const {
    const std::uint64_t ratio = ratios_[layer];
    if (ratio != 0 && ratio != 4 && ratio != 128) {
      keys_->refuse("attention.compress_ratios",
                    std::to_string(ratio) + " is not supported, expected 0, 4 or 128");
    }
    if (rope_ > shape_->key_length) {
      keys_->refuse("rope.dimension_count", std::to_string(rope_) + " is more than attention.key_length " +
                                                std::to_string(shape_->key_length));
    }
    const bool indexed = ratio == 4;
    return stores::compressed(shape_->key_length, rope_, shape_->window, static_cast<std::uint32_t>(ratio),
                              indexed ? keys_->dimension("attention.indexer.key_length") : 0, indexed);
  }

  const gguf_shape* shape_;
  const hyperparameters* keys_;
  bool latent_;
  std::vector<bool> indexed_;
  std::uint32_t rank_ = 0;
  std::uint32_t rope_ = 0;
  std::uint32_t index_ = 0;
  std::vector<std::uint64_t> ratios_{};
};

}  // namespace kvbudget::inline v0::detail
