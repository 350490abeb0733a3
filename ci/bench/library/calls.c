/*
 * calls [FILE]: times the first call of zlib's zlibVersion(), with dlopen() and dlsym() of FILE before it if there is
 * one, and 20 million more calls. Prints both times in nanoseconds.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <time.h>

const char* zlibVersion(void);

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

enum { CALLS = 20000000 };

int main(int count, char** values) {
  double start = now();
  if (count > 1) {
    void* handle = dlopen(values[1], RTLD_NOW);
    const char* (*version)(void) = handle ? (const char* (*)(void))dlsym(handle, "zlibVersion") : NULL;
    if (!version || !version()) return 1;
    printf("%.0f 0\n", now() - start);
    return 0;
  }
  if (!zlibVersion()) return 1;
  double first = now() - start;
  start = now();
  for (int number = 0; number < CALLS; ++number) zlibVersion();
  printf("%.0f %.4f\n", first, (now() - start) / CALLS);
  return 0;
}
