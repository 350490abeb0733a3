# For `latebind init`: configures a project without the dependencies that it would download. Each has a nearly empty
# folder instead (adopt/absent.py), so their targets are missing, and commands pass over them. Read as one of
# CMAKE_PROJECT_TOP_LEVEL_INCLUDES. CMake calls the command that a function replaces with a leading underscore.

# Call the command that the calling function replaces, without the targets that do not exist. Their names are those of
# its `count` arguments from `first` up to `last` or the keyword. Fewer than `least` that exist: nothing is called.
macro(_latebind_pass_over command count first last keyword least)
  set(_arguments "")
  set(_number 0)
  set(_is_name TRUE)
  math(EXPR _end "${count} - 1")
  foreach(_at RANGE ${_end})
    set(_argument "${ARGV${_at}}")
    if(NOT _at LESS ${last} OR _argument MATCHES "^(${keyword})$")
      set(_is_name FALSE)
    endif()
    if(_at LESS ${first} OR NOT _is_name)
      string(APPEND _arguments " [==[${_argument}]==]")
    elseif(TARGET "${_argument}" OR _argument MATCHES "\\$<")
      string(APPEND _arguments " [==[${_argument}]==]")
      math(EXPR _number "${_number} + 1")
    endif()
  endforeach()
  if(NOT _number LESS ${least})
    cmake_language(EVAL CODE "_${command}(${_arguments})")
  endif()
endmacro()

foreach(_latebind_command IN ITEMS compile_definitions compile_features compile_options include_directories
        link_directories link_libraries link_options precompile_headers sources)
  cmake_language(EVAL CODE "
    function(target_${_latebind_command})
      _latebind_pass_over(target_${_latebind_command} \${ARGC} 0 1 PRIVATE 1)
    endfunction()")
endforeach()

# Sources that lie in the folder of a dependency are made, empty.
macro(_latebind_add command count)
  set(_arguments "")
  math(EXPR _end "${count} - 1")
  foreach(_at RANGE ${_end})
    string(APPEND _arguments " [==[${ARGV${_at}}]==]")
    foreach(_source IN LISTS ARGV${_at})
      cmake_path(IS_PREFIX LATEBIND_ABSENT "${_source}" NORMALIZE _is_absent)
      if(_is_absent AND NOT EXISTS "${_source}")
        file(WRITE "${_source}" "")
      endif()
    endforeach()
  endforeach()
  cmake_language(EVAL CODE "_${command}(${_arguments})")
endmacro()

function(add_library name)
  if(NOT "${ARGV1}" STREQUAL "ALIAS" OR TARGET "${ARGV2}")
    _latebind_add(add_library ${ARGC})
  endif()
endfunction()

function(add_executable name)
  _latebind_add(add_executable ${ARGC})
endfunction()

function(set_target_properties)
  _latebind_pass_over(set_target_properties ${ARGC} 0 ${ARGC} PROPERTIES 1)
endfunction()

function(add_dependencies)
  _latebind_pass_over(add_dependencies ${ARGC} 0 ${ARGC} "" 2)
endfunction()

macro(get_target_property variable target)
  if(TARGET ${target})
    _get_target_property(${variable} ${target} ${ARGN})
  else()
    set(${variable} "${variable}-NOTFOUND")
  endif()
endmacro()

function(set_property scope)
  if(scope STREQUAL "TARGET")
    _latebind_pass_over(set_property ${ARGC} 1 ${ARGC} "APPEND|APPEND_STRING|PROPERTY" 1)
  else()
    _latebind_pass_over(set_property ${ARGC} ${ARGC} ${ARGC} "" 0)
  endif()
endfunction()

function(install kind)
  if(kind STREQUAL "TARGETS")
    _latebind_pass_over(install ${ARGC} 1 ${ARGC} "[A-Z_]+" 1)
  else()
    _latebind_pass_over(install ${ARGC} ${ARGC} ${ARGC} "" 0)
  endif()
endfunction()

# Modules of Python are libraries that nothing links.
foreach(_latebind_command IN ITEMS pybind11_add_module nanobind_add_module)
  cmake_language(EVAL CODE "
    function(${_latebind_command} name)
      set(sources \"\${ARGN}\")
      list(FILTER sources EXCLUDE REGEX \"^[A-Z_]+$\")
      add_library(\${name} MODULE \${sources})
    endfunction()")
endforeach()

foreach(_latebind_target IN LISTS LATEBIND_ABSENT_TARGETS)
  _add_library("${_latebind_target}" INTERFACE IMPORTED GLOBAL)
endforeach()
