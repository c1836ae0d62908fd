#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/family.hpp"

/// DeepSeek-V4: compressed caches, grouped output projections, hyper-connections, hashed routing.
///
/// Weights: deepseek-ai/DeepSeek-V4-Flash and -Pro inference/model.py. With 4-bit experts counted as the
/// bytes they are packed in, and their scales, these are the published counts to the last element:
/// 158,069,433,298 (Flash) and 861,608,274,846 (Pro). DeepSeek-V4-Flash-Base stores embedding and head once
/// more with its draft layer. Class defaults: huggingface/transformers
/// models/deepseek_v4/configuration_deepseek_v4.py.
namespace kvbudget::inline v0::detail {

inline constexpr std::uint32_t hashed_routing = 1;  ///< a variant of layers: a table chooses the experts

/// The usual layer: a window without compression.
inline void adjust_deepseek_v4(const config_view& config, decoder_shape& shape) {
  const std::uint32_t heads = config.size_or({{"num_attention_heads"}}, 64);
  compressed_shape& attention = shape.layer.compressed;
  attention = {.heads = heads,
               .head_dim = config.size_or({{"head_dim"}}, 512),
               .rope_dim = config.size_or({{"qk_rope_head_dim"}}, 64),
               .q_lora_rank = config.size_or({{"q_lora_rank"}}, 1024),
               .o_lora_rank = config.size_or({{"o_lora_rank"}}, 1024),
               .o_groups = config.size_or({{"o_groups"}}, 8),
               .window = config.size_or({{"sliding_window"}}, 128),
               .streams = config.size_or({{"hc_mult"}}, 4)};
  if (const auto kv_heads = config.find({{"num_key_value_heads"}}); kv_heads && kv_heads->integer() != 1) {
    kv_heads->refuse("must be 1: all heads share a key");
  }
  if (attention.rope_dim > attention.head_dim) {
    config.refuse("qk_rope_head_dim " + std::to_string(attention.rope_dim) + " is more than head_dim " +
                  std::to_string(attention.head_dim));
  }
  const std::uint32_t width =
      size_product(config, "num_attention_heads x head_dim", heads, attention.head_dim);
  (void)size_product(config, "head_dim", attention.head_dim, 2);
  (void)size_product(config, "o_groups x o_lora_rank", attention.o_groups, attention.o_lora_rank);
  (void)size_product(config, "hc_mult x hidden_size", attention.streams, shape.hidden_size);
  (void)size_product(config, "hc_mult", attention.streams, std::uint64_t{attention.streams} + 2);
  if (heads % attention.o_groups != 0) {
    config.refuse("o_groups " + std::to_string(attention.o_groups) + " does not divide the " +
                  std::to_string(width) + " outputs of " + std::to_string(heads) + " heads");
  }
}

/// How one layer compresses: every `ratio` tokens, sparse with index keys or all of them.
struct compression {
  std::uint32_t ratio = 0;
  bool sparse = false;
};

/// `layer_types` decides, else `compress_ratios` (0: none; 4: sparse). Both go on behind the last layer, for
/// draft layers.
class compression_list {
 public:
  explicit compression_list(const config_view& config)
      : config_(config), types_(config.find({{"layer_types"}})), ratios_(config.find({{"compress_ratios"}})) {
    if (!types_ && !ratios_) config.refuse_missing({{"compress_ratios", "layer_types"}});
  }
  [[nodiscard]] const json_field& field() const { return types_ ? *types_ : *ratios_; }

  [[nodiscard]] compression at(std::size_t layer) const {
    const json_field entry = field().at(layer);
    if (!types_) {
      if (entry.integer() == 0) return {};
      return {config_view::size_in(entry), entry.integer() == 4};
    }
    if (entry.text() == "sliding_attention") return {};
    const bool sparse = entry.text() == "compressed_sparse_attention";
    if (!sparse && entry.text() != "heavily_compressed_attention") {
      entry.refuse("layer type \"" + printable(entry.text(), 40) +
                   "\" is unknown, expected sliding_attention, compressed_sparse_attention or "
                   "heavily_compressed_attention");
    }
    const std::uint32_t usual = sparse ? 4 : 128;
    const auto rates = config_.find({{"compress_rates"}});
    return {rates ? config_.nested(*rates).size_or({{entry.text().c_str()}}, usual) : usual, sparse};
  }

 private:
  const config_view& config_;
  std::optional<json_field> types_;
  std::optional<json_field> ratios_;
};

inline void compress(const config_view& config, compressed_shape& attention, const compression& how) {
  attention.compress_ratio = how.ratio;
  attention.overlapping = how.sparse;
  if (!how.sparse) return;
  attention.indexer_heads = config.size_or({{"index_n_heads"}}, 64);
  attention.indexer_dim = config.size_or({{"index_head_dim"}}, 128);
  (void)size_product(config, "index_head_dim", attention.indexer_dim, 2);
}

/// The first `num_hash_layers` layers, or those that `mlp_layer_types` calls hash_moe, look their experts up.
[[nodiscard]] inline std::vector<bool> hashed_layers(const config_view& config, std::uint32_t layers) {
  std::vector<bool> hashed(layers, false);
  if (const auto types = config.find({{"mlp_layer_types"}})) {
    expect_entry_per_layer(config, *types, layers);
    for (std::uint32_t i = 0; i < layers; ++i) {
      const json_field type = types->at(std::size_t{i});
      hashed[i] = type.text() == "hash_moe";
      if (!hashed[i] && type.text() != "moe") {
        type.refuse("MLP type \"" + printable(type.text(), 40) + "\" is unknown, expected hash_moe or moe");
      }
    }
    return hashed;
  }
  const std::uint64_t first = count_or(config, {{"num_hash_layers"}}, 3);
  for (std::uint64_t i = 0; i < first && i < layers; ++i) hashed[i] = true;
  return hashed;
}

inline void plan_deepseek_v4(const config_view& config, const decoder_shape& shape,
                             std::vector<layer_plan>& layers) {
  const compression_list compressions(config);
  if (compressions.field().size() < layers.size()) {
    expect_entry_per_layer(config, compressions.field(), shape.num_hidden_layers);
  }
  const std::vector<bool> hashed = hashed_layers(config, shape.num_hidden_layers);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    compress(config, layers[i].compressed, compressions.at(i));
    if (!hashed[i]) continue;
    layers[i].variant = hashed_routing;
    layers[i].experts.correction_bias = false;
  }
}

/// A draft layer that no list speaks of does not compress.
[[nodiscard]] inline layer_plan draft_of_deepseek_v4(const config_view& config, const decoder_shape& shape,
                                                     const std::vector<layer_plan>& layers,
                                                     std::uint32_t number) {
  layer_plan plan = layers.back();
  plan.variant = 0;
  plan.experts.correction_bias = true;
  plan.compressed = shape.layer.compressed;
  const compression_list compressions(config);
  const std::size_t at = std::size_t{shape.num_hidden_layers} + number;
  if (at < compressions.field().size()) compress(config, plan.compressed, compressions.at(at));
  return plan;
}

/// What pools tokens into one entry of `dim`: keys and gates, a bias per position, a norm.
inline void put_compressor(layer_draft& layer, std::uint32_t hidden, const compressed_shape& shape,
                           std::uint32_t dim, const char* modules) {
  using namespace weight_groups;
  const std::uint32_t width = (shape.overlapping ? 2 : 1) * dim;
  put(layer, whole(module_role::attention, width, hidden, 2), modules);
  put(layer, vectors(module_role::attention, std::uint64_t{shape.compress_ratio} * width), nullptr);
}

/// Attention, routing, and what mixes n streams into the input of a sublayer and its output back: (2 + n)·n ×
/// n·H, a bias for each row, and three scales.
inline void finish_deepseek_v4(const decoder_shape& decoder, const layer_plan& plan, layer_draft& layer) {
  using namespace weight_groups;
  constexpr module_role role = module_role::attention;
  const compressed_shape& shape = plan.compressed;
  const std::uint32_t hidden = decoder.hidden_size;
  const std::uint32_t heads = shape.heads;
  layer.add(stores::compressed(shape.head_dim, shape.rope_dim, shape.window, shape.compress_ratio,
                               shape.indexer_dim, shape.overlapping));
  layer.num_attention_heads = heads;
  layer.key_value_heads = 1;
  layer.query_dim = shape.head_dim;
  layer.value_dim = shape.head_dim;
  const std::uint32_t query_width = heads * shape.head_dim;
  const std::uint32_t output_rank = shape.o_groups * shape.o_lora_rank;
  put(layer, whole(role, shape.q_lora_rank, hidden), "attn.wq_a");
  put(layer, by_rows(role, query_width, shape.q_lora_rank, heads), "attn.wq_b");
  put(layer, whole(role, shape.head_dim, hidden), "attn.wkv");
  put(layer, by_rows(role, output_rank, query_width / shape.o_groups, shape.o_groups), "attn.wo_a");
  put(layer, by_columns(role, hidden, output_rank, shape.o_groups), "attn.wo_b");
  put(layer, split_bias(role, heads, heads), nullptr);  // attention sinks
  put(layer, vectors(module_role::norm, shape.q_lora_rank), nullptr);
  put(layer, vectors(module_role::norm, shape.head_dim, shape.compress_ratio != 0 ? 2 : 1), nullptr);
  if (shape.compress_ratio != 0) {
    put_compressor(layer, hidden, shape, shape.head_dim, "attn.compressor.wkv|attn.compressor.wgate");
  }
  if (shape.indexer_dim != 0) {
    put(layer, whole(role, std::uint64_t{shape.indexer_heads} * shape.indexer_dim, shape.q_lora_rank),
        "attn.indexer.wq_b");
    put(layer, whole(role, shape.indexer_heads, hidden), "attn.indexer.weights_proj");
    put_compressor(layer, hidden, shape, shape.indexer_dim,
                   "attn.indexer.compressor.wkv|attn.indexer.compressor.wgate");
    put(layer, vectors(module_role::norm, shape.indexer_dim), nullptr);
  }
  if (plan.variant == hashed_routing) {
    weight_group choices =
        whole(module_role::router, decoder.vocab_size, plan.experts.sizes.num_experts_per_tok);
    choices.kind = tensor_kind::vector;  // numbers of experts, never quantized
    put(layer, choices, nullptr);
  }
  const std::uint32_t mixed = (2 + shape.streams) * shape.streams;
  put(layer, whole(module_role::norm, mixed, shape.streams * hidden, 2), nullptr);
  put(layer, vectors(module_role::norm, std::uint64_t{mixed} + 3, 2), nullptr);
}

/// Joins the streams in front of a head: n × n·H, n biases and one scale.
[[nodiscard]] inline weight_group stream_head(const decoder_shape& shape) {
  const std::uint32_t streams = shape.layer.compressed.streams;
  return weight_groups::whole(module_role::norm, streams, streams * shape.hidden_size);
}
[[nodiscard]] inline weight_group stream_head_vectors(const decoder_shape& shape) {
  return weight_groups::vectors(module_role::norm, std::uint64_t{shape.layer.compressed.streams} + 1);
}
inline void finish_model_of_deepseek_v4(const config_view&, const decoder_shape& shape,
                                        const std::vector<layer_plan>&, model_builder& builder) {
  builder.add(stream_head(shape));
  builder.add(stream_head_vectors(shape));
}
inline void join_deepseek_v4_draft(const decoder_shape& shape, layer_draft& layer) {
  using namespace weight_groups;
  const std::uint32_t hidden = shape.hidden_size;
  put(layer, whole(module_role::draft, hidden, hidden, 2), "e_proj|h_proj");
  put(layer, vectors(module_role::draft, hidden, 3), nullptr);
  put(layer, stream_head(shape), nullptr);
  put(layer, stream_head_vectors(shape), nullptr);
}

[[nodiscard]] constexpr model_family deepseek_v4_named(const char* model_type) {
  return {.model_type = model_type,
          .keys = {.num_attention_heads = {}, .num_key_value_heads = {}, .intermediate_size = {}},
          .defaults = {.vocab_size = 129280, .max_position_embeddings = 1048576},
          .experts = {.where = expert_layers::all,
                      .num_experts = {{"n_routed_experts", "num_local_experts"}},
                      .shared_experts = {{"n_shared_experts"}},
                      .correction_bias = always,
                      .num_experts_default = 256,
                      .num_experts_per_tok_default = 6,
                      .intermediate_size_default = 2048,
                      .shared_experts_default = 1},
          .windows = {.layer_types = false},
          .layer_prefix = "layers.",
          .renames = {{"model.embed_tokens", "embed"},
                      {"lm_head", "head"},
                      {"mlp.gate", "ffn.gate"},
                      {"mlp.experts.0.gate_proj", "ffn.experts.0.w1"},
                      {"mlp.experts.0.up_proj", "ffn.experts.0.w3"},
                      {"mlp.experts.0.down_proj", "ffn.experts.0.w2"},
                      {"mlp.shared_experts.gate_proj", "ffn.shared_experts.w1"},
                      {"mlp.shared_experts.up_proj", "ffn.shared_experts.w3"},
                      {"mlp.shared_experts.down_proj", "ffn.shared_experts.w2"}},
          .next_token_layers = true,
          .draft_prefix = "mtp.",
          .adjust = adjust_deepseek_v4,
          .plan = plan_deepseek_v4,
          .finish_layer = finish_deepseek_v4,
          .plan_draft = draft_of_deepseek_v4,
          .join_draft = join_deepseek_v4_draft,
          .finish_model = finish_model_of_deepseek_v4};
}

inline constexpr model_family deepseek_v4_families[] = {
    deepseek_v4_named("deepseek_v4"),
    deepseek_v4_named("deepseek_ref"),  // DeepSeek's own code, and conversions made with it
};

}  // namespace kvbudget::inline v0::detail
