#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface/family.hpp"

namespace kvbudget::inline v0::detail {

/// The window in force, if any: `sliding_window`, where absent is the class default and null is none.
[[nodiscard]] inline std::optional<std::uint64_t> window_of(const config_view& config,
                                                            const window_traits& traits) {
  constexpr key_names key{{"sliding_window"}};
  if (traits.rule == window_rule::behind_first_layers && !config.flag({"use_sliding_window", false})) {
    return std::nullopt;
  }
  if (const std::optional<std::uint64_t> window = config.tokens_in(key)) return window;
  if (config.is_null(key) || traits.window == 0) return std::nullopt;
  config.note_default(key.usual(), std::to_string(traits.window) + " tokens (null would mean none)");
  return traits.window;
}

/// Stops where a list has no entry for each layer. It may be longer than the model: entries behind the last
/// layer describe draft layers.
inline void expect_entry_per_layer(const config_view& config, const json_field& list, std::uint32_t layers) {
  if (list.size() < layers) {
    list.refuse("has " + std::to_string(list.size()) + " entries, expected one for each of the " +
                std::to_string(layers) + " layers");
  }
  if (list.size() > layers) {
    config.note(list.path() + " has " + std::to_string(list.size()) + " entries: those behind the " +
                std::to_string(layers) + " layers are ignored");
  }
}

/// `layer_types` decides layer by layer.
[[nodiscard]] inline std::vector<std::uint64_t> windows_by_type(const config_view& config,
                                                                const json_field& types,
                                                                const window_traits& traits,
                                                                std::uint32_t layers) {
  expect_entry_per_layer(config, types, layers);
  std::vector<std::uint64_t> windows(layers, 0);
  std::optional<std::uint64_t> window;
  bool asked = false;
  for (std::uint32_t i = 0; i < layers; ++i) {
    const std::string& type = types.text_at(i);
    if (type == "full_attention") continue;
    if (type != "sliding_attention") {
      types.at(i).refuse("layer type \"" + printable(type, 40) +
                         "\" is unknown, expected full_attention or sliding_attention");
    }
    if (!asked) {
      asked = true;
      window = window_of(config, traits);
      const bool silent =
          !window && traits.rule == window_rule::none && !config.is_null({{"sliding_window"}});
      if (silent)
        types.at(i).refuse("layer type \"sliding_attention\" needs key \"sliding_window\", which is missing");
      if (!window)
        config.doubt("layer_types names sliding layers, but no window is set: they keep every token");
    }
    windows[i] = window.value_or(0);
  }
  return windows;
}

/// A window for each layer that `pattern` calls local. A number p makes every p-th layer global; a text of L
/// and G repeats, and its last layer is always global. Source: huggingface/transformers
/// models/exaone4/configuration_exaone4.py.
[[nodiscard]] inline std::vector<std::uint64_t> windows_by_pattern(const config_view& config,
                                                                   const window_traits& traits,
                                                                   std::uint32_t layers,
                                                                   std::uint64_t window) {
  const key_names& key = traits.pattern_keys;
  std::vector<std::uint64_t> windows(layers, 0);
  std::uint64_t period = traits.pattern;
  if (const std::optional<json_field> pattern = config.find(key)) {
    if (pattern->value().is_string()) {
      const std::string& letters = pattern->text();
      if (letters.empty() || letters.find_first_not_of("LG") != std::string::npos) {
        pattern->refuse("must be made of the letters L and G, not \"" + printable(letters, 40) + "\"");
      }
      for (std::uint32_t i = 0; i + 1 < layers; ++i) {
        if (letters[i % letters.size()] == 'L') windows[i] = window;
      }
      return windows;
    }
    period = config_view::size_in(*pattern);
  } else if (config.is_null(key)) {
    return windows;
  } else {
    config.note_default(key.usual(), std::to_string(period));
  }
  for (std::uint32_t i = 0; i < layers; ++i) {
    if ((i + 1) % period != 0) windows[i] = window;
  }
  return windows;
}

/// The window of each layer in tokens, first to last; 0 = the layer keeps every token.
[[nodiscard]] inline std::vector<std::uint64_t> windows_of_layers(const config_view& config,
                                                                  const window_traits& traits,
                                                                  std::uint32_t layers) {
  const auto types = traits.layer_types ? config.find({{"layer_types"}}) : std::nullopt;
  if (types) {
    return windows_by_type(config, *types, traits, layers);
  }
  std::vector<std::uint64_t> windows(layers, 0);
  if (traits.rule == window_rule::none) return windows;
  const std::optional<std::uint64_t> window = window_of(config, traits);
  if (!window) return windows;
  switch (traits.rule) {
    case window_rule::none: break;
    case window_rule::every_layer: windows.assign(layers, *window); break;
    case window_rule::alternating:
      for (std::uint32_t i = 0; i < layers; i += 2) windows[i] = *window;
      break;
    case window_rule::behind_first_layers: {
      std::uint64_t first = traits.first_layers;
      if (const std::optional<json_field> given = config.find({{"max_window_layers"}})) {
        first = given->integer();
      } else {
        config.note_default("max_window_layers", std::to_string(first));
      }
      for (std::uint64_t i = first; i < layers; ++i) windows[i] = *window;
      break;
    }
    case window_rule::pattern: return windows_by_pattern(config, traits, layers, *window);
  }
  return windows;
}

}  // namespace kvbudget::inline v0::detail
