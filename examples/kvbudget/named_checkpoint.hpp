#pragma once

#include <optional>
#include <string>

#include "kvbudget/format/weight_scheme.hpp"
#include "kvbudget/model/model_architecture.hpp"

namespace cli {

/// What the name of a quantized checkpoint says: the catalogue's model that it was made of, and the scheme.
struct named_checkpoint {
  const kvbudget::model_architecture* model = nullptr;
  std::string scheme;  ///< as `--weights` takes it
  std::string ending;  ///< the part of the name that says so
  bool gguf = false;   ///< a GGUF file's name
  bool mixed = false;  ///< its type keeps some tensors in larger formats
};

/// `Qwen/Qwen3-8B-FP8`, `somebody/Meta-Llama-3.1-70B-Instruct-AWQ-INT4`: a model of the catalogue under
/// another's name, with an ending that names a quantization; also the types of GGUF files
/// (`Qwen3-8B-Q4_K_M`, `unsloth/Qwen3-8B-GGUF:Q8_0`, `Qwen3-8B-GGUF`: Q4_K_M). Nothing where the rest is not
/// in the catalogue.
[[nodiscard]] std::optional<named_checkpoint> checkpoint_named(const std::string& name);

}  // namespace cli
