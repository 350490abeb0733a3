/* place.c: asks whether a path stays inside of a folder while memory is short. Arguments: the folder, the path, and
 * which call fails: realpath, malloc or none. Prints the code of the status. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "customop.h"

static const char* failing;

char* __real_realpath(const char* path, char* resolved);
char* __wrap_realpath(const char* path, char* resolved);
void* __real_malloc(size_t size);
void* __wrap_malloc(size_t size);

char* __wrap_realpath(const char* path, char* resolved) {
  if (strcmp(failing, "realpath") != 0) return __real_realpath(path, resolved);
  errno = ENOMEM;
  return NULL;
}

void* __wrap_malloc(size_t size) {
  return strcmp(failing, "malloc") == 0 ? NULL : __real_malloc(size);
}

latenn_status* latenn_no_memory(void) {
  return (latenn_status*)(uintptr_t)LATENN_OUT_OF_MEMORY;
}

latenn_status* customop_leads_out(const char* what, const char* path, const char* folder) {
  (void)what, (void)path, (void)folder;
  return (latenn_status*)(uintptr_t)LATENN_INVALID_ARGUMENT;
}

int main(int count, char** arguments) {
  if (count != 4) return 64;
  failing = arguments[3];
  return printf("%d", (int)(uintptr_t)customop_check_inside("It is", arguments[2], arguments[1])) < 0;
}
