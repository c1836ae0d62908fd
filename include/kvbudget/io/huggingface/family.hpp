#pragma once

#include <cstdint>

#include "kvbudget/io/huggingface/config_view.hpp"

/// What tells one `model_type` of Hugging Face transformers from another, as plain data: adding a family is
/// adding one description to the table in `families.hpp`.
namespace kvbudget::inline v0::detail {

/// Where the sizes stand in the config.
struct family_keys {
  key_names hidden_size{{"hidden_size"}};
  key_names num_hidden_layers{{"num_hidden_layers"}};
  key_names num_attention_heads{{"num_attention_heads"}};
  key_names num_key_value_heads{{"num_key_value_heads"}};
  key_names head_dim{{"head_dim"}};
  key_names intermediate_size{{"intermediate_size"}};
  key_names vocab_size{{"vocab_size"}};
  key_names max_position_embeddings{{"max_position_embeddings"}};
};

/// What the config class of the family takes where a key is absent; 0 = there is no default that published
/// configs rely on, so the key must be there (KV heads: as many as query heads; head dim: hidden / heads;
/// maximum position: unknown).
struct family_defaults {
  std::uint32_t vocab_size = 0;
  std::uint32_t num_attention_heads = 0;
  std::uint32_t num_key_value_heads = 0;
  std::uint32_t head_dim = 0;
  std::uint32_t intermediate_per_hidden = 0;  ///< intermediate size as a multiple of the hidden size
  std::uint64_t max_position_embeddings = 0;
  bool tie_word_embeddings = false;
};

/// Norms of queries and keys.
enum class query_key_norm : std::uint8_t {
  none,
  head_dim,    ///< one vector of head_dim for all query heads, one for all KV heads
  full_width,  ///< one vector over all query heads, one over all KV heads, on every rank
  each_head    ///< a vector of head_dim of its own for each head
};

/// Which layers keep only a window of the last tokens, where the config gives no `layer_types`.
enum class window_rule : std::uint8_t {
  none,                 ///< no window of its own
  every_layer,          ///< all, when `sliding_window` is set
  behind_first_layers,  ///< from layer `max_window_layers` on, when `use_sliding_window` is true
  alternating,          ///< the first, the third, …
  pattern               ///< all but every `sliding_window_pattern`-th; or a text of L (local) and G (global)
};

struct window_traits {
  window_rule rule = window_rule::none;
  std::uint64_t window = 0;        ///< class default of `sliding_window`; 0 = none
  std::uint32_t pattern = 0;       ///< class default of `sliding_window_pattern`
  std::uint32_t first_layers = 0;  ///< class default of `max_window_layers`
};

/// The tower beside the text model.
enum class vision_tower : std::uint8_t {
  none,
  siglip_gemma3  ///< SigLIP without pooling head, Gemma-3's projector: vision hidden × text hidden, one norm
};

/// A decoder in plain numbers: what a family and a config resolve to, and all that the builder looks at.
struct decoder_shape {
  std::uint32_t hidden_size = 0;
  std::uint32_t num_hidden_layers = 0;
  std::uint32_t num_attention_heads = 0;
  std::uint32_t num_key_value_heads = 0;
  std::uint32_t head_dim = 0;
  std::uint32_t intermediate_size = 0;
  std::uint32_t vocab_size = 0;
  std::uint64_t max_position_embeddings = 0;
  std::uint32_t embedding_width = 0;  ///< of a row of the embedding table; other than hidden: two projections
  std::uint64_t position_rows = 0;    ///< of a learned position table; 0 = none
  bool tie_word_embeddings = false;
  bool qkv_biases = false;
  bool output_bias = false;
  query_key_norm qk_norm = query_key_norm::none;
  bool gated_mlp = true;
  bool mlp_biases = false;
  std::uint32_t norms_per_layer = 2;
  std::uint32_t vectors_per_norm = 1;  ///< 2 where norms have a bias, 0 where they have no weights
  bool final_norm = true;
};

/// One family: how its config is read and what its layers are made of.
struct model_family {
  const char* model_type = "";
  family_keys keys{};  ///< no name for the KV heads = as many as query heads
  family_defaults defaults{};
  toggle qkv_biases{};
  toggle output_bias{};
  query_key_norm qk_norm = query_key_norm::none;
  toggle has_qk_norm{nullptr, true};
  bool gated_mlp = true;
  toggle mlp_biases{};
  std::uint32_t norms_per_layer = 2;
  toggle norm_biases{};
  bool learned_positions = false;
  window_traits windows{};
  const char* text_model_type = nullptr;  ///< the text model is described under `text_config`, by this family
  vision_tower vision = vision_tower::none;
  /// What does not fit into a table: changes the shape after everything above was read.
  void (*adjust)(const config_view&, decoder_shape&) = nullptr;
};

}  // namespace kvbudget::inline v0::detail
