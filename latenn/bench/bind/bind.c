/*
 * bind.c: what binding costs. Arguments: "open" and a runtime's file, or "bind" and its folder. Prints the nanoseconds
 * of the first call, then, for "bind", those of one that finds the runtime bound.
 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "latebind/onnxruntime.h"

enum { AGAIN = 10 * 1000 * 1000 };

static lb_binding binding = LB_BINDING_INIT;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int count, char** arguments) {
  if (count != 3) return 64;
  double start = now();
  if (strcmp(arguments[1], "open") == 0) {
    if (!dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL)) return 1;
    printf("%.1f\n", now() - start);
    return 0;
  }
  const char* const directories[] = {arguments[2]};
  lb_options options = {0};
  options.size = sizeof options;
  options.directories = directories;
  options.directory_count = 1;
  if (lb_bind(&binding, &lb_onnxruntime, &options, NULL)) return 1;
  double first = now() - start;
  start = now();
  int failed = 0;
  for (int i = 0; i < AGAIN; i++) failed |= lb_bind(&binding, &lb_onnxruntime, NULL, NULL);
  printf("%.1f %.2f\n", first, (now() - start) / AGAIN);
  return failed;
}
