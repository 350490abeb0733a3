/* backend.h: what all backends do in the same way: statuses, options, ports, and binding a runtime. No runtime is known
 * here. */
#ifndef LATENN_COMMON_BACKEND_H
#define LATENN_COMMON_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "latebind/latebind.h"
#include "latenn.h"
#include "latenn_backend.h"

#if defined(__GNUC__)
#define BACKEND_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define BACKEND_PRINTF(text, first)
#endif

/* A status with a formatted message; the core owns the memory. */
latenn_status* backend_fail(const latenn_host* host, latenn_code code, const char* format, ...) BACKEND_PRINTF(3, 4);
latenn_status* backend_no_memory(const latenn_host* host);

/* ---- what each backend implements, for table.c ---------------------------------------------------------------------
 */

/* Of models, ended by NULL. */
extern const char* const backend_encodings[];

/* Binds the runtime; `options` are whole, and *text is as backend_bind() gives it. */
latenn_status* backend_report(const latenn_host* host, const latenn_load_options* options, char** text);

latenn_status* backend_load(const latenn_host* host, const char* path, const void* bytes, size_t size,
                            const latenn_load_options* options, latenn_backend_model** model);
void backend_release_model(latenn_backend_model* model);
latenn_status* backend_create_context(latenn_backend_model* model, latenn_backend_context** context);
void backend_release_context(latenn_backend_context* context);
latenn_status* backend_set_input(latenn_backend_context* context, size_t index, const latenn_tensor* tensor);
latenn_status* backend_compute(latenn_backend_context* context);
latenn_status* backend_get_output(latenn_backend_context* context, size_t index, latenn_tensor* tensor);

/* Only with -DBACKEND_VALUES. */
latenn_status* backend_wrap_value(latenn_backend_model* model, const latenn_tensor* tensor, latenn_device device,
                                  latenn_backend_value** value);
latenn_status* backend_create_value(latenn_backend_model* model, int32_t type, int32_t rank, const int64_t* shape,
                                    latenn_device device, latenn_backend_value** value, latenn_tensor* tensor);
void backend_release_value(latenn_backend_value* value);
latenn_status* backend_bind_input(latenn_backend_context* context, size_t index, latenn_backend_value* value);
latenn_status* backend_bind_output(latenn_backend_context* context, size_t index, latenn_backend_value* value);
latenn_status* backend_bind_output_device(latenn_backend_context* context, size_t index, latenn_device device);
latenn_status* backend_take_output(latenn_backend_context* context, size_t index, latenn_backend_value** value,
                                   latenn_tensor* tensor, latenn_device* device);

/* Only with -DBACKEND_RUNS. */
latenn_status* backend_create_run(latenn_backend_model* model, const latenn_option* options, size_t count,
                                  latenn_backend_run** run);
void backend_release_run(latenn_backend_run* run);
void backend_cancel_run(latenn_backend_run* run);
latenn_status* backend_compute_with(latenn_backend_context* context, latenn_backend_run* run,
                                    const unsigned char* wanted);
latenn_status* backend_model_metadata(const latenn_backend_model* model, char** text);
latenn_status* backend_end_profile(latenn_backend_model* model, char** path);

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* A caller's struct may be shorter than ours, as in the first version: what it lacks is zero. NULL is all zero. */
latenn_status* backend_copy_options(const latenn_host* host, const latenn_load_options* given,
                                    latenn_load_options* own);
/* Refuses an option list that cannot be read: no key, no value, no list. */
latenn_status* backend_check_list(const latenn_host* host, const latenn_load_options* options);
/* A whole number from `lowest` to `highest`; returns 0, or non-zero for any other text. */
int backend_read_number(const char* text, int lowest, int highest, int* value);

/* ---- ports ------------------------------------------------------------------------------------------------------- */

typedef struct backend_ports {
  latenn_port* list;
  size_t count;
} backend_ports;

/* What every backend's model begins with, so that the functions below serve all of them. */
typedef struct backend_described {
  const latenn_host* host;
  char* report;
  backend_ports inputs;
  backend_ports outputs;
} backend_described;

char* backend_copy_text(const char* text); /* "" for NULL; NULL when out of memory */
latenn_status* backend_make_ports(const latenn_host* host, size_t count, backend_ports* ports);
/* Room for a shape: all dimensions open, without names. */
latenn_status* backend_make_shape(const latenn_host* host, size_t rank, latenn_port* port);
void backend_release_described(backend_described* described);

size_t backend_input_count(const latenn_backend_model* model);
size_t backend_output_count(const latenn_backend_model* model);
const latenn_port* backend_input(const latenn_backend_model* model, size_t index);
const latenn_port* backend_output(const latenn_backend_model* model, size_t index);
const char* backend_model_report(const latenn_backend_model* model);
void backend_free_text(char* text);

/* ---- runtime ----------------------------------------------------------------------------------------------------- */

/* Binds the runtime. `*report` is its report as JSON, also on failure (NULL when out of memory); the caller frees. */
latenn_status* backend_bind(const latenn_host* host, lb_binding* binding, const lb_runtime* runtime,
                            const latenn_load_options* options, char** report);

/* An exported function of the runtime, and where its address goes. */
typedef struct backend_symbol {
  const char* name;
  size_t place; /* offset in the table of functions */
} backend_symbol;

/* Fills a table of functions; the first that the runtime lacks is named in the status. */
latenn_status* backend_resolve(const latenn_host* host, const lb_binding* binding, const lb_runtime* runtime,
                               const backend_symbol* symbols, size_t count, void* table);

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* Bytes of `count` elements of a type of latenn; 0 for strings and unknown types. */
size_t backend_count_bytes(int32_t type, size_t count);

#endif
