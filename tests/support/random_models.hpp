#pragma once

// Random models, deployments and GPUs for properties that hold for any of them (fixed seeds).
#include <algorithm>
#include <cstdint>

#include "support/random.hpp"
#include "support/samples.hpp"

namespace samples {

/// A layer of any kind that splits over up to four tensor ranks.
inline layer_kind random_layer(random_engine& random, std::uint32_t hidden_size) {
  layer_kind layer;
  const std::uint32_t kv_heads = 1U << pick32(random, 0, 4);
  const std::uint32_t heads = kv_heads * (1U << pick32(random, 2, 3));
  const std::uint32_t dim = 16 * pick32(random, 2, 16);
  const store full = stores::full(kv_heads, dim);
  layer.num_attention_heads = heads;
  layer.key_value_heads = kv_heads;
  layer.query_dim = layer.value_dim = dim;
  switch (pick(random, 0, 8)) {
    case 0: layer.add(full); break;
    case 1: layer.add(stores::sliding_window(full, pick(random, 1, 5000))); break;
    case 2: layer.add(stores::chunked(full, pick(random, 1, 9000))); break;
    case 3:
      layer.add(stores::latent(64 * pick32(random, 1, 8), 64, pick(random, 0, 1) == 0 ? 0 : 128));
      break;
    case 4: layer.add(stores::compressed(512, 64, pick(random, 1, 500), 4, 128, true)); break;
    case 5: layer.add(stores::gated_delta_net(32, 128, 16, 128, 4)); break;
    case 6:
      layer.add(full);
      layer.add(stores::mamba2(64, 64, 128, 4, 4));
      break;
    case 7:
      layer.add(full);
      layer.add(stores::cross_attention(kv_heads, dim, 1500));
      break;
    default: layer.add(stores::shared()); break;
  }
  layer.add(weight_groups::by_rows(module_role::attention, std::uint64_t{heads} * dim, hidden_size, heads));
  layer.add(weight_groups::kv_projection(kv_heads, dim, hidden_size));
  if (pick(random, 0, 2) == 0) {
    layer.num_experts = 8 * pick32(random, 1, 16);
    layer.num_experts_per_tok = pick32(random, 1, 8);
    layer.moe_intermediate_size = 128 * pick32(random, 1, 16);
    layer.add(weight_groups::expert_matrices(layer.moe_intermediate_size, hidden_size, 2 * layer.num_experts,
                                             layer.moe_intermediate_size, shard_axis::rows));
  } else {
    layer.intermediate_size = 256 * pick(random, 1, 64);
    layer.gated_mlp = true;
    layer.add(weight_groups::by_rows(module_role::mlp, layer.intermediate_size, hidden_size,
                                     static_cast<std::uint32_t>(layer.intermediate_size), 2));
  }
  layer.add(weight_groups::vectors(module_role::norm, hidden_size, 2));
  return layer;
}

inline void fill(model_architecture& model, random_engine& random) {
  static constexpr model_architecture empty{};
  model = empty;
  model.dtype = f::bf16;
  model.hidden_size = 64 * pick32(random, 1, 128);
  model.vocab_size = pick32(random, 1000, 260000);
  model.tie_word_embeddings = pick(random, 0, 1) == 0;
  model.add(weight_groups::vocabulary_table(module_role::embedding, model.vocab_size, model.hidden_size));
  for (std::uint64_t run = pick(random, 1, 6); run > 0; --run) {
    model.add_layers(random_layer(random, model.hidden_size), pick(random, 1, 12));
  }
}

inline const number_format* const plain_formats[] = {&f::int4, &f::int8, &f::fp8_e4m3, &f::bf16, &f::fp32};

inline deployment random_deployment(const model_architecture& model, random_engine& random) {
  deployment d =
      uniform(model, *plain_formats[pick(random, 0, 4)], pick(random, 1, 300), pick(random, 1, 40000));
  d.kv_cache = *plain_formats[pick(random, 0, 4)];
  d.workload.shared_prefix = tokens{pick(random, 0, 1) == 0 ? 0 : pick(random, 0, d.workload.context.value)};
  for (std::uint64_t more = pick(random, 0, 3); more > 0; --more) {
    const std::uint64_t prompt = pick(random, 1, 9000);
    d.workload.add(
        {pick(random, 1, 40), tokens{prompt}, tokens{pick(random, 0, 900)}, tokens{pick(random, 0, prompt)}});
  }
  if (pick(random, 0, 1) == 0) d.workload.batched_tokens = tokens{pick(random, 1, 16384)};
  d.parallel.tensor = 1U << pick32(random, 0, 2);
  d.parallel.data = pick32(random, 1, 5);
  d.parallel.pipeline = pick32(random, 1, std::min<std::uint32_t>(4, model.num_hidden_layers));
  return d;
}

inline const gpu_profile* const some_gpus[] = {&gpus::nvidia_h100_sxm_80gb,  &gpus::nvidia_rtx_4090_24gb,
                                               &gpus::nvidia_l4_24gb,        &gpus::nvidia_a100_sxm_80gb,
                                               &gpus::nvidia_h200_sxm_141gb, &gpus::nvidia_t4_16gb,
                                               &gpus::nvidia_rtx_3090_24gb};
inline const gpu_profile& random_gpu(random_engine& random) { return *some_gpus[pick(random, 0, 6)]; }

}  // namespace samples
