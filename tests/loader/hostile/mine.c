/*
 * mine.c: a library with the stub. go() prints which runtime is bound, or why there is none, and the report. call()
 * only calls a function of the runtime, and prints the version, or why there is none.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "latebind/stub.h"

typedef struct ort_base {
  const void* (*GetApi)(uint32_t);
  const char* (*GetVersionString)(void);
} ort_base;
const ort_base* OrtGetApiBase(void);

__attribute__((visibility("default"))) int go(void);
int go(void) {
  int is_bound = lb_onnxruntime_available(NULL);
  printf("%s\n%s\n", is_bound ? lb_onnxruntime_file() : lb_onnxruntime_message(), lb_onnxruntime_report());
  fflush(stdout); /* in a namespace of its own, nobody else does */
  return !is_bound;
}

__attribute__((visibility("default"))) int call(void);
int call(void) {
  const char* version = OrtGetApiBase()->GetVersionString();
  int is_bound = strcmp(version, "0.0.0") != 0;
  printf("%s\n", is_bound ? version : lb_onnxruntime_message());
  fflush(stdout);
  return !is_bound;
}
