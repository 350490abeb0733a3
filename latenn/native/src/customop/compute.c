/* compute.c: one run of a node: inputs go in without a copy, outputs into ONNX Runtime's own memory; must not lock. */
#include <stdlib.h>
#include <string.h>

#include "customop.h"

enum { CUSTOMOP_RANK = 64 };

/* ---- contexts --------------------------------------------------------------------------------------------------- */

static latenn_status* customop_begin(customop_kernel* kernel, latenn_context** context) {
  for (size_t i = 0; i < CUSTOMOP_CONTEXTS; i++) {
    if (!atomic_load_explicit(&kernel->idle[i], memory_order_relaxed)) continue;
    *context = atomic_exchange(&kernel->idle[i], NULL);
    if (*context) return NULL;
  }
  return latenn_context_create(kernel->model, context);
}

static void customop_end(customop_kernel* kernel, latenn_context* context) {
  for (size_t i = 0; i < CUSTOMOP_CONTEXTS && context; i++) {
    latenn_context* none = NULL;
    if (atomic_compare_exchange_strong(&kernel->idle[i], &none, context)) context = NULL;
  }
  latenn_context_release(context);
}

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

static latenn_status* customop_describe(const lb_ort_api* api, const OrtValue* value, int64_t* shape,
                                        latenn_tensor* tensor) {
  OrtTensorTypeAndShapeInfo* info = NULL;
  enum ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  size_t rank = 0;
  OrtStatus* failed = lb_ort_GetTensorTypeAndShape(api, value, &info);
  if (!failed) failed = lb_ort_GetTensorElementType(api, info, &type);
  if (!failed) failed = lb_ort_GetDimensionsCount(api, info, &rank);
  if (!failed && rank && rank <= CUSTOMOP_RANK) failed = lb_ort_GetDimensions(api, info, shape, rank);
  if (info) lb_ort_ReleaseTensorTypeAndShapeInfo(api, info);
  if (failed) return customop_take(api, failed);
  if (rank > CUSTOMOP_RANK) {
    return latenn_failure(LATENN_UNSUPPORTED, "A tensor has %zu dimensions; %d are the most.", rank, CUSTOMOP_RANK);
  }
  tensor->type = (int32_t)type;
  tensor->rank = (int32_t)rank;
  tensor->shape = shape;
  return NULL;
}

static latenn_status* customop_read_strings(const lb_ort_api* api, const OrtValue* value, size_t count, char** bytes,
                                            latenn_tensor* tensor) {
  OrtStatus* failed = lb_ort_GetStringTensorDataLength(api, value, &tensor->bytes);
  if (failed) return customop_take(api, failed);
  size_t head = (count + 1) * sizeof(size_t);
  *bytes = calloc(1, head + tensor->bytes + 1);
  if (!*bytes) return latenn_no_memory();
  size_t* offsets = (size_t*)(void*)*bytes;
  tensor->offsets = offsets;
  tensor->data = *bytes + head;
  offsets[count] = tensor->bytes;
  if (!count) return NULL;
  return customop_take(api, lb_ort_GetStringTensorContent(api, value, tensor->data, tensor->bytes, offsets, count));
}

static latenn_status* customop_set_input(const customop_kernel* kernel, OrtKernelContext* node, size_t index,
                                         latenn_context* context) {
  const lb_ort_api* api = &kernel->registration->api;
  const OrtValue* value = NULL;
  int64_t shape[CUSTOMOP_RANK];
  latenn_tensor tensor = {0};
  size_t count = 0;
  char* bytes = NULL;
  latenn_status* status = customop_take(api, lb_ort_KernelContext_GetInput(api, node, index, &value));
  if (!status && !value) {
    status = latenn_failure(LATENN_INVALID_ARGUMENT, "The graph gives nothing for the model's input \"%s\".",
                            latenn_input(kernel->model, kernel->inputs.ports[index])->name);
  }
  if (!status) status = customop_describe(api, value, shape, &tensor);
  if (!status && latenn_count_elements(tensor.rank, tensor.shape, &count)) status = latenn_no_memory();
  if (!status && tensor.type == LATENN_STRING) {
    status = customop_read_strings(api, value, count, &bytes, &tensor);
  } else if (!status) {
    latenn_count_bytes(tensor.type, count, &tensor.bytes);
    status = customop_take(api, lb_ort_GetTensorMutableData(api, (OrtValue*)value, &tensor.data));
  }
  if (!status) status = latenn_set_input(context, kernel->inputs.ports[index], &tensor);
  free(bytes); /* strings were copied */
  return status;
}

/* ---- outputs ---------------------------------------------------------------------------------------------------- */

static latenn_status* customop_write_strings(const lb_ort_api* api, OrtValue* value, const latenn_tensor* tensor,
                                             size_t count) {
  OrtStatus* failed = NULL;
  for (size_t i = 0; i < count && !failed; i++) {
    size_t length = tensor->offsets[i + 1] - tensor->offsets[i];
    char* buffer = NULL;
    failed = lb_ort_GetResizedStringTensorElementBuffer(api, value, i, length, &buffer);
    if (!failed && length) memcpy(buffer, (const char*)tensor->data + tensor->offsets[i], length);
  }
  return customop_take(api, failed);
}

static latenn_status* customop_write(const lb_ort_api* api, OrtValue* value, const latenn_port* port,
                                     const latenn_tensor* tensor) {
  size_t count = 0;
  size_t bytes = 0;
  void* data = NULL;
  int is_text = tensor->type == LATENN_STRING;
  /* ONNX Runtime made room for the type of the port and this shape: nothing else may be written there. */
  if (tensor->type != port->type || latenn_count_elements(tensor->rank, tensor->shape, &count) ||
      (!is_text && (latenn_count_bytes(tensor->type, count, &bytes) || bytes != tensor->bytes))) {
    return latenn_failure(LATENN_COMPUTE_FAILED, "The model's output \"%s\" is not the %s that the model declares.",
                          port->name, latenn_type_name(port->type));
  }
  if (is_text) return customop_write_strings(api, value, tensor, count);
  latenn_status* status = customop_take(api, lb_ort_GetTensorMutableData(api, value, &data));
  if (!status && bytes) memcpy(data, tensor->data, bytes);
  return status;
}

static latenn_status* customop_give_output(const customop_kernel* kernel, OrtKernelContext* node, size_t index,
                                           latenn_context* context) {
  const lb_ort_api* api = &kernel->registration->api;
  size_t port = kernel->outputs.ports[index];
  latenn_tensor tensor;
  OrtValue* value = NULL;
  latenn_status* status = latenn_get_output(context, port, &tensor);
  if (status) return status;
  OrtStatus* failed = lb_ort_KernelContext_GetOutput(api, node, index, tensor.shape, (size_t)tensor.rank, &value);
  if (failed || !value) return customop_take(api, failed); /* nobody wants that output */
  return customop_write(api, value, latenn_output(kernel->model, port), &tensor);
}

/* ---- run -------------------------------------------------------------------------------------------------------- */

OrtStatus* LB_ORT_CALL customop_compute(void* of, OrtKernelContext* node) {
  customop_kernel* kernel = of;
  latenn_context* context = NULL;
  latenn_status* status = customop_begin(kernel, &context);
  for (size_t i = 0; i < kernel->inputs.count && !status; i++) status = customop_set_input(kernel, node, i, context);
  if (!status) status = latenn_compute(context);
  for (size_t i = 0; i < kernel->outputs.count && !status; i++) {
    status = customop_give_output(kernel, node, i, context);
  }
  if (!status) {
    customop_end(kernel, context);
    return NULL;
  }
  latenn_context_release(context); /* inputs that were set would stay in it */
  return customop_give(&kernel->registration->api, kernel->node, status);
}
