/* bind.c: binds once, for all threads, and remembers it; must not look for the runtime itself (search.c does). */
#include <string.h>

#include "internal.h"
#include "os.h"

/* What a bound binding keeps, for the life of the process. */
typedef struct lb_state {
  void* handle;
  lb_version version;
  lb_record* record;
} lb_state;

static lb_state* lb_state_of(const lb_binding* binding) {
  return binding && lb_entry(binding) ? (lb_state*)binding->private_state : NULL;
}

void* lb_entry(const lb_binding* binding) {
  return binding ? lb_os_load(&binding->entry) : NULL;
}

void* lb_symbol(const lb_binding* binding, const char* name) {
  const lb_state* state = lb_state_of(binding);
  return state && name ? lb_os_symbol(state->handle, name) : NULL;
}

lb_version lb_bound_version(const lb_binding* binding) {
  const lb_version none = {0, 0, 0};
  const lb_state* state = lb_state_of(binding);
  return state ? state->version : none;
}

static int lb_same_place(const char* left, const char* right) {
  char why[128];
  lb_identity first = {0, 0};
  lb_identity second = {0, 0};
  lb_place kind = lb_os_look(left, &first, why, sizeof why);
  if (kind != LB_PLACE_FILE && kind != LB_PLACE_FOLDER) return 0;
  return lb_os_look(right, &second, why, sizeof why) == kind && first.device == second.device &&
         first.file == second.file;
}

int lb_is_bound_from(const lb_binding* binding, const char* path) {
  const lb_state* state = lb_state_of(binding);
  if (!state || !path || !state->record->path) return 0;
  if (lb_same_place(path, state->record->path)) return 1;
  char* folder = lb_os_folder_of(state->record->path);
  int same = folder && lb_same_place(path, folder);
  lb_free(folder);
  return same;
}

/* The record is immortal once bound: reports may point into it. */
static int lb_report_bound(const lb_binding* binding, lb_report* report) {
  if (report) lb_report_fill(report, lb_state_of(binding)->record, 0);
  return 0;
}

static int lb_finish(lb_binding* binding, lb_search* search, lb_report* report) {
  lb_record* record = search->record;
  lb_state* state = search->handle ? lb_allocate(sizeof *state) : NULL;
  if (search->handle && !state) { /* nowhere to keep it: let go, the next call tries again */
    lb_os_close(search->handle);
    lb_record_release(record);
    if (report) lb_report_fill_out_of_memory(report, search->runtime);
    return LB_OUTCOME_LOAD_FAILED;
  }
  if (state) {
    record->image_count = lb_count_images(search->runtime->entry_symbol);
    if (record->image_count == 0) record->image_count = 1; /* the bound one's symbol comes from a dependency */
  }
  lb_record_conclude(record, search->options->advice ? search->options->advice : search->runtime->advice);
  if (!state) {
    const lb_attempt* telling = lb_record_telling(record);
    int outcome = telling ? (int)telling->outcome : (int)LB_OUTCOME_NOT_FOUND;
    if (report) {
      lb_report_fill(report, record, 1);
    } else {
      lb_record_release(record);
    }
    return outcome;
  }
  state->handle = search->handle;
  state->version = search->version;
  state->record = record;
  binding->private_state = state;
  lb_os_publish(&binding->entry, search->entry);
  return lb_report_bound(binding, report);
}

static int lb_bind_locked(lb_binding* binding, const lb_runtime* runtime, const lb_options* options,
                          lb_report* report) {
  lb_search search;
  memset(&search, 0, sizeof search);
  search.runtime = runtime;
  search.options = options;
  search.minimum = runtime->minimum;
  if (lb_version_compare(options->minimum, search.minimum) > 0) search.minimum = options->minimum;
  search.record = lb_record_create(runtime, search.minimum);
  if (!search.record) {
    if (report) lb_report_fill_out_of_memory(report, runtime);
    return LB_OUTCOME_LOAD_FAILED;
  }
  lb_search_run(&search);
  lb_search_clear(&search);
  return lb_finish(binding, &search, report);
}

int lb_bind(lb_binding* binding, const lb_runtime* runtime, const lb_options* options, lb_report* report) {
  lb_options own;
  memset(&own, 0, sizeof own);
  if (options) memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
  if (!lb_report_is_usable(report)) report = NULL;
  lb_report_clear(report);
  if (lb_entry(binding)) return lb_report_bound(binding, report);
  if (!binding || !runtime || runtime->size < sizeof *runtime) {
    if (report) {
      lb_report_fill_out_of_memory(report, NULL);
      report->sentence = "lb_bind() was called without a binding or a description of the runtime.";
    }
    return LB_OUTCOME_LOAD_FAILED;
  }
  if (lb_os_lock()) {
    if (report) {
      lb_report_fill_out_of_memory(report, runtime);
      report->sentence = "lb_bind() was called by the runtime that it is opening.";
    }
    return LB_OUTCOME_LOAD_FAILED;
  }
  int outcome = lb_entry(binding) ? lb_report_bound(binding, report) : lb_bind_locked(binding, runtime, &own, report);
  lb_os_unlock();
  return outcome;
}
