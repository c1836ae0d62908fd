# Writes the table of models from data/models/*.json (docs/model-schema.md):
#
#   cmake -P cmake/generate_models.cmake
#   cmake -DROOT=<source tree> -DOUTPUT=<file> -P cmake/generate_models.cmake      (what the sync test runs)
#
# Every member of a file becomes the member of the struct that has its name, as plain data: aggregates without
# function calls are what compilers read fastest. What the members mean is checked by the reader of the same files
# (include/kvbudget/io/model_json.hpp) and by the tests.
cmake_minimum_required(VERSION 3.25)

if(NOT DEFINED ROOT)
  get_filename_component(ROOT "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
endif()
cmake_path(ABSOLUTE_PATH ROOT NORMALIZE)
if(NOT DEFINED OUTPUT)
  set(OUTPUT "${ROOT}/include/kvbudget/models.hpp")
endif()
set(folder data/models)
include("${CMAKE_CURRENT_LIST_DIR}/generate_common.cmake")

# Sets `variable` to the number of elements of an array, 0 when it is absent.
function(get_length variable)
  string(JSON value ERROR_VARIABLE error LENGTH "${json}" ${ARGN})
  if(error)
    set(value 0)
  endif()
  set(${variable} "${value}" PARENT_SCOPE)
endfunction()

# Appends ", .<member> = <value>" to `line` for a number, a flag or an enumerator.
function(append_value line member value what)
  if(value STREQUAL "")
    return()
  elseif(value STREQUAL "OFF" OR value STREQUAL "ON")
    if(value STREQUAL "OFF")
      return()
    endif()
    set(value true)
  elseif(NOT value MATCHES "^[1-9][0-9]*$" AND NOT value MATCHES "^[a-z_]+::[a-z0-9_]+$")
    stop("${what} has the value '${value}'")
  endif()
  set(${line} "${${line}}, .${member} = ${value}" PARENT_SCOPE)
endfunction()

# Appends the members `names` of the object at `path`.
function(append_members line path names)
  set(text "${${line}}")
  foreach(name IN LISTS names)
    get(value ${path} ${name})
    append_value(text ${name} "${value}" "${name}")
  endforeach()
  set(${line} "${text}" PARENT_SCOPE)
endfunction()

# Appends ", .<member> = <enumeration>::<word>" if the object at `path` has a member `name`.
function(append_word line path name member enumeration)
  get(word ${path} ${name})
  if(NOT word STREQUAL "")
    set(${line} "${${line}}, .${member} = ${enumeration}::${word}" PARENT_SCOPE)
  endif()
endfunction()

# What number formats and weight schemes are called in files, and by which constant: from the headers that define them.
function(read_format_names header type namespace)
  file(READ "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../include/kvbudget/format/${header}" text)
  string(REGEX MATCHALL "inline constexpr ${type} [a-z0-9_]+ *{\"[^\"]+\"" definitions "${text}")
  foreach(definition IN LISTS definitions)
    string(REGEX MATCH "([a-z0-9_]+) *{\"([^\"]+)\"" unused "${definition}")
    set_property(GLOBAL PROPERTY "${namespace} ${CMAKE_MATCH_2}" "${namespace}::${CMAKE_MATCH_1}")
  endforeach()
endfunction()

# Sets `variable` to the constant of the weight scheme, or else of the number format, with this name.
function(constant_of variable name what)
  get_property(constant GLOBAL PROPERTY "schemes ${name}")
  if(NOT constant)
    get_property(constant GLOBAL PROPERTY "formats ${name}")
  endif()
  if(NOT constant)
    stop("${what} '${name}' is no number format, weight scheme or entry of precisions")
  endif()
  set(${variable} "${constant}" PARENT_SCOPE)
endfunction()

# Sets `precisions` to the constants or initializers of those that the file lists, and `precision_names` to their names.
macro(read_precisions)
  set_property(GLOBAL PROPERTY precisions "")
  set_property(GLOBAL PROPERTY precision_names "")
  get_length(length precisions)
  if(length GREATER 0)
    math(EXPR last "${length} - 1")
    foreach(index RANGE ${last})
      string(JSON type TYPE "${json}" precisions ${index})
      if(type STREQUAL "STRING")
        get(text precisions ${index})
        constant_of(precision "${text}" "precisions[${index}]")
      else()
        describe_precision(precision text ${index})
      endif()
      set_property(GLOBAL APPEND PROPERTY precision_names "${text}")
      set_property(GLOBAL APPEND PROPERTY precisions "${precision}")
    endforeach()
  endif()
endmacro()

# Sets `variable` to the initializer of a scheme that the file describes, and `text` to its name.
function(describe_precision variable text index)
  get(name precisions ${index} name)
  literal(quoted "${name}" "a precision's name" 64)
  get(payload precisions ${index} payload)
  get_property(format GLOBAL PROPERTY "formats ${payload}")
  if(NOT format)
    stop("precisions[${index}].payload: '${payload}' is no number format")
  endif()
  set(beside "")
  append_word(beside "precisions;${index}" scales scales weight_scales)
  if(beside STREQUAL "") # a plain format
    set(${variable} "${format}" PARENT_SCOPE)
  else()
    append_members(beside "precisions;${index}" "group;scale_bytes;scale_bytes_high;zero_bits;column_bytes;matrix_bytes;scales_per_super;packed_rows")
    string(REGEX REPLACE "^, " "" beside "${beside}")
    set(${variable} "weight_scheme{${quoted}, ${format}, {${beside}}}" PARENT_SCOPE)
  endif()
  set(${text} "${name}" PARENT_SCOPE)
endfunction()

# Appends ", .precision = <n>" if the group at `path` has a precision, numbered in the order in which they first occur.
function(append_precision line path)
  get(name ${path} precision)
  if(name STREQUAL "")
    return()
  endif()
  get_property(known GLOBAL PROPERTY precision_names)
  list(FIND known "${name}" position)
  if(position EQUAL -1)
    list(LENGTH known position)
    constant_of(precision "${name}" "precision")
    set_property(GLOBAL APPEND PROPERTY precision_names "${name}")
    set_property(GLOBAL APPEND PROPERTY precisions "${precision}")
  endif()
  math(EXPR number "${position} + 1")
  set(${line} "${${line}}, .precision = ${number}" PARENT_SCOPE)
endfunction()

# Sets `variable` to the initializers of the weight groups at `path`, one a line, and `count` to their number.
function(weight_groups variable count path margin)
  get_length(length ${path})
  set(lines "")
  if(length GREATER 0)
    math(EXPR last "${length} - 1")
    foreach(index RANGE ${last})
      set(group "")
      append_members(group "${path};${index}" "rows;columns;copies;units")
      append_word(group "${path};${index}" module role module_role)
      append_word(group "${path};${index}" tensor kind tensor_kind)
      append_word(group "${path};${index}" shard rule shard_rule)
      append_word(group "${path};${index}" axis axis shard_axis)
      append_precision(group "${path};${index}")
      string(REGEX REPLACE "^, " "" group "${group}")
      string(APPEND lines "${margin}{${group}},\n")
    endforeach()
  endif()
  set(${variable} "${lines}" PARENT_SCOPE)
  set(${count} ${length} PARENT_SCOPE)
endfunction()

# Sets `variable` to the initializers of the stores at `path`, in one line, and `count` to their number.
function(list_stores variable count path)
  get_length(length ${path})
  set(list "")
  if(length GREATER 0)
    math(EXPR last "${length} - 1")
    foreach(index RANGE ${last})
      set(store "")
      append_word(store "${path};${index}" kind kind store_kind)
      append_word(store "${path};${index}" state state state_kind)
      append_members(store "${path};${index}" "overlapping;kv_heads;${store_members}")
      string(REGEX REPLACE "^, " "" store "${store}")
      string(APPEND list "{${store}}, ")
    endforeach()
    string(REGEX REPLACE ", $" "" list "${list}")
  endif()
  set(${variable} "${list}" PARENT_SCOPE)
  set(${count} ${length} PARENT_SCOPE)
endfunction()

# The key under which names are compared: lower case, no separators.
function(lookup_key variable text)
  string(TOLOWER "${text}" key)
  string(REGEX REPLACE "[-_ ()]" "" key "${key}")
  set(${variable} "${key}" PARENT_SCOPE)
endfunction()

# Adds a line to the table of names, and its keys to those that `find` searches; a name that already means another model
# stops.
function(add_name text)
  literal(name "${text}" "a name" 96)
  string(REGEX REPLACE "^.*/" "" bare "${text}")
  foreach(form IN ITEMS "${text}" "${bare}")
    lookup_key(key "${form}")
    get_property(owner GLOBAL PROPERTY "name ${key}")
    if(owner AND NOT owner STREQUAL id)
      stop("the name '${form}' already means ${owner}")
    elseif(NOT owner)
      list(APPEND keys "${key}!${identifier}")
      set_property(GLOBAL PROPERTY "name ${key}" "${id}")
    endif()
  endforeach()
  set(keys "${keys}" PARENT_SCOPE)
  set(names "${names}    {${name}, &${identifier}},\n" PARENT_SCOPE)
endfunction()

set(store_members key_dim value_dim latent_rank rope_dim indexer_dim compress_ratio window encoder_tokens inner_size
                  conv_kernel state_heads state_head_dim state_size state_groups state_key_heads state_key_dim)
set(layer_members num_attention_heads query_dim value_dim key_value_heads intermediate_size num_experts
                  num_experts_per_tok moe_intermediate_size)

read_format_names(formats.hpp number_format formats)
read_format_names(weight_scheme.hpp weight_scheme schemes)

file(GLOB files RELATIVE "${ROOT}/data/models" "${ROOT}/data/models/*.json")
if(NOT files)
  message(FATAL_ERROR "no data/models/*.json under ${ROOT}")
endif()
list(TRANSFORM files REPLACE "\\.json$" "")
list(SORT files COMPARE NATURAL)

set(models "")
set(pointers "")
set(names "")
set(keys "")
foreach(id IN LISTS files)
  read_entry()
  get(text name)
  if(NOT text STREQUAL id OR NOT id MATCHES "^[a-z][a-z0-9]*([-.][a-z0-9]+)*$")
    stop("name must be the file's name, in lower case words joined by '-' or '.', not '${text}'")
  endif()
  string(REGEX REPLACE "[-.]" "_" identifier "${id}")

  # The order of the layers, run by run; kind 0 throughout is what zeros mean anyway.
  get_length(kinds layers)
  math(EXPR last_kind "${kinds} - 1")
  set(order "")
  get_length(runs order)
  math(EXPR last_run "${runs} - 1")
  foreach(run RANGE ${last_run})
    get(repeat order ${run} repeat)
    get_length(length order ${run} kinds)
    math(EXPR last "${length} - 1")
    set(sequence "")
    foreach(index RANGE ${last})
      get(kind order ${run} kinds ${index})
      if(NOT kind MATCHES "^[0-9]+$" OR kind GREATER last_kind)
        stop("order[${run}] names kind '${kind}'")
      endif()
      list(APPEND sequence ${kind})
    endforeach()
    foreach(time RANGE 1 ${repeat})
      list(APPEND order ${sequence})
    endforeach()
  endforeach()
  list(LENGTH order layer_count)
  set(layers_of "")
  foreach(kind RANGE ${last_kind})
    set(same ${order})
    list(FILTER same INCLUDE REGEX "^${kind}$")
    list(LENGTH same count)
    list(APPEND layers_of ${count})
  endforeach()
  list(JOIN layers_of ", " layers_of)
  set(order_line "")
  if(kinds GREATER 1)
    list(JOIN order ", " order)
    set(order_line "\n    .order = {${order}},")
  endif()

  literal(name "${id}" name 64)
  set(head ".name = ${name}")
  get(text model_type)
  if(NOT text STREQUAL "")
    literal(text "${text}" model_type 32)
    string(APPEND head ", .model_type = ${text}")
  endif()
  get(text dtype)
  if(NOT text STREQUAL "")
    get_property(format GLOBAL PROPERTY "formats ${text}")
    if(NOT format)
      stop("dtype '${text}' is no number format")
    endif()
    string(APPEND head ", .dtype = ${format}")
  endif()
  get(text recurrent_dtype)
  if(NOT text STREQUAL "")
    get_property(format GLOBAL PROPERTY "formats ${text}")
    if(NOT format)
      stop("recurrent_dtype '${text}' is no number format")
    endif()
    string(APPEND head ", .recurrent_dtype = ${format}")
  endif()
  append_members(head "" "hidden_size;vocab_size;max_position_embeddings")
  append_value(head num_hidden_layers ${layer_count} order)
  append_members(head "" "tie_word_embeddings;parameters_assumed")
  append_value(head kind_count ${kinds} layers)
  read_precisions()

  set(kind_lines "")
  foreach(kind RANGE ${last_kind})
    list_stores(store_list stores "layers;${kind};stores")
    weight_groups(groups count "layers;${kind};weights" "             ")
    set(sizes "")
    if(stores GREATER 0)
      append_value(sizes store_count ${stores} stores)
    endif()
    if(count GREATER 0)
      append_value(sizes weight_count ${count} weights)
    endif()
    append_members(sizes "layers;${kind}" "gated_mlp;${layer_members}")
    string(REGEX REPLACE "^, " "" sizes "${sizes}")
    string(APPEND kind_lines "        {.stores = {${store_list}},\n")
    if(count GREATER 0)
      string(APPEND kind_lines "         .weights = {\n${groups}         },\n")
    endif()
    string(APPEND kind_lines "         ${sizes}},\n")
  endforeach()
  weight_groups(weights count weights "        ") # behind the layers, which precisions are numbered by first
  if(count GREATER 0)
    append_value(head weight_count ${count} weights)
  endif()
  get_property(precisions GLOBAL PROPERTY precisions)
  set(precision_line "")
  if(precisions)
    list(LENGTH precisions count)
    append_value(head precision_count ${count} precisions)
    list(JOIN precisions ", " precisions)
    set(precision_line ",\n    .precisions = {${precisions}}")
  endif()
  list_stores(draft_stores count draft_stores)
  set(draft_line "")
  if(count GREATER 0)
    append_value(head draft_store_count ${count} draft_stores)
    set(draft_line ",\n    .draft_stores = {${draft_stores}}")
  endif()
  append_members(head "" draft_layers)

  string(
    APPEND
    models
    "inline constexpr model_architecture ${identifier}{\n"
    "    ${head}, .layers_of = {${layers_of}},${order_line}\n"
    "    .weights = {\n${weights}    },\n"
    "    .kinds = {\n${kind_lines}    }${precision_line}${draft_line}};\n\n")
  string(APPEND pointers "    &${identifier},\n")
  add_name("${id}")
  foreach(list IN ITEMS aliases huggingface)
    get_length(length ${list})
    if(length GREATER 0)
      math(EXPR last "${length} - 1")
      foreach(index RANGE ${last})
        get(text ${list} ${index})
        add_name("${text}")
      endforeach()
    endif()
  endforeach()
endforeach()

# Sorted byte by byte; "!" stands before every character that a key may have.
list(SORT keys)
list(TRANSFORM keys REPLACE "^(.*)!(.*)$" "    {\"\\1\", &\\2},\n")
string(JOIN "" keys ${keys})

file(WRITE "${OUTPUT}"
"#pragma once

// Generated from data/models/*.json by `cmake -P cmake/generate_models.cmake`. Do not edit.

#include \"kvbudget/format/formats.hpp\"
#include \"kvbudget/lookup/model_lookup.hpp\"
#include \"kvbudget/model/model_architecture.hpp\"

/// Well-known models; their sources stand in data/models. Include this header beside the umbrella where they
/// are used.
namespace kvbudget::inline v0::models {

// clang-format off
${models}/// All models, by name.
inline constexpr const model_architecture* all[] = {
${pointers}};

/// Every name that means a model.
inline constexpr model_name names[] = {
${names}};

/// The same names as `find` compares them, with and without their organisation, sorted.
inline constexpr model_name keys[] = {
${keys}};
// clang-format on

/// The model that a short name, an alias or a Hugging Face name means; letter case, `-`, `_` and the
/// organisation do not matter. Null if none: `nearest` has suggestions. Usable in constant expressions.
[[nodiscard]] constexpr const model_architecture* find(const char* name) {
  return detail::find_model(keys, name);
}

/// The models that an unknown name may have meant: those with all of its words, else those spelt like it.
[[nodiscard]] constexpr model_suggestions nearest(const char* name) {
  return detail::nearest_models(names, name);
}

}  // namespace kvbudget::inline v0::models
")
