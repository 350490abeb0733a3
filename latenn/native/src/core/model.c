/* model.c: loads models and describes their ports; the backend reads what is inside of a model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/paths.h"
#include "core.h"
#include "latebind/latebind.h"

enum { LATENN_HEAD_SIZE = 64 };

/* The list that is counted and not there; NULL when there is none. */
static const char* latenn_lost_list(const latenn_load_options* options) {
  if (options->backend_directory_count && !options->backend_directories) return "backend_directories";
  if (options->runtime_directory_count && !options->runtime_directories) return "runtime_directories";
  if (options->option_count && !options->options) return "options";
  if (options->file_count && !options->files) return "files";
  return options->weights_size && !options->weights ? "weights" : NULL;
}

/* A caller built with an older header has a shorter struct: what it lacks is zero. */
static latenn_status* latenn_take_options(const latenn_load_options* given, latenn_load_options* own) {
  memset(own, 0, sizeof *own);
  if (given && given->size < LATENN_LOAD_OPTIONS_SIZE_1) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "options.size is %u: set it to sizeof(latenn_load_options).",
                          (unsigned)given->size);
  }
  if (given) memcpy(own, given, given->size < sizeof *own ? given->size : sizeof *own);
  own->size = sizeof *own;
  const char* lost = latenn_lost_list(own);
  return lost ? latenn_failure(LATENN_INVALID_ARGUMENT, "options.%s is NULL, but its count is not 0.", lost) : NULL;
}

static latenn_status* latenn_read_head(const char* path, unsigned char* head, size_t* size) {
  const char* why = "";
  FILE* file = latenn_open_file(path, &why);
  if (!file) return latenn_failure(LATENN_IO, "The model %s cannot be loaded: %s.", path, why);
  *size = fread(head, 1, LATENN_HEAD_SIZE, file);
  int failed = ferror(file);
  fclose(file);
  return failed ? latenn_failure(LATENN_IO, "The model %s cannot be loaded: it cannot be read.", path) : NULL;
}

/* Opens the backend for a model that begins with `head`, then lets it load. */
static latenn_status* latenn_load(const char* path, const void* bytes, size_t size, const unsigned char* head,
                                  size_t head_size, latenn_load_options* options, latenn_model** out) {
  const latenn_encoding* encoding = latenn_sniff(head, head_size, path);
  char* named = lb_environment("LATENN_BACKEND");
  int is_named = (options->backend && *options->backend && !strchr(options->backend, ',')) || named;
  free(named);
  if (!encoding && !is_named) {
    return latenn_failure(LATENN_MODEL_INVALID,
                          "%s is in no encoding that latenn knows (ONNX, TFLite, OpenVINO IR). If a backend can "
                          "read it, name that backend.",
                          path ? path : "The model");
  }
  if (options->weights && (path || !encoding || strcmp(encoding->name, "openvino-ir") != 0)) {
    return latenn_failure(LATENN_INVALID_ARGUMENT,
                          "weights are for an OpenVINO IR from memory; this model is not one. Leave them out.");
  }
  latenn_model* model = calloc(1, sizeof *model);
  if (!model) return latenn_no_memory();
  char* advice = NULL;
  latenn_status* status = latenn_backend_open(options, encoding, &model->backend);
  if (!status && options->file_count && !model->backend.takes_files) {
    status =
        latenn_failure(LATENN_UNSUPPORTED, "The %s backend takes no files from memory. Load the model by its path.",
                       model->backend.name);
  }
  if (!status) {
    options->runtime_advice = latenn_advice_of(options->runtime_advice, model->backend.name, &advice);
    status = model->backend.load(latenn_host_table(), path, bytes, size, options, &model->model);
  }
  free(advice);
  if (status) {
    free(model);
    return status;
  }
  atomic_init(&model->holders, 1);
  model->forks = latenn_forks();
  *out = model;
  return NULL;
}

latenn_status* latenn_load_path(const char* path, const latenn_load_options* options, latenn_model** model) {
  unsigned char head[LATENN_HEAD_SIZE];
  size_t size = 0;
  latenn_load_options own;
  if (!model) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_load_path: model is NULL.");
  *model = NULL;
  if (!path || !*path) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_load_path: the path is empty.");
  latenn_status* status = latenn_take_options(options, &own);
  if (!status) status = latenn_read_head(path, head, &size);
  return status ? status : latenn_load(path, NULL, 0, head, size, &own, model);
}

latenn_status* latenn_load_bytes(const void* bytes, size_t size, const latenn_load_options* options,
                                 latenn_model** model) {
  latenn_load_options own;
  if (!model) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_load_bytes: model is NULL.");
  *model = NULL;
  if (!bytes || !size) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_load_bytes: the model is empty.");
  latenn_status* status = latenn_take_options(options, &own);
  return status ? status : latenn_load(NULL, bytes, size, bytes, size, &own, model);
}

void latenn_model_hold(latenn_model* model) {
  atomic_fetch_add_explicit(&model->holders, 1, memory_order_relaxed);
}

/* Acquire and release: the last holder to leave must see all that the others did with the model. */
void latenn_model_release(latenn_model* model) {
  if (!model || atomic_fetch_sub_explicit(&model->holders, 1, memory_order_acq_rel) != 1) return;
  if (model->forks != latenn_forks()) return; /* the runtime would wait for threads that the child does not have */
  model->backend.release_model(model->model);
  free(model);
}

size_t latenn_input_count(const latenn_model* model) {
  return model ? model->backend.input_count(model->model) : 0;
}

size_t latenn_output_count(const latenn_model* model) {
  return model ? model->backend.output_count(model->model) : 0;
}

const latenn_port* latenn_input(const latenn_model* model, size_t index) {
  return index < latenn_input_count(model) ? model->backend.input(model->model, index) : NULL;
}

const latenn_port* latenn_output(const latenn_model* model, size_t index) {
  return index < latenn_output_count(model) ? model->backend.output(model->model, index) : NULL;
}

const char* latenn_model_backend(const latenn_model* model) {
  return model ? model->backend.name : "";
}

const char* latenn_model_report(const latenn_model* model) {
  return model ? model->backend.model_report(model->model) : "";
}

/* The backend's text is the backend's memory: give the caller a copy that the core can free. */
static latenn_status* latenn_copy_text(const latenn_backend* backend, char* text, char** copy) {
  if (!text) return NULL;
  size_t size = strlen(text) + 1;
  *copy = malloc(size);
  if (*copy) memcpy(*copy, text, size);
  backend->free_text(text);
  return *copy ? NULL : latenn_no_memory();
}

latenn_status* latenn_model_metadata(const latenn_model* model, char** json) {
  char* text = NULL;
  if (!model || !json) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_model_metadata: an argument is NULL.");
  *json = NULL;
  if (!model->backend.model_metadata) {
    return latenn_failure(LATENN_UNSUPPORTED, "The %s backend does not give the metadata of models.",
                          model->backend.name);
  }
  latenn_status* status = model->backend.model_metadata(model->model, &text);
  return status ? status : latenn_copy_text(&model->backend, text, json);
}

latenn_status* latenn_model_end_profile(latenn_model* model, char** path) {
  char* text = NULL;
  if (!model || !path) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_model_end_profile: an argument is NULL.");
  *path = NULL;
  if (!model->backend.end_profile) {
    return latenn_failure(LATENN_UNSUPPORTED, "The %s backend writes no profiles.", model->backend.name);
  }
  latenn_status* status = model->backend.end_profile(model->model, &text);
  return status ? status : latenn_copy_text(&model->backend, text, path);
}

latenn_status* latenn_runtime_report(const latenn_load_options* options, char** report) {
  latenn_load_options own;
  latenn_backend backend = {0};
  char* text = NULL;
  if (!report) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_runtime_report: report is NULL.");
  *report = NULL;
  latenn_status* status = latenn_take_options(options, &own);
  if (!status) status = latenn_backend_open(&own, NULL, &backend);
  if (status) return status;
  char* advice = NULL;
  own.runtime_advice = latenn_advice_of(own.runtime_advice, backend.name, &advice);
  status = backend.report(latenn_host_table(), &own, &text);
  free(advice);
  latenn_status* copied = latenn_copy_text(&backend, text, report);
  if (!status) return copied;
  latenn_status_release(copied);
  return status;
}
