/*
 * reloads LIBRARY TIMES: opens a library with a stub, makes the first call and closes it, as often. Prints how many
 * bytes of memory each time cost, and at the end of the process a text of the stub that the program kept.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* kept = "";

static void print_kept(void) {
  printf("kept: %.22s\n", kept);
}

static void* call(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  void* address = library ? dlsym(library, "problem") : NULL;
  const char* (*problem)(void) = NULL;
  memcpy(&problem, &address, sizeof problem);
  if (!problem) exit(70);
  kept = problem();
  return library;
}

int main(int count, char** words) {
  size_t before = 0;
  if (count != 3) return 64;
  int times = atoi(words[2]);
  atexit(print_kept);
  for (int i = 0; i < times + 20; i++) {
    if (i == 20) before = mallinfo2().uordblks;
    if (dlclose(call(words[1])) || dlopen(words[1], RTLD_NOW | RTLD_NOLOAD)) return 71;
  }
  printf("lost: %d bytes\n", (int)(mallinfo2().uordblks - before) / times);
  call(words[1]);
  return 0;
}
