/* options.c: what a caller may set for LiteRT; must refuse what it does not know rather than ignore it. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "litert.h"

static latenn_status* litert_read_option(const latenn_host* host, const latenn_option* option,
                                         litert_settings* settings) {
  if (strcmp(option->key, "num_threads") == 0) {
    if (!backend_read_number(option->value, 0, INT_MAX, &settings->threads)) return NULL;
    return backend_fail(host, LATENN_INVALID_ARGUMENT,
                        "The option num_threads is \"%.100s\"; it takes a number, 0 for the default.", option->value);
  }
  if (strcmp(option->key, "log_severity_level") == 0) {
    if (!backend_read_number(option->value, 0, LITERT_SILENT, &settings->severity)) return NULL;
    return backend_fail(
        host, LATENN_INVALID_ARGUMENT,
        "The option log_severity_level is \"%.100s\"; it takes a number from 0 (verbose) to 4 (silent).",
        option->value);
  }
  if (strcmp(option->key, "signature") == 0) {
    settings->signature = option->value;
    return NULL;
  }
  return backend_fail(host, LATENN_INVALID_ARGUMENT,
                      "The option \"%.100s\" is not known. Known: num_threads, signature, log_severity_level.",
                      option->key);
}

latenn_status* litert_read_options(const latenn_host* host, const latenn_load_options* options,
                                   litert_settings* settings) {
  memset(settings, 0, sizeof *settings);
  settings->severity = -1;
  if (options->device && *options->device && strcmp(options->device, "cpu") != 0) {
    return backend_fail(host, LATENN_UNSUPPORTED,
                        "The device \"%.100s\" is not supported; this backend computes on \"cpu\".", options->device);
  }
  latenn_status* status = backend_check_list(host, options);
  for (size_t i = 0; i < options->option_count && !status; i++) {
    status = litert_read_option(host, &options->options[i], settings);
  }
  return status;
}

/* LiteRT reads these options as TOML, which it frees with the function that is passed with them. */
static LiteRtStatus litert_add(const litert_api* api, LiteRtOptions* options, const char* identifier,
                               const char* toml) {
  LiteRtOpaqueOptions* opaque = NULL;
  char* payload = backend_copy_text(toml);
  if (!payload) return LITERT_NO_MEMORY;
  LiteRtStatus failed = api->CreateOpaqueOptions(identifier, payload, free, &opaque);
  if (failed) {
    free(payload);
    return failed;
  }
  failed = api->AddOpaqueOptions(options, opaque);
  if (failed) api->DestroyOpaqueOptions(opaque);
  return failed;
}

latenn_status* litert_make_options(const latenn_host* host, const litert_api* api, const litert_settings* settings,
                                   LiteRtOptions** options) {
  char threads[48];
  snprintf(threads, sizeof threads, "num_threads = %d\n", settings->threads);
  LiteRtStatus failed = api->CreateOptions(options);
  if (!failed) failed = api->SetOptionsHardwareAccelerators(*options, LITERT_CPU);
  /* 2: its words come with the status and are not printed. */
  if (!failed) failed = litert_add(api, *options, "runtime_options_string", "error_reporter_mode = 2\n");
  if (!failed && settings->threads) failed = litert_add(api, *options, "xnnpack", threads);
  return litert_take(host, failed, LATENN_INVALID_ARGUMENT, "refuses an option", "");
}
