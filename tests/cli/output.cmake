# What people see: exit status, tables, files.
include("${CMAKE_CURRENT_LIST_DIR}/expect.cmake")
set(work --model llama-3.1-70b --context 32768)
set(fp8 --weights fp8 --kv-cache-dtype fp8)

expect_output(0 "Usage: kvbudget" --help)
expect_output(0 "--kv-cache-dtype" estimate --help)
expect_output(0 "^kvbudget [0-9]+\\.[0-9]+\\.[0-9]+\n$" --version)

# "Does not fit" is a result; only --require-fit makes it an exit status.
expect_output(0 "never fits" estimate ${work} --gpu h200)
expect_output(1 "never fits" estimate ${work} --gpu h200 --require-fit)
expect_output(0 "surely fits" estimate ${work} ${fp8} --gpu h200 --require-fit)
expect_output(1 "\"fits\": false" estimate ${work} --gpu h200 --require-fit --json)
expect_output(1 "does not fit" capacity ${work} --gpu h200 --require-fit)
expect_output(1 "with the headroom asked for" estimate ${work} ${fp8} --gpu h200 --headroom 50% --require-fit)

# A verdict says what it is not about, in all of its forms.
set(missing "not counted: activations \\(give --batched-tokens\\), framework \\(give --framework\\)\\.")
expect_output(0 "surely fits: [^\n]*\n[^\n]*${missing}" estimate ${work} ${fp8} --gpu h200)
expect_output(0 "surely fits: [^\n]*\n\n${missing}" estimate ${work} ${fp8} --gpu h200 --markdown)
expect_output(0 "not counted +activations \\(give --batched-tokens\\), framework" capacity ${work} ${fp8} --gpu h200)
expect_output(0 "not counted: framework \\(give --framework\\)\\." estimate ${work} --batched-tokens 1 --gpu h200)
expect_output(0 "graphs.*fits" estimate ${work} ${fp8} --framework pytorch-cuda --gpu h200)

# The title names every format.
expect_output(0 "cache fp8_e4m3 · 1 x" estimate ${work} ${fp8})
expect_output(0 "cache fp8_e4m3, 2 of 80 layers bf16 · 1 x" estimate ${work} ${fp8} --kv-cache-dtype-skip-layers last:2)
expect_output(0 "cache fp8_e4m3, 3 of 80 layers fp16,fp8 · 1 x" estimate ${work} ${fp8} --kv-cache-dtype-skip-layers 0-2=fp16,fp8)
expect_output(0 "cache bf16 · 1 x" estimate ${work} --kv-cache-dtype-skip-layers 0)

# What was filled in and what is doubtful is said.
expect_output(0 "note: --sequences is not given: 1 sequence" estimate ${work})
expect_output(0 "note: no layout is given: tensor parallel over 2 GPUs" estimate ${work} --gpu h200x2)
expect_output(0 "warning: a context of 32768 tokens is beyond the 8192 positions" estimate --model llama-3-70b --context 32768)
expect_output(0 "geometry" estimate ${work})

expect_output(0 "kv_cache +10.00 " estimate ${work} --unit GiB)
expect_output(0 "\\| \\*\\*kv_cache\\*\\* \\|" estimate ${work} --markdown)
expect_output(0 "rank_kind,ranks,.*\n0,1,0,0,weights,,141107412992," estimate ${work} --csv)
file(MAKE_DIRECTORY "${WORK}")
file(REMOVE "${WORK}/x.svg")
expect_output(0 "total" estimate ${work} --svg "${WORK}/x.svg")
file(READ "${WORK}/x.svg" drawing)
if(NOT drawing MATCHES "^<svg .*</svg>\n$")
  fail("--svg wrote no drawing")
endif()

expect_output(0 "longest context of 1 sequence +607,325 tokens" capacity ${work} ${fp8} --gpu nvidia-h100-sxm-80gbx2)
expect_output(0 "nvidia-h100-sxm-80gb" gpus)
expect_output(0 "150,754,820,096 B" gpus h200)
expect_output(0 "150,103,738,286 B to 150,114,475,704 B" gpus h200)
expect_output(0 "nvidia-h100-nvl-94gb.*nvidia-h100-sxm-80gb" gpus h100)
expect_output(0 "article-70b-mha" models)
expect_output(0 "gemma-3-27b [^\n]* 507,904 +81,920\n" models)
expect_output(0 "phi-4-mini [^\n]* 131,072 +131,072\n" models)
expect_output(0 "llama-3.1-70b [^\n]* 327,680 +327,680\n" models)
expect_output(0 "70,553,706,496" models llama-3.1-70b)
expect_output(0 "^llama-3.1-70b\n" models meta-llama/Llama-3.1-70B-Instruct)
expect_output(0 "\ngemma-2-9b +gemma2 .*\ngemma-2-27b [^\n]*\nKV B" models --type gemma2 --min-parameters 9B)
expect_output(0 "^name [^\n]*\n(qwen[^\n]*\n)*qwen2.5-0.5b [^\n]*\n(qwen[^\n]*\n)*qwen3-0.6b [^\n]*\nKV B[^\n]*\n4 models" models qwen --max-parameters 596049920)
expect_output(0 "\ngemma-3-27b " models google) # an organisation
expect_output(0 "No model of the catalogue is of this kind" models --max-parameters 1M)
expect_output(0 "llama-3.1-8b +llama +8.03e9 +all " models --dense)
expect_output(0 "^\\[\\]\n$" models llama --type qwen3 --json)
expect_output(0 "^geometry " engines)

# The story: every reading to the byte, and the slips.
expect_output(0 "71,974,836,480 B.*fits.*87,474,836,480 B.*never fits" explain)
expect_output(0 "total +143\\.9" explain)
expect_output(0 "186\\.9 GB" explain)
expect_output(0 "10240, not the hidden size 8192" explain)
finish()
