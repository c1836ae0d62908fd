#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/io/input_error.hpp"

namespace kvbudget::inline v0 {

/// What a metadata value is, by the numbers that files use. Source: ggml-org/llama.cpp, ggml/include/gguf.h.
enum class gguf_type : std::uint32_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  flag = 7,
  text = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12
};

/// One metadata value. Texts of at most 256 bytes and arrays of at most 1,024 whole numbers or flags outside
/// the tokenizer are kept, of everything longer only the length; fractions are not kept.
struct gguf_value {
  gguf_type type = gguf_type::u32;
  gguf_type element = gguf_type::u32;  ///< arrays: of what
  bool kept = true;                    ///< false: only `length` is known
  std::uint64_t number = 0;            ///< whole numbers (two's complement) and flags
  std::uint64_t length = 0;            ///< bytes of a text, elements of an array
  std::string text{};
  std::vector<std::uint64_t> elements{};  ///< of an array, like `number`
};

/// The metadata of a file by key.
using gguf_metadata = std::map<std::string, gguf_value, std::less<>>;

namespace detail {

[[nodiscard]] constexpr bool is_whole(gguf_type type) {
  switch (type) {
    case gguf_type::u8:
    case gguf_type::i8:
    case gguf_type::u16:
    case gguf_type::i16:
    case gguf_type::u32:
    case gguf_type::i32:
    case gguf_type::u64:
    case gguf_type::i64:
    case gguf_type::flag: return true;
    case gguf_type::f32:
    case gguf_type::f64:
    case gguf_type::text:
    case gguf_type::array: return false;
  }
  return false;
}

/// Bytes of one value; 0 for texts and arrays, which have a length of their own.
[[nodiscard]] constexpr std::uint64_t size_of(gguf_type type) {
  switch (type) {
    case gguf_type::u8:
    case gguf_type::i8:
    case gguf_type::flag: return 1;
    case gguf_type::u16:
    case gguf_type::i16: return 2;
    case gguf_type::u32:
    case gguf_type::i32:
    case gguf_type::f32: return 4;
    case gguf_type::u64:
    case gguf_type::i64:
    case gguf_type::f64: return 8;
    case gguf_type::text:
    case gguf_type::array: return 0;
  }
  return 0;
}

[[nodiscard]] constexpr const char* name_of(gguf_type type) {
  constexpr const char* names[] = {"u8",        "i8",   "u16",      "i16", "u32", "i32", "f32",
                                   "yes or no", "text", "an array", "u64", "i64", "f64"};
  return names[static_cast<std::uint32_t>(type)];
}

/// Metadata as a reader of hyper-parameters asks for it; what does not fit is refused with file and key.
class metadata_view {
 public:
  metadata_view(const gguf_metadata& metadata, const std::string& source)
      : metadata_(&metadata), source_(&source) {}

  [[nodiscard]] const std::string& source() const { return *source_; }
  [[nodiscard]] const gguf_value* find(std::string_view key) const {
    const auto found = metadata_->find(key);
    return found == metadata_->end() ? nullptr : &found->second;
  }
  [[noreturn]] void refuse(std::string_view key, const std::string& reason) const {
    refuse_input(*source_ + ": " + printable(key, 80) + ": " + reason);
  }

  /// A whole number from 0 to 2^63 − 1, if the key is there.
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view key) const {
    const gguf_value* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!is_whole(value->type))
      refuse(key, std::string("must be a whole number, not ") + name_of(value->type));
    return whole(key, value->number);
  }
  [[nodiscard]] std::uint64_t required_number(std::string_view key) const {
    const std::optional<std::uint64_t> value = number(key);
    if (!value) refuse(key, "the key is missing");
    return *value;
  }
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const {
    const gguf_value* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (value->type != gguf_type::text) refuse(key, std::string("must be text, not ") + name_of(value->type));
    if (!value->kept)
      refuse(key, "is " + std::to_string(value->length) + " bytes long, at most 256 are read");
    return value->text;
  }

  /// Checks one number, or one element of an array.
  [[nodiscard]] std::uint64_t whole(std::string_view key, std::uint64_t number) const {
    if (number > static_cast<std::uint64_t>(INT64_MAX)) refuse(key, "must not be negative");
    return number;
  }

 private:
  const gguf_metadata* metadata_;
  const std::string* source_;
};

}  // namespace detail
}  // namespace kvbudget::inline v0
