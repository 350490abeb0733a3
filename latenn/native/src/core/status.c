/* status.c: what went wrong, as an object that the caller owns; must never fail itself. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

struct latenn_status {
  latenn_code code;
  const char* message;
  const char* report;
};

/* Given when there is no memory for a status; it is never freed. */
static latenn_status latenn_none_left = {LATENN_OUT_OF_MEMORY, "Out of memory.", ""};

/* One block: the status, then its message, then its report. */
latenn_status* latenn_status_create(latenn_code code, const char* message, const char* report) {
  size_t message_size = strlen(message ? message : "") + 1;
  size_t report_size = strlen(report ? report : "") + 1;
  latenn_status* status = malloc(sizeof *status + message_size + report_size);
  if (!status) return &latenn_none_left;
  char* text = (char*)(status + 1);
  memcpy(text, message ? message : "", message_size);
  memcpy(text + message_size, report ? report : "", report_size);
  status->code = code;
  status->message = text;
  status->report = text + message_size;
  return status;
}

latenn_status* latenn_failure(latenn_code code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char* message = length < 0 ? NULL : malloc((size_t)length + 1);
  if (!message) return &latenn_none_left;
  va_start(arguments, format);
  vsnprintf(message, (size_t)length + 1, format, arguments);
  va_end(arguments);
  latenn_status* status = latenn_status_create(code, message, NULL);
  free(message);
  return status;
}

latenn_status* latenn_no_memory(void) {
  return &latenn_none_left;
}

const latenn_host* latenn_host_table(void) {
  static const latenn_host host = {sizeof(latenn_host), LATENN_BACKEND_ABI, LATENN_VERSION_TEXT, latenn_status_create};
  return &host;
}

latenn_code latenn_status_code(const latenn_status* status) {
  return status ? status->code : LATENN_OK;
}

const char* latenn_status_message(const latenn_status* status) {
  return status ? status->message : "";
}

const char* latenn_status_report(const latenn_status* status) {
  return status ? status->report : "";
}

void latenn_status_release(latenn_status* status) {
  if (status != &latenn_none_left) free(status);
}

uint32_t latenn_abi(void) {
  return LATENN_ABI;
}

const char* latenn_version(void) {
  return LATENN_VERSION_TEXT;
}

void latenn_text_release(char* text) {
  free(text);
}
