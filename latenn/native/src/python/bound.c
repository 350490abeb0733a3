/* bound.c: runs with what is bound as a builtin; must not know what that is: anyone who changes it takes the turn
 * first.
 */
#include <stdlib.h>

#include "python.h"

struct latenn_python_bound_run {
  latenn_object* capsule; /* of the model's builtin: it keeps the plan */
  latenn_python_plan* plan;
  latenn_context* context;         /* kept by `slow` */
  latenn_object* slow;             /* takes the turn back, and says what is wrong */
  _Atomic(latenn_object*) results; /* what a run gives: anyone who takes it out has the turn */
};

void latenn_python_lend(latenn_python_bound_run* bound, latenn_object* results) {
  bound->plan->spec.table.IncRef(results);
  atomic_store(&bound->results, results);
}

int latenn_python_recall(latenn_python_bound_run* bound) {
  latenn_object* results = atomic_exchange(&bound->results, NULL);
  if (results) bound->plan->spec.table.DecRef(results);
  return results != NULL;
}

static void latenn_python_bound_gone(latenn_object* self) {
  latenn_python_bound_run* bound = latenn_python_held(self);
  const latenn_python_table table = bound->plan->spec.table; /* the plan goes with its capsule */
  latenn_python_recall(bound);
  table.DecRef(bound->slow);
  table.DecRef(bound->capsule);
  free(bound);
}

static latenn_object* latenn_python_run_bound(latenn_object* self, latenn_object* const* arguments, intptr_t count,
                                              latenn_object* names) {
  latenn_python_bound_run* bound = latenn_python_held(self);
  latenn_python_plan* plan = bound->plan;
  const latenn_python_table* table = &plan->spec.table;
  int is_usable = !count && !names && !atomic_load(&plan->is_closed) && plan->forks == latenn_forks();
  latenn_object* results = is_usable ? atomic_exchange(&bound->results, NULL) : NULL;
  if (!results) return latenn_python_pass_on(table, bound->slow, arguments, count, names);
  void* thread = table->EvalSaveThread();
  latenn_status* status = latenn_compute(bound->context);
  table->EvalRestoreThread(thread);
  latenn_object* copy = status ? NULL : table->DictCopy(results);
  if (status) latenn_python_raise(plan, status);
  atomic_store(&bound->results, results);
  return copy;
}

latenn_object* latenn_python_bound(latenn_object* capsule, latenn_context* context, latenn_object* slow,
                                   latenn_python_bound_run** bound) {
  static latenn_method run = {"run", latenn_python_run_bound, LATENN_METHOD_FAST_WITH_NAMES,
                              "run(options=None)\n--\n\nRun the model with what is bound. See latenn.Binding.run."};
  latenn_python_plan* plan = latenn_python_held(capsule);
  const latenn_python_table* table = &plan->spec.table;
  latenn_python_bound_run* made = calloc(1, sizeof *made);
  if (!made) return table->ErrNoMemory();
  *made = (latenn_python_bound_run){.capsule = capsule, .plan = plan, .context = context, .slow = slow};
  latenn_object* self = table->CapsuleNew(made, NULL, latenn_python_bound_gone);
  if (!self) {
    free(made);
    return NULL;
  }
  table->IncRef(capsule);
  table->IncRef(slow);
  latenn_object* builtin = table->CFunctionNewEx(&run, self, NULL);
  table->DecRef(self); /* the builtin holds it, as its __self__ */
  if (builtin) *bound = made;
  return builtin;
}
