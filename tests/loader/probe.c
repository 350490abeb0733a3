/*
 * probe.c: binds as its arguments say and prints what came of it as JSON. The pytest driver makes the situation,
 * runs this in a process of its own, and judges the answer.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "barrier.h"
#include "latebind/onnxruntime.h"
#include "latebind/ort_api.h"
#include "port.h"

enum { MAX_DIRECTORIES = 32, MAX_THREADS = 64 };

static lb_binding binding = LB_BINDING_INIT;
/* With room behind it: a newer caller's options are longer. */
static struct {
  lb_options known;
  unsigned char tail[64];
} longer;
#define options longer.known
static const char* directories[MAX_DIRECTORIES];
static port_barrier barrier;
static int again_outcome = -1;
static char again_message[200];

#ifdef LB_TEST_ALLOCATIONS
static long allocations_left = -1; /* the one that fails; negative: none */
static int allocation_failed;

void* lb_test_realloc(void* memory, size_t size);
void* lb_test_realloc(void* memory, size_t size) {
  if (allocations_left == 0) {
    allocations_left = -1;
    allocation_failed = 1;
    return NULL;
  }
  if (allocations_left > 0) allocations_left--;
  return realloc(memory, size);
}
#endif

PORT_EXPORT void probe_bind_again(void);
void probe_bind_again(void) {
  lb_report report = {0};
  report.size = sizeof report;
  again_outcome = lb_bind(&binding, &lb_onnxruntime, &options, &report);
  snprintf(again_message, sizeof again_message, "%s", report.message);
  lb_report_clear(&report);
}

static void* bind_in_thread(void* result) {
  port_barrier_wait(&barrier);
  *(int*)result = lb_bind(&binding, &lb_onnxruntime, &options, NULL);
  return lb_entry(&binding);
}

/* Returns 0 when all threads got the same thing. */
static int bind_in_threads(int count) {
  pthread_t threads[MAX_THREADS];
  int results[MAX_THREADS];
  int bad = 0;
  port_barrier_init(&barrier, (unsigned)count);
  for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, bind_in_thread, &results[i]);
  for (int i = 0; i < count; i++) {
    void* entry = NULL;
    pthread_join(threads[i], &entry);
    bad |= results[i] != results[0] || entry != lb_entry(&binding);
  }
  port_barrier_destroy(&barrier);
  return bad;
}

#if defined(_WIN32)
static int fork_while_binding(void) {
  return 99; /* there is no fork */
}
#else
/* Forks while another thread is within dlopen(); the child binds. Returns the child's own result. */
static int fork_while_binding(void) {
  pthread_t thread;
  int result = -1;
  int state = 0;
  port_barrier_init(&barrier, 2);
  pthread_create(&thread, NULL, bind_in_thread, &result);
  port_barrier_wait(&barrier);
  port_sleep(100); /* the stand-in takes 400 ms to start */
  pid_t child = fork();
  if (child == 0) {
    alarm(10); /* a dead lock ends here */
    _exit(lb_bind(&binding, &lb_onnxruntime, &options, NULL) == 0 && lb_entry(&binding) ? 0 : 3);
  }
  waitpid(child, &state, 0);
  pthread_join(thread, NULL);
  port_barrier_destroy(&barrier);
  return WIFEXITED(state) && result == 0 ? WEXITSTATUS(state) : 99;
}
#endif

static int ask(const char* name) {
  int (*function)(void) = NULL;
  void* address = lb_symbol(&binding, name);
  memcpy(&function, &address, sizeof function);
  return function ? function() : -1;
}

static void print_result(int outcome, lb_report* report, int extra) {
  lb_ort_api api;
  int attached = lb_ort_attach(&binding, &api) == 0;
  printf(
      "{\"outcome\": \"%s\", \"extra\": %d, \"entry\": %s, \"attached\": %s, \"version_calls\": %d, \"asked_for\": "
      "%d, ",
      lb_outcome_name((lb_outcome)outcome), extra, lb_entry(&binding) ? "true" : "false", attached ? "true" : "false",
      ask("stand_in_version_calls"), ask("stand_in_asked_for"));
  printf("\"again\": %d, \"again_message\": \"%s\", \"struct\": {\"attempts\": %zu, \"bound\": %d}, \"report\": %s}\n",
         again_outcome, again_message, report->attempt_count, report->bound, lb_report_json(report));
}

#ifdef LB_TEST_ALLOCATIONS
enum { MAX_RUNS = 1000 };

/* Lets the first, second, ... allocation fail until one run needs no more. Every run must end in an answer. */
static int exhaust(void) {
  static lb_binding fresh[MAX_RUNS]; /* what is bound is kept for ever, so it must stay reachable */
  int bound = 0;
  for (long run = 0; run < MAX_RUNS; run++) {
    lb_report report = {0};
    report.size = sizeof report;
    allocations_left = run;
    allocation_failed = 0;
    int outcome = lb_bind(&fresh[run], &lb_onnxruntime, &options, &report);
    if (!report.message || !*report.message) return 1;
    if ((outcome == 0) != (lb_entry(&fresh[run]) != NULL)) return 2;
    bound += outcome == 0;
    (void)lb_report_text(&report);
    (void)lb_report_json(&report);
    lb_report_clear(&report);
    allocations_left = -1;
    if (allocation_failed) continue;
    printf("{\"failed_allocations\": %ld, \"bound\": %d}\n", run, bound);
    return 0;
  }
  return 3;
}
#endif

static lb_version read_version(const char* text) {
  lb_version version = {0, 0, 0};
  if (lb_version_parse(text, &version)) exit(64);
  return version;
}

int main(int count, char** arguments) {
  int threads = 0, forks = 0, text = 0, twice = 0, exhausts = 0, sentence = 0;
  lb_version second = {0, 0, 0};
  int second_size = -1;
  const char* reset_to = NULL;
  lb_report report = {0};
  report.size = sizeof report;
  arguments = port_arguments(count, arguments);
  options.size = sizeof options;
  options.directories = directories;
  for (int i = 1; i < count; i++) {
    const char* name = arguments[i];
    if (!strcmp(name, "--no-system"))
      options.flags |= LB_FLAG_NO_SYSTEM;
    else if (!strcmp(name, "--no-loaded"))
      options.flags |= LB_FLAG_NO_LOADED;
    else if (!strcmp(name, "--fork"))
      forks = 1;
    else if (!strcmp(name, "--text"))
      text = 1;
    else if (!strcmp(name, "--message"))
      sentence = 1;
    else if (!strcmp(name, "--twice"))
      twice = 1;
#ifdef LB_TEST_ALLOCATIONS
    else if (!strcmp(name, "--exhaust"))
      exhausts = 1;
#endif
    else if (i + 1 >= count)
      return 64;
    else if (!strcmp(name, "--path"))
      options.path = arguments[++i];
    else if (!strcmp(name, "--advice"))
      options.advice = arguments[++i];
    else if (!strcmp(name, "--dir") && options.directory_count < MAX_DIRECTORIES)
      directories[options.directory_count++] = arguments[++i];
    else if (!strcmp(name, "--reset-to"))
      reset_to = arguments[++i];
    else if (!strcmp(name, "--minimum"))
      options.minimum = read_version(arguments[++i]);
    else if (!strcmp(name, "--second-minimum"))
      second = read_version(arguments[++i]);
    else if (!strcmp(name, "--second-options-size"))
      second_size = atoi(arguments[++i]);
    else if (!strcmp(name, "--options-size"))
      options.size = (uint32_t)atoi(arguments[++i]);
    else if (!strcmp(name, "--flags"))
      options.flags = (uint32_t)strtoul(arguments[++i], NULL, 10);
    else if (!strcmp(name, "--options-tail")) {
      memset(longer.tail, atoi(arguments[++i]), sizeof longer.tail);
      options.size = sizeof longer;
    } else if (!strcmp(name, "--report-size"))
      report.size = (uint32_t)atoi(arguments[++i]);
    else if (!strcmp(name, "--threads"))
      threads = atoi(arguments[++i]);
    else if (!strcmp(name, "--add-folder")) {
      if (!port_add_folder(arguments[++i])) return 65;
    } else if (!strcmp(name, "--preload")) {
      if (!port_preload(arguments[++i])) return 65;
    } else
      return 64;
  }
#ifdef LB_TEST_ALLOCATIONS
  if (exhausts) return exhaust();
#endif
  (void)exhausts;
  int extra = threads ? bind_in_threads(threads) : forks ? fork_while_binding() : 0;
  int outcome = lb_bind(&binding, &lb_onnxruntime, &options, &report);
  if (reset_to) {
    lb_reset(&binding);
    if (lb_entry(&binding)) return 66;
    options.path = reset_to;
    outcome = lb_bind(&binding, &lb_onnxruntime, &options, &report);
  }
  if (second.major) options.minimum = second;
  if (second_size >= 0) options.size = (uint32_t)second_size;
  if (twice || second.major || second_size >= 0) outcome = lb_bind(&binding, &lb_onnxruntime, &options, &report);
  if (sentence) {
    printf("%s: %s\n", lb_outcome_name((lb_outcome)outcome), report.message);
  } else if (text) {
    fputs(lb_report_text(&report), stdout);
  } else {
    print_result(outcome, &report, extra);
  }
  lb_report_clear(&report);
  return 0;
}
