#pragma once

#include <cstdlib>
#include <string_view>

#include "kvbudget/detail/raise.hpp"

/// What the fuzzers share.
namespace fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

/// A refusal in one line is no finding; everything else that the action throws is.
template <class Action> void attempt(Action action) {
  try {
    action();
  } catch (const kvbudget::error& refused) {
    const std::string_view line = refused.what();
    require(!line.empty() && line.find('\n') == std::string_view::npos);
  }
}

}  // namespace fuzz
