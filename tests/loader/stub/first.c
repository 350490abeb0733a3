/*
 * first LIBRARY THREADS ROUNDS: in each round, threads make the first call of a new stub at the same moment.
 * first LIBRARY fork ROUNDS: children that are made before, during and after the first call make it, too.
 * Prints how many calls bound a runtime, how many gave a status that says why not, and how many did anything else.
 */
#include <dlfcn.h>
#include <onnxruntime_c_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "barrier.h"

enum { BOUND, REFUSED, OTHER, OUTCOMES, MOST_THREADS = 64 };

static const char* path;
static const OrtApiBase* base;
static port_barrier barrier;
static int rounds;
static int outcomes[OUTCOMES];

static void* open_library(void) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* address = library ? dlsym(library, "library_base") : NULL;
  const OrtApiBase* (*get)(void) = NULL;
  memcpy(&get, &address, sizeof get);
  if (!get) exit(70);
  base = get();
  return library;
}

/* Programs read a slot plainly. A pointer is read whole on x64 and arm64; the language, and a sanitizer, ask for this.
 */
#define CALL(slot) __atomic_load_n(&api->slot, __ATOMIC_ACQUIRE)

static int call(void) {
  const OrtApi* api = base->GetApi(ORT_API_VERSION);
  OrtSessionOptions* options = NULL;
  OrtStatus* status = CALL(CreateSessionOptions)(&options);
  int is_refused = status && strstr(CALL(GetErrorMessage)(status), "version 1.19 or newer is needed");
  int is_version = strcmp(base->GetVersionString(), "0.0.0") != 0;
  CALL(ReleaseStatus)(status);
  CALL(ReleaseSessionOptions)(options);
  return options && !status && is_version ? BOUND : is_refused && !options && !is_version ? REFUSED : OTHER;
}

static void count(int outcome) {
  __atomic_fetch_add(&outcomes[outcome], 1, __ATOMIC_RELAXED);
}

static void* call_each_round(void* unused) {
  (void)unused;
  for (int round = 0; round < rounds; ++round) {
    port_barrier_wait(&barrier);
    count(call());
    port_barrier_wait(&barrier);
  }
  return NULL;
}

static void start(pthread_t* threads, int count) {
  port_barrier_init(&barrier, (unsigned)count + 1);
  for (int i = 0; i < count; ++i) {
    if (pthread_create(&threads[i], NULL, call_each_round, NULL)) exit(71);
  }
}

static void call_in_child(void) {
  int state = 0;
  pid_t child = fork();
  if (child == 0) {
    alarm(10); /* a deadlock ends here */
    _exit(call());
  }
  waitpid(child, &state, 0);
  count(WIFEXITED(state) && WEXITSTATUS(state) < OUTCOMES ? WEXITSTATUS(state) : OTHER);
}

int main(int word_count, char** words) {
  pthread_t threads[MOST_THREADS];
  if (word_count != 4) return 64;
  path = words[1];
  int forks = strcmp(words[2], "fork") == 0;
  int width = forks ? 8 : atoi(words[2]);
  rounds = atoi(words[3]);
  if (width < 1 || width > MOST_THREADS) return 64;
  start(threads, width);
  for (int round = 0; round < rounds; ++round) {
    void* library = open_library();
    if (forks) call_in_child();
    port_barrier_wait(&barrier);
    if (forks) call_in_child();
    port_barrier_wait(&barrier);
    if (forks) call_in_child();
    if (dlclose(library) || dlopen(path, RTLD_NOW | RTLD_NOLOAD)) return 72;
  }
  for (int i = 0; i < width; ++i) pthread_join(threads[i], NULL);
  port_barrier_destroy(&barrier);
  printf("%d bound, %d refused, %d other\n", outcomes[BOUND], outcomes[REFUSED], outcomes[OTHER]);
  return 0;
}
