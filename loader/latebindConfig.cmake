# latebind: bind a native runtime late.
#
#   find_package(latebind CONFIG REQUIRED)              # -Dlatebind_DIR=$(latebind --cmake-dir)
#   latebind_add_runtime(<target> onnxruntime [MINIMUM 1.20])
#   latebind_hardening(<target>)
#
# latebind_add_runtime() compiles the loader into <target>; nothing of it is exported. The runtime's floor is, in
# this order: MINIMUM, the variable LATEBIND_MINIMUM_<runtime> (given by `latebind build` from latebind.toml), the
# preset's own. latebind_add_loader(<target>) does the same without a runtime, for a host that describes its own.

include_guard(GLOBAL)
cmake_policy(PUSH)
cmake_policy(VERSION 3.20)

set(LATEBIND_LOADER_DIR "${CMAKE_CURRENT_LIST_DIR}")
set(LATEBIND_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/include")

# Which runtimes this loader knows: each has src/<name>.c and include/latebind/<name>.h.
set(LATEBIND_RUNTIMES onnxruntime)

function(_latebind_check_target command target)
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "${command}: there is no target \"${target}\". Call add_library(${target} ...) first.")
  endif()
endfunction()

function(latebind_add_loader target)
  _latebind_check_target(latebind_add_loader "${target}")
  get_target_property(added "${target}" LATEBIND_LOADER)
  if(added)
    return()
  endif()
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    message(FATAL_ERROR "latebind_add_loader: the loader does not know ${CMAKE_SYSTEM_NAME}.")
  endif()
  set(sources memory text names record sentence report report_json candidate search bind elf_head os_linux images_linux)
  list(TRANSFORM sources PREPEND "${LATEBIND_LOADER_DIR}/src/")
  list(TRANSFORM sources APPEND ".c")
  find_package(Threads REQUIRED)
  target_sources("${target}" PRIVATE ${sources})
  target_include_directories("${target}" PRIVATE "${LATEBIND_INCLUDE_DIR}")
  target_link_libraries("${target}" PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
  set_target_properties("${target}" PROPERTIES LATEBIND_LOADER TRUE)
  # Hidden even where the host's own default is not: two libraries in one process must not share a loader.
  set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS "-fvisibility=hidden")
endfunction()

function(latebind_add_runtime target runtime)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "MINIMUM" "")
  _latebind_check_target(latebind_add_runtime "${target}")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "latebind_add_runtime: \"${arg_UNPARSED_ARGUMENTS}\" is not understood; "
                        "it takes <target> <runtime> [MINIMUM <version>].")
  endif()
  if(NOT runtime IN_LIST LATEBIND_RUNTIMES)
    list(JOIN LATEBIND_RUNTIMES ", " known)
    message(FATAL_ERROR "latebind_add_runtime: \"${runtime}\" is not a runtime that latebind knows. Known: ${known}.")
  endif()
  latebind_add_loader("${target}")
  set(source "${LATEBIND_LOADER_DIR}/src/${runtime}.c")
  target_sources("${target}" PRIVATE "${source}")
  set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_OPTIONS "-fvisibility=hidden")

  set(minimum "${arg_MINIMUM}")
  if(NOT minimum)
    set(minimum "${LATEBIND_MINIMUM_${runtime}}")
  endif()
  if(NOT minimum)
    return()
  endif()
  if(NOT minimum MATCHES "^([0-9]+)\\.([0-9]+)(\\.([0-9]+))?$")
    message(FATAL_ERROR "latebind_add_runtime: the minimum of ${runtime} is \"${minimum}\"; "
                        "it must look like 1.19 or 1.19.2.")
  endif()
  set(major "${CMAKE_MATCH_1}")
  set(minor "${CMAKE_MATCH_2}")
  set(patch "${CMAKE_MATCH_4}")
  if(patch STREQUAL "")
    set(patch 0)
  endif()
  string(TOUPPER "LATEBIND_${runtime}_MINIMUM" macro)
  target_compile_definitions("${target}" PRIVATE
    "${macro}_MAJOR=${major}" "${macro}_MINOR=${minor}" "${macro}_PATCH=${patch}")
endfunction()

# Hides symbols, closes the usual doors, and keeps every path of the build machine out of the library, so that two
# builds in different folders give the same bytes.
function(latebind_hardening target)
  _latebind_check_target(latebind_hardening "${target}")
  set_target_properties("${target}" PROPERTIES
    C_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN TRUE
    POSITION_INDEPENDENT_CODE TRUE
    SKIP_BUILD_RPATH TRUE
    INSTALL_RPATH "")
  target_compile_options("${target}" PRIVATE
    "-ffile-prefix-map=${LATEBIND_LOADER_DIR}=latebind"
    "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=source"
    "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build"
    -fstack-protector-strong)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options("${target}" PRIVATE
      "LINKER:-z,relro" "LINKER:-z,now" "LINKER:-z,noexecstack" "LINKER:--no-undefined" "LINKER:--as-needed"
      "LINKER:--build-id=none" "$<$<CONFIG:Release,MinSizeRel>:LINKER:-s>")
  endif()
endfunction()

cmake_policy(POP)
