/* status.c: statuses and texts of the small runtime. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

void* runtime_allocate(size_t size) {
  void* memory = calloc(1, size ? size : 1);
  if (!memory) exit(70);
  return memory;
}

char* runtime_copy(const void* bytes, size_t size) {
  char* copy = runtime_allocate(size + 1);
  if (size) memcpy(copy, bytes, size);
  return copy;
}

OrtStatus* ORT_API_CALL runtime_create_status(OrtErrorCode code, const char* message) NO_EXCEPTION {
  OrtStatus* status = runtime_allocate(sizeof *status);
  status->code = code;
  snprintf(status->message, sizeof status->message, "%s", message);
  return status;
}

OrtErrorCode ORT_API_CALL runtime_get_code(const OrtStatus* status) NO_EXCEPTION {
  return status->code;
}

const char* ORT_API_CALL runtime_get_message(const OrtStatus* status) NO_EXCEPTION {
  return status->message;
}

void ORT_API_CALL runtime_release_status(OrtStatus* status) {
  free(status);
}

OrtStatus* runtime_fail(const char* format, ...) {
  OrtStatus* status = runtime_create_status(ORT_FAIL, "");
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(status->message, sizeof status->message, format, arguments);
  va_end(arguments);
  return status;
}

OrtStatus* runtime_hand_out(const char* bytes, size_t length, char* out, size_t* size) {
  size_t room = *size;
  *size = length + 1;
  if (!out) return NULL;
  if (room < length + 1) return runtime_fail("the buffer has %u bytes; %u are needed", (unsigned)room, (unsigned)*size);
  if (length) memcpy(out, bytes, length);
  out[length] = 0;
  return NULL;
}
