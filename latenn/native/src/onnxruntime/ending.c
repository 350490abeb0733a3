/*
 * ending.c: how a forked child ends that came along with a started runtime; must do nothing where it was started.
 *
 * From 1.29 on ONNX Runtime has a thread of its own as soon as it is started (the uploader of its telemetry), and its
 * static destructors wait for that thread. It does not come along at fork(): a child that ends by exit() would wait for
 * ever. Handlers are called in reverse order, so ours comes between those of later libraries and the runtime's.
 */
#if defined(__linux__)
#define _DEFAULT_SOURCE /* on_exit() */
#endif
#include <stdio.h>
#include <stdlib.h>

#include "ort.h"

#if defined(__GLIBC__)
#include <unistd.h>

enum { ORT_FIRST_WITH_THREAD = 29 };

static void ort_end(int status, void* starter) {
  if ((intptr_t)getpid() == (intptr_t)starter) return;
  fflush(NULL);
  _exit(status);
}

void ort_guard_end(const lb_ort_api* api) {
  if (api->runtime.minor >= ORT_FIRST_WITH_THREAD) on_exit(ort_end, (void*)(intptr_t)getpid());
}
#else
void ort_guard_end(const lb_ort_api* api) {
  (void)api; /* on_exit() is glibc's alone, and atexit() does not tell the status */
}
#endif
