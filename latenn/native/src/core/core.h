/* core.h: what the core's own files share; nothing here knows a runtime. */
#ifndef LATENN_CORE_H
#define LATENN_CORE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "latenn.h"
#include "latenn_backend.h"

#if defined(__GNUC__)
#define LATENN_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define LATENN_PRINTF(text, first)
#endif

/* ---- status.c ------------------------------------------------------------------------------------------------- */

latenn_status* latenn_status_create(latenn_code code, const char* message, const char* report);
latenn_status* latenn_no_memory(void);
latenn_status* latenn_failure(latenn_code code, const char* format, ...) LATENN_PRINTF(2, 3);
const latenn_host* latenn_host_table(void);

/* ---- type.c ----------------------------------------------------------------------------------------------------- */

/* The product of the dimensions; 1 for rank 0. Returns 0, or non-zero when negative or too large for size_t. */
int latenn_count_elements(int32_t rank, const int64_t* shape, size_t* count);
/* Bytes of `count` elements; returns 0, or non-zero for an unknown type, for strings, and on overflow. */
int latenn_count_bytes(int32_t type, size_t count, size_t* bytes);

/* ---- check.c ---------------------------------------------------------------------------------------------------- */

/* Longer shapes are cut short in messages: nobody reads them. */
enum { LATENN_SHAPE_TEXT = 256 };

/* "[N, 3, ?]" in LATENN_SHAPE_TEXT bytes: open dimensions by the model's names. `dimensions` may be NULL. */
const char* latenn_write_shape(char* text, int32_t rank, const int64_t* shape, const char* const* dimensions);

/* Checks a tensor against its port. `what` is "input". */
latenn_status* latenn_check_tensor(const char* what, const latenn_port* port, const latenn_tensor* tensor);

/* ---- sniff.c ---------------------------------------------------------------------------------------------------- */

typedef struct latenn_encoding {
  const char* name;    /* "onnx" */
  const char* backend; /* the backend that is asked first */
} latenn_encoding;

/* From the first bytes, then from the file's name (may be NULL). NULL when neither says anything. */
const latenn_encoding* latenn_sniff(const unsigned char* bytes, size_t size, const char* path);

/* ---- backend.c -------------------------------------------------------------------------------------------------- */

/* Opens the backend that the options, LATENN_BACKEND or (else) the encoding name. `encoding` may be NULL. What its
 * table lacks is NULL. */
latenn_status* latenn_backend_open(const latenn_load_options* options, const latenn_encoding* encoding,
                                   latenn_backend* backend);

/* ---- choice.c --------------------------------------------------------------------------------------------------- */

/* Opens one backend by its name or path; `origin` says where that was written. */
typedef latenn_status* (*latenn_open_one)(const latenn_load_options* options, const char* wanted, const char* origin,
                                          latenn_backend* backend);

/* Of several names, divided by commas: the one that the encoding suggests, else the first that reads it. */
latenn_status* latenn_choose(const latenn_load_options* options, const char* names, const latenn_encoding* encoding,
                             latenn_open_one open, latenn_backend* backend);
/* The line of `advice` that is for this backend, as a text of its own that the caller frees; `advice` itself when it
 * has no such lines. NULL for none. `*copy` is what to free. */
const char* latenn_advice_of(const char* advice, const char* backend, char** copy);

/* ---- fork.c ----------------------------------------------------------------------------------------------------- */

/* How many forks are between the first process and this one. What was made when there were fewer is left alone. */
unsigned latenn_forks(void);

/* ---- model.c ---------------------------------------------------------------------------------------------------- */

struct latenn_model {
  latenn_backend backend; /* a copy: an older backend's table is shorter */
  latenn_backend_model* model;
  atomic_size_t holders; /* the caller of latenn_load until it releases, every context and every value */
  unsigned forks;        /* when it was made */
};

/* Adds a holder; latenn_model_release() removes it. */
void latenn_model_hold(latenn_model* model);

/* ---- context.c -------------------------------------------------------------------------------------------------- */

/* Why an output of the last computation is not there. */
typedef enum latenn_absence { LATENN_THERE = 0, LATENN_GONE, LATENN_UNWANTED } latenn_absence;

struct latenn_context {
  latenn_model* model;
  latenn_backend_context* context;
  latenn_value** inputs;  /* bound, or NULL; one for each input */
  latenn_value** outputs; /* bound, or NULL; one for each output */
  unsigned char* is_set;  /* by latenn_set_input(); one for each input */
  unsigned char* gone;    /* a latenn_absence; one for each output */
  int computed;           /* the last latenn_compute() succeeded: outputs are there */
  unsigned forks;         /* when it was made */
};

/* The index of the output of that name. */
latenn_status* latenn_find_output(const latenn_model* model, const char* name, size_t* index);
latenn_status* latenn_check_index(const char* what, size_t index, size_t count);
/* There is such an output, it was computed, and it is still here. */
latenn_status* latenn_check_output(const latenn_context* context, size_t index);

/* ---- run.c ------------------------------------------------------------------------------------------------------ */

struct latenn_run {
  latenn_model* model;       /* held */
  latenn_backend_run* inner; /* NULL where the backend knows no runs */
  atomic_int is_cancelled;
  unsigned forks;         /* when it was made */
  size_t wanted_count;    /* 0: all outputs */
  unsigned char wanted[]; /* one for each output */
};

/* Has the backend compute. */
latenn_status* latenn_run_compute(latenn_context* context, latenn_run* run);

/* ---- value.c ---------------------------------------------------------------------------------------------------- */

struct latenn_value {
  atomic_size_t holders;
  unsigned forks;              /* when it was made */
  latenn_model* model;         /* held */
  latenn_backend_value* inner; /* NULL where the backend knows no values */
  latenn_tensor tensor;
  latenn_device device;
  void (*release)(void* owner); /* of memory that is the caller's; may be NULL */
  void* owner;
  void* memory;    /* of a value that the core allocated */
  int read_only;   /* another library's, which lent it for reading */
  int64_t shape[]; /* of a value that the core described */
};

/* A value around what a backend made; takes it over, also on failure. */
latenn_status* latenn_value_adopt(latenn_model* model, latenn_backend_value* inner, const latenn_tensor* tensor,
                                  latenn_device device, latenn_value** value);
/* The processor can read and write there. */
int latenn_is_host(latenn_device device);

/* ---- binding.c -------------------------------------------------------------------------------------------------- */

/* Before and after a computation: sets, and copies, the bound values that the backend does not bind itself. */
latenn_status* latenn_push_inputs(latenn_context* context);
latenn_status* latenn_pull_outputs(latenn_context* context);

#endif
