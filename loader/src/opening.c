/*
 * opening.c: which threads are looking for a runtime at this moment, in a table without a lock: a runtime that calls
 * back while it is opened is recognized by it, and a fork waits for it.
 *
 * A child has only the thread that forked. If another one is inside the system's loader just then, the child gets a
 * runtime that is half open, and locks that nobody will ever unlock. So a fork waits for such threads, but not for
 * ever: the one that forks may be inside the system's loader itself, from a library's initializer, and they for it.
 */
#include "os.h"

enum { LB_OPENINGS = 256 }; /* threads beyond that many are not seen: they only lose the two uses above */
enum { LB_MOMENTS = 500 };  /* milliseconds that a fork waits at most; opening a runtime takes 20 to 60 */

typedef struct lb_opening {
  void* volatile thread; /* lb_os_thread(); NULL is free */
  const void* binding;   /* only its own thread reads and writes it */
} lb_opening;

static lb_opening lb_openings[LB_OPENINGS];
static void* volatile lb_fork; /* the thread that forks */

int lb_is_opening(const void* binding) {
  void* self = (void*)lb_os_thread();
  for (size_t i = 0; i < LB_OPENINGS; i++) {
    if (lb_os_load(&lb_openings[i].thread) == self && lb_openings[i].binding == binding) return 1;
  }
  return 0;
}

static int lb_has_begun(const void* self) {
  for (size_t i = 0; i < LB_OPENINGS; i++) {
    if (lb_os_load(&lb_openings[i].thread) == self) return 1;
  }
  return 0;
}

/* Threads don't begin while another one forks, but for one that has begun: the fork waits for it. */
static int lb_must_wait(const void* self) {
  const void* fork = lb_os_load(&lb_fork);
  return fork && fork != self;
}

static size_t lb_take_opening(const void* binding) {
  void* self = (void*)lb_os_thread();
  for (size_t i = 0; i < LB_OPENINGS; i++) {
    if (lb_os_load(&lb_openings[i].thread) || lb_os_exchange(&lb_openings[i].thread, NULL, self)) continue;
    lb_openings[i].binding = binding;
    return i;
  }
  return LB_OPENINGS;
}

size_t lb_begin_opening(const void* binding) {
  const void* self = (const void*)lb_os_thread();
  int has_begun = lb_has_begun(self);
  size_t opening = lb_take_opening(binding);
  for (int waited = 0; waited < LB_MOMENTS && !has_begun && lb_must_wait(self); waited++) {
    lb_end_opening(opening);
    lb_os_wait();
    opening = lb_take_opening(binding);
  }
  return opening;
}

void lb_end_opening(size_t opening) {
  if (opening < LB_OPENINGS) lb_os_publish(&lb_openings[opening].thread, NULL);
}

static int lb_has_openings_of_others(void) {
  void* self = (void*)lb_os_thread();
  for (size_t i = 0; i < LB_OPENINGS; i++) {
    void* thread = lb_os_load(&lb_openings[i].thread);
    if (thread && thread != self) return 1;
  }
  return 0;
}

void lb_before_fork(void) {
  lb_os_exchange(&lb_fork, NULL, (void*)lb_os_thread());
  for (int waited = 0; waited < LB_MOMENTS && lb_has_openings_of_others(); waited++) lb_os_wait();
}

void lb_after_fork(void) {
  lb_os_exchange(&lb_fork, (void*)lb_os_thread(), NULL);
}

void lb_after_fork_in_child(void) {
  void* self = (void*)lb_os_thread();
  lb_os_publish(&lb_fork, NULL);
  for (size_t i = 0; i < LB_OPENINGS; i++) {
    if (lb_os_load(&lb_openings[i].thread) != self) lb_os_publish(&lb_openings[i].thread, NULL);
  }
}
