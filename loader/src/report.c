/* report.c: gives a caller what was recorded, as struct and as lines of text; must not add judgement of its own. */
#include <string.h>

#include "internal.h"
#include "places.h"

/* What hangs on report->storage. */
typedef struct lb_storage {
  lb_record* record;
  int owned;
  char* text;
  char* json;
} lb_storage;

static const char LB_OUT_OF_MEMORY[] = "Out of memory while looking for the runtime.";

static const char* lb_or_empty(const char* text) {
  return text ? text : "";
}

const char* lb_source_name(lb_source source) {
#define LB_NAME(step, source, name, rule) \
  case LB_SOURCE_##source: return name;
  switch (source) { LB_PLACES(LB_NAME) }
  return "unknown";
}

const char* lb_outcome_name(lb_outcome outcome) {
  switch (outcome) {
    case LB_OUTCOME_BOUND: return "bound";
    case LB_OUTCOME_NOT_FOUND: return "not-found";
    case LB_OUTCOME_NOT_A_LIBRARY: return "not-a-library";
    case LB_OUTCOME_WRONG_ARCHITECTURE: return "wrong-architecture";
    case LB_OUTCOME_MISSING_DEPENDENCY: return "missing-dependency";
    case LB_OUTCOME_NO_ENTRY: return "no-entry";
    case LB_OUTCOME_TOO_OLD: return "too-old";
    case LB_OUTCOME_OTHER_MAJOR: return "other-major";
    case LB_OUTCOME_OTHER_MINOR: return "other-minor";
    case LB_OUTCOME_NO_VERSION: return "no-version";
    case LB_OUTCOME_REFUSED: return "refused";
    case LB_OUTCOME_LOAD_FAILED: return "load-failed";
    case LB_OUTCOME_INVALID_ARGUMENT: return "invalid-argument";
    case LB_OUTCOME_BOUND_OLDER: return "bound-older";
    case LB_OUTCOME_INCOMPLETE: return "incomplete";
    case LB_OUTCOME_TRY_AGAIN: return "try-again";
  }
  return "unknown";
}

int lb_report_is_usable(const lb_report* report) {
  return report && report->size >= LB_REPORT_SIZE_1;
}

/* Also for a struct whose size is not set: it is a report by its type, and none was ever shorter than the first. */
void lb_report_fill_message(lb_report* report, const lb_runtime* runtime, const char* message) {
  uint32_t size = report->size;
  memset(report, 0, LB_REPORT_SIZE_1);
  report->size = size;
  report->runtime = runtime ? lb_or_empty(runtime->name) : "";
  report->path = report->version = report->warning = "";
  report->message = message;
}

void lb_report_fill_out_of_memory(lb_report* report, const lb_runtime* runtime) {
  lb_report_fill_message(report, runtime, LB_OUT_OF_MEMORY);
}

void lb_report_fill(lb_report* report, lb_record* record, int owned) {
  lb_storage* storage = lb_allocate(sizeof *storage);
  report->bound = record->bound;
  report->minimum = record->minimum;
  report->built = record->runtime->built;
  report->image_count = record->image_count;
  if (!storage) {
    lb_report_fill_out_of_memory(report, record->runtime);
    if (owned) lb_record_release(record);
    return;
  }
  storage->record = record;
  storage->owned = owned;
  report->storage = storage;
  report->runtime = record->runtime->name;
  report->path = lb_or_empty(record->path);
  report->version = lb_or_empty(record->version);
  report->attempts = record->attempts;
  report->attempt_count = record->attempt_count;
  report->message = record->message ? record->message : LB_OUT_OF_MEMORY;
  report->warning = lb_or_empty(record->warning);
}

static void lb_add_attempt(lb_text* text, size_t number, const lb_attempt* attempt) {
  lb_text_add(text, "  ");
  lb_text_add_number(text, number);
  lb_text_add(text, ". ");
  lb_text_add(text, lb_source_name(attempt->source));
  lb_text_add(text, ": ");
  lb_text_add_foreign(text, attempt->path);
  lb_text_add(text, ": ");
  lb_text_add(text, lb_outcome_name(attempt->outcome));
  if (*attempt->version) {
    lb_text_add(text, " (version ");
    lb_text_add_foreign(text, attempt->version);
    lb_text_add(text, ")");
  }
  if (*attempt->detail) {
    lb_text_add(text, ": ");
    lb_text_add_foreign(text, attempt->detail);
  }
  lb_text_add(text, "\n");
}

static char* lb_record_text(const lb_record* record) {
  lb_text text = {NULL, 0, 0, 0};
  lb_text_add(&text, record->message ? record->message : LB_OUT_OF_MEMORY);
  lb_text_add(&text, "\n");
  if (record->warning && *record->warning) {
    lb_text_add(&text, "Warning: ");
    lb_text_add(&text, record->warning);
    lb_text_add(&text, "\n");
  }
  if (record->attempt_count) lb_text_add(&text, "Tried, in this order:\n");
  for (size_t i = 0; i < record->attempt_count; i++) lb_add_attempt(&text, i + 1, &record->attempts[i]);
  if (record->out_of_memory) lb_text_add(&text, "  (memory ran out: this list is short)\n");
  return lb_text_take(&text);
}

const char* lb_report_text(lb_report* report) {
  if (!report) return "";
  if (!lb_report_is_usable(report)) return LB_REPORT_WITHOUT_SIZE;
  lb_storage* storage = report->storage;
  if (storage && !storage->text) storage->text = lb_record_text(storage->record);
  return storage && storage->text ? storage->text : lb_or_empty(report->message);
}

const char* lb_report_message(const lb_report* report) {
  return report ? lb_or_empty(report->message) : "";
}

const lb_attempt* lb_report_attempt(const lb_report* report, size_t index) {
  return lb_report_is_usable(report) && index < report->attempt_count ? &report->attempts[index] : NULL;
}

const char* lb_report_json(lb_report* report) {
  if (!lb_report_is_usable(report) || !report->storage) return "{}";
  lb_storage* storage = report->storage;
  if (!storage->json) storage->json = lb_record_json(storage->record);
  return storage->json ? storage->json : "{}";
}

void lb_report_clear(lb_report* report) {
  if (!lb_report_is_usable(report)) return;
  lb_storage* storage = report->storage;
  if (storage) {
    if (storage->owned) lb_record_release(storage->record);
    lb_free(storage->text);
    lb_free(storage->json);
    lb_free(storage);
  }
  uint32_t size = report->size;
  memset(report, 0, sizeof *report);
  report->size = size;
}
