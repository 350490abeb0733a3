/*
 * candidate.c: judges one candidate, in the order that is safest for the process: may others write there, is it a
 * library at all, does it open, does it have the entry symbol, is its version right, is it complete. Must not decide
 * where to look.
 */
#include <stdio.h>
#include <string.h>

#include "internal.h"
#include "os.h"
#include "places.h"

enum { LB_WHY_SIZE = 1024, LB_VERSION_SIZE = 128 };

/* Whether a file was tried before, under whatever name. */
static int lb_is_seen(const lb_search* search, lb_identity identity) {
  for (size_t i = 0; i < search->seen_count; i++) {
    if (search->seen[i].device == identity.device && search->seen[i].file == identity.file) return 1;
  }
  return 0;
}

/* Without memory, a file is tried twice, which does no harm. */
static void lb_note_seen(lb_search* search, lb_identity identity) {
  lb_identity* seen = lb_resize(search->seen, (search->seen_count + 1) * sizeof *seen);
  if (!seen) return;
  search->seen = seen;
  seen[search->seen_count++] = identity;
}

static lb_outcome lb_judge_version(const lb_search* search, lb_version version) {
  lb_version any = {0, 0, 0};
  if (lb_version_compare(search->minimum, any) == 0) return LB_OUTCOME_BOUND;
  if (lb_version_compare(version, search->minimum) < 0) return LB_OUTCOME_TOO_OLD;
  if (lb_variant_count(search->runtime)) {
    const lb_variant* variant = lb_variant_of(search->runtime, version);
    if (!variant) return LB_OUTCOME_OTHER_MAJOR;
    return lb_version_compare(version, variant->minimum) < 0 ? LB_OUTCOME_TOO_OLD : LB_OUTCOME_BOUND;
  }
  if (search->runtime->compatible == LB_COMPATIBLE_ALWAYS) return LB_OUTCOME_BOUND;
  if (version.major != search->minimum.major) return LB_OUTCOME_OTHER_MAJOR;
  if (search->runtime->compatible == LB_COMPATIBLE_MAJOR || version.minor == search->minimum.minor)
    return LB_OUTCOME_BOUND;
  return LB_OUTCOME_OTHER_MINOR;
}

/* Version first: nothing else in the image is called before its version is known to be right. */
static lb_outcome lb_judge_entry(lb_search* search, void* entry, char* version, size_t version_size, char* why,
                                 size_t why_size) {
  lb_version read = {0, 0, 0};
  if (!search->runtime->read_version) return LB_OUTCOME_BOUND;
  int failed = search->runtime->read_version(entry, version, version_size);
  version[version_size - 1] = 0;
  if (failed || lb_version_parse(version, &read)) {
    snprintf(why, why_size, failed ? "%s" : "its version reads \"%s\"", version); /* its own words, if it had any */
    version[0] = 0;
    return LB_OUTCOME_NO_VERSION;
  }
  search->version = read;
  return lb_judge_version(search, read);
}

/* How the place of a step is trusted. */
#define LB_TRUST_OF(step, source, name, rule) [LB_SOURCE_##source] = LB_TRUST_##rule,
static const lb_trust lb_trusts[] = {LB_PLACES(LB_TRUST_OF)};

int lb_trust_at(const lb_search* search, lb_source source) {
  return lb_trusts[source] == LB_TRUST_FOLDER ? search->trust : (int)lb_trusts[source];
}

/* Whether the user named the very file, which is then opened whoever may change it. */
static int lb_is_named_file(const lb_search* search, int trust) {
  return trust == LB_TRUST_NAMED && search->is_file;
}

/* Whether what is at a place counts whoever may change it. In another root folder, a name means another place. */
static int lb_is_placed(lb_search* search, int trust) {
  int counts = trust == LB_TRUST_NAMED || (trust == LB_TRUST_HOST && !search->record->raised) ||
               (trust == LB_TRUST_SYSTEM && lb_own_names_of(search)->file);
  return counts && !lb_os_is_elsewhere();
}

int lb_look_at(lb_search* search, int trust, const char* path, int is_folder, lb_identity* identity, char* why,
               size_t why_size) {
  int is_judged = !lb_is_placed(search, trust);
  if (is_judged && !search->judge) search->judge = lb_os_find_trusted(lb_own_names_of(search)->file);
  lb_place place = is_judged ? lb_os_judge(search->judge, path, is_folder, identity, why, why_size)
                             : lb_os_look(path, identity, why, why_size);
  if (place != LB_PLACE_FILE || lb_is_named_file(search, trust) || lb_is_driver(search)) return place;
  return lb_os_is_refused(path, why, why_size) ? LB_PLACE_REFUSED : place;
}

/* ---- what the runtime opens by itself -----------------------------------------------------------------------------
 */

static int lb_has_file(void* name, const char* folder, lb_trust trust) {
  char why[LB_WHY_SIZE];
  lb_identity identity;
  char* path = lb_os_join(folder, name);
  int has = path && lb_os_look(path, &identity, why, sizeof why) == LB_PLACE_FILE;
  (void)trust; /* it is not opened here */
  lb_free(path);
  return has;
}

/*
 * Opens a file next to the runtime, and keeps it open if the runtime is bound: it then finds it by its name, which it
 * may not without. libnvrtc of CUDA 13.0 has no run path, and Windows does not look next to a library. A file that the
 * user named says nothing of others in its folder. What opens the companions of a loaded runtime is its host's affair.
 */
static int lb_open_companion(lb_search* search, lb_source source, const char* path, char* why, size_t why_size) {
  lb_identity identity;
  lb_outcome outcome = LB_OUTCOME_LOAD_FAILED;
  int trust = lb_trust_at(search, source);
  int of_others = lb_is_named_file(search, trust) ? LB_TRUST_JUDGED : trust;
  int place = lb_look_at(search, of_others, path, 0, &identity, why, why_size);
  if (place != LB_PLACE_FILE) return trust == LB_TRUST_RUNNING;
  if (lb_os_inspect(path, why, why_size) != LB_OUTCOME_BOUND) return 0;
  void* handle = lb_open_library(path, search->options->flags, &outcome, why, why_size);
  if (handle && search->companion_count < LB_COMPANIONS_MAX) search->companions[search->companion_count++] = handle;
  return handle != NULL;
}

/* A candidate that was refused leaves no files behind that the next one would take for its own. */
static void lb_close_companions(lb_search* search) {
  while (search->companion_count) lb_os_close(search->companions[--search->companion_count]);
}

/* The runtime finds a file by its name if that is loaded, next to the runtime, or where the system looks. */
static int lb_accept_companion(lb_search* search, lb_source source, char* name, const char* folder, char* why,
                               size_t why_size) {
  char reason[LB_WHY_SIZE / 2] = "out of memory";
  if (name && lb_os_has_loaded(name)) return 1;
  if (!name || !lb_has_file(name, folder, LB_TRUST_RUNNING)) {
    if (name && lb_os_search(name, lb_has_file, name)) return 1;
    snprintf(why, why_size, "it opens %s, which is missing", name ? name : "another library");
    return 0;
  }
  char* path = lb_os_join(folder, name);
  int is_open = path && lb_open_companion(search, source, path, reason, sizeof reason);
  lb_free(path);
  if (!is_open) snprintf(why, why_size, "it opens %s, which cannot be used: %s", name, reason);
  return is_open;
}

/* Those of a variant: whose names have the numbers of a version, or whose have not. */
static int lb_accept_companions(lb_search* search, lb_source source, const lb_variant* variant, int is_numbered,
                                const void* entry, char* why, size_t why_size) {
  char* file = variant && variant->companions ? lb_os_file_of(entry) : NULL;
  char* folder = file ? lb_os_folder_of(file) : NULL;
  int accepted = folder || !variant || !variant->companions;
  if (!accepted) snprintf(why, why_size, "its folder, where the libraries that it opens are, cannot be found");
  for (size_t i = 0; folder && accepted && variant->companions[i]; i++) {
    const char* companion = variant->companions[i];
    if (((strchr)(companion, '{') != NULL) != is_numbered) continue;
    char* name = lb_companion_name(companion, search->version);
    accepted = lb_accept_companion(search, source, name, folder, why, why_size);
    lb_free(name);
  }
  lb_free(folder);
  lb_free(file);
  return accepted;
}

/* ---- opening ------------------------------------------------------------------------------------------------------
 */

/* The last question: does it have all that the host will use? */
static lb_outcome lb_judge_completeness(lb_search* search, lb_source source, void* entry, char* why, size_t why_size) {
  lb_check_runtime check = search->runtime->size >= LB_RUNTIME_SIZE_2 ? search->runtime->check : NULL;
  const lb_variant* variant = lb_variant_of(search->runtime, search->version);
  if (!lb_accept_companions(search, source, variant, 1, entry, why, why_size)) return LB_OUTCOME_INCOMPLETE;
  if (!check || !check(entry, search->version, why, why_size)) return LB_OUTCOME_BOUND;
  why[why_size - 1] = 0;
  return LB_OUTCOME_INCOMPLETE;
}

int lb_try_handle(lb_search* search, lb_source source, const char* path, void* handle, void* entry) {
  char version[LB_VERSION_SIZE] = "";
  char why[LB_WHY_SIZE] = "";
  /* Before anything is called: without libcudnn_graph, cudnnGetVersion() ends the process. All variants have these. */
  const lb_variant* any = lb_variant_count(search->runtime) ? lb_variant_at(search->runtime, 0) : NULL;
  int is_whole = lb_accept_companions(search, source, any, 0, entry, why, sizeof why);
  lb_outcome outcome = LB_OUTCOME_INCOMPLETE;
  if (is_whole) outcome = lb_judge_entry(search, entry, version, sizeof version, why, sizeof why);
  if (outcome == LB_OUTCOME_BOUND) outcome = lb_judge_completeness(search, source, entry, why, sizeof why);
  lb_record_add(search->record, source, outcome, path, version, why);
  search->is_incomplete = outcome == LB_OUTCOME_INCOMPLETE;
  if (outcome != LB_OUTCOME_BOUND) {
    lb_close_companions(search);
    return 0;
  }
  search->handle = handle;
  search->entry = entry;
  search->record->bound = 1;
  search->record->version = lb_duplicate(version);
  search->record->path = lb_os_file_of(entry);
  if (!search->record->path) search->record->path = lb_duplicate(path);
  return 1;
}

/* Opens what passed inspection and judges what is in it. */
static int lb_try_open(lb_search* search, lb_source source, const char* path) {
  char why[LB_WHY_SIZE] = "";
  lb_outcome outcome = LB_OUTCOME_LOAD_FAILED;
  void* handle = lb_open_library(path, search->options->flags, &outcome, why, sizeof why);
  if (!handle) {
    lb_record_add(search->record, source, outcome, path, NULL, why);
    return 0;
  }
  void* entry = lb_os_symbol(handle, search->runtime->entry_symbol);
  if (!entry) {
    lb_record_add(search->record, source, LB_OUTCOME_NO_ENTRY, path, NULL, NULL);
  } else if (lb_try_handle(search, source, path, handle, entry)) {
    return 1;
  }
  lb_os_close(handle);
  return 0;
}

int lb_try_file(lb_search* search, lb_source source, const char* path) {
  char why[LB_WHY_SIZE] = "";
  lb_identity identity = {0, 0};
  int place = lb_look_at(search, lb_trust_at(search, source), path, 0, &identity, why, sizeof why);
  size_t seen_count = search->seen_count;
  if (place == LB_PLACE_ABSENT) return -1;
  if (place == LB_PLACE_FILE && lb_is_seen(search, identity)) return 0;
  if (place != LB_PLACE_FILE) { /* what is refused may be on the way of another step */
    lb_record_place(search->record, source, place, path, why);
    return 0;
  }
  lb_note_seen(search, identity);
  lb_outcome outcome = lb_os_inspect(path, why, sizeof why);
  if (outcome != LB_OUTCOME_BOUND) {
    lb_record_add(search->record, source, outcome, path, NULL, why);
    return 0;
  }
  search->is_incomplete = 0;
  int is_bound = lb_try_open(search, source, path);
  if (search->is_incomplete) search->seen_count = seen_count; /* its folder by another name may be whole */
  return is_bound;
}
