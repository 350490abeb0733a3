# What C test programs have in common, the loader's and latenn's: standard, warnings, sanitizers, the loader.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
include_directories("${CMAKE_CURRENT_LIST_DIR}") # port.h, barrier.h
set(sanitizers "" CACHE STRING "For -fsanitize=")
set(latebind_DIR "${root}/loader")
find_package(latebind CONFIG REQUIRED)
find_package(Threads REQUIRED)

add_compile_options(-Wall -Wextra -Werror -g)
if(sanitizers)
  add_compile_options(-fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${sanitizers})
endif()

# Puts a library into a folder of the build; Windows' libraries count as programs.
function(beside name folder)
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/${folder}" RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/${folder}")
endfunction()
