#pragma once

#include <cstdint>
#include <string_view>

#include "kvbudget/io/text_search.hpp"
#include "kvbudget/model/weight_group.hpp"

/// What a tensor's name says: where it sits, which module it belongs to, and how it would be divided.
namespace kvbudget::inline v0 {

/// The part of a model that a tensor sits in.
enum class gguf_place : std::uint8_t {
  input,                ///< token, position and type embeddings and their norms
  per_layer_embedding,  ///< the tables of Gemma 3n and 4, and their projection
  layer,                ///< `blk.N.` (and `dec.blk.N.`) of the main stack
  draft,                ///< blocks behind the main stack
  encoder,              ///< `enc.` of encoder–decoder models
  output,               ///< head, final norm, classifiers
  vision,               ///< `v.`, `mm.`
  audio,                ///< `a.`, `mm.a.`
  other                 ///< rotary factors, and what is not known
};

namespace detail {

inline constexpr std::uint32_t no_block = UINT32_MAX;

/// A name in parts: `blk.3.attn_q.weight` is block 3, stem `attn_q`, ending `weight`.
struct tensor_name {
  std::string_view start{};  ///< in front of the block number, `blk.`; or empty
  std::uint32_t block = no_block;
  std::string_view stem{};
  std::string_view ending{};
};

[[nodiscard]] constexpr tensor_name parts_of(std::string_view name) {
  tensor_name result;
  result.stem = name;
  const std::size_t blk = name.find("blk.");
  if (blk != std::string_view::npos && (blk == 0 || name[blk - 1] == '.')) {
    std::size_t at = blk + 4;
    std::uint32_t number = 0;
    std::size_t digits = 0;
    for (; at < name.size() && name[at] >= '0' && name[at] <= '9' && digits < 8; ++at, ++digits) {
      number = number * 10 + static_cast<std::uint32_t>(name[at] - '0');
    }
    if (digits != 0 && at < name.size() && name[at] == '.') {
      result.start = name.substr(0, blk + 4);
      result.block = number;
      result.stem = name.substr(at + 1);
    }
  }
  for (const std::string_view ending : {"weight", "bias", "scale", "input_scale"}) {
    if (result.stem.size() <= ending.size() + 1 || !ends_with(result.stem, ending)) continue;
    const std::size_t dot = result.stem.size() - ending.size() - 1;
    if (result.stem[dot] != '.') continue;
    result.ending = ending;
    result.stem = result.stem.substr(0, dot);
    break;
  }
  return result;
}

/// Of a model with `layers` in its main stack.
[[nodiscard]] constexpr gguf_place place_of(std::string_view name, std::uint32_t layers) {
  if (starts_with(name, "v.") || starts_with(name, "vit.") || starts_with(name, "resampler."))
    return gguf_place::vision;
  if (starts_with(name, "a.") || starts_with(name, "mm.a.")) return gguf_place::audio;
  if (starts_with(name, "mm.") || starts_with(name, "model.image_newline")) return gguf_place::vision;
  if (starts_with(name, "enc.")) return gguf_place::encoder;
  const tensor_name parts = parts_of(name);
  if (parts.block != no_block) return parts.block < layers ? gguf_place::layer : gguf_place::draft;
  if (starts_with(name, "per_layer_")) return gguf_place::per_layer_embedding;
  if (starts_with(name, "token_") || starts_with(name, "position_embd")) return gguf_place::input;
  if (starts_with(name, "output") || starts_with(name, "dec.output") || starts_with(name, "cls") ||
      starts_with(name, "hc_head")) {
    return gguf_place::output;
  }
  if (starts_with(name, "nextn.") || starts_with(name, "mtp.")) return gguf_place::draft;
  return gguf_place::other;
}

/// How a matrix or vector would be divided over ranks.
enum class gguf_split : std::uint8_t {
  whole,
  query_rows,     ///< outputs by query heads
  query_columns,  ///< inputs by query heads
  kv_rows,        ///< outputs by KV heads
  fused_rows,     ///< query, key and value outputs on top of each other
  rows,           ///< outputs one by one
  columns,        ///< inputs one by one
  expert_rows,
  expert_columns
};

/// What a stem stands for.
struct gguf_stem {
  const char* stem = "";
  module_role role = module_role::unattributed;
  gguf_split split = gguf_split::whole;
};

/// Source: ggml-org/llama.cpp, src/llama-arch.cpp, LLM_TENSOR_NAMES.
inline constexpr gguf_stem gguf_stems[] = {
    {"attn_q", module_role::attention, gguf_split::query_rows},
    {"attn_k", module_role::attention, gguf_split::kv_rows},
    {"attn_v", module_role::attention, gguf_split::kv_rows},
    {"attn_qkv", module_role::attention, gguf_split::fused_rows},
    {"attn_output", module_role::attention, gguf_split::query_columns},
    {"attn_out", module_role::attention, gguf_split::query_columns},
    {"attn_o", module_role::attention, gguf_split::query_columns},
    {"attn_gate", module_role::attention, gguf_split::query_rows},
    {"attn_sinks", module_role::attention, gguf_split::query_rows},
    {"attn_q_b", module_role::attention, gguf_split::query_rows},
    {"attn_kv_b", module_role::attention, gguf_split::query_rows},
    {"attn_k_b", module_role::attention, gguf_split::query_rows},
    {"attn_v_b", module_role::attention, gguf_split::query_rows},
    {"cross_attn_q", module_role::attention, gguf_split::query_rows},
    {"cross_attn_k", module_role::attention, gguf_split::kv_rows},
    {"cross_attn_v", module_role::attention, gguf_split::kv_rows},
    {"cross_attn_o", module_role::attention, gguf_split::query_columns},
    {"ffn_gate", module_role::mlp, gguf_split::rows},
    {"ffn_up", module_role::mlp, gguf_split::rows},
    {"ffn_down", module_role::mlp, gguf_split::columns},
    {"ffn_gate_exps", module_role::expert, gguf_split::expert_rows},
    {"ffn_up_exps", module_role::expert, gguf_split::expert_rows},
    {"ffn_gate_up_exps", module_role::expert, gguf_split::expert_rows},
    {"ffn_down_exps", module_role::expert, gguf_split::expert_columns},
    {"ffn_gate_chexps", module_role::expert, gguf_split::expert_rows},
    {"ffn_up_chexps", module_role::expert, gguf_split::expert_rows},
    {"ffn_down_chexps", module_role::expert, gguf_split::expert_columns},
    {"ffn_gate_shexp", module_role::shared_expert, gguf_split::rows},
    {"ffn_up_shexp", module_role::shared_expert, gguf_split::rows},
    {"ffn_down_shexp", module_role::shared_expert, gguf_split::columns},
    {"ffn_gate_inp_shexp", module_role::shared_expert},
    {"ffn_gate_inp", module_role::router},
    {"ffn_gate_tid2eid", module_role::router},
    {"exp_probs_b", module_role::router},
    {"ffn_latent_down", module_role::mlp},
    {"ffn_latent_up", module_role::mlp},
};

/// Families of stems, looked at where no stem of the list is the very one.
inline constexpr struct {
  const char* part;
  module_role role;
} gguf_stem_parts[] = {{"norm", module_role::norm},       {"ssm_", module_role::mixer},
                       {"time_mix", module_role::mixer},  {"shortconv", module_role::mixer},
                       {"channel_mix", module_role::mlp}, {"indexer", module_role::attention},
                       {"attn", module_role::attention},  {"ffn", module_role::mlp},
                       {"ffw", module_role::mlp},         {"hc_", module_role::attention},
                       {"altup", module_role::mlp},       {"laurel", module_role::mlp},
                       {"per_layer", module_role::mlp},   {"inp_gate", module_role::mlp},
                       {"proj", module_role::mlp},        {"layer_output_scale", module_role::norm}};

/// One expert of files that store each apart: `ffn_gate.7`.
[[nodiscard]] constexpr bool is_single_expert(std::string_view stem) {
  const std::size_t dot = stem.find('.');
  if (dot == std::string_view::npos || dot + 1 == stem.size() || !starts_with(stem, "ffn_")) return false;
  for (const char c : stem.substr(dot + 1)) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

[[nodiscard]] constexpr gguf_stem stem_of(const tensor_name& name) {
  std::string_view stem = name.stem;
  if (is_single_expert(stem)) {
    return {"", module_role::expert,
            starts_with(stem, "ffn_down") ? gguf_split::expert_columns : gguf_split::expert_rows};
  }
  for (const gguf_stem& entry : gguf_stems) {
    if (stem == entry.stem) return entry;
  }
  for (const auto& entry : gguf_stem_parts) {
    if (holds(stem, entry.part)) return {entry.part, entry.role, gguf_split::whole};
  }
  return {};
}

}  // namespace detail
}  // namespace kvbudget::inline v0
