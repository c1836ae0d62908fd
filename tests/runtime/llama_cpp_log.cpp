// Logs of llama.cpp, Ollama, LM Studio and ik_llama.cpp: the wordings of their years, several loads in one
// log, and bad input. The samples are the `local-…` seeds of the fuzzer, written for these tests.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <initializer_list>
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

const std::filesystem::path seeds_folder = std::filesystem::path(KVBUDGET_SEEDS_DIR) / "engine_log";

std::string seed(const std::string& name) {
  std::ostringstream content;
  content << std::ifstream(seeds_folder / ("local-" + name), std::ios::binary).rdbuf();
  return content.str();
}
std::vector<std::string> all_seeds() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(seeds_folder)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("local-", 0) == 0) names.push_back(name.substr(6));
  }
  std::sort(names.begin(), names.end());
  std::vector<std::string> contents;
  for (const std::string& name : names) contents.push_back(seed(name));
  return contents;
}
engine_log sample(const std::string& name) { return read_llama_cpp_log(seed(name), name); }

/// hundredths of 2^20 bytes, to the nearest byte
constexpr std::int64_t mib(std::int64_t hundredths) {
  return (hundredths * (std::int64_t{1} << 20) + 50) / 100;
}
constexpr std::int64_t whole_mib(std::int64_t number) { return number * (std::int64_t{1} << 20); }

template <class Figure> std::int64_t size_of(const Figure& figure) {
  REQUIRE(figure.has_value());
  return figure->bytes;
}
template <class Figure> std::uint64_t number_of(const Figure& figure) {
  REQUIRE(figure.has_value());
  return figure->value;
}
const printed_device& device(const std::vector<printed_device>& devices, const std::string& name) {
  for (const printed_device& each : devices) {
    if (each.name == name) return each;
  }
  FAIL("no device " + name);
  return devices.front();
}
bool has_note(const engine_log& log, const std::string& part) {
  return std::any_of(log.notes.begin(), log.notes.end(),
                     [&](const std::string& note) { return contains(note, part); });
}

// ---- one sample per program and era ----------------------------------------------------------------------

TEST_CASE("tensors that overrides move to host memory", "[llama_cpp_log]") {
  const std::string load = "load_tensors: loading model tensors, this can take a while... (mmap = false)\n";
  const std::string moved =
      "tensor blk.0.ffn_up_exps.weight (136 MiB q4_0) buffer type overridden to CUDA_Host\n"
      "Tensor blk.1.ffn_up_exps.weight buffer type overriden to CPU\n"
      "tensor blk.2.ffn_up_exps.weight (136 MiB q4_0) buffer type overridden to CUDA1\n";
  const std::string rest = "load_tensors: CUDA0 model buffer size = 1.00 MiB\n";
  const engine_log log = read_llama_cpp_log(load + moved + rest, "test");
  CHECK(log.host_tensors == std::vector<std::string>{"blk.0.ffn_up_exps.weight", "blk.1.ffn_up_exps.weight"});
  CHECK(log.starts == 1);
  CHECK(has_note(log, "line 4: tensors that are moved to another GPU are passed over"));
  // of several loads the last one
  CHECK(read_llama_cpp_log(load + moved + rest + load + rest, "test").host_tensors.empty());
}

TEST_CASE("llama.cpp 2026: every buffer of every device", "[llama_cpp_log]") {
  const engine_log log = sample("llama-cpp-2026");
  CHECK(log.engine == "llama_cpp");
  CHECK(log.front_end == "llama.cpp");
  CHECK(log.version == "9943");
  CHECK(log.settings.at("commit") == "c15c5c77a");
  CHECK(log.model == "Some Hybrid 30B");
  CHECK(log.ranks.empty());
  CHECK(log.starts == 1);
  CHECK(log.first_line == 28);  // what --fit loaded is no start
  CHECK_FALSE(log.projected);

  REQUIRE(log.devices.size() == 4);
  const printed_device& first = log.devices[0];
  CHECK(first.name == "CUDA0");
  CHECK(first.description == "NVIDIA GeForce RTX 4090");
  CHECK(size_of(first.free) == whole_mib(22994));
  CHECK(first.free->rounding_bytes == std::uint64_t{1} << 20);  // the engine cuts whole MiB
  CHECK(size_of(first.total) == whole_mib(24078));
  CHECK(size_of(first.model) == mib(812345));
  CHECK(first.model->rounding_bytes == 5244);  // 0.005 × 2^20 = 5242.88, and half a byte
  CHECK(size_of(first.context) == mib(108800));
  CHECK(size_of(first.recurrent) == mib(15075));
  CHECK(size_of(first.compute) == mib(42000));
  CHECK(first.compute->line == 74);
  CHECK_FALSE(first.output.has_value());
  CHECK(size_of(device(log.devices, "CPU_Mapped").model) == mib(16692));
  CHECK(size_of(device(log.devices, "CUDA_Host").output) == mib(232));
  CHECK(size_of(device(log.devices, "CUDA_Host").compute) == mib(26401));

  REQUIRE(log.caches.size() == 2);
  CHECK_FALSE(log.caches[0].recurrent);
  CHECK(size_of(log.caches[0].total) == mib(217600));
  CHECK(size_of(log.caches[0].keys) == mib(108800));
  CHECK(log.caches[0].key_type == "q8_0");
  CHECK(number_of(log.caches[0].cells) == 131072);
  CHECK(number_of(log.caches[0].layers) == 12);
  CHECK(number_of(log.caches[0].sequences) == 4);
  CHECK(number_of(log.caches[0].streams) == 1);
  CHECK(log.caches[1].recurrent);
  CHECK(size_of(log.caches[1].keys) == mib(1350));
  CHECK(size_of(log.caches[1].values) == mib(28800));
  CHECK(log.caches[1].value_type == "f32");
  CHECK(number_of(log.caches[1].sequences) == 4);
  CHECK_FALSE(log.caches[1].streams.has_value());

  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, const char*>>{
           {"arch", "somehybrid"},
           {"n_layer", "48"},
           {"n_head_kv", "[0, 0, 0, 2, 0, 0, 0, 2]"},
           {"n_expert", "512"},
           {"n_vocab", "151936"},
           {"file type", "Q4_K - Medium"},
           {"file size", "17.34 GiB (4.85 BPW)"},
           {"n_ctx_train", "262144"},
           {"n_ctx", "131072"},
           {"n_ctx_seq", "131072"},
           {"n_batch", "2048"},
           {"n_ubatch", "512"},
           {"n_seq_max", "4"},
           {"kv_unified", "true"},
           {"flash_attn", "auto"},
           {"flash_attn_auto", "enabled"},
           {"causal_attn", "1"},
           {"pipeline_parallelism", "disabled"},
           {"n_copies", "1"},
           {"n_slots", "4"},
           {"load_mode", "mmap"},
           {"graph splits", "4 (with bs=512), 2 (with bs=1)"},
           {"model_path", "/models/Some-Hybrid-30B-Q4_K_M.gguf"},
           {"draft.n_ctx", "131072"},
       }) {
    CAPTURE(key);
    REQUIRE(log.settings.count(key) == 1);
    CHECK(log.settings.at(key) == value);
  }
  CHECK(log.settings.count("BOS token") == 0);
  CHECK(number_of(log.offloaded_layers) == 49);
  CHECK(number_of(log.offloadable_layers) == 49);

  // what stands apart
  REQUIRE(log.draft_devices.size() == 2);
  CHECK(size_of(device(log.draft_devices, "CUDA1").context) == mib(25600));
  CHECK(size_of(device(log.draft_devices, "CUDA1").compute) == mib(49000));
  REQUIRE(log.draft_caches.size() == 1);
  CHECK(number_of(log.draft_caches[0].layers) == 1);
  CHECK(size_of(device(log.projector_devices, "CUDA0").model) == mib(61314));
  CHECK(size_of(device(log.projector_devices, "CUDA0").compute) == mib(24810));
  CHECK(size_of(device(log.projector_devices, "CPU").compute) == mib(2493));
  CHECK(size_of(log.projector_estimate) == mib(113609));
  CHECK(has_note(log, "line 89: a draft model's or second context's figures stand apart"));
  CHECK(has_note(log, "a projector's figures stand apart"));
}

TEST_CASE("llama.cpp 2026: --fit, its failures and the table at the end", "[llama_cpp_log]") {
  const engine_log log = sample("llama-cpp-2026");
  REQUIRE(log.fit.has_value());
  CHECK(log.fit->line == 21);
  CHECK(size_of(log.fit->projected) == whole_mib(37088));
  CHECK(size_of(log.fit->free) == whole_mib(47466));
  CHECK(size_of(log.fit->missing) == whole_mib(1606));
  CHECK(number_of(log.fit->context_before) == 262144);
  CHECK(number_of(log.fit->context_after) == 131072);
  CHECK(log.fit->succeeded == true);
  REQUIRE(log.fit->devices.size() == 2);
  CHECK(log.fit->devices[0].name == "CUDA0");
  CHECK(number_of(log.fit->devices[0].layers) == 24);
  CHECK(number_of(log.fit->devices[0].overflowing) == 3);
  CHECK(size_of(log.fit->devices[1].used) == whole_mib(20000));
  CHECK(size_of(log.fit->devices[1].free) == whole_mib(3860));

  REQUIRE(log.failures.size() == 2);  // the device's refusal and the buffer that it was for are one
  CHECK(log.failures[0].device == "CUDA1");
  CHECK(size_of(log.failures[0].size) == 3145990144);
  CHECK(log.failures[0].size->rounding_bytes == 0);
  CHECK(log.failures[1].text == "failed to allocate compute buffers");
  CHECK(log.failures[0].recovered);
  CHECK(log.failures[1].recovered);

  REQUIRE(log.breakdown.size() == 3);
  CHECK_FALSE(log.breakdown_projected);
  const printed_breakdown& row = log.breakdown[0];
  CHECK(row.name == "CUDA0");
  CHECK(row.description == "RTX 4090");
  CHECK(size_of(row.total) == whole_mib(24078));
  CHECK(size_of(row.free) == whole_mib(13000));
  CHECK(size_of(row.self) == whole_mib(9782));
  CHECK(size_of(row.model) == whole_mib(8123));
  CHECK(size_of(row.context) == whole_mib(1238));
  CHECK(size_of(row.compute) == whole_mib(420));
  CHECK(size_of(row.unaccounted) == whole_mib(1296));
  CHECK(log.breakdown[2].name == "Host");
  CHECK_FALSE(log.breakdown[2].total.has_value());
  CHECK(size_of(log.breakdown[2].compute) == whole_mib(264));
}

TEST_CASE("llama.cpp 2025: windowed layers, and a draft model", "[llama_cpp_log]") {
  const engine_log log = sample("llama-cpp-2025-draft");
  CHECK(log.version == "6123");
  CHECK(log.model == "Gemma Like 12b");
  REQUIRE(log.devices.size() == 3);
  CHECK(size_of(log.devices[0].model) == mib(1190025));
  CHECK(size_of(log.devices[0].free) == whole_mib(48290));
  CHECK(size_of(log.devices[0].context) == mib(252800));  // both caches
  CHECK(size_of(log.devices[0].compute) == mib(51950));
  REQUIRE(log.caches.size() == 2);
  CHECK(log.caches[0].label == "non-SWA");
  CHECK(number_of(log.caches[0].cells) == 32768);
  CHECK(log.caches[1].label == "SWA");
  CHECK(number_of(log.caches[1].cells) == 1536);
  CHECK(size_of(log.caches[1].total) == mib(48000));
  CHECK(log.settings.at("n_ctx_seq") == "32768");  // n_ctx_per_seq then
  CHECK(log.settings.at("n_ctx_train") == "131072");
  CHECK(log.settings.at("n_layer") == "48");
  CHECK(log.settings.at("draft.n_layer") == "26");
  CHECK(number_of(log.offloaded_layers) == 49);
  CHECK(size_of(device(log.draft_devices, "CUDA0").model) == mib(101600));
  CHECK(size_of(device(log.draft_devices, "CUDA0").context) == mib(1300));  // its second context
  REQUIRE(log.draft_caches.size() == 1);
}

TEST_CASE("llama.cpp 2024 and 2023", "[llama_cpp_log]") {
  const engine_log later = sample("llama-cpp-2024");
  CHECK(later.version == "3021");
  CHECK(size_of(device(later.devices, "CPU").model) == mib(1050075));  // one line for each file
  CHECK(size_of(device(later.devices, "CUDA_Host").context) == mib(64000));
  CHECK(size_of(device(later.devices, "CUDA_Host").other) == mib(652));
  CHECK(size_of(device(later.devices, "CUDA1").compute) == mib(121600));
  REQUIRE(later.caches.size() == 1);
  CHECK(later.caches[0].key_type == "f16");
  CHECK(number_of(later.offloaded_layers) == 60);
  CHECK(number_of(later.offloadable_layers) == 81);
  CHECK(later.settings.at("pipeline_parallelism") == "enabled");
  CHECK(later.settings.at("n_copies") == "4");
  CHECK(later.settings.at("file type") == "Q4_0");
  CHECK(later.settings.at("file size") == "37.22 GiB (4.53 BPW)");

  const engine_log sooner = sample("llama-cpp-2023");
  CHECK(sooner.version == "852");
  CHECK(sooner.devices.empty());
  CHECK(size_of(sooner.memory_required) == mib(46840));
  CHECK(size_of(sooner.vram_used) == whole_mib(4954));
  CHECK(sooner.vram_used->rounding_bytes == (std::uint64_t{1} << 19) + 1);
  CHECK(size_of(sooner.compute_total) == mib(15347));
  REQUIRE(sooner.caches.size() == 1);
  CHECK(size_of(sooner.caches[0].total) == mib(102400));
  CHECK(sooner.settings.at("file type") == "2 (mostly Q4_0)");
  CHECK(sooner.model == "./models/7b.ggmlv3.q4_0.bin");
}

TEST_CASE("wordings of one line each", "[llama_cpp_log]") {
  const auto devices = [](const std::string& text) { return read_llama_cpp_log(text).devices; };
  for (const char* function : {"llama_kv_cache_init", "init", "llama_kv_cache_unified", "llama_kv_cache",
                               "[33899] 0.16.1 I llama_kv_cache", "ollama-1  | llama_kv_cache"}) {
    CAPTURE(function);
    const auto found = devices(std::string(function) + ":      ROCm0 KV buffer size =   448.00 MiB\n");
    REQUIRE(found.size() == 1);
    CHECK(found[0].name == "ROCm0");
    CHECK(size_of(found[0].context) == mib(44800));
  }
  for (const char* name : {"CPU_REPACK", "CPU_AARCH64", "AMX", "CUDA_Split", "HTP1-REPACK", "Meta()", "MTL0",
                           "RPC[192.168.0.2:50052]", "Vulkan12", "CANN0", "BLAS"}) {
    CAPTURE(name);
    const auto found = devices(std::string("load_tensors:  ") + name + " model buffer size =   1.50 MiB\n");
    REQUIRE(found.size() == 1);
    CHECK(found[0].name == name);
    CHECK(size_of(found[0].model) == mib(150));
  }
  for (const char* line : {"reserve:        CPU compute buffer size =   102.25 MiB",
                           "sched_reserve:  CPU compute buffer size =   102.25 MiB",
                           "llama_init_from_model:  CPU compute buffer size =   102.25 MiB",
                           "llama_context:  CPU compute buffer size =   102,25 MiB",
                           "llama_context:  CPU compute buffer size =   102.25 MB"}) {
    CAPTURE(line);
    CHECK(size_of(devices(line).at(0).compute) == mib(10225));
  }
  CHECK(size_of(devices("llama_adapter_lora_init_impl:  CUDA0 LoRA buffer size =  40.25 MiB").at(0).other) ==
        mib(4025));
  CHECK(size_of(devices("llama_kv_cache:  CUDA0 DSV4 shift state buffer size =  3.00 MiB").at(0).context) ==
        mib(300));
  // What looks like a buffer and is none.
  for (const char* line :
       {"~llama_context:  MTL0 compute buffer size is 97.1250 MiB, matches expectation of 97.1250 MiB",
        "ggml_backend: copy buffer size: 128 MB", "CUDA0 compute buffer size = 5 MiB",
        "metal_init: recommended scratch buffer size = 5 MiB"}) {
    CAPTURE(line);
    CHECK(contains(message_of([&] { (void)read_llama_cpp_log(line); }), "no known line of llama.cpp"));
  }

  const auto caches = [](const std::string& text) { return read_llama_cpp_log(text).caches; };
  const printed_cache described = caches(
      "llama_kv_cache_unified: kv_size = 4096, type_k = 'f16', type_v = 'q8_0', n_layer = 32, can_shift = 1\n"
      "llama_kv_cache_unified: KV self size  = 2048.00 MiB, K (f16): 1024.00 MiB, V (f16): 1024.00 MiB\n")[0];
  CHECK(number_of(described.cells) == 4096);
  CHECK(number_of(described.layers) == 32);
  const printed_cache alone = caches(
      "llama_kv_cache_unified: size = 1024.00 MiB (  8192 cells,  32 layers), K (f16):  512.00 MiB, V (f16): "
      " 512.00 MiB")[0];
  CHECK(number_of(alone.cells) == 8192);
  CHECK_FALSE(alone.sequences.has_value());
  const printed_cache one = caches(
      "llama_kv_cache_unified: size = 12.00 MiB ( 4096 cells,  6 layers,  3 seqs), K (f16): 6.00 MiB, V "
      "(f16): 6.00 MiB")[0];
  CHECK(number_of(one.sequences) == 3);
  CHECK_FALSE(one.streams.has_value());

  const engine_log first_table = read_llama_cpp_log(
      "llama_print_memory_breakdown: memory breakdown:      total   free     self   model   context   "
      "compute    unaccounted\n"
      "llama_print_memory_breakdown:   - CUDA0 (RTX 4090):  24080 = 9436 + (14193 = 13169 +      38 +     "
      "985) +         451\n"
      "llama_print_memory_breakdown:   - CPU (EPYC 7742):  72 =     0 +      57 +      15\n");
  REQUIRE(first_table.breakdown.size() == 2);
  CHECK(first_table.breakdown[0].name == "CUDA0");
  CHECK(size_of(first_table.breakdown[0].unaccounted) == whole_mib(451));
  CHECK(size_of(first_table.breakdown[1].self) == whole_mib(72));

  const auto fit = [](const std::string& text) { return *read_llama_cpp_log(text).fit; };
  const printed_fit enough =
      fit("llama_params_fit_impl: projected to use 3287 MiB of device memory vs. 110100 MiB of free device "
          "memory\n"
          "llama_params_fit_impl: will leave 106812 >= 1024 MiB of free device memory, no changes needed\n"
          "llama_params_fit: successfully fit params to free device memory\n");
  CHECK(size_of(enough.projected) == whole_mib(3287));
  CHECK(size_of(enough.target) == whole_mib(1024));
  CHECK(enough.succeeded == true);
  const printed_fit not_enough =
      fit("llama_params_fit: projected to use 158641 MiB of device memory vs. a total of 65424 MiB\n"
          "llama_params_fit: cannot fulfill margin of 1024 MiB on all devices, need to use 97337 MiB less in "
          "total\n"
          "llama_params_fit: context size reduced from 65536 to 4096 -> need 13440 MiB less memory\n"
          "llama_params_fit: failed to fit params to free device memory: n_gpu_layers already set by user to "
          "99, abort\n");
  CHECK(size_of(not_enough.free) == whole_mib(65424));
  CHECK(size_of(not_enough.target) == whole_mib(1024));
  CHECK(size_of(not_enough.missing) == whole_mib(97337));
  CHECK(number_of(not_enough.context_after) == 4096);
  CHECK(not_enough.succeeded == false);
  CHECK(not_enough.failure == "n_gpu_layers already set by user to 99, abort");
}

TEST_CASE("ik_llama.cpp: a latent cache that is printed twice", "[llama_cpp_log]") {
  const engine_log log = sample("ik-llama");
  CHECK(log.front_end == "ik_llama.cpp");
  CHECK(log.version == "3672");
  CHECK(log.settings.at("mla_attn") == "3");
  CHECK(log.settings.at("attn_max_b") == "512");
  REQUIRE(log.caches.size() == 1);
  CHECK(log.caches[0].latent);
  CHECK(size_of(log.caches[0].total) == mib(116662));
  CHECK(size_of(log.caches[0].keys) == mib(116662));
  CHECK(log.caches[0].key_type == "q8_0");
  CHECK_FALSE(log.caches[0].values.has_value());
  CHECK(size_of(device(log.devices, "CPU").model) == mib(3642269) + mib(3714103));
  CHECK(size_of(device(log.devices, "CUDA0").context) == mib(116665));
  REQUIRE(log.failures.size() == 1);
  CHECK(log.failures[0].recovered);  // memory that is not pinned
  const engine_log transposed = read_llama_cpp_log(
      "llama_new_context_with_model: KV self size  = 1005.79 MiB, c^KV (f16): 1005.79 MiB, kv^T (f16):    "
      "0.50 MiB");
  CHECK(size_of(transposed.caches.at(0).values) == mib(50));
}

TEST_CASE("Ollama: its own engine, and a runner of llama.cpp", "[llama_cpp_log]") {
  const engine_log own = sample("ollama-engine");
  CHECK(own.front_end == "ollama");
  CHECK(own.settings.at("ollama_version") == "0.16.2");
  CHECK(own.model == "Open Twenty");
  CHECK(own.starts == 1);
  REQUIRE(own.devices.size() == 2);
  CHECK(own.devices[0].name == "CUDA0");
  CHECK(own.devices[0].description == "NVIDIA GeForce RTX 3060");
  CHECK(size_of(own.devices[0].model) == 9556302234);  // 8.9 GiB, the layout that was committed
  CHECK(own.devices[0].model->rounding_bytes == 53687092);
  CHECK(size_of(own.devices[0].total) == whole_mib(12288));
  CHECK(size_of(own.devices[1].context) == mib(5870));
  CHECK(size_of(own.devices[1].compute) == mib(560));
  CHECK(size_of(own.total_memory) == 14280766259);
  CHECK(number_of(own.offloaded_layers) == 20);
  CHECK(own.settings.at("Operation") == "commit");
  CHECK(own.settings.at("KvSize") == "16384");
  CHECK(own.settings.at("KvCacheType") == "q8_0");
  CHECK(own.settings.at("GPULayers") == "20[ID:GPU-1 Layers:20(4..23)]");
  CHECK(own.settings.at("model_path") == "/root/.ollama/models/blobs/sha256-0a1b");

  const engine_log runner = sample("ollama-runner");
  CHECK(runner.front_end == "ollama");
  CHECK(runner.starts == 1);  // the vocabulary alone is no start
  CHECK(size_of(device(runner.devices, "ROCm0").model) == mib(415599));
  CHECK(device(runner.devices, "ROCm0").description == "AMD Radeon(TM) RX 6600");
  CHECK_FALSE(runner.total_memory.has_value());
  CHECK(has_note(runner, "Ollama's own figures are its estimate before loading"));
  CHECK(runner.settings.at("n_ctx") == "4096");

  const engine_log early = read_llama_cpp_log(
      "time=2025-07-18T14:50:57.066Z level=INFO source=ggml.go:365 msg=\"model weights\" buffer=CUDA0 "
      "size=\"11.5 GiB\"\n"
      "time=2025-07-18T14:50:58.130Z level=INFO source=ggml.go:672 msg=\"compute graph\" backend=CUDA0 "
      "buffer_type=CUDA0 size=\"1.1 GiB\"\n"
      "time=2025-07-18T14:50:58.130Z level=INFO source=ggml.go:672 msg=\"compute graph\" backend=CPU "
      "buffer_type=CPU size=\"0 B\"\n");
  CHECK(size_of(device(early.devices, "CUDA0").compute) == 1181116006);
  CHECK(size_of(device(early.devices, "CPU").compute) == 0);
  const engine_log estimate = read_llama_cpp_log(
      "time=2025-06-05T12:36:11.458Z level=INFO source=server.go:168 msg=offload library=cuda "
      "layers.requested=-1 layers.model=49 layers.offload=0 layers.split=\"\" memory.available=\"[29.5 "
      "GiB]\" memory.required.full=\"10.5 GiB\" memory.required.kv=\"1.3 GiB\"\n"
      "llama_kv_cache_unified:  CPU KV buffer size =  8.00 MiB\n");
  CHECK(estimate.settings.at("memory.required.full") == "10.5 GiB");
  CHECK(estimate.settings.at("layers.model") == "49");

  // Another model: the last one counts, whichever of the two runs it.
  const engine_log both = read_llama_cpp_log(seed("ollama-runner") + seed("ollama-engine"));
  CHECK(both.starts == 2);
  CHECK(both.model == "Open Twenty");
  CHECK(size_of(device(both.devices, "CPU").context) == mib(5870));
  CHECK(both.caches.empty());
  CHECK(both.settings.count("n_ctx") == 0);
  const engine_log reverse = read_llama_cpp_log(seed("ollama-engine") + seed("ollama-runner"));
  CHECK(reverse.starts == 2);
  CHECK(reverse.model == "Some Llama 8B");
  CHECK(reverse.devices.size() == 3);
}

TEST_CASE("LM Studio: prefixes, carriage returns, decimal commas", "[llama_cpp_log]") {
  const engine_log log = sample("lm-studio");
  CHECK(log.front_end == "lm_studio");
  CHECK(size_of(device(log.devices, "Vulkan0").model) == mib(237540));
  CHECK(device(log.devices, "Vulkan0").model->rounding_bytes == 5244);
  CHECK(size_of(device(log.devices, "Vulkan_Host").compute) == mib(2101));
  CHECK(size_of(log.caches.at(0).keys) == mib(57600));
  CHECK(log.settings.at("kv_unified") == "true");
  REQUIRE(log.breakdown.size() == 2);
  CHECK(log.breakdown[0].description == "Radeon(TM) 760M");
  CHECK(log.model == "C:\\Users\\me\\.lmstudio\\models\\some\\vl-4b\\vl-4b-Q4_K_M.gguf");
}

TEST_CASE("refusals of local engines are kept in their words", "[llama_cpp_log]") {
  const engine_log log = sample("llama-cpp-refusals");
  CHECK(log.settings.at("arch") == "llama");  // through colours
  REQUIRE(log.failures.size() == 4);
  CHECK(log.failures[0].device == "CUDA0");
  CHECK(size_of(log.failures[0].size) == 151851674624);
  CHECK_FALSE(log.failures[0].recovered);
  CHECK(log.failures[1].text == "error loading model: unable to allocate CUDA0 buffer");
  CHECK(log.failures[3].text == "quantized V cache requires flash_attn to be enabled");
  const auto failures = [](const std::string& text) { return read_llama_cpp_log(text).failures; };
  CHECK(failures("llama_new_context_with_model: V cache quantization requires flash_attn").size() == 1);
  const auto device_only = failures(
      "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 9866.00 MiB on device 1: cudaMalloc failed: "
      "out of memory");
  REQUIRE(device_only.size() == 1);
  CHECK(size_of(device_only[0].size) == mib(986600));
  const auto vulkan = failures("ggml_vulkan: Device memory allocation of size 2173698048 failed.");
  CHECK(size_of(vulkan.at(0).size) == 2173698048);
  // That flash attention is switched on for a quantized V cache is no refusal.
  CHECK(failures("llama_context: n_ctx = 1\nllama_init_from_model: enabling flash_attn since it is required "
                 "for quantized V cache")
            .empty());
}

// ---- several loads ---------------------------------------------------------------------------------------

const std::string model_lines =
    "llama_model_loader: loaded meta data with 22 key-value pairs and 291 tensors from m.gguf (version GGUF "
    "V3)\n"
    "load_tensors:  CUDA0 model buffer size =  100.00 MiB\n";
const std::string context_lines =
    "llama_context: n_ctx         = 4096\n"
    "llama_kv_cache:  CUDA0 KV buffer size =  10.00 MiB\n"
    "llama_kv_cache: size =   10.00 MiB (  4096 cells,  4 layers,  1/1 seqs), K (f16):   5.00 MiB, V (f16):  "
    " 5.00 MiB\n"
    "llama_context:  CUDA0 compute buffer size =  30.00 MiB\n";

TEST_CASE("of several loads the last one counts", "[llama_cpp_log]") {
  const engine_log log =
      read_llama_cpp_log(seed("llama-cpp-2024") + seed("llama-cpp-2025-draft") + seed("llama-cpp-2026"));
  CHECK(log.starts == 3);
  CHECK(log.version == "9943");
  CHECK(log.devices.size() == 4);
  CHECK(log.caches.size() == 2);
  CHECK(log.settings.count("n_embd_head_k") == 0);
  CHECK(log.draft_devices.size() == 2);
  CHECK(has_note(log, "3 starts in this log: figures are those of the last, from line"));
  const engine_log reverse = read_llama_cpp_log(seed("llama-cpp-2026") + seed("llama-cpp-2024"));
  CHECK(reverse.starts == 2);
  CHECK(reverse.devices.size() == 4);
  CHECK(reverse.projector_devices.empty());
  CHECK(reverse.draft_devices.empty());
  CHECK(reverse.breakdown.empty());
  CHECK_FALSE(reverse.fit.has_value());
  // Lines alone, as grep leaves them.
  const engine_log bare = read_llama_cpp_log(model_lines + context_lines + model_lines + context_lines);
  CHECK(bare.starts == 2);
  CHECK(size_of(bare.devices.at(0).model) == mib(10000));
  CHECK(size_of(bare.devices.at(0).context) == mib(1000));
  CHECK(bare.caches.size() == 1);
}

TEST_CASE("a second context or model of one program stands apart", "[llama_cpp_log]") {
  const engine_log second = read_llama_cpp_log(model_lines + context_lines + context_lines);
  CHECK(second.starts == 1);
  CHECK(size_of(second.devices.at(0).context) == mib(1000));
  CHECK(size_of(second.draft_devices.at(0).context) == mib(1000));
  CHECK(second.draft_caches.size() == 1);
  // llama-speculative says nothing about its second model.
  const std::string banner = "build: 6123 (79c1160b0) with cc\n";
  const engine_log speculative =
      read_llama_cpp_log(banner + model_lines + context_lines + model_lines + context_lines);
  CHECK(speculative.starts == 1);
  CHECK(size_of(speculative.devices.at(0).model) == mib(10000));
  CHECK(size_of(speculative.draft_devices.at(0).model) == mib(10000));
  CHECK(speculative.settings.at("draft.n_ctx") == "4096");
  // Another program is another start.
  CHECK(read_llama_cpp_log(banner + model_lines + context_lines + banner + model_lines + context_lines)
            .starts == 2);
  // llama-bench makes one context after the other.
  const std::string bench =
      "| model                          |       size | backend    |            test |                  t/s "
      "|\n";
  const engine_log benchmark =
      read_llama_cpp_log(banner + model_lines + context_lines + bench + context_lines + context_lines);
  CHECK(benchmark.draft_devices.empty());
  CHECK(size_of(benchmark.devices.at(0).context) == mib(1000));
  CHECK(size_of(benchmark.devices.at(0).model) == mib(10000));
  CHECK(benchmark.caches.size() == 1);
  CHECK(read_llama_cpp_log(model_lines + context_lines +
                           "~llama_context:      CUDA0 compute buffer size is  30.0000 MiB, matches\n" +
                           context_lines)
            .draft_devices.empty());
}

TEST_CASE("a log that ends within --fit shows a projection", "[llama_cpp_log]") {
  const std::string text = seed("llama-cpp-2026");
  const engine_log log = read_llama_cpp_log(text.substr(0, text.find("0.00.150.000")));
  CHECK(log.projected);
  CHECK(log.breakdown_projected);
  CHECK(size_of(log.breakdown.at(0).unaccounted) == whole_mib(-23716));
  CHECK(has_note(log, "a projection of --fit, which allocates nothing"));
  // The draft that --fit measures is not the model.
  const engine_log extra = read_llama_cpp_log(
      "common_params_fit_impl: getting device memory data for initial parameters:\n" + model_lines +
      context_lines +
      "common_params_fit_impl: getting device memory data for the extra model at a context size of 4096:\n" +
      model_lines + context_lines +
      "common_memory_breakdown_print: |   - Host               |   804 =   682 +       0 +     122   |\n"
      "common_params_fit_impl: projected to use 10 MiB of device memory vs. 20 MiB of free device memory\n"
      "common_fit_params: successfully fit params to free device memory\n" +
      model_lines + context_lines);
  CHECK_FALSE(extra.projected);
  CHECK(extra.starts == 1);
  CHECK(size_of(extra.devices.at(0).model) == mib(10000));
  CHECK(extra.draft_devices.empty());
  CHECK(extra.fit->succeeded == true);
}

TEST_CASE("the engine of a local log is told by its lines", "[llama_cpp_log]") {
  for (const std::string& text : all_seeds()) {
    const engine_log log = read_engine_log(text);
    CHECK(log.engine == "llama_cpp");
    CHECK_FALSE(log.front_end.empty());
  }
  CHECK(read_engine_log("GPU KV cache size: 16 tokens\nAvailable KV cache memory: 8.11 GiB\n")
            .front_end.empty());
  const scratch folder;
  const auto file = folder.write("server.log", seed("llama-cpp-2024"));
  CHECK(read_llama_cpp_log_file(file).devices.size() == 4);
  CHECK(read_engine_log_file(file).devices.size() == 4);
}

TEST_CASE("sums of many buffers are exact", "[llama_cpp_log]") {
  tests::numbers random(20261130);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    std::int64_t sums[3][2] = {};
    const auto line = [&](const char* function, const char* name, const char* kind) {
      const auto hundredths = static_cast<std::int64_t>(random.below(10'000'000));
      char buffer[160];
      std::snprintf(buffer, sizeof buffer, "%s: %10s %s buffer size = %5lld.%02lld MiB\n", function, name,
                    kind, static_cast<long long>(hundredths / 100), static_cast<long long>(hundredths % 100));
      text += buffer;
      return mib(hundredths);
    };
    const char* const names[] = {"CUDA0", "CUDA_Host", "CPU"};
    for (std::size_t lines = random.below(20) + 3; lines > 0; --lines) {
      const std::size_t at = lines % 3;
      sums[at][0] += line("load_tensors", names[at], "model");
    }
    for (std::size_t lines = random.below(20) + 3; lines > 0; --lines) {
      const std::size_t at = lines % 3;
      sums[at][1] += line("llama_kv_cache", names[at], "KV");
    }
    const engine_log log = read_llama_cpp_log(text);
    REQUIRE(log.devices.size() == 3);
    for (std::size_t at = 0; at < 3; ++at) {
      CHECK(size_of(device(log.devices, names[at]).model) == sums[at][0]);
      CHECK(size_of(device(log.devices, names[at]).context) == sums[at][1]);
    }
  }
}

// ---- bad input -------------------------------------------------------------------------------------------

TEST_CASE("numbers of local engines that cannot be kept are skipped with a note", "[llama_cpp_log]") {
  for (const char* number :
       {"9999999999999999 MiB", "99999999999999999999999 MiB", "1e5 MiB", "12.5", "-3.00 MiB", "7 parsecs"}) {
    CAPTURE(number);
    const engine_log log = read_llama_cpp_log(
        "load_tensors:  CPU model buffer size = 1.00 MiB\nllama_context:  CUDA0 compute buffer size = " +
        std::string(number) + "\n");
    CHECK(log.devices.size() == 1);
    CHECK(has_note(log, "line 2: \"" + std::string(number).substr(0, 4)));
  }
  // A sum beyond 63 bits.
  const std::string huge = "load_tensors:  CPU model buffer size = 4398046511103.00 MiB\n";
  const engine_log sum = read_llama_cpp_log(huge + huge + huge);
  CHECK(size_of(sum.devices.at(0).model) == whole_mib(2 * 4398046511103));
  CHECK(has_note(sum, "line 3: a sum that does not fit in 63 bits is left out"));
  const engine_log table = read_llama_cpp_log(
      "load_tensors:  CPU model buffer size = 1.00 MiB\n"
      "llama_memory_breakdown_print: |   - CUDA0 (X) | 1 = 2 + (3 = 4 + 5) + 6 |\n"
      "llama_memory_breakdown_print: |   - CUDA0 (X) | 99999999999999999999 = 2 + (3 = 4 + 5 + 6) + 7 |\n"
      "llama_memory_breakdown_print: |   - | 1 = 2 + 3 + 4 |\n");
  CHECK(table.breakdown.empty());
  CHECK(has_note(table, "line 2: a row of the memory breakdown is skipped"));
  CHECK(has_note(table, "line 3: a row of the memory breakdown is skipped"));
}

TEST_CASE("devices, caches and failures are bounded", "[llama_cpp_log]") {
  std::string text =
      "common_params_fit_impl: projected to use 1 MiB of device memory vs. 2 MiB of free device memory\n";
  for (int i = 0; i < 1000; ++i) {
    const std::string number = std::to_string(i);
    text += "load_tensors:  CUDA" + number + " model buffer size = 1.00 MiB\n";
    text += "llama_memory_breakdown_print: |   - CUDA" + number + " (X) | 7 = 1 + (3 = 1 + 1 + 1) + 3 |\n";
    text += "common_params_fit_impl:   - CUDA" + number +
            " (X): 1 layers ( 0 overflowing), 1 MiB used, 1 MiB free\n";
  }
  for (int i = 0; i < 1000; ++i) {
    text +=
        "llama_kv_cache: size = 1.00 MiB ( 1 cells, 1 layers, 1/1 seqs), K (f16): 0.50 MiB, V (f16): 0.50 "
        "MiB\n";
    text += "graph_reserve: failed to allocate compute buffers\n";
    text += "reserve_compute_meta:  X" + std::to_string(i) + " compute buffer size = 1.00 MiB\n";
  }
  const engine_log log = read_llama_cpp_log(text);
  CHECK(log.devices.size() == 64);
  CHECK(log.caches.size() == 64);
  CHECK(log.failures.size() == 64);
  CHECK(log.breakdown.size() == 64);
  CHECK(log.fit->devices.size() == 64);
  CHECK(log.projector_devices.size() == 64);
  CHECK(has_note(log, "more than 64 devices: others are left out"));
  CHECK(has_note(log, "more than 64 caches: others are left out"));
  CHECK(log.notes.size() < 110);
  const std::string name(65, 'X');
  CHECK(contains(message_of([&] {
                   (void)read_llama_cpp_log("load_tensors: " + name + " model buffer size = 1.00 MiB");
                 }),
                 "no known line of llama.cpp"));
  std::string settings = "print_info: arch = x\n";
  for (int i = 0; i < 5000; ++i) settings += "print_info: k" + std::to_string(i) + " = 1\n";
  CHECK(read_llama_cpp_log(settings).settings.size() == 1024);
  CHECK(read_llama_cpp_log("print_info: arch = " + std::string(20000, 'y')).settings.at("arch").size() ==
        4096 + 3);
  // Brackets and quotes without end.
  for (const char* part : {"(", "[", "{a:", "a=\"", "\\", ": ", "msg=\"", " size = ", "| - ", "- "}) {
    for (const char* begin : {"source=x.go:1 msg=load request=\"{", "llama_kv_cache: size = 1.00 MiB (",
                              "llama_memory_breakdown_print: |   - ", "x: using device A (",
                              "common_params_fit_impl: - A layers "}) {
      std::string line = begin;
      while (line.size() < 100000) line += part;
      try {
        (void)read_llama_cpp_log(line);
      } catch (const input_error&) {
      }
    }
  }
}

TEST_CASE("a local log cut anywhere is read or refused", "[llama_cpp_log]") {
  tests::numbers random(7);
  for (const std::string& text : all_seeds()) {
    for (std::size_t length = 0; length <= text.size(); length += 1 + random.below(16)) {
      const std::string refused = message_of([&] {
        const engine_log log = read_llama_cpp_log(text.substr(0, length), "cut.log");
        REQUIRE(log.devices.size() <= 4);
        REQUIRE(log.caches.size() <= 2);
      });
      if (refused != "nothing was refused") REQUIRE(contains(refused, "cut.log: no known line"));
    }
  }
}

TEST_CASE("damaged local logs are read or refused", "[llama_cpp_log]") {
  tests::numbers random(20261130);
  const std::vector<std::string> originals = all_seeds();
  REQUIRE(originals.size() >= 9);
  int accepted = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = tests::damaged_text(originals, random);
    const std::string refused = message_of([&] {
      const engine_log log = read_llama_cpp_log(text, "damaged.log");
      for (const std::string& note : log.notes) REQUIRE(note.find('\n') == std::string::npos);
      ++accepted;
    });
    if (refused != "nothing was refused") REQUIRE(contains(refused, "damaged.log: "));
  }
  CHECK(accepted > 1500);
}

}  // namespace
