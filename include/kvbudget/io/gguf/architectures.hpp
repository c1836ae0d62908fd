#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kvbudget/io/format_names.hpp"

/// What tells one `general.architecture` from another, as plain data: adding one is adding a line to the
/// table.
namespace kvbudget::inline v0::detail {

/// Which layers keep keys and values, and which a recurrent state.
enum class gguf_layers : std::uint8_t {
  attention,           ///< every layer with KV heads attends; one without (head_count_kv 0) keeps nothing
  encoder,             ///< attention over the whole input at once: no cache
  recurrent,           ///< every layer keeps a state
  no_kv_heads,         ///< layers with head_count_kv 0 keep a state, the others attend
  no_kv_heads_no_ffn,  ///< the same where feed_forward_length is 0 too; with an FFN they keep nothing
  interval,            ///< `attention.recurrent_layers`, else all but each `full_attention_interval`-th
  both,                ///< every layer keeps both
  encoder_decoder      ///< a decoder of `decoder_block_count` layers that also attends to an encoder
};

/// What kind of state a recurrent layer keeps; see `state_kind`.
enum class gguf_state : std::uint8_t {
  none,
  mamba1,
  mamba2,
  gated_delta_net,
  kimi_delta,
  linear_attention,
  short_convolution,
  rwkv
};

/// Where windows stand in the stack of layers.
enum class gguf_windows : std::uint8_t {
  none,         ///< the architecture has none: `attention.sliding_window` is not looked at
  required,     ///< `attention.sliding_window`, which must be there unless it has a default
  optional,     ///< windows where `attention.sliding_window` is there and not 0
  chunked,      ///< chunks, unless `attention.sliding_window` is 0
  every_layer,  ///< all layers where the key is there and not 0
  compressed    ///< DeepSeek-V4: a window in every layer, beside compressed entries
};

/// Windows: `period` and `window` are what counts where the keys are absent; 0 = the key must be there.
struct gguf_window_traits {
  gguf_windows rule = gguf_windows::none;
  std::uint64_t window = 0;
  std::uint32_t period = 0;       ///< of each so many layers one keeps everything
  bool full_first = false;        ///< the first of each period, not the last
  std::uint32_t layers_with = 0;  ///< only models of so many layers have windows; 0 = all
};

/// Which layers keep an index key of `attention.indexer.key_length` beside their cache.
enum class gguf_indexer : std::uint8_t {
  none,
  every_layer,          ///< DeepSeek-V3.2
  listed,               ///< GLM-5: `attention.indexer.types`
  after_leading_dense,  ///< MiniMax-M3: from `leading_dense_block_count` on
};

/// One architecture.
struct gguf_architecture {
  const char* name = "";
  gguf_layers layers = gguf_layers::attention;
  gguf_state state = gguf_state::none;
  gguf_window_traits windows{};
  gguf_indexer indexer = gguf_indexer::none;
  std::uint32_t interval = 0;           ///< `full_attention_interval` where the key is absent
  std::uint32_t layers_with_cache = 0;  ///< so many first layers own a cache, the rest share; 0 = by the key
};

// clang-format off
/// The architectures. Sources: ggml-org/llama.cpp, src/llama-arch.cpp (names and keys), src/models/<name>.cpp
/// (load_arch_hparams: defaults, window patterns, recurrent layers), src/llama-model.cpp (create_memory: who has no cache).
inline constexpr gguf_architecture gguf_architectures[] = {
    // plain attention
    {"llama"}, {"deci"}, {"falcon"}, {"grok"}, {"gpt2"}, {"gptj"}, {"gptneox"}, {"mpt"}, {"baichuan"}, {"starcoder"},
    {"refact"}, {"bloom"}, {"stablelm"}, {"qwen"}, {"qwen2"}, {"qwen2moe"}, {"qwen2vl"}, {"qwen3"}, {"qwen3moe"},
    {"qwen3vl"}, {"qwen3vlmoe"}, {"phi2"}, {"plamo"}, {"codeshell"}, {"orion"}, {"internlm2"}, {"minicpm"},
    {"minicpm3"}, {"gemma"}, {"starcoder2"}, {"xverse"}, {"command-r"}, {"dbrx"}, {"olmo"}, {"olmoe"}, {"openelm"},
    {"arctic"}, {"deepseek"}, {"deepseek2"}, {"deepseek2-ocr"}, {"chatglm"}, {"glm4"}, {"glm4moe"}, {"bitnet"}, {"jais"},
    {"jais2"}, {"nemotron"}, {"exaone"}, {"granite"}, {"granitemoe"}, {"chameleon"}, {"plm"}, {"bailingmoe"},
    {"bailingmoe2"}, {"dots1"}, {"arcee"}, {"ernie4_5"}, {"ernie4_5-moe"}, {"hunyuan-moe"}, {"hunyuan-dense"},
    {"hunyuan_vl"}, {"hy_v3"}, {"smollm3"}, {"seed_oss"}, {"grovemoe"}, {"apertus"}, {"minimax-m2"}, {"cogvlm"},
    {"pangu-embedded"}, {"mistral3"}, {"mistral4"}, {"paddleocr"}, {"maincoder"}, {"talkie"},
    // windows
    {.name = "llama4", .windows = {.rule = gguf_windows::chunked, .window = 8192, .period = 4}},
    {.name = "gemma2", .windows = {.rule = gguf_windows::required, .window = 4096, .period = 2}},
    {.name = "gemma3", .windows = {.rule = gguf_windows::optional, .period = 6}},
    {.name = "gemma3n", .windows = {.rule = gguf_windows::required, .period = 5}, .layers_with_cache = 20},
    {.name = "gemma4", .windows = {.rule = gguf_windows::required}},
    {.name = "phi3", .windows = {.rule = gguf_windows::every_layer}},
    {.name = "phimoe", .windows = {.rule = gguf_windows::every_layer}},
    {.name = "gpt-oss", .windows = {.rule = gguf_windows::required, .period = 2}},
    {.name = "cohere2", .windows = {.rule = gguf_windows::required, .period = 4}},
    {.name = "cohere2moe", .windows = {.rule = gguf_windows::required, .period = 4, .full_first = true}},
    {.name = "olmo2", .windows = {.rule = gguf_windows::optional, .period = 4}},
    {.name = "exaone4", .windows = {.rule = gguf_windows::required, .window = 4096, .period = 4, .layers_with = 64}},
    {.name = "exaone-moe", .windows = {.rule = gguf_windows::required, .window = 128, .period = 4}},
    {.name = "afmoe", .windows = {.rule = gguf_windows::required, .period = 4}},
    {.name = "plamo3", .windows = {.rule = gguf_windows::optional, .period = 8}},
    {.name = "smallthinker", .windows = {.rule = gguf_windows::optional, .period = 4, .full_first = true}},
    {.name = "laguna", .windows = {.rule = gguf_windows::optional, .full_first = true}},
    {.name = "mellum", .windows = {.rule = gguf_windows::optional}},
    {.name = "mimo2", .windows = {.rule = gguf_windows::required}},
    {.name = "step35", .windows = {.rule = gguf_windows::required}},
    // sparse attention
    {.name = "deepseek32", .indexer = gguf_indexer::every_layer},
    {.name = "glm-dsa", .indexer = gguf_indexer::listed},
    {.name = "minimax-m3", .indexer = gguf_indexer::after_leading_dense},
    {.name = "deepseek4", .windows = {.rule = gguf_windows::compressed}},
    // recurrent and hybrid
    {.name = "mamba", .layers = gguf_layers::recurrent, .state = gguf_state::mamba1},
    {.name = "mamba2", .layers = gguf_layers::recurrent, .state = gguf_state::mamba2},
    {.name = "rwkv6", .layers = gguf_layers::recurrent, .state = gguf_state::rwkv},
    {.name = "rwkv6qwen2", .layers = gguf_layers::recurrent, .state = gguf_state::rwkv},
    {.name = "rwkv7", .layers = gguf_layers::recurrent, .state = gguf_state::rwkv},
    {.name = "arwkv7", .layers = gguf_layers::recurrent, .state = gguf_state::rwkv},
    {.name = "jamba", .layers = gguf_layers::no_kv_heads, .state = gguf_state::mamba1},
    {.name = "plamo2", .layers = gguf_layers::no_kv_heads, .state = gguf_state::mamba2},
    {.name = "granitehybrid", .layers = gguf_layers::no_kv_heads, .state = gguf_state::mamba2},
    {.name = "nemotron_h", .layers = gguf_layers::no_kv_heads_no_ffn, .state = gguf_state::mamba2},
    {.name = "nemotron_h_moe", .layers = gguf_layers::no_kv_heads_no_ffn, .state = gguf_state::mamba2},
    {.name = "falcon-h1", .layers = gguf_layers::both, .state = gguf_state::mamba2},
    {.name = "lfm2", .layers = gguf_layers::no_kv_heads, .state = gguf_state::short_convolution},
    {.name = "lfm2moe", .layers = gguf_layers::no_kv_heads, .state = gguf_state::short_convolution},
    {.name = "qwen3next", .layers = gguf_layers::interval, .state = gguf_state::gated_delta_net, .interval = 4},
    {.name = "qwen35", .layers = gguf_layers::interval, .state = gguf_state::gated_delta_net, .interval = 4},
    {.name = "qwen35moe", .layers = gguf_layers::interval, .state = gguf_state::gated_delta_net, .interval = 4},
    {.name = "kimi-linear", .layers = gguf_layers::no_kv_heads, .state = gguf_state::kimi_delta},
    {.name = "bailingmoe3", .layers = gguf_layers::no_kv_heads, .state = gguf_state::kimi_delta},
    {.name = "minimax-01", .layers = gguf_layers::interval, .state = gguf_state::linear_attention, .interval = 8},
    // no cache: encoders, and diffusion models that see the whole text at every step
    {.name = "bert", .layers = gguf_layers::encoder}, {.name = "modern-bert", .layers = gguf_layers::encoder},
    {.name = "nomic-bert", .layers = gguf_layers::encoder}, {.name = "nomic-bert-moe", .layers = gguf_layers::encoder},
    {.name = "neo-bert", .layers = gguf_layers::encoder}, {.name = "jina-bert-v2", .layers = gguf_layers::encoder},
    {.name = "jina-bert-v3", .layers = gguf_layers::encoder}, {.name = "eurobert", .layers = gguf_layers::encoder},
    {.name = "gemma-embedding", .layers = gguf_layers::encoder}, {.name = "llama-embed", .layers = gguf_layers::encoder},
    {.name = "t5encoder", .layers = gguf_layers::encoder}, {.name = "dream", .layers = gguf_layers::encoder},
    {.name = "llada", .layers = gguf_layers::encoder}, {.name = "llada-moe", .layers = gguf_layers::encoder},
    {.name = "rnd1", .layers = gguf_layers::encoder},
    {.name = "t5", .layers = gguf_layers::encoder_decoder},
};

/// Architectures that are known and not read, with what to do instead.
inline constexpr struct {
  const char* name;
  const char* reason;
} refused_gguf_architectures[] = {
    {"clip", "is a projector: read it beside the text model it belongs to"},
    {"mllama", "its cross-attention cache depends on the images, which the file does not say: describe the model by hand"},
    {"gemma4-assistant", "is a draft model that reads the cache of another one"},
    {"eagle3", "is a draft head that reads the states of another model"},
    {"dflash", "is a draft model that reads the states of another one"},
    {"wavtokenizer-dec", "is an audio codec, not a language model"},
};
// clang-format on

[[nodiscard]] inline const gguf_architecture* find_gguf_architecture(std::string_view name) {
  for (const gguf_architecture& entry : gguf_architectures) {
    if (name == entry.name) return &entry;
  }
  return nullptr;
}

/// The supported names, for messages.
/// " (did you mean qwen3, qwen2?)", or nothing where no supported architecture looks like it.
[[nodiscard]] inline std::string nearest_gguf_architectures(std::string_view name) {
  const std::string asked(name.substr(0, 60));
  suggestions near(key_of(asked.c_str()));
  for (const gguf_architecture& entry : gguf_architectures) near.offer(entry.name, entry.name);
  const std::string text = near.text_or("");
  return text.back() == '?' ? " (" + text.substr(2) + ")" : std::string();
}

}  // namespace kvbudget::inline v0::detail
