#pragma once

// What the cases of serving engines (tests/cases/vllm.inc) refer to: catalogue models, pools of so many
// bytes.

#include "kvbudget/engine/sglang.hpp"
#include "kvbudget/engine/tensorrt_llm.hpp"
#include "kvbudget/engine/vllm.hpp"
#include "kvbudget/hardware/gpus.hpp"
#include "kvbudget/model/builders.hpp"
#include "kvbudget/models.hpp"
#include "kvbudget/plan/capacity.hpp"
#include "kvbudget/plan/static_deployment.hpp"
#include "kvbudget/units/literals.hpp"

namespace serving {

using namespace kvbudget;
using namespace kvbudget::literals;
namespace f = kvbudget::formats;
namespace kv = kvbudget::kv_formats;
using engines::vllm;

inline constexpr std::uint64_t gib = std::uint64_t{1} << 30;
inline constexpr const gpu_profile& h100 = gpus::nvidia_h100_sxm_80gb;
inline constexpr engine_version v0{0, 7}, before_graphs{0, 19}, newest{0, 27};

constexpr deployment of(const model_architecture& model, const kv_format& cache = {},
                        const parallel_layout& layout = {}) {
  deployment d{.model = model};
  d.dtype = f::bf16;
  d.kv_cache = cache;
  d.parallel = layout;
  return d;
}

/// The pool that so many bytes give.
constexpr block_pool pool_of(const deployment& d, const vllm& on, std::uint64_t available,
                             const gpu_profile& gpu = h100) {
  return on.pools(d, rank{}, gpu, available).pools[0];
}
constexpr std::uint64_t block_bytes(const deployment& d, const vllm& on = {}, const gpu_profile& gpu = h100) {
  return pool_of(d, on, 0, gpu).block_bytes;
}
/// Bytes of one token where one table serves all layers.
constexpr std::uint64_t per_token(const deployment& d, const vllm& on = {}, const gpu_profile& gpu = h100) {
  const block_pool pool = pool_of(d, on, 0, gpu);
  return pool.block_bytes / pool.groups[0].block_tokens;
}
constexpr std::uint64_t printed(const deployment& d, const vllm& on, std::uint64_t available,
                                const gpu_profile& gpu = h100) {
  return on.printed_tokens(d, gpu, on.pools(d, rank{}, gpu, available), on.longest_request(d));
}
/// Bytes without which the engine does not start.
constexpr std::uint64_t needed(const deployment& d, const vllm& on, const gpu_profile& gpu = h100) {
  return on.needed_to_start(d, gpu, on.pools(d, rank{}, gpu, 0), on.longest_request(d)).value;
}
/// Concurrency in units of 1 / 10,000, rounded.
constexpr std::uint64_t concurrency_e4(const deployment& d, const vllm& on, std::uint64_t available,
                                       const gpu_profile& gpu = h100) {
  const block_pool pool = pool_of(d, on, available, gpu);
  const std::uint64_t each = pool.blocks_of(on.longest_request(d));
  return (2 * pool.blocks * 10'000 + each) / (2 * each);
}
constexpr std::uint64_t blocks_of_tables(const deployment& d, const vllm& on, std::uint64_t available,
                                         const gpu_profile& gpu = h100) {
  return pool_of(d, on, available, gpu).blocks;
}

/// The deployment of the articles' command, as a type.
using llama_70b_fp8 = static_deployment<model_of<models::llama_3_1_70b>,
                                        precision<schemes::fp8_linear, kvbudget::kv<f::fp8_e4m3>>,
                                        batch<8, 32768>, tensor_parallel<2>>;

/// One full-attention layer of gpt-oss's cache shape, as its EAGLE drafts have it.
using eagle_layer = decoder<hidden<2880>, vocabulary<201088>, block<gqa<64, 8, 64>, gated_mlp<2880>>>;
constexpr deployment with_eagle(deployment d) {
  d.speculation.kind = speculation_kind::eagle;
  d.speculation.draft = &eagle_layer::architecture;
  d.speculation.num_speculative_tokens = 1;
  return d;
}
constexpr deployment drafting(deployment d, std::uint32_t tokens_ahead) {
  d.speculation.kind = speculation_kind::mtp;
  d.speculation.num_speculative_tokens = tokens_ahead;
  return d;
}

}  // namespace serving
