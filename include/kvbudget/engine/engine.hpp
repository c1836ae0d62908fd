#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/detail/text.hpp"
#include "kvbudget/hardware/gpu_profile.hpp"
#include "kvbudget/hardware/usable.hpp"
#include "kvbudget/memory/memory_budget.hpp"
#include "kvbudget/memory/rank_share.hpp"

namespace kvbudget::inline v0 {

/// Which engine, and which version of it, a result speaks for: `geometry`, `vllm@0.21`.
struct engine_name {
  char text[32] = {};
};

namespace detail {
/// Writes an engine's name part by part; what has no room is cut off.
struct engine_name_writer {
  engine_name name{};
  std::size_t length = 0;

  constexpr engine_name_writer& add(const char* text) {
    while (*text != '\0' && length + 1 < sizeof name.text) name.text[length++] = *text++;
    return *this;
  }
  constexpr engine_name_writer& add(std::uint32_t number) {
    char digits[11] = {};
    std::size_t first = 10;
    do {
      digits[--first] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return add(digits + first);
  }
};

template <class A, class B> inline constexpr bool same_type = false;
template <class A> inline constexpr bool same_type<A, A> = true;
template <class A, class B>
concept is_exactly = same_type<A, B>;
}  // namespace detail

/// What an engine must answer, as pure functions of plain values:
/// `name()`: which engine and version it is;
/// `ledger(d, where, gpu)`: what one rank of a valid deployment holds (`gpu` may be null; engines that
/// reserve a share of the GPU need it); `usable(gpu)`: how much of the GPU's memory it allows itself.
template <class E>
concept engine = requires(const E& e, const deployment& d, const rank& where, const gpu_profile* gpu) {
  { e.name() } -> detail::is_exactly<engine_name>;
  { e.ledger(d, where, gpu) } -> detail::is_exactly<memory_budget>;
  { e.usable(*gpu) } -> detail::is_exactly<usable_memory>;
};

}  // namespace kvbudget::inline v0
