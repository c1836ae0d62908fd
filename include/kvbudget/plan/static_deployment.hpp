#pragma once

#include <cstdint>

#include "kvbudget/model/builders.hpp"
#include "kvbudget/plan/fits.hpp"

/// Deployments spelled as types, and the gate that stops a build when one does not fit.
namespace kvbudget::inline v0 {

/// A catalogue model, or any constexpr model with static storage, where a `decoder<…>` is expected.
template <const model_architecture& Model> struct model_of {
  static constexpr const model_architecture& architecture = Model;
};

/// The cache format: one for keys and values, or one each; number formats or a `kv_format`.
template <const auto& Key, const auto&... Value> struct kv {
  static_assert(sizeof...(Value) <= 1, "kvbudget: kv takes one format, or one for keys and one for values");
  static constexpr kv_format format = kv_format{Key, Value...};
};
/// Weights in a number format or a weight scheme, and the cache's format.
template <const auto& Weights, class Cache> struct precision {
  static constexpr void apply(deployment& d) {
    d.weights = weight_scheme{Weights};
    d.kv_cache = Cache::format;
  }
};
/// The format of everything unquantized (activations too), for models that name no dtype themselves.
template <const number_format& Format> struct model_dtype {
  static constexpr void apply(deployment& d) { d.dtype = Format; }
};
/// `Sequences` requests of `Context` tokens each, the first `SharedPrefix` of them the same for all.
template <std::uint64_t Sequences, std::uint64_t Context, std::uint64_t SharedPrefix = 0> struct batch {
  static constexpr void apply(deployment& d) {
    d.workload.sequences = Sequences;
    d.workload.context = tokens{Context};
    d.workload.shared_prefix = tokens{SharedPrefix};
  }
};
/// `Total` tokens spread evenly over `Sequences` requests.
template <std::uint64_t Total, std::uint64_t Sequences> struct active {
  static_assert(Sequences > 0, "kvbudget: active tokens need a number of sequences");
  static constexpr void apply(deployment& d) { d.workload = active_tokens(tokens{Total}, Sequences); }
};
/// What one step computes: brings activations into the ledger.
template <std::uint64_t Tokens> struct batched_tokens {
  static constexpr void apply(deployment& d) { d.workload.batched_tokens = tokens{Tokens}; }
};
/// The degrees of the layout; what is not named is 1.
template <std::uint32_t Degree> struct tensor_parallel {
  static constexpr void apply(deployment& d) { d.parallel.tensor = Degree; }
};
template <std::uint32_t Degree> struct pipeline_parallel {
  static constexpr void apply(deployment& d) { d.parallel.pipeline = Degree; }
};
template <std::uint32_t Degree> struct data_parallel {
  static constexpr void apply(deployment& d) { d.parallel.data = Degree; }
};
template <std::uint32_t Degree> struct expert_parallel {
  static constexpr void apply(deployment& d) { d.parallel.expert = Degree; }
};
/// Replicas of attention within a tensor group (`--enable-dp-attention`).
template <std::uint32_t Degree> struct attention_data_parallel {
  static constexpr void apply(deployment& d) { d.parallel.attention_data = Degree; }
};
template <std::uint32_t Degree> struct decode_context_parallel {
  static constexpr void apply(deployment& d) { d.parallel.decode_context = Degree; }
};
/// Figures that the user brings, per rank.
template <bytes Activations> struct pinned_activations {
  static constexpr void apply(deployment& d) { d.pinned.activations = Activations; }
};
template <bytes Framework> struct pinned_framework {
  static constexpr void apply(deployment& d) { d.pinned.framework = Framework; }
};
template <bytes Margin> struct margin {
  static constexpr void apply(deployment& d) { d.pinned.margin = Margin; }
};
/// The framework's own memory, as measured for PyTorch on CUDA.
struct pytorch_cuda {
  static constexpr void apply(deployment& d) { d.framework.kind = framework_kind::pytorch_cuda; }
};

namespace detail {
template <class T>
concept deployment_option = requires(deployment& d) {
  T::apply(d);
};
template <class T>
concept has_architecture = requires {
  T::architecture.num_hidden_layers;
};
}  // namespace detail

/// A deployment as a type: `::value` is the deployment, `::budget` the ledger of its worst rank by pure
/// geometry.
template <class Model, class Precision, class Work, class... Options> struct static_deployment {
  static_assert(detail::has_architecture<Model>,
                "kvbudget: the model is a decoder<...>, or model_of<...> for a catalogue entry");
  static_assert(detail::deployment_option<Precision>,
                "kvbudget: the second argument is precision<weights, kv<cache>>");
  static_assert(detail::deployment_option<Work>,
                "kvbudget: the third argument is batch<sequences, context> or active<tokens, sequences>");
  static_assert((detail::deployment_option<Options> && ...),
                "kvbudget: options are tensor_parallel<n>, batched_tokens<n>, model_dtype<format>, ...");

  static constexpr deployment build() {
    deployment d{.model = Model::architecture};
    Precision::apply(d);
    Work::apply(d);
    (Options::apply(d), ...);
    return d;
  }
  static constexpr deployment value = build();
  static constexpr memory_budget budget = estimate(value);
};

/// The labels of the numbers that a failing `require_fits` prints: bytes, per GPU.
namespace diagnostic {
template <std::uint64_t> struct required_bytes;
template <std::uint64_t> struct available_bytes;
template <std::uint64_t> struct missing_bytes;
template <std::uint64_t> struct weights_bytes;
template <std::uint64_t> struct kv_cache_bytes;
template <std::uint64_t> struct activations_bytes;
template <std::uint64_t> struct framework_bytes;
template <std::uint64_t> struct margin_bytes;
template <std::uint64_t> struct other_bytes;

/// Carries the ledger into the compiler's message.
template <bool Fits, class... Report> struct memory_plan {
  static_assert(
      Fits,
      "kvbudget: this deployment does not fit in the GPU's memory; the arguments of memory_plan are its "
      "bytes per GPU");
  static constexpr bool fits = Fits;
};

template <class Deployment, const gpu_profile& Gpu, auto Engine> struct plan_of {
  static constexpr memory_budget budget = estimate(Deployment::value, Engine, &Gpu);
  static constexpr verdict result = check_fit(Deployment::value, Gpu, Engine);
  static constexpr std::uint64_t missing =
      result.headroom_bytes < 0 ? static_cast<std::uint64_t>(-result.headroom_bytes) : 0;
  static constexpr std::uint64_t named =
      (budget.weights() + budget.kv_cache() + budget.activations() + budget.framework() + budget.margin())
          .value;
  using type =
      memory_plan<result.fits, required_bytes<result.needed.value>,
                  available_bytes<result.available.expected.value>, missing_bytes<missing>,
                  weights_bytes<budget.weights().value>, kv_cache_bytes<budget.kv_cache().value>,
                  activations_bytes<budget.activations().value>, framework_bytes<budget.framework().value>,
                  margin_bytes<budget.margin().value>, other_bytes<result.needed.value - named>>;
};
}  // namespace diagnostic

/// Whether the deployment's worst rank fits the GPU on an engine; never an error.
template <class Deployment, const gpu_profile& Gpu, auto Engine = engines::geometry{}>
inline constexpr bool fits_v = check_fit(Deployment::value, Gpu, Engine).fits;

/// The same as a gate for `static_assert`: where the deployment does not fit, the compiler prints required,
/// available and missing bytes and every item by name.
template <class Deployment, const gpu_profile& Gpu, auto Engine = engines::geometry{}>
inline constexpr bool require_fits = diagnostic::plan_of<Deployment, Gpu, Engine>::type::fits;

}  // namespace kvbudget::inline v0
