#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kvbudget/io/huggingface/config_view.hpp"
#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/family.hpp"
#include "kvbudget/io/huggingface/model_builder.hpp"

/// What towers beside the text model (vision, audio) have in common.
namespace kvbudget::inline v0::detail {

/// A transformer encoder: each layer an attention, an MLP and norms.
struct tower_shape {
  std::uint32_t hidden_size = 0;
  std::uint32_t intermediate_size = 0;
  std::uint32_t layers = 0;
  std::uint32_t heads = 0;
  std::uint32_t head_dim = 0;  ///< 0 = hidden / heads, which must divide
  std::uint32_t kv_heads = 0;  ///< 0 = as many as query heads
  bool qkv_biases = true;
  bool key_bias = true;  ///< where the others have one
  bool output_bias = true;
  bool gated_mlp = false;
  bool mlp_biases = true;
  std::uint32_t vectors_per_norm = 2;  ///< 1 = norms without bias
  std::uint32_t norms_per_layer = 2;
  std::uint32_t scales_per_layer = 0;  ///< further vectors of the hidden size
};

/// How a checkpoint names the matrices of the encoder's first layer.
struct encoder_modules {
  const char* qkv = nullptr;
  const char* output = nullptr;
  const char* mlp_in = nullptr;
  const char* mlp_out = nullptr;
};

/// A side in pixels: one number, or two equal ones.
[[nodiscard]] inline std::uint32_t side_in(const config_view& config, const key_names& key,
                                           std::uint32_t class_default) {
  const std::optional<json_field> given = config.find(key);
  if (!given || !given->value().is_array()) return config.size_or(key, class_default);
  if (given->size() != 2) given->refuse("must be one number or two, not " + std::to_string(given->size()));
  const std::uint32_t height = config_view::size_in(given->at(std::size_t{0}));
  if (config_view::size_in(given->at(std::size_t{1})) != height)
    given->refuse("is not square: only square ones are supported");
  return height;
}

/// A side of an image in patches: image / patch, rounded down.
[[nodiscard]] inline std::uint32_t patches_per_side(const config_view& config, std::uint32_t image,
                                                    std::uint32_t patch) {
  if (image < patch) {
    config.refuse("patch_size " + std::to_string(patch) + " does not fit image_size " +
                  std::to_string(image));
  }
  return image / patch;
}

/// Tokens of a square of `side` × `side`, at most 2^32 − 1.
[[nodiscard]] inline std::uint32_t squared(const config_view& config, const char* what, std::uint32_t side) {
  return size_product(config, what, side, side);
}

/// Layers of a tower, at most `max_layers`.
[[nodiscard]] inline std::uint32_t tower_layers_in(const config_view& config, const key_names& key,
                                                   std::uint32_t class_default = 0) {
  return layers_in(config, key, class_default);
}

/// Adds the weights of one tower. Matrices that 8 ranks cannot share evenly are counted as if padded:
/// engines pad or repeat them.
class tower {
 public:
  tower(const config_view& config, model_builder& builder, module_role role)
      : config_(config), builder_(builder), role_(role) {}

  [[nodiscard]] const config_view& config() const { return config_; }
  [[nodiscard]] model_builder& builder() const { return builder_; }

  /// Out × in, split by outputs, and its bias.
  void wide(std::uint32_t out, std::uint32_t in, bool bias, const std::string& modules,
            std::uint32_t copies = 1, std::uint32_t units = 0) const {
    if (units == 0) units = out;
    add(evened(weight_groups::by_rows(role_, out, in, units, copies)), modules);
    if (bias) split_bias(out, copies, units);
  }
  /// The bias of matrices that are split by outputs.
  void split_bias(std::uint32_t out, std::uint32_t copies, std::uint32_t units) const {
    add(evened(weight_groups::split_bias(role_, out, units, shard_rule::tensor, copies)), "");
  }
  /// Out × in, split by inputs, and its bias.
  void narrow(std::uint32_t out, std::uint32_t in, bool bias, const std::string& modules,
              std::uint32_t copies = 1, std::uint32_t units = 0) const {
    if (units == 0) units = in;
    add(evened(weight_groups::by_columns(role_, out, in, units, copies)), modules);
    if (bias) vectors(out, copies);
  }
  /// Out × in on every rank, and its bias.
  void whole(std::uint32_t out, std::uint32_t in, bool bias, const std::string& modules,
             std::uint32_t copies = 1) const {
    add(weight_groups::whole(role_, out, in, copies), modules);
    if (bias) vectors(out, copies);
  }
  void vectors(std::uint64_t length, std::uint32_t count = 1) const {
    if (count != 0) add(weight_groups::vectors(role_, length, count), "");
  }
  /// Filters of a convolution: out × (in · kernel).
  void convolution(std::uint32_t out, std::uint32_t in, bool bias, std::uint32_t copies = 1) const {
    add({.rows = out, .columns = in, .copies = copies, .role = role_, .kind = tensor_kind::convolution}, "");
    if (bias) vectors(out, copies);
  }
  void table(std::uint64_t rows, std::uint32_t columns, shard_rule rule = shard_rule::replicated) const {
    add({.rows = rows, .columns = columns, .role = role_, .kind = tensor_kind::table, .rule = rule}, "");
  }
  /// Weights that are known only as a total.
  void assumed(std::uint64_t elements) const {
    add({.rows = elements, .role = role_, .rule = shard_rule::spread}, "");
    builder_.model().parameters_assumed = true;
  }

  /// Each layer: queries, keys, values and output of heads × head_dim, an MLP and norms. Elements of the
  /// usual one: 4·(h² + h) + 2·h·I + I + h + 4·h.
  void encoder(const tower_shape& shape, const encoder_modules& modules) const {
    const std::uint32_t hidden = shape.hidden_size;
    std::uint32_t dim = shape.head_dim;
    if (dim == 0) {
      if (hidden % shape.heads != 0) {
        config_.refuse("hidden_size " + std::to_string(hidden) + " is not a multiple of " +
                       std::to_string(shape.heads) + " heads");
      }
      dim = hidden / shape.heads;
    }
    const std::uint32_t kv_heads = shape.kv_heads == 0 ? shape.heads : shape.kv_heads;
    const std::uint32_t width = size_product(config_, "heads x head_dim", shape.heads, dim);
    const std::uint32_t kv_width = size_product(config_, "KV heads x head_dim", kv_heads, dim);
    const std::uint32_t layers = shape.layers;
    if (kv_heads == shape.heads) {
      wide(width, hidden, false, modules.qkv, 3 * layers, shape.heads);
    } else {
      wide(width, hidden, false, modules.qkv, layers, shape.heads);
      wide(kv_width, hidden, false, modules.qkv, 2 * layers, kv_heads);
    }
    if (shape.qkv_biases) {
      split_bias(width, layers, shape.heads);
      split_bias(kv_width, (shape.key_bias ? 2 : 1) * layers, kv_heads);
    }
    narrow(hidden, width, false, modules.output, layers, shape.heads);
    const std::uint32_t inner = shape.gated_mlp ? 2 : 1;
    wide(shape.intermediate_size, hidden, shape.mlp_biases, modules.mlp_in, inner * layers);
    narrow(hidden, shape.intermediate_size, false, modules.mlp_out, layers);
    vectors(hidden, layers * (shape.vectors_per_norm * shape.norms_per_layer + shape.scales_per_layer +
                              (shape.output_bias ? 1 : 0) + (shape.mlp_biases ? 1 : 0)));
  }

 private:
  static weight_group evened(weight_group group) {
    if (group.units % 8 != 0) {
      group.rule = shard_rule::vocabulary;
      group.axis = shard_axis::rows;
      group.units = 1;
    }
    return group;
  }
  void add(const weight_group& group, const std::string& modules) const {
    builder_.add(group, modules.empty() ? nullptr : modules.c_str());
  }

  const config_view& config_;
  model_builder& builder_;
  module_role role_;
};

/// Two linear layers with biases: from `in` to `out`, then `out` to `out`.
inline void add_two_layer_projector(const tower& vision, std::uint32_t in, std::uint32_t out, bool bias,
                                    const char* first, const char* second) {
  vision.wide(out, in, bias, first);
  vision.narrow(out, out, bias, second);
}

/// The description of a tower, or none, said in a note. A config whose text model stands at the top has none
/// by nature.
[[nodiscard]] inline std::optional<json_field> tower_described(const config_view& root, const char* key) {
  std::optional<json_field> described = root.find({{key}});
  if (described) {
    described->as_object();
  } else {
    constexpr const char* rest = ": only the rest of the model is counted";
    if (root.is_null({{key}})) {
      root.note(std::string(key) + " is null" + rest);
    } else {
      root.doubt(std::string(key) + " is absent" + rest);
    }
  }
  return described;
}

/// A tower that cannot be counted: the text model is certain all the same.
inline void note_uncounted_tower(const config_view& config, model_builder& builder, const std::string& what) {
  builder.model().parameters_assumed = true;
  config.doubt(what +
               ": its weights are not counted, only those of the text model (the size of the files of "
               "weights, given for the weights, includes it)");
}

}  // namespace kvbudget::inline v0::detail
