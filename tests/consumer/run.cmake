# Builds and runs one consumer.
#   cmake -DKIND=core|components|subdirectory|pkg-config|single-header -DSOURCE=<kvbudget> -DPREFIX=<installed>
#         -DSINGLE_HEADER=<folder> -DVERSION=<version> -DCOMPILER=… -DFLAGS=… -DGENERATOR=… -DWORK=… -P run.cmake
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message("${output}")
    message(FATAL_ERROR "failed: ${command}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(build "${WORK}/${KIND}")
file(REMOVE_RECURSE "${build}")
file(MAKE_DIRECTORY "${build}")
separate_arguments(flags UNIX_COMMAND "${FLAGS}")

if(KIND STREQUAL "pkg-config")
  find_program(PKG_CONFIG NAMES pkg-config pkgconf REQUIRED)
  set(ENV{PKG_CONFIG_PATH} "${PREFIX}/share/pkgconfig")
  run("${PKG_CONFIG}" --exact-version=${VERSION} kvbudget)
  run("${PKG_CONFIG}" --cflags kvbudget)
  separate_arguments(cflags UNIX_COMMAND "${output}")
  run("${COMPILER}" -std=c++20 ${flags} ${cflags} "${CMAKE_CURRENT_LIST_DIR}/main.cpp" -o "${build}/consumer")
elseif(KIND STREQUAL "single-header")
  # Copied alone into an empty folder, so nothing else of the library can be found.
  file(COPY "${SINGLE_HEADER}/kvbudget/kvbudget.hpp" DESTINATION "${build}")
  file(READ "${CMAKE_CURRENT_LIST_DIR}/main.cpp" text)
  string(REPLACE "#include <kvbudget/version.hpp>\n" "" text "${text}")
  string(REPLACE "<kvbudget/kvbudget.hpp>" "\"kvbudget.hpp\"" text "${text}")
  file(WRITE "${build}/main.cpp" "${text}static_assert(KVBUDGET_VERSION_MAJOR >= 0);\n")
  run("${COMPILER}" -std=c++20 ${flags} "${build}/main.cpp" -o "${build}/consumer")
else()
  run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/${KIND}" -B "${build}" -G "${GENERATOR}"
      "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${FLAGS}" "-DCMAKE_PREFIX_PATH=${PREFIX}"
      "-DKVBUDGET_PREFIX=${PREFIX}" "-DKVBUDGET_SOURCE=${SOURCE}" "-DEXPECTED_VERSION=${VERSION}"
      "-DEXPECT_DATA=${EXPECT_DATA}")
  run("${CMAKE_COMMAND}" --build "${build}")
endif()
run("${build}/consumer")
message(STATUS "${KIND}: built and run")
