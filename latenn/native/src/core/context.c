/* context.c: one computation at a time: inputs in, outputs out; must not let a backend see an unchecked argument. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* A long list of names is cut short: the message is for a person. */
enum { LATENN_NAMES_TEXT = 400 };

latenn_status* latenn_context_create(latenn_model* model, latenn_context** context) {
  if (!context) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_context_create: context is NULL.");
  *context = NULL;
  if (!model) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_context_create: model is NULL.");
  size_t inputs = latenn_input_count(model);
  size_t outputs = latenn_output_count(model);
  size_t room = (inputs + outputs) * (sizeof(latenn_value*) + 1);
  latenn_context* created = calloc(1, sizeof *created + room);
  if (!created) return latenn_no_memory();
  created->inputs = (latenn_value**)(void*)(created + 1);
  created->outputs = created->inputs + inputs;
  created->is_set = (unsigned char*)(created->outputs + outputs);
  created->gone = created->is_set + inputs;
  created->model = model;
  created->forks = latenn_forks();
  latenn_status* status = model->backend.create_context(model->model, &created->context);
  if (status) {
    free(created);
    return status;
  }
  latenn_model_hold(model);
  *context = created;
  return NULL;
}

void latenn_context_release(latenn_context* context) {
  if (!context || context->forks != latenn_forks()) return;
  context->model->backend.release_context(context->context);
  size_t bound = latenn_input_count(context->model) + latenn_output_count(context->model);
  for (size_t i = 0; i < bound; i++) latenn_value_release(context->inputs[i]); /* outputs follow the inputs */
  latenn_model_release(context->model);
  free(context);
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

typedef const latenn_port* (*latenn_port_of)(const latenn_model* model, size_t index);

static latenn_status* latenn_find(const latenn_model* model, const char* what, latenn_port_of port, size_t count,
                                  const char* name, size_t* index) {
  char names[LATENN_NAMES_TEXT] = "";
  size_t used = 0;
  if (!name) return latenn_failure(LATENN_INVALID_ARGUMENT, "The name of the %s is NULL.", what);
  for (size_t i = 0; i < count; i++) {
    const char* known = port(model, i)->name;
    size_t length = strlen(known);
    if (strcmp(known, name) == 0) {
      *index = i;
      return NULL;
    }
    if (used + length + 8 >= sizeof names) continue;
    if (used) {
      memcpy(names + used, ", ", 2);
      used += 2;
    }
    names[used++] = '"';
    memcpy(names + used, known, length);
    used += length;
    names[used++] = '"';
    names[used] = 0;
  }
  return latenn_failure(LATENN_INVALID_ARGUMENT, "The model has no %s \"%.200s\"; it has %zu: %s.", what, name, count,
                        used ? names : "none");
}

latenn_status* latenn_find_output(const latenn_model* model, const char* name, size_t* index) {
  return latenn_find(model, "output", latenn_output, latenn_output_count(model), name, index);
}

latenn_status* latenn_check_index(const char* what, size_t index, size_t count) {
  if (index < count) return NULL;
  return latenn_failure(LATENN_INVALID_ARGUMENT, "There is no %s %zu; the model has %zu, counted from 0.", what, index,
                        count);
}

/* ---- inputs, computing, outputs -----------------------------------------------------------------------------------
 */

latenn_status* latenn_set_input(latenn_context* context, size_t index, const latenn_tensor* tensor) {
  if (!context || !tensor) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_set_input: %s is NULL.", context ? "tensor" : "context");
  }
  const latenn_model* model = context->model;
  latenn_status* status = latenn_check_index("input", index, latenn_input_count(model));
  if (!status && context->inputs[index]) {
    return latenn_failure(LATENN_INVALID_ARGUMENT,
                          "Input \"%s\" is bound to a value. Bind NULL to it before another tensor is set.",
                          latenn_input(model, index)->name);
  }
  if (!status) status = latenn_check_tensor("input", latenn_input(model, index), tensor);
  if (!status) status = model->backend.set_input(context->context, index, tensor);
  if (!status) context->is_set[index] = 1;
  return status;
}

latenn_status* latenn_set_input_by_name(latenn_context* context, const char* name, const latenn_tensor* tensor) {
  size_t index = 0;
  if (!context) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_set_input_by_name: context is NULL.");
  const latenn_model* model = context->model;
  latenn_status* status = latenn_find(model, "input", latenn_input, latenn_input_count(model), name, &index);
  return status ? status : latenn_set_input(context, index, tensor);
}

latenn_status* latenn_compute(latenn_context* context) {
  return latenn_compute_with(context, NULL);
}

latenn_status* latenn_compute_with(latenn_context* context, latenn_run* run) {
  if (!context) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_compute: context is NULL.");
  const latenn_model* model = context->model;
  size_t count = latenn_input_count(model);
  for (size_t i = 0; i < count; i++) {
    if (context->is_set[i] || context->inputs[i]) continue;
    return latenn_failure(LATENN_INVALID_ARGUMENT, "Input \"%s\" was not set; the model needs %zu inputs.",
                          latenn_input(model, i)->name, count);
  }
  latenn_status* status = latenn_push_inputs(context);
  memset(context->gone, LATENN_THERE, latenn_output_count(model));
  if (!status && run) {
    status = latenn_run_compute(context, run);
  } else if (!status) {
    status = model->backend.compute(context->context);
  }
  memset(context->is_set, 0, count);
  if (!status) status = latenn_pull_outputs(context);
  context->computed = status == NULL;
  return status;
}

latenn_status* latenn_check_output(const latenn_context* context, size_t index) {
  if (!context) return latenn_failure(LATENN_INVALID_ARGUMENT, "An output was asked of no context: it is NULL.");
  latenn_status* status = latenn_check_index("output", index, latenn_output_count(context->model));
  if (status) return status;
  if (!context->computed) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "There are no outputs: latenn_compute() has not succeeded yet.");
  }
  if (context->gone[index] == LATENN_THERE) return NULL;
  return latenn_failure(LATENN_INVALID_ARGUMENT, "Output \"%s\" is not here: it was %s.",
                        latenn_output(context->model, index)->name,
                        context->gone[index] == LATENN_UNWANTED ? "not among the outputs that the run names"
                                                                : "taken or bound anew since latenn_compute()");
}

latenn_status* latenn_get_output(latenn_context* context, size_t index, latenn_tensor* tensor) {
  if (!context || !tensor) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_get_output: %s is NULL.", context ? "tensor" : "context");
  }
  memset(tensor, 0, sizeof *tensor);
  latenn_status* status = latenn_check_output(context, index);
  if (status) return status;
  if (!context->outputs[index]) return context->model->backend.get_output(context->context, index, tensor);
  *tensor = context->outputs[index]->tensor;
  return NULL;
}

latenn_status* latenn_get_output_by_name(latenn_context* context, const char* name, latenn_tensor* tensor) {
  size_t index = 0;
  if (!context) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_get_output_by_name: context is NULL.");
  latenn_status* status = latenn_find_output(context->model, name, &index);
  return status ? status : latenn_get_output(context, index, tensor);
}
