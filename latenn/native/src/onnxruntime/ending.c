/*
 * ending.c: how a forked child of a process with a started runtime ends; must do nothing in the process that started
 * it.
 *
 * From 1.29 on ONNX Runtime has a thread of its own as soon as it is started (the uploader of its telemetry), and its
 * static destructors wait for that thread, which is not there in a forked child: exit() would never end. Exit handlers
 * are called in reverse order, so ours comes between those of later libraries and the runtime's. It has the runtime's
 * called on another thread, and goes on without the one that waits for ever: glibc takes each off its list before it
 * calls it. What the host registered earlier then runs as it would without a runtime.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* dladdr1(), on_exit() */
#endif
#include <stdio.h>
#include <stdlib.h>

#include "ort.h"

#if defined(__GLIBC__)
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ORT_FIRST_WITH_THREAD = 29, ORT_TRIES = 64, ORT_ASLEEP = 20 };

/* What calls the static destructors of the runtime, as at dlclose(): the functions of its DT_FINI_ARRAY. */
typedef struct ort_destructors {
  void (**list)(void);
  size_t count;
  pid_t starter;
} ort_destructors;

static ort_destructors ort_ends;   /* written once, before the handler is registered */
static _Atomic(int) ort_has_ended; /* in a child alone, as is the next */
static _Atomic(long) ort_thread;

static void* ort_destroy(void* unused) {
  (void)unused;
  atomic_store(&ort_thread, syscall(SYS_gettid));
  for (size_t i = ort_ends.count; i--;) ort_ends.list[i]();
  atomic_store(&ort_has_ended, 1);
  return NULL;
}

/* Whether the thread waits for something at this moment, or cannot be looked at. */
static int ort_is_asleep(void) {
  char text[64];
  int pid = 0;
  char state = 'S';
  long thread = atomic_load(&ort_thread);
  if (!thread) return 0; /* it has not begun yet */
  snprintf(text, sizeof text, "/proc/self/task/%ld/stat", thread);
  FILE* file = fopen(text, "re");
  if (!file) return 1;
  int is_read = fscanf(file, "%d (%*[^)]) %c", &pid, &state) == 2;
  fclose(file);
  return !is_read || state == 'S';
}

/* Returns non-zero when the destructors have finished, 0 when one sleeps and nobody is left to wake it. */
static int ort_watch(void) {
  const struct timespec millisecond = {0, 1000000};
  for (int asleep = 0; asleep < ORT_ASLEEP; asleep = ort_is_asleep() ? asleep + 1 : 0) {
    nanosleep(&millisecond, NULL);
    if (atomic_load(&ort_has_ended)) return 1;
  }
  return 0;
}

static void ort_end(int status, void* unused) {
  pthread_t thread;
  (void)unused;
  if (getpid() == ort_ends.starter) return;
  for (int i = 0; i < ORT_TRIES && ort_ends.count; i++) {
    atomic_store(&ort_thread, 0);
    if (pthread_create(&thread, NULL, ort_destroy, NULL)) break;
    if (ort_watch()) return;
  }
  fflush(NULL); /* it cannot be ended in order: better without the host's handlers than never */
  _exit(status);
}

/* Finds them; none where the runtime is part of the program, whose handlers look like the runtime's. */
static void ort_find_destructors(const void* address, ort_destructors* found) {
  Dl_info info;
  struct link_map* image = NULL;
  if (!dladdr1(address, &info, (void**)&image, RTLD_DL_LINKMAP) || !image || !*image->l_name) return;
  for (const ElfW(Dyn)* entry = image->l_ld; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag == DT_FINI_ARRAY) found->list = (void (**)(void))(image->l_addr + entry->d_un.d_ptr);
    if (entry->d_tag == DT_FINI_ARRAYSZ) found->count = entry->d_un.d_val / sizeof *found->list;
  }
  if (!found->list) found->count = 0;
}

void ort_guard_end(const lb_ort_api* api) {
  if (api->runtime.minor < ORT_FIRST_WITH_THREAD) return;
  ort_ends.starter = getpid();
  ort_find_destructors((const void*)api->table, &ort_ends);
  on_exit(ort_end, NULL);
}
#else
void ort_guard_end(const lb_ort_api* api) {
  (void)api; /* elsewhere nothing takes a handler off the list, and atexit() does not tell the status */
}
#endif
