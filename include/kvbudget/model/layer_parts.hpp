#pragma once

#include <cstdint>

#include "kvbudget/model/model_architecture.hpp"

/// The weights of the usual parts of a decoder layer, for the templated builders and for the readers of
/// config files alike. `put` also names the modules a group comes from, which matters to readers of quantized
/// checkpoints. Nothing here checks its arguments; `add_layers` does.
namespace kvbudget::inline v0::detail {

constexpr void put(layer_kind& layer, const weight_group& group, const char* /*modules*/) {
  layer.add(group);
}

/// Grouped-query attention: query, key, value and output projections, (2 x heads + 2 x KV heads) x head_dim x
/// hidden elements in all where keys and values are as wide as each other.
struct attention_sizes {
  std::uint32_t query_heads = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t key_dim = 0;
  std::uint32_t value_dim = 0;
  bool gated_output = false;  ///< queries carry a gate of the same width
  bool keys = true;           ///< has a key projection
  bool values = true;         ///< has a value projection
};

template <class Layer>
constexpr void add_attention_weights(Layer& layer, std::uint32_t hidden, const attention_sizes& sizes) {
  constexpr module_role role = module_role::attention;
  layer.num_attention_heads = sizes.query_heads;
  layer.query_dim = sizes.key_dim;
  layer.value_dim = sizes.value_dim;
  layer.key_value_heads = sizes.kv_heads;
  const std::uint64_t query_width =
      std::uint64_t{sizes.query_heads} * sizes.key_dim * (sizes.gated_output ? 2 : 1);
  put(layer, weight_groups::by_rows(role, query_width, hidden, sizes.query_heads), "self_attn.q_proj");
  if (sizes.keys && sizes.values && sizes.key_dim == sizes.value_dim) {
    put(layer, weight_groups::kv_projection(sizes.kv_heads, sizes.key_dim, hidden),
        "self_attn.k_proj|self_attn.v_proj");
  } else {
    if (sizes.keys)
      put(layer, weight_groups::kv_projection(sizes.kv_heads, sizes.key_dim, hidden, 1), "self_attn.k_proj");
    if (sizes.values)
      put(layer, weight_groups::kv_projection(sizes.kv_heads, sizes.value_dim, hidden, 1),
          "self_attn.v_proj");
  }
  put(layer, weight_groups::by_columns(role, hidden, sizes.query_heads * sizes.value_dim, sizes.query_heads),
      "self_attn.o_proj");
}

/// Multi-head latent attention (DeepSeek): queries of nope + rope per head, through a latent of `q_lora_rank`
/// unless that is 0; a latent and a rotary key made from the hidden state; keys and values made from the
/// latent. Elements: H·r_q + r_q + r_q·n·(d_nope + d_rope), or H·n·(d_nope + d_rope); H·(r_kv + d_rope) +
/// r_kv + r_kv·n·(d_nope + d_v); n·d_v·H.
struct latent_attention_sizes {
  std::uint32_t heads = 0;
  std::uint32_t q_lora_rank = 0;
  std::uint32_t kv_lora_rank = 0;
  std::uint32_t qk_rope_head_dim = 0;
  std::uint32_t qk_nope_head_dim = 0;
  std::uint32_t v_head_dim = 0;
  friend constexpr bool operator==(const latent_attention_sizes&, const latent_attention_sizes&) = default;
};

template <class Layer>
constexpr void add_latent_attention_weights(Layer& layer, std::uint32_t hidden,
                                            const latent_attention_sizes& sizes) {
  using namespace weight_groups;
  constexpr module_role role = module_role::attention;
  const std::uint32_t query_dim = sizes.qk_nope_head_dim + sizes.qk_rope_head_dim;
  const std::uint64_t query_width = std::uint64_t{sizes.heads} * query_dim;
  layer.num_attention_heads = sizes.heads;
  layer.key_value_heads = sizes.heads;
  layer.query_dim = query_dim;
  layer.value_dim = sizes.v_head_dim;
  if (sizes.q_lora_rank > 0) {
    put(layer, whole(role, sizes.q_lora_rank, hidden), "self_attn.q_a_proj");
    put(layer, vectors(module_role::norm, sizes.q_lora_rank), nullptr);
    put(layer, by_rows(role, query_width, sizes.q_lora_rank, sizes.heads), "self_attn.q_b_proj");
  } else {
    put(layer, by_rows(role, query_width, hidden, sizes.heads), "self_attn.q_proj");
  }
  put(layer, whole(role, std::uint64_t{sizes.kv_lora_rank} + sizes.qk_rope_head_dim, hidden),
      "self_attn.kv_a_proj_with_mqa");
  put(layer, vectors(module_role::norm, sizes.kv_lora_rank), nullptr);
  const std::uint64_t expanded = std::uint64_t{sizes.qk_nope_head_dim} + sizes.v_head_dim;
  put(layer, by_rows(role, sizes.heads * expanded, sizes.kv_lora_rank, sizes.heads), "self_attn.kv_b_proj");
  put(layer, by_columns(role, hidden, sizes.heads * sizes.v_head_dim, sizes.heads), "self_attn.o_proj");
}

/// An MLP: up and down projections, and a gate projection where it is gated.
template <class Layer>
constexpr void add_mlp_weights(Layer& layer, std::uint32_t hidden, std::uint32_t intermediate, bool gated) {
  layer.intermediate_size = intermediate;
  layer.gated_mlp = gated;
  put(layer, weight_groups::by_rows(module_role::mlp, intermediate, hidden, intermediate, gated ? 2 : 1),
      gated ? "mlp.gate_proj|mlp.up_proj" : "mlp.up_proj");
  put(layer, weight_groups::by_columns(module_role::mlp, hidden, intermediate, intermediate),
      "mlp.down_proj");
}

/// The biases of every projection of the MLP that the layer already has.
template <class Layer> constexpr void add_mlp_biases(Layer& layer, std::uint32_t hidden) {
  const auto intermediate = static_cast<std::uint32_t>(layer.intermediate_size);
  put(layer,
      weight_groups::split_bias(module_role::mlp, intermediate, intermediate, shard_rule::tensor,
                                layer.gated_mlp ? 2 : 1),
      nullptr);
  put(layer, weight_groups::vectors(module_role::mlp, hidden), nullptr);
}

/// Experts with a router; shared experts that work on every token, as one MLP of their widths together.
struct mixture_sizes {
  std::uint32_t num_experts = 0;
  std::uint32_t num_experts_per_tok = 0;
  std::uint32_t intermediate = 0;         ///< of one expert
  std::uint32_t shared_intermediate = 0;  ///< of all shared experts together; 0 = none
  std::uint32_t latent_size = 0;          ///< width that experts work on, where it is not the hidden size
  std::uint32_t zero_experts = 0;         ///< choices of the router that compute nothing
  bool gated = true;
  friend constexpr bool operator==(const mixture_sizes&, const mixture_sizes&) = default;
};

template <class Layer>
constexpr void add_mixture_weights(Layer& layer, std::uint32_t hidden, const mixture_sizes& sizes) {
  using namespace weight_groups;
  const std::uint32_t width = sizes.latent_size != 0 ? sizes.latent_size : hidden;
  const std::uint32_t wide = sizes.intermediate;
  layer.num_experts = sizes.num_experts;
  layer.num_experts_per_tok = sizes.num_experts_per_tok;
  layer.moe_intermediate_size = wide;
  layer.gated_mlp = sizes.gated;
  const std::uint64_t choices = std::uint64_t{sizes.num_experts} + sizes.zero_experts;
  put(layer, whole(module_role::router, choices, hidden), "mlp.gate");
  put(layer, expert_matrices(wide, width, (sizes.gated ? 2 : 1) * sizes.num_experts, wide, shard_axis::rows),
      sizes.gated ? "mlp.experts.0.gate_proj|mlp.experts.0.up_proj" : "mlp.experts.0.up_proj");
  put(layer, expert_matrices(width, wide, sizes.num_experts, wide, shard_axis::columns),
      "mlp.experts.0.down_proj");
  if (sizes.shared_intermediate == 0) return;
  const std::uint32_t shared = sizes.shared_intermediate;
  layer.intermediate_size = shared;
  put(layer, by_rows(module_role::shared_expert, shared, hidden, shared, sizes.gated ? 2 : 1),
      sizes.gated ? "mlp.shared_experts.gate_proj|mlp.shared_experts.up_proj" : "mlp.shared_experts.up_proj");
  put(layer, by_columns(module_role::shared_expert, hidden, shared, shared), "mlp.shared_experts.down_proj");
}

/// What the weights of a recurrent mixer depend on beside the sizes of its state.
struct mixer_options {
  bool convolution_bias = false;
  bool gated_norm = true;            ///< mamba2: a norm over its inner size
  std::uint32_t time_step_rank = 0;  ///< mamba1: between the input and the time step
  friend constexpr bool operator==(const mixer_options&, const mixer_options&) = default;
};

/// A recurrent mixer: its state, and projections as the reference implementations have them. K = the kernel,
/// one column more with a bias.
/// mamba1: H·2I + I·K + I·(r + 2N) + r·I + I·(N + 2) + I·H. mamba2 (g = 2·G·N): H·(2I + g + h) + (I + g)·K +
/// 3h, + I if normed, + I·H. Gated delta net (k, v = heads × width): H·(2k + 2v + 2h) + (2k + v)·K + 2h + d_v
/// + v·H. Linear attention: H·4v + v + v·H. Short convolution: H·3I + I·K + I·H. Of other kinds, only the
/// state.
template <class Layer>
constexpr void add_mixer(Layer& layer, std::uint32_t hidden, const store& kept, mixer_options options) {
  using namespace weight_groups;
  using enum shard_rule;
  constexpr module_role role = module_role::mixer;
  const std::uint32_t inner = kept.inner_size, heads = kept.state_heads, groups = kept.state_groups;
  const std::uint32_t key_heads = kept.state_key_heads, values = heads * kept.state_head_dim;
  const std::uint64_t keys = std::uint64_t{key_heads} * kept.state_key_dim, states = kept.state_size;
  const auto add_convolution = [&](std::uint64_t channels, std::uint32_t units, shard_rule rule) {
    const std::uint32_t columns = kept.conv_kernel + (options.convolution_bias ? 1 : 0);
    put(layer, weight_group{channels, columns, 1, units, role, tensor_kind::convolution, rule}, nullptr);
  };
  layer.add(kept);
  switch (kept.state) {
    case state_kind::mamba1:
      put(layer, by_rows(role, inner, hidden, inner, 2), "mamba.in_proj");
      add_convolution(inner, inner, tensor);
      put(layer, by_columns(role, options.time_step_rank + 2 * states, inner, inner), "mamba.x_proj");
      put(layer, by_rows(role, inner, options.time_step_rank, inner), "mamba.dt_proj");
      put(layer, split_bias(role, inner * (states + 2), inner), nullptr);
      return put(layer, by_columns(role, hidden, inner, inner), "mamba.out_proj");
    case state_kind::mamba2:
      put(layer, by_rows(role, 2 * std::uint64_t{inner} + heads, hidden, heads), "mamba.in_proj");
      put(layer, {2 * states * groups, hidden, 1, groups, role, {}, kv_heads}, "mamba.in_proj");
      add_convolution(inner, heads, tensor);
      add_convolution(2 * states * groups, groups, kv_heads);
      put(layer, split_bias(role, 3ull * heads + (options.gated_norm ? inner : 0), heads), nullptr);
      return put(layer, by_columns(role, hidden, inner, heads), "mamba.out_proj");
    case state_kind::gated_delta_net:
      put(layer, by_rows(role, 2 * keys, hidden, key_heads), "linear_attn.in_proj_qkv");
      put(layer, by_rows(role, values, hidden, heads, 2), "linear_attn.in_proj_qkv|linear_attn.in_proj_z");
      put(layer, by_rows(role, heads, hidden, heads, 2), "linear_attn.in_proj_b|linear_attn.in_proj_a");
      add_convolution(2 * keys, key_heads, tensor);
      add_convolution(values, heads, tensor);
      put(layer, split_bias(role, 2ull * heads, heads), nullptr);
      put(layer, vectors(role, kept.state_head_dim), nullptr);
      return put(layer, by_columns(role, hidden, values, heads), "linear_attn.out_proj");
    case state_kind::linear_attention:
      put(layer, by_rows(role, 3ull * values, hidden, heads), "self_attn.qkv_proj");
      put(layer, by_rows(role, values, hidden, heads), "self_attn.output_gate");
      put(layer, split_bias(module_role::norm, values, heads), nullptr);
      return put(layer, by_columns(role, hidden, values, heads), "self_attn.out_proj");
    case state_kind::short_convolution:
      put(layer, by_rows(role, 3ull * inner, hidden, inner), "conv.in_proj");
      add_convolution(inner, inner, tensor);
      return put(layer, by_columns(role, hidden, inner, inner), "conv.out_proj");
    default: return;
  }
}

}  // namespace kvbudget::inline v0::detail
