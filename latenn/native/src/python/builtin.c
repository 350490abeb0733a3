/* builtin.c: makes builtins of models, and what else the Python package asks for; must not hold objects of its own. */
#include <string.h>

#include "python.h"

/* The one function that is needed before a table can be reached. A process has one, whatever the interpreters. */
static _Atomic(uintptr_t) latenn_python_get_pointer;

void* latenn_python_held(latenn_object* capsule) {
  typedef void* (*get_pointer)(latenn_object*, const char*);
  return ((get_pointer)atomic_load_explicit(&latenn_python_get_pointer, memory_order_relaxed))(capsule, NULL);
}

static void latenn_python_gone(latenn_object* capsule) {
  latenn_python_plan_release(latenn_python_held(capsule));
}

latenn_object* latenn_python_builtin(const latenn_python_spec* spec) {
  static latenn_method run = {"run", latenn_python_run, LATENN_METHOD_FAST_WITH_NAMES,
                              "run(inputs, options=None)\n--\n\nRun the model once. See latenn.Model.run."};
  if (spec->size != sizeof *spec) return spec->table.ErrNoMemory();
  atomic_store(&latenn_python_get_pointer, (uintptr_t)spec->table.CapsuleGetPointer);
  latenn_python_plan* plan = latenn_python_plan_create(spec);
  if (!plan) return spec->table.ErrNoMemory();
  latenn_object* capsule = spec->table.CapsuleNew(plan, NULL, latenn_python_gone);
  if (!capsule) {
    latenn_python_plan_release(plan);
    return NULL;
  }
  latenn_object* builtin = spec->table.CFunctionNewEx(&run, capsule, NULL);
  spec->table.DecRef(capsule); /* the builtin holds it, as its __self__ */
  return builtin;
}

void latenn_python_close(latenn_object* capsule) {
  latenn_python_plan_close(latenn_python_held(capsule));
}

int latenn_python_reads(const latenn_python_table* table, latenn_object* object, const latenn_buffer* said) {
  latenn_buffer view;
  memset(&view, 0, sizeof view);
  if (table->ObjectGetBuffer(object, &view, LATENN_BUFFER_C_CONTIGUOUS | LATENN_BUFFER_FORMAT)) {
    table->ErrClear();
    return 0;
  }
  int same = view.data == said->data && view.owner == object && view.bytes == said->bytes && view.item == said->item &&
             view.rank == said->rank && view.is_readonly == said->is_readonly && (view.shape || !view.rank) &&
             view.format && strcmp(view.format, said->format) == 0;
  for (int i = 0; same && i < said->rank; i++) same = view.shape[i] == said->shape[i];
  table->BufferRelease(&view);
  return same;
}
