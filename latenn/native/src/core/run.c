/* run.c: what a computation gets besides its inputs; must not know what a backend's options mean. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

/* The names of outputs are the core's; every other row goes to `rest`, which has room for all. */
static latenn_status* latenn_read_rows(latenn_run* run, const latenn_option* options, size_t count, latenn_option* rest,
                                       size_t* rest_count) {
  for (size_t i = 0; i < count; i++) {
    size_t index = 0;
    if (!options[i].key || !options[i].value) {
      return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_run_create: an option is NULL.");
    }
    if (strcmp(options[i].key, "output") != 0) {
      rest[(*rest_count)++] = options[i];
      continue;
    }
    latenn_status* status = latenn_find_output(run->model, options[i].value, &index);
    if (status) return status;
    run->wanted_count += !run->wanted[index];
    run->wanted[index] = 1;
  }
  return NULL;
}

static latenn_status* latenn_fill_run(latenn_run* run, const latenn_option* options, size_t count) {
  const latenn_backend* backend = &run->model->backend;
  latenn_option* rest = calloc(count + 1, sizeof *rest);
  size_t rest_count = 0;
  if (!rest) return latenn_no_memory();
  latenn_status* status = latenn_read_rows(run, options, count, rest, &rest_count);
  if (!status && backend->create_run) {
    status = backend->create_run(run->model->model, rest, rest_count, &run->inner);
  } else if (!status && rest_count) {
    status = latenn_failure(LATENN_UNSUPPORTED,
                            "The %s backend has no option \"%.100s\" of a run; it knows \"output\" alone.",
                            backend->name, rest->key);
  }
  free(rest);
  return status;
}

latenn_status* latenn_run_create(latenn_model* model, const latenn_option* options, size_t count, latenn_run** run) {
  if (!run) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_run_create: run is NULL.");
  *run = NULL;
  if (!model || (count && !options)) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_run_create: %s is NULL.", model ? "options" : "model");
  }
  latenn_run* made = calloc(1, sizeof *made + latenn_output_count(model));
  if (!made) return latenn_no_memory();
  made->model = model;
  made->forks = latenn_forks();
  atomic_init(&made->is_cancelled, 0);
  latenn_status* status = latenn_fill_run(made, options, count);
  if (status) {
    free(made);
    return status;
  }
  latenn_model_hold(model);
  *run = made;
  return NULL;
}

void latenn_run_release(latenn_run* run) {
  if (!run || run->forks != latenn_forks()) return;
  if (run->inner) run->model->backend.release_run(run->inner);
  latenn_model_release(run->model);
  free(run);
}

latenn_status* latenn_run_cancel(latenn_run* run) {
  if (!run) return latenn_failure(LATENN_INVALID_ARGUMENT, "latenn_run_cancel: run is NULL.");
  const latenn_backend* backend = &run->model->backend;
  atomic_store(&run->is_cancelled, 1);
  if (!run->inner || !backend->cancel_run) {
    return latenn_failure(LATENN_UNSUPPORTED, "The %s backend cannot end a computation that has begun.", backend->name);
  }
  if (run->forks == latenn_forks()) backend->cancel_run(run->inner);
  return NULL;
}

static latenn_status* latenn_cancelled(void) {
  return latenn_failure(LATENN_CANCELLED, "The run was cancelled.");
}

latenn_status* latenn_run_compute(latenn_context* context, latenn_run* run) {
  const latenn_backend* backend = &context->model->backend;
  const unsigned char* wanted = run->wanted_count ? run->wanted : NULL;
  if (run->model != context->model) {
    return latenn_failure(LATENN_INVALID_ARGUMENT, "The run was made for another model. Make one for this model.");
  }
  if (atomic_load(&run->is_cancelled)) return latenn_cancelled();
  latenn_status* status =
      run->inner ? backend->compute_with(context->context, run->inner, wanted) : backend->compute(context->context);
  for (size_t i = 0; wanted && i < latenn_output_count(context->model); i++) {
    if (!wanted[i]) context->gone[i] = LATENN_UNWANTED;
  }
  if (!status || !atomic_load(&run->is_cancelled)) return status;
  latenn_status_release(status);
  return latenn_cancelled();
}
