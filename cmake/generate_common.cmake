# What the generators of checked-in headers share. A generator sets `folder` and `id` for the messages, and `json` to
# the file it reads.

# get(<variable> <member>...): a JSON member as text, "" when it is absent.
function(get variable)
  string(JSON value ERROR_VARIABLE error GET "${json}" ${ARGN})
  if(error)
    set(value "")
  endif()
  set(${variable} "${value}" PARENT_SCOPE)
endfunction()

function(stop text)
  message(FATAL_ERROR "${folder}/${id}.json: ${text}")
endfunction()

# Text that goes into a string literal, checked rather than escaped.
function(literal variable text what capacity)
  if("${text}" MATCHES "[\"\\\\\n;]")
    stop("${what} must not hold quotes, backslashes, semicolons or line breaks")
  endif()
  string(LENGTH "${text}" length)
  if(length GREATER_EQUAL capacity)
    stop("${what} has ${length} characters, at most one less than ${capacity} fit")
  endif()
  set(${variable} "\"${text}\"" PARENT_SCOPE)
endfunction()

# Reads one file into `json`; a schema other than 1 stops.
macro(read_entry)
  file(READ "${ROOT}/${folder}/${id}.json" json)
  string(JSON schema ERROR_VARIABLE error GET "${json}" schema)
  if(error OR NOT schema EQUAL 1)
    stop("schema must be 1 (${error})")
  endif()
endmacro()
