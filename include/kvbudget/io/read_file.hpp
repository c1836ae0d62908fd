#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "kvbudget/io/input_error.hpp"

namespace kvbudget::inline v0::detail {

/// A regular file, opened for reading. A directory, a device or pipe, a missing or unreadable file is
/// refused.
[[nodiscard]] inline std::ifstream open_file(const std::filesystem::path& path) {
  const std::string name = printable(path.string());
  std::error_code problem;
  const std::filesystem::file_status status = std::filesystem::status(path, problem);
  if (!std::filesystem::exists(status)) {
    refuse_input(name + ": " + (problem ? problem.message() : std::string("no such file")));
  }
  if (std::filesystem::is_directory(status)) refuse_input(name + ": is a directory, expected a file");
  if (!std::filesystem::is_regular_file(status)) refuse_input(name + ": is not a regular file");
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse_input(name + ": cannot be read");
  return in;
}

/// The size that the file system reports.
[[nodiscard]] inline std::uint64_t size_of_file(const std::filesystem::path& path) {
  std::error_code problem;
  const std::uintmax_t size = std::filesystem::file_size(path, problem);
  if (problem) refuse_input(printable(path.string()) + ": " + problem.message());
  return size;
}

/// The content of a regular file of at most `most` bytes. Never trusts the size that the file system reports
/// and never holds more than `most` bytes and one block. What `open_file` refuses and an empty file are
/// refused.
[[nodiscard]] inline std::string read_file(const std::filesystem::path& path, std::uint64_t most) {
  const std::string name = printable(path.string());
  std::ifstream in = open_file(path);
  std::string content;
  char block[16 * 1024];
  while (in) {
    in.read(block, sizeof(block));
    content.append(block, static_cast<std::size_t>(in.gcount()));
    if (content.size() > most) {
      refuse_input(name + ": is larger than the " + std::to_string(most) + " bytes that are accepted");
    }
  }
  if (in.bad()) refuse_input(name + ": cannot be read");
  if (content.empty()) refuse_input(name + ": is empty");
  return content;
}

}  // namespace kvbudget::inline v0::detail
