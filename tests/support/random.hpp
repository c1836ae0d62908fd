#pragma once

// Random numbers of the tests, from fixed seeds.
#include <cstddef>
#include <cstdint>
#include <random>

using random_engine = std::mt19937_64;

inline std::uint64_t pick(random_engine& random, std::uint64_t low, std::uint64_t high) {
  return std::uniform_int_distribution<std::uint64_t>{low, high}(random);
}
inline std::uint32_t pick32(random_engine& random, std::uint32_t low, std::uint32_t high) {
  return static_cast<std::uint32_t>(pick(random, low, high));
}
inline bool coin(random_engine& random) { return pick(random, 0, 1) == 0; }
template <class T, std::size_t Size> const T& one_of(random_engine& random, const T (&all)[Size]) {
  return all[pick(random, 0, Size - 1)];
}
