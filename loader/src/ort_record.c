/*
 * ort_record.c: on request, what was bound and the newest function that was called, for `latebind verify`.
 *
 * The environment variable LATEBIND_RECORD names a file, to which lines of JSON are added: {"report": ...} when a
 * runtime is bound, {"function": "CreateLoraAdapter", "since": "1.20"} for each call that needs a newer runtime than
 * those before.
 */
#include <stdio.h>

#include "ort_stub.h"
#include "os.h"

static char* lb_record_file; /* guarded by the lock of binding, as is all that is here */
static unsigned lb_record_highest;

static void lb_record_line(const char* format, const char* text, unsigned number) {
  FILE* file = fopen(lb_record_file, "ab");
  if (!file) return;
  fprintf(file, format, text, number);
  fclose(file);
}

int lb_record_begin(const char* report) {
  lb_record_file = lb_os_environment("LATEBIND_RECORD");
  if (lb_record_file) lb_record_line("{\"report\": %s}\n", report, 0);
  return lb_record_file != NULL;
}

void lb_record_call(const lb_slot* slot) {
  if (slot->since <= lb_record_highest) return;
  lb_record_highest = slot->since;
  lb_record_line("{\"function\": \"%s\", \"since\": \"1.%u\"}\n", slot->name, lb_record_highest);
}
