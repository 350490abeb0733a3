/*
 * functions_stub.c: what a program that links this instead of a C library gets: its functions by name, which bind the
 * library at the first call. stub_table.h, which latebind writes, lists them.
 *
 * Each function is a jump through a table. Before binding, the table leads to trampolines; binding puts the runtime's
 * own addresses there. What the runtime lacks stays a trampoline and fails as the table declares, as everything does
 * without a runtime.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "latebind/stub.h"
#include "os.h"
#include "stub_bind.h"
#include "stub_row.h"
#include "trampolines.h"

#ifdef LATEBIND_PARTS
/* The names that linkers give to both ends of a section. */
extern lb_stub_part lb_first_part[] __asm__(
    "__start_"
    "lb_parts");
extern lb_stub_part lb_last_part[] __asm__(
    "__stop_"
    "lb_parts");
/* The section is there in a program that calls none of the functions by name, too. */
static LB_IN_PARTS lb_stub_part lb_no_part = {NULL, {"", 0, LB_FAILURE_ABORT, {0, 0, 0}}};

#define LB_COUNT         ((size_t)(lb_last_part - lb_first_part))
#define LB_ENTRY_AT(at)  (&lb_first_part[at].target)
#define LB_ROW_AT(at)    (&lb_first_part[at].row)
#define LB_ROW_OF(which) ((const lb_stub_row*)(which))
#else
#define LB_ROW(position, name, failure, number, major, minor, patch) \
  {#name, number, LB_FAILURE_##failure, {major, minor, patch}},
static const lb_stub_row lb_rows[] = {LB_STUB_FUNCTIONS(LB_ROW)};

#define LB_ENTRY(position, ...) (void*)(lb_trampoline_first + (16 * (position))),
#define lb_entries              LB_OF_STUB(entries)
LB_USED void* volatile lb_entries[LB_TRAMPOLINE_COUNT] = {LB_STUB_FUNCTIONS(LB_ENTRY)};

#define LB_COUNT                LB_TRAMPOLINE_COUNT
#define LB_ENTRY_AT(at)         (&lb_entries[at])
#define LB_ROW_AT(at)           (&lb_rows[at])
#define LB_ROW_OF(which)        (&lb_rows[which])
#endif

static void* lb_fill(void);
static void lb_connect(void);
static lb_stub lb_own = {.runtime = &LB_STUB_RUNTIME,
                         .packages = {LB_STUB_PACKAGES},
                         .flags = LB_STUB_FLAGS,
                         .is_as_linked = LB_STUB_LINKED,
                         .fill = lb_fill,
                         .connect = lb_connect};

/* Calls need nothing but the addresses: the block is only a sign. */
static void* lb_fill(void) {
  return lb_allocate(1);
}

static void lb_connect(void) {
  for (size_t at = 0; at < LB_COUNT; ++at) {
    const char* name = LB_ROW_AT(at)->name;
    void* address = *name ? lb_symbol(&lb_own.binding, name) : NULL;
    if (address) lb_os_publish(LB_ENTRY_AT(at), address);
  }
}

/* ---- calls that fail ------------------------------------------------------------------------------------------ */

/* Why a function of a bound runtime cannot be called. */
static void lb_say_missing(const lb_stub_row* row, char* text, size_t size) {
  lb_version bound = lb_bound_version(&lb_own.binding);
  const char* title = lb_own.runtime->title;
  char patch[16] = "";
  if (row->since.patch) snprintf(patch, sizeof patch, ".%u", (unsigned)row->since.patch);
  int length = lb_version_compare(row->since, bound) > 0
                   ? snprintf(text, size, "%s needs %s %u.%u%s", row->name, title, (unsigned)row->since.major,
                              (unsigned)row->since.minor, patch)
                   : snprintf(text, size, "%s is not in this copy of %s", row->name, title);
  if (length < 0 || (size_t)length >= size || !lb_own.runtime->read_version) return;
  snprintf(text + length, size - (size_t)length, "; %u.%u.%u is bound", (unsigned)bound.major, (unsigned)bound.minor,
           (unsigned)bound.patch);
}

static void lb_note_missing(const lb_stub_row* row) {
  char missing[512];
  lb_say_missing(row, missing, sizeof missing);
  lb_keep_message(&lb_own, missing);
}

/* Callers copy the library's texts into buffers that have room for those. */
static const char* lb_say_shortly(void) {
  const char* message = lb_stub_message(&lb_own);
  return strlen(message) <= LB_STUB_LONGEST ? message : LB_STUB_SHORT;
}

static uintptr_t lb_fail(const lb_stub_row* row, int is_bound) {
  if (is_bound) lb_note_missing(row);
  if (!is_bound && row->failure != LB_FAILURE_ABORT) lb_call_handler(&lb_own);
  switch (row->failure) {
    case LB_FAILURE_NUMBER: return (uintptr_t)row->number;
    case LB_FAILURE_MESSAGE: return (uintptr_t)lb_say_shortly();
    case LB_FAILURE_NAN: return 0;
    case LB_FAILURE_ABORT: break;
  }
  fprintf(stderr, "%s was called. %s\n", row->name, lb_stub_message(&lb_own));
  abort();
}

/* A double whose lower half is not a number either, as RISC-V keeps a float. */
static double lb_give_nan(void) {
  const uint64_t bits = 0xFFFFFFFF7FC00000u;
  double nan = 0;
  memcpy(&nan, &bits, sizeof nan);
  return nan;
}

lb_function lb_trampoline_target(size_t which, uintptr_t* first) {
  const lb_stub_row* row = LB_ROW_OF(which);
  int is_bound = !lb_stub_bind(&lb_own, 0);
  void* address = is_bound ? lb_symbol(&lb_own.binding, row->name) : NULL;
  if (is_bound && lb_is_recording(&lb_own)) lb_record_call(&lb_own, row->name, row->since);
  if (address) return lb_as_function(address);
  *first = lb_fail(row, is_bound);
  return row->failure == LB_FAILURE_NAN ? (lb_function)lb_give_nan : (lb_function)lb_give;
}

/* ---- what the program calls by name ----------------------------------------------------------------------------- */

int LB_OF_STUB(available)(const char* function);
int LB_OF_STUB(available)(const char* function) {
  lb_stub_row row = {function, 0, LB_FAILURE_ABORT, {0, 0, 0}};
  if (lb_stub_bind(&lb_own, 1)) return 0;
  if (!function || lb_symbol(&lb_own.binding, function)) return 1;
  for (size_t at = 0; at < LB_COUNT; ++at) {
    if (strcmp(LB_ROW_AT(at)->name, function) == 0) row = *LB_ROW_AT(at);
  }
  lb_note_missing(&row);
  return 0;
}

const char* LB_OF_STUB(message)(void);
const char* LB_OF_STUB(message)(void) {
  return lb_stub_message(&lb_own);
}

int LB_OF_STUB(path)(const char* path);
int LB_OF_STUB(path)(const char* path) {
  return lb_stub_path(&lb_own, path);
}

const char* LB_OF_STUB(report)(void);
const char* LB_OF_STUB(report)(void) {
  return lb_stub_report(&lb_own);
}

int LB_OF_STUB(on_missing)(lb_on_missing handler, void* context);
int LB_OF_STUB(on_missing)(lb_on_missing handler, void* context) {
  return lb_stub_on_missing(&lb_own, handler, context);
}

const char* LB_OF_STUB(version)(void);
const char* LB_OF_STUB(version)(void) {
  return lb_stub_version(&lb_own);
}

const char* LB_OF_STUB(file)(void);
const char* LB_OF_STUB(file)(void) {
  return lb_stub_file(&lb_own);
}

/* For latebind/<name>_variables.h. */
void* LB_OF_STUB(address)(const char* variable);
void* LB_OF_STUB(address)(const char* variable) {
  const lb_stub_row row = {variable, 0, LB_FAILURE_ABORT, {0, 0, 0}};
  int is_bound = !lb_stub_bind(&lb_own, 0);
  void* address = is_bound ? lb_symbol(&lb_own.binding, variable) : NULL;
  if (address) return address;
  if (is_bound) lb_note_missing(&row);
  fprintf(stderr, "%s was used. %s\n", variable, lb_stub_message(&lb_own));
  abort();
}

/* Texts that the runtime exports as variables: the same in every version that has them. Weak, because older headers of
 * OpenVINO lack an "extern", and so define them again in every C file. */
#if defined(_WIN32)
#define LB_WEAK
#else
#define LB_WEAK __attribute__((weak))
#endif
#define LB_CONSTANT(name, text)    \
  extern LB_WEAK const char* name; \
  const char* name = text;
LB_STUB_CONSTANTS(LB_CONSTANT)

#ifndef LATEBIND_PARTS
/* Weak: a program that defines a function of the library itself calls its own, as with a shared library. (The library
 * calls it, too, only if the program exports it, and a hidden one here would hide it: with LATEBIND_PARTS there is
 * none.) Visual C++'s linker would take a weak one for an alias, so there a program cannot. */
/* clang-format off */
#if defined(_WIN32)
#if defined(_MSC_VER)
#define LB_ASM_BINDING ".globl "
#else
#define LB_ASM_BINDING ".weak "
#endif
#define LB_ASM_SYMBOL(name) ".def " name "\n.scl 2\n.type 32\n.endef\n" LB_ASM_BINDING name "\n" name ":\n"
/* For headers that declare the functions as another DLL's. */
#define LB_ASM_IMPORTED(name) \
  ".section .rdata,\"dr\"\n.balign 8\n.globl __imp_" name "\n__imp_" name ":\n.quad " name "\n"
#elif defined(__APPLE__)
#define LB_ASM_SYMBOL(name) ".private_extern _" name "\n.weak_definition _" name "\n_" name ":\n"
#define LB_ASM_IMPORTED(name)
#else
#define LB_ASM_SYMBOL(name) ".weak " name "\n.hidden " name "\n.type " name ", %function\n" name ":\n"
#define LB_ASM_IMPORTED(name)
#endif

/* For programs with control-flow guard, which keep such functions in pointers. */
#if defined(_MSC_VER)
#define LB_ASM_GUARDED(name) ".section .gfids$y,\"dr\"\n.symidx " name "\n"
#else
#define LB_ASM_GUARDED(name)
#endif

#define LB_ASM_FUNCTION(position, name, ...)                                                                         \
  __asm__(".text\n" LB_ASM_BEGIN ".balign 16\n" LB_ASM_SYMBOL(#name) LB_ASM_JUMP(#position) LB_ASM_IMPORTED(#name) \
          LB_ASM_GUARDED(#name) ".text\n" LB_ASM_END);
LB_STUB_FUNCTIONS(LB_ASM_FUNCTION)
#endif

#if defined(_WIN32)
#define LB_ASM_VARIABLE(name, text) __asm__(LB_ASM_IMPORTED(#name) ".text\n");
LB_STUB_CONSTANTS(LB_ASM_VARIABLE)
#endif
/* clang-format on */
