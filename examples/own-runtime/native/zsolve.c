/* zsolve: answers SMT-LIB 2 scripts with Z3. Nothing here knows that Z3 is bound late. */
#include <stdio.h>

#define ZSOLVE_API __attribute__((visibility("default")))

/* What of z3_api.h is needed here. */
void* Z3_mk_config(void);
void Z3_del_config(void* config);
void* Z3_mk_context(void* config);
void Z3_del_context(void* context);
const char* Z3_eval_smtlib2_string(void* context, const char* commands);

/* Writes Z3's answer, which is cut off where there is no room. Without Z3, it is a sentence that says so. */
ZSOLVE_API void zsolve_run(const char* script, char* answer, size_t room) {
  void* config = Z3_mk_config();
  void* context = Z3_mk_context(config);
  snprintf(answer, room, "%s", Z3_eval_smtlib2_string(context, script));
  Z3_del_context(context);
  Z3_del_config(config);
}
