#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/deployment/deployment.hpp"
#include "kvbudget/io/format_names.hpp"
#include "kvbudget/io/json_reader.hpp"
#include "kvbudget/io/lookup_text.hpp"
#include "kvbudget/io/model_json.hpp"
#include "kvbudget/io/model_lookup_text.hpp"

/// Measured figures of serving engines: `tests/corpus/*.json`, described in `tests/corpus/README.md`.
namespace tests::corpus {

/// A size as an engine printed it. Engines that print GB divide by 2^30 all the same.
struct printed_bytes {
  std::int64_t bytes = 0;
  std::uint64_t rounding_bytes = 0;  ///< half of the last printed digit; 0 = to the byte
  bool approximate = false;          ///< somebody's "about", not the engine's own digits
};

struct printed_count {
  std::uint64_t value = 0;
  bool approximate = false;
};

/// A number with a unit that is none of bytes: `4.84x`, `6.25 %`.
struct printed_number {
  double value = 0;
  double rounding = 0;  ///< half of the last printed digit
};

/// What agreement with the case's figures would prove.
enum class independence {
  independent,  ///< figures that follow from inputs which the source gives
  circular,     ///< an input was inferred, often from the very figure: proves nothing, never counted
  input_only    ///< no pair of figures to recompute a cache from; terms of a budget, end results
};

/// Which release; where the source does not print it, what it was inferred from.
struct release {
  std::uint32_t major = 0, minor = 0, patch = 0;
  std::string printed;
  std::string inferred_from;
  bool open = false;  ///< the source leaves the release open: only what no release changes may be tested
};

/// What the engine was told; absent = its default. Names are vLLM's, see the README for those of others.
struct settings {
  std::optional<double> memory_fraction;
  std::optional<std::uint64_t> max_model_len, max_num_seqs, max_num_batched_tokens, block_size;
  std::optional<std::uint64_t> max_mamba_cache_size, num_speculative_tokens;
  std::optional<std::string> kv_cache_dtype, mamba_cache_mode, mamba_ssm_cache_dtype, attention_backend;
  std::optional<std::string> load_format, speculative_method, usage;
  std::optional<bool> enforce_eager, enable_prefix_caching, enable_chunked_prefill, enable_dp_attention;
  std::optional<bool> language_model_only, skip_mm_profiling, disable_custom_all_reduce;
};

/// One run of one engine. Resolved: the model is there, the GPU and the formats are the library's.
struct measured_case {
  std::string id, engine, source, published_as;
  release version;
  std::shared_ptr<const kvbudget::model_architecture> model;
  bool multimodal = false;
  kvbudget::weight_scheme weights{};  ///< what the checkpoint stores; automatic = as the model says
  kvbudget::module_set unquantized{};
  kvbudget::number_format dtype{};
  const kvbudget::gpu_profile* gpu = nullptr;  ///< null where the source does not say
  std::string gpu_as_printed;
  kvbudget::parallel_layout layout{};
  std::optional<std::uint64_t>
      gpus;  ///< where it is not tensor × pipeline × data (attention data parallelism)
  settings given;
  bool calibrated = false;            ///< constants of the library rest on its terms: shown apart
  bool complete = false;              ///< the source shows every flag: what is absent is the engine's default
  std::vector<std::string> inferred;  ///< names of inputs above that the source does not print
  bool refused = false;
  std::map<std::string, printed_bytes> sizes;
  std::map<std::string, printed_count> counts;
  std::map<std::string, printed_number> numbers;
  independence kind = independence::independent;

  [[nodiscard]] const printed_bytes* size(const std::string& name) const {
    const auto found = sizes.find(name);
    return found == sizes.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const printed_count* count(const std::string& name) const {
    const auto found = counts.find(name);
    return found == counts.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const printed_number* number(const std::string& name) const {
    const auto found = numbers.find(name);
    return found == numbers.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool is_inferred(std::string_view input) const {
    for (const std::string& name : inferred) {
      if (name == input) return true;
    }
    return false;
  }
  /// Total memory of a GPU as the engine saw it: printed, else the catalogue's; 0 where neither knows.
  [[nodiscard]] std::uint64_t gpu_total_bytes() const {
    if (const printed_bytes* total = size("gpu_total")) return static_cast<std::uint64_t>(total->bytes);
    return gpu == nullptr ? 0 : gpu->runtime_total_bytes;
  }
  /// Whether the pool can be predicted from nothing but model, GPU, release and flags, and is known.
  [[nodiscard]] bool runs_end_to_end() const {
    if (version.open || kind == independence::circular || gpu_total_bytes() == 0) return false;
    if (!complete && !given.memory_fraction) return false;
    if (is_inferred("gpu") && size("gpu_total") == nullptr) return false;
    for (const char* input :
         {"model", "weights", "tensor", "kv_cache_dtype", "max_num_seqs", "gpu_memory_utilization"}) {
      if (is_inferred(input)) return false;
    }
    if (const printed_bytes* pool = size("kv_available")) return !pool->approximate;
    return size("kv_pool") != nullptr || size("key_pool") != nullptr || count("gpu_blocks") != nullptr ||
           (count("kv_tokens") != nullptr && !count("kv_tokens")->approximate);
  }
  /// Model, formats and layout as the library takes them; no workload.
  [[nodiscard]] kvbudget::deployment deployment() const {
    kvbudget::deployment d{.model = *model};
    d.weights = weights;
    d.unquantized = unquantized;
    d.dtype = dtype;
    d.parallel = layout;
    return d;
  }
};

namespace detail {

using kvbudget::json_field;

/// `-1.44`, `24.00`: digits before and behind the point. Refuses everything else.
struct decimal {
  double value = 0;
  double half_digit = 0.5;
};
inline decimal decimal_in(const json_field& field, std::string_view text) {
  decimal number;
  std::size_t at = !text.empty() && text.front() == '-' ? 1 : 0;
  const bool negative = at == 1;
  std::size_t digits = 0;
  bool behind_point = false;
  double scale = 1;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !behind_point && digits != 0) {
      behind_point = true;
      digits = 0;
      continue;
    }
    if (c < '0' || c > '9' || digits == 17) break;
    ++digits;
    number.value = number.value * 10 + (c - '0');
    if (behind_point) scale *= 10;
  }
  if (at != text.size() || digits == 0)
    field.refuse("must be a number and a unit, as 24.00 GiB, 4.84x or 6.25 %");
  number.value /= negative ? -scale : scale;
  number.half_digit = 0.5 / scale;
  return number;
}

inline std::optional<double> bytes_of_unit(std::string_view unit) {
  if (unit == "B") return 1;
  if (unit == "MiB") return 1024.0 * 1024;
  if (unit == "GiB" || unit == "GB") return 1024.0 * 1024 * 1024;
  return std::nullopt;
}

inline constexpr const char* size_names[] = {"driver_total",
                                             "gpu_total",
                                             "free_at_start",
                                             "budget",
                                             "checkpoint",
                                             "weights",
                                             "weights_and_non_torch",
                                             "consumed",
                                             "non_torch",
                                             "activation_peak",
                                             "initial_usage",
                                             "peak_torch",
                                             "post_profile",
                                             "process_used",
                                             "cuda_graphs",
                                             "cuda_graphs_estimate",
                                             "kv_available",
                                             "kv_needed",
                                             "kv_pool",
                                             "kv_pool_with_indexer",
                                             "key_pool",
                                             "value_pool",
                                             "convolution_states",
                                             "recurrent_states",
                                             "available_before_load",
                                             "available_after_weights",
                                             "available_after_pool",
                                             "available_at_end"};
inline constexpr const char* count_names[] = {"kv_tokens",      "estimated_max_model_len",
                                              "gpu_blocks",     "cpu_blocks",
                                              "kv_blocks",      "full_tokens",
                                              "swa_tokens",     "mamba_blocks",
                                              "padding_layers", "attention_block_size"};
inline constexpr const char* number_names[] = {"max_concurrency", "padding_percent",
                                               "mamba_page_padding_percent"};

template <std::size_t Size> bool is_one_of(const std::string& name, const char* const (&names)[Size]) {
  for (const char* each : names) {
    if (name == each) return true;
  }
  return false;
}

inline void read_figure(measured_case& to, const std::string& name, const json_field& field) {
  std::string_view text = field.value().is_string() ? std::string_view(field.text()) : std::string_view();
  const bool approximate = !text.empty() && text.front() == '~';
  if (approximate) text.remove_prefix(1);
  if (is_one_of(name, count_names)) {
    if (!approximate) {
      to.counts[name] = {field.positive_integer(), false};
    } else {
      to.counts[name] = {static_cast<std::uint64_t>(decimal_in(field, text).value), true};
    }
    return;
  }
  if (text.empty()) field.refuse("must be text with a unit, as 24.00 GiB or 4.84x");
  if (is_one_of(name, number_names)) {
    const std::string_view unit = text.back() == 'x' ? "x" : " %";
    if (text.size() <= unit.size() || text.substr(text.size() - unit.size()) != unit) {
      field.refuse("must end in x or %");
    }
    const decimal number = decimal_in(field, text.substr(0, text.size() - unit.size()));
    to.numbers[name] = {number.value, number.half_digit};
    return;
  }
  if (!is_one_of(name, size_names)) field.refuse("is no figure that tests/corpus/README.md lists");
  const std::size_t blank = text.find(' ');
  const std::optional<double> unit =
      blank == text.npos ? std::nullopt : bytes_of_unit(text.substr(blank + 1));
  if (!unit) field.refuse("must end in B, MiB, GiB or GB");
  const decimal number = decimal_in(field, text.substr(0, blank));
  printed_bytes size;
  size.bytes = std::llround(number.value * *unit);
  size.rounding_bytes = *unit == 1 ? 0 : static_cast<std::uint64_t>(std::llround(number.half_digit * *unit));
  size.approximate = approximate;
  to.sizes[name] = size;
}

inline release read_release(const json_field& field) {
  field.allow_only({"printed", "major", "minor", "patch", "inferred_from", "open"});
  release version;
  version.major = static_cast<std::uint32_t>(field.required_integer("major"));
  version.minor = static_cast<std::uint32_t>(field.required_integer("minor"));
  version.patch = static_cast<std::uint32_t>(field.optional_integer("patch").value_or(0));
  version.printed = field.optional_text("printed").value_or("");
  version.inferred_from = field.optional_text("inferred_from").value_or("");
  version.open = field.optional_flag("open").value_or(false);
  if (version.printed.empty() == version.inferred_from.empty()) {
    field.refuse("needs printed or inferred_from, one of them");
  }
  return version;
}

inline std::uint32_t degree_in(const json_field& field, const char* name) {
  const std::optional<json_field> member = field.find(name);
  if (!member) return 1;
  const std::uint64_t degree = member->positive_integer();
  if (degree > 1024) member->refuse("must be at most 1024");
  return static_cast<std::uint32_t>(degree);
}

inline void read_layout(measured_case& to, const json_field& field) {
  field.allow_only(
      {"tensor", "pipeline", "data", "decode_context", "expert_parallel", "stage_layers", "gpus"});
  kvbudget::parallel_layout& layout = to.layout;
  layout.tensor = degree_in(field, "tensor");
  layout.pipeline = degree_in(field, "pipeline");
  layout.data = degree_in(field, "data");
  layout.decode_context = degree_in(field, "decode_context");
  if (field.optional_flag("expert_parallel").value_or(false)) layout.expert = layout.tensor * layout.data;
  if (const std::optional<json_field> stages = field.find("stage_layers")) {
    if (stages->size() != layout.pipeline) stages->refuse("must list one number of layers per stage");
    for (std::size_t i = 0; i < stages->size() && i < kvbudget::max_pipeline_stages; ++i) {
      const std::uint64_t layers = stages->at(i).positive_integer();
      if (layers > kvbudget::max_layers) stages->at(i).refuse("is more layers than a model has");
      layout.stage_layers[i] = static_cast<std::uint16_t>(layers);
    }
  }
  to.gpus = field.optional_integer("gpus");
}

/// The first of several names under which engines know a setting.
inline std::optional<json_field> any_of(const json_field& field, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (std::optional<json_field> found = field.find(name)) return found;
  }
  return std::nullopt;
}
inline std::optional<std::uint64_t> integer_of(const json_field& field,
                                               std::initializer_list<const char*> names) {
  const std::optional<json_field> found = any_of(field, names);
  return found ? std::optional<std::uint64_t>(found->positive_integer()) : std::nullopt;
}

inline settings read_settings(const json_field& field) {
  field.allow_only({"gpu_memory_utilization",
                    "mem_fraction_static",
                    "free_gpu_memory_fraction",
                    "max_model_len",
                    "max_num_seqs",
                    "max_running_requests",
                    "max_batch_size",
                    "max_num_batched_tokens",
                    "max_num_tokens",
                    "block_size",
                    "page_size",
                    "tokens_per_block",
                    "kv_cache_dtype",
                    "enforce_eager",
                    "enable_prefix_caching",
                    "enable_chunked_prefill",
                    "enable_dp_attention",
                    "language_model_only",
                    "skip_mm_profiling",
                    "disable_custom_all_reduce",
                    "load_format",
                    "attention_backend",
                    "mamba_cache_mode",
                    "mamba_ssm_cache_dtype",
                    "max_mamba_cache_size",
                    "usage",
                    "speculative"});
  settings given;
  if (const std::optional<json_field> fraction =
          any_of(field, {"gpu_memory_utilization", "mem_fraction_static", "free_gpu_memory_fraction"})) {
    given.memory_fraction = fraction->number();
    if (!(*given.memory_fraction > 0 && *given.memory_fraction <= 1))
      fraction->refuse("must be above 0, at most 1");
  }
  given.max_model_len = integer_of(field, {"max_model_len"});
  given.max_num_seqs = integer_of(field, {"max_num_seqs", "max_running_requests", "max_batch_size"});
  given.max_num_batched_tokens = integer_of(field, {"max_num_batched_tokens", "max_num_tokens"});
  given.block_size = integer_of(field, {"block_size", "page_size", "tokens_per_block"});
  given.max_mamba_cache_size = integer_of(field, {"max_mamba_cache_size"});
  given.kv_cache_dtype = field.optional_text("kv_cache_dtype");
  given.mamba_cache_mode = field.optional_text("mamba_cache_mode");
  given.mamba_ssm_cache_dtype = field.optional_text("mamba_ssm_cache_dtype");
  given.attention_backend = field.optional_text("attention_backend");
  given.load_format = field.optional_text("load_format");
  given.usage = field.optional_text("usage");
  given.enforce_eager = field.optional_flag("enforce_eager");
  given.enable_prefix_caching = field.optional_flag("enable_prefix_caching");
  given.enable_chunked_prefill = field.optional_flag("enable_chunked_prefill");
  given.enable_dp_attention = field.optional_flag("enable_dp_attention");
  given.language_model_only = field.optional_flag("language_model_only");
  given.skip_mm_profiling = field.optional_flag("skip_mm_profiling");
  given.disable_custom_all_reduce = field.optional_flag("disable_custom_all_reduce");
  if (const std::optional<json_field> speculative = field.find("speculative")) {
    speculative->allow_only({"method", "num_speculative_tokens"});
    given.speculative_method = speculative->required_text("method");
    given.num_speculative_tokens = speculative->optional_integer("num_speculative_tokens");
  }
  return given;
}

inline independence read_independence(const json_field& field) {
  if (field.text() == "independent") return independence::independent;
  if (field.text() == "circular") return independence::circular;
  if (field.text() == "input_only") return independence::input_only;
  field.refuse("must be independent, circular or input_only");
}

inline std::shared_ptr<const kvbudget::model_architecture> read_model(
    const json_field& root, const std::filesystem::path& directory) {
  const std::optional<json_field> name = root.find("model");
  const std::optional<json_field> file = root.find("model_file");
  if (name.has_value() == file.has_value()) root.refuse("needs model or model_file, one of them");
  if (file) {
    return std::make_shared<const kvbudget::model_architecture>(
        kvbudget::load_model(directory / file->text()));
  }
  const kvbudget::model_architecture* found = kvbudget::models::find(name->text().c_str());
  if (found == nullptr) name->refuse(explain(kvbudget::models::nearest(name->text().c_str()), name->text()));
  return {std::shared_ptr<const kvbudget::model_architecture>(), found};  // lives as long as the program
}

inline measured_case read_case(const json_field& root, const std::filesystem::path& directory) {
  root.allow_only({"id",         "engine",       "version",        "source",  "model",
                   "model_file", "published_as", "modality",       "weights", "unquantized",
                   "dtype",      "gpu",          "gpu_as_printed", "layout",  "settings",
                   "complete",   "inferred",     "outcome",        "figures", "independence",
                   "notes",      "calibrated"});
  measured_case read;
  read.id = root.required_text("id");
  read.engine = root.required_text("engine");
  read.version = read_release(root.at("version"));
  read.source = root.required_text("source");
  if (read.source.empty()) root.at("source").refuse("must not be empty");
  read.model = read_model(root, directory);
  read.published_as = root.required_text("published_as");
  const json_field modality = root.at("modality");
  read.multimodal = modality.text() == "multimodal";
  if (!read.multimodal && modality.text() != "text") modality.refuse("must be text or multimodal");
  if (const auto field = root.find("weights")) {
    read.weights = kvbudget::detail::naming_the_place(
        *field, [&] { return kvbudget::weight_scheme_named(field->text()); });
  }
  if (const auto field = root.find("unquantized"))
    read.unquantized = kvbudget::module_set_named(field->text());
  if (const auto field = root.find("dtype")) read.dtype = kvbudget::number_format_named(field->text());
  if (const auto field = root.find("gpu")) {
    const kvbudget::gpu_lookup found = kvbudget::find_gpu(field->text().c_str());
    if (found.gpu == nullptr) field->refuse(explain(found, field->text()));
    read.gpu = found.gpu;
  }
  read.gpu_as_printed = root.optional_text("gpu_as_printed").value_or("");
  if (const auto field = root.find("layout")) read_layout(read, *field);
  if (const auto field = root.find("settings")) read.given = read_settings(*field);
  read.complete = root.optional_flag("complete").value_or(false);
  if (const auto field = root.find("inferred")) {
    for (std::size_t i = 0; i < field->size(); ++i) read.inferred.push_back(field->text_at(i));
  }
  const json_field outcome = root.at("outcome");
  read.refused = outcome.text() == "refused";
  if (!read.refused && outcome.text() != "started") outcome.refuse("must be started or refused");
  const json_field figures = root.at("figures");
  for (const auto& [name, value] : figures.as_object().value().items()) {
    read_figure(read, name, figures.at(std::string_view(name)));
  }
  read.kind = read_independence(root.at("independence"));
  read.calibrated = root.optional_flag("calibrated").value_or(false);
  if (const auto field = root.find("notes")) {
    for (std::size_t i = 0; i < field->size(); ++i) (void)field->text_at(i);
  }
  return read;
}

}  // namespace detail

/// The cases of one file, in its order. Whatever does not fit the schema, and a model, GPU or format that the
/// library does not know, throws `input_error` with file, place and reason.
[[nodiscard]] inline std::vector<measured_case> load(const std::filesystem::path& file) {
  const kvbudget::json_document document =
      kvbudget::load_json(file, {.bytes = std::uint64_t{1} << 20, .depth = 8});
  const kvbudget::json_field root(document);
  std::vector<measured_case> cases;
  const std::size_t count = root.size();
  cases.reserve(count);
  for (std::size_t i = 0; i < count; ++i) cases.push_back(detail::read_case(root.at(i), file.parent_path()));
  return cases;
}

/// The cases of all engines: `vllm.json`, `sglang.json`, `tensorrt-llm.json` of that directory.
[[nodiscard]] inline std::vector<measured_case> load_all(const std::filesystem::path& directory) {
  std::vector<measured_case> all;
  for (const char* engine : {"vllm", "vllm-profile", "sglang", "tensorrt-llm"}) {
    std::vector<measured_case> cases = load(directory / (std::string(engine) + ".json"));
    for (measured_case& each : cases) all.push_back(std::move(each));
  }
  return all;
}

}  // namespace tests::corpus
