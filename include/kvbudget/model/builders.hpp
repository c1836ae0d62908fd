#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/model/layer_parts.hpp"
#include "kvbudget/model/model_architecture.hpp"

/// The templated builders: types that spell a model, and end up as the same `model_architecture` value that
/// the readers make. Impossible shapes stop at compile time with a message that names the rule.
namespace kvbudget::inline v0 {

namespace detail {
/// Marks the builder types, so that a wrong argument is told apart by name.
template <class T>
concept attention_builder = requires(layer_kind& layer) {
  T::add_attention(layer, std::uint32_t{});
};
template <class T>
concept mlp_builder = requires(layer_kind& layer) {
  T::add_mlp(layer, std::uint32_t{});
};
template <class T>
concept layer_builder = requires(model_architecture& model) {
  T::add_to(model, std::uint32_t{});
};

}  // namespace detail

/// Grouped-query attention: `QueryHeads` query heads share `KvHeads` KV heads of `HeadDim` elements.
template <std::uint32_t QueryHeads, std::uint32_t KvHeads, std::uint32_t HeadDim> struct gqa {
  static_assert(QueryHeads > 0 && KvHeads > 0 && HeadDim > 0,
                "kvbudget: head counts and head dim must be positive");
  static_assert(KvHeads == 0 || QueryHeads % (KvHeads == 0 ? 1 : KvHeads) == 0,
                "kvbudget: query heads must be a multiple of KV heads");
  static constexpr store kept() { return stores::full(KvHeads, HeadDim); }
  static constexpr void add_attention(layer_kind& layer, std::uint32_t hidden) {
    layer.add(kept());
    detail::add_attention_weights(layer, hidden, {QueryHeads, KvHeads, HeadDim, HeadDim});
  }
};
/// Multi-head attention: every query head has its own keys and values.
template <std::uint32_t Heads, std::uint32_t HeadDim> using mha = gqa<Heads, Heads, HeadDim>;
/// Multi-query attention: all query heads share one KV head.
template <std::uint32_t QueryHeads, std::uint32_t HeadDim> using mqa = gqa<QueryHeads, 1, HeadDim>;

/// Multi-head latent attention (DeepSeek): a latent of `KvLoraRank` and a rotary key of `RopeDim` per token,
/// stored once; queries of `NopeDim` + `RopeDim`, values of `ValueDim`, through a query latent of
/// `QueryLoraRank` (0 = none).
template <std::uint32_t Heads, std::uint32_t KvLoraRank, std::uint32_t RopeDim, std::uint32_t NopeDim,
          std::uint32_t ValueDim, std::uint32_t QueryLoraRank = 0>
struct mla {
  static_assert(Heads > 0 && NopeDim > 0 && ValueDim > 0,
                "kvbudget: head counts and head dim must be positive");
  static_assert(KvLoraRank > 0, "kvbudget: kv_lora_rank must be positive");
  static constexpr store kept() { return stores::latent(KvLoraRank, RopeDim); }
  static constexpr void add_attention(layer_kind& layer, std::uint32_t hidden) {
    layer.add(kept());
    detail::add_latent_attention_weights(layer, hidden,
                                         {Heads, QueryLoraRank, KvLoraRank, RopeDim, NopeDim, ValueDim});
  }
};

/// The same attention, whose cache keeps only the last `Window` tokens.
template <class Attention, std::uint64_t Window> struct sliding_window {
  static_assert(Window > 0, "kvbudget: a window must be at least one token");
  static constexpr store kept() { return stores::sliding_window(Attention::kept(), Window); }
  static constexpr void add_attention(layer_kind& layer, std::uint32_t hidden) {
    Attention::add_attention(layer, hidden);
    layer.stores[layer.store_count - 1] = kept();
  }
};
/// The same attention, whose cache keeps at most one chunk of `Chunk` tokens.
template <class Attention, std::uint64_t Chunk> struct chunked {
  static_assert(Chunk > 0, "kvbudget: a chunk must be at least one token");
  static constexpr store kept() { return stores::chunked(Attention::kept(), Chunk); }
  static constexpr void add_attention(layer_kind& layer, std::uint32_t hidden) {
    Attention::add_attention(layer, hidden);
    layer.stores[layer.store_count - 1] = kept();
  }
};

/// Recurrent mixers: a state of fixed size per sequence, with the projections of their reference
/// implementations.
template <std::uint32_t InnerSize, std::uint32_t StateSize, std::uint32_t ConvKernel,
          std::uint32_t TimeStepRank>
struct mamba1 {
  static_assert(InnerSize > 0 && StateSize > 0 && ConvKernel > 0, "kvbudget: state sizes must be positive");
  static constexpr void add_attention(layer_kind& layer, std::uint32_t hidden) {
    detail::add_mixer(layer, hidden, stores::mamba1(InnerSize, StateSize, ConvKernel),
                      {true, true, TimeStepRank});
  }
};
template <std::uint32_t Heads, std::uint32_t HeadDim, std::uint32_t StateSize, std::uint32_t Groups,
          std::uint32_t ConvKernel>
struct mamba2 {
  static_assert(Heads > 0 && HeadDim > 0 && StateSize > 0 && Groups > 0 && ConvKernel > 0,
                "kvbudget: state sizes must be positive");
  static constexpr void add_attention(layer_kind& layer, std::uint32_t hidden) {
    detail::add_mixer(layer, hidden, stores::mamba2(Heads, HeadDim, StateSize, Groups, ConvKernel), {true});
  }
};
/// A gated delta net (Qwen3-Next): `ValueHeads` × `ValueDim` and `KeyHeads` × `KeyDim`.
template <std::uint32_t ValueHeads, std::uint32_t ValueDim, std::uint32_t KeyHeads, std::uint32_t KeyDim,
          std::uint32_t ConvKernel>
struct gated_delta_net {
  static_assert(ValueHeads > 0 && ValueDim > 0 && KeyHeads > 0 && KeyDim > 0 && ConvKernel > 0,
                "kvbudget: state sizes must be positive");
  static constexpr void add_attention(layer_kind& layer, std::uint32_t hidden) {
    detail::add_mixer(layer, hidden,
                      stores::gated_delta_net(ValueHeads, ValueDim, KeyHeads, KeyDim, ConvKernel), {});
  }
};
/// Plain linear attention (MiniMax-01): a d × d state per head.
template <std::uint32_t Heads, std::uint32_t HeadDim> struct linear_attention {
  static_assert(Heads > 0 && HeadDim > 0, "kvbudget: state sizes must be positive");
  static constexpr void add_attention(layer_kind& layer, std::uint32_t hidden) {
    detail::add_mixer(layer, hidden, stores::linear_attention(Heads, HeadDim), {});
  }
};
/// A short convolution (LFM2) over `Channels` with a kernel of `ConvKernel`.
template <std::uint32_t Channels, std::uint32_t ConvKernel> struct short_convolution {
  static_assert(Channels > 0 && ConvKernel > 0, "kvbudget: state sizes must be positive");
  static constexpr void add_attention(layer_kind& layer, std::uint32_t hidden) {
    detail::add_mixer(layer, hidden, stores::short_convolution(Channels, ConvKernel), {});
  }
};

/// An MLP with gate, up and down projections (SwiGLU and alike).
template <std::uint32_t IntermediateSize> struct gated_mlp {
  static_assert(IntermediateSize > 0, "kvbudget: intermediate_size must be positive");
  static constexpr void add_mlp(layer_kind& layer, std::uint32_t hidden) {
    detail::add_mlp_weights(layer, hidden, IntermediateSize, true);
  }
};
/// An MLP with one up and one down projection, with biases if asked (GPT-2 style).
template <std::uint32_t IntermediateSize, bool Biases = false> struct plain_mlp {
  static_assert(IntermediateSize > 0, "kvbudget: intermediate_size must be positive");
  static constexpr void add_mlp(layer_kind& layer, std::uint32_t hidden) {
    detail::add_mlp_weights(layer, hidden, IntermediateSize, false);
    if constexpr (Biases) detail::add_mlp_biases(layer, hidden);
  }
};
/// `Experts` gated MLPs of which `ExpertsPerToken` work on a token, a router, and `SharedIntermediateSize` of
/// shared experts that always work (0 = none).
template <std::uint32_t Experts, std::uint32_t ExpertsPerToken, std::uint32_t IntermediateSize,
          std::uint32_t SharedIntermediateSize = 0>
struct mixture_of_experts {
  static_assert(Experts > 0 && ExpertsPerToken > 0 && IntermediateSize > 0,
                "kvbudget: expert counts and sizes must be positive");
  static_assert(ExpertsPerToken <= Experts, "kvbudget: a token cannot use more experts than there are");
  static constexpr void add_mlp(layer_kind& layer, std::uint32_t hidden) {
    detail::add_mixture_weights(layer, hidden,
                                {Experts, ExpertsPerToken, IntermediateSize, SharedIntermediateSize});
  }
};

/// One layer: an attention or recurrent mixer, an MLP, and a norm of `hidden` before each.
template <class Attention, class Mlp> struct block {
  static_assert(
      detail::attention_builder<Attention>,
      "kvbudget: the first argument of block is an attention: mha, gqa, mqa, mla, sliding_window, chunked, "
      "mamba1, mamba2, gated_delta_net, linear_attention, short_convolution");
  static_assert(detail::mlp_builder<Mlp>,
                "kvbudget: the second argument of block is an MLP: gated_mlp, plain_mlp, mixture_of_experts");
  static constexpr layer_kind layer(std::uint32_t hidden) {
    layer_kind result;
    Attention::add_attention(result, hidden);
    Mlp::add_mlp(result, hidden);
    result.add(weight_groups::vectors(module_role::norm, hidden, 2));
    return result;
  }
  static constexpr void add_to(model_architecture& model, std::uint32_t hidden, std::uint64_t count = 1) {
    model.add_layers(layer(hidden), count);
  }
};

/// The given layers, in order, `Count` times.
template <std::uint32_t Count, class... Layers> struct repeat {
  static_assert(Count > 0, "kvbudget: a model needs at least one layer");
  static_assert(sizeof...(Layers) > 0, "kvbudget: repeat needs a layer to repeat");
  static_assert((detail::layer_builder<Layers> && ...), "kvbudget: repeat takes block or repeat");
  static constexpr void add_to(model_architecture& model, std::uint32_t hidden, std::uint64_t count = 1) {
    if constexpr (sizeof...(Layers) == 1) {
      (Layers::add_to(model, hidden, count * Count), ...);
    } else {
      for (std::uint64_t i = 0; i < count * Count; ++i) (Layers::add_to(model, hidden), ...);
    }
  }
};

/// Width of the residual stream.
template <std::uint32_t Size> struct hidden {
  static_assert(Size > 0, "kvbudget: hidden_size must be positive");
  static constexpr void set(model_architecture& model) { model.hidden_size = Size; }
};
/// Rows of the embedding table; `Tied` = the head reads the same table.
template <std::uint32_t Size, bool Tied = false> struct vocabulary {
  static_assert(Size > 0, "kvbudget: vocab_size must be positive");
  static constexpr void set(model_architecture& model) {
    model.vocab_size = Size;
    model.tie_word_embeddings = Tied;
  }
};

/// A decoder: `hidden`, `vocabulary`, then its layers in order. `::architecture` is the model, with the
/// embedding, a head unless tied, and a final norm; its dtype is unknown until a deployment names one.
template <class Hidden, class Vocabulary, class... Layers> struct decoder {
  static_assert(sizeof...(Layers) > 0, "kvbudget: a model needs at least one layer");
  static_assert((detail::layer_builder<Layers> && ...),
                "kvbudget: decoder takes block or repeat after hidden and vocabulary");

  static constexpr model_architecture build() {
    model_architecture model;
    Hidden::set(model);
    Vocabulary::set(model);
    model.add(weight_groups::vocabulary_table(module_role::embedding, model.vocab_size, model.hidden_size));
    if (!model.tie_word_embeddings) {
      model.add(weight_groups::vocabulary_table(module_role::lm_head, model.vocab_size, model.hidden_size));
    }
    model.add(weight_groups::vectors(module_role::norm, model.hidden_size));
    (Layers::add_to(model, model.hidden_size), ...);
    return model;
  }
  static constexpr model_architecture architecture = build();
};

}  // namespace kvbudget::inline v0
