/*
 * ort_stub.c: what a program that links this instead of ONNX Runtime gets: OrtGetApiBase(), whose function tables bind
 * the runtime at the first call.
 *
 * Before that, every entry of a table is a trampoline. Binding puts the runtime's own pointers in their place, so that
 * later calls cost what they cost in a linked program. Entries that the bound runtime is too old for stay trampolines:
 * they say which version has the function. Without a runtime, functions that return an OrtStatus* return one of ours,
 * with the loader's sentence; the others return 0.
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

static void* volatile lb_entries[LB_TRAMPOLINE_COUNT];
static void lb_fill(const char* report);
static lb_stub lb_ort = {.runtime = &lb_onnxruntime,
                         .packages = {"onnxruntime/capi", "onnxruntime-node", "Microsoft.ML.OnnxRuntime"},
                         .fill = lb_fill};
static void* volatile lb_is_ready; /* set when the tables hold trampolines */
static lb_ort_api lb_stub_api;     /* valid when the stub is filled: the tables hold the runtime's pointers then */
/* The runtime's tables, while calls are recorded: ours keep trampolines then. */
static void* const* lb_theirs[LB_TABLE_COUNT];
static int lb_is_recording;
static int lb_has_own_status; /* a status of ours was returned; guarded by the lock of binding */

lb_function lb_stub_function(size_t slot) {
  return lb_os_load(&lb_ort.is_filled) ? lb_as_function(((void* const*)lb_stub_api.table)[slot]) : NULL;
}

/* ---- binding ------------------------------------------------------------------------------------------------ */

static void* lb_entry_of(size_t number) {
  return lb_as_pointer(lb_trampoline(number));
}

static void* lb_own_table(size_t which) {
  return (void*)&lb_entries[lb_tables[which].first];
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

typedef const void*(LB_ORT_CALL* lb_get_table)(void);
static const lb_get_table lb_getters[] = {lb_editor_api, lb_compile_api, lb_interop_api, lb_ep_api};

/*
 * An older function that does the same as the one of a slot; else that slot. The official C++ header reads every tensor
 * by GetTensorData (1.23), which differs from the older one only in a const.
 */
static size_t lb_elder(const lb_table* table, size_t index) {
  return table->first + index == LB_MAIN + LB_SLOT_GetTensorData ? LB_SLOT_GetTensorMutableData : index;
}

/* The slot of the runtime's table that serves one of ours. */
static size_t lb_server(const lb_table* table, size_t index) {
  int is_newer = index < table->count && table->slots[index].since > lb_stub_api.version;
  return is_newer ? lb_elder(table, index) : index;
}

static void lb_fill_table(const lb_table* table, void* const* theirs) {
  if (lb_is_recording) {
    lb_theirs[table - lb_tables] = theirs;
    return;
  }
  for (size_t index = 0; index < table->count; ++index) {
    size_t server = lb_server(table, index);
    if (table->slots[server].since > lb_stub_api.version) continue;
    lb_os_publish(&lb_entries[table->first + index], theirs[server]);
  }
}

/* The tables that are reached through OrtApi. One that the runtime itself doesn't have (a minimal build) stays NULL. */
static void lb_fill_inner_tables(void* const* main) {
  const lb_table* main_table = &lb_tables[LB_TABLE_COUNT - 1];
  for (size_t which = 0; which + 1 < LB_TABLE_COUNT; ++which) {
    const lb_table* table = &lb_tables[which];
    if (main_table->slots[table->getter].since > lb_stub_api.version) continue;
    const void* theirs = ((lb_get_table)lb_as_function(main[table->getter]))();
    if (!theirs || (lb_stub_api.version >= LB_ORT_API_VERSION && !lb_is_recording)) continue;
    lb_fill_table(table, theirs);
    lb_os_publish(&lb_entries[LB_MAIN + table->getter], lb_as_pointer((lb_function)lb_getters[which]));
  }
}

/* Trampolines everywhere, once. Under the lock of binding. */
static void lb_prepare(void) {
  for (size_t number = 0; number < LB_TRAMPOLINE_COUNT && !lb_os_load(&lb_is_ready); ++number) {
    lb_os_publish(&lb_entries[number], lb_entry_of(number));
  }
  lb_os_publish(&lb_is_ready, &lb_stub_api);
}

/*
 * Up to 1.22, releasing anything after the runtime's static destructors crashes. Those of a linked runtime run last,
 * but of one that was opened later, before those of objects that were there already: a global
 * std::unique_ptr<Ort::Env>. What is released so late ends with the process.
 */
enum { LB_FIRST_RELEASED_LATE = 23 };

static void lb_release_nothing(void) {
  for (const lb_table* table = lb_tables; table < lb_tables + LB_TABLE_COUNT; ++table) {
    for (size_t index = 0; index < table->count; ++index) {
      if (table->slots[index].kind != LB_KIND_RELEASE) continue;
      lb_os_publish(&lb_entries[table->first + index], lb_as_pointer((lb_function)lb_give));
    }
  }
}

/* Under the lock of binding, so that nobody gets a status of ours that the runtime's own functions would read. */
static void lb_fill(const char* report) {
  if (lb_ort_attach(&lb_ort.binding, &lb_stub_api)) return;
  lb_is_recording = lb_record_begin(report);
  void* const* main = (void* const*)lb_stub_api.table;
  lb_prepare();
  lb_fill_table(&lb_tables[LB_TABLE_COUNT - 1], main);
  lb_fill_inner_tables(main);
  if (lb_has_own_status) {
    lb_os_publish(&lb_entries[LB_MAIN + LB_SLOT_GetErrorCode], lb_as_pointer((lb_function)lb_status_code));
    lb_os_publish(&lb_entries[LB_MAIN + LB_SLOT_GetErrorMessage], lb_as_pointer((lb_function)lb_status_message));
    lb_os_publish(&lb_entries[LB_MAIN + LB_SLOT_ReleaseStatus], lb_as_pointer((lb_function)lb_status_release));
  }
  if (lb_stub_api.version < LB_FIRST_RELEASED_LATE) lb_os_at_exit(lb_release_nothing);
  lb_os_publish(&lb_ort.is_filled, &lb_stub_api);
}

/* ---- calls of trampolines ----------------------------------------------------------------------------------- */

static void lb_say_missing(size_t number, char* text, size_t size) {
  const lb_table* table = lb_table_of(number);
  size_t index = number - table->first;
  lb_version bound = lb_stub_api.runtime;
  if (index < table->count) {
    snprintf(text, size, "%s needs ONNX Runtime 1.%u; %u.%u.%u is bound", table->slots[index].name,
             (unsigned)table->slots[index].since, (unsigned)bound.major, (unsigned)bound.minor, (unsigned)bound.patch);
  } else {
    snprintf(text, size, "%s has a function at %u that this build of latebind doesn't know; a newer one may",
             table->name, (unsigned)index);
  }
}

/* What a function returns when it cannot be called: the runtime is missing, or too old for it. */
static uintptr_t lb_failure(size_t number, lb_kind kind, int is_bound, uintptr_t first) {
  char missing[256];
  const char* sentence = lb_stub_sentence(&lb_ort);
  if (kind == LB_KIND_CREATE && first) *(void**)first = NULL;
  if (kind != LB_KIND_STATUS && kind != LB_KIND_TEXT) return 0;
  if (is_bound) {
    lb_say_missing(number, missing, sizeof missing);
    if (kind == LB_KIND_STATUS) return (uintptr_t)lb_ort_CreateStatus(&lb_stub_api, ORT_NOT_IMPLEMENTED, missing);
    return (uintptr_t)"";
  }
  if (!*sentence) sentence = "ONNX Runtime called a function of its own while it was being opened.";
  return kind == LB_KIND_TEXT ? (uintptr_t)sentence : (uintptr_t)lb_own_status(ORT_FAIL, sentence);
}

/* The functions that need no runtime, as long as there is none: statuses of ours, and tables of trampolines. */
static lb_function lb_without_runtime(size_t number) {
  for (size_t which = 0; which + 1 < LB_TABLE_COUNT; ++which) {
    if (number == LB_MAIN + lb_tables[which].getter) return (lb_function)lb_getters[which];
  }
  switch (number) {
    case LB_MAIN + LB_SLOT_CreateStatus: return (lb_function)lb_status_create;
    case LB_MAIN + LB_SLOT_GetErrorCode: return (lb_function)lb_status_code;
    case LB_MAIN + LB_SLOT_GetErrorMessage: return (lb_function)lb_status_message;
    case LB_MAIN + LB_SLOT_ReleaseStatus: return (lb_function)lb_status_release;
    default: return NULL;
  }
}

/* The runtime's function; NULL when there is none. */
static lb_function lb_bound_function(size_t number) {
  void* entry = lb_os_load(&lb_entries[number]);
  if (entry != lb_entry_of(number)) return lb_as_function(entry);
  const lb_table* table = lb_table_of(number);
  void* const* theirs = lb_theirs[table - lb_tables];
  size_t index = lb_server(table, number - table->first);
  if (!theirs || index >= table->count) return NULL;
  const lb_slot* called = &table->slots[lb_elder(table, index)];
  lb_record_call(&lb_ort, called->name, (lb_version){1, called->since, 0});
  return table->slots[index].since <= lb_stub_api.version ? lb_as_function(theirs[index]) : NULL;
}

lb_function lb_trampoline_target(size_t number, uintptr_t* first) {
  const lb_table* table = lb_table_of(number);
  size_t index = number - table->first;
  lb_kind kind = index < table->count ? table->slots[index].kind : LB_KIND_STATUS;
  /* There is nothing to release and no status to read before something was made, and that binds. */
  int must_bind = kind != LB_KIND_RELEASE && number != LB_MAIN + LB_SLOT_GetErrorCode &&
                  number != LB_MAIN + LB_SLOT_GetErrorMessage;
  if (must_bind) lb_stub_bind(&lb_ort);
  int is_locked = !lb_os_lock(); /* from here to the status, nobody binds */
  int is_bound = lb_os_load(&lb_ort.is_filled) != NULL;
  lb_function target = is_bound ? lb_bound_function(number) : lb_without_runtime(number);
  if (!target) {
    if (!is_bound) lb_has_own_status = 1;
    *first = lb_failure(number, kind, is_bound, *first);
    target = (lb_function)lb_give;
  } else if (!is_bound && number == LB_MAIN + LB_SLOT_CreateStatus) {
    lb_has_own_status = 1;
  }
  if (is_locked) lb_os_unlock();
  return target;
}

/* ---- what the program calls by name --------------------------------------------------------------------------- */

static const lb_ort_table* LB_ORT_CALL lb_get_api(uint32_t version) {
  (void)version; /* every official header has a part of this table */
  int is_locked = !lb_os_lock();
  lb_prepare();
  if (is_locked) lb_os_unlock();
  return lb_own_table(LB_TABLE_COUNT - 1);
}

typedef const lb_ort_base*(LB_ORT_CALL* lb_get_base)(void);

static const char* LB_ORT_CALL lb_get_version(void) {
  if (lb_stub_bind(&lb_ort)) return "0.0.0";
  return ((lb_get_base)lb_as_function(lb_entry(&lb_ort.binding)))()->GetVersionString();
}

static const lb_ort_base lb_stub_base = {lb_get_api, lb_get_version};

const lb_ort_base* LB_ORT_CALL OrtGetApiBase(void);
const lb_ort_base* LB_ORT_CALL OrtGetApiBase(void) {
  return &lb_stub_base;
}

OrtStatus* lb_stub_symbol(const char* name, lb_function* function) {
  char text[256];
  *function = NULL;
  if (lb_stub_bind(&lb_ort)) {
    int is_locked = !lb_os_lock();
    int is_bound = lb_os_load(&lb_ort.is_filled) != NULL; /* by another thread, just now */
    if (!is_bound) lb_has_own_status = 1;
    if (is_locked) lb_os_unlock();
    if (!is_bound) return (OrtStatus*)lb_failure(LB_MAIN, LB_KIND_STATUS, 0, 0);
  }
  *function = lb_as_function(lb_symbol(&lb_ort.binding, name));
  if (*function) return NULL;
  lb_version bound = lb_stub_api.runtime;
  snprintf(text, sizeof text, "%s is not in this build of ONNX Runtime %u.%u.%u", name, (unsigned)bound.major,
           (unsigned)bound.minor, (unsigned)bound.patch);
  return lb_ort_CreateStatus(&lb_stub_api, ORT_NOT_IMPLEMENTED, text);
}

int lb_onnxruntime_available(const char* function) {
  const lb_table* table = &lb_tables[LB_TABLE_COUNT - 1];
  if (lb_stub_bind(&lb_ort)) return 0;
  if (!function) return 1;
  for (size_t index = 0; index < table->count; ++index) {
    if (strcmp(table->slots[index].name, function) == 0) return table->slots[index].since <= lb_stub_api.version;
  }
  return lb_symbol(&lb_ort.binding, function) != NULL;
}

const char* lb_onnxruntime_sentence(void) {
  return lb_stub_sentence(&lb_ort);
}

void lb_onnxruntime_path(const char* path) {
  lb_stub_path(&lb_ort, path);
}
