/*
 * waiter.c: a plug-in whose initializer waits for a thread that makes the first call of LIBRARY, or opens RUNTIME with
 * dlopen(); with FIRST, the initializer itself has made the first call before.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int (*call)(void);

static void* call_in_thread(void* unused) {
  if (call) {
    call();
  } else {
    dlopen(getenv("RUNTIME"), RTLD_NOW);
  }
  return unused;
}

__attribute__((constructor)) static void start(void) {
  pthread_t thread;
  void* library = getenv("LIBRARY") ? dlopen(getenv("LIBRARY"), RTLD_NOW | RTLD_NOLOAD) : NULL;
  void* address = library ? dlsym(library, "call") : NULL;
  memcpy(&call, &address, sizeof call);
  if (getenv("FIRST")) call_in_thread(NULL);
  pthread_create(&thread, NULL, call_in_thread, NULL);
  pthread_join(thread, NULL);
}
