# The compile-fail check must itself fail when it should.
#   cmake -DCOMPILER=… -DCOMPILER_ID=… -DFLAGS=… -DWORK=<scratch folder> -P check_selftest.cmake
cmake_minimum_required(VERSION 3.25)

set(failures "")

# `expected`: a regex for the check's output, or "" where the snippet is fine.
function(expect name expected text)
  set(source "${WORK}/${name}.cpp")
  file(WRITE "${source}" "${text}")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" "-DCOMPILER=${COMPILER}" "-DCOMPILER_ID=${COMPILER_ID}" "-DFLAGS=${FLAGS}"
            "-DSOURCE=${source}" -P "${CMAKE_CURRENT_LIST_DIR}/check.cmake"
    RESULT_VARIABLE status
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " flat "${output}")
  if(expected STREQUAL "" AND NOT status EQUAL 0)
    set(failures "${failures}${name}: refused a good snippet: ${output}\n" PARENT_SCOPE)
  elseif(NOT expected STREQUAL "" AND (status EQUAL 0 OR NOT flat MATCHES "${expected}"))
    set(failures "${failures}${name}: expected '${expected}', got status ${status}: ${output}\n" PARENT_SCOPE)
  endif()
endfunction()

set(snippet "#ifdef KVBUDGET_MUST_FAIL\nstatic_assert(sizeof(int) == 0, \"a [named] rule; and more\");\n#else\nstatic_assert(sizeof(int) != 0);\n#endif\n")
expect(good "" "// expect: a .named. rule\n${snippet}")
expect(brackets "" "// expect: a \\[named\\] rule; and\n${snippet}")
expect(all_must_match "rule.* does not match another" "// expect: a .named. rule\n// expect: another\n${snippet}")
expect(no_pattern "any error would pass" "${snippet}")
expect(misspelt "unknown kind" "// expect-gc: a\n${snippet}")
expect(compiles "must not compile does" "// expect: rule\nint main() {}\n")
expect(broken_twin "must compile does not" "// expect: rule\nint main( {}\n")
expect(one_line "" "// expect: ^.*a .named. rule.*$\n${snippet}")
if(COMPILER_ID STREQUAL "GNU")
  expect(other_compiler "any error would pass" "// expect-clang: rule\n${snippet}")
  expect(own_compiler "" "// expect-gcc: rule\n// expect-clang: nonsense\n${snippet}")
else()
  expect(other_compiler "any error would pass" "// expect-gcc: rule\n${snippet}")
  expect(own_compiler "" "// expect-clang: rule\n// expect-gcc: nonsense\n${snippet}")
endif()

if(failures)
  message(FATAL_ERROR "${failures}")
endif()
