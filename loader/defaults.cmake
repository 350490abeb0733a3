# What `latebind build` gives to every target of a project, which need not call latebind_hardening() for it: no path of the
# build machine and, in release builds, no debug information in the files. Read as one of CMAKE_PROJECT_TOP_LEVEL_INCLUDES.
if(NOT MSVC AND NOT CMAKE_GENERATOR MATCHES "Visual Studio")
  # LATEBIND_SOURCE_DIR is the folder of all native code, which may be above that of CMakeLists.txt.
  add_compile_options("-ffile-prefix-map=${LATEBIND_SOURCE_DIR}=source" "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build")
  if(NOT LATEBIND_SYMBOLS)
    if(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
      add_link_options("$<$<CONFIG:Release,MinSizeRel>:LINKER:-S>" "$<$<CONFIG:Release,MinSizeRel>:LINKER:-x>")
    else()
      add_link_options("$<$<CONFIG:Release,MinSizeRel>:LINKER:-s>")
    endif()
  endif()
endif()

# The toolchain file defines this macro of sal.h in CMAKE_CXX_FLAGS_INIT, which the target's `cxxflags` replace. The other
# one shows M_PI in strict C++, too; it is empty, so that code which defines it itself does not define it differently.
if(CMAKE_SYSTEM_NAME STREQUAL "Windows" AND LATEBIND_ZIG)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-D_Return_type_success_(expr)=>")
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-D_USE_MATH_DEFINES=>")
endif()

# Windows code writes <Windows.h>, and the files of mingw-w64 are in lower case, which matters on Linux.
if(CMAKE_SYSTEM_NAME STREQUAL "Windows" AND LATEBIND_ZIG AND CMAKE_HOST_SYSTEM_NAME STREQUAL "Linux")
  foreach(_latebind_header IN ITEMS Windows WinSock2 Winsock2 WS2tcpip Ws2tcpip Shlwapi ShlObj Shlobj Psapi DbgHelp Dbghelp
      WinBase WinDef WinNT Wincrypt WinCrypt Objbase ShellAPI TlHelp32 WinUser WinVer Winver)
    string(TOLOWER "${_latebind_header}" _latebind_name)
    file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/latebind.include/${_latebind_header}.h"
      CONTENT "#include <${_latebind_name}.h>\n" @ONLY)
  endforeach()
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:SHELL:-idirafter \"${CMAKE_BINARY_DIR}/latebind.include\">")
endif()

# Projects add folders to CMAKE_MODULE_PATH, so this one stays in front.
if(LATEBIND_PYTHON_ANSWERS)
  list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}/find")
endif()

# Whether a target is a shared library, and whether programs load it: a module is loaded, too.
set(_latebind_is_shared "$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>")
set(_latebind_is_loaded "$<OR:${_latebind_is_shared},$<STREQUAL:$<TARGET_PROPERTY:TYPE>,MODULE_LIBRARY>>")

# native.hide: shared libraries export what the packages' `exports` lists (LATEBIND_EXPORTS), and nothing else.
if(LATEBIND_EXPORTS)
  set(_latebind_flags "")
  if(CMAKE_SYSTEM_NAME STREQUAL "Darwin") # zig's linker accepts the list and ignores it
    list(TRANSFORM LATEBIND_EXPORTS PREPEND "_" OUTPUT_VARIABLE _latebind_names)
    list(JOIN _latebind_names "\n" _latebind_text)
    set(_latebind_list "${CMAKE_BINARY_DIR}/latebind.exports")
    set(_latebind_flags "LINKER:-exported_symbols_list,${_latebind_list}")
    if(LATEBIND_ZIG)
      add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX,OBJC,OBJCXX>:-fvisibility=hidden>")
    endif()
  elseif(CMAKE_SYSTEM_NAME STREQUAL "Windows") # a definition file has no patterns
    if(NOT LATEBIND_EXPORTS MATCHES "[*?[]")
      list(JOIN LATEBIND_EXPORTS "\n" _latebind_text)
      string(PREPEND _latebind_text "EXPORTS\n")
      set(_latebind_list "${CMAKE_BINARY_DIR}/latebind.def")
      set(_latebind_flags "${_latebind_list}")
    endif()
  else()
    list(JOIN LATEBIND_EXPORTS "; " _latebind_text)
    set(_latebind_text "{ global: ${_latebind_text}; local: *; };")
    set(_latebind_list "${CMAKE_BINARY_DIR}/latebind.map")
    set(_latebind_flags "LINKER:--version-script=${_latebind_list}")
    if(LATEBIND_ZIG) # its linker refuses a name that only another library of the project has; ld allows it
      list(APPEND _latebind_flags "LINKER:--undefined-version")
    endif()
  endif()
  if(_latebind_flags)
    file(CONFIGURE OUTPUT "${_latebind_list}" CONTENT "${_latebind_text}\n" @ONLY)
    foreach(_latebind_flag IN LISTS _latebind_flags)
      add_link_options("$<${_latebind_is_loaded}:${_latebind_flag}>")
    endforeach()
  endif()
endif()

# An undefined symbol fails the link, as on macOS and Windows, instead of the program that loads the library. Modules are
# loaded by programs that define some of theirs, and so is a shared library that links Python::Module, which has no file
# here. LATEBIND_ALLOW_UNDEFINED in native.define turns this off.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT LATEBIND_ALLOW_UNDEFINED)
  set(_latebind_module "$<FILTER:$<TARGET_PROPERTY:LINK_LIBRARIES>,INCLUDE,^Python[23]?::(SABI)?Module$>")
  add_link_options("$<$<AND:${_latebind_is_shared},$<NOT:$<BOOL:${_latebind_module}>>>:LINKER:-z,defs>")
endif()

# The libraries that zig links do not call __cxa_finalize(). If a program unloaded one, the destructors of its static C++
# objects would run in unmapped memory when the process ends. So such a library stays loaded, unless it is linked as C.
# LATEBIND_ALLOW_UNLOADING in native.define turns this off.
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND LATEBIND_ZIG AND NOT LATEBIND_ALLOW_UNLOADING)
  add_link_options("$<$<AND:$<LINK_LANGUAGE:CXX>,${_latebind_is_loaded}>:LINKER:-z,nodelete>")
endif()

# What follows changes targets, which are there when the top folder has been read.
function(_latebind_list_targets folder result)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    _latebind_list_targets("${below}" more)
    list(APPEND targets ${more})
  endforeach()
  set(${result} "${targets}" PARENT_SCOPE)
endfunction()

function(_latebind_change_targets)
  _latebind_list_targets("${CMAKE_SOURCE_DIR}" targets)
  foreach(target IN LISTS targets)
    # Folders of this machine, such as that of a stub, mean nothing where the package is installed.
    set_target_properties("${target}" PROPERTIES INSTALL_RPATH_USE_LINK_PATH FALSE)
    _latebind_set_soversion("${target}")
    if(WIN32 AND NOT MSVC)
      _latebind_translate_definition_file("${target}")
    elseif(APPLE AND LATEBIND_ZIG)
      _latebind_translate_undefined_symbols("${target}")
      set_property(TARGET "${target}" APPEND PROPERTY LINK_DEPENDS "${LATEBIND_OPERATORS}") # of the toolchain file
    endif()
  endforeach()
endfunction()

# sdk.soversion: shared libraries have this version in their SONAME (LATEBIND_SOVERSION), where the project sets none.
function(_latebind_set_soversion target)
  get_target_property(type "${target}" TYPE)
  get_target_property(version "${target}" SOVERSION)
  if(DEFINED LATEBIND_SOVERSION AND type STREQUAL "SHARED_LIBRARY" AND NOT version AND NOT version STREQUAL "0")
    set_target_properties("${target}" PROPERTIES SOVERSION "${LATEBIND_SOVERSION}" NO_SONAME FALSE)
  endif()
endfunction()

# Visual C++ takes a module definition file as an option. Other linkers for Windows take it as a file: zig's driver would
# read -DEF:FILE as the definition of a macro, and export everything.
function(_latebind_translate_definition_file target)
  foreach(name IN ITEMS LINK_OPTIONS LINK_FLAGS LINK_FLAGS_RELEASE LINK_LIBRARIES INTERFACE_LINK_OPTIONS)
    get_property(given TARGET "${target}" PROPERTY "${name}")
    string(REGEX REPLACE "(LINKER:|-Wl,)?[-/][Dd][Ee][Ff]:" "" files "${given}")
    string(REGEX REPLACE "(LINKER:|-Wl,)([^;,> ]+\\.def)" "\\2" files "${files}")
    if(NOT files STREQUAL given)
      set_property(TARGET "${target}" PROPERTY "${name}" "${files}")
      string(REGEX MATCHALL "/[^;,>\" ]+\\.def|[A-Za-z]:/[^;,>\" ]+\\.def" files "${files}")
      set_property(TARGET "${target}" APPEND PROPERTY LINK_DEPENDS ${files})
    endif()
  endforeach()
endfunction()

# zig's linker takes no list of symbols that may be undefined, which nanobind gives to each module as a file of options
# (`-U _PyList_New`). It takes the option that permits them all, as pybind11 uses it.
function(_latebind_translate_undefined_symbols target)
  get_target_property(options "${target}" LINK_OPTIONS)
  if(options MATCHES "(LINKER:|-Wl,)@([^;,>\"]+)")
    set(listed "${CMAKE_MATCH_0}")
    file(STRINGS "${CMAKE_MATCH_2}" others REGEX "^ *[^- ]|^ *-[^U]" LIMIT_COUNT 1)
    if(NOT others)
      string(REPLACE "${listed}" "LINKER:-undefined,dynamic_lookup" options "${options}")
      set_property(TARGET "${target}" PROPERTY LINK_OPTIONS "${options}")
    endif()
  endif()
endfunction()

cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _latebind_change_targets)
