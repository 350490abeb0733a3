# Puts the stub in front of every other ONNX Runtime that a project could find: -DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=<this file>
# (CMake 3.24 or newer). find_package() of any spelling, find_library(), -lonnxruntime and pkg-config then give the stub.
get_filename_component(_latebind_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

# CMake looks there first, before find modules and whatever paths a project names.
foreach(_latebind_file IN ITEMS Config ConfigVersion)
  string(REGEX REPLACE "(.)([A-Z])" "\\1-\\2" _latebind_redirect "onnxruntime${_latebind_file}.cmake")
  string(TOLOWER "${_latebind_redirect}" _latebind_redirect)
  file(WRITE "${CMAKE_FIND_PACKAGE_REDIRECTS_DIR}/${_latebind_redirect}"
       "include(\"${CMAKE_CURRENT_LIST_DIR}/onnxruntime${_latebind_file}.cmake\")\n")
endforeach()
list(PREPEND CMAKE_PREFIX_PATH "${_latebind_prefix}")
if(LATEBIND_HEADERS)
  list(PREPEND CMAKE_INCLUDE_PATH "${LATEBIND_HEADERS}")
endif()
add_link_options("-L${_latebind_prefix}/lib") # not link_directories(), of which CMake makes an rpath
set(ENV{PKG_CONFIG_PATH} "${_latebind_prefix}/lib/pkgconfig:$ENV{PKG_CONFIG_PATH}")
