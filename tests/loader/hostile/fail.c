/*
 * fail.c: opens a library and calls its call() twice: first where the system fails, then where it doesn't any more.
 * fail LIBRARY open NUMBER: opening files fails with that error, by a filter of the kernel in a thread of its own.
 * fail LIBRARY files 3, fail LIBRARY memory BYTES: the process may have so many files, or so much more memory.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int (*call)(void);
static unsigned error;

static void* call_where_opening_fails(void* unused) {
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) exit(77);
  call();
  return unused;
}

static long read_memory(void) {
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "re");
  if (!file || fscanf(file, "%ld", &pages) != 1) exit(77);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

#if defined(__GLIBC__)
typedef __rlimit_resource_t lb_resource;
#else
typedef int lb_resource;
#endif

static void call_with_limit(lb_resource what, rlim_t limit) {
  struct rlimit before;
  if (getrlimit(what, &before)) exit(77);
  struct rlimit low = {limit, before.rlim_max};
  if (setrlimit(what, &low)) exit(77);
  call();
  if (setrlimit(what, &before)) exit(77);
}

int main(int count, char** arguments) {
  pthread_t thread;
  void* library = count == 4 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  void* address = library ? dlsym(library, "call") : NULL;
  if (!address) return puts("the library cannot be opened"), 2;
  memcpy(&call, &address, sizeof call);
  error = (unsigned)atoi(arguments[3]);
  if (!strcmp(arguments[2], "open")) {
    if (pthread_create(&thread, NULL, call_where_opening_fails, NULL) || pthread_join(thread, NULL)) return 77;
  } else if (!strcmp(arguments[2], "files")) {
    call_with_limit(RLIMIT_NOFILE, error);
  } else {
    call_with_limit(RLIMIT_AS, (rlim_t)(read_memory() + atol(arguments[3])));
  }
  return call();
}
