#pragma once

#include <cstdint>
#include <string>

#include "kvbudget/io/huggingface/config_view.hpp"
#include "kvbudget/io/huggingface/model_builder.hpp"

namespace kvbudget::inline v0::detail {

/// A SigLIP tower without pooling head, and Gemma-3's projector into a text model of `text_hidden`.
///
/// Elements: patches 3·p²·h + h, positions (image / p)²·h, each layer 4·(h² + h) + 2·h·I + I + h + 4·h, final
/// norm 2·h; projector h × text_hidden and a norm of h. 416,866,032 + 1152 × text_hidden + 1152 for the
/// published size. Source: huggingface/transformers models/siglip/modeling_siglip.py and
/// models/gemma3/modeling_gemma3.py (Gemma3MultiModalProjector).
inline void add_siglip_gemma3(const config_view& root, const decoder_shape& text, model_builder& model) {
  using namespace weight_groups;
  constexpr module_role role = module_role::vision;
  const std::uint32_t text_hidden = text.hidden_size;
  const std::optional<json_field> described = root.find({{"vision_config"}});
  if (!described) return root.note("vision_config is absent: only the text model is counted");
  const config_view vision = root.nested(*described);
  if (const auto type = vision.find({{"model_type"}}); type && type->text() != "siglip_vision_model") {
    type->refuse("vision tower \"" + printable(type->text(), 40) +
                 "\" is not supported, expected siglip_vision_model");
  }
  if (vision.flag({"vision_use_head", true})) {
    vision.refuse("vision_use_head must be false: towers with a pooling head are not supported");
  }
  const std::uint32_t hidden = vision.size({{"hidden_size"}});
  const std::uint32_t intermediate = vision.size({{"intermediate_size"}});
  const std::uint32_t layers = vision.size({{"num_hidden_layers"}});
  const std::uint32_t heads = vision.size({{"num_attention_heads"}});
  const std::uint32_t channels = vision.size_or({{"num_channels"}}, 3);
  const std::uint32_t image = vision.size({{"image_size"}});
  const std::uint32_t patch = vision.size({{"patch_size"}});
  if (layers > max_layers) vision.refuse("num_hidden_layers must be at most " + std::to_string(max_layers));
  if (hidden % heads != 0) {
    vision.refuse("hidden_size " + std::to_string(hidden) + " is not a multiple of num_attention_heads " +
                  std::to_string(heads));
  }
  const std::uint64_t patch_elements = checked_mul(checked_mul(patch, patch), channels);
  if (image < patch || patch_elements > UINT32_MAX) {
    vision.refuse("patch_size " + std::to_string(patch) + " does not fit image_size " +
                  std::to_string(image));
  }
  const std::uint64_t side = image / patch;

  model.add({.rows = hidden,
             .columns = static_cast<std::uint32_t>(patch_elements),
             .role = role,
             .kind = tensor_kind::convolution});
  model.add({.rows = side * side,
             .columns = hidden,
             .role = role,
             .kind = tensor_kind::table,
             .rule = shard_rule::vocabulary});
  model.add(by_rows(role, hidden, hidden, heads, 3 * layers));
  model.add(by_columns(role, hidden, hidden, heads, layers));
  model.add(by_rows(role, intermediate, hidden, intermediate, layers));
  model.add(by_columns(role, hidden, intermediate, intermediate, layers));
  model.add(split_bias(role, hidden, heads, shard_rule::tensor, 3 * layers));
  model.add(split_bias(role, intermediate, intermediate, shard_rule::tensor, layers));
  const std::uint32_t vectors_per_layer = 2 + 2 * 2;  // biases of the two outputs; two norms with bias
  const std::uint32_t others = 1 + 2 + 1;  // bias of the patches; final norm; norm of the projector
  model.add(vectors(role, hidden, vectors_per_layer * layers + others));
  model.add(whole(role, text_hidden, hidden));
}

}  // namespace kvbudget::inline v0::detail
