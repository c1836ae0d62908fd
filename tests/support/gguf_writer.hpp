#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/io/gguf/ggml_type.hpp"

namespace tests {

/// Writes GGUF files without data: header and tensor infos, then a hole of the announced size.
class gguf_writer {
 public:
  std::uint32_t version = 3;
  bool big_endian = false;
  std::uint64_t alignment = 32;

  // -- metadata --------------------------------------------------------------------------------------------

  gguf_writer& u32(std::string_view key, std::uint32_t value) {
    begin(key, 4);
    put(keys_, value);
    return *this;
  }
  gguf_writer& u16(std::string_view key, std::uint16_t value) {
    begin(key, 2);
    put(keys_, value);
    return *this;
  }
  gguf_writer& u64(std::string_view key, std::uint64_t value) {
    begin(key, 10);
    put(keys_, value);
    return *this;
  }
  gguf_writer& i32(std::string_view key, std::int32_t value) {
    begin(key, 5);
    put(keys_, static_cast<std::uint32_t>(value));
    return *this;
  }
  gguf_writer& f32(std::string_view key) {
    begin(key, 6);
    put(keys_, std::uint32_t{0x3F800000});
    return *this;
  }
  gguf_writer& flag(std::string_view key, bool value) {
    begin(key, 7);
    put(keys_, static_cast<std::uint8_t>(value));
    return *this;
  }
  gguf_writer& text(std::string_view key, std::string_view value) {
    begin(key, 8);
    put_text(keys_, value);
    return *this;
  }
  gguf_writer& u32s(std::string_view key, const std::vector<std::uint32_t>& values) {
    begin_array(key, 4, values.size());
    for (const std::uint32_t value : values) put(keys_, value);
    return *this;
  }
  gguf_writer& flags(std::string_view key, const std::vector<bool>& values) {
    begin_array(key, 7, values.size());
    for (const bool value : values) put(keys_, static_cast<std::uint8_t>(value));
    return *this;
  }
  gguf_writer& f32s(std::string_view key, std::uint64_t count) {
    begin_array(key, 6, count);
    for (std::uint64_t i = 0; i < count; ++i) put(keys_, std::uint32_t{0});
    return *this;
  }
  /// `count` texts of 1 to 16 bytes, like the pieces of a tokenizer.
  gguf_writer& texts(std::string_view key, std::uint64_t count) {
    begin_array(key, 8, count);
    for (std::uint64_t i = 0; i < count; ++i)
      put_text(keys_, std::string_view("abcdefghijklmnop", 1 + i % 16));
    return *this;
  }
  /// A key whose type, and the bytes behind it, are the test's own.
  gguf_writer& raw(std::string_view key, std::uint32_t type, std::string_view bytes) {
    begin(key, type);
    keys_.append(bytes);
    return *this;
  }

  // -- tensors ---------------------------------------------------------------------------------------------

  /// A tensor of a ggml type, behind those before it.
  gguf_writer& tensor(std::string_view name, std::uint32_t type, const std::vector<std::uint64_t>& dims) {
    const std::uint64_t offset = data_bytes_;
    std::uint64_t rows = 1;
    for (std::size_t i = 1; i < dims.size(); ++i) rows *= dims[i];
    if (const kvbudget::ggml_type* known = kvbudget::find_ggml_type(type)) {
      const std::uint64_t bytes = known->row_size(dims.empty() ? 1 : dims[0]) * rows;
      weight_bytes_ += bytes;
      data_bytes_ += padded(bytes);
    }
    return tensor_at(name, type, dims, offset);
  }
  /// A tensor info as it stands.
  gguf_writer& tensor_at(std::string_view name, std::uint32_t type, const std::vector<std::uint64_t>& dims,
                         std::uint64_t offset) {
    ++tensor_count_;
    put_text(infos_, name);
    put(infos_, static_cast<std::uint32_t>(dims.size()));
    for (const std::uint64_t dim : dims) put_length(infos_, dim);
    put(infos_, type);
    put(infos_, offset);
    return *this;
  }

  [[nodiscard]] std::uint64_t tensor_count() const { return tensor_count_; }
  [[nodiscard]] std::uint64_t weight_bytes() const { return weight_bytes_; }
  [[nodiscard]] std::uint64_t data_bytes() const { return data_bytes_; }

  /// Everything in front of the data, without the padding before it.
  [[nodiscard]] std::string header() const {
    std::string result = "GGUF";
    put(result, version);
    put_length(result, tensor_count_);
    put_length(result, key_count_);
    return result + keys_ + infos_;
  }
  [[nodiscard]] std::uint64_t file_bytes() const { return padded(header().size()) + data_bytes_; }

  /// The file with a hole in place of the data.
  void write(const std::filesystem::path& path) const {
    std::ofstream(path, std::ios::binary) << header();
    std::filesystem::resize_file(path, file_bytes());
  }

  template <class Unsigned> void put(std::string& to, Unsigned value) const {
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
      const std::size_t place = big_endian ? sizeof(Unsigned) - 1 - i : i;
      to.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * place) & 0xFFU));
    }
  }
  void put_length(std::string& to, std::uint64_t value) const {
    if (version == 1) {
      put(to, static_cast<std::uint32_t>(value));
    } else {
      put(to, value);
    }
  }

 private:
  [[nodiscard]] std::uint64_t padded(std::uint64_t bytes) const {
    return (bytes + alignment - 1) / alignment * alignment;
  }
  void put_text(std::string& to, std::string_view value) const {
    put_length(to, value.size());
    to.append(value);
  }
  void begin(std::string_view key, std::uint32_t type) {
    ++key_count_;
    put_text(keys_, key);
    put(keys_, type);
  }
  void begin_array(std::string_view key, std::uint32_t element, std::uint64_t count) {
    begin(key, 9);
    put(keys_, element);
    put_length(keys_, count);
  }

  std::string keys_{};
  std::string infos_{};
  std::uint64_t key_count_ = 0;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t weight_bytes_ = 0;
  std::uint64_t data_bytes_ = 0;
};

}  // namespace tests
