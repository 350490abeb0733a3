// python.exe for a Windows CPython whose DLL is next to it and whose own python.exe is not to be had.
#include <wchar.h>
#include <windows.h>

#ifndef PYTHON_LIBRARY
#error "PYTHON_LIBRARY names the DLL"
#endif

enum { NO_LIBRARY = 97, NO_ENTRY = 98, LONGEST_PATH = 32767 };

static wchar_t path[LONGEST_PATH + 1];

int wmain(int argc, wchar_t** argv) {
  static const wchar_t name[] = PYTHON_LIBRARY;
  DWORD length = GetModuleFileNameW(NULL, path, LONGEST_PATH);
  while (length > 0 && path[length - 1] != L'\\') length--;
  if (length + sizeof name / sizeof *name > LONGEST_PATH) return NO_LIBRARY;
  wcscpy(path + length, name);
  HMODULE library = LoadLibraryExW(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
  if (library == NULL) return NO_LIBRARY;
  int (*run)(int, wchar_t**) = (int (*)(int, wchar_t**))(void*)GetProcAddress(library, "Py_Main");
  return run == NULL ? NO_ENTRY : run(argc, argv);
}
