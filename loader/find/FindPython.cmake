# Read instead of CMake's own FindPython.cmake when modules are built for a CPython that latebind chose, whose sysconfig
# describes the target. In a cross build, CMake 4.4.5 does not ask it, but a python3.11-config on PATH, which describes
# this machine; and policy CMP0190 (CMake 4.1) refuses an interpreter without an emulator.
set(_latebind_crosscompiling "${CMAKE_CROSSCOMPILING}")
set(CMAKE_CROSSCOMPILING FALSE)
include("${CMAKE_ROOT}/Modules/FindPython.cmake")
set(CMAKE_CROSSCOMPILING "${_latebind_crosscompiling}")
