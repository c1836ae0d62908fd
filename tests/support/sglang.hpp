#pragma once

// What the cases in tests/cases/sglang.inc refer to.

#include "kvbudget/engine/sglang.hpp"
#include "kvbudget/models.hpp"
#include "support/samples.hpp"

namespace sglang_cases {

using namespace kvbudget;
using namespace kvbudget::literals;
namespace f = kvbudget::formats;
namespace rules = kvbudget::engines::sglang_rules;
using engines::sglang;
inline constexpr std::uint64_t gib = std::uint64_t{1} << 30;

/// A GPU of which nvidia-smi reports so many MiB; a program sees as much.
constexpr gpu_profile gpu_of_mib(std::uint64_t mib, std::uint64_t seen_mib = 0) {
  gpu_profile gpu;
  gpu.driver_total_bytes = mib << 20;
  gpu.runtime_total_bytes = (seen_mib == 0 ? mib : seen_mib) << 20;
  return gpu;
}
inline constexpr gpu_profile h100 = gpu_of_mib(81'559);
inline constexpr gpu_profile b200 = gpu_of_mib(183'359);

/// A model and nothing else; the cache in the dtype unless said otherwise.
constexpr deployment of(const model_architecture& model, const parallel_layout& layout = {},
                        const kv_format& cache = {}) {
  deployment d{.model = model};
  if (model.dtype.is_automatic()) d.dtype = f::bf16;
  d.kv_cache = cache;
  d.parallel = layout;
  return d;
}
/// Weights pinned to what a log printed, everything else left out of the ledger.
constexpr deployment loaded(deployment d, std::uint64_t weights_in_hundredths_of_gib) {
  d.pinned.weights = bytes{weights_in_hundredths_of_gib * gib / 100};
  d.pinned.activations = bytes{};
  d.pinned.framework = bytes{};
  return d;
}
/// The pools that `gib_for_pools` bytes give on the first rank.
constexpr block_pools pools_of(const deployment& d, const sglang& on, std::uint64_t available,
                               const gpu_profile& gpu = h100) {
  return on.pools(d, rank{}, gpu, available);
}
constexpr std::uint64_t tokens_of(const deployment& d, const sglang& on, std::uint64_t available,
                                  const gpu_profile& gpu = h100) {
  return on.printed_tokens(d, gpu, pools_of(d, on, available, gpu), 0);
}
/// mem_fraction_static in thousandths.
constexpr std::uint64_t thousandths(const deployment& d, const sglang& on, const gpu_profile& gpu) {
  return static_cast<std::uint64_t>(on.fraction(d, gpu) * 1000 + 0.5);
}
/// MiB that the default leaves free.
constexpr std::uint64_t reserved(const deployment& d, const sglang& on, const gpu_profile& gpu) {
  return static_cast<std::uint64_t>(
      rules::reserved_mib(rules::release_of(on.version), on.fraction_inputs(d, gpu)));
}
/// Bytes in hundredths of GiB, rounded half up, as SGLang prints sizes.
constexpr std::uint64_t hundredths(bytes amount) { return (amount.value * 100 + gib / 2) / gib; }
/// GiB of a log, hundredths, as bytes.
constexpr std::int64_t printed(std::uint64_t in_hundredths) {
  return static_cast<std::int64_t>(in_hundredths * gib / 100);
}
/// Whether two counts agree within so many parts of a hundred thousand.
constexpr bool near(std::uint64_t found, std::uint64_t wanted, std::uint64_t per_100_000) {
  const std::uint64_t apart = found < wanted ? wanted - found : found - wanted;
  return apart * 100'000 <= wanted * per_100_000;
}

inline constexpr const model_architecture& llama = models::llama_3_1_8b;

/// Options as a template argument.
template <sglang On> inline constexpr double share_given = On.mem_fraction_static;

/// The release whose defaults of 2026 are known.
inline constexpr sglang latest{.version = {0, 5, 21}};
inline constexpr sglang qwen_3_8{.version = {0, 5, 21},
                                 .mem_fraction_static = 0.7,
                                 .max_running_requests = 72,
                                 .max_mamba_cache_size = 360};

/// A draft of one layer for `llama`, in any way of drafting.
using llama_draft =
    decoder<hidden<4096>, vocabulary<128256>, repeat<1, block<gqa<32, 8, 128>, gated_mlp<14336>>>>;
constexpr deployment drafted(deployment d, speculation_kind kind) {
  d.speculation.kind = kind;
  d.speculation.num_speculative_tokens = 3;
  if (d.speculation.has_draft_model()) d.speculation.draft = &llama_draft::architecture;
  return d;
}
/// With the model's own draft layer.
constexpr model_architecture with_draft_layer(const model_architecture& model) {
  model_architecture result = model;
  result.draft_layers = 1;
  result.draft_store_count = 0;
  result.add_draft_store(model.kinds[0].stores[0]);
  return result;
}
inline constexpr model_architecture deepseek_with_draft_layer = with_draft_layer(models::deepseek_v3);
constexpr deployment mtp_drafted(const deployment& base) {
  deployment d{.model = deepseek_with_draft_layer};
  d.kv_cache = base.kv_cache;
  d.speculation.kind = speculation_kind::mtp;
  d.speculation.num_speculative_tokens = 1;
  return d;
}
constexpr deployment fp8_weights(deployment d) {
  d.weights = schemes::fp8_block;
  return d;
}
/// Bytes of one token in the pool of all tokens, and tokens of its pages.
constexpr std::uint64_t page_of(const deployment& d, const sglang& on = {}) {
  return pools_of(d, on, gib).pools[0].groups[0].block_tokens;
}
constexpr std::uint64_t token_bytes(const deployment& d, const sglang& on = {},
                                    const gpu_profile& gpu = h100) {
  const block_pools pools = pools_of(d, on, gib, gpu);
  return pools.pools[0].block_bytes / pools.pools[0].groups[0].block_tokens;
}
constexpr std::uint64_t window_tokens(const deployment& d, const sglang& on, std::uint64_t available) {
  return pools_of(d, on, available).pools[1].blocks;
}
constexpr std::uint64_t state_slots(const deployment& d, const sglang& on, std::uint64_t available) {
  return pools_of(d, on, available).pools[1].blocks;
}
constexpr std::uint64_t running(const deployment& d, const sglang& on, const gpu_profile& gpu) {
  return on.running_requests(d, gpu);
}
/// What a log's free memory before and after loading leaves, in hundredths of GiB.
constexpr std::uint64_t left(std::uint64_t before, std::uint64_t after, double fraction) {
  return static_cast<std::uint64_t>(rules::rest_bytes(printed(before), printed(after), fraction));
}
/// max_total_num_tokens from nothing but model, GPU, release and flags.
constexpr std::uint64_t allocated(const deployment& d, const sglang& on, const gpu_profile& gpu) {
  return allocate(d, on, gpu).printed_kv_cache_tokens;
}
constexpr const char* refused(const deployment& d, const sglang& on) { return on.refuses(d, h100).text; }
constexpr const char* failure(const deployment& d, const sglang& on) {
  return on.out_of_memory(d, h100).text;
}
/// Whether a text begins like this.
constexpr bool says(const char* text, const char* start) {
  if (text == nullptr) return false;
  for (; *start != '\0'; ++start, ++text) {
    if (*text != *start) return false;
  }
  return true;
}
constexpr bool same(const engine_name& name, const char* text) { return detail::same_text(name.text, text); }
constexpr std::uint64_t host(const deployment& d, const sglang& on) {
  return on.host_bytes(d, h100).value * d.parallel.ranks();
}

/// Grok-2's attention: 64 layers of 8 KV heads.
inline constexpr const model_architecture& grok_2 =
    decoder<hidden<8192>, vocabulary<131072>,
            repeat<64, block<gqa<64, 8, 128>, mixture_of_experts<8, 2, 16384>>>>::architecture;

}  // namespace sglang_cases
