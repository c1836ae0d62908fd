#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/family.hpp"

/// Decoders with usual attention and experts in place of the MLP.
///
/// Class defaults and shapes: huggingface/transformers models/<model_type>/configuration_<model_type>.py and
/// modeling_<model_type>.py, unless a family names another source.
namespace kvbudget::inline v0::detail {

inline constexpr key_names expert_width_is_mlp_width{{"intermediate_size"}};

/// DBRX: sizes of attention and experts stand in objects of their own.
/// Source: huggingface/transformers models/dbrx/configuration_dbrx.py.
inline constexpr expert_traits dbrx_experts{.num_experts = {{"moe_num_experts"}},
                                            .num_experts_per_tok = {{"moe_top_k"}},
                                            .intermediate_size = {{"ffn_hidden_size"}},
                                            .num_experts_default = 4,
                                            .num_experts_per_tok_default = 1,
                                            .intermediate_size_default = 3584};

[[nodiscard]] inline config_view dbrx_part(const config_view& config, const char* key) {
  const std::optional<json_field> part = config.find({{key}});
  if (!part) config.refuse_missing({{key}});
  return config.nested(*part);
}
inline void adjust_dbrx(const config_view& config, decoder_shape& shape) {
  shape.layer.attention.kv_heads = dbrx_part(config, "attn_config").size_or({{"kv_n_heads"}}, 1);
}
inline void plan_dbrx(const config_view& config, const decoder_shape&, std::vector<layer_plan>& layers) {
  const expert_shape experts = experts_in(dbrx_part(config, "ffn_config"), dbrx_experts, true);
  for (layer_plan& layer : layers) layer.experts = experts;
}

/// dots.llm1: layers from `max_window_layers` on slide, whether or not `use_sliding_window` is there.
/// Source: huggingface/transformers models/dots1/configuration_dots1.py.
inline void plan_dots1(const config_view& config, const decoder_shape&, std::vector<layer_plan>& layers) {
  if (config.find({{"layer_types"}})) return;
  const std::uint64_t first = count_or(config, {{"max_window_layers"}}, 62);
  if (first >= layers.size()) return;
  const std::optional<std::uint64_t> window = window_of(config, {.window = 4096});
  for (std::uint64_t i = first; window && i < layers.size(); ++i) layers[i].attention.window = *window;
}

/// ERNIE 4.5: experts on every `moe_layer_interval`-th layer from a first to a last one (−1 = of the model).
/// Source: huggingface/transformers models/ernie4_5_moe/modeling_ernie4_5_moe.py, Ernie4_5_MoeDecoderLayer.
inline void plan_ernie4_5_moe(const config_view& config, const decoder_shape& shape,
                              std::vector<layer_plan>& layers) {
  const std::uint64_t first = count_or(config, {{"moe_layer_start_index"}}, 1);
  const std::uint32_t step = config.size_or({{"moe_layer_interval"}}, 1);
  std::uint64_t last = layers.size() - 1;
  const auto given = config.find({{"moe_layer_end_index"}});
  if (given && !(given->value().is_number_integer() && given->value() == -1)) last = given->integer();
  for (std::uint64_t i = 0; i < layers.size(); ++i) {
    if ((i + 1) % step == 0 && i >= first && i <= last) continue;
    layers[i].experts = expert_shape{};
    layers[i].mlp = shape.layer.mlp;
  }
}
/// Its draft layer is a dense one, behind one norm for tokens and one for states.
/// Source: vllm-project/vllm model_executor/models/ernie_mtp.py.
[[nodiscard]] inline layer_plan dense_draft(const config_view&, const decoder_shape& shape,
                                            const std::vector<layer_plan>& layers, std::uint32_t) {
  layer_plan plan = layers.back();
  plan.experts = expert_shape{};
  plan.mlp = shape.layer.mlp;
  return plan;
}
inline void join_ernie_draft(const decoder_shape& shape, layer_draft& layer) {
  using namespace weight_groups;
  const std::uint32_t hidden = shape.hidden_size;
  put(layer, whole(module_role::draft, hidden, 2 * hidden), "mtp_linear_proj");
  put(layer, vectors(module_role::draft, hidden, 2), nullptr);
}

/// Biases on experts or shared experts are not counted: the config must not ask for them.
inline void refuse_expert_biases(const config_view& config, const char* key) {
  if (config.flag({key, false})) {
    config.field().at(key).refuse("biases of experts are not supported for " +
                                  std::string(config.model_type()) + ", expected false");
  }
}

/// ERNIE 4.5 VL: tokens of images have as many experts of their own, of the second entry of
/// `moe_intermediate_size`, and a router beside that of text. A text-only request never works with them:
/// they are counted as vision. The first and last layer with experts are each one number or one for text and
/// one for images. Source: huggingface/transformers
/// models/ernie4_5_vl_moe/modeling_ernie4_5_vl_moe.py, Ernie4_5_VLMoeMoeBlock; lists:
/// vllm-project/vllm vllm/model_executor/models/ernie45_vl_moe.py.
[[nodiscard]] inline std::uint32_t of_text_or_images(const config_view& config, const char* key,
                                                     std::size_t which, std::uint32_t class_default) {
  const auto given = config.find({{key}});
  if (!given || !given->value().is_array()) return config.size_or({{key}}, class_default);
  if (given->size() != 2) given->refuse("must be a number, or one for text and one for images");
  return config_view::size_in(given->at(which));
}
[[nodiscard]] inline std::uint64_t nearest_layer(const config_view& config, const char* key, bool first,
                                                 std::uint64_t otherwise) {
  const auto given = config.find({{key}});
  if (!given || (given->value().is_number_integer() && given->value() == -1)) return otherwise;
  if (!given->value().is_array()) return given->integer();
  if (given->size() != 2) given->refuse("must be a number, or one for text and one for images");
  const std::uint64_t text = given->at(std::size_t{0}).integer();
  const std::uint64_t images = given->at(std::size_t{1}).integer();
  return first == (text < images) ? text : images;
}
inline void plan_ernie4_5_vl(const config_view& config, const decoder_shape& shape,
                             std::vector<layer_plan>& layers) {
  refuse_expert_biases(config, "use_bias");
  constexpr std::size_t text = 0;
  constexpr std::size_t images = 1;
  const std::uint32_t count = of_text_or_images(config, "moe_num_experts", text, 64);
  if (of_text_or_images(config, "moe_num_experts", images, 64) != count) {
    config.field().at("moe_num_experts").refuse("must be the same for text and images");
  }
  expert_shape experts;
  experts.sizes = {.num_experts = count,
                   .num_experts_per_tok = of_text_or_images(config, "moe_k", text, 6),
                   .intermediate = of_text_or_images(config, "moe_intermediate_size", text, 1536)};
  const std::uint64_t shared = count_or(config, {{"moe_num_shared_experts"}}, 2);
  experts.sizes.shared_intermediate =
      size_product(config, "moe_num_shared_experts", shared, experts.sizes.intermediate);
  experts.correction_bias = true;
  if (experts.sizes.num_experts_per_tok > count) config.refuse("moe_k is more than moe_num_experts");
  (void)size_product(config, "experts", count, 2);
  const std::uint32_t step = config.size_or({{"moe_layer_interval"}}, 1);
  const std::uint64_t first = nearest_layer(config, "moe_layer_start_index", true, 1);
  const std::uint64_t last = nearest_layer(config, "moe_layer_end_index", false, layers.size() - 1);
  const auto types = config.find({{"mlp_layer_types"}});
  if (types) expect_entry_per_layer(config, *types, shape.num_hidden_layers);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool sparse =
        types ? types->at(i).text() == "sparse" : (i + 1) % step == 0 && i >= first && i <= last;
    if (!sparse) continue;
    layers[i].mlp = mlp_shape{};
    layers[i].experts = experts;
    layers[i].variant = of_text_or_images(config, "moe_intermediate_size", images, 512);
  }
}
/// The experts of images, as wide as the layer's variant.
inline void finish_ernie4_5_vl(const decoder_shape& shape, const layer_plan& plan, layer_draft& layer) {
  using namespace weight_groups;
  if (plan.variant == 0) return;
  const std::uint32_t hidden = shape.hidden_size;
  const std::uint32_t count = plan.experts.sizes.num_experts;
  weight_group group = expert_matrices(plan.variant, hidden, 2 * count, plan.variant, shard_axis::rows);
  group.role = module_role::vision;
  put(layer, group, "mlp.experts.64.gate_proj|mlp.experts.64.up_proj");
  group = expert_matrices(hidden, plan.variant, count, plan.variant, shard_axis::columns);
  group.role = module_role::vision;
  put(layer, group, "mlp.experts.64.down_proj");
  put(layer, whole(module_role::vision, count, hidden), "mlp.gate");
  put(layer, vectors(module_role::vision, count), nullptr);
}

/// Bailing (Ling, Ring): `use_bias` is for every projection, `use_qkv_bias` for queries, keys and values.
/// Source: vllm-project/vllm model_executor/models/bailing_moe.py.
inline void adjust_bailing(const config_view&, decoder_shape& shape) {
  attention_shape& attention = shape.layer.attention;
  attention.qkv_biases = attention.qkv_biases || attention.output_bias;
}

inline void plan_bailing_moe(const config_view& config, const decoder_shape&, std::vector<layer_plan>&) {
  refuse_expert_biases(config, "use_bias");
}

/// Arctic: experts on every `moe_layer_frequency`-th layer; with `parallel_attn_mlp_res` a dense MLP as wide
/// as the hidden state, behind a norm of its own, works beside them. Source: vllm-project/vllm
/// model_executor/models/arctic.py.
inline constexpr expert_traits arctic_experts{.num_experts = {{"num_local_experts"}},
                                              .intermediate_size = expert_width_is_mlp_width,
                                              .num_experts_default = 8,
                                              .num_experts_per_tok_default = 1};

inline void plan_arctic(const config_view& config, const decoder_shape& shape,
                        std::vector<layer_plan>& layers) {
  const std::uint32_t step = config.size_or({{"moe_layer_frequency"}}, 2);
  const bool residual = config.flag({"parallel_attn_mlp_res", false});
  const expert_shape experts = experts_in(config, arctic_experts, true);
  for (std::size_t i = step - 1; i < layers.size(); i += step) {
    layers[i].experts = experts;
    layers[i].mlp = residual ? mlp_shape{.intermediate_size = shape.hidden_size} : mlp_shape{};
    if (residual) layers[i].norms = 3;
  }
}

/// MiniMax configs speak of MTP modules whose weights are not described publicly.
inline void note_drafts_of_minimax(const config_view& config, const decoder_shape&,
                                   const std::vector<layer_plan>&, model_builder&) {
  const auto modules = config.find({{"num_mtp_modules", "num_nextn_predict_layers"}});
  if (modules && modules->integer() != 0) config.note(modules->path() + ": draft modules are not counted");
}

inline constexpr model_family mixture_families[] = {
    {.model_type = "mixtral",
     .keys = {.intermediate_size = {}},
     .defaults = {.num_key_value_heads = 8, .max_position_embeddings = 131072},
     .experts = {.where = expert_layers::all,
                 .num_experts = {{"num_local_experts", "num_experts"}},
                 .intermediate_size = expert_width_is_mlp_width,
                 .num_experts_default = 8,
                 .num_experts_per_tok_default = 2},
     .windows = {.rule = window_rule::every_layer},
     .renames = {{"mlp.gate", "block_sparse_moe.gate"},
                 {"mlp.experts.0.gate_proj", "block_sparse_moe.experts.0.w1"},
                 {"mlp.experts.0.up_proj", "block_sparse_moe.experts.0.w3"},
                 {"mlp.experts.0.down_proj", "block_sparse_moe.experts.0.w2"}}},
    {.model_type = "dbrx",
     .keys = {.hidden_size = {{"d_model"}},
              .num_hidden_layers = {{"n_layers"}},
              .num_attention_heads = {{"n_heads"}},
              .num_key_value_heads = {},
              .intermediate_size = {},
              .max_position_embeddings = {{"max_seq_len"}}},
     .defaults = {.max_position_embeddings = 2048},
     .layer_prefix = "transformer.blocks.",
     .renames = {{"model.embed_tokens", "transformer.wte"},
                 {"self_attn.o_proj", "norm_attn_norm.attn.out_proj"},
                 {"self_attn", "norm_attn_norm.attn.Wqkv"},
                 {"mlp.gate", "ffn.router.layer"},
                 {"mlp.experts.0.gate_proj", "ffn.experts.mlp.w1"},
                 {"mlp.experts.0.up_proj", "ffn.experts.mlp.v1"},
                 {"mlp.experts.0.down_proj", "ffn.experts.mlp.w2"}},
     .adjust = adjust_dbrx,
     .plan = plan_dbrx},
    {.model_type = "qwen2_moe",
     .defaults = {.num_key_value_heads = 16, .max_position_embeddings = 32768},
     .qkv_biases = {"qkv_bias", true},
     .experts = {.where = expert_layers::every_step,
                 .shared_intermediate = {{"shared_expert_intermediate_size"}},
                 .shared_gate = true,
                 .num_experts_default = 60,
                 .num_experts_per_tok_default = 4,
                 .intermediate_size_default = 1408,
                 .shared_intermediate_default = 5632},
     .windows = {.rule = window_rule::behind_first_layers, .window = 4096, .first_layers = 28},
     .renames = {{"mlp.shared_experts", "mlp.shared_expert"}}},
    {.model_type = "qwen3_moe",
     .defaults = {.num_key_value_heads = 4, .max_position_embeddings = 32768},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::head_dim,
     .experts = {.where = expert_layers::every_step,
                 .num_experts_default = 128,
                 .num_experts_per_tok_default = 8,
                 .intermediate_size_default = 768}},
    {.model_type = "qwen3_vl_moe_text",
     .defaults = {.num_key_value_heads = 16, .max_position_embeddings = 128000},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::head_dim,
     .experts = {.where = expert_layers::every_step,
                 .num_experts_default = 60,
                 .num_experts_per_tok_default = 4,
                 .intermediate_size_default = 1408}},
    {.model_type = "olmoe",
     .keys = {.intermediate_size = {}},
     .defaults = {.max_position_embeddings = 4096},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::full_width,
     .experts = {.where = expert_layers::all,
                 .intermediate_size = expert_width_is_mlp_width,
                 .num_experts_default = 64,
                 .num_experts_per_tok_default = 8}},
    {.model_type = "phimoe",
     .keys = {.intermediate_size = {}},
     .defaults = {.num_key_value_heads = 8, .max_position_embeddings = 131072},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .experts = {.where = expert_layers::all,
                 .num_experts = {{"num_local_experts"}},
                 .intermediate_size = expert_width_is_mlp_width,
                 .num_experts_default = 16,
                 .num_experts_per_tok_default = 2},
     .norm_biases = always,
     .head_bias = {"lm_head_bias", false},
     .windows = {.rule = window_rule::every_layer},
     .renames = {{"mlp.gate", "block_sparse_moe.gate"},
                 {"mlp.experts.0.gate_proj", "block_sparse_moe.experts.0.w1"},
                 {"mlp.experts.0.up_proj", "block_sparse_moe.experts.0.w3"},
                 {"mlp.experts.0.down_proj", "block_sparse_moe.experts.0.w2"}}},
    {.model_type = "granitemoe",
     .keys = {.intermediate_size = {}},
     .defaults = {.max_position_embeddings = 2048},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .experts = {.where = expert_layers::all,
                 .num_experts = {{"num_local_experts"}},
                 .intermediate_size = expert_width_is_mlp_width,
                 .num_experts_default = 8,
                 .num_experts_per_tok_default = 2},
     .renames = {{"mlp.gate", "block_sparse_moe.router.layer"},
                 {"mlp.experts.0.gate_proj", "block_sparse_moe.input_linear"},
                 {"mlp.experts.0.up_proj", "block_sparse_moe.input_linear"},
                 {"mlp.experts.0.down_proj", "block_sparse_moe.output_linear"}}},
    {.model_type = "granitemoeshared",
     .keys = {.intermediate_size = {}},
     .defaults = {.max_position_embeddings = 2048},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .experts = {.where = expert_layers::all,
                 .num_experts = {{"num_local_experts"}},
                 .intermediate_size = expert_width_is_mlp_width,
                 .shared_intermediate = {{"shared_intermediate_size"}},
                 .num_experts_default = 8,
                 .num_experts_per_tok_default = 2},
     .renames = {{"mlp.gate", "block_sparse_moe.router.layer"},
                 {"mlp.experts.0.gate_proj", "block_sparse_moe.input_linear"},
                 {"mlp.experts.0.up_proj", "block_sparse_moe.input_linear"},
                 {"mlp.experts.0.down_proj", "block_sparse_moe.output_linear"},
                 {"mlp.shared_experts.gate_proj", "shared_mlp.input_linear"},
                 {"mlp.shared_experts.up_proj", "shared_mlp.input_linear"},
                 {"mlp.shared_experts.down_proj", "shared_mlp.output_linear"}}},
    // configuration_deepseek.py of deepseek-ai/deepseek-moe-16b-base.
    {.model_type = "deepseek",
     .defaults = {.vocab_size = 102400, .max_position_embeddings = 2048},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .experts = {.where = expert_layers::behind_first_layers,
                 .num_experts = {{"n_routed_experts"}},
                 .shared_experts = {{"n_shared_experts"}},
                 .intermediate_size_default = 1407}},
    {.model_type = "glm4_moe",
     .defaults =
         {.vocab_size = 151552, .num_key_value_heads = 8, .head_dim = 128, .max_position_embeddings = 131072},
     .qkv_biases = attention_bias,
     .qk_norm = query_key_norm::head_dim,
     .has_qk_norm = {"use_qk_norm", false},
     .experts = {.where = expert_layers::behind_first_layers,
                 .num_experts = {{"n_routed_experts"}},
                 .shared_experts = {{"n_shared_experts"}},
                 .correction_bias = always,
                 .num_experts_default = 128,
                 .num_experts_per_tok_default = 8,
                 .intermediate_size_default = 1408,
                 .shared_experts_default = 1,
                 .first_dense_default = 1},
     .next_token_layers = true,
     .next_token_tables = 2},
    {.model_type = "glm4v_moe_text",
     .defaults = {.vocab_size = 151424, .num_key_value_heads = 8, .max_position_embeddings = 65536},
     .qkv_biases = {"attention_bias", true},
     .experts = {.where = expert_layers::behind_first_layers,
                 .num_experts = {{"n_routed_experts"}},
                 .shared_experts = {{"n_shared_experts"}},
                 .correction_bias = always,
                 .num_experts_default = 128,
                 .num_experts_per_tok_default = 8,
                 .intermediate_size_default = 1408,
                 .shared_experts_default = 1,
                 .first_dense_default = 1}},
    // Every layer has experts; no norms of queries and keys.
    {.model_type = "solar_open",
     .keys = {.intermediate_size = {}},
     .defaults =
         {.vocab_size = 196608, .num_key_value_heads = 8, .head_dim = 128, .max_position_embeddings = 131072},
     .qkv_biases = attention_bias,
     .experts = {.where = expert_layers::all,
                 .num_experts = {{"n_routed_experts"}},
                 .shared_experts = {{"n_shared_experts"}},
                 .correction_bias = always,
                 .num_experts_default = 128,
                 .num_experts_per_tok_default = 8,
                 .intermediate_size_default = 1280,
                 .shared_experts_default = 1}},
    {.model_type = "dots1",
     .defaults = {.num_key_value_heads = 32, .max_position_embeddings = 2048},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .qk_norm = query_key_norm::head_dim,
     .experts = {.where = expert_layers::behind_first_layers,
                 .num_experts = {{"n_routed_experts"}},
                 .shared_experts = {{"n_shared_experts"}},
                 .correction_bias = always,
                 .intermediate_size_default = 1408},
     .plan = plan_dots1},
    {.model_type = "ernie4_5_moe",
     .defaults = {.vocab_size = 103424,
                  .num_key_value_heads = 4,
                  .max_position_embeddings = 131072,
                  .tie_word_embeddings = true},
     .qkv_biases = {"use_bias", false},
     .output_bias = {"use_bias", false},
     .mlp_biases = {"use_bias", false},
     .experts = {.where = expert_layers::all,
                 .num_experts = {{"moe_num_experts"}},
                 .num_experts_per_tok = {{"moe_k"}},
                 .shared_experts = {{"moe_num_shared_experts"}},
                 .correction_bias = always,
                 .num_experts_default = 64,
                 .num_experts_per_tok_default = 6,
                 .intermediate_size_default = 1536,
                 .shared_experts_default = 2},
     .next_token_layers = true,
     .draft_prefix = "model.mtp_block.",
     .plan = plan_ernie4_5_moe,
     .plan_draft = dense_draft,
     .join_draft = join_ernie_draft},
    {.model_type = "ernie4_5_vl_moe_text",
     .defaults = {.vocab_size = 103424,
                  .num_key_value_heads = 4,
                  .max_position_embeddings = 131072,
                  .tie_word_embeddings = true},
     .qkv_biases = {"use_bias", false},
     .output_bias = {"use_bias", false},
     .mlp_biases = {"use_bias", false},
     .plan = plan_ernie4_5_vl,
     .finish_layer = finish_ernie4_5_vl},
    {.model_type = "bailing_moe",
     .qkv_biases = {"use_qkv_bias", false},
     .output_bias = {"use_bias", false},
     .experts = {.where = expert_layers::behind_first_layers, .shared_experts = {{"num_shared_experts"}}},
     .renames = {{"model.embed_tokens", "model.word_embeddings"},
                 {"self_attn.o_proj", "attention.dense"},
                 {"self_attn.q_proj", "attention.query_key_value"},
                 {"self_attn.k_proj", "attention.query_key_value"},
                 {"self_attn.v_proj", "attention.query_key_value"}},
     .adjust = adjust_bailing,
     .plan = plan_bailing_moe},
    // configuration_bailing_moe_v2.py of inclusionAI/Ling-mini-2.0.
    {.model_type = "bailing_moe_v2",
     .qkv_biases = {"use_qkv_bias", false},
     .output_bias = {"use_bias", false},
     .qk_norm = query_key_norm::head_dim,
     .has_qk_norm = {"use_qk_norm", true},
     .experts = {.where = expert_layers::behind_first_layers,
                 .shared_experts = {{"num_shared_experts"}},
                 .correction_bias = {"moe_router_enable_expert_bias", true}},
     .renames = {{"model.embed_tokens", "model.word_embeddings"},
                 {"self_attn.o_proj", "attention.dense"},
                 {"self_attn.q_proj", "attention.query_key_value"},
                 {"self_attn.k_proj", "attention.query_key_value"},
                 {"self_attn.v_proj", "attention.query_key_value"}},
     .next_token_layers = true,
     .adjust = adjust_bailing,
     .plan = plan_bailing_moe},
    // configuration_arctic.py of Snowflake/snowflake-arctic-instruct.
    {.model_type = "arctic",
     .defaults = {.max_position_embeddings = 4096},
     .windows = {.rule = window_rule::every_layer},
     .renames = {{"mlp.gate", "block_sparse_moe.gate"},
                 {"mlp.experts.0.gate_proj", "block_sparse_moe.experts.0.w1"},
                 {"mlp.experts.0.up_proj", "block_sparse_moe.experts.0.w3"},
                 {"mlp.experts.0.down_proj", "block_sparse_moe.experts.0.w2"},
                 {"mlp.gate_proj", "residual_mlp.w1"},
                 {"mlp.up_proj", "residual_mlp.w3"},
                 {"mlp.down_proj", "residual_mlp.w2"}},
     .plan = plan_arctic},
    // modeling_grok1.py of hpcai-tech/grok-1.
    {.model_type = "grok-1",
     .keys = {.intermediate_size = {}},
     .defaults = {.tie_word_embeddings = true},
     .experts = {.where = expert_layers::all, .intermediate_size = expert_width_is_mlp_width},
     .norms_per_layer = 4,
     .renames = {{"self_attn", "attn"},
                 {"mlp.gate", "moe_block.gate"},
                 {"mlp.experts.0.gate_proj", "moe_block.experts.0.linear"},
                 {"mlp.experts.0.up_proj", "moe_block.experts.0.linear_v"},
                 {"mlp.experts.0.down_proj", "moe_block.experts.0.linear_1"}}},
    // As modeling_minimax_m2.py. Configs ask for MTP modules that the checkpoints do not hold: the published
    // count, 228,703,644,928, is that of these weights and of 13,880,064 FP8 block scales.
    {.model_type = "minimax_m2",
     .keys = {.intermediate_size = {}},
     .defaults = {.num_key_value_heads = 8, .head_dim = 128, .max_position_embeddings = 196608},
     .qk_norm = query_key_norm::full_width,
     .has_qk_norm = {"use_qk_norm", true},
     .experts = {.where = expert_layers::all,
                 .num_experts = {{"num_local_experts", "num_experts"}},
                 .intermediate_size = expert_width_is_mlp_width,
                 .correction_bias = {"use_routing_bias", true},
                 .num_experts_default = 256,
                 .num_experts_per_tok_default = 8},
     .renames = {{"mlp.gate", "block_sparse_moe.gate"},
                 {"mlp.experts.0.gate_proj", "block_sparse_moe.experts.0.w1"},
                 {"mlp.experts.0.up_proj", "block_sparse_moe.experts.0.w3"},
                 {"mlp.experts.0.down_proj", "block_sparse_moe.experts.0.w2"}},
     .finish_model = note_drafts_of_minimax},
};

}  // namespace kvbudget::inline v0::detail
