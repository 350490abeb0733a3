# Answers find_package(onnxruntime) with latebind's stub, in the spellings of targets and variables that projects use.
get_filename_component(_latebind_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
file(GLOB _latebind_stub "${_latebind_prefix}/lib/*onnxruntime.a" "${_latebind_prefix}/lib/onnxruntime.lib")

# The official headers: those of the stub, else the ones that the project or the system has.
if(NOT LATEBIND_HEADERS)
  find_path(LATEBIND_HEADERS onnxruntime_c_api.h
    HINTS "${_latebind_prefix}/include" "${CMAKE_SOURCE_DIR}"
    PATH_SUFFIXES include include/onnxruntime onnxruntime onnxruntime/include onnxruntime/core/session
                  third_party/onnxruntime/include include/onnxruntime/core/session)
endif()
set(_latebind_include "${_latebind_prefix}/include")
if(LATEBIND_HEADERS)
  list(APPEND _latebind_include "${LATEBIND_HEADERS}")
endif()

set(_latebind_libraries "")
if(NOT WIN32)
  include(CMakeFindDependencyMacro)
  find_dependency(Threads)
  set(_latebind_libraries Threads::Threads ${CMAKE_DL_LIBS})
endif()

set(_latebind_names onnxruntime ONNXRuntime OnnxRuntime ONNXRUNTIME ${CMAKE_FIND_PACKAGE_NAME})
list(REMOVE_DUPLICATES _latebind_names)
foreach(_latebind_name IN LISTS _latebind_names)
  foreach(_latebind_target IN ITEMS ${_latebind_name}::${_latebind_name} ${_latebind_name})
    if(NOT TARGET ${_latebind_target})
      add_library(${_latebind_target} STATIC IMPORTED)
      set_target_properties(${_latebind_target} PROPERTIES
        IMPORTED_LOCATION "${_latebind_stub}"
        INTERFACE_INCLUDE_DIRECTORIES "${_latebind_include}"
        INTERFACE_LINK_LIBRARIES "${_latebind_libraries}")
    endif()
  endforeach()
  set(${_latebind_name}_FOUND TRUE)
  foreach(_latebind_variable IN ITEMS INCLUDE_DIR INCLUDE_DIRS)
    set(${_latebind_name}_${_latebind_variable} "${_latebind_include}")
  endforeach()
  foreach(_latebind_variable IN ITEMS LIB LIBRARY LIBRARIES)
    set(${_latebind_name}_${_latebind_variable} onnxruntime::onnxruntime)
  endforeach()
endforeach()
