/* port.h: the little that the test programs need of a system; nothing in the products includes it. */
#ifndef TESTS_PORT_H
#define TESTS_PORT_H

#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#define PORT_EXPORT __declspec(dllexport)

static inline char* port_utf8(const wchar_t* wide) {
  int size = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
  char* text = malloc((size_t)size);
  if (!text) exit(70);
  WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, size, NULL, NULL);
  return text;
}

/* main()'s words are in the user's code page: these are in UTF-8. Streams pass bytes on as they are. */
static inline char** port_arguments(int count, char** arguments) {
  int length = 0;
  wchar_t** wide = CommandLineToArgvW(GetCommandLineW(), &length);
  _setmode(_fileno(stdin), _O_BINARY);
  _setmode(_fileno(stdout), _O_BINARY);
  for (int i = 0; wide && i < count && i < length; i++) arguments[i] = port_utf8(wide[i]);
  LocalFree(wide);
  return arguments;
}

static inline int port_preload(const char* path) {
  wchar_t wide[2048];
  MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, 2048);
  return LoadLibraryExW(wide, NULL, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS) != NULL;
}

static inline int port_add_folder(const char* path) {
  wchar_t wide[2048];
  MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, 2048);
  return AddDllDirectory(wide) != NULL;
}

static inline FILE* port_open(const char* path) {
  wchar_t wide[2048];
  MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, 2048);
  return _wfopen(wide, L"rb");
}

static inline void* port_own_symbol(const char* name) {
  return (void*)(size_t)GetProcAddress(GetModuleHandleW(NULL), name);
}

static inline void port_sleep(unsigned milliseconds) {
  Sleep(milliseconds);
}
#else
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

#define PORT_EXPORT __attribute__((visibility("default")))

static inline char** port_arguments(int count, char** arguments) {
  (void)count;
  return arguments;
}

static inline int port_preload(const char* path) {
  return dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL;
}

static inline int port_add_folder(const char* path) {
  (void)path;
  return 0; /* Windows alone has that */
}

static inline FILE* port_open(const char* path) {
  return fopen(path, "rb");
}

static inline void* port_own_symbol(const char* name) {
  return dlsym(RTLD_DEFAULT, name);
}

static inline void port_sleep(unsigned milliseconds) {
  struct timespec pause = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000 * 1000};
  nanosleep(&pause, NULL);
}
#endif
#endif
