# What the generator of models.hpp makes of files that no bundled model is like: precisions with and without a name,
# layers that keep or weigh nothing. The result is compiled and asked.
#   cmake -DCOMPILER=<c++> -DFLAGS=<flags> -DGENERATOR=<script> -DWORK=<scratch folder> -P generated_models.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}/data/models")

set(head "\"schema\": 1, \"dtype\": \"bf16\", \"hidden_size\": 64")
set(order "\"order\": [{\"repeat\": 2, \"kinds\": [0]}]")
file(WRITE "${WORK}/data/models/mixed.json" "{${head}, \"name\": \"mixed\", \"aliases\": [\"Mixed Up\"],
  \"precisions\": [
    \"mxfp4\",
    {\"name\": \"gptq-g64\", \"payload\": \"int4\", \"scales\": \"group\", \"group\": 64, \"scale_bytes\": 2, \"packed_rows\": true},
    {\"name\": \"plain\", \"payload\": \"nvfp4\"}],
  \"layers\": [{\"stores\": [], \"weights\": [
    {\"module\": \"mlp\", \"rows\": 128, \"columns\": 64, \"precision\": \"gptq-g64\"},
    {\"module\": \"mlp\", \"rows\": 128, \"columns\": 64, \"precision\": \"q4_K\"}]}], ${order},
  \"weights\": [
    {\"module\": \"embedding\", \"rows\": 100, \"columns\": 64, \"precision\": \"nf4_dq\"},
    {\"module\": \"lm_head\", \"rows\": 100, \"columns\": 64, \"precision\": \"plain\"},
    {\"module\": \"norm\", \"rows\": 64},
    {\"module\": \"vision\", \"rows\": 64, \"precision\": \"q4_K\"}]}")
file(WRITE "${WORK}/data/models/nothing.json" "{${head}, \"name\": \"nothing\",
  \"layers\": [{\"stores\": [], \"weights\": []}], ${order}, \"weights\": []}")

function(generate status errors)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${WORK}" "-DOUTPUT=${WORK}/models.hpp" -P "${GENERATOR}"
    RESULT_VARIABLE result
    ERROR_VARIABLE text)
  set(${status} "${result}" PARENT_SCOPE)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  set(${errors} "${text}" PARENT_SCOPE)
endfunction()

generate(status errors)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${errors}")
endif()
file(WRITE "${WORK}/models.cpp" [[
#include "models.hpp"
using namespace kvbudget;
constexpr const model_architecture& mixed = models::mixed;
constexpr weight_scheme gptq{"gptq-g64", formats::int4,
                             {.scales = weight_scales::group, .group = 64, .scale_bytes = 2, .packed_rows = true}};
static_assert(mixed.precision_count == 5);
static_assert(mixed.precisions[0] == schemes::mxfp4);
static_assert(mixed.precisions[1] == gptq && detail::same_text(mixed.precisions[1].name, "gptq-g64"));
static_assert(mixed.precisions[2] == weight_scheme{formats::nvfp4});
static_assert(mixed.precisions[3] == weight_scheme{formats::q4_k});
static_assert(mixed.precisions[4] == schemes::nf4_double_quant);
static_assert(mixed.kinds[0].weights[0].precision == 2 && mixed.kinds[0].weights[1].precision == 4);
static_assert(mixed.weights[0].precision == 5 && mixed.weights[1].precision == 3);
static_assert(mixed.weights[2].precision == 0 && mixed.weights[3].precision == 4);
static_assert(models::find("mixed-up") == &mixed && models::find("mixedu") == nullptr && models::find("mixedupp") == nullptr);
static_assert(models::nothing.kind_count == 1 && models::nothing.num_hidden_layers == 2);
static_assert(models::nothing.kinds[0] == layer_kind{} && models::nothing.weight_count == 0);
]])
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
execute_process(
  COMMAND "${COMPILER}" -std=c++20 ${flags} -fsyntax-only "${WORK}/models.cpp"
  RESULT_VARIABLE status
  ERROR_VARIABLE errors)
if(NOT status EQUAL 0)
  message("${errors}")
  message(FATAL_ERROR "the generated header is not what the files say")
endif()

# A name that nothing has stops.
file(READ "${WORK}/data/models/mixed.json" text)
string(REPLACE "nf4_dq" "nf5" text "${text}")
file(WRITE "${WORK}/data/models/mixed.json" "${text}")
generate(status errors)
if(status EQUAL 0 OR NOT errors MATCHES "mixed.json: precision 'nf5' is no number format")
  message(FATAL_ERROR "an unknown precision was not refused: ${errors}")
endif()
