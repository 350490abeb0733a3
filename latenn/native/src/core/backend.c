/*
 * backend.c: finds and opens the library of a backend, with the same loader that backends use for runtimes; must
 * not know what a backend does.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"
#include "core.h"
#include "latebind/latebind.h"

#if defined(_WIN32)
#define LATENN_BACKEND_FILE "latenn_backend_%s.dll"
#elif defined(__APPLE__)
#define LATENN_BACKEND_FILE "liblatenn_backend_%s.dylib"
#else
#define LATENN_BACKEND_FILE "liblatenn_backend_%s.so"
#endif

#define LATENN_BACKEND_ENVIRONMENT "LATENN_BACKEND"

enum { LATENN_NAME_MAX = 64 };

/* One backend that was asked for, by name or by path. Kept for ever, as the libraries are: code that has run once
 * may have threads and handlers, and unloading it saves nothing. */
typedef struct latenn_slot {
  struct latenn_slot* next;
  lb_binding binding;
  lb_runtime runtime;
  const char* names[2];
  const char* globs[2];
  char file_name[LATENN_NAME_MAX + 32];
  char file_glob[LATENN_NAME_MAX + 32];
  char title[LATENN_NAME_MAX + 32];
  char advice[4 * LATENN_NAME_MAX];
  char key[]; /* the name or the path */
} latenn_slot;

static _Atomic(latenn_slot*) latenn_slots; /* only ever grows; read and written atomically */

static int latenn_is_path(const char* backend) {
  for (const char* at = backend; *at; at++) {
    if (*at == '/' || *at == '\\') return 1;
  }
  return 0;
}

/* A name becomes part of a file name: nothing that could leave the folder. */
static int latenn_is_name(const char* backend) {
  size_t length = strlen(backend);
  for (size_t i = 0; i < length; i++) {
    int letter = (backend[i] >= 'a' && backend[i] <= 'z') || (backend[i] >= '0' && backend[i] <= '9');
    if (!letter && backend[i] != '_') return 0;
  }
  return length > 0 && length < LATENN_NAME_MAX;
}

static const latenn_backend* latenn_table_of(void* entry) {
  latenn_backend_table_fn table = NULL;
  memcpy(&table, &entry, sizeof table); /* see loader/src/onnxruntime.c: the bytes agree */
  return table ? table(LATENN_BACKEND_ABI) : NULL;
}

/* What every backend has; what was added to the table later may be missing. */
typedef struct latenn_member {
  const char* name;
  size_t place;
} latenn_member;

#define LATENN_MEMBER(name) {#name, offsetof(latenn_backend, name)}
static const latenn_member latenn_members[] = {
    LATENN_MEMBER(name),         LATENN_MEMBER(version),        LATENN_MEMBER(encodings),
    LATENN_MEMBER(load),         LATENN_MEMBER(release_model),  LATENN_MEMBER(input_count),
    LATENN_MEMBER(output_count), LATENN_MEMBER(input),          LATENN_MEMBER(output),
    LATENN_MEMBER(model_report), LATENN_MEMBER(create_context), LATENN_MEMBER(release_context),
    LATENN_MEMBER(set_input),    LATENN_MEMBER(compute),        LATENN_MEMBER(get_output),
    LATENN_MEMBER(report),       LATENN_MEMBER(free_text),
};
#undef LATENN_MEMBER

static const char* latenn_lacks(const latenn_backend* table) {
  for (size_t i = 0; i < sizeof latenn_members / sizeof *latenn_members; i++) {
    void* member = NULL;
    memcpy(&member, (const char*)table + latenn_members[i].place, sizeof member);
    if (!member) return latenn_members[i].name;
  }
  return NULL;
}

static int latenn_read_backend(void* entry, char* text, size_t size) {
  const latenn_backend* table = latenn_table_of(entry);
  if (!table || table->abi != LATENN_BACKEND_ABI || table->size < LATENN_BACKEND_SIZE_1) {
    snprintf(text, size, "it does not speak version %d of the backend interface, as latenn %s does; update the older",
             LATENN_BACKEND_ABI, LATENN_VERSION_TEXT);
    return 1;
  }
  const char* lacks = latenn_lacks(table);
  if (lacks) {
    snprintf(text, size, "its table has no %s", lacks);
    return 1;
  }
  if (strlen(table->version) >= size) return 1;
  memcpy(text, table->version, strlen(table->version) + 1);
  return 0;
}

/* A backend's packages are named alike everywhere; on NuGet, ours have the spelling of the runtimes' makers. */
static void latenn_write_advice(char* advice, size_t size, const char* name) {
  static const char* const own[][2] = {{"onnxruntime", "OnnxRuntime"}, {"openvino", "OpenVino"}, {"litert", "LiteRt"}};
  const char* nuget = name;
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    if (strcmp(name, own[i][0]) == 0) nuget = own[i][1];
  }
  snprintf(advice, size, "pip install latenn-%s, or dotnet add package Latenn.%s", name, nuget);
}

static void latenn_describe(latenn_slot* slot, int is_path) {
  const char* name = is_path ? "*" : slot->key;
  snprintf(slot->file_name, sizeof slot->file_name, LATENN_BACKEND_FILE, name);
  snprintf(slot->file_glob, sizeof slot->file_glob, LATENN_BACKEND_FILE, "*");
  if (is_path) {
    snprintf(slot->title, sizeof slot->title, "A backend of latenn");
    slot->globs[0] = slot->file_glob;
  } else {
    snprintf(slot->title, sizeof slot->title, "latenn's %s backend", name);
    latenn_write_advice(slot->advice, sizeof slot->advice, name);
    slot->names[0] = slot->file_name;
  }
  slot->runtime.size = sizeof slot->runtime;
  slot->runtime.name = is_path ? "latenn-backend" : slot->key;
  slot->runtime.title = slot->title;
  slot->runtime.file_names = slot->names;
  slot->runtime.file_globs = slot->globs;
  slot->runtime.entry_symbol = LATENN_BACKEND_SYMBOL;
  slot->runtime.read_version = latenn_read_backend;
  slot->runtime.advice = *slot->advice ? slot->advice : NULL;
}

/* The slot of that name or path; two threads may each push one, which costs a few bytes and does no harm. */
static latenn_slot* latenn_slot_of(const char* key, int is_path) {
  latenn_slot* first = atomic_load_explicit(&latenn_slots, memory_order_acquire);
  for (latenn_slot* slot = first; slot; slot = slot->next) {
    if (strcmp(slot->key, key) == 0) return slot;
  }
  latenn_slot* slot = calloc(1, sizeof *slot + strlen(key) + 1);
  if (!slot) return NULL;
  memcpy(slot->key, key, strlen(key) + 1);
  latenn_describe(slot, is_path);
  slot->next = first;
  while (!atomic_compare_exchange_strong_explicit(&latenn_slots, &slot->next, slot, memory_order_acq_rel,
                                                  memory_order_acquire)) {
  }
  return slot;
}

static latenn_status* latenn_not_opened(int outcome, const lb_report* report, const char* json) {
  latenn_code code = outcome == LB_OUTCOME_NOT_FOUND ? LATENN_BACKEND_MISSING : LATENN_BACKEND_UNUSABLE;
  if (latenn_search_ran_out(outcome, json)) code = LATENN_OUT_OF_MEMORY;
  return latenn_status_create(code, report->message, json);
}

/* An older backend's table is shorter, a newer one's longer. */
static void latenn_copy_table(const latenn_backend* table, latenn_backend* own) {
  memset(own, 0, sizeof *own);
  memcpy(own, table, table->size < sizeof *own ? table->size : sizeof *own);
}

static latenn_status* latenn_open_slot(latenn_slot* slot, const latenn_load_options* options, int is_path,
                                       latenn_backend* backend) {
  lb_options search = {0};
  lb_report report = {0};
  search.size = sizeof search;
  report.size = sizeof report;
  search.flags = LB_FLAG_NO_LOADED; /* every backend has the same symbol: another one that is loaded proves nothing */
  search.path = is_path ? slot->key : NULL;
  search.directories = options->backend_directories;
  search.directory_count = options->backend_directory_count;
  int outcome = lb_bind(&slot->binding, &slot->runtime, &search, &report);
  latenn_status* status = outcome ? latenn_not_opened(outcome, &report, lb_report_json(&report)) : NULL;
  const latenn_backend* table = status ? NULL : latenn_table_of(lb_entry(&slot->binding));
  if (table && !is_path && strcmp(table->name, slot->key) != 0) {
    status = latenn_failure(LATENN_BACKEND_UNUSABLE, "%s is the backend \"%s\", not \"%s\": the file is misnamed.",
                            report.path, table->name, slot->key);
  }
  lb_report_clear(&report);
  if (!status) latenn_copy_table(table, backend);
  return status;
}

static latenn_status* latenn_open_named(const latenn_load_options* options, const char* wanted, const char* origin,
                                        latenn_backend* backend) {
  int is_path = latenn_is_path(wanted);
  if (!is_path && !latenn_is_name(wanted)) {
    return latenn_failure(LATENN_INVALID_ARGUMENT,
                          "%s is \"%.100s\": it must be a backend's name, such as onnxruntime, or a path with a /.",
                          origin, wanted);
  }
  latenn_slot* slot = latenn_slot_of(wanted, is_path);
  if (!slot) return latenn_no_memory();
  return latenn_open_slot(slot, options, is_path, backend);
}

latenn_status* latenn_backend_open(const latenn_load_options* options, const latenn_encoding* encoding,
                                   latenn_backend* backend) {
  const char* wanted = options->backend && *options->backend ? options->backend : NULL;
  int is_list = wanted && !latenn_is_path(wanted) && strchr(wanted, ',');
  if (wanted && !is_list) return latenn_open_named(options, wanted, "the option \"backend\"", backend);
  char* environment = lb_environment(LATENN_BACKEND_ENVIRONMENT);
  latenn_status* status = NULL;
  if (is_list && !environment) {
    status = latenn_choose(options, wanted, encoding, latenn_open_named, backend);
  } else {
    status = latenn_open_named(options,
                               environment ? environment
                               : encoding  ? encoding->backend
                                           : "onnxruntime",
                               "the environment variable " LATENN_BACKEND_ENVIRONMENT, backend);
  }
  free(environment);
  return status;
}
