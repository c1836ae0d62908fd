// The example of README.md, which shows the lines between the marks.
#include <fmt/format.h>

#include "kvbudget/report/format.hpp"

// [readme]
#include "kvbudget/kvbudget.hpp"
#include "kvbudget/models.hpp"

using namespace kvbudget;
using namespace kvbudget::formats;
using namespace kvbudget::literals;

using serving = static_deployment<model_of<models::llama_3_1_70b>,       // or a decoder<…> of your own
                                  precision<fp8_e4m3, kv<fp8_e4m3>>,     // weights, KV cache
                                  batch<8, 32768>, tensor_parallel<2>>;  // 8 sequences of 32,768 tokens

static_assert(serving::budget.kv_cache() == 21'474'836'480_B);     // on each of the two GPUs
static_assert(require_fits<serving, gpus::nvidia_h100_sxm_80gb>);  // the gate
static_assert(!fits_v<serving, gpus::nvidia_rtx_a6000_48gb>);      // a question
// static_assert(require_fits<serving, gpus::nvidia_rtx_a6000_48gb>);  // does not compile
// [readme]

int main() { fmt::print("{} on each of two GPUs\n", serving::budget.total()); }
