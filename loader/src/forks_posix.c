/*
 * forks_posix.c: os.h for Linux and macOS: which threads there are, calls of opening.c around each fork, and of a
 * function at the end of the process.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include "os.h"

#if defined(__APPLE__)
uintptr_t lb_os_thread_number(void) {
  uint64_t number = 0;
  pthread_threadid_np(NULL, &number);
  return (uintptr_t)number;
}

int lb_os_has_thread(uintptr_t number) {
  return number != 0; /* not known: dyld's lock ends with no thread, so the process is lost anyway */
}
#else
/* The kernel's number: it counts on, while a new thread mostly gets the address of the last one that ended. */
uintptr_t lb_os_thread_number(void) {
  return (uintptr_t)syscall(SYS_gettid);
}

int lb_os_has_thread(uintptr_t number) {
  int error = errno;
  int is_gone = syscall(SYS_tgkill, (long)getpid(), (long)number, 0L) != 0 && errno == ESRCH;
  errno = error;
  return !is_gone;
}
#endif

int lb_os_forbid_cancelling(void) {
  int state = PTHREAD_CANCEL_DISABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  return state == PTHREAD_CANCEL_ENABLE;
}

void lb_os_allow_cancelling(void) {
  int state = 0; /* musl and macOS accept NULL, POSIX does not promise it */
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
}

void lb_os_wait(void) {
  const struct timespec millisecond = {0, 1000000};
  nanosleep(&millisecond, NULL);
}

#if defined(__GLIBC__)
/*
 * The handlers must go when this library is unloaded, or the next fork jumps into nothing. pthread_atfork() sees to
 * that only where the toolchain links its newer form and ends libraries as GNU's does; zig's does neither. So both
 * halves are called by name: they are interfaces of the Linux Standard Base.
 */
#define LB_OF_LIBC __attribute__((visibility("default"))) /* also where a pragma hides what is declared */
LB_OF_LIBC int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void* library);
LB_OF_LIBC void __cxa_finalize(void* library);
LB_OF_LIBC int __cxa_atexit(void (*handler)(void*), void* argument, void* library);
extern void* __dso_handle __attribute__((visibility("hidden")));

static int lb_watch_forks(void) {
  return __register_atfork(lb_before_fork, lb_after_fork, lb_after_fork_in_child, &__dso_handle) == 0;
}

static int lb_forks_are_watched;

/* A fork that has begun does not see new handlers, so they are there before a second thread can bind. */
__attribute__((constructor)) static void lb_watch_forks_early(void) {
  lb_forks_are_watched = lb_watch_forks();
}

/*
 * Unloading this library calls its handlers, as the end of the process does. But then the destructor below comes first,
 * and at the end of the process they come first: exit() calls all handlers, and then the system's loader the
 * destructors.
 */
static int lb_is_ending;
static int lb_is_unloaded;
static void (*lb_end)(void);
static void (*lb_forget)(void);

__attribute__((destructor)) static void lb_finish(void) {
  lb_is_unloaded = !lb_is_ending;
  if (lb_forks_are_watched) __cxa_finalize(&__dso_handle);
  if (lb_is_unloaded && lb_forget) lb_forget();
}

void lb_os_watch_forks(void) {} /* they are */

static void lb_note_end(void* unused) {
  (void)unused;
  lb_is_ending = !lb_is_unloaded;
}

static void lb_call_end(void* unused) {
  (void)unused;
  if (!lb_is_unloaded) lb_end();
}

void lb_os_at_exit(void (*end)(void)) {
  lb_end = end;
  __cxa_atexit(lb_call_end, NULL, &__dso_handle);
}

void lb_os_at_unload(void (*forget)(void)) {
  if (!__cxa_atexit(lb_note_end, NULL, &__dso_handle)) lb_forget = forget;
}
#elif defined(__APPLE__)
/*
 * dyld does not remove the handlers when a library is unloaded, so a library that has some stays for ever: not before
 * it binds, or each library with a loader would stay, used or not.
 */
void lb_os_watch_forks(void) {
  static void* volatile is_watched;
  Dl_info info;
  if (lb_os_exchange(&is_watched, NULL, (void*)&is_watched)) return;
  if (!dladdr((const void*)&is_watched, &info)) return;
  if (!dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE)) return;
  pthread_atfork(lb_before_fork, lb_after_fork, lb_after_fork_in_child);
}
#else
__attribute__((constructor)) static void lb_watch_forks_early(void) {
  pthread_atfork(lb_before_fork, lb_after_fork, lb_after_fork_in_child);
}

void lb_os_watch_forks(void) {} /* they are */
#endif

#if !defined(__GLIBC__)
void lb_os_at_unload(void (*forget)(void)) {
  (void)forget;
}

void lb_os_at_exit(void (*end)(void)) {
  atexit(end); /* this library is never unloaded: see above, and musl unloads none */
}
#endif
