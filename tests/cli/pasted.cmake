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

# --require-fit keeps its exit status.
expect_both(1 "does not fit" "pasted command" capacity --engine geometry --gpu h100-sxm-80gb --require-fit -- vllm serve
            llama-3.1-70b --max-model-len 8192)

expect_output(0 "Behind --: the command line of a vLLM" capacity --help)

# Bad input: one line, whatever was read before it.
expect_error("kvbudget capacity: the pasted command is empty" capacity --gpu h200 --)
expect_error("is vllm bench, which starts no server" capacity --gpu h200 -- vllm bench serve)
expect_error("\"llama-server\" starts no server that is understood, expected vllm serve" estimate -- llama-server -m x)
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
