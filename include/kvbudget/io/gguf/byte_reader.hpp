#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kvbudget/io/gguf/byte_source.hpp"
#include "kvbudget/io/input_error.hpp"

namespace kvbudget::inline v0::detail {

/// Numbers and texts from a byte source through a buffer of fixed size, in either byte order. What is cut
/// short, and what is refused, throws `input_error`: one line with the source, the part of the file and the
/// byte.
class byte_reader {
 public:
  byte_reader(byte_source& source, std::string name)
      : source_(&source), name_(std::move(name)), remaining_(source.size()), buffer_(new char[capacity]) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t position() const { return position_; }
  /// Bytes that are left: the bound of every length and count.
  [[nodiscard]] std::uint64_t remaining() const { return remaining_; }
  void big_endian(bool swapped) { big_endian_ = swapped; }
  [[nodiscard]] bool big_endian() const { return big_endian_; }
  /// What is being read, for messages: "tensor info", 17.
  void entering(const char* part, std::uint64_t number) {
    part_ = part;
    number_ = number;
  }

  template <class Unsigned> [[nodiscard]] Unsigned number() {
    need(sizeof(Unsigned));
    const Unsigned value = number_at<Unsigned>(buffer_.get() + next_);
    advance(sizeof(Unsigned));
    return value;
  }

  /// `length` bytes; the caller has bounded the length.
  [[nodiscard]] std::string text(std::size_t length) {
    if (length > remaining_) ends_early();
    std::string result;
    result.reserve(length);
    while (result.size() < length) {
      if (next_ == end_) need(1);
      const std::size_t here = std::min(length - result.size(), end_ - next_);
      result.append(buffer_.get() + next_, here);
      advance(here);
    }
    return result;
  }

  void skip(std::uint64_t length) {
    if (length > remaining_) ends_early();
    const std::size_t buffered = end_ - next_;
    if (length <= buffered) return advance(static_cast<std::size_t>(length));
    source_->skip(length - buffered);
    next_ = end_;
    position_ += length;
    remaining_ -= length;
  }

  /// Passes over `count` texts, each behind its length: the one loop that runs once per token of a tokenizer.
  template <class Length> void skip_texts(std::uint64_t count) {
    while (count != 0) {
      std::size_t at = next_;  // texts that lie in the buffer whole
      for (; count != 0 && end_ - at >= sizeof(Length); --count) {
        const Length length = number_at<Length>(buffer_.get() + at);
        if (length > end_ - at - sizeof(Length)) break;
        at += sizeof(Length) + static_cast<std::size_t>(length);
      }
      advance(at - next_);
      if (count == 0) return;
      skip(number<Length>());
      --count;
    }
  }

  [[noreturn]] void refuse(const std::string& reason) const {
    std::string line = name_ + ": ";
    if (part_ != nullptr) line += std::string(part_) + " " + std::to_string(number_) + ": ";
    refuse_input(line + reason + " (byte " + std::to_string(position_) + ")");
  }
  [[noreturn]] void ends_early() const {
    refuse("the file ends here, at " + std::to_string(position_ + remaining_) + " bytes");
  }

 private:
  template <class Unsigned> [[nodiscard]] Unsigned number_at(const char* at) const {
    Unsigned value = 0;
    if (big_endian_ == (std::endian::native == std::endian::big)) {
      std::memcpy(&value, at, sizeof(Unsigned));
      return value;
    }
    const auto* from = reinterpret_cast<const unsigned char*>(at);
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i) {
      const std::size_t place = big_endian_ ? sizeof(Unsigned) - 1 - i : i;
      value = static_cast<Unsigned>(value | static_cast<Unsigned>(from[i]) << (8 * place));
    }
    return value;
  }

  static constexpr std::size_t capacity = std::size_t{64} << 10;

  /// Makes the next `count` (at most 8) lie together in the buffer.
  void need(std::size_t count) {
    if (end_ - next_ >= count) return;
    if (remaining_ < count) ends_early();
    std::size_t kept = 0;
    for (; next_ != end_; ++next_) buffer_[kept++] = buffer_[next_];
    next_ = 0;
    end_ = kept;
    while (end_ < count) {
      const std::size_t got = source_->read(buffer_.get() + end_, capacity - end_);
      if (got == 0) ends_early();  // the file became shorter while it was read
      end_ += got;
    }
  }
  void advance(std::size_t count) {
    next_ += count;
    position_ += count;
    remaining_ -= count;
  }

  byte_source* source_;
  std::string name_;
  std::uint64_t position_ = 0;
  std::uint64_t remaining_;
  std::unique_ptr<char[]> buffer_;
  std::size_t next_ = 0;
  std::size_t end_ = 0;
  bool big_endian_ = false;
  const char* part_ = nullptr;
  std::uint64_t number_ = 0;
};

}  // namespace kvbudget::inline v0::detail
