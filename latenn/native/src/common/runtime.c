/* runtime.c: binds the runtime of a backend and looks up its functions; must not call any of them. */
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "report.h"

/* Bound earlier, from another file than the one that is asked for now: what is bound stays bound. */
static latenn_status* backend_check_bound(const latenn_host* host, const lb_binding* binding, const char* title,
                                          const latenn_load_options* options, const lb_report* report) {
  const char* path = options->runtime_path && *options->runtime_path ? options->runtime_path : NULL;
  if (!path || lb_is_bound_from(binding, path)) return NULL;
  return backend_fail(host, LATENN_RUNTIME_UNAVAILABLE,
                      "%s %s from %s is in use in this process already; %s was asked for. A process binds one: "
                      "give its path when the first model is loaded.",
                      title, report->version, report->path, path);
}

latenn_status* backend_bind(const latenn_host* host, lb_binding* binding, const lb_runtime* runtime,
                            const latenn_load_options* options, char** report_text) {
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
    return backend_fail(host, LATENN_INVALID_ARGUMENT,
                        "runtime_minimum is \"%.100s\"; it must look like 1.20 or 1.20.1.", options->runtime_minimum);
  }
  int outcome = lb_bind(binding, runtime, &search, &report);
  latenn_status* status = NULL;
  const char* json = lb_report_json(&report);
  latenn_code code = latenn_search_ran_out(outcome, json) ? LATENN_OUT_OF_MEMORY : LATENN_RUNTIME_UNAVAILABLE;
  if (outcome) status = host->status(code, report.message, json);
  *report_text = backend_copy_text(json);
  if (!status) status = backend_check_bound(host, binding, runtime->title, options, &report);
  lb_report_clear(&report);
  return status;
}

latenn_status* backend_resolve(const latenn_host* host, const lb_binding* binding, const lb_runtime* runtime,
                               const backend_symbol* symbols, size_t count, void* table) {
  for (size_t i = 0; i < count; i++) {
    void* address = lb_symbol(binding, symbols[i].name);
    if (!address) {
      lb_version version = lb_bound_version(binding);
      return backend_fail(host, LATENN_RUNTIME_UNAVAILABLE,
                          "%s %u.%u.%u has no function %s, which latenn's %s backend needs. Install another version "
                          "of %s.",
                          runtime->title, (unsigned)version.major, (unsigned)version.minor, (unsigned)version.patch,
                          symbols[i].name, runtime->name, runtime->title);
    }
    memcpy((char*)table + symbols[i].place, &address, sizeof address); /* POSIX and Windows: the bytes agree */
  }
  return NULL;
}
