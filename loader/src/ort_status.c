/*
 * ort_status.c: statuses for a program whose runtime is missing, and the functions that read them; a status of the
 * runtime goes on to the runtime.
 */
#include <string.h>

#include "internal.h"
#include "ort_stub.h"
#include "ort_tables.h"

/* No status of the runtime begins with the address of our own tag. */
typedef struct lb_status {
  const void* tag;
  OrtErrorCode code;
  char text[1];
} lb_status;

static char lb_status_tag;
static lb_status lb_no_memory = {&lb_status_tag, ORT_FAIL, ""};

OrtStatus* lb_own_status(OrtErrorCode code, const char* text) {
  size_t length = strlen(text);
  lb_status* status = lb_allocate(sizeof *status + length);
  if (!status) return (OrtStatus*)&lb_no_memory;
  status->tag = &lb_status_tag;
  status->code = code;
  memcpy(status->text, text, length + 1);
  return (OrtStatus*)status;
}

static const lb_status* lb_own(const OrtStatus* status) {
  const lb_status* own = (const lb_status*)status;
  return own && own->tag == &lb_status_tag ? own : NULL;
}

typedef OrtErrorCode(LB_ORT_CALL* lb_get_code)(const OrtStatus*);
typedef const char*(LB_ORT_CALL* lb_get_message)(const OrtStatus*);
typedef void(LB_ORT_CALL* lb_release)(OrtStatus*);

LB_CALLS_RUNTIME OrtErrorCode LB_ORT_CALL lb_status_code(const OrtStatus* status) {
  const lb_status* own = lb_own(status);
  lb_get_code theirs = (lb_get_code)lb_stub_function(LB_SLOT_GetErrorCode);
  if (own) return own->code;
  return status && theirs ? theirs(status) : ORT_OK;
}

LB_CALLS_RUNTIME const char* LB_ORT_CALL lb_status_message(const OrtStatus* status) {
  const lb_status* own = lb_own(status);
  lb_get_message theirs = (lb_get_message)lb_stub_function(LB_SLOT_GetErrorMessage);
  if (own) return own->text;
  return status && theirs ? theirs(status) : "";
}

LB_CALLS_RUNTIME void LB_ORT_CALL lb_status_release(OrtStatus* status) {
  lb_release theirs = (lb_release)lb_stub_function(LB_SLOT_ReleaseStatus);
  if (!lb_own(status)) {
    if (status && theirs) theirs(status);
  } else if ((void*)status != (void*)&lb_no_memory) {
    lb_free(status);
  }
}

OrtStatus* LB_ORT_CALL lb_status_create(OrtErrorCode code, const char* text) {
  return lb_own_status(code, text ? text : "");
}
