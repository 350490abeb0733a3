/* stub_bind.h: what the stubs of all runtimes share: their state, their binding, and what they record. */
#ifndef LATEBIND_STUB_BIND_H
#define LATEBIND_STUB_BIND_H

#include "latebind/latebind.h"
#include "latebind/stub.h"
#include "neighbours.h"
#include "trampolines.h"

/* The function at an address, and the address of a function. */
lb_function lb_as_function(const void* address);
void* lb_as_pointer(lb_function function);

/* The target of a call that fails: the first argument was replaced by the result. */
uintptr_t lb_give(uintptr_t result);

/* One for each runtime that has a stub. Threads share it without a lock: what one publishes is never changed again. */
typedef struct lb_stub {
  const lb_runtime* runtime;
  lb_packages packages;
  uint32_t flags;   /* LB_FLAG_* */
  int is_as_linked; /* the runtime's symbols are global where the stub is in a program */
  /* Makes what calls of the bound runtime need: a block of memory, NULL when there is not enough. Several threads may
   * make one at the same time; the first is kept. */
  void* (*fill)(void);
  /* Puts the runtime's addresses where calls go directly. Each thread that binds does it, with the same addresses. */
  void (*connect)(void);
  lb_binding binding;
  void* volatile filled;   /* what `fill` made; calls reach the runtime when it is there */
  void* volatile path;     /* the first place to look, from the program */
  void* volatile failure;  /* lb_failed_search: the last one that found nothing */
  void* volatile texts;    /* lb_kept_text: each text that the program may keep */
  void* volatile kept;     /* lb_kept: what other threads may be reading */
  void* volatile message;  /* the last error */
  void* volatile report;   /* of the last binding, as JSON */
  void* volatile handler;  /* lb_missing_handler: what the program set */
  void* volatile reported; /* the message that the handler got last */
  void* volatile recorder; /* the file to which calls are recorded; see stub_record.c */
  void* volatile recorded; /* the newest version that a recorded function needs, as one number */
  void* volatile noted;    /* it is in the list of those that have something to free */
  void* next;              /* in that list */
} lb_stub;

/*
 * Binds the runtime unless it is bound. Returns 0 when calls reach it. A search that found nothing is not repeated
 * until the path, the environment or the loaded libraries change, or `looks_again`.
 */
int lb_stub_bind(lb_stub* stub, int looks_again);
/* The last error; "" when there was none. It lives for ever. */
const char* lb_stub_message(const lb_stub* stub);
/* Makes a message the last one. */
void lb_keep_message(lb_stub* stub, const char* message);
/* What the program calls by name; see latebind/stub.h. */
int lb_stub_path(lb_stub* stub, const char* path);
const char* lb_stub_report(const lb_stub* stub);
const char* lb_stub_version(const lb_stub* stub);
const char* lb_stub_file(const lb_stub* stub);

int lb_stub_on_missing(lb_stub* stub, lb_on_missing handler, void* context);
/* Calls the program's handler before a call fails without a runtime; once for each message. */
void lb_call_handler(lb_stub* stub);

/* ---- stub_record.c ----------------------------------------------------------------------------------------------- */

/* Whether calls are recorded. */
int lb_is_recording(const lb_stub* stub);
/* Records what was bound, once, if the environment asks for it. */
void lb_record_begin(lb_stub* stub, const char* report);
void lb_record_call(lb_stub* stub, const char* function, lb_version since);

#endif
