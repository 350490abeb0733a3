/* tables.c: what the small runtime exports. The environment variable SMALL_RUNTIME is the version that it reports; it
 * then has the interfaces of that version and of older ones, as a real runtime does. */
#include <stdio.h>
#include <stdlib.h>

#include "runtime.h"

#define TEXT(number)   #number
#define NUMBER(number) TEXT(number)

static const char* ORT_API_CALL get_version(void) NO_EXCEPTION {
  const char* version = getenv("SMALL_RUNTIME");
  return version ? version : "1." NUMBER(ORT_API_VERSION) ".0";
}

const OrtApi* runtime_api(void) {
  static OrtApi api;
  api.CreateStatus = runtime_create_status;
  api.GetErrorCode = runtime_get_code;
  api.GetErrorMessage = runtime_get_message;
  api.ReleaseStatus = runtime_release_status;
  runtime_fill_value_functions(&api);
  runtime_fill_graph_functions(&api);
  runtime_fill_option_functions(&api);
  runtime_fill_operator_functions(&api);
  runtime_fill_provider_functions(&api);
  runtime_fill_session_functions(&api);
  return &api;
}

static const OrtApi* ORT_API_CALL get_api(uint32_t version) NO_EXCEPTION {
  unsigned major = 0, minor = 0;
  if (sscanf(get_version(), "%u.%u", &major, &minor) != 2) return NULL;
  if (major == 1 && version > minor) return NULL;
  return version && version <= ORT_API_VERSION ? runtime_api() : NULL;
}

const OrtApiBase* runtime_base(void) {
  static const OrtApiBase base = {get_api, get_version};
  return &base;
}

ORT_EXPORT const OrtApiBase* ORT_API_CALL OrtGetApiBase(void) NO_EXCEPTION {
  return runtime_base();
}
