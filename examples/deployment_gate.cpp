// A deployment that is checked when this file is compiled: change the GPU to one that is too small, or the
// context to one that is too long, and the build stops with every figure by name.
#include <fmt/format.h>

#include "kvbudget/kvbudget.hpp"
#include "kvbudget/models.hpp"
#include "kvbudget/report/format.hpp"
#include "kvbudget/report/table.hpp"

using namespace kvbudget;
using namespace kvbudget::formats;
using namespace kvbudget::literals;

namespace {

// A model of the catalogue, at the precision and with the load that it is going to serve.
using serving =
    static_deployment<model_of<models::llama_3_1_70b>, precision<fp8_e4m3, kv<fp8_e4m3>>, batch<8, 32768>,
                      tensor_parallel<2>, batched_tokens<8192>, pytorch_cuda, margin<2_GiB>>;
static_assert(serving::budget.kv_cache() == 21'474'836'480_B);     // per GPU
static_assert(require_fits<serving, gpus::nvidia_h100_sxm_80gb>);  // the gate
static_assert(!fits_v<serving, gpus::nvidia_rtx_a6000_48gb>);      // a question, not a gate
// static_assert(require_fits<serving, gpus::nvidia_rtx_a6000_48gb>);     // stops the build and says what is
// missing

// A model of one's own, spelled out.
using attention = gqa<32, 8, 128>;
using llama_8b = decoder<hidden<4096>, vocabulary<128256>, repeat<32, block<attention, gated_mlp<14336>>>>;
using small = static_deployment<llama_8b, precision<bf16, kv<fp8_e4m3>>, batch<16, 8192>>;
static_assert(parameter_count(llama_8b::architecture) == parameters{8'030'261'248});
static_assert(require_fits<small, gpus::nvidia_rtx_4090_24gb>);

}  // namespace

int main() {
  report::table_options options;
  options.title = "8 x 32,768 tokens on two H100, as checked by the compiler";
  options.gpu = report::gpu_view(gpus::nvidia_h100_sxm_80gb);
  options.engine = engines::geometry{}.name().text;
  fmt::print("{}\n", report::table(serving::budget, options));
}
