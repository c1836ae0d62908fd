// The cache of llama.cpp against what llama.cpp itself reported, row by row. The models are read from files
// without data.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "kvbudget/engine/llama_cpp/cache.hpp"
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

engines::llama_cpp options_of(const json& inputs) {
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
  on.n_gpu_layers = inputs.at("n_gpu_layers");
  return on;
}

/// Cache bytes by device, and by "CPU".
using device_bytes = std::map<std::string, std::uint64_t>;

device_bytes reported(const json& row) {
  device_bytes found;
  for (const auto& [buffer, sizes] : row.at("bytes").items()) {
    const std::uint64_t context = sizes.at("context");
    if (context != 0) found[buffer] += context;
  }
  return found;
}

/// Layers go to the devices in order, by equal shares or by `tensor_split`; the first ones stay on the CPU
/// where not all are offloaded, and the output counts as a layer.
device_bytes expected(const json& row, const engines::llama_cpp& on, const model_architecture& model) {
  const json& inputs = row.at("inputs");
  const auto gpus = inputs.at("n_gpu").get<std::uint32_t>();
  const std::uint32_t places = model.num_hidden_layers + 1;
  const bool all = on.n_gpu_layers < 0 || on.n_gpu_layers > static_cast<std::int32_t>(places);
  const std::uint32_t offloaded = gpus == 0 ? 0 : all ? places : static_cast<std::uint32_t>(on.n_gpu_layers);
  std::vector<double> shares(gpus == 0 ? 1 : gpus, 1.0);
  if (inputs.at("tensor_split") == "3,1") shares = {3.0, 1.0};
  if (inputs.at("split_mode") == "none") shares = {1.0};
  double sum = 0, reached = 0;
  for (const double share : shares) sum += share;

  const auto sizes = llama_cpp_cache::sizes_of(
      on, model, gpus == 0 ? llama_cpp_cache::backend::cpu : llama_cpp_cache::backend::cuda);
  device_bytes found;
  const auto put = [&](const std::string& name, llama_cpp_cache::backend in, std::uint32_t first,
                       std::uint32_t end) {
    const std::uint64_t bytes = llama_cpp_cache::cache_of(on, model, sizes, in, first, end).total().value;
    if (bytes != 0) found[name] += bytes;
  };
  if (!on.offload_kqv) {
    put("CPU", llama_cpp_cache::backend::cpu, 0, model.num_hidden_layers);
    return found;
  }
  std::uint32_t first = places - offloaded;
  put("CPU", llama_cpp_cache::backend::cpu, 0, first);
  const std::uint32_t start = first;
  for (std::size_t device = 0; device < shares.size() && offloaded != 0; ++device) {
    reached += shares[device] / sum;
    std::uint32_t end = first;
    while (end < places && static_cast<double>(end - start) / offloaded < reached) ++end;
    put("EMU" + std::to_string(device), llama_cpp_cache::backend::cuda, first, end);
    first = end;
  }
  return found;
}

}  // namespace
#endif

TEST_CASE("llama.cpp's cache is predicted to the byte, and its refusals") {
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

  int accepted = 0, exact = 0, effective = 0, refused = 0, predicted = 0, unknown = 0;
  std::map<std::string, int> wrong;
  for (std::string line; std::getline(records, line);) {
    const json row = json::parse(line);
    if (row.at("record") != "measurement") continue;
    const auto name = row.at("model").get<std::string>();
    const auto model = models.find(name);
    if (model == models.end()) {
      ++unknown;
      ++wrong["no file is generated for " + name];
      continue;
    }
    const json& inputs = row.at("inputs");
    const engines::llama_cpp on = options_of(inputs);
    const bool on_cpu = inputs.at("n_gpu") == 0;
    const auto backend = on_cpu ? llama_cpp_cache::backend::cpu : llama_cpp_cache::backend::cuda;
    const refusal reason = llama_cpp_cache::refused(on, model->second, backend);
    const std::string kind = name + ", " + inputs.at("type_k").get<std::string>() + "/" +
                             inputs.at("type_v").get<std::string>() + ", flash attention " +
                             inputs.at("flash_attn").get<std::string>();
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
    if (reason) ++wrong["refused: " + kind];
    const auto sizes = llama_cpp_cache::sizes_of(on, model->second, backend);
    const json& said = row.at("effective");
    const bool same_sizes = sizes.n_ctx == said.at("n_ctx") && sizes.n_ctx_seq == said.at("n_ctx_seq") &&
                            sizes.n_batch == said.at("n_batch") && sizes.n_ubatch == said.at("n_ubatch") &&
                            sizes.n_seq_max == said.at("n_seq_max");
    if (same_sizes) {
      ++effective;
    } else {
      ++wrong["effective sizes: " + kind];
    }
    if (expected(row, on, model->second) == reported(row)) {
      ++exact;
    } else {
      ++wrong["bytes: " + kind + ", " + row.at("device_mode").get<std::string>()];
    }
  }
  for (const auto& [what, count] : wrong) UNSCOPED_INFO(count << " x " << what);
  INFO(exact << " of " << accepted << " caches exact, " << effective << " effective sizes, " << predicted
             << " of " << refused << " refusals, " << unknown << " rows of unknown models");
  CHECK(wrong.empty());
  CHECK(accepted >= 2000);
  CHECK(exact == accepted);
  CHECK(effective == accepted);
  CHECK(refused > 0);
  CHECK(predicted == refused);
  CHECK(unknown == 0);
#endif
}
