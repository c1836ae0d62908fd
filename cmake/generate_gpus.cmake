# Writes the GPU table from data/gpus/*.json:
#
#   cmake -P cmake/generate_gpus.cmake                  the table
#   cmake -DALIASES=ON -P cmake/generate_gpus.cmake     the further names, which lookups read
#   cmake -DROOT=<source tree> -DOUTPUT=<file> -P cmake/generate_gpus.cmake      (what the sync test runs)
#
# The table is part of the umbrella header, so it is plain data: one line per GPU, no constructors.
cmake_minimum_required(VERSION 3.25)

if(NOT DEFINED ROOT)
  set(ROOT "${CMAKE_CURRENT_LIST_DIR}/..")
endif()
cmake_path(ABSOLUTE_PATH ROOT NORMALIZE)
if(NOT DEFINED OUTPUT AND ALIASES)
  set(OUTPUT "${ROOT}/include/kvbudget/lookup/gpu_aliases.hpp")
elseif(NOT DEFINED OUTPUT)
  set(OUTPUT "${ROOT}/include/kvbudget/hardware/gpus.hpp")
endif()
set(folder data/gpus)
include("${CMAKE_CURRENT_LIST_DIR}/generate_common.cmake")

# The key under which lookup.hpp compares names: lower case, no separators, no leading vendor.
function(lookup_key variable text vendor)
  string(TOLOWER "${text}" key)
  string(REGEX REPLACE "^${vendor}[-_ ]+" "" key "${key}")
  string(REGEX REPLACE "[-_ ()]" "" key "${key}")
  set(${variable} "${key}" PARENT_SCOPE)
endfunction()

file(GLOB files RELATIVE "${ROOT}/data/gpus" "${ROOT}/data/gpus/*.json")
if(NOT files)
  message(FATAL_ERROR "no data/gpus/*.json under ${ROOT}")
endif()
list(TRANSFORM files REPLACE "\\.json$" "")
list(SORT files COMPARE STRING)

set(profiles "")
set(pointers "")
set(alias_names "")
foreach(id IN LISTS files)
  read_entry()
  get(text id)
  if(NOT text STREQUAL id OR NOT id MATCHES "^[a-z0-9]+(-[a-z0-9]+)+$")
    stop("id must be the file's name, in lower case words joined by '-', not '${text}'")
  endif()
  string(REPLACE "-" "_" identifier "${id}")
  get(vendor vendor)
  if(NOT vendor MATCHES "^(nvidia|amd|intel|apple)$")
    stop("unknown vendor '${vendor}'")
  endif()

  literal(id_text "${id}" id 48)
  get(name name)
  literal(name_text "${name}" name 80)
  set(line ".id = ${id_text}, .name = ${name_text}, .vendor = gpu_vendor::${vendor}")
  get(text architecture)
  if(NOT text STREQUAL "")
    literal(text "${text}" architecture 24)
    string(APPEND line ", .architecture = ${text}")
  endif()
  get(text compute_capability)
  if(NOT text STREQUAL "")
    literal(text "${text}" compute_capability 16)
    string(APPEND line ", .compute_capability = ${text}")
  endif()

  # In the order of the members of gpu_profile.
  foreach(figure IN ITEMS memory:nominal_bytes memory:driver_total_bytes memory:driver_total_ecc_off_bytes
      memory:driver_total_ecc_on_bytes memory:runtime_total_bytes memory:runtime_total_rounding_bytes
      memory:ram_bytes memory:bandwidth_bytes_per_second compute:bf16_dense_flops compute:fp8_dense_flops
      compute:int8_dense_ops compute:fp4_dense_flops compute:fp8 compute:fp4 links:link_bytes_per_second
      links:pcie_generation memory:unified memory:working_set_assumed)
    string(REPLACE ":" ";" path "${figure}")
    list(GET path 0 section)
    list(GET path 1 member)
    if(member STREQUAL "runtime_total_rounding_bytes")
      get(value memory runtime_total_bytes rounding_bytes)
    elseif(member MATCHES "^(unified|working_set_assumed)$")
      get(value ${section} ${member})
    else()
      get(value ${section} ${member} value)
      if(NOT value STREQUAL "")
        get(source ${section} ${member} source)
        if(source STREQUAL "")
          stop("${section}.${member} has no source")
        endif()
      endif()
    endif()
    if(value STREQUAL "")
      continue()
    endif()
    if(member MATCHES "^fp[48]$")
      if(NOT value MATCHES "^(native|emulated)$")
        stop("${section}.${member} must be native or emulated, not '${value}'")
      endif()
      set(value "native_support::${value}")
    elseif(member MATCHES "^(unified|working_set_assumed)$")
      if(NOT value STREQUAL "ON")
        continue()
      endif()
      set(value "true")
      if(member STREQUAL "unified")
        set(member "unified_memory")
      endif()
    elseif(NOT value MATCHES "^[1-9][0-9]*$")
      stop("${section}.${member} must be a whole number above zero, not '${value}'")
    endif()
    string(APPEND line ", .${member} = ${value}")
  endforeach()
  string(APPEND profiles "inline constexpr gpu_profile ${identifier}{${line}};\n")
  list(APPEND pointers "&${identifier},")

  # Names that mean this GPU; none may mean another one.
  lookup_key(key "${id}" "${vendor}")
  set(keys "${key}")
  lookup_key(key "${name}" "${vendor}")
  list(APPEND keys "${key}")
  string(JSON count ERROR_VARIABLE error LENGTH "${json}" aliases)
  if(error)
    set(count 0)
  endif()
  if(count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(index RANGE ${last})
      get(alias aliases ${index})
      if(NOT alias MATCHES "^[a-z0-9]+(-[a-z0-9]+)*$")
        stop("alias '${alias}' must be lower case words joined by '-'")
      endif()
      literal(alias_text "${alias}" alias 80)
      lookup_key(key "${alias}" "${vendor}")
      list(APPEND keys "${key}")
      list(APPEND alias_names "${alias}")
      set(alias_of_${alias} "    {${alias_text}, &${identifier}},\n")
    endforeach()
  endif()
  list(REMOVE_DUPLICATES keys)
  foreach(key IN LISTS keys)
    if(DEFINED owner_of_${key})
      stop("'${key}' already means ${owner_of_${key}}")
    endif()
    set(owner_of_${key} "${id}")
  endforeach()
endforeach()

list(SORT alias_names COMPARE STRING)
set(aliases "")
foreach(alias IN LISTS alias_names)
  string(APPEND aliases "${alias_of_${alias}}")
endforeach()

# The names by which a GPU may also be called are only read by lookups, which stand beside the umbrella.
if(ALIASES)
  file(WRITE "${OUTPUT}"
    "#pragma once\n"
    "\n"
    "// Generated from data/gpus/*.json by `cmake -DALIASES=ON -P cmake/generate_gpus.cmake`. Do not edit.\n"
    "\n"
    "#include \"kvbudget/hardware/gpus.hpp\"\n"
    "\n"
    "// clang-format off\n"
    "namespace kvbudget::inline v0::gpus {\n"
    "\n"
    "/// A further name of a GPU; `find_gpu` reads the table.\n"
    "struct alias_entry { const char* alias; const gpu_profile* gpu; };\n"
    "\n"
    "/// Every alias of the catalogue, sorted; no alias means two GPUs.\n"
    "inline constexpr alias_entry aliases[] = {\n"
    "${aliases}"
    "};\n"
    "\n"
    "}  // namespace kvbudget::inline v0::gpus\n"
    "// clang-format on\n")
  return()
endif()

# In one line: the umbrella is read in every translation unit.
list(JOIN pointers " " rows)

file(WRITE "${OUTPUT}"
  "#pragma once\n"
  "\n"
  "// Generated from data/gpus/*.json by `cmake -P cmake/generate_gpus.cmake`. Do not edit.\n"
  "\n"
  "#include \"kvbudget/hardware/gpu_profile.hpp\"\n"
  "\n"
  "// clang-format off\n"
  "/// The GPU catalogue: one constant per file of data/gpus, where each figure has its source.\n"
  "namespace kvbudget::inline v0::gpus {\n"
  "\n"
  "${profiles}"
  "\n"
  "/// Every GPU of the catalogue, sorted by id.\n"
  "inline constexpr const gpu_profile* all[] = {${rows}};\n"
  "\n"
  "}  // namespace kvbudget::inline v0::gpus\n"
  "// clang-format on\n")
