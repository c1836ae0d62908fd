#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kvbudget/detail/text.hpp"
#include "kvbudget/format/formats.hpp"
#include "kvbudget/format/kv_format.hpp"
#include "kvbudget/format/weight_scheme.hpp"
#include "kvbudget/io/input_error.hpp"
#include "kvbudget/lookup/nearest.hpp"
#include "kvbudget/model/model_architecture.hpp"
#include "kvbudget/model/weight_group.hpp"

/// Formats and modules by the names that people type. Letter case, `-`, `_` and blanks do not matter; besides
/// the library's own names the usual synonyms are known. A name without an answer throws `input_error` with
/// the nearest ones.
namespace kvbudget::inline v0 {

namespace detail {

/// One further name of something.
template <class T> struct synonym {
  const char* name;
  const T* means;
};

inline constexpr synonym<number_format> number_format_synonyms[] = {
    {"float64", &formats::fp64},
    {"f64", &formats::fp64},
    {"float32", &formats::fp32},
    {"f32", &formats::fp32},
    {"float", &formats::fp32},
    {"float16", &formats::fp16},
    {"f16", &formats::fp16},
    {"half", &formats::fp16},
    {"bfloat16", &formats::bf16},
    {"fp8", &formats::fp8_e4m3},
    {"e4m3", &formats::fp8_e4m3},
    {"fp8_e4m3fn", &formats::fp8_e4m3},
    {"float8_e4m3fn", &formats::fp8_e4m3},
    {"e5m2", &formats::fp8_e5m2},
    {"float8_e5m2", &formats::fp8_e5m2},
    {"i8", &formats::int8},
    {"i4", &formats::int4},
    {"nf4_double_quant", &formats::nf4_double_quant}};

inline constexpr synonym<weight_scheme> weight_scheme_synonyms[] = {
    {"fp8_dynamic", &schemes::fp8_channel},           {"fp8_per_channel", &schemes::fp8_channel},
    {"fp8_per_tensor", &schemes::fp8_linear},         {"int8_w8a8", &schemes::int8_channel},
    {"int8_per_channel", &schemes::int8_channel},     {"llm.int8", &schemes::llm_int8},
    {"w4a16_asymmetric", &schemes::w4a16_asymmetric}, {"marlin", &schemes::gptq_marlin},
    {"nf4_double_quant", &schemes::nf4_double_quant}, {"bnb_nf4", &schemes::nf4}};

struct named_module {
  const char* name;
  module_role role;
};
inline constexpr named_module module_synonyms[] = {{"embed_tokens", module_role::embedding},
                                                   {"embeddings", module_role::embedding},
                                                   {"expert", module_role::expert},
                                                   {"shared_expert", module_role::shared_expert},
                                                   {"norm", module_role::norm},
                                                   {"head", module_role::lm_head},
                                                   {"gate", module_role::router},
                                                   {"routers", module_role::router}};

/// The names of the spellings nearest to what was asked; at most four.
class suggestions {
 public:
  explicit suggestions(const name_key& asked) : asked_(asked) {}
  void offer(const char* spelling, const char* name) {
    const name_key key = key_of(spelling);
    const std::size_t limit = near_.limit(spelling_limit(asked_));
    const std::size_t away = starts_with(key, asked_) ? 0 : edit_distance(asked_, key, limit);
    if (away > limit || asked_.length == 0) return;
    std::size_t at = 0;
    while (at < count_ && !same_text(names_[at], name)) ++at;
    if (at == count_) {
      if (count_ == most_names) return;
      names_[count_++] = name;
    }
    near_.offer(at, away);
  }
  /// ", did you mean a, b?"; where nothing is near, ", expected " and what is said here.
  [[nodiscard]] std::string text_or(const char* expected) const {
    std::string line;
    for (std::size_t i = 0; i < near_.count; ++i) {
      line += (i == 0 ? ", did you mean " : ", ") + std::string(names_[near_.index[i]]);
    }
    return line.empty() ? ", expected " + std::string(expected) : line + "?";
  }

 private:
  static constexpr std::size_t most_names = 192;
  name_key asked_;
  const char* names_[most_names] = {};
  std::size_t count_ = 0;
  nearest_entries<4> near_;
};

/// The entry of `all` or of `synonyms` with this name, or null.
template <class T, std::size_t Count, std::size_t Synonyms>
[[nodiscard]] const T* find_named(const name_key& key, const T* const (&all)[Count],
                                  const synonym<T> (&synonyms)[Synonyms]) {
  for (const T* each : all) {
    if (matches(key, each->name)) return each;
  }
  for (const synonym<T>& each : synonyms) {
    if (matches(key, each.name)) return each.means;
  }
  return nullptr;
}

template <class T, std::size_t Count, std::size_t Synonyms>
void offer_named(suggestions& near, const T* const (&all)[Count], const synonym<T> (&synonyms)[Synonyms]) {
  for (const T* each : all) near.offer(each->name, each->name);
  for (const synonym<T>& each : synonyms) near.offer(each.name, each.means->name);
}

[[nodiscard]] inline std::string quoted(std::string_view text) { return "\"" + printable(text, 60) + "\""; }

[[nodiscard]] inline std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The text before the next comma; moves `rest` behind it and sets `more` if there was one.
[[nodiscard]] inline std::string_view next_in_list(std::string_view& rest, bool& more) {
  const std::size_t comma = rest.find(',');
  const std::string_view part = rest.substr(0, comma);
  more = comma != std::string_view::npos;
  rest = more ? rest.substr(comma + 1) : std::string_view{};
  return without_blanks(part);
}

}  // namespace detail

/// The number format of that name: `bf16`, `float16`, `fp8` (E4M3), `q8_0`, `auto`, …
[[nodiscard]] inline const number_format& number_format_named(std::string_view name) {
  const detail::name_key key = detail::key_of(std::string(name).c_str());
  if (const number_format* found = detail::find_named(key, formats::all, detail::number_format_synonyms)) {
    return *found;
  }
  detail::suggestions near(key);
  detail::offer_named(near, formats::all, detail::number_format_synonyms);
  detail::refuse_input("number format " + detail::quoted(name) + " is unknown" +
                       near.text_or("a name like bf16, fp8, int8 or q8_0"));
}

/// The weight scheme of that name, or the plain scheme of the number format. Schemes win where both exist
/// (`nvfp4`, `mxfp4`, `nf4`): they cover the linear layers only and count scales exactly.
[[nodiscard]] inline weight_scheme weight_scheme_named(std::string_view name) {
  const detail::name_key key = detail::key_of(std::string(name).c_str());
  if (const weight_scheme* found = detail::find_named(key, schemes::all, detail::weight_scheme_synonyms)) {
    return *found;
  }
  if (const number_format* found = detail::find_named(key, formats::all, detail::number_format_synonyms)) {
    return found->is_automatic() ? weight_scheme{} : weight_scheme{*found};
  }
  detail::suggestions near(key);
  detail::offer_named(near, schemes::all, detail::weight_scheme_synonyms);
  detail::offer_named(near, formats::all, detail::number_format_synonyms);
  detail::refuse_input("weight format or scheme " + detail::quoted(name) + " is unknown" +
                       near.text_or("a name like bf16, fp8, int4, fp8_block, gptq, awq or q4_K"));
}

namespace detail {

[[nodiscard]] inline kv_format one_kv_format_named(std::string_view name) {
  constexpr synonym<kv_format> none[] = {{"fp8_per_token_per_head", &kv_formats::fp8_per_token_head},
                                         {"int8_per_token_per_head", &kv_formats::int8_per_token_head},
                                         {"nvfp4_4over6", &kv_formats::nvfp4}};
  const name_key key = key_of(std::string(name).c_str());
  if (const kv_format* found = find_named(key, kv_formats::all, none)) return *found;
  if (const number_format* found = find_named(key, formats::all, number_format_synonyms)) {
    return found->is_automatic() ? kv_format{} : kv_format{*found};
  }
  suggestions near(key);
  offer_named(near, kv_formats::all, none);
  offer_named(near, formats::all, number_format_synonyms);
  refuse_input("cache format " + quoted(name) + " is unknown" +
               near.text_or("a name like bf16, fp8, int8, int8_per_token_head or q8_0"));
}

/// Whether one side of the format means the same without the other side.
[[nodiscard]] inline bool is_two_independent_sides(const kv_format& format) {
  return !format.is_automatic() && format.residual == residual_rule::none && format.slot_multiple == 1 &&
         !format.has_latents;
}

}  // namespace detail

/// The cache format of that name, or `KEYS,VALUES` in two. Names of cache formats win over plain number
/// formats (`nvfp4` has its scales); `fp8` is E4M3 without scales.
[[nodiscard]] inline kv_format kv_format_named(std::string_view text) {
  bool more = false;
  std::string_view rest = text;
  const kv_format first = detail::one_kv_format_named(detail::next_in_list(rest, more));
  if (!more) return first;
  const kv_format second = detail::one_kv_format_named(detail::next_in_list(rest, more));
  if (more) {
    detail::refuse_input("cache format " + detail::quoted(text) +
                         " lists more than two formats, expected FORMAT or KEYS,VALUES");
  }
  for (const kv_format* side : {&first, &second}) {
    if (!detail::is_two_independent_sides(*side)) {
      detail::refuse_input("cache format " + detail::quoted(side->name) +
                           " covers keys and values together: it cannot be one side of a pair");
    }
  }
  kv_format both{"custom", first.key, second.value};
  return both;
}

namespace detail {

/// The name that the items of a module have below `weights`.
[[nodiscard]] inline const char* short_name_of(module_role role) {
  constexpr std::size_t prefix = sizeof("weights.") - 1;
  return name_of(role) + prefix;
}

[[nodiscard]] inline module_role module_named(std::string_view name) {
  const name_key key = key_of(std::string(name).c_str());
  suggestions near(key);
  for (std::size_t i = 0; i < module_role_count; ++i) {
    const auto role = static_cast<module_role>(i);
    if (matches(key, short_name_of(role))) return role;
    near.offer(short_name_of(role), short_name_of(role));
  }
  for (const named_module& each : module_synonyms) {
    if (matches(key, each.name)) return each.role;
    near.offer(each.name, short_name_of(each.role));
  }
  refuse_input("module " + quoted(name) + " is unknown" +
               near.text_or("names like lm_head, embedding, attention, mlp, experts, router or norms"));
}

}  // namespace detail

/// The modules of a comma-separated list of the names that items have below `weights`: `lm_head`,
/// `embedding`, `experts`, …
[[nodiscard]] inline module_set module_set_named(std::string_view list) {
  module_set result;
  std::string_view rest = list;
  for (bool more = true; more;) result = result.with(detail::module_named(detail::next_in_list(rest, more)));
  return result;
}

/// The names of what a checkpoint's weights are stored in: its precisions, and `dtype` for the rest.
[[nodiscard]] inline std::string stored_as(const model_architecture& model, const char* dtype) {
  std::string names;
  for (std::size_t i = 0; i < model.precision_count; ++i) names.append(model.precisions[i].name).append(", ");
  return names + dtype;
}

}  // namespace kvbudget::inline v0
