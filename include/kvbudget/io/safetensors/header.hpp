#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "kvbudget/detail/checked.hpp"
#include "kvbudget/io/input_error.hpp"
#include "kvbudget/io/safetensors/dtype.hpp"
#include "kvbudget/io/safetensors/json_events.hpp"
#include "kvbudget/io/safetensors/stored_tensor.hpp"

namespace kvbudget::inline v0 {

/// What the header of one `.safetensors` file says, checked against itself and the size of the file.
struct safetensors_header {
  std::vector<stored_tensor> tensors;  ///< sorted by name
  std::uint64_t header_bytes = 0;      ///< with the eight bytes of its length
  std::uint64_t data_bytes = 0;
  bool data_is_missing = false;  ///< the file ends with its header
};

/// The largest header that the format allows (huggingface/safetensors, safetensors/src/tensor.rs,
/// `MAX_HEADER_SIZE`).
inline constexpr std::uint64_t max_safetensors_header_bytes = 100'000'000;

namespace detail {

inline constexpr std::size_t max_tensor_dimensions = 64;

/// The header's JSON: `{"name": {"dtype": …, "shape": […], "data_offsets": [first, last]}, …}` and
/// `__metadata__`.
class safetensors_header_events final : public json_events {
 public:
  using json_events::json_events;

  bool start_object(std::size_t) override {
    if (level_ == level::outside) {
      level_ = level::file;
    } else if (level_ == level::file && name_ == "__metadata__") {
      level_ = level::metadata;
    } else if (level_ == level::file) {
      level_ = level::tensor;
      tensor_ = stored_tensor{};
      seen_dtype_ = seen_shape_ = seen_offsets_ = false;
      offset_count_ = 0;
    } else {
      unexpected("an object");
    }
    return true;
  }
  bool key(string_t& name) override {
    if (level_ == level::file) name_ = std::move(name);
    if (level_ == level::tensor) start_field(name);
    return true;
  }
  bool end_object() override {
    if (level_ == level::tensor) finish_tensor();
    level_ = level_ == level::file ? level::outside : level::file;
    return true;
  }
  bool start_array(std::size_t) override {
    if (level_ == level::tensor && field_ == field::shape) {
      level_ = level::shape;
    } else if (level_ == level::tensor && field_ == field::offsets) {
      level_ = level::offsets;
    } else {
      unexpected("an array");
    }
    return true;
  }
  bool end_array() override {
    if (level_ == level::offsets && offset_count_ != 2) refuse("data_offsets must have two elements");
    level_ = level::tensor;
    return true;
  }
  bool string(string_t& text) override {
    if (level_ == level::metadata) return true;
    if (level_ != level::tensor || field_ != field::dtype) unexpected("text");
    const auto dtype = safetensors_dtype_named(text);
    if (!dtype) refuse("dtype \"" + printable(text, 40) + "\" is unknown");
    tensor_.dtype = *dtype;
    return true;
  }
  bool number_unsigned(number_unsigned_t number) override {
    if (level_ == level::shape) {
      if (tensor_.shape.size() == max_tensor_dimensions) {
        refuse("shape has more than " + std::to_string(max_tensor_dimensions) + " dimensions");
      }
      tensor_.shape.push_back(number);
    } else if (level_ == level::offsets) {
      if (offset_count_ == 2) refuse("data_offsets must have two elements");
      offsets_[offset_count_++] = number;
    } else {
      unexpected("a number");
    }
    return true;
  }

  [[nodiscard]] std::vector<stored_tensor> tensors() && { return std::move(tensors_); }

 private:
  enum class level { outside, file, metadata, tensor, shape, offsets };
  enum class field { dtype, shape, offsets };

  [[nodiscard]] std::string place() const override {
    if (level_ == level::outside || level_ == level::file) return "";
    if (level_ == level::metadata) return "__metadata__";
    return "tensor \"" + printable(name_, 120) + "\"";
  }
  [[nodiscard]] const char* expected() const override {
    switch (level_) {
      case level::outside: return "an object";
      case level::file: return "an object for each tensor";
      case level::metadata: return "text for each key";
      case level::shape: return "whole numbers in its shape";
      case level::offsets: return "whole numbers in its data_offsets";
      case level::tensor: break;
    }
    return field_ == field::dtype   ? "text as its dtype"
           : field_ == field::shape ? "an array as its shape"
                                    : "an array as its data_offsets";
  }

  void start_field(const std::string& name) {
    bool* seen = nullptr;
    if (name == "dtype") {
      field_ = field::dtype;
      seen = &seen_dtype_;
    } else if (name == "shape") {
      field_ = field::shape;
      seen = &seen_shape_;
    } else if (name == "data_offsets") {
      field_ = field::offsets;
      seen = &seen_offsets_;
    } else {
      refuse("unknown key \"" + printable(name, 60) + "\", expected dtype, shape and data_offsets");
    }
    if (*seen) refuse("key \"" + name + "\" occurs twice");
    *seen = true;
  }

  void finish_tensor() {
    if (!seen_dtype_) refuse("key \"dtype\" is missing");
    if (!seen_shape_) refuse("key \"shape\" is missing");
    if (!seen_offsets_) refuse("key \"data_offsets\" is missing");
    tensor_.elements = 1;
    for (const std::uint64_t length : tensor_.shape) tensor_.elements = product(tensor_.elements, length);
    const std::uint64_t bits = product(tensor_.elements, bits_of(tensor_.dtype));
    if (bits % 8 != 0) {
      refuse(std::to_string(tensor_.elements) + " elements of " + name_of(tensor_.dtype) +
             " do not fill whole bytes");
    }
    tensor_.bytes = bits / 8;
    const std::uint64_t first = offsets_[0];
    const std::uint64_t last = offsets_[1];
    if (last < first) refuse("data_offsets end before they begin");
    if (last - first != tensor_.bytes) {
      refuse("data_offsets span " + std::to_string(last - first) + " bytes, but its shape in " +
             name_of(tensor_.dtype) + " takes " + std::to_string(tensor_.bytes));
    }
    tensor_.data_offset = first;
    tensor_.name = std::move(name_);
    name_.clear();
    tensors_.push_back(std::move(tensor_));
  }

  [[nodiscard]] std::uint64_t product(std::uint64_t a, std::uint64_t b) const {
    if (b != 0 && a > UINT64_MAX / b) refuse("its size does not fit in 64 bits");
    return a * b;
  }

  level level_ = level::outside;
  field field_ = field::dtype;
  std::string name_;
  stored_tensor tensor_;
  bool seen_dtype_ = false;
  bool seen_shape_ = false;
  bool seen_offsets_ = false;
  std::size_t offset_count_ = 0;
  std::uint64_t offsets_[2] = {};
  std::vector<stored_tensor> tensors_;
};

[[noreturn]] inline void refuse_tensor(const std::string& source, const stored_tensor& tensor,
                                       const std::string& reason) {
  refuse_input(source + ": tensor \"" + printable(tensor.name, 120) + "\": " + reason);
}

/// Tensors must follow each other from byte 0 on without holes (as in huggingface/safetensors,
/// safetensors/src/tensor.rs, `Metadata::validate`); returns where the last one ends.
[[nodiscard]] inline std::uint64_t end_of_data(const std::vector<stored_tensor>& tensors,
                                               const std::string& source) {
  std::vector<const stored_tensor*> in_order;
  in_order.reserve(tensors.size());
  for (const stored_tensor& tensor : tensors) in_order.push_back(&tensor);
  std::sort(in_order.begin(), in_order.end(), [](const stored_tensor* a, const stored_tensor* b) {
    return a->data_offset != b->data_offset ? a->data_offset < b->data_offset : a->bytes < b->bytes;
  });
  std::uint64_t end = 0;
  for (const stored_tensor* tensor : in_order) {
    if (tensor->data_offset < end) refuse_tensor(source, *tensor, "overlaps the tensor before it");
    if (tensor->data_offset > end) {
      refuse_tensor(source, *tensor,
                    "starts at byte " + std::to_string(tensor->data_offset) + " of the data, " +
                        std::to_string(tensor->data_offset - end) +
                        " behind the end of the tensor before it");
    }
    end += tensor->bytes;
  }
  return end;
}

inline void refuse_equal_names(const std::vector<stored_tensor>& sorted, const std::string& source) {
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].name == sorted[i - 1].name) refuse_tensor(source, sorted[i], "occurs twice");
  }
}

/// The length in the first eight bytes (little endian), checked against the format's limit and the file.
[[nodiscard]] inline std::uint64_t header_length(std::string_view start, std::uint64_t file_bytes,
                                                 const std::string& source) {
  if (file_bytes < 8 || start.size() < 8) {
    refuse_input(source + ": has " + std::to_string(file_bytes) +
                 " bytes, a safetensors file starts with the 8 bytes of its header's length");
  }
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(start[i]);
  if (length > max_safetensors_header_bytes) {
    refuse_input(source + ": says that its header has " + std::to_string(length) + " bytes, at most " +
                 std::to_string(max_safetensors_header_bytes) + " are accepted: is it a safetensors file?");
  }
  if (length > file_bytes - 8) {
    refuse_input(source + ": is cut off: its header has " + std::to_string(length) +
                 " bytes, the file only " + std::to_string(file_bytes - 8) + " behind the length");
  }
  return length;
}

/// The header from its text, for a file of that size.
[[nodiscard]] inline safetensors_header header_from_text(std::string_view text, std::uint64_t file_bytes,
                                                         const std::string& source) {
  if (text.empty() || text.front() != '{') refuse_input(source + ": its header does not start with \"{\"");
  safetensors_header_events events(source);
  events.read(text);
  safetensors_header header;
  header.tensors = std::move(events).tensors();
  sort_by_name(header.tensors);
  refuse_equal_names(header.tensors, source);
  header.header_bytes = 8 + std::uint64_t{text.size()};
  header.data_bytes = end_of_data(header.tensors, source);
  const std::uint64_t there = file_bytes - header.header_bytes;
  header.data_is_missing = there == 0 && header.data_bytes != 0;
  if (!header.data_is_missing && there != header.data_bytes) {
    refuse_input(source + ": its tensors take " + std::to_string(header.data_bytes) +
                 " bytes, but the file has " + std::to_string(there) + " behind the header" +
                 (there < header.data_bytes ? ": it is cut off" : ""));
  }
  return header;
}

}  // namespace detail

/// The header in the first bytes of a `.safetensors` file that has `file_bytes` bytes in all; `source` is
/// what errors call it. A header that is cut off, longer than 100 MB or not JSON, an unknown dtype, a tensor
/// whose data_offsets do not span shape × dtype, tensors that overlap or leave holes, a name that occurs
/// twice, and a file that is longer or shorter than its tensors throw `input_error`. A file that ends with
/// its header is accepted and marked.
[[nodiscard]] inline safetensors_header read_safetensors_header(std::string_view start,
                                                                std::uint64_t file_bytes,
                                                                std::string_view source) {
  const std::string name = detail::printable(source);
  const std::uint64_t length = detail::header_length(start, file_bytes, name);
  if (start.size() - 8 < length) {
    detail::refuse_input(name + ": is cut off in its header of " + std::to_string(length) + " bytes");
  }
  return detail::header_from_text(start.substr(8, static_cast<std::size_t>(length)), file_bytes, name);
}

/// The same from a file, of which only the header is read.
[[nodiscard]] inline safetensors_header load_safetensors_header(const std::filesystem::path& path) {
  const std::string name = detail::printable(path.string());
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem)) {
    detail::refuse_input(
        name + (std::filesystem::exists(path, problem) ? ": is not a regular file" : ": no such file"));
  }
  const std::uint64_t file_bytes = std::filesystem::file_size(path, problem);
  if (problem) detail::refuse_input(name + ": " + problem.message());
  std::ifstream in(path, std::ios::binary);
  std::string start(8, '\0');
  in.read(start.data(), 8);
  start.resize(static_cast<std::size_t>(in.gcount()));
  const std::uint64_t length = detail::header_length(start, file_bytes, name);
  std::string text;
  while (text.size() < length && in) {  // grows with what is really there
    char block[64 * 1024];
    const std::uint64_t rest = detail::smaller<std::uint64_t>(length - text.size(), sizeof(block));
    in.read(block, static_cast<std::streamsize>(rest));
    text.append(block, static_cast<std::size_t>(in.gcount()));
  }
  if (text.size() != length) detail::refuse_input(name + ": its header cannot be read");
  return detail::header_from_text(text, file_bytes, name);
}

}  // namespace kvbudget::inline v0
