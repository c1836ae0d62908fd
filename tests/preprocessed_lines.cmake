# What including `HEADER` costs, in a number that does not depend on the machine: preprocessed lines.
#   cmake -DCOMPILER=… -DFLAGS=… -DHEADER=<file> -DBUDGET=<lines> -DWORK=<scratch folder> -P preprocessed_lines.cmake
cmake_minimum_required(VERSION 3.25)

# Sets `result` to the number of lines that the preprocessor gives with the extra flags in ARGN.
function(count_lines result)
  separate_arguments(flags UNIX_COMMAND "${FLAGS}")
  file(MAKE_DIRECTORY "${WORK}")
  execute_process(
    COMMAND "${COMPILER}" -std=c++20 ${flags} -x c++ -E ${ARGN} "${HEADER}" -o "${WORK}/preprocessed.ii"
    RESULT_VARIABLE status
    ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message("${errors}")
    message(FATAL_ERROR "${HEADER} cannot be preprocessed")
  endif()
  file(READ "${WORK}/preprocessed.ii" text)
  string(REGEX REPLACE "[^\n]+" "" text "${text}")
  string(LENGTH "${text}" lines)
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

count_lines(with_markers)
count_lines(lines -P)
message(STATUS "${HEADER}: ${lines} preprocessed lines (-E -P), ${with_markers} with line markers (-E); budget ${BUDGET}")
if(lines GREATER BUDGET)
  message(FATAL_ERROR "${lines} preprocessed lines are over the budget of ${BUDGET}")
endif()
