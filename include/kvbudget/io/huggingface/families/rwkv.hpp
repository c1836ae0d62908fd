#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/family.hpp"
#include "kvbudget/io/huggingface/mixers.hpp"

/// RWKV 4 to 7: no attention, a state of two shifted tokens and what the mixer accumulates.
///
/// Sources: RWKV-4 huggingface/transformers models/rwkv/modeling_rwkv.py (before version 7 took its name);
/// RWKV-5 and 6 RWKV/rwkv-5-world-3b and RWKV/v6-Finch-1B6-HF modeling_rwkv5.py, modeling_rwkv6.py, and their
/// counts in arXiv 2404.05892 (13·D²·L + 14·D·L + 4·D + 2·D·V; 464 instead of 14); RWKV-7
/// fla-org/flash-linear-attention fla/models/rwkv7 and fla/layers/rwkv7.py.
namespace kvbudget::inline v0::detail {

/// `variant` of a plan: the version, and whether it is the first layer, which has one norm more and, in
/// version 7, no mixing of values.
inline constexpr std::uint32_t rwkv_first_layer = 16;

/// The order of RWKV-7's bottlenecks: decay, learning rate, values, gate.
inline constexpr const char* rwkv7_ranks[] = {"decay_low_rank_dim", "a_low_rank_dim", "v_low_rank_dim",
                                              "gate_low_rank_dim"};

[[nodiscard]] inline bool is_rwkv7(const config_view& config) {
  const std::string_view type = config.model_type();
  if (type != "rwkv") return type == "rwkv7";
  const auto version = config.find({{"architecture_version"}});
  return version && version->text() == "rwkv7";
}

/// RWKV-7: H / d heads; ranks that are absent have had different class defaults, so those weights stay out.
[[nodiscard]] inline mixer_shape rwkv7_in(const config_view& config, std::uint32_t hidden) {
  if (const auto hybrid = config.find({{"attn"}}))
    hybrid->refuse("attention layers are not supported, expected null");
  mixer_shape mixer;
  mixer.own_weights = true;
  const std::uint32_t head_dim = config.size_or({{"head_dim", "head_size"}}, 64);
  if (hidden % head_dim != 0) {
    config.refuse("hidden_size " + std::to_string(hidden) + " is not a multiple of head_dim " +
                  std::to_string(head_dim));
  }
  if (const auto heads = config.find({{"num_heads", "num_attention_heads"}})) {
    if (heads->integer() != hidden / head_dim) {
      heads->refuse("must be hidden_size / head_dim = " + std::to_string(hidden / head_dim));
    }
  }
  if (const auto values = config.find({{"value_dim"}})) {
    const bool list = values->value().is_array();
    const std::size_t entries = list ? values->size() : 1;
    for (std::size_t i = 0; i < entries; ++i) {
      const json_field width = list ? values->at(i) : *values;
      if (width.integer() != hidden) width.refuse("must be hidden_size " + std::to_string(hidden));
    }
  }
  mixer.kept = stores::rwkv(hidden, head_dim);
  for (std::size_t i = 0; i < 4; ++i) {
    if (config.find({{rwkv7_ranks[i]}})) mixer.ranks[i] = config.size({{rwkv7_ranks[i]}});
  }
  return mixer;
}

/// RWKV-4 keeps a numerator, a denominator and an exponent per channel of attention; 5 and 6 a matrix per
/// head.
[[nodiscard]] inline mixer_shape rwkv_in(const config_view& config, std::uint32_t hidden,
                                         std::uint32_t version) {
  mixer_shape mixer;
  mixer.own_weights = true;
  const auto given = config.find({{"attention_hidden_size", "dim_att"}});
  const std::uint32_t width = given ? config_view::size_in(*given) : hidden;
  mixer.kept.kind = store_kind::recurrent;
  mixer.kept.state = state_kind::rwkv;
  mixer.kept.inner_size = hidden;
  if (version == 4) {
    mixer.kept.state_heads = size_product(config, "attention_hidden_size", width, 3);
    mixer.kept.state_head_dim = 1;
    return mixer;
  }
  const std::uint32_t head_size = config.size_or({{"head_size", "num_attention_heads"}}, 64);
  if (width % head_size != 0) {
    config.refuse("attention_hidden_size " + std::to_string(width) + " is not a multiple of head_size " +
                  std::to_string(head_size));
  }
  mixer.kept.state_heads = width / head_size;
  mixer.kept.state_head_dim = head_size;
  if (version == 6) {  // constants of the modeling code
    mixer.ranks[0] = hidden == 4096 ? 64 : 32;
    mixer.ranks[1] = hidden == 4096 ? 128 : 64;
  }
  return mixer;
}

/// The width of the channel mixer where the config gives none: ⌊3.5·H / 32⌋·32, or 4·H.
[[nodiscard]] inline std::uint32_t rwkv_intermediate_in(const config_view& config, std::uint32_t hidden,
                                                        std::uint32_t version) {
  if (config.find({{"intermediate_size"}})) return config.size({{"intermediate_size"}});
  const std::uint64_t four = size_product(config, "hidden_size", hidden, 4);
  if (version == 5 || version == 6) {
    const std::uint64_t width = (four - hidden / 2 - hidden % 2) / 32 * 32;
    if (width == 0) config.refuse("hidden_size " + std::to_string(hidden) + " is too small");
    return static_cast<std::uint32_t>(width);
  }
  return static_cast<std::uint32_t>(four);
}

inline void plan_rwkv(const config_view& config, const decoder_shape& shape,
                      std::vector<layer_plan>& layers) {
  const std::string_view type = config.model_type();
  const std::uint32_t version = is_rwkv7(config) ? 7 : type == "rwkv5" ? 5 : type == "rwkv6" ? 6 : 4;
  if (const auto revision = config.find({{"model_version"}}); revision && version == 5) {
    if (revision->text() != "5_2") {
      revision->refuse("\"" + printable(revision->text(), 20) + "\" is not supported, expected 5_2");
    }
  }
  const std::uint32_t hidden = shape.hidden_size;
  const mixer_shape mixer = version == 7 ? rwkv7_in(config, hidden) : rwkv_in(config, hidden, version);
  const std::uint32_t intermediate = rwkv_intermediate_in(config, hidden, version);
  const bool more_norms = version != 7 || config.flag({"norm_first", true});
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layer_plan& layer = layers[i];
    layer.recurrent = mixer;
    layer.mlp = mlp_shape{};
    layer.variant = version;
    layer.recurrent.channel_mixer = intermediate;
    if (i != 0) continue;
    layer.variant |= rwkv_first_layer;
    if (more_norms) layer.norms += 1;
  }
}

/// RWKV-7's mixer: 4·H², six vectors that shift tokens, three of keys and bonus, a group norm, and four
/// projections through bottlenecks, three of them with a bias.
inline void add_rwkv7_mixer(layer_draft& layer, std::uint32_t hidden, const mixer_shape& mixer, bool first) {
  using namespace weight_groups;
  constexpr module_role role = module_role::mixer;
  const std::uint32_t heads = mixer.kept.state_heads;
  put(layer, by_rows(role, hidden, hidden, heads, 3), "attn.r_proj|attn.k_proj|attn.v_proj");
  put(layer, by_columns(role, hidden, hidden, heads), "attn.o_proj");
  put(layer, vectors(role, hidden, 6), nullptr);
  put(layer, split_bias(role, hidden, heads, shard_rule::tensor, 5), nullptr);
  constexpr const char* down[] = {"attn.w_lora.lora.0", "attn.a_lora.lora.0", "attn.v_lora.lora.0",
                                  "attn.g_lora.lora.0"};
  constexpr const char* up[] = {"attn.w_lora.lora.2", "attn.a_lora.lora.2", "attn.v_lora.lora.2",
                                "attn.g_lora.lora.2"};
  for (std::size_t i = 0; i < 4; ++i) {
    if (i == 2 && first) continue;
    if (i != 3) put(layer, split_bias(role, hidden, heads), nullptr);
    if (mixer.ranks[i] == 0) continue;
    put(layer, whole(role, mixer.ranks[i], hidden), down[i]);
    put(layer, by_rows(role, hidden, mixer.ranks[i], heads), up[i]);
  }
}

/// RWKV 4 to 6 (A = width of attention): (n + 1)·H·A, n = 3 or, with a gate, 4; vectors that shift tokens;
/// decay and bonus; from version 5 a group norm; in version 6, shifts and decay that depend on the token.
inline void add_rwkv_mixer(layer_draft& layer, std::uint32_t hidden, const mixer_shape& mixer,
                           std::uint32_t version) {
  using namespace weight_groups;
  constexpr module_role role = module_role::mixer;
  const store& kept = mixer.kept;
  const std::uint32_t heads = version == 4 ? kept.state_heads / 3 : kept.state_heads;
  const std::uint32_t width = heads * kept.state_head_dim;
  if (version == 4) {
    put(layer, by_rows(role, width, hidden, heads, 3), "attention.receptance|attention.key|attention.value");
  } else {
    put(layer, by_rows(role, width, hidden, heads, 4),
        "attention.receptance|attention.key|attention.value|attention.gate");
    put(layer, split_bias(module_role::norm, width, heads, shard_rule::tensor, 2), nullptr);
  }
  put(layer, by_columns(role, hidden, width, heads), "attention.output");
  put(layer, vectors(role, hidden, version == 6 ? 6 : version - 1), nullptr);
  put(layer, split_bias(role, width, heads, shard_rule::tensor, 2), nullptr);
  if (version != 6) return;
  put(layer, vectors(role, std::uint64_t{hidden} * mixer.ranks[0], 2 * 5), nullptr);
  put(layer, vectors(role, (std::uint64_t{hidden} + width) * mixer.ranks[1]), nullptr);
}

/// The channel mixer: H·I + I·H and one shifting vector; up to version 6 a receptance of H² and another
/// vector.
inline void finish_rwkv_layer(const decoder_shape& shape, const layer_plan& plan, layer_draft& layer) {
  using namespace weight_groups;
  constexpr module_role role = module_role::mlp;
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t wide = plan.recurrent.channel_mixer;
  const std::uint32_t version = plan.variant & 15;
  const bool seventh = version == 7;
  if (seventh) {
    add_rwkv7_mixer(layer, hidden, plan.recurrent, (plan.variant & rwkv_first_layer) != 0);
  } else {
    add_rwkv_mixer(layer, hidden, plan.recurrent, version);
    put(layer, by_rows(role, hidden, hidden, hidden), "feed_forward.receptance");
  }
  layer.intermediate_size = wide;
  put(layer, by_rows(role, wide, hidden, wide), seventh ? "ffn.key" : "feed_forward.key");
  put(layer, by_columns(role, hidden, wide, wide), seventh ? "ffn.value" : "feed_forward.value");
  put(layer, vectors(role, hidden, seventh ? 1 : 2), nullptr);
}

inline void finish_rwkv(const config_view& config, const decoder_shape&,
                        const std::vector<layer_plan>& layers, model_builder& builder) {
  if ((layers.front().variant & 15) != 7) return;
  for (std::size_t i = 0; i < 4; ++i) {
    if (layers.front().recurrent.ranks[i] != 0) continue;
    builder.model().parameters_assumed = true;
    config.doubt(
        std::string(rwkv7_ranks[i]) +
        " is absent and its class default has changed: the weights of that bottleneck are not counted");
  }
}

inline constexpr family_keys rwkv_keys{
    .num_attention_heads = {},
    .num_key_value_heads = {},
    .head_dim = {},
    .intermediate_size = {},
    .max_position_embeddings = {{"context_length", "max_position_embeddings"}}};

[[nodiscard]] constexpr model_family rwkv_family(const char* model_type) {
  return {.model_type = model_type,
          .keys = rwkv_keys,
          .norm_biases = always,
          .layer_prefix = "rwkv.blocks.",
          .renames = {{"model.embed_tokens", "rwkv.embeddings"}, {"lm_head", "head"}},
          .plan = plan_rwkv,
          .finish_layer = finish_rwkv_layer,
          .finish_model = finish_rwkv};
}

inline constexpr model_family rwkv_families[] = {
    rwkv_family("rwkv"),
    rwkv_family("rwkv5"),
    rwkv_family("rwkv6"),
    {.model_type = "rwkv7",
     .keys = rwkv_keys,
     .norm_biases = {"norm_bias", true},
     .renames = {{"model.embed_tokens", "model.embeddings"}},
     .plan = plan_rwkv,
     .finish_layer = finish_rwkv_layer,
     .finish_model = finish_rwkv},
};

}  // namespace kvbudget::inline v0::detail
