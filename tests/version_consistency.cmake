# Every place that states the version states the same one, and a header without a version stops the build.
#   cmake -DROOT=<source> -DVERSION=<project version> -DFILES=<files that must state it> -DWORK=<scratch> -P …
cmake_minimum_required(VERSION 3.25)
include("${ROOT}/cmake/kvbudget_version.cmake")

kvbudget_read_version("${ROOT}/include/kvbudget/version.hpp" version)
if(NOT version STREQUAL VERSION)
  message(FATAL_ERROR "version.hpp says ${version}, the project ${VERSION}")
endif()
string(REPLACE "." "\\." pattern "${version}")
foreach(file IN LISTS FILES)
  file(READ "${file}" text)
  if(NOT text MATCHES "(^|[^0-9.])${pattern}($|[^0-9.])")
    message(FATAL_ERROR "${file} does not state the version ${version}")
  endif()
endforeach()

set(broken "${WORK}/broken")
file(REMOVE_RECURSE "${broken}")
file(COPY "${ROOT}/CMakeLists.txt" "${ROOT}/cmake" DESTINATION "${broken}")
file(READ "${ROOT}/include/kvbudget/version.hpp" text)
string(REGEX REPLACE "VERSION_MINOR [0-9]+" "VERSION_MINOR x" text "${text}")
file(WRITE "${broken}/include/kvbudget/version.hpp" "${text}")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${broken}" -B "${broken}/build"
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
if(status EQUAL 0 OR NOT output MATCHES "KVBUDGET_VERSION_MINOR")
  message(FATAL_ERROR "a version header without a minor version configures: ${output}")
endif()
message(STATUS "version ${version} everywhere")
