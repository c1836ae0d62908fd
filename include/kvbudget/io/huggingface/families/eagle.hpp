#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/family.hpp"

/// EAGLE draft models, which call themselves llama: few layers that read the hidden states of a target model
/// and share its embedding. They are told apart by the class that `architectures` names. Those in the format
/// of the library speculators hold the target's embedding themselves. Source: SafeAILab/EAGLE
/// eagle/model/cnets1.py (EAGLE), cnets.py (EAGLE-3); vllm-project/vllm
/// vllm/model_executor/models/llama_eagle.py, llama_eagle3.py; vllm-project/speculators
/// src/speculators/models/eagle3/core.py.
namespace kvbudget::inline v0::detail {

/// The class of EAGLE-3 models in the format of speculators.
inline constexpr const char* eagle3_speculator = "Eagle3Speculator";

enum class eagle_version : std::uint8_t { none, first, third };

[[nodiscard]] inline eagle_version eagle_of(const config_view& config) {
  const auto classes = config.find({{"architectures"}});
  if (!classes || !classes->value().is_array() || classes->size() == 0) return eagle_version::none;
  const json_field name = classes->at(std::size_t{0});
  if (!name.value().is_string()) return eagle_version::none;
  if (name.text().find("Eagle3") != std::string::npos) return eagle_version::third;
  return name.text().find("Eagle") != std::string::npos ? eagle_version::first : eagle_version::none;
}

[[nodiscard]] inline bool is_eagle(const config_view& config) {
  return eagle_of(config) != eagle_version::none;
}

/// EAGLE also shares the target's head and ends without a norm; EAGLE-3 has a head over `draft_vocab_size`.
inline void adjust_eagle(const config_view& config, decoder_shape& shape) {
  const eagle_version version = eagle_of(config);
  if (version == eagle_version::none) return;
  shape.has_embedding = config.field().at("architectures").at(std::size_t{0}).text() == eagle3_speculator;
  if (!shape.has_embedding) {
    config.note("a draft model (EAGLE): it reads the embedding of its target, which is not counted here");
  }
  if (version == eagle_version::first) {
    shape.has_head = false;
    shape.final_norm = false;
  } else if (config.find({{"draft_vocab_size"}})) {
    const std::uint32_t target_rows = shape.vocab_size;
    shape.vocab_size = config.size({{"draft_vocab_size"}});
    if (!shape.has_embedding) return;
    if (shape.vocab_size > target_rows) config.refuse("draft_vocab_size is more than vocab_size");
    shape.further_embedding_rows = target_rows - shape.vocab_size;
    config.note(
        "the tables between the vocabularies of draft and target are not counted (8 bytes and 1 "
        "byte per row)");
  }
}

/// The variant of EAGLE-3's first layer, which reads an embedding beside each hidden state.
inline constexpr std::uint32_t eagle3_variant = 3;

/// EAGLE's first layer has no norm before its attention; EAGLE-3's norms both of its inputs.
inline void plan_eagle(const config_view& config, const decoder_shape&, std::vector<layer_plan>& layers) {
  const eagle_version version = eagle_of(config);
  if (version == eagle_version::first) layers.front().norms = 1;
  if (version != eagle_version::third) return;
  layers.front().norms = 3;
  layers.front().variant = eagle3_variant;
}

/// The columns of the first layer's projections that read the embedding.
inline void finish_eagle_layer(const decoder_shape& shape, const layer_plan& plan, layer_draft& layer) {
  using namespace weight_groups;
  if (plan.variant != eagle3_variant) return;
  const attention_shape& attention = plan.attention;
  put(layer,
      by_rows(module_role::attention, std::uint64_t{attention.heads} * attention.key_dim, shape.hidden_size,
              attention.heads),
      "self_attn.q_proj");
  put(layer, kv_projection(attention.kv_heads, attention.key_dim, shape.hidden_size),
      "self_attn.k_proj|self_attn.v_proj");
}

/// The projection of what the draft reads: a hidden state and an embedding, or three hidden states of the
/// target.
inline void finish_eagle(const config_view& config, const decoder_shape& shape,
                         const std::vector<layer_plan>&, model_builder& builder) {
  using namespace weight_groups;
  const eagle_version version = eagle_of(config);
  const std::uint32_t hidden = shape.hidden_size;
  if (version == eagle_version::first) {
    builder.add(whole(module_role::mlp, hidden, size_product(config, "hidden_size", hidden, 2)), "fc");
    if (config.flag({"bias", true})) builder.add(vectors(module_role::mlp, hidden));
  } else if (version == eagle_version::third) {
    const bool apart = config.find({{"target_hidden_size"}}).has_value();
    const std::uint32_t target = apart ? config.size({{"target_hidden_size"}}) : hidden;
    const std::uint32_t read = size_product(config, "target_hidden_size", target, 3);
    builder.add(whole(module_role::mlp, hidden, read), "fc");
    if (config.flag({"norm_before_fc", false})) builder.add(vectors(module_role::norm, read));
  }
}

}  // namespace kvbudget::inline v0::detail
