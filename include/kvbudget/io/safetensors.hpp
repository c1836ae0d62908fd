#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "kvbudget/deployment/deployment.hpp"
#include "kvbudget/io/huggingface.hpp"
#include "kvbudget/io/input_error.hpp"
#include "kvbudget/io/safetensors/checkpoint.hpp"
#include "kvbudget/io/safetensors/header.hpp"
#include "kvbudget/io/safetensors/index.hpp"
#include "kvbudget/model/model_architecture.hpp"

namespace kvbudget::inline v0 {

namespace detail {

[[nodiscard]] inline named_header load_named_header(const std::filesystem::path& path) {
  return {printable(path.string()), load_safetensors_header(path)};
}

/// Shards beside an index: all of them, or none.
[[nodiscard]] inline checkpoint load_indexed(const std::filesystem::path& path,
                                             const checkpoint_options& options) {
  const safetensors_index index = load_safetensors_index(path);
  const std::filesystem::path folder = path.parent_path();
  const std::string* missing = nullptr;
  std::size_t there = 0;
  for (const std::string& file : index.files) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / file, ignored)) {
      ++there;
    } else if (missing == nullptr) {
      missing = &file;
    }
  }
  if (there == 0) return make_checkpoint(index);
  if (missing != nullptr) {
    refuse_input(printable(path.string()) + ": shard " + printable(*missing, 120) + " is missing, " +
                 std::to_string(there) + " of " + std::to_string(index.files.size()) + " are here");
  }
  std::vector<named_header> files;
  for (const std::string& file : index.files) files.push_back(load_named_header(folder / file));
  return make_checkpoint(std::move(files), options, &index);
}

/// `model-00002-of-00005.safetensors`: number and count of a shard, where a name has them.
struct shard_number {
  std::string_view stem;
  std::uint32_t number = 0;
  std::uint32_t count = 0;
};

[[nodiscard]] inline std::optional<shard_number> shard_number_in(std::string_view name) {
  constexpr std::string_view pattern = "-#####-of-#####.safetensors";
  if (name.size() <= pattern.size()) return std::nullopt;
  const std::string_view tail = name.substr(name.size() - pattern.size());
  std::uint32_t numbers[2] = {};
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '#') {
      if (tail[i] != pattern[i]) return std::nullopt;
      continue;
    }
    if (tail[i] < '0' || tail[i] > '9') return std::nullopt;
    std::uint32_t& number = numbers[i < 6 ? 0 : 1];
    number = number * 10 + static_cast<std::uint32_t>(tail[i] - '0');
  }
  return shard_number{name.substr(0, name.size() - pattern.size()), numbers[0], numbers[1]};
}

/// Stops where numbered shards without an index are not all there: `1 of 3` alone would be a small model.
inline void refuse_incomplete_shards(const std::vector<std::string>& names, const std::string& folder) {
  for (const std::string& name : names) {
    const std::optional<shard_number> shard = shard_number_in(name);
    if (!shard) continue;
    std::uint32_t siblings = 0;
    for (const std::string& other : names) {
      const std::optional<shard_number> same = shard_number_in(other);
      if (same && same->stem == shard->stem && same->count == shard->count) ++siblings;
    }
    if (siblings < shard->count) {
      refuse_input(folder + ": holds " + std::to_string(siblings) + " of the " +
                   std::to_string(shard->count) + " shards that " + printable(name, 120) + " belongs to");
    }
  }
}

/// The `.safetensors` files of a folder without an index that make up its model: `model.safetensors` if it is
/// there, else all. `left_out` gets a note for the others.
[[nodiscard]] inline std::vector<std::string> model_files(std::vector<std::string> names,
                                                          std::vector<std::string>& left_out) {
  std::sort(names.begin(), names.end());
  const auto is_adapter = [](const std::string& name) { return name.starts_with("adapter"); };
  const bool has_model = std::find(names.begin(), names.end(), "model.safetensors") != names.end();
  std::vector<std::string> kept;
  for (const std::string& name : names) {
    const bool keep = has_model ? name == "model.safetensors" : !is_adapter(name);
    if (keep) {
      kept.push_back(name);
    } else {
      left_out.push_back(printable(name, 120) + ": lies beside the model and is not counted");
    }
  }
  return kept;
}

[[nodiscard]] inline checkpoint load_folder(const std::filesystem::path& folder,
                                            const checkpoint_options& options) {
  constexpr std::string_view index_ending = ".safetensors.index.json";
  const std::string name = printable(folder.string());
  std::vector<std::string> names;
  std::vector<std::string> indexes;
  std::error_code problem;
  for (std::filesystem::directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem)) {
    std::string file = at->path().filename().string();
    if (file.ends_with(".safetensors")) names.push_back(file);
    if (file.ends_with(index_ending)) indexes.push_back(std::move(file));
    if (names.size() > max_shards) {
      refuse_input(name + ": holds more than " + std::to_string(max_shards) + " .safetensors files");
    }
  }
  if (problem) refuse_input(name + ": " + problem.message());
  const bool usual =
      std::find(indexes.begin(), indexes.end(), "model.safetensors.index.json") != indexes.end();
  if (usual) return load_indexed(folder / "model.safetensors.index.json", options);
  if (indexes.size() == 1) return load_indexed(folder / indexes[0], options);
  if (indexes.size() > 1)
    refuse_input(name + ": holds several *.safetensors.index.json, name the one to read");
  std::vector<std::string> notes;
  names = model_files(std::move(names), notes);
  if (names.empty()) refuse_input(name + ": holds no .safetensors file and no *.safetensors.index.json");
  refuse_incomplete_shards(names, name);
  std::vector<named_header> files;
  for (const std::string& file : names) files.push_back(load_named_header(folder / file));
  checkpoint stored = make_checkpoint(std::move(files), options);
  stored.notes.insert(stored.notes.end(), notes.begin(), notes.end());
  return stored;
}

}  // namespace detail

/// The weights of a model from what is on disk, of which only headers are read: a folder, its
/// `model.safetensors.index.json`, or one `.safetensors` file. An index without any of its shards gives names
/// and total_size; a header without its data is accepted with a note. Anything that contradicts itself, is
/// cut off or missing throws `input_error` with the file's name.
[[nodiscard]] inline checkpoint load_safetensors(const std::filesystem::path& path,
                                                 const checkpoint_options& options = {}) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return detail::load_folder(path, options);
  if (path.extension() == ".json") return detail::load_indexed(path, options);
  std::vector<named_header> files;
  files.push_back(detail::load_named_header(path));
  return make_checkpoint(std::move(files), options);
}

/// One place where a checkpoint holds something else than its config describes.
struct checkpoint_difference {
  std::uint64_t stored = 0;     ///< elements in the files
  std::uint64_t described = 0;  ///< elements of the model's weight groups
  std::string reason;
  bool explained = false;  ///< copies, buffers, scales and draft layers are; different modules are not
};

namespace detail {

/// Elements of some tensors, the first of their names, and how many they are.
struct counted_tensors {
  std::uint64_t elements = 0;
  std::size_t count = 0;
  std::string first;

  void add(const stored_tensor& tensor) {
    if (count++ == 0) first = printable(tensor.name, 120);
    elements = checked_add(elements, tensor.elements);
  }
  [[nodiscard]] std::string names() const {
    return count == 1 ? first : first + " and " + std::to_string(count - 1) + " more";
  }
};

/// What the weights of one module hold: parameters, and bytes whose packing is unknown.
struct counted_module {
  std::uint64_t parameters = 0;
  std::uint64_t uncounted_bytes = 0;
};

inline void explain_extras(std::vector<checkpoint_difference>& found, const checkpoint& stored) {
  counted_tensors buffers;
  counted_tensors scales;
  for (const stored_tensor& tensor : stored.tensors) {
    if (tensor.use == tensor_use::buffer) buffers.add(tensor);
    if (tensor.use == tensor_use::scale) scales.add(tensor);
    if (tensor.use != tensor_use::duplicate) continue;
    const bool head = tensor.role == module_role::lm_head;
    found.push_back({tensor.elements, 0,
                     printable(tensor.name, 120) +
                         (head ? " duplicates the tied embedding" : " duplicates the embedding or the head"),
                     true});
  }
  if (buffers.count != 0) {
    found.push_back({buffers.elements, 0, buffers.names() + ": buffers that engines compute", true});
  }
  if (scales.count != 0) {
    found.push_back({scales.elements, 0, scales.names() + ": scales of quantized weights", true});
  }
}

}  // namespace detail

/// Where the stored elements differ from those that the architecture describes: first what is explained
/// (copies, buffers, scales, draft layers), then each module that holds more or less than its formula, unless
/// all of them together agree. Packed weights count as the parameters that they stand for; where that cannot
/// be told, the module says so. Empty where only an index is there.
[[nodiscard]] inline std::vector<checkpoint_difference> differences(const checkpoint& stored,
                                                                    const model_architecture& model) {
  using detail::checked_add;
  std::vector<checkpoint_difference> found;
  detail::explain_extras(found, stored);
  detail::counted_module modules[module_role_count];
  for (const stored_tensor& tensor : stored.tensors) {
    if (tensor.use != tensor_use::weight && tensor.use != tensor_use::packed) continue;
    detail::counted_module& module = modules[static_cast<std::size_t>(tensor.role)];
    if (tensor.parameters) {
      module.parameters = checked_add(module.parameters, *tensor.parameters);
    } else {
      module.uncounted_bytes = checked_add(module.uncounted_bytes, tensor.bytes);
    }
  }
  std::uint64_t all_stored = 0;
  std::uint64_t all_described = 0;
  bool uncounted = false;
  for (std::size_t i = 0; i < module_role_count && stored.has_tensors(); ++i) {
    const auto role = static_cast<module_role>(i);
    const std::uint64_t described = parameter_count(model, role).value;
    if (role == module_role::draft) {
      if (modules[i].parameters != described || modules[i].uncounted_bytes != 0) {
        found.push_back({modules[i].parameters, described, "draft layers, which engines load only when asked",
                         described == 0});
      }
      continue;
    }
    all_stored = checked_add(all_stored, modules[i].parameters);
    all_described = checked_add(all_described, described);
    uncounted = uncounted || modules[i].uncounted_bytes != 0;
  }
  if (all_stored == all_described && !uncounted) return found;
  for (std::size_t i = 0; i < module_role_count && stored.has_tensors(); ++i) {
    const auto role = static_cast<module_role>(i);
    const std::uint64_t described = parameter_count(model, role).value;
    if (role == module_role::draft) continue;
    if (modules[i].uncounted_bytes != 0) {
      found.push_back({modules[i].parameters, described,
                       std::string(name_of(role)) + ": " + std::to_string(modules[i].uncounted_bytes) +
                           " bytes are packed in a way that headers do not tell",
                       false});
    } else if (modules[i].parameters != described) {
      found.push_back({modules[i].parameters, described, std::string(name_of(role)), false});
    }
  }
  return found;
}

/// A model whose weights are on disk: what a deployment needs of both.
struct safetensors_model {
  huggingface_model config;
  checkpoint weights;
  std::vector<checkpoint_difference> differences;

  /// Whether every element on disk is described by the config, or explained.
  [[nodiscard]] bool agrees() const {
    for (const checkpoint_difference& difference : differences) {
      if (!difference.explained) return false;
    }
    return weights.has_tensors();
  }
};

/// One line for people: what is stored, what is described, and why they differ.
[[nodiscard]] inline std::string summary_of(const safetensors_model& model) {
  const std::uint64_t described = parameter_count(model.config.architecture).value;
  if (!model.weights.has_tensors()) {
    return "the shards are missing, the config describes " + std::to_string(described) + " elements";
  }
  std::string line = "the checkpoint stores " + std::to_string(stored_elements(model.weights)) +
                     " elements, the config describes " + std::to_string(described);
  const char* separator = ": ";
  for (const checkpoint_difference& difference : model.differences) {
    line += separator + difference.reason;
    if (!difference.explained) {
      line += " (stores " + std::to_string(difference.stored) + ", described are " +
              std::to_string(difference.described) + ")";
    }
    separator = "; ";
  }
  return line;
}

/// The weights of one rank that holds the whole model, to pin in a deployment: what an engine keeps, exact.
/// Stops where only an index is there.
[[nodiscard]] inline amount resident_amount(const checkpoint& stored) {
  if (!stored.sizes.engine_resident.bytes) {
    detail::refuse_input("checkpoint: the shards are missing: what an engine keeps of them is unknown");
  }
  const bytes size{*stored.sizes.engine_resident.bytes};
  return {size, size, size, basis::exact, "tensors on disk without copies, buffers and draft layers"};
}

/// The model in a folder of a `config.json` and `.safetensors` files (or one of these files, or their index):
/// the architecture by the config, the weights by their headers, and where the two differ. A missing config
/// is refused: tensors alone tell neither caches nor which embedding is tied.
[[nodiscard]] inline safetensors_model load_safetensors_model(const std::filesystem::path& path,
                                                              const huggingface_options& asked = {}) {
  std::error_code ignored;
  const std::string name = detail::printable(path.string());
  if (!std::filesystem::exists(path, ignored)) detail::refuse_input(name + ": no such file or folder");
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  const std::filesystem::path config = (is_folder ? path : path.parent_path()) / "config.json";
  if (!std::filesystem::exists(config, ignored)) {
    detail::refuse_input(name + ": config.json is missing there: add the model's own, tensors alone do not " +
                         "tell what its layers keep in the cache");
  }
  safetensors_model model;
  model.config = read_huggingface_config(config, asked);
  const model_architecture& architecture = model.config.architecture;
  model.weights = load_safetensors(path, {.tie_word_embeddings = architecture.tie_word_embeddings,
                                          .num_hidden_layers = architecture.num_hidden_layers});
  model.differences = differences(model.weights, architecture);
  return model;
}

}  // namespace kvbudget::inline v0
