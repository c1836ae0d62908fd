#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/memory/framework_constants.hpp"
#include "kvbudget/memory/memory_budget.hpp"
#include "kvbudget/memory/rank_share.hpp"

namespace kvbudget::inline v0 {

namespace detail {
/// Communication buffers for a group of so many ranks; between the measured sizes the next larger one counts.
[[nodiscard]] constexpr const measured_constant& communication_buffers(std::uint64_t ranks) {
  if (ranks <= 1) return constants::nccl_buffers_1_gpu;
  if (ranks <= 2) return constants::nccl_buffers_2_gpus;
  if (ranks <= 4) return constants::nccl_buffers_4_gpus;
  return constants::nccl_buffers_8_gpus;
}

/// A part of the line `framework`; one whose figure is 0, or that this run does not have, is left out.
struct framework_part {
  const char* name;
  const measured_constant& figure;
  bool present = true;
  [[nodiscard]] constexpr bool counts() const { return present && figure.high != 0; }
};
/// The line `framework` of the parts from `at` up to `end`.
[[nodiscard]] constexpr line_item sum_of_framework(const framework_part* at, const framework_part* end,
                                                   const char* source) {
  line_item sum{"framework", bytes{}, bytes{}, bytes{}, basis::exact, source};
  for (; at != end; ++at) {
    if (!at->counts()) continue;
    sum.low += bytes{at->figure.low};
    sum.expected += bytes{at->figure.expected};
    sum.high += bytes{at->figure.high};
    sum.known = weaker(sum.known, at->figure.known);
  }
  return sum;
}
/// Writes that line and its parts.
template <std::size_t Count>
constexpr void add_framework_parts(memory_budget& budget, const framework_part (&parts)[Count],
                                   const char* source) {
  budget.add(sum_of_framework(parts, parts + Count, source));
  for (const framework_part& part : parts) {
    if (!part.counts()) continue;
    budget.add({part.name, bytes{part.figure.low}, bytes{part.figure.expected}, bytes{part.figure.high},
                part.figure.known, part.figure.source, true});
  }
}
}  // namespace detail

/// What PyTorch's allocator takes from the driver for one tensor, alone: small requests (up to 1 MiB) a
/// segment of 2 MiB, those up to 10 MiB one of 20 MiB, larger ones themselves rounded up to 2 MiB. Source:
/// pytorch/pytorch c10/cuda/CUDACachingAllocator.cpp.
[[nodiscard]] constexpr bytes allocated_for(bytes tensor) {
  const std::uint64_t granule = constants::pytorch_allocation_granule.expected;
  if (tensor == bytes{}) return tensor;
  if (tensor.value <= granule / 2) return bytes{granule};
  if (tensor.value < 5 * granule) return bytes{constants::pytorch_large_segment.expected};
  return bytes{detail::round_up(tensor.value, granule)};
}

/// Writes the line `framework` and its parts: what the software keeps on each GPU whatever the model (CUDA
/// context, BLAS workspace, communication buffers, captured graphs, allocator slack), as measured in
/// `data/engines/`. Only when the deployment names a framework; a pinned figure replaces it.
constexpr void add_framework(memory_budget& budget, const deployment& d) {
  if (d.pinned.framework.given) {
    return detail::add_pinned(budget, "framework", d.pinned.framework);
  }
  if (d.framework.kind == framework_kind::none) return;
  const bool hopper = d.framework.compute_capability_major == 9;
  measured_constant workspace = hopper ? constants::cublas_workspace_sm_90 : constants::cublas_workspace;
  if (d.framework.compute_capability_major == 0) {  // unknown GPU: anything between the two
    workspace.high = constants::cublas_workspace_sm_90.high;
    workspace.known = basis::assumed;
  }
  const measured_constant& communication = detail::communication_buffers(d.parallel.ranks());
  const detail::framework_part parts[] = {
      {"framework.context", constants::cuda_context},
      {"framework.blas_workspace", workspace},
      {"framework.communication", communication},
      {"framework.graphs", constants::cuda_graphs, d.framework.cuda_graphs},
      {"framework.allocator_slack", constants::pytorch_allocator_slack}};
  detail::add_framework_parts(budget, parts, "sum of the measured parts, per GPU");
}

/// Writes the line `margin`, when the user set bytes aside.
constexpr void add_margin(memory_budget& budget, const deployment& d) {
  if (d.pinned.margin.given) detail::add_pinned(budget, "margin", d.pinned.margin);
}

}  // namespace kvbudget::inline v0
