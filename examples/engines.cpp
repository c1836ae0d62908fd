// The examples of README.md and docs/engines.md, which show the lines between the marks.
#include <fmt/format.h>

#include "kvbudget/report/format.hpp"

// [engines]
#include "kvbudget/kvbudget.hpp"
#include "kvbudget/models.hpp"

using namespace kvbudget;
using namespace kvbudget::formats;

using serving = static_deployment<model_of<models::llama_3_1_70b>, precision<fp8_e4m3, kv<fp8_e4m3>>,
                                  batch<8, 32768>, tensor_parallel<2>>;
constexpr engines::vllm server{.version = {0, 21}, .gpu_memory_utilization = 0.95, .max_model_len = 32768};

constexpr allocation reserved = allocate(serving::value, server, gpus::nvidia_h100_sxm_80gb);
static_assert(reserved.starts());
static_assert(reserved.blocks() == 30'093 && reserved.block_tokens() == 16);  // on each of the two GPUs
static_assert(reserved.printed_kv_cache_tokens == 481'488);                   // "GPU KV cache size"

static_assert(max_sequences(serving::value, server, gpus::nvidia_h100_sxm_80gb).value == 14);
static_assert(max_context(serving::value, server, gpus::nvidia_h100_sxm_80gb).value == 32768);

// An engine is a value, so it can be a template argument. Started for 4,096 tokens it takes no 32,768.
static_assert(require_fits<serving, gpus::nvidia_h100_sxm_80gb, server>);
static_assert(!fits_v<serving, gpus::nvidia_h100_sxm_80gb, engines::vllm{.max_model_len = 4096}>);
// [engines]

// [tables]
constexpr deployment gemma{.model = models::gemma_3_27b};
constexpr block_pool tables_of(const engines::vllm& on) {
  return allocate(gemma, on, gpus::nvidia_h100_sxm_80gb).main_pool();
}
// Ten layers of 16 tokens of 8,192 bytes; one table that keeps every token, and six of windows.
static_assert(tables_of({.version = {0, 20}}).block_bytes == 10 * 16 * 8192);
static_assert(tables_of({.version = {0, 20}}).blocks_of(131'072) == 8192 + 6 * 577);
// Two batches in flight.
static_assert(tables_of({.version = {0, 21}}).blocks_of(131'072) == 8192 + 6 * 1089);
// [tables]

int main() { fmt::print("{} blocks of {}\n", reserved.blocks(), bytes{reserved.main_pool().block_bytes}); }
