/*
 * faults.c: every allocation of latenn's, or every call of the runtime's table, fails once; whatever fails says so, an
 * allocation with LATENN_OUT_OF_MEMORY, is whole enough to be released, and the next attempt is well. Arguments:
 * "memory" or "calls", the model of bound.c, the runtime's file, the backend's file, how the paths of
 * profiles begin. Prints how many faults there were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlpack.h"
#include "latenn.h"
#include "port.h"

enum { WIDTH = 4, MANY = 5000 };

static int fault_memory;
static int fault_calls;
static int number; /* of the one that fails; 0 is none */
static int passed;

static int is_due(void) {
  return number && ++passed == number;
}

PORT_EXPORT int faulty_call(void);
PORT_EXPORT void* __wrap_malloc(size_t size);
PORT_EXPORT void* __wrap_calloc(size_t count, size_t size);
PORT_EXPORT void* __wrap_realloc(void* old, size_t size);
void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* old, size_t size);

int faulty_call(void) {
  return fault_calls && is_due();
}

void* __wrap_malloc(size_t size) {
  return fault_memory && is_due() ? NULL : __real_malloc(size);
}

void* __wrap_calloc(size_t count, size_t size) {
  return fault_memory && is_due() ? NULL : __real_calloc(count, size);
}

void* __wrap_realloc(void* old, size_t size) {
  return fault_memory && is_due() ? NULL : __real_realloc(old, size);
}

static const latenn_device cpu = {LATENN_CPU, 0};
static const int64_t shape[] = {WIDTH};

typedef struct all {
  latenn_load_options options;
  latenn_model* model;
  latenn_context* context;
  latenn_value* wrapped;
  latenn_value* created;
  latenn_value* places;
  latenn_value* taken[3];
  latenn_run* run;
  void* managed;
  char* report;
  char* metadata;
  char* profile;
  float numbers[WIDTH];
  int wrong;
} all;

static void look(all* it, const latenn_tensor* tensor, float first) {
  if (tensor->bytes != sizeof it->numbers || *(const float*)tensor->data != first) it->wrong = 1;
}

#define STEP(call) \
  if (!status) status = (call)

static latenn_status* load(all* it, const char* path) {
  latenn_tensor tensor = {LATENN_FLOAT32, 1, shape, it->numbers, sizeof it->numbers, NULL};
  latenn_tensor output = {0};
  latenn_status* status = latenn_load_path(path, &it->options, &it->model);
  STEP(latenn_context_create(it->model, &it->context));
  STEP(latenn_set_input(it->context, 0, &tensor));
  STEP(latenn_compute(it->context));
  STEP(latenn_get_output(it->context, 0, &output));
  if (!status) look(it, &output, 1.5f);
  STEP(latenn_get_output(it->context, 1, &output));
  STEP(latenn_take_output(it->context, 1, &it->taken[0]));
  return status;
}

/* The third time the runtime is not set again. */
static latenn_status* repeat(all* it) {
  static const int64_t rows[] = {WIDTH, 1};
  latenn_status* status = latenn_value_create(it->model, LATENN_INT64, 2, rows, cpu, &it->places);
  STEP(latenn_bind_output(it->context, 1, it->places));
  for (int i = 0; i < 3; i++) STEP(latenn_compute(it->context));
  if (!status) look(it, latenn_value_tensor(it->created), 1.5f);
  STEP(latenn_bind_output(it->context, 1, NULL));
  return status;
}

/* With options, and with a place for one output alone. */
static latenn_status* run_with(all* it) {
  static const latenn_option rows[] = {{"output", "next"}, {"tag", "fault"}};
  latenn_status* status = latenn_run_create(it->model, rows, 2, &it->run);
  STEP(latenn_compute_with(it->context, it->run));
  if (!status) look(it, latenn_value_tensor(it->created), 1.5f);
  STEP(latenn_bind_output_device(it->context, 1, cpu));
  STEP(latenn_compute_with(it->context, it->run));
  STEP(latenn_bind_output(it->context, 1, NULL));
  STEP(latenn_model_metadata(it->model, &it->metadata));
  STEP(latenn_model_end_profile(it->model, &it->profile));
  return status;
}

static latenn_status* bind(all* it) {
  latenn_tensor tensor = {LATENN_FLOAT32, 1, shape, it->numbers, sizeof it->numbers, NULL};
  latenn_status* status = latenn_value_wrap(it->model, &tensor, cpu, NULL, NULL, &it->wrapped);
  STEP(latenn_value_create(it->model, LATENN_FLOAT32, 1, shape, cpu, &it->created));
  STEP(latenn_bind_input(it->context, 0, it->wrapped));
  STEP(latenn_bind_output(it->context, 0, it->created));
  STEP(latenn_compute(it->context));
  if (!status) look(it, latenn_value_tensor(it->created), 1.5f);
  STEP(latenn_take_output(it->context, 0, &it->taken[1]));
  STEP(repeat(it));
  STEP(run_with(it));
  STEP(latenn_bind_output_device(it->context, 0, cpu));
  STEP(latenn_compute(it->context));
  STEP(latenn_take_output(it->context, 0, &it->taken[2]));
  if (!status) look(it, latenn_value_tensor(it->taken[2]), 1.5f);
  STEP(latenn_value_to_dlpack(it->taken[2], 1, &it->managed));
  STEP(latenn_runtime_report(&it->options, &it->report));
  return status;
}

static void release(all* it) {
  dlpack_versioned* managed = it->managed;
  if (managed) managed->deleter(managed);
  for (size_t i = 0; i < sizeof it->taken / sizeof *it->taken; i++) latenn_value_release(it->taken[i]);
  latenn_run_release(it->run);
  latenn_value_release(it->places);
  latenn_value_release(it->created);
  latenn_value_release(it->wrapped);
  latenn_context_release(it->context);
  latenn_model_release(it->model);
  latenn_text_release(it->report);
  latenn_text_release(it->metadata);
  latenn_text_release(it->profile);
}

/* Whether it is over: so many faults there are not. */
static int attempt(int which, char** arguments, int* failures) {
  all it = {0};
  const latenn_option rows[] = {{"intra_op_num_threads", "1"}, {"profile", arguments[5]}};
  it.options.size = sizeof it.options;
  it.options.runtime_path = arguments[3];
  it.options.backend = arguments[4];
  it.options.options = rows;
  it.options.option_count = 2;
  for (int i = 0; i < WIDTH; i++) it.numbers[i] = 1;
  number = which;
  passed = 0;
  latenn_status* status = load(&it, arguments[2]);
  STEP(bind(&it));
  int over = passed < number;
  number = 0;
  release(&it);
  int is_told = !status || (latenn_status_code(status) != LATENN_OK && *latenn_status_message(status));
  if (status && fault_memory && latenn_status_code(status) != LATENN_OUT_OF_MEMORY) is_told = 0;
  if (!is_told || it.wrong || (over && status)) {
    printf("fault %d: %d %s%s\n", which, (int)latenn_status_code(status), latenn_status_message(status),
           it.wrong ? " wrong numbers" : "");
    ++*failures;
  }
  latenn_status_release(status);
  return over;
}

int main(int count, char** arguments) {
  int failures = 0;
  int which = 1;
  if (count != 6) return 64;
  fault_memory = strcmp(arguments[1], "memory") == 0;
  fault_calls = !fault_memory;
  while (which < MANY && !attempt(which, arguments, &failures)) which++;
  if (attempt(0, arguments, &failures) || failures) return 1;
  printf("%d\n", which - 1);
  return which == MANY;
}
