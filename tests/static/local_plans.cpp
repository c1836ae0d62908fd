// Deployment code that states what fits on llama.cpp and the programs that run it.
#include "kvbudget/engine/llama_cpp.hpp"
#include "kvbudget/kvbudget.hpp"
#include "kvbudget/models.hpp"

namespace {

using namespace kvbudget;
using namespace kvbudget::literals;

using serving = static_deployment<model_of<models::llama_3_1_8b>, precision<formats::q4_k, kv<formats::fp16>>,
                                  batch<1, 8192>>;
static_assert(
    require_fits<serving, gpus::nvidia_rtx_4090_24gb, engines::llama_cpp{.n_ctx = 8192, .n_parallel = 1}>);
static_assert(
    !fits_v<serving, gpus::nvidia_rtx_4090_24gb, engines::llama_cpp{.n_ctx = 1'048'576, .n_parallel = 1}>);
static_assert(fits_v<serving, gpus::nvidia_rtx_4090_24gb, engines::ollama{.num_ctx = 8192}>);
static_assert(fits_v<serving, gpus::nvidia_rtx_4090_24gb, engines::ik_llama_cpp{.n_ctx = 8192}>);

// Without a slot for each request, or cells for its tokens, nothing fits, however large the GPU is.
constexpr deployment two_requests{
    .model = models::llama_3_1_8b, .weights = formats::q4_k, .workload = {2, 8192_tokens}};
static_assert(!fits(two_requests, gpus::nvidia_h100_sxm_80gb,
                    engines::llama_cpp{.n_ctx = 8192, .n_parallel = 1}));
static_assert(fits(two_requests, gpus::nvidia_h100_sxm_80gb,
                   engines::llama_cpp{.n_ctx = 16384, .n_parallel = 2}));

}  // namespace
