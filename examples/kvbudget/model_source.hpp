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
  std::optional<std::uint64_t> size;  ///< in bytes; nothing = the files at hand do not tell
  std::string meaning;
};

/// A model that was read from a file or a folder, and everything that reading it brought to light.
struct described_model {
  kvbudget::model_architecture model{};
  std::string source;                        ///< "Hugging Face config", "GGUF file", …
  std::vector<std::string> notes;            ///< what was assumed, ignored or left open by a rule
  std::vector<std::string> warnings;         ///< what figures cannot be trusted for
  std::vector<stored_size> stored;           ///< what the files hold, where there are any
  std::optional<kvbudget::amount> resident;  ///< weights of one rank by the files, where the model's own
                                             ///< count differs
  kvbudget::image_tokens image{};            ///< tokens that an image takes; 0 = unknown, or no vision
  std::optional<std::string> quantization;   ///< the method that a config names
};

/// Reads whatever the path holds, told by its content: a `config.json`, a model in this project's own schema,
/// a GGUF file (or any part of a split one), a `.safetensors` file, an index of shards, or a model folder.
/// `assume_like` is the supported family that an unsupported type is read like, or empty.
/// Several paths are the GGUF files of one model.
[[nodiscard]] described_model read_model_from(const std::vector<std::string>& paths,
                                              const std::string& assume_like);

/// The same of what `--config`, `--safetensors` and `--gguf` name. Several GGUF files are the parts of one
/// model, with a projector (mmproj) among them or not.
[[nodiscard]] described_model read_config_file(const std::string& path, const std::string& assume_like);
[[nodiscard]] described_model read_checkpoint(const std::string& path, const std::string& assume_like);
[[nodiscard]] described_model read_gguf_files(const std::vector<std::string>& paths,
                                              const std::string& assume_like);

}  // namespace cli
