/* match.c: compares the node with the model that it wraps: number, names, types and shapes; must not compute. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "customop.h"

/* What is being matched, so that the steps below have short argument lists. */
typedef struct customop_matcher {
  const lb_ort_api* api;
  const OrtKernelInfo* info;
  const latenn_model* model;
  const customop_lines* names;
  int is_input;
} customop_matcher;

static const char* customop_what(const customop_matcher* matcher) {
  return matcher->is_input ? "input" : "output";
}

static size_t customop_port_count(const customop_matcher* matcher) {
  return matcher->is_input ? latenn_input_count(matcher->model) : latenn_output_count(matcher->model);
}

static const latenn_port* customop_port(const customop_matcher* matcher, size_t index) {
  return matcher->is_input ? latenn_input(matcher->model, index) : latenn_output(matcher->model, index);
}

/* Every input of the model must be given; outputs may be left out. */
static latenn_status* customop_match_count(const customop_matcher* matcher, size_t count) {
  const char* what = customop_what(matcher);
  if (count != matcher->names->count) {
    return latenn_failure(LATENN_INVALID_ARGUMENT,
                          "It has %zu %s%s, and its attribute %s_names names %zu. Wrap the model again.", count, what,
                          count == 1 ? "" : "s", what, matcher->names->count);
  }
  size_t ports = customop_port_count(matcher);
  if (matcher->is_input ? count == ports : count <= ports) return NULL;
  return latenn_failure(LATENN_INVALID_ARGUMENT, "It has %zu %s%s; the model has %zu. Wrap the model again.", count,
                        what, count == 1 ? "" : "s", ports);
}

static latenn_status* customop_match_name(const customop_matcher* matcher, size_t place, size_t* port) {
  const char* name = matcher->names->list[place];
  for (size_t i = 0; i < place; i++) {
    if (strcmp(matcher->names->list[i], name) != 0) continue;
    return latenn_failure(LATENN_INVALID_ARGUMENT, "Its attribute %s_names names \"%s\" twice. Wrap the model again.",
                          customop_what(matcher), name);
  }
  for (size_t i = 0; i < customop_port_count(matcher); i++) {
    if (strcmp(customop_port(matcher, i)->name, name) != 0) continue;
    *port = i;
    return NULL;
  }
  return latenn_failure(
      LATENN_INVALID_ARGUMENT, "The model has no %s \"%s\"; its first is \"%s\". Wrap the model again.",
      customop_what(matcher), name, customop_port_count(matcher) ? customop_port(matcher, 0)->name : "");
}

static latenn_status* customop_match_type(const customop_matcher* matcher, const latenn_port* port, int32_t type) {
  if (type == port->type) return NULL;
  return latenn_failure(LATENN_INVALID_ARGUMENT, "The model's %s \"%s\" is %s; the graph has %s there.",
                        customop_what(matcher), port->name, latenn_type_name(port->type), latenn_type_name(type));
}

/* Rank 0 says nothing: it may be a scalar, or an unknown shape. A run compares the real shape with the port. */
static latenn_status* customop_match_shape(const customop_matcher* matcher, const latenn_port* port,
                                           const OrtTensorTypeAndShapeInfo* tensor) {
  char model[LATENN_SHAPE_TEXT];
  char graph[LATENN_SHAPE_TEXT];
  size_t rank = 0;
  latenn_status* status = customop_take(matcher->api, lb_ort_GetDimensionsCount(matcher->api, tensor, &rank));
  if (status || !rank || port->rank < 0) return status;
  int64_t* shape = calloc(rank, sizeof *shape);
  const char** names = calloc(rank, sizeof *names);
  OrtStatus* failed = NULL;
  if (shape && names) failed = lb_ort_GetDimensions(matcher->api, tensor, shape, rank);
  if (shape && names && !failed) failed = lb_ort_GetSymbolicDimensions(matcher->api, tensor, names, rank);
  int bad = !failed && shape && names && (int64_t)rank != port->rank;
  for (size_t i = 0; i < rank && shape && !failed && !bad; i++) {
    bad = port->shape[i] >= 0 && shape[i] >= 0 && port->shape[i] != shape[i];
  }
  if (failed) {
    status = customop_take(matcher->api, failed);
  } else if (!shape || !names) {
    status = latenn_no_memory();
  } else if (bad) {
    status = latenn_failure(LATENN_INVALID_ARGUMENT, "The model's %s \"%s\" has shape %s; the graph has %s there.",
                            customop_what(matcher), port->name,
                            latenn_write_shape(model, port->rank, port->shape, port->dimensions),
                            latenn_write_shape(graph, (int32_t)rank, shape, names));
  }
  free(shape);
  free(names);
  return status;
}

static latenn_status* customop_match_info(const customop_matcher* matcher, const latenn_port* port,
                                          const OrtTypeInfo* type) {
  const lb_ort_api* api = matcher->api;
  const OrtTensorTypeAndShapeInfo* tensor = NULL;
  enum ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  latenn_status* status = customop_take(api, lb_ort_CastTypeInfoToTensorInfo(api, type, &tensor));
  if (!status && !tensor) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "The model's %s \"%s\" is a tensor; the graph has none there.",
                          customop_what(matcher), port->name);
  }
  if (!status) status = customop_take(api, lb_ort_GetTensorElementType(api, tensor, &element));
  if (!status) status = customop_match_type(matcher, port, (int32_t)element); /* ORT's numbers are ours */
  return status ? status : customop_match_shape(matcher, port, tensor);
}

static latenn_status* customop_match_side(const customop_matcher* matcher, customop_side* side) {
  const lb_ort_api* api = matcher->api;
  OrtStatus* failed = matcher->is_input ? lb_ort_KernelInfo_GetInputCount(api, matcher->info, &side->count)
                                        : lb_ort_KernelInfo_GetOutputCount(api, matcher->info, &side->count);
  latenn_status* status = customop_take(api, failed);
  if (!status) status = customop_match_count(matcher, side->count);
  if (status) return status;
  side->ports = calloc(side->count + 1, sizeof *side->ports);
  if (!side->ports) return latenn_no_memory();
  for (size_t i = 0; i < side->count && !status; i++) {
    OrtTypeInfo* type = NULL;
    status = customop_match_name(matcher, i, &side->ports[i]);
    if (status) break;
    failed = matcher->is_input ? lb_ort_KernelInfo_GetInputTypeInfo(api, matcher->info, i, &type)
                               : lb_ort_KernelInfo_GetOutputTypeInfo(api, matcher->info, i, &type);
    status = customop_take(api, failed);
    if (!status) status = customop_match_info(matcher, customop_port(matcher, side->ports[i]), type);
    if (type) lb_ort_ReleaseTypeInfo(api, type);
  }
  return status;
}

latenn_status* customop_match(const lb_ort_api* api, const OrtKernelInfo* info, const customop_settings* settings,
                              const latenn_model* model, customop_side* inputs, customop_side* outputs) {
  customop_matcher taken = {api, info, model, &settings->inputs, 1};
  customop_matcher given = {api, info, model, &settings->outputs, 0};
  latenn_status* status = customop_match_side(&taken, inputs);
  return status ? status : customop_match_side(&given, outputs);
}
