/*
 * ort_stub.c: what a program that links this instead of ONNX Runtime gets: OrtGetApiBase(), whose function tables bind
 * the runtime at the first call.
 *
 * Every entry of a table jumps through lb_entries: to a trampoline before that, and to the runtime's own function then,
 * so that later calls cost one jump more than in a linked program. Entries that the bound runtime is too old for stay
 * trampolines: they say which version has the function. Without a runtime, functions that return an OrtStatus* return
 * one of ours, with the loader's message; the others return 0.
 */
#include "ort_stub.h"

#include <stdio.h>
#include <string.h>

#include "latebind/onnxruntime.h"
#include "latebind/ort_api.h"
#include "latebind/stub.h"
#include "ort_tables.h"
#include "os.h"
#include "stub_bind.h"
#include "trampolines.h"

/* What programs get; never changed. */
static const void* const lb_jumps[LB_TRAMPOLINE_COUNT] = {LB_ADDRESSES(lb_jump_first)};
/* Where they jump: to trampolines, until the runtime is bound. */
LB_USED void* volatile lb_entries[LB_TRAMPOLINE_COUNT] = {LB_ADDRESSES(lb_trampoline_first)};

/* What calls of the bound runtime need. Never changed once it is published. */
typedef struct lb_bound {
  lb_ort_api api;
  void* const* tables[LB_TABLE_COUNT]; /* the runtime's own; NULL for one that it doesn't have */
} lb_bound;

static void* lb_fill(void);
static void lb_connect(void);
static lb_stub lb_ort = {
    .runtime = &lb_onnxruntime, .packages = {"onnxruntime/capi", ""}, .fill = lb_fill, .connect = lb_connect};
static void* volatile lb_is_ended; /* set at the end of the process */

static const lb_bound* lb_bound_runtime(void) {
  return lb_os_load(&lb_ort.filled);
}

lb_function lb_stub_function(size_t slot) {
  const lb_bound* bound = lb_bound_runtime();
  return bound ? lb_as_function(bound->tables[LB_TABLE_COUNT - 1][slot]) : NULL;
}

/* ---- binding ------------------------------------------------------------------------------------------------ */

static const void* lb_own_table(size_t which) {
  return &lb_jumps[lb_tables[which].first];
}

/* Returns our copy of a table if the runtime knows less than we do; one that knows as much returns its own. */
static const void* LB_ORT_CALL lb_editor_api(void) {
  return lb_own_table(0);
}
static const void* LB_ORT_CALL lb_compile_api(void) {
  return lb_own_table(1);
}
static const void* LB_ORT_CALL lb_interop_api(void) {
  return lb_own_table(2);
}
static const void* LB_ORT_CALL lb_ep_api(void) {
  return lb_own_table(3);
}
static const void* LB_ORT_CALL lb_package_api(void) {
  return lb_own_table(4);
}

typedef const void*(LB_ORT_CALL* lb_get_table)(void);
static const lb_get_table lb_getters[] = {lb_editor_api, lb_compile_api, lb_interop_api, lb_ep_api, lb_package_api};

/*
 * An older function that does the same as the one of a slot; else that slot. The official C++ header reads every tensor
 * by GetTensorData (1.23), which differs from the older one only in a const.
 */
static size_t lb_elder(const lb_table* table, size_t index) {
  return table->first + index == LB_MAIN + LB_SLOT_GetTensorData ? LB_SLOT_GetTensorMutableData : index;
}

/* The slot of the runtime's table that serves one of ours. */
static size_t lb_server(const lb_bound* bound, const lb_table* table, size_t index) {
  int is_newer = index < table->count && table->slots[index].since > bound->api.version;
  return is_newer ? lb_elder(table, index) : index;
}

/*
 * Statuses are read by functions of ours for ever: a thread may hold one that was made before the runtime was bound.
 * The getters of tables give ours, where the runtime's would end too early or calls are recorded.
 */
static lb_function lb_replacement(const lb_bound* bound, size_t number) {
  switch (number) {
    case LB_MAIN + LB_SLOT_GetErrorCode: return (lb_function)lb_status_code;
    case LB_MAIN + LB_SLOT_GetErrorMessage: return (lb_function)lb_status_message;
    case LB_MAIN + LB_SLOT_ReleaseStatus: return (lb_function)lb_status_release;
    default: break;
  }
  if (bound && bound->api.version >= LB_ORT_API_VERSION && !lb_is_recording(&lb_ort)) return NULL;
  for (size_t which = 0; which + 1 < LB_TABLE_COUNT; ++which) {
    if (number != LB_MAIN + lb_tables[which].getter) continue;
    return !bound || bound->tables[which] ? (lb_function)lb_getters[which] : NULL;
  }
  return NULL;
}

/* The function that serves an entry of our tables; NULL when the bound runtime has none. */
static lb_function lb_bound_function(const lb_bound* bound, size_t number) {
  const lb_table* table = lb_table_of(number);
  lb_function replacement = lb_replacement(bound, number);
  if (replacement) return replacement;
  void* const* theirs = bound->tables[table - lb_tables];
  size_t index = lb_server(bound, table, number - table->first);
  if (!theirs || index >= table->count || table->slots[index].since > bound->api.version) return NULL;
  return lb_as_function(theirs[index]);
}

/* The tables that are reached through OrtApi. One that the runtime itself doesn't have (a minimal build) stays NULL. */
LB_CALLS_RUNTIME static void lb_find_inner_tables(lb_bound* bound) {
  const lb_table* main = &lb_tables[LB_TABLE_COUNT - 1];
  for (size_t which = 0; which + 1 < LB_TABLE_COUNT; ++which) {
    size_t getter = lb_tables[which].getter;
    if (main->slots[getter].since > bound->api.version) continue;
    lb_function function = lb_as_function(bound->tables[LB_TABLE_COUNT - 1][getter]);
    if (function) bound->tables[which] = (void* const*)((lb_get_table)function)();
  }
}

static void* lb_fill(void) {
  lb_bound* bound = lb_allocate(sizeof *bound);
  if (bound && lb_ort_attach(&lb_ort.binding, &bound->api)) { /* it had a table a moment ago */
    lb_free(bound);
    return NULL;
  }
  if (!bound) return NULL;
  bound->tables[LB_TABLE_COUNT - 1] = (void* const*)bound->api.table;
  lb_find_inner_tables(bound);
  return bound;
}

/*
 * Up to 1.22, releasing anything after the runtime's static destructors crashes. Those of a linked runtime run last,
 * but of one that was opened later, before those of objects that were there already: a global
 * std::unique_ptr<Ort::Env>. What is released so late ends with the process.
 */
enum { LB_FIRST_RELEASED_LATE = 23 };

static void lb_release_nothing(void) {
  lb_os_publish(&lb_is_ended, &lb_ort);
  for (const lb_table* table = lb_tables; table < lb_tables + LB_TABLE_COUNT; ++table) {
    for (size_t index = 0; index < table->count; ++index) {
      if (table->slots[index].kind != LB_KIND_RELEASE) continue;
      lb_os_publish(&lb_entries[table->first + index], lb_as_pointer((lb_function)lb_give));
    }
  }
}

static void lb_connect(void) {
  static void* volatile is_registered;
  const lb_bound* bound = lb_bound_runtime();
  for (const lb_table* table = lb_tables; table < lb_tables + LB_TABLE_COUNT; ++table) {
    for (size_t index = 0; index < table->count && !lb_os_load(&lb_is_ended); ++index) {
      lb_function function = lb_bound_function(bound, table->first + index);
      if (function) lb_os_publish(&lb_entries[table->first + index], lb_as_pointer(function));
    }
  }
  int is_early = bound->api.version < LB_FIRST_RELEASED_LATE;
  if (is_early && !lb_os_exchange(&is_registered, NULL, &lb_ort)) lb_os_at_exit(lb_release_nothing);
}

/* ---- calls of trampolines ----------------------------------------------------------------------------------- */

static void lb_say_missing(const lb_bound* bound, size_t number, char* text, size_t size) {
  const lb_table* table = lb_table_of(number);
  size_t index = number - table->first;
  lb_version version = bound->api.runtime;
  if (index >= table->count) {
    snprintf(text, size, "%s has a function at %u that this build of latebind doesn't know; a newer one may",
             table->name, (unsigned)index);
  } else if (table->slots[index].since > bound->api.version) {
    snprintf(text, size, "%s needs ONNX Runtime 1.%u; %u.%u.%u is bound", table->slots[index].name,
             (unsigned)table->slots[index].since, (unsigned)version.major, (unsigned)version.minor,
             (unsigned)version.patch);
  } else {
    snprintf(text, size, "%s is not in this build of ONNX Runtime %u.%u.%u", table->slots[index].name,
             (unsigned)version.major, (unsigned)version.minor, (unsigned)version.patch);
  }
}

/* What a function returns when it cannot be called: the runtime is missing (`bound` is NULL), or too old for it. */
static uintptr_t lb_failure(const lb_bound* bound, size_t number, lb_kind kind, uintptr_t first) {
  char missing[256];
  const char* message = lb_stub_message(&lb_ort);
  if (kind == LB_KIND_CREATE && first) *(void**)first = NULL;
  if (kind != LB_KIND_STATUS && kind != LB_KIND_TEXT) return 0;
  if (bound) {
    lb_say_missing(bound, number, missing, sizeof missing);
    return kind == LB_KIND_TEXT ? (uintptr_t)"" : (uintptr_t)lb_own_status(ORT_NOT_IMPLEMENTED, missing);
  }
  lb_call_handler(&lb_ort);
  return kind == LB_KIND_TEXT ? (uintptr_t)message : (uintptr_t)lb_own_status(ORT_FAIL, message);
}

/* The functions that need no runtime, as long as there is none: statuses of ours, and tables of trampolines. */
static lb_function lb_without_runtime(size_t number) {
  return number == LB_MAIN + LB_SLOT_CreateStatus ? (lb_function)lb_status_create : lb_replacement(NULL, number);
}

static lb_function lb_find_target(const lb_bound* bound, size_t number) {
  const lb_table* table = lb_table_of(number);
  size_t index = number - table->first;
  if (!bound) return lb_without_runtime(number);
  if (lb_is_recording(&lb_ort) && index < table->count) {
    const lb_slot* called = &table->slots[lb_elder(table, lb_server(bound, table, index))];
    lb_record_call(&lb_ort, called->name, (lb_version){1, called->since, 0});
  }
  return lb_bound_function(bound, number);
}

lb_function lb_trampoline_target(size_t number, uintptr_t* first) {
  const lb_table* table = lb_table_of(number);
  size_t index = number - table->first;
  lb_kind kind = index < table->count ? table->slots[index].kind : LB_KIND_STATUS;
  /* There is nothing to release and no status to read before something was made, and that binds. */
  int must_bind = kind != LB_KIND_RELEASE && number != LB_MAIN + LB_SLOT_GetErrorCode &&
                  number != LB_MAIN + LB_SLOT_GetErrorMessage;
  if (must_bind) lb_stub_bind(&lb_ort, 0);
  const lb_bound* bound = lb_bound_runtime();
  lb_function target = lb_find_target(bound, number);
  if (target) return target;
  *first = lb_failure(bound, number, kind, *first);
  return (lb_function)lb_give;
}

/* ---- what the program calls by name --------------------------------------------------------------------------- */

static const lb_ort_table* LB_ORT_CALL lb_get_api(uint32_t version) {
  (void)version; /* every official header has a part of this table */
  return lb_own_table(LB_TABLE_COUNT - 1);
}

static const char* LB_ORT_CALL lb_get_version(void) {
  return lb_stub_bind(&lb_ort, 0) ? "0.0.0" : lb_stub_version(&lb_ort);
}

static const lb_ort_base lb_stub_base = {lb_get_api, lb_get_version};

const lb_ort_base* LB_ORT_CALL OrtGetApiBase(void);
const lb_ort_base* LB_ORT_CALL OrtGetApiBase(void) {
  return &lb_stub_base;
}

OrtStatus* lb_stub_symbol(const char* name, lb_function* function) {
  char text[256];
  *function = NULL;
  if (lb_stub_bind(&lb_ort, 0)) return (OrtStatus*)lb_failure(NULL, LB_MAIN, LB_KIND_STATUS, 0);
  *function = lb_as_function(lb_symbol(&lb_ort.binding, name));
  if (*function) return NULL;
  lb_version version = lb_bound_runtime()->api.runtime;
  snprintf(text, sizeof text, "%s is not in this build of ONNX Runtime %u.%u.%u", name, (unsigned)version.major,
           (unsigned)version.minor, (unsigned)version.patch);
  return lb_own_status(ORT_NOT_IMPLEMENTED, text);
}

int lb_onnxruntime_available(const char* function) {
  const lb_table* table = &lb_tables[LB_TABLE_COUNT - 1];
  if (lb_stub_bind(&lb_ort, 1)) return 0;
  if (!function) return 1;
  for (size_t index = 0; index < table->count; ++index) {
    if (strcmp(table->slots[index].name, function) == 0) {
      return lb_bound_function(lb_bound_runtime(), LB_MAIN + index) != NULL;
    }
  }
  return lb_symbol(&lb_ort.binding, function) != NULL;
}

const char* lb_onnxruntime_message(void) {
  return lb_stub_message(&lb_ort);
}

const char* lb_onnxruntime_version(void) {
  return lb_stub_version(&lb_ort);
}

const char* lb_onnxruntime_file(void) {
  return lb_stub_file(&lb_ort);
}

const char* lb_onnxruntime_report(void) {
  return lb_stub_report(&lb_ort);
}

int lb_onnxruntime_path(const char* path) {
  return lb_stub_path(&lb_ort, path);
}

int lb_onnxruntime_on_missing(lb_on_missing handler, void* context) {
  return lb_stub_on_missing(&lb_ort, handler, context);
}
