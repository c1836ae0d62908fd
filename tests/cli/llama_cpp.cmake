# llama.cpp: names and builds, its own options, what it refuses, devices and sizes, and several engines in one table.
include("${CMAKE_CURRENT_LIST_DIR}/expect.cmake")
set(model --model llama-3.1-8b)
set(rtx --gpu rtx-4090)
set(local estimate ${model} ${rtx} --engine llama.cpp --context 1024)

# Names and builds.
foreach(name llama.cpp llama_cpp llamacpp llama-cpp LLAMA.CPP)
  expect_output(0 " llama.cpp ─" estimate ${model} ${rtx} --context 1024 --engine ${name})
endforeach()
foreach(name llama.cpp@b6123 llamacpp@6123)
  expect_output(0 " llama.cpp@b6123 ─" estimate ${model} ${rtx} --context 1024 --engine ${name})
endforeach()
foreach(build "" x b 0 b0 -1 0.19 b6123x 99999999)
  expect_error("--engine: \"[^\"]*\" is no version of llama.cpp, expected numbers as in llama.cpp@b6123\n" estimate ${model} ${rtx}
               --context 1024 "--engine=llama.cpp@${build}")
endforeach()
expect_output(0 "llama_cpp_cuda_context" engines llama.cpp)

# Options that are neither counts nor words.
foreach(value x -1 "1,x" "1,,2" "1," ",1" 1e3 nan)
  expect_error("--tensor-split: \"[^\"]*\" is not a number from 0 to 1000000" ${local} "--tensor-split=${value}")
endforeach()
expect_error("--tensor-split: \"0,0\" gives no GPU a share" ${local} --tensor-split 0,0)
expect_error("--tensor-split: more than 16 shares" ${local} --tensor-split 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)
expect_error("--tensor-split: \"0.00000000001\" has more than 9 decimals" ${local} --tensor-split 1,0.00000000001)
foreach(value word =CPU exps)
  expect_error("--override-tensor: \"${value}\" is not PATTERN=CPU" ${local} "--override-tensor=${value}")
endforeach()
expect_error("--override-tensor: buffer \"CUDA0\" is not modelled, expected CPU" ${local} --override-tensor exps=CUDA0)
expect_error("--override-tensor: pattern 1: regular expression \"[(]\" ends in an open group" ${local} --override-tensor "(=CPU")
expect_error("--override-tensor: pattern 2: regular expression \"[*]\" repeats nothing" ${local} --override-tensor
             "ffn_up=CPU,*=CPU")
expect_error("--override-tensor: the patterns take blk.0.attn_k but not blk.0.attn_q" ${local} --override-tensor attn_k=CPU)
expect_output(0 "note: --override-tensor: pattern \"zzz\" matches no tensor of llama-3.1-8b" ${local} --override-tensor zzz=CPU)

# Layouts.
expect_error("--gpu: 17 GPUs, llama.cpp uses at most 16" estimate ${model} --context 1024 --engine llama.cpp --gpu rtx-4090x17)
expect_error("the layout: 17 GPUs, llama.cpp uses at most 16" ${local} --pipeline-parallel 17)
expect_error("--tensor-parallel: llama.cpp spreads whole layers over GPUs: --pipeline-parallel 2, or --split-mode row or tensor"
             ${local} --tensor-parallel 2)
expect_error("--pipeline-parallel: not with --split-mode row or tensor, where --tensor-parallel 2" ${local} --pipeline-parallel 2
             --split-mode row)
foreach(option --data-parallel=2 --kv-cache-dtype-skip-layers=0)
  string(REGEX REPLACE "=.*" "" name "${option}")
  expect_error("${name}: llama.cpp's is not modelled" ${local} ${option})
endforeach()
expect_error("--max-loras: llama.cpp's is not modelled" ${local} --max-loras 1 --max-lora-rank 8)
expect_error("--speculative-model: llama.cpp's is not modelled" ${local} --speculative-model llama-3.2-1b --speculative-tokens 3)
expect_error("--framework is for geometry" ${local} --framework pytorch-cuda)
expect_error("--attention is for geometry" ${local} --attention naive)
expect_error("--kv-unified and --no-kv-unified contradict" ${local} --kv-unified --no-kv-unified)
expect_error("--svg: nothing to draw, llama.cpp refuses: quantized V cache" ${local} --svg x.svg --cache-type-v q8_0 --flash-attn
             off)
get_json(estimate ${model} --context 1024 --engine llama.cpp --gpu rtx-4090x2)
expect_value(2 parallel pipeline)
expect_length(3 devices)
get_json(estimate ${model} --context 1024 --engine llama.cpp --gpu rtx-4090x2 --split-mode row)
expect_value(2 parallel tensor)

# Limits are answers, in its words.
foreach(command estimate capacity)
  set(on ${command} ${model} ${rtx} --engine llama.cpp)
  expect_refusal("quantized V cache requires flash_attn to be enabled" ${on} --context 1024 --cache-type-v q8_0 --flash-attn off)
  expect_refusal("llama.cpp keeps its cache in f32, f16, bf16, q8_0" ${on} --context 1024 --kv-cache-dtype fp8)
  expect_refusal("n_seq_max must be <= 256" ${on} --context 1024 --parallel 257)
  expect_refusal("SPLIT_MODE_TENSOR requires flash_attn" ${on} --context 1024 --split-mode tensor --flash-attn off)
  expect_refusal("invalid value for main_gpu: 1 .available devices: 1." ${on} --context 1024 --main-gpu 1)
  expect_refusal("request .4096 tokens. exceeds the available context size .2048 tokens." ${on} --context 4096 --ctx-size 2048)
  expect_refusal("3 requests at once, 2 run" ${on} --context 512 --sequences 3 --parallel 2)
endforeach()
expect_output(0 "[*][*]refused: quantized V cache" ${local} --cache-type-v q8_0 --flash-attn off --markdown)
expect_output(0 "refused: quantized V cache" estimate ${model} --context 512 --engine llama.cpp --cache-type-v q8_0 --flash-attn off)

# Sizes: what is asked for fills what is not set.
set(free estimate ${model} --engine llama.cpp)
expect_output(0 "n_ctx 131,072 cells in 1 cache: n_ctx_seq 131,072 for a sequence, 4 sequences" ${free})
expect_output(0 "n_ctx 8,192 cells in 4 caches: n_ctx_seq 2,048 for a sequence, 4 sequences" ${free} --context 2048 --sequences 4)
expect_output(0 "n_ctx 8,192 cells in 1 cache: n_ctx_seq 8,192 for a sequence, 4 sequences" ${free} --context 2048 --sequences 4
              --kv-unified)
expect_output(0 "n_ctx 8,192 cells in 4 caches: n_ctx_seq 2,048 for a sequence, 4 sequences" ${free} --ctx-size 8192 --sequences 4)
expect_output(0 "n_ctx 8,192 cells in 1 cache: n_ctx_seq 8,192 for a sequence, 1 sequence," ${free} --ctx-size 8192 --program
              llama-cli)
expect_output(0 "cache q8_0,fp16 " ${local} --cache-type-k q8_0)
expect_output(0 "cache q8_0 .*note: --cache-type-k and --cache-type-v count instead of --kv-cache-dtype" ${local} --cache-type-k
              q8_0 --cache-type-v q8_0 --kv-cache-dtype q4_0)
expect_output(0 "warning: llama.cpp has no weights format awq" ${local} --weights awq)
expect_output(0 "warning: activations are incomplete without --vocab" estimate --layers 32 --hidden 4096 --heads 32 --parameters
              8000000000 --dtype bf16 --engine llama.cpp --context 512)

# Devices.
set(two estimate ${model} --context 1024 --engine llama.cpp --gpu rtx-4090x2)
expect_output(0 "GPU0 .*GPU1 .*host " ${two})
expect_output(0 "[|] GPU1 [|].*[|] host [|]" ${two} --markdown)
expect_output(0 "\nhost,1,,,logits,,513024," ${local} --csv)
get_json(${local} --device none)
expect_value(0 total_bytes)
expect_length(1 devices)

# The longest context and the most sequences fit, one more does not.
foreach(pair "max_context;--sequences;2;--context" "max_sequences;--context;4096;--sequences")
  list(GET pair 0 key)
  list(SUBLIST pair 1 2 fixed)
  list(GET pair 3 varied)
  set(on ${model} ${rtx} --engine llama.cpp ${fixed})
  get_json(capacity ${on} ${varied} 1)
  value_of(most ${key})
  math(EXPR more "${most} + 1")
  get_json(estimate ${on} ${varied} ${most})
  expect_value(ON fits)
  get_json(estimate ${on} ${varied} ${more})
  expect_value(OFF fits)
endforeach()

# Several engines in one table.
set(both estimate --model qwen3-30b-a3b --weights q4_k --context 16384 ${rtx} --engine vllm,llama.cpp)
expect_output(
  0
  "per GPU, in GB +vllm@[0-9.]+ +llama.cpp\nweights .*\nKV cache .*\nactivations .*\nframework .*\ntotal .*\nusable .*\nfits +yes.*\nlargest context +[0-9,]+ +[0-9,]+\n"
  ${both})
expect_output(0 "[|] largest context [|] [0-9,]+ [|] [0-9,]+ [|]\n" ${both} --markdown)
get_json(${both} --cpu-moe --max-num-seqs 16)
expect_value(1 schema)
expect_length(2 engines)
expect_value(llama.cpp engines 1 engine)
expect_type(NUMBER engines 0 max_context)
expect_type(NUMBER engines 1 max_context)
expect_type(ARRAY engines 1 devices)
expect_output(0 "fits +yes[^\n]* refused\n.*llama.cpp: refused: llama.cpp keeps its cache in" ${both} --kv-cache-dtype fp8)
expect_output(1 "refused" ${both} --kv-cache-dtype fp8 --require-fit)
expect_error("--nbits is an option of transformers, not of vllm" ${both} --nbits 4)
expect_error("--engine: engine \"\" is unknown" estimate ${model} --context 5 --engine geometry,)
expect_error("--csv: is for one engine" ${both} --csv)
expect_error("--svg: draws one engine" ${both} --svg x.svg)
expect_error("--engine: one engine is expected here" capacity ${model} ${rtx} --engine vllm,llama.cpp)

finish()
