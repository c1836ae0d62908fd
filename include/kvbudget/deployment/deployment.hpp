#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/deployment/speculation.hpp"
#include "kvbudget/deployment/weight_loading.hpp"
#include "kvbudget/detail/pointer.hpp"
#include "kvbudget/format/kv_format.hpp"
#include "kvbudget/format/weight_scheme.hpp"
#include "kvbudget/model/model_architecture.hpp"
#include "kvbudget/parallel/layout.hpp"
#include "kvbudget/units/basis.hpp"
#include "kvbudget/workload/workload.hpp"

namespace kvbudget::inline v0 {

/// A model held by reference: it is large, and an estimate only reads it. The model must outlive the
/// deployment, so temporaries do not compile; a local constexpr model must be `static`.
struct model_reference {
  const model_architecture* pointer;
  constexpr model_reference(const model_architecture& model)
      : pointer(&model) {}  // NOLINT: reads like a member
  model_reference(model_architecture&&) = delete;
  model_reference(const model_architecture&&) = delete;
  constexpr const model_architecture* operator->() const { return pointer; }
  constexpr const model_architecture& operator*() const { return *pointer; }
};

namespace detail {
[[noreturn]] inline void a_listed_layer_is_beyond_any_model(std::uint64_t layer) {
  raise("layer # is listed as an exception, but models have at most # layers", layer, max_layers);
}
}  // namespace detail

/// Layers whose cache is kept in another format: the first and last few, or listed ones.
struct layer_exceptions {
  kv_format format{};
  std::uint32_t first_layers = 0;
  std::uint32_t last_layers = 0;
  std::uint32_t listed_layers = 0;             ///< whether `listed` has any
  std::uint64_t listed[max_layers / 64] = {};  ///< one bit per layer; set by `list`

  constexpr layer_exceptions& list(std::uint32_t layer) {
    if (layer >= max_layers) detail::a_listed_layer_is_beyond_any_model(layer);
    listed[layer / 64] |= std::uint64_t{1} << (layer % 64);
    ++listed_layers;
    return *this;
  }
  [[nodiscard]] constexpr bool any() const { return (first_layers | last_layers | listed_layers) != 0; }
  [[nodiscard]] constexpr bool contains(std::uint32_t layer, std::uint32_t layers) const {
    return layer < first_layers || layer + last_layers >= layers ||
           ((listed[layer / 64] >> (layer % 64)) & 1u) != 0;
  }
  /// How many of a model's layers are exceptions.
  [[nodiscard]] constexpr std::uint32_t count(std::uint32_t layers) const {
    std::uint32_t result = 0;
    for (std::uint32_t layer = 0; layer < layers; ++layer) {
      if (contains(layer, layers)) ++result;
    }
    return result;
  }
};

/// Whether attention scores are ever stored.
enum class attention_kernel : std::uint8_t {
  flash,  ///< tiles: no score matrix; one fp32 log-sum-exp per query head and token
  naive   ///< one score matrix per query head: queries × keys
};

/// What turns logits into a token.
enum class sampler_kind : std::uint8_t {
  sorting,  ///< top-k/top-p by a full sort of the vocabulary (what serving engines profile)
  greedy    ///< arg max: no buffers beyond the logits
};

/// How activations are stored and computed; counts only where the workload says what a step computes.
struct activation_options {
  number_format format{};  ///< default: the deployment's dtype
  attention_kernel attention = attention_kernel::flash;
  sampler_kind sampler = sampler_kind::sorting;
};

/// The formats of recurrent states.
struct state_formats {
  number_format convolution{};  ///< default: the deployment's dtype
  number_format recurrent{};    ///< default: the deployment's dtype
};

/// Whose fixed memory to charge beside the model's: none (geometry), or PyTorch on CUDA.
enum class framework_kind : std::uint8_t { none, pytorch_cuda };

/// What the framework keeps beside the model, and the little that it depends on.
struct framework_options {
  framework_kind kind = framework_kind::none;
  std::uint32_t compute_capability_major = 0;  ///< 0 = unknown: workspaces get a range
  bool cuda_graphs = true;                     ///< charge captured graphs; false = eager mode
};

/// An amount known by other means than arithmetic: a measurement, a quota, a colleague's figure.
struct amount {
  bytes low;
  bytes expected;
  bytes high;
  const char* source;
  basis known;
  bool given;

  /// `amount{}` is not given.
  amount() = default;
  /// The same figure as low, expected and high.
  constexpr amount(bytes exactly, const char* from = "given by the user")  // NOLINT: a figure is an amount
      : amount(exactly, exactly, exactly, basis::assumed, from) {}
  constexpr amount(bytes lowest, bytes likely, bytes highest, basis how, const char* from)
      : low(lowest), expected(likely), high(highest), source(from), known(how), given(true) {}
};

/// Per-rank figures that replace what would be computed; only what is given counts.
struct pinned_amounts {
  amount weights;
  amount activations;
  amount framework;
  amount margin;
};

/// Everything an estimate depends on: model, formats with their exceptions, workload and layout.
struct deployment {
  model_reference model;
  weight_scheme weights{};
  kv_format kv_cache{};
  kvbudget::workload workload{};
  parallel_layout parallel{};
  number_format dtype{};             ///< of everything unquantized; default: the model's own
  layer_exceptions kv_exceptions{};  ///< layers that keep another cache format
  module_set unquantized{};          ///< modules that keep `dtype` whatever `weights` says
  state_formats states{};
  activation_options activations{};
  framework_options framework{};
  pinned_amounts pinned{};
  bool load_draft_layers = false;  ///< MTP and draft layers are loaded only when used; `mtp` does so
  kvbudget::speculation speculation{};
  lora_adapters lora{};
  weight_loading loading{};
};

namespace detail {
[[noreturn]] inline void the_model_names_no_dtype() {
  raise("the model names no dtype: say which number format weights and cache are kept in");
}
[[nodiscard]] constexpr const number_format& given_or(const number_format& asked,
                                                      const number_format& fallback) {
  return asked.is_automatic() ? fallback : asked;
}
}  // namespace detail

/// The format of everything unquantized: the deployment's dtype, else the model's; neither stops.
[[nodiscard]] constexpr const number_format& dtype_of(const deployment& d) {
  const number_format& found = detail::given_or(d.dtype, d.model->dtype);
  if (found.is_automatic()) detail::the_model_names_no_dtype();
  return found;
}

/// The formats of recurrent states, by the same rule.
[[nodiscard]] constexpr const number_format& convolution_format(const deployment& d) {
  return d.states.convolution.is_automatic() ? dtype_of(d) : d.states.convolution;
}
[[nodiscard]] constexpr const number_format& recurrent_format(const deployment& d) {
  return d.states.recurrent.is_automatic() ? dtype_of(d) : d.states.recurrent;
}

/// Draft layers of the model itself that are loaded: with `mtp` as many as asked for, all by default.
[[nodiscard]] constexpr std::uint32_t draft_layers_of(const deployment& d) {
  if (d.speculation.kind != speculation_kind::mtp) return 0;
  return d.speculation.draft_layers == 0 ? d.model->draft_layers : d.speculation.draft_layers;
}

/// Whether the model's own draft layers are loaded.
[[nodiscard]] constexpr bool loads_draft_layers(const deployment& d) {
  return d.load_draft_layers || d.speculation.kind == speculation_kind::mtp;
}

/// The draft model as a deployment of its own: the same requests, cache format and data replicas; its own
/// tensor degree, no pipeline (it sits beside the last stage). Only where there is a draft model.
[[nodiscard]] constexpr deployment draft_of(const deployment& d) {
  const model_architecture& model = *d.speculation.draft;
  deployment draft{.model = model, .weights = d.speculation.draft_weights, .kv_cache = d.kv_cache};
  draft.workload = d.workload;
  draft.parallel = d.parallel;
  draft.parallel.pipeline = 1;
  draft.parallel.stage_layers[0] = 0;
  draft.parallel.decode_context = 1;
  if (d.speculation.draft_tensor != 0) draft.parallel.tensor = d.speculation.draft_tensor;
  bool has_experts = false;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind)
    has_experts = has_experts || model.kinds[kind].num_experts != 0;
  if (!has_experts || draft.parallel.tensor != d.parallel.tensor) draft.parallel.expert = 1;
  draft.dtype = detail::given_or(model.dtype, d.dtype.is_automatic() ? d.model->dtype : d.dtype);
  draft.states = d.states;
  draft.loading = d.loading;
  return draft;
}

/// Stops, with the reason, if the speculation does not go with the model.
constexpr void validate(const speculation& s, const model_architecture& model) {
  if (s.has_draft_model() == detail::is_null(s.draft)) {
    if (detail::is_null(s.draft)) detail::this_speculation_needs_a_draft_model();
    detail::this_speculation_takes_no_draft_model();
  }
  if (s.has_draft_model() && s.draft->num_hidden_layers == 0) detail::a_model_needs_at_least_one_layer();
  if (s.kind != speculation_kind::mtp) return;
  if (model.draft_layers == 0) detail::the_model_has_no_draft_layers();
  if (s.draft_layers > model.draft_layers)
    detail::more_draft_layers_than_the_model_has(s.draft_layers, model.draft_layers);
  if (model.draft_store_count == 0) detail::what_a_draft_layer_keeps_is_not_known();
}

/// Stops, with the reason, if the deployment cannot exist.
constexpr void validate(const deployment& d) {
  if (d.model->num_hidden_layers == 0) detail::a_model_needs_at_least_one_layer();  // its layers were checked
  validate(d.workload);
  validate(d.parallel, *d.model);
  if (d.speculation.kind != speculation_kind::none || !detail::is_null(d.speculation.draft)) {
    validate(d.speculation, *d.model);
    if (d.speculation.has_draft_model()) validate(draft_of(d).parallel, *d.speculation.draft);
  }
  validate(d.lora);
}

}  // namespace kvbudget::inline v0
