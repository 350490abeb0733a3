/*
 * backend.c: a backend of someone else (synthetic), which knows latenn_backend.h and nothing else of latenn. It gives
 * back what it is given; with -DPLAIN it is of the interface's first version, whose table ends before values, and
 * computes what the model of bound.c does. -DNAME is its name; -DABI, -DSIZE and -DLACKS make one that the core must
 * refuse.
 */
#include <stdlib.h>
#include <string.h>

#include "latenn_backend.h"

#ifndef ABI
#define ABI LATENN_BACKEND_ABI
#endif
#ifndef SIZE
#define SIZE sizeof(latenn_backend)
#endif

enum { WIDTH = 4, RANK = 8 };

struct latenn_backend_model {
  const latenn_host* host;
};

/* An input: numbers stay the caller's until the computation ends, shape and strings do not. */
typedef struct copy {
  int64_t shape[RANK];
  void* strings;
} copy;

struct latenn_backend_context {
  latenn_tensor given[3];
  copy copies[3];
  float next[WIDTH];
  int64_t rows[WIDTH];
  int64_t count_shape[2];
};

static const char* const unnamed[] = {"", ""};
#ifdef PLAIN
static const int64_t fixed[] = {WIDTH};
static const int64_t open[] = {-1, 1};
static const latenn_port inputs[] = {{"state", LATENN_FLOAT32, 1, fixed, unnamed}};
static const latenn_port outputs[] = {{"next", LATENN_FLOAT32, 1, fixed, unnamed},
                                      {"count", LATENN_INT64, 2, open, unnamed}};
#else
static const int64_t matrix[] = {-1, 3};
static const char* const batch[] = {"batch", ""};
static const latenn_port inputs[] = {{"numbers", LATENN_FLOAT32, 2, matrix, batch},
                                     {"words", LATENN_STRING, 1, matrix, unnamed},
                                     {"nibbles", LATENN_INT4, -1, NULL, NULL}};
#define outputs inputs
#endif

static latenn_status* load(const latenn_host* host, const char* path, const void* bytes, size_t size,
                           const latenn_load_options* options, latenn_backend_model** model) {
  (void)path, (void)bytes, (void)size;
  if (options->device && strcmp(options->device, "moon") == 0) {
    return host->status(LATENN_UNSUPPORTED, "no such device", "{\"fake\": 1}");
  }
  *model = calloc(1, sizeof **model);
  if (*model) (*model)->host = host;
  return *model ? NULL : host->status(LATENN_OUT_OF_MEMORY, "memory", NULL);
}

static void release_model(latenn_backend_model* model) {
  free(model);
}

static size_t input_count(const latenn_backend_model* model) {
  (void)model;
  return sizeof inputs / sizeof *inputs;
}

static size_t output_count(const latenn_backend_model* model) {
  (void)model;
  return sizeof outputs / sizeof *outputs;
}

static const latenn_port* input(const latenn_backend_model* model, size_t index) {
  (void)model;
  return &inputs[index];
}

static const latenn_port* output(const latenn_backend_model* model, size_t index) {
  (void)model;
  return &outputs[index];
}

static const char* model_report(const latenn_backend_model* model) {
  (void)model;
  return "{\"runtime\": \"none\"}";
}

static latenn_status* create_context(latenn_backend_model* model, latenn_backend_context** context) {
  *context = calloc(1, sizeof **context);
  return *context ? NULL : model->host->status(LATENN_OUT_OF_MEMORY, "memory", NULL);
}

static void release_context(latenn_backend_context* context) {
  for (int i = 0; context && i < 3; i++) free(context->copies[i].strings);
  free(context);
}

static void copy_strings(copy* into, latenn_tensor* tensor) {
  size_t count = 1;
  for (int32_t i = 0; i < tensor->rank; i++) count *= (size_t)tensor->shape[i];
  size_t head = (count + 1) * sizeof *tensor->offsets;
  char* memory = malloc(head + tensor->bytes + 1);
  if (!memory) abort();
  memcpy(memory, tensor->offsets, head);
  if (tensor->bytes) memcpy(memory + head, tensor->data, tensor->bytes);
  free(into->strings);
  into->strings = memory;
  tensor->offsets = (const size_t*)(void*)memory;
  tensor->data = memory + head;
}

static latenn_status* set_input(latenn_backend_context* context, size_t index, const latenn_tensor* tensor) {
  copy* into = &context->copies[index];
  latenn_tensor* given = &context->given[index];
  *given = *tensor;
  for (int32_t i = 0; i < tensor->rank && i < RANK; i++) into->shape[i] = tensor->shape[i];
  given->shape = into->shape;
  if (tensor->type == LATENN_STRING) copy_strings(into, given);
  return NULL;
}

static latenn_status* compute(latenn_backend_context* context) {
#ifdef PLAIN
  const float* numbers = context->given[0].data;
  context->count_shape[0] = 0;
  context->count_shape[1] = 1;
  for (int i = 0; i < WIDTH; i++) {
    if (numbers[i] != 0) context->rows[context->count_shape[0]++] = i;
    context->next[i] = numbers[i] + 0.5f;
  }
#endif
  (void)context;
  return NULL;
}

static latenn_status* get_output(latenn_backend_context* context, size_t index, latenn_tensor* tensor) {
#ifdef PLAIN
  const latenn_tensor next = {LATENN_FLOAT32, 1, fixed, context->next, sizeof context->next, NULL};
  const size_t bytes = (size_t)context->count_shape[0] * sizeof *context->rows;
  const latenn_tensor count = {LATENN_INT64, 2, context->count_shape, context->rows, bytes, NULL};
  *tensor = index ? count : next;
#else
  *tensor = context->given[index];
#endif
  return NULL;
}

static latenn_status* report(const latenn_host* host, const latenn_load_options* options, char** text) {
  (void)host, (void)options;
  *text = calloc(3, 1);
  if (*text) memcpy(*text, "{}", 2);
  return NULL;
}

static void free_text(char* text) {
  free(text);
}

static const char* const encodings[] = {NAME, "onnx", NULL};

static latenn_backend table = {
    .size = SIZE,
    .abi = ABI,
    .name = NAME,
    .version = "0.3.1",
    .encodings = encodings,
    .load = load,
    .release_model = release_model,
    .input_count = input_count,
    .output_count = output_count,
    .input = input,
    .output = output,
    .model_report = model_report,
    .create_context = create_context,
    .release_context = release_context,
    .set_input = set_input,
    .compute = compute,
    .get_output = get_output,
    .report = report,
    .free_text = free_text,
#ifdef PLAIN /* an older library has other things here: nothing of this may be called */
    .wrap_value = (void*)1,
    .create_value = (void*)1,
    .release_value = (void*)1,
    .bind_input = (void*)1,
    .bind_output = (void*)1,
    .bind_output_device = (void*)1,
    .take_output = (void*)1,
    .create_run = (void*)1,
    .release_run = (void*)1,
    .cancel_run = (void*)1,
    .compute_with = (void*)1,
    .model_metadata = (void*)1,
    .end_profile = (void*)1,
    .takes_files = 1,
#endif
};

LATENN_API const latenn_backend* latenn_backend_table(uint32_t abi);

const latenn_backend* latenn_backend_table(uint32_t abi) {
#ifdef LACKS
  table.LACKS = NULL;
#endif
#if ABI > LATENN_BACKEND_ABI
  if (abi < ABI) return NULL; /* newer than the core, and speaks no older interface */
#endif
  (void)abi;
  return &table;
}
