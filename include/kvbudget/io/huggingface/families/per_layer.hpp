#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/family.hpp"

/// Decoders whose configs give heads or MLP widths layer by layer.
namespace kvbudget::inline v0::detail {

/// A list with one entry for each layer.
[[nodiscard]] inline json_field list_for_layers(const config_view& config, const char* key,
                                                std::size_t layers) {
  const std::optional<json_field> list = config.find({{key}});
  if (!list) config.refuse_missing({{key}});
  if (list->size() != layers) {
    list->refuse("has " + std::to_string(list->size()) + " entries, expected one for each of the " +
                 std::to_string(layers) + " layers");
  }
  return *list;
}

/// A width that the config gives as a factor: positive and below 2^32.
[[nodiscard]] inline double scaled_width(const json_field& factor, double width) {
  const double scaled = factor.number() * width;
  if (!(scaled >= 1 && scaled < 4294967296.0)) factor.refuse("gives a width outside 1 to 2^32");
  return scaled;
}

/// OpenELM: query and KV heads of each layer, and MLPs of `ffn_multipliers` × `model_dim`, rounded to a
/// multiple of `ffn_dim_divisor` that is at least nine tenths of it.
/// Source: apple/OpenELM-1_1B configuration_openelm.py (make_divisible), modeling_openelm.py.
inline void plan_openelm(const config_view& config, const decoder_shape& shape,
                         std::vector<layer_plan>& layers) {
  const json_field query = list_for_layers(config, "num_query_heads", layers.size());
  const json_field kv = list_for_layers(config, "num_kv_heads", layers.size());
  const json_field factors = list_for_layers(config, "ffn_multipliers", layers.size());
  const std::uint32_t head_dim = config.size_or({{"head_dim"}}, 128);
  const std::uint32_t divisor = config.size_or({{"ffn_dim_divisor"}}, 256);
  const bool normed = config.flag({"normalize_qk_projections", true});
  const bool gated = config.flag({"ffn_with_glu", true});
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const double asked = scaled_width(factors.at(i), shape.hidden_size);
    std::uint64_t width = static_cast<std::uint64_t>(asked + divisor / 2.0) / divisor * divisor;
    width = larger<std::uint64_t>(width, divisor);
    if (static_cast<double>(width) < 0.9 * asked) width += divisor;
    layers[i].mlp = {.intermediate_size = size_product(config, "ffn_multipliers", width, 1), .gated = gated};
    layers[i].attention = {.heads = config_view::size_in(query.at(i)),
                           .kv_heads = config_view::size_in(kv.at(i)),
                           .key_dim = head_dim,
                           .value_dim = head_dim,
                           .qk_norm = normed ? query_key_norm::head_dim : query_key_norm::none};
  }
}

/// Parts of a layer that a search replaced by one matrix of H × H.
inline constexpr std::uint32_t linear_attention_variant = 1;
inline constexpr std::uint32_t linear_mlp_variant = 2;

/// Llama-Nemotron from neural architecture search: each entry of `block_configs` gives the size of the groups
/// that share a KV head and the MLP's width as a factor of 2/3 of the hidden size, rounded up to a multiple
/// of 256; either part may be missing, together with its norm, or be one matrix.
/// Source: nvidia/Llama-3_3-Nemotron-Super-49B-v1 configuration_decilm.py, modeling_decilm.py.
inline void plan_nemotron_nas(const config_view& config, const decoder_shape& shape,
                              std::vector<layer_plan>& layers) {
  const json_field blocks = list_for_layers(config, "block_configs", layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layer_plan& layer = layers[i];
    const json_field block = blocks.at(i);
    const config_view attention = config.nested(block.at("attention"));
    const config_view ffn = config.nested(block.at("ffn"));
    layer.norms = 2;
    if (attention.flag({"no_op", false})) {
      layer.attention = attention_shape{};
      --layer.norms;
    } else if (attention.flag({"replace_with_linear", false})) {
      if (layer.attention.output_bias) attention.refuse("replace_with_linear with biases is not supported");
      layer.attention = attention_shape{};
      layer.variant |= linear_attention_variant;
    } else {
      const std::uint32_t group = attention.size({{"n_heads_in_group"}});
      if (layer.attention.heads % group != 0) {
        attention.refuse("n_heads_in_group " + std::to_string(group) + " does not divide " +
                         std::to_string(layer.attention.heads) + " heads");
      }
      layer.attention.kv_heads = layer.attention.heads / group;
      if (const auto window = attention.tokens_in({{"window_length"}})) layer.attention.window = *window;
      if (const auto sinks = attention.find({{"num_sink_tokens"}})) {
        sinks->refuse("sink tokens beside a window are not supported, expected null");
      }
    }
    if (const auto experts = ffn.find({{"moe"}})) experts->refuse("experts in blocks are not supported");
    if (ffn.flag({"no_op", false})) {
      layer.mlp = mlp_shape{};
      --layer.norms;
    } else if (ffn.flag({"replace_with_linear", false})) {
      if (layer.mlp.biases) ffn.refuse("replace_with_linear with biases is not supported");
      layer.mlp = mlp_shape{};
      layer.variant |= linear_mlp_variant;
    } else if (ffn.find({{"intermediate_size"}})) {
      layer.mlp.intermediate_size = ffn.size({{"intermediate_size"}});
    } else {
      const auto factor = ffn.find({{"ffn_mult"}});
      if (!factor) ffn.refuse_missing({{"ffn_mult", "intermediate_size"}});
      (void)scaled_width(*factor, shape.hidden_size);
      const double width = std::floor(2 * factor->number() * shape.hidden_size / 3);
      layer.mlp.intermediate_size =
          size_product(config, "ffn_mult", ceil_div(static_cast<std::uint64_t>(width), 256), 256);
    }
  }
}
inline void finish_nemotron_nas(const decoder_shape& shape, const layer_plan& plan, layer_draft& layer) {
  using namespace weight_groups;
  const std::uint32_t hidden = shape.hidden_size;
  if ((plan.variant & linear_attention_variant) != 0) {
    put(layer, whole(module_role::attention, hidden, hidden), "self_attn.linear_attn");
  }
  if ((plan.variant & linear_mlp_variant) != 0) {
    put(layer, whole(module_role::mlp, hidden, hidden), "mlp.linear_mlp");
  }
}

/// DeciLM: KV heads of each layer. Engines that know only one number of KV heads repeat heads up to the
/// largest. Source: Deci/DeciLM-7B modeling_decilm.py, DeciLMAttention.
inline void plan_deci(const config_view& config, const decoder_shape&, std::vector<layer_plan>& layers) {
  const json_field kv = list_for_layers(config, "num_key_value_heads_per_layer", layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].attention.kv_heads = config_view::size_in(kv.at(i));
  }
}

inline constexpr model_family per_layer_families[] = {
    {.model_type = "openelm",
     .keys = {.hidden_size = {{"model_dim"}},
              .num_hidden_layers = {{"num_transformer_layers"}},
              .num_attention_heads = {},
              .intermediate_size = {},
              .max_position_embeddings = {{"max_context_length"}},
              .tie_word_embeddings = {{"share_input_output_layers"}}},
     .defaults = {.vocab_size = 32000, .max_position_embeddings = 2048, .tie_word_embeddings = true},
     .layer_prefix = "transformer.layers.",
     .renames = {{"self_attn.q_proj", "attn.qkv_proj"},
                 {"self_attn.k_proj", "attn.qkv_proj"},
                 {"self_attn.v_proj", "attn.qkv_proj"},
                 {"self_attn.o_proj", "attn.out_proj"},
                 {"mlp.gate_proj", "ffn.proj_1"},
                 {"mlp.up_proj", "ffn.proj_1"},
                 {"mlp.down_proj", "ffn.proj_2"},
                 {"model.embed_tokens", "transformer.token_embeddings"}},
     .plan = plan_openelm},
    {.model_type = "nemotron-nas",
     .keys = {.num_key_value_heads = {}, .intermediate_size = {}},
     .defaults = {.max_position_embeddings = 2048},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .mlp_biases = {"mlp_bias", false},
     .plan = plan_nemotron_nas,
     .finish_layer = finish_nemotron_nas},
    {.model_type = "deci",
     .keys = {.num_key_value_heads = {}},
     .defaults = {.max_position_embeddings = 4096},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .plan = plan_deci},
};

}  // namespace kvbudget::inline v0::detail
