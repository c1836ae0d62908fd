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

# llama.cpp and what runs it, device by device: options, model and weights from the log.
expect_output(0 "^${logs}/llama-cpp.log: llama-3.1-8b on CUDA0 \\(NVIDIA GeForce RTX 4090\\), llama.cpp@b10107\n +device " compare ${logs}/llama-cpp.log)
expect_output(0 "  weights +CUDA0 +7,605.33 MiB +7,605.33 MiB +0.00 MiB +0.0 % +as printed\n +CPU_Mapped +532.31 MiB .* compute +CUDA0 +140.01 MiB +140.01 MiB" compare
              ${logs}/llama-cpp.log)
expect_output(0 "outside all buffers +CUDA0 +451.00 MiB +456.00 MiB .*\nNothing is off: 14 of 15 figures as predicted, within the printed digits; within what was predicted as possible: outside all buffers of CUDA0\\.\n"
              compare ${logs}/llama-cpp.log)
expect_output(0 "from the log: --engine llama.cpp@b10107, --model Meta-Llama-3.1-8B-Instruct-Q8_0, --ctx-size 32768, --batch-size 2048, --ubatch-size 512, --parallel 4, --kv-unified, --flash-attn on"
              compare ${logs}/llama-cpp.log)
expect_output(0 "outside all buffers +CUDA0 +451.00 MiB +451.00 MiB .*Nothing is off: all 15 figures are as predicted" compare ${logs}/llama-cpp.log --framework-bytes 451MiB)
expect_output(0 "gemma-3-12b on CUDA0 \\(NVIDIA GeForce RTX 4090\\), CUDA1 \\(NVIDIA GeForce RTX 3060\\), .* its cells +SWA +1,536 +1,536 .*Nothing is off: all 21 figures are as predicted"
              compare ${logs}/llama-cpp-two-gpus.log)
expect_output(0 "deepseek-v2-lite on CUDA0, ik_llama.cpp\n.*within what was predicted as possible: compute of CUDA0 and all buffers of CUDA0\\." compare ${logs}/ik-llama-cpp.log)
expect_output(0 "qwen3-4b on CUDA0, llama.cpp\n.* CPU_Mapped +2,832.99 MiB +2,132.99 MiB +-700.00 MiB +-24.7 % +within range\n.*Nothing is off: " compare ${logs}/lm-studio.log)
expect_output(0 "qwen3-30b-a3b on CUDA0, .*Nothing is off: .*note: from the log: 120 tensors whose buffer type is overridden are in host memory\n" compare
              ${logs}/llama-cpp-experts.log)
expect_output(0 "  weights +CUDA0 [^\n]* off\n" compare ${logs}/llama-cpp-experts.log --n-cpu-moe 20)
get_json(compare ${logs}/llama-cpp-two-gpus.log)
expect_value(1 schema)
expect_value(llama.cpp@b10107 engine)
expect_value(llama.cpp front_end)
expect_value(gemma-3-12b model)
expect_length(2 gpus)
expect_value(CUDA1 gpus 1 name)
expect_value("NVIDIA GeForce RTX 3060" gpus 1 description)
expect_value(12478054400 gpus 1 free_bytes)
expect_length(21 figures)
expect_value(model figures 0 name)
expect_value(CUDA0 figures 0 device)
expect_value("as printed" figures 0 verdict)
expect_length(0 predicted_only)
expect_length(0 not_predicted)

# A number that is wrong is off by that much; a line that is missing is not taken for zero.
file(READ "${ROOT}/${logs}/llama-cpp.log" text)
string(REPLACE "CUDA0 compute buffer size =   140.01 MiB" "CUDA0 compute buffer size =   165.01 MiB" wrong "${text}")
file(WRITE "${WORK}/wrong.log" "${wrong}")
expect_output(0 "  compute +CUDA0 +165.01 MiB +140.01 MiB +-25.00 MiB +-15.2 % +off\n.*Off beyond the printed digits and beyond what was predicted as possible: compute of CUDA0 \\(25.00 MiB less predicted\\)"
              compare "${WORK}/wrong.log")
string(REGEX REPLACE "llama_kv_cache: +CUDA0 KV[^\n]*\n" "" cut "${text}")
file(WRITE "${WORK}/cut.log" "${cut}")
expect_output(0 "context, in the table +CUDA0 +4,096.00 MiB +4,096.00 MiB .*Nothing is off: 14 of 15 figures" compare "${WORK}/cut.log")
string(REPLACE "n_layer          = 32" "n_layer          = 28" other "${text}")
file(WRITE "${WORK}/other.log" "${other}")
expect_output(0 "warning: the log's model is another one: n_layer 28, here 32\n" compare "${WORK}/other.log")
# Logits of every token of a batch, which no line tells.
string(REPLACE "CUDA0 compute buffer size =   140.01 MiB" "CUDA0 compute buffer size =   258.50 MiB" bench "${text}")
file(WRITE "${WORK}/bench.log" "${bench}")
expect_output(0 "note: no line says so, but the compute buffers are nearer to logits of every token of a batch: --program library\n" compare "${WORK}/bench.log")
expect_output(0 "  compute +CUDA0 +258.50 MiB +140.01 MiB" compare "${WORK}/bench.log" --program llama-server)
# What the user gives counts.
expect_output(0 "  context +CUDA0 +4,096.00 MiB +2,176.00 MiB .* off\n" compare ${logs}/llama-cpp.log --cache-type-k q8_0 --cache-type-v q8_0)
expect_output(0 "llama-3.1-70b on CUDA0.*the log's model is another one: n_layer 32, here 80; n_embd 4096, here 8192; n_head 32, here 64\n" compare ${logs}/llama-cpp.log --model
              llama-3.1-70b --weights q8_0)

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
expect_error("local-llama-cpp-2024: the model \"Big 70B\" of the log is not in the catalogue: give --gguf FILE, or --model NAME or --config config.json with --weights" compare
             tests/fuzz/seeds/engine_log/local-llama-cpp-2024)
expect_error("a log of llama.cpp, which --engine vllm does not speak for" compare ${logs}/llama-cpp.log --engine vllm)
expect_error("a log of lm_studio, which --engine geometry does not speak for" compare ${logs}/lm-studio.log --engine geometry)
expect_error("--calibrate: buffers of local engines are computed, not measured; .*--framework-bytes sets: \"unaccounted\" is 451 MiB on CUDA0 in this log" compare
             ${logs}/llama-cpp.log --calibrate "${WORK}/none.json")
expect_error("--calibrate: buffers of local engines .*this log prints no \"unaccounted\" memory" compare ${logs}/lm-studio.log --calibrate "${WORK}/none.json")
expect_error("llama-cpp.log: llama.cpp refuses this: quantized V cache requires flash_attn to be enabled" compare ${logs}/llama-cpp.log --cache-type-v q8_0 --flash-attn off)
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
