#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/io/input_error.hpp"
#include "kvbudget/io/read_file.hpp"
#include "kvbudget/io/safetensors/header.hpp"
#include "kvbudget/io/safetensors/json_events.hpp"

namespace kvbudget::inline v0 {

/// What `model.safetensors.index.json` says: which shard holds each tensor.
struct safetensors_index {
  struct entry {
    std::string tensor;
    std::uint32_t file = 0;  ///< which of `files`
  };
  std::vector<std::string> files;           ///< names of the shards, in the order of their first mention
  std::vector<entry> entries;               ///< sorted by tensor
  std::optional<std::uint64_t> total_size;  ///< bytes of all tensors, where the index gives them
};

namespace detail {

inline constexpr std::size_t max_shards = 10'000;

/// `{"metadata": {"total_size": N, …}, "weight_map": {"tensor": "shard", …}}`; other keys are passed over.
class safetensors_index_events final : public json_events {
 public:
  using json_events::json_events;

  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (depth_ == 1) {
      section_ = name == "weight_map" ? section::weight_map
                 : name == "metadata" ? section::metadata
                                      : section::other;
      if (section_ == section::weight_map && std::exchange(seen_weight_map_, true)) {
        refuse("key \"weight_map\" occurs twice");
      }
    }
    if (depth_ == 2) key_ = std::move(name);
    return true;
  }
  bool string(string_t& text) override {
    if (section_ != section::weight_map) return scalar("text");
    if (depth_ != 2) unexpected("text");
    const std::uint32_t file = file_named(text);
    index_.entries.push_back({std::move(key_), file});
    return true;
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (is_total_size()) {
      index_.total_size = number;
      return true;
    }
    return scalar("a number");
  }
  bool number_float(number_float_t number, const string_t&) override {
    if (is_total_size()) {  // some writers sum bits / 8 as Python floats
      if (!(number >= 0 && number <= 9007199254740992.0))
        refuse("total_size must be a whole number of bytes");
      const auto whole = static_cast<std::uint64_t>(number);
      if (static_cast<double>(whole) != number) refuse("total_size must be a whole number of bytes");
      index_.total_size = whole;
      return true;
    }
    return scalar("a fractional number");
  }
  bool number_integer(number_integer_t) override {
    if (is_total_size()) refuse("total_size must not be negative");
    return scalar("a negative number");
  }
  bool boolean(bool) override { return scalar("true or false"); }
  bool null() override { return scalar("null"); }

  [[nodiscard]] safetensors_index index() && {
    if (!seen_weight_map_) refuse_input(source() + ": key \"weight_map\" is missing");
    if (index_.entries.empty()) refuse_input(source() + ": weight_map is empty");
    std::sort(index_.entries.begin(), index_.entries.end(),
              [](const auto& a, const auto& b) { return a.tensor < b.tensor; });
    for (std::size_t i = 1; i < index_.entries.size(); ++i) {
      if (index_.entries[i].tensor != index_.entries[i - 1].tensor) continue;
      refuse_input(source() + ": weight_map: tensor \"" + printable(index_.entries[i].tensor, 120) +
                   "\" occurs twice");
    }
    return std::move(index_);
  }

 private:
  enum class section { other, metadata, weight_map };
  static constexpr std::size_t max_depth = 16;

  bool open(bool object) {
    if (depth_ == 0 && !object) unexpected("an array");
    if (section_ == section::weight_map && (depth_ != 1 || !object)) {
      unexpected(object ? "an object" : "an array");
    }
    if (++depth_ > max_depth) refuse("nests deeper than " + std::to_string(max_depth) + " levels");
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }
  bool scalar(const char* kind) {
    if (depth_ == 0 || section_ == section::weight_map) unexpected(kind);
    return true;
  }
  [[nodiscard]] bool is_total_size() const {
    return section_ == section::metadata && depth_ == 2 && key_ == "total_size";
  }
  [[nodiscard]] std::string place() const override {
    if (section_ == section::other) return "";
    return section_ == section::metadata ? "metadata" : "weight_map";
  }
  [[nodiscard]] const char* expected() const override {
    return depth_ == 0 || section_ != section::weight_map ? "an object"
                                                          : "the name of a shard for each tensor";
  }

  /// Shards lie beside the index: a name with a folder in it could lead anywhere.
  [[nodiscard]] std::uint32_t file_named(const std::string& name) {
    if (const auto known = numbers_.find(name); known != numbers_.end()) return known->second;
    constexpr std::string_view ending = ".safetensors";
    const bool good = name.size() > ending.size() && name.size() <= 255 && name.ends_with(ending) &&
                      name.find_first_of("/\\:") == std::string::npos && name.find('\0') == std::string::npos;
    if (!good) {
      refuse("tensor \"" + printable(key_, 120) + "\": \"" + printable(name, 60) +
             "\" is not the name of a .safetensors file beside the index");
    }
    if (index_.files.size() == max_shards)
      refuse("names more than " + std::to_string(max_shards) + " shards");
    const auto number = static_cast<std::uint32_t>(index_.files.size());
    index_.files.push_back(name);
    numbers_.emplace(name, number);
    return number;
  }

  std::size_t depth_ = 0;
  section section_ = section::other;
  bool seen_weight_map_ = false;
  std::string key_;
  std::map<std::string, std::uint32_t> numbers_;
  safetensors_index index_;
};

}  // namespace detail

/// The index in the text of a `model.safetensors.index.json`; `source` is what errors call it. Text that is
/// not JSON, no weight_map, a tensor that occurs twice, a shard that is not a plain file name, and a
/// total_size that is no whole number throw `input_error`.
[[nodiscard]] inline safetensors_index parse_safetensors_index(std::string_view text,
                                                               std::string_view source) {
  detail::safetensors_index_events events(detail::printable(source));
  events.read(text);
  return std::move(events).index();
}

/// The same from a file of at most 100 MB.
[[nodiscard]] inline safetensors_index load_safetensors_index(const std::filesystem::path& path) {
  return parse_safetensors_index(detail::read_file(path, max_safetensors_header_bytes), path.string());
}

}  // namespace kvbudget::inline v0
