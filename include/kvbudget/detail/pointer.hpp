#pragma once

namespace kvbudget::inline v0::detail {

/// Whether a pointer is null. In constant expressions g++ with -fsanitize=undefined takes no variable's
/// address for a constant that differs from null; there what is not known to be null is not.
template <class T> [[nodiscard]] constexpr bool is_null(const T* pointer) {
  if (__builtin_is_constant_evaluated())
    return __builtin_constant_p(pointer == nullptr) && pointer == nullptr;
  return pointer == nullptr;
}

}  // namespace kvbudget::inline v0::detail
