// What llama.cpp, and what runs it, make of a request that other engines read otherwise.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "command_error.hpp"
#include "kvbudget/engine/llama_cpp.hpp"
#include "kvbudget/io/llama_cpp_overrides.hpp"
#include "kvbudget/report/allocation.hpp"
#include "request.hpp"

namespace cli {

using namespace kvbudget;

namespace {

/// Whether its files can hold weights like that.
bool has_weights_format(const weight_scheme& scheme) {
  const std::string_view name = scheme.payload.name;
  return scheme.is_automatic() || std::string_view(scheme.name) == "mxfp4" ||
         (scheme.every_element && (scheme.payload.whole_blocks || name == "fp32" || name == "bf16" ||
                                   name == "fp16" || name == "mxfp4"));
}

/// "f16", or keys and values by name where they differ.
std::string pair_of(const std::string& key, const std::string& value) {
  return key == value ? key : key + ',' + value;
}
/// What the cache is kept in; empty: the engine has no such types.
std::string cache_types(const engines::llama_cpp& on, const deployment& d) {
  const engines::llama_cpp asked = llama_cpp_devices::resolved(on, d);
  const auto none = llama_cpp_cache_type::automatic;
  if (asked.type_k == none || asked.type_v == none) return "";
  return pair_of(format_of(asked.type_k).name, format_of(asked.type_v).name);
}

/// The names of the options for cache types, for keys and values.
struct cache_options {
  const char* key;
  const char* value;
};
template <class Engine> constexpr cache_options cache_options_of() {
  if constexpr (std::is_same_v<Engine, engines::ollama>) {
    return {"--kv-cache-type", "--kv-cache-type"};
  } else if constexpr (std::is_same_v<Engine, engines::lm_studio>) {
    return {"--k-cache-quantization", "--v-cache-quantization"};
  } else {
    return {"--cache-type-k", "--cache-type-v"};
  }
}

}  // namespace

std::string refusal_of(const request& r) {
  return with_engine(r, [&](const auto& on) {
    return report::refusal_text(detail::refusal_of(r.d, r.gpu ? *r.gpu : gpu_profile{}, on));
  });
}

void request_options::read_llama_cpp_layout(request& result) const {
  const deployment& d = result.d;
  const std::string& name = result.engine_name;
  if (splits_by_layer(result) && d.parallel.tensor > 1) {
    refuse("--tensor-parallel: {} spreads whole layers over GPUs: --pipeline-parallel {}{}", name,
           d.parallel.tensor, name == "llama.cpp" ? ", or --split-mode row or tensor" : "");
  }
  if (!splits_by_layer(result) && d.parallel.pipeline > 1) {
    refuse(
        "--pipeline-parallel: not with --split-mode row or tensor, where --tensor-parallel {} spreads a "
        "model",
        d.parallel.pipeline);
  }
  for (const auto& [option, given] : {std::pair{"--data-parallel", d.parallel.replicas() > 1},
                                      {"--expert-parallel", d.parallel.expert > 1},
                                      {"--decode-context-parallel", d.parallel.decode_context > 1},
                                      {"--max-loras", d.lora.max_loras > 0},
                                      {"--kv-cache-dtype-skip-layers", d.kv_exceptions.any()},
                                      {"--speculative-model", d.speculation.has_draft_model()}}) {
    if (given) refuse("{}: {}'s is not modelled", option, name);
  }
}

/// Before the work: what it is started for, and what is left alone on each GPU.
void request_options::read_llama_cpp_sizes(request& result) const {
  if (!is_llama_cpp(result)) return;
  const auto is_open = [&](std::initializer_list<const char*> options) {
    return std::none_of(options.begin(), options.end(),
                        [&](const char* each) { return engine_options_.given(each); });
  };
  result.sized_for_requests = context_ || prompt_ || output_ || active_tokens_ || sequences_;
  result.open.context = is_open({"--num-ctx", "--context-length", "--ctx-size"});
  result.open.sequences = is_open({"--num-parallel", "--max-parallel-predictions", "--parallel"});
  const auto* const ollama = std::get_if<engines::ollama>(&result.engine);
  if (ollama == nullptr || !result.gpu || ollama->gpu_overhead == bytes{}) return;
  if (ollama->gpu_overhead > result.available.low) {
    refuse("--gpu-overhead: {} bytes are more than the {} that one {} offers", ollama->gpu_overhead.value,
           result.available.low.value, result.gpu->id);
  }
  result.available = detail::without(result.available, ollama->gpu_overhead);
  result.notes.push_back(fmt::format("--gpu-overhead: {} of each GPU are left alone", ollama->gpu_overhead));
}

void request_options::read_llama_cpp(request& result) const {
  if (!is_llama_cpp(result)) return;
  read_llama_cpp_layout(result);
  const deployment& d = result.d;
  const std::string& name = result.engine_name;

  // What is asked for fills what is not set.
  if (auto* const on = std::get_if<engines::llama_cpp>(&result.engine)) {
    on->sized_for_requests = result.sized_for_requests;
    if (const std::optional<std::string> patterns = engine_options_.value("--override-tensor")) {
      llama_cpp_overrides found =
          for_option("--override-tensor", [&] { return llama_cpp_overrides_of(*patterns, result.model); });
      on->host_tensors = found.tensors;
      for (const std::string& note : found.notes) result.notes.push_back("--override-tensor: " + note);
    }
  }
  if (auto* const on = std::get_if<engines::ik_llama_cpp>(&result.engine); on != nullptr && cache_) {
    const engines::llama_cpp named = llama_cpp_devices::resolved(engines::llama_cpp{}, d);
    const auto fill = [&](ik_llama_cpp_cache_type& type, llama_cpp_cache_type from) {
      if (type != ik_llama_cpp_cache_type::automatic) return;
      if (from == llama_cpp_cache_type::automatic) {
        refuse("--kv-cache-dtype: ik_llama.cpp has no such cache, give --cache-type-k and --cache-type-v");
      }
      type = static_cast<ik_llama_cpp_cache_type>(from);  // its own types come after those that both have
    };
    fill(on->type_k, named.type_k);
    fill(on->type_v, named.type_v);
  }
  std::visit(
      [&](const auto& on) {
        using chosen = std::remove_cvref_t<decltype(on)>;
        if constexpr (runs_llama_cpp<chosen>) {
          constexpr cache_options options = cache_options_of<chosen>();
          if (!cache_ || !engine_options_.given(options.key) || !engine_options_.given(options.value)) return;
          const std::string both = options.key == std::string(options.value)
                                       ? std::string(options.key) + " counts"
                                       : fmt::format("{} and {} count", options.key, options.value);
          result.notes.push_back(both + " instead of --kv-cache-dtype");
        }
      },
      result.engine);
  const std::string cache = with_engine(result, [&](const auto& on) -> std::string {
    if constexpr (requires { on.devices(d, nullptr); }) {
      const auto& set_up = on.set_up(d);
      if constexpr (requires { set_up.started(d, nullptr); })
        return cache_types(set_up.started(d, nullptr), d);
      else if constexpr (requires { set_up.mla; })
        return pair_of(format_of(set_up.type_k).blocks.name, format_of(set_up.type_v).blocks.name);
      else
        return cache_types(set_up, d);
    }
    return "";
  });
  if (!cache.empty()) result.cache_text = cache;
  read_fit(result);

  const auto warn_of = [&](const weight_scheme& scheme) {
    if (has_weights_format(scheme)) return false;
    result.warnings.push_back(
        fmt::format("{} has no weights format {}: these are the bytes it would take", name, scheme.name));
    return true;
  };
  if (warn_of(d.weights) || !d.weights.is_automatic()) return;
  for (std::size_t i = 0; i < result.model.precision_count; ++i) {
    if (warn_of(result.model.precisions[i])) return;
  }
}

}  // namespace cli
