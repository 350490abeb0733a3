# Puts each stub of this folder in front of every other copy of its runtime that a project could find:
# -DCMAKE_PROJECT_TOP_LEVEL_INCLUDES=<this file> (CMake 3.24 or newer).
file(GLOB _latebind_stubs "${CMAKE_CURRENT_LIST_DIR}/inFrontOf-*.cmake")
foreach(_latebind_stub IN LISTS _latebind_stubs)
  include("${_latebind_stub}")
endforeach()
