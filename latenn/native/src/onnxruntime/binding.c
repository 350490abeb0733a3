/* binding.c: values bound to a context, and outputs that stay on a device; must not copy. */
#include <stdlib.h>
#include <string.h>

#include "ort.h"

void ort_unlay(latenn_backend_context* context) {
  const lb_ort_api* api = &context->model->runtime->api;
  context->repeats = 0;
  if (!context->is_laid) return;
  context->is_laid = 0;
  lb_ort_ClearBoundInputs(api, context->binding);
  lb_ort_ClearBoundOutputs(api, context->binding);
}

latenn_status* backend_bind_input(latenn_backend_context* context, size_t index, latenn_backend_value* value) {
  ort_unlay(context);
  context->bound_inputs[index] = value;
  return NULL;
}

static void ort_set_target(latenn_backend_context* context, size_t index, OrtMemoryInfo* target) {
  ort_unlay(context);
  if (context->targets[index]) lb_ort_ReleaseMemoryInfo(&context->model->runtime->api, context->targets[index]);
  context->targets[index] = target;
}

latenn_status* backend_bind_output(latenn_backend_context* context, size_t index, latenn_backend_value* value) {
  ort_set_target(context, index, NULL);
  context->bound_outputs[index] = value;
  return NULL;
}

latenn_status* backend_bind_output_device(latenn_backend_context* context, size_t index, latenn_device device) {
  const latenn_backend_model* model = context->model;
  OrtMemoryInfo* target = NULL;
  if (device.type != LATENN_CPU && model->device.type == LATENN_CPU) {
    return backend_fail(
        model->described.host, LATENN_UNSUPPORTED,
        "The output \"%s\" cannot stay on a device (type %d): the model computes on the processor. Load it "
        "with that device.",
        model->described.outputs.list[index].name, (int)device.type);
  }
  latenn_status* status = ort_make_memory(model, device, &target);
  if (status) return status;
  ort_set_target(context, index, target);
  context->bound_outputs[index] = NULL;
  return NULL;
}

latenn_status* backend_take_output(latenn_backend_context* context, size_t index, latenn_backend_value** value,
                                   latenn_tensor* tensor, latenn_device* device) {
  const latenn_backend_model* model = context->model;
  latenn_backend_value* output = &context->outputs[index];
  latenn_status* status = ort_read_value(model, output, model->described.outputs.list[index].name);
  if (status) return status;
  latenn_backend_value* taken = malloc(sizeof *taken);
  if (!taken) return backend_no_memory(model->described.host);
  *taken = *output;
  memset(output, 0, sizeof *output);
  *value = taken;
  *tensor = taken->view;
  *device = taken->device;
  return NULL;
}

/* ---- outputs on devices ----------------------------------------------------------------------------------------- */

static OrtStatus* ort_bind_all(latenn_backend_context* context) {
  const latenn_backend_model* model = context->model;
  const lb_ort_api* api = &model->runtime->api;
  OrtIoBinding* binding = context->binding;
  OrtStatus* failed = NULL;
  for (size_t i = 0; i < model->described.inputs.count && !failed; i++) {
    failed = lb_ort_BindInput(api, binding, model->input_names[i], context->given[i]);
  }
  for (size_t i = 0; i < model->described.outputs.count && !failed; i++) {
    const char* name = model->output_names[i];
    if (!ort_is_wanted(context, i)) continue;
    const OrtMemoryInfo* target = context->targets[i] ? context->targets[i] : model->runtime->memory;
    failed = context->results[i] ? lb_ort_BindOutput(api, binding, name, context->results[i])
                                 : lb_ort_BindOutputToDevice(api, binding, name, target);
  }
  return failed;
}

/* The runtime gives new handles of all outputs, in the order of binding; those of bound values are ours already. */
static OrtStatus* ort_fetch_all(latenn_backend_context* context) {
  const latenn_backend_model* model = context->model;
  const lb_ort_api* api = &model->runtime->api;
  OrtValue** values = NULL;
  size_t count = 0;
  OrtStatus* failed = lb_ort_GetBoundOutputValues(api, context->binding, model->runtime->allocator, &values, &count);
  if (failed) return failed;
  for (size_t i = 0, output = 0; i < count; i++, output++) {
    while (output < model->described.outputs.count && !ort_is_wanted(context, output)) output++;
    if (output >= model->described.outputs.count || context->results[output]) {
      lb_ort_ReleaseValue(api, values[i]);
    } else {
      context->results[output] = values[i];
    }
  }
  return values ? lb_ort_AllocatorFree(api, model->runtime->allocator, (void*)values) : NULL;
}

OrtStatus* ort_run_bound(latenn_backend_context* context) {
  const latenn_backend_model* model = context->model;
  const lb_ort_api* api = &model->runtime->api;
  OrtStatus* failed = context->binding ? NULL : lb_ort_CreateIoBinding(api, model->session, &context->binding);
  if (failed) return failed;
  failed = ort_bind_all(context);
  if (!failed) failed = lb_ort_RunWithBinding(api, model->session, context->options, context->binding);
  if (!failed) failed = lb_ort_SynchronizeBoundOutputs(api, context->binding);
  if (!failed) failed = ort_fetch_all(context);
  lb_ort_ClearBoundInputs(api, context->binding); /* it must not keep what the caller releases */
  lb_ort_ClearBoundOutputs(api, context->binding);
  return failed;
}

/* ---- the same again ------------------------------------------------------------------------------------------------
 */

int ort_is_repeated(latenn_backend_context* context) {
  const latenn_backend_model* model = context->model;
  if (!context->repeats++) return 0;
  if (context->is_laid) return 1;
  for (size_t i = 0; i < model->described.inputs.count; i++) {
    if (!context->bound_inputs[i]) return 0;
  }
  for (size_t i = 0; i < model->described.outputs.count; i++) {
    if (!context->bound_outputs[i]) return 0;
  }
  return 1;
}

OrtStatus* ort_run_repeated(latenn_backend_context* context) {
  const latenn_backend_model* model = context->model;
  const lb_ort_api* api = &model->runtime->api;
  OrtStatus* failed = context->binding ? NULL : lb_ort_CreateIoBinding(api, model->session, &context->binding);
  if (!failed && !context->is_laid) {
    failed = ort_bind_all(context);
    context->is_laid = 1; /* also what was bound before it failed is to be cleared */
  }
  if (!failed) return lb_ort_RunWithBinding(api, model->session, context->options, context->binding);
  if (context->binding) ort_unlay(context);
  return failed;
}
