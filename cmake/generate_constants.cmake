# Writes measured constants from data/engines/<id>.json into the header that the file names:
#
#   cmake -P cmake/generate_constants.cmake                                        (every file)
#   cmake -DROOT=<source tree> -DENGINE=pytorch-cuda -DOUTPUT=<file> -P cmake/generate_constants.cmake
#
# Files without a "header" member are other engine data and are passed over. Without ENGINE an OUTPUT gets the
# constants of pytorch-cuda; with TABLE it gets a list of the constants of all files, with what they are about.
cmake_minimum_required(VERSION 3.25)

if(NOT DEFINED ROOT)
  set(ROOT "${CMAKE_CURRENT_LIST_DIR}/..")
endif()
cmake_path(ABSOLUTE_PATH ROOT NORMALIZE)
if(DEFINED OUTPUT AND NOT DEFINED ENGINE AND NOT TABLE)
  set(ENGINE pytorch-cuda)
endif()
if(DEFINED ENGINE)
  set(engines "${ENGINE}")
else()
  file(GLOB engines RELATIVE "${ROOT}/data/engines" "${ROOT}/data/engines/*.json")
  list(TRANSFORM engines REPLACE "\\.json$" "")
  list(SORT engines COMPARE STRING)
endif()

function(stop text)
  message(FATAL_ERROR "data/engines/${engine}.json: ${text}")
endfunction()

function(get variable)
  string(JSON value ERROR_VARIABLE error GET "${json}" ${ARGN})
  if(error)
    stop("${error}")
  endif()
  set(${variable} "${value}" PARENT_SCOPE)
endfunction()

function(check_text text what)
  if("${text}" STREQUAL "" OR "${text}" MATCHES "[\"\\\\\n]")
    stop("${what} must be one line without quotes and backslashes")
  endif()
endfunction()

# "/// " comment lines of at most 108 columns.
function(comment variable text)
  set(lines "")
  set(line "///")
  string(REPLACE ";" "\t" text "${text}")  # a list separator otherwise
  string(REPLACE " " ";" words "${text}")
  foreach(word IN LISTS words)
    string(REPLACE "\t" ";" word "${word}")
    string(LENGTH "${line} ${word}" length)
    if(length GREATER 108)
      string(APPEND lines "${line}\n")
      set(line "///")
    endif()
    string(APPEND line " ${word}")
  endforeach()
  set(${variable} "${lines}${line}\n" PARENT_SCOPE)
endfunction()

foreach(engine IN LISTS engines)
  file(READ "${ROOT}/data/engines/${engine}.json" json)
  string(JSON header ERROR_VARIABLE error GET "${json}" header)
  if(error)
    if(DEFINED ENGINE)
      stop("no header is named")
    endif()
    continue()
  endif()
  get(schema schema)
  get(id id)
  if(NOT schema EQUAL 1 OR NOT id STREQUAL engine)
    stop("schema must be 1 and id the file's name")
  endif()
  get(about about)
  check_text("${about}" about)

  set(body "")
  set(rows "")
  string(JSON count LENGTH "${json}" constants)
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON name MEMBER "${json}" constants ${index})
    if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
      stop("constant '${name}' must be a snake_case identifier")
    endif()
    foreach(member IN ITEMS low expected high)
      get(${member} constants ${name} ${member})
      if(NOT ${member} MATCHES "^(0|[1-9][0-9]*)$")
        stop("${name}.${member} must be a whole number, not '${${member}}'")
      endif()
    endforeach()
    if(low GREATER expected OR expected GREATER high)
      stop("${name}: low <= expected <= high must hold")
    endif()
    get(from constants ${name} basis)
    if(NOT from MATCHES "^(exact|measured|calibrated|assumed)$")
      stop("${name}.basis '${from}' is unknown")
    endif()
    if(from STREQUAL "exact" AND NOT low EQUAL high)
      stop("${name} is exact but has a range")
    endif()
    get(text constants ${name} about)
    check_text("${text}" "${name}.about")
    get(source constants ${name} source)
    check_text("${source}" "${name}.source")
    string(APPEND rows "    {\"${engine}\", \"${name}\", &constants::${name}, \"${text}\"},\n")
    comment(text "${text}")
    string(APPEND body
      "\n${text}"
      "inline constexpr measured_constant ${name}{${low}, ${expected}, ${high}, basis::${from}, \"${source}\"};\n")
  endforeach()

  if(TABLE)
    string(APPEND table "${rows}")
    list(APPEND headers "${header}")
    continue()
  endif()
  comment(about "${about}")
  if(DEFINED OUTPUT)
    set(output "${OUTPUT}")
  else()
    set(output "${ROOT}/include/kvbudget/${header}")
  endif()
  file(WRITE "${output}"
    "#pragma once\n"
    "\n"
    "// Generated from data/engines/${engine}.json by `cmake -P cmake/generate_constants.cmake`. Do not edit.\n"
    "\n"
    "#include \"kvbudget/units/measured_constant.hpp\"\n"
    "\n"
    "// clang-format off\n"
    "namespace kvbudget::inline v0 {\n"
    "\n"
    "${about}"
    "namespace constants {\n"
    "${body}"
    "\n"
    "}  // namespace constants\n"
    "}  // namespace kvbudget::inline v0\n"
    "// clang-format on\n")
endforeach()

if(TABLE)
  list(SORT headers COMPARE STRING)
  list(TRANSFORM headers PREPEND "#include \"kvbudget/")
  list(TRANSFORM headers APPEND "\"\n")
  list(JOIN headers "" headers)
  if(NOT DEFINED OUTPUT)
    set(OUTPUT "${ROOT}/include/kvbudget/report/engine_constants.hpp")
  endif()
  file(WRITE "${OUTPUT}"
    "#pragma once\n"
    "\n"
    "// Generated from data/engines/*.json by `cmake -DTABLE=ON -P cmake/generate_constants.cmake`. Do not edit.\n"
    "\n"
    "${headers}"
    "\n"
    "// clang-format off\n"
    "namespace kvbudget::inline v0::report {\n"
    "\n"
    "/// A constant of the world by name: what file of data/engines it is from, and what it is about.\n"
    "struct named_constant {\n"
    "  const char* engine;\n"
    "  const char* name;\n"
    "  const measured_constant* figure;\n"
    "  const char* about;\n"
    "};\n"
    "\n"
    "/// All of them, by file.\n"
    "inline constexpr named_constant engine_constants[] = {\n"
    "${table}"
    "};\n"
    "\n"
    "}  // namespace kvbudget::inline v0::report\n"
    "// clang-format on\n")
endif()
