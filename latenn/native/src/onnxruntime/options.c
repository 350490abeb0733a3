/* options.c: what a caller may set for a session; must refuse what it does not know rather than ignore it. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ort.h"

/* What an option takes. */
typedef enum ort_kind { ORT_CHOICE, ORT_NUMBER, ORT_TEXT, ORT_PATH, ORT_LIBRARY } ort_kind;

/* An option as it is applied: what follows the prefix, and the value. */
typedef struct ort_given {
  const char* name;
  const char* text;
  int number;
} ort_given;

typedef OrtStatus* (*ort_setter)(const lb_ort_api* api, OrtSessionOptions* session, const ort_given* given);

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

static OrtStatus* ort_set_level(const lb_ort_api* api, OrtSessionOptions* session, const ort_given* given) {
  return lb_ort_SetSessionGraphOptimizationLevel(api, session, (GraphOptimizationLevel)given->number);
}

static OrtStatus* ort_set_intra(const lb_ort_api* api, OrtSessionOptions* session, const ort_given* given) {
  return lb_ort_SetIntraOpNumThreads(api, session, given->number);
}

static OrtStatus* ort_set_inter(const lb_ort_api* api, OrtSessionOptions* session, const ort_given* given) {
  return lb_ort_SetInterOpNumThreads(api, session, given->number);
}

static OrtStatus* ort_set_severity(const lb_ort_api* api, OrtSessionOptions* session, const ort_given* given) {
  return lb_ort_SetSessionLogSeverityLevel(api, session, given->number);
}

static OrtStatus* ort_set_dimension(const lb_ort_api* api, OrtSessionOptions* session, const ort_given* given) {
  return lb_ort_AddFreeDimensionOverrideByName(api, session, given->name, given->number);
}

static OrtStatus* ort_set_denotation(const lb_ort_api* api, OrtSessionOptions* session, const ort_given* given) {
  return lb_ort_AddFreeDimensionOverride(api, session, given->name, given->number);
}

static OrtStatus* ort_set_profile(const lb_ort_api* api, OrtSessionOptions* session, const ort_given* given) {
  return ort_with_path(api, given->text, session, lb_ort_EnableProfiling);
}

static OrtStatus* ort_set_library(const lb_ort_api* api, OrtSessionOptions* session, const ort_given* given) {
  return ort_with_path(api, given->text, session, lb_ort_RegisterCustomOpsLibrary_V2);
}

typedef struct ort_option {
  const char* key; /* with a dot at its end: the prefix of a name */
  ort_setter set;  /* NULL: it is for providers.c */
  ort_kind kind;
  int lowest;
  const char* takes; /* for messages */
} ort_option;

static const ort_option ort_options[] = {
    {"intra_op_num_threads", ort_set_intra, ORT_NUMBER, 0, "a number, 0 for the default"},
    {"inter_op_num_threads", ort_set_inter, ORT_NUMBER, 0, "a number, 0 for the default"},
    {"graph_optimization_level", ort_set_level, ORT_CHOICE, 0, "disable, basic, extended or all"},
    {"log_severity_level", ort_set_severity, ORT_NUMBER, 0, "a number from 0 (verbose) to 4 (fatal)"},
    {"free_dimension.", ort_set_dimension, ORT_NUMBER, 1, "a number from 1"},
    {"free_dimension_denotation.", ort_set_denotation, ORT_NUMBER, 1, "a number from 1"},
    {"profile", ort_set_profile, ORT_PATH, 0, "the beginning of a path"},
    {"custom_op_library", ort_set_library, ORT_LIBRARY, 0, "an absolute path"},
    {"custom_op_library.", ort_set_library, ORT_LIBRARY, 0, "an absolute path"},
    {"plugin_ep.", NULL, ORT_LIBRARY, 0, "an absolute path"},
    {"ep", NULL, ORT_TEXT, 0, "names of execution providers"},
    {"ep.", NULL, ORT_TEXT, 0, "a text"},
    {"ep_device.", NULL, ORT_NUMBER, 0, "a number, counted from 0"},
};

const char* ort_after(const char* key, const char* prefix) {
  size_t length = strlen(prefix);
  return strncmp(key, prefix, length) == 0 && key[length] ? key + length : NULL;
}

/* Session config entries begin with "ep." too, and have no second dot: ep.context_enable. */
static int ort_is_of(const ort_option* option, const char* key) {
  size_t length = strlen(option->key);
  if (option->key[length - 1] != '.') return strcmp(option->key, key) == 0;
  const char* name = ort_after(key, option->key);
  return name && (strcmp(option->key, "ep.") != 0 || strchr(name, '.'));
}

static const ort_option* ort_find(const char* key) {
  for (size_t i = 0; i < sizeof ort_options / sizeof *ort_options; i++) {
    if (ort_is_of(&ort_options[i], key)) return &ort_options[i];
  }
  return NULL;
}

static int ort_is_absolute(const char* path) {
#if defined(_WIN32)
  return (path[0] && path[1] == ':') || path[0] == '\\' || path[0] == '/';
#else
  return *path == '/';
#endif
}

static int ort_parse_choice(const char* text, int* value) {
  for (const ort_choice* choice = ort_levels; choice->name; choice++) {
    *value = choice->value;
    if (strcmp(choice->name, text) == 0) return 0;
  }
  return 1;
}

/* Returns 0 and the value, or non-zero when the option does not accept the text. */
static int ort_parse_value(const ort_option* option, const char* text, int* value) {
  int is_severity = option->set == ort_set_severity;
  switch (option->kind) {
    case ORT_CHOICE: return ort_parse_choice(text, value);
    case ORT_NUMBER:
      return backend_read_number(text, option->lowest, is_severity ? ORT_LOGGING_LEVEL_FATAL : INT_MAX, value);
    case ORT_TEXT: return 0;
    case ORT_PATH: return !*text;
    case ORT_LIBRARY: break;
  }
  return !ort_is_absolute(text);
}

static latenn_status* ort_unknown(const latenn_host* host, const char* key) {
  char known[600] = "";
  size_t used = 0;
  for (size_t i = 0; i < sizeof ort_options / sizeof *ort_options; i++) {
    const char* name = ort_options[i].key;
    const char* rest = name[strlen(name) - 1] == '.' ? "NAME" : "";
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s, ", name, rest);
  }
  return backend_fail(host, LATENN_INVALID_ARGUMENT,
                      "The option \"%.100s\" is not known. Known: %sand session config entries, which have a dot.", key,
                      known);
}

static latenn_status* ort_check_option(const latenn_host* host, const latenn_option* option) {
  int value = 0;
  const ort_option* known = ort_find(option->key);
  if (!known && strchr(option->key, '.')) return ort_check_session_entry(host, option);
  if (!known) return ort_unknown(host, option->key);
  if (!ort_parse_value(known, option->value, &value)) return NULL;
  return backend_fail(host, LATENN_INVALID_ARGUMENT, "The option %.100s is \"%.100s\"; it takes %s.", option->key,
                      option->value, known->takes);
}

latenn_status* ort_check_options(const latenn_host* host, const latenn_load_options* options) {
  latenn_status* status = backend_check_list(host, options);
  for (size_t i = 0; i < options->option_count && !status; i++) status = ort_check_option(host, &options->options[i]);
  return status ? status : ort_check_providers(host, options);
}

static void LB_ORT_CALL ort_write_log(void* of, OrtLoggingLevel severity, const char* category, const char* session,
                                      const char* place, const char* message) {
  const ort_log* log = of;
  (void)session;
  (void)place;
  log->function(log->user, (int32_t)severity, category ? category : "", message ? message : "");
}

/* Every error comes back as a status with all its words, and the runtime would also print it: a session is quiet unless
 * its host wants the log. */
latenn_status* ort_apply_log(const latenn_host* host, const lb_ort_api* api, const ort_log* log,
                             OrtSessionOptions* session) {
  OrtLoggingLevel level = log->function ? ORT_LOGGING_LEVEL_WARNING : ORT_LOGGING_LEVEL_FATAL;
  OrtStatus* failed = lb_ort_SetSessionLogSeverityLevel(api, session, (int)level);
  if (!failed && log->function)
    failed = lb_ort_SetUserLoggingFunction(api, session, ort_write_log, (void*)(uintptr_t)log);
  return ort_take(host, api, failed, ORT_PHASE_SETUP, "cannot set the log of a session");
}

static OrtStatus* ort_apply_option(const lb_ort_api* api, const latenn_option* option, OrtSessionOptions* session) {
  const ort_option* known = ort_find(option->key);
  ort_given given = {NULL, option->value, 0};
  if (!known) return lb_ort_AddSessionConfigEntry(api, session, ort_entry_of(option->key), option->value);
  if (!known->set || ort_parse_value(known, option->value, &given.number)) return NULL;
  given.name = ort_after(option->key, known->key);
  return known->set(api, session, &given);
}

static latenn_status* ort_apply_files(const latenn_host* host, const lb_ort_api* api,
                                      const latenn_load_options* options, OrtSessionOptions* session) {
  size_t count = options->file_count;
  if (!count) return NULL;
  ORTCHAR_T** names = calloc(count, sizeof *names);
  char** data = calloc(count, sizeof *data);
  size_t* sizes = calloc(count, sizeof *sizes);
  int is_short = !names || !data || !sizes;
  for (size_t i = 0; i < count && !is_short; i++) {
    names[i] = ort_make_path(options->files[i].name);
    is_short = !names[i];
    data[i] = (char*)(uintptr_t)options->files[i].data; /* it is read alone */
    sizes[i] = options->files[i].size;
  }
  OrtStatus* failed = is_short ? NULL
                               : lb_ort_AddExternalInitializersFromFilesInMemory(
                                     api, session, (const ORTCHAR_T* const*)(void*)names, data, sizes, count);
  for (size_t i = 0; names && i < count; i++) free(names[i]);
  free(names);
  free(data);
  free(sizes);
  if (is_short) return backend_no_memory(host);
  return ort_take(host, api, failed, ORT_PHASE_SETUP, "refuses files from memory");
}

latenn_status* ort_apply_options(const latenn_host* host, const lb_ort_api* api, const latenn_load_options* options,
                                 OrtSessionOptions* session) {
  for (size_t i = 0; i < options->option_count; i++) {
    char doing[160];
    OrtStatus* failed = ort_apply_option(api, &options->options[i], session);
    snprintf(doing, sizeof doing, "refuses the option %.100s", options->options[i].key);
    if (failed) return ort_take(host, api, failed, ORT_PHASE_SETUP, doing);
  }
  return ort_apply_files(host, api, options, session);
}
