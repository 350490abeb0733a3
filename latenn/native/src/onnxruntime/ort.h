/* ort.h: what the files of the ONNX Runtime backend share; nothing here is seen by the core. */
#ifndef LATENN_ORT_H
#define LATENN_ORT_H

#include <stddef.h>
#include <stdint.h>

#include "latebind/latebind.h"
#include "latebind/ort_api.h"
#include "latenn.h"
#include "latenn_backend.h"

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

/* A status with a formatted message; the core owns the memory. */
latenn_status* ort_fail(const latenn_host* host, latenn_code code, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
latenn_status* ort_no_memory(const latenn_host* host);

typedef enum ort_phase { ORT_PHASE_SETUP, ORT_PHASE_LOAD, ORT_PHASE_COMPUTE } ort_phase;

/* NULL for NULL; else takes the runtime's status, releases it, and says what was being done. */
latenn_status* ort_take(const latenn_host* host, const lb_ort_api* api, OrtStatus* failed, ort_phase phase,
                        const char* doing);

/* ---- options.c -------------------------------------------------------------------------------------------------- */

latenn_status* ort_check_options(const latenn_host* host, const latenn_load_options* options);
latenn_status* ort_apply_options(const latenn_host* host, const lb_ort_api* api, const latenn_load_options* options,
                                 OrtSessionOptions* session);

/* ---- ports.c ---------------------------------------------------------------------------------------------------- */

typedef struct ort_ports {
  latenn_port* list;
  size_t count;
} ort_ports;

latenn_status* ort_read_ports(const latenn_host* host, const ort_runtime* runtime, const OrtSession* session,
                              int is_input, ort_ports* ports);
void ort_release_ports(ort_ports* ports);

/* ---- model.c ---------------------------------------------------------------------------------------------------- */

struct latenn_backend_model {
  const latenn_host* host;
  const ort_runtime* runtime;
  OrtSession* session;
  char* report;
  ort_ports inputs;
  ort_ports outputs;
  const char** input_names; /* as Run() wants them; they point into the ports */
  const char** output_names;
};

latenn_status* ort_load(const latenn_host* host, const char* path, const void* bytes, size_t size,
                        const latenn_load_options* options, latenn_backend_model** model);
void ort_release_model(latenn_backend_model* model);
/* A caller's struct may be shorter than ours: what it lacks is zero. */
void ort_copy_options(const latenn_load_options* given, latenn_load_options* own);

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
