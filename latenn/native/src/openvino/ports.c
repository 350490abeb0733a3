/* ports.c: reads what a model takes and gives; must refuse types that latenn does not carry, by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx.h"
#include "openvino.h"

typedef struct openvino_type {
  const char* name;
  int32_t type; /* latenn_type; LATENN_UNDEFINED for what is refused */
} openvino_type;

/* By OpenVINO's numbers. Its C interface returns no strings. */
static const openvino_type openvino_types[] = {
    {"any type", LATENN_UNDEFINED},
    {"bool", LATENN_BOOL},
    {"bfloat16", LATENN_BFLOAT16},
    {"float16", LATENN_FLOAT16},
    {"float32", LATENN_FLOAT32},
    {"float64", LATENN_FLOAT64},
    {"int4", LATENN_INT4},
    {"int8", LATENN_INT8},
    {"int16", LATENN_INT16},
    {"int32", LATENN_INT32},
    {"int64", LATENN_INT64},
    {"uint1", LATENN_UNDEFINED},
    {"uint2", LATENN_UNDEFINED},
    {"uint3", LATENN_UNDEFINED},
    {"uint4", LATENN_UINT4},
    {"uint6", LATENN_UNDEFINED},
    {"uint8", LATENN_UINT8},
    {"uint16", LATENN_UINT16},
    {"uint32", LATENN_UINT32},
    {"uint64", LATENN_UINT64},
    {"nf4", LATENN_UNDEFINED},
    {"float8e4m3fn", LATENN_FLOAT8E4M3FN},
    {"float8e5m2", LATENN_FLOAT8E5M2},
    {"string", LATENN_UNDEFINED},
    {"float4e2m1", LATENN_UNDEFINED},
    {"float8e8m0", LATENN_UNDEFINED},
};

/* What is being read, so that the steps below have short argument lists. */
typedef struct openvino_reader {
  const latenn_host* host;
  const openvino_api* api;
  const char* what; /* "input" */
} openvino_reader;

static latenn_status* openvino_broken(const openvino_reader* reader, ov_status_e failed) {
  return openvino_take(reader->host, reader->api, failed, LATENN_MODEL_INVALID, "does not describe the model");
}

/* A port without a name of its own is called by its place. */
static latenn_status* openvino_read_name(const openvino_reader* reader, const ov_output_const_port_t* raw, size_t index,
                                         latenn_port* port) {
  char place[48];
  char* name = NULL;
  if (reader->api->port_get_any_name(raw, &name)) name = NULL;
  snprintf(place, sizeof place, "%s%zu", reader->what, index);
  port->name = backend_copy_text(name ? name : place);
  if (name) reader->api->free(name);
  return port->name ? NULL : backend_no_memory(reader->host);
}

static latenn_status* openvino_read_type(const openvino_reader* reader, const ov_output_const_port_t* raw,
                                         latenn_port* port, int* number) {
  int count = (int)(sizeof openvino_types / sizeof *openvino_types);
  ov_status_e failed = reader->api->port_get_element_type(raw, number);
  if (failed) return openvino_broken(reader, failed);
  int is_known = *number >= 0 && *number < count;
  port->type = is_known ? openvino_types[*number].type : LATENN_UNDEFINED;
  if (port->type != LATENN_UNDEFINED) return NULL;
  if (!is_known) {
    return backend_fail(reader->host, LATENN_UNSUPPORTED,
                        "The model's %s \"%s\" has elements of type number %d, which latenn does not know.",
                        reader->what, port->name, *number);
  }
  return backend_fail(reader->host, LATENN_UNSUPPORTED,
                      "The model's %s \"%s\" has elements of %s, which latenn's openvino backend does not carry.",
                      reader->what, port->name, openvino_types[*number].name);
}

static latenn_status* openvino_read_shape(const openvino_reader* reader, const ov_output_const_port_t* raw,
                                          latenn_port* port) {
  ov_partial_shape_t shape = {{0, 0}, NULL};
  ov_status_e failed = reader->api->port_get_partial_shape(raw, &shape);
  if (failed) return openvino_broken(reader, failed);
  int is_open = shape.rank.min != shape.rank.max;
  size_t rank = is_open || shape.rank.max < 0 ? 0 : (size_t)shape.rank.max;
  latenn_status* status = backend_make_shape(reader->host, rank, port);
  for (size_t i = 0; i < rank && !status; i++) {
    int is_fixed = shape.dims[i].min == shape.dims[i].max;
    ((int64_t*)(uintptr_t)port->shape)[i] = is_fixed ? shape.dims[i].max : -1;
  }
  if (!status && is_open) port->rank = -1;
  reader->api->partial_shape_free(&shape);
  return status;
}

static latenn_status* openvino_read_side(latenn_backend_model* model, int is_input) {
  const openvino_api* api = &model->api;
  const openvino_reader reader = {model->described.host, api, is_input ? "input" : "output"};
  backend_ports* ports = is_input ? &model->described.inputs : &model->described.outputs;
  latenn_status* status = NULL;
  for (size_t i = 0; i < ports->count && !status; i++) {
    int number = 0;
    ov_output_const_port_t* raw = NULL;
    ov_status_e failed = is_input ? api->compiled_model_input_by_index(model->compiled, i, &raw)
                                  : api->compiled_model_output_by_index(model->compiled, i, &raw);
    if (failed) return openvino_broken(&reader, failed);
    status = openvino_read_name(&reader, raw, i, &ports->list[i]);
    if (!status) status = openvino_read_type(&reader, raw, &ports->list[i], &number);
    if (!status) status = openvino_read_shape(&reader, raw, &ports->list[i]);
    if (is_input) model->types[i] = number;
    api->output_const_port_free(raw);
  }
  return status;
}

latenn_status* openvino_read_ports(latenn_backend_model* model) {
  const latenn_host* host = model->described.host;
  size_t inputs = 0;
  size_t outputs = 0;
  ov_status_e failed = model->api.compiled_model_inputs_size(model->compiled, &inputs);
  if (!failed) failed = model->api.compiled_model_outputs_size(model->compiled, &outputs);
  if (failed) return openvino_take(host, &model->api, failed, LATENN_MODEL_INVALID, "does not describe the model");
  model->types = calloc(inputs + 1, sizeof *model->types);
  if (!model->types) return backend_no_memory(host);
  latenn_status* status = backend_make_ports(host, inputs, &model->described.inputs);
  if (!status) status = backend_make_ports(host, outputs, &model->described.outputs);
  if (!status) status = openvino_read_side(model, 1);
  return status ? status : openvino_read_side(model, 0);
}

/* The port that OpenVINO finds by one of its names is known by the first of them, which it has been called so far. */
static void openvino_name_port(void* context, int is_input, const char* name) {
  latenn_backend_model* model = context;
  const openvino_api* api = &model->api;
  backend_ports* ports = is_input ? &model->described.inputs : &model->described.outputs;
  ov_output_const_port_t* raw = NULL;
  char* first = NULL;
  ov_status_e failed = is_input ? api->compiled_model_input_by_name(model->compiled, name, &raw)
                                : api->compiled_model_output_by_name(model->compiled, name, &raw);
  if (!failed) failed = api->port_get_any_name(raw, &first);
  for (size_t i = 0; i < ports->count && !failed; i++) {
    if (strcmp(ports->list[i].name, first) != 0) continue;
    char* copy = backend_copy_text(name);
    if (!copy) break; /* the other name is as true */
    free((void*)(uintptr_t)ports->list[i].name);
    ports->list[i].name = copy;
    break;
  }
  if (first) api->free(first);
  if (raw) api->output_const_port_free(raw);
}

void openvino_name_ports(latenn_backend_model* model, const char* path, const void* bytes, size_t size) {
  onnx_names(path, bytes, size, openvino_name_port, model);
}
