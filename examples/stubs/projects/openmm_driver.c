/* A stand-in for NVIDIA's driver with what OpenMM calls: it accepts all modules and kernels, and runs none. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long address;

#define ACCEPTS(name) \
  int name(void) {    \
    return 0;         \
  }
#define GIVES(name)           \
  int name(void** made) {     \
    static char one;          \
    return *made = &one, 0;   \
  }
#define COPIES(name, to, from)                \
  int name(to target, from source, size_t n) { \
    return memcpy((void*)target, (const void*)source, n), 0; \
  }
ACCEPTS(cuInit) ACCEPTS(cuCtxDestroy_v2) ACCEPTS(cuCtxEnablePeerAccess) ACCEPTS(cuCtxSetCacheConfig)
ACCEPTS(cuCtxSetCurrent) ACCEPTS(cuCtxSynchronize) ACCEPTS(cuEventDestroy_v2) ACCEPTS(cuEventRecord)
ACCEPTS(cuEventSynchronize) ACCEPTS(cuLaunchKernel) ACCEPTS(cuStreamDestroy_v2) ACCEPTS(cuStreamSynchronize)
ACCEPTS(cuStreamWaitEvent) ACCEPTS(cuProfilerStop) ACCEPTS(cuCtxPushCurrent_v2) ACCEPTS(cuMemFree_v2)
ACCEPTS(cuMemFreeHost) ACCEPTS(cuModuleUnload)
GIVES(context) GIVES(cuEventCreate) GIVES(cuStreamCreate) GIVES(cuModuleGetFunction)
COPIES(cuMemcpyHtoD_v2, address, const void*) COPIES(cuMemcpyDtoH_v2, void*, address)
COPIES(cuMemcpyHtoDAsync_v2, address, const void*) COPIES(cuMemcpyDtoHAsync_v2, void*, address)
COPIES(cuMemcpyDtoDAsync_v2, address, address)

int cuCtxCreate_v2(void** made) { return context(made); }
int cuCtxPopCurrent_v2(void** made) { return context(made); }
int cuDriverGetVersion(int* version) { return *version = 13050, 0; }
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int number) { return *device = number, 0; }
int cuDeviceGetName(char* name, int size) { return snprintf(name, (size_t)size, "none"), 0; }
int cuDeviceCanAccessPeer(int* can) { return *can = 0, 0; }
int cuFuncGetAttribute(int* value) { return *value = 256, 0; }
int cuGetErrorName(int error, const char** name) { return *name = "an error", error & 0; }
int cuMemAlloc_v2(address* made, size_t size) { return *made = (address)calloc(1, size + 1), 0; }
int cuMemHostAlloc(void** made, size_t size) { return *made = calloc(1, size + 1), 0; }
int cuMemHostGetDevicePointer_v2(address* device, void* host) { return *device = (address)host, 0; }
int cuDeviceGetAttribute(int* value, int attribute) {
  *value = attribute == 75 ? 8 : attribute == 76 ? 0 : attribute == 16 ? 4 : attribute == 10 ? 32 : 1024; /* sm_80 */
  return 0;
}

static int modules;
static size_t bytes;
int cuModuleLoad(void** made, const char* file) {
  static char ptx[1 << 24];
  FILE* compiled = fopen(file, "r"); /* OpenMM first asks for what it may have compiled before */
  if (!compiled) return 301;
  ptx[fread(ptx, 1, sizeof ptx - 1, compiled)] = 0;
  fclose(compiled);
  const char* by = strstr(ptx, "Cuda compilation tools, ");
  if (!modules++ && by) fprintf(stderr, "%.37s\n", by);
  bytes += strlen(ptx);
  return context(made);
}

__attribute__((destructor)) static void end(void) {
  fprintf(stderr, "%d modules, %zu bytes of PTX\n", modules, bytes);
}
