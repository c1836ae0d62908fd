# Joins the umbrella and everything it includes into one self-contained header.
#   cmake -DROOT=<source> -DOUTPUT=<file> -P scripts/single_header.cmake
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/../cmake/kvbudget_version.cmake")

foreach(variable IN ITEMS ROOT OUTPUT)
  if(NOT DEFINED ${variable})
    message(FATAL_ERROR "usage: cmake -DROOT=<source> -DOUTPUT=<file> -P scripts/single_header.cmake")
  endif()
endforeach()

set_property(GLOBAL PROPERTY joined_headers "")

# Sets `result` to the text of include/`path` with each `#include "kvbudget/…"` at the beginning of a line
# replaced by the text of that header, the first time, and by nothing after that.
function(expand path result)
  set_property(GLOBAL APPEND PROPERTY joined_headers "${path}")
  file(READ "${ROOT}/include/${path}" rest)
  string(REPLACE "#pragma once\n" "" rest "\n${rest}")
  set(text "")
  while(TRUE)
    string(FIND "${rest}" "\n#include \"" position)
    if(position EQUAL -1)
      break()
    endif()
    string(SUBSTRING "${rest}" 0 ${position} before)
    math(EXPR position "${position} + 11") # behind the opening quote
    string(SUBSTRING "${rest}" ${position} -1 rest)
    string(FIND "${rest}" "\"" length)
    string(SUBSTRING "${rest}" 0 ${length} included)
    math(EXPR length "${length} + 1")
    string(SUBSTRING "${rest}" ${length} -1 rest)
    string(APPEND text "${before}\n")
    get_property(joined GLOBAL PROPERTY joined_headers)
    if(NOT included IN_LIST joined)
      expand("${included}" inner)
      string(APPEND text "// ---- ${included}\n${inner}")
    endif()
  endwhile()
  set(${result} "${text}${rest}" PARENT_SCOPE)
endfunction()

kvbudget_read_version("${ROOT}/include/kvbudget/version.hpp" version)
file(READ "${ROOT}/LICENSE" license)
string(STRIP "${license}" license)
string(REPLACE "\n" "\n// " license "// ${license}")
string(REGEX REPLACE "[ ]+\n" "\n" license "${license}")

# version.hpp comes along even where nothing of the umbrella includes it: code that checks the version must not
# depend on which form of the library it uses.
expand("kvbudget/version.hpp" version_text)
expand("kvbudget/kvbudget.hpp" text)
set(text "${version_text}\n${text}")
string(REGEX REPLACE "\n\n\n+" "\n\n" text "${text}")

file(WRITE "${OUTPUT}.new"
     "// kvbudget ${version} as one header, made by scripts/single_header.cmake: change the headers, not this file.\n//\n"
     "${license}\n#pragma once\n${text}")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
