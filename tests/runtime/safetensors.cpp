// Checkpoints on disk: what headers say, what each tensor is, three sizes, and where config and tensors
// differ.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "kvbudget/io/safetensors.hpp"
#include "kvbudget/plan/estimate.hpp"
#include "support/catch.hpp"
#include "support/input.hpp"
#include "support/mutations.hpp"
#include "support/safetensors_writer.hpp"

namespace {

using namespace kvbudget;
using tests::contains;
using tests::message_of;
using tests::safetensors_writer;
using tests::scratch;

safetensors_header header_of(const safetensors_writer& writer) {
  return read_safetensors_header(writer.start(), writer.file_bytes(), "x.safetensors");
}
checkpoint checkpoint_of(const safetensors_writer& writer, const checkpoint_options& options = {}) {
  std::vector<named_header> files;
  files.push_back({"x.safetensors", header_of(writer)});
  return make_checkpoint(std::move(files), options);
}
/// Why a file with this header and this much data is refused.
std::string refusal(const std::string& json, std::uint64_t data_bytes) {
  const std::string start = safetensors_writer::with_length(json);
  return message_of(
      [&] { (void)read_safetensors_header(start, start.size() + data_bytes, "x.safetensors"); });
}

const stored_tensor& tensor_in(const checkpoint& stored, const std::string& name) {
  const stored_tensor* found = detail::find_tensor(stored.tensors, name);
  REQUIRE(found != nullptr);
  return *found;
}
std::uint64_t parameters_of(const checkpoint& stored) {
  std::uint64_t sum = 0;
  for (const stored_tensor& tensor : stored.tensors) {
    if (tensor.use == tensor_use::weight || tensor.use == tensor_use::packed) {
      REQUIRE(tensor.parameters.has_value());
      sum += *tensor.parameters;
    }
  }
  return sum;
}
bool has_note(const std::vector<std::string>& notes, const std::string& part) {
  for (const std::string& note : notes) {
    if (contains(note, part)) return true;
  }
  return false;
}
std::uint64_t module_bytes(const weight_bytes& weights, module_role role) {
  return weights.modules[static_cast<std::size_t>(role)];
}
std::uint64_t sum_of(const weight_bytes& weights) {
  std::uint64_t sum = weights.scales;
  for (const std::uint64_t module : weights.modules) sum += module;
  return sum;
}

// ---- checkpoints of published shapes ---------------------------------------------------------------------

/// Adds a linear layer of outputs × inputs under its name without `.weight`.
using linear_writer =
    std::function<void(safetensors_writer&, const std::string&, std::uint64_t, std::uint64_t)>;

void plain_linear(safetensors_writer& to, const std::string& name, std::uint64_t rows,
                  std::uint64_t columns) {
  to.add(name + ".weight", "BF16", {rows, columns});
}
/// DeepSeek's and Qwen's FP8: one F32 scale per 128 × 128 block.
void fp8_block_linear(safetensors_writer& to, const std::string& name, std::uint64_t rows,
                      std::uint64_t columns) {
  to.add(name + ".weight", "F8_E4M3", {rows, columns});
  to.add(name + ".weight_scale_inv", "F32", {(rows + 127) / 128, (columns + 127) / 128});
}
void gptq_linear(safetensors_writer& to, const std::string& name, std::uint64_t rows, std::uint64_t columns) {
  to.add(name + ".g_idx", "I32", {columns});
  to.add(name + ".qweight", "I32", {columns / 8, rows});
  to.add(name + ".qzeros", "I32", {columns / 128, rows / 8});
  to.add(name + ".scales", "F16", {columns / 128, rows});
}
void awq_linear(safetensors_writer& to, const std::string& name, std::uint64_t rows, std::uint64_t columns) {
  to.add(name + ".qweight", "I32", {columns, rows / 8});
  to.add(name + ".qzeros", "I32", {columns / 128, rows / 8});
  to.add(name + ".scales", "F16", {columns / 128, rows});
}
void nvfp4_linear(safetensors_writer& to, const std::string& name, std::uint64_t rows,
                  std::uint64_t columns) {
  to.add(name + ".input_scale", "F32", {});
  to.add(name + ".weight", "U8", {rows, columns / 2});
  to.add(name + ".weight_scale", "F8_E4M3", {rows, columns / 16});
  to.add(name + ".weight_scale_2", "F32", {});
}
void nf4_linear(safetensors_writer& to, const std::string& name, std::uint64_t rows, std::uint64_t columns) {
  to.add(name + ".weight", "U8", {rows * columns / 2, 1});
  to.add(name + ".weight.absmax", "U8", {rows * columns / 64});
  to.add(name + ".weight.nested_absmax", "F32", {rows * columns / 64 / 256});
  to.add(name + ".weight.nested_quant_map", "F32", {256});
  to.add(name + ".weight.quant_map", "F32", {16});
  to.add(name + ".weight.quant_state.bitsandbytes__nf4", "U8", {90});
}
void compressed_int4_linear(safetensors_writer& to, const std::string& name, std::uint64_t rows,
                            std::uint64_t columns) {
  to.add(name + ".weight_packed", "I32", {rows, columns / 8});
  to.add(name + ".weight_scale", "BF16", {rows, columns / 32});
  to.add(name + ".weight_shape", "I64", {2});
}

struct qwen_shape {
  std::uint64_t hidden, intermediate, layers, heads, kv_heads, head_dim, vocabulary;
  bool head;
};

/// A Qwen3 checkpoint whose linear layers are written by `linear`.
safetensors_writer qwen3(const qwen_shape& shape, const linear_writer& linear) {
  safetensors_writer writer;
  writer.add("model.embed_tokens.weight", "BF16", {shape.vocabulary, shape.hidden});
  if (shape.head) writer.add("lm_head.weight", "BF16", {shape.vocabulary, shape.hidden});
  for (std::uint64_t i = 0; i < shape.layers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    writer.add(layer + "input_layernorm.weight", "BF16", {shape.hidden});
    writer.add(layer + "post_attention_layernorm.weight", "BF16", {shape.hidden});
    writer.add(layer + "self_attn.q_norm.weight", "BF16", {shape.head_dim});
    writer.add(layer + "self_attn.k_norm.weight", "BF16", {shape.head_dim});
    linear(writer, layer + "self_attn.q_proj", shape.heads * shape.head_dim, shape.hidden);
    linear(writer, layer + "self_attn.k_proj", shape.kv_heads * shape.head_dim, shape.hidden);
    linear(writer, layer + "self_attn.v_proj", shape.kv_heads * shape.head_dim, shape.hidden);
    linear(writer, layer + "self_attn.o_proj", shape.hidden, shape.heads * shape.head_dim);
    linear(writer, layer + "mlp.gate_proj", shape.intermediate, shape.hidden);
    linear(writer, layer + "mlp.up_proj", shape.intermediate, shape.hidden);
    linear(writer, layer + "mlp.down_proj", shape.hidden, shape.intermediate);
  }
  writer.add("model.norm.weight", "BF16", {shape.hidden});
  return writer;
}
std::string qwen3_config(const qwen_shape& shape, bool tied) {
  const auto number = [](std::uint64_t n) { return std::to_string(n); };
  return R"({"model_type": "qwen3", "attention_bias": false, "torch_dtype": "bfloat16", "hidden_size": )" +
         number(shape.hidden) + R"(, "intermediate_size": )" + number(shape.intermediate) +
         R"(, "num_hidden_layers": )" + number(shape.layers) + R"(, "num_attention_heads": )" +
         number(shape.heads) + R"(, "num_key_value_heads": )" + number(shape.kv_heads) + R"(, "head_dim": )" +
         number(shape.head_dim) + R"(, "vocab_size": )" + number(shape.vocabulary) +
         R"(, "tie_word_embeddings": )" + (tied ? "true" : "false") + "}";
}
constexpr qwen_shape qwen3_0_6b{1024, 3072, 28, 16, 8, 128, 151936, true};
constexpr qwen_shape qwen3_4b{2560, 9728, 36, 32, 8, 128, 151936, true};
constexpr qwen_shape qwen3_14b{5120, 17408, 40, 40, 8, 128, 151936, true};
constexpr qwen_shape small_qwen{256, 512, 2, 4, 2, 64, 1000, false};

safetensors_writer falcon_7b() {
  safetensors_writer writer;
  writer.add("lm_head.weight", "BF16", {65024, 4544});
  writer.add("transformer.word_embeddings.weight", "BF16", {65024, 4544});
  for (int i = 0; i < 32; ++i) {
    const std::string layer = "transformer.h." + std::to_string(i) + ".";
    writer.add(layer + "input_layernorm.bias", "BF16", {4544});
    writer.add(layer + "input_layernorm.weight", "BF16", {4544});
    writer.add(layer + "mlp.dense_4h_to_h.weight", "BF16", {4544, 18176});
    writer.add(layer + "mlp.dense_h_to_4h.weight", "BF16", {18176, 4544});
    writer.add(layer + "self_attention.dense.weight", "BF16", {4544, 4544});
    writer.add(layer + "self_attention.query_key_value.weight", "BF16", {4672, 4544});
  }
  writer.add("transformer.ln_f.bias", "BF16", {4544});
  writer.add("transformer.ln_f.weight", "BF16", {4544});
  return writer;
}
const char* const falcon_7b_config = R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32,
  "num_attention_heads": 71, "multi_query": true, "new_decoder_architecture": false, "parallel_attn": true,
  "bias": false, "vocab_size": 65024, "torch_dtype": "bfloat16"})";

struct moe_shape {
  std::uint64_t hidden, layers, dense_layers, heads, q_rank, kv_rank, nope, rope, value, dense, expert,
      experts, vocabulary;
};

/// A DeepSeek-V3 checkpoint with its draft layer, numbered on behind the model's layers.
safetensors_writer deepseek_v3(const moe_shape& s) {
  safetensors_writer writer;
  const linear_writer& linear = fp8_block_linear;
  writer.add("model.embed_tokens.weight", "BF16", {s.vocabulary, s.hidden});
  writer.add("lm_head.weight", "BF16", {s.vocabulary, s.hidden});
  writer.add("model.norm.weight", "BF16", {s.hidden});
  const auto mlp = [&](const std::string& name, std::uint64_t width) {
    linear(writer, name + ".gate_proj", width, s.hidden);
    linear(writer, name + ".up_proj", width, s.hidden);
    linear(writer, name + ".down_proj", s.hidden, width);
  };
  for (std::uint64_t i = 0; i <= s.layers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    const std::string attention = layer + "self_attn.";
    writer.add(layer + "input_layernorm.weight", "BF16", {s.hidden});
    writer.add(layer + "post_attention_layernorm.weight", "BF16", {s.hidden});
    linear(writer, attention + "q_a_proj", s.q_rank, s.hidden);
    writer.add(attention + "q_a_layernorm.weight", "BF16", {s.q_rank});
    linear(writer, attention + "q_b_proj", s.heads * (s.nope + s.rope), s.q_rank);
    linear(writer, attention + "kv_a_proj_with_mqa", s.kv_rank + s.rope, s.hidden);
    writer.add(attention + "kv_a_layernorm.weight", "BF16", {s.kv_rank});
    linear(writer, attention + "kv_b_proj", s.heads * (s.nope + s.value), s.kv_rank);
    linear(writer, attention + "o_proj", s.hidden, s.heads * s.value);
    if (i < s.dense_layers) {
      mlp(layer + "mlp", s.dense);
    } else {
      writer.add(layer + "mlp.gate.weight", "BF16", {s.experts, s.hidden});
      writer.add(layer + "mlp.gate.e_score_correction_bias", "F32", {s.experts});
      mlp(layer + "mlp.shared_experts", s.expert);
      for (std::uint64_t e = 0; e < s.experts; ++e) mlp(layer + "mlp.experts." + std::to_string(e), s.expert);
    }
    if (i < s.layers) continue;
    writer.add(layer + "enorm.weight", "BF16", {s.hidden});
    writer.add(layer + "hnorm.weight", "BF16", {s.hidden});
    writer.add(layer + "eh_proj.weight", "BF16", {s.hidden, 2 * s.hidden});
    writer.add(layer + "embed_tokens.weight", "BF16", {s.vocabulary, s.hidden});
    writer.add(layer + "shared_head.head.weight", "BF16", {s.vocabulary, s.hidden});
    writer.add(layer + "shared_head.norm.weight", "BF16", {s.hidden});
  }
  return writer;
}

}  // namespace

// ---- headers ----------------------------------------------------------------------------------------------

TEST_CASE("a safetensors header is read to the element", "[safetensors]") {
  safetensors_writer writer;
  writer.add_entry(R"("__metadata__":{"format":"pt","note":"x"})", 0);
  writer.add("b", "F32", {2, 3}).add("a", "BF16", {5}).add("scalar", "I64", {}).add("empty", "F64", {4, 0});
  const safetensors_header header = header_of(writer);
  REQUIRE(header.tensors.size() == 4);
  CHECK(header.tensors[0].name == "a");
  CHECK(header.tensors[0].elements == 5);
  CHECK(header.tensors[0].bytes == 10);
  CHECK(header.tensors[0].data_offset == 24);
  CHECK(header.tensors[1].shape == std::vector<std::uint64_t>{2, 3});
  CHECK(header.tensors[2].bytes == 0);
  CHECK(header.tensors[3].elements == 1);
  CHECK(header.data_bytes == 42);
  CHECK(header.header_bytes == writer.start().size());
  CHECK_FALSE(header.data_is_missing);
}

TEST_CASE("every safetensors dtype has its size", "[safetensors]") {
  struct expected {
    const char* name;
    std::uint64_t bytes_of_24;
  };
  const expected all[] = {{"BOOL", 24},    {"F4", 12},          {"F6_E2M3", 18},     {"F6_E3M2", 18},
                          {"U8", 24},      {"I8", 24},          {"F8_E5M2", 24},     {"F8_E4M3", 24},
                          {"F8_E8M0", 24}, {"F8_E4M3FNUZ", 24}, {"F8_E5M2FNUZ", 24}, {"I16", 48},
                          {"U16", 48},     {"F16", 48},         {"BF16", 48},        {"I32", 96},
                          {"U32", 96},     {"F32", 96},         {"C64", 192},        {"F64", 192},
                          {"I64", 192},    {"U64", 192}};
  CHECK(std::size(all) == safetensors_dtype_count);
  for (const expected& each : all) {
    INFO(each.name);
    safetensors_writer writer;
    writer.add("t", each.name, {24});
    const safetensors_header header = header_of(writer);
    CHECK(header.data_bytes == each.bytes_of_24);
    CHECK(std::string(name_of(header.tensors[0].dtype)) == each.name);
  }
}

TEST_CASE("a header cut off anywhere is refused", "[safetensors]") {
  const std::string start = qwen3({64, 128, 1, 2, 1, 32, 10, true}, fp8_block_linear).start();
  for (std::size_t length = 0; length < start.size(); ++length) {
    INFO("after " << length << " of " << start.size() << " bytes");
    const std::string cut = start.substr(0, length);
    // As a file that ends there, and as the first bytes of one that goes on.
    CHECK_THROWS_AS(read_safetensors_header(cut, cut.size(), "x"), input_error);
    CHECK_THROWS_AS(read_safetensors_header(cut, 1'000'000, "x"), input_error);
  }
}

TEST_CASE("a file cut off in its data is refused, one that ends with its header is marked", "[safetensors]") {
  safetensors_writer writer;
  writer.add("a", "F32", {2, 3});
  const std::string start = writer.start();
  for (std::uint64_t data = 1; data < 24; ++data) {
    CHECK(message_of([&] { (void)read_safetensors_header(start, start.size() + data, "x"); }) ==
          "x: its tensors take 24 bytes, but the file has " + std::to_string(data) +
              " behind the header: it is cut off");
  }
  CHECK(message_of([&] { (void)read_safetensors_header(start, start.size() + 25, "x"); }) ==
        "x: its tensors take 24 bytes, but the file has 25 behind the header");
  CHECK(read_safetensors_header(start, start.size(), "x").data_is_missing);
}

TEST_CASE("headers that contradict themselves are refused with tensor and reason", "[safetensors]") {
  const std::string at = "x.safetensors: tensor \"t\": ";
  struct bad {
    const char* json;
    std::uint64_t data_bytes;
    std::string message;
  };
  const bad cases[] = {
      {R"({"t":{"dtype":"F7","shape":[1],"data_offsets":[0,1]}})", 1, at + "dtype \"F7\" is unknown"},
      {R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
       at + "data_offsets span 4 bytes, but its shape in F32 takes 8"},
      {R"({"t":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8,
       at + "data_offsets end before they begin"},
      {R"({"t":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}})", 1,
       at + "3 elements of F4 do not fill whole bytes"},
      {R"({"t":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1,
       at + "must be whole numbers in its shape, not a negative number"},
      {R"({"t":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})", 1,
       at + "must be whole numbers in its shape, not a fractional number"},
      {R"({"t":{"dtype":"U8","shape":[[1]],"data_offsets":[0,1]}})", 1,
       at + "must be whole numbers in its shape, not an array"},
      {R"({"t":{"dtype":"U8","shape":1,"data_offsets":[0,1]}})", 1,
       at + "must be an array as its shape, not a number"},
      {R"({"t":{"dtype":8,"shape":[1],"data_offsets":[0,1]}})", 1,
       at + "must be text as its dtype, not a number"},
      {R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", 1,
       at + "data_offsets must have two elements"},
      {R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}})", 1,
       at + "data_offsets must have two elements"},
      {R"({"t":{"shape":[1],"data_offsets":[0,1]}})", 1, at + "key \"dtype\" is missing"},
      {R"({"t":{"dtype":"U8","data_offsets":[0,1]}})", 1, at + "key \"shape\" is missing"},
      {R"({"t":{"dtype":"U8","shape":[1]}})", 1, at + "key \"data_offsets\" is missing"},
      {R"({"t":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1,
       at + "key \"dtype\" occurs twice"},
      {R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}})", 1,
       at + "unknown key \"x\", expected dtype, shape and data_offsets"},
      {R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2,
       at + "starts at byte 1 of the data, 1 behind the end of the tensor before it"},
      {R"({"s":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"t":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
       3, at + "overlaps the tensor before it"},
      {R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"t":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
       2, at + "occurs twice"},
      {R"({"t":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
       at + "its size does not fit in 64 bits"},
      {R"({"t":5})", 0, "x.safetensors: must be an object for each tensor, not a number"},
      {R"({"__metadata__":{"a":1}})", 0,
       "x.safetensors: __metadata__: must be text for each key, not a number"},
      {R"([])", 0, "x.safetensors: its header does not start with \"{\""},
      {R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}x)", 1, "x.safetensors: is not valid JSON: "},
  };
  for (const bad& each : cases) {
    INFO(each.json);
    const std::string message = refusal(each.json, each.data_bytes);
    CHECK(message.substr(0, each.message.size()) == each.message);
    CHECK(message.find('\n') == std::string::npos);
  }
  std::string deep = R"({"t":{"dtype":"U8","shape":[)";
  for (int i = 0; i < 65; ++i) deep += i == 0 ? "1" : ",1";
  CHECK(refusal(deep + R"(],"data_offsets":[0,1]}})", 1) == at + "shape has more than 64 dimensions");
  CHECK(contains(refusal("{\"a\":" + std::string(100'000, '['), 0), "must be an object for each tensor"));
}

TEST_CASE("hostile header lengths cost nothing", "[safetensors]") {
  const auto length_of = [](std::uint64_t length, std::uint64_t file_bytes) {
    std::string start(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) start[i] = static_cast<char>(length >> (8 * i));
    return message_of([&] { (void)read_safetensors_header(start + "{}", file_bytes, "x"); });
  };
  CHECK(length_of(UINT64_MAX, 100) ==
        "x: says that its header has 18446744073709551615 bytes, at most 100000000 are accepted: is it a "
        "safetensors file?");
  CHECK(contains(length_of(100'000'001, UINT64_MAX), "at most 100000000 are accepted"));
  CHECK(length_of(100'000'000, 10) ==
        "x: is cut off: its header has 100000000 bytes, the file only 2 behind the length");
  CHECK(contains(length_of(50'000'000, UINT64_MAX), "is cut off in its header"));
  CHECK(length_of(0, 10) == "x: its header does not start with \"{\"");
}

TEST_CASE("damaged headers give a header or one line", "[safetensors]") {
  const std::string json = qwen3({64, 128, 1, 2, 1, 32, 10, true}, awq_linear).json();
  const std::uint64_t data = qwen3({64, 128, 1, 2, 1, 32, 10, true}, awq_linear).data_bytes();
  tests::numbers random(3);
  for (int i = 0; i < 3000; ++i) {
    const std::string start = safetensors_writer::with_length(tests::mutated_bytes(json, random));
    try {
      std::vector<named_header> files;
      files.push_back({"x", read_safetensors_header(start, start.size() + data, "x")});
      (void)resident_weights(make_checkpoint(std::move(files), {true, 1}));
    } catch (const kvbudget::error& refused) {
      CHECK(std::string(refused.what()).find('\n') == std::string::npos);
    }
  }
}

// ---- three sizes -----------------------------------------------------------------------------------------

TEST_CASE("Falcon-7B stores a second copy of its tied embedding", "[safetensors]") {
  const scratch folder;
  folder.write("config.json", falcon_7b_config);
  const safetensors_writer writer = falcon_7b();
  writer.write(folder.path() / "model.safetensors");
  const safetensors_model model = load_safetensors_model(folder.path());

  // Published element count, and the count by formula.
  CHECK(stored_elements(model.weights) == 7'217'189'760);
  CHECK(parameter_count(model.config.architecture).value == 6'921'720'704);
  const checkpoint_sizes& sizes = model.weights.sizes;
  CHECK(*sizes.disk.bytes == writer.file_bytes());
  CHECK(*sizes.stored_tensors.bytes == 2 * 7'217'189'760);
  CHECK(*sizes.unique_tensors.bytes == 2 * 6'921'720'704);
  CHECK(*sizes.engine_resident.bytes == 2 * 6'921'720'704);
  CHECK(model.agrees());
  CHECK(
      summary_of(model) ==
      "the checkpoint stores 7217189760 elements, the config describes 6921720704: lm_head.weight duplicates "
      "the tied embedding");

  // Module by module the same bytes as by formula.
  const weight_bytes weights = resident_weights(model.weights);
  for (std::size_t i = 0; i < module_role_count; ++i) {
    const auto role = static_cast<module_role>(i);
    INFO(name_of(role));
    CHECK(module_bytes(weights, role) == 2 * parameter_count(model.config.architecture, role).value);
  }

  deployment d{.model = model.config.architecture, .workload = {.sequences = 1, .context = tokens{100}}};
  d.pinned.weights = resident_amount(model.weights);
  CHECK(estimate(d).find("weights")->expected.value == 2 * 6'921'720'704);
}

TEST_CASE("tied heads are second copies only where the config ties them", "[safetensors]") {
  const safetensors_writer writer = qwen3(qwen3_0_6b, plain_linear);
  CHECK(stored_elements(checkpoint_of(writer)) == 751'632'384);
  const std::uint64_t head = 2 * 155'582'464;
  const checkpoint tied = checkpoint_of(writer, {true, 28});
  CHECK(tensor_in(tied, "lm_head.weight").use == tensor_use::duplicate);
  CHECK(*tied.sizes.unique_tensors.bytes == 2 * 596'049'920);
  CHECK(tied.notes.empty());
  const checkpoint untied = checkpoint_of(writer, {false, 28});
  CHECK(*untied.sizes.unique_tensors.bytes == 2 * 596'049'920 + head);
  CHECK(module_bytes(resident_weights(untied), module_role::lm_head) == head);
  CHECK(untied.notes.empty());
  const checkpoint unknown = checkpoint_of(writer);
  CHECK(*unknown.sizes.unique_tensors.bytes == *untied.sizes.unique_tensors.bytes);
  CHECK(has_note(unknown.notes, "tie_word_embeddings is not given: lm_head.weight is counted"));
  CHECK(has_note(unknown.notes, "num_hidden_layers is not given"));
}

TEST_CASE("a tied head in another shape is no second copy", "[safetensors]") {
  safetensors_writer writer;
  writer.add("model.embed_tokens.weight", "BF16", {10, 4}).add("lm_head.weight", "F32", {10, 4});
  const checkpoint stored = checkpoint_of(writer, {true, 1});
  CHECK(*stored.sizes.unique_tensors.bytes == 240);
  CHECK(has_note(stored.notes, "lm_head.weight: differs in shape or dtype from the embedding"));
}

TEST_CASE("DeepSeek-V3: draft layer, its copies and FP8 scales to the element", "[safetensors]") {
  // All layers with experts are alike, and two of them tell what all 58 have: of the 91,991 tensors of the
  // published checkpoint only those of two such layers and of the draft layer are written.
  struct parts {
    std::uint64_t all = 0, model = 0, draft = 0, copies = 0, scales = 0;
  };
  const auto stored_with = [](std::uint64_t layers) {
    return checkpoint_of(
        deepseek_v3({7168, layers, 3, 128, 1536, 512, 128, 64, 128, 18432, 2048, 256, 129280}),
        {false, static_cast<std::uint32_t>(layers)});
  };
  const auto parts_of = [](const checkpoint& stored) {
    parts sum{.all = stored_elements(stored)};
    for (const stored_tensor& tensor : stored.tensors) {
      if (tensor.use == tensor_use::scale) {
        sum.scales += tensor.elements;
      } else if (tensor.use == tensor_use::duplicate) {
        sum.copies += tensor.elements;
      } else {
        (tensor.role == module_role::draft ? sum.draft : sum.model) += tensor.elements;
      }
    }
    return sum;
  };
  const checkpoint stored = stored_with(5);
  const parts four = parts_of(stored_with(4));
  const parts five = parts_of(stored);
  const auto of_61_layers = [&](std::uint64_t parts::*part) {
    return four.*part + 57 * (five.*part - four.*part);
  };
  // Published total, and its parts: model, draft layer, copies of embedding and head, block scales.
  CHECK(of_61_layers(&parts::all) == 684'531'386'000);
  CHECK(of_61_layers(&parts::model) == 671'026'419'200);
  CHECK(of_61_layers(&parts::draft) == 11'610'068'224);
  CHECK(of_61_layers(&parts::copies) == 1'853'358'080);
  CHECK(of_61_layers(&parts::scales) == 41'540'496);

  const weight_bytes weights = resident_weights(stored);
  CHECK(sum_of(weights) == *stored.sizes.engine_resident.bytes);
  CHECK(module_bytes(weights, module_role::expert) == std::uint64_t{2} * 256 * 3 * 7168 * 2048);
  CHECK(module_bytes(weights, module_role::shared_expert) == std::uint64_t{2} * 3 * 7168 * 2048);
  CHECK(module_bytes(weights, module_role::router) == std::uint64_t{2} * 256 * (7168 * 2 + 4));
  CHECK(module_bytes(weights, module_role::mlp) == std::uint64_t{3} * 3 * 7168 * 18432);
  CHECK(module_bytes(weights, module_role::draft) == 0);
  CHECK(module_bytes(weights, module_role::unattributed) == 0);
  const weight_bytes with_draft = resident_weights(stored, true);
  CHECK(sum_of(with_draft) == *stored.sizes.unique_tensors.bytes);
  CHECK(*stored.sizes.stored_tensors.bytes - *stored.sizes.unique_tensors.bytes ==
        2 * std::uint64_t{1'853'358'080});
  CHECK(stored_bytes(stored, safetensors_dtype::f32) == 4 * (five.scales + 3 * 256));

  // Without the number of layers the draft layer is a layer like others, and that is said.
  const moe_shape small{256, 2, 1, 2, 64, 32, 32, 16, 32, 256, 128, 4, 100};
  const checkpoint unknown = checkpoint_of(deepseek_v3(small), {false, std::nullopt});
  const checkpoint known = checkpoint_of(deepseek_v3(small), {false, 2});
  CHECK(*unknown.sizes.engine_resident.bytes > *known.sizes.engine_resident.bytes);
  CHECK(has_note(unknown.notes, "draft layers that are only numbered on are counted as layers"));
}

TEST_CASE("draft layers that are named so need no number", "[safetensors]") {
  safetensors_writer writer;
  writer.add("model.embed_tokens.weight", "BF16", {10, 4})
      .add("model.layers.0.mlp.up_proj.weight", "BF16", {8, 4});
  writer.add("mtp.layers.0.mlp.up_proj.weight", "BF16", {8, 4}).add("mtp.fc.weight", "BF16", {4, 8});
  writer.add("model.mtp_layers.0.mlp.up_proj.weight", "BF16", {8, 4});
  const checkpoint stored = checkpoint_of(writer, {true, 1});
  CHECK(*stored.sizes.unique_tensors.bytes == 80 + 4 * 64);
  CHECK(*stored.sizes.engine_resident.bytes == 80 + 64);
}

TEST_CASE("buffers of old checkpoints are on disk and not in an engine", "[safetensors]") {
  safetensors_writer writer;
  writer.add("transformer.wte.weight", "F16", {10, 4}).add("transformer.wpe.weight", "F16", {16, 4});
  writer.add("transformer.h.0.attn.c_attn.weight", "F16", {4, 12})
      .add("transformer.h.0.attn.c_attn.bias", "F16", {12});
  writer.add("transformer.h.0.attn.bias", "BOOL", {1, 1, 16, 16})
      .add("transformer.h.0.attn.masked_bias", "F16", {});
  writer.add("transformer.h.0.ln_1.weight", "F16", {4});
  writer.add("model.layers.0.self_attn.rotary_emb.inv_freq", "F32", {64});
  const checkpoint stored = checkpoint_of(writer, {true, 1});
  CHECK(stored_bytes(stored, tensor_use::buffer) == 256 + 2 + 256);
  CHECK(*stored.sizes.unique_tensors.bytes - *stored.sizes.engine_resident.bytes == 514);
  CHECK(tensor_in(stored, "transformer.h.0.attn.c_attn.bias").role == module_role::attention);
  CHECK(tensor_in(stored, "transformer.h.0.ln_1.weight").role == module_role::norm);
  CHECK(tensor_in(stored, "transformer.wpe.weight").role == module_role::embedding);
}

// ---- quantized checkpoints -------------------------------------------------------------------------------

TEST_CASE("packed weights are bytes and stand for their parameters", "[safetensors]") {
  const std::uint64_t linear = 40 * (std::uint64_t{2} * 5120 * 5120 + 2 * 5120 * 1024 + 3 * 5120 * 17408);
  const std::uint64_t rest = 14'768'307'200 - linear;
  struct scheme {
    const char* name;
    linear_writer write;
    std::uint64_t packed_bytes;
    std::uint64_t scale_bytes;  ///< of the weights' own scales; what is per matrix comes on top
    std::uint64_t per_matrix;
  };
  // 280 matrices. GPTQ has an int32 per input besides scales and zeros: 40 × (5120 × 6 + 17408) of them.
  const std::uint64_t inputs = 40 * (std::uint64_t{5120} * 6 + 17408);
  const scheme schemes[] = {
      {"GPTQ", gptq_linear, linear / 2, linear / 128 * 2 + linear / 128 / 2 + inputs * 4, 0},
      {"AWQ", awq_linear, linear / 2, linear / 128 * 2 + linear / 128 / 2, 0},
      {"NVFP4", nvfp4_linear, linear / 2, linear / 16, 8},
      {"NF4", nf4_linear, linear / 2, linear / 64 + linear / 64 / 256 * 4, 256 * 4 + 16 * 4 + 90},
  };
  for (const scheme& each : schemes) {
    INFO(each.name);
    const checkpoint stored = checkpoint_of(qwen3(qwen3_14b, each.write), {false, 40});
    CHECK(parameters_of(stored) == 14'768'307'200);
    CHECK(stored_bytes(stored, tensor_use::packed) == each.packed_bytes);
    const weight_bytes weights = resident_weights(stored);
    CHECK(weights.scales == each.scale_bytes + 280 * each.per_matrix);
    CHECK(sum_of(weights) == each.packed_bytes + weights.scales + 2 * rest);
    CHECK(module_bytes(weights, module_role::mlp) == 40 * std::uint64_t{3} * 5120 * 17408 / 2);
  }
}

TEST_CASE("FP8 block scales are apart and are no parameters", "[safetensors]") {
  const scratch folder;
  folder.write("config.json", qwen3_config(qwen3_4b, true));
  qwen3(qwen3_4b, fp8_block_linear).write(folder.path() / "model.safetensors");
  const safetensors_model model = load_safetensors_model(folder.path());
  CHECK(stored_elements(model.weights) == 4'411'646'016);  // as published: with the head's copy and scales
  CHECK(parameters_of(model.weights) == 4'022'468'096);
  CHECK(model.agrees());
  CHECK(resident_weights(model.weights).scales == 4 * 221'760);
  CHECK(contains(summary_of(model), "weight_scale_inv and 251 more: scales of quantized weights"));
}

TEST_CASE("gpt-oss-20b: MXFP4 blocks and scales of all experts in one tensor", "[safetensors]") {
  safetensors_writer writer;
  writer.add("model.embed_tokens.weight", "BF16", {201088, 2880})
      .add("lm_head.weight", "BF16", {201088, 2880});
  for (int i = 0; i < 24; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    writer.add(layer + "input_layernorm.weight", "BF16", {2880});
    writer.add(layer + "post_attention_layernorm.weight", "BF16", {2880});
    writer.add(layer + "self_attn.q_proj.weight", "BF16", {4096, 2880})
        .add(layer + "self_attn.q_proj.bias", "BF16", {4096});
    for (const char* kv : {"k", "v"}) {
      const std::string name = layer + "self_attn." + kv + "_proj.";
      writer.add(name + "weight", "BF16", {512, 2880}).add(name + "bias", "BF16", {512});
    }
    writer.add(layer + "self_attn.o_proj.weight", "BF16", {2880, 4096})
        .add(layer + "self_attn.o_proj.bias", "BF16", {2880});
    writer.add(layer + "self_attn.sinks", "BF16", {64});
    writer.add(layer + "mlp.router.weight", "BF16", {32, 2880}).add(layer + "mlp.router.bias", "BF16", {32});
    const std::string experts = layer + "mlp.experts.";
    writer.add(experts + "gate_up_proj_blocks", "U8", {32, 5760, 90, 16});
    writer.add(experts + "gate_up_proj_scales", "U8", {32, 5760, 90})
        .add(experts + "gate_up_proj_bias", "BF16", {32, 5760});
    writer.add(experts + "down_proj_blocks", "U8", {32, 2880, 90, 16});
    writer.add(experts + "down_proj_scales", "U8", {32, 2880, 90})
        .add(experts + "down_proj_bias", "BF16", {32, 2880});
  }
  writer.add("model.norm.weight", "BF16", {2880});
  const checkpoint stored = checkpoint_of(writer, {false, 24});
  CHECK(parameters_of(stored) == 20'914'757'184);
  const weight_bytes weights = resident_weights(stored);
  CHECK(weights.scales == 597'196'800);
  const std::uint64_t biases = std::uint64_t{24} * 32 * (5760 + 2880) * 2;
  CHECK(module_bytes(weights, module_role::expert) == 597'196'800 * std::uint64_t{16} + biases);
  CHECK(module_bytes(weights, module_role::router) == std::uint64_t{24} * (32 * 2880 + 32) * 2);
  CHECK(module_bytes(weights, module_role::unattributed) == 0);
}

TEST_CASE("packing that a header does not tell is said, not guessed", "[safetensors]") {
  const scratch folder;
  folder.write("config.json", qwen3_config(small_qwen, true));
  qwen3(small_qwen, compressed_int4_linear).write(folder.path() / "model.safetensors");
  const safetensors_model model = load_safetensors_model(folder.path());
  CHECK_FALSE(model.agrees());
  CHECK(
      contains(summary_of(model), "weights.mlp: 393216 bytes are packed in a way that headers do not tell"));
  CHECK(resident_weights(model.weights).scales ==
        2 * ((256 * 256 * 2 + 256 * 128 * 2 + 3 * 256 * 512) / 32 * 2 + 7 * 16));
}

TEST_CASE("other quantizers by the names of their tensors", "[safetensors]") {
  safetensors_writer writer;
  writer.add("a.weight", "I8", {8, 8}).add("a.SCB", "F32", {8});                         // LLM.int8
  writer.add("b.W_q", "U8", {32}).add("b.scale", "F16", {1}).add("b.zero", "F16", {1});  // HQQ
  writer.add("c.weight", "U32", {8, 8}).add("c.scales", "F16", {8, 1}).add("c.biases", "F16", {8, 1});  // MLX
  writer.add("d.weight", "I8", {8, 64}).add("d.scale", "F8_E8M0", {8, 4});         // DeepSeek-V4
  writer.add("e.weight", "I8", {8, 64}).add("e.weight_scale", "BF16", {8, 1});     // W8A8
  writer.add("f._weight_qdata", "I8", {8, 8}).add("f._weight_scale", "F32", {8});  // torchao
  writer.add("g.scale", "BF16", {8}).add("g.weight", "BF16", {8});                 // no scale
  writer.add("h.logit_scale", "F32", {});                                          // no scale
  const checkpoint stored = checkpoint_of(writer, {true, 1});
  CHECK(tensor_in(stored, "a.weight").parameters == 64);
  CHECK(tensor_in(stored, "a.SCB").use == tensor_use::scale);
  CHECK(tensor_in(stored, "b.W_q").use == tensor_use::packed);
  CHECK_FALSE(tensor_in(stored, "b.W_q").parameters.has_value());
  CHECK(tensor_in(stored, "b.zero").use == tensor_use::scale);
  CHECK(tensor_in(stored, "c.weight").use == tensor_use::packed);
  CHECK(tensor_in(stored, "c.biases").use == tensor_use::scale);
  CHECK(tensor_in(stored, "d.weight").parameters == 1024);
  CHECK(tensor_in(stored, "d.scale").use == tensor_use::scale);
  CHECK(tensor_in(stored, "e.weight").parameters == 512);
  CHECK(tensor_in(stored, "f._weight_qdata").parameters == 64);
  CHECK(tensor_in(stored, "f._weight_scale").use == tensor_use::scale);
  CHECK(tensor_in(stored, "g.scale").use == tensor_use::weight);
  CHECK(tensor_in(stored, "h.logit_scale").use == tensor_use::weight);
}

TEST_CASE("modules by the names of many families", "[safetensors]") {
  struct named {
    const char* name;
    module_role role;
  };
  const named all[] = {
      {"gpt_neox.embed_in.weight", module_role::embedding},
      {"embed_out.weight", module_role::lm_head},
      {"transformer.output_layer.weight", module_role::lm_head},
      {"output.weight", module_role::lm_head},
      {"language_model.lm_head.weight", module_role::lm_head},
      {"tok_embeddings.weight", module_role::embedding},
      {"layers.3.attention.wq.weight", module_role::attention},
      {"layers.3.feed_forward.w1.weight", module_role::mlp},
      {"layers.3.attention_norm.weight", module_role::norm},
      {"transformer.word_embeddings_layernorm.weight", module_role::norm},
      {"model.layers.1.block_sparse_moe.gate.weight", module_role::router},
      {"model.layers.1.block_sparse_moe.experts.7.w2.weight", module_role::expert},
      {"model.layers.1.block_sparse_moe.input_linear.weight", module_role::expert},
      {"model.layers.1.mlp.shared_expert_gate.weight", module_role::router},
      {"model.layers.1.mlp.shared_expert.up_proj.weight", module_role::shared_expert},
      {"model.layers.1.mlp.gate_proj.weight", module_role::mlp},
      {"model.layers.1.linear_attn.in_proj_qkvz.weight", module_role::mixer},
      {"model.layers.1.linear_attn.norm.weight", module_role::mixer},
      {"model.layers.1.conv.in_proj.weight", module_role::mixer},
      {"backbone.layers.0.mixer.in_proj.weight", module_role::mixer},
      {"backbone.layers.1.mixer.q_proj.weight", module_role::attention},
      {"backbone.layers.2.mixer.up_proj.weight", module_role::mlp},
      {"backbone.layers.3.mixer.experts.0.up_proj.weight", module_role::expert},
      {"backbone.layers.3.norm.weight", module_role::norm},
      {"backbone.embeddings.weight", module_role::embedding},
      {"model.layers.4.self_attn.A_log", module_role::mixer},
      {"model.layers.4.self_attn.q_proj.weight", module_role::mixer},
      {"model.layers.5.self_attn.q_proj.weight", module_role::attention},
      {"model.layers.5.self_attn.indexer.wk.weight", module_role::attention},
      {"visual.blocks.0.attn.qkv.weight", module_role::vision},
      {"vision_tower.vision_model.encoder.layers.26.mlp.fc1.weight", module_role::vision},
      {"multi_modal_projector.linear_1.weight", module_role::vision},
      {"audio_tower.conformer.0.norm.weight", module_role::audio},
      {"decoder.block.0.layer.0.SelfAttention.q.weight", module_role::attention},
      {"decoder.block.0.layer.1.DenseReluDense.wi_0.weight", module_role::mlp},
      {"shared.weight", module_role::embedding},
      {"encoder.layers.30.fc1.weight", module_role::mlp},
      {"model.layers.20.enorm.weight", module_role::draft},
      {"model.layers.20.mlp.up_proj.weight", module_role::draft},
      {"model.layers.21.mlp.up_proj.weight", module_role::mlp},
      {"model.transformer.ff_out.weight", module_role::lm_head},
      {"model.transformer.blocks.0.ff_out.weight", module_role::mlp},
      {"model.transformer.blocks.0.att_proj.bias", module_role::attention},
      {"something.else", module_role::unattributed},
  };
  safetensors_writer writer;
  for (const named& each : all) writer.add(each.name, "BF16", {2, 2});
  const checkpoint stored = checkpoint_of(writer, {false, 20});
  for (const named& each : all) {
    INFO(each.name);
    CHECK(name_of(tensor_in(stored, each.name).role) == std::string(name_of(each.role)));
  }
}

TEST_CASE("T5 stores its shared embedding three times", "[safetensors]") {
  safetensors_writer writer;
  for (const char* name :
       {"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"})
    writer.add(name, "F32", {100, 8});
  CHECK(*checkpoint_of(writer, {true, 1}).sizes.unique_tensors.bytes == 3200);
  CHECK(*checkpoint_of(writer, {false, 1}).sizes.unique_tensors.bytes == 6400);
}

// ---- folders and indexes ---------------------------------------------------------------------------------

namespace {

/// Two shards and their index.
struct sharded {
  safetensors_writer first, second;
  std::string index = R"({"metadata":{"total_size":160},"weight_map":{
    "model.embed_tokens.weight":"model-00001-of-00002.safetensors",
    "model.norm.weight":"model-00002-of-00002.safetensors"}})";
  sharded() {
    first.add("model.embed_tokens.weight", "F32", {9, 4});
    second.add("model.norm.weight", "F32", {4});
  }
  void write(const scratch& folder) const {
    first.write(folder.path() / "model-00001-of-00002.safetensors");
    second.write(folder.path() / "model-00002-of-00002.safetensors");
    folder.write("model.safetensors.index.json", index);
  }
};

}  // namespace

TEST_CASE("shards are read with their index, by folder or by its name", "[safetensors]") {
  const scratch folder;
  const sharded files;
  files.write(folder);
  for (const std::filesystem::path& path : {folder.path(), folder.path() / "model.safetensors.index.json"}) {
    const checkpoint stored = load_safetensors(path, {true, 1});
    CHECK(stored.files.size() == 2);
    CHECK(stored.tensors.size() == 2);
    CHECK(*stored.sizes.stored_tensors.bytes == 160);
    CHECK(*stored.sizes.disk.bytes == files.first.file_bytes() + files.second.file_bytes());
    CHECK(stored.notes.empty());
    CHECK(tensor_in(stored, "model.norm.weight").file == 1);
  }
}

TEST_CASE("shards without an index must be complete", "[safetensors]") {
  const scratch folder;
  sharded().write(folder);
  std::filesystem::remove(folder.path() / "model.safetensors.index.json");
  CHECK(*load_safetensors(folder.path(), {true, 1}).sizes.stored_tensors.bytes == 160);
  std::filesystem::remove(folder.path() / "model-00001-of-00002.safetensors");
  CHECK(message_of([&] { (void)load_safetensors(folder.path()); }) ==
        folder.path().string() +
            ": holds 1 of the 2 shards that model-00002-of-00002.safetensors belongs to");
}

TEST_CASE("an index alone gives names and total_size, and says what is unknown", "[safetensors]") {
  const scratch folder;
  folder.write("model.safetensors.index.json", sharded().index);
  const checkpoint stored = load_safetensors(folder.path(), {true, 1});
  CHECK_FALSE(stored.has_tensors());
  CHECK(stored.unsized_tensors.size() == 2);
  CHECK(*stored.sizes.stored_tensors.bytes == 160);
  CHECK_FALSE(stored.sizes.disk.bytes.has_value());
  CHECK_FALSE(stored.sizes.unique_tensors.bytes.has_value());
  CHECK_FALSE(stored.sizes.engine_resident.bytes.has_value());
  CHECK(has_note(stored.notes, "none of the 2 shards is here"));
  CHECK(contains(message_of([&] { (void)resident_weights(stored); }), "the shards are missing"));
  CHECK(contains(message_of([&] { (void)resident_amount(stored); }), "the shards are missing"));
  folder.write("config.json", qwen3_config(small_qwen, true));
  const safetensors_model model = load_safetensors_model(folder.path());
  CHECK(model.differences.empty());
  CHECK_FALSE(model.agrees());
}

TEST_CASE("indexes and shards that contradict each other are refused", "[safetensors]") {
  const auto with_index = [](const std::string& text, bool keep_second) {
    const scratch folder;
    sharded().write(folder);
    folder.write("model.safetensors.index.json", text);
    if (!keep_second) std::filesystem::remove(folder.path() / "model-00002-of-00002.safetensors");
    std::string message = message_of([&] { (void)load_safetensors(folder.path()); });
    const std::string prefix = folder.path().string() + "/";
    return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
  };
  const std::string good = sharded().index;
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  CHECK(with_index(good, false) ==
        "model.safetensors.index.json: shard model-00002-of-00002.safetensors is missing, 1 of 2 are here");
  CHECK(
      with_index(replaced("model.norm.weight", "model.other.weight"), true) ==
      "model-00002-of-00002.safetensors: tensor \"model.other.weight\" is missing, the index says that it is "
      "here");
  CHECK(with_index(replaced("model-00002-of-00002.safetensors", "../../etc/x.safetensors"), true) ==
        "model.safetensors.index.json: weight_map: tensor \"model.norm.weight\": \"../../etc/x.safetensors\" "
        "is not "
        "the name of a .safetensors file beside the index");
  CHECK(contains(with_index(replaced("model-00002-of-00002.safetensors", "/dev/zero"), true),
                 "is not the name of"));
  CHECK(with_index(replaced("model.norm.weight", "model.embed_tokens.weight"), true) ==
        "model.safetensors.index.json: weight_map: tensor \"model.embed_tokens.weight\" occurs twice");
  CHECK(with_index(replaced("160", "-1"), true) ==
        "model.safetensors.index.json: metadata: total_size must not be negative");
  CHECK(with_index(replaced("160", "160.5"), true) ==
        "model.safetensors.index.json: metadata: total_size must be a whole number of bytes");
  CHECK(with_index("{}", true) == "model.safetensors.index.json: key \"weight_map\" is missing");
  CHECK(with_index(R"({"weight_map":{}})", true) == "model.safetensors.index.json: weight_map is empty");
  CHECK(
      with_index(R"({"weight_map":[]})", true) ==
      "model.safetensors.index.json: weight_map: must be the name of a shard for each tensor, not an array");
  CHECK(
      with_index(R"({"weight_map":{"a":5}})", true) ==
      "model.safetensors.index.json: weight_map: must be the name of a shard for each tensor, not a number");
  CHECK(contains(with_index("[]", true), "must be an object, not an array"));
  CHECK(contains(with_index(R"({"metadata":)" + std::string(50'000, '['), true),
                 "nests deeper than 16 levels"));
  CHECK(contains(with_index(good.substr(0, good.size() / 2), true), "is not valid JSON"));
}

TEST_CASE("what an index says differently from its shards is noted", "[safetensors]") {
  const scratch folder;
  sharded files;
  files.second.add("model.extra.weight", "F32", {2});
  files.index.replace(files.index.find("160"), 3, "161.0");
  files.write(folder);
  const checkpoint stored = load_safetensors(folder.path(), {true, 1});
  CHECK(*stored.sizes.stored_tensors.bytes == 168);
  CHECK(has_note(stored.notes, "the index does not list 1 tensors of the shards; they are counted"));
  CHECK(has_note(stored.notes, "the index says total_size 161, the shards hold 168 bytes"));
}

TEST_CASE("a tensor in two shards is refused", "[safetensors]") {
  const scratch folder;
  safetensors_writer writer;
  writer.add("same", "F32", {2});
  writer.write(folder.path() / "a.safetensors");
  writer.write(folder.path() / "b.safetensors");
  const std::string message = message_of([&] { (void)load_safetensors(folder.path()); });
  CHECK(contains(message, ": tensor \"same\": is also in "));
}

TEST_CASE("files beside the model are named and not counted", "[safetensors]") {
  const scratch folder;
  safetensors_writer writer;
  writer.add("model.embed_tokens.weight", "F32", {9, 4});
  writer.write(folder.path() / "model.safetensors");
  writer.write(folder.path() / "consolidated.safetensors");
  const checkpoint stored = load_safetensors(folder.path(), {true, 1});
  CHECK(*stored.sizes.stored_tensors.bytes == 144);
  CHECK(has_note(stored.notes, "consolidated.safetensors: lies beside the model and is not counted"));
}

TEST_CASE("a file that is only its header has the sizes that it describes", "[safetensors]") {
  const scratch folder;
  const safetensors_writer writer = qwen3(small_qwen, plain_linear);
  const std::filesystem::path path = folder.write("model.safetensors", writer.start());
  const checkpoint stored = load_safetensors(path, {true, 2});
  CHECK(*stored.sizes.disk.bytes == writer.file_bytes());
  CHECK(stored.files[0].data_is_missing);
  CHECK(has_note(stored.notes, "only the header is there"));
}

TEST_CASE("a file cut off anywhere in its header is refused from disk too", "[safetensors]") {
  const scratch folder;
  safetensors_writer writer;
  writer.add("a", "F32", {2, 3});
  const std::string start = writer.start();
  for (std::size_t length = 0; length < start.size(); ++length) {
    const std::filesystem::path path = folder.write("cut.safetensors", start.substr(0, length));
    CHECK_THROWS_AS(load_safetensors(path), input_error);
  }
}

TEST_CASE("missing files and folders without a model are refused", "[safetensors]") {
  const scratch folder;
  const std::string name = folder.path().string();
  CHECK(message_of([&] { (void)load_safetensors(folder.path()); }) ==
        name + ": holds no .safetensors file and no *.safetensors.index.json");
  CHECK(message_of([&] { (void)load_safetensors(folder.path() / "x.safetensors"); }) ==
        name + "/x.safetensors: no such file");
  CHECK(message_of([&] { (void)load_safetensors_model(folder.path() / "x.safetensors"); }) ==
        name + "/x.safetensors: no such file or folder");
  CHECK(message_of([&] { (void)load_safetensors("/dev/null"); }) == "/dev/null: is not a regular file");
  safetensors_writer writer;
  CHECK(message_of([&] { (void)load_safetensors(writer.write(folder.path() / "none.safetensors")); }) ==
        name + "/none.safetensors: holds no tensors");
  CHECK(contains(message_of([&] { (void)load_safetensors_model(folder.path()); }),
                 name + ": config.json is missing there: add the model's own"));
}

TEST_CASE("layers behind those of the config are no draft layers", "[safetensors]") {
  const scratch folder;
  qwen_shape shorter = small_qwen;
  shorter.layers = 1;
  folder.write("config.json", qwen3_config(shorter, true));
  qwen3(small_qwen, plain_linear).write(folder.path() / "model.safetensors");
  const safetensors_model model = load_safetensors_model(folder.path());
  CHECK_FALSE(model.agrees());
  CHECK(contains(summary_of(model), "weights.mlp (stores 786432, described are 393216)"));
}

TEST_CASE("a config that describes another model is said module by module", "[safetensors]") {
  const scratch folder;
  qwen_shape other = small_qwen;
  other.intermediate = 500;
  folder.write("config.json", qwen3_config(other, true));
  qwen3(small_qwen, plain_linear).write(folder.path() / "model.safetensors");
  const safetensors_model model = load_safetensors_model(folder.path());
  REQUIRE(model.differences.size() == 1);
  CHECK(model.differences[0].stored == 2 * 3 * 256 * 512);
  CHECK(model.differences[0].described == 2 * 3 * 256 * 500);
  CHECK_FALSE(model.agrees());
  CHECK(contains(summary_of(model), "weights.mlp (stores 786432, described are 768000)"));
}
