/* context.c: one computation is one infer request; must not check what the core has checked. */
#include <stdlib.h>
#include <string.h>

#include "openvino.h"

/* Given instead of NULL for a tensor without elements, which OpenVINO refuses without an address. */
static _Alignas(64) unsigned char openvino_nothing[64];

/* An output as it came from the runtime; the view of it lives as long as both. */
typedef struct openvino_output {
  ov_tensor_t* tensor;
  ov_shape_t shape;
} openvino_output;

struct latenn_backend_context {
  latenn_backend_model* model;
  ov_infer_request_t* request;
  openvino_output* outputs;
};

static latenn_status* openvino_failed(const latenn_backend_context* context, ov_status_e failed, const char* doing) {
  latenn_code code = failed == OV_PARAMETER_MISMATCH ? LATENN_INVALID_ARGUMENT : LATENN_COMPUTE_FAILED;
  return openvino_take(context->model->described.host, &context->model->api, failed, code, doing);
}

static void openvino_clear_outputs(latenn_backend_context* context) {
  const openvino_api* api = &context->model->api;
  for (size_t i = 0; i < context->model->described.outputs.count; i++) {
    openvino_output* output = &context->outputs[i];
    if (output->tensor) api->tensor_free(output->tensor);
    if (output->shape.dims) api->shape_free(&output->shape);
    memset(output, 0, sizeof *output);
  }
}

latenn_status* backend_create_context(latenn_backend_model* model, latenn_backend_context** out) {
  latenn_backend_context* context = calloc(1, sizeof *context);
  if (!context) return backend_no_memory(model->described.host);
  context->model = model;
  context->outputs = calloc(model->described.outputs.count + 1, sizeof *context->outputs);
  latenn_status* status = context->outputs ? NULL : backend_no_memory(model->described.host);
  if (!status) {
    ov_status_e failed = model->api.compiled_model_create_infer_request(model->compiled, &context->request);
    status = openvino_failed(context, failed, "cannot make an infer request");
  }
  if (status) {
    backend_release_context(context);
    return status;
  }
  *out = context;
  return NULL;
}

void backend_release_context(latenn_backend_context* context) {
  if (!context) return;
  if (context->outputs) openvino_clear_outputs(context);
  if (context->request) context->model->api.infer_request_free(context->request);
  free(context->outputs);
  free(context);
}

latenn_status* backend_set_input(latenn_backend_context* context, size_t index, const latenn_tensor* tensor) {
  const openvino_api* api = &context->model->api;
  ov_tensor_t* made = NULL;
  ov_shape_t shape = {tensor->rank, (int64_t*)(uintptr_t)tensor->shape}; /* it is copied */
  void* data = tensor->data ? tensor->data : openvino_nothing;
  ov_status_e failed = api->tensor_create_from_host_ptr(context->model->types[index], shape, data, &made);
  if (!failed) failed = api->infer_request_set_input_tensor_by_index(context->request, index, made);
  if (made) api->tensor_free(made);
  return openvino_failed(context, failed, "refuses a tensor");
}

latenn_status* backend_compute(latenn_backend_context* context) {
  openvino_clear_outputs(context);
  ov_status_e failed = context->model->api.infer_request_infer(context->request);
  return openvino_failed(context, failed, "failed to compute");
}

latenn_status* backend_get_output(latenn_backend_context* context, size_t index, latenn_tensor* tensor) {
  const openvino_api* api = &context->model->api;
  openvino_output* output = &context->outputs[index];
  ov_status_e failed = 0;
  size_t count = 1;
  void* data = NULL;
  if (!output->tensor) {
    failed = api->infer_request_get_output_tensor_by_index(context->request, index, &output->tensor);
    if (!failed) failed = api->tensor_get_shape(output->tensor, &output->shape);
    if (failed == OV_INVALID_C_PARAM && output->tensor)
      failed = 0; /* it has no way to say that there are no dimensions */
  }
  for (int64_t i = 0; i < output->shape.rank && !failed; i++) count *= (size_t)output->shape.dims[i];
  if (!failed && count) failed = api->tensor_data(output->tensor, &data);
  if (failed) return openvino_failed(context, failed, "does not give an output");
  tensor->type = context->model->described.outputs.list[index].type;
  tensor->rank = (int32_t)output->shape.rank;
  tensor->shape = output->shape.dims;
  tensor->data = data ? data : openvino_nothing;
  tensor->bytes = backend_count_bytes(tensor->type, count);
  return NULL;
}
