/* openvino.h: what the files of the OpenVINO backend share; nothing here is seen by the core. */
#ifndef LATENN_OPENVINO_H
#define LATENN_OPENVINO_H

#include "../common/backend.h"
#include "api.h"

/* ---- runtime.c -------------------------------------------------------------------------------------------------- */

/* Binds OpenVINO and takes its functions. `*report` as backend_bind() gives it. */
latenn_status* openvino_open(const latenn_host* host, const latenn_load_options* options, openvino_api* api,
                             char** report);

/* NULL for success; else what was being done, and OpenVINO's own words. */
latenn_status* openvino_take(const latenn_host* host, const openvino_api* api, ov_status_e failed, latenn_code code,
                             const char* doing);

/* ---- options.c -------------------------------------------------------------------------------------------------- */

enum { OPENVINO_DEVICE_SIZE = 128 };

typedef struct openvino_settings {
  char device[OPENVINO_DEVICE_SIZE];
  const char* weights; /* the file of an IR's weights, where the model comes from memory; NULL for none */
} openvino_settings;

/* Reads what can be read without the runtime. */
latenn_status* openvino_read_options(const latenn_host* host, const latenn_load_options* options,
                                     openvino_settings* settings);
/* Refuses a device that is not there and properties that it does not have. */
latenn_status* openvino_apply_options(const latenn_host* host, const openvino_api* api, const ov_core_t* core,
                                      const latenn_load_options* options, const openvino_settings* settings);

/* ---- model.c ---------------------------------------------------------------------------------------------------- */

struct latenn_backend_model {
  backend_described described; /* first: see backend_described */
  openvino_api api;
  ov_core_t* core;
  ov_compiled_model_t* compiled;
  int* types; /* OpenVINO's, of the inputs */
};

/* ---- ports.c ---------------------------------------------------------------------------------------------------- */

latenn_status* openvino_read_ports(latenn_backend_model* model);
/* Calls ports as an ONNX model itself does, where OpenVINO knows that name too. */
void openvino_name_ports(latenn_backend_model* model, const char* path, const void* bytes, size_t size);

#endif
