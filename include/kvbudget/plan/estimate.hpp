#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/engine/geometry.hpp"

namespace kvbudget::inline v0 {

/// Distinct kinds of rank that a cluster's ledgers have room for.
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

/// Data-parallel replicas with equal shares of the requests: the first of them, and how many there are.
struct replica_kinds {
  std::uint32_t first[max_request_groups + 3] = {};
  std::uint64_t count[max_request_groups + 3] = {};
  std::size_t kinds = 0;
};

/// Requests are dealt round robin, so shares change only where a group's running total, modulo the replicas,
/// says so.
[[nodiscard]] constexpr replica_kinds replica_kinds_of(const deployment& d) {
  const std::uint64_t replicas = d.parallel.replicas();
  std::uint64_t cuts[max_request_groups + 3] = {0, replicas};
  std::size_t cut_count = 2;
  std::uint64_t until = 0;
  if (replicas > 1) {
    for (std::uint32_t i = 0; i < d.workload.group_count(); ++i) {
      until = checked_add(until, d.workload.group(i).count);
      cuts[cut_count++] = until % replicas;
    }
  }
  replica_kinds result;
  for (std::uint64_t from = 0; from < replicas;) {
    std::uint64_t next = replicas;
    for (std::size_t i = 0; i < cut_count; ++i) {
      if (cuts[i] > from && cuts[i] < next) next = cuts[i];
    }
    result.first[result.kinds] = static_cast<std::uint32_t>(from);
    result.count[result.kinds++] = next - from;
    from = next;
  }
  return result;
}

/// The first expert rank behind `position` that holds fewer experts in some layer: all hold the same unless
/// experts do not divide.
[[nodiscard]] constexpr std::uint32_t next_expert_kind(const deployment& d, std::uint32_t position) {
  const std::uint32_t all = d.parallel.expert;
  std::uint32_t next = all;
  for (std::size_t kind = 0; d.parallel.uneven_experts && kind < d.model->kind_count; ++kind) {
    const std::uint32_t rest = d.model->kinds[kind].num_experts % all;
    if (rest > position && rest < next) next = rest;
  }
  return next;
}

/// How many of the ranks below the `below`-th have an expert rank from `from` to `to`, this one not included:
/// ranks are numbered tensor rank by tensor rank, and `expert_tensor` neighbours share an expert rank.
[[nodiscard]] constexpr std::uint64_t expert_ranks_below(const parallel_layout& layout, std::uint64_t below,
                                                         std::uint32_t from, std::uint32_t to) {
  const std::uint64_t each = layout.expert_tensor();
  const std::uint64_t round = checked_mul(each, layout.expert);
  const std::uint64_t rest = below % round;
  const std::uint64_t lower = smaller(rest, each * from);
  const std::uint64_t upper = smaller(rest, each * to);
  return add_product(upper - lower, below / round, each * (to - from));
}

/// The same among the ranks of replicas `first` to `last`, this one not included.
[[nodiscard]] constexpr std::uint64_t expert_ranks_in(const parallel_layout& layout, std::uint64_t first,
                                                      std::uint64_t last, std::uint32_t from,
                                                      std::uint32_t to) {
  const std::uint64_t each = layout.attention_tensor();  // ranks of one replica
  return expert_ranks_below(layout, checked_mul(last, each), from, to) -
         expert_ranks_below(layout, checked_mul(first, each), from, to);
}
}  // namespace detail

/// The ledger of the worst rank: the one with the largest expected total. Stops if the deployment cannot
/// exist.
template <engine Engine = engines::geometry>
[[nodiscard]] constexpr memory_budget estimate(const deployment& d, const Engine& on = {},
                                               const gpu_profile* gpu = nullptr) {
  validate(d);
  if (d.parallel.pipeline == 1 && d.parallel.replicas() == 1) return on.ledger(d, rank{}, gpu);
  memory_budget worst;
  const detail::replica_kinds replicas = detail::replica_kinds_of(d);
  for (std::size_t kind = 0; kind < replicas.kinds; ++kind) {
    for (std::uint32_t stage = 0; stage < d.parallel.pipeline; ++stage) {
      const memory_budget budget = on.ledger(d, rank{stage, replicas.first[kind]}, gpu);
      if (worst.count == 0 || worst.total() < budget.total()) worst = budget;
    }
  }
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

/// The ledgers of a whole cluster: one per distinct kind of rank, worst first. About 62 KB.
struct cluster_budget {
  rank_ledger kinds[max_rank_kinds];
  std::uint32_t kind_count = 0;

  /// Adds ranks: to the kind with an equal ledger, or as a new kind, worst first.
  constexpr void add(const rank_ledger& ranks) {
    for (std::uint32_t i = 0; i < kind_count; ++i) {
      if (!detail::same_ledger(kinds[i].budget, ranks.budget)) continue;
      kinds[i].count = detail::checked_add(kinds[i].count, ranks.count);
      return;
    }
    if (kind_count == max_rank_kinds) detail::a_layout_has_too_many_distinct_rank_kinds();
    std::uint32_t at = kind_count++;
    for (; at > 0 && kinds[at - 1].budget.total() < ranks.budget.total(); --at) kinds[at] = kinds[at - 1];
    kinds[at] = ranks;
  }
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
  const detail::replica_kinds replicas = detail::replica_kinds_of(d);
  for (std::size_t kind = 0; kind < replicas.kinds; ++kind) {
    for (std::uint32_t stage = 0; stage < d.parallel.pipeline; ++stage) {
      const std::uint64_t first = replicas.first[kind];
      for (std::uint32_t position = 0; position < d.parallel.expert;) {
        const std::uint32_t next = detail::next_expert_kind(d, position);
        const std::uint64_t count =
            detail::expert_ranks_in(d.parallel, first, first + replicas.count[kind], position, next);
        const rank where{stage, replicas.first[kind], position};
        if (count != 0) cluster.add({where, count, on.ledger(d, where, gpu)});
        position = next;
      }
    }
  }
  return cluster;
}

}  // namespace kvbudget::inline v0
