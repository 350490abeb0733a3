/* kernel.c: a node's life: made with its session, gone with it; must leave computing to compute.c. */
#include <stdlib.h>
#include <string.h>

#include "customop.h"

static void customop_release(customop_kernel* kernel) {
  if (!kernel) return;
  for (size_t i = 0; i < CUSTOMOP_CONTEXTS; i++) latenn_context_release(atomic_load(&kernel->idle[i]));
  latenn_model_release(kernel->model);
  free(kernel->inputs.ports);
  free(kernel->outputs.ports);
  free(kernel->node);
  free(kernel);
}

OrtStatus* LB_ORT_CALL customop_create_kernel(const customop_layout* op, const void* api, const OrtKernelInfo* info,
                                              void** out) {
  (void)api; /* that of the registration has the version that was asked for */
  const customop_registration* registration = (const customop_registration*)(const void*)op;
  customop_settings settings;
  customop_kernel* kernel = calloc(1, sizeof *kernel);
  if (!kernel) return customop_give(&registration->api, "", latenn_no_memory());
  kernel->registration = registration;
  latenn_status* status = customop_read_settings(registration, info, &settings);
  kernel->node = settings.node.bytes;
  settings.node.bytes = NULL;
  if (!status) status = customop_load(&settings, &kernel->model);
  if (!status) {
    status = customop_match(&registration->api, info, &settings, kernel->model, &kernel->inputs, &kernel->outputs);
  }
  customop_clear_settings(&settings);
  if (status) {
    OrtStatus* given = customop_give(&registration->api, kernel->node ? kernel->node : "", status);
    customop_release(kernel);
    return given;
  }
  *out = kernel;
  return NULL;
}

void LB_ORT_CALL customop_destroy_kernel(void* kernel) {
  customop_release(kernel);
}
