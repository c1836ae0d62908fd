#include "request.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "command_error.hpp"
#include "kvbudget/io/format_names.hpp"
#include "kvbudget/io/gpu_json.hpp"
#include "kvbudget/io/lookup_text.hpp"
#include "kvbudget/io/model_lookup_text.hpp"
#include "kvbudget/io/quantity_text.hpp"
#include "kvbudget/lookup/gpu_lookup.hpp"
#include "kvbudget/models.hpp"
#include "kvbudget/report/format.hpp"
#include "model_source.hpp"
#include "named_checkpoint.hpp"

namespace cli {

using namespace kvbudget;

namespace {

using text = std::optional<std::string>;

/// Bounds of what is believed: far beyond any model and cluster, and small enough that sums stay in 64 bits.
constexpr std::uint64_t most_tokens = 1'000'000'000'000;
constexpr std::uint64_t most_sequences = 1'000'000'000;
constexpr std::uint64_t most_ranks = 1'000'000;
constexpr std::uint64_t most_parameters = 1'000'000'000'000'000;
constexpr std::uint64_t largest_width = 1u << 24;

std::uint64_t count_in(const char* option, const std::string& value, const char* what, std::uint64_t least,
                       std::uint64_t most) {
  return for_option(option, [&] { return parse_count(value, what, least, most); });
}
std::uint32_t small_count_in(const char* option, const std::string& value, const char* what,
                             std::uint64_t most) {
  return static_cast<std::uint32_t>(count_in(option, value, what, 1, most));
}
bytes bytes_in(const char* option, const std::string& value) {
  const bytes size = for_option(option, [&] { return parse_bytes(value); });
  if (size > largest_size)
    refuse("{}: {} bytes, expected at most {}", option, size.value, largest_size.value);
  return size;
}
number_format number_format_in(const char* option, const std::string& value) {
  return for_option(option, [&] { return number_format_named(value); });
}

/// One of a few words.
std::size_t word_in(const char* option, const std::string& value, std::initializer_list<const char*> words) {
  std::string all;
  std::size_t at = 0;
  for (const char* word : words) {
    if (detail::matches(detail::key_of(value.c_str()), word)) return at;
    ++at;
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  refuse("{}: {} is unknown, expected one of {}", option, detail::quoted(value), all);
}

/// `ID` or `IDxN`. A name that ends in x and digits itself ("mi300x", a misspelt "rtx5099") is taken whole.
struct gpu_words {
  std::string name;
  text count;
};
gpu_words split_gpu(const std::string& typed) {
  if (find_gpu(typed.c_str()).gpu != nullptr) return {typed, {}};
  std::size_t digits = typed.size();
  while (digits > 0 && detail::is_digit(typed[digits - 1])) --digits;
  const bool counted =
      digits > 1 && digits < typed.size() && (typed[digits - 1] == 'x' || typed[digits - 1] == 'X');
  if (!counted) return {typed, {}};
  const gpu_words words{typed.substr(0, digits - 1), typed.substr(digits)};
  const bool whole_is_nearer = find_gpu(words.name.c_str()).status == lookup_status::unknown &&
                               find_gpu(typed.c_str()).candidate_count != 0;
  return whole_is_nearer ? gpu_words{typed, {}} : words;
}

/// The dtype of whatever has no format of its own; "auto" where nobody names one.
const char* dtype_name(const request& r) { return detail::given_or(r.d.dtype, r.model.dtype).name; }

/// What a cache format is called: its name, the pair as it was typed, or the dtype.
std::string cache_name(const request& r, const kv_format& format, const std::string& typed) {
  if (format.is_automatic()) return dtype_name(r);
  return typed.find(',') == std::string::npos ? format.name : detail::printable(typed, 60);
}

/// A rule that the library names by kind of parallelism, with the option in front instead.
std::string in_terms_of_options(const std::string& rule) {
  for (const auto& [kind, option] : {std::pair{"tensor parallel: ", "--tensor-parallel"},
                                     {"pipeline parallel: ", "--pipeline-parallel"},
                                     {"expert parallel: ", "--expert-parallel"},
                                     {"decode-context parallel: ", "--decode-context-parallel"}}) {
    if (rule.starts_with(kind))
      return fmt::format("{}: {}", option, rule.substr(std::string_view(kind).size()));
  }
  if (rule.starts_with("a cache row of")) return "--kv-cache-dtype: " + rule;
  return rule;
}

/// What an engine cannot compute, with the option in front that asks for it.
std::string in_terms_of_engine(const request& r, const std::string& rule) {
  struct translation {
    const char* begins;   ///< how the rule begins
    const char* instead;  ///< with what the line begins
    bool whole;           ///< instead of all of the rule; otherwise of its beginning
  };
  constexpr translation translations[] = {
      {"sglang: the model gives no context length",
       "--context-length is missing: the model gives no context length", true},
      {"sglang: decode-context parallelism", "--decode-context-parallel: sglang's is not modelled", true},
      {"Transformers does not split a cache",
       "--decode-context-parallel: Transformers does not split a cache by tokens", true},
      {"Transformers keeps its cache in the dtype",
       "--kv-cache-dtype: Transformers keeps its cache in the dtype; --cache-implementation quantized with "
       "--nbits "
       "quantizes it",
       true},
      {"nbits: ", "--nbits: ", false},
      {"LoRA: ", "--max-loras: ", false},
      {"speculation: ", "--speculative-method: ", false},
      {"sglang: ", "--engine sglang: ", false},
      {"llama.cpp: ", "--engine llama.cpp: ", false},
      {"ik_llama.cpp: ", "--engine ik_llama.cpp: ", false},
      {"a model registers more", "--engine vllm: a model registers more", false},
      {"attention data parallel: ", "--enable-dp-attention: ", false},
      {"online quantization: ", "--weights: ", false},
  };
  for (const translation& each : translations) {
    if (!rule.starts_with(each.begins)) continue;
    return each.whole ? each.instead : each.instead + rule.substr(std::string_view(each.begins).size());
  }
  if (r.engine_name != "geometry" && rule.starts_with("Transformers "))
    return "--engine transformers: " + rule;
  return in_terms_of_options(rule);
}

}  // namespace

void explain_refusal(const request& r, const error& problem) {
  const std::string rule = problem.what();
  if (r.model.dtype.is_automatic() && r.d.dtype.is_automatic() &&
      rule.starts_with("the model names no dtype")) {
    refuse(
        "--dtype is missing: {} names no number format of its own, give --dtype bf16 (or fp16 ...), or name "
        "all of "
        "--weights, --kv-cache-dtype and --activations",
        r.model.name);
  }
  if (rule.find("overflows 64 bits") != std::string::npos) {
    refuse(
        "the model (--layers, --heads, --head-dim ...) or the work (--context, --sequences, "
        "--batched-tokens) is too "
        "large: {}",
        rule);
  }
  throw command_error(in_terms_of_engine(r, rule));
}

void request_options::add_to(CLI::App& command) {
  const auto option = [&](const char* names, text& target, const char* type, const char* what,
                          const char* group) {
    command.add_option(names, target, what)->type_name(type)->group(group);
  };
  constexpr const char* model = "Model (one of --model, --config, --safetensors, --gguf, or by hand)";
  option("--model", model_, "NAME", "a model of the catalogue (see `kvbudget models`)", model);
  option("--config", config_, "FILE", "a Hugging Face config.json, or a model of docs/model-schema.md",
         model);
  option("--safetensors", safetensors_, "FOLDER|FILE",
         "a model folder (config.json and .safetensors, headers are enough), a file or an index", model);
  command
      .add_option("--gguf", gguf_, "a GGUF file; several: the parts of one model, and its projector (mmproj)")
      ->type_name("FILE...")
      ->group(model);
  option("--assume-like", assume_like_, "TYPE", "read an unsupported model_type like this supported one",
         model);
  option("--layers", layers_, "N", "by hand: decoder layers with full attention", model);
  option("--hidden", hidden_, "N", "by hand: hidden size", model);
  option("--heads", heads_, "N", "by hand: query heads", model);
  option("--kv-heads", kv_heads_, "N", "by hand: KV heads (default: as many as query heads)", model);
  option("--head-dim", head_dim_, "N", "by hand: elements per head (default: hidden / heads)", model);
  option("--parameters", parameters_, "N", "by hand: parameters in all", model);
  option("--vocab", vocab_, "N", "by hand: vocabulary, for the logits among the activations", model);
  option("--intermediate", intermediate_, "N", "by hand: MLP width, for the activations", model);

  constexpr const char* formats = "Formats";
  option("--weights", weights_, "FORMAT|SCHEME",
         "bf16, fp8, int4, fp8_block, gptq, awq, nvfp4, q4_K ... (default: auto)", formats);
  option("--kv-cache-dtype", cache_, "FORMAT[,FORMAT]",
         "cache, or keys and values apart: fp8, int8, int8_per_token_head, q8_0 ... (default: auto)",
         formats);
  option("--kv-cache-dtype-skip-layers", skip_layers_, "LAYERS[=FORMAT]",
         "layers that keep another cache format (default: the dtype): 0,1,40-79 or first:40=fp16 or last:2",
         formats);
  option("--unquantized", unquantized_, "MODULES",
         "modules that keep the dtype: lm_head,embedding,router ...", formats);
  option("--activations", activations_, "FORMAT", "of the activations (default: the dtype)", formats);
  option("--dtype", dtype_, "FORMAT", "of everything unquantized (default: the model's own)", formats);

  constexpr const char* work = "Work";
  option("--context", context_, "N", "tokens per sequence, prompt and output together", work);
  option("--sequences", sequences_, "N", "live sequences, over all replicas (default: 1)", work);
  option("--active-tokens", active_tokens_, "N",
         "instead of --context: live tokens of all sequences together", work);
  option("--prompt", prompt_, "N", "prompt tokens per sequence", work);
  option("--output", output_, "N", "output tokens per sequence", work);
  option("--shared-prefix", shared_prefix_, "N", "first tokens that all prompts share", work);
  option("--batched-tokens", batched_tokens_, "N", "tokens that one step computes: brings in activations",
         work);
  option("--attention", attention_, "flash|naive", "whether score matrices are stored (default: flash)",
         work);
  option("--sampler", sampler_, "sorting|greedy", "what turns logits into tokens (default: sorting)", work);

  constexpr const char* layout = "Layout";
  option("--tensor-parallel", tensor_, "N", "ranks that share each layer", layout);
  option("--pipeline-parallel", pipeline_, "N", "stages of consecutive layers", layout);
  option("--data-parallel", data_, "N", "replicas, each with its share of the sequences", layout);
  option("--expert-parallel", expert_, "N", "ranks that hold whole experts", layout);
  option("--decode-context-parallel", decode_context_, "N", "ranks that share the tokens of a KV head",
         layout);

  constexpr const char* engine = "Engine";
  option("--engine", engine_, "NAME[,NAME...]",
         "see `kvbudget engines` (default: geometry); several: one table (estimate)", engine);
  option("--framework", framework_, "none|pytorch-cuda", "whose fixed memory to add (default: none)", engine);
  option("--speculative-method", speculative_method_, "mtp|eagle|draft_model|ngram",
         "what drafts tokens (default: none)", engine);
  option("--speculative-tokens", speculative_tokens_, "N", "tokens drafted per step (num_speculative_tokens)",
         engine);
  option("--speculative-model", speculative_model_, "NAME|FILE",
         "the draft model: of the catalogue, or a config.json", engine);
  option("--max-loras", max_loras_, "N", "LoRA adapters kept at once", engine);
  option("--max-lora-rank", max_lora_rank_, "N", "their largest rank", engine);
  engine_options_.add_to(command);

  constexpr const char* pins = "Figures of your own, per rank (sizes: 16106127360, 15GB, 15GiB)";
  option("--weights-bytes", pinned_weights_, "SIZE", "instead of the computed weights", pins);
  option("--activation-bytes", pinned_activations_, "SIZE", "instead of computed activations", pins);
  option("--framework-bytes", pinned_framework_, "SIZE", "instead of the framework's figures", pins);
  option("--margin-bytes", pinned_margin_, "SIZE", "bytes set aside", pins);
  option("--host-memory-bytes", host_memory_, "SIZE",
         "host memory that there is for one rank (llama.cpp: for all)", pins);
  option("--calibration", calibration_, "FILE",
         "terms that `kvbudget compare --calibrate` measured, where they hold", pins);

  constexpr const char* gpu = "GPU";
  option("--gpu", gpu_, "ID[xN]",
         "a GPU of the catalogue (see `kvbudget gpus`); without a layout xN is tensor parallel N (llama.cpp: "
         "layers over N)",
         gpu);
  option("--gpu-profile", gpu_profile_, "FILE", "a GPU from a JSON file, as in data/gpus", gpu);
  option("--gpu-total-bytes", gpu_total_, "SIZE", "memory that a program sees, measured", gpu);
  option("--gpu-used-bytes", gpu_used_, "SIZE", "of it in use by others", gpu);
  command.add_flag("--nominal", nominal_, "accept a GPU of which only the marketed size is known")
      ->group(gpu);
  option("--headroom", headroom_, "P%|SIZE", "must stay free: a share of what is usable, or bytes", gpu);
  command.add_flag("--require-fit", require_fit_, "exit with 1 if it does not fit")->group(gpu);
}

void request_options::read_into(request& result) const {
  checked(result, [&] { read_all(result); });
}

void request_options::read_all(request& result) const {
  read_engine(result);
  read_model(result);
  read_formats(result);
  read_layer_exceptions(result);
  read_speculation(result);
  read_gpu_name(result);
  read_layout(result);
  read_gpu(result);
  read_llama_cpp_sizes(result);
  read_work(result);
  read_engine_length(result);
  read_llama_cpp(result);
  read_framework(result);
  read_pins(result);
  read_calibration(result);
  use_resident_weights(result);
  warn_about(result);
  warn_about_engine(result);
}

std::string unknown_model(const std::string& name) {
  const model_suggestions near = models::nearest(name.c_str());
  const std::string address = config_address(name);
  if (address.empty()) {
    return fmt::format("{}{} another model give --config config.json from its Hugging Face page",
                       explain(near, name), near.count == 0 ? ", `kvbudget models` lists them; for" : " For");
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < near.count; ++i) names.emplace_back(near.models[i]->name);
  return fmt::format("\"{}\" is not in the catalogue{}{}; download {} and pass it with --config config.json",
                     name, names.empty() ? "" : ", whose nearest names are ", fmt::join(names, ", "),
                     address);
}

void request_options::read_model(request& result) const {
  const bool by_hand =
      layers_ || hidden_ || heads_ || kv_heads_ || head_dim_ || parameters_ || vocab_ || intermediate_;
  const int ways = int{model_.has_value()} + int{config_.has_value()} + int{safetensors_.has_value()} +
                   int{!gguf_.empty()} + int{by_hand};
  if (ways == 0) {
    refuse(
        "no model: give --model NAME, --config config.json, --safetensors FOLDER, --gguf FILE, or --layers "
        "--hidden --heads --parameters by hand");
  }
  if (ways > 1) {
    refuse(
        "more than one model: give only one of --model, --config, --safetensors, --gguf, and the options by "
        "hand (--layers ...)");
  }
  if (assume_like_ && (by_hand || model_)) {
    refuse("--assume-like is for files of an unsupported model_type: --config, --safetensors or --gguf");
  }
  if (by_hand) return read_model_by_hand(result);
  if (model_) {
    if (const model_architecture* found = models::find(model_->c_str())) {
      result.model = *found;
      return;
    }
    const std::optional<named_checkpoint> named = checkpoint_named(*model_);
    if (!named) refuse("--model: {}", unknown_model(*model_));
    result.model = *named->model;
    if (weights_) return;
    result.d.weights = weight_scheme_named(named->scheme);
    const std::string scheme = result.d.weights.is_automatic()
                                   ? std::string(stored_as(result.model, dtype_name(result)))
                                   : named->scheme;
    result.notes.push_back(
        fmt::format("{} is not in the catalogue: {} with weights {}, as \"{}\" in its name says; {}",
                    detail::printable(*model_, 80), result.model.name, scheme, named->ending,
                    named->gguf ? "--gguf FILE counts every tensor" : "its config.json knows better"));
    if (named->mixed) {
      result.warnings.push_back(
          fmt::format("a file of type {} has some tensors in larger formats than {}: its weights are a few "
                      "percent more than these",
                      named->ending == "GGUF" ? "Q4_K_M" : named->ending, named->scheme));
    }
    return;
  }
  const std::string like = assume_like_.value_or("");
  described_model read =
      config_        ? for_option("--config", [&] { return read_config_file(*config_, like); })
      : safetensors_ ? for_option("--safetensors", [&] { return read_checkpoint(*safetensors_, like); })
                     : for_option("--gguf", [&] { return read_gguf_files(gguf_, like); });
  result.model = read.model;
  if (read.resident) result.resident = read.resident;
  result.notes = std::move(read.notes);
  result.warnings = std::move(read.warnings);
}

/// What the files hold counts where nobody asks for another format and one rank holds it all.
void request_options::use_resident_weights(request& result) const {
  if (is_llama_cpp(result)) return;  // every tensor is counted as it lies in its buffer
  if (!result.resident || weights_ || result.d.pinned.weights.given || dtype_ || unquantized_) return;
  if (result.d.parallel.ranks() == 1) {
    result.d.pinned.weights = *result.resident;
    result.notes.emplace_back("weights are counted as the tensors on disk have them");
  } else {
    result.warnings.emplace_back(
        "the tensors on disk are not what the config describes: weights per rank follow the config");
  }
}

void request_options::read_model_by_hand(request& result) const {
  const auto needed = [](const char* option, const text& value) -> const std::string& {
    if (!value)
      refuse("{} is missing: a model by hand needs --layers, --hidden, --heads and --parameters", option);
    return *value;
  };
  const std::uint32_t layers = small_count_in("--layers", needed("--layers", layers_), "layers", max_layers);
  const std::uint32_t hidden =
      small_count_in("--hidden", needed("--hidden", hidden_), "elements", largest_width);
  const std::uint32_t heads = small_count_in("--heads", needed("--heads", heads_), "heads", 65536);
  const std::uint32_t kv_heads = kv_heads_ ? small_count_in("--kv-heads", *kv_heads_, "heads", 65536) : heads;
  const std::uint64_t parameters =
      count_in("--parameters", needed("--parameters", parameters_), "parameters", 1, most_parameters);
  if (heads % kv_heads != 0) {
    refuse("--kv-heads: {} query heads cannot share {} KV heads evenly", heads, kv_heads);
  }
  if (!head_dim_ && hidden % heads != 0) {
    refuse("--head-dim is missing: hidden size {} is not a multiple of {} heads", hidden, heads);
  }
  const std::uint32_t head_dim =
      head_dim_ ? small_count_in("--head-dim", *head_dim_, "elements", 65536) : hidden / heads;

  model_architecture& model = result.model;
  detail::assign_text(model.name, "hand-made model");
  model.hidden_size = hidden;
  model.parameters_assumed = true;
  if (vocab_) model.vocab_size = small_count_in("--vocab", *vocab_, "entries", largest_width);
  layer_kind layer;
  layer.num_attention_heads = heads;
  layer.key_value_heads = kv_heads;
  layer.query_dim = head_dim;
  layer.value_dim = head_dim;
  layer.gated_mlp = true;
  if (intermediate_) {
    layer.intermediate_size = small_count_in("--intermediate", *intermediate_, "elements", largest_width);
  }
  layer.add(stores::full(kv_heads, head_dim));
  model.add_layers(layer, layers);
  model.add({.rows = parameters, .role = module_role::unattributed, .rule = shard_rule::spread});
  if (!kv_heads_)
    result.notes.push_back(fmt::format("--kv-heads is not given: {}, as many as query heads", heads));
}

void request_options::read_formats(request& result) const {
  deployment& d = result.d;
  if (dtype_) d.dtype = number_format_in("--dtype", *dtype_);
  if (weights_) d.weights = for_option("--weights", [&] { return weight_scheme_named(*weights_); });
  if (cache_) d.kv_cache = for_option("--kv-cache-dtype", [&] { return kv_format_named(*cache_); });
  result.weights_text =
      d.weights.is_automatic() ? stored_as(result.model, dtype_name(result)) : d.weights.name;
  result.cache_text = cache_name(result, d.kv_cache, cache_.value_or(""));
  if (activations_) d.activations.format = number_format_in("--activations", *activations_);
  if (unquantized_)
    d.unquantized = for_option("--unquantized", [&] { return module_set_named(*unquantized_); });
  for (const auto& [option, is_given] :
       {std::pair{"--attention", attention_.has_value()}, {"--sampler", sampler_.has_value()}}) {
    if (is_given && result.engine_name != "geometry")
      refuse("{} is for geometry: {} has its own", option, result.engine_name);
  }
  if (attention_) {
    d.activations.attention = word_in("--attention", *attention_, {"flash", "naive"}) == 0
                                  ? attention_kernel::flash
                                  : attention_kernel::naive;
  }
  if (sampler_) {
    d.activations.sampler = word_in("--sampler", *sampler_, {"sorting", "greedy"}) == 0
                                ? sampler_kind::sorting
                                : sampler_kind::greedy;
  }
}

void request_options::read_layer_exceptions(request& result) const {
  if (!skip_layers_) return;
  constexpr const char* option = "--kv-cache-dtype-skip-layers";
  layer_exceptions& exceptions = result.d.kv_exceptions;
  const std::uint32_t layers = result.model.num_hidden_layers;
  const std::size_t equals = skip_layers_->find('=');
  if (equals != std::string::npos) {
    exceptions.format = for_option(option, [&] { return kv_format_named(skip_layers_->substr(equals + 1)); });
  }
  result.cache_exceptions_text = cache_name(
      result, exceptions.format, equals == std::string::npos ? "" : skip_layers_->substr(equals + 1));
  const std::string list = skip_layers_->substr(0, equals);
  std::string_view rest = list;
  for (bool more = true; more;) {
    const std::string part(detail::next_in_list(rest, more));
    const auto layer_in = [&](const std::string& digits) {
      try {
        return static_cast<std::uint32_t>(parse_count(digits, "layers", 0, layers - 1u));
      } catch (const input_error&) {
        refuse("{}: {} is not a layer, expected 0 to {}, a range of them, first:N or last:N", option,
               detail::quoted(digits), layers - 1u);
      }
    };
    if (part.starts_with("first:")) {
      exceptions.first_layers =
          detail::larger(exceptions.first_layers, small_count_in(option, part.substr(6), "layers", layers));
    } else if (part.starts_with("last:")) {
      exceptions.last_layers =
          detail::larger(exceptions.last_layers, small_count_in(option, part.substr(5), "layers", layers));
    } else {
      const std::size_t dash = part.find('-');
      const std::uint32_t first = layer_in(part.substr(0, dash));
      const std::uint32_t last = dash == std::string::npos ? first : layer_in(part.substr(dash + 1));
      if (last < first)
        refuse("{}: \"{}\" runs backwards, expected FIRST-LAST", option, detail::printable(part, 40));
      for (std::uint32_t layer = first; layer <= last; ++layer) exceptions.list(layer);
    }
  }
}

namespace {
/// The option by which an engine says how many tokens a step computes; null where `--batched-tokens` does.
const char* own_step_option(std::string_view engine) {
  if (engine == "vllm") return "--max-num-batched-tokens";
  if (engine == "tensorrt-llm") return "--max-num-tokens";
  if (engine == "transformers") return "--prefill-chunk-size";
  if (engine == "llama.cpp" || engine == "ik_llama.cpp") return "--ubatch-size";
  if (engine == "ollama") return "--num-batch";
  if (engine == "lm-studio") return "--physical-batch-size";
  return nullptr;
}

/// The same of what starts llama.cpp, and of its fork.
template <class Engine>
std::uint64_t longest_of_started(const request& r, Engine engine, std::uint64_t sequences) {
  deployment d = r.d;
  d.workload.sequences = sequences;
  if (sequences != 0) size_for_requests(engine, d, {.sequences = r.open.sequences});
  if constexpr (requires { engine.started(d, nullptr); }) {
    const auto starts = llama_cpp_devices::resolved(engine.started(d, r.gpu ? &*r.gpu : nullptr), d);
    return llama_cpp_cache::sizes_of(starts, r.model, llama_cpp_cache::backend::cuda).n_ctx_seq;
  } else {
    if (engine.n_ctx == 0 && r.model.max_position_embeddings == 0) return 0;
    return ik_llama_cpp_cache::sizes_of(engine, r.model).n_ctx_seq;
  }
}

/// Tokens of the longest request that an engine is set up for, with so many sequences (0 = nobody says); 0
/// where nobody says.
std::uint64_t longest_of_engine(const request& r, std::uint64_t sequences) {
  return std::visit(
      [&](const auto& engine) -> std::uint64_t {
        if constexpr (pool_engine<std::remove_cvref_t<decltype(engine)>>) {
          if constexpr (requires { engine.fit_max_model_len; }) {
            if (engine.fit_max_model_len && r.gpu) return allocate(r.d, engine, *r.gpu).longest_request;
          }
          return engine.longest_request(r.d);
        } else if constexpr (requires { engine.sized_for_requests; }) {
          if (engine.n_ctx == 0 && r.model.max_position_embeddings == 0) return 0;
          auto asked = llama_cpp_devices::resolved(engine, r.d);
          if (asked.n_parallel == 0) asked.n_parallel = sequences;
          const auto on = asked.no_devices ? llama_cpp_cache::backend::cpu : llama_cpp_cache::backend::cuda;
          return llama_cpp_cache::sizes_of(asked, r.model, on).n_ctx_seq;
        } else if constexpr (runs_llama_cpp<std::remove_cvref_t<decltype(engine)>>) {
          return longest_of_started(r, engine, sequences);
        } else {
          return 0;
        }
      },
      r.engine);
}
}  // namespace

void request_options::read_work(request& result) const {
  workload& work = result.d.workload;
  const auto tokens_in = [](const char* option, const text& value) {
    return value ? count_in(option, *value, "tokens", 1, most_tokens) : 0;
  };
  const std::uint64_t prompt = tokens_in("--prompt", prompt_);
  const std::uint64_t output = tokens_in("--output", output_);
  std::uint64_t context = tokens_in("--context", context_);
  std::uint64_t sequences =
      sequences_ ? count_in("--sequences", *sequences_, "sequences", 1, most_sequences) : 0;

  if (active_tokens_) {
    const std::uint64_t active = tokens_in("--active-tokens", active_tokens_);
    if (context_ || prompt_ || output_ || shared_prefix_) {
      refuse(
          "--active-tokens: give either the tokens of all sequences together, or per sequence with "
          "--context, "
          "--prompt, --output, --shared-prefix");
    }
    if (sequences == 0) {
      refuse("--active-tokens needs --sequences N: windows, states and blocks are counted per sequence");
    }
    if (active < sequences) {
      refuse("--active-tokens: {} tokens cannot be spread over {} sequences, expected at least one each",
             active, sequences);
    }
    work = active_tokens(tokens{active}, sequences);
  } else {
    if (prompt_ || output_) {
      if (prompt_ && output_ && context_ && prompt + output != context) {
        refuse("--context {} is not --prompt {} plus --output {}: leave one of them out", context, prompt,
               output);
      }
      if (context_ && prompt + output > context) {
        refuse("{} is more than --context {}, expected a part of it", prompt_ ? "--prompt" : "--output",
               context);
      }
      if (!context_) context = prompt + output;
    }
    if (context == 0) context = longest_of_engine(result, sequences);
    if (context == 0) {
      refuse("no work: give --context N (tokens per sequence), or --active-tokens N with --sequences N");
    }
    if (sequences == 0) {
      sequences = 1;
      result.notes.emplace_back("--sequences is not given: 1 sequence");
    }
    if (sequences > most_tokens / context) {
      refuse("--sequences {} x {} tokens are more than {} tokens, beyond any cluster", sequences, context,
             most_tokens);
    }
    work.sequences = sequences;
    work.context = tokens{context};
    if (shared_prefix_) {
      const std::uint64_t longest = prompt_ ? prompt : output_ ? context - output : context;
      work.shared_prefix =
          tokens{count_in("--shared-prefix", *shared_prefix_, "tokens of the prompt", 0, longest)};
    }
  }
  if (batched_tokens_ && own_step_option(result.engine_name) != nullptr) {
    refuse("--batched-tokens is for geometry: {} has an option of its own, {}", result.engine_name,
           own_step_option(result.engine_name));
  }
  const text by_its_engine_name =
      result.engine_name == "geometry" ? engine_options_.value("--max-num-batched-tokens") : std::nullopt;
  if (batched_tokens_ && by_its_engine_name)
    refuse("--batched-tokens and --max-num-batched-tokens are the same here: give one of them");
  const text& batched = batched_tokens_ ? batched_tokens_ : by_its_engine_name;
  if (batched) {
    const char* option = batched_tokens_ ? "--batched-tokens" : "--max-num-batched-tokens";
    work.batched_tokens = tokens{count_in(option, *batched, "tokens", 1, 1'000'000'000)};
  }
}

std::vector<std::string> request_options::engines() const {
  const std::string list = engine_.value_or("geometry");
  std::vector<std::string> names;
  std::string_view rest = list;
  for (bool more = true; more;) names.emplace_back(detail::next_in_list(rest, more));
  return names;
}

void request_options::read_engine(request& result) const {
  const std::vector<std::string> all = engines();
  if (result.engine_asked.empty() && all.size() > 1)
    refuse("--engine: one engine is expected here; several are for estimate");
  result.engine = engine_named(result.engine_asked.empty() ? all.front() : result.engine_asked);
  result.engine_name = engine_list()[result.engine.index()].name;
  std::vector<std::string> others;
  for (const std::string& each : all) others.emplace_back(engine_list()[engine_named(each).index()].name);
  engine_options_.apply(result.engine, result.engine_name, others);
  if (reserves_pools(result) && !gpu_ && !gpu_profile_ && !seen_total_) {
    refuse("--engine {} reserves a share of a GPU: add --gpu ID[xN] or --gpu-profile FILE",
           result.engine_name);
  }
}

/// The longest request that the engine is set up for, where no context is asked for; otherwise a context
/// sets an engine's length that is not given.
void request_options::read_engine_length(request& result) const {
  std::visit(
      [&](auto& engine) {
        if constexpr (requires { engine.used_by_others; }) {
          engine.used_by_others = result.used_by_others;
          if constexpr (requires { engine.context_length; } &&
                        !runs_llama_cpp<std::remove_cvref_t<decltype(engine)>>) {
            result.length_is_typed = engine.context_length != 0;
            if (engine.context_length == 0 && (context_ || prompt_ || output_ || active_tokens_)) {
              engine.context_length = result.d.workload.longest_context().value;
            }
          }
          if constexpr (requires { engine.max_seq_len; }) {
            result.length_is_typed = engine.max_seq_len != 0;
            if (engine.max_seq_len == 0 && (context_ || prompt_ || output_ || active_tokens_)) {
              engine.max_seq_len = result.d.workload.longest_context().value;
            }
          }
          if constexpr (requires { engine.max_model_len; }) {
            const bool given = engine.max_model_len != 0 || engine.fit_max_model_len;
            result.length_is_typed = given;
            const std::uint64_t longest = result.d.workload.longest_context().value;
            if (!given && (context_ || prompt_ || output_ || active_tokens_)) engine.max_model_len = longest;
          }
        }
      },
      result.engine);
}

void request_options::read_speculation(request& result) const {
  speculation& drafting = result.d.speculation;
  if (speculative_method_) {
    constexpr speculation_kind all[] = {speculation_kind::mtp, speculation_kind::eagle,
                                        speculation_kind::draft_model, speculation_kind::ngram};
    const std::string& method = *speculative_method_;
    const std::string plain = method == "eagle3" ? "eagle" : method.ends_with("_mtp") ? "mtp" : method;
    drafting.kind = all[word_in("--speculative-method", plain, {"mtp", "eagle", "draft_model", "ngram"})];
  }
  if (speculative_tokens_) {
    drafting.num_speculative_tokens =
        small_count_in("--speculative-tokens", *speculative_tokens_, "tokens", 1024);
  }
  if (speculative_model_) {
    if (!speculative_method_) drafting.kind = speculation_kind::draft_model;
    if (const model_architecture* found = models::find(speculative_model_->c_str())) {
      result.draft = *found;
    } else {
      std::error_code ignored;
      if (!std::filesystem::exists(*speculative_model_, ignored)) {
        refuse("--speculative-model: {} is neither a model of the catalogue nor a file",
               detail::quoted(*speculative_model_));
      }
      result.draft =
          for_option("--speculative-model", [&] { return read_config_file(*speculative_model_, ""); }).model;
    }
    drafting.draft = &result.draft;
  }
  if (drafting.kind == speculation_kind::none && speculative_tokens_)
    refuse("--speculative-tokens needs --speculative-method mtp, eagle, draft_model or ngram");
  if (drafting.kind != speculation_kind::none && drafting.num_speculative_tokens == 0)
    refuse("--speculative-method needs --speculative-tokens N");
  if (drafting.has_draft_model() && drafting.draft == nullptr)
    refuse("--speculative-method {} needs --speculative-model NAME|FILE", *speculative_method_);
  if (!drafting.has_draft_model() && drafting.draft != nullptr)
    refuse("--speculative-model is for --speculative-method eagle and draft_model");
  if (drafting.kind == speculation_kind::mtp && result.model.draft_layers == 0)
    refuse("--speculative-method mtp: {} has no draft layers that are known", result.model.name);
  if (max_loras_ || max_lora_rank_) {
    if (!max_loras_ || !max_lora_rank_) refuse("--max-loras and --max-lora-rank go together");
    result.d.lora.max_loras = small_count_in("--max-loras", *max_loras_, "adapters", 100'000);
    result.d.lora.max_lora_rank = small_count_in("--max-lora-rank", *max_lora_rank_, "ranks", 65536);
  }
  if (host_memory_) result.host_memory = bytes_in("--host-memory-bytes", *host_memory_);
}

void request_options::read_layout(request& result) const {
  parallel_layout& layout = result.d.parallel;
  const auto degree = [](const char* option, const text& value, std::uint32_t& target) {
    if (value) target = small_count_in(option, *value, "ranks", most_ranks);
  };
  degree("--tensor-parallel", tensor_, layout.tensor);
  degree("--pipeline-parallel", pipeline_, layout.pipeline);
  degree("--data-parallel", data_, layout.data);
  degree("--expert-parallel", expert_, layout.expert);
  degree("--decode-context-parallel", decode_context_, layout.decode_context);
  if (engine_options_.given("--enable-dp-attention")) layout.attention_data = std::exchange(layout.data, 1U);
  const bool given = tensor_ || pipeline_ || data_ || expert_ || decode_context_;

  std::string from;
  if (gpu_) {
    const gpu_words words = split_gpu(*gpu_);
    if (words.count) {
      const std::uint32_t count = small_count_in("--gpu", *words.count, "GPUs", most_ranks);
      if (is_llama_cpp(result) && !given) {
        (splits_by_layer(result) ? layout.pipeline : layout.tensor) = count;
      } else if (!given) {
        layout.tensor = count;
        from = fmt::format("--gpu {}: without a layout x{} means tensor parallel {}, but ",
                           detail::printable(*gpu_, 60), count, count);
        if (count > 1)
          result.notes.push_back(fmt::format("no layout is given: tensor parallel over {} GPUs", count));
      } else if (count != layout.ranks()) {
        refuse(
            "--gpu {}: {} GPUs for a layout of {} ranks (tensor {} x pipeline {} x data {}), expected as "
            "many GPUs "
            "as ranks",
            detail::printable(*gpu_, 60), count, layout.ranks(), layout.tensor, layout.pipeline, layout.data);
      }
    }
  }
  if (is_llama_cpp(result) && layout.ranks() > llama_cpp_max_devices) {
    refuse("{}: {} GPUs, {} uses at most {}", gpu_ && !given ? "--gpu" : "the layout", layout.ranks(),
           result.engine_name, llama_cpp_max_devices);
  }
  if (layout.ranks() > most_ranks)
    refuse("the layout has {} ranks, at most {} are supported", layout.ranks(), most_ranks);
  try {
    validate(layout, result.model);
  } catch (const error& problem) {
    if (from.empty()) throw command_error(in_terms_of_options(problem.what()));
    std::string_view rule = problem.what();
    constexpr std::string_view kind = "tensor parallel: ";
    if (rule.starts_with(kind)) rule.remove_prefix(kind.size());
    refuse(
        "{}{}; give a layout: --pipeline-parallel {}, --data-parallel {}, or one with --tensor-parallel that "
        "makes as many ranks",
        from, rule, layout.tensor, layout.tensor);
  }
}

/// Before the layout: a GPU that nobody knows is worse than a split that does not work.
void request_options::read_gpu_name(request& result) const {
  if (gpu_ && gpu_profile_) refuse("--gpu and --gpu-profile both name a GPU, give one of them");
  if (gpu_profile_) result.gpu = for_option("--gpu-profile", [&] { return load_gpu_profile(*gpu_profile_); });
  if (seen_total_ && !gpu_ && !gpu_profile_) {
    result.gpu.emplace();
    detail::assign_text(result.gpu->name, "a GPU as the log prints it");
  }
  if (!gpu_) return;
  const gpu_words words = split_gpu(*gpu_);
  const gpu_lookup found = find_gpu(words.name.c_str());
  if (found.gpu == nullptr) {
    refuse("--gpu: {}{}", explain(found, words.name),
           found.candidate_count == 0 ? ", `kvbudget gpus` lists them" : "");
  }
  result.gpu = *found.gpu;
}

void request_options::read_gpu(request& result) const {
  for (const auto& [option, is_given] : {std::pair{"--gpu-total-bytes", gpu_total_.has_value()},
                                         {"--gpu-used-bytes", gpu_used_.has_value()},
                                         {"--nominal", nominal_},
                                         {"--headroom", headroom_.has_value()},
                                         {"--host-memory-bytes", host_memory_.has_value()},
                                         {"--require-fit", require_fit_}}) {
    if (is_given && !result.gpu) refuse("{} needs a GPU: add --gpu ID[xN] or --gpu-profile FILE", option);
  }
  if (!result.gpu) return;
  gpu_profile& gpu = *result.gpu;
  const std::string name = gpu_           ? fmt::format("--gpu {}", gpu.id)
                           : gpu_profile_ ? fmt::format("--gpu-profile {}", detail::printable(*gpu_profile_))
                                          : std::string(gpu.name);
  result.gpu_count = static_cast<std::uint32_t>(result.d.parallel.ranks());

  if (seen_total_) {
    gpu.runtime_total_bytes = seen_total_->expected.value;
    gpu.runtime_total_rounding_bytes = (seen_total_->high - seen_total_->expected).value;
    gpu.working_set_assumed = false;
  }
  if (gpu_total_) {
    const bytes total = bytes_in("--gpu-total-bytes", *gpu_total_);
    if (total == bytes{}) refuse("--gpu-total-bytes: expected more than 0 bytes");
    gpu.driver_total_bytes = total.value;
    gpu.runtime_total_bytes = total.value;
    gpu.runtime_total_rounding_bytes = 0;
    gpu.working_set_assumed = false;
  }
  if (detail::usable_as_seen(gpu).high == bytes{} && !nominal_) {
    refuse(
        "{}: only the marketed size ({} bytes) is known: measure it and give --gpu-total-bytes, or accept it "
        "with "
        "--nominal",
        name, gpu.nominal_bytes);
  }
  result.available =
      for_option(name.c_str(), [&] { return nominal_ ? usable(gpu, nominal_is_enough) : usable(gpu); });
  if (detail::usable_as_seen(gpu).high == bytes{}) {
    result.warnings.push_back(
        fmt::format("{}: only the marketed size is known, usable memory is assumed", gpu.id));
    gpu.runtime_total_bytes = result.available.expected.value;
    gpu.runtime_total_rounding_bytes = (result.available.expected - result.available.low).value;
    gpu.working_set_assumed = true;
  }
  if (gpu_used_) {
    const bytes used = bytes_in("--gpu-used-bytes", *gpu_used_);
    usable_memory& available = result.available;
    if (used > available.low) {
      refuse("--gpu-used-bytes: {} bytes are more than the {} that one {} offers", used.value,
             available.low.value, gpu.id);
    }
    result.used_by_others = used;
    available.low -= used;
    available.expected -= used;
    available.high -= used;
  }
  if (headroom_) {
    result.asked = for_option("--headroom", [&] { return parse_headroom(*headroom_); });
  }
  result.require_fit = require_fit_;
}

void request_options::read_framework(request& result) const {
  const bool none = !framework_ || word_in("--framework", *framework_, {"none", "pytorch-cuda"}) == 0;
  if (reserves_pools(result) || is_llama_cpp(result)) {
    if (!none) refuse("--framework is for geometry: {} counts its own memory", result.engine_name);
    return;
  }
  const bool enforce_eager = engine_options_.given("--enforce-eager");
  if (none && enforce_eager)
    refuse("--enforce-eager needs --framework pytorch-cuda, whose graphs it leaves out");
  if (none) return;
  framework_options& framework = result.d.framework;
  framework.kind = framework_kind::pytorch_cuda;
  framework.cuda_graphs = !enforce_eager;
  if (!result.gpu) return;
  framework.compute_capability_major = capability_of(*result.gpu).major;
  if (result.gpu->vendor != gpu_vendor::nvidia) {
    result.warnings.push_back(
        fmt::format("--framework pytorch-cuda was measured on NVIDIA GPUs, not on {}", result.gpu->id));
  }
}

void request_options::read_pins(request& result) const {
  const auto pin = [](const char* option, const text& value, amount& target) {
    if (value) target = bytes_in(option, *value);
  };
  pin("--weights-bytes", pinned_weights_, result.d.pinned.weights);
  pin("--activation-bytes", pinned_activations_, result.d.pinned.activations);
  pin("--framework-bytes", pinned_framework_, result.d.pinned.framework);
  pin("--margin-bytes", pinned_margin_, result.d.pinned.margin);
}

void request_options::warn_about(request& result) const {
  const deployment& d = result.d;
  const model_architecture& model = result.model;
  const std::uint64_t longest = d.workload.longest_context().value;
  const bool beyond = model.max_position_embeddings != 0 && longest > model.max_position_embeddings;
  if (beyond && !reserves_pools(result)) {  // an engine with pools has its own answer
    result.warnings.push_back(
        fmt::format("a context of {} tokens is beyond the {} positions that {} was trained for: engines "
                    "refuse it or stretch it",
                    longest, model.max_position_embeddings, model.name));
  }
  if (model.parameters_assumed) {
    bool only_total = false;
    for (std::size_t i = 0; i < model.weight_count; ++i) {
      only_total = only_total || model.weights[i].role == module_role::unattributed;
    }
    result.warnings.push_back(
        only_total
            ? fmt::format("the weights of {} are known only as a total: spread evenly, no shapes", model.name)
            : fmt::format("some weights of {} are assumed or not counted", model.name));
  }
  const bool computes = d.workload.batched_tokens.value != 0 || is_llama_cpp(result);
  if (layers_ && computes && !pinned_activations_ && (!vocab_ || !intermediate_)) {
    result.warnings.emplace_back(
        "activations are incomplete without --vocab (logits) and --intermediate (MLP)");
  }
}

namespace {

/// Cache formats that an engine has, beside the plain 16- and 32-bit ones.
bool has_cache_format(std::string_view engine, const kv_format& format) {
  const std::string_view name = format.name;
  const auto is_one_of = [name](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (format.is_automatic() || is_one_of({"bf16", "fp16", "fp32", "fp8_e4m3"})) return true;
  if (engine == "vllm") {
    return name.starts_with("turboquant_") ||
           is_one_of({"fp8_e5m2", "int8_per_token_head", "fp8_per_token_head", "int4_per_token_head", "nvfp4",
                      "fp8_ds_mla", "fp8_ds_mla_v4", "nvfp4_ds_mla"});
  }
  if (engine == "sglang")
    return is_one_of({"fp8_e5m2", "fp4_e2m1", "nvfp4", "int8", "sglang_int8", "fp8_ds_mla", "fp8_ds_mla_v4"});
  if (engine == "tensorrt-llm") return is_one_of({"int8", "nvfp4", "fp8_ds_mla"});
  return true;
}

/// What one engine's options need of each other.
void check_together(const engines::transformers& on, const engine_options& given, std::uint64_t context) {
  const auto cache = on.cache_implementation;
  for (const char* option : {"--cache-backend", "--nbits", "--q-group-size", "--residual-length"}) {
    if (given.given(option) && cache != transformers_cache::quantized)
      refuse("{} needs --cache-implementation quantized", option);
  }
  if (on.max_new_tokens > context) {
    refuse("--max-new-tokens {} is more than the {} tokens of a request (--context)", on.max_new_tokens,
           context);
  }
}

}  // namespace

/// What an engine's figures cannot be trusted for, and what it does other than it was told.
void request_options::warn_about_engine(request& result) const {
  if (result.engine_name == "geometry") return;
  const std::string& name = result.engine_name;
  const deployment& d = result.d;
  for (const kv_format& format : {d.kv_cache, d.kv_exceptions.format}) {
    if (!has_cache_format(name, format)) {
      result.warnings.push_back(fmt::format("{} has no cache format {}: these are the bytes it would take",
                                            name, *format.name != '\0' ? format.name : "like this"));
    }
  }
  const engine_version newest = engine_list()[result.engine.index()].newest_rules;
  std::visit(
      [&](const auto& on) {
        using chosen = std::remove_cvref_t<decltype(on)>;
        if constexpr (requires { on.version; }) {
          if (newest.before(on.version)) {
            result.notes.push_back(fmt::format(
                "{} is newer than the rules that are known: counted as the newest", on.name().text));
          }
        }
        if constexpr (std::is_same_v<chosen, engines::transformers>)
          check_together(on, engine_options_, d.workload.longest_context().value);
        if constexpr (pool_engine<chosen>) {
          const gpu_profile& gpu = *result.gpu;
          if (gpu.vendor != gpu_vendor::nvidia) {
            const std::string how = std::is_same_v<chosen, engines::tensorrt_llm>
                                        ? name + " runs on NVIDIA GPUs"
                                        : "the constants of " + name + " were measured on NVIDIA GPUs";
            result.warnings.push_back(how + ", not on " + gpu.id);
          }
          if constexpr (requires { on.max_seq_len; }) {
            if (on.max_seq_len > on.longest_request(d)) {
              result.notes.push_back(
                  fmt::format("--max-seq-len: {} takes {} instead, the most that {} supports", name,
                              tokens{on.longest_request(d)}, result.model.name));
            }
          }
          if constexpr (requires { on.prefill_context_parallel_size; }) {
            if (on.prefill_context_parallel_size > 1) {
              result.warnings.push_back(fmt::format(
                  "--prefill-context-parallel-size {}: {} starts so many times the ranks of the layout",
                  on.prefill_context_parallel_size, name));
            }
          }
          const allocation found = allocate(d, on, gpu);
          const std::int64_t left = found.left() - static_cast<std::int64_t>(result.used_by_others.value);
          if (found.starts() && left < 0) {
            result.warnings.push_back(
                fmt::format("all of it is {} more than one {} has: {} may run out of memory",
                            bytes{static_cast<std::uint64_t>(-left)}, gpu.id, name));
          }
        }
      },
      result.engine);
}

void check_host_memory(request& r) {
  if (!r.gpu) return;
  const bytes need = checked(r, [&] {
    return with_engine(r, [&](const auto& on) {
      if constexpr (requires { on.host_bytes(r.d, *r.gpu); }) {
        if (!detail::loads(r.d, on, &*r.gpu)) return bytes{};
        return on.host_bytes(r.d, *r.gpu);
      } else {
        return bytes{};
      }
    });
  });
  if (need == bytes{}) return;
  const bool whole = is_llama_cpp(r);  // one process for all GPUs
  r.notes.push_back(fmt::format("host memory {}: {}", whole ? "of the process" : "per rank", need));
  r.host_memory_is_short = r.host_memory && need > *r.host_memory;
  if (r.host_memory_is_short) {
    r.warnings.push_back(fmt::format("{} of host memory are needed{}, --host-memory-bytes gives {}", need,
                                     whole ? "" : " per rank", *r.host_memory));
  }
}

}  // namespace cli
