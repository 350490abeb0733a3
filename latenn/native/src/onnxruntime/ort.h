/* ort.h: what the files of the ONNX Runtime backend share; nothing here is seen by the core. */
#ifndef LATENN_ORT_H
#define LATENN_ORT_H

#include <stddef.h>
#include <stdint.h>

#include "../common/backend.h"
#include "latebind/ort_api.h"

/* ---- runtime.c -------------------------------------------------------------------------------------------------- */

/* What one process needs of ONNX Runtime, made once and kept as long as the runtime itself: for ever. */
typedef struct ort_runtime {
  lb_ort_api api;
  OrtEnv* env;
  OrtMemoryInfo* memory;   /* plain CPU memory */
  OrtAllocator* allocator; /* the default one; belongs to the runtime */
} ort_runtime;

/* Binds the runtime. `*report` is its report as JSON, also on failure (NULL when out of memory); the caller frees. */
latenn_status* ort_open(const latenn_host* host, const latenn_load_options* options, const ort_runtime** runtime,
                        char** report);

typedef enum ort_phase { ORT_PHASE_SETUP, ORT_PHASE_LOAD, ORT_PHASE_COMPUTE } ort_phase;

/* NULL for NULL; else takes the runtime's status, releases it, and says what was being done. */
latenn_status* ort_take(const latenn_host* host, const lb_ort_api* api, OrtStatus* failed, ort_phase phase,
                        const char* doing);

/* ---- options.c -------------------------------------------------------------------------------------------------- */

latenn_status* ort_check_options(const latenn_host* host, const latenn_load_options* options);
latenn_status* ort_apply_options(const latenn_host* host, const lb_ort_api* api, const latenn_load_options* options,
                                 OrtSessionOptions* session);

/* ---- ports.c ---------------------------------------------------------------------------------------------------- */

latenn_status* ort_read_ports(const latenn_host* host, const ort_runtime* runtime, const OrtSession* session,
                              int is_input, backend_ports* ports);

/* ---- model.c ---------------------------------------------------------------------------------------------------- */

struct latenn_backend_model {
  backend_described described; /* first: see backend_described */
  const ort_runtime* runtime;
  OrtSession* session;
  const char** input_names; /* as Run() wants them; they point into the ports */
  const char** output_names;
};

latenn_status* ort_load(const latenn_host* host, const char* path, const void* bytes, size_t size,
                        const latenn_load_options* options, latenn_backend_model** model);
void ort_release_model(latenn_backend_model* model);

/* ---- value.c ---------------------------------------------------------------------------------------------------- */

/* An output as it came from the runtime, and the view of it that was given out. */
typedef struct ort_output {
  OrtValue* value;
  latenn_tensor view;
  int is_read; /* `view` is filled */
  int64_t* shape;
  char* text;
  size_t* offsets;
} ort_output;

latenn_status* ort_make_input(const latenn_backend_model* model, const latenn_tensor* tensor, OrtValue** value);
latenn_status* ort_read_output(const latenn_backend_model* model, ort_output* output, const char* name);
void ort_release_output(const latenn_backend_model* model, ort_output* output);

/* ---- context.c -------------------------------------------------------------------------------------------------- */

latenn_status* ort_create_context(latenn_backend_model* model, latenn_backend_context** context);
void ort_release_context(latenn_backend_context* context);
latenn_status* ort_set_input(latenn_backend_context* context, size_t index, const latenn_tensor* tensor);
latenn_status* ort_compute(latenn_backend_context* context);
latenn_status* ort_get_output(latenn_backend_context* context, size_t index, latenn_tensor* tensor);

#endif
