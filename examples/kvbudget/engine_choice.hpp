#pragma once

#include <string>
#include <variant>

#include "kvbudget/engine/geometry.hpp"

namespace cli {

/// The engines that this program can speak for.
using any_engine = std::variant<kvbudget::engines::geometry>;

struct engine_entry {
  const char* name;
  const char* what;
};
inline constexpr engine_entry engine_list[] = {
    {"geometry", "the bytes that the mathematics needs: no blocks, no padding, no pool"}};

/// The engine of that name; another one is an error that says what there is.
[[nodiscard]] any_engine engine_named(const std::string& name);

/// An engine on GPUs whose usable memory is known better than their profile says: measured totals, memory
/// that others use, a marketed size taken on trust.
template <kvbudget::engine Engine> struct with_usable {
  Engine engine;
  kvbudget::usable_memory available;

  [[nodiscard]] kvbudget::engine_name name() const { return engine.name(); }
  [[nodiscard]] kvbudget::memory_budget ledger(const kvbudget::deployment& d, const kvbudget::rank& where,
                                               const kvbudget::gpu_profile* gpu) const {
    return engine.ledger(d, where, gpu);
  }
  [[nodiscard]] kvbudget::usable_memory usable(const kvbudget::gpu_profile&) const { return available; }
};

}  // namespace cli
