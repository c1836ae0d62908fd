# A generated header says exactly what its generator makes of data/ now.
#   cmake -DROOT=<source> -DGENERATOR=<path in it> -DHEADER=<path in it>
#         -DARGUMENTS=<more for the generator> -DWORK=<scratch folder> -P data_sync.cmake
cmake_minimum_required(VERSION 3.25)

# Indented, so that FATAL_ERROR keeps it on one line.
set(remedy "  cmake -DROOT=. -DOUTPUT=${HEADER} ${ARGUMENTS} -P ${GENERATOR}\nor build the target kvbudget_generate")
cmake_path(GET HEADER FILENAME name)
set(fresh "${WORK}/${name}")
file(REMOVE "${fresh}")
file(MAKE_DIRECTORY "${WORK}")
execute_process(
  COMMAND "${CMAKE_COMMAND}" "-DROOT=${ROOT}" "-DOUTPUT=${fresh}" ${ARGUMENTS} -P "${ROOT}/${GENERATOR}"
  RESULT_VARIABLE status
  ERROR_VARIABLE errors)
if(NOT status EQUAL 0 OR NOT EXISTS "${fresh}")
  message("${errors}")
  message(FATAL_ERROR "${GENERATOR} failed")
endif()
if(NOT EXISTS "${ROOT}/${HEADER}")
  message(FATAL_ERROR "${HEADER} is missing; in the source folder, run:\n${remedy}")
endif()
execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${fresh}" "${ROOT}/${HEADER}" RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  find_program(DIFF diff)
  if(DIFF)
    execute_process(COMMAND "${DIFF}" -u "${ROOT}/${HEADER}" "${fresh}" OUTPUT_VARIABLE difference)
    string(SUBSTRING "${difference}" 0 4000 difference)
    message("${difference}")
  endif()
  message(FATAL_ERROR "${HEADER} is not what ${GENERATOR} makes of data/; in the source folder, run:\n${remedy}")
endif()
message(STATUS "${HEADER} is in step with data/")
