/* fake_backend.c: a backend of latenn that gives back what it is given (synthetic); for tests of the core alone. */
#include <stdlib.h>
#include <string.h>

#include "latenn_backend.h"

struct latenn_backend_model {
  const latenn_host* host;
};

struct latenn_backend_context {
  latenn_backend_model* model;
  latenn_tensor given[3];
};

static const int64_t matrix[] = {-1, 3};
static const char* const matrix_names[] = {"batch", ""};
static const int64_t words[] = {-1};
static const char* const words_names[] = {""};
static const latenn_port ports[] = {
    {"numbers", LATENN_FLOAT32, 2, matrix, matrix_names},
    {"words", LATENN_STRING, 1, words, words_names},
    {"nibbles", LATENN_INT4, -1, NULL, NULL},
};

static latenn_status* load(const latenn_host* host, const char* path, const void* bytes, size_t size,
                           const latenn_load_options* options, latenn_backend_model** model) {
  (void)path;
  (void)bytes;
  (void)size;
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

static size_t port_count(const latenn_backend_model* model) {
  (void)model;
  return sizeof ports / sizeof *ports;
}

static const latenn_port* port(const latenn_backend_model* model, size_t index) {
  (void)model;
  return &ports[index];
}

static const char* model_report(const latenn_backend_model* model) {
  (void)model;
  return "{\"runtime\": \"none\"}";
}

static latenn_status* create_context(latenn_backend_model* model, latenn_backend_context** context) {
  *context = calloc(1, sizeof **context);
  if (!*context) return model->host->status(LATENN_OUT_OF_MEMORY, "memory", NULL);
  (*context)->model = model;
  return NULL;
}

static void release_context(latenn_backend_context* context) {
  free(context);
}

static latenn_status* set_input(latenn_backend_context* context, size_t index, const latenn_tensor* tensor) {
  context->given[index] = *tensor;
  return NULL;
}

static latenn_status* compute(latenn_backend_context* context) {
  (void)context;
  return NULL;
}

static latenn_status* get_output(latenn_backend_context* context, size_t index, latenn_tensor* tensor) {
  *tensor = context->given[index];
  return NULL;
}

static latenn_status* report(const latenn_host* host, const latenn_load_options* options, char** text) {
  (void)host;
  (void)options;
  *text = malloc(3);
  if (*text) memcpy(*text, "{}", 3);
  return NULL;
}

static void free_text(char* text) {
  free(text);
}

static const char* const encodings[] = {"echo", NULL};

static const latenn_backend table = {
    .size = sizeof table,
    .abi = LATENN_BACKEND_ABI,
    .name = NAME,
    .version = "0.3.1",
    .encodings = encodings,
    .load = load,
    .release_model = release_model,
    .input_count = port_count,
    .output_count = port_count,
    .input = port,
    .output = port,
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
#ifdef FUTURE
  abi++; /* it speaks a later interface only */
#endif
  return abi == LATENN_BACKEND_ABI ? &table : NULL;
}
