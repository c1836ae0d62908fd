#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "kvbudget/io/input_error.hpp"
#include "kvbudget/io/read_file.hpp"

namespace kvbudget::inline v0 {

/// Bytes that are read once, front to back.
class byte_source {
 public:
  byte_source() = default;
  byte_source(const byte_source&) = delete;
  byte_source& operator=(const byte_source&) = delete;
  virtual ~byte_source() = default;

  /// All bytes there are.
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Fills `to` with the next bytes; fewer than `most` only at the end. Returns how many.
  virtual std::size_t read(char* to, std::size_t most) = 0;
  /// Passes over the next bytes.
  virtual void skip(std::uint64_t count) = 0;
};

/// Bytes in memory, which must outlive this.
class memory_source final : public byte_source {
 public:
  explicit memory_source(std::string_view content) : content_(content), size_(content.size()) {}

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  std::size_t read(char* to, std::size_t most) override {
    const std::size_t count = content_.size() < most ? content_.size() : most;
    if (count != 0) std::memcpy(to, content_.data(), count);
    content_.remove_prefix(count);
    return count;
  }
  void skip(std::uint64_t count) override {
    content_.remove_prefix(count < content_.size() ? static_cast<std::size_t>(count) : content_.size());
  }

 private:
  std::string_view content_;
  std::uint64_t size_;
};

/// A regular file; anything else is refused. Passing over bytes does not read them.
class file_source final : public byte_source {
 public:
  explicit file_source(const std::filesystem::path& path)
      : in_(detail::open_file(path)), size_(detail::size_of_file(path)) {}

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  std::size_t read(char* to, std::size_t most) override {
    in_.read(to, static_cast<std::streamsize>(most));
    return static_cast<std::size_t>(in_.gcount());
  }
  void skip(std::uint64_t count) override { in_.seekg(static_cast<std::streamoff>(count), std::ios::cur); }

 private:
  std::ifstream in_;
  std::uint64_t size_;
};

}  // namespace kvbudget::inline v0
