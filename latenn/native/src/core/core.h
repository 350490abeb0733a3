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
latenn_status* latenn_failure(latenn_code code, const char* format, ...) LATENN_PRINTF(2, 3);
const latenn_host* latenn_host_table(void);

/* ---- type.c ----------------------------------------------------------------------------------------------------- */

/* The product of the dimensions; 1 for rank 0. Returns 0, or non-zero when negative or too large for size_t. */
int latenn_count_elements(int32_t rank, const int64_t* shape, size_t* count);
/* Bytes of `count` elements; returns 0, or non-zero for an unknown type, for strings, and on overflow. */
int latenn_count_bytes(int32_t type, size_t count, size_t* bytes);

/* ---- check.c ---------------------------------------------------------------------------------------------------- */

/* Holds a tensor against the port that it is meant for. `what` is "input". */
latenn_status* latenn_check_tensor(const char* what, const latenn_port* port, const latenn_tensor* tensor);

/* ---- sniff.c ---------------------------------------------------------------------------------------------------- */

typedef struct latenn_encoding {
  const char* name;    /* "onnx" */
  const char* backend; /* the backend that is asked first */
} latenn_encoding;

/* From the first bytes, then from the file's name (may be NULL). NULL when neither says anything. */
const latenn_encoding* latenn_sniff(const unsigned char* bytes, size_t size, const char* path);

/* ---- backend.c -------------------------------------------------------------------------------------------------- */

/* Opens the backend that the options, LATENN_BACKEND or (else) the encoding name. `encoding` may be NULL. */
latenn_status* latenn_backend_open(const latenn_load_options* options, const latenn_encoding* encoding,
                                   const latenn_backend** backend);

/* ---- choice.c --------------------------------------------------------------------------------------------------- */

/* Opens one backend by its name or path; `origin` says where that was written. */
typedef latenn_status* (*latenn_open_one)(const latenn_load_options* options, const char* wanted, const char* origin,
                                          const latenn_backend** backend);

/* Of several names, divided by commas: the one that the encoding suggests, else the first that reads it. */
latenn_status* latenn_choose(const latenn_load_options* options, const char* names, const latenn_encoding* encoding,
                             latenn_open_one open, const latenn_backend** backend);
/* The line of `advice` that is for this backend, as a text of its own that the caller frees; `advice` itself when it
 * has no such lines. NULL for none. `*copy` is what to free. */
const char* latenn_advice_of(const char* advice, const char* backend, char** copy);

/* ---- model.c ---------------------------------------------------------------------------------------------------- */

struct latenn_model {
  const latenn_backend* backend;
  latenn_backend_model* model;
  atomic_size_t holders; /* the caller of latenn_load, until he releases, and every context */
};

/* One holder more. It is left again with latenn_model_release(). */
void latenn_model_hold(latenn_model* model);

#endif
