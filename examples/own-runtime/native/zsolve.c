/* zsolve: answers SMT-LIB 2 scripts with Z3, whose header is not needed. */
#include <stdio.h>
#include <string.h>

#include "latebind/z3.h"

#define ZSOLVE_API __attribute__((visibility("default")))

/* What z3_api.h declares, as a table: each function is looked up in the runtime that was bound. */
#define ZSOLVE_FUNCTIONS(X)                \
  X(void*, Z3_mk_config, (void))           \
  X(void, Z3_del_config, (void* config))   \
  X(void*, Z3_mk_context, (void* config))  \
  X(void, Z3_del_context, (void* context)) \
  X(const char*, Z3_eval_smtlib2_string, (void* context, const char* commands))

#define ZSOLVE_FIELD(result, name, parameters) result(*name) parameters;
typedef struct zsolve_api {
  ZSOLVE_FUNCTIONS(ZSOLVE_FIELD)
} zsolve_api;

static lb_binding runtime = LB_BINDING_INIT;

ZSOLVE_API int zsolve_open(const char* folder, const char* path, const char* minimum, const char* advice, char* json,
                           size_t room) {
  lb_report report = {.size = sizeof report};
  lb_options search = {.size = sizeof search, .path = path, .directories = &folder, .advice = advice};
  search.flags = LB_FLAG_NO_SYSTEM; /* where an old one may lie for the sake of other programs: Debian's LLVM has one */
  search.directory_count = folder != NULL;
  if (minimum) lb_version_parse(minimum, &search.minimum);
  const int outcome = lb_bind(&runtime, &lb_z3, &search, &report);
  snprintf(json, room, "%s", lb_report_json(&report));
  lb_report_clear(&report);
  return outcome;
}

/* 0 and Z3's answer, which is cut off where there is no room; else `answer` says what was wrong. */
ZSOLVE_API int zsolve_run(const char* script, char* answer, size_t room) {
  zsolve_api z3;
  void* found = NULL;
#define ZSOLVE_FIND(result, name, parameters)                                                   \
  if (!(found = lb_symbol(&runtime, #name))) return snprintf(answer, room, "Z3 has no " #name); \
  memcpy(&z3.name, &found, sizeof found);
  ZSOLVE_FUNCTIONS(ZSOLVE_FIND)
  void* config = z3.Z3_mk_config();
  void* context = z3.Z3_mk_context(config);
  snprintf(answer, room, "%s", z3.Z3_eval_smtlib2_string(context, script));
  z3.Z3_del_context(context);
  z3.Z3_del_config(config);
  return 0;
}
