#pragma once

#include <cstddef>
#include <cstdint>

/// The order of a model's layers, found as what repeats in it.
namespace kvbudget::inline v0::detail {

/// `count` times the same `period` layers, beginning at layer `first`.
struct layer_run {
  std::size_t first = 0;
  std::size_t period = 1;
  std::size_t count = 1;

  [[nodiscard]] constexpr std::size_t end() const { return first + period * count; }
};

/// The run that begins at a layer: of the periods of up to 64 layers the one that explains the longest
/// stretch, the shortest of them where several do. A period that does not repeat explains nothing.
[[nodiscard]] constexpr layer_run run_at(const std::uint8_t* order, std::size_t layers, std::size_t first) {
  layer_run best{first, 1, 1};
  for (std::size_t period = 1; period <= 64 && first + period <= layers; ++period) {
    std::size_t end = first + period;
    while (end < layers && order[end] == order[end - period]) ++end;
    const layer_run run{first, period, (end - first) / period};
    if ((period == 1 || run.count > 1) && run.end() > best.end()) best = run;
  }
  return best;
}

}  // namespace kvbudget::inline v0::detail
