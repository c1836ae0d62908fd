#pragma once

#include <cstdint>

#include "kvbudget/kvbudget.hpp"

namespace cli {

/// At the start of a context every store grows; beyond every window only those without one.
inline constexpr kvbudget::tokens at_start{0};
inline constexpr kvbudget::tokens beyond_every_window{std::uint64_t{1} << 40};

/// How the cache of one sequence grows after `context` tokens, in two-byte elements.
[[nodiscard]] inline kvbudget::kv_growth growth_in_16_bits(const kvbudget::model_architecture& model,
                                                           kvbudget::tokens context) {
  kvbudget::deployment d{.model = model};
  d.dtype = kvbudget::formats::bf16;
  d.kv_cache = kvbudget::formats::bf16;
  return kvbudget::kv_growth_of(d, kvbudget::share_of(d, kvbudget::rank{}), context);
}

}  // namespace cli
