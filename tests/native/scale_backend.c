/*
 * scale_backend.c: a backend of someone else (synthetic): y = 2 x, float32 of any length. It knows latenn_backend.h
 * and nothing else of latenn. -DABI, -DSIZE and -DLACKS make one that the core must refuse.
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

struct latenn_backend_model {
  const latenn_host* host;
};

struct latenn_backend_context {
  latenn_backend_model* model;
  latenn_tensor input;
  int64_t shape[1];
  float* result;
};

static const int64_t shape[] = {-1};
static const char* const names[] = {"n"};
static const latenn_port input_port = {"x", LATENN_FLOAT32, 1, shape, names};
static const latenn_port output_port = {"y", LATENN_FLOAT32, 1, shape, names};

static latenn_status* load(const latenn_host* host, const char* path, const void* bytes, size_t size,
                           const latenn_load_options* options, latenn_backend_model** model) {
  (void)path;
  (void)bytes;
  (void)size;
  if (options->option_count) return host->status(LATENN_INVALID_ARGUMENT, "scale takes no options", NULL);
  *model = calloc(1, sizeof **model);
  if (!*model) return host->status(LATENN_OUT_OF_MEMORY, "no memory", NULL);
  (*model)->host = host;
  return NULL;
}

static void release_model(latenn_backend_model* model) {
  free(model);
}

static size_t one(const latenn_backend_model* model) {
  (void)model;
  return 1;
}

static const latenn_port* input(const latenn_backend_model* model, size_t index) {
  (void)model;
  return index ? NULL : &input_port;
}

static const latenn_port* output(const latenn_backend_model* model, size_t index) {
  (void)model;
  return index ? NULL : &output_port;
}

static const char* model_report(const latenn_backend_model* model) {
  (void)model;
  return "{}";
}

static latenn_status* create_context(latenn_backend_model* model, latenn_backend_context** context) {
  *context = calloc(1, sizeof **context);
  if (!*context) return model->host->status(LATENN_OUT_OF_MEMORY, "no memory", NULL);
  (*context)->model = model;
  return NULL;
}

static void release_context(latenn_backend_context* context) {
  free(context->result);
  free(context);
}

static latenn_status* set_input(latenn_backend_context* context, size_t index, const latenn_tensor* tensor) {
  (void)index;
  context->input = *tensor;
  return NULL;
}

static latenn_status* compute(latenn_backend_context* context) {
  const float* given = context->input.data;
  size_t count = context->input.bytes / sizeof *given;
  float* result = realloc(context->result, count * sizeof *result + 1);
  if (!result) return context->model->host->status(LATENN_OUT_OF_MEMORY, "no memory", NULL);
  for (size_t i = 0; i < count; i++) result[i] = 2 * given[i];
  context->result = result;
  context->shape[0] = (int64_t)count;
  return NULL;
}

static latenn_status* get_output(latenn_backend_context* context, size_t index, latenn_tensor* tensor) {
  (void)index;
  tensor->type = LATENN_FLOAT32;
  tensor->rank = 1;
  tensor->shape = context->shape;
  tensor->data = context->result;
  tensor->bytes = (size_t)context->shape[0] * sizeof(float);
  return NULL;
}

static latenn_status* report(const latenn_host* host, const latenn_load_options* options, char** text) {
  (void)options;
  *text = malloc(3);
  if (!*text) return host->status(LATENN_OUT_OF_MEMORY, "no memory", NULL);
  memcpy(*text, "{}", 3);
  return NULL;
}

static void free_text(char* text) {
  free(text);
}

static const char* const encodings[] = {"scale", "onnx", NULL};

static latenn_backend table = {
    .size = SIZE,
    .abi = ABI,
    .name = "scale",
    .version = "7.0",
    .encodings = encodings,
    .load = load,
    .release_model = release_model,
    .input_count = one,
    .output_count = one,
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
};

LATENN_API const latenn_backend* latenn_backend_table(uint32_t abi);

const latenn_backend* latenn_backend_table(uint32_t abi) {
#if defined(LACKS)
  table.LACKS = NULL;
#endif
#if ABI > LATENN_BACKEND_ABI
  if (abi < ABI) return NULL; /* newer than the core, and speaks no older interface */
#endif
  (void)abi;
  return &table;
}
