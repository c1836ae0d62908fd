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
  return on.printed_tokens(d, gpu, pools_of(d, on, available, gpu));
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

using llama_8b =
    decoder<hidden<4096>, vocabulary<128256>, repeat<32, block<gqa<32, 8, 128>, gated_mlp<14336>>>>;
inline constexpr const model_architecture& llama = llama_8b::architecture;

}  // namespace sglang_cases
