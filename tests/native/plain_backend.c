/*
 * plain_backend.c: a backend of the interface's first version (synthetic): its table ends before values. It computes
 * what the model of bound.c does: "next" = "state" + 0.5, and "count", a row for each that is not zero.
 */
#include <stdlib.h>
#include <string.h>

#include "latenn_backend.h"

enum { WIDTH = 4 };

struct latenn_backend_model {
  const latenn_host* host;
};

struct latenn_backend_context {
  latenn_tensor given;
  float next[WIDTH];
  int64_t rows[WIDTH];
  int64_t count_shape[2];
};

static const int64_t fixed[] = {WIDTH};
static const int64_t open[] = {-1, 1};
static const char* const unnamed[] = {"", ""};
static const latenn_port state = {"state", LATENN_FLOAT32, 1, fixed, unnamed};
static const latenn_port outputs[] = {{"next", LATENN_FLOAT32, 1, fixed, unnamed},
                                      {"count", LATENN_INT64, 2, open, unnamed}};

static latenn_status* load(const latenn_host* host, const char* path, const void* bytes, size_t size,
                           const latenn_load_options* options, latenn_backend_model** model) {
  (void)path, (void)bytes, (void)size, (void)options;
  *model = calloc(1, sizeof **model);
  if (*model) (*model)->host = host;
  return *model ? NULL : host->status(LATENN_OUT_OF_MEMORY, "memory", NULL);
}

static void release_model(latenn_backend_model* model) {
  free(model);
}

static size_t input_count(const latenn_backend_model* model) {
  (void)model;
  return 1;
}

static size_t output_count(const latenn_backend_model* model) {
  (void)model;
  return 2;
}

static const latenn_port* input(const latenn_backend_model* model, size_t index) {
  (void)model, (void)index;
  return &state;
}

static const latenn_port* output(const latenn_backend_model* model, size_t index) {
  (void)model;
  return &outputs[index];
}

static const char* model_report(const latenn_backend_model* model) {
  (void)model;
  return "{}";
}

static latenn_status* create_context(latenn_backend_model* model, latenn_backend_context** context) {
  *context = calloc(1, sizeof **context);
  return *context ? NULL : model->host->status(LATENN_OUT_OF_MEMORY, "memory", NULL);
}

static void release_context(latenn_backend_context* context) {
  free(context);
}

static latenn_status* set_input(latenn_backend_context* context, size_t index, const latenn_tensor* tensor) {
  (void)index;
  context->given = *tensor;
  return NULL;
}

static latenn_status* compute(latenn_backend_context* context) {
  const float* numbers = context->given.data;
  int64_t count = 0;
  for (int i = 0; i < WIDTH; i++) {
    if (numbers[i] != 0) context->rows[count++] = i;
    context->next[i] = numbers[i] + 0.5f;
  }
  context->count_shape[0] = count;
  context->count_shape[1] = 1;
  return NULL;
}

static latenn_status* get_output(latenn_backend_context* context, size_t index, latenn_tensor* tensor) {
  const latenn_tensor next = {LATENN_FLOAT32, 1, fixed, context->next, sizeof context->next, NULL};
  const size_t bytes = (size_t)context->count_shape[0] * sizeof *context->rows;
  const latenn_tensor count = {LATENN_INT64, 2, context->count_shape, context->rows, bytes, NULL};
  *tensor = index ? count : next;
  return NULL;
}

static latenn_status* report(const latenn_host* host, const latenn_load_options* options, char** text) {
  (void)host, (void)options, (void)text;
  return NULL;
}

static void free_text(char* text) {
  free(text);
}

static const char* const encodings[] = {"plain", NULL};

static const latenn_backend table = {
    LATENN_BACKEND_SIZE_1,
    LATENN_BACKEND_ABI,
    "plain",
    "0.1.0",
    encodings,
    load,
    release_model,
    input_count,
    output_count,
    input,
    output,
    model_report,
    create_context,
    release_context,
    set_input,
    compute,
    get_output,
    report,
    free_text,
    /* An older library has other things here: nothing of this may be called. */
    (void*)1,
    (void*)1,
    (void*)1,
    (void*)1,
    (void*)1,
    (void*)1,
    (void*)1,
};

LATENN_API const latenn_backend* latenn_backend_table(uint32_t abi);

const latenn_backend* latenn_backend_table(uint32_t abi) {
  return abi == LATENN_BACKEND_ABI ? &table : NULL;
}
