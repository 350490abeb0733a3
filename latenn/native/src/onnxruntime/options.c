/* options.c: what a caller may set for a session; must refuse what it does not know rather than ignore it. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ort.h"

typedef OrtStatus* (*ort_setter)(const lb_ort_api* api, OrtSessionOptions* session, int value);

typedef struct ort_choice {
  const char* name;
  int value;
} ort_choice;

static const ort_choice ort_levels[] = {
    {"disable", ORT_DISABLE_ALL},
    {"basic", ORT_ENABLE_BASIC},
    {"extended", ORT_ENABLE_EXTENDED},
    {"all", ORT_ENABLE_ALL},
    {NULL, 0},
};

static OrtStatus* ort_set_level(const lb_ort_api* api, OrtSessionOptions* session, int value) {
  return lb_ort_SetSessionGraphOptimizationLevel(api, session, (GraphOptimizationLevel)value);
}

typedef struct ort_option {
  const char* key;
  ort_setter set;
  const ort_choice* choices; /* words, or NULL for a number from `lowest` to `highest` */
  int lowest;
  int highest;
  const char* takes; /* for messages */
} ort_option;

static const ort_option ort_options[] = {
    {"intra_op_num_threads", lb_ort_SetIntraOpNumThreads, NULL, 0, INT_MAX, "a number, 0 for the default"},
    {"inter_op_num_threads", lb_ort_SetInterOpNumThreads, NULL, 0, INT_MAX, "a number, 0 for the default"},
    {"graph_optimization_level", ort_set_level, ort_levels, 0, 0, "disable, basic, extended or all"},
    {"log_severity_level", lb_ort_SetSessionLogSeverityLevel, NULL, 0, 4, "a number from 0 (verbose) to 4 (fatal)"},
};

static const ort_option* ort_find(const char* key) {
  for (size_t i = 0; i < sizeof ort_options / sizeof *ort_options; i++) {
    if (strcmp(ort_options[i].key, key) == 0) return &ort_options[i];
  }
  return NULL;
}

/* Returns 0 and the value, or non-zero when the text is none that the option takes. */
static int ort_parse_value(const ort_option* option, const char* text, int* value) {
  for (const ort_choice* choice = option->choices; choice && choice->name; choice++) {
    if (strcmp(choice->name, text) == 0) {
      *value = choice->value;
      return 0;
    }
  }
  if (option->choices) return 1;
  return backend_read_number(text, option->lowest, option->highest, value);
}

static latenn_status* ort_check_option(const latenn_host* host, const latenn_option* option) {
  int value = 0;
  const ort_option* known = ort_find(option->key);
  if (!known && strchr(option->key, '.')) return NULL; /* a session config entry: the runtime judges it */
  if (!known) {
    return backend_fail(host, LATENN_INVALID_ARGUMENT,
                        "The option \"%.100s\" is not known. Known: intra_op_num_threads, inter_op_num_threads, "
                        "graph_optimization_level, log_severity_level, and session config entries, which have a dot.",
                        option->key);
  }
  if (!ort_parse_value(known, option->value, &value)) return NULL;
  return backend_fail(host, LATENN_INVALID_ARGUMENT, "The option %s is \"%.100s\"; it takes %s.", known->key,
                      option->value, known->takes);
}

latenn_status* ort_check_options(const latenn_host* host, const latenn_load_options* options) {
  latenn_status* status = backend_check_list(host, options);
  for (size_t i = 0; i < options->option_count && !status; i++) status = ort_check_option(host, &options->options[i]);
  return status;
}

static void LB_ORT_CALL ort_write_log(void* of, OrtLoggingLevel severity, const char* category, const char* session,
                                      const char* place, const char* message) {
  const ort_log* log = of;
  (void)session;
  (void)place;
  log->function(log->user, (int32_t)severity, category ? category : "", message ? message : "");
}

/* Every error comes back as a status with all its words, and the runtime would print it as well: a session is quiet
 * unless its host wants the log. */
latenn_status* ort_apply_log(const latenn_host* host, const lb_ort_api* api, const ort_log* log,
                             OrtSessionOptions* session) {
  OrtLoggingLevel level = log->function ? ORT_LOGGING_LEVEL_WARNING : ORT_LOGGING_LEVEL_FATAL;
  OrtStatus* failed = lb_ort_SetSessionLogSeverityLevel(api, session, (int)level);
  if (!failed && log->function)
    failed = lb_ort_SetUserLoggingFunction(api, session, ort_write_log, (void*)(uintptr_t)log);
  return ort_take(host, api, failed, ORT_PHASE_SETUP, "cannot set the log of a session");
}

latenn_status* ort_apply_options(const latenn_host* host, const lb_ort_api* api, const latenn_load_options* options,
                                 OrtSessionOptions* session) {
  for (size_t i = 0; i < options->option_count; i++) {
    const latenn_option* option = &options->options[i];
    const ort_option* known = ort_find(option->key);
    int value = 0;
    OrtStatus* failed = NULL;
    if (known && !ort_parse_value(known, option->value, &value)) {
      failed = known->set(api, session, value);
    } else {
      failed = lb_ort_AddSessionConfigEntry(api, session, option->key, option->value);
    }
    if (failed) return ort_take(host, api, failed, ORT_PHASE_SETUP, "refuses an option");
  }
  return NULL;
}
