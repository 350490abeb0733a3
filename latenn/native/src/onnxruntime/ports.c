/* ports.c: reads what a model takes and gives; must refuse values that are not tensors, by name and kind. */
#include <stdlib.h>
#include <string.h>

#include "ort.h"

static const char* ort_kind_name(enum ONNXType kind) {
  switch (kind) {
    case ONNX_TYPE_TENSOR: return "a tensor";
    case ONNX_TYPE_SEQUENCE: return "a sequence";
    case ONNX_TYPE_MAP: return "a map";
    case ONNX_TYPE_OPAQUE: return "an opaque value";
    case ONNX_TYPE_SPARSETENSOR: return "a sparse tensor";
    case ONNX_TYPE_OPTIONAL: return "an optional value";
    case ONNX_TYPE_UNKNOWN: break;
  }
  return "a value of unknown kind";
}

/* What is being read, so that the steps below have short argument lists. */
typedef struct ort_reader {
  const latenn_host* host;
  const ort_runtime* runtime;
  const OrtSession* session;
  int is_input;
} ort_reader;

static latenn_status* ort_broken(const ort_reader* reader, OrtStatus* failed) {
  return ort_take(reader->host, &reader->runtime->api, failed, ORT_PHASE_LOAD, "does not describe the model");
}

static latenn_status* ort_read_dimensions(const ort_reader* reader, const OrtTensorTypeAndShapeInfo* info, size_t rank,
                                          latenn_port* port) {
  const lb_ort_api* api = &reader->runtime->api;
  int64_t* shape = calloc(rank + 1, sizeof *shape);
  const char** names = calloc(rank + 1, sizeof *names);
  port->shape = shape;
  port->dimensions = names;
  if (!shape || !names) return backend_no_memory(reader->host);
  port->rank = (int32_t)rank;
  if (!rank) return NULL;
  OrtStatus* failed = lb_ort_GetDimensions(api, info, shape, rank);
  if (!failed) failed = lb_ort_GetSymbolicDimensions(api, info, names, rank);
  int short_of_memory = 0;
  for (size_t i = 0; i < rank; i++) {
    if (shape[i] < 0) shape[i] = -1;
    names[i] = failed ? NULL : backend_copy_text(names[i]); /* the runtime's own strings end with the type info */
    short_of_memory |= !failed && !names[i];
  }
  if (failed) return ort_broken(reader, failed);
  return short_of_memory ? backend_no_memory(reader->host) : NULL;
}

static latenn_status* ort_read_tensor(const ort_reader* reader, const OrtTensorTypeAndShapeInfo* info,
                                      latenn_port* port) {
  const lb_ort_api* api = &reader->runtime->api;
  enum ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  size_t rank = 0;
  OrtStatus* failed = lb_ort_GetTensorElementType(api, info, &type);
  if (!failed) failed = lb_ort_GetDimensionsCount(api, info, &rank);
  if (failed) return ort_broken(reader, failed);
  if (type <= ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED || (int)type > LATENN_INT4) {
    return backend_fail(reader->host, LATENN_UNSUPPORTED,
                        "The model's %s \"%s\" has elements of type number %d, which %s.",
                        reader->is_input ? "input" : "output", port->name, (int)type, "latenn does not know");
  }
  port->type = (int32_t)type; /* ORT's numbers are ONNX's numbers are ours */
  latenn_status* status = ort_read_dimensions(reader, info, rank, port);
  /* Rank 0 is a scalar, or no shape at all. Before 1.24 the C API cannot tell them apart: then the rank is open. */
  int is_open = rank == 0 && (!lb_ort_available(api, LB_ORT_TensorTypeAndShape_HasShape) ||
                              !lb_ort_TensorTypeAndShape_HasShape(api, info));
  if (!status && is_open) port->rank = -1;
  return status;
}

static latenn_status* ort_read_type(const ort_reader* reader, const OrtTypeInfo* type, latenn_port* port) {
  const lb_ort_api* api = &reader->runtime->api;
  const OrtTensorTypeAndShapeInfo* info = NULL;
  enum ONNXType kind = ONNX_TYPE_UNKNOWN;
  OrtStatus* failed = lb_ort_GetOnnxTypeFromTypeInfo(api, type, &kind);
  if (!failed && kind == ONNX_TYPE_TENSOR) failed = lb_ort_CastTypeInfoToTensorInfo(api, type, &info);
  if (failed) return ort_broken(reader, failed);
  if (!info) {
    return backend_fail(reader->host, LATENN_UNSUPPORTED,
                        "The model's %s \"%s\" is %s; latenn takes and gives tensors only.",
                        reader->is_input ? "input" : "output", port->name, ort_kind_name(kind));
  }
  return ort_read_tensor(reader, info, port);
}

static latenn_status* ort_read_port(const ort_reader* reader, size_t index, latenn_port* port) {
  const ort_runtime* runtime = reader->runtime;
  const lb_ort_api* api = &runtime->api;
  OrtTypeInfo* type = NULL;
  char* name = NULL;
  OrtStatus* failed = reader->is_input
                          ? lb_ort_SessionGetInputName(api, reader->session, index, runtime->allocator, &name)
                          : lb_ort_SessionGetOutputName(api, reader->session, index, runtime->allocator, &name);
  if (failed) return ort_broken(reader, failed);
  port->name = backend_copy_text(name);
  failed = lb_ort_AllocatorFree(api, runtime->allocator, name);
  if (!port->name) {
    if (failed) lb_ort_ReleaseStatus(api, failed);
    return backend_no_memory(reader->host);
  }
  if (!failed) {
    failed = reader->is_input ? lb_ort_SessionGetInputTypeInfo(api, reader->session, index, &type)
                              : lb_ort_SessionGetOutputTypeInfo(api, reader->session, index, &type);
  }
  if (failed) return ort_broken(reader, failed);
  latenn_status* status = ort_read_type(reader, type, port);
  lb_ort_ReleaseTypeInfo(api, type);
  return status;
}

latenn_status* ort_read_ports(const latenn_host* host, const ort_runtime* runtime, const OrtSession* session,
                              int is_input, backend_ports* ports) {
  const ort_reader reader = {host, runtime, session, is_input};
  size_t count = 0;
  OrtStatus* failed = is_input ? lb_ort_SessionGetInputCount(&runtime->api, session, &count)
                               : lb_ort_SessionGetOutputCount(&runtime->api, session, &count);
  if (failed) return ort_broken(&reader, failed);
  latenn_status* status = backend_make_ports(host, count, ports);
  for (size_t i = 0; i < count && !status; i++) status = ort_read_port(&reader, i, &ports->list[i]);
  return status;
}
