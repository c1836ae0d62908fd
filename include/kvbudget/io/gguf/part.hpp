#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/io/gguf/byte_reader.hpp"
#include "kvbudget/io/gguf/metadata.hpp"
#include "kvbudget/io/gguf/tensor.hpp"

namespace kvbudget::inline v0 {

/// What a reader of GGUF files accepts at most; anything beyond is refused with a message.
struct gguf_limits {
  std::uint64_t keys = std::uint64_t{1} << 16;
  std::uint64_t key_bytes = 1024;
  std::uint64_t tensors = std::uint64_t{1} << 18;  ///< in one file
};

/// How one file is laid out, and the sizes that its header announces.
struct gguf_layout {
  std::string source{};  ///< what messages call it
  std::uint32_t version = 0;
  bool big_endian = false;
  std::uint64_t alignment = 32;
  std::uint64_t data_start = 0;   ///< byte where the data section starts
  std::uint64_t data_bytes = 0;   ///< of all tensors, each padded to the alignment
  std::uint64_t bytes_there = 0;  ///< of the file as it is; fewer than `file_bytes` where data is missing

  /// data_start + data_bytes: the size of the whole file.
  [[nodiscard]] constexpr std::uint64_t file_bytes() const { return data_start + data_bytes; }
};

/// The header of one file: everything in front of the data.
struct gguf_part {
  gguf_layout layout{};
  gguf_metadata metadata{};
  std::vector<gguf_tensor> tensors{};
};

namespace detail {

inline constexpr std::uint64_t longest_kept_text = 256;
inline constexpr std::uint64_t longest_kept_array = 1024;
inline constexpr std::size_t longest_tensor_name = 63;

/// Sorts by hash first, which is quicker than comparing names that begin alike.
inline void refuse_equal_names(const std::vector<gguf_tensor>& tensors, const std::string& source) {
  std::vector<std::pair<std::size_t, std::string_view>> names;
  names.reserve(tensors.size());
  for (const gguf_tensor& tensor : tensors) {
    names.emplace_back(std::hash<std::string_view>{}(tensor.name), tensor.name);
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    refuse_input(source + ": tensor " + printable(twice->second) + " occurs twice");
  }
}

/// The parser of one file. Counts and lengths from the file only ever bound loops that read as many bytes.
class gguf_part_reader {
 public:
  gguf_part_reader(byte_source& source, std::string name, const gguf_limits& limits)
      : in_(source, std::move(name)), limits_(limits) {
    part_.layout.source = in_.name();
    part_.layout.bytes_there = source.size();
  }

  [[nodiscard]] gguf_part read() {
    read_preamble();
    const std::uint64_t tensors = length();
    const std::uint64_t keys = length();
    check_count("tensors", tensors, limits_.tensors, shortest_info());
    check_count("metadata keys", keys, limits_.keys, length_bytes() + 5);
    for (std::uint64_t i = 0; i < keys; ++i) read_key_value(i);
    read_alignment();
    for (std::uint64_t i = 0; i < tensors; ++i) read_tensor(i);
    refuse_equal_names(part_.tensors, in_.name());
    part_.layout.data_start = round_up(in_.position(), part_.layout.alignment);
    (void)checked_add(part_.layout.data_start, part_.layout.data_bytes);
    return std::move(part_);
  }

 private:
  /// Magic and version. A version whose lower half is 0 was written with the other byte order: every number
  /// that follows is big-endian. Source: ggml-org/llama.cpp, ggml/src/gguf.cpp.
  void read_preamble() {
    in_.entering("header", 0);
    if (in_.remaining() < 4) in_.ends_early();
    if (in_.text(4) != "GGUF") refuse_input(in_.name() + ": is not a GGUF file: it does not start with GGUF");
    part_.layout.version = in_.number<std::uint32_t>();
    if ((part_.layout.version & 0xFFFFU) == 0) {
      const std::uint32_t v = part_.layout.version;
      part_.layout.version = v >> 24 | (v >> 8 & 0xFF00U);
      part_.layout.big_endian = true;
      in_.big_endian(true);
    }
    if (part_.layout.version < 1 || part_.layout.version > 3) {
      refuse_input(in_.name() + ": GGUF version " + std::to_string(part_.layout.version) +
                   " is not supported, expected 1, 2 or 3");
    }
  }

  /// Version 1 has 32-bit counts, lengths and dimensions. Source: huggingface/candle,
  /// candle-core/src/quantized/gguf_file.rs.
  [[nodiscard]] bool is_short() const { return part_.layout.version == 1; }
  [[nodiscard]] std::uint64_t length_bytes() const { return is_short() ? 4 : 8; }
  [[nodiscard]] std::uint64_t shortest_info() const { return 2 * length_bytes() + 1 + 4 + 4 + 8; }
  [[nodiscard]] std::uint64_t length() {
    return is_short() ? in_.number<std::uint32_t>() : in_.number<std::uint64_t>();
  }

  void check_count(const char* what, std::uint64_t count, std::uint64_t most, std::uint64_t bytes_each) {
    if (count > in_.remaining() / bytes_each) {
      in_.refuse(std::to_string(count) + " " + what + " do not fit into the " +
                 std::to_string(in_.remaining()) + " bytes that follow");
    }
    if (count > most) {
      in_.refuse(std::to_string(count) + " " + what + ", at most " + std::to_string(most) + " are read");
    }
  }

  [[nodiscard]] std::string text_of_at_most(const char* what, std::uint64_t most) {
    const std::uint64_t size = length();
    if (size > in_.remaining()) in_.ends_early();
    if (size > most) {
      in_.refuse(std::string(what) + " of " + std::to_string(size) + " bytes, at most " +
                 std::to_string(most) + " are allowed");
    }
    return in_.text(static_cast<std::size_t>(size));
  }

  [[nodiscard]] gguf_type type_of(std::uint32_t id, const std::string& key) {
    if (id > static_cast<std::uint32_t>(gguf_type::f64)) {
      in_.refuse(printable(key, 80) + ": value type " + std::to_string(id) + " is unknown");
    }
    return static_cast<gguf_type>(id);
  }

  [[nodiscard]] std::uint64_t whole(gguf_type type) {
    switch (type) {
      case gguf_type::u8:
      case gguf_type::flag: return in_.number<std::uint8_t>();
      case gguf_type::u16: return in_.number<std::uint16_t>();
      case gguf_type::u32: return in_.number<std::uint32_t>();
      case gguf_type::i8: return extended<std::int8_t>(in_.number<std::uint8_t>());
      case gguf_type::i16: return extended<std::int16_t>(in_.number<std::uint16_t>());
      case gguf_type::i32: return extended<std::int32_t>(in_.number<std::uint32_t>());
      case gguf_type::u64:
      case gguf_type::i64: return in_.number<std::uint64_t>();
      case gguf_type::f32:
      case gguf_type::f64:
      case gguf_type::text:
      case gguf_type::array: break;
    }
    return 0;
  }
  template <class Signed, class Unsigned> [[nodiscard]] static std::uint64_t extended(Unsigned number) {
    return static_cast<std::uint64_t>(std::int64_t{static_cast<Signed>(number)});
  }

  void read_key_value(std::uint64_t index) {
    in_.entering("key-value", index);
    const std::string key = text_of_at_most("a key", limits_.key_bytes);
    gguf_value value;
    value.type = type_of(in_.number<std::uint32_t>(), key);
    if (value.type == gguf_type::array) {
      read_array(key, value);
    } else if (value.type == gguf_type::text) {
      value.length = length();
      value.kept = value.length <= longest_kept_text;
      if (value.kept) {
        value.text = in_.text(static_cast<std::size_t>(value.length));
      } else {
        in_.skip(value.length);
      }
    } else if (is_whole(value.type)) {
      value.number = whole(value.type);
    } else {
      value.kept = false;
      in_.skip(size_of(value.type));
    }
    if (!part_.metadata.emplace(key, std::move(value)).second) {
      in_.refuse("key " + printable(key, 80) + " occurs twice");
    }
  }

  void read_array(const std::string& key, gguf_value& value) {
    value.element = type_of(in_.number<std::uint32_t>(), key);
    value.length = length();
    if (value.element == gguf_type::array)
      in_.refuse(printable(key, 80) + ": arrays of arrays are not supported");
    const std::uint64_t each = value.element == gguf_type::text ? length_bytes() : size_of(value.element);
    if (value.length > in_.remaining() / each) in_.ends_early();
    value.kept =
        is_whole(value.element) && value.length <= longest_kept_array && key.rfind("tokenizer.", 0) != 0;
    if (value.kept) {
      for (std::uint64_t i = 0; i < value.length; ++i) value.elements.push_back(whole(value.element));
    } else if (value.element == gguf_type::text) {
      if (is_short()) {
        in_.skip_texts<std::uint32_t>(value.length);
      } else {
        in_.skip_texts<std::uint64_t>(value.length);
      }
    } else {
      in_.skip(value.length * each);
    }
  }

  void read_alignment() {
    const auto found = part_.metadata.find("general.alignment");
    if (found == part_.metadata.end()) return;
    const gguf_value& value = found->second;
    if (value.type != gguf_type::u32) {
      refuse_input(in_.name() + ": general.alignment: must be u32, not " + name_of(value.type));
    }
    part_.layout.alignment = value.number;
    if (value.number == 0 || (value.number & (value.number - 1)) != 0) {
      refuse_input(in_.name() + ": general.alignment: must be a power of two, not " +
                   std::to_string(value.number));
    }
  }

  void read_tensor(std::uint64_t index) {
    in_.entering("tensor info", index);
    gguf_tensor tensor;
    tensor.name = text_of_at_most("a tensor name", longest_tensor_name);
    const auto refuse = [&](const std::string& reason) {
      in_.refuse(printable(tensor.name) + ": " + reason);
    };
    tensor.dimensions = in_.number<std::uint32_t>();
    if (tensor.dimensions > 4) {
      refuse(std::to_string(tensor.dimensions) + " dimensions, at most 4 are allowed");
    }
    std::uint64_t elements = 1;
    for (std::uint32_t i = 0; i < tensor.dimensions; ++i) {
      tensor.dims[i] = length();
      if (tensor.dims[i] > static_cast<std::uint64_t>(INT64_MAX)) refuse("a dimension is negative");
      if (tensor.dims[i] != 0 && elements > static_cast<std::uint64_t>(INT64_MAX) / tensor.dims[i]) {
        refuse("has more than 2^63 elements");
      }
      elements *= tensor.dims[i];
    }
    const std::uint32_t id = in_.number<std::uint32_t>();
    const ggml_type* type = find_ggml_type(id);
    if (type == nullptr) refuse("ggml type " + std::to_string(id) + " is unknown or was removed");
    tensor.type = *type;
    if (tensor.columns() % type->format.block_elements != 0) {
      refuse("a row of " + std::to_string(tensor.columns()) + " elements is not a whole number of " +
             type->format.name + " blocks of " + std::to_string(type->format.block_elements));
    }
    tensor.offset = in_.number<std::uint64_t>();
    if (tensor.offset != part_.layout.data_bytes) {
      refuse("its data is at offset " + std::to_string(tensor.offset) + ", expected " +
             std::to_string(part_.layout.data_bytes) + ", where the tensor before it ends");
    }
    tensor.bytes = checked_mul(type->row_size(tensor.columns()), tensor.rows());
    part_.layout.data_bytes =
        checked_add(part_.layout.data_bytes, round_up(tensor.bytes, part_.layout.alignment));
    part_.tensors.push_back(std::move(tensor));
  }

  byte_reader in_;
  gguf_limits limits_;
  gguf_part part_{};
};

}  // namespace detail

/// Reads the header of one GGUF file (versions 1 to 3, either byte order) from a byte source; `name` is what
/// messages call it. Arrays, such as a tokenizer's 250,000 texts, are passed over. The tensors' data is not
/// read and may be missing. A header that is cut short or breaks a rule of the format throws `input_error`:
/// one line with file, part and byte.
///
/// Source: ggml-org/llama.cpp, ggml/src/gguf.cpp (layout and checks), ggml/include/gguf.h.
[[nodiscard]] inline gguf_part read_gguf_part(byte_source& source, std::string_view name,
                                              const gguf_limits& limits = {}) {
  const std::string shown = detail::printable(name);
  return detail::naming_the_file(shown,
                                 [&] { return detail::gguf_part_reader(source, shown, limits).read(); });
}

}  // namespace kvbudget::inline v0
