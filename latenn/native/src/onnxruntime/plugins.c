/* plugins.c: libraries of execution providers, registered once in the process; must not choose among providers. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../common/paths.h"
#include "ort.h"

/* A library that is registered. Kept for ever, as the runtime is. */
typedef struct ort_plugin {
  struct ort_plugin* next;
  char* path;
  char name[];
} ort_plugin;

static _Atomic(ort_plugin*) ort_plugins; /* only ever grows; read and written atomically */

ORTCHAR_T* ort_make_path(const char* path) {
#if defined(_WIN32)
  return latenn_wide_path(path);
#else
  return backend_copy_text(path);
#endif
}

OrtStatus* ort_with_path(const lb_ort_api* api, const char* path, OrtSessionOptions* session,
                         OrtStatus* (*use)(const lb_ort_api* api, OrtSessionOptions* session, const ORTCHAR_T* path)) {
  ORTCHAR_T* made = ort_make_path(path);
  OrtStatus* failed = made ? use(api, session, made) : lb_ort_CreateStatus(api, ORT_FAIL, ORT_NO_MEMORY);
  free(made);
  return failed;
}

static const ort_plugin* ort_find_plugin(const char* name) {
  const ort_plugin* plugin = atomic_load_explicit(&ort_plugins, memory_order_acquire);
  while (plugin && strcmp(plugin->name, name) != 0) plugin = plugin->next;
  return plugin;
}

static latenn_status* ort_compare(const latenn_host* host, const ort_plugin* plugin, const char* path) {
  if (strcmp(plugin->path, path) == 0) return NULL;
  return backend_fail(host, LATENN_INVALID_ARGUMENT,
                      "plugin_ep.%.100s is %.500s in this process already; %.500s was asked for. Give it another name.",
                      plugin->name, plugin->path, path);
}

static ort_plugin* ort_make_plugin(const char* name, const char* path) {
  ort_plugin* made = calloc(1, sizeof *made + strlen(name) + 1);
  if (!made) return NULL;
  memcpy(made->name, name, strlen(name) + 1);
  made->path = backend_copy_text(path);
  if (made->path) return made;
  free(made);
  return NULL;
}

static OrtStatus* ort_call_register(const ort_runtime* runtime, const ort_plugin* plugin) {
  ORTCHAR_T* path = ort_make_path(plugin->path);
  if (!path) return lb_ort_CreateStatus(&runtime->api, ORT_FAIL, ORT_NO_MEMORY);
  OrtStatus* failed = lb_ort_RegisterExecutionProviderLibrary(&runtime->api, runtime->env, plugin->name, path);
  free(path);
  return failed;
}

/* Another thread or the host of this runtime was first: the name works all the same. */
static int ort_is_registered(const ort_runtime* runtime, OrtStatus* failed) {
  const char* said = lb_ort_GetErrorMessage(&runtime->api, failed);
  return said && strstr(said, "already registered");
}

latenn_status* ort_register_plugin(const latenn_host* host, const ort_runtime* runtime, const char* name,
                                   const char* path) {
  const ort_plugin* known = ort_find_plugin(name);
  if (known) return ort_compare(host, known, path);
  ort_plugin* made = ort_make_plugin(name, path);
  if (!made) return backend_no_memory(host);
  OrtStatus* failed = ort_call_register(runtime, made);
  if (failed) {
    free(made->path);
    free(made);
    if (ort_is_registered(runtime, failed)) {
      lb_ort_ReleaseStatus(&runtime->api, failed);
      return NULL;
    }
    return ort_take(host, &runtime->api, failed, ORT_PHASE_SETUP, "cannot register an execution provider");
  }
  made->next = atomic_load_explicit(&ort_plugins, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&ort_plugins, &made->next, made, memory_order_acq_rel,
                                                memory_order_relaxed)) {
  }
  return NULL;
}
