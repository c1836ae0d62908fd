#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/io/gguf/file.hpp"
#include "kvbudget/io/gguf/inventory.hpp"
#include "kvbudget/io/gguf/model.hpp"
#include "kvbudget/model/model_architecture.hpp"

namespace kvbudget::inline v0 {

/// A model as its GGUF file describes it, and what the file left open.
struct gguf_model {
  model_architecture architecture{};
  std::vector<std::string> notes{};   ///< one line for each value that was assumed and each oddity
  std::vector<std::string> doubts{};  ///< those of the notes that say which figures cannot be trusted
};

/// What a reader of models may assume.
struct gguf_options {
  /// Reads a file whose architecture is unknown like this one; its keys still begin with its own name.
  std::string assume_like{};
};

namespace detail {

[[nodiscard]] inline std::string architecture_of(const gguf_file& file) {
  const metadata_view keys(file.metadata, file.source());
  const std::optional<std::string> name = keys.text("general.architecture");
  if (!name || name->empty()) keys.refuse("general.architecture", "the key is missing");
  if (const auto type = keys.text("general.type"); type && *type == "adapter") {
    keys.refuse("general.type", "is an adapter, not a model");
  }
  return *name;
}

[[nodiscard]] inline const gguf_architecture& architecture_for(const std::string& name, const gguf_file& file,
                                                               const gguf_options& options,
                                                               std::vector<std::string>& notes) {
  if (const gguf_architecture* known = find_gguf_architecture(name)) return *known;
  const std::string line = file.source() + ": general.architecture \"" + printable(name, 40) + "\" ";
  for (const auto& refused : refused_gguf_architectures) {
    if (name == refused.name) refuse_input(line + refused.reason);
  }
  if (options.assume_like.empty()) {
    refuse_input(line + "is not supported" + nearest_gguf_architectures(name) +
                 ": describe the model by hand (docs/model-schema.md), or have it read like a supported one "
                 "(assume_like)");
  }
  const gguf_architecture* like = find_gguf_architecture(options.assume_like);
  if (like == nullptr) {
    refuse_input("assume_like: \"" + printable(options.assume_like, 40) + "\" is not supported" +
                 nearest_gguf_architectures(options.assume_like) + ": docs/model-families.md lists what is");
  }
  notes.push_back("general.architecture \"" + printable(name, 40) + "\" is unknown: assumed to be like " +
                  like->name);
  return *like;
}

}  // namespace detail

/// The model of a GGUF file: geometry from its hyper-parameters, weights from its tensors in the formats they
/// are stored in, so that weights estimated without naming a format are the file's tensor bytes. The dtype is
/// fp16, in which llama.cpp keeps the cache by default. An unknown architecture, a missing or senseless key,
/// and tensors that contradict the keys throw `input_error`: one line with file, key or tensor, and what was
/// expected.
[[nodiscard]] inline gguf_model model_of_gguf(const gguf_file& file, const gguf_options& options = {}) {
  return detail::naming_the_file(file.source(), [&] {
    gguf_model result;
    result.notes = file.notes;
    const std::string name = detail::architecture_of(file);
    const detail::gguf_architecture& architecture =
        detail::architecture_for(name, file, options, result.notes);
    if (name != architecture.name) result.doubts.push_back(result.notes.back());
    const detail::hyperparameters keys(file, name);
    detail::gguf_model_builder(file, architecture, keys, result.notes).build(result.architecture);
    detail::name_gguf_model(result.architecture, file, name);
    validate(result.architecture);
    (void)parameter_count(result.architecture);  // stops where the sum does not fit in 64 bits
    return result;
  });
}

/// The same from a path; see `read_gguf` for split models and for what is refused.
[[nodiscard]] inline gguf_model read_gguf_model(const std::filesystem::path& path,
                                                const gguf_options& options = {}) {
  return model_of_gguf(read_gguf(path), options);
}

/// The same from all files of a split model, in any order.
[[nodiscard]] inline gguf_model read_gguf_model(const std::vector<std::filesystem::path>& paths,
                                                const gguf_options& options = {}) {
  return model_of_gguf(read_gguf(paths), options);
}

/// Only the model of `read_gguf_model`.
[[nodiscard]] inline model_architecture load_gguf(const std::filesystem::path& path) {
  return read_gguf_model(path).architecture;
}

/// Whether a file is a projector (`mmproj`), which belongs beside a text model.
[[nodiscard]] inline bool is_projector(const gguf_file& file) {
  return detail::architecture_of(file) == "clip";
}

/// Adds the weights of a projector file (`mmproj`, architecture "clip") to the text model it belongs to, as
/// vision and audio weights. Any other file is refused.
inline void add_projector(gguf_model& model, const gguf_file& projector) {
  detail::naming_the_file(projector.source(), [&] {
    if (!is_projector(projector)) {
      detail::refuse_input(projector.source() + ": general.architecture \"" +
                           detail::printable(detail::architecture_of(projector), 40) +
                           "\" is not a projector, expected \"clip\"");
    }
    model_architecture whole = model.architecture;
    detail::weight_group_list groups;
    for (const gguf_tensor& tensor : projector.tensors) {
      const gguf_place place = detail::place_of(tensor.name, 0);
      const gguf_place tower = place == gguf_place::audio ? gguf_place::audio : gguf_place::vision;
      groups.push_back(
          detail::outer_group(projector, tensor, tower, whole.precision_of(tensor.type.scheme())));
    }
    const std::size_t room = max_model_weight_groups - whole.weight_count;
    for (const weight_group& group : detail::folded(std::move(groups), room, whole)) whole.add(group);
    model.architecture = whole;
    model.notes.insert(model.notes.end(), projector.notes.begin(), projector.notes.end());
    return 0;
  });
}

}  // namespace kvbudget::inline v0
