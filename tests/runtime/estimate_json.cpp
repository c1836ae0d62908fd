// Estimates and capacities as JSON: the same numbers as the values they are made of.
#include "kvbudget/io/estimate_json.hpp"

#include <string>

#include "kvbudget/kvbudget.hpp"
#include "kvbudget/models.hpp"
#include "support/catch.hpp"

namespace {

using namespace kvbudget;
using namespace kvbudget::formats;
using namespace kvbudget::literals;
using nlohmann::ordered_json;

deployment llama(std::uint32_t tensor = 2) {
  return {.model = models::llama_3_1_70b,
          .weights = fp8_e4m3,
          .kv_cache = fp8_e4m3,
          .workload = {.sequences = 1, .context = 32768_tokens},
          .parallel = {.tensor = tensor}};
}

TEST_CASE("an estimate as JSON") {
  const deployment d = llama();
  const ordered_json all = estimate_json(d, engines::geometry{}, node_of(gpus::nvidia_h100_sxm_80gb, 2),
                                         headroom{10_percent}, {"careful"});
  const memory_budget budget = estimate(d);
  CHECK(all["schema"] == 1);
  CHECK(all["kv_cache"]["bytes"] == 2'684'354'560);
  CHECK(all["kv_cache"]["bytes_per_token"].is_number_unsigned());
  CHECK(all["total_bytes"] == budget.total().value);
  REQUIRE(all["items"].size() == budget.count);
  std::size_t at = 0;
  for (const line_item& line : budget) {
    const ordered_json& item = all["items"][at++];
    CHECK(item["name"] == line.name);
    CHECK(item["bytes"] == line.expected.value);
    CHECK(item["low"] == line.low.value);
    CHECK(item["high"] == line.high.value);
    CHECK(item["basis"] == name_of(line.known));
    CHECK(item["source"] == line.source);
  }
  CHECK(all["cluster"]["kv_cache_bytes"] == 5'368'709'120);
  const verdict answer = check_fit(budget, gpus::nvidia_h100_sxm_80gb, headroom{10_percent});
  CHECK(all["headroom_bytes"] == answer.headroom_bytes);
  CHECK(all["fits"] == answer.fits);
  CHECK(all["warnings"] == ordered_json{"careful"});
  CHECK(ordered_json::parse(all.dump()) == all);
}

TEST_CASE("JSON says which lines are not counted") {
  deployment d = llama();
  CHECK(estimate_json(d)["not_counted"] == ordered_json{"activations", "framework"});
  const node two = node_of(gpus::nvidia_h100_sxm_80gb, 2);
  CHECK(estimate_json(d, engines::geometry{}, two)["surely"] == true);
  CHECK(capacity_json(d, two)["not_counted"] == ordered_json{"activations", "framework"});
  d.workload.batched_tokens = 8192_tokens;
  CHECK(estimate_json(d)["not_counted"] == ordered_json::array({"framework"}));
  d.pinned.framework = 5_GB;
  CHECK(estimate_json(d)["not_counted"] == ordered_json::array());
}

TEST_CASE("JSON names the formats that auto stands for") {
  deployment d{.model = models::llama_3_1_70b, .workload = {.sequences = 1, .context = 1000_tokens}};
  ordered_json all = estimate_json(d);
  CHECK(all["weights_format"] == "bf16");
  CHECK(all["kv_cache_format"] == "bf16");
  CHECK(all["kv_cache_exceptions"].is_null());
  static model_architecture mixed = models::llama_3_1_70b;
  mixed.kinds[0].weights[0].precision = mixed.precision_of(schemes::fp8_block);
  CHECK(estimate_json(deployment{.model = mixed})["weights_format"] == "fp8_block, bf16");
  d.dtype = fp16;
  d.weights = fp8_e4m3;
  d.kv_cache = fp8_e4m3;
  d.kv_exceptions.first_layers = 3;
  all = estimate_json(d);
  CHECK(all["weights_format"] == "fp8_e4m3");
  CHECK(all["kv_cache_format"] == "fp8_e4m3");
  CHECK(all["kv_cache_exceptions"] == ordered_json{{"format", "fp16"}, {"layers", 3}});
}

TEST_CASE("without a GPU the verdict is null") {
  const ordered_json all = estimate_json(llama());
  for (const char* key :
       {"gpu", "fits", "surely", "never", "headroom_bytes", "fits_with_20_percent_headroom"}) {
    INFO(key);
    REQUIRE(all.contains(key));
    CHECK(all[key].is_null());
  }
}

TEST_CASE("a fractional slope is a JSON number, and headroom may be negative") {
  // Four ranks hold the one KV head, each a quarter of the tokens: 5 layers x 130 bytes / 4.
  using narrow = decoder<hidden<260>, vocabulary<1000>, repeat<5, block<mqa<4, 65>, gated_mlp<512>>>>;
  deployment d{.model = narrow::architecture, .weights = fp8_e4m3, .kv_cache = fp8_e4m3};
  d.workload = {.sequences = 1, .context = 1000_tokens};
  d.parallel = {.tensor = 4, .decode_context = 4};
  const ordered_json all = estimate_json(d);
  CHECK(all["kv_cache"]["bytes_per_token"].is_number_float());
  CHECK(all["kv_cache"]["bytes_per_token"] == 162.5);

  const ordered_json small =
      estimate_json(llama(1), engines::geometry{}, node_of(gpus::nvidia_rtx_4090_24gb));
  CHECK(small["headroom_bytes"].get<std::int64_t>() < 0);
  CHECK(small["fits"] == false);
  CHECK(small["never"] == true);
}

TEST_CASE("ranks are listed worst first and add up to the cluster") {
  deployment d = llama(2);
  d.parallel = {.tensor = 2, .pipeline = 3, .data = 2};
  d.workload.sequences = 3;
  const ordered_json all = estimate_json(d);
  std::uint64_t ranks = 0;
  std::uint64_t total = 0;
  std::uint64_t last = UINT64_MAX;
  for (const ordered_json& kind : all["ranks"]) {
    const auto each = kind["total_bytes"].get<std::uint64_t>();
    CHECK(each <= last);
    CHECK(kind["pipeline_stage"].is_number_unsigned());
    CHECK(kind["data_replica"].is_number_unsigned());
    last = each;
    ranks += kind["count"].get<std::uint64_t>();
    total += each * kind["count"].get<std::uint64_t>();
  }
  CHECK(ranks == 12);
  CHECK(all["cluster"]["total_bytes"] == total);
  CHECK(all["ranks"][0]["total_bytes"] == all["total_bytes"]);
  CHECK(all["ranks"][0]["data_replica"] == 0);
}

TEST_CASE("a capacity as JSON") {
  const ordered_json all = capacity_json(llama(), node_of(gpus::nvidia_h100_sxm_80gb, 2));
  const capacity found = capacity_of(llama(), gpus::nvidia_h100_sxm_80gb);
  CHECK(all["available_kv_bytes"] == found.available_kv.value);
  CHECK(all["max_context"] == found.max_context.value);
  CHECK(all["blocks"].is_null());
  CHECK(all["unbounded"].is_array());
  CHECK(all["unbounded"].empty());
  CHECK(all["concurrency"] == found.concurrency().approximate());
}

TEST_CASE("what nothing grows with is unbounded, not a number") {
  using state = mamba1<4096, 16, 4, 128>;
  static constexpr model_architecture model =
      decoder<hidden<2048>, vocabulary<1000>, repeat<4, block<state, gated_mlp<4096>>>>::architecture;
  deployment d{.model = model};
  d.dtype = bf16;
  d.workload = {.sequences = 2, .context = 1000_tokens};
  const ordered_json all = capacity_json(d, node_of(gpus::nvidia_rtx_4090_24gb));
  CHECK(all["max_context"].is_null());
  CHECK(all["max_sequences"].is_number());
  CHECK(all["unbounded"] == ordered_json{"max_tokens", "max_context"});
}

TEST_CASE("a capacity is exact on the rank that runs out first") {
  deployment d = llama(1);
  d.model = models::gemma_3_27b;
  d.parallel = {.pipeline = 3};
  const gpu_profile& gpu = gpus::nvidia_l40s_48gb;
  const capacity found = capacity_of(d, gpu);
  REQUIRE(found.max_sequences.fits);
  CHECK(found.concurrency().approximate() >= static_cast<double>(found.max_sequences.value));
  CHECK(found.concurrency().approximate() < static_cast<double>(found.max_sequences.value + 1));
  d.workload.sequences = found.max_sequences.value;
  CHECK(fits(d, gpu));
  d.workload.sequences += 1;
  CHECK_FALSE(fits(d, gpu));
}

TEST_CASE("leave 20 percent free: the margin is such a reserve already") {
  memory_budget budget;
  budget.add({"weights", 80_GB, ""});
  const usable_memory hundred{100_GB, 100_GB, 100_GB, basis::exact};
  CHECK(fits_with_20_percent_headroom(budget, hundred));
  budget.add({"margin", 30_GB, ""});
  CHECK(fits_with_20_percent_headroom(budget, hundred));
  budget.add({"framework", 1_B, ""});
  CHECK_FALSE(fits_with_20_percent_headroom(budget, hundred));
}

}  // namespace
