/* devices.c: devices by latenn's names and numbers, and by the runtime's; must not compute. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ort.h"

typedef struct ort_place {
  int32_t type;
  const char* name; /* the runtime's */
  OrtMemType memory;
} ort_place;

static const ort_place ort_places[] = {
    {LATENN_CPU, "Cpu", OrtMemTypeDefault},
    {LATENN_CUDA, "Cuda", OrtMemTypeDefault},
    {LATENN_CUDA_HOST, "CudaPinned", OrtMemTypeCPUOutput},
};

enum { ORT_PLACES = sizeof ort_places / sizeof *ort_places };

latenn_status* ort_read_device(const latenn_host* host, const char* text, latenn_device* device) {
  const latenn_device cpu = {LATENN_CPU, 0};
  *device = cpu;
  if (!text || !*text || strcmp(text, "cpu") == 0) return NULL;
  device->type = LATENN_CUDA;
  if (strcmp(text, "cuda") == 0) return NULL;
  size_t digits = strncmp(text, "cuda:", 5) == 0 ? strspn(text + 5, "0123456789") : 0;
  if (digits > 0 && digits < 5 && !text[5 + digits]) {
    device->id = (int32_t)strtol(text + 5, NULL, 10);
    return NULL;
  }
  return backend_fail(
      host, LATENN_UNSUPPORTED,
      "The device \"%.100s\" is not supported; this backend computes on \"cpu\", \"cuda\" or \"cuda:N\".", text);
}

latenn_status* ort_make_memory(const latenn_backend_model* model, latenn_device device, OrtMemoryInfo** memory) {
  for (size_t i = 0; i < ORT_PLACES; i++) {
    const ort_place* place = &ort_places[i];
    if (place->type != device.type) continue;
    OrtStatus* failed = lb_ort_CreateMemoryInfo(&model->runtime->api, place->name, OrtDeviceAllocator, (int)device.id,
                                                place->memory, memory);
    return failed ? ort_refused(model, failed) : NULL;
  }
  return backend_fail(model->described.host, LATENN_UNSUPPORTED,
                      "The device type %d is not supported; this backend knows 1 (cpu), 2 (cuda) and 3 (cuda-host).",
                      (int)device.type);
}

latenn_status* ort_locate(const latenn_backend_model* model, const OrtValue* value, latenn_device* device) {
  const lb_ort_api* api = &model->runtime->api;
  const OrtMemoryInfo* memory = NULL; /* the value's own */
  const char* name = "";
  int id = 0;
  OrtStatus* failed = lb_ort_GetTensorMemoryInfo(api, value, &memory);
  if (!failed) failed = lb_ort_MemoryInfoGetName(api, memory, &name);
  if (!failed) failed = lb_ort_MemoryInfoGetId(api, memory, &id);
  if (failed) return ort_refused(model, failed);
  for (size_t i = 0; i < ORT_PLACES; i++) {
    if (strcmp(ort_places[i].name, name) != 0) continue;
    device->type = ort_places[i].type;
    device->id = id;
    return NULL;
  }
  return backend_fail(model->described.host, LATENN_UNSUPPORTED,
                      "A tensor is in memory that the runtime calls \"%.100s\", which "
                      "latenn does not know.",
                      name);
}
