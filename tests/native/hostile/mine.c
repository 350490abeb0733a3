/* mine.c: a library with the stub: go() prints which runtime is bound, or why there is none, and the report. */
#include <stdio.h>

#include "latebind/stub.h"

__attribute__((visibility("default"))) int go(void);
int go(void) {
  int is_bound = lb_onnxruntime_available(NULL);
  printf("%s\n%s\n", is_bound ? lb_onnxruntime_file() : lb_onnxruntime_message(), lb_onnxruntime_report());
  fflush(stdout); /* in a namespace of its own, nobody else does */
  return !is_bound;
}
