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
      "## llama.cpp\n\n"
      "{} runs of {} models, each read from a GGUF file of its shape and allocated with the run's options, "
      "beside "
      "what llama.cpp of\n"
      "August 2026 reported of itself: model, context and compute buffers of {} devices, from one CPU to "
      "eight "
      "GPUs. Figures are bytes:\n"
      "*exact* is to the byte. The GPUs were devices that follow the buffer rules of its CUDA backend; the "
      "CUDA "
      "context and what kernels\n"
      "take from pools are in no such report. Effective sizes (`n_ctx`, cells of a sequence, `n_batch`, "
      "`n_ubatch`) agree in all {} runs\n"
      "that started; the other {} are refused, in the engine's words where it said any.\n\n"
      "A compute buffer follows ggml's allocator through the graph of one batch. These graphs were worked "
      "out on "
      "the grid of runs that this\n"
      "is a spread of: the table says how well they fit, and the cache, the weights and the refusals, which "
      "follow "
      "from the engine's\n"
      "source, that they were read rightly. Where a graph is known the range is the figure itself. Where it "
      "is "
      "known only nearly, it\n"
      "comes with low and high: with weights, experts or cache in host memory from 25 % below to 60 % above, "
      "for "
      "RWKV and for mixed\n"
      "cache types of LFM2 on the CPU, and for gated delta nets. *In range* counts the runs between them; "
      "errors "
      "are ours less the\n"
      "report.\n\n"
      "| figure | n | exact | in range | lowest | highest |\n|:--|--:|--:|--:|--:|--:|\n",
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
