// What local engines printed about their caches (tests/corpus/local-engines.json, and the reference material
// where it is there), against the library: to the printed digit.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/input.hpp"
#include "support/local_engines.hpp"

#ifdef KVBUDGET_SHARED_DIR
#include <nlohmann/json.hpp>
#endif

namespace {

using namespace kvbudget;
using tests::contains;
using tests::message_of;
using tests::scratch;
using tests::corpus::printed_bytes;
using tests::local_engines::agrees;
using tests::local_engines::figures;
using tests::local_engines::figures_of;
using tests::local_engines::printed_run;

const std::filesystem::path corpus_file =
    std::filesystem::path(KVBUDGET_DATA_DIR).parent_path() / "tests" / "corpus" / "local-engines.json";

/// Checks every figure of a run; gives how many there are.
std::size_t check(const printed_run& run) {
  INFO(run.id);
  const figures found = figures_of(run);
  for (const auto& [name, printed] : run.sizes) {
    INFO(name << ": printed " << printed.bytes << " B");
    const auto ours = found.find(name);
    REQUIRE(ours != found.end());
    INFO("found " << ours->second << " B");
    CHECK(agrees(ours->second, printed));
  }
  for (const auto& [name, printed] : run.counts) {
    INFO(name);
    const auto ours = found.find(name);
    REQUIRE(ours != found.end());
    CHECK(ours->second == printed);
  }
  return run.sizes.size() + run.counts.size();
}

std::string message_with(const std::string& part, const std::string& by) {
  std::string text =
      R"([{"id": "one", "engine": "llama.cpp", "source": "somebody/something#1", "model": "llama-3.1-8b",
    "settings": {"n_ctx": 4096, "type_k": "q8_0"}, "figures": {"full": {"size": "24.00 MiB"}}}])";
  text.replace(text.find(part), part.size(), by);
  const scratch directory;
  const auto file = directory.write("one.json", text);
  return message_of([&] { (void)tests::local_engines::load(file); });
}

}  // namespace

TEST_CASE("local engines' printed caches are the library's, to the printed digit", "[corpus]") {
  std::size_t figures_checked = 0;
  std::set<std::string> ids;
  for (const printed_run& run : tests::local_engines::load(corpus_file)) {
    CHECK(ids.insert(run.id).second);
    CHECK_FALSE(run.source.empty());
    figures_checked += check(run);
  }
  CHECK(ids.size() >= 20);
  CHECK(figures_checked >= 50);
}

TEST_CASE("a file of local engines' figures is refused where it does not fit the schema", "[corpus]") {
  CHECK(contains(message_with("llama.cpp", "llama"), "engine: must be llama.cpp"));
  CHECK(contains(message_with("q8_0", "q8"), "type_k: is no cache type of this engine"));
  CHECK(contains(message_with("n_ctx", "context"), "is no setting of this engine"));
  CHECK(contains(message_with("24.00 MiB", "24.00 MB"), "must end in B, MiB or GiB"));
  CHECK(contains(message_with("24.00 MiB", "x MiB"), "must be a number"));
  CHECK(contains(message_with("somebody/something#1", "a log"), "source: must be owner/repository"));
}

#ifdef KVBUDGET_SHARED_DIR
namespace {

using nlohmann::json;

template <class Number> Number number_in(const json& from, const char* name, Number otherwise) {
  const auto found = from.find(name);
  return found == from.end() || !found->is_number() ? otherwise : found->get<Number>();
}
std::uint32_t width_in(const json& from, const char* name) { return number_in<std::uint32_t>(from, name, 0); }

/// Digits that JSON dropped: engines print two behind the point.
printed_bytes in_mib(const json& figure) {
  return {std::llround(figure.get<double>() * 1024 * 1024), 5243, false};
}

/// One layer of attention with keys and values of so many elements in heads of `head`.
layer_kind attention(std::uint32_t key_width, std::uint32_t value_width, std::uint32_t head,
                     std::uint64_t window) {
  layer_kind layer;
  const std::uint32_t heads = key_width / head;
  store kept = stores::full(heads, head, value_width / heads);
  if (window != 0) kept = stores::sliding_window(kept, window);
  layer.num_attention_heads = heads;
  layer.add(kept);
  return layer;
}

/// The model by the hyper-parameters that the log printed.
model_architecture model_of(const json& row, bool is_ik) {
  const json& h = row.at("hparams");
  model_architecture model;
  const std::uint32_t layers = width_in(h, "n_layer");
  const std::uint32_t rank = width_in(h, "n_lora_kv"), head = width_in(h, "n_embd_head_k");
  if (rank != 0 && (is_ik || h.contains("n_embd_head_k_mla"))) {
    layer_kind layer;
    layer.num_attention_heads = layer.key_value_heads = number_in<std::uint32_t>(h, "n_head", 1);
    layer.query_dim = head;
    layer.value_dim = width_in(h, "n_embd_head_v");
    layer_kind indexed = layer;
    layer.add(stores::latent(rank, width_in(h, "n_rot")));
    indexed.add(stores::latent(rank, width_in(h, "n_rot"), width_in(h, "indexer_head_k")));
    const std::uint32_t with_index = width_in(h, "indexer_layers");
    if (with_index != 0) model.add_layers(indexed, with_index);
    model.add_layers(layer, layers - with_index);
    return model;
  }
  const std::uint32_t shared = width_in(h, "shared_kv_layers"), own = layers - shared;
  const std::uint64_t window = number_in<std::uint64_t>(h, "n_swa", 0);
  std::uint32_t windowed = number_in(h, "n_swa_layers", width_in(h, "swa_layers"));
  if (window != 0 && windowed == 0) windowed = own - own / 6;  // every sixth is full: Gemma 3 and 4
  const auto either = [&](const char* of_kind, const char* of_all) {
    return number_in(h, of_kind, width_in(h, of_all));
  };
  const std::uint32_t keys = either("n_embd_k_gqa_global", "n_embd_k_gqa");
  const std::uint32_t window_keys = either("n_embd_k_gqa_swa", "n_embd_k_gqa");
  const std::uint32_t values = either("n_embd_k_gqa_global", "n_embd_v_gqa");
  const std::uint32_t window_values = either("n_embd_k_gqa_swa", "n_embd_v_gqa");
  const std::uint32_t dim = head != 0 ? head : keys / width_in(h, "n_head_kv");
  const std::uint32_t window_dim = number_in(h, "n_embd_head_k_swa", dim);
  if (own != windowed) model.add_layers(attention(keys, values, dim, 0), own - windowed);
  if (windowed != 0) {
    model.add_layers(
        attention(window_keys, window_values, window_dim < window_keys ? window_dim : window_keys, window),
        windowed);
  }
  if (shared != 0) {
    layer_kind reads;
    reads.add(stores::shared());
    model.add_layers(reads, shared);
  }
  return model;
}

bool flash_in(const json& row, bool otherwise) {
  const json& given = row.at("flash_attn");
  return given.is_boolean() ? given.get<bool>() : given.is_string() ? given == "auto->enabled" : otherwise;
}

engines::llama_cpp llama_cpp_of(const json& row) {
  engines::llama_cpp asked;
  asked.program = llama_cpp_program::library;
  if (row.at("version").is_string()) {  // "b5269 (1d36b367)", "build 850 (d4d7d2f)", "10107 (857c97607)"
    const std::string version = row.at("version");
    const std::size_t digit = version.find_first_of("0123456789");
    if (version[0] != 'v') asked.build = static_cast<std::uint32_t>(std::stoul(version.substr(digit)));
  }
  asked.n_ctx = row.at("n_ctx");
  asked.n_batch = number_in(row, "n_batch", asked.n_batch);
  asked.n_ubatch = number_in(row, "n_ubatch", asked.n_ubatch);
  asked.n_parallel = number_in<std::uint64_t>(row, "n_seq_max", 1);
  const bool unified = row.at("kv_unified").is_boolean() && row.at("kv_unified").get<bool>();
  asked.kv_unified = unified ? option_choice::yes : option_choice::no;
  const bool before_flash_attention = asked.build != 0 && asked.build < 2000;
  asked.flash_attn =
      flash_in(row, !before_flash_attention) ? llama_cpp_flash_attn::on : llama_cpp_flash_attn::off;
  asked.type_k = tests::llama_cpp::cache_type_named(row.at("cache_type_k"));
  asked.type_v = tests::llama_cpp::cache_type_named(row.at("cache_type_v"));
  return asked;
}
engines::ik_llama_cpp ik_llama_cpp_of(const json& row) {
  engines::ik_llama_cpp asked;
  asked.n_ctx = row.at("n_ctx");
  asked.n_batch = number_in(row, "n_batch", asked.n_batch);
  asked.n_ubatch = number_in(row, "n_ubatch", asked.n_ubatch);
  asked.n_parallel = number_in<std::uint64_t>(row, "n_seq_max", 1);
  asked.flash_attn = flash_in(row, false);
  asked.mla = number_in<std::uint32_t>(row, "mla", 0);
  asked.type_k = tests::local_engines::ik_cache_type_named(row.at("cache_type_k"));
  if (row.at("cache_type_v").is_string()) {
    asked.type_v = tests::local_engines::ik_cache_type_named(row.at("cache_type_v"));
  }
  const json& offloaded = row.at("offload_flags");
  asked.cpu_moe = offloaded.is_string() && contains(offloaded.get<std::string>(), "expert tensors");
  const std::string amb = "attn_max_b=";
  const std::string notes = row.at("notes").is_string() ? row.at("notes") : "";
  if (const std::size_t at = notes.find(amb); at != notes.npos && notes[at + amb.size()] != 'N') {
    asked.amb = std::stoull(notes.substr(at + amb.size()));
  }
  return asked;
}

/// Which of our figures a cache of a record is.
std::string part_of(const std::string& label, bool is_ik) {
  if (is_ik || label == "all layers") return "attention";
  if (label == "SWA") return "windowed";
  return contains(label, "indexer") ? "index" : "full";
}

printed_run run_of(const json& row) {
  printed_run run;
  run.id = row.at("id");
  const bool is_ik = row.at("engine") == "ik_llama.cpp";
  run.model = std::make_shared<const model_architecture>(model_of(row, is_ik));
  if (is_ik) {
    run.engine = ik_llama_cpp_of(row);
  } else {
    run.engine = llama_cpp_of(row);
  }
  for (const json& cache : row.at("kv_caches")) {
    const std::string part = part_of(cache.at("label"), is_ik);
    const auto add = [&](const char* name, const char* ours) {
      if (cache.at(name).is_number()) run.sizes[part + ours] = in_mib(cache.at(name));
    };
    add("printed_total_MiB", ".size");
    add("printed_K_MiB", ".K");
    add("printed_V_MiB", ".V");
    if (part != "index") run.counts[part == "windowed" ? "cells.windowed" : "cells.full"] = cache.at("cells");
  }
  const json& measured = row.at("measured");
  if (measured.contains("kv_total_MiB")) run.sizes["attention.size"] = in_mib(measured.at("kv_total_MiB"));
  if (measured.contains("total_cells")) run.counts["cells.total"] = measured.at("total_cells");
  if (measured.contains("kv_buffers_MiB") && measured.at("kv_buffers_MiB").size() == 1) {
    const auto buffer = measured.at("kv_buffers_MiB").begin();
    if (buffer.key() == "CPU") run.sizes["buffer.cpu"] = in_mib(buffer.value());
    if (buffer.key() == "CUDA0") run.sizes["buffer.cuda"] = in_mib(buffer.value());
  }
  return run;
}

std::vector<json> printed_rows() {
  std::ifstream file(std::filesystem::path(KVBUDGET_SHARED_DIR) / "corpus" / "local.jsonl");
  std::vector<json> rows;
  for (std::string line; std::getline(file, line);) {
    json row = json::parse(line);
    const std::string engine = row.at("engine");
    const bool runs_llama_cpp = contains(engine, "llama.cpp") || engine.rfind("Ollama", 0) == 0;
    if (runs_llama_cpp && row.at("input_basis") == "printed") rows.push_back(std::move(row));
  }
  return rows;
}

/// The catalogue's model of a printed name, for its MLPs and experts.
const model_architecture* catalogued(const std::string& name) {
  const std::map<std::string, const char*> names{{"DeepSeek-V3-0324", "deepseek-v3"},
                                                 {"DeepSeek-R1", "deepseek-v3"},
                                                 {"DeepSeek-R1-0528", "deepseek-v3"},
                                                 {"DeepSeek-V2.5-1210", "deepseek-v2.5"},
                                                 {"DeepSeek-V2-Lite", "deepseek-v2-lite"},
                                                 {"DeepSeek-Coder-V2-Lite-Instruct", "deepseek-v2-lite"},
                                                 {"Kimi-K2-Instruct", "kimi-k2"},
                                                 {"Qwen3-235B-A22B", "qwen3-235b-a22b"},
                                                 {"Qwen3-32B", "qwen3-32b"},
                                                 {"Qwen3-30B-A3B", "qwen3-30b-a3b"},
                                                 {"gemma-3-27b-it", "gemma-3-27b"}};
  const auto found = names.find(name);
  return found == names.end() ? nullptr : models::find(found->second);
}

}  // namespace

TEST_CASE("every printed cache of llama.cpp, its front ends and ik_llama.cpp comes out", "[corpus][shared]") {
  std::size_t runs = 0, forks = 0, checked = 0;
  for (const json& row : printed_rows()) {
    ++runs;
    if (row.at("engine") == "ik_llama.cpp") ++forks;
    checked += check(run_of(row));
  }
  CHECK(runs >= 40);
  CHECK(forks >= 25);
  CHECK(checked >= 150);
}

TEST_CASE("printed compute buffers of ik_llama.cpp are within the assumed range", "[corpus][shared]") {
  std::size_t buffers = 0, within = 0;
  for (const json& row : printed_rows()) {
    const model_architecture* model = catalogued(row.at("model"));
    if (row.at("engine") != "ik_llama.cpp" || model == nullptr) continue;
    const engines::ik_llama_cpp asked = ik_llama_cpp_of(row);
    const json& measured = row.at("measured");
    if (!measured.contains("compute_buffers_MiB")) continue;
    for (const auto& [device, printed] : measured.at("compute_buffers_MiB").items()) {
      if (device == "CUDA_Host") continue;
      using llama_cpp_cache::backend;
      const compute_bytes found = ik_llama_cpp_cache::compute_of(
          asked, *model, device == "CPU" ? backend::cpu : backend::cuda, formats::q4_k);
      CHECK(found.known == basis::assumed);
      CHECK(found.range.low <= found.range.expected);
      CHECK(found.range.expected <= found.range.high);
      const double theirs = printed.get<double>() * 1024 * 1024;
      const bool holds = static_cast<double>(found.range.low) <= theirs + 5243 &&
                         theirs <= static_cast<double>(found.range.high) + 5243;
      ++buffers;
      within += holds;
    }
  }
  INFO(within << " of " << buffers);
  CHECK(within * 100 >= buffers * 90);
}
#endif
