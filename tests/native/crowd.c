/*
 * crowd.c: many threads load, share and run one model at once, from the very first call of the process. The model
 * adds 0.5 to three floats. Prints "all well" or what went wrong first.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "barrier.h"
#include "latenn.h"
#include "port.h"

enum { THREADS = 8, ROUNDS = 50 };

typedef struct job {
  pthread_t thread;
  int number;
  char trouble[300];
} job;

static port_barrier barrier;
static latenn_load_options options;
static const char* model_path;
static latenn_model* shared;

static int failed(job* job, latenn_status* status) {
  if (!status) return 0;
  snprintf(job->trouble, sizeof job->trouble, "thread %d: %s", job->number, latenn_status_message(status));
  latenn_status_release(status);
  return 1;
}

static int run_once(job* job, latenn_context* context, float start) {
  float numbers[3] = {start, start + 1, start + 2};
  const int64_t shape[2] = {1, 3};
  latenn_tensor tensor = {LATENN_FLOAT32, 2, shape, numbers, sizeof numbers, NULL};
  if (failed(job, latenn_set_input(context, 0, &tensor)) || failed(job, latenn_compute(context)) ||
      failed(job, latenn_get_output(context, 0, &tensor))) {
    return 1;
  }
  const float* result = tensor.data;
  if (tensor.bytes == sizeof numbers && result[0] == start + 0.5f && result[2] == start + 2.5f) return 0;
  snprintf(job->trouble, sizeof job->trouble, "thread %d: %g became %g", job->number, (double)start, (double)result[0]);
  return 1;
}

static int run_model(job* job, latenn_model* model) {
  latenn_context* context = NULL;
  int bad = failed(job, latenn_context_create(model, &context));
  for (int round = 0; round < ROUNDS && !bad; round++) bad = run_once(job, context, (float)(job->number * 100 + round));
  latenn_context_release(context);
  return bad;
}

static void* work(void* argument) {
  job* job = argument;
  latenn_model* own = NULL;
  port_barrier_wait(&barrier);
  int bad = failed(job, latenn_load_path(model_path, &options, &own)) || run_model(job, own);
  latenn_model_release(own);
  port_barrier_wait(&barrier);
  if (job->number == 0 && !bad) failed(job, latenn_load_path(model_path, &options, &shared));
  port_barrier_wait(&barrier);
  if (shared && !bad) run_model(job, shared);
  return NULL;
}

int main(int count, char** arguments) {
  job jobs[THREADS];
  if (count != 4) return 64;
  arguments = port_arguments(count, arguments);
  model_path = arguments[1];
  const char* runtimes[] = {arguments[2]};
  const char* backends[] = {arguments[3]};
  options.size = sizeof options;
  options.runtime_directories = runtimes;
  options.runtime_directory_count = 1;
  options.backend_directories = backends;
  options.backend_directory_count = 1;
  memset(jobs, 0, sizeof jobs);
  port_barrier_init(&barrier, THREADS);
  for (int i = 0; i < THREADS; i++) {
    jobs[i].number = i;
    if (pthread_create(&jobs[i].thread, NULL, work, &jobs[i])) return 70;
  }
  for (int i = 0; i < THREADS; i++) pthread_join(jobs[i].thread, NULL);
  latenn_model_release(shared);
  for (int i = 0; i < THREADS; i++) {
    if (!*jobs[i].trouble) continue;
    puts(jobs[i].trouble);
    return 0;
  }
  puts(shared ? "all well" : "no shared model");
  return 0;
}
