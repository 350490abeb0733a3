/* context.c: one computation: input values, one Run, output values; must not check what the core has checked. */
#include <stdlib.h>
#include <string.h>

#include "ort.h"

static void ort_clear_inputs(latenn_backend_context* context) {
  const latenn_backend_model* model = context->model;
  for (size_t i = 0; i < model->described.inputs.count; i++) {
    if (context->inputs[i]) lb_ort_ReleaseValue(&model->runtime->api, context->inputs[i]);
    context->inputs[i] = NULL;
  }
}

static void ort_clear_outputs(latenn_backend_context* context) {
  for (size_t i = 0; i < context->model->described.outputs.count; i++) ort_clear_value(&context->outputs[i]);
}

static void ort_free_context(latenn_backend_context* context) {
  free(context->inputs);
  free(context->bound_inputs);
  free(context->bound_outputs);
  free(context->targets);
  free(context->outputs);
  free(context->given);
  free(context->results);
  free(context);
}

latenn_status* backend_create_context(latenn_backend_model* model, latenn_backend_context** out) {
  latenn_backend_context* context = calloc(1, sizeof *context);
  if (!context) return backend_no_memory(model->described.host);
  size_t inputs = model->described.inputs.count + 1;
  size_t outputs = model->described.outputs.count + 1;
  context->model = model;
  context->inputs = calloc(inputs, sizeof *context->inputs);
  context->bound_inputs = calloc(inputs, sizeof *context->bound_inputs);
  context->bound_outputs = calloc(outputs, sizeof *context->bound_outputs);
  context->targets = calloc(outputs, sizeof *context->targets);
  context->outputs = calloc(outputs, sizeof *context->outputs);
  context->given = calloc(inputs, sizeof *context->given);
  context->results = calloc(outputs, sizeof *context->results);
  if (!context->inputs || !context->bound_inputs || !context->bound_outputs || !context->targets || !context->outputs ||
      !context->given || !context->results) {
    ort_free_context(context);
    return backend_no_memory(model->described.host);
  }
  *out = context;
  return NULL;
}

void backend_release_context(latenn_backend_context* context) {
  if (!context) return;
  const lb_ort_api* api = &context->model->runtime->api;
  ort_clear_inputs(context);
  ort_clear_outputs(context);
  for (size_t i = 0; i < context->model->described.outputs.count; i++) {
    if (context->targets[i]) lb_ort_ReleaseMemoryInfo(api, context->targets[i]);
  }
  if (context->binding) lb_ort_ReleaseIoBinding(api, context->binding);
  ort_free_context(context);
}

latenn_status* backend_set_input(latenn_backend_context* context, size_t index, const latenn_tensor* tensor) {
  const latenn_backend_model* model = context->model;
  OrtValue* value = NULL;
  latenn_status* status = ort_make_input(model, tensor, &value);
  if (status) return status;
  if (context->inputs[index]) lb_ort_ReleaseValue(&model->runtime->api, context->inputs[index]);
  context->inputs[index] = value;
  return NULL;
}

/* The runtime fills what was bound and makes what was not. Returns whether an output goes to a device. */
static int ort_lay_out(latenn_backend_context* context) {
  const latenn_backend_model* model = context->model;
  int on_device = 0;
  for (size_t i = 0; i < model->described.inputs.count; i++) {
    context->given[i] = context->bound_inputs[i] ? context->bound_inputs[i]->value : context->inputs[i];
  }
  for (size_t i = 0; i < model->described.outputs.count; i++) {
    context->results[i] = context->bound_outputs[i] ? context->bound_outputs[i]->value : NULL;
    on_device = on_device || (context->targets[i] && ort_is_wanted(context, i));
  }
  return on_device;
}

/* After a success every result is someone's: the bound value's, or the context's. */
static void ort_keep_results(latenn_backend_context* context) {
  for (size_t i = 0; i < context->model->described.outputs.count; i++) {
    if (!ort_is_wanted(context, i)) continue;
    if (context->bound_outputs[i]) {
      ort_trim(context->bound_outputs[i]);
    } else {
      context->outputs[i].model = context->model;
      context->outputs[i].value = context->results[i];
    }
  }
}

int ort_is_wanted(const latenn_backend_context* context, size_t output) {
  return !context->wanted || context->wanted[output];
}

/* The runtime takes the names and places of the outputs one after the other. */
static OrtStatus* ort_run_some(latenn_backend_context* context) {
  const latenn_backend_model* model = context->model;
  size_t count = 0;
  size_t outputs = model->described.outputs.count;
  const char** names = calloc(outputs + 1, sizeof *names);
  OrtValue** results = calloc(outputs + 1, sizeof *results);
  OrtStatus* failed = NULL;
  for (size_t i = 0; i < outputs && names && results; i++) {
    if (!context->wanted[i]) continue;
    names[count] = model->output_names[i];
    results[count++] = context->results[i];
  }
  failed = count ? lb_ort_Run(&model->runtime->api, model->session, context->options, model->input_names,
                              context->given, model->described.inputs.count, names, count, results)
                 : lb_ort_CreateStatus(&model->runtime->api, ORT_FAIL, ORT_NO_MEMORY);
  for (size_t i = outputs; i-- && !failed;) {
    if (context->wanted[i]) context->results[i] = results[--count];
  }
  free(names);
  free(results);
  return failed;
}

latenn_status* backend_compute(latenn_backend_context* context) {
  const latenn_backend_model* model = context->model;
  const lb_ort_api* api = &model->runtime->api;
  OrtStatus* failed = NULL;
  ort_clear_outputs(context);
  if (ort_lay_out(context)) {
    failed = ort_run_bound(context);
  } else if (context->wanted) {
    failed = ort_run_some(context);
  } else if (!context->options && ort_is_repeated(context)) {
    failed = ort_run_repeated(context);
  } else {
    failed = lb_ort_Run(api, model->session, context->options, model->input_names, context->given,
                        model->described.inputs.count, model->output_names, model->described.outputs.count,
                        context->results);
  }
  ort_clear_inputs(context); /* the caller may reuse its memory */
  if (failed) return ort_take(model->described.host, api, failed, ORT_PHASE_COMPUTE, "failed to compute");
  ort_keep_results(context);
  return NULL;
}

latenn_status* backend_get_output(latenn_backend_context* context, size_t index, latenn_tensor* tensor) {
  const latenn_backend_model* model = context->model;
  latenn_backend_value* output = &context->outputs[index];
  latenn_status* status = ort_read_value(model, output, model->described.outputs.list[index].name);
  if (!status) *tensor = output->view;
  return status;
}
