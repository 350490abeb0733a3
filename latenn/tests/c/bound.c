/*
 * bound.c: bound values: what they keep alive, what is written where, and what a step of a loop allocates. The model
 * has an input "state" and the outputs "next" = state + 0.5 and "count" (int64, as many rows as state has non-zeros).
 * Arguments: the model, the folders of runtime and backend, the backend's name or "-". Prints what failed.
 */
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capsule.h"
#include "dlpack.h"
#include "latenn.h"
#include "port.h"

static int failures;
static latenn_load_options options;
static const char* model_path;
static int native; /* the backend binds by itself; else the core copies */

static void check(int holds, const char* what, int line) {
  if (holds) return;
  failures++;
  printf("bound.c:%d: %s\n", line, what);
}
#define CHECK(holds) check((holds) != 0, #holds, __LINE__)

/* Checks that a status is of a code and says something; an empty text is success. */
static void check_says(latenn_status* status, latenn_code code, const char* says, int line) {
  const char* message = latenn_status_message(status);
  if (latenn_status_code(status) != code || !strstr(message, says)) {
    failures++;
    printf("bound.c:%d: code %d: %s\n", line, (int)latenn_status_code(status), message);
  }
  latenn_status_release(status);
}
#define SAYS(call, code, says) check_says((call), (code), (says), __LINE__)
#define OK(call)               check_says((call), LATENN_OK, "", __LINE__)

enum { STATE, NEXT = 0, COUNT = 1, WIDTH = 4 };
static const latenn_device cpu = {LATENN_CPU, 0};
static const latenn_device cuda = {LATENN_CUDA, 0};
static const int64_t shape[] = {WIDTH};

typedef struct memory {
  float numbers[WIDTH];
  int released;
} memory;

static void release(void* owner) {
  ((memory*)owner)->released++;
}

static latenn_tensor floats(float* numbers, const int64_t* its_shape) {
  latenn_tensor tensor = {LATENN_FLOAT32, 1, its_shape, numbers, (size_t)its_shape[0] * sizeof(float), NULL};
  return tensor;
}

static latenn_model* load(void) {
  latenn_model* model = NULL;
  OK(latenn_load_path(model_path, &options, &model));
  if (!model) exit(1);
  return model;
}

static latenn_context* begin(latenn_model* model) {
  latenn_context* context = NULL;
  OK(latenn_context_create(model, &context));
  if (!context) exit(1);
  return context;
}

static latenn_value* wrap(latenn_model* model, memory* memory) {
  latenn_value* value = NULL;
  latenn_tensor tensor = floats(memory->numbers, shape);
  OK(latenn_value_wrap(model, &tensor, cpu, release, memory, &value));
  return value;
}

/* ---- allocations ------------------------------------------------------------------------------------------------ */

#if defined(__has_feature) /* clang's way to say it */
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define COUNTS_ALLOCATIONS 1
#include <dlfcn.h>

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);

static int counting;
static int ours;   /* asked for by a library of latenn */
static int others; /* by anything else: the runtime */

static void count_call(void* caller) {
  Dl_info info;
  if (!counting) return;
  counting = 0;
  if (dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "latenn_")) {
    ours++;
  } else {
    others++;
  }
  counting = 1;
}

void* malloc(size_t size) {
  count_call(__builtin_return_address(0));
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  count_call(__builtin_return_address(0));
  return __libc_calloc(count, size);
}

void* realloc(void* old, size_t size) {
  count_call(__builtin_return_address(0));
  return __libc_realloc(old, size);
}
#endif

/* One step of a loop: what came out goes in, and the old input's memory takes what comes next. */
static void step(latenn_context* context, latenn_value** from, latenn_value** to) {
  latenn_value* old = *from;
  OK(latenn_bind_input(context, STATE, *from));
  OK(latenn_bind_output(context, NEXT, *to));
  OK(latenn_compute(context));
  *from = *to;
  *to = old;
}

static void test_a_loop_copies_and_allocates_nothing(void) {
  enum { STEPS = 1000 };
  memory first = {{0, 1, 2, 3}, 0};
  memory second = {{0}, 0};
  latenn_model* model = load();
  latenn_context* context = begin(model);
  latenn_value* from = wrap(model, &first);
  latenn_value* to = wrap(model, &second);
  latenn_tensor count = {0};
  for (int i = 0; i < 10; i++) step(context, &from, &to);
#ifdef COUNTS_ALLOCATIONS
  counting = 1;
#endif
  for (int i = 0; i < STEPS; i++) step(context, &from, &to);
#ifdef COUNTS_ALLOCATIONS
  counting = 0;
  CHECK(ours == 0);
  CHECK(others > 0 || !native); /* the control: the hook sees the runtime's */
  counting = 1;
  OK(latenn_get_output(context, COUNT, &count));
  counting = 0;
  CHECK(ours > 0 || !native); /* and ours, where there are some */
#else
  OK(latenn_get_output(context, COUNT, &count));
#endif
  CHECK(latenn_value_tensor(from)->data == first.numbers); /* an even number of steps: the same memory again */
  CHECK(first.numbers[3] == 3 + (10 + STEPS) * 0.5f);
  CHECK(second.numbers[3] == 3 + (9 + STEPS) * 0.5f);
  latenn_context_release(context);
  latenn_model_release(model);
  CHECK(!first.released && !second.released);
  latenn_value_release(from);
  latenn_value_release(to);
  CHECK(first.released == 1 && second.released == 1);
}

/* ---- lives ------------------------------------------------------------------------------------------------------ */

static void test_a_value_outlives_context_and_model(void) {
  memory given = {{1, 0, 3, 0}, 0};
  latenn_model* model = load();
  latenn_context* context = begin(model);
  latenn_value* in = wrap(model, &given);
  latenn_value *next = NULL, *count = NULL, *again = NULL;
  latenn_tensor view = {0};
  OK(latenn_bind_input(context, STATE, in));
  latenn_value_release(in);
  SAYS(latenn_take_output(context, NEXT, &next), LATENN_INVALID_ARGUMENT, "has not succeeded yet");
  OK(latenn_compute(context));
  OK(latenn_get_output(context, NEXT, &view));
  OK(latenn_take_output(context, NEXT, &next));
  OK(latenn_take_output(context, COUNT, &count));
  SAYS(latenn_take_output(context, NEXT, &again), LATENN_INVALID_ARGUMENT, "\"next\" is not here: it was taken");
  CHECK(again == NULL);
  SAYS(latenn_take_output(context, 9, &again), LATENN_INVALID_ARGUMENT, "There is no output 9");
  CHECK(!given.released);
  OK(latenn_compute(context)); /* still bound; the values that were taken stay as they are */
  OK(latenn_bind_input(context, STATE, NULL));
  CHECK(given.released == 1);
  SAYS(latenn_compute(context), LATENN_INVALID_ARGUMENT, "Input \"state\" was not set");
  latenn_context_release(context);
  latenn_model_release(model);
  latenn_value_hold(next);
  latenn_value_release(next);
  const latenn_tensor* tensor = latenn_value_tensor(next);
  CHECK(tensor->rank == 1 && tensor->shape[0] == WIDTH && ((float*)tensor->data)[2] == 3.5f);
  CHECK(!native || (view.data == tensor->data && view.shape == tensor->shape)); /* no copy */
  CHECK(latenn_value_device(next).type == LATENN_CPU);
  CHECK(latenn_value_tensor(count)->type == LATENN_INT64 && latenn_value_tensor(count)->shape[0] == 2);
  latenn_value_release(next);
  latenn_value_release(count);
}

static void test_an_output_of_one_model_is_the_input_of_another(void) {
  memory given = {{1, 2, 3, 4}, 0};
  latenn_model* one = load();
  latenn_model* two = load();
  latenn_context* first = begin(one);
  latenn_context* second = begin(two);
  latenn_value* in = wrap(two, &given);
  latenn_value *between = NULL, *out = NULL;
  OK(latenn_value_create(one, LATENN_FLOAT32, 1, shape, cpu, &between));
  OK(latenn_bind_input(first, STATE, in));
  OK(latenn_bind_output(first, NEXT, between));
  OK(latenn_bind_input(second, STATE, between));
  OK(latenn_compute(first));
  latenn_context_release(first);
  latenn_model_release(one);
  latenn_value_release(between);
  OK(latenn_compute(second));
  OK(latenn_take_output(second, NEXT, &out));
  latenn_context_release(second);
  latenn_model_release(two);
  latenn_value_release(in);
  CHECK(given.released == 1);
  CHECK(((float*)latenn_value_tensor(out)->data)[0] == 2);
  latenn_value_release(out);
}

/* ---- places ----------------------------------------------------------------------------------------------------- */

static void test_outputs_are_written_where_they_are_bound(void) {
  memory given = {{1, 2, 3, 4}, 0};
  memory place = {{0}, 0};
  int64_t rows[WIDTH + 1] = {0};
  const int64_t few[] = {2, 1};
  const int64_t all[] = {4, 1};
  latenn_model* model = load();
  latenn_context* context = begin(model);
  latenn_value *in = wrap(model, &given), *out = wrap(model, &place), *wrong = NULL, *same = NULL;
  latenn_tensor tensor = {LATENN_INT64, 2, few, rows, 2 * sizeof *rows, NULL};
  OK(latenn_bind_input(context, STATE, in));
  OK(latenn_bind_output(context, NEXT, out));
  OK(latenn_value_wrap(model, &tensor, cpu, NULL, NULL, &wrong));
  SAYS(latenn_bind_output(context, NEXT, wrong), LATENN_INVALID_ARGUMENT,
       "output \"next\" takes float32; it was given int64");
  OK(latenn_bind_output(context, COUNT, wrong));
  latenn_status* status = latenn_compute(context); /* four rows do not fit into two */
  CHECK(latenn_status_code(status) == LATENN_INVALID_ARGUMENT || latenn_status_code(status) == LATENN_COMPUTE_FAILED);
  latenn_status_release(status);
  CHECK(rows[2] == 0 && rows[3] == 0);
  latenn_value_release(wrong);
  tensor.shape = all;
  tensor.bytes = 4 * sizeof *rows;
  OK(latenn_value_wrap(model, &tensor, cpu, NULL, NULL, &wrong));
  OK(latenn_bind_output(context, COUNT, wrong));
  OK(latenn_compute(context));
  CHECK(place.numbers[0] == 1.5f && place.numbers[3] == 4.5f);
  CHECK(rows[1] == 1 && rows[3] == 3 && rows[4] == 0);
  OK(latenn_get_output(context, NEXT, &tensor));
  CHECK(tensor.data == place.numbers);
  OK(latenn_take_output(context, NEXT, &same));
  CHECK(same == out);
  OK(latenn_bind_output(context, NEXT, NULL));
  SAYS(latenn_get_output(context, NEXT, &tensor), LATENN_INVALID_ARGUMENT, "taken or bound anew");
  OK(latenn_get_output(context, COUNT, &tensor));
  place.numbers[0] = 0;
  OK(latenn_compute(context));
  CHECK(place.numbers[0] == 0);
  latenn_value_release(in);
  latenn_value_release(out);
  latenn_value_release(same);
  latenn_value_release(wrong);
  latenn_context_release(context);
  latenn_model_release(model);
  CHECK(place.released == 1 && given.released == 1);
}

static void test_outputs_left_on_a_device(void) {
  memory given = {{1, 0, 3, 4}, 0};
  latenn_model* model = load();
  latenn_context* context = begin(model);
  latenn_value *in = wrap(model, &given), *count = NULL, *next = NULL;
  OK(latenn_bind_input(context, STATE, in));
  OK(latenn_bind_output(context, NEXT, in)); /* in place: this model's operators allow it */
  OK(latenn_bind_output_device(context, COUNT, cpu));
  for (int i = 0; i < 3; i++) {
    OK(latenn_compute(context));
    OK(latenn_take_output(context, COUNT, &count));
    CHECK(latenn_value_tensor(count)->shape[0] == (i ? 4 : 3));
    latenn_value_release(count);
  }
  CHECK(given.numbers[1] == 1.5f);
  OK(latenn_bind_output_device(context, NEXT, cpu));
  OK(latenn_compute(context));
  OK(latenn_take_output(context, NEXT, &next));
  CHECK(((float*)latenn_value_tensor(next)->data)[1] == 2.0f && given.numbers[1] == 1.5f);
  latenn_value_release(next);
  OK(latenn_bind_output(context, NEXT, in));
  SAYS(latenn_bind_output_device(context, NEXT, cuda), LATENN_UNSUPPORTED, "device");
  SAYS(latenn_bind_output_device(context, 5, cpu), LATENN_INVALID_ARGUMENT, "There is no output 5");
  SAYS(latenn_bind_output_device(NULL, 0, cpu), LATENN_INVALID_ARGUMENT, "NULL");
  OK(latenn_compute(context));
  CHECK(given.numbers[1] == 2.0f); /* what was refused changed nothing */
  latenn_value_release(in);
  latenn_context_release(context);
  latenn_model_release(model);
}

/* ---- DLPack ----------------------------------------------------------------------------------------------------- */

static int is_valid(void* capsule, const char* name) {
  return strcmp(capsule ? "dltensor_versioned" : "", name) == 0;
}

static void* get_pointer(void* capsule, const char* name) {
  (void)name;
  return capsule; /* here a capsule is what it holds */
}

static void count_deletion(struct dlpack_managed* self) {
  ++*(int*)self->context;
}

static void test_a_dlpack_tensor_holds_its_value(void) {
  memory given = {{1, 2, 3, 4}, 0};
  latenn_model* model = load();
  latenn_value* value = wrap(model, &given);
  void *older = NULL, *newer = NULL;
  OK(latenn_value_to_dlpack(value, 0, &older));
  OK(latenn_value_to_dlpack(value, 1, &newer));
  SAYS(latenn_value_to_dlpack(NULL, 1, &newer), LATENN_INVALID_ARGUMENT, "NULL");
  latenn_value_release(value);
  latenn_model_release(model);
  dlpack_managed* plain = older;
  dlpack_versioned* versioned = newer;
  CHECK(plain->tensor.data == given.numbers && plain->tensor.ndim == 1 && plain->tensor.shape[0] == WIDTH);
  CHECK(plain->tensor.strides[0] == 1 && plain->tensor.device.type == LATENN_CPU && plain->tensor.type.bits == 32);
  CHECK(versioned->major == 1 && versioned->flags == 0 && versioned->tensor.data == given.numbers);
  plain->deleter(plain);
  CHECK(!given.released);
  latenn_capsule_discard(versioned); /* Python has not begun: nothing is called */
  CHECK(!given.released);
  latenn_python_begin(is_valid, get_pointer);
  latenn_capsule_discard(versioned);
  CHECK(given.released == 1);
}

/* No stride is beyond int64_t, which only a sanitizer sees. ONNX Runtime refuses such shapes. */
static void test_dlpack_tensors_may_be_empty_and_huge(void) {
  if (native) return;
  int64_t nothing[] = {0, 3, INT64_MAX};
  int64_t huge[] = {3, INT64_MAX / 2};
  int64_t strides[] = {INT64_MAX / 2, 1};
  float number = 0;
  latenn_model* model = load();
  latenn_value* value = NULL;
  void* managed = NULL;
  latenn_tensor tensor = {LATENN_FLOAT32, 3, nothing, &number, 0, NULL};
  OK(latenn_value_wrap(model, &tensor, cpu, NULL, NULL, &value));
  OK(latenn_value_to_dlpack(value, 1, &managed));
  dlpack_versioned* lent = managed;
  CHECK(lent->tensor.shape[2] == INT64_MAX && lent->tensor.strides[2] == 1 && lent->tensor.strides[0] > 0);
  lent->deleter(lent);
  latenn_value_release(value);
  dlpack_managed given = {{&number, {LATENN_CPU, 0}, 2, {1, 4, 1}, huge, strides, 0}, NULL, NULL};
  OK(latenn_value_from_dlpack(model, &given, 0, &value));
  latenn_value_release(value);
  latenn_model_release(model);
}

static void test_a_dlpack_tensor_becomes_a_value(void) {
  float numbers[2 * WIDTH] = {0};
  int64_t sizes[] = {WIDTH, 2};
  int64_t strides[] = {1, 1};
  int deleted = 0;
  latenn_model* model = load();
  latenn_context* context = begin(model);
  latenn_value* value = NULL;
  dlpack_managed given = {
      {numbers, {LATENN_CPU, 0}, 1, {2, 32, 1}, sizes, strides, sizeof(float)}, &deleted, count_deletion};
  OK(latenn_value_from_dlpack(model, &given, 0, &value));
  CHECK(latenn_value_tensor(value)->data == numbers + 1 && latenn_value_read_only(value));
  OK(latenn_bind_input(context, STATE, value));
  SAYS(latenn_bind_output(context, NEXT, value), LATENN_INVALID_ARGUMENT, "lent for reading alone");
  OK(latenn_compute(context));
  latenn_value_release(value);
  latenn_context_release(context);
  CHECK(deleted == 1);
  given.tensor.byte_offset = 0;
  strides[0] = 2;
  SAYS(latenn_value_from_dlpack(model, &given, 0, &value), LATENN_INVALID_ARGUMENT, "not C-contiguous");
  given.tensor.ndim = 2;
  strides[0] = 1;
  strides[1] = WIDTH; /* as Fortran has it */
  SAYS(latenn_value_from_dlpack(model, &given, 0, &value), LATENN_INVALID_ARGUMENT, "not C-contiguous");
  given.tensor.strides = NULL;
  sizes[1] = INT64_MAX;
  SAYS(latenn_value_from_dlpack(model, &given, 0, &value), LATENN_INVALID_ARGUMENT, "shape that cannot be");
  sizes[1] = 2;
  given.tensor.type.lanes = 4;
  SAYS(latenn_value_from_dlpack(model, &given, 0, &value), LATENN_INVALID_ARGUMENT, "4 lanes, which are none");
  dlpack_versioned future = {2, 0, NULL, NULL, 0, given.tensor};
  SAYS(latenn_value_from_dlpack(model, &future, 1, &value), LATENN_UNSUPPORTED, "DLPack 2; latenn knows version 1");
  SAYS(latenn_value_from_dlpack(NULL, &given, 0, &value), LATENN_INVALID_ARGUMENT, "NULL");
  CHECK(deleted == 1); /* what is refused stays the caller's */
  latenn_model_release(model);
}

/* ---- mistakes --------------------------------------------------------------------------------------------------- */

static void test_mistakes_are_told(void) {
  memory given = {{1, 2, 3, 4}, 0};
  float odd[WIDTH + 1] = {0};
  const int64_t three[] = {3};
  const int64_t negative[] = {-1};
  const int64_t huge[] = {INT64_MAX, 8};
  latenn_model* model = load();
  latenn_context* context = begin(model);
  latenn_value *in = wrap(model, &given), *value = NULL, *nothing = NULL;
  latenn_tensor tensor = floats(odd, three);
  SAYS(latenn_value_wrap(NULL, &tensor, cpu, NULL, NULL, &value), LATENN_INVALID_ARGUMENT, "NULL");
  tensor.data = (char*)odd + 1;
  SAYS(latenn_value_wrap(model, &tensor, cpu, NULL, NULL, &value), LATENN_INVALID_ARGUMENT, "not a multiple of 4");
  tensor.data = NULL;
  SAYS(latenn_value_wrap(model, &tensor, cpu, NULL, NULL, &value), LATENN_INVALID_ARGUMENT, "data is NULL");
  tensor.data = odd;
  tensor.bytes = 8;
  SAYS(latenn_value_wrap(model, &tensor, cpu, NULL, NULL, &value), LATENN_INVALID_ARGUMENT, "is 12 bytes; 8 were");
  tensor.type = LATENN_STRING;
  SAYS(latenn_value_wrap(model, &tensor, cpu, NULL, NULL, &value), LATENN_UNSUPPORTED, "Strings cannot be bound");
  tensor.type = 99;
  SAYS(latenn_value_wrap(model, &tensor, cpu, NULL, NULL, &value), LATENN_INVALID_ARGUMENT, "element type");
  SAYS(latenn_value_create(model, LATENN_FLOAT32, 1, negative, cpu, &value), LATENN_INVALID_ARGUMENT, "negative");
  SAYS(latenn_value_create(model, LATENN_FLOAT32, 2, huge, cpu, &value), LATENN_INVALID_ARGUMENT, "does not fit");
  SAYS(latenn_value_create(model, LATENN_FLOAT32, 1, NULL, cpu, &value), LATENN_INVALID_ARGUMENT, "no shape");
  SAYS(latenn_value_create(model, LATENN_STRING, 1, three, cpu, &value), LATENN_UNSUPPORTED, "Strings");
  latenn_status* status = latenn_value_create(model, LATENN_FLOAT32, 1, three, cuda, &value);
  CHECK(status != NULL); /* this machine's runtime has no such memory */
  latenn_status_release(status);
  CHECK(value == NULL);
  tensor = floats(odd, three);
  OK(latenn_value_wrap(model, &tensor, cpu, NULL, NULL, &value));
  SAYS(latenn_bind_input(context, STATE, value), LATENN_INVALID_ARGUMENT,
       "input \"state\" takes shape [4]; it was given [3]");
  SAYS(latenn_bind_input(context, 7, value), LATENN_INVALID_ARGUMENT, "There is no input 7");
  SAYS(latenn_bind_input(NULL, 0, value), LATENN_INVALID_ARGUMENT, "context is NULL");
  SAYS(latenn_bind_output(NULL, 0, value), LATENN_INVALID_ARGUMENT, "context is NULL");
  SAYS(latenn_take_output(NULL, 0, &nothing), LATENN_INVALID_ARGUMENT, "NULL");
  OK(latenn_bind_input(context, STATE, in));
  tensor = floats(given.numbers, shape);
  SAYS(latenn_set_input(context, STATE, &tensor), LATENN_INVALID_ARGUMENT, "\"state\" is bound to a value");
  OK(latenn_bind_input(context, STATE, NULL));
  OK(latenn_set_input(context, STATE, &tensor));
  OK(latenn_compute(context));
  latenn_value_release(NULL);
  latenn_value_hold(NULL);
  CHECK(latenn_value_tensor(NULL) == NULL && latenn_value_device(NULL).type == 0);
  latenn_value_release(value);
  latenn_value_release(in);
  latenn_context_release(context);
  latenn_model_release(model);
}

int main(int count, char** arguments) {
  if (count != 5) return 64;
  arguments = port_arguments(count, arguments);
  const char* runtimes[] = {arguments[2]};
  const char* backends[] = {arguments[3]};
  model_path = arguments[1];
  options.size = sizeof options;
  options.runtime_directories = runtimes;
  options.runtime_directory_count = 1;
  options.backend_directories = backends;
  options.backend_directory_count = 1;
  native = strcmp(arguments[4], "-") == 0;
  if (!native) options.backend = arguments[4];
  test_a_loop_copies_and_allocates_nothing();
  test_a_value_outlives_context_and_model();
  test_an_output_of_one_model_is_the_input_of_another();
  test_outputs_are_written_where_they_are_bound();
  test_outputs_left_on_a_device();
  test_a_dlpack_tensor_holds_its_value();
  test_dlpack_tensors_may_be_empty_and_huge();
  test_a_dlpack_tensor_becomes_a_value();
  test_mistakes_are_told();
  if (!failures) puts("all well");
  return 0;
}
