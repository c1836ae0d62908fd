// An engine of one's own, as docs/architecture.md shows it between the marks.
#include <fmt/format.h>

#include "kvbudget/kvbudget.hpp"
#include "kvbudget/models.hpp"
#include "kvbudget/report/format.hpp"
#include "kvbudget/report/table.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

// [engine]
/// Allows itself a share of each GPU and keeps a staging buffer there.
struct careful {
  ratio share = percent(92);

  [[nodiscard]] constexpr engine_name name() const { return {"careful@1"}; }
  [[nodiscard]] constexpr usable_memory usable(const gpu_profile& gpu) const {
    const usable_memory all = kvbudget::usable(gpu);
    return {.low = floor_share(all.low, share),
            .expected = floor_share(all.expected, share),
            .high = floor_share(all.high, share),
            .known = all.known};
  }
  [[nodiscard]] constexpr memory_budget ledger(const deployment& d, const rank& where,
                                               const gpu_profile* gpu) const {
    memory_budget budget = engines::geometry{}.ledger(d, where, gpu);
    budget.add({"staging", 256_MiB, 512_MiB, 1_GiB, basis::measured, "our own log of 2026-11-02"});
    return budget;
  }
};
static_assert(engine<careful>);
// [engine]

namespace {
constexpr deployment serving{.model = models::llama_3_1_70b,
                             .weights = formats::fp8_e4m3,
                             .kv_cache = formats::fp8_e4m3,
                             .workload = {.sequences = 8, .context = 32768_tokens},
                             .parallel = {.tensor = 2}};
constexpr const gpu_profile& gpu = gpus::nvidia_h100_sxm_80gb;
static_assert(estimate(serving, careful{}, gpu).total() == estimate(serving).total() + 512_MiB);
static_assert(fits(serving, gpu, careful{}));
static_assert(max_context(serving, careful{}, gpu).value < max_context(serving, gpu).value);
}  // namespace

int main() {
  const careful engine;
  report::table_options options;
  options.engine = engine.name().text;
  options.gpu = report::gpu_view(gpu, engine.usable(gpu));
  fmt::print("{}\n", report::table(estimate(serving, engine, gpu), options));
}
