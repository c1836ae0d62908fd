// Ollama, LM Studio and ik_llama.cpp as engines: the llama.cpp that they start, through the same ledger.
#include <string>
#include "kvbudget/engine/llama_cpp.hpp"
#include "kvbudget/kvbudget.hpp"
#include "kvbudget/models.hpp"
#include "support/catch.hpp"

namespace {

using namespace kvbudget;
using namespace kvbudget::literals;

deployment of(const model_architecture& model) {
  deployment d{.model = model, .weights = formats::q4_k};
  d.workload = {.sequences = 1, .context = 4096_tokens};
  return d;
}
const gpu_profile& card() { return gpus::nvidia_rtx_4090_24gb; }

}  // namespace

TEST_CASE("Ollama is the llama-server that it starts", "[llama_cpp]") {
  const deployment d = of(models::llama_3_1_8b);
  const engines::ollama asked{
      .num_ctx = 8192, .num_parallel = 2, .kv_cache_type = llama_cpp_cache_type::q8_0};
  const engines::llama_cpp started = asked.started(d, &card());
  CHECK(started.n_ctx == 16384);
  CHECK(started.n_parallel == 2);
  CHECK(started.n_ubatch == 1024);
  CHECK(estimate(d, asked, card()).total() == estimate(d, started, card()).total());
  CHECK(estimate(d, asked, card()).kv_cache() == bytes{16384ull * 32 * 2 * 1024 * 34 / 32});
  CHECK(asked.host_ledger(d, &card()).total() == started.host_ledger(d, &card()).total());
  // 24 GB: 32,768 tokens where the user gives none, and a batch of 1,024 on top of 4,096 tokens.
  CHECK(engines::ollama{}.started(d, &card()).n_ctx == 32768);
  CHECK(engines::ollama{}.started(d, nullptr).n_ctx == 4096);
  CHECK(static_cast<bool>(asked.refuses(of(models::llama_3_1_8b), card())) == false);
  deployment longer = d;
  longer.workload.context = 9000_tokens;
  CHECK(asked.refuses(longer, card()));
}

TEST_CASE("LM Studio has four slots on one cache, and is never better than assumed", "[llama_cpp]") {
  const deployment d = of(models::llama_3_1_8b);
  const engines::lm_studio asked{.context_length = 8192};
  CHECK(asked.started(d, nullptr).n_parallel == 4);
  const memory_budget budget = estimate(d, asked, card());
  CHECK(budget.kv_cache() == bytes{1'073'741'824});
  for (const line_item& line : budget) {
    if (!line.is_part && line.name != std::string("framework")) CHECK(line.known == basis::assumed);
  }
}

TEST_CASE("ik_llama.cpp keeps its own cache beside llama.cpp's weights", "[llama_cpp]") {
  const deployment d = of(models::deepseek_v2_lite);
  engines::ik_llama_cpp asked{.n_ctx = 8192};
  const bytes latent{27ull * 8192 * 576 * 2};
  CHECK(estimate(d, asked, card()).kv_cache() == latent);
  asked.mla = 0;
  CHECK(estimate(d, asked, card()).kv_cache() == bytes{27ull * 8192 * 16 * (192 + 128) * 2});
  asked.offload_kqv = false;
  CHECK(estimate(d, asked, card()).kv_cache() == bytes{});
  CHECK(asked.host_ledger(d, &card()).kv_cache() == bytes{27ull * 8192 * 16 * (192 + 128) * 2});
  CHECK(estimate(d, asked, card()).weights() ==
        estimate(d, engines::llama_cpp{.n_ctx = 8192}, card()).weights());
  CHECK(asked.cache_growth(d, {}).bytes_per_token == ratio{27ull * 16 * (192 + 128) * 2, 1});
  engines::ik_llama_cpp wrong{.n_ctx = 8192, .mla = 4};
  CHECK(wrong.refuses(d, card()));
}
