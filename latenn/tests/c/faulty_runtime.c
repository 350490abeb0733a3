/*
 * faulty_runtime.c: the real runtime, FAULTY_RUNTIME, behind a function table in which one call fails (synthetic):
 * that which the test program asks for. What only releases or reads a status never fails.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include "latebind/ort_api.h"
#include "port.h"

typedef struct base {
  const void* (*GetApi)(uint32_t);
  const char* (*GetVersionString)(void);
} base;

int faulty_call(void); /* the test program's: whether this call is the one */
PORT_EXPORT const base* OrtGetApiBase(void);

/* Addresses and whole numbers alone, eight at most: all are passed alike. */
typedef intptr_t word;
typedef OrtStatus* (*any_call)(word, word, word, word, word, word, word, word);

static const base* real;
static lb_ort_table table;

/* clang-format off */
#define EACH(X)                                                                                       \
  X(SetSessionLogSeverityLevel)                                                                       \
  X(CreateEnv) X(CreateSession) X(CreateSessionFromArray) X(Run) X(CreateSessionOptions)              \
  X(SetIntraOpNumThreads) X(SessionGetInputCount) X(SessionGetOutputCount)                            \
  X(SessionGetInputTypeInfo) X(SessionGetOutputTypeInfo) X(SessionGetInputName)                       \
  X(SessionGetOutputName) X(CreateTensorAsOrtValue) X(CreateTensorWithDataAsOrtValue)                 \
  X(GetTensorMutableData) X(CastTypeInfoToTensorInfo) X(GetOnnxTypeFromTypeInfo)                      \
  X(GetTensorElementType) X(GetDimensionsCount) X(GetDimensions) X(GetSymbolicDimensions)             \
  X(GetTensorTypeAndShape) X(GetValueType) X(CreateMemoryInfo) X(CreateCpuMemoryInfo)                 \
  X(MemoryInfoGetName) X(MemoryInfoGetId) X(GetAllocatorWithDefaultOptions) X(AddSessionConfigEntry)  \
  X(RunWithBinding) X(CreateIoBinding) X(BindInput) X(BindOutput) X(BindOutputToDevice)               \
  X(GetBoundOutputValues) X(GetTensorMemoryInfo) X(SynchronizeBoundOutputs) X(CreateRunOptions)       \
  X(RunOptionsSetRunTag) X(SessionGetModelMetadata) X(ModelMetadataGetProducerName)                   \
  X(ModelMetadataGetVersion) X(ModelMetadataGetCustomMetadataMapKeys)
/* clang-format on */

#define DEFINE(name)                                                                                \
  static any_call real_##name;                                                                      \
  static OrtStatus* faulty_##name(word a, word b, word c, word d, word e, word f, word g, word h) { \
    if (faulty_call()) return table.CreateStatus(ORT_FAIL, "made to fail: " #name);                 \
    return real_##name(a, b, c, d, e, f, g, h);                                                     \
  }
EACH(DEFINE)

static const void* get_api(uint32_t version) {
  const lb_ort_table* theirs = real->GetApi(version);
  if (!theirs) return NULL;
  table = *theirs;
#define PUT(name)                            \
  real_##name = (any_call)(void*)table.name; \
  *(void**)(void*)&table.name = (void*)faulty_##name;
  EACH(PUT)
  return &table;
}

static const char* get_version(void) {
  return real->GetVersionString();
}

const base* OrtGetApiBase(void) {
  static const base ours = {get_api, get_version};
  void* library = dlopen(getenv("FAULTY_RUNTIME"), RTLD_NOW | RTLD_LOCAL);
  const base* (*entry)(void) = library ? (const base* (*)(void))dlsym(library, "OrtGetApiBase") : NULL;
  real = entry ? entry() : NULL;
  return real ? &ours : NULL;
}
