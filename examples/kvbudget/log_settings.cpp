#include "log_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "kvbudget/io/format_names.hpp"
#include "kvbudget/io/input_error.hpp"
#include "kvbudget/models.hpp"

namespace cli {

using namespace kvbudget;

namespace {

/// What a setting's text becomes.
enum class meaning {
  number,   ///< a positive whole number, else it is not taken
  share,    ///< a decimal number
  dtype,    ///< torch.bfloat16, half
  word,     ///< a name that is not `auto`
  if_true,  ///< a flag where it is True
  if_false  ///< a flag where it is False
};

/// A setting of an engine's log and the option that it is here, the more precise one first.
struct log_setting {
  const char* engine;  ///< as `engine_log::engine`
  const char* key;
  const char* option;
  meaning means;
};
constexpr log_setting settings[] = {
    {"vllm", "tensor_parallel_size", "--tensor-parallel", meaning::number},
    {"vllm", "pipeline_parallel_size", "--pipeline-parallel", meaning::number},
    {"vllm", "data_parallel_size", "--data-parallel", meaning::number},
    {"vllm", "decode_context_parallel_size", "--decode-context-parallel", meaning::number},
    {"vllm", "prefill_context_parallel_size", "--prefill-context-parallel-size", meaning::number},
    {"vllm", "max_model_len", "--max-model-len", meaning::number},
    {"vllm", "max_seq_len", "--max-model-len", meaning::number},
    {"vllm", "max_num_seqs", "--max-num-seqs", meaning::number},
    {"vllm", "max_num_batched_tokens", "--max-num-batched-tokens", meaning::number},
    {"vllm", "gpu_memory_utilization", "--gpu-memory-utilization", meaning::share},
    {"vllm", "kv_cache_memory_bytes", "--kv-cache-memory-bytes", meaning::number},
    {"vllm", "num_gpu_blocks_override", "--num-gpu-blocks-override", meaning::number},
    {"vllm", "block_size", "--block-size", meaning::number},
    {"vllm", "kv_cache_dtype", "--kv-cache-dtype", meaning::word},
    {"vllm", "dtype", "--dtype", meaning::dtype},
    {"vllm", "enforce_eager", "--enforce-eager", meaning::if_true},
    {"vllm", "enable_prefix_caching", "--enable-prefix-caching", meaning::if_true},
    {"vllm", "enable_chunked_prefill", "--no-enable-chunked-prefill", meaning::if_false},
    {"vllm", "chunked_prefill_enabled", "--no-enable-chunked-prefill", meaning::if_false},
    {"vllm", "disable_hybrid_kv_cache_manager", "--disable-hybrid-kv-cache-manager", meaning::if_true},
    {"vllm", "async_scheduling", "--no-async-scheduling", meaning::if_false},
    {"vllm", "mamba_cache_mode", "--mamba-cache-mode", meaning::word},
    {"vllm", "mamba_ssm_cache_dtype", "--mamba-ssm-cache-dtype", meaning::word},
    {"vllm", "mamba_cache_dtype", "--mamba-cache-dtype", meaning::word},
    {"vllm", "cpu_offload_gb", "--cpu-offload-gb", meaning::share},
    {"vllm", "language_model_only", "--language-model-only", meaning::if_true},
    {"vllm", "skip_mm_profiling", "--skip-mm-profiling", meaning::if_true},
    {"vllm", "max_loras", "--max-loras", meaning::number},
    {"vllm", "max_lora_rank", "--max-lora-rank", meaning::number},
    {"sglang", "tp_size", "--tensor-parallel", meaning::number},
    {"sglang", "pp_size", "--pipeline-parallel", meaning::number},
    {"sglang", "context_length", "--context-length", meaning::number},
    {"sglang", "mem_fraction_static", "--mem-fraction-static", meaning::share},
    {"sglang", "chunked_prefill_size", "--chunked-prefill-size", meaning::number},
    {"sglang", "max_prefill_tokens", "--max-prefill-tokens", meaning::number},
    {"sglang", "max_running_requests", "--max-running-requests", meaning::number},
    {"sglang", "max_total_tokens", "--max-total-tokens", meaning::number},
    {"sglang", "page_size", "--page-size", meaning::number},
    {"sglang", "cuda_graph_max_bs", "--cuda-graph-max-bs", meaning::number},
    {"sglang", "swa_full_tokens_ratio", "--swa-full-tokens-ratio", meaning::share},
    {"sglang", "mamba_full_memory_ratio", "--mamba-full-memory-ratio", meaning::share},
    {"sglang", "speculative_num_draft_tokens", "--speculative-num-draft-tokens", meaning::number},
    {"sglang", "enable_hierarchical_cache", "--enable-hierarchical-cache", meaning::if_true},
    {"sglang", "max_mamba_cache_size", "--max-mamba-cache-size", meaning::number},
    {"sglang", "mamba_ssm_dtype", "--mamba-ssm-dtype", meaning::word},
    {"sglang", "attention_backend", "--attention-backend", meaning::word},
    {"sglang", "kv_cache_dtype", "--kv-cache-dtype", meaning::word},
    {"sglang", "dtype", "--dtype", meaning::dtype},
    {"sglang", "disable_cuda_graph", "--disable-cuda-graph", meaning::if_true},
    {"sglang", "disable_radix_cache", "--disable-radix-cache", meaning::if_true},
    {"sglang", "disable_overlap_schedule", "--disable-overlap-schedule", meaning::if_true},
    {"sglang", "disable_hybrid_swa_memory", "--disable-hybrid-swa-memory", meaning::if_true},
    {"sglang", "enable_dp_attention", "--enable-dp-attention", meaning::if_true},
    {"tensorrt_llm", "tensor_parallel_size", "--tensor-parallel", meaning::number},
    {"tensorrt_llm", "pipeline_parallel_size", "--pipeline-parallel", meaning::number},
    {"tensorrt_llm", "moe_expert_parallel_size", "--expert-parallel", meaning::number},
    {"tensorrt_llm", "max_seq_len", "--max-seq-len", meaning::number},
    {"tensorrt_llm", "max_batch_size", "--max-batch-size", meaning::number},
    {"tensorrt_llm", "max_num_tokens", "--max-num-tokens", meaning::number},
    {"tensorrt_llm", "tokens_per_block", "--tokens-per-block", meaning::number},
    {"tensorrt_llm", "dtype", "--dtype", meaning::dtype},
};

bool is_unset(const std::string& value) {
  return value.empty() || value == "None" || value == "auto" || value == "null";
}

/// The option's text; empty where the setting says nothing.
std::string value_of(meaning means, const std::string& text) {
  if (is_unset(text)) return "";
  switch (means) {
    case meaning::number: {
      const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
      return digits && text.find_first_not_of('0') != std::string::npos && text.size() <= 18 ? text : "";
    }
    case meaning::share: {
      const bool number = text.find_first_not_of("0123456789.") == std::string::npos;
      return number && text.find_first_of("123456789") != std::string::npos && text.size() <= 20 ? text : "";
    }
    case meaning::dtype: return text.starts_with("torch.") ? text.substr(6) : text;
    case meaning::word: return text;
    case meaning::if_true: return text == "True" || text == "true" ? "yes" : "";
    case meaning::if_false: return text == "False" || text == "false" ? "yes" : "";
  }
  return "";
}

const std::string* find(const engine_log& log, const char* key) {
  const auto found = log.settings.find(key);
  return found == log.settings.end() || is_unset(found->second) ? nullptr : &found->second;
}

/// `0.9000` → "0.9": digits / scale without what ends in zeros.
std::string decimal_text(const printed_decimal& number) {
  std::string text =
      fmt::format("{:.6f}", static_cast<double>(number.digits) / static_cast<double>(number.scale));
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

/// A value behind one of these names in a printed structure: `method='mtp'`, `'method': 'mtp'`.
std::string inside(const std::string& structure, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    std::size_t at = structure.find(name);
    if (at == std::string::npos) continue;
    at += name.size();
    while (at < structure.size() && std::string_view("'\"=: ").find(structure[at]) != std::string_view::npos)
      ++at;
    const std::size_t end = structure.find_first_of("'\",}) ", at);
    const std::string value = structure.substr(at, end == std::string::npos ? end : end - at);
    if (!is_unset(value)) return value;
  }
  return "";
}

/// The scheme that an engine's name for a quantization stands for by itself; empty where the name leaves it
/// open.
const char* scheme_of(const std::string& quantization) {
  struct entry {
    const char* engine;
    const char* scheme;
  };
  constexpr entry schemes[] = {{"awq", "awq"},
                               {"awq_marlin", "awq"},
                               {"gptq", "gptq"},
                               {"gptq_marlin", "gptq_marlin"},
                               {"mxfp4", "mxfp4"},
                               {"modelopt_fp4", "nvfp4"},
                               {"fp8", "fp8_linear"},
                               {"w8a8_fp8", "fp8_channel"},
                               {"w8a8_int8", "int8_channel"},
                               {"bitsandbytes", "nf4"}};
  for (const entry& each : schemes) {
    if (quantization == each.engine) return each.scheme;
  }
  return "";
}

class teller {
 public:
  teller(const engine_log& log, std::vector<std::string>& warnings) : log_(log), warnings_(warnings) {}

  std::vector<told_option> tell() {
    engine();
    model();
    for (const log_setting& each : settings) {
      if (log_.engine != each.engine) continue;
      const auto found = log_.settings.find(each.key);
      if (found == log_.settings.end()) continue;
      const std::string value = value_of(each.means, found->second);
      const bool flag = each.means == meaning::if_true || each.means == meaning::if_false;
      if (!value.empty()) add(each.option, flag ? "" : value, each.key);
    }
    figures();
    formats();
    experts();
    speculation();
    return std::move(told_);
  }

 private:
  void add(const char* option, std::string value, std::string from) {
    const bool known =
        std::any_of(told_.begin(), told_.end(), [&](const told_option& each) { return each.name == option; });
    if (!known) told_.push_back({option, std::move(value), std::move(from), ""});
  }

  void engine() {
    std::string name = log_.engine;
    std::replace(name.begin(), name.end(), '_', '-');
    std::string version = log_.version;
    if (version.starts_with("v")) version.erase(0, 1);
    const bool known = !version.empty() && version[0] >= '0' && version[0] <= '9' &&
                       version.find('.') != std::string::npos && version.size() < 60;
    if (known) name += "@" + version;
    add("--engine", name, "the engine's lines");
    if (!known) {
      told_.back().doubt = fmt::format(
          "the log does not print the engine's version: the newest rules are taken, --engine {}@X.Y sets it",
          name);
    }
  }
  void model() {
    if (const std::string name = catalogue_name_of(log_.model); !name.empty()) add("--model", name, "model");
  }
  /// Figures that are settings at the same time.
  void figures() {
    const rank_figures first = first_printed(log_);
    if (first.gpu_memory_utilization && log_.engine == "vllm") {
      add("--gpu-memory-utilization", decimal_text(*first.gpu_memory_utilization), "gpu_memory_utilization");
    }
    if (first.memory_fraction) {
      add("--free-gpu-memory-fraction", decimal_text(*first.memory_fraction), "fraction is set");
    }
    if (log_.engine == "tensorrt_llm" && first.block_size) {
      add("--tokens-per-block", std::to_string(first.block_size->value), "tokens per block");
    }
    if (log_.engine == "vllm" && first.refused_length) {
      add("--max-model-len", std::to_string(first.refused_length->value), "max seq len");
    }
    if (log_.engine == "sglang") {
      if (first.context_length) {
        add("--context-length", std::to_string(first.context_length->value), "context_len");
      }
      if (first.chunked_prefill_size && first.chunked_prefill_size->value != 0) {
        add("--chunked-prefill-size", std::to_string(first.chunked_prefill_size->value),
            "chunked_prefill_size");
      }
    }
    if (log_.engine == "vllm" && first.concurrency_length && find(log_, "max_model_len") == nullptr) {
      add("--max-model-len", std::to_string(first.concurrency_length->value), "Maximum concurrency for");
    }
    if (const std::string* structure = find(log_, "kv_cache_config"); structure != nullptr) {
      const std::string share = inside(*structure, {"free_gpu_memory_fraction"});
      if (!value_of(meaning::share, share).empty())
        add("--free-gpu-memory-fraction", share, "kv_cache_config");
      const std::string block = inside(*structure, {"tokens_per_block"});
      if (!value_of(meaning::number, block).empty()) add("--tokens-per-block", block, "kv_cache_config");
      const std::string dtype = inside(*structure, {"dtype"});
      if (!dtype.empty()) add("--kv-cache-dtype", dtype, "kv_cache_config");
    }
  }
  /// Names of formats that are not known here are left out with a warning, and so are open quantizations.
  void formats() {
    for (auto each = told_.begin(); each != told_.end();) {
      bool good = true;
      try {
        if (each->name == "--kv-cache-dtype") (void)kv_format_named(each->value);
        if (each->name == "--dtype") (void)number_format_named(each->value);
      } catch (const input_error&) {
        good = false;
        warnings_.push_back(fmt::format("{} \"{}\" of the log is not known here: give {}", each->from,
                                        detail::printable(each->value, 40), each->name));
      }
      each = good ? each + 1 : told_.erase(each);
    }
    const std::string* quantization = find(log_, "quantization");
    const model_architecture* known = models::find(catalogue_name_of(log_.model).c_str());
    if (quantization == nullptr || (known != nullptr && known->precision_count != 0)) return;
    const std::string scheme = scheme_of(*quantization);
    if (scheme.empty()) {
      warnings_.push_back(
          fmt::format("quantization \"{}\" of the log does not say what the weights are: give --weights",
                      detail::printable(*quantization, 40)));
    } else {
      add("--weights", scheme, "quantization");
    }
  }
  /// Expert parallelism of vLLM spans all tensor and data ranks; SGLang prints its degree.
  void experts() {
    const auto degree = [&](const char* key) {
      const std::string* text = find(log_, key);
      const std::string value = text == nullptr ? "" : value_of(meaning::number, *text);
      return value.empty() || value.size() > 6 ? std::uint64_t{1} : std::stoull(value);
    };
    const std::string* experts = find(log_, "enable_expert_parallel");
    if (log_.engine == "vllm" && experts != nullptr && *experts == "True") {
      const std::uint64_t all = degree("tensor_parallel_size") * degree("data_parallel_size");
      if (all > 1) add("--expert-parallel", std::to_string(all), "enable_expert_parallel");
    }
    if (log_.engine != "sglang") return;
    const std::uint64_t expert = degree("ep_size");
    if (expert > 1) add("--expert-parallel", std::to_string(expert), "ep_size");
    const std::uint64_t data = degree("dp_size");
    if (data > 1) add("--data-parallel", std::to_string(data), "dp_size");
  }
  void speculation() {
    std::string method;
    std::string tokens;
    std::string draft;
    if (const std::string* structure = find(log_, "speculative_config")) {
      method = inside(*structure, {"method"});
      tokens = inside(*structure, {"num_speculative_tokens", "num_spec_tokens"});
      draft = inside(*structure, {"'model'", "\"model\"", "(model", " model"});
    } else if (const std::string* algorithm = find(log_, "speculative_algorithm")) {
      method = *algorithm == "STANDALONE" ? "draft_model" : *algorithm;
      if (const std::string* steps = find(log_, "speculative_num_steps")) tokens = *steps;
      for (const char* key : {"speculative_draft_model_path", "speculative_draft"}) {
        if (const std::string* path = find(log_, key); path != nullptr && draft.empty()) draft = *path;
      }
    }
    std::transform(method.begin(), method.end(), method.begin(),
                   [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    if (method == "nextn" || method.ends_with("_mtp")) method = "mtp";
    if (method == "eagle3") method = "eagle";
    if (method.empty()) return;
    const bool known = method == "mtp" || method == "eagle" || method == "draft_model" || method == "ngram";
    if (!known || value_of(meaning::number, tokens).empty()) {
      warnings_.push_back(
          fmt::format("speculative decoding \"{}\" of the log is not taken over: give --speculative-method",
                      detail::printable(method, 40)));
      return;
    }
    const bool second_model = method == "eagle" || method == "draft_model";
    const std::string name = second_model ? catalogue_name_of(draft) : "";
    if (second_model && name.empty()) {
      warnings_.push_back(
          fmt::format("the draft model \"{}\" of the log is not in the catalogue: give --speculative-method "
                      "{} --speculative-tokens {} --speculative-model FILE",
                      detail::printable(draft, 80), method, tokens));
      return;
    }
    add("--speculative-method", method, "speculative decoding");
    add("--speculative-tokens", tokens, "speculative decoding");
    if (second_model) add("--speculative-model", name, "speculative decoding");
  }

  const engine_log& log_;
  std::vector<std::string>& warnings_;
  std::vector<told_option> told_;
};

}  // namespace

std::string catalogue_name_of(const std::string& printed) {
  const auto known = [](std::string name) -> std::string {
    if (name.empty() || name.size() > 200) return "";
    const model_architecture* found = models::find(name.c_str());
    return found == nullptr ? "" : name;
  };
  if (std::string name = known(printed); !name.empty()) return name;
  std::string path = printed;
  while (!path.empty() && path.back() == '/') path.pop_back();
  // models--meta-llama--Llama-3.1-8B/snapshots/…, as Hugging Face's cache has it
  constexpr std::string_view mark = "models--";
  if (const std::size_t at = path.rfind(mark); at != std::string::npos) {
    std::string name = path.substr(at + mark.size());
    name = name.substr(0, name.find('/'));
    if (const std::size_t dashes = name.find("--"); dashes != std::string::npos) name.replace(dashes, 2, "/");
    return known(name);
  }
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : known(path.substr(slash + 1));
}

std::vector<told_option> options_told_by(const engine_log& log, std::vector<std::string>& warnings) {
  return teller(log, warnings).tell();
}

}  // namespace cli
