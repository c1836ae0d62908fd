// A token cannot use more experts than there are.
// expect: a token cannot use more experts than there are
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
using experts = mixture_of_experts<8, 9, 14336>;
using model = decoder<hidden<4096>, vocabulary<32000>, repeat<32, block<gqa<32, 8, 128>, experts>>>;
static_assert(model::architecture.num_hidden_layers == 32);
#else
using experts = mixture_of_experts<8, 2, 14336>;
using model = decoder<hidden<4096>, vocabulary<32000>, repeat<32, block<gqa<32, 8, 128>, experts>>>;
static_assert(model::architecture.num_hidden_layers == 32);
#endif
