# Servers' command lines behind --: taken into the program's own options, with what is left out said on stderr.
include("${CMAKE_CURRENT_LIST_DIR}/expect.cmake")
set(geometry --engine geometry --gpu h100-sxm-80gbx2)
set(article vllm serve meta-llama/Llama-3.1-70B --tensor-parallel-size 2 --kv-cache-dtype fp8 --max-model-len 32768
            --gpu-memory-utilization 0.95)

# The exit status, a text on stdout and a text on stderr.
function(expect_both status out_pattern err_pattern)
  run(${ARGN})
  if(NOT code EQUAL status)
    fail("${line}: exit status ${code}, expected ${status}: ${err}")
  endif()
  if(NOT out MATCHES "${out_pattern}")
    fail("${line}: expected \"${out_pattern}\" on stdout, got: ${out}")
  endif()
  if(NOT err MATCHES "${err_pattern}")
    fail("${line}: expected \"${err_pattern}\" on stderr, got: ${err}")
  endif()
endfunction()

# The pasted options are the program's own.
foreach(command estimate capacity)
  expect_both(0 "llama-3.1-70b.*2 x" "pasted command: your own options count instead of: --engine=vllm"
              ${command} ${geometry} -- ${article})
  run(${command} --model llama-3.1-70b --tensor-parallel 2 --kv-cache-dtype fp8 --context 32768 ${geometry})
  set(typed "${out}")
  run(${command} ${geometry} -- ${article})
  if(NOT out STREQUAL typed OR typed STREQUAL "")
    fail("${line}: differs from the same request in the program's own options: ${out}")
  endif()
endforeach()

# One text in quotes is split as a shell does it.
expect_both(0 "2 x" "ignored, does not change memory: HF_HOME=/x, --port 8000\n" capacity ${geometry} --
            "HF_HOME=/x vllm serve llama-3.1-70b \\\n -tp=2 --max_model_len 32k --port 8000 > log 2>&1 &")

# Drafts and adapters are those of the program's own options.
foreach(pair "--speculative-config.method deepseek_mtp --speculative-config.num_speculative_tokens 1|--speculative-method mtp --speculative-tokens 1"
             "--speculative-config.method ngram --speculative-config.num_speculative_tokens 3|--speculative-method ngram --speculative-tokens 3"
             "--enable-lora --max-loras 2|--max-loras 2 --max-lora-rank 16")
  string(REGEX REPLACE "[|].*" "" pasted "${pair}")
  string(REGEX REPLACE ".*[|]" "" own "${pair}")
  separate_arguments(pasted)
  separate_arguments(own)
  run(estimate --engine vllm --model deepseek-v3 --gpu h200x8 --tensor-parallel 8 --context 4096 ${own})
  set(typed "${out}")
  run(estimate --gpu h200x8 -- vllm serve deepseek-v3 -tp 8 --max-model-len 4096 ${pasted})
  if(NOT out STREQUAL typed OR typed STREQUAL "" OR NOT err STREQUAL "")
    fail("${line}: differs from the same request in the program's own options: ${err}${out}")
  endif()
endforeach()
expect_both(0 "fits" "ignored, not modelled here: --speculative-config=.*medusa" capacity --gpu h200 -- vllm serve llama-3.1-8b
            --speculative-config.method medusa --speculative-config.num_speculative_tokens 3)

# The user's own options win.
expect_both(0 "llama-3.1-8b.*cache of one request of 4,096 tokens"
            "instead of: --engine=vllm, --model=meta-llama/Llama-3.1-70B, --context=32768\n" capacity ${geometry} --model
            llama-3.1-8b --context 4096 -- ${article})
expect_both(0 "4,096 tokens" "instead of: [^\n]*--context=32768\n" capacity ${geometry} --active-tokens 4096 --sequences 1 --
            ${article})

# What is left out is said, one line each; stdout stays what it is.
expect_both(0 "fits" "ignored, does not change memory: --port 8000, --api-key\n" capacity ${geometry} -- ${article} --port 8000
            --api-key secret)
expect_both(0 "fits" "ignored, unknown: --max-modl-len 5, did you mean --max-model-len" capacity ${geometry} -- ${article}
            --max-modl-len 5)
run(estimate ${geometry} --json -- ${article} --port 8000)
string(JSON name ERROR_VARIABLE problem GET "${out}" model name)
if(NOT name STREQUAL "llama-3.1-70b")
  fail("${line}: no JSON on stdout: ${problem}")
endif()
run(estimate ${geometry} -- ${article} --api-key secret)
if(err MATCHES "secret")
  fail("${line}: shows a key")
endif()

# llama.cpp: its options under all of their names, its variables, and models by the names of their files.
set(rtx --gpu rtx-4090)
run(estimate --model qwen3-30b-a3b --weights q4_k ${rtx} --engine llama.cpp --ctx-size 32768 --parallel 4 --batch-size 1024
    --ubatch-size 256 --cache-type-k q8_0 --cache-type-v q8_0 --flash-attn on --n-gpu-layers 40 --n-cpu-moe 3
    --override-tensor "blk.4.*exps=CPU,blk.5.*exps=CPU" --json)
string(JSON typed ERROR_VARIABLE problem GET "${out}" devices)
set(name Qwen3-30B-A3B)
foreach(
  words
  "llama-server -m /models/${name}-Q4_K_M.gguf -c 32768 -np 4 -b 1024 -ub 256 -ctk q8_0 -ctv q8_0 -fa on -ngl 40 -ncmoe 3 -ot blk.4.*exps=CPU -ot blk.5.*exps=CPU"
  "./build/bin/llama-server --model ${name}-Q4_K_M-00001-of-00002.gguf --ctx-size 32768 --parallel 4 --batch-size 1024 --ubatch-size 256 --cache-type-k q8_0 --cache-type-v q8_0 -fa --gpu-layers 40 --n-cpu-moe 3 --override-tensor blk.4.*exps=CPU,blk.5.*exps=CPU --port 80"
  "LLAMA_ARG_CTX_SIZE=32768 LLAMA_ARG_N_PARALLEL=4 LLAMA_ARG_BATCH=1024 LLAMA_ARG_UBATCH=256 LLAMA_ARG_CACHE_TYPE_K=q8_0 LLAMA_ARG_CACHE_TYPE_V=f16 LLAMA_ARG_FLASH_ATTN=on LLAMA_ARG_N_GPU_LAYERS=40 LLAMA_ARG_N_CPU_MOE=3 LLAMA_ARG_HF_REPO=unsloth/${name}-GGUF:Q4_K_M LLAMA_ARG_PORT=80 llama-server -ctv q8_0 -ot blk.4.*exps=CPU,blk.5.*exps=CPU"
  "docker run --gpus all ghcr.io/ggml-org/llama.cpp:server-cuda -hf Qwen/${name}-GGUF -c 32768 -np 4 -b 1024 -ub 256 -ctk q8_0 -ctv q8_0 -fa 1 -ngl 40 -ncmoe 3 -ot blk.4.*exps=CPU,blk.5.*exps=CPU")
  run(estimate ${rtx} --json -- "${words}")
  string(JSON devices ERROR_VARIABLE problem GET "${out}" devices)
  if(NOT devices STREQUAL typed OR typed STREQUAL "")
    fail("${line}: differs from the same request in the program's own options: ${devices} ${err}")
  endif()
endforeach()
expect_both(
  0
  "llama-3.1-8b · weights q8_0 .*n_ctx 4,096 cells in 1 cache: n_ctx_seq 4,096 for a sequence, 1 sequence,"
  "ignored, does not change memory: --port 80, -p hello\n.*ignored, not modelled here: --device CUDA0, --model-draft=x.gguf\n.*ignored, unknown: --foo 3"
  estimate
  ${rtx}
  --
  llama-cli
  -m
  Meta-Llama-3.1-8B-Instruct-Q8_0.gguf
  -c
  4096
  --port
  80
  -p
  hello
  -dev
  CUDA0
  -md
  x.gguf
  --foo
  3)
expect_both(0 "host +[0-9.]+ +0.60 " "^$" estimate ${rtx} -- llama-server -m qwen3-8b.gguf -c 4096 -nkvo --no-mmap -kvu -sm none -mg 0
            -ts 1)
expect_both(0 "gpt-oss-20b with weights mxfp4" "^$" estimate ${rtx} -- llama-server -hf ggml-org/gpt-oss-20b-GGUF -c 0)
expect_both(0 "vllm@.*llama.cpp" "your own options count instead of: --engine=llama.cpp" estimate ${rtx} --engine vllm,llama.cpp -- llama-server -m qwen3-8b.gguf -c 4096 -np 2)

# What its --fit would make of it is said; the numbers are of the options as pasted.
expect_both(0 "note: llama.cpp's --fit would lower the context from 40,960 to 4,096\n" "^$" estimate ${rtx} -- llama-server -m
            qwen3-30b-a3b-BF16.gguf)
run(estimate ${rtx} -- llama-server -m qwen3-30b-a3b-BF16.gguf -fit off -fitt 512)
if(out MATCHES "--fit")
  fail("${line}: speaks of --fit, which is off: ${out}")
endif()

# Ollama: variables in front of it or in a container, names with tags, and a server that names no model.
run(estimate --model llama-3.1-8b --weights q8_0 ${rtx} --engine ollama --num-ctx 16384 --num-parallel 4 --kv-cache-type q8_0
    --flash-attention on --gpu-overhead 1000000000 --sched-spread --json)
string(JSON typed ERROR_VARIABLE problem GET "${out}" devices)
set(variables OLLAMA_CONTEXT_LENGTH=16384 OLLAMA_NUM_PARALLEL=4 OLLAMA_KV_CACHE_TYPE=q8_0 OLLAMA_FLASH_ATTENTION=1
              OLLAMA_GPU_OVERHEAD=1000000000 OLLAMA_SCHED_SPREAD=1)
list(JOIN variables " " before)
list(JOIN variables " -e " inside)
foreach(
  words
  "${before} ollama run llama3.1:8b-instruct-q8_0"
  "${before} ollama run --verbose library/llama3.1:8b-instruct-q8_0 'Why is the sky blue?'"
  "${before} ollama serve & ollama run llama3.1:8b-instruct-q8_0"
  "export ${before}\nollama run hf.co/bartowski/Meta-Llama-3.1-8B-Instruct-GGUF:Q8_0"
  "docker run -d --gpus=all -v ollama:/root/.ollama -e ${inside} -p 11434:11434 ollama/ollama run llama3.1:8b-instruct-q8_0")
  run(estimate ${rtx} --json -- "${words}")
  string(JSON devices ERROR_VARIABLE problem GET "${out}" devices)
  if(NOT devices STREQUAL typed OR typed STREQUAL "")
    fail("${line}: differs from the same request in the program's own options: ${devices} ${err}")
  endif()
endforeach()
foreach(words "${before} ollama serve" "docker run -d --gpus=all -e ${inside} ollama/ollama" "docker run -e ${inside} ollama/ollama serve")
  run(estimate --model llama-3.1-8b --weights q8_0 ${rtx} --json -- "${words}")
  string(JSON devices ERROR_VARIABLE problem GET "${out}" devices)
  if(NOT devices STREQUAL typed)
    fail("${line}: differs from the same request in the program's own options: ${devices} ${err}")
  endif()
  expect_error("no model: give --model" estimate ${rtx} -- "${words}")
endforeach()
expect_both(0 "llama-3.1-8b · weights q4_K .* ollama ─" "\"llama3.1-8b\" names no quantization: taken as Q4_K_M" estimate ${rtx} -- ollama run
            llama3.1:8b)
expect_both(0 "gpt-oss-20b · weights mxfp4" "names no quantization" estimate ${rtx} -- ollama run gpt-oss:20b)
expect_both(0 "llama-3.1-8b · weights fp16 " "ignored, does not change memory: hello\n" estimate ${rtx} -- ollama run llama3.1:8b-instruct-fp16
            hello)
expect_both(0 "n_ctx 32,768 cells in 1 cache" "^$" estimate ${rtx} -- OLLAMA_NUM_PARALLEL=0 OLLAMA_CONTEXT_LENGTH=0 OLLAMA_SCHED_SPREAD=0
            OLLAMA_FLASH_ATTENTION= ollama run llama3.1:8b-instruct-q8_0)
expect_error("model \"llama3.1\" is unknown, did you mean llama-3.1-8b, " estimate ${rtx} -- ollama run llama3.1:latest)
expect_error("\"ollama pull\" starts no server that is understood" estimate ${rtx} -- ollama pull llama3.1:8b)
expect_error("--num-parallel: \"x\" is not a whole number" estimate ${rtx} -- OLLAMA_NUM_PARALLEL=x ollama run llama3.1:8b)
expect_error("--kv-cache-type: \"q9\" is unknown" estimate ${rtx} -- OLLAMA_KV_CACHE_TYPE=q9 ollama run llama3.1:8b)

# --require-fit keeps its exit status.
expect_both(1 "does not fit" "pasted command" capacity --engine geometry --gpu h100-sxm-80gb --require-fit -- vllm serve
            llama-3.1-70b --max-model-len 8192)

expect_output(0 "Behind --: the command line of a vLLM" capacity --help)

# Bad input: one line, whatever was read before it.
expect_error("kvbudget capacity: the pasted command is empty" capacity --gpu h200 --)
expect_error("is vllm bench, which starts no server" capacity --gpu h200 -- vllm bench serve)
expect_error("\"llama-box\" starts no server that is understood, expected vllm serve" estimate -- llama-box -m x)
expect_error("the pasted command names no model, expected --model MODEL" estimate -- llama-server -c 4096)
expect_error("--ctx-size: \"32k\" is not a whole number" estimate -- llama-server -m qwen3-8b.gguf -c 32k)
expect_error("--cache-type-k: \"fp8\" is unknown" estimate -- llama-server -m qwen3-8b.gguf -c 4096 -ctk fp8)
expect_error("--batch-size: needs a value" estimate -- llama-server -m qwen3-8b.gguf -b)
expect_error("names no model" capacity --gpu h200 -- vllm serve --port 1)
expect_error("open quote" capacity --gpu h200 -- "vllm serve 'x")
expect_error("--hf-overrides: is not valid JSON" capacity --gpu h200 -- vllm serve x --hf-overrides "{")
expect_error("--max-model-len: \"32q\"" capacity --gpu h200 -- vllm serve x --max-model-len 32q)
expect_error("--tensor-parallel: \"\\$N\"" capacity --engine geometry --gpu h200 -- vllm serve llama-3.1-8b --max-model-len 1k -tp $N)
expect_error("--model: \"acme/zzzzzzz\" is not in the catalogue" estimate --engine geometry -- vllm serve acme/zzzzzzz)
expect_error("2 GPUs for a layout of 1 ranks" capacity ${geometry} -- vllm serve llama-3.1-8b --max-model-len 1k) # as vLLM: one GPU
expect_error("\"--\" is unknown" gpus -- vllm serve x)
expect_error("\"--contxt\" is unknown, did you mean --context" estimate --contxt 5 -- vllm serve x)

finish()
