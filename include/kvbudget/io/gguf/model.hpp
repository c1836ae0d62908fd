#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kvbudget/format/formats.hpp"
#include "kvbudget/io/gguf/hyperparameters.hpp"
#include "kvbudget/io/gguf/stores.hpp"
#include "kvbudget/io/gguf/weights.hpp"
#include "kvbudget/model/model_architecture.hpp"

namespace kvbudget::inline v0::detail {

/// Puts a model together: stores by its hyper-parameters, weights by its tensors, and the two against each
/// other.
class gguf_model_builder {
 public:
  gguf_model_builder(const gguf_file& file, const gguf_architecture& architecture,
                     const hyperparameters& keys, std::vector<std::string>& notes)
      : file_(&file),
        keys_(&keys),
        notes_(&notes),
        shape_(read_shape(architecture, keys, file, notes)),
        stores_(shape_, keys, notes) {}

  void build(model_architecture& model) {
    // llama.cpp keeps the cache in f16 unless told otherwise; every weight has a format of its own.
    model.dtype = formats::fp16;
    model.hidden_size = shape_.hidden_size;
    model.max_position_embeddings = shape_.context_length;
    read_vocabulary(model);
    layers_.resize(shape_.layers);
    for (std::uint32_t i = 0; i < shape_.layers; ++i) start_layer(i);
    weight_group_list outer;
    for (const gguf_tensor& tensor : file_->tensors) {
      const gguf_place place = place_of(tensor.name, shape_.layers);
      const std::uint8_t precision = model.precision_of(tensor.type.scheme());
      if (place == gguf_place::layer) {
        add_to_layer(tensor, precision);
      } else {
        refuse_beyond(tensor, place);
        outer.push_back(outer_group(*file_, tensor, place, precision));
      }
    }
    add_layers(model, outer);
    add_draft_stores(model);
    for (const weight_group& group : folded(std::move(outer), most_outer_groups, model)) model.add(group);
  }

 private:
  /// Room is left for a projector.
  static constexpr std::size_t most_outer_groups = max_model_weight_groups - 8;

  struct layer_in_progress {
    layer_kind kind{};
    layer_heads heads{};
    weight_group_list weights{};
    std::uint32_t single_experts = 0;
    bool mixes = false;  ///< a recurrent mixer and no attention
  };

  void read_vocabulary(model_architecture& model) const {
    const gguf_tensor* table = find_tensor(*file_, "token_embd.weight");
    std::uint64_t vocabulary = table != nullptr ? table->rows() : keys_->number("vocab_size").value_or(0);
    if (vocabulary > UINT32_MAX) (void)keys_->as_size("vocab_size", vocabulary);
    model.vocab_size = static_cast<std::uint32_t>(vocabulary);
    model.tie_word_embeddings = table != nullptr && shape_.architecture->layers != gguf_layers::encoder &&
                                find_tensor(*file_, "output.weight") == nullptr;
    if (table != nullptr && table->columns() != shape_.hidden_size) {
      refuse_tensor(*file_, *table,
                    "rows of " + std::to_string(table->columns()) + " elements, but " +
                        keys_->full("embedding_length") + " is " + std::to_string(shape_.hidden_size));
    }
  }

  void start_layer(std::uint32_t i) {
    layer_in_progress& layer = layers_[i];
    stores_.add_to(layer.kind, i);
    layer.mixes = shape_.recurrent[i] && shape_.architecture->layers != gguf_layers::both;
    if (layer.mixes || shape_.heads[i] == 0) return;
    const bool windowed = shape_.windowed[i];
    const bool latent = layer.kind.store_count != 0 && layer.kind.stores[0].kind == store_kind::latent;
    const auto heads = static_cast<std::uint32_t>(shape_.heads[i]);
    const auto kv_heads = static_cast<std::uint32_t>(shape_.kv_heads[i]);
    std::uint32_t key = windowed ? shape_.windowed_key_length : shape_.key_length;
    std::uint32_t value = windowed ? shape_.windowed_value_length : shape_.value_length;
    if (latent) {
      key = keys_->dimension("attention.key_length_mla");
      value = keys_->dimension("attention.value_length_mla");
    }
    layer.kind.num_attention_heads = heads;
    layer.kind.query_dim = key;
    layer.kind.value_dim = value;
    layer.kind.key_value_heads = latent ? heads : kv_heads;
    layer.heads = {heads, latent ? 0 : kv_heads, std::uint64_t{heads} * key,
                   checked_mul(kv_heads, std::uint64_t{key} + value)};
  }

  void refuse_beyond(const gguf_tensor& tensor, gguf_place place) const {
    const tensor_name name = parts_of(tensor.name);
    if (place == gguf_place::draft && name.block != no_block && name.block >= shape_.blocks) {
      refuse_tensor(
          *file_, tensor,
          "block " + std::to_string(name.block) + ", but there are only " + std::to_string(shape_.blocks));
    }
  }

  void add_to_layer(const gguf_tensor& tensor, std::uint8_t precision) {
    const tensor_name name = parts_of(tensor.name);
    layer_in_progress& layer = layers_[name.block];
    gguf_stem stem = stem_of(name);
    if (layer.mixes && stem.role == module_role::attention) {
      stem.role = module_role::mixer;
      stem.split = gguf_split::whole;
    }
    add_layer_tensor(layer.weights, *file_, tensor, name, stem, layer.heads, precision);
    if (name.ending == "weight") read_widths(layer, tensor, name.stem);
    if (name.ending == "weight") check_against_stores(layer, tensor, name.stem);
  }

  /// Widths of the MLP and experts, which the tensors know for each layer.
  void read_widths(layer_in_progress& layer, const gguf_tensor& tensor, std::string_view stem) const {
    layer_kind& kind = layer.kind;
    if (starts_with(stem, "ffn_gate") && !starts_with(stem, "ffn_gate_inp")) kind.gated_mlp = true;
    if (stem == "ffn_down" || stem == "ffn_down_shexp" || stem == "channel_mix_value") {
      kind.intermediate_size = checked_add(kind.intermediate_size, tensor.columns());
    } else if (stem == "ffn_down_exps" || (is_single_expert(stem) && starts_with(stem, "ffn_down"))) {
      kind.moe_intermediate_size = as_side(*file_, tensor, tensor.columns());
      if (stem == "ffn_down_exps") {
        kind.num_experts = as_side(*file_, tensor, tensor.dims[2]);
      } else {
        kind.num_experts = ++layer.single_experts;
      }
      kind.num_experts_per_tok = keys_->size("expert_used_count");
    }
  }

  void check_rows(const gguf_tensor& tensor, std::uint64_t expected, const char* what) const {
    if (tensor.rows() == expected) return;
    refuse_tensor(*file_, tensor,
                  "has " + std::to_string(tensor.rows()) + " rows, but the file's keys say " +
                      std::to_string(expected) + " (" + what + ")");
  }

  /// The keys that decide the cache and the projections that fill it must agree.
  void check_against_stores(const layer_in_progress& layer, const gguf_tensor& tensor,
                            std::string_view stem) const {
    for (std::size_t i = 0; i < layer.kind.store_count; ++i) {
      const store& kept = layer.kind.stores[i];
      const std::uint64_t keys = std::uint64_t{kept.kv_heads} * kept.key_dim;
      const std::uint64_t values = std::uint64_t{kept.kv_heads} * kept.value_dim;
      switch (kept.kind) {
        case store_kind::full:
        case store_kind::sliding_window:
        case store_kind::chunked:
          if (stem == "attn_k") check_rows(tensor, keys, "KV heads x key length");
          if (stem == "attn_v") check_rows(tensor, values, "KV heads x value length");
          if (stem == "attn_qkv") {
            check_rows(tensor, checked_add(layer.heads.query_rows, keys + values),
                       "query, key and value heads");
          }
          break;
        case store_kind::latent:
          if (stem == "attn_kv_a_mqa") {
            check_rows(tensor, std::uint64_t{kept.latent_rank} + kept.rope_dim,
                       "kv_lora_rank + rotary dimensions");
          }
          break;
        case store_kind::none:
        case store_kind::compressed:
        case store_kind::recurrent:
        case store_kind::cross_attention:
        case store_kind::shared: break;
      }
    }
  }

  [[nodiscard]] bool too_many_kinds() const {
    std::vector<const layer_kind*> distinct;
    for (const layer_in_progress& layer : layers_) {
      bool known = false;
      for (const layer_kind* kind : distinct) known = known || *kind == layer.kind;
      if (known) continue;
      if (distinct.size() == max_layer_kinds) return true;
      distinct.push_back(&layer.kind);
    }
    return false;
  }

  void add_layers(model_architecture& model, weight_group_list& outer) {
    for (layer_in_progress& layer : layers_) {
      for (const weight_group& group : folded(layer.weights, max_weight_groups_per_layer, model))
        layer.kind.add(group);
    }
    if (too_many_kinds()) {
      notes_->push_back(
          "the layers differ in more than " + std::to_string(max_layer_kinds) +
          " ways: weights are counted as totals by module and format, spread evenly over the layers");
      weight_group_list totals;
      for (layer_in_progress& layer : layers_) {
        for (std::size_t i = 0; i < layer.kind.weight_count; ++i) {
          const weight_group& group = layer.kind.weights[i];
          const bool leads_rows = !model.precisions[group.precision - 1].every_element;
          add_to_totals(totals, group, leads_rows, shard_rule::spread);
          layer.kind.weights[i] = weight_group{};
        }
        layer.kind.weight_count = 0;
      }
      outer.insert(outer.end(), totals.begin(), totals.end());
    }
    for (const layer_in_progress& layer : layers_) model.add_layers(layer.kind);
  }

  /// A draft block attends like the layers that attend, where those all keep the same; otherwise it is not
  /// known what it keeps.
  void add_draft_stores(model_architecture& model) const {
    model.draft_layers = shape_.blocks - shape_.layers;
    if (model.draft_layers == 0) return;
    const store* kept = nullptr;
    for (const layer_in_progress& layer : layers_) {
      for (std::size_t i = 0; i < layer.kind.store_count; ++i) {
        const store& each = layer.kind.stores[i];
        if (each.kind == store_kind::recurrent || each.kind == store_kind::shared) continue;
        if (kept != nullptr && !(*kept == each)) {
          notes_->push_back("what the draft blocks keep in the cache is not known: the layers differ");
          return;
        }
        kept = &each;
      }
    }
    if (kept != nullptr) model.add_draft_store(*kept);
  }

  const gguf_file* file_;
  const hyperparameters* keys_;
  std::vector<std::string>* notes_;
  gguf_shape shape_;
  gguf_stores stores_;
  std::vector<layer_in_progress> layers_{};
};

/// `general.name` where it fits into a name, else the architecture.
inline void name_gguf_model(model_architecture& model, const gguf_file& file, std::string_view architecture) {
  const auto assign = [](auto& to, std::string_view from) {
    if (from.size() >= sizeof(to)) from = from.substr(0, sizeof(to) - 1);
    assign_text(to, from.data(), from.size());
  };
  assign(model.model_type, printable(architecture));
  assign(model.name, printable(architecture));
  const auto named = file.metadata.find("general.name");
  if (named == file.metadata.end() || named->second.type != gguf_type::text || !named->second.kept) return;
  const std::string& name = named->second.text;
  if (name.empty() || name.size() >= sizeof(model.name)) return;
  for (const char c : name) {
    if (c < 0x20 || c > 0x7E) return;
  }
  assign(model.name, name);
}

}  // namespace kvbudget::inline v0::detail
