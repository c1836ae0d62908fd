// A deployment that does not fit names required, available and missing bytes, and every item.
// expect: this deployment does not fit in the GPU's memory
// expect: memory_plan<false
// expect: required_bytes<159844831232>
// expect: available_bytes<85029615043>
// expect: missing_bytes<74815216189>
// expect: weights_bytes<141107412992>
// expect: kv_cache_bytes<10737418240>
// expect: activations_bytes<0>
// expect: framework_bytes<2000000000>
// expect: margin_bytes<6000000000>
// expect: other_bytes<0>
#include "kvbudget/kvbudget.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

using llama_70b =
    decoder<hidden<8192>, vocabulary<128256>, repeat<80, block<gqa<64, 8, 128>, gated_mlp<28672>>>>;
#ifdef KVBUDGET_MUST_FAIL
using serving = static_deployment<llama_70b, precision<formats::bf16, kv<formats::bf16>>, batch<1, 32768>,
                                  pinned_framework<2_GB>, margin<6_GB>>;
#else
using serving = static_deployment<llama_70b, precision<formats::int4, kv<formats::bf16>>, batch<1, 32768>,
                                  pinned_framework<2_GB>, margin<6_GB>>;
#endif
static_assert(require_fits<serving, gpus::nvidia_h100_sxm_80gb>);
