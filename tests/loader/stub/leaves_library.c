/* A C library that calls the program back while it is opened, and while its version is asked for. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

static void call_back(const char* name) {
  void* address = dlsym(RTLD_DEFAULT, name);
  void (*back)(void) = NULL;
  memcpy(&back, &address, sizeof back);
  if (back) back();
}

__attribute__((constructor)) static void start(void) {
  call_back("while_opened");
}

const char* many_version(void) {
  call_back("while_asked");
  return "1.1.0";
}

int many_status(void) {
  return 0;
}

const char* many_why(void) {
  return "fine";
}
