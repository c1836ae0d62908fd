#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kvbudget/io/comparison.hpp"
#include "kvbudget/io/format_names.hpp"
#include "kvbudget/io/json_reader.hpp"

/// What one start of an engine measured, kept as a file that later estimates take terms from: the schema of
/// `docs/calibration-schema.md`.
namespace kvbudget::inline v0 {

/// A measured term: bounds from the printed digits, and where it was printed (`serve.log:12`).
struct calibrated_term {
  bytes low{};
  bytes expected{};
  bytes high{};
  basis known = basis::measured;
  std::string source{};

  friend bool operator==(const calibrated_term&, const calibrated_term&) = default;
};

/// The terms of one start, and all that they depend on.
struct calibration {
  std::string engine{};   ///< "vllm"
  std::string version{};  ///< "0.21"
  std::string gpu{};      ///< id; empty where only its total is known
  std::uint64_t gpu_total_bytes = 0;
  std::uint64_t gpu_total_rounding_bytes = 0;
  std::string model{};  ///< for messages: the numbers below say which models are alike
  std::uint64_t parameters = 0;
  std::uint64_t num_hidden_layers = 0;
  std::uint64_t hidden_size = 0;
  std::string weights_format{};
  parallel_layout layout{};
  std::uint64_t max_num_seqs = 0;            ///< requests of one step
  std::uint64_t max_num_batched_tokens = 0;  ///< tokens of one step
  std::uint64_t num_speculative_tokens = 0;
  bool cuda_graphs_captured = true;

  std::optional<calibrated_term> weights{};
  std::optional<calibrated_term> activations{};
  std::optional<calibrated_term> non_torch{};
  std::optional<calibrated_term> cuda_graphs{};
  std::optional<calibrated_term>
      activations_and_non_torch{};  ///< both, where the log does not print them apart

  friend bool operator==(const calibration&, const calibration&) = default;
};

/// A term of a calibration by its name in the file.
struct named_term {
  const char* name;
  const char* what;
  std::optional<calibrated_term> calibration::*member;
};
inline constexpr named_term calibration_terms[] = {
    {"weights", "weights", &calibration::weights},
    {"activations", "activations", &calibration::activations},
    {"non_torch", "memory outside PyTorch", &calibration::non_torch},
    {"cuda_graphs", "CUDA graphs", &calibration::cuda_graphs},
    {"activations_and_non_torch", "activations with memory outside PyTorch",
     &calibration::activations_and_non_torch}};

namespace detail {

inline constexpr std::uint64_t most_calibrated_bytes = std::uint64_t{1} << 50;

/// Requests and tokens of one step, every default filled in.
struct step_limits {
  std::uint64_t requests = 0;
  std::uint64_t tokens = 0;
};
template <class Engine>
[[nodiscard]] step_limits step_limits_of(const Engine& on, const deployment& d, const gpu_profile& gpu) {
  if constexpr (requires { on.resolved(d, gpu).max_num_batched_tokens; }) {
    const auto options = on.resolved(d, gpu);
    return {options.max_num_seqs, options.max_num_batched_tokens};
  } else if constexpr (requires { on.step_tokens(); }) {
    return {on.batch_size(), on.step_tokens()};
  } else if constexpr (requires { on.chunked_prefill_tokens(gpu); }) {
    const auto chunk = on.chunked_prefill_tokens(gpu);
    return {on.max_running_requests, chunk > 0 ? static_cast<std::uint64_t>(chunk) : on.max_prefill_tokens};
  } else {
    return {on.running_requests(d, gpu), 0};
  }
}
template <class Engine> [[nodiscard]] bool captures_graphs(const Engine& on) {
  if constexpr (requires { on.enforce_eager; }) return !on.enforce_eager;
  if constexpr (requires { on.use_cuda_graph; }) return on.use_cuda_graph;
  if constexpr (requires { on.disable_cuda_graph; }) return !on.disable_cuda_graph;
  return true;
}
[[nodiscard]] inline std::string weights_format_of(const deployment& d) {
  return d.weights.is_automatic() ? stored_as(*d.model, given_or(d.dtype, d.model->dtype).name)
                                  : std::string(d.weights.name);
}

/// "vllm@0.21" → "vllm" and "0.21".
[[nodiscard]] inline std::pair<std::string, std::string> engine_and_version(const engine_name& name) {
  const std::string text = name.text;
  const std::size_t at = text.find('@');
  if (at == std::string::npos) return {text, ""};
  return {text.substr(0, at), text.substr(at + 1)};
}

/// A printed size between its roundings; below zero counts as zero.
[[nodiscard]] inline calibrated_term term_between(double low, double expected, double high,
                                                  std::string source) {
  const auto whole = [](double size) {
    const double most = static_cast<double>(most_calibrated_bytes);
    return bytes{size <= 0 ? 0 : static_cast<std::uint64_t>(size < most ? size : most)};
  };
  return {whole(low), whole(expected), whole(high), basis::measured, std::move(source)};
}

/// Takes the terms of a log: those of the fullest rank, low and high those of all ranks.
template <class Engine> class log_calibrator {
 public:
  log_calibrator(const engine_log& log, const deployment& d, const Engine& on, const gpu_profile& gpu,
                 const std::string& name)
      : log_(without_absurd_figures(log, left_out_)),
        d_(d),
        on_(on),
        gpu_(gpu),
        name_(name),
        ranks_(fullest_first(log_)) {}

  [[nodiscard]] calibration result() {
    describe();
    const auto read = [](std::optional<printed_amount> rank_figures::*member) {
      return [member](const rank_figures& rank) { return rank.*member; };
    };
    to_.weights = term(read(&rank_figures::weights));
    to_.activations = term(read(&rank_figures::activation_peak));
    to_.non_torch = log_.engine == "sglang" ? in_use_before_loading() : term(printed_outside_torch);
    const bool has_graphs = captures_graphs(on_);
    if (has_graphs) to_.cuda_graphs = term(read(&rank_figures::cuda_graphs_estimated));
    if (has_graphs && !to_.cuda_graphs) to_.cuda_graphs = term(read(&rank_figures::cuda_graphs));
    if (!to_.activations || !to_.non_torch) take_remainder();
    return std::move(to_);
  }

 private:
  void describe() {
    std::tie(to_.engine, to_.version) = engine_and_version(on_.name());
    to_.gpu = gpu_.id;
    const usable_memory total = usable(gpu_);
    to_.gpu_total_bytes = total.expected.value;
    to_.gpu_total_rounding_bytes = (total.high - total.expected).value;
    to_.model = d_.model->name;
    to_.parameters = parameter_count(*d_.model).value;
    to_.num_hidden_layers = d_.model->num_hidden_layers;
    to_.hidden_size = d_.model->hidden_size;
    to_.weights_format = weights_format_of(d_);
    to_.layout = d_.parallel;
    const step_limits limits = step_limits_of(on_, d_, gpu_);
    to_.max_num_seqs = limits.requests;
    to_.max_num_batched_tokens = limits.tokens;
    to_.num_speculative_tokens = d_.speculation.num_speculative_tokens;
    to_.cuda_graphs_captured = captures_graphs(on_);
  }
  [[nodiscard]] std::string at_line(std::uint32_t line) const { return name_ + ":" + std::to_string(line); }

  template <class Read> [[nodiscard]] std::optional<calibrated_term> term(Read read) const {
    std::optional<calibrated_term> found;
    for (const rank_figures* rank : ranks_) {
      const std::optional<printed_amount> printed = read(*rank);
      if (!printed) continue;
      const auto size = static_cast<double>(printed->bytes);
      const auto half = static_cast<double>(printed->rounding_bytes);
      const calibrated_term here = term_between(size - half, size, size + half, at_line(printed->line));
      if (!found) {
        found = here;
      } else {
        found->low = here.low < found->low ? here.low : found->low;
        found->high = found->high < here.high ? here.high : found->high;
      }
    }
    return found;
  }

  /// SGLang's pool depends on what was free before loading: the GPU's total less that.
  [[nodiscard]] std::optional<calibrated_term> in_use_before_loading() const {
    const usable_memory total = usable(gpu_);
    return term([&](const rank_figures& rank) -> std::optional<printed_amount> {
      if (!rank.free_at_start || rank.free_at_start->bytes < 0) return std::nullopt;
      const std::int64_t used =
          signed_difference(total.expected, bytes{static_cast<std::uint64_t>(rank.free_at_start->bytes)});
      return printed_amount{used, rank.free_at_start->rounding_bytes + (total.high - total.expected).value,
                            rank.free_at_start->line};
    });
  }

  /// What is left of the budget beside the printed terms and the pool, of the fullest rank.
  void take_remainder() {
    for (const rank_figures* rank : ranks_) {
      const std::optional<printed_amount> pool = printed_pool_of(*rank);
      if (!pool || !to_.weights) continue;
      double share = 1;
      if (log_.engine == "tensorrt_llm") {
        share = share_of_pool(on_);
      } else if (log_.engine != "vllm") {
        return;  // SGLang's pool does not depend on what a step takes
      }
      const usable_memory allowed = on_.usable(gpu_);
      double half = static_cast<double>(pool->rounding_bytes) / share +
                    static_cast<double>((to_.weights->high - to_.weights->expected).value) +
                    static_cast<double>((allowed.high - allowed.expected).value);
      double rest = static_cast<double>(allowed.expected.value) - static_cast<double>(pool->bytes) / share -
                    static_cast<double>(to_.weights->expected.value);
      if (to_.cuda_graphs && log_.engine == "vllm" && pays_for_graphs(on_, d_)) {
        rest -= static_cast<double>(to_.cuda_graphs->expected.value);
        half += static_cast<double>((to_.cuda_graphs->high - to_.cuda_graphs->expected).value);
      }
      if (rest <= 0) return;
      to_.activations_and_non_torch = term_between(rest - half, rest, rest + half, at_line(pool->line));
      to_.activations.reset();
      to_.non_torch.reset();
      return;
    }
  }

  std::vector<std::string> left_out_;
  engine_log log_;
  const deployment& d_;
  const Engine& on_;
  const gpu_profile& gpu_;
  const std::string& name_;
  std::vector<const rank_figures*> ranks_;
  calibration to_;
};

}  // namespace detail

/// The terms that a log measured of this deployment, engine and GPU; `name` is what their sources call the
/// log. What the log does not print is not in it.
template <pool_engine Engine>
[[nodiscard]] calibration calibration_of(const engine_log& log, const deployment& d, const Engine& on,
                                         const gpu_profile& gpu, const std::string& name) {
  return detail::log_calibrator<Engine>(log, d, on, gpu, name).result();
}

/// A calibration in the schema of `docs/calibration-schema.md`.
[[nodiscard]] inline nlohmann::ordered_json calibration_json(const calibration& from) {
  using nlohmann::ordered_json;
  ordered_json gpu = ordered_json::object();
  if (!from.gpu.empty()) gpu["id"] = from.gpu;
  gpu["total_bytes"] = from.gpu_total_bytes;
  gpu["total_rounding_bytes"] = from.gpu_total_rounding_bytes;
  ordered_json terms = ordered_json::object();
  for (const named_term& term : calibration_terms) {
    const std::optional<calibrated_term>& measured = from.*(term.member);
    if (!measured) continue;
    terms[term.name] = {{"low", measured->low.value},
                        {"expected", measured->expected.value},
                        {"high", measured->high.value},
                        {"basis", name_of(measured->known)},
                        {"source", measured->source}};
  }
  return {{"schema", 1},
          {"engine", from.engine},
          {"version", from.version},
          {"gpu", std::move(gpu)},
          {"model",
           {{"name", from.model},
            {"parameters", from.parameters},
            {"num_hidden_layers", from.num_hidden_layers},
            {"hidden_size", from.hidden_size}}},
          {"weights_format", from.weights_format},
          {"layout",
           {{"tensor", from.layout.tensor},
            {"pipeline", from.layout.pipeline},
            {"data", from.layout.data},
            {"attention_data", from.layout.attention_data},
            {"expert", from.layout.expert},
            {"decode_context", from.layout.decode_context}}},
          {"settings",
           {{"max_num_seqs", from.max_num_seqs},
            {"max_num_batched_tokens", from.max_num_batched_tokens},
            {"num_speculative_tokens", from.num_speculative_tokens},
            {"cuda_graphs", from.cuda_graphs_captured}}},
          {"terms", std::move(terms)}};
}

namespace detail {

[[nodiscard]] inline std::string bounded_text(const json_field& field, bool may_be_empty = false) {
  const std::string& text = field.text();
  if (text.empty() && !may_be_empty) field.refuse("must not be empty");
  if (text.size() > 400)
    field.refuse("has " + std::to_string(text.size()) + " characters, at most 400 are kept");
  if (printable(text, 400) != text) field.refuse("must not hold control characters");
  return text;
}
[[nodiscard]] inline bytes calibrated_bytes(const json_field& term, const char* key) {
  const json_field field = term.at(key);
  const std::uint64_t size = field.integer();
  if (size > most_calibrated_bytes) field.refuse("must be at most 2^50 bytes");
  return bytes{size};
}
[[nodiscard]] inline basis calibrated_basis(const json_field& field) {
  for (const basis each : {basis::exact, basis::measured, basis::calibrated, basis::assumed}) {
    if (field.text() == name_of(each)) return each;
  }
  field.refuse("must be exact, measured, calibrated or assumed, not \"" + printable(field.text(), 40) + "\"");
}
[[nodiscard]] inline calibrated_term read_term(const json_field& field) {
  field.allow_only({"low", "expected", "high", "basis", "source"});
  calibrated_term term{calibrated_bytes(field, "low"), calibrated_bytes(field, "expected"),
                       calibrated_bytes(field, "high"), calibrated_basis(field.at("basis")),
                       bounded_text(field.at("source"))};
  if (term.expected < term.low || term.high < term.expected) field.refuse("needs low <= expected <= high");
  return term;
}
[[nodiscard]] inline std::uint32_t calibrated_degree(const json_field& layout, const char* key) {
  const json_field field = layout.at(key);
  const std::uint64_t degree = field.positive_integer();
  if (degree > 65536) field.refuse("must be at most 65536");
  return static_cast<std::uint32_t>(degree);
}

[[nodiscard]] inline calibration read_calibration(const json_field& root) {
  root.allow_only({"schema", "engine", "version", "gpu", "model", "weights_format", "layout", "settings",
                   "terms", "notes"});
  if (root.required_integer("schema") != 1) root.at("schema").refuse("must be 1");
  calibration result;
  result.engine = bounded_text(root.at("engine"));
  result.version = bounded_text(root.at("version"), true);
  const json_field gpu = root.at("gpu");
  gpu.allow_only({"id", "total_bytes", "total_rounding_bytes"});
  if (const auto id = gpu.find("id")) result.gpu = bounded_text(*id);
  result.gpu_total_bytes = gpu.at("total_bytes").positive_integer();
  result.gpu_total_rounding_bytes = gpu.optional_integer("total_rounding_bytes").value_or(0);
  if (result.gpu_total_bytes > most_calibrated_bytes)
    gpu.at("total_bytes").refuse("must be at most 2^50 bytes");
  if (result.gpu_total_rounding_bytes > result.gpu_total_bytes) {
    gpu.at("total_rounding_bytes").refuse("is larger than the total");
  }
  const json_field model = root.at("model");
  model.allow_only({"name", "parameters", "num_hidden_layers", "hidden_size"});
  result.model = bounded_text(model.at("name"));
  result.parameters = model.at("parameters").positive_integer();
  result.num_hidden_layers = model.at("num_hidden_layers").positive_integer();
  result.hidden_size = model.required_integer("hidden_size");
  result.weights_format = bounded_text(root.at("weights_format"));
  const json_field layout = root.at("layout");
  layout.allow_only({"tensor", "pipeline", "data", "attention_data", "expert", "decode_context"});
  result.layout.tensor = calibrated_degree(layout, "tensor");
  result.layout.pipeline = calibrated_degree(layout, "pipeline");
  result.layout.data = calibrated_degree(layout, "data");
  result.layout.attention_data = calibrated_degree(layout, "attention_data");
  result.layout.expert = calibrated_degree(layout, "expert");
  result.layout.decode_context = calibrated_degree(layout, "decode_context");
  const json_field settings = root.at("settings");
  settings.allow_only({"max_num_seqs", "max_num_batched_tokens", "num_speculative_tokens", "cuda_graphs"});
  result.max_num_seqs = settings.required_integer("max_num_seqs");
  result.max_num_batched_tokens = settings.required_integer("max_num_batched_tokens");
  result.num_speculative_tokens = settings.optional_integer("num_speculative_tokens").value_or(0);
  result.cuda_graphs_captured = settings.required_flag("cuda_graphs");
  const json_field terms = root.at("terms");
  terms.allow_only({"weights", "activations", "non_torch", "cuda_graphs", "activations_and_non_torch"});
  for (const named_term& term : calibration_terms) {
    if (const auto field = terms.find(term.name)) result.*(term.member) = read_term(*field);
  }
  if (result.activations_and_non_torch && (result.activations || result.non_torch)) {
    terms.at("activations_and_non_torch").refuse("stands in place of activations and non_torch");
  }
  if (const auto notes = root.find("notes")) {
    const std::size_t count = notes->size();
    for (std::size_t i = 0; i < count; ++i) (void)notes->text_at(i);
  }
  return result;
}

}  // namespace detail

/// A calibration from JSON in the schema of `docs/calibration-schema.md`; `source` is what errors call it.
/// Anything missing, unknown, mistyped, negative, fractional, too large or out of order throws `input_error`.
[[nodiscard]] inline calibration parse_calibration(const nlohmann::json& value, std::string_view source) {
  const std::string name = detail::printable(source);
  return detail::read_calibration(json_field(value, name));
}

/// Reads one file of at most 1 MiB; see `parse_calibration`.
[[nodiscard]] inline calibration load_calibration(const std::filesystem::path& path) {
  const json_document document = load_json(path, {.bytes = std::uint64_t{1} << 20, .depth = 8});
  return detail::read_calibration(json_field(document));
}

/// Which terms of a calibration count for a deployment, and why the others do not: one line each.
struct calibration_use {
  std::vector<std::string> used{};
  std::vector<std::string> not_used{};
};

namespace detail {

/// Where measured terms hold; each question gives the reason why not, or nothing.
template <class Engine> class calibration_scope {
 public:
  calibration_scope(const calibration& from, const deployment& d, const Engine& on, const gpu_profile* gpu)
      : from_(from), d_(d), on_(on), gpu_(gpu) {}

  [[nodiscard]] std::string weights() const {
    if (const std::string why = model(); !why.empty()) return why;
    const std::string format = weights_format_of(d_);
    if (format != from_.weights_format)
      return "weights are " + format + ", measured with " + from_.weights_format;
    const parallel_layout& here = d_.parallel;
    const parallel_layout& there = from_.layout;
    const bool alike = here.tensor == there.tensor && here.pipeline == there.pipeline &&
                       here.attention_data == there.attention_data && here.expert == there.expert &&
                       (here.expert == 1 || here.data == there.data);
    return alike ? "" : "measured with another layout";
  }
  /// Memory of the software: engine and version, GPU, number of ranks.
  [[nodiscard]] std::string software() const {
    const auto [engine, version] = engine_and_version(on_.name());
    if (engine != from_.engine || version != from_.version) {
      return "measured with " + from_.engine + "@" + from_.version;
    }
    if (gpu_ == nullptr) return "no GPU is named";
    const std::string id = gpu_->id;
    if (!from_.gpu.empty() && !id.empty()) {
      if (id != from_.gpu) return "measured on " + from_.gpu;
    } else {
      const usable_memory total = usable(*gpu_);
      const std::uint64_t here = total.expected.value;
      const std::uint64_t apart =
          here < from_.gpu_total_bytes ? from_.gpu_total_bytes - here : here - from_.gpu_total_bytes;
      if (apart > from_.gpu_total_rounding_bytes + (total.high - total.expected).value) {
        return "measured on a GPU of " + gibibytes_text(static_cast<double>(from_.gpu_total_bytes));
      }
    }
    if (d_.parallel.ranks() != from_.layout.ranks()) {
      return "measured with " + std::to_string(from_.layout.ranks()) + " ranks";
    }
    return "";
  }
  [[nodiscard]] std::string graphs() const {
    if (const std::string why = software(); !why.empty()) return why;
    return same_graphs();
  }
  [[nodiscard]] std::string activations() const {
    if (const std::string why = software(); !why.empty()) return why;
    if (const std::string why = model(); !why.empty()) return why;
    if constexpr (pool_engine<Engine>) {
      const step_limits limits = step_limits_of(on_, d_, *gpu_);
      if (limits.requests != from_.max_num_seqs) {
        return "measured with max_num_seqs " + std::to_string(from_.max_num_seqs) + ", not " +
               std::to_string(limits.requests);
      }
      if (limits.tokens != from_.max_num_batched_tokens) {
        return "measured with max_num_batched_tokens " + std::to_string(from_.max_num_batched_tokens) +
               ", not " + std::to_string(limits.tokens);
      }
    }
    if (d_.speculation.num_speculative_tokens != from_.num_speculative_tokens) {
      return "measured with " + std::to_string(from_.num_speculative_tokens) + " speculative tokens";
    }
    return "";
  }
  [[nodiscard]] std::string remainder() const {
    if (const std::string why = activations(); !why.empty()) return why;
    return same_graphs();
  }

 private:
  [[nodiscard]] std::string model() const {
    const bool alike = parameter_count(*d_.model).value == from_.parameters &&
                       d_.model->num_hidden_layers == from_.num_hidden_layers &&
                       d_.model->hidden_size == from_.hidden_size;
    return alike ? "" : "measured with " + from_.model;
  }
  [[nodiscard]] std::string same_graphs() const {
    if (captures_graphs(on_) == from_.cuda_graphs_captured) return "";
    return from_.cuda_graphs_captured ? "measured with CUDA graphs" : "measured without CUDA graphs";
  }

  const calibration& from_;
  const deployment& d_;
  const Engine& on_;
  const gpu_profile* gpu_;
};

/// The computed line of a rank's framework as an amount, for what was not measured of it.
template <class Engine>
[[nodiscard]] calibrated_term computed_part(const Engine& on, const deployment& d, const gpu_profile& gpu,
                                            const char* name) {
  const rank_reservation mine = on.reserve(d, allocate(d, on, gpu).where, gpu);
  const line_item* line = mine.budget.find(name);
  if (line == nullptr) return {bytes{}, bytes{}, bytes{}, basis::exact, ""};
  return {line->low, line->expected, line->high, line->known, line->source};
}

}  // namespace detail

/// Pins the terms of `from` that hold for this deployment, engine and GPU (null = none named), which replaces
/// what would be computed; figures that the user pinned stay. Weights hold for the same model, format of
/// weights and layout; memory outside PyTorch and graphs for the same engine and version, GPU and number of
/// ranks; activations also for the same model and the same limits of a step. `from` must outlive `d`.
template <class Engine>
[[nodiscard]] calibration_use use_calibration(const calibration& from, deployment& d, const Engine& on,
                                              const gpu_profile* gpu) {
  calibration_use result;
  const detail::calibration_scope<Engine> scope(from, d, on, gpu);
  const auto pin = [](const calibrated_term& term) {
    return amount(term.low, term.expected, term.high, term.known, term.source.c_str());
  };
  /// Whether a term is there and holds; notes it either way.
  const auto holds = [&](const char* what, const std::optional<calibrated_term>& term, bool pinned,
                         std::string why) {
    if (!term) return false;
    if (why.empty() && pinned) why = "given by the user";
    if (!why.empty()) {
      result.not_used.push_back(std::string(what) + ": " + why);
      return false;
    }
    result.used.push_back(std::string(what) + " (" + term->source + ")");
    return true;
  };
  const pinned_amounts given = d.pinned;
  const bool both = given.activations.given || given.framework.given;
  const bool use_weights = holds("weights", from.weights, given.weights.given, scope.weights());
  const bool use_both = holds("activations with memory outside PyTorch", from.activations_and_non_torch, both,
                              scope.remainder());
  const bool use_activations =
      holds("activations", from.activations, given.activations.given, scope.activations());
  const bool use_non_torch =
      holds("memory outside PyTorch", from.non_torch, given.framework.given, scope.software());
  if (use_non_torch && from.engine != "tensorrt-llm") {
    result.used.back() +=
        from.engine == "vllm"
            ? ": what is outside vLLM's budget (CUDA context, workspaces) is not counted then"
            : ": what is taken after loading (graphs, workspaces) is not counted then";
  }
  bool graphs_count = false;
  if constexpr (std::is_same_v<Engine, engines::vllm>) graphs_count = detail::pays_for_graphs(on, d);
  const std::string why_no_graphs =
      graphs_count ? scope.graphs() : std::string("the pool does not depend on them");
  const bool use_graphs = holds("CUDA graphs", from.cuda_graphs, given.framework.given, why_no_graphs);

  if constexpr (std::is_same_v<Engine, engines::vllm>) {
    // what is inside vLLM's budget: outside PyTorch, and graphs from the version on that counts them
    if (use_both) {
      d.pinned.framework = use_graphs ? pin(*from.cuda_graphs)
                                      : amount(bytes{}, bytes{}, bytes{}, basis::measured,
                                               "counted with the activations: the log prints both in one");
    } else if (use_non_torch || use_graphs) {
      const calibrated_term other =
          use_non_torch ? *from.non_torch : detail::computed_part(on, d, *gpu, "framework.non_torch");
      calibrated_term graphs{bytes{}, bytes{}, bytes{}, basis::exact, ""};
      if (use_graphs) graphs = *from.cuda_graphs;
      if (graphs_count && !use_graphs) graphs = detail::computed_part(on, d, *gpu, "framework.graphs");
      const char* source = use_non_torch ? from.non_torch->source.c_str() : from.cuda_graphs->source.c_str();
      d.pinned.framework = amount(other.low + graphs.low, other.expected + graphs.expected,
                                  other.high + graphs.high, weaker(other.known, graphs.known), source);
    }
  } else if (use_both) {
    d.pinned.framework = amount(bytes{}, bytes{}, bytes{}, basis::measured,
                                "counted with the activations: the log prints both in one");
  } else if (use_non_torch) {
    d.pinned.framework = pin(*from.non_torch);
  }
  if (use_weights) d.pinned.weights = pin(*from.weights);
  if (use_both) d.pinned.activations = pin(*from.activations_and_non_torch);
  if (use_activations) d.pinned.activations = pin(*from.activations);
  return result;
}

}  // namespace kvbudget::inline v0
