# Engines on the command line: every option with values that cannot be meant, limits that a user meets, and
# the mistakes that estimates of serving memory are known for.
include("${CMAKE_CURRENT_LIST_DIR}/expect.cmake")
set(model --model llama-3.1-8b)
set(h100 --gpu h100-sxm-80gb)

# Options by what they take. `estimate` reads them all; `capacity` shares them.
set(counts_of_vllm --max-model-len --max-num-seqs --max-num-batched-tokens --block-size --num-gpu-blocks-override
                   --prefill-context-parallel-size)
set(sizes_of_vllm --kv-cache-memory-bytes)
set(shares_of_vllm --gpu-memory-utilization)
set(numbers_of_vllm --cpu-offload-gb --kv-offloading-size)
set(words_of_vllm --mamba-cache-mode --mamba-ssm-cache-dtype --mamba-cache-dtype --usage)
set(flags_of_vllm --enforce-eager --enable-prefix-caching --no-enable-prefix-caching --no-enable-chunked-prefill
                  --disable-hybrid-kv-cache-manager --no-async-scheduling --language-model-only --skip-mm-profiling
                  --fp4-indexer-cache)

set(counts_of_sglang --context-length --max-running-requests --max-total-tokens --chunked-prefill-size --max-prefill-tokens
                     --page-size --cuda-graph-max-bs --max-mamba-cache-size --hicache-size --speculative-num-draft-tokens)
set(sizes_of_sglang --mm-runtime-reservation)
set(shares_of_sglang --mem-fraction-static --swa-full-tokens-ratio)
set(numbers_of_sglang --mamba-full-memory-ratio --hicache-ratio)
set(words_of_sglang --attention-backend --mamba-ssm-dtype)
set(flags_of_sglang --disable-cuda-graph --disable-hybrid-swa-memory --disable-radix-cache --disable-overlap-schedule
                    --enable-dp-attention --enable-hierarchical-cache)

set(counts_of_tensorrt-llm --max-seq-len --max-batch-size --max-num-tokens --tokens-per-block --max-tokens
                           --max-attention-window --cuda-graph-max-batch-size --mamba-state-cache-interval)
set(sizes_of_tensorrt-llm --max-gpu-total-bytes --host-cache-size --encoder-cache-max-bytes)
set(shares_of_tensorrt-llm --free-gpu-memory-fraction)
set(numbers_of_tensorrt-llm)
set(words_of_tensorrt-llm)
set(flags_of_tensorrt-llm --no-cuda-graph)

set(counts_of_transformers --max-cache-len --num-beams --prefill-chunk-size --nbits --q-group-size --residual-length)
set(sizes_of_transformers)
set(shares_of_transformers)
set(numbers_of_transformers)
set(words_of_transformers --cache-implementation --attn-implementation --logits --cache-backend)
set(flags_of_transformers)

foreach(engine vllm sglang tensorrt-llm transformers geometry)
  run(engines ${engine} --json)
  set(json_of_${engine} "${out}")
endforeach()
foreach(engine vllm sglang tensorrt-llm transformers)
  set(on estimate ${model} ${h100} --context 1024 --engine ${engine})

  # The lists above are what the program knows, but for the option that may be 0.
  set(known)
  foreach(kind counts sizes shares numbers words flags)
    list(APPEND known ${${kind}_of_${engine}})
  endforeach()
  string(JSON count LENGTH "${json_of_${engine}}" options)
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON option GET "${json_of_${engine}}" options ${i} name)
    if(NOT option IN_LIST known AND NOT option STREQUAL "--max-new-tokens")
      fail("${option} of ${engine} is not tested")
    endif()
    string(JSON value GET "${json_of_${engine}}" options ${i} value)
    if(NOT value STREQUAL "")
      expect_error("${option}: needs a value" ${on} ${option})
      expect_error("${option}: needs a value" ${on} ${option}= --sequences 1)
      expect_error("${option}: is given more than once" ${on} ${option} 1 ${option} 1)
    endif()
    foreach(other vllm sglang tensorrt-llm transformers geometry)
      if(NOT json_of_${other} MATCHES "\"${option}\"")
        set(typed "${option}")
        if(NOT value STREQUAL "")
          list(APPEND typed 1)
        endif()
        expect_error("${option} is an option of [^:]*, not of ${other}: add --engine " estimate ${model} ${h100} --context 1024
                     --engine ${other} ${typed})
      endif()
    endforeach()
  endforeach()

  foreach(option ${counts_of_${engine}})
    foreach(value word -2 0 0.5 1.5 1e9 9223372036854775808 99999999999999999999 nan 0x10 32k)
      expect_error("${option}: \"${value}\" is not a whole number from 1 to [0-9]+" ${on} "${option}=${value}")
    endforeach()
  endforeach()
  foreach(option ${sizes_of_${engine}})
    foreach(value word -1 1.5 1e9 9223372036854775808 99999999999999999999 nan 15G 15Gb)
      expect_error("${option}: \"${value}\" is not a" ${on} "${option}=${value}")
    endforeach()
    expect_error("${option}: 9223372036854775807 bytes, expected at most 1152921504606846976" ${on}
                 "${option}=9223372036854775807")
  endforeach()
  foreach(option ${shares_of_${engine}})
    foreach(value word -1 0 1.0001 90 90% 1e-1 9223372036854775808 99999999999999999999 nan inf 0x1 .)
      expect_error("${option}: \"${value}\" is not a number from 0.0001 to [01]" ${on} "${option}=${value}")
    endforeach()
  endforeach()
  foreach(option ${numbers_of_${engine}})
    foreach(value word -1 1e3 9223372036854775808 99999999999999999999 nan inf 10GB)
      expect_error("${option}: \"${value}\" is not a number from 0[.0-9]* to 1000" ${on} "${option}=${value}")
    endforeach()
  endforeach()
  foreach(option ${words_of_${engine}})
    foreach(value word -1 0 nan)
      expect_error("${option}: \"${value}\" is unknown, expected one of [a-z]" ${on} "${option}=${value}")
    endforeach()
  endforeach()
  foreach(option ${flags_of_${engine}})
    expect_error("${option}: takes no value" ${on} ${option}=word)
  endforeach()

  # Versions.
  foreach(version "" x 1 99999.1 0.-1 0.1x 0.19. 0. .5 0.19.x 0.19.1.2 0.19@0.20 v "0.19rc" 0,19)
    expect_error("--engine: \"[^\"]*\" is no version of ${engine}, expected numbers as in ${engine}@[0-9.]+\n" estimate
                 ${model} ${h100} --context 1024 "--engine=${engine}@${version}")
  endforeach()
endforeach()

# Engines.
set(on estimate ${model} ${h100} --context 1024)
foreach(name vllm@0.19 v0.19 vllm@v0.19.1 vllm@0.19.1rc2 vllm@0.19.1.post1 vllm@0.8.5.dev12+g0123abc)
  string(REGEX REPLACE "^v0" "vllm@v0" name "${name}")
  expect_output(0 "vllm@0" ${on} --engine ${name})
endforeach()
expect_output(0 "note: vllm@5.0 is newer than the rules that are known" ${on} --engine vllm@5.0)
foreach(name tgi @ @0.19 " ")
  expect_error("--engine: engine \"${name}\" is unknown, expected one of geometry, vllm, sglang, tensorrt-llm, transformers\n" ${on}
               --engine ${name})
endforeach()
expect_error("engine \"vlm@0.19\" is unknown, did you mean vllm" ${on} --engine vlm@0.19)
expect_error("geometry has no versions" ${on} --engine geometry@0.19)
expect_error("--engine: is given more than once" ${on} --engine vllm --engine sglang)
foreach(engine vllm sglang tensorrt-llm)
  foreach(command estimate capacity)
    expect_error("--engine ${engine} reserves a share of a GPU: add --gpu" ${command} ${model} --engine ${engine})
  endforeach()
  foreach(option --attention=naive --sampler=greedy)
    string(REGEX REPLACE "=.*" "" name "${option}")
    expect_error("${name} is for geometry: ${engine} has its own" ${on} --engine ${engine} ${option})
  endforeach()
  expect_error("--framework is for geometry" ${on} --engine ${engine} --framework pytorch-cuda)
endforeach()
foreach(engine vllm tensorrt-llm transformers)
  expect_error("--batched-tokens is for geometry: ${engine} has an option of its own, --" ${on} --engine ${engine}
               --batched-tokens 512)
endforeach()
expect_error("--enable-prefix-caching and --no-enable-prefix-caching contradict" ${on} --engine vllm --enable-prefix-caching
             --no-enable-prefix-caching)
expect_error("--kv-cache-memory-bytes: expected more than 0 bytes" ${on} --engine vllm --kv-cache-memory-bytes 0)

# What an engine cannot compute is said in terms of options.
set(unnamed --layers 32 --hidden 4096 --heads 32 --parameters 8000000000 --dtype bf16)
expect_error("--context-length is missing: the model gives no context length\n" estimate ${unnamed} ${h100} --engine sglang)
expect_error("no work: give --context" estimate ${unnamed} ${h100} --engine vllm)
expect_error("--max-loras: no matrix of known shape" estimate ${unnamed} ${h100} --context 512 --engine vllm --max-loras 1
             --max-lora-rank 8)
expect_error("--engine sglang: the pools of compressed attention" estimate --model deepseek-v4-flash ${h100} --engine sglang)
expect_error("--decode-context-parallel: sglang's is not modelled\n" estimate --model deepseek-v3 --gpu h200x8 --engine sglang
             --tensor-parallel 8 --decode-context-parallel 8)
expect_error("--decode-context-parallel: Transformers does not split a cache by tokens\n" estimate --model deepseek-v3 --gpu
             h200x8 --engine transformers --context 512 --tensor-parallel 8 --decode-context-parallel 8)
expect_error("--kv-cache-dtype: Transformers keeps its cache in the dtype; --cache-implementation quantized" ${on} --engine
             transformers --kv-cache-dtype fp8)
foreach(option --cache-backend=hqq --nbits=4 --q-group-size=64 --residual-length=128)
  string(REGEX REPLACE "=.*" "" name "${option}")
  expect_error("${name} needs --cache-implementation quantized" ${on} --engine transformers ${option})
endforeach()
expect_error("--nbits: quanto quantizes a cache to 2 or 4 bits, not to 3" ${on} --engine transformers --cache-implementation
             quantized --nbits 3)
expect_error("--max-new-tokens 1025 is more than the 1024 tokens of a request" ${on} --engine transformers --max-new-tokens 1025)
foreach(value "word" -1 1.5 1e9 9223372036854775808)
  expect_error("--max-new-tokens: \"${value}\" is not a whole number from 0" ${on} --engine transformers
               "--max-new-tokens=${value}")
endforeach()

# Speculation, LoRA, host memory.
set(drafting ${on} --engine vllm --speculative-method ngram)
expect_error("--speculative-method: \"word\" is unknown, expected one of mtp, eagle, draft_model, ngram" ${on} --engine vllm
             --speculative-method word)
expect_error("--speculative-method needs --speculative-tokens" ${drafting})
expect_error("--speculative-tokens needs --speculative-method" ${on} --engine vllm --speculative-tokens 3)
foreach(value word -1 0 1025 1.5 1e3 9223372036854775808 nan)
  expect_error("--speculative-tokens: \"${value}\" is not a whole number of tokens from 1 to 1024" ${drafting}
               "--speculative-tokens=${value}")
endforeach()
foreach(value word -1 0 100001 1.5 1e3 9223372036854775808 nan)
  expect_error("--max-loras: \"${value}\" is not a whole number of adapters from 1 to 100000" ${on} --engine vllm
               --max-lora-rank 8 "--max-loras=${value}")
  expect_error("--max-lora-rank: \"${value}\" is not a whole number of ranks from 1 to 65536" ${on} --engine vllm --max-loras 1
               "--max-lora-rank=${value}")
endforeach()
foreach(value word -1 1.5 1e9 9223372036854775808 nan 15G)
  expect_error("--host-memory-bytes: \"${value}\" is not a" ${on} --engine vllm "--host-memory-bytes=${value}")
endforeach()
foreach(option --speculative-method --speculative-tokens --speculative-model --max-loras --max-lora-rank --host-memory-bytes)
  expect_error("${option}: needs a value" ${on} --engine vllm ${option})
  expect_error("${option}: needs a value" ${on} --engine vllm ${option}= --sequences 1)
  expect_error("${option}: is given more than once" ${on} --engine vllm ${option} 1 ${option} 1)
endforeach()
expect_error("--speculative-method eagle needs --speculative-model" ${on} --engine vllm --speculative-method eagle
             --speculative-tokens 3)
expect_error("--speculative-model is for --speculative-method eagle and draft_model" ${drafting} --speculative-tokens 3
             --speculative-model llama-3.2-1b)
expect_error("--speculative-model: \"zzz\" is neither a model of the catalogue nor a file" ${on} --engine vllm
             --speculative-tokens 3 --speculative-model zzz)
expect_error("--speculative-method mtp: llama-3.1-8b has no draft layers" ${on} --engine vllm --speculative-method mtp
             --speculative-tokens 1)
expect_error("--max-loras and --max-lora-rank go together" ${on} --engine vllm --max-loras 1)
expect_error("--max-loras and --max-lora-rank go together" ${on} --engine vllm --max-lora-rank 8)
expect_error("--host-memory-bytes needs a GPU" estimate ${model} --context 5 --host-memory-bytes 1GB)
foreach(command estimate capacity)
  set(offloads ${command} ${model} ${h100} --context 1024 --engine vllm --cpu-offload-gb 4 --require-fit --host-memory-bytes)
  expect_output(0 "note: host memory per rank: 4.29 GB" ${offloads} 5GB)
  expect_output(1 "warning: 4.29 GB [^\n]* of host memory are needed per rank, --host-memory-bytes gives 4.00 GB" ${offloads} 4GB)
endforeach()

# A limit of the engine is an answer, not bad input.
function(expect_refusal pattern)
  expect_output(0 "refused: ${pattern}" ${ARGN})
  expect_output(1 "refused: ${pattern}" ${ARGN} --require-fit)
  get_json(${ARGN})
  expect_type(STRING refused)
  expect_value(OFF fits)
endfunction()
foreach(command estimate capacity)
  expect_refusal("User-specified max_model_len .131073. is greater" ${command} ${model} ${h100} --engine vllm --max-model-len 131073)
  expect_refusal("User-specified max_model_len .131073. is greater" ${command} ${model} ${h100} --engine vllm --context 131073)
  expect_refusal("User-specified context_length .131073. is greater" ${command} ${model} ${h100} --engine sglang --context-length
                 131073)
  expect_refusal("max_num_batched_tokens .8. must be greater than or equal" ${command} ${model} ${h100}
                 --engine vllm --max-num-batched-tokens 8 --max-num-seqs 16)
  expect_output(0 "note: --max-seq-len: tensorrt-llm takes 131,072 tokens instead" ${command} ${model} ${h100} --engine
                tensorrt-llm --max-seq-len 200000)
endforeach()
finish()
