// Worked examples of llama.cpp: a file without data is read and allocated with the options of the example.
// Figures are what llama.cpp of August 2026 reports of itself, on GPUs that follow its CUDA backend's rules.
#include "support/worked_models.hpp"

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/llama_cpp_runs.hpp"

namespace {

using namespace kvbudget;
using namespace tests::llama_cpp;
using tests::worked_models;

const model_architecture& model_named(const std::string& name) {
  static const std::map<std::string, model_architecture> worked = [] {
    std::map<std::string, model_architecture> read;
    for (const auto& [each, shape] : worked_models()) read.emplace(each, read_of(shape));
    return read;
  }();
  const auto found = worked.find(name);
  return found != worked.end() ? found->second : models_read().at(name);
}

/// Options under llama.cpp's names; whatever is not named is as in the corpus: one sequence, f16, flash
/// attention, 512 tokens at once, logits of all of them.
llama_cpp_memory memory_of(const std::string& model, const json& options, std::uint32_t gpus = 1) {
  deployment d{.model = model_named(model)};
  d.parallel.pipeline = gpus;
  return llama_cpp_memory_of(options_of(options, gpus), d);
}

bool holds(const byte_range& range, std::uint64_t figure) {
  return range.low <= figure && figure <= range.high;
}
std::string in_mib(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", static_cast<double>(bytes) / (1024 * 1024));
  return text;
}

struct example {
  int number;  ///< several rows may be of one example
  const char* model;
  json options;
  std::vector<std::uint64_t> context;  ///< of every GPU: keys, values and states
  std::vector<std::uint64_t> compute;  ///< the same
  std::uint64_t host_compute;          ///< 0 = not known
  std::uint64_t host_context = 0;
};

const std::vector<example>& examples() {
  constexpr const char *llama = "llama3-8b-q4_K", *gemma = "gemma3-12b-q4_0", *v3 = "deepseek-v3-mla-q8_0";
  static const std::vector<example> all{
      {1, llama, {{"n_ctx", 8192}}, {1'073'741'824}, {271'056'896}, 25'180'160},
      {2, llama, {{"n_ctx", 8192}, {"n_outputs_max", 1}}, {1'073'741'824}, {121'645'184}, 25'178'144},
      {3, llama, {{"n_ctx", 8192}, {"flash_attn", "off"}}, {1'073'741'824}, {591'405'056}, 37'758'976},
      {4, llama, {{"n_ctx", 1000}}, {134'217'728}, {271'056'896}, 17'840'128},
      {5, llama, {{"n_ctx", 16384}, {"n_seq_max", 3}}, {2'214'592'512}, {271'056'896}, 22'602'880},
      {6, llama, {{"n_ctx", 32768}, {"n_outputs_max", 1}}, {4'294'967'296}, {146'811'008}, 50'343'968},
      {7,
       llama,
       {{"n_ctx", 32768}, {"n_outputs_max", 1}, {"type_k", "q8_0"}, {"type_v", "q8_0"}},
       {2'281'701'376},
       {201'418'880},
       50'425'888},
      {8,
       llama,
       {{"n_ctx", 131072}, {"n_outputs_max", 1}, {"n_ubatch", 2048}},
       {17'179'869'184},
       {989'896'832},
       604'028'960},
      {9, gemma, {{"n_ctx", 32768}}, {2'650'800'128}, {544'735'232}, 50'878'464},
      {10, gemma, {{"n_ctx", 32768}, {"swa_full", true}}, {12'884'901'888}, {544'735'232}, 82'860'032},
      {11, gemma, {{"n_ctx", 32768}, {"n_ubatch", 2048}}, {3'154'116'608}, {2'178'940'928}, 209'805'312},
      {12, gemma, {{"n_ctx", 16384}, {"n_seq_max", 4}}, {3'087'007'744}, {544'735'232}, 21'518'336},
      {12,
       gemma,
       {{"n_ctx", 16384}, {"n_seq_max", 4}, {"kv_unified", true}},
       {2'583'691'264},
       {544'735'232},
       37'246'976},
      {13, "gpt-oss-20b-mxfp4", {{"n_ctx", 131072}}, {3'240'099'840}, {423'624'704}, 146'823'168},
      {14, v3, {{"n_ctx", 4096}}, {287'834'112}, {400'564'224}, 33'564'672},
      {15, v3, {{"n_ctx", 131072}, {"n_outputs_max", 1}}, {9'210'691'584}, {530'585'728}, 163'586'080},
      {15,
       v3,
       {{"n_ctx", 131072}, {"n_outputs_max", 1}, {"flash_attn", "off"}},
       {9'210'691'584},
       {35'024'541'824},
       297'803'808},
      {16,
       "deepseek-v2-lite-mla-q8_0",
       {{"n_ctx", 8192}, {"type_k", "q8_0"}, {"type_v", "q8_0"}},
       {135'378'432},
       {247'738'368},
       16'787'456},
      {17, "qwen3-next-80b-q4_K", {{"n_ctx", 4096}}, {100'663'296 + 79'036'416}, {323'760'256}, 12'597'280},
      {19, "mamba-2.8b-f16", {{"n_ctx", 4096}}, {24'903'680}, {113'461'376}, 0},
      {19, "mamba-2.8b-f16", {{"n_ctx", 131072}, {"n_outputs_max", 1}}, {24'903'680}, {63'365'376}, 0},
      {20, "gemma3n-e4b-q8_0", {{"n_ctx", 8192}}, {100'663'296}, {562'036'736}, 36'200'448},
      {21,
       "llama3-70b-q4_K",
       {{"n_ctx", 4096}},
       {687'865'856, 654'311'424},
       {310'419'456, 430'489'600},
       50'388'992},
      {22, llama, {{"n_ctx", 8192}, {"offload_kqv", false}}, {0}, {271'056'896}, 25'180'160, 1'073'741'824},
      {23, "rwkv7-2.9b-f16", {{"n_ctx", 4096}}, {21'626'880}, {144'703'488}, 10'489'888},
      {23, "rwkv7-2.9b-f16", {{"n_ctx", 131072}}, {21'626'880}, {144'703'488}, 10'489'888},
      {24, "deepseek-v3.2-q8_0", {{"n_ctx", 131072}}, {11'257'511'936}, {1'177'628'672}, 297'875'456},
      {25, "gemma2-9b-q4_0", {{"n_ctx", 131072}}, {23'341'301'760}, {531'628'032}, 153'638'912},
  };
  return all;
}

}  // namespace

TEST_CASE("llama.cpp's worked examples are met to the byte", "[llama_cpp][worked]") {
  for (const example& each : examples()) {
    INFO("example " << each.number << ": " << each.model << " " << each.options.dump());
    const auto gpus = static_cast<std::uint32_t>(each.context.size());
    const llama_cpp_memory memory = memory_of(each.model, each.options, gpus);
    REQUIRE(memory.gpu_count == gpus);
    for (std::uint32_t i = 0; i < gpus; ++i) {
      CHECK(memory.gpus[i].context_total().value == each.context[i]);
      CHECK(memory.gpus[i].compute.range.expected == each.compute[i]);
    }
    CHECK(memory.host.context_total().value == each.host_context);
    if (each.host_compute != 0) CHECK(memory.host.compute.range.expected == each.host_compute);
  }
}

TEST_CASE("Qwen3-Next with four sequences, unified or not", "[llama_cpp][worked]") {  // example 18
  for (const bool unified : {false, true}) {
    const llama_cpp_memory memory =
        memory_of("qwen3-next-80b-q4_K", {{"n_ctx", 16384}, {"n_seq_max", 4}, {"kv_unified", unified}});
    CHECK(memory.gpus[0].context.full == 402'653'184);
    CHECK(memory.gpus[0].context.recurrent == 316'145'664);
    CHECK(memory.gpus[0].compute.range.expected / 100'000 ==
          3'237);  // of which the digits 323.7 MB are known
    CHECK(memory.gpus[0].compute.known == basis::exact);
    CHECK(memory.host.compute.range.expected == (unified ? 25'180'192u : 12'597'280u));
  }
  const llama_cpp_memory longer = memory_of("qwen3-next-80b-q4_K", {{"n_ctx", 8192}});
  CHECK(in_mib(longer.gpus[0].compute.range.expected) == "308.75");
}

TEST_CASE("What llama.cpp computes with where one token has logits, by family", "[llama_cpp][worked]") {
  // 4 × u × coefficient + 2 × u × cells + 128 bytes. Hybrids have 128 more: which states to read.
  const struct {
    const char* model;
    std::uint64_t coefficient;
    bool any_batch;  ///< otherwise u = 512: masks of windows and inputs of convolutions grow differently
    std::uint64_t more = 0;
  } families[] = {{"llama3-8b-q4_K", 55'301, true},        {"llama3-70b-q4_K", 110'597, true},
                  {"llama2-7b-q4_0", 45'317, true},        {"llama3.2-1b-q8_0", 30'725, true},
                  {"mixtral-8x7b-q4_K", 98'309, true},     {"qwen2.5-7b-q8_0", 67'589, true},
                  {"qwen3-30b-a3b-q4_K", 43'013, true},    {"gemma3-12b-q4_0", 58'633, false},
                  {"gpt-oss-20b-mxfp4", 44'809, false},    {"deepseek-v2-lite-mla-q8_0", 38'979, true},
                  {"deepseek-v3-mla-q8_0", 193'539, true}, {"qwen3-next-80b-q4_K", 41'989, true, 128},
                  {"lfm2-1.2b-q8_0", 28'685, false, 128},  {"gemma3n-e4b-q8_0", 77'065, false}};
  for (const auto& family : families) {
    for (const std::uint64_t tokens : {512u, 1024u, 2048u}) {
      if (tokens != 512 && !family.any_batch) continue;
      for (const std::uint64_t cells : {4096u, 8192u}) {
        INFO(family.model << ", " << tokens << " tokens, " << cells << " cells");
        const llama_cpp_memory memory =
            memory_of(family.model, {{"n_ctx", cells}, {"n_ubatch", tokens}, {"n_outputs_max", 1}});
        CHECK(memory.gpus[0].compute.range.expected ==
              4 * tokens * family.coefficient + 2 * tokens * cells + 128 + family.more);
      }
    }
  }
}

TEST_CASE("Further figures of llama.cpp's compute buffers", "[llama_cpp][worked]") {
  const auto gpu = [](const char* model, const json& options) {
    return memory_of(model, options).gpus[0].compute.range.expected;
  };
  // A log of CUDA itself (SciSharp/LLamaSharp#1099): 300.75 and 12.01 MiB.
  const llama_cpp_memory printed = memory_of("qwen2.5-3b-q4_K", {{"n_ctx", 4096}});
  CHECK(printed.gpus[0].compute.range.expected == 315'359'232);
  CHECK(printed.host.compute.range.expected == 12'597'248);
  CHECK(in_mib(printed.gpus[0].compute.range.expected) == "300.75");
  CHECK(in_mib(printed.host.compute.range.expected) == "12.01");
  CHECK(printed.gpus[0].context_total() == bytes{144u << 20});

  CHECK(gpu("deepseek-v3-mla-q8_0", {{"n_ctx", 8192}, {"n_outputs_max", 1}}) == 404'756'608);
  CHECK(gpu("deepseek-v3.2-q8_0", {{"n_ctx", 4096}, {"n_outputs_max", 1}}) == 649'144'448);
  CHECK(gpu("deepseek-v3.2-q8_0", {{"n_ctx", 131072}, {"n_outputs_max", 1}}) == 1'177'626'752);
  CHECK(gpu("mamba-2.8b-f16", {{"n_ctx", 4096}, {"n_outputs_max", 1}}) == 63'365'376);
  CHECK(gpu("mamba2-2.7b-f16", {{"n_ctx", 4096}, {"n_outputs_max", 1}}) == 67'401'984);
  CHECK(gpu("rwkv7-2.9b-f16", {{"n_ctx", 4096}, {"n_outputs_max", 1}}) == 95'899'904);
  CHECK(in_mib(gpu("llama3-8b-q4_K", {{"n_ctx", 8192}})) == "258.50");
  CHECK(in_mib(gpu("llama3-70b-q4_K", {{"n_ctx", 8192}})) == "266.50");
  CHECK(in_mib(gpu("gemma3-12b-q4_0", {{"n_ctx", 8192}})) == "519.50");

  const llama_cpp_memory two = memory_of("llama3-70b-q4_K", {{"n_ctx", 32768}}, 2);
  CHECK(two.gpus[0].compute.range.expected == 427'859'968);
  CHECK(two.gpus[1].compute.range.expected == 547'930'112);
}

TEST_CASE("What llama.cpp stages on the GPU for weights in host memory", "[llama_cpp][worked]") {
  const struct {
    const char* model;
    json options;
    const char* gpu;         ///< MiB as printed
    const char* host;        ///< MiB, or nothing
    bool host_exact = true;  ///< otherwise the range holds it
  } figures[] = {
      {"llama3-8b-q4_K", {{"n_ctx", 8192}, {"n_gpu_layers", 0}}, "669.48", "24.01"},
      {"llama3-70b-q4_K", {{"n_ctx", 8192}, {"n_gpu_layers", 0}}, "1088.45", ""},
      {"gemma3-12b-q4_0", {{"n_ctx", 8192}, {"n_gpu_layers", 0}}, "1059.50", "25.02"},
      {"mixtral-8x7b-q4_K", {{"n_ctx", 8192}}, "200.01", "24.01"},
      {"mixtral-8x7b-q4_K", {{"n_ctx", 8192}, {"cpu_moe", true}}, "396.01", "24.01"},
      {"mixtral-8x7b-q4_K", {{"n_ctx", 8192}, {"cpu_moe", true}, {"n_ubatch", 2048}}, "828.04", "96.05"},
      {"mixtral-8x7b-q4_K",
       {{"n_ctx", 8192}, {"cpu_moe", true}, {"op_offload", false}},
       "70.50",
       "184.03",
       false},  // ours is 192.01
      {"mixtral-8x7b-q4_K",
       {{"n_ctx", 8192}, {"cpu_moe", true}, {"op_offload", false}, {"n_ubatch", 2048}},
       "282.00",
       "736.12",
       false},  // 768.05
      {"qwen3-next-80b-q4_K", {{"n_ctx", 8192}, {"cpu_moe", true}}, "604.00", ""},
      {"qwen3-30b-a3b-q4_K", {{"n_ctx", 8192}, {"cpu_moe", true}}, "300.75", ""},
  };
  for (const auto& each : figures) {
    INFO(each.model << " " << each.options.dump());
    const llama_cpp_memory memory = memory_of(each.model, each.options);
    CHECK(in_mib(memory.gpus[0].compute.range.expected) == each.gpu);
    const byte_range host = memory.host.compute.range;
    if (*each.host == '\0') continue;
    if (each.host_exact) {
      CHECK(in_mib(host.expected) == each.host);
    } else {
      CHECK(holds(host, static_cast<std::uint64_t>(std::stod(each.host) * 1024 * 1024)));
    }
  }
}

TEST_CASE("Cache types without a CUDA kernel pass through host memory", "[llama_cpp][worked]") {
  const auto host = [](const char* type) {
    return memory_of("llama2-7b-q4_0", {{"n_ctx", 8192}, {"type_k", type}, {"type_v", type}})
        .host.compute.range.expected;
  };
  CHECK(host("f16") == 25'180'160);   // printed as 25.2 MB
  CHECK(host("q5_1") == 83'982'336);  // 84.0 MB
}

TEST_CASE("Caches of layers unlike each other, read from files", "[llama_cpp][worked]") {
  const auto context = [](const char* model, const json& options) {
    return memory_of(model, options).gpus[0].context_total().value;
  };
  CHECK(context("deci-var-gqa", {{"n_ctx", 4096}}) == 56'623'104);
  CHECK(context("deci-var-gqa", {{"n_ctx", 4096}, {"flash_attn", "off"}}) == 95'420'416);
  CHECK(context("deepseek-v2-lite-legacy-mha-q8_0", {{"n_ctx", 4096}}) == 1'132'462'080);
  CHECK(context("deepseek-v2-lite-mla-q8_0", {{"n_ctx", 4096}}) == 127'401'984);
  CHECK(context("deepseek-v3.2-q8_0", {{"n_ctx", 4096}}) == 351'797'248);
  // Per layer (conv_kernel − 1) × (inner + 2 × groups × state) and state × inner elements in fp32.
  CHECK(context("mamba2-2.7b-f16", {{"n_ctx", 4096}}) == 64ull * 4 * (3 * (5120 + 256) + 128 * 5120));
  // Falcon-H1 has both in every layer.
  const llama_cpp_memory both = memory_of("falcon-h1-7b-q8_0", {{"n_ctx", 4096}});
  CHECK(both.gpus[0].context.full == 44ull * 4096 * 2 * 2 * 2 * 128);
  CHECK(both.gpus[0].context.recurrent == 44ull * 4 * (3 * (3072 + 512) + 256 * 3072));
}

TEST_CASE("Which device the weights of a file go to", "[llama_cpp][worked]") {
  // Example 20: tables stay on the host; the head reads its own copy of one. What projects the inputs of all
  // layers goes with the first layer.
  const llama_cpp_memory gemma = memory_of("gemma3n-e4b-q8_0", {{"n_ctx", 8192}});
  CHECK(gemma.host.model_total() == bytes{3'066'036'224});
  CHECK(gemma.gpus[0].model_total() == bytes{4'843'121'408});
  const std::uint64_t projection = 2ull * 2048 * 256 * 35;
  const llama_cpp_memory split = memory_of("gemma3n-e4b-q8_0", {{"n_ctx", 8192}}, 2);
  const llama_cpp_memory none_of_first =
      memory_of("gemma3n-e4b-q8_0", {{"n_ctx", 8192}, {"n_gpu_layers", 35}});
  const auto embedding = static_cast<std::size_t>(module_role::embedding);
  CHECK(split.gpus[0].model.modules[embedding] == projection);
  CHECK(split.gpus[1].model.modules[embedding] == 0);
  CHECK(none_of_first.gpus[0].model.modules[embedding] == 0);
  CHECK(none_of_first.host.model.modules[embedding] == 3'066'036'224 + projection);

  const llama_cpp_memory tied = memory_of("llama3.2-1b-q8_0", {{"n_ctx", 4096}});
  CHECK(tied.gpus[0].model_total() == bytes{1'313'251'328});
  CHECK(tied.host.model_total() == bytes{279'085'056});

  // Rows of 896 elements are filled up to 1,024.
  const llama_cpp_memory padded = memory_of("qwen2.5-0.5b-q8_0-tied", {{"n_ctx", 4096}});
  CHECK(padded.gpus[0].model_total() == bytes{525'120'000 + 46'336});
}

TEST_CASE("the head is offloaded first: -ngl 1 is the head and no layer", "[llama_cpp][golden]") {
  const llama_cpp_memory memory = memory_of("olmoe-1b-7b-q4_K", {{"n_ctx", 4096}, {"n_gpu_layers", 1}});
  CHECK(in_mib(memory.gpus[0].model_total().value) == "80.60");
  CHECK(memory.gpus[0].model_total() == bytes{50304ull * 2048 / 256 * 210 + 4 * 2048});  // with its norm
  CHECK(memory.gpus[0].first_layer == memory.gpus[0].end_layer);
  CHECK(memory.gpus[0].output);
  CHECK(memory.gpus[0].context_total() == bytes{0});
  const llama_cpp_memory two = memory_of("olmoe-1b-7b-q4_K", {{"n_ctx", 4096}, {"n_gpu_layers", 2}});
  CHECK(two.gpus[0].first_layer == 15);
  CHECK(two.gpus[0].end_layer == 16);
}

TEST_CASE("The buffer of logits is host memory", "[llama_cpp][golden]") {
  const deployment d{.model = model_named("qwen3-0.6b-q8_0")};
  engines::llama_cpp on;
  on.n_ctx = 8192;
  on.n_parallel = 2;
  const std::uint64_t row = 4ull * 151936;
  const llama_cpp_memory memory = llama_cpp_memory_of(on, d);
  CHECK(memory.output == bytes{2 * row});
  CHECK(memory.total() == memory.gpus[0].total() + memory.host.total() + memory.output);
  const auto has_logits = [](const memory_budget& budget) {
    for (std::uint32_t i = 0; i < budget.count; ++i) {
      if (std::string(budget.lines[i].name) == "logits") return true;
    }
    return false;
  };
  const memory_budget host = on.host_ledger(d, nullptr);
  CHECK(has_logits(host));
  CHECK(host.total() == memory.host.total() + memory.output);
  CHECK(!has_logits(on.ledger(d, rank{}, nullptr)));
  // It grows to the outputs of a call, and no GPU's buffer with it.
  on.program = llama_cpp_program::library;
  CHECK(on.host_ledger(d, nullptr).total_high() >= bytes{2048 * row});
}
