/* os_windows.h: what the Windows files of the loader share: paths as the wide functions want them. */
#ifndef LATEBIND_OS_WINDOWS_H
#define LATEBIND_OS_WINDOWS_H

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

#include "os.h"

/* ADVAPI32's OpenProcessToken() and GetTokenInformation(), which are found by name. */
typedef BOOL(WINAPI* lb_open_token)(HANDLE process, DWORD access, HANDLE* token);
typedef BOOL(WINAPI* lb_get_token)(HANDLE token, TOKEN_INFORMATION_CLASS kind, void* into, DWORD size, DWORD* needed);

/* UTF-8 to UTF-16 and back; NULL when out of memory. The caller frees. What is invalid becomes U+FFFD. */
wchar_t* lb_wide(const char* text);
char* lb_narrow(const wchar_t* text);

/* As lb_wide(), for a path: one that older functions would cut off at 260 characters gets the prefix \\?\. */
wchar_t* lb_wide_path(const char* path);
/* As lb_narrow(), without that prefix. */
char* lb_narrow_path(const wchar_t* path);

/* The path without links; NULL when the system cannot tell. */
char* lb_real_path(const char* path);

/* The file of a loaded module; NULL when unknown. */
char* lb_module_path(HMODULE module);
/* The module that holds an address, with a reference or without one. */
HMODULE lb_module_at(const void* address, int with_reference);

/* Opens a file or folder; a link itself with FILE_FLAG_OPEN_REPARSE_POINT. Else the system's last error says why. */
HANDLE lb_open(const char* path, DWORD access, DWORD flags);

/* A function of ADVAPI32, by name, so that a library with this loader links nothing but KERNEL32; NULL where there is
 * none. ADVAPI32 stays loaded. */
void lb_find_security(const char* name, void* function, size_t size);
/* What this process's token says; 0 where that is unknown. */
int lb_ask_token(TOKEN_INFORMATION_CLASS kind, void* into, DWORD size);

/* 1 when UAC gave this process more rights than its user has otherwise, and when that is unknown. */
int lb_is_elevated(void);

/* The system's own folders, which are searched for what the runtime needs and never for the runtime. */
char* lb_system_folder(int which); /* 0, 1: its two kinds; NULL where there is none */

/* Words of our own for an error, and whether it means that nothing is there: LB_PLACE_ABSENT or LB_PLACE_REFUSED. */
lb_place lb_say_error(DWORD error, char* why, size_t why_size);

#endif
