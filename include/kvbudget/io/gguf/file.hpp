#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/io/gguf/part.hpp"
#include "kvbudget/units/quantity.hpp"

namespace kvbudget::inline v0 {

/// A model's GGUF file, or all files of a split one: their layouts, the metadata of the first and the tensors
/// of all, in file order.
struct gguf_file {
  std::vector<gguf_layout> parts{};
  gguf_metadata metadata{};
  std::vector<gguf_tensor> tensors{};
  std::vector<std::string> notes{};  ///< one line for each oddity: missing data, the other byte order

  /// What messages call it.
  [[nodiscard]] const std::string& source() const { return parts.front().source; }
};

/// Σ over tensors of their bytes, without padding: what llama.cpp prints as the model's size.
[[nodiscard]] inline bytes weight_bytes_of(const gguf_file& file) {
  bytes sum{};
  for (const gguf_tensor& tensor : file.tensors) sum += bytes{tensor.bytes};
  return sum;
}

/// Σ over files of the size that their headers announce: header, tensors and padding.
[[nodiscard]] inline bytes file_bytes_of(const gguf_file& file) {
  bytes sum{};
  for (const gguf_layout& part : file.parts) sum += bytes{part.file_bytes()};
  return sum;
}

namespace detail {

/// The place of a file in a split model, by its keys `split.no` (from 0) and `split.count`.
struct split_place {
  std::uint64_t number = 0;
  std::uint64_t count = 1;
};

inline constexpr std::uint64_t most_split_files = 4096;

[[nodiscard]] inline split_place split_place_of(const gguf_part& part) {
  const metadata_view keys(part.metadata, part.layout.source);
  split_place place;
  place.count = keys.number("split.count").value_or(1);
  place.number = keys.number("split.no").value_or(0);
  if (place.count == 0) place.count = 1;
  if (place.count > most_split_files) {
    keys.refuse("split.count", std::to_string(place.count) + " files, at most " +
                                   std::to_string(most_split_files) + " are read");
  }
  if (place.number >= place.count) {
    keys.refuse("split.no", std::to_string(place.number) + " of " + std::to_string(place.count) +
                                " files: they are counted from 0");
  }
  return place;
}

/// "-00002-of-00005.gguf".
[[nodiscard]] inline std::string split_ending(std::uint64_t number, std::uint64_t count) {
  char ending[64];
  std::snprintf(ending, sizeof(ending), "-%05llu-of-%05llu.gguf", static_cast<unsigned long long>(number + 1),
                static_cast<unsigned long long>(count));
  return ending;
}

/// The file of a split model with another number, beside the one that is known.
[[nodiscard]] inline std::filesystem::path sibling(const std::filesystem::path& known,
                                                   const split_place& place, std::uint64_t number) {
  std::string name = known.filename().string();
  const std::string ending = split_ending(place.number, place.count);
  if (name.size() < ending.size() || name.compare(name.size() - ending.size(), ending.size(), ending) != 0) {
    refuse_input(printable(known.string()) + ": is file " + std::to_string(place.number + 1) + " of " +
                 std::to_string(place.count) + ", but its name does not end in " + ending +
                 ": name all files of the model");
  }
  name.resize(name.size() - ending.size());
  return known.parent_path() / (name + split_ending(number, place.count));
}

[[nodiscard]] inline gguf_part read_gguf_part_at(const std::filesystem::path& path) {
  file_source source(path);
  return read_gguf_part(source, path.string());
}

/// Puts the files of a model together: all of one split, each once.
[[nodiscard]] inline gguf_file joined(std::vector<gguf_part> parts) {
  const split_place first = split_place_of(parts.front());
  std::vector<std::optional<gguf_part>> ordered(static_cast<std::size_t>(first.count));
  for (gguf_part& part : parts) {
    const split_place place = split_place_of(part);
    const std::string& name = part.layout.source;
    if (place.count != first.count) {
      refuse_input(name + ": belongs to a model of " + std::to_string(place.count) + " files, not of " +
                   std::to_string(first.count));
    }
    std::optional<gguf_part>& slot = ordered[static_cast<std::size_t>(place.number)];
    if (slot) {
      refuse_input(name + ": is file " + std::to_string(place.number + 1) + " of " +
                   std::to_string(place.count) + ", as is " + slot->layout.source);
    }
    slot = std::move(part);
  }
  gguf_file file;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    if (!ordered[i]) {
      std::string known;
      for (const auto& part : ordered) {
        if (part && known.empty()) known = part->layout.source;
      }
      refuse_input(known + ": file " + std::to_string(i + 1) + " of " + std::to_string(ordered.size()) +
                   " of the model is missing: its name ends in " + split_ending(i, ordered.size()));
    }
    gguf_part& part = *ordered[i];
    for (gguf_tensor& tensor : part.tensors) tensor.part = static_cast<std::uint32_t>(i);
    if (file.tensors.empty()) {
      file.tensors = std::move(part.tensors);
    } else {
      std::move(part.tensors.begin(), part.tensors.end(), std::back_inserter(file.tensors));
    }
    if (i == 0) file.metadata = std::move(part.metadata);
    const gguf_layout& layout = part.layout;
    if (layout.big_endian) file.notes.push_back(layout.source + ": is a big-endian file");
    if (layout.bytes_there < layout.file_bytes()) {
      file.notes.push_back(layout.source + ": has " + std::to_string(layout.bytes_there) + " of its " +
                           std::to_string(layout.file_bytes()) +
                           " bytes: data is missing, the header is complete");
    } else if (layout.bytes_there > layout.file_bytes()) {
      file.notes.push_back(layout.source + ": has " +
                           std::to_string(layout.bytes_there - layout.file_bytes()) +
                           " bytes beyond its last tensor");
    }
    file.parts.push_back(layout);
  }
  if (file.parts.size() > 1) refuse_equal_names(file.tensors, file.source());
  const metadata_view keys(file.metadata, file.source());
  if (const auto total = keys.number("split.tensors.count"); total && *total != file.tensors.size()) {
    keys.refuse("split.tensors.count", std::to_string(*total) + ", but the files hold " +
                                           std::to_string(file.tensors.size()) + " tensors");
  }
  return file;
}

}  // namespace detail

/// The model of one file's header that was read from elsewhere than a path; a file of a split model is
/// refused.
[[nodiscard]] inline gguf_file read_gguf(byte_source& source, std::string_view name) {
  std::vector<gguf_part> parts;
  parts.push_back(read_gguf_part(source, name));
  return detail::joined(std::move(parts));
}

/// The model in a GGUF file: its layout, metadata and tensors. Of a split model any file can be named; the
/// others are looked for beside it by their names (`…-00001-of-00003.gguf`) and a missing one is named. What
/// is refused: see `read_gguf_part`, and whatever is no regular file.
[[nodiscard]] inline gguf_file read_gguf(const std::filesystem::path& path) {
  std::vector<gguf_part> parts;
  parts.push_back(detail::read_gguf_part_at(path));
  const detail::split_place place = detail::split_place_of(parts.front());
  for (std::uint64_t number = 0; number < place.count; ++number) {
    if (number != place.number)
      parts.push_back(detail::read_gguf_part_at(detail::sibling(path, place, number)));
  }
  return detail::joined(std::move(parts));
}

/// The same from all files of a model, in any order.
[[nodiscard]] inline gguf_file read_gguf(const std::vector<std::filesystem::path>& paths) {
  if (paths.empty()) detail::refuse_input("GGUF: no file is named");
  if (paths.size() == 1) return read_gguf(paths.front());
  std::vector<gguf_part> parts;
  for (const std::filesystem::path& path : paths) parts.push_back(detail::read_gguf_part_at(path));
  return detail::joined(std::move(parts));
}

}  // namespace kvbudget::inline v0
