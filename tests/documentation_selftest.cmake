# Whether documentation.cmake notices a page that is not true.
#   cmake -DCOMPILER=… -DCOMPILER_ID=… -DCOMPILER_VERSION=… -DPROGRAM=<anything that prints, or empty> -DWORK=<scratch folder>
#         -P documentation_selftest.cmake
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}/source/tests/compile_fail")
file(WRITE "${WORK}/source/code.cpp" "before\n// [part]\nint x;\n// [part]\nafter\n")
file(WRITE "${WORK}/source/formats.hpp" "inline constexpr number_format a{\"a1\", 1, 1};\ninline constexpr number_format b {\"b2\", 1, 1};\n")
file(WRITE "${WORK}/source/tests/compile_fail/wrong.cpp" "#ifdef KVBUDGET_MUST_FAIL\nstatic_assert(false, \"so it is\");\n#endif\n")
string(REGEX MATCH "^[0-9]+" major "${COMPILER_VERSION}")
set(message "```text tests/compile_fail/wrong.cpp ${COMPILER_ID} ${major}\n")

set(problems "")
# expect(<TRUE|FALSE> <text>): whether a page of this text passes.
function(expect passes text)
  file(WRITE "${WORK}/source/page.md" "${text}")
  execute_process(
    COMMAND
      "${CMAKE_COMMAND}" "-DROOT=${WORK}/source" -DPAGES=page.md "-DCOMPILER=${COMPILER}" "-DCOMPILER_ID=${COMPILER_ID}"
      "-DCOMPILER_VERSION=${COMPILER_VERSION}" -DFLAGS= "-DPROGRAM=${PROGRAM}" "-DWORK=${WORK}/scratch" -P
      "${CMAKE_CURRENT_LIST_DIR}/documentation.cmake"
    RESULT_VARIABLE status
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  if((passes AND NOT status EQUAL 0) OR (NOT passes AND status EQUAL 0))
    set(problems "${problems}passes should be ${passes}:\n${text}\n${output}\n" PARENT_SCOPE)
  endif()
endfunction()

expect(TRUE "```cpp code.cpp [part]\nint x;\n```\n")
expect(FALSE "```cpp code.cpp [part]\nint y;\n```\n")
expect(FALSE "```cpp code.cpp [other]\nint x;\n```\n")
expect(FALSE "```cpp missing.cpp [part]\nint x;\n```\n")
expect(FALSE "```c code.cpp\nint x;\n```\n")
expect(TRUE "[code](code.cpp) [web](https://example.org) `a1` `b2`\n<!-- names: formats.hpp -->\n")
expect(FALSE "[code](no_code.cpp)\n")
expect(FALSE "`a1`\n<!-- names: formats.hpp -->\n")
expect(TRUE "${message}error: … so it is\n```\n")
expect(FALSE "${message}error: … so it is not\n```\n")
expect(FALSE "${message}so it is … error:\n```\n")
if(PROGRAM)
  execute_process(COMMAND "${PROGRAM}" engines OUTPUT_VARIABLE line)
  expect(TRUE "```console\n$ kvbudget engines\n${line}```\n")
  expect(TRUE "```console\n$ kvbudget \\\n  engines\n${line}```\n")
  expect(FALSE "```console\n$ kvbudget engines\nx${line}```\n")
  expect(FALSE "```console\n$ kvbudget engines\n${line}x\n```\n")
  expect(FALSE "```console\n$ kvbudget engines\n```\n")
  expect(TRUE "```console\n$ kvbudget engines\n…\n```\n")
endif()

if(problems)
  message(FATAL_ERROR "documentation.cmake is wrong:\n${problems}")
endif()
message(STATUS "documentation.cmake notices what is wrong")
