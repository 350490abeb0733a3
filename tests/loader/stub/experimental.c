/* experimental: prints what an experimental function of ONNX Runtime gives, or "none" where the runtime lacks it. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "latebind/ort_api.h"
#include "ort_slots.h"

typedef struct base {
  void* const* (*get_api)(uint32_t version);
  const char* (*get_version)(void);
} base;

const base* OrtGetApiBase(void);

#define ROW(name, kind, since) SLOT_##name,
enum { LB_ORT_API(ROW) };

int main(void) {
  void* const* api = OrtGetApiBase()->get_api(LB_ORT_API_VERSION);
  void* (*look_up)(const char*);
  memcpy(&look_up, &api[SLOT_GetExperimentalFunction], sizeof look_up);
  void* found = look_up("OrtApi_ExperimentalApiTest_SinceV28");
  if (!found) return puts("none") < 0;
  void* (*call)(int64_t*);
  memcpy(&call, &found, sizeof call);
  int64_t number = 0;
  return call(&number) || printf("%" PRId64 "\n", number) < 0;
}
