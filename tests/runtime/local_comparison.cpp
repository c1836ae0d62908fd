// Logs of llama.cpp and ik_llama.cpp beside what is predicted of them.
#include "kvbudget/io/local_comparison.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kvbudget/io/engine_log.hpp"
#include "kvbudget/models.hpp"
#include "support/catch.hpp"
#include "support/input.hpp"
#include "support/llama_cpp_runs.hpp"
#include "support/local_logs.hpp"

namespace {

using namespace kvbudget;
using kvbudget::agreement;
using kvbudget::comparison;
using tests::contains;
using tests::local_logs::mib;
using tests::local_logs::start_of;
using tests::local_logs::writer;

constexpr std::uint64_t one_mib = std::uint64_t{1} << 20;

detail::local_prediction predicted(const engines::llama_cpp& on, const deployment& d) {
  return detail::prediction_of(on, d, detail::llama_cpp_gpus(d), nullptr);
}
comparison compared(const std::string& text, const deployment& d, const engines::llama_cpp& on) {
  const engine_log log = read_llama_cpp_log(text, "test.log");
  return compare_with_log(log, d, on);
}
std::size_t count_of(const comparison& found, agreement verdict) {
  std::size_t count = 0;
  for (const compared_figure& each : found.figures) count += each.verdict() == verdict ? 1u : 0u;
  return count;
}
const compared_figure& figure(const comparison& found, const std::string& name, const std::string& where) {
  for (const compared_figure& each : found.figures) {
    if (name == each.name && where == each.rank) return each;
  }
  FAIL("no " + name + " of " + where);
  return found.figures.front();
}
std::string replaced(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}
bool mentions(const std::vector<std::string>& lines, const std::string& part) {
  for (const std::string& each : lines) {
    if (contains(each, part)) return true;
  }
  return false;
}

/// A server for four on one GPU, weights in Q8_0.
struct server {
  deployment d{.model = models::llama_3_1_8b};
  engines::llama_cpp on{};
  server() {
    d.weights = weight_scheme{formats::q8_0};
    on.n_ctx = 16384;
    on.n_parallel = 4;
    on.kv_unified = option_choice::yes;
    on.flash_attn = llama_cpp_flash_attn::on;
    on.type_k = on.type_v = llama_cpp_cache_type::f16;
  }
};

// [comparing_a_local_log]
/// What a log has that is not as predicted, of one deployment and one way to start llama.cpp.
std::vector<std::string> off_in(const engine_log& log, const deployment& d, const engines::llama_cpp& on) {
  std::vector<std::string> lines;
  for (const compared_figure& each : compare_with_log(log, d, on).figures) {
    if (each.verdict() == agreement::off) lines.push_back(std::string(each.what) + " of " + each.rank);
  }
  return lines;
}
// [comparing_a_local_log]

}  // namespace

TEST_CASE("the example of the documentation puts a log beside a prediction", "[local_comparison]") {
  server s;
  const std::string text = start_of(predicted(s.on, s.d));
  CHECK(off_in(read_engine_log(text), s.d, s.on).empty());
  s.on.n_ubatch = 256;
  CHECK(off_in(read_engine_log(text), s.d, s.on).front() == "compute of CUDA0");
}

TEST_CASE("a log of the buffers that are predicted is as predicted, whatever the model",
          "[local_comparison]") {
  for (const char* name :
       {"llama-3.1-8b", "gemma-3-12b", "qwen3-30b-a3b", "deepseek-v2-lite", "qwen3-next-80b-a3b",
        "gpt-oss-20b", "mamba-2.8b", "falcon-mamba-7b", "nemotron-h-8b"}) {
    const model_architecture* model = models::find(name);
    if (model == nullptr) continue;
    INFO(name);
    for (const std::uint32_t gpus : {0u, 1u, 3u}) {
      INFO(gpus << " GPUs");
      deployment d{.model = *model};
      d.parallel.pipeline = gpus == 0 ? 1 : gpus;
      engines::llama_cpp on;
      on.no_devices = gpus == 0;
      on.n_ctx = 8192;
      on.n_parallel = 2;
      const comparison found = compared(start_of(predicted(on, d)), d, on);
      for (const compared_figure& each : found.figures) {
        INFO(each.name << " of " << each.rank << ": printed " << each.printed << ", predicted "
                       << each.predicted);
        CHECK(each.verdict() == agreement::as_printed);
      }
      CHECK(found.figures.size() >= 4);
      CHECK(contains(found.conclusion, "nothing is off: all "));
      CHECK(found.predicted_only.empty());
      CHECK(found.not_predicted.empty());
      CHECK(found.doubts.empty());
    }
  }
}

TEST_CASE("what llama.cpp measured, as its log would print it, is as predicted",
          "[local_comparison][corpus]") {
  const std::filesystem::path corpus = std::filesystem::path(KVBUDGET_DATA_DIR) / ".." / "tests" / "corpus";
  std::size_t runs = 0, exact = 0, within = 0;
  for (const tests::llama_cpp::measured_run& run :
       tests::llama_cpp::committed_runs(corpus / "llama-cpp.json")) {
    if (!run.refused.empty()) continue;
    const model_architecture& model = tests::llama_cpp::models_read().at(run.model);
    deployment d{.model = model};
    d.parallel.pipeline = std::max(1u, run.gpus);
    writer to;
    to.line(
        "llama_model_loader: loaded meta data with 1 key-value pairs and 1 tensors from m.gguf (version GGUF "
        "V3)");
    const std::string host = run.gpus == 0 ? "CPU" : "CUDA_Host";
    const auto each = [&](const char* function, const char* kind, auto member) {
      for (std::size_t i = 0; i < run.on_gpus.size(); ++i) {
        to.buffer(function, "CUDA" + std::to_string(i), kind, run.on_gpus[i].*member);
      }
      to.buffer(function, host, kind, run.on_host.*member);
    };
    using tests::llama_cpp::measured_buffers;
    each("load_tensors", "model", &measured_buffers::model);
    to.line("llama_context: constructing llama_context")
        .line("llama_context: n_ctx = " + std::to_string(run.n_ctx));
    each("llama_kv_cache", "KV", &measured_buffers::context);
    each("sched_reserve", "compute", &measured_buffers::compute);
    const comparison found = compared(to.text(), d, run.options);
    INFO(run.model << ", n_ctx " << run.n_ctx << ", " << run.gpus << " GPUs: " << found.conclusion);
    for (const compared_figure& one : found.figures) {
      const std::string name = one.name;
      if (name == "model" || name == "context") CHECK(one.verdict() == agreement::as_printed);
    }
    CHECK(count_of(found, agreement::off) == 0);
    CHECK(found.predicted_only.empty());
    ++runs;
    exact += count_of(found, agreement::as_printed);
    within += count_of(found, agreement::within_range);
  }
  CHECK(runs >= 300);
  CHECK(exact > 5 * within);
}

TEST_CASE("a number that is wrong is off by what it is wrong", "[local_comparison]") {
  const server s;
  const detail::local_prediction ours = predicted(s.on, s.d);
  const std::uint64_t compute = ours.memory.gpus[0].compute.range.expected;
  const std::string text = replaced(start_of(ours), "CUDA0 compute buffer size = " + mib(compute),
                                    "CUDA0 compute buffer size = " + mib(compute + 64 * one_mib));
  const comparison found = compared(text, s.d, s.on);
  CHECK(count_of(found, agreement::off) == 2);  // itself, and the sum of the GPU
  const compared_figure& off = figure(found, "compute", "CUDA0");
  CHECK(off.verdict() == agreement::off);
  CHECK(std::abs(off.difference() + 64.0 * one_mib) <= off.rounding);
  CHECK(contains(found.conclusion, "compute of CUDA0 (64.00 MiB less predicted)"));
  CHECK(compute_distance(found) > 63.0 * one_mib);
  CHECK(compute_distance(compared(start_of(ours), s.d, s.on)) == 0);
}

TEST_CASE("the program that fits a log is the nearer one", "[local_comparison]") {
  const server s;
  engines::llama_cpp every = s.on;
  every.program = llama_cpp_program::library;
  const std::string text = start_of(predicted(every, s.d));
  CHECK(compute_distance(compared(text, s.d, every)) == 0);
  CHECK(compute_distance(compared(text, s.d, s.on)) > one_mib);
}

TEST_CASE("layers are dealt out by the free memory that the log prints", "[local_comparison]") {
  server s;
  s.d.parallel.pipeline = 2;
  const std::uint64_t free[] = {24000 * one_mib, 8000 * one_mib};
  const detail::local_prediction split = detail::prediction_of(s.on, s.d, 2, free);
  const std::string devices =
      "llama_model_load_from_file_impl: using device CUDA0 (NVIDIA A) - 24000 MiB free\n"
      "llama_model_load_from_file_impl: using device CUDA1 (NVIDIA B) - 8000 MiB free\n";
  const std::string text = start_of(split);
  const comparison even = compared(text, s.d, s.on);
  CHECK(figure(even, "context", "CUDA0").verdict() == agreement::off);
  const std::size_t at = text.find("llama_model_loader");
  const comparison found = compared(text.substr(0, at) + devices + text.substr(at), s.d, s.on);
  CHECK(count_of(found, agreement::off) == 0);
  s.on.tensor_split[0] = s.on.tensor_split[1] = 1;  // what is set counts
  CHECK(figure(compared(text.substr(0, at) + devices + text.substr(at), s.d, s.on), "context", "CUDA0")
            .verdict() == agreement::off);
}

TEST_CASE("buffers of the host are one sum, and a mapping is a range", "[local_comparison]") {
  server s;
  s.on.n_gpu_layers = 20;
  const detail::local_prediction ours = predicted(s.on, s.d);
  const std::uint64_t host = ours.memory.host.model_total().value;
  const std::string line = "CUDA_Host model buffer size = " + mib(host);
  const std::string parts = replaced(start_of(ours), line,
                                     "CUDA_Host model buffer size = " + mib(host - 100 * one_mib) +
                                         " MiB\nload_tensors: CPU model buffer size = " + mib(100 * one_mib));
  CHECK(figure(compared(parts, s.d, s.on), "model", "CUDA_Host + CPU").verdict() == agreement::as_printed);
  for (const std::uint64_t more :
       {std::uint64_t{0}, 300 * one_mib, ours.memory.gpus[0].model_total().value}) {
    const std::string mapped =
        replaced(start_of(ours), line, "CPU_Mapped model buffer size = " + mib(host + more));
    const comparison found = compared(mapped, s.d, s.on);
    CHECK(figure(found, "model", "CPU_Mapped").verdict() ==
          (more == 0 ? agreement::as_printed : agreement::within_range));
  }
  const std::string less =
      replaced(start_of(ours), line, "CPU_Mapped model buffer size = " + mib(host - 4 * one_mib));
  CHECK(figure(compared(less, s.d, s.on), "model", "CPU_Mapped").verdict() == agreement::off);
}

TEST_CASE("rows of all GPUs are compared together, Metal's parts as one GPU", "[local_comparison]") {
  server s;
  s.on.split_mode = llama_cpp_split_mode::row;
  s.d.parallel.tensor = 2;
  const std::string text =
      "llama_model_loader: loaded meta data with 1 key-value pairs and 1 tensors from m.gguf\n"
      "load_tensors: CUDA0 model buffer size = 5.00 MiB\n"
      "load_tensors: CUDA0_Split model buffer size = 7600.00 MiB\n"
      "load_tensors: CUDA1 model buffer size = 5.00 MiB\n";
  const comparison rows = compared(text, s.d, s.on);
  REQUIRE(rows.figures.size() == 1);
  CHECK(rows.figures[0].rank == "CUDA0 + CUDA0_Split + CUDA1");
  CHECK(rows.figures[0].printed == 7610.0 * one_mib);

  const server one;
  const detail::local_prediction ours = predicted(one.on, one.d);
  std::string metal = start_of(ours, "MTL");
  metal = replaced(metal, "MTL0 model buffer", "MTL0_Mapped model buffer");
  const comparison found = compared(metal, one.d, one.on);
  CHECK(gpus_in(read_llama_cpp_log(metal, "m")).size() == 1);
  CHECK(figure(found, "model", "MTL0_Mapped").verdict() == agreement::as_printed);
  CHECK(count_of(found, agreement::off) == 0);
}

TEST_CASE("the memory breakdown, and what is in no buffer", "[local_comparison]") {
  const server s;
  const detail::local_prediction ours = predicted(s.on, s.d);
  const llama_cpp_buffers& held = ours.memory.gpus[0];
  const auto whole = [](bytes size) { return std::to_string(size.value / one_mib); };
  const std::string table =
      "llama_memory_breakdown_print: | memory breakdown [MiB] | total free self model context compute "
      "unaccounted |\n"
      "llama_memory_breakdown_print: |   - CUDA0 (RTX 4090) | 24080 = 9000 + (" +
      whole(held.total()) + " = " + whole(held.model_total()) + " + " + whole(held.context_total()) + " + " +
      whole(held.compute_total()) +
      ") + 451 |\n"
      "llama_memory_breakdown_print: |   - Host | " +
      whole(ours.memory.host.total()) + " = " + whole(ours.memory.host.model_total()) + " + 0 + " +
      whole(ours.memory.host.compute_total()) + " |\n";
  const comparison both = compared(start_of(ours) + table, s.d, s.on);
  CHECK(count_of(both, agreement::off) == 0);
  CHECK(figure(both, "breakdown_self", "CUDA0").verdict() == agreement::as_printed);
  CHECK(figure(both, "breakdown_self", "Host").verdict() == agreement::as_printed);
  CHECK(figure(both, "unaccounted", "CUDA0").verdict() == agreement::within_range);
  CHECK(both.find("breakdown_model") == nullptr);  // said more precisely elsewhere
  deployment pinned = s.d;
  pinned.pinned.framework = amount(bytes{451 * one_mib});
  CHECK(figure(compared(start_of(ours) + table, pinned, s.on), "unaccounted", "CUDA0").verdict() ==
        agreement::as_printed);
  const std::string load =
      "llama_model_loader: loaded meta data with 1 key-value pairs and 1 tensors from m.gguf\n";
  const comparison alone = compared(load + table, s.d, s.on);
  CHECK(alone.find("breakdown_model") != nullptr);
  CHECK(alone.find("breakdown_context") != nullptr);
  CHECK(count_of(alone, agreement::off) == 0);
}

TEST_CASE("what one side has and the other does not is said", "[local_comparison]") {
  server s;
  s.d.parallel.pipeline = 2;
  const detail::local_prediction ours = predicted(s.on, s.d);
  std::string text = start_of(ours);
  const std::size_t at = text.find("llama_kv_cache: CUDA1");
  text.erase(at, text.find('\n', at) + 1 - at);
  const comparison cut = compared(text, s.d, s.on);
  CHECK(mentions(cut.predicted_only, "context of CUDA1: "));
  CHECK(count_of(cut, agreement::off) == 0);

  s.d.parallel.pipeline = 1;
  const comparison fewer = compared(start_of(ours), s.d, s.on);
  CHECK(mentions(fewer.not_predicted, "buffers of CUDA1, which is none of the 1 GPUs here"));

  const comparison nothing = compared(
      "llama_model_loader: loaded meta data with 1 key-value pairs and 1 tensors "
      "from m.gguf\nllama_context: n_ctx = 4096\n",
      s.d, s.on);
  CHECK(nothing.figures.empty());
  CHECK(nothing.conclusion == "nothing that this log prints can be predicted");

  std::string absurd = start_of(predicted(s.on, s.d));
  absurd = replaced(absurd, "CUDA0 model buffer size = ", "CUDA0 model buffer size = 9999999999");
  const comparison huge = compared(absurd, s.d, s.on);
  for (const compared_figure& each : huge.figures) CHECK(std::abs(each.printed) < 2e15);
}

TEST_CASE("hyper-parameters that a log prints are held against the model", "[local_comparison]") {
  const auto with = [](const std::string& lines) { return read_llama_cpp_log(lines, "test.log"); };
  const std::string good =
      "print_info: arch = llama\nprint_info: n_layer = 32\nprint_info: n_embd = 4096\n"
      "print_info: n_head = 32\nprint_info: n_head_kv = 8\nprint_info: n_embd_head_k = 128\n"
      "print_info: n_embd_head_v = 128\nprint_info: n_swa = 0\nprint_info: n_expert = 0\n"
      "print_info: n_vocab = 128256\n";
  CHECK(hyperparameters_against(with(good), models::llama_3_1_8b).empty());
  const std::vector<std::string> other = hyperparameters_against(with(good), models::llama_3_1_70b);
  REQUIRE(other.size() == 3);
  CHECK(other[0] == "n_layer 32, here 80");
  CHECK(other[1] == "n_embd 4096, here 8192");
  CHECK(other[2] == "n_head 32, here 64");
  CHECK(hyperparameters_against(with("print_info: n_layer = 32\nprint_info: n_head_kv = [8, 8]\n"),
                                models::llama_3_1_8b)
            .empty());
  const server s;
  const comparison found = compared(replaced(start_of(predicted(s.on, s.d)), "load_tensors: loading",
                                             "print_info: n_layer = 28\nload_tensors: loading"),
                                    s.d, s.on);
  CHECK(mentions(found.doubts, "the log's model is another one: n_layer 28, here 32"));
}

TEST_CASE("ik_llama.cpp's latents and buffers", "[local_comparison]") {
  const deployment d{.model = models::deepseek_v2_lite};
  engines::ik_llama_cpp on;
  on.n_ctx = 8192;
  on.type_k = on.type_v = ik_llama_cpp_cache_type::q8_0;
  const detail::local_prediction ours = detail::prediction_of(on, d, 1, nullptr);
  const std::string text =
      "llm_load_tensors: CUDA0 buffer size = " + mib(ours.memory.gpus[0].model_total().value) +
      " MiB\nllama_new_context_with_model: n_ctx = 8192\n"
      "llama_kv_cache_init: CUDA0 KV buffer size = " +
      mib(ours.memory.gpus[0].context_total().value) +
      " MiB\nllama_new_context_with_model: KV self size = " + mib(ours.attention.size) +
      " MiB, c^KV (q8_0): " + mib(ours.attention.keys) + " MiB, kv^T: not used\n";
  const engine_log log = read_llama_cpp_log(text, "test.log");
  CHECK(log.front_end == "ik_llama.cpp");
  const comparison found = compare_with_log(log, d, on);
  CHECK(found.figures.size() == 4);
  CHECK(count_of(found, agreement::as_printed) == 4);
}
