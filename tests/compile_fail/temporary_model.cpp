// A deployment refers to its model: a temporary would be gone.
// expect: (use of deleted function|deleted (function|constructor)|call to deleted)
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

#ifdef KVBUDGET_MUST_FAIL
constexpr model_architecture make() { return {}; }
const deployment d{.model = make()};
#else
constexpr model_architecture model{};
const deployment d{.model = model};
#endif
