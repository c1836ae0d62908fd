// Query heads must share KV heads evenly.
// expect: query heads must be a multiple of KV heads
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
using attention = gqa<64, 7, 128>;
using model = decoder<hidden<8192>, vocabulary<32000>, repeat<80, block<attention, gated_mlp<28672>>>>;
static_assert(model::architecture.num_hidden_layers == 80);
#else
using attention = gqa<64, 8, 128>;
using model = decoder<hidden<8192>, vocabulary<32000>, repeat<80, block<attention, gated_mlp<28672>>>>;
static_assert(model::architecture.num_hidden_layers == 80);
#endif
