/*
 * files_windows.c: os.h for Windows: paths, files and folders, only through the wide functions; must not know what a
 * runtime is. Inside the loader a path has no \\?\ prefix; a long one gets it just before a call of the system.
 */
#include <stdio.h>
#include <string.h>

#include "file_head.h"
#include "os_windows.h"

/* From this length on a path may be too long for a function that appends to it: 260 less a short file name. */
enum { LB_LONG = 248 };

static int lb_is_slash(char byte) {
  return byte == '\\' || byte == '/';
}

static int lb_is_drive(const char* path) {
  char letter = (char)(path[0] | 0x20);
  return letter >= 'a' && letter <= 'z' && path[1] == ':' && lb_is_slash(path[2]);
}

wchar_t* lb_wide_path(const char* path) {
  lb_text whole = {NULL, 0, 0, 0};
  int is_long = strlen(path) >= LB_LONG;
  if (is_long && lb_is_drive(path)) {
    lb_text_add(&whole, "\\\\?\\");
    lb_text_add(&whole, path);
  } else if (is_long && strncmp(path, "\\\\", 2) == 0 && path[2] != '?' && path[2] != '.') {
    lb_text_add(&whole, "\\\\?\\UNC\\");
    lb_text_add(&whole, path + 2);
  } else {
    return lb_wide(path);
  }
  for (size_t i = 0; !whole.failed && i < whole.length; i++) {
    if (whole.data[i] == '/') whole.data[i] = '\\'; /* after the prefix only this separator counts */
  }
  char* text = lb_text_take(&whole);
  wchar_t* wide = text ? lb_wide(text) : NULL;
  lb_free(text);
  return wide;
}

char* lb_narrow_path(const wchar_t* path) {
  char* narrow = lb_narrow(path);
  if (!narrow || strncmp(narrow, "\\\\?\\", 4) != 0) return narrow;
  size_t cut = 0;
  if (strncmp(narrow + 4, "UNC\\", 4) == 0) {
    cut = 6; /* \\?\UNC\server: the two slashes before the server stay */
    narrow[6] = '\\';
  } else if (lb_is_drive(narrow + 4)) {
    cut = 4;
  }
  memmove(narrow, narrow + cut, strlen(narrow) - cut + 1);
  return narrow;
}

HANDLE lb_open(const char* path, DWORD access, DWORD flags) {
  wchar_t* wide = lb_wide_path(path);
  if (!wide) {
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return INVALID_HANDLE_VALUE;
  }
  HANDLE file = CreateFileW(wide, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                            FILE_FLAG_BACKUP_SEMANTICS | flags, NULL);
  DWORD error = GetLastError();
  lb_free(wide);
  SetLastError(error);
  return file;
}

lb_place lb_os_look(const char* path, lb_identity* identity, char* why, size_t why_size) {
  BY_HANDLE_FILE_INFORMATION found;
  why[0] = 0;
  HANDLE file = lb_open(path, FILE_READ_ATTRIBUTES, 0);
  if (file == INVALID_HANDLE_VALUE) return lb_say_error(GetLastError(), why, why_size);
  lb_place place = LB_PLACE_OTHER;
  if (GetFileType(file) == FILE_TYPE_DISK && GetFileInformationByHandle(file, &found)) {
    identity->device = found.dwVolumeSerialNumber;
    identity->file = (uint64_t)found.nFileIndexHigh << 32 | found.nFileIndexLow;
    place = found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? LB_PLACE_FOLDER : LB_PLACE_FILE;
  }
  CloseHandle(file);
  return place;
}

char* lb_os_join(const char* folder, const char* name) {
  lb_text path = {NULL, 0, 0, 0};
  size_t length = strlen(folder);
  lb_text_add(&path, folder);
  if (length && !lb_is_slash(folder[length - 1])) lb_text_add(&path, "\\");
  lb_text_add(&path, name);
  return lb_text_take(&path);
}

char* lb_os_folder_of(const char* path) {
  size_t length = strlen(path);
  while (length && !lb_is_slash(path[length - 1])) length--;
  if (!length) return NULL;
  if (!(length == 3 && path[1] == ':')) length--; /* the slash of C:\ belongs to it */
  return lb_copy(path, length);
}

int lb_os_is_absolute(const char* path) {
  return lb_is_drive(path) || lb_is_slash(path[0]);
}

char* lb_os_absolute(const char* path) {
  wchar_t* wide = lb_wide(path);
  DWORD room = wide ? GetFullPathNameW(wide, 0, NULL, NULL) : 0;
  wchar_t* whole = room ? lb_allocate((size_t)room * sizeof *whole) : NULL;
  DWORD length = whole ? GetFullPathNameW(wide, room, whole, NULL) : 0;
  char* narrow = length && length < room ? lb_narrow_path(whole) : NULL;
  if (wide && !room) narrow = lb_duplicate(path); /* not a path at all: opening it reports that */
  lb_free(whole);
  lb_free(wide);
  return narrow;
}

lb_place lb_os_list(const char* folder, int (*each)(void* context, const char* name), void* context, char* why,
                    size_t why_size) {
  WIN32_FIND_DATAW found;
  char* pattern = lb_os_join(folder, "*");
  wchar_t* wide = pattern ? lb_wide_path(pattern) : NULL;
  HANDLE search = wide ? FindFirstFileW(wide, &found) : INVALID_HANDLE_VALUE;
  DWORD error = wide ? GetLastError() : ERROR_NOT_ENOUGH_MEMORY;
  lb_free(wide);
  lb_free(pattern);
  if (search == INVALID_HANDLE_VALUE) return lb_say_error(error, why, why_size);
  int stop = 0;
  do {
    char* name = lb_narrow(found.cFileName);
    stop = !name || each(context, name);
    lb_free(name);
  } while (!stop && FindNextFileW(search, &found));
  FindClose(search);
  return LB_PLACE_FOLDER;
}

static size_t lb_read(const lb_file* file, void* into, size_t size, uint64_t at) {
  LARGE_INTEGER place;
  DWORD got = 0;
  place.QuadPart = (LONGLONG)at;
  if (at >= file->size || !SetFilePointerEx((HANDLE)file->handle, place, NULL, FILE_BEGIN)) return 0;
  return ReadFile((HANDLE)file->handle, into, (DWORD)size, &got, NULL) ? got : 0;
}

int lb_with_file(const char* path, void (*use)(void* context, const lb_file* file), void* context) {
  LARGE_INTEGER size;
  HANDLE handle = lb_open(path, GENERIC_READ, 0);
  if (handle == INVALID_HANDLE_VALUE) return 0;
  size.QuadPart = 0;
  GetFileSizeEx(handle, &size);
  lb_file file = {(uint64_t)size.QuadPart, lb_read, (intptr_t)handle};
  use(context, &file);
  CloseHandle(handle);
  return 1;
}

typedef struct lb_inspection {
  lb_outcome outcome;
  char* why;
  size_t why_size;
} lb_inspection;

static void lb_inspect_file(void* context, const lb_file* file) {
  lb_inspection* inspection = context;
  inspection->outcome = lb_pe_inspect(file, inspection->why, inspection->why_size);
}

lb_outcome lb_os_inspect(const char* path, char* why, size_t why_size) {
  lb_inspection inspection = {LB_OUTCOME_REFUSED, why, why_size};
  if (lb_with_file(path, lb_inspect_file, &inspection)) return inspection.outcome;
  return lb_outcome_of(lb_say_error(GetLastError(), why, why_size));
}

void lb_os_append(const char* path, const char* text) {
  FILE* file = fopen(path, "ab");
  if (!file) return;
  fputs(text, file);
  fclose(file);
}
