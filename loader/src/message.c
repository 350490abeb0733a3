/*
 * message.c: says in one paragraph what was bound, or what was wrong, where, why, and what to do next; must not
 * look for anything itself.
 */
#include <string.h>

#include "internal.h"
#include "os.h"

/* More folders than this are counted, not named; the report lists them all. */
enum { LB_PLACES_NAMED = 3 };

static int lb_is_any(lb_version version) {
  return version.major == 0 && version.minor == 0 && version.patch == 0;
}

static int lb_is_explicit(const lb_attempt* attempt) {
  return attempt->source == LB_SOURCE_EXPLICIT || attempt->source == LB_SOURCE_ENVIRONMENT;
}

/* The oldest version that would be suitable; of the same major version if that has a variant of its own. */
static lb_version lb_floor_of(const lb_record* record, const lb_attempt* attempt) {
  lb_version version;
  if (lb_version_parse(attempt->version, &version)) return record->minimum;
  const lb_variant* variant = lb_variant_of(record->runtime, version);
  return variant && version.major >= record->minimum.major ? lb_variant_minimum(variant, record->minimum)
                                                           : record->minimum;
}

static void lb_add_floor(lb_text* text, const lb_record* record, const lb_attempt* attempt) {
  if (lb_is_any(record->minimum)) return;
  lb_text_add(text, "; version ");
  lb_text_add_version(text, lb_floor_of(record, attempt));
  lb_text_add(text, " or newer is needed");
}

/* "; version 13 or 12 is needed" */
static void lb_add_majors(lb_text* text, const lb_record* record, const lb_attempt* attempt) {
  uint32_t last = 0;
  for (size_t i = 0; i < lb_variant_count(record->runtime); i++) {
    uint32_t major = lb_variant_at(record->runtime, i)->minimum.major;
    if (major < record->minimum.major || (last && major == last)) continue;
    lb_text_add(text, last ? " or " : "; version ");
    lb_text_add_number(text, major);
    last = major;
  }
  if (!last) { /* the minimum rules out all of them */
    lb_add_floor(text, record, attempt);
    return;
  }
  lb_text_add(text, " is needed");
}

/* "ONNX Runtime at /x" */
static void lb_add_subject(lb_text* text, const lb_record* record, const lb_attempt* attempt) {
  lb_text_add(text, record->runtime->title);
  if (*attempt->version) {
    lb_text_add(text, " ");
    lb_text_add_foreign(text, attempt->version);
  }
  lb_text_add(text, " at ");
  lb_text_add_foreign(text, attempt->path);
}

static void lb_add_detail(lb_text* text, const char* before, const lb_attempt* attempt) {
  lb_text_add(text, before);
  if (!*attempt->detail) return;
  lb_text_add(text, ": ");
  lb_text_add_foreign(text, attempt->detail);
}

/* " was not found in /a, /b and 2 more places, nor by the system's own search", from what was really tried. */
static void lb_add_places(lb_text* text, const lb_record* record) {
  size_t places = 0;
  size_t system = 0;
  lb_text_add(text, " was not found");
  for (size_t i = 0; i < record->attempt_count; i++) {
    const lb_attempt* attempt = &record->attempts[i];
    if (attempt->source == LB_SOURCE_SYSTEM) {
      system++;
    } else if (++places <= LB_PLACES_NAMED) {
      lb_text_add(text, places == 1 ? " in " : ", ");
      lb_text_add_foreign(text, attempt->path);
    }
  }
  if (places > LB_PLACES_NAMED) {
    lb_text_add(text, " and ");
    lb_text_add_number(text, places - LB_PLACES_NAMED);
    lb_text_add(text, places == LB_PLACES_NAMED + 1 ? " more place" : " more places");
  }
  if (system) lb_text_add(text, places ? ", nor by the system's own search" : " by the system's own search");
  if (!record->unknown) return;
  lb_text_add(text, "; the folders around this library were not searched, since ");
  lb_text_add(text, record->unknown);
}

static void lb_add_not_found(lb_text* text, const lb_record* record, const lb_attempt* attempt) {
  lb_text_add(text, record->runtime->title);
  if (!lb_is_explicit(attempt)) {
    lb_add_places(text, record);
    return;
  }
  lb_text_add(text, " was not found at ");
  lb_text_add_foreign(text, attempt->path);
  if (attempt->source == LB_SOURCE_ENVIRONMENT) {
    lb_text_add(text, ", which ");
    lb_text_add(text, record->runtime->environment);
    lb_text_add(text, " names");
  }
  lb_add_detail(text, "", attempt);
}

/* glibc and musl put the object at fault in front; a name without a folder is one that was looked for in vain. */
static void lb_add_missing_dependency(lb_text* text, const lb_record* record, const lb_attempt* attempt) {
  lb_add_subject(text, record, attempt);
  lb_text_add(text, " cannot be loaded: a library that it needs is missing or broken");
  lb_add_detail(text, "", attempt);
}

static void lb_add_fault(lb_text* text, const lb_record* record, const lb_attempt* attempt) {
  if (attempt->outcome == LB_OUTCOME_NOT_FOUND) {
    lb_add_not_found(text, record, attempt);
    return;
  }
  if (attempt->outcome == LB_OUTCOME_MISSING_DEPENDENCY) {
    lb_add_missing_dependency(text, record, attempt);
    return;
  }
  if (attempt->outcome == LB_OUTCOME_TRY_AGAIN) {
    lb_text_add(text, record->runtime->title);
    lb_add_detail(text, " cannot be looked for at the moment", attempt);
    lb_text_add(text, " (");
    lb_text_add_foreign(text, attempt->path);
    lb_text_add(text, ")");
    return;
  }
  lb_add_subject(text, record, attempt);
  switch (attempt->outcome) {
    case LB_OUTCOME_NOT_A_LIBRARY: lb_add_detail(text, " is not a usable library", attempt); break;
    case LB_OUTCOME_WRONG_ARCHITECTURE: lb_add_detail(text, " is for another processor", attempt); break;
    case LB_OUTCOME_NO_ENTRY:
      lb_text_add(text, " has no symbol ");
      lb_text_add(text, record->runtime->entry_symbol);
      lb_text_add(text, ": it is another library, or too old");
      break;
    case LB_OUTCOME_TOO_OLD: lb_text_add(text, " is too old"); break;
    case LB_OUTCOME_BOUND_OLDER: lb_text_add(text, " is in use in this process already"); break;
    case LB_OUTCOME_OTHER_MAJOR: lb_text_add(text, " is of another major version"); break;
    case LB_OUTCOME_OTHER_MINOR: lb_text_add(text, " is of another minor version"); break;
    case LB_OUTCOME_NO_VERSION:
      lb_add_detail(text, *attempt->detail ? " cannot be used" : " does not tell its version", attempt);
      break;
    case LB_OUTCOME_INCOMPLETE: lb_add_detail(text, " is incomplete", attempt); break;
    case LB_OUTCOME_REFUSED: lb_add_detail(text, " may not be opened", attempt); break;
    default: lb_add_detail(text, " cannot be loaded", attempt); break;
  }
}

/* Returns 1 when there was a command to add. */
static int lb_add_command(lb_text* text, const char* advice) {
  if (!advice || !*advice) return 0;
  lb_text_add(text, " Get it with: ");
  lb_text_add(text, advice);
  return 1;
}

/* What was wrong, and which version would be right. */
static void lb_add_reason(lb_text* text, const lb_record* record, const lb_attempt* attempt) {
  lb_add_fault(text, record, attempt);
  if (attempt->outcome == LB_OUTCOME_INCOMPLETE || attempt->outcome == LB_OUTCOME_TRY_AGAIN) return;
  if (attempt->outcome == LB_OUTCOME_OTHER_MAJOR && lb_variant_count(record->runtime)) {
    lb_add_majors(text, record, attempt);
    return;
  }
  lb_add_floor(text, record, attempt);
  if (attempt->outcome != LB_OUTCOME_OTHER_MAJOR && attempt->outcome != LB_OUTCOME_OTHER_MINOR) return;
  lb_text_add(text, ", below ");
  if (record->runtime->compatible == LB_COMPATIBLE_MAJOR) {
    lb_text_add_number(text, (unsigned long long)record->minimum.major + 1);
  } else {
    lb_text_add_number(text, record->minimum.major);
    lb_text_add(text, ".");
    lb_text_add_number(text, (unsigned long long)record->minimum.minor + 1);
  }
}

char* lb_advice_for(const char* advice, lb_version named, lb_version minimum) {
  lb_text built = {NULL, 0, 0, 0};
  lb_text text = {NULL, 0, 0, 0};
  lb_text_add(&built, ">=");
  lb_text_add_version(&built, named);
  char* version = lb_text_take(&built);
  const char* at = version ? (strstr)(advice, version) : NULL;
  size_t length = at ? strlen(version) : 0;
  lb_free(version);
  if (!at || (at[length] >= '0' && at[length] <= '9') || at[length] == '.') return lb_duplicate(advice);
  lb_text_add_bytes(&text, advice, (size_t)(at - advice));
  lb_text_add(&text, ">=");
  lb_text_add_version(&text, minimum);
  lb_text_add(&text, at + length);
  return lb_text_take(&text);
}

/* Whether an installer would leave the file as it is. */
static int lb_is_damaged(const lb_attempt* attempt) {
  if (!attempt || lb_is_explicit(attempt)) return 0;
  return attempt->outcome == LB_OUTCOME_INCOMPLETE || attempt->outcome == LB_OUTCOME_NOT_A_LIBRARY ||
         attempt->outcome == LB_OUTCOME_WRONG_ARCHITECTURE || attempt->outcome == LB_OUTCOME_MISSING_DEPENDENCY;
}

/* Takes a command that installs; gives one that repairs. The caller frees; NULL when out of memory. */
static char* lb_repair(char* advice) {
  lb_text text = {NULL, 0, 0, 0};
  if (advice) lb_add_advice(&text, advice, 1);
  lb_free(advice);
  return lb_text_take(&text);
}

/* The runtime's own command names the minimum of the build. A host that needs more gets a command for that. What is
 * there but incomplete or too old decides which variant is meant. */
static char* lb_make_advice(const lb_record* record, const lb_attempt* telling) {
  lb_version version = {0, 0, 0};
  if (telling && lb_version_parse(telling->version, &version) == 0 && !lb_variant_of(record->runtime, version)) {
    version.major = 0;
  }
  int is_damaged = lb_is_damaged(telling);
  char* advice = lb_variant_advice(record->runtime, version, record->minimum, record->signs, is_damaged);
  if (advice || !record->runtime->advice) return advice;
  advice = lb_advice_for(record->runtime->advice, record->runtime->minimum, record->minimum);
  return is_damaged && advice ? lb_repair(advice) : advice;
}

static int lb_is_denied(const lb_attempt* attempt) {
  return attempt && attempt->outcome == LB_OUTCOME_REFUSED && strcmp(attempt->detail, LB_DENIED) == 0;
}

static int lb_is_static_program(const lb_attempt* attempt) {
  return attempt && strcmp(attempt->detail, LB_STATIC_PROGRAM) == 0;
}

/* A place that others may change. */
static int lb_add_permission(lb_text* text, const lb_record* record, const lb_attempt* attempt) {
  if (!attempt || attempt->outcome != LB_OUTCOME_REFUSED || lb_is_explicit(attempt) || record->raised) return 0;
  if (!record->runtime->environment) return 0;
  lb_text_add(text, " If you trust it, name it in ");
  lb_text_add(text, record->runtime->environment);
  lb_text_add(text, ".");
  return 1;
}

/* Whether a command installs into folders where only their own programs look. */
static int lb_is_apart(const char* advice) {
  return advice && (strncmp(advice, "pip ", 4) == 0 || strncmp(advice, "npm ", 4) == 0);
}

static void lb_add_next(lb_text* text, const lb_record* record, const lb_attempt* attempt, const char* advice) {
  lb_text_add(text, ".");
  if (attempt && attempt->outcome == LB_OUTCOME_TRY_AGAIN) {
    lb_text_add(text, " The next call tries again.");
    return;
  }
  if (lb_is_static_program(attempt)) {
    lb_text_add(text, " Link it dynamically.");
    return;
  }
  if (record->elsewhere) {
    lb_text_add(text, " Make the first call before this process enters another root folder or mount namespace.");
    return;
  }
  if (attempt && attempt->outcome == LB_OUTCOME_BOUND_OLDER) {
    lb_text_add(text,
                " A process keeps the runtime that it binds first: install the newer version, and ask for it "
                "before anything else binds an older one.");
    lb_add_command(text, advice);
    return;
  }
  int needs_another = attempt && attempt->outcome == LB_OUTCOME_MISSING_DEPENDENCY;
  const char* correct = needs_another ? " Install what it needs, or correct" : " Correct";
  if (attempt && attempt->source == LB_SOURCE_ENVIRONMENT) {
    lb_text_add(text, correct);
    lb_text_add(text, " the environment variable ");
    lb_text_add(text, record->runtime->environment);
    lb_text_add(text, " or unset it; a place that it names is the only one that is tried.");
    lb_add_command(text, advice);
    return;
  }
  if (attempt && attempt->source == LB_SOURCE_EXPLICIT) {
    lb_text_add(text, correct);
    lb_text_add(text, " the path or leave it out; a path that is given is the only place that is tried.");
    lb_add_command(text, advice);
    return;
  }
  if (record->raised) { /* then naming the file in the variable would not help */
    lb_add_command(text, advice);
    lb_text_add(text, " (This process has more rights than its user: environment variables are ignored.)");
    return;
  }
  if (needs_another) { /* its own package is there, what it needs may belong to another one */
    lb_text_add(text, " Install what it needs");
    if (advice && *advice) lb_text_add(text, "; what belongs to its own package comes back with: ");
    lb_text_add(text, advice ? advice : "");
    return;
  }
  if (lb_is_denied(attempt)) {
    lb_text_add(text, " Correct its permissions, or those of a folder above it.");
    return;
  }
  if (lb_add_permission(text, record, attempt)) {
    lb_add_command(text, advice);
    return;
  }
  if (record->is_named_only && lb_is_apart(advice) && record->runtime->environment) {
    lb_add_command(text, advice);
    lb_text_add(text, ", and name its file in ");
    lb_text_add(text, record->runtime->environment);
    return;
  }
  if (lb_add_command(text, advice)) {
    if (record->runtime->environment) lb_text_add(text, " (or name its file in ");
  } else if (record->runtime->environment) {
    lb_text_add(text, " (Its file can be named in ");
  }
  if (!record->runtime->environment) return;
  lb_text_add(text, record->runtime->environment);
  lb_text_add(text, ")");
}

static void lb_add_bound(lb_text* text, const lb_record* record) {
  const lb_attempt* last = record->attempt_count ? &record->attempts[record->attempt_count - 1] : NULL;
  lb_text_add(text, record->runtime->title);
  if (record->version && *record->version) {
    lb_text_add(text, " ");
    lb_text_add_foreign(text, record->version);
  }
  lb_text_add(text, " is bound from ");
  lb_text_add_foreign(text, record->path ? record->path : "");
  if (!last) return;
  lb_text_add(text, " (source: ");
  lb_text_add(text, lb_source_name(last->source));
  lb_text_add(text, ")");
}

/* No reason to warn: a newer runtime's interface has all that an older one's has. */
static void lb_add_newer(lb_text* text, const lb_record* record) {
  lb_version version;
  lb_version built = record->runtime->built;
  built.patch = UINT32_MAX; /* a patch release changes no interface */
  if (lb_is_any(record->runtime->built) || lb_version_parse(record->version, &version)) return;
  if (lb_version_compare(version, built) <= 0) return;
  lb_text_add(text, "; it is newer than ");
  lb_text_add_version(text, record->runtime->built);
  lb_text_add(text, ", the newest version tried with this library");
}

static void lb_add_warning(lb_text* text, const lb_record* record) {
  if (!record->bound || record->image_count < 2) return;
  lb_text_add_number(text, record->image_count);
  lb_text_add(text, " copies of ");
  lb_text_add(text, record->runtime->title);
  lb_text_add(text, " are loaded in this process; this library uses ");
  lb_text_add_foreign(text, record->path ? record->path : "one of them");
  lb_text_add(text, ".");
}

void lb_record_conclude(lb_record* record, const char* advice) {
  lb_text message = {NULL, 0, 0, 0};
  lb_text warning = {NULL, 0, 0, 0};
  const lb_attempt* telling = lb_record_telling(record);
  char* made = NULL;
  if (!advice) {
    made = lb_make_advice(record, telling);
  } else if (lb_is_damaged(telling)) {
    made = lb_repair(lb_duplicate(advice));
  }
  if (made) advice = made;
  if (record->bound) {
    lb_add_bound(&message, record);
    lb_add_newer(&message, record);
  } else if (record->out_of_memory) {
    lb_text_add(&message, record->runtime->title);
    lb_text_add(&message, " cannot be looked for at the moment: out of memory. The next call tries again.");
  } else if (telling) {
    lb_add_reason(&message, record, telling);
    lb_add_next(&message, record, telling, advice);
  } else {
    lb_text_add(&message, record->runtime->title);
    lb_text_add(&message, " was not found: no place to look");
    lb_add_next(&message, record, NULL, advice);
  }
  lb_add_warning(&warning, record);
  record->message = lb_text_take(&message);
  record->warning = lb_text_take(&warning);
  lb_free(made);
  if (!record->message || !record->warning) record->out_of_memory = 1;
}
