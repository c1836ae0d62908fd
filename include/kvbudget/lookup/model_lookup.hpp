#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/lookup/nearest.hpp"
#include "kvbudget/model/model_architecture.hpp"

namespace kvbudget::inline v0 {

/// A name of a model: short ("llama-3.1-70b"), an alias, or a Hugging Face repository.
struct model_name {
  const char* name;
  const model_architecture* model;
};

/// The models whose names come nearest to one that is unknown, best first.
struct model_suggestions {
  static constexpr std::size_t most = 6;
  const model_architecture* models[most] = {};
  std::size_t count = 0;
};

namespace detail {

/// "meta-llama/Llama-3.1-70B" → "Llama-3.1-70B".
[[nodiscard]] constexpr const char* without_organisation(const char* name) {
  const char* rest = name;
  for (const char* c = name; *c != '\0'; ++c) {
    if (*c == '/') rest = c + 1;
  }
  return rest;
}

/// The model of a sorted table of keys that a name means: letter case and separators do not matter. Null if
/// none. O(log Size) comparisons.
template <std::size_t Size>
[[nodiscard]] constexpr const model_architecture* find_model(const model_name (&keys)[Size],
                                                             const char* asked) {
  const name_key key = key_of(asked);
  if (key.length == 0 || key.cut) return nullptr;
  std::size_t first = 0;
  for (std::size_t last = Size; first < last;) {
    const std::size_t middle = first + (last - first) / 2;
    if (is_before(keys[middle].name, key)) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first < Size && matches(key, keys[first].name) ? keys[first].model : nullptr;
}

/// Models whose name has every word of what was asked ("llama 70b"), else those with the nearest spelling;
/// the organisation that was asked for does not count.
template <std::size_t Size>
[[nodiscard]] constexpr model_suggestions nearest_models(const model_name (&names)[Size], const char* asked) {
  model_suggestions result;
  const auto add = [&result](const model_architecture* model) {
    for (std::size_t i = 0; i < result.count; ++i) {
      if (result.models[i] == model) return;
    }
    if (result.count < model_suggestions::most) result.models[result.count++] = model;
  };
  const char* const bare = without_organisation(asked);
  for (const model_name& entry : names) {
    if (every_word_is_in(bare, entry.name, without_organisation(entry.name))) add(entry.model);
  }
  if (result.count != 0) return result;
  const name_key key = key_of(bare);
  nearest_entries<model_suggestions::most> near;
  const auto offer = [&](std::size_t index, const char* name) {
    const std::size_t limit = near.limit(spelling_limit(key));
    const std::size_t distance = edit_distance(key, key_of(name), limit);
    if (distance <= limit) near.offer(index, distance);
  };
  for (std::size_t i = 0; i < Size; ++i) {
    offer(i, names[i].name);
    offer(i, without_organisation(names[i].name));
  }
  for (std::size_t i = 0; i < near.count; ++i) add(names[near.index[i]].model);
  return result;
}

}  // namespace detail
}  // namespace kvbudget::inline v0
