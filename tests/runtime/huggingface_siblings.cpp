// Models beside those of the reference: their exact counts, what they cache, and how their checkpoints store
// them; classifiers, draft models, omni models.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface.hpp"
#include "kvbudget/memory/kv_cache.hpp"
#include "kvbudget/memory/weights.hpp"
#include "support/catch.hpp"
#include "support/input.hpp"
#include "support/mutations.hpp"

namespace {

using namespace kvbudget;
using tests::contains;
using tests::message_of;

huggingface_model read(const std::string& config) {
  return read_huggingface_config_text(config, "test.json");
}
std::string refusal(const std::string& config) {
  return message_of([&] { (void)read(config); });
}
bool has_note(const huggingface_model& model, const std::string& part) {
  for (const std::string& note : model.notes) {
    if (contains(note, part)) return true;
  }
  return false;
}
/// The config with its first `from` replaced.
std::string with(std::string config, const std::string& from, const std::string& to) {
  const std::size_t at = config.find(from);
  REQUIRE(at != std::string::npos);
  return config.replace(at, from.size(), to);
}
/// Cached elements of one token.
std::uint64_t elements_of_token(const model_architecture& model) {
  const deployment d{
      .model = model, .kv_cache = formats::bf16, .workload = {.sequences = 1, .context = tokens{1}}};
  return kv_cache_of(d, share_of(d, rank{})).payload / 2;
}
/// Bytes of the weights on the first of `ranks` tensor ranks.
std::uint64_t bytes_of(const model_architecture& model, std::uint32_t ranks = 1) {
  deployment d{.model = model, .dtype = formats::bf16};
  d.parallel.tensor = ranks;
  const weight_bytes weights = weights_of(d, share_of(d, rank{}));
  std::uint64_t sum = weights.scales;
  for (const std::uint64_t module : weights.modules) sum += module;
  return sum;
}

struct published_model {
  const char* name;
  std::uint64_t parameters;
  std::uint64_t vision;
  std::uint64_t audio;
  std::uint64_t elements_of_token;
  std::string config;
};

const char* const qwen3_8b = R"({"model_type": "qwen3", "hidden_size": 4096, "intermediate_size": 12288,
  "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
  "vocab_size": 151936})";

const std::string qwen_7b = R"({"model_type": "qwen", "hidden_size": 4096, "intermediate_size": 22016,
  "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 151936, "tie_word_embeddings": false})";

const std::string ernie_vl = R"({"model_type": "ernie4_5_moe_vl", "hidden_size": 2560,
  "intermediate_size": 12288, "num_hidden_layers": 28, "num_attention_heads": 20, "num_key_value_heads": 4,
  "vocab_size": 103424, "tie_word_embeddings": true, "moe_num_experts": [64, 64], "moe_k": 6,
  "moe_intermediate_size": [1536, 512], "moe_num_shared_experts": 2, "moe_layer_start_index": [1, 1],
  "moe_layer_end_index": [29, 28], "spatial_conv_size": 2, "temporal_conv_size": 2, "vision_config": {
  "depth": 32, "embed_dim": 1280, "hidden_size": 1280, "mlp_ratio": 4, "num_heads": 16, "patch_size": 14}})";

const std::string mistral_7b = R"({"architectures": ["MistralModel"], "model_type": "mistral",
  "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
  "num_key_value_heads": 8, "sliding_window": 4096, "vocab_size": 32000, "tie_word_embeddings": false})";

// Sizes: the models' own config.json files; counts: their safetensors element counts, unless a line says
// otherwise.
std::vector<published_model> published_models() {
  return {
      // `expand` is not the one that counts.
      {"falcon-mamba-7b", 7'272'665'088, 0, 0, 0, R"({"model_type": "falcon_mamba", "hidden_size": 4096,
      "num_hidden_layers": 64, "vocab_size": 65024, "tie_word_embeddings": false, "expand": 16,
      "intermediate_size": 8192, "time_step_rank": 256})"},
      {"ERNIE-4.5-VL-28B-A3B-PT", 29'399'294'336, 774'658'560 + 27ULL * (64 * 3 * 2560 * 512 + 64 * 2561), 0,
       28'672, ernie_vl},
      {"HunyuanOCR", 996'208'112, 457'198'064, 0, 49'152, R"({"model_type": "hunyuan_vl", "hidden_size": 1024,
      "intermediate_size": 3584, "num_hidden_layers": 24, "num_attention_heads": 16,
      "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 120818, "tie_word_embeddings": true,
      "vision_config": {"hidden_size": 1152, "intermediate_size": 4304, "num_attention_heads": 16,
      "num_hidden_layers": 27, "patch_size": 16, "max_image_size": 2048, "spatial_merge_size": 2}})"},
      {"Step3-VL-10B", 10'171'750'144, 1'981'014'784, 0, 73'728,
       std::string(R"({"model_type": "step_robotics", "text_config": )") + qwen3_8b + R"(, "vision_config": {
      "image_size": 728, "patch_size": 14, "width": 1536, "layers": 47, "heads": 16, "ls_init_value": 0.1,
      "mlp_ratio": 5.833333333333333, "use_cls_token": false, "use_ln_post": false}})"},
      {"DeepSeek-OCR", 3'336'106'240, 401'372'160, 0, 30'720, R"({"model_type": "deepseek_vl_v2",
      "language_config": {"hidden_size": 1280, "intermediate_size": 6848, "num_hidden_layers": 12,
      "num_attention_heads": 10, "num_key_value_heads": 10, "first_k_dense_replace": 1,
      "moe_intermediate_size": 896, "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6,
      "kv_lora_rank": null, "q_lora_rank": null, "qk_nope_head_dim": 0, "qk_rope_head_dim": 0,
      "v_head_dim": 0, "use_mla": false, "topk_method": "greedy", "vocab_size": 129280},
      "vision_config": {"image_size": 1024, "mlp_ratio": 3.7362, "model_name": "deeplip_b_l"}})"},
      {"Molmo-7B-D-0924", 8'021'025'280, 404'950'016, 0, 28'672, R"({"model_type": "molmo",
      "hidden_size": 3584, "intermediate_size": 37888, "num_hidden_layers": 28, "num_attention_heads": 28,
      "num_key_value_heads": 4, "embedding_size": 152064, "vocab_size": 152064, "qkv_bias": true,
      "attention_layer_norm": false, "weight_tying": false, "tie_word_embeddings": false})"},
      {"Qwen-VL-Chat", 9'656'935'168, 1'935'610'624, 0, 262'144,
       with(qwen_7b, "}", R"(, "visual": {"heads": 16, "image_size": 448, "layers": 48, "mlp_ratio": 4.9231,
      "output_dim": 4096, "patch_size": 14, "width": 1664}})")},
      {"Qwen-Audio-Chat", 8'396'222'464, 0, 642'039'808, 262'144,
       with(with(qwen_7b, "151936", "155947"), "}", R"(, "audio": {"add_audio_bos_eos_token": true,
      "n_ctx": 1500, "n_head": 20, "n_layer": 32, "n_mels": 80, "n_state": 1280, "output_dim": 4096}})")},
      {"Phi-3.5-vision-instruct", 4'146'621'440, 325'541'888, 0, 196'608, R"({"model_type": "phi3_v",
      "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 32, "num_attention_heads": 32,
      "num_key_value_heads": 32, "vocab_size": 32064, "sliding_window": 262144,
      "tie_word_embeddings": false, "img_processor": {"name": "clip_vision_model"}})"},
      // A sum over the shapes of its modeling code, like the next ones.
      {"Mistral-Small-4-119B", 119'401'298'944, 428'472'320, 0, 36 * 320, R"({"model_type": "mistral3",
      "text_config": {"model_type": "mistral4"}, "vision_config": {"model_type": "pixtral",
      "patch_size": 14, "image_size": 1540}})"},
      {"Solar-Open-100B", 102'651'799'552, 0, 0, 98'304, R"({"model_type": "solar_open", "hidden_size": 4096,
      "num_hidden_layers": 48, "num_attention_heads": 64, "tie_word_embeddings": false})"},
      {"Youtu-LLM-2B", 1'961'560'064, 0, 0, 32 * 576, R"({"model_type": "youtu", "hidden_size": 2048,
      "num_hidden_layers": 32, "tie_word_embeddings": true})"},
      {"LightOnOCR-2-1B", 1'005'647'872, 409'597'952, 0, 57'344, R"({"model_type": "lighton_ocr",
      "text_config": {"hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28,
      "num_attention_heads": 16, "num_key_value_heads": 8, "vocab_size": 151936, "tie_word_embeddings": true},
      "vision_config": {"patch_size": 14, "image_size": 1540}})"},
      {"Qwen2.5-Omni-7B, thinker", 8'931'813'888, 676'550'144, 639'647'232, 28'672, R"({"model_type":
      "qwen2_5_omni", "talker_config": {}, "thinker_config": {"text_config": {"model_type":
      "qwen2_5_omni_text", "tie_word_embeddings": false}, "audio_config": {"output_dim": 3584},
      "vision_config": {"out_hidden_size": 3584}}})"},
      {"Qwen3-Omni-30B-A3B, thinker", 31'719'205'488, 538'631'408, 647'927'168, 49'152, R"({"model_type":
      "qwen3_omni_moe", "thinker_config": {"text_config": {"model_type": "qwen3_omni_moe_text",
      "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 48, "num_attention_heads": 32,
      "num_key_value_heads": 4, "head_dim": 128, "vocab_size": 152064, "tie_word_embeddings": false},
      "audio_config": {"output_dim": 2048}, "vision_config": {"out_hidden_size": 2048}}})"},
      // Without 64,000 + 201,088 rows of the tables between its vocabularies.
      {"gpt-oss-20b-speculator.eagle3", 854'792'768 - 265'088, 0, 0, 1'024, R"({"speculators_model_type":
      "eagle3", "draft_vocab_size": 64000, "norm_before_fc": true, "target_hidden_size": null,
      "tie_word_embeddings": false, "transformer_layer_config": {"model_type": "llama",
      "hidden_size": 2880, "intermediate_size": 2880, "num_hidden_layers": 1, "num_attention_heads": 64,
      "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 201088}})"},
      {"e5-mistral-7b-instruct", 7'110'660'096, 0, 0, 65'536, mistral_7b},
  };
}

TEST_CASE("siblings have their exact counts and caches") {
  for (const published_model& published : published_models()) {
    INFO(published.name);
    const huggingface_model found = read(published.config);
    const model_architecture& model = found.architecture;
    CHECK(parameter_count(model).value == published.parameters);
    CHECK(parameter_count(model, module_role::vision).value == published.vision);
    CHECK(parameter_count(model, module_role::audio).value == published.audio);
    CHECK(elements_of_token(model) == published.elements_of_token);
    CHECK_FALSE(model.parameters_assumed);
  }
}

TEST_CASE("siblings can be shared by two ranks") {
  for (const published_model& published : published_models()) {
    INFO(published.name);
    const huggingface_model found = read(published.config);
    const std::uint64_t whole = bytes_of(found.architecture);
    const std::uint64_t half = bytes_of(found.architecture, 2);
    CHECK(half < whole);
    CHECK(half >= whole / 2);
  }
}

TEST_CASE("experts of ERNIE's images are not those of its text") {
  const model_architecture model = read(ernie_vl).architecture;
  const std::string untied =
      with(ernie_vl, "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  CHECK(parameter_count(read(untied).architecture).value == 29'664'059'776);
  // ERNIE-4.5-21B-A3B has the same text model.
  CHECK(parameter_count(model).value - parameter_count(model, module_role::vision).value == 21'825'437'888);
  CHECK(contains(refusal(with(ernie_vl, "[64, 64]", "[64, 32]")), "must be the same for text and images"));
  CHECK(contains(refusal(with(ernie_vl, "[64, 64]", "[64]")), "must be a number, or one for text and one"));
  const std::string by_type =
      with(ernie_vl, "\"moe_k\": 6", "\"moe_k\": 6, \"mlp_layer_types\": [\"dense\"]");
  CHECK(contains(refusal(by_type), "mlp_layer_types: has 1 entries, expected one for each of the 28 layers"));
}

TEST_CASE("models whose towers are not known are read, and say so") {
  const std::string chameleon = R"({"model_type": "chameleon", "hidden_size": 4096,
    "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 65536})";
  const huggingface_model found = read(chameleon);
  CHECK(found.architecture.parameters_assumed);
  CHECK(has_note(found, "towers of chameleon: its weights are not counted"));
  // 7,043,090,432 published, of which 29,423,616 in the encoder of images.
  CHECK(parameter_count(found.architecture).value == 7'043'090'432 - 29'423'616);
  const huggingface_model vl2 =
      read(with(published_models()[4].config, "deeplip_b_l", "siglip_so400m_patch14_384"));
  CHECK(vl2.architecture.parameters_assumed);
  CHECK(has_note(vl2, "siglip_so400m_patch14_384\" is not known"));
}

TEST_CASE("an omni model is the part of it that engines serve") {
  const std::string config = R"({"model_type": "qwen2_5_omni", "talker_config": {"text_config": {}},
    "thinker_config": {"text_config": {"model_type": "qwen2_5_omni_text"}}})";
  const huggingface_model found = read(config);
  CHECK(has_note(found, "only thinker_config is counted"));
  CHECK(found.architecture.num_hidden_layers == 28);
}

TEST_CASE("a classifier ends in its labels") {
  const auto labels = [](const std::string& key) {
    const std::string config =
        with(mistral_7b, "\"MistralModel\"]", "\"MistralForSequenceClassification\"]" + key);
    return parameter_count(read(config).architecture, module_role::lm_head).value;
  };
  CHECK(labels("") == 2 * 4096);
  CHECK(labels(", \"num_labels\": 5") == 5 * 4096);
  CHECK(labels(R"(, "id2label": {"0": "good"})") == 4096);
  CHECK(parameter_count(read(with(mistral_7b, "MistralModel", "MistralForCausalLM")).architecture,
                        module_role::lm_head)
            .value == 32000ULL * 4096);
}

TEST_CASE("drafts in the format of speculators") {
  const std::string config = published_models()[15].config;
  CHECK(contains(refusal(with(config, "\"eagle3\"", "\"mlp\"")),
                 "speculators_model_type: \"mlp\" is not supported"));
  CHECK(contains(refusal(with(config, "\"llama\"", "\"qwen3\"")), "model_type must be llama"));
  CHECK(contains(refusal(with(config, "64000", "300000")), "draft_vocab_size is more than vocab_size"));
}

const std::string qwen3_4b = R"({"model_type": "qwen3", "hidden_size": 2560, "intermediate_size": 9728,
  "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
  "vocab_size": 151936, "tie_word_embeddings": true, "torch_dtype": "bfloat16", )";

TEST_CASE("MLX stores every matrix of the language model in groups") {
  // Qwen3-4B-MLX-4bit: 502,784,000 words of 4 bytes, 31,424,000 scales and offsets each, 196,096 norms.
  const std::uint64_t bytes = 502'784'000ULL * 4 + 2 * (31'424'000ULL * 2 + 196'096);
  const huggingface_model found = read(qwen3_4b + R"("quantization": {"group_size": 128, "bits": 4}})");
  CHECK(found.quantization_method == "mlx");
  CHECK(bytes_of(found.architecture) == bytes);
  const huggingface_model mixed = read(qwen3_4b + R"("quantization_config": {"group_size": 128, "bits": 4,
    "model.embed_tokens": {"group_size": 128, "bits": 8}, "model.layers.0.mlp.down_proj": false}})");
  const std::uint64_t down = 2560ULL * 9728;
  CHECK(bytes_of(mixed.architecture) ==
        bytes + 151'936ULL * 2560 / 2 + down * 2 - (down / 2 + down / 128 * 4));
  CHECK(contains(refusal(qwen3_4b + R"("quantization": {"group_size": 64, "bits": 7}})"), "7 bits"));
  CHECK(contains(refusal(qwen3_4b + R"("quantization": {"group_size": 64, "bits": 4, "mode": "odd"}})"),
                 "\"odd\" is not supported"));
}

TEST_CASE("BitNet packs four weights into a byte") {
  const huggingface_model found = read(R"({"model_type": "bitnet", "hidden_size": 2560,
    "intermediate_size": 6912, "num_hidden_layers": 30, "num_attention_heads": 20, "num_key_value_heads": 5,
    "vocab_size": 128256, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
    "quantization_config": {"quant_method": "bitnet", "linear_class": "autobitlinear"}})");
  CHECK(parameter_count(found.architecture).value == 2'412'820'480);
  // bitnet-b1.58-2B-4T has 849,787,090 elements: 521,011,200 bytes, and 16-bit ones.
  CHECK(bytes_of(found.architecture) == 521'011'200ULL + 2 * (849'787'090ULL - 521'011'200ULL));
}

TEST_CASE("mutated configs of siblings give a model or an error, nothing else") {
  tests::numbers random(20'251'129);
  int models = 0;
  int refused = 0;
  const auto attempt = [&](const std::string& config) {
    try {
      const huggingface_model found = read_huggingface_config_text(config, "mutated");
      REQUIRE(found.architecture.num_hidden_layers > 0);
      ++models;
    } catch (const error& reason) {
      REQUIRE(std::string(reason.what()).find('\n') == std::string::npos);
      REQUIRE(contains(reason.what(), "mutated"));
      ++refused;
    }
  };
  for (const published_model& published : published_models()) {
    INFO(published.name);
    const nlohmann::json tree = nlohmann::json::parse(published.config);
    for (int i = 0; i < 60; ++i) attempt(tests::mutated_bytes(published.config, random));
    for (int i = 0; i < 150; ++i) attempt(tests::mutated_values(tree, random).dump());
  }
  CHECK(models > 300);
  CHECK(refused > 500);
}

}  // namespace
