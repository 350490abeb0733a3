/*
 * latenn.h: run a model with a runtime that someone else supplies.
 *
 * The shape is wasi-nn's: load, create an execution context, set inputs, compute, get outputs. The core knows no
 * runtime; a backend is a shared library (latenn_backend_<name>) that is opened when a model first needs it.
 *
 * Every function that can fail returns a latenn_status*: NULL is success; anything else belongs to the caller,
 * who reads it and gives it to latenn_status_release(). There is no global state. A model may be used from
 * several threads at once; a context may not.
 */
#ifndef LATENN_H
#define LATENN_H

#include <stddef.h>
#include <stdint.h>

#if defined(LATENN_STATIC)
#define LATENN_API
#elif defined(_WIN32) && defined(LATENN_BUILD)
#define LATENN_API __declspec(dllexport)
#elif defined(_WIN32)
#define LATENN_API __declspec(dllimport)
#else
#define LATENN_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a struct or a function changes its meaning; additions do not raise it. */
#define LATENN_ABI 1

LATENN_API uint32_t latenn_abi(void);
/* "0.1.0"; never NULL. */
LATENN_API const char* latenn_version(void);

/* ---- status --------------------------------------------------------------------------------------------- */

typedef enum latenn_code {
  LATENN_OK = 0,
  LATENN_INVALID_ARGUMENT = 1,    /* the caller's mistake: a name, a type, a shape, a NULL */
  LATENN_BACKEND_MISSING = 2,     /* no backend library for this model or of this name */
  LATENN_BACKEND_UNUSABLE = 3,    /* a backend was found and cannot be used: version skew, broken file */
  LATENN_RUNTIME_UNAVAILABLE = 4, /* the backend is fine, its runtime is not: see latenn_status_report() */
  LATENN_MODEL_INVALID = 5,       /* the runtime refuses the model */
  LATENN_UNSUPPORTED = 6,         /* a sequence, map, optional or sparse value; an unknown element type; an operation
                                     that the runtime lacks */
  LATENN_COMPUTE_FAILED = 7,      /* the runtime failed while it computed */
  LATENN_OUT_OF_MEMORY = 8,
  LATENN_IO = 9,        /* a file cannot be read */
  LATENN_CANCELLED = 10 /* latenn_run_cancel() ended it, or came before it */
} latenn_code;

typedef struct latenn_status latenn_status;

LATENN_API latenn_code latenn_status_code(const latenn_status* status);    /* LATENN_OK for NULL */
LATENN_API const char* latenn_status_message(const latenn_status* status); /* "" for NULL; owned by status */
/* The loader's report as JSON where the failure was one of finding a library, else "". Owned by status. */
LATENN_API const char* latenn_status_report(const latenn_status* status);
LATENN_API void latenn_status_release(latenn_status* status); /* NULL is allowed */

/* ---- tensors -------------------------------------------------------------------------------------------- */

/* Element types, numbered as in ONNX's TensorProto.DataType. */
typedef enum latenn_type {
  LATENN_UNDEFINED = 0,
  LATENN_FLOAT32 = 1,
  LATENN_UINT8 = 2,
  LATENN_INT8 = 3,
  LATENN_UINT16 = 4,
  LATENN_INT16 = 5,
  LATENN_INT32 = 6,
  LATENN_INT64 = 7,
  LATENN_STRING = 8,
  LATENN_BOOL = 9,
  LATENN_FLOAT16 = 10,
  LATENN_FLOAT64 = 11,
  LATENN_UINT32 = 12,
  LATENN_UINT64 = 13,
  LATENN_COMPLEX64 = 14,
  LATENN_COMPLEX128 = 15,
  LATENN_BFLOAT16 = 16,
  LATENN_FLOAT8E4M3FN = 17,
  LATENN_FLOAT8E4M3FNUZ = 18,
  LATENN_FLOAT8E5M2 = 19,
  LATENN_FLOAT8E5M2FNUZ = 20,
  LATENN_UINT4 = 21, /* two elements to a byte, the first in the low half */
  LATENN_INT4 = 22
} latenn_type;

/* "float32"; "unknown" for anything else. Never NULL. */
LATENN_API const char* latenn_type_name(int32_t type);
/* Bits of one element: 32 for float32, 4 for int4, 0 for strings and unknown types. */
LATENN_API size_t latenn_type_bits(int32_t type);

/*
 * A view of a tensor; it owns nothing. Elements are C-contiguous in `data`, `bytes` long.
 * Strings: `data` holds the UTF-8 bytes of all elements one after the other with nothing between them, and
 * `offsets` holds count + 1 positions, the last of which is `bytes`. Else `offsets` is NULL.
 */
typedef struct latenn_tensor {
  int32_t type; /* latenn_type */
  int32_t rank; /* 0 for a scalar */
  const int64_t* shape;
  void* data;
  size_t bytes;
  const size_t* offsets;
} latenn_tensor;

/* An input or output of a model. Strings and arrays belong to the model. */
typedef struct latenn_port {
  const char* name;
  int32_t type;
  int32_t rank;                  /* -1 where the model leaves it open, or where the runtime cannot tell a scalar from
                                    that (ONNX Runtime before 1.24): then any shape is taken */
  const int64_t* shape;          /* -1 where the model leaves a dimension open */
  const char* const* dimensions; /* the model's names for open dimensions, "" where there is none */
} latenn_port;

/* ---- forks ------------------------------------------------------------------------------------------------ */

/* Call this in a child process after fork(), before any other function: what the parent made is never released there,
 * since a runtime would wait for threads that the child does not have, or for locks that they held. */
LATENN_API void latenn_forked(void);

/* ---- models --------------------------------------------------------------------------------------------- */

typedef struct latenn_option {
  const char* key;
  const char* value;
} latenn_option;

/* A file in memory. */
typedef struct latenn_file {
  const char* name;
  const void* data;
  size_t size;
} latenn_file;

/* Gets a line of a runtime's log: severity 0 (verbose), 1, 2 (warning), 3, 4 (fatal). Called on any thread. */
typedef void (*latenn_log_fn)(void* user, int32_t severity, const char* category, const char* message);

/* How to load. Zero everything, set `size`, then what is needed: a struct without its size is refused. Nothing is kept
 * after latenn_load() returns, but for `log` and `log_user`. */
typedef struct latenn_load_options {
  uint32_t size;       /* sizeof(latenn_load_options) */
  const char* backend; /* a name ("onnxruntime"), a path to a backend library, or NULL: LATENN_BACKEND, else
                          by the model's encoding. Several names ("litert,openvino"): of these, the one that the
                          encoding suggests, else the first that reads it */
  const char* device;  /* "cpu", "cuda" or "cuda:1"; NULL is "cpu" */
  const char* const* backend_directories; /* where the host binding found backend packages */
  size_t backend_directory_count;
  const char* runtime_path;               /* explicit file or folder of the runtime, or NULL. A process binds one
                                             runtime per backend; asking for another one later is an error */
  const char* const* runtime_directories; /* where the host binding found runtime packages */
  size_t runtime_directory_count;
  const char* runtime_minimum;  /* "1.20": raises the backend's own floor; NULL leaves it */
  const char* runtime_advice;   /* the command that the host's users type to get the runtime, or NULL. A line for
                                   each backend: "onnxruntime: pip install ...", of which the right one is taken */
  const latenn_option* options; /* for the backend: see latenn_backend.h; an unknown key is an error */
  size_t option_count;
  const void* weights; /* the .bin of an OpenVINO IR whose .xml comes from memory; NULL for every other model */
  size_t weights_size;
  latenn_log_fn log; /* gets what ONNX Runtime logs of this model, until the model and all its contexts and values are
                        released; NULL: it prints to stderr. By default it gets warnings and errors, and nothing is
                        printed: see the option log_severity_level. The other backends log nothing */
  void* log_user;    /* passed to it */
  const latenn_file* files; /* what the model keeps outside of itself, by the names that it has in the model: the
                               external data of an ONNX model that comes from memory */
  size_t file_count;
} latenn_load_options;

typedef struct latenn_model latenn_model;

/* Loads a model from a file (UTF-8 path). Data that the model keeps next to itself is found next to it. */
LATENN_API latenn_status* latenn_load_path(const char* path, const latenn_load_options* options, latenn_model** model);
/* Loads a model from memory, which may be freed afterwards. */
LATENN_API latenn_status* latenn_load_bytes(const void* bytes, size_t size, const latenn_load_options* options,
                                            latenn_model** model);
/* Ends the caller's use of the model: no other call with it may be under way or follow, and what it owns (ports,
 * texts) is gone. Contexts keep what they need alive: they may be used and released afterwards. NULL is allowed. */
LATENN_API void latenn_model_release(latenn_model* model);

LATENN_API size_t latenn_input_count(const latenn_model* model);
LATENN_API size_t latenn_output_count(const latenn_model* model);
/* NULL when the index is out of range. Owned by the model. */
LATENN_API const latenn_port* latenn_input(const latenn_model* model, size_t index);
LATENN_API const latenn_port* latenn_output(const latenn_model* model, size_t index);
/* The backend's name and the loader's report on the runtime that it bound, as JSON. Owned by the model. */
LATENN_API const char* latenn_model_backend(const latenn_model* model);
LATENN_API const char* latenn_model_report(const latenn_model* model);

/* The metadata of the model as JSON: producer_name, graph_name, domain, description, graph_description (texts),
 * version (a number) and custom (an object of texts). Release with latenn_text_release(). */
LATENN_API latenn_status* latenn_model_metadata(const latenn_model* model, char** json);

/* Ends the profile that a load option began, and gives the path of the file that was written. Release with
 * latenn_text_release(). */
LATENN_API latenn_status* latenn_model_end_profile(latenn_model* model, char** path);

/* Binds the runtime of a backend without a model and gives the report as JSON; release with latenn_text_release().
 * The report is given on failure too: then *report says why and the status is LATENN_RUNTIME_UNAVAILABLE. */
LATENN_API latenn_status* latenn_runtime_report(const latenn_load_options* options, char** report);
LATENN_API void latenn_text_release(char* text); /* NULL is allowed */

/* ---- computing ------------------------------------------------------------------------------------------ */

typedef struct latenn_context latenn_context;

LATENN_API latenn_status* latenn_context_create(latenn_model* model, latenn_context** context);
/* NULL is allowed. Views from latenn_get_output() end here. */
LATENN_API void latenn_context_release(latenn_context* context);

/* Binds an input. Type, rank and fixed dimensions are checked. Numbers are not copied: `tensor->data` must stay
 * valid and unchanged until latenn_compute() returns. Strings are copied. */
LATENN_API latenn_status* latenn_set_input(latenn_context* context, size_t index, const latenn_tensor* tensor);
LATENN_API latenn_status* latenn_set_input_by_name(latenn_context* context, const char* name,
                                                   const latenn_tensor* tensor);
/* Runs the model. Every input must be bound, or set since the last call that succeeded or failed. Outputs of the
 * previous call are released, except those that were taken. A call that is refused because an input is missing keeps
 * the inputs that were set. */
LATENN_API latenn_status* latenn_compute(latenn_context* context);
/* A view that lives until the next latenn_compute() or latenn_context_release(). */
LATENN_API latenn_status* latenn_get_output(latenn_context* context, size_t index, latenn_tensor* tensor);
LATENN_API latenn_status* latenn_get_output_by_name(latenn_context* context, const char* name, latenn_tensor* tensor);

/* ---- options of runs --------------------------------------------------------------------------------------- */

/* What a computation gets besides its inputs. One serves any number of computations of its model, even at the same
 * time; it keeps the model alive. */
typedef struct latenn_run latenn_run;

/* Every backend knows the option "output": the name of an output that is wanted. Once there is one, other outputs are
 * not computed (where the backend can leave them out) and are not available afterwards. Other options belong to the
 * backend: see latenn_backend.h; an unknown key is an error. */
LATENN_API latenn_status* latenn_run_create(latenn_model* model, const latenn_option* options, size_t count,
                                            latenn_run** run);
/* Ends the computations that use the run, and lets no other begin: they fail with LATENN_CANCELLED. Call it on any
 * thread, until the run is released. Where the backend cannot end what has begun, the status is LATENN_UNSUPPORTED. */
LATENN_API latenn_status* latenn_run_cancel(latenn_run* run);
/* No computation may use it any more. NULL is allowed. */
LATENN_API void latenn_run_release(latenn_run* run);
/* latenn_compute() with options; NULL for none. */
LATENN_API latenn_status* latenn_compute_with(latenn_context* context, latenn_run* run);

/* ---- bound values ----------------------------------------------------------------------------------------- */

/* Where memory is, numbered as in DLPack. */
typedef enum latenn_device_type { LATENN_CPU = 1, LATENN_CUDA = 2, LATENN_CUDA_HOST = 3 } latenn_device_type;

typedef struct latenn_device {
  int32_t type; /* latenn_device_type, or another of DLPack's */
  int32_t id;
} latenn_device;

/* A tensor of numbers or strings that owns or borrows its memory. It counts its holders, who may be on any thread, and
 * keeps alive what it needs: it outlives the context and the caller's use of the model. */
typedef struct latenn_value latenn_value;

/* The caller's memory as a value, without a copy: numbers, aligned to their size. The memory must stay until
 * release(owner) is called once by the last holder, on its thread; release may be NULL. The shape is
 * copied. On failure release is not called. */
LATENN_API latenn_status* latenn_value_wrap(latenn_model* model, const latenn_tensor* tensor, latenn_device device,
                                            void (*release)(void* owner), void* owner, latenn_value** value);
/* Memory of the runtime for numbers; what is in it is left as it is found. */
LATENN_API latenn_status* latenn_value_create(latenn_model* model, int32_t type, int32_t rank, const int64_t* shape,
                                              latenn_device device, latenn_value** value);
/* Lives as long as the value. `data` is an address of the value's device. */
LATENN_API const latenn_tensor* latenn_value_tensor(const latenn_value* value);
LATENN_API latenn_device latenn_value_device(const latenn_value* value);
/* Not 0 for memory that was lent for reading: it is refused as an output. See latenn_value_from_dlpack(). */
LATENN_API int latenn_value_read_only(const latenn_value* value);
LATENN_API void latenn_value_hold(latenn_value* value);    /* adds a holder */
LATENN_API void latenn_value_release(latenn_value* value); /* removes a holder; NULL is allowed */

/* A binding holds its value and stays until another value or NULL is bound; every latenn_compute() uses it. Type, rank
 * and fixed dimensions are checked. A value may be bound in several places, and in contexts of other models of the same
 * backend without a copy. Where an output overlaps an input, the model's operators determine what becomes of both. A
 * bound input is not set: latenn_set_input() refuses it. */
LATENN_API latenn_status* latenn_bind_input(latenn_context* context, size_t index, latenn_value* value);
/* Written in place. A shape that only the computation knows is checked against the value's after it. */
LATENN_API latenn_status* latenn_bind_output(latenn_context* context, size_t index, latenn_value* value);
/* For an output of unknown shape: the runtime allocates it on the device, anew for every computation. What
 * latenn_get_output() shows of it is an address of that device. latenn_bind_output() with NULL ends it. */
LATENN_API latenn_status* latenn_bind_output_device(latenn_context* context, size_t index, latenn_device device);
/* An output of the last computation for the caller to keep: no copy, unless the backend cannot do without. The context
 * forgets it; views of it stay good as long as the value. For a bound output this is the bound value, with one more
 * holder.
 */
LATENN_API latenn_status* latenn_take_output(latenn_context* context, size_t index, latenn_value** value);

/* ---- DLPack ----------------------------------------------------------------------------------------------- */

/* The value as a DLPack tensor for another library: a DLManagedTensorVersioned, or the older DLManagedTensor. It holds
 * the value until its deleter is called, on any thread. */
LATENN_API latenn_status* latenn_value_to_dlpack(latenn_value* value, int versioned, void** managed);
/* Another library's DLPack tensor as a value, without a copy: it must be C-contiguous. The value calls the deleter when
 * its last holder leaves. One that is marked read-only, or that is older than DLPack 1.0 and so has no such mark, is
 * never written to. On failure the tensor stays the caller's. */
LATENN_API latenn_status* latenn_value_from_dlpack(latenn_model* model, void* managed, int versioned,
                                                   latenn_value** value);

#ifdef __cplusplus
}
#endif
#endif
