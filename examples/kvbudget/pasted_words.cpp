// What a pasted command means in this program's own options.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "pasted_command.hpp"

namespace cli {

namespace {

/// An engine's option that has a name of its own here; `engine` empty: any.
struct translation {
  std::string_view engine;
  std::string_view from;
  const char* to;
};
constexpr translation translations[] = {
    {"", "tensor-parallel-size", "--tensor-parallel"},
    {"", "pipeline-parallel-size", "--pipeline-parallel"},
    {"", "data-parallel-size", "--data-parallel"},
    {"sglang", "expert-parallel-size", "--expert-parallel"},
    {"tensorrt-llm", "moe-expert-parallel-size", "--expert-parallel"},
    {"vllm", "decode-context-parallel-size", "--decode-context-parallel"},
    {"vllm", "num-speculative-tokens", "--speculative-tokens"},
    {"vllm", "spec-tokens", "--speculative-tokens"},
    {"vllm", "spec-model", "--speculative-model"},
    {"sglang", "speculative-num-steps", "--speculative-tokens"},
    {"sglang", "speculative-draft-model-path", "--speculative-model"},
    {"sglang", "max-loras-per-batch", "--max-loras"},
};

/// The longest sequence that each engine is started for.
constexpr std::string_view lengths[] = {"max-model-len", "context-length", "max-seq-len"};

/// What engines make of weights that are stored in 16 bits, where the checkpoint's name (`unless`) does not
/// say that they are stored so already.
struct quantized_on_load {
  std::string_view method;
  const char* weights;
  std::string_view unless;
};
constexpr quantized_on_load on_load[] = {
    {"fp8", "fp8_linear", "fp8"},          {"fp8_per_tensor", "fp8_linear", "fp8"},
    {"fp8_per_block", "fp8_block", "fp8"}, {"ptpc_fp8", "fp8_channel", "fp8"},
    {"bitsandbytes", "nf4", "bnb"},
};

/// Methods that only name what the checkpoint says about itself.
constexpr std::string_view of_checkpoint[] = {"aqlm",
                                              "auto-round",
                                              "auto_awq",
                                              "awq",
                                              "awq_marlin",
                                              "bitblas",
                                              "compressed-tensors",
                                              "fbgemm_fp8",
                                              "gguf",
                                              "gpt_oss_mxfp4",
                                              "gptq",
                                              "gptq_bitblas",
                                              "gptq_marlin",
                                              "gptq_marlin_24",
                                              "hqq",
                                              "humming",
                                              "inc",
                                              "ipex",
                                              "marlin",
                                              "modelopt",
                                              "modelopt_fp4",
                                              "modelopt_fp8",
                                              "modelopt_mixed",
                                              "modelopt_mxfp8",
                                              "modelslim",
                                              "moe_wna16",
                                              "mxfp4",
                                              "petit_nvfp4",
                                              "qoq",
                                              "quark",
                                              "squeezellm",
                                              "w4afp8",
                                              "w8a8_fp8",
                                              "w8a8_int8"};

template <std::size_t Count> bool holds(const std::string_view (&list)[Count], std::string_view word) {
  return std::find(list, list + Count, word) != list + Count;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

/// A degree of parallelism; 0: not a plain number.
std::uint64_t degree(const pasted_command& command, const char* name) {
  const pasted_option* option = command.find(name);
  if (option == nullptr) return 1;
  std::uint64_t number = 0;
  for (const char c : option->value) {
    if (c < '0' || c > '9' || number > 1'000'000) return 0;
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

bool has_safetensors(const std::filesystem::path& folder) {
  std::error_code problem;
  std::filesystem::directory_iterator file(folder, problem);
  while (!problem && file != std::filesystem::directory_iterator()) {
    if (file->path().extension() == ".safetensors") return true;
    file.increment(problem);
  }
  return false;
}

/// The name of a model in that of a GGUF file: without folders, ending and the number of its part.
std::string name_of_gguf(std::string_view path) {
  path.remove_prefix(path.find_last_of("/\\") + 1);  // npos + 1 = 0
  path.remove_suffix(std::string_view(".gguf").size());
  const std::size_t part = path.rfind("-of-");
  if (part != std::string_view::npos && part >= 6 &&
      path.substr(part + 4).find_first_not_of("0123456789") == std::string_view::npos) {
    const std::size_t dash = path.rfind('-', part - 1);
    if (dash != std::string_view::npos) path = path.substr(0, dash);
  }
  return std::string(path);
}

/// `--gguf=FILE`, `--safetensors=FOLDER`, `--config=FILE` for what exists as a path; otherwise a name.
std::string model_word(const std::string& model) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path path(model);
  if (fs::is_directory(path, ignored)) {
    const fs::path config = path / "config.json";
    const bool only_config = fs::exists(config, ignored) && !has_safetensors(path);
    return only_config ? "--config=" + config.string() : "--safetensors=" + model;
  }
  const std::string extension = lower(path.extension().string());
  if (extension == ".gguf" && fs::exists(path, ignored)) return "--gguf=" + model;
  if (extension == ".safetensors" && fs::exists(path, ignored)) return "--safetensors=" + model;
  if (extension == ".json" && fs::exists(path, ignored)) return "--config=" + model;
  if (extension == ".gguf" && model.size() > extension.size()) return "--model=" + name_of_gguf(model);
  return "--model=" + model;
}

/// `vllm@0.21`, `sglang@0.5.6`: rules of SGLang differ by patch, of the others by minor version.
std::string engine_word(const pasted_command& command) {
  const pasted_option* version = command.find("version");
  if (version == nullptr) return "--engine=" + command.engine;
  std::size_t end = 0;
  const int parts = command.engine == "sglang" ? 3 : 2;
  for (int part = 0; part < parts && end != std::string::npos; ++part) {
    end = version->value.find('.', end == 0 ? 0 : end + 1);
  }
  return "--engine=" + command.engine + '@' + version->value.substr(0, end);
}

class translator {
 public:
  explicit translator(const pasted_command& command) : command_(command) {}

  std::vector<std::string> run() {
    words_.push_back(engine_word(command_));
    if (command_.engine == "ollama") return of_ollama();
    words_.push_back(model_word(command_.model));
    if (command_.engine == "llama.cpp") return of_llama_cpp();
    for (const pasted_option& option : command_.options) translate(option);
    // An engine that is not told otherwise uses one GPU, however many there are.
    if (command_.find("tensor-parallel-size") == nullptr) add("--tensor-parallel", "1");
    return std::move(words_);
  }

 private:
  void add(std::string_view name, const std::string& value) {
    words_.push_back(std::string(name) + '=' + value);
  }
  void unchanged(const pasted_option& option) {
    if (option.negated) {
      words_.push_back("--no-" + option.name);
    } else if (option.value.empty()) {
      words_.push_back("--" + option.name);
    } else {
      add("--" + option.name, option.value);
    }
  }

  /// What is 0 or empty is left to Ollama.
  std::vector<std::string> of_ollama() {
    if (!command_.model.empty()) words_.push_back("--model=" + command_.model);
    for (const pasted_option& option : command_.options) {
      const std::string value = lower(option.value);
      if (option.name == "flash-attention") {
        const bool on = value == "1" || value == "true";
        const bool off = value == "0" || value == "false";
        if (!value.empty()) add("--flash-attention", on ? "on" : off ? "off" : value);
      } else if (option.name == "sched-spread") {
        if (!option.negated) unchanged(option);
      } else if (!value.empty() && value != "0") {
        unchanged(option);
      }
    }
    return std::move(words_);
  }

  /// llama.cpp uses all GPUs that there are, and its options have their names here, too.
  std::vector<std::string> of_llama_cpp() {
    if (command_.program == "llama-cli") add("--program", "llama-cli");
    const pasted_option* fit = command_.find("fit");
    const std::string fitted = fit == nullptr ? "" : lower(fit->value);
    const bool fits = fitted != "0" && fitted != "off" && fitted != "false" && fitted != "disabled";
    words_.emplace_back(fits ? fit_is_said : "--fit=off");
    const pasted_option* file = command_.find("hf-file");
    if (file != nullptr && file->value.ends_with(".gguf")) words_[1] = model_word(file->value);
    for (const pasted_option& option : command_.options) {
      const std::string& name = option.name;
      const std::string value = lower(option.value);
      if (name == "kv-offload" || name == "op-offload" || name == "mmap" || &option == file ||
          &option == fit) {
        // What it does anyway, or was said above.
      } else if (!fits && (name == "fit-target" || name == "fit-ctx")) {
        // Without effect.
      } else if (name == "flash-attn") {
        const bool on = value.empty() || value == "1" || value == "true" || value == "enabled";
        const bool off = value == "0" || value == "false" || value == "disabled";
        add("--flash-attn", on ? "on" : off ? "off" : value == "-1" ? "auto" : value);
      } else if (name == "mlock" || (name == "load-mode" && value == "mmap+mlock")) {
        add("--load-mode", "mlock");
      } else if (name == "parallel" && value == "-1") {
        // By program.
      } else if (name == "device" && value != "none") {
        unchanged({"device " + option.value, "", false});
      } else if (name == "mmproj" && words_[1].starts_with("--gguf=") &&
                 model_word(option.value) == "--gguf=" + option.value) {
        add("--gguf", option.value);
      } else {
        unchanged(option);
      }
    }
    return std::move(words_);
  }

  void translate(const pasted_option& option) {
    const std::string& name = option.name;
    if (name == "version") return;
    const pasted_option* algorithm = command_.find("speculative-algorithm");
    if (name == "speculative-draft-model-path" && algorithm != nullptr && is_of_model(algorithm->value))
      return;
    for (const translation& each : translations) {
      if (name == each.from && (each.engine.empty() || each.engine == command_.engine)) {
        return add(each.to, option.value);
      }
    }
    if (name == "dtype" || name == "kv-cache-dtype") {
      if (lower(option.value) != "auto") unchanged(option);
    } else if (name == "enable-expert-parallel") {
      experts(option);
    } else if (name == "quantization") {
      quantization(option);
    } else if (name == "speculative-config") {
      speculation(option);
    } else if (name == "spec-method" || name == "speculative-algorithm") {
      if (!method(option.value)) unchanged(option);
    } else if (name == "speculative-model") {
      if (lower(option.value) != "[ngram]" || !method(option.value)) unchanged(option);
    } else if (name == "enable-lora") {
      adapters(option);
    } else if ((name == "max-loras" || name == "max-lora-rank") && command_.engine == "vllm" &&
               command_.find("enable-lora") == nullptr) {
      // Without --enable-lora vLLM keeps no room for adapters.
    } else {
      unchanged(option);
      if (holds(lengths, name)) length(option.value);
    }
  }

  /// vLLM spreads whole experts over all tensor ranks of all replicas.
  void experts(const pasted_option& option) {
    const std::uint64_t tensor = degree(command_, "tensor-parallel-size");
    const std::uint64_t data = degree(command_, "data-parallel-size");
    if (option.negated) return;
    if (tensor == 0 || data == 0) return unchanged(option);
    add("--expert-parallel", std::to_string(tensor * data));
  }

  void quantization(const pasted_option& option) {
    const std::string method = lower(option.value);
    if (holds(of_checkpoint, method) || method == "none") return;
    for (const quantized_on_load& each : on_load) {
      if (method != each.method) continue;
      if (lower(command_.model).find(each.unless) == std::string::npos) add("--weights", each.weights);
      return;
    }
    unchanged(option);
  }

  /// Whether a method means the model's own draft layers. For SGLang that is also EAGLE without a draft, or
  /// with those layers as a checkpoint of their own.
  [[nodiscard]] bool is_of_model(const std::string& named) const {
    const std::string word = lower(named);
    if (word == "mtp" || word == "nextn" || word.ends_with("_mtp")) return true;
    if (word != "eagle" || command_.engine != "sglang") return false;
    const pasted_option* draft = command_.find("speculative-draft-model-path");
    return draft == nullptr || draft->value == command_.model || lower(draft->value).ends_with("nextn");
  }

  /// What drafts tokens, by the engines' names of it; false for one that is not known here.
  bool method(const std::string& named) {
    const std::string word = lower(named);
    const char* own = nullptr;
    if (is_of_model(named)) {
      own = "mtp";
    } else if (word == "eagle" || word == "eagle3") {
      own = "eagle";
    } else if (word == "ngram" || word == "[ngram]") {
      own = "ngram";
    } else if (word == "draft_model" || word == "standalone") {
      own = "draft_model";
    }
    if (own != nullptr) add("--speculative-method", own);
    return own != nullptr;
  }

  /// Room for LoRA adapters: vLLM keeps it for one of rank 16 where nothing else is said.
  void adapters(const pasted_option& option) {
    if (option.negated || command_.engine != "vllm") return unchanged(option);
    if (command_.find("max-loras") == nullptr) add("--max-loras", "1");
    if (command_.find("max-lora-rank") == nullptr) add("--max-lora-rank", "16");
  }

  void speculation(const pasted_option& option) {
    const nlohmann::json config = nlohmann::json::parse(option.value, nullptr, false);
    const auto text_of = [&](const char* key) {
      const auto found = config.find(key);
      return found != config.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    const std::string named = config.is_object() ? text_of("method") : "";
    const std::string model = config.is_object() ? text_of("model") : "";
    const bool known = named.empty() ? !model.empty() : method(named);
    if (!known) return unchanged(option);
    if (!model.empty() && !is_of_model(named)) add("--speculative-model", model);
    for (const char* key : {"num_speculative_tokens", "num-speculative-tokens"}) {
      const auto tokens = config.find(key);
      if (tokens != config.end() && tokens->is_number_unsigned())
        return add("--speculative-tokens", tokens->dump());
    }
  }

  /// Without other work, what fits is asked about requests of the longest length.
  void length(const std::string& value) {
    const bool number = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
    if (number) add("--context", value);
  }

  const pasted_command& command_;
  std::vector<std::string> words_;
};

}  // namespace

std::vector<std::string> words_of(const pasted_command& command) { return translator(command).run(); }

}  // namespace cli
