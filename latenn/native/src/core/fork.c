/* fork.c: how often this process was forked off, which its host must report; must not watch for forks by itself. */
#include "core.h"

static atomic_uint latenn_fork_count;

void latenn_forked(void) {
  atomic_fetch_add(&latenn_fork_count, 1);
}

unsigned latenn_forks(void) {
  return atomic_load_explicit(&latenn_fork_count, memory_order_relaxed);
}
