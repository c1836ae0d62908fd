#pragma once

#include "kvbudget/io/huggingface/family.hpp"
#include "kvbudget/io/huggingface/vision.hpp"

/// Google's Gemma. Class defaults: huggingface/transformers models/gemma*/configuration_gemma*.py.
namespace kvbudget::inline v0::detail {

/// Gemma: an encoder made of a decoder's layers keeps no cache.
inline void refuse_bidirectional(const config_view& config, decoder_shape&) {
  if (!config.flag({"use_bidirectional_attention", false})) return;
  config.field().at("use_bidirectional_attention").refuse("encoders keep no cache, expected false");
}

inline constexpr model_family gemma_families[] = {
    {.model_type = "gemma",
     .defaults = {.vocab_size = 256000,
                  .num_key_value_heads = 16,
                  .head_dim = 256,
                  .max_position_embeddings = 8192,
                  .tie_word_embeddings = true},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias},
    {.model_type = "gemma2",
     .defaults = {.vocab_size = 256000,
                  .num_key_value_heads = 4,
                  .head_dim = 256,
                  .max_position_embeddings = 8192,
                  .tie_word_embeddings = true},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .norms_per_layer = 4,
     .windows = {.rule = window_rule::alternating, .window = 4096},
     .adjust = refuse_bidirectional},
    {.model_type = "gemma3", .text_model_type = "gemma3_text", .add_towers = add_siglip_gemma3},
    {.model_type = "gemma3_text",
     .defaults = {.vocab_size = 262208,
                  .num_attention_heads = 8,
                  .num_key_value_heads = 4,
                  .head_dim = 256,
                  .max_position_embeddings = 131072,
                  .tie_word_embeddings = true},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::head_dim,
     .norms_per_layer = 4,
     .windows = {.rule = window_rule::pattern, .window = 4096, .pattern = 6},
     .adjust = refuse_bidirectional},
};

}  // namespace kvbudget::inline v0::detail
