/*
 * clock.c: preloaded into the dynamically linked programs of the second run of `latebind reproduce`, so that they see
 * another date. Linux only. Clocks that measure elapsed time stay the same, and a wait with a deadline gets the true
 * time.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Another day and another hour, but not so far ahead that the certificates of a package index have expired. */
#define AHEAD ((9L * 24 + 5) * 3600)

static int tells_the_date(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  int failed = (int)syscall(SYS_clock_gettime, clock, now);
  if (!failed && tells_the_date(clock)) now->tv_sec += AHEAD;
  return failed;
}

time_t time(time_t* result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval* restrict result, void* restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  result->tv_sec = now.tv_sec;
  result->tv_usec = now.tv_nsec / 1000;
  return 0;
}

int timespec_get(struct timespec* now, int base) {
  return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, now) == 0 ? base : 0;
}

/* The true time of a deadline. A deadline further ahead than any wait was computed from the shifted clock. */
static const struct timespec* truly(const struct timespec* until, struct timespec* moment) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  if (!until || until->tv_sec < now.tv_sec + AHEAD / 2) return until;
  *moment = *until;
  moment->tv_sec -= AHEAD;
  return moment;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int sem_timedwait(sem_t* restrict semaphore, const struct timespec* restrict until) {
  struct timespec moment;
  return NEXT(sem_timedwait)(semaphore, truly(until, &moment));
}

int pthread_cond_timedwait(pthread_cond_t* restrict condition, pthread_mutex_t* restrict mutex,
                           const struct timespec* restrict until) {
  struct timespec moment;
  return NEXT(pthread_cond_timedwait)(condition, mutex, truly(until, &moment));
}

int pthread_mutex_timedlock(pthread_mutex_t* restrict mutex, const struct timespec* restrict until) {
  struct timespec moment;
  return NEXT(pthread_mutex_timedlock)(mutex, truly(until, &moment));
}
