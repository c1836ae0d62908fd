#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/io/huggingface/config_view.hpp"
#include "kvbudget/io/huggingface/decoder.hpp"
#include "kvbudget/io/huggingface/families.hpp"
#include "kvbudget/io/huggingface/quantization.hpp"
#include "kvbudget/io/json_reader.hpp"
#include "kvbudget/model/model_architecture.hpp"

namespace kvbudget::inline v0 {

/// A model as its `config.json` describes it, and what the file left open.
struct huggingface_model {
  model_architecture architecture{};
  std::vector<std::string>
      notes;  ///< one line for each class default that was assumed and each key passed over
  std::vector<std::string> doubts;  ///< those of the notes that say which figures cannot be trusted
  /// `quant_method` of `quantization_config`: the weights of `architecture` are stored accordingly, where the
  /// deployment does not ask for another format.
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

/// The family that a config's `model_type` names, or the one that the caller wants it read like.
[[nodiscard]] inline const model_family* family_named(const json_field& type,
                                                      const huggingface_options& asked,
                                                      config_remarks& remarks) {
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
                 nearest_families(asked.assume_like) + ": docs/model-families.md lists what is");
  }
  remarks.notes.push_back("model_type \"" + printable(type.text(), 40) + "\" is not supported: read like " +
                          like->model_type + " because asked to, cache and weights may be others");
  remarks.doubts.push_back(remarks.notes.back());
  return like;
}

/// The family of a text model inside another config: the one that its own `model_type` names, else the usual.
[[nodiscard]] inline const model_family* family_inside(const json_field& text, const model_family* usual,
                                                       const huggingface_options& asked,
                                                       config_remarks& remarks) {
  const std::optional<json_field> type = text.find("model_type");
  if (!type || type->value().is_null() || type->text().empty()) return usual;
  const model_family* named = family_named(*type, asked, remarks);
  if (named->text_model_type == nullptr) return named;
  const model_family* inner = find_family(named->text_model_type);  // a wrapper's name inside a wrapper
  return inner != nullptr ? inner : usual;
}

/// The family of a text model inside a config of another family: with the defaults of its class that count
/// there, and with the names that its modules have in the other's checkpoints.
[[nodiscard]] inline model_family as_nested(const model_family& text, const model_family& wrapper) {
  model_family family = text;
  if (wrapper.text_prefix != nullptr) family.layer_prefix = wrapper.text_prefix;
  const auto fill = [](std::uint32_t& value, std::uint32_t nested) {
    if (value == 0) value = nested;
  };
  fill(family.defaults.hidden_size, text.nested.hidden_size);
  fill(family.defaults.num_hidden_layers, text.nested.num_hidden_layers);
  fill(family.defaults.intermediate_size, text.nested.intermediate_size);
  fill(family.defaults.vocab_size, text.nested.vocab_size);
  fill(family.defaults.num_attention_heads, text.nested.num_attention_heads);
  return family;
}

/// Towers and draft layers that a family does not read are named, never passed over in silence.
inline void note_unread_parts(const config_view& root, const config_view& text, const model_family& family,
                              const model_family& text_family, model_architecture& model) {
  const auto drafts = text.find({{"num_nextn_predict_layers"}});
  const bool unread = !text_family.next_token_layers && text_family.finish_model == nullptr;
  if (unread && drafts && drafts->integer() != 0) {
    text.note("num_nextn_predict_layers: the weights of draft layers are not counted");
  }
  if (family.add_towers != nullptr) return;
  for (const char* key : {"vision_config", "audio_config", "speech_config", "vit_config", "encoder_config",
                          "img_processor", "mm_vision_tower"}) {
    if (!root.find({{key}})) continue;
    model.parameters_assumed = true;
    root.doubt(std::string(key) + ": the weights of this tower are not counted");
  }
}

/// Models that classify, or give vectors, end without the head of their class; a classifier has one row per
/// label. Told apart by the first of `architectures`. Source: huggingface/transformers
/// modeling_layers.py, GenericForSequenceClassification.
inline void read_ending(const config_view& root, decoder_shape& shape, model_builder& builder) {
  constexpr std::string_view vector_models[] = {"LlamaModel", "MistralModel", "Qwen2Model",
                                                "Qwen3Model", "Gemma2Model",  "Phi3Model"};
  constexpr std::string_view classifier = "ForSequenceClassification";
  const auto classes = root.find({{"architectures"}});
  if (!shape.has_head || !classes || !classes->value().is_array() || classes->size() == 0) return;
  const json_field name = classes->at(std::size_t{0});
  if (!name.value().is_string()) return;
  const bool gives_vectors =
      std::find(std::begin(vector_models), std::end(vector_models), name.text()) != std::end(vector_models);
  const bool classifies = name.text().ends_with(classifier);
  if (!gives_vectors && !classifies) return;
  shape.has_head = false;
  root.note("architectures: " + printable(name.text(), 60) + " has no language model head");
  if (!classifies) return;
  std::uint32_t labels = 2;
  if (const auto given = root.find({{"num_labels"}})) {
    labels = config_view::size_in(*given);
  } else if (const auto named = root.find({{"id2label"}}); named && named->value().is_object()) {
    labels = static_cast<std::uint32_t>(larger<std::size_t>(named->value().size(), 1));
  } else {
    root.note_default("num_labels", "2");
  }
  builder.add(weight_groups::whole(module_role::lm_head, labels, shape.hidden_size), "score");
}

/// `beside` is a hf_quant_config.json, or null.
[[nodiscard]] inline huggingface_model read_huggingface(const json_field& document,
                                                        const huggingface_options& asked,
                                                        const json_document* beside) {
  document.as_object();
  huggingface_model result;
  config_remarks remarks;
  const json_field type = document.at("model_type");
  const model_family* family = family_named(type, asked, remarks);
  const bool assumed = family->model_type != type.text();
  json_field served = document;
  if (family->served_part != nullptr) {
    if (const auto part = document.find(family->served_part)) {
      served = *part;
      remarks.notes.push_back(std::string("only ") + family->served_part +
                              " is counted: what else the config describes is not served with it");
    }
  }
  const config_view root(served, family->model_type, remarks);
  const model_family* text_family = family;
  model_family nested_family;
  json_field text_field = served;
  if (family->text_model_type != nullptr) {
    text_family =
        find_family(family->text_model_of != nullptr ? family->text_model_of(root) : family->text_model_type);
    if (const auto nested = root.find({{"text_config", "language_config", "llm_config"}})) {
      text_field = *nested;
      if (!family->own_text_model) text_family = family_inside(*nested, text_family, asked, remarks);
      nested_family = as_nested(*text_family, *family);
      text_family = &nested_family;
    }
  }
  const config_view text(text_field, text_family->model_type, remarks);
  model_family plain_family;
  if (text_family->is_special != nullptr && !text_family->is_special(text)) {
    plain_family = *text_family;
    plain_family.adjust = nullptr;
    plain_family.plan = nullptr;
    plain_family.finish_layer = nullptr;
    plain_family.finish_model = nullptr;
    text_family = &plain_family;
  }

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
  } else if (text_family->defaults.dtype != nullptr) {
    model.dtype = *text_family->defaults.dtype;
    root.note(std::string("torch_dtype is absent: assumed to be ") + model.dtype.name + ", as published " +
              text_family->model_type + " checkpoints are");
  } else {
    root.note("torch_dtype is absent: the deployment must name the dtype");
  }
  std::optional<checkpoint_quantization> quantization = checkpoint_quantization::of_config(document);
  if (!quantization && beside != nullptr) {
    quantization.emplace(json_field(*beside), checkpoint_quantization::context{type.text(), {}, false});
  }
  stored_modules stored;
  if (quantization) {
    stored.scheme_of = [&](std::string_view module, tensor_kind kind) {
      return quantization->scheme_for(module, kind);
    };
    stored.signature_of_layer = [&](std::uint32_t layer) { return quantization->signature_of_layer(layer); };
  }
  model_builder builder(model, *text_family, std::move(stored));
  read_ending(root, shape, builder);
  build_decoder(builder, text, *text_family, shape);
  if (family->add_towers != nullptr) family->add_towers(root, shape, builder);
  note_unread_parts(root, text, *family, *text_family, model);
  if (family->tokens_of_image != nullptr) result.image = family->tokens_of_image(root);
  if (quantization) {
    result.quantization_method = quantization->method();
    for (const std::string& line : quantization->notes()) root.note("quantization: " + line);
    for (const std::string& line : quantization->doubts()) remarks.doubts.push_back("quantization: " + line);
  }
  validate(model);
  (void)parameter_count(model);  // stops where the sum does not fit in 64 bits
  result.notes = std::move(remarks.notes);
  result.doubts = std::move(remarks.doubts);
  return result;
}

/// A draft model in the format of the library speculators, as a config of its layers' type. Source:
/// vllm-project/speculators src/speculators/models/eagle3/config.py.
[[nodiscard]] inline nlohmann::json config_of_speculator(const json_field& document) {
  const json_field kind = document.at("speculators_model_type");
  if (kind.text() != "eagle3") {
    kind.refuse("\"" + printable(kind.text(), 40) + "\" is not supported, expected eagle3");
  }
  nlohmann::json merged = document.at("transformer_layer_config").as_object().value();
  for (const char* key : {"draft_vocab_size", "target_hidden_size", "norm_before_fc", "torch_dtype", "dtype",
                          "tie_word_embeddings"}) {
    if (const auto given = document.find(key)) merged[key] = given->value();
  }
  merged["architectures"] = nlohmann::json::array({eagle3_speculator});
  if (!merged.contains("model_type") || merged["model_type"] != "llama") {
    document.at("transformer_layer_config").refuse("model_type must be llama");
  }
  return merged;
}

/// Rules of the model that the checks above leave to it are reported with the file's name.
[[nodiscard]] inline huggingface_model read_huggingface_naming_file(const json_field& document,
                                                                    const huggingface_options& asked,
                                                                    const json_document* beside = nullptr) {
  return naming_the_place(document, [&] {
    if (!document.value().is_object() || !document.find("speculators_model_type")) {
      return read_huggingface(document, asked, beside);
    }
    const nlohmann::json merged = config_of_speculator(document);
    return read_huggingface(json_field(merged, document.source()), asked, beside);
  });
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

/// The same of a file at `path` that is parsed already. Where the config names no quantization, ModelOpt's
/// `hf_quant_config.json` in the same folder is read.
[[nodiscard]] inline huggingface_model read_huggingface_config(const json_document& document,
                                                               const std::filesystem::path& path,
                                                               const huggingface_options& asked = {}) {
  const std::filesystem::path beside = path.parent_path() / "hf_quant_config.json";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(beside, ignored)) {
    return detail::read_huggingface_naming_file(json_field(document), asked);
  }
  const json_document quantization = load_json(beside, huggingface_limits);
  return detail::read_huggingface_naming_file(json_field(document), asked, &quantization);
}

/// The same from a file; a directory, a device, an empty, unreadable or larger file is refused.
[[nodiscard]] inline huggingface_model read_huggingface_config(const std::filesystem::path& path,
                                                               const huggingface_options& asked = {}) {
  return read_huggingface_config(load_json(path, huggingface_limits), path, asked);
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
