/* ports.c: reads what a signature takes and gives; must refuse types that latenn does not carry, by name. */
#include <stdlib.h>

#include "litert.h"

typedef struct litert_type {
  const char* name;
  int32_t type; /* latenn_type; LATENN_UNDEFINED for what is refused */
} litert_type;

/* By LiteRT's numbers. Its complex numbers, resources and variants are not tensors to its compiled models. */
static const litert_type litert_types[] = {
    {"no type", LATENN_UNDEFINED},
    {"float32", LATENN_FLOAT32},
    {"int32", LATENN_INT32},
    {"uint8", LATENN_UINT8},
    {"int64", LATENN_INT64},
    {"string", LATENN_UNDEFINED},
    {"bool", LATENN_BOOL},
    {"int16", LATENN_INT16},
    {"complex64", LATENN_COMPLEX64},
    {"int8", LATENN_INT8},
    {"float16", LATENN_FLOAT16},
    {"float64", LATENN_FLOAT64},
    {"complex128", LATENN_COMPLEX128},
    {"uint64", LATENN_UINT64},
    {"resource", LATENN_UNDEFINED},
    {"variant", LATENN_UNDEFINED},
    {"uint32", LATENN_UINT32},
    {"uint16", LATENN_UINT16},
    {"int4", LATENN_INT4},
    {"bfloat16", LATENN_BFLOAT16},
    {"int2", LATENN_UNDEFINED},
    {"uint4", LATENN_UINT4},
    {"float8e4m3fn", LATENN_FLOAT8E4M3FN},
    {"float8e5m2", LATENN_FLOAT8E5M2},
};

static latenn_status* litert_check_type(const latenn_backend_model* model, const char* what, const char* name,
                                        int element, int32_t* type) {
  const latenn_host* host = model->described.host;
  size_t count = sizeof litert_types / sizeof *litert_types;
  int known = element >= 0 && (size_t)element < count;
  *type = known ? litert_types[element].type : LATENN_UNDEFINED;
  if (*type != LATENN_UNDEFINED) return NULL;
  if (!known) {
    return backend_fail(host, LATENN_UNSUPPORTED,
                        "The model's %s \"%s\" has elements of type number %d, which latenn does not know.", what, name,
                        element);
  }
  return backend_fail(host, LATENN_UNSUPPORTED,
                      "The model's %s \"%s\" has elements of type %s, which latenn's litert backend does not carry.",
                      what, name, litert_types[element].name);
}

static latenn_status* litert_read_port(latenn_backend_model* model, const char* what, LiteRtTensor* tensor,
                                       const char* name, latenn_port* port, LiteRtTensorType* type) {
  const latenn_host* host = model->described.host;
  const litert_api* api = &model->api;
  int kind = LITERT_RANKED;
  port->name = backend_copy_text(name);
  if (!port->name) return backend_no_memory(host);
  LiteRtStatus failed = api->GetTensorTypeId(tensor, &kind);
  if (!failed && kind == LITERT_RANKED) failed = api->GetRankedTensorType(tensor, type);
  if (!failed && kind != LITERT_RANKED) failed = api->GetUnrankedTensorType(tensor, &type->element);
  if (failed) return litert_take(host, failed, LATENN_MODEL_INVALID, "does not describe the model", "");
  latenn_status* status = litert_check_type(model, what, name, type->element, &port->type);
  if (status) return status;
  if (kind != LITERT_RANKED || type->layout.rank > LITERT_MAX_RANK) {
    return backend_fail(host, LATENN_UNSUPPORTED, "The model's %s \"%s\" has %s, which LiteRT does not run.", what,
                        name, kind != LITERT_RANKED ? "no rank" : "more than 8 dimensions");
  }
  status = backend_make_shape(host, type->layout.rank, port);
  for (size_t i = 0; i < type->layout.rank && !status; i++) {
    ((int64_t*)(uintptr_t)port->shape)[i] = type->layout.dimensions[i] < 0 ? -1 : type->layout.dimensions[i];
  }
  return status;
}

static latenn_status* litert_read_side(latenn_backend_model* model, LiteRtSignature* signature, int is_input) {
  const litert_api* api = &model->api;
  backend_ports* ports = is_input ? &model->described.inputs : &model->described.outputs;
  LiteRtTensorType* types = is_input ? model->types : model->types + model->described.inputs.count;
  for (size_t i = 0; i < ports->count; i++) {
    LiteRtTensor* tensor = NULL;
    const char* name = NULL;
    LiteRtStatus failed =
        is_input ? api->GetSignatureInputName(signature, i, &name) : api->GetSignatureOutputName(signature, i, &name);
    if (!failed) {
      failed = is_input ? api->GetSignatureInputTensorByIndex(signature, i, &tensor)
                        : api->GetSignatureOutputTensorByIndex(signature, i, &tensor);
    }
    latenn_status* status =
        litert_take(model->described.host, failed, LATENN_MODEL_INVALID, "does not describe the model", "");
    if (!status) {
      status = litert_read_port(model, is_input ? "input" : "output", tensor, name, &ports->list[i], &types[i]);
    }
    if (status) return status;
  }
  return NULL;
}

latenn_status* litert_read_ports(latenn_backend_model* model, LiteRtSignature* signature) {
  const latenn_host* host = model->described.host;
  size_t inputs = 0;
  size_t outputs = 0;
  LiteRtStatus failed = model->api.GetNumSignatureInputs(signature, &inputs);
  if (!failed) failed = model->api.GetNumSignatureOutputs(signature, &outputs);
  if (failed) return litert_take(host, failed, LATENN_MODEL_INVALID, "does not describe the model", "");
  model->types = calloc(inputs + outputs + 1, sizeof *model->types);
  if (!model->types) return backend_no_memory(host);
  latenn_status* status = backend_make_ports(host, inputs, &model->described.inputs);
  if (!status) status = backend_make_ports(host, outputs, &model->described.outputs);
  if (!status) status = litert_read_side(model, signature, 1);
  return status ? status : litert_read_side(model, signature, 0);
}
