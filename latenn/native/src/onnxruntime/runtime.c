/* runtime.c: binds ONNX Runtime and keeps what the process needs of it once; must not know about models. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "latebind/onnxruntime.h"
#include "ort.h"

static lb_binding ort_binding = LB_BINDING_INIT;
static _Atomic(ort_runtime*) ort_shared; /* set once, atomically */

/* The runtime has no code for it: the C++ library's, the arena's and CUDA's words, and our own. */
static int ort_ran_out(const char* said) {
  static const char* const words[] = {ORT_NO_MEMORY, "bad_alloc", "bad allocation", "Failed to allocate memory",
                                      "out of memory"};
  for (size_t i = 0; said && i < sizeof words / sizeof *words; i++) {
    if (strstr(said, words[i])) return 1;
  }
  return 0;
}

static latenn_code ort_code(OrtErrorCode code, const char* said, ort_phase phase) {
  if (ort_ran_out(said)) return LATENN_OUT_OF_MEMORY;
  if (code == ORT_NO_SUCHFILE) return LATENN_IO;
  if (code == ORT_NOT_IMPLEMENTED) return LATENN_UNSUPPORTED;
  if (phase == ORT_PHASE_LOAD) return LATENN_MODEL_INVALID;
  if (code == ORT_INVALID_ARGUMENT) return LATENN_INVALID_ARGUMENT;
  return LATENN_COMPUTE_FAILED;
}

latenn_status* ort_take(const latenn_host* host, const lb_ort_api* api, OrtStatus* failed, ort_phase phase,
                        const char* doing) {
  if (!failed) return NULL;
  const char* said = lb_ort_GetErrorMessage(api, failed);
  latenn_status* status =
      backend_fail(host, ort_code(lb_ort_GetErrorCode(api, failed), said, phase), "ONNX Runtime %u.%u.%u %s: %s",
                   (unsigned)api->runtime.major, (unsigned)api->runtime.minor, (unsigned)api->runtime.patch, doing,
                   said ? said : "(it gave no reason)");
  lb_ort_ReleaseStatus(api, failed);
  return status;
}

static void ort_release_shared(ort_runtime* made) {
  if (made->memory) lb_ort_ReleaseMemoryInfo(&made->api, made->memory);
  if (made->env) lb_ort_ReleaseEnv(&made->api, made->env);
  free(made);
}

/*
 * The environment is one for the process and counted by the runtime, so threads that race make the same one; the
 * first to publish wins and the others give theirs back. No lock is held, so no fork can lose one.
 */
static latenn_status* ort_share(const latenn_host* host, const ort_runtime** runtime) {
  ort_runtime* shared = atomic_load_explicit(&ort_shared, memory_order_acquire);
  *runtime = shared;
  if (shared) return NULL;
  ort_runtime* made = calloc(1, sizeof *made);
  if (!made) return backend_no_memory(host);
  if (lb_ort_attach(&ort_binding, &made->api)) {
    free(made);
    return host->status(LATENN_RUNTIME_UNAVAILABLE, "ONNX Runtime was found but gives no function table.", NULL);
  }
  const lb_ort_api* api = &made->api;
  /* The process has one environment, and the first to make it sets its log for everyone: here to the runtime's own
   * defaults. Sessions of latenn have a severity of their own (ort_apply_log). */
  OrtStatus* failed = lb_ort_CreateEnv(api, ORT_LOGGING_LEVEL_WARNING, "Default", &made->env);
  if (!failed) failed = lb_ort_CreateCpuMemoryInfo(api, OrtDeviceAllocator, OrtMemTypeDefault, &made->memory);
  if (!failed) failed = lb_ort_GetAllocatorWithDefaultOptions(api, &made->allocator);
  if (failed) {
    latenn_status* status = ort_take(host, api, failed, ORT_PHASE_SETUP, "cannot start");
    ort_release_shared(made);
    return status;
  }
  if (atomic_compare_exchange_strong_explicit(&ort_shared, &shared, made, memory_order_acq_rel, memory_order_acquire)) {
    *runtime = made;
    ort_guard_end(api);
  } else {
    ort_release_shared(made);
    *runtime = shared;
  }
  return NULL;
}

latenn_status* ort_open(const latenn_host* host, const latenn_load_options* options, const ort_runtime** runtime,
                        char** report) {
  latenn_status* status = backend_bind(host, &ort_binding, &lb_onnxruntime, options, report);
  return status ? status : ort_share(host, runtime);
}

const char* const backend_encodings[] = {"onnx", NULL};

latenn_status* backend_report(const latenn_host* host, const latenn_load_options* options, char** text) {
  const ort_runtime* runtime = NULL;
  return ort_open(host, options, &runtime, text);
}
