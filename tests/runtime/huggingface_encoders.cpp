// Hugging Face configs of encoders, which keep nothing, and of encoder–decoders, which also keep keys and
// values of the encoder's tokens.
#include <cstdint>
#include <map>
#include <string>

#include "kvbudget/io/huggingface.hpp"
#include "kvbudget/memory/weights.hpp"
#include "kvbudget/plan/estimate.hpp"
#include "support/catch.hpp"
#include "support/configs.hpp"
#include "support/input.hpp"
#include "support/mutations.hpp"

namespace {

using namespace kvbudget;
using tests::contains;
using tests::elements;
using tests::has_note;
using tests::read;
using tests::refusal;
using tests::slope;
using tests::stores_of;
using tests::weights_on_first_rank;
using counts = std::map<std::string, int>;

struct published_model {
  const char* name;
  std::uint64_t parameters;   ///< element count of the published checkpoint, without buffers
  std::uint64_t self_bytes;   ///< bf16 bytes per token of the decoder
  std::uint64_t cross_bytes;  ///< bf16 bytes per sequence for the encoder's tokens
  const char* config;
};

// Sizes: the models' own config.json files; counts: what the class that `architectures` names gives for them.
const published_model published_models[] = {
    {"bert-base-uncased", 109'514'298, 0, 0, R"({"model_type": "bert", "architectures": ["BertForMaskedLM"],
      "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072})"},
    {"all-MiniLM-L6-v2", 22'713'216, 0, 0, R"({"model_type": "bert", "architectures": ["BertModel"],
      "hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536,
      "type_vocab_size": 2})"},
    {"roberta-base", 124'697'433, 0, 0, R"({"model_type": "roberta", "architectures": ["RobertaForMaskedLM"],
      "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
      "type_vocab_size": 1, "max_position_embeddings": 514})"},
    {"multilingual-e5-large", 559'890'432, 0, 0, R"({"model_type": "xlm-roberta",
      "architectures": ["XLMRobertaModel"], "hidden_size": 1024, "num_hidden_layers": 24,
      "num_attention_heads": 16, "intermediate_size": 4096, "type_vocab_size": 1, "vocab_size": 250002,
      "max_position_embeddings": 514})"},
    {"bge-reranker-v2-m3", 567'755'777, 0, 0, R"({"model_type": "xlm-roberta",
      "architectures": ["XLMRobertaForSequenceClassification"], "hidden_size": 1024, "num_hidden_layers": 24,
      "num_attention_heads": 16, "intermediate_size": 4096, "type_vocab_size": 1, "vocab_size": 250002,
      "max_position_embeddings": 8194, "id2label": {"0": "LABEL_0"}})"},
    {"camembert-base", 110'655'493, 0, 0, R"({"model_type": "camembert",
      "architectures": ["CamembertForMaskedLM"], "hidden_size": 768, "num_hidden_layers": 12,
      "num_attention_heads": 12, "intermediate_size": 3072, "type_vocab_size": 1, "vocab_size": 32005,
      "max_position_embeddings": 514})"},
    {"all-mpnet-base-v2", 109'486'464, 0, 0, R"({"model_type": "mpnet", "architectures": ["MPNetModel"],
      "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
      "max_position_embeddings": 514})"},
    {"distilbert-base-uncased", 66'985'530, 0, 0, R"({"model_type": "distilbert",
      "architectures": ["DistilBertForMaskedLM"], "dim": 768, "n_layers": 6, "n_heads": 12,
      "hidden_dim": 3072})"},
    {"distilbert-base-uncased-finetuned-sst-2-english", 66'955'010, 0, 0, R"({"model_type": "distilbert",
      "architectures": ["DistilBertForSequenceClassification"], "dim": 768, "n_layers": 6, "n_heads": 12,
      "hidden_dim": 3072, "id2label": {"0": "NEGATIVE", "1": "POSITIVE"}})"},
    {"deberta-v3-base", 183'831'552, 0, 0,
     R"({"model_type": "deberta-v2", "architectures": ["DebertaV2Model"],
      "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
      "type_vocab_size": 0, "relative_attention": true, "position_buckets": 256,
      "max_relative_positions": -1, "norm_rel_ebd": "layer_norm", "share_att_key": true,
      "position_biased_input": false})"},
    {"ModernBERT-base", 149'655'232, 0, 0, R"({"model_type": "modernbert",
      "architectures": ["ModernBertForMaskedLM"], "hidden_size": 768, "num_hidden_layers": 22,
      "num_attention_heads": 12, "intermediate_size": 1152})"},
    {"ModernBERT-large", 395'881'664, 0, 0, R"({"model_type": "modernbert",
      "architectures": ["ModernBertForMaskedLM"], "hidden_size": 1024, "num_hidden_layers": 28,
      "num_attention_heads": 16, "intermediate_size": 2624})"},
    {"nomic-embed-text-v1.5", 136'731'648, 0, 0, R"({"model_type": "nomic_bert",
      "architectures": ["NomicBertModel"], "n_embd": 768, "n_layer": 12, "n_head": 12, "n_inner": 3072,
      "vocab_size": 30528, "type_vocab_size": 2, "qkv_proj_bias": false, "mlp_fc1_bias": false,
      "mlp_fc2_bias": false, "activation_function": "swiglu", "rotary_emb_fraction": 1.0,
      "n_positions": 8192})"},
    {"t5-small", 60'506'624, 12'288, 6'291'456, R"({"model_type": "t5", "d_model": 512, "d_kv": 64,
      "d_ff": 2048, "num_layers": 6, "num_heads": 8, "n_positions": 512})"},
    {"flan-t5-base", 247'577'856, 36'864, 18'874'368, R"({"model_type": "t5", "d_model": 768, "d_kv": 64,
      "d_ff": 2048, "num_layers": 12, "num_decoder_layers": 12, "num_heads": 12, "n_positions": 512,
      "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false})"},
    {"flan-t5-xl", 2'849'757'184, 196'608, 100'663'296, R"({"model_type": "t5", "d_model": 2048, "d_kv": 64,
      "d_ff": 5120, "num_layers": 24, "num_heads": 32, "n_positions": 512,
      "feed_forward_proj": "gated-gelu", "tie_word_embeddings": false})"},
    {"mt5-small", 300'176'768, 12'288, 6'291'456, R"({"model_type": "mt5", "d_model": 512, "d_kv": 64,
      "d_ff": 1024, "num_layers": 8, "num_heads": 6, "vocab_size": 250112, "tie_word_embeddings": false})"},
    {"umt5-small", 306'601'984, 12'288, 6'291'456, R"({"model_type": "umt5", "d_model": 512, "d_kv": 64,
      "d_ff": 1024, "num_layers": 8, "num_heads": 6, "vocab_size": 256384, "tie_word_embeddings": false})"},
    {"bart-base", 139'420'416, 18'432, 18'874'368, R"({"model_type": "bart", "d_model": 768,
      "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 12, "decoder_attention_heads": 12,
      "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072})"},
    {"bart-large", 406'291'456, 49'152, 50'331'648, R"({"model_type": "bart", "d_model": 1024,
      "encoder_layers": 12, "decoder_layers": 12, "encoder_attention_heads": 16,
      "decoder_attention_heads": 16, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096})"},
    {"mbart-large-50", 610'879'488, 49'152, 50'331'648, R"({"model_type": "mbart", "d_model": 1024,
      "encoder_layers": 12, "decoder_layers": 12, "encoder_attention_heads": 16,
      "decoder_attention_heads": 16, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096,
      "vocab_size": 250054})"},
    {"nllb-200-distilled-600M", 615'073'792, 49'152, 50'331'648, R"({"model_type": "m2m_100",
      "d_model": 1024, "encoder_layers": 12, "decoder_layers": 12, "encoder_attention_heads": 16,
      "decoder_attention_heads": 16, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096,
      "vocab_size": 256206})"},
    {"opus-mt-en-de", 73'886'208, 12'288, 6'291'456, R"({"model_type": "marian", "d_model": 512,
      "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 8, "decoder_attention_heads": 8,
      "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048, "vocab_size": 58101,
      "max_position_embeddings": 512})"},
    {"pegasus-xsum", 568'699'904, 65'536, 33'554'432, R"({"model_type": "pegasus", "d_model": 1024,
      "encoder_layers": 16, "decoder_layers": 16, "encoder_attention_heads": 16,
      "decoder_attention_heads": 16, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096,
      "vocab_size": 96103, "max_position_embeddings": 512})"},
    {"whisper-tiny", 37'760'640, 6'144, 9'216'000, R"({"model_type": "whisper", "d_model": 384,
      "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 6, "decoder_attention_heads": 6,
      "encoder_ffn_dim": 1536, "decoder_ffn_dim": 1536, "num_hidden_layers": 4})"},
    {"whisper-large-v3", 1'543'490'560, 163'840, 245'760'000, R"({"model_type": "whisper", "d_model": 1280,
      "encoder_layers": 32, "decoder_layers": 32, "encoder_attention_heads": 20,
      "decoder_attention_heads": 20, "encoder_ffn_dim": 5120, "decoder_ffn_dim": 5120, "vocab_size": 51866,
      "num_mel_bins": 128, "max_source_positions": 1500, "max_target_positions": 448})"},
    {"whisper-large-v3-turbo", 808'878'080, 20'480, 30'720'000, R"({"model_type": "whisper", "d_model": 1280,
      "encoder_layers": 32, "decoder_layers": 4, "encoder_attention_heads": 20,
      "decoder_attention_heads": 20, "encoder_ffn_dim": 5120, "decoder_ffn_dim": 5120, "vocab_size": 51866,
      "num_mel_bins": 128, "max_source_positions": 1500, "max_target_positions": 448})"},
};

TEST_CASE("published encoders and encoder-decoders have their published count and cache") {
  std::map<std::string, int> covered;
  for (const published_model& published : published_models) {
    INFO(published.name);
    const huggingface_model found = read(published.config);
    const model_architecture& model = found.architecture;
    CHECK(parameter_count(model).value == published.parameters);
    CHECK(slope(model, 1) == published.self_bytes);
    CHECK(2 * elements(model, 1, 1) == published.self_bytes + published.cross_bytes);
    CHECK(2 * elements(model, 100, 3) == 300 * published.self_bytes + 3 * published.cross_bytes);
    CHECK_FALSE(model.parameters_assumed);
    ++covered[model.model_type];
  }
  for (const detail::family_table table : {detail::family_table(detail::encoder_families),
                                           detail::family_table(detail::encoder_decoder_families)}) {
    for (const detail::model_family& family : table) {
      INFO(family.model_type);
      CHECK(covered[family.model_type] > 0);
    }
  }
}

// ---- encoders ---------------------------------------------------------------------------------------------

std::string bert(const std::string& more = "", const std::string& family = "bert") {
  return R"({"model_type": ")" + family +
         R"(", "hidden_size": 64, "intermediate_size": 128, "vocab_size": 100, "type_vocab_size": 2,
    "num_attention_heads": 4, "num_hidden_layers": 2)" +
         (more.empty() ? "" : ", " + more) + "}";
}

TEST_CASE("an encoder keeps nothing, what it ends in follows from its class") {
  const model_architecture base = read(bert(R"("architectures": ["BertModel"])")).architecture;
  CHECK(stores_of(base) == counts{{"none", 2}});
  CHECK(elements(base, 512, 8) == 0);
  const auto beyond = [&](const std::string& task, const std::string& more = "") {
    return parameter_count(read(bert(R"("architectures": ["Bert)" + task + "\"]" + more)).architecture)
               .value -
           parameter_count(base).value;
  };
  const std::uint64_t pooler = 64 * 64 + 64;
  const std::uint64_t transform = pooler + 2 * 64 + 100;
  CHECK(beyond("ForMaskedLM") + pooler == transform);
  CHECK(beyond("ForPreTraining") == transform + 2 * 64 + 2);
  CHECK(beyond("ForNextSentencePrediction") == 2 * 64 + 2);
  CHECK(beyond("ForSequenceClassification", R"(, "id2label": {"0": "a", "1": "b", "2": "c"})") == 3 * 64 + 3);
  CHECK(beyond("ForTokenClassification", R"(, "num_labels": 5)") + pooler == 5 * 64 + 5);
  CHECK(beyond("ForQuestionAnswering") + pooler == 2 * 64 + 2);
  CHECK(beyond("ForMultipleChoice") == 64 + 1);
  // An untied head is a matrix of its own.
  CHECK(beyond("ForMaskedLM", R"(, "tie_word_embeddings": false)") + pooler == transform + 100 * 64);
  CHECK(beyond("Model", R"(, "tie_word_embeddings": false)") == 0);

  const huggingface_model silent = read(bert());
  CHECK(has_note(silent, "architectures is absent"));
  CHECK(parameter_count(silent.architecture).value == parameter_count(base).value);
  const huggingface_model unknown = read(bert(R"("architectures": ["BertForTripletLoss"])"));
  CHECK(unknown.architecture.parameters_assumed);
  CHECK(has_note(unknown, "the head of this class (ForTripletLoss) is not counted"));

  CHECK(contains(refusal(bert(R"("is_decoder": true)")), "test.json: is_decoder: an encoder is expected"));
  CHECK(contains(refusal(bert(R"("architectures": 3)")), "test.json: architectures: must be an array"));
  CHECK(contains(refusal(bert(R"("architectures": ["BertForTokenClassification"], "id2label": {})")),
                 "must name at least one label"));
}

TEST_CASE("encoders with relative positions, gated MLPs and rotary positions") {
  const std::string relative = R"("relative_attention": true, "share_att_key": true, "position_buckets": 8)";
  const auto deberta = [](const std::string& more) {
    return parameter_count(read(bert(more, "deberta-v2")).architecture).value;
  };
  const std::string base = R"("architectures": ["DebertaV2Model"], "position_biased_input": false)";
  CHECK(deberta(base + ", " + relative) == deberta(base) + 16 * 64);
  CHECK(deberta(base + ", " + relative + R"(, "norm_rel_ebd": "layer_norm")") == deberta(base) + 18 * 64);
  CHECK(deberta(base + R"(, "conv_kernel_size": 3)") == deberta(base) + 3 * 64 * 64 + 3 * 64);
  CHECK(deberta(R"("architectures": ["DebertaV2Model"])") == deberta(base) + 512 * 64);
  CHECK(contains(refusal(bert(R"("relative_attention": true)", "deberta-v2")), "without share_att_key"));
  CHECK(contains(refusal(bert(R"("moe_every_n_layers": 2)", "nomic_bert")),
                 "moe_every_n_layers: mixture-of-experts models of this type are not supported"));
  // The classifier of ModernBERT stands behind the head's matrix and norm.
  const auto modern = [](const char* name) {
    return parameter_count(
               read(bert(std::string(R"("architectures": ["ModernBert)") + name + "\"]", "modernbert"))
                   .architecture)
        .value;
  };
  CHECK(modern("ForSequenceClassification") == modern("Model") + 64 * 64 + 64 + 2 * 64 + 2);
}

// ---- encoder–decoders -------------------------------------------------------------------------------------

TEST_CASE("the encoder's tokens: fixed for audio, the most the config allows for text, said in a note") {
  const std::string whisper = R"({"model_type": "whisper", "d_model": 64, "encoder_layers": 2,
    "decoder_layers": 3, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128, "vocab_size": 100)";
  const model_architecture audio = read(whisper + R"(, "max_source_positions": 100})").architecture;
  CHECK(stores_of(audio) == counts{{"full", 3}, {"cross", 3}});
  CHECK(audio.kinds[0].stores[1].encoder_tokens == 100);
  CHECK(audio.max_position_embeddings == 448);
  CHECK(parameter_count(audio, module_role::audio).value > 0);
  CHECK(has_note(read(whisper + "}"), "max_source_positions is absent: assumed to be 1500"));

  const std::string t5 = R"({"model_type": "t5", "d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2,
    "num_heads": 4, "vocab_size": 100)";
  const huggingface_model text = read(t5 + "}");
  CHECK(text.architecture.kinds[0].stores[1].encoder_tokens == 512);
  CHECK(has_note(text, "cross attention is counted for an input of 512 tokens"));
  CHECK(read(t5 + R"(, "n_positions": 64})").architecture.kinds[0].stores[1].encoder_tokens == 64);
  CHECK(contains(refusal(t5 + R"(, "n_positions": 5000000000})"), "encoder tokens"));
  CHECK(stores_of(read(t5 + R"(, "num_decoder_layers": 5})").architecture) ==
        counts{{"full", 5}, {"cross", 5}});
  // The encoder alone: its own layers, no cache, no head.
  const model_architecture alone =
      read(t5 +
           R"(, "num_decoder_layers": 5, "architectures": ["T5EncoderModel"], "tie_word_embeddings": false})")
          .architecture;
  CHECK(stores_of(alone) == counts{{"none", 2}});
  CHECK(parameter_count(alone).value == 100 * 64 + 2 * (4 * 4096 + 2 * 8192 + 2 * 64) + 64 + 32 * 4);
  // A gated MLP has two inner projections, in encoder and decoder.
  CHECK(parameter_count(read(t5 + R"(, "feed_forward_proj": "gated-gelu"})").architecture).value ==
        parameter_count(text.architecture).value + 4 * 8192);
  CHECK(contains(refusal(t5 + R"(, "num_layers": 100000})"), "num_layers"));
  CHECK(contains(refusal(R"({"model_type": "bart", "d_model": 64, "encoder_layers": 2, "decoder_layers": 3,
    "encoder_attention_heads": 5, "decoder_attention_heads": 4, "encoder_ffn_dim": 128,
    "decoder_ffn_dim": 128, "vocab_size": 100})"),
                 "d_model 64 is not a multiple of encoder_attention_heads 5"));
}

TEST_CASE("tensor parallelism halves encoder-decoders, and damaged configs give one line") {
  tests::numbers random(20'260'730);
  tests::damaged_configs damaged;
  for (const published_model& published : published_models) {
    INFO(published.name);
    const nlohmann::json tree = nlohmann::json::parse(published.config);
    for (int i = 0; i < 150; ++i) damaged.attempt(tests::mutated_values(tree, random).dump());
    const model_architecture model = read(published.config).architecture;
    const std::uint64_t whole = weights_on_first_rank(model, 1);
    CHECK(weights_on_first_rank(model, 2) >= whole / 2);
    CHECK(weights_on_first_rank(model, 2) < whole * 3 / 5);
  }
  CHECK(damaged.models > 100);
  CHECK(damaged.refused > 1000);
}

}  // namespace
