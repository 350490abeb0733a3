/* record.c: writes down what was tried; must not judge it in words (message.c does). */
#include <string.h>

#include "internal.h"

lb_record* lb_record_create(const lb_runtime* runtime, lb_version minimum) {
  lb_record* record = lb_allocate(sizeof *record);
  if (!record) return NULL;
  record->runtime = runtime;
  record->minimum = minimum;
  return record;
}

void lb_record_release(lb_record* record) {
  if (!record) return;
  for (size_t i = 0; i < record->attempt_count; i++) {
    lb_free((void*)(uintptr_t)record->attempts[i].path);
    lb_free((void*)(uintptr_t)record->attempts[i].version);
    lb_free((void*)(uintptr_t)record->attempts[i].detail);
  }
  lb_free(record->attempts);
  lb_free(record->path);
  lb_free(record->version);
  lb_free(record->message);
  lb_free(record->warning);
  lb_free(record);
}

static int lb_record_reserve(lb_record* record) {
  if (record->attempt_count < record->attempt_capacity) return 1;
  size_t capacity = record->attempt_capacity ? record->attempt_capacity * 2 : 8;
  lb_attempt* attempts = lb_resize(record->attempts, capacity * sizeof *attempts);
  if (!attempts) return 0;
  record->attempts = attempts;
  record->attempt_capacity = capacity;
  return 1;
}

/* A file has several names in a folder, and several steps look into it. */
static int lb_has_attempt(const lb_record* record, lb_outcome outcome, const char* path) {
  for (size_t i = 0; path && i < record->attempt_count; i++) {
    if (record->attempts[i].outcome == outcome && !strcmp(record->attempts[i].path, path)) return 1;
  }
  return 0;
}

void lb_record_add(lb_record* record, lb_source source, lb_outcome outcome, const char* path, const char* version,
                   const char* detail) {
  lb_attempt attempt;
  if (lb_has_attempt(record, outcome, path)) return;
  memset(&attempt, 0, sizeof attempt);
  attempt.size = sizeof attempt;
  attempt.source = source;
  attempt.outcome = outcome;
  attempt.path = lb_duplicate(path ? path : "");
  attempt.version = lb_duplicate(version ? version : "");
  attempt.detail = lb_duplicate(detail ? detail : "");
  if (!attempt.path || !attempt.version || !attempt.detail || !lb_record_reserve(record)) {
    record->out_of_memory = 1;
    lb_free((void*)(uintptr_t)attempt.path);
    lb_free((void*)(uintptr_t)attempt.version);
    lb_free((void*)(uintptr_t)attempt.detail);
    return;
  }
  record->attempts[record->attempt_count++] = attempt;
}

/* How much an outcome explains: a runtime that is nearly right explains more than a place that was empty. */
static int lb_telling(lb_outcome outcome) {
  switch (outcome) {
    case LB_OUTCOME_BOUND_OLDER: return 12;
    case LB_OUTCOME_TOO_OLD: return 11;
    case LB_OUTCOME_OTHER_MAJOR:
    case LB_OUTCOME_OTHER_MINOR: return 10;
    case LB_OUTCOME_INCOMPLETE: return 9;
    case LB_OUTCOME_MISSING_DEPENDENCY: return 8;
    case LB_OUTCOME_WRONG_ARCHITECTURE: return 7;
    case LB_OUTCOME_LOAD_FAILED: return 6;
    case LB_OUTCOME_NO_VERSION: return 5;
    case LB_OUTCOME_NOT_A_LIBRARY: return 4;
    case LB_OUTCOME_NO_ENTRY: return 3;
    case LB_OUTCOME_REFUSED: return 2;
    case LB_OUTCOME_NOT_FOUND: return 1;
    case LB_OUTCOME_BOUND:
    case LB_OUTCOME_INVALID_ARGUMENT: break; /* never an attempt's */
  }
  return 0;
}

const lb_attempt* lb_record_telling(const lb_record* record) {
  const lb_attempt* best = NULL;
  for (size_t i = 0; i < record->attempt_count; i++) {
    const lb_attempt* attempt = &record->attempts[i];
    if (!best || lb_telling(attempt->outcome) > lb_telling(best->outcome)) best = attempt;
  }
  return best;
}
