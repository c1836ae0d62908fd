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
                    --enable-dp-attention --enable-dp-lm-head --enable-hierarchical-cache)

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

# Counts that may be 0; llama.cpp: also what is neither of these.
set(wholes_of_transformers --max-new-tokens)
set(wholes_of_llama.cpp --ctx-size --ubatch-size --main-gpu --n-rs-seq --n-cpu-moe --n-outputs-max --fit-target)
set(counts_of_llama.cpp --batch-size --parallel --fit-ctx)
set(words_of_llama.cpp --cache-type-k --cache-type-v --flash-attn --split-mode --load-mode --device --program --n-gpu-layers --fit)
set(flags_of_llama.cpp --kv-unified --no-kv-unified --swa-full --cpu-moe --no-kv-offload --no-op-offload --no-host --no-mmap)
set(others_of_llama.cpp --tensor-split --override-tensor) # llama_cpp.cmake

set(counts_of_ollama --num-ctx --num-parallel --num-batch)
set(wholes_of_ollama --main-gpu)
set(sizes_of_ollama --gpu-overhead)
set(words_of_ollama --num-gpu --kv-cache-type --flash-attention)
set(flags_of_ollama --sched-spread --no-mmap)

set(counts_of_lm-studio --context-length --max-parallel-predictions --eval-batch-size --physical-batch-size)
set(wholes_of_lm-studio --num-cpu-expert-layers)
set(words_of_lm-studio --flash-attention --k-cache-quantization --v-cache-quantization)
set(flags_of_lm-studio --unified-kv-cache --no-unified-kv-cache --no-offload-kv-cache-to-gpu --no-try-mmap
                       --no-keep-model-in-memory)
set(others_of_lm-studio --gpu-offload) # front_ends.cmake

set(counts_of_ik_llama.cpp --batch-size --ubatch-size --parallel)
set(wholes_of_ik_llama.cpp --ctx-size --mla --amb --n-cpu-moe)
set(words_of_ik_llama.cpp --cache-type-k --cache-type-v --flash-attn --n-gpu-layers)
set(flags_of_ik_llama.cpp --rtr --no-fmoe --swa-compress --cpu-moe --no-kv-offload)

set(local llama.cpp ollama lm-studio ik_llama.cpp)
set(all_engines vllm sglang tensorrt-llm transformers geometry ${local})
foreach(engine ${all_engines})
  run(engines ${engine} --json)
  set(json_of_${engine} "${out}")
endforeach()
foreach(engine vllm sglang tensorrt-llm transformers ${local})
  set(on estimate ${model} ${h100} --context 1024 --engine ${engine})

  # The lists above are what the program knows.
  set(known)
  foreach(kind counts wholes sizes shares numbers words flags others)
    list(APPEND known ${${kind}_of_${engine}})
  endforeach()
  string(JSON count LENGTH "${json_of_${engine}}" options)
  math(EXPR last "${count} - 1")
  foreach(i RANGE ${last})
    string(JSON option GET "${json_of_${engine}}" options ${i} name)
    if(NOT option IN_LIST known)
      fail("${option} of ${engine} is not tested")
    endif()
    string(JSON value GET "${json_of_${engine}}" options ${i} value)
    if(NOT value STREQUAL "")
      expect_error("${option}: needs a value" ${on} ${option})
      expect_error("${option}: needs a value" ${on} ${option}= --sequences 1)
      expect_error("${option}: is given more than once" ${on} ${option} 1 ${option} 1)
    endif()
    # Two engines that do not have the option, others for each option: all pairs would take minutes.
    set(foreign 0)
    set(rotated ${all_engines})
    math(EXPR by "${i} % 8")
    list(SUBLIST rotated ${by} -1 tail)
    list(SUBLIST rotated 0 ${by} head)
    foreach(other ${tail} ${head})
      if(foreign LESS 2 AND NOT json_of_${other} MATCHES "\"${option}\"")
        math(EXPR foreign "${foreign} + 1")
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
  foreach(option ${wholes_of_${engine}})
    foreach(value word -2 0.5 1.5 1e9 9223372036854775808 99999999999999999999 nan 0x10 32k)
      expect_error("${option}: \"${value}\" is not a whole number from 0 to [0-9]+" ${on} "${option}=${value}")
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
    foreach(value word -2 0x4 nan)
      expect_error("${option}: \"${value}\" is unknown, expected (one of|a number of layers,) [a-z]" ${on} "${option}=${value}")
    endforeach()
  endforeach()
  foreach(option ${flags_of_${engine}})
    expect_error("${option}: takes no value" ${on} ${option}=word)
  endforeach()

  # Versions; those of llama.cpp are builds, and what runs it has none.
  if(engine IN_LIST local)
    continue()
  endif()
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
foreach(name tgi @ @0.19)
  expect_error("--engine: engine \"${name}\" is unknown, expected one of geometry, vllm, sglang, tensorrt-llm, transformers, llama.cpp, ollama, lm-studio, ik_llama.cpp\n"
               ${on}               --engine ${name})
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
foreach(engine vllm tensorrt-llm transformers ${local})
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

# What estimates of serving memory are known to get wrong.

# bytes_of(<variable> <name>): of the item of that name.
macro(bytes_of variable name)
  value_of(item_list items)
  string(JSON item_count LENGTH "${item_list}")
  set(${variable} "none")
  foreach(item_index RANGE ${item_count})
    string(JSON item_name ERROR_VARIABLE problem GET "${item_list}" ${item_index} name)
    if(item_name STREQUAL "${name}")
      string(JSON ${variable} GET "${item_list}" ${item_index} bytes)
    endif()
  endforeach()
endmacro()
function(expect_same what a b)
  if(NOT a STREQUAL b OR a STREQUAL "none")
    fail("${what}: ${a} and ${b}, expected the same")
  endif()
endfunction()
function(expect_fits answer)
  get_json(${ARGN})
  expect_value(${answer} fits)
endfunction()

# Never a silent zero: what is not known stops, in any engine.
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
file(WRITE "${WORK}/pattern.json" "{\"model_type\": \"gemma3_text\", \"hidden_size\": 640, \"num_hidden_layers\": 6,
  \"num_attention_heads\": 4, \"num_key_value_heads\": 1, \"head_dim\": 256, \"vocab_size\": 1000, \"intermediate_size\": 512,
  \"max_position_embeddings\": 4096, \"sliding_window\": 512, \"torch_dtype\": \"bfloat16\", \"layer_types\": []}")
file(WRITE "${WORK}/dtype.json" "{\"model_type\": \"llama\", \"hidden_size\": 2048, \"num_hidden_layers\": 4,
  \"num_attention_heads\": 16, \"num_key_value_heads\": 2, \"vocab_size\": 1000, \"intermediate_size\": 512,
  \"max_position_embeddings\": 4096, \"torch_dtype\": \"float7\"}")
foreach(engine vllm sglang tensorrt-llm transformers ${local})
  set(on estimate ${h100} --context 1024 --engine ${engine})
  expect_error("pattern.json: .*layer_types" ${on} --config "${WORK}/pattern.json")
  expect_error("dtype.json: .*float7" ${on} --config "${WORK}/dtype.json")
  expect_error("--kv-cache-dtype: cache format \"word\" is unknown" ${on} ${model} --kv-cache-dtype word)
  expect_error("--weights: .*\"word\" is unknown" ${on} ${model} --weights word)
endforeach()
expect_output(0 "warning: vllm has no cache format q8_0" estimate ${model} ${h100} --engine vllm --kv-cache-dtype q8_0)

foreach(engine vllm@0.19 vllm sglang tensorrt-llm)
  # Per GPU: two ranks have two contexts and two peaks, and no rank sees the other's memory.
  get_json(estimate ${model} ${h100} --engine ${engine} --context 4096)
  bytes_of(context framework.context)
  value_of(usable gpu usable_bytes)
  value_of(per_token kv_cache bytes_per_token)
  bytes_of(weights weights)
  value_of(parameters model parameters)
  math(EXPR two_bytes_each "2 * ${parameters}")
  expect_same("${engine}: weights of llama-3.1-8b" ${weights} ${two_bytes_each})
  get_json(estimate ${model} --gpu h100-sxm-80gbx2 --engine ${engine} --context 4096)
  bytes_of(context_of_two framework.context)
  bytes_of(activations_of_two activations)
  value_of(usable_of_two gpu usable_bytes)
  value_of(total total_bytes)
  expect_same("${engine}: context of a rank" ${context} ${context_of_two})
  if(NOT engine MATCHES "vllm@0.19|sglang") # whose shares of the GPU depend on the ranks
    expect_same("${engine}: usable per GPU" ${usable} ${usable_of_two})
  endif()
  if(activations_of_two STREQUAL "none" OR activations_of_two EQUAL 0)
    fail("${engine}: the ranks of two GPUs have no activations of their own")
  endif()
  math(EXPR both "2 * ${total}")
  expect_value(${both} cluster total_bytes)

  # Data parallelism never divides a request.
  get_json(capacity ${model} ${h100} --engine ${engine} --context 4096)
  value_of(request bytes_per_max_length_request)
  get_json(capacity ${model} --gpu h100-sxm-80gbx2 --data-parallel 2 --engine ${engine} --context 4096)
  expect_value(${request} bytes_per_max_length_request)

  # The cache's format has nothing to do with that of the weights.
  get_json(estimate ${model} ${h100} --engine ${engine} --context 4096 --weights fp8)
  expect_value(${per_token} kv_cache bytes_per_token)
  get_json(estimate ${model} ${h100} --engine ${engine} --context 4096 --kv-cache-dtype fp8)
  expect_item(weights ${weights})
  math(EXPR half "${per_token} / 2")
  expect_value(${half} kv_cache bytes_per_token)

  # All experts are resident: 128 of them on one rank, 32 on each of four, whatever the 8 that a token takes.
  set(experts --model qwen3-30b-a3b --engine ${engine} --context 4096)
  get_json(estimate ${experts} ${h100})
  bytes_of(all weights.experts)
  value_of(active model active_parameters)
  if(all LESS active)
    fail("${engine}: ${all} bytes of experts, as if only the active ones were resident")
  endif()
  math(EXPR quarter "${all} / 4")
  get_json(estimate ${experts} --gpu h100-sxm-80gbx4 --tensor-parallel 4 --expert-parallel 4)
  expect_item(weights.experts ${quarter})
  get_json(estimate ${experts} --gpu h100-sxm-80gbx4 --data-parallel 4)
  if(engine MATCHES vllm) # splits the experts' matrices over all ranks
    expect_item(weights.experts ${quarter})
  else()
    expect_item(weights.experts ${all})
  endif()

  # More requests than the pools hold do not fit, and the inverse of a curve with windows is its true one.
  foreach(name llama-3.1-8b gemma-3-12b gpt-oss-20b)
    set(work --model ${name} ${h100} --engine ${engine} --context 30000)
    get_json(capacity ${work})
    value_of(most max_sequences)
    expect_fits(ON estimate ${work} --sequences ${most})
    math(EXPR more "${most} + 1")
    expect_fits(OFF estimate ${work} --sequences ${more})
    expect_output(1 "does not fit: " capacity ${work} --sequences ${more} --require-fit)
  endforeach()
endforeach()

# GB is not GiB.
set(size_of_16_GB 16000000000)
set(size_of_16_GiB 17179869184)
foreach(unit GB GiB)
  get_json(capacity ${model} ${h100} --engine vllm --kv-cache-memory-bytes 16${unit} --max-model-len 4096)
  expect_value(${size_of_16_${unit}} available_kv_bytes)
endforeach()

# Printed tokens are no capacity: the same blocks, two versions, two numbers, the same requests.
set(windows capacity --model gemma-3-27b ${h100} --kv-cache-memory-bytes 16GiB --max-model-len 32768 --max-num-seqs 64)
get_json(${windows} --engine vllm@0.20)
value_of(blocks blocks)
value_of(printed printed_kv_cache_tokens)
get_json(${windows} --engine vllm@0.21)
expect_value(${blocks} blocks)
value_of(printed_later printed_kv_cache_tokens)
if(printed EQUAL printed_later)
  fail("vLLM 0.20 and 0.21 print the same ${printed} tokens")
endif()

# A length that does not start: the answer names the longest that does, and it is.
foreach(engine vllm@0.19 vllm)
  foreach(name llama-3.1-8b gemma-3-12b)
    set(small --model ${name} --gpu l4-24gb --kv-cache-dtype fp8 --weights fp8 --gpu-memory-utilization 0.65 --engine ${engine})
    get_json(capacity ${small} --max-model-len 131072)
    expect_value(OFF starts)
    value_of(longest longest_start)
    get_json(capacity ${small} --max-model-len ${longest})
    expect_value(ON starts)
    math(EXPR longer "${longest} + 1")
    get_json(capacity ${small} --max-model-len ${longer})
    expect_value(OFF starts)
    expect_output(0 "does not start: one request of 131,072 tokens needs .* the longest that starts is [0-9,]+ tokens" capacity
                  ${small} --max-model-len 131072)
  endforeach()
endforeach()

# Parts add up to their parents, parents to the total, ranks to the cluster, and both commands say the same.
function(expect_sums)
  get_json(estimate ${ARGN})
  get_property(text GLOBAL PROPERTY json)
  string(JSON rank_kinds LENGTH "${text}" ranks)
  math(EXPR last_kind "${rank_kinds} - 1")
  set(cluster 0)
  foreach(kind RANGE ${last_kind})
    string(JSON ranks GET "${text}" ranks ${kind} count)
    string(JSON items GET "${text}" ranks ${kind} items)
    string(JSON count LENGTH "${items}")
    math(EXPR last "${count} - 1")
    set(total 0)
    set(parents)
    foreach(i RANGE ${last})
      string(JSON name GET "${items}" ${i} name)
      string(JSON bytes GET "${items}" ${i} bytes)
      if(name MATCHES "^(.*)[.]")
        set(parent "${CMAKE_MATCH_1}")
        if(NOT DEFINED parts_of_${parent})
          set(parts_of_${parent} 0)
        endif()
        math(EXPR parts_of_${parent} "${parts_of_${parent}} + ${bytes}")
      else()
        list(APPEND parents ${name})
        set(bytes_of_${name} ${bytes})
        unset(parts_of_${name})
        math(EXPR total "${total} + ${bytes}")
      endif()
    endforeach()
    foreach(name IN LISTS parents)
      if(DEFINED parts_of_${name})
        expect_same("${ARGN}: ${name} of rank kind ${kind}" ${bytes_of_${name}} ${parts_of_${name}})
      endif()
    endforeach()
    expect_value(${total} ranks ${kind} total_bytes)
    math(EXPR cluster "${cluster} + ${ranks} * ${total}")
  endforeach()
  expect_value(${cluster} cluster total_bytes)
  value_of(fits fits)
  get_json(capacity ${ARGN})
  expect_value(${fits} fits)
endfunction()
foreach(engine vllm@0.8 vllm@0.19 vllm sglang tensorrt-llm transformers)
  expect_sums(${model} ${h100} --context 4096 --engine ${engine} --max-loras 2 --max-lora-rank 16)
  expect_sums(--model qwen3-30b-a3b --gpu h100-sxm-80gbx4 --tensor-parallel 2 --pipeline-parallel 2 --context 4096 --engine ${engine})
  expect_sums(--model qwen2.5-vl-7b --gpu l4-24gb --context 4096 --engine ${engine})
  expect_sums(--model qwen3-next-80b-a3b --gpu h200x2 --context 4096 --sequences 8 --engine ${engine})
endforeach()
foreach(engine ollama lm-studio ik_llama.cpp)
  foreach(name qwen3-30b-a3b gemma-3-27b)
    expect_sums(--model ${name} --gpu h200x2 --context 4096 --sequences 2 --engine ${engine})
  endforeach()
endforeach()
foreach(name qwen3-30b-a3b qwen2.5-vl-7b qwen3-next-80b-a3b deepseek-v3 gemma-3-27b)
  expect_sums(--model ${name} --gpu h200x4 --context 4096 --sequences 2 --engine llama.cpp)
  expect_sums(--model ${name} --gpu h200x2 --context 4096 --engine llama.cpp --weights q4_k --cpu-moe --n-gpu-layers 20)
endforeach()
expect_sums(--model deepseek-v3 --gpu h200x8 --engine vllm --speculative-method mtp --speculative-tokens 1)
expect_sums(${model} ${h100} --context 4096 --engine vllm --speculative-model llama-3.2-1b --speculative-tokens 3)

# What does not fit in memory together is said, also where the pools hold the requests.
expect_output(0 "refused: CUDA out of memory: weights and cache take 116059021312 bytes, the GPU has" estimate ${model}
              ${h100} --engine vllm --kv-cache-memory-bytes 100GB)
expect_output(0 "In use by others, beside all of this: 1.00 GB .*warning: all of it is" estimate ${model} --gpu l4-24gb --engine vllm
              --gpu-used-bytes 1GB --max-model-len 4096)
expect_output(0 "warning: the constants of vllm were measured on NVIDIA GPUs, not on amd-mi300x" estimate ${model} --gpu
              amd-mi300x-192gb --engine vllm)
expect_output(0 "warning: tensorrt-llm runs on NVIDIA GPUs, not on amd-mi300x" estimate ${model} --gpu amd-mi300x-192gb --engine
              tensorrt-llm)
expect_output(0 "requests of that length at once, per replica +[0-9]" capacity ${model} --gpu h100-sxm-80gbx2 --data-parallel 2
              --engine vllm)

finish()
