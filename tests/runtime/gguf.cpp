// GGUF files: their layout, what they weigh, what their models keep, and bad input. All files are written
// here, without data.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "kvbudget/io/gguf.hpp"
#include "kvbudget/memory/kv_cache.hpp"
#include "kvbudget/memory/weights.hpp"
#include "kvbudget/plan/estimate.hpp"
#include "support/catch.hpp"
#include "support/gguf_shapes.hpp"
#include "support/gguf_writer.hpp"
#include "support/input.hpp"
#include "support/measured_models.hpp"
#include "support/mutations.hpp"

#ifdef KVBUDGET_SHARED_DIR
#include <nlohmann/json.hpp>
#endif

namespace {

using namespace kvbudget;
using tests::contains;
using tests::gguf_of;
using tests::gguf_shape_of;
using tests::gguf_writer;
using tests::message_of;
using tests::scratch;

gguf_file read_text(const std::string& content) {
  memory_source source(content);
  return read_gguf(source, "test.gguf");
}
gguf_model model_in(const gguf_writer& file, const gguf_options& options = {}) {
  return model_of_gguf(read_text(file.header()), options);
}
std::string refusal(const std::string& content) {
  return message_of([&] { (void)read_text(content); });
}
std::string refusal(const gguf_writer& file) { return refusal(file.header()); }
std::string model_refusal(const gguf_writer& file, const gguf_options& options = {}) {
  return message_of([&] { (void)model_in(file, options); });
}

bool has_note(const std::vector<std::string>& notes, const std::string& part) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return contains(note, part); });
}

/// The whole cache in 16 bits with states in 32, as llama.cpp keeps them.
std::uint64_t cache_bytes(const model_architecture& model, std::uint64_t context,
                          std::uint64_t sequences = 1) {
  deployment d{.model = model, .workload = {.sequences = sequences, .context = tokens{context}}};
  d.states = {formats::fp32, formats::fp32};
  return kv_cache_of(d, share_of(d, rank{})).total().value;
}
std::uint64_t estimated_weights(const model_architecture& model, bool drafts = false) {
  deployment d{.model = model, .workload = {.sequences = 1, .context = tokens{1}}};
  d.load_draft_layers = drafts;
  return estimate(d)["weights"].value;
}

/// One letter per layer: f full, s sliding, c chunked, l latent, i latent with index, z compressed, r
/// recurrent, x full and cross, b state and full, = shared, - nothing.
std::string pattern_of(const model_architecture& model) {
  std::string pattern;
  for (std::uint32_t layer = 0; layer < model.num_hidden_layers; ++layer) {
    const layer_kind& kind = model.kinds[model.order[layer]];
    if (kind.store_count == 0) {
      pattern += '-';
      continue;
    }
    if (kind.store_count == 2) {
      pattern += kind.stores[1].kind == store_kind::cross_attention ? 'x' : 'b';
      continue;
    }
    switch (kind.stores[0].kind) {
      case store_kind::full: pattern += kind.stores[0].indexer_dim != 0 ? 'F' : 'f'; break;
      case store_kind::sliding_window: pattern += 's'; break;
      case store_kind::chunked: pattern += 'c'; break;
      case store_kind::latent: pattern += kind.stores[0].indexer_dim != 0 ? 'i' : 'l'; break;
      case store_kind::compressed: pattern += 'z'; break;
      case store_kind::recurrent: pattern += 'r'; break;
      case store_kind::shared: pattern += '='; break;
      case store_kind::none:
      case store_kind::cross_attention: pattern += '?'; break;
    }
  }
  return pattern;
}

// ---- whole models ----------------------------------------------------------------------------------------

using tests::bf16;
using tests::f16;
using tests::f32;
using tests::measured_model;
using tests::measured_models;
using tests::q4_0;
using tests::q4_k;
using tests::q6_k;
using tests::q8_0;

}  // namespace

TEST_CASE("GGUF files of known models weigh what llama.cpp says, to the byte") {
  const scratch dir;
  for (const measured_model& expected : measured_models()) {
    INFO(expected.name);
    gguf_writer file = gguf_of(expected.shape);
    REQUIRE(file.tensor_count() == expected.tensors);
    REQUIRE(file.weight_bytes() == expected.weight_bytes);
    // Metadata that is not ours to know fills the space in front of the data.
    const std::uint64_t data_start = expected.file_bytes - file.data_bytes();
    const std::uint64_t left = data_start - file.header().size();
    REQUIRE(left < 4096);
    file.text("test.filler", std::string(left - 8 - 11 - 4 - 8, ' '));
    const std::filesystem::path path = dir.path() / (std::string(expected.name) + ".gguf");
    file.write(path);

    const gguf_file read = read_gguf(path);
    CHECK(read.tensors.size() == expected.tensors);
    CHECK(weight_bytes_of(read) == bytes{expected.weight_bytes});
    CHECK(file_bytes_of(read) == bytes{expected.file_bytes});
    CHECK(std::filesystem::file_size(path) == expected.file_bytes);

    const gguf_model model = model_of_gguf(read);
    CHECK(model.architecture.num_hidden_layers == expected.shape.layers);
    CHECK(model.architecture.vocab_size == expected.shape.vocabulary);
    CHECK(model.architecture.tie_word_embeddings == expected.shape.tied);
    CHECK(estimated_weights(model.architecture) == expected.weight_bytes);
    CHECK(cache_bytes(model.architecture, 4096) == expected.cache_at_4096);
    CHECK(inventory_of(read, expected.shape.layers).total() == bytes{expected.weight_bytes});
    std::filesystem::remove(path);
  }
}

TEST_CASE("The models measured with llama.cpp are the ones above") {
#ifndef KVBUDGET_SHARED_DIR
  WARN("skipped: no reference material beside the source");
#else
  std::ifstream records(std::filesystem::path(KVBUDGET_SHARED_DIR) / "corpus" / "llamacpp-measured.jsonl");
  if (!records) {
    WARN("skipped: no reference material beside the source");
    return;
  }
  int compared = 0;
  for (std::string line; std::getline(records, line);) {
    if (line.find("\"record\":\"model\"") == std::string::npos &&
        line.find("\"record\": \"model\"") == std::string::npos) {
      continue;
    }
    const nlohmann::json record = nlohmann::json::parse(line);
    const auto name = record.at("model").get<std::string>();
    const auto& models = measured_models();
    const auto ours =
        std::find_if(models.begin(), models.end(), [&](const measured_model& m) { return m.name == name; });
    if (ours == models.end()) {
      WARN("no file is generated for " << name);
      continue;
    }
    INFO(name);
    CHECK(ours->weight_bytes == record.at("weight_bytes").get<std::uint64_t>());
    CHECK(ours->file_bytes == record.at("file_bytes").get<std::uint64_t>());
    CHECK(ours->tensors == record.at("n_tensors").get<std::uint64_t>());
    ++compared;
  }
  CHECK(compared >= 20);
#endif
}

// ---- the layout ------------------------------------------------------------------------------------------

namespace {

/// A small model with everything that headers can hold.
gguf_writer small_model(std::uint32_t version = 3, bool big_endian = false) {
  gguf_writer w;
  w.version = version;
  w.big_endian = big_endian;
  w.text("general.architecture", "llama").text("general.name", "Small Model").f32("general.some_number");
  w.u32("general.alignment", 64);
  w.alignment = 64;
  w.u32("llama.block_count", 2).u32("llama.context_length", 4096).u64("llama.embedding_length", 64);
  w.u16("llama.feed_forward_length", 128).i32("llama.attention.head_count", 4);
  w.u32s("llama.attention.head_count_kv", {2, 2}).flag("llama.use_parallel_residual", true);
  w.texts("tokenizer.ggml.tokens", 40).f32s("tokenizer.ggml.scores", 40);
  w.text("tokenizer.chat_template", std::string(700, 't')).flags("llama.some.flags", {true, false});
  w.tensor("token_embd.weight", q8_0, {64, 40}).tensor("output_norm.weight", f32, {64});
  for (const char* layer : {"blk.0.", "blk.1."}) {
    const std::string blk = layer;
    w.tensor(blk + "attn_norm.weight", f32, {64}).tensor(blk + "attn_q.weight", f16, {64, 64});
    w.tensor(blk + "attn_k.weight", f16, {64, 32}).tensor(blk + "attn_v.weight", q8_0, {64, 32});
    w.tensor(blk + "attn_output.weight", f16, {64, 64}).tensor(blk + "ffn_norm.weight", f32, {64});
    w.tensor(blk + "ffn_up.weight", f16, {64, 128}).tensor(blk + "ffn_gate.weight", f16, {64, 128});
    w.tensor(blk + "ffn_down.weight", f16, {128, 64});
  }
  return w;
}

}  // namespace

TEST_CASE("GGUF versions 1 to 3 and both byte orders say the same") {
  const gguf_file first = read_text(small_model().header());
  const gguf_model model = model_of_gguf(first);
  CHECK(first.parts.front().version == 3);
  CHECK(std::string(model.architecture.name) == "Small Model");
  CHECK(std::string(model.architecture.model_type) == "llama");
  CHECK(model.architecture.dtype == formats::fp16);
  CHECK(model.architecture.max_position_embeddings == 4096);
  CHECK(estimated_weights(model.architecture) == weight_bytes_of(first).value);
  for (const std::uint32_t version : {1U, 2U, 3U}) {
    for (const bool big_endian : {false, true}) {
      INFO(version << (big_endian ? " big-endian" : ""));
      const gguf_writer written = small_model(version, big_endian);
      const gguf_file file = read_text(written.header());
      CHECK(file.parts.front().version == version);
      CHECK(file.parts.front().big_endian == big_endian);
      CHECK(file.parts.front().alignment == 64);
      CHECK(has_note(file.notes, "big-endian") == big_endian);
      CHECK(file_bytes_of(file).value == written.file_bytes());
      CHECK(weight_bytes_of(file) == weight_bytes_of(first));
      CHECK(model_of_gguf(file).architecture == model.architecture);
    }
  }
}

TEST_CASE("Long texts and arrays of a GGUF file are passed over") {
  const gguf_file file = read_text(small_model().header());
  const gguf_value& tokens = file.metadata.at("tokenizer.ggml.tokens");
  CHECK_FALSE(tokens.kept);
  CHECK(tokens.length == 40);
  CHECK(tokens.elements.empty());
  CHECK_FALSE(file.metadata.at("tokenizer.chat_template").kept);
  CHECK(file.metadata.at("tokenizer.chat_template").length == 700);
  CHECK(file.metadata.at("llama.some.flags").elements == std::vector<std::uint64_t>{1, 0});
  CHECK(file.metadata.at("llama.attention.head_count_kv").elements == std::vector<std::uint64_t>{2, 2});

  gguf_writer negative;
  negative.text("general.architecture", "llama").i32("a", -1).raw("b", 1, "\xFF").raw("c", 3, "\xFE\xFF");
  const gguf_file signs = read_text(negative.header());
  CHECK(signs.metadata.at("a").number == UINT64_MAX);
  CHECK(signs.metadata.at("b").number == UINT64_MAX);
  CHECK(signs.metadata.at("c").number == UINT64_MAX - 1);
}

TEST_CASE("A GGUF header that is cut short anywhere is refused") {
  const auto refuses_every_cut = [](const gguf_writer& written) {
    const std::string whole = written.header();
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const std::string line = refusal(whole.substr(0, length));
      if (!contains(line, "test.gguf: ") || contains(line, "\n")) {
        FAIL(length << " bytes of " << whole.size() << ": " << line);
      }
    }
    CHECK(refusal(whole) == "nothing was refused");
  };
  for (const std::uint32_t version : {1U, 2U, 3U}) refuses_every_cut(small_model(version));
  refuses_every_cut(small_model(3, true));
}

TEST_CASE("A GGUF file that ends anywhere in its header is refused from disk too") {
  const scratch dir;
  const gguf_writer written = small_model();
  const std::filesystem::path path = dir.write("cut.gguf", written.header());
  CHECK(message_of([&] { (void)read_gguf(path); }) == "nothing was refused");
  for (std::size_t length = written.header().size(); length-- > 0;) {
    std::filesystem::resize_file(path, length);
    const std::string line = message_of([&] { (void)read_gguf(path); });
    if (!contains(line, "cut.gguf") || contains(line, "\n")) FAIL(length << " bytes: " << line);
  }
}

TEST_CASE("A damaged GGUF file is read or refused in one line") {
  tests::numbers random(7);
  const std::string whole = small_model().header();
  for (int i = 0; i < 3000; ++i) {
    const std::string damaged = tests::mutated_bytes(whole, random);
    const std::string line = message_of([&] {
      const gguf_model model = model_of_gguf(read_text(damaged));
      (void)estimated_weights(model.architecture);
    });
    if (line != "nothing was refused" && (!contains(line, "test.gguf: ") || contains(line, "\n"))) FAIL(line);
  }
}

TEST_CASE("Only the header of a GGUF file is needed, and missing data is noted") {
  const gguf_writer w = small_model();
  CHECK(has_note(read_text(w.header()).notes, "data is missing"));
  const scratch dir;
  const auto path = dir.path() / "small.gguf";
  w.write(path);
  CHECK(read_gguf(path).notes.empty());
  std::filesystem::resize_file(path, w.file_bytes() + 5);
  CHECK(has_note(read_gguf(path).notes, "5 bytes beyond"));
  CHECK(read_gguf_model(path).architecture == model_in(w).architecture);
  CHECK(load_gguf(path) == model_in(w).architecture);
  CHECK(contains(message_of([&] { (void)read_gguf(dir.path()); }), "is a directory"));
  CHECK(contains(message_of([&] { (void)read_gguf(dir.path() / "none.gguf"); }), "o such file"));
}

TEST_CASE("Every ggml type has its size, and removed ones are refused") {
  struct sized {
    std::uint32_t id;
    std::uint64_t columns;
    std::uint64_t row;
  };
  for (const sized& type :
       std::vector<sized>{{0, 7, 28},     {1, 7, 14},      {2, 64, 36},  {8, 32, 34},   {12, 256, 144},
                          {14, 512, 420}, {15, 256, 292},  {30, 3, 6},   {34, 256, 54}, {39, 32, 17},
                          {40, 64, 36},   {41, 128, 18},   {42, 64, 18}, {134, 64, 15}, {144, 512, 276},
                          {151, 64, 72},  {212, 256, 144}, {219, 32, 8}, {335, 64, 20}, {398, 32, 36}}) {
    INFO(type.id);
    const ggml_type* found = find_ggml_type(type.id);
    REQUIRE(found != nullptr);
    CHECK(found->row_size(type.columns) == type.row);
  }
  for (const std::uint32_t id : {4U, 5U, 31U, 33U, 36U, 38U, 43U, 100U, 201U, 329U, 400U, UINT32_MAX}) {
    INFO(id);
    CHECK(find_ggml_type(id) == nullptr);
  }
}

TEST_CASE("Rows that are led by bytes of their own weigh what they take") {
  gguf_writer w;
  w.text("general.architecture", "llama").u32("llama.block_count", 1).u32("llama.embedding_length", 256);
  w.u32("llama.attention.head_count", 4);
  w.tensor("token_embd.weight", 144, {256, 100}).tensor("output.weight", 151, {256, 100});
  w.tensor("blk.0.attn_q.weight", 153, {256, 256}).tensor("blk.0.ffn_up.weight", 344, {256, 512});
  const gguf_file file = read_text(w.header());
  CHECK(weight_bytes_of(file) == bytes{100 * 140 + 100 * 264 + 256 * 72 + 512 * 140});
  CHECK(estimated_weights(model_of_gguf(file).architecture) == weight_bytes_of(file).value);
}

TEST_CASE("Bad GGUF files are refused with file, place and reason") {
  CHECK(refusal("") == "test.gguf: header 0: the file ends here, at 0 bytes (byte 0)");
  CHECK(refusal("GGML\3\0\0\0") == "test.gguf: is not a GGUF file: it does not start with GGUF");
  gguf_writer version;
  version.version = 4;
  CHECK(refusal(version) == "test.gguf: GGUF version 4 is not supported, expected 1, 2 or 3");

  const auto counts = [](std::uint64_t tensors, std::uint64_t keys) {
    const gguf_writer w;
    std::string header = "GGUF";
    w.put(header, std::uint32_t{3});
    w.put(header, tensors);
    w.put(header, keys);
    return header + std::string(100, '\0');
  };
  CHECK(
      contains(refusal(counts(UINT64_MAX, 0)), "18446744073709551615 tensors do not fit into the 100 bytes"));
  CHECK(contains(refusal(counts(0, 1'000'000)), "1000000 metadata keys do not fit"));

  const auto key = [](std::uint32_t type, const std::string& bytes) {
    gguf_writer w;
    return refusal(w.raw("some.key", type, bytes));
  };
  CHECK(key(13, "") == "test.gguf: key-value 0: some.key: value type 13 is unknown (byte 44)");
  CHECK(contains(key(8, std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", 8)), "the file ends here"));
  CHECK(contains(key(9, std::string("\4\0\0\0\0\0\0\0\1\0\0\0", 12)), "the file ends here"));
  CHECK(contains(key(9, std::string("\x9\0\0\0\1\0\0\0\0\0\0\0", 12)),
                 "some.key: arrays of arrays are not supported"));
  CHECK(
      contains(key(9, std::string("\x8\0\0\0\1\0\0\0\0\0\0\0\xFF\0\0\0\0\0\0\0", 20)), "the file ends here"));
  CHECK(contains(key(9, std::string("\x63\0\0\0\0\0\0\0\0\0\0\0", 12)), "value type 99 is unknown"));
  gguf_writer twice;
  CHECK(contains(refusal(twice.u32("a.key", 1).u32("a.key", 2)), "key-value 1: key a.key occurs twice"));
  gguf_writer long_key;
  CHECK(contains(refusal(long_key.u32(std::string(1025, 'k'), 1)),
                 "a key of 1025 bytes, at most 1024 are allowed"));
  for (const std::uint32_t alignment : {0U, 3U, 48U}) {
    gguf_writer w;
    CHECK(refusal(w.u32("general.alignment", alignment)) ==
          "test.gguf: general.alignment: must be a power of two, not " + std::to_string(alignment));
  }
  gguf_writer alignment_type;
  CHECK(refusal(alignment_type.u64("general.alignment", 32)) ==
        "test.gguf: general.alignment: must be u32, not u64");

  const auto tensor = [](const std::string& name, std::uint32_t type, const std::vector<std::uint64_t>& dims,
                         std::uint64_t offset = 0) {
    gguf_writer w;
    return refusal(w.tensor_at(name, type, dims, offset));
  };
  CHECK(contains(tensor(std::string(64, 'n'), f32, {4}),
                 "tensor info 0: a tensor name of 64 bytes, at most 63"));
  CHECK(contains(tensor("t", f32, {1, 1, 1, 1, 1}), "t: 5 dimensions, at most 4 are allowed"));
  CHECK(contains(tensor("t", f32, {UINT64_MAX}), "t: a dimension is negative"));
  CHECK(contains(tensor("t", f32, {1ULL << 40, 1ULL << 40}), "t: has more than 2^63 elements"));
  CHECK(contains(tensor("t", 4, {32}), "t: ggml type 4 is unknown or was removed"));
  CHECK(contains(tensor("t", q8_0, {33}),
                 "t: a row of 33 elements is not a whole number of q8_0 blocks of 32"));
  CHECK(contains(tensor("t", f32, {4}, 32), "t: its data is at offset 32, expected 0"));
  CHECK(contains(tensor("t", 28, {1ULL << 62}), "test.gguf: "));  // the bytes need more than 64 bits
  gguf_writer gap;
  CHECK(contains(refusal(gap.tensor("a", f32, {4}).tensor_at("b", f32, {4}, 16)),
                 "tensor info 1: b: its data is at offset 16, expected 32, where the tensor before it ends"));
  gguf_writer same;
  CHECK(refusal(same.tensor("a", f32, {4}).tensor("b", f32, {4}).tensor("a", f32, {4})) ==
        "test.gguf: tensor a occurs twice");
  CHECK_FALSE(contains(tensor("line\nbreak", 4, {32}), "\n"));
}

// ---- split models ----------------------------------------------------------------------------------------

namespace {

/// File `number` (from 0) of `small_model` in three.
gguf_writer part_of_small(std::uint16_t number, std::uint16_t count = 3) {
  gguf_writer w;
  if (number == 0) {
    w.text("general.architecture", "llama").u32("llama.block_count", 1).u32("llama.embedding_length", 64);
    w.u32("llama.attention.head_count", 4);
  }
  w.u16("split.no", number).u16("split.count", count).i32("split.tensors.count", 3);
  if (number == 1) w.tensor("token_embd.weight", f16, {64, 40}).tensor("blk.0.attn_q.weight", f16, {64, 64});
  if (number == 2) w.tensor("output.weight", f16, {64, 40});
  return w;
}

}  // namespace

TEST_CASE("A split GGUF model is put together from its files") {
  const scratch dir;
  std::vector<std::filesystem::path> paths;
  for (std::uint16_t i = 0; i < 3; ++i) {
    paths.push_back(dir.path() / ("m-0000" + std::to_string(i + 1) + "-of-00003.gguf"));
    part_of_small(i).write(paths.back());
  }
  const std::uint64_t weight = 2 * (64 * 40 + 64 * 64 + 64 * 40);
  for (const auto& path : paths) {
    const gguf_file file = read_gguf(path);
    CHECK(file.parts.size() == 3);
    CHECK(file.tensors.size() == 3);
    CHECK(file.tensors[0].part == 1);
    CHECK(file.tensors[2].part == 2);
    CHECK(weight_bytes_of(file) == bytes{weight});
    CHECK(estimated_weights(model_of_gguf(file).architecture) == weight);
  }
  CHECK(read_gguf(std::vector{paths[2], paths[0], paths[1]}).tensors[2].name == "output.weight");
  CHECK(read_gguf(std::vector{paths[1]}).tensors.size() == 3);
  CHECK(estimated_weights(read_gguf_model(paths).architecture) == weight);

  const std::string first = paths[0].string();
  CHECK(message_of([&] {
          (void)read_gguf(std::vector{paths[0], paths[2]});
        }) == first + ": file 2 of 3 of the model is missing: its name ends in -00002-of-00003.gguf");
  CHECK(contains(message_of([&] {
                   (void)read_gguf(std::vector{paths[0], paths[0], paths[1]});
                 }),
                 "is file 1 of 3, as is " + first));
  CHECK(contains(refusal(part_of_small(0)), "file 2 of 3 of the model is missing"));
  CHECK(contains(message_of([] { (void)read_gguf(std::vector<std::filesystem::path>{}); }),
                 "no file is named"));

  const auto other = dir.path() / "other.gguf";
  part_of_small(1).write(other);
  CHECK(contains(
      message_of([&] { (void)read_gguf(other); }),
      "is file 2 of 3, but its name does not end in -00002-of-00003.gguf: name all files of the model"));
  part_of_small(1, 2).write(other);
  CHECK(contains(message_of([&] {
                   (void)read_gguf(std::vector{paths[0], other});
                 }),
                 "belongs to a model of 2 files, not of 3"));
  std::filesystem::remove(paths[1]);
  CHECK(contains(message_of([&] { (void)read_gguf(paths[0]); }), paths[1].string() + ": "));

  gguf_writer number;
  CHECK(contains(refusal(number.u16("split.no", 3).u16("split.count", 3)), "split.no: 3 of 3 files"));
  gguf_writer many;
  CHECK(contains(refusal(many.u16("split.count", 5000)), "split.count: 5000 files, at most 4096"));
  gguf_writer total;
  CHECK(contains(refusal(total.i32("split.tensors.count", 7)),
                 "split.tensors.count: 7, but the files hold 0 tensors"));
}

// ---- what models keep ------------------------------------------------------------------------------------

namespace {

/// Metadata of one architecture, without tensors.
class keys_of {
 public:
  explicit keys_of(std::string architecture, std::uint32_t layers = 8, std::uint32_t hidden = 64)
      : prefix_(architecture + ".") {
    file_.text("general.architecture", architecture).u32(prefix_ + "block_count", layers);
    file_.u32(prefix_ + "embedding_length", hidden);
  }
  keys_of& u32(const char* key, std::uint32_t value) {
    file_.u32(prefix_ + key, value);
    return *this;
  }
  keys_of& u32s(const char* key, const std::vector<std::uint32_t>& values) {
    file_.u32s(prefix_ + key, values);
    return *this;
  }
  keys_of& flags(const char* key, const std::vector<bool>& values) {
    file_.flags(prefix_ + key, values);
    return *this;
  }
  keys_of& heads(std::uint32_t heads, std::uint32_t kv_heads) {
    return u32("attention.head_count", heads).u32("attention.head_count_kv", kv_heads);
  }
  keys_of& ssm(std::uint32_t inner, std::uint32_t state, std::uint32_t rank, std::uint32_t groups) {
    return u32("ssm.conv_kernel", 4)
        .u32("ssm.inner_size", inner)
        .u32("ssm.state_size", state)
        .u32("ssm.time_step_rank", rank)
        .u32("ssm.group_count", groups);
  }
  gguf_writer& file() { return file_; }
  [[nodiscard]] gguf_model model(const gguf_options& options = {}) const { return model_in(file_, options); }
  [[nodiscard]] std::string refused() const { return model_refusal(file_); }

 private:
  gguf_writer file_{};
  std::string prefix_;
};

struct kept_by {
  std::string pattern;
  std::uint64_t at_1 = 0;      ///< cache bytes of one token
  std::uint64_t at_10000 = 0;  ///< of one sequence of 10,000 tokens
};
void check(const keys_of& keys, const kept_by& expected) {
  const gguf_model read = keys.model();
  INFO(read.architecture.model_type);
  CHECK(pattern_of(read.architecture) == expected.pattern);
  CHECK(cache_bytes(read.architecture, 1) == expected.at_1);
  CHECK(cache_bytes(read.architecture, 10000) == expected.at_10000);
}

}  // namespace

TEST_CASE("Window patterns of GGUF architectures") {
  // 4 heads and 2 KV heads of 16: 2 x 2 x 16 x 2 = 128 bytes per token and layer.
  const auto stack = [](const char* name) { return std::move(keys_of(name).heads(4, 2)); };
  constexpr std::uint64_t full = 1'280'000;
  constexpr std::uint64_t window = 128 * 1000;
  check(stack("llama"), {"ffffffff", 1024, 8 * full});
  check(stack("gpt-oss").u32("attention.sliding_window", 1000), {"sfsfsfsf", 1024, 4 * full + 4 * window});
  check(stack("gemma2"), {"sfsfsfsf", 1024, 4 * full + 4 * 128 * 4096});
  check(stack("gemma3").u32("attention.sliding_window", 1000), {"sssssfss", 1024, full + 7 * window});
  check(stack("gemma3"), {"ffffffff", 1024, 8 * full});
  check(stack("gemma3n").u32("attention.sliding_window", 1000), {"ssssfsss", 1024, full + 7 * window});
  check(stack("cohere2").u32("attention.sliding_window", 1000), {"sssfsssf", 1024, 2 * full + 6 * window});
  check(stack("olmo2").u32("attention.sliding_window", 1000), {"sssfsssf", 1024, 2 * full + 6 * window});
  check(stack("olmo2"), {"ffffffff", 1024, 8 * full});
  check(stack("exaone-moe"), {"sssfsssf", 1024, 2 * full + 6 * 128 * 128});
  check(stack("exaone4").u32("attention.sliding_window", 1000), {"ffffffff", 1024, 8 * full});
  check(stack("plamo3").u32("attention.sliding_window", 1000), {"sssssssf", 1024, full + 7 * window});
  check(stack("smallthinker").u32("attention.sliding_window", 1000),
        {"fsssfsss", 1024, 2 * full + 6 * window});
  check(stack("cohere2moe").u32("attention.sliding_window", 1000), {"fsssfsss", 1024, 2 * full + 6 * window});
  check(stack("llama4"), {"cccfcccf", 1024, 2 * full + 6 * 128 * 8192});
  check(stack("llama4").u32("attention.sliding_window", 0), {"ffffffff", 1024, 8 * full});
  check(stack("phi3").u32("attention.sliding_window", 1000), {"ssssssss", 1024, 8 * window});
  check(stack("qwen2").u32("attention.sliding_window", 1000), {"ffffffff", 1024, 8 * full});
  check(stack("gpt-oss").u32("attention.sliding_window", 1000).u32("attention.sliding_window_pattern", 4),
        {"sssfsssf", 1024, 2 * full + 6 * window});
  check(stack("step35")
            .u32("attention.sliding_window", 1000)
            .flags("attention.sliding_window_pattern", {true, true, false, true, true, true, true, true}),
        {"ssfsssss", 1024, full + 7 * window});
  CHECK(has_note(stack("qwen2").u32("attention.sliding_window", 9).model().notes, "not looked at"));
  CHECK(has_note(stack("phi3").u32("attention.sliding_window", 9).model().notes,
                 "llama.cpp itself ignores it"));
  CHECK(has_note(stack("gemma2").model().notes, "assumed to be 4096"));
  CHECK(contains(stack("gpt-oss").refused(),
                 "test.gguf: gpt-oss.attention.sliding_window: the key is missing"));
  CHECK(contains(
      stack("mimo2").u32("attention.sliding_window", 9).refused(),
      "mimo2.attention.sliding_window_pattern: the key is missing, and mimo2 has no pattern of its own"));
  CHECK(contains(stack("mimo2")
                     .u32("attention.sliding_window", 9)
                     .flags("attention.sliding_window_pattern", {true, false})
                     .refused(),
                 "has 2 elements for 8 layers"));
}

TEST_CASE("Layers of their own heads, shared caches and draft blocks of GGUF models") {
  // Gemma 4: windowed layers of 2 x 16, full ones of 1 x 32; the last three read earlier caches.
  keys_of gemma4("gemma4", 8);
  gemma4.u32("attention.head_count", 4).u32s("attention.head_count_kv", {2, 2, 1, 2, 2, 1, 2, 2});
  gemma4.u32("attention.key_length", 32).u32("attention.value_length", 32);
  gemma4.u32("attention.key_length_swa", 16).u32("attention.value_length_swa", 16);
  gemma4.u32("attention.sliding_window", 1000).u32("attention.shared_kv_layers", 3);
  gemma4.flags("attention.sliding_window_pattern", {true, true, false, true, true, false, true, true});
  check(gemma4, {"ssfss===", 5 * 128, 1'280'000 + 4 * 128 * 1000});

  keys_of gemma3n("gemma3n", 22);
  gemma3n.heads(4, 2).u32("attention.sliding_window", 1000);
  CHECK(pattern_of(gemma3n.model().architecture) == "ssssfssssfssssfssssf==");

  keys_of deci("deci", 4);
  deci.u32s("attention.head_count", {4, 0, 4, 4}).u32s("attention.head_count_kv", {2, 0, 1, 4});
  check(deci, {"f-ff", 128 + 64 + 256, 10000 * (128 + 64 + 256)});

  keys_of draft("glm4moe", 4);
  draft.heads(4, 2).u32("nextn_predict_layers", 1);
  draft.file().tensor("blk.2.attn_norm.weight", f32, {64}).tensor("blk.3.attn_norm.weight", f32, {64});
  draft.file().tensor("blk.3.nextn.eh_proj.weight", f16, {128, 64});
  const gguf_model read = draft.model();
  CHECK(pattern_of(read.architecture) == "fff");
  CHECK(estimated_weights(read.architecture) == 256);
  CHECK(estimated_weights(read.architecture, true) == 512 + 2 * 128 * 64);
  CHECK(read.architecture.draft_layers == 1);
  CHECK(read.architecture.draft_store_count == 1);
  CHECK(read.architecture.draft_stores[0] == read.architecture.kinds[0].stores[0]);
  const gguf_inventory parts = inventory_of(read_text(draft.file().header()), 3);
  CHECK(parts.layers[2] == bytes{256});
  CHECK(parts.drafts == std::vector<bytes>{bytes{256 + 2 * 128 * 64}});

  // Where the layers keep different things, it is not known what a draft block keeps.
  keys_of uneven("glm4moe", 4);
  uneven.u32s("attention.head_count", {4, 4, 4}).u32s("attention.head_count_kv", {2, 1, 2});
  uneven.u32("nextn_predict_layers", 1);
  uneven.file().tensor("blk.3.nextn.eh_proj.weight", f16, {128, 64});
  CHECK(uneven.model().architecture.draft_layers == 1);
  CHECK(uneven.model().architecture.draft_store_count == 0);

  keys_of beyond("llama", 2);
  beyond.heads(4, 2).file().tensor("blk.2.attn_norm.weight", f32, {64});
  CHECK(contains(beyond.refused(), "tensor blk.2.attn_norm.weight: block 2, but there are only 2"));
}

TEST_CASE("Latents, index keys and compressed caches of GGUF models") {
  const auto latent = [](const char* name) {
    keys_of keys(name, 8);
    keys.heads(4, 1).u32("attention.kv_lora_rank", 48).u32("rope.dimension_count", 16);
    keys.u32("attention.key_length", 64).u32("attention.value_length", 48);
    keys.u32("attention.key_length_mla", 24).u32("attention.value_length_mla", 8);
    return keys;
  };
  check(latent("deepseek2"), {"llllllll", 8 * 128, 8 * 128 * 10000});
  check(latent("mistral4"), {"llllllll", 8 * 128, 8 * 128 * 10000});
  check(latent("deepseek32").u32("attention.indexer.key_length", 32), {"iiiiiiii", 8 * 192, 8 * 192 * 10000});
  check(latent("glm-dsa").u32("attention.indexer.key_length", 32), {"iiiiiiii", 8 * 192, 8 * 192 * 10000});
  check(latent("glm-dsa").u32("attention.indexer.key_length", 32).u32("context_length", 1 << 20),
        {"iiilllil", 8 * 128 + 4 * 64, 10000 * (8 * 128 + 4 * 64)});
  check(latent("glm-dsa")
            .u32("attention.indexer.key_length", 32)
            .flags("attention.indexer.types", {true, false, false, false, false, false, false, false}),
        {"illlllll", 8 * 128 + 64, 10000 * (8 * 128 + 64)});

  keys_of legacy("deepseek2", 2);
  legacy.heads(4, 4).u32("attention.kv_lora_rank", 48).u32("rope.dimension_count", 16);
  legacy.u32("attention.key_length", 24).u32("attention.value_length", 8);
  check(legacy, {"ff", 2 * 4 * 32 * 2, 2 * 4 * 32 * 2 * 10000});
  CHECK(has_note(legacy.model().notes, "key_length_mla is absent"));

  keys_of minimax("minimax-m3", 4);
  minimax.heads(4, 2).u32("attention.indexer.key_length", 32).u32("leading_dense_block_count", 3);
  check(minimax, {"fffF", 4 * 128 + 64, 10000 * (4 * 128 + 64)});

  // DeepSeek-V4: a window of 128, entries of 64 per 4 or 128 tokens, index keys of 32 beside the former.
  keys_of v4("deepseek4", 3);
  v4.heads(4, 1)
      .u32("attention.key_length", 64)
      .u32("attention.value_length", 64)
      .u32("rope.dimension_count", 16);
  v4.u32("attention.sliding_window", 128).u32s("attention.compress_ratios", {0, 4, 128, 0});
  v4.u32("attention.indexer.key_length", 32);
  const model_architecture compressed = v4.model().architecture;
  CHECK(pattern_of(compressed) == "zzz");
  const std::uint64_t states = 4 * (2 * 4 * 4 * (64 + 32) + 2 * 128 * 64);
  CHECK(cache_bytes(compressed, 10000) == 3 * 128 * 128 + 2500 * (128 + 64) + 78 * 128 + states);
  keys_of odd("deepseek4", 1);
  odd.heads(4, 1)
      .u32("attention.key_length", 64)
      .u32("attention.value_length", 64)
      .u32("rope.dimension_count", 16);
  odd.u32("attention.sliding_window", 128).u32s("attention.compress_ratios", {7});
  CHECK(contains(odd.refused(), "attention.compress_ratios: 7 is not supported, expected 0, 4 or 128"));
}

TEST_CASE("Recurrent and hybrid GGUF models") {
  // Inner 128, state 16: Mamba keeps 3 x 128 + 128 x 16 elements, with 2 groups 3 x (128 + 2 x 2 x 16).
  constexpr std::uint64_t mamba = 4 * (3 * 128 + 128 * 16);
  constexpr std::uint64_t mamba2 = 4 * (3 * 192 + 128 * 16);
  keys_of plain("mamba", 2);
  check(plain.ssm(128, 16, 8, 0), {"rr", 2 * mamba, 2 * mamba});
  keys_of second("mamba2", 2);
  check(second.u32("attention.head_count", 0).ssm(128, 16, 8, 2), {"rr", 2 * mamba2, 2 * mamba2});
  keys_of jamba("jamba", 3);
  jamba.u32("attention.head_count", 4).u32s("attention.head_count_kv", {0, 2, 0}).ssm(128, 16, 8, 0);
  check(jamba, {"rfr", 2 * mamba + 128, 2 * mamba + 1'280'000});
  for (const char* name : {"granitehybrid", "plamo2"}) {
    keys_of hybrid(name, 3);
    hybrid.u32("attention.head_count", 4).u32s("attention.head_count_kv", {0, 2, 0}).ssm(128, 16, 8, 2);
    check(hybrid, {"rfr", 2 * mamba2 + 128, 2 * mamba2 + 1'280'000});
  }
  keys_of nemotron("nemotron_h", 4);
  nemotron.u32("attention.head_count", 4).u32s("attention.head_count_kv", {0, 0, 2, 0});
  nemotron.u32s("feed_forward_length", {0, 128, 0, 0}).ssm(128, 16, 8, 2);
  check(nemotron, {"r-fr", 2 * mamba2 + 128, 2 * mamba2 + 1'280'000});
  keys_of falcon("falcon-h1", 2);
  check(falcon.heads(4, 2).ssm(128, 16, 8, 2), {"bb", 2 * (mamba2 + 128), 2 * (mamba2 + 1'280'000)});

  // A gated delta net of 8 value heads of 16 and 2 key heads of 16: 3 x (2 x 32 + 128) + 8 x 16 x 16.
  constexpr std::uint64_t delta = 4 * (3 * 192 + 8 * 16 * 16);
  for (const char* name : {"qwen3next", "qwen35", "qwen35moe"}) {
    keys_of next(name, 4);
    check(next.heads(4, 2).ssm(128, 16, 8, 2), {"rrrf", 3 * delta + 128, 3 * delta + 1'280'000});
  }
  keys_of interval("qwen35", 4);
  check(interval.heads(4, 2).ssm(128, 16, 8, 2).u32("full_attention_interval", 2),
        {"rfrf", 2 * (delta + 128), 2 * (delta + 1'280'000)});
  keys_of listed("qwen35", 4);
  check(listed.heads(4, 2).ssm(128, 16, 8, 2).flags("attention.recurrent_layers", {false, true, true, true}),
        {"frrr", 3 * delta + 128, 3 * delta + 1'280'000});

  keys_of kimi("kimi-linear", 4);
  kimi.u32("attention.head_count", 4).u32s("attention.head_count_kv", {0, 0, 0, 1}).u32("kda.head_dim", 16);
  kimi.u32("ssm.conv_kernel", 4).u32("attention.kv_lora_rank", 48).u32("rope.dimension_count", 16);
  kimi.u32("attention.key_length", 64).u32("attention.value_length", 48);
  kimi.u32("attention.key_length_mla", 24).u32("attention.value_length_mla", 8);
  constexpr std::uint64_t kda = 4 * (3 * 3 * 4 * 16 + 4 * 16 * 16);
  check(kimi, {"rrrl", 3 * kda + 128, 3 * kda + 1'280'000});

  keys_of minimax("minimax-01", 8);
  constexpr std::uint64_t lightning = 4 * 4 * 16 * 16;
  check(minimax.heads(4, 2), {"rrrrrrrf", 7 * lightning + 128, 7 * lightning + 1'280'000});

  keys_of lfm2("lfm2", 3);
  lfm2.u32("attention.head_count", 4).u32s("attention.head_count_kv", {0, 2, 0}).u32("shortconv.l_cache", 3);
  check(lfm2, {"rfr", 2 * 4 * 128 + 128, 2 * 4 * 128 + 1'280'000});

  keys_of rwkv("rwkv6", 2);
  check(rwkv.u32("wkv.head_size", 16), {"rr", 2 * 4 * (128 + 64 * 16), 2 * 4 * (128 + 64 * 16)});
  keys_of arwkv("arwkv7", 2);
  check(arwkv.u32("wkv.head_size", 16).u32("token_shift_count", 1),
        {"rr", 2 * 4 * (64 + 64 * 16), 2 * 4 * (64 + 64 * 16)});
  CHECK(
      contains(keys_of("rwkv7", 2).u32("wkv.head_size", 15).refused(), "wkv.head_size: 15 does not divide"));
  CHECK(contains(keys_of("mamba2", 2).ssm(128, 16, 7, 2).refused(),
                 "ssm.inner_size: 128 is not a multiple of"));
  CHECK(contains(keys_of("mamba", 2).refused(), "mamba.ssm.inner_size: the key is missing"));
}

TEST_CASE("GGUF models with an encoder") {
  for (const char* name : {"bert", "gemma-embedding", "llada", "t5encoder"}) {
    keys_of encoder(name, 3);
    check(encoder.heads(4, 4), {"---", 0, 0});
    CHECK_FALSE(encoder.model().architecture.tie_word_embeddings);
  }
  // A decoder of 2 layers that attends to 512 encoder tokens.
  keys_of t5("t5", 4);
  t5.heads(4, 4).u32("decoder_block_count", 2).u32("context_length", 512);
  t5.file()
      .tensor("dec.blk.1.attn_k.weight", f16, {64, 64})
      .tensor("enc.blk.3.ffn_up.weight", f16, {64, 128});
  check(t5, {"xx", 2 * 256 * 513, 2 * 256 * 10512});
  CHECK(has_note(t5.model().notes, "cross attention: the encoder's text is assumed"));
  CHECK(estimated_weights(t5.model().architecture) == 2 * 64 * 192);
}

TEST_CASE("Unknown and unusable GGUF architectures are refused by name") {
  keys_of unknown("brandnew", 2);
  unknown.heads(4, 2);
  CHECK(contains(unknown.refused(),
                 "test.gguf: general.architecture \"brandnew\" is not supported: describe the model "
                 "by hand (docs/model-schema.md), or have it read like"));
  const gguf_model assumed = unknown.model({.assume_like = "llama"});
  CHECK(pattern_of(assumed.architecture) == "ff");
  CHECK(has_note(assumed.notes, "\"brandnew\" is unknown: assumed to be like llama"));
  CHECK(contains(model_refusal(unknown.file(), {.assume_like = "nonsense"}),
                 "assume_like: \"nonsense\" is not supported"));
  CHECK(contains(keys_of("clip").refused(), "is a projector"));
  CHECK(contains(keys_of("eagle3").refused(), "is a draft head"));
  CHECK(contains(model_refusal(gguf_writer{}), "general.architecture: the key is missing"));
  gguf_writer adapter;
  CHECK(contains(model_refusal(adapter.text("general.architecture", "llama").text("general.type", "adapter")),
                 "general.type: is an adapter, not a model"));
}

TEST_CASE("GGUF keys that make no sense are refused by name") {
  const auto llama = [] { return keys_of("llama", 2); };
  CHECK(contains(model_refusal(gguf_writer{}.text("general.architecture", "llama")),
                 "llama.embedding_length: the key is missing"));
  CHECK(contains(llama().refused(), "llama.attention.head_count: the key is missing"));
  CHECK(contains(keys_of("llama", 0).heads(4, 2).refused(), "llama.block_count: must be at least 1, not 0"));
  CHECK(contains(keys_of("llama", 513).heads(4, 2).refused(),
                 "llama.block_count: must be at most 512, not 513"));
  CHECK(contains(llama().heads(3, 3).refused(), "embedding_length 64 is not a multiple of head_count 3"));
  CHECK(contains(llama().heads(4, 3).refused(), "test.gguf: 4 query heads cannot share 3 KV heads evenly"));
  CHECK(contains(llama().heads(4, 2).u32("nextn_predict_layers", 2).refused(), "2 of only 2 blocks"));
  CHECK(contains(llama().heads(4, 2).u32("attention.shared_kv_layers", 2).refused(), "2 of only 2 layers"));
  CHECK(contains(llama().heads(4, 2).u32("expert_count", 4).refused(),
                 "llama.expert_used_count: the key is missing"));
  gguf_writer text;
  CHECK(
      contains(model_refusal(text.text("general.architecture", "llama").text("llama.embedding_length", "64")),
               "llama.embedding_length: must be a whole number, not text"));
  gguf_writer negative;
  CHECK(contains(
      model_refusal(negative.text("general.architecture", "llama").i32("llama.embedding_length", -64)),
      "llama.embedding_length: must not be negative"));
  keys_of kv = llama();
  kv.heads(4, 2).file().tensor("blk.0.attn_k.weight", f16, {64, 64});
  CHECK(contains(kv.refused(), "tensor blk.0.attn_k.weight: has 64 rows, but the file's keys say 32"));
  keys_of fused = llama();
  fused.heads(4, 2).file().tensor("blk.0.attn_qkv.weight", f16, {64, 100});
  CHECK(contains(fused.refused(), "has 100 rows, but the file's keys say 128 (query, key and value heads)"));
  keys_of table = llama();
  table.heads(4, 2).file().tensor("token_embd.weight", f16, {32, 10});
  CHECK(contains(table.refused(), "rows of 32 elements, but llama.embedding_length is 64"));
}

// ---- weights ---------------------------------------------------------------------------------------------

TEST_CASE("GGUF weights are split over ranks by heads, experts and vocabulary") {
  const gguf_shape_of shape{.architecture = "gpt-oss",
                            .layers = 2,
                            .hidden = 256,
                            .heads = 8,
                            .kv_heads = 2,
                            .head_dim = 64,
                            .vocabulary = 1000,
                            .matrix = q8_0,
                            .table = q8_0,
                            .window = 128,
                            .experts = 8,
                            .used = 2,
                            .expert_ff = 256};
  const model_architecture model = model_in(gguf_of(shape)).architecture;
  CHECK(parameter_count(model, module_role::lm_head).value == 256'000);
  CHECK(parameter_count(model, module_role::router).value == 2 * 8 * 257);
  const std::uint64_t expert = 3 * 256 * 256 + 3 * 256;
  CHECK(parameter_count(model, module_role::expert).value == 2 * 8 * expert);
  CHECK(parameter_count(model).value - active_parameter_count(model).value == 2 * 6 * expert);
  const layer_kind& layer = model.kinds[0];
  CHECK(layer.num_experts == 8);
  CHECK(layer.num_experts_per_tok == 2);
  CHECK(layer.moe_intermediate_size == 256);
  CHECK(layer.gated_mlp);
  CHECK(layer.num_attention_heads == 8);

  deployment d{.model = model, .workload = {.sequences = 1, .context = tokens{1}}};
  const std::uint64_t whole = estimate(d)["weights"].value;
  d.parallel.tensor = 2;
  const std::uint64_t half = estimate(d)["weights"].value;
  CHECK(half > whole / 2);
  CHECK(half < whole / 2 + whole / 50);  // norms and routers are on every rank
  d.parallel.expert = 2;
  CHECK(estimate(d)["weights"].value == half);
}

TEST_CASE("Fused and single-expert tensors of GGUF files are counted like apart ones") {
  keys_of keys("llama", 1);
  keys.heads(4, 2).u32("expert_count", 2).u32("expert_used_count", 1);
  keys.file().tensor("blk.0.attn_qkv.weight", f16, {64, 128});
  for (const char* name : {"ffn_gate.0", "ffn_gate.1", "ffn_up.0", "ffn_up.1"}) {
    keys.file().tensor("blk.0." + std::string(name) + ".weight", f16, {64, 96});
  }
  for (const char* name : {"ffn_down.0", "ffn_down.1"}) {
    keys.file().tensor("blk.0." + std::string(name) + ".weight", f16, {96, 64});
  }
  const gguf_model read = keys.model();
  const layer_kind& layer = read.architecture.kinds[0];
  CHECK(layer.num_experts == 2);
  CHECK(parameter_count(read.architecture, module_role::expert).value == 6 * 64 * 96);
  CHECK(parameter_count(read.architecture, module_role::attention).value == 64 * 128);
  CHECK(estimated_weights(read.architecture) == 2 * (6 * 64 * 96 + 64 * 128));
}

TEST_CASE("Layers with many tensors, and many kinds of layers, still weigh the same") {
  keys_of many("deepseek4", 1);
  many.heads(4, 1)
      .u32("attention.key_length", 64)
      .u32("attention.value_length", 64)
      .u32("rope.dimension_count", 16);
  many.u32("attention.sliding_window", 128).u32s("attention.compress_ratios", {0});
  std::uint64_t elements = 0;
  for (std::uint32_t i = 1; i <= 40; ++i) {
    many.file().tensor("blk.0.hc_" + std::to_string(i) + ".weight", i % 2 == 0 ? f16 : f32, {32ULL * i});
    elements += 32ULL * i * (i % 2 == 0 ? 2 : 4);
  }
  CHECK(estimated_weights(many.model().architecture) == elements);

  // 50 layers, no two alike.
  keys_of mixed("llama", 50);
  mixed.heads(4, 2);
  for (std::uint32_t i = 0; i < 50; ++i) {
    mixed.file().tensor("blk." + std::to_string(i) + ".ffn_up.weight", i % 2 == 0 ? q8_0 : f16, {64, 64 + i});
    mixed.file().tensor("blk." + std::to_string(i) + ".ffn_norm.weight", f32, {64});
  }
  const gguf_file file = read_text(mixed.file().header());
  const gguf_model read = model_of_gguf(file);
  CHECK(has_note(read.notes, "differ in more than 40 ways"));
  CHECK(pattern_of(read.architecture) == std::string(50, 'f'));
  CHECK(estimated_weights(read.architecture) == weight_bytes_of(file).value);
  CHECK(parameter_count(read.architecture, module_role::norm).value == 50 * 64);
}

TEST_CASE("A projector adds vision and audio weights to a GGUF model") {
  gguf_writer projector;
  projector.text("general.architecture", "clip").flag("clip.has_vision_encoder", true);
  std::uint64_t vision = 0;
  for (std::uint32_t i = 0; i < 30; ++i) {
    projector.tensor("v.blk." + std::to_string(i) + ".attn_q.weight", f16, {64, 64 + i});
    vision += 2 * 64 * (64 + i);
  }
  projector.tensor("v.patch_embd.weight", f32, {14, 14, 3, 64}).tensor("mm.0.weight", f16, {64, 128});
  projector.tensor("a.conv1d.1.weight", f16, {3, 80, 64});
  vision += 4 * 14 * 14 * 3 * 64 + 2 * 64 * 128;
  gguf_model model = model_in(gguf_of({.architecture = "llama",
                                       .layers = 2,
                                       .hidden = 64,
                                       .heads = 4,
                                       .kv_heads = 2,
                                       .head_dim = 16,
                                       .ff = 128,
                                       .vocabulary = 100}));
  const std::uint64_t text = estimated_weights(model.architecture);
  const gguf_file file = read_text(projector.header());
  add_projector(model, file);
  deployment d{.model = model.architecture, .workload = {.sequences = 1, .context = tokens{1}}};
  CHECK(estimate(d)["weights.vision"].value == vision);
  CHECK(estimate(d)["weights.audio"].value == 2 * 3 * 80 * 64);
  CHECK(estimate(d)["weights"].value == text + weight_bytes_of(file).value);
  const gguf_inventory parts = inventory_of(file, 0);
  CHECK(parts.vision == bytes{vision});
  CHECK(parts.audio == bytes{2 * 3 * 80 * 64});
  CHECK(is_projector(file));
  CHECK_FALSE(is_projector(read_text(small_model().header())));
  CHECK(contains(message_of([&] { add_projector(model, read_text(small_model().header())); }),
                 "general.architecture \"llama\" is not a projector, expected \"clip\""));
}

TEST_CASE("The inventory of a GGUF file says where its bytes sit") {
  gguf_writer w;
  w.text("general.architecture", "gemma3n");
  w.tensor("token_embd.weight", f16, {64, 10}).tensor("per_layer_token_embd.weight", f16, {32, 10});
  w.tensor("per_layer_model_proj.weight", f16, {64, 32}).tensor("output_norm.weight", f32, {64});
  w.tensor("blk.0.attn_q.weight", f16, {64, 64}).tensor("blk.1.attn_q.weight", f16, {64, 32});
  w.tensor("altup_proj.weight", f16, {64, 64, 3}).tensor("rope_freqs.weight", f32, {8});
  const gguf_inventory parts = inventory_of(read_text(w.header()), 2);
  CHECK(parts.input == bytes{1280});
  CHECK(parts.per_layer_embedding == bytes{640 + 4096});
  CHECK(parts.output == bytes{256});
  CHECK(parts.layers == std::vector<bytes>{bytes{8192}, bytes{4096}});
  CHECK(parts.drafts.empty());
  CHECK(parts.other == bytes{2 * 64 * 64 * 3 + 32});
  CHECK(parts.total() == bytes{w.weight_bytes()});
}
