"""Archives for C and C++: headers, libraries, files for CMake and pkg-config."""
