// The smallest user of the library.
#include <kvbudget/kvbudget.hpp>
#include <kvbudget/version.hpp>

using namespace kvbudget::literals;

static_assert(80_GiB > 80_GB);

int main() { return (80_GiB).value == 85899345920 ? 0 : 1; }
