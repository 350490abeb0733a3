/*
 * windows.h: what the loader uses of Windows, for compilers that aim at Visual C++ without having its SDK (zig). Only
 * `latebind stub` puts this folder into a search path. Names, layouts and numbers are those of the Windows SDK;
 * tests/loader/test_msvc_headers.py holds them against mingw-w64's.
 */
#ifndef LATEBIND_MSVC_WINDOWS_H
#define LATEBIND_MSVC_WINDOWS_H

#include <stdint.h>
#include <string.h>

#define WINAPI
#define LB_KERNEL __declspec(dllimport)

typedef int BOOL;
typedef int INT;
typedef unsigned int UINT;
typedef unsigned char BYTE;
typedef unsigned short WORD;
typedef unsigned long DWORD;
typedef long LONG;
typedef long long LONGLONG;
typedef size_t SIZE_T;
typedef void* PVOID;
typedef void* HANDLE;
typedef struct HINSTANCE__* HMODULE;
typedef const wchar_t* LPCWSTR;
typedef intptr_t (*FARPROC)(void);
typedef PVOID PSID;

#define INVALID_HANDLE_VALUE ((HANDLE)(intptr_t)-1)
#define MAX_PATH             260
#define CP_UTF8              65001

/* ---- errors ----------------------------------------------------------------------------------------------------- */

#define ERROR_FILE_NOT_FOUND            2L
#define ERROR_PATH_NOT_FOUND            3L
#define ERROR_TOO_MANY_OPEN_FILES       4L
#define ERROR_ACCESS_DENIED             5L
#define ERROR_NOT_ENOUGH_MEMORY         8L
#define ERROR_OUTOFMEMORY               14L
#define ERROR_NOT_READY                 21L
#define ERROR_SHARING_VIOLATION         32L
#define ERROR_BAD_NETPATH               53L
#define ERROR_UNEXP_NET_ERR             59L
#define ERROR_NETNAME_DELETED           64L
#define ERROR_BAD_NET_NAME              67L
#define ERROR_SEM_TIMEOUT               121L
#define ERROR_INVALID_NAME              123L
#define ERROR_MOD_NOT_FOUND             126L
#define ERROR_PROC_NOT_FOUND            127L
#define ERROR_BAD_PATHNAME              161L
#define ERROR_BAD_EXE_FORMAT            193L
#define ERROR_FILENAME_EXCED_RANGE      206L
#define ERROR_VIRUS_INFECTED            225L
#define ERROR_DIRECTORY                 267L
#define ERROR_DLL_INIT_FAILED           1114L
#define ERROR_ACCESS_DISABLED_BY_POLICY 1260L
#define ERROR_NO_SYSTEM_RESOURCES       1450L
#define ERROR_COMMITMENT_LIMIT          1455L

LB_KERNEL DWORD WINAPI GetLastError(void);
LB_KERNEL void WINAPI SetLastError(DWORD error);

/* ---- threads, memory, environment ------------------------------------------------------------------------------- */

typedef struct {
  PVOID BaseAddress;
  PVOID AllocationBase;
  DWORD AllocationProtect;
  WORD PartitionId;
  SIZE_T RegionSize;
  DWORD State;
  DWORD Protect;
  DWORD Type;
} MEMORY_BASIC_INFORMATION;

#define MEM_COMMIT    0x1000
#define PAGE_NOACCESS 0x01
#define PAGE_EXECUTE  0x10
#define PAGE_GUARD    0x100

LB_KERNEL DWORD WINAPI GetCurrentThreadId(void);
LB_KERNEL HANDLE WINAPI GetCurrentProcess(void);
LB_KERNEL void WINAPI Sleep(DWORD milliseconds);
LB_KERNEL SIZE_T WINAPI VirtualQuery(const void* address, MEMORY_BASIC_INFORMATION* region, SIZE_T size);
LB_KERNEL PVOID WINAPI LocalFree(PVOID memory);
LB_KERNEL DWORD WINAPI GetEnvironmentVariableW(LPCWSTR name, wchar_t* value, DWORD size);
LB_KERNEL int WINAPI MultiByteToWideChar(UINT page, DWORD flags, const char* text, int size, wchar_t* wide, int room);
LB_KERNEL int WINAPI WideCharToMultiByte(UINT page, DWORD flags, LPCWSTR wide, int size, char* text, int room,
                                         const char* instead, BOOL* is_used);

/* Intrinsics of Visual C++ that clang has, too. */
void* _InterlockedCompareExchangePointer(void* volatile* place, void* value, void* expected);
void* _InterlockedExchangePointer(void* volatile* place, void* value);
#define InterlockedCompareExchangePointer _InterlockedCompareExchangePointer
#define InterlockedExchangePointer        _InterlockedExchangePointer

/* ---- modules ---------------------------------------------------------------------------------------------------- */

#define LOAD_LIBRARY_AS_DATAFILE                     0x00000002
#define LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR             0x00000100
#define LOAD_LIBRARY_SEARCH_USER_DIRS                0x00000400
#define LOAD_LIBRARY_SEARCH_SYSTEM32                 0x00000800
#define LOAD_LIBRARY_SEARCH_DEFAULT_DIRS             0x00001000
#define GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT 0x00000002
#define GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS       0x00000004
#define SEM_FAILCRITICALERRORS                       0x0001

LB_KERNEL HMODULE WINAPI LoadLibraryExW(LPCWSTR name, HANDLE file, DWORD flags);
LB_KERNEL BOOL WINAPI FreeLibrary(HMODULE module);
LB_KERNEL FARPROC WINAPI GetProcAddress(HMODULE module, const char* name);
LB_KERNEL HMODULE WINAPI GetModuleHandleW(LPCWSTR name);
LB_KERNEL BOOL WINAPI GetModuleHandleExW(DWORD flags, LPCWSTR name, HMODULE* module);
LB_KERNEL DWORD WINAPI GetModuleFileNameW(HMODULE module, wchar_t* path, DWORD size);
LB_KERNEL BOOL WINAPI SetThreadErrorMode(DWORD mode, DWORD* before);

/* ---- files ------------------------------------------------------------------------------------------------------ */

#define DELETE                       0x00010000L
#define READ_CONTROL                 0x00020000L
#define WRITE_DAC                    0x00040000L
#define WRITE_OWNER                  0x00080000L
#define GENERIC_ALL                  0x10000000L
#define GENERIC_WRITE                0x40000000L
#define GENERIC_READ                 0x80000000L
#define FILE_WRITE_DATA              0x0002
#define FILE_APPEND_DATA             0x0004
#define FILE_DELETE_CHILD            0x0040
#define FILE_READ_ATTRIBUTES         0x0080
#define FILE_SHARE_READ              0x00000001
#define FILE_SHARE_WRITE             0x00000002
#define FILE_SHARE_DELETE            0x00000004
#define FILE_ATTRIBUTE_DIRECTORY     0x00000010
#define FILE_ATTRIBUTE_REPARSE_POINT 0x00000400
#define FILE_FLAG_BACKUP_SEMANTICS   0x02000000
#define FILE_FLAG_OPEN_REPARSE_POINT 0x00200000
#define FILE_TYPE_DISK               0x0001
#define FILE_BEGIN                   0
#define FILE_NAME_NORMALIZED         0x0
#define VOLUME_NAME_DOS              0x0
#define VOLUME_NAME_NT               0x2
#define OPEN_EXISTING                3

typedef union {
  struct {
    DWORD LowPart;
    LONG HighPart;
  } u;
  LONGLONG QuadPart;
} LARGE_INTEGER;

typedef struct {
  DWORD dwLowDateTime;
  DWORD dwHighDateTime;
} FILETIME;

typedef struct {
  DWORD dwFileAttributes;
  FILETIME ftCreationTime;
  FILETIME ftLastAccessTime;
  FILETIME ftLastWriteTime;
  DWORD dwVolumeSerialNumber;
  DWORD nFileSizeHigh;
  DWORD nFileSizeLow;
  DWORD nNumberOfLinks;
  DWORD nFileIndexHigh;
  DWORD nFileIndexLow;
} BY_HANDLE_FILE_INFORMATION;

typedef struct {
  DWORD dwFileAttributes;
  FILETIME ftCreationTime;
  FILETIME ftLastAccessTime;
  FILETIME ftLastWriteTime;
  DWORD nFileSizeHigh;
  DWORD nFileSizeLow;
  DWORD dwReserved0;
  DWORD dwReserved1;
  wchar_t cFileName[MAX_PATH];
  wchar_t cAlternateFileName[14];
} WIN32_FIND_DATAW;

LB_KERNEL HANDLE WINAPI CreateFileW(LPCWSTR path, DWORD access, DWORD share, struct _SECURITY_ATTRIBUTES* security,
                                    DWORD disposition, DWORD flags, HANDLE model);
LB_KERNEL BOOL WINAPI CloseHandle(HANDLE handle);
LB_KERNEL DWORD WINAPI GetFileType(HANDLE file);
LB_KERNEL BOOL WINAPI GetFileInformationByHandle(HANDLE file, BY_HANDLE_FILE_INFORMATION* information);
LB_KERNEL DWORD WINAPI GetFinalPathNameByHandleW(HANDLE file, wchar_t* path, DWORD size, DWORD flags);
LB_KERNEL DWORD WINAPI GetFullPathNameW(LPCWSTR path, DWORD size, wchar_t* full, wchar_t** name);
LB_KERNEL UINT WINAPI GetSystemDirectoryW(wchar_t* folder, UINT size);
LB_KERNEL UINT WINAPI GetSystemWow64DirectoryW(wchar_t* folder, UINT size);
LB_KERNEL HANDLE WINAPI FindFirstFileW(LPCWSTR pattern, WIN32_FIND_DATAW* found);
LB_KERNEL BOOL WINAPI FindNextFileW(HANDLE search, WIN32_FIND_DATAW* found);
LB_KERNEL BOOL WINAPI FindClose(HANDLE search);
LB_KERNEL BOOL WINAPI GetFileSizeEx(HANDLE file, LARGE_INTEGER* size);
LB_KERNEL BOOL WINAPI SetFilePointerEx(HANDLE file, LARGE_INTEGER distance, LARGE_INTEGER* place, DWORD from);
LB_KERNEL BOOL WINAPI ReadFile(HANDLE file, void* into, DWORD size, DWORD* count, struct _OVERLAPPED* overlapped);

/* ---- rights ----------------------------------------------------------------------------------------------------- */

#define TOKEN_QUERY                      0x0008
#define ACCESS_ALLOWED_ACE_TYPE          0x0
#define ACCESS_ALLOWED_CALLBACK_ACE_TYPE 0x9
#define INHERIT_ONLY_ACE                 0x8

typedef struct {
  BYTE AclRevision;
  BYTE Sbz1;
  WORD AclSize;
  WORD AceCount;
  WORD Sbz2;
} ACL;

typedef struct {
  BYTE AceType;
  BYTE AceFlags;
  WORD AceSize;
} ACE_HEADER;

typedef struct {
  PSID Sid;
  DWORD Attributes;
} SID_AND_ATTRIBUTES;

typedef struct {
  SID_AND_ATTRIBUTES User;
} TOKEN_USER;

typedef enum { TokenUser = 1, TokenElevationType = 18 } TOKEN_INFORMATION_CLASS;
typedef enum { TokenElevationTypeDefault = 1, TokenElevationTypeFull, TokenElevationTypeLimited } TOKEN_ELEVATION_TYPE;

#endif
