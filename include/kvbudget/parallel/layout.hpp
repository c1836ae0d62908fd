#pragma once

#include <cstddef>
#include <cstdint>

#include "kvbudget/model/model_architecture.hpp"

namespace kvbudget::inline v0 {

/// Which pipeline stages take the layers that do not divide evenly.
enum class pipeline_remainder : std::uint8_t {
  before_last,  ///< the stages just before the last, which also holds the head (vLLM)
  first,
  last
};

/// Pipeline stages that a layout has room for.
inline constexpr std::size_t max_pipeline_stages = 64;

/// How the model is spread over GPUs: tensor × pipeline × data ranks. Expert parallelism re-uses the tensor ×
/// data ranks of a stage for whole experts; decode-context parallelism splits the tokens of a cache that
/// tensor ranks would otherwise hold twice.
struct parallel_layout {
  std::uint32_t tensor = 1;
  std::uint32_t pipeline = 1;
  std::uint32_t data = 1;
  std::uint32_t expert = 1;
  std::uint32_t decode_context = 1;
  pipeline_remainder remainder = pipeline_remainder::before_last;
  std::uint16_t stage_layers[max_pipeline_stages] =
      {};  ///< layers per stage; all 0 = even split with `remainder`
  /// Replicas of attention inside a tensor group: attention and its cache are split over tensor /
  /// attention_data ranks, everything else over `tensor`. Source: sgl-project/sglang layers/dp_attention.py.
  std::uint32_t attention_data = 1;
  /// Rows of embedding and head are padded up to a multiple of this before they are split.
  std::uint32_t vocabulary_multiple = 1;
  bool embedding_like_attention = false;  ///< the embedding is split over as many ranks as attention
  bool head_like_attention = false;       ///< so is the head
  bool experts_span_data = false;  ///< experts are split over tensor × data ranks, not over one tensor group
  bool uneven_experts = false;     ///< experts that do not divide: the first expert ranks take one more
  bool uneven_matrices = false;    ///< dimensions that do not divide are padded up instead of refused

  /// tensor × pipeline × data.
  [[nodiscard]] constexpr std::uint64_t ranks() const {
    return detail::checked_mul(detail::checked_mul(tensor, pipeline), data);
  }
  /// Ranks that share one expert: tensor / expert while whole tensor groups remain, else 1; where experts
  /// span the data ranks, tensor × data / expert.
  [[nodiscard]] constexpr std::uint32_t expert_tensor() const {
    const std::uint32_t ranks = experts_span_data ? tensor * data : tensor;
    return expert >= ranks ? 1 : ranks / expert;
  }
  /// Tensor ranks that share one copy of attention and of its cache.
  [[nodiscard]] constexpr std::uint32_t attention_tensor() const {
    return attention_data == 1 ? tensor : tensor / attention_data;
  }
  /// Replicas that requests are dealt to: data × attention_data.
  [[nodiscard]] constexpr std::uint32_t replicas() const {
    return attention_data == 1 ? data : data * attention_data;
  }
  /// Whether a rank holds other shapes than the model has.
  [[nodiscard]] constexpr bool reshapes() const {
    return (tensor | expert | vocabulary_multiple) != 1 || experts_span_data;
  }
  friend constexpr bool operator==(const parallel_layout&, const parallel_layout&) = default;
};

/// A half-open range of layers.
struct layer_range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  [[nodiscard]] constexpr std::uint32_t size() const { return last - first; }
};

namespace detail {
[[noreturn]] inline void parallel_degrees_must_be_at_least_one() {
  raise("parallel degrees must be at least one");
}
[[noreturn]] inline void query_heads_cannot_be_split_over_the_tensor_ranks(std::uint64_t heads,
                                                                           std::uint64_t ranks) {
  raise("tensor parallel: # query heads cannot be split evenly over # ranks", heads, ranks);
}
[[noreturn]] inline void kv_heads_cannot_be_split_over_the_tensor_ranks(std::uint64_t heads,
                                                                        std::uint64_t ranks) {
  raise("tensor parallel: # KV heads can neither be split nor repeated evenly over # ranks", heads, ranks);
}
[[noreturn]] inline void a_matrix_cannot_be_split_over_the_tensor_ranks(std::uint64_t units,
                                                                        std::uint64_t ranks) {
  raise("tensor parallel: a dimension of # cannot be split evenly over # ranks", units, ranks);
}
[[noreturn]] inline void more_pipeline_stages_than_layers(std::uint64_t stages, std::uint64_t layers) {
  raise("pipeline parallel: # stages for only # layers", stages, layers);
}
[[noreturn]] inline void too_many_pipeline_stages(std::uint64_t stages) {
  raise("pipeline parallel: # stages, at most # are supported", stages, max_pipeline_stages);
}
[[noreturn]] inline void stage_layers_must_add_up_to_the_model(std::uint64_t sum, std::uint64_t layers) {
  raise("pipeline parallel: the stages hold # layers, the model has #", sum, layers);
}
[[noreturn]] inline void experts_cannot_be_split_over_the_expert_ranks(std::uint64_t experts,
                                                                       std::uint64_t ranks) {
  raise("expert parallel: # experts cannot be split evenly over # ranks", experts, ranks);
}
[[noreturn]] inline void expert_degree_does_not_match_the_ranks(std::uint64_t expert, std::uint64_t ranks) {
  raise("expert parallel: degree # must divide, or be a multiple of the tensor degree within, # ranks",
        expert, ranks);
}
[[noreturn]] inline void expert_parallel_needs_experts() {
  raise("expert parallel: the model has no experts");
}
[[noreturn]] inline void attention_replicas_must_divide_the_tensor_degree(std::uint64_t replicas,
                                                                          std::uint64_t tensor) {
  raise("attention data parallel: # replicas do not divide the tensor degree #", replicas, tensor);
}
[[noreturn]] inline void a_vocabulary_multiple_must_be_at_least_one() {
  raise("vocabulary_multiple must be at least one");
}
[[noreturn]] inline void decode_context_must_divide_the_tensor_degree(std::uint64_t context,
                                                                      std::uint64_t tensor) {
  raise("decode-context parallel: degree # does not divide the tensor degree #", context, tensor);
}
[[noreturn]] inline void decode_context_exceeds_the_copies_of_a_kv_head(std::uint64_t context,
                                                                        std::uint64_t copies) {
  raise("decode-context parallel: degree # is larger than the # tensor ranks that hold the same KV head",
        context, copies);
}
}  // namespace detail

/// KV heads on one tensor rank: kv_heads / tensor, or one (repeated) where there are more ranks than heads.
/// Degrees that do neither evenly stop. Source: vllm-project/vllm config/model.py, get_num_kv_heads.
[[nodiscard]] constexpr std::uint32_t local_kv_heads(std::uint32_t kv_heads, std::uint32_t tensor) {
  if (tensor == 1) return kv_heads;
  if (kv_heads % tensor == 0) return kv_heads / tensor;
  if (tensor % kv_heads != 0) detail::kv_heads_cannot_be_split_over_the_tensor_ranks(kv_heads, tensor);
  return 1;
}

/// The layers of one pipeline stage, in model order. Even split: ⌊layers / stages⌋ each, and the remainder by
/// rule: 61 over 4 gives 15, 15, 16, 15 by `before_last`. Source: vllm-project/vllm distributed/utils.py,
/// get_pp_indices.
[[nodiscard]] constexpr layer_range layers_of_stage(const parallel_layout& layout, std::uint32_t layers,
                                                    std::uint32_t stage) {
  if (layout.pipeline == 1) return {0, layers};
  std::uint32_t first = 0;
  if (layout.stage_layers[0] != 0) {
    for (std::uint32_t i = 0; i < stage; ++i) first += layout.stage_layers[i];
    return {first, first + layout.stage_layers[stage]};
  }
  const std::uint32_t even = layers / layout.pipeline;
  const std::uint32_t rest = layers % layout.pipeline;
  std::uint32_t extra_from = 0;  // first stage with one layer more
  if (layout.remainder == pipeline_remainder::before_last && rest != 0)
    extra_from = layout.pipeline - 1 - rest;
  if (layout.remainder == pipeline_remainder::last) extra_from = layout.pipeline - rest;
  const std::uint32_t past = stage > extra_from ? stage - extra_from : 0;
  first = even * stage + detail::smaller(past, rest);
  const bool extra = stage >= extra_from && stage < extra_from + rest;
  return {first, first + even + (extra ? 1u : 0u)};
}

/// Stops, with the reason, if the model cannot be laid out like this.
constexpr void validate(const parallel_layout& layout, const model_architecture& model) {
  const std::uint32_t tensor = layout.tensor;
  if (layout.vocabulary_multiple == 0) detail::a_vocabulary_multiple_must_be_at_least_one();
  const bool one_rank = tensor == 1 && layout.attention_data == 1 && layout.pipeline == 1 &&
                        layout.data == 1 && layout.expert == 1 && layout.decode_context == 1;
  if (one_rank) return;
  if (tensor == 0 || layout.pipeline == 0 || layout.data == 0 || layout.expert == 0 ||
      layout.decode_context == 0 || layout.attention_data == 0) {
    detail::parallel_degrees_must_be_at_least_one();
  }
  if (layout.attention_data != 1 && tensor % layout.attention_data != 0)
    detail::attention_replicas_must_divide_the_tensor_degree(layout.attention_data, tensor);
  const std::uint32_t attention = layout.attention_tensor();
  if (layout.pipeline > model.num_hidden_layers) {
    detail::more_pipeline_stages_than_layers(layout.pipeline, model.num_hidden_layers);
  }
  if (layout.pipeline > max_pipeline_stages) detail::too_many_pipeline_stages(layout.pipeline);
  if (layout.stage_layers[0] != 0 && layout.pipeline > 1) {
    std::uint64_t sum = 0;
    for (std::uint32_t stage = 0; stage < layout.pipeline; ++stage) {
      if (layout.stage_layers[stage] == 0) detail::more_pipeline_stages_than_layers(layout.pipeline, sum);
      sum += layout.stage_layers[stage];
    }
    if (sum != model.num_hidden_layers) {
      detail::stage_layers_must_add_up_to_the_model(sum, model.num_hidden_layers);
    }
  }
  if (layout.decode_context != 1 && attention % layout.decode_context != 0) {
    detail::decode_context_must_divide_the_tensor_degree(layout.decode_context, attention);
  }
  bool has_experts = false;
  if (tensor != 1 || layout.expert != 1) {
    for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
      const layer_kind& layer = model.kinds[kind];
      if (layer.num_attention_heads % attention != 0) {
        detail::query_heads_cannot_be_split_over_the_tensor_ranks(layer.num_attention_heads, attention);
      }
      for (std::size_t i = 0; i < layer.store_count; ++i) {
        const store& s = layer.stores[i];
        if (s.kv_heads == 0) continue;
        const std::uint32_t local = local_kv_heads(s.kv_heads, attention);
        const std::uint32_t copies = attention * local / s.kv_heads;
        if (layout.decode_context > copies) {
          detail::decode_context_exceeds_the_copies_of_a_kv_head(layout.decode_context, copies);
        }
      }
      if (layer.num_experts != 0) {
        has_experts = true;
        if (layer.num_experts % layout.expert != 0 && !layout.uneven_experts) {
          detail::experts_cannot_be_split_over_the_expert_ranks(layer.num_experts, layout.expert);
        }
      }
    }
  }
  if (layout.expert != 1) {
    if (!has_experts) detail::expert_parallel_needs_experts();
    const std::uint64_t ranks = detail::checked_mul(tensor, layout.data);
    const bool nested = layout.expert <= tensor ? tensor % layout.expert == 0 : layout.expert % tensor == 0;
    if (!nested || ranks % layout.expert != 0)
      detail::expert_degree_does_not_match_the_ranks(layout.expert, ranks);
  }
}

/// One rank of a layout, as its ledger sees it: all ranks with the same values have the same ledger.
struct rank {
  std::uint32_t stage = 0;         ///< pipeline stage
  std::uint32_t data_replica = 0;  ///< which data-parallel replica: decides its share of the requests
  std::uint32_t expert_rank = 0;   ///< position among the expert ranks: where experts do not divide
};

/// The shape of what one rank holds of a weight group.
struct weight_shard {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t copies = 0;
  [[nodiscard]] constexpr std::uint64_t elements() const {
    return detail::checked_product(rows, columns, copies);
  }
};

namespace detail {
/// Whether a group is split like attention: by its module, or, in draft layers, because it is split in heads
/// and not in elements.
[[nodiscard]] constexpr bool splits_like_attention(const weight_group& group) {
  if (group.role == module_role::attention || group.role == module_role::mixer) return true;
  if (group.role != module_role::draft || group.rule != shard_rule::tensor) return false;
  return group.units != (group.axis == shard_axis::rows ? group.rows : group.columns);
}

/// What a rank holds of a dimension of `length` in `units` pieces that `parts` ranks do not divide evenly: as
/// many whole pieces as the fullest, where the layout pads.
[[nodiscard]] constexpr std::uint64_t padded_share(std::uint64_t length, std::uint32_t units,
                                                   std::uint32_t parts, const parallel_layout& layout) {
  if (!layout.uneven_matrices) a_matrix_cannot_be_split_over_the_tensor_ranks(units, parts);
  return length / units * ceil_div(units, parts);
}
}  // namespace detail

/// Experts on one expert rank: ⌊experts / expert degree⌋, and one more on the first ranks where a remainder
/// is left. Source: vllm-project/vllm model_executor/layers/fused_moe/layer.py, determine_expert_map.
[[nodiscard]] constexpr std::uint32_t local_experts(std::uint32_t experts, std::uint32_t expert,
                                                    std::uint32_t expert_rank) {
  return experts / expert + (expert_rank < experts % expert ? 1u : 0u);
}

/// What one rank of a stage holds of `group`; `experts` is the number of experts that its copies belong to (0
/// = they divide), of which expert rank `expert_rank` has its share. Uneven splits stop unless the layout
/// pads them, except for vocabularies and assumed totals, which are rounded up.
[[nodiscard]] constexpr weight_shard shard_of(const weight_group& group, const parallel_layout& layout,
                                              std::uint32_t experts = 0, std::uint32_t expert_rank = 0) {
  weight_shard shard{group.rows, group.columns, group.copies};
  std::uint32_t parts = layout.tensor;  // of which this rank holds `local`
  std::uint32_t local = 1;
  switch (group.rule) {
    case shard_rule::replicated: return shard;
    case shard_rule::vocabulary:
      if (group.kind == tensor_kind::table ? layout.embedding_like_attention : layout.head_like_attention)
        parts = layout.attention_tensor();
      if (layout.vocabulary_multiple != 1)
        shard.rows = detail::round_up(group.rows, layout.vocabulary_multiple);
      [[fallthrough]];
    case shard_rule::spread:
      if (parts != 1) shard.rows = detail::ceil_div(shard.rows, parts);
      return shard;
    case shard_rule::kv_heads:
      local = local_kv_heads(group.units, layout.attention_tensor());
      parts = group.units;
      break;
    case shard_rule::experts:
      parts = layout.expert_tensor();
      if (experts == 0) {
        shard.copies = group.copies / layout.expert;
      } else {
        shard.copies =
            std::uint64_t{group.copies / experts} * local_experts(experts, layout.expert, expert_rank);
      }
      if (group.axis == shard_axis::neither) return shard;
      break;
    case shard_rule::tensor:
      if (group.axis == shard_axis::neither) return shard;
      if (layout.attention_data != 1 && detail::splits_like_attention(group))
        parts = layout.attention_tensor();
      break;
  }
  if (parts == local) return shard;
  if (group.rule != shard_rule::kv_heads && group.units % parts != 0) {
    std::uint64_t& length = group.axis == shard_axis::rows ? shard.rows : shard.columns;
    length = detail::padded_share(length, group.units, parts, layout);
  } else if (group.axis == shard_axis::rows) {
    shard.rows = shard.rows / parts * local;
  } else {
    shard.columns = shard.columns / parts * local;
  }
  return shard;
}

}  // namespace kvbudget::inline v0
