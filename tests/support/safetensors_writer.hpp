#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kvbudget/io/safetensors/dtype.hpp"

namespace tests {

/// Writes `.safetensors` files of any size: headers for real, data as a hole in a sparse file.
class safetensors_writer {
 public:
  using shape = std::vector<std::uint64_t>;

  /// Appends a tensor behind those that are there.
  safetensors_writer& add(const std::string& name, const std::string& dtype, const shape& lengths) {
    std::uint64_t bits = kvbudget::bits_of(kvbudget::safetensors_dtype_named(dtype).value());
    std::string numbers;
    for (const std::uint64_t length : lengths) {
      bits *= length;
      numbers += (numbers.empty() ? "" : ",") + std::to_string(length);
    }
    const std::uint64_t end = data_bytes_ + bits / 8;
    return add_entry("\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" + numbers +
                         "],\"data_offsets\":[" + std::to_string(data_bytes_) + "," + std::to_string(end) +
                         "]}",
                     end);
  }
  /// Appends any text as a member of the header.
  safetensors_writer& add_entry(const std::string& member, std::uint64_t data_bytes) {
    members_ += (members_.empty() ? "" : ",") + member;
    data_bytes_ = data_bytes;
    return *this;
  }

  [[nodiscard]] std::string json() const { return "{" + members_ + "}"; }
  /// The first bytes of the file, up to its data.
  [[nodiscard]] std::string start() const { return with_length(json()); }
  [[nodiscard]] std::uint64_t data_bytes() const { return data_bytes_; }
  [[nodiscard]] std::uint64_t file_bytes() const { return start().size() + data_bytes_; }

  [[nodiscard]] static std::string with_length(const std::string& text) {
    std::string result(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) result[i] = static_cast<char>(std::uint64_t{text.size()} >> (8 * i));
    return result + text;
  }

  std::filesystem::path write(const std::filesystem::path& path) const {
    std::ofstream(path, std::ios::binary) << start();
    std::filesystem::resize_file(path, file_bytes());
    return path;
  }

 private:
  std::string members_;
  std::uint64_t data_bytes_ = 0;
};

}  // namespace tests
