/* barrier.h: where threads of a test wait for each other; macOS has no pthread_barrier_t. */
#ifndef TESTS_BARRIER_H
#define TESTS_BARRIER_H

#include <pthread.h>

typedef struct port_barrier {
  pthread_mutex_t mutex;
  pthread_cond_t change;
  unsigned wanted;
  unsigned here;
  unsigned round;
} port_barrier;

static inline void port_barrier_init(port_barrier* barrier, unsigned wanted) {
  pthread_mutex_init(&barrier->mutex, NULL);
  pthread_cond_init(&barrier->change, NULL);
  barrier->wanted = wanted;
  barrier->here = barrier->round = 0;
}

static inline void port_barrier_wait(port_barrier* barrier) {
  pthread_mutex_lock(&barrier->mutex);
  unsigned round = barrier->round;
  if (++barrier->here == barrier->wanted) {
    barrier->here = 0;
    barrier->round++;
    pthread_cond_broadcast(&barrier->change);
  }
  while (round == barrier->round) pthread_cond_wait(&barrier->change, &barrier->mutex);
  pthread_mutex_unlock(&barrier->mutex);
}

static inline void port_barrier_destroy(port_barrier* barrier) {
  pthread_cond_destroy(&barrier->change);
  pthread_mutex_destroy(&barrier->mutex);
}

#endif
