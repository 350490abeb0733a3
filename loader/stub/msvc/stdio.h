/*
 * stdio.h: see windows.h. Like Visual C++'s own header since 2015, it makes the functions that format from those that
 * the Universal CRT exports, so that no library of older names is needed.
 */
#ifndef LATEBIND_MSVC_STDIO_H
#define LATEBIND_MSVC_STDIO_H

#include <stdarg.h>
#include <stddef.h>

typedef struct lb_file_of_crt FILE;
FILE* __acrt_iob_func(unsigned index);
int fclose(FILE* file);
FILE* fopen(const char* path, const char* mode);
int fputs(const char* text, FILE* file);
int __stdio_common_vfprintf(unsigned long long options, FILE* file, const char* format, void* locale, va_list values);
int __stdio_common_vsprintf(unsigned long long options, char* text, size_t size, const char* format, void* locale,
                            va_list values);
#define stderr (__acrt_iob_func(2))

static inline int fprintf(FILE* file, const char* format, ...) {
  va_list values;
  va_start(values, format);
  int length = __stdio_common_vfprintf(0, file, format, NULL, values);
  va_end(values);
  return length;
}

/* The option, _CRT_INTERNAL_PRINTF_STANDARD_SNPRINTF_BEHAVIOR, asks for the length of the whole text. */
static inline int snprintf(char* text, size_t size, const char* format, ...) {
  va_list values;
  va_start(values, format);
  int length = __stdio_common_vsprintf(2, text, size, format, NULL, values);
  va_end(values);
  return length < 0 ? -1 : length;
}

#endif
