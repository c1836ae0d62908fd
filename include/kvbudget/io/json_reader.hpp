#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/io/input_error.hpp"
#include "kvbudget/io/read_file.hpp"

namespace kvbudget::inline v0 {

/// What a JSON reader accepts at most; anything beyond is refused with a message.
struct json_limits {
  std::uint64_t bytes = std::uint64_t{1} << 20;
  std::size_t depth = 64;       ///< arrays and objects inside each other
  bool null_is_absent = false;  ///< `"key": null` reads like a missing key (Hugging Face's habit)
  /// Python writes NaN, Infinity and -Infinity, which JSON does not have: they are read as text, so that only
  /// who needs that value stumbles over it.
  bool python_literals = false;
};

/// A parsed file and the name under which errors speak of it.
struct json_document {
  std::string source;
  nlohmann::json root;
  bool null_is_absent = false;
};

namespace detail {

/// The text with each NaN, Infinity and -Infinity outside quotes in quotes.
[[nodiscard]] inline std::string quote_python_literals(std::string_view text) {
  std::string result;
  result.reserve(text.size() + 16);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t length = 1;
    if (quoted) {
      if (text[i] == '\\' && i + 1 < text.size()) length = 2;
      if (text[i] == '"') quoted = false;
    } else if (text[i] == '"') {
      quoted = true;
    } else {
      for (const std::string_view literal : {"NaN", "Infinity", "-Infinity"}) {
        if (text.substr(i, literal.size()) != literal) continue;
        result.append("\"").append(literal).append("\"");
        i += literal.size();
        length = 0;
        break;
      }
    }
    result.append(text.substr(i, length));
    i += length;
  }
  return result;
}

/// Refuses text that is not JSON, with the parser's own reason and place.
[[noreturn]] inline void refuse_json(const std::string& source, const nlohmann::json::exception& problem) {
  std::string_view reason = problem.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
  if (const std::size_t end = reason.find("] "); end != std::string_view::npos) reason.remove_prefix(end + 2);
  refuse_input(source + ": is not valid JSON: " + printable(reason));
}

/// Builds a document as it is parsed, and stops at what the limits forbid before anything is kept of it.
class json_builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  using json = nlohmann::json;
  json_builder(json& root, const std::string& source, std::size_t depth)
      : root_(root), source_(source), depth_(depth) {
    open_.reserve(8);
  }

  bool null() override { return keep(nullptr); }
  bool boolean(bool value) override { return keep(value); }
  bool number_integer(json::number_integer_t value) override { return keep(value); }
  bool number_unsigned(json::number_unsigned_t value) override { return keep(value); }
  bool number_float(json::number_float_t value, const std::string&) override { return keep(value); }
  bool string(std::string& value) override { return keep(std::move(value)); }
  bool binary(json::binary_t& value) override { return keep(std::move(value)); }
  bool start_object(std::size_t) override { return open(json::value_t::object); }
  bool start_array(std::size_t) override { return open(json::value_t::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    auto& members = open_.back()->get_ref<json::object_t&>();
    const auto [member, fresh] = members.try_emplace(std::move(name));
    if (!fresh) refuse_input(source_ + ": key \"" + printable(member->first, 60) + "\" occurs twice");
    member_ = &member->second;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception& problem) override {
    refuse_json(source_, problem);
  }

 private:
  template <class Value> json& place(Value&& value) {
    if (open_.empty()) return root_ = json(std::forward<Value>(value));
    if (open_.back()->is_array()) {
      auto& elements = open_.back()->template get_ref<json::array_t&>();
      return elements.emplace_back(std::forward<Value>(value));
    }
    return *member_ = json(std::forward<Value>(value));
  }
  template <class Value> bool keep(Value&& value) {
    place(std::forward<Value>(value));
    return true;
  }
  bool open(json::value_t kind) {
    if (open_.size() == depth_) {
      refuse_input(source_ + ": nests deeper than " + std::to_string(depth_) + " levels");
    }
    open_.push_back(&place(kind));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  json& root_;
  const std::string& source_;
  std::size_t depth_;
  std::vector<json*> open_;  ///< objects and arrays around the place that is read; they do not move
  json* member_ = nullptr;
};

}  // namespace detail

/// Parses JSON text. Malformed text, a key that occurs twice in one object, and what exceeds the limits
/// throw `input_error`, which names `source`.
[[nodiscard]] inline json_document parse_json(std::string_view text, std::string source,
                                              const json_limits& limits = {}) {
  source = detail::printable(source);
  if (text.size() > limits.bytes) {
    detail::refuse_input(source + ": is larger than the " + std::to_string(limits.bytes) +
                         " bytes that are accepted");
  }
  std::string python;
  const bool has_python_literals =
      limits.python_literals &&
      (text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos);
  if (has_python_literals) {
    python = detail::quote_python_literals(text);
    text = python;
  }
  json_document document{std::move(source), nullptr, limits.null_is_absent};
  detail::json_builder builder(document.root, document.source, limits.depth);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return document;
}

/// Reads and parses a JSON file; see `parse_json` and `json_limits`.
[[nodiscard]] inline json_document load_json(const std::filesystem::path& path,
                                             const json_limits& limits = {}) {
  return parse_json(detail::read_file(path, limits.bytes), path.string(), limits);
}

/// One place in a JSON document, with its path for messages (`memory.driver_total_bytes`, `aliases[2]`).
///
/// Refers to the document, which must outlive it. Every accessor checks the type; what does not fit throws
/// `input_error` as `source: path: what was expected`.
class json_field {
 public:
  explicit json_field(const json_document& document)
      : json_field(document.root, document.source, "", document.null_is_absent) {}
  explicit json_field(json_document&&) = delete;
  /// A value that came from elsewhere than a file; `source` is what messages call it and must outlive this.
  json_field(const nlohmann::json& value, const std::string& source, std::string path = "",
             bool null_is_absent = false)
      : value_(&value), source_(&source), parent_(std::move(path)), null_is_absent_(null_is_absent) {}

  [[nodiscard]] const nlohmann::json& value() const { return *value_; }
  [[nodiscard]] const std::string& source() const { return *source_; }
  /// Put together only where a message needs it: most fields are read once and are right.
  [[nodiscard]] std::string path() const {
    switch (step_) {
      case step::none: break;
      case step::key: return parent_.empty() ? *key_ : parent_ + "." + *key_;
      case step::index: return parent_ + "[" + std::to_string(index_) + "]";
    }
    return parent_;
  }

  /// Throws `source: path: reason`.
  [[noreturn]] void refuse(std::string_view reason) const {
    std::string line = *source_ + ": ";
    if (const std::string where = path(); !where.empty()) line += detail::printable(where) + ": ";
    detail::refuse_input(line + detail::printable(reason, 400));
  }

  // -- members of an object ---------------------------------------------------------------------------------

  /// Stops unless this is an object.
  const json_field& as_object() const {
    if (!value_->is_object()) refuse(std::string("must be an object, not ") + kind());
    return *this;
  }

  /// Stops at a member that is not in the list: a misspelt figure must not be lost silently.
  void allow_only(std::initializer_list<std::string_view> known) const {
    as_object();
    for (const auto& [key, unused] : value_->items()) {
      bool listed = false;
      for (const std::string_view name : known) listed = listed || name == key;
      if (listed) continue;
      std::string line = "unknown key \"" + detail::printable(key, 60) + "\", expected one of";
      for (const std::string_view name : known) line.append(" ").append(name);
      refuse(line);
    }
  }

  [[nodiscard]] std::optional<json_field> find(std::string_view key) const {
    as_object();
    const auto member = value_->find(key);
    if (member == value_->end() || (null_is_absent_ && member->is_null())) return std::nullopt;
    json_field found(*member, *source_, path(), null_is_absent_);
    found.step_ = step::key;
    found.key_ = &member.key();
    return found;
  }

  [[nodiscard]] json_field at(std::string_view key) const {
    std::optional<json_field> member = find(key);
    if (!member) refuse("key \"" + std::string(key) + "\" is missing");
    return *member;
  }

  [[nodiscard]] std::uint64_t required_integer(const std::string& key) const { return at(key).integer(); }
  [[nodiscard]] std::optional<std::uint64_t> optional_integer(const std::string& key) const {
    const std::optional<json_field> member = find(key);
    if (!member) return std::nullopt;
    return member->integer();
  }
  [[nodiscard]] double required_number(const std::string& key) const { return at(key).number(); }
  [[nodiscard]] std::optional<double> optional_number(const std::string& key) const {
    const std::optional<json_field> member = find(key);
    if (!member) return std::nullopt;
    return member->number();
  }
  [[nodiscard]] const std::string& required_text(const std::string& key) const { return at(key).text(); }
  [[nodiscard]] std::optional<std::string> optional_text(const std::string& key) const {
    const std::optional<json_field> member = find(key);
    if (!member) return std::nullopt;
    return member->text();
  }
  [[nodiscard]] bool required_flag(const std::string& key) const { return at(key).flag(); }
  [[nodiscard]] std::optional<bool> optional_flag(const std::string& key) const {
    const std::optional<json_field> member = find(key);
    if (!member) return std::nullopt;
    return member->flag();
  }

  // -- elements of an array ---------------------------------------------------------------------------------

  /// Stops unless this is an array; the number of its elements.
  [[nodiscard]] std::size_t size() const {
    if (!value_->is_array()) refuse(std::string("must be an array, not ") + kind());
    return value_->size();
  }
  [[nodiscard]] json_field at(std::size_t index) const {
    if (index >= size()) refuse("has no element " + std::to_string(index));
    json_field element((*value_)[index], *source_, path(), null_is_absent_);
    element.step_ = step::index;
    element.index_ = index;
    return element;
  }
  /// The text of an element, as `at(index).text()`.
  [[nodiscard]] const std::string& text_at(std::size_t index) const {
    if (index >= size() || !(*value_)[index].is_string()) return at(index).text();
    return (*value_)[index].get_ref<const std::string&>();
  }

  // -- this value itself ------------------------------------------------------------------------------------

  /// A whole number from 0 to 2^63 − 1; negative, fractional and larger ones stop.
  [[nodiscard]] std::uint64_t integer() const {
    if (value_->is_number_unsigned()) {
      const auto number = value_->get<std::uint64_t>();
      if (number > static_cast<std::uint64_t>(INT64_MAX)) refuse("must be below 2^63");
      return number;
    }
    if (value_->is_number_integer()) {  // also what a program put in as a signed number
      const auto number = value_->get<std::int64_t>();
      if (number < 0) refuse("must not be negative");
      return static_cast<std::uint64_t>(number);
    }
    if (value_->is_number_float()) {
      if (const auto number = value_->get<double>(); number >= 9.2e18 || number <= -9.2e18) {
        refuse("must be a whole number below 2^63");
      }
      refuse("must be a whole number, not a fractional one");
    }
    refuse(std::string("must be a whole number, not ") + kind());
  }

  /// A whole number from 1 to 2^63 − 1.
  [[nodiscard]] std::uint64_t positive_integer() const {
    const std::uint64_t number = integer();
    if (number == 0) refuse("must be above zero (leave out what is not known)");
    return number;
  }

  /// Any finite number.
  [[nodiscard]] double number() const {
    if (!value_->is_number()) refuse(std::string("must be a number, not ") + kind());
    return value_->get<double>();
  }

  [[nodiscard]] const std::string& text() const {
    if (!value_->is_string()) refuse(std::string("must be text, not ") + kind());
    return value_->get_ref<const std::string&>();
  }

  [[nodiscard]] bool flag() const {
    if (!value_->is_boolean()) refuse(std::string("must be true or false, not ") + kind());
    return value_->get<bool>();
  }

  /// Text that fits into a name of `Size` characters with its closing zero, without control characters.
  template <std::size_t Size> void copy_text(char (&name)[Size]) const {
    const std::string& from = text();
    if (from.empty()) refuse("must not be empty");
    if (from.size() >= Size) {
      refuse("has " + std::to_string(from.size()) + " characters, at most " + std::to_string(Size - 1) +
             " are kept");
    }
    for (const char c : from) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) refuse("must not hold control characters");
    }
    for (std::size_t i = 0; i < Size; ++i) name[i] = i < from.size() ? from[i] : '\0';
  }

 private:
  [[nodiscard]] const char* kind() const {
    if (value_->is_null()) return "null";
    if (value_->is_boolean()) return "true or false";
    if (value_->is_number()) return "a number";
    if (value_->is_string()) return "text";
    if (value_->is_array()) return "an array";
    return "an object";
  }

  enum class step : std::uint8_t { none, key, index };

  const nlohmann::json* value_;
  const std::string* source_;
  std::string parent_;  ///< path of what this is a member or an element of
  const std::string* key_ = nullptr;
  std::size_t index_ = 0;
  step step_ = step::none;
  bool null_is_absent_;
};

namespace detail {

/// Calls `build()`; a rule of the library that it breaks (an `error` without a place) is reported at `place`.
template <class Build> auto naming_the_place(const json_field& place, Build&& build) {
  try {
    return build();
  } catch (const input_error&) {
    throw;
  } catch (const error& rule) {
    place.refuse(rule.what());
  }
}

}  // namespace detail
}  // namespace kvbudget::inline v0
