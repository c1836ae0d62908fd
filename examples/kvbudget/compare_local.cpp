// `kvbudget compare` for logs of llama.cpp and what runs it: buffers of devices in place of ranks.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "command_error.hpp"
#include "compare_options.hpp"
#include "comparison_output.hpp"
#include "kvbudget/engine/llama_cpp.hpp"
#include "kvbudget/io/input_error.hpp"
#include "kvbudget/io/llama_cpp_overrides.hpp"
#include "kvbudget/io/local_comparison.hpp"
#include "kvbudget/models.hpp"
#include "kvbudget/report/allocation.hpp"
#include "kvbudget/report/format.hpp"
#include "named_checkpoint.hpp"

namespace cli {

using namespace kvbudget;

namespace {

std::string setting_of(const engine_log& log, const char* key) {
  const auto found = log.settings.find(key);
  return found == log.settings.end() ? std::string() : found->second;
}
std::uint64_t number_in(const engine_log& log, const char* key, std::uint64_t otherwise) {
  const std::string text = setting_of(log, key);
  const bool digits =
      !text.empty() && text.size() <= 9 && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? std::stoull(text) : otherwise;
}

/// Whether the name of a model says itself what its weights are.
bool names_formats(const std::string& name) {
  const model_architecture* known = models::find(name.c_str());
  return known != nullptr ? known->precision_count != 0 : checkpoint_named(name).has_value();
}

/// Patterns of `--override-tensor` that mean the tensors which the log moved to host memory: those of many
/// layers with one name in one pattern.
std::string patterns_of(const std::vector<std::string>& tensors) {
  std::map<std::string, std::vector<std::string>> layers;  // of each `ffn_up_exps.weight`
  std::string text;
  const auto add = [&](const std::string& pattern) { text += (text.empty() ? "" : ",") + pattern + "=CPU"; };
  for (const std::string& each : tensors) {
    if (each.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") != std::string::npos) continue;
    const std::size_t point = each.find('.', 4);
    const bool of_layer = each.starts_with("blk.") && point != std::string::npos && point > 4 && point < 8 &&
                          each.find_first_not_of("0123456789", 4) == point;
    if (!of_layer && each != "output.weight" && each != "token_embd.weight") continue;
    if (of_layer) {
      layers[each.substr(point + 1)].push_back(each.substr(4, point - 4));
    } else {
      add("^" + each);
    }
  }
  constexpr std::size_t at_once = 60;  // a pattern has a largest length
  for (const auto& [name, numbers] : layers) {
    for (std::size_t first = 0; first < numbers.size(); first += at_once) {
      const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = begin + static_cast<std::ptrdiff_t>(std::min(at_once, numbers.size() - first));
      add(fmt::format("blk\\.({})\\.{}", fmt::join(begin, end, "|"), name));
    }
  }
  return text;
}

/// Puts the tensors that the log moved to host memory there, with a note, or says why not.
void take_host_tensors(const engine_log& log, request& r) {
  const std::string patterns = patterns_of(log.host_tensors);
  if (patterns.empty()) return;
  try {
    std::get<engines::llama_cpp>(r.engine).host_tensors = llama_cpp_overrides_of(patterns, r.model).tensors;
    r.notes.push_back(
        fmt::format("from the log: {} tensors whose buffer type is overridden are in host memory",
                    log.host_tensors.size()));
  } catch (const input_error& problem) {
    r.warnings.push_back(
        fmt::format("tensors that the log moves to host memory are not taken over: {}", problem.what()));
  }
}

/// Whether all experts of a model are in host memory.
bool has_all_experts(const llama_cpp_host_tensors& tensors, const model_architecture& model) {
  bool any = false;
  for (std::uint32_t layer = 0; layer < model.num_hidden_layers; ++layer) {
    if (model.kinds[model.order[layer]].num_experts == 0) continue;
    if (!tensors.has(llama_cpp_tensor::expert_down, layer)) return false;
    any = true;
  }
  return any;
}

/// How ik_llama.cpp names a cache type; an unknown one is an error.
ik_llama_cpp_cache_type ik_type_of(const std::string& name, const std::string& file) {
  constexpr const char* names[] = {"",     "f16",    "f32",  "bf16", "q8_0", "q4_0",
                                   "q4_1", "iq4_nl", "q5_0", "q5_1", "q6_0", "q8_KV"};
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (name == names[i]) return static_cast<ik_llama_cpp_cache_type>(i);
  }
  refuse("{}: cache type \"{}\" is not known here", file, detail::printable(name, 40));
}
static_assert(static_cast<int>(ik_llama_cpp_cache_type::q8_kv) == 11);

/// What the fork was started with: what both have as options, the rest from the log.
engines::ik_llama_cpp ik_llama_cpp_of(const engines::llama_cpp& asked, const model_architecture& model,
                                      const engine_log& log, const std::string& file) {
  engines::ik_llama_cpp on;
  on.n_ctx = asked.n_ctx;
  on.n_batch = asked.n_batch;
  on.n_ubatch = asked.n_ubatch;
  on.n_parallel = asked.n_parallel == 0 ? 1 : asked.n_parallel;
  on.flash_attn = asked.flash_attn == llama_cpp_flash_attn::on;
  on.mla = static_cast<std::uint32_t>(number_in(log, "mla_attn", 0));
  on.amb = number_in(log, "attn_max_b", 0);
  on.fmoe = setting_of(log, "fused_moe") != "0";
  on.offload_kqv = asked.offload_kqv;
  on.n_gpu_layers = asked.no_devices ? 0 : asked.n_gpu_layers;
  on.cpu_moe = asked.cpu_moe || has_all_experts(asked.host_tensors, model);
  on.n_cpu_moe = asked.n_cpu_moe;
  on.type_k = static_cast<ik_llama_cpp_cache_type>(asked.type_k);
  on.type_v = static_cast<ik_llama_cpp_cache_type>(asked.type_v);
  for (const printed_cache& each : log.caches) {
    if (each.recurrent) continue;
    if (asked.type_k == llama_cpp_cache_type::automatic) on.type_k = ik_type_of(each.key_type, file);
    if (asked.type_v == llama_cpp_cache_type::automatic) {
      on.type_v = ik_type_of(each.value_type.empty() ? each.key_type : each.value_type, file);
    }
  }
  return on;
}

/// The program that fits the compute buffers, where neither the log nor the user says how many tokens of a
/// batch have logits; with a note about it.
comparison with_fitting_outputs(const engine_log& log, request& r, engines::llama_cpp on) {
  comparison found = compare_with_log(log, r.d, on);
  if (compute_distance(found) == 0) return found;
  engines::llama_cpp other = on;
  other.program =
      on.program == llama_cpp_program::library ? llama_cpp_program::llama_server : llama_cpp_program::library;
  comparison second = compare_with_log(log, r.d, other);
  if (compute_distance(second) >= compute_distance(found)) return found;
  r.notes.push_back(
      other.program == llama_cpp_program::library
          ? "no line says so, but the compute buffers are nearer to logits of every token of a batch: "
            "--program library"
          : "no line says so, but the compute buffers are nearer to logits of the sampled tokens: "
            "--program llama-server");
  return second;
}

std::string gpus_text(const engine_log& log) {
  const std::vector<const printed_device*> gpus = gpus_in(log);
  if (gpus.empty()) return "the CPU";
  std::vector<std::string> names;
  for (const printed_device* each : gpus) {
    const std::string owner(detail::owner_of(each->name));
    names.push_back(each->description.empty() ? owner : fmt::format("{} ({})", owner, each->description));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

nlohmann::ordered_json texts_json(const std::vector<std::string>& lines) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::string& each : lines) all.push_back(each);
  return all;
}
nlohmann::ordered_json amount_json(const std::optional<printed_amount>& printed) {
  return printed ? nlohmann::ordered_json(printed->bytes) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json local_json(const request& r, const comparison& found, const engine_log& log,
                                  const std::string& file, const std::string& engine) {
  using nlohmann::ordered_json;
  ordered_json gpus = ordered_json::array();
  for (const printed_device* each : gpus_in(log)) {
    gpus.push_back(
        {{"name", each->name},
         {"description", each->description.empty() ? ordered_json(nullptr) : ordered_json(each->description)},
         {"total_bytes", amount_json(each->total)},
         {"free_bytes", amount_json(each->free)}});
  }
  return {{"schema", 1},
          {"log", file},
          {"engine", engine},
          {"front_end", log.front_end},
          {"model", r.model.name},
          {"gpus", std::move(gpus)},
          {"figures", figures_json(found, "device")},
          {"predicted_only", texts_json(found.predicted_only)},
          {"not_predicted", texts_json(found.not_predicted)},
          {"conclusion", found.conclusion},
          {"notes", r.notes},
          {"warnings", r.warnings}};
}

/// The one measured term of local engines, and what this log says of it.
[[noreturn]] void refuse_to_calibrate(const engine_log& log) {
  std::vector<std::string> printed;
  for (const printed_breakdown& row : log.breakdown) {
    if (!row.unaccounted || log.breakdown_projected || printed.size() == 4) continue;
    printed.push_back(fmt::format("{} MiB on {}", row.unaccounted->bytes / 1048576, row.name));
  }
  refuse(
      "--calibrate: buffers of local engines are computed, not measured; the one measured term is what is in "
      "no "
      "buffer (CUDA context, pools), which --framework-bytes sets: {}",
      printed.empty() ? "this log prints no \"unaccounted\" memory"
                      : fmt::format("\"unaccounted\" is {} in this log", fmt::join(printed, ", ")));
}

}  // namespace

int run_local_compare(CLI::App& command, compare_options& options, const engine_log& log) {
  const output_kind kind = options.output.kind();
  const std::string file = detail::printable(options.log);
  if (options.calibrate) refuse_to_calibrate(log);
  told_options told(command);
  if (told.has("--engine")) {
    const std::string asked = command.get_option("--engine")->as<std::string>();
    if (!std::holds_alternative<engines::llama_cpp>(engine_named(asked))) {
      refuse("{}: a log of {}, which --engine {} does not speak for", file, log.front_end,
             detail::printable(asked, 40));
    }
  }
  const bool outputs_typed = told.has("--program") || told.has("--n-outputs-max");
  const bool layout_typed = told.has("--tensor-parallel") || told.has("--pipeline-parallel") ||
                            told.has("--split-mode") || told.has("--device");
  const bool has_formats =
      told.has("--gguf") ||
      (told.has("--model") && names_formats(command.get_option("--model")->as<std::string>()));
  std::vector<std::string> warnings;
  for (const told_option& each : options_told_by_local(log, warnings)) {
    const bool of_layout = each.name == "--tensor-parallel" || each.name == "--pipeline-parallel" ||
                           each.name == "--split-mode" || each.name == "--device";
    if ((of_layout && layout_typed) || (each.name == "--weights" && has_formats)) continue;
    told.take(each);
  }
  if (told.has("--ctx-size")) told.take_silently("--sequences", "1");
  if (!told.is_given("--model")) {
    refuse(
        "{}: the model{} of the log is not in the catalogue: give --gguf FILE, or --model NAME or --config "
        "config.json with --weights",
        file, log.model.empty() ? "" : " " + detail::quoted(log.model));
  }

  request r;
  options.request.read_into(r);
  std::vector<std::string> notes = told.notes();
  r.notes.insert(r.notes.begin(), notes.begin(), notes.end());
  r.warnings.insert(r.warnings.end(), told.doubts().begin(), told.doubts().end());
  r.warnings.insert(r.warnings.end(), warnings.begin(), warnings.end());
  for (const std::string& each : log.notes) r.notes.push_back(detail::printable(each));
  for (const printed_device* each : gpus_in(log)) {
    if (each->name.starts_with("CUDA") || each->name.starts_with("ROCm")) continue;
    r.warnings.push_back(
        fmt::format("buffers of {} are predicted by CUDA's rules, which were never compared with it",
                    detail::printable(each->name, 40)));
    break;
  }

  const bool placed = told.has("--override-tensor") || told.has("--cpu-moe") || told.has("--n-cpu-moe");
  if (!placed) take_host_tensors(log, r);
  const engines::llama_cpp& on = std::get<engines::llama_cpp>(r.engine);
  const bool is_ik = log.front_end == "ik_llama.cpp";
  std::string engine = engine_text(r);
  const comparison found = checked(r, [&]() -> comparison {
    if (is_ik) {
      const engines::ik_llama_cpp fork = ik_llama_cpp_of(on, r.model, log, file);
      engine = fork.name().text;
      if (const refusal why = fork.refuses_to_load(r.d, nullptr)) {
        refuse("{}: {} refuses this: {}", file, engine, report::refusal_text(why));
      }
      return compare_with_log(log, r.d, fork);
    }
    if (const refusal why = on.refuses_to_load(r.d, nullptr)) {
      refuse("{}: llama.cpp refuses this: {}{}", file, report::refusal_text(why),
             log.failures.empty() ? "" : "; the log: " + log.failures.front().text);
    }
    const bool outputs_known = outputs_typed || told.has("--n-outputs-max");
    return outputs_known ? compare_with_log(log, r.d, on) : with_fitting_outputs(log, r, on);
  });
  for (const std::string& each : found.doubts) r.warnings.push_back(detail::printable(each));
  for (const std::string& each : found.predicted_only) {
    r.notes.push_back(fmt::format("predicted, not printed: {}", detail::printable(each)));
  }
  for (const std::string& each : found.not_predicted) {
    r.notes.push_back(fmt::format("printed, not predicted: {}", detail::printable(each)));
  }
  if (kind == output_kind::json) {
    print_json(local_json(r, found, log, file, engine));
    return exit_fits;
  }
  fmt::print("{}: {} on {}, {}\n", file, r.model.name, gpus_text(log), engine);
  print_figures(found, "device", size_scale::mebibytes);
  std::string sentence = found.conclusion;
  sentence[0] = static_cast<char>(sentence[0] >= 'a' ? sentence[0] - 32 : sentence[0]);
  fmt::print("{}.\n", sentence);
  print_remarks(r.notes, r.warnings);
  return exit_fits;
}

}  // namespace cli
