/*
 * host.c: opens a library and calls its go(). In between it does what its arguments say: `wait` prints READY and waits
 * for a line, `euid N` and `egid N` change the effective ids alone. `namespace` opens it in one of its own (glibc).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static uid_t ids;

static void* go_with_ids(void* go) {
  if (!syscall(SYS_setresuid, ids, ids, ids)) (*(int (**)(void))go)();
  return NULL;
}

int main(int count, char** arguments) {
  char line[8];
  int (*go)(void) = NULL;
  void* library = NULL;
#if defined(__GLIBC__)
  if (count > 2 && !strcmp(arguments[2], "namespace")) library = dlmopen(LM_ID_NEWLM, arguments[1], RTLD_NOW);
#endif
  if (!library) library = dlopen(arguments[1], RTLD_NOW);
  void* address = library ? dlsym(library, "go") : NULL;
  if (!address) return puts(dlerror()), 2;
  memcpy(&go, &address, sizeof go);
  for (int i = 2; i < count; i++) {
    if (!strcmp(arguments[i], "wait")) {
      puts("READY");
      fflush(stdout);
      if (!fgets(line, sizeof line, stdin)) return 3;
    } else if (i + 1 < count && !strcmp(arguments[i], "euid")) {
      if (seteuid((uid_t)atoi(arguments[++i]))) return 4;
    } else if (i + 1 < count && !strcmp(arguments[i], "thread")) { /* the kernel's call is for this thread alone */
      pthread_t thread;
      ids = (uid_t)atoi(arguments[++i]);
      if (pthread_create(&thread, NULL, go_with_ids, (void*)&go)) return 6;
      return pthread_join(thread, NULL);
    } else if (i + 1 < count && !strcmp(arguments[i], "egid")) {
      if (setegid((gid_t)atoi(arguments[++i]))) return 5;
    }
  }
  return go();
}
