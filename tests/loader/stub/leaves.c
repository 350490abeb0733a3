/*
 * leaves HOW: a thread makes the first call, and is cancelled, ends or jumps out of it, or the library calls back. Then
 * other threads call, mostly with the same pthread_self(), and a process is forked. Prints what each of them got.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int many_status(void);
const char* many_why(void);
const char* lb_many_message(void);

static const char* how = "";
static int times;
static sigjmp_buf outside;
static pthread_barrier_t barrier;

static int is(const char* name) {
  return strcmp(how, name) == 0;
}

static void leave(int number) {
  (void)number;
  siglongjmp(outside, 1);
}

void while_asked(void);
void while_asked(void) {
  int state = 0;
  if (times++) return;
  if (is("cancelled")) pthread_testcancel();
  if (is("allows")) {
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    pthread_testcancel();
  }
  if (is("exits")) pthread_exit(NULL);
  if (is("jumps") || is("jumps-deeper") || is("jumps-and-waits")) raise(SIGUSR1);
}

void while_opened(void);
void while_opened(void) {
  if (!is("calls-back")) return;
  printf("while opened: %d %s\n", many_status(), many_why());
  printf("message: %s\n", lb_many_message());
}

/* The search asks this of the C library, and gets it of the program. */
int stat(const char* path, struct stat* found) {
  (void)path, (void)found;
  if (is("jumps-from-the-search") && !times++) raise(SIGUSR1);
  return syscall(SYS_newfstatat, AT_FDCWD, path, found, 0) ? -1 : 0;
}

static __attribute__((noinline)) int call_far_deeper(void) {
  volatile char room[100000];
  room[0] = (char)many_status();
  return room[0];
}

static __attribute__((noinline)) int call_deeper(void) {
  volatile char room[400];
  room[0] = (char)many_status();
  return room[0];
}

static void* call_first(void* unused) {
  int state = 0;
  if (is("cancelled") || is("allows")) pthread_cancel(pthread_self());
  if (!sigsetjmp(outside, 1)) {
    int status = many_status();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state); /* printf() may be where a thread is cancelled */
    printf("first call: %d\n", status);
  } else if (!is("jumps-and-waits")) {
    int status = is("jumps") ? many_status() : is("jumps-deeper") ? call_deeper() : call_far_deeper();
    printf("after the jump: %d\n", status);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    if (state != PTHREAD_CANCEL_ENABLE) printf("the thread can no longer be cancelled\n");
  }
  if (is("jumps-and-waits")) {
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
  }
  return unused;
}

static void* call_later(void* unused) {
  printf("later call: %d %s\n", many_status(), many_why());
  return unused;
}

static void fork_once(const char* title) {
  struct timespec before;
  struct timespec after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  pid_t child = fork();
  if (child == 0) _exit(many_status());
  clock_gettime(CLOCK_MONOTONIC, &after);
  int state = 0;
  waitpid(child, &state, 0);
  double took = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
  printf("%s: %s, the child ended with %d\n", title, took < 0.3 ? "at once" : "waited", state);
}

int main(int count, char** words) {
  pthread_t thread;
  if (count != 2) return 64;
  how = words[1];
  setvbuf(stdout, NULL, _IONBF, 0);
  signal(SIGUSR1, leave);
  pthread_barrier_init(&barrier, NULL, 2);
  if (pthread_create(&thread, NULL, call_first, NULL)) return 70;
  if (is("jumps-and-waits")) {
    pthread_barrier_wait(&barrier);
    fork_once("a fork");
    fork_once("the next fork");
    pthread_barrier_wait(&barrier);
  }
  pthread_join(thread, NULL);
  fork_once("a fork");
  for (int i = 0; i < 2; i++) {
    if (pthread_create(&thread, NULL, call_later, NULL) || pthread_join(thread, NULL)) return 71;
  }
  printf("message: %s\n", lb_many_message());
  return 0;
}
