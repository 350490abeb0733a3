/* paths.c: paths in UTF-8 on every system; must not know what a file holds. */
#include "paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

enum { LATENN_LONG = 248 }; /* longer paths need the prefix \\?\ */

static wchar_t* latenn_wide(const char* text) {
  int count = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
  wchar_t* wide = count > 0 ? malloc((size_t)count * sizeof *wide) : NULL;
  if (wide) MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, count);
  return wide;
}

wchar_t* latenn_wide_path(const char* path) {
  wchar_t* wide = latenn_wide(path);
  DWORD room = wide ? GetFullPathNameW(wide, 0, NULL, NULL) : 0;
  if (room < LATENN_LONG || wcsncmp(wide, L"\\\\?\\", 4) == 0) return wide;
  enum { PREFIX = 7 }; /* \\?\UNC */
  wchar_t* whole = malloc((room + PREFIX + 1) * sizeof *whole);
  DWORD length = whole ? GetFullPathNameW(wide, room, whole + PREFIX, NULL) : 0;
  free(wide);
  if (!length || length >= room) {
    free(whole);
    return NULL;
  }
  int server = wcsncmp(whole + PREFIX, L"\\\\", 2) == 0;
  const wchar_t* prefix = server ? L"\\\\?\\UNC" : L"\\\\?\\";
  size_t prefix_length = wcslen(prefix);
  memmove(whole + prefix_length, whole + PREFIX + server, (length + 1 - (size_t)server) * sizeof *whole);
  memcpy(whole, prefix, prefix_length * sizeof *whole);
  return whole;
}

static int latenn_is_folder(const wchar_t* path) {
  DWORD attributes = GetFileAttributesW(path);
  return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

static FILE* latenn_fopen(const char* path) {
  wchar_t* wide = latenn_wide_path(path);
  FILE* file = wide ? _wfopen(wide, L"rb") : NULL;
  if (!file && wide && latenn_is_folder(wide)) errno = EISDIR;
  free(wide);
  return file;
}
#else
static FILE* latenn_fopen(const char* path) {
  return fopen(path, "rb");
}
#endif

FILE* latenn_open_file(const char* path, const char** why) {
  errno = 0;
  FILE* file = latenn_fopen(path);
  int error = errno;
  if (file && getc(file) == EOF && ferror(file)) { /* a folder opens on Linux, and gives nothing */
    error = errno;
    fclose(file);
    file = NULL;
  }
  if (file) rewind(file);
  *why = error == ENOENT                     ? "there is no such file"
         : error == EACCES || error == EPERM ? "permission denied"
         : error == EISDIR                   ? "it is a folder"
                                             : "it cannot be read";
  return file;
}
