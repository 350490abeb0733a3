/* paths.h: UTF-8 paths for the systems' functions, for the core and for backends. */
#ifndef LATENN_PATHS_H
#define LATENN_PATHS_H

#include <stddef.h>
#include <stdio.h>

/* Opens a file for reading. On failure `why` is the end of a sentence: "there is no such file". */
FILE* latenn_open_file(const char* path, const char** why);

#if defined(_WIN32)
/* A path as Windows' wide functions take it, absolute and of any length; NULL when out of memory. The caller frees. */
wchar_t* latenn_wide_path(const char* path);
#endif

#endif
