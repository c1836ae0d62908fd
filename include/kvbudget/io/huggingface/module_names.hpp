#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/io/name_pattern.hpp"

namespace kvbudget::inline v0::detail {

/// A full module name ("model.layers.3.self_attn.q_proj") in parts, and what its parts say. Refers to the
/// text, which must outlive it.
class module_name {
 public:
  explicit module_name(std::string_view full) : full_(full) {
    parts_.reserve(16);
    for (std::size_t at = 0; at <= full.size();) {
      const std::size_t dot = std::min(full.find('.', at), full.size());
      parts_.push_back(full.substr(at, dot - at));
      at = dot + 1;
    }
  }

  [[nodiscard]] std::string_view full() const { return full_; }
  [[nodiscard]] const std::vector<std::string_view>& parts() const { return parts_; }
  [[nodiscard]] bool has(std::string_view part) const {
    return std::find(parts_.begin(), parts_.end(), part) != parts_.end();
  }
  [[nodiscard]] std::string_view last() const { return parts_.back(); }

  /// Inside a numbered layer.
  [[nodiscard]] bool in_layer() const { return first_number() < parts_.size(); }
  /// One of many experts (not a shared one), or all of them in one tensor.
  [[nodiscard]] bool is_expert() const { return has("experts"); }
  /// What chooses experts, or weighs the shared one.
  [[nodiscard]] bool is_router() const {
    return last() == "gate" || last() == "shared_expert_gate" || last() == "router" || has("router") ||
           (last() == "wg" && has("gate"));
  }
  /// What makes logits, also of a draft layer ("shared_head.head").
  [[nodiscard]] bool is_head() const {
    static constexpr std::string_view heads[] = {"lm_head", "head", "embed_out", "output", "output_layer"};
    const bool is_named_so = std::find(std::begin(heads), std::end(heads), last()) != std::end(heads);
    return is_named_so && (!in_layer() || has("shared_head"));
  }
  /// In an encoder of images or sound, or between one and the language model.
  [[nodiscard]] bool is_tower() const {
    static constexpr std::string_view starts[] = {
        "visi",      "visual",  "audio",     "multi_modal", "mm_proj", "embed_vis", "embed_audio", "image",
        "resampler", "aligner", "connector", "patch_merge", "vpm",     "apm",       "mlp1"};
    for (std::size_t i = 0; i < first_number(); ++i) {
      for (const std::string_view start : starts) {
        if (parts_[i].compare(0, start.size(), start) == 0) return true;
      }
    }
    return false;
  }

  /// The names by which a list may call this module: checkpoints of one model differ in what stands before
  /// "layers", DeepSeek's own files shorten the names inside a layer, and lists made by cutting ".weight" out
  /// of tensor names cut it out of "indexer.weights_proj" too.
  [[nodiscard]] const std::vector<std::string>& spellings() const {
    if (spellings_.empty()) spellings_ = all_spellings();
    return spellings_;
  }

  /// The name as DeepSeek's own files have it, and without ".weight" in it.
  [[nodiscard]] std::string shortened() const {
    return replaced(shortened(std::string(full_)), ".weight", "");
  }

  /// Parts `first` to `last` (excluded) with dots between.
  [[nodiscard]] std::string joined(std::size_t first, std::size_t last) const {
    std::string result;
    for (std::size_t i = first; i < last; ++i) result.append(i == first ? "" : ".").append(parts_[i]);
    return result;
  }

 private:
  [[nodiscard]] std::vector<std::string> all_spellings() const {
    std::vector<std::string> result{std::string(full_)};
    std::size_t skip = 0;
    while (skip + 1 < parts_.size() && (parts_[skip] == "model" || parts_[skip] == "language_model")) ++skip;
    const std::string bare = joined(skip, parts_.size());
    const std::string_view first = parts_[skip];
    std::vector<std::string> starts{"", "model."};
    if (first == "layers" || first == "lm_head" || first == "embed_tokens") {
      starts.insert(starts.end(), {"language_model.", "language_model.model.", "model.language_model."});
    }
    for (const std::string& start : starts) add(result, start + bare);
    if (bare == "lm_head") add(result, "head");
    if (bare == "embed_tokens") add(result, "embed");
    add(result, shortened(bare));
    for (std::size_t i = 0, most = result.size(); i < most; ++i)
      add(result, replaced(result[i], ".weight", ""));
    return result;
  }

  [[nodiscard]] std::size_t first_number() const {
    std::size_t at = 0;
    while (at < parts_.size() &&
           (parts_[at].empty() || parts_[at].find_first_not_of("0123456789") != std::string_view::npos)) {
      ++at;
    }
    return at;
  }
  static std::string shortened(std::string name) {
    return replaced(replaced(std::move(name), ".self_attn.", ".attn."), ".mlp.", ".ffn.");
  }
  static std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    return at == text.npos ? text : text.replace(at, from.size(), to);
  }
  static void add(std::vector<std::string>& names, std::string name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }

  std::string_view full_;
  std::vector<std::string_view> parts_;
  mutable std::vector<std::string> spellings_;  ///< made when a list first asks for them
};

/// How a list names modules.
enum class name_syntax : std::uint8_t {
  parts,      ///< whole parts of the dotted name, anywhere in it; Python expressions where one is written
  tagged,     ///< the full name, or a regular expression after "re:"
  wildcards,  ///< `*` and `?`; without them like `parts`
  regex       ///< always a regular expression
};

/// A list of names and patterns out of an untrusted file.
class name_list {
 public:
  static constexpr std::size_t most_steps = std::size_t{1} << 17;

  [[nodiscard]] bool empty() const { return names_.empty() && parts_.empty() && patterns_.empty(); }
  /// Entries stood for many names ("{n}").
  [[nodiscard]] bool was_shortened() const { return was_shortened_; }
  /// Entries stood for some whole layers without saying which: they match nothing.
  [[nodiscard]] bool lost_layers() const { return lost_layers_; }

  void add(std::string_view entry, name_syntax syntax, const json_field& place) {
    if (entry.empty()) return;
    const bool shortened = entry.find(name_pattern::any_number) != entry.npos;
    was_shortened_ = was_shortened_ || shortened;
    if (shortened && names_whole_layers(entry)) {
      lost_layers_ = true;
      return;
    }
    if (syntax == name_syntax::regex) return keep(name_pattern::regex(entry, place), place);
    if (syntax == name_syntax::tagged && entry.substr(0, 3) == "re:")
      return keep(name_pattern::regex(entry.substr(3), place), place);
    if (syntax == name_syntax::tagged) {
      if (shortened) return keep(name_pattern::wildcard(entry, place), place);
      names_.emplace(entry);
      return;
    }
    while (!entry.empty() && entry.back() == '.') entry.remove_suffix(1);
    while (!entry.empty() && entry.front() == '.') entry.remove_prefix(1);
    if (entry.find_first_of("*?[") == entry.npos && (shortened || !is_expression(entry))) {
      if (!shortened) {
        parts_.emplace(entry);
        ends_.emplace(entry.substr(entry.rfind('.') + 1));
        return;
      }
      for (const char* before : {"", "*."}) {
        for (const char* behind : {"", ".*"})
          keep(name_pattern::wildcard(before + std::string(entry) + behind, place), place);
      }
      return;
    }
    const bool is_wildcard = syntax == name_syntax::wildcards || entry.front() == '*';
    keep(is_wildcard ? name_pattern::wildcard(entry, place) : name_pattern::regex(entry, place), place);
  }

  /// Adds a list of texts, or nothing if there is none.
  void add_all(const json_field& list, name_syntax syntax) {
    for (std::size_t i = 0, size = list.size(); i < size; ++i) {
      const json_field entry = list.at(i);
      add(entry.text(), syntax, entry);
    }
  }

  [[nodiscard]] bool matches(const module_name& module) const {
    bool may_have_parts = knows_short_names();
    for (const std::string_view part : module.parts()) {
      may_have_parts = may_have_parts || (!ends_.empty() && ends_.count(part) != 0);
    }
    if (matches_inside(module)) return true;
    if (names_.empty() && !may_have_parts && inside_patterns_ == patterns_.size()) return false;
    for (const std::string& name : module.spellings()) {
      if (names_.count(name) != 0 || (may_have_parts && has_parts(name))) return true;
      for (const name_pattern& pattern : patterns_) {
        if (!pattern.ignores_beginnings() && pattern.matches(name)) return true;
      }
    }
    return false;
  }

 private:
  /// Patterns that do not care what stands before "layers", on the names inside a layer.
  [[nodiscard]] bool matches_inside(const module_name& module) const {
    if (inside_patterns_ == 0) return false;
    const std::string shortened = module.shortened();
    for (const name_pattern& pattern : patterns_) {
      if (!pattern.ignores_beginnings()) continue;
      if (pattern.matches(module.full()) || pattern.matches(shortened)) return true;
    }
    return false;
  }
  [[nodiscard]] static bool is_expression(std::string_view entry) {
    return entry.find_first_of("^$()|\\+{") != entry.npos;
  }
  [[nodiscard]] static bool names_whole_layers(std::string_view entry) {
    while (!entry.empty() && (entry.back() == '*' || entry.back() == '.')) entry.remove_suffix(1);
    constexpr std::string_view layer = "layers.{n}";
    return entry.size() >= layer.size() && entry.substr(entry.size() - layer.size()) == layer &&
           entry.substr(0, 4) != "mtp.";
  }
  void keep(name_pattern pattern, const json_field& place) {
    steps_ += pattern.size();
    if (steps_ > most_steps)
      place.refuse("the patterns up to here take more than " + std::to_string(most_steps) + " steps");
    if (pattern.ignores_beginnings()) ++inside_patterns_;
    patterns_.push_back(std::move(pattern));
  }
  /// Whether a spelling may end otherwise than the module's full name ("head", "embed", without ".weight").
  [[nodiscard]] bool knows_short_names() const {
    if (ends_.empty()) return false;
    return ends_.count("head") != 0 || ends_.count("embed") != 0 || ends_.count("attn") != 0 ||
           ends_.count("ffn") != 0 || ends_.count("indexers_proj") != 0;
  }
  /// Whether some run of whole parts of the name is listed.
  [[nodiscard]] bool has_parts(const std::string& name) const {
    for (std::size_t first = 0; first <= name.size();) {
      for (std::size_t end = first; end <= name.size(); ++end) {
        if (end != name.size() && name[end] != '.') continue;
        if (parts_.count(std::string_view(name).substr(first, end - first)) != 0) return true;
      }
      const std::size_t dot = name.find('.', first);
      if (dot == name.npos) return false;
      first = dot + 1;
    }
    return false;
  }

  std::set<std::string, std::less<>> names_;
  std::set<std::string, std::less<>> parts_;
  std::set<std::string, std::less<>> ends_;  ///< the last part of each of `parts_`
  std::vector<name_pattern> patterns_;
  std::size_t inside_patterns_ = 0;  ///< how many of them ignore beginnings
  std::size_t steps_ = 0;
  bool was_shortened_ = false;
  bool lost_layers_ = false;
};

}  // namespace kvbudget::inline v0::detail
