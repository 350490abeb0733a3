/*
 * stub_record.c: on request, what was bound and the newest function that was called, for `latebind verify`.
 *
 * The environment variable LATEBIND_RECORD names a file, to which lines of JSON are added: {"report": ...} when a
 * runtime is bound, {"runtime": "onnxruntime", "function": "CreateLoraAdapter", "since": "1.20"} for each call that
 * needs a newer runtime than those before. Each line is written at once, so lines of several threads don't mix.
 */
#include "internal.h"
#include "os.h"
#include "stub_bind.h"

/* Takes `line`. One that could not be put together is left out. */
static void lb_record_line(const lb_stub* stub, lb_text* line) {
  lb_text_add(line, "}\n");
  char* whole = lb_text_take(line);
  if (whole) lb_os_append(lb_os_load(&stub->recorder), whole);
  lb_free(whole);
}

int lb_is_recording(const lb_stub* stub) {
  return lb_os_load(&stub->recorder) != NULL;
}

void lb_record_begin(lb_stub* stub, const char* report) {
  lb_text line = {0};
  char* file = lb_is_recording(stub) ? NULL : lb_os_environment("LATEBIND_RECORD");
  if (!file) return;
  if (lb_os_exchange(&stub->recorder, NULL, file)) { /* another thread was first */
    lb_free(file);
    return;
  }
  lb_text_add(&line, "{\"report\": ");
  lb_text_add(&line, report);
  lb_record_line(stub, &line);
}

/* Versions in their order. */
static uintptr_t lb_version_number(lb_version version) {
  return ((uintptr_t)version.major << 20) + ((uintptr_t)version.minor << 10) + version.patch;
}

/* 1 when no function that was recorded needs such a new version. */
static int lb_is_newest(lb_stub* stub, lb_version since) {
  uintptr_t number = lb_version_number(since);
  void* recorded = lb_os_load(&stub->recorded);
  while ((uintptr_t)recorded < number) {
    void* now = lb_os_exchange(&stub->recorded, recorded, (void*)number);
    if (now == recorded) return 1;
    recorded = now;
  }
  return 0;
}

void lb_record_call(lb_stub* stub, const char* function, lb_version since) {
  lb_text line = {0};
  if (!lb_is_newest(stub, since)) return;
  lb_text_add(&line, "{\"runtime\": \"");
  lb_text_add(&line, stub->runtime->name);
  lb_text_add(&line, "\", \"function\": \"");
  lb_text_add(&line, function);
  lb_text_add(&line, "\", \"since\": \"");
  lb_text_add_version(&line, since);
  lb_text_add(&line, "\"");
  lb_record_line(stub, &line);
}
