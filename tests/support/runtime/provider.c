/* provider.c: the environment, and the one library of an execution provider that is registered with it. */
#include <stdlib.h>
#include <string.h>

#include "../native/port.h"
#include "runtime.h"

enum { MOST_DEVICES = 8, HARDWARE = 2 };

/* There is one environment, as in every process. */
struct OrtEnv {
  void* library;
  char* name;
  ReleaseEpApiFactoryFn release_factory;
  OrtEpFactory* factory;
  OrtEpDevice* devices[MOST_DEVICES];
  size_t device_count;
};

static const OrtHardwareDevice processor = {OrtHardwareDeviceType_CPU};
static const OrtHardwareDevice accelerator = {OrtHardwareDeviceType_NPU};

#if defined(_WIN32)
static void* open_library(const ORTCHAR_T* path) {
  return (void*)LoadLibraryExW(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
}

static void* find_function(void* library, const char* name) {
  return (void*)(size_t)GetProcAddress((HMODULE)library, name);
}

static void close_library(void* library) {
  FreeLibrary((HMODULE)library);
}
#else
static void* open_library(const ORTCHAR_T* path) {
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void* find_function(void* library, const char* name) {
  return dlsym(library, name);
}

static void close_library(void* library) {
  dlclose(library);
}
#endif

static OrtStatus* ORT_API_CALL create_environment(OrtLoggingLevel level, const char* name, OrtEnv** out) NO_EXCEPTION {
  (void)level, (void)name;
  *out = runtime_allocate(sizeof **out);
  return NULL;
}

static OrtStatus* find_devices(OrtEnv* environment) {
  const OrtHardwareDevice* const hardware[HARDWARE] = {&accelerator, &processor};
  OrtEpFactory* factory = environment->factory;
  TRY(factory->GetSupportedDevices(factory, hardware, HARDWARE, environment->devices, MOST_DEVICES,
                                   &environment->device_count));
  for (size_t i = 0; i < environment->device_count; i++) {
    if (environment->devices[i]->factory != factory) return runtime_fail("a device is of another factory");
  }
  return NULL;
}

static OrtStatus* ORT_API_CALL unregister_library(OrtEnv* environment, const char* name) NO_EXCEPTION {
  if (!environment->name || strcmp(environment->name, name) != 0) return runtime_fail("%s is not registered", name);
  for (size_t i = 0; i < environment->device_count; i++) free(environment->devices[i]);
  OrtStatus* failed = environment->factory ? environment->release_factory(environment->factory) : NULL;
  close_library(environment->library);
  free(environment->name);
  memset(environment, 0, sizeof *environment);
  return failed;
}

static OrtStatus* make_factory(OrtEnv* environment, const char* name) {
  CreateEpApiFactoriesFn create = NULL;
  void* address = find_function(environment->library, "CreateEpFactories");
  size_t count = 0;
  if (address) memcpy(&create, &address, sizeof create);
  address = find_function(environment->library, "ReleaseEpFactory");
  if (address) memcpy(&environment->release_factory, &address, sizeof address);
  if (!create || !environment->release_factory) return runtime_fail("the library of %s lacks its functions", name);
  OrtStatus* failed = create(name, runtime_base(), NULL, &environment->factory, 1, &count);
  if (!failed && count != 1) failed = runtime_fail("the library of %s has %u factories", name, (unsigned)count);
  if (failed) environment->factory = NULL;
  return failed ? failed : find_devices(environment);
}

static OrtStatus* ORT_API_CALL register_library(OrtEnv* environment, const char* name,
                                                const ORTCHAR_T* path) NO_EXCEPTION {
  if (environment->library) return runtime_fail("a library is registered already: %s", environment->name);
  environment->library = open_library(path);
  if (!environment->library) return runtime_fail("the library of %s cannot be opened", name);
  environment->name = runtime_copy(name, strlen(name));
  OrtStatus* failed = make_factory(environment, name);
  if (failed) runtime_release_status(unregister_library(environment, name));
  return failed;
}

/* A library that is still registered when its environment goes is a fault of the host. */
static void ORT_API_CALL release_environment(OrtEnv* environment) {
  if (environment && environment->library) abort();
  free(environment);
}

static OrtStatus* ORT_API_CALL list_devices(const OrtEnv* environment, const OrtEpDevice* const** out,
                                            size_t* count) NO_EXCEPTION {
  *out = (const OrtEpDevice* const*)environment->devices;
  *count = environment->device_count;
  return NULL;
}

static const char* ORT_API_CALL name_device(const OrtEpDevice* device) {
  return device->factory->GetName(device->factory);
}

static OrtHardwareDeviceType ORT_API_CALL get_hardware_type(const OrtHardwareDevice* device) {
  return device->type;
}

static OrtStatus* ORT_API_CALL create_device(OrtEpFactory* factory, const OrtHardwareDevice* hardware,
                                             const OrtKeyValuePairs* metadata, const OrtKeyValuePairs* options,
                                             OrtEpDevice** out) NO_EXCEPTION {
  (void)metadata, (void)options;
  *out = runtime_allocate(sizeof **out);
  **out = (OrtEpDevice){factory, hardware};
  return NULL;
}

static OrtStatus* ORT_API_CALL add_nodes(OrtEpGraphSupportInfo* support, const OrtNode* const* nodes, size_t count,
                                         const OrtNodeFusionOptions* options) NO_EXCEPTION {
  (void)options;
  if (count != 1)
    return runtime_fail("%u nodes would be one; single nodes are all that is fused here", (unsigned)count);
  if (support->count == MOST_NODES) return runtime_fail("there is no room for a node");
  support->nodes[support->count++] = nodes[0];
  return NULL;
}

const OrtEpApi* ORT_API_CALL runtime_ep_api(void) {
  static OrtEpApi api;
  api.CreateEpDevice = create_device;
  api.EpGraphSupportInfo_AddNodesToFuse = add_nodes;
  return &api;
}

void runtime_fill_provider_functions(OrtApi* api) {
  api->CreateEnv = create_environment;
  api->ReleaseEnv = release_environment;
  api->RegisterExecutionProviderLibrary = register_library;
  api->UnregisterExecutionProviderLibrary = unregister_library;
  api->GetEpDevices = list_devices;
  api->EpDevice_EpName = name_device;
  api->HardwareDevice_Type = get_hardware_type;
  api->GetEpApi = runtime_ep_api;
}
