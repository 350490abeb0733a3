/* ovtiny: runs a model with one float32 input and one output of the same length. */
#include <stdio.h>
#include <string.h>

#include "latebind/openvino.h"

#define OVTINY_API __attribute__((visibility("default")))

enum { OVTINY_F32 = 4 }; /* ov_element_type_e */

typedef struct ov_shape {
  int64_t rank, *dims;
} ov_shape_t;

/* What openvino_c.h declares, as a table: each function is looked up in the runtime that was bound. */
#define OVTINY_FUNCTIONS(X)                                                                               \
  X(int, ov_core_create, (void** core))                                                                   \
  X(void, ov_core_free, (void* core))                                                                     \
  X(int, ov_core_read_model_from_memory_buffer, (void*, const char*, size_t, const void*, void** model))  \
  X(void, ov_model_free, (void* model))                                                                   \
  X(int, ov_core_compile_model, (void*, const void*, const char* device, size_t count, void** made, ...)) \
  X(void, ov_compiled_model_free, (void* compiled))                                                       \
  X(int, ov_compiled_model_create_infer_request, (void* compiled, void** request))                        \
  X(void, ov_infer_request_free, (void* request))                                                         \
  X(int, ov_tensor_create_from_host_ptr, (int type, ov_shape_t shape, void* data, void** tensor))         \
  X(void, ov_tensor_free, (void* tensor))                                                                 \
  X(int, ov_infer_request_set_input_tensor, (void* request, const void* tensor))                          \
  X(int, ov_infer_request_set_output_tensor, (void* request, const void* tensor))                         \
  X(int, ov_infer_request_infer, (void* request))

#define OVTINY_FIELD(result, name, parameters) result(*name) parameters;
typedef struct ovtiny_api {
  OVTINY_FUNCTIONS(OVTINY_FIELD)
} ovtiny_api;

static lb_binding runtime = LB_BINDING_INIT;

OVTINY_API int ovtiny_open(const char* folder, const char* path, const char* minimum, const char* advice, char* json,
                           size_t room) {
  lb_report report = {.size = sizeof report};
  lb_options search = {.size = sizeof search, .path = path, .directories = &folder, .advice = advice};
  search.directory_count = folder != NULL;
  if (minimum) lb_version_parse(minimum, &search.minimum);
  const int outcome = lb_bind(&runtime, &lb_openvino, &search, &report);
  snprintf(json, room, "%s", lb_report_json(&report));
  lb_report_clear(&report);
  return outcome;
}

/* 0 when y was computed; else `why` says why it was not. */
OVTINY_API int ovtiny_run(const char* model, size_t size, float* x, float* y, int64_t count, char* why, size_t room) {
  ovtiny_api ov;
  void *core = NULL, *read = NULL, *made = NULL, *request = NULL, *given = NULL, *computed = NULL;
  const ov_shape_t shape = {1, &count};
#define OVTINY_FIND(result, name, parameters)                                                     \
  if (!(core = lb_symbol(&runtime, #name))) return snprintf(why, room, "OpenVINO has no " #name); \
  memcpy(&ov.name, &core, sizeof core);
  OVTINY_FUNCTIONS(OVTINY_FIND)
  core = NULL;
  int failed = ov.ov_core_create(&core) || ov.ov_core_read_model_from_memory_buffer(core, model, size, NULL, &read) ||
               ov.ov_core_compile_model(core, read, "CPU", 0, &made) ||
               ov.ov_compiled_model_create_infer_request(made, &request) ||
               ov.ov_tensor_create_from_host_ptr(OVTINY_F32, shape, x, &given) ||
               ov.ov_tensor_create_from_host_ptr(OVTINY_F32, shape, y, &computed) ||
               ov.ov_infer_request_set_input_tensor(request, given) ||
               ov.ov_infer_request_set_output_tensor(request, computed) || ov.ov_infer_request_infer(request);
  if (failed) snprintf(why, room, "OpenVINO refused the model or its input");
  if (computed) ov.ov_tensor_free(computed);
  if (given) ov.ov_tensor_free(given);
  if (request) ov.ov_infer_request_free(request);
  if (made) ov.ov_compiled_model_free(made);
  if (read) ov.ov_model_free(read);
  if (core) ov.ov_core_free(core);
  return failed;
}
