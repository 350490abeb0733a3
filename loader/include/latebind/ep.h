/* Negotiates the version of ONNX Runtime for a plugin execution provider. Header only; links nothing.
 *
 * The runtime passes OrtApiBase to CreateEpFactories(). GetApi() returns NULL for a version that the runtime does not
 * have, and a call through that NULL crashes the process. latebind_ep(<target> <package>) in CMake defines the macros
 * LATEBIND_EP_* (MINIMUM, EXCEPT, NAME, VERSION and RANGE) from the package's `ep` table and the project's version.
 */
#ifndef LATEBIND_EP_H
#define LATEBIND_EP_H

#include <stdio.h>
#include <string.h>

#include "onnxruntime_c_api.h"

/* Whether the list names the version. The entry "1.24.1" names one release, and "1.24" names all releases of 1.24. */
static inline int lb_ep_is_listed(const char* version, const char* list) {
  while (*list) {
    size_t length = strcspn(list, ",");
    if (!strncmp(version, list, length) && (version[length] == '.' || version[length] == '\0')) return 1;
    list += length + (list[length] == ',');
  }
  return 0;
}

/* Gets the interface that this library and the runtime share.
 *
 * base: the argument of CreateEpFactories(). api: gets the interface, or NULL if the runtime is refused.
 * version: gets the version of the interface; set ort_version_supported of every structure to this version.
 * Returns NULL, or a status that names the runtime's version and the supported ones. If both the result and *api are
 * NULL, the runtime has no interface with which to create a status: return NULL from CreateEpFactories(), and create
 * no factory. */
static inline OrtStatus* lb_ep_negotiate(const OrtApiBase* base, const OrtApi** api, uint32_t* version) {
  const char* runtime = base->GetVersionString ? base->GetVersionString() : NULL;
  unsigned major = 0, minor = 0;
  char message[256];
  *api = NULL;
  *version = 0;
  if (!base->GetApi) return NULL;
  if (!runtime) runtime = "of an unknown version";
  if (sscanf(runtime, "%u.%u", &major, &minor) == 2 && major == 1 && minor >= LATEBIND_EP_MINIMUM &&
      !lb_ep_is_listed(runtime, LATEBIND_EP_EXCEPT)) {
    uint32_t shared = minor < ORT_API_VERSION ? minor : ORT_API_VERSION;
    *api = base->GetApi(shared);
    if (*api) {
      *version = shared;
      return NULL;
    }
  }
  const OrtApi* first = base->GetApi(1); /* every real runtime has the first version */
  if (!first) return NULL;
  /* Keep this text in one string literal. LB805 of `latebind audit` ignores the provider's name inside a longer text,
   * so the check passes only if the factory also has that name. */
  snprintf(message, sizeof message,
           LATEBIND_EP_NAME " " LATEBIND_EP_VERSION " needs ONNX Runtime " LATEBIND_EP_RANGE "; this is %s", runtime);
  return first->CreateStatus(ORT_NOT_IMPLEMENTED, message);
}

#endif
