// What llama.cpp's `--fit` makes of a request.
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "command_error.hpp"
#include "kvbudget/engine/llama_cpp/fit.hpp"
#include "kvbudget/io/quantity_text.hpp"
#include "kvbudget/report/allocation.hpp"
#include "kvbudget/report/format.hpp"
#include "request.hpp"

namespace cli {

using namespace kvbudget;

namespace {

/// What `--fit` changes, or would change (`said`), one line each.
std::vector<std::string> fit_notes(const llama_cpp_fit_result& found, std::uint32_t layers, bool said,
                                   const std::string& who) {
  std::vector<std::string> notes;
  const auto does = [&](const char* verb) {
    return said ? fmt::format("{} would {}", who, verb) : fmt::format("{} {}s", who, verb);
  };
  for (std::uint32_t i = 0; i < found.step_count; ++i) {
    const llama_cpp_fit_step& step = found.steps[i];
    if (step.change != llama_cpp_fit_change::context) continue;
    notes.push_back(fmt::format("{} the context from {} to {}", does("lower"), detail::grouped(step.before),
                                detail::grouped(step.after)));
  }
  bool dealt_out = false;
  for (std::uint32_t i = 0; i < found.step_count; ++i) {
    dealt_out = dealt_out || found.steps[i].change != llama_cpp_fit_change::context;
  }
  for (std::uint32_t i = 0; dealt_out && i < found.gpu_count; ++i) {
    const llama_cpp_fitted_gpu& gpu = found.gpus[i];
    notes.push_back(fmt::format("{} {} of {} layers on GPU{}", does("put"), gpu.n_layer, layers + 1, i));
    if (gpu.n_part != 0) notes.back() += fmt::format(", {} of them whole", gpu.n_layer - gpu.n_part);
  }
  if (found.gave_up) {
    notes.push_back(fmt::format("{} up: {}", does("give"), report::refusal_text(found.gave_up)));
    return notes;
  }
  if (!found.changed() && !said) notes.push_back(who + " changes nothing");
  for (std::uint32_t i = 0; i < found.gpu_count && found.changed(); ++i) {
    if (found.gpus[i].meets_target()) continue;
    notes.push_back(fmt::format("{} less than its {} free on GPU{}", does("leave"), found.gpus[i].target, i));
    break;
  }
  return notes;
}

}  // namespace

void request_options::read_fit(request& result) const {
  const auto typed = engine_options_.value("--fit");
  auto* const on = std::get_if<engines::llama_cpp>(&result.engine);
  const auto* const ollama = std::get_if<engines::ollama>(&result.engine);
  if (on == nullptr && ollama == nullptr) return;
  const fit_mode mode = on == nullptr ? fit_mode::say : typed ? fit_mode_in(*typed) : fit_mode::off;
  for (const char* option : {"--fit-target", "--fit-ctx"}) {
    if (on != nullptr && mode == fit_mode::off && engine_options_.given(option))
      refuse("{} needs --fit on", option);
  }
  if (mode == fit_mode::off) return;
  const bool no_devices = on != nullptr && on->no_devices;
  if (!result.gpu || no_devices) {
    if (mode == fit_mode::say) return;
    if (no_devices) refuse("--fit on: not with --device none");
    refuse("--fit on needs a GPU: add --gpu ID[xN] or --gpu-profile FILE");
  }

  const bool has_length = context_ || prompt_ || output_ || active_tokens_;
  deployment& d = result.d;
  engines::llama_cpp asked;
  llama_cpp_fit_settings settings;
  if (on != nullptr) {
    asked = *on;
    if (!has_length) {  // no `-c`: the context is for --fit to choose
      if (sequences_ && asked.n_parallel == 0) asked.n_parallel = d.workload.total_sequences();
      asked.sized_for_requests = false;
    }
    if (const auto targets = engine_options_.value("--fit-target")) {
      const std::vector<bytes> sizes = fit_targets_in(*targets);
      if (sizes.size() == 1) settings = llama_cpp_fit_settings(sizes[0]);
      for (std::size_t i = 0; sizes.size() > 1 && i < sizes.size(); ++i) settings.targets[i] = sizes[i];
    }
    if (const auto least = engine_options_.value("--fit-ctx")) {
      settings.n_ctx_min = for_option("--fit-ctx", [&] { return parse_count(*least, "", 1, UINT32_MAX); });
    }
  } else {
    engines::ollama set_up = *ollama;
    size_for_requests(set_up, d, result.sized_for_requests ? result.open : open_sizes{});
    asked = set_up.started(d, &*result.gpu);
  }
  llama_cpp_gpu_memory gpus[llama_cpp_max_devices];
  for (llama_cpp_gpu_memory& each : gpus) each = {result.available.expected, usable(*result.gpu).expected};
  llama_cpp_fit_result found = llama_cpp_fit(asked, d, gpus, result.gpu_count, settings);
  const bool said = mode == fit_mode::say;
  const bool is_news = found.changed() || (!said || on != nullptr);
  if (said && (!is_news || (!found.changed() && llama_cpp_refusal(asked, d)))) return;
  const std::string who = on == nullptr ? "the --fit of Ollama's llama-server"
                          : said        ? "llama.cpp's --fit"
                                        : "--fit";
  for (std::string& note : fit_notes(found, result.model.num_hidden_layers, said, who)) {
    result.notes.push_back(std::move(note));
  }
  if (on != nullptr) result.fit = found;
  if (said) return;
  result.fit_applied = true;
  *on = found.options;
  if (!has_length && found.changed()) {
    const std::uint64_t length =
        llama_cpp_cache::sizes_of(*on, result.model, llama_cpp_cache::backend::cuda).n_ctx_seq;
    d.workload.context = tokens{length};
  }
}

}  // namespace cli
