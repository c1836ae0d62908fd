// Servers' command lines as people paste them: what is read from them, and what they mean in the program's
// own options.
#include "pasted_command.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "command_error.hpp"
#include "pasted_options.hpp"
#include "support/catch.hpp"
#include "support/input.hpp"

namespace {

using cli::pasted_command;
using cli::pasted_option;
using cli::read_pasted_command;
using tests::contains;
using words = std::vector<std::string>;

std::string join(const words& list, const std::string& separator) {
  std::string text;
  for (const std::string& each : list) text += (text.empty() ? "" : separator) + each;
  return text;
}

/// `engine model name=value flag no-flag | ignored | unknown`, without what is empty.
std::string summary(const pasted_command& command) {
  std::string text = command.engine + ' ' + command.model;
  for (const pasted_option& option : command.options) {
    text += (option.negated ? " no-" : " ") + option.name;
    if (!option.value.empty()) text += '=' + option.value;
  }
  if (!command.ignored.empty()) text += " | " + join(command.ignored, ", ");
  if (!command.unknown.empty()) text += " || " + join(command.unknown, ", ");
  return text;
}
/// Of one text, split as a shell does; or of words.
std::string read(const std::string& line) { return summary(read_pasted_command({line})); }
std::string read(const words& line) { return summary(read_pasted_command(line)); }

/// The one line that it is refused with; empty if it is not.
std::string refusal(const words& line) {
  try {
    (void)read_pasted_command(line);
  } catch (const cli::command_error& problem) {
    const std::string text = problem.what();
    CHECK(!text.empty());
    CHECK(text.size() < 700);
    for (const char c : text) CHECK((static_cast<unsigned char>(c) >= 0x20 && c != 0x7F));
    return text;
  }
  return {};
}

std::string own_words(const std::string& line) {
  return join(cli::words_of(read_pasted_command({line})), " ");
}

struct pair {
  const char* line;
  const char* expected;
};

TEST_CASE("pasted commands: every form of starting a server") {
  const pair lines[] = {
      {"vllm serve m", "vllm m"},
      {"vllm serve --model m", "vllm m"},
      {"vllm serve --model=m", "vllm m"},
      {"vllm serve m --model m", "vllm m"},
      {"vllm serve --port 1 m", "vllm m | --port 1"},
      {"vllm serve -tp 2 -- m", "vllm m tensor-parallel-size=2"},
      {".venv/bin/vllm serve m", "vllm m"},
      {"/opt/venv/bin/vllm serve ./local/model/", "vllm ./local/model/"},
      {"python -m vllm.entrypoints.openai.api_server --model m", "vllm m"},
      {"python3 -m vllm.entrypoints.api_server --model=m", "vllm m"},
      {"/usr/bin/python3.12 -u -X dev -m vllm.entrypoints.openai.api_server --model m", "vllm m"},
      {"python -O -m vllm.entrypoints.cli.main serve m", "vllm m"},
      {"python /usr/local/bin/vllm serve m", "vllm m"},
      {"python vllm/entrypoints/openai/api_server.py --model m", "vllm m"},
      {"python -m sglang.launch_server --model-path m", "sglang m"},
      {"python3 -m sglang.launch_server --model m", "sglang m"},
      {"sglang serve --model-path m", "sglang m"},
      {"python -m sglang_router.launch_server --model-path m --dp-size 4", "sglang m data-parallel-size=4"},
      {"trtllm-serve m", "tensorrt-llm m"},
      {"trtllm-serve serve m", "tensorrt-llm m"},
      {"trtllm-serve --tp_size 2 m", "tensorrt-llm m tensor-parallel-size=2"},
      {"mpirun -n 2 --allow-run-as-root trtllm-llmapi-launch trtllm-serve m", "tensorrt-llm m"},
      {"python -m tensorrt_llm.commands.serve serve m", "tensorrt-llm m"},
  };
  for (const pair& each : lines) CHECK(read(each.line) == each.expected);
}

TEST_CASE("pasted commands: behind variables, wrappers and shells") {
  const pair lines[] = {
      {"CUDA_VISIBLE_DEVICES=0,1 VLLM_ATTENTION_BACKEND=FLASHINFER VLLM_PP_LAYER_PARTITION=16,32 vllm serve "
       "m",
       "vllm m CUDA_VISIBLE_DEVICES=0,1 VLLM_ATTENTION_BACKEND=FLASHINFER VLLM_PP_LAYER_PARTITION=16,32"},
      {"VLLM_USE_V1=0 VLLM_USE_V1=1 VLLM_LOGGING_LEVEL=DEBUG vllm serve m",
       "vllm m VLLM_USE_V1=1 | VLLM_LOGGING_LEVEL=DEBUG"},
      {"HF_TOKEN=hf_abc vllm serve m", "vllm m | HF_TOKEN"},
      {"export HF_HOME=/models VLLM_USE_V1=1; vllm serve m", "vllm m VLLM_USE_V1=1 | HF_HOME=/models"},
      {"env -u HTTP_PROXY VLLM_MLA_DISABLE=1 vllm serve m", "vllm m VLLM_MLA_DISABLE=1"},
      {"sudo -E -u llm vllm serve m", "vllm m"},
      {"sudo VLLM_USE_V1=1 nohup vllm serve m", "vllm m VLLM_USE_V1=1"},
      {"nohup vllm serve m > vllm.log 2>&1 &", "vllm m"},
      {"exec -a server vllm serve m", "vllm m"},
      {"time -p vllm serve m", "vllm m"},
      {"nice -n 10 ionice -c 3 vllm serve m", "vllm m"},
      {"timeout -k 5 3600 vllm serve m", "vllm m"},
      {"taskset -c 0-15 vllm serve m", "vllm m"},
      {"numactl -N 0 --membind 0 python -m sglang.launch_server --model m", "sglang m"},
      {"numactl --cpunodebind=0 vllm serve m", "vllm m"},
      {"uv run vllm serve m", "vllm m"},
      {"uv run --with vllm --python 3.12 -- vllm serve m", "vllm m"},
      {"uvx --from vllm vllm serve m", "vllm m"},
      {"conda run -n llm --no-capture-output vllm serve m", "vllm m"},
      {"poetry run python -m vllm.entrypoints.openai.api_server --model m", "vllm m"},
      {"bash -c 'vllm serve m -tp 2'", "vllm m tensor-parallel-size=2"},
      {"sh -lc \"cd /srv && source .venv/bin/activate && exec vllm serve 'm'\"", "vllm m"},
      {"cd /models && vllm serve m || echo failed", "vllm m"},
      {"# a comment\nvllm serve m # the model\n", "vllm m"},
      {"(vllm serve m &)", "vllm m"},
  };
  for (const pair& each : lines) CHECK(read(each.line) == each.expected);
}

TEST_CASE("pasted commands: in containers") {
  const pair lines[] = {
      {"docker run --gpus all vllm/vllm-openai:v0.21.0 --model m", "vllm m version=0.21.0"},
      {"docker run --gpus all vllm/vllm-openai:latest m -tp 2", "vllm m tensor-parallel-size=2"},
      {"docker run vllm/vllm-openai:v0.9.1-cu128 serve m", "vllm m version=0.9.1"},
      {"docker run vllm/vllm-openai@sha256:0123 m", "vllm m"},
      {"sudo docker run --runtime nvidia --gpus '\"device=0,1\"' -v "
       "~/.cache/huggingface:/root/.cache/huggingface "
       "--env \"HUGGING_FACE_HUB_TOKEN=x\" -e VLLM_USE_V1=1 -p 8000:8000 --ipc=host -it --rm "
       "vllm/vllm-openai:v0.10.2 --model m --max-model-len 4096",
       "vllm m version=0.10.2 VLLM_USE_V1=1 max-model-len=4096 | HUGGING_FACE_HUB_TOKEN"},
      {"docker run -itp8000:8000 --shm-size 32g --privileged localhost:5000/vllm/vllm-openai:v0.20 m",
       "vllm m version=0.20"},
      {"docker run --entrypoint vllm nvcr.io/nvidia/vllm:25.11-py3 serve m", "vllm m"},
      {"docker run --entrypoint /bin/bash vllm/vllm-openai:v0.21.0 -c 'vllm serve m -tp 4'",
       "vllm m version=0.21.0 tensor-parallel-size=4"},
      {"podman run --device nvidia.com/gpu=all docker.io/vllm/vllm-openai:v0.27.1 --model m",
       "vllm m version=0.27.1"},
      {"docker container run rocm/vllm:latest vllm serve m", "vllm m"},
      {"docker run --gpus all --shm-size 32g lmsysorg/sglang:v0.5.3-cu126 python3 -m sglang.launch_server "
       "--model-path m --host 0.0.0.0",
       "sglang m version=0.5.3 | --host 0.0.0.0"},
      {"docker run --rm -it nvcr.io/nvidia/tensorrt-llm/release:1.1.0rc2 trtllm-serve m",
       "tensorrt-llm m version=1.1.0"},
  };
  for (const pair& each : lines) CHECK(read(each.line) == each.expected);
}

TEST_CASE("pasted commands: options in all of their spellings") {
  const pair lines[] = {
      {"vllm serve m --tensor-parallel-size 2 -pp 3 -dp=4 -dcp 5 -pcp 6 -ep",
       "vllm m tensor-parallel-size=2 pipeline-parallel-size=3 data-parallel-size=4 "
       "decode-context-parallel-size=5 prefill-context-parallel-size=6 enable-expert-parallel"},
      {"vllm serve m --max_model_len 32768 --gpu_memory_utilization=0.95",
       "vllm m max-model-len=32768 gpu-memory-utilization=0.95"},
      {"vllm serve m -tp 2 --tensor_parallel_size=8", "vllm m tensor-parallel-size=8"},
      {"vllm serve m --enable-prefix-caching --no-enable-prefix-caching", "vllm m no-enable-prefix-caching"},
      {"vllm serve m --no-enable-prefix-caching --enable_prefix_caching", "vllm m enable-prefix-caching"},
      {"vllm serve m --enable-chunked-prefill False --enforce-eager=true",
       "vllm m no-enable-chunked-prefill enforce-eager"},
      {"vllm serve m --no-enable-log-requests", "vllm m | --no-enable-log-requests"},
      {"vllm serve m --max-model-len 32k", "vllm m max-model-len=32000"},
      {"vllm serve m --max-model-len 16K", "vllm m max-model-len=16384"},
      {"vllm serve m --max-model-len 1M", "vllm m max-model-len=1048576"},
      {"vllm serve m --max-model-len 25.6k", "vllm m max-model-len=25600"},
      {"vllm serve m --max-model-len auto", "vllm m max-model-len=-1"},
      {"vllm serve m --max-model-len -1", "vllm m max-model-len=-1"},
      {"vllm serve m --max-model-len=-1", "vllm m max-model-len=-1"},
      {"vllm serve m --max-model-len $LEN -tp ${TP:-2}",
       "vllm m max-model-len=$LEN tensor-parallel-size=${TP:-2}"},
      {"vllm serve m --kv-cache-memory-bytes 10G --max-num-batched-tokens 8k",
       "vllm m kv-cache-memory-bytes=10737418240 max-num-batched-tokens=8000"},
      {"vllm serve m -O3", "vllm m optimization-level=3"},
      {"vllm serve m -O=2", "vllm m optimization-level=2"},
      {"vllm serve m -O 0", "vllm m optimization-level=0"},
      {"vllm serve m -O '{\"level\": 3}'", "vllm m compilation-config={\"level\":3}"},
      {"vllm serve m -O.cudagraph_mode FULL", "vllm m compilation-config={\"cudagraph_mode\":\"FULL\"}"},
      {"vllm serve m -q fp8", "vllm m quantization=fp8"},
      {"vllm serve m -qfp8 -ac.backend=FLASH_ATTN",
       "vllm m quantization=fp8 attention-config={\"backend\":\"FLASH_ATTN\"}"},
      {"vllm serve m --speculative-config '{\"method\": \"mtp\", \"num_speculative_tokens\": 2}'",
       "vllm m speculative-config={\"method\":\"mtp\",\"num_speculative_tokens\":2}"},
      {"vllm serve m --speculative-config.method mtp --speculative_config.num_speculative_tokens=2",
       "vllm m speculative-config={\"method\":\"mtp\",\"num_speculative_tokens\":2}"},
      {"vllm serve m -cc.pass_config.fuse true -cc.sizes+ 1,2 -cc.sizes+=4 -cc.budget 80g",
       "vllm m "
       "compilation-config={\"budget\":80000000000,\"pass_config\":{\"fuse\":true},\"sizes\":[\"1\",\"2\","
       "\"4\"]}"},
      {"vllm serve m --hf-overrides '{\"rope_scaling\": {\"factor\": 4.0}}'",
       "vllm m hf-overrides={\"rope_scaling\":{\"factor\":4.0}}"},
      {"vllm serve m --limit-mm-per-prompt '{\"image\":2}'", "vllm m limit-mm-per-prompt={\"image\":2}"},
      {"vllm serve m --limit-mm-per-prompt image=2,video=1",
       "vllm m limit-mm-per-prompt={\"image\":2,\"video\":1}"},
      {"vllm serve m --compilation-config 3", "vllm m compilation-config=3"},
      {"vllm serve m --cudagraph-capture-sizes 1 2 4 --cuda-graph-sizes 8 16 --enforce-eager",
       "vllm m cudagraph-capture-sizes=8,16 enforce-eager"},
      {"vllm serve m --kv-cache-dtype-skip-layers sliding_window 0 1",
       "vllm m kv-cache-dtype-skip-layers=sliding_window,0,1"},
      {"vllm serve m --max-num-se 64 --gpu-mem 0.5", "vllm m max-num-seqs=64 gpu-memory-utilization=0.5"},
      {"vllm serve m --kv-transfer-config='{\"kv_connector\":\"X\"}'",
       "vllm m kv-transfer-config={\"kv_connector\":\"X\"}"},
      {"python -m sglang.launch_server --model-path m --tp 8 --pp 2 --dp 4 --ep 8 --mem-frac 0.8",
       "sglang m tensor-parallel-size=8 pipeline-parallel-size=2 data-parallel-size=4 expert-parallel-size=8 "
       "mem-fraction-static=0.8"},
      {"python -m sglang.launch_server --model-path m --tp-size 8 --pp-size 2 --dp-size 4 --ep-size 8",
       "sglang m tensor-parallel-size=8 pipeline-parallel-size=2 data-parallel-size=4 "
       "expert-parallel-size=8"},
      {"python -m sglang.launch_server --model-path m --context-length 32768 --chunked-prefill-size -1 "
       "--kv-cache-dtype "
       "fp8_e5m2 --page-size 64 --max-running-requests 128 --cuda-graph-max-bs 160 --enable-dp-attention",
       "sglang m context-length=32768 chunked-prefill-size=-1 kv-cache-dtype=fp8_e5m2 page-size=64 "
       "max-running-requests=128 cuda-graph-max-bs=160 enable-dp-attention"},
      {"python -m sglang.launch_server --model-path m --swa-full-tokens-ratio 0.5 --mamba-full-memory-ratio "
       "0.9 "
       "--max-mamba-cache-size 64 --max-total-tokens 100000 --disable-radix-cache --disable-cuda-graph",
       "sglang m swa-full-tokens-ratio=0.5 mamba-full-memory-ratio=0.9 max-mamba-cache-size=64 "
       "max-total-tokens=100000 "
       "disable-radix-cache disable-cuda-graph"},
      {"python -m sglang.launch_server --model-path m --enable-hierarchical-cache --hicache-ratio 2 "
       "--hicache-size 100",
       "sglang m enable-hierarchical-cache hicache-ratio=2 hicache-size=100"},
      {"python -m sglang.launch_server --model-path m --speculative-algorithm EAGLE3 "
       "--speculative-draft-model d "
       "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
       "sglang m speculative-algorithm=EAGLE3 speculative-draft-model-path=d speculative-num-steps=3 "
       "speculative-eagle-topk=1 speculative-num-draft-tokens=4"},
      {"python -m sglang.launch_server --model-path m --cuda-graph-bs 1 2 4 8 --trust-remote-code",
       "sglang m cuda-graph-bs=1,2,4,8 | --trust-remote-code"},
      {"trtllm-serve m --tp_size 2 --pp_size 3 --ep_size 4 --max_batch_size 64 --max_num_tokens 8192 "
       "--max_seq_len 4096 "
       "--kv_cache_free_gpu_memory_fraction 0.8 --kv_cache_dtype fp8 --backend pytorch",
       "tensorrt-llm m tensor-parallel-size=2 pipeline-parallel-size=3 moe-expert-parallel-size=4 "
       "max-batch-size=64 "
       "max-num-tokens=8192 max-seq-len=4096 free-gpu-memory-fraction=0.8 kv-cache-dtype=fp8 "
       "backend=pytorch"},
      {"trtllm-serve m --free_gpu_memory_fraction=0.7 --tensor_parallel_size 8 --tensor-parallel-size 4",
       "tensorrt-llm m free-gpu-memory-fraction=0.7 tensor-parallel-size=4"},
  };
  for (const pair& each : lines) CHECK(read(each.line) == each.expected);
}

TEST_CASE("pasted commands: what is ignored and what is unknown") {
  const pair lines[] = {
      {"vllm serve m --port 8000 --host=0.0.0.0 --trust-remote-code --served-model-name a b "
       "--disable-log-requests",
       "vllm m | --port 8000, --host=0.0.0.0, --trust-remote-code, --served-model-name a b, "
       "--disable-log-requests"},
      {"vllm serve m --api-key sk-1 sk-2 --hf-token=hf_x", "vllm m | --api-key, --hf-token"},
      {"vllm serve m --override-generation-config.temperature 0.6",
       "vllm m | --override-generation-config.temperature 0.6"},
      {"vllm serve m --tool-call-parser hermes --enable-auto-tool-choice",
       "vllm m | --tool-call-parser hermes, --enable-auto-tool-choice"},
      {"vllm serve m --max-modl-len 5",
       "vllm m || --max-modl-len 5, did you mean --max-model-len, --max-log-len?"},
      {"vllm serve m --brand-new-option 5 --another-flag", "vllm m || --brand-new-option 5, --another-flag"},
      {"vllm serve --brand-new-flag m", "vllm m || --brand-new-flag"},
      {"vllm serve --brand-new-option 5 m", "vllm m || --brand-new-option 5"},
      {"vllm serve --brand-new-option 5 --model m", "vllm m || --brand-new-option 5"},
      {"vllm serve m stray", "vllm m || stray"},
      {"vllm serve m --block-size.x 5 -tp 2",
       "vllm m tensor-parallel-size=2 || --block-size.x 5, did you mean --block-size?"},
      {"vllm serve m --config vllm.yaml",
       "vllm m || --config vllm.yaml (the file is not read: give its options here)"},
      {"trtllm-serve m --extra_llm_api_options a.yaml",
       "tensorrt-llm m || --extra_llm_api_options a.yaml (the file is not read: give its options here)"},
      {"trtllm-serve m --config a.yaml --log_level info",
       "tensorrt-llm m | --log_level info || --config a.yaml (the file is not read: give its options here)"},
      {"trtllm-serve m --max_batch 5", "tensorrt-llm m || --max_batch 5, did you mean --max-batch-size?"},
      {"python -m sglang.launch_server --model m --tpsize 2",
       "sglang m || --tpsize 2, did you mean --tp-size, --pp-size, --dp-size, --ep-size?"},
      {"python -m vllm.entrypoints.openai.api_server --model m stray", "vllm m || stray"},
  };
  for (const pair& each : lines) CHECK(read(each.line) == each.expected);
}

TEST_CASE("pasted commands: one text is split as a shell does it") {
  const pair lines[] = {
      {"vllm serve 'my model'", "vllm my model"},
      {"vllm serve \"a\\\"b\\$c\\d\"", "vllm a\"b$c\\d"},
      {"vllm serve my\\ model", "vllm my model"},
      {"vllm serve m \\\n  --max-model-len \\\n 32768 \\\n", "vllm m max-model-len=32768"},
      {"vllm serve m \\\r\n  -tp 2\r\n", "vllm m tensor-parallel-size=2"},
      {"vllm serve m \\ \n  -tp 2", "vllm m tensor-parallel-size=2"},
      {"vllm serve m\n  -tp 2\n  -pp 2", "vllm m tensor-parallel-size=2 pipeline-parallel-size=2"},
      {"vllm serve $MODEL", "vllm $MODEL"},
      {"vllm serve \"$MODEL\" -tp $(nvidia-smi -L | wc -l)",
       "vllm $MODEL tensor-parallel-size=$(nvidia-smi -L | wc -l)"},
      {"vllm serve m -tp `nproc --all`", "vllm m tensor-parallel-size=`nproc --all`"},
      {"vllm serve m | tee log", "vllm m"},
      {"vllm serve m > log 2>&1", "vllm m"},
      {"vllm serve m 2>/dev/null -tp 2", "vllm m tensor-parallel-size=2"},
      {"vllm serve m &> log &", "vllm m"},
      {"vllm serve m >> log; echo done", "vllm m"},
      {"vllm serve m < /dev/null", "vllm m"},
      {"vllm serve a#b", "vllm a#b"},
      {"vllm serve m --chat-template '' -tp 2", "vllm m tensor-parallel-size=2 | --chat-template "},
  };
  for (const pair& each : lines) CHECK(read(each.line) == each.expected);

  CHECK(read(words{"vllm", "serve", "m", "-tp", "2", "2>&1", "|", "tee", "log"}) ==
        "vllm m tensor-parallel-size=2");
  CHECK(read(words{"vllm", "serve", "m", ">", "log", "-tp", "2", "&"}) == "vllm m tensor-parallel-size=2");
  CHECK(read(words{"vllm", "serve", "m", ">log", "2>", "errors", "-tp", "2"}) ==
        "vllm m tensor-parallel-size=2");
  CHECK(read(words{"vllm", "serve", "my model", "--hf-overrides", "{\"a\": 1}"}) ==
        "vllm my model hf-overrides={\"a\":1}");
  CHECK(read(words{"vllm", "serve", "m", " ", "-tp", "2"}) == "vllm m tensor-parallel-size=2");
  CHECK(read(words{"--", "vllm", "serve", "m"}) == "vllm m");
}

TEST_CASE("pasted commands: every spelling of every known option is found") {
  using namespace cli::pasted;
  const auto split = [](const std::string& text, char separator) {
    words parts(1);
    for (const char c : text) {
      if (c == separator) {
        parts.emplace_back();
      } else {
        parts.back() += c;
      }
    }
    std::erase_if(parts, [](const std::string& part) { return part.empty(); });
    return parts;
  };
  for (const engine_entry& engine : engines) {
    const std::string name = engine.name;
    const words start = name == "vllm"        ? words{"vllm", "serve", "m"}
                        : name == "sglang"    ? words{"sglang", "serve", "m"}
                        : name == "llama.cpp" ? words{"llama-server", "-m", "m"}
                        : name == "ollama"    ? words{"ollama", "run", "m"}
                                              : words{"trtllm-serve", "m"};
    std::set<std::string> seen;
    for (const option_group* group = engine.first; group != engine.last; ++group) {
      for (const std::string& names : split(group->names, ' ')) {
        const words spellings = split(names, '|');
        for (const std::string& bare : spellings) {
          const std::string spelling = bare[0] == '-' ? bare : "--" + bare;
          INFO(name << " " << spelling);
          CHECK(seen.insert(spelling).second);
          if (spellings.front() == engine.model || spellings.front() == engine.repository) continue;
          words line = start;
          line.push_back(spelling);
          const bool flag = group->value == takes::nothing;
          const std::string value = group->value == takes::json ? "{\"a\":1}" : "7";
          if (!flag) line.push_back(value);
          const pasted_command command = read_pasted_command(line);
          CHECK(command.model == "m");
          if (group->changes == effect::memory) {
            REQUIRE(command.options.size() == 1);
            CHECK(command.options.front() == pasted_option{spellings.front(), flag ? "" : value, false});
          } else if (group->changes == effect::file) {
            CHECK(command.unknown.size() == 1);
          } else {
            const bool secret = group->changes == effect::secret;
            CHECK(command.ignored == words{flag || secret ? spelling : spelling + ' ' + value});
          }
          CHECK(command.options.size() + command.ignored.size() + command.unknown.size() == 1);
        }
      }
    }
    CHECK(seen.size() > 20);
  }
}

TEST_CASE("pasted commands: what they mean in the program's own options") {
  const pair lines[] = {
      {"vllm serve meta-llama/Llama-3.1-70B --tensor-parallel-size 2 --kv-cache-dtype fp8 --max-model-len "
       "32768 "
       "--gpu-memory-utilization 0.95",
       "--engine=vllm --model=meta-llama/Llama-3.1-70B --tensor-parallel=2 --kv-cache-dtype=fp8 "
       "--max-model-len=32768 "
       "--context=32768 --gpu-memory-utilization=0.95"},
      {"docker run vllm/vllm-openai:v0.21.0 m", "--engine=vllm@0.21 --model=m --tensor-parallel=1"},
      {"docker run vllm/vllm-openai:v0.21 m", "--engine=vllm@0.21 --model=m --tensor-parallel=1"},
      {"docker run lmsysorg/sglang:v0.5.3 sglang serve m",
       "--engine=sglang@0.5.3 --model=m --tensor-parallel=1"},
      {"vllm serve m -tp 2 -pp 3 -dp 4 -dcp 2 --enable-expert-parallel",
       "--engine=vllm --model=m --tensor-parallel=2 --pipeline-parallel=3 --data-parallel=4 "
       "--decode-context-parallel=2 --expert-parallel=8"},
      {"vllm serve m -ep", "--engine=vllm --model=m --expert-parallel=1 --tensor-parallel=1"},
      {"vllm serve m -ep --no-enable-expert-parallel", "--engine=vllm --model=m --tensor-parallel=1"},
      {"vllm serve m -tp $TP -ep", "--engine=vllm --model=m --tensor-parallel=$TP --enable-expert-parallel"},
      {"vllm serve m --dtype bfloat16", "--engine=vllm --model=m --dtype=bfloat16 --tensor-parallel=1"},
      {"vllm serve m --dtype auto --kv-cache-dtype auto", "--engine=vllm --model=m --tensor-parallel=1"},
      {"vllm serve m -q fp8", "--engine=vllm --model=m --weights=fp8_linear --tensor-parallel=1"},
      {"vllm serve m-FP8 -q fp8", "--engine=vllm --model=m-FP8 --tensor-parallel=1"},
      {"vllm serve m -q awq_marlin", "--engine=vllm --model=m --tensor-parallel=1"},
      {"vllm serve m -q gptq", "--engine=vllm --model=m --tensor-parallel=1"},
      {"vllm serve m -q bitsandbytes", "--engine=vllm --model=m --weights=nf4 --tensor-parallel=1"},
      {"vllm serve m -q something-new",
       "--engine=vllm --model=m --quantization=something-new --tensor-parallel=1"},
      {"vllm serve m --max-model-len auto", "--engine=vllm --model=m --max-model-len=-1 --tensor-parallel=1"},
      {"vllm serve m --no-enable-prefix-caching --enforce-eager",
       "--engine=vllm --model=m --no-enable-prefix-caching --enforce-eager --tensor-parallel=1"},
      {"vllm serve m --speculative-config '{\"num_speculative_tokens\":3}'",
       "--engine=vllm --model=m --speculative-config={\"num_speculative_tokens\":3} --tensor-parallel=1"},
      {"vllm serve m --speculative-config "
       "'{\"method\":\"medusa\",\"model\":\"d\",\"num_speculative_tokens\":3}'",
       "--engine=vllm --model=m "
       "--speculative-config={\"method\":\"medusa\",\"model\":\"d\",\"num_speculative_tokens\":3} "
       "--tensor-parallel=1"},
      {"vllm serve m --speculative-config.method deepseek_mtp --speculative-config.num_speculative_tokens 2",
       "--engine=vllm --model=m --speculative-method=mtp --speculative-tokens=2 --tensor-parallel=1"},
      {"vllm serve m --speculative-config "
       "'{\"method\":\"eagle3\",\"model\":\"d\",\"num_speculative_tokens\":3}'",
       "--engine=vllm --model=m --speculative-method=eagle --speculative-model=d --speculative-tokens=3 "
       "--tensor-parallel=1"},
      {"vllm serve m --speculative-config '{\"model\":\"d\",\"num_speculative_tokens\":3}'",
       "--engine=vllm --model=m --speculative-model=d --speculative-tokens=3 --tensor-parallel=1"},
      {"vllm serve m --speculative-model d --num-speculative-tokens 5",
       "--engine=vllm --model=m --speculative-model=d --speculative-tokens=5 --tensor-parallel=1"},
      {"vllm serve m --speculative-model [ngram] --num-speculative-tokens 5",
       "--engine=vllm --model=m --speculative-method=ngram --speculative-tokens=5 --tensor-parallel=1"},
      {"vllm serve m --enable-lora",
       "--engine=vllm --model=m --max-loras=1 --max-lora-rank=16 --tensor-parallel=1"},
      {"vllm serve m --enable-lora --max-loras 4 --max-lora-rank 32",
       "--engine=vllm --model=m --max-loras=4 --max-lora-rank=32 --tensor-parallel=1"},
      {"vllm serve m --max-loras 4", "--engine=vllm --model=m --tensor-parallel=1"},
      {"sglang serve m --tp 8 --speculative-algorithm EAGLE --speculative-num-steps 3 "
       "--speculative-draft-model-path lmsys/DeepSeek-V3-NextN",
       "--engine=sglang --model=m --tensor-parallel=8 --speculative-method=mtp --speculative-tokens=3"},
      {"sglang serve m --tp 1 --speculative-algorithm EAGLE3 --speculative-num-steps 3 "
       "--speculative-draft-model-path d --speculative-num-draft-tokens 4",
       "--engine=sglang --model=m --tensor-parallel=1 --speculative-method=eagle --speculative-tokens=3 "
       "--speculative-model=d --speculative-num-draft-tokens=4"},
      {"VLLM_PP_LAYER_PARTITION=1,2 vllm serve m",
       "--engine=vllm --model=m --VLLM_PP_LAYER_PARTITION=1,2 --tensor-parallel=1"},
      {"sglang serve m --tp 8 --ep 8 --context-length 4096",
       "--engine=sglang --model=m --tensor-parallel=8 --expert-parallel=8 --context-length=4096 "
       "--context=4096"},
      {"sglang serve m --tp 2 --dp 4", "--engine=sglang --model=m --tensor-parallel=2 --data-parallel=4"},
      {"sglang serve m --tp 8 --dp 8 --enable-dp-attention",
       "--engine=sglang --model=m --tensor-parallel=8 --data-parallel=8 --enable-dp-attention"},
      {"trtllm-serve m --tp_size 8 --ep_size 4 --max_seq_len 8192 --kv_cache_free_gpu_memory_fraction 0.8",
       "--engine=tensorrt-llm --model=m --tensor-parallel=8 --expert-parallel=4 --max-seq-len=8192 "
       "--context=8192 "
       "--free-gpu-memory-fraction=0.8"},
  };
  for (const pair& each : lines) CHECK(own_words(each.line) == each.expected);
}

TEST_CASE("pasted commands: llama.cpp's options, variables and models") {
  const auto own_words = [](const char* line) { return cli::words_of(read_pasted_command({line})); };
  CHECK(own_words("llama-server -m /x/Qwen3-8B-Q8_0.gguf -c 8192 -np -1 -fa --no-mmap -kvo --port 80") ==
        words{"--engine=llama.cpp", "--model=Qwen3-8B-Q8_0", "--fit=say", "--ctx-size=8192",
              "--flash-attn=on", "--no-mmap"});
  CHECK(
      own_words("llama-cli -hf a/B-GGUF:Q4_0 -hff B-Q6_K.gguf -ot a=CPU -ot b=CPU -fa 0 --mlock -dev none") ==
      words{"--engine=llama.cpp", "--model=B-Q6_K", "--program=llama-cli", "--fit=say",
            "--override-tensor=a=CPU,b=CPU", "--flash-attn=off", "--load-mode=mlock", "--device=none"});
  // The command line counts instead of variables; a flag that is off says the opposite, if there is one.
  CHECK(own_words("LLAMA_ARG_CTX_SIZE=1 LLAMA_ARG_KV_OFFLOAD=0 LLAMA_ARG_SWA_FULL=off LLAMA_ARG_CPU_MOE=true "
                  "LLAMA_ARG_HF_REPO=a/b llama-server -c 2") == words{"--engine=llama.cpp", "--model=a/b",
                                                                      "--fit=say", "--ctx-size=2",
                                                                      "--no-kv-offload", "--cpu-moe"});
  // --fit is on unless it is said to be off; then what it aims at is nothing.
  CHECK(own_words("LLAMA_ARG_FIT=on llama-server -m m -fitt 512 -fitc 8192") ==
        words{"--engine=llama.cpp", "--model=m", "--fit=say", "--fit-target=512", "--fit-ctx=8192"});
  CHECK(own_words("llama-server -m m -fitt 512 -fit off") ==
        words{"--engine=llama.cpp", "--model=m", "--fit=off"});
  // Nothing is glued to a single letter here.
  CHECK(read_pasted_command({"llama-server", "-m", "m", "-c4096"}).unknown == words{"-c4096"});
  CHECK(read_pasted_command({"docker run ghcr.io/ggml-org/llama.cpp:server-cuda -m m"}).program ==
        "llama-server");
}

TEST_CASE("pasted commands: Ollama's variables, and servers that name no model") {
  const auto own_words = [](const char* line) { return cli::words_of(read_pasted_command({line})); };
  const words all{"--engine=ollama",      "--model=a:8b",         "--num-ctx=8192",      "--num-parallel=4",
                  "--kv-cache-type=q8_0", "--flash-attention=on", "--gpu-overhead=1000", "--sched-spread"};
  const std::string variables =
      "OLLAMA_CONTEXT_LENGTH=8192 OLLAMA_NUM_PARALLEL=4 OLLAMA_KV_CACHE_TYPE=q8_0 "
      "OLLAMA_FLASH_ATTENTION=true "
      "OLLAMA_GPU_OVERHEAD=1000 OLLAMA_SCHED_SPREAD=1 ";
  CHECK(own_words((variables + "ollama run a:8b --verbose hello").c_str()) == all);
  CHECK(own_words((variables + "ollama serve & ollama run a:8b").c_str()) == all);
  CHECK(own_words("docker run -d -e OLLAMA_NUM_PARALLEL=4 -e OLLAMA_FLASH_ATTENTION=0 ollama/ollama") ==
        words{"--engine=ollama", "--num-parallel=4", "--flash-attention=off"});
  CHECK(own_words("docker run ollama/ollama:0.5.1 run a:8b") == words{"--engine=ollama", "--model=a:8b"});
  CHECK(own_words("OLLAMA_NUM_PARALLEL=0 OLLAMA_KV_CACHE_TYPE= OLLAMA_SCHED_SPREAD=0 ollama serve") ==
        words{"--engine=ollama"});
  CHECK(read_pasted_command({"OLLAMA_KEEP_ALIVE=-1 ollama run a hello there"}).ignored ==
        words{"OLLAMA_KEEP_ALIVE=-1", "hello", "there"});
}

TEST_CASE("pasted commands: a model that exists is a path") {
  const tests::scratch files;
  const std::filesystem::path& folder = files.path();
  std::filesystem::create_directories(folder / "config-only");
  std::filesystem::create_directories(folder / "checkpoint");
  for (const char* file :
       {"config-only/config.json", "checkpoint/config.json", "checkpoint/model.safetensors", "m.gguf"}) {
    files.write(file, "{}");
  }
  const auto model_word = [&](const std::filesystem::path& path) {
    return cli::words_of(read_pasted_command({"vllm", "serve", path.string()})).at(1);
  };
  CHECK(model_word(folder / "config-only") ==
        "--config=" + (folder / "config-only" / "config.json").string());
  CHECK(model_word(folder / "checkpoint") == "--safetensors=" + (folder / "checkpoint").string());
  CHECK(model_word(folder / "checkpoint/model.safetensors") ==
        "--safetensors=" + (folder / "checkpoint/model.safetensors").string());
  CHECK(model_word(folder / "config-only/config.json") ==
        "--config=" + (folder / "config-only/config.json").string());
  CHECK(model_word(folder / "m.gguf") == "--gguf=" + (folder / "m.gguf").string());
  CHECK(model_word(folder / "missing.gguf") == "--model=missing");
  CHECK(model_word(folder / "missing-Q8_0-00001-of-00002.gguf") == "--model=missing-Q8_0");
  CHECK(model_word(".gguf") == "--model=.gguf");
}

TEST_CASE("pasted commands: what is no server's command is refused in one line") {
  const pair lines[] = {
      {"", "is empty"},
      {"   \n ", "is empty"},
      {"--", "starts no server"},
      {"# only a comment", "is empty"},
      {"vllm", "is vllm, which starts no server"},
      {"vllm bench serve --model m", "is vllm bench, which starts no server: paste vllm serve MODEL"},
      {"vllm --version", "is vllm --version"},
      {"sglang generate --model m", "is sglang generate"},
      {"trtllm-serve disaggregated -c x", "trtllm-serve disaggregated: only"},
      {"python -m vllm.benchmarks.serve", "\"python -m vllm.benchmarks.serve\" starts no server"},
      {"python -m", "\"python -m \" starts no server"},
      {"python", "\"python\" starts no server"},
      {"python -c 'import vllm'", "runs Python code"},
      {"python server.py", "\"python server.py\" starts no server"},
      {"llama-box -m m.gguf", "\"llama-box\" starts no server that is understood, expected vllm serve"},
      {"ollama pull a", "\"ollama pull\" starts no server that is understood"},
      {"ollama", "\"ollama\" starts no server that is understood"},
      {"docker run ollama/ollama sh", "in the image \"ollama/ollama\""},
      {"llama-server -c 4096", "names no model, expected --model MODEL"},
      {"llama-server -m m.gguf -c", "--ctx-size: needs a value"},
      {"docker compose up", "is docker compose, expected docker run"},
      {"docker", "is docker, expected docker run"},
      {"docker run --rm", "without an image"},
      {"docker run ubuntu", "in the image \"ubuntu\""},
      {"docker run vllm/vllm-openai", "in the image \"vllm/vllm-openai\""},
      {"docker run nvcr.io/nvidia/vllm:25.11-py3 --model m", "in the image"},
      {"sudo", "starts no server"},
      {"VLLM_USE_V1=1", "starts no server"},
      {"vllm serve", "names no model, expected MODEL"},
      {"vllm serve --config c.yaml", "names no model, expected MODEL (the file that it names is not read)"},
      {"vllm serve --model", "--model: needs a value"},
      {"vllm serve a --model b", "names two models, \"a\" and \"b\""},
      {"python -m vllm.entrypoints.openai.api_server m", "expected --model MODEL"},
      {"python -m sglang.launch_server", "expected --model-path MODEL"},
      {"vllm serve m -tp", "--tensor-parallel-size: needs a value"},
      {"vllm serve m -tp --port 1", "--tensor-parallel-size: needs a value"},
      {"vllm serve m -O", "-O: needs a value"},
      {"vllm serve m --max-model-len 32q", "--max-model-len: \"32q\" is not a whole number"},
      {"vllm serve m --max-model-len 1.5K", "--max-model-len: \"1.5K\""},
      {"vllm serve m --max-model-len ''", "--max-model-len: \"\""},
      {"vllm serve m --max-model-len 99999999999999999999", "is not a whole number"},
      {"vllm serve m --max-model-len 9999999999999T", "is not a whole number"},
      {"vllm serve m --enforce-eager=maybe", "--enforce-eager: \"maybe\" is not True or False"},
      {"vllm serve m --hf-overrides '{'", "--hf-overrides: is not valid JSON"},
      {"vllm serve m --hf-overrides \"{'a': 1}\"", "--hf-overrides: is not valid JSON"},
      {"vllm serve m --hf-overrides '{\"a\":1,\"a\":2}'", "occurs twice"},
      {"vllm serve m --limit-mm-per-prompt image=2,=3", "\"=3\" is not KEY=VALUE"},
      {"vllm serve m --speculative-config.method", "--speculative-config.method: needs a value"},
      {"vllm serve m --hf-overrides.a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q 1", "more than 16 keys"},
      {"vllm serve 'm", "' is not closed"},
      {"vllm serve \"m", "\" is not closed"},
      {"vllm serve `m", "` is not closed"},
      {"vllm serve $(m", "( is not closed"},
      {"sh -c \"sh -c 'sh -c \\\"sh -c \\\\\\\"sh -c x\\\\\\\"\\\"'\"", "shells inside each other"},
  };
  for (const pair& each : lines) {
    INFO(each.line);
    CHECK(contains(refusal({each.line}), each.expected));
  }
  CHECK(contains(refusal({}), "is empty"));
  CHECK(contains(refusal({"--"}), "starts no server"));
}

TEST_CASE("pasted commands: hostile input ends in one line") {
  CHECK(contains(refusal({"vllm", "serve", std::string("m\0x", 3)}), "zero byte"));
  CHECK(contains(refusal({std::string(1 << 20, 'x')}), "a word of 1048576 bytes"));
  CHECK(contains(refusal({"vllm", "serve", std::string(1 << 20, '"')}), "a word of 1048576 bytes"));
  CHECK(contains(refusal(words(5000, "x")), "5000 words"));
  CHECK(contains(refusal({"vllm", "serve", std::string(100'000, 'a'), std::string(100'000, 'b'),
                          std::string(100'000, 'c')}),
                 "bytes, expected at most"));
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += "x ";
  CHECK(contains(refusal({"vllm serve " + many}), "words, expected at most"));

  const std::string deep = std::string(50'000, '[') + std::string(50'000, ']');
  CHECK(contains(refusal({"vllm", "serve", "m", "--hf-overrides", deep}), "nests deeper"));
  CHECK(refusal({"vllm", "serve", "m", "--hf-overrides.a", deep}).empty());  // text, as the engine takes it
  CHECK(refusal({"vllm serve m " + std::string(60'000, '\\')}).empty());
  CHECK(refusal({"vllm serve m " + std::string(60'001, '\'')}) != "");
  CHECK(contains(refusal({"vllm\x1b[31m\n\x07", "serve"}), "starts no server"));
  CHECK(refusal({"vllm", "serve", "m", "--hf-overrides.\xff\xfe", "\xff"}).empty());

  // Thousands of unknown options are compared with the known ones only as long as anybody reads it.
  words unknown{"vllm", "serve", "m"};
  while (unknown.size() < 4000) unknown.push_back("--max-modl-len-" + std::to_string(unknown.size()));
  CHECK(read_pasted_command(unknown).unknown.size() == 3997);
}

}  // namespace
