// A tensor degree that does not split the heads stops the estimate.
// expect: query_heads_cannot_be_split_over_the_tensor_ranks
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
using model = decoder<hidden<4096>, vocabulary<32000>, repeat<32, block<gqa<32, 8, 128>, gated_mlp<14336>>>>;
using serving =
    static_deployment<model, precision<formats::bf16, kv<formats::bf16>>, batch<1, 100>, tensor_parallel<3>>;
static_assert(serving::budget.total() > 0_B);
#else
using model = decoder<hidden<4096>, vocabulary<32000>, repeat<32, block<gqa<32, 8, 128>, gated_mlp<14336>>>>;
using serving =
    static_deployment<model, precision<formats::bf16, kv<formats::bf16>>, batch<1, 100>, tensor_parallel<4>>;
static_assert(serving::budget.total() > 0_B);
#endif
