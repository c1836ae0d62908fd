#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kvbudget/io/format_names.hpp"
#include "kvbudget/io/huggingface/families/deepseek_v4.hpp"
#include "kvbudget/io/huggingface/families/dense.hpp"
#include "kvbudget/io/huggingface/families/dialects.hpp"
#include "kvbudget/io/huggingface/families/encoder.hpp"
#include "kvbudget/io/huggingface/families/encoder_decoder.hpp"
#include "kvbudget/io/huggingface/families/gemma.hpp"
#include "kvbudget/io/huggingface/families/gemma4.hpp"
#include "kvbudget/io/huggingface/families/latent.hpp"
#include "kvbudget/io/huggingface/families/linear_attention.hpp"
#include "kvbudget/io/huggingface/families/llama_like.hpp"
#include "kvbudget/io/huggingface/families/mixture.hpp"
#include "kvbudget/io/huggingface/families/mixture_patterned.hpp"
#include "kvbudget/io/huggingface/families/multimodal.hpp"
#include "kvbudget/io/huggingface/families/per_layer.hpp"
#include "kvbudget/io/huggingface/families/rwkv.hpp"
#include "kvbudget/io/huggingface/families/state_space.hpp"

namespace kvbudget::inline v0::detail {

/// The families that one header describes.
struct family_table {
  const model_family* first;
  std::size_t count;
  template <std::size_t Size>
  constexpr family_table(const model_family (&families)[Size])  // NOLINT: a table is its families
      : first(families), count(Size) {}
  [[nodiscard]] constexpr const model_family* begin() const { return first; }
  [[nodiscard]] constexpr const model_family* end() const { return first + count; }
};

/// Every family that is known, in the order in which errors list them.
inline constexpr family_table family_tables[] = {
    dense_families,              // attention and an MLP
    llama_like_families,         // the same, as Llama's relatives have it
    dialect_families,            // the same, under names of their own
    per_layer_families,          // sizes that differ from layer to layer
    encoder_families,            // no cache
    encoder_decoder_families,    // self attention and cross attention
    gemma_families,              // Gemma 1 to 3
    gemma4_families,             // Gemma 3n and 4
    mixture_families,            // attention and experts
    mixture_patterned_families,  // the same, with layers of different attention
    latent_families,             // MLA
    deepseek_v4_families,        // compressed caches
    state_space_families,        // Mamba and hybrids with it
    linear_attention_families,   // linear attention and hybrids with it
    rwkv_families,               // RWKV 4 to 7
    multimodal_families,         // text models with towers beside them
};

/// The family that a config's `model_type` names; null where none does.
[[nodiscard]] inline const model_family* find_family(std::string_view model_type) {
  static const std::unordered_map<std::string_view, const model_family*> index = [] {
    std::unordered_map<std::string_view, const model_family*> all;
    for (const family_table& table : family_tables) {
      for (const model_family& family : table) all.emplace(family.model_type, &family);
    }
    return all;
  }();
  const auto found = index.find(model_type);
  return found == index.end() ? nullptr : found->second;
}

/// " (did you mean qwen3, qwen2?)", or nothing where no supported type looks like it.
[[nodiscard]] inline std::string nearest_families(std::string_view model_type) {
  const std::string asked(model_type.substr(0, 60));
  suggestions near(key_of(asked.c_str()));
  for (const family_table& table : family_tables) {
    for (const model_family& family : table) near.offer(family.model_type, family.model_type);
  }
  const std::string text = near.text_or("");
  return text.back() == '?' ? " (" + text.substr(2) + ")" : std::string();
}

}  // namespace kvbudget::inline v0::detail
