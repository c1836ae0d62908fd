// Only what satisfies the engine concept estimates.
// expect: (engine|constraints)
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
constexpr model_architecture model{};
constexpr memory_budget budget = estimate(deployment{.model = model}, 42);
#else
constexpr auto model_type =
    decoder<hidden<64>, vocabulary<100>, repeat<1, block<mha<1, 64>, gated_mlp<128>>>>{};
constexpr memory_budget budget = estimate(
    deployment{
        .model = decltype(model_type)::architecture, .weights = formats::bf16, .kv_cache = formats::bf16},
    engines::geometry{});
#endif
