/* value.c: tensors into the runtime and out of it; must copy strings and nothing else. */
#include <stdlib.h>
#include <string.h>

#include "ort.h"

/* Given instead of NULL for a tensor without elements: kernels may add 0 to the pointer, never read it. */
static _Alignas(64) unsigned char ort_nothing[64];

latenn_status* ort_refused(const latenn_backend_model* model, OrtStatus* failed) {
  return ort_take(model->described.host, &model->runtime->api, failed, ORT_PHASE_COMPUTE, "refuses a tensor");
}

/* ---- in -----------------------------------------------------------------------------------------------------------
 */

/* Every element gets a buffer of its length: NUL bytes are data. */
static OrtStatus* ort_fill_strings(const lb_ort_api* api, const latenn_tensor* tensor, OrtValue* value) {
  size_t count = 1;
  for (int32_t i = 0; i < tensor->rank; i++) count *= (size_t)tensor->shape[i]; /* the core has ruled out overflow */
  OrtStatus* failed = NULL;
  for (size_t i = 0; i < count && !failed; i++) {
    size_t length = tensor->offsets[i + 1] - tensor->offsets[i];
    char* buffer = NULL;
    failed = lb_ort_GetResizedStringTensorElementBuffer(api, value, i, length, &buffer);
    if (!failed && length) memcpy(buffer, (const char*)tensor->data + tensor->offsets[i], length);
  }
  return failed;
}

latenn_status* ort_make_input(const latenn_backend_model* model, const latenn_tensor* tensor, OrtValue** value) {
  const ort_runtime* runtime = model->runtime;
  const lb_ort_api* api = &runtime->api;
  size_t rank = (size_t)tensor->rank;
  ONNXTensorElementDataType type = (ONNXTensorElementDataType)tensor->type;
  OrtStatus* failed = NULL;
  *value = NULL;
  if (tensor->type == LATENN_STRING) {
    failed = lb_ort_CreateTensorAsOrtValue(api, runtime->allocator, tensor->shape, rank, type, value);
    if (!failed) failed = ort_fill_strings(api, tensor, *value);
  } else {
    void* data = tensor->data ? tensor->data : ort_nothing;
    failed = lb_ort_CreateTensorWithDataAsOrtValue(api, runtime->memory, data, tensor->bytes, tensor->shape, rank, type,
                                                   value);
  }
  if (!failed) return NULL;
  if (*value) lb_ort_ReleaseValue(api, *value);
  *value = NULL;
  return ort_refused(model, failed);
}

/* ---- out ----------------------------------------------------------------------------------------------------------
 */

void ort_clear_value(latenn_backend_value* output) {
  const lb_ort_api* api = output->model ? &output->model->runtime->api : NULL;
  if (output->value) lb_ort_ReleaseValue(api, output->value);
  if (output->allocator) lb_ort_ReleaseAllocator(api, output->allocator);
  free(output->shape);
  free(output->text);
  free(output->offsets);
  memset(output, 0, sizeof *output);
}

static latenn_status* ort_read_shape(const latenn_backend_model* model, latenn_backend_value* output, size_t* count) {
  const lb_ort_api* api = &model->runtime->api;
  OrtTensorTypeAndShapeInfo* info = NULL;
  enum ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  size_t rank = 0;
  OrtStatus* failed = lb_ort_GetTensorTypeAndShape(api, output->value, &info);
  if (failed) return ort_refused(model, failed);
  failed = lb_ort_GetTensorElementType(api, info, &type);
  if (!failed) failed = lb_ort_GetDimensionsCount(api, info, &rank);
  if (!failed && !output->shape) output->shape = calloc(rank + 1, sizeof *output->shape);
  if (!failed && output->shape) failed = lb_ort_GetDimensions(api, info, output->shape, rank);
  lb_ort_ReleaseTensorTypeAndShapeInfo(api, info);
  if (failed) return ort_refused(model, failed);
  if (!output->shape) return backend_no_memory(model->described.host);
  *count = 1;
  for (size_t i = 0; i < rank; i++) *count *= (size_t)output->shape[i]; /* it is in memory, so it fits */
  output->view.type = (int32_t)type;
  output->view.rank = (int32_t)rank;
  output->view.shape = output->shape;
  return NULL;
}

static latenn_status* ort_read_strings(const latenn_backend_model* model, latenn_backend_value* output, size_t count) {
  const lb_ort_api* api = &model->runtime->api;
  size_t length = 0;
  OrtStatus* failed = lb_ort_GetStringTensorDataLength(api, output->value, &length);
  if (failed) return ort_refused(model, failed);
  free(output->text);
  free(output->offsets);
  output->text = malloc(length + 1);
  output->offsets = calloc(count + 1, sizeof *output->offsets);
  if (!output->text || !output->offsets) return backend_no_memory(model->described.host);
  if (count) failed = lb_ort_GetStringTensorContent(api, output->value, output->text, length, output->offsets, count);
  if (failed) return ort_refused(model, failed);
  output->offsets[count] = length;
  output->view.data = output->text;
  output->view.bytes = length;
  output->view.offsets = output->offsets;
  return NULL;
}

void ort_trim(const latenn_backend_value* value) {
  const latenn_tensor* view = &value->view;
  if ((view->type != LATENN_UINT4 && view->type != LATENN_INT4) || value->device.type != LATENN_CPU) return;
  size_t odd = 1;
  for (int32_t i = 0; i < view->rank; i++) odd = odd && view->shape[i] % 2;
  if (odd) ((unsigned char*)view->data)[view->bytes - 1] &= 0x0F;
}

static latenn_status* ort_read_numbers(const latenn_backend_model* model, latenn_backend_value* output,
                                       const char* name, size_t count) {
  if (!backend_count_bytes(output->view.type, 1)) {
    return backend_fail(model->described.host, LATENN_UNSUPPORTED,
                        "The output \"%s\" has elements of type number %d, which latenn does not know.", name,
                        (int)output->view.type);
  }
  OrtStatus* failed = lb_ort_GetTensorMutableData(&model->runtime->api, output->value, &output->view.data);
  if (failed) return ort_refused(model, failed);
  output->view.bytes = backend_count_bytes(output->view.type, count);
  if (!output->view.data) output->view.data = ort_nothing;
  ort_trim(output);
  return NULL;
}

/* A model may leave out an optional output: then there is no value, and the caller sees that. */
static latenn_status* ort_check_value(const latenn_backend_model* model, const latenn_backend_value* output,
                                      const char* name) {
  enum ONNXType kind = ONNX_TYPE_UNKNOWN;
  OrtStatus* failed = output->value ? lb_ort_GetValueType(&model->runtime->api, output->value, &kind) : NULL;
  if (failed) return ort_refused(model, failed);
  if (kind == ONNX_TYPE_TENSOR) return NULL;
  return backend_fail(model->described.host, LATENN_UNSUPPORTED, "The output \"%s\" %s.", name,
                      output->value ? "is not a tensor" : "has no value: the model left it out this time");
}

latenn_status* ort_read_value(const latenn_backend_model* model, latenn_backend_value* output, const char* name) {
  size_t count = 0;
  if (output->is_read) return NULL;
  latenn_status* status = ort_check_value(model, output, name);
  if (!status) status = ort_locate(model, output->value, &output->device);
  if (!status) status = ort_read_shape(model, output, &count);
  if (status) return status;
  status = output->view.type == LATENN_STRING ? ort_read_strings(model, output, count)
                                              : ort_read_numbers(model, output, name, count);
  if (!status) output->is_read = 1;
  return status;
}

/* ---- values of their own ------------------------------------------------------------------------------------------
 */

void backend_release_value(latenn_backend_value* value) {
  if (!value) return;
  ort_clear_value(value);
  free(value);
}

/* The core keeps the tensor's shape and memory for as long as the value. */
latenn_status* backend_wrap_value(latenn_backend_model* model, const latenn_tensor* tensor, latenn_device device,
                                  latenn_backend_value** value) {
  const lb_ort_api* api = &model->runtime->api;
  OrtMemoryInfo* memory = NULL;
  latenn_status* status = ort_make_memory(model, device, &memory);
  if (status) return status;
  latenn_backend_value* made = calloc(1, sizeof *made);
  if (!made) {
    lb_ort_ReleaseMemoryInfo(api, memory);
    return backend_no_memory(model->described.host);
  }
  made->model = model;
  made->device = device;
  made->view = *tensor;
  made->is_read = 1;
  OrtStatus* failed = lb_ort_CreateTensorWithDataAsOrtValue(api, memory, tensor->data ? tensor->data : ort_nothing,
                                                            tensor->bytes, tensor->shape, (size_t)tensor->rank,
                                                            (ONNXTensorElementDataType)tensor->type, &made->value);
  lb_ort_ReleaseMemoryInfo(api, memory);
  if (failed) {
    backend_release_value(made);
    return ort_refused(model, failed);
  }
  *value = made;
  return NULL;
}

/* Plain memory comes from the allocator that lasts; a device's own is kept with the value. */
static latenn_status* ort_allocate(latenn_backend_value* made, int32_t type, int32_t rank, const int64_t* shape) {
  const latenn_backend_model* model = made->model;
  const lb_ort_api* api = &model->runtime->api;
  OrtAllocator* allocator = model->runtime->allocator;
  OrtStatus* failed = NULL;
  if (made->device.type != LATENN_CPU) {
    OrtMemoryInfo* memory = NULL;
    latenn_status* status = ort_make_memory(model, made->device, &memory);
    if (status) return status;
    failed = lb_ort_CreateAllocator(api, model->session, memory, &made->allocator);
    lb_ort_ReleaseMemoryInfo(api, memory);
    allocator = made->allocator;
  }
  if (!failed) {
    failed = lb_ort_CreateTensorAsOrtValue(api, allocator, shape, (size_t)rank, (ONNXTensorElementDataType)type,
                                           &made->value);
  }
  return failed ? ort_refused(model, failed) : NULL;
}

latenn_status* backend_create_value(latenn_backend_model* model, int32_t type, int32_t rank, const int64_t* shape,
                                    latenn_device device, latenn_backend_value** value, latenn_tensor* tensor) {
  latenn_backend_value* made = calloc(1, sizeof *made);
  if (!made) return backend_no_memory(model->described.host);
  made->model = model;
  made->device = device;
  latenn_status* status = ort_allocate(made, type, rank, shape);
  if (!status) status = ort_read_value(model, made, "(created)");
  if (status) {
    backend_release_value(made);
    return status;
  }
  *tensor = made->view;
  *value = made;
  return NULL;
}
