/* binding.c: values bound to a context, by the backend where it can and by copying where not; must not allocate in a
 * computation. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

typedef latenn_status* (*latenn_binder)(latenn_backend_context* context, size_t index, latenn_backend_value* value);

/* A backend binds the values that it made itself, for whichever model. */
static int latenn_is_native(const latenn_context* context, latenn_binder binder, const latenn_value* value) {
  return binder && value && value->inner &&
         value->model->backend.release_value == context->model->backend.release_value;
}

static latenn_status* latenn_check_foreign(const char* what, const latenn_port* port, const latenn_value* value) {
  if (!value || latenn_is_host(value->device)) return NULL;
  return latenn_failure(LATENN_UNSUPPORTED,
                        "%s \"%s\": the backend cannot bind memory of a device (type %d). Copy it to the processor's.",
                        what, port->name, (int)value->device.type);
}

/* `place` is where the context keeps the bound value. The old one goes last: the backend may still look at it. */
static latenn_status* latenn_bind(latenn_context* context, const char* what, const latenn_port* port, size_t index,
                                  latenn_binder binder, latenn_value** place, latenn_value* value) {
  latenn_value* old = *place;
  int native = latenn_is_native(context, binder, value);
  latenn_status* status = value ? latenn_check_tensor(what, port, &value->tensor) : NULL;
  if (!status && !native) status = latenn_check_foreign(what, port, value);
  if (!status && binder) status = binder(context->context, index, native ? value->inner : NULL);
  if (status) return status;
  latenn_value_hold(value);
  *place = value;
  latenn_value_release(old);
  return NULL;
}

latenn_status* latenn_bind_input(latenn_context* context, size_t index, latenn_value* value) {
  if (!context) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_bind_input: context is NULL.");
  const latenn_model* model = context->model;
  latenn_status* status = latenn_check_index("input", index, latenn_input_count(model));
  if (!status) {
    status = latenn_bind(context, "input", latenn_input(model, index), index, model->backend.bind_input,
                         &context->inputs[index], value);
  }
  if (!status) context->is_set[index] = 0;
  return status;
}

latenn_status* latenn_bind_output(latenn_context* context, size_t index, latenn_value* value) {
  if (!context) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_bind_output: context is NULL.");
  const latenn_model* model = context->model;
  latenn_status* status = latenn_check_index("output", index, latenn_output_count(model));
  if (status) return status;
  if (value && value->read_only) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "output \"%s\": the memory of the value was lent for reading alone.",
                          latenn_output(model, index)->name);
  }
  status = latenn_bind(context, "output", latenn_output(model, index), index, model->backend.bind_output,
                       &context->outputs[index], value);
  if (!status) context->gone[index] = LATENN_GONE; /* what is bound now was not written yet */
  return status;
}

latenn_status* latenn_bind_output_device(latenn_context* context, size_t index, latenn_device device) {
  if (!context) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_bind_output_device: context is NULL.");
  const latenn_backend* backend = &context->model->backend;
  latenn_status* status = latenn_check_index("output", index, latenn_output_count(context->model));
  if (status) return status;
  if (!backend->bind_output_device) {
    if (device.type == LATENN_CPU) return latenn_bind_output(context, index, NULL);
    return latenn_failure(LATENN_UNSUPPORTED, "The %s backend leaves no outputs on devices (type %d).", backend->name,
                          (int)device.type);
  }
  status = backend->bind_output_device(context->context, index, device);
  if (status) return status;
  latenn_value_release(context->outputs[index]);
  context->outputs[index] = NULL;
  context->gone[index] = LATENN_GONE;
  return NULL;
}

/* ---- where the backend does not bind ------------------------------------------------------------------------- */

latenn_status* latenn_push_inputs(latenn_context* context) {
  const latenn_backend* backend = &context->model->backend;
  latenn_status* status = NULL;
  for (size_t i = 0; i < latenn_input_count(context->model) && !status; i++) {
    const latenn_value* value = context->inputs[i];
    if (!value || latenn_is_native(context, backend->bind_input, value)) continue;
    status = backend->set_input(context->context, i, &value->tensor);
  }
  return status;
}

static int latenn_same_shape(const latenn_tensor* left, const latenn_tensor* right) {
  if (left->type != right->type || left->rank != right->rank || left->bytes != right->bytes) return 0;
  return !left->rank || memcmp(left->shape, right->shape, (size_t)left->rank * sizeof *left->shape) == 0;
}

latenn_status* latenn_pull_outputs(latenn_context* context) {
  const latenn_backend* backend = &context->model->backend;
  for (size_t i = 0; i < latenn_output_count(context->model); i++) {
    const latenn_value* value = context->outputs[i];
    if (!value || context->gone[i] || latenn_is_native(context, backend->bind_output, value)) continue;
    latenn_tensor made = {0};
    latenn_status* status = backend->get_output(context->context, i, &made);
    if (status) return status;
    if (!latenn_same_shape(&made, &value->tensor)) {
      return latenn_failure(LATENN_INVALID_ARGUMENT,
                            "Output \"%s\" came out in another shape (%zu bytes) than that of the value bound to it "
                            "(%zu bytes). Bind one of its shape, or none.",
                            latenn_output(context->model, i)->name, made.bytes, value->tensor.bytes);
    }
    if (made.bytes) memcpy(value->tensor.data, made.data, made.bytes);
  }
  return NULL;
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

static latenn_status* latenn_copy_output(latenn_context* context, size_t index, latenn_value** value) {
  latenn_tensor made = {0};
  const latenn_device cpu = {LATENN_CPU, 0};
  latenn_status* status = context->model->backend.get_output(context->context, index, &made);
  if (status) return status;
  if (made.type == LATENN_STRING) {
    return latenn_failure(LATENN_UNSUPPORTED,
                          "Output \"%s\" holds strings, which this backend cannot hand over: read "
                          "them with latenn_get_output().",
                          latenn_output(context->model, index)->name);
  }
  status = latenn_value_create(context->model, made.type, made.rank, made.shape, cpu, value);
  if (!status && made.bytes) memcpy((*value)->tensor.data, made.data, made.bytes);
  return status;
}

latenn_status* latenn_take_output(latenn_context* context, size_t index, latenn_value** value) {
  if (!value) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_take_output: value is NULL.");
  *value = NULL;
  latenn_tensor tensor = {0};
  latenn_device device = {LATENN_CPU, 0};
  latenn_status* status = latenn_check_output(context, index);
  if (status) return status;
  latenn_model* model = context->model;
  if (context->outputs[index]) {
    latenn_value_hold(context->outputs[index]);
    *value = context->outputs[index];
    return NULL;
  }
  if (model->backend.take_output) {
    latenn_backend_value* inner = NULL;
    status = model->backend.take_output(context->context, index, &inner, &tensor, &device);
    if (!status) status = latenn_value_adopt(model, inner, &tensor, device, value);
  } else {
    status = latenn_copy_output(context, index, value);
  }
  if (!status) context->gone[index] = LATENN_GONE;
  return status;
}
