# The version lives in one place, include/kvbudget/version.hpp; everything else reads it from there.

# Sets `result` to "major.minor.patch" as `header` defines it; stops if one of the three lines is missing.
function(kvbudget_read_version header result)
  if(NOT EXISTS "${header}")
    message(FATAL_ERROR "kvbudget: no version header at ${header}")
  endif()
  file(READ "${header}" text)
  set(version "")
  foreach(part IN ITEMS MAJOR MINOR PATCH)
    if(NOT text MATCHES "#define KVBUDGET_VERSION_${part} ([0-9]+)\n")
      message(FATAL_ERROR "kvbudget: ${header} does not define KVBUDGET_VERSION_${part} as a plain number")
    endif()
    list(APPEND version "${CMAKE_MATCH_1}")
  endforeach()
  list(JOIN version "." version)
  set(${result} "${version}" PARENT_SCOPE)
endfunction()
