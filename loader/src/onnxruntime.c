/* onnxruntime.c: ONNX Runtime's version and function table; must not call anything else in the runtime. */
#include "latebind/onnxruntime.h"

#include <stdio.h>
#include <string.h>

#include "latebind/note.h"
#include "latebind/ort_api.h"

LB_DLOPEN_NOTE(onnxruntime, LATEBIND_ONNXRUNTIME_NOTE)

typedef const lb_ort_base*(LB_ORT_CALL* lb_ort_get_base)(void);

/* ISO C has no conversion from an object pointer to a function pointer; POSIX and Windows guarantee equal bytes. */
LB_CALLS_RUNTIME static const lb_ort_base* lb_ort_base_of(void* entry) {
  lb_ort_get_base get_base = NULL;
  memcpy(&get_base, &entry, sizeof get_base);
  return get_base ? get_base() : NULL;
}

LB_CALLS_RUNTIME int lb_onnxruntime_read_version(void* entry, char* text, size_t size) {
  const lb_ort_base* base = lb_ort_base_of(entry);
  const char* version = base && base->GetVersionString ? base->GetVersionString() : NULL;
  if (!version || strlen(version) >= size) return 1;
  memcpy(text, version, strlen(version) + 1);
  return 0;
}

/* Asking for more than the runtime has makes it print to stderr: so ask for the lower, once. */
LB_CALLS_RUNTIME static int lb_ort_take(const lb_ort_base* base, lb_version runtime, lb_ort_api* api) {
  memset(api, 0, sizeof *api);
  api->runtime = runtime;
  api->version = runtime.minor < LB_ORT_API_VERSION ? runtime.minor : LB_ORT_API_VERSION;
  if (api->version < LB_ORT_API_OLDEST || !base->GetApi) return 1;
  api->table = base->GetApi(api->version);
  return api->table == NULL;
}

int lb_ort_attach(const lb_binding* binding, lb_ort_api* api) {
  const lb_ort_base* base = lb_ort_base_of(lb_entry(binding));
  return base ? lb_ort_take(base, lb_bound_version(binding), api) : 1;
}

LB_CALLS_RUNTIME int lb_ort_attach_base(const lb_ort_base* base, lb_ort_api* api) {
  lb_version version = {0};
  if (!base || !base->GetVersionString || lb_version_parse(base->GetVersionString(), &version) || version.major != 1)
    return 1;
  return lb_ort_take(base, version, api);
}

int lb_onnxruntime_check(void* entry, lb_version version, char* text, size_t size) {
  const lb_ort_base* base = lb_ort_base_of(entry);
  lb_ort_api api;
  if (!base) {
    snprintf(text, size, "OrtGetApiBase() returns NULL");
    return 1;
  }
  if (lb_ort_take(base, version, &api)) {
    snprintf(text, size, "GetApi(%u) returns NULL",
             (unsigned)(version.minor < LB_ORT_API_VERSION ? version.minor : LB_ORT_API_VERSION));
    return 1;
  }
  void* const* table = (void* const*)api.table;
#define LB_ORT_CASE(name, slot, since)                           \
  if (since <= api.version && !table[slot]) {                    \
    snprintf(text, size, "its function table has no %s", #name); \
    return 1;                                                    \
  }
  LB_ORT_FUNCTIONS(LB_ORT_CASE)
#undef LB_ORT_CASE
  return 0;
}

uint32_t lb_ort_since(lb_ort_function function) {
#define LB_ORT_CASE(name, slot, since) \
  case LB_ORT_##name: return since;
  switch (function) { LB_ORT_FUNCTIONS(LB_ORT_CASE) }
#undef LB_ORT_CASE
  return 0;
}

static const char* lb_ort_name(lb_ort_function function) {
#define LB_ORT_CASE(name, slot, since) \
  case LB_ORT_##name: return #name;
  switch (function) { LB_ORT_FUNCTIONS(LB_ORT_CASE) }
#undef LB_ORT_CASE
  return "this function";
}

int lb_ort_available(const lb_ort_api* api, lb_ort_function function) {
  uint32_t since = lb_ort_since(function);
  return since != 0 && since <= api->version;
}

const char* lb_ort_explain(const lb_ort_api* api, lb_ort_function function, char* text, size_t size) {
  snprintf(text, size, "%s needs ONNX Runtime 1.%u; this is %u.%u.%u", lb_ort_name(function),
           (unsigned)lb_ort_since(function), (unsigned)api->runtime.major, (unsigned)api->runtime.minor,
           (unsigned)api->runtime.patch);
  return text;
}

OrtStatus* lb_ort_missing(const lb_ort_api* api, lb_ort_function function) {
  char text[160];
  return lb_ort_CreateStatus(api, ORT_NOT_IMPLEMENTED, lb_ort_explain(api, function, text, sizeof text));
}
