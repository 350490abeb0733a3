/* ovtiny: runs a model with one float32 input and one output. Nothing here knows that OpenVINO is bound late. */
#include <stdint.h>
#include <stdio.h>

#define OVTINY_API __attribute__((visibility("default")))

enum { OVTINY_F32 = 4 }; /* ov_element_type_e */

typedef struct ov_shape {
  int64_t rank, *dims;
} ov_shape_t;

/* What of openvino/c/openvino.h is needed here. */
const char* ov_get_error_info(int status);
int ov_core_create(void** core);
void ov_core_free(void* core);
int ov_core_read_model_from_memory_buffer(void*, const char*, size_t, const void*, void** model);
void ov_model_free(void* model);
int ov_core_compile_model(void*, const void*, const char* device, size_t count, void** made, ...);
void ov_compiled_model_free(void* compiled);
int ov_compiled_model_create_infer_request(void* compiled, void** request);
void ov_infer_request_free(void* request);
int ov_tensor_create_from_host_ptr(int type, ov_shape_t shape, void* data, void** tensor);
void ov_tensor_free(void* tensor);
int ov_infer_request_set_input_tensor(void* request, const void* tensor);
int ov_infer_request_set_output_tensor(void* request, const void* tensor);
int ov_infer_request_infer(void* request);

/* 0 when y was computed; else `why` is OpenVINO's own error, or says that there is no OpenVINO. */
OVTINY_API int ovtiny_run(const char* model, size_t size, float* x, float* y, int64_t count, char* why, size_t room) {
  void *core = NULL, *read = NULL, *made = NULL, *request = NULL, *given = NULL, *computed = NULL;
  const ov_shape_t shape = {1, &count};
  int status = ov_core_create(&core);
  if (!status) status = ov_core_read_model_from_memory_buffer(core, model, size, NULL, &read);
  if (!status) status = ov_core_compile_model(core, read, "CPU", 0, &made);
  if (!status) status = ov_compiled_model_create_infer_request(made, &request);
  if (!status) status = ov_tensor_create_from_host_ptr(OVTINY_F32, shape, x, &given);
  if (!status) status = ov_tensor_create_from_host_ptr(OVTINY_F32, shape, y, &computed);
  if (!status) status = ov_infer_request_set_input_tensor(request, given);
  if (!status) status = ov_infer_request_set_output_tensor(request, computed);
  if (!status) status = ov_infer_request_infer(request);
  if (status) snprintf(why, room, "%s", ov_get_error_info(status));
  if (computed) ov_tensor_free(computed);
  if (given) ov_tensor_free(given);
  if (request) ov_infer_request_free(request);
  if (made) ov_compiled_model_free(made);
  if (read) ov_model_free(read);
  if (core) ov_core_free(core);
  return status;
}
