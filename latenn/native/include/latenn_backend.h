/*
 * latenn_backend.h: what a backend provides to the core, and the core to a backend.
 *
 * A backend is a shared library named latenn_backend_<name> that exports one C symbol, latenn_backend_table. The
 * core asks it for a table of an interface version; a backend that cannot speak that version returns NULL.
 * Tables begin with their size and only grow at the end, so old and new meet safely.
 *
 * Options (latenn_load_options.options) belong to the backend. Those of "onnxruntime":
 *   intra_op_num_threads, inter_op_num_threads   a number; 0 is the runtime's own choice
 *   graph_optimization_level                     disable, basic, extended or all (the default)
 *   log_severity_level                           0 (verbose) to 4 (fatal, the default: errors come as statuses; 2, with
 *                                                latenn_load_options.log)
 *   ep                            execution providers by name, in order: "XNNPACK,CPUExecutionProvider"
 *   ep.NAME.KEY                   an option of the execution provider NAME, which is in `ep`
 *   ep_device.NAME                which of the provider's devices, counted from 0 (the default)
 *   plugin_ep.NAME                the absolute path of a provider's library, which is registered under NAME once in a
 *                                 process, before `ep` is read (ONNX Runtime 1.22)
 *   custom_op_library[.NAME]      the absolute path of a library of custom operators; NAME is free, for several
 *   free_dimension.NAME           a number: the size of the open dimension of that name
 *   free_dimension_denotation.X   a number: the size of the open dimensions of that denotation
 *   profile                       how the path of the profile begins, which latenn_model_end_profile() ends
 *   session.KEY, optimization.KEY, mlas.KEY, ep.KEY   a session config entry that ONNX Runtime is known to read:
 *                                 session.intra_op.allow_spinning
 *   custom_op.NAME.KEY            a session config entry that the custom operator NAME reads
 *   config_entry.KEY              any session config entry: KEY is handed on as it is
 * Options of a run (latenn_run_create()) of "onnxruntime", next to "output":
 *   tag                           a text for the log
 *   log_severity_level            as above, for the run
 *   lora_adapter[.NAME]           the path of a LoRA adapter (ONNX Runtime 1.20); NAME is free, for several
 *   memory.KEY, qnn.KEY           a run config entry that ONNX Runtime is known to read
 *   config_entry.KEY              any run config entry: KEY is handed on as it is
 * Those of "litert":
 *   num_threads          a number; 0 is the runtime's own choice
 *   signature            the one to run; by default the first
 *   log_severity_level   0 (verbose) to 4 (silent). LiteRT has one for the whole process: the first model makes it
 *                        silent without this option, and others leave it as it is
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
typedef struct latenn_backend_value latenn_backend_value;     /* the backend's own */
typedef struct latenn_backend_run latenn_backend_run;         /* the backend's own */

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

  /* ---- the first version ends here: each member below may be missing or NULL; the core then copies, or reports what
   * cannot be done. A backend that returns values has release_value. ---- */

  /* Memory of the core or its caller, which outlives the value, as a value; numbers only. NULL values are never given,
   * and the backend has to refuse a device that it does not know. */
  latenn_status* (*wrap_value)(latenn_backend_model* model, const latenn_tensor* tensor, latenn_device device,
                               latenn_backend_value** value);
  /* Memory of the runtime. `tensor` is filled, and lives as long as the value. */
  latenn_status* (*create_value)(latenn_backend_model* model, int32_t type, int32_t rank, const int64_t* shape,
                                 latenn_device device, latenn_backend_value** value, latenn_tensor* tensor);
  /* From any thread. The core keeps alive the model that the value was made with, not the context. */
  void (*release_value)(latenn_backend_value* value);
  /* For this and every later compute, until another value or NULL is bound; the core holds the value meanwhile. It may
   * have been made with another model of this backend. */
  latenn_status* (*bind_input)(latenn_backend_context* context, size_t index, latenn_backend_value* value);
  latenn_status* (*bind_output)(latenn_backend_context* context, size_t index, latenn_backend_value* value);
  /* On success it ends the binding of a value there; bind_output() ends it. */
  latenn_status* (*bind_output_device)(latenn_backend_context* context, size_t index, latenn_device device);
  /* An output of the last compute that is not bound to a value; the context forgets it, and views of it stay good. */
  latenn_status* (*take_output)(latenn_backend_context* context, size_t index, latenn_backend_value** value,
                                latenn_tensor* tensor, latenn_device* device);

  /* Options of runs, except "output". A backend that returns runs has release_run and compute_with. */
  latenn_status* (*create_run)(latenn_backend_model* model, const latenn_option* options, size_t count,
                               latenn_backend_run** run);
  void (*release_run)(latenn_backend_run* run);
  /* From any thread; compute_with() ends with any failure then. */
  void (*cancel_run)(latenn_backend_run* run);
  /* `wanted` has a number for each output, 0 for those that nobody asks for; NULL: all are wanted. */
  latenn_status* (*compute_with)(latenn_backend_context* context, latenn_backend_run* run, const unsigned char* wanted);
  /* JSON as latenn_model_metadata() has it, freed with `free_text`. */
  latenn_status* (*model_metadata)(const latenn_backend_model* model, char** text);
  /* Freed with `free_text`. */
  latenn_status* (*end_profile)(latenn_backend_model* model, char** path);
  uint32_t takes_files; /* not 0: latenn_load_options.files is read; else the core refuses files */
} latenn_backend;

/* Bytes of the first version's table: a backend's may not be shorter. */
#define LATENN_BACKEND_SIZE_1 offsetof(latenn_backend, wrap_value)

/* Bytes of the first version's options: a caller's may not be shorter, or it forgot to set the size. */
#define LATENN_LOAD_OPTIONS_SIZE_1 offsetof(latenn_load_options, weights)

/* The type of the one exported symbol. `abi` is LATENN_BACKEND_ABI of the core; NULL means "cannot speak that". */
typedef const latenn_backend* (*latenn_backend_table_fn)(uint32_t abi);

#ifdef __cplusplus
}
#endif
#endif
