#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/format/formats.hpp"
#include "kvbudget/io/json_reader.hpp"

namespace kvbudget::inline v0::detail {

/// The names under which config files give one value, the usual one first.
struct key_names {
  const char* names[3] = {};

  [[nodiscard]] constexpr const char* usual() const { return names[0]; }
};

/// A yes or no that a family always gives (`key` null), or reads from a key with a default.
struct toggle {
  const char* key = nullptr;
  bool fallback = false;
};

/// What reading a config brings to light, a line each.
struct config_remarks {
  std::vector<std::string> notes;   ///< all of it
  std::vector<std::string> doubts;  ///< those of the notes that say which figures cannot be trusted
};

/// A Hugging Face config object as its class reads it: a key may be absent (the class default counts), null
/// ("none", or "derive it"), or given. What is taken from a default is written down in `remarks`.
class config_view {
 public:
  config_view(json_field object, const char* model_type, config_remarks& remarks)
      : object_(std::move(object)), model_type_(model_type), remarks_(&remarks) {
    object_.as_object();
  }

  /// An object inside this one; `model_type` names the class that reads it, where that is another one.
  [[nodiscard]] config_view nested(const json_field& object, const char* model_type = nullptr) const {
    return config_view(object, model_type != nullptr ? model_type : model_type_, *remarks_);
  }
  [[nodiscard]] const json_field& field() const { return object_; }
  [[nodiscard]] const char* model_type() const { return model_type_; }

  /// The value under the first of the names that is present and not null.
  [[nodiscard]] std::optional<json_field> find(const key_names& keys) const {
    for (const char* name : keys.names) {
      if (name == nullptr) break;
      std::optional<json_field> member = object_.find(name);
      if (member && !member->value().is_null()) return member;
    }
    return std::nullopt;
  }
  [[nodiscard]] bool is_null(const key_names& keys) const {
    for (const char* name : keys.names) {
      if (name == nullptr) break;
      const std::optional<json_field> member = object_.find(name);
      if (member) return member->value().is_null();
    }
    return false;
  }

  /// A size that must be there.
  [[nodiscard]] std::uint32_t size(const key_names& keys) const { return size_or(keys, 0); }

  /// A size from 1 to 2^32 − 1, else the class default; a `class_default` of 0 says that there is none.
  [[nodiscard]] std::uint32_t size_or(const key_names& keys, std::uint32_t class_default) const {
    if (const std::optional<json_field> member = find(keys)) return size_in(*member);
    if (class_default == 0) refuse_missing(keys);
    note_default(keys.usual(), std::to_string(class_default));
    return class_default;
  }

  /// A token count from 1 to 2^63 − 1, if there is one.
  [[nodiscard]] std::optional<std::uint64_t> tokens_in(const key_names& keys) const {
    const std::optional<json_field> member = find(keys);
    if (!member) return std::nullopt;
    const std::uint64_t count = member->integer();
    if (count == 0) member->refuse("must be at least 1, not 0");
    return count;
  }

  [[nodiscard]] bool flag(const toggle& asked) const {
    if (asked.key == nullptr) return asked.fallback;
    const std::optional<json_field> member = find({{asked.key}});
    return member ? member->flag() : asked.fallback;
  }

  /// A whole number from 1 to 2^32 − 1.
  [[nodiscard]] static std::uint32_t size_in(const json_field& member) {
    const std::uint64_t number = member.integer();
    if (number == 0) member.refuse("must be at least 1, not 0");
    if (number > UINT32_MAX) member.refuse("must be below 2^32, not " + std::to_string(number));
    return static_cast<std::uint32_t>(number);
  }

  /// What was read, assumed or left out by a rule: the figures stand.
  void note(std::string line) const { remarks_->notes.push_back(std::move(line)); }
  /// What the config does not tell, or what is not counted: some figure may be another.
  void doubt(std::string line) const {
    remarks_->doubts.push_back(line);
    note(std::move(line));
  }
  void note_default(const char* key, const std::string& value) const {
    note(std::string(key) + " is absent: assumed to be " + value + ", the default of " + model_type_ +
         " configs");
  }
  [[noreturn]] void refuse(std::string_view reason) const { object_.refuse(reason); }
  [[noreturn]] void refuse_missing(const key_names& keys) const {
    const char* fault = is_null(keys) ? " is null" : " is missing";
    std::string line = std::string("key \"") + keys.usual() + "\"" + fault;
    for (std::size_t i = 1; i < 3 && keys.names[i] != nullptr; ++i) {
      line += std::string(i == 1 ? " (also read from \"" : ", \"") + keys.names[i] + "\"";
    }
    if (keys.names[1] != nullptr) line += ")";
    refuse(line + ": " + model_type_ + " needs it");
  }

 private:
  json_field object_;
  const char* model_type_;
  config_remarks* remarks_;
};

/// Where a config names the format of recurrent states.
inline constexpr key_names state_dtype_keys{{"mamba_ssm_cache_dtype", "mamba_ssm_dtype"}};

/// The number format that a PyTorch dtype names, with or without `torch.` in front; automatic for "auto".
[[nodiscard]] inline number_format dtype_in(const json_field& member) {
  std::string_view name = member.text();
  if (name.substr(0, 6) == "torch.") name.remove_prefix(6);
  constexpr struct {
    const char* name;
    const number_format* format;
  } known[] = {{"bfloat16", &formats::bf16},
               {"float16", &formats::fp16},
               {"half", &formats::fp16},
               {"float32", &formats::fp32},
               {"float", &formats::fp32},
               {"float64", &formats::fp64},
               {"float8_e4m3fn", &formats::fp8_e4m3},
               {"float8_e5m2", &formats::fp8_e5m2},
               {"auto", &formats::automatic}};
  for (const auto& entry : known) {
    if (name == entry.name) return *entry.format;
  }
  member.refuse("dtype \"" + printable(name, 40) +
                "\" is unknown, expected bfloat16, float16, float32, "
                "float64, float8_e4m3fn or float8_e5m2");
}

}  // namespace kvbudget::inline v0::detail
