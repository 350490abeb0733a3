# What `latebind build` gives to every target of a project, which need not call latebind_hardening() for it: no path of the
# build machine and, in release builds, no debug information in the files. Read as one of CMAKE_PROJECT_TOP_LEVEL_INCLUDES.
if(NOT MSVC AND NOT CMAKE_GENERATOR MATCHES "Visual Studio")
  add_compile_options("-ffile-prefix-map=${CMAKE_SOURCE_DIR}=source" "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build")
  if(NOT LATEBIND_SYMBOLS)
    if(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
      add_link_options("$<$<CONFIG:Release,MinSizeRel>:LINKER:-S>" "$<$<CONFIG:Release,MinSizeRel>:LINKER:-x>")
    else()
      add_link_options("$<$<CONFIG:Release,MinSizeRel>:LINKER:-s>")
    endif()
  endif()
endif()
