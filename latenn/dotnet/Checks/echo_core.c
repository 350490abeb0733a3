/*
 * A synthetic latenn_core for tests of bindings: it speaks latenn.h and knows neither backend nor runtime. A model
 * is text. Its first line is "ok JSON" or "fail CODE JSON", where JSON is the report; each other line is a port,
 * "NAME TYPE DIM...", where a dimension is a number or the name of an open one, and "*" leaves their number open. A
 * run gives back what it was given.
 */
#include <latenn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PORTS = 8, MAX_RANK = 8 };

struct latenn_status {
  latenn_code code;
  char message[512];
  char report[512];
  char backend[256]; /* as it was asked for */
};

struct latenn_model {
  size_t count;
  latenn_port ports[MAX_PORTS];
  char names[MAX_PORTS][64];
  int64_t shapes[MAX_PORTS][MAX_RANK];
  char dimension_text[MAX_PORTS][MAX_RANK][32];
  const char* dimensions[MAX_PORTS][MAX_RANK];
  char report[512];
  char backend[256]; /* as it was asked for */
};

struct latenn_context {
  latenn_model* model;
  latenn_tensor values[MAX_PORTS];
  int64_t shapes[MAX_PORTS][MAX_RANK];
};

static latenn_status* failure(latenn_code code, const char* message, const char* report) {
  latenn_status* status = calloc(1, sizeof *status);
  status->code = code;
  snprintf(status->message, sizeof status->message, "%s", message);
  snprintf(status->report, sizeof status->report, "%s", report);
  return status;
}

uint32_t latenn_abi(void) {
  return LATENN_ABI;
}
const char* latenn_version(void) {
  return "0.0.0-echo";
}
latenn_code latenn_status_code(const latenn_status* status) {
  return status ? status->code : LATENN_OK;
}
const char* latenn_status_message(const latenn_status* status) {
  return status ? status->message : "";
}
const char* latenn_status_report(const latenn_status* status) {
  return status ? status->report : "";
}
void latenn_status_release(latenn_status* status) {
  free(status);
}

static int read_port(latenn_model* model, char* line) {
  size_t at = model->count;
  char* rest = NULL;
  char* word = strtok_r(line, " ", &rest);
  if (at == MAX_PORTS || word == NULL) return 0;
  latenn_port* port = &model->ports[at];
  snprintf(model->names[at], sizeof model->names[at], "%s", word);
  word = strtok_r(NULL, " ", &rest);
  if (word == NULL) return 0;
  port->type = atoi(word);
  while ((word = strtok_r(NULL, " ", &rest)) != NULL && port->rank < MAX_RANK) {
    if (word[0] == '*') {
      port->rank = -1;
      break;
    }
    int open = word[0] < '0' || word[0] > '9';
    model->shapes[at][port->rank] = open ? -1 : atoll(word);
    snprintf(model->dimension_text[at][port->rank], sizeof model->dimension_text[at][0], "%s", open ? word : "");
    model->dimensions[at][port->rank] = model->dimension_text[at][port->rank];
    port->rank++;
  }
  port->name = model->names[at];
  port->shape = model->shapes[at];
  port->dimensions = model->dimensions[at];
  model->count++;
  return 1;
}

latenn_status* latenn_load_bytes(const void* bytes, size_t size, const latenn_load_options* options,
                                 latenn_model** model) {
  if (options == NULL || options->size != sizeof *options || options->runtime_advice == NULL)
    return failure(LATENN_INVALID_ARGUMENT, "the options have another layout", "");
  if (options->log) options->log(options->log_user, 2, "echo", "naïve");
  char* text = calloc(1, size + 1);
  memcpy(text, bytes, size);
  char* rest = NULL;
  char* line = strtok_r(text, "\n", &rest);
  latenn_status* status = NULL;
  *model = NULL;
  if (line == NULL || (strncmp(line, "ok ", 3) != 0 && strncmp(line, "fail ", 5) != 0)) {
    status = failure(LATENN_MODEL_INVALID, "the first line is neither ok nor fail", "");
  } else if (line[0] == 'f') {
    char* report = strchr(line + 5, ' ');
    char message[512];
    snprintf(message, sizeof message, "asked for: naïve, %zu folders, path %s, minimum %s, advice %s",
             options->runtime_directory_count, options->runtime_path ? options->runtime_path : "none",
             options->runtime_minimum ? options->runtime_minimum : "none", options->runtime_advice);
    status = failure((latenn_code)atoi(line + 5), message, report ? report + 1 : "");
  } else {
    *model = calloc(1, sizeof **model);
    snprintf((*model)->report, sizeof(*model)->report, "%s", line + 3);
    snprintf((*model)->backend, sizeof(*model)->backend, "%s", options->backend ? options->backend : "echo");
    while (status == NULL && (line = strtok_r(NULL, "\n", &rest)) != NULL)
      if (!read_port(*model, line)) status = failure(LATENN_MODEL_INVALID, "a port is wrong", "");
  }
  free(text);
  return status;
}

latenn_status* latenn_load_path(const char* path, const latenn_load_options* options, latenn_model** model) {
  char text[4096];
  FILE* file = fopen(path, "rb");
  if (file == NULL) return failure(LATENN_IO, path, "");
  size_t size = fread(text, 1, sizeof text, file);
  fclose(file);
  return latenn_load_bytes(text, size, options, model);
}

void latenn_model_release(latenn_model* model) {
  free(model);
}
size_t latenn_input_count(const latenn_model* model) {
  return model->count;
}
size_t latenn_output_count(const latenn_model* model) {
  return model->count;
}
const latenn_port* latenn_input(const latenn_model* model, size_t i) {
  return i < model->count ? &model->ports[i] : NULL;
}
const latenn_port* latenn_output(const latenn_model* model, size_t i) {
  return latenn_input(model, i);
}
const char* latenn_model_backend(const latenn_model* model) {
  return model ? model->backend : "";
}
const char* latenn_model_report(const latenn_model* model) {
  return model->report;
}

latenn_status* latenn_runtime_report(const latenn_load_options* options, char** report) {
  *report = strdup("{\"message\": \"an echo needs no runtime\", \"warning\": \"\"}");
  return options->runtime_path ? failure(LATENN_RUNTIME_UNAVAILABLE, "no such file", *report) : NULL;
}
void latenn_text_release(char* text) {
  free(text);
}

latenn_status* latenn_context_create(latenn_model* model, latenn_context** context) {
  *context = calloc(1, sizeof **context);
  (*context)->model = model;
  return NULL;
}

void latenn_context_release(latenn_context* context) {
  if (context == NULL) return;
  for (size_t i = 0; i < MAX_PORTS; i++) {
    free(context->values[i].data);
    free((void*)context->values[i].offsets);
  }
  free(context);
}

latenn_status* latenn_set_input(latenn_context* context, size_t index, const latenn_tensor* tensor) {
  if (index >= context->model->count || tensor->rank > MAX_RANK) return failure(LATENN_INVALID_ARGUMENT, "index", "");
  if (tensor->type != context->model->ports[index].type) return failure(LATENN_INVALID_ARGUMENT, "another type", "");
  latenn_tensor* value = &context->values[index];
  size_t count = 1;
  for (int32_t d = 0; d < tensor->rank; d++) count *= (size_t)tensor->shape[d];
  if (tensor->rank > 0) memcpy(context->shapes[index], tensor->shape, (size_t)tensor->rank * sizeof(int64_t));
  value->type = tensor->type;
  value->rank = tensor->rank;
  value->shape = context->shapes[index];
  value->bytes = tensor->bytes;
  value->data = malloc(tensor->bytes + 1);
  memcpy(value->data, tensor->data, tensor->bytes);
  if (tensor->offsets != NULL) {
    size_t* offsets = malloc((count + 1) * sizeof *offsets);
    memcpy(offsets, tensor->offsets, (count + 1) * sizeof *offsets);
    value->offsets = offsets;
  }
  return NULL;
}

latenn_status* latenn_compute(latenn_context* context) {
  for (size_t i = 0; i < context->model->count; i++)
    if (context->values[i].data == NULL) return failure(LATENN_INVALID_ARGUMENT, "an input is not set", "");
  return NULL;
}

latenn_status* latenn_get_output(latenn_context* context, size_t index, latenn_tensor* tensor) {
  *tensor = context->values[index];
  return NULL;
}
