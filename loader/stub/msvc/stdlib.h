/* stdlib.h: see windows.h. */
#ifndef LATEBIND_MSVC_STDLIB_H
#define LATEBIND_MSVC_STDLIB_H

#include <stddef.h>

__declspec(noreturn) void abort(void);
void free(void* memory);
void qsort(void* array, size_t count, size_t size, int (*compare)(const void* left, const void* right));
void* realloc(void* memory, size_t size);

#endif
