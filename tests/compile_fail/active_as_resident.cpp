// What a token touches is not what memory has to hold.
// expect: active_parameter_dimension
// expect-gcc: could not convert .*active_parameter_dimension.* to .*parameter_dimension
// expect-clang: no known conversion from .*active_parameter_dimension.* to .*parameter_dimension
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using model =
    decoder<hidden<64>, vocabulary<100>, repeat<2, block<mha<4, 16>, mixture_of_experts<8, 2, 128>>>>;

constexpr bytes in_two_bytes(parameters resident) { return bytes{2 * resident.value}; }

#ifdef KVBUDGET_MUST_FAIL
constexpr bytes held = in_two_bytes(active_parameter_count(model::architecture));
#else
constexpr bytes held = in_two_bytes(parameter_count(model::architecture));
#endif
