# Ollama, LM Studio and ik_llama.cpp: names, sizes, devices, what they refuse, and llama.cpp's --fit.
include("${CMAKE_CURRENT_LIST_DIR}/expect.cmake")
set(model --model llama-3.1-8b --weights q4_k)
set(rtx --gpu rtx-4090)

# Names; none of them has versions.
foreach(name ollama OLLAMA lm-studio lm_studio LMStudio ik_llama.cpp ik-llama.cpp ik_llama)
  expect_output(0 " (ollama|lm-studio|ik_llama.cpp) ─" estimate ${model} ${rtx} --context 1024 --engine ${name})
  expect_error("--engine: [a-z_.-]+ has no versions, write --engine" estimate ${model} ${rtx} --context 1024 --engine ${name}@0.5)
endforeach()
expect_output(0 "ollama_minimum_memory .*llama_cpp_cuda_context|llama_cpp_cuda_context.*ollama_minimum_memory" engines ollama)
expect_output(0 "--num-ctx N .*--sched-spread" engines ollama)
expect_output(0 "--gpu-offload SHARE" engines lm-studio)
expect_output(0 "--mla 0..3" engines ik_llama.cpp)

# Options that are neither counts nor words, and what excludes each other.
foreach(value word -1 1.0001 50% nan)
  expect_error("--gpu-offload: \"${value}\" is not a number from 0 to 1" estimate ${model} --context 512 --engine lm-studio
               "--gpu-offload=${value}")
endforeach()
expect_error("--unified-kv-cache and --no-unified-kv-cache contradict" estimate ${model} --context 512 --engine lm-studio
             --unified-kv-cache --no-unified-kv-cache)
expect_error("--gpu-overhead: 30000000000 bytes are more than the [0-9]+ that one" estimate ${model} ${rtx} --context 512 --engine
             ollama --gpu-overhead 30GB)
foreach(engine ollama lm-studio ik_llama.cpp)
  set(on estimate ${model} ${rtx} --context 512 --engine ${engine})
  expect_error("--gpu: 17 GPUs, ${engine} uses at most 16" estimate ${model} --context 512 --engine ${engine} --gpu rtx-4090x17)
  expect_error("--tensor-parallel: ${engine} spreads whole layers over GPUs: --pipeline-parallel 2\n" ${on} --tensor-parallel 2)
  expect_error("--data-parallel: ${engine}'s is not modelled" ${on} --data-parallel 2)
  expect_error("--framework is for geometry" ${on} --framework pytorch-cuda)
  expect_error("--attention is for geometry" ${on} --attention naive)
  expect_output(0 "warning: ${engine} has no weights format awq" estimate --model llama-3.1-8b --weights awq ${rtx} --context 512 --engine
                ${engine})
  expect_output(0 "GPU0 .*GPU1 .*host " estimate ${model} --gpu rtx-4090x2 --context 1024 --engine ${engine})
  expect_output(0 "\nhost,1,,,logits,,[0-9]+," ${on} --csv)
  expect_output(0 "[|] host [|]" ${on} --markdown)
  get_json(${on})
  expect_value(${engine} engine)
  expect_length(2 devices)
  expect_type(NUMBER n_ctx)
  expect_type(NUMBER host_bytes_per_rank)
  expect_output(0 "note: host memory of the process" ${on})

  # One more does not fit.
  foreach(pair "max_context;--sequences;2;--context" "max_sequences;--context;4096;--sequences")
    list(GET pair 0 key)
    list(SUBLIST pair 1 2 fixed)
    list(GET pair 3 varied)
    set(varying ${model} ${rtx} --engine ${engine} ${fixed})
    get_json(capacity ${varying} ${varied} 1)
    value_of(most ${key})
    math(EXPR more "${most} + 1")
    get_json(estimate ${varying} ${varied} ${most})
    expect_value(ON fits)
    get_json(estimate ${varying} ${varied} ${more})
    expect_value(OFF fits)
  endforeach()
endforeach()

# Sizes: what is asked for fills what is not set, and nothing asked is the engine's own.
set(free estimate ${model} --engine)
expect_output(0 "n_ctx 4,096 cells in 1 cache: n_ctx_seq 4,096 for a sequence, 1 sequence, n_batch 512" ${free} ollama)
expect_output(0 "n_ctx 32,768 cells in 1 cache" ${free} ollama ${rtx})
expect_output(0 "n_ctx 8,192 cells in 4 caches: n_ctx_seq 2,048 for a sequence, 4 sequences" ${free} ollama --context 2048 --sequences 4)
expect_output(0 "n_ctx 16,384 cells in 2 caches: n_ctx_seq 8,192 for a sequence, 2 sequences" ${free} ollama --num-ctx 8192
              --num-parallel 2)
expect_output(0 "n_ctx 4,096 cells in 1 cache: n_ctx_seq 4,096 for a sequence, 4 sequences, n_batch 512" ${free} lm-studio)
expect_output(0 "n_ctx 8,192 cells in 1 cache: n_ctx_seq 8,192 for a sequence, 4 sequences" ${free} lm-studio --context 2048 --sequences 4)
expect_output(0 "n_ctx 8,192 cells in 4 caches: n_ctx_seq 2,048 for a sequence, 4 sequences" ${free} lm-studio --context 2048 --sequences 2
              --max-parallel-predictions 4 --no-unified-kv-cache)
expect_output(0 "n_ctx 8,192 cells in 1 cache: n_ctx_seq 8,192 for a sequence, 4 sequences" ${free} ik_llama.cpp --context 2048 --sequences 4)
expect_output(0 "n_ctx 131,072 cells in 1 cache" ${free} ik_llama.cpp)

# Cache types.
expect_output(0 "cache q8_0 " ${free} ollama --context 512 --kv-cache-type q8_0)
expect_output(0 "cache q8_0,q4_0 " ${free} lm-studio --context 512 --k-cache-quantization q8_0 --v-cache-quantization q4_0)
expect_output(0 "cache q8_KV,q6_0 " ${free} ik_llama.cpp --context 512 --cache-type-k q8_KV --cache-type-v q6_0)
expect_output(0 "note: --kv-cache-type counts instead of --kv-cache-dtype" ${free} ollama --context 512 --kv-cache-type q8_0
              --kv-cache-dtype q4_0)
foreach(engine ollama lm-studio ik_llama.cpp)
  expect_output(0 "cache q4_0 " ${free} ${engine} --context 512 --kv-cache-dtype q4_0)
endforeach()
expect_error("--kv-cache-dtype: ik_llama.cpp has no such cache" ${free} ik_llama.cpp --context 512 --kv-cache-dtype fp8)

# Limits are answers, with a GPU and without.
set(quantized "quantized V cache requires flash_attn to be enabled")
set(too_long "request .4096 tokens. exceeds the available context size .2048 tokens.")
set(refused_1 --engine ollama --context 512 --kv-cache-type q8_0 --flash-attention off)
set(refused_2 --engine lm-studio --context 512 --v-cache-quantization q8_0 --flash-attention off)
set(refused_3 --engine ollama --context 4096 --num-ctx 2048)
set(refused_4 --engine lm-studio --context 4096 --context-length 2048)
set(refused_5 --engine ik_llama.cpp --context 4096 --ctx-size 2048)
foreach(i RANGE 1 5)
  set(why "${too_long}")
  if(i LESS 3)
    set(why "${quantized}")
  endif()
  expect_refusal("${why}" estimate ${model} ${rtx} ${refused_${i}})
  expect_refusal("${why}" capacity ${model} ${rtx} ${refused_${i}})
  expect_output(0 "refused: ${why}" estimate ${model} ${refused_${i}})
  get_json(estimate ${model} ${refused_${i}})
  expect_type(STRING refused)
endforeach()
expect_refusal("1024 tokens of all requests, the cache of all sequences together has 512 cells" estimate --model qwen3-next-80b-a3b --gpu h200 --engine ollama --context 512 --sequences 2)

# One GPU is enough for Ollama unless it is told to spread; what is left alone is not there.
get_json(estimate ${model} --gpu rtx-4090x2 --context 4096 --engine ollama)
expect_value(0 devices 1 model)
get_json(estimate ${model} --gpu rtx-4090x2 --context 4096 --engine ollama --sched-spread)
value_of(second devices 1 model)
if(NOT second GREATER 1000000000)
  fail("--sched-spread: GPU1 has ${second} bytes of weights")
endif()
expect_output(0 "note: --gpu-overhead: 2.00 GB [^\n]*are left alone" estimate ${model} ${rtx} --context 4096 --engine ollama --gpu-overhead
              2GB)

# A cache that is set up for all requests is none of one.
foreach(words "ollama;--num-parallel;2" "lm-studio;--context-length;8192" "ik_llama.cpp;--ctx-size;8192"
              "lm-studio;--max-parallel-predictions;2;--no-unified-kv-cache")
  expect_output(0 "cache of all requests, as it is set up " capacity ${model} ${rtx} --context 4096 --engine ${words})
  get_json(capacity ${model} ${rtx} --context 4096 --engine ${words})
  expect_type(NULL concurrency)
endforeach()
get_json(capacity ${model} ${rtx} --context 4096 --engine ollama)
expect_type(NUMBER concurrency)

# Beside others in one table.
set(all estimate ${model} ${rtx} --context 8192 --engine llama.cpp,ollama,lm-studio,ik_llama.cpp)
expect_output(0 "llama.cpp +ollama +lm-studio +ik_llama.cpp\n.*fits +yes" ${all} --num-batch 256 --amb 512)
get_json(${all})
expect_length(4 engines)

# --fit: off unless asked for; what it lowers, what it deals out, why it gives up.
set(moe --model qwen3-30b-a3b)
set(fit estimate ${moe} ${rtx} --engine llama.cpp)
get_json(${fit} --context 8192)
expect_value(OFF fits)
get_json(${fit} --context 8192 --fit on)
expect_value(ON fits)
expect_value(ON fit applied)
expect_value(layers fit steps 0 change)
expect_type(NULL fit gave_up)
expect_value(49 fit gpus 0 layers)
get_json(${fit} --context 8192 --fit say)
expect_value(OFF fits)
expect_value(OFF fit applied)
expect_output(0 "1 x 4,096 tokens.*note: --fit lowers the context from 40,960 to 4,096\nnote: --fit puts 49 of 49 layers on GPU0, [0-9]+ of them whole\n"
              ${fit} --fit on)
expect_output(0 "note: llama.cpp's --fit would lower the context from 40,960 to 4,096\n" ${fit} --fit say)
expect_output(0 "note: --fit lowers the context from 40,960 to 8,192\n" ${fit} --fit on --fit-ctx 8192)
expect_output(0 "note: --fit gives up: n_gpu_layers already set by user to 99" ${fit} --context 8192 --fit on --n-gpu-layers 99)
get_json(estimate ${moe} --weights q4_k --gpu rtx-4060-ti-16gbx2 --engine llama.cpp --fit on --sequences 4)
value_of(cells n_ctx_seq)
expect_value(${cells} workload longest_context)
expect_value(context fit steps 0 change)
expect_output(0 "note: --fit changes nothing\n" estimate ${model} ${rtx} --engine llama.cpp --context 8192 --fit on)
expect_output(0 "note: --fit puts [0-9]+ of 33 layers on GPU0\n" estimate --model llama-3.1-8b ${rtx} --engine llama.cpp --context 8192 --fit
              on --fit-target 12000)
expect_output(0 "note: --fit puts [0-9]+ of 33 layers on GPU1\n" estimate --model llama-3.1-8b --gpu rtx-4090x2 --engine llama.cpp --context
              8192 --fit on --fit-target 12000,20000)
expect_output(0 "note: the --fit of Ollama's llama-server would put 49 of 49 layers on GPU0" estimate ${moe} ${rtx} --engine ollama --context
              8192)
expect_error("--fit on needs a GPU" estimate ${moe} --engine llama.cpp --context 512 --fit on)
expect_error("--fit on: not with --device none" ${fit} --context 512 --fit on --device none)
expect_error("--fit-target needs --fit on" ${fit} --context 512 --fit-target 512)
expect_error("--fit-ctx needs --fit on" ${fit} --context 512 --fit-ctx 512)
expect_error("--fit-target: more than 16 sizes" ${fit} --fit on --fit-target 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)
expect_error("--fit-target: \"\" is not a whole number" ${fit} --fit on --fit-target 1,)

finish()
