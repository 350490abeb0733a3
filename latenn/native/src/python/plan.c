/* plan.c: what a builtin knows of its model, and the contexts that its runs take in turn; must not run anything. */
#include <stdlib.h>
#include <string.h>

#include "python.h"

/* ---- lanes ------------------------------------------------------------------------------------------------------ */

static void latenn_python_lane_release(latenn_python_lane* lane) {
  if (!lane) return;
  latenn_context_release(lane->context); /* before the memory that is bound to it */
  for (size_t i = 0; lane->stages && i < lane->stage_count; i++) free(lane->stages[i]);
  for (size_t i = 0; lane->blocks && i < lane->block_count; i++) latenn_value_release(lane->blocks[i]);
  free(lane->stages);
  free(lane->blocks);
  free(lane->shapes);
  free(lane->views);
  free(lane);
}

/* Memory of our own, bound to the context: no value is made for it when a run begins. */
static latenn_status* latenn_python_stage(latenn_python_plan* plan, latenn_python_lane* lane, int is_input,
                                          size_t index) {
  const latenn_python_side* side = is_input ? &plan->inputs[index] : &plan->outputs[index];
  if (!side->is_staged) return NULL;
  void** stage = &lane->stages[is_input ? index : plan->input_count + index];
  *stage = calloc(1, side->bytes);
  if (!*stage) return latenn_no_memory();
  latenn_tensor tensor = {side->of->type, side->of->rank, side->of->shape, *stage, side->bytes, NULL};
  latenn_device cpu = {LATENN_CPU, 0};
  latenn_value* value = NULL;
  latenn_status* status = latenn_value_wrap(plan->spec.model, &tensor, cpu, NULL, NULL, &value);
  if (!status && is_input) {
    status = latenn_bind_input(lane->context, index, value);
  } else if (!status) {
    status = latenn_bind_output(lane->context, index, value);
  }
  latenn_value_release(value);
  return status;
}

static latenn_python_lane* latenn_python_lane_create(latenn_python_plan* plan) {
  latenn_python_lane* lane = calloc(1, sizeof *lane);
  if (!lane) return NULL;
  lane->stage_count = plan->input_count + plan->output_count;
  lane->views = calloc(plan->input_count + 1, sizeof *lane->views);
  lane->stages = calloc(lane->stage_count + 1, sizeof *lane->stages);
  lane->block_count = plan->output_count * LATENN_PYTHON_BLOCKS;
  lane->blocks = calloc(lane->block_count + 1, sizeof(latenn_value*));
  lane->shapes = calloc(plan->output_count + 1, LATENN_PYTHON_RANK * sizeof *lane->shapes);
  if (!lane->views || !lane->stages || !lane->blocks || !lane->shapes) {
    latenn_python_lane_release(lane);
    return NULL;
  }
  latenn_status* status = latenn_context_create(plan->spec.model, &lane->context);
  for (size_t i = 0; i < plan->input_count && !status; i++) status = latenn_python_stage(plan, lane, 1, i);
  for (size_t i = 0; i < plan->output_count && !status; i++) status = latenn_python_stage(plan, lane, 0, i);
  if (!status) return lane;
  latenn_status_release(status); /* the slow way meets it again, and reports it */
  latenn_python_lane_release(lane);
  return NULL;
}

static void latenn_python_drain(latenn_python_plan* plan) {
  for (size_t i = 0; i < LATENN_PYTHON_LANES; i++) latenn_python_lane_release(atomic_exchange(&plan->idle[i], NULL));
}

latenn_python_lane* latenn_python_take(latenn_python_plan* plan) {
  if (atomic_load(&plan->is_closed) || plan->forks != latenn_forks()) return NULL;
  for (size_t i = 0; i < LATENN_PYTHON_LANES; i++) {
    if (!atomic_load_explicit(&plan->idle[i], memory_order_relaxed)) continue;
    latenn_python_lane* lane = atomic_exchange(&plan->idle[i], NULL);
    if (lane) return lane;
  }
  return latenn_python_lane_create(plan);
}

/* A close in between has either drained before or sees what was given: one of the two empties the place. */
void latenn_python_give(latenn_python_plan* plan, latenn_python_lane* lane) {
  for (size_t i = 0; i < LATENN_PYTHON_LANES && lane; i++) {
    latenn_python_lane* none = NULL;
    if (atomic_compare_exchange_strong(&plan->idle[i], &none, lane)) lane = NULL;
  }
  latenn_python_lane_release(lane);
  if (atomic_load(&plan->is_closed)) latenn_python_drain(plan);
}

/* ---- plans ------------------------------------------------------------------------------------------------------ */

/* 0 where a dimension is open. */
static size_t latenn_python_bytes(const latenn_port* port) {
  size_t count = 0;
  size_t bytes = 0;
  if (port->rank < 0 || port->rank > LATENN_PYTHON_RANK) return 0;
  if (latenn_count_elements(port->rank, port->shape, &count)) return 0;
  return latenn_count_bytes(port->type, count, &bytes) ? 0 : bytes;
}

static void latenn_python_hold(const latenn_python_table* table, latenn_object* object) {
  if (object) table->IncRef(object);
}

static void latenn_python_drop(const latenn_python_table* table, latenn_object* object) {
  if (object) table->DecRef(object);
}

static latenn_python_side* latenn_python_sides(const latenn_python_spec* spec, const latenn_python_port* ports,
                                               size_t count, int is_input) {
  latenn_python_side* sides = calloc(count + 1, sizeof *sides);
  for (size_t i = 0; sides && i < count; i++) {
    latenn_python_side* side = &sides[i];
    side->port = ports[i];
    side->of = is_input ? latenn_input(spec->model, i) : latenn_output(spec->model, i);
    side->bytes = latenn_python_bytes(side->of);
    side->is_staged = side->bytes && side->bytes <= LATENN_PYTHON_STAGED;
    strncpy(side->format, ports[i].format, sizeof side->format - 1);
    latenn_python_hold(&spec->table, side->port.name);
    latenn_python_hold(&spec->table, side->port.dtype);
  }
  return sides;
}

static void latenn_python_leave(const latenn_python_table* table, latenn_python_side* sides, size_t count) {
  for (size_t i = 0; sides && i < count; i++) {
    free(sides[i].origins);
    latenn_python_drop(table, sides[i].port.name);
    latenn_python_drop(table, sides[i].port.dtype);
  }
  free(sides);
}

latenn_python_plan* latenn_python_plan_create(const latenn_python_spec* spec) {
  latenn_python_plan* plan = calloc(1, sizeof *plan);
  if (!plan) return NULL;
  plan->spec = *spec;
  plan->forks = latenn_forks();
  plan->input_count = latenn_input_count(spec->model);
  plan->output_count = latenn_output_count(spec->model);
  plan->inputs = latenn_python_sides(spec, spec->inputs, plan->input_count, 1);
  plan->outputs = latenn_python_sides(spec, spec->outputs, plan->output_count, 0);
  if (plan->inputs && plan->outputs) latenn_python_trace(plan);
  latenn_object* const kept[] = {spec->dict, spec->ndarray, spec->slow, spec->failed};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) latenn_python_hold(&spec->table, kept[i]);
  latenn_model_hold(spec->model); /* its ports are looked at until the plan goes */
  if (plan->inputs && plan->outputs) return plan;
  latenn_python_plan_release(plan);
  return NULL;
}

void latenn_python_plan_close(latenn_python_plan* plan) {
  atomic_store(&plan->is_closed, 1);
  latenn_python_drain(plan);
}

void latenn_python_plan_release(latenn_python_plan* plan) {
  const latenn_python_spec* spec = &plan->spec;
  latenn_object* const kept[] = {spec->dict, spec->ndarray, spec->slow, spec->failed};
  latenn_python_drain(plan);
  latenn_model_release(spec->model);
  latenn_python_leave(&spec->table, plan->inputs, plan->input_count);
  latenn_python_leave(&spec->table, plan->outputs, plan->output_count);
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) latenn_python_drop(&spec->table, kept[i]);
  free(plan);
}
