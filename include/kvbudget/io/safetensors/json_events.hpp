#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "kvbudget/io/input_error.hpp"
#include "kvbudget/io/json_reader.hpp"

namespace kvbudget::inline v0::detail {

/// JSON of a fixed shape read value by value, so that memory follows what is kept and not what the text
/// holds. Every value that a reader does not expect is refused with its place.
class json_events : public nlohmann::json::json_sax_t {
 public:
  explicit json_events(std::string source) : source_(std::move(source)) {}

  /// Reads the whole text; what is not JSON is refused.
  void read(std::string_view text) { nlohmann::json::sax_parse(text.begin(), text.end(), this); }

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("true or false"); }
  bool number_integer(number_integer_t) override { unexpected("a negative number"); }
  bool number_unsigned(number_unsigned_t) override { unexpected("a number"); }
  bool number_float(number_float_t, const string_t&) override { unexpected("a fractional number"); }
  bool string(string_t&) override { unexpected("text"); }
  bool binary(binary_t&) override { unexpected("binary data"); }
  bool start_array(std::size_t) override { unexpected("an array"); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& problem) override {
    refuse_json(source_, problem);
  }

 protected:
  /// What is being read, for messages: `tensor "x"`; empty at the top.
  [[nodiscard]] virtual std::string place() const = 0;
  /// What is expected there.
  [[nodiscard]] virtual const char* expected() const = 0;

  [[noreturn]] void refuse(std::string_view reason) const {
    const std::string where = place();
    refuse_input(source_ + ": " + (where.empty() ? where : where + ": ") + std::string(reason));
  }
  [[noreturn]] void unexpected(const char* kind) const {
    refuse(std::string("must be ") + expected() + ", not " + kind);
  }
  [[nodiscard]] const std::string& source() const { return source_; }

 private:
  std::string source_;
};

}  // namespace kvbudget::inline v0::detail
