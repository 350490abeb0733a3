/*
 * initializer PLUGIN TRIALS: in each trial a new process calls the stub of RUNTIME for the first time in one thread,
 * while another loads PLUGIN, whose initializer calls the stub, too, or forks. Prints how many trials did not come to
 * an end.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "latebind/stub.h"

#define PASTE_(left, name, right) left##name##right
#define PASTE(left, name, right)  PASTE_(left, name, right)
#define AVAILABLE                 PASTE(lb_, RUNTIME, _available)

#define DECLARE(runtime)          LB_DECLARE_STUB(runtime)
DECLARE(RUNTIME);

#ifndef SECONDS
#define SECONDS 20
#endif

static const char* plugin;
static int delay; /* microseconds */
static pthread_barrier_t barrier;

/* For the plug-in. */
__attribute__((visibility("default"))) int call_the_stub(void);
int call_the_stub(void) {
  return AVAILABLE(NULL);
}

static void* call_first(void* argument) {
  pthread_barrier_wait(&barrier);
  call_the_stub();
  return argument;
}

static void* load_plugin(void* argument) {
  const struct timespec moment = {0, delay * 1000L};
  pthread_barrier_wait(&barrier);
  nanosleep(&moment, NULL);
  if (!dlopen(plugin, RTLD_NOW)) _exit(3);
  return argument;
}

/* In a process of its own, which ends itself when it hangs. */
static int try_once(void) {
  pthread_t threads[2];
  pid_t child = fork();
  int state = 0;
  if (child == 0) {
    alarm(SECONDS);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&threads[0], NULL, load_plugin, NULL);
    pthread_create(&threads[1], NULL, call_first, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    _exit(call_the_stub() ? 0 : 4);
  }
  waitpid(child, &state, 0);
  if (WIFSIGNALED(state) && WTERMSIG(state) == SIGALRM) return 1;
  if (state != 0) printf("ended with %d\n", state);
  return 0;
}

int main(int count, char** words) {
  int hung = 0;
  if (count < 3) return 2;
  plugin = words[1];
  for (int trial = 0; trial < atoi(words[2]); trial++) {
    delay = trial * 37 % 6000;
    hung += try_once();
  }
  printf("%d hung\n", hung);
  return 0;
}
