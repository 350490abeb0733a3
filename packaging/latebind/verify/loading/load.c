// Loads a library as a program in C does, finds the names that it exports, and unloads it; and once more.
//
//     consumer LIBRARY NAME ...
//
// It prints what went wrong; with nothing to print, what is printed comes from the library.
#include <stdio.h>

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

enum { NOT_LOADED = 3, NAME_MISSING = 4, NOT_UNLOADED = 5 };

#ifdef _WIN32
typedef HMODULE library;
static library load(const char* path) {
  return LoadLibraryA(path);
}
static int has(library handle, const char* name) {
  return GetProcAddress(handle, name) != NULL;
}
static int unload(library handle) {
  return FreeLibrary(handle);
}
static void explain(void) {
  printf("error %lu of Windows\n", GetLastError());
}
#else
typedef void* library;
static library load(const char* path) {
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}
static int has(library handle, const char* name) {
  return dlsym(handle, name) != NULL;
}
static int unload(library handle) {
  return dlclose(handle) == 0;
}
static void explain(void) {
  printf("%s\n", dlerror());
}
#endif

static int try_library(int count, char** arguments) {
  library handle = load(arguments[1]);
  if (handle == NULL) {
    explain();
    return NOT_LOADED;
  }
  for (int i = 2; i < count; i++) {
    if (!has(handle, arguments[i])) {
      printf("%s is not found\n", arguments[i]);
      return NAME_MISSING;
    }
  }
  return unload(handle) ? 0 : NOT_UNLOADED;
}

int main(int count, char** arguments) {
  if (count < 2) return NOT_LOADED;
  int status = try_library(count, arguments);
  return status ? status : try_library(count, arguments);
}
