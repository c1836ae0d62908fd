// llama.cpp, device by device, against what llama.cpp itself reported, row by row. The models are read from
// files without data.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "kvbudget/engine/llama_cpp.hpp"
#include "kvbudget/io/gguf.hpp"
#include "support/catch.hpp"
#include "support/measured_models.hpp"

#ifdef KVBUDGET_SHARED_DIR
#include <nlohmann/json.hpp>

namespace {

using namespace kvbudget;
using nlohmann::json;

model_architecture model_in(const tests::gguf_shape_of& shape) {
  const std::string header = tests::gguf_of(shape).header();
  memory_source source(header);
  return model_of_gguf(read_gguf(source, "measured.gguf")).architecture;
}

llama_cpp_cache_type type_of(const std::string& name) {
  using enum llama_cpp_cache_type;
  const std::map<std::string, llama_cpp_cache_type> types{{"f16", f16},       {"f32", f32},   {"bf16", bf16},
                                                          {"q8_0", q8_0},     {"q4_0", q4_0}, {"q4_1", q4_1},
                                                          {"iq4_nl", iq4_nl}, {"q5_0", q5_0}, {"q5_1", q5_1}};
  return types.at(name);
}

/// The options of a row. Experts are the only tensors that any row overrides.
engines::llama_cpp options_of(const json& row) {
  const json& inputs = row.at("inputs");
  engines::llama_cpp on;
  on.program = llama_cpp_program::library;
  on.n_ctx = inputs.at("n_ctx");
  on.n_batch = inputs.at("n_batch");
  on.n_ubatch = inputs.at("n_ubatch");
  on.n_parallel = inputs.at("n_seq_max");
  on.kv_unified = inputs.at("kv_unified").get<bool>() ? option_choice::yes : option_choice::no;
  on.n_outputs_max = inputs.at("n_outputs_max");
  on.n_rs_seq = inputs.at("n_rs_seq");
  on.type_k = type_of(inputs.at("type_k"));
  on.type_v = type_of(inputs.at("type_v"));
  on.flash_attn = inputs.at("flash_attn") == "on" ? llama_cpp_flash_attn::on : llama_cpp_flash_attn::off;
  on.swa_full = inputs.at("swa_full");
  on.offload_kqv = inputs.at("offload_kqv");
  on.op_offload = inputs.at("op_offload");
  on.n_gpu_layers = inputs.at("n_gpu_layers");
  on.no_devices = inputs.at("n_gpu") == 0;
  on.cpu_moe = inputs.at("override_tensor_to_cpu") != "";
  if (inputs.at("tensor_split") == "3,1") {
    on.tensor_split[0] = 3;
    on.tensor_split[1] = 1;
  }
  if (inputs.at("split_mode") == "none") on.split_mode = llama_cpp_split_mode::none;
  return on;
}

struct measured_buffers {
  std::uint64_t model = 0;
  std::uint64_t context = 0;
  std::uint64_t compute = 0;
};

/// What a row reports: GPUs in order, and the host's buffers together.
struct measured_row {
  std::vector<measured_buffers> gpus;
  measured_buffers host;
  explicit measured_row(const json& row) {
    gpus.resize(row.at("inputs").at("n_gpu").get<std::size_t>());
    for (const auto& [name, sizes] : row.at("bytes").items()) {
      const bool on_gpu = name.rfind("EMU", 0) == 0 && name != "EMU_Host";
      measured_buffers& here = on_gpu ? gpus.at(std::stoul(name.substr(3))) : host;
      here.model += sizes.at("model").get<std::uint64_t>();
      here.context += sizes.at("context").get<std::uint64_t>();
      here.compute += sizes.at("compute").get<std::uint64_t>();
    }
  }
};

/// How one figure compares over many rows.
struct agreement {
  int rows = 0, exact = 0, within = 0, held = 0;
  double lowest = 0, highest = 0;
  void add(std::uint64_t predicted, const byte_range& range, std::uint64_t measured, double tolerance) {
    const double off = measured == 0 ? 0
                                     : (static_cast<double>(predicted) - static_cast<double>(measured)) /
                                           static_cast<double>(measured);
    ++rows;
    exact += predicted == measured;
    within += off <= tolerance && off >= -tolerance;
    held += range.low <= measured && measured <= range.high;
    lowest = std::min(lowest, off);
    highest = std::max(highest, off);
  }
  void add(std::uint64_t predicted, std::uint64_t measured) {
    add(predicted, {predicted, predicted, predicted}, measured, 0);
  }
  [[nodiscard]] std::string text() const {
    return std::to_string(exact) + " of " + std::to_string(rows) + " exact, " + std::to_string(within) +
           " within the limit, " + std::to_string(held) + " in range, " + std::to_string(lowest * 100) +
           " % to " + std::to_string(highest * 100) + " %";
  }
};

}  // namespace
#endif

TEST_CASE("llama.cpp's buffers are predicted device by device, and its refusals") {
#ifndef KVBUDGET_SHARED_DIR
  WARN("skipped: no reference material beside the source");
#else
  std::ifstream records(std::filesystem::path(KVBUDGET_SHARED_DIR) / "corpus" / "llamacpp-measured.jsonl");
  if (!records) {
    WARN("skipped: no reference material beside the source");
    return;
  }
  std::map<std::string, model_architecture> models;
  for (const tests::measured_model& each : tests::measured_models())
    models.emplace(each.name, model_in(each.shape));

  int accepted = 0, effective = 0, refused = 0, predicted = 0;
  std::map<std::string, int> wrong;
  std::map<std::string, agreement> found;
  for (std::string line; std::getline(records, line);) {
    const json row = json::parse(line);
    if (row.at("record") != "measurement") continue;
    const auto name = row.at("model").get<std::string>();
    const model_architecture& model = models.at(name);
    const engines::llama_cpp on = options_of(row);
    deployment d{.model = model};
    d.parallel.pipeline = std::max(1u, row.at("inputs").at("n_gpu").get<std::uint32_t>());
    const refusal reason = llama_cpp_refusal(on, d);
    const std::string kind = name + ", " + row.at("inputs").dump();
    if (row.contains("error")) {
      ++refused;
      bool same = static_cast<bool>(reason);
      for (const json& said : row.at("error_log"))
        same = same && said.get<std::string>() == std::string("llama_init_from_model: ") + reason.text;
      if (same) {
        ++predicted;
      } else {
        ++wrong["not refused: " + kind];
      }
      continue;
    }
    ++accepted;
    if (reason) {
      ++wrong["refused: " + kind];
      continue;
    }
    const llama_cpp_memory memory = llama_cpp_memory_of(on, d);
    const json& said = row.at("effective");
    const llama_cpp_cache::sizes& sizes = memory.sizes;
    const bool same_sizes = sizes.n_ctx == said.at("n_ctx") && sizes.n_ctx_seq == said.at("n_ctx_seq") &&
                            sizes.n_batch == said.at("n_batch") && sizes.n_ubatch == said.at("n_ubatch") &&
                            sizes.n_seq_max == said.at("n_seq_max");
    if (same_sizes) {
      ++effective;
    } else {
      ++wrong["effective sizes: " + kind];
    }
    const measured_row real(row);
    const json& inputs = row.at("inputs");
    const int layers = static_cast<int>(model.num_hidden_layers);
    const int on_gpu = inputs.at("n_gpu_layers");
    const bool partial =
        !real.gpus.empty() && ((on_gpu >= 0 && on_gpu <= layers) || on.cpu_moe || !on.offload_kqv);
    const std::string place = partial                ? "partly offloaded "
                              : real.gpus.empty()    ? "cpu "
                              : real.gpus.size() > 1 ? "several GPUs "
                                                     : "one GPU ";
    const std::string graph =
        row.at("arch").get<std::string>() + (on.flash_attn == llama_cpp_flash_attn::on ? " flash" : " plain");
    const auto compare = [&](const char* what, const llama_cpp_buffers& ours,
                             const measured_buffers& theirs) {
      found[std::string("model ") + what].add(ours.model_total().value, theirs.model);
      found[std::string("context ") + what].add(ours.context_total().value, theirs.context);
      if (ours.model_total().value != theirs.model)
        ++wrong["model bytes of " + std::string(what) + ": " + name + ", " +
                std::to_string(ours.model_total().value) + " for " + std::to_string(theirs.model)];
      if (ours.context_total().value != theirs.context) ++wrong["context bytes: " + kind];
    };
    for (std::size_t i = 0; i < real.gpus.size(); ++i) {
      compare("GPUs", memory.gpus[i], real.gpus[i]);
      const compute_bytes& compute = memory.gpus[i].compute;
      found["compute, " + place + graph].add(compute.range.expected, compute.range, real.gpus[i].compute,
                                             0.05);
    }
    compare("host", memory.host, real.host);
    const compute_bytes& compute = memory.host.compute;
    found["host compute, " + place + (real.gpus.empty() ? graph : "")].add(
        compute.range.expected, compute.range, real.host.compute, 0.05);
  }
  for (const auto& [what, count] : wrong) UNSCOPED_INFO(count << " x " << what);
  for (const auto& [what, each] : found) UNSCOPED_INFO(what << ": " << each.text());
  INFO(accepted << " rows, " << effective << " effective sizes, " << predicted << " of " << refused
                << " refusals");
  CHECK(wrong.empty());
  CHECK(accepted >= 2000);
  CHECK(effective == accepted);
  CHECK(refused > 0);
  CHECK(predicted == refused);
  for (const auto& [what, each] : found) {
    INFO(what << ": " << each.text());
    CHECK(each.held == each.rows);
  }
#endif
}
