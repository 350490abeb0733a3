/*
 * calls.c: what calls of ONNX Runtime cost. Prints the nanoseconds until the first has returned, and those of a later
 * one, in the best of several turns. With the runtime's file as its argument, the program opens it by dlopen() and
 * dlsym() itself.
 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "latebind/ort_api.h"

enum { TURNS = 20, CALLS = 1000 * 1000 };

const lb_ort_base* LB_ORT_CALL OrtGetApiBase(void);

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Aligned, so that it is the same machine code at the same place of a cache line in each program. */
__attribute__((noinline, aligned(64))) static int turn(const lb_ort_table* api, OrtAllocator** allocator) {
  for (int i = 0; i < CALLS; ++i) {
    if (api->GetAllocatorWithDefaultOptions(allocator)) return 1;
  }
  return 0;
}

int main(int count, char** words) {
  const lb_ort_base*(LB_ORT_CALL * get_base)(void) = OrtGetApiBase;
  double start = now();
  void* entry = count > 1 ? dlsym(dlopen(words[1], RTLD_NOW | RTLD_LOCAL), "OrtGetApiBase") : NULL;
  if (entry) memcpy(&get_base, &entry, sizeof entry);
  const lb_ort_table* api = get_base()->GetApi(19);
  OrtAllocator* allocator = NULL;
  if (api->GetAllocatorWithDefaultOptions(&allocator)) return 1;
  double first = now() - start;
  double best = first;
  for (int i = 0; i < TURNS; ++i) {
    start = now();
    if (turn(api, &allocator)) return 1;
    double took = (now() - start) / CALLS;
    if (took < best) best = took;
  }
  printf("%.1f %.4f\n", first, best);
  return 0;
}
