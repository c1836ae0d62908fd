# Makes `target` exist, from the installed package if there is one; from its repository only if the user asked
# for that with KVBUDGET_FETCH_DEPENDENCIES. A macro, since packages extend CMAKE_MODULE_PATH. Never fails:
# whoever cannot go on without the target says so with kvbudget_require_dependency.
macro(kvbudget_find_dependency package target repository tag)
  if(NOT TARGET ${target})
    # GLOBAL: a parent project that links kvbudget::json sees the target too.
    find_package(${package} QUIET GLOBAL)
  endif()
  if(NOT TARGET ${target} AND KVBUDGET_FETCH_DEPENDENCIES)
    include(FetchContent)
    FetchContent_Declare(${package} GIT_REPOSITORY ${repository} GIT_TAG ${tag} GIT_SHALLOW ON SYSTEM)
    FetchContent_MakeAvailable(${package})
  endif()
endmacro()

function(kvbudget_require_dependency target debian_package what option)
  if(NOT TARGET ${target})
    message(
      FATAL_ERROR
        "kvbudget: ${what} need ${target}, which was not found. Install it (Debian and Ubuntu: ${debian_package}), "
        "or set ${option}=OFF, or let CMake fetch it with KVBUDGET_FETCH_DEPENDENCIES=ON.")
  endif()
endfunction()
