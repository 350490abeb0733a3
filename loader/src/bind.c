/*
 * bind.c: binds once, for all threads, and remembers it; must not look for the runtime itself (search.c does).
 *
 * Threads search and open without a lock, and publish what they found by one exchange: the first decides, the others
 * close what they opened. tests/loader/binding.pml is a model of this.
 */
#include <string.h>

#include "internal.h"
#include "os.h"

/* What a bound binding keeps, for the life of the process. */
typedef struct lb_state {
  void* handle;
  void* entry;
  lb_version version;
  lb_record* record;
} lb_state;

/* What an SBOM finds in a library that holds the loader (parts.toml). Reading it keeps it
 * there, whatever the linker leaves out. */
static const volatile char lb_loader_mark[] = "latebind loader " LATEBIND_VERSION;

static const lb_state* lb_state_of(const lb_binding* binding) {
  return binding ? lb_os_load(&binding->state) : NULL;
}

void* lb_entry(const lb_binding* binding) {
  const lb_state* state = lb_state_of(binding);
  return state ? state->entry : NULL;
}

const lb_record* lb_bound_record(const lb_binding* binding) {
  const lb_state* state = lb_state_of(binding);
  return state ? state->record : NULL;
}

const char* lb_loader_version(void) {
  return LATEBIND_VERSION;
}

void* lb_symbol(const lb_binding* binding, const char* name) {
  const lb_state* state = lb_state_of(binding);
  return state && name ? lb_os_symbol(state->handle, name) : NULL;
}

void* lb_image_symbol(const void* entry, const char* name) {
  void* image = entry && name ? lb_os_hold(entry) : NULL;
  void* address = image ? lb_os_symbol(image, name) : NULL;
  if (image) lb_os_close(image);
  return address;
}

int lb_image_keep(const void* entry) {
  return entry && lb_os_hold(entry) ? 0 : 1;
}

char* lb_environment(const char* name) {
  return name ? lb_os_environment(name) : NULL;
}

lb_version lb_bound_version(const lb_binding* binding) {
  const lb_version none = {0, 0, 0};
  const lb_state* state = lb_state_of(binding);
  return state ? state->version : none;
}

int lb_is_bound_from(const lb_binding* binding, const char* path) {
  const lb_state* state = lb_state_of(binding);
  if (!state || !path || !state->record->path) return 0;
  if (lb_is_same_place(path, state->record->path)) return 1;
  char* folder = lb_os_folder_of(state->record->path);
  int same = folder && lb_is_same_place(path, folder);
  lb_free(folder);
  return same;
}

/* The record is immortal once bound: reports may point into it. */
static int lb_report_bound(const lb_binding* binding, lb_report* report) {
  if (report) lb_report_fill(report, lb_state_of(binding)->record, 0);
  return 0;
}

static lb_version lb_floor(const lb_runtime* runtime, const lb_options* options) {
  return lb_version_compare(options->minimum, runtime->minimum) > 0 ? options->minimum : runtime->minimum;
}

/* Returns its record, or NULL when out of memory. */
static lb_record* lb_begin_search(lb_search* search, const lb_runtime* runtime, const lb_options* options,
                                  const lb_around* around) {
  memset(search, 0, sizeof *search);
  search->runtime = runtime;
  search->options = options;
  search->around = around;
  search->minimum = lb_floor(runtime, options);
  search->record = lb_record_create(runtime, search->minimum);
  return search->record;
}

/* The host's advice goes before that of what installed this library, and this before the runtime's own. */
static void lb_conclude(lb_search* search) {
  char* made = search->options->advice ? NULL : lb_installer_advice(search);
  search->record->is_named_only = !search->options->advice && !search->around && !search->options->directory_count;
  lb_record_conclude(search->record, made ? made : search->options->advice);
  lb_free(made);
}

/* What is bound is too old for this call; the account of that belongs to the caller's report. */
static int lb_report_older(const lb_state* state, const lb_runtime* runtime, const lb_options* options,
                           lb_report* report) {
  lb_search search;
  lb_record* record = report ? lb_begin_search(&search, runtime, options, NULL) : NULL;
  if (record) {
    record->path = lb_duplicate(state->record->path);
    record->version = lb_duplicate(state->record->version);
    record->image_count = state->record->image_count;
    lb_record_add(record, LB_SOURCE_LOADED, LB_OUTCOME_BOUND_OLDER, record->path, record->version, NULL);
    lb_conclude(&search);
    lb_report_fill(report, record, 1);
    lb_search_clear(&search);
  } else if (report) {
    lb_report_fill_out_of_memory(report, runtime);
  }
  return LB_OUTCOME_BOUND_OLDER;
}

static int lb_answer_bound(const lb_binding* binding, const lb_runtime* runtime, const lb_options* options,
                           lb_report* report) {
  const lb_state* state = lb_state_of(binding);
  if (lb_version_compare(state->version, lb_floor(runtime, options)) >= 0) return lb_report_bound(binding, report);
  return lb_report_older(state, runtime, options, report);
}

static int lb_finish_unbound(lb_search* search, lb_report* report) {
  lb_record* record = search->record;
  lb_conclude(search);
  const lb_attempt* telling = lb_record_telling(record);
  int outcome = telling ? (int)telling->outcome : (int)LB_OUTCOME_NOT_FOUND;
  if (record->out_of_memory) outcome = LB_OUTCOME_TRY_AGAIN;
  if (report) {
    lb_report_fill(report, record, 1);
  } else {
    lb_record_release(record);
  }
  return outcome;
}

static void lb_release_state(lb_state* state) {
  lb_os_close(state->handle);
  lb_record_release(state->record);
  lb_free(state);
}

/* Makes this the state of the binding for all threads, unless another thread was first. Takes it. */
static void lb_publish(lb_binding* binding, lb_state* state) {
  if (lb_os_exchange(&binding->state, NULL, state)) lb_release_state(state);
}

void lb_reset(lb_binding* binding) {
  lb_state* state = binding ? lb_os_load(&binding->state) : NULL;
  if (!state) return;
  lb_os_publish(&binding->state, NULL);
  lb_release_state(state);
}

static int lb_finish_bound(lb_binding* binding, const lb_search* search, lb_report* report) {
  lb_record* record = search->record;
  lb_state* state = lb_allocate(sizeof *state);
  if (!state) { /* nowhere to keep it: let go, the next call tries again */
    lb_os_close(search->handle);
    lb_record_release(record);
    if (report) lb_report_fill_out_of_memory(report, search->runtime);
    return LB_OUTCOME_LOAD_FAILED;
  }
  record->image_count = lb_count_images(search->runtime->entry_symbol);
  if (record->image_count == 0) record->image_count = 1; /* the bound one's symbol comes from a dependency */
  lb_record_conclude(record, search->options->advice);
  state->handle = search->handle;
  state->entry = search->entry;
  state->version = search->version;
  state->record = record;
  lb_publish(binding, state);
  return lb_answer_bound(binding, search->runtime, search->options, report);
}

static int lb_bind_now(lb_binding* binding, const lb_runtime* runtime, const lb_options* options,
                       const lb_around* around, lb_report* report) {
  lb_search search;
  if (!lb_begin_search(&search, runtime, options, around)) {
    if (report) lb_report_fill_out_of_memory(report, runtime);
    return LB_OUTCOME_LOAD_FAILED;
  }
  lb_search_run(&search);
  int outcome = search.handle ? lb_finish_bound(binding, &search, report) : lb_finish_unbound(&search, report);
  lb_search_clear(&search);
  return outcome;
}

static int lb_is_zero(const void* from, const void* to) {
  const unsigned char* end = to;
  for (const unsigned char* at = from; at < end; at++) {
    if (*at) return 0;
  }
  return 1;
}

static const char* lb_misuse_of_options(const lb_options* options) {
  const char* start = (const char*)options;
  if (options->size < LB_OPTIONS_SIZE_1) return "lb_options.size is not set. Set it to sizeof(lb_options).";
  if (options->size > sizeof *options && !lb_is_zero(start + sizeof *options, start + options->size)) {
    return "lb_options has fields that this loader does not know. Compile the loader of the same version as the "
           "header.";
  }
  if (options->flags & ~(uint32_t)LB_FLAGS) {
    return "lb_options.flags has a flag that this loader does not know. Use LB_FLAG_*, and zero for none.";
  }
  if (options->directory_count && !options->directories) {
    return "lb_options.directory_count is set, but lb_options.directories is NULL.";
  }
  return NULL;
}

/* What a caller got wrong; NULL when nothing. Given in every build: an option that is ignored in silence costs days. */
static const char* lb_misuse(const lb_binding* binding, const lb_runtime* runtime, const lb_options* options,
                             const lb_report* report) {
  if (report && !lb_report_is_usable(report)) return LB_REPORT_WITHOUT_SIZE;
  if (!binding) return "lb_bind() was called without a binding. Pass the address of a static lb_binding.";
  if (!runtime) return "lb_bind() was called without a description of the runtime.";
  if (runtime->size < LB_RUNTIME_SIZE_1) return "lb_runtime.size is not set. Set it to sizeof(lb_runtime).";
  return options ? lb_misuse_of_options(options) : NULL;
}

int lb_bind_around(lb_binding* binding, const lb_runtime* runtime, const lb_options* options, const lb_around* around,
                   lb_report* report) {
  static const lb_options none; /* zeros */
  lb_options copy;
  if (report) lb_report_clear(report);
  const char* mistake = lb_misuse(binding, runtime, options, report);
  if (mistake) {
    if (report) lb_report_fill_message(report, runtime, mistake);
    return LB_OUTCOME_INVALID_ARGUMENT;
  }
  if (lb_state_of(binding)) return lb_answer_bound(binding, runtime, options ? options : &none, report);
  memset(&copy, 0, sizeof copy);
  if (options) memcpy(&copy, options, options->size < sizeof copy ? options->size : sizeof copy);
  if (lb_is_opening(binding)) {
    if (report) lb_report_fill_message(report, runtime, "lb_bind() was called by the runtime that it is opening.");
    return LB_OUTCOME_LOAD_FAILED;
  }
  if (lb_is_half_open(binding)) {
    if (report) lb_report_fill_message(report, runtime, "The runtime" LB_HALF_OPEN);
    return LB_OUTCOME_LOAD_FAILED;
  }
  (void)lb_loader_mark[0];
  lb_os_watch_forks();
  size_t opening = lb_begin_opening(binding);
  int outcome = lb_bind_now(binding, runtime, &copy, around, report);
  lb_end_opening(opening);
  return outcome;
}

lb_outcome lb_bind(lb_binding* binding, const lb_runtime* runtime, const lb_options* options, lb_report* report) {
  return (lb_outcome)lb_bind_around(binding, runtime, options, NULL, report);
}
