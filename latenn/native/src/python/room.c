/* room.c: the memory that large outputs are written to, and their shapes before a run; must not run anything.
 *
 * What a run wrote belongs to the array that was made of it. Once that is gone, the next run may write there again: it
 * finds the memory in the cache, and the runtime neither looks for any nor reports what it found. */
#include <stdlib.h>
#include <string.h>

#include "python.h"

/* ---- shapes -----------------------------------------------------------------------------------------------------
 * An open dimension of an output is as long as the input's that the model calls by the same name. Exporters are known
 * to err there: only what came out once as declared is believed. */

/* Non-zero where no input has a dimension of that name. */
static int latenn_python_find(const latenn_python_plan* plan, const char* name, latenn_python_origin* origin) {
  for (size_t i = 0; i < plan->input_count && *name; i++) {
    const latenn_port* port = plan->inputs[i].of;
    for (int32_t axis = 0; axis < port->rank && port->dimensions; axis++) {
      if (port->shape[axis] >= 0 || strcmp(port->dimensions[axis], name) != 0) continue;
      *origin = (latenn_python_origin){i, axis};
      return 0;
    }
  }
  return 1;
}

/* NULL when some dimension comes from no input, or memory ran out: that costs nothing but time. */
static latenn_python_origin* latenn_python_origins(const latenn_python_plan* plan, const latenn_port* port) {
  if (port->rank < 1 || port->rank > LATENN_PYTHON_RANK || !port->dimensions) return NULL;
  latenn_python_origin* origins = calloc((size_t)port->rank, sizeof *origins);
  for (int32_t axis = 0; origins && axis < port->rank; axis++) {
    if (port->shape[axis] >= 0 || !latenn_python_find(plan, port->dimensions[axis], &origins[axis])) continue;
    free(origins);
    return NULL;
  }
  return origins;
}

void latenn_python_trace(latenn_python_plan* plan) {
  for (size_t i = 0; i < plan->output_count; i++) {
    latenn_python_side* side = &plan->outputs[i];
    if (!side->bytes) side->origins = latenn_python_origins(plan, side->of);
  }
}

static void latenn_python_follow(const latenn_python_lane* lane, const latenn_python_side* side, int64_t* shape) {
  for (int32_t axis = 0; axis < side->of->rank; axis++) {
    const latenn_python_origin* origin = &side->origins[axis];
    int64_t said = side->of->shape[axis];
    shape[axis] = said >= 0 ? said : lane->views[origin->input].shape[origin->axis];
  }
}

void latenn_python_learn(latenn_python_plan* plan, const latenn_python_lane* lane, size_t index,
                         const latenn_tensor* made) {
  latenn_python_side* side = &plan->outputs[index];
  if (!side->origins || atomic_load_explicit(&side->is_as_said, memory_order_relaxed)) return;
  const int64_t* shape = lane->shapes + index * LATENN_PYTHON_RANK;
  int same = made->rank == side->of->rank && memcmp(made->shape, shape, (size_t)made->rank * sizeof *shape) == 0;
  atomic_store(&side->is_as_said, same ? 1 : -1);
}

int latenn_python_unlearn(latenn_python_plan* plan) {
  int found = 0;
  for (size_t i = 0; i < plan->output_count; i++) {
    if (atomic_load(&plan->outputs[i].is_as_said) <= 0) continue;
    atomic_store(&plan->outputs[i].is_as_said, -1);
    found = 1;
  }
  return found;
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

static int latenn_python_is_free(const latenn_value* block, const latenn_value* bound) {
  size_t ours = block == bound ? 2 : 1; /* holders: the lane, and the context that it is bound to */
  return atomic_load_explicit(&block->holders, memory_order_acquire) == ours;
}

static int latenn_python_is_of(const latenn_value* block, int32_t rank, const int64_t* shape) {
  return !rank || memcmp(block->tensor.shape, shape, (size_t)rank * sizeof *shape) == 0;
}

/* Where a block of this shape lies that can be written; *place is NULL where one is to be made. */
static latenn_value** latenn_python_place(latenn_python_lane* lane, size_t index, int32_t rank, const int64_t* shape) {
  latenn_value** places = lane->blocks + index * LATENN_PYTHON_BLOCKS;
  latenn_value** place = NULL;
  for (size_t i = 0; i < LATENN_PYTHON_BLOCKS; i++) {
    int is_free = !places[i] || latenn_python_is_free(places[i], lane->context->outputs[index]);
    if (is_free && places[i] && latenn_python_is_of(places[i], rank, shape)) return &places[i];
    if (is_free && (!place || !places[i])) place = &places[i];
  }
  if (!place) place = &places[lane->evicted++ % LATENN_PYTHON_BLOCKS];
  latenn_value_release(*place); /* it lives on with its array, if there is one */
  *place = NULL;
  return place;
}

/* The shape of an output that is to be written to memory of ours; NULL where the runtime makes some. */
static const int64_t* latenn_python_known(const latenn_python_side* side, const latenn_python_lane* lane,
                                          int64_t* shape) {
  size_t count = 0;
  size_t bytes = side->bytes;
  if (!bytes && !side->origins) return NULL;
  if (!bytes) {
    latenn_python_follow(lane, side, shape);
    if (atomic_load_explicit(&side->is_as_said, memory_order_relaxed) <= 0) return NULL;
    if (latenn_count_elements(side->of->rank, shape, &count)) return NULL;
    if (latenn_count_bytes(side->of->type, count, &bytes)) return NULL;
  }
  if (bytes <= LATENN_PYTHON_STAGED || bytes > LATENN_PYTHON_KEPT) return NULL;
  return side->bytes ? side->of->shape : shape;
}

int latenn_python_binds(const latenn_python_plan* plan, const latenn_python_lane* lane) {
  for (size_t i = 0; i < plan->output_count; i++) {
    if (lane->context->outputs[i]) return 1;
  }
  return 0;
}

latenn_status* latenn_python_make_room(const latenn_python_plan* plan, latenn_python_lane* lane) {
  const latenn_device cpu = {LATENN_CPU, 0};
  latenn_status* status = NULL;
  for (size_t i = 0; i < plan->output_count && !status; i++) {
    const latenn_python_side* side = &plan->outputs[i];
    if (side->is_staged) continue;
    const int64_t* shape = latenn_python_known(side, lane, lane->shapes + i * LATENN_PYTHON_RANK);
    latenn_value* block = NULL;
    if (shape) {
      latenn_value** place = latenn_python_place(lane, i, side->of->rank, shape);
      if (!*place) {
        status = latenn_value_create(plan->spec.model, side->of->type, side->of->rank, shape, cpu, place);
      }
      block = *place;
    }
    if (!status && block != lane->context->outputs[i]) status = latenn_bind_output(lane->context, i, block);
  }
  return status;
}
