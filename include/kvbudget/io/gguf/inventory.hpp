#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/io/gguf/file.hpp"
#include "kvbudget/io/gguf/tensor_names.hpp"
#include "kvbudget/model/model_architecture.hpp"
#include "kvbudget/units/quantity.hpp"

namespace kvbudget::inline v0 {

/// Tensor bytes of a model by the part they sit in, without padding: what an engine that places whole layers
/// on devices has to know.
struct gguf_inventory {
  bytes input{};                ///< embeddings
  bytes per_layer_embedding{};  ///< tables beside them (Gemma 3n, 4)
  bytes output{};               ///< head, final norm
  bytes encoder{};
  bytes vision{};
  bytes audio{};
  bytes other{};
  std::vector<bytes> layers{};  ///< of the main stack, in order
  std::vector<bytes>
      drafts{};  ///< blocks behind it, in order; draft tensors outside blocks count for the last

  /// The sum of everything.
  [[nodiscard]] bytes total() const {
    bytes sum = input + per_layer_embedding + output + encoder + vision + audio + other;
    for (const bytes layer : layers) sum += layer;
    for (const bytes draft : drafts) sum += draft;
    return sum;
  }
};

/// The inventory of a file; which blocks are layers and which drafts is what the model read from it says.
[[nodiscard]] inline gguf_inventory inventory_of(const gguf_file& file, std::uint32_t layers) {
  gguf_inventory result;
  result.layers.resize(layers);
  for (const gguf_tensor& tensor : file.tensors) {
    const bytes size{tensor.bytes};
    const gguf_place place = detail::place_of(tensor.name, layers);
    const std::uint32_t block = detail::parts_of(tensor.name).block;
    switch (place) {
      case gguf_place::input: result.input += size; break;
      case gguf_place::per_layer_embedding: result.per_layer_embedding += size; break;
      case gguf_place::layer: result.layers[block] += size; break;
      case gguf_place::draft: {
        std::size_t at = result.drafts.empty() ? 0 : result.drafts.size() - 1;
        if (block != detail::no_block) at = block - layers;
        if (at >= max_layers)
          detail::refuse_input(file.source() + ": tensor " + detail::printable(tensor.name) +
                               ": there are no models of so many blocks");
        if (at >= result.drafts.size()) result.drafts.resize(at + 1);
        result.drafts[at] += size;
        break;
      }
      case gguf_place::encoder: result.encoder += size; break;
      case gguf_place::output: result.output += size; break;
      case gguf_place::vision: result.vision += size; break;
      case gguf_place::audio: result.audio += size; break;
      case gguf_place::other: result.other += size; break;
    }
  }
  return result;
}

}  // namespace kvbudget::inline v0
