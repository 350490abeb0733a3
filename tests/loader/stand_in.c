/* stand_in.c: a library that looks like ONNX Runtime to the loader (synthetic); it must never compute anything. */
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "port.h"

typedef struct base {
  const void* (*GetApi)(uint32_t);
  const char* (*GetVersionString)(void);
} base;

#ifndef GAP
#define GAP 0u /* so many functions are missing */
#endif

static int version_calls;
static uint32_t asked_for;

PORT_EXPORT int stand_in_version_calls(void);
PORT_EXPORT uint32_t stand_in_asked_for(void);
PORT_EXPORT const base* OrtGetApiBase(void);

#ifdef NEEDS_GONE
int gone(void);
#endif

static const void* give_nothing(void) {
  return NULL;
}

static const void* get_api(uint32_t version) {
  static const void* table[512];
  const void* (*function)(void) = give_nothing;
  asked_for = version;
  for (size_t i = GAP; i < sizeof table / sizeof *table; i++) memcpy(&table[i], &function, sizeof function);
  return GAP < sizeof table / sizeof *table ? table : NULL;
}

static const char* get_version(void) {
  __atomic_fetch_add(&version_calls, 1, __ATOMIC_RELAXED);
#ifdef NEEDS_GONE
  gone();
#endif
  return VERSION;
}

int stand_in_version_calls(void) {
  return version_calls;
}

uint32_t stand_in_asked_for(void) {
  return asked_for;
}

const base* OrtGetApiBase(void) {
  static const base table = {get_api, get_version};
  return &table;
}

#ifdef SLOW_START
PORT_EXPORT int is_ready;
int is_ready;
__attribute__((constructor)) static void start(void) {
  port_sleep(SLOW_START);
  is_ready = 1;
}
#endif

#ifdef FOREIGN
/* What must never run where another user could put it. */
__attribute__((constructor)) static void start(void) {
  puts("FOREIGN CODE RUNS");
  fflush(stdout);
}
#endif

#ifdef CALL_BACK
/* A runtime whose start-up code calls the library that is just opening it. */
__attribute__((constructor)) static void start(void) {
  void (*call)(void) = NULL;
  void* address = port_own_symbol("probe_bind_again");
  memcpy(&call, &address, sizeof call);
  if (call) call();
}
#endif
