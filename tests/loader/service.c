/*
 * service.c: a program that links the stub and knows nothing of the loader: prints why there is no runtime, or which
 * one is bound, and the report of the search.
 */
#include <stdio.h>

#include "latebind/stub.h"

int main(void) {
  int is_bound = lb_onnxruntime_available(NULL);
  printf("%s\n%s\n", is_bound ? lb_onnxruntime_file() : lb_onnxruntime_message(), lb_onnxruntime_report());
  return !is_bound;
}
