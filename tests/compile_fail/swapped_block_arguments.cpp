// Attention comes first in a block.
// expect: the first argument of block is an attention
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
using layer = block<gated_mlp<128>, mha<1, 64>>;
static_assert(sizeof(layer) > 0);
#else
using layer = block<mha<1, 64>, gated_mlp<128>>;
static_assert(sizeof(layer) > 0);
#endif
