#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/format/formats.hpp"
#include "kvbudget/io/json_reader.hpp"
#include "kvbudget/lookup/layer_runs.hpp"
#include "kvbudget/model/model_architecture.hpp"

/// Models in the schema of `data/models/*.json`, which `docs/model-schema.md` describes.
namespace kvbudget::inline v0 {

/// A model file: the model, its names, and where its facts come from.
struct model_file {
  model_architecture architecture{};
  std::vector<std::string> huggingface;  ///< repositories with this architecture, `organisation/name`
  std::vector<std::string> aliases;      ///< further short names
  std::vector<std::string> sources;
  std::vector<std::string> notes;
};

namespace detail {

/// The word of an enumerator in files: its own name.
template <class Enumeration> struct enumerator {
  const char* word;
  Enumeration value;
};
inline constexpr enumerator<module_role> module_words[] = {{"embedding", module_role::embedding},
                                                           {"attention", module_role::attention},
                                                           {"mixer", module_role::mixer},
                                                           {"mlp", module_role::mlp},
                                                           {"expert", module_role::expert},
                                                           {"shared_expert", module_role::shared_expert},
                                                           {"router", module_role::router},
                                                           {"norm", module_role::norm},
                                                           {"lm_head", module_role::lm_head},
                                                           {"vision", module_role::vision},
                                                           {"audio", module_role::audio},
                                                           {"draft", module_role::draft},
                                                           {"unattributed", module_role::unattributed}};
inline constexpr enumerator<tensor_kind> tensor_words[] = {{"linear", tensor_kind::linear},
                                                           {"table", tensor_kind::table},
                                                           {"vector", tensor_kind::vector},
                                                           {"convolution", tensor_kind::convolution}};
inline constexpr enumerator<shard_rule> shard_words[] = {
    {"replicated", shard_rule::replicated}, {"tensor", shard_rule::tensor},
    {"kv_heads", shard_rule::kv_heads},     {"experts", shard_rule::experts},
    {"vocabulary", shard_rule::vocabulary}, {"spread", shard_rule::spread}};
inline constexpr enumerator<shard_axis> axis_words[] = {
    {"rows", shard_axis::rows}, {"columns", shard_axis::columns}, {"neither", shard_axis::neither}};

template <class Enumeration, std::size_t Size>
[[nodiscard]] const char* word_of(const enumerator<Enumeration> (&words)[Size], Enumeration value) {
  for (const auto& entry : words) {
    if (entry.value == value) return entry.word;
  }
  return words[0].word;
}

/// The enumerator that a text member names; `fallback` where there is no such member.
template <class Enumeration, std::size_t Size>
[[nodiscard]] Enumeration enumerator_in(const json_field& object, const char* key,
                                        const enumerator<Enumeration> (&words)[Size], Enumeration fallback) {
  const std::optional<json_field> member = object.find(key);
  if (!member) return fallback;
  for (const auto& entry : words) {
    if (member->text() == entry.word) return entry.value;
  }
  std::string line = "\"" + printable(member->text(), 40) + "\" is unknown, expected";
  for (const auto& entry : words) line.append(&entry == words ? " " : ", ").append(entry.word);
  member->refuse(line);
}

/// A size of a store, by the name that it has in the struct and in files.
struct store_size {
  const char* name;
  std::uint32_t store::*narrow;
  std::uint64_t store::*wide;
};
inline constexpr store_size store_sizes[] = {{"kv_heads", &store::kv_heads, nullptr},
                                             {"key_dim", &store::key_dim, nullptr},
                                             {"value_dim", &store::value_dim, nullptr},
                                             {"latent_rank", &store::latent_rank, nullptr},
                                             {"rope_dim", &store::rope_dim, nullptr},
                                             {"indexer_dim", &store::indexer_dim, nullptr},
                                             {"compress_ratio", &store::compress_ratio, nullptr},
                                             {"window", nullptr, &store::window},
                                             {"encoder_tokens", nullptr, &store::encoder_tokens},
                                             {"inner_size", &store::inner_size, nullptr},
                                             {"conv_kernel", &store::conv_kernel, nullptr},
                                             {"state_heads", &store::state_heads, nullptr},
                                             {"state_head_dim", &store::state_head_dim, nullptr},
                                             {"state_size", &store::state_size, nullptr},
                                             {"state_groups", &store::state_groups, nullptr},
                                             {"state_key_heads", &store::state_key_heads, nullptr},
                                             {"state_key_dim", &store::state_key_dim, nullptr}};

/// Which sizes a kind of store has; a trailing `?` marks one that may be left out.
struct store_rule {
  const char* word;
  store_kind kind;
  const char* state_word;
  state_kind state;
  const char* sizes[6];
};
inline constexpr store_rule store_rules[] = {
    {"full",
     store_kind::full,
     nullptr,
     state_kind::none,
     {"kv_heads", "key_dim", "value_dim", "indexer_dim?"}},
    {"sliding_window",
     store_kind::sliding_window,
     nullptr,
     state_kind::none,
     {"kv_heads", "key_dim", "value_dim", "window", "indexer_dim?"}},
    {"chunked",
     store_kind::chunked,
     nullptr,
     state_kind::none,
     {"kv_heads", "key_dim", "value_dim", "window", "indexer_dim?"}},
    {"latent", store_kind::latent, nullptr, state_kind::none, {"latent_rank", "rope_dim?", "indexer_dim?"}},
    {"compressed",
     store_kind::compressed,
     nullptr,
     state_kind::none,
     {"key_dim", "rope_dim?", "window", "compress_ratio?", "indexer_dim?"}},
    {"cross_attention",
     store_kind::cross_attention,
     nullptr,
     state_kind::none,
     {"kv_heads", "key_dim", "value_dim", "encoder_tokens?"}},
    {"shared", store_kind::shared, nullptr, state_kind::none, {}},
    {"recurrent",
     store_kind::recurrent,
     "mamba1",
     state_kind::mamba1,
     {"inner_size", "state_size", "conv_kernel"}},
    {"recurrent",
     store_kind::recurrent,
     "mamba2",
     state_kind::mamba2,
     {"inner_size", "state_heads", "state_head_dim", "state_size", "state_groups", "conv_kernel"}},
    {"recurrent",
     store_kind::recurrent,
     "gated_delta_net",
     state_kind::gated_delta_net,
     {"state_heads", "state_head_dim", "state_key_heads", "state_key_dim", "conv_kernel"}},
    {"recurrent",
     store_kind::recurrent,
     "kimi_delta",
     state_kind::kimi_delta,
     {"state_heads", "state_head_dim", "state_key_heads", "state_key_dim", "conv_kernel"}},
    {"recurrent",
     store_kind::recurrent,
     "linear_attention",
     state_kind::linear_attention,
     {"state_heads", "state_head_dim"}},
    {"recurrent",
     store_kind::recurrent,
     "short_convolution",
     state_kind::short_convolution,
     {"inner_size", "conv_kernel"}},
    {"recurrent",
     store_kind::recurrent,
     "rwkv",
     state_kind::rwkv,
     {"inner_size", "state_heads", "state_head_dim"}}};

inline constexpr enumerator<weight_scales> scales_words[] = {
    {"none", weight_scales::none},   {"tensor", weight_scales::tensor}, {"channel", weight_scales::channel},
    {"group", weight_scales::group}, {"block", weight_scales::block},   {"flat", weight_scales::flat}};

/// A size beside a payload, by the name that it has in the struct and in files.
struct sidecar_size {
  const char* name;
  std::uint8_t weight_sidecar::*size;
};
inline constexpr sidecar_size sidecar_sizes[] = {{"scale_bytes", &weight_sidecar::scale_bytes},
                                                 {"scale_bytes_high", &weight_sidecar::scale_bytes_high},
                                                 {"zero_bits", &weight_sidecar::zero_bits},
                                                 {"column_bytes", &weight_sidecar::column_bytes},
                                                 {"matrix_bytes", &weight_sidecar::matrix_bytes}};

/// Whether scales of this kind run over groups or blocks, whose size they then need.
[[nodiscard]] constexpr bool have_a_group(weight_scales scales) {
  return scales == weight_scales::group || scales == weight_scales::block || scales == weight_scales::flat;
}

/// The scheme or format that a file means by a name, exactly as the library spells it: schemes before
/// formats.
[[nodiscard]] inline std::optional<weight_scheme> known_precision(std::string_view name) {
  for (const weight_scheme* scheme : schemes::all) {
    if (name == scheme->name) return *scheme;
  }
  for (const number_format* format : formats::all) {
    if (!format->is_automatic() && name == format->name) return weight_scheme{*format};
  }
  return std::nullopt;
}

// ---- reading ----------------------------------------------------------------------------------------------

/// A whole number from `least` to 2^32 − 1.
[[nodiscard]] inline std::uint32_t narrow_size(const json_field& member, std::uint32_t least = 1) {
  const std::uint64_t number = member.integer();
  if (number < least) member.refuse("must be at least " + std::to_string(least));
  if (number > UINT32_MAX) member.refuse("must be below 2^32, not " + std::to_string(number));
  return static_cast<std::uint32_t>(number);
}
[[nodiscard]] inline std::uint32_t narrow_size_or(const json_field& object, const char* key,
                                                  std::uint32_t fallback) {
  const std::optional<json_field> member = object.find(key);
  return member ? narrow_size(*member) : fallback;
}

[[nodiscard]] inline const store_rule& store_rule_in(const json_field& object) {
  const json_field kind = object.at("kind");
  const store_rule* found = nullptr;
  for (const store_rule& rule : store_rules) {
    if (kind.text() != rule.word) continue;
    found = &rule;
    if (rule.state_word == nullptr || object.required_text("state") == rule.state_word) return rule;
  }
  const char* key = found == nullptr ? "kind" : "state";
  std::string line = "\"" + printable(object.required_text(key), 40) + "\" is unknown, expected";
  std::string_view last;
  for (const store_rule& rule : store_rules) {
    const char* word = found == nullptr ? rule.word : rule.state_word;
    if (word == nullptr || last == word) continue;
    line.append(last.empty() ? " " : ", ").append(word);
    last = word;
  }
  object.at(key).refuse(line);
}

[[nodiscard]] inline store read_store(const json_field& object) {
  const store_rule& rule = store_rule_in(object);
  store result;
  result.kind = rule.kind;
  result.state = rule.state;
  const auto is_known = [&](std::string_view key) {
    if (key == "kind" || (key == "state" && rule.state_word != nullptr)) return true;
    if (key == "overlapping" && rule.kind == store_kind::compressed) return true;
    for (const char* size : rule.sizes) {
      std::string_view name = size == nullptr ? "" : size;
      if (!name.empty() && name.back() == '?') name.remove_suffix(1);
      if (!name.empty() && key == name) return true;
    }
    return false;
  };
  for (const auto& [key, unused] : object.value().items()) {
    if (!is_known(key))
      object.refuse("a " + std::string(rule.word) + " store has no \"" + printable(key, 40) + "\"");
  }
  for (const char* listed : rule.sizes) {
    if (listed == nullptr) break;
    std::string name = listed;
    const bool optional = name.back() == '?';
    if (optional) name.pop_back();
    if (optional && !object.find(name)) continue;
    const json_field member = object.at(name);
    for (const store_size& size : store_sizes) {
      if (name != size.name) continue;
      if (size.narrow != nullptr) {
        result.*size.narrow = narrow_size(member);
      } else {
        result.*size.wide = member.positive_integer();
      }
    }
  }
  result.overlapping = object.optional_flag("overlapping").value_or(false);
  return result;
}

[[nodiscard]] inline number_format format_in(const json_field& member) {
  for (const number_format* format : formats::all) {
    if (member.text() == format->name) return *format;
  }
  member.refuse("number format \"" + printable(member.text(), 40) + "\" is unknown");
}

/// What a scheme is called in memory that a file describes itself: names in memory outlive files.
inline constexpr const char* nameless = "custom";

/// A scheme that a file describes itself.
[[nodiscard]] inline weight_scheme read_scheme(const json_field& object) {
  object.allow_only({"name", "payload", "scales", "group", "group_rows", "scale_bytes", "scale_bytes_high",
                     "zero_bits", "column_bytes", "matrix_bytes", "scales_per_super", "packed_rows"});
  const json_field payload = object.at("payload");
  const number_format format = format_in(payload);
  if (format.is_automatic()) payload.refuse("must name a format, not auto");
  weight_scheme scheme(nameless, format, {});
  scheme.every_element = !object.find("scales");
  if (scheme.every_element) {
    object.allow_only({"name", "payload"});  // a plain format has nothing beside it
    return scheme;
  }
  weight_sidecar& beside = scheme.sidecar;
  beside.scales = enumerator_in(object, "scales", scales_words, weight_scales::none);
  const auto size = [&object](const char* key, std::uint32_t most) {
    const std::uint32_t value = narrow_size_or(object, key, 0);
    if (value > most) object.at(key).refuse("must be at most " + std::to_string(most));
    return value;
  };
  for (const sidecar_size& each : sidecar_sizes)
    beside.*each.size = static_cast<std::uint8_t>(size(each.name, UINT8_MAX));
  beside.scales_per_super = static_cast<std::uint16_t>(size("scales_per_super", UINT16_MAX));
  beside.packed_rows = object.optional_flag("packed_rows").value_or(false);
  if (have_a_group(beside.scales)) {
    beside.group = narrow_size(object.at("group"));
  } else if (object.find("group")) {
    object.at("group").refuse("does not go with scales per " + object.required_text("scales"));
  }
  if (const auto rows = object.find("group_rows")) {
    if (beside.scales != weight_scales::block) {
      rows->refuse("does not go with scales per " + object.required_text("scales"));
    }
    const std::uint32_t given = narrow_size(*rows);
    beside.group_rows = given == beside.group ? 0 : given;
  }
  if (beside.zero_bits != 0 && beside.group == 0) {
    object.at("zero_bits").refuse("does not go with scales per " + object.required_text("scales"));
  }
  if (beside.scale_bytes_high != 0 && beside.scale_bytes_high < beside.scale_bytes) {
    object.at("scale_bytes_high").refuse("is below scale_bytes");
  }
  return scheme;
}

/// The precisions of a model that is being read, by the names that its file gives them.
class precision_reader {
 public:
  /// Takes the precisions that the file lists itself, in their order.
  precision_reader(model_architecture& model, const json_field& root) : model_(model) {
    const std::optional<json_field> list = root.find("precisions");
    if (!list) return;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const json_field entry = list->at(i);
      const bool described = entry.value().is_object();
      const json_field name = described ? entry.at("name") : entry;
      if (described && (name.text().empty() || known_precision(name.text())))
        name.refuse("must be a name of its own, that no format or scheme has");
      if (number_of(described ? read_scheme(entry) : known(name), entry) != i + 1)
        entry.refuse("is listed twice");
      names_.push_back(name.text());
    }
  }
  /// The number of a precision that a weight group names; one that is not listed comes behind the others.
  [[nodiscard]] std::uint8_t number_of(const json_field& name) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name.text()) return static_cast<std::uint8_t>(i + 1);
    }
    return number_of(known(name), name);
  }

 private:
  [[nodiscard]] static weight_scheme known(const json_field& name) {
    const std::optional<weight_scheme> found = known_precision(name.text());
    if (!found) {
      name.refuse(
          "\"" + printable(name.text(), 40) +
          "\" is unknown, expected the name of a number format, of a weight scheme, or of an entry of "
          "precisions");
    }
    return *found;
  }
  [[nodiscard]] std::uint8_t number_of(const weight_scheme& scheme, const json_field& place) {
    return naming_the_place(place, [&] { return model_.precision_of(scheme); });
  }
  model_architecture& model_;
  std::vector<std::string> names_;
};

[[nodiscard]] inline weight_group read_weight_group(const json_field& object, precision_reader& precisions) {
  object.allow_only({"module", "tensor", "rows", "columns", "copies", "shard", "axis", "units", "precision"});
  weight_group group;
  (void)object.at("module");
  group.role = enumerator_in(object, "module", module_words, module_role::unattributed);
  group.kind = enumerator_in(object, "tensor", tensor_words, tensor_kind::linear);
  group.rule = enumerator_in(object, "shard", shard_words, shard_rule::replicated);
  group.axis = enumerator_in(object, "axis", axis_words, shard_axis::rows);
  group.rows = object.at("rows").positive_integer();
  group.columns = narrow_size_or(object, "columns", 1);
  group.copies = narrow_size_or(object, "copies", 1);
  group.units = narrow_size_or(object, "units", 1);
  const std::uint64_t length = group.axis == shard_axis::rows ? group.rows : group.columns;
  if (length % group.units != 0) {
    object.refuse(std::to_string(group.units) + " units do not divide the " + std::to_string(length) + " " +
                  word_of(axis_words, group.axis));
  }
  if (const auto precision = object.find("precision")) group.precision = precisions.number_of(*precision);
  return group;
}

[[nodiscard]] inline layer_kind read_layer_kind(const json_field& object, precision_reader& precisions) {
  object.allow_only({"num_attention_heads", "key_value_heads", "query_dim", "value_dim", "intermediate_size",
                     "gated_mlp", "num_experts", "num_experts_per_tok", "moe_intermediate_size", "stores",
                     "weights"});
  layer_kind layer;
  layer.num_attention_heads = narrow_size_or(object, "num_attention_heads", 0);
  layer.key_value_heads = narrow_size_or(object, "key_value_heads", 0);
  layer.query_dim = narrow_size_or(object, "query_dim", 0);
  layer.value_dim = narrow_size_or(object, "value_dim", 0);
  if (const auto size = object.find("intermediate_size")) layer.intermediate_size = size->positive_integer();
  layer.gated_mlp = object.optional_flag("gated_mlp").value_or(false);
  layer.num_experts = narrow_size_or(object, "num_experts", 0);
  layer.num_experts_per_tok = narrow_size_or(object, "num_experts_per_tok", 0);
  layer.moe_intermediate_size = narrow_size_or(object, "moe_intermediate_size", 0);
  const json_field kept = object.at("stores");
  const std::size_t stores = kept.size();
  if (stores > max_stores_per_layer)
    kept.refuse("has more than " + std::to_string(max_stores_per_layer) + " stores");
  for (std::size_t i = 0; i < stores; ++i) layer.add(read_store(kept.at(i)));
  const json_field groups = object.at("weights");
  const std::size_t weights = groups.size();
  if (weights > max_weight_groups_per_layer) {
    groups.refuse("has more than " + std::to_string(max_weight_groups_per_layer) + " groups");
  }
  for (std::size_t i = 0; i < weights; ++i) {
    const weight_group group = read_weight_group(groups.at(i), precisions);
    if (group.rule == shard_rule::experts &&
        (layer.num_experts == 0 || group.copies % layer.num_experts != 0)) {
      groups.at(i).refuse("copies must be a multiple of num_experts");
    }
    layer.add(group);
  }
  naming_the_place(object, [&] {
    validate(layer);
    return 0;
  });
  return layer;
}

/// The layers in their order, given as runs: `kinds` in this order, `repeat` times over.
inline void read_layers(model_architecture& model, const json_field& root, precision_reader& precisions) {
  const json_field layers = root.at("layers");
  const std::size_t count = layers.size();
  if (count == 0) layers.refuse("must have at least one kind of layer");
  if (count > max_layer_kinds) layers.refuse("has more than " + std::to_string(max_layer_kinds) + " kinds");
  std::vector<layer_kind> kinds;
  for (std::size_t i = 0; i < count; ++i) {
    kinds.push_back(read_layer_kind(layers.at(i), precisions));
    for (std::size_t j = 0; j < i; ++j) {
      if (kinds[j] == kinds[i]) layers.at(i).refuse("is the same as layers[" + std::to_string(j) + "]");
    }
  }
  const json_field order = root.at("order");
  std::size_t next = 0;  // kinds are numbered as they occur
  for (std::size_t run = 0; run < order.size(); ++run) {
    const json_field entry = order.at(run);
    entry.allow_only({"repeat", "kinds"});
    const json_field repeat = entry.at("repeat");
    const std::uint32_t times = narrow_size(repeat);
    const json_field sequence = entry.at("kinds");
    const std::size_t length = sequence.size();
    if (length == 0) sequence.refuse("must name at least one kind");
    if (checked_mul(times, length) > max_layers - model.num_hidden_layers) {
      entry.refuse("makes more than " + std::to_string(max_layers) + " layers");
    }
    for (std::size_t i = 0; i < length; ++i) {
      const json_field kind = sequence.at(i);
      if (kind.integer() > next || kind.integer() >= count) {
        kind.refuse("must be below " + std::to_string(count) +
                    ", and kinds must be numbered as they first occur");
      }
      if (kind.integer() == next) ++next;
    }
    for (std::uint32_t time = 0; time < times; ++time) {
      for (std::size_t i = 0; i < length; ++i) {
        model.add_layers(kinds[static_cast<std::size_t>(sequence.at(i).integer())]);
      }
    }
  }
  if (next != count)
    order.refuse("uses " + std::to_string(next) + " of the " + std::to_string(count) + " kinds");
}

[[nodiscard]] inline std::vector<std::string> read_texts(const json_field& root, const char* key) {
  std::vector<std::string> texts;
  const std::optional<json_field> list = root.find(key);
  if (!list) return texts;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const json_field text = list->at(i);
    if (text.text().empty()) text.refuse("must not be empty");
    texts.push_back(text.text());
  }
  return texts;
}

/// Whether a group outside the layers may hold experts: those of draft layers, as many as some layer has.
[[nodiscard]] inline bool are_draft_experts(const model_architecture& model, const weight_group& group) {
  if (group.role != module_role::draft) return false;
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    const std::uint32_t experts = model.kinds[kind].num_experts;
    if (experts != 0 && group.copies % experts == 0) return true;
  }
  return false;
}

/// How many draft layers there are, and what one of them keeps, where that is known.
inline void read_draft_layers(model_architecture& model, const json_field& root) {
  model.draft_layers = narrow_size_or(root, "draft_layers", 0);
  if (model.draft_layers > max_layers)
    root.at("draft_layers").refuse("must be at most " + std::to_string(max_layers));
  const std::optional<json_field> kept = root.find("draft_stores");
  if (!kept) return;
  const std::size_t stores = kept->size();
  if (model.draft_layers == 0) kept->refuse("does not go without draft_layers");
  if (stores == 0) kept->refuse("must not be empty");
  if (stores > max_stores_per_layer)
    kept->refuse("has more than " + std::to_string(max_stores_per_layer) + " stores");
  for (std::size_t i = 0; i < stores; ++i) model.add_draft_store(read_store(kept->at(i)));
}

[[nodiscard]] inline model_file read_model(const json_field& root) {
  root.allow_only({"schema",
                   "name",
                   "huggingface",
                   "aliases",
                   "sources",
                   "notes",
                   "model_type",
                   "dtype",
                   "recurrent_dtype",
                   "hidden_size",
                   "vocab_size",
                   "max_position_embeddings",
                   "tie_word_embeddings",
                   "parameters",
                   "parameters_assumed",
                   "precisions",
                   "layers",
                   "order",
                   "draft_layers",
                   "draft_stores",
                   "weights"});
  if (root.required_integer("schema") != 1) root.at("schema").refuse("must be 1");
  model_file file;
  model_architecture& model = file.architecture;
  root.at("name").copy_text(model.name);
  file.huggingface = read_texts(root, "huggingface");
  file.aliases = read_texts(root, "aliases");
  file.sources = read_texts(root, "sources");
  file.notes = read_texts(root, "notes");
  if (const auto type = root.find("model_type")) type->copy_text(model.model_type);
  if (const auto dtype = root.find("dtype")) model.dtype = format_in(*dtype);
  if (const auto dtype = root.find("recurrent_dtype")) model.recurrent_dtype = format_in(*dtype);
  model.hidden_size = narrow_size(root.at("hidden_size"));
  model.vocab_size = narrow_size_or(root, "vocab_size", 0);
  if (const auto most = root.find("max_position_embeddings")) {
    model.max_position_embeddings = most->positive_integer();
  }
  model.tie_word_embeddings = root.optional_flag("tie_word_embeddings").value_or(false);
  model.parameters_assumed = root.optional_flag("parameters_assumed").value_or(false);
  precision_reader precisions(model, root);
  read_layers(model, root, precisions);
  read_draft_layers(model, root);
  const json_field groups = root.at("weights");
  const std::size_t count = groups.size();
  if (count > max_model_weight_groups) {
    groups.refuse("has more than " + std::to_string(max_model_weight_groups) + " groups");
  }
  for (std::size_t i = 0; i < count; ++i) {
    const weight_group group = read_weight_group(groups.at(i), precisions);
    if (group.rule == shard_rule::experts && !are_draft_experts(model, group))
      groups.at(i).refuse("experts belong to a layer");
    model.add(group);
  }
  validate(model);
  const std::uint64_t elements = parameter_count(model).value;
  if (const auto stated = root.find("parameters"); stated && stated->integer() != elements) {
    stated->refuse("is " + std::to_string(stated->integer()) + ", but the weights have " +
                   std::to_string(elements) + " elements");
  }
  return file;
}

// ---- writing ----------------------------------------------------------------------------------------------

[[nodiscard]] inline nlohmann::ordered_json json_of(const store& s) {
  nlohmann::ordered_json object;
  for (const store_rule& rule : store_rules) {
    if (rule.kind != s.kind || rule.state != s.state) continue;
    object["kind"] = rule.word;
    if (rule.state_word != nullptr) object["state"] = rule.state_word;
  }
  for (const store_size& size : store_sizes) {
    const std::uint64_t value = size.narrow != nullptr ? s.*size.narrow : s.*size.wide;
    if (value != 0) object[size.name] = value;
  }
  if (s.overlapping) object["overlapping"] = true;
  return object;
}

/// The names that a file gives to the precisions of a model.
class precision_names {
 public:
  explicit precision_names(const model_architecture& model) : model_(model) {
    for (std::size_t i = 0; i < model.precision_count; ++i) names_.push_back(name_for(model.precisions[i]));
  }
  /// The name of the n-th precision, from 1.
  [[nodiscard]] const std::string& operator[](std::size_t nth) const { return names_.at(nth - 1); }
  /// Whether the reader finds the same precisions, in the same order, without a list of them.
  [[nodiscard]] bool follow_from_use() const {
    std::size_t used = 0;
    const auto is_in_order = [&](const weight_group* groups, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        if (groups[i].precision > used && groups[i].precision != ++used) return false;
      }
      return true;
    };
    for (std::size_t kind = 0; kind < model_.kind_count; ++kind) {
      if (!is_in_order(model_.kinds[kind].weights, model_.kinds[kind].weight_count)) return false;
    }
    if (!is_in_order(model_.weights, model_.weight_count) || used != names_.size()) return false;
    for (const std::string& name : names_) {
      if (!known_precision(name)) return false;
    }
    return true;
  }
  [[nodiscard]] nlohmann::ordered_json list() const {
    nlohmann::ordered_json entries = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (known_precision(names_[i])) {
        entries.push_back(names_[i]);
      } else {
        entries.push_back(description(names_[i], model_.precisions[i]));
      }
    }
    return entries;
  }

 private:
  [[nodiscard]] bool is_taken(const std::string& name) const {
    for (const std::string& other : names_) {
      if (other == name) return true;
    }
    return false;
  }
  /// Its own name where that means the same, else that of an equal scheme or format, else one made up.
  [[nodiscard]] std::string name_for(const weight_scheme& scheme) const {
    const auto means_it = [&](const char* name) {
      const std::optional<weight_scheme> found = known_precision(name);
      return found && *found == scheme && !is_taken(name);
    };
    if (means_it(scheme.name)) return scheme.name;
    for (const weight_scheme* each : schemes::all) {
      if (means_it(each->name)) return each->name;
    }
    for (const number_format* each : formats::all) {
      if (means_it(each->name)) return each->name;
    }
    const std::string own = made_up_name(scheme);
    std::string name = own;
    for (int number = 2; is_taken(name) || known_precision(name); ++number)
      name = own + ("-" + std::to_string(number));
    return name;
  }
  /// Its own name where that means nothing else, else what it is: "int4-group-32".
  [[nodiscard]] static std::string made_up_name(const weight_scheme& scheme) {
    if (std::string_view(scheme.name) != nameless && !known_precision(scheme.name)) return scheme.name;
    std::string name = scheme.payload.name;
    if (scheme.every_element) return name;
    name += '-' + std::string(word_of(scales_words, scheme.sidecar.scales));
    const weight_sidecar& beside = scheme.sidecar;
    if (beside.group == 0) return name;
    name += '-';
    if (beside.group_rows != 0) name += std::to_string(beside.group_rows) + 'x';  // rows x columns of a block
    name += std::to_string(beside.group);
    return name;
  }
  [[nodiscard]] static nlohmann::ordered_json description(const std::string& name,
                                                          const weight_scheme& scheme) {
    nlohmann::ordered_json object;
    object["name"] = name;
    object["payload"] = scheme.payload.name;
    if (scheme.every_element) return object;
    const weight_sidecar& beside = scheme.sidecar;
    object["scales"] = word_of(scales_words, beside.scales);
    if (beside.group != 0) object["group"] = beside.group;
    if (beside.group_rows != 0) object["group_rows"] = beside.group_rows;
    for (const sidecar_size& each : sidecar_sizes) {
      if (beside.*each.size != 0) object[each.name] = beside.*each.size;
    }
    if (beside.scales_per_super != 0) object["scales_per_super"] = beside.scales_per_super;
    if (beside.packed_rows) object["packed_rows"] = true;
    return object;
  }
  const model_architecture& model_;
  std::vector<std::string> names_;
};

[[nodiscard]] inline nlohmann::ordered_json json_of(const weight_group& group,
                                                    const precision_names& precisions) {
  nlohmann::ordered_json object;
  object["module"] = word_of(module_words, group.role);
  if (group.kind != tensor_kind::linear) object["tensor"] = word_of(tensor_words, group.kind);
  object["rows"] = group.rows;
  if (group.columns != 1) object["columns"] = group.columns;
  if (group.copies != 1) object["copies"] = group.copies;
  if (group.rule != shard_rule::replicated) object["shard"] = word_of(shard_words, group.rule);
  if (group.axis != shard_axis::rows) object["axis"] = word_of(axis_words, group.axis);
  if (group.units != 1) object["units"] = group.units;
  if (group.precision != 0) object["precision"] = precisions[group.precision];
  return object;
}

[[nodiscard]] inline nlohmann::ordered_json json_of(const layer_kind& layer,
                                                    const precision_names& precisions) {
  nlohmann::ordered_json object;
  const auto size = [&object](const char* key, std::uint64_t value) {
    if (value != 0) object[key] = value;
  };
  size("num_attention_heads", layer.num_attention_heads);
  size("key_value_heads", layer.key_value_heads);
  size("query_dim", layer.query_dim);
  size("value_dim", layer.value_dim);
  size("intermediate_size", layer.intermediate_size);
  if (layer.gated_mlp) object["gated_mlp"] = true;
  size("num_experts", layer.num_experts);
  size("num_experts_per_tok", layer.num_experts_per_tok);
  size("moe_intermediate_size", layer.moe_intermediate_size);
  object["stores"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < layer.store_count; ++i) object["stores"].push_back(json_of(layer.stores[i]));
  object["weights"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < layer.weight_count; ++i)
    object["weights"].push_back(json_of(layer.weights[i], precisions));
  return object;
}

/// The order as runs.
[[nodiscard]] inline nlohmann::ordered_json runs_of(const model_architecture& model) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (std::size_t at = 0; at < model.num_hidden_layers;) {
    const layer_run found = run_at(model.order, model.num_hidden_layers, at);
    at = found.end();
    nlohmann::ordered_json kinds = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < found.period; ++i) kinds.push_back(model.order[found.first + i]);
    nlohmann::ordered_json run;
    run["repeat"] = found.count;
    run["kinds"] = std::move(kinds);
    runs.push_back(std::move(run));
  }
  return runs;
}

/// One line with a blank behind `:` and `,`.
inline void append_line(std::string& text, const nlohmann::ordered_json& value) {
  if (!value.is_structured()) {
    text += value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    return;
  }
  text += value.is_object() ? '{' : '[';
  bool first = true;
  for (const auto& [key, member] : value.items()) {
    if (!first) text += ", ";
    first = false;
    if (value.is_object()) text += nlohmann::ordered_json(key).dump() + ": ";
    append_line(text, member);
  }
  text += value.is_object() ? '}' : ']';
}

[[nodiscard]] inline bool holds_objects(const nlohmann::ordered_json& value) {
  if (!value.is_structured()) return false;
  for (const auto& member : value) {
    if (member.is_object() || holds_objects(member)) return true;
  }
  return false;
}

inline void append_lines(std::string& text, const nlohmann::ordered_json& value, std::size_t indent) {
  std::string line;
  append_line(line, value);
  const bool nested = value.is_structured() && (indent == 0 || holds_objects(value));
  if (!nested && (indent + line.size() <= 110 || !value.is_array())) {
    text += line;
    return;
  }
  const std::string margin(indent + 2, ' ');
  text += value.is_object() ? "{\n" : "[\n";
  bool first = true;
  for (const auto& [key, member] : value.items()) {
    if (!first) text += ",\n";
    first = false;
    text += margin;
    if (value.is_object()) text += nlohmann::ordered_json(key).dump() + ": ";
    append_lines(text, member, indent + 2);
  }
  text += "\n" + std::string(indent, ' ') + (value.is_object() ? "}" : "]");
}

}  // namespace detail

/// The model in the schema of `data/models/*.json`: everything that `parse_model` needs to make the same
/// model.
[[nodiscard]] inline nlohmann::ordered_json to_json(const model_file& file) {
  const model_architecture& model = file.architecture;
  nlohmann::ordered_json object;
  object["schema"] = 1;
  object["name"] = model.name;
  if (!file.huggingface.empty()) object["huggingface"] = file.huggingface;
  if (!file.aliases.empty()) object["aliases"] = file.aliases;
  if (!file.sources.empty()) object["sources"] = file.sources;
  if (!file.notes.empty()) object["notes"] = file.notes;
  if (model.model_type[0] != '\0') object["model_type"] = model.model_type;
  if (!model.dtype.is_automatic()) object["dtype"] = model.dtype.name;
  if (!model.recurrent_dtype.is_automatic()) object["recurrent_dtype"] = model.recurrent_dtype.name;
  object["hidden_size"] = model.hidden_size;
  if (model.vocab_size != 0) object["vocab_size"] = model.vocab_size;
  if (model.max_position_embeddings != 0) object["max_position_embeddings"] = model.max_position_embeddings;
  object["tie_word_embeddings"] = model.tie_word_embeddings;
  object["parameters"] = parameter_count(model).value;
  if (model.parameters_assumed) object["parameters_assumed"] = true;
  const detail::precision_names precisions(model);
  if (!precisions.follow_from_use()) object["precisions"] = precisions.list();
  object["layers"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < model.kind_count; ++i)
    object["layers"].push_back(detail::json_of(model.kinds[i], precisions));
  object["order"] = detail::runs_of(model);
  if (model.draft_layers != 0) object["draft_layers"] = model.draft_layers;
  for (std::size_t i = 0; i < model.draft_store_count; ++i)
    object["draft_stores"].push_back(detail::json_of(model.draft_stores[i]));
  object["weights"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < model.weight_count; ++i)
    object["weights"].push_back(detail::json_of(model.weights[i], precisions));
  return object;
}

/// The same without further names and sources.
[[nodiscard]] inline nlohmann::ordered_json to_json(const model_architecture& model) {
  return to_json(model_file{model, {}, {}, {}, {}});
}

/// JSON as the files of `data/models` are laid out: what holds no objects takes one line.
[[nodiscard]] inline std::string readable_text(const nlohmann::ordered_json& value) {
  std::string text;
  detail::append_lines(text, value, 0);
  return text + "\n";
}

/// Limits for model files.
inline constexpr json_limits model_file_limits{.bytes = std::uint64_t{4} << 20, .depth = 8};

/// A model file from JSON in the schema of `data/models/*.json`; `source` is what errors call it. Anything
/// missing, unknown, mistyped, out of range or contradictory throws `input_error` with source and key.
[[nodiscard]] inline model_file parse_model_file(const nlohmann::json& value, std::string_view source) {
  const std::string name = detail::printable(source);
  const json_field root(value, name);
  return detail::naming_the_place(root, [&] { return detail::read_model(root); });
}

/// The same without further names and sources.
[[nodiscard]] inline model_architecture parse_model(const nlohmann::json& value, std::string_view source) {
  return parse_model_file(value, source).architecture;
}

/// Reads a model file of at most 4 MiB.
[[nodiscard]] inline model_file load_model_file(const std::filesystem::path& path) {
  const json_document document = load_json(path, model_file_limits);
  const json_field root(document);
  return detail::naming_the_place(root, [&] { return detail::read_model(root); });
}

/// The same without further names and sources.
[[nodiscard]] inline model_architecture load_model(const std::filesystem::path& path) {
  return load_model_file(path).architecture;
}

}  // namespace kvbudget::inline v0
