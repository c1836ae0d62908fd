// Logs of serving engines: the wordings of many versions, what stands around them, and bad input.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "kvbudget/io/engine_log.hpp"
#include "support/catch.hpp"
#include "support/input.hpp"
#include "support/mutations.hpp"

namespace {

using namespace kvbudget;
using tests::contains;
using tests::message_of;
using tests::scratch;

/// hundredths of 2^30 bytes, to the nearest byte
constexpr std::int64_t gib(std::int64_t hundredths) {
  const std::int64_t half = hundredths < 0 ? -50 : 50;
  return (hundredths * (std::int64_t{1} << 30) + half) / 100;
}

template <class Figure> std::int64_t size_of(const Figure& figure) {
  REQUIRE(figure.has_value());
  return figure->bytes;
}
template <class Figure> std::uint64_t number_of(const Figure& figure) {
  REQUIRE(figure.has_value());
  return figure->value;
}
/// The decimal in ten thousandths.
std::int64_t tenthousandths(const std::optional<printed_decimal>& figure) {
  REQUIRE(figure.has_value());
  REQUIRE((figure->digits * 10000) % static_cast<std::int64_t>(figure->scale) == 0);
  return figure->digits * 10000 / static_cast<std::int64_t>(figure->scale);
}

rank_figures vllm(const std::string& text) { return first_printed(read_vllm_log(text)); }
rank_figures sglang(const std::string& text) { return first_printed(read_sglang_log(text)); }
rank_figures tensorrt_llm(const std::string& text) { return first_printed(read_tensorrt_llm_log(text)); }

const rank_figures& rank_named(const engine_log& log, const std::string& name) {
  for (const rank_figures& rank : log.ranks) {
    if (rank.name == name) return rank;
  }
  FAIL("no rank " + name);
  return log.ranks.front();
}
bool has_note(const engine_log& log, const std::string& part) {
  return std::any_of(log.notes.begin(), log.notes.end(),
                     [&](const std::string& note) { return contains(note, part); });
}

std::vector<std::string> seeds() {
  std::vector<std::string> contents;
  const std::filesystem::path folder = std::filesystem::path(KVBUDGET_SEEDS_DIR) / "engine_log";
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const bool of_local_engine = entry.path().filename().string().rfind("local-", 0) == 0;
    if (!of_local_engine) files.push_back(entry.path());  // llama_cpp_log.cpp reads the others
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::ostringstream content;
    content << std::ifstream(file, std::ios::binary).rdbuf();
    contents.push_back(content.str());
  }
  return contents;
}

// ---- numbers ---------------------------------------------------------------------------------------------

TEST_CASE("a printed size is exact to the byte and knows its rounding", "[engine_log]") {
  const auto available = [](const std::string& number) {
    return vllm("Available KV cache memory: " + number + "\n").available_kv;
  };
  CHECK(size_of(available("8.11 GiB")) == gib(811));
  CHECK(size_of(available("8.11GiB")) == gib(811));
  CHECK(size_of(available("8.11 GB")) == gib(811));  // printed GB, divided by 2^30
  CHECK(size_of(available("-0.41 GiB")) == -gib(41));
  CHECK(size_of(available("0.0 GiB")) == 0);
  CHECK(size_of(available("1,234.5 GiB")) == gib(123450));
  CHECK(size_of(available("512 MiB")) == std::int64_t{512} << 20);
  CHECK(size_of(available("69524783104 bytes")) == 69524783104);
  CHECK(available("8.11 GiB")->rounding_bytes == 5368710);   // 0.005 × 2^30 = 5368709.12
  CHECK(available("20.1 GiB")->rounding_bytes == 5368710);   // rounded to two decimals, zeros dropped
  CHECK(available("14.9889 GiB")->rounding_bytes == 53688);  // 53687.0912, and half a byte
  CHECK(available("4 GiB")->rounding_bytes == 536870913);
  CHECK(available("69524783104 bytes")->rounding_bytes == 0);
  CHECK(available("0.12345678901234567890123 GiB")->bytes == 132560718);
  // SGLang pads its decimals: what is not printed is not known.
  CHECK(sglang("Memory pool end. avail mem=4.0 GB").free_after_pools->rounding_bytes == 53687092);
}

TEST_CASE("numbers that cannot be kept are skipped, with a note that names the line", "[engine_log]") {
  for (const char* number : {"9999999999999 GiB", "99999999999999999999999 GiB", "1e5 GiB", "12.5",
                             "7 seconds", "4294967296.0 GiB"}) {
    CAPTURE(number);
    const engine_log log = read_vllm_log(
        "GPU KV cache size: 16 tokens\nAvailable KV cache memory: " + std::string(number) + "\n");
    CHECK_FALSE(first_printed(log).available_kv);
    CHECK(has_note(log, "line 2: \"" + std::string(number).substr(0, 5)));
  }
  const engine_log log = read_vllm_log(
      "# GPU blocks: 18446744073709551616, # CPU blocks: 512\nMaximum concurrency for 8192 tokens per "
      "request: "
      "99999999999999999999.5x\n");
  CHECK_FALSE(first_printed(log).num_gpu_blocks);
  CHECK(number_of(first_printed(log).num_cpu_blocks) == 512);
  CHECK_FALSE(first_printed(log).max_concurrency);
  CHECK(log.notes.size() == 2);
  // A placeholder in prose is no number.
  CHECK(contains(message_of([] { (void)read_vllm_log("look for `Available KV cache memory: X GiB`"); }),
                 "no known line of vLLM"));
}

TEST_CASE("notes are bounded", "[engine_log]") {
  std::string text = "GPU KV cache size: 16 tokens\n";
  for (int i = 0; i < 1000; ++i) text += "Available KV cache memory: 1e9 GiB\n";
  CHECK(read_vllm_log(text).notes.size() == 100);
}

// ---- vLLM ------------------------------------------------------------------------------------------------

TEST_CASE("vLLM V1: two workers and an engine core", "[engine_log]") {
  const engine_log log = read_vllm_log(
      "(APIServer pid=1) INFO 11-14 06:32:25 [api_server.py:1839] vLLM API server version 0.11.0\n"
      "(APIServer pid=1) INFO 11-14 06:32:25 [utils.py:233] non-default args: {'model_tag': 'some/model', "
      "'port': "
      "8005, 'model': 'some/model', 'served_model_name': ['a, b', 'c'], 'tensor_parallel_size': 2, "
      "'enforce_eager': True, 'speculative_config': {'method': 'eagle', 'num_speculative_tokens': 2}}\n"
      "(APIServer pid=1) INFO 11-14 06:32:30 [model.py:1510] Using max model len 32768\n"
      "(APIServer pid=1) INFO [scheduler.py:205] Chunked prefill is enabled with "
      "max_num_batched_tokens=2048.\n"
      "(EngineCore_DP0 pid=120) INFO [core.py:77] Initializing a V1 LLM engine (v0.11.0) with config: "
      "model='some/model', speculative_config=None, dtype=torch.bfloat16, kv_cache_dtype=fp8, "
      "compilation_config={\"level\":3,\"splitting_ops\":[\"a\",\"b\"]}\n"
      "(Worker_TP1 pid=131) INFO [gpu_model_runner.py:2653] Model loading took 7.5127 GiB and 3.7 seconds\n"
      "(Worker_TP0 pid=130) INFO [gpu_model_runner.py:2653] Model loading took 7.5128 GiB and 3.6 seconds\n"
      "(Worker_TP1 pid=131) INFO [gpu_worker.py:298] Available KV cache memory: 61.04 GiB\n"
      "(Worker_TP0 pid=130) INFO [gpu_worker.py:298] Available KV cache memory: 61.01 GiB\n"
      "(EngineCore_DP0 pid=120) INFO [kv_cache_utils.py:1087] GPU KV cache size: 1,999,456 tokens\n"
      "(EngineCore_DP0 pid=120) INFO [kv_cache_utils.py:1091] Maximum concurrency for 32,768 tokens per "
      "request: "
      "61.02x\n"
      "(Worker_TP0 pid=130) INFO [gpu_model_runner.py:3480] Graph capturing finished in 8 secs, took -0.01 "
      "GiB\n");
  CHECK(log.engine == "vllm");
  CHECK(log.version == "0.11.0");
  CHECK(log.model == "some/model");
  CHECK(log.starts == 1);
  CHECK(log.notes.empty());
  CHECK(log.settings.at("served_model_name") == "['a, b', 'c']");
  CHECK(log.settings.at("tensor_parallel_size") == "2");
  CHECK(log.settings.at("enforce_eager") == "True");
  CHECK(log.settings.at("max_model_len") == "32768");
  CHECK(log.settings.at("max_num_batched_tokens") == "2048");
  CHECK(log.settings.at("kv_cache_dtype") == "fp8");
  CHECK(log.settings.at("speculative_config") == "None");  // the engine's own line comes later
  CHECK(log.settings.at("compilation_config") == "{\"level\":3,\"splitting_ops\":[\"a\",\"b\"]}");
  REQUIRE(log.ranks.size() == 3);
  CHECK(log.ranks[0].name == "TP0");
  CHECK(log.ranks[0].tensor == 0U);
  CHECK(log.ranks[1].name == "TP1");
  CHECK(log.ranks[2].name == "engine DP0");
  CHECK(size_of(log.ranks[0].available_kv) == gib(6101));
  CHECK(log.ranks[0].available_kv->line == 9);
  CHECK(size_of(log.ranks[1].available_kv) == gib(6104));
  CHECK(size_of(log.ranks[0].cuda_graphs) == -gib(1));
  CHECK_FALSE(log.ranks[1].cuda_graphs);
  CHECK(number_of(log.ranks[2].kv_tokens) == 1999456);
  CHECK(number_of(log.ranks[2].concurrency_length) == 32768);
  CHECK(tenthousandths(log.ranks[2].max_concurrency) == 610200);
  const rank_figures first = first_printed(log);
  CHECK(size_of(first.available_kv) == gib(6101));
  CHECK(number_of(first.kv_tokens) == 1999456);
}

TEST_CASE("vLLM V1: wordings of its versions", "[engine_log]") {
  CHECK(size_of(vllm("INFO 01-30 03:18:12 gpu_model_runner.py:848] Loading model weights took 67.7229 GB")
                    .weights) == 72716910173);
  CHECK(
      size_of(vllm("INFO [gpu_model_runner.py:5187] Model loading took 1.19 GiB memory and 1.919768 seconds")
                  .weights) == gib(119));
  CHECK(number_of(vllm("INFO 01-30 03:19:14 kv_cache_utils.py:395] # GPU blocks: 1381").num_gpu_blocks) ==
        1381);
  CHECK(tenthousandths(vllm("kv_cache_utils.py:398] Maximum concurrency for 2048 tokens per request: 10.79x")
                           .max_concurrency) == 107900);
  const rank_figures both = vllm(
      "INFO [kv_cache_utils.py:1883] GPU KV cache size: 172,032 tokens, Maximum concurrency for 86,016 "
      "tokens "
      "per request: 2.00x");
  CHECK(number_of(both.kv_tokens) == 172032);
  CHECK(number_of(both.concurrency_length) == 86016);
  CHECK(tenthousandths(both.max_concurrency) == 20000);
  CHECK_FALSE(vllm("# GPU blocks: 3\nGraph capturing finished in 17 secs.").cuda_graphs);
  CHECK(size_of(vllm("INFO Graph capturing finished in 17 secs, took 0.45 GiB").cuda_graphs) == gib(45));
  CHECK(size_of(vllm("Estimated CUDA graph memory: 1.58 GiB total").cuda_graphs_estimated) == gib(158));
  const rank_figures graphs =
      vllm("CUDA graph pool memory: 0.71 GiB (actual), 0.79 GiB (estimated), difference: 0.07 GiB (10.1%).");
  CHECK(size_of(graphs.cuda_graph_pool) == gib(71));
  CHECK(size_of(graphs.cuda_graphs_estimated) == gib(79));
  const rank_figures equal = vllm(
      "CUDA graph memory profiling is enabled (default since v0.21.0). The current "
      "--gpu-memory-utilization=0.8200 "
      "is equivalent to --gpu-memory-utilization=0.8048 without CUDA graph memory profiling. To maintain the "
      "same "
      "effective KV cache size as before, increase --gpu-memory-utilization to 0.8352.");
  CHECK(tenthousandths(equal.gpu_memory_utilization) == 8200);
  CHECK(tenthousandths(equal.equivalent_utilization) == 8048);
  const rank_figures reserved = vllm(
      "Initial free memory 44.16 GiB, reserved 5.5 GiB memory for KV Cache as specified by "
      "kv_cache_memory_bytes config and skipped memory profiling.");
  CHECK(size_of(reserved.free_at_start) == gib(4416));
  CHECK(size_of(reserved.available_kv) == gib(550));
  CHECK(
      number_of(vllm("Engine 000: vllm cache_config_info with initialization after num_gpu_blocks is: 29751")
                    .num_gpu_blocks) == 29751);
  CHECK(number_of(
            vllm("Auto-fit max_model_len: reduced from 262144 to 172032 to fit in available GPU memory (3.01 "
                 "GiB available for KV cache)")
                .fitted_max_model_len) == 172032);
  CHECK(
      number_of(vllm("Auto-fit max_model_len: full model context length 1048576 fits in available GPU memory")
                    .fitted_max_model_len) == 1048576);
  // A profile of graphs counts with 512 blocks of its own: not the pool.
  CHECK_FALSE(
      vllm("GPU KV cache size: 16 tokens\nOverriding num_gpu_blocks=0 with num_gpu_blocks_override=512")
          .num_gpu_blocks);
  // Usage while it runs is not the pool either.
  CHECK(contains(
      message_of([] { (void)read_vllm_log("GPU KV cache usage: 1.0%, Prefix cache hit rate: 50.0%"); }),
      "no known line"));
}

TEST_CASE("vLLM V1: several pools of one process are its smallest", "[engine_log]") {
  const rank_figures pools = vllm(
      "GPU KV cache size: 158,656 tokens\nMaximum concurrency for 32,768 tokens per request: 4.84x\n"
      "GPU KV cache size: 158,640 tokens\nMaximum concurrency for 32,768 tokens per request: 4.83x\n"
      "GPU KV cache size: 160,000 tokens\nMaximum concurrency for 32,768 tokens per request: 4.88x\n");
  CHECK(number_of(pools.kv_tokens) == 158640);
  CHECK(tenthousandths(pools.max_concurrency) == 48300);
}

TEST_CASE("vLLM V1: the terms that debug logs and the newest summaries print", "[engine_log]") {
  const rank_figures profile = vllm(
      "DEBUG 08-06 10:17:20 [gpu_worker.py:200] worker init memory snapshot: torch_peak=0.0GiB, "
      "free_memory=43.82GiB, "
      "total_memory=44.31GiB, cuda_memory=0.49GiB, torch_memory=0.0GiB, non_torch_memory=0.49GiB, "
      "timestamp=1.5\n"
      "DEBUG 08-06 10:17:20 [gpu_worker.py:201] worker requested memory: 39.88GiB\n"
      "DEBUG 08-06 10:17:28 [gpu_worker.py:272] Free memory after profiling: 41.43 GiB (total), 37.49 GiB "
      "(within "
      "requested)\n"
      "DEBUG 08-06 10:17:28 [gpu_worker.py:278] Memory profiling takes 7.26 seconds. Total non KV cache "
      "memory: "
      "2.78GiB; torch peak memory increase: 0.45GiB; non-torch forward increase memory: 0.02GiB; weights "
      "memory: "
      "2.32GiB.\n");
  CHECK(size_of(profile.free_at_start) == gib(4382));
  CHECK(size_of(profile.total_gpu_memory) == gib(4431));
  CHECK(size_of(profile.memory_budget) == gib(3988));
  CHECK(size_of(profile.free_after_profile) == gib(4143));
  CHECK(size_of(profile.non_kv) == gib(278));
  CHECK(size_of(profile.activation_peak) == gib(45));
  CHECK(size_of(profile.non_torch) == gib(2));  // not the 0.49 before loading
  CHECK(size_of(profile.weights) == gib(232));
  const rank_figures requested = vllm(
      "Initial free memory: 43.82 GiB; Requested memory: 0.90 (util), 39.88 GiB\nTotal non KV cache memory: "
      "17.50GiB; torch peak memory increase: 1.20GiB; total consumed (from mem_get_info): 16.00GiB; weights "
      "memory: 15.30GiB.");
  CHECK(tenthousandths(requested.gpu_memory_utilization) == 9000);
  CHECK(size_of(requested.memory_budget) == gib(3988));
  CHECK(size_of(requested.consumed) == gib(1600));
  CHECK_FALSE(requested.non_torch);

  const rank_figures newest = vllm(
      "(Worker_TP0 pid=510) INFO [gpu_worker.py:935] Free memory on device (31.23/31.86 GiB) on startup. "
      "Desired GPU "
      "memory utilization is (0.97, 30.9 GiB). Actual usage is 24.58 GiB for consumed memory (weights + "
      "non-torch), "
      "1.46 GiB for peak activation, and 0.49 GiB for CUDAGraph memory. Replace gpu_memory_utilization "
      "config with "
      "`--kv-cache-memory=4536913634` (4.23 GiB) to fit into requested memory, or "
      "`--kv-cache-memory=4887892992` "
      "(4.55 GiB) to fully utilize gpu memory. Current kv cache memory in use is 4.87 GiB.");
  CHECK(newest.name.empty());  // what several ranks say together has no name
  CHECK(size_of(newest.free_at_start) == gib(3123));
  CHECK(size_of(newest.total_gpu_memory) == gib(3186));
  CHECK(tenthousandths(newest.gpu_memory_utilization) == 9700);
  CHECK(size_of(newest.memory_budget) == gib(3090));
  CHECK(newest.memory_budget->rounding_bytes == 5368710);
  CHECK(size_of(newest.consumed) == gib(2458));
  CHECK(size_of(newest.activation_peak) == gib(146));
  CHECK(size_of(newest.cuda_graphs) == gib(49));
  CHECK(size_of(newest.available_kv) == gib(487));
  const rank_figures before = vllm(
      "Actual usage is 14.99 GiB for weight, 1.21 GiB for peak activation, 0.08 GiB for non-torch memory, "
      "and 0.61 "
      "GiB for CUDAGraph memory.");
  CHECK(size_of(before.weights) == gib(1499));
  CHECK(size_of(before.activation_peak) == gib(121));
  CHECK(size_of(before.non_torch) == gib(8));
  CHECK(size_of(before.cuda_graphs) == gib(61));
}

TEST_CASE("vLLM V1: hybrid models", "[engine_log]") {
  const rank_figures hybrid = vllm(
      "(EngineCore_DP0 pid=2) INFO [interface.py:986] Setting attention block size to 3072 tokens to ensure "
      "that "
      "attention page size is >= mamba page size.\n"
      "(EngineCore_DP0 pid=2) INFO [interface.py:669] Padding mamba page size by 2.64% to ensure that mamba "
      "page size "
      "and attention page size are exactly equal.\n"
      "(EngineCore_DP0 pid=2) WARNING [kv_cache_utils.py:1157] Add 6 padding layers, may waste at most "
      "23.08% KV "
      "cache memory\n");
  CHECK(number_of(hybrid.attention_block_size) == 3072);
  CHECK(tenthousandths(hybrid.mamba_page_padding_percent) == 26400);
  CHECK(number_of(hybrid.padding_layers) == 6);
  CHECK(tenthousandths(hybrid.padding_waste_percent) == 230800);
}

TEST_CASE("vLLM: refusals", "[engine_log]") {
  for (const std::string open : {"(", ""}) {  // the bracket came and went
    const rank_figures refused = vllm(
        "(EngineCore_DP0 pid=15) ValueError: To serve at least one request with the models's max seq len "
        "(131072), " +
        open +
        "24.0 GiB KV cache is needed, which is larger than the available KV cache memory (10.91 GiB). Based "
        "on the "
        "available memory, the estimated maximum model length is 59584. Try increasing "
        "`gpu_memory_utilization`");
    CHECK(number_of(refused.refused_length) == 131072);
    CHECK(size_of(refused.needed_kv) == gib(2400));
    CHECK(refused.needed_kv->rounding_bytes == 5368710);
    CHECK(size_of(refused.refused_available_kv) == gib(1091));
    CHECK(number_of(refused.estimated_max_length) == 59584);
    CHECK_FALSE(refused.available_kv);
  }
  const rank_figures without = vllm(
      "ERROR 04-05 01:12:55 [core.py:390] ValueError: To serve at least one request with the models's max "
      "seq len "
      "(1048576), (24.00 GiB KV cache is needed, which is larger than the available KV cache memory (9.97 "
      "GiB). Try "
      "increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.");
  CHECK(size_of(without.refused_available_kv) == gib(997));
  CHECK_FALSE(without.estimated_max_length);
  const rank_figures v0 = vllm(
      "ValueError: The model's max seq len (56000) is larger than the maximum number of tokens that can be "
      "stored "
      "in KV cache (43328). Try increasing `gpu_memory_utilization`");
  CHECK(number_of(v0.refused_length) == 56000);
  CHECK(number_of(v0.kv_tokens) == 43328);
  const rank_figures busy = vllm(
      "ValueError: Free memory on device cuda:0 (3.25/23.43 GiB) on startup is less than desired GPU memory "
      "utilization (0.96, 22.49 GiB). Decrease GPU memory utilization");
  CHECK(size_of(busy.free_at_start) == gib(325));
  CHECK(size_of(busy.total_gpu_memory) == gib(2343));
  CHECK(tenthousandths(busy.gpu_memory_utilization) == 9600);
  CHECK(size_of(busy.memory_budget) == gib(2249));
}

TEST_CASE("vLLM V0", "[engine_log]") {
  const engine_log log = read_vllm_log(
      "INFO 01-16 09:39:00 llm_engine.py:234] Initializing an LLM engine (v0.6.6) with config: "
      "model='some/model', "
      "tokenizer_mode=auto, max_seq_len=8192, quantization=None, seed=0)\n"
      "INFO 01-16 09:39:30 model_runner.py:1099] Loading model weights took 14.9595 GB\n"
      "(VllmWorkerProcess pid=521) INFO 04-12 [worker.py:267] the current vLLM instance can use "
      "total_gpu_memory "
      "(23.58GiB) x gpu_memory_utilization (0.99) = 23.35GiB\n"
      "(VllmWorkerProcess pid=507) INFO 04-12 [worker.py:267] model weights take 21.21GiB; non_torch_memory "
      "takes "
      "0.20GiB; PyTorch activation peak memory takes 0.37GiB; the rest of the memory reserved for KV Cache "
      "is "
      "1.57GiB.\n"
      "INFO 01-16 09:40:00 worker.py:238] the current vLLM instance can use total_gpu_memory (79.22GiB) x "
      "gpu_memory_utilization (0.90) = 71.29GiB\n"
      "INFO 01-16 09:40:00 worker.py:238] model weights take 14.96GiB; non_torch_memory takes 1.79GiB; "
      "PyTorch "
      "activation peak memory takes 1.26GiB; the rest of the memory reserved for KV Cache is 53.29GiB.\n"
      "INFO 01-16 09:40:00 executor_base.py:95] # CUDA blocks: 27279, # CPU blocks: 2048\n"
      "INFO 01-16 09:40:00 executor_base.py:100] Maximum concurrency for 8192 tokens per request: 53.28x\n");
  CHECK(log.version == "0.6.6");
  CHECK(log.settings.at("seed") == "0");
  const rank_figures& driver = rank_named(log, "");
  CHECK(size_of(driver.total_gpu_memory) == gib(7922));
  CHECK(tenthousandths(driver.gpu_memory_utilization) == 9000);
  CHECK(size_of(driver.memory_budget) == gib(7129));
  CHECK(driver.weights->line == 2);  // the one with more digits
  CHECK(size_of(driver.non_torch) == gib(179));
  CHECK(size_of(driver.activation_peak) == gib(126));
  CHECK(size_of(driver.available_kv) == gib(5329));
  CHECK(number_of(driver.num_gpu_blocks) == 27279);
  CHECK(number_of(driver.num_cpu_blocks) == 2048);
  CHECK(size_of(rank_named(log, "pid 521").memory_budget) == gib(2335));
  CHECK(size_of(rank_named(log, "pid 507").weights) == gib(2121));

  const rank_figures lines = vllm(
      "INFO 11-30 13:57:06 worker.py:232] Memory profiling results: total_gpu_memory=15.56GiB\n"
      "INFO 11-30 13:57:06 worker.py:232]  initial_memory_usage=4.78GiB peak_torch_memory=4.43GiB\n"
      "INFO 11-30 13:57:06 worker.py:232]  memory_usage_post_profile=4.78Gib\n"
      "INFO 11-30 13:57:06 worker.py:232]  non_torch_memory=1.52GiB kv_cache_size=8.05GiB\n");
  CHECK(size_of(lines.total_gpu_memory) == gib(1556));
  CHECK(size_of(lines.initial_usage) == gib(478));
  CHECK(size_of(lines.peak_torch) == gib(443));
  CHECK(size_of(lines.usage_after_profile) == gib(478));
  CHECK(size_of(lines.non_torch) == gib(152));
  CHECK(size_of(lines.available_kv) == gib(805));

  const rank_figures table = vllm(
      "INFO 12-13 19:54:18 worker.py:243] Memory profiling results:\n"
      "INFO 12-13 19:54:18 worker.py:243] total_gpu_memory\t79.22GiB\n"
      "INFO 12-13 19:54:18 worker.py:243] the current vLLM instance can use\t71.29GiB\n"
      "INFO 12-13 19:54:18 worker.py:243] model weights take   14.96GiB\n"
      "INFO 12-13 19:54:18 worker.py:243] non_torch_memory     1.79GiB\n"
      "INFO 12-13 19:54:18 worker.py:243] PyTorch activation peak memory       1.26GiB\n"
      "INFO 12-13 19:54:18 worker.py:243] available_kv_cache_memory    53.29GiB\n");
  CHECK(size_of(table.total_gpu_memory) == gib(7922));
  CHECK(size_of(table.memory_budget) == gib(7129));
  CHECK(size_of(table.weights) == gib(1496));
  CHECK(size_of(table.non_torch) == gib(179));
  CHECK(size_of(table.activation_peak) == gib(126));
  CHECK(size_of(table.available_kv) == gib(5329));

  for (const char* name : {"GPU", "CUDA", "cuda", "rocm"}) {
    const rank_figures blocks = vllm("# " + std::string(name) + " blocks: 7449, # CPU blocks: 512");
    CHECK(number_of(blocks.num_gpu_blocks) == 7449);
    CHECK(number_of(blocks.num_cpu_blocks) == 512);
  }
}

// ---- SGLang ----------------------------------------------------------------------------------------------

TEST_CASE("SGLang: ranks, draft model, graphs", "[engine_log]") {
  const engine_log log = read_sglang_log(
      "[2026-03-04 15:12:54] server_args=ServerArgs(model_path='some/model', tp_size=2, dp_size=2, "
      "mem_fraction_static=0.83, chat_template=None, json_model_override_args='{\"a\": [1, 2]}')\n"
      "[2026-03-04 15:13:00 DP0 TP0 EP0] Load weight begin. avail mem=78.50 GB\n"
      "[2026-03-04 15:13:00 DP1 TP1 EP1] Load weight begin. avail mem=78.48 GB\n"
      "[2026-03-04 15:13:09 DP1 TP1 EP1] Load weight end. type=SomeForCausalLM, dtype=torch.bfloat16, avail "
      "mem=62.98 "
      "GB, mem usage=15.50 GB.\n"
      "[2026-03-04 15:13:09 DP0 TP0 EP0] Load weight end. elapsed=8.09 s, type=SomeForCausalLM, avail "
      "mem=63.00 GB, mem "
      "usage=15.49 GB.\n"
      "[2026-03-04 15:13:10 DP0 TP0 EP0] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 295950, K "
      "size: 4.52 "
      "GB, V size: 4.51 GB\n"
      "[2026-03-04 15:13:10 DP1 TP1 EP1] KV Cache is allocated. #tokens: 3262823, KV size: 186.77 GB\n"
      "[2026-03-04 15:13:10 DP0 TP0 EP0] Memory pool end. avail mem=21.57 GB\n"
      "[2026-03-04 15:13:11 DP0 TP0 EP0] Load weight begin. avail mem=21.50 GB\n"
      "[2026-03-04 15:13:12 DP0 TP0 EP0] Load weight end. type=Draft, avail mem=20.33 GB, mem usage=1.17 "
      "GB.\n"
      "[2026-03-04 15:13:12 DP0 TP0 EP0] KV Cache is allocated. K size: 0.33 GB, V size: 0.33 GB.\n"
      "[2026-03-04 15:13:20 DP0 TP0 EP0] Capture cuda graph end. Time elapsed: 6.57 s. mem usage=1.22 GB. "
      "avail "
      "mem=12.45 GB.\n"
      "[2026-03-04 15:13:22 DP0 TP0 EP0] Capture target verify CUDA graph end. elapsed=0.78 s, mem "
      "usage=0.12 GB, avail "
      "mem=12.33 GB.\n"
      "[2026-03-04 15:13:23 DP0 TP0 EP0] max_total_num_tokens=295950, chunked_prefill_size=-1, "
      "max_prefill_tokens=16384, max_running_requests=2049, context_len=131072, available_gpu_mem=12.30 "
      "GB\n");
  CHECK(log.engine == "sglang");
  CHECK(log.model == "some/model");
  CHECK(log.settings.at("mem_fraction_static") == "0.83");
  CHECK(log.settings.at("json_model_override_args") == "{\"a\": [1, 2]}");
  REQUIRE(log.ranks.size() == 2);
  const rank_figures& rank = log.ranks[0];
  CHECK(rank.name == "DP0 TP0 EP0");
  CHECK(rank.data_parallel == 0U);
  CHECK(rank.tensor == 0U);
  CHECK(rank.expert == 0U);
  CHECK(size_of(rank.free_at_start) == gib(7850));
  CHECK(size_of(rank.free_after_weights) == gib(6300));
  CHECK(size_of(rank.weights) == gib(1549));
  CHECK(size_of(rank.draft_weights) == gib(117));
  CHECK(size_of(rank.free_after_pools) == gib(2157));
  CHECK(size_of(rank.cuda_graphs) == gib(122) + gib(12));
  CHECK(rank.cuda_graphs->rounding_bytes == 2 * 5368710);
  CHECK(size_of(rank.free_after_graphs) == gib(1233));
  CHECK(size_of(rank.free_at_end) == gib(1230));
  CHECK(number_of(rank.kv_tokens) == 295950);
  CHECK(number_of(rank.max_running_requests) == 2049);
  CHECK(number_of(rank.context_length) == 131072);
  CHECK_FALSE(rank.chunked_prefill_size);
  CHECK(has_note(log, "line 14: \"-1, max_prefill"));
  CHECK(has_note(log, "line 10: a second figure of weights"));
  REQUIRE(rank.pools.size() == 2);
  CHECK(rank.pools[0].dtype == "torch.bfloat16");
  CHECK(number_of(rank.pools[0].tokens) == 295950);
  CHECK(size_of(rank.pools[0].keys) == gib(452));
  CHECK(size_of(rank.pools[0].values) == gib(451));
  CHECK_FALSE(rank.pools[0].total);
  CHECK_FALSE(rank.pools[1].tokens);
  CHECK(size_of(rank.pools[1].keys) == gib(33));
  REQUIRE(log.ranks[1].pools.size() == 1);
  CHECK(size_of(log.ranks[1].pools[0].total) == gib(18677));
  CHECK_FALSE(log.ranks[1].pools[0].keys);
}

TEST_CASE("SGLang: windows, states, and what old versions leave out", "[engine_log]") {
  const rank_figures states = sglang(
      "[2026-10-02 00:39:40] Mamba Cache is allocated. max_mamba_cache_size: 64, conv_state size: 0.07GB, "
      "ssm_state "
      "size: 3.05GB intermediate_ssm_state_cache size: 48.75GB intermediate_conv_window_cache size: 0.43GB "
      "\n");
  CHECK(number_of(states.mamba_slots) == 64);
  CHECK(size_of(states.mamba_conv) == gib(7));
  CHECK(size_of(states.mamba_ssm) == gib(305));
  CHECK(size_of(states.mamba_intermediate_ssm) == gib(4875));
  CHECK(size_of(states.mamba_intermediate_conv) == gib(43));
  const rank_figures plain = sglang(
      "Mamba Cache is allocated. max_mamba_cache_size: 48, conv_state size: 0.09GB, ssm_state size: 6.46GB");
  CHECK(size_of(plain.mamba_ssm) == gib(646));
  CHECK_FALSE(plain.mamba_intermediate_ssm);
  for (const char* word : {"sliding", "Sliding"}) {
    const rank_figures pools = sglang("[x TP0] Use " + std::string(word) +
                                      " window memory pool. full_layer_tokens=46352, swa_layer_tokens=37081");
    CHECK(number_of(pools.full_tokens) == 46352);
    CHECK(number_of(pools.swa_tokens) == 37081);
  }
  const rank_figures together = sglang("SWAKVPool mem usage: 3.18 GB, swa size: 37081, full size: 46352");
  CHECK(size_of(together.swa_pools) == gib(318));
  CHECK(number_of(together.swa_tokens) == 37081);
  CHECK(number_of(together.full_tokens) == 46352);
  const rank_figures old = sglang(
      "[2025-01-23 19:35:10 TP0] Load weight end. type=LlamaForCausalLM, dtype=torch.float16, avail "
      "mem=77.39 GB\n"
      "[2025-01-23 19:35:27 TP0] Capture cuda graph end. Time elapsed: 6.57 s\n"
      "[2025-01-23 19:35:27 TP0] max_total_num_tokens=444500, max_prefill_tokens=16384, "
      "max_running_requests=2049, "
      "context_len=131072\n");
  CHECK(old.name.empty());
  CHECK_FALSE(old.weights);  // not printed: not made up from the difference
  CHECK(size_of(old.free_after_weights) == gib(7739));
  CHECK_FALSE(old.cuda_graphs);
  CHECK_FALSE(old.free_at_end);
  CHECK(number_of(old.kv_tokens) == 444500);
}

// ---- TensorRT-LLM ----------------------------------------------------------------------------------------

TEST_CASE("TensorRT-LLM: the profiling cache is not the real one", "[engine_log]") {
  const engine_log log = read_tensorrt_llm_log(
      "[TensorRT-LLM] TensorRT LLM version: 1.2.0rc2\n"
      "[TensorRT-LLM][INFO] Max KV cache blocks per sequence: 257 [window size=8224], tokens per block=32, "
      "primary "
      "blocks=257, secondary blocks=0, max sequence length=8224\n"
      "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 0.56 GiB for max tokens in paged KV cache (8224).\n"
      "[11/22/2025-11:20:10] [TRT-LLM] [I] max_seq_len=8224, max_num_requests=64, max_num_tokens=8192, "
      "max_batch_size=64\n"
      "[11/22/2025-11:20:50] [TRT-LLM] [RANK 0] [I] Memory used after loading model weights (inside torch) "
      "in memory "
      "usage profiling: 63.52 GiB\n"
      "[11/22/2025-11:20:50] [TRT-LLM] [RANK 0] [I] Memory used after loading model weights (outside torch) "
      "in memory "
      "usage profiling: 49.78 GiB\n"
      "[11/22/2025-11:20:51] [TRT-LLM] [RANK 0] [I] Memory dynamically allocated during inference (inside "
      "torch) in "
      "memory usage profiling: 0.85 GiB\n"
      "[11/22/2025-11:20:51] [TRT-LLM] [RANK 0] [I] Memory used outside torch (e.g., NCCL and CUDA graphs) "
      "in memory "
      "usage profiling: 49.28 GiB\n"
      "[11/22/2025-11:20:51] [TRT-LLM] [RANK 0] [I] Peak memory during memory usage profiling (torch + "
      "non-torch): "
      "113.65 GiB, available KV cache memory when calculating max tokens: 5.95 GiB, fraction is set "
      "0.8999999761581421, kv size is 73728. device total memory 119.70 GiB, , tmp kv_mem 0.56 GiB\n"
      "[11/22/2025-11:20:51] [TRT-LLM] [RANK 1] [I] Peak memory during memory usage profiling (torch + "
      "non-torch): "
      "113.60 GiB, available KV cache memory when calculating max tokens: 5.99 GiB, fraction is set 0.9, kv "
      "size per "
      "token is 73728. device total memory 119.70 GiB, temporary kv cache memory during profiling 0.57 GiB\n"
      "[11/22/2025-11:20:51] [TRT-LLM] [RANK 0] [I] Estimated max memory in KV cache : 5.95 GiB\n"
      "[TRT-LLM] [I] [batchmgr][RANK 0] Max KV cache blocks per sequence: 256 [window size=8192], tokens per "
      "block=32, "
      "primary blocks=100, secondary blocks=4, max sequence length=262144\n"
      "[TRT-LLM] [I] [batchmgr][RANK 0] Max KV cache blocks per sequence: 8192 [window size=262144], tokens "
      "per "
      "block=32, primary blocks=2708, secondary blocks=0, max sequence length=262144\n"
      "[TensorRT-LLM][INFO] Number of tokens per block: 32.\n"
      "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 5.95 GiB for max tokens in paged KV cache (86656).\n");
  CHECK(log.engine == "tensorrt_llm");
  CHECK(log.version == "1.2.0rc2");
  CHECK(log.settings.at("max_seq_len") == "8224");
  CHECK(log.settings.at("max_batch_size") == "64");
  REQUIRE(log.ranks.size() == 3);
  const rank_figures& common = rank_named(log, "");
  CHECK(size_of(common.allocated_kv) == gib(595));
  CHECK(number_of(common.kv_tokens) == 86656);
  CHECK(number_of(common.block_size) == 32);
  CHECK(common.pools.empty());
  const rank_figures& rank = rank_named(log, "rank 0");
  CHECK(rank.rank == 0U);
  CHECK(size_of(rank.weights) == gib(6352));
  CHECK(size_of(rank.outside_torch_after_load) == gib(4978));
  CHECK(size_of(rank.activation_peak) == gib(85));
  CHECK(size_of(rank.non_torch) == gib(4928));
  CHECK(size_of(rank.peak_memory) == gib(11365));
  CHECK(size_of(rank.available_kv) == gib(595));
  CHECK(size_of(rank.total_gpu_memory) == gib(11970));
  CHECK(size_of(rank.temporary_kv) == gib(56));
  CHECK(size_of(rank.estimated_kv) == gib(595));
  REQUIRE(rank.memory_fraction.has_value());
  CHECK(rank.memory_fraction->digits == 8999999761581421);
  CHECK(rank.memory_fraction->scale == 10'000'000'000'000'000U);
  CHECK(tenthousandths(rank.kv_bytes_per_token) == 737280000);
  REQUIRE(rank.pools.size() == 2);
  CHECK(number_of(rank.pools[0].window) == 8192);
  CHECK(number_of(rank.pools[0].secondary_blocks) == 4);
  CHECK(number_of(rank.pools[1].primary_blocks) == 2708);
  CHECK(number_of(rank.pools[1].blocks_per_sequence) == 8192);
  CHECK(number_of(rank.pools[1].tokens_per_block) == 32);
  CHECK(number_of(rank.pools[1].max_sequence_length) == 262144);
  const rank_figures& other = rank_named(log, "rank 1");
  CHECK(tenthousandths(other.memory_fraction) == 9000);
  CHECK(size_of(other.temporary_kv) == gib(57));
}

TEST_CASE("TensorRT-LLM: engines built beforehand", "[engine_log]") {
  const rank_figures figures = tensorrt_llm(
      "[TensorRT-LLM][INFO] Loaded engine size: 6678 MiB\n"
      "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 2191.00 MiB for execution context memory.\n"
      "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 43.29 MB GPU memory for runtime buffers.\n"
      "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 180.30 MB GPU memory for decoder.\n"
      "[TensorRT-LLM][INFO] Memory usage when calculating max tokens in paged kv cache: total: 79.10 GiB, "
      "available: "
      "70.48 GiB\n"
      "[TensorRT-LLM][INFO] Number of blocks in KV cache primary pool: 4060\n"
      "[TensorRT-LLM][INFO] Number of blocks in KV cache secondary pool: 0, onboard blocks to primary memory "
      "before "
      "reuse: true\n"
      "[TensorRT-LLM][INFO] Max KV cache pages per sequence: 32\n"
      "[TensorRT-LLM][INFO] Number of tokens per block: 64.\n"
      "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 63.44 GiB for max tokens in paged KV cache "
      "(259840).\n");
  CHECK(size_of(figures.weights) == std::int64_t{6678} << 20);
  CHECK(size_of(figures.execution_context) == std::int64_t{2191} << 20);
  CHECK(size_of(figures.runtime_buffers) == 45392855);
  CHECK(size_of(figures.decoder_buffers) == 189058253);
  CHECK(size_of(figures.total_gpu_memory) == gib(7910));
  CHECK(size_of(figures.free_before_kv) == gib(7048));
  CHECK(number_of(figures.num_gpu_blocks) == 4060);
  CHECK(number_of(figures.num_cpu_blocks) == 0);
  CHECK(number_of(figures.blocks_per_sequence) == 32);
  CHECK(number_of(figures.block_size) == 64);
  CHECK(size_of(figures.allocated_kv) == gib(6344));
  CHECK(number_of(figures.kv_tokens) == 259840);
  const rank_figures oldest = tensorrt_llm(
      "[TensorRT-LLM][INFO] Allocate 69524783104 bytes for k/v cache. \n"
      "[TensorRT-LLM][INFO] Using 132608 tokens in paged KV cache.\n");
  CHECK(size_of(oldest.allocated_kv) == 69524783104);
  CHECK(number_of(oldest.kv_tokens) == 132608);
  const rank_figures second_manager = tensorrt_llm(
      "[TRT-LLM] [I] KV cache manager v2 device quota set to 5.951171875GiB\n"
      "[TRT-LLM] [I] KV cache manager v2 host cache quota set to 16.0GiB\n"
      "[TRT-LLM] [I] Estimated max memory in KV cache : 5.95 GiB, kv size per token is 73728 bytes\n");
  CHECK(size_of(second_manager.allocated_kv) == 6390022144);
  CHECK(size_of(second_manager.host_kv) == gib(1600));
  CHECK(tenthousandths(second_manager.kv_bytes_per_token) == 737280000);
}

// ---- what stands around ----------------------------------------------------------------------------------

TEST_CASE("ranks are told apart by their prefixes", "[engine_log]") {
  struct prefix {
    const char* text;
    const char* name;
  };
  for (const prefix& each : std::initializer_list<prefix>{
           {"", ""},
           {"INFO 11-14 06:32:25 [gpu_worker.py:298] ", ""},
           {"(Worker_TP3 pid=1) INFO ", "TP3"},
           {"(Worker_PP1_TP3 pid=1) INFO ", "PP1 TP3"},
           {"(Worker_TP0_EP0 pid=1159) INFO ", "TP0 EP0"},
           {"(Worker_DP2_EP2 pid=1159) INFO ", "DP2 EP2"},
           {"(Worker_TP1_DCP1 pid=1159) INFO ", "TP1 CP1"},
           {"(VllmWorker rank=7 pid=4716) INFO ", "rank 7"},
           {"(VllmWorker TP7 pid=4716) INFO ", "TP7"},
           {"(VllmWorkerProcess pid=521) INFO ", "pid 521"},
           {"(RayWorkerWrapper pid=77, ip=10.0.0.2) INFO ", "pid 77"},
           {"(EngineCore pid=212) INFO ", "engine"},
           {"(EngineCore_0 pid=212) INFO ", "engine DP0"},
           {"(EngineCore_DP3 pid=212) INFO ", "engine DP3"},
           {"[rank0]: ", "rank 0"},
           {"[TRT-LLM] [RANK 2] [I] ", "rank 2"},
           {"[TRT-LLM] [I] rank2 ", "rank 2"},
           {"[1,3]<stdout>:[TensorRT-LLM][INFO] ", "rank 3"},
           {"[2025-10-16 09:06:22 DP1 TP5 EP5] ", "DP1 TP5 EP5"},
           {"[2025-10-16 09:06:22 PP1 TP5] ", "PP1 TP5"},
           {"[gpu=3] ", "rank 3"},
           {"worker-1  | \x1b[1;36m(Worker_TP1 pid=9)\x1b[0;0m INFO ", "TP1"},
           {"2024-06-28T06:11:52.685Z stdout F (Worker_TP1 pid=9) INFO ", "TP1"},
           {"Oct 06 12:00:31 host vllm[212]: (Worker_TP1 pid=9) INFO ", "TP1"},
           {"2026-05-01 22:45:53.672 | (EngineCore pid=187) INFO 05-01 20:45:53 [x.py:1] ", "engine"},
           {"{\"log\":\"(Worker_TP1 pid=9) INFO ", "TP1"},
           {"(Worker_TP4294967296 pid=9) INFO ", "pid 9"},
       }) {
    CAPTURE(each.text);
    const engine_log log = read_vllm_log(std::string(each.text) + "Available KV cache memory: 8.11 GiB\n");
    REQUIRE(log.ranks.size() == 1);
    CHECK(log.ranks[0].name == each.name);
    CHECK(size_of(log.ranks[0].available_kv) == gib(811));
  }
  // A prefix behind a progress bar that fills the line.
  const std::string bar = "Capturing CUDA graphs: 100%|" + std::string(900, '#') + "| 35/35 ";
  CHECK(read_vllm_log(bar + "(Worker_TP1 pid=9) INFO Graph capturing finished in 7 secs, took 0.71 GiB")
            .ranks[0]
            .name == "TP1");
}

TEST_CASE("colours, carriage returns and wrapped lines are read through", "[engine_log]") {
  const engine_log log = read_vllm_log(
      "\xEF\xBB\xBF\x1b]0;title\x07\x1b[1;36m(Worker_TP0 pid=1)\x1b[0;0m INFO Available KV cache memory: "
      "\x1b[32m8.11\x1b[0m GiB\r\n"
      "Loading:  50%|#####     |\rLoading: 100%|##########|\r(Worker_TP0 pid=1) INFO Model loading took 3.50 "
      "GiB\r\n"
      "Desired GPU memory utilization is (0.95, 78.9 GiB). Actual usage is 43.21 GiB for\n"
      "consumed memory (weights + non-torch), 0.92 GiB for peak activation, and 0.12 GiB\n"
      "    for CUDAGraph memory. Replace gpu_memory_utilization config with\n"
      "(Worker_TP0 pid=1) INFO Graph capturing finished in 8 secs, took 0.31 GiB");
  REQUIRE(log.ranks.size() == 2);
  CHECK(log.ranks[1].name == "TP0");
  CHECK(size_of(log.ranks[1].available_kv) == gib(811));
  CHECK(log.ranks[1].available_kv->line == 1);
  CHECK(log.ranks[1].weights->line == 2);
  CHECK(log.ranks[1].cuda_graphs->line == 6);
  CHECK(size_of(log.ranks[0].consumed) == gib(4321));
  CHECK(size_of(log.ranks[0].activation_peak) == gib(92));
  CHECK(size_of(log.ranks[0].cuda_graphs) == gib(12));
  CHECK(log.ranks[0].consumed->line == 3);
  const rank_figures wrapped = tensorrt_llm(
      "[TensorRT-LLM][INFO] Max KV cache blocks per sequence: 65 [window size=2049],\n"
      "  tokens per block=32, primary blocks=13189, max sequence length=2049\n"
      "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 9.06 GiB for max tokens in paged KV cache\n"
      "  (422048).\n");
  REQUIRE(wrapped.pools.size() == 1);
  CHECK(number_of(wrapped.pools[0].primary_blocks) == 13189);
  CHECK_FALSE(wrapped.pools[0].secondary_blocks);
  CHECK(number_of(wrapped.kv_tokens) == 422048);
  // A message of its own is no continuation, with or without a prefix.
  const rank_figures apart = sglang(
      "KV Cache is allocated. #tokens: 10\nKV Cache is allocated. #tokens: 20, K size: 3.00 GB, V size: 3.00 "
      "GB\n");
  REQUIRE(apart.pools.size() == 2);
  CHECK_FALSE(apart.pools[0].keys);
}

TEST_CASE("of several starts the last one is reported", "[engine_log]") {
  const std::string start = "INFO vLLM API server version 0.9.";
  const std::string engine = "INFO Initializing a V1 LLM engine (v0.9.1) with config: model='m', seed=";
  const engine_log log =
      read_vllm_log(start + "1\nINFO non-default args: {'enforce_eager': True}\n" + engine +
                    "1\nGPU KV cache size: 1 tokens\nAvailable KV cache memory: 1e9 GiB\n" + start + "2\n" +
                    engine + "2\nGPU KV cache size: 7,000 tokens\n");
  CHECK(log.starts == 2);
  CHECK(log.first_line == 6);
  CHECK(log.version == "0.9.1");
  CHECK(log.settings.at("seed") == "2");
  CHECK(log.settings.count("enforce_eager") == 0);
  CHECK(number_of(first_printed(log).kv_tokens) == 7000);
  CHECK(log.notes ==
        std::vector<std::string>{"2 starts in this log: figures are those of the last, from line 6 on"});
  // Two engines in one process, without a server.
  const engine_log twice = read_vllm_log(engine + "1\nGPU KV cache size: 1 tokens\n" + engine +
                                         "2\nGPU KV cache size: 2 tokens\n");
  CHECK(twice.starts == 2);
  CHECK(number_of(first_printed(twice).kv_tokens) == 2);
  // Two replicas of one start.
  const engine_log replicas =
      read_vllm_log("(EngineCore_DP0 pid=1) " + engine +
                    "1\n(EngineCore_DP0 pid=1) INFO GPU KV cache size: "
                    "1 tokens\n(EngineCore_DP1 pid=2) " +
                    engine + "1\n(EngineCore_DP1 pid=2) INFO GPU KV cache size: 2 tokens\n");
  CHECK(replicas.starts == 1);
  CHECK(replicas.ranks.size() == 2);
  // The last start has only begun.
  const engine_log begun = read_sglang_log(
      "server_args=ServerArgs(model_path='a')\nMemory pool end. avail mem=1.00 "
      "GB\nserver_args=ServerArgs(model_path='b')\n");
  CHECK(begun.starts == 2);
  CHECK(begun.model == "b");
  CHECK(begun.ranks.empty());
  CHECK(has_note(begun, "no figure was printed by the start that begins at line 3"));
}

// [reading_a_log]
/// What each rank had left for its cache, and the tokens that the engine made of it.
std::string pool_in(const engine_log& log) {
  std::string lines;
  for (const rank_figures& rank : log.ranks) {
    if (rank.available_kv) lines += rank.name + ": " + std::to_string(rank.available_kv->bytes) + " B\n";
  }
  if (const auto tokens = first_printed(log).kv_tokens) lines += std::to_string(tokens->value) + " tokens\n";
  return lines;
}
// [reading_a_log]

TEST_CASE("the example of the documentation", "[engine_log]") {
  CHECK(pool_in(read_engine_log("(Worker_TP0 pid=2) INFO Available KV cache memory: 8.11 GiB\n"
                                "(Worker_TP1 pid=3) INFO Available KV cache memory: 8.05 GiB\n"
                                "(EngineCore_DP0 pid=1) INFO GPU KV cache size: 178,880 tokens\n")) ==
        "TP0: 8708046193 B\nTP1: 8643621683 B\n178880 tokens\n");
}

TEST_CASE("the engine is told by its lines", "[engine_log]") {
  CHECK(read_engine_log("Available KV cache memory: 8.11 GiB").engine == "vllm");
  CHECK(read_engine_log("Memory pool end. avail mem=8.11 GB").engine == "sglang");
  CHECK(read_engine_log("Number of tokens per block: 64.").engine == "tensorrt_llm");
  CHECK(read_engine_log("server_args=ServerArgs(tp_size=1)").engine == "sglang");
  CHECK(contains(message_of([] { (void)read_engine_log("nothing of the kind", "a.log"); }),
                 "a.log: no known line, expected the log of a start of vLLM"));
  for (const std::string& seed : seeds()) CHECK_FALSE(read_engine_log(seed).ranks.empty());
}

// ---- bad input -------------------------------------------------------------------------------------------

TEST_CASE("logs that are none are refused in one line", "[engine_log]") {
  const scratch folder;
  const auto refusal = [](auto read) { return message_of(read); };
  const std::string empty = folder.write("empty.log", "").string();
  CHECK(refusal([&] { (void)read_engine_log_file(empty); }) == empty + ": is empty");
  CHECK(contains(refusal([&] { (void)read_vllm_log_file(folder.path() / "none.log"); }),
                 "none.log: No such file"));
  CHECK(contains(refusal([&] { (void)read_sglang_log_file(folder.path()); }), "is a directory"));
  const auto other = folder.write("other.log", "Memory pool end. avail mem=8.11 GB\n");
  CHECK(contains(refusal([&] { (void)read_tensorrt_llm_log_file(other); }),
                 other.string() + ": no known line of TensorRT-LLM, expected lines such as"));
  CHECK(read_sglang_log_file(other).ranks.size() == 1);
  CHECK(contains(refusal([] { (void)read_vllm_log(""); }), "log: no known line of vLLM"));
  CHECK(contains(refusal([] { (void)read_vllm_log(std::string_view("\xFF\xFEG\0P\0U\0", 8), "x.log"); }),
                 "x.log: is UTF-16"));
  std::string ranks;
  for (int i = 0; i <= 4096; ++i)
    ranks += "(Worker_TP" + std::to_string(i) + " pid=1) GPU KV cache size: 1 tokens\n";
  CHECK(contains(refusal([&] { (void)read_vllm_log(ranks, "x.log"); }), "x.log: more than 4096 ranks"));
  CHECK(contains(refusal([&] { (void)read_engine_log(ranks, "x.log"); }), "x.log: more than 4096 ranks"));
  ranks.resize(ranks.rfind("(Worker"));
  CHECK(read_vllm_log(ranks).ranks.size() == 4096);
}

TEST_CASE("long lines are cut, with a note", "[engine_log]") {
  const std::string filler(70000, 'x');
  const engine_log log =
      read_vllm_log("GPU KV cache size: 16 tokens" + filler + "Available KV cache memory: 8.11 GiB\n" +
                    filler + "\nGPU KV cache size: 8 tokens\n");
  CHECK(number_of(first_printed(log).kv_tokens) == 8);
  CHECK_FALSE(first_printed(log).available_kv);
  CHECK(has_note(log, "line 1: is longer than 65536 bytes and was cut, as were 1 others"));
  // Brackets, quotes and blanks without end.
  for (const char* part : {"(", "[", "{'a': ", "a=", "'", ", ", "x ", "1,000", "pid="}) {
    std::string text = "INFO non-default args: ";
    while (text.size() < 200000) text += part;
    (void)read_vllm_log(text);
  }
  std::string many = "server_args=ServerArgs(";
  for (int i = 0; i < 5000; ++i) many += "k" + std::to_string(i) + "=1, ";
  CHECK(read_sglang_log(many).settings.size() == 1024);
  CHECK(read_sglang_log("server_args=ServerArgs(a='" + std::string(20000, 'y') + "', b=2)")
            .settings.at("a")
            .size() == 4096 + 3);
}

TEST_CASE("a log cut anywhere is read or refused", "[engine_log]") {
  for (const std::string& seed : seeds()) {
    for (std::size_t length = 0; length <= seed.size(); ++length) {
      const std::string text = seed.substr(0, length);
      for (const auto read : {read_vllm_log, read_sglang_log, read_tensorrt_llm_log, read_engine_log}) {
        try {
          const engine_log log = read(text, "cut.log");
          REQUIRE(log.ranks.size() <= 4);
        } catch (const input_error& refused) {
          REQUIRE(contains(refused.what(), "cut.log: no known line"));
        }
      }
    }
  }
}

TEST_CASE("damaged logs are read or refused", "[engine_log]") {
  tests::numbers random(20260307);
  const std::vector<std::string> originals = seeds();
  REQUIRE(originals.size() >= 8);
  int accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string text = tests::damaged_text(originals, random);
    const std::string refused = message_of([&] {
      const engine_log log = read_engine_log(text, "damaged.log");
      for (const std::string& note : log.notes) REQUIRE(note.find('\n') == std::string::npos);
      (void)first_printed(log);
      ++accepted;
    });
    if (refused != "nothing was refused") REQUIRE(contains(refused, "damaged.log: "));
  }
  CHECK(accepted > 2000);
}

}  // namespace
