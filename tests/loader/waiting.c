/*
 * waiting LIBRARY RUNTIME HOW: two situations with the lock of the system's loader, through the stub in LIBRARY and, as
 * a comparison, by dlopen() of RUNTIME. `initializer` and `initializer-first` load a plug-in (its path is RUNTIME's
 * place in the environment: PLUGIN); `fork` and `fork-dlopen` fork while another thread opens RUNTIME, and use it in
 * the child. A process that hangs is ended by SIGALRM.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* runtime;
static int (*call)(void);

static void* look_up(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_NOW);
  return handle ? dlsym(handle, name) : NULL;
}

/* Whether the runtime's initializers have run: it says so itself. */
static int open_runtime(void) {
  const int* is_ready = look_up(runtime, "is_ready");
  printf("%s\n", !is_ready ? "cannot be opened" : *is_ready ? "ready" : "half open");
  fflush(stdout);
  return 0;
}

static void* call_in_thread(void* unused) {
  call();
  return unused;
}

static int fork_while_it_opens(void) {
  pthread_t thread;
  int state = 0;
  pthread_create(&thread, NULL, call_in_thread, NULL);
  usleep(200000);
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    call();
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, &state, 0);
  pthread_join(thread, NULL);
  return WIFSIGNALED(state) ? puts("hangs") : 0;
}

int main(int count, char** words) {
  if (count != 4) return 2;
  runtime = words[2];
  alarm(10);
  void* address = strcmp(words[3], "fork-dlopen") ? look_up(words[1], "call") : NULL;
  memcpy(&call, &address, sizeof call);
  if (!call) call = open_runtime;
  if (!strncmp(words[3], "fork", 4)) return fork_while_it_opens();
  alarm(3);
  return dlopen(getenv("PLUGIN"), RTLD_NOW) ? 0 : (puts(dlerror()), 3);
}
