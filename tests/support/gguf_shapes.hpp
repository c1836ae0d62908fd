#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/gguf_writer.hpp"

/// Files of the shape of known models: every tensor with its sides and type, no data.
namespace tests {

// Numbers of ggml types.
inline constexpr std::uint32_t f32 = 0, f16 = 1, q4_0 = 2, q8_0 = 8, q4_k = 12, q6_k = 14, bf16 = 30,
                               mxfp4 = 39;

/// The sizes of a state space; all 0 where a model has none.
struct state_shape_of {
  std::uint32_t inner = 0;
  std::uint32_t state = 0;
  std::uint32_t heads = 0;  ///< `ssm.time_step_rank`: of mamba a rank
  std::uint32_t groups = 0;
  std::uint32_t kernel = 4;

  /// What is convolved: the input, and two vectors of every group.
  [[nodiscard]] std::uint64_t channels() const { return inner + std::uint64_t{2} * groups * state; }
};

/// What the shape of a model depends on; 0 where it has none of that.
struct gguf_shape_of {
  std::string architecture{};
  std::uint32_t layers = 0, hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, ff = 0, vocabulary = 0;
  std::uint32_t matrix = f16;  ///< type of the matrices
  std::uint32_t table = f16;   ///< of embedding and head
  bool tied = false;
  std::uint32_t window = 0;
  std::uint32_t experts = 0, used = 0, expert_ff = 0, shared = 0, leading_dense = 0;
  std::uint32_t kv_lora = 0, q_lora = 0, rope = 0, key_mla = 0, value_mla = 0;
  bool latent_keys = false;  ///< deepseek2: split `attn_k_b`, `attn_v_b`
  std::uint32_t indexer_heads = 0, indexer_dim = 0;
  std::vector<std::uint32_t> kv_per_layer{};
  state_shape_of state{};
};

class gguf_shape_writer {
 public:
  explicit gguf_shape_writer(gguf_shape_of shape) : s_(std::move(shape)) {}

  [[nodiscard]] gguf_writer written() {
    keys();
    if (is("rwkv7")) {
      rwkv7();
    } else {
      outer();
      if (is("gemma3n")) outer_of_gemma3n();
      for (std::uint32_t i = 0; i < s_.layers; ++i) layer(i);
    }
    return w_;
  }

 private:
  [[nodiscard]] bool is(std::string_view architecture) const { return s_.architecture == architecture; }
  [[nodiscard]] std::string key(const char* name) const { return s_.architecture + "." + name; }
  void matrix(const std::string& name, const std::vector<std::uint64_t>& dims) {
    w_.tensor(prefix_ + name + ".weight", s_.matrix, dims);
  }
  void vector(const std::string& name, std::uint64_t length, const char* ending = "weight") {
    w_.tensor(prefix_ + name + "." + ending, f32, {length});
  }

  void keys() {
    w_.text("general.architecture", s_.architecture).u32(key("block_count"), s_.layers);
    w_.u32(key("context_length"), 131072).u32(key("embedding_length"), s_.hidden);
    w_.u32(key("feed_forward_length"), s_.ff);
    if (s_.state.inner != 0) {
      w_.u32(key("ssm.conv_kernel"), s_.state.kernel).u32(key("ssm.inner_size"), s_.state.inner);
      w_.u32(key("ssm.state_size"), s_.state.state).u32(key("ssm.time_step_rank"), s_.state.heads);
      if (s_.state.groups != 0) w_.u32(key("ssm.group_count"), s_.state.groups);
      if (s_.heads == 0) return;
    }
    if (is("rwkv7")) {
      w_.u32(key("wkv.head_size"), 64).u32(key("attention.head_count"), 0);
      return;
    }
    w_.u32(key("attention.head_count"), s_.heads);
    if (!s_.kv_per_layer.empty()) {
      w_.u32s(key("attention.head_count_kv"), s_.kv_per_layer);
    } else {
      w_.u32(key("attention.head_count_kv"), s_.latent_keys ? 1 : s_.kv_heads);
    }
    if (s_.kv_lora != 0) {
      w_.u32(key("attention.kv_lora_rank"), s_.kv_lora).u32(key("rope.dimension_count"), s_.rope);
      w_.u32(key("attention.key_length"), s_.latent_keys ? s_.kv_lora + s_.rope : s_.key_mla);
      w_.u32(key("attention.value_length"), s_.latent_keys ? s_.kv_lora : s_.value_mla);
      if (s_.latent_keys) {
        w_.u32(key("attention.key_length_mla"), s_.key_mla)
            .u32(key("attention.value_length_mla"), s_.value_mla);
      }
    } else {
      w_.u32(key("attention.key_length"), s_.head_dim).u32(key("attention.value_length"), s_.head_dim);
    }
    if (s_.window != 0) w_.u32(key("attention.sliding_window"), s_.window);
    if (s_.experts != 0) w_.u32(key("expert_count"), s_.experts).u32(key("expert_used_count"), s_.used);
    if (s_.indexer_dim != 0) {
      w_.u32(key("attention.indexer.head_count"), s_.indexer_heads);
      w_.u32(key("attention.indexer.key_length"), s_.indexer_dim).u32(key("attention.indexer.top_k"), 2048);
    }
    if (is("lfm2")) w_.u32(key("shortconv.l_cache"), 3);
  }

  void outer() {
    w_.tensor("token_embd.weight", s_.table, {s_.hidden, s_.vocabulary});
    w_.tensor(is("lfm2") ? "token_embd_norm.weight" : "output_norm.weight", f32, {s_.hidden});
    if (!s_.tied) w_.tensor("output.weight", s_.table, {s_.hidden, s_.vocabulary});
  }

  void attention(std::uint32_t i) {
    const std::uint64_t d = s_.hidden;
    if (s_.kv_lora != 0) return latent_attention();
    const std::uint64_t kv_heads = s_.kv_per_layer.empty() ? s_.kv_heads : s_.kv_per_layer[i];
    if (kv_heads == 0 && is("deci")) return matrix("attn_output", {d, d});
    if (kv_heads == 0) {
      matrix("shortconv.in_proj", {d, 3 * d});
      w_.tensor(prefix_ + "shortconv.conv.weight", f32, {3, d});
      return matrix("shortconv.out_proj", {d, d});
    }
    const std::uint64_t query = std::uint64_t{s_.heads} * s_.head_dim;
    const std::uint64_t kv = kv_heads * s_.head_dim;
    matrix("attn_q", {d, is("qwen3next") ? 2 * query : query});
    matrix("attn_k", {d, kv});
    matrix("attn_v", {d, kv});
    matrix("attn_output", {query, d});
    if (is("qwen2") || is("gpt-oss")) {
      vector("attn_q", query, "bias");
      vector("attn_k", kv, "bias");
      vector("attn_v", kv, "bias");
    }
    if (is("gpt-oss")) {
      vector("attn_output", d, "bias");
      vector("attn_sinks", s_.heads);
    }
    for (const std::string_view normed :
         {"gemma3", "gemma3n", "lfm2", "qwen3", "qwen3moe", "qwen3next", "olmoe"}) {
      if (!is(normed)) continue;
      vector("attn_q_norm", is("olmoe") ? query : s_.head_dim);
      vector("attn_k_norm", is("olmoe") ? kv : s_.head_dim);
    }
  }

  void latent_attention() {
    const std::uint64_t d = s_.hidden, heads = s_.heads, nope = s_.key_mla - s_.rope;
    if (s_.indexer_dim != 0) indexer();  // in front, as the names of a checkpoint are sorted
    if (s_.q_lora != 0) {
      matrix("attn_q_a", {d, s_.q_lora});
      vector("attn_q_a_norm", s_.q_lora);
      matrix("attn_q_b", {s_.q_lora, heads * s_.key_mla});
    } else {
      matrix("attn_q", {d, heads * s_.key_mla});
    }
    matrix("attn_kv_a_mqa", {d, s_.kv_lora + s_.rope});
    vector("attn_kv_a_norm", s_.kv_lora);
    if (s_.latent_keys) {
      matrix("attn_k_b", {nope, s_.kv_lora, heads});
      matrix("attn_v_b", {s_.kv_lora, s_.value_mla, heads});
    } else {
      matrix("attn_kv_b", {s_.kv_lora, heads * (nope + s_.value_mla)});
    }
    matrix("attn_output", {heads * s_.value_mla, d});
  }

  void indexer() {
    const std::uint64_t d = s_.hidden, width = s_.indexer_dim;
    vector("indexer.k_norm", width);
    vector("indexer.k_norm", width, "bias");
    matrix("indexer.proj", {d, s_.indexer_heads});
    matrix("indexer.attn_k", {d, width});
    matrix("indexer.attn_q_b", {s_.q_lora, s_.indexer_heads * width});
  }

  void layer(std::uint32_t i) {
    const std::uint64_t d = s_.hidden;
    prefix_ = "blk." + std::to_string(i) + ".";
    vector("attn_norm", d);
    if (is("mamba")) return mamba();
    if (is("mamba2")) return mamba2();
    if (is("qwen3next")) {
      vector("post_attention_norm", d);
    } else {
      vector("ffn_norm", d);
    }
    if (is("gemma2") || is("gemma3") || is("gemma3n")) {
      vector("post_attention_norm", d);
      vector("post_ffw_norm", d);
    }
    if (is("falcon-h1")) mamba2();
    if (is("qwen3next") && i % 4 != 3) {
      delta_net();
    } else {
      attention(i);
    }
    if (is("gemma3n")) layer_of_gemma3n();
    if (s_.experts == 0 || i < s_.leading_dense) {
      matrix("ffn_gate", {d, s_.ff});
      matrix("ffn_up", {d, s_.ff});
      return matrix("ffn_down", {s_.ff, d});
    }
    w_.tensor(prefix_ + "ffn_gate_inp.weight", f32, {d, s_.experts});
    const std::uint32_t type = is("gpt-oss") ? mxfp4 : s_.matrix;
    for (const char* name : {"ffn_gate_exps", "ffn_up_exps"}) {
      w_.tensor(prefix_ + name + ".weight", type, {d, s_.expert_ff, s_.experts});
    }
    w_.tensor(prefix_ + "ffn_down_exps.weight", type, {s_.expert_ff, d, s_.experts});
    if (is("gpt-oss")) {
      vector("ffn_gate_inp", s_.experts, "bias");
      w_.tensor(prefix_ + "ffn_gate_exps.bias", f32, {s_.expert_ff, s_.experts});
      w_.tensor(prefix_ + "ffn_up_exps.bias", f32, {s_.expert_ff, s_.experts});
      w_.tensor(prefix_ + "ffn_down_exps.bias", f32, {d, s_.experts});
    }
    if (s_.shared != 0) {
      const std::uint64_t width = std::uint64_t{s_.expert_ff} * s_.shared;
      matrix("ffn_gate_shexp", {d, width});
      matrix("ffn_up_shexp", {d, width});
      matrix("ffn_down_shexp", {width, d});
      if (is("qwen3next")) vector("ffn_gate_inp_shexp", d);
    }
  }

  void mamba() {
    const std::uint64_t d = s_.hidden, inner = s_.state.inner, rank = s_.state.heads;
    matrix("ssm_in", {d, 2 * inner});
    w_.tensor(prefix_ + "ssm_conv1d.weight", f32, {s_.state.kernel, inner});
    vector("ssm_conv1d", inner, "bias");
    matrix("ssm_x", {inner, rank + std::uint64_t{2} * s_.state.state});
    w_.tensor(prefix_ + "ssm_dt.weight", f32, {rank, inner});
    vector("ssm_dt", inner, "bias");
    w_.tensor(prefix_ + "ssm_a", f32, {s_.state.state, inner});
    w_.tensor(prefix_ + "ssm_d", f32, {inner});
    matrix("ssm_out", {inner, d});
  }

  void mamba2() {
    const std::uint64_t d = s_.hidden, inner = s_.state.inner, heads = s_.state.heads;
    const std::uint64_t channels = s_.state.channels();
    matrix("ssm_in", {d, inner + channels + heads});
    w_.tensor(prefix_ + "ssm_conv1d.weight", f32, {s_.state.kernel, channels});
    vector("ssm_conv1d", channels, "bias");
    vector("ssm_dt", heads, "bias");
    w_.tensor(prefix_ + "ssm_a", f32, {1, heads});
    w_.tensor(prefix_ + "ssm_d", f32, {1, heads});
    w_.tensor(prefix_ + "ssm_norm.weight", f32, {inner / s_.state.groups, s_.state.groups});
    matrix("ssm_out", {inner, d});
  }

  void delta_net() {
    const std::uint64_t d = s_.hidden, inner = s_.state.inner, heads = s_.state.heads;
    matrix("attn_qkv", {d, s_.state.channels()});
    matrix("attn_gate", {d, inner});
    w_.tensor(prefix_ + "ssm_conv1d.weight", f32, {s_.state.kernel, s_.state.channels()});
    vector("ssm_dt", heads, "bias");
    w_.tensor(prefix_ + "ssm_a", f32, {heads});
    matrix("ssm_ba", {d, std::uint64_t{2} * heads});
    vector("ssm_norm", inner / heads);
    matrix("ssm_out", {inner, d});
  }

  // Gemma 3n: inputs of every layer (256 elements), four streams, a low-rank path of 64.
  static constexpr std::uint64_t layer_input_dim = 256, streams = 4, laurel_rank = 64;

  void outer_of_gemma3n() {
    const std::uint64_t d = s_.hidden, inputs = layer_input_dim * s_.layers;
    w_.tensor("per_layer_token_embd.weight", s_.table, {inputs, s_.vocabulary});
    w_.tensor("altup_proj.weight", f16, {d, d, streams - 1});
    w_.tensor("altup_unembd_proj.weight", f16, {d, d, streams - 1});
    w_.tensor("per_layer_model_proj.weight", f16, {d, inputs});
    w_.tensor("per_layer_proj_norm.weight", f32, {layer_input_dim});
  }

  void layer_of_gemma3n() {
    const std::uint64_t d = s_.hidden;
    matrix("inp_gate", {d, layer_input_dim});
    matrix("proj", {layer_input_dim, d});
    w_.tensor(prefix_ + "altup_correct_coef.weight", f32, {streams, streams});
    w_.tensor(prefix_ + "altup_predict_coef.weight", f32, {streams, streams * streams});
    w_.tensor(prefix_ + "altup_router.weight", f32, {d, streams});
    for (const char* name : {"post_norm", "altup_correct_scale", "altup_router_norm", "laurel_post_norm"})
      vector(name, d);
    matrix("laurel_l", {d, laurel_rank});
    matrix("laurel_r", {laurel_rank, d});
  }

  void low_rank(const std::string& name, std::uint64_t rank, bool centre = true) {
    if (centre) vector("time_mix_" + name + "0", s_.hidden);
    matrix("time_mix_" + name + "1", {s_.hidden, rank});
    matrix("time_mix_" + name + "2", {rank, s_.hidden});
  }

  void rwkv7() {
    const std::uint64_t d = s_.hidden;
    outer();
    vector("token_embd_norm", d);
    vector("token_embd_norm", d, "bias");
    vector("output_norm", d, "bias");
    for (std::uint32_t i = 0; i < s_.layers; ++i) {
      prefix_ = "blk." + std::to_string(i) + ".";
      for (const char* name : {"attn_norm", "attn_norm_2", "time_mix_ln"}) {
        vector(name, d);
        vector(name, d, "bias");
      }
      low_rank("w", 96);
      low_rank("a", 96);
      low_rank("v", i == 0 ? 96 : 64);
      low_rank("g", 320, false);
      w_.tensor(prefix_ + "time_mix_lerp_fused.weight", f32, {d, 6});
      for (const char* name : {"time_mix_k_k", "time_mix_k_a", "time_mix_r_k", "channel_mix_lerp_k"})
        vector(name, d);
      for (const char* name : {"key", "value", "receptance", "output"})
        matrix("time_mix_" + std::string(name), {d, d});
      matrix("channel_mix_key", {d, s_.ff});
      matrix("channel_mix_value", {s_.ff, d});
    }
  }

  gguf_shape_of s_;
  gguf_writer w_{};
  std::string prefix_{};
};

[[nodiscard]] inline gguf_writer gguf_of(const gguf_shape_of& shape) {
  return gguf_shape_writer(shape).written();
}

}  // namespace tests
