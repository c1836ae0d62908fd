// What llama.cpp makes of a request that other engines read otherwise.
#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

/// What the cache is kept in, keys and values by name where they differ.
std::string cache_types(const engines::llama_cpp& on) {
  const std::string key = format_of(on.type_k).name;
  const std::string value = format_of(on.type_v).name;
  return key == value ? key : key + ',' + value;
}

}  // namespace

std::string refusal_of(const request& r) {
  return with_engine(r, [&](const auto& on) {
    return report::refusal_text(detail::refusal_of(r.d, r.gpu ? *r.gpu : gpu_profile{}, on));
  });
}

void request_options::read_llama_cpp(request& result) const {
  auto* const on = std::get_if<engines::llama_cpp>(&result.engine);
  if (on == nullptr) return;
  deployment& d = result.d;
  const bool by_layer =
      on->split_mode == llama_cpp_split_mode::layer || on->split_mode == llama_cpp_split_mode::none;
  if (by_layer && d.parallel.tensor > 1) {
    refuse(
        "--tensor-parallel: llama.cpp spreads whole layers over GPUs: --pipeline-parallel {}, or "
        "--split-mode "
        "row or tensor",
        d.parallel.tensor);
  }
  if (!by_layer && d.parallel.pipeline > 1) {
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
    if (given) refuse("{}: llama.cpp's is not modelled", option);
  }

  // What is asked for fills what is not set.
  on->sized_for_requests = context_ || prompt_ || output_ || active_tokens_ || sequences_;
  if (const std::optional<std::string> patterns = engine_options_.value("--override-tensor")) {
    llama_cpp_overrides found =
        for_option("--override-tensor", [&] { return llama_cpp_overrides_of(*patterns, result.model); });
    on->host_tensors = found.tensors;
    for (const std::string& note : found.notes) result.notes.push_back("--override-tensor: " + note);
  }
  const bool typed =
      on->type_k != llama_cpp_cache_type::automatic && on->type_v != llama_cpp_cache_type::automatic;
  if (typed && cache_)
    result.notes.emplace_back("--cache-type-k and --cache-type-v count instead of --kv-cache-dtype");
  const engines::llama_cpp asked = llama_cpp_devices::resolved(*on, d);
  if (asked.type_k != llama_cpp_cache_type::automatic && asked.type_v != llama_cpp_cache_type::automatic) {
    result.cache_text = cache_types(asked);
  }

  const auto warn_of = [&](const weight_scheme& scheme) {
    if (has_weights_format(scheme)) return false;
    result.warnings.push_back(
        fmt::format("llama.cpp has no weights format {}: these are the bytes it would take", scheme.name));
    return true;
  };
  if (warn_of(d.weights) || !d.weights.is_automatic()) return;
  for (std::size_t i = 0; i < result.model.precision_count; ++i) {
    if (warn_of(result.model.precisions[i])) return;
  }
}

}  // namespace cli
