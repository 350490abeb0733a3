/*
 * sharing.c: 64 threads run one model, each in a context of its own, and pass values on: who holds one last is not
 * known. With the backend of plain_backend.c, so that a thread sanitizer sees all of it. Argument: the backend's file.
 * Prints "all well" or what went wrong.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "barrier.h"
#include "latenn.h"

enum { THREADS = 64, ROUNDS = 20, WIDTH = 4 };

typedef struct job {
  pthread_t thread;
  int number;
  latenn_value* given; /* to the next thread */
  char trouble[300];
} job;

static const latenn_device cpu = {LATENN_CPU, 0};
static const int64_t shape[] = {WIDTH};
static port_barrier barrier;
static latenn_model* model;
static latenn_value* common; /* every thread holds it once, and leaves it */
static job jobs[THREADS];
static int released;

static void count(void* owner) {
  (void)owner;
  released++; /* by the last holder alone */
}

static int failed(job* it, latenn_status* status) {
  if (!status) return 0;
  snprintf(it->trouble, sizeof it->trouble, "thread %d: %s", it->number, latenn_status_message(status));
  latenn_status_release(status);
  return 1;
}

static void once(job* it, latenn_context* context) {
  latenn_value* state = NULL;
  latenn_value* next = NULL;
  if (!failed(it, latenn_value_create(model, LATENN_FLOAT32, 1, shape, cpu, &state))) {
    float* numbers = latenn_value_tensor(state)->data;
    for (int i = 0; i < WIDTH; i++) numbers[i] = (float)it->number;
    if (!failed(it, latenn_bind_input(context, 0, state)) && !failed(it, latenn_compute(context)) &&
        !failed(it, latenn_take_output(context, 0, &next))) {
      float first = *(const float*)latenn_value_tensor(next)->data;
      if (first != (float)it->number + 0.5f) snprintf(it->trouble, sizeof it->trouble, "wrong: %g", (double)first);
    }
  }
  latenn_value_release(state);
  it->given = next;
  port_barrier_wait(&barrier);
  latenn_value* others = jobs[(it->number + 1) % THREADS].given;
  latenn_value_hold(others);
  port_barrier_wait(&barrier);
  latenn_value_release(next);
  latenn_value_release(others);
}

static void* work(void* argument) {
  job* it = argument;
  latenn_context* context = NULL;
  port_barrier_wait(&barrier);
  int bad = failed(it, latenn_context_create(model, &context));
  for (int round = 0; round < ROUNDS && !bad; round++) once(it, context);
  latenn_context_release(context);
  latenn_value_release(common);
  return NULL;
}

int main(int argument_count, char** arguments) {
  static float numbers[WIDTH];
  latenn_load_options options = {0};
  latenn_tensor tensor = {LATENN_FLOAT32, 1, shape, numbers, sizeof numbers, NULL};
  if (argument_count != 2) return 64;
  options.size = sizeof options;
  options.backend = arguments[1];
  job* first = &jobs[0];
  if (failed(first, latenn_load_bytes("plain", 5, &options, &model)) ||
      failed(first, latenn_value_wrap(model, &tensor, cpu, count, NULL, &common))) {
    puts(first->trouble);
    return 1;
  }
  port_barrier_init(&barrier, THREADS);
  for (int i = 0; i < THREADS; i++) {
    jobs[i].number = i;
    latenn_value_hold(common);
    if (pthread_create(&jobs[i].thread, NULL, work, &jobs[i])) return 65;
  }
  latenn_value_release(common);
  const char* trouble = "";
  for (int i = 0; i < THREADS; i++) {
    pthread_join(jobs[i].thread, NULL);
    if (*jobs[i].trouble) trouble = jobs[i].trouble;
  }
  port_barrier_destroy(&barrier);
  latenn_model_release(model);
  if (released != 1) trouble = "the common value was not released once";
  puts(*trouble ? trouble : "all well");
  return *trouble != 0;
}
