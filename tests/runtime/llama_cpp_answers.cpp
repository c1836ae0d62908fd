// What plans, JSON and tables say of an engine that refuses and allocates everything when it starts.
#include <cstdint>
#include <string>

#include "kvbudget/engine/llama_cpp.hpp"
#include "kvbudget/io/estimate_json.hpp"
#include "kvbudget/io/llama_cpp_json.hpp"
#include "kvbudget/kvbudget.hpp"
#include "kvbudget/models.hpp"
#include "kvbudget/report/llama_cpp.hpp"
#include "support/catch.hpp"

using namespace kvbudget;
using namespace kvbudget::literals;

namespace {

const gpu_profile& gpu = gpus::nvidia_rtx_4090_24gb;

deployment asked_for(std::uint64_t sequences, std::uint64_t context) {
  deployment d{.model = models::qwen3_30b_a3b};
  d.weights = formats::q4_k;
  d.workload = {.sequences = sequences, .context = tokens{context}};
  return d;
}

engines::llama_cpp sized() {
  engines::llama_cpp on;
  on.sized_for_requests = true;
  return on;
}

}  // namespace

TEST_CASE("what llama.cpp refuses never fits") {
  engines::llama_cpp on = sized();
  const deployment d = asked_for(1, 4096);
  CHECK(check_fit(d, gpu, on).surely);

  on.flash_attn = llama_cpp_flash_attn::off;
  on.type_v = llama_cpp_cache_type::q8_0;
  REQUIRE(on.refuses_to_load(d, &gpu));
  const verdict unloaded = check_fit(d, gpu, on);
  CHECK(!unloaded.fits);
  CHECK(!unloaded.surely);
  CHECK(unloaded.never);
  CHECK(unloaded.needed == 0_B);
  CHECK(!fits_with_20_percent_headroom(d, gpu, on));
  const capacity none = capacity_of(d, gpu, on);
  CHECK(none.refused);
  CHECK(!none.starts);
  CHECK(!none.fits);
  CHECK(none.max_context == limit{});
  CHECK(none.max_sequences == limit{});

  // What loads, but does not hold the requests, has bytes.
  engines::llama_cpp small;
  small.n_ctx = 2048;
  small.n_parallel = 1;
  REQUIRE(!small.refuses_to_load(d, &gpu));
  REQUIRE(small.refuses(d, gpu));
  const verdict loaded = check_fit(d, gpu, small);
  CHECK(!loaded.fits);
  CHECK(loaded.never);
  CHECK(loaded.needed > 0_B);
  CHECK(loaded.headroom_bytes > 0);
  CHECK(!small.refuses(asked_for(1, 2048), gpu));
  CHECK(std::string(small.refuses(asked_for(2, 512), gpu).text).find("requests at once") !=
        std::string::npos);
}

TEST_CASE("largest context and most sequences of llama.cpp are exact") {
  const engines::llama_cpp on = sized();
  for (const std::uint64_t sequences : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{4}}) {
    const limit longest = max_context(asked_for(sequences, 1), on, gpu);
    REQUIRE(longest.fits);
    CHECK(fits(asked_for(sequences, longest.value), gpu, on));
    CHECK(!fits(asked_for(sequences, longest.value + 1), gpu, on));
  }
  const limit most = max_sequences(asked_for(1, 4096), on, gpu);
  REQUIRE(most.fits);
  CHECK(fits(asked_for(most.value, 4096), gpu, on));
  CHECK(!fits(asked_for(most.value + 1, 4096), gpu, on));
  engines::llama_cpp fixed;
  fixed.n_ctx = 10'000;
  fixed.n_parallel = 1;
  CHECK(max_context(asked_for(1, 1), fixed, gpu).value == 10'240);
  CHECK(max_sequences(asked_for(1, 512), fixed, gpu).value == 1);
}

TEST_CASE("llama.cpp in JSON: its own cache, its devices, null where nothing is loaded") {
  engines::llama_cpp on = sized();
  const deployment d = asked_for(4, 8192);
  nlohmann::ordered_json found = estimate_json(d, on, node_of(gpu, 1));
  add_llama_cpp_json(found, on, d);
  CHECK(found["kv_cache"]["bytes"] == 3'221'225'472);
  CHECK(found["kv_cache"]["bytes_per_token"] == 98'304);
  CHECK(found["refused"].is_null());
  REQUIRE(found["devices"].size() == 2);
  const llama_cpp_memory memory = llama_cpp_memory_of(on, d);
  CHECK(found["devices"][0]["name"] == "GPU0");
  CHECK(found["devices"][0]["model"] == memory.gpus[0].model_total().value);
  CHECK(found["devices"][1]["name"] == "host");
  CHECK(found["devices"][1]["compute_high"] == memory.host.compute.range.high);
  CHECK(found["n_ctx"] == 32'768);
  CHECK(found["n_ctx_seq"] == 8192);

  on.n_parallel = 1000;
  found = estimate_json(d, on);
  add_llama_cpp_json(found, on, d);
  CHECK(found["refused"] == "n_seq_max must be <= 256");
  for (const char* key :
       {"kv_cache", "items", "total_bytes", "ranks", "cluster", "devices", "n_ctx", "fits"}) {
    INFO(key);
    CHECK(found[key].is_null());
  }
  const nlohmann::ordered_json none = capacity_json(d, node_of(gpu, 1), on);
  CHECK(none["starts"] == false);
  CHECK(none["available_kv_bytes"].is_null());
  CHECK(none["concurrency"].is_null());
  CHECK(none["unbounded"].empty());
}

TEST_CASE("llama.cpp's devices as tables") {
  deployment d = asked_for(4, 8192);
  d.parallel.pipeline = 2;
  const llama_cpp_memory memory = llama_cpp_memory_of(sized(), d);
  const std::string text = report::devices_table(memory, byte_unit::GiB);
  CHECK(text.find("device, in GiB  model  context  compute") == 0);
  CHECK(text.find("\nGPU1 ") != std::string::npos);
  CHECK(text.find("\nhost ") != std::string::npos);
  CHECK(text.find("n_ctx 32,768 cells in 4 caches: n_ctx_seq 8,192 for a sequence, 4 sequences") !=
        std::string::npos);
  CHECK(text.find("Pipeline parallel") != std::string::npos);
  const std::string markdown = report::devices_markdown(memory);
  CHECK(markdown.find("| device, in GB | model | context | compute | sum |") == 0);
  CHECK(markdown.find("\n|:--|--:|--:|--:|--:|") != std::string::npos);
  CHECK(report::host_csv_rows(sized().host_ledger(d, nullptr)).find("\nhost,1,,,weights,,") == 0);
}

TEST_CASE("grids are aligned, and escaped in Markdown") {
  const report::grid grid{{{"name", "a|b"}, {"longer name", "1"}, {"x"}}};
  CHECK(report::aligned(grid) == "name         a|b\nlonger name    1\nx");
  CHECK(report::markdown(grid) == "| name | a\\|b |\n|:--|--:|\n| longer name | 1 |\n| x |");
  CHECK(report::aligned({}).empty());
}
