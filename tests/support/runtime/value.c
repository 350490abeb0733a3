/* value.c: tensors, their types and shapes. */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

static size_t size_of(ONNXTensorElementDataType type, size_t count) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE: return count * 8;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32: return count * 4;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4: return (count + 1) / 2;
    default: return count;
  }
}

OrtValue* runtime_make_value(ONNXTensorElementDataType type, const int64_t* shape, size_t rank) {
  OrtValue* value = runtime_allocate(sizeof *value);
  value->info.type = type;
  value->info.rank = rank;
  value->count = 1;
  for (size_t i = 0; i < rank; i++) {
    value->info.shape[i] = shape[i];
    value->info.names[i] = "";
    value->count *= (size_t)shape[i];
  }
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    value->strings = runtime_allocate(value->count * sizeof *value->strings);
    value->lengths = runtime_allocate(value->count * sizeof *value->lengths);
  } else {
    value->data = runtime_allocate(size_of(type, value->count));
  }
  return value;
}

void ORT_API_CALL runtime_release_value(OrtValue* value) {
  if (!value) return;
  for (size_t i = 0; value->strings && i < value->count; i++) free(value->strings[i]);
  free(value->strings);
  free(value->lengths);
  if (!value->is_borrowed) free(value->data);
  free(value);
}

static OrtStatus* ORT_API_CALL create_cpu_memory(enum OrtAllocatorType type, enum OrtMemType memory,
                                                 OrtMemoryInfo** out) NO_EXCEPTION {
  (void)type, (void)memory;
  *out = runtime_allocate(1);
  return NULL;
}

static void ORT_API_CALL release_memory(OrtMemoryInfo* memory) {
  free(memory);
}

static OrtStatus* ORT_API_CALL find_allocator(OrtAllocator** out) NO_EXCEPTION {
  static OrtAllocator allocator; /* values have their own memory */
  *out = &allocator;
  return NULL;
}

static OrtStatus* ORT_API_CALL create_value(OrtAllocator* allocator, const int64_t* shape, size_t rank,
                                            ONNXTensorElementDataType type, OrtValue** out) NO_EXCEPTION {
  (void)allocator;
  if (rank > MOST_DIMENSIONS) return runtime_fail("a tensor has %u dimensions", (unsigned)rank);
  *out = runtime_make_value(type, shape, rank);
  return NULL;
}

static OrtStatus* ORT_API_CALL wrap_value(const OrtMemoryInfo* memory, void* data, size_t size, const int64_t* shape,
                                          size_t rank, ONNXTensorElementDataType type, OrtValue** out) NO_EXCEPTION {
  (void)memory;
  TRY(create_value(NULL, shape, rank, type, out));
  if (size < size_of(type, (*out)->count)) return runtime_fail("a tensor's data is shorter than its shape says");
  free((*out)->data);
  (*out)->data = data;
  (*out)->is_borrowed = 1;
  return NULL;
}

static OrtStatus* ORT_API_CALL get_data(OrtValue* value, void** out) NO_EXCEPTION {
  *out = value->data;
  return NULL;
}

static OrtStatus* ORT_API_CALL get_tensor_info(const OrtValue* value, OrtTensorTypeAndShapeInfo** out) NO_EXCEPTION {
  *out = runtime_allocate(sizeof **out);
  **out = value->info;
  return NULL;
}

static void ORT_API_CALL release_tensor_info(OrtTensorTypeAndShapeInfo* info) {
  free(info);
}

static void ORT_API_CALL release_type(OrtTypeInfo* info) {
  free(info);
}

static OrtStatus* ORT_API_CALL cast_type(const OrtTypeInfo* info, const OrtTensorTypeAndShapeInfo** out) NO_EXCEPTION {
  *out = &info->tensor;
  return NULL;
}

static OrtStatus* ORT_API_CALL get_type(const OrtTensorTypeAndShapeInfo* info,
                                        enum ONNXTensorElementDataType* out) NO_EXCEPTION {
  *out = info->type;
  return NULL;
}

static OrtStatus* ORT_API_CALL get_rank(const OrtTensorTypeAndShapeInfo* info, size_t* out) NO_EXCEPTION {
  *out = info->rank;
  return NULL;
}

static OrtStatus* ORT_API_CALL get_shape(const OrtTensorTypeAndShapeInfo* info, int64_t* out,
                                         size_t rank) NO_EXCEPTION {
  for (size_t i = 0; i < rank && i < info->rank; i++) out[i] = info->shape[i];
  return NULL;
}

static OrtStatus* ORT_API_CALL get_names(const OrtTensorTypeAndShapeInfo* info, const char** out,
                                         size_t rank) NO_EXCEPTION {
  for (size_t i = 0; i < rank && i < info->rank; i++) out[i] = info->names[i] ? info->names[i] : "";
  return NULL;
}

/* ---- strings ---------------------------------------------------------------------------------------------------- */

static void put_string(OrtValue* value, size_t index, const char* bytes, size_t length) {
  free(value->strings[index]);
  value->strings[index] = bytes ? runtime_copy(bytes, length) : runtime_allocate(length + 1);
  value->lengths[index] = length;
}

static OrtStatus* ORT_API_CALL resize_string(OrtValue* value, size_t index, size_t length, char** out) NO_EXCEPTION {
  if (!value->strings || index >= value->count) return runtime_fail("the tensor has no string %u", (unsigned)index);
  put_string(value, index, NULL, length);
  *out = value->strings[index];
  return NULL;
}

static OrtStatus* ORT_API_CALL measure_strings(const OrtValue* value, size_t* out) NO_EXCEPTION {
  if (!value->strings) return runtime_fail("the tensor has no strings");
  *out = 0;
  for (size_t i = 0; i < value->count; i++) *out += value->lengths[i];
  return NULL;
}

static OrtStatus* ORT_API_CALL read_strings(const OrtValue* value, void* out, size_t size, size_t* offsets,
                                            size_t count) NO_EXCEPTION {
  size_t at = 0;
  TRY(measure_strings(value, &at));
  if (size < at || count < value->count) return runtime_fail("there is no room for the tensor's strings");
  at = 0;
  for (size_t i = 0; i < value->count; i++) {
    offsets[i] = at;
    if (value->lengths[i]) memcpy((char*)out + at, value->strings[i], value->lengths[i]);
    at += value->lengths[i];
  }
  return NULL;
}

void runtime_fill_value_functions(OrtApi* api) {
  api->CreateCpuMemoryInfo = create_cpu_memory;
  api->ReleaseMemoryInfo = release_memory;
  api->GetAllocatorWithDefaultOptions = find_allocator;
  api->CreateTensorAsOrtValue = create_value;
  api->CreateTensorWithDataAsOrtValue = wrap_value;
  api->ReleaseValue = runtime_release_value;
  api->GetTensorMutableData = get_data;
  api->GetTensorTypeAndShape = get_tensor_info;
  api->ReleaseTensorTypeAndShapeInfo = release_tensor_info;
  api->ReleaseTypeInfo = release_type;
  api->CastTypeInfoToTensorInfo = cast_type;
  api->GetTensorElementType = get_type;
  api->GetDimensionsCount = get_rank;
  api->GetDimensions = get_shape;
  api->GetSymbolicDimensions = get_names;
  api->GetResizedStringTensorElementBuffer = resize_string;
  api->GetStringTensorDataLength = measure_strings;
  api->GetStringTensorContent = read_strings;
}
