#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface/families/llama_like.hpp"
#include "kvbudget/io/huggingface/family.hpp"
#include "kvbudget/io/huggingface/vision/built_in.hpp"

/// Decoders from before Llama's key names became usual, each with names of its own.
///
/// Class defaults and biases: huggingface/transformers models/<model_type>/configuration_<model_type>.py and
/// modeling_<model_type>.py, unless a family names another source.
namespace kvbudget::inline v0::detail {

/// Four times the hidden size, whatever the config says.
[[nodiscard]] inline std::uint32_t four_times_hidden(const config_view& config, const decoder_shape& shape) {
  return size_product(config, "hidden_size", shape.hidden_size, 4);
}

/// BLOOM: a norm behind the embedding; the MLP is four times the hidden size.
/// Source: huggingface/transformers models/bloom/modeling_bloom.py, BloomModel, BloomMLP.
inline void adjust_bloom(const config_view& config, decoder_shape& shape) {
  shape.embedding_norm = true;
  shape.layer.mlp.intermediate_size = four_times_hidden(config, shape);
}

/// GPT-Neo: `attention_types` lists patterns of "global" and "local" with how often each repeats; local
/// layers see `window_size` tokens. The output projection alone has a bias.
/// Source: huggingface/transformers models/gpt_neo/configuration_gpt_neo.py, expand_attention_types_params.
inline void plan_gpt_neo(const config_view& config, const decoder_shape& shape,
                         std::vector<layer_plan>& layers) {
  std::vector<bool> local;
  const auto types = config.find({{"attention_types"}});
  if (types) {
    for (std::size_t i = 0; i < types->size(); ++i) {
      const json_field entry = types->at(i);
      if (entry.size() != 2) entry.refuse("must be a pattern and how often it repeats");
      const json_field pattern = entry.at(std::size_t{0});
      const std::uint64_t times = entry.at(std::size_t{1}).integer();
      if (pattern.size() == 0) pattern.refuse("must name at least one layer");
      for (std::uint64_t time = 0; time < times && local.size() <= layers.size(); ++time) {
        for (std::size_t at = 0; at < pattern.size() && local.size() <= layers.size(); ++at) {
          const json_field type = pattern.at(at);
          if (type.text() != "global" && type.text() != "local") {
            type.refuse("attention type \"" + printable(type.text(), 40) +
                        "\" is unknown, expected global or local");
          }
          local.push_back(type.text() == "local");
        }
      }
    }
    if (local.size() != layers.size()) {
      types->refuse("must describe " + std::to_string(shape.num_hidden_layers) + " layers, not " +
                    (local.size() > layers.size() ? "more" : std::to_string(local.size())));
    }
  } else {
    config.note_default("attention_types", "global and local in turn");
    for (std::size_t i = 0; i < layers.size(); ++i) local.push_back(i % 2 == 1);
  }
  const std::uint32_t window = config.size_or({{"window_size"}}, 256);
  for (std::size_t i = 0; i < layers.size(); ++i) layers[i].attention.window = local[i] ? window : 0;
}

/// MPT: grouped and multi-query heads, query and key norms and positions are described in `attn_config`; no
/// projection and no norm has a bias unless `no_bias` is false. Positions are learned only without ALiBi and
/// rotary ones. Source: mosaicml/llm-foundry llmfoundry/models/mpt/modeling_mpt.py, layers/attention.py.
inline void adjust_mpt(const config_view& config, decoder_shape& shape) {
  attention_shape& attention = shape.layer.attention;
  shape.layer.mlp.intermediate_size =
      size_product(config, "expansion_ratio", shape.hidden_size, config.size_or({{"expansion_ratio"}}, 4));
  const bool biases = !config.flag({"no_bias", true});
  attention.qkv_biases = attention.output_bias = shape.layer.mlp.biases = biases;
  shape.vectors_per_norm = biases ? 2 : 1;
  const auto described = config.find({{"attn_config"}});
  if (!described) {
    return config.note_default("attn_config", "multi-head attention with ALiBi");
  }
  const config_view given = config.nested(*described);
  if (const auto type = given.find({{"attn_type"}})) {
    if (type->text() == "multiquery_attention") {
      attention.kv_heads = 1;
    } else if (type->text() == "grouped_query_attention") {
      attention.kv_heads = given.size({{"kv_n_heads"}});
    } else if (type->text() != "multihead_attention") {
      type->refuse("attention \"" + printable(type->text(), 40) +
                   "\" is unknown, expected multihead_attention, multiquery_attention or "
                   "grouped_query_attention");
    }
  }
  if (given.flag({"qk_ln", false})) {
    if (biases) given.refuse("qk_ln with biases (no_bias false) is not supported");
    attention.qk_norm = query_key_norm::full_width;
  }
  const bool learned =
      config.flag({"learned_pos_emb", true}) && !given.flag({"alibi", true}) && !given.flag({"rope", false});
  if (learned) shape.position_rows = shape.max_position_embeddings;
}

/// GPT-BigCode: all query heads share one KV head unless `multi_query` is false.
/// Source: huggingface/transformers models/gpt_bigcode/modeling_gpt_bigcode.py, GPTBigCodeAttention.
inline void adjust_gpt_bigcode(const config_view& config, decoder_shape& shape) {
  if (config.flag({"multi_query", true})) shape.layer.attention.kv_heads = 1;
}

/// Qwen (the first): `intermediate_size` counts gate and up projection together; `no_bias` spares every bias
/// but those of queries, keys and values. Source: Qwen/Qwen-7B modeling_qwen.py, QWenAttention, QWenMLP.
inline void adjust_qwen(const config_view& config, decoder_shape& shape) {
  std::uint32_t& intermediate = shape.layer.mlp.intermediate_size;
  if (intermediate % 2 != 0) {
    config.find({{"intermediate_size"}})->refuse("must be even: gate and up projection share it");
  }
  intermediate /= 2;
  const bool biases = !config.flag({"no_bias", true});
  shape.layer.attention.output_bias = shape.layer.mlp.biases = biases;
}

/// ChatGLM2, ChatGLM3 and GLM-4: `multi_query_group_num` KV heads where `multi_query_attention` is true;
/// `add_bias_linear` gives every projection a bias, `add_qkv_bias` only queries, keys and values.
/// Source: THUDM/chatglm3-6b modeling_chatglm.py, SelfAttention, MLP, GLMTransformer.
inline void adjust_chatglm(const config_view& config, decoder_shape& shape) {
  if (const auto first = config.find({{"inner_hidden_size", "position_encoding_2d"}})) {
    first->refuse("the first ChatGLM-6B is not supported: only ChatGLM2 and later");
  }
  attention_shape& attention = shape.layer.attention;
  if (config.flag({"multi_query_attention", false})) {
    attention.kv_heads = config.size_or({{"multi_query_group_num"}}, 1);
  }
  const bool biases = config.flag({"add_bias_linear", true});
  attention.qkv_biases = biases || config.flag({"add_qkv_bias", false});
  attention.output_bias = shape.layer.mlp.biases = biases;
  shape.vectors_per_norm = config.flag({"rmsnorm", true}) ? 1 : 2;
  shape.final_norm = config.flag({"post_layer_norm", true});
}

/// GPT-NeoX Japanese: of all projections only the output of the last layer's attention has a bias.
/// Source: huggingface/transformers models/gpt_neox_japanese/modeling_gpt_neox_japanese.py.
inline void adjust_gpt_neox_japanese(const config_view& config, decoder_shape& shape) {
  shape.layer.mlp.intermediate_size = size_product(config, "intermediate_multiple_size", shape.hidden_size,
                                                   config.size_or({{"intermediate_multiple_size"}}, 4));
}
inline void plan_gpt_neox_japanese(const config_view&, const decoder_shape&,
                                   std::vector<layer_plan>& layers) {
  layers.back().attention.output_bias = true;
}

inline constexpr family_keys gpt2_keys{
    .hidden_size = {{"n_embd", "hidden_size"}},
    .num_hidden_layers = {{"n_layer", "num_hidden_layers"}},
    .num_attention_heads = {{"n_head", "num_attention_heads"}},
    .num_key_value_heads = {},
    .intermediate_size = {{"n_inner"}},
    .max_position_embeddings = {{"n_positions", "max_position_embeddings"}}};

inline constexpr model_family dialect_families[] = {
    // One norm for attention and MLP, which run in parallel; the head is not tied and has a bias.
    {.model_type = "gptj",
     .keys = gpt2_keys,
     .defaults = {.vocab_size = 50400, .intermediate_per_hidden = 4, .max_position_embeddings = 2048},
     .gated_mlp = false,
     .mlp_biases = always,
     .norms_per_layer = 1,
     .norm_biases = always,
     .head_bias = always,
     .layer_prefix = "transformer.h.",
     .renames = {{"self_attn.o_proj", "attn.out_proj"},
                 {"self_attn", "attn"},
                 {"mlp.up_proj", "mlp.fc_in"},
                 {"mlp.down_proj", "mlp.fc_out"},
                 {"model.embed_tokens", "transformer.wte"}}},
    {.model_type = "codegen",
     .keys = gpt2_keys,
     .defaults = {.vocab_size = 50400, .intermediate_per_hidden = 4, .max_position_embeddings = 2048},
     .gated_mlp = false,
     .mlp_biases = always,
     .norms_per_layer = 1,
     .norm_biases = always,
     .head_bias = always,
     .layer_prefix = "transformer.h.",
     .renames = {{"self_attn.o_proj", "attn.out_proj"},
                 {"self_attn.q_proj", "attn.qkv_proj"},
                 {"self_attn.k_proj", "attn.qkv_proj"},
                 {"self_attn.v_proj", "attn.qkv_proj"},
                 {"mlp.up_proj", "mlp.fc_in"},
                 {"mlp.down_proj", "mlp.fc_out"},
                 {"model.embed_tokens", "transformer.wte"}}},
    {.model_type = "gpt_neo",
     .keys = {.num_hidden_layers = {{"num_layers", "num_hidden_layers"}},
              .num_attention_heads = {{"num_heads", "num_attention_heads"}},
              .num_key_value_heads = {}},
     .defaults = {.vocab_size = 50257,
                  .intermediate_per_hidden = 4,
                  .max_position_embeddings = 2048,
                  .tie_word_embeddings = true},
     .output_bias = always,
     .gated_mlp = false,
     .mlp_biases = always,
     .norm_biases = always,
     .learned_positions = true,
     .windows = {.layer_types = false},
     .layer_prefix = "transformer.h.",
     .renames = {{"self_attn.o_proj", "attn.attention.out_proj"},
                 {"self_attn", "attn.attention"},
                 {"mlp.up_proj", "mlp.c_fc"},
                 {"mlp.down_proj", "mlp.c_proj"},
                 {"model.embed_tokens", "transformer.wte"}},
     .plan = plan_gpt_neo},
    {.model_type = "gpt_neox_japanese",
     .keys = {.num_key_value_heads = {}, .intermediate_size = {}},
     .defaults = {.vocab_size = 32000, .max_position_embeddings = 2048, .tie_word_embeddings = true},
     .gated_mlp = false,
     .norm_biases = always,
     .layer_prefix = "gpt_neox_japanese.layers.",
     .renames = {{"self_attn.q_proj", "attention.query_key_value"},
                 {"self_attn.k_proj", "attention.query_key_value"},
                 {"self_attn.v_proj", "attention.query_key_value"},
                 {"self_attn.o_proj", "attention.dense"},
                 {"mlp.up_proj", "mlp.dense_h_to_4h"},
                 {"mlp.down_proj", "mlp.dense_4h_to_h"},
                 {"model.embed_tokens", "gpt_neox_japanese.embed_in"},
                 {"lm_head", "embed_out"}},
     .adjust = adjust_gpt_neox_japanese,
     .plan = plan_gpt_neox_japanese},
    {.model_type = "bloom",
     .keys = {.hidden_size = {{"hidden_size", "n_embed"}},
              .num_hidden_layers = {{"n_layer", "num_hidden_layers"}},
              .num_attention_heads = {{"n_head", "num_attention_heads"}},
              .num_key_value_heads = {},
              .intermediate_size = {},
              .max_position_embeddings = {{"seq_length"}}},
     .defaults = {.vocab_size = 250880, .tie_word_embeddings = true},
     .qkv_biases = always,
     .output_bias = always,
     .gated_mlp = false,
     .mlp_biases = always,
     .norm_biases = always,
     .layer_prefix = "transformer.h.",
     .renames = {{"self_attn.q_proj", "self_attention.query_key_value"},
                 {"self_attn.k_proj", "self_attention.query_key_value"},
                 {"self_attn.v_proj", "self_attention.query_key_value"},
                 {"self_attn.o_proj", "self_attention.dense"},
                 {"mlp.up_proj", "mlp.dense_h_to_4h"},
                 {"mlp.down_proj", "mlp.dense_4h_to_h"},
                 {"model.embed_tokens", "transformer.word_embeddings"}},
     .adjust = adjust_bloom},
    {.model_type = "mpt",
     .keys = {.hidden_size = {{"d_model", "hidden_size"}},
              .num_hidden_layers = {{"n_layers", "num_hidden_layers"}},
              .num_attention_heads = {{"n_heads", "num_attention_heads"}},
              .num_key_value_heads = {},
              .intermediate_size = {},
              .max_position_embeddings = {{"max_seq_len"}}},
     .defaults = {.vocab_size = 50368, .max_position_embeddings = 2048, .tie_word_embeddings = true},
     .gated_mlp = false,
     .layer_prefix = "transformer.blocks.",
     .renames = {{"self_attn.q_proj", "attn.Wqkv"},
                 {"self_attn.k_proj", "attn.Wqkv"},
                 {"self_attn.v_proj", "attn.Wqkv"},
                 {"self_attn.o_proj", "attn.out_proj"},
                 {"mlp", "ffn"},
                 {"model.embed_tokens", "transformer.wte"}},
     .adjust = adjust_mpt},
    {.model_type = "gpt_bigcode",
     .keys = gpt2_keys,
     .defaults = {.vocab_size = 50257,
                  .intermediate_per_hidden = 4,
                  .max_position_embeddings = 1024,
                  .tie_word_embeddings = true},
     .qkv_biases = always,
     .output_bias = always,
     .gated_mlp = false,
     .mlp_biases = always,
     .norm_biases = always,
     .learned_positions = true,
     .layer_prefix = "transformer.h.",
     .renames = {{"self_attn.o_proj", "attn.c_proj"},
                 {"self_attn.q_proj", "attn.c_attn"},
                 {"self_attn.k_proj", "attn.c_attn"},
                 {"self_attn.v_proj", "attn.c_attn"},
                 {"mlp.up_proj", "mlp.c_fc"},
                 {"mlp.down_proj", "mlp.c_proj"},
                 {"model.embed_tokens", "transformer.wte"}},
     .adjust = adjust_gpt_bigcode},
    {.model_type = "qwen",
     .keys = {.num_key_value_heads = {},
              .head_dim = {{"kv_channels"}},
              .max_position_embeddings = {{"max_position_embeddings", "seq_length"}}},
     .defaults = {.vocab_size = 151936, .head_dim = 128, .max_position_embeddings = 8192},
     .qkv_biases = always,
     .layer_prefix = "transformer.h.",
     .renames = {{"self_attn.o_proj", "attn.c_proj"},
                 {"self_attn.q_proj", "attn.c_attn"},
                 {"self_attn.k_proj", "attn.c_attn"},
                 {"self_attn.v_proj", "attn.c_attn"},
                 {"mlp.gate_proj", "mlp.w2"},
                 {"mlp.up_proj", "mlp.w1"},
                 {"mlp.down_proj", "mlp.c_proj"},
                 {"model.embed_tokens", "transformer.wte"}},
     .adjust = adjust_qwen,
     .add_towers = add_qwen_towers},
    {.model_type = "chatglm",
     .keys = {.num_hidden_layers = {{"num_layers", "num_hidden_layers"}},
              .num_key_value_heads = {},
              .head_dim = {{"kv_channels"}},
              .intermediate_size = {{"ffn_hidden_size"}},
              .vocab_size = {{"padded_vocab_size", "vocab_size"}},
              .max_position_embeddings = {{"seq_length"}}},
     .defaults = {.vocab_size = 65024, .head_dim = 128, .max_position_embeddings = 2048},
     .layer_prefix = "transformer.encoder.layers.",
     .renames = {{"self_attn.q_proj", "self_attention.query_key_value"},
                 {"self_attn.k_proj", "self_attention.query_key_value"},
                 {"self_attn.v_proj", "self_attention.query_key_value"},
                 {"self_attn.o_proj", "self_attention.dense"},
                 {"mlp.gate_proj", "mlp.dense_h_to_4h"},
                 {"mlp.up_proj", "mlp.dense_h_to_4h"},
                 {"mlp.down_proj", "mlp.dense_4h_to_h"},
                 {"model.embed_tokens", "transformer.embedding.word_embeddings"},
                 {"lm_head", "transformer.output_layer"}},
     .adjust = adjust_chatglm},
    {.model_type = "phi",
     .defaults = {.vocab_size = 51200, .max_position_embeddings = 2048},
     .qkv_biases = always,
     .output_bias = always,
     .qk_norm = query_key_norm::head_dim,
     .has_qk_norm = {"qk_layernorm", false},
     .gated_mlp = false,
     .mlp_biases = always,
     .norms_per_layer = 1,
     .norm_biases = always,
     .head_bias = always,
     .renames = {{"self_attn.o_proj", "self_attn.dense"},
                 {"mlp.up_proj", "mlp.fc1"},
                 {"mlp.down_proj", "mlp.fc2"}},
     .finish_layer = finish_biased_query_key_norms},
    // microsoft/phi-1_5 modeling_phi.py of its first release, with GPT-2's key names.
    {.model_type = "phi-msft",
     .keys = {.hidden_size = {{"n_embd", "hidden_size"}},
              .num_hidden_layers = {{"n_layer", "num_hidden_layers"}},
              .num_attention_heads = {{"n_head", "num_attention_heads"}},
              .num_key_value_heads = {{"n_head_kv"}},
              .intermediate_size = {{"n_inner"}},
              .max_position_embeddings = {{"n_positions"}}},
     .defaults = {.intermediate_per_hidden = 4, .max_position_embeddings = 2048},
     .qkv_biases = always,
     .output_bias = always,
     .gated_mlp = false,
     .mlp_biases = always,
     .norms_per_layer = 1,
     .norm_biases = always,
     .head_bias = always,
     .layer_prefix = "transformer.h.",
     .renames = {{"self_attn.q_proj", "mixer.Wqkv"},
                 {"self_attn.k_proj", "mixer.Wqkv"},
                 {"self_attn.v_proj", "mixer.Wqkv"},
                 {"self_attn.o_proj", "mixer.out_proj"},
                 {"mlp.up_proj", "mlp.fc1"},
                 {"mlp.down_proj", "mlp.fc2"},
                 {"model.embed_tokens", "transformer.embd.wte"},
                 {"lm_head", "lm_head.linear"}}},
};

}  // namespace kvbudget::inline v0::detail
