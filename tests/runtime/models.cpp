// The model files against the generated table, round trips, hostile files, and names as a command line uses
// them.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kvbudget/io/huggingface.hpp"
#include "kvbudget/io/model_json.hpp"
#include "kvbudget/io/model_lookup_text.hpp"
#include "kvbudget/model/builders.hpp"
#include "kvbudget/models.hpp"
#include "kvbudget/plan/estimate.hpp"
#include "support/catch.hpp"
#include "support/input.hpp"
#include "support/mutations.hpp"

namespace {

using namespace kvbudget;
using nlohmann::json;
using tests::contains;
using tests::message_of;
using tests::scratch;
namespace fs = std::filesystem;

const fs::path model_directory = fs::path(KVBUDGET_DATA_DIR) / "models";

std::vector<fs::path> model_files() {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(model_directory)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  return files;
}

TEST_CASE("every model file is the constexpr entry of its name, field by field") {
  std::set<std::string> seen;
  for (const fs::path& path : model_files()) {
    INFO(path.string());
    const model_file file = load_model_file(path);
    const std::string name = file.architecture.name;
    CHECK(path.stem() == name);
    const model_architecture* entry = models::find(name.c_str());
    REQUIRE(entry != nullptr);
    CHECK(*entry == file.architecture);
    CHECK(std::string(entry->name) == name);
    CHECK(std::string(entry->model_type) == file.architecture.model_type);
    CHECK_FALSE(file.sources.empty());
    for (const std::string& alias : file.aliases) CHECK(models::find(alias.c_str()) == entry);
    for (const std::string& repository : file.huggingface) {
      CHECK(models::find(repository.c_str()) == entry);
      CHECK(contains(repository, "/"));
    }
    seen.insert(name);
  }
  CHECK(seen.size() == sizeof(models::all) / sizeof(models::all[0]));
}

TEST_CASE("model files are laid out as the writer lays them out, and say their count") {
  for (const fs::path& path : model_files()) {
    INFO(path.string());
    const model_file file = load_model_file(path);
    const std::string text = detail::read_file(path, 1 << 20);
    CHECK(text == readable_text(to_json(file)));
    const json root = json::parse(text);
    CHECK(root.at("parameters") == parameter_count(file.architecture).value);
  }
}

// Schemes that have names, one that has none, a plain format that shares its name with a scheme, a ggml type;
// in an order that differs from that of their use.
constexpr weight_scheme group_of_32{
    "w4a16",
    formats::int4,
    {.scales = weight_scales::group, .group = 32, .scale_bytes = 2, .matrix_bytes = 16}};
constexpr weight_scheme odd{"odd",
                            formats::int3,
                            {.scales = weight_scales::flat,
                             .group = 64,
                             .scale_bytes = 2,
                             .scale_bytes_high = 4,
                             .zero_bits = 3,
                             .column_bytes = 4,
                             .matrix_bytes = 8,
                             .scales_per_super = 256,
                             .packed_rows = true}};
constexpr weight_scheme wide_block{
    "fp8_block",
    formats::fp8_e4m3,
    {.scales = weight_scales::block, .group = 128, .group_rows = 64, .scale_bytes = 4}};
void store_in_many_formats(model_architecture& model) {
  const weight_scheme used[] = {formats::q4_k,
                                schemes::mxfp4,
                                formats::mxfp4,
                                group_of_32,
                                schemes::int8_channel,
                                formats::fp8_e5m2,
                                schemes::fp8_channel,
                                odd,
                                wide_block};
  for (const weight_scheme& scheme : used) model.precision_of(scheme);
  for (std::size_t i = 0; i < model.weight_count; ++i)
    model.weights[i].precision = static_cast<std::uint8_t>((i + 3) % (model.precision_count + 1u));
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    for (std::size_t i = 0; i < model.kinds[kind].weight_count; ++i)
      model.kinds[kind].weights[i].precision = static_cast<std::uint8_t>((i + kind) % model.precision_count);
  }
}

// A layer of every store, an expert layer, and everything that is usually left at its default.
model_architecture peculiar() {
  model_architecture model;
  detail::assign_text(model.name, "peculiar");
  model.dtype = formats::fp8_e5m2;
  model.hidden_size = 64;
  model.parameters_assumed = true;
  layer_kind layer;
  layer.num_attention_heads = 4;
  layer.key_value_heads = 4;
  layer.query_dim = 24;
  layer.value_dim = 16;
  layer.num_experts = 8;
  layer.num_experts_per_tok = 2;
  layer.moe_intermediate_size = 32;
  layer.intermediate_size = 96;
  layer.gated_mlp = true;
  layer.add(weight_groups::expert_matrices(32, 64, 16, 32, shard_axis::rows));
  layer.add(weight_groups::expert_matrices(64, 32, 8, 32, shard_axis::columns));
  layer.add(weight_groups::whole(module_role::router, 8, 64));
  layer.add(
      {.rows = 7, .columns = 5, .copies = 3, .role = module_role::mixer, .kind = tensor_kind::convolution});
  const std::vector<std::vector<store>> kept = {
      {stores::latent(512, 64, 128)},
      {stores::latent(512, 0)},
      {stores::full(4, 192, 128), stores::mamba2(8, 64, 128, 1, 4)},
      {stores::chunked(stores::full(2, 128), 8192)},
      {stores::sliding_window(stores::full(2, 128), 1000), stores::cross_attention(4, 64, 1500)},
      {stores::compressed(512, 64, 128, 4, 128, true)},
      {stores::compressed(512, 64, 128, 0, 0, false)},
      {stores::shared()},
      {stores::mamba1(4096, 16, 4)},
      {stores::gated_delta_net(32, 128, 16, 128, 4)},
      {stores::kimi_delta(32, 128, 4)},
      {stores::linear_attention(64, 128)},
      {stores::short_convolution(2048, 3)},
      {stores::rwkv(2048, 64)},
      {}};
  for (const std::vector<store>& stores_of_layer : kept) {
    layer_kind kind = layer;
    for (const store& s : stores_of_layer) kind.add(s);
    model.add_layers(kind, 2);
  }
  model.add_layers(model.kinds[3]);
  model.add_layers(model.kinds[5]);
  model.add_layers(model.kinds[3]);
  model.add_layers(model.kinds[5]);
  model.add(weight_groups::vectors(module_role::draft, 64));
  weight_group draft_experts = weight_groups::expert_matrices(64, 32, 16, 64, shard_axis::columns);
  draft_experts.role = module_role::draft;
  draft_experts.units = 32;
  model.add(draft_experts);
  model.add({.rows = 1'000'000'007, .role = module_role::unattributed, .rule = shard_rule::spread});
  return model;
}

TEST_CASE("a model survives being written and read") {
  const model_architecture model = peculiar();
  const std::string text = readable_text(to_json(model));
  INFO(text);
  const model_architecture back = parse_model(json::parse(text), "peculiar.json");
  CHECK(back == model);
  CHECK(back.dtype == formats::fp8_e5m2);
  CHECK(parameter_count(back) == parameter_count(model));

  using small = decoder<hidden<64>, vocabulary<100, true>,
                        repeat<3, repeat<2, block<sliding_window<mha<4, 16>, 8>, plain_mlp<128, true>>>,
                               block<mha<4, 16>, gated_mlp<128>>>>;
  model_architecture built = small::architecture;
  detail::assign_text(built.name, "built");
  CHECK(parse_model(json::parse(readable_text(to_json(built))), "built.json") == built);
  CHECK(to_json(built).at("order").dump() == R"([{"repeat":3,"kinds":[0,0,1]}])");

  model_file file;
  file.architecture = built;
  file.huggingface = {"acme/built"};
  file.aliases = {"b"};
  file.sources = {"the test"};
  file.notes = {"one", "two"};
  const scratch directory;
  const fs::path path = directory.write("built.json", readable_text(to_json(file)));
  const model_file loaded = load_model_file(path);
  CHECK(loaded.architecture == built);
  CHECK(loaded.huggingface == file.huggingface);
  CHECK(loaded.aliases == file.aliases);
  CHECK(loaded.sources == file.sources);
  CHECK(loaded.notes == file.notes);
  CHECK(load_model(path) == built);

  model_architecture drafting = built;
  drafting.draft_layers = 3;
  drafting.add_draft_store(stores::latent(512, 64, 128));
  drafting.add_draft_store(stores::sliding_window(stores::full(2, 16), 8));
  const std::string with_drafts = readable_text(to_json(drafting));
  CHECK(parse_model(json::parse(with_drafts), "drafting.json") == drafting);
  json wrong = json::parse(with_drafts);
  wrong.erase("draft_layers");
  CHECK(contains(message_of([&] { (void)parse_model(wrong, "x"); }),
                 "draft_stores: does not go without draft_layers"));
  wrong["draft_layers"] = 513;
  CHECK(contains(message_of([&] { (void)parse_model(wrong, "x"); }), "draft_layers: must be at most 512"));
  wrong["draft_layers"] = 1;
  wrong["draft_stores"] = json::array();
  CHECK(contains(message_of([&] { (void)parse_model(wrong, "x"); }), "draft_stores: must not be empty"));
  wrong["draft_stores"] =
      json::array({json{{"kind", "full"}, {"kv_heads", 0}, {"key_dim", 8}, {"value_dim", 8}}});
  CHECK(contains(message_of([&] { (void)parse_model(wrong, "x"); }),
                 "draft_stores[0].kv_heads: must be at least 1"));

  // What the Hugging Face reader makes can be written, too.
  const model_architecture read =
      parse_huggingface_config_text(R"({"model_type": "gemma3_text", "hidden_size": 64,
    "intermediate_size": 128, "num_hidden_layers": 13})",
                                    "config.json");
  CHECK(parse_model(json::parse(readable_text(to_json(read))), "x") == read);
}

std::vector<std::string> precision_names_in(const json& file) {
  std::vector<std::string> names;
  for (const json& entry : file.at("precisions"))
    names.push_back(entry.is_object() ? entry.at("name").get<std::string>() : entry.get<std::string>());
  return names;
}

TEST_CASE("what weights are stored in survives being written and read") {
  model_architecture model = peculiar();
  store_in_many_formats(model);
  const std::string text = readable_text(to_json(model));
  INFO(text);
  const json file = json::parse(text);
  const model_architecture back = parse_model(file, "mixed.json");
  CHECK(back == model);
  CHECK(back.precision_count == 9);
  for (std::size_t i : {0u, 1u, 4u, 5u, 6u})
    CHECK(std::string(back.precisions[i].name) == model.precisions[i].name);
  const std::string again = readable_text(to_json(back));  // the names of files' own schemes are not kept
  CHECK(readable_text(to_json(parse_model(json::parse(again), "again.json"))) == again);
  CHECK(precision_names_in(file) == std::vector<std::string>{"q4_K", "mxfp4", "mxfp4-2", "int4-group-32",
                                                             "int8_channel", "fp8_e5m2", "fp8_channel", "odd",
                                                             "fp8_e4m3-block-64x128"});
  CHECK(estimate(deployment{.model = back, .dtype = formats::bf16}).weights() ==
        estimate(deployment{.model = model, .dtype = formats::bf16}).weights());

  // Known names in the order of their use need no list.
  model = model_architecture{};
  detail::assign_text(model.name, "in-order");
  model.hidden_size = 64;
  layer_kind layer;
  layer.add(weight_groups::whole(module_role::mlp, 64, 64).in(model.precision_of(schemes::nvfp4)));
  layer.add(weight_groups::whole(module_role::mlp, 64, 64).in(model.precision_of(formats::q8_0)));
  layer.add(weight_groups::whole(module_role::mlp, 64, 64).in(1));
  model.add_layers(layer, 3);
  model.add(weight_groups::whole(module_role::lm_head, 64, 64).in(model.precision_of(formats::q6_k)));
  CHECK_FALSE(to_json(model).contains("precisions"));
  CHECK(parse_model(json::parse(readable_text(to_json(model))), "x") == model);
  model.precision_of(formats::q5_k);  // used by nothing, kept all the same
  CHECK(to_json(model).at("precisions").size() == 4);
  CHECK(parse_model(json::parse(readable_text(to_json(model))), "x") == model);
}

TEST_CASE("every model of the catalogue survives being written, also in many formats") {
  for (const model_architecture* entry : models::all) {
    INFO(entry->name);
    CHECK(parse_model(json::parse(readable_text(to_json(*entry))), "x") == *entry);
    model_architecture mixed = *entry;
    store_in_many_formats(mixed);
    CHECK(parse_model(json::parse(readable_text(to_json(mixed))), "x") == mixed);
  }
}

#ifdef KVBUDGET_SHARED_DIR
TEST_CASE("what the Hugging Face reader makes of reference configs survives being written") {
  int written = 0;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(KVBUDGET_SHARED_DIR) / "models/configs")) {
    INFO(entry.path().string());
    model_architecture read;
    try {
      read = load_huggingface_config(entry.path());
    } catch (const error&) {
      continue;
    }
    if (read.name[0] == '\0') detail::assign_text(read.name, "unnamed");
    CHECK(parse_model(json::parse(readable_text(to_json(read))), "x") == read);
    ++written;
  }
  CHECK(written > 20);
}
#endif

#ifdef KVBUDGET_SHARED_DIR
/// What a checkpoint of a model of the catalogue is said to hold, from tests/cases/model_counts.inc.
struct listed_count {
  const model_architecture* model;
  std::uint64_t elements;
};
const listed_count listed_counts[] = {
#define PUBLISHED(model, elements, beyond) {&models::model, elements},
#define SHAPE(model, elements) {&models::model, elements},
#include "cases/model_counts.inc"
#undef PUBLISHED
#undef SHAPE
};

/// The lines of a reference file that name a model of the catalogue, with that model.
std::vector<std::pair<json, const model_architecture*>> reference_lines(const char* file, const char* key) {
  std::vector<std::pair<json, const model_architecture*>> found;
  std::ifstream lines(fs::path(KVBUDGET_SHARED_DIR) / "models" / file);
  for (std::string line; std::getline(lines, line);) {
    json entry = json::parse(line);
    std::string name = entry.at(key).get<std::string>();
    if (const std::size_t dashes = name.find("--"); dashes != std::string::npos) name.replace(dashes, 2, "/");
    if (const model_architecture* model = models::find(name.c_str()))
      found.emplace_back(std::move(entry), model);
  }
  return found;
}
#endif

TEST_CASE("models of the catalogue have the counts and the caches that references give") {
#ifndef KVBUDGET_SHARED_DIR
  WARN("skipped: no reference material beside the source");
#else
  const auto published = reference_lines("params.jsonl", "model");
  const auto geometry = reference_lines("expected-geometry.jsonl", "config");
  if (published.empty() || geometry.empty()) {
    WARN("skipped: no reference material beside the source");
    return;
  }
  // Instruct and Thinking hold a draft layer that the model of the catalogue, Qwen3-Coder-Next, has not; the
  // reference doubts its own count of Nemo.
  const std::set<std::string> otherwise = {"Qwen/Qwen3-Next-80B-A3B-Instruct",
                                           "mistralai/Mistral-Nemo-Instruct-2407"};
  int counts = 0;
  for (const auto& [entry, model] : published) {
    const std::string name = entry.at("model").get<std::string>();
    INFO(name);
    if (!entry.contains("published_total") || otherwise.contains(name)) continue;
    const std::uint64_t elements = entry.at("published_total").get<std::uint64_t>();
    bool listed = elements == parameter_count(*model).value;
    for (const listed_count& count : listed_counts) {
      listed = listed || (count.model == model && count.elements == elements);
    }
    CHECK(listed);
    ++counts;
  }
  CHECK(counts > 170);

  const auto cache = [](const model_architecture& model, std::uint64_t context, std::uint64_t sequences) {
    const deployment d{.model = model,
                       .kv_cache = formats::bf16,
                       .workload = {.sequences = sequences, .context = tokens{context}}};
    return kv_cache_of(d, share_of(d, rank{}));
  };
  int caches = 0;
  for (const auto& [expected, model] : geometry) {
    INFO(model->name);
    if (expected.contains("unsupported") || model->model_type == std::string("whisper")) continue;
    CHECK(cache(*model, 1, 1).payload == 2 * expected.at("elements_1x1").get<std::uint64_t>());
    CHECK(cache(*model, 5000, 3).payload == 2 * expected.at("elements_5000x3").get<std::uint64_t>());
    const kv_cache_bytes longest = cache(*model, 131072, 1);
    CHECK(longest.payload == 2 * expected.at("elements_131072x1").get<std::uint64_t>());
    CHECK(longest.indexer == 2 * expected.at("indexer_elements_131072x1").get<std::uint64_t>());
    ++caches;
  }
  CHECK(caches > 120);
#endif
}

TEST_CASE("the example in the documentation is a model") {
  const std::string text =
      detail::read_file(fs::path(KVBUDGET_DATA_DIR) / ".." / "docs" / "model-schema.md", 1 << 20);
  const std::string fence = "```json\n{";
  const std::size_t begin = text.find(fence) + fence.size() - 1;
  const std::string example = text.substr(begin, text.find("```", begin) - begin);
  const model_architecture model = parse_model(json::parse(example), "model-schema.md");
  CHECK(std::string(model.name) == "my-7b");
  CHECK(parameter_count(model) == parameters{7'000'000'000});
  CHECK(readable_text(to_json(model)).size() > 100);
}

// ---- bad input --------------------------------------------------------------------------------------------

const json good = json::parse(R"({
  "schema": 1, "name": "tiny", "hidden_size": 64, "vocab_size": 100, "parameters": 24384,
  "layers": [
    {"num_attention_heads": 4,
     "stores": [{"kind": "sliding_window", "kv_heads": 2, "key_dim": 16, "value_dim": 16, "window": 32}],
     "weights": [{"module": "mlp", "rows": 128, "columns": 64, "shard": "tensor", "units": 128}]},
    {"num_attention_heads": 4,
     "stores": [{"kind": "full", "kv_heads": 2, "key_dim": 16, "value_dim": 16}], "weights": []}
  ],
  "order": [{"repeat": 1, "kinds": [0, 1]}, {"repeat": 1, "kinds": [0]}],
  "weights": [{"module": "embedding", "tensor": "table", "rows": 125, "columns": 64, "shard": "vocabulary"}]
})");

/// The message for the good file with the value at `pointer` replaced.
std::string refusal(const std::string& pointer, const json& value) {
  json changed = good;
  changed[json::json_pointer(pointer)] = value;
  return message_of([&] { (void)parse_model_file(changed, "tiny.json"); });
}
std::string refusal_without(const std::string& pointer, const std::string& key) {
  json changed = good;
  changed[json::json_pointer(pointer)].erase(key);
  return message_of([&] { (void)parse_model_file(changed, "tiny.json"); });
}

TEST_CASE("what is wrong in a model file is named") {
  REQUIRE(parameter_count(parse_model(good, "tiny.json")) == parameters{2 * 128 * 64 + 125 * 64});
  CHECK(parse_model(good, "tiny.json").num_hidden_layers == 3);

  for (const char* key : {"schema", "name", "hidden_size", "layers", "order", "weights"}) {
    INFO(key);
    CHECK(contains(refusal_without("", key), "tiny.json: key \"" + std::string(key) + "\" is missing"));
  }
  CHECK(refusal_without("", "parameters") == "nothing was refused");
  CHECK(refusal_without("", "vocab_size") == "nothing was refused");
  CHECK(contains(refusal("/schema", 2), "tiny.json: schema: must be 1"));
  CHECK(contains(refusal("/hiden_size", 2), "unknown key \"hiden_size\""));
  CHECK(contains(refusal("/name", std::string(64, 'x')), "name: has 64 characters, at most 63 are kept"));
  CHECK(contains(refusal("/name", ""), "name: must not be empty"));
  CHECK(contains(refusal("/dtype", "bf17"), "dtype: number format \"bf17\" is unknown"));
  CHECK(contains(refusal("/hidden_size", 0), "hidden_size: must be at least 1"));
  CHECK(contains(refusal("/hidden_size", -64), "hidden_size: must not be negative"));
  CHECK(contains(refusal("/hidden_size", 1.5), "hidden_size: must be a whole number, not a fractional one"));
  CHECK(contains(refusal("/hidden_size", 1ULL << 32), "hidden_size: must be below 2^32, not 4294967296"));
  CHECK(contains(refusal("/hidden_size", "64"), "hidden_size: must be a whole number, not text"));
  CHECK(contains(refusal("/parameters", 24385), "parameters: is 24385, but the weights have 24384 elements"));
  CHECK(contains(refusal("/tie_word_embeddings", 1), "tie_word_embeddings: must be true or false"));
  CHECK(contains(refusal("/aliases", "tiny"), "aliases: must be an array, not text"));
  CHECK(contains(refusal("/sources", json::array({"a", 1})), "sources[1]: must be text, not a number"));
  CHECK(contains(refusal("/notes", json::array({""})), "notes[0]: must not be empty"));

  CHECK(contains(refusal("/layers", json::array()), "layers: must have at least one kind of layer"));
  CHECK(contains(refusal("/layers", json::array_t(max_layer_kinds + 1, good["layers"][0])),
                 "layers: has more than 40 kinds"));
  CHECK(contains(refusal("/layers/1", good["layers"][0]), "layers[1]: is the same as layers[0]"));
  CHECK(contains(refusal("/layers/0/heads", 4), "layers[0]: unknown key \"heads\""));
  CHECK(contains(refusal_without("/layers/0", "stores"), "layers[0]: key \"stores\" is missing"));
  CHECK(contains(refusal("/layers/0/stores", json::array_t(5, good["layers"][0]["stores"][0])),
                 "layers[0].stores: has more than 4 stores"));
  CHECK(contains(refusal("/layers/0/weights", json::array_t(25, good["layers"][0]["weights"][0])),
                 "layers[0].weights: has more than 24 groups"));
  CHECK(contains(refusal("/layers/0/num_attention_heads", 3),
                 "tiny.json: layers[0]: 3 query heads cannot share 2 KV heads evenly"));

  const std::string store = "/layers/0/stores/0";
  CHECK(contains(refusal(store + "/kind", "half"),
                 "layers[0].stores[0].kind: \"half\" is unknown, expected full, sliding_window, chunked"));
  CHECK(contains(refusal(store + "/kind", "recurrent"), "layers[0].stores[0]: key \"state\" is missing"));
  CHECK(contains(refusal(store, {{"kind", "recurrent"}, {"state", "liquid"}}),
                 "state: \"liquid\" is unknown, expected mamba1, mamba2"));
  CHECK(contains(refusal(store + "/kind", "full"), "layers[0].stores[0]: a full store has no \"window\""));
  CHECK(contains(refusal(store + "/state", "mamba1"), "a sliding_window store has no \"state\""));
  CHECK(contains(refusal(store + "/overlapping", true), "a sliding_window store has no \"overlapping\""));
  CHECK(contains(refusal_without(store, "window"), "layers[0].stores[0]: key \"window\" is missing"));
  CHECK(contains(refusal(store + "/window", 0), "layers[0].stores[0].window: must be above zero"));
  CHECK(contains(refusal(store + "/kv_heads", 0), "kv_heads: must be at least 1"));

  const std::string group = "/layers/0/weights/0";
  CHECK(contains(refusal_without(group, "rows"), "layers[0].weights[0]: key \"rows\" is missing"));
  CHECK(contains(refusal_without(group, "module"), "layers[0].weights[0]: key \"module\" is missing"));
  CHECK(contains(refusal(group + "/module", "mpl"),
                 "layers[0].weights[0].module: \"mpl\" is unknown, expected embedding, attention"));
  CHECK(contains(refusal(group + "/shard", 1), "layers[0].weights[0].shard: must be text"));
  CHECK(
      contains(refusal(group + "/units", 127), "layers[0].weights[0]: 127 units do not divide the 128 rows"));
  CHECK(contains(refusal(group + "/axis", "columns"), "128 units do not divide the 64 columns"));
  CHECK(contains(refusal(group + "/shard", "experts"), "copies must be a multiple of num_experts"));
  CHECK(contains(refusal("/weights/0/shard", "experts"), "weights[0]: experts belong to a layer"));
  CHECK(contains(refusal("/weights", json::array_t(49, good["weights"][0])),
                 "weights: has more than 48 groups"));
  json draft = good["weights"][0];
  draft["module"] = "draft";
  draft["shard"] = "experts";
  CHECK(contains(refusal("/weights/0", draft), "weights[0]: experts belong to a layer"));
  CHECK(contains(refusal(group + "/precision", "fp9"),
                 "layers[0].weights[0].precision: \"fp9\" is unknown, expected the name of a number format"));
  CHECK(contains(refusal(group + "/precision", "auto"), "\"auto\" is unknown"));
  CHECK(contains(refusal(group + "/precision", 4), "layers[0].weights[0].precision: must be text"));

  const auto refused_precision = [](const char* entry) {
    return refusal("/precisions", json::array({"q4_K", json::parse(entry)}));
  };
  CHECK(refusal("/precisions", json::array({"q4_K", "mxfp4"})) == "nothing was refused");
  CHECK(contains(refusal("/precisions", "mxfp4"), "precisions: must be an array"));
  CHECK(contains(refused_precision(R"("q4_K")"), "precisions[1]: is listed twice"));
  CHECK(contains(refused_precision(R"("w4")"), "precisions[1]: \"w4\" is unknown"));
  CHECK(contains(refused_precision("7"), "precisions[1]: must be text"));
  CHECK(contains(refused_precision("{}"), "precisions[1]: key \"name\" is missing"));
  CHECK(contains(refused_precision(R"({"name": "x"})"), "precisions[1]: key \"payload\" is missing"));
  CHECK(contains(refused_precision(R"({"name": "awq", "payload": "int4"})"),
                 "precisions[1].name: must be a name of its own"));
  CHECK(contains(refused_precision(R"({"name": "", "payload": "int4"})"),
                 "precisions[1].name: must be a name"));
  CHECK(contains(refused_precision(R"({"name": "x", "payload": "int5"})"),
                 "precisions[1].payload: number format \"int5\" is unknown"));
  CHECK(contains(refused_precision(R"({"name": "x", "payload": "auto"})"), "must name a format, not auto"));
  CHECK(contains(refused_precision(R"({"name": "x", "payload": "int4", "group": 64})"),
                 "precisions[1]: unknown key \"group\""));
  CHECK(contains(refused_precision(R"({"name": "x", "payload": "int4", "scales": "row"})"),
                 "precisions[1].scales: \"row\" is unknown, expected none, tensor"));
  CHECK(
      contains(refused_precision(R"({"name": "x", "payload": "int4", "scales": "group", "scale_bytes": 2})"),
               "precisions[1]: key \"group\" is missing"));
  CHECK(contains(refused_precision(R"({"name": "x", "payload": "int4", "scales": "group", "group": 0})"),
                 "precisions[1].group: must be at least 1"));
  CHECK(contains(refused_precision(R"({"name": "x", "payload": "int4", "scales": "tensor", "group": 64})"),
                 "precisions[1].group: does not go with scales per tensor"));
  CHECK(contains(refused_precision(
                     R"({"name": "x", "payload": "int4", "scales": "group", "group": 64, "group_rows": 64})"),
                 "precisions[1].group_rows: does not go with scales per group"));
  CHECK(
      contains(refused_precision(R"({"name": "x", "payload": "int4", "scales": "channel", "zero_bits": 4})"),
               "precisions[1].zero_bits: does not go with scales per channel"));
  CHECK(contains(
      refused_precision(R"({"name": "x", "payload": "int4", "scales": "channel", "scale_bytes": 256})"),
      "precisions[1].scale_bytes: must be at most 255"));
  CHECK(contains(
      refused_precision(
          R"({"name": "x", "payload": "int4", "scales": "tensor", "scale_bytes": 4, "scale_bytes_high": 2})"),
      "precisions[1].scale_bytes_high: is below scale_bytes"));
  json many = json::array();
  for (const char* name :
       {"fp32", "fp16", "bf16", "int8", "int4", "int3", "int2", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0"})
    many.push_back(name);
  CHECK(refusal("/precisions", many) == "nothing was refused");
  many.push_back("q8_1");
  CHECK(contains(refusal("/precisions", many), "tiny.json: precisions[12]: more than 12 precisions"));
  json huge = {{"module", "mlp"}, {"rows", INT64_MAX}, {"columns", 4'000'000'000}};
  CHECK(contains(refusal("/weights/0", huge), "tiny.json: multiplication overflows 64 bits"));

  CHECK(contains(refusal("/order", json::array()), "order: uses 0 of the 2 kinds"));
  CHECK(contains(refusal("/order/0/repeat", 0), "order[0].repeat: must be at least 1"));
  CHECK(contains(refusal("/order/0/repeat", 257), "order[0]: makes more than 512 layers"));
  CHECK(contains(refusal("/order/0/repeat", UINT32_MAX), "order[0]: makes more than 512 layers"));
  CHECK(contains(refusal("/order/0/kinds", json::array()), "order[0].kinds: must name at least one kind"));
  CHECK(contains(refusal("/order/0/kinds", json::array({1, 0})),
                 "order[0].kinds[0]: must be below 2, and kinds must be numbered as they first occur"));
  CHECK(contains(refusal("/order/1/kinds/0", 2), "order[1].kinds[0]: must be below 2"));
  CHECK(contains(refusal("/order/0/kinds", json::array({0})), "order: uses 1 of the 2 kinds"));

  CHECK(contains(message_of([] { (void)parse_model(json(3), "n.json"); }), "n.json: must be an object"));
  const scratch directory;
  CHECK(contains(message_of([&] { (void)load_model(directory.path()); }), "is a directory"));
  CHECK(contains(message_of([&] { (void)load_model(directory.write("d.json", std::string(20, '['))); }),
                 "nests deeper than 8 levels"));
}

TEST_CASE("mutated model files give a model or an error, nothing else") {
  model_architecture model_of_everything = peculiar();
  store_in_many_formats(model_of_everything);
  const std::string text = readable_text(to_json(model_of_everything));
  const json tree = json::parse(text);
  tests::numbers random(7);
  int models_read = 0;
  int refused = 0;
  const auto attempt = [&](const std::string& mutated) {
    try {
      const json_document document = parse_json(mutated, "mutated", model_file_limits);
      const model_architecture model = parse_model(document.root, document.source);
      REQUIRE(model.num_hidden_layers > 0);
      ++models_read;
    } catch (const error& reason) {
      REQUIRE(contains(reason.what(), "mutated"));
      REQUIRE_FALSE(contains(reason.what(), "\n"));
      ++refused;
    }
  };
  for (int i = 0; i < 150; ++i) attempt(tests::mutated_bytes(text, random));
  for (int i = 0; i < 300; ++i) attempt(tests::mutated_values(tree, random).dump());
  for (int i = 0; i < 2000; ++i) attempt(tests::mutated_values(good, random).dump());
  CHECK(models_read > 30);
  CHECK(refused > 1000);
}

// ---- names ------------------------------------------------------------------------------------------------

TEST_CASE("an unknown model name is explained") {
  CHECK(&model_named_or_explain("Qwen/Qwen3-8B") == &models::qwen3_8b);
  const auto message = [](const std::string& name) {
    return message_of([&] { (void)model_named_or_explain(name); });
  };
  CHECK(
      contains(message("llama-3.1-700b"), "model \"llama-3.1-700b\" is unknown, did you mean llama-3.1-70b"));
  CHECK(contains(message("gemma 27b"), "did you mean gemma-2-27b or gemma-3-27b?"));
  CHECK(message("zzzzzzzzz") == "model \"zzzzzzzzz\" is unknown");
  CHECK(contains(message("someone/Llama-3.1-70B"), "is unknown, did you mean llama-3.1-70b?"));
  CHECK(config_address("org/Name-1.5_b") == "https://huggingface.co/org/Name-1.5_b/resolve/main/config.json");
  for (const char* name : {"", "/", "name", "/name", "org/", "a/b/c", "a b/c", "a/b?c", "a/b\nc"}) {
    INFO(name);
    CHECK(config_address(name).empty());
  }
  CHECK(config_address("a/" + std::string(1000, 'b')).empty());
  CHECK(message("") == "model \"\" is unknown");
  CHECK(message(std::string(1000, 'a')).size() < 200);
  CHECK_FALSE(contains(message("a\nb"), "\n"));
}

}  // namespace
