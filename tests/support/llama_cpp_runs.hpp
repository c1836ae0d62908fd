#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kvbudget/engine/llama_cpp.hpp"
#include "kvbudget/io/gguf.hpp"
#include "support/measured_models.hpp"

/// Runs of llama.cpp as it reported them, and how what the library says of them compares.
namespace tests::llama_cpp {

using namespace kvbudget;
using nlohmann::json;

/// Bytes of one device.
struct measured_buffers {
  std::uint64_t model = 0;
  std::uint64_t context = 0;
  std::uint64_t compute = 0;
};

/// One context that was made, or refused.
struct measured_run {
  std::string model;
  std::uint32_t gpus = 0;
  engines::llama_cpp options{};
  std::string refused;  ///< in the engine's words, `?` = it said nothing; empty = it was made
  std::uint64_t n_ctx = 0, n_ctx_seq = 0, n_batch = 0, n_ubatch = 0;
  std::vector<measured_buffers> on_gpus;
  measured_buffers on_host;  ///< pinned and plain together

  [[nodiscard]] bool has_flash_attention() const { return options.flash_attn == llama_cpp_flash_attn::on; }
};

[[nodiscard]] inline llama_cpp_cache_type cache_type_named(const std::string& name) {
  for (std::size_t i = 1; i < llama_cpp_cache_type_count; ++i) {
    const auto type = static_cast<llama_cpp_cache_type>(i);
    const std::string known = format_of(type).name;
    if (name == known || (name == "f16" && known == "fp16") || (name == "f32" && known == "fp32"))
      return type;
  }
  throw std::runtime_error("unknown cache type " + name);
}

/// The options that a run names; experts are the only tensors that any run keeps on the host.
[[nodiscard]] inline engines::llama_cpp options_of(const json& named, std::uint32_t gpus) {
  engines::llama_cpp on;
  on.program = llama_cpp_program::library;
  on.kv_unified = option_choice::no;
  on.flash_attn = llama_cpp_flash_attn::on;
  on.type_k = on.type_v = llama_cpp_cache_type::f16;
  on.n_parallel = 1;
  on.no_devices = gpus == 0;
  for (const auto& [key, value] : named.items()) {
    if (key == "n_ctx")
      on.n_ctx = value;
    else if (key == "n_batch")
      on.n_batch = value;
    else if (key == "n_ubatch")
      on.n_ubatch = value;
    else if (key == "n_seq_max")
      on.n_parallel = value;
    else if (key == "kv_unified")
      on.kv_unified = value.get<bool>() ? option_choice::yes : option_choice::no;
    else if (key == "n_outputs_max")
      on.n_outputs_max = value;
    else if (key == "n_rs_seq")
      on.n_rs_seq = value;
    else if (key == "type_k")
      on.type_k = cache_type_named(value);
    else if (key == "type_v")
      on.type_v = cache_type_named(value);
    else if (key == "flash_attn")
      on.flash_attn = value == "on" ? llama_cpp_flash_attn::on : llama_cpp_flash_attn::off;
    else if (key == "swa_full")
      on.swa_full = value;
    else if (key == "offload_kqv")
      on.offload_kqv = value;
    else if (key == "op_offload")
      on.op_offload = value;
    else if (key == "n_gpu_layers")
      on.n_gpu_layers = value;
    else if (key == "cpu_moe")
      on.cpu_moe = value;
    else if (key == "split_mode")
      on.split_mode = value == "none" ? llama_cpp_split_mode::none : llama_cpp_split_mode::layer;
    else if (key == "tensor_split") {
      for (std::size_t i = 0; i < value.size(); ++i) on.tensor_split[i] = value.at(i);
    } else
      throw std::runtime_error("unknown option " + key);
  }
  return on;
}

/// The committed runs, in the schema of tests/corpus/README.md.
[[nodiscard]] inline std::vector<measured_run> committed_runs(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  std::vector<measured_run> found;
  const json document = json::parse(in);
  for (const json& row : document.at("rows")) {
    measured_run run;
    run.model = row.at("model");
    run.gpus = row.at("gpus");
    run.options = options_of(row.at("options"), run.gpus);
    run.refused = row.value("refused", "");
    if (run.refused.empty()) {
      run.n_ctx = row.at("n_ctx");
      run.n_ctx_seq = row.at("n_ctx_seq");
      run.n_batch = row.at("n_batch");
      run.n_ubatch = row.at("n_ubatch");
      const auto buffers = [](const json& of) { return measured_buffers{of.at(0), of.at(1), of.at(2)}; };
      for (const json& each : row.at("memory").at("gpus")) run.on_gpus.push_back(buffers(each));
      run.on_host = buffers(row.at("memory").at("host"));
    }
    found.push_back(std::move(run));
  }
  return found;
}

/// The runs of the reference material: one record per line.
[[nodiscard]] inline std::vector<measured_run> recorded_runs(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<measured_run> found;
  for (std::string line; std::getline(in, line);) {
    const json row = json::parse(line);
    if (row.at("record") != "measurement") continue;
    measured_run run;
    run.model = row.at("model");
    json inputs = row.at("inputs");
    run.gpus = inputs.at("n_gpu");
    inputs["cpu_moe"] = inputs.at("override_tensor_to_cpu") != "";
    inputs["tensor_split"] = inputs.at("tensor_split") == "3,1" ? json::array({3, 1}) : json::array();
    for (const char* passed_over : {"n_gpu", "override_tensor_to_cpu", "no_host", "load_mode"})
      inputs.erase(passed_over);
    run.options = options_of(inputs, run.gpus);
    if (row.contains("error")) {
      const std::string said =
          row.at("error_log").empty() ? "?" : row.at("error_log").at(0).get<std::string>();
      const std::string prefix = "llama_init_from_model: ";
      run.refused = said.rfind(prefix, 0) == 0 ? said.substr(prefix.size()) : said;
      found.push_back(std::move(run));
      continue;
    }
    const json& effective = row.at("effective");
    run.n_ctx = effective.at("n_ctx");
    run.n_ctx_seq = effective.at("n_ctx_seq");
    run.n_batch = effective.at("n_batch");
    run.n_ubatch = effective.at("n_ubatch");
    run.on_gpus.resize(run.gpus);
    for (const auto& [name, sizes] : row.at("bytes").items()) {
      const bool on_gpu = name.rfind("EMU", 0) == 0 && name != "EMU_Host";
      measured_buffers& here = on_gpu ? run.on_gpus.at(std::stoul(name.substr(3))) : run.on_host;
      here.model += sizes.at("model").get<std::uint64_t>();
      here.context += sizes.at("context").get<std::uint64_t>();
      here.compute += sizes.at("compute").get<std::uint64_t>();
    }
    found.push_back(std::move(run));
  }
  return found;
}

/// A model as the library reads it from a file without data.
[[nodiscard]] inline model_architecture read_of(const gguf_shape_of& shape) {
  const std::string header = gguf_of(shape).header();
  memory_source source(header);
  return model_of_gguf(read_gguf(source, "shape.gguf")).architecture;
}

/// The measured models, read so.
[[nodiscard]] inline const std::map<std::string, model_architecture>& models_read() {
  static const std::map<std::string, model_architecture> models = [] {
    std::map<std::string, model_architecture> read;
    for (const measured_model& each : measured_models()) read.emplace(each.name, read_of(each.shape));
    return read;
  }();
  return models;
}

/// How one figure compares over many runs.
struct agreement {
  std::size_t runs = 0, exact = 0, held = 0;
  double lowest = 0, highest = 0;  ///< ours less theirs, as a share of theirs
  std::uint64_t furthest = 0;      ///< bytes

  void add(const byte_range& ours, std::uint64_t theirs) {
    const double off = theirs == 0 ? 0.0
                                   : (static_cast<double>(ours.expected) - static_cast<double>(theirs)) /
                                         static_cast<double>(theirs);
    ++runs;
    exact += ours.expected == theirs ? 1u : 0u;
    held += ours.low <= theirs && theirs <= ours.high ? 1u : 0u;
    lowest = std::min(lowest, off);
    highest = std::max(highest, off);
    furthest = std::max(furthest, ours.expected > theirs ? ours.expected - theirs : theirs - ours.expected);
  }
  [[nodiscard]] double exact_share() const {
    return static_cast<double>(exact) / static_cast<double>(std::max<std::size_t>(runs, 1));
  }
  [[nodiscard]] std::string text() const {
    return std::to_string(exact) + " of " + std::to_string(runs) + " exact, " + std::to_string(held) +
           " in range, " + std::to_string(lowest * 100) + " % to " + std::to_string(highest * 100) + " %";
  }
};

/// Where a run keeps its model, in words.
[[nodiscard]] inline const char* place_of(const measured_run& run, const model_architecture& model) {
  if (run.gpus == 0) return "CPU";
  const auto layers = static_cast<std::int32_t>(model.num_hidden_layers);
  const std::int32_t offloaded = run.options.n_gpu_layers;
  if ((offloaded >= 0 && offloaded <= layers) || run.options.cpu_moe || !run.options.offload_kqv) {
    return "partly offloaded";
  }
  return run.gpus > 1 ? "several GPUs" : "one GPU";
}

/// All runs beside what the library says: one agreement per figure, and what disagrees where nothing may.
struct comparison {
  std::size_t accepted = 0, refused = 0;
  std::map<std::string, agreement> figures;
  std::vector<std::string> problems;

  void add(const measured_run& run) {
    const model_architecture& model = models_read().at(run.model);
    deployment d{.model = model};
    d.parallel.pipeline = std::max(1u, run.gpus);
    const refusal reason = llama_cpp_refusal(run.options, d);
    const std::string words = reason ? error(reason.text, reason.first, reason.second).what() : "";
    if (run.refused == "?" ? words.empty() : words != run.refused) {
      problems.push_back(run.model + ": \"" + words + "\" instead of \"" + run.refused + "\"");
      return;
    }
    if (reason) {
      ++refused;
      return;
    }
    ++accepted;
    const llama_cpp_memory memory = llama_cpp_memory_of(run.options, d);
    const llama_cpp_cache::sizes& sizes = memory.sizes;
    const bool same = sizes.n_ctx == run.n_ctx && sizes.n_ctx_seq == run.n_ctx_seq &&
                      sizes.n_batch == run.n_batch && sizes.n_ubatch == run.n_ubatch;
    if (!same)
      problems.push_back(run.model + ": effective sizes of n_ctx " + std::to_string(run.options.n_ctx));
    const std::string place = place_of(run, model);
    const std::string graph =
        std::string(model.model_type) + (run.has_flash_attention() ? ", flash" : ", plain");
    const auto whole = [](bytes size) { return byte_range{size.value, size.value, size.value}; };
    const auto buffers = [&](const llama_cpp_buffers& ours, const measured_buffers& theirs) {
      figures["model"].add(whole(ours.model_total()), theirs.model);
      figures["context"].add(whole(ours.context_total()), theirs.context);
    };
    for (std::size_t i = 0; i < run.on_gpus.size(); ++i) {
      buffers(memory.gpus[i], run.on_gpus[i]);
      figures["compute, " + place + ", " + graph].add(memory.gpus[i].compute.range, run.on_gpus[i].compute);
    }
    buffers(memory.host, run.on_host);
    const std::string host = run.gpus == 0 ? "compute, " + place + ", " + graph : "host compute, " + place;
    figures[host].add(memory.host.compute.range, run.on_host.compute);
  }
};

}  // namespace tests::llama_cpp
