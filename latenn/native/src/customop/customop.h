/* customop.h: what the files of the custom operator share. It wraps a model of any backend as one node of a graph. */
#ifndef LATENN_CUSTOMOP_H
#define LATENN_CUSTOMOP_H

#include <stdatomic.h>

#include "../core/core.h"
#include "layout.h"

#define CUSTOMOP_DOMAIN "latenn"
#define CUSTOMOP_NAME   "Model"

/* The version of the attributes that this library reads: raised when one changes its meaning. */
enum { CUSTOMOP_ATTRIBUTES = 1, CUSTOMOP_CONTEXTS = 64 };

/* One call of RegisterCustomOps(). Kept for ever: ONNX Runtime does not say when the last session options with it go.
 */
typedef struct customop_registration {
  customop_layout op; /* first: ONNX Runtime hands its address back */
  lb_ort_api api;
  OrtSessionOptions* options; /* a copy, with the config entries as they were */
} customop_registration;

/* ---- status.c --------------------------------------------------------------------------------------------------- */

/* A status of latenn as one of ONNX Runtime's, with the node's name before it; releases ours. NULL for NULL. */
OrtStatus* customop_give(const lb_ort_api* api, const char* node, latenn_status* status);
/* A status of ONNX Runtime as one of latenn's; releases theirs. NULL for NULL. */
latenn_status* customop_take(const lb_ort_api* api, OrtStatus* failed);

/* ---- settings.c ------------------------------------------------------------------------------------------------- */

/* Bytes that end with a NUL which is not counted. */
typedef struct customop_text {
  char* bytes; /* NULL where it was not given */
  size_t size;
} customop_text;

/* Lines of a text. */
typedef struct customop_lines {
  const char** list;
  size_t count;
} customop_lines;

/* What the node's attributes and the session's entries say; an entry takes precedence. */
typedef struct customop_settings {
  customop_text node; /* the node's name */
  customop_text model, weights, path;
  customop_text input_names, output_names;
  customop_text backend, device, options, directory;
  customop_text allow_any_path; /* "1": path and data of a model may be anywhere */
  customop_text backends; /* the installed ones, of which the model's encoding chooses where no backend is named */
  customop_text backend_directories, runtime_directories;
  customop_text runtime_path, runtime_minimum, runtime_advice;
  customop_lines inputs, outputs; /* the model's names, in the node's order */
} customop_settings;

latenn_status* customop_read_settings(const customop_registration* registration, const OrtKernelInfo* info,
                                      customop_settings* settings);
void customop_clear_settings(customop_settings* settings);
/* Cuts a text at its line ends; lines without anything on them are left out. */
latenn_status* customop_split(customop_text* text, customop_lines* lines);

/* ---- attributes.c ----------------------------------------------------------------------------------------------- */

/* What an attribute may say; NULL when it is allowed, or not there. */
latenn_status* customop_check_backend(const customop_text* text);
latenn_status* customop_check_device(const customop_text* text);
latenn_status* customop_check_lines(const customop_text* text);
latenn_status* customop_check_path(const customop_text* text);
/* Whether a path names something below the folder that it begins at, on every system, regardless of links. */
int customop_is_below(const char* path, size_t size);
/* The status of a path that leads out of `folder`; `what` is the sentence's beginning. */
latenn_status* customop_leads_out(const char* what, const char* path, const char* folder);

/* ---- external.c -------------------------------------------------------------------------------------------------- */

/* Refuses an ONNX model from memory that keeps data in files. */
latenn_status* customop_check_bytes(const customop_text* model);
/* Refuses an ONNX model that keeps data in files outside its folder. */
latenn_status* customop_check_file(const char* path);

/* ---- place.c ----------------------------------------------------------------------------------------------------- */

/* Both NULL when out of memory; the caller frees. */
char* customop_join(const char* folder, const char* path);
char* customop_folder_of(const char* path);
/* Refuses folder/path if it is there and, with all links followed, not in the folder; `what` begins the message. */
latenn_status* customop_check_inside(const char* what, const char* path, const char* folder);

/* ---- load.c ----------------------------------------------------------------------------------------------------- */

/* Cuts some of the settings into lines. */
latenn_status* customop_load(customop_settings* settings, latenn_model** model);

/* ---- match.c ---------------------------------------------------------------------------------------------------- */

/* One side of the node: for each of its values, the index of the model's port. */
typedef struct customop_side {
  size_t count;
  size_t* ports;
} customop_side;

/* Compares names, types and shapes of the node with the model's. */
latenn_status* customop_match(const lb_ort_api* api, const OrtKernelInfo* info, const customop_settings* settings,
                              const latenn_model* model, customop_side* inputs, customop_side* outputs);

/* ---- kernel.c --------------------------------------------------------------------------------------------------- */

typedef struct customop_kernel {
  const customop_registration* registration;
  char* node;
  latenn_model* model;
  customop_side inputs;
  customop_side outputs;
  _Atomic(latenn_context*) idle[CUSTOMOP_CONTEXTS]; /* each run takes one, or makes one */
} customop_kernel;

OrtStatus* LB_ORT_CALL customop_create_kernel(const customop_layout* op, const void* api, const OrtKernelInfo* info,
                                              void** kernel);
void LB_ORT_CALL customop_destroy_kernel(void* kernel);

/* ---- compute.c -------------------------------------------------------------------------------------------------- */

OrtStatus* LB_ORT_CALL customop_compute(void* kernel, OrtKernelContext* context);

#endif
