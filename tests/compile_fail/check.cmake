# One must-not-compile snippet. The file holds it under `#ifdef KVBUDGET_MUST_FAIL`, its nearest relative that
# does compile under `#else`, and what the compiler has to say as comments, each a CMake regex that has to match:
#   // expect: REGEX            on every compiler
#   // expect-gcc: REGEX        on GCC only
#   // expect-clang: REGEX      on Clang only
# Quotes in messages are plain ' on both compilers, runs of blanks and line ends are one blank.
#
#   cmake -DCOMPILER=<c++> -DCOMPILER_ID=GNU|Clang -DFLAGS=<flags> -DSOURCE=<file> -P check.cmake
cmake_minimum_required(VERSION 3.25)

# Stops with `reason`; what the compiler said is printed as it is, which FATAL_ERROR would refill like prose.
function(refuse reason)
  message("${output}")
  message(FATAL_ERROR "${reason}")
endfunction()

# Sets `status` and `output` of compiling SOURCE with the extra flags in ARGN.
function(compile status output)
  separate_arguments(flags UNIX_COMMAND "${FLAGS}")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env LC_ALL=C "${COMPILER}" -std=c++20 ${flags} ${ARGN} -fsyntax-only "${SOURCE}"
    RESULT_VARIABLE result
    OUTPUT_VARIABLE text
    ERROR_VARIABLE text)
  set(${status} "${result}" PARENT_SCOPE)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

set(kinds expect)
if(COMPILER_ID STREQUAL "GNU")
  list(APPEND kinds expect-gcc)
elseif(COMPILER_ID MATCHES "Clang")
  list(APPEND kinds expect-clang)
endif()

compile(status output)
if(NOT status EQUAL 0)
  refuse("${SOURCE}: the part that must compile does not")
endif()

compile(status output -DKVBUDGET_MUST_FAIL)
if(status EQUAL 0)
  message(FATAL_ERROR "${SOURCE}: the part that must not compile does")
endif()
string(REGEX REPLACE "[ \t\r\n]+" " " said "${output}")

# Line by line without a list, which brackets and semicolons in a pattern would break.
file(READ "${SOURCE}" rest)
string(APPEND rest "\n")
set(count 0)
set(missing "")
while(TRUE)
  string(FIND "${rest}" "\n" position)
  if(position EQUAL -1)
    break()
  endif()
  string(SUBSTRING "${rest}" 0 ${position} line)
  math(EXPR position "${position} + 1")
  string(SUBSTRING "${rest}" ${position} -1 rest)
  if(NOT line MATCHES "^[ \t]*// (expect[a-z-]*): *(.*)$")
    continue()
  endif()
  set(kind "${CMAKE_MATCH_1}")
  string(STRIP "${CMAKE_MATCH_2}" pattern)
  if(NOT kind MATCHES "^expect(-gcc|-clang)?$")
    message(FATAL_ERROR "${SOURCE}: unknown kind of expectation: ${line}")
  elseif(kind IN_LIST kinds)
    math(EXPR count "${count} + 1")
    if(NOT said MATCHES "${pattern}")
      string(APPEND missing "  ${pattern}\n")
    endif()
  endif()
endwhile()

if(count EQUAL 0)
  message(FATAL_ERROR "${SOURCE}: no `// expect:` line for this compiler, so any error would pass")
endif()
if(missing)
  refuse("${SOURCE}: the compiler's message, above, does not match\n${missing}")
endif()
message(STATUS "refused, and the message matches ${count} pattern(s)")
