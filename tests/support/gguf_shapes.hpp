#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/gguf_writer.hpp"

/// Files of the shape of known models: every tensor with its sides and type, no data.
namespace tests {

// Numbers of ggml types.
inline constexpr std::uint32_t f32 = 0, f16 = 1, q4_0 = 2, q8_0 = 8, q4_k = 12, q6_k = 14, bf16 = 30,
                               mxfp4 = 39;

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
  std::vector<std::uint32_t> kv_per_layer{};
};

class gguf_shape_writer {
 public:
  explicit gguf_shape_writer(gguf_shape_of shape) : s_(std::move(shape)) {}

  [[nodiscard]] gguf_writer written() {
    keys();
    if (s_.architecture == "rwkv7") {
      rwkv7();
    } else if (s_.architecture == "mamba") {
      mamba();
    } else {
      outer();
      for (std::uint32_t i = 0; i < s_.layers; ++i) layer(i);
    }
    return w_;
  }

 private:
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
    if (s_.architecture == "mamba") {
      w_.u32(key("ssm.conv_kernel"), 4).u32(key("ssm.inner_size"), 2 * s_.hidden);
      w_.u32(key("ssm.state_size"), 16).u32(key("ssm.time_step_rank"), 160);
      return;
    }
    if (s_.architecture == "rwkv7") {
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
    if (s_.architecture == "lfm2") w_.u32(key("shortconv.l_cache"), 3);
  }

  void outer() {
    w_.tensor("token_embd.weight", s_.table, {s_.hidden, s_.vocabulary});
    w_.tensor(s_.architecture == "lfm2" ? "token_embd_norm.weight" : "output_norm.weight", f32, {s_.hidden});
    if (!s_.tied) w_.tensor("output.weight", s_.table, {s_.hidden, s_.vocabulary});
  }

  void attention(std::uint32_t i) {
    const std::uint64_t d = s_.hidden;
    if (s_.kv_lora != 0) return latent_attention();
    const std::uint64_t kv_heads = s_.kv_per_layer.empty() ? s_.kv_heads : s_.kv_per_layer[i];
    if (kv_heads == 0) {
      matrix("shortconv.in_proj", {d, 3 * d});
      w_.tensor(prefix_ + "shortconv.conv.weight", f32, {3, d});
      return matrix("shortconv.out_proj", {d, d});
    }
    const std::uint64_t query = std::uint64_t{s_.heads} * s_.head_dim;
    const std::uint64_t kv = kv_heads * s_.head_dim;
    matrix("attn_q", {d, query});
    matrix("attn_k", {d, kv});
    matrix("attn_v", {d, kv});
    matrix("attn_output", {query, d});
    if (s_.architecture == "qwen2" || s_.architecture == "gpt-oss") {
      vector("attn_q", query, "bias");
      vector("attn_k", kv, "bias");
      vector("attn_v", kv, "bias");
    }
    if (s_.architecture == "gpt-oss") {
      vector("attn_output", d, "bias");
      vector("attn_sinks", s_.heads);
    }
    if (s_.architecture == "gemma3" || s_.architecture == "lfm2") {
      vector("attn_q_norm", s_.head_dim);
      vector("attn_k_norm", s_.head_dim);
    }
  }

  void latent_attention() {
    const std::uint64_t d = s_.hidden, heads = s_.heads, nope = s_.key_mla - s_.rope;
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

  void layer(std::uint32_t i) {
    const std::uint64_t d = s_.hidden;
    prefix_ = "blk." + std::to_string(i) + ".";
    vector("attn_norm", d);
    vector("ffn_norm", d);
    if (s_.architecture == "gemma3") {
      vector("post_attention_norm", d);
      vector("post_ffw_norm", d);
    }
    attention(i);
    if (s_.experts == 0 || i < s_.leading_dense) {
      matrix("ffn_gate", {d, s_.ff});
      matrix("ffn_up", {d, s_.ff});
      return matrix("ffn_down", {s_.ff, d});
    }
    w_.tensor(prefix_ + "ffn_gate_inp.weight", f32, {d, s_.experts});
    const std::uint32_t type = s_.architecture == "gpt-oss" ? mxfp4 : s_.matrix;
    for (const char* name : {"ffn_gate_exps", "ffn_up_exps"}) {
      w_.tensor(prefix_ + name + ".weight", type, {d, s_.expert_ff, s_.experts});
    }
    w_.tensor(prefix_ + "ffn_down_exps.weight", type, {s_.expert_ff, d, s_.experts});
    if (s_.architecture == "gpt-oss") {
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
    }
  }

  void mamba() {
    const std::uint64_t d = s_.hidden, inner = 2 * d;
    outer();
    for (std::uint32_t i = 0; i < s_.layers; ++i) {
      prefix_ = "blk." + std::to_string(i) + ".";
      vector("attn_norm", d);
      matrix("ssm_in", {d, 2 * inner});
      w_.tensor(prefix_ + "ssm_conv1d.weight", f32, {4, inner});
      vector("ssm_conv1d", inner, "bias");
      matrix("ssm_x", {inner, 160 + 2 * 16});
      w_.tensor(prefix_ + "ssm_dt.weight", f32, {160, inner});
      vector("ssm_dt", inner, "bias");
      w_.tensor(prefix_ + "ssm_a", f32, {16, inner});
      w_.tensor(prefix_ + "ssm_d", f32, {inner});
      matrix("ssm_out", {inner, d});
    }
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
