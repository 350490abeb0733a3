/* stub_bind.h: what the stubs of all runtimes share: their state, their binding, and what they record. */
#ifndef LATEBIND_STUB_BIND_H
#define LATEBIND_STUB_BIND_H

#include "latebind/latebind.h"
#include "neighbours.h"
#include "trampolines.h"

/* The function at an address, and the address of a function. */
lb_function lb_as_function(const void* address);
void* lb_as_pointer(lb_function function);

/* The target of a call that fails: the first argument was replaced by the result. */
uintptr_t lb_give(uintptr_t result);

/* One for each runtime that has a stub. */
typedef struct lb_stub {
  const lb_runtime* runtime;
  lb_packages packages;
  uint32_t flags; /* LB_FLAG_* */
  /* Called once when the runtime is bound, under the lock of binding, with the report as JSON. Publishes `is_filled`
   * when calls may reach the runtime. */
  void (*fill)(const char* report);
  lb_binding binding;
  void* volatile path;      /* the first place to look, from the program */
  void* volatile sentence;  /* the text of the last binding that failed */
  struct lb_kept* kept;     /* every such text; guarded by the lock */
  void* volatile is_filled; /* not NULL when calls reach the runtime */
  lb_version recorded;      /* what the newest recorded function needs; guarded by the lock */
} lb_stub;

/* Binds the runtime unless it is bound. Returns 0 when calls reach it. */
int lb_stub_bind(lb_stub* stub);
/* Why the last binding failed: "" when none did. It lives for ever. */
const char* lb_stub_sentence(const lb_stub* stub);
/* Makes a sentence the last one. Under the lock of binding. */
void lb_keep_sentence(lb_stub* stub, const char* sentence);
void lb_stub_path(lb_stub* stub, const char* path);

/* ---- stub_record.c; under the lock of binding ----------------------------------------------------------------- */

/* Whether calls are recorded; if so, the report (JSON) is, too. */
int lb_record_begin(const char* report);
void lb_record_call(lb_stub* stub, const char* function, lb_version since);

#endif
