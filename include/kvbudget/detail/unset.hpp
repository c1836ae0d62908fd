#pragma once

#include <cstddef>

namespace kvbudget::inline v0::detail {

/// For a list of which only the first entries are ever read: a constant needs all of them to have a value,
/// run time need not pay for it.
template <class T, std::size_t Size> constexpr void clear_in_constant_evaluation(T (&list)[Size]) {
  if (!__builtin_is_constant_evaluated()) return;
  for (T& entry : list) entry = T{};
}

}  // namespace kvbudget::inline v0::detail
