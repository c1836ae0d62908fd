# `kvbudget compare LOG` and `--calibration`: logs of tests/cli/logs, written for this test.
include("${CMAKE_CURRENT_LIST_DIR}/expect.cmake")
set(logs tests/cli/logs)
file(MAKE_DIRECTORY "${WORK}")

# Everything comes from the log: engine, model, limits, and the total of the GPU.
expect_output(0 "^${logs}/vllm-terms.log: llama-3.1-8b on 1 x a GPU as the log prints it, vllm@0.11\n" compare ${logs}/vllm-terms.log)
expect_output(0 "  weights +14.9889 GiB +14.9[0-9]+ GiB .*\n  activations +4.76 GiB .*\n  left for the cache +51.38 GiB" compare ${logs}/vllm-terms.log)
expect_output(0 "from the log: --engine vllm@0.11.0, --model meta-llama/Llama-3.1-8B-Instruct, --tensor-parallel 1, --max-model-len 16000, --max-num-batched-tokens 8192, --block-size 128"
              compare ${logs}/vllm-terms.log)
expect_output(0 "no --gpu is given, which decides kernels and some defaults: a GPU of 85.02 GB \\(79.18 GiB\\) as printed, as a program sees on .*nvidia-h100-sxm-80gb" compare ${logs}/vllm-terms.log)
expect_output(0 "\nThe pool is [^\n]*\\.\n" compare ${logs}/vllm-terms.log)
get_json(compare ${logs}/vllm-terms.log)
expect_value(1 schema)
expect_value(vllm@0.11 engine)
expect_value(llama-3.1-8b model)
expect_type(NULL gpu)
expect_value(85018877624 gpu_total_bytes)
expect_value(total_gpu_memory figures 0 name)
expect_value("as printed" figures 0 verdict)
expect_value(5 figures 0 line)
expect_type(NULL figures 0 rank)
expect_type(NUMBER figures 0 difference_percent)
expect_length(0 terms_not_printed)
expect_type(STRING conclusion)

# What the user gives counts: a GPU, whose total the log corrects; another version; other limits.
get_json(compare ${logs}/vllm-terms.log --gpu h100-sxm-80gb --engine vllm@0.12 --max-num-seqs 64)
expect_value(vllm@0.12 engine)
expect_value(nvidia-h100-sxm-80gb gpu)
expect_value(85018877624 gpu_total_bytes)

# Ranks that differ, the fullest first; what the log leaves open.
get_json(compare ${logs}/vllm-two-ranks.log --gpu h100-sxm-80gb)
expect_value(2 ranks)
expect_value(available_kv figures 2 name)
expect_value(TP0 figures 2 rank)
expect_value(37033355510 figures 2 printed)
expect_value(TP1 figures 3 rank)
expect_length(3 terms_not_printed)

# A refusal: three numbers, and no others.
expect_output(0 "cache that the longest request needs +40.00 GiB +40.00 GiB +0.00 GiB +0.0 % +as printed\n" compare ${logs}/vllm-refusal.log --gpu h100-sxm-80gb)
expect_output(0 "left for the cache +1.66 GiB" compare ${logs}/vllm-refusal.log --gpu h100-sxm-80gb)
expect_output(0 "longest length that starts +5,424 .*the same from the printed pool +5,424 +5,424 " compare ${logs}/vllm-refusal.log --gpu h100-sxm-80gb)
expect_output(0 "--weights fp8_linear" compare ${logs}/vllm-refusal.log --gpu h100-sxm-80gb)

# The other engines.
expect_output(0 "free before loading +TP1 +76.55 GiB .*pools of the cache +34.22 GiB .*the log does not print the engine's version" compare ${logs}/sglang.log --gpu
              h100-sxm-80gb)
expect_output(0 "peak while profiling +20.65 GiB .*bytes of a token, as printed +131,072 B +131,072 B" compare ${logs}/tensorrt-llm.log)

# Measured terms give the measured pool back.
foreach(log vllm-terms vllm-two-ranks tensorrt-llm)
  set(file "${WORK}/${log}.json")
  file(REMOVE "${file}")
  expect_output(0 "measured terms are in " compare ${logs}/${log}.log --gpu h100-sxm-80gb --calibrate "${file}")
  if(NOT EXISTS "${file}")
    fail("--calibrate wrote no ${file}")
  endif()
  expect_output(0 "The pool is as predicted, within the printed digits: nothing is off" compare ${logs}/${log}.log --gpu h100-sxm-80gb --calibration "${file}")
endforeach()
set(measured "${WORK}/vllm-two-ranks.json")
file(READ "${measured}" written)
file(READ "${ROOT}/${logs}/vllm-two-ranks.json" committed)
if(NOT written STREQUAL committed)
  fail("${logs}/vllm-two-ranks.json is not what --calibrate writes: ${written}")
endif()
get_json(capacity --engine vllm@0.11 --model qwen3-32b --gpu h100-sxm-80gbx2 --max-model-len 16000 --block-size 128 --calibration "${measured}")
expect_value(282496 printed_kv_cache_tokens)
expect_value(37033355510 available_kv_bytes)
get_json(estimate --engine vllm@0.11 --model qwen3-32b --gpu h100-sxm-80gbx2 --max-model-len 16000 --block-size 128 --calibration "${measured}")
expect_item(weights 32840393687)
expect_value(measured items 0 basis)
expect_value("vllm-two-ranks.log:6" items 0 source)
# They do not hold for other limits of a step, GPUs and models.
expect_output(0 "measured, but not used: activations with memory outside PyTorch: measured with max_num_seqs 1024, not 512" estimate --engine vllm@0.11 --model
              qwen3-32b --gpu h100-sxm-80gbx2 --max-model-len 16000 --max-num-seqs 512 --calibration "${measured}")
expect_output(0 "activations with memory outside PyTorch: measured on nvidia-h100-sxm-80gb" estimate --engine vllm@0.11 --model qwen3-32b --gpu h200-sxm-141gbx2
              --max-model-len 16000 --calibration "${measured}")
expect_output(0 "measured, but not used: weights: measured with qwen3-32b" estimate --engine vllm@0.11 --model llama-3.1-8b --gpu h100-sxm-80gbx2
              --max-model-len 16000 --calibration "${measured}")

# Bad input.
expect_error("LOG is required" compare)
expect_error("missing.log: No such file" compare missing.log)
expect_error("README.md: no known line, expected the log of a start of vLLM" compare README.md)
expect_error("vllm-two-ranks.log: the log does not print the memory of a GPU: give --gpu ID" compare ${logs}/vllm-two-ranks.log)
expect_error("a log of vllm, which --engine sglang does not speak for" compare ${logs}/vllm-terms.log --engine sglang)
expect_error("a log of vllm, which --engine geometry does not speak for" compare ${logs}/vllm-terms.log --engine geometry)
expect_error("--gpu: " compare ${logs}/vllm-terms.log --gpu h100-sxm-81gb)
expect_error("--calibrate: .*cannot be written" compare ${logs}/vllm-terms.log --calibrate "${WORK}/none/c.json")
expect_error("--calibration: missing.json: No such file" compare ${logs}/vllm-terms.log --calibration missing.json)
file(READ "${measured}" good)
string(JSON bad SET "${good}" terms weights low 99999999999)
file(WRITE "${WORK}/bad.json" "${bad}")
expect_error("--calibration: .*bad.json: terms.weights: needs low <= expected <= high" estimate --model llama-3.1-8b --context 5 --calibration "${WORK}/bad.json")
string(JSON bad SET "${good}" gpu total_bytes "\"much\"")
file(WRITE "${WORK}/bad.json" "${bad}")
expect_error("--calibration: .*bad.json: gpu.total_bytes: must be a whole number, not text" estimate --model llama-3.1-8b --context 5 --calibration "${WORK}/bad.json")
file(READ "${ROOT}/${logs}/vllm-terms.log" text)
string(REPLACE "meta-llama/Llama-3.1-8B-Instruct" "/models/ours" text "${text}")
file(WRITE "${WORK}/ours.log" "${text}")
expect_error("ours.log: model \"/models/ours\" of the log: .*--config config.json" compare "${WORK}/ours.log")
expect_output(0 "llama-3.1-8b on 1 x" compare "${WORK}/ours.log" --model llama-3.1-8b)
string(REPLACE "/models/ours" "/root/.cache/huggingface/hub/models--meta-llama--Llama-3.1-8B-Instruct/snapshots/0e9e39f" text "${text}")
file(WRITE "${WORK}/cached.log" "${text}")
expect_output(0 "llama-3.1-8b on 1 x" compare "${WORK}/cached.log")
finish()
