/* run.c: one call of the builtin; whatever does not fit at once is left to the slow way, which says what is wrong. */
#include <string.h>

#include "python.h"

static int latenn_python_is(const latenn_python_table* table, latenn_object* object, latenn_object* type) {
  latenn_object* found = table->ObjectType(object);
  table->DecRef(found);
  return found == type;
}

/* An array of exactly the model's element type and rank, C-contiguous, each dimension as the model has it. */
static int latenn_python_fits(const latenn_python_side* side, const latenn_buffer* view) {
  const latenn_port* port = side->of;
  if (!view->format || strcmp(view->format, side->format) != 0) return 0;
  if (port->rank < 0) return 1;
  if (view->rank != port->rank) return 0;
  for (int i = 0; i < view->rank; i++) {
    if (port->shape[i] >= 0 && view->shape[i] != port->shape[i]) return 0;
  }
  return 1;
}

/* Non-zero when the value is no such array; then nothing is held. */
static int latenn_python_view(const latenn_python_plan* plan, const latenn_python_side* side, latenn_object* inputs,
                              latenn_buffer* view) {
  const latenn_python_table* table = &plan->spec.table;
  latenn_object* value = table->ObjectGetItem(inputs, side->port.name);
  int failed = value == NULL;
  if (!failed && !latenn_python_is(table, value, plan->spec.ndarray)) {
    table->DecRef(value);
    return 1;
  }
  if (!failed) {
    failed = table->ObjectGetBuffer(value, view, LATENN_BUFFER_C_CONTIGUOUS | LATENN_BUFFER_FORMAT);
    table->DecRef(value); /* the view holds it */
  }
  if (failed) {
    table->ErrClear();
    return 1;
  }
  if (latenn_python_fits(side, view)) return 0;
  table->BufferRelease(view);
  return 1;
}

static latenn_status* latenn_python_set(const latenn_python_plan* plan, latenn_python_lane* lane, size_t index) {
  const latenn_python_side* side = &plan->inputs[index];
  const latenn_buffer* view = &lane->views[index];
  if (side->is_staged) {
    memcpy(lane->stages[index], view->data, side->bytes);
    return NULL;
  }
  int64_t shape[LATENN_PYTHON_RANK];
  if (view->rank > LATENN_PYTHON_RANK) return latenn_failure(LATENN_INVALID_ARGUMENT, "Too many dimensions.");
  for (int i = 0; i < view->rank; i++) shape[i] = view->shape[i];
  latenn_tensor tensor = {side->of->type, view->rank, shape, view->data, (size_t)view->bytes, NULL};
  return latenn_set_input(lane->context, index, &tensor);
}

static latenn_status* latenn_python_compute(const latenn_python_plan* plan, latenn_python_lane* lane) {
  void* thread = plan->spec.table.EvalSaveThread();
  latenn_status* status = latenn_python_make_room(plan, lane);
  for (size_t i = 0; i < plan->input_count && !status; i++) status = latenn_python_set(plan, lane, i);
  if (!status) status = latenn_compute(lane->context);
  plan->spec.table.EvalRestoreThread(thread);
  return status;
}

static latenn_object* latenn_python_results(latenn_python_plan* plan, latenn_python_lane* lane) {
  const latenn_python_table* table = &plan->spec.table;
  latenn_object* results = table->DictNew();
  for (size_t i = 0; i < plan->output_count && results; i++) {
    latenn_object* array = latenn_python_output(plan, lane, i);
    int failed = !array || table->DictSetItem(results, plan->outputs[i].port.name, array);
    if (array) table->DecRef(array);
    if (!failed) continue;
    table->DecRef(results);
    results = NULL;
  }
  return results;
}

/* Sets *fits to 0, and no exception, when the slow way has to answer; *failed when the runtime did not like what is
 * bound for the outputs, or the inputs. */
static latenn_object* latenn_python_fast(latenn_python_plan* plan, latenn_object* inputs, int* fits, int* failed) {
  const latenn_python_table* table = &plan->spec.table;
  latenn_python_lane* lane = latenn_python_take(plan);
  latenn_object* results = NULL;
  size_t viewed = 0;
  *fits = lane != NULL;
  for (; *fits && viewed < plan->input_count; viewed++) {
    *fits = !latenn_python_view(plan, &plan->inputs[viewed], inputs, &lane->views[viewed]);
    if (!*fits) break;
  }
  latenn_status* status = *fits ? latenn_python_compute(plan, lane) : NULL;
  for (size_t i = 0; i < viewed; i++) table->BufferRelease(&lane->views[i]);
  if (status && latenn_python_binds(plan, lane)) {
    latenn_status_release(status);
    *fits = 0;
    *failed = 1;
  } else if (status) {
    latenn_python_raise(plan, status);
  } else if (*fits) {
    results = latenn_python_results(plan, lane);
  }
  if (lane) latenn_python_give(plan, lane);
  return results;
}

latenn_object* latenn_python_pass_on(const latenn_python_table* table, latenn_object* slow,
                                     latenn_object* const* arguments, intptr_t count, latenn_object* names) {
  latenn_object* given = table->TupleNew(count);
  latenn_object* named = given && names ? table->DictNew() : NULL;
  latenn_object* results = NULL;
  int failed = !given || (names && !named);
  for (intptr_t i = 0; i < count && !failed; i++) {
    table->IncRef(arguments[i]);
    failed = table->TupleSetItem(given, i, arguments[i]);
  }
  for (intptr_t i = 0; named && i < table->TupleSize(names) && !failed; i++) {
    latenn_object* at = table->LongFromLongLong(i);
    latenn_object* name = at ? table->ObjectGetItem(names, at) : NULL;
    failed = !name || table->DictSetItem(named, name, arguments[count + i]);
    if (at) table->DecRef(at);
    if (name) table->DecRef(name);
  }
  if (!failed) results = table->ObjectCall(slow, given, named);
  if (given) table->DecRef(given);
  if (named) table->DecRef(named);
  return results;
}

/* A call by vector keeps the builtin alive, hence its capsule and the plan. What only the slow way can run has outputs
 * of other shapes than the model says, as runtimes allow with no more than a warning: they are not believed any more,
 * and where it was a fixed one, all is left to that way from then on. */
latenn_object* latenn_python_run(latenn_object* self, latenn_object* const* arguments, intptr_t count,
                                 latenn_object* names) {
  latenn_python_plan* plan = latenn_python_held(self);
  int failed = 0;
  if (count == 1 && !names && latenn_python_is(&plan->spec.table, arguments[0], plan->spec.dict) &&
      plan->spec.table.DictSize(arguments[0]) == (intptr_t)plan->input_count) {
    int fits = 0;
    latenn_object* results = latenn_python_fast(plan, arguments[0], &fits, &failed);
    if (fits) return results;
  }
  latenn_object* results = latenn_python_pass_on(&plan->spec.table, plan->spec.slow, arguments, count, names);
  if (results && failed && !latenn_python_unlearn(plan)) latenn_python_plan_close(plan);
  return results;
}
