#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/io/safetensors/stored_tensor.hpp"
#include "kvbudget/model/weight_group.hpp"

/// What the name of a tensor says. Names are those of the models' classes in Hugging Face transformers and of
/// the quantizers' own files; a name that no rule knows is `unattributed`, never dropped.
namespace kvbudget::inline v0::detail {

/// A name in its parts: `model.layers.3.mlp.up_proj.weight`.
class tensor_path {
 public:
  explicit tensor_path(std::string_view name) : name_(name) {
    for (std::size_t at = 0;;) {
      const std::size_t dot = name.find('.', at);
      parts_.push_back(name.substr(at, dot - at));
      if (dot == std::string_view::npos) break;
      at = dot + 1;
    }
  }
  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::string_view leaf() const { return parts_.back(); }
  /// The n-th part from the end, 0 = the leaf; empty beyond the start.
  [[nodiscard]] std::string_view from_end(std::size_t n) const {
    return n < parts_.size() ? parts_[parts_.size() - 1 - n] : std::string_view{};
  }
  /// Everything before the leaf, with the dot.
  [[nodiscard]] std::string_view stem() const { return name_.substr(0, name_.size() - leaf().size()); }
  [[nodiscard]] bool has(std::initializer_list<std::string_view> any) const { return first(any) != nullptr; }
  /// The name up to and with the first part that is one of these; empty if there is none.
  [[nodiscard]] std::string_view up_to(std::initializer_list<std::string_view> any) const {
    return up_to(first(any));
  }
  [[nodiscard]] bool has_start(std::initializer_list<std::string_view> any) const {
    for (const std::string_view part : parts_) {
      for (const std::string_view start : any) {
        if (part.starts_with(start)) return true;
      }
    }
    return false;
  }
  [[nodiscard]] bool has_within(std::initializer_list<std::string_view> any) const {
    for (const std::string_view part : parts_) {
      for (const std::string_view text : any) {
        if (part.find(text) != std::string_view::npos) return true;
      }
    }
    return false;
  }
  /// The first part that is a number: the layer.
  [[nodiscard]] std::optional<std::uint32_t> layer() const {
    const std::string_view* const part = layer_part();
    if (part == nullptr) return std::nullopt;
    std::uint32_t number = 0;
    for (const char c : *part) number = number * 10 + static_cast<std::uint32_t>(c - '0');
    return number;
  }
  /// The name up to and with the layer's number; empty outside of layers.
  [[nodiscard]] std::string_view up_to_layer() const { return up_to(layer_part()); }

 private:
  [[nodiscard]] const std::string_view* first(std::initializer_list<std::string_view> any) const {
    for (const std::string_view& part : parts_) {
      if (std::find(any.begin(), any.end(), part) != any.end()) return &part;
    }
    return nullptr;
  }
  [[nodiscard]] const std::string_view* layer_part() const {
    for (const std::string_view& part : parts_) {
      const bool number = part.find_first_not_of("0123456789") == std::string_view::npos;
      if (number && !part.empty() && part.size() <= 6) return &part;
    }
    return nullptr;
  }
  [[nodiscard]] std::string_view up_to(const std::string_view* part) const {
    if (part == nullptr) return {};
    return name_.substr(0, static_cast<std::size_t>(part->data() - name_.data()) + part->size());
  }
  std::string_view name_;
  std::vector<std::string_view> parts_;
};

[[nodiscard]] inline bool is_one_of(std::string_view text, std::initializer_list<std::string_view> any) {
  return std::find(any.begin(), any.end(), text) != any.end();
}

[[nodiscard]] inline bool is_vision(const tensor_path& path) {
  return path.has({"vision_tower",
                   "vision_model",
                   "vision_encoder",
                   "vision_embed_tokens",
                   "vision",
                   "visual",
                   "vit",
                   "vit_large_projector",
                   "multi_modal_projector",
                   "mm_projector",
                   "embed_vision",
                   "image_newline",
                   "patch_merge_mlp",
                   "image_embed",
                   "vision_adapter",
                   "vision_language_adapter",
                   "vision_projector",
                   "aligner",
                   "resampler",
                   "vpm",
                   "mlp1"});
}

[[nodiscard]] inline bool is_audio(const tensor_path& path) {
  return path.has({"audio_tower", "audio_model", "audio_encoder", "embed_audio", "audio_projector",
                   "audio_embed", "audio", "apm"});
}

/// Draft layers are named so, or are numbered on behind the model's own and norm the embedding (`enorm`) that
/// they join to a hidden state: `model.layers.61` of a DeepSeek-V3 of 61 layers (deepseek-ai/DeepSeek-V3,
/// README_WEIGHTS.md). A layer behind the last one that has no such norm is one that the config forgot.
[[nodiscard]] inline bool is_draft(const tensor_path& path, const std::vector<stored_tensor>& sorted,
                                   std::optional<std::uint32_t> num_hidden_layers) {
  if (path.has_start({"mtp", "nextn", "medusa", "eagle", "draft"})) return true;
  if (!num_hidden_layers || !path.has({"layers"})) return false;
  const std::optional<std::uint32_t> layer = path.layer();
  if (!layer || *layer < *num_hidden_layers) return false;
  return find_tensor(sorted, std::string(path.up_to_layer()) + ".enorm.weight") != nullptr;
}

[[nodiscard]] inline bool is_head(const tensor_path& path) {
  if (path.has({"lm_head", "embed_out", "output_layer"})) return true;
  return !path.layer() &&
         is_one_of(path.from_end(1), {"output", "head", "proj_out", "project_out", "ff_out"});
}

[[nodiscard]] inline bool is_embedding(const tensor_path& path) {
  if (path.has({"embed_tokens", "embed_tokens_per_layer", "word_embeddings", "tok_embeddings", "wte", "wpe",
                "embed_in", "embed_positions", "position_embeddings", "token_embedding"})) {
    return true;
  }
  return !path.layer() &&
         is_one_of(path.from_end(1), {"embeddings", "embedding", "embed", "emb", "shared", "project_in"});
}

/// Nemotron-H calls every layer's one module `mixer`: what is in it decides.
[[nodiscard]] inline module_role role_in_mixer(const tensor_path& path) {
  if (path.has({"q_proj", "k_proj", "v_proj", "o_proj"})) return module_role::attention;
  if (path.has({"up_proj", "down_proj"})) return module_role::mlp;
  if (path.has({"fc1_latent_proj", "fc2_latent_proj"})) return module_role::expert;
  return module_role::mixer;
}

/// The module that a tensor belongs to. `sorted` are all tensors: Kimi-Linear and MiniMax-01 call linear
/// attention `self_attn`, and only its neighbours tell.
[[nodiscard]] inline module_role role_of(const tensor_path& path, const std::vector<stored_tensor>& sorted,
                                         std::optional<std::uint32_t> num_hidden_layers) {
  if (is_vision(path)) return module_role::vision;
  if (is_audio(path)) return module_role::audio;
  if (is_draft(path, sorted, num_hidden_layers)) return module_role::draft;
  if (is_head(path)) return module_role::lm_head;
  const bool recurrent = path.has({"mamba", "linear_attn", "mixer", "ssm", "conv", "temporal_block", "att"});
  if (!recurrent && (path.has_within({"norm"}) || path.has_start({"ln_", "ln1", "ln2"}))) {
    return module_role::norm;
  }
  if (is_embedding(path)) return module_role::embedding;
  if (path.has({"shared_experts", "shared_expert", "shared_mlp"})) return module_role::shared_expert;
  if (path.has({"router", "gate", "shared_expert_gate", "e_score_correction_bias", "expert_bias"})) {
    if (!path.has({"self_attn", "attn", "attention"})) return module_role::router;
  }
  if (path.has({"experts", "local_experts", "switch_mlp", "block_sparse_moe"})) return module_role::expert;
  if (path.has({"mixer"})) return role_in_mixer(path);
  if (recurrent) return module_role::mixer;
  if (const std::string_view attention = path.up_to({"self_attn"}); !attention.empty()) {
    const std::string module(attention);
    const bool linear = find_tensor(sorted, module + ".A_log") != nullptr ||
                        find_tensor(sorted, module + ".output_gate.weight") != nullptr;
    return linear ? module_role::mixer : module_role::attention;
  }
  if (path.has_within({"attn", "att_proj", "attention", "Attention"})) return module_role::attention;
  if (path.has_within({"mlp", "feed_forward", "ffn", "fc1", "fc2", "dense_h_to_4h", "dense_4h_to_h",
                       "DenseReluDense", "ff_proj", "ff_out"})) {
    return module_role::mlp;
  }
  return module_role::unattributed;
}

/// Buffers that old checkpoints hold and engines compute: rotary frequencies, causal masks, position numbers.
[[nodiscard]] inline bool is_buffer(const tensor_path& path, const stored_tensor& tensor) {
  if (is_one_of(path.leaf(), {"inv_freq", "original_inv_freq", "masked_bias", "cos_cached", "sin_cached",
                              "position_ids", "causal_mask", "num_batches_tracked"})) {
    return true;
  }
  if (path.leaf() != "bias" || !is_one_of(path.from_end(1), {"attn", "attention", "self_attn"})) return false;
  return tensor.shape.size() >= 3 || tensor.dtype == safetensors_dtype::boolean ||
         tensor.dtype == safetensors_dtype::u8;
}

/// A leaf in the spelling of torchao's files (`_weight_qdata`) is one without the underscore.
[[nodiscard]] inline std::string_view plain_leaf(const tensor_path& path) {
  std::string_view leaf = path.leaf();
  if (leaf.starts_with('_')) leaf.remove_prefix(1);
  return leaf;
}

[[nodiscard]] inline bool is_narrow(const stored_tensor& tensor) { return bits_of(tensor.dtype) <= 8; }

/// Whether a tensor belongs to quantized weights without being one: by the names of compressed-tensors,
/// ModelOpt, GPTQ, AWQ, bitsandbytes, HQQ and torchao, or because its name is another tensor's and `_scale`.
[[nodiscard]] inline bool is_scale(const tensor_path& path, const std::vector<stored_tensor>& sorted) {
  const std::string_view leaf = plain_leaf(path);
  if (is_one_of(leaf, {"weight_scale",
                       "weight_scale_inv",
                       "weight_scale_2",
                       "weight_scales",
                       "weight_global_scale",
                       "weight_zero_point",
                       "weight_shape",
                       "weight_g_idx",
                       "weight_format",
                       "input_scale",
                       "input_global_scale",
                       "input_zero_point",
                       "output_scale",
                       "output_zero_point",
                       "activation_scale",
                       "act_scale",
                       "pre_quant_scale",
                       "q_scale",
                       "k_scale",
                       "v_scale",
                       "kv_scale",
                       "prob_scale",
                       "scales",
                       "qzeros",
                       "g_idx",
                       "absmax",
                       "quant_map",
                       "nested_absmax",
                       "nested_quant_map",
                       "SCB"})) {
    return true;
  }
  if (leaf.starts_with("bitsandbytes__")) return true;
  const std::string stem(path.stem());
  const auto beside = [&](std::string_view name) { return find_tensor(sorted, stem + std::string(name)); };
  if (is_one_of(leaf, {"scale", "zero", "biases"})) {
    const stored_tensor* weight = beside("weight");
    if (leaf == "biases") return weight != nullptr && beside("scales") != nullptr;
    return beside("W_q") != nullptr || (weight != nullptr && is_narrow(*weight));
  }
  for (const std::string_view ending :
       {"_scale", "_scales", "_scale_inv", "_scale_2", "_input_scale", "_zero_point"}) {
    if (!leaf.ends_with(ending)) continue;
    const std::string owner(leaf.substr(0, leaf.size() - ending.size()));
    for (const char* form : {"", "_blocks", "_packed", "_qdata"}) {
      if (beside(owner + form) != nullptr) return true;
    }
  }
  return false;
}

/// Whether a tensor holds several parameters in each element.
[[nodiscard]] inline bool is_packed(const tensor_path& path, const stored_tensor& tensor,
                                    const std::vector<stored_tensor>& sorted) {
  const std::string_view leaf = plain_leaf(path);
  if (is_one_of(leaf, {"qweight", "weight_packed", "W_q", "q_weight"})) return true;
  if (leaf.ends_with("_blocks") || leaf.ends_with("_packed")) {
    const std::string owner(path.name().substr(0, path.name().rfind('_')));
    for (const char* form : {"_scales", "_scale"}) {
      if (find_tensor(sorted, owner + form) != nullptr) return true;
    }
  }
  switch (tensor.dtype) {
    case safetensors_dtype::u8:
    case safetensors_dtype::u32:
      return leaf == "weight" || leaf.ends_with("_qdata") || leaf.ends_with("_proj");
    case safetensors_dtype::i32: return leaf.ends_with("_qdata");
    case safetensors_dtype::i8: {
      // DeepSeek-V4 keeps two FP4 values in an I8: one E8M0 scale for 16 of them is one for 32 values.
      const stored_tensor* scale = find_tensor(sorted, std::string(path.stem()) + "scale");
      return leaf == "weight" && scale != nullptr && scale->dtype == safetensors_dtype::f8_e8m0 &&
             scale->elements == tensor.elements / 16;
    }
    default: return false;
  }
}

/// Whether every byte holds two parameters: bitsandbytes (`weight.absmax`), or one scale for 8 or 16 bytes
/// (NVFP4 and MXFP4, which scale 16 and 32 values).
[[nodiscard]] inline bool holds_two_per_byte(const tensor_path& path, const stored_tensor& tensor,
                                             const std::vector<stored_tensor>& sorted) {
  if (bits_of(tensor.dtype) != 8) return false;
  const std::string name(path.name());
  if (find_tensor(sorted, name + ".absmax") != nullptr) return true;
  const std::string owner = name.substr(0, name.rfind('_'));
  for (const std::string& neighbour :
       {name + "_scale", owner + "_scale", owner + "_scales", std::string(path.stem()) + "scale"}) {
    const stored_tensor* scale = find_tensor(sorted, neighbour);
    if (scale == nullptr || scale->elements == 0 || tensor.elements % scale->elements != 0) continue;
    const std::uint64_t bytes_each = tensor.elements / scale->elements;
    if (bytes_each == 8 || bytes_each == 16) return true;
  }
  return false;
}

/// What a packed tensor stands for: two parameters in each byte, or what the shapes of its GPTQ or AWQ
/// neighbours (`qzeros`, `scales`; rows or columns packed in 32-bit words) say.
[[nodiscard]] inline std::optional<std::uint64_t> parameters_in(const tensor_path& path,
                                                                const stored_tensor& tensor,
                                                                const std::vector<stored_tensor>& sorted) {
  if (holds_two_per_byte(path, tensor, sorted)) {
    if (tensor.elements > UINT64_MAX / 2) return std::nullopt;
    return tensor.elements * 2;
  }
  const std::string_view leaf = plain_leaf(path);
  if (leaf != "qweight" || tensor.shape.size() != 2) return std::nullopt;
  const std::string stem(path.stem());
  const stored_tensor* zeros = find_tensor(sorted, stem + "qzeros");
  const stored_tensor* scales = find_tensor(sorted, stem + "scales");
  if (zeros == nullptr || scales == nullptr || zeros->shape.size() != 2 || scales->shape.size() != 2) {
    return std::nullopt;
  }
  const std::uint64_t outputs = scales->shape[1];
  const std::uint64_t words = zeros->shape[1];
  if (outputs == 0 || words == 0 || outputs > UINT32_MAX || words > UINT32_MAX) return std::nullopt;
  std::uint64_t inputs = tensor.shape[0];
  if (inputs > UINT32_MAX / 32) return std::nullopt;
  if (tensor.shape[1] == outputs) {  // GPTQ: inputs are packed
    const std::uint64_t bits = words * 32 / outputs;
    if (bits < 2 || bits > 8) return std::nullopt;
    inputs = inputs * 32 / bits;
  } else if (tensor.shape[1] != words) {
    return std::nullopt;
  }
  return inputs * outputs;
}

}  // namespace kvbudget::inline v0::detail
