/* place.c: where the file that a node names is, with links followed; must not open it for reading. */
#if !defined(_WIN32)
#define _XOPEN_SOURCE 700 /* realpath() */
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/paths.h"
#include "customop.h"

char* customop_join(const char* folder, const char* path) {
  size_t room = strlen(folder) + strlen(path) + 2;
  char* whole = malloc(room);
  if (whole) snprintf(whole, room, "%s/%s", folder, path);
  return whole;
}

char* customop_folder_of(const char* path) {
  size_t length = strlen(path);
  while (length && path[length - 1] != '/' && path[length - 1] != '\\') length--;
  char* folder = malloc(length + 2);
  if (!folder) return NULL;
  memcpy(folder, length ? path : ".", length ? length : 1);
  folder[length ? length : 1] = 0;
  return folder;
}

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

typedef wchar_t customop_char;

static wchar_t* customop_real(const char* path) {
  wchar_t* wide = latenn_wide_path(path);
  HANDLE file = wide ? CreateFileW(wide, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                                   FILE_FLAG_BACKUP_SEMANTICS, NULL)
                     : INVALID_HANDLE_VALUE;
  free(wide);
  if (file == INVALID_HANDLE_VALUE) return NULL;
  DWORD room = GetFinalPathNameByHandleW(file, NULL, 0, 0);
  wchar_t* real = room ? calloc(room + 1, sizeof *real) : NULL;
  if (real && GetFinalPathNameByHandleW(file, real, room + 1, 0) == 0) *real = 0;
  CloseHandle(file);
  return real;
}
#else
typedef char customop_char;

static char* customop_real(const char* path) {
  return realpath(path, NULL);
}
#endif

static int customop_begins(const customop_char* path, const customop_char* folder) {
  size_t length = 0;
  while (folder[length]) {
    if (path[length] != folder[length]) return 0;
    length++;
  }
  int is_root = length && (folder[length - 1] == '/' || folder[length - 1] == '\\');
  return length && (is_root || path[length] == '/' || path[length] == '\\');
}

latenn_status* customop_check_inside(const char* what, const char* path, const char* folder) {
  errno = 0; /* realpath() and calloc() set it: a file that memory is too short to look at is not one that is missing */
  char* whole = customop_join(folder, path);
  customop_char* real = whole ? customop_real(whole) : NULL;
  customop_char* real_folder = customop_real(folder);
  int is_short = !whole || errno == ENOMEM;
  int stays = !real || (real_folder && customop_begins(real, real_folder)); /* what is not there is not opened */
  free(whole);
  free(real);
  free(real_folder);
  if (is_short) return latenn_no_memory();
  return stays ? NULL : customop_leads_out(what, path, folder);
}
