/*
 * latenn_backend.h: what a backend gives to the core, and the core to a backend.
 *
 * A backend is a shared library named latenn_backend_<name> that exports one C symbol, latenn_backend_table. The
 * core asks it for a table of an interface version; a backend that cannot speak that version returns NULL.
 * Tables begin with their size and only grow at the end, so old and new meet safely.
 *
 * Options (latenn_load_options.options) belong to the backend. Those of "onnxruntime":
 *   intra_op_num_threads, inter_op_num_threads   a number; 0 is the runtime's own choice
 *   graph_optimization_level                     disable, basic, extended or all (the default)
 *   log_severity_level                           0 (verbose) to 4 (fatal, the default: errors come as statuses)
 *   anything with a dot, such as session.intra_op.allow_spinning: a session config entry, handed on as it is
 */
#ifndef LATENN_BACKEND_H
#define LATENN_BACKEND_H

#include "latenn.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LATENN_BACKEND_ABI    1
#define LATENN_BACKEND_SYMBOL "latenn_backend_table"

/* What the core lends to the backend: its allocator of statuses, so that both sides agree on who frees what. */
typedef struct latenn_host {
  uint32_t size;
  uint32_t abi;        /* LATENN_BACKEND_ABI of the core */
  const char* version; /* the core's version, for messages */
  /* A new status; message and report are copied; report may be NULL. Never NULL: out of memory gives a static one. */
  latenn_status* (*status)(latenn_code code, const char* message, const char* report);
} latenn_host;

typedef struct latenn_backend_model latenn_backend_model;     /* the backend's own */
typedef struct latenn_backend_context latenn_backend_context; /* the backend's own */

typedef struct latenn_backend {
  uint32_t size;
  uint32_t abi;
  const char* name;             /* "onnxruntime" */
  const char* version;          /* the backend's version */
  const char* const* encodings; /* NULL-terminated: "onnx", "openvino-ir", "tflite" */

  /* path or bytes: exactly one is given. */
  latenn_status* (*load)(const latenn_host* host, const char* path, const void* bytes, size_t size,
                         const latenn_load_options* options, latenn_backend_model** model);
  void (*release_model)(latenn_backend_model* model);
  size_t (*input_count)(const latenn_backend_model* model);
  size_t (*output_count)(const latenn_backend_model* model);
  const latenn_port* (*input)(const latenn_backend_model* model, size_t index);
  const latenn_port* (*output)(const latenn_backend_model* model, size_t index);
  const char* (*model_report)(const latenn_backend_model* model);

  latenn_status* (*create_context)(latenn_backend_model* model, latenn_backend_context** context);
  void (*release_context)(latenn_backend_context* context);
  /* The core has checked type, rank, fixed dimensions and byte count before it calls. */
  latenn_status* (*set_input)(latenn_backend_context* context, size_t index, const latenn_tensor* tensor);
  latenn_status* (*compute)(latenn_backend_context* context);
  latenn_status* (*get_output)(latenn_backend_context* context, size_t index, latenn_tensor* tensor);

  /* Binds the runtime and writes the report (JSON, malloc'ed, freed by the core with `free_text`). */
  latenn_status* (*report)(const latenn_host* host, const latenn_load_options* options, char** text);
  void (*free_text)(char* text);
} latenn_backend;

/* The type of the one exported symbol. `abi` is LATENN_BACKEND_ABI of the core; NULL means "cannot speak that". */
typedef const latenn_backend* (*latenn_backend_table_fn)(uint32_t abi);

#ifdef __cplusplus
}
#endif
#endif
