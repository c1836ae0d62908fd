# Headers that are made from data/ and checked in: the target kvbudget_generate makes them anew, and a test keeps
# each in step. `kvbudget_generated` lists them as "<generator>|<header>|<extra arguments>", paths from the source
# folder; a generator is run as `cmake -DROOT=<source> -DOUTPUT=<header> <extra arguments> -P <generator>`.

set(kvbudget_generated "cmake/generate_gpus.cmake|include/kvbudget/hardware/gpus.hpp|"
                       "cmake/generate_gpus.cmake|include/kvbudget/lookup/gpu_aliases.hpp|-DALIASES=ON"
                       "cmake/generate_models.cmake|include/kvbudget/models.hpp|"
                       "cmake/generate_constants.cmake|include/kvbudget/report/engine_constants.hpp|-DTABLE=ON")

# data/engines/<id>.json names the header that its constants go to, if they go to one.
file(GLOB kvbudget_engines CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/data/engines/*.json")
foreach(file IN LISTS kvbudget_engines)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  cmake_path(GET file STEM LAST_ONLY engine)
  file(READ "${file}" json)
  string(JSON header ERROR_VARIABLE error GET "${json}" header)
  if(NOT error)
    list(APPEND kvbudget_generated "cmake/generate_constants.cmake|include/kvbudget/${header}|-DENGINE=${engine}")
  endif()
endforeach()

# Sets `generator`, `header` and `arguments` from one entry of the list.
macro(kvbudget_split_generated entry)
  string(REGEX MATCH "^(.*)\\|(.*)\\|(.*)$" _ "${entry}")
  set(generator "${CMAKE_MATCH_1}")
  set(header "${CMAKE_MATCH_2}")
  set(arguments "${CMAKE_MATCH_3}")
endmacro()

add_custom_target(kvbudget_generate COMMENT "Generating headers from data/")
foreach(entry IN LISTS kvbudget_generated)
  kvbudget_split_generated("${entry}")
  if(EXISTS "${PROJECT_SOURCE_DIR}/${generator}")
    add_custom_command(
      TARGET kvbudget_generate POST_BUILD
      COMMAND "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${PROJECT_SOURCE_DIR}/${header}" ${arguments}
              -P "${PROJECT_SOURCE_DIR}/${generator}"
      VERBATIM)
  endif()
endforeach()
