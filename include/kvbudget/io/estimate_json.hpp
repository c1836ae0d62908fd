#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kvbudget/hardware/node.hpp"
#include "kvbudget/io/format_names.hpp"
#include "kvbudget/plan/capacity.hpp"
#include "kvbudget/plan/estimate.hpp"
#include "kvbudget/plan/fits.hpp"

/// Estimates and capacities as JSON, the way `kvbudget … --json` prints them: whole numbers of bytes, keys in
/// reading order, null for what has no answer.
namespace kvbudget::inline v0 {

namespace detail {

[[nodiscard]] inline nlohmann::ordered_json exact_number(const ratio& number) {
  if (number.is_whole()) return number.numerator;
  return number.approximate();
}

[[nodiscard]] inline nlohmann::ordered_json items_json(const memory_budget& budget) {
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const line_item& line : budget) {
    items.push_back({{"name", line.name},
                     {"bytes", line.expected.value},
                     {"low", line.low.value},
                     {"high", line.high.value},
                     {"basis", name_of(line.known)},
                     {"source", line.source}});
  }
  return items;
}

[[nodiscard]] inline nlohmann::ordered_json model_json(const model_architecture& model) {
  return {{"name", model.name},
          {"parameters", parameter_count(model).value},
          {"active_parameters", active_parameter_count(model).value},
          {"parameters_assumed", model.parameters_assumed},
          {"dtype", model.dtype.name},
          {"max_position_embeddings", model.max_position_embeddings == 0
                                          ? nlohmann::ordered_json(nullptr)
                                          : nlohmann::ordered_json(model.max_position_embeddings)}};
}

[[nodiscard]] inline nlohmann::ordered_json workload_json(const workload& work) {
  return {{"sequences", work.total_sequences()},
          {"longest_context", work.longest_context().value},
          {"active_tokens", work.active_tokens().value},
          {"shared_prefix", work.shared_prefix.value},
          {"batched_tokens", work.batched_tokens.value}};
}

[[nodiscard]] inline nlohmann::ordered_json layout_json(const parallel_layout& layout) {
  return {{"tensor", layout.tensor}, {"pipeline", layout.pipeline},
          {"data", layout.data},     {"attention_data", layout.attention_data},
          {"expert", layout.expert}, {"decode_context", layout.decode_context},
          {"ranks", layout.ranks()}};
}

/// A figure that a profile may not give: null instead of 0.
[[nodiscard]] inline nlohmann::ordered_json known_or_null(std::uint64_t figure) {
  if (figure == 0) return nullptr;
  return figure;
}

[[nodiscard]] inline nlohmann::ordered_json gpu_json(const node& machine, const usable_memory& available) {
  const gpu_profile& gpu = gpu_of(machine);
  return {{"id", gpu.id},
          {"count", machine.count},
          {"total_bytes", known_or_null(gpu.driver_total_bytes)},
          {"usable_bytes", available.expected.value},
          {"usable_low", available.low.value},
          {"usable_high", available.high.value},
          {"usable_basis", name_of(available.known)}};
}

/// The name of a format; an automatic one is the dtype.
[[nodiscard]] inline const char* resolved_name(bool automatic, const char* name, const number_format& dtype) {
  return automatic ? dtype.name : name;
}

/// The layers that keep another cache format, and which; null where there are none.
[[nodiscard]] inline nlohmann::ordered_json kv_exceptions_json(const deployment& d) {
  const layer_exceptions& exceptions = d.kv_exceptions;
  if (!exceptions.any()) return nullptr;
  return {{"format", resolved_name(exceptions.format.is_automatic(), exceptions.format.name,
                                   given_or(d.dtype, d.model->dtype))},
          {"layers", exceptions.count(d.model->num_hidden_layers)}};
}

/// Top-level lines that nobody said how to count.
[[nodiscard]] inline nlohmann::ordered_json not_counted_json(const memory_budget& budget) {
  nlohmann::ordered_json names = nlohmann::ordered_json::array();
  for (const char* name : lines_counted_on_request) {
    if (budget.find(name) == nullptr) names.push_back(name);
  }
  return names;
}

/// A limit as a number: null where there is none, 0 where even the smallest does not fit.
[[nodiscard]] inline nlohmann::ordered_json limit_json(const limit& found) {
  if (found.unbounded) return nullptr;
  return found.fits ? found.value : 0;
}

/// What the workload needs of the cache on one rank, and how one sequence grows: in whole blocks for engines
/// that reserve pools, to the byte otherwise. An engine that allocates the cache when it starts says how it
/// grows; the workload then needs all of it.
struct cache_figures {
  bytes needed{};
  kv_growth growth{};
};
template <engine Engine>
[[nodiscard]] cache_figures cache_figures_of(const deployment& d, const Engine& on, const node& machine,
                                             const rank& where) {
  const tokens longest = d.workload.longest_context();
  if constexpr (pool_engine<Engine>) {
    const allocation found = allocate(d, on, gpu_of(machine));
    return {needed_of_pools(found, d), growth_of(found.pools, longest)};
  } else if constexpr (requires { on.cache_growth(d, where); }) {
    return {on.ledger(d, where, machine.gpu).kv_cache(), on.cache_growth(d, where)};
  } else {
    const rank_share share = share_of(d, where);
    return {kv_cache_of(d, share, where.data_replica).total(), kv_growth_of(d, share, longest)};
  }
}

/// Host memory that one rank of an engine needs; null where the engine says nothing about it.
template <engine Engine>
[[nodiscard]] nlohmann::ordered_json host_json(const deployment& d, const Engine& on, const node& machine) {
  if constexpr (requires { on.host_bytes(d, gpu_of(machine)); }) {
    if (machine.gpu != nullptr && loads(d, on, machine.gpu)) return on.host_bytes(d, gpu_of(machine)).value;
  }
  return nullptr;
}

/// Why an engine does not start, its numbers filled in; null where it does not refuse.
[[nodiscard]] inline nlohmann::ordered_json refused_json(const refusal& why) {
  if (!why) return nullptr;
  return std::string(error(why.text, why.first, why.second).what());
}
/// Why an engine does not serve a deployment; one without pools says so without a GPU, too.
template <engine Engine>
[[nodiscard]] nlohmann::ordered_json refused_json(const deployment& d, const Engine& on,
                                                  const node& machine) {
  if constexpr (pool_engine<Engine>) {
    if (machine.gpu == nullptr) return nullptr;
    return refused_json(allocate(d, on, *machine.gpu).refused);
  } else {
    return refused_json(refusal_of(d, machine.gpu != nullptr ? *machine.gpu : gpu_profile{}, on));
  }
}

/// The ledgers of all ranks and what they add up to, as members of `result`.
inline void add_ledgers(nlohmann::ordered_json& result, const cluster_budget& cluster) {
  using nlohmann::ordered_json;
  const memory_budget& worst = cluster.worst();
  result["items"] = items_json(worst);
  result["total_bytes"] = worst.total().value;
  result["total_low"] = worst.total_low().value;
  result["total_high"] = worst.total_high().value;
  result["not_counted"] = not_counted_json(worst);
  ordered_json ranks = ordered_json::array();
  for (std::uint32_t i = 0; i < cluster.kind_count; ++i) {
    const rank_ledger& kind = cluster.kinds[i];
    ranks.push_back({{"count", kind.count},
                     {"pipeline_stage", kind.where.stage},
                     {"data_replica", kind.where.data_replica},
                     {"items", items_json(kind.budget)},
                     {"total_bytes", kind.budget.total().value}});
  }
  result["ranks"] = std::move(ranks);
  result["cluster"] = {{"kv_cache_bytes", cluster.kv_cache().value},
                       {"weights_bytes", cluster.weights().value},
                       {"total_bytes", cluster.total().value}};
}
}  // namespace detail

/// `estimate --json`: the ledger of the worst rank, every kind of rank, the cluster's sums, and the verdict
/// on the GPUs of `machine` (null without one). Where the engine loads nothing, all figures are null.
template <engine Engine = engines::geometry>
[[nodiscard]] nlohmann::ordered_json estimate_json(const deployment& d, const Engine& on = {},
                                                   const node& machine = {}, const headroom& asked = {},
                                                   const std::vector<std::string>& warnings = {}) {
  using nlohmann::ordered_json;
  const bool loads = detail::loads(d, on, machine.gpu);
  const number_format& dtype = detail::given_or(d.dtype, d.model->dtype);

  ordered_json result = {
      {"schema", 1},
      {"engine", on.name().text},
      {"model", detail::model_json(*d.model)},
      {"weights_format", d.weights.is_automatic() ? stored_as(*d.model, dtype.name) : d.weights.name},
      {"kv_cache_format", detail::resolved_name(d.kv_cache.is_automatic(), d.kv_cache.name, dtype)},
      {"kv_cache_exceptions", detail::kv_exceptions_json(d)},
      {"dtype", dtype.name},
      {"workload", detail::workload_json(d.workload)},
      {"parallel", detail::layout_json(d.parallel)}};
  for (const char* figure :
       {"kv_cache", "items", "total_bytes", "total_low", "total_high", "not_counted", "ranks", "cluster"}) {
    result[figure] = nullptr;
  }
  if (loads) {
    const cluster_budget cluster = estimate_cluster(d, on, machine.gpu);
    const detail::cache_figures cache = detail::cache_figures_of(d, on, machine, cluster.kinds[0].where);
    result["kv_cache"] = {{"bytes", cache.needed.value},
                          {"bytes_per_token", detail::exact_number(cache.growth.bytes_per_token)},
                          {"fixed_bytes_per_sequence", cache.growth.fixed_bytes_per_sequence.value}};
    detail::add_ledgers(result, cluster);
  }
  result["host_bytes_per_rank"] = detail::host_json(d, on, machine);
  result["refused"] = detail::refused_json(d, on, machine);
  result["gpu"] = nullptr;
  for (const char* verdict_key :
       {"fits", "surely", "never", "headroom_bytes", "reserved_bytes", "fits_with_20_percent_headroom"}) {
    result[verdict_key] = nullptr;
  }
  if (machine.gpu != nullptr) {
    const usable_memory available = on.usable(*machine.gpu);
    const verdict found = check_fit(d, *machine.gpu, on, asked);
    result["gpu"] = detail::gpu_json(machine, available);
    result["fits"] = found.fits;
    result["surely"] = found.surely;
    result["never"] = found.never;
    if (loads) result["headroom_bytes"] = found.headroom_bytes;
    result["reserved_bytes"] = found.reserved.value;
    result["fits_with_20_percent_headroom"] = fits_with_20_percent_headroom(d, *machine.gpu, on);
  }
  result["warnings"] = warnings;
  return result;
}

/// `capacity --json`: the inverse questions. `blocks`, `block_tokens`, `printed_kv_cache_tokens` and
/// `longest_start` belong to engines with a block pool and are null elsewhere, `starts` to those that may
/// refuse. Where the engine loads nothing, there are no bytes.
template <engine Engine = engines::geometry>
[[nodiscard]] nlohmann::ordered_json capacity_json(const deployment& d, const node& machine,
                                                   const Engine& on = {}, const headroom& asked = {},
                                                   const std::vector<std::string>& warnings = {}) {
  using nlohmann::ordered_json;
  const gpu_profile& gpu = gpu_of(machine);
  const capacity found = capacity_of(d, gpu, on, asked);
  const bool any = found.concurrency_is_unbounded();
  constexpr bool pooled = pool_engine<Engine>;
  const bool may_refuse = pooled || requires { on.refuses(d, gpu); };
  const bool loads = detail::loads(d, on, machine.gpu);
  const auto if_loaded = [&](ordered_json figure) { return loads ? std::move(figure) : ordered_json(); };
  ordered_json unbounded = ordered_json::array();
  if (found.max_tokens.unbounded) unbounded.push_back("max_tokens");
  if (found.max_context.unbounded) unbounded.push_back("max_context");
  if (found.max_sequences.unbounded) unbounded.push_back("max_sequences");
  if (any && loads) unbounded.push_back("concurrency");
  return {{"schema", 1},
          {"engine", on.name().text},
          {"model", detail::model_json(*d.model)},
          {"workload", detail::workload_json(d.workload)},
          {"parallel", detail::layout_json(d.parallel)},
          {"available_kv_bytes", if_loaded(found.available_kv.value)},
          {"blocks", pooled ? ordered_json(found.blocks) : ordered_json(nullptr)},
          {"block_tokens", pooled ? ordered_json(found.block_tokens) : ordered_json(nullptr)},
          {"max_tokens", detail::limit_json(found.max_tokens)},
          {"max_context", detail::limit_json(found.max_context)},
          {"max_sequences", detail::limit_json(found.max_sequences)},
          {"unbounded", std::move(unbounded)},
          {"concurrency", any ? ordered_json(nullptr) : ordered_json(found.concurrency().approximate())},
          {"bytes_per_max_length_request", if_loaded(found.bytes_per_request.value)},
          {"printed_kv_cache_tokens", detail::known_or_null(found.printed_kv_cache_tokens)},
          {"starts", may_refuse ? ordered_json(found.starts) : ordered_json(nullptr)},
          {"refused", detail::refused_json(found.refused)},
          {"longest_start", pooled ? ordered_json(found.longest_start) : ordered_json(nullptr)},
          {"fits", found.fits},
          {"not_counted", loads ? detail::not_counted_json(estimate(d, on, &gpu)) : ordered_json(nullptr)},
          {"gpu", detail::gpu_json(machine, on.usable(gpu))},
          {"warnings", warnings}};
}

}  // namespace kvbudget::inline v0
