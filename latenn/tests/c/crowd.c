/*
 * crowd.c: many threads at one model. With the folders of runtime and backend they load, share and run it, from the
 * very first call of the process; it adds 0.5 to three floats. With the file of the plain backend, so that a thread
 * sanitizer sees all of it, each has a context of its own, and they pass values on: who holds one last is not known.
 * Arguments: MODEL RUNTIMES BACKENDS, or BACKEND. Prints "all well" or what went wrong first.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "barrier.h"
#include "latenn.h"
#include "port.h"

enum { LOADERS = 8, LOADED_ROUNDS = 50, SHARERS = 64, SHARED_ROUNDS = 20, WIDTH = 4 };

typedef struct job {
  pthread_t thread;
  int number;
  latenn_value* given; /* to the next thread */
  char trouble[300];
} job;

static job jobs[SHARERS];
static port_barrier barrier;
static latenn_load_options options;
static const char* model_path;
static latenn_model* shared;
static latenn_value* common; /* every thread holds it once, and leaves it */
static int released;
static const latenn_device cpu = {LATENN_CPU, 0};
static const int64_t row[] = {1, 3};
static const int64_t state_shape[] = {WIDTH};

static int failed(job* it, latenn_status* status) {
  if (!status) return 0;
  snprintf(it->trouble, sizeof it->trouble, "thread %d: %s", it->number, latenn_status_message(status));
  latenn_status_release(status);
  return 1;
}

static int is_wrong(job* it, float given, float result) {
  if (result == given + 0.5f) return 0;
  snprintf(it->trouble, sizeof it->trouble, "thread %d: %g became %g", it->number, (double)given, (double)result);
  return 1;
}

/* ---- threads that load ------------------------------------------------------------------------------------------ */

static int run_once(job* it, latenn_context* context, float start) {
  float numbers[3] = {start, start + 1, start + 2};
  latenn_tensor tensor = {LATENN_FLOAT32, 2, row, numbers, sizeof numbers, NULL};
  if (failed(it, latenn_set_input(context, 0, &tensor)) || failed(it, latenn_compute(context)) ||
      failed(it, latenn_get_output(context, 0, &tensor))) {
    return 1;
  }
  const float* result = tensor.data;
  return is_wrong(it, numbers[0], result[0]) || is_wrong(it, numbers[2], result[2]);
}

static int run_model(job* it, latenn_model* model) {
  latenn_context* context = NULL;
  int bad = failed(it, latenn_context_create(model, &context));
  for (int i = 0; i < LOADED_ROUNDS && !bad; i++) bad = run_once(it, context, (float)(it->number * 100 + i));
  latenn_context_release(context);
  return bad;
}

static void* load_and_run(void* argument) {
  job* it = argument;
  latenn_model* own = NULL;
  port_barrier_wait(&barrier);
  int bad = failed(it, latenn_load_path(model_path, &options, &own)) || run_model(it, own);
  latenn_model_release(own);
  port_barrier_wait(&barrier);
  if (it->number == 0 && !bad) failed(it, latenn_load_path(model_path, &options, &shared));
  port_barrier_wait(&barrier);
  if (shared && !bad) run_model(it, shared);
  return NULL;
}

/* ---- threads that share values ---------------------------------------------------------------------------------- */

static void count(void* owner) {
  (void)owner;
  released++; /* by the last holder alone */
}

static void pass_on(job* it, latenn_context* context) {
  latenn_value* state = NULL;
  latenn_value* next = NULL;
  if (!failed(it, latenn_value_create(shared, LATENN_FLOAT32, 1, state_shape, cpu, &state))) {
    float* numbers = latenn_value_tensor(state)->data;
    for (int i = 0; i < WIDTH; i++) numbers[i] = (float)it->number;
    if (!failed(it, latenn_bind_input(context, 0, state)) && !failed(it, latenn_compute(context)) &&
        !failed(it, latenn_take_output(context, 0, &next))) {
      is_wrong(it, (float)it->number, *(const float*)latenn_value_tensor(next)->data);
    }
  }
  latenn_value_release(state);
  it->given = next;
  port_barrier_wait(&barrier);
  latenn_value* others = jobs[(it->number + 1) % SHARERS].given;
  latenn_value_hold(others);
  port_barrier_wait(&barrier);
  latenn_value_release(next);
  latenn_value_release(others);
}

static void* share(void* argument) {
  job* it = argument;
  latenn_context* context = NULL;
  port_barrier_wait(&barrier);
  int bad = failed(it, latenn_context_create(shared, &context));
  for (int i = 0; i < SHARED_ROUNDS && !bad; i++) pass_on(it, context);
  latenn_context_release(context);
  latenn_value_release(common);
  return NULL;
}

static int begin_sharing(const char* backend) {
  static float numbers[WIDTH];
  latenn_tensor tensor = {LATENN_FLOAT32, 1, state_shape, numbers, sizeof numbers, NULL};
  options.backend = backend;
  if (failed(&jobs[0], latenn_load_bytes("plain", 5, &options, &shared)) ||
      failed(&jobs[0], latenn_value_wrap(shared, &tensor, cpu, count, NULL, &common))) {
    return 1;
  }
  for (int i = 0; i < SHARERS; i++) latenn_value_hold(common);
  latenn_value_release(common);
  return 0;
}

int main(int argument_count, char** arguments) {
  int loads = argument_count == 4;
  int threads = loads ? LOADERS : SHARERS;
  if (!loads && argument_count != 2) return 64;
  arguments = port_arguments(argument_count, arguments);
  options.size = sizeof options;
  const char* runtimes[] = {loads ? arguments[2] : NULL};
  const char* backends[] = {loads ? arguments[3] : NULL};
  if (loads) {
    model_path = arguments[1];
    options.runtime_directories = runtimes;
    options.backend_directories = backends;
    options.runtime_directory_count = options.backend_directory_count = 1;
  } else if (begin_sharing(arguments[1])) {
    puts(jobs[0].trouble);
    return 0;
  }
  port_barrier_init(&barrier, (unsigned)threads);
  for (int i = 0; i < threads; i++) {
    jobs[i].number = i;
    if (pthread_create(&jobs[i].thread, NULL, loads ? load_and_run : share, &jobs[i])) return 70;
  }
  const char* trouble = "";
  for (int i = 0; i < threads; i++) {
    pthread_join(jobs[i].thread, NULL);
    if (*jobs[i].trouble) trouble = jobs[i].trouble;
  }
  port_barrier_destroy(&barrier);
  if (!shared) trouble = *trouble ? trouble : "no shared model";
  latenn_model_release(shared);
  if (!loads && released != 1) trouble = "the common value was not released once";
  puts(*trouble ? trouble : "all well");
  return 0;
}
