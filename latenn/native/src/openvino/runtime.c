/* runtime.c: binds OpenVINO and puts its statuses into words; must not know about models. */
#include <stdlib.h>
#include <string.h>

#include "latebind/openvino.h"
#include "openvino.h"

static lb_binding openvino_binding = LB_BINDING_INIT;

static const backend_symbol openvino_symbols[] = {
#define OPENVINO_SYMBOL(result, name, parameters) {"ov_" #name, offsetof(openvino_api, name)},
    OPENVINO_FUNCTIONS(OPENVINO_SYMBOL)
#undef OPENVINO_SYMBOL
};

latenn_status* openvino_take(const latenn_host* host, const openvino_api* api, ov_status_e failed, latenn_code code,
                             const char* doing) {
  if (!failed) return NULL;
  if (failed == OV_NOT_ALLOCATED) return backend_no_memory(host);
  if (failed == OV_NOT_IMPLEMENTED || failed == OV_NOT_IMPLEMENT_C_METHOD) code = LATENN_UNSUPPORTED;
  const char* said = api->get_last_err_msg(); /* a copy */
  const char* word = api->get_error_info(failed);
  size_t length = said ? strlen(said) : 0;
  while (length && (said[length - 1] == '\n' || said[length - 1] == ' ')) length--;
  lb_version version = lb_bound_version(&openvino_binding);
  latenn_status* status = backend_fail(host, code, "OpenVINO %u.%u.%u %s: %.*s", (unsigned)version.major,
                                       (unsigned)version.minor, (unsigned)version.patch, doing,
                                       length ? (int)(length < 2000 ? length : 2000) : 100, length ? said : word);
  if (said) api->free(said);
  return status;
}

latenn_status* openvino_open(const latenn_host* host, const latenn_load_options* options, openvino_api* api,
                             char** report) {
  latenn_status* status = backend_bind(host, &openvino_binding, &lb_openvino, options, report);
  if (status) return status;
  return backend_resolve(host, &openvino_binding, &lb_openvino, openvino_symbols,
                         sizeof openvino_symbols / sizeof *openvino_symbols, api);
}

const char* const backend_encodings[] = {"openvino-ir", "onnx", "tflite", NULL};

latenn_status* backend_report(const latenn_host* host, const latenn_load_options* options, char** text) {
  openvino_api api;
  return openvino_open(host, options, &api, text);
}
