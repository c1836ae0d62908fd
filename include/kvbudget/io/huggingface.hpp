#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/io/huggingface/config_view.hpp"
#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/families.hpp"
#include "kvbudget/io/huggingface/vision.hpp"
#include "kvbudget/io/json_reader.hpp"
#include "kvbudget/model/model_architecture.hpp"

namespace kvbudget::inline v0 {

/// A model as its `config.json` describes it, and what the file left open.
struct huggingface_model {
  model_architecture architecture{};
  std::vector<std::string>
      notes;  ///< one line for each class default that was assumed and each key passed over
  /// `quant_method` of `quantization_config` ("unnamed" if it has none). The weights of `architecture` are
  /// the model's own: name the matching weight scheme in the deployment.
  std::optional<std::string> quantization_method;
  /// Tokens of the text model that one image takes; a `most` of 0 = unknown, or no vision.
  image_tokens image{};
};

/// What the caller decides about reading a config.
struct huggingface_options {
  /// A supported `model_type`: a config of a type that is not supported is read like this one, which is noted
  /// and marks the model's weights as assumed. Empty = such a config is refused.
  std::string assume_like;
};

namespace detail {

/// The last part of `_name_or_path`, where it fits into a name; else the model type.
inline void name_model(model_architecture& model, const config_view& root) {
  assign_text(model.name, root.model_type());
  const std::optional<json_field> given = root.find({{"_name_or_path"}});
  if (!given || !given->value().is_string()) return;
  std::string_view name = given->text();
  while (!name.empty() && (name.back() == '/' || name.back() == '\\')) name.remove_suffix(1);
  if (const std::size_t slash = name.find_last_of("/\\"); slash != std::string_view::npos) {
    name.remove_prefix(slash + 1);
  }
  if (name.empty() || name.size() >= sizeof(model.name)) return;
  for (const char c : name) {
    if (c < 0x20 || c > 0x7E) return;
  }
  assign_text(model.name, name.data(), name.size());
}

/// The first of the two objects that gives one of the keys: multimodal configs say some things at the top,
/// some under `text_config`.
[[nodiscard]] inline std::optional<json_field> find_either(const config_view& root, const config_view& text,
                                                           const key_names& keys) {
  std::optional<json_field> member = root.find(keys);
  return member ? member : text.find(keys);
}

inline void read_quantization(huggingface_model& result, const config_view& root, const config_view& text) {
  const auto quantization = find_either(root, text, {{"quantization_config", "compression_config"}});
  if (!quantization) return;
  quantization->as_object();
  const std::optional<json_field> method = quantization->find("quant_method");
  if (method && !method->value().is_null()) {
    result.quantization_method = printable(method->text(), 40);
  } else {
    result.quantization_method = "unnamed";
  }
  root.note("quantization_config: the checkpoint is quantized (" + *result.quantization_method +
            "): weights are counted in full, choose a weight scheme for their size");
}

/// The family that a config's `model_type` names, or the one that the caller wants it read like.
[[nodiscard]] inline const model_family* family_named(const json_field& type,
                                                      const huggingface_options& asked,
                                                      std::vector<std::string>& notes) {
  const model_family* named = find_family(type.text());
  if (named != nullptr) return named;
  if (asked.assume_like.empty()) {
    type.refuse(
        "\"" + printable(type.text(), 40) + "\" is not supported" + nearest_families(type.text()) +
        ": describe the model by hand (docs/model-schema.md), or have it read like a supported family "
        "(assume_like)");
  }
  const model_family* like = find_family(asked.assume_like);
  if (like == nullptr) {
    refuse_input("assume_like: \"" + printable(asked.assume_like, 40) + "\" is not supported" +
                 nearest_families(asked.assume_like) + "; supported are " + list_of_families());
  }
  notes.push_back("model_type \"" + printable(type.text(), 40) + "\" is not supported: read like " +
                  like->model_type + " because asked to, cache and weights may be others");
  return like;
}

/// The family of a text model inside another config: the one that its own `model_type` names, else the usual.
[[nodiscard]] inline const model_family* family_inside(const json_field& text, const model_family* usual,
                                                       const huggingface_options& asked,
                                                       std::vector<std::string>& notes) {
  const std::optional<json_field> type = text.find("model_type");
  if (!type || type->value().is_null() || type->text().empty()) return usual;
  const model_family* named = family_named(*type, asked, notes);
  if (named->text_model_type == nullptr) return named;
  const model_family* inner = find_family(named->text_model_type);  // a wrapper's name inside a wrapper
  return inner != nullptr ? inner : usual;
}

[[nodiscard]] inline huggingface_model read_huggingface(const json_field& document,
                                                        const huggingface_options& asked) {
  document.as_object();
  huggingface_model result;
  const json_field type = document.at("model_type");
  const model_family* family = family_named(type, asked, result.notes);
  const bool assumed = family->model_type != type.text();
  const config_view root(document, family->model_type, result.notes);
  const model_family* text_family = family;
  json_field text_field = document;
  if (family->text_model_type != nullptr) {
    text_family = find_family(family->text_model_type);
    if (const auto nested = root.find({{"text_config", "language_config", "llm_config"}})) {
      text_field = *nested;
      if (!family->own_text_model) text_family = family_inside(*nested, text_family, asked, result.notes);
    }
  }
  const config_view text(text_field, text_family->model_type, result.notes);

  model_architecture& model = result.architecture;
  assign_text(model.model_type, family->model_type);
  model.parameters_assumed = assumed;
  name_model(model, root);
  decoder_shape shape = shape_of(text, *text_family);
  if (const auto tied = find_either(root, text, text_family->keys.tie_word_embeddings)) {
    shape.tie_word_embeddings = tied->flag();
  } else {
    shape.tie_word_embeddings = text_family->defaults.tie_word_embeddings;
    text.note_default("tie_word_embeddings", shape.tie_word_embeddings ? "true" : "false");
  }
  if (const auto dtype = find_either(root, text, {{"torch_dtype", "dtype"}})) {
    model.dtype = dtype_in(*dtype);
  } else {
    root.note("torch_dtype is absent: the deployment must name the dtype");
  }
  model_builder builder(model, *text_family, scheme_of_module{});
  build_decoder(builder, text, *text_family, shape);
  if (family->add_towers != nullptr) {
    family->add_towers(root, shape, builder);
  } else if (family->text_model_type != nullptr && root.find({{"vision_config", "audio_config"}})) {
    model.parameters_assumed = true;
    root.note("vision and audio towers of " + std::string(family->model_type) + " models are not counted");
  }
  if (family->tokens_of_image != nullptr) result.image = family->tokens_of_image(root);
  read_quantization(result, root, text);
  validate(model);
  (void)parameter_count(model);  // stops where the sum does not fit in 64 bits
  return result;
}

/// Rules of the model that the checks above leave to it are reported with the file's name.
[[nodiscard]] inline huggingface_model read_huggingface_naming_file(const json_field& document,
                                                                    const huggingface_options& asked) {
  return naming_the_place(document, [&] { return read_huggingface(document, asked); });
}

}  // namespace detail

/// Limits for `config.json`: published ones have at most a few hundred kilobytes.
inline constexpr json_limits huggingface_limits{
    .bytes = std::uint64_t{16} << 20, .depth = 64, .python_literals = true};

/// The model of a parsed Hugging Face `config.json`, with what had to be assumed; `source` is what errors
/// call it. An unsupported `model_type`, a missing key without a documented class default, a value of the
/// wrong type or size, and shapes that cannot exist throw `input_error`: one line with source, key and what
/// was expected.
[[nodiscard]] inline huggingface_model read_huggingface_config(const nlohmann::json& config,
                                                               std::string_view source,
                                                               const huggingface_options& asked = {}) {
  const std::string name = detail::printable(source);
  return detail::read_huggingface_naming_file(json_field(config, name), asked);
}

/// The same from the bytes of a `config.json` of at most 16 MiB, nested at most 64 deep.
[[nodiscard]] inline huggingface_model read_huggingface_config_text(std::string_view text,
                                                                    std::string_view source,
                                                                    const huggingface_options& asked = {}) {
  const json_document document = parse_json(text, std::string(source), huggingface_limits);
  return detail::read_huggingface_naming_file(json_field(document), asked);
}

/// The same from a file; a directory, a device, an empty, unreadable or larger file is refused.
[[nodiscard]] inline huggingface_model read_huggingface_config(const std::filesystem::path& path,
                                                               const huggingface_options& asked = {}) {
  const json_document document = load_json(path, huggingface_limits);
  return detail::read_huggingface_naming_file(json_field(document), asked);
}

/// Only the model of `read_huggingface_config`.
[[nodiscard]] inline model_architecture parse_huggingface_config(const nlohmann::json& config,
                                                                 std::string_view source) {
  return read_huggingface_config(config, source).architecture;
}

/// Only the model of `read_huggingface_config_text`.
[[nodiscard]] inline model_architecture parse_huggingface_config_text(std::string_view text,
                                                                      std::string_view source) {
  return read_huggingface_config_text(text, source).architecture;
}

/// Only the model of a `config.json`; see `read_huggingface_config` for what was assumed and what is refused.
[[nodiscard]] inline model_architecture load_huggingface_config(const std::filesystem::path& path) {
  return read_huggingface_config(path).architecture;
}

}  // namespace kvbudget::inline v0
