#include <cstdio>
#include "accuracy/measure.hpp"
int main(int argc, char** argv) {
  using namespace tests::accuracy;
  (void)argc;
  for (const auto& c : compare_all(tests::corpus::load_all(argv[1])))
    std::printf("%-24s %-50s %12.4f %12.4f %+7.2f %% %s%s%s %s\n", c.quantity.c_str(), c.id.c_str(), c.printed, c.predicted, 100*c.error(), c.is_exact()?"=":c.is_miss()?"MISS":"", c.counted?"":" (circular)", c.text?"":" mm", c.version.c_str());
}
