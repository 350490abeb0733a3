/*
 * stub_row.h: what a stub of named functions knows of each.
 *
 * With LATEBIND_PARTS, which `latebind stub` defines for Linux, each function is an object of its own in the archive
 * (stub_part.c), and a program links those that it calls and does not define itself. Their rows are one section, which
 * linkers name the ends of. Otherwise, all functions and rows are in functions_stub.c.
 */
#ifndef LATEBIND_STUB_ROW_H
#define LATEBIND_STUB_ROW_H

#include <stdint.h>

#include "latebind/latebind.h"

/* What a function does when it cannot be called. */
typedef enum lb_failure {
  LB_FAILURE_NUMBER,  /* returns a number, or 0 as a pointer */
  LB_FAILURE_MESSAGE, /* returns the message, as text, or a shorter one */
  LB_FAILURE_NAN,     /* returns not a number, as float or double */
  LB_FAILURE_ABORT    /* prints the message and ends the program */
} lb_failure;

typedef struct lb_stub_row {
  const char* name;
  intptr_t number;
  lb_failure failure;
  lb_version since; /* 0.0.0: not known */
} lb_stub_row;

#ifdef LATEBIND_PARTS
typedef struct lb_stub_part {
  void* volatile target; /* where a call goes: a trampoline, until the library is bound */
  lb_stub_row row;       /* backend/members.py writes it into a copy of the object */
} lb_stub_part;
#if defined(__GNUC__) /* the alignment of its pointers, and no other: the section has no gaps then */
#define LB_IN_PARTS __attribute__((used, section("lb_parts"), aligned(sizeof(void*))))
#endif
#endif

#endif
