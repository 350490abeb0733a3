/* context.c: one computation: input values, one Run, output values; must not check what the core has checked. */
#include <stdlib.h>
#include <string.h>

#include "ort.h"

struct latenn_backend_context {
  latenn_backend_model* model;
  OrtValue** inputs;
  ort_output* outputs;
  OrtValue** results; /* as Run() writes them */
};

static void ort_clear_inputs(latenn_backend_context* context) {
  const latenn_backend_model* model = context->model;
  for (size_t i = 0; i < model->described.inputs.count; i++) {
    if (context->inputs[i]) lb_ort_ReleaseValue(&model->runtime->api, context->inputs[i]);
    context->inputs[i] = NULL;
  }
}

static void ort_clear_outputs(latenn_backend_context* context) {
  for (size_t i = 0; i < context->model->described.outputs.count; i++)
    ort_release_output(context->model, &context->outputs[i]);
}

latenn_status* ort_create_context(latenn_backend_model* model, latenn_backend_context** out) {
  latenn_backend_context* context = calloc(1, sizeof *context);
  if (!context) return backend_no_memory(model->described.host);
  context->model = model;
  context->inputs = calloc(model->described.inputs.count + 1, sizeof *context->inputs);
  context->outputs = calloc(model->described.outputs.count + 1, sizeof *context->outputs);
  context->results = calloc(model->described.outputs.count + 1, sizeof *context->results);
  if (!context->inputs || !context->outputs || !context->results) {
    latenn_status* status = backend_no_memory(model->described.host);
    free(context->inputs);
    free(context->outputs);
    free(context->results);
    free(context);
    return status;
  }
  *out = context;
  return NULL;
}

void ort_release_context(latenn_backend_context* context) {
  if (!context) return;
  ort_clear_inputs(context);
  ort_clear_outputs(context);
  free(context->inputs);
  free(context->outputs);
  free(context->results);
  free(context);
}

latenn_status* ort_set_input(latenn_backend_context* context, size_t index, const latenn_tensor* tensor) {
  const latenn_backend_model* model = context->model;
  OrtValue* value = NULL;
  latenn_status* status = ort_make_input(model, tensor, &value);
  if (status) return status;
  if (context->inputs[index]) lb_ort_ReleaseValue(&model->runtime->api, context->inputs[index]);
  context->inputs[index] = value;
  return NULL;
}

latenn_status* ort_compute(latenn_backend_context* context) {
  const latenn_backend_model* model = context->model;
  const lb_ort_api* api = &model->runtime->api;
  size_t count = model->described.outputs.count;
  ort_clear_outputs(context);
  memset(context->results, 0, count * sizeof *context->results);
  OrtStatus* failed = lb_ort_Run(api, model->session, NULL, model->input_names, (const OrtValue* const*)context->inputs,
                                 model->described.inputs.count, model->output_names, count, context->results);
  for (size_t i = 0; i < count; i++) context->outputs[i].value = context->results[i];
  ort_clear_inputs(context); /* the caller's memory is his own again */
  if (!failed) return NULL;
  ort_clear_outputs(context);
  return ort_take(model->described.host, api, failed, ORT_PHASE_COMPUTE, "failed to compute");
}

latenn_status* ort_get_output(latenn_backend_context* context, size_t index, latenn_tensor* tensor) {
  const latenn_backend_model* model = context->model;
  ort_output* output = &context->outputs[index];
  latenn_status* status =
      output->is_read ? NULL : ort_read_output(model, output, model->described.outputs.list[index].name);
  if (!status) *tensor = output->view;
  return status;
}
