#pragma once

#include <cstdint>

#include "kvbudget/detail/pointer.hpp"
#include "kvbudget/hardware/gpu_profile.hpp"
#include "kvbudget/hardware/usable.hpp"

namespace kvbudget::inline v0 {

namespace detail {
[[noreturn]] inline void a_node_needs_a_gpu() { raise("a node needs a GPU profile"); }
[[noreturn]] inline void a_node_needs_at_least_one_gpu() { raise("a node needs at least one GPU"); }
}  // namespace detail

/// A machine with `count` identical GPUs. It refers to the profile, which must outlive it.
struct node {
  const gpu_profile* gpu = nullptr;
  std::uint32_t count = 1;

  friend constexpr bool operator==(const node&, const node&) = default;
};

/// `count` GPUs of one kind; none at all stops.
[[nodiscard]] constexpr node node_of(const gpu_profile& gpu, std::uint32_t count = 1) {
  if (count == 0) detail::a_node_needs_at_least_one_gpu();
  return {&gpu, count};
}
node node_of(gpu_profile&&, std::uint32_t = 1) = delete;  // the node would refer to a profile that is gone

/// The GPU of a node; a node without one stops.
[[nodiscard]] constexpr const gpu_profile& gpu_of(const node& machine) {
  if (detail::is_null(machine.gpu)) detail::a_node_needs_a_gpu();
  return *machine.gpu;
}

/// `usable` of all GPUs together: count × the usable memory of one. What fits is decided per GPU; this sum
/// is for totals only.
[[nodiscard]] constexpr usable_memory usable(const node& machine) {
  const usable_memory one = usable(gpu_of(machine));
  if (machine.count == 0) detail::a_node_needs_at_least_one_gpu();
  return {.low = one.low * machine.count,
          .expected = one.expected * machine.count,
          .high = one.high * machine.count,
          .known = one.known};
}

}  // namespace kvbudget::inline v0
