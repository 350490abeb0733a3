/* record.c: writes down what was tried; must not judge it in words (message.c does). */
#include <string.h>

#include "internal.h"
#include "os.h"

/* Attempts whose keys have the same remainder. */
typedef struct lb_chain {
  uint64_t key;
  size_t next; /* the one before, counted from 1; 0: none */
} lb_chain;

enum { LB_CHAINS = sizeof((lb_record*)0)->first / sizeof(size_t) };

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
  lb_free(record->chains);
  lb_free(record->unknown);
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
  if (attempts) record->attempts = attempts;
  lb_chain* chains = attempts ? lb_resize(record->chains, capacity * sizeof *chains) : NULL;
  if (!chains) return 0;
  record->chains = chains;
  record->attempt_capacity = capacity;
  return 1;
}

static int lb_has_attempt(const lb_record* record, uint64_t key) {
  for (size_t at = record->first[key % LB_CHAINS]; at; at = record->chains[at - 1].next) {
    if (record->chains[at - 1].key == key) return 1;
  }
  return 0;
}

static void lb_add_once(lb_record* record, uint64_t key, lb_source source, lb_outcome outcome, const char* path,
                        const char* version, const char* detail) {
  lb_attempt attempt;
  if (lb_has_attempt(record, key)) return;
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
  record->chains[record->attempt_count] = (lb_chain){key, record->first[key % LB_CHAINS]};
  record->attempts[record->attempt_count++] = attempt;
  record->first[key % LB_CHAINS] = record->attempt_count;
}

void lb_record_add(lb_record* record, lb_source source, lb_outcome outcome, const char* path, const char* version,
                   const char* detail) {
  lb_add_once(record, lb_hash((uint64_t)outcome, path), source, outcome, path, version, detail);
}

void lb_record_place(lb_record* record, lb_source source, int place, const char* path, const char* why) {
  lb_outcome outcome = lb_outcome_of((lb_place)place);
  uint64_t key = place == LB_PLACE_UNTRUSTED ? lb_hash(UINT64_MAX, why) : lb_hash((uint64_t)outcome, path);
  int is_other = place == LB_PLACE_FOLDER || place == LB_PLACE_OTHER;
  lb_add_once(record, key, source, outcome, path, NULL, is_other ? "not a regular file" : why);
}

/* How much an outcome explains: a runtime that is nearly right explains more than a place that was empty. */
static int lb_telling(lb_outcome outcome) {
  switch (outcome) {
    case LB_OUTCOME_TRY_AGAIN: return 13;
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
