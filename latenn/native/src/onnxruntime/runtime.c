/* runtime.c: binds ONNX Runtime and keeps what the process needs of it once; must not know about models. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "latebind/onnxruntime.h"
#include "ort.h"

static lb_binding ort_binding = LB_BINDING_INIT;
static _Atomic(ort_runtime*) ort_shared; /* set once, atomically */

latenn_status* ort_no_memory(const latenn_host* host) {
  return host->status(LATENN_OUT_OF_MEMORY, "Out of memory.", NULL);
}

latenn_status* ort_fail(const latenn_host* host, latenn_code code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  char* message = length < 0 ? NULL : malloc((size_t)length + 1);
  if (!message) return ort_no_memory(host);
  va_start(arguments, format);
  vsnprintf(message, (size_t)length + 1, format, arguments);
  va_end(arguments);
  latenn_status* status = host->status(code, message, NULL);
  free(message);
  return status;
}

static latenn_code ort_code(OrtErrorCode code, ort_phase phase) {
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
      ort_fail(host, ort_code(lb_ort_GetErrorCode(api, failed), phase), "ONNX Runtime %u.%u.%u %s: %s",
               (unsigned)api->runtime.major, (unsigned)api->runtime.minor, (unsigned)api->runtime.patch, doing,
               said ? said : "(it gave no reason)");
  lb_ort_ReleaseStatus(api, failed);
  return status;
}

static char* ort_copy_json(lb_report* report) {
  const char* json = lb_report_json(report);
  char* copy = malloc(strlen(json) + 1);
  if (copy) memcpy(copy, json, strlen(json) + 1);
  return copy;
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
  if (!made) return ort_no_memory(host);
  if (lb_ort_attach(&ort_binding, &made->api)) {
    free(made);
    return host->status(LATENN_RUNTIME_UNAVAILABLE, "ONNX Runtime was found but gives no function table.", NULL);
  }
  const lb_ort_api* api = &made->api;
  /* Every error comes back as a status with all its words; at ERROR the runtime would also print it to stderr. Who
   * wants its log sets log_severity_level. */
  OrtStatus* failed = lb_ort_CreateEnv(api, ORT_LOGGING_LEVEL_FATAL, "latenn", &made->env);
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

/* Bound earlier, for somebody who asked for less or for another file: what is bound stays bound, and is told. */
static latenn_status* ort_check_bound(const latenn_host* host, const latenn_load_options* options,
                                      const lb_options* search, const lb_report* report) {
  const char* path = options->runtime_path && *options->runtime_path ? options->runtime_path : NULL;
  if (lb_version_compare(lb_bound_version(&ort_binding), search->minimum) < 0) {
    return ort_fail(host, LATENN_RUNTIME_UNAVAILABLE,
                    "ONNX Runtime %s is in use in this process already; %s or newer was asked for. Ask for it before "
                    "the first model is loaded, and update the package that supplies %s.",
                    report->version, options->runtime_minimum, report->path);
  }
  if (!path || lb_is_bound_from(&ort_binding, path)) return NULL;
  return ort_fail(host, LATENN_RUNTIME_UNAVAILABLE,
                  "ONNX Runtime %s from %s is in use in this process already; %s was asked for. A process binds one: "
                  "give its path when the first model is loaded.",
                  report->version, report->path, path);
}

latenn_status* ort_open(const latenn_host* host, const latenn_load_options* options, const ort_runtime** runtime,
                        char** report_text) {
  lb_options search = {0};
  lb_report report = {0};
  search.size = sizeof search;
  report.size = sizeof report;
  search.path = options->runtime_path;
  search.directories = options->runtime_directories;
  search.directory_count = options->runtime_directory_count;
  search.advice = options->runtime_advice;
  *report_text = NULL;
  if (options->runtime_minimum && lb_version_parse(options->runtime_minimum, &search.minimum)) {
    return ort_fail(host, LATENN_INVALID_ARGUMENT, "runtime_minimum is \"%.100s\"; it must look like 1.20 or 1.20.1.",
                    options->runtime_minimum);
  }
  int outcome = lb_bind(&ort_binding, &lb_onnxruntime, &search, &report);
  latenn_status* status = NULL;
  if (outcome) status = host->status(LATENN_RUNTIME_UNAVAILABLE, report.sentence, lb_report_json(&report));
  *report_text = ort_copy_json(&report);
  if (!status) status = ort_check_bound(host, options, &search, &report);
  lb_report_clear(&report);
  return status ? status : ort_share(host, runtime);
}
