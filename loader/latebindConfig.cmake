# latebind: bind a native runtime late.
#
#   find_package(latebind CONFIG REQUIRED)              # -Dlatebind_DIR=$(latebind --cmake-dir)
#   latebind_add_runtime(<target> onnxruntime [MINIMUM 1.20])
#   target_link_libraries(<target> PRIVATE latebind::onnxruntime) # instead of the runtime, for code that links it
#   latebind_hardening(<target>)
#   latebind_add_python_module(<target> <sources>...)   # what pybind11_add_module() and nanobind_add_module() do
#
# latebind_add_runtime() compiles the loader into <target>; nothing of it is exported. The runtime's floor is, in
# this order: MINIMUM, the variable LATEBIND_MINIMUM_<runtime> (given by `latebind build` from latebind.toml), the
# preset's own. A runtime without a preset is described in latebind.toml; LATEBIND_DESCRIBED is the folder of what
# latebind made of that. latebind_add_loader(<target>) does the same without a runtime, for a host that describes its own
# in C.

include_guard(GLOBAL)
cmake_policy(PUSH)
cmake_policy(VERSION 3.20)
include(CheckLinkerFlag)

set(LATEBIND_LOADER_DIR "${CMAKE_CURRENT_LIST_DIR}")
set(LATEBIND_INCLUDE_DIR "${CMAKE_CURRENT_LIST_DIR}/include")

# Which runtimes this loader knows: each has src/<name>.c and include/latebind/<name>.h.
set(LATEBIND_RUNTIMES)
file(GLOB _latebind_headers "${LATEBIND_INCLUDE_DIR}/latebind/*.h")
foreach(_latebind_header IN LISTS _latebind_headers)
  cmake_path(GET _latebind_header STEM _latebind_name)
  if(EXISTS "${LATEBIND_LOADER_DIR}/src/${_latebind_name}.c")
    list(APPEND LATEBIND_RUNTIMES "${_latebind_name}")
  endif()
endforeach()

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
  if(NOT CMAKE_SYSTEM_NAME MATCHES "^(Linux|Darwin|Windows)$")
    message(FATAL_ERROR "latebind_add_loader: the loader does not know ${CMAKE_SYSTEM_NAME}.")
  endif()
  set(source "${LATEBIND_LOADER_DIR}/src/loader.c")
  target_sources("${target}" PRIVATE "${source}")
  target_include_directories("${target}" PRIVATE "${LATEBIND_INCLUDE_DIR}")
  if(NOT WIN32) # where the loader needs the kernel's own library alone
    find_package(Threads REQUIRED)
    target_link_libraries("${target}" PRIVATE ${CMAKE_DL_LIBS} Threads::Threads)
  endif()
  set_target_properties("${target}" PROPERTIES LATEBIND_LOADER TRUE)
  # Hidden even where the host's own default is not: two libraries in one process must not share a loader. It runs once
  # in a process, so its size counts more than its speed, and linkers drop sections that a library never uses.
  if(NOT MSVC)
    set_property(SOURCE "${source}" PROPERTY COMPILE_OPTIONS
      -fvisibility=hidden -ffunction-sections -fdata-sections "$<$<CONFIG:Release>:-Os>")
  endif()
endfunction()

function(latebind_add_runtime target runtime)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "MINIMUM" "")
  _latebind_check_target(latebind_add_runtime "${target}")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "latebind_add_runtime: \"${arg_UNPARSED_ARGUMENTS}\" is not understood; "
                        "it takes <target> <runtime> [MINIMUM <version>].")
  endif()
  set(source "${LATEBIND_LOADER_DIR}/src/${runtime}.c")
  if(NOT runtime IN_LIST LATEBIND_RUNTIMES)
    set(source "${LATEBIND_DESCRIBED}/${runtime}.c")
    if(NOT EXISTS "${LATEBIND_DESCRIBED}/latebind/${runtime}.h")
      list(JOIN LATEBIND_RUNTIMES ", " known)
      message(FATAL_ERROR "latebind_add_runtime: \"${runtime}\" is not a runtime that latebind knows. Known: ${known}. "
                          "Describe another in latebind.toml, below [runtime.describe]; `latebind build` takes it from "
                          "there, CMake alone from `latebind loader-source FOLDER` by -DLATEBIND_DESCRIBED=FOLDER.")
    endif()
    target_include_directories("${target}" PRIVATE "${LATEBIND_DESCRIBED}")
  endif()
  latebind_add_loader("${target}")
  if(EXISTS "${source}") # else the project reads the version itself
    target_sources("${target}" PRIVATE "${source}")
  endif()
  if(NOT MSVC)
    set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_OPTIONS "-fvisibility=hidden")
  endif()

  if(LATEBIND_PRIORITY_${runtime})
    string(TOUPPER "LATEBIND_${runtime}_PRIORITY" macro)
    target_compile_definitions("${target}" PRIVATE "${macro}=\"${LATEBIND_PRIORITY_${runtime}}\"")
  endif()

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

# latebind::<runtime> is linked by code that is written for a linked runtime: a static library with the runtime's functions,
# which binds the runtime at the first call of one. It is built only where it is used. That of ONNX Runtime is always
# there; `latebind stub` makes those of others, from tables below LATEBIND_DESCRIBED.
function(latebind_add_stub runtime)
  set(stub_sources stub_bind stub_record neighbours)
  if(runtime STREQUAL "onnxruntime")
    list(APPEND stub_sources ort_stub ort_tables ort_status ort_exports trampolines)
  else()
    list(APPEND stub_sources functions_stub trampolines)
  endif()
  list(TRANSFORM stub_sources PREPEND "${LATEBIND_LOADER_DIR}/src/")
  list(TRANSFORM stub_sources APPEND ".c")
  if(CMAKE_C_COMPILER_ID STREQUAL "MSVC" AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND runtime STREQUAL "onnxruntime")
    enable_language(ASM_MASM) # reads no assembly in C
    list(APPEND stub_sources "${LATEBIND_LOADER_DIR}/src/trampolines_x64.asm")
  endif()
  set(target latebind_${runtime})
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${stub_sources})
  add_library(latebind::${runtime} ALIAS ${target})
  if(CMAKE_C_COMPILER_ID STREQUAL "MSVC" AND runtime STREQUAL "onnxruntime")
    target_compile_definitions(${target} PRIVATE LATEBIND_MASM)
  elseif(NOT MSVC)
    set_property(SOURCE ${stub_sources} APPEND PROPERTY COMPILE_OPTIONS "-fvisibility=hidden")
  endif()
  if(NOT runtime STREQUAL "onnxruntime")
    target_compile_definitions(${target} PRIVATE LATEBIND_STUB)
    target_include_directories(${target} PRIVATE "${LATEBIND_DESCRIBED}/${runtime}")
  endif()
  target_include_directories(${target} INTERFACE "${LATEBIND_INCLUDE_DIR}")
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE TRUE)
  latebind_add_runtime(${target} ${runtime})
endfunction()

if(CMAKE_SYSTEM_NAME MATCHES "^(Linux|Darwin|Windows)$")
  if(NOT CMAKE_C_COMPILER_LOADED)
    enable_language(C) # the loader is C, also in a project that is C++ alone
  endif()
  set(_latebind_stubs onnxruntime)
  if(LATEBIND_DESCRIBED)
    file(GLOB _latebind_tables RELATIVE "${LATEBIND_DESCRIBED}" "${LATEBIND_DESCRIBED}/*/stub_table.h")
    list(TRANSFORM _latebind_tables REPLACE "/.*" "")
    list(APPEND _latebind_stubs ${_latebind_tables})
  endif()
  if(LATEBIND_OWN AND NOT MSVC) # stub/CMakeLists.txt then has another target
    set(_latebind_stubs "")
  endif()
  foreach(_latebind_stub IN LISTS _latebind_stubs)
    latebind_add_stub(${_latebind_stub})
  endforeach()
endif()

# Writes NAME.pc for a static library that holds the loader: -l<library>, and what the loader itself needs.
function(latebind_pkg_config name library version description)
  set(LATEBIND_PC_NAME "${name}")
  set(LATEBIND_PC_LIBRARY "${library}")
  set(LATEBIND_PC_VERSION "${version}")
  set(LATEBIND_PC_DESCRIPTION "${description}")
  if(NOT WIN32)
    list(TRANSFORM CMAKE_DL_LIBS PREPEND "-l" OUTPUT_VARIABLE libraries)
    list(JOIN libraries " " LATEBIND_PC_NEEDED)
    string(PREPEND LATEBIND_PC_NEEDED "-lpthread ") # not -pthread: setup files take -I, -L and -l apart
  endif()
  configure_file("${LATEBIND_LOADER_DIR}/library.pc.in" "${name}.pc" @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc" DESTINATION lib/pkgconfig)
endfunction()

# A Python module: named and linked as CPython wants it, nothing exported but its initialization. `latebind build` gives
# the variables LATEBIND_PYTHON_* from the kind of the package's wheel (backend/extension.py); a plain CMake takes the
# CPython that find_package(Python) finds. The module never links libpython outside Windows: the program has it.
function(latebind_add_python_module target)
  if(NOT ARGN)
    message(FATAL_ERROR "latebind_add_python_module: \"${target}\" has no sources; "
                        "it takes <target> <sources>...")
  endif()
  if(NOT LATEBIND_PYTHON_KIND)
    find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
    Python_add_library("${target}" MODULE WITH_SOABI ${ARGN})
  elseif(LATEBIND_PYTHON_KIND STREQUAL "none")
    # Another machine's own CPython must build it: the target is there for the project's other calls, and is not built.
    add_library("${target}" MODULE EXCLUDE_FROM_ALL ${ARGN})
  else()
    add_library("${target}" MODULE ${ARGN})
    set_target_properties("${target}" PROPERTIES PREFIX "" SUFFIX "${LATEBIND_PYTHON_SUFFIX}")
    target_include_directories("${target}" SYSTEM PRIVATE "${LATEBIND_PYTHON_INCLUDE}")
    if(LATEBIND_PYTHON_LIMITED_API)
      target_compile_definitions("${target}" PRIVATE "Py_LIMITED_API=${LATEBIND_PYTHON_LIMITED_API}")
    endif()
    if(LATEBIND_PYTHON_TARGET_ABI3T)
      target_compile_definitions("${target}" PRIVATE "Py_TARGET_ABI3T=${LATEBIND_PYTHON_TARGET_ABI3T}")
    endif()
    if(WIN32)
      target_link_libraries("${target}" PRIVATE "${LATEBIND_PYTHON_LIBRARY}")
      # Python's headers name the library once more, without its folder, for Visual C++.
      get_filename_component(folder "${LATEBIND_PYTHON_LIBRARY}" DIRECTORY)
      target_link_directories("${target}" PRIVATE "${folder}")
    elseif(APPLE)
      target_link_options("${target}" PRIVATE "LINKER:-undefined,dynamic_lookup")
    endif()
  endif()
  set_target_properties("${target}" PROPERTIES
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN TRUE)
endfunction()

# latebind_exports(<target> <pattern>...) hides every symbol that matches no pattern (`tiny_*`). The functions themselves
# are marked in the sources. On Linux a version script also hides what the C++ library leaves behind (operator new).
function(latebind_exports target)
  _latebind_check_target(latebind_exports "${target}")
  if(NOT ARGN)
    message(FATAL_ERROR "latebind_exports: \"${target}\" has no patterns; it takes <target> <pattern>...")
  endif()
  set_target_properties("${target}" PROPERTIES
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN TRUE)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    list(JOIN ARGN "; " names)
    set(script "${CMAKE_CURRENT_BINARY_DIR}/${target}.map")
    file(CONFIGURE OUTPUT "${script}" CONTENT "{ global: ${names}; local: *; };\n" @ONLY)
    # Not LINKER:, which splits at commas, and a folder may have one in its name.
    target_link_options("${target}" PRIVATE "SHELL:-Xlinker \"--version-script=${script}\"")
    set_property(TARGET "${target}" APPEND PROPERTY LINK_DEPENDS "${script}")
  endif()
endfunction()

# latebind_ep(<target> <package>) gives a plugin execution provider for ONNX Runtime what the package's `ep` table in
# latebind.toml says, as LATEBIND_EP_*, for its own sources and for <latebind/ep.h>, and hides all but its two entry points.
function(latebind_ep target package)
  _latebind_check_target(latebind_ep "${target}")
  if(NOT DEFINED LATEBIND_EP_${package})
    message(FATAL_ERROR "latebind_ep: \"${package}\" has no `ep` table in latebind.toml; `latebind build` gives it.")
  endif()
  target_include_directories("${target}" PRIVATE "${LATEBIND_INCLUDE_DIR}")
  list(TRANSFORM LATEBIND_EP_${package} PREPEND LATEBIND_EP_ OUTPUT_VARIABLE values)
  target_compile_definitions("${target}" PRIVATE ${values})
  latebind_exports("${target}" CreateEpFactories ReleaseEpFactory)
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux") # sources that mark nothing rely on a version script, as ONNX Runtime's example does
    set_target_properties("${target}" PROPERTIES
      LATEBIND_SCRIPTED TRUE C_VISIBILITY_PRESET default CXX_VISIBILITY_PRESET default)
  endif()
  # The runtime unloads a provider, and zig's libraries do not call __cxa_finalize(): destructors of static C++ objects
  # would run in unmapped memory when the process ends. So the library stays.
  target_link_options("${target}" PRIVATE "$<$<PLATFORM_ID:Linux>:LINKER:-z,nodelete>")
endfunction()

# Hides symbols, closes the usual doors, and keeps every path of the build machine out of the library, so that two
# builds in different folders give the same bytes. Where LATEBIND_SYMBOLS is on, the library keeps its debug information:
# `latebind pack` builds so once more, in a tree of its own, for the archive of symbols. LATEBIND_PREFIX_MAP names
# folders of the compiler that debug information would name, as old=new.
function(latebind_hardening target)
  _latebind_check_target(latebind_hardening "${target}")
  get_target_property(scripted "${target}" LATEBIND_SCRIPTED)
  if(NOT scripted)
    set_target_properties("${target}" PROPERTIES C_VISIBILITY_PRESET hidden)
  endif()
  set_target_properties("${target}" PROPERTIES
    VISIBILITY_INLINES_HIDDEN TRUE
    POSITION_INDEPENDENT_CODE TRUE
    SKIP_BUILD_RPATH TRUE
    INSTALL_RPATH ""
    # On macOS, what links a library records its install name. dyld looks for a plain file name in the working folder;
    # for "@rpath/..." CMake puts the library's folder into the program.
    MACOSX_RPATH TRUE
    INSTALL_NAME_DIR "@rpath"
    BUILD_WITH_INSTALL_NAME_DIR TRUE)
  if(NOT MSVC)
    target_compile_options("${target}" PRIVATE
      "-ffile-prefix-map=${LATEBIND_LOADER_DIR}=latebind"
      "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=source"
      "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build"
      -fstack-protector-strong)
  endif()
  set(strip "$<$<CONFIG:Release,MinSizeRel>:LINKER:-s>")
  if(LATEBIND_SYMBOLS AND NOT MSVC)
    set(strip "")
    list(TRANSFORM LATEBIND_PREFIX_MAP PREPEND "-ffile-prefix-map=" OUTPUT_VARIABLE maps)
    target_compile_options("${target}" PRIVATE -g ${maps})
    target_link_options("${target}" PRIVATE -g)
    if(LATEBIND_SYMBOLS_SCRIPT) # a linker script that leaves out what the compiler's own libraries say of themselves
      target_link_options("${target}" PRIVATE "SHELL:-Xlinker -T -Xlinker \"${LATEBIND_SYMBOLS_SCRIPT}\"")
    endif()
  endif()
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    get_target_property(kind "${target}" TYPE)
    if(NOT kind STREQUAL "MODULE_LIBRARY") # whose open symbols are those of the program that opens it: CPython
      target_link_options("${target}" PRIVATE "LINKER:--no-undefined")
    endif()
    target_link_options("${target}" PRIVATE
      "LINKER:-z,relro" "LINKER:-z,now" "LINKER:-z,noexecstack" "LINKER:--as-needed"
      "LINKER:--build-id=sha1" ${strip}) # the id is a hash of the library itself
  elseif(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
    target_link_options("${target}" PRIVATE "LINKER:-dead_strip")
    if(NOT LATEBIND_SYMBOLS)
      target_link_options("${target}" PRIVATE
        "$<$<CONFIG:Release,MinSizeRel>:LINKER:-S>" "$<$<CONFIG:Release,MinSizeRel>:LINKER:-x>")
    endif()
  elseif(MSVC)
    # The C++ runtime's part goes into the library, the C library's is Windows' own: users need no VC runtime.
    set_target_properties("${target}" PROPERTIES MSVC_RUNTIME_LIBRARY "MultiThreaded$<$<CONFIG:Debug>:Debug>")
    target_compile_options("${target}" PRIVATE /utf-8 /guard:cf)
    target_link_options("${target}" PRIVATE "LINKER:/Brepro" "LINKER:/guard:cf"
      "$<$<NOT:$<CONFIG:Debug>>:LINKER:/NODEFAULTLIB:libucrt.lib;LINKER:/DEFAULTLIB:ucrt.lib>")
  elseif(WIN32)
    # GNU's linker writes the time into the library unless it is told not to; zig's does not and knows no such flag.
    check_linker_flag(C "LINKER:--no-insert-timestamp" LATEBIND_HAS_NO_INSERT_TIMESTAMP)
    target_link_options("${target}" PRIVATE
      "$<$<BOOL:${LATEBIND_HAS_NO_INSERT_TIMESTAMP}>:LINKER:--no-insert-timestamp>"
      ${strip})
  endif()
endfunction()

cmake_policy(POP)
