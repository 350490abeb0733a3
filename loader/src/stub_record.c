/*
 * stub_record.c: on request, what was bound and the newest function that was called, for `latebind verify`.
 *
 * The environment variable LATEBIND_RECORD names a file, to which lines of JSON are added: {"report": ...} when a
 * runtime is bound, {"runtime": "onnxruntime", "function": "CreateLoraAdapter", "since": "1.20"} for each call that
 * needs a newer runtime than those before.
 */
#include <stdio.h>

#include "internal.h"
#include "os.h"
#include "stub_bind.h"

static char* lb_record_file; /* guarded by the lock of binding, as is all that is here */

/* Takes `line`. One that could not be put together is left out. */
static void lb_record_line(lb_text* line) {
  char* whole = lb_text_take(line);
  FILE* file = whole ? fopen(lb_record_file, "ab") : NULL;
  if (file) {
    fprintf(file, "%s}\n", whole);
    fclose(file);
  }
  lb_free(whole);
}

int lb_record_begin(const char* report) {
  lb_text line = {0};
  if (!lb_record_file) lb_record_file = lb_os_environment("LATEBIND_RECORD");
  if (!lb_record_file) return 0;
  lb_text_add(&line, "{\"report\": ");
  lb_text_add(&line, report);
  lb_record_line(&line);
  return 1;
}

void lb_record_call(lb_stub* stub, const char* function, lb_version since) {
  lb_text line = {0};
  if (lb_version_compare(since, stub->recorded) <= 0) return;
  stub->recorded = since;
  lb_text_add(&line, "{\"runtime\": \"");
  lb_text_add(&line, stub->runtime->name);
  lb_text_add(&line, "\", \"function\": \"");
  lb_text_add(&line, function);
  lb_text_add(&line, "\", \"since\": \"");
  lb_text_add_version(&line, since);
  lb_text_add(&line, "\"");
  lb_record_line(&line);
}
