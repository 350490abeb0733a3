/* search.c: where to look for a runtime, and in which order; must not judge what it finds (candidate.c does). */
#include <string.h>

#include "internal.h"
#include "os.h"
#include "places.h"

enum { LB_LOOK_SIZE = 512 };

/* ---- one folder --------------------------------------------------------------------------------------------- */

/* Tries folder/name. `*present` counts those that are there. */
static int lb_try_in(lb_search* search, lb_source source, const char* folder, const char* name, size_t* present) {
  char* path = lb_os_join(folder, name);
  int outcome = path ? lb_try_file(search, source, path) : -1;
  if (!path) search->record->out_of_memory = 1;
  if (outcome >= 0) (*present)++;
  lb_free(path);
  return outcome > 0;
}

/* Whether a folder is there and may be searched. What speaks against it is recorded; packages' may be absent. */
static int lb_may_search(lb_search* search, lb_source source, lb_place place, const char* folder, const char* why) {
  int is_expected = source != LB_SOURCE_PACKAGE && source != LB_SOURCE_SYSTEM;
  int is_told = place == LB_PLACE_UNTRUSTED || place == LB_PLACE_BUSY || is_expected;
  if (place != LB_PLACE_FOLDER && is_told) lb_record_place(search->record, source, (int)place, folder, why);
  return place == LB_PLACE_FOLDER;
}

static int lb_is_searched(lb_search* search, lb_source source, const char* folder) {
  char why[LB_LOOK_SIZE] = "";
  lb_identity identity;
  int place = lb_look_at(search, lb_trust_at(search, source), folder, 1, &identity, why, sizeof why);
  return lb_may_search(search, source, (lb_place)place, folder, why);
}

int lb_list_folder(lb_search* search, lb_source source, const char* folder, lb_names* list) {
  char why[LB_LOOK_SIZE] = "";
  return lb_is_searched(search, source, folder) &&
         lb_may_search(search, source, (lb_place)lb_names_read(list, folder, why, sizeof why), folder, why);
}

/* Tries what matches, newest first. 1 when it is bound, -1 when the folder can't be read. */
static int lb_try_listed(lb_search* search, lb_source source, const char* folder, const char* const* globs,
                         size_t* present) {
  lb_names list = {globs, NULL, 0};
  int bound = 0;
  int is_read = lb_list_folder(search, source, folder, &list);
  for (size_t i = 0; i < list.count && !bound; i++) bound = lb_try_in(search, source, folder, list.names[i], present);
  lb_names_clear(&list);
  return is_read ? bound : -1;
}

int lb_try_folder(lb_search* search, lb_source source, const char* folder) {
  const char* const* globs = search->runtime->file_globs;
  size_t present = 0;
  int bound = 0;
  if (!lb_is_searched(search, source, folder)) return 0;
  for (const char* const* name = search->runtime->file_names; name && *name && !bound; name++) {
    bound = lb_try_in(search, source, folder, *name, &present);
  }
  int listed = bound || !globs || !*globs ? 0 : lb_try_listed(search, source, folder, globs, &present);
  if (!bound && !present && listed >= 0) {
    lb_record_add(search->record, source, LB_OUTCOME_NOT_FOUND, folder, NULL, "no file of its name in this folder");
  }
  return bound || listed > 0;
}

/* A file or a folder, whichever is there. */
static int lb_try_place(lb_search* search, lb_source source, const char* given) {
  char why[LB_LOOK_SIZE];
  lb_identity identity;
  char* path = lb_os_absolute(given);
  lb_place place = path ? lb_os_look(path, &identity, why, sizeof why) : LB_PLACE_OTHER;
  int bound = 0;
  if (place == LB_PLACE_FOLDER) {
    bound = lb_try_folder(search, source, path);
  } else if (place == LB_PLACE_ABSENT) {
    lb_record_add(search->record, source, LB_OUTCOME_NOT_FOUND, path, NULL, why);
  } else if (path) {
    search->is_file = 1;
    bound = lb_try_file(search, source, path) > 0;
  }
  if (!path) search->record->out_of_memory = 1;
  lb_free(path);
  return bound;
}

/* ---- the steps: each returns 1 when the search is over --------------------------------------------------------- */

static int lb_is_given(const char* text) {
  return text && *text;
}

/* The place that is given is the only one, found or not. */
static int lb_search_explicit(lb_search* search) {
  if (!lb_is_given(search->options->path)) return 0;
  lb_try_place(search, LB_SOURCE_EXPLICIT, search->options->path);
  return 1;
}

int lb_is_driver(const lb_search* search) {
  return (search->options->flags & LB_FLAG_DRIVER) != 0;
}

static int lb_try_loaded(void* context, const char* path, void* handle, void* entry) {
  lb_search* search = context;
  char why[LB_LOOK_SIZE];
  if (!lb_is_driver(search) && lb_os_is_refused(path, why, sizeof why)) {
    lb_record_add(search->record, LB_SOURCE_LOADED, LB_OUTCOME_REFUSED, path, NULL, why);
    return 0;
  }
  return lb_try_handle(search, LB_SOURCE_LOADED, path, handle, entry);
}

static int lb_search_loaded(lb_search* search) {
  if (search->options->flags & LB_FLAG_NO_LOADED) return 0;
  return lb_os_loaded(search->runtime->entry_symbol, lb_try_loaded, search);
}

static int lb_search_host(lb_search* search) {
  const lb_options* options = search->options;
  for (size_t i = 0; options->directories && i < options->directory_count; i++) {
    const char* place = options->directories[i];
    if (lb_is_given(place) && lb_try_place(search, LB_SOURCE_HOST, place)) return 1;
  }
  return 0;
}

const lb_own_names* lb_own_names_of(lb_search* search) {
  lb_own_names* own = &search->own;
  if (!search->has_own) *own = lb_os_own_names();
  search->has_own = 1;
  if (!own->file || !own->name || strcmp(own->file, own->name) != 0) return own;
  lb_free(own->name);
  own->name = NULL;
  return own;
}

static int lb_search_next_to(lb_search* search, const char* file) {
  char* folder = file ? lb_os_folder_of(file) : NULL;
  int bound = folder ? lb_try_folder(search, LB_SOURCE_BESIDE, folder) : 0;
  lb_free(folder);
  return bound;
}

/* Where this library is, and where it was opened: links may lead to it. */
static int lb_search_beside(lb_search* search) {
  const lb_own_names* own = lb_own_names_of(search);
  if (!own->file) search->record->unknown = lb_duplicate(own->why);
  if (own->is_busy) {
    lb_record_add(search->record, LB_SOURCE_BESIDE, LB_OUTCOME_TRY_AGAIN, "this library's folder", NULL, own->why);
  }
  return lb_search_next_to(search, own->file) || lb_search_next_to(search, own->name);
}

static int lb_search_package(lb_search* search) {
  return (search->around && search->around->look(search)) || lb_search_dotnet(search);
}

typedef struct lb_system_search {
  lb_search* search;
  const char* name;
  size_t present;
} lb_system_search;

static int lb_try_system_folder(void* context, const char* folder, lb_trust trust) {
  lb_system_search* system = context;
  system->search->trust = trust;
  if (!(strchr)(system->name, '*')) {
    return lb_try_in(system->search, LB_SOURCE_SYSTEM, folder, system->name, &system->present);
  }
  const char* const globs[] = {system->name, NULL};
  return lb_try_listed(system->search, LB_SOURCE_SYSTEM, folder, globs, &system->present) > 0;
}

/* The folders that the system would search for names, so that each candidate is inspected before. */
static int lb_search_names(lb_search* search, lb_source source, const char* const* names) {
  for (; names && *names; names++) {
    lb_system_search system = {search, *names, 0};
    if (lb_is_driver(search) && lb_os_search_drivers(lb_try_system_folder, &system)) return 1;
    if (lb_os_search(*names, lb_try_system_folder, &system)) return 1;
    if (system.present) continue;
    lb_record_add(search->record, source, LB_OUTCOME_NOT_FOUND, *names, NULL, lb_os_searched());
  }
  return 0;
}

/* A name without a folder is what it is to the system's loader. */
static int lb_search_environment(lb_search* search) {
  const char* variable = search->runtime->environment;
  char* named = lb_is_given(variable) ? lb_os_environment(variable) : NULL;
  if (!named) return 0;
  const char* const names[] = {named, NULL};
  if (lb_os_is_absolute(named) || named[strcspn(named, "/\\")]) {
    lb_try_place(search, LB_SOURCE_ENVIRONMENT, named);
  } else if (!strcmp(named, ".") || !strcmp(named, "..")) {
    lb_record_add(search->record, LB_SOURCE_ENVIRONMENT, LB_OUTCOME_NOT_FOUND, named, NULL,
                  "without a slash it is a name, and names are never those of the current folder");
  } else {
    lb_search_names(search, LB_SOURCE_ENVIRONMENT, names);
  }
  lb_free(named);
  return 1;
}

static int lb_search_last(lb_search* search) {
  return search->around && search->around->look_last(search);
}

static int lb_search_system(lb_search* search) {
  if (search->options->flags & LB_FLAG_NO_SYSTEM) return lb_search_last(search);
  /* Debian's package has the version in the name: libonnxruntime.so.1.21 */
  return lb_search_names(search, LB_SOURCE_SYSTEM, search->runtime->file_names) ||
         lb_search_names(search, LB_SOURCE_SYSTEM, search->runtime->file_globs) || lb_search_last(search);
}

/* What is loaded says more than what is installed. */
static void lb_note_loaded_signs(lb_search* search) {
  uint32_t loaded = 0;
  for (size_t i = 0; i < lb_variant_count(search->runtime); i++) {
    const char* const* sign = lb_variant_at(search->runtime, i)->signs;
    for (; sign && *sign; sign++) {
      const char* last = (strrchr)(*sign, '/');
      if (lb_os_has_loaded(last ? last + 1 : *sign)) loaded |= 1u << i;
    }
  }
  if (loaded) search->record->signs = loaded;
}

int lb_search_run(lb_search* search) {
#define LB_STEP(step, source, name, rule) lb_search_##step,
  static int (*const steps[])(lb_search*) = {LB_PLACES(LB_STEP)};
  search->record->raised = lb_os_is_raised();
  search->record->elsewhere = lb_os_is_elsewhere();
  search->trust = LB_TRUST_JUDGED;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    if (steps[i](search)) break;
  }
  if (!search->handle) lb_note_loaded_signs(search);
  return search->handle != NULL;
}

void lb_search_clear(lb_search* search) {
  lb_free(search->own.file);
  lb_free(search->own.name);
  lb_free(search->judge);
  lb_free(search->seen);
}

static int lb_count_one(void* context, const char* path, void* handle, void* entry) {
  (void)path;
  (void)handle;
  (void)entry;
  ++*(size_t*)context;
  return 0;
}

size_t lb_count_images(const char* symbol) {
  size_t count = 0;
  lb_os_loaded(symbol, lb_count_one, &count);
  return count;
}
