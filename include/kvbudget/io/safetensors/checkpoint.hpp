#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/detail/checked.hpp"
#include "kvbudget/io/input_error.hpp"
#include "kvbudget/io/safetensors/dtype.hpp"
#include "kvbudget/io/safetensors/header.hpp"
#include "kvbudget/io/safetensors/index.hpp"
#include "kvbudget/io/safetensors/stored_tensor.hpp"
#include "kvbudget/io/safetensors/tensor_names.hpp"
#include "kvbudget/memory/weights.hpp"
#include "kvbudget/model/weight_group.hpp"

namespace kvbudget::inline v0 {

/// What the tensors alone do not tell; `load_safetensors_model` takes both from the model's config.json.
struct checkpoint_options {
  std::optional<bool> tie_word_embeddings;         ///< the head reads the embedding table
  std::optional<std::uint32_t> num_hidden_layers;  ///< layers numbered from here on are draft layers
};

/// One `.safetensors` file of a checkpoint.
struct checkpoint_file {
  std::string name;
  std::uint64_t bytes = 0;       ///< of the whole file; where only its header is there, as the header says
  std::uint64_t data_bytes = 0;  ///< of its tensors
  std::size_t tensors = 0;
  bool data_is_missing = false;
};

/// One way to say how large a checkpoint is: an item of its own, never to be mixed with the others.
struct checkpoint_size {
  const char* name = "";
  std::optional<std::uint64_t> bytes;  ///< nothing where it cannot be known
  const char* meaning = "";
};

/// The sizes of a checkpoint, largest first.
struct checkpoint_sizes {
  checkpoint_size disk{"disk", {}, "The files, with their headers."};
  checkpoint_size stored_tensors{"stored_tensors", {}, "All tensors in the files, copies included."};
  checkpoint_size unique_tensors{
      "unique_tensors", {}, "The tensors without second copies of the embedding and the head."};
  checkpoint_size engine_resident{
      "engine_resident",
      {},
      "What an engine keeps: unique tensors without draft layers and without buffers that it computes."};
};

/// The weights of a model as they lie on disk.
struct checkpoint {
  std::vector<stored_tensor> tensors;  ///< sorted by name; empty where only an index is there
  std::vector<checkpoint_file> files;
  checkpoint_sizes sizes;
  std::vector<std::string> unsized_tensors;  ///< names, where only an index is there
  std::vector<std::string> notes;            ///< one line for whatever is unknown or assumed

  /// Whether the tensors are known, or only their names.
  [[nodiscard]] bool has_tensors() const { return unsized_tensors.empty(); }
};

namespace detail {

/// The embedding's or the head's table over the vocabulary, `shared` (T5, BART) before all; null if there is
/// none.
[[nodiscard]] inline const stored_tensor* find_table(const checkpoint& stored, module_role role) {
  const stored_tensor* largest = nullptr;
  for (const stored_tensor& tensor : stored.tensors) {
    if (tensor.role != role || tensor.use != tensor_use::weight || tensor.shape.size() != 2) continue;
    const tensor_path path(tensor.name);
    if (path.has({"embed_tokens_per_layer", "wpe", "embed_positions", "position_embeddings"})) continue;
    if (path.from_end(1) == "shared") return &tensor;
    if (largest == nullptr || tensor.elements > largest->elements) largest = &tensor;
  }
  return largest;
}

/// Marks second copies: the head of a tied embedding, embeddings of encoder and decoder beside `shared` (T5,
/// BART), and the embedding and head in draft layers, which are the model's own (deepseek-ai/DeepSeek-V3,
/// README_WEIGHTS.md).
inline void mark_duplicates(checkpoint& stored, const checkpoint_options& options) {
  const stored_tensor* embedding = find_table(stored, module_role::embedding);
  if (embedding == nullptr) return;
  const bool tied = options.tie_word_embeddings.value_or(false);
  const stored_tensor* head = find_table(stored, module_role::lm_head);
  const bool shared = tensor_path(embedding->name).from_end(1) == "shared";
  for (stored_tensor& tensor : stored.tensors) {
    if (tensor.use != tensor_use::weight || &tensor == embedding) continue;
    const tensor_path path(tensor.name);
    const bool same_as_embedding = tensor.shape == embedding->shape && tensor.dtype == embedding->dtype;
    bool copy = false;
    if (tensor.role == module_role::lm_head) copy = tied && same_as_embedding;
    if (tensor.role == module_role::embedding) {
      copy = shared && same_as_embedding && path.has({"embed_tokens"});
    }
    if (tensor.role == module_role::draft && path.has({"embed_tokens"})) copy = same_as_embedding;
    if (tensor.role == module_role::draft && path.from_end(1) == "head" && head != nullptr) {
      copy = tensor.shape == head->shape && tensor.dtype == head->dtype;
    }
    if (copy) tensor.use = tensor_use::duplicate;
  }
  if (head == nullptr || head->use == tensor_use::duplicate) return;
  if (tied) {
    stored.notes.push_back(
        printable(head->name, 120) +
        ": differs in shape or dtype from the embedding that it is tied to, so it is counted");
  } else if (!options.tie_word_embeddings && head->shape == embedding->shape) {
    stored.notes.push_back("tie_word_embeddings is not given: " + printable(head->name, 120) +
                           " is counted; it is a second copy if the embedding is tied");
  }
}

/// What each tensor is, by names and neighbours.
inline void classify(checkpoint& stored, const checkpoint_options& options) {
  for (stored_tensor& tensor : stored.tensors) {
    const tensor_path path(tensor.name);
    tensor.role = role_of(path, stored.tensors, options.num_hidden_layers);
    if (is_buffer(path, tensor)) {
      tensor.use = tensor_use::buffer;
    } else if (is_scale(path, stored.tensors)) {
      tensor.use = tensor_use::scale;
    } else if (is_packed(path, tensor, stored.tensors)) {
      tensor.use = tensor_use::packed;
      tensor.parameters = parameters_in(path, tensor, stored.tensors);
    } else {
      tensor.use = tensor_use::weight;
      tensor.parameters = tensor.elements;
    }
  }
  mark_duplicates(stored, options);
  if (!options.num_hidden_layers) {
    stored.notes.emplace_back(
        "num_hidden_layers is not given: draft layers that are only numbered on are counted as layers");
  }
}

[[nodiscard]] inline bool is_resident(const stored_tensor& tensor, bool load_draft_layers) {
  if (tensor.use == tensor_use::duplicate || tensor.use == tensor_use::buffer) return false;
  return load_draft_layers || tensor.role != module_role::draft;
}

inline void add_sizes(checkpoint& stored) {
  std::uint64_t disk = 0;
  for (const checkpoint_file& file : stored.files) disk = checked_add(disk, file.bytes);
  std::uint64_t all = 0;
  std::uint64_t unique = 0;
  std::uint64_t resident = 0;
  for (const stored_tensor& tensor : stored.tensors) {
    all = checked_add(all, tensor.bytes);
    if (tensor.use != tensor_use::duplicate) unique = checked_add(unique, tensor.bytes);
    if (is_resident(tensor, false)) resident = checked_add(resident, tensor.bytes);
  }
  stored.sizes.disk.bytes = disk;
  stored.sizes.stored_tensors.bytes = all;
  stored.sizes.unique_tensors.bytes = unique;
  stored.sizes.engine_resident.bytes = resident;
}

}  // namespace detail

/// A file's name and its header.
struct named_header {
  std::string name;
  safetensors_header header;
};

/// The checkpoint of these files, under the names that errors call them by; with an index, in its order. No
/// tensors, a tensor in two files, a tensor that the index places in another file, and sums beyond 64 bits
/// throw.
[[nodiscard]] inline checkpoint make_checkpoint(std::vector<named_header> files,
                                                const checkpoint_options& options,
                                                const safetensors_index* index = nullptr) {
  checkpoint stored;
  std::size_t count = 0;
  for (const named_header& file : files) count += file.header.tensors.size();
  stored.tensors.reserve(count);
  for (named_header& file : files) {
    const auto number = static_cast<std::uint32_t>(stored.files.size());
    const safetensors_header& header = file.header;
    stored.files.push_back({std::move(file.name), detail::checked_add(header.header_bytes, header.data_bytes),
                            header.data_bytes, header.tensors.size(), header.data_is_missing});
    for (stored_tensor& tensor : file.header.tensors) {
      tensor.file = number;
      stored.tensors.push_back(std::move(tensor));
    }
    if (header.data_is_missing) {
      stored.notes.push_back(stored.files.back().name +
                             ": only the header is there; sizes are what it says they are");
    }
  }
  detail::sort_by_name(stored.tensors);
  for (std::size_t i = 1; i < stored.tensors.size(); ++i) {
    const stored_tensor& tensor = stored.tensors[i];
    if (tensor.name != stored.tensors[i - 1].name) continue;
    const std::string& other = stored.files[stored.tensors[i - 1].file].name;
    detail::refuse_tensor(stored.files[tensor.file].name, tensor, "is also in " + other);
  }
  if (stored.tensors.empty()) {
    detail::refuse_input((stored.files.empty() ? std::string("checkpoint") : stored.files[0].name) +
                         ": holds no tensors");
  }
  if (index != nullptr) {
    if (index->files.size() != stored.files.size()) {
      detail::refuse_input("checkpoint: the index names " + std::to_string(index->files.size()) +
                           " shards, " + std::to_string(stored.files.size()) + " are given");
    }
    std::size_t listed = 0;
    for (const safetensors_index::entry& entry : index->entries) {
      const stored_tensor* tensor = detail::find_tensor(stored.tensors, entry.tensor);
      const std::string& file = stored.files[entry.file].name;
      if (tensor == nullptr || tensor->file != entry.file) {
        detail::refuse_input(file + ": tensor \"" + detail::printable(entry.tensor, 120) +
                             "\" is missing, the index says that it is here");
      }
      ++listed;
    }
    if (listed != stored.tensors.size()) {
      stored.notes.push_back("the index does not list " + std::to_string(stored.tensors.size() - listed) +
                             " tensors of the shards; they are counted");
    }
  }
  detail::classify(stored, options);
  detail::add_sizes(stored);
  if (index != nullptr && index->total_size && *index->total_size != *stored.sizes.stored_tensors.bytes) {
    stored.notes.push_back("the index says total_size " + std::to_string(*index->total_size) +
                           ", the shards hold " + std::to_string(*stored.sizes.stored_tensors.bytes) +
                           " bytes of tensors: the shards are right");
  }
  return stored;
}

/// What an index alone tells: names, and the bytes of all tensors where it gives them. Every other size stays
/// unknown.
[[nodiscard]] inline checkpoint make_checkpoint(const safetensors_index& index) {
  checkpoint stored;
  stored.sizes.stored_tensors.bytes = index.total_size;
  for (const safetensors_index::entry& entry : index.entries) stored.unsized_tensors.push_back(entry.tensor);
  stored.notes.push_back("none of the " + std::to_string(index.files.size()) +
                         " shards is here: shapes, dtypes and the size on disk are unknown");
  stored.notes.emplace_back(
      index.total_size ? "total_size counts copies, draft layers and buffers: an engine keeps at most that"
                       : "the index gives no total_size: the size of the weights is unknown");
  return stored;
}

/// The weights that one rank holds if it holds all: bytes as stored, by module, scales apart; no copies, no
/// buffers, draft layers only if they are loaded. Stops where only an index is there.
[[nodiscard]] inline weight_bytes resident_weights(const checkpoint& stored, bool load_draft_layers = false) {
  if (!stored.has_tensors()) {
    detail::refuse_input("checkpoint: the shards are missing: their weights are unknown");
  }
  weight_bytes sum;
  for (const stored_tensor& tensor : stored.tensors) {
    if (!detail::is_resident(tensor, load_draft_layers)) continue;
    std::uint64_t& part =
        tensor.use == tensor_use::scale ? sum.scales : sum.modules[static_cast<std::size_t>(tensor.role)];
    part = detail::checked_add(part, tensor.bytes);
  }
  sum.scales_high = sum.scales;
  return sum;
}

/// Bytes of all stored tensors of one dtype.
[[nodiscard]] inline std::uint64_t stored_bytes(const checkpoint& stored, safetensors_dtype dtype) {
  std::uint64_t sum = 0;
  for (const stored_tensor& tensor : stored.tensors) {
    if (tensor.dtype == dtype) sum += tensor.bytes;
  }
  return sum;
}

/// Bytes of all stored tensors of one use.
[[nodiscard]] inline std::uint64_t stored_bytes(const checkpoint& stored, tensor_use use) {
  std::uint64_t sum = 0;
  for (const stored_tensor& tensor : stored.tensors) {
    if (tensor.use == use) sum += tensor.bytes;
  }
  return sum;
}

/// Σ of shape products over all tensors: what a model's page shows, which counts copies, scales and buffers,
/// and packed weights as what they are packed in.
[[nodiscard]] inline std::uint64_t stored_elements(const checkpoint& stored) {
  std::uint64_t sum = 0;
  for (const stored_tensor& tensor : stored.tensors) sum = detail::checked_add(sum, tensor.elements);
  return sum;
}

}  // namespace kvbudget::inline v0
