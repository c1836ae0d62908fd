// A model needs a layer.
// expect: a model needs at least one layer
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
using model = decoder<hidden<64>, vocabulary<100>, repeat<0, block<mha<1, 64>, gated_mlp<128>>>>;
static_assert(model::architecture.num_hidden_layers == 0);
#else
using model = decoder<hidden<64>, vocabulary<100>, repeat<1, block<mha<1, 64>, gated_mlp<128>>>>;
static_assert(model::architecture.num_hidden_layers == 1);
#endif
