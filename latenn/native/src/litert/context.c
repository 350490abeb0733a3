/*
 * context.c: one computation on a compiled model of its own, since several threads cannot share one of LiteRT's; must
 * not check what the core has checked.
 */
#include <stdlib.h>
#include <string.h>

#include "litert.h"

/* An input or output: LiteRT's buffer, its shape, and what was given or is shown. */
typedef struct litert_slot {
  LiteRtTensorBuffer* buffer;
  LiteRtTensorType type;
  const void* data; /* an input's, until it is copied */
  size_t bytes;
  int is_locked;
  int64_t shape[LITERT_MAX_RANK];
} litert_slot;

struct latenn_backend_context {
  latenn_backend_model* model;
  LiteRtCompiledModel* compiled;
  litert_slot* inputs;
  litert_slot* outputs;
  LiteRtTensorBuffer** buffers; /* of inputs, then outputs, as Run takes them */
  LiteRtLayout* layouts;
};

/* A failed call, with what LiteRT has to say about it. */
static latenn_status* litert_failed(latenn_backend_context* context, LiteRtStatus failed, const char* doing) {
  latenn_code code = failed == LITERT_INVALID_ARGUMENT ? LATENN_INVALID_ARGUMENT : LATENN_COMPUTE_FAILED;
  const litert_api* api = &context->model->api;
  char* said = NULL;
  if (!failed) return NULL;
  api->CompiledModelGetErrorMessages(context->compiled, &said);
  latenn_status* status = litert_take(context->model->described.host, failed, code, doing, said ? said : "");
  api->CompiledModelClearErrors(context->compiled);
  free(said);
  return status;
}

static void litert_unlock(const litert_api* api, litert_slot* slot) {
  if (slot->is_locked) api->UnlockTensorBuffer(slot->buffer);
  slot->is_locked = 0;
}

static void litert_drop(const litert_api* api, litert_slot* slot) {
  litert_unlock(api, slot);
  if (slot->buffer) api->DestroyTensorBuffer(slot->buffer);
  slot->buffer = NULL;
}

/* Everything that depends on shapes, with what uses it: the compiled model remembers where buffers were. */
static void litert_reset(latenn_backend_context* context) {
  const latenn_backend_model* model = context->model;
  if (context->compiled) model->api.DestroyCompiledModel(context->compiled);
  context->compiled = NULL;
  for (size_t i = 0; i < model->described.inputs.count; i++) litert_drop(&model->api, &context->inputs[i]);
  for (size_t i = 0; i < model->described.outputs.count; i++) litert_drop(&model->api, &context->outputs[i]);
}

latenn_status* backend_create_context(latenn_backend_model* model, latenn_backend_context** out) {
  size_t inputs = model->described.inputs.count;
  size_t outputs = model->described.outputs.count;
  latenn_backend_context* context = calloc(1, sizeof *context);
  if (!context) return backend_no_memory(model->described.host);
  context->model = model;
  context->inputs = calloc(inputs + 1, sizeof *context->inputs);
  context->outputs = calloc(outputs + 1, sizeof *context->outputs);
  context->buffers = calloc(inputs + outputs + 1, sizeof *context->buffers);
  context->layouts = calloc(outputs + 1, sizeof *context->layouts);
  if (!context->inputs || !context->outputs || !context->buffers || !context->layouts) {
    backend_release_context(context);
    return backend_no_memory(model->described.host);
  }
  for (size_t i = 0; i < inputs; i++) context->inputs[i].type = model->types[i];
  for (size_t i = 0; i < outputs; i++) context->outputs[i].type = model->types[inputs + i];
  *out = context;
  return NULL;
}

void backend_release_context(latenn_backend_context* context) {
  if (!context) return;
  if (context->inputs && context->outputs) litert_reset(context);
  free(context->inputs);
  free(context->outputs);
  free(context->buffers);
  free(context->layouts);
  free(context);
}

latenn_status* backend_set_input(latenn_backend_context* context, size_t index, const latenn_tensor* tensor) {
  litert_slot* slot = &context->inputs[index];
  int is_changed = 0;
  for (int32_t i = 0; i < tensor->rank; i++) {
    if (tensor->shape[i] > INT32_MAX) {
      return backend_fail(context->model->described.host, LATENN_UNSUPPORTED,
                          "A dimension of input \"%s\" is larger than LiteRT counts.",
                          context->model->described.inputs.list[index].name);
    }
    is_changed |= slot->type.layout.dimensions[i] != (int32_t)tensor->shape[i];
    slot->type.layout.dimensions[i] = (int32_t)tensor->shape[i];
  }
  if (is_changed) litert_reset(context);
  slot->data = tensor->data;
  slot->bytes = tensor->bytes;
  return NULL;
}

/* ---- computing --------------------------------------------------------------------------------------------------- */

static latenn_status* litert_resize(latenn_backend_context* context) {
  const latenn_backend_model* model = context->model;
  for (size_t i = 0; i < model->described.inputs.count; i++) {
    const LiteRtLayout* layout = &context->inputs[i].type.layout;
    int is_open = 0;
    for (size_t axis = 0; axis < layout->rank; axis++) is_open |= model->types[i].layout.dimensions[axis] < 0;
    if (!is_open) continue;
    LiteRtStatus failed = model->api.CompiledModelResizeInputTensor(context->compiled, model->signature, i,
                                                                    layout->dimensions, layout->rank);
    if (failed) return litert_failed(context, failed, "does not take this shape of an input");
  }
  return NULL;
}

static latenn_status* litert_make_buffer(latenn_backend_context* context, int is_input, size_t index,
                                         litert_slot* slot) {
  const latenn_backend_model* model = context->model;
  const litert_api* api = &model->api;
  LiteRtRequirements* needs = NULL;
  LiteRtStatus failed =
      is_input ? api->GetCompiledModelInputBufferRequirements(context->compiled, model->signature, index, &needs)
               : api->GetCompiledModelOutputBufferRequirements(context->compiled, model->signature, index, &needs);
  if (!failed) {
    failed = api->CreateManagedTensorBufferFromRequirements(model->environment, &slot->type, needs, &slot->buffer);
  }
  return litert_failed(context, failed, "cannot make a buffer");
}

/* An output whose shape only the computation reports has none yet, and LiteRT has no buffer for it. */
static latenn_status* litert_shape_outputs(latenn_backend_context* context) {
  const latenn_backend_model* model = context->model;
  size_t count = model->described.outputs.count;
  LiteRtStatus failed = model->api.GetCompiledModelOutputTensorLayouts(context->compiled, model->signature, count,
                                                                       context->layouts, true);
  if (failed) return litert_failed(context, failed, "cannot tell the shapes of the outputs");
  for (size_t i = 0; i < count; i++) {
    litert_slot* slot = &context->outputs[i];
    slot->type.layout = context->layouts[i];
    slot->type.layout.has_strides = 0;
    size_t elements = 1;
    for (size_t axis = 0; axis < slot->type.layout.rank; axis++) {
      slot->shape[axis] = slot->type.layout.dimensions[axis];
      elements *= (size_t)slot->shape[axis];
    }
    slot->bytes = backend_count_bytes(model->described.outputs.list[i].type, elements);
  }
  return NULL;
}

/* Compiles for the shapes that the inputs have now, and makes buffers for them. */
static latenn_status* litert_prepare(latenn_backend_context* context) {
  const latenn_backend_model* model = context->model;
  size_t inputs = model->described.inputs.count;
  latenn_status* status = litert_compile(model, &context->compiled);
  if (!status) status = litert_resize(context);
  if (!status) status = litert_shape_outputs(context);
  for (size_t i = 0; i < inputs && !status; i++) {
    status = litert_make_buffer(context, 1, i, &context->inputs[i]);
    context->buffers[i] = context->inputs[i].buffer;
  }
  for (size_t i = 0; i < model->described.outputs.count && !status; i++) {
    status = litert_make_buffer(context, 0, i, &context->outputs[i]);
    context->buffers[inputs + i] = context->outputs[i].buffer;
  }
  return status;
}

static latenn_status* litert_fill(latenn_backend_context* context, litert_slot* slot) {
  const litert_api* api = &context->model->api;
  void* address = NULL;
  if (!slot->bytes) return NULL;
  LiteRtStatus failed = api->LockTensorBuffer(slot->buffer, &address, LITERT_LOCK_WRITE);
  if (failed) return litert_failed(context, failed, "does not open an input's buffer");
  memcpy(address, slot->data, slot->bytes);
  return litert_failed(context, api->UnlockTensorBuffer(slot->buffer), "does not close an input's buffer");
}

static int litert_is_open(const backend_ports* ports) {
  int is_open = 0;
  for (size_t i = 0; i < ports->count; i++) {
    for (int32_t axis = 0; axis < ports->list[i].rank; axis++) is_open |= ports->list[i].shape[axis] < 0;
  }
  return is_open;
}

/* LiteRT gives an output its buffer before it computes, so its shape must not depend on the values of the inputs. */
static latenn_status* litert_run_failed(latenn_backend_context* context, LiteRtStatus failed) {
  const backend_described* described = &context->model->described;
  if (!failed || litert_is_open(&described->inputs) || !litert_is_open(&described->outputs)) {
    return litert_failed(context, failed, "failed to compute");
  }
  return litert_failed(context, LITERT_UNSUPPORTED,
                       "needs to know the shape of every output before it computes, and this model has one that it "
                       "does not know");
}

latenn_status* backend_compute(latenn_backend_context* context) {
  const latenn_backend_model* model = context->model;
  size_t inputs = model->described.inputs.count;
  size_t outputs = model->described.outputs.count;
  latenn_status* status = context->compiled ? NULL : litert_prepare(context);
  for (size_t i = 0; i < outputs; i++) litert_unlock(&model->api, &context->outputs[i]);
  for (size_t i = 0; i < inputs && !status; i++) status = litert_fill(context, &context->inputs[i]);
  if (!status) {
    LiteRtStatus failed = model->api.RunCompiledModel(context->compiled, model->signature, inputs, context->buffers,
                                                      outputs, context->buffers + inputs);
    status = litert_run_failed(context, failed);
  }
  if (status) litert_reset(context); /* what failed half-way is not used again */
  return status;
}

latenn_status* backend_get_output(latenn_backend_context* context, size_t index, latenn_tensor* tensor) {
  const latenn_backend_model* model = context->model;
  litert_slot* slot = &context->outputs[index];
  LiteRtStatus failed = 0;
  void* address = NULL;
  litert_unlock(&model->api, slot);
  failed = model->api.LockTensorBuffer(slot->buffer, &address, LITERT_LOCK_READ);
  if (failed) return litert_failed(context, failed, "does not open an output's buffer");
  slot->is_locked = 1;
  tensor->type = model->described.outputs.list[index].type;
  tensor->rank = (int32_t)slot->type.layout.rank;
  tensor->shape = slot->shape;
  tensor->data = address;
  tensor->bytes = slot->bytes;
  return NULL;
}
