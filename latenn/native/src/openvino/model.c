/* model.c: a model is compiled for a device, and what it takes and gives; must not compute. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/paths.h"
#include "openvino.h"

static latenn_status* openvino_refused(const latenn_backend_model* model, ov_status_e failed) {
  return openvino_take(model->described.host, &model->api, failed, LATENN_MODEL_INVALID, "refuses the model");
}

static latenn_status* openvino_read_path(const latenn_backend_model* model, const char* path, ov_model_t** read) {
#if defined(_WIN32)
  wchar_t* wide = latenn_wide_path(path);
  if (!wide) return backend_no_memory(model->described.host);
  ov_status_e failed = model->api.core_read_model_unicode(model->core, wide, NULL, read);
  free(wide);
#else
  ov_status_e failed = model->api.core_read_model(model->core, path, NULL, read);
#endif
  return openvino_refused(model, failed);
}

static int64_t openvino_length(FILE* file) {
#if defined(_WIN32)
  int64_t length = _fseeki64(file, 0, SEEK_END) ? -1 : _ftelli64(file);
#else
  int64_t length = fseek(file, 0, SEEK_END) ? -1 : ftell(file);
#endif
  rewind(file);
  return length;
}

/* The weights of an IR whose text comes from memory: OpenVINO takes them as a tensor of bytes. */
static latenn_status* openvino_read_weights(const latenn_backend_model* model, const char* path,
                                            ov_tensor_t** weights) {
  const latenn_host* host = model->described.host;
  const char* why = "";
  void* data = NULL;
  FILE* file = latenn_open_file(path, &why);
  if (!file) return backend_fail(host, LATENN_IO, "The weights %s cannot be loaded: %s.", path, why);
  int64_t length = openvino_length(file);
  ov_shape_t shape = {1, &length};
  ov_status_e failed = length < 0 ? 0 : model->api.tensor_create(OV_U8, shape, weights);
  if (!failed && *weights) failed = model->api.tensor_data(*weights, &data);
  int is_read = data && fread(data, 1, (size_t)length, file) == (size_t)length;
  fclose(file);
  if (failed) return openvino_refused(model, failed);
  return is_read ? NULL : backend_fail(host, LATENN_IO, "The weights %s cannot be loaded: it cannot be read.", path);
}

/* The caller's weights as a tensor: a copy, since the compiled model may go on using it. */
static latenn_status* openvino_copy_weights(const latenn_backend_model* model, const latenn_load_options* options,
                                            ov_tensor_t** weights) {
  void* data = NULL;
  int64_t length = (int64_t)options->weights_size;
  ov_shape_t shape = {1, &length};
  ov_status_e failed = model->api.tensor_create(OV_U8, shape, weights);
  if (!failed) failed = model->api.tensor_data(*weights, &data);
  if (!failed && length) memcpy(data, options->weights, options->weights_size);
  return openvino_refused(model, failed);
}

static latenn_status* openvino_read_bytes(const latenn_backend_model* model, const void* bytes, size_t size,
                                          const latenn_load_options* options, const char* weights, ov_model_t** read) {
  ov_tensor_t* data = NULL;
  if (size >= 8 && memcmp((const char*)bytes + 4, "TFL3", 4) == 0) {
    return backend_fail(model->described.host, LATENN_UNSUPPORTED,
                        "OpenVINO reads TensorFlow Lite models from files only. Give the model's path.");
  }
  latenn_status* status = NULL;
  if (options->weights) {
    status = openvino_copy_weights(model, options, &data);
  } else if (weights) {
    status = openvino_read_weights(model, weights, &data);
  }
  if (!status) {
    status =
        openvino_refused(model, model->api.core_read_model_from_memory_buffer(model->core, bytes, size, data, read));
  }
  if (data) model->api.tensor_free(data);
  return status;
}

static latenn_status* openvino_start(latenn_backend_model* model, const latenn_load_options* options,
                                     const openvino_settings* settings) {
  const latenn_host* host = model->described.host;
  ov_status_e failed = model->api.core_create(&model->core);
  if (failed) return openvino_take(host, &model->api, failed, LATENN_RUNTIME_UNAVAILABLE, "cannot start");
  return openvino_apply_options(host, &model->api, model->core, options, settings);
}

static latenn_status* openvino_compile(latenn_backend_model* model, const char* path, const void* bytes, size_t size,
                                       const latenn_load_options* options, const openvino_settings* settings) {
  ov_model_t* read = NULL;
  if (path && settings->weights) {
    return backend_fail(model->described.host, LATENN_INVALID_ARGUMENT,
                        "The option weights is for a model from memory; next to %s its own are found.", path);
  }
  latenn_status* status = path ? openvino_read_path(model, path, &read)
                               : openvino_read_bytes(model, bytes, size, options, settings->weights, &read);
  if (!status) {
    ov_status_e failed = model->api.core_compile_model(model->core, read, settings->device, 0, &model->compiled);
    status = openvino_refused(model, failed);
  }
  if (read) model->api.model_free(read);
  return status;
}

latenn_status* backend_load(const latenn_host* host, const char* path, const void* bytes, size_t size,
                            const latenn_load_options* options, latenn_backend_model** out) {
  latenn_load_options own;
  openvino_settings settings;
  latenn_status* status = backend_copy_options(host, options, &own);
  if (status) return status;
  latenn_backend_model* model = calloc(1, sizeof *model);
  if (!model) return backend_no_memory(host);
  model->described.host = host;
  status = openvino_read_options(host, &own, &settings);
  if (!status) status = openvino_open(host, &own, &model->api, &model->described.report);
  if (!status) status = openvino_start(model, &own, &settings);
  if (!status) status = openvino_compile(model, path, bytes, size, &own, &settings);
  if (!status) status = openvino_read_ports(model);
  if (!status) openvino_name_ports(model, path, bytes, size);
  if (status) {
    backend_release_model(model);
    return status;
  }
  *out = model;
  return NULL;
}

void backend_release_model(latenn_backend_model* model) {
  if (!model) return;
  if (model->compiled) model->api.compiled_model_free(model->compiled);
  if (model->core) model->api.core_free(model->core);
  backend_release_described(&model->described);
  free(model->types);
  free(model);
}
