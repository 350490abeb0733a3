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

/* The message of a status of the runtime that the backend makes itself: ort_take() knows it. */
#define ORT_NO_MEMORY "Out of memory."

typedef enum ort_phase { ORT_PHASE_SETUP, ORT_PHASE_LOAD, ORT_PHASE_COMPUTE } ort_phase;

/* NULL for NULL; else takes the runtime's status, releases it, and says what was being done. */
latenn_status* ort_take(const latenn_host* host, const lb_ort_api* api, OrtStatus* failed, ort_phase phase,
                        const char* doing);

/* ---- ending.c ---------------------------------------------------------------------------------------------------- */

/* Once, when the runtime has been started: lets forked children end. */
void ort_guard_end(const lb_ort_api* api);

/* Who gets what the runtime logs of a model. */
typedef struct ort_log {
  latenn_log_fn function; /* NULL: the runtime's own, which prints */
  void* user;
} ort_log;

/* ---- plugins.c --------------------------------------------------------------------------------------------------- */

/* A path as the runtime takes it: wide characters on Windows. NULL when out of memory; the caller frees. */
ORTCHAR_T* ort_make_path(const char* path);
/* Calls what takes a path for a session. */
OrtStatus* ort_with_path(const lb_ort_api* api, const char* path, OrtSessionOptions* session,
                         OrtStatus* (*use)(const lb_ort_api* api, OrtSessionOptions* session, const ORTCHAR_T* path));
/* Registers the library of an execution provider once in the process. */
latenn_status* ort_register_plugin(const latenn_host* host, const ort_runtime* runtime, const char* name,
                                   const char* path);

/* ---- providers.c ------------------------------------------------------------------------------------------------- */

/* Refuses options of providers that are not asked for. */
latenn_status* ort_check_providers(const latenn_host* host, const latenn_load_options* options);
/* The execution providers of a session, from plugins too, in their order. */
latenn_status* ort_append_providers(const latenn_host* host, const ort_runtime* runtime, latenn_device device,
                                    const latenn_load_options* options, OrtSessionOptions* session);

/* ---- options.c -------------------------------------------------------------------------------------------------- */

/* What follows the prefix of a key; NULL for another key. */
const char* ort_after(const char* key, const char* prefix);
latenn_status* ort_check_options(const latenn_host* host, const latenn_load_options* options);
latenn_status* ort_apply_options(const latenn_host* host, const lb_ort_api* api, const latenn_load_options* options,
                                 OrtSessionOptions* session);
/* Sets who gets the session's log, and from which severity on unless an option says so. The log must outlive it. */
latenn_status* ort_apply_log(const latenn_host* host, const lb_ort_api* api, const ort_log* log,
                             OrtSessionOptions* session);

/* ---- entries.c -------------------------------------------------------------------------------------------------- */

/* Before the key of a config entry that latenn does not know: it is handed on as it is. */
#define ORT_ENTRY_PREFIX "config_entry."

/* The key as the runtime gets it. */
const char* ort_entry_of(const char* key);
latenn_status* ort_check_session_entry(const latenn_host* host, const latenn_option* option);
latenn_status* ort_check_run_entry(const latenn_host* host, const latenn_option* option);

/* ---- ports.c ---------------------------------------------------------------------------------------------------- */

latenn_status* ort_read_ports(const latenn_host* host, const ort_runtime* runtime, const OrtSession* session,
                              int is_input, backend_ports* ports);

/* ---- model.c ---------------------------------------------------------------------------------------------------- */

struct latenn_backend_model {
  backend_described described; /* first: see backend_described */
  const ort_runtime* runtime;
  OrtSession* session;
  ort_log log;
  latenn_device device;     /* that it computes on */
  const char** input_names; /* as Run() wants them; they point into the ports */
  const char** output_names;
};

/* ---- devices.c -------------------------------------------------------------------------------------------------- */

/* "cpu", "cuda", "cuda:1"; anything else is refused in words. */
latenn_status* ort_read_device(const latenn_host* host, const char* text, latenn_device* device);
/* The runtime's description of a device's memory; the caller releases. */
latenn_status* ort_make_memory(const latenn_backend_model* model, latenn_device device, OrtMemoryInfo** memory);
/* Where a value of the runtime is. */
latenn_status* ort_locate(const latenn_backend_model* model, const OrtValue* value, latenn_device* device);

/* ---- value.c ---------------------------------------------------------------------------------------------------- */

/* A value of the runtime and the view of it that was given out. */
struct latenn_backend_value {
  latenn_backend_model* model;
  OrtValue* value;
  latenn_device device;
  latenn_tensor view;
  int is_read; /* `view` is filled */
  int64_t* shape;
  char* text;
  size_t* offsets;
  OrtAllocator* allocator; /* of the value's memory, where it is not a lasting one */
};

latenn_status* ort_refused(const latenn_backend_model* model, OrtStatus* failed);
latenn_status* ort_make_input(const latenn_backend_model* model, const latenn_tensor* tensor, OrtValue** value);
/* Fills the view; `name` is for messages. */
latenn_status* ort_read_value(const latenn_backend_model* model, latenn_backend_value* value, const char* name);
/* The runtime leaves the last half byte of 4-bit elements as it found it. */
void ort_trim(const latenn_backend_value* value);
/* Releases what the struct holds and clears it. */
void ort_clear_value(latenn_backend_value* value);

/* ---- context.c -------------------------------------------------------------------------------------------------- */

struct latenn_backend_context {
  latenn_backend_model* model;
  OrtValue** inputs;                    /* set for one computation */
  latenn_backend_value** bound_inputs;  /* the core holds them */
  latenn_backend_value** bound_outputs; /* the core holds them */
  OrtMemoryInfo** targets;              /* where outputs are to be left; NULL is plain memory */
  latenn_backend_value* outputs;        /* of the last computation, but for the bound ones */
  const OrtValue** given;               /* as Run() reads them */
  OrtValue** results;                   /* as Run() writes them */
  OrtIoBinding* binding;                /* made when it is first needed */
  int is_laid;                          /* `binding` has all that is bound */
  unsigned repeats;                     /* computations since something was bound */
  const OrtRunOptions* options;         /* of the computation under way, or NULL */
  const unsigned char* wanted;          /* of the computation under way; NULL: all outputs */
};

int ort_is_wanted(const latenn_backend_context* context, size_t output);

/* ---- binding.c -------------------------------------------------------------------------------------------------- */

/* The runtime forgets what is about to change: it must not keep what the caller releases. */
void ort_unlay(latenn_backend_context* context);
/* Runs with outputs left on devices; fills `results`. */
OrtStatus* ort_run_bound(latenn_backend_context* context);
/* Whether all is bound, and was when it was last computed: then the runtime can be set once. */
int ort_is_repeated(latenn_backend_context* context);
OrtStatus* ort_run_repeated(latenn_backend_context* context);

#endif
