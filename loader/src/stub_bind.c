/* stub_bind.c: binds a runtime for its stub; must not know which runtime it is. */
#include "stub_bind.h"

#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "os.h"

/* As lb_loader_mark in bind.c. */
static const volatile char lb_stub_mark[] = "latebind stub " LATEBIND_VERSION;

/* ISO C has no conversion between pointers to objects and to functions; POSIX and Windows guarantee equal bytes. */
lb_function lb_as_function(const void* address) {
  lb_function function = NULL;
  memcpy(&function, &address, sizeof function);
  return function;
}

void* lb_as_pointer(lb_function function) {
  void* address = NULL;
  memcpy(&address, &function, sizeof address);
  return address;
}

uintptr_t lb_give(uintptr_t result) {
  return result;
}

/* ---- what is kept until this library is unloaded ------------------------------------------------------------------
 */

static void* volatile lb_stubs;

typedef union lb_kept {
  void* next;
  uint64_t alignment;
} lb_kept;

/* Puts something with a pointer `next` in front of a list. */
static void lb_push(void* volatile* list, void* entry, void** next) {
  void* first = lb_os_load(list);
  for (;;) {
    *next = first;
    void* now = lb_os_exchange(list, first, entry);
    if (now == first) return;
    first = now;
  }
}

static void lb_free_list(void* volatile* list) {
  void* entry = lb_os_exchange(list, lb_os_load(list), NULL);
  while (entry) {
    void* next = *(void**)entry;
    lb_free(entry);
    entry = next;
  }
}

static void lb_free_own(void* volatile* place) {
  lb_free(lb_os_exchange(place, lb_os_load(place), NULL));
}

/* The runtime stays open, and calls that reach it directly still do. */
static void lb_forget_stub(lb_stub* stub) {
  lb_record* record = (lb_record*)(uintptr_t)lb_bound_record(&stub->binding);
  lb_free_own(&stub->filled);
  lb_free_own(&stub->binding.state);
  lb_record_release(record);
  lb_os_publish(&stub->message, NULL);
  lb_os_publish(&stub->report, NULL);
  lb_os_publish(&stub->reported, NULL);
  lb_os_publish(&stub->failure, NULL);
  lb_os_publish(&stub->path, NULL);
  lb_free_own(&stub->handler);
  lb_free_own(&stub->recorder);
  lb_free_list(&stub->texts);
  lb_free_list(&stub->kept);
  lb_os_publish(&stub->noted, NULL);
}

static void lb_forget_stubs(void) {
  lb_stub* stub = lb_os_exchange(&lb_stubs, lb_os_load(&lb_stubs), NULL);
  while (stub) {
    lb_stub* next = stub->next;
    lb_forget_stub(stub);
    stub = next;
  }
}

/* Before something is kept for a stub. */
static void lb_note_stub(lb_stub* stub) {
  static void* volatile is_noted;
  if (lb_os_exchange(&stub->noted, NULL, stub)) return;
  lb_push(&lb_stubs, stub, &stub->next);
  if (!lb_os_exchange(&is_noted, NULL, stub)) lb_os_at_unload(lb_forget_stubs);
}

/* Memory that is freed with the stub. */
static void* lb_keep(lb_stub* stub, size_t size) {
  lb_kept* kept = lb_allocate(sizeof *kept + size);
  if (!kept) return NULL;
  lb_push(&stub->kept, kept, &kept->next);
  return kept + 1;
}

/* ---- texts that the program may keep: each is stored once ------------------------------------------------------- */

typedef struct lb_kept_text {
  void* next;
  char text[1];
} lb_kept_text;

static const char* lb_find_text(const lb_kept_text* texts, const char* text) {
  while (texts && strcmp(texts->text, text) != 0) texts = texts->next;
  return texts ? texts->text : NULL;
}

/* NULL when out of memory. */
static const char* lb_keep_text(lb_stub* stub, const char* text) {
  lb_kept_text* first = lb_os_load(&stub->texts);
  const char* stored = lb_find_text(first, text);
  lb_kept_text* kept = stored ? NULL : lb_allocate(sizeof *kept + strlen(text));
  if (!kept) return stored;
  memcpy(kept->text, text, strlen(text) + 1);
  lb_push(&stub->texts, kept, &kept->next);
  return kept->text;
}

void lb_keep_message(lb_stub* stub, const char* message) {
  const char* text = lb_keep_text(stub, message);
  lb_os_publish(&stub->message, (void*)(uintptr_t)(text ? text : "The runtime could not be bound: out of memory."));
}

/* ---- failures that last, which a program that goes on calling would pay for each time ---------------------------- */

/* What a search that found nothing depends on, but for files. */
typedef struct lb_failed_search {
  uint64_t libraries;
  uint64_t environment; /* a hash */
  const void* path;
} lb_failed_search;

static uint64_t lb_hash_variable(uint64_t hash, const char* name) {
  char* value = name ? lb_os_environment(name) : NULL;
  hash = lb_hash(hash, value);
  lb_free(value);
  return hash;
}

/* The variables of "CUDA_PATH/lib64;CUDA_HOME/lib64". */
static uint64_t lb_hash_roots(uint64_t hash, const char* roots) {
  while (*roots) {
    char* name = lb_copy(roots, strcspn(roots, "/"));
    hash = lb_hash_variable(hash, name);
    lb_free(name);
    roots += strcspn(roots, ";");
    roots += *roots == ';';
  }
  return hash;
}

static lb_failed_search lb_describe_search(const lb_stub* stub) {
  static const char* const variables[] = {"VIRTUAL_ENV", "CONDA_PREFIX", "HOME", NULL};
  lb_failed_search search = {lb_os_generation(), 14695981039346656037u, lb_os_load(&stub->path)};
  search.environment = lb_hash_variable(search.environment, stub->runtime->environment);
  for (const char* const* name = variables; *name; name++) {
    search.environment = lb_hash_variable(search.environment, *name);
  }
  for (const char* const* name = lb_os_variables(); *name; name++) {
    search.environment = lb_hash_variable(search.environment, *name);
  }
  search.environment = lb_hash_roots(search.environment, stub->packages.roots);
  return search;
}

static int lb_failed_before(const lb_stub* stub, const lb_failed_search* search) {
  const lb_failed_search* failure = lb_os_load(&stub->failure);
  return failure && failure->libraries == search->libraries && failure->environment == search->environment &&
         failure->path == search->path;
}

/* Older notes stay: another thread may be reading one. A program changes its environment a few times, not for ever. */
static void lb_note_failure(lb_stub* stub, const lb_failed_search* search) {
  lb_failed_search* failure = lb_failed_before(stub, search) ? NULL : lb_keep(stub, sizeof *failure);
  if (!failure) return;
  *failure = *search;
  lb_os_publish(&stub->failure, failure);
}

/* ---- binding ----------------------------------------------------------------------------------------------------- */

static void lb_keep_report(lb_stub* stub, lb_report* report) {
  const char* json = lb_keep_text(stub, lb_report_json(report));
  if (json) lb_os_publish(&stub->report, (void*)(uintptr_t)json);
}

/* Calls reach the runtime from now on. The block of the first thread counts. */
static void lb_fill_once(lb_stub* stub) {
  void* filled = stub->fill();
  if (!filled) {
    lb_keep_message(stub, "The runtime could not be bound: out of memory.");
    return;
  }
  lb_record_begin(stub, lb_stub_report(stub));
  if (lb_os_exchange(&stub->filled, NULL, filled)) lb_free(filled);
  if (!lb_is_recording(stub)) stub->connect();
}

static int lb_search_and_bind(lb_stub* stub) {
  lb_report report = {.size = sizeof report};
  lb_options options = {.size = sizeof options};
  lb_around around = {&stub->packages, lb_search_packages, lb_search_roots};
  (void)lb_stub_mark[0];
  options.flags = stub->flags | (stub->is_as_linked && lb_os_is_in_program() ? LB_FLAG_GLOBAL : 0);
  options.path = lb_os_load(&stub->path);
  int outcome = lb_bind_around(&stub->binding, stub->runtime, &options, &around, &report);
  lb_keep_report(stub, &report);
  if (outcome) {
    lb_keep_message(stub, report.message);
  } else {
    lb_fill_once(stub);
  }
  lb_report_clear(&report);
  return outcome;
}

static void lb_search_unless_in_vain(lb_stub* stub, int looks_again) {
  lb_failed_search search = lb_describe_search(stub);
  if (!looks_again && lb_failed_before(stub, &search)) return;
  int outcome = lb_search_and_bind(stub);
  if (!outcome || outcome == LB_OUTCOME_TRY_AGAIN) return;
  search = lb_describe_search(stub); /* what was opened and closed counts, too */
  lb_note_failure(stub, &search);
}

static int lb_refuse_to_open(lb_stub* stub, const char* why) {
  char message[256];
  snprintf(message, sizeof message, "%s%s", stub->runtime->title, why);
  lb_keep_message(stub, message);
  return 1;
}

int lb_stub_bind(lb_stub* stub, int looks_again) {
  if (lb_os_load(&stub->filled)) return 0;
  if (lb_is_opening(stub)) return lb_refuse_to_open(stub, " called a function of its own while it was being opened.");
  if (lb_is_half_open(stub)) return lb_refuse_to_open(stub, LB_HALF_OPEN);
  lb_os_watch_forks();
  size_t opening = lb_begin_opening(stub);
  lb_note_stub(stub);
  lb_search_unless_in_vain(stub, looks_again);
  lb_end_opening(opening);
  return !lb_os_load(&stub->filled);
}

/* ---- what the program calls by name ------------------------------------------------------------------------------ */

const char* lb_stub_message(const lb_stub* stub) {
  const char* message = lb_os_load(&stub->message);
  return message ? message : "";
}

/* The path before stays: another thread may be reading it. */
int lb_stub_path(lb_stub* stub, const char* path) {
  lb_note_stub(stub);
  char* copy = path ? lb_keep(stub, strlen(path) + 1) : NULL;
  if (path && !copy) return 1;
  if (copy) memcpy(copy, path, strlen(path) + 1);
  lb_os_publish(&stub->path, copy);
  return 0;
}

const char* lb_stub_report(const lb_stub* stub) {
  const char* report = lb_os_load(&stub->report);
  return report ? report : "{}";
}

const char* lb_stub_version(const lb_stub* stub) {
  const lb_record* record = lb_bound_record(&stub->binding);
  return record && record->version ? record->version : "";
}

const char* lb_stub_file(const lb_stub* stub) {
  const lb_record* record = lb_bound_record(&stub->binding);
  return record && record->path ? record->path : "";
}

/* ---- what a program gets before a call fails that it may not survive --------------------------------------------- */

typedef struct lb_missing_handler {
  lb_on_missing call;
  void* context;
} lb_missing_handler;

int lb_stub_on_missing(lb_stub* stub, lb_on_missing handler, void* context) {
  lb_note_stub(stub);
  lb_missing_handler* made = handler ? lb_allocate(sizeof *made) : NULL;
  if (!made) return 1;
  *made = (lb_missing_handler){handler, context};
  if (!lb_os_exchange(&stub->handler, NULL, made)) return 0;
  lb_free(made);
  return 1;
}

/* Printing changes nothing that the program gets, so a user may ask for it. */
static void lb_print_if_asked(const char* message) {
  char* asked = lb_os_environment("LATEBIND_ON_MISSING");
  if (asked && strcmp(asked, "print") == 0) fprintf(stderr, "%s\n", message);
  lb_free(asked);
}

/* Threads that fail at the same time agree on one that calls. Equal messages are one text. */
void lb_call_handler(lb_stub* stub) {
  void* message = lb_os_load(&stub->message);
  void* reported = lb_os_load(&stub->reported);
  if (!message || reported == message || lb_is_opening(stub)) return;
  if (lb_os_exchange(&stub->reported, reported, message) != reported) return;
  const lb_missing_handler* handler = lb_os_load(&stub->handler);
  if (handler) handler->call(message, handler->context);
  lb_print_if_asked(message); /* also then: some handlers show nothing, and the short texts name the variable */
}
