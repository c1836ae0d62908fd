#pragma once

// Models and short-hands that many tests use. Shapes are public facts of the models they are named after.

#include "kvbudget/kvbudget.hpp"

namespace samples {

using namespace kvbudget;
using namespace kvbudget::literals;
namespace f = kvbudget::formats;

using llama_70b =
    decoder<hidden<8192>, vocabulary<128256>, repeat<80, block<gqa<64, 8, 128>, gated_mlp<28672>>>>;
using mixtral_8x7b = decoder<hidden<4096>, vocabulary<32000>,
                             repeat<32, block<gqa<32, 8, 128>, mixture_of_experts<8, 2, 14336>>>>;

using gemma_local = sliding_window<gqa<32, 16, 128>, 1024>;
using gemma_mlp = gated_mlp<21504>;
using gemma_27b =
    decoder<hidden<5376>, vocabulary<262208, true>,
            repeat<10, repeat<5, block<gemma_local, gemma_mlp>>, block<gqa<32, 16, 128>, gemma_mlp>>,
            repeat<2, block<gemma_local, gemma_mlp>>>;

/// 61 layers of multi-head latent attention, three of them dense (DeepSeek-V3's shape).
using deepseek_attention = mla<128, 512, 64, 128, 128, 1536>;
using deepseek_v3 =
    decoder<hidden<7168>, vocabulary<129280>, repeat<3, block<deepseek_attention, gated_mlp<18432>>>,
            repeat<58, block<deepseek_attention, mixture_of_experts<256, 8, 2048, 2048>>>>;

/// Three linear layers to one full one (Qwen3-Next's mixers with a small MLP).
using hybrid = decoder<hidden<2048>, vocabulary<151936>,
                       repeat<12, repeat<3, block<gated_delta_net<32, 128, 16, 128, 4>, gated_mlp<5120>>>,
                              block<gqa<16, 2, 256>, gated_mlp<5120>>>>;

/// The article's 70B: 80 layers of full multi-head attention, and a round total of weights.
constexpr model_architecture make_article_70b() {
  model_architecture model;
  detail::assign_text(model.name, "article-70b-mha");
  model.hidden_size = 8192;
  model.parameters_assumed = true;
  layer_kind layer;
  layer.add(stores::full(64, 128));
  layer.num_attention_heads = 64;
  layer.key_value_heads = 64;
  layer.query_dim = 128;
  layer.value_dim = 128;
  model.add_layers(layer, 80);
  model.add(weight_group{.rows = 70'000'000'000, .rule = shard_rule::spread});
  return model;
}
inline constexpr model_architecture article_70b = make_article_70b();

/// `sequences` requests of `context` tokens, everything in one format.
constexpr deployment uniform(const model_architecture& model, const number_format& format,
                             std::uint64_t sequences, std::uint64_t context) {
  deployment d{.model = model, .weights = format, .kv_cache = format};
  d.dtype = f::bf16;
  d.workload.sequences = sequences;
  d.workload.context = tokens{context};
  return d;
}
constexpr deployment on_ranks(deployment d, const parallel_layout& layout) {
  d.parallel = layout;
  return d;
}
constexpr deployment with_pins(deployment d, bytes activations, bytes framework, bytes margin) {
  d.pinned.activations = activations;
  d.pinned.framework = framework;
  d.pinned.margin = margin;
  return d;
}

/// amount / 10^9 in tenths, rounded half up: 42.9 GB is 429.
constexpr std::uint64_t tenths_of_gb(bytes amount) { return (amount.value + 50'000'000) / 100'000'000; }
/// amount / 10^9 in hundredths, rounded half up.
constexpr std::uint64_t hundredths_of_gb(bytes amount) { return (amount.value + 5'000'000) / 10'000'000; }

}  // namespace samples
