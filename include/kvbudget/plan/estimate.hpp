#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/engine/geometry.hpp"

namespace kvbudget::inline v0 {

inline constexpr std::size_t max_rank_kinds = 32;

namespace detail {
[[noreturn]] inline void a_layout_has_too_many_distinct_rank_kinds() {
  raise("a layout has more than # distinct rank kinds", max_rank_kinds);
}

[[nodiscard]] constexpr bool same_ledger(const memory_budget& a, const memory_budget& b) {
  if (a.count != b.count) return false;
  for (std::uint32_t i = 0; i < a.count; ++i) {
    const line_item& x = a.lines[i];
    const line_item& y = b.lines[i];
    if (!(x.expected == y.expected) || !(x.low == y.low) || !(x.high == y.high) ||
        !same_text(x.name, y.name)) {
      return false;
    }
  }
  return true;
}

/// Calls `visit(replica, count)` for data-parallel replicas with equal shares of the requests: shares change
/// only where a group's running total, modulo the replicas, says so.
template <class Visit> constexpr void each_replica_kind(const deployment& d, Visit&& visit) {
  const std::uint64_t replicas = d.parallel.data;
  std::uint64_t cuts[max_request_groups + 3] = {0, replicas};
  std::size_t count = 2;
  std::uint64_t until = 0;
  if (replicas > 1) {
    d.workload.each_group([&](const request_group& group) {
      until = checked_add(until, group.count);
      cuts[count++] = until % replicas;
    });
  }
  for (std::size_t i = 1; i < count; ++i) {  // insertion sort: at most eleven
    for (std::size_t j = i; j > 0 && cuts[j] < cuts[j - 1]; --j) {
      const std::uint64_t swapped = cuts[j];
      cuts[j] = cuts[j - 1];
      cuts[j - 1] = swapped;
    }
  }
  for (std::size_t i = 0; i + 1 < count; ++i) {
    if (cuts[i] != cuts[i + 1]) visit(static_cast<std::uint32_t>(cuts[i]), cuts[i + 1] - cuts[i]);
  }
}

/// Calls `visit(rank, count)` for every kind of rank that may differ: stages × replica kinds; tensor ranks
/// are equal.
template <class Visit> constexpr void each_rank_kind(const deployment& d, Visit&& visit) {
  each_replica_kind(d, [&](std::uint32_t replica, std::uint64_t replicas) {
    for (std::uint32_t stage = 0; stage < d.parallel.pipeline; ++stage) {
      visit(rank{stage, replica}, checked_mul(replicas, d.parallel.tensor));
    }
  });
}
}  // namespace detail

/// The ledger of the worst rank: the one with the largest expected total. Stops if the deployment cannot
/// exist.
template <engine Engine = engines::geometry>
[[nodiscard]] constexpr memory_budget estimate(const deployment& d, const Engine& on = {},
                                               const gpu_profile* gpu = nullptr) {
  validate(d);
  if (d.parallel.pipeline == 1 && d.parallel.data == 1) return on.ledger(d, rank{}, gpu);
  memory_budget worst;
  bool first = true;
  detail::each_rank_kind(d, [&](const rank& where, std::uint64_t) {
    const memory_budget budget = on.ledger(d, where, gpu);
    if (first || worst.total() < budget.total()) worst = budget;
    first = false;
  });
  return worst;
}
template <engine Engine>
[[nodiscard]] constexpr memory_budget estimate(const deployment& d, const Engine& on,
                                               const gpu_profile& gpu) {
  return estimate(d, on, &gpu);
}

/// One kind of rank: where the first of them is, how many there are, and the ledger that each of them has.
struct rank_ledger {
  rank where{};
  std::uint64_t count = 0;
  memory_budget budget{};
};

/// The ledgers of a whole cluster: one per distinct kind of rank, worst first. About 70 KB.
struct cluster_budget {
  rank_ledger kinds[max_rank_kinds];
  std::uint32_t kind_count = 0;

  [[nodiscard]] constexpr const memory_budget& worst() const { return kinds[0].budget; }
  [[nodiscard]] constexpr std::uint64_t ranks() const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < kind_count; ++i) sum = detail::checked_add(sum, kinds[i].count);
    return sum;
  }
  /// Σ over rank kinds of count × expected bytes of the line of that name.
  [[nodiscard]] constexpr bytes sum_of(const char* name) const {
    bytes sum{};
    for (std::uint32_t i = 0; i < kind_count; ++i) sum += kinds[i].budget[name] * kinds[i].count;
    return sum;
  }
  [[nodiscard]] constexpr bytes weights() const { return sum_of("weights"); }
  [[nodiscard]] constexpr bytes kv_cache() const { return sum_of("kv_cache"); }
  /// Σ over rank kinds of count × total.
  [[nodiscard]] constexpr bytes total() const {
    bytes sum{};
    for (std::uint32_t i = 0; i < kind_count; ++i) sum += kinds[i].budget.total() * kinds[i].count;
    return sum;
  }
};

/// The ledgers of every kind of rank, worst first. Ranks with equal ledgers are one kind.
template <engine Engine = engines::geometry>
[[nodiscard]] constexpr cluster_budget estimate_cluster(const deployment& d, const Engine& on = {},
                                                        const gpu_profile* gpu = nullptr) {
  validate(d);
  cluster_budget cluster;
  detail::each_rank_kind(d, [&](const rank& where, std::uint64_t count) {
    const memory_budget budget = on.ledger(d, where, gpu);
    for (std::uint32_t i = 0; i < cluster.kind_count; ++i) {
      if (detail::same_ledger(cluster.kinds[i].budget, budget)) {
        cluster.kinds[i].count = detail::checked_add(cluster.kinds[i].count, count);
        return;
      }
    }
    if (cluster.kind_count == max_rank_kinds) detail::a_layout_has_too_many_distinct_rank_kinds();
    std::uint32_t at = cluster.kind_count++;
    for (; at > 0 && cluster.kinds[at - 1].budget.total() < budget.total(); --at) {
      cluster.kinds[at] = cluster.kinds[at - 1];
    }
    cluster.kinds[at] = rank_ledger{where, count, budget};
  });
  return cluster;
}

}  // namespace kvbudget::inline v0
