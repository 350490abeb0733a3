/* run.c: what a run is given besides its inputs; must refuse what it does not know rather than ignore it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/paths.h"
#include "ort.h"

struct latenn_backend_run {
  latenn_backend_model* model; /* the core holds it */
  OrtRunOptions* options;
  OrtLoraAdapter** adapters;
  size_t adapter_count;
};

/* The runtime reports a missing file only by a number. */
static latenn_status* ort_check_adapter(const latenn_host* host, const char* path) {
  const char* why = "";
  FILE* file = latenn_open_file(path, &why);
  if (!file) return backend_fail(host, LATENN_IO, "The LoRA adapter %s cannot be loaded: %s.", path, why);
  fclose(file);
  return NULL;
}

static latenn_status* ort_add_adapter(latenn_backend_run* run, const char* path) {
  const latenn_host* host = run->model->described.host;
  const lb_ort_api* api = &run->model->runtime->api;
  OrtLoraAdapter* adapter = NULL;
  latenn_status* status = ort_check_adapter(host, path);
  ORTCHAR_T* made = status ? NULL : ort_make_path(path);
  if (!status && !made) status = backend_no_memory(host);
  if (status) return status;
  OrtStatus* failed = lb_ort_CreateLoraAdapter(api, made, NULL, &adapter); /* in plain memory */
  free(made);
  if (!failed) {
    run->adapters[run->adapter_count++] = adapter;
    failed = lb_ort_RunOptionsAddActiveLoraAdapter(api, run->options, adapter);
  }
  return ort_take(host, api, failed, ORT_PHASE_SETUP, "refuses a LoRA adapter");
}

static latenn_status* ort_add_row(latenn_backend_run* run, const latenn_option* row) {
  const latenn_host* host = run->model->described.host;
  const lb_ort_api* api = &run->model->runtime->api;
  OrtStatus* failed = NULL;
  int severity = 0;
  if (strcmp(row->key, "tag") == 0) {
    failed = lb_ort_RunOptionsSetRunTag(api, run->options, row->value);
  } else if (strcmp(row->key, "log_severity_level") == 0) {
    if (backend_read_number(row->value, 0, ORT_LOGGING_LEVEL_FATAL, &severity)) {
      return backend_fail(host, LATENN_INVALID_ARGUMENT,
                          "The option log_severity_level is \"%.100s\"; it takes a number from 0 (verbose) to 4 "
                          "(fatal).",
                          row->value);
    }
    failed = lb_ort_RunOptionsSetRunLogSeverityLevel(api, run->options, severity);
  } else if (strcmp(row->key, "lora_adapter") == 0 || ort_after(row->key, "lora_adapter.")) {
    return ort_add_adapter(run, row->value);
  } else if (strchr(row->key, '.')) {
    latenn_status* unknown = ort_check_run_entry(host, row);
    if (unknown) return unknown;
    failed = lb_ort_AddRunConfigEntry(api, run->options, ort_entry_of(row->key), row->value);
  } else {
    return backend_fail(host, LATENN_INVALID_ARGUMENT,
                        "The option \"%.100s\" of a run is not known. Known: output, tag, log_severity_level, "
                        "lora_adapter, lora_adapter.NAME and run config entries, which have a dot.",
                        row->key);
  }
  return ort_take(host, api, failed, ORT_PHASE_SETUP, "refuses an option of a run");
}

latenn_status* backend_create_run(latenn_backend_model* model, const latenn_option* options, size_t count,
                                  latenn_backend_run** out) {
  const latenn_host* host = model->described.host;
  latenn_status* status = NULL;
  latenn_backend_run* run = calloc(1, sizeof *run);
  if (!run) return backend_no_memory(host);
  run->model = model;
  run->adapters = calloc(count + 1, sizeof *run->adapters);
  if (!run->adapters) status = backend_no_memory(host);
  if (!status) {
    OrtStatus* failed = lb_ort_CreateRunOptions(&model->runtime->api, &run->options);
    status = ort_take(host, &model->runtime->api, failed, ORT_PHASE_SETUP, "cannot make the options of a run");
  }
  for (size_t i = 0; i < count && !status; i++) status = ort_add_row(run, &options[i]);
  if (status) {
    backend_release_run(run);
    return status;
  }
  *out = run;
  return NULL;
}

void backend_release_run(latenn_backend_run* run) {
  const lb_ort_api* api = &run->model->runtime->api;
  if (run->options) lb_ort_ReleaseRunOptions(api, run->options);
  for (size_t i = 0; i < run->adapter_count; i++) lb_ort_ReleaseLoraAdapter(api, run->adapters[i]);
  free(run->adapters);
  free(run);
}

void backend_cancel_run(latenn_backend_run* run) {
  const lb_ort_api* api = &run->model->runtime->api;
  OrtStatus* failed = lb_ort_RunOptionsSetTerminate(api, run->options);
  if (failed) lb_ort_ReleaseStatus(api, failed); /* it sets a number, and cannot fail */
}

latenn_status* backend_compute_with(latenn_backend_context* context, latenn_backend_run* run,
                                    const unsigned char* wanted) {
  ort_unlay(context); /* what is laid out is for all outputs */
  context->options = run->options;
  context->wanted = wanted;
  latenn_status* status = backend_compute(context);
  context->options = NULL;
  context->wanted = NULL;
  return status;
}
