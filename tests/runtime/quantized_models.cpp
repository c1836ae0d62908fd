// Configs with a quantization: which weights of the model are stored how, and what that sums up to.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "kvbudget/io/huggingface.hpp"
#include "kvbudget/memory/weights.hpp"
#include "support/catch.hpp"
#include "support/configs.hpp"
#include "support/input.hpp"

namespace {

using namespace kvbudget;
using tests::contains;
using tests::has_note;
using tests::read;
using tests::refusal;

/// Two layers of Llama's: hidden 256, 4 heads and 2 KV heads of 64, MLP 512, 1,000 words.
std::string llama(const std::string& quantization) {
  return R"({"model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 1000, "max_position_embeddings": 4096,
    "tie_word_embeddings": false, "torch_dtype": "bfloat16", "quantization_config": )" +
         quantization + "}";
}
constexpr std::uint64_t attention = 2 * (2 * 256 * 256 + 2 * 128 * 256);
constexpr std::uint64_t mlp = 2 * 3 * 256 * 512;
constexpr std::uint64_t table = 1000 * 256;
constexpr std::uint64_t norms = 5 * 256;

weight_bytes stored_by(const model_architecture& model, bool with_drafts = false) {
  deployment d{.model = model};
  d.load_draft_layers = with_drafts;
  if (model.dtype.is_automatic()) d.dtype = formats::bf16;
  return weights_of(d, share_of(d, rank{}));
}
std::uint64_t module_of(const weight_bytes& weights, module_role role) {
  return weights.modules[static_cast<std::size_t>(role)];
}
std::uint64_t sum_of(const weight_bytes& weights) {
  std::uint64_t sum = weights.scales;
  for (const std::uint64_t module : weights.modules) sum += module;
  return sum;
}

}  // namespace

TEST_CASE("a quantized config stores its linear layers so, and leaves the rest in the dtype") {
  const huggingface_model awq = read(llama(R"({"quant_method": "awq", "bits": 4, "group_size": 128})"));
  CHECK(awq.quantization_method == "awq");
  const weight_bytes weights = stored_by(awq.architecture);
  CHECK(module_of(weights, module_role::attention) == attention / 2);
  CHECK(module_of(weights, module_role::mlp) == mlp / 2);
  CHECK(module_of(weights, module_role::embedding) == 2 * table);
  CHECK(module_of(weights, module_role::lm_head) == 2 * table);
  CHECK(module_of(weights, module_role::norm) == 2 * norms);
  // A 16-bit scale and a 4-bit zero point for each 128 inputs of each output.
  CHECK(weights.scales == (attention + mlp) / 128 * 2 + (attention + mlp) / 128 / 2);

  CHECK_FALSE(read(llama("null")).quantization_method);
  CHECK(contains(refusal(llama("{}")), "quantization_config: key \"quant_method\" is missing"));
  CHECK(contains(refusal(llama(R"("awq")")), "quantization_config: must be an object, not text"));
  CHECK(contains(refusal(llama(R"({"quant_method": "zip"})")), "\"zip\""));
}

TEST_CASE("a format that the deployment asks for replaces the checkpoint's own") {
  const model_architecture model =
      read(llama(R"({"quant_method": "awq", "bits": 4, "group_size": 128})")).architecture;
  deployment d{.model = model, .weights = formats::fp8_e4m3};
  CHECK(sum_of(weights_of(d, share_of(d, rank{}))) == attention + mlp + 2 * table + norms);
  d.weights = schemes::fp8_linear;
  const weight_bytes fp8 = weights_of(d, share_of(d, rank{}));
  CHECK(sum_of(fp8) == attention + mlp + 2 * (2 * table + norms) + 2 * 7 * 4);
}

TEST_CASE("layers that a list spares are layers of their own") {
  const huggingface_model first = read(llama(
      R"({"quant_method": "fp8", "weight_block_size": [128, 128],
          "modules_to_not_convert": ["lm_head", "model.layers.0.mlp"]})"));
  CHECK(first.architecture.kind_count == 2);
  const weight_bytes weights = stored_by(first.architecture);
  CHECK(module_of(weights, module_role::mlp) == mlp / 2 * 2 + mlp / 2);
  CHECK(module_of(weights, module_role::attention) == attention);
  CHECK(weights.scales == (attention + mlp / 2) / (128 * 128) * 4);

  const huggingface_model alike = read(llama(
      R"({"quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": ["mlp"]})"));
  CHECK(alike.architecture.kind_count == 1);
  CHECK(module_of(stored_by(alike.architecture), module_role::mlp) == 2 * mlp);

  // One of two matrices of a group: gate projections spared, up projections not.
  const huggingface_model half = read(llama(
      R"({"quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": ["gate_proj"]})"));
  CHECK(module_of(stored_by(half.architecture), module_role::mlp) == mlp / 3 * 2 + mlp / 3 * 2);
  CHECK(parameter_count(half.architecture) == parameter_count(alike.architecture));
}

TEST_CASE("ModelOpt's file beside the config is read where the config names no quantization") {
  const tests::scratch folder;
  const std::string plain = llama("null");
  folder.write("config.json", plain);
  CHECK_FALSE(read_huggingface_config(folder.path() / "config.json").quantization_method);
  folder.write("hf_quant_config.json", R"({"producer": {"name": "modelopt"}, "quantization":
    {"quant_algo": "NVFP4", "group_size": 16, "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}})");
  const huggingface_model found = read_huggingface_config(folder.path() / "config.json");
  CHECK(found.quantization_method == "modelopt");
  const weight_bytes weights = stored_by(found.architecture);
  CHECK(module_of(weights, module_role::mlp) == mlp / 2);
  // One byte per 16 elements; 14 matrices with two fp32 scales each.
  CHECK(weights.scales == (attention + mlp) / 16 + 14 * 8);
  folder.write("hf_quant_config.json", "{");
  CHECK(contains(tests::message_of([&] { (void)read_huggingface_config(folder.path() / "config.json"); }),
                 "hf_quant_config.json: is not valid JSON"));
}

#ifdef KVBUDGET_SHARED_DIR
TEST_CASE("published counts of quantized checkpoints are elements and scales of the model") {
  const auto weights_in = [](const char* name) {
    const auto path = std::filesystem::path(KVBUDGET_SHARED_DIR) / "models/configs" / name;
    return read_huggingface_config(path).architecture;
  };
  // Published total − elements = scales, of four bytes each.
  for (const auto& [name, scales] : {std::pair{"deepseek-ai--DeepSeek-V3.json", 41'540'496u},
                                     {"deepseek-ai--DeepSeek-R1.json", 41'540'496u},
                                     {"deepseek-ai--DeepSeek-V3.2.json", 41'591'584u},
                                     {"zai-org--GLM-5.1-FP8.json", 45'885'024u}}) {
    INFO(name);
    CHECK(stored_by(weights_in(name), true).scales == std::uint64_t{scales} * 4);
  }
  // Of 16 bits each, or 32.
  const weight_bytes scout =
      stored_by(weights_in("RedHatAI--Llama-4-Scout-17B-16E-Instruct-FP8-dynamic.json"));
  CHECK(scout.scales == 2u * (108'659'340'800 - 108'641'793'536));
  CHECK(scout.scales_high == 4u * (108'659'340'800 - 108'641'793'536));
  // Of one byte each: MXFP4.
  CHECK(stored_by(weights_in("openai--gpt-oss-120b.json")).scales == 120'412'337'472 - 116'829'156'672);
  CHECK(stored_by(weights_in("openai--gpt-oss-20b.json")).scales == 21'511'953'984 - 20'914'757'184);
}
#endif
