#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/deployment/speculation.hpp"
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

/// Stops, with the reason, if the deployment cannot exist.
constexpr void validate(const deployment& d) {
  if (d.model->num_hidden_layers == 0) detail::a_model_needs_at_least_one_layer();  // its layers were checked
  validate(d.workload);
  validate(d.parallel, *d.model);
}

}  // namespace kvbudget::inline v0
