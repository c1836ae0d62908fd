#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvbudget/io/huggingface.hpp"
#include "kvbudget/kvbudget.hpp"

namespace cli {

/// One size that a checkpoint has on disk, apart from what its model computes.
struct stored_size {
  std::string name;
  kvbudget::bytes size{};
  std::string meaning;
};

/// A model that was read from a file or a folder, and everything that reading it brought to light.
struct described_model {
  kvbudget::model_architecture model{};
  std::string source;                       ///< "Hugging Face config", "GGUF file", …
  std::vector<std::string> notes;           ///< what was assumed, ignored or left open
  std::vector<stored_size> stored;          ///< what the files hold, where there are any
  kvbudget::image_tokens image{};           ///< tokens that an image takes; 0 = unknown, or no vision
  std::optional<std::string> quantization;  ///< the method that a config names

  described_model() = default;
};

/// Reads whatever the path holds, told by its content: a `config.json`, a model in this project's own schema,
/// a GGUF file (or the first of a split one), a `.safetensors` file, an index of shards, or a model folder.
/// `assume_like` is the supported family that an unsupported `model_type` is read like, or empty.
[[nodiscard]] described_model read_model_from(const std::string& path, const std::string& assume_like);

}  // namespace cli
