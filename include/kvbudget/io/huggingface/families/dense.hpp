#pragma once

#include "kvbudget/io/huggingface/families/eagle.hpp"
#include "kvbudget/io/huggingface/family.hpp"

/// Decoders whose layers are attention and an MLP.
///
/// Class defaults and biases: huggingface/transformers models/<model_type>/configuration_<model_type>.py and
/// modeling_<model_type>.py; internlm2: configuration_internlm2.py of the model repositories.
namespace kvbudget::inline v0::detail {

/// Falcon: before the new decoder architecture all query heads share one KV head if `multi_query`, whatever
/// `num_kv_heads` says; one norm per layer where attention and MLP run in parallel on the same input.
/// Source: huggingface/transformers models/falcon/modeling_falcon.py, FalconAttention, FalconDecoderLayer.
inline void adjust_falcon(const config_view& config, decoder_shape& shape) {
  const bool new_decoder = config.flag({"new_decoder_architecture", false});
  if (!new_decoder && config.flag({"multi_query", true})) {
    shape.layer.attention.kv_heads = 1;
  } else if (const auto heads = config.find({{"num_kv_heads", "n_head_kv"}})) {
    shape.layer.attention.kv_heads = config_view::size_in(*heads);
  }
  shape.layer.norms = 2;
  if (config.flag({"parallel_attn", true})) {
    shape.layer.norms = new_decoder ? 2 : 1;
    if (const auto norms = config.find({{"num_ln_in_parallel_attn"}})) {
      shape.layer.norms = norms->integer() == 2 ? 2 : 1;
    }
  }
}

/// StableLM: attention and MLP in parallel share one norm.
/// Source: huggingface/transformers models/stablelm/modeling_stablelm.py, StableLmDecoderLayer.
inline void adjust_stablelm(const config_view& config, decoder_shape& shape) {
  if (config.flag({"use_parallel_residual", false})) shape.layer.norms = 1;
}

/// OPT: positions start at 2; the embedding may be narrower than the layers (350m); a final norm only where
/// norms come first. Source: huggingface/transformers models/opt/modeling_opt.py, OPTDecoder.
inline void adjust_opt(const config_view& config, decoder_shape& shape) {
  shape.position_rows += 2;
  if (config.find({{"word_embed_proj_dim"}})) shape.embedding_width = config.size({{"word_embed_proj_dim"}});
  if (!config.flag({"layer_norm_elementwise_affine", true})) shape.vectors_per_norm = 0;
  shape.final_norm =
      config.flag({"do_layer_norm_before", true}) && !config.flag({"_remove_final_layer_norm", false});
}

inline constexpr model_family exaone4_family{
    .model_type = "exaone4",
    .defaults = {.num_key_value_heads = 32, .max_position_embeddings = 2048},
    .qk_norm = query_key_norm::head_dim,
    .windows = {.rule = window_rule::pattern, .window = 4096, .pattern = 4}};

inline constexpr model_family dense_families[] = {
    {.model_type = "llama",
     .defaults = {.max_position_embeddings = 2048},
     .nested = {.hidden_size = 4096,
                .num_hidden_layers = 32,
                .intermediate_size = 11008,
                .vocab_size = 32000,
                .num_attention_heads = 32},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .mlp_biases = {"mlp_bias", false},
     .is_special = is_eagle,
     .adjust = adjust_eagle,
     .plan = plan_eagle,
     .finish_layer = finish_eagle_layer,
     .finish_model = finish_eagle},
    {.model_type = "mistral",
     .defaults = {.num_key_value_heads = 8, .max_position_embeddings = 131072},
     .nested = {.hidden_size = 4096,
                .num_hidden_layers = 32,
                .intermediate_size = 14336,
                .vocab_size = 32000,
                .num_attention_heads = 32},
     .windows = {.rule = window_rule::every_layer, .window = 4096}},
    {.model_type = "qwen2",
     .defaults = {.num_key_value_heads = 32, .max_position_embeddings = 32768},
     .nested = {.hidden_size = 4096,
                .num_hidden_layers = 32,
                .intermediate_size = 22016,
                .vocab_size = 151936,
                .num_attention_heads = 32},
     .qkv_biases = always,
     .windows = {.rule = window_rule::behind_first_layers, .window = 4096, .first_layers = 28}},
    {.model_type = "qwen3",
     .defaults = {.num_key_value_heads = 32, .head_dim = 128, .max_position_embeddings = 32768},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::head_dim,
     .windows = {.rule = window_rule::behind_first_layers, .window = 4096, .first_layers = 28}},
    {.model_type = "phi3",
     .defaults = {.max_position_embeddings = 4096},
     .windows = {.rule = window_rule::every_layer},
     .renames = {{"self_attn.q_proj", "self_attn.qkv_proj"},
                 {"self_attn.k_proj", "self_attn.qkv_proj"},
                 {"self_attn.v_proj", "self_attn.qkv_proj"},
                 {"mlp.gate_proj", "mlp.gate_up_proj"},
                 {"mlp.up_proj", "mlp.gate_up_proj"}}},
    {.model_type = "olmo2",
     .defaults = {.max_position_embeddings = 2048},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::full_width},
    {.model_type = "internlm2",
     .qkv_biases = {"bias", true},
     .output_bias = {"bias", true},
     .renames = {{"self_attn.q_proj", "attention.wqkv"},
                 {"self_attn.k_proj", "attention.wqkv"},
                 {"self_attn.v_proj", "attention.wqkv"},
                 {"self_attn.o_proj", "attention.wo"},
                 {"mlp.gate_proj", "feed_forward.w1"},
                 {"mlp.up_proj", "feed_forward.w3"},
                 {"mlp.down_proj", "feed_forward.w2"},
                 {"model.embed_tokens", "model.tok_embeddings"},
                 {"lm_head", "output"}}},
    exaone4_family,
    {.model_type = "stablelm",
     .defaults = {.num_key_value_heads = 32, .max_position_embeddings = 4096},
     .qkv_biases = {"use_qkv_bias", false},
     .qk_norm = query_key_norm::each_head,
     .has_qk_norm = {"qk_layernorm", false},
     .norm_biases = always,
     .adjust = adjust_stablelm},
    {.model_type = "gpt2",
     .keys = {.hidden_size = {{"n_embd", "hidden_size"}},
              .num_hidden_layers = {{"n_layer", "num_hidden_layers"}},
              .num_attention_heads = {{"n_head", "num_attention_heads"}},
              .num_key_value_heads = {},
              .intermediate_size = {{"n_inner"}},
              .max_position_embeddings = {{"n_positions", "max_position_embeddings"}}},
     .defaults = {.intermediate_per_hidden = 4, .max_position_embeddings = 1024, .tie_word_embeddings = true},
     .qkv_biases = always,
     .output_bias = always,
     .gated_mlp = false,
     .mlp_biases = always,
     .norm_biases = always,
     .learned_positions = true,
     .layer_prefix = "transformer.h.",
     .renames = {{"self_attn.q_proj", "attn.c_attn"},
                 {"self_attn.k_proj", "attn.c_attn"},
                 {"self_attn.v_proj", "attn.c_attn"},
                 {"self_attn.o_proj", "attn.c_proj"},
                 {"mlp.up_proj", "mlp.c_fc"},
                 {"mlp.down_proj", "mlp.c_proj"},
                 {"model.embed_tokens", "transformer.wte"}}},
    {.model_type = "gpt_neox",
     .keys = {.num_key_value_heads = {}},
     .defaults = {.max_position_embeddings = 2048},
     .qkv_biases = {"attention_bias", true},
     .output_bias = {"attention_bias", true},
     .gated_mlp = false,
     .mlp_biases = always,
     .norm_biases = always,
     .layer_prefix = "gpt_neox.layers.",
     .renames = {{"self_attn.q_proj", "attention.query_key_value"},
                 {"self_attn.k_proj", "attention.query_key_value"},
                 {"self_attn.v_proj", "attention.query_key_value"},
                 {"self_attn.o_proj", "attention.dense"},
                 {"mlp.up_proj", "mlp.dense_h_to_4h"},
                 {"mlp.down_proj", "mlp.dense_4h_to_h"},
                 {"model.embed_tokens", "gpt_neox.embed_in"},
                 {"lm_head", "embed_out"}}},
    {.model_type = "opt",
     .keys = {.hidden_size = {{"hidden_size", "d_model"}},
              .num_key_value_heads = {},
              .intermediate_size = {{"ffn_dim"}}},
     .defaults = {.max_position_embeddings = 2048, .tie_word_embeddings = true},
     .qkv_biases = {"enable_bias", true},
     .output_bias = {"enable_bias", true},
     .gated_mlp = false,
     .mlp_biases = {"enable_bias", true},
     .norm_biases = always,
     .learned_positions = true,
     .layer_prefix = "model.decoder.layers.",
     .renames = {{"self_attn.o_proj", "self_attn.out_proj"},
                 {"mlp.up_proj", "fc1"},
                 {"mlp.down_proj", "fc2"},
                 {"model.embed_tokens", "model.decoder.embed_tokens"}},
     .adjust = adjust_opt},
    {.model_type = "falcon",
     .keys = {.hidden_size = {{"hidden_size", "n_embed"}},
              .num_hidden_layers = {{"num_hidden_layers", "n_layer"}},
              .num_attention_heads = {{"num_attention_heads", "n_head"}},
              .num_key_value_heads = {},
              .intermediate_size = {{"ffn_hidden_size"}}},
     .defaults = {.intermediate_per_hidden = 4, .max_position_embeddings = 2048, .tie_word_embeddings = true},
     .qkv_biases = {"bias", false},
     .output_bias = {"bias", false},
     .gated_mlp = false,
     .mlp_biases = {"bias", false},
     .norm_biases = always,
     .layer_prefix = "transformer.h.",
     .renames = {{"self_attn.q_proj", "self_attention.query_key_value"},
                 {"self_attn.k_proj", "self_attention.query_key_value"},
                 {"self_attn.v_proj", "self_attention.query_key_value"},
                 {"self_attn.o_proj", "self_attention.dense"},
                 {"mlp.up_proj", "mlp.dense_h_to_4h"},
                 {"mlp.down_proj", "mlp.dense_4h_to_h"},
                 {"model.embed_tokens", "transformer.word_embeddings"}},
     .adjust = adjust_falcon},
    {.model_type = "starcoder2",
     .defaults = {.num_key_value_heads = 2, .max_position_embeddings = 4096, .tie_word_embeddings = true},
     .qkv_biases = {"use_bias", true},
     .output_bias = {"use_bias", true},
     .gated_mlp = false,
     .mlp_biases = {"use_bias", true},
     .norm_biases = always,
     .windows = {.rule = window_rule::every_layer},
     .renames = {{"mlp.up_proj", "mlp.c_fc"}, {"mlp.down_proj", "mlp.c_proj"}}},
};

}  // namespace kvbudget::inline v0::detail
