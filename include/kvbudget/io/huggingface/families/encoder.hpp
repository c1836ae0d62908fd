#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/family.hpp"

/// Encoders: they read all tokens at once and keep no cache. What they end in follows from the class that
/// `architectures` names.
///
/// Class defaults and biases: huggingface/transformers models/<model_type>/configuration_<model_type>.py and
/// modeling_<model_type>.py, unless a family names another source.
namespace kvbudget::inline v0::detail {

/// What stands behind the last layer of an encoder.
struct encoder_head {
  std::uint32_t dense = 0;          ///< matrices of H × H, each with a bias
  std::uint32_t transforms = 0;     ///< matrices of H × H with a norm behind each
  bool transform_bias = true;       ///< those matrices and norms have biases
  bool vocabulary = false;          ///< logits over the vocabulary, with a bias each
  std::uint32_t fixed_outputs = 0;  ///< rows of a matrix over H, with a bias
  bool labels = false;              ///< the same with a row per label
};

/// The class that the checkpoint was made for, without the model's own name: "Model", "ForMaskedLM", …
[[nodiscard]] inline std::string task_of_encoder(const config_view& config) {
  const auto classes = config.find({{"architectures"}});
  if (!classes || classes->size() == 0) {
    config.note("architectures is absent: assumed to be the model without a task's head");
    return "Model";
  }
  const std::string& name = classes->at(std::size_t{0}).text();
  const std::size_t at = name.rfind("For");
  return at == std::string::npos ? "Model" : printable(name.substr(at), 40);
}

[[nodiscard]] inline std::uint32_t labels_in(const config_view& config) {
  if (const auto names = config.find({{"id2label"}})) {
    names->as_object();
    if (names->value().empty()) names->refuse("must name at least one label");
    return size_product(config, "id2label", names->value().size(), 1);
  }
  return config.size_or({{"num_labels"}}, 2);
}

/// Adds the head, and the token types that are added to the embedding.
inline void add_encoder_parts(const config_view& config, const decoder_shape& shape, model_builder& builder,
                              const encoder_head& head, std::uint32_t types) {
  using namespace weight_groups;
  constexpr module_role role = module_role::lm_head;
  const std::uint32_t hidden = shape.hidden_size;
  if (types != 0) {
    builder.add(
        {.rows = types, .columns = hidden, .role = module_role::embedding, .kind = tensor_kind::table});
  }
  if (head.dense != 0) {
    builder.add(whole(role, hidden, hidden, head.dense));
    builder.add(vectors(role, hidden, head.dense));
  }
  if (head.transforms != 0) {
    builder.add(whole(role, hidden, hidden, head.transforms));
    builder.add(vectors(role, hidden, head.transforms * (head.transform_bias ? 3 : 1)));
  }
  if (head.vocabulary) builder.add(vectors(role, shape.vocab_size));
  std::uint32_t outputs = head.fixed_outputs;
  if (head.labels) outputs = size_product(config, "id2label", labels_in(config), 1);
  if (outputs != 0) {
    builder.add(whole(role, outputs, hidden));
    builder.add(vectors(role, outputs));
  }
}

/// The heads that encoders share: a row per label on tokens or on the span of an answer. Any other class is
/// counted without its head, and says so.
[[nodiscard]] inline encoder_head usual_head(const config_view& config, const std::string& task,
                                             model_builder& builder) {
  if (task == "Model") return {};
  if (task == "ForMaskedLM") return {.transforms = 1, .vocabulary = true};
  if (task == "ForTokenClassification") return {.labels = true};
  if (task == "ForQuestionAnswering") return {.fixed_outputs = 2};
  builder.model().parameters_assumed = true;
  config.doubt("architectures: the head of this class (" + task + ") is not counted");
  return {};
}

/// BERT. Its pooler is not part of the classes that do not use it.
/// Source: huggingface/transformers models/bert/modeling_bert.py.
[[nodiscard]] inline encoder_head bert_head(const config_view& config, const std::string& task,
                                            model_builder& builder) {
  if (task == "Model") return {.dense = 1};
  if (task == "ForPreTraining") return {.dense = 1, .transforms = 1, .vocabulary = true, .fixed_outputs = 2};
  if (task == "ForNextSentencePrediction") return {.dense = 1, .fixed_outputs = 2};
  if (task == "ForSequenceClassification") return {.dense = 1, .labels = true};
  if (task == "ForMultipleChoice") return {.dense = 1, .fixed_outputs = 1};
  return usual_head(config, task, builder);
}
inline void finish_bert(const config_view& config, const decoder_shape& shape, const std::vector<layer_plan>&,
                        model_builder& builder) {
  add_encoder_parts(config, shape, builder, bert_head(config, task_of_encoder(config), builder),
                    config.size_or({{"type_vocab_size"}}, 2));
}

/// DistilBERT: no pooler and no token types.
/// Source: huggingface/transformers models/distilbert/modeling_distilbert.py.
inline void finish_distilbert(const config_view& config, const decoder_shape& shape,
                              const std::vector<layer_plan>&, model_builder& builder) {
  const std::string task = task_of_encoder(config);
  encoder_head head{.dense = 1, .labels = true};
  if (task == "ForMultipleChoice") {
    head = {.dense = 1, .fixed_outputs = 1};
  } else if (task != "ForSequenceClassification") {
    head = usual_head(config, task, builder);
  }
  add_encoder_parts(config, shape, builder, head, 0);
}

/// DeBERTa-v2 and v3: a table of relative positions with a norm, optionally a convolution beside the first
/// layer. Source: huggingface/transformers models/deberta_v2/modeling_deberta_v2.py, DebertaV2Encoder.
inline void finish_deberta_v2(const config_view& config, const decoder_shape& shape,
                              const std::vector<layer_plan>&, model_builder& builder) {
  using namespace weight_groups;
  const std::uint32_t hidden = shape.hidden_size;
  if (config.flag({"relative_attention", false})) {
    if (!config.flag({"share_att_key", false})) {
      config.refuse("relative_attention without share_att_key is not supported");
    }
    std::uint64_t reach = 0;  // buckets in either direction
    for (const char* key : {"position_buckets", "max_relative_positions"}) {
      const auto given = config.find({{key}});
      const bool set = given && given->number() >= 1;  // below 1 = unset
      if (set && reach == 0) reach = config_view::size_in(*given);
    }
    if (reach == 0) reach = shape.max_position_embeddings;
    builder.add(
        {.rows = 2 * reach, .columns = hidden, .role = module_role::attention, .kind = tensor_kind::table});
    if (const auto norm = config.find({{"norm_rel_ebd"}}); norm && norm->text() != "none") {
      if (norm->text() != "layer_norm") norm->refuse("is unknown, expected none or layer_norm");
      builder.add(vectors(module_role::norm, hidden, 2));
    }
  }
  if (const auto kernel = config.find({{"conv_kernel_size"}}); kernel && kernel->integer() != 0) {
    builder.add({.rows = hidden,
                 .columns = size_product(config, "conv_kernel_size", hidden, config_view::size_in(*kernel)),
                 .role = module_role::mixer,
                 .kind = tensor_kind::convolution});
    builder.add(vectors(module_role::mixer, hidden, 3));
  }
  const std::string task = task_of_encoder(config);
  encoder_head head{.dense = 1, .labels = true};
  if (task == "ForMultipleChoice") {
    head = {.dense = 1, .fixed_outputs = 1};
  } else if (task != "ForSequenceClassification") {
    head = usual_head(config, task, builder);
  }
  std::uint32_t types = 0;
  if (const auto given = config.find({{"type_vocab_size"}}); given && given->integer() != 0) {
    types = config_view::size_in(*given);
  }
  add_encoder_parts(config, shape, builder, head, types);
}

/// ModernBERT: the head's norm follows every task but the bare model.
/// Source: huggingface/transformers models/modernbert/modeling_modernbert.py, ModernBertPredictionHead.
inline void finish_modernbert(const config_view& config, const decoder_shape& shape,
                              const std::vector<layer_plan>&, model_builder& builder) {
  const std::string task = task_of_encoder(config);
  encoder_head head =
      usual_head(config, task == "ForSequenceClassification" ? "ForTokenClassification" : task, builder);
  if (head.labels || head.fixed_outputs != 0) head.transforms = 1;
  head.transform_bias = false;
  if (head.vocabulary) head.vocabulary = config.flag({"decoder_bias", true});
  add_encoder_parts(config, shape, builder, head, 0);
}

/// Nomic's BERT. Source: nomic-ai/nomic-bert-2048 modeling_hf_nomic_bert.py.
inline void finish_nomic_bert(const config_view& config, const decoder_shape& shape,
                              const std::vector<layer_plan>&, model_builder& builder) {
  const std::string task = task_of_encoder(config);
  const encoder_head head = usual_head(config, task == "ForPreTraining" ? "ForMaskedLM" : task, builder);
  std::uint32_t types = 0;
  if (const auto given = config.find({{"type_vocab_size"}}); given && given->integer() != 0) {
    types = config_view::size_in(*given);
  }
  add_encoder_parts(config, shape, builder, head, types);
}

/// Every encoder: nothing is kept, the embedding has a norm, and only a task on the vocabulary has a head.
inline void make_encoder(const config_view& config, decoder_shape& shape) {
  for (const char* key : {"is_decoder", "add_cross_attention"}) {
    if (config.flag({key, false})) config.find({{key}})->refuse("an encoder is expected: must be false");
  }
  shape.layer.attention.encoder = true;
  shape.embedding_norm = true;
  shape.final_norm = false;
  const auto classes = config.find({{"architectures"}});
  shape.has_head = false;
  if (classes && classes->size() != 0) {
    const std::string_view name = classes->at(std::size_t{0}).text();
    shape.has_head = name.ends_with("ForMaskedLM") || name.ends_with("ForPreTraining");
  }
}

inline void adjust_deberta_v2(const config_view& config, decoder_shape& shape) {
  make_encoder(config, shape);
  if (const auto width = config.find({{"embedding_size"}}); width && width->integer() != shape.hidden_size) {
    width->refuse("other than hidden_size is not supported");
  }
  if (config.flag({"position_biased_input", true})) shape.position_rows = shape.max_position_embeddings;
}

inline void adjust_modernbert(const config_view& config, decoder_shape& shape) {
  make_encoder(config, shape);
  shape.final_norm = true;
}

/// ModernBERT: the first layer takes the embedding's norm as its own.
inline void plan_modernbert(const config_view&, const decoder_shape&, std::vector<layer_plan>& layers) {
  layers.front().norms = 1;
}

inline void adjust_nomic_bert(const config_view& config, decoder_shape& shape) {
  make_encoder(config, shape);
  if (const auto every = config.find({{"moe_every_n_layers"}}); every && every->integer() != 0) {
    every->refuse("mixture-of-experts models of this type are not supported, expected 0");
  }
  shape.layer.mlp.gated = false;
  if (const auto activation = config.find({{"activation_function"}})) {
    const std::string& name = activation->text();
    shape.layer.mlp.gated = name == "swiglu" || name == "geglu" || name == "glu";
  }
  const bool biased = config.flag({"mlp_fc1_bias", true});
  if (biased != config.flag({"mlp_fc2_bias", true})) config.refuse("mlp_fc1_bias and mlp_fc2_bias differ");
  shape.layer.mlp.biases = biased;
  const auto rotary = config.find({{"rotary_emb_fraction"}});
  if (!rotary || rotary->number() <= 0) shape.position_rows = shape.max_position_embeddings;
}

/// MPNet: a table of relative positions that all layers share, no token types; a classifier has a dense layer
/// of its own. Source: huggingface/transformers models/mpnet/modeling_mpnet.py, MPNetEncoder.
inline void finish_mpnet(const config_view& config, const decoder_shape& shape,
                         const std::vector<layer_plan>&, model_builder& builder) {
  const std::uint32_t heads = shape.layer.attention.heads;
  builder.add({.rows = heads,
               .columns = config.size_or({{"relative_attention_num_buckets"}}, 32),
               .units = heads,
               .role = module_role::attention,
               .kind = tensor_kind::table,
               .rule = shard_rule::tensor});
  const std::string task = task_of_encoder(config);
  add_encoder_parts(config, shape, builder, bert_head(config, task, builder), 0);
}

/// BERT and those that differ from it only in their names and defaults.
[[nodiscard]] constexpr model_family bert_like(const char* model_type, const char* layer_prefix,
                                               const char* embedding, std::uint32_t vocab_size) {
  return {.model_type = model_type,
          .keys = {.num_key_value_heads = {}, .head_dim = {}},
          .defaults = {.vocab_size = vocab_size, .max_position_embeddings = 512, .tie_word_embeddings = true},
          .qkv_biases = always,
          .output_bias = always,
          .gated_mlp = false,
          .mlp_biases = always,
          .norm_biases = always,
          .learned_positions = true,
          .windows = {.layer_types = false},
          .layer_prefix = layer_prefix,
          .renames = {{"self_attn.q_proj", "attention.self.query"},
                      {"self_attn.k_proj", "attention.self.key"},
                      {"self_attn.v_proj", "attention.self.value"},
                      {"self_attn.o_proj", "attention.output.dense"},
                      {"mlp.up_proj", "intermediate.dense"},
                      {"mlp.down_proj", "output.dense"},
                      {"model.embed_tokens", embedding}},
          .adjust = make_encoder,
          .finish_model = finish_bert};
}

/// RoBERTa: the pooler serves only the bare model; a classifier has a dense layer of its own.
/// Source: huggingface/transformers models/roberta/modeling_roberta.py, RobertaClassificationHead.
inline void finish_roberta(const config_view& config, const decoder_shape& shape,
                           const std::vector<layer_plan>&, model_builder& builder) {
  const std::string task = task_of_encoder(config);
  const encoder_head head = task == "ForPreTraining" || task == "ForNextSentencePrediction"
                                ? usual_head(config, task, builder)
                                : bert_head(config, task, builder);
  add_encoder_parts(config, shape, builder, head, config.size_or({{"type_vocab_size"}}, 2));
}
[[nodiscard]] constexpr model_family roberta_like(const char* model_type, std::uint32_t vocab_size) {
  model_family family =
      bert_like(model_type, "roberta.encoder.layer.", "roberta.embeddings.word_embeddings", vocab_size);
  family.finish_model = finish_roberta;
  return family;
}
[[nodiscard]] constexpr model_family deberta_v2_family() {
  model_family family =
      bert_like("deberta-v2", "deberta.encoder.layer.", "deberta.embeddings.word_embeddings", 128100);
  family.learned_positions = false;
  family.adjust = adjust_deberta_v2;
  family.finish_model = finish_deberta_v2;
  family.renames[0].own = "attention.self.query_proj";
  family.renames[1].own = "attention.self.key_proj";
  family.renames[2].own = "attention.self.value_proj";
  return family;
}
[[nodiscard]] constexpr model_family mpnet_family() {
  model_family family = bert_like("mpnet", "mpnet.encoder.layer.", "mpnet.embeddings.word_embeddings", 30527);
  family.finish_model = finish_mpnet;
  family.renames[0].own = "attention.attn.q";
  family.renames[1].own = "attention.attn.k";
  family.renames[2].own = "attention.attn.v";
  family.renames[3].own = "attention.attn.o";
  return family;
}

inline constexpr model_family encoder_families[] = {
    bert_like("bert", "bert.encoder.layer.", "bert.embeddings.word_embeddings", 30522),
    roberta_like("roberta", 50265),
    roberta_like("xlm-roberta", 30522),
    roberta_like("camembert", 30522),
    deberta_v2_family(),
    mpnet_family(),
    {.model_type = "distilbert",
     .keys = {.hidden_size = {{"dim", "hidden_size"}},
              .num_hidden_layers = {{"n_layers", "num_hidden_layers"}},
              .num_attention_heads = {{"n_heads", "num_attention_heads"}},
              .num_key_value_heads = {},
              .head_dim = {},
              .intermediate_size = {{"hidden_dim"}}},
     .defaults = {.vocab_size = 30522, .max_position_embeddings = 512, .tie_word_embeddings = true},
     .qkv_biases = always,
     .output_bias = always,
     .gated_mlp = false,
     .mlp_biases = always,
     .norm_biases = always,
     .learned_positions = true,
     .layer_prefix = "distilbert.transformer.layer.",
     .renames = {{"self_attn.q_proj", "attention.q_lin"},
                 {"self_attn.k_proj", "attention.k_lin"},
                 {"self_attn.v_proj", "attention.v_lin"},
                 {"self_attn.o_proj", "attention.out_lin"},
                 {"mlp.up_proj", "ffn.lin1"},
                 {"mlp.down_proj", "ffn.lin2"},
                 {"model.embed_tokens", "distilbert.embeddings.word_embeddings"}},
     .adjust = make_encoder,
     .finish_model = finish_distilbert},
    {.model_type = "modernbert",
     .keys = {.num_key_value_heads = {}, .head_dim = {}},
     .defaults = {.vocab_size = 50368, .max_position_embeddings = 8192, .tie_word_embeddings = true},
     .qkv_biases = attention_bias,
     .output_bias = attention_bias,
     .mlp_biases = {"mlp_bias", false},
     .norm_biases = {"norm_bias", false},
     .windows = {.layer_types = false},
     .renames = {{"self_attn.q_proj", "attn.Wqkv"},
                 {"self_attn.k_proj", "attn.Wqkv"},
                 {"self_attn.v_proj", "attn.Wqkv"},
                 {"self_attn.o_proj", "attn.Wo"},
                 {"mlp.gate_proj", "mlp.Wi"},
                 {"mlp.up_proj", "mlp.Wi"},
                 {"mlp.down_proj", "mlp.Wo"},
                 {"model.embed_tokens", "model.embeddings.tok_embeddings"}},
     .adjust = adjust_modernbert,
     .plan = plan_modernbert,
     .finish_model = finish_modernbert},
    {.model_type = "nomic_bert",
     .keys = {.hidden_size = {{"n_embd", "hidden_size"}},
              .num_hidden_layers = {{"n_layer", "num_hidden_layers"}},
              .num_attention_heads = {{"n_head", "num_attention_heads"}},
              .num_key_value_heads = {},
              .head_dim = {},
              .intermediate_size = {{"n_inner", "intermediate_size"}},
              .max_position_embeddings = {{"n_positions", "max_position_embeddings"}}},
     .defaults = {.vocab_size = 30528, .tie_word_embeddings = true},
     .qkv_biases = {"qkv_proj_bias", true},
     .output_bias = {"qkv_proj_bias", true},
     .norm_biases = always,
     .layer_prefix = "encoder.layers.",
     .renames = {{"self_attn.q_proj", "attn.Wqkv"},
                 {"self_attn.k_proj", "attn.Wqkv"},
                 {"self_attn.v_proj", "attn.Wqkv"},
                 {"self_attn.o_proj", "attn.out_proj"},
                 {"mlp.gate_proj", "mlp.fc12"},
                 {"mlp.up_proj", "mlp.fc11"},
                 {"mlp.down_proj", "mlp.fc2"},
                 {"model.embed_tokens", "embeddings.word_embeddings"}},
     .adjust = adjust_nomic_bert,
     .finish_model = finish_nomic_bert},
};

}  // namespace kvbudget::inline v0::detail
