/* status.c: statuses of latenn for ONNX Runtime, and the other way round; must keep every word. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "customop.h"

static OrtErrorCode customop_code(latenn_code code) {
  switch (code) {
    case LATENN_INVALID_ARGUMENT: return ORT_INVALID_ARGUMENT;
    case LATENN_MODEL_INVALID: return ORT_INVALID_GRAPH;
    case LATENN_UNSUPPORTED: return ORT_NOT_IMPLEMENTED;
    case LATENN_COMPUTE_FAILED: return ORT_RUNTIME_EXCEPTION;
    case LATENN_IO: return ORT_NO_SUCHFILE;
    default: return ORT_FAIL;
  }
}

OrtStatus* customop_give(const lb_ort_api* api, const char* node, latenn_status* status) {
  if (!status) return NULL;
  static const char format[] = "latenn's node \"%s\": %s";
  const char* message = latenn_status_message(status);
  int length = snprintf(NULL, 0, format, node, message);
  char* text = length < 0 ? NULL : malloc((size_t)length + 1);
  if (text) snprintf(text, (size_t)length + 1, format, node, message);
  OrtStatus* given = lb_ort_CreateStatus(api, customop_code(latenn_status_code(status)), text ? text : message);
  free(text);
  latenn_status_release(status);
  return given;
}

latenn_status* customop_take(const lb_ort_api* api, OrtStatus* failed) {
  if (!failed) return NULL;
  latenn_status* status = latenn_failure(LATENN_INVALID_ARGUMENT, "ONNX Runtime does not give what the node has: %s",
                                         lb_ort_GetErrorMessage(api, failed));
  lb_ort_ReleaseStatus(api, failed);
  return status;
}
