#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/io/huggingface/config_view.hpp"
#include "kvbudget/io/huggingface/windows.hpp"

/// The ways in which configs of hybrid models say which layer is which.
namespace kvbudget::inline v0::detail {

/// What the blocks of hybrid models are made of.
enum class layer_part : std::uint8_t { attention, recurrent, attention_and_recurrent, mlp, experts };

/// A word, or a letter, by which configs call a kind of layer.
struct layer_word {
  std::string_view word;
  layer_part part;
};

/// "a, b or c", for messages.
template <std::size_t Size> [[nodiscard]] std::string list_of_words(const layer_word (&words)[Size]) {
  std::string list;
  for (std::size_t i = 0; i < Size; ++i) {
    if (i != 0) list += i + 1 == Size ? " or " : ", ";
    list += words[i].word;
  }
  return list;
}

template <std::size_t Size>
[[nodiscard]] layer_part part_called(const json_field& place, std::string_view name,
                                     const layer_word (&words)[Size]) {
  for (const layer_word& known : words) {
    if (known.word == name) return known.part;
  }
  place.refuse("layer type \"" + printable(name, 40) + "\" is unknown, expected " + list_of_words(words));
}

/// The part of each layer by a list of words, which may be longer than the model. An unknown word is refused.
template <std::size_t Size>
[[nodiscard]] std::vector<layer_part> parts_by_word(const config_view& config, const json_field& list,
                                                    std::uint32_t layers, const layer_word (&words)[Size]) {
  expect_entry_per_layer(config, list, layers);
  std::vector<layer_part> parts;
  for (std::uint32_t i = 0; i < layers; ++i) {
    const json_field entry = list.at(std::size_t{i});
    parts.push_back(part_called(entry, entry.text(), words));
  }
  return parts;
}

/// The part of each layer by a text of exactly one letter for each.
template <std::size_t Size>
[[nodiscard]] std::vector<layer_part> parts_by_letter(const json_field& text, std::uint32_t layers,
                                                      const layer_word (&letters)[Size]) {
  const std::string_view given = text.text();
  if (given.size() != layers) {
    text.refuse("has " + std::to_string(given.size()) + " letters, expected one for each of the " +
                std::to_string(layers) + " layers");
  }
  std::vector<layer_part> parts;
  for (std::uint32_t i = 0; i < layers; ++i) parts.push_back(part_called(text, given.substr(i, 1), letters));
  return parts;
}

/// Marks the layers whose numbers, counted from `first`, a list names. A number that occurs twice or is no
/// layer's is refused.
[[nodiscard]] inline std::vector<bool> layers_listed(const json_field& list, std::uint32_t layers,
                                                     std::uint32_t first = 0) {
  std::vector<bool> listed(layers, false);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const json_field entry = list.at(i);
    const std::uint64_t number = entry.integer();
    if (number < first || number - first >= layers) {
      entry.refuse("is " + std::to_string(number) + ", but layers are numbered " + std::to_string(first) +
                   " to " + std::to_string(layers - 1 + first));
    }
    if (listed[number - first]) entry.refuse("names layer " + std::to_string(number) + " a second time");
    listed[number - first] = true;
  }
  return listed;
}

/// Attention in the layers that are marked, a recurrent mixer in the others.
[[nodiscard]] inline std::vector<layer_part> attention_where(const std::vector<bool>& marked) {
  std::vector<layer_part> parts;
  for (const bool mark : marked) parts.push_back(mark ? layer_part::attention : layer_part::recurrent);
  return parts;
}

/// Whether layer `layer` is the `offset`-th of its `period`.
struct layer_period {
  std::uint32_t period = 1;
  std::uint32_t offset = 0;
  [[nodiscard]] constexpr bool has(std::uint32_t layer) const { return layer % period == offset; }
};

/// A period and an offset below it, with class defaults.
[[nodiscard]] inline layer_period period_in(const config_view& config, const char* period_key,
                                            const char* offset_key, layer_period defaults) {
  layer_period result = defaults;
  result.period = config.size_or({{period_key}}, defaults.period);
  if (const auto given = config.find({{offset_key}})) {
    const std::uint64_t offset = given->integer();
    if (offset >= result.period) {
      given->refuse("must be below " + std::string(period_key) + " " + std::to_string(result.period));
    }
    result.offset = static_cast<std::uint32_t>(offset);
  } else {
    config.note_default(offset_key, std::to_string(defaults.offset));
    if (defaults.offset >= result.period) {
      config.refuse(std::string(offset_key) + " " + std::to_string(defaults.offset) +
                    ", the class default, must be below " + period_key + " " + std::to_string(result.period));
    }
  }
  return result;
}

}  // namespace kvbudget::inline v0::detail
