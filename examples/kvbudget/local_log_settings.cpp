// What a log of llama.cpp, Ollama, LM Studio or ik_llama.cpp tells of its start, as options of this program.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/io/format_names.hpp"
#include "kvbudget/io/input_error.hpp"
#include "kvbudget/io/local_comparison.hpp"
#include "kvbudget/models.hpp"
#include "log_settings.hpp"
#include "named_checkpoint.hpp"

namespace cli {

using namespace kvbudget;

namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.size() <= 12 && text.find_first_not_of("0123456789") == std::string::npos;
}

/// `Q4_K - Medium`, `IQ2_XXS - 2.0625 bpw`, `all F32`, `MXFP4 MoE` → the scheme that most tensors have; empty
/// where this version knows none of that name.
std::string scheme_of_file_type(std::string_view type) {
  for (const std::string_view word : {"all ", "mostly "}) {
    if (const std::size_t at = type.find(word); at != std::string_view::npos)
      type.remove_prefix(at + word.size());
  }
  std::string name(type.substr(0, type.find_first_of(" ,(")));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (const std::size_t size = name.find("_k_"); size != std::string::npos) name.resize(size + 2);
  if (name.ends_with("_k")) name.back() = 'K';
  if (name == "f16" || name == "f32") name.insert(1, "p");
  try {
    (void)weight_scheme_named(name);
  } catch (const input_error&) {
    return "";
  }
  return name;
}

/// `/models/Qwen3-8B-Q4_K_M-00001-of-00002.gguf` → `Qwen3-8B-Q4_K_M`.
std::string file_stem(const std::string& path) {
  std::string name = path.substr(path.find_last_of("/\\") + 1);
  if (name.ends_with(".gguf")) name.resize(name.size() - 5);
  constexpr std::string_view part = "-00001-of-00001";
  const std::size_t at = name.rfind("-of-");
  if (at != std::string::npos && at >= 6 && name.size() == at + 9) name.resize(name.size() - part.size());
  return name;
}

class local_teller {
 public:
  local_teller(const engine_log& log, std::vector<std::string>& warnings) : log_(log), warnings_(warnings) {}

  std::vector<told_option> tell() {
    engine();
    model();
    sizes();
    cache();
    devices();
    fitted();
    return std::move(told_);
  }

 private:
  [[nodiscard]] std::string setting(std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
      const auto found = log_.settings.find(key);
      if (found != log_.settings.end() && !found->second.empty()) return found->second;
    }
    return "";
  }
  void add(const char* option, std::string value, std::string from, std::string doubt = "") {
    told_.push_back({option, std::move(value), std::move(from), std::move(doubt)});
  }
  void add_number(const char* option, std::initializer_list<const char*> keys) {
    const std::string value = setting(keys);
    if (is_number(value) && value.find_first_not_of('0') != std::string::npos)
      add(option, value, *keys.begin());
  }
  [[nodiscard]] bool is_ik() const { return log_.front_end == "ik_llama.cpp"; }

  /// Builds from before caches of single sequences do not print how many there are.
  [[nodiscard]] bool is_before_streams() const {
    bool any = false;
    for (const printed_cache& each : log_.caches) {
      if (each.streams) return false;
      any = any || !each.recurrent;
    }
    return any;
  }
  void engine() {
    if (is_ik()) return add("--engine", "llama.cpp", "the engine's lines");
    if (is_number(log_.version) && log_.version.size() >= 3 && log_.version.size() <= 7) {
      return add("--engine", "llama.cpp@b" + log_.version, "the build");
    }
    if (is_before_streams()) {
      return add("--engine", "llama.cpp@b5912", "the wording of the cache's line",
                 "the log does not print llama.cpp's build: rules from before b5913, by the cache's line");
    }
    add("--engine", "llama.cpp", "the engine's lines",
        "the log does not print llama.cpp's build: the newest rules are taken, --engine llama.cpp@bN sets "
        "it");
  }

  void model() {
    const std::string stem = file_stem(setting({"model_path"}));
    std::string name;
    const bool by_file = stem.size() <= 200 && checkpoint_named(stem).has_value();
    if (by_file) name = stem;
    for (const std::string& each : {stem, setting({"general.name"}), log_.model}) {
      if (name.empty()) name = catalogue_name_of(each);
    }
    if (!name.empty()) add("--model", name, "model");
    if (by_file) return;  // its name says what the weights are
    const model_architecture* known = name.empty() ? nullptr : models::find(name.c_str());
    const std::string type = setting({"file type"});
    if (type.empty() || (known != nullptr && known->precision_count != 0)) return;
    const std::string scheme = scheme_of_file_type(type);
    if (scheme.empty()) {
      warnings_.push_back(
          fmt::format("file type \"{}\" of the log is not known here: give --gguf FILE or --weights",
                      detail::printable(type, 40)));
      return;
    }
    const bool mixed = scheme.find('q') != std::string::npos && scheme != "q8_0";
    add("--weights", scheme, "file type",
        mixed ? fmt::format(
                    "a file of type {} has some tensors in other formats: --gguf FILE counts every tensor",
                    detail::printable(type, 40))
              : "");
  }

  void sizes() {
    add_number("--ctx-size", {"n_ctx", "KvSize"});
    add_number("--batch-size", {"n_batch", "BatchSize"});
    add_number("--ubatch-size", {"n_ubatch"});
    sequences();
    add_number("--n-outputs-max", {"n_outputs_max"});
    add_number("--n-rs-seq", {"n_rs_seq"});
    const std::string unified = setting({"kv_unified"});
    if (unified == "true" || unified == "1") add("--kv-unified", "", "kv_unified");
    if (unified == "false" || unified == "0") add("--no-kv-unified", "", "kv_unified");
    if (unified.empty()) by_streams();
    std::string flash = setting({"flash_attn", "FlashAttention"});
    if (flash == "auto" || flash == "-1") flash = setting({"flash_attn_auto"});
    if (flash == "1" || flash == "enabled" || flash == "Enabled" || flash == "true" || flash == "on") {
      add("--flash-attn", "on", "flash_attn");
    } else if (flash == "0" || flash == "disabled" || flash == "Disabled" || flash == "false" ||
               flash == "off") {
      add("--flash-attn", "off", "flash_attn");
    } else if (is_before_streams() && !is_ik() && flash.empty()) {
      add("--flash-attn", "off", "no flash_attn");
    }
    const std::string mode = setting({"load_mode"});
    if (mode == "none" || mode == "mmap" || mode == "mlock" || mode == "dio") {
      add("--load-mode", mode, "load_mode");
    } else if (const std::string mapped = setting({"mmap"}); mapped == "true" || mapped == "false") {
      add("--load-mode", mapped == "true" ? "mmap" : "none", "mmap");
    }
  }
  void sequences() {
    const std::size_t before = told_.size();
    add_number("--parallel", {"n_seq_max", "n_slots", "Parallel"});
    if (told_.size() != before) return;
    for (const printed_cache& each : log_.caches) {
      if (!each.sequences || each.sequences->value == 0) continue;
      return add("--parallel", std::to_string(each.sequences->value), "sequences of the cache");
    }
    add("--parallel", "1", "no n_seq_max");
  }
  void by_streams() {
    for (const printed_cache& each : log_.caches) {
      if (!each.streams || !each.sequences || each.sequences->value <= 1) continue;
      add(each.streams->value == 1 ? "--kv-unified" : "--no-kv-unified", "", "streams of the cache");
      return;
    }
  }

  void cache() {
    const printed_cache* windowed = nullptr;
    const printed_cache* whole = nullptr;
    for (const printed_cache& each : log_.caches) {
      if (each.recurrent) continue;
      (each.label == "SWA" ? windowed : whole) = &each;
    }
    const printed_cache* any = whole != nullptr ? whole : windowed;
    if (any != nullptr) {
      type("--cache-type-k", any->key_type);
      type("--cache-type-v", any->value_type.empty() ? any->key_type : any->value_type);
    } else if (const std::string kept = setting({"KvCacheType"}); !kept.empty()) {
      type("--cache-type-k", kept);
      type("--cache-type-v", kept);
    }
    if (windowed != nullptr && whole != nullptr && windowed->cells && whole->cells &&
        windowed->cells->value == whole->cells->value) {
      add("--swa-full", "", "cells of the windows");
    }
  }
  void type(const char* option, const std::string& name) {
    if (name.empty() || is_ik()) return;
    for (std::size_t i = 1; i < llama_cpp_cache_type_count; ++i) {
      const char* known[] = {"f16", "f32", "bf16", "q8_0", "q4_0", "q4_1", "iq4_nl", "q5_0", "q5_1"};
      if (name == known[i - 1]) return add(option, name, "the cache's line");
    }
    warnings_.push_back(fmt::format("cache type \"{}\" of the log is not known here: give {}",
                                    detail::printable(name, 40), option));
  }

  void devices() {
    const std::vector<const printed_device*> gpus = gpus_in(log_);
    const bool rows = std::any_of(log_.devices.begin(), log_.devices.end(), [](const printed_device& each) {
      return detail::is_split_buffer(each.name);
    });
    if (gpus.empty()) {
      add("--device", "none", "no GPU");
    } else if (rows) {
      add("--split-mode", "row", "split buffers");
      add("--tensor-parallel", std::to_string(gpus.size()), "devices");
    } else if (gpus.size() > 1) {
      add("--pipeline-parallel", std::to_string(gpus.size()), "devices");
    }
    if (gpus.empty()) return;
    if (log_.offloaded_layers && log_.offloaded_layers->value <= max_layers) {
      add("--n-gpu-layers", std::to_string(log_.offloaded_layers->value), "offloaded");
    }
    const bool offloads = log_.offloaded_layers && log_.offloaded_layers->value > 1;
    bool on_gpu = false, on_host = false;
    for (const printed_device& each : log_.devices) {
      if (!each.context && !each.recurrent) continue;
      (detail::is_host_buffer(each.name) ? on_host : on_gpu) = true;
    }
    if (offloads && on_host && !on_gpu) add("--no-kv-offload", "", "the context's buffers");
  }

  /// Where `--fit` moved layers, it split them itself.
  void fitted() {
    if (!log_.fit || log_.fit->devices.empty()) return;
    std::string shares;
    std::uint64_t sum = 0, overflowing = 0;
    for (const printed_device* gpu : gpus_in(log_)) {
      for (const printed_fit_device& each : log_.fit->devices) {
        if (each.name != gpu->name || !each.layers || each.layers->value > max_layers + 1) continue;
        shares += (shares.empty() ? "" : ",") + std::to_string(each.layers->value);
        sum += each.layers->value;
        if (each.overflowing) overflowing += each.overflowing->value;
      }
    }
    const auto listed = static_cast<std::size_t>(std::count(shares.begin(), shares.end(), ',')) + 1;
    if (sum != 0 && listed > 1 && listed == gpus_in(log_).size()) add("--tensor-split", shares, "fit");
    if (overflowing != 0) {
      warnings_.push_back(fmt::format(
          "--fit of the log keeps parts of {} layers in host memory: give them as --override-tensor",
          overflowing));
    }
  }

  const engine_log& log_;
  std::vector<std::string>& warnings_;
  std::vector<told_option> told_;
};

}  // namespace

std::vector<told_option> options_told_by_local(const engine_log& log, std::vector<std::string>& warnings) {
  return local_teller(log, warnings).tell();
}

}  // namespace cli
