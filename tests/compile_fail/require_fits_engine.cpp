// On an engine that reserves a pool the same message says what the pool lacks.
// expect: this deployment does not fit in the GPU's memory
// expect: memory_plan<false
// expect: required_bytes<144328638464>
// expect: available_bytes<76526653539>
// expect: missing_bytes<78539403165>
// expect: weights_bytes<141107412992>
// expect: kv_cache_bytes<0>
// expect: activations_bytes<2147483648>
// expect: framework_bytes<1073741824>
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

using llama_70b =
    decoder<hidden<8192>, vocabulary<128256>, repeat<80, block<gqa<64, 8, 128>, gated_mlp<28672>>>>;
#ifdef KVBUDGET_MUST_FAIL
using serving =
    static_deployment<llama_70b, precision<formats::bf16, kv<formats::bf16>>, batch<1, 32768>,
                      pinned_activations<2_GiB>, pinned_framework<1_GiB>, model_dtype<formats::bf16>>;
#else
using serving =
    static_deployment<llama_70b, precision<formats::int4, kv<formats::bf16>>, batch<1, 32768>,
                      pinned_activations<2_GiB>, pinned_framework<1_GiB>, model_dtype<formats::bf16>>;
#endif
constexpr engines::vllm server{.version = {0, 19}, .max_model_len = 32768};
static_assert(require_fits<serving, gpus::nvidia_h100_sxm_80gb, server>);
