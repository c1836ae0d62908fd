#pragma once

// The part of the page that says how llama.cpp's own memory report compares.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/llama_cpp_runs.hpp"

namespace tests::accuracy {

/// A figure of `tests::llama_cpp::comparison` in the words of the page.
[[nodiscard]] inline std::string llama_cpp_title(const std::string& figure) {
  if (figure == "model") return "weights of a device";
  if (figure == "context") return "keys, values and states of a device";
  const auto ends = [&](const std::string& end) {
    return figure.size() > end.size() && figure.compare(figure.size() - end.size(), end.size(), end) == 0;
  };
  for (const auto& [end, words] :
       {std::pair<std::string, const char*>{", flash", ""}, {", plain", ", no flash attention"}}) {
    if (ends(end)) return figure.substr(0, figure.size() - end.size()) + words;
  }
  return figure;
}

/// The section; adds what disagrees where nothing may to `problems`.
[[nodiscard]] inline std::string llama_cpp_section(const std::filesystem::path& file,
                                                   std::vector<std::string>& problems) {
  llama_cpp::comparison found;
  std::size_t runs = 0, devices = 0;
  for (const llama_cpp::measured_run& run : llama_cpp::committed_runs(file)) {
    found.add(run);
    devices += run.refused.empty() ? run.on_gpus.size() + 1 : 0;
    ++runs;
  }
  for (const std::string& problem : found.problems) problems.push_back("llama-cpp.json: " + problem);
  std::string text = fmt::format(
      "## llama.cpp\n"
      "\n"
      "{} runs of {} models, each read from a GGUF file of its shape and allocated with the run's\n"
      "options, beside what llama.cpp of August 2026 reported of itself: model, context and compute\n"
      "buffers of {} devices, from one CPU to eight GPUs. Figures are bytes: *exact* is to the byte.\n"
      "The GPUs were devices that follow the buffer rules of its CUDA backend; the CUDA context and\n"
      "what kernels take from pools are in no such report. Effective sizes (`n_ctx`, cells of a\n"
      "sequence, `n_batch`, `n_ubatch`) agree in all {} runs that started; the other {} are refused,\n"
      "in the engine's words where it said any.\n"
      "\n"
      "A compute buffer follows ggml's allocator through the graph of one batch. These graphs were\n"
      "worked out on the grid of runs that this is a spread of, so the table says how well they fit;\n"
      "cache, weights and refusals are rules of the engine's source. Where a graph is known the range\n"
      "is the figure itself; where it is known only nearly (some with weights, experts or cache in\n"
      "host memory, RWKV and mixed cache types of LFM2 on the CPU, gated delta nets), it comes with\n"
      "low and high, and *in range* counts the runs between them. Errors are ours less the report.\n"
      "\n"
      "| figure | n | exact | in range | lowest | highest |\n"
      "|:--|--:|--:|--:|--:|--:|\n",
      runs, llama_cpp::models_read().size(), devices, found.accepted, found.refused);
  const auto percent = [](double share) { return share == 0 ? "0" : fmt::format("{:+.2f} %", 100 * share); };
  for (const char* kind : {"model", "context", "host", "compute"}) {
    for (const auto& [figure, each] : found.figures) {
      if (figure.rfind(kind, 0) != 0) continue;
      text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", llama_cpp_title(figure), each.runs, each.exact,
                          each.held, percent(each.lowest), percent(each.highest));
      if (each.held != each.runs) problems.push_back("llama-cpp.json: " + figure + ": " + each.text());
    }
  }
  return text + "\n";
}

}  // namespace tests::accuracy
