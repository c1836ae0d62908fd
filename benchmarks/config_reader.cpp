// What it costs to turn the text of a config.json into a model, beside what nlohmann_json alone takes to
// parse the same text.
#include <benchmark/benchmark.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kvbudget/io/huggingface.hpp"

namespace {

using namespace kvbudget;

/// Configs with as many keys as published ones have, in the order of their alphabet.
constexpr std::string_view dense = R"({
  "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
  "bos_token_id": 128000, "eos_token_id": 128001, "head_dim": 128, "hidden_act": "silu",
  "hidden_size": 8192, "initializer_range": 0.02, "intermediate_size": 28672,
  "max_position_embeddings": 131072, "mlp_bias": false, "model_type": "llama",
  "num_attention_heads": 64, "num_hidden_layers": 80, "num_key_value_heads": 8, "pretraining_tp": 1,
  "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
  "original_max_position_embeddings": 8192, "rope_type": "llama3"}, "rope_theta": 500000.0,
  "tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.43.0",
  "use_cache": true, "vocab_size": 128256})";

/// 48 layers whose types are listed one by one.
std::string with_layer_types() {
  std::string types;
  for (int layer = 0; layer < 48; ++layer) {
    types += layer == 0 ? "" : ", ";
    types += layer % 6 == 5 ? "\"full_attention\"" : "\"sliding_attention\"";
  }
  return R"({"architectures": ["Gemma3ForConditionalGeneration"], "boi_token_index": 255999,
    "dtype": "bfloat16", "eoi_token_index": 256000, "eos_token_id": [1, 106], "image_token_index": 262144,
    "initializer_range": 0.02, "mm_tokens_per_image": 256, "model_type": "gemma3",
    "text_config": {"attention_bias": false, "attention_dropout": 0.0, "head_dim": 256,
    "hidden_activation": "gelu_pytorch_tanh", "hidden_size": 3840, "intermediate_size": 15360,
    "layer_types": [)" +
         types + R"(], "max_position_embeddings": 131072, "model_type": "gemma3_text",
    "num_attention_heads": 16, "num_hidden_layers": 48, "num_key_value_heads": 8,
    "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0,
    "sliding_window": 1024, "use_cache": true, "vocab_size": 262208}, "transformers_version": "4.50.0",
    "vision_config": {"attention_dropout": 0.0, "hidden_act": "gelu_pytorch_tanh", "hidden_size": 1152,
    "image_size": 896, "intermediate_size": 4304, "layer_norm_eps": 1e-06, "model_type": "siglip_vision_model",
    "num_attention_heads": 16, "num_channels": 3, "num_hidden_layers": 27, "patch_size": 14,
    "vision_use_head": false}})";
}

std::string text_of(int which) { return which == 0 ? std::string(dense) : with_layer_types(); }

void parse_alone(benchmark::State& state, int which) {
  const std::string text = text_of(which);
  for (auto _ : state) {
    nlohmann::json document = nlohmann::json::parse(text);
    benchmark::DoNotOptimize(document);
  }
}
void config_to_model(benchmark::State& state, int which) {
  const std::string text = text_of(which);
  for (auto _ : state) {
    huggingface_model model = read_huggingface_config_text(text, "config.json");
    benchmark::DoNotOptimize(model);
  }
}
BENCHMARK_CAPTURE(parse_alone, dense, 0);
BENCHMARK_CAPTURE(config_to_model, dense, 0);
BENCHMARK_CAPTURE(parse_alone, layer_types, 1);
BENCHMARK_CAPTURE(config_to_model, layer_types, 1);

}  // namespace
