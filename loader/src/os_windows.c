/*
 * os_windows.c: os.h for Windows: threads, the environment, where we are, and text in two encodings; must not know
 * what a runtime is. Files are in files_windows.c, libraries in images_windows.c and loaded_windows.c, who may write
 * where in trust_windows.c.
 */
#include "os_windows.h"

#include <stdio.h>
#include <string.h>

/* ---- threads ---------------------------------------------------------------------------------------------------- */

uintptr_t lb_os_thread(void) {
  return GetCurrentThreadId();
}

uintptr_t lb_os_thread_number(void) {
  return lb_os_thread();
}

int lb_os_has_thread(uintptr_t number) {
  return number != 0; /* only a fork asks, and there are none */
}

int lb_os_forbid_cancelling(void) {
  return 0;
}

void lb_os_allow_cancelling(void) {}

void lb_os_watch_forks(void) {} /* there are none */

void lb_os_wait(void) {
  Sleep(1);
}

void lb_os_at_exit(void (*end)(void)) {
  (void)end;
}

void lb_os_at_unload(void (*forget)(void)) {
  (void)forget;
}

/* The intrinsics of MSVC, which the other compilers also know; comparing with NULL changes nothing. */
void* lb_os_load(void* const volatile* place) {
  return InterlockedCompareExchangePointer((PVOID volatile*)(uintptr_t)place, NULL, NULL);
}

void lb_os_publish(void* volatile* place, void* value) {
  InterlockedExchangePointer(place, value);
}

void* lb_os_exchange(void* volatile* place, void* expected, void* value) {
  return InterlockedCompareExchangePointer(place, value, expected);
}

int lb_os_can_read(const void* address, size_t size) {
  const char* end = (const char*)address + size;
  const char* at = address;
  while (at < end) {
    MEMORY_BASIC_INFORMATION region;
    if (!VirtualQuery(at, &region, sizeof region) || region.State != MEM_COMMIT) return 0;
    if (region.Protect & (PAGE_NOACCESS | PAGE_GUARD | PAGE_EXECUTE)) return 0;
    at = (const char*)region.BaseAddress + region.RegionSize;
  }
  return 1;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

wchar_t* lb_wide(const char* text) {
  int count = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
  wchar_t* wide = count > 0 ? lb_allocate((size_t)count * sizeof *wide) : NULL;
  if (wide) MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, count);
  return wide;
}

char* lb_narrow(const wchar_t* text) {
  int count = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
  char* narrow = count > 0 ? lb_allocate((size_t)count) : NULL;
  if (narrow) WideCharToMultiByte(CP_UTF8, 0, text, -1, narrow, count, NULL, NULL);
  return narrow;
}

/* ---- the environment -------------------------------------------------------------------------------------------- */

void lb_find_security(const char* name, void* function, size_t size) {
  HMODULE library = LoadLibraryExW(L"advapi32.dll", NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
  void* address = library ? lb_os_symbol((void*)library, name) : NULL;
  memcpy(function, &address, size);
}

int lb_ask_token(TOKEN_INFORMATION_CLASS kind, void* into, DWORD size) {
  lb_open_token open_token = NULL;
  lb_get_token get_token = NULL;
  HANDLE token = NULL;
  lb_find_security("OpenProcessToken", &open_token, sizeof open_token);
  lb_find_security("GetTokenInformation", &get_token, sizeof get_token);
  if (!open_token || !get_token || !open_token(GetCurrentProcess(), TOKEN_QUERY, &token)) return 0;
  int is_known = get_token(token, kind, into, size, &size) != 0;
  CloseHandle(token);
  return is_known;
}

int lb_is_elevated(void) {
  TOKEN_ELEVATION_TYPE type = TokenElevationTypeFull;
  return !lb_ask_token(TokenElevationType, &type, sizeof type) || type == TokenElevationTypeFull;
}

/* Wine gives every process an elevated token, though none has more rights than the user of the system below. */
static int lb_is_wine(void) {
  HMODULE system = GetModuleHandleW(L"ntdll.dll");
  return system && lb_os_symbol((void*)system, "wine_get_version") != NULL;
}

int lb_os_is_raised(void) {
  return !lb_is_wine() && lb_is_elevated();
}

char* lb_os_environment(const char* name) {
  if (lb_os_is_raised()) return NULL;
  wchar_t* wide = lb_wide(name);
  wchar_t* value = NULL;
  DWORD room = 0;
  DWORD length = wide ? GetEnvironmentVariableW(wide, NULL, 0) : 0;
  while (length > room) { /* another thread may change it between the calls */
    wchar_t* more = lb_resize(value, (size_t)length * sizeof *value);
    if (!more) {
      length = 0;
      break;
    }
    value = more;
    room = length;
    length = GetEnvironmentVariableW(wide, value, room);
  }
  char* narrow = length && value ? lb_narrow(value) : NULL;
  lb_free(value);
  lb_free(wide);
  return narrow;
}

enum { LONGEST = 32768 };

/* ---- where we are ----------------------------------------------------------------------------------------------- */

HMODULE lb_module_at(const void* address, int with_reference) {
  HMODULE module = NULL;
  DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
  if (!with_reference) flags |= GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  return GetModuleHandleExW(flags, (LPCWSTR)address, &module) ? module : NULL;
}

char* lb_module_path(HMODULE module) {
  wchar_t* path = lb_allocate(LONGEST * sizeof *path);
  DWORD length = path ? GetModuleFileNameW(module, path, LONGEST) : 0;
  char* narrow = length && length < LONGEST ? lb_narrow_path(path) : NULL;
  lb_free(path);
  return narrow;
}

char* lb_os_file_of(const void* address) {
  HMODULE module = lb_module_at(address, 0);
  return module ? lb_module_path(module) : NULL;
}

/* A path without links, in one of the kinds of GetFinalPathNameByHandleW(). */
static char* lb_final_path(const char* path, DWORD kind) {
  HANDLE file = lb_open(path, 0, 0);
  if (file == INVALID_HANDLE_VALUE) return NULL;
  wchar_t* real = lb_allocate(LONGEST * sizeof *real);
  DWORD length = real ? GetFinalPathNameByHandleW(file, real, LONGEST, FILE_NAME_NORMALIZED | kind) : 0;
  char* narrow = length && length < LONGEST ? lb_narrow_path(real) : NULL;
  CloseHandle(file);
  lb_free(real);
  return narrow;
}

char* lb_real_path(const char* path) {
  return lb_final_path(path, VOLUME_NAME_DOS);
}

/* Of <psapi.h>, which has to come after <windows.h> and may not be sorted. KERNEL32 itself has it. */
DWORD WINAPI K32GetMappedFileNameW(HANDLE process, void* address, wchar_t* name, DWORD size);

static int lb_ends_with(const char* text, const char* end) {
  size_t length = strlen(text);
  return length >= strlen(end) && !_strnicmp(text + length - strlen(end), end, length);
}

/* A mapped file can be renamed, and another take its name: the kernel knows the mapped one by its present name, on a
 * volume that it calls by another name. */
static int lb_is_mapped_at(const char* path, const void* address) {
  wchar_t* name = lb_allocate(LONGEST * sizeof *name);
  DWORD length = name ? K32GetMappedFileNameW(GetCurrentProcess(), (void*)(uintptr_t)address, name, LONGEST) : 0;
  char* mapped = length && length < LONGEST ? lb_narrow(name) : NULL;
  char* final = mapped ? lb_final_path(path, VOLUME_NAME_NT) : NULL;
  const char* below = path[0] && path[1] == ':' ? path + 2 : path + 1; /* of a drive, or of the network */
  int is_same = mapped && ((final && !_strnicmp(mapped, final, strlen(mapped) + 1)) || lb_ends_with(mapped, below));
  lb_free(final);
  lb_free(mapped);
  lb_free(name);
  return is_same;
}

int lb_os_is_in_program(void) {
  return 0;
}

lb_own_names lb_os_own_names(void) {
  static const char anchor = 0;
  lb_own_names own = {NULL, lb_os_file_of(&anchor), 0, ""};
  own.file = own.name ? lb_real_path(own.name) : NULL;
  if (own.file && lb_is_mapped_at(own.file, &anchor)) return own;
  lb_free(own.file);
  lb_free(own.name);
  return (lb_own_names){NULL, NULL, 0, "its file was deleted, moved or replaced"};
}

int lb_os_is_elsewhere(void) {
  return 0;
}

char* lb_system_folder(int which) {
  wchar_t folder[MAX_PATH + 1];
  UINT length = which == 0   ? GetSystemDirectoryW(folder, MAX_PATH)
                : which == 1 ? GetSystemWow64DirectoryW(folder, MAX_PATH)
                             : 0;
  return length && length < MAX_PATH ? lb_narrow(folder) : NULL;
}

/* What errors mean, and which pass. The system's own words are in the user's language. */
static const struct {
  DWORD error;
  lb_place place;
  const char* words;
} lb_errors[] = {
    {ERROR_FILE_NOT_FOUND, LB_PLACE_ABSENT, "no such file or folder"},
    {ERROR_PATH_NOT_FOUND, LB_PLACE_ABSENT, "no such file or folder"},
    {ERROR_INVALID_NAME, LB_PLACE_ABSENT, "no such file or folder: the path is not a valid one"},
    {ERROR_BAD_PATHNAME, LB_PLACE_ABSENT, "no such file or folder: the path is not a valid one"},
    {ERROR_DIRECTORY, LB_PLACE_ABSENT, "no such file or folder: the path is not a valid one"},
    {ERROR_FILENAME_EXCED_RANGE, LB_PLACE_ABSENT, "the path is too long"},
    {ERROR_BAD_NETPATH, LB_PLACE_ABSENT, "no such drive or server"},
    {ERROR_BAD_NET_NAME, LB_PLACE_ABSENT, "no such drive or server"},
    {ERROR_NOT_READY, LB_PLACE_ABSENT, "no such drive or server"},
    {ERROR_ACCESS_DENIED, LB_PLACE_REFUSED, LB_DENIED},
    {ERROR_SHARING_VIOLATION, LB_PLACE_BUSY, "another program has it open"},
    {ERROR_TOO_MANY_OPEN_FILES, LB_PLACE_BUSY, "too many open files in this process"},
    {ERROR_NOT_ENOUGH_MEMORY, LB_PLACE_BUSY, "out of memory"},
    {ERROR_OUTOFMEMORY, LB_PLACE_BUSY, "out of memory"},
    {ERROR_COMMITMENT_LIMIT, LB_PLACE_BUSY, "out of memory"},
    {ERROR_NO_SYSTEM_RESOURCES, LB_PLACE_BUSY, "the system is busy"},
    {ERROR_NETNAME_DELETED, LB_PLACE_BUSY, "the file server has gone"},
    {ERROR_UNEXP_NET_ERR, LB_PLACE_BUSY, "the file server reports an error"},
    {ERROR_SEM_TIMEOUT, LB_PLACE_BUSY, "the file server does not answer"},
};

lb_place lb_say_error(DWORD error, char* why, size_t why_size) {
  snprintf(why, why_size, "system error %lu", (unsigned long)error);
  for (size_t i = 0; i < sizeof lb_errors / sizeof *lb_errors; i++) {
    if (lb_errors[i].error != error) continue;
    snprintf(why, why_size, "%s", lb_errors[i].words);
    return lb_errors[i].place;
  }
  return LB_PLACE_REFUSED;
}
