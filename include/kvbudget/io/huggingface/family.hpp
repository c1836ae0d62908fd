#pragma once

#include <cstdint>
#include <vector>

#include "kvbudget/io/huggingface/config_view.hpp"
#include "kvbudget/io/huggingface/layer_draft.hpp"
#include "kvbudget/model/layer_parts.hpp"

namespace kvbudget::inline v0 {

/// Tokens of the text model that one image takes: exactly so many, or from a smallest to a largest image.
struct image_tokens {
  std::uint64_t least = 0;
  std::uint64_t most = 0;  ///< 0 = the config does not say
};

}  // namespace kvbudget::inline v0

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
  key_names tie_word_embeddings{{"tie_word_embeddings"}};
  key_names layer_list{};  ///< a list or text with an entry for each layer, where a config may give no number
};

/// What the config class of the family takes where a key is absent; 0 = there is no default that published
/// configs rely on, so the key must be there (KV heads: as many as query heads; head dim: hidden / heads;
/// maximum position: unknown).
struct family_defaults {
  std::uint32_t hidden_size = 0;
  std::uint32_t num_hidden_layers = 0;
  std::uint32_t vocab_size = 0;
  std::uint32_t num_attention_heads = 0;
  std::uint32_t num_key_value_heads = 0;
  std::uint32_t head_dim = 0;
  std::uint32_t intermediate_size = 0;
  std::uint32_t intermediate_per_hidden = 0;  ///< intermediate size as a multiple of the hidden size
  std::uint64_t max_position_embeddings = 0;
  bool tie_word_embeddings = false;
  const number_format* dtype = nullptr;  ///< of the published checkpoints, where configs name none
};

/// The same for a text model inside another config, which published ones leave out more often; 0 = as above.
struct nested_defaults {
  std::uint32_t hidden_size = 0;
  std::uint32_t num_hidden_layers = 0;
  std::uint32_t intermediate_size = 0;
  std::uint32_t vocab_size = 0;
  std::uint32_t num_attention_heads = 0;
};

inline constexpr toggle always{nullptr, true};
inline constexpr toggle attention_bias{"attention_bias", false};

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

/// Where experts replace the MLP.
enum class expert_layers : std::uint8_t {
  none,
  all,
  behind_first_layers,  ///< from layer `first_k_dense_replace` on, every `moe_layer_freq`-th; a list under
                        ///< `mlp_layer_types` (dense, sparse) or `moe_layer_freq` (0, 1) decides layer by
                        ///< layer
  every_step  ///< each layer whose number is a multiple of `decoder_sparse_step`, but `mlp_only_layers`
};

/// How a family writes its experts; no names for a size = the family has none of it.
struct expert_traits {
  expert_layers where = expert_layers::none;
  key_names num_experts{{"num_experts", "num_local_experts", "n_routed_experts"}};
  key_names num_experts_per_tok{{"num_experts_per_tok"}};
  key_names intermediate_size{{"moe_intermediate_size"}};
  key_names shared_experts{};       ///< a number of shared experts, each as wide as a routed one
  key_names shared_intermediate{};  ///< or the width of all shared experts together
  key_names first_dense{{"first_k_dense_replace"}};
  bool shared_gate = false;               ///< a gate of H for the shared expert's output
  bool router_bias = false;               ///< a bias for each output of the router
  bool expert_biases = false;             ///< a bias for each projection of each expert
  toggle correction_bias{};               ///< one value per expert beside the router
  std::uint32_t num_experts_default = 0;  ///< class defaults; 0 = the key must be there
  std::uint32_t num_experts_per_tok_default = 0;
  std::uint32_t intermediate_size_default = 0;
  std::uint32_t shared_experts_default = 0;
  std::uint32_t shared_intermediate_default = 0;
  std::uint32_t first_dense_default = 0;
};

struct window_traits {
  window_rule rule = window_rule::none;
  std::uint64_t window = 0;   ///< class default of `sliding_window`; 0 = none
  std::uint32_t pattern = 0;  ///< class default of `sliding_window_pattern`
  key_names pattern_keys{{"sliding_window_pattern", "_sliding_window_pattern"}};
  std::uint32_t first_layers = 0;  ///< class default of `max_window_layers`
  bool layer_types = true;         ///< `layer_types` decides; false = the family's own plan reads it
};

/// One attention of a layer: what it keeps and weighs.
struct attention_shape {
  std::uint32_t heads = 0;  ///< query heads; 0 = no such attention
  std::uint32_t kv_heads = 0;
  std::uint32_t key_dim = 0;
  std::uint32_t value_dim = 0;
  std::uint64_t window = 0;         ///< tokens that are kept; 0 = all
  std::uint32_t indexer_dim = 0;    ///< of a sparse index key; 0 = none
  std::uint32_t indexer_heads = 0;  ///< index queries, with norms of index queries and keys
  query_key_norm qk_norm = query_key_norm::none;
  bool chunked = false;          ///< the window is a chunk
  bool shared_cache = false;     ///< reads an earlier layer's cache: keeps nothing
  bool owns_kv_weights = true;   ///< has key and value projections
  bool values_are_keys = false;  ///< has no value projection (both are cached all the same)
  bool qkv_biases = false;
  bool output_bias = false;
  bool gated_output = false;  ///< the query projection is twice as wide: half of it gates the output
  bool sinks = false;         ///< one value per query head
  bool encoder = false;       ///< reads all tokens at once: keeps nothing

  friend constexpr bool operator==(const attention_shape&, const attention_shape&) = default;
};

/// A multi-head latent attention of a layer.
struct latent_shape {
  latent_attention_sizes sizes{};   ///< no heads = no such attention
  std::uint32_t indexer_heads = 0;  ///< of the sparse indexer (DSA) on this layer; 0 = none
  std::uint32_t indexer_dim = 0;
  std::uint32_t indexer_rank = 0;  ///< width of the query latent that the indexer reads

  friend constexpr bool operator==(const latent_shape&, const latent_shape&) = default;
};

/// What the config class takes where a key of a latent attention is absent; 0 = the key must be there, for a
/// query rank and the indexer: there is none.
struct latent_defaults {
  std::uint32_t q_lora_rank = 0;
  std::uint32_t kv_lora_rank = 0;
  std::uint32_t qk_rope_head_dim = 0;
  std::uint32_t qk_nope_head_dim = 0;
  std::uint32_t v_head_dim = 0;
  std::uint32_t indexer_heads = 0;
  std::uint32_t indexer_dim = 0;
};

/// DeepSeek-V4's attention of a layer: one key for all heads, which is also the value; a window of them, and
/// one compressed key per `compress_ratio` tokens. Hidden states are several parallel streams.
struct compressed_shape {
  std::uint32_t heads = 0;  ///< 0 = no such attention
  std::uint32_t head_dim = 0;
  std::uint32_t rope_dim = 0;
  std::uint32_t q_lora_rank = 0;
  std::uint32_t o_lora_rank = 0;  ///< of each group of heads
  std::uint32_t o_groups = 0;
  std::uint32_t window = 0;
  std::uint32_t compress_ratio = 0;  ///< 0 = none
  bool overlapping = false;
  std::uint32_t indexer_heads = 0;
  std::uint32_t indexer_dim = 0;  ///< 0 = none
  std::uint32_t streams = 0;

  friend constexpr bool operator==(const compressed_shape&, const compressed_shape&) = default;
};

struct mlp_shape {
  std::uint32_t intermediate_size = 0;  ///< 0 = no MLP
  bool gated = true;
  bool biases = false;

  friend constexpr bool operator==(const mlp_shape&, const mlp_shape&) = default;
};

struct expert_shape {
  mixture_sizes sizes{};  ///< no experts = none here
  bool shared_gate = false;
  bool correction_bias = false;
  bool router_bias = false;
  bool expert_biases = false;  ///< a bias for each projection of each expert

  friend constexpr bool operator==(const expert_shape&, const expert_shape&) = default;
};

/// A recurrent mixer of a layer: what it keeps and weighs.
struct mixer_shape {
  store kept{};  ///< kind none = no such mixer
  mixer_options options{};
  bool own_weights = false;         ///< the family adds them, not `add_mixer`
  bool input_bias = false;          ///< of the projections from the hidden size
  bool output_bias = false;         ///< of the projection back to it
  std::uint32_t channel_mixer = 0;  ///< width of RWKV's MLP
  std::uint32_t ranks[4] = {};      ///< of projections through a bottleneck, in the family's own order

  friend constexpr bool operator==(const mixer_shape&, const mixer_shape&) = default;
};

/// One layer in plain numbers. Equal plans are equal layers, so a layer is built once per distinct plan; what
/// a family adds on its own must follow from the plan alone (`variant` is free for that).
struct layer_plan {
  attention_shape attention{};
  latent_shape latent{};
  mixer_shape recurrent{};
  compressed_shape compressed{};
  mlp_shape mlp{};
  expert_shape experts{};
  std::uint32_t norms = 2;    ///< norms of the hidden size
  std::uint32_t variant = 0;  ///< the family's own

  friend constexpr bool operator==(const layer_plan&, const layer_plan&) = default;
};

/// A decoder in plain numbers: what a family and a config resolve to.
struct decoder_shape {
  std::uint32_t hidden_size = 0;
  std::uint32_t num_hidden_layers = 0;
  std::uint32_t vocab_size = 0;
  std::uint64_t max_position_embeddings = 0;
  std::uint32_t embedding_width = 0;  ///< of a row of the embedding table; other than hidden: two projections
  std::uint32_t per_layer_input = 0;  ///< width of what each layer reads from a table of its own (Gemma 3n)
  std::uint32_t residual_streams = 0;  ///< alternating updates (AltUp): streams, each of the hidden size
  std::uint32_t laurel_rank = 0;       ///< learned augmented residual layer (LAuReL): rank
  std::uint32_t further_embedding_rows = 0;  ///< rows of the embedding table that the head does not have
  std::uint64_t position_rows = 0;           ///< of a learned position table; 0 = none
  bool tie_word_embeddings = false;
  bool has_embedding = true;  ///< false: reads the table of another model
  bool has_head = true;       ///< false: ends in hidden states
  bool head_bias = false;
  std::uint32_t vectors_per_norm = 1;  ///< 2 where norms have a bias, 0 where they have no weights
  bool final_norm = true;
  bool embedding_norm = false;
  layer_plan layer{};  ///< the usual layer, before windows and experts are laid over it
};

class model_builder;

/// Modules that are `usual`, or inside of it, are called `own` instead; the first that fits counts.
struct module_rename {
  const char* usual = nullptr;
  const char* own = nullptr;
};

/// One family: how its config is read and what its layers are made of.
struct model_family {
  const char* model_type = "";
  family_keys keys{};  ///< no name for the KV heads = as many as query heads
  family_defaults defaults{};
  nested_defaults nested{};
  toggle qkv_biases{};
  toggle output_bias{};
  query_key_norm qk_norm = query_key_norm::none;
  toggle has_qk_norm{nullptr, true};
  bool latent_attention = false;  ///< MLA by `kv_lora_rank`, with an indexer by `index_head_dim`, unless
                                  ///< `use_mla` is false
  latent_defaults latent{};
  bool gated_mlp = true;
  toggle mlp_biases{};
  expert_traits experts{};
  std::uint32_t norms_per_layer = 2;
  toggle norm_biases{};
  toggle head_bias{};
  bool learned_positions = false;
  window_traits windows{};
  const char* layer_prefix = "model.layers.";  ///< of the modules' names in checkpoints
  module_rename renames[12] = {};              ///< where they are called otherwise than Llama's
  /// The model that engines serve is described under this key; the rest of the config is about others.
  const char* served_part = nullptr;
  /// `layer_prefix` of text models inside; null = as by themselves.
  const char* text_prefix = nullptr;
  /// The text model is described under `text_config` (or `language_config`, `llm_config`) by this family,
  /// unless it names another one there. Where there is no such object, the text model's keys stand at the
  /// top. It may be the family itself.
  const char* text_model_type = nullptr;
  /// Whatever model type stands inside, the text model is the one above.
  bool own_text_model = false;
  /// The same where the whole config decides it.
  const char* (*text_model_of)(const config_view&) = nullptr;
  /// Draft layers (MTP) of `num_nextn_predict_layers`: a decoder layer each, two projections and norms.
  bool next_token_layers = false;
  std::uint32_t next_token_layers_default = 0;
  std::uint32_t next_token_tables = 0;  ///< copies of the head (1), or of embedding and head (2), in each
  const char* draft_prefix = nullptr;   ///< of their names, before a number from 0; none = as further layers

  // What does not fit into a table, in the order in which it happens.
  /// Whether the next four are for this config; null = for all of the family.
  bool (*is_special)(const config_view&) = nullptr;
  /// Changes the shape after everything above was read.
  void (*adjust)(const config_view&, decoder_shape&) = nullptr;
  /// Changes the layers after windows and experts were laid over them.
  void (*plan)(const config_view&, const decoder_shape&, std::vector<layer_plan>&) = nullptr;
  /// Adds to a layer what follows from its plan.
  void (*finish_layer)(const decoder_shape&, const layer_plan&, layer_draft&) = nullptr;
  /// The decoder layer of the draft layer of this number; none = as the last layer.
  layer_plan (*plan_draft)(const config_view&, const decoder_shape&, const std::vector<layer_plan>&,
                           std::uint32_t number) = nullptr;
  /// What a draft layer has beside its decoder layer; none = a projection of 2H × H and three norms.
  void (*join_draft)(const decoder_shape&, layer_draft&) = nullptr;
  /// Adds what stands outside the layers (draft layers, further tables).
  void (*finish_model)(const config_view&, const decoder_shape&, const std::vector<layer_plan>&,
                       model_builder&) = nullptr;
  /// Adds the towers beside the text model (vision, audio) and their projectors; reads the whole config.
  void (*add_towers)(const config_view&, const decoder_shape&, model_builder&) = nullptr;
  /// How many tokens an image takes, where the config decides it.
  image_tokens (*tokens_of_image)(const config_view&) = nullptr;
};

/// A family that differs from another only in its name.
[[nodiscard]] constexpr model_family named(const char* model_type, model_family family) {
  family.model_type = model_type;
  return family;
}

}  // namespace kvbudget::inline v0::detail
