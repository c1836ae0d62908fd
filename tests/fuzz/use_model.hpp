#pragma once

#include <cstddef>

#include "attempt.hpp"
#include "kvbudget/io/model_json.hpp"
#include "kvbudget/kvbudget.hpp"
#include "kvbudget/report/model.hpp"

/// What the fuzzers do with a model that a reader gave.
namespace fuzz {

/// What a reader accepts must not upset the library: it is estimated whole and over two ranks, described in
/// words, and read back from the file that it is written to.
inline void use(const kvbudget::model_architecture& model) {
  using namespace kvbudget;
  deployment d{.model = model, .kv_cache = formats::bf16, .dtype = formats::bf16};
  d.workload.sequences = 3;
  d.workload.context = tokens{5000};
  attempt([&] { (void)estimate(d).total(); });
  attempt([&] { (void)kv_growth_of(d, share_of(d, rank{}), tokens{5000}); });
  d.load_draft_layers = true;
  d.weights = formats::fp8_e4m3;
  d.kv_cache = formats::fp8_e4m3;
  d.parallel.tensor = 2;
  attempt([&] { (void)estimate_cluster(d).total(); });
  d.speculation.kind = speculation_kind::mtp;
  d.lora = {.max_loras = 1, .max_lora_rank = 8};
  attempt([&] { (void)estimate(as_loaded_by_vllm(d, {.fp4_experts = fp4_expert_kernel::triton})).total(); });
  require(!report::layer_order(model).empty());
  for (std::size_t kind = 0; kind < model.kind_count; ++kind) {
    require(!report::stores_text(model.kinds[kind]).empty());
  }
  require(parse_model(to_json(model), "written model") == model);
}

}  // namespace fuzz
