/* model.c: a model is a session and what it takes and gives; must not compute. */
#include <stdlib.h>
#include <string.h>

#include "ort.h"

static latenn_status* ort_create_from_path(latenn_backend_model* model, const char* path,
                                           const OrtSessionOptions* options) {
  const lb_ort_api* api = &model->runtime->api;
  ORTCHAR_T* made = ort_make_path(path);
  if (!made) return backend_no_memory(model->described.host);
  OrtStatus* failed = lb_ort_CreateSession(api, model->runtime->env, made, options, &model->session);
  free(made);
  return ort_take(model->described.host, api, failed, ORT_PHASE_LOAD, "refuses the model");
}

static latenn_status* ort_create_session(latenn_backend_model* model, const char* path, const void* bytes, size_t size,
                                         const latenn_load_options* options) {
  const ort_runtime* runtime = model->runtime;
  const lb_ort_api* api = &runtime->api;
  OrtSessionOptions* session_options = NULL;
  OrtStatus* failed = lb_ort_CreateSessionOptions(api, &session_options);
  if (failed) return ort_take(model->described.host, api, failed, ORT_PHASE_SETUP, "cannot make session options");
  latenn_status* status = ort_apply_log(model->described.host, api, &model->log, session_options);
  if (!status) status = ort_apply_options(model->described.host, api, options, session_options);
  if (!status) status = ort_append_providers(model->described.host, runtime, model->device, options, session_options);
  if (!status && path) {
    status = ort_create_from_path(model, path, session_options);
  } else if (!status) {
    failed = lb_ort_CreateSessionFromArray(api, runtime->env, bytes, size, session_options, &model->session);
    status = ort_take(model->described.host, api, failed, ORT_PHASE_LOAD, "refuses the model");
  }
  lb_ort_ReleaseSessionOptions(api, session_options);
  return status;
}

static const char** ort_list_names(const backend_ports* ports) {
  const char** names = calloc(ports->count + 1, sizeof *names);
  for (size_t i = 0; names && i < ports->count; i++) names[i] = ports->list[i].name;
  return names;
}

static latenn_status* ort_describe(latenn_backend_model* model) {
  const latenn_host* host = model->described.host;
  latenn_status* status = ort_read_ports(host, model->runtime, model->session, 1, &model->described.inputs);
  if (!status) status = ort_read_ports(host, model->runtime, model->session, 0, &model->described.outputs);
  if (status) return status;
  model->input_names = ort_list_names(&model->described.inputs);
  model->output_names = ort_list_names(&model->described.outputs);
  return model->input_names && model->output_names ? NULL : backend_no_memory(host);
}

latenn_status* backend_load(const latenn_host* host, const char* path, const void* bytes, size_t size,
                            const latenn_load_options* options, latenn_backend_model** out) {
  latenn_load_options own;
  latenn_status* status = backend_copy_options(host, options, &own);
  if (status) return status;
  latenn_backend_model* model = calloc(1, sizeof *model);
  if (!model) return backend_no_memory(host);
  model->described.host = host;
  model->log.function = own.log;
  model->log.user = own.log_user;
  status = ort_check_options(host, &own);
  if (!status) status = ort_read_device(host, own.device, &model->device);
  if (!status) status = ort_open(host, &own, &model->runtime, &model->described.report);
  if (!status) status = ort_create_session(model, path, bytes, size, &own);
  if (!status) status = ort_describe(model);
  if (status) {
    backend_release_model(model);
    return status;
  }
  *out = model;
  return NULL;
}

void backend_release_model(latenn_backend_model* model) {
  if (!model) return;
  if (model->session) lb_ort_ReleaseSession(&model->runtime->api, model->session);
  free(model->input_names);
  free(model->output_names);
  backend_release_described(&model->described);
  free(model);
}
