// What a checkpoint's quantization_config says: module by module, with bytes worked out by hand, and bad
// input.
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface/quantization.hpp"
#include "kvbudget/memory/weights.hpp"
#include "support/catch.hpp"
#include "support/input.hpp"
#include "support/mutations.hpp"

namespace {

using namespace kvbudget;
using tests::contains;
using tests::message_of;

/// A config with this quantization, and perhaps more keys.
checkpoint_quantization read(const std::string& quantization, const std::string& more = "") {
  const json_document document =
      parse_json("{" + more + "\"quantization_config\": " + quantization + "}", "config.json");
  std::optional<checkpoint_quantization> found = checkpoint_quantization::of_config(json_field(document));
  REQUIRE(found.has_value());
  return *found;
}
std::string refusal(const std::string& quantization) {
  return message_of([&] { (void)read(quantization); });
}
/// The name of a module's scheme, or "dtype".
std::string name_for(const checkpoint_quantization& found, const std::string& module,
                     tensor_kind kind = tensor_kind::linear) {
  const std::optional<weight_scheme> scheme = found.scheme_for(module, kind);
  return scheme ? scheme->name : "dtype";
}

constexpr std::uint64_t rows = 4096;
constexpr std::uint64_t columns = 14336;
constexpr std::uint64_t elements = rows * columns;

/// Bytes of one down projection of Llama-3.1-8B: 4096 × 14336.
struct stored_bytes {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend bool operator==(const stored_bytes&, const stored_bytes&) = default;
};
stored_bytes bytes_of(const checkpoint_quantization& found,
                      const std::string& module = "model.layers.0.mlp.down_proj") {
  const std::optional<weight_scheme> scheme = found.scheme_for(module);
  REQUIRE(scheme.has_value());
  const weight_group group =
      weight_groups::whole(module_role::mlp, rows, static_cast<std::uint32_t>(columns));
  const stored_weights sum = stored(group, shard_of(group, {}), *scheme, 4096);
  return {sum.payload + sum.scales, sum.payload + sum.scales_high};
}
std::uint64_t exact_bytes_of(const std::string& quantization) {
  const stored_bytes found = bytes_of(read(quantization));
  CHECK(found.low == found.high);
  return found.low;
}
/// Scales (without zero points and constants) of `count` matrices.
std::uint64_t scales(const checkpoint_quantization& found, const std::string& module, std::uint64_t height,
                     std::uint64_t width, std::uint64_t count = 1) {
  const std::optional<weight_scheme> scheme = found.scheme_for(module);
  return scheme ? count * detail::scales_per_matrix(*scheme, height, width) : 0;
}

bool has_note(const checkpoint_quantization& found, const std::string& part) {
  for (const std::string& note : found.notes()) {
    if (contains(note, part)) return true;
  }
  return false;
}

const std::string attention = "model.layers.7.self_attn.q_proj";
const std::string mlp = "model.layers.7.mlp.gate_proj";
const std::string expert = "model.layers.7.mlp.experts.11.up_proj";
const std::string shared_expert = "model.layers.7.mlp.shared_experts.up_proj";
const std::string router = "model.layers.7.mlp.gate";
const std::string head = "lm_head";
const std::string table = "model.embed_tokens";

}  // namespace

TEST_CASE("A config without quantization has none", "[quantization]") {
  const json_document document =
      parse_json(R"({"quantization_config": null, "text_config": {}})", "config.json");
  CHECK_FALSE(checkpoint_quantization::of_config(json_field(document)).has_value());
}

TEST_CASE("FP8: per matrix, in blocks, with one-byte scales", "[quantization]") {
  CHECK(exact_bytes_of(R"({"quant_method": "fp8", "activation_scheme": "dynamic"})") == elements + 4);
  CHECK(exact_bytes_of(R"({"quant_method": "fp8", "activation_scheme": "static"})") == elements + 8);
  CHECK(exact_bytes_of(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})") ==
        elements + 32 * 112 * 4);
  CHECK(exact_bytes_of(R"({"quant_method": "fp8", "weight_block_size": [64, 256]})") ==
        elements + 64 * 56 * 4);
  // scale_fmt is about values, not about how they are stored.
  CHECK(exact_bytes_of(R"({"quant_method": "fp8", "weight_block_size": [128, 128], "scale_fmt": "ue8m0"})") ==
        elements + 32 * 112 * 4);
  CHECK(exact_bytes_of(R"({"quant_method": "fbgemm_fp8"})") == elements + 4096 * 4);

  const checkpoint_quantization blocks = read(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})");
  for (const std::string& module : {attention, mlp, expert, shared_expert})
    CHECK(name_for(blocks, module) == "fp8_block");
  for (const std::string& module :
       {router, head, std::string("model.layers.61.eh_proj"), std::string("model.layers.61.shared_head.head"),
        std::string("model.layers.3.self_attn.indexer.weights_proj"),
        std::string("model.visual.blocks.0.attn.qkv")}) {
    CHECK(name_for(blocks, module) == "dtype");
  }
  CHECK(name_for(blocks, table, tensor_kind::table) == "dtype");
  CHECK(name_for(blocks, "model.norm", tensor_kind::vector) == "dtype");

  CHECK(refusal(R"({"quant_method": "fp8", "weight_block_size": [128]})") ==
        "config.json: quantization_config.weight_block_size: must be [rows, columns]");
  CHECK(refusal(R"({"quant_method": "fp8", "weight_block_size": [0, 128]})") ==
        "config.json: quantization_config.weight_block_size[0]: must be above zero (leave out what is not "
        "known)");
  CHECK(refusal(R"({"quant_method": "fp8", "fmt": "e3m4"})") ==
        "config.json: quantization_config.fmt: \"e3m4\" is not supported, expected one of e4m3 e5m2 "
        "float8_e4m3fn float8_e5m2");
}

TEST_CASE("FP8: the modules that lists leave alone", "[quantization]") {
  const checkpoint_quantization found = read(R"({"quant_method": "fp8", "modules_to_not_convert":
    ["model.layers.1", "self_attn.o_proj", "model.layers.*.mlp.up_proj", "model.layers.9.self_attn.indexers_proj"],
    "ignored_layers": ["model.layers.2.mlp.gate"]})");
  CHECK(name_for(found, "model.layers.1.mlp.down_proj") == "dtype");
  CHECK(name_for(found, "model.layers.10.mlp.down_proj") == "fp8_linear");
  CHECK(name_for(found, "model.layers.4.self_attn.o_proj") == "dtype");
  CHECK(name_for(found, "model.layers.4.mlp.up_proj") == "dtype");
  CHECK(name_for(found, "model.layers.2.mlp.gate_proj") == "fp8_linear");  // not the router
  CHECK(name_for(found, "model.language_model.layers.1.mlp.down_proj") == "dtype");
}

TEST_CASE("FP8 scales of published checkpoints", "[quantization]") {
  // Element counts of the safetensors files, less the weights: huggingface.co deepseek-ai/DeepSeek-V3 and
  // V3.2, zai-org/GLM-5.1-FP8. Every scale is there, and none too many.
  struct published {
    std::uint64_t hidden, dense, layers, intermediate, heads, q_rank, nope, v_dim, index_heads, scales;
  };
  const published models[] = {{7168, 3, 62, 18432, 128, 1536, 128, 128, 0, 41'540'496},
                              {7168, 3, 62, 18432, 128, 1536, 128, 128, 64, 41'591'584},
                              {6144, 3, 79, 12288, 64, 2048, 192, 256, 32, 45'885'024}};
  const checkpoint_quantization found = read(
      R"({"quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": ["lm_head"]})");
  for (const published& m : models) {
    std::uint64_t sum = 0;
    for (std::uint64_t layer = 0; layer < m.layers; ++layer) {
      const std::string at = "model.layers." + std::to_string(layer) + ".";
      const auto add = [&](const char* module, std::uint64_t height, std::uint64_t width,
                           std::uint64_t count = 1) {
        sum += scales(found, at + module, height, width, count);
      };
      add("self_attn.q_a_proj", m.q_rank, m.hidden);
      add("self_attn.q_b_proj", m.heads * (m.nope + 64), m.q_rank);
      add("self_attn.kv_a_proj_with_mqa", 512 + 64, m.hidden);
      add("self_attn.kv_b_proj", m.heads * (m.nope + m.v_dim), 512);
      add("self_attn.o_proj", m.hidden, m.heads * m.v_dim);
      if (m.index_heads != 0) {
        add("self_attn.indexer.wq_b", m.index_heads * 128, m.q_rank);
        add("self_attn.indexer.wk", 128, m.hidden);
        add("self_attn.indexer.weights_proj", m.index_heads, m.hidden);
      }
      if (layer < m.dense) {
        add("mlp.up_proj", m.intermediate, m.hidden, 3);
      } else {
        add("mlp.gate", 256, m.hidden);
        add("mlp.experts.0.up_proj", 2048, m.hidden, 256 * 3);
        add("mlp.shared_experts.up_proj", 2048, m.hidden, 3);
      }
    }
    sum += scales(found, "model.layers.61.eh_proj", m.hidden, 2 * m.hidden);
    sum += scales(found, "lm_head", 129280, m.hidden);
    CHECK(sum == m.scales);
  }
}

TEST_CASE("DeepSeek-V4: FP4 experts and one-byte scales", "[quantization]") {
  const std::string blocks =
      R"({"quant_method": "fp8", "weight_block_size": [128, 128], "scale_fmt": "ue8m0"})";
  const checkpoint_quantization four =
      read(blocks, R"("model_type": "deepseek_v4", "expert_dtype": "fp4", )");
  CHECK(bytes_of(four, attention).low == elements + 32 * 112);
  CHECK(bytes_of(four, expert).low == elements / 2 + elements / 32);
  CHECK(bytes_of(four, "layers.7.ffn.experts.11.w1").low == elements / 2 + elements / 32);
  CHECK(name_for(four, shared_expert) == "fp8_block");
  CHECK(name_for(four, "layers.7.attn.compressor.wkv") == "dtype");
  CHECK(name_for(four, "head") == "dtype");
  const checkpoint_quantization eight =
      read(blocks, R"("model_type": "deepseek_v4", "expert_dtype": "fp8", )");
  CHECK(bytes_of(eight, expert).low == elements + 32 * 112 * 4);
  const checkpoint_quantization silent = read(blocks, R"("model_type": "deepseek_v4", )");
  CHECK(bytes_of(silent, expert).low == elements / 2 + elements / 32);
  CHECK(has_note(silent, "expert_dtype is absent"));
  CHECK(contains(message_of([&] { (void)read(blocks, R"("expert_dtype": "fp2", )"); }),
                 "expert_dtype \"fp2\" is not supported, expected fp4 or fp8"));

  // ModelOpt on top of it: its layers are NVFP4, the rest stays as it was.
  const checkpoint_quantization mixed = read(R"({"quant_method": "fp8", "weight_block_size": [128, 128],
    "quant_algo": "MIXED_PRECISION", "ignore": ["*.attn.*", "head"], "quantized_layers":
      {"layers.7.ffn.experts": {"quant_algo": "NVFP4", "group_size": 16}}})",
                                             R"("model_type": "deepseek_v4", "expert_dtype": "fp4", )");
  CHECK(bytes_of(mixed, expert).low == elements / 2 + elements / 16 + 8);
  CHECK(name_for(mixed, "model.layers.8.mlp.experts.0.up_proj") == "mxfp4");
  CHECK(name_for(mixed, attention) == "fp8_block");
}

TEST_CASE("compressed-tensors: formats to the byte", "[quantization]") {
  const auto with = [](const std::string& format, const std::string& weights,
                       const std::string& inputs = "null") {
    return R"({"quant_method": "compressed-tensors", "format": ")" + format +
           R"(", "config_groups": {"group_0": {"targets": ["Linear"], "weights": )" + weights +
           R"(, "input_activations": )" + inputs + "}}}";
  };
  const auto range = [&](const std::string& config) { return bytes_of(read(config)); };
  // FP8: one scale per matrix (and input), per row in 16 or 32 bits, per block.
  CHECK(exact_bytes_of(with("float-quantized", R"({"type": "float", "num_bits": 8, "strategy": "tensor"})",
                            R"({"type": "float", "num_bits": 8, "dynamic": false})")) == elements + 8);
  CHECK(exact_bytes_of(with("naive-quantized", R"({"type": "float", "num_bits": 8, "strategy": "tensor"})",
                            R"({"type": "float", "num_bits": 8, "dynamic": true})")) == elements + 4);
  CHECK(range(with("float-quantized", R"({"type": "float", "num_bits": 8, "strategy": "channel"})")) ==
        stored_bytes{elements + 4096 * 2, elements + 4096 * 4});
  CHECK(range(with("float-quantized", R"({"type": "float", "num_bits": 8, "strategy": "block",
                                          "block_structure": [128, 128]})")) ==
        stored_bytes{elements + 32 * 112 * 2, elements + 32 * 112 * 4});
  // INT8 per row; with zero points.
  CHECK(range(with("int-quantized", R"({"type": "int", "num_bits": 8, "strategy": "channel"})")) ==
        stored_bytes{elements + 4096 * 2, elements + 4096 * 4});
  CHECK(range(with("int-quantized",
                   R"({"type": "int", "num_bits": 8, "strategy": "channel", "symmetric": false})")) ==
        stored_bytes{elements + 4096 * 3, elements + 4096 * 5});
  // Packed integers: words, 16-bit scales, packed zero points, two int64 for the shape, g_idx.
  CHECK(exact_bytes_of(with("pack-quantized",
                            R"({"type": "int", "num_bits": 4, "strategy": "group", "group_size": 128})")) ==
        elements / 2 + 4096 * 112 * 2 + 16);
  CHECK(exact_bytes_of(with("pack-quantized", R"({"type": "int", "num_bits": 4, "strategy": "group",
                            "group_size": 32, "symmetric": false, "actorder": "group"})")) ==
        elements / 2 + 4096 * 448 * 2 + 4096 * 448 / 2 + 16 + 14336 * 4);
  CHECK(exact_bytes_of(with("pack-quantized", R"({"type": "int", "num_bits": 4, "strategy": "group",
                            "group_size": 128, "actorder": "weight"})")) ==
        elements / 2 + 4096 * 112 * 2 + 16);
  CHECK(exact_bytes_of(with("pack-quantized", R"({"type": "int", "num_bits": 8, "strategy": "channel"})")) ==
        elements + 4096 * 2 + 16);
  CHECK(exact_bytes_of(with("pack-quantized",
                            R"({"type": "int", "num_bits": 3, "strategy": "group", "group_size": 128})")) ==
        elements / 8 * 3 + 4096 * 112 * 2 + 16);
  // 4-bit floats: NVFP4 with and without inputs, MXFP4.
  const std::string four =
      R"({"type": "float", "num_bits": 4, "strategy": "tensor_group", "group_size": 16})";
  CHECK(exact_bytes_of(with("nvfp4-pack-quantized", four, R"({"num_bits": 4, "dynamic": "local"})")) ==
        elements / 2 + elements / 16 + 8);
  CHECK(exact_bytes_of(with("nvfp4-pack-quantized", four)) == elements / 2 + elements / 16 + 4);
  CHECK(exact_bytes_of(with("mxfp4-pack-quantized", R"({"type": "float", "num_bits": 4, "strategy": "group",
                            "group_size": 32, "scale_dtype": "torch.uint8"})")) ==
        elements / 2 + elements / 32);
  CHECK(read(with("dense", "{}")).scheme_for(mlp) == std::nullopt);

  CHECK(refusal(with("marlin-24", "{}")) ==
        "config.json: quantization_config.config_groups.group_0.weights: format \"marlin-24\" is not "
        "supported, expected one of dense float-quantized int-quantized pack-quantized nvfp4-pack-quantized "
        "naive-quantized mxfp4-pack-quantized mxfp8-quantized");
  CHECK(refusal(with("pack-quantized", R"({"type": "int", "num_bits": 9, "strategy": "channel"})")) ==
        "config.json: quantization_config.config_groups.group_0.weights: 9 bits are not supported here, "
        "expected 1 to 8 for integers");
  CHECK(contains(refusal(with("pack-quantized", R"({"type": "int", "num_bits": 4, "strategy": "group"})")),
                 "needs a group_size"));
  CHECK(contains(refusal(with("float-quantized", R"({"type": "float", "num_bits": 6})")),
                 "6 bits are not supported here, expected 4 or 8 for floats"));
  CHECK(contains(refusal(R"({"quant_method": "compressed-tensors", "config_groups": {},
                             "sparsity_config": {"format": "sparse-24-bitmask"}})"),
                 "sparsity_config.format: \"sparse-24-bitmask\" is not supported"));
}

TEST_CASE("compressed-tensors: targets and what is ignored", "[quantization]") {
  const checkpoint_quantization found =
      read(R"({"quant_method": "compressed-tensors", "format": "mixed-precision",
    "config_groups": {
      "group_0": {"targets": ["re:.*self_attn\\.(q|k|v)_proj$", "lm_head"], "format": "float-quantized",
                  "weights": {"type": "float", "num_bits": 8, "strategy": "channel"}},
      "group_1": {"targets": ["Linear"], "format": "pack-quantized",
                  "weights": {"type": "int", "num_bits": 4, "strategy": "group", "group_size": 128}},
      "group_2": {"targets": ["Embedding"], "format": "int-quantized",
                  "weights": {"type": "int", "num_bits": 8, "strategy": "channel"}},
      "group_3": {"targets": ["LlamaAttention"], "weights": null}},
    "ignore": ["re:.*mlp\\.(gate|up|gate_up|down)_proj.*", "model.layers.7.self_attn.v_proj",
               "re:^(?!model).*vision"], "kv_cache_scheme": {"num_bits": 8, "type": "float"}})");
  CHECK(name_for(found, attention) == "fp8_channel");
  CHECK(name_for(found, "model.layers.7.self_attn.v_proj") == "dtype");
  CHECK(name_for(found, "model.language_model.layers.7.self_attn.v_proj") == "dtype");
  CHECK(name_for(found, "model.layers.7.self_attn.o_proj") == "int_packed");
  CHECK(name_for(found, mlp) == "dtype");
  CHECK(name_for(found, expert) == "int_packed");
  CHECK(name_for(found, router) == "dtype");
  CHECK(name_for(found, head) == "fp8_channel");
  CHECK(name_for(found, table, tensor_kind::table) == "int8_group");
  CHECK(name_for(found, "vision_tower.blocks.0.fc1") == "dtype");
  CHECK(found.kv_cache_format() == "fp8_e4m3");
  CHECK(found.method() == "compressed-tensors");

  const std::string two =
      R"({"targets": ["re:.*proj"], "weights": {"type": "int", "num_bits": 8, "strategy": "channel"}})";
  const std::string other =
      R"({"targets": ["re:.*q_proj"], "weights": {"type": "int", "num_bits": 4, "strategy": "channel"}})";
  const checkpoint_quantization torn =
      read(R"({"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {"a": )" +
           two + R"(, "b": )" + other + "}}");
  CHECK(name_for(torn, mlp) == "int_packed");
  CHECK(message_of([&] { (void)torn.scheme_for(attention); }) ==
        "config.json: quantization_config: \"re:.*proj\" and \"re:.*q_proj\" contradict each other for "
        "model.layers.7.self_attn.q_proj");
  CHECK(contains(refusal(R"({"config_groups": {"a": {"targets": ["Conv2d"], "weights":
                             {"type": "int", "num_bits": 8, "strategy": "channel"}}}})"),
                 "modules of class \"Conv2d\" are not known to have weights"));
  // In the config of a language model it says nothing about towers.
  const json_document nested = parse_json(R"({"text_config": {"quantization_config": {"config_groups": {"a":
    {"targets": ["Linear"], "weights": {"type": "int", "num_bits": 8, "strategy": "channel"}}}}}})",
                                          "config.json");
  const auto language = checkpoint_quantization::of_config(json_field(nested));
  REQUIRE(language.has_value());
  CHECK(name_for(*language, mlp) == "int8_group");
  CHECK(name_for(*language, "vision_tower.blocks.0.fc1") == "dtype");
}

TEST_CASE("One scale per row: as many as the published checkpoint has", "[quantization]") {
  // RedHatAI/Qwen3-32B-FP8-dynamic: 32,766,710,784 elements; the weights are 32,762,123,264 of them.
  const checkpoint_quantization found =
      read(R"({"quant_method": "compressed-tensors", "format": "float-quantized",
    "ignore": ["lm_head"], "config_groups": {"group_0": {"targets": ["Linear"],
      "weights": {"type": "float", "num_bits": 8, "strategy": "channel"}}}})");
  const std::uint64_t layer = scales(found, attention, 8192, 5120) + scales(found, attention, 1024, 5120, 2) +
                              scales(found, "model.layers.7.self_attn.o_proj", 5120, 8192) +
                              scales(found, mlp, 25600, 5120, 2) +
                              scales(found, "model.layers.7.mlp.down_proj", 5120, 25600);
  CHECK(64 * layer + scales(found, head, 151936, 5120) == 32'766'710'784 - 32'762'123'264);
}

TEST_CASE("NVFP4: as many numbers as the published checkpoint has", "[quantization]") {
  // RedHatAI/Qwen3-30B-A3B-NVFP4: 17,452,222,848 numbers: two weights to a byte, a scale for 16, two global
  // scales for every matrix; embedding, head, routers and norms as they were.
  const checkpoint_quantization found = read(R"({"quant_method": "compressed-tensors",
    "format": "nvfp4-pack-quantized", "ignore": ["lm_head", "re:.*mlp.gate$"], "config_groups": {"group_0":
      {"targets": ["Linear"], "input_activations": {"num_bits": 4, "type": "float", "dynamic": "local"},
       "weights": {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}}}})");
  const auto numbers = [&](const std::string& module, std::uint64_t height, std::uint64_t width,
                           std::uint64_t count) {
    const std::optional<weight_scheme> scheme = found.scheme_for(module);
    if (!scheme) return height * width * count;
    return count * (scheme->payload.size_of(height * width).value +
                    detail::scales_per_matrix(*scheme, height, width) + scheme->sidecar.matrix_bytes / 4);
  };
  const std::uint64_t layer = numbers(attention, 4096, 2048, 1) + numbers(attention, 512, 2048, 2) +
                              numbers("model.layers.7.self_attn.o_proj", 2048, 4096, 1) +
                              numbers(router, 128, 2048, 1) + numbers(expert, 768, 2048, 128 * 3) + 2 * 2048 +
                              2 * 128;
  CHECK(48 * layer + 2 * numbers(head, 151936, 2048, 1) + 2048 == 17'452'222'848);
}

TEST_CASE("AWQ, GPTQ, AutoRound to the byte", "[quantization]") {
  const std::uint64_t half = elements / 2;
  CHECK(exact_bytes_of(R"({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true,
                           "version": "gemm"})") == half + 112 * 4096 * 2 + 112 * 4096 / 2);
  CHECK(exact_bytes_of(R"({"quant_method": "awq", "w_bit": 4, "q_group_size": 64})") ==
        half + 224 * 4096 * 2 + 224 * 4096 / 2);
  CHECK(exact_bytes_of(R"({"quant_method": "awq", "bits": 4, "group_size": -1})") ==
        half + 4096 * 2 + 4096 / 2);
  CHECK(exact_bytes_of(R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": false})") ==
        half + 112 * 4096 * 2 + 112 * 4096 / 2 + 14336 * 4);
  CHECK(exact_bytes_of(R"({"quant_method": "gptq", "bits": 8, "group_size": -1})") ==
        elements + 4096 * 2 + 4096 + 14336 * 4);
  CHECK(exact_bytes_of(R"({"quant_method": "gptq", "bits": 3, "group_size": 128})") ==
        elements / 8 * 3 + 112 * 4096 * 2 + 112 * 4096 / 8 * 3 + 14336 * 4);
  CHECK(exact_bytes_of(R"({"quant_method": "gptq", "bits": 2, "group_size": 64})") ==
        elements / 4 + 224 * 4096 * 2 + 224 * 4096 / 4 + 14336 * 4);
  CHECK(exact_bytes_of(R"({"quant_method": "gptq", "bits": 4, "group_size": 128,
                           "checkpoint_format": "marlin"})") == half + 112 * 4096 * 2);
  CHECK(read(R"({"bits": 4, "desc_act": true})").method() == "gptq");
  CHECK(exact_bytes_of(R"({"quant_method": "auto-round", "bits": 4, "group_size": 128,
                           "packing_format": "auto_round:auto_gptq"})") ==
        half + 112 * 4096 * 2 + 112 * 4096 / 2);

  CHECK(refusal(R"({"quant_method": "awq", "bits": 8})") ==
        "config.json: quantization_config: 8 bits are not supported here, expected 4 for AWQ");
  CHECK(refusal(R"({"quant_method": "gptq", "bits": 5})") ==
        "config.json: quantization_config: 5 bits are not supported here, expected 2, 3, 4 or 8 for GPTQ");
  CHECK(refusal(R"({"quant_method": "gptq"})") ==
        "config.json: quantization_config: key \"bits\" is missing");
  CHECK(contains(refusal(R"({"quant_method": "gptq", "bits": 4, "checkpoint_format": "bitblas"})"),
                 "\"bitblas\" is not supported, expected one of gptq gptq_v2 marlin"));
  CHECK(contains(refusal(R"({"quant_method": "gptq", "bits": 4, "group_size": 0})"), "must be above zero"));
  CHECK(
      contains(refusal(R"({"quant_method": "gptq", "bits": 4, "group_size": -2})"), "must not be negative"));
  CHECK(contains(refusal(R"({"quant_method": "auto-round", "bits": 4, "packing_format": "mlx"})"),
                 "\"mlx\" is not supported"));
}

TEST_CASE("AWQ and GPTQ: only what is in decoder layers", "[quantization]") {
  const checkpoint_quantization awq =
      read(R"({"quant_method": "awq", "modules_to_not_convert": ["visual", "mlp.gate"]})");
  CHECK(name_for(awq, mlp) == "awq");
  for (const std::string& module :
       {router, head, std::string("model.visual.blocks.0.attn.qkv"), std::string("visual.merger.mlp.0")}) {
    CHECK(name_for(awq, module) == "dtype");
  }
  const checkpoint_quantization gptq =
      read(R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "lm_head": true,
    "dynamic": {"-:.*layers\\.[01]\\..*": {}, "+:.*\\.2\\..*down_proj": {"bits": 8, "group_size": 32},
                ".*\\.3\\..*down_proj": {"group_size": -1}, "+:.*(gate|visual|embed).*": {"bits": 8}}})");
  CHECK(name_for(gptq, "model.layers.0.mlp.down_proj") == "dtype");
  CHECK(name_for(gptq, "model.layers.10.mlp.down_proj") == "gptq");
  CHECK(bytes_of(gptq, "model.layers.2.mlp.down_proj").low ==
        elements + 448 * 4096 * 2 + 448 * 4096 + 14336 * 4);
  CHECK(bytes_of(gptq, "model.layers.3.mlp.down_proj").low == elements / 2 + 4096 * 2 + 4096 / 2 + 14336 * 4);
  CHECK(name_for(gptq, head) == "gptq");
  CHECK(name_for(gptq, table, tensor_kind::table) == "dtype");
  CHECK(bytes_of(gptq, mlp).low == elements + 112 * 4096 * 2 + 112 * 4096 + 14336 * 4);
  CHECK(name_for(gptq, router) == "dtype");
  CHECK(name_for(gptq, "model.visual.blocks.0.attn.qkv") == "dtype");
  const checkpoint_quantization some = read(R"({"quant_method": "gptq", "bits": 4,
    "modules_in_block_to_quantize": [["self_attn.q_proj", "self_attn.k_proj"], ["mlp.down_proj"]]})");
  CHECK(name_for(some, attention) == "gptq");
  CHECK(name_for(some, mlp) == "dtype");
  const checkpoint_quantization rounded = read(R"({"quant_method": "intel/auto-round", "bits": 4,
    "extra_config": {"model.layers.7.mlp.gate_proj": {"bits": 16, "data_type": "float"},
                     ".*q_proj": {"bits": 8}}})");
  CHECK(name_for(rounded, mlp) == "dtype");
  CHECK(bytes_of(rounded, attention).low == elements + 112 * 4096 * 2 + 112 * 4096);
}

TEST_CASE("bitsandbytes", "[quantization]") {
  CHECK(exact_bytes_of(
            R"({"quant_method": "bitsandbytes", "load_in_4bit": true, "bnb_4bit_quant_type": "nf4"})") ==
        elements / 2 + elements / 64 * 4);
  CHECK(exact_bytes_of(R"({"load_in_4bit": true, "bnb_4bit_quant_type": "fp4"})") ==
        elements / 2 + elements / 64 * 4);
  CHECK(
      exact_bytes_of(
          R"({"quant_method": "bitsandbytes", "_load_in_4bit": true, "bnb_4bit_use_double_quant": true})") ==
      elements / 2 + elements / 64 + elements / 64 / 256 * 4 + 4);
  CHECK(exact_bytes_of(R"({"quant_method": "bitsandbytes", "load_in_8bit": true})") == elements + 4096 * 4);
  const checkpoint_quantization plain = read(R"({"load_in_8bit": true, "llm_int8_skip_modules": null})");
  CHECK(name_for(plain, head) == "dtype");
  CHECK(name_for(plain, "model.vision_tower.blocks.0.fc1") == "llm_int8");
  const checkpoint_quantization listed = read(
      R"({"load_in_8bit": true, "llm_int8_skip_modules": ["vision_tower", "lm_head", "model.layers.7.mlp"]})");
  CHECK(name_for(listed, head) == "dtype");
  CHECK(name_for(listed, mlp) == "dtype");
  CHECK(name_for(listed, "model.vision_tower.blocks.0.fc1") == "dtype");
  CHECK(name_for(listed, attention) == "llm_int8");
  CHECK(refusal(R"({"quant_method": "bitsandbytes"})") ==
        "config.json: quantization_config: bitsandbytes needs load_in_4bit or load_in_8bit");
  CHECK(contains(refusal(R"({"load_in_4bit": true, "bnb_4bit_quant_type": "nf5"})"),
                 "\"nf5\" is not supported"));
}

TEST_CASE("MXFP4: experts only", "[quantization]") {
  const checkpoint_quantization found = read(R"({"quant_method": "mxfp4", "modules_to_not_convert":
    ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]})");
  CHECK(name_for(found, "model.layers.0.mlp.experts.gate_up_proj") == "mxfp4");
  for (const std::string& module : {attention, mlp, head, std::string("model.layers.0.mlp.router")})
    CHECK(name_for(found, module) == "dtype");
  // openai/gpt-oss-120b: 120,412,337,472 elements in its files, 116,829,156,672 of them weights.
  CHECK(36 * (scales(found, "model.layers.0.mlp.experts.gate_up_proj", 5760, 2880, 128) +
              scales(found, "model.layers.0.mlp.experts.down_proj", 2880, 2880, 128)) ==
        120'412'337'472 - 116'829'156'672);
}

TEST_CASE("ModelOpt: algorithms to the byte", "[quantization]") {
  const auto with = [](const std::string& algorithm) {
    return R"({"quant_method": "modelopt", "quant_algo": ")" + algorithm + "\"}";
  };
  const auto range = [&](const std::string& algorithm) { return bytes_of(read(with(algorithm))); };
  CHECK(exact_bytes_of(with("FP8")) == elements + 8);
  CHECK(exact_bytes_of(with("FP8_PER_CHANNEL_PER_TOKEN")) == elements + 4096 * 4);
  CHECK(exact_bytes_of(with("fp8_pb_wo")) == elements + 32 * 112 * 4);
  CHECK(exact_bytes_of(with("MXFP8")) == elements + elements / 32);
  CHECK(exact_bytes_of(with("NVFP4")) == elements / 2 + elements / 16 + 8);
  CHECK(exact_bytes_of(with("W4A16_NVFP4")) == elements / 2 + elements / 16 + 4);
  CHECK(exact_bytes_of(with("NVFP4_AWQ")) == elements / 2 + elements / 16 + 8 + 14336 * 2);
  CHECK(exact_bytes_of(with("MXFP4")) == elements / 2 + elements / 32);
  CHECK(range("W4A16_AWQ") ==
        stored_bytes{elements / 2 + 4096 * 112 * 2 + 14336 * 2, elements / 2 + 4096 * 112 * 4 + 14336 * 2});
  CHECK(range("INT8_WO") == stored_bytes{elements + 4096 * 2, elements + 4096 * 4});
  CHECK(
      refusal(with("INT2")) ==
      "config.json: quantization_config.quant_algo: algorithm \"INT2\" is not supported, expected one of FP8 "
      "FP8_PER_CHANNEL_PER_TOKEN FP8_PB_WO MXFP8 NVFP4 W4A16_NVFP4 NVFP4_AWQ MXFP4 W4A8_MXFP4_FP8 W4A16_AWQ "
      "W4A8_AWQ INT8_SQ INT8_WO MIXED_PRECISION");
  CHECK(contains(refusal(R"({"quant_algo": "NVFP4", "group_size": 32})"), "NVFP4 has groups of 16, not 32"));
}

TEST_CASE("ModelOpt: wildcards, mixed precision and its own file", "[quantization]") {
  const checkpoint_quantization found = read(R"({"quant_method": "modelopt", "quant_algo": "NVFP4",
    "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float", "group_size": 16}}},
    "ignore": ["lm_head", "model.layers.1*", "model.layers.2.*", "model.layers.7.self_attn*", "*.shared_experts.*",
               "model.embed_vision*", "mtp*"], "kv_cache_scheme": {"dynamic": false, "num_bits": 8, "type": "float"}})");
  CHECK(name_for(found, mlp) == "nvfp4");
  for (const std::string& module :
       {attention, shared_expert, router, head, std::string("model.layers.1.mlp.up_proj"),
        std::string("model.layers.12.mlp.up_proj"), std::string("model.layers.2.mlp.up_proj"),
        std::string("mtp.layers.0.mlp.up_proj"), std::string("model.visual.blocks.0.mlp.fc1")}) {
    CHECK(name_for(found, module) == "dtype");
  }
  CHECK(name_for(found, "model.layers.21.mlp.up_proj") == "nvfp4");
  CHECK(found.kv_cache_format() == "fp8_e4m3");

  const json_document file = parse_json(R"({"producer": {"name": "modelopt"}, "quantization":
    {"quant_algo": "MIXED_PRECISION", "kv_cache_quant_algo": "NVFP4", "exclude_modules": ["lm_head"],
     "quantized_layers": {"model.layers.7.self_attn.q_proj": {"quant_algo": "FP8"},
                          "model.layers.7.mlp.gate_proj": {"quant_algo": "W4A16_AWQ", "group_size": 64},
                          "model.layers.*.mlp.experts.*": {"quant_algo": "NVFP4", "group_size": 16}}}})",
                                        "hf_quant_config.json");
  const checkpoint_quantization mixed{json_field(file)};
  CHECK(mixed.method() == "modelopt");
  CHECK(name_for(mixed, attention) == "fp8_linear");
  CHECK(bytes_of(mixed, mlp).low == elements / 2 + 4096 * 224 * 2 + 14336 * 2);
  CHECK(name_for(mixed, expert) == "nvfp4");
  CHECK(name_for(mixed, "model.layers.8.self_attn.q_proj") == "dtype");
  CHECK(mixed.kv_cache_format() == "nvfp4");
  CHECK(contains(refusal(R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"})"),
                 "key \"quantized_layers\" is missing"));
  // Only the cache is quantized.
  const checkpoint_quantization cache = read(R"({"quant_method": "modelopt", "kv_cache_quant_algo": "FP8"})");
  CHECK(name_for(cache, mlp) == "dtype");
  CHECK(cache.kv_cache_format() == "fp8_e4m3");
}

TEST_CASE("HQQ, torchao, quanto, EETQ, Quark to the byte", "[quantization]") {
  CHECK(exact_bytes_of(R"({"quant_method": "hqq", "quant_config":
                           {"weight_quant_params": {"nbits": 4, "group_size": 64}}})") ==
        elements / 2 + elements / 64 * 4);
  CHECK(exact_bytes_of(R"({"quant_method": "hqq", "quant_config":
                           {"weight_quant_params": {"nbits": 2, "group_size": 16}}})") ==
        elements / 4 + elements / 16 * 4);
  CHECK(exact_bytes_of(R"({"quant_method": "hqq", "quant_config": {"weight_quant_params":
                           {"nbits": 3, "group_size": 64}}})") ==
        (elements * 4 + 9) / 10 + elements / 64 * 4);
  const checkpoint_quantization parts = read(R"({"quant_method": "hqq", "quant_config":
    {"self_attn.q_proj": {"nbits": 8, "group_size": 128}, "mlp.gate_proj": {"nbits": 4, "group_size": 64}}})");
  CHECK(bytes_of(parts, attention).low == elements + elements / 128 * 4);
  CHECK(name_for(parts, "model.layers.7.mlp.up_proj") == "dtype");
  CHECK(
      contains(refusal(R"({"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4},
                             "zero_quant_params": {"nbits": 8}}})"),
               "zero_quant_params: scales and zero points that are quantized themselves are not supported"));
  CHECK(contains(refusal(R"({"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 7}}})"),
                 "7 bits are not supported here"));

  CHECK(exact_bytes_of(R"({"quant_method": "torchao", "quant_type": "int4_weight_only",
                           "quant_type_kwargs": {"group_size": 32}})") == elements / 2 + elements / 32 * 4);
  CHECK(exact_bytes_of(R"({"quant_method": "torchao", "quant_type": {"default":
                           {"_type": "Int8WeightOnlyConfig", "_version": 1, "_data": {"group_size": null}}}})") ==
        elements + 4096 * 2);
  CHECK(exact_bytes_of(R"({"quant_method": "torchao", "quant_type": {"default": {"_type":
                           "Float8DynamicActivationFloat8WeightConfig", "_data": {"granularity":
                           [{"_type": "PerRow"}, {"_type": "PerRow"}]}}}})") == elements + 4096 * 4);
  const checkpoint_quantization by_name = read(R"({"quant_method": "torchao", "quant_type": {"default":
    {"_type": "ModuleFqnToConfig", "_data": {"module_fqn_to_config": {
      "_default": {"_type": "Int4WeightOnlyConfig", "_data": {"group_size": 128}},
      "model.embed_tokens": {"_type": "Int8WeightOnlyConfig", "_data": {}}, "model.layers.7.mlp.gate_proj": null}}}}})");
  CHECK(name_for(by_name, table, tensor_kind::table) == "torchao_int8");
  CHECK(name_for(by_name, mlp) == "dtype");
  CHECK(name_for(by_name, attention) == "torchao_int4");
  CHECK(contains(refusal(R"({"quant_method": "torchao", "quant_type": "uintx_weight_only"})"),
                 "torchao type \"uintx_weight_only\" is not supported, expected int4_weight_only"));

  CHECK(exact_bytes_of(R"({"quant_method": "quanto", "weights": "int8"})") == elements + 4096 * 2);
  CHECK(exact_bytes_of(R"({"quant_method": "quanto", "weights": "int4"})") ==
        elements / 2 + elements / 128 * 4);
  CHECK(exact_bytes_of(R"({"quant_method": "eetq", "weights": "int8"})") == elements + 4096 * 2);

  CHECK(exact_bytes_of(R"({"quant_method": "quark", "global_quant_config": {"weight":
                           {"dtype": "fp8_e4m3", "qscheme": "per_channel"}}})") == elements + 4096 * 4);
  const checkpoint_quantization quark =
      read(R"({"quant_method": "quark", "exclude": ["lm_head", "*self_attn*"],
    "global_quant_config": {"weight": {"dtype": "fp4", "qscheme": "per_group", "group_size": 32},
                            "input_tensors": {"is_dynamic": true}},
    "layer_quant_config": {"*.mlp.down_proj": {"weight": {"dtype": "fp8_e4m3", "qscheme": "per_tensor"},
                                               "input_tensors": {"is_dynamic": false}}}})");
  CHECK(name_for(quark, mlp) == "mxfp4");
  CHECK(name_for(quark, attention) == "dtype");
  CHECK(bytes_of(quark).low == elements + 8);
  CHECK(contains(refusal(R"({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4",
                             "qscheme": "per_channel"}}})"),
                 "dtype fp4 with per_channel is not supported"));
}

TEST_CASE("What is not known is refused by name", "[quantization]") {
  CHECK(
      refusal(R"({"quant_method": "brandnew"})") ==
      "config.json: quantization_config.quant_method: method \"brandnew\" is not supported, expected one of "
      "fp8 fbgemm_fp8 compressed-tensors awq gptq auto-round bitsandbytes mxfp4 modelopt hqq torchao quanto "
      "eetq quark bitnet mlx");
  CHECK(contains(refusal(R"({"quant_method": "exl3", "bits": 4.0})"),
                 "read the weights from the safetensors headers"));
  CHECK(
      refusal("{}") ==
      "config.json: quantization_config: key \"quant_method\" is missing: how the weights are stored cannot "
      "be told");
  CHECK(refusal("[]") == "config.json: quantization_config: must be an object, not an array");
  CHECK(contains(refusal(R"({"quant_method": "fp8", "modules_to_not_convert": "lm_head"})"),
                 "modules_to_not_convert: must be an array, not text"));
  CHECK(contains(refusal(R"({"quant_method": "fp8", "modules_to_not_convert": [1]})"),
                 "modules_to_not_convert[0]: must be text"));
}

TEST_CASE("Expressions out of a file are bounded", "[quantization]") {
  const auto with = [](const std::string& expression) {
    return R"({"quant_method": "compressed-tensors", "config_groups": {}, "ignore": [")" + expression +
           "\"]}";
  };
  const auto why = [&](const std::string& expression) {
    const std::string line = refusal(with(expression));
    const std::string start = "config.json: quantization_config.ignore[0]: regular expression ";
    REQUIRE(line.compare(0, start.size(), start) == 0);
    return line.substr(line.find("\" ") + 2);
  };
  CHECK(why("re:(a") == "ends in an open group");
  CHECK(why("re:a)") == "closes a group that is not open");
  CHECK(why("re:[a") == "ends in an open [");
  CHECK(why("re:*a") == "repeats nothing");
  CHECK(why("re:a\\\\") == "ends in a backslash");
  CHECK(why("re:(?<name>a)") == "uses \"(?<\", which is not supported in patterns of names");
  CHECK(why("re:(a)\\\\1") == "uses \"\\1\", which is not supported in patterns of names");
  CHECK(why("re:a{999}") == "repeats something more than 255 times");
  CHECK(why("re:((a{200}){200}){200}") == "takes more than 2048 steps");
  CHECK(why("re:" + std::string(100'000, '(')) == "nests deeper than 16 groups");
  // What makes other matchers run for ever is a matter of steps here.
  const checkpoint_quantization evil = read(with("re:(a*)*(a*)*(a|aa)*[b]"));
  CHECK(evil.scheme_for(std::string(3000, 'a')) == std::nullopt);
  const checkpoint_quantization slow = read(with("re:(?:(?!.*b)a|(?=.*c)a|(?!.*d)a)*[z]"));
  CHECK(contains(message_of([&] { (void)slow.scheme_for(std::string(5000, 'a')); }),
                 "to compare with one name"));
  // Many of them, or very many names.
  std::string many = "\"lm_head\"";
  for (int i = 0; i < 300; ++i) many += ", \"re:" + std::string(900, 'x') + "\"";
  CHECK(contains(
      refusal(R"({"quant_method": "compressed-tensors", "config_groups": {}, "ignore": [)" + many + "]}"),
      "the patterns up to here take more than 131072 steps"));
  std::string names = "\"lm_head\"";
  for (int i = 0; i < 30'000; ++i) names += ", \"model.layers." + std::to_string(i) + ".mlp.up\"";
  const checkpoint_quantization long_list =
      read(R"({"quant_method": "fp8", "modules_to_not_convert": [)" + names + "]}");
  CHECK(name_for(long_list, "model.layers.29999.mlp.up") == "dtype");
  CHECK(name_for(long_list, "model.layers.30000.mlp.up") == "fp8_linear");
  CHECK(name_for(long_list, "") == "fp8_linear");
  CHECK(name_for(long_list, "...") == "fp8_linear");
}

TEST_CASE("Wildcards and expressions match as Python's do", "[quantization]") {
  const json_document document = parse_json("{}", "test.json");
  const json_field place(document);
  const auto expression = [&](const char* text, const char* name) {
    return detail::name_pattern::regex(text, place).matches(name);
  };
  const auto wildcard = [&](const char* text, const char* name) {
    return detail::name_pattern::wildcard(text, place).matches(name);
  };
  CHECK(expression("lm", "lm_head"));
  CHECK_FALSE(expression("lm$", "lm_head"));
  CHECK_FALSE(expression("head", "lm_head"));
  CHECK(expression(".*layers\\.(0|1|22)\\.mlp\\..*", "model.layers.22.mlp.up_proj"));
  CHECK_FALSE(expression(".*layers\\.(0|1|22)\\.mlp\\..*", "model.layers.2.mlp.up_proj"));
  CHECK(expression("^(?!.*experts).*q_proj$", "a.q_proj"));
  CHECK_FALSE(expression("^(?!.*experts).*q_proj$", "experts.q_proj"));
  CHECK(expression("a{2,3}b", "aab"));
  CHECK_FALSE(expression("a{2,3}b", "aaaab"));
  CHECK(expression("a{,2}b{2}", "bb"));
  CHECK(expression("x{y}", "x{y}"));
  CHECK(expression("[^a-c\\d]+?\\w", "xyz_"));
  CHECK(expression("(?:a|)*c", "aac"));
  CHECK(expression("(a*)+b", "b"));
  CHECK(wildcard("model.layers.1*", "model.layers.10.x"));
  CHECK_FALSE(wildcard("model.layers.1.*", "model.layers.10.x"));
  CHECK_FALSE(wildcard("lm_head", "lm_head2"));
  CHECK(wildcard("a?[0-9][!x]", "ab7y"));
  CHECK_FALSE(wildcard("a?[0-9][!x]", "ab7x"));
  CHECK(wildcard("*(*[", "a(b["));
}

TEST_CASE("Damaged configs give an answer or an error", "[quantization]") {
  const std::vector<std::string> seeds = {
      R"({"quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": ["lm_head"]})",
      R"({"quant_method": "compressed-tensors", "format": "pack-quantized", "ignore": ["re:.*self_attn.*"],
          "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"type": "int", "num_bits": 4,
          "strategy": "group", "group_size": 32, "symmetric": true}}}})",
      R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "dynamic": {"-:.*a": {}, "+:.*b": {"bits": 8}}})",
      R"({"quant_algo": "MIXED_PRECISION", "quantized_layers": {"a.b": {"quant_algo": "NVFP4", "group_size": 16}}})"};
  tests::numbers random(7);
  for (const std::string& seed : seeds) {
    const nlohmann::json tree = nlohmann::json::parse(seed);
    for (int i = 0; i < 400; ++i) {
      const nlohmann::json config = {{"quantization_config", tests::mutated_values(tree, random)}};
      try {
        const std::string source = "damaged.json";
        const auto found = checkpoint_quantization::of_config(json_field(config, source));
        if (found) (void)found->scheme_for(mlp);
      } catch (const input_error& refused) {
        CHECK(contains(refused.what(), "damaged.json: "));
      }
    }
  }
}

#ifdef KVBUDGET_SHARED_DIR
TEST_CASE("Every published config's quantization is read", "[quantization]") {
  const std::filesystem::path folder = std::filesystem::path(KVBUDGET_SHARED_DIR) / "models" / "configs";
  std::map<std::string, int> methods;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    INFO(entry.path().filename().string());
    json_limits limits;
    limits.python_literals = true;
    const json_document document = load_json(entry.path(), limits);
    const auto found = checkpoint_quantization::of_config(json_field(document));
    if (!found) continue;
    ++methods[found->method()];
    // Of five kinds of modules in layers 0 to 99, how many are quantized: routers never are.
    int quantized = 0;
    for (int layer = 0; layer < 100; ++layer) {
      const std::string at = "model.layers." + std::to_string(layer) + ".";
      for (const char* module : {"self_attn.q_proj", "mlp.up_proj", "mlp.experts.0.up_proj",
                                 "block_sparse_moe.experts.0.w1", "mlp.shared_experts.up_proj", "mlp.gate"}) {
        const bool is_quantized = found->scheme_for(at + module).has_value();
        CHECK((!is_quantized || std::string(module) != "mlp.gate"));
        quantized += is_quantized ? 1 : 0;
      }
    }
    CHECK(quantized >= 100);
    CHECK(quantized <= 500);
    CHECK(found->scheme_for("model.visual.blocks.0.attn.qkv").has_value() ==
          contains(entry.path().filename().string(), "Llama-4-Scout"));
  }
  CHECK(methods["fp8"] == 15);
  CHECK(methods["compressed-tensors"] == 3);
  CHECK(methods["modelopt"] == 10);
  CHECK(methods["mxfp4"] == 2);
  CHECK(methods.size() == 4);

  const struct {
    const char* file;
    const char* module;
    const char* scheme;
  } modules[] = {
      {"openai--gpt-oss-120b", "model.layers.35.mlp.experts.down_proj", "mxfp4"},
      {"openai--gpt-oss-120b", "model.layers.35.self_attn.o_proj", "dtype"},
      {"Qwen--Qwen3-30B-A3B-FP8", "model.layers.3.mlp.gate", "dtype"},
      {"Qwen--Qwen3-30B-A3B-FP8", "model.layers.3.mlp.experts.127.gate_proj", "fp8_block"},
      {"zai-org--GLM-5.1-FP8", "model.layers.0.mlp.gate_proj", "fp8_block"},
      {"zai-org--GLM-5.1-FP8", "model.layers.4.self_attn.indexer.weights_proj", "dtype"},
      {"zai-org--GLM-5.2-FP8", "model.layers.4.self_attn.indexer.wk", "fp8_block"},
      {"moonshotai--Kimi-K2.5", "language_model.model.layers.1.mlp.experts.0.up_proj", "int_packed"},
      {"moonshotai--Kimi-K2.5", "language_model.model.layers.0.mlp.up_proj", "dtype"},
      {"moonshotai--Kimi-K2.5", "vision_tower.encoder.blocks.0.mlp.fc0", "dtype"},
      {"moonshotai--Kimi-K3", "language_model.model.layers.1.mlp.experts.0.up_proj", "mxfp4"},
      {"mistralai--Devstral-2-123B-Instruct", "model.layers.1.mlp.up_proj", "fp8_linear"},
      {"RedHatAI--Llama-4-Scout-17B-16E-Instruct-FP8-dynamic",
       "language_model.model.layers.3.feed_forward.experts.3.up_proj", "fp8_channel"},
      {"RedHatAI--Llama-4-Scout-17B-16E-Instruct-FP8-dynamic",
       "language_model.model.layers.3.self_attn.k_proj", "dtype"},
      {"nvidia--Qwen3.6-27B-NVFP4", "lm_head", "nvfp4"},
      {"nvidia--Qwen3.6-27B-NVFP4", "model.language_model.layers.3.self_attn.k_proj", "fp8_linear"},
      {"nvidia--Qwen3.6-27B-NVFP4", "model.language_model.layers.2.linear_attn.in_proj_a", "dtype"},
      {"nvidia--Qwen3.6-27B-NVFP4", "mtp.layers.0.mlp.up_proj", "dtype"},
      {"nvidia--MiniMax-M3-NVFP4", "language_model.model.layers.9.block_sparse_moe.experts.7.w2", "nvfp4"},
      {"nvidia--MiniMax-M3-NVFP4", "language_model.model.layers.9.self_attn.index_q_proj", "mxfp8"},
      {"nvidia--MiniMax-M3-NVFP4", "language_model.model.layers.9.block_sparse_moe.gate", "dtype"},
      {"nvidia--Gemma-4-26B-A4B-NVFP4", "model.language_model.layers.2.experts.5.gate_proj", "nvfp4"},
      {"nvidia--Gemma-4-26B-A4B-NVFP4", "model.language_model.layers.2.mlp.gate_proj", "dtype"},
      {"nvidia--Gemma-4-31B-IT-NVFP4", "model.language_model.layers.2.mlp.gate_proj", "nvfp4"},
      {"nvidia--Gemma-4-31B-IT-NVFP4", "model.embed_vision.embedding_projection", "dtype"},
      {"nvidia--Kimi-K2.5-NVFP4", "language_model.model.layers.2.mlp.shared_experts.up_proj", "nvfp4"},
      {"nvidia--DeepSeek-V4-Pro-NVFP4", "layers.60.ffn.experts.3.w1", "nvfp4"},
      {"nvidia--DeepSeek-V4-Pro-NVFP4", "mtp.0.ffn.experts.3.w1", "mxfp4"},
      {"nvidia--DeepSeek-V4-Pro-NVFP4", "layers.60.attn.wq_a", "fp8_block"},
      {"deepseek-ai--DeepSeek-V4-Flash", "layers.3.ffn.experts.0.w2", "mxfp4"},
      {"sgl-project--DeepSeek-V4-Flash-FP8", "layers.3.ffn.experts.0.w2", "fp8_block"}};
  for (const auto& expected : modules) {
    INFO(expected.file << ": " << expected.module);
    json_limits limits;
    limits.python_literals = true;
    const json_document document = load_json(folder / (std::string(expected.file) + ".json"), limits);
    const auto found = checkpoint_quantization::of_config(json_field(document));
    REQUIRE(found.has_value());
    CHECK(name_for(*found, expected.module) == expected.scheme);
  }
}
#endif
