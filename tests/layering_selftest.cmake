# The layering check must see what it is there for: each case is a small tree with one violation.
#   cmake -DWORK=<scratch folder> -P tests/layering_selftest.cmake
cmake_minimum_required(VERSION 3.25)

set(failures "")

# The tree starts as detail/a.hpp and units/b.hpp, which includes it; `ARGN` are pairs of header and text, added
# to it. `expected` is a regex for the output, or "" where the tree is fine.
function(expect name expected)
  set(tree "${WORK}/${name}")
  file(REMOVE_RECURSE "${tree}")
  file(WRITE "${tree}/kvbudget/detail/a.hpp" "#pragma once\n#include <cstdint>\n")
  file(WRITE "${tree}/kvbudget/units/b.hpp" "#pragma once\n#include \"kvbudget/detail/a.hpp\"\n")
  set(pairs ${ARGN})
  while(pairs)
    list(POP_FRONT pairs header text)
    file(WRITE "${tree}/kvbudget/${header}" "#pragma once\n${text}\n")
  endwhile()
  execute_process(
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${tree}" -P "${CMAKE_CURRENT_LIST_DIR}/layering.cmake"
    RESULT_VARIABLE status
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if(expected STREQUAL "" AND NOT status EQUAL 0)
    set(failures "${failures}${name}: refused a good tree: ${output}\n" PARENT_SCOPE)
  elseif(NOT expected STREQUAL "" AND (status EQUAL 0 OR NOT output MATCHES "${expected}"))
    set(failures "${failures}${name}: expected '${expected}', got status ${status}: ${output}\n" PARENT_SCOPE)
  endif()
endfunction()

expect(good "")
expect(upwards "detail/c.hpp includes .*units/b.hpp" detail/c.hpp "#include \"kvbudget/units/b.hpp\"")
expect(same_folder "" units/c.hpp "#include \"kvbudget/units/b.hpp\"")
expect(heavy_standard_header "includes <array>" units/c.hpp "#include <array>")
expect(spaced_out "includes <array>" units/c.hpp "#  include   <array>")
expect(third_party_in_core "includes <fmt/core.h>" plan/c.hpp "#include <fmt/core.h>")
expect(json_in_report "includes <nlohmann/json.hpp>" report/c.hpp "#include <nlohmann/json.hpp>")
expect(fmt_in_io "includes <fmt/core.h>" io/c.hpp "#include <fmt/core.h>")
expect(report_in_io "includes .*report/d.hpp" io/c.hpp "#include \"kvbudget/report/d.hpp\"" report/d.hpp "//")
expect(io_may "" io/c.hpp "#include <nlohmann/json.hpp>\n#include <string>\n#include \"kvbudget/units/b.hpp\"")
expect(unguarded "includes <cstdio>" detail/c.hpp "#include <cstdio>")
expect(guarded "" detail/c.hpp "#if !defined(__cpp_exceptions)\n#include <cstdio>\n#endif")
expect(other_branch "includes <cstdio>" detail/c.hpp "#if !defined(__cpp_exceptions)\n#else\n#include <cstdio>\n#endif")
expect(behind_guard "includes <cstdio>" detail/c.hpp "#if !defined(__cpp_exceptions)\n#endif\n#include <cstdio>")
expect(else_guard "" detail/c.hpp "#if defined(__cpp_exceptions)\n#else\n#include <cstdio>\n#endif")
expect(relative "from include/ on" units/c.hpp "#include \"b.hpp\"")
expect(missing "does not exist" units/c.hpp "#include \"kvbudget/units/gone.hpp\"")
expect(macro "cannot be checked" units/c.hpp "#include HEADER")
expect(unknown_folder "'utils' is not a layer" utils/c.hpp "//")
expect(umbrella_with_models "includes .*models.hpp" models.hpp "//" kvbudget.hpp
       "#include \"kvbudget/units/b.hpp\"\n#include \"kvbudget/models.hpp\"")
expect(umbrella_with_io "includes .*io/c.hpp" io/c.hpp "//" kvbudget.hpp
       "#include \"kvbudget/units/b.hpp\"\n#include \"kvbudget/io/c.hpp\"")
expect(umbrella_forgets "units/c.hpp is not reached" units/c.hpp "//" kvbudget.hpp "#include \"kvbudget/units/b.hpp\"")
expect(umbrella_good "" kvbudget.hpp "#include \"kvbudget/units/b.hpp\"")
expect(models_with_plan "includes .*plan/c.hpp" plan/c.hpp "//" models.hpp "#include \"kvbudget/plan/c.hpp\"")

if(failures)
  message(FATAL_ERROR "${failures}")
endif()
