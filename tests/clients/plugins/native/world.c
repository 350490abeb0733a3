/* The head of a PJRT_Api (xla/pjrt/c/pjrt_c_api.h) of version 0.7, which every JAX refuses as too old. */
#include <stddef.h>

static struct {
  size_t size;
  void *extension;
  struct {
    size_t size;
    void *extension;
    int major, minor;
  } version;
  void *functions[256];
} api = {sizeof api, NULL, {sizeof api.version, NULL, 0, 7}, {NULL}};

__attribute__((visibility("default"))) void *GetPjrtApi(void) {
  return &api;
}
