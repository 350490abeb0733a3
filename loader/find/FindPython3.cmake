# Read instead of CMake's own FindPython3.cmake when modules are built for a CPython that latebind chose. In a cross build, CMake
# does not ask the interpreter for the file names of modules, and with policy CMP0190 it accepts none without an emulator.
cmake_policy(PUSH)
if(POLICY CMP0190)
  cmake_policy(SET CMP0190 OLD)
endif()
include("${CMAKE_ROOT}/Modules/FindPython3.cmake")
cmake_policy(POP)
set(Python3_SOABI "${LATEBIND_PYTHON_SOABI}")
